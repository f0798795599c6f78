/* Whole runs: hours from a step, then start-up, evaluation, checkpoints, failures, energy and the band (M-90 … M-96,
 * docs/model-other.md). What was published counts as its engine says; only a plan is given the delays of a plan. */
#include <math.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/engine.h"
#include "estimate/trace.h"

/* Constants of data/calibration/run.yaml, which every engine shares. */
#define RUN_CONSTS(X)                                                                                                  \
    X(startup_s) X(evaluation_share) X(chip_hours_per_failure) X(restart_s) X(checkpoint_bytes) X(checkpoint_bytes_per_s) \
    X(checkpoint_blocking) X(chip_power_share) X(starved_power_share) X(host_power_share)
#define RUN_ENUM(id) RUN_##id,
enum { RUN_CONSTS(RUN_ENUM) RUN_CONST_COUNT };
static const char *const run_ids[] = {RUN_CONSTS(AP_CONST_ID) NULL};

const ap_run_estimate ap_run_unknown = {.hours_p10 = AP_UNKNOWN,  .hours_p50 = AP_UNKNOWN,  .hours_p90 = AP_UNKNOWN,
                                        .steps = AP_UNKNOWN,      .samples = AP_UNKNOWN,    .tokens = AP_UNKNOWN,
                                        .overhead_s = AP_UNKNOWN, .goodput = AP_UNKNOWN,    .energy_kwh = AP_UNKNOWN,
                                        .batch_factor = 1};

static ap_calib_keys run_keys(const ap_case *job)
{
    ap_calib_keys keys = {.count = 2};
    keys.levels[0] = "kind";
    keys.keys[0] = ap_chip_kind_name(job->chip->kind);
    keys.levels[1] = "domain";
    keys.keys[1] = job->domain;
    return keys;
}

static void run_constants(const ap_est_context *context, double *ret)
{
    for (size_t i = 0; i < RUN_CONST_COUNT; i++)
        ret[i] = AP_UNKNOWN;
    const ap_calib_engine *engine = ap_calibration_engine(context->calibration, "run");
    if (!engine)
        return;
    ap_calib_keys keys = run_keys(&context->job);
    ap_calib_resolve(engine, run_ids, &keys, ret);
}

/* A network of which nothing but the kind is known. */
bool ap_est_unsized(const ap_est_context *context)
{
    const ap_model *model = context->job.model;
    return context->engine == AP_ENGINE_DL && context->basis == AP_BASIS_RULE_OF_THUMB && !(model->params > 0) && !(model->fwd_mac > 0);
}

bool ap_run_unsized_band(const ap_calibration *calibration, double *ret_low, double *ret_high)
{
    static const char *const ids[] = {"unsized_low", "unsized_high", NULL};
    double ends[2] = {AP_UNKNOWN, AP_UNKNOWN};
    const ap_calib_engine *engine = ap_calibration_engine(calibration, "run");
    if (engine)
        ap_calib_resolve(engine, ids, &(ap_calib_keys){.count = 0}, ends);
    *ret_low = ends[0];
    *ret_high = ends[1];
    return ap_known(ends[0]) && ap_known(ends[1]);
}

/* A recipe for pre-training says nothing about a fine-tune. */
static bool recipe_applies(const ap_case *job)
{
    bool tuned = ap_streq(job->recipe->task, "finetune") || ap_streq(job->recipe->task, "lora");
    return tuned == (job->method == AP_METHOD_FINETUNE || job->method >= AP_METHOD_LORA);
}

/* M-97 (McCandlish et al. 2018). */
double ap_run_batch_factor(double batch, double target_batch, double critical_batch)
{
    if (!(batch > 0) || !(target_batch > 0) || !(critical_batch > 0))
        return 1;
    return (1 + batch / critical_batch) / (1 + target_batch / critical_batch);
}

static double job_batch_factor(const ap_case *job)
{
    return ap_run_batch_factor(job->global_batch, job->target_batch, job->critical_batch);
}

/* Order: what the case says, what its data set and epochs give, the published recipe, the model's own defaults, one pass
 * over the data (fine-tuning: three). */
