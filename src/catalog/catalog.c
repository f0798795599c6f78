#include "catalog/catalog.h"

#include <string.h>

#include "base/num.h"
#include "catalog/image.h"
#include "catalog/internal.h"

/* -- words --------------------------------------------------------------------------------------------------------- */
static const char *const precision_names[AP_PREC_COUNT] = {
    [AP_PREC_FP64] = "fp64", [AP_PREC_FP32] = "fp32", [AP_PREC_TF32] = "tf32",   [AP_PREC_FP16] = "fp16",
    [AP_PREC_BF16] = "bf16", [AP_PREC_FP8] = "fp8",   [AP_PREC_MXFP8] = "mxfp8", [AP_PREC_FP4] = "nvfp4",
    [AP_PREC_INT8] = "int8", [AP_PREC_NF4] = "nf4",   [AP_PREC_INT4] = "int4",
};

const char *ap_precision_name(ap_precision precision)
{
    return (unsigned)precision < AP_PREC_COUNT ? precision_names[precision] : NULL;
}

int ap_precision_parse(const char *name)
{
    if (!name)
        return -1;
    if (ap_streq(name, "fp4"))
        return AP_PREC_FP4;
    for (int i = 0; i < AP_PREC_COUNT; i++)
        if (strcmp(precision_names[i], name) == 0)
            return i;
    return -1;
}

const char *ap_chip_kind_name(int kind)
{
    static const char *const names[] = {"cpu", "gpu", "tpu", "asic"};
    return kind >= AP_CHIP_CPU && kind <= AP_CHIP_ASIC ? names[kind] : NULL;
}

const char *ap_confidence_name(int confidence)
{
    static const char *const names[] = {"read", "derived", "partial", "memory", "assumed"};
    return confidence >= AP_CONF_READ && confidence <= AP_CONF_ASSUMED ? names[confidence] : NULL;
}

/* -- peaks --------------------------------------------------------------------------------------------------------- */
/* The first that is known. */
static double first_known(double a, double b)
{
    return ap_known(a) ? a : b;
}

static double larger(double a, double b)
{
    if (!ap_known(a) || !ap_known(b))
        return first_known(a, b);
    return a > b ? a : b;
}

/* What software gets from the units, where that is not simply the sheet's column:
 * - fp16 on consumer Pascal (1/64 rate): libraries keep fp16 storage and multiply in fp32;
 * - fp32 on a TPU: the compiler's default is one bf16 pass; elsewhere matrix units where they are faster;
 * - 4-bit storage is widened before the product: the 16-bit rate, fp32 where there is none. */
double ap_chip_peak(const ap_chip *chip, ap_precision precision)
{
    const ap_peaks *peak = &chip->peak;
    switch (precision) {
    case AP_PREC_FP64:
        return peak->fp64;
    case AP_PREC_FP32:
        return chip->kind == AP_CHIP_TPU ? first_known(peak->fp32, peak->bf16) : larger(peak->fp32_matrix, peak->fp32);
    case AP_PREC_TF32:
        return peak->tf32;
    case AP_PREC_FP16:
        return ap_known(peak->fp16) ? larger(peak->fp16, peak->fp32) : AP_UNKNOWN;
    case AP_PREC_BF16:
        return peak->bf16;
    case AP_PREC_FP8:
    case AP_PREC_MXFP8:
        return peak->fp8;
    case AP_PREC_FP4:
        return peak->fp4;
    case AP_PREC_INT8:
        return peak->int8;
    case AP_PREC_NF4:
    case AP_PREC_INT4:
        return first_known(peak->bf16, larger(peak->fp16, peak->fp32));
    case AP_PREC_COUNT:
        break;
    }
    return AP_UNKNOWN;
}

/* -- prices -------------------------------------------------------------------------------------------------------- */
double ap_price_usd(const ap_price *price, int kind)
{
    switch (kind) {
    case AP_PRICE_ON_DEMAND:
        return price->on_demand;
    case AP_PRICE_SPOT:
        return price->spot;
    case AP_PRICE_RESERVED_1Y:
        return price->reserved_1y;
    case AP_PRICE_RESERVED_3Y:
        return price->reserved_3y;
    default:
        return AP_UNKNOWN;
    }
}

static const char *const price_kind_names[AP_PRICE_KIND_COUNT] = {"on-demand", "spot", "reserved-1y", "reserved-3y"};

const char *ap_price_kind_name(int kind)
{
    return kind >= 0 && kind < AP_PRICE_KIND_COUNT ? price_kind_names[kind] : NULL;
}

int ap_price_kind_parse(const char *name)
{
    for (int i = 0; i < AP_PRICE_KIND_COUNT; i++)
        if (ap_streq(price_kind_names[i], name))
            return i;
    return -1;
}

