/* The recommendation: what was asked, what was assumed, the ranking, what was not feasible, and what would save money. */
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "plan/explain.h"
#include "view/trace.h"
#include "view/view.h"

static const ap_column columns[] = {
    {.title = "#", .path = "rank", .format = AP_CELL_INTEGER, .priority = 1, .right = true},
    {.title = "Target", .path = "target", .priority = 1, .flexible = true},
    {.title = "Hardware", .path = "label.hardware", .priority = 2, .flexible = true},
    {.title = "Time", .path = "time_h.p50", .low_path = "time_h.p10", .high_path = "time_h.p90", .format = AP_CELL_HOURS,
     .priority = 1, .right = true},
    {.title = "Cost USD", .path = "cost_usd.p50", .low_path = "cost_usd.p10", .high_path = "cost_usd.p90",
     .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "USD/h", .path = "price_usd_per_h", .format = AP_CELL_USD, .priority = 6, .right = true},
    {.title = "Memory GiB", .path = "memory.peak_gib", .format = AP_CELL_AUTO, .priority = 5, .right = true},
    {.title = "of", .path = "memory.capacity_gib", .format = AP_CELL_AUTO, .priority = 5, .right = true},
    {.title = "Fit", .path = "memory.verdict", .priority = 2},
    {.title = "Layout", .path = "label.layout", .priority = 3, .flexible = true},
    {.title = "Bound by", .path = "bottleneck", .priority = 7},
    {.title = "kWh", .path = "energy_kwh", .format = AP_CELL_AUTO, .priority = 7, .right = true},
    {.title = "Basis", .path = "estimate_basis", .priority = 4},
    {.title = "Pareto", .path = "pareto", .format = AP_CELL_YES, .priority = 8},
    {.title = "Step", .path = "step_time_s.p50", .format = AP_CELL_SECONDS, .priority = 9, .right = true},
    {.title = "MFU", .path = "mfu", .format = AP_CELL_PERCENT, .priority = 9, .right = true},
    {.title = "CO2 kg", .path = "co2_kg", .format = AP_CELL_AUTO, .priority = 9, .right = true},
    {.title = "Price as of", .path = "price_as_of", .priority = 8},
    {.title = "Price source", .path = "price_source", .priority = 9, .flexible = true},
};

/* Without an amount of data there is no run to price: compare steps instead. */
static const ap_column step_columns[] = {
    {.title = "#", .path = "rank", .format = AP_CELL_INTEGER, .priority = 1, .right = true},
    {.title = "Target", .path = "target", .priority = 1, .flexible = true},
    {.title = "Hardware", .path = "label.hardware", .priority = 2, .flexible = true},
    {.title = "Step", .path = "step_time_s.p50", .low_path = "step_time_s.p10", .high_path = "step_time_s.p90",
     .format = AP_CELL_SECONDS, .priority = 1, .right = true},
    {.title = "Samples/s", .path = "samples_per_s", .format = AP_CELL_COUNT, .priority = 2, .right = true},
    {.title = "USD/h", .path = "price_usd_per_h", .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "Memory GiB", .path = "memory.peak_gib", .format = AP_CELL_AUTO, .priority = 5, .right = true},
    {.title = "of", .path = "memory.capacity_gib", .format = AP_CELL_AUTO, .priority = 5, .right = true},
    {.title = "Layout", .path = "label.layout", .priority = 3, .flexible = true},
    {.title = "Bound by", .path = "bottleneck", .priority = 6},
    {.title = "Basis", .path = "estimate_basis", .priority = 4},
};

#define MOST_NOTES 5 /* in text for people; JSON has all */

static void add_count(ap_sbuf *line, const char *label, double value)
{
    if (!ap_known(value))
        return;
    ap_sbuf_add(line, " · ");
    ap_units_format(value, AP_DIM_COUNT, line);
    ap_sbuf_printf(line, " %s", label);
}

static void add_request(ap_doc *doc, const ap_job *job)
{
    ap_sbuf line;
    ap_sbuf_init(&line, doc->arena);
    ap_sbuf_printf(&line, "%s · %s", job->model_label ? job->model_label : "model", ap_method_names[job->method]);
    add_count(&line, "parameters", job->model.params);
    if (ap_known(job->tokens))
        add_count(&line, "tokens", job->tokens);
    else if (ap_known(job->rows))
        add_count(&line, "rows", job->rows);
    else
        add_count(&line, "samples", job->samples);
    ap_sbuf_printf(&line, " · ranked by %s", ap_objective_names[job->objective]);
    ap_doc_heading(doc, line.text);
}

