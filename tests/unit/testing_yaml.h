/* Parsing of literal YAML in tests. */
#ifndef AP_TESTS_TESTING_YAML_H
#define AP_TESTS_TESTING_YAML_H

#include <stdlib.h>

#include "io/yaml.h"
#include "testing.h"

typedef struct parsed {
    ap_status status;
    ap_docs docs;
    ap_diags diags;
} parsed;

/* From an exact-size copy on the heap, so that ASan sees a read past the end. */
static inline void parse_len(ap_arena *arena, const char *text, size_t len, ap_yaml_mode mode, parsed *ret)
{
    char *exact = malloc(len ? len : 1);
    memcpy(exact, text, len);
    ap_diags_init(&ret->diags, arena);
    ret->status = ap_yaml_parse(exact, len, "t.yaml", mode, AP_YAML_WORKLOAD_BYTES, arena, &ret->diags, &ret->docs);
    free(exact);
}

static inline void parse(ap_arena *arena, const char *text, ap_yaml_mode mode, parsed *ret)
{
    parse_len(arena, text, strlen(text), mode, ret);
}

/* Expects one finding with this code at this place whose message or hint holds `said`. */
static inline void expect_finding(const parsed *p, int code, int line, int col, const char *said)
{
    const ap_diag *diag = testing_find(&p->diags, code);
    if (!diag)
        fail_msg("no finding AP%04d; the first is: %s", code, p->diags.count ? p->diags.items[0].message : "none");
    if (diag->pos.line != line || diag->pos.col != col)
        fail_msg("'%s' at %d:%d, expected %d:%d", diag->message, diag->pos.line, diag->pos.col, line, col);
    if (!strstr(diag->message, said) && !(diag->hint && strstr(diag->hint, said)))
        fail_msg("'%s' (hint '%s') does not say '%s'", diag->message, diag->hint ? diag->hint : "", said);
}

#endif
