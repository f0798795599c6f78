/* What the renderers share. Private to src/report. */
#ifndef AP_REPORT_RENDER_H
#define AP_REPORT_RENDER_H

#include "report/doc.h"

typedef ap_status (*ap_renderer)(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);
ap_status ap_render_table(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out); /* and wide */
ap_status ap_render_json(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);
ap_status ap_render_ndjson(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);
ap_status ap_render_csv(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);
ap_status ap_render_value(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);
ap_status ap_render_markdown(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);
ap_status ap_render_html(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);

/* Of documents of kind `check` only. */
ap_status ap_render_sarif(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);
ap_status ap_render_junit(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);
ap_status ap_render_github(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);

/* The table that fields and row formats work on, or NULL. */
const ap_block *ap_doc_main(const ap_doc *doc);
size_t ap_block_shown(const ap_block *block);
size_t ap_block_total(const ap_block *block); /* rows there are, shown or not */
const ap_value *ap_block_row(const ap_block *block, size_t i);
/* Columns of a block: its own, or one for each of --fields when it is the main table. In the arena of `out`. */
size_t ap_block_columns(const ap_doc *doc, const ap_block *block, const ap_render_options *options,
                        const ap_column **ret_columns);
/* What --currency did, as a sentence, or NULL. */
const char *ap_currency_note(ap_arena *arena, const ap_render_options *options);
bool ap_block_is_shown(const ap_block *block, const ap_render_options *options);

/* A cell for people, in the arena; "" for an absent key, an en dash for null. */
const char *ap_cell_text(ap_arena *arena, const ap_value *row, const ap_column *column);
const char *ap_cell_value_text(ap_arena *arena, const ap_value *value, ap_cell_format format);
/* The raw value for machines: numbers in full, null empty, lists joined with ';'. */
const char *ap_cell_raw(ap_arena *arena, const ap_value *value);
bool ap_cell_is_number(const ap_value *value);

/* Every scalar or list below a map, as dotted path and value, in order. */
typedef struct ap_leaf {
    const char *path;
    const ap_value *value;
} ap_leaf;
size_t ap_value_leaves(ap_arena *arena, const ap_value *map, ap_leaf **ret_leaves);

/* Lines of a sheet: of a map its leaves; of a list its {key, value, note}. */
typedef struct ap_sheet_line {
    const char *key, *value, *note;
} ap_sheet_line;
size_t ap_sheet_lines(ap_arena *arena, const ap_value *rows, ap_sheet_line **ret_lines);

#endif
