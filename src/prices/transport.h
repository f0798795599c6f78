/* HTTP for `prices update`: the only module that knows libcurl. One request, one answer; bytes go to a sink as they
 * come. Never retries, never follows a redirect by itself (the caller decides, see fetch.c).
 *
 * https only; http only to a loopback address when `allow_loopback_http` says so. Verification of certificates cannot
 * be switched off. Safe to call from several threads after ap_transport_start(). */
#ifndef AP_PRICES_TRANSPORT_H
#define AP_PRICES_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"

struct ap_http_answer;
typedef struct ap_http_request {
    const char *method, *url, *body;    /* method NULL = GET; body NULL = none */
    const char *const *headers;         /* "Name: value", NULL-terminated */
    size_t max_bytes;                   /* of the unpacked body */
    double connect_s, quiet_s, total_s; /* give up after; quiet: fewer than 1 KiB/s for so long */
    bool allow_loopback_http;
    const char *ca_file; /* NULL: CURL_CA_BUNDLE, SSL_CERT_FILE, the system's */
    /* Gets the body of a 200 answer; false stops the transfer. `answer` holds its headers. */
    bool (*sink)(void *context, const struct ap_http_answer *answer, const char *bytes, size_t len);
    void *context;
} ap_http_request;

typedef struct ap_http_answer {
    bool ok;           /* an answer came whole; its status may be anything */
    bool transient;    /* not ok, but may pass */
    bool unresolved;   /* not ok: the host's name could not be looked up */
    const char *error; /* why not ok; in the arena. Never holds a header or a query */
    long status;
    double retry_after_s;                                       /* as libcurl computes it: may be negative or huge */
    const char *etag, *last_modified, *content_type, *location; /* or NULL */
    size_t bytes;
    char head[256]; /* start of the body of any other status, for messages */
    bool too_big, sink_stopped;
    bool framed; /* its length was known and kept: not cut off unnoticed */
} ap_http_answer;

/* Once per process, before any thread. AP_IO when this program was built without libcurl. */
AP_CHECKED ap_status ap_transport_start(void);
void ap_transport_get(const ap_http_request *request, ap_arena *arena, ap_http_answer *ret);

#endif
