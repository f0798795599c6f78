/* Which container image runs on a chip, and how schedulers spell it. */
#include <string.h>

#include "base/text.h"
#include "emit/internal.h"

static bool has(const ap_strings *list, const char *word)
{
    for (size_t i = 0; word && i < list->count; i++)
        if (strcmp(list->items[i], word) == 0)
            return true;
    return false;
}

static const char *host_arch(const ap_emit_plan *plan)
{
    const ap_instance *instance = plan->result->hw.instance;
    const ap_chip *chip = plan->chip_info;
    const ap_chip *cpu = chip->kind == AP_CHIP_CPU   ? chip
                         : instance && instance->cpu ? ap_catalog_chip(plan->request->search->catalog, instance->cpu)
                                                     : NULL;
    bool arm = cpu && cpu->arch && ap_starts_with(cpu->arch, "neon");
    /* Superchips bring their own Arm processor. */
    bool grace =
        ap_starts_with(chip->id, "gh200") || ap_starts_with(chip->id, "gb200") || ap_starts_with(chip->id, "gb300");
    return arm || grace || ap_streq(chip->id, "t4g") ? "aarch64" : "x86_64";
}

typedef struct choice {
    const ap_image *image;
    int score;
} choice;

/* Made for the stack beats made for the framework; a source beats memory; made for the cloud beats general. -1: no. */
static int rate(const ap_image *image, const ap_emit_plan *plan, const char *host)
{
    const ap_chip *chip = plan->chip_info;
    bool stack = has(&image->frameworks, plan->stack) ||
                 (ap_streq(plan->launcher, "megatron") && has(&image->frameworks, "megatron"));
    bool runs = has(&image->kinds, ap_chip_kind_name(chip->kind)) &&
                (chip->kind == AP_CHIP_CPU || image->archs.count == 0 || has(&image->archs, chip->arch));
    bool hosted = image->hosts.count ? has(&image->hosts, host) : ap_streq(host, "x86_64");
    bool anywhere = image->clouds.count == 0, here = anywhere || !plan->cloud || has(&image->clouds, plan->cloud);
    if (!runs || !hosted || !here || !(stack || has(&image->frameworks, plan->framework)))
        return -1;
    return 8 * stack + 4 * (image->from.confidence != AP_CONF_MEMORY) + (anywhere ? 1 : plan->cloud ? 2 : 0);
}

const ap_image *ap_emit_choose_image(const ap_catalog *catalog, const ap_emit_plan *plan, const char **ret_reason)
{
    const ap_chip *chip = plan->chip_info;
    choice best = {NULL, -1};
    bool for_chip = false;
    const char *host = host_arch(plan);
    for (size_t i = 0; i < catalog->images.count; i++) {
        const ap_image *image = &catalog->images.items[i];
        int score = rate(image, plan, host);
        for_chip = for_chip || has(&image->archs, chip->arch);
        if (score > best.score)
            best = (choice){image, score};
    }
    if (!best.image && chip->kind != AP_CHIP_CPU && !for_chip)
        *ret_reason = ap_arena_printf(plan->arena, "no container image of the catalog runs on %s (%s)", plan->chip_name,
                                      chip->arch ? chip->arch : "target unknown");
    else if (!best.image)
        *ret_reason =
            ap_arena_printf(plan->arena, "no container image of the catalog has %s for %s (%s) on %s hosts",
                            plan->framework, plan->chip_name, chip->arch ? chip->arch : "target unknown", host);
    return best.image;
}

const char *ap_emit_image_reference(const ap_emit_plan *plan, const char *reference)
{
    const char *region = strstr(reference, "REGION");
    if (region)
        reference = ap_arena_printf(plan->arena, "%.*s%s%s", (int)(region - reference), reference,
                                    plan->region ? plan->region : "us-east-1", region + strlen("REGION"));
    if (!plan->settings->registry)
        return reference;
    size_t len = strlen(plan->settings->registry);
    while (len > 0 && plan->settings->registry[len - 1] == '/')
        len--;
    return ap_arena_printf(plan->arena, "%.*s/%s", (int)len, plan->settings->registry, reference);
}

const char *ap_emit_spelling(const ap_catalog *catalog, const char *provider, const char *where, const ap_chip *chip)
{
    const ap_name *best = NULL;
    for (size_t i = 0; i < catalog->names.count; i++) {
        const ap_name *name = &catalog->names.items[i];
        bool fits = ap_streq(name->provider, provider) && ap_streq(name->chip, chip->id) &&
                    !(name->count > 1 || name->count < 1);
        if (!fits || (where && !(name->where && strstr(name->where, where))))
            continue;
        if (name->from.notes && (strstr(name->from.notes, "MIG") || strstr(name->from.notes, "deprecated")))
            continue;
        if (!best || name->from.confidence < best->from.confidence)
            best = name;
    }
    return best ? best->name : NULL;
}

const char *ap_emit_family_spelling(const ap_catalog *catalog, const char *provider, const ap_chip *chip)
{
    for (size_t i = 0; i < catalog->names.count; i++) {
        const ap_name *name = &catalog->names.items[i];
        if (ap_streq(name->provider, provider) && has(&name->any_of, chip->id) && !(name->count > 1))
            return name->name;
    }
    return NULL;
}
