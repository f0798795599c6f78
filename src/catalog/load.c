/* From YAML to records. A file is one mapping: list keys ("chips:" …) and file-level defaults, which are laid into
 * every entry that lacks them, so that the field tables alone say what is valid and where an error is. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "catalog/internal.h"
#include "io/file.h"
#include "io/yaml.h"

/* Defaults that any list takes; a kind takes those it has a field for. */
static const char *const default_keys[] = {"source", "as_of", "confidence", "cloud", "market"};
enum { DEFAULT_COUNT = sizeof default_keys / sizeof *default_keys };

/* Folders below a data directory that other layers read. */
static const char *const foreign_folders[] = {"calibration", "recipes-templates", "rules", "policies", "providers", "energy"};

static bool is_default_key(const char *key)
{
    for (size_t i = 0; i < DEFAULT_COUNT; i++)
        if (strcmp(default_keys[i], key) == 0)
            return true;
    return false;
}

static void report_unknown_key(const ap_load *load, const ap_pair *pair)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, pair->key);
    for (int kind = 0; kind < AP_KIND_COUNT; kind++)
        ap_suggest_offer(&suggest, ap_accesses[kind].kind);
    for (size_t i = 0; i < DEFAULT_COUNT; i++)
        ap_suggest_offer(&suggest, default_keys[i]);
    ap_diag *diag =
        ap_diag_add(load->diags, AP_ERROR, 701, pair->key_pos, "unknown key '%s' in a catalog file", pair->key);
    const char *near = ap_suggest_text(&suggest, load->diags->arena);
    diag->hint =
        near ? near
             : "a catalog file holds lists such as chips:, instances: or models:, and source:, as_of:, confidence:";
}

/* The entry with the file's defaults added: a copy, because the tree is not ours to change. */
static const ap_node *with_defaults(const ap_load *load, int kind, const ap_node *entry, const ap_node *file)
{
    if (entry->kind != AP_NODE_MAP)
        return entry;
    ap_node *copy = AP_NEW(load->arena, ap_node);
    *copy = *entry;
    size_t count = entry->as.map.count;
    copy->as.map.pairs = AP_NEW_ARRAY(load->arena, ap_pair, count + DEFAULT_COUNT);
    if (count)
        memcpy(copy->as.map.pairs, entry->as.map.pairs, count * sizeof(ap_pair));
    for (size_t i = 0; i < file->as.map.count; i++) {
        const ap_pair *pair = &file->as.map.pairs[i];
        size_t offset;
        if (is_default_key(pair->key) && !ap_node_get(entry, pair->key) &&
            ap_schema_find(ap_access_object(kind), pair->key, &offset) && copy->as.map.count < count + DEFAULT_COUNT)
            copy->as.map.pairs[copy->as.map.count++] = *pair;
    }
    return copy;
}

void ap_diags_dedupe(ap_diags *diags, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < diags->count; i++) {
        const ap_diag *diag = &diags->items[i];
        bool seen = false;
        for (size_t j = first; j < kept && !seen; j++) {
            const ap_diag *other = &diags->items[j];
            seen = other->code == diag->code && other->pos.line == diag->pos.line && other->pos.col == diag->pos.col &&
                   ap_streq(other->pos.file, diag->pos.file) && ap_streq(other->message, diag->message);
        }
        if (seen && diag->severity == AP_ERROR)
            diags->errors--;
        if (!seen)
            diags->items[kept++] = *diag;
    }
    diags->count = kept;
}

/* Is there an element of a list at this position? */
static bool is_list_element(const ap_node *node, ap_pos pos, bool in_list)
{
    if (in_list && node->pos.line == pos.line && node->pos.col == pos.col)
        return true;
    if (node->kind == AP_NODE_LIST)
        for (size_t i = 0; i < node->as.list.count; i++)
            if (is_list_element(node->as.list.items[i], pos, true))
                return true;
    if (node->kind == AP_NODE_MAP)
        for (size_t i = 0; i < node->as.map.count; i++)
            if (is_list_element(node->as.map.pairs[i].value, pos, in_list))
                return true;
    return false;
}

/* Lacking a required field is no fault of a record that lies over another: takes those findings back. Elements of its
 * lists are whole: a price without a region lies over nothing. */
static void drop_missing(ap_diags *diags, const ap_node *record, size_t first)
{
    enum { MISSING_KEY = 202 };
    size_t kept = first;
    for (size_t i = first; i < diags->count; i++) {
        if (diags->items[i].code == MISSING_KEY && !is_list_element(record, diags->items[i].pos, false))
            diags->errors--;
        else
            diags->items[kept++] = diags->items[i];
    }
    diags->count = kept;
}

static bool load_entry(const ap_load *load, int kind, const ap_node *node, void *record)
{
    size_t errors_before = load->diags->errors, first = load->diags->count;
    ap_status status = ap_schema_load(ap_access_object(kind), node, record, load->arena, load->diags);
    if (load->partial)
        drop_missing(load->diags, node, first);
    return status == AP_OK || load->diags->errors == errors_before;
}

