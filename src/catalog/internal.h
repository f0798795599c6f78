/* Inside of the catalog: what loader, overlay, checks and look-ups share. Nobody outside src/catalog includes this. */
#ifndef AP_CATALOG_INTERNAL_H
#define AP_CATALOG_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog/catalog.h"
#include "catalog/tables.h"

/* How generic code gets at a record of a kind: positions of the members that identify it. */
#define AP_NO_MEMBER ((size_t)-1)
typedef struct ap_access {
    const char *kind;     /* "chips" */
    const char *singular; /* "chip" */
    size_t scope, key, extra; /* const char *: the record's identity, e.g. cloud + name; AP_NO_MEMBER = not part of it */
    size_t aliases; /* ap_strings, or AP_NO_MEMBER */
    size_t label;   /* const char *: a second spelling that is looked up, or AP_NO_MEMBER */
    size_t from, pos;
} ap_access;

enum {
    AP_KIND_CHIPS,
    AP_KIND_NAMES,
    AP_KIND_INSTANCES,
    AP_KIND_CLOUDS,
    AP_KIND_REGIONS,
    AP_KIND_MODELS,
    AP_KIND_DATASETS,
    AP_KIND_RECIPES,
    AP_KIND_RIGS,
    AP_KIND_IMAGES,
    AP_KIND_STACKS,
    AP_KIND_SUITES,
    AP_KIND_COUNT
};
extern const ap_access ap_accesses[AP_KIND_COUNT]; /* by the enum above, whatever the order of ap_catalog_kinds */

int ap_access_find(const char *kind); /* plural or singular; -1 */
const ap_object *ap_access_object(int kind);
ap_any_list *ap_access_list(ap_catalog *catalog, int kind);
const ap_any_list *ap_access_list_const(const ap_catalog *catalog, int kind);
const void *ap_access_item(const ap_catalog *catalog, int kind, size_t item);
const char *ap_access_text(const void *record, size_t member); /* NULL for AP_NO_MEMBER */
const ap_provenance *ap_access_from(int kind, const void *record);
ap_pos ap_access_pos(int kind, const void *record);
/* "aws/p4d.24xlarge", "h100-sxm5-80gb": for messages. */
const char *ap_access_label(int kind, const void *record, ap_arena *arena);
/* Same identity? */
bool ap_access_same(int kind, const void *a, const void *b);

/* Hashes by id and alias. Keys are hashed in normal form, so that one table serves exact, case-blind and normalised
 * look-ups; entries point at the records' own strings. */
typedef struct ap_entry {
    const char *scope, *key;
    uint32_t hash;
    uint32_t item;
    uint8_t rank; /* 0 id, 1 label or alias, 2 recipe by model and data set, 3 recipe by model */
} ap_entry;

typedef struct ap_table {
    ap_entry *entries; /* power of two, linear probing; key NULL = free */
    size_t mask;
} ap_table;

struct ap_catalog_index {
    ap_table tables[AP_KIND_COUNT];
};

void ap_catalog_build_index(ap_catalog *catalog);

/* Walks the entries of a key: `for (ap_cursor c = ap_cursor_at(...); ap_cursor_next(&c);) use c.entry`. Yields entries
 * whose key equals in normal form; the caller narrows. */
typedef struct ap_cursor {
    const ap_table *table;
    const char *scope, *key;
    uint32_t hash;
    size_t slot;
    const ap_entry *entry;
} ap_cursor;
ap_cursor ap_cursor_at(const ap_catalog *catalog, int kind, const char *scope, const char *key);
bool ap_cursor_next(ap_cursor *cursor);
bool ap_same_nocase(const char *a, const char *b);
bool ap_same_normal(const char *a, const char *b);
/* Writes the normal form: lower case, "+" -> "plus", other runs of [^a-z0-9] -> "-". Cuts at size. */
void ap_normal_form(const char *text, char *buf, size_t size);

/* One parsed file's records by kind, before they are laid into a catalog. */
typedef struct ap_batch {
    ap_any_list lists[AP_KIND_COUNT];
    const ap_node **nodes[AP_KIND_COUNT]; /* the mapping each record was read from */
} ap_batch;

typedef struct ap_load {
    ap_arena *arena; /* records and their strings */
    ap_diags *diags;
    bool partial;         /* records may lack required fields: they lie over others */
    bool skip_other_keys; /* the file may hold other things too */
    const char *source;   /* provenance of records that name none, or NULL: they must */
} ap_load;

/* Reads every list of a catalog file. Returns false when it added an error. */
bool ap_load_map(const ap_load *load, const ap_node *map, ap_batch *ret_batch);
bool ap_load_is_blank(const char *text); /* nothing but comments */
/* Defaults that hold for a complete record: count 1, hosts 1, prices' provenance. */
void ap_load_complete(int kind, void *record);
/* `source` and `confidence` present, an instance has a cloud … */
void ap_load_require(const ap_load *load, int kind, const void *record);
/* Drops findings that repeat an earlier one since `first` word for word. */
void ap_diags_dedupe(ap_diags *diags, size_t first);
const char *ap_prices_newest(const ap_catalog *catalog);

/* A word that a field takes as free text, and its checks (check_words.c); an absent one passes. */
typedef struct ap_said {
    const char *field, *word;
} ap_said;
void ap_check_date(int kind, const void *record, ap_said said, ap_diags *diags);
void ap_check_precision(int kind, const void *record, ap_said said, ap_diags *diags);
void ap_check_task(int kind, const void *record, ap_said said, ap_diags *diags);
void ap_check_suite_words(const ap_suite *suite, ap_diags *diags);

/* Cross references of one record; codes 072x, 073x. */
void ap_check_record(const ap_catalog *catalog, int kind, const void *record, ap_diags *diags);

/* Lays a batch over a catalog. Returns false, the catalog untouched, when a finding was an error. */
bool ap_overlay_batch(ap_catalog *catalog, const ap_batch *batch, ap_diags *diags);

#endif
