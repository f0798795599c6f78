#include <stdarg.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "report/render.h"

#define FIRST_BLOCKS 64

const char *const ap_format_names[] = {"table", "wide", "json", "ndjson", "csv", "markdown", "html",
                                       "sarif", "junit", "github", "value", NULL};

ap_doc *ap_doc_new(ap_arena *arena, const char *kind)
{
    ap_doc *doc = AP_NEW(arena, ap_doc);
    doc->arena = arena;
    doc->block_capacity = FIRST_BLOCKS;
    doc->blocks = AP_NEW_ARRAY(arena, ap_block, FIRST_BLOCKS);
    doc->root = ap_value_map(arena);
    ap_value_put(arena, doc->root, "schema_version", ap_value_int(arena, 1));
    ap_value_put(arena, doc->root, "kind", ap_value_text(arena, kind));
    ap_value_put(arena, doc->root, "accelpick", ap_value_text(arena, AP_VERSION));
    return doc;
}

static ap_block *add_block(ap_doc *doc, ap_block_kind kind)
{
    ap_block *block = AP_PUSH(doc->arena, doc->blocks, doc->block_count, doc->block_capacity);
    *block = (ap_block){.kind = kind};
    return block;
}

void ap_doc_heading(ap_doc *doc, const char *text)
{
    add_block(doc, AP_BLOCK_HEADING)->text = ap_arena_strdup(doc->arena, text);
}

void ap_doc_paragraph(ap_doc *doc, const char *format, ...)
{
    ap_sbuf text;
    ap_sbuf_init(&text, doc->arena);
    va_list args;
    va_start(args, format);
    ap_sbuf_vprintf(&text, format, args);
    va_end(args);
    add_block(doc, AP_BLOCK_PARAGRAPH)->text = text.text;
}

void ap_doc_bullets(ap_doc *doc, const ap_value *list)
{
    add_block(doc, AP_BLOCK_BULLETS)->rows = list;
}

void ap_doc_sheet(ap_doc *doc, const ap_value *map)
{
    add_block(doc, AP_BLOCK_SHEET)->rows = map;
}

ap_block *ap_doc_table(ap_doc *doc, const ap_value *rows, const ap_column *columns, size_t column_count)
{
    ap_block *block = add_block(doc, AP_BLOCK_TABLE);
    block->rows = rows;
    block->columns = columns;
    block->column_count = column_count;
    return block;
}

const ap_block *ap_doc_main(const ap_doc *doc)
{
    const ap_block *first = NULL;
    for (size_t i = 0; i < doc->block_count; i++) {
        if (doc->blocks[i].kind != AP_BLOCK_TABLE)
            continue;
        if (doc->blocks[i].main)
            return &doc->blocks[i];
        if (!first)
            first = &doc->blocks[i];
    }
    return first;
}

size_t ap_block_total(const ap_block *block)
{
    if (block->total)
        return block->total;
    return block->rows && block->rows->kind == AP_V_LIST ? block->rows->as.list.count : 0;
}

size_t ap_block_shown(const ap_block *block)
{
    size_t count = block->rows && block->rows->kind == AP_V_LIST ? block->rows->as.list.count : 0;
    return block->limit && block->limit < count ? block->limit : count;
}

const ap_value *ap_block_row(const ap_block *block, size_t i)
{
    return block->rows->as.list.items[i];
}

bool ap_block_is_shown(const ap_block *block, const ap_render_options *options)
{
    return options->format == AP_FORMAT_WIDE ? !block->not_wide : !block->wide_only;
}

static ap_column column_for_field(const ap_block *block, const char *field)
{
    for (size_t i = 0; i < block->column_count; i++)
        if (ap_streq(block->columns[i].path, field)) {
            ap_column column = block->columns[i];
            column.priority = 1;
            return column;
        }
    bool number = false;
    for (size_t i = 0; i < ap_block_shown(block) && !number; i++)
        number = ap_cell_is_number(ap_value_at(ap_block_row(block, i), field));
    return (ap_column){.title = field, .path = field, .priority = 1, .right = number, .flexible = !number};
}

/* The title with "USD" replaced by the currency asked for. */
static const char *title_in(ap_arena *arena, const char *title, const char *currency)
{
    const char *usd = strstr(title, "USD");
    return usd ? ap_arena_printf(arena, "%.*s%s%s", (int)(usd - title), title, currency, usd + 3) : title;
}

