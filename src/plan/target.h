/* A resolved TARGET, estimated and priced. */
#ifndef AP_PLAN_TARGET_H
#define AP_PLAN_TARGET_H

#include "catalog/target.h"
#include "plan/plan.h"

/* Result of one target; result->plan->est.error says why there is no estimate. */
void ap_search_target(ap_search *search, const ap_target *target, ap_result *ret);

/* Parses every text, reporting all faults; AP_USAGE, AP_BAD_INPUT or AP_IO when any is wrong. Pricing, regions and clouds
 * come from the search's constraints. */
AP_CHECKED ap_status ap_search_parse_targets(const ap_search *search, const char *const *texts, size_t count,
                                             ap_diags *diags, ap_target **ret_targets);

#endif
