/* Checks across records: references, identities, plausibility. What one field may hold is the field tables' business.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "catalog/internal.h"

/* A spot price above the list price is a sentinel or a mistake; equal ones differ by rounding. */
#define SPOT_TOLERANCE 1.001
/* Per-chip prices of one chip, against the median of its offers: outside the inner band a price needs a note, outside
 * the outer one it is a wrong unit or a slipped point (the widest real spread seen is 30-fold, shared notebooks). */
#define BAND_INNER 5.0
#define BAND_OUTER 100.0

typedef struct reference {
    const char *field;
    int kind;
    const char *id;
} reference;

static bool id_exists(const ap_catalog *catalog, int kind, const char *id)
{
    for (ap_cursor c = ap_cursor_at(catalog, kind, NULL, id); ap_cursor_next(&c);)
        if (c.entry->rank == 0 && strcmp(c.entry->key, id) == 0)
            return true;
    return false;
}

static void check_reference(const ap_catalog *catalog, int kind, const void *record, reference ref, ap_diags *diags)
{
    if (!ref.id || id_exists(catalog, ref.kind, ref.id))
        return;
    ap_diag *diag =
        ap_diag_add(diags, AP_ERROR, 720, ap_access_pos(kind, record), "%s '%s': %s '%s' is not in the catalog",
                    ap_accesses[kind].singular, ap_access_label(kind, record, diags->arena), ref.field, ref.id);
    diag->hint = ap_catalog_suggest(catalog, ap_accesses[ref.kind].kind, ref.id, diags->arena);
}

static void check_price(const ap_instance *instance, const ap_price *price, ap_diags *diags)
{
    bool free = ap_streq(instance->market, "free") || ap_streq(instance->market, "notebook");
    for (int i = 0; i < AP_PRICE_KIND_COUNT; i++) {
        double usd = ap_price_usd(price, i);
        if (ap_known(usd) && (usd < 0 || (usd <= 0 && !free)))
            ap_diag_add(diags, AP_ERROR, 721, instance->pos,
                        "instance '%s/%s' in %s: %s price must be above 0; leave out what is unknown", instance->cloud,
                        instance->name, price->region, ap_price_kind_name(i));
    }
    if (ap_known(price->spot) && price->on_demand > 0 && price->spot > price->on_demand * SPOT_TOLERANCE)
        ap_diag_add(diags, AP_ERROR, 722, instance->pos,
                    "instance '%s/%s' in %s: spot price %g is above the on-demand price %g", instance->cloud,
                    instance->name, price->region, price->spot, price->on_demand);
}

static int compare_regions(const void *a, const void *b)
{
    return strcmp((*(const ap_price *const *)a)->region, (*(const ap_price *const *)b)->region);
}

static void check_regions_unique(const ap_instance *instance, ap_diags *diags)
{
    size_t count = instance->prices.count;
    if (count < 2)
        return;
    AP_SCOPED_ARENA *scratch = ap_arena_new();
    const ap_price **sorted = (const ap_price **)ap_arena_alloc_array(scratch, count, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &instance->prices.items[i];
    qsort(sorted, count, sizeof *sorted, compare_regions);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->region, sorted[i]->region) == 0)
            ap_diag_add(diags, AP_ERROR, 723, instance->pos, "instance '%s/%s' lists region '%s' twice",
                        instance->cloud, instance->name, sorted[i]->region);
}

static void check_instance(const ap_catalog *catalog, const ap_instance *instance, ap_diags *diags)
{
    check_reference(catalog, AP_KIND_INSTANCES, instance, (reference){"chip", AP_KIND_CHIPS, instance->chip}, diags);
    check_reference(catalog, AP_KIND_INSTANCES, instance, (reference){"cpu", AP_KIND_CHIPS, instance->cpu}, diags);
    check_reference(catalog, AP_KIND_INSTANCES, instance, (reference){"cloud", AP_KIND_CLOUDS, instance->cloud}, diags);
    if (instance->chip && !ap_known(instance->chip_count))
        ap_diag_add(diags, AP_ERROR, 724, instance->pos, "instance '%s/%s' has a chip but no chip_count",
                    instance->cloud, instance->name);
    for (size_t i = 0; i < instance->prices.count; i++) {
        const ap_price *price = &instance->prices.items[i];
        check_price(instance, price, diags);
        if (!ap_streq(price->as_of, instance->from.as_of))
            ap_check_date(AP_KIND_INSTANCES, instance, (ap_said){"as_of", price->as_of}, diags);
    }
    check_regions_unique(instance, diags);
}

static void check_name(const ap_catalog *catalog, const ap_name *name, ap_diags *diags)
{
    check_reference(catalog, AP_KIND_NAMES, name, (reference){"chip", AP_KIND_CHIPS, name->chip}, diags);
    for (size_t i = 0; i < name->any_of.count; i++)
        check_reference(catalog, AP_KIND_NAMES, name, (reference){"any_of", AP_KIND_CHIPS, name->any_of.items[i]},
                        diags);
    if (name->chip && name->any_of.count)
        ap_diag_add(diags, AP_ERROR, 725, name->pos, "name '%s' gives both chip and any_of", name->name);
}

