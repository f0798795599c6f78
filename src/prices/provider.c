#include "prices/provider.h"

#include <stdlib.h>
#include <string.h>

#include "catalog/image.h"
#include "io/file.h"
#include "io/yaml.h"

#define ROW(key, type, member, flags, dim, lo, hi, words, object, doc)                                                 \
    {                                                                                                                  \
        key, type, offsetof(S, member), flags, dim, lo, hi, words, object, doc                                         \
    }
#define ID(key, member, doc)            ROW(key, AP_T_ID, member, AP_F_REQUIRED, AP_DIM_NONE, 0, 0, NULL, NULL, doc)
#define TEXT(key, member, doc)          ROW(key, AP_T_TEXT, member, 0, AP_DIM_NONE, 0, 0, NULL, NULL, doc)
#define NEED(key, member, doc)          ROW(key, AP_T_TEXT, member, AP_F_REQUIRED, AP_DIM_NONE, 0, 0, NULL, NULL, doc)
#define TEXTS(key, member, doc)         ROW(key, AP_T_TEXTS, member, 0, AP_DIM_NONE, 0, 0, NULL, NULL, doc)
#define PAIRS(key, member, doc)         ROW(key, AP_T_TEXT_MAP, member, 0, AP_DIM_NONE, 0, 0, NULL, NULL, doc)
#define BOOL(key, member, doc)          ROW(key, AP_T_BOOL, member, 0, AP_DIM_NONE, 0, 0, NULL, NULL, doc)
#define NUM(key, member, dim, doc)      ROW(key, AP_T_NUM, member, 0, dim, 0, 0, NULL, NULL, doc)
#define WORD(key, member, words, doc)   ROW(key, AP_T_ENUM, member, AP_F_REQUIRED, AP_DIM_NONE, 0, 0, words, NULL, doc)
#define PART(key, member, object, doc)  ROW(key, AP_T_OBJECT, member, 0, AP_DIM_NONE, 0, 0, NULL, object, doc)
#define PARTS(key, member, object, doc) ROW(key, AP_T_OBJECTS, member, 0, AP_DIM_NONE, 0, 0, NULL, object, doc)
#define SUB(part, key, type, member, dim, words, doc)                                                                  \
    {                                                                                                                  \
        key, type, offsetof(S, member) - offsetof(S, part), 0, dim, 0, 0, words, NULL, doc                             \
    }

static const char *const adapter_words[] = {"json", "csv", "zip", "oci", "gcp", "rates", NULL};
static const char *const tier_words[] = {"public", "keyed", "direct", NULL};
static const char *const auth_words[] = {"none", "header", "oauth2", NULL};
static const char *const page_words[] = {"none", "next-url", "cursor", "number", NULL};
static const char *const kind_words[] = {"on-demand", "spot", "reserved-1y", "reserved-3y", NULL};

#define S ap_price_request
static const ap_field request_fields[] = {
    TEXT("method", method, "GET or POST."),
    NEED("url", url, "https address; {region} … stand for the values of `each`."),
    TEXT("body", body, "JSON to POST."),
    TEXT("mirror", mirror, "The same elsewhere, asked when url fails."),
    TEXT("rows", rows, "Path of the rows where it differs from the provider's."),
};
#undef S
static const ap_object request_object = {"request", "One address to ask.", sizeof(ap_price_request),
                                         AP_FIELDS_OF(request_fields), NULL};

#define S ap_price_test
static const ap_field test_fields[] = {
    NEED("value", value, "What is looked at."),
    TEXTS("equals", equals, "It is one of these."),
    TEXTS("contains", contains, "It contains one of these."),
    TEXTS("lacks", lacks, "It contains none of these."),
    TEXTS("starts", starts, "It starts with one of these."),
    NUM("above", above, AP_DIM_NONE, "It is a number above this."),
    BOOL("present", present, "It is there and not null."),
};
#undef S
static const ap_object test_object = {"test", "A condition on a row.", sizeof(ap_price_test), AP_FIELDS_OF(test_fields),
                                      NULL};

#define S ap_price_addend
static const ap_field addend_fields[] = {
    NEED("value", value, "Price of one unit, in the column's scale and currency."),
    TEXT("times", times, "How many units; 1 if absent."),
};
#undef S
static const ap_object addend_object = {"addend", "Part of a price.", sizeof(ap_price_addend),
                                        AP_FIELDS_OF(addend_fields), NULL};

