/* Parallel layouts: which to try, and the fastest that fits.
 *
 * The search is small on purpose (tens of estimates a target, not thousands): tensor and pipeline parallelism are tried
 * only when the model's states do not fit beside plain data parallelism or the batch has fewer samples than chips; the
 * micro-batch is the largest power of two that fits, and half of it. What the user fixed stays fixed. */
#include "base/num.h"
#include "plan/plan.h"

typedef struct layout_search {
    const ap_est_context *context;
    const ap_workload *workload;
    double chips, batch;
    ap_estimate *best;
    bool have_fit;
    size_t evaluated;
} layout_search;

/* Faster wins among those that fit; among those that do not, smaller wins (it is the nearest miss). */
static bool keep_better(layout_search *s, const ap_estimate *candidate)
{
    bool fits = !candidate->error && candidate->verdict != AP_DOES_NOT_FIT;
    bool better;
    if (s->evaluated == 1)
        better = true;
    else if (fits != s->have_fit)
        better = fits;
    else if (fits)
        better = candidate->step_s < s->best->step_s * (1 - 1e-9);
    else
        better = s->best->error ? !candidate->error : !candidate->error && candidate->peak_bytes < s->best->peak_bytes;
    if (better) {
        *s->best = *candidate;
        s->have_fit = fits;
    }
    return fits;
}

static bool try_layout(layout_search *s, const ap_layout *layout)
{
    ap_estimate candidate;
    s->evaluated++;
    ap_est_run(s->context, layout, &candidate);
    return keep_better(s, &candidate);
}

static void set_micro_batch(const layout_search *s, ap_layout *layout, double micro)
{
    layout->micro_batch = micro;
    layout->accum = ap_known(s->batch) ? fmax(1, ceil(s->batch / (layout->dp * micro))) : 1;
}

static double largest_power_of_two(double limit)
{
    double power = 1;
    while (power * 2 <= limit)
        power *= 2;
    return power;
}

/* Largest micro-batch that fits, then half of it (a smaller one can hide communication better). True if any fits. */
static bool try_micro_batches(layout_search *s, ap_layout layout, double most)
{
    if (ap_known(s->workload->micro_batch)) {
        set_micro_batch(s, &layout, s->workload->micro_batch);
        return try_layout(s, &layout);
    }
    double per_rank = ap_known(s->batch) ? fmax(1, ceil(s->batch / layout.dp)) : most;
    for (double micro = largest_power_of_two(fmin(per_rank, most)); micro >= 1; micro /= 2) {
        set_micro_batch(s, &layout, micro);
        if (!try_layout(s, &layout))
            continue;
        if (micro > 1) {
            set_micro_batch(s, &layout, micro / 2);
            try_layout(s, &layout);
        }
        return true;
    }
    return false;
}

/* Recompute costs time, so each level is tried only until one fits; the next is tried too when the micro-batch that fits
 * without it is small, because a larger one may win. */
static bool try_recompute(layout_search *s, ap_layout layout, double most)
{
    if (s->workload->recompute >= 0) {
        layout.recompute = s->workload->recompute;
        return try_micro_batches(s, layout, most);
    }
    bool any = false;
    for (int level = AP_RECOMPUTE_NONE; level <= AP_RECOMPUTE_FULL; level++) {
        layout.recompute = level;
        bool fits = try_micro_batches(s, layout, most);
        any = any || fits;
        if (fits && s->best->layout.micro_batch * ap_or(s->context->job.seq_len, 1) >= 4096)
            break;
    }
    return any;
}

static bool try_sharding(layout_search *s, ap_layout layout, double most)
{
    if (s->workload->parallel.sharding >= 0) {
        layout.sharding = s->workload->parallel.sharding;
        return try_recompute(s, layout, most);
    }
    if (layout.dp == 1) {
        layout.sharding = AP_SHARD_NONE;
        return try_recompute(s, layout, most);
    }
    layout.sharding = layout.tp * layout.pp > 1 ? AP_SHARD_ZERO1 : AP_SHARD_DDP;
    bool plain = try_recompute(s, layout, most);
    if (plain && layout.tp * layout.pp > 1)
        return true;
    layout.sharding = layout.pp > 1 ? AP_SHARD_ZERO2 : AP_SHARD_ZERO3;
    return try_recompute(s, layout, most) || plain;
}

static bool divides(double whole, double part)
{
    return part >= 1 && fmod(whole, part) == 0;
}

static double fixed_or(double fixed, double value)
{
    return ap_known(fixed) ? fixed : value;
}

