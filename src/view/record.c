#include "view/record.h"

#include <string.h>

#include "base/num.h"
#include "base/units.h"

static const void *at(const ap_field *field, const void *record)
{
    return (const char *)record + field->offset;
}

static ap_value *texts_value(ap_arena *arena, const ap_strings *texts)
{
    if (texts->count == 0)
        return NULL;
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < texts->count; i++)
        ap_value_push(arena, list, ap_value_text(arena, texts->items[i]));
    return list;
}

static ap_value *objects_value(ap_arena *arena, const ap_field *field, const void *record)
{
    const ap_any_list *items = at(field, record);
    if (items->count == 0)
        return NULL;
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < items->count; i++)
        ap_value_push(arena, list, ap_view_record(arena, field->object, (const char *)items->items + i * field->object->size));
    return list;
}

static ap_value *text_map_value(ap_arena *arena, const ap_text_map *pairs)
{
    if (pairs->count == 0)
        return NULL;
    ap_value *map = ap_value_map(arena);
    for (size_t i = 0; i < pairs->count; i++)
        ap_value_put(arena, map, pairs->items[i].key, ap_value_text(arena, pairs->items[i].value));
    return map;
}

static ap_value *numbers_value(ap_arena *arena, const ap_numbers *numbers)
{
    if (numbers->count == 0)
        return NULL;
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < numbers->count; i++)
        ap_value_push(arena, list, ap_value_num(arena, numbers->items[i]));
    return list;
}

/* NULL when the field is absent in this record. */
static ap_value *field_value(ap_arena *arena, const ap_field *field, const void *record)
{
    const void *where = at(field, record);
    switch (field->type) {
    case AP_T_TEXT:
    case AP_T_ID: {
        const char *text = *(const char *const *)where;
        return text ? ap_value_text(arena, text) : NULL;
    }
    case AP_T_NUM:
    case AP_T_INT: {
        double number = *(const double *)where;
        return ap_known(number) ? ap_value_num(arena, number) : NULL;
    }
    case AP_T_BOOL: {
        signed char flag = *(const signed char *)where;
        return flag >= 0 ? ap_value_bool(arena, flag == 1) : NULL;
    }
    case AP_T_ENUM: {
        int index = *(const int *)where;
        return index >= 0 ? ap_value_text(arena, field->names[index]) : NULL;
    }
    case AP_T_TEXTS: return texts_value(arena, where);
    case AP_T_NUMS: return numbers_value(arena, where);
    case AP_T_TEXT_MAP: return text_map_value(arena, where);
    case AP_T_OBJECTS: return objects_value(arena, field, record);
    case AP_T_OBJECT: {
        ap_value *map = ap_view_record(arena, field->object, where);
        return map->as.map.count ? map : NULL;
    }
    default: return NULL;
    }
}

ap_value *ap_view_record(ap_arena *arena, const ap_object *object, const void *record)
{
    ap_value *map = ap_value_map(arena);
    for (size_t i = 0; i < object->field_count; i++) {
        const ap_field *field = &object->fields[i];
        ap_value *value = field->flags & AP_F_HIDDEN ? NULL : field_value(arena, field, record);
        if (value)
            ap_value_put(arena, map, field->key, value);
    }
    return map;
}

typedef struct lines {
    ap_arena *arena;
    ap_value *list;
    const char *source;
    const ap_text_map *sources;
} lines;

static const char *source_of(const lines *out, const char *path)
{
    for (size_t i = 0; out->sources && i < out->sources->count; i++)
        if (strcmp(out->sources->items[i].key, path) == 0)
            return out->sources->items[i].value;
    return out->source;
}

static void add_line(lines *out, const char *path, const char *value)
{
    ap_value *line = ap_value_map(out->arena);
    ap_value_put(out->arena, line, "field", ap_value_text(out->arena, path));
    ap_value_put(out->arena, line, "value", ap_value_text(out->arena, value));
    ap_value_put(out->arena, line, "source", ap_value_text(out->arena, source_of(out, path)));
    ap_value_push(out->arena, out->list, line);
}

static const char *value_text(ap_arena *arena, const ap_field *field, const ap_value *value)
{
    ap_sbuf text;
    char number[40];
    ap_sbuf_init(&text, arena);
    switch (value->kind) {
    case AP_V_TEXT: return value->as.text;
    case AP_V_BOOL: return value->as.boolean ? "true" : "false";
    case AP_V_NUM:
        if (field->dim == AP_DIM_NONE) {
            ap_num_format(value->as.number, number);
            return ap_arena_strdup(arena, number);
        }
        ap_units_format(value->as.number, field->dim, &text);
        return text.text;
    case AP_V_LIST:
        for (size_t i = 0; i < value->as.list.count; i++)
            ap_sbuf_printf(&text, "%s%s", i ? ", " : "", value_text(arena, field, value->as.list.items[i]));
        return text.text;
    default: return "";
    }
}

static void add_fields(lines *out, const ap_object *object, const void *record, const char *prefix)
{
    for (size_t i = 0; i < object->field_count; i++) {
        const ap_field *field = &object->fields[i];
        bool about_sources = strcmp(field->key, "sources") == 0 || strcmp(field->key, "source") == 0;
        if ((field->flags & AP_F_HIDDEN) || (!*prefix && about_sources))
            continue;
        const char *path = *prefix ? ap_arena_printf(out->arena, "%s.%s", prefix, field->key) : field->key;
        if (field->type == AP_T_OBJECT) {
            add_fields(out, field->object, at(field, record), path);
            continue;
        }
        if (field->type == AP_T_OBJECTS) {
            const ap_any_list *items = at(field, record);
            for (size_t k = 0; k < items->count; k++)
                add_fields(out, field->object, (const char *)items->items + k * field->object->size,
                           ap_arena_printf(out->arena, "%s.%zu", path, k));
            continue;
        }
        const ap_value *value = field_value(out->arena, field, record);
        if (value)
            add_line(out, path, value_text(out->arena, field, value));
    }
}

ap_value *ap_view_record_lines(ap_arena *arena, const ap_object *object, const void *record, const char *source,
                               const ap_text_map *sources)
{
    lines out = {arena, ap_value_list(arena), source, sources};
    add_fields(&out, object, record, "");
    return out.list;
}
