/* A baseline: the findings of an earlier JSON answer of check are silenced. */
#ifndef AP_JOBS_BASELINE_H
#define AP_JOBS_BASELINE_H

#include "jobs/jobs.h"

/* Marks every finding that `path` (an answer of check --json) has too: same id, same file, same message, whatever the
 * line. AP_IO, or AP_BAD_INPUT when the file is no such answer. */
AP_CHECKED ap_status ap_jobs_apply_baseline(ap_jobs *jobs, const char *path, ap_diags *diags);

#endif
