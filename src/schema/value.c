/* Reading of single values: text, numbers, words and lists of them. */
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "schema/internal.h"

#define EXACT_INTEGER_MAX 9007199254740992.0 /* 2^53 */

static ap_diag *fail(ap_schema_loader *loader, int code, const ap_node *node, const char *key, const char *message)
{
    return ap_diag_add(loader->diags, AP_ERROR, code, node->pos, "%s: %s", key, message);
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static const char *join_words(ap_arena *arena, const char *const *words)
{
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    for (size_t i = 0; words[i]; i++)
        ap_sbuf_printf(&text, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    return text.text;
}

static void report_unknown_word(ap_schema_loader *loader, const ap_field *field, const ap_node *node)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, node->text);
    for (const char *const *word = field->names; *word; word++)
        ap_suggest_offer(&suggest, *word);
    ap_diag_add(loader->diags, AP_ERROR, AP_CODE_UNKNOWN_WORD, node->pos, "%s: unknown word '%s'; expected %s",
                field->key, node->text, join_words(loader->arena, field->names))
        ->hint = ap_suggest_text(&suggest, loader->diags->arena);
}

static bool expect_scalar(ap_schema_loader *loader, const ap_field *field, const ap_node *node, const char *expected)
{
    if (node->kind == AP_NODE_SCALAR)
        return true;
    ap_diag_add(loader->diags, AP_ERROR, AP_CODE_WRONG_KIND, node->pos, "%s: expected %s, found %s", field->key,
                expected, ap_node_kind_name(node));
    return false;
}

/* An element of a list cannot be "unknown". */
static bool expect_value(ap_schema_loader *loader, const ap_field *field, const ap_node *node, const char *expected)
{
    if (!ap_node_is_null(node))
        return expect_scalar(loader, field, node, expected);
    ap_diag_add(loader->diags, AP_ERROR, AP_CODE_NULL, node->pos, "%s: empty value; expected %s", field->key, expected);
    return false;
}

static void check_limits(ap_schema_loader *loader, const ap_field *field, const ap_node *node, double value)
{
    /* Both limits 0 mean no check (schema.h); the table sets them so, they are not computed. */
    bool unlimited = !(field->min < 0 || field->min > 0 || field->max < 0 || field->max > 0);
    if (unlimited || (value >= field->min && value <= field->max))
        return;
    ap_sbuf text;
    ap_sbuf_init(&text, loader->arena);
    ap_sbuf_printf(&text, "%s is out of range; expected ", node->text);
    ap_units_format(field->min, field->dim, &text);
    if (isfinite(field->max)) {
        ap_sbuf_add(&text, " to ");
        ap_units_format(field->max, field->dim, &text);
    } else {
        ap_sbuf_add(&text, " or more");
    }
    fail(loader, AP_CODE_OUT_OF_RANGE, node, field->key, text.text);
}

/* Quotes say "this is text". Where a unit makes the meaning plain, as in "80GB", they are forgiven. */
static bool refuse_quotes(ap_schema_loader *loader, const ap_field *field, const ap_node *node)
{
    if (!node->quoted || (field->type != AP_T_INT && field->dim != AP_DIM_NONE))
        return false;
    ap_diag_add(loader->diags, AP_ERROR, AP_CODE_WRONG_KIND, node->pos, "%s: expected %s, found quoted text '%s'",
                field->key, ap_dim_expected(field->dim), node->text)
        ->hint = "remove the quotes";
    return true;
}

static double load_number(ap_schema_loader *loader, const ap_field *field, const ap_node *node)
{
    double value;
    const char *reason;
    if (!expect_value(loader, field, node, ap_dim_expected(field->dim)) || refuse_quotes(loader, field, node))
        return AP_UNKNOWN;
    if (!ap_units_parse(node->text, field->dim, &value, loader->arena, &reason)) {
        fail(loader, AP_CODE_BAD_NUMBER, node, field->key, reason);
        return AP_UNKNOWN;
    }
    if (field->type == AP_T_INT && (value != trunc(value) || fabs(value) > EXACT_INTEGER_MAX)) {
        ap_diag_add(loader->diags, AP_ERROR, AP_CODE_BAD_NUMBER, node->pos, "%s: '%s' is not a whole number below 2^53",
                    field->key, node->text);
        return AP_UNKNOWN;
    }
    check_limits(loader, field, node, value);
    return value;
}

