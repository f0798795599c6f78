/* Rules for people: messages with facts put in, and evidence. */
#include <math.h>
#include <string.h>

#include "base/human.h"
#include "base/num.h"
#include "base/units.h"
#include "rules/cel.h"
#include "rules/ruleset.h"

/* Work spans twenty powers of ten, and a prefix would read like a speed: 5.12e15 FLOP. */
static void add_work(double flop, const char *unit, ap_sbuf *out)
{
    char digits[32];
    double power = flop > 0 ? floor(log10(flop)) : 0;
    if (flop / pow(10, power) >= 9.995) /* rounds up to the next power */
        power++;
    ap_num_format_digits(flop / pow(10, power), 3, digits);
    ap_sbuf_printf(out, "%se%.0f %s", digits, power, unit);
}

static void add_number(double number, const char *unit, ap_sbuf *out)
{
    char text[32];
    if (unit && strcmp(unit, "count") == 0) {
        ap_units_format(number, AP_DIM_COUNT, out);
        return;
    }
    if (unit && strcmp(unit, "FLOP") == 0 && fabs(number) >= 1e6) {
        add_work(number, unit, out);
        return;
    }
    if (unit && strcmp(unit, "fraction") == 0) {
        ap_num_format_digits(number * 100, 2, text);
        ap_sbuf_printf(out, "%s %%", text);
        return;
    }
    if (unit && strcmp(unit, "h") == 0) {
        ap_human_hours(out, number, number);
        return;
    }
    if (unit && (strcmp(unit, "USD") == 0 || strcmp(unit, "USD/h") == 0)) {
        ap_human_usd(out, number);
        ap_sbuf_printf(out, " %s", unit);
        return;
    }
    ap_num_format_digits(number, fabs(number) >= 1000 && fabs(number) < 1e6 ? 4 : 3, text);
    ap_sbuf_printf(out, "%s%s%s", text, unit ? " " : "", unit ? unit : "");
}

static void add_value(const ap_fact *fact, const ap_cel_value *value, ap_sbuf *out)
{
    switch (value->kind) {
    case AP_CEL_DOUBLE:
        add_number(value->as.number, fact->unit, out);
        break;
    case AP_CEL_INT:
        ap_sbuf_printf(out, "%lld%s%s", (long long)value->as.integer, fact->unit ? " " : "", fact->unit ? fact->unit : "");
        break;
    case AP_CEL_BOOL:
        ap_sbuf_add(out, value->as.boolean ? "yes" : "no");
        break;
    case AP_CEL_STRING:
        ap_sbuf_add_len(out, value->as.string.text, value->as.string.len);
        break;
    case AP_CEL_LIST:
        for (size_t i = 0; i < value->as.list.count; i++) {
            ap_sbuf_add(out, i ? ", " : "");
            add_value(fact, &value->as.list.items[i], out);
        }
        if (value->as.list.count == 0)
            ap_sbuf_add(out, "none");
        break;
    default:
        ap_sbuf_add(out, "unknown");
    }
}

const char *ap_fact_format(const ap_fact *fact, const ap_cel_value *value, ap_arena *arena)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    add_value(fact, value, &out);
    return out.text;
}

const char *ap_rule_message(const ap_ruleset *set, const char *text, const ap_cel_value *values, ap_arena *arena)
{
    if (!text)
        return NULL;
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    for (const char *c = text; *c;) {
        const char *open = strchr(c, '{'), *close = open ? strchr(open, '}') : NULL;
        if (!close) {
            ap_sbuf_add(&out, c);
            break;
        }
        ap_sbuf_add_len(&out, c, (size_t)(open - c));
        size_t len = (size_t)(close - open - 1);
        for (size_t i = 0; i < set->schema->count; i++) {
            const ap_fact *fact = &set->schema->facts[i];
            if (strncmp(fact->path, open + 1, len) == 0 && fact->path[len] == '\0')
                add_value(fact, &values[i], &out);
        }
        c = close + 1;
    }
    return out.text;
}

const char *ap_rule_why_undecided(const ap_rule_hit *hit, ap_arena *arena)
{
    if (hit->unknown_fact)
        return ap_arena_printf(arena, "%s is unknown", hit->unknown_fact);
    return hit->error ? hit->error : "it is neither true nor false";
}

size_t ap_rule_evidence_of(const ap_ruleset *set, const ap_rule_item *item, const ap_cel_value *values, ap_arena *arena,
                           const ap_rule_evidence **ret_items)
{
    ap_rule_evidence *items = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < set->schema->count; i++) {
        if (!item->when->used[i])
            continue;
        const ap_fact *fact = &set->schema->facts[i];
        *AP_PUSH(arena, items, count, capacity) = (ap_rule_evidence){fact, ap_fact_format(fact, &values[i], arena)};
    }
    *ret_items = items;
    return count;
}
