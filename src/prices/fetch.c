/* Requests of one source: key, test server, retries, redirects. */
#include "prices/fetch.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/num.h"
#include "base/text.h"

#define CONNECT_S   10.0
#define QUIET_S     30.0
#define TOTAL_S     120.0
#define REDIRECTS   5
#define MAX_BYTES   (16.0 * 1048576)
#define MAX_HEADERS 16

double ap_fetch_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void nap(double seconds)
{
    struct timespec wait = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    if (seconds > 0)
        nanosleep(&wait, NULL);
}

bool ap_fetch_fail(ap_fetch *fetch, const char *format, ...)
{
    if (fetch->error)
        return false;
    ap_sbuf text;
    ap_sbuf_init(&text, fetch->arena);
    va_list args;
    va_start(args, format);
    ap_sbuf_vprintf(&text, format, args);
    va_end(args);
    fetch->error = text.text;
    return false;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

const char *ap_url_encode(ap_arena *arena, const char *text)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    for (; *text; text++) {
        if (isalnum((unsigned char)*text) || strchr("-._~", *text))
            ap_sbuf_add_char(&out, *text);
        else
            ap_sbuf_printf(&out, "%%%02X", (unsigned)(unsigned char)*text);
    }
    return out.text;
}

const char *ap_fetch_fill(ap_fetch *fetch, const char *text, const char *part)
{
    const char *name = fetch->provider->each.name;
    if (!text || !name)
        return text;
    const char *mark = ap_arena_printf(fetch->arena, "{%s}", name),
               *value = ap_url_encode(fetch->arena, part ? part : "");
    ap_sbuf out;
    ap_sbuf_init(&out, fetch->arena);
    for (const char *at; (at = strstr(text, mark)); text = at + strlen(mark)) {
        ap_sbuf_add_len(&out, text, (size_t)(at - text));
        ap_sbuf_add(&out, value);
    }
    ap_sbuf_add(&out, text);
    return out.text;
}

/* Host of https://host[:443]/…, without user or port; NULL when it is no such address. */
static const char *host_of(ap_arena *arena, const char *url)
{
    if (strncasecmp(url, "https://", 8) != 0)
        return NULL;
    size_t len = strcspn(url + 8, "/?#");
    char *host = ap_str_lower(arena, ap_arena_strndup(arena, url + 8, len));
    if (len > 4 && strcmp(host + len - 4, ":443") == 0)
        host[len - 4] = '\0';
    return *host && !strpbrk(host, ":@[]\\") ? host : NULL;
}

static bool known_host(const ap_fetch *fetch, const char *host)
{
    const ap_provider *p = fetch->provider;
    for (size_t i = 0; i < p->hosts.count; i++)
        if (ap_streq(p->hosts.items[i], host))
            return true;
    for (size_t i = 0; i < p->requests.count; i++)
        if (ap_streq(host_of(fetch->arena, p->requests.items[i].url), host))
            return true;
    return p->auth.token_url && ap_streq(host_of(fetch->arena, p->auth.token_url), host);
}

static bool is_test_url(const ap_fetch *fetch, const char *url)
{
    const char *base = fetch->update->test_base_url;
    return base && ap_starts_with(url, base) && url[strlen(base)] == '/';
}

bool ap_fetch_allows(const ap_fetch *fetch, const char *url)
{
    const char *host = host_of(fetch->arena, url);
    return is_test_url(fetch, url) || (host && known_host(fetch, host));
}

/* What is really asked: in tests scheme and host become the test server's address and the source's id. */
static const char *mapped(const ap_fetch *fetch, const char *url)
{
    const char *base = fetch->update->test_base_url;
    if (!base || is_test_url(fetch, url))
        return url;
    size_t host_end = 8 + strcspn(url + 8, "/?#");
    const char *rest = url + host_end;
    return ap_arena_printf(fetch->arena, "%s/%s%s%s", base, fetch->provider->id, *rest == '/' ? "" : "/", rest);
}

static const char *without_query(ap_arena *arena, const char *url)
{
    return ap_arena_strndup(arena, url, strcspn(url, "?#"));
}

/* ---- one request ------------------------------------------------------------------------------------------------- */

typedef struct catcher {
    ap_fetch *fetch;
    const ap_ask *ask;
    bool html;
    ap_sha256 sha; /* of this attempt */
    double bytes;
} catcher;

static bool on_bytes(void *context, const ap_http_answer *answer, const char *bytes, size_t len)
{
    catcher *c = context;
    if (!c->ask->is_text && answer->content_type && strncasecmp(answer->content_type, "text/html", 9) == 0) {
        c->html = true;
        return false;
    }
    c->bytes += (double)len;
    ap_sha256_add(&c->sha, bytes, len);
    return c->ask->sink(c->ask->context, bytes, len);
}

