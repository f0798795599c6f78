/* Cells: one value as a person reads it, or raw as a machine does. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "report/render.h"

#define UNKNOWN_TEXT "\xE2\x80\x93" /* en dash */
#define RANGE_DASH   "\xE2\x80\x93"

bool ap_cell_is_number(const ap_value *value)
{
    return value && (value->kind == AP_V_INT || value->kind == AP_V_NUM);
}


/* Text of a fixed-point number with commas between thousands, from `from` on. */
static void add_grouped(ap_sbuf *out, double value, int decimals, double from)
{
    char text[400];
    int len = snprintf(text, sizeof text, "%.*f", decimals, value);
    if (len < 0 || (size_t)len >= sizeof text)
        return;
    size_t digits = fabs(value) < from ? 0 : strcspn(text + (text[0] == '-'), ".");
    for (const char *c = text; *c; c++) {
        ap_sbuf_add_char(out, *c);
        if (*c == '-')
            continue;
        if (digits > 0 && --digits > 0 && digits % 3 == 0)
            ap_sbuf_add_char(out, ',');
    }
}

/* Decimals that leave so many significant digits of a number, after rounding. */
static int decimals_for(double value, int digits)
{
    double size = fabs(value), half = 5;
    int decimals = digits - 1;
    for (int i = 0; i < digits; i++)
        half /= 10; /* half a unit of the last digit, for numbers below 10 */
    for (double limit = 10; decimals > 0 && size >= limit - half * limit / 10; limit *= 10)
        decimals--;
    if (size > 0 && size < 1)
        for (double limit = 1; decimals < 12 && size < limit - half * limit / 10; limit /= 10)
            decimals++;
    return decimals;
}

/* So many significant digits with their zeros (1.50, 12.0), so that columns of like numbers read evenly. */
static void add_digits(ap_sbuf *out, double value, int digits)
{
    double size = fabs(value);
    if (size >= 1e15 || (size > 0 && size < 1e-4)) {
        char text[32];
        ap_num_format_digits(value, digits, text);
        ap_sbuf_add(out, text);
        return;
    }
    if (digits < 3 && size >= 100) { /* a bound of 15,926 claims more than is known: 16,000 */
        double unit = pow(10, floor(log10(size)) + 1 - digits);
        value = round(value / unit) * unit;
    }
    bool whole = value == floor(value) && size < 1000;
    add_grouped(out, value, whole ? 0 : decimals_for(value, digits), 1000);
}

/* A unit and what it is worth in the unit that the number is in. */
typedef struct unit {
    double from, worth; /* chosen for sizes of at least `from` */
    const char *name;
} unit;

static const unit second_units[] = {{48 * 3600.0, 86400, "d"}, {7200, 3600, "h"},   {120, 60, "min"},
                                    {0.9995, 1, "s"},          {9.995e-4, 1e-3, "ms"}, {0, 1e-6, "\xC2\xB5s"}};
static const unit hour_units[] = {{48, 24, "d"}, {2, 1, "h"}, {2.0 / 60, 1.0 / 60, "min"}, {0, 1.0 / 3600, "s"}};
static const unit count_units[] = {
    {9.995e11, 1e12, "T"}, {9.995e8, 1e9, "B"}, {9.995e5, 1e6, "M"}, {9995, 1e3, "k"}, {0, 1, NULL}};

/* The number in the unit that suits `like`: the bounds of a range take the unit of its middle. */
static void add_in_unit(ap_sbuf *out, double value, double like, const unit *units, int digits)
{
    const unit *chosen = units;
    while (chosen->from > 0 && fabs(like) < chosen->from)
        chosen++;
    add_digits(out, value / chosen->worth, digits);
    if (chosen->name)
        ap_sbuf_printf(out, " %s", chosen->name);
}

static void add_hours(ap_sbuf *out, double hours, double like)
{
    if (hours == 0 && like == 0)
        ap_sbuf_add(out, "0 h");
    else /* two digits are enough for a duration whose error is tens of percent: 3.2 h, 45 min, 12 d */
        add_in_unit(out, hours, like, hour_units, 2);
}

static void add_usd(ap_sbuf *out, double usd)
{
    double size = fabs(usd);
    if (size >= 9999.5)
        add_grouped(out, usd, 0, 1000);
    else if (size >= 0.0995 || usd == 0)
        add_grouped(out, usd, 2, 1000);
    else
        add_digits(out, usd, 3);
}

