#include "prices/fetch.h"
bool ap_adapt_gcp(ap_fetch *fetch)
{
    return ap_fetch_fail(fetch, "not supported yet");
}
