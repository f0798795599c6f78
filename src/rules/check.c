/* Binds names to facts, locals and functions, and checks types where the schema is closed. In an open schema (rules eval)
 * everything that could only be known at evaluation stays for evaluation, as CEL without a type checker has it. */
#include <string.h>

#include "base/text.h"
#include "rules/cel.h"

#define DYN (-1)

typedef struct type {
    int kind, elem; /* ap_cel_kind or DYN; elem: of a list */
} type;

typedef struct checker {
    ap_cel_source *source;
    ap_cel *cel;
    struct { const char *name; type what; } locals[AP_CEL_MAX_LOCALS];
    size_t local_count;
} checker;

static type check(checker *c, ap_cel_node *node);

static type plain(int kind)
{
    return (type){kind, DYN};
}

static bool open_schema(const checker *c)
{
    return c->cel->schema->dynamic;
}

static type fail_later(ap_cel_node *node, const char *error)
{
    node->op = OP_FAIL;
    node->as.error = error;
    return plain(DYN);
}

static const char *describe(type t)
{
    return t.kind == DYN ? "any value" : ap_cel_kind_text((ap_cel_kind)t.kind);
}

/* --- names --- */

static bool find_local(const checker *c, const char *name, size_t *ret_slot)
{
    for (size_t i = c->local_count; i-- > 0;)
        if (strcmp(c->locals[i].name, name) == 0)
            return *ret_slot = i, true;
    return false;
}

/* The names of a chain a.b.c that begins with a name; false for anything else, or where a local hides the first name. */
static bool collect_chain(const checker *c, const ap_cel_node *node, const char **parts, size_t *ret_count)
{
    size_t count = 0, slot;
    const ap_cel_node *at = node;
    for (; at->op == OP_SELECT || at->op == OP_HAS; at = at->args[0])
        if (++count >= AP_CEL_MAX_DEPTH)
            return false;
    if (at->op != OP_NAME || (!at->as.name.absolute && find_local(c, at->as.name.text, &slot)))
        return false;
    *ret_count = count + 1;
    for (at = node; count > 0; at = at->args[0])
        parts[count--] = at->as.name.text;
    parts[0] = at->as.name.text;
    return true;
}

static const char *join(const checker *c, const char *const *parts, size_t count)
{
    ap_sbuf out;
    ap_sbuf_init(&out, c->source->arena);
    for (size_t i = 0; i < count; i++)
        ap_sbuf_printf(&out, "%s%s", i ? "." : "", parts[i]);
    return out.text;
}

static bool find_fact(const ap_fact_schema *schema, const char *path, size_t *ret_slot)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->facts[i].path, path) == 0)
            return *ret_slot = i, true;
    return false;
}

static type use_fact(checker *c, ap_cel_node *node, size_t slot, ap_cel_op op)
{
    const ap_fact *fact = &c->cel->schema->facts[slot];
    node->op = op;
    node->count = 0;
    node->as.slot = slot;
    c->cel->used[slot] = 1;
    if (fact->phase > c->cel->phase)
        c->cel->phase = fact->phase;
    if (op == OP_KNOWN)
        return plain(AP_CEL_BOOL);
    return (type){(int)fact->kind, fact->kind == AP_CEL_LIST ? AP_CEL_STRING : DYN};
}

static type unknown_fact(checker *c, const ap_cel_node *node, const char *path)
{
    ap_suggest suggest;
    if (c->source->failed)
        return plain(DYN);
    ap_suggest_init(&suggest, path);
    for (size_t i = 0; i < c->cel->schema->count; i++)
        ap_suggest_offer(&suggest, c->cel->schema->facts[i].path);
    while ((node->op == OP_SELECT || node->op == OP_HAS) && node->count)
        node = node->args[0];
    ap_cel_complain(c->source, AP_CEL_NAME, node->at, "there is no fact '%s'", path)->hint =
        ap_suggest_text(&suggest, c->source->arena);
    return plain(DYN);
}

static type check_open_path(checker *c, ap_cel_node *node, const char *const *parts, size_t count)
{
    ap_arena *arena = c->source->arena;
    const char **copies = AP_NEW_ARRAY(arena, const char *, count);
    size_t *ends = AP_NEW_ARRAY(arena, size_t, count), end = 0;
    for (size_t i = 0; i < count; i++) {
        copies[i] = parts[i];
        end += strlen(parts[i]) + (i ? 1 : 0);
        ends[i] = end;
    }
    node->op = OP_PATH;
    node->count = 0;
    node->as.path.parts = copies;
    node->as.path.joined = join(c, parts, count);
    node->as.path.ends = ends;
    node->as.path.count = count;
    return plain(DYN);
}

