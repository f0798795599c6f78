#include "estimate/trace.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

const char *const ap_trace_part_names[] = {"work", "time", "memory", "run", NULL};

#define NUDGE     0.01 /* how far a constant is moved to see what it moves */
#define NO_EFFECT 2e-4 /* relative to the nudge: rounding */

/* -- for engines ------------------------------------------------------------------------------------------------------
 */

void ap_trace_line_add(ap_est_trace *trace, const ap_trace_line *line, const char *format, ...)
{
    va_list args;
    ap_sbuf text;
    ap_sbuf_init(&text, trace->arena);
    va_start(args, format);
    ap_sbuf_vprintf(&text, format, args);
    va_end(args);
    ap_trace_line *made = AP_PUSH(trace->arena, trace->lines.items, trace->lines.count, trace->lines.capacity);
    *made = *line;
    made->part = trace->part;
    made->text = text.text;
}

void ap_trace_product_add(ap_est_trace *trace, ap_trace_product product)
{
    if (!(product.count > 0) || !(product.m > 0) || !(product.n > 0) || !(product.k > 0))
        return;
    product.flop = 2 * product.m * product.n * product.k * product.count;
    *AP_PUSH(trace->arena, trace->products.items, trace->products.count, trace->products.capacity) = product;
}

size_t ap_trace_const_add(ap_est_trace *trace, const char *engine, const ap_calib_const *from,
                          const ap_calib_keys *keys, double value)
{
    ap_trace_const *made = AP_PUSH(trace->arena, trace->consts.items, trace->consts.count, trace->consts.capacity);
    *made = (ap_trace_const){.engine = engine, .from = from, .value = value};
    for (size_t i = 0; i < from->by.count; i++) {
        const ap_calib_by *by = &from->by.items[i];
        const char *key = ap_calib_key(keys, by->level);
        const ap_deviation *found = key ? ap_calib_deviation_of(by, key) : NULL;
        if (!found)
            continue;
        if (found->rows > 0)
            made->rows = found->rows; /* levels go from the general to the specific */
        if (found->value != 0)
            *AP_PUSH(trace->arena, made->by.items, made->by.count, made->by.capacity) =
                (ap_trace_deviation){by->level, ap_arena_strdup(trace->arena, found->key), found->value, found->rows};
    }
    return trace->consts.count - 1;
}

/* -- what a constant moves --------------------------------------------------------------------------------------------
 */

typedef struct outcome {
    ap_estimate est;
    ap_run_estimate run;
} outcome;

static void estimate_again(const ap_est_context *context, const ap_layout *layout, outcome *ret)
{
    ap_est_run(context, layout, &ret->est);
    ret->run = ap_run_unknown;
    if (!ret->est.error)
        ap_est_whole_run(context, &ret->est, 1, &ret->run);
}

static double effect(double before, double after)
{
    double change = before != 0 ? (after / before - 1) / NUDGE : 0;
    return isfinite(change) && fabs(change) > NO_EFFECT ? change : 0;
}

static const ap_term *same_term(const ap_term *terms, size_t count, const ap_term *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (ap_streq(terms[i].formula, wanted->formula) && ap_streq(terms[i].name, wanted->name))
            return &terms[i];
    return NULL;
}

static bool link_terms(ap_est_trace *trace, ap_trace_part part, const outcome *before, const outcome *after)
{
    bool memory = part == AP_TRACE_MEMORY, any = false;
    const ap_term *old = memory ? before->est.memory : before->est.terms,
                  *new = memory ? after->est.memory : after->est.terms;
    size_t old_count = memory ? before->est.memory_count : before->est.term_count;
    size_t new_count = memory ? after->est.memory_count : after->est.term_count;
    for (size_t i = 0; i < old_count; i++) {
        const ap_term *moved = same_term(new, new_count, &old[i]);
        double by = moved ? effect(old[i].seconds, moved->seconds) : 0;
        if (by == 0)
            continue;
        any = true;
        *AP_PUSH(trace->arena, trace->links.items, trace->links.count, trace->links.capacity) =
            (ap_trace_link){old[i].formula, old[i].name, part, trace->consts.count, by};
    }
    return any;
}

static double nudged(const ap_calib_const *from, double value)
{
    if (from->scale == AP_SCALE_LOGIT && value > 0 && value < 1)
        return ap_scale_inverse(AP_SCALE_LOGIT, ap_scale_link(AP_SCALE_LOGIT, value) + NUDGE);
    return value != 0 ? value * (1 + NUDGE) : NUDGE;
}

