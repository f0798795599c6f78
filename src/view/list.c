/* list KIND: the catalog, filtered. Chips and instances have the contract's own keys; the other kinds are their records. */
#include "base/num.h"
#include "catalog/tables.h"
#include "view/record.h"
#include "view/put.h"
#include "view/view.h"

#define GIB 1073741824.0

static bool matches(const ap_strings *globs, const char *text)
{
    for (size_t i = 0; i < globs->count; i++)
        if (text && ap_glob_match(globs->items[i], text))
            return true;
    return globs->count == 0;
}

static bool name_wanted(const ap_view_options *options, const char *name)
{
    return !options->name_glob || ap_glob_match(options->name_glob, name);
}

static ap_value *texts(ap_arena *arena, const ap_strings *items)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < items->count; i++)
        ap_value_push(arena, list, ap_value_text(arena, items->items[i]));
    return list;
}

static ap_value *chip_item(ap_arena *arena, const ap_chip *chip)
{
    ap_value *item = ap_value_map(arena), *peak = ap_value_map(arena);
    const struct { const char *key; double flop_per_s; } peaks[] = {
        {"fp32", chip->peak.fp32}, {"tf32", chip->peak.tf32}, {"fp16", chip->peak.fp16}, {"bf16", chip->peak.bf16},
        {"fp8", chip->peak.fp8},   {"fp4", chip->peak.fp4},   {"int8", chip->peak.int8}};
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
        ap_put_num(arena, peak, peaks[i].key, peaks[i].flop_per_s / 1e12);
    ap_put_text(arena, item, "id", chip->id);
    ap_put_text(arena, item, "name", chip->name);
    ap_put_text(arena, item, "kind", ap_chip_kind_name(chip->kind));
    ap_put_text(arena, item, "vendor", chip->vendor);
    ap_put_text(arena, item, "family", chip->family);
    ap_put_num(arena, item, "memory_gib", chip->memory.size / GIB);
    ap_put_num(arena, item, "memory_usable_gib", chip->memory.usable / GIB);
    ap_put_num(arena, item, "memory_gb_per_s", chip->memory.bandwidth / 1e9);
    ap_value_put(arena, item, "peak_tflops", peak);
    ap_put_num(arena, item, "tdp_w", chip->tdp_w);
    ap_put_text(arena, item, "interconnect", chip->link.kind);
    ap_put_num(arena, item, "interconnect_gb_per_s", chip->link.bandwidth / 1e9);
    ap_put_num(arena, item, "year", chip->year);
    ap_put_num(arena, item, "price_usd", chip->price.usd);
    ap_value_put(arena, item, "frameworks", texts(arena, &chip->frameworks));
    ap_put_text(arena, item, "source", chip->from.source);
    ap_put_text(arena, item, "as_of", chip->from.as_of);
    ap_put_text(arena, item, "confidence", ap_confidence_name(chip->from.confidence));
    return item;
}

static ap_value *chip_items(ap_arena *arena, const ap_catalog *catalog, const ap_view_options *options)
{
    ap_value *items = ap_value_list(arena);
    for (size_t i = 0; i < catalog->chips.count; i++) {
        const ap_chip *chip = &catalog->chips.items[i];
        const ap_constraints *f = options->filter;
        bool by_memory = f && (ap_known(f->memory_bytes.low) || ap_known(f->memory_bytes.high));
        if (!name_wanted(options, chip->id) || (f && !matches(&f->chip_globs, chip->id)) ||
            (by_memory && !ap_range_contains(f->memory_bytes, chip->memory.size)))
            continue;
        ap_value_push(arena, items, chip_item(arena, chip));
    }
    return items;
}

