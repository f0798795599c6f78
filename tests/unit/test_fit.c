/* The fitter finds again what synthetic rows were made with, and leaves no trace of rows left out. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "estimate/accuracy.h"
#include "estimate/engine.h"

typedef struct fixture {
    ap_arena *arena;
    ap_diags diags;
    ap_calibration *calibration;
    ap_measures measures;
} fixture;

static ap_calib_engine *tree_engine(ap_calibration *calibration)
{
    for (size_t i = 0; i < calibration->engines.count; i++)
        if (ap_streq(calibration->engines.items[i].engine, "tree"))
            return &calibration->engines.items[i];
    return NULL;
}

/* 48 boosted-tree runs on four processors; sources alternate. */
static char *synthetic_rows(ap_arena *arena)
{
    static const char *const chips[] = {"epyc-7742", "xeon-8380", "a100-sxm4-40gb", "t4"};
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    ap_sbuf_add(&text, "id,domain,model,arch,chip,chips,stack,rows,features,epochs,depth_or_leaves,metric,value,source\n");
    for (int i = 0; i < 48; i++)
        ap_sbuf_printf(&text, "r%d,trees,xgboost,gbdt,%s,1,xgboost,%d,%d,500,d%d,time_to_train_min,1,lab/%d\n", i, chips[i % 4],
                       200000 * (1 + i / 4), 20 + 10 * (i % 3), 6 + i % 5, i % 5);
    return text.text;
}

static int setup(void **state)
{
    static fixture f;
    f = (fixture){.arena = ap_arena_new()};
    ap_diags_init(&f.diags, f.arena);
    const ap_catalog *catalog = ap_catalog_builtin(f.arena);
    f.calibration = ap_calibration_copy(ap_calibration_builtin(f.arena), f.arena);
    const char *text = synthetic_rows(f.arena);
    *state = &f;
    return ap_cases_parse(text, strlen(text), "rows.csv", catalog, f.arena, &f.diags, &f.measures) != AP_OK ||
           !tree_engine(f.calibration);
}

static int teardown(void **state)
{
    ap_arena_free(((fixture *)*state)->arena);
    return 0;
}

/* Measures := what the calibration predicts, with one chip `factor` times slower. */
static void make_measured(fixture *f, const char *slow_chip, double factor)
{
    for (size_t i = 0; i < f->measures.count; i++) {
        ap_measure *m = &f->measures.items[i];
        ap_prediction prediction;
        ap_predict(f->calibration, m, &prediction);
        assert_null(prediction.reason);
        m->value = prediction.p50 * (strcmp(m->chip, slow_chip) == 0 ? factor : 1);
    }
}

static ap_calibration *fitted(fixture *f, ap_fit_start start, const unsigned char *use)
{
    ap_fit *fit = ap_fit_new(f->calibration, AP_ENGINE_TREE, start, &f->measures, f->arena);
    assert_int_equal(ap_fit_row_count(fit), f->measures.count);
    ap_calibration *result = ap_calibration_copy(f->calibration, f->arena);
    *tree_engine(result) = *ap_fit_run(fit, use, &(ap_fit_options){0}, f->arena);
    return result;
}

static void recovers_what_the_rows_were_made_with(void **state)
{
    fixture *f = *state;
    make_measured(f, "t4", 1.5);
    ap_calibration *result = fitted(f, AP_FIT_REFINE, NULL);
    for (size_t i = 0; i < f->measures.count; i++) {
        ap_prediction before, after;
        ap_predict(f->calibration, &f->measures.items[i], &before);
        ap_predict(result, &f->measures.items[i], &after);
        double was = fabs(before.p50 / f->measures.items[i].value - 1), is = fabs(after.p50 / f->measures.items[i].value - 1);
        assert_true(is < 0.15); /* a third of the error left at most, shared between levels */
        assert_true(is < was + 0.05);
    }
}

