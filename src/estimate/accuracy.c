#include "estimate/accuracy.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

#define FOLDS       5
#define SMALL_GROUP 30
#define SMALL_BINS  6

const char *const ap_holdout_names[] = {"none", "rows", "source", "chip", "model", NULL};

static unsigned hash(const char *text)
{
    uint32_t h = 2166136261u; /* FNV-1a: the same folds on every machine */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    h ^= h >> 15;
    return h;
}

int ap_accuracy_half(const ap_measure *measure)
{
    return (int)(hash(measure->run) >> 3 & 1u);
}

/* -- predictions ----------------------------------------------------------------------------------------------------- */

static const char *const *copy_cells(const ap_engine_cells *cells, ap_arena *arena)
{
    const char **copy = AP_NEW_ARRAY(arena, const char *, cells->count + 1);
    for (size_t i = 0; i < cells->count; i++)
        copy[i] = ap_arena_strdup(arena, cells->names[i]);
    return copy;
}

static void predict_one(const ap_calibration *calibration, const ap_measure *measure, ap_arena *arena, ap_outcome *ret)
{
    ap_prediction prediction;
    ap_predict(calibration, measure, &prediction);
    *ret = (ap_outcome){measure, prediction.p10, prediction.p50, prediction.p90, prediction.basis, prediction.reason,
                        AP_UNKNOWN, NULL, 0};
    if (prediction.reason || !(measure->value > 0))
        return;
    ret->ln_residual = ap_fit_residual(measure, prediction.p50);
    ap_est_context context;
    ap_est_init(&context, calibration, &measure->job);
    ap_engine_cells cells;
    ap_est_cells(&context, ap_metric_quantity(measure->metric), ap_known(measure->layout.micro_batch), &cells);
    ret->cells = copy_cells(&cells, arena);
    ret->cell_count = cells.count;
}

void ap_accuracy_predict(const ap_calibration *calibration, const ap_measures *measures, ap_arena *arena, ap_outcomes *ret)
{
    ret->items = AP_NEW_ARRAY(arena, ap_outcome, measures->count + 1);
    ret->count = measures->count;
    for (size_t i = 0; i < measures->count; i++)
        predict_one(calibration, &measures->items[i], arena, &ret->items[i]);
}

/* -- leaving out ----------------------------------------------------------------------------------------------------- */

