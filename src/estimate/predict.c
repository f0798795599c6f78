#include "estimate/predict.h"

#include <math.h>

#include "base/num.h"

#define FULL_CARD 0.95
#define GIB 1073741824.0

ap_quantity ap_metric_quantity(int metric)
{
    switch (metric) {
    case AP_METRIC_PEAK_MEM_GIB:
        return AP_Q_MEMORY;
    case AP_METRIC_SAMPLES_PER_S:
    case AP_METRIC_TOKENS_PER_S:
    case AP_METRIC_STEP_TIME_S:
        return AP_Q_STEP;
    default:
        return AP_Q_RUN;
    }
}

bool ap_metric_is_rate(int metric)
{
    return metric == AP_METRIC_SAMPLES_PER_S || metric == AP_METRIC_TOKENS_PER_S;
}

/* Hours of the whole run turned into the row's metric. */
static double run_metric(const ap_est_context *context, const ap_estimate *estimate, int metric)
{
    ap_run_estimate run;
    ap_est_whole_run(context, estimate, AP_UNKNOWN, &run);
    const ap_case *job = &context->job;
    switch (metric) {
    case AP_METRIC_TIME_TO_TRAIN_MIN:
        return run.hours_p50 * 60;
    case AP_METRIC_WALL_HOURS:
        return run.hours_p50;
    case AP_METRIC_GPU_HOURS:
        return run.hours_p50 * job->chips;
    case AP_METRIC_USD:
        return run.hours_p50 * job->chips * job->usd_per_chip_h;
    default:
        return run.energy_kwh;
    }
}

double ap_predict_metric(const ap_est_context *context, const ap_estimate *estimate, const ap_measure *measure,
                         const char **ret_reason)
{
    *ret_reason = NULL;
    if (estimate->error) {
        *ret_reason = estimate->error;
        return AP_UNKNOWN;
    }
    const ap_engine_ops *ops = ap_engine_ops_of(context->engine);
    double own = ops->predict ? ops->predict(context, estimate, (ap_metric)measure->metric, measure->unit) : AP_UNKNOWN;
    if (ap_known(own))
        return own;
    double value;
    switch (measure->metric) {
    case AP_METRIC_SAMPLES_PER_S:
        value = estimate->samples_per_step / estimate->step_s;
        break;
    case AP_METRIC_TOKENS_PER_S:
        value = estimate->tokens_per_step / estimate->step_s;
        break;
    case AP_METRIC_STEP_TIME_S:
        value = estimate->step_s;
        break;
    case AP_METRIC_PEAK_MEM_GIB:
        /* A run that was measured did fit: what the allocator leaves free of a full card is a few per cent. */
        value = fmin(estimate->peak_bytes, FULL_CARD * ap_or(estimate->capacity_bytes, HUGE_VAL)) / GIB;
        break;
    default:
        value = run_metric(context, estimate, measure->metric);
    }
    if (!(value > 0) || !isfinite(value)) {
        switch (ap_metric_quantity(measure->metric)) {
        case AP_Q_RUN:
            *ret_reason = measure->metric == AP_METRIC_USD && !ap_known(context->job.usd_per_chip_h)
                              ? "the catalog has no price of the chip"
                              : "how much is trained is not known: no samples, tokens, epochs or recipe";
            break;
        case AP_Q_MEMORY:
            *ret_reason = "memory of this case is not modelled";
            break;
        default:
            *ret_reason = "samples or tokens of a step are not known";
        }
        return AP_UNKNOWN;
    }
    return value;
}

void ap_predict(const ap_calibration *calibration, const ap_measure *measure, ap_prediction *ret)
{
    *ret = (ap_prediction){.p10 = AP_UNKNOWN, .p50 = AP_UNKNOWN, .p90 = AP_UNKNOWN, .basis = -1};
    if (measure->skip) {
        ret->reason = measure->skip;
        return;
    }
    ap_est_context context;
    ap_est_init(&context, calibration, &measure->job);
    ap_est_run(&context, &measure->layout, &ret->estimate);
    ret->basis = ret->estimate.basis;
    ret->p50 = ap_predict_metric(&context, &ret->estimate, measure, &ret->reason);
    if (!ap_known(ret->p50))
        return;
    ap_work work;
    (void)ap_case_work(&context.job, &work);
    if (ap_metric_quantity(measure->metric) == AP_Q_RUN && work >= AP_WORK_GUESSED)
        ret->basis = AP_BASIS_RULE_OF_THUMB;
    int known = ap_known(measure->layout.micro_batch) ? 1 : 0;
    ap_quantity quantity = ap_metric_quantity(measure->metric);
    double low = context.interval[quantity][known].low, high = context.interval[quantity][known].high;
    bool rate = ap_metric_is_rate(measure->metric);
    ret->p10 = ret->p50 * exp(rate ? -high : low);
    ret->p90 = ret->p50 * exp(rate ? -low : high);
}
