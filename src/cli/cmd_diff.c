/* diff: what a change of job files does to time, cost, memory and energy. */
#include <string.h>

#include "cli/job.h"
#include "estimate/calibration.h"
#include "io/file.h"
#include "io/json.h"
#include "jobs/jobs.h"
#include "view/check.h"

enum { MAX_JSON_BYTES = 64 << 20 };

typedef struct side {
    ap_diff_side *items;
    size_t count, capacity;
    size_t errors, warnings; /* findings, where the side was read from job files */
} side;

/* -- saved answers
 * -------------------------------------------------------------------------------------------------------------- */

static ap_value *value_of(ap_arena *arena, const cJSON *json)
{
    const cJSON *item;
    if (cJSON_IsBool(json))
        return ap_value_bool(arena, cJSON_IsTrue(json));
    if (cJSON_IsNumber(json))
        return ap_value_num(arena, json->valuedouble);
    if (cJSON_IsString(json))
        return ap_value_text(arena, json->valuestring);
    if (cJSON_IsArray(json)) {
        ap_value *list = ap_value_list(arena);
        cJSON_ArrayForEach(item, json) ap_value_push(arena, list, value_of(arena, item));
        return list;
    }
    if (cJSON_IsObject(json)) {
        ap_value *map = ap_value_map(arena);
        cJSON_ArrayForEach(item, json)
            ap_value_put(arena, map, ap_arena_strdup(arena, item->string), value_of(arena, item));
        return map;
    }
    return ap_value_null(arena);
}

static void add_saved(ap_arena *arena, const cJSON *list, const char *id_key, const char *result_key, side *ret)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *id = cJSON_GetObjectItemCaseSensitive(item, id_key),
                    *result = result_key ? cJSON_GetObjectItemCaseSensitive(item, result_key) : item;
        ap_diff_side *entry = AP_PUSH(arena, ret->items, ret->count, ret->capacity);
        *entry = (ap_diff_side){.id = cJSON_IsString(id) ? ap_arena_strdup(arena, id->valuestring) : "job",
                                .result = cJSON_IsObject(result) ? value_of(arena, result) : NULL};
    }
}

/* Is the file a saved answer of ours? Then its results are the side. */
static bool read_saved(ap_cli *cli, const char *path, side *ret)
{
    char *text;
    size_t len;
    ap_diags quiet;
    AP_SCOPED_JSON *root = NULL;
    ap_diags_init(&quiet, cli->arena);
    if (!ap_ends_with(path, ".json") || ap_file_read(path, MAX_JSON_BYTES, cli->arena, &quiet, &text, &len) != AP_OK ||
        ap_json_parse(text, len, path, &quiet, &root) != AP_OK)
        return false;
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(root, "kind"),
                *version = cJSON_GetObjectItemCaseSensitive(root, "schema_version");
    if (!cJSON_IsString(kind) || !version)
        return false;
    if (strcmp(kind->valuestring, "check") == 0)
        add_saved(cli->arena, cJSON_GetObjectItemCaseSensitive(root, "jobs"), "id", "estimate", ret);
    else if (strcmp(kind->valuestring, "diff") == 0)
        add_saved(cli->arena, cJSON_GetObjectItemCaseSensitive(root, "jobs"), "id", "new", ret);
    else if (strcmp(kind->valuestring, "estimate") == 0 || strcmp(kind->valuestring, "recommendation") == 0)
        add_saved(cli->arena, cJSON_GetObjectItemCaseSensitive(root, "results"), "target", NULL, ret);
    else
        return false;
    return true;
}

/* -- job files
 * ------------------------------------------------------------------------------------------------------------------ */

/* Ids below a folder are told without the folder, so that two checkouts compare. */
static const char *relative(const char *id, const char *folder)
{
    size_t len = strlen(folder);
    while (len > 1 && folder[len - 1] == '/')
        len--;
    if (strncmp(folder, "./", 2) == 0) {
        folder += 2;
        len -= 2;
    }
    return strncmp(id, folder, len) == 0 && id[len] == '/' ? id + len + 1 : id;
}

static ap_status read_side(ap_cli *cli, const ap_jobs_request *base, const char *path, side *ret)
{
    if (read_saved(cli, path, ret))
        return AP_OK;
    ap_jobs_request *request = AP_NEW(cli->arena, ap_jobs_request);
    const char **paths = AP_NEW_ARRAY(cli->arena, const char *, 1);
    ap_jobs jobs;
    paths[0] = path;
    *request = *base;
    request->paths = paths;
    request->path_count = 1;
    ap_status status = ap_jobs_check(request, cli->arena, &cli->diags, &jobs);
    ap_check_count count;
    const ap_doc *doc = ap_view_check(cli->arena, &jobs, base->catalog, NULL, &count);
    const ap_value *list = ap_value_at(doc->root, "jobs");
    for (size_t i = 0; i < jobs.job_count; i++) {
        const ap_value *estimate = ap_value_at(list->as.list.items[i], "estimate");
        *AP_PUSH(cli->arena, ret->items, ret->count, ret->capacity) = (ap_diff_side){
            .id = relative(jobs.jobs[i]->id, path), .result = estimate && estimate->kind == AP_V_MAP ? estimate : NULL};
    }
    ret->errors = count.errors;
    ret->warnings = count.warnings;
    return status;
}

