/* Any text as number, quantity and range in every dimension; printing, width, look-alikes. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "base/units.h"

static void check_number(const char *text)
{
    double value, back;
    char printed[32];
    if (!ap_num_parse(text, &value))
        return;
    ap_num_format(value, printed);
    if (!isfinite(value) || !ap_num_parse(printed, &back) || back < value || back > value)
        abort();
}

static void check_dimension(const char *text, ap_dim dim, ap_arena *arena)
{
    double value;
    ap_range range;
    const char *reason = NULL;
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    if (ap_units_parse(text, dim, &value, arena, &reason)) {
        if (!isfinite(value))
            abort();
        ap_units_format(value, dim, &out);
    } else if (!reason) {
        abort();
    }
    reason = NULL;
    if (ap_range_parse(text, dim, &range, arena, &reason)) {
        if (range.low > range.high || (isnan(range.low) && isnan(range.high)))
            abort();
    } else if (!reason) {
        abort();
    }
}

static void check_text(const char *text, size_t len)
{
    size_t bad, half = len / 2;
    (void)ap_utf8_valid(text, len, &bad);
    if (ap_text_width(text) > 2 * len || ap_text_distance(text, text) != 0)
        abort();
    ap_suggest suggest;
    ap_suggest_init(&suggest, text);
    ap_suggest_offer(&suggest, text + half);
    ap_suggest_offer(&suggest, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    check_number(text);
    for (int dim = AP_DIM_NONE; dim <= AP_DIM_MEMORY; dim++)
        check_dimension(text, (ap_dim)dim, arena);
    check_text(text, strlen(text));
    free(text);
    return 0;
}