/* Kept out of line: its array must not be on the stack while the checker descends. */
static __attribute__((noinline)) bool check_chain(checker *c, ap_cel_node *node, type *ret_type)
{
    const char *parts[AP_CEL_MAX_DEPTH + 1];
    size_t count, slot;
    if (!collect_chain(c, node, parts, &count))
        return false;
    if (open_schema(c) && node->op == OP_HAS) {
        check_open_path(c, node->args[0], parts, count - 1);
        *ret_type = plain(AP_CEL_BOOL);
        return true;
    }
    if (open_schema(c)) {
        *ret_type = check_open_path(c, node, parts, count);
        return true;
    }
    const char *path = join(c, parts, count);
    *ret_type = find_fact(c->cel->schema, path, &slot) ? use_fact(c, node, slot, node->op == OP_HAS ? OP_KNOWN : OP_FACT)
                                                       : unknown_fact(c, node, path);
    return true;
}

static type check_name_or_select(checker *c, ap_cel_node *node)
{
    size_t slot;
    if (node->op == OP_NAME && !node->as.name.absolute && find_local(c, node->as.name.text, &slot)) {
        node->op = OP_LOCAL;
        node->as.slot = slot;
        return c->locals[slot].what;
    }
    type found;
    if (check_chain(c, node, &found))
        return found;
    type target = check(c, node->args[0]);
    if (!open_schema(c) && target.kind != DYN && target.kind != AP_CEL_MAP)
        ap_cel_complain(c->source, AP_CEL_TYPE_MISMATCH, node->at, "%s has no fields", describe(target));
    return node->op == OP_HAS ? plain(AP_CEL_BOOL) : plain(DYN);
}

/* --- types --- */

static bool is_number(int kind)
{
    return kind == AP_CEL_INT || kind == AP_CEL_DOUBLE;
}

static type complain_operands(checker *c, const ap_cel_node *node, type a, type b)
{
    if (open_schema(c))
        return plain(DYN);
    static const char *const names[] = {[OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_MOD] = "%",
                                        [OP_EQ] = "==", [OP_NE] = "!=", [OP_LT] = "<",  [OP_LE] = "<=", [OP_GT] = ">",
                                        [OP_GE] = ">=", [OP_IN] = "in"};
    ap_diag *diag = ap_cel_complain(c->source, AP_CEL_TYPE_MISMATCH, node->at, "no %s %s %s", describe(a), names[node->op],
                                    describe(b));
    if (is_number(a.kind) && is_number(b.kind))
        diag->hint = node->op == OP_MOD ? "% works on ints only: int(x) % 2"
                                        : "write 2.0 instead of 2, or convert with double() or int()";
    return plain(DYN);
}

static type check_arithmetic(checker *c, const ap_cel_node *node, type a, type b)
{
    if (a.kind == DYN || b.kind == DYN)
        return plain(DYN);
    bool fits = a.kind == b.kind && (node->op == OP_MOD ? a.kind == AP_CEL_INT : is_number(a.kind));
    if (node->op == OP_ADD && a.kind == b.kind && (a.kind == AP_CEL_STRING || a.kind == AP_CEL_LIST))
        fits = true;
    return fits ? (type){a.kind, a.elem == b.elem ? a.elem : DYN} : complain_operands(c, node, a, b);
}

static bool comparable(int a, int b)
{
    return a == DYN || b == DYN || a == b || (is_number(a) && is_number(b));
}

static type check_comparison(checker *c, const ap_cel_node *node, type a, type b)
{
    bool fits = comparable(a.kind, b.kind);
    if (node->op == OP_EQ || node->op == OP_NE)
        fits = fits || a.kind == AP_CEL_NULL || b.kind == AP_CEL_NULL;
    else if (a.kind == AP_CEL_LIST || a.kind == AP_CEL_MAP || a.kind == AP_CEL_NULL)
        fits = false;
    if (!fits)
        complain_operands(c, node, a, b);
    return plain(AP_CEL_BOOL);
}

