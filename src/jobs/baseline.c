#include "jobs/baseline.h"

#include <string.h>

#include "io/file.h"
#include "io/json.h"

enum { MAX_BASELINE_BYTES = 64 << 20 };

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

static bool is_known(const cJSON *old_jobs, const ap_jobfinding *finding)
{
    const cJSON *job, *item;
    cJSON_ArrayForEach(job, old_jobs) cJSON_ArrayForEach(
        item, cJSON_GetObjectItemCaseSensitive(
                  job, "findings")) if (ap_streq(text_of(item, "id"), finding->id) &&
                                        ap_streq(text_of(item, "file"), finding->pos.file) &&
                                        ap_streq(text_of(item, "message"), finding->message)) return true;
    return false;
}

ap_status ap_jobs_apply_baseline(ap_jobs *jobs, const char *path, ap_diags *diags)
{
    char *text;
    size_t len;
    AP_SCOPED_JSON *root = NULL;
    ap_status status = ap_file_read(path, MAX_BASELINE_BYTES, jobs->arena, diags, &text, &len);
    if (status == AP_OK)
        status = ap_json_parse(text, len, path, diags, &root);
    if (status != AP_OK)
        return status;
    const cJSON *old_jobs = cJSON_GetObjectItemCaseSensitive(root, "jobs");
    if (!ap_streq(text_of(root, "kind"), "check") || !cJSON_IsArray(old_jobs)) {
        ap_diag_add(diags, AP_ERROR, AP_CODE_WRONG_KIND, (ap_pos){path, 1, 1}, "this is no answer of check --json");
        return AP_BAD_INPUT;
    }
    for (size_t i = 0; i < jobs->job_count; i++)
        for (size_t k = 0; k < jobs->jobs[i]->findings.count; k++)
            if (is_known(old_jobs, &jobs->jobs[i]->findings.items[k]))
                jobs->jobs[i]->findings.items[k].suppressed = true;
    return AP_OK;
}
