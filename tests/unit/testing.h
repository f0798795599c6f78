/* What the unit tests share: cmocka in its required order, an arena per test, comparison of doubles that shows both. */
#ifndef AP_TESTS_TESTING_H
#define AP_TESTS_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/diag.h"

static inline int testing_setup(void **state)
{
    *state = ap_arena_new();
    return 0;
}

static inline int testing_teardown(void **state)
{
    ap_arena_free(*state);
    return 0;
}

#define arena_test(function) cmocka_unit_test_setup_teardown(function, testing_setup, testing_teardown)

/* Relative difference; two NaN agree, and so do two equal values (both infinite, both zero). */
static inline void testing_near(double actual, double expected, double tolerance, const char *file, int line)
{
    bool same = (isnan(actual) && isnan(expected)) ||
                (!(actual < expected) && !(actual > expected) && !isnan(actual) && !isnan(expected));
    if (same || fabs(actual - expected) <= tolerance * fabs(expected))
        return;
    print_error("%s:%d: got %.17g, expected %.17g\n", file, line, actual, expected);
    _fail(file, line);
}

#define assert_same(actual, expected)            testing_near((actual), (expected), 0, __FILE__, __LINE__)
#define assert_near(actual, expected, tolerance) testing_near((actual), (expected), (tolerance), __FILE__, __LINE__)

/* The first finding with this code, or NULL. */
static inline const ap_diag *testing_find(const ap_diags *diags, int code)
{
    for (size_t i = 0; i < diags->count; i++)
        if (diags->items[i].code == code)
            return &diags->items[i];
    return NULL;
}

#define FIELDS(table) .fields = (table), .field_count = sizeof(table) / sizeof *(table)

#endif
