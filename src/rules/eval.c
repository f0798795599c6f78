/* Evaluation: a walk over the tree under a work budget. Errors are values; && || ?: and the all/exists macros absorb them
 * as CEL has it: the side that decides wins over an error on the other, in either order. */
#include <string.h>

#include "rules/cel.h"

ap_cel_value ap_cel_error(const char *message)
{
    return (ap_cel_value){.kind = AP_CEL_ERROR, .as.fault = {message, AP_CEL_NOWHERE}};
}

/* The innermost node that an error passes on its way up is where it happened. */
static inline void locate(ap_cel_value *value, const ap_cel_node *node)
{
    if (value->kind == AP_CEL_ERROR && value->as.fault.at == AP_CEL_NOWHERE)
        value->as.fault.at = node->at;
}

bool ap_cel_spend(ap_cel_run *run, size_t work)
{
    run->work -= work > AP_CEL_WORK ? AP_CEL_WORK : (int64_t)work;
    return run->work > 0;
}

ap_cel_value ap_cel_too_much_work(void)
{
    return ap_cel_error("expression needs too much work");
}

/* A value where a bool is needed. */
ap_cel_value ap_cel_not_bool(const ap_cel_value *value)
{
    return ap_cel_is_bad(value) ? *value : ap_cel_error("a condition is not a bool");
}

/* Of two failures the unknown fact is the better reason: with it known there might be no failure. */
ap_cel_value ap_cel_worse(const ap_cel_value *kept, const ap_cel_value *next)
{
    if (kept->kind == AP_CEL_NULL || (kept->kind == AP_CEL_ERROR && next->kind == AP_CEL_UNKNOWN_FACT))
        return *next;
    return *kept;
}

/* Conditions are evaluated to one of three outcomes instead of values: rules are little else, and copying values around
 * is what costs. On BAD, *bad says why. */
typedef enum truth { NO, YES, BAD } truth;

static truth eval_truth(ap_cel_run *run, const ap_cel_node *node, ap_cel_value *bad);

static truth eval_logic(ap_cel_run *run, const ap_cel_node *node, truth decisive, ap_cel_value *bad)
{
    ap_cel_value failure = {.kind = AP_CEL_NULL};
    for (size_t i = 0; i < node->count; i++) {
        truth outcome = eval_truth(run, node->args[i], bad);
        if (outcome == decisive)
            return outcome;
        if (outcome == BAD)
            failure = ap_cel_worse(&failure, bad);
    }
    if (failure.kind == AP_CEL_NULL)
        return decisive == YES ? NO : YES;
    *bad = failure;
    return BAD;
}

/* The operand where it lies; only computed ones need the room of `temporary`. */
static const ap_cel_value *operand(ap_cel_run *run, const ap_cel_node *node, ap_cel_value *temporary)
{
    switch (node->op) {
    case OP_CONST:
        return &node->as.constant;
    case OP_FACT:
        return &run->facts[node->as.slot];
    case OP_LOCAL:
        return &run->locals[node->as.slot];
    default:
        *temporary = ap_cel_eval_node(run, node);
        return temporary;
    }
}

static truth truth_of(const ap_cel_value *value, ap_cel_value *bad)
{
    if (value->kind == AP_CEL_BOOL)
        return value->as.boolean ? YES : NO;
    *bad = ap_cel_not_bool(value);
    return BAD;
}

/* The comparisons that rules are full of; false when the general code must decide. */
static inline bool compare_fast(ap_cel_op op, const ap_cel_value *a, const ap_cel_value *b, truth *ret)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == AP_CEL_STRING && (op == OP_EQ || op == OP_NE)) {
        if (a->as.string.len >= 256)
            return false;
        bool same = a->as.string.len == b->as.string.len && memcmp(a->as.string.text, b->as.string.text, a->as.string.len) == 0;
        *ret = same == (op == OP_EQ) ? YES : NO;
        return true;
    }
    if (a->kind != AP_CEL_DOUBLE && a->kind != AP_CEL_INT)
        return false;
    bool ints = a->kind == AP_CEL_INT;
    bool less = ints ? a->as.integer < b->as.integer : a->as.number < b->as.number;
    bool same = ints ? a->as.integer == b->as.integer : a->as.number == b->as.number;
    bool more = ints ? a->as.integer > b->as.integer : a->as.number > b->as.number;
    bool holds = op == OP_EQ ? same : op == OP_NE ? !same : op == OP_LT ? less : op == OP_LE ? less || same : op == OP_GT ? more : more || same;
    *ret = holds ? YES : NO;
    return true;
}

