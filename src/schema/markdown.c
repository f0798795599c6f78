/* Reference table of an object's keys; nested objects appear with dotted keys, members of lists as key[].inner. */
#include <math.h>

#include "schema/internal.h"

static void add_cell(ap_sbuf *out, const char *text)
{
    for (const char *c = text ? text : ""; *c; c++) {
        if (*c == '|')
            ap_sbuf_add_char(out, '\\');
        ap_sbuf_add_char(out, *c == '\n' ? ' ' : *c);
    }
}

static void add_words(ap_sbuf *out, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        ap_sbuf_add(out, i ? ", `" : "`");
        add_cell(out, words[i]);
        ap_sbuf_add_char(out, '`');
    }
}

static void add_limits(ap_sbuf *out, const ap_field *field)
{
    if (!(field->min < 0 || field->min > 0 || field->max < 0 || field->max > 0))
        return;
    ap_sbuf_add(out, ", ");
    ap_units_format(field->min, field->dim, out);
    if (isfinite(field->max)) {
        ap_sbuf_add(out, " to ");
        ap_units_format(field->max, field->dim, out);
    } else {
        ap_sbuf_add(out, " or more");
    }
}

static void add_type(ap_sbuf *out, const ap_field *field)
{
    switch (field->type) {
    case AP_T_TEXT:
        ap_sbuf_add(out, field->names ? "" : "text");
        break;
    case AP_T_ID:
        ap_sbuf_add(out, "id");
        break;
    case AP_T_NUM:
        ap_sbuf_add(out, ap_dim_expected(field->dim));
        break;
    case AP_T_INT:
        ap_sbuf_add(out, field->dim == AP_DIM_NONE ? "a whole number" : ap_dim_expected(field->dim));
        break;
    case AP_T_BOOL:
        ap_sbuf_add(out, "`true` or `false`");
        break;
    case AP_T_RANGE:
        ap_sbuf_add(out, "a range such as `1..8`, `4..` or `..8`");
        break;
    case AP_T_TEXTS:
        ap_sbuf_add(out, field->names ? "a list of " : "a list of texts");
        break;
    case AP_T_NUMS:
        ap_sbuf_add(out, "a list of numbers");
        break;
    case AP_T_TEXT_MAP:
        ap_sbuf_add(out, "a mapping of texts");
        break;
    case AP_T_OBJECT:
        ap_sbuf_add(out, "a mapping");
        break;
    case AP_T_OBJECTS:
        ap_sbuf_add(out, "a list of mappings");
        break;
    case AP_T_NODE:
        ap_sbuf_add(out, "see the text");
        break;
    case AP_T_ENUM:
    case AP_T_POS:
        break;
    }
    if (field->names)
        add_words(out, field->names);
    add_limits(out, field);
    if (field->flags & AP_F_AUTO)
        ap_sbuf_add(out, ", or `auto`");
}

static void add_rows(ap_sbuf *out, const ap_object *object, const char *prefix, int depth)
{
    for (size_t i = 0; i < object->field_count; i++) {
        const ap_field *field = &object->fields[i];
        if (!field->key || field->type == AP_T_POS || field->flags & AP_F_HIDDEN)
            continue;
        ap_sbuf_printf(out, "| `%s%s` | ", prefix, field->key);
        add_type(out, field);
        ap_sbuf_add(out, field->flags & AP_F_REQUIRED ? " | yes | " : " | | ");
        add_cell(out, field->doc);
        ap_sbuf_add(out, " |\n");
        if ((field->type == AP_T_OBJECT || field->type == AP_T_OBJECTS) && depth < AP_SCHEMA_DEPTH_MAX)
            add_rows(
                out, field->object,
                ap_arena_printf(out->arena, "%s%s%s.", prefix, field->key, field->type == AP_T_OBJECTS ? "[]" : ""),
                depth + 1);
    }
}

void ap_schema_write_markdown(const ap_object *object, ap_sbuf *out)
{
    ap_sbuf_add(out, "| Key | Value | Required | Meaning |\n|---|---|---|---|\n");
    add_rows(out, object, "", 0);
}
