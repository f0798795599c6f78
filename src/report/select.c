#include "report/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/render.h"

typedef struct sort_key {
    const char *path;
    bool descending;
} sort_key;

/* qsort has no context argument in POSIX; each row carries what comparing needs. */
typedef struct sort_row {
    const sort_key *keys;
    const ap_value **values; /* one for each key */
    size_t key_count, place;
    ap_value *item;
} sort_row;

static bool is_unknown(const ap_value *value)
{
    return !value || value->kind == AP_V_NULL;
}

static double as_number(const ap_value *value)
{
    return value->kind == AP_V_INT ? (double)value->as.integer
                                   : (value->kind == AP_V_BOOL ? (double)value->as.boolean : value->as.number);
}

int ap_value_compare(const ap_value *a, const ap_value *b)
{
    if (is_unknown(a) || is_unknown(b))
        return (int)is_unknown(a) - (int)is_unknown(b);
    bool a_text = a->kind >= AP_V_TEXT, b_text = b->kind >= AP_V_TEXT;
    if (a_text != b_text)
        return (int)a_text - (int)b_text;
    if (a->kind == AP_V_TEXT && b->kind == AP_V_TEXT)
        return strcmp(a->as.text, b->as.text);
    if (a_text)
        return 0; /* lists and maps have no order */
    double x = as_number(a), y = as_number(b);
    return (x > y) - (x < y);
}

static int compare_rows(const void *left, const void *right)
{
    const sort_row *a = left, *b = right;
    for (size_t i = 0; i < a->key_count; i++) {
        int order = ap_value_compare(a->values[i], b->values[i]);
        if (order != 0)
            return a->keys[i].descending && !is_unknown(a->values[i]) && !is_unknown(b->values[i]) ? -order : order;
    }
    return (a->place > b->place) - (a->place < b->place);
}

static ap_status read_key(ap_arena *arena, const char *text, sort_key *ret_key, ap_diags *diags)
{
    const char *colon = strchr(text, ':');
    *ret_key = (sort_key){.path = colon ? ap_arena_strndup(arena, text, (size_t)(colon - text)) : text};
    if (!colon || ap_streq(colon, ":asc"))
        return AP_OK;
    ret_key->descending = true;
    if (ap_streq(colon, ":desc"))
        return AP_OK;
    ap_diag_add(diags, AP_ERROR, 61, AP_NO_POS, "--sort: '%s' is no direction", colon + 1)->hint = "write :asc or :desc";
    return AP_USAGE;
}

static ap_status check_key(ap_arena *arena, const ap_value *list, const char *path, ap_diags *diags)
{
    for (size_t i = 0; i < list->as.list.count; i++)
        if (ap_value_at(list->as.list.items[i], path))
            return AP_OK;
    ap_suggest suggest;
    ap_suggest_init(&suggest, path);
    ap_leaf *leaves;
    size_t count = ap_value_leaves(arena, list->as.list.items[0], &leaves);
    for (size_t i = 0; i < count; i++)
        ap_suggest_offer(&suggest, leaves[i].path);
    ap_diag_add(diags, AP_ERROR, 61, AP_NO_POS, "--sort: there is no field '%s'", path)->hint =
        ap_suggest_text(&suggest, arena);
    return AP_USAGE;
}

ap_status ap_value_sort(ap_arena *arena, ap_value *list, const char *const *keys, size_t key_count, ap_diags *diags)
{
    size_t count = list->as.list.count;
    sort_key *parsed = AP_NEW_ARRAY(arena, sort_key, key_count);
    ap_status status = AP_OK;
    for (size_t i = 0; i < key_count; i++)
        if (read_key(arena, keys[i], &parsed[i], diags) != AP_OK ||
            (count && check_key(arena, list, parsed[i].path, diags) != AP_OK))
            status = AP_USAGE;
    if (status != AP_OK || key_count == 0 || count < 2)
        return status;
    sort_row *rows = AP_NEW_ARRAY(arena, sort_row, count);
    for (size_t i = 0; i < count; i++) {
        rows[i] = (sort_row){parsed, AP_NEW_ARRAY(arena, const ap_value *, key_count), key_count, i,
                             list->as.list.items[i]};
        for (size_t k = 0; k < key_count; k++)
            rows[i].values[k] = ap_value_at(rows[i].item, parsed[k].path);
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < count; i++)
        list->as.list.items[i] = rows[i].item;
    return AP_OK;
}
