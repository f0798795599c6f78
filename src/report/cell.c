/* Cells: one value as a person reads it, or raw as a machine does. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/num.h"
#include "base/text.h"
#include "report/render.h"

#define UNKNOWN_TEXT "\xE2\x80\x93" /* en dash */
#define RANGE_DASH   "\xE2\x80\x93"

bool ap_cell_is_number(const ap_value *value)
{
    return value && (value->kind == AP_V_INT || value->kind == AP_V_NUM);
}

static void add_percent(ap_sbuf *out, double fraction)
{
    double percent = fraction * 100, size = fabs(percent);
    ap_human_grouped(out, percent, size > 0 && size < 9.95 ? 1 : 0, 1000);
    ap_sbuf_add(out, " %");
}

/* For a bound of a range: its middle, and how many digits are enough. */
typedef struct bound_style {
    double middle;
    int digits;
} bound_style;

/* The number as its format wants it. */
static void add_number(ap_sbuf *out, double value, ap_cell_format format, const bound_style *like)
{
    char raw[32];
    int digits = like ? like->digits : 3;
    double reference = like ? like->middle : value;
    switch (format) {
    case AP_CELL_INTEGER:
        ap_human_grouped(out, value, 0, 10000); /* years and small counts stay plain */
        return;
    case AP_CELL_USD:
        if (like)
            ap_human_digits(out, value, digits);
        else
            ap_human_usd(out, value);
        return;
    case AP_CELL_HOURS:
        ap_human_hours(out, value, reference);
        return;
    case AP_CELL_SECONDS:
        ap_human_seconds(out, value, reference, digits);
        return;
    case AP_CELL_PERCENT:
        add_percent(out, value);
        return;
    case AP_CELL_COUNT:
        ap_human_count(out, value, reference, digits);
        return;
    case AP_CELL_PLAIN:
        ap_num_format(value, raw);
        ap_sbuf_add(out, raw);
        return;
    case AP_CELL_AUTO:
    case AP_CELL_GIB:
    case AP_CELL_YES:
        ap_human_digits(out, value, digits);
        return;
    }
}

/* Text of others (names, notes) must neither break the layout nor steer the terminal. */
static void add_text(ap_sbuf *out, const char *text)
{
    for (const char *c = text; *c;) {
        size_t unsafe = ap_text_unsafe(c);
        ap_sbuf_add_char(out, unsafe ? ' ' : *c);
        c += unsafe ? unsafe : 1;
    }
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

typedef struct middle_text {
    double value;
    const char *text;
} middle_text;

/* What a text shows, without commas and unit; NaN when that is no number. */
static double shown(const char *text)
{
    char plain[40];
    size_t len = 0;
    for (; *text && *text != ' ' && len + 1 < sizeof plain; text++)
        if (*text != ',')
            plain[len++] = *text;
    plain[len] = '\0';
    double value;
    return ap_num_parse(plain, &value) ? value : AP_UNKNOWN;
}

/* A bound of a range, without the unit that its middle has said already; with more digits than its two where rounding
 * would carry it to the other side of the middle. */
static const char *bound_text(ap_arena *arena, double bound, const middle_text *middle, ap_cell_format format)
{
    const char *text = "";
    for (int digits = 2; digits <= 6; digits++) {
        ap_sbuf out;
        ap_sbuf_init(&out, arena);
        add_number(&out, bound, format, &(bound_style){middle->value, digits});
        text = ap_arena_strndup(arena, out.text, strcspn(out.text, " "));
        double there = shown(middle->text), here = shown(text);
        if (!(bound <= middle->value && here > there) && !(bound >= middle->value && here < there))
            break;
    }
    return text;
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
    middle_text center = {middle, ap_arena_strndup(arena, out.text, out.len)};
    const char *from = bound_text(arena, number_of(low) * scale, &center, column->format);
    const char *to = bound_text(arena, number_of(high) * scale, &center, column->format);
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
