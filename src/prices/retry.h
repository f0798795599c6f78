/* When to ask again, and after how long. Pure: what happened in, decision out. */
#ifndef AP_PRICES_RETRY_H
#define AP_PRICES_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#define AP_RETRY_ATTEMPTS   5
#define AP_RETRY_UNRESOLVED 3 /* no name server answers: most likely there is no network at all */

typedef struct ap_retry {
    int attempts; /* made so far */
    double waited_s;
    double budget_s;   /* of the whole source, from its start */
    double elapsed_s;  /* since its start */
    double wait_429_s; /* wait on 429 without Retry-After; 0 = as others. Once only. */
    uint64_t random;   /* state of the jitter, any seed */
} ap_retry;

typedef struct ap_retry_outcome {
    bool transport_failed; /* no usable answer */
    bool transient;        /* … for a reason that may pass */
    bool unresolved;       /* … the host's name could not be looked up */
    long http_status;      /* 0 without an answer */
    double retry_after_s;  /* as the header says, anything; 0 = none */
} ap_retry_outcome;

/* Seconds to wait before asking again, or a negative number: give up (or nothing to repeat). */
double ap_retry_decide(ap_retry *retry, const ap_retry_outcome *outcome);

#endif
