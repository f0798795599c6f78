/* From one row of an answer to offers: a price for each price column and region. */
#include <string.h>

#include "base/num.h"
#include "prices/record.h"

static const char *copy(ap_row_sink *sink, const char *text)
{
    return ap_arena_strdup(sink->arena, text);
}

static double scaled(const ap_record *record, const char *where, double scale)
{
    return ap_record_number(record, where) * (ap_known(scale) ? scale : 1);
}

static void fill_machine(ap_row_sink *sink, const ap_record *record, ap_offer *offer)
{
    const ap_price_fields *f = &sink->provider->fields;
    const char *cloud = ap_record_text(record, f->cloud);
    offer->source = sink->provider->id;
    offer->cloud = cloud ? copy(sink, cloud) : sink->provider->cloud;
    const char *name = ap_record_text(record, f->instance);
    size_t cut = name && f->instance_cut && ap_ends_with(name, f->instance_cut) ? strlen(f->instance_cut) : 0;
    offer->instance = name ? ap_arena_strndup(sink->arena, name, strlen(name) - cut) : NULL;
    offer->raw_chip = copy(sink, ap_record_text(record, f->chip));
    offer->form = copy(sink, ap_record_text(record, f->chip_form));
    offer->count = f->count ? ap_record_number(record, f->count) : AP_UNKNOWN;
    offer->vcpus = ap_record_number(record, f->vcpus);
    offer->host_bytes = scaled(record, f->host_memory, f->host_memory_scale);
    offer->chip_bytes = scaled(record, f->chip_memory, f->chip_memory_scale);
    if (f->chip_memory_total == 1)
        offer->chip_bytes /= offer->count;
    offer->market = sink->provider->market ? sink->provider->market : "cloud";
    offer->scope = "node";
}

/* Amount of a price column: NaN with kind MISSING stays unknown; "not a number" is told apart by settle through flag.
 */
static bool fill_price(ap_row_sink *sink, const ap_record *record, const ap_price_column *column, ap_offer *offer)
{
    ap_cell cell = ap_record_cell(record, column->value);
    if (cell.kind == AP_CELL_NULL)
        return false; /* "no such price" is said with null and with an empty cell */
    offer->kind = column->kind;
    offer->native = scaled(record, column->value, column->scale);
    offer->flag = cell.kind == AP_CELL_MISSING ? "missing" : !ap_known(offer->native) ? "type" : NULL;
    if (cell.kind == AP_CELL_NUMBER && !isfinite(cell.number))
        offer->flag = "not finite";
    if (column->per_chip == 1) {
        offer->native *= ap_or(offer->count, 1);
        offer->scope = "chip";
    }
    for (size_t i = 0; i < column->add.count; i++) {
        double times = column->add.items[i].times ? ap_record_number(record, column->add.items[i].times) : 1;
        offer->native += scaled(record, column->add.items[i].value, column->scale) * times;
        offer->scope = "parts";
    }
    if (!ap_known(offer->native) && !offer->flag)
        offer->flag = "a part has no price";
    if (column->half == 1) {
        offer->native /= 2;
        offer->derived = 1;
    }
    const char *currency = column->currency && strchr("/.=$", column->currency[0])
                               ? ap_record_text(record, column->currency)
                               : column->currency;
    offer->currency = currency && strcmp(currency, "USD") != 0 ? copy(sink, currency) : NULL;
    return true;
}

static void push(ap_row_sink *sink, const ap_offer *offer, const char *region)
{
    ap_offer *made = AP_PUSH(sink->arena, sink->offers.items, sink->offers.count, sink->capacity);
    *made = *offer;
    made->region = region && *region ? copy(sink, region) : "global";
}

static void push_regions(ap_row_sink *sink, const ap_record *record, const ap_offer *offer)
{
    const ap_price_fields *f = &sink->provider->fields;
    ap_cell list = f->regions ? ap_record_cell(record, f->regions) : (ap_cell){.kind = AP_CELL_MISSING};
    if (!f->regions) {
        push(sink, offer, ap_record_text(record, f->region));
        return;
    }
    size_t before = sink->offers.count;
    for (const cJSON *item = list.node ? list.node->child : NULL; item; item = item->next) {
        if (ap_streq(f->region, "$key")) { /* a mapping by region */
            if (item->string)
                push(sink, offer, item->string);
            continue;
        }
        const cJSON *named = f->region ? ap_json_pointer(item, f->region) : item;
        if (cJSON_IsString(named))
            push(sink, offer, named->valuestring);
    }
    if (sink->offers.count == before) /* no capacity anywhere just now: still the list price */
        push(sink, offer, NULL);
}

void ap_row_take(ap_row_sink *sink, const ap_record *record)
{
    const ap_provider *p = sink->provider;
    if (!ap_record_passes(record, p->where.items, p->where.count))
        return;
    ap_offer offer = {.native = AP_UNKNOWN, .usd_per_h = AP_UNKNOWN};
    fill_machine(sink, record, &offer);
    bool any = false;
    for (size_t i = 0; i < p->prices.count; i++) {
        const ap_price_column *column = &p->prices.items[i];
        ap_offer priced = offer;
        if (!ap_record_passes(record, column->when.items, column->when.count) ||
            !fill_price(sink, record, column, &priced))
            continue;
        any = true;
        push_regions(sink, record, &priced);
    }
    sink->rows_in += any;
}
