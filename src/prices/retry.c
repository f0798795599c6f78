#include "prices/retry.h"

#include <math.h>

#define LONGEST_RETRY_AFTER_S 120.0
#define LONGEST_BACKOFF_S     30.0

static bool is_transient_status(long status)
{
    return status == 408 || status == 425 || status == 429 || status == 500 || status == 502 || status == 503 ||
           status == 504;
}

/* xorshift64*: jitter needs no more. */
static double random_share(uint64_t *state)
{
    *state ^= *state ? 0 : UINT64_C(0x9E3779B97F4A7C15);
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * UINT64_C(2685821657736338717)) >> 11) / 9007199254740992.0;
}

double ap_retry_decide(ap_retry *retry, const ap_retry_outcome *outcome)
{
    retry->attempts++;
    bool again = outcome->transport_failed ? outcome->transient : is_transient_status(outcome->http_status);
    if (!again || retry->attempts >= (outcome->unresolved ? AP_RETRY_UNRESOLVED : AP_RETRY_ATTEMPTS))
        return -1;
    double wait;
    /* A date far off or in the past (which libcurl reports as huge or negative seconds) is clamped. */
    if (outcome->retry_after_s > 0) {
        wait = fmin(outcome->retry_after_s, LONGEST_RETRY_AFTER_S);
    } else if (outcome->http_status == 429 && retry->wait_429_s > 0) {
        wait = retry->wait_429_s;
        retry->wait_429_s = 0;
    } else {
        wait = random_share(&retry->random) * fmin(LONGEST_BACKOFF_S, pow(2, retry->attempts));
    }
    return wait;
}
