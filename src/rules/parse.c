/* Expression grammar: tokens -> tree. Macros (has, all, exists, exists_one, map, filter) become nodes of their own here,
 * because their arguments are not evaluated like those of functions. */
#include <string.h>

#include "rules/cel.h"

#define MAX_NODES 100000

typedef struct parser {
    ap_cel_source *source;
    ap_token token; /* current */
    unsigned nesting;
    size_t nodes;
} parser;

typedef struct node_list {
    ap_cel_node **items;
    size_t count, capacity;
} node_list;

static ap_cel_node *parse_expr(parser *p);

static bool advance(parser *p)
{
    return ap_cel_next_token(p->source, &p->token);
}

static bool at_punct(const parser *p, const char *punct)
{
    return p->token.kind == TOK_PUNCT && strcmp(p->token.punct, punct) == 0;
}

static bool at_word(const parser *p, const char *word)
{
    return p->token.kind == TOK_IDENT && strcmp(p->token.text, word) == 0;
}

static ap_cel_node *unexpected(parser *p, const char *wanted)
{
    const ap_token *t = &p->token;
    if (t->kind == TOK_END)
        ap_cel_complain(p->source, AP_CEL_SYNTAX, t->at, "expression ends too early, expected %s", wanted);
    else
        ap_cel_complain(p->source, AP_CEL_SYNTAX, t->at, "unexpected '%.*s', expected %s", (int)(t->len > 40 ? 40 : t->len),
                        p->source->text + t->at, wanted);
    return NULL;
}

static bool expect(parser *p, const char *punct)
{
    if (at_punct(p, punct))
        return advance(p);
    char wanted[8] = {'\'', 0};
    strcat(strcat(wanted, punct), "'");
    unexpected(p, wanted);
    return false;
}

static ap_cel_node *add_node(parser *p, ap_cel_op op, size_t at, const node_list *args)
{
    unsigned depth = 0;
    for (size_t i = 0; args && i < args->count; i++)
        if (args->items[i]->depth > depth)
            depth = args->items[i]->depth;
    if (depth >= AP_CEL_MAX_DEPTH || ++p->nodes > MAX_NODES) {
        ap_cel_complain(p->source, AP_CEL_LIMIT, at, "expression is too large: more than %d operations %s",
                        depth >= AP_CEL_MAX_DEPTH ? AP_CEL_MAX_DEPTH : MAX_NODES,
                        depth >= AP_CEL_MAX_DEPTH ? "deep" : "in all");
        return NULL;
    }
    ap_cel_node *node = AP_NEW(p->source->arena, ap_cel_node);
    *node = (ap_cel_node){.op = op, .at = at, .depth = depth + 1};
    if (args) {
        node->args = args->items;
        node->count = args->count;
    }
    return node;
}

static void push(parser *p, node_list *list, ap_cel_node *node)
{
    *AP_PUSH(p->source->arena, list->items, list->count, list->capacity) = node;
}

static ap_cel_node *add_binary(parser *p, ap_cel_op op, size_t at, ap_cel_node *left, ap_cel_node *right)
{
    node_list args = {0};
    push(p, &args, left);
    push(p, &args, right);
    return add_node(p, op, at, &args);
}

static ap_cel_node *add_constant(parser *p, size_t at, ap_cel_value value)
{
    ap_cel_node *node = add_node(p, OP_CONST, at, NULL);
    if (node)
        node->as.constant = value;
    return node;
}

