/* Free text of measurement rows: processors, networks, sources. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/cases.h"

double ap_cases_pixels(const char *input)
{
    char *end = NULL;
    double pixels = strtod(input, &end);
    if (!end || *end != 'x') /* a lone number is no size */
        return AP_UNKNOWN;
    while (end && *end == 'x') {
        char *start = end + 1;
        double side = strtod(start, &end);
        if (end == start)
            break;
        pixels *= side;
    }
    return pixels > 0 ? pixels : AP_UNKNOWN;
}

/* -- processors ------------------------------------------------------------------------------------------------------ */

#define TOKEN_MAX 12

typedef struct tokens {
    char text[TOKEN_MAX][24];
    size_t count;
} tokens;

static void split(const char *text, tokens *ret)
{
    ret->count = 0;
    while (*text && ret->count < TOKEN_MAX) {
        size_t len = 0;
        while (*text && !isalnum((unsigned char)*text))
            text++;
        while (isalnum((unsigned char)text[len]))
            len++;
        if (len && len < sizeof ret->text[0]) {
            for (size_t i = 0; i < len; i++)
                ret->text[ret->count][i] = (char)tolower((unsigned char)text[i]);
            ret->text[ret->count++][len] = '\0';
        }
        text += len;
    }
}

static bool has_digit(const char *text)
{
    return strpbrk(text, "0123456789") != NULL;
}

/* How alike a processor's names are to a text: model numbers count most, then words like "epyc". */
static int likeness(const tokens *wanted, const char *id, const char *name)
{
    tokens own;
    char both[256];
    size_t used = 0;
    for (const char *part = id; part && used < 120; part = part == id ? name : NULL) {
        size_t len = strlen(part);
        if (len > 120)
            len = 120;
        memcpy(both + used, part, len);
        used += len;
        both[used++] = ' ';
    }
    both[used] = '\0';
    split(both, &own);
    int score = 0;
    for (size_t i = 0; i < wanted->count; i++)
        for (size_t k = 0; k < own.count; k++)
            if (strcmp(wanted->text[i], own.text[k]) == 0) {
                score += has_digit(own.text[k]) && strlen(own.text[k]) >= 4 ? 10 : 1;
                break;
            }
    return score;
}

const ap_chip *ap_cases_find_cpu(const ap_catalog *catalog, const char *text)
{
    if (ap_starts_with(text, "cpu:"))
        text += 4;
    ap_chip_match match = ap_catalog_find_chip(catalog, text);
    if (match.chip)
        return match.chip;
    tokens wanted;
    split(text, &wanted);
    const ap_chip *best = NULL;
    int best_score = 1; /* one common word ("xeon") says nothing */
    for (size_t i = 0; i < catalog->chips.count; i++) {
        const ap_chip *chip = &catalog->chips.items[i];
        if (chip->kind != AP_CHIP_CPU)
            continue;
        int score = likeness(&wanted, chip->id, chip->name);
        if (score > best_score) {
            best = chip;
            best_score = score;
        }
    }
    if (best)
        return best;
    match = ap_catalog_find_chip(catalog, "cpu-server");
    return match.chip;
}

/* -- networks -------------------------------------------------------------------------------------------------------- */

#define GBIT 1.25e8 /* bytes */

/* Text without blanks, lower case, cut to the buffer. */
static void squeeze(const char *text, char *buf, size_t size)
{
    size_t used = 0;
    for (; *text && used + 1 < size; text++)
        if (!isspace((unsigned char)*text))
            buf[used++] = (char)tolower((unsigned char)*text);
    buf[used] = '\0';
}

/* Gb/s named in a segment: "400gb/s" "100gb/sec" "1600gbps" "800gbit/s", else the InfiniBand generation's. */
static double rate_gbit(const char *segment)
{
    static const struct {
        const char *word;
        double gbit;
    } generations[] = {{"xdr", 800}, {"ndr200", 200}, {"ndr", 400}, {"hdr100", 100}, {"hdr", 200}, {"edr", 100}, {"fdr", 56},
                       {"omni-path", 100}, {"qdr", 40}};
    for (const char *at = segment; (at = strstr(at, "gb")); at++) {
        const char *start = at;
        while (start > segment && (isdigit((unsigned char)start[-1]) || start[-1] == '.'))
            start--;
        if (start == at)
            continue;
        bool bits = at[2] == '/' || at[2] == 'p' || at[2] == 'i' || at[2] == 'e' || at[2] == ')' || !at[2];
        if (bits)
            return strtod(start, NULL);
    }
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++)
        if (strstr(segment, generations[i].word))
            return generations[i].gbit;
    return AP_UNKNOWN;
}

