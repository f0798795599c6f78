#include "prices/transport.h"

#include <stdlib.h>
#include <string.h>

#ifdef AP_NO_CURL

ap_status ap_transport_start(void)
{
    return AP_IO;
}

void ap_transport_get(const ap_http_request *request, ap_arena *arena, ap_http_answer *ret)
{
    (void)request;
    (void)arena;
    *ret = (ap_http_answer){.error = "this program was built without libcurl"};
}

#else

#include <ctype.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <math.h>
#include <time.h>

#include "base/str.h"

#define QUIET_BYTES_PER_S 1024.0

#ifdef __APPLE__
#define CURL_LIBRARY "libcurl.4.dylib"
#else
#define CURL_LIBRARY "libcurl.so.4"
#endif

/* libcurl is loaded when an update asks for it, not when the program starts: it brings some thirty libraries, whose
 * loading would take longer than most answers (docs/adr/0010-libcurl-on-demand.md). */
typedef struct curl_api {
    CURLcode (*global_init)(long);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*easy_perform)(CURL *);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    void (*easy_cleanup)(CURL *);
    const char *(*easy_strerror)(CURLcode);
    struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
    void (*slist_free_all)(struct curl_slist *);
} curl_api;

/* Every function or none; the library stays loaded until the program ends. */
static bool load_curl(curl_api *api)
{
    void *library = dlopen(CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const struct {
        const char *name;
        void *slot;
    } functions[] = {
        {"curl_global_init", &api->global_init},       {"curl_easy_init", &api->easy_init},
        {"curl_easy_setopt", &api->easy_setopt},       {"curl_easy_perform", &api->easy_perform},
        {"curl_easy_getinfo", &api->easy_getinfo},     {"curl_easy_cleanup", &api->easy_cleanup},
        {"curl_easy_strerror", &api->easy_strerror},   {"curl_slist_append", &api->slist_append},
        {"curl_slist_free_all", &api->slist_free_all},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = library ? dlsym(library, functions[i].name) : NULL;
        if (!function)
            return false;
        memcpy(functions[i].slot, &function, sizeof function); /* ISO C has no cast for this */
    }
    return true;
}

typedef struct transfer {
    const ap_http_request *request;
    ap_http_answer *answer;
    ap_arena *arena;
    CURL *curl;
    const curl_api *api;
    double window_start_s; /* of the present low-speed window */
    curl_off_t window_bytes;
    bool quiet, packed;
} transfer;

ap_status ap_transport_start(void)
{
    curl_api api;
    return load_curl(&api) && api.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? AP_OK : AP_IO;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void keep_head(ap_http_answer *answer, const char *bytes, size_t len)
{
    size_t held = strlen(answer->head), room = sizeof answer->head - 1 - held;
    for (size_t i = 0; i < len && i < room; i++)
        answer->head[held + i] = (unsigned char)bytes[i] < 0x20 || (unsigned char)bytes[i] > 0x7E ? ' ' : bytes[i];
}

/* libcurl 7.88 lets chunked and packed bodies past its own limit, so bytes are counted where they arrive. */
static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    transfer *t = context;
    size_t len = size * count;
    t->answer->bytes += len;
    if (t->answer->bytes > t->request->max_bytes) {
        t->answer->too_big = true;
        return 0;
    }
    if (t->answer->status == 0)
        t->api->easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &t->answer->status);
    if (t->answer->status != 200) {
        keep_head(t->answer, bytes, len);
        return len;
    }
    if (t->request->sink && !t->request->sink(t->request->context, t->answer, bytes, len)) {
        t->answer->sink_stopped = true;
        return 0;
    }
    return len;
}

