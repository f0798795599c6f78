/* JSON facts -> values of the engine, and values -> JSON. A number without point and exponent is an int with all its
 * digits, which a reader that goes through doubles would lose. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "rules/cel.h"

#define MAX_DEPTH 64
#define MAX_OUTPUT_BYTES ((size_t)8 << 20)

typedef struct reader {
    ap_cel_source source; /* text, place, complaints */
    int depth;
} reader;

static bool read_value(reader *r, ap_cel_value *ret);

static char here(const reader *r)
{
    return r->source.next < r->source.len ? r->source.text[r->source.next] : '\0';
}

static void skip(reader *r)
{
    while (r->source.next < r->source.len && strchr(" \t\r\n", here(r)) && here(r))
        r->source.next++;
}

static bool fail(reader *r, const char *what)
{
    ap_cel_complain(&r->source, AP_CEL_SYNTAX, r->source.next, "JSON: %s", what);
    return false;
}

static bool take(reader *r, char c)
{
    skip(r);
    if (here(r) != c)
        return false;
    r->source.next++;
    return true;
}

/* -?(0|[1-9]digits)(.digits)?(e…)? */
static bool read_number(reader *r, ap_cel_value *ret)
{
    const char *start = r->source.text + r->source.next;
    size_t len = strspn(start, "+-.0123456789eE");
    const char *digits = start + (*start == '-' ? 1 : 0);
    bool whole = strcspn(start, ".eE") >= len;
    if (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
        return fail(r, "a number must not begin with 0");
    char *text = ap_arena_strndup(r->source.arena, start, len);
    double number;
    if (!ap_num_parse(text, &number))
        return fail(r, "bad number");
    *ret = ap_cel_double(number);
    if (whole) {
        uint64_t magnitude = 0;
        for (const char *c = text + (*text == '-' ? 1 : 0); *c; c++)
            if (__builtin_mul_overflow(magnitude, 10u, &magnitude) || __builtin_add_overflow(magnitude, (uint64_t)(*c - '0'), &magnitude))
                return fail(r, "integer does not fit in 64 bits");
        bool negative = *text == '-';
        if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
            return fail(r, "integer does not fit in 64 bits");
        *ret = ap_cel_int(negative ? (magnitude > INT64_MAX ? INT64_MIN : -(int64_t)magnitude) : (int64_t)magnitude);
    }
    r->source.next += len;
    return true;
}

static bool read_unit(reader *r, uint32_t *ret)
{
    if (r->source.len - r->source.next < 6)
        return fail(r, "bad escape");
    uint32_t code = 0;
    for (size_t i = 2; i < 6; i++) {
        const char *hex = "0123456789abcdef", c = r->source.text[r->source.next + i];
        const char *at = c ? strchr(hex, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
        if (!at)
            return fail(r, "bad escape");
        code = code << 4 | (uint32_t)(at - hex);
    }
    r->source.next += 6;
    *ret = code;
    return true;
}

static bool read_unicode_escape(reader *r, ap_sbuf *out)
{
    uint32_t code, low;
    if (!read_unit(r, &code))
        return false;
    if (code >= 0xD800 && code <= 0xDBFF) {
        if (here(r) != '\\' || r->source.text[r->source.next + 1] != 'u' || !read_unit(r, &low) || low < 0xDC00 || low > 0xDFFF)
            return fail(r, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
        return fail(r, "half of a surrogate pair");
    }
    ap_cel_add_utf8(out, code);
    return true;
}

static bool read_escape(reader *r, ap_sbuf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = r->source.next + 1 < r->source.len ? r->source.text[r->source.next + 1] : '\0';
    if (c == 'u')
        return read_unicode_escape(r, out);
    const char *at = c ? strchr(from, c) : NULL;
    if (!at)
        return fail(r, "bad escape");
    ap_sbuf_add_char(out, to[at - from]);
    r->source.next += 2;
    return true;
}

static bool read_string(reader *r, ap_cel_value *ret)
{
    ap_sbuf out;
    ap_sbuf_init(&out, r->source.arena);
    if (!take(r, '"'))
        return fail(r, "expected a string");
    while (here(r) != '"') {
        if (r->source.next >= r->source.len || (unsigned char)here(r) < 0x20)
            return fail(r, "string is not closed");
        if (here(r) == '\\') {
            if (!read_escape(r, &out))
                return false;
        } else {
            ap_sbuf_add_char(&out, here(r));
            r->source.next++;
        }
    }
    r->source.next++;
    *ret = (ap_cel_value){.kind = AP_CEL_STRING, .as.string = {out.text, out.len}};
    return true;
}

static bool read_list(reader *r, ap_cel_value *ret)
{
    ap_cel_value *items = NULL;
    size_t count = 0, capacity = 0;
    r->source.next++;
    if (!take(r, ']')) {
        do {
            ap_cel_value *item = AP_PUSH(r->source.arena, items, count, capacity);
            ap_cel_value value;
            if (!read_value(r, &value))
                return false;
            *item = value;
        } while (take(r, ','));
        if (!take(r, ']'))
            return fail(r, "expected , or ]");
    }
    *ret = (ap_cel_value){.kind = AP_CEL_LIST, .as.list = {items, count}};
    return true;
}

static bool has_key(const ap_cel_value *keys, size_t count, const ap_cel_value *key)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i].as.string.len == key->as.string.len && memcmp(keys[i].as.string.text, key->as.string.text, key->as.string.len) == 0)
            return true;
    return false;
}

