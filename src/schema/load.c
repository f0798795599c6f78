/* Loading of a mapping: which keys are there, which are missing, which are unknown. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "schema/internal.h"

#define KEYS_LISTED_MAX 14 /* more valid keys than this are no help in a hint */

size_t ap_schema_field_size(const ap_field *field)
{
    switch (field->type) {
    case AP_T_TEXT:
    case AP_T_ID:
    case AP_T_NODE:
        return sizeof(const char *);
    case AP_T_NUM:
    case AP_T_INT:
        return sizeof(double);
    case AP_T_BOOL:
        return sizeof(signed char);
    case AP_T_ENUM:
        return sizeof(int);
    case AP_T_RANGE:
        return sizeof(ap_range);
    case AP_T_TEXTS:
    case AP_T_NUMS:
    case AP_T_TEXT_MAP:
    case AP_T_OBJECTS:
        return sizeof(ap_any_list);
    case AP_T_OBJECT:
        return field->object->size;
    case AP_T_POS:
        break;
    }
    return sizeof(ap_pos);
}

void ap_schema_clear_field(const ap_field *field, void *base)
{
    void *at = ap_schema_at(base, field->offset);
    switch (field->type) {
    case AP_T_NUM:
    case AP_T_INT:
        *(double *)at = AP_UNKNOWN;
        break;
    case AP_T_BOOL:
        *(signed char *)at = -1;
        break;
    case AP_T_ENUM:
        *(int *)at = -1;
        break;
    case AP_T_RANGE:
        *(ap_range *)at = (ap_range){AP_UNKNOWN, AP_UNKNOWN};
        break;
    case AP_T_OBJECT:
        ap_schema_clear(field->object, at);
        break;
    default: /* pointers, lists, positions */
        memset(at, 0, ap_schema_field_size(field));
        break;
    }
}

void ap_schema_clear(const ap_object *object, void *out)
{
    memset(out, 0, object->size);
    for (size_t i = 0; i < object->field_count; i++)
        ap_schema_clear_field(&object->fields[i], out);
}

static bool is_key(const ap_field *field)
{
    return field->type != AP_T_POS && field->key;
}

static const char *list_keys(const ap_object *object, ap_arena *arena)
{
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    size_t count = 0;
    for (size_t i = 0; i < object->field_count; i++) {
        if (!is_key(&object->fields[i]) || object->fields[i].flags & AP_F_HIDDEN)
            continue;
        if (++count > KEYS_LISTED_MAX)
            return NULL;
        ap_sbuf_printf(&text, "%s%s", count == 1 ? "valid keys: " : ", ", object->fields[i].key);
    }
    return count ? text.text : NULL;
}

void ap_schema_report_unknown(ap_schema_loader *loader, const ap_object *object, const char *key, ap_pos pos,
                              const ap_node *value)
{
    ap_diag *diag =
        ap_diag_add(loader->diags, AP_ERROR, AP_CODE_UNKNOWN_KEY, pos, "unknown key '%s' in %s", key, object->name);
    if (strchr(key, ':') && value && ap_node_is_null(value)) {
        diag->hint = "missing space after ':'";
        return;
    }
    ap_suggest suggest;
    ap_suggest_init(&suggest, key);
    for (size_t i = 0; i < object->field_count; i++)
        if (is_key(&object->fields[i]) && !(object->fields[i].flags & AP_F_HIDDEN))
            ap_suggest_offer(&suggest, object->fields[i].key);
    diag->hint = ap_suggest_text(&suggest, loader->diags->arena);
    if (!diag->hint)
        diag->hint = list_keys(object, loader->diags->arena);
}

static void report_missing(ap_schema_loader *loader, const ap_object *object, const ap_field *field, ap_pos pos)
{
    ap_diag *diag = ap_diag_add(loader->diags, AP_ERROR, AP_CODE_MISSING_KEY, pos, "missing key '%s' in %s", field->key,
                                object->name);
    if (field->doc)
        diag->hint = ap_arena_printf(loader->diags->arena, "%s: %s", field->key, field->doc);
}

/* Files mostly follow the table's order, so the search goes on from the last hit. */
static size_t find_key(const ap_object *object, const char *key, size_t start)
{
    for (size_t step = 0; step < object->field_count; step++) {
        size_t i = start + step;
        if (i >= object->field_count)
            i -= object->field_count;
        if (is_key(&object->fields[i]) && strcmp(object->fields[i].key, key) == 0)
            return i;
    }
    return SIZE_MAX;
}

void ap_schema_load_pair(ap_schema_loader *loader, const ap_field *field, const ap_pair *pair, void *base)
{
    const ap_node *value = pair->value;
    if (field->type != AP_T_NODE && ap_node_is_null(value)) {
        if (field->flags & AP_F_REQUIRED)
            ap_diag_add(loader->diags, AP_ERROR, AP_CODE_NULL, value->pos, "%s: this key needs a value", field->key)
                ->hint = field->doc;
        return;
    }
    if (field->flags & AP_F_AUTO && value->kind == AP_NODE_SCALAR && strcmp(value->text, "auto") == 0)
        return;
    ap_schema_load_value(loader, field, value, base);
}

static void load_pairs(ap_schema_loader *loader, const ap_object *object, const ap_node *node, void *out)
{
    bool seen[AP_SCHEMA_FIELDS_MAX] = {false};
    size_t next = 0;
    assert(object->field_count <= AP_SCHEMA_FIELDS_MAX);
    for (size_t i = 0; i < node->as.map.count; i++) {
        const ap_pair *pair = &node->as.map.pairs[i];
        size_t found = find_key(object, pair->key, next);
        if (found == SIZE_MAX) {
            ap_schema_report_unknown(loader, object, pair->key, pair->key_pos, pair->value);
            continue;
        }
        seen[found] = true;
        next = found + 1;
        ap_schema_load_pair(loader, &object->fields[found], pair, out);
    }
    for (size_t i = 0; i < object->field_count; i++) {
        const ap_field *field = &object->fields[i];
        if (field->type == AP_T_POS)
            *(ap_pos *)ap_schema_at(out, field->offset) = node->pos;
        else if (field->flags & AP_F_REQUIRED && !seen[i])
            report_missing(loader, object, field, node->pos);
    }
}

void ap_schema_load_map(ap_schema_loader *loader, const ap_object *object, const ap_node *node, void *out)
{
    size_t errors_before = loader->diags->errors;
    ap_schema_clear(object, out);
    if (!node || node->kind != AP_NODE_MAP) {
        ap_diag *diag = ap_diag_add(loader->diags, AP_ERROR, AP_CODE_WRONG_KIND, node ? node->pos : AP_NO_POS,
                                    "%s: expected a mapping, found %s", object->name, ap_node_kind_name(node));
        if (ap_node_text(node) && strchr(ap_node_text(node), ':'))
            diag->hint = "missing space after ':'";
        return;
    }
    load_pairs(loader, object, node, out);
    if (object->check && loader->diags->errors == errors_before)
        object->check(out, node->pos, loader->diags);
}

ap_status ap_schema_load(const ap_object *object, const ap_node *node, void *out, ap_arena *arena, ap_diags *diags)
{
    size_t errors_before = diags->errors;
    ap_schema_loader loader = {.arena = arena, .diags = diags};
    ap_schema_load_map(&loader, object, node, out);
    return diags->errors == errors_before ? AP_OK : AP_BAD_INPUT;
}
