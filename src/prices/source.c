/* One source from its first request to raw offers: parts, pages, the adapter of its answers. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "io/json.h"
#include "prices/fetch.h"

#define MOST_PAGES 1000

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* In tests only keys that begin with "test-" leave the program. */
static const char *key_from(const ap_fetch *fetch, const char *variable)
{
    const char *value = variable ? getenv(variable) : NULL;
    if (!value || !*value)
        return NULL;
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c < 0x21 || *c == 0x7F) /* a line break would smuggle in headers */
            return NULL;
    return !fetch->update->test_base_url || ap_starts_with(value, "test-") ? value : NULL;
}

static bool take_token(ap_fetch *fetch, const char *id, const char *secret)
{
    ap_sbuf body;
    ap_sbuf_init(&body, fetch->arena);
    ap_json_writer w;
    ap_json_begin(&w, &body, 0);
    ap_json_object_open(&w);
    ap_json_key(&w, "grant_type");
    ap_json_string(&w, "client_credentials");
    ap_json_key(&w, "client_id");
    ap_json_string(&w, id);
    ap_json_key(&w, "client_secret");
    ap_json_string(&w, secret);
    ap_json_object_close(&w);
    ap_price_request request = {.method = "POST", .url = fetch->provider->auth.token_url, .body = body.text};
    AP_SCOPED_JSON *root = NULL;
    fetch->auth_header = "Accept: application/json"; /* marks the request as one that carries a secret */
    bool good = ap_fetch_json(fetch, &request, request.url, NULL, &root);
    fetch->auth_header = NULL;
    if (!good)
        return false;
    const cJSON *token = cJSON_GetObjectItemCaseSensitive(root, "access_token");
    if (!cJSON_IsString(token) || !*token->valuestring || strpbrk(token->valuestring, "\r\n"))
        return ap_fetch_fail(fetch, "the answer to the log-in holds no access_token");
    fetch->auth_header = ap_arena_printf(fetch->arena, "Authorization: Bearer %s", token->valuestring);
    return true;
}

static bool prepare_key(ap_fetch *fetch)
{
    const ap_provider *p = fetch->provider;
    if (p->auth.kind == AP_AUTH_OAUTH2) {
        const char *id = key_from(fetch, p->auth.id_env), *secret = key_from(fetch, p->auth.secret_env);
        if (!id || !secret)
            return ap_fetch_fail(fetch, "needs %s and %s in the environment", p->auth.id_env, p->auth.secret_env);
        return take_token(fetch, id, secret);
    }
    for (size_t i = 0; p->auth.kind == AP_AUTH_HEADER && i < p->auth.env.count && !fetch->key; i++)
        fetch->key = key_from(fetch, p->auth.env.items[i]);
    if (fetch->key)
        fetch->auth_header =
            ap_arena_printf(fetch->arena, "%s: %s%s", p->auth.header, p->auth.prefix ? p->auth.prefix : "", fetch->key);
    if (p->auth.kind == AP_AUTH_HEADER && !fetch->key && p->tier == AP_TIER_KEYED)
        return ap_fetch_fail(fetch, "needs a key in %s", p->auth.env.items[0]);
    return true;
}

/* ---- JSON, page after page --------------------------------------------------------------------------------------- */

typedef struct pager {
    ap_fetch *fetch;
    const ap_price_request *request;
    const char *part, *first;
    const char **seen;
    size_t seen_count, seen_capacity, rows, page;
} pager;

static void take_row(void *context, const ap_record *record)
{
    pager *p = context;
    ap_row_take(&p->fetch->rows, record);
    p->rows++;
}

static const char *with_param(ap_arena *arena, const char *url, const char *param, const char *value)
{
    return ap_arena_printf(arena, "%s%c%s=%s", url, strchr(url, '?') ? '&' : '?', param, ap_url_encode(arena, value));
}

