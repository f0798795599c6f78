/* Asking one source: addresses, keys, retries, redirects, pages. Private to src/prices. One fetch runs on one thread
 * and touches nothing that others write: its own arena, its own findings. */
#ifndef AP_PRICES_FETCH_H
#define AP_PRICES_FETCH_H

#include "prices/prices.h"
#include "prices/record.h"
#include "prices/retry.h"
#include "prices/sha256.h"
#include "prices/transport.h"

typedef enum ap_part_status { AP_PART_OK, AP_PART_NOT_MODIFIED, AP_PART_FAILED, AP_PART_ABSENT } ap_part_status;
typedef struct ap_part {
    const char *name; /* NULL: the source is not asked in parts */
    ap_part_status status;
} ap_part;

typedef struct ap_fetch {
    const ap_provider *provider;
    const ap_price_update *update;
    const ap_source_state *old; /* or NULL */
    const char *definition;     /* hash of the provider's definition */
    ap_arena *arena;
    double scale; /* of waits and budgets: 1, in tests 0.01 */
    double started_s;
    ap_retry retry;
    const char *key;         /* secret, or NULL. Never printed or stored */
    const char *auth_header; /* "Name: prefix key" */
    /* results */
    ap_row_sink rows;
    ap_rate *rates;
    size_t rate_count;
    ap_part *parts;
    size_t part_count;
    ap_validator *validators;
    size_t validator_count, validator_capacity;
    ap_sha256 sha;
    double bytes;
    long http_status;
    const char *first_url; /* without query */
    const char *error;     /* of the first failure */
    bool absent;           /* the last request was answered 404 */
    bool not_modified;     /* … 304 */
    bool unreachable;      /* no answer came, try after try: further parts are not asked */
} ap_fetch;

/* Runs the whole source; results lie in the fetch. */
void ap_fetch_run(ap_fetch *fetch);

/* ---- for the adapters -------------------------------------------------------------------------------------------- */

/* Remembers the first failure; returns false. Text must hold no secret. */
bool ap_fetch_fail(ap_fetch *fetch, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct ap_ask {
    const ap_price_request *request;
    const char *url; /* as the provider says it: https://host/…; mapped to the test server here */
    const ap_validator *validator;
    bool (*sink)(void *context, const char *bytes, size_t len);
    void (*restart)(void *context); /* forget what the sink got: the request is repeated */
    void *context;
    bool is_text; /* HTML is then no surprise to be reported as such */
} ap_ask;
/* One answer with status 200, all of it given to the sink. False: failed (fetch->error), 304 or 404 (flags). */
bool ap_fetch_ask(ap_fetch *fetch, const ap_ask *ask, ap_http_answer *ret);
/* A whole JSON answer. The caller deletes the tree. */
bool ap_fetch_json(ap_fetch *fetch, const ap_price_request *request, const char *url, const ap_validator *validator,
                   cJSON **ret_root);
/* Bytes of a whole answer, to be freed. */
bool ap_fetch_bytes(ap_fetch *fetch, const ap_price_request *request, const char *url, const ap_validator *validator,
                    char **ret_bytes, size_t *ret_len);
/* `text` with {name} of the present part filled in, percent-encoded. */
const char *ap_fetch_fill(ap_fetch *fetch, const char *text, const char *part);
/* May links and redirects lead there? */
bool ap_fetch_allows(const ap_fetch *fetch, const char *url);
const char *ap_url_encode(ap_arena *arena, const char *text);
void ap_fetch_note_validator(ap_fetch *fetch, const ap_http_answer *answer, const char *url, const char *part);
/* What is remembered of the last answer from there; its etag and last_modified are NULL when nothing may be used. */
const ap_validator *ap_fetch_validator(ap_fetch *fetch, const char *url, const char *part);
double ap_fetch_clock_s(void);

bool ap_adapt_json(ap_fetch *fetch, const ap_price_request *request, const char *part);
bool ap_adapt_csv(ap_fetch *fetch, const ap_price_request *request, const char *part);
bool ap_adapt_zip(ap_fetch *fetch, const ap_price_request *request, const char *part);
bool ap_adapt_oci(ap_fetch *fetch);
/* Replaces the parts that were fetched by the machines they make. */
void ap_compose_gcp(ap_fetch *fetch);
bool ap_adapt_rates(ap_fetch *fetch, const ap_price_request *request);

#endif