static truth eval_comparison(ap_cel_run *run, const ap_cel_node *node, ap_cel_value *bad)
{
    ap_cel_value first, second;
    const ap_cel_value *a = operand(run, node->args[0], &first);
    if (ap_cel_is_bad(a)) {
        *bad = *a;
        return BAD;
    }
    const ap_cel_value *b = operand(run, node->args[1], &second);
    if (ap_cel_is_bad(b)) {
        *bad = *b;
        return BAD;
    }
    truth outcome;
    if (node->op != OP_IN && compare_fast(node->op, a, b, &outcome))
        return outcome;
    ap_cel_value value = node->op == OP_IN ? ap_cel_contains(run, a, b) : ap_cel_compare(run, node->op, a, b);
    if (run->work <= 0)
        value = ap_cel_too_much_work();
    return truth_of(&value, bad);
}

static truth decide(ap_cel_run *run, const ap_cel_node *node, ap_cel_value *bad)
{
    if (--run->work <= 0) {
        *bad = ap_cel_too_much_work();
        return BAD;
    }
    switch (node->op) {
    case OP_AND:
        return eval_logic(run, node, NO, bad);
    case OP_OR:
        return eval_logic(run, node, YES, bad);
    case OP_NOT: {
        truth inner = eval_truth(run, node->args[0], bad);
        return inner == BAD ? BAD : inner == YES ? NO : YES;
    }
    case OP_KNOWN: {
        const ap_cel_value *fact = &run->facts[node->as.slot];
        bool known = fact->kind == AP_CEL_LIST ? fact->as.list.count > 0 : fact->kind != AP_CEL_UNKNOWN_FACT;
        return known ? YES : NO;
    }
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_IN:
        return eval_comparison(run, node, bad);
    default: {
        ap_cel_value temporary;
        return truth_of(operand(run, node, &temporary), bad);
    }
    }
}

static truth eval_truth(ap_cel_run *run, const ap_cel_node *node, ap_cel_value *bad)
{
    truth outcome = decide(run, node, bad);
    if (outcome == BAD)
        locate(bad, node);
    return outcome;
}

static ap_cel_value eval_condition(ap_cel_run *run, const ap_cel_node *node)
{
    ap_cel_value bad;
    truth outcome = eval_truth(run, node, &bad);
    return outcome == BAD ? bad : ap_cel_bool(outcome == YES);
}

/* --- names --- */

static ap_cel_value select_field(ap_cel_run *run, const ap_cel_value *target, const char *field)
{
    if (ap_cel_is_bad(target))
        return *target;
    ap_cel_spend(run, 8); /* a message takes memory: loops that fail must run dry */
    if (target->kind != AP_CEL_MAP)
        return ap_cel_error(ap_arena_printf(run->scratch, "no field '%.80s': %s has no fields", field,
                                            ap_cel_kind_text(target->kind)));
    ap_cel_value key = ap_cel_text(field);
    const ap_cel_value *found = ap_cel_map_find(run, target, &key);
    return found ? *found : ap_cel_error(ap_arena_printf(run->scratch, "no such key: %.80s", field));
}

static bool type_name(const char *name, ap_cel_value *ret_value)
{
    static const char *const names[] = {"int", "double", "string", "bool", "list", "map", "null_type", "type"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret_value = ap_cel_text(names[i]);
            ret_value->kind = AP_CEL_TYPE;
            return true;
        }
    }
    return false;
}

