/* A strict subset of TOML 1.0, enough for training configurations (docs/adr): comments, [table] and [[array of tables]]
 * headers, bare, quoted and dotted keys, strings of both kinds (one line and three quotes), numbers, booleans, dates as
 * text, arrays over several lines, inline tables. The result is the same positioned tree that the YAML reader makes. */
#include <ctype.h>
#include <string.h>

#include "base/num.h"
#include "jobs/reader.h"

enum { MAX_DEPTH = 32, MAX_NODES = 5000 };

typedef struct toml {
    const char *text;
    size_t len, pos;
    int line;
    size_t line_start;
    const char *name;
    ap_arena *arena;
    ap_diags *diags;
    size_t nodes;
    bool failed;
} toml;

static ap_pos here(const toml *t)
{
    return (ap_pos){t->name, t->line, (int)(t->pos - t->line_start) + 1};
}

static void fail(toml *t, const char *what)
{
    if (!t->failed)
        ap_diag_add(t->diags, AP_ERROR, AP_CODE_YAML_SYNTAX, here(t), "TOML: %s", what);
    t->failed = true;
}

static char peek(const toml *t)
{
    return t->pos < t->len ? t->text[t->pos] : 0;
}

static void next(toml *t)
{
    if (t->pos < t->len && t->text[t->pos] == '\n') {
        t->line++;
        t->line_start = t->pos + 1;
    }
    if (t->pos < t->len)
        t->pos++;
}

static void skip_blanks(toml *t, bool lines)
{
    for (;;) {
        char c = peek(t);
        if (t->pos >= t->len)
            return;
        if (c == '#')
            while (t->pos < t->len && peek(t) != '\n')
                next(t);
        else if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n'))
            next(t);
        else
            return;
    }
}

static ap_node *new_node(toml *t, ap_node_kind kind)
{
    if (++t->nodes > MAX_NODES)
        fail(t, "too many values");
    ap_node *node = AP_NEW(t->arena, ap_node);
    node->kind = kind;
    node->pos = here(t);
    return node;
}

/* Members are added one by one; room is doubled at powers of two. */
static ap_node *put(toml *t, ap_node *map, const char *key, ap_pos pos, ap_node *value)
{
    size_t n = map->as.map.count;
    if ((n & (n - 1)) == 0) {
        ap_pair *pairs = AP_NEW_ARRAY(t->arena, ap_pair, n ? 2 * n : 1);
        if (n)
            memcpy(pairs, map->as.map.pairs, n * sizeof *pairs);
        map->as.map.pairs = pairs;
    }
    map->as.map.pairs[map->as.map.count++] = (ap_pair){key, pos, value};
    return value;
}

static void push(toml *t, ap_node *list, ap_node *value)
{
    size_t n = list->as.list.count;
    if ((n & (n - 1)) == 0) {
        ap_node **items = AP_NEW_ARRAY(t->arena, ap_node *, n ? 2 * n : 1);
        if (n)
            memcpy(items, list->as.list.items, n * sizeof *items);
        list->as.list.items = items;
    }
    list->as.list.items[list->as.list.count++] = value;
}

static void read_escape(toml *t, ap_sbuf *out)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    next(t);
    char c = peek(t);
    const char *found = c ? strchr(from, c) : NULL;
    if (found)
        ap_sbuf_add_char(out, to[found - from]);
    else if (c == 'u' || c == 'U')
        ap_sbuf_add_char(out, '?'); /* no value that matters here has one */
    else
        fail(t, "unknown escape in a string");
    next(t);
}

static const char *read_string(toml *t)
{
    char quote = peek(t);
    bool three = t->pos + 2 < t->len && t->text[t->pos + 1] == quote && t->text[t->pos + 2] == quote;
    ap_sbuf out;
    ap_sbuf_init(&out, t->arena);
    for (int i = 0; i < (three ? 3 : 1); i++)
        next(t);
    while (t->pos < t->len && !t->failed) {
        char c = peek(t);
        bool ends = c == quote &&
                    (!three || (t->pos + 2 < t->len && t->text[t->pos + 1] == quote && t->text[t->pos + 2] == quote));
        if (ends) {
            for (int i = 0; i < (three ? 3 : 1); i++)
                next(t);
            return out.text ? out.text : "";
        }
        if (c == '\n' && !three)
            break;
        if (c == '\\' && quote == '"') {
            read_escape(t, &out);
            continue;
        }
        if (c)
            ap_sbuf_add_char(&out, c);
        next(t);
    }
    fail(t, "a string does not end");
    return "";
}

static const char *read_key_part(toml *t)
{
    char c = peek(t);
    if (c == '"' || c == '\'')
        return read_string(t);
    size_t start = t->pos;
    while (isalnum((unsigned char)peek(t)) || peek(t) == '_' || peek(t) == '-')
        next(t);
    if (t->pos == start)
        fail(t, "expected a key");
    return ap_arena_strndup(t->arena, t->text + start, t->pos - start);
}

static ap_node *read_value(toml *t, int depth);