static void rows_left_out_leave_no_trace(void **state)
{
    fixture *f = *state;
    make_measured(f, "t4", 1.0);
    unsigned char use[64];
    for (size_t i = 0; i < f->measures.count; i++)
        use[i] = strcmp(f->measures.items[i].chip, "t4") != 0;
    ap_calibration *honest = fitted(f, AP_FIT_COLD, use);
    for (size_t i = 0; i < f->measures.count; i++)
        if (!use[i])
            f->measures.items[i].value *= 1000;
    ap_calibration *again = fitted(f, AP_FIT_COLD, use);
    for (size_t i = 0; i < f->measures.count; i++) {
        ap_prediction a, b;
        ap_predict(honest, &f->measures.items[i], &a);
        ap_predict(again, &f->measures.items[i], &b);
        assert_same(a.p50, b.p50);
    }
    assert_false(ap_calib_has_key(tree_engine(honest), "chip", "t4"));
    assert_true(ap_calib_has_key(tree_engine(honest), "chip", "epyc-7742"));
}

static void one_wild_row_does_not_pull_the_rest(void **state)
{
    fixture *f = *state;
    make_measured(f, "none", 1);
    f->measures.items[0].value *= 50;
    ap_calibration *result = fitted(f, AP_FIT_REFINE, NULL);
    for (size_t i = 1; i < f->measures.count; i++) {
        ap_prediction after;
        ap_predict(result, &f->measures.items[i], &after);
        assert_near(after.p50, f->measures.items[i].value, 0.06);
    }
}

/* Steps of a model tell nothing about how long it must be trained. */
static void throughput_is_no_evidence_of_a_recipe(void **state)
{
    fixture *f = *state;
    const char *text = "id,domain,model,arch,chip,chips,precision,stack,global_batch,metric,value,source\n"
                       "a,segmentation,unet-3d-medical,cnn,a100-sxm4-80gb,1,fp16,dle-tf,2,samples_per_s,10,lab/1\n"
                       "b,segmentation,unet-3d-medical,cnn,v100-sxm2-16gb,1,fp16,dle-tf,2,samples_per_s,5,lab/1\n";
    ap_measures rows;
    assert_int_equal(ap_cases_parse(text, strlen(text), "rows.csv", ap_catalog_builtin(f->arena), f->arena, &f->diags, &rows),
                     AP_OK);
    ap_fit *fit = ap_fit_new(f->calibration, AP_ENGINE_DL, AP_FIT_COLD, &rows, f->arena);
    assert_int_equal(ap_fit_row_count(fit), 2);
    ap_calibration *result = ap_calibration_copy(f->calibration, f->arena);
    for (size_t i = 0; i < result->engines.count; i++)
        if (ap_streq(result->engines.items[i].engine, "dl"))
            result->engines.items[i] = *ap_fit_run(fit, NULL, &(ap_fit_options){0}, f->arena);
    ap_est_context context;
    ap_est_init(&context, result, &rows.items[0].job);
    assert_true(ap_est_seen(&context, "stack"));
    assert_true(ap_est_seen(&context, "publication"));
    assert_false(ap_est_seen(&context, "recipe"));
}

static void a_users_job_is_estimated_as_measured(void **state)
{
    fixture *f = *state;
    const char *text = "model,chip,chips,seq_len,global_batch,micro_batch,precision,stack,task,metric,value\n"
                       "llama-3.1-8b,l40s,8,4096,16,1,bf16,fsdp,pretrain,tokens_per_s,7900\n";
    const ap_catalog *catalog = ap_catalog_builtin(f->arena);
    ap_measures own;
    assert_int_equal(ap_cases_parse(text, strlen(text), "own.csv", catalog, f->arena, &f->diags, &own), AP_OK);
    const ap_calibration *overlay = ap_fit_user(f->calibration, &own, f->arena);
    assert_int_equal(overlay->engines.count, 1);
    ap_calibration *result = ap_calibration_copy(f->calibration, f->arena);
    ap_calibration_overlay(result, &overlay->engines.items[0]);
    ap_prediction after, other, before, first;
    ap_predict(f->calibration, &own.items[0], &first);
    ap_predict(result, &own.items[0], &after);
    assert_near(after.p50, 7900, 1e-6);
    own.items[0].job.seq_len = 2048; /* another job: moves a little, not by the whole factor */
    ap_predict(result, &own.items[0], &other);
    ap_predict(f->calibration, &own.items[0], &before);
    assert_true(fabs(log(other.p50 / before.p50)) < 0.98 * fabs(log(7900 / first.p50)));
    assert_true(log(other.p50 / before.p50) * log(7900 / first.p50) > 0);
}

