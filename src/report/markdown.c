/* Markdown for issues and pull requests: the same blocks as the terminal has, all columns but those of `wide`. */
#include <string.h>

#include "report/render.h"

/* Text inside a cell or paragraph: nothing of it is markup. */
static void add_escaped(ap_sbuf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (strchr("\\`*_[]<>|#~", *c))
            ap_sbuf_add_char(out, '\\');
        ap_sbuf_add_char(out, *c == '\n' ? ' ' : *c);
    }
}

static void add_cell(ap_sbuf *out, const char *text)
{
    ap_sbuf_add_char(out, ' ');
    add_escaped(out, text);
    ap_sbuf_add(out, " |");
}

static bool is_wide_only(const ap_column *column, const ap_render_options *options)
{
    return column->priority >= 9 && !options->field_count;
}

static void add_table(const ap_doc *doc, const ap_block *block, const ap_render_options *options, ap_sbuf *out)
{
    size_t rows = ap_block_shown(block);
    if (rows == 0) {
        if (block->empty) {
            add_escaped(out, block->empty);
            ap_sbuf_add_char(out, '\n');
        }
        return;
    }
    const ap_column *columns;
    size_t count = ap_block_columns(doc, block, options, &columns);
    for (size_t line = 0; line < rows + 2; line++) {
        ap_sbuf_add_char(out, '|');
        for (size_t c = 0; c < count; c++) {
            if (is_wide_only(&columns[c], options))
                continue;
            if (line == 0)
                add_cell(out, columns[c].title);
            else if (line == 1)
                ap_sbuf_add(out, columns[c].right ? "---:|" : "---|");
            else
                add_cell(out, ap_cell_text(doc->arena, ap_block_row(block, line - 2), &columns[c]));
        }
        ap_sbuf_add_char(out, '\n');
    }
    if (rows < ap_block_total(block))
        ap_sbuf_printf(out, "\nshown %zu of %zu\n", rows, ap_block_total(block));
}

static void add_sheet(const ap_value *rows, ap_sbuf *out)
{
    ap_sheet_line *lines;
    size_t count = ap_sheet_lines(out->arena, rows, &lines);
    bool notes = false;
    for (size_t i = 0; i < count; i++)
        notes |= *lines[i].note != '\0';
    ap_sbuf_add(out, notes ? "| | | |\n|---|---|---|\n" : "| | |\n|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        ap_sbuf_add_char(out, '|');
        add_cell(out, lines[i].key);
        add_cell(out, lines[i].value);
        if (notes)
            add_cell(out, lines[i].note);
        ap_sbuf_add_char(out, '\n');
    }
}

static void add_bullets(const ap_value *list, ap_sbuf *out)
{
    for (size_t i = 0; i < list->as.list.count; i++) {
        ap_sbuf_add(out, "- ");
        add_escaped(out, ap_cell_value_text(out->arena, list->as.list.items[i], AP_CELL_AUTO));
        ap_sbuf_add_char(out, '\n');
    }
}

static void add_block(const ap_doc *doc, const ap_block *block, const ap_render_options *options, ap_sbuf *out)
{
    switch (block->kind) {
    case AP_BLOCK_HEADING:
        ap_sbuf_add(out, "## ");
        add_escaped(out, block->text);
        ap_sbuf_add_char(out, '\n');
        return;
    case AP_BLOCK_PARAGRAPH:
        add_escaped(out, block->text);
        ap_sbuf_add_char(out, '\n');
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

ap_status ap_render_markdown(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    const ap_block *main = ap_doc_main(doc);
    if (options->field_count && main) {
        add_table(doc, main, options, out);
        return AP_OK;
    }
    for (size_t i = 0; i < doc->block_count; i++) {
        if (doc->blocks[i].wide_only)
            continue;
        size_t before = out->len;
        if (before)
            ap_sbuf_add_char(out, '\n');
        size_t start = out->len;
        add_block(doc, &doc->blocks[i], options, out);
        if (out->len == start) {
            out->len = before;
            out->text[before] = '\0';
        }
    }
    const char *note = ap_currency_note(doc->arena, options);
    if (note)
        ap_sbuf_printf(out, "\n%s\n", note);
    return AP_OK;
}
