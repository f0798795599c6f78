#include "estimate/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

#define NU         3.0  /* degrees of freedom of the Student-t likelihood: tails that forgive a wrong row */
#define STEP       1e-3 /* of the numeric derivative, on the constant's scale */
#define LOST       3.0  /* ln residual of a row whose prediction is not finite */
#define FIXED_SIGMA 0.08
#define PINNED     1e15

typedef struct unknown { /* one free number */
    double mean, sd, low, high; /* prior and bounds on the link scale */
    int scale;
} unknown;

typedef struct level { /* one level of one constant */
    const ap_calib_by *by;
    const char **keys; /* sorted */
    size_t count;
    unsigned first; /* unknown of keys[0] */
} level;

typedef struct constant {
    const ap_calib_const *from; /* NULL: not in the data, stays NaN */
    int global;                 /* unknown, -1 when fixed */
    level *levels;
    size_t level_count;
} constant;

typedef struct fit_row {
    const ap_measure *measure;
    ap_est_context context;
    ap_engine_keys keys;
    ap_layout layout;
    double target; /* ln of the measured time or bytes */
    double weight, sigma;
    const unsigned *unknowns; /* of all constants, one after the other */
    const unsigned *starts;   /* per constant, count + 1 */
    unsigned char *active;    /* per constant: does it act on this row? */
} fit_row;

struct ap_fit {
    const ap_calibration *calibration;
    const ap_calib_engine *structure;
    const ap_engine_ops *ops;
    ap_arena *arena;
    bool refine;
    constant *constants;
    size_t constant_count;
    unknown *unknowns;
    size_t unknown_count;
    fit_row **rows;
    size_t row_count;
    ap_sparse_rows pattern;
};

typedef struct fit_state {
    const ap_fit *fit;
    const unsigned char *use;
    double *theta;
    double *predicted, *residual; /* per row, in sigmas */
    double *values;               /* of the Jacobian, pattern of fit->pattern */
    double *weights;
    unsigned char *active; /* row x constant */
    ap_arena *scratch;
} fit_state;

double ap_fit_residual(const ap_measure *measure, double predicted)
{
    double residual = log(measure->value / predicted);
    return ap_metric_is_rate(measure->metric) ? -residual : residual;
}

/* -- preparing ------------------------------------------------------------------------------------------------------- */