static bool read_map(reader *r, ap_cel_value *ret)
{
    ap_cel_value *keys = NULL, *values = NULL;
    size_t key_count = 0, key_capacity = 0, count = 0, capacity = 0;
    r->source.next++;
    if (!take(r, '}')) {
        do {
            ap_cel_value key, value;
            skip(r);
            if (!read_string(r, &key))
                return false;
            if (key_count < 2000 && has_key(keys, key_count, &key))
                return fail(r, "a key is given twice");
            if (!take(r, ':'))
                return fail(r, "expected :");
            if (!read_value(r, &value))
                return false;
            *AP_PUSH(r->source.arena, keys, key_count, key_capacity) = key;
            *AP_PUSH(r->source.arena, values, count, capacity) = value;
        } while (take(r, ','));
        if (!take(r, '}'))
            return fail(r, "expected , or }");
    }
    *ret = (ap_cel_value){.kind = AP_CEL_MAP, .as.map = {keys, values, count}};
    return true;
}

static bool read_word(reader *r, const char *word, ap_cel_value value, ap_cel_value *ret)
{
    size_t len = strlen(word);
    if (r->source.len - r->source.next < len || strncmp(r->source.text + r->source.next, word, len) != 0)
        return fail(r, "unexpected character");
    r->source.next += len;
    *ret = value;
    return true;
}

static bool read_value(reader *r, ap_cel_value *ret)
{
    skip(r);
    if (++r->depth > MAX_DEPTH)
        return fail(r, "nested too deeply");
    bool ok;
    switch (here(r)) {
    case '{':
        ok = read_map(r, ret);
        break;
    case '[':
        ok = read_list(r, ret);
        break;
    case '"':
        ok = read_string(r, ret);
        break;
    case 't':
        ok = read_word(r, "true", ap_cel_bool(true), ret);
        break;
    case 'f':
        ok = read_word(r, "false", ap_cel_bool(false), ret);
        break;
    case 'n':
        ok = read_word(r, "null", (ap_cel_value){.kind = AP_CEL_NULL}, ret);
        break;
    default:
        ok = here(r) == '-' || (here(r) >= '0' && here(r) <= '9') ? read_number(r, ret) : fail(r, "expected a value");
    }
    r->depth--;
    return ok;
}

