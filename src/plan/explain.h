/* How the plan of a result came about: the case it was bound to, estimated again with everything kept. */
#ifndef AP_PLAN_EXPLAIN_H
#define AP_PLAN_EXPLAIN_H

#include "estimate/trace.h"
#include "plan/plan.h"

/* In the search's arena; NULL where there is no estimate. */
ap_est_trace *ap_plan_trace(const ap_search *search, const ap_plan *plan);

#endif
