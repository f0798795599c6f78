/* One result: price, whole bill, energy, carbon, and the limits it is held against. */
#include "base/human.h"
#include "base/num.h"
#include "plan/plan.h"

static double discounted(const ap_search *search, const ap_instance *instance, double usd_per_h)
{
    for (size_t i = 0; i < search->options->discounts.count; i++)
        if (ap_streq(search->options->discounts.items[i].cloud, instance->cloud))
            usd_per_h *= 1 - search->options->discounts.items[i].fraction;
    return usd_per_h;
}

void ap_result_set_price(ap_result *result, const ap_price *price, double usd_per_h)
{
    result->price = price;
    result->usd_per_h = usd_per_h;
    ap_bill_compute(&result->terms, &result->plan->run, result->setup_h, usd_per_h, &result->bill);
    result->hours_p10 = result->bill.hours[0];
    result->hours_p50 = result->bill.hours[1];
    result->hours_p90 = result->bill.hours[2];
    result->cost_p10 = result->bill.cost[0];
    result->cost_p50 = result->bill.cost[1];
    result->cost_p90 = result->bill.cost[2];
}

static const ap_plan_constants *constants_of(const ap_search *search, const ap_hardware *hw)
{
    static const char *const markets[] = {"cloud", "marketplace", "notebook", "free"};
    if (hw->rig)
        return &search->by_market[AP_MARKET_OWN];
    for (int i = 1; hw->instance && i < AP_MARKET_OWN; i++)
        if (ap_streq(hw->instance->market, markets[i]))
            return &search->by_market[i];
    return &search->constants;
}

/* A processor of laptops and desktops, or a chip of a Mac. */
static bool is_personal(const ap_chip *chip)
{
    static const char *const families[] = {"laptop", "desktop", "workstation"};
    bool personal = ap_streq(chip->vendor, "Apple");
    for (size_t i = 0; i < sizeof families / sizeof *families && chip->kind == AP_CHIP_CPU && chip->family; i++)
        personal = personal || ap_starts_with(chip->family, families[i]);
    return personal;
}

void ap_result_fill(const ap_search *search, const ap_plan *plan, const ap_price *price, int pricing, ap_result *ret)
{
    ret->plan = plan;
    ret->hw = ret->hw.chip ? ret->hw : plan->hw;
    const ap_instance *instance = ret->hw.instance;
    ret->price = price;
    ret->pricing = pricing;
    ret->usd_per_h = ret->hw.usd_per_h;
    if (price && instance)
        ret->usd_per_h = discounted(search, instance, ap_price_usd(price, pricing)) * ret->hw.machines;
    ret->region = price && instance ? ap_catalog_find_region(search->catalog, instance->cloud, price->region) : NULL;
    /* What stands on a desk runs already; a machine of a data centre starts, whether its price is known or not. */
    bool let = instance || price || ap_known(ret->usd_per_h) || !is_personal(ret->hw.chip);
    const ap_plan_constants *constants = let ? constants_of(search, &ret->hw) : &search->by_market[AP_MARKET_OWN];
    ret->setup_h = constants->provision_s / 3600;
    ap_bill_request bill = {.catalog = search->catalog,
                            .job = search->job,
                            .hw = &ret->hw,
                            .price = price,
                            .pricing = pricing,
                            .region = ret->region,
                            .constants = constants,
                            .hours_per_week = search->options->constraints.hours_per_week};
    ret->terms = ap_bill_terms_of(&bill);
    if (ret->hw.rig)
        ret->usd_per_h = ret->terms.electricity_usd_per_h + ret->terms.wear_usd_per_h;
    ap_result_set_price(ret, ret->price, ret->usd_per_h);
    ret->on_demand_usd = AP_UNKNOWN;
    if (pricing == AP_PRICE_SPOT && price && instance)
        ret->on_demand_usd =
            (plan->run.hours_p50 + ret->setup_h) * discounted(search, instance, price->on_demand) * ret->hw.machines;
    const ap_cloud *cloud = instance ? ap_catalog_find_cloud(search->catalog, instance->cloud) : NULL;
    double pue = ap_or(ret->region ? ret->region->pue : AP_UNKNOWN,
                       ap_or(cloud ? cloud->pue : AP_UNKNOWN, constants->usual_pue));
    ret->energy_kwh = plan->run.energy_kwh * pue;
    if (ret->hw.rig && ap_known(ret->hw.rig->power_w)) /* measured at the wall beats the chip's data sheet */
        ret->energy_kwh = ret->hw.rig->power_w / 1000 * ret->hw.machines * ap_or(ret->hw.rig->pue, 1) * ret->hours_p50;
    if (ret->hw.rig && ret->hw.rig->country)
        ret->region = ap_catalog_find_region(search->catalog, "world", ret->hw.rig->country);
    ret->co2_kg = ret->region ? ret->energy_kwh * ret->region->carbon_g_per_kwh / 1000 : AP_UNKNOWN;
    ret->score = AP_UNKNOWN;
}

