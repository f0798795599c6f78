/* Regular expressions through PCRE2, with memory from an arena so that nothing has to be released.
 *
 * PCRE2's own match limit counts anew at every start position, and scanning a repeated class counts nothing at all: on a
 * long text neither bounds the time. So every pattern is compiled with callouts between its items, and the callout
 * charges the work budget of the evaluation for the step and for the text that the next item might scan. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "rules/cel.h"

#define MATCH_STEPS    1600000 /* of one match */
#define SCAN_BYTES     32      /* scanned in the time of one step */
#define STEPS_PER_WORK 4       /* steps in one unit of AP_CEL_WORK */

typedef struct meter {
    const char *pattern;
    int64_t left;
} meter;

static void *take_memory(size_t size, void *arena)
{
    return ap_arena_alloc(arena, size);
}

static void keep_memory(void *memory, void *arena)
{
    (void)memory;
    (void)arena;
}

const void *ap_cel_regex_compile(const char *pattern, size_t len, ap_arena *arena, const char **ret_error)
{
    pcre2_general_context *memory = pcre2_general_context_create(take_memory, keep_memory, arena);
    pcre2_compile_context *context = pcre2_compile_context_create(memory);
    pcre2_set_max_pattern_length(context, 10000);
    pcre2_set_parens_nest_limit(context, 100);
    int code;
    PCRE2_SIZE offset;
    /* $ only at the very end and no backslash C, as RE2 (which CEL names) has it. */
    const void *regex = pcre2_compile((PCRE2_SPTR)pattern, len,
                                      PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C |
                                          PCRE2_AUTO_CALLOUT,
                                      &code, &offset, context);
    if (regex)
        return regex;
    char message[160] = "";
    pcre2_get_error_message(code, (PCRE2_UCHAR *)message, sizeof message);
    *ret_error = ap_arena_printf(arena, "bad regular expression at character %zu: %s", offset + 1, message);
    return NULL;
}

/* Whether one item of a pattern passes over at most one character: x . [a-z] \d, but not x* or a reference \1. */
static bool is_short(const char *item, size_t len)
{
    if (len <= 1)
        return true;
    if (len == 2 && item[0] == '\\')
        return item[1] != 'X' && (item[1] < '0' || item[1] > '9');
    return item[0] == '[' && item[len - 1] == ']';
}

static int charge_step(pcre2_callout_block *block, void *data)
{
    meter *m = data;
    m->left--;
    if (!is_short(m->pattern + block->pattern_position, block->next_item_length))
        m->left -= (int64_t)((block->subject_length - block->current_position) / SCAN_BYTES);
    return m->left > 0 ? 0 : PCRE2_ERROR_MATCHLIMIT;
}

/* One block for all matches of an evaluation: it holds the backtracking stack, which is large. */
static pcre2_match_data *match_data(ap_cel_run *run)
{
    if (!run->regex_data) {
        pcre2_general_context *memory = pcre2_general_context_create(take_memory, keep_memory, run->scratch);
        run->regex_context = pcre2_match_context_create(memory);
        pcre2_set_match_limit(run->regex_context, MATCH_STEPS);
        pcre2_set_depth_limit(run->regex_context, 2000);
        pcre2_set_heap_limit(run->regex_context, 4096); /* KiB */
        run->regex_data = pcre2_match_data_create(1, memory);
    }
    return run->regex_data;
}

static ap_cel_value match(ap_cel_run *run, const void *regex, const ap_cel_value *text, const char *pattern)
{
    pcre2_match_data *data = match_data(run);
    meter m = {pattern, MATCH_STEPS};
    pcre2_set_callout(run->regex_context, charge_step, &m);
    int found = pcre2_match(regex, (PCRE2_SPTR)text->as.string.text, text->as.string.len, 0, PCRE2_NO_UTF_CHECK, data,
                            run->regex_context);
    bool decided = found >= 0 || found == PCRE2_ERROR_NOMATCH;
    int64_t steps = decided ? MATCH_STEPS - m.left : MATCH_STEPS;
    ap_cel_spend(run, 20 + text->as.string.len / 256 + (size_t)(steps / STEPS_PER_WORK));
    return decided ? ap_cel_bool(found >= 0) : ap_cel_error("regular expression takes too long on this text");
}

ap_cel_value ap_cel_regex_matches(ap_cel_run *run, const void *regex, const ap_cel_value *text, const ap_cel_value *pattern)
{
    const char *error = NULL;
    if (!regex) { /* a pattern that was computed */
        size_t size = 0;
        if (!ap_cel_spend(run, 1000 + pattern->as.string.len))
            return ap_cel_error("expression needs too much work");
        regex = ap_cel_regex_compile(pattern->as.string.text, pattern->as.string.len, run->scratch, &error);
        if (!regex)
            return ap_cel_error(error);
        pcre2_pattern_info(regex, PCRE2_INFO_SIZE, &size);
        if (!ap_cel_spend(run, size / 8))
            return ap_cel_error("expression needs too much work");
    }
    return match(run, regex, text, pattern->as.string.text);
}
