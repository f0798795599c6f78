/* Boosted trees and classic methods against hand calculations, with the constants pinned. */
#include "testing.h"

#include "base/str.h"
#include "estimate/engine.h"

typedef struct fixture {
    ap_arena *arena;
    const ap_catalog *catalog;
    ap_calibration *calibration;
} fixture;

static ap_calib_const *constant(const fixture *f, const char *id)
{
    for (size_t i = 0; i < f->calibration->engines.count; i++) {
        ap_calib_engine *engine = &f->calibration->engines.items[i];
        if (!ap_streq(engine->engine, "tree"))
            continue;
        for (size_t k = 0; k < engine->constants.count; k++)
            if (ap_streq(engine->constants.items[k].id, id))
                return &engine->constants.items[k];
    }
    fail_msg("no constant %s", id);
    return NULL;
}

/* One value for every case. */
static void pin(const fixture *f, const char *id, double value)
{
    ap_calib_const *c = constant(f, id);
    c->value = value;
    c->by.count = 0;
}

static int setup(void **state)
{
    static fixture f;
    f.arena = ap_arena_new();
    f.catalog = ap_catalog_builtin(f.arena);
    f.calibration = ap_calibration_copy(ap_calibration_builtin(f.arena), f.arena);
    *state = &f;
    pin(&f, "rate", 1e8);
    pin(&f, "rate_size", 0.0);
    pin(&f, "rate_year", 0.0);
    pin(&f, "chip_year", 0.0);
    pin(&f, "saturation", 16.0);
    pin(&f, "row_rate", 1e30);
    pin(&f, "overhead", 1e-30);
    pin(&f, "sync", 1e-30);
    pin(&f, "startup", 1e-30);
    pin(&f, "classes", 1.0);
    pin(&f, "time", 1.0);
    pin(&f, "second_thread", 1.0);
    pin(&f, "wide_features", 1e30);
    pin(&f, "iteration", 1e-30);
    pin(&f, "clock_power", 0.0);
    pin(&f, "thread_power", 1.0);
    pin(&f, "data_startup", 1e-30);
    pin(&f, "node_power", 0.7);
    return 0;
}

static int teardown(void **state)
{
    ap_arena_free(((fixture *)*state)->arena);
    return 0;
}

static ap_case tabular_job(const fixture *f, const char *model, double rows, double features)
{
    ap_case job;
    ap_case_clear(&job);
    job.model = ap_catalog_find_model(f->catalog, model);
    assert_non_null(job.model);
    job.domain = job.model->domain;
    job.arch = job.model->arch;
    job.chip = ap_catalog_find_chip(f->catalog, "epyc-7742").chip;
    job.chips = 1.0;
    job.threads = 1.0;
    job.rows = rows;
    job.features = features;
    job.run_kind = "wall";
    return job;
}

static ap_estimate estimate_of(const fixture *f, const ap_case *job, ap_run_estimate *ret_run)
{
    ap_est_context context;
    ap_layout layout;
    ap_estimate estimate;
    ap_layout_clear(&layout);
    ap_est_init(&context, f->calibration, job);
    ap_est_run(&context, &layout, &estimate);
    ap_est_whole_run(&context, &estimate, 1.0, ret_run);
    return estimate;
}

static void histograms_count_half_of_rows_features_levels(void **state)
{
    const fixture *f = *state;
    ap_case job = tabular_job(f, "xgboost", 1e6, 100.0);
    job.depth = 6.0;
    job.trees = 100.0;
    ap_run_estimate run;
    ap_estimate estimate = estimate_of(f, &job, &run);
    /* a23: 1e6 x 100 x 100 trees x 6 x 0.5 = 3.0e10 updates; one thread of 1e8 a second, 1/(1 + 1/16) of it left. */
    assert_near(estimate.step_s, 3.0e8 / 1e8 * (17.0 / 16.0), 1e-9);
    assert_near(run.hours_p50, 3.0e10 / 1e8 * (17.0 / 16.0) / 3600.0, 1e-9);
    assert_int_equal(estimate.bottleneck, AP_BOUND_COMPUTE);
}

static void threads_help_until_memory_is_shared(void **state)
{
    const fixture *f = *state;
    ap_case job = tabular_job(f, "xgboost", 1e6, 100.0);
    job.depth = 6.0;
    ap_run_estimate run;
    job.threads = 16.0;
    /* 16 / (1 + 16/16) = 8 threads' worth. */
    assert_near(estimate_of(f, &job, &run).step_s, 3.0 / 8.0, 1e-9);
    job.threads = 48.0;
    assert_near(estimate_of(f, &job, &run).step_s, 3.0 / 12.0, 1e-9);
}

static void leaves_stand_for_their_depth(void **state)
{
    const fixture *f = *state;
    ap_case job = tabular_job(f, "lightgbm", 1e6, 100.0);
    job.leaves = 64.0;
    ap_run_estimate run;
    assert_near(estimate_of(f, &job, &run).step_s, 3.0 * (17.0 / 16.0), 1e-9);
}

static void classic_methods_have_an_order_of_magnitude(void **state)
{
    const fixture *f = *state;
    ap_case job = tabular_job(f, "logistic-regression", 1e6, 100.0);
    ap_run_estimate run;
    ap_estimate estimate = estimate_of(f, &job, &run);
    assert_int_equal(estimate.basis, AP_BASIS_RULE_OF_THUMB);
    /* a24: 2 n d a pass; at 5e8 a second and thread one pass of 1e6 x 100 takes under a second. */
    assert_true(estimate.step_s > 0.1 && estimate.step_s < 1.0);
    /* Kernel machines grow with the square of the rows. */
    job = tabular_job(f, "svm-rbf", 1e4, 100.0);
    double small = estimate_of(f, &job, &run).step_s;
    job.rows = 1e5;
    assert_near(estimate_of(f, &job, &run).step_s / small, 100.0, 0.01);
}