static ap_cel_value eval_path(ap_cel_run *run, const ap_cel_node *node)
{
    ap_cel_value value;
    ap_cel_spend(run, node->as.path.count);
    for (size_t prefix = node->as.path.count; run->root && prefix > 0; prefix--) {
        ap_cel_value key = {.kind = AP_CEL_STRING, .as.string = {node->as.path.joined, node->as.path.ends[prefix - 1]}};
        const ap_cel_value *found = ap_cel_map_find(run, run->root, &key);
        if (!found)
            continue;
        value = *found;
        for (size_t i = prefix; i < node->as.path.count; i++)
            value = select_field(run, &value, node->as.path.parts[i]);
        return value;
    }
    if (node->as.path.count == 1 && type_name(node->as.path.parts[0], &value))
        return value;
    return ap_cel_error(ap_arena_printf(run->scratch, "undeclared name '%.80s'", node->as.path.parts[0]));
}

static ap_cel_value eval_has(ap_cel_run *run, const ap_cel_node *node)
{
    ap_cel_value target = ap_cel_eval_node(run, node->args[0]);
    if (ap_cel_is_bad(&target))
        return target;
    if (target.kind != AP_CEL_MAP)
        return ap_cel_error("has() of something that has no fields");
    ap_cel_value key = ap_cel_text(node->as.name.text);
    return ap_cel_bool(ap_cel_map_find(run, &target, &key) != NULL);
}

/* --- aggregates --- */

static ap_cel_value eval_list(ap_cel_run *run, const ap_cel_node *node)
{
    ap_cel_value *items = node->count ? AP_NEW_ARRAY(run->scratch, ap_cel_value, node->count) : NULL;
    for (size_t i = 0; i < node->count; i++) {
        items[i] = ap_cel_eval_node(run, node->args[i]);
        if (ap_cel_is_bad(&items[i]))
            return items[i];
    }
    return (ap_cel_value){.kind = AP_CEL_LIST, .as.list = {items, node->count}};
}

static ap_cel_value eval_map(ap_cel_run *run, const ap_cel_node *node)
{
    size_t count = node->count / 2;
    ap_cel_value *keys = AP_NEW_ARRAY(run->scratch, ap_cel_value, node->count + 1), *values = keys + count;
    ap_cel_value map = {.kind = AP_CEL_MAP, .as.map = {keys, values, 0}};
    for (size_t i = 0; i < count; i++) {
        ap_cel_value key = ap_cel_eval_node(run, node->args[2 * i]);
        if (ap_cel_is_bad(&key))
            return key;
        if (key.kind != AP_CEL_INT && key.kind != AP_CEL_STRING && key.kind != AP_CEL_BOOL)
            return ap_cel_error("a key of a map must be an int, a string or a bool");
        if (ap_cel_map_find(run, &map, &key))
            return ap_cel_error("a key of a map is given twice");
        ap_cel_value value = ap_cel_eval_node(run, node->args[2 * i + 1]);
        if (ap_cel_is_bad(&value))
            return value;
        keys[i] = key;
        values[i] = value;
        map.as.map.count++;
    }
    return map;
}

static ap_cel_value index_list(const ap_cel_value *list, const ap_cel_value *index)
{
    int64_t at;
    if (index->kind == AP_CEL_INT)
        at = index->as.integer;
    else if (index->kind == AP_CEL_DOUBLE && index->as.number >= -1e15 && index->as.number <= 1e15 &&
             (double)(int64_t)index->as.number == index->as.number)
        at = (int64_t)index->as.number;
    else
        return ap_cel_error("an index into a list must be an int");
    if (at < 0 || (uint64_t)at >= list->as.list.count)
        return ap_cel_error("index is out of range");
    return list->as.list.items[at];
}

static ap_cel_value eval_index(ap_cel_run *run, const ap_cel_node *node)
{
    ap_cel_value target = ap_cel_eval_node(run, node->args[0]);
    if (ap_cel_is_bad(&target))
        return target;
    ap_cel_value key = ap_cel_eval_node(run, node->args[1]);
    if (ap_cel_is_bad(&key))
        return key;
    if (target.kind == AP_CEL_LIST)
        return index_list(&target, &key);
    if (target.kind != AP_CEL_MAP)
        return ap_cel_error("only lists and maps can be indexed");
    const ap_cel_value *found = ap_cel_map_find(run, &target, &key);
    return found ? *found : ap_cel_error("no such key");
}

