/* Diagnostics: every finding about an input, collected and never stopping at the first.
 *
 * A finding has a numbered code (`AP0102`, documented in docs/diagnostics.md), a position (file:line:column, 1-based,
 * columns count characters; line 0 = no position), what was wrong and what was expected, and a hint.
 * Ownership: strings are copied into the list's arena. Printing is the business of src/cli (ap_diag_format gives text). */
#ifndef AP_BASE_DIAG_H
#define AP_BASE_DIAG_H

#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct ap_pos {
    const char *file;
    int line;
    int col;
} ap_pos;

#define AP_NO_POS ((ap_pos){0})

typedef enum ap_severity { AP_NOTE, AP_WARNING, AP_ERROR } ap_severity;

typedef struct ap_diag {
    ap_severity severity;
    int code; /* 102 prints as AP0102 */
    ap_pos pos;
    const char *message;
    const char *hint;        /* or NULL */
    const char *source_line; /* the line of the file, for the caret; or NULL */
} ap_diag;

typedef struct ap_diags {
    ap_arena *arena;
    ap_diag *items;
    size_t count;
    size_t capacity;
    size_t errors;
    size_t suppressed; /* findings beyond AP_DIAG_LIMIT are counted, not kept */
} ap_diags;

#define AP_DIAG_LIMIT 200

void ap_diags_init(ap_diags *diags, ap_arena *arena);

/* Adds a finding and returns it, so that the caller may set hint (arena or static text) and source_line. Never NULL. */
ap_diag *ap_diag_add(ap_diags *diags, ap_severity severity, int code, ap_pos pos, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Appends "file:line:col: error: message [APnnnn]\n", the source line with a caret, "hint: …\n". */
void ap_diag_format(const ap_diag *diag, ap_sbuf *out);

const char *ap_severity_name(ap_severity severity); /* "note" "warning" "error" */

#endif