#define S ap_price_column
static const ap_field column_fields[] = {
    WORD("kind", kind, kind_words, "What this price is."),
    TEXT("value", value, "Where it stands."),
    TEXT("currency", currency, "Currency: a code, or where it stands; USD if absent."),
    NUM("scale", scale, AP_DIM_NONE, "Factor to whole units an hour: 0.01 for cents."),
    BOOL("per_chip", per_chip, "The price is of one chip."),
    BOOL("half", half, "Derived: half of the on-demand price."),
    PARTS("when", when, &test_object, "Only rows that pass."),
    PARTS("add", add, &addend_object, "Parts to add."),
};
#undef S
static const ap_object column_object = {"price", "One price of a row.", sizeof(ap_price_column),
                                        AP_FIELDS_OF(column_fields), NULL};

#define S ap_price_family
static const ap_field family_fields[] = {
    NEED("machine", machine, "Start of the machines' names."),
    NEED("chip", chip, "Chip of the catalog."),
    NEED("core", core, "Start of the description of a vCPU's price."),
    NEED("ram", ram, "Start of the description of the price of a GiB of memory."),
    NEED("gpu", gpu, "Start of the description of a chip's price."),
    TEXT("ssd", ssd, "Start of the description of the monthly price of a GiB of local disk."),
};
#undef S
static const ap_object family_object = {"family", "Machines whose price is made of parts.", sizeof(ap_price_family),
                                        AP_FIELDS_OF(family_fields), NULL};

#define S ap_price_fields
static const ap_field fields_fields[] = {
    TEXT("cloud", cloud, "Cloud, where one source tells of several."),
    NEED("instance", instance, "Name of the machine type."),
    TEXT("instance_cut", instance_cut, "Ending that is no part of the name."),
    TEXT("chip", chip, "The chip as the source spells it; absent: the machine's name tells."),
    TEXT("chip_form", chip_form, "Its form (SXM5, PCIe), where that stands apart from the name."),
    TEXT("count", count, "Chips in the machine: a number, or a fraction such as 1/2."),
    TEXT("vcpus", vcpus, "vCPUs."),
    TEXT("host_memory", host_memory, "Memory of the machine."),
    NUM("host_memory_scale", host_memory_scale, AP_DIM_NONE, "Bytes in a unit of host_memory."),
    TEXT("chip_memory", chip_memory, "Memory of a chip."),
    NUM("chip_memory_scale", chip_memory_scale, AP_DIM_NONE, "Bytes in a unit of chip_memory."),
    BOOL("chip_memory_total", chip_memory_total, "chip_memory is of all chips together."),
    TEXT("regions", regions,
         "A list of regions; region then counts from its items (absent: the items themselves; $key: their names)."),
    TEXT("region", region, "Region."),
};
#undef S
static const ap_object fields_object = {"fields", "What the answer's fields mean.", sizeof(ap_price_fields),
                                        AP_FIELDS_OF(fields_fields), NULL};

#define S ap_provider
static const ap_field auth_fields[] = {
    SUB(auth, "kind", AP_T_ENUM, auth.kind, AP_DIM_NONE, auth_words, "How the key is sent."),
    SUB(auth, "header", AP_T_TEXT, auth.header, AP_DIM_NONE, NULL, "Header that carries it."),
    SUB(auth, "prefix", AP_T_TEXT, auth.prefix, AP_DIM_NONE, NULL, "Text before it, such as `Bearer `."),
    SUB(auth, "env", AP_T_TEXTS, auth.env, AP_DIM_NONE, NULL, "Environment variables that may hold it, first wins."),
    SUB(auth, "token_url", AP_T_TEXT, auth.token_url, AP_DIM_NONE, NULL,
        "oauth2: where client id and secret give a token."),
    SUB(auth, "id_env", AP_T_TEXT, auth.id_env, AP_DIM_NONE, NULL, "oauth2: variable with the client id."),
    SUB(auth, "secret_env", AP_T_TEXT, auth.secret_env, AP_DIM_NONE, NULL, "oauth2: variable with the secret."),
};
static const ap_object auth_object = {"auth", "Key, from the environment only.", sizeof(((S *)0)->auth),
                                      AP_FIELDS_OF(auth_fields), NULL};