static const char *next_page(pager *p, const cJSON *root, size_t rows_here)
{
    const ap_provider *provider = p->fetch->provider;
    ap_arena *arena = p->fetch->arena;
    const cJSON *link = provider->pages.next ? ap_json_pointer(root, provider->pages.next) : NULL;
    const char *text = cJSON_IsString(link) && *link->valuestring ? link->valuestring : NULL;
    bool full = provider->pages.size > 0 && (double)rows_here >= provider->pages.size;
    if (provider->pages.kind == AP_PAGE_NEXT_URL && text)
        return ap_arena_strdup(arena, text);
    if (provider->pages.kind == AP_PAGE_NEXT_URL && full && provider->pages.full_param)
        return with_param(arena, p->first, provider->pages.full_param, ap_arena_printf(arena, "%zu", p->rows));
    if (provider->pages.kind == AP_PAGE_CURSOR && text)
        return with_param(arena, p->first, provider->pages.param, text);
    if (provider->pages.kind == AP_PAGE_NUMBER && full)
        return with_param(arena, p->first, provider->pages.param, ap_arena_printf(arena, "%zu", p->page + 1));
    return NULL;
}

static bool seen_before(pager *p, const char *url)
{
    for (size_t i = 0; i < p->seen_count; i++)
        if (strcmp(p->seen[i], url) == 0)
            return true;
    *AP_PUSH(p->fetch->arena, p->seen, p->seen_count, p->seen_capacity) = url;
    return false;
}

static bool take_page(pager *p, const char *url, const ap_validator *validator, const char **ret_next)
{
    ap_fetch *fetch = p->fetch;
    const ap_provider *provider = fetch->provider;
    AP_SCOPED_JSON *root = NULL;
    AP_SCOPED_ARENA *scratch = ap_arena_new(); /* texts that only live while a row is looked at */
    *ret_next = NULL;
    if (!ap_fetch_json(fetch, p->request, url, validator, &root))
        return false;
    ap_record record = {.part = p->part, .arena = scratch};
    size_t before = p->rows;
    if (provider->must_lack && ap_json_pointer(root, provider->must_lack))
        return ap_fetch_fail(fetch, "the answer reports an error");
    const char *rows = p->request->rows ? p->request->rows : provider->rows ? provider->rows : "/*";
    if (!ap_record_walk(root, rows, &record, take_row, p))
        return ap_fetch_fail(fetch, "the answer has changed its shape: nothing at %s", rows);
    *ret_next = next_page(p, root, p->rows - before);
    return true;
}

const ap_validator *ap_fetch_validator(ap_fetch *fetch, const char *url, const char *part)
{
    const ap_provider *p = fetch->provider;
    ap_validator *none = AP_NEW(fetch->arena, ap_validator);
    none->part = part;
    bool one_page = p->pages.kind <= AP_PAGE_NONE; /* absent is -1 */
    bool whole = one_page && p->requests.count == 1 && p->adapter != AP_ADAPT_OCI && p->adapter != AP_ADAPT_GCP;
    if (!whole || !fetch->old || !ap_streq(fetch->old->definition, fetch->definition))
        return none;
    size_t len = strcspn(url, "?#");
    for (size_t i = 0; i < fetch->old->validators.count; i++) {
        const ap_validator *v = &fetch->old->validators.items[i];
        if (v->url && strlen(v->url) == len && strncmp(v->url, url, len) == 0 && ap_streq(v->part, part))
            return v;
    }
    return none;
}

