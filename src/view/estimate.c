/* Full breakdown of given targets, side by side when several. */
#include <string.h>

#include "base/num.h"
#include "plan/explain.h"
#include "view/trace.h"
#include "view/view.h"

static const ap_column columns[] = {
    {.title = "Target", .path = "target", .priority = 1, .flexible = true},
    {.title = "Hardware", .path = "label.hardware", .priority = 6, .flexible = true},
    {.title = "Step", .path = "step_time_s.p50", .low_path = "step_time_s.p10", .high_path = "step_time_s.p90",
     .format = AP_CELL_SECONDS, .priority = 2, .right = true},
    {.title = "Time", .path = "time_h.p50", .low_path = "time_h.p10", .high_path = "time_h.p90", .format = AP_CELL_HOURS,
     .priority = 1, .right = true},
    {.title = "Cost USD", .path = "cost_usd.p50", .low_path = "cost_usd.p10", .high_path = "cost_usd.p90",
     .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "Memory GiB", .path = "memory.peak_gib", .priority = 5, .right = true},
    {.title = "of", .path = "memory.capacity_gib", .priority = 5, .right = true},
    {.title = "Fit", .path = "memory.verdict", .priority = 1},
    {.title = "Layout", .path = "label.layout", .priority = 3, .flexible = true},
    {.title = "MFU", .path = "mfu", .format = AP_CELL_PERCENT, .priority = 5, .right = true},
    {.title = "Bound by", .path = "bottleneck", .priority = 6},
    {.title = "kWh", .path = "energy_kwh", .priority = 7, .right = true},
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
#define MOST_NOTES 5

#define COLUMNS(table) (table), sizeof(table) / sizeof *(table)

/* How the work is split over the chips, in the words of the options that would ask for it. */
static void add_layout(ap_doc *doc, const ap_result *result)
{
    const ap_layout *l = &result->plan->est.layout;
    const ap_estimate *est = &result->plan->est;
    ap_sbuf text;
    ap_sbuf_init(&text, doc->arena);
    const struct { const char *name; double degree; } degrees[] = {{"tp", l->tp}, {"pp", l->pp}, {"vpp", l->vpp}, {"cp", l->cp}, {"ep", l->ep}};
    ap_sbuf_printf(&text, "Layout: dp %g", ap_or(l->dp, 1));
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (degrees[i].degree > 1)
            ap_sbuf_printf(&text, ", %s %g", degrees[i].name, degrees[i].degree);
    if (l->sharding >= 0)
        ap_sbuf_printf(&text, ", sharding %s", ap_sharding_names[l->sharding]);
    if (l->recompute >= 0)
        ap_sbuf_printf(&text, ", recomputation %s", ap_recompute_names[l->recompute]);
    ap_sbuf_printf(&text, "; a step of %.6g samples = dp %g x micro-batch %g x accumulation %g", est->samples_per_step, ap_or(l->dp, 1), l->micro_batch,
                   ap_or(l->accum, 1));
    if (result->plan->stack)
        ap_sbuf_printf(&text, "; software %s", result->plan->stack);
    if (result->plan->precision >= 0)
        ap_sbuf_printf(&text, ", %s", ap_precision_name((ap_precision)result->plan->precision));
    ap_doc_paragraph(doc, "%s.", text.text);
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

void ap_view_explanation(ap_doc *doc, const ap_value *explained, const ap_result *result, const ap_search *search)
{
    const ap_estimate *est = &result->plan->est;
    const ap_run_estimate *run = &result->plan->run;
    ap_view_trace_part(doc, explained, "Time of a step, formula by formula", "time");
    ap_doc_paragraph(doc, "Step: %.4g s (80 %% band %.4g to %.4g s).", est->step_s, est->step_s * exp(est->ln_low), est->step_s * exp(est->ln_high));
    ap_view_trace_part(doc, explained, "Memory of one chip, formula by formula", "memory");
    ap_view_trace_part(doc, explained, "The whole run, formula by formula", "run");
    if (ap_known(run->hours_p50) && ap_known(result->hours_p50) && result->hours_p50 > run->hours_p50)
        ap_doc_paragraph(doc, "With %.3g h before training starts (machine, image) the run takes %.4g h.", result->setup_h, result->hours_p50);
    explain_batch(doc, search->job, result->plan);
    ap_view_trace_constants(doc, explained);
    ap_view_trace_bands(doc, explained);
}

static void add_breakdown(ap_doc *doc, const ap_value *value, const ap_result *result, const ap_view_options *options,
                          const ap_search *search)
{
    const ap_estimate *est = &result->plan->est;
    const ap_value *explained = ap_value_at(value, "explanation");
    size_t most = options->explain || options->wide ? 0 : MOST_NOTES;
    if (est->error) {
        ap_doc_paragraph(doc, "%s: no estimate, %s.", result->target, est->error);
        return;
    }
    ap_doc_heading(doc, result->target);
    add_layout(doc, result);
    if (explained) {
        ap_view_trace_shapes(doc, explained);
        ap_view_trace_part(doc, explained, "Work", "work");
    }
    ap_doc_table(doc, ap_value_at(value, "terms"), COLUMNS(term_columns));
    ap_doc_table(doc, ap_value_at(value, "memory.items"), COLUMNS(memory_columns));
    if (explained)
        ap_view_explanation(doc, explained, result, search);
    ap_view_bill(doc, value, result, search->options->as_of);
    if (est->verdict == AP_DOES_NOT_FIT)
        ap_doc_paragraph(doc, "Does not fit: %.1f GiB needed, %.1f GiB there.", est->peak_bytes / 1073741824.0,
                         est->capacity_bytes / 1073741824.0);
    ap_view_findings(doc, (ap_findings_view){"Notes", -1, most}, &result->reasons);
    ap_view_findings(doc, (ap_findings_view){"Beware", -1, most}, &result->warnings);
}

/* Of several targets: what is wrong with each in a line, for their details are not shown. */
static void add_summary(ap_doc *doc, const ap_result *result)
{
    const ap_estimate *est = &result->plan->est;
    if (est->error) {
        ap_doc_paragraph(doc, "%s: no estimate, %s.", result->target, est->error);
        return;
    }
    ap_doc_heading(doc, result->target);
    add_layout(doc, result);
    if (est->verdict == AP_DOES_NOT_FIT)
        ap_doc_paragraph(doc, "Does not fit: %.1f GiB needed, %.1f GiB there.", est->peak_bytes / 1073741824.0, est->capacity_bytes / 1073741824.0);
    ap_view_findings(doc, (ap_findings_view){"Beware", -1, MOST_NOTES}, &result->warnings);
}

static ap_value *result_value(ap_arena *arena, const ap_search *search, const ap_result *result, const ap_view_options *options)
{
    ap_value *value = ap_view_result(arena, search->job, result);
    const ap_est_trace *trace = options->explain ? ap_plan_trace(search, result->plan) : NULL;
    if (trace)
        ap_value_put(arena, value, "explanation", ap_view_trace(arena, trace, &result->plan->est, NULL));
    return value;
}

ap_doc *ap_view_estimate(ap_arena *arena, const ap_search *search, const ap_result *results, size_t count,
                         const ap_view_options *options)
{
    const ap_job *job = search->job;
    ap_doc *doc = ap_view_begin(arena, "estimate", search->catalog);
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < count; i++)
        ap_value_push(arena, list, result_value(arena, search, &results[i], options));
    ap_value_put(arena, doc->root, "workload", ap_view_workload(arena, job));
    ap_value_put(arena, doc->root, "assumptions", ap_view_assumptions(arena, job));
    ap_value_put(arena, doc->root, "results", list);
    ap_view_assumed(doc, job);
    ap_block *table = ap_doc_table(doc, list, COLUMNS(columns));
    table->main = true;
    if (job->unknown_run)
        ap_doc_paragraph(doc, "Time and cost of the whole run are unknown: %s.", job->unknown_run);
    bool details = count == 1 || options->explain || options->wide;
    for (size_t i = 0; i < count; i++)
        if (details)
            add_breakdown(doc, list->as.list.items[i], &results[i], options, search);
        else
            add_summary(doc, &results[i]);
    if (!details)
        ap_doc_paragraph(doc, "Terms, memory and cost of each: --explain, or name one target.");
    return doc;
}
