#include "prices/record.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"

/* ---- pointers ---------------------------------------------------------------------------------------------------- */

/* Decodes one reference token (~1 = /, ~0 = ~) up to the next slash; returns where it ended. */
static const char *take_token(const char *at, char *token, size_t size)
{
    size_t len = 0;
    while (*at && *at != '/') {
        char c = *at++;
        if (c == '~' && (*at == '0' || *at == '1'))
            c = *at++ == '0' ? '~' : '/';
        if (len + 1 < size)
            token[len++] = c;
    }
    token[len] = '\0';
    return at;
}

static const cJSON *child_of(const cJSON *node, const char *token)
{
    if (cJSON_IsObject(node))
        return cJSON_GetObjectItemCaseSensitive(node, token);
    if (!cJSON_IsArray(node) || !isdigit((unsigned char)token[0]) || (token[0] == '0' && token[1]))
        return NULL;
    int index = 0;
    for (const char *c = token; *c; c++) {
        if (!isdigit((unsigned char)*c) || index > 100000000)
            return NULL;
        index = index * 10 + (*c - '0');
    }
    return cJSON_GetArrayItem(node, index);
}

const cJSON *ap_json_pointer(const cJSON *node, const char *pointer)
{
    char token[256];
    while (node && *pointer == '/') {
        pointer = take_token(pointer + 1, token, sizeof token);
        node = child_of(node, token);
    }
    return *pointer ? NULL : node;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static ap_cell text_cell(const char *text)
{
    return text && *text ? (ap_cell){.kind = AP_CELL_TEXT, .text = text, .number = AP_UNKNOWN}
                         : (ap_cell){.kind = AP_CELL_NULL, .number = AP_UNKNOWN};
}

static ap_cell json_cell(const cJSON *node)
{
    ap_cell cell = {.kind = AP_CELL_OTHER, .number = AP_UNKNOWN, .node = node};
    if (!node)
        cell.kind = AP_CELL_MISSING;
    else if (cJSON_IsNull(node))
        cell.kind = AP_CELL_NULL;
    else if (cJSON_IsString(node))
        return text_cell(node->valuestring);
    else if (cJSON_IsNumber(node))
        cell = (ap_cell){.kind = AP_CELL_NUMBER, .number = node->valuedouble, .node = node};
    else if (cJSON_IsBool(node))
        cell = (ap_cell){.kind = AP_CELL_TEXT, .text = cJSON_IsTrue(node) ? "true" : "false", .number = AP_UNKNOWN};
    return cell;
}

static ap_cell csv_cell(const ap_record *record, const char *column)
{
    for (size_t i = 0; i < record->cell_count; i++)
        if (strcmp(record->columns[i], column) == 0)
            return text_cell(record->cells[i]);
    return (ap_cell){.kind = AP_CELL_MISSING, .number = AP_UNKNOWN};
}

static ap_cell template_cell(const ap_record *record, const char *where)
{
    ap_sbuf out;
    ap_sbuf_init(&out, record->arena);
    while (*where) {
        const char *open = strchr(where, '{'), *close = open ? strchr(open, '}') : NULL;
        if (!close) {
            ap_sbuf_add(&out, where);
            break;
        }
        ap_sbuf_add_len(&out, where, (size_t)(open - where));
        const char *value =
            ap_record_text(record, ap_arena_strndup(record->arena, open + 1, (size_t)(close - open - 1)));
        if (!value)
            return (ap_cell){.kind = AP_CELL_MISSING, .number = AP_UNKNOWN};
        ap_sbuf_add(&out, value);
        where = close + 1;
    }
    return text_cell(out.text);
}

ap_cell ap_record_cell(const ap_record *record, const char *where)
{
    if (!where)
        return (ap_cell){.kind = AP_CELL_MISSING, .number = AP_UNKNOWN};
    if (*where == '=')
        return text_cell(where + 1);
    if (strcmp(where, "$key") == 0)
        return text_cell(record->key);
    if (strcmp(where, "$part") == 0)
        return text_cell(record->part);
    if (strchr(where, '{'))
        return template_cell(record, where);
    if (record->columns)
        return csv_cell(record, where + (*where == '/'));
    size_t up = 0;
    for (; strncmp(where, "../", 3) == 0; where += 3)
        up++;
    if (up >= record->depth)
        return (ap_cell){.kind = AP_CELL_MISSING, .number = AP_UNKNOWN};
    const char *pointer = up ? ap_arena_printf(record->arena, "/%s", where) : where;
    return json_cell(ap_json_pointer(record->level[up], pointer));
}

const char *ap_record_text(const ap_record *record, const char *where)
{
    ap_cell cell = ap_record_cell(record, where);
    if (cell.kind == AP_CELL_TEXT)
        return cell.text;
    if (cell.kind != AP_CELL_NUMBER || !isfinite(cell.number))
        return NULL;
    char text[32];
    ap_num_format(cell.number, text);
    return ap_arena_strdup(record->arena, text);
}

/* "8", "8.0", "1/2". Text with anything else is no number. */
static double parse_number(ap_arena *arena, const char *text)
{
    double value, divisor;
    const char *slash = strchr(text, '/');
    if (slash)
        return ap_num_parse(ap_arena_strndup(arena, text, (size_t)(slash - text)), &value) &&
                       ap_num_parse(slash + 1, &divisor) && divisor > 0
                   ? value / divisor
                   : AP_UNKNOWN;
    return ap_num_parse(text, &value) ? value : AP_UNKNOWN;
}

double ap_record_number(const ap_record *record, const char *where)
{
    ap_cell cell = ap_record_cell(record, where);
    if (cell.kind == AP_CELL_TEXT)
        return parse_number(record->arena, cell.text);
    return cell.kind == AP_CELL_NUMBER ? cell.number : AP_UNKNOWN;
}

static bool holds_any(const char *text, const ap_strings *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (strstr(text, parts->items[i]))
            return true;
    return false;
}

static bool passes(const ap_record *record, const ap_price_test *test)
{
    ap_cell cell = ap_record_cell(record, test->value);
    bool present = cell.kind != AP_CELL_MISSING && cell.kind != AP_CELL_NULL;
    if (test->present >= 0 && present != (test->present == 1))
        return false;
    if (ap_known(test->above) && !(ap_record_number(record, test->value) > test->above))
        return false;
    const char *text = ap_record_text(record, test->value);
    text = text ? text : "";
    bool equal = test->equals.count == 0, starts = test->starts.count == 0;
    for (size_t i = 0; i < test->equals.count && !equal; i++)
        equal = strcmp(text, test->equals.items[i]) == 0;
    for (size_t i = 0; i < test->starts.count && !starts; i++)
        starts = ap_starts_with(text, test->starts.items[i]);
    bool contains = test->contains.count == 0 || holds_any(text, &test->contains);
    return equal && starts && contains && !holds_any(text, &test->lacks);
}

bool ap_record_passes(const ap_record *record, const ap_price_test *tests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!passes(record, &tests[i]))
            return false;
    return true;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

typedef struct walk {
    ap_record *record;
    void (*each)(void *context, const ap_record *record);
    void *context;
    const cJSON *chain[AP_RECORD_DEPTH]; /* root first */
    const char *key;
} walk;

static void found(walk *w, size_t depth)
{
    w->record->depth = depth;
    for (size_t i = 0; i < depth; i++)
        w->record->level[i] = w->chain[depth - 1 - i];
    w->record->key = w->key;
    w->each(w->context, w->record);
}

static bool descend(walk *w, const cJSON *node, const char *path, size_t depth)
{
    char token[256];
    if (!node || depth >= AP_RECORD_DEPTH)
        return false;
    w->chain[depth] = node;
    if (!*path) {
        found(w, depth + 1);
        return true;
    }
    const char *rest = take_token(path + (*path == '/'), token, sizeof token);
    if (strcmp(token, "*") != 0)
        return descend(w, child_of(node, token), rest, depth + 1);
    if (!cJSON_IsArray(node) && !cJSON_IsObject(node))
        return false;
    const char *outer = w->key;
    for (const cJSON *child = node->child; child; child = child->next) {
        w->key = child->string ? child->string : outer;
        (void)descend(w, child, rest, depth + 1);
    }
    w->key = outer;
    return true;
}

bool ap_record_walk(const cJSON *root, const char *path, ap_record *record,
                    void (*each)(void *context, const ap_record *record), void *context)
{
    walk w = {.record = record, .each = each, .context = context};
    return descend(&w, root, path, 0);
}