static const char *header_value(const transfer *t, const char *line, size_t len, const char *name)
{
    size_t name_len = strlen(name);
    if (len <= name_len || line[name_len] != ':')
        return NULL;
    for (size_t i = 0; i < name_len; i++)
        if (tolower((unsigned char)line[i]) != name[i])
            return NULL;
    const char *from = line + name_len + 1, *end = line + len;
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' '))
        end--;
    return ap_arena_strndup(t->arena, from, (size_t)(end - from));
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    transfer *t = context;
    size_t len = size * count;
    const char *value;
    if (len > 5 && strncmp(line, "HTTP/", 5) == 0) /* a new answer (after 100 Continue): forget the earlier one's */
        t->answer->etag = t->answer->last_modified = t->answer->content_type = t->answer->location = NULL,
        t->answer->framed = t->packed = false;
    if ((value = header_value(t, line, len, "etag")))
        t->answer->etag = value;
    else if ((value = header_value(t, line, len, "last-modified")))
        t->answer->last_modified = value;
    else if ((value = header_value(t, line, len, "content-type")))
        t->answer->content_type = value;
    else if (header_value(t, line, len, "content-encoding"))
        t->packed = true;
    else if (header_value(t, line, len, "content-length") || header_value(t, line, len, "transfer-encoding"))
        t->answer->framed = true;
    return len;
}

/* Own low-speed guard: libcurl's works in whole seconds and tests run a hundred times faster. */
static int on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    (void)total;
    (void)up_total;
    (void)up_now;
    transfer *t = context;
    double at = now_s();
    if (at - t->window_start_s < t->request->quiet_s)
        return 0;
    if ((double)(now - t->window_bytes) < QUIET_BYTES_PER_S * t->request->quiet_s) {
        t->quiet = true;
        return 1;
    }
    t->window_start_s = at;
    t->window_bytes = now;
    return 0;
}

static bool is_transient(CURLcode code)
{
    static const CURLcode passing[] = {CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,
                                       CURLE_PARTIAL_FILE,          CURLE_OPERATION_TIMEDOUT,   CURLE_SSL_CONNECT_ERROR,
                                       CURLE_GOT_NOTHING,           CURLE_SEND_ERROR,           CURLE_RECV_ERROR,
                                       CURLE_BAD_CONTENT_ENCODING,  CURLE_HTTP2_STREAM,         CURLE_HTTP2};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (code == passing[i])
            return true;
    return false;
}

static const char *explain(const transfer *t, CURLcode code)
{
    char text[64];
    if (t->answer->too_big) {
        double mib = (double)t->request->max_bytes / 1048576.0;
        return ap_arena_printf(t->arena, "the answer is too large (more than %.3g MiB)", mib);
    }
    if (t->quiet)
        return "time-out: the server sends nothing or too slowly";
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return "time-out";
    case CURLE_COULDNT_RESOLVE_HOST:
        return "the host's name cannot be looked up (is there a network?)";
    case CURLE_COULDNT_CONNECT:
        return "cannot connect";
    case CURLE_GOT_NOTHING:
        return "the server closed the connection without an answer";
    case CURLE_RECV_ERROR:
        return "the connection broke off";
    case CURLE_PARTIAL_FILE:
        return "the answer was cut off";
    case CURLE_PEER_FAILED_VERIFICATION:
        return "the server's certificate is not trusted";
    case CURLE_OUT_OF_MEMORY:
        return "the answer's headers are too large"; /* what 7.88 says to one header of 1 MB */
    default:
        break;
    }
    strncpy(text, t->api->easy_strerror(code), sizeof text - 1);
    text[sizeof text - 1] = '\0';
    return ap_arena_printf(t->arena, "%s (libcurl %d)", text, (int)code);
}

static bool is_loopback_http(const char *url)
{
    static const char *const allowed[] = {"http://127.0.0.1", "http://localhost", "http://[::1]"};
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        size_t len = strlen(allowed[i]);
        if (strncmp(url, allowed[i], len) == 0 && (url[len] == ':' || url[len] == '/' || !url[len]))
            return true;
    }
    return false;
}

static const char *ca_file(const ap_http_request *request)
{
    const char *names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}; /* the library, unlike the tool, reads neither */
    if (request->ca_file)
        return request->ca_file;
    for (size_t i = 0; i < 2; i++) {
        const char *path = getenv(names[i]);
        if (path && *path)
            return path;
    }
    return NULL;
}

