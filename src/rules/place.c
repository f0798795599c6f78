/* Where a place of an expression stands in its YAML file. A block or a plain value over several lines loses its
 * indentation and line ends on the way, but its other characters stay as they are, so counting those finds the place. */
#include <string.h>

#include "rules/cel.h"
#include "rules/ruleset.h"

typedef struct cursor {
    const char *at, *end;
    int line, col;
} cursor;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void step(cursor *c)
{
    if (*c->at == '\n') {
        c->line++;
        c->col = 1;
    } else if (c->at + 1 >= c->end || ((unsigned char)c->at[1] & 0xC0) != 0x80) {
        c->col++;
    }
    c->at++;
}

static bool before(const cursor *c, int line, int col)
{
    return c->at < c->end && (c->line < line || (c->line == line && c->col < col));
}

/* A quote, or the line that opens a block. */
static void skip_opening(cursor *file)
{
    if (file->at >= file->end || !strchr("|>'\"", *file->at))
        return;
    bool block = *file->at == '|' || *file->at == '>';
    step(file);
    while (block && file->at < file->end && *file->at != '\n')
        step(file);
}

ap_pos ap_rule_place(const ap_rule_source *source, const char *expr, ap_pos inside)
{
    cursor file = {source->text, source->text + source->len, 1, 1}, e = {expr, expr + strlen(expr), 1, 1};
    ap_pos pos = source->start;
    size_t solid = 0;
    while (before(&e, inside.line, inside.col)) {
        solid += is_blank(*e.at) ? 0 : 1;
        step(&e);
    }
    while (before(&file, pos.line, pos.col))
        step(&file);
    skip_opening(&file);
    for (; file.at < file.end && solid > 0; step(&file))
        solid -= is_blank(*file.at) ? 0 : 1;
    while (e.at < e.end && !is_blank(*e.at) && file.at < file.end && is_blank(*file.at))
        step(&file);
    pos.line = file.line;
    pos.col = file.col;
    return pos;
}
