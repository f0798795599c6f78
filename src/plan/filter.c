/* Constraints that need no estimate. Each refusal says what was asked and what the machine has. */
#include <string.h>

#include "base/num.h"
#include "plan/plan.h"

const char *const ap_grouping_names[] = {"none", "instance", "chip", "cloud", "region", NULL};

static const ap_finding *refuse(const ap_search *search, const char *id, const char *message)
{
    ap_finding *finding = AP_NEW(search->arena, ap_finding);
    *finding = (ap_finding){.id = id, .message = message};
    return finding;
}

static bool matches_any(const ap_strings *globs, const char *text)
{
    for (size_t i = 0; i < globs->count; i++)
        if (text && ap_glob_match(globs->items[i], text))
            return true;
    return false;
}

/* A name without wildcard may be any spelling of the chip; the caller has resolved those to ids beforehand. */
static bool chip_asked_for(const ap_search *search, const ap_chip *chip)
{
    const ap_strings *globs = &search->options->constraints.chip_globs;
    return globs->count == 0 || matches_any(globs, chip->id);
}

static const ap_finding *check_names(const ap_search *search, const ap_instance *instance, const ap_chip *chip)
{
    const ap_constraints *c = &search->options->constraints;
    const char *full = ap_arena_printf(search->arena, "%s/%s", instance->cloud, instance->name);
    if (c->clouds.count && !matches_any(&c->clouds, instance->cloud))
        return refuse(search, "AP8001", "another cloud than asked for");
    if (!chip_asked_for(search, chip))
        return refuse(search, "AP8002", "another chip than asked for");
    if (matches_any(&c->exclude, instance->cloud) || matches_any(&c->exclude, chip->id) ||
        matches_any(&c->exclude, instance->name) || matches_any(&c->exclude, full))
        return refuse(search, "AP8003", "excluded by name");
    return NULL;
}

/* Portable: at least two independent sellers have the chip. TPUs and Trainium have one; notebooks are not sellers. */
static bool sold_by_several(const ap_search *search, const char *chip)
{
    const char *first = NULL;
    for (size_t i = 0; i < search->catalog->instances.count; i++) {
        const ap_instance *other = &search->catalog->instances.items[i];
        if (!ap_streq(other->chip, chip) || ap_streq(other->market, "notebook") || ap_streq(other->market, "free"))
            continue;
        if (first && !ap_streq(first, other->cloud))
            return true;
        first = other->cloud;
    }
    return false;
}

const ap_finding *ap_filter_instance(const ap_search *search, const ap_instance *instance, const ap_chip *chip)
{
    const ap_constraints *c = &search->options->constraints;
    const ap_finding *names = check_names(search, instance, chip);
    if (names)
        return names;
    if (chip->kind != AP_CHIP_CPU && !ap_range_contains(c->memory_bytes, chip->memory.size) &&
        (ap_known(c->memory_bytes.low) || ap_known(c->memory_bytes.high)))
        return refuse(search, "AP8004",
                      ap_arena_printf(search->arena, "card memory %.0f GiB is outside the range asked for",
                                      chip->memory.size / 1073741824.0));
    bool host_asked = ap_known(c->host_memory.low) || ap_known(c->host_memory.high);
    if (host_asked && !ap_range_contains(c->host_memory, instance->memory))
        return refuse(search, "AP8005",
                      ap_arena_printf(search->arena, "host memory %.0f GiB is outside the range asked for",
                                      instance->memory / 1073741824.0));
    if (c->portable == 1 && !sold_by_several(search, instance->chip))
        return refuse(search, "AP1016", ap_arena_printf(search->arena, "only one cloud has %s", chip->name));
    return NULL;
}

bool ap_filter_region(const ap_search *search, const ap_instance *instance, const char *region)
{
    const ap_constraints *c = &search->options->constraints;
    if (matches_any(&c->exclude, region))
        return false;
    if (c->regions.count == 0 || matches_any(&c->regions, region))
        return true;
    return matches_any(&c->regions, ap_arena_printf(search->arena, "%s/%s", instance->cloud, region));
}

bool ap_filter_pricing(const ap_search *search, int pricing)
{
    const ap_strings *asked = &search->options->constraints.pricing;
    if (asked->count == 0)
        return pricing == AP_PRICE_ON_DEMAND;
    for (size_t i = 0; i < asked->count; i++) {
        const char *word = asked->items[i];
        if (ap_streq(word, "any") || ap_streq(word, ap_price_kind_name(pricing)) ||
            (ap_streq(word, "reserved") && pricing >= AP_PRICE_RESERVED_1Y))
            return true;
    }
    return false;
}
