/* Reinforcement learning whose environments run on CPU threads (M-86, M-87). A step is one environment step of each
 * thread's environment; a sample is one environment frame. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/engine.h"
#include "estimate/trace.h"

#define ENV_CONSTS(X)   X(rate) X(thread_power) X(second_thread) X(learner) X(mem_base) X(mem_thread)
#define AP_ENV_ENUM(id) ENV_##id,
enum { ENV_CONSTS(AP_ENV_ENUM) ENV_CONST_COUNT };
static const char *const ids[] = {ENV_CONSTS(AP_CONST_ID) NULL};
enum { ENV_W_THREADS, ENV_W_CORES, ENV_W_LEARNS, ENV_W_PEAK, ENV_W_RATE, ENV_W_LEARN_S };

static void complete(ap_est_context *context)
{
    ap_case *job = &context->job;
    const ap_chip *chip = job->chip;
    if (!ap_known(job->chips))
        job->chips = 1.0;
    if (!ap_known(job->chips_per_node))
        job->chips_per_node = fmax(1.0, fmin(job->chips, 8.0));
    double threads = job->threads;
    if (!ap_known(threads))
        threads = chip->kind == AP_CHIP_CPU ? 2.0 * ap_or(chip->cpu.cores, 16.0) * job->chips
                                            : ap_or(job->host_vcpus, 16.0 * job->chips);
    if (ap_streq(job->stack, "for-loop"))
        threads = 1.0;
    context->work[ENV_W_THREADS] = fmax(threads, 1.0);
    context->work[ENV_W_CORES] =
        chip->kind == AP_CHIP_CPU ? ap_or(chip->cpu.cores, 16.0) * job->chips : fmax(threads / 2.0, 1.0);
    context->work[ENV_W_LEARNS] = ap_starts_with(job->model->id, "env-") ? 0.0 : 1.0;
    context->work[ENV_W_PEAK] = ap_or(chip->peak.fp32, 1e12) * job->chips;
    if (context->work[ENV_W_LEARNS] > 0.0) {
        context->basis = AP_BASIS_RULE_OF_THUMB;
        ap_est_assume(context, "environment_threads", context->work[ENV_W_THREADS]);
    }
}

/* The simulator: of a benchmark its own name, of an algorithm the data set it is trained on. */
static void keys(const ap_est_context *context, ap_engine_keys *ret)
{
    const ap_case *job = &context->job;
    const char *id = job->model->id;
    const char *world = job->dataset ? job->dataset : job->model->dataset;
    if (ap_starts_with(id, "env-"))
        ap_keys_addf(ret, "environment", "%.*s", (int)strcspn(id + 4, "-"), id + 4);
    else
        ap_keys_add(ret, "environment", world);
    ap_keys_add(ret, "model", id);
    ap_keys_add(ret, "stack", job->stack ? job->stack : "envpool");
    ap_keys_add(ret, "chip", job->chip->id);
    ap_keys_add(ret, "generation", job->chip->generation);
    ap_keys_add(ret, "family", job->model->family);
}

static void prepare(ap_est_context *context)
{
    const double *k = context->consts;
    double *work = context->work;
    const ap_model *model = context->job.model;
    double busy = ap_est_busy_cores(work[ENV_W_THREADS], work[ENV_W_CORES], k[ENV_second_thread]);
    work[ENV_W_RATE] = k[ENV_rate] * pow(busy, k[ENV_thread_power]);
    /* M-87: the learner sees each frame a few times; small networks are bound by launches, not arithmetic. */
    double flop = 6.0 * ap_or(model->fwd_mac, ap_or(model->params, 1e6)) * 4.0;
    work[ENV_W_LEARN_S] = work[ENV_W_LEARNS] * (flop / (0.05 * work[ENV_W_PEAK]) + k[ENV_learner]);
}