static void a_forest_sorts_at_every_node(void **state)
{
    const fixture *f = *state;
    ap_case job = tabular_job(f, "random-forest", 1e6, 9.0);
    job.threads = 1.0;
    job.trees = 500.0;
    ap_run_estimate run;
    ap_estimate estimate = estimate_of(f, &job, &run);
    assert_int_equal(estimate.basis, AP_BASIS_RULE_OF_THUMB);
    /* 200 x 1e6^1.1 x sqrt(9) = 2.38864e9 operations; 1 / (1 + 1/16) of 5e8 a second: 5.07587 s, and 1 ms. */
    assert_near(estimate.step_s, 5.07687, 1e-4);
    assert_near(run.hours_p50 * 3600.0, 500.0 * 5.07687, 1e-4);
}

static void the_second_thread_of_a_core_adds_less(void **state)
{
    const fixture *f = *state;
    assert_near(ap_est_busy_cores(8.0, 24.0, 0.3), 8.0, 1e-12);
    assert_near(ap_est_busy_cores(48.0, 24.0, 0.3), 31.2, 1e-12); /* 24 + 0.3 x 24 */
    assert_near(ap_est_busy_cores(96.0, 24.0, 0.3), 62.4, 1e-12); /* two sockets */
    pin(f, "second_thread", 0.25);
    ap_case job = tabular_job(f, "xgboost", 1e6, 100.0);
    job.depth = 6.0;
    job.threads = 128.0; /* 64 cores: 64 + 16 = 80 busy; 80 / (1 + 80/16) = 40/3 threads' worth */
    ap_run_estimate run;
    double step = estimate_of(f, &job, &run).step_s;
    pin(f, "second_thread", 1.0);
    assert_near(step, 3.0 / (40.0 / 3.0), 1e-9);
}

static void wide_histograms_leave_the_cache(void **state)
{
    const fixture *f = *state;
    ap_case job = tabular_job(f, "xgboost", 1e6, 100.0);
    job.depth = 6.0;
    ap_run_estimate run;
    double narrow = estimate_of(f, &job, &run).step_s;
    pin(f, "wide_features", 50.0);
    double wide = estimate_of(f, &job, &run).step_s;
    pin(f, "wide_features", 1e30);
    assert_near(wide / narrow, 3.0, 1e-9); /* 1 + 100/50 */
}

/* 64 threads that meet for 1 ms each are slower than fewer; a run that was made with 64 is taken at its word. */
static void a_machine_uses_as_many_threads_as_help(void **state)
{
    const fixture *f = *state;
    pin(f, "sync", 1e-3);
    pin(f, "sync_power", 1.0);
    pin(f, "saturation", 1e30);
    ap_case job = tabular_job(f, "xgboost", 1e4, 100.0);
    job.depth = 8.0; /* 256 nodes: the unit of `sync` */
    ap_run_estimate run;
    job.threads = 64.0;
    double told = estimate_of(f, &job, &run).step_s;
    job.host_vcpus = 64.0;
    double chosen = estimate_of(f, &job, &run).step_s;
    pin(f, "sync", 1e-30);
    pin(f, "saturation", 16.0);
    /* 0.5 x 1e6 x 8 / 1e8 = 40 ms over t threads + t ms: 64 threads 64.625 ms; of 64, 32, 16, 8 … best 8: 13 ms. */
    assert_near(told, 0.064625, 1e-9);
    assert_near(chosen, 0.013, 1e-9);
}

static void a_share_of_a_gpu_has_that_share_of_its_speed(void **state)
{
    const fixture *f = *state;
    ap_case job = tabular_job(f, "xgboost", 1e6, 100.0);
    job.chip = ap_catalog_find_chip(f->catalog, "l4").chip;
    job.depth = 6.0;
    ap_run_estimate run;
    double whole = estimate_of(f, &job, &run).step_s;
    job.chips = 0.25;
    assert_near(estimate_of(f, &job, &run).step_s / whole, 4.0, 1e-9);
}

static void energy_is_power_times_time(void **state)
{
    const fixture *f = *state;
    ap_chip chip = *ap_catalog_find_chip(f->catalog, "epyc-7742").chip;
    ap_case job = tabular_job(f, "xgboost", 1e6, 100.0);
    job.chip = &chip;
    job.depth = 6.0;
    job.trees = 100.0;
    ap_run_estimate run;
    chip.tdp_w = 400.0;
    estimate_of(f, &job, &run);
    double once = run.energy_kwh / run.hours_p50;
    assert_true(once > 0.2 && once < 0.6); /* 400 W, busy, with its host */
    chip.tdp_w = 800.0;
    estimate_of(f, &job, &run);
    assert_near(run.energy_kwh / run.hours_p50, 2.0 * once, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histograms_count_half_of_rows_features_levels),
        cmocka_unit_test(threads_help_until_memory_is_shared),
        cmocka_unit_test(leaves_stand_for_their_depth),
        cmocka_unit_test(classic_methods_have_an_order_of_magnitude),
        cmocka_unit_test(a_forest_sorts_at_every_node),
        cmocka_unit_test(the_second_thread_of_a_core_adds_less),
        cmocka_unit_test(wide_histograms_leave_the_cache),
        cmocka_unit_test(a_machine_uses_as_many_threads_as_help),
        cmocka_unit_test(a_share_of_a_gpu_has_that_share_of_its_speed),
        cmocka_unit_test(energy_is_power_times_time),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
