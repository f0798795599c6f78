/* Parallel layouts: which to try, and the fastest that fits.
 *
 * The search is best-first. Every shape (context, tensor, pipeline and expert degrees) whose smallest form fits is bounded
 * from below by a step that neither recomputes nor minds its memory; shapes are then gone through in the order of their
 * bounds, each with every sharding, recompute mode, interleaving and micro-batch worth trying, until no bound is below the
 * best step found. So hundreds of shapes cost a few estimates each. Small models that fit beside plain data parallelism
 * are not split. What the user fixed stays fixed. */
#include <stdlib.h>

#include "base/num.h"
#include "base/str.h"
#include "plan/plan.h"

#define MOST_SHAPES     1024
#define BOUND_SLACK     0.99   /* a bound is sampled at a few micro-batches only */
#define SHARDING_GAIN   0.95   /* sharding what fits unsharded must pay for its complexity */
#define TOKENS_OF_SLICE 4096.0 /* of a sequence that context parallelism leaves a chip at least */
#define LONG_SEQUENCE   32768.0
#define HUGE_MODEL      4e10   /* parameters */
#define ENOUGH_TOKENS   4096.0 /* of a micro-batch: a larger one gains nothing that recomputation would pay for */

typedef struct shape {
    ap_layout layout;
    double bound; /* seconds of a step, at best */
} shape;

typedef struct layout_search {
    const ap_est_context *context;
    const ap_workload *workload;
    double chips, batch, most_micro;
    ap_estimate *best;
    double last_step_s; /* of the layout tried last */
    bool have_any;
    int hardship; /* of the best */
    size_t evaluated, shape_count;
    shape shapes[MOST_SHAPES];
} layout_search;

/* A chip's share of the data at once needs no gathering of weights: the more sharded layout must be clearly faster. */
static double hurdle(const ap_estimate *best, const ap_estimate *candidate)
{
    bool whole = best->layout.sharding <= AP_SHARD_DDP && best->layout.tp * best->layout.pp * best->layout.cp <= 1;
    return whole && candidate->layout.sharding > AP_SHARD_ZERO2 ? SHARDING_GAIN : 1 - 1e-9;
}

/* Of two layouts that do not fit the nearer miss is to be shown; within a twentieth they miss alike, and the faster one is. */
#define ALIKE 0.95

static bool misses_less(const ap_estimate *best, const ap_estimate *candidate)
{
    if (best->error || candidate->error)
        return !candidate->error;
    bool smaller = candidate->peak_bytes < ALIKE * best->peak_bytes, larger = candidate->peak_bytes > best->peak_bytes / ALIKE;
    return smaller || (!larger && candidate->step_s < best->step_s);
}

/* 0 fits, 1 fits tightly, 2 does not fit. */
static int hardship_of(const ap_estimate *estimate)
{
    return estimate->error || estimate->verdict == AP_DOES_NOT_FIT ? 2 : estimate->verdict == AP_TIGHT ? 1 : 0;
}

/* Faster wins among those that fit; what fits tightly counts only where nothing fits better, so that more memory is never
 * the worse; among those that do not fit, the nearest miss. Returns the candidate's hardship. */
static int keep_better(layout_search *s, const ap_estimate *candidate)
{
    int hardship = hardship_of(candidate);
    bool better;
    if (!s->have_any)
        better = true;
    else if (hardship != s->hardship)
        better = hardship < s->hardship;
    else if (hardship < 2)
        better = candidate->step_s < s->best->step_s * hurdle(s->best, candidate);
    else
        better = misses_less(s->best, candidate);
    s->have_any = true;
    if (better) {
        *s->best = *candidate;
        s->hardship = hardship;
    }
    return hardship;
}

/* Said unless something can be laid out after all. */
static void too_few_samples(layout_search *s)
{
    if (!s->have_any)
        s->best->error = "the batch has fewer samples than there are chips";
}

static int try_layout(layout_search *s, const ap_layout *layout)
{
    ap_estimate candidate;
    s->evaluated++;
    ap_est_run(s->context, layout, &candidate);
    s->last_step_s = candidate.step_s;
    return keep_better(s, &candidate);
}

