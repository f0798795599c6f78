/* The built-in catalog and calibration, opened once for a group of tests. */
#ifndef AP_TESTS_TESTING_DATA_H
#define AP_TESTS_TESTING_DATA_H

#include "estimate/estimate.h"
#include "testing.h"

typedef struct fixture {
    ap_arena *arena;
    ap_catalog *catalog;
    const ap_calibration *calibration;
} fixture;

static inline int open_fixture(void **state)
{
    ap_arena *arena = ap_arena_new();
    fixture *f = AP_NEW(arena, fixture);
    f->arena = arena;
    f->catalog = ap_catalog_builtin(arena);
    f->calibration = ap_calibration_builtin(arena);
    *state = f;
    return 0;
}

static inline int close_fixture(void **state)
{
    ap_arena_free(((fixture *)*state)->arena);
    return 0;
}

#endif
