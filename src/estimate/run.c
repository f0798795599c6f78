/* Whole runs: hours from a step, then failures, energy and the band. Formulas M-60 … in docs/model.md. */
#include <math.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/engine.h"

/* Constants of data/calibration/run.yaml, which every engine shares. */
#define RUN_CONSTS(X) X(startup_s) X(chip_power_share) X(host_power_share)
#define RUN_ENUM(id) RUN_##id,
enum { RUN_CONSTS(RUN_ENUM) RUN_CONST_COUNT };
static const char *const run_ids[] = {RUN_CONSTS(AP_CONST_ID) NULL};

static void run_constants(const ap_est_context *context, double *ret)
{
    for (size_t i = 0; i < RUN_CONST_COUNT; i++)
        ret[i] = AP_UNKNOWN;
    const ap_calib_engine *engine = ap_calibration_engine(context->calibration, "run");
    if (!engine)
        return;
    const ap_case *job = &context->job;
    ap_calib_keys keys = {.count = 2};
    keys.levels[0] = "kind";
    keys.keys[0] = ap_chip_kind_name(job->chip->kind);
    keys.levels[1] = "domain";
    keys.keys[1] = job->domain;
    ap_calib_resolve(engine, run_ids, &keys, ret);
}

/* A recipe for pre-training says nothing about a fine-tune. */
static bool recipe_applies(const ap_case *job)
{
    bool tuned = ap_streq(job->recipe->task, "finetune") || ap_streq(job->recipe->task, "lora");
    return tuned == (job->method == AP_METHOD_FINETUNE || job->method >= AP_METHOD_LORA);
}

double ap_case_samples(const ap_case *job)
{
    if (ap_known(job->samples_total))
        return job->samples_total;
    double per_epoch = job->samples_per_epoch;
    if (!ap_known(per_epoch) && job->dataset_info)
        per_epoch = job->dataset_info->samples;
    if (ap_known(per_epoch) && ap_known(job->epochs))
        return per_epoch * job->epochs;
    if (job->recipe && !ap_known(job->epochs) && recipe_applies(job)) {
        if (ap_known(job->recipe->samples))
            return job->recipe->samples;
        return per_epoch * job->recipe->epochs;
    }
    return AP_UNKNOWN;
}

/* M-60: hours = steps * step time + start-up, steps = what is left to train / what a step trains. */
static void generic_run(const ap_est_context *context, const ap_estimate *step, ap_run_estimate *ret)
{
    const ap_case *job = &context->job;
    if (ap_known(job->tokens_total) && step->tokens_per_step > 0)
        ret->steps = job->tokens_total / step->tokens_per_step;
    else if (step->samples_per_step > 0)
        ret->steps = ap_case_samples(job) / step->samples_per_step;
    if (!ap_known(ret->steps))
        return;
    ret->samples = ret->steps * step->samples_per_step;
    ret->tokens = ret->steps * step->tokens_per_step;
    double consts[RUN_CONST_COUNT];
    run_constants(context, consts);
    ret->overhead_s = ap_or(consts[RUN_startup_s], 0);
    ret->hours_p50 = (ret->steps * step->step_s + ret->overhead_s) / 3600;
}

/* M-64: energy at the wall = chips * board power * busy share * (1 + host share) * hours * PUE. */
static double energy_kwh(const ap_est_context *context, double hours, double pue)
{
    double consts[RUN_CONST_COUNT];
    run_constants(context, consts);
    const ap_case *job = &context->job;
    return hours * job->chips * job->chip->tdp_w * consts[RUN_chip_power_share] * (1 + consts[RUN_host_power_share]) *
           ap_or(pue, 1) / 1000;
}

void ap_est_whole_run(const ap_est_context *context, const ap_estimate *step, double pue, ap_run_estimate *ret)
{
    *ret = (ap_run_estimate){AP_UNKNOWN, AP_UNKNOWN, AP_UNKNOWN, AP_UNKNOWN, AP_UNKNOWN,
                             AP_UNKNOWN, 0,          AP_UNKNOWN, AP_UNKNOWN};
    if (step->error)
        return;
    const ap_engine_ops *ops = ap_engine_ops_of(context->engine);
    if (ops->whole_run)
        ops->whole_run(context, step, ret);
    else
        generic_run(context, step, ret);
    if (!ap_known(ret->hours_p50))
        return;
    int known = 1;
    for (size_t i = 0; i < step->assumed_count; i++)
        if (ap_streq(step->assumed[i], "micro_batch"))
            known = 0;
    ret->hours_p10 = ret->hours_p50 * exp(context->interval[AP_Q_RUN][known].low);
    ret->hours_p90 = ret->hours_p50 * exp(context->interval[AP_Q_RUN][known].high);
    if (!ap_known(ret->goodput) && ret->hours_p50 > 0)
        ret->goodput = 1 - ret->overhead_s / (3600 * ret->hours_p50);
    if (!ap_known(ret->energy_kwh))
        ret->energy_kwh = energy_kwh(context, ret->hours_p50, pue);
}