static void set_micro_batch(const layout_search *s, ap_layout *layout, double micro)
{
    layout->micro_batch = micro;
    layout->accum = ap_known(s->batch) ? fmax(1, ceil(s->batch / (layout->dp * micro))) : 1;
}

static double fixed_or(double fixed, double value)
{
    return ap_known(fixed) ? fixed : value;
}

static double largest_power_of_two(double limit)
{
    double power = 1;
    while (power * 2 <= limit)
        power *= 2;
    return power;
}

/* The largest power of two that a rank's share of the batch and habit allow. */
static double top_micro_batch(const layout_search *s, const ap_layout *layout)
{
    double per_rank = ap_known(s->batch) ? fmax(1, ceil(s->batch / layout->dp)) : s->most_micro;
    return largest_power_of_two(fmin(per_rank, s->most_micro));
}

/* From the largest micro-batch that fits downwards: half of it (a smaller one can hide communication better), and under a
 * pipeline on while the step gets shorter, because more micro-batches fill it. Returns the largest that fits without being
 * tight, 0 for none.
 * An interleaved schedule takes whole rounds of stages. */
static double try_micro_batches(layout_search *s, ap_layout layout)
{
    bool fixed = ap_known(s->workload->micro_batch);
    double micro = fixed ? s->workload->micro_batch : top_micro_batch(s, &layout), fitting = 0, step_s = HUGE_VAL;
    for (size_t tried = 0; micro >= 1 && (layout.pp > 1 || tried < 2); micro /= 2) {
        set_micro_batch(s, &layout, micro);
        bool whole = !(layout.vpp > 1) || ap_known(s->workload->parallel.vpp) || fmod(layout.accum, layout.pp) == 0;
        if (whole && try_layout(s, &layout) == 0) {
            if (s->last_step_s > step_s)
                break;
            fitting = fmax(fitting, micro);
            step_s = s->last_step_s;
            tried++;
        }
        if (fixed)
            break;
    }
    return fitting;
}

/* Megatron's schedules cut a stage into several when the layers, with embedding and head counted as one each or not,
 * divide evenly. */
static bool may_interleave(const layout_search *s, const ap_layout *layout, double vpp)
{
    const ap_stack *stack = s->context->job.stack_info;
    double layers = ap_or(s->context->job.model->layers, 0), parts = layout->pp * vpp;
    if (vpp == 1)
        return true;
    if (layout->pp == 1 || !stack || !(ap_streq(stack->family, "mcore") || ap_streq(stack->family, "meg21")))
        return false;
    return fmod(layers, parts) == 0 || fmod(layers + 1, parts) == 0 || fmod(layers + 2, parts) == 0;
}

static double try_interleaving(layout_search *s, ap_layout layout)
{
    double fitting = 0;
    if (ap_known(s->workload->parallel.vpp)) {
        layout.vpp = s->workload->parallel.vpp;
        return try_micro_batches(s, layout);
    }
    for (layout.vpp = 1; layout.vpp <= 8; layout.vpp *= 2)
        if (may_interleave(s, &layout, layout.vpp))
            fitting = fmax(fitting, try_micro_batches(s, layout));
    return fitting;
}

/* Could this mode of recomputation win with the largest micro-batch, whatever memory that takes? */
static bool may_win(layout_search *s, ap_layout layout)
{
    ap_estimate estimate;
    if (s->hardship > 0)
        return true;
    set_micro_batch(s, &layout, fixed_or(s->workload->micro_batch, top_micro_batch(s, &layout)));
    s->evaluated++;
    ap_est_run(s->context, &layout, &estimate);
    return !estimate.error && estimate.step_s < s->best->step_s;
}

/* Recompute costs time and buys memory: the next mode can win only while the micro-batch is small without it. */
static bool try_recompute(layout_search *s, ap_layout layout)
{
    if (s->workload->recompute >= 0) {
        layout.recompute = s->workload->recompute;
        return try_interleaving(s, layout) > 0;
    }
    bool any = false;
    for (int level = AP_RECOMPUTE_NONE; level <= AP_RECOMPUTE_FULL; level++) {
        layout.recompute = level;
        if (any && layout.pp == 1 && !may_win(s, layout))
            continue;
        double fitting = try_interleaving(s, layout);
        any = any || fitting > 0;
        bool enough = fitting >= top_micro_batch(s, &layout) ||
                      (layout.pp > 1 && fitting * ap_or(s->context->job.seq_len, 1) >= ENOUGH_TOKENS);
        if (fitting > 0 && enough)
            break;
    }
    return any;
}

