/* Rows of an answer, whatever its format, as values that a provider's field texts name (see provider.h). */
#ifndef AP_PRICES_RECORD_H
#define AP_PRICES_RECORD_H

#include <cjson/cJSON.h>

#include "prices/prices.h"

#define AP_RECORD_DEPTH 8

/* One row: JSON nodes from the row up to the root of the answer, or the cells of a CSV line. */
typedef struct ap_record {
    const cJSON *level[AP_RECORD_DEPTH]; /* [0] = the row, [1] = what holds it … */
    size_t depth;
    const char *key;            /* member name of the row, or NULL */
    const char *const *columns; /* CSV */
    const char *const *cells;
    size_t cell_count;
    const char *part; /* value of `each`: "$part" */
    ap_arena *arena;
} ap_record;

typedef enum ap_cell_kind { AP_CELL_MISSING, AP_CELL_NULL, AP_CELL_TEXT, AP_CELL_NUMBER, AP_CELL_OTHER } ap_cell_kind;
typedef struct ap_cell {
    ap_cell_kind kind;
    const char *text;
    double number;
    const cJSON *node;
} ap_cell;

/* RFC 6901; "" is the node itself. NULL when there is nothing. */
const cJSON *ap_json_pointer(const cJSON *node, const char *pointer);
ap_cell ap_record_cell(const ap_record *record, const char *where);
const char *ap_record_text(const ap_record *record, const char *where); /* NULL: missing; numbers as text */
/* A number, or text that is one; NaN. `strict`: only what the answer has as a number (CSV: any). */
double ap_record_number(const ap_record *record, const char *where);
bool ap_record_passes(const ap_record *record, const ap_price_test *tests, size_t count);

/* Calls each for every row that `path` finds; a token * walks all members. Returns false when the path leads nowhere.
 */
bool ap_record_walk(const cJSON *root, const char *path, ap_record *record,
                    void (*each)(void *context, const ap_record *record), void *context);

/* The offers that one row makes. */
typedef struct ap_row_sink {
    const ap_provider *provider;
    ap_arena *arena;
    ap_offers offers;
    size_t capacity;
    double rows_in;
    const ap_strings *only_regions;
} ap_row_sink;
void ap_row_take(ap_row_sink *sink, const ap_record *record);

#endif