/* "8xconnectx-7ibndr400gb/s" -> 8; 1 when no number stands before an x at the start. */
static double leading_count(const char *segment)
{
    char *end = NULL;
    double count = strtod(segment, &end);
    return end != segment && *end == 'x' && count >= 1 && count <= 64 ? count : 1;
}

static bool is_network(const char *segment)
{
    static const char *const words[] = {"infiniband", "connectx", "mellanox", "ethernet", "roce", "rdma", "omni-path",
                                        "ndr",        "hdr",      "edr",      "fdr",      "efa",  "nic",  "/node",
                                        "pernode",    "bluefield", "xdr",     "gbps"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(segment, words[i]))
            return !strstr(segment, "nvlink") || strstr(segment, "pernode") || strstr(segment, "/node");
    return false;
}

/* B/s of a node from one segment, or NaN. */
static double segment_rate(const char *segment, double chips_per_node)
{
    const char *body = strchr(segment, ':');
    body = body ? body + 1 : segment;
    double gbit = rate_gbit(body);
    if (!ap_known(gbit))
        return AP_UNKNOWN;
    if (strstr(body, "pergpu") || strstr(body, "/gpu"))
        return gbit * GBIT * chips_per_node;
    return gbit * leading_count(body) * GBIT;
}

static const char *fabric_of(const char *text)
{
    static const char *const words[][2] = {{"efa", "efa"},         {"infiniband", "infiniband"}, {"ndr", "infiniband"},
                                           {"hdr", "infiniband"},  {"edr", "infiniband"},        {"omni-path", "omni-path"},
                                           {"tcpx", "tcpx"},       {"roce", "roce"},             {"rdma", "roce"},
                                           {"ici", "ici"},         {"ethernet", "ethernet"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i][0]))
            return words[i][1];
    return NULL;
}

void ap_cases_read_interconnect(const char *text, ap_case *job)
{
    if (!text)
        return;
    char squeezed[512];
    squeeze(text, squeezed, sizeof squeezed);
    if (strstr(squeezed, "nvl72"))
        job->domain_chips = 72;
    if (!job->fabric)
        job->fabric = fabric_of(squeezed);
    if (!strstr(squeezed, "nvlink") && strstr(squeezed, "pcie") && !strstr(squeezed, "bridge")) {
        static const double lane16[] = {0, 0, 0, 16e9, 32e9, 64e9, 128e9};
        const char *digit = strpbrk(strstr(squeezed, "pcie"), "3456");
        if (digit && digit - strstr(squeezed, "pcie") <= 9)
            job->intra_bytes_per_s = lane16[*digit - '0'];
    }
    double per_node = ap_or(job->chips_per_node, 8), best = AP_UNKNOWN, compute = AP_UNKNOWN;
    char *state = NULL;
    for (char *segment = strtok_r(squeezed, ";,+", &state); segment; segment = strtok_r(NULL, ";,+", &state)) {
        bool storage = strstr(segment, "storage") || strstr(segment, "management");
        if (!is_network(segment) || (storage && !strstr(segment, "compute")))
            continue;
        double rate = segment_rate(segment, per_node);
        if (!(rate > 0))
            continue;
        if (strstr(segment, "compute:"))
            compute = ap_or(compute, 0) + rate;
        else if (!(best >= rate))
            best = rate;
    }
    job->nic_bytes_per_s = ap_known(compute) ? compute : best;
}

/* -- sources --------------------------------------------------------------------------------------------------------- */

const char *ap_cases_family(const char *source, ap_arena *arena)
{
    if (!source)
        return "unknown";
    if (strstr(source, "2205.05198") || strstr(source, "2104.04473") || ap_starts_with(source, "NVIDIA/Megatron-LM"))
        return "NVIDIA/Megatron-LM";
    /* A repository of many unrelated benchmarks: each of its pages is a source. */
    if (ap_starts_with(source, "NVIDIA/DeepLearningExamples")) {
        const char *end = strstr(source, "README");
        return end ? ap_arena_strndup(arena, source, (size_t)(end - source)) : "NVIDIA/DeepLearningExamples";
    }
    if (ap_starts_with(source, "arXiv ")) {
        size_t len = 6 + strcspn(source + 6, " ,;:");
        return ap_arena_strndup(arena, source, len);
    }
    if (strncasecmp(source, "bigscience", 10) == 0)
        return "bigscience-workshop/bigscience";
    return ap_arena_strndup(arena, source, strcspn(source, " :,@"));
}