static const ap_finding *finding(const ap_search *search, const char *id, const char *message)
{
    ap_finding *made = AP_NEW(search->arena, ap_finding);
    *made = (ap_finding){.id = id, .message = message};
    return made;
}

const ap_finding *ap_result_over_limit(const ap_search *search, const ap_result *result, double *ret_nearness)
{
    const ap_constraints *c = &search->options->constraints;
    ap_arena *arena = search->arena;
    double hours = result->hours_p50;
    double session = result->hw.instance ? result->hw.instance->session_limit_s : AP_UNKNOWN;
    if (ap_known(c->deadline_s) && hours * 3600 > c->deadline_s) {
        *ret_nearness = hours * 3600 / c->deadline_s;
        return finding(search, "AP8010",
                       ap_arena_printf(arena, "takes %s, the deadline is %s", ap_human_hours_text(arena, hours),
                                       ap_human_hours_text(arena, c->deadline_s / 3600)));
    }
    if (ap_known(c->budget_usd) && result->cost_p50 > c->budget_usd) {
        *ret_nearness = result->cost_p50 / c->budget_usd;
        return finding(search, "AP8011",
                       ap_arena_printf(arena, "costs %s USD, the budget is %s USD",
                                       ap_human_usd_text(arena, result->cost_p50),
                                       ap_human_usd_text(arena, c->budget_usd)));
    }
    if (ap_known(c->max_price_usd_per_h) && result->usd_per_h > c->max_price_usd_per_h) {
        *ret_nearness = result->usd_per_h / c->max_price_usd_per_h;
        return finding(search, "AP8012",
                       ap_arena_printf(arena, "%s USD/h is over the limit of %s USD/h",
                                       ap_human_usd_text(arena, result->usd_per_h),
                                       ap_human_usd_text(arena, c->max_price_usd_per_h)));
    }
    double longest =
        result->hours_p90; /* a session that ends too soon loses everything, so the pessimistic figure counts */
    if (ap_known(session) && longest * 3600 > session) {
        *ret_nearness = longest * 3600 / session;
        return finding(search, "AP8013",
                       ap_arena_printf(arena, "may take %s, a session there ends after %s",
                                       ap_human_hours_text(arena, longest),
                                       ap_human_hours_text(arena, session / 3600)));
    }
    return NULL;
}

static void add_warning(ap_result *result, ap_arena *arena, ap_finding finding)
{
    ap_finding *items = AP_NEW_ARRAY(arena, ap_finding, result->warnings.count + 1);
    for (size_t i = 0; i < result->warnings.count; i++)
        items[i] = result->warnings.items[i];
    items[result->warnings.count] = finding;
    result->warnings.items = items;
    result->warnings.count++;
}

void ap_result_warn_of_price(ap_result *result, ap_arena *arena)
{
    if (result->share)
        add_warning(result, arena, *result->share);
    if (!(result->terms.interruptions_per_h > 0))
        return;
    const char *message = NULL;
    if (!ap_known(result->hours_p50))
        message = "without checkpoints this run would not end on spot machines";
    else if (result->cost_p50 >= result->on_demand_usd)
        message =
            ap_arena_printf(arena,
                            "spot is not worth it here: with %.2g expected interruptions and %.2g h lost it costs %.4g "
                            "USD, on-demand %.4g USD",
                            result->bill.interruptions, result->bill.extra_h, result->cost_p50, result->on_demand_usd);
    if (!message)
        return;
    add_warning(result, arena, (ap_finding){.id = "AP8040", .message = message});
}
