/* The whole bill of one result: what a run costs beyond hours times price. Formulas P-05 … P-08 in docs/prices.md.
 *
 * USD; NaN = unknown, and then named (`unknown`), never taken for nothing. The items add up to the result's cost. */
#ifndef AP_PLAN_BILL_H
#define AP_PLAN_BILL_H

#include "catalog/catalog.h"
#include "estimate/estimate.h"
#include "plan/constants.h"
#include "plan/hardware.h"
#include "workload/workload.h"

typedef enum ap_bill_item {
    AP_BILL_COMPUTE,
    AP_BILL_BOOT,
    AP_BILL_INTERRUPTIONS,
    AP_BILL_ROUNDING,
    AP_BILL_STORAGE,
    AP_BILL_EGRESS,
    AP_BILL_HANDS_ON,
    AP_BILL_CONTROLLER,
    AP_BILL_ELECTRICITY,
    AP_BILL_WEAR,
    AP_BILL_CARE,
    AP_BILL_COUNT
} ap_bill_item;
extern const char *const ap_bill_item_names[AP_BILL_COUNT];

typedef struct ap_bill_terms {              /* what the bill depends on besides hours and price */
    double billing_step_s, billing_least_s; /* NaN: by the second */
    double interruptions_per_h;             /* of all machines; 0: not spot */
    double lost_h; /* per interruption, work since the last checkpoint and restart; NaN: all work */
    double restart_h;
    double storage_usd_per_h, egress_usd;         /* 0: none */
    double hands_on_h, controller_usd_per_h;      /* what the workload's `bill` says; 0: nothing */
    double electricity_usd_per_h, wear_usd_per_h; /* own machines; 0 otherwise */
    unsigned unknown;                             /* bit per item that applies and has no known price */
    signed char own;
} ap_bill_terms;

typedef struct ap_bill {
    double usd[AP_BILL_COUNT];
    double interruptions, extra_h; /* expected on spot */
    double hours[3], cost[3];      /* p10 p50 p90, all included */
} ap_bill;

typedef struct ap_bill_request {
    const ap_catalog *catalog;
    const ap_job *job;
    const ap_hardware *hw;
    const ap_price *price; /* or NULL */
    int pricing;
    const ap_region *region;
    const ap_plan_constants *constants;
    double hours_per_week; /* of an own machine's use; NaN = the constant */
} ap_bill_request;
ap_bill_terms ap_bill_terms_of(const ap_bill_request *request);
void ap_bill_compute(const ap_bill_terms *terms, const ap_run_estimate *run, double setup_h, double usd_per_h,
                     ap_bill *ret);

/* Expected hours of a run of `hours` that is interrupted `rate` times an hour (P-06). Infinite when it would not end.
 */
double ap_bill_interrupted_h(double hours, double rate, double lost_h, double restart_h);
/* Interruptions an hour of one machine from a share taken back in a month (P-05). */
double ap_bill_rate_of_month(double share);

/* An own machine in use hours_per_week: USD an hour of use (P-08). */
typedef struct ap_own_cost {
    double price_usd, years, resale, electricity_usd_per_kwh;
    double electricity_usd_per_h, wear_usd_per_h;
    double wear_usd_per_week; /* whatever the use */
    double care_usd_per_week; /* admin hours at the assumed wage; part of no bill, only of the sensitivity */
    const char *electricity_from;
} ap_own_cost;
ap_own_cost ap_own_cost_of(const ap_catalog *catalog, const ap_rig *rig, const ap_plan_constants *constants,
                           double hours_per_week);

#endif
