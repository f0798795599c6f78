/* Google sells machines in parts. The parts come as rows named by their descriptions; here they are put together for
 * the machines that the catalog knows (vCPUs, memory and chips of each). */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "prices/fetch.h"

#define GIB             1073741824.0
#define HOURS_PER_MONTH 730.0

typedef struct composing {
    ap_fetch *fetch;
    const ap_offer *parts;
    size_t part_count;
} composing;

/* Descriptions of spot parts begin with "Spot Preemptible " or "Preemptible ". */
static const char *past_prefix(const char *description)
{
    static const char *const prefixes[] = {"Spot Preemptible ", "Preemptible ", "Spot "};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (ap_starts_with(description, prefixes[i]))
            return description + strlen(prefixes[i]);
    return description;
}

static bool is_part(const ap_offer *part, const char *start)
{
    const char *text = part->instance ? past_prefix(part->instance) : "";
    size_t len = strlen(start);
    return !part->flag && ap_starts_with(text, start) && (text[len] == ' ' || text[len] == '\0') && part->native > 0;
}

static double part_price(const composing *c, const char *start, const ap_offer *like)
{
    for (size_t i = 0; start && i < c->part_count; i++)
        if (c->parts[i].kind == like->kind && ap_streq(c->parts[i].region, like->region) &&
            is_part(&c->parts[i], start))
            return c->parts[i].native;
    return AP_UNKNOWN;
}

/* `gpu` is the price of the chip in one region and kind. A machine without the price of a part is left out. */
static void compose(composing *c, const ap_price_family *family, const ap_instance *machine, const ap_offer *gpu)
{
    double price = machine->vcpus * part_price(c, family->core, gpu) +
                   machine->memory / GIB * part_price(c, family->ram, gpu) + machine->chip_count * gpu->native;
    if (family->ssd && machine->local_ssd > 0)
        price += machine->local_ssd / GIB * part_price(c, family->ssd, gpu) / HOURS_PER_MONTH;
    if (!ap_known(price))
        return;
    ap_row_sink *rows = &c->fetch->rows;
    ap_offer *made = AP_PUSH(c->fetch->arena, rows->offers.items, rows->offers.count, rows->capacity);
    *made = *gpu;
    made->instance = machine->name;
    made->count = machine->chip_count;
    made->vcpus = machine->vcpus;
    made->host_bytes = machine->memory;
    made->native = price;
    made->scope = "parts";
}

static void compose_family(composing *c, const ap_price_family *family)
{
    const ap_catalog *catalog = c->fetch->update->catalog;
    for (size_t i = 0; i < catalog->instances.count; i++) {
        const ap_instance *machine = &catalog->instances.items[i];
        if (!ap_streq(machine->cloud, c->fetch->provider->cloud) || !ap_starts_with(machine->name, family->machine) ||
            !ap_streq(machine->chip, family->chip))
            continue;
        for (size_t k = 0; k < c->part_count; k++)
            if (is_part(&c->parts[k], family->gpu))
                compose(c, family, machine, &c->parts[k]);
    }
}

void ap_compose_gcp(ap_fetch *fetch)
{
    composing c = {.fetch = fetch, .parts = fetch->rows.offers.items, .part_count = fetch->rows.offers.count};
    fetch->rows.offers = (ap_offers){0};
    fetch->rows.capacity = 0;
    for (size_t i = 0; i < fetch->provider->families.count; i++)
        compose_family(&c, &fetch->provider->families.items[i]);
    fetch->rows.rows_in = (double)c.part_count;
}
