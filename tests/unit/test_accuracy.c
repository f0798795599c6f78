/* Bands from residuals, groups and ranking, on outcomes worked by hand. */
#include "testing.h"

#include "estimate/accuracy.h"

static const char *const cells_a[] = {"step|k3", "step"};
static const char *const cells_b[] = {"step|k0", "step"};

/* 101 residuals -0.50 … 0.50 from two sources. */
static ap_outcomes spread(ap_arena *arena, const char *const *cells, size_t count)
{
    ap_outcomes all = {AP_NEW_ARRAY(arena, ap_outcome, count), count};
    ap_measure *m = AP_NEW_ARRAY(arena, ap_measure, count);
    for (size_t i = 0; i < count; i++) {
        m[i] = (ap_measure){.id = "x", .run = ap_arena_printf(arena, "run %zu", i), .family = i % 2 ? "a" : "b",
                            .metric = AP_METRIC_STEP_TIME_S, .value = 1};
        all.items[i] = (ap_outcome){.measure = &m[i], .p50 = 1, .ln_residual = -0.5 + (double)i / (double)(count - 1),
                                    .cells = cells, .cell_count = 2};
    }
    return all;
}

static const ap_calib_cell *cell(const ap_calib_engine *engine, const char *key)
{
    for (size_t i = 0; i < engine->intervals.count; i++)
        if (strcmp(engine->intervals.items[i].key, key) == 0)
            return &engine->intervals.items[i];
    return NULL;
}

static void bands_are_a_little_wider_than_the_quantiles(void **state)
{
    ap_arena *arena = *state;
    ap_outcomes all = spread(arena, cells_a, 101);
    ap_calib_engine engine = {.engine = "toy"};
    ap_accuracy_intervals(&(ap_pool){&all, 1}, 1, -1, arena, &engine);
    const ap_calib_cell *band = cell(&engine, "step|k3");
    assert_non_null(band);
    assert_true(band->low <= -0.40 && band->low >= -0.46); /* the 10 % quantile is -0.40 */
    assert_true(band->high >= 0.40 && band->high <= 0.46);
    assert_same(band->rows, 101);
    assert_same(band->sources, 2);
}

/* Two sources at 0.1 over their number: the level moves from 9 % by 0.5 * 9 % / sqrt(101) and by 5 % to 3.6 %, and the
 * residuals are spread evenly from -0.5. */
static void bands_of_few_sources_reach_further_out(void **state)
{
    ap_arena *arena = *state;
    ap_outcomes all = spread(arena, cells_a, 101);
    ap_calib_engine engine = {.engine = "toy", .band_sources = 0.1};
    ap_accuracy_intervals(&(ap_pool){&all, 1}, 1, -1, arena, &engine);
    assert_near(cell(&engine, "step|k3")->low, -0.5 + 0.036, 0.006 / 0.46);
    assert_near(cell(&engine, "step|k3")->high, 0.5 - 0.036, 0.006 / 0.46);
}

static void cells_with_few_rows_are_left_to_their_parents(void **state)
{
    ap_arena *arena = *state;
    ap_outcomes many = spread(arena, cells_a, 101), few = spread(arena, cells_b, 7);
    ap_pool pools[] = {{&many, 1}, {&few, 1}};
    ap_calib_engine engine = {.engine = "toy"};
    ap_accuracy_intervals(pools, 2, -1, arena, &engine);
    assert_null(cell(&engine, "step|k0"));
    assert_same(cell(&engine, "step")->rows, 108);
}

static void a_band_covers_about_four_of_five(void **state)
{
    ap_arena *arena = *state;
    ap_outcomes all = spread(arena, cells_a, 1001);
    ap_calib_engine engine = {.engine = "toy"};
    ap_accuracy_intervals(&(ap_pool){&all, 1}, 1, -1, arena, &engine);
    ap_accuracy_apply(&engine, &all, -1);
    /* measured = predicted * exp(residual): the outcomes' measured value is 1, so move the prediction instead */
    for (size_t i = 0; i < all.count; i++) {
        double factor = exp(-all.items[i].ln_residual);
        all.items[i].p10 *= factor;
        all.items[i].p50 *= factor;
        all.items[i].p90 *= factor;
    }
    ap_errors errors = ap_accuracy_errors(&all, NULL, NULL, arena);
    assert_true(errors.coverage_80 >= 0.80 && errors.coverage_80 <= 0.86);
}

static void halves_keep_a_run_together(void **state)
{
    (void)state;
    ap_measure a = {.id = "r.tps", .run = "r"}, b = {.id = "r.mem", .run = "r"};
    assert_int_equal(ap_accuracy_half(&a), ap_accuracy_half(&b));
}

static ap_outcome ranked(ap_measure *m, const char *chip, double measured, double predicted)
{
    *m = (ap_measure){.id = "i", .run = "r", .family = "f", .model = "m", .chip = chip, .metric = AP_METRIC_TOKENS_PER_S,
                      .value = measured};
    ap_case_clear(&m->job);
    ap_layout_clear(&m->layout);
    m->job.chips = 8;
    return (ap_outcome){.measure = m, .p50 = predicted};
}

/* One model on two chips: the slower one is predicted best, at a loss of 25 %. Layouts of one chip: 2 % lost. */
static void ranking(void **state)
{
    ap_arena *arena = *state;
    ap_measure m[4];
    ap_outcome chips[] = {ranked(&m[0], "a", 100, 90), ranked(&m[1], "b", 80, 95)};
    ap_ranking r = ap_accuracy_ranking(&(ap_outcomes){chips, 2}, true, arena);
    assert_int_equal(r.groups, 1);
    assert_same(r.within_5, 0);
    assert_near(r.mean_regret, 0.25, 1e-12);
    ap_outcome layouts[] = {ranked(&m[2], "a", 102, 90), ranked(&m[3], "a", 100, 95)};
    r = ap_accuracy_ranking(&(ap_outcomes){layouts, 2}, false, arena);
    assert_int_equal(r.groups, 1);
    assert_same(r.within_5, 1);
    assert_near(r.mean_regret, 0.02, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(bands_are_a_little_wider_than_the_quantiles),
        arena_test(bands_of_few_sources_reach_further_out),
        arena_test(cells_with_few_rows_are_left_to_their_parents),
        arena_test(a_band_covers_about_four_of_five),
        arena_test(halves_keep_a_run_together),
        arena_test(ranking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
