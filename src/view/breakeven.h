/* Document of the command `breakeven`. */
#ifndef AP_VIEW_BREAKEVEN_H
#define AP_VIEW_BREAKEVEN_H

#include "plan/breakeven.h"
#include "view/view.h"

typedef struct ap_rent {     /* a way to rent, and how it compares */
    const char *label;       /* "cheapest on demand" */
    const ap_result *result; /* or NULL: there is none */
} ap_rent;

typedef struct ap_breakeven_view {
    const ap_search *search;
    const ap_rig *rig;
    const ap_result *own;
    const ap_own_cost *cost;
    const ap_rent *rents; /* the first with a result is what is compared with */
    size_t rent_count;
    ap_breakeven_input input; /* against the first */
    double care_usd_per_week; /* at the assumed wage, for the sensitivity */
    double idle_usd_per_h;
} ap_breakeven_view;

ap_doc *ap_view_breakeven(ap_arena *arena, const ap_breakeven_view *view);

#endif
