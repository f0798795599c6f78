/* Fuzzes every reader of job files, and what follows: understanding, estimate, findings. The first byte chooses the
 * format (0 = recognise by content, under the name that the second byte chooses), the rest is the file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/calibration.h"
#include "jobs/jobs.h"
#include "view/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ap_arena *forever;
static ap_catalog *catalog;
static const ap_calibration *calibration;

static void judge(ap_jobs *jobs, const ap_jobs_request *request)
{
    for (size_t i = 0; i < jobs->file_count && i < 20; i++) {
        ap_checkjob *job = AP_NEW(jobs->arena, ap_checkjob);
        job->files = AP_NEW_ARRAY(jobs->arena, const ap_jobfile *, 1);
        job->files[0] = jobs->files[i];
        job->file_count = 1;
        job->format = jobs->files[i]->format;
        job->id = "fuzz";
        job->facts = jobs->files[i]->facts;
        ap_jobs_understand(request, jobs->arena, job);
        ap_jobs_find(request, jobs->arena, job);
        size_t capacity = jobs->job_capacity;
        *AP_PUSH(jobs->arena, jobs->jobs, jobs->job_count, capacity) = job;
        jobs->job_capacity = capacity;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a.yaml",
                                        "a.sh",
                                        "a.toml",
                                        "a.json",
                                        "a.ipynb",
                                        ".dstack.yml",
                                        "config_DGXA100_2x8x48x2.sh",
                                        "docker-compose.yml"};
    if (size < 2)
        return 0;
    if (!forever) {
        forever = ap_arena_new();
        catalog = ap_catalog_builtin(forever);
        calibration = ap_calibration_builtin(forever);
    }
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_diags_init(&diags, arena);
    ap_jobs_request request = {.catalog = catalog,
                               .calibration = calibration,
                               .estimate = true,
                               .max_cost_usd = AP_UNKNOWN,
                               .max_hours = AP_UNKNOWN};
    ap_jobs jobs = {.arena = arena, .request = &request};
    char *text = ap_arena_strndup(arena, (const char *)data + 2, size - 2);
    (void)ap_jobs_read_text(&jobs, names[data[1] % 8], text, size - 2, (ap_jobformat)(data[0] % AP_JF_COUNT), &diags);
    judge(&jobs, &request);
    ap_check_count count;
    (void)ap_view_check(arena, &jobs, catalog, NULL, &count);
    return 0;
}
