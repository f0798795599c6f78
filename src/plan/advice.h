/* Advice with money on it: what else the user could do, each re-estimated, largest saving first. */
#ifndef AP_PLAN_ADVICE_H
#define AP_PLAN_ADVICE_H

#include "plan/plan.h"

/* For the best result of a finished search; returns how many (0 without results). Items live in the search's arena. */
size_t ap_search_advise(ap_search *search, const ap_advice **ret_items);

/* What makes a finished search an answer, the same for the program and the library: reasons and warnings of the first
 * `shown` results (0 = all; they cost time, and nobody reads those of row 900), the place of the first, and the advice.
 * Returns the number of advice items. */
size_t ap_search_conclude(ap_search *search, size_t shown, const ap_advice **ret_items);

#endif
