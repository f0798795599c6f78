/* Full breakdown of given targets, side by side when several. */
#include "base/num.h"
#include "view/view.h"

static const ap_column columns[] = {
    {.title = "Target", .path = "target", .priority = 1, .flexible = true},
    {.title = "Hardware", .path = "label.hardware", .priority = 3, .flexible = true},
    {.title = "Step", .path = "step_time_s.p50", .low_path = "step_time_s.p10", .high_path = "step_time_s.p90",
     .format = AP_CELL_SECONDS, .priority = 2, .right = true},
    {.title = "Time", .path = "time_h.p50", .low_path = "time_h.p10", .high_path = "time_h.p90", .format = AP_CELL_HOURS,
     .priority = 1, .right = true},
    {.title = "Cost USD", .path = "cost_usd.p50", .low_path = "cost_usd.p10", .high_path = "cost_usd.p90",
     .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "Memory GiB", .path = "memory.peak_gib", .priority = 2, .right = true},
    {.title = "of", .path = "memory.capacity_gib", .priority = 2, .right = true},
    {.title = "Fit", .path = "memory.verdict", .priority = 1},
    {.title = "MFU", .path = "mfu", .format = AP_CELL_PERCENT, .priority = 4, .right = true},
    {.title = "Bound by", .path = "bottleneck", .priority = 5},
    {.title = "kWh", .path = "energy_kwh", .priority = 6, .right = true},
    {.title = "Basis", .path = "estimate_basis", .priority = 4},
};
static const ap_column term_columns[] = {
    {.title = "Of a step", .path = "term", .priority = 1, .flexible = true},
    {.title = "Time", .path = "seconds", .format = AP_CELL_SECONDS, .priority = 1, .right = true},
    {.title = "Formula", .path = "formula", .priority = 2},
};
static const ap_column memory_columns[] = {
    {.title = "Memory of one chip", .path = "item", .priority = 1, .flexible = true},
    {.title = "GiB", .path = "gib", .priority = 1, .right = true},
    {.title = "Formula", .path = "formula", .priority = 2},
};
static const ap_column assumed_columns[] = {
    {.title = "Chosen", .path = "field", .priority = 1},
    {.title = "Value", .path = "value", .priority = 1, .right = true},
};

#define MOST_NOTES 5

#define COLUMNS(table) (table), sizeof(table) / sizeof *(table)

static ap_value *chosen_value(ap_arena *arena, const ap_estimate *est)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < est->assumed_count; i++) {
        ap_value *item = ap_value_map(arena);
        ap_value_put(arena, item, "field", ap_value_text(arena, est->assumed[i]));
        ap_value_put(arena, item, "value", ap_value_num(arena, est->assumed_values[i]));
        ap_value_push(arena, list, item);
    }
    return list;
}

/* M-97 with this run's numbers. */
static void explain_batch(ap_doc *doc, const ap_job *job, const ap_plan *plan)
{
    double factor = plan->run.batch_factor;
    if (!ap_known(job->target_batch) || !ap_known(plan->run.hours_p50) || fabs(factor - 1) < 1e-9)
        return;
    ap_doc_paragraph(doc, "Batch (M-97): the schedule was published with %.0f samples a step. With %.0f it takes (1 + %.0f/%.0f) / (1 + %.0f/%.0f) = "
                          "%.3f times its samples (%s).",
                     job->target_batch, plan->global_batch, plan->global_batch, job->critical_batch, job->target_batch,
                     job->critical_batch, factor, job->batch_law);
}

static void add_breakdown(ap_doc *doc, const ap_value *value, const ap_result *result, const ap_view_options *options,
                          const ap_search *search)
{
    const ap_estimate *est = &result->plan->est;
    size_t most = options->explain || options->wide ? 0 : MOST_NOTES;
    if (est->error) {
        ap_doc_paragraph(doc, "%s: no estimate, %s.", result->target, est->error);
        return;
    }
    ap_doc_heading(doc, result->target);
    ap_doc_table(doc, ap_value_at(value, "terms"), COLUMNS(term_columns));
    ap_doc_table(doc, ap_value_at(value, "memory.items"), COLUMNS(memory_columns));
    ap_view_bill(doc, value, result, search->options->as_of);
    if (options->explain)
        explain_batch(doc, search->job, result->plan);
    if (est->verdict == AP_DOES_NOT_FIT)
        ap_doc_paragraph(doc, "Does not fit: %.1f GiB needed, %.1f GiB there.", est->peak_bytes / 1073741824.0,
                         est->capacity_bytes / 1073741824.0);
    ap_view_findings(doc, (ap_findings_view){"Notes", -1, most}, &result->reasons);
    ap_view_findings(doc, (ap_findings_view){"Beware", -1, most}, &result->warnings);
    if (options->explain && est->assumed_count) {
        ap_doc_heading(doc, "Chosen by the estimator because nothing was said");
        ap_doc_table(doc, chosen_value(doc->arena, est), COLUMNS(assumed_columns));
    }
}

ap_doc *ap_view_estimate(ap_arena *arena, const ap_search *search, const ap_result *results, size_t count,
                         const ap_view_options *options)
{
    const ap_job *job = search->job;
    ap_doc *doc = ap_view_begin(arena, "estimate", search->catalog);
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < count; i++)
        ap_value_push(arena, list, ap_view_result(arena, job, &results[i]));
    ap_value_put(arena, doc->root, "workload", ap_view_workload(arena, job));
    ap_value_put(arena, doc->root, "assumptions", ap_view_assumptions(arena, job));
    ap_value_put(arena, doc->root, "results", list);
    ap_block *table = ap_doc_table(doc, list, COLUMNS(columns));
    table->main = true;
    if (job->unknown_run)
        ap_doc_paragraph(doc, "Time and cost of the whole run are unknown: %s.", job->unknown_run);
    for (size_t i = 0; i < count; i++)
        add_breakdown(doc, list->as.list.items[i], &results[i], options, search);
    return doc;
}