void ap_view_assumed(ap_doc *doc, const ap_job *job)
{
    if (job->assumption_count == 0)
        return;
    ap_sbuf line;
    ap_sbuf_init(&line, doc->arena);
    ap_sbuf_add(&line, "Assumed: ");
    for (size_t i = 0; i < job->assumption_count; i++)
        ap_sbuf_printf(&line, "%s%s %s (%s)", i ? ", " : "", job->assumptions[i].field, job->assumptions[i].value,
                       job->assumptions[i].because);
    ap_sbuf_add_char(&line, '.');
    ap_doc_paragraph(doc, "%s", line.text);
}

static ap_value *rejected_value(ap_arena *arena, const ap_search *search)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < search->rejected_count; i++) {
        ap_value *item = ap_value_map(arena);
        ap_value_put(arena, item, "target", ap_value_text(arena, search->rejected[i].target));
        ap_value_put(arena, item, "rule", ap_value_text(arena, search->rejected[i].rule));
        ap_value_put(arena, item, "message", ap_value_text(arena, search->rejected[i].message));
        if (search->rejected[i].policy)
            ap_value_put(arena, item, "policy", ap_value_text(arena, search->rejected[i].policy));
        ap_value_push(arena, list, item);
    }
    return list;
}

static ap_value *advice_value(ap_arena *arena, const ap_advice *advice, size_t count)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < count; i++) {
        ap_value *item = ap_value_map(arena);
        ap_value_put(arena, item, "id", ap_value_text(arena, advice[i].id));
        ap_value_put(arena, item, "message", ap_value_text(arena, advice[i].message));
        ap_value_put(arena, item, "saves_usd", ap_value_num(arena, advice[i].saves_usd));
        ap_value_put(arena, item, "saves_h", ap_value_num(arena, advice[i].saves_h));
        ap_value_push(arena, list, item);
    }
    return list;
}

/* "policy eu-only broken: us-east-1 is in north-america [AP6010]. Use --region …" */
static const char *finding_text(ap_arena *arena, const ap_finding *f)
{
    const char *who = f->policy ? ap_arena_printf(arena, "policy %s%s: ", f->policy,
                                                     !f->broken ? "" : f->severity == AP_ERROR ? " broken" : " not shown to hold") : "";
    return ap_arena_printf(arena, "%s%s [%s]%s%s", who, f->message, f->id, f->fix ? ". " : "", f->fix ? f->fix : "");
}

void ap_view_findings(ap_doc *doc, ap_findings_view view, const ap_findings *findings)
{
    ap_value *bullets = ap_value_list(doc->arena);
    size_t left = 0;
    for (size_t i = 0; i < findings->count; i++) {
        const ap_finding *f = &findings->items[i];
        if (view.preferred >= 0 && f->preferred != (view.preferred == 1))
            continue;
        if (view.most && bullets->as.list.count >= view.most && !f->policy)
            left++;
        else
            ap_value_push(doc->arena, bullets, ap_value_text(doc->arena, finding_text(doc->arena, f)));
    }
    if (left)
        ap_value_push(doc->arena, bullets, ap_value_text(doc->arena, ap_arena_printf(doc->arena, "%zu more in --json", left)));
    if (bullets->as.list.count == 0)
        return;
    ap_doc_heading(doc, view.title);
    ap_doc_bullets(doc, bullets);
}

/* Between which days the prices shown were read. */
static void add_price_dates(ap_doc *doc, const ap_search *search, size_t limit)
{
    const char *oldest = NULL, *newest = NULL;
    for (size_t i = 0; i < search->result_count && (!limit || i < limit); i++) {
        const ap_price *price = search->results[i].price;
        const char *day = price ? price->as_of : NULL;
        if (!day)
            continue;
        oldest = !oldest || strcmp(day, oldest) < 0 ? day : oldest;
        newest = !newest || strcmp(day, newest) > 0 ? day : newest;
    }
    if (!newest)
        ap_doc_paragraph(doc, "Ranges are the 80 %% band (p10–p90).");
    else if (ap_streq(oldest, newest))
        ap_doc_paragraph(doc, "Ranges are the 80 %% band (p10–p90). Prices of %s; their sources: -f wide.", newest);
    else
        ap_doc_paragraph(doc, "Ranges are the 80 %% band (p10–p90). Prices of %s to %s; date and source of each: -f wide.", oldest, newest);
}

