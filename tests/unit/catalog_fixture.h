/* Shared by the catalog's tests: the small hand-made catalog of tests/fixtures/catalog-mini. */
#ifndef CATALOG_FIXTURE_H
#define CATALOG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/num.h"
#include "catalog/catalog.h"

#define MINI "tests/fixtures/catalog-mini"

typedef struct fixture {
    ap_arena *arena;
    ap_diags diags;
    ap_catalog *catalog;
} fixture;

static inline void print_diags(const ap_diags *diags)
{
    ap_sbuf text;
    ap_sbuf_init(&text, diags->arena);
    for (size_t i = 0; i < diags->count; i++)
        ap_diag_format(&diags->items[i], &text);
    fputs(text.text, stderr);
}

static inline int fixture_up(void **state)
{
    ap_arena *arena = ap_arena_new();
    fixture *f = AP_NEW(arena, fixture);
    f->arena = arena;
    ap_diags_init(&f->diags, arena);
    ap_status status = ap_catalog_load_dir(MINI, arena, &f->diags, &f->catalog);
    print_diags(&f->diags);
    *state = f;
    return (int)status;
}

static inline int fixture_down(void **state)
{
    ap_arena_free(((fixture *)*state)->arena);
    return 0;
}

#define assert_num(actual, expected) assert_num_at((actual), (expected), __FILE__, __LINE__)
static inline void assert_num_at(double actual, double expected, const char *file, int line)
{
    double error = actual - expected;
    double limit = 1e-9 * (expected < 0 ? -expected : expected);
    if (!(error <= limit && error >= -limit)) {
        print_error("%.17g is not %.17g\n", actual, expected);
        _fail(file, line);
    }
}

#endif
