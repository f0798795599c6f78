#include <stdint.h>
#include <string.h>

#include "base/keyset.h"
#include "io/yaml_reader.h"

const char ap_yaml_merge_key[] = "<<";

size_t ap_yaml_declare_anchor(ap_yaml_reader *r, const char *name, ap_node *node, size_t node_count)
{
    if (!name)
        return AP_YAML_NO_ANCHOR;
    if (r->mode == AP_YAML_STRICT)
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_ANCHOR, node->pos, "anchors ('&%s') are not allowed here", name)->hint =
            "write the value out, or quote a value that starts with '&'";
    if (r->anchor_count >= AP_YAML_ANCHORS) {
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_ALIAS_BUDGET, node->pos, "more than %zu anchors in one document",
                    AP_YAML_ANCHORS);
        return AP_YAML_NO_ANCHOR;
    }
    *AP_PUSH(r->scratch, r->anchors, r->anchor_count, r->anchor_capacity) =
        (ap_yaml_anchor){.name = ap_arena_strdup(r->scratch, name), .node = node, .node_count = node_count};
    return r->anchor_count - 1;
}

void ap_yaml_close_anchor(ap_yaml_reader *r, const ap_yaml_frame *frame)
{
    if (frame->anchor_index == AP_YAML_NO_ANCHOR)
        return;
    r->anchors[frame->anchor_index].node_count = r->node_count - frame->nodes_before;
    r->anchors[frame->anchor_index].alias_depth = frame->alias_depth;
}

/* Nodes are shared, not copied; but whoever walks the tree meets them all, so each alias is charged in full. */
static bool charge(ap_yaml_reader *r, const ap_yaml_anchor *anchor, ap_pos pos)
{
    if (anchor->alias_depth + 1 > AP_YAML_ALIAS_DEPTH) {
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_ALIAS_BUDGET, pos, "aliases are nested deeper than %d levels",
                    AP_YAML_ALIAS_DEPTH);
        return false;
    }
    r->alias_nodes += anchor->node_count;
    r->node_count += anchor->node_count;
    if (r->alias_nodes <= AP_YAML_ALIAS_NODES)
        return true;
    ap_diag_add(r->diags, AP_ERROR, AP_CODE_ALIAS_BUDGET, pos, "aliases stand for more than %zu values",
                AP_YAML_ALIAS_NODES);
    return false;
}

ap_node *ap_yaml_resolve_alias(ap_yaml_reader *r, const char *name, ap_pos pos, ap_yaml_frame *frame)
{
    if (r->mode == AP_YAML_STRICT)
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_ANCHOR, pos, "aliases ('*%s') are not allowed here", name)->hint =
            "write the value out, or quote a value that starts with '*'";
    const ap_yaml_anchor *anchor = NULL;
    for (size_t i = r->anchor_count; i > 0 && !anchor; i--)
        if (strcmp(r->anchors[i - 1].name, name) == 0)
            anchor = &r->anchors[i - 1];
    if (!anchor || anchor->node_count == 0) {
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_UNKNOWN_ANCHOR, pos,
                    anchor ? "alias '*%s' stands inside the value it names" : "unknown anchor '%s'", name);
        return NULL;
    }
    if (!charge(r, anchor, pos))
        return NULL;
    if (frame && frame->alias_depth < anchor->alias_depth + 1)
        frame->alias_depth = anchor->alias_depth + 1;
    return anchor->node;
}

static void report_duplicate(ap_yaml_reader *r, const ap_pair *first, const ap_pair *again)
{
    if (r->mode == AP_YAML_STRICT)
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_DUPLICATE_KEY, again->key_pos,
                    "key '%s' is given twice; first at line %d, column %d", again->key, first->key_pos.line,
                    first->key_pos.col);
    else
        ap_diag_add(r->diags, AP_WARNING, AP_CODE_DUPLICATE_KEY, again->key_pos,
                    "key '%s' is given twice; this value is used, the one at line %d, column %d is ignored", again->key,
                    first->key_pos.line, first->key_pos.col);
}

size_t ap_yaml_settle_duplicates(ap_yaml_reader *r, ap_pair *pairs, size_t count)
{
    ap_keyset seen;
    ap_keyset_init(&seen);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t first = pairs[i].key == ap_yaml_merge_key ? AP_KEYSET_NEW : ap_keyset_add(&seen, pairs[i].key, kept);
        if (first == AP_KEYSET_NEW) {
            pairs[kept++] = pairs[i];
            continue;
        }
        report_duplicate(r, &pairs[first], &pairs[i]);
        pairs[first] = pairs[i];
    }
    ap_keyset_done(&seen);
    return kept;
}

typedef struct merge {
    ap_yaml_reader *r;
    ap_pair *pairs; /* result */
    size_t count, capacity;
    ap_keyset seen;
} merge;

static void merge_map(merge *m, const ap_node *map)
{
    for (size_t i = 0; i < map->as.map.count; i++) {
        const ap_pair *pair = &map->as.map.pairs[i];
        if (ap_keyset_add(&m->seen, pair->key, 0) == AP_KEYSET_NEW)
            *AP_PUSH(m->r->arena, m->pairs, m->count, m->capacity) = *pair;
    }
}

static void merge_value(merge *m, const ap_pair *pair)
{
    const ap_node *value = pair->value;
    bool good = value->kind == AP_NODE_MAP || ap_node_is_null(value);
    if (value->kind == AP_NODE_MAP)
        merge_map(m, value);
    if (value->kind == AP_NODE_LIST) {
        good = true;
        for (size_t i = 0; i < value->as.list.count; i++) {
            if (value->as.list.items[i]->kind == AP_NODE_MAP)
                merge_map(m, value->as.list.items[i]);
            else
                good = false;
        }
    }
    if (!good)
        ap_diag_add(m->r->diags, AP_ERROR, AP_CODE_MERGE_KEY, pair->key_pos,
                    "the merge key '<<' needs a mapping or a list of mappings");
}

void ap_yaml_merge(ap_yaml_reader *r, ap_node *map)
{
    size_t merges = 0;
    const ap_pair *pairs = map->as.map.pairs;
    size_t count = map->as.map.count;
    for (size_t i = 0; i < count; i++)
        merges += pairs[i].key == ap_yaml_merge_key;
    if (merges == 0)
        return;
    merge m = {.r = r};
    ap_keyset_init(&m.seen);
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].key == ap_yaml_merge_key)
            continue;
        (void)ap_keyset_add(&m.seen, pairs[i].key, 0);
        *AP_PUSH(r->arena, m.pairs, m.count, m.capacity) = pairs[i];
    }
    for (size_t i = 0; i < count; i++)
        if (pairs[i].key == ap_yaml_merge_key)
            merge_value(&m, &pairs[i]);
    ap_keyset_done(&m.seen);
    map->as.map.pairs = m.pairs;
    map->as.map.count = m.count;
}
