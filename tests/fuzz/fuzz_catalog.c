/* Fuzzes a user's catalog file: whatever the bytes, the overlay ends in records or located findings. */
#include <stdint.h>

#include "catalog/catalog.h"
#include "io/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_diags_init(&diags, arena);
    ap_catalog *catalog;
    /* A small base: three records of the kinds that merge differently. */
    static const char base[] = "source: s\nconfidence: read\n"
                               "clouds: [{id: c, name: C}]\n"
                               "chips: [{id: g, name: G, vendor: V, generation: ada, kind: gpu, memory: {size: 8GiB}}]\n"
                               "instances: [{cloud: c, name: i, chip: g, chip_count: 1, prices: [{region: r, on_demand: 1}]}]\n";
    if (ap_catalog_read_image(NULL, 0, arena, &catalog) != AP_OK)
        return 0;
    const struct { const char *text; size_t len; } layers[] = {{base, sizeof base - 1}, {(const char *)data, size}};
    for (size_t i = 0; i < 2; i++) {
        char *text = ap_arena_strndup(arena, layers[i].text, layers[i].len);
        ap_docs docs = {0};
        ap_status status = ap_yaml_parse(text, layers[i].len, "fuzz", AP_YAML_STRICT, AP_YAML_CATALOG_BYTES, arena, &diags, &docs);
        if (status == AP_OK && docs.count > 0)
            status = ap_catalog_overlay_map(catalog, docs.items[0], &diags);
        if ((status == AP_OK) != (diags.errors == 0))
            __builtin_trap();
    }
    (void)!ap_catalog_check(catalog, &diags);
    (void)ap_catalog_find_chip(catalog, "g");
    return 0;
}
