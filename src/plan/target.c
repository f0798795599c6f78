#include "plan/target.h"

#include "base/num.h"

void ap_hardware_let_out(ap_hardware *hw, const ap_target *target)
{
    const ap_instance *instance = target->instance;
    if (!target->is_chip_target || !instance || target->chip->kind != AP_CHIP_CPU || !ap_known(instance->vcpus))
        return;
    hw->threads_per_core = ap_instance_threads_per_core(instance, target->chip);
    double whole = target->chip->cpu.cores * target->chips_per_node * hw->threads_per_core;
    hw->vcpus = fmin(instance->vcpus, ap_or(whole, instance->vcpus));
    hw->threads = hw->vcpus * target->units;
    hw->memory_bytes = instance->memory;
}

/* What is paid for beside what was asked for, or NULL when it is the same. */
static const char *share_text(const ap_result *result, const ap_target *target, ap_arena *arena)
{
    const ap_chip *chip = target->chip;
    double used = target->chips_per_node, size = target->instance->chip_count;
    bool parts = chip->kind == AP_CHIP_CPU && ap_known(result->hw.threads);
    double whole = used * chip->cpu.cores * ap_or(result->hw.threads_per_core, 2);
    if (parts && target->instance->vcpus < 0.995 * whole)
        return ap_arena_printf(arena, "%s has %.0f of the %.0f threads of %g x %s: time and price are of that part",
                               target->priced_from, target->instance->vcpus, whole, used, chip->name);
    if (parts && target->instance->vcpus > 1.005 * whole)
        return ap_arena_printf(arena, "%s is a machine of %.0f threads, %.0f used: the whole machine is paid for",
                               target->priced_from, target->instance->vcpus, whole);
    if (!parts && target->units * size > target->chip_count)
        return ap_arena_printf(arena, "%s is a machine of %g chips, %g used: the whole machine is paid for",
                               target->priced_from, size, target->chip_count / target->units);
    return NULL;
}

void ap_result_warn_of_share(ap_result *result, const ap_target *target, ap_arena *arena)
{
    if (!target->is_chip_target || !target->instance || !target->priced_from)
        return;
    const char *message = share_text(result, target, arena);
    if (!message)
        return;
    ap_finding *item = AP_NEW(arena, ap_finding);
    *item = (ap_finding){.id = "AP8041",
                         .message = message,
                         .fix = ap_arena_printf(arena, "--on %s/%s shows the whole of it", target->instance->cloud,
                                                target->instance->name)};
    result->share = item;
    if (result->hw.chip->kind != AP_CHIP_CPU)
        result->paid_chips = target->units * target->instance->chip_count;
}

static ap_hardware hardware_of(const ap_catalog *catalog, const ap_target *target)
{
    if (target->rig)
        return ap_hardware_of_rig(catalog, target->rig, target->units);
    if (target->instance && !target->is_chip_target)
        return ap_hardware_of_instance(catalog, target->instance, target->units);
    ap_hardware hw = ap_hardware_of_chip(target->chip, target->chip_count);
    hw.hosts = hw.machines = target->nodes;
    hw.chips_per_host = target->chips_per_node;
    ap_hardware_let_out(&hw, target);
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
    ap_result_warn_of_share(ret, target, search->arena);
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