double ap_case_work(const ap_case *job, ap_work *ret_known)
{
    const ap_model *model = job->model;
    double seq = ap_or(job->seq_len, 0);
    double for_batch = job_batch_factor(job);
    *ret_known = AP_WORK_GIVEN;
    if (job->samples_total > 0)
        return job->samples_total * for_batch;
    if (job->tokens_total > 0 && seq > 0)
        return job->tokens_total / seq * for_batch;
    double per_epoch = job->samples_per_epoch;
    if (per_epoch > 0 && job->epochs > 0)
        return per_epoch * job->epochs;
    if (!(per_epoch > 0) && job->dataset_info)
        per_epoch = job->dataset_info->samples > 0 ? job->dataset_info->samples
                    : seq > 0                      ? job->dataset_info->tokens / seq
                                                   : AP_UNKNOWN;
    if (per_epoch > 0 && job->epochs > 0)
        return per_epoch * job->epochs;
    *ret_known = AP_WORK_RECIPE;
    const ap_recipe *recipe = job->recipe && recipe_applies(job) ? job->recipe : NULL;
    bool same_data = job->dataset_info && recipe && ap_streq(recipe->dataset, job->dataset_info->id);
    bool from_scratch = job->method == AP_METHOD_PRETRAIN || job->method == AP_METHOD_TRAIN || job->method < 0;
    /* Fine-tunes of one model have nothing in common but the model. */
    if (recipe && !(job->epochs > 0) && (from_scratch || same_data)) {
        if (recipe->samples > 0)
            return recipe->samples;
        if (recipe->tokens > 0 && seq > 0)
            return recipe->tokens / seq;
        if (recipe->steps > 0 && recipe->global_batch > 0)
            return recipe->steps * recipe->global_batch;
        if (recipe->epochs > 0 && per_epoch > 0)
            return recipe->epochs * per_epoch;
    }
    *ret_known = AP_WORK_GUESSED;
    if (recipe && recipe->samples > 0)
        return recipe->samples;
    if (from_scratch && model->samples > 0)
        return model->samples;
    if (from_scratch && model->tokens > 0 && seq > 0)
        return model->tokens / seq;
    if (per_epoch > 0)
        return per_epoch * (from_scratch ? ap_or(model->epochs, 1) : 3);
    *ret_known = AP_WORK_UNKNOWN;
    return AP_UNKNOWN;
}

double ap_case_samples(const ap_case *job)
{
    ap_work known;
    double samples = ap_case_work(job, &known);
    return known == AP_WORK_GUESSED ? AP_UNKNOWN : samples;
}

/* M-90: hours = steps * step time + start-up, steps = what is left to train / what a step trains. */
static void generic_run(const ap_est_context *context, const ap_estimate *step, ap_run_estimate *ret)
{
    const ap_case *job = &context->job;
    if (ap_known(job->tokens_total) && step->tokens_per_step > 0)
        ret->steps = job->tokens_total / step->tokens_per_step *
                     job_batch_factor(job);
    else if (step->samples_per_step > 0)
        ret->steps = ap_case_samples(job) / step->samples_per_step;
    if (!ap_known(ret->steps))
        return;
    ret->samples = ret->steps * step->samples_per_step;
    ret->tokens = ret->steps * step->tokens_per_step;
    ret->overhead_s = 0;
    ret->hours_p50 = ret->steps * step->step_s / 3600;
}

/* M-96: energy at the wall = chips * board power * busy share * (1 + host share) * hours * PUE. */
static double energy_kwh(const ap_est_context *context, const ap_estimate *step, double hours, double pue)
{
    double consts[RUN_CONST_COUNT];
    run_constants(context, consts);
    const ap_case *job = &context->job;
    double busy = consts[RUN_chip_power_share];
    if (step->bottleneck == AP_BOUND_INPUT) /* chips that wait draw little */
        busy = fmin(busy, consts[RUN_starved_power_share]);
    return hours * job->chips * job->chip->tdp_w * busy * (1 + consts[RUN_host_power_share]) *
           ap_or(pue, 1) / 1000;
}

/* M-93, M-94 (Young, Daly): with a checkpoint of d seconds every t = sqrt(2 d M) and a failure every M seconds, which costs a
 * restart and half an interval, the share of time that trains is 1 - d/t - t/(2M) - r/M. */
double ap_run_goodput(double failure_every_s, double checkpoint_s, double restart_s)
{
    if (!(failure_every_s > 0) || !(checkpoint_s > 0))
        return 1;
    double interval = sqrt(2 * checkpoint_s * failure_every_s);
    double share = 1 - checkpoint_s / interval - interval / (2 * failure_every_s) - restart_s / failure_every_s;
    return fmax(share, 0.3);
}

/* M-91 … M-94: a plan's delays. Published runs contain theirs. */
static void add_delays(const ap_est_context *context, ap_run_estimate *ret)
{
    double k[RUN_CONST_COUNT];
    run_constants(context, k);
    const ap_case *job = &context->job;
    double nodes = fmax(1, job->chips / fmax(job->chips_per_node, 1));
    double checkpoint_s = k[RUN_checkpoint_bytes] * ap_or(job->model->params, 0) / (k[RUN_checkpoint_bytes_per_s] * nodes) *
                          k[RUN_checkpoint_blocking];
    double failure_every_s = 3600 * k[RUN_chip_hours_per_failure] / fmax(job->chips, 1);
    double trains = ap_run_goodput(failure_every_s, checkpoint_s, k[RUN_restart_s]);
    if (!isfinite(trains) || !isfinite(k[RUN_startup_s]) || !isfinite(k[RUN_evaluation_share]))
        return;
    double hours = ret->hours_p50 * (1 + k[RUN_evaluation_share]) / trains;
    ret->overhead_s = ap_or(ret->overhead_s, 0) + 3600 * (hours - ret->hours_p50) + k[RUN_startup_s];
    ret->hours_p50 = hours + k[RUN_startup_s] / 3600;
}

