#include "plan/bill.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

#define HOURS_PER_MONTH 730.0
#define WEEKS_PER_YEAR  52.18
#define GB              1e9
#define MOST_IN_ONE_PIECE                                                                                              \
    5.0 /* expected interruptions of a run without checkpoints: thirty times its hours, then it counts as endless */

const char *const ap_bill_item_names[AP_BILL_COUNT] = {"compute",
                                                       "boot and image pull",
                                                       "interruptions",
                                                       "billing step",
                                                       "storage",
                                                       "egress",
                                                       "set-up hours",
                                                       "controller",
                                                       "electricity",
                                                       "depreciation of the machine",
                                                       "upkeep"};

/* ---- spot -------------------------------------------------------------------------------------------------------- */

double ap_bill_rate_of_month(double share)
{
    return -log(1 - fmin(share, 0.999)) / HOURS_PER_MONTH;
}

/* With checkpoints an hour holds 1 - rate x lost hours of work that stays. Without, a run of T hours must get through
 * without any interruption: (e^(rate T) - 1) / rate hours are expected until it does. */
double ap_bill_interrupted_h(double hours, double rate, double lost_h, double restart_h)
{
    if (!(rate > 0) || !ap_known(hours))
        return hours;
    if (ap_known(lost_h)) {
        double stays = 1 - rate * lost_h;
        return stays > 0.02 ? hours / stays : (double)INFINITY;
    }
    return rate * hours < MOST_IN_ONE_PIECE ? (exp(rate * hours) - 1) * (1 / rate + restart_h) : (double)INFINITY;
}

static double month_share(const ap_plan_constants *k, const char *band)
{
    static const char *const bands[] = {"<5%", "5-10%", "10-15%", "15-20%", ">20%"};
    const double shares[] = {k->spot_band_0, k->spot_band_1, k->spot_band_2, k->spot_band_3, k->spot_band_4};
    for (size_t i = 0; band && i < sizeof bands / sizeof *bands; i++)
        if (ap_streq(bands[i], band))
            return shares[i];
    return k->spot_per_month;
}

static void fill_spot(const ap_bill_request *r, ap_bill_terms *t)
{
    const ap_workload *w = r->job->workload;
    if (r->pricing != AP_PRICE_SPOT || !r->price)
        return;
    t->interruptions_per_h =
        ap_bill_rate_of_month(month_share(r->constants, r->price->spot_interruption)) * fmax(r->hw->hosts, 1);
    t->restart_h = r->constants->spot_restart_s / 3600;
    double every_h = ap_or(w ? w->checkpoint_every_s : AP_UNKNOWN, r->constants->checkpoint_every_s) / 3600;
    bool saves = !w || w->checkpoints != 0 || ap_known(w->checkpoint_every_s);
    t->lost_h = saves ? every_h / 2 + t->restart_h : AP_UNKNOWN;
}

/* ---- storage, transfer ------------------------------------------------------------------------------------------- */

static double data_bytes(const ap_job *job)
{
    if (job->dataset && ap_known(job->dataset->bytes))
        return job->dataset->bytes;
    return ap_or(job->samples_per_epoch, job->dataset ? job->dataset->samples : AP_UNKNOWN) * job->sample_bytes;
}

/* A full checkpoint; adapters are a hundredth of that and not counted. */
static double checkpoint_bytes(const ap_job *job, const ap_plan_constants *k)
{
    bool adapters = job->method == AP_METHOD_LORA || job->method == AP_METHOD_QLORA;
    return adapters ? 0 : ap_or(job->model.params, 0) * k->checkpoint_bytes_per_param;
}

static void fill_storage(const ap_bill_request *r, const ap_cloud *cloud, ap_bill_terms *t)
{
    double bytes = ap_or(data_bytes(r->job), 0) + checkpoint_bytes(r->job, r->constants);
    bool notebook =
        r->hw->instance && (ap_streq(r->hw->instance->market, "notebook") || ap_streq(r->hw->instance->market, "free"));
    if (!cloud || notebook || !(bytes > 0))
        return;
    if (!ap_known(cloud->storage_usd_per_gb_month))
        t->unknown |= 1U << AP_BILL_STORAGE;
    else
        t->storage_usd_per_h = bytes / GB * cloud->storage_usd_per_gb_month / HOURS_PER_MONTH;
}

