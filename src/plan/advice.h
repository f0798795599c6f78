/* Advice with money on it: what else the user could do, each re-estimated, largest saving first. */
#ifndef AP_PLAN_ADVICE_H
#define AP_PLAN_ADVICE_H

#include "plan/plan.h"

/* Puts in front of the first result's reasons where it stands among all: its cost and time beside the least. */
void ap_search_place(ap_search *search);
/* For the best result of a finished search; returns how many (0 without results). Items live in the search's arena. */
size_t ap_search_advise(ap_search *search, const ap_advice **ret_items);

#endif