static bool offers_sharding(const layout_search *s, int sharding)
{
    const ap_stack *stack = s->context->job.stack_info;
    for (size_t i = 0; stack && i < stack->sharding.count; i++)
        if (ap_streq(stack->sharding.items[i], ap_sharding_names[sharding]))
            return true;
    return false;
}

/* The sharding that needs least memory. Gradients are not sharded under a pipeline by software that does not say so. */
static int smallest_sharding(const layout_search *s, const ap_layout *layout)
{
    if (layout->dp * layout->cp == 1)
        return AP_SHARD_NONE;
    if (layout->pp == 1)
        return AP_SHARD_ZERO3;
    return !s->context->job.stack_info || offers_sharding(s, AP_SHARD_ZERO2) ? AP_SHARD_ZERO2 : AP_SHARD_ZERO1;
}

/* Shardings worth trying, the least first. */
static size_t shardings_of(const layout_search *s, const ap_layout *layout, int ret_items[3])
{
    size_t count = 0;
    int fixed = s->workload->parallel.sharding, smallest = smallest_sharding(s, layout);
    if (fixed >= 0 || smallest == AP_SHARD_NONE) {
        ret_items[count++] = fixed >= 0 ? fixed : AP_SHARD_NONE;
        return count;
    }
    bool split = layout->tp * layout->pp > 1;
    if (!split)
        ret_items[count++] = AP_SHARD_DDP;
    if (split || offers_sharding(s, AP_SHARD_ZERO1))
        ret_items[count++] = AP_SHARD_ZERO1;
    if (smallest > AP_SHARD_ZERO1)
        ret_items[count++] = smallest;
    return count;
}

static bool expand(layout_search *s, ap_layout layout)
{
    int items[3];
    bool any = false, split = layout.tp * layout.pp > 1;
    size_t count = shardings_of(s, &layout, items);
    for (size_t i = 0; i < count && !(split && any); i++) {
        layout.sharding = items[i];
        any = try_recompute(s, layout) || any;
    }
    return any;
}

static bool divides(double whole, double part)
{
    return part >= 1 && fmod(whole, part) == 0;
}

/* If the smallest form of a shape does not fit, no form of it does. */
static bool smallest_fits(layout_search *s, ap_layout layout)
{
    const ap_workload *w = s->workload;
    ap_estimate estimate;
    layout.recompute = w->recompute >= 0 ? w->recompute : AP_RECOMPUTE_FULL;
    layout.sharding = w->parallel.sharding >= 0 ? w->parallel.sharding : smallest_sharding(s, &layout);
    layout.vpp = fixed_or(w->parallel.vpp, 1);
    set_micro_batch(s, &layout, fixed_or(w->micro_batch, 1));
    s->evaluated++;
    ap_est_run(s->context, &layout, &estimate);
    bool fits = hardship_of(&estimate) < 2;
    if (!fits)
        (void)keep_better(s, &estimate);
    return fits;
}

/* Seconds of a step at best: nothing recomputed, the most interleaving, whatever memory that takes. */
static double bound_of(layout_search *s, ap_layout layout)
{
    const ap_workload *w = s->workload;
    double top = top_micro_batch(s, &layout), least = HUGE_VAL;
    double micros[] = {fixed_or(w->micro_batch, top), fixed_or(w->micro_batch, layout.pp > 1 ? 1 : top), layout.pp > 1 ? 2 : 1};
    int shardings[3];
    size_t sharding_count = shardings_of(s, &layout, shardings);
    size_t micro_count = ap_known(w->micro_batch) || layout.pp == 1 || top < 2 ? 1 : top < 4 ? 2 : 3;
    layout.recompute = w->recompute >= 0 ? w->recompute : AP_RECOMPUTE_NONE;
    for (layout.vpp = 8; !may_interleave(s, &layout, layout.vpp);)
        layout.vpp /= 2;
    layout.vpp = fixed_or(w->parallel.vpp, layout.vpp);
    for (size_t i = 0; i < sharding_count; i++)
        for (size_t k = 0; k < micro_count; k++) {
            ap_estimate estimate;
            layout.sharding = shardings[i];
            set_micro_batch(s, &layout, micros[k]);
            s->evaluated++;
            ap_est_run(s->context, &layout, &estimate);
            if (!estimate.error)
                least = fmin(least, estimate.step_s);
        }
    return least;
}