static ap_value *instance_item(ap_arena *arena, const ap_instance *instance, const ap_price *price)
{
    ap_value *item = ap_value_map(arena);
    ap_put_text(arena, item, "cloud", instance->cloud);
    ap_put_text(arena, item, "instance", instance->name);
    ap_put_text(arena, item, "region", price->region);
    ap_put_text(arena, item, "chip", instance->chip);
    ap_put_num(arena, item, "chip_count", instance->chip_count);
    ap_put_num(arena, item, "hosts", instance->hosts);
    ap_put_num(arena, item, "vcpus", instance->vcpus);
    ap_put_num(arena, item, "memory_gib", instance->memory / GIB);
    ap_put_num(arena, item, "network_gbps", instance->network * 8 / 1e9);
    ap_put_text(arena, item, "fabric", instance->fabric);
    ap_put_text(arena, item, "market", instance->market);
    ap_put_num(arena, item, "on_demand_usd_per_h", price->on_demand);
    ap_put_num(arena, item, "spot_usd_per_h", price->spot);
    ap_put_num(arena, item, "reserved_1y_usd_per_h", price->reserved_1y);
    ap_put_num(arena, item, "reserved_3y_usd_per_h", price->reserved_3y);
    ap_put_text(arena, item, "spot_interruption", price->spot_interruption);
    ap_put_text(arena, item, "price_as_of", price->as_of ? price->as_of : instance->from.as_of);
    ap_put_text(arena, item, "price_source", price->source ? price->source : instance->from.source);
    ap_put_text(arena, item, "confidence", ap_confidence_name(price->confidence >= 0 ? price->confidence : instance->from.confidence));
    return item;
}

static bool instance_wanted(const ap_catalog *catalog, const ap_instance *instance, const ap_view_options *options)
{
    const ap_constraints *f = options->filter;
    if (!name_wanted(options, instance->name))
        return false;
    if (!f)
        return true;
    if (!matches(&f->clouds, instance->cloud) || !matches(&f->chip_globs, instance->chip))
        return false;
    bool by_memory = ap_known(f->memory_bytes.low) || ap_known(f->memory_bytes.high);
    const ap_chip *chip = by_memory ? ap_catalog_chip(catalog, instance->chip) : NULL;
    bool by_count = ap_known(f->chips.low) || ap_known(f->chips.high);
    return (!by_memory || (chip && ap_range_contains(f->memory_bytes, chip->memory.size))) &&
           (!by_count || ap_range_contains(f->chips, instance->chip_count));
}

static ap_value *instance_items(ap_arena *arena, const ap_catalog *catalog, const ap_view_options *options)
{
    ap_value *items = ap_value_list(arena);
    for (size_t i = 0; i < catalog->instances.count; i++) {
        const ap_instance *instance = &catalog->instances.items[i];
        if (!instance_wanted(catalog, instance, options))
            continue;
        static const ap_price none = {.on_demand = AP_UNKNOWN, .spot = AP_UNKNOWN, .reserved_1y = AP_UNKNOWN, .reserved_3y = AP_UNKNOWN, .confidence = -1};
        bool any_region = !options->filter || options->filter->regions.count == 0;
        if (instance->prices.count == 0 && any_region)
            ap_value_push(arena, items, instance_item(arena, instance, &none));
        for (size_t k = 0; k < instance->prices.count; k++)
            if (!options->filter || matches(&options->filter->regions, instance->prices.items[k].region))
                ap_value_push(arena, items, instance_item(arena, instance, &instance->prices.items[k]));
    }
    return items;
}

static const char *text_at(const char *record, size_t offset)
{
    return *(const char *const *)(const void *)(record + offset);
}