static ap_range load_range(ap_schema_loader *loader, const ap_field *field, const ap_node *node)
{
    ap_range range = {AP_UNKNOWN, AP_UNKNOWN};
    const char *reason;
    if (!expect_scalar(loader, field, node, "a range such as 1..8"))
        return range;
    if (!ap_range_parse(node->text, field->dim, &range, loader->arena, &reason)) {
        fail(loader, AP_CODE_BAD_NUMBER, node, field->key, reason);
        return (ap_range){AP_UNKNOWN, AP_UNKNOWN};
    }
    if (ap_known(range.low))
        check_limits(loader, field, node, range.low);
    if (ap_known(range.high) && !(range.high <= range.low))
        check_limits(loader, field, node, range.high);
    return range;
}

static signed char load_bool(ap_schema_loader *loader, const ap_field *field, const ap_node *node)
{
    static const char *const true_words[] = {"true", "True", "TRUE", NULL};
    static const char *const false_words[] = {"false", "False", "FALSE", NULL};
    static const char *const yes_words[] = {"yes", "on", "y", "1", NULL}, *const no_words[] = {"no", "off", "n", "0",
                                                                                               NULL};
    if (!expect_scalar(loader, field, node, "true or false"))
        return -1;
    if (!node->quoted && is_one_of(node->text, true_words))
        return 1;
    if (!node->quoted && is_one_of(node->text, false_words))
        return 0;
    const char *lower = ap_str_lower(loader->arena, node->text);
    ap_diag *diag = ap_diag_add(loader->diags, AP_ERROR, AP_CODE_UNKNOWN_WORD, node->pos,
                                "%s: expected true or false, found %s'%s'", field->key,
                                node->quoted ? "quoted text " : "", node->text);
    if (is_one_of(lower, yes_words))
        diag->hint = "write true";
    else if (is_one_of(lower, no_words))
        diag->hint = "write false";
    else if (node->quoted)
        diag->hint = "remove the quotes";
    return -1;
}

static int load_enum(ap_schema_loader *loader, const ap_field *field, const ap_node *node)
{
    if (!expect_scalar(loader, field, node, "a word"))
        return -1;
    for (int i = 0; field->names[i]; i++)
        if (strcmp(field->names[i], node->text) == 0)
            return i;
    report_unknown_word(loader, field, node);
    return -1;
}

static bool is_id(const char *text)
{
    return *text != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789._-")] == '\0';
}

static const char *load_text(ap_schema_loader *loader, const ap_field *field, const ap_node *node)
{
    if (!expect_scalar(loader, field, node, "text"))
        return NULL;
    if (field->type == AP_T_ID && !is_id(node->text)) {
        ap_diag_add(loader->diags, AP_ERROR, AP_CODE_BAD_ID, node->pos,
                    "%s: '%s' is not an id; expected lower-case letters, digits, '.', '_' and '-'", field->key,
                    node->text);
        return NULL;
    }
    if (field->names && !is_one_of(node->text, field->names)) {
        report_unknown_word(loader, field, node);
        return NULL;
    }
    return node->text;
}

/* How many members a list has; a single value counts as a list of one. */
static size_t count_members(ap_schema_loader *loader, const ap_field *field, const ap_node *node)
{
    if (node->kind != AP_NODE_MAP)
        return node->kind == AP_NODE_LIST ? node->as.list.count : 1;
    ap_diag_add(loader->diags, AP_ERROR, AP_CODE_WRONG_KIND, node->pos, "%s: expected a list, found a mapping",
                field->key);
    return 0;
}