/* The cloud that data.region is of: "aws/us-east-1", or a region that only one cloud has. */
static const ap_region *data_region(const ap_catalog *catalog, const char *text)
{
    const char *slash = strchr(text, '/');
    const ap_region *only = NULL;
    for (size_t i = 0; i < catalog->regions.count; i++) {
        const ap_region *region = &catalog->regions.items[i];
        bool same = slash ? strncmp(region->cloud, text, (size_t)(slash - text)) == 0 &&
                                region->cloud[slash - text] == '\0' && ap_streq(region->id, slash + 1)
                          : ap_streq(region->id, text);
        if (same && only)
            return NULL;
        only = same ? region : only;
    }
    return only;
}

static void fill_egress(const ap_bill_request *r, const ap_cloud *cloud, ap_bill_terms *t)
{
    const char *wanted = r->job->workload ? r->job->workload->data.region : NULL;
    const char *here = r->price ? r->price->region : NULL;
    if (!wanted || !cloud || !here)
        return;
    const char *slash = strchr(wanted, '/');
    const ap_region *from = data_region(r->catalog, wanted);
    bool same_cloud = (from && ap_streq(from->cloud, cloud->id)) ||
                      (!from && slash && strncmp(cloud->id, wanted, strlen(cloud->id)) == 0);
    if (ap_streq(slash ? slash + 1 : wanted, here) && (same_cloud || !from))
        return;
    const ap_cloud *source = from ? ap_catalog_find_cloud(r->catalog, from->cloud) : NULL;
    double usd_per_gb = source ? source->egress_usd_per_gb : AP_UNKNOWN;
    if (ap_known(usd_per_gb) && same_cloud)
        usd_per_gb = fmin(usd_per_gb, r->constants->transfer_usd_per_gb);
    double usd = data_bytes(r->job) / GB * usd_per_gb;
    if (ap_known(usd))
        t->egress_usd = usd;
    else
        t->unknown |= 1U << AP_BILL_EGRESS;
}

/* ---- own machine ------------------------------------------------------------------------------------------------- */