/* The other kinds: the record as it is. Every described record begins with its id or has one; regions have a cloud too. */
static ap_value *record_items(ap_arena *arena, const ap_catalog *catalog, const ap_catalog_kind *kind, const ap_view_options *options)
{
    const ap_any_list *records = (const void *)((const char *)catalog + kind->list_offset);
    size_t offset;
    const ap_field *id = ap_schema_find(kind->object, "id", &offset);
    bool any_chip = ap_streq(kind->key, "suites"); /* where an absent chip means any */
    const ap_field *cloud = NULL, *chip = NULL;
    size_t cloud_offset = 0, chip_offset = 0;
    if (options->filter && options->filter->clouds.count)
        cloud = ap_schema_find(kind->object, "cloud", &cloud_offset);
    if (options->filter && options->filter->chip_globs.count)
        chip = ap_schema_find(kind->object, "chip", &chip_offset);
    ap_value *items = ap_value_list(arena);
    for (size_t i = 0; i < records->count; i++) {
        const char *record = (const char *)records->items + i * kind->object->size;
        if (id && !name_wanted(options, text_at(record, offset)))
            continue;
        if (cloud && !matches(&options->filter->clouds, text_at(record, cloud_offset)))
            continue;
        const char *chip_id = chip ? text_at(record, chip_offset) : NULL;
        if (chip && !(any_chip && !chip_id) && !matches(&options->filter->chip_globs, chip_id))
            continue;
        ap_value_push(arena, items, ap_view_record(arena, kind->object, record));
    }
    return items;
}

static const ap_column chip_columns[] = {
    {.title = "Chip", .path = "id", .priority = 1},
    {.title = "Kind", .path = "kind", .priority = 2},
    {.title = "Vendor", .path = "vendor", .priority = 3},
    {.title = "Family", .path = "family", .priority = 6, .flexible = true},
    {.title = "GiB", .path = "memory_gib", .priority = 1, .right = true},
    {.title = "GB/s", .path = "memory_gb_per_s", .format = AP_CELL_INTEGER, .priority = 2, .right = true},
    {.title = "fp32 TF", .path = "peak_tflops.fp32", .priority = 4, .right = true},
    {.title = "bf16 TF", .path = "peak_tflops.bf16", .priority = 2, .right = true},
    {.title = "fp8 TF", .path = "peak_tflops.fp8", .priority = 5, .right = true},
    {.title = "W", .path = "tdp_w", .format = AP_CELL_INTEGER, .priority = 3, .right = true},
    {.title = "Link", .path = "interconnect", .priority = 6, .flexible = true},
    {.title = "Link GB/s", .path = "interconnect_gb_per_s", .format = AP_CELL_INTEGER, .priority = 6, .right = true},
    {.title = "Year", .path = "year", .format = AP_CELL_INTEGER, .priority = 3, .right = true},
    {.title = "Price USD", .path = "price_usd", .format = AP_CELL_INTEGER, .priority = 7, .right = true},
    {.title = "Source", .path = "source", .priority = 9, .flexible = true},
};
static const ap_column instance_columns[] = {
    {.title = "Cloud", .path = "cloud", .priority = 1},
    {.title = "Instance", .path = "instance", .priority = 1, .flexible = true},
    {.title = "Region", .path = "region", .priority = 2},
    {.title = "Chip", .path = "chip", .priority = 1, .flexible = true},
    {.title = "Chips", .path = "chip_count", .format = AP_CELL_INTEGER, .priority = 1, .right = true},
    {.title = "vCPU", .path = "vcpus", .format = AP_CELL_INTEGER, .priority = 4, .right = true},
    {.title = "GiB", .path = "memory_gib", .format = AP_CELL_INTEGER, .priority = 4, .right = true},
    {.title = "Gb/s", .path = "network_gbps", .priority = 5, .right = true},
    {.title = "USD/h", .path = "on_demand_usd_per_h", .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "Spot", .path = "spot_usd_per_h", .format = AP_CELL_USD, .priority = 3, .right = true},
    {.title = "1 year", .path = "reserved_1y_usd_per_h", .format = AP_CELL_USD, .priority = 7, .right = true},
    {.title = "3 years", .path = "reserved_3y_usd_per_h", .format = AP_CELL_USD, .priority = 7, .right = true},
    {.title = "As of", .path = "price_as_of", .priority = 3},
    {.title = "Confidence", .path = "confidence", .priority = 6},
    {.title = "Source", .path = "price_source", .priority = 9, .flexible = true},
};
static const ap_column model_columns[] = {
    {.title = "Model", .path = "id", .priority = 1},
    {.title = "Domain", .path = "domain", .priority = 2},
    {.title = "Class", .path = "arch", .priority = 3},
    {.title = "Parameters", .path = "params", .format = AP_CELL_COUNT, .priority = 1, .right = true},
    {.title = "Layers", .path = "layers", .format = AP_CELL_INTEGER, .priority = 4, .right = true},
    {.title = "Hidden", .path = "hidden", .format = AP_CELL_INTEGER, .priority = 4, .right = true},
    {.title = "MACs", .path = "mac", .format = AP_CELL_COUNT, .priority = 4, .right = true},
    {.title = "Input", .path = "input", .priority = 5},
    {.title = "Data set", .path = "dataset", .priority = 5, .flexible = true},
    {.title = "Confidence", .path = "confidence", .priority = 6},
    {.title = "Source", .path = "source", .priority = 8, .flexible = true},
};
static const ap_column plain_columns[] = {
    {.title = "Id", .path = "id", .priority = 1},
    {.title = "Name", .path = "name", .priority = 2, .flexible = true},
    {.title = "Kind", .path = "kind", .priority = 3},
    {.title = "Cloud", .path = "cloud", .priority = 2},
    {.title = "Location", .path = "location", .priority = 3, .flexible = true},
    {.title = "Carbon g/kWh", .path = "carbon", .priority = 3, .right = true},
    {.title = "Chip", .path = "chip", .priority = 2},
    {.title = "Model", .path = "model", .priority = 2},
    {.title = "Domain", .path = "domain", .priority = 3},
    {.title = "Data set", .path = "dataset", .priority = 3},
    {.title = "Samples", .path = "samples", .format = AP_CELL_COUNT, .priority = 3, .right = true},
    {.title = "Tokens", .path = "tokens", .format = AP_CELL_COUNT, .priority = 3, .right = true},
    {.title = "Framework", .path = "framework", .priority = 3},
    {.title = "Reference", .path = "reference", .priority = 3, .flexible = true},
    {.title = "As of", .path = "as_of", .priority = 5},
    {.title = "Source", .path = "source", .priority = 6, .flexible = true},
};

