#include "plan/breakeven.h"

#include "base/num.h"

#define WEEKS_PER_YEAR  52.18
#define WEEKS_PER_MONTH (WEEKS_PER_YEAR / 12)
#define HOURS_PER_WEEK  168.0

static double fixed_per_week(const ap_breakeven_input *in)
{
    return in->price_usd * (1 - in->resale) / (in->years * WEEKS_PER_YEAR) + in->care_usd_per_week +
           in->idle_usd_per_h * HOURS_PER_WEEK;
}

/* What an hour of computing costs more than an hour of waiting. */
static double running_per_h(const ap_breakeven_input *in)
{
    return in->electricity_usd_per_h - in->idle_usd_per_h;
}

double ap_breakeven_rig_week(const ap_breakeven_input *in, double hours)
{
    return fixed_per_week(in) + hours * running_per_h(in);
}

double ap_breakeven_cloud_week(const ap_breakeven_input *in, double hours)
{
    return hours * in->cloud_run_usd / in->rig_run_h;
}

ap_breakeven ap_breakeven_of(const ap_breakeven_input *in)
{
    double saved_per_h =
        in->cloud_run_usd / in->rig_run_h - running_per_h(in); /* before what is due every week anyway */
    ap_breakeven b = {.rig_usd_per_week = ap_breakeven_rig_week(in, in->hours_per_week),
                      .cloud_usd_per_week = ap_breakeven_cloud_week(in, in->hours_per_week),
                      .hours_per_week = fixed_per_week(in) / saved_per_h};
    b.rig_run_usd = b.rig_usd_per_week / in->hours_per_week * in->rig_run_h;
    if (!ap_known(b.hours_per_week)) {
        b.never = "the run's length or a price is unknown";
    } else if (saved_per_h <= 0) {
        b.never = "rent costs less than the electricity alone";
        b.hours_per_week = AP_UNKNOWN;
    } else if (b.hours_per_week > HOURS_PER_WEEK) {
        b.never = "owning never wins: it would have to compute more than the 168 hours of a week";
        b.hours_per_week = AP_UNKNOWN;
    }
    double upkeep_per_week = in->care_usd_per_week + in->idle_usd_per_h * HOURS_PER_WEEK;
    double saved_per_month = (saved_per_h * in->hours_per_week - upkeep_per_week) * WEEKS_PER_MONTH;
    b.payback_months = saved_per_month > 0 ? in->price_usd / saved_per_month : AP_UNKNOWN;
    if (!ap_known(b.payback_months))
        b.no_payback = ap_known(saved_per_month) ? "at this use renting costs less than running the machine"
                                                 : "a figure is unknown";
    return b;
}
