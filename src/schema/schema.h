/* One table row per field drives everything: loading with positions, units, range checks, required/unknown/duplicate
 * keys with did-you-mean, JSON Schema, reference docs, completion, the compiled catalog image, and `show`.
 *
 * A described object is a plain C struct; a field says where in it its value lies (offset), what it may be, and what it
 * means. Absent optional values: numbers NaN, strings NULL, bool and enum -1, lists empty, ranges NaN..NaN.
 * Conventions of a described struct: double for every number, signed char for bool (-1 unknown, 0, 1), int for enum
 * (index into its names, -1 unknown), const char * for text, AP_LIST(T) for lists. */
#ifndef AP_SCHEMA_SCHEMA_H
#define AP_SCHEMA_SCHEMA_H

#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/status.h"
#include "base/units.h"
#include "io/node.h"

#define AP_LIST(type)                                                                                                  \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t count;                                                                                                  \
    }
typedef AP_LIST(void) ap_any_list; /* what the generic code sees of any AP_LIST */
typedef AP_LIST(const char *) ap_strings;
typedef AP_LIST(double) ap_numbers;
typedef struct ap_text_pair {
    const char *key;
    const char *value;
} ap_text_pair;
typedef AP_LIST(ap_text_pair) ap_text_map;

typedef enum ap_type {
    AP_T_TEXT,     /* const char * */
    AP_T_ID,       /* const char *, [a-z0-9._-]+ */
    AP_T_NUM,      /* double in the field's dimension, within min..max */
    AP_T_INT,      /* double holding an integer below 2^53, within min..max */
    AP_T_BOOL,     /* signed char */
    AP_T_ENUM,     /* int index into names */
    AP_T_RANGE,    /* ap_range in the dimension */
    AP_T_TEXTS,    /* ap_strings; one scalar is accepted as a list of one */
    AP_T_NUMS,     /* ap_numbers in the dimension */
    AP_T_TEXT_MAP, /* ap_text_map: free keys, scalar values */
    AP_T_OBJECT,   /* nested struct by value, described by `object` */
    AP_T_OBJECTS,  /* AP_LIST of structs described by `object` */
    AP_T_NODE,     /* const ap_node *: kept raw, for unions that code resolves (e.g. workload model:) */
    AP_T_POS       /* ap_pos: no key in the file; set to the object's own position */
} ap_type;

enum { AP_F_REQUIRED = 1, AP_F_HIDDEN = 2 /* not in docs and schema */, AP_F_AUTO = 4 /* the word `auto` = absent */ };

typedef struct ap_object ap_object;

typedef struct ap_field {
    const char *key;
    ap_type type;
    size_t offset;
    unsigned flags;
    ap_dim dim;
    double min, max;          /* both 0 = no check; otherwise inclusive, in inner units */
    const char *const *names; /* AP_T_ENUM, NULL-terminated */
    const ap_object *object;  /* AP_T_OBJECT(S) */
    const char *doc;          /* one sentence, with the unit shown in files */
} ap_field;

struct ap_object {
    const char *name; /* "chip" */
    const char *doc;
    size_t size; /* sizeof the struct */
    const ap_field *fields;
    size_t field_count;
    /* Checks across fields after a clean load; adds diagnostics at `pos`. Optional. */
    void (*check)(const void *object, ap_pos pos, ap_diags *diags);
};

/* Loads a mapping into out (set to "absent" first). Texts and positions are not copied: the node's arena must live as
 * long as the struct. A null is "absent" where the key is optional. TEXT(S) with `names` take only these words. All
 * findings are collected (codes 02xx: 0201 unknown key, 0202 missing key, 0203 wrong kind, 0204 bad number/unit, 0205
 * out of range, 0206 unknown word, 0207 bad id, 0208 null). */
AP_CHECKED ap_status ap_schema_load(const ap_object *object, const ap_node *node, void *out, ap_arena *arena,
                                    ap_diags *diags);
void ap_schema_clear(const ap_object *object, void *out); /* everything absent */

/* What `out` leaves absent is copied from `defaults`, an object of the same kind (nested ones field by field). */
void ap_schema_fill(const ap_object *object, void *out, const void *defaults);

/* Bytes that a field's value takes inside its struct (AP_T_POS too). */
size_t ap_schema_field_size(const ap_field *field);

/* Field of an object by dotted path ("memory.usable"), or NULL; ret_offset gets the absolute offset. */
const ap_field *ap_schema_find(const ap_object *object, const char *path, size_t *ret_offset);

/* Reads one `path=value` (options, --set) into an object: same parsing, same messages. */
AP_CHECKED ap_status ap_schema_set(const ap_object *object, void *out, const char *path, const char *value, ap_pos pos,
                                   ap_arena *arena, ap_diags *diags);

/* JSON Schema (draft 2020-12) and a Markdown table of the object's fields. */
void ap_schema_write_json(const ap_object *object, ap_sbuf *out);
void ap_schema_write_markdown(const ap_object *object, ap_sbuf *out);

/* Compiled image: an array of structs with everything they point to, as one relocatable block of bytes.
 * write: appends to `out` (binary-safe). read: copies into the arena and points the pointers at the copy or at `bytes`
 * (which must outlive the arena). AP_T_NODE fields cannot be stored. Layout is checked by a hash of the field tables.
 */
void ap_image_write(const ap_object *object, const void *items, size_t count, ap_sbuf *out);
AP_CHECKED ap_status ap_image_read(const ap_object *object, const unsigned char **cursor, const unsigned char *end,
                                   ap_arena *arena, void **ret_items, size_t *ret_count);

#define AP_FIELDS_OF(table) (table), sizeof(table) / sizeof *(table)

#endif