static const char *row_key(const fit_row *row, const char *name)
{
    const ap_calib_keys *keys = &row->keys.keys;
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->levels[i], name) == 0)
            return keys->keys[i] && *keys->keys[i] ? keys->keys[i] : NULL;
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect_keys(const ap_fit *fit, level *into)
{
    const char **all = AP_NEW_ARRAY(fit->arena, const char *, fit->row_count + 1);
    size_t count = 0;
    for (size_t r = 0; r < fit->row_count; r++) {
        const char *key = row_key(fit->rows[r], into->by->level);
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

static const ap_calib_const *structure_const(const ap_calib_engine *engine, const char *id)
{
    for (size_t i = 0; i < engine->constants.count; i++)
        if (strcmp(engine->constants.items[i].id, id) == 0)
            return &engine->constants.items[i];
    return NULL;
}

static double bound(int scale, double value, double fallback)
{
    if (!ap_known(value))
        return fallback;
    double linked = ap_scale_link(scale, value);
    return isfinite(linked) ? linked : fallback;
}

static unsigned add_unknown(ap_fit *fit, unknown u)
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

static double start_value(const ap_fit *fit, const ap_calib_const *from)
{
    return fit->refine ? from->value : from->prior;
}

static void lay_out_unknowns(ap_fit *fit)
{
    size_t capacity = 0;
    for (size_t c = 0; c < fit->constant_count; c++) {
        constant *k = &fit->constants[c];
        k->from = structure_const(fit->structure, fit->ops->ids[c]);
        k->level_count = k->from ? k->from->by.count : 0;
        k->levels = AP_NEW_ARRAY(fit->arena, level, k->level_count + 1);
        capacity++;
        for (size_t i = 0; i < k->level_count; i++) {
            k->levels[i].by = &k->from->by.items[i];
            collect_keys(fit, &k->levels[i]);
            capacity += k->levels[i].count;
        }
    }
    fit->unknowns = AP_NEW_ARRAY(fit->arena, unknown, capacity + 1);
    for (size_t c = 0; c < fit->constant_count; c++) {
        constant *k = &fit->constants[c];
        k->global = -1;
        if (!k->from)
            continue;
        int scale = k->from->scale;
        if (k->from->sd > 0 && !fit->refine)
            k->global = (int)add_unknown(fit, (unknown){ap_scale_link(scale, k->from->prior), k->from->sd,
                                                        bound(scale, k->from->low, -INFINITY),
                                                        bound(scale, k->from->high, INFINITY), scale});
        for (size_t i = 0; i < k->level_count; i++) {
            k->levels[i].first = (unsigned)fit->unknown_count;
            level *l = &k->levels[i];
            for (size_t m = 0; l->by->sd > 0 && m < l->count; m++)
                add_unknown(fit, (unknown){fit->refine ? known_deviation(l->by, l->keys[m]) : 0,
                                           fit->refine ? l->by->sd / 2 : l->by->sd, -INFINITY, INFINITY, scale});
            if (!(l->by->sd > 0))
                l->count = 0;
        }
    }
}

static int key_unknown(const level *l, const char *key)
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
        fit_row *row = fit->rows[r];
        unsigned *starts = AP_NEW_ARRAY(fit->arena, unsigned, fit->constant_count + 1);
        unsigned list[AP_CALIB_MAX_CONSTS * (AP_CALIB_MAX_LEVELS + 1)];
        unsigned count = 0;
        for (size_t c = 0; c < fit->constant_count; c++) {
            const constant *k = &fit->constants[c];
            starts[c] = count;
            if (k->global >= 0)
                list[count++] = (unsigned)k->global;
            for (size_t i = 0; i < k->level_count; i++) {
                const char *key = row_key(row, k->levels[i].by->level);
                int at = key ? key_unknown(&k->levels[i], key) : -1;
                if (at >= 0)
                    list[count++] = (unsigned)at;
            }
        }
        starts[fit->constant_count] = count;
        unsigned *unknowns = AP_NEW_ARRAY(fit->arena, unsigned, count + 1);
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

/* A source with a thousand rows is not a thousand independent voices. */
static void weigh_rows(ap_fit *fit)
{
    double power = ap_or(fit->structure->source_power, 0.5), sum = 0;
    for (size_t r = 0; r < fit->row_count; r++) {
        size_t same = 0;
        for (size_t k = 0; k < fit->row_count; k++)
            same += strcmp(fit->rows[k]->measure->family, fit->rows[r]->measure->family) == 0;
        fit->rows[r]->weight = pow((double)same, -power) * quality_weight(fit->rows[r]->measure->quality);
        sum += fit->rows[r]->weight;
    }
    double mean = fit->refine ? 1 : ap_or(fit->structure->row_weight, 0.25);
    for (size_t r = 0; r < fit->row_count; r++)
        fit->rows[r]->weight *= mean * (double)fit->row_count / sum;
}

static double row_sigma(const ap_calib_engine *structure, int metric)
{
    double step = ap_or(structure->sigma, FIXED_SIGMA);
    switch (ap_metric_quantity(metric)) {
    case AP_Q_MEMORY:
        return ap_or(structure->sigma_memory, 2 * step);
    case AP_Q_RUN:
        return ap_or(structure->sigma_run, 2 * step);
    default:
        return step;
    }
}

static double predict_ln(const ap_fit *fit, fit_row *row, const ap_layout *layout, ap_estimate *estimate)
{
    fit->ops->prepare(&row->context);
    ap_est_run(&row->context, layout, estimate);
    const char *reason;
    double value = log(ap_predict_metric(&row->context, estimate, row->measure, &reason));
    return ap_metric_is_rate(row->measure->metric) ? -value : value;
}

static fit_row *prepare_row(const ap_fit *fit, ap_engine engine, const ap_measure *measure)
{
    if (measure->skip || !(measure->value > 0) || ap_est_engine(&measure->job) != engine)
        return NULL;
    fit_row *row = AP_NEW(fit->arena, fit_row);
    row->measure = measure;
    ap_est_begin(&row->context, fit->calibration, &measure->job, &row->keys);
    row->target = ap_metric_is_rate(measure->metric) ? -log(measure->value) : log(measure->value);
    row->sigma = row_sigma(fit->structure, measure->metric);
    /* The layout is completed at the priors and then stays: deviations are empty here. */
    for (size_t c = 0; c < fit->constant_count; c++) {
        const ap_calib_const *from = structure_const(fit->structure, fit->ops->ids[c]);
        row->context.consts[c] = from ? from->prior : AP_UNKNOWN;
    }
    if (fit->refine)
        ap_calib_resolve(fit->structure, fit->ops->ids, &row->keys.keys, row->context.consts);
    ap_est_finish(&row->context, &row->keys);
    ap_estimate estimate;
    row->layout = measure->layout;
    double value = predict_ln(fit, row, &measure->layout, &estimate);
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
    fit->constants = AP_NEW_ARRAY(arena, constant, fit->constant_count + 1);
    fit->rows = AP_NEW_ARRAY(arena, fit_row *, measures->count + 1);
    for (size_t i = 0; i < measures->count; i++) {
        fit_row *row = prepare_row(fit, engine, &measures->items[i]);
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

/* -- evaluating ------------------------------------------------------------------------------------------------------ */

static double linked(const fit_state *s, const fit_row *row, size_t c)
{
    const constant *k = &s->fit->constants[c];
    double sum = k->global < 0 ? ap_scale_link(k->from->scale, start_value(s->fit, k->from)) : 0;
    for (unsigned i = row->starts[c]; i < row->starts[c + 1]; i++)
        sum += s->theta[row->unknowns[i]];
    return sum;
}

static void set_consts(const fit_state *s, fit_row *row)
{
    for (size_t c = 0; c < s->fit->constant_count; c++)
        row->context.consts[c] = s->fit->constants[c].from
                                     ? ap_scale_inverse(s->fit->constants[c].from->scale, linked(s, row, c))
                                     : AP_UNKNOWN;
}

/* Objective at theta; fills predicted and residual. */
static double objective(fit_state *s)
{
    double sum = 0;
    ap_estimate estimate;
    for (size_t r = 0; r < s->fit->row_count; r++) {
        fit_row *row = s->fit->rows[r];
        if (s->use && !s->use[r])
            continue;
        set_consts(s, row);
        s->predicted[r] = predict_ln(s->fit, row, &row->layout, &estimate);
        double ln = s->predicted[r] - row->target;
        s->residual[r] = (isfinite(ln) ? ln : LOST) / row->sigma;
        sum += row->weight * (NU + 1) / 2 * log1p(s->residual[r] * s->residual[r] / NU);
    }
    for (size_t i = 0; i < s->fit->unknown_count; i++) {
        double z = (s->theta[i] - s->fit->unknowns[i].mean) / s->fit->unknowns[i].sd;
        sum += 0.5 * z * z;
    }
    return sum;
}

/* Derivative of one row; constants that did nothing when last looked at are skipped unless `all`. */
static void differentiate(fit_state *s, size_t r, bool all)
{
    fit_row *row = s->fit->rows[r];
    ap_estimate estimate;
    size_t count = s->fit->constant_count;
    unsigned char *active = s->active + r * count;
    double *values = s->values + s->fit->pattern.starts[r];
    set_consts(s, row);
    for (size_t c = 0; c < count; c++) {
        unsigned from = row->starts[c], to = row->starts[c + 1];
        double slope = 0;
        if (from != to && (all || active[c])) {
            double keep = row->context.consts[c];
            row->context.consts[c] = ap_scale_inverse(s->fit->constants[c].from->scale, linked(s, row, c) + STEP);
            double moved = predict_ln(s->fit, row, &row->layout, &estimate);
            row->context.consts[c] = keep;
            slope = isfinite(moved) ? (moved - s->predicted[r]) / STEP : 0;
            active[c] = slope != 0;
        }
        for (unsigned i = from; i < to; i++)
            values[i] = slope / row->sigma;
    }
}

static void gradient_of(const fit_state *s, double *ret)
{
    for (size_t i = 0; i < s->fit->unknown_count; i++) {
        const unknown *u = &s->fit->unknowns[i];
        ret[i] = -(s->theta[i] - u->mean) / (u->sd * u->sd);
    }
    const ap_sparse_rows *p = &s->fit->pattern;
    for (size_t r = 0; r < s->fit->row_count; r++)
        for (size_t i = p->starts[r]; s->weights[r] != 0 && i < p->starts[r + 1]; i++)
            ret[p->columns[i]] -= s->weights[r] * s->residual[r] * s->values[i];
}

static void curvature_of(const fit_state *s, double *ret)
{
    for (size_t i = 0; i < s->fit->unknown_count; i++)
        ret[i] = 1 / (s->fit->unknowns[i].sd * s->fit->unknowns[i].sd);
    const ap_sparse_rows *p = &s->fit->pattern;
    for (size_t r = 0; r < s->fit->row_count; r++)
        for (size_t i = p->starts[r]; s->weights[r] != 0 && i < p->starts[r + 1]; i++)
            ret[p->columns[i]] += s->weights[r] * s->values[i] * s->values[i];
}

static void move(const fit_state *s, const double *from, const double *step)
{
    for (size_t i = 0; i < s->fit->unknown_count; i++) {
        const unknown *u = &s->fit->unknowns[i];
        double limit = u->scale == AP_SCALE_LINEAR ? 3 * u->sd : 1;
        double next = from[i] + fmin(fmax(step[i], -limit), limit);
        s->theta[i] = fmin(fmax(next, u->low), u->high);
    }
}

/* An unknown at its bound that is pushed outwards stays there; left in, it would bend the step of all the others. */
static bool pinned(const unknown *u, double theta, double gradient)
{
    return (theta <= u->low && gradient < 0) || (theta >= u->high && gradient > 0);
}

/* One damped step, shortened when it overshoots; true when the objective fell. */
static bool improve(fit_state *s, double *objective_value, double *damping)
{
    size_t n = s->fit->unknown_count;
    AP_SCOPED_ARENA *scratch = ap_arena_new();
    double *gradient = AP_NEW_ARRAY(scratch, double, n + 1), *curvature = AP_NEW_ARRAY(scratch, double, n + 1);
    double *diagonal = AP_NEW_ARRAY(scratch, double, n + 1), *step = AP_NEW_ARRAY(scratch, double, n + 1);
    double *from = AP_NEW_ARRAY(scratch, double, n + 1);
    memcpy(from, s->theta, n * sizeof *from);
    gradient_of(s, gradient);
    curvature_of(s, curvature);
    ap_sparse_rows jacobian = s->fit->pattern;
    jacobian.values = s->values;
    for (int attempt = 0; attempt < 5; attempt++) {
        for (size_t i = 0; i < n; i++) {
            const unknown *u = &s->fit->unknowns[i];
            diagonal[i] = pinned(u, from[i], gradient[i]) ? PINNED : 1 / (u->sd * u->sd) + *damping * curvature[i];
        }
        AP_SCOPED_ARENA *inner = ap_arena_new();
        ap_fit_solve(&jacobian, s->weights, diagonal, gradient, step, inner);
        for (int half = 0; half < 3; half++) {
            move(s, from, step);
            double value = objective(s);
            if (value < *objective_value) {
                *objective_value = value;
                *damping = half ? *damping * 2 : fmax(*damping / 5, 1e-6);
                return true;
            }
            for (size_t i = 0; i < n; i++)
                step[i] /= 3;
        }
        *damping = fmax(*damping * 10, 1e-3);
    }
    memcpy(s->theta, from, n * sizeof *from);
    return false;
}

/* -- result ---------------------------------------------------------------------------------------------------------- */

static void count_rows(const fit_state *s, double *ret)
{
    for (size_t r = 0; r < s->fit->row_count; r++) {
        const fit_row *row = s->fit->rows[r];
        if (s->use && !s->use[r])
            continue;
        unsigned total = row->starts[s->fit->constant_count];
        for (unsigned i = 0; i < total; i++)
            ret[row->unknowns[i]]++;
    }
}

static void write_const(const fit_state *s, size_t c, const double *rows, ap_calib_const *into, ap_arena *arena)
{
    const constant *k = &s->fit->constants[c];
    *into = *k->from;
    into->value = k->global < 0 ? start_value(s->fit, k->from) : ap_scale_inverse(k->from->scale, s->theta[k->global]);
    into->by.items = AP_NEW_ARRAY(arena, ap_calib_by, k->level_count + 1);
    for (size_t i = 0; i < k->level_count; i++) {
        const level *l = &k->levels[i];
        ap_calib_by *by = &into->by.items[i];
        *by = *l->by;
        by->values.items = AP_NEW_ARRAY(arena, ap_deviation, l->count + 1);
        by->values.count = 0;
        for (size_t m = 0; m < l->count; m++)
            if (rows[l->first + m] > 0)
                by->values.items[by->values.count++] =
                    (ap_deviation){l->keys[m], s->theta[l->first + m], rows[l->first + m]};
    }
}

static const ap_calib_engine *result_of(const fit_state *s, ap_arena *arena)
{
    ap_calib_engine *engine = AP_NEW(arena, ap_calib_engine);
    *engine = *s->fit->structure;
    engine->constants.items = AP_NEW_ARRAY(arena, ap_calib_const, s->fit->constant_count + 1);
    engine->constants.count = 0;
    double *rows = AP_NEW_ARRAY(arena, double, s->fit->unknown_count + 1);
    count_rows(s, rows);
    for (size_t c = 0; c < s->fit->constant_count; c++)
        if (s->fit->constants[c].from)
            write_const(s, c, rows, &engine->constants.items[engine->constants.count++], arena);
    engine->fitted_on.rows = 0;
    for (size_t r = 0; r < s->fit->row_count; r++)
        engine->fitted_on.rows += !s->use || s->use[r];
    return engine;
}

const ap_calib_engine *ap_fit_run(const ap_fit *fit, const unsigned char *use, const ap_fit_options *options,
                                  ap_arena *arena)
{
    AP_SCOPED_ARENA *scratch = ap_arena_new();
    size_t rows = fit->row_count;
    fit_state s = {.fit = fit, .use = use, .scratch = scratch};
    s.theta = AP_NEW_ARRAY(scratch, double, fit->unknown_count + 1);
    s.predicted = AP_NEW_ARRAY(scratch, double, rows + 1);
    s.residual = AP_NEW_ARRAY(scratch, double, rows + 1);
    s.weights = AP_NEW_ARRAY(scratch, double, rows + 1);
    s.values = AP_NEW_ARRAY(scratch, double, fit->pattern.starts ? fit->pattern.starts[rows] + 1 : 1);
    s.active = AP_NEW_ARRAY(scratch, unsigned char, rows *fit->constant_count + 1);
    for (size_t i = 0; i < fit->unknown_count; i++)
        s.theta[i] = fmin(fmax(fit->unknowns[i].mean, fit->unknowns[i].low), fit->unknowns[i].high);
    double value = objective(&s), damping = 1e-2;
    int limit = options->max_iterations ? options->max_iterations : 30, slow = 0;
    double tolerance = options->tolerance > 0 ? options->tolerance : 1e-4;
    for (int it = 0; it < limit; it++) {
        for (size_t r = 0; r < rows; r++) {
            s.weights[r] = 0;
            if (use && !use[r])
                continue;
            differentiate(&s, r, it % 3 == 0);
            s.weights[r] = fit->rows[r]->weight * (NU + 1) / (NU + s.residual[r] * s.residual[r]);
        }
        double before = value;
        bool fell = improve(&s, &value, &damping);
        if (options->trace)
            fprintf(stderr, "  iteration %d: objective %.2f, damping %.1e\n", it, value, damping);
        /* One short step may only mean a kink; two in a row mean the end. */
        slow = before - value < tolerance * fmax(1, fabs(before)) ? slow + 1 : 0;
        if (!fell || slow == 2)
            break;
    }
    return result_of(&s, arena);
}