void ap_est_whole_run(const ap_est_context *context, const ap_estimate *step, double pue, ap_run_estimate *ret)
{
    *ret = ap_run_unknown;
    ret->overhead_s = 0;
    if (step->error)
        return;
    const ap_engine_ops *ops = ap_engine_ops_of(context->engine);
    if (ops->whole_run)
        ops->whole_run(context, step, ret);
    else
        generic_run(context, step, ret);
    if (!ap_known(ret->hours_p50))
        return;
    ret->batch_factor = job_batch_factor(&context->job);
    if (!context->job.run_kind)
        add_delays(context, ret);
    int known = 1;
    for (size_t i = 0; i < step->assumed_count; i++)
        if (ap_streq(step->assumed[i], "micro_batch"))
            known = 0;
    double low = context->interval[AP_Q_RUN][known].low, high = context->interval[AP_Q_RUN][known].high;
    if (!context->job.run_kind) { /* a plan's hours are its steps: no surer than they (M-95) */
        low = fmin(low, context->interval[AP_Q_STEP][known].low);
        high = fmax(high, context->interval[AP_Q_STEP][known].high);
    }
    ret->hours_p10 = ret->hours_p50 * exp(low);
    ret->hours_p90 = ret->hours_p50 * exp(high);
    if (!ap_known(ret->goodput) && ret->hours_p50 > 0)
        ret->goodput = 1 - ret->overhead_s / (3600 * ret->hours_p50);
    if (!ap_known(ret->energy_kwh))
        ret->energy_kwh = energy_kwh(context, step, ret->hours_p50, pue);
}

static void trace_constants(const ap_est_context *context, const double *k, ap_est_trace *trace)
{
    const ap_calib_engine *engine = ap_calibration_engine(context->calibration, "run");
    ap_calib_keys keys = run_keys(&context->job);
    for (size_t i = 0; engine && run_ids[i]; i++) {
        const ap_calib_const *from = ap_calib_const_of(engine, run_ids[i]);
        if (from)
            trace->consts.items[ap_trace_const_add(trace, "run", from, &keys, k[i])].on_hours = AP_UNKNOWN;
    }
}

void ap_run_trace(const ap_est_context *context, const ap_estimate *step, const ap_run_estimate *run, ap_est_trace *trace)
{
    static const char *const how[] = {"as said or assumed above", "the published recipe's", "guessed from the data or the model's own", "not known"};
    const ap_case *job = &context->job;
    double k[RUN_CONST_COUNT];
    ap_work work;
    run_constants(context, k);
    (void)ap_case_work(job, &work);
    AP_SAY(trace, "M-77", "work", run->samples, "samples", "%s%s", how[work], run->batch_factor != 1 ? ", for this batch (M-97)" : "");
    AP_SAY(trace, "M-90", "steps", run->steps, "", "%.5g samples / %g a step", run->samples, step->samples_per_step);
    AP_SAY(trace, "M-90", "steps alone", run->steps * step->step_s / 3600, "h", "%.5g x %.4g s", run->steps, step->step_s);
    if (!job->run_kind) {
        double nodes = fmax(1, job->chips / fmax(job->chips_per_node, 1));
        double checkpoint_s = k[RUN_checkpoint_bytes] * ap_or(job->model->params, 0) / (k[RUN_checkpoint_bytes_per_s] * nodes) * k[RUN_checkpoint_blocking];
        double every_s = 3600 * k[RUN_chip_hours_per_failure] / fmax(job->chips, 1);
        AP_SAY(trace, "M-91", "start-up", k[RUN_startup_s], "s", "startup_s of this kind of chip and domain");
        AP_SAY(trace, "M-92", "evaluation", 1 + k[RUN_evaluation_share], "", "1 + evaluation_share %.3g", k[RUN_evaluation_share]);
        AP_SAY(trace, "M-93", "a checkpoint", checkpoint_s, "s", "%.3g B x %.5g parameters / (%.3g B/s x %g nodes) x %.3g", k[RUN_checkpoint_bytes],
            ap_or(job->model->params, 0), k[RUN_checkpoint_bytes_per_s], nodes, k[RUN_checkpoint_blocking]);
        AP_SAY(trace, "M-94", "share of time that trains", ap_run_goodput(every_s, checkpoint_s, k[RUN_restart_s]), "", "a failure every %.4g h, a restart of %.4g s", every_s / 3600,
            k[RUN_restart_s]);
    }
    AP_SAY(trace, "M-90", "the run", run->hours_p50, "h", "steps x the engine's factor + its start, x evaluation / share that trains + start-up");
    AP_SAY(trace, "M-96", "energy", run->energy_kwh, "kWh", "%.4g h x %g chips x %.4g W x %.3g x (1 + host_power_share %.3g) / 1000, before PUE", run->hours_p50, job->chips,
        job->chip->tdp_w, k[RUN_chip_power_share], k[RUN_host_power_share]);
    trace_constants(context, k, trace);
}
