/* Documents of check and diff. */
#ifndef AP_VIEW_CHECK_H
#define AP_VIEW_CHECK_H

#include "jobs/jobs.h"
#include "report/doc.h"

typedef struct ap_check_count {
    size_t jobs, errors, warnings, notes, suppressed;
} ap_check_count;

ap_doc *ap_view_check(ap_arena *arena, const ap_jobs *jobs, const ap_catalog *catalog, ap_check_count *ret_count);

#endif
