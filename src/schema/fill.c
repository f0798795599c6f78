/* Defaults: what one object leaves absent, taken from another of the same kind. */
#include <math.h>
#include <string.h>

#include "schema/internal.h"

static bool is_absent(const ap_field *field, const void *value)
{
    switch (field->type) {
    case AP_T_NUM:
    case AP_T_INT:
        return isnan(*(const double *)value);
    case AP_T_BOOL:
        return *(const signed char *)value < 0;
    case AP_T_ENUM:
        return *(const int *)value < 0;
    case AP_T_RANGE:
        return isnan(((const ap_range *)value)->low) && isnan(((const ap_range *)value)->high);
    case AP_T_TEXTS:
    case AP_T_NUMS:
    case AP_T_TEXT_MAP:
    case AP_T_OBJECTS:
        return ((const ap_any_list *)value)->count == 0;
    default:
        return *(const void *const *)value == NULL;
    }
}

void ap_schema_fill(const ap_object *object, void *out, const void *defaults)
{
    for (size_t i = 0; i < object->field_count; i++) {
        const ap_field *field = &object->fields[i];
        void *to = ap_schema_at(out, field->offset);
        const void *from = (const char *)defaults + field->offset;
        if (field->type == AP_T_POS)
            continue;
        if (field->type == AP_T_OBJECT)
            ap_schema_fill(field->object, to, from);
        else if (is_absent(field, to))
            memcpy(to, from, ap_schema_field_size(field));
    }
}
