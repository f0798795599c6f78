/* Loops: all, exists, exists_one, map and filter over the items of a list or the keys of a map. */
#include "rules/cel.h"

typedef struct loop {
    const ap_cel_node *node;
    ap_cel_value range;
    size_t count;
} loop;

static bool loop_start(ap_cel_run *run, const ap_cel_node *node, loop *ret_loop, ap_cel_value *ret_error)
{
    *ret_loop = (loop){.node = node, .range = ap_cel_eval_node(run, node->args[0])};
    const ap_cel_value *range = &ret_loop->range;
    if (ap_cel_is_bad(range)) {
        *ret_error = *range;
        return false;
    }
    if (range->kind != AP_CEL_LIST && range->kind != AP_CEL_MAP) {
        *ret_error = ap_cel_error("a loop needs a list or a map");
        return false;
    }
    ret_loop->count = range->kind == AP_CEL_LIST ? range->as.list.count : range->as.map.count;
    return true;
}

static ap_cel_value loop_item(ap_cel_run *run, const loop *l, size_t i)
{
    ap_cel_value item = l->range.kind == AP_CEL_LIST ? l->range.as.list.items[i] : l->range.as.map.keys[i];
    run->locals[l->node->as.macro.slot] = item;
    return item;
}

static ap_cel_value eval_quantifier(ap_cel_run *run, const loop *l, bool decisive)
{
    ap_cel_value failure = {.kind = AP_CEL_NULL};
    for (size_t i = 0; i < l->count; i++) {
        loop_item(run, l, i);
        ap_cel_value value = ap_cel_eval_node(run, l->node->args[1]);
        if (run->work <= 0)
            return ap_cel_too_much_work();
        if (value.kind == AP_CEL_BOOL) {
            if (value.as.boolean == decisive)
                return value;
            continue;
        }
        ap_cel_value bad = ap_cel_not_bool(&value);
        failure = ap_cel_worse(&failure, &bad);
    }
    return failure.kind == AP_CEL_NULL ? ap_cel_bool(!decisive) : failure;
}

static ap_cel_value eval_exists_one(ap_cel_run *run, const loop *l)
{
    size_t hits = 0;
    for (size_t i = 0; i < l->count; i++) {
        loop_item(run, l, i);
        ap_cel_value value = ap_cel_eval_node(run, l->node->args[1]);
        if (value.kind != AP_CEL_BOOL)
            return ap_cel_not_bool(&value);
        hits += value.as.boolean ? 1 : 0;
    }
    return ap_cel_bool(hits == 1);
}

/* filter(x, p), map(x, t), map(x, p, t) */
static ap_cel_value eval_transform(ap_cel_run *run, const loop *l)
{
    bool is_filter = l->node->as.macro.kind == MACRO_FILTER, has_condition = is_filter || l->node->count == 3;
    ap_cel_value *items = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < l->count; i++) {
        ap_cel_value item = loop_item(run, l, i);
        if (has_condition) {
            ap_cel_value wanted = ap_cel_eval_node(run, l->node->args[1]);
            if (wanted.kind != AP_CEL_BOOL)
                return ap_cel_not_bool(&wanted);
            if (!wanted.as.boolean)
                continue;
        }
        ap_cel_value value = is_filter ? item : ap_cel_eval_node(run, l->node->args[l->node->count - 1]);
        if (ap_cel_is_bad(&value))
            return value;
        *AP_PUSH(run->scratch, items, count, capacity) = value;
        if (!ap_cel_spend(run, 1))
            return ap_cel_too_much_work();
    }
    return (ap_cel_value){.kind = AP_CEL_LIST, .as.list = {items, count}};
}

ap_cel_value ap_cel_eval_macro(ap_cel_run *run, const ap_cel_node *node)
{
    loop l;
    ap_cel_value error;
    if (!loop_start(run, node, &l, &error))
        return error;
    switch (node->as.macro.kind) {
    case MACRO_ALL:
        return eval_quantifier(run, &l, false);
    case MACRO_EXISTS:
        return eval_quantifier(run, &l, true);
    case MACRO_EXISTS_ONE:
        return eval_exists_one(run, &l);
    default:
        return eval_transform(run, &l);
    }
}