static void add_shape(layout_search *s, ap_layout layout)
{
    if (s->shape_count == MOST_SHAPES || !smallest_fits(s, layout))
        return;
    s->shapes[s->shape_count++] = (shape){layout, bound_of(s, layout)};
}

/* Context, tensor and pipeline degrees with every expert degree; nothing when the numbers do not divide. */
static void add_degrees(layout_search *s, double cp, double tp, double pp)
{
    const ap_case *job = &s->context->job;
    double experts = ap_or(job->model->experts, 0), ep_fixed = s->workload->parallel.ep;
    if (!divides(s->chips, tp * pp * cp) || !divides(ap_or(job->model->heads, tp), tp) || pp > ap_or(job->model->layers, pp))
        return;
    ap_layout layout = {.dp = s->chips / (tp * pp * cp), .tp = tp, .pp = pp, .vpp = 1, .cp = cp, .recompute = -1, .sharding = -1};
    if (ap_known(s->batch) && layout.dp > s->batch) {
        too_few_samples(s);
        return;
    }
    layout.ep = fixed_or(ep_fixed, 1);
    if (!divides(layout.dp * cp, layout.ep))
        return;
    add_shape(s, layout);
    if (ap_known(ep_fixed) || experts <= 1 || (job->stack_info && job->stack_info->ep == 0))
        return;
    for (layout.ep = 2; layout.ep <= fmin(experts, layout.dp * cp); layout.ep *= 2)
        if (divides(experts, layout.ep) && divides(layout.dp * cp, layout.ep))
            add_shape(s, layout);
}

/* Stages of nearly equal length: the longest has at most a ninth more layers than the mean, embedding and head among them. */
static bool is_balanced(double layers, double pp)
{
    return divides(layers, pp) || (pp == largest_power_of_two(pp) && (layers + 2) / pp >= 0.9 * ceil((layers + 2) / pp));
}

static void add_pipelines(layout_search *s, double cp, double tp, double pp_fixed, bool deep)
{
    double layers = ap_or(s->context->job.model->layers, 1);
    bool plain = cp == fixed_or(s->workload->parallel.cp, 1) && tp == fixed_or(s->workload->parallel.tp, 1); /* tried first */
    if (!plain)
        add_degrees(s, cp, tp, fixed_or(pp_fixed, 1));
    if (ap_known(pp_fixed) || !deep)
        return;
    for (double pp = 2; pp <= fmin(fmin(layers, 64), s->chips / (tp * cp)); pp++)
        if (is_balanced(layers, pp))
            add_degrees(s, cp, tp, pp);
}

static int compare_bounds(const void *left, const void *right)
{
    double a = ((const shape *)left)->bound, b = ((const shape *)right)->bound;
    if (a != b)
        return a < b ? -1 : 1;
    const ap_layout *x = &((const shape *)left)->layout, *y = &((const shape *)right)->layout;
    const double by[] = {x->tp - y->tp, x->pp - y->pp, x->cp - y->cp, x->ep - y->ep};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++)
        if (by[i] != 0)
            return by[i] < 0 ? -1 : 1;
    return 0;
}

static void expand_in_order(layout_search *s)
{
    if (s->shape_count > 1)
        qsort(s->shapes, s->shape_count, sizeof *s->shapes, compare_bounds);
    for (size_t i = 0; i < s->shape_count; i++) {
        if (s->hardship == 0 && s->shapes[i].bound * BOUND_SLACK >= s->best->step_s)
            break;
        (void)expand(s, s->shapes[i].layout);
    }
    s->shape_count = 0;
}