/* If the smallest there is does not fit, nothing does, and the search ends after one estimate. */
static bool smallest_fits(layout_search *s, ap_layout layout)
{
    const ap_workload *w = s->workload;
    layout.recompute = w->recompute >= 0 ? w->recompute : AP_RECOMPUTE_FULL;
    layout.sharding = w->parallel.sharding >= 0 ? w->parallel.sharding
                      : layout.dp == 1          ? AP_SHARD_NONE
                      : layout.pp > 1           ? AP_SHARD_ZERO2
                                                : AP_SHARD_ZERO3;
    set_micro_batch(s, &layout, fixed_or(w->micro_batch, 1));
    return try_layout(s, &layout);
}

/* One (tp, pp); false when the numbers do not divide or nothing fits. */
static bool try_degrees(layout_search *s, double tp, double pp)
{
    const ap_case *job = &s->context->job;
    const ap_workload *w = s->workload;
    double cp = fixed_or(w->parallel.cp, 1);
    if (!divides(s->chips, tp * pp * cp) || !divides(ap_or(job->model->heads, tp), tp) || pp > ap_or(job->model->layers, pp))
        return false;
    ap_layout layout = {.dp = s->chips / (tp * pp * cp), .tp = tp, .pp = pp, .cp = cp, .recompute = -1, .sharding = -1};
    layout.vpp = fixed_or(w->parallel.vpp, 1);
    bool experts = ap_or(job->model->experts, 0) > 1 && !(job->stack_info && job->stack_info->ep == 0);
    layout.ep = fixed_or(w->parallel.ep, experts ? fmin(largest_power_of_two(layout.dp), fmin(job->chips_per_node, job->model->experts)) : 1);
    if (ap_known(s->batch) && layout.dp > s->batch)
        return false;
    if (!smallest_fits(s, layout))
        return false;
    double longest_micro = fmax(1, 65536 / ap_or(job->seq_len, 1));
    return try_sharding(s, layout, fmin(longest_micro, 4096));
}

static void try_transformer(layout_search *s)
{
    const ap_case *job = &s->context->job;
    const ap_workload *w = s->workload;
    double tp_fixed = w->parallel.tp, pp_fixed = w->parallel.pp;
    /* Who names a way to shard data parallelism, or software that has no other, means no tensor or pipeline parallelism. */
    const ap_stack *stack = job->stack_info;
    bool sharded = w->parallel.sharding >= AP_SHARD_DDP;
    if (sharded || (stack && stack->tp == 0))
        tp_fixed = fixed_or(tp_fixed, 1);
    if (sharded || (stack && stack->pp == 0))
        pp_fixed = fixed_or(pp_fixed, 1);
    bool fits = try_degrees(s, fixed_or(tp_fixed, 1), fixed_or(pp_fixed, 1));
    bool large = ap_or(job->model->params, 0) > 8e9 && job->method != AP_METHOD_LORA && job->method != AP_METHOD_QLORA;
    if ((fits && !large) || s->chips == 1 || (ap_known(tp_fixed) && ap_known(pp_fixed)))
        return;
    for (double tp = 2; tp <= fmin(job->chips_per_node, 8); tp *= 2)
        if (!ap_known(tp_fixed))
            fits = try_degrees(s, tp, fixed_or(pp_fixed, 1)) || fits;
    bool deep = job->chip->kind != AP_CHIP_TPU && (!fits || ap_or(job->model->params, 0) > 40e9);
    if (!deep || ap_known(pp_fixed))
        return;
    double tp = fixed_or(tp_fixed, largest_power_of_two(fmin(job->chips_per_node, 8)));
    for (double pp = 2; pp <= 16; pp *= 2)
        fits = try_degrees(s, tp, pp) || fits;
}

static void try_data_parallel(layout_search *s)
{
    ap_layout layout = {.dp = s->chips, .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .recompute = AP_RECOMPUTE_NONE};
    if (ap_known(s->batch) && layout.dp > s->batch)
        return;
    layout.sharding = s->workload->parallel.sharding >= 0 ? s->workload->parallel.sharding
                      : layout.dp > 1                     ? AP_SHARD_DDP
                                                          : AP_SHARD_NONE;
    if (s->workload->recompute >= 0)
        layout.recompute = s->workload->recompute;
    try_micro_batches(s, layout, 1 << 20);
}

size_t ap_plan_best_layout(const ap_est_context *context, const ap_job *job, ap_estimate *ret_best)
{
    layout_search s = {.context = context,
                       .workload = job->workload,
                       .chips = context->job.chips,
                       .batch = context->job.global_batch,
                       .best = ret_best};
    *ret_best = (ap_estimate){.error = "the batch has fewer samples than there are chips"};
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