static ap_provenance *from_of(int kind, void *record)
{
    return (void *)((char *)record + ap_accesses[kind].from);
}

/* A user need not say where his own figures come from: he is the source. */
static void default_provenance(const ap_load *load, int kind, void *record)
{
    if (!load->source)
        return;
    ap_provenance *from = from_of(kind, record);
    if (!from->source)
        from->source = load->source;
    if (from->confidence < 0)
        from->confidence = AP_CONF_READ;
}

static void load_list(const ap_load *load, int kind, const ap_pair *pair, const ap_node *file, ap_batch *batch)
{
    const ap_node *list = pair->value;
    if (ap_node_is_null(list))
        return;
    if (list->kind != AP_NODE_LIST) {
        ap_diag_add(load->diags, AP_ERROR, 702, list->pos, "'%s' must be a list of %s entries, not %s", pair->key,
                    ap_accesses[kind].singular, ap_node_kind_name(list));
        return;
    }
    size_t size = ap_access_object(kind)->size, count = list->as.list.count;
    ap_any_list *records = &batch->lists[kind];
    records->items = ap_arena_alloc_array(load->arena, count, size);
    batch->nodes[kind] = (const ap_node **)ap_arena_alloc_array(load->arena, count, sizeof(ap_node *));
    for (size_t i = 0; i < count; i++) {
        const ap_node *node = with_defaults(load, kind, list->as.list.items[i], file);
        void *record = (char *)records->items + records->count * size;
        if (!load_entry(load, kind, node, record))
            continue;
        default_provenance(load, kind, record);
        batch->nodes[kind][records->count++] = node;
    }
}

/* Has any list of the file entries that know the key? */
static bool is_used(const ap_node *map, const char *key)
{
    bool any_list = false;
    for (size_t i = 0; i < map->as.map.count; i++) {
        int kind = ap_access_find(map->as.map.pairs[i].key);
        size_t offset;
        if (kind >= 0 && ap_schema_find(ap_access_object(kind), key, &offset))
            return true;
        any_list = any_list || kind >= 0;
    }
    return !any_list;
}

bool ap_load_is_blank(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '#')
            c += strcspn(c, "\n");
        if (*c == '\0')
            return true;
        if (*c != ' ' && *c != '\n' && *c != '\r')
            return false;
    }
    return true;
}

bool ap_load_map(const ap_load *load, const ap_node *map, ap_batch *ret_batch)
{
    *ret_batch = (ap_batch){0};
    size_t first = load->diags->count, errors_before = load->diags->errors;
    if (!map || map->kind != AP_NODE_MAP) {
        ap_diag_add(load->diags, AP_ERROR, 703, map ? map->pos : AP_NO_POS,
                    "a catalog file must be a mapping with lists such as chips:, not %s", ap_node_kind_name(map));
        return false;
    }
    size_t lists = 0;
    for (size_t i = 0; i < map->as.map.count; i++) {
        const ap_pair *pair = &map->as.map.pairs[i];
        int kind = ap_access_find(pair->key);
        if (kind >= 0 && strcmp(ap_accesses[kind].kind, pair->key) == 0) {
            lists++;
            load_list(load, kind, pair, map, ret_batch);
        } else if (!is_default_key(pair->key) && !load->skip_other_keys) {
            report_unknown_key(load, pair);
        } else if (is_default_key(pair->key) && !is_used(map, pair->key) && !load->skip_other_keys) {
            ap_diag_add(load->diags, AP_ERROR, 708, pair->key_pos, "'%s' means nothing to the entries of this file",
                        pair->key);
        }
    }
    if (lists == 0 && !load->skip_other_keys && load->diags->errors == errors_before)
        ap_diag_add(load->diags, AP_ERROR, 704, map->pos,
                    "a catalog file needs a list such as chips:, instances: or models:");
    ap_diags_dedupe(load->diags, first);
    return load->diags->errors == errors_before;
}

static void complete_instance(ap_instance *instance)
{
    if (!ap_known(instance->hosts))
        instance->hosts = 1;
    if (!instance->market)
        instance->market = "cloud";
    for (size_t i = 0; i < instance->prices.count; i++) {
        ap_price *price = &instance->prices.items[i];
        if (!price->source)
            price->source = instance->from.source;
        if (!price->as_of)
            price->as_of = instance->from.as_of;
        if (price->confidence < 0)
            price->confidence = instance->from.confidence;
    }
}

void ap_load_complete(int kind, void *record)
{
    if (kind == AP_KIND_INSTANCES)
        complete_instance(record);
    if (kind == AP_KIND_NAMES) {
        ap_name *name = record;
        if (!ap_known(name->count))
            name->count = 1;
    }
}