static size_t pair_up(ap_cli *cli, const side *old, const side *new, ap_diff_pair **ret)
{
    ap_diff_pair *pairs = NULL;
    size_t count = 0, capacity = 0;
    bool *taken = AP_NEW_ARRAY(cli->arena, bool, new->count + 1);
    if (old->count == 1 && new->count == 1) { /* two files: whatever they are called */
        *AP_PUSH(cli->arena, pairs, count, capacity) =
            (ap_diff_pair){new->items[0].id, old->items[0].result, new->items[0].result};
        *ret = pairs;
        return count;
    }
    for (size_t i = 0; i < old->count; i++) {
        ap_diff_pair pair = {old->items[i].id, old->items[i].result, NULL};
        for (size_t k = 0; k < new->count; k++)
            if (!taken[k] && strcmp(old->items[i].id, new->items[k].id) == 0) {
                taken[k] = true;
                pair.new = new->items[k].result;
                break;
            }
        *AP_PUSH(cli->arena, pairs, count, capacity) = pair;
    }
    for (size_t k = 0; k < new->count; k++)
        if (!taken[k])
            *AP_PUSH(cli->arena, pairs, count, capacity) = (ap_diff_pair){new->items[k].id, NULL, new->items[k].result};
    *ret = pairs;
    return count;
}

static bool over_bound(const ap_cli *cli, const side *new)
{
    double max_cost = ap_cli_number(cli, AP_O_MAX_COST), max_hours = ap_cli_number(cli, AP_O_MAX_HOURS);
    for (size_t i = 0; i < new->count; i++) {
        const ap_value *cost = new->items[i].result ? ap_value_at(new->items[i].result, "cost_usd.p50") : NULL;
        const ap_value *hours = new->items[i].result ? ap_value_at(new->items[i].result, "time_h.p50") : NULL;
        if ((cost && cost->kind == AP_V_NUM && cost->as.number > max_cost) ||
            (hours && hours->kind == AP_V_NUM && hours->as.number > max_hours))
            return true;
    }
    return false;
}

static ap_status run(ap_cli *cli)
{
    const ap_catalog *catalog;
    const ap_calibration *calibration;
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status == AP_OK)
        status = ap_cli_calibration(cli, &calibration);
    if (status != AP_OK)
        return status;
    ap_jobs_request base = {.catalog = catalog,
                            .calibration = calibration,
                            .estimate = true,
                            .max_cost_usd = AP_UNKNOWN,
                            .max_hours = AP_UNKNOWN};
    side old = {0}, new = {0};
    ap_status first = read_side(cli, &base, cli->operands[0], &old),
              second = read_side(cli, &base, cli->operands[1], &new);
    ap_diff_pair *pairs;
    size_t count = pair_up(cli, &old, &new, &pairs);
    status = ap_cli_write_doc(cli, ap_view_diff(cli->arena, catalog, pairs, count));
    if (status != AP_OK)
        return status;
    if (first != AP_OK || second != AP_OK)
        return first > second ? first : second;
    const char *level = ap_cli_text_or(cli, AP_O_FAIL_ON, "error");
    bool worse = strcmp(level, "never") != 0 &&
                 (new.errors > old.errors || (strcmp(level, "warning") == 0 && new.warnings > old.warnings));
    return worse || over_bound(cli, &new) ? AP_FINDINGS : AP_OK;
}

static const ap_example examples[] = {
    {"diff tests/jobs/001-slurm-lora-one-card tests/jobs/009-slurm-constraint-smallest-card --fail-on never",
     "two versions of a folder"},
};

const ap_command ap_cmd_diff = {
    .name = "diff",
    .synopsis = "OLD NEW",
    .summary = "change of time, cost, memory and energy between two versions of jobs",
    .description = "OLD and NEW are job files, folders (two checkouts), workloads, or JSON answers of check, estimate "
                   "or diff that were saved. In\n"
                   "folders, jobs are compared that have the same relative path. Exit code 1 says that NEW has more "
                   "findings at or above --fail-on\n"
                   "than OLD, or exceeds --max-cost or --max-hours.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_OUTPUT | AP_G_CHECK | AP_G_BOUNDS | AP_G_DATA,
    .min_operands = 2,
    .max_operands = 2,
    .operand = "OLD NEW",
    .values = "files",
    .run = run,
};