static void fill_headers(const ap_fetch *fetch, const ap_ask *ask, const char **headers)
{
    size_t n = 0;
    const ap_provider *p = fetch->provider;
    if (fetch->auth_header)
        headers[n++] = fetch->auth_header;
    if (ask->request->body)
        headers[n++] = "Content-Type: application/json";
    if (ask->validator && ask->validator->etag)
        headers[n++] = ap_arena_printf(fetch->arena, "If-None-Match: %s", ask->validator->etag);
    if (ask->validator && ask->validator->last_modified)
        headers[n++] = ap_arena_printf(fetch->arena, "If-Modified-Since: %s", ask->validator->last_modified);
    for (size_t i = 0; i < p->headers.count && n + 1 < MAX_HEADERS; i++)
        headers[n++] = ap_arena_printf(fetch->arena, "%s: %s", p->headers.items[i].key, p->headers.items[i].value);
    headers[n] = NULL;
}

static double budget_of(const ap_fetch *fetch)
{
    return ap_or(fetch->provider->limits.budget_s, 300) * fetch->scale;
}

static double left_s(const ap_fetch *fetch)
{
    return budget_of(fetch) - (ap_fetch_clock_s() - fetch->started_s);
}

/* Where a redirect leads, or NULL with the failure noted. A request that carries a key follows none: libcurl would send
 * a header such as X-API-Key on to any host. */
static const char *redirect_target(ap_fetch *fetch, const ap_http_answer *answer)
{
    if (fetch->auth_header) {
        ap_fetch_fail(fetch, "redirected, which is refused for requests with a key");
        return NULL;
    }
    if (!answer->location || !ap_fetch_allows(fetch, answer->location)) {
        ap_fetch_fail(fetch, "redirected to an address that is not allowed (https and the source's own hosts only)");
        return NULL;
    }
    return answer->location;
}

/* Follows redirects. Returns false with fetch->error when one is refused. */
static bool perform(ap_fetch *fetch, const ap_ask *ask, catcher *c, ap_http_answer *ret)
{
    const char *headers[MAX_HEADERS + 8], *url = ask->url;
    fill_headers(fetch, ask, headers);
    /* A test server is a hundred times faster but shares a busy machine: never less than what a slow start needs. */
    double least = fetch->update->test_base_url ? 1 : 0;
    for (int hops = 0;; hops++) {
        ap_http_request request = {
            .method = ask->request->method,
            .url = mapped(fetch, url),
            .body = ask->request->body,
            .headers = headers,
            .max_bytes = (size_t)ap_or(fetch->provider->limits.max_bytes, MAX_BYTES),
            .connect_s = fmax(CONNECT_S * fetch->scale, least),
            .quiet_s = fmax(QUIET_S * fetch->scale, least),
            .total_s = fmax(
                fmin(fmax(TOTAL_S, ap_or(fetch->provider->limits.budget_s, 0)) * fetch->scale, left_s(fetch)), 0.2),
            .allow_loopback_http = fetch->update->test_base_url != NULL,
            .ca_file = fetch->update->ca_file,
            .sink = on_bytes,
            .context = c};
        ap_transport_get(&request, fetch->arena, ret);
        bool redirect = ret->ok && (ret->status == 301 || ret->status == 302 || ret->status == 303 ||
                                    ret->status == 307 || ret->status == 308);
        if (!redirect)
            return true;
        if (hops == REDIRECTS)
            return ap_fetch_fail(fetch, "more than %d redirects", REDIRECTS);
        url = redirect_target(fetch, ret);
        if (!url)
            return false;
    }
}

static const char *status_hint(const ap_fetch *fetch, long status)
{
    const ap_provider *p = fetch->provider;
    const char *variable = p->auth.env.count ? p->auth.env.items[0] : p->auth.secret_env;
    if ((status == 401 || status == 403) && variable)
        return ap_arena_printf(fetch->arena, " (is %s right?)", variable);
    return status == 429 ? " (too many requests)" : "";
}

static bool explain_failure(ap_fetch *fetch, const catcher *c, const ap_http_answer *answer)
{
    if (c->html)
        return ap_fetch_fail(fetch, "got a web page instead of data");
    if (answer->sink_stopped)
        return ap_fetch_fail(fetch, "the answer cannot be read");
    if (!answer->ok)
        return ap_fetch_fail(fetch, "%s", answer->error);
    if (answer->status == 304)
        return ap_fetch_fail(fetch, "said \"not modified\" to a request without condition");
    return ap_fetch_fail(fetch, "HTTP status %ld%s", answer->status, status_hint(fetch, answer->status));
}

static bool settled(ap_fetch *fetch, const ap_ask *ask, const catcher *c, const ap_http_answer *answer)
{
    fetch->http_status = answer->status;
    fetch->not_modified = answer->ok && answer->status == 304 && ask->validator;
    fetch->absent = answer->ok && answer->status == 404;
    return answer->ok && answer->status == 200 && !c->html;
}

/* The source's hash is over the hashes of its answers, so that a repeated request leaves no trace. */
static void count_answer(ap_fetch *fetch, catcher *c)
{
    char hex[65];
    ap_sha256_end(&c->sha, hex);
    ap_sha256_add(&fetch->sha, hex, 64);
    fetch->bytes += c->bytes;
}

