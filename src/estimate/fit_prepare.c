/* Rows of a fit: their cases, layouts and targets, and which unknowns each of their constants is made of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/fit_internal.h"

#define DEFAULT_SIGMA 0.08

/* -- preparing ------------------------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect_keys(const ap_fit *fit, ap_fit_level *into)
{
    const char **all = AP_NEW_ARRAY(fit->arena, const char *, fit->row_count + 1);
    size_t count = 0;
    for (size_t r = 0; r < fit->row_count; r++) {
        const char *key = ap_calib_key(&fit->rows[r]->keys.keys, into->by->level);
        if (key)
            all[count++] = key;
    }
    if (count)
        qsort(all, count, sizeof *all, by_text);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || strcmp(all[kept - 1], all[i]) != 0)
            all[kept++] = all[i];
    into->keys = all;
    into->count = kept;
}

static double bound(int scale, double value, double fallback)
{
    if (!ap_known(value))
        return fallback;
    double linked = ap_scale_link(scale, value);
    return isfinite(linked) ? linked : fallback;
}

static unsigned add_unknown(ap_fit *fit, ap_fit_unknown u)
{
    fit->unknowns[fit->unknown_count] = u;
    return (unsigned)fit->unknown_count++;
}

static double known_deviation(const ap_calib_by *by, const char *key)
{
    for (size_t i = 0; i < by->values.count; i++)
        if (strcmp(by->values.items[i].key, key) == 0)
            return by->values.items[i].value;
    return 0;
}

double ap_fit_start_value(const ap_fit *fit, const ap_calib_const *from)
{
    return fit->refine ? from->value : from->prior;
}

static void lay_out_unknowns(ap_fit *fit)
{
    size_t capacity = 0;
    for (size_t c = 0; c < fit->constant_count; c++) {
        ap_fit_const *k = &fit->constants[c];
        k->from = ap_calib_const_of(fit->structure, fit->ops->ids[c]);
        k->level_count = k->from ? k->from->by.count : 0;
        k->levels = AP_NEW_ARRAY(fit->arena, ap_fit_level, k->level_count + 1);
        capacity++;
        for (size_t i = 0; i < k->level_count; i++) {
            k->levels[i].by = &k->from->by.items[i];
            collect_keys(fit, &k->levels[i]);
            capacity += k->levels[i].count;
        }
    }
    fit->unknowns = AP_NEW_ARRAY(fit->arena, ap_fit_unknown, capacity + 1);
    for (size_t c = 0; c < fit->constant_count; c++) {
        ap_fit_const *k = &fit->constants[c];
        k->global = -1;
        if (!k->from)
            continue;
        int scale = k->from->scale;
        if (k->from->sd > 0 && !fit->refine)
            k->global = (int)add_unknown(fit, (ap_fit_unknown){ap_scale_link(scale, k->from->prior), k->from->sd,
                                                        bound(scale, k->from->low, -HUGE_VAL),
                                                        bound(scale, k->from->high, HUGE_VAL), scale});
        for (size_t i = 0; i < k->level_count; i++) {
            k->levels[i].first = (unsigned)fit->unknown_count;
            ap_fit_level *l = &k->levels[i];
            for (size_t m = 0; l->by->sd > 0 && m < l->count; m++)
                add_unknown(fit, (ap_fit_unknown){fit->refine ? known_deviation(l->by, l->keys[m]) : 0,
                                           fit->refine ? l->by->sd / 2 : l->by->sd, -HUGE_VAL, HUGE_VAL, scale});
            if (!(l->by->sd > 0))
                l->count = 0;
        }
    }
}

static int key_unknown(const ap_fit_level *l, const char *key)
{
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = strcmp(l->keys[mid], key);
        if (order == 0)
            return (int)(l->first + mid);
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return -1;
}

/* Which unknowns each constant of each row is made of. */
static void index_rows(ap_fit *fit)
{
    size_t total = 0;
    for (size_t r = 0; r < fit->row_count; r++) {
        ap_fit_row *row = fit->rows[r];
        unsigned *starts = AP_NEW_ARRAY(fit->arena, unsigned, fit->constant_count + 1);
        unsigned list[AP_CALIB_MAX_CONSTS * (AP_CALIB_MAX_LEVELS + 1)];
        unsigned count = 0;
        for (size_t c = 0; c < fit->constant_count; c++) {
            const ap_fit_const *k = &fit->constants[c];
            starts[c] = count;
            if (k->global >= 0)
                list[count++] = (unsigned)k->global;
            for (size_t i = 0; i < k->level_count; i++) {
                const char *key = ap_calib_key(&row->keys.keys, k->levels[i].by->level);
                int at = key ? key_unknown(&k->levels[i], key) : -1;
                if (at >= 0)
                    list[count++] = (unsigned)at;
            }
        }
        starts[fit->constant_count] = count;
        unsigned *unknowns = AP_NEW_ARRAY(fit->arena, unsigned, count + 1);
        if (count > 0)
            memcpy(unknowns, list, count * sizeof *list);
        row->unknowns = unknowns;
        row->starts = starts;
        total += count;
    }
    size_t *starts = AP_NEW_ARRAY(fit->arena, size_t, fit->row_count + 1);
    unsigned *columns = AP_NEW_ARRAY(fit->arena, unsigned, total + 1);
    size_t at = 0;
    for (size_t r = 0; r < fit->row_count; r++) {
        starts[r] = at;
        unsigned count = fit->rows[r]->starts[fit->constant_count];
        memcpy(columns + at, fit->rows[r]->unknowns, count * sizeof *columns);
        at += count;
    }
    starts[fit->row_count] = at;
    fit->pattern = (ap_sparse_rows){fit->row_count, fit->unknown_count, starts, columns, NULL};
}

