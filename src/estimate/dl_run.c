/* Whole runs of the engine (M-76), and figures in the units that publications use. */
#include <math.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/dl_internal.h"

/* Samples to train when neither case nor recipe says: an order of magnitude (the constant `recipe` corrects it by job).
 */
static double usual_samples(const ap_est_context *context)
{
    const ap_case *job = &context->job;
    double per_epoch = ap_known(job->samples_per_epoch) ? job->samples_per_epoch
                       : job->dataset_info              ? job->dataset_info->samples
                                                        : AP_UNKNOWN;
    if (ap_dl_is_encoder(job))
        return job->method != AP_METHOD_PRETRAIN ? 1.8e5 : ap_dl_is_mlperf(job) ? 2.5e6 : 6e8;
    if (ap_streq(job->domain, "vision"))
        per_epoch = ap_or(per_epoch, 1281167.0);
    double epochs = ap_or(job->epochs, ap_streq(job->domain, "vision") ? 90.0 : 30.0);
    if (ap_known(per_epoch))
        return per_epoch * epochs;
    if (ap_streq(job->arch, "dlrm"))
        return 3.6e9;
    /* Only runs of a recipe that was measured turn this into a figure; for others it is off by thousands: no answer. */
    return ap_est_seen(context, "recipe") ? 1e7 : AP_UNKNOWN;
}

void ap_dl_whole_run(const ap_est_context *context, const ap_estimate *step, ap_run_estimate *ret)
{
    const ap_case *job = &context->job;
    const double *k = context->consts;
    ap_work work;
    double samples = ap_case_work(job, &work);
    if (work != AP_WORK_GIVEN) {
        if (!ap_known(samples) || work == AP_WORK_GUESSED)
            samples =
                job->run_kind ? usual_samples(context) : samples; /* a plan is not given hours that nobody stated */
        if (!ap_known(samples))
            return;
        double batch = ap_or(job->global_batch, step->samples_per_step);
        if (job->run_kind) /* what published runs of this recipe really needed; a plan takes the recipe at its word */
            samples *= k[DL_recipe] * pow(batch / 1e3, k[DL_recipe_batch]);
    }
    if (context->work[DL_W_UNITS] < 1.5 &&
        k[DL_profile_units] > 1.5) /* a data set counts sentences, this batch tokens */
        samples *= k[DL_profile_units];
    ret->samples = samples;
    ret->steps = samples / step->samples_per_step;
    ret->tokens = ret->steps * step->tokens_per_step;
    ret->overhead_s = k[DL_run_start] + ret->steps * step->step_s * (k[DL_run_time] - 1.0);
    ret->hours_p50 = (ret->steps * step->step_s * k[DL_run_time] + k[DL_run_start]) / 3600.0;
}

double ap_dl_predict(const ap_est_context *context, const ap_estimate *estimate, ap_metric metric, const char *unit)
{
    const double *work = context->work;
    bool encoder = ap_dl_is_encoder(&context->job);
    if (metric == AP_METRIC_TOKENS_PER_S || (metric == AP_METRIC_SAMPLES_PER_S && !encoder))
        return (encoder ? estimate->tokens_per_step : estimate->samples_per_step * work[DL_W_UNITS]) / estimate->step_s;
    if (metric == AP_METRIC_PEAK_MEM_GIB) {
        /* A run that was measured did fit; a suite that fills the card reports the card. */
        const double *k = context->consts;
        double full = k[DL_mem_full] * work[DL_W_CAPACITY], need = estimate->peak_bytes;
        bool lambda = ap_streq(ap_dl_suite(&context->job), "lambda");
        if (lambda)
            need = ap_known(context->job.global_batch) && !context->job.fills_card ? fmin(full, need * k[DL_mem_margin]) : full;
        return fmin(need, 1.05 * work[DL_W_CAPACITY]) / 1073741824.0;
    }
    (void)unit;
    return AP_UNKNOWN;
}