ap_status ap_cel_read_json(const char *text, size_t len, const char *name, ap_arena *arena, ap_diags *diags, ap_cel_value *ret)
{
    reader r = {.source = {.text = text, .len = len, .pos = {name, 1, 1}, .arena = arena, .diags = diags}};
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        r.source.next = 3;
    if (!ap_utf8_valid(text, len, &r.source.next))
        return fail(&r, "not valid UTF-8"), AP_BAD_INPUT;
    r.source.next = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (!read_value(&r, ret))
        return AP_BAD_INPUT;
    skip(&r);
    if (r.source.next < len)
        return fail(&r, "text after the value"), AP_BAD_INPUT;
    return AP_OK;
}

/* --- writing --- */

static void write_string(const ap_cel_value *value, ap_sbuf *out)
{
    ap_sbuf_add_char(out, '"');
    for (size_t i = 0; i < value->as.string.len; i++) {
        unsigned char c = (unsigned char)value->as.string.text[i];
        if (c == '"' || c == '\\')
            ap_sbuf_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            ap_sbuf_printf(out, "\\u%04x", c);
        else
            ap_sbuf_add_char(out, (char)c);
    }
    ap_sbuf_add_char(out, '"');
}

/* A double keeps a point or an exponent. JSON has no infinity and no NaN: they are written as text. */
static void write_double(double value, ap_sbuf *out)
{
    if (!isfinite(value)) {
        ap_sbuf_add(out, isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    char text[32];
    ap_num_format(value, text);
    if (value == 0 && signbit(value))
        strcpy(text, "-0");
    ap_sbuf_add(out, text);
    if (!strpbrk(text, ".e"))
        ap_sbuf_add(out, ".0");
}

static void write_key(const ap_cel_value *key, ap_sbuf *out)
{
    if (key->kind == AP_CEL_STRING)
        write_string(key, out);
    else if (key->kind == AP_CEL_BOOL)
        ap_sbuf_add(out, key->as.boolean ? "\"true\"" : "\"false\"");
    else
        ap_sbuf_printf(out, "\"%lld\"", (long long)key->as.integer);
}

static bool write_value(const ap_cel_value *value, unsigned depth, ap_sbuf *out);

static bool write_items(const ap_cel_value *value, unsigned depth, ap_sbuf *out)
{
    bool list = value->kind == AP_CEL_LIST;
    size_t count = list ? value->as.list.count : value->as.map.count;
    ap_sbuf_add_char(out, list ? '[' : '{');
    for (size_t i = 0; i < count; i++) {
        ap_sbuf_add(out, i ? "," : "");
        if (!list) {
            write_key(&value->as.map.keys[i], out);
            ap_sbuf_add_char(out, ':');
        }
        if (!write_value(list ? &value->as.list.items[i] : &value->as.map.values[i], depth + 1, out))
            return false;
    }
    ap_sbuf_add_char(out, list ? ']' : '}');
    return true;
}

static bool write_value(const ap_cel_value *value, unsigned depth, ap_sbuf *out)
{
    if (depth > AP_CEL_MAX_VALUE || out->len > MAX_OUTPUT_BYTES)
        return false;
    switch (value->kind) {
    case AP_CEL_BOOL:
        ap_sbuf_add(out, value->as.boolean ? "true" : "false");
        break;
    case AP_CEL_INT:
        ap_sbuf_printf(out, "%lld", (long long)value->as.integer);
        break;
    case AP_CEL_DOUBLE:
        write_double(value->as.number, out);
        break;
    case AP_CEL_STRING:
    case AP_CEL_TYPE:
        write_string(value, out);
        break;
    case AP_CEL_LIST:
    case AP_CEL_MAP:
        return write_items(value, depth, out);
    default:
        ap_sbuf_add(out, "null");
    }
    return true;
}

bool ap_cel_write_json(const ap_cel_value *value, ap_sbuf *out)
{
    return write_value(value, 0, out);
}