const ap_price *ap_catalog_find_price(const ap_instance *instance, const char *region)
{
    for (size_t i = 0; region && i < instance->prices.count; i++)
        if (ap_same_nocase(instance->prices.items[i].region, region))
            return &instance->prices.items[i];
    return NULL;
}

static bool region_wanted(const char *region, const ap_strings *globs)
{
    if (!globs || globs->count == 0)
        return true;
    for (size_t i = 0; i < globs->count; i++)
        if (ap_glob_match(globs->items[i], region))
            return true;
    return false;
}

const ap_price *ap_instance_cheapest(const ap_instance *instance, int kind, const ap_strings *region_globs)
{
    const ap_price *best = NULL;
    for (size_t i = 0; i < instance->prices.count; i++) {
        const ap_price *price = &instance->prices.items[i];
        double usd = ap_price_usd(price, kind);
        if (!ap_known(usd) || !region_wanted(price->region, region_globs))
            continue;
        double best_usd = best ? ap_price_usd(best, kind) : usd;
        if (!best || usd < best_usd || (usd <= best_usd && strcmp(price->region, best->region) < 0))
            best = price;
    }
    return best;
}

const char *ap_prices_newest(const ap_catalog *catalog)
{
    const char *newest = NULL;
    for (size_t i = 0; i < catalog->instances.count; i++) {
        const ap_instance *instance = &catalog->instances.items[i];
        for (size_t j = 0; j < instance->prices.count; j++) {
            const char *as_of = instance->prices.items[j].as_of;
            if (as_of && (!newest || strcmp(as_of, newest) > 0))
                newest = as_of;
        }
    }
    return newest;
}

void ap_catalog_refresh(ap_catalog *catalog)
{
    ap_catalog_build_index(catalog);
    catalog->prices_as_of = ap_prices_newest(catalog);
}

/* -- compiled image ------------------------------------------------------------------------------------------------ */
#define SECTION_HEAD   "catalog.version"
#define SECTION_PRICES "catalog.prices_as_of"

void ap_catalog_write_image(const ap_catalog *catalog, ap_sbuf *out)
{
    const char *version = catalog->version ? catalog->version : "";
    const char *as_of = catalog->prices_as_of ? catalog->prices_as_of : "";
    ap_image_add_bytes(out, SECTION_HEAD, version, strlen(version) + 1);
    ap_image_add_bytes(out, SECTION_PRICES, as_of, strlen(as_of) + 1);
    for (int kind = 0; kind < AP_KIND_COUNT; kind++) {
        const ap_any_list *list = ap_access_list_const(catalog, kind);
        ap_image_add_records(out, ap_accesses[kind].kind, ap_access_object(kind), list->items, list->count);
    }
}

/* Text section, or "" when it is missing, NULL when it is empty (unknown). */
static const char *read_text(const unsigned char *bytes, size_t len, const char *section)
{
    size_t size;
    const unsigned char *text = ap_image_find(bytes, len, section, &size);
    if (!text || size <= 1 || text[size - 1] != '\0')
        return NULL;
    return (const char *)text;
}

ap_status ap_catalog_read_image(const unsigned char *bytes, size_t len, ap_arena *arena, ap_catalog **ret)
{
    ap_catalog *catalog = AP_NEW(arena, ap_catalog);
    catalog->arena = arena;
    catalog->version = read_text(bytes, len, SECTION_HEAD);
    catalog->prices_as_of = read_text(bytes, len, SECTION_PRICES);
    *ret = catalog;
    ap_status status = AP_OK;
    for (int kind = 0; kind < AP_KIND_COUNT && status == AP_OK; kind++)
        status = ap_image_get_records(bytes, len, ap_accesses[kind].kind, ap_access_object(kind), arena,
                                      ap_access_list(catalog, kind));
    if (status != AP_OK)
        for (int kind = 0; kind < AP_KIND_COUNT; kind++)
            *ap_access_list(catalog, kind) = (ap_any_list){0};
    ap_catalog_build_index(catalog);
    return status;
}

ap_catalog *ap_catalog_builtin(ap_arena *arena)
{
    size_t len;
    const unsigned char *bytes = ap_image_builtin(&len);
    ap_catalog *catalog;
    /* The build wrote these bytes with the same tables; if they cannot be read, the catalog is empty and every look-up
     * says so. A unit test keeps that from being shipped. */
    if (ap_catalog_read_image(bytes, len, arena, &catalog) != AP_OK)
        catalog->version = NULL;
    if (!catalog->version)
        catalog->version = "none";
    return catalog;
}

const char *ap_catalog_builtin_version(void)
{
    size_t len;
    const unsigned char *bytes = ap_image_builtin(&len);
    const char *version = read_text(bytes, len, SECTION_HEAD);
    return version ? version : "none";
}

const char *ap_catalog_builtin_prices_as_of(void)
{
    size_t len;
    const unsigned char *bytes = ap_image_builtin(&len);
    return read_text(bytes, len, SECTION_PRICES);
}