static void add_percent(ap_sbuf *out, double fraction)
{
    double percent = fraction * 100, size = fabs(percent);
    add_grouped(out, percent, size > 0 && size < 9.95 ? 1 : 0, 1000);
    ap_sbuf_add(out, " %");
}

/* The number as its format wants it. For a bound of a range, `like` is the middle, and two digits are enough. */
static void add_number(ap_sbuf *out, double value, ap_cell_format format, const double *like)
{
    char raw[32];
    int digits = like ? 2 : 3;
    double reference = like ? *like : value;
    switch (format) {
    case AP_CELL_INTEGER:
        add_grouped(out, value, 0, 10000); /* years and small counts stay plain */
        return;
    case AP_CELL_USD:
        if (like)
            add_digits(out, value, digits);
        else
            add_usd(out, value);
        return;
    case AP_CELL_HOURS:
        add_hours(out, value, reference);
        return;
    case AP_CELL_SECONDS:
        add_in_unit(out, value, reference, second_units, digits);
        return;
    case AP_CELL_PERCENT:
        add_percent(out, value);
        return;
    case AP_CELL_COUNT:
        add_in_unit(out, value, reference, count_units, digits);
        return;
    case AP_CELL_PLAIN:
        ap_num_format(value, raw);
        ap_sbuf_add(out, raw);
        return;
    case AP_CELL_AUTO:
    case AP_CELL_GIB:
    case AP_CELL_YES:
        add_digits(out, value, digits);
        return;
    }
}

/* Text of others (names, notes) must neither break the layout nor steer the terminal. */
static void add_text(ap_sbuf *out, const char *text)
{
    for (const char *c = text; *c; c++)
        ap_sbuf_add_char(out, (unsigned char)*c < 32 || *c == 127 ? ' ' : *c);
}

static void add_value(ap_sbuf *out, const ap_value *value, ap_cell_format format)
{
    switch (value->kind) {
    case AP_V_NULL:
        ap_sbuf_add(out, UNKNOWN_TEXT);
        return;
    case AP_V_BOOL:
        if (format == AP_CELL_YES)
            ap_sbuf_add(out, value->as.boolean ? "\xE2\x9C\x93" : "");
        else
            ap_sbuf_add(out, value->as.boolean ? "yes" : "no");
        return;
    case AP_V_INT:
        if (format == AP_CELL_AUTO)
            format = AP_CELL_PLAIN;
        add_number(out, (double)value->as.integer, format, NULL);
        return;
    case AP_V_NUM:
        add_number(out, value->as.number, format, NULL);
        return;
    case AP_V_TEXT:
        add_text(out, value->as.text);
        return;
    case AP_V_LIST:
        for (size_t i = 0; i < value->as.list.count; i++) {
            ap_sbuf_add(out, i ? ", " : "");
            add_value(out, value->as.list.items[i], format);
        }
        return;
    case AP_V_MAP:
        for (size_t i = 0; i < value->as.map.count; i++) {
            ap_sbuf_printf(out, "%s%s ", i ? ", " : "", value->as.map.keys[i]);
            add_value(out, value->as.map.values[i], format);
        }
        return;
    }
}

const char *ap_cell_value_text(ap_arena *arena, const ap_value *value, ap_cell_format format)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    if (value)
        add_value(&out, value, format);
    return out.text;
}

const char *ap_cell_words(ap_arena *arena, const ap_value *value)
{
    return ap_cell_value_text(arena, value, AP_CELL_PLAIN);
}

static double number_of(const ap_value *value)
{
    return value->kind == AP_V_INT ? (double)value->as.integer : value->as.number;
}

/* A bound of a range, without the unit that its middle has said already. */
static const char *bound_text(ap_arena *arena, double bound, double middle, ap_cell_format format)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    add_number(&out, bound, format, &middle);
    return ap_arena_strndup(arena, out.text, strcspn(out.text, " "));
}

const char *ap_cell_text(ap_arena *arena, const ap_value *row, const ap_column *column)
{
    const ap_value *value = ap_value_at(row, column->path);
    if (!ap_cell_is_number(value))
        return ap_cell_value_text(arena, value, column->format);
    double scale = column->scale > 0 && column->format == AP_CELL_USD ? column->scale : 1, middle = number_of(value) * scale;
    const ap_value *low = column->low_path ? ap_value_at(row, column->low_path) : NULL;
    const ap_value *high = column->high_path ? ap_value_at(row, column->high_path) : NULL;
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    bool plain = value->kind == AP_V_INT && column->format == AP_CELL_AUTO;
    add_number(&out, middle, plain ? AP_CELL_PLAIN : column->format, NULL);
    if (!ap_cell_is_number(low) || !ap_cell_is_number(high))
        return out.text;
    const char *from = bound_text(arena, number_of(low) * scale, middle, column->format);
    const char *to = bound_text(arena, number_of(high) * scale, middle, column->format);
    if (strcmp(from, to) != 0)
        ap_sbuf_printf(&out, " (%s" RANGE_DASH "%s)", from, to);
    return out.text;
}

