/* A user's records over a catalog. A record whose id is known replaces the fields it gives; which those are says the
 * mapping it was read from, because in the struct "absent" and "unknown" are the same. */
#include <string.h>

#include "catalog/internal.h"
#include "io/file.h"
#include "io/yaml.h"

static const ap_field *own_field(const ap_object *object, const char *key)
{
    for (size_t i = 0; i < object->field_count; i++)
        if (ap_streq(object->fields[i].key, key))
            return &object->fields[i];
    return NULL;
}

/* Copies the fields that `node` gives; nested mappings field by field. */
static void merge_fields(const ap_object *object, const ap_node *node, const void *from, void *to)
{
    for (size_t i = 0; i < node->as.map.count; i++) {
        const ap_pair *pair = &node->as.map.pairs[i];
        const ap_field *field = own_field(object, pair->key);
        if (!field)
            continue;
        const char *source = (const char *)from + field->offset;
        char *target = (char *)to + field->offset;
        if (field->type == AP_T_OBJECT && pair->value->kind == AP_NODE_MAP)
            merge_fields(field->object, pair->value, source, target);
        else
            memcpy(target, source, ap_schema_field_size(field));
    }
}

static size_t find_region(const ap_price *prices, size_t count, const char *region)
{
    size_t i = 0;
    while (i < count && !ap_same_nocase(prices[i].region, region))
        i++;
    return i;
}

/* One price given by a user: its own figures replace the old ones, and so does what they are based on. */
static void merge_price(const ap_node *node, const ap_price *given, const ap_instance *record, ap_price *price)
{
    const char *region = price->region;
    merge_fields(&ap_price_object, node, given, price);
    price->region = region;
    price->source = given->source ? given->source : record->from.source;
    price->as_of = given->as_of ? given->as_of : record->from.as_of;
    price->confidence = given->confidence >= 0 ? given->confidence : record->from.confidence;
}

static void merge_prices(const ap_node *node, const ap_instance *from, ap_instance *to, ap_arena *arena)
{
    const ap_node *list = ap_node_get(node, "prices");
    if (!list || list->kind != AP_NODE_LIST)
        return;
    size_t old = to->prices.count, count = old;
    ap_price *prices = AP_NEW_ARRAY(arena, ap_price, old + from->prices.count);
    if (old)
        memcpy(prices, to->prices.items, old * sizeof *prices);
    for (size_t i = 0; i < from->prices.count; i++) {
        const ap_price *given = &from->prices.items[i];
        size_t at = find_region(prices, count, given->region);
        if (at == count)
            prices[count++] = *given;
        merge_price(list->as.list.items[i], given, from, &prices[at]);
    }
    to->prices.items = prices;
    to->prices.count = count;
}

typedef struct source_list {
    ap_text_pair *items;
    size_t count, capacity;
    ap_arena *arena;
    const char *source;
} source_list;

/* Notes a source for every field given, by its path. */
static void add_sources(source_list *list, const ap_object *object, const ap_node *node, const char *prefix)
{
    static const char *const about_the_record[] = {"id", "source", "as_of", "confidence", "notes", "sources", "prices"};
    for (size_t i = 0; i < node->as.map.count; i++) {
        const ap_pair *pair = &node->as.map.pairs[i];
        const ap_field *field = own_field(object, pair->key);
        bool skip = !field;
        for (size_t j = 0; j < sizeof about_the_record / sizeof *about_the_record; j++)
            skip = skip || (*prefix == '\0' && ap_streq(about_the_record[j], pair->key));
        if (skip)
            continue;
        const char *path = ap_arena_printf(list->arena, "%s%s", prefix, pair->key);
        if (field->type == AP_T_OBJECT && pair->value->kind == AP_NODE_MAP)
            add_sources(list, field->object, pair->value, ap_arena_printf(list->arena, "%s.", path));
        else
            *AP_PUSH(list->arena, list->items, list->count, list->capacity) = (ap_text_pair){path, list->source};
    }
}