static const ap_field each_fields[] = {
    SUB(each, "name", AP_T_TEXT, each.name, AP_DIM_NONE, NULL, "Name in the addresses: region, cloud."),
    SUB(each, "suffix", AP_T_TEXT, each.suffix, AP_DIM_NONE, NULL, "Added to the address only when --region is given."),
    SUB(each, "values", AP_T_TEXTS, each.values, AP_DIM_NONE, NULL, "Values; for regions --region replaces them."),
    SUB(each, "clouds", AP_T_TEXT_MAP, each.clouds, AP_DIM_NONE, NULL,
        "Catalog's cloud of a value where it is spelled differently."),
};
static const ap_object each_object = {"each", "Requests once per value.", sizeof(((S *)0)->each),
                                      AP_FIELDS_OF(each_fields), NULL};
static const ap_field page_fields[] = {
    SUB(pages, "kind", AP_T_ENUM, pages.kind, AP_DIM_NONE, page_words, "How pages follow each other."),
    SUB(pages, "next", AP_T_TEXT, pages.next, AP_DIM_NONE, NULL, "Pointer to the next address or cursor."),
    SUB(pages, "param", AP_T_TEXT, pages.param, AP_DIM_NONE, NULL, "Query parameter of the cursor or page."),
    SUB(pages, "full_param", AP_T_TEXT, pages.full_param, AP_DIM_NONE, NULL,
        "Parameter that skips rows when a full page has no link."),
    SUB(pages, "size", AP_T_NUM, pages.size, AP_DIM_NONE, NULL, "Rows of a full page."),
    SUB(pages, "most", AP_T_NUM, pages.most, AP_DIM_NONE, NULL, "Most pages; more is a failure."),
};
static const ap_object page_object = {"pages", "Paging.", sizeof(((S *)0)->pages), AP_FIELDS_OF(page_fields), NULL};
static const ap_field limit_fields[] = {
    SUB(limits, "max_bytes", AP_T_NUM, limits.max_bytes, AP_DIM_BYTES, NULL, "Largest answer, unpacked."),
    SUB(limits, "budget", AP_T_NUM, limits.budget_s, AP_DIM_SECONDS, NULL, "Longest time for the whole source."),
    SUB(limits, "wait_429", AP_T_NUM, limits.wait_429_s, AP_DIM_SECONDS, NULL, "Wait on 429 without Retry-After."),
};
static const ap_object limit_object = {"limits", "Limits.", sizeof(((S *)0)->limits), AP_FIELDS_OF(limit_fields), NULL};
static const ap_field provider_fields[] = {
    ID("id", id, "Source id."),
    NEED("name", name, "Name for people."),
    TEXT("cloud", cloud, "Catalog's cloud whose prices these are."),
    TEXT("market", market, "cloud or marketplace."),
    TEXT("names", names, "Provider in the names table; the id if absent."),
    TEXT("terms", terms, "What is known of the terms of use."),
    WORD("adapter", adapter, adapter_words, "How answers are read."),
    WORD("tier", tier, tier_words, "public: asked by default; keyed: when its key is set; direct: only when named."),
    TEXTS("hosts", hosts, "Hosts that requests, links and redirects may go to."),
    PART("auth", auth, &auth_object, "Key."),
    PAIRS("headers", headers, "Further request headers."),
    PARTS("requests", requests, &request_object, "Addresses, asked in order."),
    PART("each", each, &each_object, "Requests once per value."),
    PART("pages", pages, &page_object, "Paging."),
    TEXT("rows", rows, "Path of the rows; * walks a list or mapping."),
    TEXT("must_lack", must_lack, "A value whose presence makes the answer a failure."),
    TEXT("header_starts", header_starts, "CSV: the header is the first line that starts so."),
    TEXT("part_when_empty", part_when_empty, "CSV: rows without this value are parts of other rows' machines."),
    TEXTS("part_clouds", part_clouds, "Clouds whose machines come in such parts."),
    PARTS("where", where, &test_object, "Rows that count."),
    PART("fields", fields, &fields_object, "Meaning of the fields."),
    PARTS("prices", prices, &column_object, "Prices of a row."),
    PARTS("families", families, &family_object, "Machines whose price is made of parts."),
    BOOL("median", median, "Marketplace: offers of one machine type become their median."),
    BOOL("interesting_only", interesting_only, "Pass over machines that neither catalog nor names know."),
    TEXT("unknown_starts", unknown_starts, "… but report those whose name starts so."),
    PART("limits", limits, &limit_object, "Limits."),
    TEXT("source", source, "Where the shape of the answers was read."),
    TEXT("as_of", as_of, "When."),
    {"", AP_T_POS, offsetof(S, pos), AP_F_HIDDEN, AP_DIM_NONE, 0, 0, NULL, NULL, "Where the entry stands."},
};
#undef S