ap_own_cost ap_own_cost_of(const ap_catalog *catalog, const ap_rig *rig, const ap_plan_constants *k,
                           double hours_per_week)
{
    const ap_chip *chip = ap_catalog_chip(catalog, rig->chip);
    const ap_region *place = rig->country ? ap_catalog_find_region(catalog, "world", rig->country) : NULL;
    ap_own_cost cost = {.price_usd = rig->price_usd,
                        .years = ap_or(rig->depreciation_years, k->own_years),
                        .resale = ap_or(rig->resale_fraction, 0)};
    if (!ap_known(cost.price_usd) && chip)
        cost.price_usd = ap_or(rig->chip_count, 1) * chip->price.usd + ap_or(rig->rest_usd, 0);
    cost.electricity_usd_per_kwh =
        ap_or(rig->electricity_usd_per_kwh, place ? place->electricity_usd_per_kwh : AP_UNKNOWN);
    cost.electricity_from = ap_known(rig->electricity_usd_per_kwh)            ? "the rig's own"
                            : place && ap_known(cost.electricity_usd_per_kwh) ? place->location
                                                                              : "assumed";
    cost.electricity_usd_per_kwh = ap_or(cost.electricity_usd_per_kwh, k->own_electricity_usd_per_kwh);
    double power_w = ap_or(rig->power_w, chip ? 1.3 * chip->tdp_w * ap_or(rig->chip_count, 1) : AP_UNKNOWN);
    cost.electricity_usd_per_h = power_w / 1000 * ap_or(rig->pue, 1) * cost.electricity_usd_per_kwh;
    double wear_per_week = cost.price_usd * (1 - cost.resale) / (cost.years * WEEKS_PER_YEAR);
    double care_per_week = ap_or(rig->admin_h_per_month, 0) * 12 / WEEKS_PER_YEAR * k->own_admin_usd_per_h;
    cost.wear_usd_per_week = wear_per_week;
    cost.care_usd_per_week = care_per_week;
    cost.wear_usd_per_h = wear_per_week / hours_per_week;
    return cost;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

ap_bill_terms ap_bill_terms_of(const ap_bill_request *r)
{
    const ap_instance *instance = r->hw->instance;
    const ap_cloud *cloud = instance ? ap_catalog_find_cloud(r->catalog, instance->cloud) : NULL;
    ap_bill_terms t = {.billing_step_s = AP_UNKNOWN, .billing_least_s = AP_UNKNOWN};
    if (r->hw->rig) {
        double week_h = ap_or(r->hours_per_week, r->constants->own_hours_per_week);
        ap_own_cost own = ap_own_cost_of(r->catalog, r->hw->rig, r->constants, week_h);
        t.own = 1;
        t.electricity_usd_per_h = own.electricity_usd_per_h * r->hw->machines;
        t.wear_usd_per_h = own.wear_usd_per_h * r->hw->machines;
        if (own.care_usd_per_week > 0) /* what an hour of one's own time is worth is nobody else's to say */
            t.unknown |= 1U << AP_BILL_CARE;
        return t;
    }
    if (cloud) {
        t.billing_step_s = cloud->billing_granularity_s;
        t.billing_least_s = cloud->billing_minimum_s;
    }
    fill_spot(r, &t);
    fill_storage(r, cloud, &t);
    fill_egress(r, cloud, &t);
    t.hands_on_h = r->job->workload ? ap_or(r->job->workload->bill.setup_s, 0) / 3600 : 0;
    t.controller_usd_per_h = r->job->workload ? ap_or(r->job->workload->bill.controller_usd_per_h, 0) : 0;
    return t;
}

static double billed_h(const ap_bill_terms *t, double hours)
{
    double used = hours * 3600, seconds = fmax(used, ap_or(t->billing_least_s, 0));
    if (t->billing_step_s > 1) /* a second's step changes nothing that anyone could see */
        seconds = ceil(seconds / t->billing_step_s - 1e-9) * t->billing_step_s;
    return seconds > used ? seconds / 3600 : hours; /* exact where nothing is rounded, so that no dust becomes an item */
}

static double total(const ap_bill_terms *t, double hours, double usd_per_h)
{
    return (billed_h(t, hours) + t->hands_on_h) * usd_per_h + hours * (t->storage_usd_per_h + t->controller_usd_per_h) +
           t->egress_usd;
}

/* Chance alone spreads the number of interruptions as the square root of what is expected. Below 0.105 of them, nine
 * runs in ten see none. */
static void fill_bands(const ap_bill_terms *t, const ap_run_estimate *run, double setup_h, double usd_per_h, ap_bill *b)
{
    const double hours[3] = {run->hours_p10, run->hours_p50, run->hours_p90};
    bool rare = b->interruptions < 0.105;
    double spread = rare ? 1 : 1.28 / sqrt(b->interruptions);
    const double luck[3] = {fmax(0, 1 - spread), 1, rare ? 0 : 1 + spread};
    for (int i = 0; i < 3; i++) {
        double extra = ap_bill_interrupted_h(hours[i], t->interruptions_per_h, t->lost_h, t->restart_h) - hours[i];
        b->hours[i] = isfinite(extra) ? setup_h + hours[i] + (extra > 0 ? extra * luck[i] : 0) : AP_UNKNOWN;
        b->cost[i] = total(t, b->hours[i], usd_per_h);
    }
}

void ap_bill_compute(const ap_bill_terms *t, const ap_run_estimate *run, double setup_h, double usd_per_h, ap_bill *b)
{
    memset(b, 0, sizeof *b);
    double hours = run->hours_p50, with = ap_bill_interrupted_h(hours, t->interruptions_per_h, t->lost_h, t->restart_h);
    b->extra_h = with - hours;
    b->interruptions = t->interruptions_per_h * with;
    fill_bands(t, run, setup_h, usd_per_h, b);
    if (t->own) {
        b->usd[AP_BILL_ELECTRICITY] = b->hours[1] * t->electricity_usd_per_h;
        b->usd[AP_BILL_WEAR] = b->hours[1] * t->wear_usd_per_h;
        return;
    }
    b->usd[AP_BILL_COMPUTE] = hours * usd_per_h;
    b->usd[AP_BILL_BOOT] = setup_h * usd_per_h;
    b->usd[AP_BILL_INTERRUPTIONS] = b->extra_h * usd_per_h;
    b->usd[AP_BILL_ROUNDING] = (billed_h(t, b->hours[1]) - b->hours[1]) * usd_per_h;
    b->usd[AP_BILL_STORAGE] = b->hours[1] * t->storage_usd_per_h;
    b->usd[AP_BILL_EGRESS] = t->egress_usd;
    b->usd[AP_BILL_HANDS_ON] = t->hands_on_h * usd_per_h;
    b->usd[AP_BILL_CONTROLLER] = b->hours[1] * t->controller_usd_per_h;
}
