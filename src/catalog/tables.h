/* Field tables of the catalog's objects (one per struct of catalog.h) and of its files. */
#ifndef AP_CATALOG_TABLES_H
#define AP_CATALOG_TABLES_H

#include "schema/schema.h"

extern const ap_object ap_chip_object, ap_name_object, ap_instance_object, ap_price_object, ap_cloud_object,
    ap_region_object, ap_model_object, ap_dataset_object, ap_recipe_object, ap_rig_object, ap_image_object,
    ap_stack_object, ap_suite_object;

/* A catalog file is one mapping with exactly one of the list keys (chips:, names:, instances:, clouds:, regions:,
 * models:, datasets:, recipes:, rigs:, images:, stacks:, suites:) and file-level defaults of `source`, `as_of`, `confidence`,
 * and for instances `cloud`, `market`. */
typedef struct ap_catalog_kind {
    const char *key;           /* "chips" */
    const ap_object *object;
    size_t list_offset;        /* of its AP_LIST in ap_catalog */
} ap_catalog_kind;
extern const ap_catalog_kind ap_catalog_kinds[];
extern const size_t ap_catalog_kind_count;

#endif