/* --- operators --- */

static ap_cel_value eval_call(ap_cel_run *run, const ap_cel_node *node)
{
    ap_cel_value args[2] = {{.kind = AP_CEL_NULL}, {.kind = AP_CEL_NULL}};
    for (size_t i = 0; i < node->count && i < 2; i++) {
        args[i] = ap_cel_eval_node(run, node->args[i]);
        if (ap_cel_is_bad(&args[i]))
            return args[i];
    }
    return ap_cel_call(run, node, args);
}

static ap_cel_value eval_arithmetic(ap_cel_run *run, const ap_cel_node *node)
{
    ap_cel_value first, second;
    const ap_cel_value *a = operand(run, node->args[0], &first);
    if (ap_cel_is_bad(a))
        return *a;
    const ap_cel_value *b = operand(run, node->args[1], &second);
    if (ap_cel_is_bad(b))
        return *b;
    ap_cel_value value = ap_cel_arithmetic(run, node->op, a, b);
    return run->work > 0 ? value : ap_cel_too_much_work();
}

static ap_cel_value eval_negation(ap_cel_run *run, const ap_cel_node *node)
{
    ap_cel_value a = ap_cel_eval_node(run, node->args[0]);
    return ap_cel_is_bad(&a) ? a : ap_cel_negate(&a);
}

static ap_cel_value eval_unlocated(ap_cel_run *run, const ap_cel_node *node)
{
    if (--run->work <= 0)
        return ap_cel_too_much_work();
    switch (node->op) {
    case OP_CONST:
        return node->as.constant;
    case OP_FACT:
        return run->facts[node->as.slot];
    case OP_LOCAL:
        return run->locals[node->as.slot];
    case OP_COND: {
        ap_cel_value bad;
        truth condition = eval_truth(run, node->args[0], &bad);
        return condition == BAD ? bad : ap_cel_eval_node(run, node->args[condition == YES ? 1 : 2]);
    }
    case OP_PATH:
        return eval_path(run, node);
    case OP_SELECT: {
        ap_cel_value target = ap_cel_eval_node(run, node->args[0]);
        return select_field(run, &target, node->as.name.text);
    }
    case OP_HAS:
        return eval_has(run, node);
    case OP_INDEX:
        return eval_index(run, node);
    case OP_LIST:
        return eval_list(run, node);
    case OP_MAP:
        return eval_map(run, node);
    case OP_MACRO:
        return ap_cel_eval_macro(run, node);
    case OP_CALL:
        return eval_call(run, node);
    case OP_NEG:
        return eval_negation(run, node);
    case OP_FAIL:
        return ap_cel_error(node->as.error);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_MOD:
        return eval_arithmetic(run, node);
    default:
        return eval_condition(run, node);
    }
}

ap_cel_value ap_cel_eval_node(ap_cel_run *run, const ap_cel_node *node)
{
    ap_cel_value value = eval_unlocated(run, node);
    locate(&value, node);
    return value;
}

ap_cel_value ap_cel_eval(const ap_cel *expr, const ap_cel_value *facts, const ap_cel_value *root, ap_arena *scratch)
{
    ap_cel_run run;
    run.facts = facts;
    run.root = root;
    run.scratch = scratch;
    run.work = AP_CEL_WORK; /* locals are written before they are read */
    run.value_depth = 0;
    run.regex_context = run.regex_data = NULL;
    ap_cel_value value = ap_cel_eval_node(&run, expr->root);
    /* Whatever ran dry on the way answered something: "not equal", "no such key". */
    if (run.work <= 0 && value.kind != AP_CEL_ERROR)
        value = ap_cel_too_much_work();
    locate(&value, expr->root);
    return value;
}
