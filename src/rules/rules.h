/* Expressions (a documented subset of CEL) and matching of rules over named facts. Knows nothing of chips or estimates.
 *
 * Facts are described by a schema (path -> type); an expression is parsed, type-checked against it and compiled to slots
 * once, then evaluated many times over a flat array of fact values. */
#ifndef AP_RULES_RULES_H
#define AP_RULES_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/status.h"

typedef enum ap_cel_kind {
    AP_CEL_NULL, AP_CEL_BOOL, AP_CEL_INT, AP_CEL_DOUBLE, AP_CEL_STRING, AP_CEL_LIST, AP_CEL_MAP,
    AP_CEL_ERROR,        /* as.error says why; absorbed by && || ?: as CEL has it */
    AP_CEL_UNKNOWN_FACT, /* as.error is the fact's path; spreads like an error, but means "cannot be decided" */
    AP_CEL_TYPE          /* as.string is a type's name: type(1) */
} ap_cel_kind;

typedef struct ap_cel_value ap_cel_value;
struct ap_cel_value {
    ap_cel_kind kind;
    union {
        bool boolean;
        int64_t integer;
        double number;
        struct { const char *text; size_t len; } string;
        struct { const ap_cel_value *items; size_t count; } list;
        struct { const ap_cel_value *keys, *values; size_t count; } map;
        const char *error;
        struct { const char *text; size_t at; } fault; /* ERROR: text is the same as `error`; at: byte of the expression */
    } as;
};

/* Facts: names like "chip.memory_gib" with a kind. A list is a list of strings. */
typedef struct ap_fact {
    const char *path;
    ap_cel_kind kind;
    const char *unit, *doc; /* unit: "GiB" "USD" "h" "fraction" "count" …, or NULL */
    size_t offset;          /* where the value lies in the owner's struct; read by ap_facts_bind only */
    int phase;              /* 0 known once a run, 1 once a target, 2 once a plan (src/plan/facts.h) */
} ap_fact;
typedef struct ap_fact_schema {
    const ap_fact *facts;
    size_t count;
    bool dynamic; /* unknown names are allowed and looked up at evaluation in the root map */
} ap_fact_schema;

/* Values out of a struct described by offsets: numbers are doubles (NaN unknown), bools signed char (-1 unknown), text
 * const char * (NULL unknown, not copied), lists AP_LIST(const char *). */
void ap_facts_clear(const ap_fact_schema *schema, void *object, size_t size); /* everything unknown */
ap_cel_value ap_fact_read(const ap_fact *fact, const void *object, ap_arena *arena);
typedef struct ap_fact_filter {
    int phase;                 /* only facts of this phase */
    const unsigned char *used; /* NULL = all, else one byte per fact */
} ap_fact_filter;
void ap_facts_bind(const ap_fact_schema *schema, const ap_fact_filter *filter, const void *object, ap_arena *arena,
                   ap_cel_value *values);
void ap_facts_unknown(const ap_fact_schema *schema, ap_cel_value *values); /* values[i] = unknown, for all facts */
ap_cel_value ap_cel_text(const char *text);

typedef struct ap_cel ap_cel; /* compiled expression, immutable, in its arena */

AP_CHECKED ap_status ap_cel_compile(const char *text, ap_pos pos, const ap_fact_schema *schema, ap_arena *arena,
                                    ap_diags *diags, const ap_cel **ret);

/* Evaluates over `facts[i]` = value of schema->facts[i] (or root map when dynamic). Temporaries go to `scratch`, bounded
 * by the work budget: an expression that exceeds it is AP_CEL_ERROR. */
ap_cel_value ap_cel_eval(const ap_cel *expr, const ap_cel_value *facts, const ap_cel_value *root, ap_arena *scratch);
/* Reports an AP_CEL_ERROR (or unknown fact) where it happened in the expression: code 0606. */
ap_diag *ap_cel_report(const ap_cel *expr, const ap_cel_value *error, ap_arena *arena, ap_diags *diags);
/* A double keeps a point or exponent; infinities and NaN become text, map keys become text. False when the text would be
 * longer than 8 MiB or deeper than 1000 levels: values share parts, so a small one in memory can be endless on paper. */
bool ap_cel_write_json(const ap_cel_value *value, ap_sbuf *out);
/* Strict JSON; a number without point or exponent becomes an int. Faults carry file:line:column (code 0601). */
AP_CHECKED ap_status ap_cel_read_json(const char *text, size_t len, const char *name, ap_arena *arena, ap_diags *diags,
                                      ap_cel_value *ret);

#endif
