/* Row formats for scripts and spreadsheets: CSV (RFC 4180) and bare values. Both print raw values of the main table; a
 * document without one is a list of path and value. */
#include <string.h>

#include "report/render.h"

typedef struct paths {
    const char **items;
    size_t count, capacity;
} paths;

static void add_path(ap_arena *arena, paths *list, const char *path)
{
    if (!path)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], path) == 0)
            return;
    *AP_PUSH(arena, list->items, list->count, list->capacity) = path;
}

/* Fields asked for, else every path that the columns show, the bounds of ranges included. */
static paths choose_paths(const ap_doc *doc, const ap_block *block, const ap_render_options *options)
{
    paths list = {0};
    for (size_t i = 0; i < options->field_count; i++)
        *AP_PUSH(doc->arena, list.items, list.count, list.capacity) = options->fields[i];
    for (size_t i = 0; block && !options->field_count && i < block->column_count; i++) {
        add_path(doc->arena, &list, block->columns[i].low_path);
        add_path(doc->arena, &list, block->columns[i].path);
        add_path(doc->arena, &list, block->columns[i].high_path);
    }
    return list;
}

static void add_csv_cell(ap_sbuf *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n") && text[0] != ' ') {
        ap_sbuf_add(out, text);
        return;
    }
    ap_sbuf_add_char(out, '"');
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            ap_sbuf_add_char(out, '"');
        ap_sbuf_add_char(out, *c);
    }
    ap_sbuf_add_char(out, '"');
}

/* A bare value stays in its place of its line. */
static void add_bare_cell(ap_sbuf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        const char *escaped = *c == '\t' ? "\\t" : *c == '\n' ? "\\n" : *c == '\r' ? "\\r" : NULL;
        if (escaped)
            ap_sbuf_add(out, escaped);
        else
            ap_sbuf_add_char(out, *c);
    }
}

typedef struct row_style {
    void (*add_cell)(ap_sbuf *out, const char *text);
    const char *separator, *end;
    bool header;
} row_style;

static const row_style csv_style = {add_csv_cell, ",", "\r\n", true};
static const row_style value_style = {add_bare_cell, "\t", "\n", false};

static void add_line(ap_sbuf *out, const row_style *style, const char *const *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ap_sbuf_add(out, i ? style->separator : "");
        style->add_cell(out, cells[i]);
    }
    ap_sbuf_add(out, style->end);
}

static void add_leaves(const ap_doc *doc, const row_style *style, ap_sbuf *out)
{
    ap_leaf *leaves;
    size_t count = ap_value_leaves(doc->arena, doc->root, &leaves);
    if (style->header)
        add_line(out, style, (const char *const[]){"key", "value"}, 2);
    for (size_t i = 0; i < count; i++)
        add_line(out, style, (const char *const[]){leaves[i].path, ap_cell_raw(doc->arena, leaves[i].value)}, 2);
}

static ap_status render_rows(const ap_doc *doc, const ap_render_options *options, const row_style *style, ap_sbuf *out)
{
    const ap_block *block = ap_doc_main(doc);
    if (!block && !options->field_count) {
        add_leaves(doc, style, out);
        return AP_OK;
    }
    paths list = choose_paths(doc, block, options);
    if (style->header)
        add_line(out, style, list.items, list.count);
    size_t rows = block ? ap_block_shown(block) : 1;
    const char **cells = AP_NEW_ARRAY(doc->arena, const char *, list.count);
    for (size_t i = 0; i < rows; i++) {
        const ap_value *row = block ? ap_block_row(block, i) : doc->root;
        for (size_t k = 0; k < list.count; k++)
            cells[k] = ap_cell_raw(doc->arena, ap_value_at(row, list.items[k]));
        add_line(out, style, cells, list.count);
    }
    return AP_OK;
}

ap_status ap_render_csv(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    return render_rows(doc, options, &csv_style, out);
}

ap_status ap_render_value(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    return render_rows(doc, options, &value_style, out);
}
