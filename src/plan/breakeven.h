/* Own machine against rent (P-09 in docs/prices.md). Pure arithmetic over one run on either side. */
#ifndef AP_PLAN_BREAKEVEN_H
#define AP_PLAN_BREAKEVEN_H

typedef struct ap_breakeven_input {
    double rig_run_h;                /* one run on the own machine */
    double cloud_run_usd;            /* the same run rented */
    double price_usd, years, resale; /* purchase, write-off, part of the price that comes back */
    double electricity_usd_per_h;    /* while it computes */
    double idle_usd_per_h;           /* while it only waits; 0 = switched off */
    double care_usd_per_week;
    double hours_per_week; /* that it computes */
} ap_breakeven_input;

typedef struct ap_breakeven {
    double rig_run_usd;                          /* at hours_per_week of use */
    double rig_usd_per_week, cloud_usd_per_week; /* at that use */
    double hours_per_week; /* from which owning is cheaper; NaN: never, or more than the week has */
    double payback_months; /* until the purchase has saved its price; NaN: never */
    const char *never;     /* why hours_per_week is unknown, or NULL */
    const char *no_payback;
} ap_breakeven;

ap_breakeven ap_breakeven_of(const ap_breakeven_input *input);
/* A week's cost at some use: own machine, rent. */
double ap_breakeven_rig_week(const ap_breakeven_input *input, double hours);
double ap_breakeven_cloud_week(const ap_breakeven_input *input, double hours);

#endif
