/* JSON Schema (draft 2020-12) of a field table. Quantities may be numbers or text with a unit, as the loader reads
 * them. */
#include <math.h>

#include "io/json.h"
#include "schema/internal.h"

static void write_object(ap_json_writer *w, const ap_object *object, int depth);

static void write_type(ap_json_writer *w, const ap_field *field, const char *const *types)
{
    ap_json_key(w, "type");
    bool nullable = !(field->flags & AP_F_REQUIRED);
    if (!types[1] && !nullable) {
        ap_json_string(w, types[0]);
        return;
    }
    ap_json_array_open(w);
    for (; *types; types++)
        ap_json_string(w, *types);
    if (nullable)
        ap_json_string(w, "null");
    ap_json_array_close(w);
}

static void write_words(ap_json_writer *w, const ap_field *field, bool nullable)
{
    ap_json_key(w, "enum");
    ap_json_array_open(w);
    for (const char *const *word = field->names; *word; word++)
        ap_json_string(w, *word);
    if (field->flags & AP_F_AUTO)
        ap_json_string(w, "auto");
    if (nullable)
        ap_json_null(w);
    ap_json_array_close(w);
}

static bool has_limits(const ap_field *field)
{
    return field->min < 0 || field->min > 0 || field->max < 0 || field->max > 0;
}

static void write_limits(ap_json_writer *w, const ap_field *field)
{
    if (!has_limits(field))
        return;
    if (isfinite(field->min)) {
        ap_json_key(w, "minimum");
        ap_json_number(w, field->min);
    }
    if (isfinite(field->max)) {
        ap_json_key(w, "maximum");
        ap_json_number(w, field->max);
    }
}

static void write_number(ap_json_writer *w, const ap_field *field)
{
    static const char *const number[] = {"number", NULL}, *const integer[] = {"integer", NULL},
                             *const quantity[] = {"number", "string", NULL},
                             *const word[] = {"integer", "string", NULL};
    bool text = field->dim != AP_DIM_NONE || field->flags & AP_F_AUTO;
    if (field->type == AP_T_INT)
        write_type(w, field, text ? word : integer);
    else
        write_type(w, field, text ? quantity : number);
    write_limits(w, field);
    if (field->dim != AP_DIM_NONE) {
        ap_json_key(w, "$comment");
        ap_json_string(w, ap_dim_expected(field->dim));
    }
}

static void write_items(ap_json_writer *w, const char *const *types)
{
    ap_json_key(w, "items");
    ap_json_object_open(w);
    ap_json_key(w, "type");
    ap_json_array_open(w);
    for (; *types; types++)
        ap_json_string(w, *types);
    ap_json_array_close(w);
    ap_json_object_close(w);
}

static void write_lists(ap_json_writer *w, const ap_field *field)
{
    static const char *const text_or_list[] = {"string", "number", "boolean", "array", NULL};
    static const char *const number_or_list[] = {"number", "string", "array", NULL};
    static const char *const texts[] = {"string", "number", "boolean", NULL}, *const numbers[] = {"number", "string",
                                                                                                  NULL};
    write_type(w, field, field->type == AP_T_TEXTS ? text_or_list : number_or_list);
    if (field->type == AP_T_TEXTS && field->names) {
        ap_json_key(w, "items");
        ap_json_object_open(w);
        write_words(w, field, false);
        ap_json_object_close(w);
    } else {
        write_items(w, field->type == AP_T_TEXTS ? texts : numbers);
    }
}

static void write_text(ap_json_writer *w, const ap_field *field)
{
    static const char *const text[] = {"string", NULL}, *const scalar[] = {"string", "number", "boolean", NULL};
    if (field->names) {
        write_words(w, field, !(field->flags & AP_F_REQUIRED));
        return;
    }
    write_type(w, field, field->type == AP_T_ID ? text : scalar);
    if (field->type == AP_T_ID) {
        ap_json_key(w, "pattern");
        ap_json_string(w, "^[a-z0-9._-]+$");
    }
}