/* The record keeps its own source; what the user replaced is listed with his. Newest first: the first path found holds.
 */
static void merge_provenance(int kind, const ap_node *node, const ap_provenance *given, ap_provenance *merged,
                             ap_arena *arena)
{
    source_list list = {.arena = arena, .source = given->source};
    add_sources(&list, ap_access_object(kind), node, "");
    for (size_t i = 0; i < merged->sources.count; i++)
        *AP_PUSH(arena, list.items, list.count, list.capacity) = merged->sources.items[i];
    merged->sources.items = list.items;
    merged->sources.count = list.count;
}

static void merge_record(int kind, const ap_node *node, const void *from, void *to, ap_arena *arena)
{
    const ap_object *object = ap_access_object(kind);
    ap_provenance *provenance = (void *)((char *)to + ap_accesses[kind].from);
    ap_provenance old_provenance = *provenance;
    const char *notes = ap_access_from(kind, from)->notes;
    ap_instance old_instance = {0};
    if (kind == AP_KIND_INSTANCES)
        old_instance = *(const ap_instance *)to;
    merge_fields(object, node, from, to);
    *provenance = old_provenance;
    if (notes)
        provenance->notes = notes;
    merge_provenance(kind, node, ap_access_from(kind, from), provenance, arena);
    if (kind == AP_KIND_INSTANCES) {
        ap_instance *instance = to;
        instance->prices.items = old_instance.prices.items;
        instance->prices.count = old_instance.prices.count;
        merge_prices(node, from, instance, arena);
    }
}

/* Item that a new record lies over, or the list's count. By hash in the catalog as it was; records that this batch
 * itself added come after it. */
static size_t find_old(const ap_catalog *catalog, int kind, const void *record)
{
    const ap_access *access = &ap_accesses[kind];
    const char *scope = kind == AP_KIND_NAMES ? NULL : ap_access_text(record, access->scope);
    const char *key = ap_access_text(record, access->key);
    if (key)
        for (ap_cursor c = ap_cursor_at(catalog, kind, scope, key); ap_cursor_next(&c);)
            if (c.entry->rank == 0 && ap_access_same(kind, ap_access_item(catalog, kind, c.entry->item), record))
                return c.entry->item;
    return ap_access_list_const(catalog, kind)->count;
}

/* Reports fields that a record new to the catalog must have: loaded again, this time whole. */
static void require_whole(int kind, const ap_node *node, ap_arena *arena, ap_diags *diags)
{
    void *scratch = ap_arena_alloc(arena, ap_access_object(kind)->size);
    (void)!ap_schema_load(ap_access_object(kind), node, scratch, arena, diags);
}

typedef struct overlay {
    const ap_catalog *old;
    ap_catalog *fresh;
    const ap_catalog *given; /* the batch as a catalog of its own: finds what is given twice */
    ap_arena *arena;
    ap_diags *diags;
} overlay;

static void lay_record(const overlay *o, int kind, const ap_node *node, void *record)
{
    ap_any_list *list = ap_access_list(o->fresh, kind);
    size_t size = ap_access_object(kind)->size, old_count = ap_access_list_const(o->old, kind)->count;
    size_t at = find_old(o->old, kind, record);
    if (at < old_count) {
        void *merged = (char *)list->items + at * size;
        merge_record(kind, node, record, merged, o->arena);
        *(ap_pos *)(void *)((char *)merged + ap_accesses[kind].pos) = ap_access_pos(kind, record);
        ap_load_complete(kind, merged);
        if (ap_access_object(kind)->check)
            ap_access_object(kind)->check(merged, ap_access_pos(kind, record), o->diags);
        return;
    }
    require_whole(kind, node, o->arena, o->diags);
    ap_load_complete(kind, record);
    ap_load load = {.arena = o->arena, .diags = o->diags};
    ap_load_require(&load, kind, record);
    memcpy((char *)list->items + list->count * size, record, size);
    list->count++;
}

