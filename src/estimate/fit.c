#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "estimate/fit_internal.h"

#define NU     3.0  /* degrees of freedom of the Student-t likelihood: tails that forgive a wrong row */
#define STEP   1e-3 /* of the numeric derivative, on the constant's scale */
#define LOST   3.0  /* ln residual of a row whose prediction is not finite */
#define PINNED 1e15

typedef struct fit_state {
    const ap_fit *fit;
    const unsigned char *use;
    double *theta;
    double *predicted, *residual; /* per row, in sigmas */
    double *values;               /* of the Jacobian, pattern of fit->pattern */
    double *weights;
    unsigned char *active; /* row x constant */
    double tail; /* where the likelihood's tails begin, in sigmas squared */
    ap_arena *scratch;
} fit_state;

double ap_fit_residual(const ap_measure *measure, double predicted)
{
    double residual = log(measure->value / predicted);
    return ap_metric_is_rate(measure->metric) ? -residual : residual;
}

/* -- evaluating ------------------------------------------------------------------------------------------------------ */

static double linked(const fit_state *s, const ap_fit_row *row, size_t c)
{
    const ap_fit_const *k = &s->fit->constants[c];
    double sum = row->fixed[c] + (k->global < 0 ? ap_scale_link(k->from->scale, ap_fit_start_value(s->fit, k->from)) : 0);
    for (unsigned i = row->starts[c]; i < row->starts[c + 1]; i++)
        sum += s->theta[row->unknowns[i]];
    return sum;
}

static void set_consts(const fit_state *s, ap_fit_row *row)
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
        ap_fit_row *row = s->fit->rows[r];
        if (s->use && !s->use[r])
            continue;
        set_consts(s, row);
        s->predicted[r] = ap_fit_predict_ln(s->fit, row, &row->layout, &estimate);
        double ln = s->predicted[r] - row->target;
        s->residual[r] = (isfinite(ln) ? ln : LOST) / row->sigma;
        sum += row->weight * (NU + 1) / NU * s->tail / 2 * log1p(s->residual[r] * s->residual[r] / s->tail);
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
    ap_fit_row *row = s->fit->rows[r];
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
            double moved = ap_fit_predict_ln(s->fit, row, &row->layout, &estimate);
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
        const ap_fit_unknown *u = &s->fit->unknowns[i];
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
        const ap_fit_unknown *u = &s->fit->unknowns[i];
        double limit = u->scale == AP_SCALE_LINEAR ? 3 * u->sd : 1;
        double next = from[i] + fmin(fmax(step[i], -limit), limit);
        s->theta[i] = fmin(fmax(next, u->low), u->high);
    }
}

/* An unknown at its bound that is pushed outwards stays there; left in, it would bend the step of all the others. */
static bool pinned(const ap_fit_unknown *u, double theta, double gradient)
{
    return (theta <= u->low && gradient < 0) || (theta >= u->high && gradient > 0);
}