static const ap_column *in_currency(ap_arena *arena, const ap_column *columns, size_t count,
                                    const ap_render_options *options)
{
    if (!options->currency)
        return columns;
    ap_column *converted = AP_NEW_ARRAY(arena, ap_column, count);
    for (size_t i = 0; i < count; i++) {
        converted[i] = columns[i];
        if (columns[i].format != AP_CELL_USD)
            continue;
        converted[i].scale = options->rate;
        converted[i].title = title_in(arena, columns[i].title, options->currency);
    }
    return converted;
}

const char *ap_currency_note(ap_arena *arena, const ap_render_options *options)
{
    char rate[32];
    if (!options->currency)
        return NULL;
    ap_num_format(options->rate, rate);
    return ap_arena_printf(arena, "Columns in %s: %s %s for one USD (%s). Amounts in sentences are USD.", options->currency,
                           rate, options->currency, options->rate_origin);
}

size_t ap_block_columns(const ap_doc *doc, const ap_block *block, const ap_render_options *options,
                        const ap_column **ret_columns)
{
    if (!options->field_count || block != ap_doc_main(doc)) {
        *ret_columns = in_currency(doc->arena, block->columns, block->column_count, options);
        return block->column_count;
    }
    ap_column *columns = AP_NEW_ARRAY(doc->arena, ap_column, options->field_count);
    for (size_t i = 0; i < options->field_count; i++)
        columns[i] = column_for_field(block, options->fields[i]);
    *ret_columns = in_currency(doc->arena, columns, options->field_count, options);
    return options->field_count;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static bool block_has_field(const ap_block *block, const char *field)
{
    for (size_t i = 0; i < block->column_count; i++)
        if (ap_streq(block->columns[i].path, field))
            return true;
    for (size_t i = 0; i < block->rows->as.list.count; i++)
        if (ap_value_at(ap_block_row(block, i), field))
            return true;
    return false;
}

static void offer_leaves(ap_suggest *suggest, ap_arena *arena, const ap_value *map)
{
    ap_leaf *leaves;
    size_t count = ap_value_leaves(arena, map, &leaves);
    for (size_t i = 0; i < count; i++)
        ap_suggest_offer(suggest, leaves[i].path);
}

static const char *suggest_field(const ap_doc *doc, const ap_block *block, const char *field)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, field);
    for (size_t i = 0; block && i < block->column_count; i++)
        ap_suggest_offer(&suggest, block->columns[i].path);
    offer_leaves(&suggest, doc->arena, block ? ap_block_row(block, 0) : doc->root);
    return ap_suggest_text(&suggest, doc->arena);
}

ap_status ap_doc_check_fields(const ap_doc *doc, const ap_render_options *options, ap_diags *diags)
{
    const ap_block *block = ap_doc_main(doc);
    if (block && (!block->rows || block->rows->kind != AP_V_LIST || block->rows->as.list.count == 0))
        return AP_OK; /* nothing to check against */
    ap_status status = AP_OK;
    for (size_t i = 0; i < options->field_count; i++) {
        const char *field = options->fields[i];
        if (block ? block_has_field(block, field) : ap_value_at(doc->root, field) != NULL)
            continue;
        ap_diag_add(diags, AP_ERROR, 61, AP_NO_POS, "--fields: there is no field '%s'", field)->hint =
            suggest_field(doc, block, field);
        status = AP_USAGE;
    }
    return status;
}

/* ---- renderers --------------------------------------------------------------------------------------------------- */

typedef struct renderer_row {
    ap_renderer render;
    const char *only_kind; /* the one kind of document that has this form, or NULL */
} renderer_row;

static const renderer_row renderers[AP_FORMAT_COUNT] = {
    [AP_FORMAT_TABLE] = {ap_render_table, NULL},
    [AP_FORMAT_WIDE] = {ap_render_table, NULL},
    [AP_FORMAT_JSON] = {ap_render_json, NULL},
    [AP_FORMAT_NDJSON] = {ap_render_ndjson, NULL},
    [AP_FORMAT_CSV] = {ap_render_csv, NULL},
    [AP_FORMAT_MARKDOWN] = {ap_render_markdown, NULL},
    [AP_FORMAT_HTML] = {ap_render_html, NULL},
    [AP_FORMAT_SARIF] = {ap_render_sarif, "check"},
    [AP_FORMAT_JUNIT] = {ap_render_junit, "check"},
    [AP_FORMAT_GITHUB] = {ap_render_github, "check"},
    [AP_FORMAT_VALUE] = {ap_render_value, NULL},
};

ap_status ap_doc_render(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    const renderer_row *row = &renderers[options->format];
    const ap_value *kind = ap_value_at(doc->root, "kind");
    if (!row->render || (row->only_kind && (!kind || !ap_streq(row->only_kind, kind->as.text))))
        return AP_USAGE;
    return row->render(doc, options, out);
}
