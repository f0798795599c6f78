/* A resolved TARGET, estimated and priced. */
#ifndef AP_PLAN_TARGET_H
#define AP_PLAN_TARGET_H

#include "catalog/target.h"
#include "plan/plan.h"

/* A CPU that is named as a chip is estimated as the machine that it is priced from: with the cores and the memory let out
 * there, but no more sockets than asked for. Nothing changes for other chips and where no offer is known. */
void ap_hardware_let_out(ap_hardware *hw, const ap_target *target);
/* Warns (AP8041) where the machine that a chip is priced from has more or less than was asked for. */
void ap_result_warn_of_share(ap_result *result, const ap_target *target, ap_arena *arena);
/* Result of one target; result->plan->est.error says why there is no estimate. */
void ap_search_target(ap_search *search, const ap_target *target, ap_result *ret);

/* Parses every text, reporting all faults; AP_USAGE, AP_BAD_INPUT or AP_IO when any is wrong. Pricing, regions and clouds
 * come from the search's constraints. */
AP_CHECKED ap_status ap_search_parse_targets(const ap_search *search, const char *const *texts, size_t count,
                                             ap_diags *diags, ap_target **ret_targets);

#endif
