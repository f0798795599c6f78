/* Documents of the command `prices`. */
#ifndef AP_VIEW_PRICES_H
#define AP_VIEW_PRICES_H

#include "prices/prices.h"
#include "view/view.h"

typedef struct ap_price_view {
    const ap_catalog *catalog;
    const ap_providers *providers;
    const ap_snapshot *snapshot; /* or NULL */
    const char *store;           /* its folder */
    const char *today;           /* ages count from here */
    const ap_constraints *filter;
    ap_strings sources;
    size_t limit;
} ap_price_view;

ap_doc *ap_view_price_status(ap_arena *arena, const ap_price_view *view, const ap_strings *only);
ap_doc *ap_view_price_sources(ap_arena *arena, const ap_price_view *view);
ap_doc *ap_view_price_rows(ap_arena *arena, const ap_price_view *view);
/* Prices that moved by more than 5 %, came or went. */
ap_doc *ap_view_price_diff(ap_arena *arena, const ap_price_view *view, const ap_snapshot *old, const ap_snapshot *new);

#endif
