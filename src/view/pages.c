#include "view/pages.h"

#include <string.h>

#include "base/str.h"

typedef struct line {
    const char *text;
    size_t len;
} line;

static bool next_line(const char *page, size_t len, size_t *at, line *ret)
{
    if (*at >= len)
        return false;
    const char *end = memchr(page + *at, '\n', len - *at);
    ret->text = page + *at;
    ret->len = end ? (size_t)(end - ret->text) : len - *at;
    *at += ret->len + 1;
    return true;
}

static size_t heading_level(line l)
{
    size_t level = 0;
    while (level < l.len && l.text[level] == '#')
        level++;
    return level > 0 && level < l.len && l.text[level] == ' ' ? level : 0;
}

static bool is_id_char(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/* First word of a heading or of a row's first cell: letters, digits, - _ and dots inside. */
static line first_word(line l)
{
    size_t start = 0, end;
    while (start < l.len && (l.text[start] == '#' || l.text[start] == '|' || l.text[start] == ' ' || l.text[start] == '*' || l.text[start] == '`'))
        start++;
    for (end = start; end < l.len && is_id_char(l.text[end]); end++)
        ;
    while (end > start && l.text[end - 1] == '.')
        end--;
    return (line){l.text + start, end - start};
}

static bool equals(line word, const char *id)
{
    size_t len = strlen(id);
    if (word.len != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char a = word.text[i], b = id[i];
        a = (char)(a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a);
        b = (char)(b >= 'a' && b <= 'z' ? b - 'a' + 'A' : b);
        if (a != b)
            return false;
    }
    return true;
}

static const char *heading_text(line heading, const char *id, ap_arena *arena)
{
    size_t start = heading_level(heading) + 1;
    line word = first_word(heading);
    if (id && equals(word, id))
        start = (size_t)(word.text - heading.text) + word.len;
    while (start < heading.len && strchr(" .:-", heading.text[start]))
        start++;
    return ap_arena_strndup(arena, heading.text + start, heading.len - start);
}

static void section(const char *page, size_t len, size_t at, size_t level, ap_arena *arena, ap_page_entry *ret)
{
    line l;
    size_t start = at, end = at;
    while (next_line(page, len, &at, &l)) {
        size_t other = heading_level(l);
        if (other && other <= level)
            break;
        end = at < len ? at : len;
    }
    while (start < end && page[start] == '\n')
        start++;
    while (end > start && page[end - 1] == '\n')
        end--;
    ret->text = ap_arena_strndup(arena, page + start, end - start);
}

/* Cell `index` of a table row, trimmed. */
static line cell_of(line row, size_t index)
{
    const char *c = row.text, *end = row.text + row.len;
    for (size_t i = 0; c < end && *c == '|'; i++) {
        const char *start = ++c;
        if (start == end)
            break; /* the bar that closes the row */
        while (c < end && *c != '|')
            c++;
        if (i != index)
            continue;
        const char *stop = c;
        while (start < stop && *start == ' ')
            start++;
        while (stop > start && stop[-1] == ' ')
            stop--;
        return (line){start, (size_t)(stop - start)};
    }
    return (line){NULL, 0};
}

static const char *row_text(line head, line row, ap_arena *arena)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    for (size_t i = 1;; i++) {
        line title = cell_of(head, i), cell = cell_of(row, i);
        if (!cell.text)
            break;
        ap_sbuf_printf(&out, "%s%.*s: %.*s", i > 1 ? "\n" : "", (int)title.len, title.text ? title.text : "", (int)cell.len, cell.text);
    }
    return out.text;
}

/* The bold word at `at`: "**M-80 histograms.**" -> "M-80"; empty when there is none. */
static line bold_id(const char *page, size_t len, size_t at)
{
    if (at + 2 >= len || page[at] != '*' || page[at + 1] != '*')
        return (line){page + at, 0};
    size_t start = at + 2, end = start;
    while (end < len && is_id_char(page[end]))
        end++;
    bool numbered = end - start >= 3 && page[end - 1] >= '0' && page[end - 1] <= '9' && memchr(page + start, '-', end - start);
    return (line){page + start, numbered ? end - start : 0};
}

/* Lines of a paragraph as one line; blank lines and tables stay. */
static const char *joined_lines(const char *text, size_t len, ap_arena *arena)
{
    char *out = ap_arena_strndup(arena, text, len);
    for (size_t i = 0; i < len; i++)
        if (out[i] == '\n' && i > 0 && text[i - 1] != '\n' && i + 1 < len && !strchr("\n|-", text[i + 1]))
            out[i] = ' ';
    return out;
}

/* A formula inside a paragraph: from its bold id to the next one or the end of the section. */
static bool find_bold(const char *page, size_t len, const char *id, ap_arena *arena, ap_page_entry *ret)
{
    size_t at = 0, end, body;
    while (at < len && !equals(bold_id(page, len, at), id))
        at++;
    if (at >= len)
        return false;
    const char *title = bold_id(page, len, at).text + strlen(id);
    size_t title_len = 0, left = len - (size_t)(title - page);
    while (title_len + 1 < left && (title[title_len] != '*' || title[title_len + 1] != '*'))
        title_len++;
    body = (size_t)(title - page) + title_len + 2;
    for (end = body; end < len && bold_id(page, len, end).len == 0; end++)
        if (page[end] == '\n' && end + 1 < len && page[end + 1] == '#')
            break;
    for (; title_len && strchr(" .", *title); title_len--)
        title++;
    while (title_len && title[title_len - 1] == '.')
        title_len--;
    for (; body < end && strchr(" \n", page[body]); body++)
        ;
    while (end > body && strchr(" \n", page[end - 1]))
        end--;
    ret->title = ap_arena_strndup(arena, title, title_len);
    ret->text = joined_lines(page + (body < end ? body : end), body < end ? end - body : 0, arena);
    return true;
}

bool ap_page_find(const char *page, size_t len, const char *id, ap_arena *arena, ap_page_entry *ret)
{
    line l, heading = {"", 0}, head = {NULL, 0}, before = {NULL, 0};
    for (size_t at = 0; next_line(page, len, &at, &l); before = l) {
        size_t level = heading_level(l);
        if (level) {
            heading = l;
            if (!equals(first_word(l), id))
                continue;
            ret->title = heading_text(l, id, arena);
            section(page, len, at, level, arena, ret);
            return true;
        }
        if (l.len == 0 || l.text[0] != '|')
            continue;
        if (before.len == 0 || before.text[0] != '|')
            head = l; /* a table begins */
        else if (equals(first_word(l), id)) {
            ret->title = heading.len ? heading_text(heading, NULL, arena) : "";
            ret->text = row_text(head, l, arena);
            return true;
        }
    }
    return find_bold(page, len, id, arena, ret);
}

const char *ap_page_next_id(const char *page, size_t len, size_t *cursor, ap_arena *arena)
{
    line l;
    while (next_line(page, len, cursor, &l)) {
        if (l.len == 0 || (l.text[0] != '|' && !heading_level(l)))
            continue;
        line word = first_word(l);
        if (word.len >= 4 && (memchr(word.text, '-', word.len) || memchr(word.text, '_', word.len) || word.text[word.len - 1] <= '9'))
            return ap_arena_strndup(arena, word.text, word.len);
    }
    return NULL;
}
