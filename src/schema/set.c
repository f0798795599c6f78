/* One `path=value` of the command line: the value becomes a node, so that the loader's rules and messages apply. */
#include <string.h>

#include "schema/internal.h"

static ap_node *scalar_node(ap_arena *arena, const char *text, ap_pos pos)
{
    ap_node *node = AP_NEW(arena, ap_node);
    node->kind = AP_NODE_SCALAR;
    node->pos = pos;
    node->text = text;
    return node;
}

static const char *trim(ap_arena *arena, const char *start, size_t len)
{
    while (len > 0 && *start == ' ') {
        start++;
        len--;
    }
    while (len > 0 && start[len - 1] == ' ')
        len--;
    return ap_arena_strndup(arena, start, len);
}

/* "a,b" or "[a, b]". */
static ap_node *list_node(ap_arena *arena, const char *text, ap_pos pos)
{
    ap_node *list = AP_NEW(arena, ap_node);
    list->kind = AP_NODE_LIST;
    list->pos = pos;
    text = trim(arena, text, strlen(text));
    size_t len = strlen(text), capacity = 0;
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']')
        text = trim(arena, text + 1, len - 2);
    while (*text) {
        size_t part = strcspn(text, ",");
        *AP_PUSH(arena, list->as.list.items, list->as.list.count, capacity) =
            scalar_node(arena, trim(arena, text, part), pos);
        text += part + (text[part] == ',');
    }
    return list;
}

/* "a=x,b=y" */
static ap_node *map_node(ap_arena *arena, const char *text, ap_pos pos)
{
    ap_node *map = AP_NEW(arena, ap_node);
    map->kind = AP_NODE_MAP;
    map->pos = pos;
    size_t capacity = 0;
    while (*text) {
        size_t part = strcspn(text, ","), key = strcspn(text, "=,");
        const char *value = key < part ? trim(arena, text + key + 1, part - key - 1) : "";
        *AP_PUSH(arena, map->as.map.pairs, map->as.map.count, capacity) =
            (ap_pair){trim(arena, text, key), pos, scalar_node(arena, value, pos)};
        text += part + (text[part] == ',');
    }
    return map;
}

static ap_node *value_node(const ap_field *field, const char *value, ap_pos pos, ap_arena *arena)
{
    if (field->type == AP_T_TEXTS || field->type == AP_T_NUMS)
        return list_node(arena, value, pos);
    if (field->type == AP_T_TEXT_MAP)
        return map_node(arena, value, pos);
    return scalar_node(arena, ap_arena_strdup(arena, value), pos);
}

ap_status ap_schema_set(const ap_object *object, void *out, const char *path, const char *value, ap_pos pos,
                        ap_arena *arena, ap_diags *diags)
{
    size_t errors_before = diags->errors, base;
    const ap_object *parent;
    const char *rest;
    ap_schema_loader loader = {.arena = arena, .diags = diags};
    const ap_field *field = ap_schema_find_parent(object, path, &base, &parent, &rest);
    if (!field) {
        ap_schema_report_unknown(&loader, parent, rest, pos, NULL);
        return AP_BAD_INPUT;
    }
    if (field->type == AP_T_OBJECT || field->type == AP_T_OBJECTS) {
        ap_diag_add(diags, AP_ERROR, AP_CODE_WRONG_KIND, pos, "%s: cannot be set as a whole", path)->hint =
            field->type == AP_T_OBJECT ? "set one of its keys, as in key.inner=value" : "give it in a file";
        return AP_BAD_INPUT;
    }
    ap_pair pair = {.key = field->key, .key_pos = pos, .value = value_node(field, value, pos, arena)};
    void *struct_at = ap_schema_at(out, base);
    ap_schema_clear_field(field, struct_at);
    ap_schema_load_pair(&loader, field, &pair, struct_at);
    return diags->errors == errors_before ? AP_OK : AP_BAD_INPUT;
}