/* Longest context degree to try: where the software can, for models or sequences whose activations press. */
static double most_context(const layout_search *s, bool adapters)
{
    const ap_case *job = &s->context->job;
    bool can = job->stack_info && job->stack_info->cp == 1 && !adapters;
    can = can && (s->hardship > 0 || ap_or(job->model->params, 0) > HUGE_MODEL || ap_or(job->seq_len, 1) >= LONG_SEQUENCE);
    return can ? fmin(16, largest_power_of_two(fmax(1, ap_or(job->seq_len, 1) / TOKENS_OF_SLICE))) : 1;
}

static void try_transformer(layout_search *s)
{
    const ap_case *job = &s->context->job;
    const ap_workload *w = s->workload;
    double tp_fixed = w->parallel.tp, pp_fixed = w->parallel.pp, cp_fixed = w->parallel.cp;
    /* Who names a way to shard data parallelism, or software that has no other, means no tensor or pipeline parallelism;
     * who names any of these means no context parallelism. */
    const ap_stack *stack = job->stack_info;
    bool sharded = w->parallel.sharding >= AP_SHARD_DDP;
    if (sharded || (stack && stack->tp == 0))
        tp_fixed = fixed_or(tp_fixed, 1);
    if (sharded || (stack && stack->pp == 0))
        pp_fixed = fixed_or(pp_fixed, 1);
    if (sharded || ap_known(w->parallel.tp) || ap_known(w->parallel.pp))
        cp_fixed = fixed_or(cp_fixed, 1);
    s->most_micro = fmin(fmax(1, 65536 / ap_or(job->seq_len, 1)), 4096);
    add_degrees(s, fixed_or(cp_fixed, 1), fixed_or(tp_fixed, 1), fixed_or(pp_fixed, 1));
    expand_in_order(s);
    bool adapters = job->method == AP_METHOD_LORA || job->method == AP_METHOD_QLORA;
    bool large = ap_or(job->model->params, 0) > 8e9 && !adapters;
    if ((s->hardship == 0 && !large) || s->chips == 1)
        return;
    double tp_most = fmin(job->chips_per_node, 8), cp_most = fixed_or(cp_fixed, most_context(s, adapters));
    bool deep = job->chip->kind != AP_CHIP_TPU;
    for (double cp = fixed_or(cp_fixed, 1); cp <= cp_most; cp *= 2)
        for (double tp = fixed_or(tp_fixed, 1); tp <= fixed_or(tp_fixed, tp_most); tp *= 2)
            add_pipelines(s, cp, tp, pp_fixed, deep);
    expand_in_order(s);
}

static void try_data_parallel(layout_search *s)
{
    ap_layout layout = {.dp = s->chips, .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .recompute = AP_RECOMPUTE_NONE};
    if (ap_known(s->batch) && layout.dp > s->batch) {
        too_few_samples(s);
        return;
    }
    layout.sharding = s->workload->parallel.sharding >= 0 ? s->workload->parallel.sharding
                      : layout.dp > 1                     ? AP_SHARD_DDP
                                                          : AP_SHARD_NONE;
    if (s->workload->recompute >= 0)
        layout.recompute = s->workload->recompute;
    s->most_micro = 1 << 20;
    try_micro_batches(s, layout);
}

size_t ap_plan_best_layout(const ap_est_context *context, const ap_job *job, ap_estimate *ret_best)
{
    layout_search s;
    s.context = context;
    s.workload = job->workload;
    s.chips = context->job.chips;
    s.batch = context->job.global_batch;
    s.best = ret_best;
    s.have_any = false;
    s.hardship = 2;
    s.evaluated = s.shape_count = 0;
    *ret_best = (ap_estimate){.error = "the chips cannot be split into the degrees that were named"};
    if (context->engine == AP_ENGINE_LLM)
        try_transformer(&s);
    else if (context->engine == AP_ENGINE_DL)
        try_data_parallel(&s);
    else {
        ap_layout layout;
        ap_layout_clear(&layout);
        try_layout(&s, &layout);
    }
    return s.evaluated;
}
