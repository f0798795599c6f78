/* JSON: the whole tree; NDJSON: one item of the main list a line. */
#include "io/json.h"

#include <string.h>

#include "report/render.h"

typedef struct filter {
    const ap_block *main;
    const ap_render_options *options;
    ap_arena *arena;
} filter;

static void write_value(ap_json_writer *w, const ap_value *value, const filter *f);

static ap_value *map_below(ap_arena *arena, ap_value *map, const char *key)
{
    for (size_t i = 0; i < map->as.map.count; i++)
        if (strcmp(map->as.map.keys[i], key) == 0 && map->as.map.values[i]->kind == AP_V_MAP)
            return map->as.map.values[i];
    ap_value *below = ap_value_map(arena);
    ap_value_put(arena, map, key, below);
    return below;
}

/* The fields asked for keep their place: cost_usd.p50 stays an object with one key. */
static const ap_value *pick_fields(const ap_value *item, const filter *f)
{
    if (!f->options->field_count || item->kind != AP_V_MAP)
        return item;
    ap_value *picked = ap_value_map(f->arena);
    for (size_t i = 0; i < f->options->field_count; i++) {
        const ap_value *value = ap_value_at(item, f->options->fields[i]);
        ap_value *place = picked;
        const char *path = f->options->fields[i];
        for (const char *dot; (dot = strchr(path, '.')); path = dot + 1)
            place = map_below(f->arena, place, ap_arena_strndup(f->arena, path, (size_t)(dot - path)));
        /* The tree is not changed by writing it; ap_value_put only wants a pointer it can hand out again. */
        ap_value *kept = value ? (ap_value *)(uintptr_t)value : ap_value_null(f->arena);
        ap_value_put(f->arena, place, path, kept);
    }
    return picked;
}

static void write_list(ap_json_writer *w, const ap_value *list, const filter *f)
{
    bool is_main = f->main && list == f->main->rows;
    size_t count = is_main ? ap_block_shown(f->main) : list->as.list.count;
    ap_json_array_open(w);
    for (size_t i = 0; i < count; i++) {
        const ap_value *item = list->as.list.items[i];
        write_value(w, is_main ? pick_fields(item, f) : item, f);
    }
    ap_json_array_close(w);
}

static void write_value(ap_json_writer *w, const ap_value *value, const filter *f)
{
    switch (value->kind) {
    case AP_V_NULL:
        ap_json_null(w);
        return;
    case AP_V_BOOL:
        ap_json_bool(w, value->as.boolean);
        return;
    case AP_V_INT:
        ap_json_int(w, value->as.integer);
        return;
    case AP_V_NUM:
        ap_json_number(w, value->as.number);
        return;
    case AP_V_TEXT:
        ap_json_string(w, value->as.text);
        return;
    case AP_V_LIST:
        write_list(w, value, f);
        return;
    case AP_V_MAP:
        ap_json_object_open(w);
        for (size_t i = 0; i < value->as.map.count; i++) {
            ap_json_key(w, value->as.map.keys[i]);
            write_value(w, value->as.map.values[i], f);
        }
        ap_json_object_close(w);
        return;
    }
}

ap_status ap_render_json(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    filter f = {ap_doc_main(doc), options, doc->arena};
    ap_json_writer w;
    ap_json_begin(&w, out, 2);
    write_value(&w, f.main ? doc->root : pick_fields(doc->root, &f), &f);
    ap_sbuf_add_char(out, '\n');
    return AP_OK;
}

ap_status ap_render_ndjson(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    filter f = {ap_doc_main(doc), options, doc->arena};
    size_t count = f.main ? ap_block_shown(f.main) : 1;
    for (size_t i = 0; i < count; i++) {
        ap_json_writer w;
        ap_json_begin(&w, out, 0);
        write_value(&w, pick_fields(f.main ? ap_block_row(f.main, i) : doc->root, &f), &f);
        ap_sbuf_add_char(out, '\n');
    }
    return AP_OK;
}