static void add_raw(ap_sbuf *out, const ap_value *value)
{
    char number[32];
    switch (value->kind) {
    case AP_V_NULL:
        return;
    case AP_V_BOOL:
        ap_sbuf_add(out, value->as.boolean ? "true" : "false");
        return;
    case AP_V_INT:
        ap_sbuf_printf(out, "%lld", (long long)value->as.integer);
        return;
    case AP_V_NUM:
        ap_num_format(value->as.number, number);
        ap_sbuf_add(out, number);
        return;
    case AP_V_TEXT:
        ap_sbuf_add(out, value->as.text);
        return;
    case AP_V_LIST:
        for (size_t i = 0; i < value->as.list.count; i++) {
            ap_sbuf_add(out, i ? ";" : "");
            add_raw(out, value->as.list.items[i]);
        }
        return;
    case AP_V_MAP:
        for (size_t i = 0; i < value->as.map.count; i++) {
            ap_sbuf_printf(out, "%s%s=", i ? " " : "", value->as.map.keys[i]);
            add_raw(out, value->as.map.values[i]);
        }
        return;
    }
}

const char *ap_cell_raw(ap_arena *arena, const ap_value *value)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    if (value)
        add_raw(&out, value);
    return out.text;
}

/* ---- leaves and sheets ------------------------------------------------------------------------------------------- */

typedef struct leaf_list {
    ap_arena *arena;
    ap_leaf *items;
    size_t count, capacity;
} leaf_list;

static void collect_leaves(leaf_list *leaves, const ap_value *map, const char *prefix)
{
    for (size_t i = 0; i < map->as.map.count; i++) {
        const ap_value *value = map->as.map.values[i];
        const char *path =
            *prefix ? ap_arena_printf(leaves->arena, "%s.%s", prefix, map->as.map.keys[i]) : map->as.map.keys[i];
        if (value->kind == AP_V_MAP)
            collect_leaves(leaves, value, path);
        else
            *AP_PUSH(leaves->arena, leaves->items, leaves->count, leaves->capacity) = (ap_leaf){path, value};
    }
}

size_t ap_value_leaves(ap_arena *arena, const ap_value *map, ap_leaf **ret_leaves)
{
    leaf_list leaves = {.arena = arena};
    if (map && map->kind == AP_V_MAP)
        collect_leaves(&leaves, map, "");
    *ret_leaves = leaves.items;
    return leaves.count;
}

/* A sheet shows facts: numbers keep the digits they have. */
static const char *sheet_value(ap_arena *arena, const ap_value *value)
{
    return ap_cell_value_text(arena, value, AP_CELL_PLAIN);
}

size_t ap_sheet_lines(ap_arena *arena, const ap_value *rows, ap_sheet_line **ret_lines)
{
    if (rows->kind == AP_V_LIST) {
        size_t count = rows->as.list.count;
        ap_sheet_line *lines = AP_NEW_ARRAY(arena, ap_sheet_line, count);
        for (size_t i = 0; i < count; i++) {
            const ap_value *row = rows->as.list.items[i];
            lines[i] = (ap_sheet_line){ap_cell_value_text(arena, ap_value_at(row, "key"), AP_CELL_AUTO),
                                       sheet_value(arena, ap_value_at(row, "value")),
                                       ap_cell_value_text(arena, ap_value_at(row, "note"), AP_CELL_AUTO)};
            const ap_value *note = ap_value_at(row, "note");
            if (!note || note->kind == AP_V_NULL)
                lines[i].note = "";
        }
        *ret_lines = lines;
        return count;
    }
    ap_leaf *leaves;
    size_t count = ap_value_leaves(arena, rows, &leaves);
    ap_sheet_line *lines = AP_NEW_ARRAY(arena, ap_sheet_line, count);
    for (size_t i = 0; i < count; i++)
        lines[i] = (ap_sheet_line){leaves[i].path, sheet_value(arena, leaves[i].value), ""};
    *ret_lines = lines;
    return count;
}
