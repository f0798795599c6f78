/* Quoting: a value becomes one word of the language it is written into, whatever it holds. Values with control
 * characters never get this far (ap_emit_text_ok); should one, it is replaced, never passed on. */
#ifndef AP_EMIT_QUOTE_H
#define AP_EMIT_QUOTE_H

#include <stdbool.h>

#include "base/str.h"

typedef enum ap_language {
    AP_LANG_TEXT,  /* comments: as it is, on one line */
    AP_LANG_SHELL, /* one word of a POSIX shell */
    AP_LANG_YAML,  /* one flow scalar that reads back as text */
    AP_LANG_JSON,  /* one string */
    AP_LANG_COUNT
} ap_language;

void ap_quote(ap_language language, const char *text, ap_sbuf *out);
/* "text" "sh" "yaml" "json", as templates call them; AP_LANG_COUNT when unknown. */
ap_language ap_language_parse(const char *name, size_t len);
/* No control characters, valid UTF-8. */
bool ap_emit_text_ok(const char *text);
/* Lower case, digits and single dashes, at most `most` bytes, begins with a letter: a name every scheduler takes. */
const char *ap_emit_slug(ap_arena *arena, const char *text, size_t most);

#endif
