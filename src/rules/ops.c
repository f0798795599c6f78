/* Arithmetic, equality and order of values. */
#include <math.h>
#include <string.h>

#include "rules/cel.h"

#define TWO_63 9223372036854775808.0

const char *ap_cel_kind_text(ap_cel_kind kind)
{
    static const char *const names[] = {"null_type", "bool", "int", "double", "string", "list", "map", "error", "unknown", "type"};
    return names[kind];
}

static ap_cel_value no_overload(ap_cel_run *run, const char *op, const ap_cel_value *a, const ap_cel_value *b)
{
    ap_cel_spend(run, 8); /* the message takes memory: loops that fail must run dry */
    return ap_cel_error(
        ap_arena_printf(run->scratch, "no %s %s %s", ap_cel_kind_text(a->kind), op, ap_cel_kind_text(b->kind)));
}

/* --- arithmetic --- */

static ap_cel_value int_arithmetic(ap_cel_op op, int64_t a, int64_t b)
{
    int64_t value;
    bool overflow = false;
    switch (op) {
    case OP_ADD:
        overflow = __builtin_add_overflow(a, b, &value);
        break;
    case OP_SUB:
        overflow = __builtin_sub_overflow(a, b, &value);
        break;
    case OP_MUL:
        overflow = __builtin_mul_overflow(a, b, &value);
        break;
    default:
        if (b == 0)
            return ap_cel_error(op == OP_DIV ? "division by zero" : "modulus by zero");
        overflow = a == INT64_MIN && b == -1;
        value = overflow ? 0 : op == OP_DIV ? a / b : a % b;
    }
    return overflow ? ap_cel_error("integer overflow") : ap_cel_int(value);
}

static ap_cel_value double_arithmetic(ap_cel_op op, double a, double b)
{
    switch (op) {
    case OP_ADD:
        return ap_cel_double(a + b);
    case OP_SUB:
        return ap_cel_double(a - b);
    case OP_MUL:
        return ap_cel_double(a * b);
    case OP_DIV:
        return ap_cel_double(a / b);
    default:
        return ap_cel_error("no double % double");
    }
}

static ap_cel_value concatenate(ap_cel_run *run, const ap_cel_value *a, const ap_cel_value *b)
{
    if (a->kind == AP_CEL_STRING) {
        size_t len = a->as.string.len + b->as.string.len;
        if (!ap_cel_spend(run, len / 8))
            return ap_cel_error("expression needs too much work");
        char *text = ap_arena_alloc(run->scratch, len + 1);
        memcpy(text, a->as.string.text, a->as.string.len);
        memcpy(text + a->as.string.len, b->as.string.text, b->as.string.len);
        return (ap_cel_value){.kind = AP_CEL_STRING, .as.string = {text, len}};
    }
    size_t count = a->as.list.count + b->as.list.count;
    if (!ap_cel_spend(run, count))
        return ap_cel_error("expression needs too much work");
    ap_cel_value *items = AP_NEW_ARRAY(run->scratch, ap_cel_value, count);
    if (a->as.list.count)
        memcpy(items, a->as.list.items, a->as.list.count * sizeof *items);
    if (b->as.list.count)
        memcpy(items + a->as.list.count, b->as.list.items, b->as.list.count * sizeof *items);
    return (ap_cel_value){.kind = AP_CEL_LIST, .as.list = {items, count}};
}

ap_cel_value ap_cel_arithmetic(ap_cel_run *run, ap_cel_op op, const ap_cel_value *a, const ap_cel_value *b)
{
    static const char *const names[] = {[OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_MOD] = "%"};
    if (a->kind == AP_CEL_INT && b->kind == AP_CEL_INT)
        return int_arithmetic(op, a->as.integer, b->as.integer);
    if (a->kind == AP_CEL_DOUBLE && b->kind == AP_CEL_DOUBLE)
        return double_arithmetic(op, a->as.number, b->as.number);
    if (op == OP_ADD && a->kind == b->kind && (a->kind == AP_CEL_STRING || a->kind == AP_CEL_LIST))
        return concatenate(run, a, b);
    return no_overload(run, names[op], a, b);
}

ap_cel_value ap_cel_negate(const ap_cel_value *a)
{
    if (a->kind == AP_CEL_DOUBLE)
        return ap_cel_double(-a->as.number);
    if (a->kind != AP_CEL_INT)
        return ap_cel_error("only numbers have a negative");
    return a->as.integer == INT64_MIN ? ap_cel_error("integer overflow") : ap_cel_int(-a->as.integer);
}

/* --- order --- */

typedef enum order { LESS, SAME, MORE, UNORDERED } order;

static order order_doubles(double a, double b)
{
    return a < b ? LESS : a > b ? MORE : a == b ? SAME : UNORDERED;
}

/* As the reference implementation has it: a double outside of the range of ints decides at once, otherwise the int is
 * rounded to a double. So the largest int equals 2^63 as a double, which it is rounded to. */
static order order_int_double(int64_t a, double b)
{
    if (isnan(b))
        return UNORDERED;
    if (b > TWO_63)
        return LESS;
    if (b < -TWO_63)
        return MORE;
    return order_doubles((double)a, b);
}

static order flip(order o)
{
    return o == LESS ? MORE : o == MORE ? LESS : o;
}