static void report_twice(const overlay *o, int kind, const void *record, const void *earlier)
{
    ap_pos first = ap_access_pos(kind, earlier);
    ap_diag_add(o->diags, AP_ERROR, 710, ap_access_pos(kind, record),
                "%s '%s' is given twice in this file, first at line %d", ap_accesses[kind].singular,
                ap_access_label(kind, record, o->arena), first.line);
}

static void lay_kind(const overlay *o, int kind, const ap_batch *batch)
{
    size_t added = batch->lists[kind].count, size = ap_access_object(kind)->size;
    ap_any_list *list = ap_access_list(o->fresh, kind);
    if (added == 0)
        return;
    void *items = ap_arena_alloc_array(o->arena, list->count + added, size);
    if (list->count)
        memcpy(items, list->items, list->count * size);
    list->items = items;
    for (size_t i = 0; i < added; i++) {
        void *record = (char *)batch->lists[kind].items + i * size;
        size_t first = find_old(o->given, kind, record);
        if (first < i)
            report_twice(o, kind, record, ap_access_item(o->given, kind, first));
        else
            lay_record(o, kind, batch->nodes[kind][i], record);
    }
}

/* Only what the file gave is checked against the rest: the rest was checked when it was built. */
static void check_laid(const overlay *o, const ap_batch *batch)
{
    for (int kind = 0; kind < AP_KIND_COUNT; kind++)
        for (size_t i = 0; i < batch->lists[kind].count; i++) {
            const void *given = (const char *)batch->lists[kind].items + i * ap_access_object(kind)->size;
            size_t at = find_old(o->fresh, kind, given);
            if (at < ap_access_list_const(o->fresh, kind)->count)
                ap_check_record(o->fresh, kind, ap_access_item(o->fresh, kind, at), o->diags);
        }
}

bool ap_overlay_batch(ap_catalog *catalog, const ap_batch *batch, ap_diags *diags)
{
    size_t errors_before = diags->errors;
    ap_catalog fresh = *catalog, given = {.arena = catalog->arena};
    for (int kind = 0; kind < AP_KIND_COUNT; kind++)
        *ap_access_list(&given, kind) = batch->lists[kind];
    ap_catalog_build_index(&given);
    overlay o = {.old = catalog, .fresh = &fresh, .given = &given, .arena = catalog->arena, .diags = diags};
    for (int kind = 0; kind < AP_KIND_COUNT; kind++)
        lay_kind(&o, kind, batch);
    if (diags->errors == errors_before) {
        ap_catalog_build_index(&fresh);
        check_laid(&o, batch);
    }
    ap_diags_dedupe(diags, 0);
    if (diags->errors > errors_before)
        return false;
    fresh.prices_as_of = ap_prices_newest(&fresh);
    fresh.own_recipes += fresh.recipes.count - catalog->recipes.count;
    *catalog = fresh;
    return true;
}

ap_status ap_catalog_overlay_map(ap_catalog *catalog, const ap_node *map, ap_diags *diags)
{
    ap_load load = {.arena = catalog->arena, .diags = diags, .partial = true, .skip_other_keys = true};
    load.source = ap_arena_strdup(catalog->arena, map && map->pos.file ? map->pos.file : "user");
    ap_batch batch;
    bool good = ap_load_map(&load, map, &batch);
    return good && ap_overlay_batch(catalog, &batch, diags) ? AP_OK : AP_BAD_DATA;
}

/* Files that hold settings, with or without catalog lists; whoever reads the settings checks their keys. */
static bool is_settings_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strcmp(name, ".accelpick.yaml") == 0 || strcmp(name, "config.yaml") == 0;
}

