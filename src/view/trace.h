/* An estimate explained: shapes, formulas with numbers, constants and their sources, bands (estimate --explain, explain
 * ID). */
#ifndef AP_VIEW_TRACE_H
#define AP_VIEW_TRACE_H

#include "estimate/trace.h"
#include "plan/plan.h"
#include "report/doc.h"

/* The whole explanation of a result, or with `formula` only what that formula has to do with. */
ap_value *ap_view_trace(ap_arena *arena, const ap_est_trace *trace, const ap_estimate *estimate, const char *formula);
/* What is chosen, and the products: before the terms. */
void ap_view_trace_shapes(ap_doc *doc, const ap_value *value);
/* Formulas with numbers and constants of one part ("work" "time" "memory" "run", NULL = all). */
void ap_view_trace_part(ap_doc *doc, const ap_value *value, const char *title, const char *part);
void ap_view_trace_bands(ap_doc *doc, const ap_value *value);
void ap_view_trace_constants(ap_doc *doc, const ap_value *value);
/* From the time of a step to the bands, of a result. */
void ap_view_explanation(ap_doc *doc, const ap_value *value, const ap_result *result, const ap_search *search);

#endif