static double quality_weight(const char *quality)
{
    return ap_streq(quality, "C") ? 0.25 : ap_streq(quality, "B") ? 0.7 : 1;
}

static int by_family(const void *a, const void *b)
{
    return strcmp((*(ap_fit_row *const *)a)->measure->family, (*(ap_fit_row *const *)b)->measure->family);
}

/* A source with a thousand rows is not a thousand independent voices. */
static void weigh_rows(ap_fit *fit)
{
    double power = ap_or(fit->structure->source_power, 0.5), sum = 0;
    ap_fit_row **sorted = AP_NEW_ARRAY(fit->arena, ap_fit_row *, fit->row_count + 1);
    for (size_t r = 0; r < fit->row_count; r++)
        sorted[r] = fit->rows[r];
    if (fit->row_count)
        qsort(sorted, fit->row_count, sizeof *sorted, by_family);
    for (size_t r = 0; r < fit->row_count;) {
        size_t end = r;
        while (end < fit->row_count && by_family(&sorted[end], &sorted[r]) == 0)
            end++;
        for (size_t k = r; k < end; k++) {
            sorted[k]->weight = pow((double)(end - r), -power) * quality_weight(sorted[k]->measure->quality);
            sum += sorted[k]->weight;
        }
        r = end;
    }
    double mean = fit->refine ? 1 : ap_or(fit->structure->row_weight, 0.25);
    for (size_t r = 0; r < fit->row_count; r++)
        fit->rows[r]->weight *= mean * (double)fit->row_count / sum;
}

static double row_sigma(const ap_calib_engine *structure, int metric)
{
    double step = ap_or(structure->sigma, DEFAULT_SIGMA);
    switch (ap_metric_quantity(metric)) {
    case AP_Q_MEMORY:
        return ap_or(structure->sigma_memory, 2 * step);
    case AP_Q_RUN:
        return ap_or(structure->sigma_run, 2 * step);
    default:
        return step;
    }
}

double ap_fit_predict_ln(const ap_fit *fit, ap_fit_row *row, const ap_layout *layout, ap_estimate *estimate)
{
    fit->ops->prepare(&row->context);
    ap_est_run(&row->context, layout, estimate);
    const char *reason;
    double value = log(ap_predict_metric(&row->context, estimate, row->measure, &reason));
    return ap_metric_is_rate(row->measure->metric) ? -value : value;
}

