#include "emit/watch.h"

#include <math.h>

#include "base/num.h"
#include "base/units.h"

#define WARN_AT 0.8

void ap_watch_init(ap_watch *watch, double usd_per_h, double budget_usd, double deadline_s, double total)
{
    *watch = (ap_watch){.usd_per_h = usd_per_h,
                        .budget_usd = budget_usd,
                        .deadline_s = deadline_s,
                        .total = total,
                        .done = AP_UNKNOWN,
                        .first_done = AP_UNKNOWN,
                        .first_s = AP_UNKNOWN};
}

double ap_watch_limit_s(const ap_watch *watch)
{
    double by_budget = watch->usd_per_h > 0 ? 3600 * watch->budget_usd / watch->usd_per_h : AP_UNKNOWN;
    return fmin(by_budget, watch->deadline_s); /* NaN gives the other one */
}

double ap_watch_cost_usd(const ap_watch *watch, double elapsed_s)
{
    return watch->usd_per_h * elapsed_s / 3600;
}

double ap_watch_end_s(const ap_watch *watch, double elapsed_s)
{
    double made = watch->done - watch->first_done, took = elapsed_s - watch->first_s;
    if (!(made > 0) || !(took > 0) || !(watch->total >= watch->done))
        return AP_UNKNOWN;
    return elapsed_s + (watch->total - watch->done) * took / made;
}

void ap_watch_step(ap_watch *watch, double elapsed_s, double done, double total)
{
    if (ap_known(total))
        watch->total = total;
    if (!ap_known(watch->first_done) || done < watch->done) {
        watch->first_done = done;
        watch->first_s = elapsed_s;
    }
    watch->done = done;
}

static void add(ap_sbuf *out, double value, ap_dim dim)
{
    ap_units_format(value, dim, out);
}

static void add_money(ap_sbuf *out, double usd)
{
    ap_sbuf_printf(out, usd < 1 ? "%.3f USD" : "%.2f USD", usd);
}

static double percent_of(double elapsed_s, double limit_s)
{
    return limit_s > 0 ? 100 * elapsed_s / limit_s : 100;
}

void ap_watch_say(const ap_watch *watch, double elapsed_s, ap_sbuf *out)
{
    double limit = ap_watch_limit_s(watch), end = ap_watch_end_s(watch, elapsed_s);
    add(out, elapsed_s, AP_DIM_SECONDS);
    if (ap_known(watch->usd_per_h)) {
        ap_sbuf_add(out, ", ");
        add_money(out, ap_watch_cost_usd(watch, elapsed_s));
    }
    if (ap_known(limit))
        ap_sbuf_printf(out, ", %.0f %% of the limit", percent_of(elapsed_s, limit));
    if (ap_known(watch->done))
        ap_sbuf_printf(out, ", step %.0f", watch->done);
    if (ap_known(watch->done) && ap_known(watch->total))
        ap_sbuf_printf(out, " of %.0f", watch->total);
    if (!ap_known(end))
        return;
    ap_sbuf_add(out, ", done after ");
    add(out, end, AP_DIM_SECONDS);
    if (ap_known(watch->usd_per_h)) {
        ap_sbuf_add(out, " at ");
        add_money(out, ap_watch_cost_usd(watch, end));
    }
}

bool ap_watch_warn(ap_watch *watch, double elapsed_s, ap_sbuf *out)
{
    double limit = ap_watch_limit_s(watch), end = ap_watch_end_s(watch, elapsed_s);
    if (!ap_known(limit))
        return false;
    if (!watch->warned && elapsed_s >= WARN_AT * limit) {
        watch->warned = true;
        ap_sbuf_printf(out, "%.0f %% of the limit is used: ", percent_of(elapsed_s, limit));
        ap_watch_say(watch, elapsed_s, out);
        return true;
    }
    /* Speed settles after a while: a tenth of the limit must have passed. */
    if (!watch->warned_end && elapsed_s > limit / 10 && end > limit) {
        watch->warned_end = true;
        ap_sbuf_add(out, "at this speed the job ends after ");
        add(out, end, AP_DIM_SECONDS);
        ap_sbuf_add(out, ", but the limit is ");
        add(out, limit, AP_DIM_SECONDS);
        return true;
    }
    return false;
}
