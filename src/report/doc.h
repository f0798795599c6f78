/* Typed document: what a command answers, before it is text. Views build it, renderers print it; nothing here knows what
 * a chip is, and nothing computes.
 *
 * A document is one tree of typed values (the JSON answer, complete) and a list of blocks that say how a person reads it:
 * header lines, tables over lists of the tree, key/value sheets, paragraphs. One source: a table cell is a path into the
 * tree ("cost_usd.p50"), so a table, its CSV and the JSON can never disagree. Everything lives in the document's arena. */
#ifndef AP_REPORT_DOC_H
#define AP_REPORT_DOC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/status.h"
#include "base/str.h"
#include "base/units.h"

typedef enum ap_value_kind { AP_V_NULL, AP_V_BOOL, AP_V_INT, AP_V_NUM, AP_V_TEXT, AP_V_LIST, AP_V_MAP } ap_value_kind;

/* Scalars are allocated without the unused part of the union: never copy an ap_value as a struct, pass pointers. */
typedef struct ap_value ap_value;
struct ap_value {
    ap_value_kind kind;
    union {
        bool boolean;
        int64_t integer;
        double number;
        const char *text;
        struct { ap_value **items; size_t count, capacity; } list;
        struct { const char **keys; ap_value **values; size_t count, capacity; } map;
    } as;
};

ap_value *ap_value_null(ap_arena *arena);
ap_value *ap_value_bool(ap_arena *arena, bool value);
ap_value *ap_value_int(ap_arena *arena, int64_t value);
ap_value *ap_value_num(ap_arena *arena, double value); /* NaN gives null */
ap_value *ap_value_text(ap_arena *arena, const char *text); /* NULL gives null; text is copied */
ap_value *ap_value_list(ap_arena *arena);
ap_value *ap_value_map(ap_arena *arena);
void ap_value_push(ap_arena *arena, ap_value *list, ap_value *item);
void ap_value_put(ap_arena *arena, ap_value *map, const char *key, ap_value *value); /* key: literal or arena text */
/* The value in words for people, numbers in full; "" for NULL. In the arena. */
const char *ap_cell_words(ap_arena *arena, const ap_value *value);
const ap_value *ap_value_at(const ap_value *root, const char *path); /* "a.b"; NULL when absent */

/* How a cell is shown to people. Machine formats print the raw value. */
typedef enum ap_cell_format {
    AP_CELL_AUTO,      /* text as is; numbers with 3 significant digits */
    AP_CELL_INTEGER,
    AP_CELL_USD,       /* 1,234.50  12.3  0.0451 */
    AP_CELL_HOURS,     /* 3.2 h  45 min  12 d */
    AP_CELL_SECONDS,   /* 1.25 s  340 ms */
    AP_CELL_GIB,
    AP_CELL_PERCENT,   /* fraction 0.41 -> 41 % */
    AP_CELL_COUNT,     /* 1.5 M, 200 B */
    AP_CELL_YES,       /* true -> a mark, false -> empty */
    AP_CELL_PLAIN      /* the raw value, as machine formats print it */
} ap_cell_format;

typedef struct ap_column {
    const char *title;  /* heading; the unit belongs here: "Cost USD" */
    const char *path;   /* into one row */
    ap_cell_format format;
    int priority;       /* 1 = always shown; higher ones are dropped first when the terminal is narrow; 9 = only `wide` */
    bool right;         /* align right */
    bool flexible;      /* may be shortened with … to fit */
    /* "range" cells show low–high from two more paths, e.g. "3.1 h (2.4–4.0)". Optional. */
    const char *low_path, *high_path;
    double scale;       /* set by the renderer: AP_CELL_USD is shown times this, 0 = as it is */
} ap_column;

typedef enum ap_block_kind { AP_BLOCK_HEADING, AP_BLOCK_PARAGRAPH, AP_BLOCK_TABLE, AP_BLOCK_SHEET, AP_BLOCK_BULLETS } ap_block_kind;

typedef struct ap_block {
    ap_block_kind kind;
    const char *text;          /* heading, paragraph */
    const ap_value *rows;      /* table: list of maps; sheet: a map (or list of {key,value,note}); bullets: list of text */
    const ap_column *columns;  /* table */
    size_t column_count;
    size_t limit;              /* rows shown, 0 = all; tables say "shown N of M". The main table's limit holds in every
                                  format: its rows are cut in JSON and CSV too. */
    size_t total;              /* rows there are where `rows` holds only those shown; 0 = as many as rows */
    bool wide_only, not_wide;  /* only in, or not in, the wide form; forms that are neither have what is not wide_only */
    bool main;                 /* main: the table that csv, value, ndjson and --fields work on; else the first table */
    const char *empty;         /* what to say instead of a table without rows; NULL: nothing is printed */
} ap_block;

typedef struct ap_doc {
    ap_arena *arena;
    ap_value *root; /* map; starts with schema_version, kind, accelpick, catalog */
    ap_block *blocks;
    size_t block_count, block_capacity;
} ap_doc;

/* Text is copied into the document's arena; rows, maps and columns must outlive it. A document without a table is one row
 * for csv, value and --fields: its root. */
ap_doc *ap_doc_new(ap_arena *arena, const char *kind);
void ap_doc_heading(ap_doc *doc, const char *text);
void ap_doc_paragraph(ap_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ap_doc_bullets(ap_doc *doc, const ap_value *list);
void ap_doc_sheet(ap_doc *doc, const ap_value *map);
/* The block may be changed until the next one is added. */
ap_block *ap_doc_table(ap_doc *doc, const ap_value *rows, const ap_column *columns, size_t column_count);

typedef enum ap_format {
    AP_FORMAT_TABLE, AP_FORMAT_WIDE, AP_FORMAT_JSON, AP_FORMAT_NDJSON, AP_FORMAT_CSV, AP_FORMAT_MARKDOWN, AP_FORMAT_HTML,
    AP_FORMAT_SARIF, AP_FORMAT_JUNIT, AP_FORMAT_GITHUB, AP_FORMAT_VALUE, AP_FORMAT_COUNT
} ap_format;
extern const char *const ap_format_names[]; /* NULL-terminated */

typedef struct ap_render_options {
    ap_format format;
    int width;            /* terminal columns; 0 = unlimited (pipe) */
    bool color;
    const char **fields;  /* --fields: paths, replace the main table's columns; in JSON keep only these keys of items */
    size_t field_count;
    /* Forms for people show AP_CELL_USD cells times `rate`, "USD" in their titles replaced by `currency`, and say so;
     * keys of machine formats name USD and stay USD. NULL = USD. */
    const char *currency, *rate_origin;
    double rate;
} ap_render_options;

/* AP_USAGE with a diagnostic (0061) for each of options->fields that no row of the main table has. */
AP_CHECKED ap_status ap_doc_check_fields(const ap_doc *doc, const ap_render_options *options, ap_diags *diags);

/* Renders the whole document into `out`. A format that the document's kind does not offer is AP_USAGE. */
AP_CHECKED ap_status ap_doc_render(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out);

#endif