static void run(const ap_est_context *context, const ap_layout *layout, ap_estimate *ret)
{
    const double *k = context->consts, *work = context->work;
    double threads = work[ENV_W_THREADS];
    ret->layout = *layout;
    ret->layout.dp = ap_or(layout->dp, fmax(context->job.chips, 1.0));
    ret->layout.tp = ret->layout.pp = ret->layout.vpp = ret->layout.cp = ret->layout.ep = 1.0;
    ret->layout.micro_batch = threads;
    ret->layout.accum = 1.0;
    if (ret->layout.sharding < 0)
        ret->layout.sharding = AP_SHARD_NONE;
    if (ret->layout.recompute < 0)
        ret->layout.recompute = AP_RECOMPUTE_NONE;
    double simulate = threads / work[ENV_W_RATE], learn = threads * work[ENV_W_LEARN_S];
    ret->samples_per_step = threads;
    ret->step_s = simulate + learn;
    ret->flop_per_step = threads * 6.0 * ap_or(context->job.model->fwd_mac, 0.0);
    ret->mfu = AP_UNKNOWN;
    ret->bottleneck = simulate >= learn ? AP_BOUND_HOST : AP_BOUND_COMPUTE;
    ap_est_term(ret, "M-86", "environment steps", simulate);
    if (learn > 0.0)
        ap_est_term(ret, "M-87", "learner", learn);
    double states = ap_or(context->job.model->params, 0.0) * 16.0;
    ret->peak_bytes = k[ENV_mem_base] + k[ENV_mem_thread] * threads + states;
    ret->host_bytes = ret->peak_bytes;
    const ap_chip *chip = context->job.chip;
    double memory =
        chip->kind == AP_CHIP_CPU ? context->job.host_memory_bytes : ap_or(chip->memory.usable, chip->memory.size);
    ret->capacity_bytes = ap_or(memory, 64e9);
    ap_est_memory(ret, "M-88", "simulators and learner", ret->peak_bytes);
    ret->verdict = ret->peak_bytes > ret->capacity_bytes ? AP_DOES_NOT_FIT : AP_FITS;
}

static void cells(const ap_est_context *context, ap_quantity quantity, bool layout_known, ap_engine_cells *ret)
{
    (void)layout_known;
    if (quantity == AP_Q_MEMORY)
        return;
    ap_cells_addf(ret, "e%d|s%d|c%d", ap_est_seen(context, "environment"), ap_est_seen(context, "stack"),
                  ap_est_seen(context, "chip"));
    ap_cells_addf(ret, "e%d", ap_est_seen(context, "environment"));
}

static void trace(const ap_est_context *context, const ap_estimate *est, ap_est_trace *ret)
{
    const double *k = context->consts, *w = context->work;
    double threads = w[ENV_W_THREADS];
    ret->part = AP_TRACE_TIME;
    AP_SAY(ret, "M-86", "frames of all threads a second", w[ENV_W_RATE], "1/s", "rate %.4g x busy cores^%.3g, %g threads on %g cores, second_thread %.3g", k[ENV_rate],
        k[ENV_thread_power], threads, w[ENV_W_CORES], k[ENV_second_thread]);
    AP_SAY(ret, "M-86", "environment steps", threads / w[ENV_W_RATE], "s", "%g frames / %.4g a second", threads, w[ENV_W_RATE]);
    if (w[ENV_W_LEARNS] > 0.0)
        AP_SAY(ret, "M-87", "learner", threads * w[ENV_W_LEARN_S], "s", "%g frames x (FLOP / (0.05 x %.4g FLOP/s) + learner %.4g s)", threads, w[ENV_W_PEAK], k[ENV_learner]);
    AP_SAY(ret, "M-86", "the step", est->step_s, "s", "sum of the terms");
    ret->part = AP_TRACE_MEMORY;
    AP_SAY(ret, "M-88", "peak", est->peak_bytes, "B", "mem_base %.4g + mem_thread %.4g x %g threads + 16 B a parameter", k[ENV_mem_base], k[ENV_mem_thread], threads);
}

const ap_engine_ops ap_env_ops = {
    .name = "env",
    .ids = ids,
    .complete = complete,
    .keys = keys,
    .prepare = prepare,
    .run = run,
    .cells = cells,
    .trace = trace,
};
