/* Step counters out of a log. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/num.h"
#include "emit/watch.h"

enum { LINE_BYTES = 4096, MATCH_LIMIT = 100000 };

struct ap_progress {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *context;
    uint32_t groups;
    char line[2][LINE_BYTES];
    size_t len[2];
};

void ap_progress_free(ap_progress *progress)
{
    if (!progress)
        return;
    pcre2_match_context_free(progress->context);
    pcre2_match_data_free(progress->match);
    pcre2_code_free(progress->code);
    progress->code = NULL;
}

ap_status ap_progress_new(const char *pattern, ap_arena *arena, ap_diags *diags, ap_progress **ret)
{
    int error;
    PCRE2_SIZE at;
    ap_progress *progress = AP_NEW(arena, ap_progress);
    *ret = NULL;
    progress->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &error, &at, NULL);
    if (!progress->code) {
        PCRE2_UCHAR text[200];
        pcre2_get_error_message(error, text, sizeof text);
        ap_diag_add(diags, AP_ERROR, 852, AP_NO_POS, "--progress: %s at character %zu", (const char *)text,
                    (size_t)at + 1);
        return AP_USAGE;
    }
    (void)pcre2_pattern_info(progress->code, PCRE2_INFO_CAPTURECOUNT, &progress->groups);
    if (progress->groups == 0) {
        pcre2_code_free(progress->code);
        ap_diag_add(diags, AP_ERROR, 852, AP_NO_POS, "--progress: the expression has no group for the step")->hint =
            "such as 'step (\\d+)/(\\d+)'";
        return AP_USAGE;
    }
    progress->match = pcre2_match_data_create_from_pattern(progress->code, NULL);
    progress->context = pcre2_match_context_create(NULL);
    if (!progress->match || !progress->context) {
        ap_progress_free(progress);
        return AP_BUG;
    }
    pcre2_set_match_limit(progress->context, MATCH_LIMIT);
    *ret = progress;
    return AP_OK;
}

static double group_number(const ap_progress *progress, const char *line, uint32_t group)
{
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(progress->match);
    char text[40];
    double value;
    if (group > progress->groups || ends[2 * group] == PCRE2_UNSET)
        return AP_UNKNOWN;
    size_t len = ends[2 * group + 1] - ends[2 * group], kept = 0;
    for (size_t i = 0; i < len && kept + 1 < sizeof text; i++)
        if (line[ends[2 * group] + i] != ',')
            text[kept++] = line[ends[2 * group] + i];
    text[kept] = '\0';
    return ap_num_parse(text, &value) ? value : AP_UNKNOWN;
}

static bool read_line(ap_progress *progress, int stream, double *ret_done, double *ret_total)
{
    const char *line = progress->line[stream];
    int found =
        pcre2_match(progress->code, (PCRE2_SPTR)line, progress->len[stream], 0, 0, progress->match, progress->context);
    double done = found > 0 ? group_number(progress, line, 1) : AP_UNKNOWN;
    if (!ap_known(done))
        return false;
    *ret_done = done;
    *ret_total = group_number(progress, line, 2);
    return true;
}

bool ap_progress_feed(ap_progress *progress, int stream, const char *bytes, size_t len, double *ret_done,
                      double *ret_total)
{
    bool found = false;
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r') {
            found = (progress->len[stream] > 0 && read_line(progress, stream, ret_done, ret_total)) || found;
            progress->len[stream] = 0;
        } else if (progress->len[stream] < LINE_BYTES) {
            progress->line[stream][progress->len[stream]++] = bytes[i];
        }
    }
    return found;
}