static void check_chip(const ap_chip *chip, ap_diags *diags)
{
    const ap_peaks *peak = &chip->peak;
    if (ap_known(chip->memory.usable) && ap_known(chip->memory.size) && chip->memory.usable > chip->memory.size * 1.08)
        ap_diag_add(diags, AP_ERROR, 726, chip->pos, "chip '%s': usable memory is above the memory size", chip->id);
    if (ap_known(peak->fp8) && ap_known(peak->bf16) && peak->fp8 < peak->bf16 * 0.99)
        ap_diag_add(diags, AP_WARNING, 727, chip->pos, "chip '%s': fp8 peak is below the bf16 peak", chip->id);
    if (peak->fp32_matrix < peak->fp32 * 0.99)
        ap_diag_add(diags, AP_WARNING, 727, chip->pos, "chip '%s': fp32_matrix peak is below the fp32 peak, which is used",
                    chip->id);
}

/* Another record of the kind that answers to the same spelling. */
static void check_aliases(const ap_catalog *catalog, int kind, const void *record, const ap_strings *aliases,
                          ap_diags *diags)
{
    for (size_t i = 0; i < aliases->count; i++)
        for (ap_cursor c = ap_cursor_at(catalog, kind, NULL, aliases->items[i]); ap_cursor_next(&c);) {
            const void *other = ap_access_item(catalog, kind, c.entry->item);
            if (other == record || strcmp(c.entry->key, aliases->items[i]) != 0)
                continue;
            ap_diag_add(diags, AP_ERROR, 728, ap_access_pos(kind, record), "%s '%s': alias '%s' also means '%s'",
                        ap_accesses[kind].singular, ap_access_label(kind, record, diags->arena), aliases->items[i],
                        ap_access_label(kind, other, diags->arena));
            break;
        }
}

/* Rules of thumb are recipes for any model. */
static void check_recipe(const ap_catalog *catalog, const ap_recipe *recipe, ap_diags *diags)
{
    if (!ap_streq(recipe->model, "any"))
        check_reference(catalog, AP_KIND_RECIPES, recipe, (reference){"model", AP_KIND_MODELS, recipe->model}, diags);
    check_reference(catalog, AP_KIND_RECIPES, recipe, (reference){"dataset", AP_KIND_DATASETS, recipe->dataset}, diags);
    ap_check_task(AP_KIND_RECIPES, recipe, (ap_said){"task", recipe->task}, diags);
    if (recipe->largest_batch < recipe->global_batch)
        ap_diag_add(diags, AP_ERROR, 735, recipe->pos, "recipe '%s': largest_batch %.0f is below its own global_batch %.0f", recipe->id,
                    recipe->largest_batch, recipe->global_batch);
}

static void check_model(const ap_catalog *catalog, const ap_model *model, ap_diags *diags)
{
    check_reference(catalog, AP_KIND_MODELS, model, (reference){"dataset", AP_KIND_DATASETS, model->dataset}, diags);
    ap_check_precision(AP_KIND_MODELS, model, (ap_said){"precision", model->precision}, diags);
}

static void check_suite(const ap_catalog *catalog, const ap_suite *suite, ap_diags *diags)
{
    check_reference(catalog, AP_KIND_SUITES, suite, (reference){"chip", AP_KIND_CHIPS, suite->chip}, diags);
    for (size_t i = 0; i < suite->runs.count; i++) {
        const ap_suite_run *run = &suite->runs.items[i];
        check_reference(catalog, AP_KIND_SUITES, suite, (reference){"model", AP_KIND_MODELS, run->model}, diags);
        if (!ap_streq(run->dataset, "synthetic")) /* what benchmarks without data are said to train on */
            check_reference(catalog, AP_KIND_SUITES, suite, (reference){"dataset", AP_KIND_DATASETS, run->dataset}, diags);
    }
    ap_check_suite_words(suite, diags);
}

static void check_rig(const ap_catalog *catalog, const ap_rig *rig, ap_diags *diags)
{
    check_reference(catalog, AP_KIND_RIGS, rig, (reference){"chip", AP_KIND_CHIPS, rig->chip}, diags);
    check_reference(catalog, AP_KIND_RIGS, rig, (reference){"cpu", AP_KIND_CHIPS, rig->cpu}, diags);
    if (rig->chip && !ap_known(rig->chip_count))
        ap_diag_add(diags, AP_ERROR, 724, rig->pos, "rig '%s' has a chip but no chip_count", rig->id);
}

static void check_own_fields(const ap_catalog *catalog, int kind, const void *record, ap_diags *diags)
{
    switch (kind) {
    case AP_KIND_CHIPS:
        check_chip(record, diags);
        break;
    case AP_KIND_NAMES:
        check_name(catalog, record, diags);
        break;
    case AP_KIND_INSTANCES:
        check_instance(catalog, record, diags);
        break;
    case AP_KIND_REGIONS:
        check_reference(catalog, kind, record, (reference){"cloud", AP_KIND_CLOUDS, ((const ap_region *)record)->cloud},
                        diags);
        break;
    case AP_KIND_MODELS:
        check_model(catalog, record, diags);
        break;
    case AP_KIND_RECIPES:
        check_recipe(catalog, record, diags);
        break;
    case AP_KIND_RIGS:
        check_rig(catalog, record, diags);
        break;
    case AP_KIND_SUITES:
        check_suite(catalog, record, diags);
        break;
    default:
        break;
    }
}