static void set_options(transfer *t, struct curl_slist *headers, const char *protocols)
{
    const ap_http_request *r = t->request;
    CURL *c = t->curl;
    CURLcode (*set)(CURL *, CURLoption, ...) = t->api->easy_setopt;
    set(c, CURLOPT_URL, r->url);
    set(c, CURLOPT_PROTOCOLS_STR, protocols);
    set(c, CURLOPT_REDIR_PROTOCOLS_STR, "https");
    set(c, CURLOPT_FOLLOWLOCATION, 0L);
    set(c, CURLOPT_NOSIGNAL, 1L);
    set(c, CURLOPT_ACCEPT_ENCODING, "");
    set(c, CURLOPT_SSL_VERIFYPEER, 1L);
    set(c, CURLOPT_SSL_VERIFYHOST, 2L);
    set(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    set(c, CURLOPT_USERAGENT, "accelpick/" AP_VERSION);
    set(c, CURLOPT_CONNECTTIMEOUT_MS, (long)(r->connect_s * 1000));
    set(c, CURLOPT_TIMEOUT_MS, (long)(r->total_s * 1000));
    set(c, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)r->max_bytes);
    set(c, CURLOPT_HTTPHEADER, headers);
    set(c, CURLOPT_WRITEFUNCTION, on_body);
    set(c, CURLOPT_WRITEDATA, t);
    set(c, CURLOPT_HEADERFUNCTION, on_header);
    set(c, CURLOPT_HEADERDATA, t);
    set(c, CURLOPT_NOPROGRESS, 0L);
    set(c, CURLOPT_XFERINFOFUNCTION, on_progress);
    set(c, CURLOPT_XFERINFODATA, t);
    if (r->body)
        set(c, CURLOPT_POSTFIELDS, r->body);
    else if (r->method && strcmp(r->method, "POST") == 0)
        set(c, CURLOPT_POSTFIELDS, "");
    if (ca_file(r))
        set(c, CURLOPT_CAINFO, ca_file(r));
}

static void read_answer(transfer *t, CURLcode code)
{
    ap_http_answer *answer = t->answer;
    curl_off_t retry_after = 0;
    char *location = NULL;
    t->api->easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    t->api->easy_getinfo(t->curl, CURLINFO_RETRY_AFTER, &retry_after);
    t->api->easy_getinfo(t->curl, CURLINFO_REDIRECT_URL, &location);
    answer->retry_after_s = (double)retry_after;
    answer->location = ap_arena_strdup(t->arena, location);
    answer->ok = code == CURLE_OK;
    answer->framed = answer->framed && !t->packed; /* half a gzip stream passes for whole */
    if (answer->ok)
        return;
    answer->too_big = answer->too_big || code == CURLE_FILESIZE_EXCEEDED;
    answer->transient = t->quiet || (!answer->too_big && is_transient(code));
    answer->unresolved = code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY;
    answer->error = explain(t, code);
}

void ap_transport_get(const ap_http_request *request, ap_arena *arena, ap_http_answer *ret)
{
    *ret = (ap_http_answer){0};
    bool loopback = request->allow_loopback_http && is_loopback_http(request->url);
    if (!loopback && strncmp(request->url, "https://", 8) != 0) {
        ret->error = "refused: not an https address";
        return;
    }
    curl_api api;
    transfer t = {.request = request, .answer = ret, .arena = arena, .api = &api, .window_start_s = now_s()};
    t.curl = load_curl(&api) ? api.easy_init() : NULL;
    if (!t.curl) {
        ret->error = "libcurl cannot start";
        return;
    }
    struct curl_slist *headers = NULL;
    for (size_t i = 0; request->headers && request->headers[i]; i++)
        headers = api.slist_append(headers, request->headers[i]);
    set_options(&t, headers, loopback ? "http" : "https");
    read_answer(&t, api.easy_perform(t.curl));
    api.slist_free_all(headers);
    api.easy_cleanup(t.curl);
}

#endif
