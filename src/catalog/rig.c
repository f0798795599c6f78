#include <string.h>

#include "base/num.h"
#include "catalog/internal.h"
#include "catalog/target.h"
#include "io/file.h"
#include "io/yaml.h"

static ap_node *scalar(const char *text, ap_pos pos, ap_arena *arena)
{
    ap_node *node = AP_NEW(arena, ap_node);
    *node = (ap_node){.kind = AP_NODE_SCALAR, .quoted = true, .pos = pos, .text = text};
    return node;
}

/* "my box.yaml" -> "my-box": an id for a rig that its file does not name. */
static const char *id_of_path(const char *path, ap_arena *arena)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    char id[64];
    ap_normal_form(ap_arena_strndup(arena, name, dot ? (size_t)(dot - name) : strlen(name)), id, sizeof id);
    return ap_arena_strdup(arena, id[0] ? id : "rig");
}

/* A bare rig mapping as the only entry of a `rigs:` list. */
static const ap_node *as_catalog_file(const ap_node *map, const char *path, ap_arena *arena)
{
    if (map->kind != AP_NODE_MAP || ap_node_get(map, "rigs"))
        return map;
    ap_node *entry = AP_NEW(arena, ap_node), *list = AP_NEW(arena, ap_node), *file = AP_NEW(arena, ap_node);
    *entry = *map;
    entry->as.map.pairs = AP_NEW_ARRAY(arena, ap_pair, map->as.map.count + 1);
    if (map->as.map.count)
        memcpy(entry->as.map.pairs, map->as.map.pairs, map->as.map.count * sizeof(ap_pair));
    if (!ap_node_get(map, "id"))
        entry->as.map.pairs[entry->as.map.count++] =
            (ap_pair){"id", map->pos, scalar(id_of_path(path, arena), map->pos, arena)};
    *list = (ap_node){.kind = AP_NODE_LIST, .pos = map->pos};
    list->as.list.items = AP_NEW(arena, ap_node *);
    list->as.list.items[0] = entry;
    list->as.list.count = 1;
    *file = (ap_node){.kind = AP_NODE_MAP, .pos = map->pos};
    file->as.map.pairs = AP_NEW(arena, ap_pair);
    file->as.map.pairs[0] = (ap_pair){"rigs", map->pos, list};
    file->as.map.count = 1;
    return file;
}

static ap_status take_only_rig(const ap_catalog *catalog, const ap_batch *batch, const char *name, ap_diags *diags,
                               const ap_rig **ret)
{
    const ap_any_list *rigs = &batch->lists[AP_KIND_RIGS];
    if (rigs->count != 1) {
        ap_diag_add(diags, AP_ERROR, 741, (ap_pos){name, 1, 1}, "a rig file must describe one rig, not %zu",
                    rigs->count);
        return AP_BAD_INPUT;
    }
    ap_rig *rig = rigs->items;
    size_t errors_before = diags->errors;
    ap_load_complete(AP_KIND_RIGS, rig);
    const struct {
        const char *field, *id;
    } chips[] = {{"chip", rig->chip}, {"cpu", rig->cpu}};
    for (size_t i = 0; i < 2; i++)
        if (chips[i].id && !ap_catalog_chip(catalog, chips[i].id)) {
            ap_diag *diag = ap_diag_add(diags, AP_ERROR, 720, rig->pos, "rig '%s': %s '%s' is not in the catalog",
                                        rig->id, chips[i].field, chips[i].id);
            diag->hint = ap_catalog_suggest(catalog, "chips", chips[i].id, diags->arena);
        }
    if (!rig->chip && !rig->cpu)
        ap_diag_add(diags, AP_ERROR, 742, rig->pos, "rig '%s' names no chip", rig->id);
    if (rig->chip && !(rig->chip_count > 0))
        ap_diag_add(diags, AP_ERROR, 724, rig->pos, "rig '%s' has a chip but no chip_count", rig->id);
    *ret = rig;
    return diags->errors > errors_before ? AP_BAD_INPUT : AP_OK;
}

ap_status ap_rig_load_file(const ap_catalog *catalog, const char *path, ap_arena *arena, ap_diags *diags,
                           const ap_rig **ret)
{
    *ret = NULL;
    char *text;
    size_t len;
    ap_status status = ap_file_read(path, AP_YAML_WORKLOAD_BYTES, arena, diags, &text, &len);
    if (status != AP_OK)
        return status;
    ap_docs docs;
    status = ap_yaml_parse(text, len, path, AP_YAML_STRICT, AP_YAML_WORKLOAD_BYTES, arena, diags, &docs);
    if (status != AP_OK)
        return status;
    ap_load load = {.arena = arena, .diags = diags, .source = ap_arena_strdup(arena, path)};
    ap_batch batch = {0};
    if (docs.count && !ap_load_map(&load, as_catalog_file(docs.items[0], path, arena), &batch))
        status = AP_BAD_INPUT;
    else
        status = take_only_rig(catalog, &batch, path, diags, ret);
    if (diags->count)
        ap_diags_attach_source(diags, path, text, len);
    return status;
}

static bool looks_like_path(const char *text)
{
    return ap_ends_with(text, ".yaml") || ap_ends_with(text, ".yml") || ap_ends_with(text, ".json");
}

ap_status ap_rig_resolve(const ap_catalog *catalog, const char *text, ap_arena *arena, ap_diags *diags,
                         const ap_rig **ret)
{
    if (looks_like_path(text))
        return ap_rig_load_file(catalog, text, arena, diags, ret);
    const char *name = ap_starts_with(text, "rig/") ? text + 4 : text;
    *ret = ap_catalog_find_rig(catalog, name);
    if (*ret)
        return AP_OK;
    ap_diag *diag = ap_diag_add(diags, AP_ERROR, 743, AP_NO_POS, "unknown rig '%s'", name);
    const char *near = ap_catalog_suggest(catalog, "rigs", name, diags->arena);
    diag->hint = near ? near : "see: accelpick list rigs, or give the path of a RIG.yaml";
    return AP_USAGE;
}
