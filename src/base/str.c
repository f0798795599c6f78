#include "base/str.h"

#include <stdio.h>
#include <string.h>

void ap_sbuf_init(ap_sbuf *buf, ap_arena *arena)
{
    *buf = (ap_sbuf){.arena = arena, .text = ap_arena_alloc(arena, 256), .capacity = 256};
}

static void reserve(ap_sbuf *buf, size_t extra)
{
    size_t needed = buf->len + extra + 1;
    if (needed <= buf->capacity)
        return;
    size_t capacity = buf->capacity * 2 > needed ? buf->capacity * 2 : needed;
    char *bigger = ap_arena_alloc(buf->arena, capacity);
    memcpy(bigger, buf->text, buf->len);
    buf->text = bigger;
    buf->capacity = capacity;
}

void ap_sbuf_add_len(ap_sbuf *buf, const char *text, size_t len)
{
    reserve(buf, len);
    memcpy(buf->text + buf->len, text, len);
    buf->len += len;
    buf->text[buf->len] = '\0';
}

void ap_sbuf_add(ap_sbuf *buf, const char *text)
{
    ap_sbuf_add_len(buf, text, strlen(text));
}

void ap_sbuf_add_char(ap_sbuf *buf, char c)
{
    ap_sbuf_add_len(buf, &c, 1);
}

void ap_sbuf_add_repeat(ap_sbuf *buf, char c, size_t count)
{
    reserve(buf, count);
    memset(buf->text + buf->len, c, count);
    buf->len += count;
    buf->text[buf->len] = '\0';
}

void ap_sbuf_vprintf(ap_sbuf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len > 0) {
        reserve(buf, (size_t)len);
        vsnprintf(buf->text + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void ap_sbuf_printf(ap_sbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ap_sbuf_vprintf(buf, format, args);
    va_end(args);
}

bool ap_streq(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool ap_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool ap_ends_with(const char *text, const char *suffix)
{
    size_t text_len = strlen(text), suffix_len = strlen(suffix);
    return text_len >= suffix_len && memcmp(text + text_len - suffix_len, suffix, suffix_len) == 0;
}

bool ap_glob_match(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

char *ap_str_lower(ap_arena *arena, const char *text)
{
    char *lower = ap_arena_strdup(arena, text);
    for (char *c = lower; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return lower;
}
