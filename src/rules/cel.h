/* Inside of the expression engine: the tree that lexer, parser, checker and evaluator share. Private to src/rules.
 *
 * Text -> tokens (lex.c) -> tree with macros as nodes of their own (parse.c) -> names bound to slots, types checked
 * (check.c) -> values (eval.c, ops.c, funcs.c). The tree is immutable once compiled and lives in the caller's arena. */
#ifndef AP_RULES_CEL_H
#define AP_RULES_CEL_H

#include "rules/rules.h"

/* Bounds for hostile expressions. 250 is the nesting that CEL implementations commonly promise. */
#define AP_CEL_MAX_BYTES   ((size_t)1 << 20)
#define AP_CEL_MAX_NESTING 250
#define AP_CEL_MAX_DEPTH   600  /* of the tree: a + b + c … leans to the left */
#define AP_CEL_MAX_LOCALS  32   /* nested comprehensions */
#define AP_CEL_WORK        2000000
#define AP_CEL_NOWHERE     SIZE_MAX /* an error whose place is not known yet */
#define AP_CEL_MAX_VALUE   1000     /* levels of a value that is compared or written; loops can nest values deeper */

typedef enum ap_cel_op {
    OP_CONST, OP_NAME, OP_PATH, OP_FACT, OP_KNOWN, OP_LOCAL, OP_SELECT, OP_HAS, OP_INDEX, OP_LIST, OP_MAP, OP_NOT, OP_NEG, OP_AND, OP_OR,
    OP_COND, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_IN, OP_CALL, OP_MACRO,
    OP_FAIL /* text.error, decided while compiling; an error only when it is reached */
} ap_cel_op;

typedef enum ap_cel_macro { MACRO_ALL, MACRO_EXISTS, MACRO_EXISTS_ONE, MACRO_MAP, MACRO_FILTER } ap_cel_macro;

typedef enum ap_cel_func {
    FUNC_SIZE, FUNC_CONTAINS, FUNC_STARTS_WITH, FUNC_ENDS_WITH, FUNC_MATCHES, FUNC_INT, FUNC_DOUBLE, FUNC_STRING,
    FUNC_BOOL, FUNC_DYN, FUNC_TYPE, FUNC_COUNT
} ap_cel_func;

typedef struct ap_cel_node ap_cel_node;
struct ap_cel_node {
    ap_cel_op op;
    unsigned depth;      /* of the tree below and with this node */
    size_t at;           /* byte offset in the text */
    ap_cel_node **args;
    size_t count;
    union {
        ap_cel_value constant;
        struct { const char *text; bool absolute; } name; /* NAME: without dots; SELECT, HAS: the field */
        size_t slot;                                      /* FACT, KNOWN (= has() of a fact), LOCAL */
        /* PATH, a.b.c in an open schema: the first i + 1 parts end at joined + ends[i], the longest known name wins. */
        struct { const char **parts, *joined; size_t *ends, count; } path;
        struct { ap_cel_macro kind; const char *variable; size_t slot; } macro; /* args: range, [filter,] body */
        struct { ap_cel_func func; const char *name; bool method; const void *regex; } call; /* method: args[0] is target */
        const char *error;
    } as;
};

struct ap_cel {
    const ap_cel_node *root;
    const ap_fact_schema *schema;
    unsigned char *used; /* one byte per fact of the schema */
    int phase;           /* highest of the facts used */
    int kind;            /* ap_cel_kind of the result, -1 when only known at evaluation */
    const char *text;
    ap_pos pos; /* where the text begins */
};

typedef enum ap_token_kind { TOK_END, TOK_IDENT, TOK_QUOTED_IDENT, TOK_NUMBER_INT, TOK_NUMBER, TOK_STRING, TOK_PUNCT } ap_token_kind;

typedef struct ap_token {
    ap_token_kind kind;
    size_t at, len;
    char punct[3];            /* "&&" "(" … */
    const char *text;         /* identifier, or decoded string */
    size_t text_len;
    uint64_t integer;         /* without sign */
    double number;
} ap_token;

/* What one compilation carries along: the text, where it lies in its file, and the first fault. */
typedef struct ap_cel_source {
    const char *text;
    size_t len, next;
    ap_pos pos;
    ap_arena *arena;
    ap_diags *diags;
    bool failed;
} ap_cel_source;

