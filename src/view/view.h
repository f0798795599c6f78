/* Views: results -> typed documents. They choose what is said, in which words and order; they print and compute nothing
 * but sums of what is shown. Every document starts with the same head (ap_view_begin). */
#ifndef AP_VIEW_VIEW_H
#define AP_VIEW_VIEW_H

#include "plan/plan.h"
#include "report/doc.h"

typedef struct ap_view_options {
    size_t limit;        /* rows of the main table, 0 = all */
    bool build_all;      /* the document needs every row (machine formats, --sort), not just those shown */
    bool explain, why_not, wide;
    const ap_constraints *filter; /* lists: clouds, regions, chip globs, memory; NULL = all */
    const char *name_glob; /* lists: only names that match; NULL = all */
    const char *currency; /* NULL = USD */
    double rate;          /* units of currency per USD, 1 for USD */
    const char *as_of;    /* ages count from here, YYYY-MM-DD */
} ap_view_options;

/* Adds schema_version, kind, program version and catalog to the document. */
ap_doc *ap_view_begin(ap_arena *arena, const char *kind, const ap_catalog *catalog);

/* One RESULT of the contract. */
ap_value *ap_view_result(ap_arena *arena, const ap_job *job, const ap_result *result);
ap_value *ap_view_workload(ap_arena *arena, const ap_job *job);
ap_value *ap_view_assumptions(ap_arena *arena, const ap_job *job);
void ap_view_assumed(ap_doc *doc, const ap_job *job); /* the same as a sentence; nothing when nothing was assumed */

/* A heading and one bullet a finding; nothing when there are none. */
/* Those of the findings that speak for the hardware (`preferred` 1), that do not (0), or both (-1), as a list below a
 * heading; of more than `most` the rest is only counted (0 = all). */
typedef struct ap_findings_view {
    const char *title;
    int preferred;
    size_t most;
} ap_findings_view;
void ap_view_findings(ap_doc *doc, ap_findings_view view, const ap_findings *findings);
/* What a result costs, item by item, and where its price is from; `value` is its RESULT. `today`: ages count from there. */
void ap_view_bill(ap_doc *doc, const ap_value *value, const ap_result *result, const char *today);
/* What cannot run the job: a count, the nearest when nothing can, or with --why-not all by reason. */
void ap_view_rejections(ap_doc *doc, const ap_search *search, const ap_view_options *options);

ap_doc *ap_view_recommendation(ap_arena *arena, const ap_search *search, const ap_advice *advice, size_t advice_count,
                               const ap_view_options *options);
ap_doc *ap_view_estimate(ap_arena *arena, const ap_search *search, const ap_result *results, size_t count,
                         const ap_view_options *options);
/* kind: a plural of the contract ("chips" …). NULL when there is no such list. */
ap_doc *ap_view_list(ap_arena *arena, const ap_catalog *catalog, const char *kind, const ap_view_options *options);
/* Every value of one record with its source; NULL when the kind has no such record. */
ap_doc *ap_view_show(ap_arena *arena, const ap_catalog *catalog, const char *kind, const char *name);

#endif