static void check_provider(const void *object, ap_pos pos, ap_diags *diags)
{
    const ap_provider *p = object;
    if (p->requests.count == 0)
        ap_diag_add(diags, AP_ERROR, 760, pos, "source '%s' has no requests", p->id);
    for (size_t i = 0; i < p->requests.count; i++)
        if (!ap_starts_with(p->requests.items[i].url, "https://"))
            ap_diag_add(diags, AP_ERROR, 761, pos, "source '%s': addresses must start with https://", p->id);
    if (p->adapter <= AP_ADAPT_ZIP && p->prices.count == 0)
        ap_diag_add(diags, AP_ERROR, 762, pos, "source '%s' says nowhere where its prices stand", p->id);
}

const ap_object ap_provider_object = {"provider", "A price source.", sizeof(ap_provider), AP_FIELDS_OF(provider_fields),
                                      check_provider};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const ap_provider *)a)->id, ((const ap_provider *)b)->id);
}

static ap_status load_file(const char *path, ap_arena *arena, ap_diags *diags, ap_providers *list, size_t *capacity)
{
    char *text;
    size_t len;
    ap_docs docs;
    ap_status status = ap_file_read(path, AP_YAML_WORKLOAD_BYTES, arena, diags, &text, &len);
    if (status == AP_OK)
        status = ap_yaml_parse(text, len, path, AP_YAML_STRICT, AP_YAML_WORKLOAD_BYTES, arena, diags, &docs);
    if (status != AP_OK)
        return status == AP_IO ? AP_IO : AP_BAD_DATA;
    const ap_node *providers = ap_node_get(docs.items[0], "providers");
    if (!providers || providers->kind != AP_NODE_LIST) {
        ap_diag_add(diags, AP_ERROR, 763, docs.items[0]->pos, "expected a list `providers:`");
        return AP_BAD_DATA;
    }
    for (size_t i = 0; i < providers->as.list.count && status == AP_OK; i++) {
        ap_provider *provider = AP_PUSH(arena, list->items, list->count, *capacity);
        status = ap_schema_load(&ap_provider_object, providers->as.list.items[i], provider, arena, diags) == AP_OK
                     ? AP_OK
                     : AP_BAD_DATA;
    }
    ap_diags_attach_source(diags, path, text, len);
    return status;
}

ap_status ap_providers_load_dir(const char *dir, ap_arena *arena, ap_diags *diags, ap_providers *ret)
{
    const char **paths;
    size_t count, capacity = 0;
    *ret = (ap_providers){0};
    ap_status status = ap_file_walk(dir, ".yaml", false, arena, diags, &paths, &count);
    for (size_t i = 0; status == AP_OK && i < count; i++)
        status = load_file(paths[i], arena, diags, ret, &capacity);
    if (status == AP_OK && ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, by_id);
    return status;
}

ap_status ap_providers_builtin(ap_arena *arena, ap_providers *ret)
{
    size_t len = 0;
    const unsigned char *image = ap_image_builtin(&len);
    ap_any_list list = {0};
    ap_status status = ap_image_get_records(image, len, "providers", &ap_provider_object, arena, &list);
    ret->items = list.items;
    ret->count = list.count;
    return status;
}

const ap_provider *ap_provider_find(const ap_providers *providers, const char *id)
{
    for (size_t i = 0; i < providers->count; i++)
        if (ap_streq(providers->items[i].id, id))
            return &providers->items[i];
    return NULL;
}
