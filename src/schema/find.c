#include <string.h>

#include "schema/internal.h"

static const ap_field *find_part(const ap_object *object, const char *key, size_t len)
{
    for (size_t i = 0; i < object->field_count; i++) {
        const ap_field *field = &object->fields[i];
        if (field->key && field->type != AP_T_POS && strncmp(field->key, key, len) == 0 && field->key[len] == '\0')
            return field;
    }
    return NULL;
}

const ap_field *ap_schema_find_parent(const ap_object *object, const char *path, size_t *ret_base,
                                      const ap_object **ret_object, const char **ret_rest)
{
    *ret_base = 0;
    *ret_object = object;
    *ret_rest = path;
    for (;;) {
        size_t len = strcspn(*ret_rest, ".");
        const ap_field *field = find_part(*ret_object, *ret_rest, len);
        /* A key may hold dots itself; then the whole rest is its name. */
        if (!field)
            return find_part(*ret_object, *ret_rest, strlen(*ret_rest));
        if ((*ret_rest)[len] == '\0')
            return field;
        if (field->type != AP_T_OBJECT)
            return NULL;
        *ret_base += field->offset;
        *ret_object = field->object;
        *ret_rest += len + 1;
    }
}

const ap_field *ap_schema_find(const ap_object *object, const char *path, size_t *ret_offset)
{
    size_t base;
    const ap_object *parent;
    const char *rest;
    const ap_field *field = ap_schema_find_parent(object, path, &base, &parent, &rest);
    if (field && ret_offset)
        *ret_offset = base + field->offset;
    return field;
}
