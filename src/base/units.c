#include "base/units.h"

#include <math.h>
#include <string.h>

#include "base/num.h"

typedef struct unit {
    const char *name; /* as people write it; also found in lower case when that leaves no doubt */
    double factor;    /* to the inner unit */
} unit;

#define KIB 1024.0
#define MIB (1024.0 * KIB)
#define GIB (1024.0 * MIB)
#define TIB (1024.0 * GIB)
#define PIB (1024.0 * TIB)

static const unit count_units[] = {{"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}, {NULL, 0}};
static const unit token_units[] = {{"tokens", 1},     {"token", 1},       {"K", 1e3},        {"M", 1e6},
                                   {"B", 1e9},        {"T", 1e12},        {"K tokens", 1e3}, {"M tokens", 1e6},
                                   {"B tokens", 1e9}, {"T tokens", 1e12}, {NULL, 0}};
static const unit byte_units[] = {{"B", 1},     {"kB", 1e3},  {"KB", 1e3},  {"MB", 1e6},  {"GB", 1e9},
                                  {"TB", 1e12}, {"PB", 1e15}, {"KiB", KIB}, {"MiB", MIB}, {"GiB", GIB},
                                  {"TiB", TIB}, {"PiB", PIB}, {"bytes", 1}, {NULL, 0}};
static const unit byte_rate_units[] = {
    {"B/s", 1},       {"kB/s", 1e3},   {"KB/s", 1e3},   {"MB/s", 1e6},     {"GB/s", 1e9},     {"TB/s", 1e12},
    {"PB/s", 1e15},   {"KiB/s", KIB},  {"MiB/s", MIB},  {"GiB/s", GIB},    {"TiB/s", TIB},    {"PiB/s", PIB},
    {"bps", 0.125},   {"kbps", 125},   {"Kbps", 125},   {"Mbps", 125e3},   {"Gbps", 125e6},   {"Tbps", 125e9},
    {"bit/s", 0.125}, {"kbit/s", 125}, {"Kbit/s", 125}, {"Mbit/s", 125e3}, {"Gbit/s", 125e6}, {"Tbit/s", 125e9},
    {"Mb/s", 125e3},  {"Gb/s", 125e6}, {"Tb/s", 125e9}, {NULL, 0}};
static const unit flop_units[] = {
    {"FLOPS", 1},     {"GFLOPS", 1e9},   {"TFLOPS", 1e12},  {"PFLOPS", 1e15},  {"EFLOPS", 1e18}, {"FLOP/s", 1},
    {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"EFLOP/s", 1e18}, {"OPS", 1},       {"GOPS", 1e9},
    {"TOPS", 1e12},   {"POPS", 1e15},    {"TOP/s", 1e12},   {"POP/s", 1e15},   {NULL, 0}};
static const unit time_units[] = {{"s", 1},         {"ms", 1e-3},      {"us", 1e-6},    {"µs", 1e-6},   {"ns", 1e-9},
                                  {"m", 60},        {"min", 60},       {"h", 3600},     {"d", 86400},   {"w", 604800},
                                  {"sec", 1},       {"second", 1},     {"seconds", 1},  {"minute", 60}, {"minutes", 60},
                                  {"hr", 3600},     {"hour", 3600},    {"hours", 3600}, {"day", 86400}, {"days", 86400},
                                  {"week", 604800}, {"weeks", 604800}, {NULL, 0}};
static const unit watt_units[] = {{"W", 1}, {"mW", 1e-3}, {"kW", 1e3}, {"KW", 1e3}, {"MW", 1e6}, {NULL, 0}};
static const unit usd_units[] = {{"USD", 1},     {"$", 1},       {"K", 1e3}, {"M", 1e6},
                                 {"K USD", 1e3}, {"M USD", 1e6}, {NULL, 0}};
static const unit usd_hour_units[] = {{"USD/h", 1},  {"USD/hr", 1}, {"USD/hour", 1}, {"$/h", 1}, {"$/hr", 1},
                                      {"$/hour", 1}, {"/h", 1},     {"/hr", 1},      {"USD", 1}, {NULL, 0}};
static const unit usd_kwh_units[] = {{"USD/kWh", 1},    {"$/kWh", 1}, {"/kWh", 1},
                                     {"USD/MWh", 1e-3}, {"USD", 1},   {NULL, 0}};
static const unit carbon_units[] = {{"gCO2eq/kWh", 1},    {"gCO2e/kWh", 1}, {"gCO2/kWh", 1}, {"g/kWh", 1},
                                    {"kgCO2eq/kWh", 1e3}, {"kg/kWh", 1e3},  {"kg/MWh", 1},   {NULL, 0}};
static const unit hertz_units[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}, {NULL, 0}};
static const unit fraction_units[] = {{"%", 0.01}, {NULL, 0}};
static const unit no_units[] = {{NULL, 0}};

typedef struct dim_info {
    const unit *units;
    bool plain; /* a number without unit is in the inner unit */
    const char *expected;
} dim_info;

static const dim_info dims[] = {
    [AP_DIM_NONE] = {no_units, true, "a number"},
    [AP_DIM_COUNT] = {count_units, true, "a count such as 64, 200M or 1.5B"},
    [AP_DIM_BYTES] = {byte_units, false, "a size such as 80GB or 512MiB"},
    [AP_DIM_BYTES_PER_S] = {byte_rate_units, false, "a data rate such as 3.35 TB/s or 100 Gbps"},
    [AP_DIM_FLOP_PER_S] = {flop_units, false, "a computing speed such as 989 TFLOPS or 1.2 PFLOP/s"},
    [AP_DIM_SECONDS] = {time_units, false, "a duration such as 24h, 2h30m, 1d12h or 45 min"},
    [AP_DIM_WATTS] = {watt_units, false, "a power such as 700 W or 1.2 kW"},
    [AP_DIM_USD] = {usd_units, true, "an amount in US dollars such as 200 or $12.50"},
    [AP_DIM_USD_PER_H] = {usd_hour_units, true, "a price in US dollars per hour such as 2.50 or $2.50/h"},
    [AP_DIM_USD_PER_KWH] = {usd_kwh_units, true, "a price in US dollars per kWh such as 0.12"},
    [AP_DIM_G_PER_KWH] = {carbon_units, false, "a carbon intensity such as 380 gCO2eq/kWh"},
    [AP_DIM_HZ] = {hertz_units, false, "a frequency such as 1.98 GHz or 1410 MHz"},
    [AP_DIM_FRACTION] = {fraction_units, true, "a fraction such as 0.25 or 25%"},
    [AP_DIM_TOKENS] = {token_units, true, "a number of tokens such as 4M, 300B or 15T tokens"},
    [AP_DIM_MEMORY] = {byte_units, false, "a size such as 80GB or 512MiB"},
};

const char *ap_dim_expected(ap_dim dim)
{
    return dims[dim].expected;
}

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool equals_fold(const char *name, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (name[i] == '\0' || ascii_lower(name[i]) != ascii_lower(text[i]))
            return false;
    return name[len] == '\0';
}

/* Exact spelling first. Any other case is taken only when all readings agree: "gb" is GB, but "mw" could be mW or MW,
 * and "Gb" (gigabit) is no size. */
static bool find_unit(ap_dim dim, const char *text, size_t len, double *ret_factor)
{
    const unit *units = dims[dim].units;
    for (const unit *u = units; u->name; u++) {
        if (strlen(u->name) == len && memcmp(u->name, text, len) == 0) {
            *ret_factor = u->factor;
            return true;
        }
    }
    bool has_lower_b = memchr(text, 'b', len) != NULL, has_upper = false;
    for (size_t i = 0; i < len; i++)
        has_upper = has_upper || (text[i] >= 'A' && text[i] <= 'Z');
    if (has_lower_b && has_upper && (dim == AP_DIM_BYTES || dim == AP_DIM_MEMORY || dim == AP_DIM_BYTES_PER_S))
        return false;
    double factor = 0;
    for (const unit *u = units; u->name; u++) {
        if (!equals_fold(u->name, text, len))
            continue;
        if (factor != 0 && factor != u->factor)
            return false;
        factor = u->factor;
    }
    *ret_factor = factor;
    return factor != 0;
}

static const char *skip_blanks(const char *c)
{
    while (*c == ' ')
        c++;
    return c;
}

/* A unit is all the rest ("B tokens"), except in sums of durations (2h30m), where it ends before the next digit. */
static size_t unit_length(const char *text, ap_dim dim)
{
    size_t len = dim == AP_DIM_SECONDS ? strcspn(text, "0123456789") : strlen(text);
    while (len > 0 && text[len - 1] == ' ')
        len--;
    return len;
}

typedef struct quantity {
    double value;
    const char *unit_text; /* where the last unit starts; empty when there was none */
    size_t unit_len;
    bool no_number;
    bool unknown_unit;
} quantity;

static bool parse_quantity(const char *text, ap_dim dim, quantity *q)
{
    *q = (quantity){0};
    const char *c = skip_blanks(text), *end;
    if (*c == '$' && dim >= AP_DIM_USD && dim <= AP_DIM_USD_PER_KWH)
        c = skip_blanks(c + 1);
    double part, factor, last_factor = (double)INFINITY;
    do {
        if (!ap_num_parse_prefix(c, &part, &end)) {
            q->no_number = true;
            return false;
        }
        c = skip_blanks(end);
        q->unit_text = c;
        q->unit_len = unit_length(c, dim);
        factor = 1;
        if (q->unit_len > 0 && !find_unit(dim, c, q->unit_len, &factor)) {
            q->unknown_unit = true;
            return false;
        }
        /* Sums are for durations, from the largest unit down, each with its unit. */
        if (isfinite(last_factor) && (q->unit_len == 0 || factor >= last_factor || part < 0)) {
            q->unknown_unit = true;
            return false;
        }
        last_factor = factor;
        q->value += part * factor;
        c = skip_blanks(c + q->unit_len);
    } while (*c && dim == AP_DIM_SECONDS && q->unit_len > 0);
    if (*c || !isfinite(q->value)) {
        q->unknown_unit = true;
        return false;
    }
    return true;
}

static bool explain(const quantity *q, const char *text, ap_dim dim, ap_arena *arena, const char **ret_reason)
{
    const char *expected = dims[dim].expected;
    if (*skip_blanks(text) == '\0')
        *ret_reason = ap_arena_printf(arena, "empty value; expected %s", expected);
    else if (q->no_number)
        *ret_reason = ap_arena_printf(arena, "'%s' is not %s", text, expected);
    else if (q->unknown_unit && q->unit_len > 0 && dims[dim].units != no_units)
        *ret_reason = ap_arena_printf(arena, "unknown unit '%.*s' in '%s'; expected %s", (int)q->unit_len, q->unit_text,
                                      text, expected);
    else if (q->unknown_unit)
        *ret_reason = ap_arena_printf(arena, "'%s' is not %s", text, expected);
    else
        *ret_reason = ap_arena_printf(arena, "'%s' has no unit; expected %s", text, expected);
    return false;
}

bool ap_units_parse(const char *text, ap_dim dim, double *ret_value, ap_arena *arena, const char **ret_reason)
{
    quantity q;
    if (!parse_quantity(text, dim, &q) || (q.unit_len == 0 && !dims[dim].plain && q.value != 0))
        return explain(&q, text, dim, arena, ret_reason);
    *ret_value = q.value;
    return true;
}

/* Vendors print GB for what is GiB of memory, so an upper bound of 40GB must admit a card of 40 GiB. */
static double widen_upper(const char *text, ap_dim dim, double value)
{
    quantity q;
    if (dim != AP_DIM_MEMORY || !parse_quantity(text, dim, &q) || q.unit_len != 2)
        return value;
    static const struct {
        char prefix;
        double decimal, binary;
    } pairs[] = {{'k', 1e3, KIB}, {'m', 1e6, MIB}, {'g', 1e9, GIB}, {'t', 1e12, TIB}, {'p', 1e15, PIB}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (ascii_lower(q.unit_text[0]) == pairs[i].prefix)
            return value / pairs[i].decimal * pairs[i].binary;
    return value;
}

static bool parse_bound(const char *text, ap_dim dim, double *ret_value, ap_arena *arena, const char **ret_reason)
{
    *ret_value = AP_UNKNOWN;
    return *skip_blanks(text) == '\0' || ap_units_parse(text, dim, ret_value, arena, ret_reason);
}

/* "40..80GB": the unit of the upper bound is meant for both. */
static const char *lend_unit(const char *low, const char *high, ap_dim dim, ap_arena *arena)
{
    quantity l, h;
    if (dims[dim].plain || !parse_quantity(low, dim, &l) || l.unit_len > 0 || !parse_quantity(high, dim, &h))
        return low;
    return ap_arena_printf(arena, "%s%.*s", low, (int)h.unit_len, h.unit_text);
}

static bool parse_bounds(const char *low, const char *high, ap_dim dim, ap_range *ret_range, ap_arena *arena,
                         const char **ret_reason)
{
    low = lend_unit(low, high, dim, arena);
    if (!parse_bound(low, dim, &ret_range->low, arena, ret_reason) ||
        !parse_bound(high, dim, &ret_range->high, arena, ret_reason))
        return false;
    ret_range->high = widen_upper(high, dim, ret_range->high);
    if (ret_range->low > ret_range->high) {
        *ret_reason = ap_arena_printf(arena, "the lower bound '%s' is above the upper bound '%s'", low, high);
        return false;
    }
    if (!ap_known(ret_range->low) && !ap_known(ret_range->high)) {
        *ret_reason = ap_arena_printf(arena, "empty range; expected LOW..HIGH, LOW.., ..HIGH or one value, each %s",
                                      dims[dim].expected);
        return false;
    }
    return true;
}

bool ap_range_parse(const char *text, ap_dim dim, ap_range *ret_range, ap_arena *arena, const char **ret_reason)
{
    *ret_range = (ap_range){AP_UNKNOWN, AP_UNKNOWN};
    text = skip_blanks(text);
    if (ap_starts_with(text, ">="))
        return parse_bounds(text + 2, "", dim, ret_range, arena, ret_reason);
    if (ap_starts_with(text, "<="))
        return parse_bounds("", text + 2, dim, ret_range, arena, ret_reason);
    if (*text == '<' || *text == '>') {
        *ret_reason = ap_arena_printf(arena, "'%s': bounds are inclusive, write %c= instead", text, *text);
        return false;
    }
    const char *dots = strstr(text, "..");
    if (!dots)
        return parse_bounds(text, text, dim, ret_range, arena, ret_reason);
    return parse_bounds(ap_arena_strndup(arena, text, (size_t)(dots - text)), dots + 2, dim, ret_range, arena,
                        ret_reason);
}

bool ap_range_contains(ap_range range, double value)
{
    if (!ap_known(value))
        return !ap_known(range.low) && !ap_known(range.high);
    return !(value < range.low) && !(value > range.high);
}

typedef struct scale {
    double factor; /* used from this value on */
    const char *name;
} scale;

static const scale byte_scales[] = {{PIB, " PiB"}, {TIB, " TiB"}, {GIB, " GiB"},
                                    {MIB, " MiB"}, {KIB, " KiB"}, {1, " B"}};
static const scale rate_scales[] = {{1e15, " PB/s"}, {1e12, " TB/s"}, {1e9, " GB/s"},
                                    {1e6, " MB/s"},  {1e3, " kB/s"},  {1, " B/s"}};
static const scale flop_scales[] = {{1e18, " EFLOP/s"}, {1e15, " PFLOP/s"}, {1e12, " TFLOP/s"},
                                    {1e9, " GFLOP/s"},  {1e6, " MFLOP/s"},  {1, " FLOP/s"}};
static const scale time_scales[] = {{2 * 86400.0, " d"}, {3600, " h"},  {60, " min"}, {1, " s"},
                                    {1e-3, " ms"},       {1e-6, " us"}, {1e-9, " ns"}};
static const scale watt_scales[] = {{1e6, " MW"}, {1e3, " kW"}, {1, " W"}};
static const scale hertz_scales[] = {{1e9, " GHz"}, {1e6, " MHz"}, {1e3, " kHz"}, {1, " Hz"}};
static const scale count_scales[] = {{1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1e3, " K"}, {1, ""}};
static const scale token_scales[] = {{1e12, " T tokens"}, {1e9, " B tokens"}, {1e6, " M tokens"}, {1, " tokens"}};

#define SCALES(table) (table), sizeof(table) / sizeof *(table)

static void format_scaled(double value, const scale *scales, size_t count, ap_sbuf *out)
{
    size_t i = 0;
    while (i + 1 < count && fabs(value) < scales[i].factor * (1 - 1e-9))
        i++;
    /* Days begin at two, so that 36 h stays 36 h. */
    double divisor = scales[i].factor == 2 * 86400.0 ? 86400.0 : scales[i].factor;
    char text[32];
    ap_num_format_digits(value / divisor, 3, text);
    ap_sbuf_add(out, text);
    ap_sbuf_add(out, scales[i].name);
}

static void format_plain(double value, const char *prefix, const char *suffix, ap_sbuf *out)
{
    char text[32];
    ap_num_format_digits(value, 3, text);
    ap_sbuf_printf(out, "%s%s%s", prefix, text, suffix);
}

void ap_units_format(double value, ap_dim dim, ap_sbuf *out)
{
    if (!ap_known(value)) {
        ap_sbuf_add(out, "unknown");
        return;
    }
    switch (dim) {
    case AP_DIM_COUNT:
        format_scaled(value, SCALES(count_scales), out);
        break;
    case AP_DIM_BYTES:
    case AP_DIM_MEMORY:
        format_scaled(value, SCALES(byte_scales), out);
        break;
    case AP_DIM_BYTES_PER_S:
        format_scaled(value, SCALES(rate_scales), out);
        break;
    case AP_DIM_FLOP_PER_S:
        format_scaled(value, SCALES(flop_scales), out);
        break;
    case AP_DIM_SECONDS:
        format_scaled(value, SCALES(time_scales), out);
        break;
    case AP_DIM_WATTS:
        format_scaled(value, SCALES(watt_scales), out);
        break;
    case AP_DIM_HZ:
        format_scaled(value, SCALES(hertz_scales), out);
        break;
    case AP_DIM_TOKENS:
        format_scaled(value, SCALES(token_scales), out);
        break;
    case AP_DIM_USD:
        format_plain(value, "$", "", out);
        break;
    case AP_DIM_USD_PER_H:
        format_plain(value, "$", "/h", out);
        break;
    case AP_DIM_USD_PER_KWH:
        format_plain(value, "$", "/kWh", out);
        break;
    case AP_DIM_G_PER_KWH:
        format_plain(value, "", " gCO2eq/kWh", out);
        break;
    case AP_DIM_FRACTION:
        format_plain(value * 100, "", "%", out);
        break;
    case AP_DIM_NONE:
        format_plain(value, "", "", out);
        break;
    }
}