static void add_advice(ap_doc *doc, const ap_advice *advice, size_t count)
{
    if (count == 0)
        return;
    ap_value *bullets = ap_value_list(doc->arena);
    for (size_t i = 0; i < count && i < 5; i++)
        ap_value_push(doc->arena, bullets,
                      ap_value_text(doc->arena, ap_arena_printf(doc->arena, "%s [%s]", advice[i].message, advice[i].id)));
    ap_doc_heading(doc, "Worth knowing");
    ap_doc_bullets(doc, bullets);
}

static ap_value *search_value(ap_arena *arena, const ap_search *search)
{
    ap_value *map = ap_value_map(arena);
    ap_value_put(arena, map, "targets", ap_value_int(arena, (int64_t)search->targets));
    ap_value_put(arena, map, "plans_evaluated", ap_value_int(arena, (int64_t)search->plans_evaluated));
    ap_value_put(arena, map, "priced", ap_value_int(arena, (int64_t)search->priced_results));
    ap_value_put(arena, map, "groups", ap_value_int(arena, (int64_t)search->result_count));
    return map;
}

static void add_table(ap_doc *doc, const ap_search *search, const ap_value *rows, const ap_view_options *options)
{
    bool run = !search->job->unknown_run;
    ap_block *table = run ? ap_doc_table(doc, rows, columns, sizeof columns / sizeof *columns)
                          : ap_doc_table(doc, rows, step_columns, sizeof step_columns / sizeof *step_columns);
    table->main = true;
    table->limit = options->limit;
    table->total = search->result_count;
    table->empty = ""; /* what is missing is said below */
}

/* How the first came about: its bill, and every formula with its numbers. */
static void explain_first(ap_doc *doc, ap_value *value, const ap_result *first, const ap_search *search)
{
    ap_view_bill(doc, value, first, search->options->as_of);
    const ap_est_trace *trace = ap_plan_trace(search, first->plan);
    if (!trace)
        return;
    ap_value *explained = ap_view_trace(doc->arena, trace, &first->plan->est, NULL);
    ap_value_put(doc->arena, value, "explanation", explained);
    ap_doc_heading(doc, ap_arena_printf(doc->arena, "How the estimate of %s came about", first->target));
    ap_view_trace_shapes(doc, explained);
    ap_view_trace_part(doc, explained, "Work", "work");
    ap_view_explanation(doc, explained, first, search);
}

ap_doc *ap_view_recommendation(ap_arena *arena, const ap_search *search, const ap_advice *advice, size_t advice_count,
                               const ap_view_options *options)
{
    const ap_job *job = search->job;
    ap_doc *doc = ap_view_begin(arena, "recommendation", search->catalog);
    ap_value *results = ap_value_list(arena);
    size_t most = options->build_all || !options->limit ? search->result_count : options->limit;
    for (size_t i = 0; i < search->result_count && i < most; i++)
        ap_value_push(arena, results, ap_view_result(arena, job, &search->results[i]));
    ap_value_put(arena, doc->root, "workload", ap_view_workload(arena, job));
    ap_value_put(arena, doc->root, "assumptions", ap_view_assumptions(arena, job));
    ap_value_put(arena, doc->root, "results", results);
    ap_value_put(arena, doc->root, "rejected", rejected_value(arena, search));
    ap_value_put(arena, doc->root, "search", search_value(arena, search));
    ap_value_put(arena, doc->root, "advice", advice_value(arena, advice, advice_count));
    add_request(doc, job);
    ap_view_assumed(doc, job);
    if (job->unknown_run)
        ap_doc_paragraph(doc, "Time and cost of the whole run are unknown: %s.", job->unknown_run);
    add_table(doc, search, results, options);
    if (search->result_count) {
        add_price_dates(doc, search, options->limit);
        const ap_result *first = &search->results[0];
        if (options->explain && results->as.list.count)
            explain_first(doc, results->as.list.items[0], first, search);
        ap_view_findings(doc, (ap_findings_view){"Why the first", 1, MOST_NOTES}, &first->reasons);
        ap_view_findings(doc, (ap_findings_view){"Good to know about it", 0, MOST_NOTES}, &first->reasons);
        ap_view_findings(doc, (ap_findings_view){"Beware", -1, MOST_NOTES}, &first->warnings);
    }
    add_advice(doc, advice, advice_count);
    ap_view_rejections(doc, search, options);
    return doc;
}
