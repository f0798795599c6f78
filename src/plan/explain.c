#include "plan/explain.h"

#include "base/num.h"

ap_est_trace *ap_plan_trace(const ap_search *search, const ap_plan *plan)
{
    ap_case job;
    if (plan->est.error || ap_plan_bind(search, &plan->hw, &job))
        return NULL;
    if (ap_known(job.global_batch) && ap_known(plan->global_batch))
        job.global_batch = plan->global_batch; /* several chips may have been given a larger one */
    ap_est_context *context = AP_NEW(search->arena, ap_est_context);
    ap_est_init(context, search->calibration, &job);
    return ap_est_trace_new(context, &plan->est, &plan->run, search->arena);
}