static const ap_node *member(const ap_node *node, size_t i)
{
    return node->kind == AP_NODE_LIST ? node->as.list.items[i] : node;
}

static void load_texts(ap_schema_loader *loader, const ap_field *field, const ap_node *node, ap_strings *out)
{
    size_t count = count_members(loader, field, node);
    out->items = AP_NEW_ARRAY(loader->arena, const char *, count);
    for (size_t i = 0; i < count; i++) {
        const ap_node *item = member(node, i);
        const char *text = expect_value(loader, field, item, "text") ? load_text(loader, field, item) : NULL;
        if (text)
            out->items[out->count++] = text;
    }
}

static void load_numbers(ap_schema_loader *loader, const ap_field *field, const ap_node *node, ap_numbers *out)
{
    size_t count = count_members(loader, field, node);
    out->items = AP_NEW_ARRAY(loader->arena, double, count);
    for (size_t i = 0; i < count; i++) {
        double value = load_number(loader, field, member(node, i));
        if (ap_known(value))
            out->items[out->count++] = value;
    }
}

static bool expect_map(ap_schema_loader *loader, const ap_field *field, const ap_node *node)
{
    if (node->kind == AP_NODE_MAP)
        return true;
    ap_diag_add(loader->diags, AP_ERROR, AP_CODE_WRONG_KIND, node->pos, "%s: expected a mapping, found %s", field->key,
                ap_node_kind_name(node));
    return false;
}

static void load_text_map(ap_schema_loader *loader, const ap_field *field, const ap_node *node, ap_text_map *out)
{
    if (!expect_map(loader, field, node))
        return;
    out->items = AP_NEW_ARRAY(loader->arena, ap_text_pair, node->as.map.count);
    for (size_t i = 0; i < node->as.map.count; i++) {
        const ap_pair *pair = &node->as.map.pairs[i];
        if (expect_scalar(loader, field, pair->value, "text"))
            out->items[out->count++] = (ap_text_pair){pair->key, pair->value->text};
    }
}

static void load_objects(ap_schema_loader *loader, const ap_field *field, const ap_node *node, ap_any_list *out)
{
    if (node->kind != AP_NODE_LIST) {
        ap_diag_add(loader->diags, AP_ERROR, AP_CODE_WRONG_KIND, node->pos, "%s: expected a list of mappings, found %s",
                    field->key, ap_node_kind_name(node));
        return;
    }
    size_t size = field->object->size;
    out->count = node->as.list.count;
    out->items = ap_arena_alloc_array(loader->arena, out->count, size);
    for (size_t i = 0; i < out->count; i++)
        ap_schema_load_map(loader, field->object, node->as.list.items[i], ap_schema_at(out->items, i * size));
}

void ap_schema_load_value(ap_schema_loader *loader, const ap_field *field, const ap_node *node, void *base)
{
    void *at = ap_schema_at(base, field->offset);
    switch (field->type) {
    case AP_T_TEXT:
    case AP_T_ID:
        *(const char **)at = load_text(loader, field, node);
        break;
    case AP_T_NUM:
    case AP_T_INT:
        *(double *)at = load_number(loader, field, node);
        break;
    case AP_T_BOOL:
        *(signed char *)at = load_bool(loader, field, node);
        break;
    case AP_T_ENUM:
        *(int *)at = load_enum(loader, field, node);
        break;
    case AP_T_RANGE:
        *(ap_range *)at = load_range(loader, field, node);
        break;
    case AP_T_TEXTS:
        load_texts(loader, field, node, at);
        break;
    case AP_T_NUMS:
        load_numbers(loader, field, node, at);
        break;
    case AP_T_TEXT_MAP:
        load_text_map(loader, field, node, at);
        break;
    case AP_T_OBJECT:
        if (expect_map(loader, field, node))
            ap_schema_load_map(loader, field->object, node, at);
        break;
    case AP_T_OBJECTS:
        load_objects(loader, field, node, at);
        break;
    case AP_T_NODE:
        *(const ap_node **)at = node;
        break;
    case AP_T_POS:
        break;
    }
}