static void trace_constants(const ap_est_context *context, const ap_estimate *estimate, ap_est_trace *trace)
{
    const ap_engine_ops *ops = ap_engine_ops_of(context->engine);
    const ap_calib_engine *engine = ap_calibration_engine(context->calibration, ops->name);
    ap_est_context *copy = AP_NEW(trace->arena, ap_est_context), *fresh = AP_NEW(trace->arena, ap_est_context);
    ap_engine_keys *keys = AP_NEW(trace->arena, ap_engine_keys);
    ap_est_begin(fresh, context->calibration, &context->job, keys);
    outcome *before = AP_NEW(trace->arena, outcome), *after = AP_NEW(trace->arena, outcome);
    estimate_again(context, &estimate->layout, before);
    for (size_t i = 0; engine && ops->ids[i]; i++) {
        const ap_calib_const *from = ap_calib_const_of(engine, ops->ids[i]);
        if (!from)
            continue;
        *copy = *context;
        copy->consts[i] = nudged(from, context->consts[i]);
        ops->prepare(copy);
        estimate_again(copy, &estimate->layout, after);
        bool time = link_terms(trace, AP_TRACE_TIME, before, after),
             memory = link_terms(trace, AP_TRACE_MEMORY, before, after);
        double step = effect(before->est.step_s, after->est.step_s),
               peak = effect(before->est.peak_bytes, after->est.peak_bytes);
        double hours = effect(before->run.hours_p50, after->run.hours_p50);
        if (!time && !memory && step == 0 && peak == 0 && hours == 0)
            continue;
        size_t at = ap_trace_const_add(trace, ops->name, from, &keys->keys, context->consts[i]);
        trace->consts.items[at].on_step = step;
        trace->consts.items[at].on_memory = peak;
        trace->consts.items[at].on_hours = hours;
    }
}

/* -- bands ------------------------------------------------------------------------------------------------------------
 */

static void trace_cells(const ap_est_context *context, ap_est_trace *trace)
{
    static const char *const names[AP_Q_COUNT] = {"step", "memory", "run"};
    const ap_calib_engine *engine =
        ap_calibration_engine(context->calibration, ap_engine_ops_of(context->engine)->name);
    bool known = context->job.layouts_given;
    for (int q = 0; q < AP_Q_COUNT; q++) {
        ap_trace_cell *cell = &trace->cells[q];
        *cell = (ap_trace_cell){.quantity = names[q], .low = -AP_CALIB_WIDEST, .high = AP_CALIB_WIDEST};
        ap_engine_cells *cells = AP_NEW(trace->arena, ap_engine_cells);
        if (ap_est_unsized(context)) {
            *cell = (ap_trace_cell){names[q],   "unsized", context->interval[q][1].low, context->interval[q][1].high,
                                    AP_UNKNOWN, AP_UNKNOWN};
            continue;
        }
        if (!engine)
            continue;
        ap_est_cells(context, (ap_quantity)q, known, cells);
        const ap_calib_cell *found = ap_calib_cell_of(engine, cells->names, cells->count);
        if (found)
            *cell = (ap_trace_cell){names[q], found->key, found->low, found->high, found->rows, found->sources};
    }
}

/* -- words ------------------------------------------------------------------------------------------------------------
 */

const char *ap_trace_why(const char *name)
{
    static const struct {
        const char *name, *why;
    } known[] = {
        {"sequence_length", "M-10: usual for the method"},
        {"precision", "M-10: usual on this chip"},
        {"chips", "one, because nothing was said"},
        {"chips_per_node", "usual for this kind of chip"},
        {"sharding", "M-15: by software, chips and memory"},
        {"tensor_parallel", "M-16: smallest whose states fit"},
        {"micro_batch", "M-17 (networks M-72): what fits, within what is usual"},
        {"recompute", "M-18: the first that fits"},
        {"global_batch", "M-19: no batch was said"},
        {"optimizer", "usual in this domain"},
        {"fwd_mac", "M-60: the work is not known; by class and parameters"},
        {"rows", "a million, because nothing was said"},
        {"features", "30, because nothing was said"},
        {"depth", "8, because nothing was said"},
        {"threads", "M-81: as many as help"},
        {"environment_threads", "M-86: two a core"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ap_streq(known[i].name, name))
            return known[i].why;
    return NULL;
}

const char *ap_trace_const_text(const ap_trace_const *constant, ap_arena *arena)
{
    const ap_calib_const *from = constant->from;
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    ap_sbuf_printf(&text, "%.4g", constant->value);
    if (!constant->by.count)
        return text.text;
    bool log = from->scale == AP_SCALE_LOG, linear = from->scale == AP_SCALE_LINEAR;
    ap_sbuf_printf(&text, log ? " = %.4g x exp(" : linear ? " = %.4g" : " = logistic(logit %.4g", from->value);
    for (size_t i = 0; i < constant->by.count; i++) {
        const ap_trace_deviation *d = &constant->by.items[i];
        const char *between = log ? i ? ", " : "" : " + ";
        ap_sbuf_printf(&text, log ? "%s%s %s %+.3g" : "%s(%s %s %+.3g)", between, d->level, d->key, d->value);
    }
    if (!linear)
        ap_sbuf_add_char(&text, ')');
    return text.text;
}

ap_est_trace *ap_est_trace_new(const ap_est_context *context, const ap_estimate *estimate, const ap_run_estimate *run,
                               ap_arena *arena)
{
    ap_est_trace *trace = AP_NEW(arena, ap_est_trace);
    const ap_engine_ops *ops = ap_engine_ops_of(context->engine);
    trace->arena = arena;
    trace->engine = ops->name;
    trace->user_scale = context->user_scale;
    const ap_calib_engine *engine = ap_calibration_engine(context->calibration, ops->name);
    trace->fitted = engine ? &engine->fitted_on : NULL;
    if (estimate->error)
        return trace;
    if (ops->trace)
        ops->trace(context, estimate, trace);
    trace_constants(context, estimate, trace);
    trace->part = AP_TRACE_RUN;
    if (run && ap_known(run->hours_p50))
        ap_run_trace(context, estimate, run, trace);
    trace_cells(context, trace);
    return trace;
}