static bool is_reserved(const char *word)
{
    static const char *const words[] = {"as",   "break", "const",     "continue", "else",   "for", "function", "if",
                                        "import", "let", "loop", "package", "namespace", "return", "var", "void",
                                        "while", "in"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static ap_cel_node *integer_literal(parser *p, size_t at, bool negative)
{
    uint64_t magnitude = p->token.integer, limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    if (magnitude > limit)
        return ap_cel_complain(p->source, AP_CEL_SYNTAX, at, "integer does not fit in 64 bits"), NULL;
    int64_t value = negative ? (magnitude > INT64_MAX ? INT64_MIN : -(int64_t)magnitude) : (int64_t)magnitude;
    return advance(p) ? add_constant(p, at, ap_cel_int(value)) : NULL;
}

static ap_cel_node *number_literal(parser *p, size_t at, bool negative)
{
    if (p->token.kind == TOK_NUMBER_INT)
        return integer_literal(p, at, negative);
    double value = negative ? -p->token.number : p->token.number;
    return advance(p) ? add_constant(p, at, ap_cel_double(value)) : NULL;
}

/* Comma separated expressions up to `close`; a comma may also end the list. */
static bool parse_list(parser *p, const char *close, bool trailing_comma, node_list *list)
{
    while (!at_punct(p, close)) {
        ap_cel_node *item = parse_expr(p);
        if (!item)
            return false;
        push(p, list, item);
        if (!at_punct(p, ","))
            break;
        size_t comma = p->token.at;
        if (!advance(p))
            return false;
        if (at_punct(p, close) && !trailing_comma)
            return ap_cel_complain(p->source, AP_CEL_SYNTAX, comma, "no argument after this comma"), false;
    }
    return expect(p, close);
}

static ap_cel_node *parse_map(parser *p, size_t at)
{
    node_list list = {0};
    while (!at_punct(p, "}")) {
        ap_cel_node *key = parse_expr(p);
        if (!key || !expect(p, ":"))
            return NULL;
        ap_cel_node *value = parse_expr(p);
        if (!value)
            return NULL;
        push(p, &list, key);
        push(p, &list, value);
        if (!at_punct(p, ","))
            break;
        if (!advance(p))
            return NULL;
    }
    return expect(p, "}") ? add_node(p, OP_MAP, at, &list) : NULL;
}

static ap_cel_node *macro_node(parser *p, ap_cel_macro kind, size_t at, ap_cel_node *range, const node_list *args)
{
    const ap_cel_node *variable = args->items[0];
    if (variable->op != OP_NAME || variable->as.name.absolute)
        return ap_cel_complain(p->source, AP_CEL_SYNTAX, variable->at, "the first argument must be a plain name"), NULL;
    node_list all = {0};
    push(p, &all, range);
    for (size_t i = 1; i < args->count; i++)
        push(p, &all, args->items[i]);
    ap_cel_node *node = add_node(p, OP_MACRO, at, &all);
    if (node) {
        node->as.macro.kind = kind;
        node->as.macro.variable = variable->as.name.text;
    }
    return node;
}

static ap_cel_node *has_macro(parser *p, size_t at, const node_list *args)
{
    ap_cel_node *select = args->items[0];
    if (select->op != OP_SELECT)
        return ap_cel_complain(p->source, AP_CEL_SYNTAX, select->at, "has() needs a field such as has(chip.memory_gib)"),
               NULL;
    (void)at;
    select->op = OP_HAS;
    return select;
}

static bool find_macro(const char *name, size_t args, ap_cel_macro *ret_kind)
{
    static const struct { const char *name; size_t args; ap_cel_macro kind; } macros[] = {
        {"all", 2, MACRO_ALL},       {"exists", 2, MACRO_EXISTS}, {"exists_one", 2, MACRO_EXISTS_ONE},
        {"existsOne", 2, MACRO_EXISTS_ONE}, {"map", 2, MACRO_MAP},       {"map", 3, MACRO_MAP},
        {"filter", 2, MACRO_FILTER},
    };
    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++)
        if (strcmp(macros[i].name, name) == 0 && macros[i].args == args)
            return *ret_kind = macros[i].kind, true;
    return false;
}

/* After the name; `target` is NULL for a function. */
static ap_cel_node *parse_call(parser *p, const char *name, size_t at, ap_cel_node *target)
{
    node_list args = {0};
    if (!expect(p, "(") || !parse_list(p, ")", false, &args))
        return NULL;
    ap_cel_macro kind;
    if (target && find_macro(name, args.count, &kind))
        return macro_node(p, kind, at, target, &args);
    if (!target && strcmp(name, "has") == 0 && args.count == 1)
        return has_macro(p, at, &args);
    node_list all = {0};
    if (target)
        push(p, &all, target);
    for (size_t i = 0; i < args.count; i++)
        push(p, &all, args.items[i]);
    ap_cel_node *node = add_node(p, OP_CALL, at, &all);
    if (node) {
        node->as.call.name = name;
        node->as.call.method = target != NULL;
    }
    return node;
}

static ap_cel_node *parse_word(parser *p)
{
    ap_token word = p->token;
    if (at_word(p, "true") || at_word(p, "false"))
        return advance(p) ? add_constant(p, word.at, ap_cel_bool(word.text[0] == 't')) : NULL;
    if (at_word(p, "null"))
        return advance(p) ? add_constant(p, word.at, (ap_cel_value){.kind = AP_CEL_NULL}) : NULL;
    if (is_reserved(word.text))
        return ap_cel_complain(p->source, AP_CEL_SYNTAX, word.at, "'%s' is a reserved word", word.text), NULL;
    if (!advance(p))
        return NULL;
    if (at_punct(p, "("))
        return parse_call(p, word.text, word.at, NULL);
    ap_cel_node *node = add_node(p, OP_NAME, word.at, NULL);
    if (node)
        node->as.name.text = word.text;
    return node;
}

static ap_cel_node *parse_absolute_name(parser *p)
{
    if (!advance(p))
        return NULL;
    if (p->token.kind != TOK_IDENT)
        return unexpected(p, "a name");
    ap_cel_node *node = parse_word(p);
    if (node && node->op == OP_NAME)
        node->as.name.absolute = true;
    return node;
}

static ap_cel_node *parse_primary(parser *p)
{
    size_t at = p->token.at;
    switch (p->token.kind) {
    case TOK_NUMBER:
    case TOK_NUMBER_INT:
        return number_literal(p, at, false);
    case TOK_STRING: {
        ap_cel_value value = {.kind = AP_CEL_STRING, .as.string = {p->token.text, p->token.text_len}};
        return advance(p) ? add_constant(p, at, value) : NULL;
    }
    case TOK_IDENT:
        return parse_word(p);
    case TOK_PUNCT:
        break;
    default:
        return unexpected(p, "a value");
    }
    if (at_punct(p, "."))
        return parse_absolute_name(p);
    node_list items = {0};
    if (at_punct(p, "["))
        return advance(p) && parse_list(p, "]", true, &items) ? add_node(p, OP_LIST, at, &items) : NULL;
    if (at_punct(p, "{"))
        return advance(p) ? parse_map(p, at) : NULL;
    if (!at_punct(p, "("))
        return unexpected(p, "a value");
    if (!advance(p))
        return NULL;
    ap_cel_node *inner = parse_expr(p);
    return inner && expect(p, ")") ? inner : NULL;
}

static ap_cel_node *parse_field(parser *p, ap_cel_node *target)
{
    if (!advance(p))
        return NULL;
    ap_token name = p->token;
    if (name.kind != TOK_IDENT && name.kind != TOK_QUOTED_IDENT)
        return unexpected(p, "a field name");
    if (!advance(p))
        return NULL;
    if (name.kind == TOK_IDENT && at_punct(p, "("))
        return parse_call(p, name.text, name.at, target);
    node_list args = {0};
    push(p, &args, target);
    ap_cel_node *node = add_node(p, OP_SELECT, name.at, &args);
    if (node)
        node->as.name.text = name.text;
    return node;
}

static ap_cel_node *parse_suffixes(parser *p, ap_cel_node *node)
{
    while (node) {
        size_t at = p->token.at;
        if (at_punct(p, ".")) {
            node = parse_field(p, node);
        } else if (at_punct(p, "[")) {
            ap_cel_node *index = advance(p) ? parse_expr(p) : NULL;
            node = index && expect(p, "]") ? add_binary(p, OP_INDEX, at, node, index) : NULL;
        } else {
            break;
        }
    }
    return node;
}

/* A minus directly before a number belongs to it (so that -9223372036854775808 can be written); an even number of signs
 * cancels out, as CEL's grammar has it. */
static ap_cel_node *parse_unary(parser *p)
{
    bool negation = at_punct(p, "!"), minus = at_punct(p, "-");
    if (!negation && !minus)
        return parse_suffixes(p, parse_primary(p));
    size_t at = p->token.at, signs = 0;
    while (at_punct(p, negation ? "!" : "-")) {
        signs++;
        if (!advance(p))
            return NULL;
    }
    bool number = p->token.kind == TOK_NUMBER || p->token.kind == TOK_NUMBER_INT;
    if (minus && number) {
        signs--;
        ap_cel_node *literal = parse_suffixes(p, number_literal(p, at, true));
        if (!literal || signs % 2 == 0)
            return literal;
        node_list args = {0};
        push(p, &args, literal);
        return add_node(p, OP_NEG, at, &args);
    }
    ap_cel_node *operand = parse_suffixes(p, parse_primary(p));
    if (!operand || signs % 2 == 0)
        return operand;
    node_list args = {0};
    push(p, &args, operand);
    return add_node(p, negation ? OP_NOT : OP_NEG, at, &args);
}

typedef struct binary_op {
    const char *text;
    ap_cel_op op;
    int level;
} binary_op;

static const binary_op *binary_at(const parser *p)
{
    static const binary_op ops[] = {
        {"==", OP_EQ, 1}, {"!=", OP_NE, 1}, {"<", OP_LT, 1},  {"<=", OP_LE, 1}, {">", OP_GT, 1},  {">=", OP_GE, 1},
        {"+", OP_ADD, 2}, {"-", OP_SUB, 2}, {"*", OP_MUL, 3}, {"/", OP_DIV, 3}, {"%", OP_MOD, 3},
    };
    static const binary_op in = {"in", OP_IN, 1};
    if (at_word(p, "in"))
        return &in;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (at_punct(p, ops[i].text))
            return &ops[i];
    return NULL;
}

static ap_cel_node *parse_binary(parser *p, int level)
{
    ap_cel_node *left = level > 3 ? parse_unary(p) : parse_binary(p, level + 1);
    for (const binary_op *op; left && level <= 3 && (op = binary_at(p)) && op->level == level;) {
        size_t at = p->token.at;
        ap_cel_node *right = advance(p) ? parse_binary(p, level + 1) : NULL;
        left = right ? add_binary(p, op->op, at, left, right) : NULL;
    }
    return left;
}

/* a && b && c is one node: evaluation is the same and depth does not grow. */
static ap_cel_node *parse_logic(parser *p, bool is_or)
{
    ap_cel_node *first = is_or ? parse_logic(p, false) : parse_binary(p, 1);
    const char *op = is_or ? "||" : "&&";
    if (!first || !at_punct(p, op))
        return first;
    size_t at = p->token.at;
    node_list args = {0};
    push(p, &args, first);
    while (at_punct(p, op)) {
        ap_cel_node *next = !advance(p) ? NULL : is_or ? parse_logic(p, false) : parse_binary(p, 1);
        if (!next)
            return NULL;
        push(p, &args, next);
    }
    return add_node(p, is_or ? OP_OR : OP_AND, at, &args);
}

static ap_cel_node *parse_conditional(parser *p)
{
    ap_cel_node *condition = parse_logic(p, true);
    if (!condition || !at_punct(p, "?"))
        return condition;
    size_t at = p->token.at;
    ap_cel_node *yes = advance(p) ? parse_logic(p, true) : NULL;
    ap_cel_node *no = yes && expect(p, ":") ? parse_expr(p) : NULL;
    if (!no)
        return NULL;
    node_list args = {0};
    push(p, &args, condition);
    push(p, &args, yes);
    push(p, &args, no);
    return add_node(p, OP_COND, at, &args);
}

static ap_cel_node *parse_expr(parser *p)
{
    if (p->nesting >= AP_CEL_MAX_NESTING)
        return ap_cel_complain(p->source, AP_CEL_LIMIT, p->token.at, "nested more than %d levels deep", AP_CEL_MAX_NESTING),
               NULL;
    p->nesting++;
    ap_cel_node *node = parse_conditional(p);
    p->nesting--;
    return node;
}

ap_cel_node *ap_cel_parse(ap_cel_source *source)
{
    parser p = {.source = source};
    if (!advance(&p))
        return NULL;
    ap_cel_node *root = parse_expr(&p);
    if (root && p.token.kind != TOK_END)
        return unexpected(&p, "the end or an operator");
    return root;
}
