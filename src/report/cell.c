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


/* Text of a fixed-point number with commas between thousands. */
static void add_grouped(ap_sbuf *out, double value, int decimals)
{
    char text[400];
    int len = snprintf(text, sizeof text, "%.*f", decimals, value);
    if (len < 0 || (size_t)len >= sizeof text)
        return;
    size_t digits = strcspn(text + (text[0] == '-'), ".");
    for (const char *c = text; *c; c++) {
        ap_sbuf_add_char(out, *c);
        if (*c == '-')
            continue;
        if (digits > 0 && --digits > 0 && digits % 3 == 0)
            ap_sbuf_add_char(out, ',');
    }
}

/* Three significant digits with their zeros (1.50, 12.0), so that columns of like numbers read evenly. */
static void add_three_digits(ap_sbuf *out, double value)
{
    double size = fabs(value);
    if (size >= 1e15 || (size > 0 && size < 1e-4)) {
        char text[32];
        ap_num_format_digits(value, 3, text);
        ap_sbuf_add(out, text);
        return;
    }
    int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    if (size > 0 && size < 0.9995) {
        decimals = 3;
        for (double unit = 0.1; size < unit * 0.9995 && decimals < 8; unit /= 10)
            decimals++;
    }
    if (value == floor(value) && size < 1000)
        decimals = 0;
    add_grouped(out, value, decimals);
}

static void add_scaled(ap_sbuf *out, double value, const char *unit)
{
    add_three_digits(out, value);
    ap_sbuf_printf(out, " %s", unit);
}

static void add_seconds(ap_sbuf *out, double s)
{
    double size = fabs(s);
    if (size < 9.995e-4)
        add_scaled(out, s * 1e6, "\xC2\xB5s");
    else if (size < 0.9995)
        add_scaled(out, s * 1e3, "ms");
    else if (size < 120)
        add_scaled(out, s, "s");
    else if (size < 7200)
        add_scaled(out, s / 60, "min");
    else if (size < 48 * 3600.0)
        add_scaled(out, s / 3600, "h");
    else
        add_scaled(out, s / 86400, "d");
}

/* Two digits are enough for a duration whose error is tens of percent: 3.2 h, 45 min, 12 d. */
static void add_two_digits(ap_sbuf *out, double value, const char *unit)
{
    add_grouped(out, value, value != 0 && fabs(value) < 9.95 ? 1 : 0);
    ap_sbuf_printf(out, " %s", unit);
}

static void add_hours(ap_sbuf *out, double hours)
{
    double size = fabs(hours);
    if (hours == 0)
        ap_sbuf_add(out, "0 h");
    else if (size < 2.0 / 60)
        add_two_digits(out, hours * 3600, "s");
    else if (size < 2)
        add_two_digits(out, hours * 60, "min");
    else if (size < 48)
        add_two_digits(out, hours, "h");
    else
        add_two_digits(out, hours / 24, "d");
}

static void add_usd(ap_sbuf *out, double usd)
{
    double size = fabs(usd);
    if (size >= 99999.5)
        add_grouped(out, usd, 0);
    else if (size >= 0.0995 || usd == 0)
        add_grouped(out, usd, 2);
    else
        add_three_digits(out, usd);
}

static void add_percent(ap_sbuf *out, double fraction)
{
    double percent = fraction * 100, size = fabs(percent);
    add_grouped(out, percent, size > 0 && size < 9.95 ? 1 : 0);
    ap_sbuf_add(out, " %");
}

static void add_count(ap_sbuf *out, double count)
{
    static const struct { double from, unit; const char *name; } scale[] = {
        {9.995e11, 1e12, "T"}, {9.995e8, 1e9, "B"}, {9.995e5, 1e6, "M"}, {9995, 1e3, "k"}};
    for (size_t i = 0; i < sizeof scale / sizeof *scale; i++)
        if (fabs(count) >= scale[i].from) {
            add_scaled(out, count / scale[i].unit, scale[i].name);
            return;
        }
    add_three_digits(out, count);
}

static void add_number(ap_sbuf *out, double value, ap_cell_format format)
{
    char raw[32];
    switch (format) {
    case AP_CELL_INTEGER:
        add_grouped(out, value, 0);
        return;
    case AP_CELL_USD:
        add_usd(out, value);
        return;
    case AP_CELL_HOURS:
        add_hours(out, value);
        return;
    case AP_CELL_SECONDS:
        add_seconds(out, value);
        return;
    case AP_CELL_PERCENT:
        add_percent(out, value);
        return;
    case AP_CELL_COUNT:
        add_count(out, value);
        return;
    case AP_CELL_PLAIN:
        ap_num_format(value, raw);
        ap_sbuf_add(out, raw);
        return;
    case AP_CELL_AUTO:
    case AP_CELL_GIB:
    case AP_CELL_YES:
        add_three_digits(out, value);
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
        add_number(out, (double)value->as.integer, format);
        return;
    case AP_V_NUM:
        add_number(out, value->as.number, format);
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

/* "2.4 h" and "4.0 h" beside "3.2 h" lose their unit; different units keep theirs. */
static const char *add_range(ap_arena *arena, const char *middle, const char *low, const char *high)
{
    const char *unit = strchr(middle, ' '), *low_unit = strchr(low, ' '), *high_unit = strchr(high, ' ');
    if (strcmp(low, high) == 0)
        return middle;
    int low_len = (int)strlen(low), high_len = (int)strlen(high);
    if (unit && low_unit && high_unit && strcmp(low_unit, high_unit) == 0) {
        low_len = (int)(low_unit - low);
        if (strcmp(unit, high_unit) == 0)
            high_len = (int)(high_unit - high);
    }
    return ap_arena_printf(arena, "%s (%.*s" RANGE_DASH "%.*s)", middle, low_len, low, high_len, high);
}

const char *ap_cell_text(ap_arena *arena, const ap_value *row, const ap_column *column)
{
    const char *text = ap_cell_value_text(arena, ap_value_at(row, column->path), column->format);
    const ap_value *low = column->low_path ? ap_value_at(row, column->low_path) : NULL;
    const ap_value *high = column->high_path ? ap_value_at(row, column->high_path) : NULL;
    if (!ap_cell_is_number(low) || !ap_cell_is_number(high))
        return text;
    return add_range(arena, text, ap_cell_value_text(arena, low, column->format),
                     ap_cell_value_text(arena, high, column->format));
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
