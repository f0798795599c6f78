#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "report/doc.h"

static ap_value *new_value(ap_arena *arena, ap_value_kind kind, size_t payload)
{
    ap_value *value = ap_arena_alloc(arena, offsetof(ap_value, as) + payload);
    value->kind = kind;
    return value;
}

ap_value *ap_value_null(ap_arena *arena)
{
    return new_value(arena, AP_V_NULL, sizeof(int64_t));
}

ap_value *ap_value_bool(ap_arena *arena, bool value)
{
    ap_value *made = new_value(arena, AP_V_BOOL, sizeof(int64_t));
    made->as.boolean = value;
    return made;
}

ap_value *ap_value_int(ap_arena *arena, int64_t value)
{
    ap_value *made = new_value(arena, AP_V_INT, sizeof value);
    made->as.integer = value;
    return made;
}

/* A sixteenth digit only tells how a sum was rounded: 41000, not 41000.00000000003. */
static double without_noise(double value)
{
    char text[40];
    if (value == trunc(value))
        return value;
    (void)snprintf(text, sizeof text, "%.14e", value);
    double clean;
    return ap_num_parse(text, &clean) ? clean : value;
}

/* An infinity is a fault of ours that JSON cannot say; it becomes unknown rather than a wrong number. */
ap_value *ap_value_num(ap_arena *arena, double value)
{
    if (!isfinite(value))
        return ap_value_null(arena);
    ap_value *made = new_value(arena, AP_V_NUM, sizeof value);
    made->as.number = without_noise(value);
    return made;
}

ap_value *ap_value_text(ap_arena *arena, const char *text)
{
    if (!text)
        return ap_value_null(arena);
    ap_value *made = new_value(arena, AP_V_TEXT, sizeof text);
    made->as.text = ap_arena_strdup(arena, text);
    return made;
}

ap_value *ap_value_list(ap_arena *arena)
{
    ap_value *made = AP_NEW(arena, ap_value);
    made->kind = AP_V_LIST;
    return made;
}

ap_value *ap_value_map(ap_arena *arena)
{
    ap_value *made = AP_NEW(arena, ap_value);
    made->kind = AP_V_MAP;
    return made;
}

void ap_value_push(ap_arena *arena, ap_value *list, ap_value *item)
{
    assert(list->kind == AP_V_LIST && item);
    *AP_PUSH(arena, list->as.list.items, list->as.list.count, list->as.list.capacity) = item;
}

void ap_value_put(ap_arena *arena, ap_value *map, const char *key, ap_value *value)
{
    assert(map->kind == AP_V_MAP && key && value);
    for (size_t i = 0; i < map->as.map.count; i++)
        if (strcmp(map->as.map.keys[i], key) == 0) {
            map->as.map.values[i] = value;
            return;
        }
    size_t count = map->as.map.count, capacity = map->as.map.capacity;
    map->as.map.keys = ap_arena_grow(arena, map->as.map.keys, count, &capacity, sizeof *map->as.map.keys);
    map->as.map.values =
        ap_arena_grow(arena, map->as.map.values, count, &map->as.map.capacity, sizeof *map->as.map.values);
    map->as.map.keys[count] = key;
    map->as.map.values[count] = value;
    map->as.map.count++;
}

const ap_value *ap_value_at(const ap_value *root, const char *path)
{
    while (root && root->kind == AP_V_MAP) {
        const ap_value *next = NULL;
        size_t len = strcspn(path, ".");
        for (size_t i = 0; i < root->as.map.count && !next; i++) {
            const char *key = root->as.map.keys[i];
            if (strcmp(key, path) == 0) /* a key may contain dots: sources."memory.usable" */
                return root->as.map.values[i];
            if (strncmp(key, path, len) == 0 && key[len] == '\0')
                next = root->as.map.values[i];
        }
        if (!next || !path[len])
            return next;
        root = next;
        path += len + 1;
    }
    return NULL;
}
