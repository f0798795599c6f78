#include "io/source.h"

#include <string.h>

#include "io/yaml.h"

#define SHOWN_LINE_MAX ((size_t)240) /* longer lines are no help under a message */

/* Length of the line break at text[i], 0 when there is none. */
static size_t break_length(const char *text, size_t len, size_t i)
{
    const unsigned char *s = (const unsigned char *)text + i;
    size_t left = len - i;
    switch (s[0]) {
    case '\n':
        return 1;
    case '\r':
        return left > 1 && s[1] == '\n' ? 2 : 1;
    case 0xC2:
        return left > 1 && s[1] == 0x85 ? 2 : 0;
    case 0xE2:
        return left > 2 && s[1] == 0x80 && (s[2] == 0xA8 || s[2] == 0xA9) ? 3 : 0;
    default:
        return 0;
    }
}

static size_t bom_length(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static bool starts_char(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

ap_pos ap_source_pos(const char *text, size_t len, const char *name, size_t offset)
{
    ap_pos pos = {.file = name, .line = 1, .col = 1};
    for (size_t i = bom_length(text, len); i < offset && i < len;) {
        size_t skip = break_length(text, len, i);
        if (skip) {
            pos.line++;
            pos.col = 1;
            i += skip;
        } else {
            i++;
            while (i < offset && i < len && !starts_char(text[i]))
                i++;
            pos.col++;
        }
    }
    return pos;
}

/* Moves on from the start of one line to the start of a later one. */
static size_t skip_lines(const char *text, size_t len, size_t start, int lines)
{
    size_t i = start;
    while (lines > 0 && i < len) {
        size_t skip = break_length(text, len, i);
        if (skip)
            lines--;
        i += skip ? skip : 1;
    }
    return i;
}

size_t ap_source_offset(const char *text, size_t len, ap_pos pos)
{
    size_t i = skip_lines(text, len, bom_length(text, len), pos.line - 1);
    for (int col = 1; col < pos.col && i < len && break_length(text, len, i) == 0; col++) {
        i++;
        while (i < len && !starts_char(text[i]))
            i++;
    }
    return i;
}

static const char *copy_line(ap_arena *arena, const char *text, size_t len, size_t start)
{
    size_t end = start;
    while (end < len && break_length(text, len, end) == 0)
        end++;
    if (end - start > SHOWN_LINE_MAX || start >= len)
        return NULL;
    char *line = ap_arena_strndup(arena, text + start, end - start);
    for (char *c = line; *c; c++)
        if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7F)
            *c = '?';
    return line;
}

void ap_diags_attach_source(ap_diags *diags, const char *name, const char *text, size_t len)
{
    int line = 1;
    size_t first = bom_length(text, len), start = first;
    for (size_t i = 0; i < diags->count; i++) {
        ap_diag *diag = &diags->items[i];
        if (diag->source_line || diag->pos.line < 1 || !ap_streq(diag->pos.file, name))
            continue;
        if (diag->pos.line < line) {
            line = 1;
            start = first;
        }
        start = skip_lines(text, len, start, diag->pos.line - line);
        line = diag->pos.line;
        diag->source_line = copy_line(diags->arena, text, len, start);
    }
}