/* The Jacobian without its zeros and without rows left out: most constants do not act on most rows. */
static ap_sparse_rows compact(const fit_state *s, ap_arena *scratch)
{
    const ap_sparse_rows *p = &s->fit->pattern;
    size_t rows = p->row_count, at = 0;
    assert(p->starts);
    size_t *starts = AP_NEW_ARRAY(scratch, size_t, rows + 1);
    unsigned *columns = AP_NEW_ARRAY(scratch, unsigned, p->starts[rows] + 1);
    double *values = AP_NEW_ARRAY(scratch, double, p->starts[rows] + 1);
    for (size_t r = 0; r < rows; r++) {
        starts[r] = at;
        for (size_t i = p->starts[r]; s->weights[r] != 0 && i < p->starts[r + 1]; i++)
            if (s->values[i] != 0) {
                columns[at] = p->columns[i];
                values[at++] = s->values[i];
            }
    }
    starts[rows] = at;
    return (ap_sparse_rows){rows, p->column_count, starts, columns, values};
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
    ap_sparse_rows jacobian = compact(s, scratch);
    for (int attempt = 0; attempt < 5; attempt++) {
        for (size_t i = 0; i < n; i++) {
            const ap_fit_unknown *u = &s->fit->unknowns[i];
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

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Rows that an unknown acts on. A key of a row that the constant does nothing for, such as the recipe of a run for a row of
 * throughput, was not measured. */
static void count_rows(const fit_state *s, double *ret)
{
    const ap_sparse_rows *p = &s->fit->pattern;
    for (size_t r = 0; r < s->fit->row_count; r++)
        for (size_t i = p->starts[r]; (!s->use || s->use[r]) && i < p->starts[r + 1]; i++)
            ret[p->columns[i]] += s->values[i] != 0;
}

static void write_const(const fit_state *s, size_t c, const double *rows, ap_calib_const *into, ap_arena *arena)
{
    const ap_fit_const *k = &s->fit->constants[c];
    *into = *k->from;
    into->value = k->global < 0 ? ap_fit_start_value(s->fit, k->from) : ap_scale_inverse(k->from->scale, s->theta[k->global]);
    into->by.items = AP_NEW_ARRAY(arena, ap_calib_by, k->level_count + 1);
    for (size_t i = 0; i < k->level_count; i++) {
        const ap_fit_level *l = &k->levels[i];
        ap_calib_by *by = &into->by.items[i];
        *by = *l->by;
        if (!(l->by->sd > 0)) /* a rule, not a finding */
            continue;
        by->values.items = AP_NEW_ARRAY(arena, ap_deviation, l->count + 1);
        by->values.count = 0;
        for (size_t m = 0; m < l->count; m++)
            if (rows[l->first + m] > 0)
                by->values.items[by->values.count++] =
                    (ap_deviation){l->keys[m], s->theta[l->first + m], rows[l->first + m]};
    }
}

/* What occurred together among the rows used. */
static void collect_known(const fit_state *s, ap_calib_engine *engine, ap_arena *arena)
{
    size_t rows = s->fit->row_count, count = 0;
    const char **known = AP_NEW_ARRAY(arena, const char *, rows * AP_NOVELTY_KEYS + 1);
    for (size_t r = 0; r < rows; r++) {
        const ap_fit_row *row = s->fit->rows[r];
        char keys[AP_NOVELTY_KEYS][AP_NOVELTY_BYTES];
        if (s->use && !s->use[r])
            continue;
        ap_est_novelty_keys(&row->context.job, ap_metric_quantity(row->measure->metric), keys);
        for (int k = 0; k < AP_NOVELTY_KEYS; k++)
            known[count++] = ap_arena_strdup(arena, keys[k]);
    }
    if (count)
        qsort(known, count, sizeof *known, by_text);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || strcmp(known[kept - 1], known[i]) != 0)
            known[kept++] = known[i];
    engine->known.items = known;
    engine->known.count = kept;
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
    collect_known(s, engine, arena);
    engine->fitted_on.rows = 0;
    for (size_t r = 0; r < s->fit->row_count; r++)
        engine->fitted_on.rows += !s->use || s->use[r];
    return engine;
}

/* A row far off at the priors must not count as hopeless before anything was fitted: the tails start wide and close in. */
static double tail_of(int iteration)
{
    static const double widths[] = {400, 400, 400, 100, 100, 25, 25, 6, 6};
    size_t count = sizeof widths / sizeof *widths;
    return NU * ((size_t)iteration < count ? widths[iteration] : 1);
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
    s.tail = tail_of(0);
    double value = objective(&s), damping = 1e-2;
    int limit = options->max_iterations ? options->max_iterations : 45, slow = 0;
    double tolerance = options->tolerance > 0 ? options->tolerance : 1e-4;
    for (int it = 0; it < limit; it++) {
        if (tail_of(it) < s.tail) {
            s.tail = tail_of(it);
            value = objective(&s);
            slow = 0;
        }
        for (size_t r = 0; r < rows; r++) {
            s.weights[r] = 0;
            if (use && !use[r])
                continue;
            differentiate(&s, r, it % 3 == 0);
            s.weights[r] = fit->rows[r]->weight * (NU + 1) / NU / (1 + s.residual[r] * s.residual[r] / s.tail);
        }
        double before = value;
        bool fell = improve(&s, &value, &damping);
        if (options->trace)
            fprintf(stderr, "  iteration %d: objective %.2f, damping %.1e\n", it, value, damping);
        /* One short step may only mean a kink; two in a row mean the end. */
        slow = before - value < tolerance * fmax(1, fabs(before)) ? slow + 1 : 0;
        if ((!fell || slow == 2) && s.tail <= NU)
            break;
    }
    return result_of(&s, arena);
}