/* Deviations that a rule states (levels of sd 0): they hold whatever the rows say. */
static double rule_deviation(const ap_fit_row *row, const ap_calib_const *from)
{
    double sum = 0;
    for (size_t i = 0; i < from->by.count; i++) {
        const char *key = from->by.items[i].sd > 0 ? NULL : ap_calib_key(&row->keys.keys, from->by.items[i].level);
        if (key)
            sum += known_deviation(&from->by.items[i], key);
    }
    return sum;
}

static ap_fit_row *prepare_row(const ap_fit *fit, ap_engine engine, const ap_measure *measure)
{
    if (measure->skip || !(measure->value > 0) || ap_est_engine(&measure->job) != engine)
        return NULL;
    ap_fit_row *row = AP_NEW(fit->arena, ap_fit_row);
    row->measure = measure;
    ap_est_begin(&row->context, fit->calibration, &measure->job, &row->keys);
    row->target = ap_metric_is_rate(measure->metric) ? -log(measure->value) : log(measure->value);
    row->sigma = row_sigma(fit->structure, measure->metric);
    /* The layout is completed at the priors and then stays: only deviations by rule count here. */
    double *fixed = AP_NEW_ARRAY(fit->arena, double, fit->constant_count + 1);
    row->fixed = fixed;
    for (size_t c = 0; c < fit->constant_count; c++) {
        const ap_calib_const *from = ap_calib_const_of(fit->structure, fit->ops->ids[c]);
        fixed[c] = from ? rule_deviation(row, from) : 0;
        row->context.consts[c] =
            from ? ap_scale_inverse(from->scale, ap_scale_link(from->scale, from->prior) + fixed[c]) : AP_UNKNOWN;
    }
    if (fit->refine)
        ap_calib_resolve(fit->structure, fit->ops->ids, &row->keys.keys, row->context.consts);
    ap_est_finish(&row->context, &row->keys);
    row->context.seen = ~0ull; /* a row of the fit is among the fitted ones, whatever the calibration at hand knew */
    ap_estimate estimate;
    row->layout = measure->layout;
    double value = ap_fit_predict_ln(fit, row, &measure->layout, &estimate);
    if (!fit->ops->free_layout)
        row->layout = estimate.layout;
    return isfinite(value) ? row : NULL;
}

ap_fit *ap_fit_new(const ap_calibration *calibration, ap_engine engine, ap_fit_start start, const ap_measures *measures,
                   ap_arena *arena)
{
    ap_fit *fit = AP_NEW(arena, ap_fit);
    fit->calibration = calibration;
    fit->ops = ap_engine_ops_of(engine);
    fit->structure = ap_calibration_engine(calibration, fit->ops->name);
    fit->arena = arena;
    fit->refine = start == AP_FIT_REFINE;
    if (!fit->structure)
        return fit;
    while (fit->ops->ids[fit->constant_count])
        fit->constant_count++;
    fit->constants = AP_NEW_ARRAY(arena, ap_fit_const, fit->constant_count + 1);
    fit->rows = AP_NEW_ARRAY(arena, ap_fit_row *, measures->count + 1);
    for (size_t i = 0; i < measures->count; i++) {
        ap_fit_row *row = prepare_row(fit, engine, &measures->items[i]);
        if (row)
            fit->rows[fit->row_count++] = row;
    }
    lay_out_unknowns(fit);
    index_rows(fit);
    weigh_rows(fit);
    return fit;
}

size_t ap_fit_row_count(const ap_fit *fit)
{
    return fit->row_count;
}

const ap_measure *ap_fit_row_measure(const ap_fit *fit, size_t row)
{
    return fit->rows[row]->measure;
}

size_t ap_fit_param_count(const ap_fit *fit)
{
    return fit->unknown_count;
}