/* Codes of diagnostics. */
enum { AP_CEL_SYNTAX = 601, AP_CEL_NAME = 602, AP_CEL_FUNCTION = 603, AP_CEL_TYPE_MISMATCH = 604, AP_CEL_LIMIT = 605, AP_CEL_FAILED = 606 };

/* Adds a located finding; only the first of an expression is kept, so that one fault gives one message. */
ap_diag *ap_cel_complain(ap_cel_source *source, int code, size_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

ap_pos ap_cel_locate(const ap_cel_source *source, size_t at);
const char *ap_cel_line_of(const ap_cel_source *source, size_t at); /* NULL for a very long line */
void ap_cel_add_utf8(ap_sbuf *out, uint32_t code_point);
bool ap_cel_next_token(ap_cel_source *source, ap_token *token); /* false after a complaint */
bool ap_cel_decode_string(ap_cel_source *source, ap_token *token, bool raw);
ap_cel_node *ap_cel_parse(ap_cel_source *source); /* NULL after a complaint */
/* Binds names, checks types where the schema is closed. False after a complaint. */
bool ap_cel_check(ap_cel_source *source, ap_cel *cel, ap_cel_node *root);
bool ap_cel_find_func(const char *name, ap_cel_func *ret_func);
const char *ap_cel_func_name(size_t index); /* NULL past the last */

/* Evaluation. */
typedef struct ap_cel_run {
    const ap_cel_value *facts, *root;
    ap_arena *scratch;
    int64_t work;         /* left */
    unsigned value_depth; /* of the comparison in progress */
    void *regex_context, *regex_data; /* made by the first match */
    ap_cel_value locals[AP_CEL_MAX_LOCALS];
} ap_cel_run;

ap_cel_value ap_cel_eval_node(ap_cel_run *run, const ap_cel_node *node);
ap_cel_value ap_cel_eval_macro(ap_cel_run *run, const ap_cel_node *node);
ap_cel_value ap_cel_not_bool(const ap_cel_value *value);                           /* why it is no condition */
ap_cel_value ap_cel_worse(const ap_cel_value *kept, const ap_cel_value *next); /* which of two failures to report */
ap_cel_value ap_cel_too_much_work(void);
bool ap_cel_spend(ap_cel_run *run, size_t work); /* false once the budget is gone */
ap_cel_value ap_cel_error(const char *message);  /* static or arena text */
static inline ap_cel_value ap_cel_bool(bool value)
{
    return (ap_cel_value){.kind = AP_CEL_BOOL, .as.boolean = value};
}
static inline ap_cel_value ap_cel_int(int64_t value)
{
    return (ap_cel_value){.kind = AP_CEL_INT, .as.integer = value};
}
static inline ap_cel_value ap_cel_double(double value)
{
    return (ap_cel_value){.kind = AP_CEL_DOUBLE, .as.number = value};
}
static inline bool ap_cel_is_bad(const ap_cel_value *value)
{
    return value->kind == AP_CEL_ERROR || value->kind == AP_CEL_UNKNOWN_FACT;
}

ap_cel_value ap_cel_arithmetic(ap_cel_run *run, ap_cel_op op, const ap_cel_value *a, const ap_cel_value *b);
ap_cel_value ap_cel_negate(const ap_cel_value *a);
ap_cel_value ap_cel_compare(ap_cel_run *run, ap_cel_op op, const ap_cel_value *a, const ap_cel_value *b);
bool ap_cel_equal(ap_cel_run *run, const ap_cel_value *a, const ap_cel_value *b);
ap_cel_value ap_cel_contains(ap_cel_run *run, const ap_cel_value *item, const ap_cel_value *collection); /* `in` */
const ap_cel_value *ap_cel_map_find(ap_cel_run *run, const ap_cel_value *map, const ap_cel_value *key);
ap_cel_value ap_cel_call(ap_cel_run *run, const ap_cel_node *node, const ap_cel_value *args);
const void *ap_cel_regex_compile(const char *pattern, size_t len, ap_arena *arena, const char **ret_error);
/* Searches `text`; `regex` is NULL when the pattern was not known while compiling. */
ap_cel_value ap_cel_regex_matches(ap_cel_run *run, const void *regex, const ap_cel_value *text, const ap_cel_value *pattern);
const char *ap_cel_kind_text(ap_cel_kind kind); /* "int" … as type() names it */

#endif