/* Users keep rules and fitted constants beside their catalog files; those are read by other layers. */
static bool belongs_elsewhere(const ap_node *map)
{
    static const char *const foreign_keys[] = {"rules", "policies", "engine", "calibration", "providers"};
    for (size_t i = 0; i < sizeof foreign_keys / sizeof *foreign_keys; i++)
        if (ap_node_get(map, foreign_keys[i]))
            return true;
    return false;
}

static bool has_list(const ap_node *map)
{
    for (int kind = 0; kind < AP_KIND_COUNT; kind++)
        if (ap_node_get(map, ap_accesses[kind].kind))
            return true;
    return false;
}

/* How overlay_file() treats what is no catalog file. */
typedef struct reading {
    bool strict; /* a check: everything in the file must be known */
    const ap_file_kind *others;
    size_t other_count;
} reading;

static const ap_object *other_document(const reading *how, const ap_node *map)
{
    for (size_t i = 0; i < how->other_count; i++)
        if (ap_node_get(map, how->others[i].key))
            return how->others[i].object;
    return NULL;
}

static ap_status take_document(ap_catalog *catalog, const ap_node *map, const char *name, const reading *how,
                               ap_diags *diags)
{
    bool settings = !how->strict && is_settings_file(name);
    if (!how->strict && !has_list(map) && (settings || belongs_elsewhere(map)))
        return AP_OK;
    const ap_object *other = other_document(how, map);
    if (other) {
        void *scratch = ap_arena_alloc(catalog->arena, other->size);
        return ap_schema_load(other, map, scratch, catalog->arena, diags) == AP_OK ? AP_OK : AP_BAD_DATA;
    }
    ap_load load = {
        .arena = catalog->arena, .diags = diags, .partial = true, .source = name, .skip_other_keys = settings};
    ap_batch batch;
    bool good = ap_load_map(&load, map, &batch) && ap_overlay_batch(catalog, &batch, diags);
    return good ? AP_OK : AP_BAD_DATA;
}

/* Reads, validates and lays a file over the catalog. */
static ap_status overlay_file(ap_catalog *catalog, const char *path, const reading *how, ap_diags *diags)
{
    char *text;
    size_t len;
    ap_status status = ap_file_read(path, AP_YAML_CATALOG_BYTES, catalog->arena, diags, &text, &len);
    if (status != AP_OK)
        return status == AP_IO ? AP_IO : AP_BAD_DATA;
    if (!how->strict && ap_load_is_blank(text))
        return AP_OK;
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : ap_arena_strdup(catalog->arena, path);
    ap_docs docs;
    status = ap_yaml_parse(text, len, name, AP_YAML_STRICT, AP_YAML_CATALOG_BYTES, catalog->arena, diags, &docs);
    if (status != AP_OK)
        return AP_BAD_DATA;
    status = take_document(catalog, docs.items[0], name, how, diags);
    if (diags->count > 0)
        ap_diags_attach_source(diags, name, text, len);
    return status;
}

ap_status ap_catalog_overlay(ap_catalog *catalog, const char *path, ap_diags *diags)
{
    return overlay_file(catalog, path, &(reading){0}, diags);
}

static ap_status check_file(const ap_catalog *catalog, const char *path, const reading *how, ap_arena *arena,
                            ap_diags *diags)
{
    ap_catalog copy = *catalog;
    copy.arena = arena;
    ap_status status = overlay_file(&copy, path, how, diags);
    return status == AP_BAD_DATA ? AP_BAD_INPUT : status;
}

ap_status ap_catalog_check_file_or(const ap_catalog *catalog, const char *path, const ap_file_kind *others,
                                   size_t other_count, ap_diags *diags)
{
    return check_file(catalog, path, &(reading){true, others, other_count}, diags->arena, diags);
}

ap_status ap_catalog_check_file(const ap_catalog *catalog, const char *path, ap_arena *arena, ap_diags *diags)
{
    return check_file(catalog, path, &(reading){.strict = true}, arena, diags);
}