static bool order_numbers(const ap_cel_value *a, const ap_cel_value *b, order *ret_order)
{
    bool a_int = a->kind == AP_CEL_INT, b_int = b->kind == AP_CEL_INT;
    if ((!a_int && a->kind != AP_CEL_DOUBLE) || (!b_int && b->kind != AP_CEL_DOUBLE))
        return false;
    if (a_int && b_int)
        *ret_order = a->as.integer < b->as.integer ? LESS : a->as.integer > b->as.integer ? MORE : SAME;
    else if (a_int)
        *ret_order = order_int_double(a->as.integer, b->as.number);
    else if (b_int)
        *ret_order = flip(order_int_double(b->as.integer, a->as.number));
    else
        *ret_order = order_doubles(a->as.number, b->as.number);
    return true;
}

/* Byte order of UTF-8 is the order of code points. */
static order order_strings(ap_cel_run *run, const ap_cel_value *a, const ap_cel_value *b)
{
    size_t a_len = a->as.string.len, b_len = b->as.string.len, shorter = a_len < b_len ? a_len : b_len;
    ap_cel_spend(run, shorter / 64);
    int difference = memcmp(a->as.string.text, b->as.string.text, shorter);
    if (difference)
        return difference < 0 ? LESS : MORE;
    return a_len < b_len ? LESS : a_len > b_len ? MORE : SAME;
}

/* --- equality --- */

static bool equal_lists(ap_cel_run *run, const ap_cel_value *a, const ap_cel_value *b)
{
    if (a->as.list.count != b->as.list.count)
        return false;
    for (size_t i = 0; i < a->as.list.count; i++)
        if (!ap_cel_equal(run, &a->as.list.items[i], &b->as.list.items[i]))
            return false;
    return true;
}

static bool equal_maps(ap_cel_run *run, const ap_cel_value *a, const ap_cel_value *b)
{
    if (a->as.map.count != b->as.map.count)
        return false;
    for (size_t i = 0; i < a->as.map.count; i++) {
        const ap_cel_value *other = ap_cel_map_find(run, b, &a->as.map.keys[i]);
        if (!other || !ap_cel_equal(run, &a->as.map.values[i], other))
            return false;
    }
    return true;
}

static bool equal_aggregates(ap_cel_run *run, const ap_cel_value *a, const ap_cel_value *b)
{
    if (run->value_depth >= AP_CEL_MAX_VALUE) {
        run->work = 0; /* ends the evaluation as an error */
        return false;
    }
    run->value_depth++;
    bool equal = a->kind == AP_CEL_LIST ? equal_lists(run, a, b) : equal_maps(run, a, b);
    run->value_depth--;
    return equal;
}

/* Values of different kinds are unequal, except that numbers compare by value. */
bool ap_cel_equal(ap_cel_run *run, const ap_cel_value *a, const ap_cel_value *b)
{
    order numeric;
    if (!ap_cel_spend(run, 1))
        return false;
    if (order_numbers(a, b, &numeric))
        return numeric == SAME;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case AP_CEL_NULL:
        return true;
    case AP_CEL_BOOL:
        return a->as.boolean == b->as.boolean;
    case AP_CEL_STRING:
    case AP_CEL_TYPE:
        ap_cel_spend(run, a->as.string.len / 64);
        return a->as.string.len == b->as.string.len &&
               memcmp(a->as.string.text, b->as.string.text, a->as.string.len) == 0;
    case AP_CEL_LIST:
    case AP_CEL_MAP:
        return equal_aggregates(run, a, b);
    default:
        return false;
    }
}

static bool holds(ap_cel_op op, order o)
{
    switch (op) {
    case OP_LT:
        return o == LESS;
    case OP_LE:
        return o == LESS || o == SAME;
    case OP_GT:
        return o == MORE;
    default:
        return o == MORE || o == SAME;
    }
}

ap_cel_value ap_cel_compare(ap_cel_run *run, ap_cel_op op, const ap_cel_value *a, const ap_cel_value *b)
{
    static const char *const names[] = {[OP_LT] = "<", [OP_LE] = "<=", [OP_GT] = ">", [OP_GE] = ">="};
    if (op == OP_EQ || op == OP_NE)
        return ap_cel_bool(ap_cel_equal(run, a, b) == (op == OP_EQ));
    order o;
    if (order_numbers(a, b, &o))
        return ap_cel_bool(holds(op, o));
    if (a->kind == AP_CEL_STRING && b->kind == AP_CEL_STRING)
        return ap_cel_bool(holds(op, order_strings(run, a, b)));
    if (a->kind == AP_CEL_BOOL && b->kind == AP_CEL_BOOL)
        return ap_cel_bool(holds(op, order_doubles(a->as.boolean, b->as.boolean)));
    return no_overload(run, names[op], a, b);
}

/* --- members --- */

const ap_cel_value *ap_cel_map_find(ap_cel_run *run, const ap_cel_value *map, const ap_cel_value *key)
{
    for (size_t i = 0; i < map->as.map.count; i++)
        if (ap_cel_equal(run, &map->as.map.keys[i], key))
            return &map->as.map.values[i];
    return NULL;
}

ap_cel_value ap_cel_contains(ap_cel_run *run, const ap_cel_value *item, const ap_cel_value *collection)
{
    if (collection->kind == AP_CEL_MAP)
        return ap_cel_bool(ap_cel_map_find(run, collection, item) != NULL);
    if (collection->kind != AP_CEL_LIST)
        return no_overload(run, "in", item, collection);
    for (size_t i = 0; i < collection->as.list.count; i++)
        if (ap_cel_equal(run, item, &collection->as.list.items[i]))
            return ap_cel_bool(true);
    return ap_cel_bool(false);
}