static type check_in(checker *c, const ap_cel_node *node, type a, type b)
{
    bool fits = b.kind == DYN || b.kind == AP_CEL_MAP || (b.kind == AP_CEL_LIST && comparable(a.kind, b.elem));
    if (!fits)
        complain_operands(c, node, a, b);
    return plain(AP_CEL_BOOL);
}

static void need(checker *c, const ap_cel_node *node, type have, int kind)
{
    if (!open_schema(c) && have.kind != DYN && have.kind != kind)
        ap_cel_complain(c->source, AP_CEL_TYPE_MISMATCH, node->at, "expected a %s, found a %s",
                        ap_cel_kind_text((ap_cel_kind)kind), describe(have));
}

/* --- calls and macros --- */

static bool argument_count_fits(ap_cel_func func, bool method, size_t count)
{
    switch (func) {
    case FUNC_SIZE:
        return count == 1;
    case FUNC_MATCHES:
        return count == 2;
    case FUNC_CONTAINS:
    case FUNC_STARTS_WITH:
    case FUNC_ENDS_WITH:
        return method && count == 2;
    default:
        return !method && count == 1;
    }
}

static type unknown_function(checker *c, ap_cel_node *node)
{
    const char *name = node->as.call.name;
    if (open_schema(c))
        return fail_later(node, ap_arena_printf(c->source->arena, "there is no function '%.80s'", name));
    ap_suggest suggest;
    ap_suggest_init(&suggest, name);
    for (size_t i = 0; ap_cel_func_name(i); i++)
        ap_suggest_offer(&suggest, ap_cel_func_name(i));
    ap_cel_complain(c->source, AP_CEL_FUNCTION, node->at, "there is no function '%s'", name)->hint =
        ap_suggest_text(&suggest, c->source->arena);
    return plain(DYN);
}

static type check_regex(checker *c, ap_cel_node *node)
{
    const ap_cel_node *pattern = node->args[1];
    if (pattern->op != OP_CONST || pattern->as.constant.kind != AP_CEL_STRING)
        return plain(AP_CEL_BOOL);
    const char *error = NULL;
    node->as.call.regex = ap_cel_regex_compile(pattern->as.constant.as.string.text, pattern->as.constant.as.string.len,
                                               c->source->arena, &error);
    if (node->as.call.regex)
        return plain(AP_CEL_BOOL);
    if (open_schema(c))
        return fail_later(node, error);
    ap_cel_complain(c->source, AP_CEL_SYNTAX, pattern->at, "%s", error);
    return plain(AP_CEL_BOOL);
}

static type check_call(checker *c, ap_cel_node *node)
{
    type first = plain(DYN);
    for (size_t i = 0; i < node->count; i++) {
        type t = check(c, node->args[i]);
        if (i == 0)
            first = t;
        else if (node->as.call.method)
            need(c, node->args[i], t, AP_CEL_STRING);
    }
    ap_cel_func func;
    if (!ap_cel_find_func(node->as.call.name, &func))
        return unknown_function(c, node);
    if (!argument_count_fits(func, node->as.call.method, node->count)) {
        if (open_schema(c))
            return fail_later(node, ap_arena_printf(c->source->arena, "%s() does not take such arguments", node->as.call.name));
        ap_cel_complain(c->source, AP_CEL_FUNCTION, node->at, "%s() is not called like this", node->as.call.name);
        return plain(DYN);
    }
    node->as.call.func = func;
    switch (func) {
    case FUNC_SIZE:
        if (!open_schema(c) && first.kind != DYN && first.kind != AP_CEL_STRING && first.kind != AP_CEL_LIST && first.kind != AP_CEL_MAP)
            ap_cel_complain(c->source, AP_CEL_TYPE_MISMATCH, node->at, "a %s has no size", describe(first));
        return plain(AP_CEL_INT);
    case FUNC_CONTAINS:
    case FUNC_STARTS_WITH:
    case FUNC_ENDS_WITH:
        need(c, node->args[0], first, AP_CEL_STRING);
        return plain(AP_CEL_BOOL);
    case FUNC_MATCHES:
        need(c, node->args[0], first, AP_CEL_STRING);
        return check_regex(c, node);
    case FUNC_INT:
        return plain(AP_CEL_INT);
    case FUNC_DOUBLE:
        return plain(AP_CEL_DOUBLE);
    case FUNC_STRING:
        return plain(AP_CEL_STRING);
    case FUNC_BOOL:
        return plain(AP_CEL_BOOL);
    case FUNC_TYPE:
        return plain(AP_CEL_TYPE);
    default:
        return plain(DYN);
    }
}

