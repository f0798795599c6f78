/* Answers that need a join: Oracle's price list with its list of shapes; and exchange rates. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "prices/fetch.h"
#include "io/json.h"

/* ---- Oracle ------------------------------------------------------------------------------------------------------ */

static const cJSON *member(const cJSON *map, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(map, key);
}

static const char *text_of(const cJSON *map, const char *key)
{
    const cJSON *item = member(map, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *map, const char *key)
{
    const cJSON *item = member(map, key);
    return cJSON_IsNumber(item) ? item->valuedouble : AP_UNKNOWN;
}

/* Pay-as-you-go price in USD of a part number; *ret_per_gpu: its metric counts GPUs. */
static double oci_part_price(const cJSON *products, const char *part, bool *ret_per_gpu)
{
    const cJSON *item, *local, *price;
    cJSON_ArrayForEach(item, member(products, "items"))
    {
        if (strcmp(text_of(item, "partNumber"), part) != 0)
            continue;
        *ret_per_gpu = strncmp(text_of(item, "metricName"), "GPU", 3) == 0;
        cJSON_ArrayForEach(local, member(item, "currencyCodeLocalizations"))
            cJSON_ArrayForEach(price, member(local, "prices")) if (strcmp(text_of(local, "currencyCode"), "USD") == 0 &&
                                                                   strcmp(text_of(price, "model"), "PAY_AS_YOU_GO") ==
                                                                       0) return number_of(price, "value");
    }
    return AP_UNKNOWN;
}

static double oci_shape_price(const cJSON *shape, const cJSON *products, double gpus)
{
    const cJSON *part;
    double total = 0;
    bool any = false, gpu_shape = strcmp(text_of(member(shape, "subType"), "value"), "gpu") == 0;
    cJSON_ArrayForEach(part, member(shape, "products"))
    {
        bool per_gpu = false;
        double price = oci_part_price(products, text_of(part, "partNumber"), &per_gpu);
        total += price * (per_gpu || gpu_shape ? gpus : ap_or(number_of(part, "qty"), gpus));
        any = true;
    }
    return any ? total : AP_UNKNOWN;
}

static void oci_push(ap_fetch *fetch, const ap_offer *offer)
{
    *AP_PUSH(fetch->arena, fetch->rows.offers.items, fetch->rows.offers.count, fetch->rows.capacity) = *offer;
}

static void oci_shape(ap_fetch *fetch, const cJSON *shape, const cJSON *products)
{
    const char *vendor = text_of(member(shape, "processorType"), "value");
    double gpus = number_of(shape, "gpuQty");
    if (cJSON_IsTrue(member(shape, "hidden")) || !(gpus > 0) || strcmp(vendor, "cpu") == 0)
        return;
    fetch->rows.rows_in++;
    ap_offer offer = {.source = fetch->provider->id,
                      .cloud = fetch->provider->cloud,
                      .region = "global",
                      .market = "cloud",
                      .scope = "chip",
                      .instance = ap_arena_strdup(fetch->arena, text_of(shape, "name")),
                      .count = gpus,
                      .kind = AP_PRICE_ON_DEMAND,
                      .vcpus = AP_UNKNOWN,
                      .host_bytes = number_of(shape, "bundleMemoryQty") * 1073741824.0,
                      .usd_per_h = AP_UNKNOWN,
                      .chip_bytes = number_of(shape, "gpuMemoryQty") / gpus * 1073741824.0,
                      .native = oci_shape_price(shape, products, gpus)};
    if (!ap_known(offer.native))
        offer.flag = "a part has no price";
    oci_push(fetch, &offer);
    if (!cJSON_IsTrue(member(shape, "allowPreemptible")))
        return;
    offer.kind = AP_PRICE_SPOT; /* preemptible shapes cost half, says Oracle's price list */
    offer.native /= 2;
    offer.derived = 1;
    oci_push(fetch, &offer);
}

bool ap_adapt_oci(ap_fetch *fetch)
{
    AP_SCOPED_JSON *products = NULL;
    AP_SCOPED_JSON *shapes = NULL;
    const ap_price_request *requests = fetch->provider->requests.items;
    if (!ap_fetch_json(fetch, &requests[0], requests[0].url, NULL, &products) ||
        !ap_fetch_json(fetch, &requests[1], requests[1].url, NULL, &shapes))
        return false;
    const cJSON *list = member(shapes, "items"), *shape;
    if (!cJSON_IsArray(list) || !cJSON_IsArray(member(products, "items")))
        return ap_fetch_fail(fetch, "the answer has changed its shape: nothing at /items");
    cJSON_ArrayForEach(shape, list) oci_shape(fetch, shape, products);
    return true;
}

/* ---- exchange rates ---------------------------------------------------------------------------------------------- */

static bool take_rate(ap_fetch *fetch, const char *currency, double usd, const char *day)
{
    if (!(usd > 0) || !isfinite(usd) || !day || strlen(day) != 10)
        return ap_fetch_fail(fetch, "the answer holds no exchange rate");
    fetch->rates = AP_NEW(fetch->arena, ap_rate);
    fetch->rates[0] = (ap_rate){.currency = currency, .usd = usd, .as_of = day, .source = fetch->provider->id};
    fetch->rate_count = 1;
    fetch->rows.rows_in = 1;
    return true;
}

/* Cells of one line of a table without quoted commas. */
static const char *cell_of(ap_arena *arena, const char *line, size_t index)
{
    for (; index > 0 && line; index--) {
        line = strpbrk(line, ",\n");
        line = line && *line == ',' ? line + 1 : NULL;
    }
    return line ? ap_arena_strndup(arena, line, strcspn(line, ",\r\n")) : NULL;
}

static const char *named_cell(ap_arena *arena, const char *head, const char *line, const char *name)
{
    for (size_t i = 0; i < 64; i++) {
        const char *cell = cell_of(arena, head, i);
        if (!cell)
            return NULL;
        if (strcmp(cell, name) == 0)
            return cell_of(arena, line, i);
    }
    return NULL;
}

/* eurofxref-daily.xml: <Cube time='2026-11-30'> … <Cube currency='USD' rate='1.08'/> */
static const char *attribute_after(ap_arena *arena, const char *text, const char *mark)
{
    const char *at = strstr(text, mark);
    at = at ? at + strlen(mark) : NULL;
    return at && (*at == '\'' || *at == '"') ? ap_arena_strndup(arena, at + 1, strcspn(at + 1, "'\"")) : NULL;
}

bool ap_adapt_rates(ap_fetch *fetch, const ap_price_request *request)
{
    char *text;
    size_t len;
    if (!ap_fetch_bytes(fetch, request, request->url, NULL, &text, &len))
        return false;
    const char *day, *value, *line = strchr(text, '\n');
    if (*text == '<') {
        const char *usd = strstr(text, "currency='USD'");
        usd = usd ? usd : strstr(text, "currency=\"USD\"");
        day = attribute_after(fetch->arena, text, "time=");
        value = usd ? attribute_after(fetch->arena, usd, "rate=") : NULL;
    } else {
        day = line ? named_cell(fetch->arena, text, line + 1, "TIME_PERIOD") : NULL;
        value = line ? named_cell(fetch->arena, text, line + 1, "OBS_VALUE") : NULL;
    }
    free(text);
    double usd = AP_UNKNOWN;
    if (value && !ap_num_parse(value, &usd))
        usd = AP_UNKNOWN;
    return take_rate(fetch, "EUR", usd, day);
}
