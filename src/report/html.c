/* One self-contained page: no script, no font, no address; readable on paper, in the dark and by a screen reader. */
#include <string.h>

#include "report/render.h"

static const char style[] =
    ":root{color-scheme:light dark;--line:#d5d9de;--soft:#5b6470;--head:#f4f6f8}\n"
    "@media(prefers-color-scheme:dark){:root{--line:#3a4048;--soft:#a4adb8;--head:#20242a}}\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.15rem;margin-top:2rem}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    ".scroll{overflow-x:auto}\n"
    "th,td{padding:.35rem .75rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}\n"
    "thead th{background:var(--head);position:sticky;top:0}\n"
    ".n{text-align:right;white-space:nowrap}.sheet th{font-weight:normal;color:var(--soft)}\n"
    "footer,.note{color:var(--soft);font-size:.875rem}\n"
    "@media print{body{margin:0;max-width:none}.scroll{overflow:visible}thead th{position:static}}\n";

static void add_escaped(ap_sbuf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        const char *entity = *c == '<'   ? "&lt;"
                             : *c == '>' ? "&gt;"
                             : *c == '&' ? "&amp;"
                             : *c == '"' ? "&quot;"
                                         : NULL;
        if (entity)
            ap_sbuf_add(out, entity);
        else
            ap_sbuf_add_char(out, *c);
    }
}

static void add_element(ap_sbuf *out, const char *open, const char *text, const char *close)
{
    ap_sbuf_add(out, open);
    add_escaped(out, text);
    ap_sbuf_add(out, close);
}

/* The mark of a YES cell is a word here: a screen reader has no tick. */
static const char *cell_text(const ap_doc *doc, const ap_value *row, const ap_column *column)
{
    ap_column spoken = *column;
    const ap_value *value = ap_value_at(row, column->path);
    if (column->format == AP_CELL_YES && value && value->kind == AP_V_BOOL)
        return value->as.boolean ? "yes" : "";
    return ap_cell_text(doc->arena, row, &spoken);
}

static void add_row(const ap_doc *doc, const ap_value *row, const ap_column *columns, size_t count, ap_sbuf *out)
{
    ap_sbuf_add(out, "<tr>");
    for (size_t c = 0; c < count; c++)
        add_element(out, columns[c].right ? "<td class=\"n\">" : "<td>", cell_text(doc, row, &columns[c]), "</td>");
    ap_sbuf_add(out, "</tr>\n");
}

static void add_table(const ap_doc *doc, const ap_block *block, const ap_render_options *options, ap_sbuf *out)
{
    size_t rows = ap_block_shown(block);
    if (rows == 0) {
        if (block->empty)
            add_element(out, "<p>", block->empty, "</p>\n");
        return;
    }
    const ap_column *columns;
    size_t count = ap_block_columns(doc, block, options, &columns);
    ap_sbuf_add(out, "<div class=\"scroll\" role=\"region\" aria-label=\"table\" tabindex=\"0\"><table>\n<thead><tr>");
    for (size_t c = 0; c < count; c++)
        add_element(out, columns[c].right ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">", columns[c].title,
                    "</th>");
    ap_sbuf_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < rows; i++)
        add_row(doc, ap_block_row(block, i), columns, count, out);
    ap_sbuf_add(out, "</tbody>\n</table></div>\n");
    if (rows < ap_block_total(block))
        ap_sbuf_printf(out, "<p class=\"note\">shown %zu of %zu</p>\n", rows, ap_block_total(block));
}

static void add_sheet(const ap_value *rows, ap_sbuf *out)
{
    ap_sheet_line *lines;
    size_t count = ap_sheet_lines(out->arena, rows, &lines);
    ap_sbuf_add(out, "<div class=\"scroll\" role=\"region\" aria-label=\"values\" tabindex=\"0\"><table class=\"sheet\">\n");
    for (size_t i = 0; i < count; i++) {
        add_element(out, "<tr><th scope=\"row\">", lines[i].key, "</th>");
        add_element(out, "<td>", lines[i].value, "</td>");
        add_element(out, "<td class=\"note\">", lines[i].note, "</td></tr>\n");
    }
    ap_sbuf_add(out, "</table></div>\n");
}

static void add_bullets(const ap_value *list, ap_sbuf *out)
{
    ap_sbuf_add(out, "<ul>\n");
    for (size_t i = 0; i < list->as.list.count; i++)
        add_element(out, "<li>", ap_cell_value_text(out->arena, list->as.list.items[i], AP_CELL_AUTO), "</li>\n");
    ap_sbuf_add(out, "</ul>\n");
}

static void add_block(const ap_doc *doc, const ap_block *block, const ap_render_options *options, ap_sbuf *out)
{
    switch (block->kind) {
    case AP_BLOCK_HEADING:
        add_element(out, "<h2>", block->text, "</h2>\n");
        return;
    case AP_BLOCK_PARAGRAPH:
        add_element(out, "<p>", block->text, "</p>\n");
        return;
    case AP_BLOCK_TABLE:
        add_table(doc, block, options, out);
        return;
    case AP_BLOCK_SHEET:
        add_sheet(block->rows, out);
        return;
    case AP_BLOCK_BULLETS:
        add_bullets(block->rows, out);
        return;
    }
}

ap_status ap_render_html(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    const char *title = "accelpick";
    size_t first = 0;
    if (doc->block_count && doc->blocks[0].kind == AP_BLOCK_HEADING) {
        title = doc->blocks[0].text;
        first = 1;
    }
    ap_sbuf_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    add_element(out, "<title>", title, "</title>\n");
    ap_sbuf_printf(out, "<style>\n%s</style>\n</head>\n<body>\n<main>\n", style);
    add_element(out, "<h1>", title, "</h1>\n");
    for (size_t i = first; i < doc->block_count; i++)
        add_block(doc, &doc->blocks[i], options, out);
    const char *note = ap_currency_note(doc->arena, options);
    if (note)
        add_element(out, "<p class=\"note\">", note, "</p>\n");
    ap_sbuf_add(out, "</main>\n<footer>accelpick " AP_VERSION "</footer>\n</body>\n</html>\n");
    return AP_OK;
}
