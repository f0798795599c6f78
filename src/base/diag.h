/* Diagnostics: every finding about an input, collected and never stopping at the first.
 *
 * A finding has a numbered code (`AP0102`, documented in docs/diagnostics.md), a position (file:line:column, 1-based,
 * columns count characters; line 0 = no position), what was wrong and what was expected, and a hint.
 * Ownership: strings are copied into the list's arena. Printing is the business of src/cli (ap_diag_format gives text).
 */
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

/* Codes of the layers below the domain (00xx files, 01xx syntax of YAML, JSON and CSV, 02xx field tables). */
enum {
    AP_CODE_FILE_READ = 1,   /* missing, unreadable, read error */
    AP_CODE_FILE_FOLDER = 2, /* a folder where a file is needed */
    AP_CODE_FILE_TOO_BIG = 3,
    AP_CODE_FILE_WRITE = 4,
    AP_CODE_FOLDER_READ = 5,
    AP_CODE_YAML_SYNTAX = 101,
    AP_CODE_ENCODING = 102, /* not UTF-8, or a character that text must not hold */
    AP_CODE_TOO_BIG = 103,
    AP_CODE_TOO_DEEP = 104,
    AP_CODE_DUPLICATE_KEY = 105,
    AP_CODE_ANCHOR = 106,         /* anchors and aliases where they are not allowed */
    AP_CODE_UNKNOWN_ANCHOR = 107, /* alias to nothing or to itself */
    AP_CODE_ALIAS_BUDGET = 108,
    AP_CODE_MERGE_KEY = 109,
    AP_CODE_EMPTY = 110,
    AP_CODE_DOCUMENTS = 111, /* more than one document */
    AP_CODE_COMPLEX_KEY = 112,
    AP_CODE_TAB = 113,
    AP_CODE_TAG = 114,
    AP_CODE_JSON_SYNTAX = 121,
    AP_CODE_JSON_NUMBER = 122,
    AP_CODE_JSON_STRING = 123,
    AP_CODE_CSV_QUOTE = 131,
    AP_CODE_CSV_CELLS = 132,
    AP_CODE_CSV_COLUMN = 133,
    AP_CODE_UNKNOWN_KEY = 201,
    AP_CODE_MISSING_KEY = 202,
    AP_CODE_WRONG_KIND = 203,
    AP_CODE_BAD_NUMBER = 204,
    AP_CODE_OUT_OF_RANGE = 205,
    AP_CODE_UNKNOWN_WORD = 206,
    AP_CODE_BAD_ID = 207,
    AP_CODE_NULL = 208
};

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
