/* JSON: strict reading through cJSON (PITFALLS C1-C11) into positioned nodes is done by the YAML reader where positions
 * matter; this wrapper is for data exchanged by programs (facts, saved results, price answers). Writing is our own
 * streaming writer: cJSON's printer loses digits. */
#ifndef AP_IO_JSON_H
#define AP_IO_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/status.h"
#include "base/str.h"

/* Refuses: trailing text, leading zeros, raw control characters, invalid UTF-8, \u0000, non-finite numbers, duplicate
 * keys, depth over 64. Errors carry line and column. The caller deletes the tree (AP_SCOPED_JSON). */
AP_CHECKED ap_status ap_json_parse(const char *text, size_t len, const char *name, ap_diags *diags, cJSON **ret_root);

static inline void ap_json_cleanup(cJSON **root)
{
    cJSON_Delete(*root);
}
#define AP_SCOPED_JSON __attribute__((cleanup(ap_json_cleanup))) cJSON

/* Streaming writer into a buffer; commas and indentation are its own business. indent 0 = one line. */
typedef struct ap_json_writer {
    ap_sbuf *out;
    int indent;
    int depth;
    bool need_comma;
    bool after_key;
} ap_json_writer;

void ap_json_begin(ap_json_writer *w, ap_sbuf *out, int indent);
void ap_json_object_open(ap_json_writer *w);
void ap_json_object_close(ap_json_writer *w);
void ap_json_array_open(ap_json_writer *w);
void ap_json_array_close(ap_json_writer *w);
void ap_json_key(ap_json_writer *w, const char *key);
void ap_json_string(ap_json_writer *w, const char *text); /* NULL writes null; invalid UTF-8 becomes U+FFFD */
void ap_json_number(ap_json_writer *w, double value);     /* NaN writes null */
void ap_json_int(ap_json_writer *w, int64_t value);
void ap_json_bool(ap_json_writer *w, bool value);
void ap_json_null(ap_json_writer *w);

#endif
