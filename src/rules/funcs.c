/* Functions: size, text tests, regular expressions, conversions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "rules/cel.h"

static const char *const func_names[] = {
    [FUNC_SIZE] = "size",    [FUNC_CONTAINS] = "contains", [FUNC_STARTS_WITH] = "startsWith",
    [FUNC_ENDS_WITH] = "endsWith", [FUNC_MATCHES] = "matches",   [FUNC_INT] = "int",
    [FUNC_DOUBLE] = "double", [FUNC_STRING] = "string",     [FUNC_BOOL] = "bool",
    [FUNC_DYN] = "dyn",       [FUNC_TYPE] = "type",
};

const char *ap_cel_func_name(size_t index)
{
    return index < FUNC_COUNT ? func_names[index] : NULL;
}

bool ap_cel_find_func(const char *name, ap_cel_func *ret_func)
{
    for (size_t i = 0; i < FUNC_COUNT; i++)
        if (strcmp(func_names[i], name) == 0)
            return *ret_func = (ap_cel_func)i, true;
    return false;
}

static ap_cel_value wrong_argument(ap_cel_run *run, const ap_cel_node *node, const ap_cel_value *arg)
{
    ap_cel_spend(run, 8);
    return ap_cel_error(ap_arena_printf(run->scratch, "%s() does not take a %s", node->as.call.name, ap_cel_kind_text(arg->kind)));
}

/* --- text --- */

static int64_t count_characters(const ap_cel_value *text)
{
    int64_t count = 0;
    for (size_t i = 0; i < text->as.string.len; i++)
        count += ((unsigned char)text->as.string.text[i] & 0xC0) != 0x80;
    return count;
}

static bool text_contains(const ap_cel_value *text, const ap_cel_value *part)
{
    size_t len = text->as.string.len, part_len = part->as.string.len;
    if (part_len == 0)
        return true;
    const char *at = text->as.string.text, *end = at + len;
    while ((size_t)(end - at) >= part_len && (at = memchr(at, part->as.string.text[0], (size_t)(end - at) - part_len + 1))) {
        if (memcmp(at, part->as.string.text, part_len) == 0)
            return true;
        at++;
    }
    return false;
}

static ap_cel_value text_test(ap_cel_run *run, const ap_cel_node *node, const ap_cel_value *text, const ap_cel_value *part)
{
    if (text->kind != AP_CEL_STRING || part->kind != AP_CEL_STRING)
        return wrong_argument(run, node, text->kind != AP_CEL_STRING ? text : part);
    size_t len = text->as.string.len, part_len = part->as.string.len;
    if (node->as.call.func == FUNC_CONTAINS) {
        size_t work = len / 16 * (part_len / 64 + 1); /* worst case of the plain search */
        if (!ap_cel_spend(run, work))
            return ap_cel_error("expression needs too much work");
        return ap_cel_bool(text_contains(text, part));
    }
    if (part_len > len)
        return ap_cel_bool(false);
    ap_cel_spend(run, part_len / 64);
    const char *at = text->as.string.text + (node->as.call.func == FUNC_ENDS_WITH ? len - part_len : 0);
    return ap_cel_bool(memcmp(at, part->as.string.text, part_len) == 0);
}

static ap_cel_value call_matches(ap_cel_run *run, const ap_cel_node *node, const ap_cel_value *text, const ap_cel_value *pattern)
{
    if (text->kind != AP_CEL_STRING || pattern->kind != AP_CEL_STRING)
        return wrong_argument(run, node, text->kind != AP_CEL_STRING ? text : pattern);
    return ap_cel_regex_matches(run, node->as.call.regex, text, pattern);
}

/* --- conversions --- */

static ap_cel_value int_of_text(const ap_cel_value *text)
{
    const char *c = text->as.string.text, *end = c + text->as.string.len;
    bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+'))
        c++;
    int64_t value = 0;
    if (c == end)
        return ap_cel_error("text is no int");
    for (; c < end; c++) {
        if (*c < '0' || *c > '9')
            return ap_cel_error("text is no int");
        int digit = *c - '0';
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, digit, &value))
            return ap_cel_error("int does not fit in 64 bits");
    }
    if (negative)
        return ap_cel_int(value); /* collected as a negative: INT64_MIN has no positive */
    return value == INT64_MIN ? ap_cel_error("int does not fit in 64 bits") : ap_cel_int(-value);
}

static ap_cel_value to_int(ap_cel_run *run, const ap_cel_node *node, const ap_cel_value *arg)
{
    switch (arg->kind) {
    case AP_CEL_INT:
        return *arg;
    case AP_CEL_DOUBLE:
        if (!(arg->as.number > -9223372036854775808.0 && arg->as.number < 9223372036854775808.0))
            return ap_cel_error("double does not fit in an int");
        return ap_cel_int((int64_t)arg->as.number);
    case AP_CEL_STRING:
        ap_cel_spend(run, arg->as.string.len / 16);
        return int_of_text(arg);
    default:
        return wrong_argument(run, node, arg);
    }
}

static bool word_of_double(const char *text, double *ret_value)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    char lower[16] = "";
    for (size_t i = 0; text[i] && i + 1 < sizeof lower; i++)
        lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
    if (strcmp(lower, "inf") == 0 || strcmp(lower, "infinity") == 0)
        *ret_value = negative ? -(double)INFINITY : (double)INFINITY;
    else if (strcmp(lower, "nan") == 0)
        *ret_value = (double)NAN;
    else
        return false;
    return true;
}

