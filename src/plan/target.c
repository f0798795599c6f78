#include "plan/target.h"

static ap_hardware hardware_of(const ap_catalog *catalog, const ap_target *target)
{
    if (target->rig)
        return ap_hardware_of_rig(catalog, target->rig, target->units);
    if (target->instance && !target->is_chip_target)
        return ap_hardware_of_instance(catalog, target->instance, target->units);
    ap_hardware hw = ap_hardware_of_chip(target->chip, target->chip_count);
    hw.hosts = hw.machines = target->nodes;
    hw.chips_per_host = target->chips_per_node;
    return hw;
}

void ap_search_target(ap_search *search, const ap_target *target, ap_result *ret)
{
    ap_hardware hw = hardware_of(search->catalog, target);
    const ap_plan *plan = ap_search_plan(search, &hw);
    *ret = (ap_result){.hw = hw, .target = target->text, .priced_from = target->priced_from};
    ap_result_fill(search, plan, target->price, target->pricing, ret);
    if (target->is_chip_target)
        ap_result_set_price(ret, target->price, target->price_usd_per_h);
}

ap_status ap_search_parse_targets(const ap_search *search, const char *const *texts, size_t count, ap_diags *diags,
                                  ap_target **ret_targets)
{
    const ap_constraints *limits = &search->options->constraints;
    int pricing = limits->pricing.count == 1 ? ap_price_kind_parse(limits->pricing.items[0]) : AP_PRICE_ON_DEMAND;
    ap_target_options options = {.pricing = pricing < 0 ? AP_PRICE_ON_DEMAND : pricing,
                                 .region_globs = limits->regions.count ? &limits->regions : NULL,
                                 .cloud_globs = limits->clouds.count ? &limits->clouds : NULL};
    ap_target *targets = AP_NEW_ARRAY(search->arena, ap_target, count);
    ap_status worst = AP_OK;
    for (size_t i = 0; i < count; i++) {
        ap_status status = ap_target_parse(search->catalog, texts[i], &options, search->arena, diags, &targets[i]);
        worst = status > worst ? status : worst;
    }
    *ret_targets = targets;
    return worst;
}
