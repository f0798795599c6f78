/* Growing text buffer and small string helpers. An ap_sbuf lives in an arena; `text` is always NUL-terminated. */
#ifndef AP_BASE_STR_H
#define AP_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

typedef struct ap_sbuf {
    ap_arena *arena;
    char *text;
    size_t len;
    size_t capacity;
} ap_sbuf;

void ap_sbuf_init(ap_sbuf *buf, ap_arena *arena);
void ap_sbuf_add(ap_sbuf *buf, const char *text);
void ap_sbuf_add_len(ap_sbuf *buf, const char *text, size_t len);
void ap_sbuf_add_char(ap_sbuf *buf, char c);
void ap_sbuf_add_repeat(ap_sbuf *buf, char c, size_t count);
void ap_sbuf_printf(ap_sbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ap_sbuf_vprintf(ap_sbuf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

bool ap_streq(const char *a, const char *b); /* NULL equals only NULL */
bool ap_starts_with(const char *text, const char *prefix);
bool ap_ends_with(const char *text, const char *suffix);
/* Shell-style glob with * and ? over the whole text, case-sensitive; linear memory, no recursion blow-up. */
bool ap_glob_match(const char *pattern, const char *text);
/* ASCII lower case copy in the arena. */
char *ap_str_lower(ap_arena *arena, const char *text);

#endif
