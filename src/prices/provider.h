/* Price sources as data: the files of data/providers say what to ask, how pages follow each other, which answer fields
 * mean what, in which units. C only where rows must be joined (adapter oci, gcp) or a stream unpacked.
 *
 * A value in an answer is named by a text: "/a/b" is a JSON pointer into the row (CSV: "/Column"), each leading "../"
 * starts one level of the row path higher, "$key" is the member name of the row, "=text" a constant, and "{/a}x{/b}" a
 * text made of such values. */
#ifndef AP_PRICES_PROVIDER_H
#define AP_PRICES_PROVIDER_H

#include "schema/schema.h"

typedef enum ap_price_adapter {
    AP_ADAPT_JSON,
    AP_ADAPT_CSV,
    AP_ADAPT_ZIP,
    AP_ADAPT_OCI,
    AP_ADAPT_GCP,
    AP_ADAPT_RATES
} ap_price_adapter;
typedef enum ap_price_tier { AP_TIER_PUBLIC, AP_TIER_KEYED, AP_TIER_DIRECT } ap_price_tier;
typedef enum ap_auth_kind { AP_AUTH_NONE, AP_AUTH_HEADER, AP_AUTH_OAUTH2 } ap_auth_kind;
typedef enum ap_page_kind { AP_PAGE_NONE, AP_PAGE_NEXT_URL, AP_PAGE_CURSOR, AP_PAGE_NUMBER } ap_page_kind;

typedef struct ap_price_request {
    const char *method, *url, *body; /* {region} {cloud} … are filled in */
    const char *mirror;              /* asked when url fails */
    const char *rows;                /* where it differs from the provider's */
} ap_price_request;

typedef struct ap_price_test { /* all that are given must hold */
    const char *value;
    ap_strings equals, contains, lacks, starts;
    double above;
    signed char present;
} ap_price_test;
typedef AP_LIST(ap_price_test) ap_price_tests;

typedef struct ap_price_addend { /* part of a price told apart: value x times */
    const char *value, *times;
} ap_price_addend;

typedef struct ap_price_column { /* one price in a row */
    int kind;                    /* ap_price_kind */
    const char *value, *currency;
    double scale;
    signed char per_chip; /* 1: price of one chip, times count */
    signed char half;     /* 1: derived, half of the on-demand price */
    ap_price_tests when;
    AP_LIST(ap_price_addend) add;
} ap_price_column;

typedef struct ap_price_family {  /* machines whose price is made of parts (adapter gcp): starts of the parts'
                                     descriptions */
    const char *machine, *chip;   /* start of the machine's name; catalog chip */
    const char *core, *ram, *gpu; /* USD an hour of a vCPU, a GiB, a chip */
    const char *ssd;              /* USD a month of a GiB of local disk; or NULL */
} ap_price_family;

typedef struct ap_price_fields {
    const char *cloud, *instance, *instance_cut, *chip, *chip_form, *count, *vcpus, *host_memory, *chip_memory,
        *regions, *region;
    double host_memory_scale, chip_memory_scale; /* bytes per unit of the answer */
    signed char chip_memory_total;               /* memory of all chips together */
} ap_price_fields;

typedef struct ap_provider {
    const char *id, *name, *cloud, *market, *terms;
    const char *names; /* provider in the names table, default id */
    int adapter, tier;
    ap_strings hosts; /* that requests, links and redirects may go to */
    struct {
        int kind;
        const char *header, *prefix, *token_url, *id_env, *secret_env;
        ap_strings env;
    } auth;
    ap_text_map headers;
    AP_LIST(ap_price_request) requests;
    struct {
        const char *name, *suffix;
        ap_strings values;
        ap_text_map clouds;
    } each; /* requests once per value */
    struct {
        int kind;
        const char *next, *param, *full_param;
        double size, most;
    } pages;
    const char *rows;            /* path of the rows; * walks a list or mapping */
    const char *must_lack;       /* a value whose presence makes the answer a failure (GraphQL errors) */
    const char *header_starts;   /* CSV: the header is the first line that starts so */
    const char *part_when_empty; /* CSV: rows without this value are parts added to rows of the same chip and count */
    ap_strings part_clouds;
    ap_price_tests where;
    ap_price_fields fields;
    AP_LIST(ap_price_column) prices;
    AP_LIST(ap_price_family) families;
    signed char median;           /* marketplace: many offers of one kind of machine become one row */
    signed char interesting_only; /* rows that are neither in the catalog nor in the names table are passed over */
    const char *unknown_starts;   /* … but names that start so are reported */
    struct {
        double max_bytes, budget_s, wait_429_s;
    } limits;
    const char *source, *as_of;
    ap_pos pos;
} ap_provider;

typedef AP_LIST(ap_provider) ap_providers;

extern const ap_object ap_provider_object;

/* The sources compiled in. */
AP_CHECKED ap_status ap_providers_builtin(ap_arena *arena, ap_providers *ret);
/* From files of a folder, sorted by id. AP_BAD_DATA, AP_IO. */
AP_CHECKED ap_status ap_providers_load_dir(const char *dir, ap_arena *arena, ap_diags *diags, ap_providers *ret);
const ap_provider *ap_provider_find(const ap_providers *providers, const char *id);

#endif