bool ap_fetch_ask(ap_fetch *fetch, const ap_ask *ask, ap_http_answer *ret)
{
    catcher c = {.fetch = fetch, .ask = ask};
    fetch->not_modified = fetch->absent = false;
    if (!ap_fetch_allows(fetch, ask->url))
        return ap_fetch_fail(fetch, "the next page is not on an allowed host");
    if (!fetch->first_url)
        fetch->first_url = without_query(fetch->arena, ask->url);
    fetch->retry.attempts = 0;
    for (;;) {
        ask->restart(ask->context);
        c.html = false;
        c.bytes = 0;
        ap_sha256_init(&c.sha);
        if (!perform(fetch, ask, &c, ret))
            return false;
        if (settled(fetch, ask, &c, ret)) {
            count_answer(fetch, &c);
            return true;
        }
        if (fetch->not_modified || fetch->absent)
            return fetch->absent ? ap_fetch_fail(fetch, "HTTP status 404") : false;
        ap_retry_outcome outcome = {.transport_failed = !ret->ok,
                                    .transient = ret->transient && !c.html && !ret->sink_stopped,
                                    .unresolved = ret->unresolved,
                                    .http_status = ret->status,
                                    .retry_after_s = ret->retry_after_s};
        double wait = ap_retry_decide(&fetch->retry, &outcome) * fetch->scale;
        if (wait < 0 || wait >= left_s(fetch)) {
            fetch->unreachable = outcome.transport_failed && outcome.transient;
            return explain_failure(fetch, &c, ret);
        }
        nap(wait);
    }
}

void ap_fetch_note_validator(ap_fetch *fetch, const ap_http_answer *answer, const char *url, const char *part)
{
    if (!answer->etag && !answer->last_modified)
        return;
    *AP_PUSH(fetch->arena, fetch->validators, fetch->validator_count, fetch->validator_capacity) =
        (ap_validator){without_query(fetch->arena, url), answer->etag, answer->last_modified, part};
}

/* ---- whole answers ----------------------------------------------------------------------------------------------- */

typedef struct buffer { /* outside the arena: large, and gone soon */
    char *bytes;
    size_t len, capacity;
} buffer;

static void restart_buffer(void *context)
{
    ((buffer *)context)->len = 0;
}

static bool fill_buffer(void *context, const char *bytes, size_t len)
{
    buffer *b = context;
    if (b->len + len + 1 > b->capacity) {
        size_t capacity = (b->len + len + 1) * 2;
        char *bigger = realloc(b->bytes, capacity);
        if (!bigger)
            return false;
        b->bytes = bigger;
        b->capacity = capacity;
    }
    memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
    b->bytes[b->len] = '\0';
    return true;
}

bool ap_fetch_bytes(ap_fetch *fetch, const ap_price_request *request, const char *url, const ap_validator *validator,
                    char **ret_bytes, size_t *ret_len)
{
    buffer b = {0};
    ap_http_answer answer;
    bool conditional = validator && (validator->etag || validator->last_modified);
    ap_ask ask = {.request = request,
                  .url = url,
                  .validator = conditional ? validator : NULL,
                  .sink = fill_buffer,
                  .restart = restart_buffer,
                  .context = &b};
    bool good = ap_fetch_ask(fetch, &ask, &answer);
    if (good && b.len == 0)
        good = ap_fetch_fail(fetch, "the answer is empty");
    if (good)
        ap_fetch_note_validator(fetch, &answer, url, validator ? validator->part : NULL);
    if (!good) {
        free(b.bytes);
        b = (buffer){0};
    }
    *ret_bytes = b.bytes;
    *ret_len = b.len;
    return good;
}

static bool looks_like_html(const char *text)
{
    text += strspn(text, " \t\r\n");
    return strncasecmp(text, "<!doctype html", 14) == 0 || strncasecmp(text, "<html", 5) == 0;
}

/* libcurl takes an answer cut off under HTTP/1.0 or inside gzip for whole; only the parser notices. */
bool ap_fetch_json(ap_fetch *fetch, const ap_price_request *request, const char *url, const ap_validator *validator,
                   cJSON **ret_root)
{
    char *bytes;
    size_t len, bad = 0;
    *ret_root = NULL;
    if (!ap_fetch_bytes(fetch, request, url, validator, &bytes, &len))
        return false;
    const char *text = bytes, *end = NULL;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3;
    size_t text_len = len - (size_t)(text - bytes);
    if (!ap_utf8_valid(text, text_len, &bad))
        ap_fetch_fail(fetch, "the answer is not UTF-8 (byte %zu)", bad);
    else if (looks_like_html(text))
        ap_fetch_fail(fetch, "got a web page instead of data");
    else if (!(*ret_root = cJSON_ParseWithLengthOpts(text, text_len + 1, &end, 1)))
        ap_fetch_fail(fetch, "the answer is not whole JSON (byte %zu of %zu)", end ? (size_t)(end - text) : 0,
                      text_len);
    free(bytes);
    return *ret_root != NULL;
}
