#include "catalog/internal.h"

#include <string.h>

#define OF(type, member) offsetof(type, member)
#define NO               AP_NO_MEMBER

/* clang-format off */
const ap_access ap_accesses[AP_KIND_COUNT] = {
    [AP_KIND_CHIPS] = {"chips", "chip", NO, OF(ap_chip, id), NO, NO, OF(ap_chip, name), OF(ap_chip, from),
                       OF(ap_chip, pos)},
    [AP_KIND_NAMES] = {"names", "name", OF(ap_name, provider), OF(ap_name, name), OF(ap_name, where), NO, NO,
                       OF(ap_name, from), OF(ap_name, pos)},
    [AP_KIND_INSTANCES] = {"instances", "instance", OF(ap_instance, cloud), OF(ap_instance, name), NO, NO, NO,
                           OF(ap_instance, from), OF(ap_instance, pos)},
    [AP_KIND_CLOUDS] = {"clouds", "cloud", NO, OF(ap_cloud, id), NO, OF(ap_cloud, aliases), NO, OF(ap_cloud, from),
                        OF(ap_cloud, pos)},
    [AP_KIND_REGIONS] = {"regions", "region", OF(ap_region, cloud), OF(ap_region, id), NO, NO, NO, OF(ap_region, from),
                         OF(ap_region, pos)},
    [AP_KIND_MODELS] = {"models", "model", NO, OF(ap_model, id), NO, OF(ap_model, aliases), NO, OF(ap_model, from),
                        OF(ap_model, pos)},
    [AP_KIND_DATASETS] = {"datasets", "dataset", NO, OF(ap_dataset, id), NO, OF(ap_dataset, aliases), NO,
                          OF(ap_dataset, from), OF(ap_dataset, pos)},
    [AP_KIND_RECIPES] = {"recipes", "recipe", NO, OF(ap_recipe, id), NO, NO, NO, OF(ap_recipe, from),
                         OF(ap_recipe, pos)},
    [AP_KIND_RIGS] = {"rigs", "rig", NO, OF(ap_rig, id), NO, NO, NO, OF(ap_rig, from), OF(ap_rig, pos)},
    [AP_KIND_IMAGES] = {"images", "image", NO, OF(ap_image, id), NO, NO, NO, OF(ap_image, from), OF(ap_image, pos)},
    [AP_KIND_STACKS] = {"stacks", "stack", NO, OF(ap_stack, id), NO, OF(ap_stack, aliases), NO, OF(ap_stack, from),
                        OF(ap_stack, pos)},
    [AP_KIND_SUITES] = {"suites", "suite", NO, OF(ap_suite, id), NO, NO, NO, OF(ap_suite, from), OF(ap_suite, pos)},
};
/* clang-format on */

static const ap_catalog_kind *table_of(int kind)
{
    if (strcmp(ap_catalog_kinds[kind].key, ap_accesses[kind].kind) == 0) /* as a rule the orders agree */
        return &ap_catalog_kinds[kind];
    for (size_t i = 0; i < ap_catalog_kind_count; i++)
        if (strcmp(ap_catalog_kinds[i].key, ap_accesses[kind].kind) == 0)
            return &ap_catalog_kinds[i];
    return NULL;
}

int ap_access_find(const char *kind)
{
    for (int i = 0; i < AP_KIND_COUNT; i++)
        if (ap_streq(ap_accesses[i].kind, kind) || ap_streq(ap_accesses[i].singular, kind))
            return i;
    return -1;
}

const ap_object *ap_access_object(int kind)
{
    return table_of(kind)->object;
}

ap_any_list *ap_access_list(ap_catalog *catalog, int kind)
{
    return (void *)((char *)catalog + table_of(kind)->list_offset);
}

const ap_any_list *ap_access_list_const(const ap_catalog *catalog, int kind)
{
    return (const void *)((const char *)catalog + table_of(kind)->list_offset);
}

const void *ap_access_item(const ap_catalog *catalog, int kind, size_t item)
{
    const ap_catalog_kind *table = table_of(kind);
    const ap_any_list *list = (const void *)((const char *)catalog + table->list_offset);
    return (const char *)list->items + item * table->object->size;
}

const char *ap_access_text(const void *record, size_t member)
{
    if (member == AP_NO_MEMBER)
        return NULL;
    return *(const char *const *)(const void *)((const char *)record + member);
}

const ap_provenance *ap_access_from(int kind, const void *record)
{
    return (const void *)((const char *)record + ap_accesses[kind].from);
}

ap_pos ap_access_pos(int kind, const void *record)
{
    return *(const ap_pos *)(const void *)((const char *)record + ap_accesses[kind].pos);
}

const char *ap_access_label(int kind, const void *record, ap_arena *arena)
{
    const char *scope = ap_access_text(record, ap_accesses[kind].scope);
    const char *key = ap_access_text(record, ap_accesses[kind].key);
    if (!scope)
        return key ? key : "(without id)";
    return ap_arena_printf(arena, "%s/%s", scope, key ? key : "");
}

bool ap_access_same(int kind, const void *a, const void *b)
{
    const ap_access *access = &ap_accesses[kind];
    return ap_streq(ap_access_text(a, access->scope), ap_access_text(b, access->scope)) &&
           ap_streq(ap_access_text(a, access->key), ap_access_text(b, access->key)) &&
           ap_streq(ap_access_text(a, access->extra), ap_access_text(b, access->extra));
}
