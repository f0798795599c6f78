/* Communication bandwidths of a training job (docs/model.md M-30 … M-32). */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "estimate/llm.h"

/* M-31: inside a fast domain the link; outside, the slower of link and this rank's share of its node's network ports:
 * each member of the group in the node brings one chip's share of the ports. */
double ap_llm_ring(const ap_llm_facts *f, double group, double stride)
{
    if (fmin(group * stride, f->chips) <= f->domain * 1.01)
        return f->link;
    double in_node = fmax(1, fmin(group, f->per_node / stride));
    return fmin(f->link, f->nic * in_node);
}

static const struct {
    const char *word;
    double bytes_per_s;
} port_kinds[] = {{"ndr", 50e9}, {"hdr100", 12.5e9}, {"hdr", 25e9}, {"edr", 12.5e9}, {"fdr", 7e9}};

/* "8x HDR", "compute: 4x Mellanox NDR": number of ports times their rate. */
static double ports(const char *text)
{
    for (const char *at = text; (at = strchr(at, 'x')) != NULL; at++) {
        if (at == text || !isdigit((unsigned char)at[-1]))
            continue;
        const char *start = at - 1;
        while (start > text && isdigit((unsigned char)start[-1]))
            start--;
        const char *stop = strpbrk(at, ",;");
        size_t length = stop ? (size_t)(stop - at) : strlen(at);
        for (size_t i = 0; i < sizeof port_kinds / sizeof *port_kinds; i++) {
            const char *hit = strstr(at, port_kinds[i].word);
            if (hit && (size_t)(hit - at) < length)
                return strtod(start, NULL) * port_kinds[i].bytes_per_s;
        }
    }
    return AP_UNKNOWN;
}

double ap_nic_from_text(const char *interconnect, double chips_per_node)
{
    char text[256];
    size_t n = 0;
    for (const char *p = interconnect ? interconnect : ""; *p && n + 1 < sizeof text; p++)
        if (!isspace((unsigned char)*p))
            text[n++] = (char)tolower((unsigned char)*p);
    text[n] = '\0';
    const char *per_node = strstr(text, "gbps/node");
    per_node = per_node ? per_node : strstr(text, "gbit/spernode");
    if (per_node) {
        const char *start = per_node;
        while (start > text && isdigit((unsigned char)start[-1]))
            start--;
        if (start < per_node)
            return strtod(start, NULL) / 8 * 1e9 / chips_per_node;
    }
    if (strstr(text, "400gb/srdmapergpu") || strstr(text, "400gb/spergpu"))
        return 50e9;
    if (strstr(text, "4xomni-path100gb/s"))
        return 50e9 / chips_per_node;
    if (strstr(text, "omni-path"))
        return 12.5e9;
    const char *compute = strstr(text, "compute:");
    return ports(compute ? compute : text) / chips_per_node;
}