static const char *raw_group(const ap_measure *measure, ap_holdout mode)
{
    switch (mode) {
    case AP_HOLD_SOURCE:
        return measure->family;
    case AP_HOLD_CHIP:
        return measure->chip ? measure->chip : "";
    case AP_HOLD_MODEL:
        return measure->model ? measure->model : "";
    default:
        return measure->run;
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Group number of each row of the fit; returns how many. Small groups share bins. */
static size_t assign_groups(const ap_fit *fit, ap_holdout mode, unsigned *ret_groups, ap_arena *arena)
{
    size_t rows = ap_fit_row_count(fit);
    if (mode == AP_HOLD_ROWS) {
        for (size_t r = 0; r < rows; r++)
            ret_groups[r] = hash(ap_fit_row_measure(fit, r)->run) % FOLDS;
        return FOLDS;
    }
    const char **names = AP_NEW_ARRAY(arena, const char *, rows + 1);
    for (size_t r = 0; r < rows; r++)
        names[r] = raw_group(ap_fit_row_measure(fit, r), mode);
    qsort(names, rows, sizeof *names, by_text);
    unsigned next = SMALL_BINS;
    unsigned *numbers = AP_NEW_ARRAY(arena, unsigned, rows + 1);
    size_t distinct = 0;
    for (size_t r = 0; r < rows;) {
        size_t end = r;
        while (end < rows && strcmp(names[end], names[r]) == 0)
            end++;
        names[distinct] = names[r];
        numbers[distinct++] = end - r >= SMALL_GROUP ? next++ : hash(names[r]) % SMALL_BINS;
        r = end;
    }
    for (size_t r = 0; r < rows; r++) {
        const char *name = raw_group(ap_fit_row_measure(fit, r), mode);
        const char **found = bsearch(&name, names, distinct, sizeof *names, by_text);
        ret_groups[r] = numbers[found - names];
    }
    return next;
}

/* The calibration with one engine replaced. */
static ap_calibration *with_engine(const ap_calibration *calibration, const ap_calib_engine *engine, ap_arena *arena)
{
    ap_calibration *copy = ap_calibration_copy(calibration, arena);
    for (size_t i = 0; i < copy->engines.count; i++)
        if (ap_streq(copy->engines.items[i].engine, engine->engine))
            copy->engines.items[i] = *engine;
    return copy;
}

static void hold_out_engine(const ap_calibration *calibration, const ap_measures *measures, ap_engine engine,
                            ap_holdout mode, const ap_fit_options *options, ap_arena *arena, ap_outcomes *ret)
{
    AP_SCOPED_ARENA *own = ap_arena_new();
    ap_fit *fit = ap_fit_new(calibration, engine, AP_FIT_COLD, measures, own);
    size_t rows = ap_fit_row_count(fit);
    unsigned *groups = AP_NEW_ARRAY(own, unsigned, rows + 1);
    unsigned char *use = AP_NEW_ARRAY(own, unsigned char, rows + 1);
    size_t group_count = rows ? assign_groups(fit, mode, groups, own) : 0;
    for (unsigned g = 0; g < group_count; g++) {
        size_t held = 0;
        for (size_t r = 0; r < rows; r++) {
            use[r] = groups[r] != g;
            held += !use[r];
        }
        if (!held)
            continue;
        AP_SCOPED_ARENA *fold = ap_arena_new();
        const ap_calib_engine *fitted = ap_fit_run(fit, use, options, fold);
        ap_calibration *refitted = with_engine(calibration, fitted, fold);
        for (size_t r = 0; r < rows; r++)
            if (!use[r]) {
                const ap_measure *measure = ap_fit_row_measure(fit, r);
                predict_one(refitted, measure, arena, &ret->items[measure - measures->items]);
            }
    }
}

void ap_accuracy_holdout(const ap_calibration *calibration, const ap_measures *measures, int engine, ap_holdout mode,
                         const ap_fit_options *options, ap_arena *arena, ap_outcomes *ret)
{
    if (mode == AP_HOLD_NONE) {
        ap_accuracy_predict(calibration, measures, arena, ret);
        return;
    }
    ret->items = AP_NEW_ARRAY(arena, ap_outcome, measures->count + 1);
    ret->count = measures->count;
    for (size_t i = 0; i < measures->count; i++) {
        const ap_measure *measure = &measures->items[i];
        ret->items[i] = (ap_outcome){.measure = measure, .p10 = AP_UNKNOWN, .p50 = AP_UNKNOWN, .p90 = AP_UNKNOWN,
                                     .basis = -1, .ln_residual = AP_UNKNOWN};
        ret->items[i].reason = measure->skip ? measure->skip : "not among the rows of the fit";
        /* Without a measured value a row cannot be left out: it is simply predicted. */
        if (!measure->skip && !(measure->value > 0))
            predict_one(calibration, measure, arena, &ret->items[i]);
    }
    for (int e = 0; e < AP_ENGINE_COUNT; e++)
        if (engine < 0 || engine == e)
            hold_out_engine(calibration, measures, (ap_engine)e, mode, options, arena, ret);
}

/* -- figures --------------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q)
{
    if (!n)
        return AP_UNKNOWN;
    double at = q * (double)(n - 1);
    size_t low = (size_t)at;
    return low + 1 < n ? sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]) : sorted[n - 1];
}

ap_errors ap_accuracy_errors(const ap_outcomes *outcomes, ap_outcome_filter *select, const void *argument, ap_arena *scratch)
{
    ap_errors errors = {0};
    double *ape = AP_NEW_ARRAY(scratch, double, outcomes->count + 1);
    double *signed_error = AP_NEW_ARRAY(scratch, double, outcomes->count + 1);
    double sum = 0, covered = 0;
    for (size_t i = 0; i < outcomes->count; i++) {
        const ap_outcome *o = &outcomes->items[i];
        if (select && !select(o, argument))
            continue;
        if (o->reason || !(o->measure->value > 0)) {
            errors.skipped++;
            continue;
        }
        signed_error[errors.n] = o->p50 / o->measure->value - 1;
        ape[errors.n] = fabs(signed_error[errors.n]);
        sum += ape[errors.n];
        covered += o->measure->value >= o->p10 && o->measure->value <= o->p90;
        errors.n++;
    }
    qsort(ape, errors.n, sizeof *ape, by_number);
    qsort(signed_error, errors.n, sizeof *signed_error, by_number);
    double n = errors.n ? (double)errors.n : AP_UNKNOWN;
    errors.median_ape = quantile(ape, errors.n, 0.5);
    errors.p90_ape = quantile(ape, errors.n, 0.9);
    errors.bias = quantile(signed_error, errors.n, 0.5);
    errors.mean_ape = sum / n;
    errors.coverage_80 = covered / n;
    return errors;
}

static const char *scale_of(double chips)
{
    if (!(chips > 1))
        return "1";
    return chips <= 8 ? "2-8" : chips <= 64 ? "9-64" : chips <= 512 ? "65-512" : "over 512";
}

const char *ap_accuracy_group(const ap_outcome *outcome, const char *by)
{
    const ap_measure *m = outcome->measure;
    const char *key = NULL;
    if (ap_streq(by, "domain"))
        key = m->domain;
    else if (ap_streq(by, "metric"))
        key = m->metric >= 0 ? ap_metric_names[m->metric] : NULL;
    else if (ap_streq(by, "stack"))
        key = m->stack;
    else if (ap_streq(by, "chip"))
        key = m->chip;
    else if (ap_streq(by, "source"))
        key = m->family;
    else if (ap_streq(by, "model"))
        key = m->model;
    else if (ap_streq(by, "quality"))
        key = m->quality;
    else if (ap_streq(by, "basis"))
        key = outcome->basis >= 0 ? ap_basis_names[outcome->basis] : NULL;
    else if (ap_streq(by, "scale"))
        key = scale_of(m->job.chips);
    return key ? key : "unknown";
}

typedef struct group_filter {
    const char *by, *key;
} group_filter;

static bool in_group(const ap_outcome *outcome, const void *argument)
{
    const group_filter *filter = argument;
    return strcmp(ap_accuracy_group(outcome, filter->by), filter->key) == 0;
}

static int by_size(const void *a, const void *b)
{
    const ap_group *x = a, *y = b;
    if (x->errors.n != y->errors.n)
        return x->errors.n < y->errors.n ? 1 : -1;
    return strcmp(x->key, y->key);
}

void ap_accuracy_groups(const ap_outcomes *outcomes, const char *by, ap_arena *arena, ap_groups *ret)
{
    const char **names = AP_NEW_ARRAY(arena, const char *, outcomes->count + 1);
    for (size_t i = 0; i < outcomes->count; i++)
        names[i] = ap_accuracy_group(&outcomes->items[i], by);
    qsort(names, outcomes->count, sizeof *names, by_text);
    *ret = (ap_groups){AP_NEW_ARRAY(arena, ap_group, outcomes->count + 1), 0};
    for (size_t i = 0; i < outcomes->count; i++) {
        if (i && strcmp(names[i], names[i - 1]) == 0)
            continue;
        AP_SCOPED_ARENA *scratch = ap_arena_new();
        group_filter filter = {by, names[i]};
        ret->items[ret->count++] =
            (ap_group){by, names[i], ap_accuracy_errors(outcomes, in_group, &filter, scratch)};
    }
    qsort(ret->items, ret->count, sizeof *ret->items, by_size);
}

/* -- ranking --------------------------------------------------------------------------------------------------------- */

typedef struct ranked {
    const char *key;
    double measured, predicted;
} ranked;

static int by_ranked(const void *a, const void *b)
{
    return strcmp(((const ranked *)a)->key, ((const ranked *)b)->key);
}

ap_ranking ap_accuracy_ranking(const ap_outcomes *outcomes, bool chips, ap_arena *scratch)
{
    ranked *rows = AP_NEW_ARRAY(scratch, ranked, outcomes->count + 1);
    size_t count = 0;
    for (size_t i = 0; i < outcomes->count; i++) {
        const ap_outcome *o = &outcomes->items[i];
        const ap_measure *m = o->measure;
        if (o->reason || !(m->value > 0) || !ap_metric_is_rate(m->metric))
            continue;
        double per = m->job.chips > 0 ? m->job.chips : 1;
        rows[count++] = (ranked){
            ap_arena_printf(scratch, "%s|%s|%d|%d|%g|%s|%g|%g", m->model ? m->model : "", m->family, m->metric,
                            m->job.precision, m->job.seq_len, chips ? "" : m->chip, chips ? per : m->job.chips,
                            chips ? m->layout.micro_batch : m->job.global_batch),
            m->value, o->p50};
    }
    qsort(rows, count, sizeof *rows, by_ranked);
    ap_ranking ranking = {0, 0, 0};
    for (size_t i = 0; i < count;) {
        size_t end = i, best = i, chosen = i;
        for (; end < count && strcmp(rows[end].key, rows[i].key) == 0; end++) {
            best = rows[end].measured > rows[best].measured ? end : best;
            chosen = rows[end].predicted > rows[chosen].predicted ? end : chosen;
        }
        if (end - i >= 2) {
            double regret = rows[best].measured / rows[chosen].measured - 1;
            ranking.groups++;
            ranking.within_5 += regret <= 0.05;
            ranking.mean_regret += regret;
        }
        i = end;
    }
    double n = ranking.groups ? (double)ranking.groups : AP_UNKNOWN;
    ranking.within_5 /= n;
    ranking.mean_regret /= n;
    return ranking;
}