bool ap_adapt_json(ap_fetch *fetch, const ap_price_request *request, const char *part)
{
    pager p = {.fetch = fetch, .request = request, .part = part};
    p.first = ap_fetch_fill(fetch, request->url, part);
    if (fetch->provider->each.suffix && part)
        p.first =
            ap_arena_printf(fetch->arena, "%s%s", p.first, ap_fetch_fill(fetch, fetch->provider->each.suffix, part));
    const ap_validator *validator = ap_fetch_validator(fetch, p.first, part);
    for (const char *url = p.first; url; validator = NULL) {
        if (seen_before(&p, url))
            return ap_fetch_fail(fetch, "the link to the next page leads in a circle");
        if (++p.page > (size_t)ap_or(fetch->provider->pages.most, MOST_PAGES))
            return ap_fetch_fail(fetch, "more than %zu pages", p.page - 1);
        if (!take_page(&p, url, validator, &url))
            return false;
    }
    return true;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static const char *cloud_of_part(const ap_provider *p, const char *part)
{
    for (size_t i = 0; i < p->each.clouds.count; i++)
        if (ap_streq(p->each.clouds.items[i].key, part))
            return p->each.clouds.items[i].value;
    return part;
}

static bool ask_request(ap_fetch *fetch, const ap_price_request *request, const char *part)
{
    switch (fetch->provider->adapter) {
    case AP_ADAPT_JSON:
    case AP_ADAPT_GCP:
        return ap_adapt_json(fetch, request, part);
    case AP_ADAPT_CSV:
        return ap_adapt_csv(fetch, request, part);
    case AP_ADAPT_ZIP:
        return ap_adapt_zip(fetch, request, part);
    case AP_ADAPT_RATES:
        return ap_adapt_rates(fetch, request);
    default:
        return false;
    }
}

/* The address, then its mirror when that fails for another reason than "no such file". */
static bool ask_with_mirror(ap_fetch *fetch, const ap_price_request *request, const char *part)
{
    size_t mark = fetch->rows.offers.count;
    const char *error_before = fetch->error;
    if (ask_request(fetch, request, part))
        return true;
    if (!request->mirror || fetch->not_modified || fetch->absent)
        return false;
    const char *error = fetch->error;
    ap_price_request mirror = *request;
    mirror.url = request->mirror;
    fetch->rows.offers.count = mark;
    fetch->error = error_before;
    fetch->unreachable = false;
    if (ask_request(fetch, &mirror, part))
        return true;
    fetch->error = error;
    return false;
}

static void run_part(ap_fetch *fetch, const char *name)
{
    const ap_provider *p = fetch->provider;
    ap_part *part = &fetch->parts[fetch->part_count++];
    part->name = name ? ap_arena_strdup(fetch->arena, name) : NULL;
    size_t mark = fetch->rows.offers.count;
    const char *error_before = fetch->error;
    bool good = true;
    if (p->adapter == AP_ADAPT_OCI)
        good = ap_adapt_oci(fetch);
    else
        for (size_t i = 0; i < p->requests.count && good; i++)
            good = ask_with_mirror(fetch, &p->requests.items[i], name);
    if (good && p->adapter == AP_ADAPT_GCP)
        ap_compose_gcp(fetch);
    bool absent = !good && fetch->absent && name;
    part->status = good                  ? AP_PART_OK
                   : fetch->not_modified ? AP_PART_NOT_MODIFIED
                   : absent              ? AP_PART_ABSENT
                                         : AP_PART_FAILED;
    if (!good)
        fetch->rows.offers.count = mark;
    if (absent)
        fetch->error = error_before;
    bool by_cloud = ap_streq(p->each.name, "cloud");
    for (size_t i = mark; i < fetch->rows.offers.count; i++) {
        fetch->rows.offers.items[i].part = part->name;
        if (by_cloud)
            fetch->rows.offers.items[i].cloud = cloud_of_part(p, part->name);
    }
}

static ap_strings parts_of(const ap_fetch *fetch)
{
    const ap_provider *p = fetch->provider;
    bool by_region = ap_streq(p->each.name, "region");
    return by_region && fetch->update->regions.count ? fetch->update->regions : p->each.values;
}

void ap_fetch_run(ap_fetch *fetch)
{
    fetch->started_s = ap_fetch_clock_s();
    ap_sha256_init(&fetch->sha);
    fetch->rows = (ap_row_sink){.provider = fetch->provider, .arena = fetch->arena};
    fetch->retry = (ap_retry){.wait_429_s = ap_or(fetch->provider->limits.wait_429_s, 0),
                              .random = (uint64_t)(fetch->started_s * 1e6)};
    ap_strings parts = parts_of(fetch);
    fetch->parts = AP_NEW_ARRAY(fetch->arena, ap_part, parts.count + 1);
    if (!prepare_key(fetch)) {
        fetch->parts[fetch->part_count++] = (ap_part){NULL, AP_PART_FAILED};
        return;
    }
    if (parts.count == 0)
        run_part(fetch, NULL);
    for (size_t i = 0; i < parts.count; i++) {
        if (fetch->unreachable)
            fetch->parts[fetch->part_count++] =
                (ap_part){ap_arena_strdup(fetch->arena, parts.items[i]), AP_PART_FAILED};
        else
            run_part(fetch, parts.items[i]);
    }
}
