/* show KIND NAME: every value of one record with its source. */
#include "base/num.h"
#include "catalog/tables.h"
#include "view/record.h"
#include "view/view.h"

typedef struct found_record {
    const ap_object *object;
    const void *record;
    const ap_provenance *from;
} found_record;

static const ap_column columns[] = {
    {.title = "Field", .path = "field", .priority = 1},
    {.title = "Value", .path = "value", .priority = 1, .flexible = true},
    {.title = "Source", .path = "source", .priority = 2, .flexible = true},
};

/* CLOUD/INSTANCE */
static const ap_instance *find_instance(const ap_catalog *catalog, const char *name, ap_arena *arena)
{
    const char *slash = name;
    while (*slash && *slash != '/')
        slash++;
    if (!*slash)
        return NULL;
    return ap_catalog_find_instance(catalog, ap_arena_strndup(arena, name, (size_t)(slash - name)), slash + 1);
}

static const ap_region *find_region(const ap_catalog *catalog, const char *name)
{
    for (size_t i = 0; i < catalog->regions.count; i++) {
        const ap_region *region = &catalog->regions.items[i];
        if (ap_streq(region->id, name))
            return region;
    }
    return NULL;
}

/* NAME, or PROVIDER/NAME where several sources spell alike. */
static const ap_name *find_name(const ap_catalog *catalog, const char *text, ap_arena *arena)
{
    for (size_t i = 0; i < catalog->names.count; i++) {
        const ap_name *name = &catalog->names.items[i];
        if (ap_streq(name->name, text) ||
            (name->provider && ap_streq(ap_arena_printf(arena, "%s/%s", name->provider, name->name), text)))
            return name;
    }
    return NULL;
}

#define RECORD(table, pointer) (found_record){&(table), (pointer), (pointer) ? &(pointer)->from : NULL}

static found_record find(const ap_catalog *catalog, const char *kind, const char *name, ap_arena *arena)
{
    if (ap_streq(kind, "chips")) {
        const ap_chip *chip = ap_catalog_find_chip(catalog, name).chip;
        return RECORD(ap_chip_object, chip);
    }
    if (ap_streq(kind, "instances")) {
        const ap_instance *instance = find_instance(catalog, name, arena);
        return RECORD(ap_instance_object, instance);
    }
    if (ap_streq(kind, "models")) {
        const ap_model *model = ap_catalog_find_model(catalog, name);
        return RECORD(ap_model_object, model);
    }
    if (ap_streq(kind, "datasets")) {
        const ap_dataset *dataset = ap_catalog_find_dataset(catalog, name);
        return RECORD(ap_dataset_object, dataset);
    }
    if (ap_streq(kind, "clouds")) {
        const ap_cloud *cloud = ap_catalog_find_cloud(catalog, name);
        return RECORD(ap_cloud_object, cloud);
    }
    if (ap_streq(kind, "regions")) {
        const ap_region *region = find_region(catalog, name);
        return RECORD(ap_region_object, region);
    }
    if (ap_streq(kind, "rigs")) {
        const ap_rig *rig = ap_catalog_find_rig(catalog, name);
        return RECORD(ap_rig_object, rig);
    }
    if (ap_streq(kind, "stacks")) {
        const ap_stack *stack = ap_catalog_find_stack(catalog, name);
        return RECORD(ap_stack_object, stack);
    }
    if (ap_streq(kind, "images")) {
        const ap_image *image = ap_catalog_find_image(catalog, name);
        return RECORD(ap_image_object, image);
    }
    if (ap_streq(kind, "names")) {
        const ap_name *spelling = find_name(catalog, name, arena);
        return RECORD(ap_name_object, spelling);
    }
    for (size_t i = 0; ap_streq(kind, "suites") && i < catalog->suites.count; i++)
        if (ap_streq(catalog->suites.items[i].id, name))
            return RECORD(ap_suite_object, &catalog->suites.items[i]);
    for (size_t i = 0; ap_streq(kind, "recipes") && i < catalog->recipes.count; i++)
        if (ap_streq(catalog->recipes.items[i].id, name))
            return RECORD(ap_recipe_object, &catalog->recipes.items[i]);
    return (found_record){0};
}

static ap_value *sources_value(ap_arena *arena, const ap_provenance *from)
{
    ap_value *list = ap_value_list(arena);
    if (from->source)
        ap_value_push(arena, list, ap_value_text(arena, from->source));
    for (size_t i = 0; i < from->sources.count; i++)
        ap_value_push(arena, list,
                      ap_value_text(arena, ap_arena_printf(arena, "%s: %s", from->sources.items[i].key, from->sources.items[i].value)));
    return list;
}

/* The values in full, and a source beside those that have one of their own; the source of the rest once, below. */
static void add_sheet(ap_doc *doc, const ap_value *lines, const char *source)
{
    ap_value *sheet = ap_value_list(doc->arena);
    bool others = false;
    for (size_t i = 0; i < lines->as.list.count; i++) {
        const ap_value *from = ap_value_at(lines->as.list.items[i], "source");
        bool own = from && from->kind == AP_V_TEXT && !ap_streq(from->as.text, source);
        ap_value *line = ap_value_map(doc->arena);
        ap_value_put(doc->arena, line, "key", ap_value_text(doc->arena, ap_value_at(lines->as.list.items[i], "field")->as.text));
        ap_value_put(doc->arena, line, "value", ap_value_text(doc->arena, ap_value_at(lines->as.list.items[i], "value")->as.text));
        if (own)
            ap_value_put(doc->arena, line, "note",
                         ap_value_text(doc->arena, ap_arena_printf(doc->arena, "(%s)", from->as.text)));
        others = others || own;
        ap_value_push(doc->arena, sheet, line);
    }
    ap_doc_sheet(doc, sheet);
    doc->blocks[doc->block_count - 1].not_wide = true;
    if (source) {
        ap_doc_paragraph(doc, "Source%s: %s.", others ? " of the others" : "", source);
        doc->blocks[doc->block_count - 1].not_wide = true;
    }
}

ap_doc *ap_view_show(ap_arena *arena, const ap_catalog *catalog, const char *kind, const char *name)
{
    found_record found = find(catalog, kind, name, arena);
    if (!found.record)
        return NULL;
    ap_doc *doc = ap_view_begin(arena, found.object->name, catalog);
    ap_value *lines = ap_view_record_lines(arena, found.object, found.record, found.from->source, &found.from->sources);
    ap_value_put(arena, doc->root, found.object->name, ap_view_record(arena, found.object, found.record));
    ap_value_put(arena, doc->root, "values", lines);
    ap_value_put(arena, doc->root, "sources", sources_value(arena, found.from));
    ap_doc_heading(doc, ap_arena_printf(arena, "%s %s", found.object->name, name));
    add_sheet(doc, lines, found.from->source);
    ap_block *table = ap_doc_table(doc, lines, columns, sizeof columns / sizeof *columns);
    table->main = table->wide_only = true;
    return doc;
}