/* Columns that no item fills would only take room. */
static size_t used_columns(ap_arena *arena, const ap_value *items, const ap_column *all, size_t count, const ap_column **ret)
{
    ap_column *kept = AP_NEW_ARRAY(arena, ap_column, count);
    size_t used = 0;
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < items->as.list.count; i++) {
            const ap_value *value = ap_value_at(items->as.list.items[i], all[c].path);
            if (value && value->kind != AP_V_NULL) {
                kept[used++] = all[c];
                break;
            }
        }
    *ret = kept;
    return used;
}

#define COLUMNS(table) (table), sizeof(table) / sizeof *(table)

static ap_block *add_table(ap_doc *doc, const char *kind, const ap_value *items)
{
    if (ap_streq(kind, "chips"))
        return ap_doc_table(doc, items, COLUMNS(chip_columns));
    if (ap_streq(kind, "instances"))
        return ap_doc_table(doc, items, COLUMNS(instance_columns));
    if (ap_streq(kind, "models"))
        return ap_doc_table(doc, items, COLUMNS(model_columns));
    const ap_column *columns;
    size_t count = used_columns(doc->arena, items, COLUMNS(plain_columns), &columns);
    return ap_doc_table(doc, items, columns, count);
}

ap_doc *ap_view_list(ap_arena *arena, const ap_catalog *catalog, const char *kind, const ap_view_options *options)
{
    ap_value *items = NULL;
    if (ap_streq(kind, "chips"))
        items = chip_items(arena, catalog, options);
    else if (ap_streq(kind, "instances"))
        items = instance_items(arena, catalog, options);
    for (size_t i = 0; !items && i < ap_catalog_kind_count; i++)
        if (ap_streq(kind, ap_catalog_kinds[i].key))
            items = record_items(arena, catalog, &ap_catalog_kinds[i], options);
    if (!items)
        return NULL;
    ap_doc *doc = ap_view_begin(arena, kind, catalog);
    ap_value_put(arena, doc->root, "items", items);
    ap_block *table = add_table(doc, kind, items);
    table->main = true;
    table->limit = options->limit;
    return doc;
}
