/* A user's own calibration: a few measured runs over the built-in constants. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/fit.h"

/* Deviations that moved, as an overlay: unchanged ones are left to the built-in calibration. */
static void keep_moved(const ap_calib_engine *base, const ap_calib_engine *fitted, ap_calib_engine *into, ap_arena *arena)
{
    into->constants.items = AP_NEW_ARRAY(arena, ap_calib_const, fitted->constants.count + 1);
    into->constants.count = 0;
    for (size_t c = 0; c < fitted->constants.count; c++) {
        const ap_calib_const *from = &fitted->constants.items[c];
        ap_calib_const kept = *from;
        kept.by.items = AP_NEW_ARRAY(arena, ap_calib_by, from->by.count + 1);
        kept.by.count = 0;
        for (size_t i = 0; i < from->by.count; i++) {
            ap_calib_by by = from->by.items[i];
            ap_deviation *values = AP_NEW_ARRAY(arena, ap_deviation, by.values.count + 1);
            size_t count = 0;
            for (size_t k = 0; k < by.values.count; k++)
                if (fabs(by.values.items[k].value - ap_calib_deviation(base, from->id, by.level, by.values.items[k].key)) > 1e-4)
                    values[count++] = by.values.items[k];
            by.values.items = values;
            by.values.count = count;
            if (count)
                kept.by.items[kept.by.count++] = by;
        }
        if (kept.by.count)
            into->constants.items[into->constants.count++] = kept;
    }
}

/* What is still off for a job that was measured is a factor of that job alone. */
static void add_job_scale(const ap_calibration *refined, ap_engine engine, const ap_measures *measures,
                          ap_calib_engine *into, ap_arena *arena)
{
    ap_deviation *values = AP_NEW_ARRAY(arena, ap_deviation, measures->count + 1);
    size_t count = 0;
    for (size_t i = 0; i < measures->count; i++) {
        const ap_measure *m = &measures->items[i];
        if (m->skip || !(m->value > 0) || ap_metric_quantity(m->metric) != AP_Q_STEP || ap_est_engine(&m->job) != engine)
            continue;
        ap_prediction prediction;
        ap_predict(refined, m, &prediction);
        if (prediction.reason)
            continue;
        char key[AP_JOB_KEY_BYTES];
        ap_est_job_key(&m->job, key, sizeof key);
        size_t at = 0;
        while (at < count && strcmp(values[at].key, key) != 0)
            at++;
        if (at == count)
            values[count++] = (ap_deviation){ap_arena_strdup(arena, key), 0, 0};
        values[at].rows++;
        values[at].value += (ap_fit_residual(m, prediction.p50) - values[at].value) / values[at].rows;
    }
    if (!count)
        return;
    ap_calib_by *by = AP_NEW(arena, ap_calib_by);
    *by = (ap_calib_by){.level = "job", .sd = 1};
    by->values.items = values;
    by->values.count = count;
    ap_calib_const *scale = &into->constants.items[into->constants.count++];
    *scale = (ap_calib_const){.id = "user_scale", .value = 1, .prior = 1, .sd = 0, .low = AP_UNKNOWN, .high = AP_UNKNOWN,
                              .scale = AP_SCALE_LOG, .doc = "measured over estimated step time of jobs that were run"};
    scale->by.items = by;
    scale->by.count = 1;
}

bool ap_fit_is_far(const ap_calibration *calibration, const ap_measure *measure)
{
    if (measure->skip || !(measure->value > 0))
        return false;
    ap_prediction prediction;
    ap_predict(calibration, measure, &prediction);
    return !prediction.reason && fabs(ap_fit_residual(measure, prediction.p50)) > log(AP_FIT_USER_FACTOR);
}

static unsigned char *rows_to_use(const ap_calibration *calibration, const ap_fit *fit, ap_arena *arena)
{
    unsigned char *use = AP_NEW_ARRAY(arena, unsigned char, ap_fit_row_count(fit) + 1);
    for (size_t i = 0; i < ap_fit_row_count(fit); i++)
        use[i] = !ap_fit_is_far(calibration, ap_fit_row_measure(fit, i));
    return use;
}

const ap_calibration *ap_fit_user(const ap_calibration *calibration, const ap_measures *measures, ap_arena *arena)
{
    ap_calibration *overlay = AP_NEW(arena, ap_calibration);
    overlay->arena = arena;
    overlay->engines.items = AP_NEW_ARRAY(arena, ap_calib_engine, AP_ENGINE_COUNT);
    for (int e = 0; e < AP_ENGINE_COUNT; e++) {
        const char *name = ap_engine_ops_of((ap_engine)e)->name;
        const ap_calib_engine *base = ap_calibration_engine(calibration, name);
        if (!base)
            continue;
        ap_fit *fit = ap_fit_new(calibration, (ap_engine)e, AP_FIT_REFINE, measures, arena);
        if (!ap_fit_row_count(fit))
            continue;
        const ap_calib_engine *fitted = ap_fit_run(fit, rows_to_use(calibration, fit, arena), &(ap_fit_options){0}, arena);
        ap_calib_engine *into = &overlay->engines.items[overlay->engines.count++];
        *into = (ap_calib_engine){.engine = name, .sigma = AP_UNKNOWN, .sigma_memory = AP_UNKNOWN, .sigma_run = AP_UNKNOWN,
                                  .source_power = AP_UNKNOWN, .row_weight = AP_UNKNOWN, .band_sources = AP_UNKNOWN};
        into->fitted_on = (ap_calib_fitted){(double)ap_fit_row_count(fit), 1, NULL, "your own measurements"};
        keep_moved(base, fitted, into, arena);
        ap_calibration *refined = ap_calibration_copy(calibration, arena);
        ap_calibration_overlay(refined, into);
        add_job_scale(refined, (ap_engine)e, measures, into, arena);
        ap_calib_sort(into);
    }
    return overlay;
}