static void write_group(ap_json_writer *w, const ap_field *field, int depth)
{
    static const char *const array[] = {"array", NULL}, *const map[] = {"object", NULL};
    if (field->type == AP_T_OBJECT) {
        write_object(w, field->object, depth + 1);
    } else if (field->type == AP_T_OBJECTS) {
        write_type(w, field, array);
        ap_json_key(w, "items");
        ap_json_object_open(w);
        write_object(w, field->object, depth + 1);
        ap_json_object_close(w);
    } else {
        write_type(w, field, map);
        ap_json_key(w, "additionalProperties");
        ap_json_object_open(w);
        ap_json_key(w, "type");
        ap_json_array_open(w);
        ap_json_string(w, "string");
        ap_json_string(w, "number");
        ap_json_string(w, "boolean");
        ap_json_string(w, "null");
        ap_json_array_close(w);
        ap_json_object_close(w);
    }
}

static void write_kind(ap_json_writer *w, const ap_field *field, int depth)
{
    static const char *const boolean[] = {"boolean", NULL}, *const range[] = {"string", "number", NULL};
    static const char *const boolean_or_auto[] = {"boolean", "string", NULL};
    switch (field->type) {
    case AP_T_TEXT:
    case AP_T_ID:
        write_text(w, field);
        break;
    case AP_T_NUM:
    case AP_T_INT:
        write_number(w, field);
        break;
    case AP_T_BOOL:
        write_type(w, field, field->flags & AP_F_AUTO ? boolean_or_auto : boolean);
        break;
    case AP_T_ENUM:
        write_words(w, field, !(field->flags & AP_F_REQUIRED));
        break;
    case AP_T_RANGE:
        write_type(w, field, range);
        break;
    case AP_T_TEXTS:
    case AP_T_NUMS:
        write_lists(w, field);
        break;
    case AP_T_TEXT_MAP:
    case AP_T_OBJECT:
    case AP_T_OBJECTS:
        write_group(w, field, depth);
        break;
    case AP_T_NODE:
    case AP_T_POS:
        break;
    }
}

static bool is_shown(const ap_field *field)
{
    return field->key && field->type != AP_T_POS && !(field->flags & AP_F_HIDDEN);
}

static void write_required(ap_json_writer *w, const ap_object *object)
{
    bool any = false;
    for (size_t i = 0; i < object->field_count; i++) {
        if (!is_shown(&object->fields[i]) || !(object->fields[i].flags & AP_F_REQUIRED))
            continue;
        if (!any) {
            ap_json_key(w, "required");
            ap_json_array_open(w);
        }
        any = true;
        ap_json_string(w, object->fields[i].key);
    }
    if (any)
        ap_json_array_close(w);
}

/* The members of an object's schema, without its braces, so that the root can add its own. */
static void write_object(ap_json_writer *w, const ap_object *object, int depth)
{
    ap_json_key(w, "type");
    ap_json_string(w, "object");
    if (depth > AP_SCHEMA_DEPTH_MAX)
        return;
    ap_json_key(w, "properties");
    ap_json_object_open(w);
    for (size_t i = 0; i < object->field_count; i++) {
        const ap_field *field = &object->fields[i];
        if (!is_shown(field))
            continue;
        ap_json_key(w, field->key);
        ap_json_object_open(w);
        if (field->doc) {
            ap_json_key(w, "description");
            ap_json_string(w, field->doc);
        }
        write_kind(w, field, depth);
        ap_json_object_close(w);
    }
    ap_json_object_close(w);
    write_required(w, object);
    ap_json_key(w, "additionalProperties");
    ap_json_bool(w, false);
}

void ap_schema_write_json(const ap_object *object, ap_sbuf *out)
{
    ap_json_writer w;
    ap_json_begin(&w, out, 2);
    ap_json_object_open(&w);
    ap_json_key(&w, "$schema");
    ap_json_string(&w, "https://json-schema.org/draft/2020-12/schema");
    ap_json_key(&w, "title");
    ap_json_string(&w, object->name);
    if (object->doc) {
        ap_json_key(&w, "description");
        ap_json_string(&w, object->doc);
    }
    write_object(&w, object, 0);
    ap_json_object_close(&w);
    ap_sbuf_add_char(out, '\n');
}