void ap_load_require(const ap_load *load, int kind, const void *record)
{
    const ap_provenance *from = ap_access_from(kind, record);
    ap_pos pos = ap_access_pos(kind, record);
    const char *label = ap_access_label(kind, record, load->arena);
    if (!from->source)
        ap_diag_add(load->diags, AP_ERROR, 705, pos, "%s '%s' has no source", ap_accesses[kind].singular, label)->hint =
            "give it a source:, or one for the whole file";
    if (from->confidence < 0)
        ap_diag_add(load->diags, AP_ERROR, 706, pos, "%s '%s' has no confidence", ap_accesses[kind].singular, label)
            ->hint = "give it confidence: read, derived, partial, memory or assumed, or one for the whole file";
    if (kind == AP_KIND_INSTANCES && !((const ap_instance *)record)->cloud)
        ap_diag_add(load->diags, AP_ERROR, 707, pos, "instance '%s' has no cloud", label)->hint =
            "give it cloud:, or one for the whole file";
}

/* -- a data directory ---------------------------------------------------------------------------------------------- */
/* 64-bit FNV-1a: a version for people and caches, not a signature. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211U;
    return hash;
}

typedef struct dir_load {
    ap_catalog *catalog;
    ap_load load;
    size_t capacity[AP_KIND_COUNT];
    uint64_t hash;
} dir_load;

static void append_batch(dir_load *dir, const ap_batch *batch)
{
    for (int kind = 0; kind < AP_KIND_COUNT; kind++) {
        ap_any_list *list = ap_access_list(dir->catalog, kind);
        size_t size = ap_access_object(kind)->size, added = batch->lists[kind].count;
        if (added == 0)
            continue;
        if (list->count + added > dir->capacity[kind]) {
            size_t capacity = 2 * (list->count + added);
            void *items = ap_arena_alloc_array(dir->catalog->arena, capacity, size);
            if (list->count)
                memcpy(items, list->items, list->count * size);
            list->items = items;
            dir->capacity[kind] = capacity;
        }
        memcpy((char *)list->items + list->count * size, batch->lists[kind].items, added * size);
        list->count += added;
    }
}

static ap_status load_file(dir_load *dir, const char *path)
{
    const ap_load *load = &dir->load;
    char *text;
    size_t len;
    ap_status status = ap_file_read(path, AP_YAML_CATALOG_BYTES, load->arena, load->diags, &text, &len);
    if (status != AP_OK)
        return status == AP_IO ? AP_IO : AP_BAD_DATA;
    dir->hash = hash_bytes(dir->hash, text, len);
    size_t first = load->diags->count, errors_before = load->diags->errors;
    ap_docs docs;
    status = ap_yaml_parse(text, len, path, AP_YAML_STRICT, AP_YAML_CATALOG_BYTES, load->arena, load->diags, &docs);
    if (status != AP_OK)
        return AP_BAD_DATA;
    ap_batch batch;
    if (ap_load_map(load, docs.items[0], &batch)) {
        for (int kind = 0; kind < AP_KIND_COUNT; kind++)
            for (size_t i = 0; i < batch.lists[kind].count; i++) {
                void *record = (char *)batch.lists[kind].items + i * ap_access_object(kind)->size;
                ap_load_complete(kind, record);
                ap_load_require(load, kind, record);
            }
        append_batch(dir, &batch);
    }
    if (load->diags->count > first)
        ap_diags_attach_source(load->diags, path, text, len);
    return load->diags->errors > errors_before ? AP_BAD_DATA : AP_OK;
}

static bool is_foreign(const char *dir, const char *path)
{
    const char *rest = path + strlen(dir);
    while (*rest == '/')
        rest++;
    for (size_t i = 0; i < sizeof foreign_folders / sizeof *foreign_folders; i++) {
        size_t len = strlen(foreign_folders[i]);
        if (strncmp(rest, foreign_folders[i], len) == 0 && rest[len] == '/')
            return true;
    }
    return false;
}

ap_status ap_catalog_load_dir(const char *dir, ap_arena *arena, ap_diags *diags, ap_catalog **ret_catalog)
{
    ap_catalog *catalog = AP_NEW(arena, ap_catalog);
    catalog->arena = arena;
    *ret_catalog = catalog;
    dir_load state = {.catalog = catalog, .load = {.arena = arena, .diags = diags}, .hash = 14695981039346656037U};
    const char **paths;
    size_t count;
    ap_status worst = ap_file_walk(dir, ".yaml", false, arena, diags, &paths, &count);
    for (size_t i = 0; worst != AP_IO && i < count; i++) {
        if (is_foreign(dir, paths[i]))
            continue;
        ap_status status = load_file(&state, paths[i]);
        if (status > worst)
            worst = status;
    }
    catalog->version = ap_arena_printf(arena, "%012llx", (unsigned long long)(state.hash >> 16));
    catalog->prices_as_of = ap_prices_newest(catalog);
    ap_catalog_build_index(catalog);
    return worst;
}