/* The table a dotted key leads to; its last part goes to ret_key. */
static ap_node *walk(toml *t, ap_node *table, const char **ret_key, ap_pos *ret_pos)
{
    for (int depth = 0; depth < MAX_DEPTH && !t->failed; depth++) {
        skip_blanks(t, false);
        *ret_pos = here(t);
        *ret_key = read_key_part(t);
        skip_blanks(t, false);
        if (peek(t) != '.')
            return table;
        next(t);
        ap_node *inner = ap_node_get(table, *ret_key);
        if (inner && inner->kind == AP_NODE_LIST && inner->as.list.count > 0)
            inner = inner->as.list.items[inner->as.list.count - 1];
        if (!inner)
            inner = put(t, table, *ret_key, *ret_pos, new_node(t, AP_NODE_MAP));
        if (inner->kind != AP_NODE_MAP)
            fail(t, "a key is used both as a value and as a table");
        table = inner;
    }
    fail(t, "a key has too many parts");
    return table;
}

static void read_pair(toml *t, ap_node *table, int depth)
{
    const char *key;
    ap_pos pos;
    table = walk(t, table, &key, &pos);
    if (t->failed)
        return;
    if (peek(t) != '=') {
        fail(t, "expected = behind the key");
        return;
    }
    next(t);
    skip_blanks(t, false);
    if (ap_node_get(table, key)) {
        fail(t, "the key is set twice");
        return;
    }
    ap_node *value = read_value(t, depth);
    if (value && table->kind == AP_NODE_MAP)
        put(t, table, key, pos, value);
}

static ap_node *read_list(toml *t, int depth)
{
    ap_node *list = new_node(t, AP_NODE_LIST);
    next(t);
    for (;;) {
        skip_blanks(t, true);
        if (peek(t) == ']') {
            next(t);
            return list;
        }
        ap_node *item = read_value(t, depth + 1);
        if (t->failed || !item)
            return list;
        push(t, list, item);
        skip_blanks(t, true);
        if (peek(t) == ',')
            next(t);
        else if (peek(t) != ']') {
            fail(t, "expected , or ] in a list");
            return list;
        }
    }
}

static ap_node *read_inline_table(toml *t, int depth)
{
    ap_node *map = new_node(t, AP_NODE_MAP);
    next(t);
    for (;;) {
        skip_blanks(t, true);
        if (peek(t) == '}') {
            next(t);
            return map;
        }
        read_pair(t, map, depth + 1);
        skip_blanks(t, true);
        if (t->failed)
            return map;
        if (peek(t) == ',')
            next(t);
        else if (peek(t) != '}') {
            fail(t, "expected , or } in a table");
            return map;
        }
    }
}

static ap_node *read_value(toml *t, int depth)
{
    char c = peek(t);
    if (depth > MAX_DEPTH) {
        fail(t, "nested too deeply");
        return NULL;
    }
    if (c == '[')
        return read_list(t, depth);
    if (c == '{')
        return read_inline_table(t, depth);
    ap_node *node = new_node(t, AP_NODE_SCALAR);
    if (c == '"' || c == '\'') {
        node->quoted = true;
        node->text = read_string(t);
        return node;
    }
    size_t start = t->pos;
    while (t->pos < t->len && !strchr(",]}#\n\r", peek(t)))
        next(t);
    size_t end = t->pos;
    while (end > start && isspace((unsigned char)t->text[end - 1]))
        end--;
    if (end == start || memchr(t->text + start, 0, end - start))
        fail(t, "expected a value");
    node->text = ap_arena_strndup(t->arena, t->text + start, end - start);
    if (strpbrk(node->text, " \t") && !strchr(node->text, ':')) /* a date and a time may be parted by a blank */
        fail(t, "a value with a blank in it needs quotes");
    return node;
}

static ap_node *read_header(toml *t, ap_node *root)
{
    const char *key;
    ap_pos pos;
    next(t);
    bool array = peek(t) == '[';
    if (array)
        next(t);
    ap_node *table = walk(t, root, &key, &pos);
    for (int i = 0; i < (array ? 2 : 1) && !t->failed; i++) {
        if (peek(t) != ']')
            fail(t, "expected ] behind a table's name");
        next(t);
    }
    if (t->failed)
        return root;
    ap_node *found = ap_node_get(table, key);
    if (array) {
        if (!found)
            found = put(t, table, key, pos, new_node(t, AP_NODE_LIST));
        if (found->kind != AP_NODE_LIST) {
            fail(t, "a key is used both as a table and as a list of tables");
            return root;
        }
        ap_node *item = new_node(t, AP_NODE_MAP);
        push(t, found, item);
        return item;
    }
    if (!found)
        found = put(t, table, key, pos, new_node(t, AP_NODE_MAP));
    if (found->kind != AP_NODE_MAP)
        fail(t, "a key is used both as a value and as a table");
    return found->kind == AP_NODE_MAP ? found : root;
}

const ap_node *ap_toml_parse(const char *text, size_t len, const char *name, ap_arena *arena, ap_diags *diags)
{
    toml t = {.text = text, .len = len, .line = 1, .name = name, .arena = arena, .diags = diags};
    ap_node *root = new_node(&t, AP_NODE_MAP), *table = root;
    for (;;) {
        skip_blanks(&t, true);
        if (t.pos >= t.len || t.failed)
            break;
        if (peek(&t) == '[')
            table = read_header(&t, root);
        else
            read_pair(&t, table, 0);
        skip_blanks(&t, false);
        if (!t.failed && t.pos < t.len && peek(&t) != '\n')
            fail(&t, "expected the end of the line");
    }
    return t.failed ? NULL : root;
}