static type check_macro(checker *c, ap_cel_node *node)
{
    type range = check(c, node->args[0]);
    if (!open_schema(c) && range.kind != DYN && range.kind != AP_CEL_LIST && range.kind != AP_CEL_MAP)
        ap_cel_complain(c->source, AP_CEL_TYPE_MISMATCH, node->at, "expected a list or map, found a %s", describe(range));
    if (c->local_count >= AP_CEL_MAX_LOCALS) {
        ap_cel_complain(c->source, AP_CEL_LIMIT, node->at, "more than %d nested loops", AP_CEL_MAX_LOCALS);
        return plain(DYN);
    }
    node->as.macro.slot = c->local_count;
    c->locals[c->local_count].name = node->as.macro.variable;
    c->locals[c->local_count++].what = plain(range.kind == AP_CEL_LIST ? range.elem : DYN);
    bool maps = node->as.macro.kind == MACRO_MAP;
    type body = plain(DYN);
    for (size_t i = 1; i < node->count; i++) {
        body = check(c, node->args[i]);
        if (!maps || i + 1 < node->count)
            need(c, node->args[i], body, AP_CEL_BOOL);
    }
    c->local_count--;
    if (maps)
        return (type){AP_CEL_LIST, body.kind};
    return node->as.macro.kind == MACRO_FILTER ? (type){AP_CEL_LIST, range.kind == AP_CEL_LIST ? range.elem : DYN}
                                               : plain(AP_CEL_BOOL);
}

static type check_list(checker *c, const ap_cel_node *node)
{
    type elem = plain(DYN);
    for (size_t i = 0; i < node->count; i++) {
        type t = check(c, node->args[i]);
        elem = i == 0 ? t : plain(t.kind == elem.kind ? elem.kind : DYN);
    }
    return (type){AP_CEL_LIST, elem.kind};
}

static type check_operands(checker *c, ap_cel_node *node)
{
    type t[3] = {plain(DYN), plain(DYN), plain(DYN)};
    bool logic = node->op == OP_AND || node->op == OP_OR || node->op == OP_NOT;
    for (size_t i = 0; i < node->count; i++) {
        type found = check(c, node->args[i]);
        if (logic)
            need(c, node->args[i], found, AP_CEL_BOOL);
        if (i < 3)
            t[i] = found;
    }
    switch (node->op) {
    case OP_AND:
    case OP_OR:
    case OP_NOT:
        return plain(AP_CEL_BOOL);
    case OP_NEG:
        if (!open_schema(c) && t[0].kind != DYN && !is_number(t[0].kind))
            ap_cel_complain(c->source, AP_CEL_TYPE_MISMATCH, node->at, "a %s has no negative", describe(t[0]));
        return t[0];
    case OP_COND:
        need(c, node->args[0], t[0], AP_CEL_BOOL);
        return t[1].kind == t[2].kind ? t[1] : plain(DYN);
    case OP_IN:
        return check_in(c, node, t[0], t[1]);
    case OP_INDEX:
        return plain(t[0].kind == AP_CEL_LIST ? t[0].elem : DYN);
    case OP_MAP:
        return plain(AP_CEL_MAP);
    default:
        return node->op >= OP_EQ ? check_comparison(c, node, t[0], t[1]) : check_arithmetic(c, node, t[0], t[1]);
    }
}

static type check(checker *c, ap_cel_node *node)
{
    switch (node->op) {
    case OP_CONST:
        return plain((int)node->as.constant.kind);
    case OP_NAME:
    case OP_SELECT:
    case OP_HAS:
        return check_name_or_select(c, node);
    case OP_LIST:
        return check_list(c, node);
    case OP_CALL:
        return check_call(c, node);
    case OP_MACRO:
        return check_macro(c, node);
    default:
        return check_operands(c, node);
    }
}

bool ap_cel_check(ap_cel_source *source, ap_cel *cel, ap_cel_node *root)
{
    checker *c = AP_NEW(source->arena, checker);
    c->source = source;
    c->cel = cel;
    cel->kind = check(c, root).kind;
    return !source->failed;
}
