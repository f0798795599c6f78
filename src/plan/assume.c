/* Assumptions that rules make: assume(FIELD, VALUE) for a field of the workload document that nobody gave. */
#include <math.h>
#include <string.h>

#include "plan/reasons.h"

static bool is_absent(const ap_workload *workload, const ap_field *field, size_t offset)
{
    const unsigned char *at = (const unsigned char *)workload + offset;
    double number;
    int word;
    signed char flag;
    const void *pointer;
    switch (field->type) {
    case AP_T_NUM:
    case AP_T_INT:
        memcpy(&number, at, sizeof number);
        return isnan(number);
    case AP_T_ENUM:
        memcpy(&word, at, sizeof word);
        return word < 0;
    case AP_T_BOOL:
        memcpy(&flag, at, sizeof flag);
        return flag < 0;
    case AP_T_TEXT:
    case AP_T_ID:
        memcpy(&pointer, at, sizeof pointer);
        return pointer == NULL;
    default:
        return false; /* lists and mappings are the user's own */
    }
}

static bool take(const ap_rules_request *request, const ap_rule_assumption *item, ap_arena *arena, ap_status *status)
{
    size_t offset;
    const ap_field *field = ap_schema_find(&ap_workload_object, item->field, &offset);
    if (field && !is_absent(request->workload, field, offset))
        return false;
    /* An unknown field or value is reported by the setter, located in the rule's name. */
    ap_pos pos = {.file = ap_arena_printf(arena, "rule %s", item->id)};
    ap_status set = ap_schema_set(&ap_workload_object, request->workload, item->field, item->value, pos, arena, request->diags);
    if (set != AP_OK)
        *status = set;
    return set == AP_OK;
}

/* ret_taken: whether the job has changed. */
static ap_status assume(const ap_search *search, const ap_rules_request *request, bool *ret_taken)
{
    ap_arena *arena = search->arena;
    const ap_rule_assumption *items;
    size_t count = ap_reasons_assumptions(search->reasons, &items), kept = request->diags->count;
    bool *used = AP_NEW_ARRAY(arena, bool, count + 1);
    ap_status status = AP_OK;
    *ret_taken = false;
    for (size_t i = 0; i < count; i++) {
        used[i] = take(request, &items[i], arena, &status);
        *ret_taken = *ret_taken || used[i];
    }
    if (status != AP_OK || !*ret_taken)
        return status;
    status = ap_job_resolve(request->workload, search->catalog, request->dir, arena, request->diags, request->job);
    if (status != AP_OK)
        return status;
    request->diags->count = kept; /* its warnings were given the first time */
    for (size_t i = 0; i < count; i++)
        if (used[i])
            ap_job_assume(request->job, items[i].field, ap_arena_printf(arena, "%s: %s", items[i].id, items[i].message), "%s", items[i].value);
    return AP_OK;
}

ap_status ap_search_apply_rules(ap_search *search, const ap_rules_request *request)
{
    bool changed;
    search->reasons = ap_reasons_new(search, request->set, request->scope);
    ap_status status = assume(search, request, &changed);
    if (status != AP_OK || !changed)
        return status;
    ap_search_init_like(search, search, request->job);
    search->reasons = ap_reasons_new(search, request->set, request->scope);
    return AP_OK;
}