static ap_cel_value double_of_text(ap_cel_run *run, const ap_cel_value *text)
{
    double value;
    const char *c = text->as.string.text;
    if (text->as.string.len > 400 || strlen(c) != text->as.string.len)
        return ap_cel_error("text is no number");
    if (word_of_double(c, &value))
        return ap_cel_double(value);
    /* Also allowed here: a plus sign, ".5" and "5.". */
    bool negative = *c == '-';
    if (*c == '-' || *c == '+')
        c++;
    size_t digits = strspn(c, "0123456789");
    const char *rest = c + digits;
    bool bare_point = digits > 0 && rest[0] == '.' && (rest[1] < '0' || rest[1] > '9');
    if (digits == 0 && rest[0] != '.')
        return ap_cel_error("text is no number");
    const char *clean = ap_arena_printf(run->scratch, "%s%.*s%s", digits ? "" : "0", (int)digits, c, rest + (bare_point ? 1 : 0));
    if (!ap_num_parse(clean, &value))
        return ap_cel_error("text is no number");
    return ap_cel_double(negative ? -value : value);
}

static ap_cel_value to_double(ap_cel_run *run, const ap_cel_node *node, const ap_cel_value *arg)
{
    switch (arg->kind) {
    case AP_CEL_DOUBLE:
        return *arg;
    case AP_CEL_INT:
        return ap_cel_double((double)arg->as.integer);
    case AP_CEL_STRING:
        ap_cel_spend(run, 4 + (arg->as.string.len < 400 ? arg->as.string.len / 4 : 0));
        return double_of_text(run, arg);
    default:
        return wrong_argument(run, node, arg);
    }
}

/* Shortest digits that read back equal; with an exponent below 1e-4 and from 1e6 on, as the reference implementation. */
static const char *text_of_double(double value, ap_arena *arena)
{
    if (isnan(value))
        return "NaN";
    if (isinf(value))
        return value > 0 ? "+Inf" : "-Inf";
    char digits[40] = "";
    for (int places = 0; places <= 16; places++) {
        snprintf(digits, sizeof digits, "%.*e", places, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    char *exponent_text = strchr(digits, 'e');
    int exponent = (int)strtol(exponent_text + 1, NULL, 10), places = (int)strcspn(digits, "e") - (digits[0] == '-' ? 1 : 0) - 2;
    if (value != 0 && (exponent < -4 || exponent >= 6))
        return ap_arena_strdup(arena, digits);
    int decimals = (places > 0 ? places : 0) - exponent;
    return ap_arena_printf(arena, "%.*f", decimals > 0 ? decimals : 0, value);
}

static ap_cel_value to_string(ap_cel_run *run, const ap_cel_node *node, const ap_cel_value *arg)
{
    switch (arg->kind) {
    case AP_CEL_STRING:
        return *arg;
    case AP_CEL_BOOL:
        return ap_cel_text(arg->as.boolean ? "true" : "false");
    case AP_CEL_INT:
        ap_cel_spend(run, 4);
        return ap_cel_text(ap_arena_printf(run->scratch, "%lld", (long long)arg->as.integer));
    case AP_CEL_DOUBLE:
        ap_cel_spend(run, 150); /* tries up to 17 lengths */
        return ap_cel_text(text_of_double(arg->as.number, run->scratch));
    default:
        return wrong_argument(run, node, arg);
    }
}

static ap_cel_value to_bool(ap_cel_run *run, const ap_cel_node *node, const ap_cel_value *arg)
{
    static const char *const words[] = {"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"};
    if (arg->kind == AP_CEL_BOOL)
        return *arg;
    if (arg->kind != AP_CEL_STRING)
        return wrong_argument(run, node, arg);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == arg->as.string.len && memcmp(words[i], arg->as.string.text, arg->as.string.len) == 0)
            return ap_cel_bool(i < 6);
    return ap_cel_error("text is no bool");
}

static ap_cel_value call_size(ap_cel_run *run, const ap_cel_node *node, const ap_cel_value *arg)
{
    switch (arg->kind) {
    case AP_CEL_STRING:
        ap_cel_spend(run, arg->as.string.len / 32);
        return ap_cel_int(count_characters(arg));
    case AP_CEL_LIST:
        return ap_cel_int((int64_t)arg->as.list.count);
    case AP_CEL_MAP:
        return ap_cel_int((int64_t)arg->as.map.count);
    default:
        return wrong_argument(run, node, arg);
    }
}

ap_cel_value ap_cel_call(ap_cel_run *run, const ap_cel_node *node, const ap_cel_value *args)
{
    switch (node->as.call.func) {
    case FUNC_SIZE:
        return call_size(run, node, &args[0]);
    case FUNC_CONTAINS:
    case FUNC_STARTS_WITH:
    case FUNC_ENDS_WITH:
        return text_test(run, node, &args[0], &args[1]);
    case FUNC_MATCHES:
        return call_matches(run, node, &args[0], &args[1]);
    case FUNC_INT:
        return to_int(run, node, &args[0]);
    case FUNC_DOUBLE:
        return to_double(run, node, &args[0]);
    case FUNC_STRING:
        return to_string(run, node, &args[0]);
    case FUNC_BOOL:
        return to_bool(run, node, &args[0]);
    case FUNC_TYPE: {
        if (args[0].kind == AP_CEL_TYPE) {
            ap_cel_value type = ap_cel_text("type");
            type.kind = AP_CEL_TYPE;
            return type;
        }
        ap_cel_value type = ap_cel_text(ap_cel_kind_text(args[0].kind));
        type.kind = AP_CEL_TYPE;
        return type;
    }
    default:
        return args[0];
    }
}
