/* Shared by the files of src/schema; not for others. */
#ifndef AP_SCHEMA_INTERNAL_H
#define AP_SCHEMA_INTERNAL_H

#include <stdbool.h>

#include "schema/schema.h"

#define AP_SCHEMA_FIELDS_MAX 256
#define AP_SCHEMA_DEPTH_MAX  16 /* of nested objects in generated documents */

typedef struct ap_schema_loader {
    ap_arena *arena;
    ap_diags *diags;
} ap_schema_loader;

/* Reads one value of a field into the struct; `base` is the struct that field->offset counts from. */
void ap_schema_load_value(ap_schema_loader *loader, const ap_field *field, const ap_node *node, void *base);
/* The same for a value that may be null or `auto`. */
void ap_schema_load_pair(ap_schema_loader *loader, const ap_field *field, const ap_pair *pair, void *base);
void ap_schema_load_map(ap_schema_loader *loader, const ap_object *object, const ap_node *node, void *out);
void ap_schema_clear_field(const ap_field *field, void *base);
/* Reports key as unknown in object, with the nearest ones or all of them. */
void ap_schema_report_unknown(ap_schema_loader *loader, const ap_object *object, const char *key, ap_pos pos,
                              const ap_node *value);

/* Walks down a dotted path. The field's offset counts from ret_base; when nothing is found (NULL), ret_object and
 * ret_rest tell where the walk ended. */
const ap_field *ap_schema_find_parent(const ap_object *object, const char *path, size_t *ret_base,
                                      const ap_object **ret_object, const char **ret_rest);

static inline void *ap_schema_at(void *base, size_t offset)
{
    return (char *)base + offset;
}

#endif