/* J'J + D for J = [1 1], weight 2, D = diag(1, 3): [[3 2] [2 5]] x = [1 2]  ->  x = [1/11, 4/11]. */
static void solves_a_system_worked_by_hand(void **state)
{
    fixture *f = *state;
    size_t starts[] = {0, 2};
    unsigned columns[] = {0, 1};
    double values[] = {1, 1}, weights[] = {2}, diagonal[] = {1, 3}, gradient[] = {1, 2}, x[2];
    ap_sparse_rows j = {1, 2, starts, columns, values};
    ap_fit_solve(&j, weights, diagonal, gradient, x, f->arena);
    assert_near(x[0], 1.0 / 11, 1e-9);
    assert_near(x[1], 4.0 / 11, 1e-9);
}

/* A chain of 900 unknowns, each row ties two neighbours: large enough for the iterative solver. */
static void solves_a_large_system(void **state)
{
    fixture *f = *state;
    enum { N = 900 };
    size_t *starts = AP_NEW_ARRAY(f->arena, size_t, N);
    unsigned *columns = AP_NEW_ARRAY(f->arena, unsigned, 2 * N);
    double *values = AP_NEW_ARRAY(f->arena, double, 2 * N), *weights = AP_NEW_ARRAY(f->arena, double, N);
    double *diagonal = AP_NEW_ARRAY(f->arena, double, N), *gradient = AP_NEW_ARRAY(f->arena, double, N);
    double *x = AP_NEW_ARRAY(f->arena, double, N);
    for (unsigned i = 0; i < N; i++) {
        diagonal[i] = 1;
        gradient[i] = 1; /* of the solution x = 1: rows (1, -1) vanish on it */
        if (i + 1 == N)
            continue;
        starts[i] = 2 * i;
        columns[2 * i] = i;
        columns[2 * i + 1] = i + 1;
        values[2 * i] = 1;
        values[2 * i + 1] = -1;
        weights[i] = 1 + i % 3;
    }
    starts[N - 1] = 2 * (N - 1);
    ap_sparse_rows j = {N - 1, N, starts, columns, values};
    ap_fit_solve(&j, weights, diagonal, gradient, x, f->arena);
    for (size_t i = 0; i < N; i++)
        assert_near(x[i], 1, 1e-3);
}

/* Ten rows with errors of 0, 10, … 90 %: median 45 %, mean 45 %, ninetieth percentile 81 %. */
static void error_figures(void **state)
{
    fixture *f = *state;
    ap_measure m[11] = {0};
    ap_outcome o[11] = {0};
    for (int i = 0; i < 11; i++) {
        m[i].value = 100;
        o[i] = (ap_outcome){.measure = &m[i], .p50 = 100 + 10 * i, .p10 = 90, .p90 = i < 8 ? 110 : 90};
    }
    o[10].reason = "no";
    ap_outcomes all = {o, 11};
    ap_errors e = ap_accuracy_errors(&all, NULL, NULL, f->arena);
    assert_int_equal(e.n, 10);
    assert_int_equal(e.skipped, 1);
    assert_near(e.median_ape, 0.45, 1e-12);
    assert_near(e.mean_ape, 0.45, 1e-12);
    assert_near(e.p90_ape, 0.81, 1e-12);
    assert_near(e.bias, 0.45, 1e-12);
    assert_near(e.coverage_80, 0.8, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(recovers_what_the_rows_were_made_with, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_left_out_leave_no_trace, setup, teardown),
        cmocka_unit_test_setup_teardown(one_wild_row_does_not_pull_the_rest, setup, teardown),
        cmocka_unit_test_setup_teardown(throughput_is_no_evidence_of_a_recipe, setup, teardown),
        cmocka_unit_test_setup_teardown(a_users_job_is_estimated_as_measured, setup, teardown),
        cmocka_unit_test_setup_teardown(solves_a_system_worked_by_hand, setup, teardown),
        cmocka_unit_test_setup_teardown(solves_a_large_system, setup, teardown),
        cmocka_unit_test_setup_teardown(error_figures, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
