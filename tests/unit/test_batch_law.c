/* The critical batches of data/recipes (M-97) follow from the measurements: fitted again here, by least absolute residuals. */
#include "testing.h"

#include <stdlib.h>

#include "base/num.h"
#include "estimate/predict.h"

enum { MOST_RUNS = 200, STEPS = 1200 };

typedef struct runs {
    double batch[MOST_RUNS], work[MOST_RUNS]; /* work: epochs, or samples where no row of the model has epochs */
    size_t count;
} runs;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static runs runs_of(const ap_measures *measures, const ap_recipe *recipe)
{
    runs r = {.count = 0};
    for (size_t i = 0; i < measures->count && r.count < MOST_RUNS; i++) {
        const ap_measure *row = &measures->items[i];
        double work = ap_or(row->job.epochs, row->job.samples_total);
        if (row->metric != AP_METRIC_TIME_TO_TRAIN_MIN || !ap_streq(row->model, recipe->model) ||
            !ap_streq(row->job.dataset, recipe->dataset) || !(row->job.global_batch > 0) || !(work > 0))
            continue;
        r.batch[r.count] = row->job.global_batch;
        r.work[r.count++] = work;
    }
    return r;
}

/* Mean |ln work - ln(fewest (1 + batch / critical))| with the fewest that suits best. */
static double misfit(const runs *r, double critical)
{
    double residuals[MOST_RUNS], sorted[MOST_RUNS], sum = 0;
    for (size_t i = 0; i < r->count; i++)
        sorted[i] = residuals[i] = log(r->work[i]) - log1p(r->batch[i] / critical);
    double middle = median(sorted, r->count);
    for (size_t i = 0; i < r->count; i++)
        sum += fabs(residuals[i] - middle);
    return sum / (double)r->count;
}

static void test_critical_batches_follow_from_the_measurements(void **state)
{
    ap_arena *arena = *state;
    ap_diags diags;
    ap_measures measures;
    ap_diags_init(&diags, arena);
    const ap_catalog *catalog = ap_catalog_builtin(arena);
    assert_int_equal(ap_cases_load("tests/measured/measured.csv", catalog, arena, &diags, &measures), AP_OK);
    size_t laws = 0;
    for (size_t i = 0; i < catalog->recipes.count; i++) {
        const ap_recipe *recipe = &catalog->recipes.items[i];
        if (!ap_known(recipe->critical_batch))
            continue;
        runs r = runs_of(&measures, recipe);
        assert_true(r.count >= 10);
        double least = HUGE_VAL, largest = 0, best = HUGE_VAL;
        for (size_t k = 0; k < r.count; k++) {
            least = fmin(least, r.batch[k]);
            largest = fmax(largest, r.batch[k]);
        }
        for (int k = 0; k <= STEPS; k++)
            best = fmin(best, misfit(&r, least / 3 * pow(300 * largest / least, (double)k / STEPS)));
        if (misfit(&r, recipe->critical_batch) > 1.02 * best)
            print_error("%s: %.4f with its critical batch, %.4f at best\n", recipe->id, misfit(&r, recipe->critical_batch), best);
        assert_true(misfit(&r, recipe->critical_batch) <= 1.02 * best);
        assert_near(recipe->largest_batch, largest, 0);
        laws++;
    }
    assert_true(laws >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_critical_batches_follow_from_the_measurements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
