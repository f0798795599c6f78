/* Assumptions that rules make: assume(FIELD, VALUE) for a field of the workload document that nobody gave. */
#include <math.h>
#include <string.h>

#include "cli/job.h"
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

static bool take(ap_cli *cli, ap_workload *workload, const ap_rule_assumption *item, ap_status *status)
{
    size_t offset;
    const ap_field *field = ap_schema_find(&ap_workload_object, item->field, &offset);
    if (field && !is_absent(workload, field, offset))
        return false;
    /* An unknown field or value is reported by the setter, located in the rule's name. */
    ap_pos pos = {.file = ap_arena_printf(cli->arena, "rule %s", item->id)};
    ap_status set = ap_schema_set(&ap_workload_object, workload, item->field, item->value, pos, cli->arena, &cli->diags);
    if (set != AP_OK)
        *status = set;
    return set == AP_OK;
}

ap_status ap_cli_assume(ap_cli *cli, ap_cli_job *job)
{
    const ap_rule_assumption *items;
    size_t count = ap_reasons_assumptions(job->search.reasons, &items), taken = 0, kept = cli->diags.count;
    bool *used = AP_NEW_ARRAY(cli->arena, bool, count + 1);
    ap_status status = AP_OK;
    for (size_t i = 0; i < count; i++) {
        used[i] = take(cli, &job->workload, &items[i], &status);
        taken += used[i] ? 1 : 0;
    }
    if (status != AP_OK || taken == 0)
        return status;
    job->job = (ap_job){0};
    status = ap_job_resolve(&job->workload, job->search.catalog, job->dir, cli->arena, &cli->diags, &job->job);
    if (status != AP_OK)
        return status;
    cli->diags.count = kept; /* its warnings were given the first time */
    for (size_t i = 0; i < count; i++)
        if (used[i])
            ap_job_assume(&job->job, items[i].field, ap_arena_printf(cli->arena, "%s: %s", items[i].id, items[i].message), "%s", items[i].value);
    job->search.reasons = NULL;
    ap_search_init(&job->search);
    return AP_OK;
}