static void check_unique(const ap_catalog *catalog, int kind, const void *record, ap_diags *diags)
{
    const ap_access *access = &ap_accesses[kind];
    const char *key = ap_access_text(record, access->key);
    const char *scope = ap_access_text(record, access->scope);
    if (!key || kind == AP_KIND_NAMES) /* several sources may list one spelling */
        return;
    for (ap_cursor c = ap_cursor_at(catalog, kind, scope, key); ap_cursor_next(&c);) {
        const void *other = ap_access_item(catalog, kind, c.entry->item);
        if (c.entry->rank != 0 || other >= record || !ap_access_same(kind, other, record))
            continue;
        ap_pos first = ap_access_pos(kind, other);
        ap_diag_add(diags, AP_ERROR, 729, ap_access_pos(kind, record), "%s '%s' is defined twice, first at %s:%d",
                    access->singular, ap_access_label(kind, record, diags->arena), first.file ? first.file : "?",
                    first.line);
        return;
    }
}

void ap_check_record(const ap_catalog *catalog, int kind, const void *record, ap_diags *diags)
{
    check_unique(catalog, kind, record, diags);
    size_t aliases = ap_accesses[kind].aliases;
    if (aliases != AP_NO_MEMBER)
        check_aliases(catalog, kind, record, (const void *)((const char *)record + aliases), diags);
    const ap_provenance *from = ap_access_from(kind, record);
    if (from)
        ap_check_date(kind, record, (ap_said){"as_of", from->as_of}, diags);
    check_own_fields(catalog, kind, record, diags);
}

/* -- price bands --------------------------------------------------------------------------------------------------- */
typedef struct offer {
    const ap_instance *instance;
    const ap_price *price;
    double usd_per_chip_h;
} offer;

static int compare_offers(const void *a, const void *b)
{
    const offer *x = a, *y = b;
    int by_chip = strcmp(x->instance->chip, y->instance->chip);
    if (by_chip)
        return by_chip;
    return (x->usd_per_chip_h > y->usd_per_chip_h) - (x->usd_per_chip_h < y->usd_per_chip_h);
}

static bool is_explained(const offer *o)
{
    const char *notes[] = {o->price->notes, o->instance->from.notes};
    for (size_t i = 0; i < 2; i++)
        if (notes[i] && strstr(notes[i], "outlier"))
            return true;
    return false;
}

static void check_band(const offer *offers, size_t count, ap_diags *diags)
{
    double median = offers[count / 2].usd_per_chip_h;
    for (size_t i = 0; i < count; i++) {
        double share = offers[i].usd_per_chip_h / median;
        if (share >= 1 / BAND_INNER && share <= BAND_INNER)
            continue;
        bool wild = share < 1 / BAND_OUTER || share > BAND_OUTER;
        if (!wild && is_explained(&offers[i]))
            continue;
        const ap_instance *instance = offers[i].instance;
        ap_diag *diag = ap_diag_add(
            diags, wild ? AP_ERROR : AP_WARNING, 730, instance->pos,
            "instance '%s/%s' in %s: %.3g USD per hour and %s is %.2g times the median of its offers", instance->cloud,
            instance->name, offers[i].price->region, offers[i].usd_per_chip_h, instance->chip, share);
        diag->hint = "if it is right, say so in notes: \"outlier: why\"";
    }
}

static void check_bands(const ap_catalog *catalog, ap_diags *diags)
{
    AP_SCOPED_ARENA *scratch = ap_arena_new();
    offer *offers = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < catalog->instances.count; i++) {
        const ap_instance *instance = &catalog->instances.items[i];
        const ap_chip *chip = instance->chip ? ap_catalog_chip(catalog, instance->chip) : NULL;
        if (!chip || chip->kind == AP_CHIP_CPU || !(instance->chip_count > 0))
            continue;
        for (size_t j = 0; j < instance->prices.count; j++) {
            const ap_price *price = &instance->prices.items[j];
            if (price->on_demand > 0)
                *AP_PUSH(scratch, offers, count, capacity) =
                    (offer){instance, price, price->on_demand / instance->chip_count};
        }
    }
    if (count)
        qsort(offers, count, sizeof *offers, compare_offers);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && ap_streq(offers[next].instance->chip, offers[first].instance->chip);)
            next++;
        check_band(offers + first, next - first, diags);
    }
}

ap_status ap_catalog_check(const ap_catalog *catalog, ap_diags *diags)
{
    size_t errors_before = diags->errors;
    for (int kind = 0; kind < AP_KIND_COUNT; kind++)
        for (size_t i = 0; i < ap_access_list_const(catalog, kind)->count; i++)
            ap_check_record(catalog, kind, ap_access_item(catalog, kind, i), diags);
    check_bands(catalog, diags);
    return diags->errors > errors_before ? AP_BAD_DATA : AP_OK;
}
