/* Documents of check and diff. */
#ifndef AP_VIEW_CHECK_H
#define AP_VIEW_CHECK_H

#include "jobs/jobs.h"
#include "report/doc.h"

typedef struct ap_check_count {
    size_t jobs, errors, warnings, notes, suppressed;
} ap_check_count;

typedef struct ap_check_options {
    bool findings_as_table; /* a table instead of lines as compilers print them */
} ap_check_options;

ap_doc *ap_view_check(ap_arena *arena, const ap_jobs *jobs, const ap_catalog *catalog, const ap_check_options *options,
                      ap_check_count *ret_count);

/* One side of a diff: a job's RESULT as JSON values, by its id. */
typedef struct ap_diff_side {
    const char *id;
    const ap_value *result; /* RESULT map, or NULL */
} ap_diff_side;
typedef struct ap_diff_pair {
    const char *id;
    const ap_value *old, *new;
} ap_diff_pair;

ap_doc *ap_view_diff(ap_arena *arena, const ap_catalog *catalog, const ap_diff_pair *pairs, size_t count);

#endif
