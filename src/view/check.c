/* What check found: jobs with what they say, findings as compilers print them, the job as written in numbers. */
#include "view/check.h"

#include <string.h>

#include "view/put.h"
#include "view/view.h"

static const ap_column job_columns[] = {
    {.title = "Job", .path = "id", .priority = 1, .flexible = true},
    {.title = "Format", .path = "format", .priority = 3},
    {.title = "Hardware", .path = "hardware", .priority = 2, .flexible = true},
    {.title = "Model", .path = "job.model", .priority = 3, .flexible = true},
    {.title = "Method", .path = "job.method", .priority = 5},
    {.title = "Time",
     .path = "estimate.time_h.p50",
     .low_path = "estimate.time_h.p10",
     .high_path = "estimate.time_h.p90",
     .format = AP_CELL_HOURS,
     .priority = 2,
     .right = true},
    {.title = "Limit", .path = "job.time_limit_h", .format = AP_CELL_HOURS, .priority = 4, .right = true},
    {.title = "Cost USD", .path = "estimate.cost_usd.p50", .format = AP_CELL_USD, .priority = 2, .right = true},
    {.title = "At most USD", .path = "worst_case_usd", .format = AP_CELL_USD, .priority = 5, .right = true},
    {.title = "GiB", .path = "estimate.memory.peak_gib", .priority = 4, .right = true},
    {.title = "Fit", .path = "estimate.memory.verdict", .priority = 3},
    {.title = "Verdict", .path = "verdict", .priority = 1},
};

static const char *word_or_null(const char *const *names, int index)
{
    return index >= 0 ? names[index] : NULL;
}

static const char *hardware_words(ap_arena *arena, const ap_checkjob *job)
{
    double nodes = job->nodes.value, per_node = job->chips_per_node.value;
    const char *chip = job->chip                ? job->chip->id
                       : job->instance_name     ? job->instance_name
                       : job->facts.chips.count ? job->facts.chips.items[0].value
                                                : "chips";
    if (!ap_known(per_node))
        return chip && strcmp(chip, "chips") != 0 ? chip : NULL;
    if (!ap_known(nodes))
        return ap_arena_printf(arena, "? x %.0f %s", per_node, chip);
    return nodes > 1 ? ap_arena_printf(arena, "%.0f x %.0f %s", nodes, per_node, chip)
                     : ap_arena_printf(arena, "%.0f %s", per_node, chip);
}

static ap_value *job_value(ap_arena *arena, const ap_checkjob *job)
{
    ap_value *map = ap_value_map(arena);
    const char *precision = job->precision >= 0 ? ap_precision_name((ap_precision)job->precision) : NULL;
    ap_put_text(arena, map, "chip", job->chip ? job->chip->id : NULL);
    ap_put_num(arena, map, "chips_per_node", job->chips_per_node.value);
    ap_put_num(arena, map, "nodes", job->nodes.value);
    ap_put_num(arena, map, "time_limit_h", job->time_limit_h);
    ap_put_text(arena, map, "instance", job->instance_name);
    ap_put_text(arena, map, "cloud", job->cloud);
    ap_put_text(arena, map, "region", job->region);
    ap_value_put(arena, map, "spot", job->spot < 0 ? ap_value_null(arena) : ap_value_bool(arena, job->spot == 1));
    ap_put_text(arena, map, "model", job->model_name);
    ap_put_text(arena, map, "method", word_or_null(ap_method_names, job->method));
    ap_put_num(arena, map, "global_batch", job->global_batch);
    ap_put_num(arena, map, "sequence_length", job->seq_len);
    ap_put_text(arena, map, "precision", precision);
    ap_put_text(arena, map, "framework", job->framework);
    ap_put_text(arena, map, "sharding", word_or_null(ap_sharding_names, job->sharding));
    return map;
}

static void put_known(ap_arena *arena, ap_value *map, const char *key, double value)
{
    if (ap_known(value))
        ap_put_num(arena, map, key, value);
}

static ap_value *model_facts(ap_arena *arena, const ap_checkjob *job)
{
    ap_value *map = ap_value_map(arena);
    const ap_model *m = &job->model;
    if (!job->model_from_shape)
        return map;
    bool moe = ap_or(m->experts, 0) > 1,
         nested = job->files[0]->has_hf_model && ap_known(job->files[0]->hf_text_params);
    ap_put_text(arena, map, "family", m->arch);
    put_known(arena, map, "layers", m->layers);
    put_known(arena, map, "hidden", m->hidden);
    put_known(arena, map, "heads", m->heads);
    put_known(arena, map, "kv_heads", m->kv_heads);
    put_known(arena, map, "head_dim", m->head_dim);
    put_known(arena, map, "ffn", moe ? ap_or(m->expert_ffn, m->ffn) : m->ffn);
    put_known(arena, map, "vocab", m->vocab);
    if (moe) {
        put_known(arena, map, "experts", m->experts);
        put_known(arena, map, "top_k", m->top_k);
        put_known(arena, map, "active_params", m->active_params);
    }
    put_known(arena, map, "params", m->params);
    put_known(arena, map, "params_approx", m->params);
    put_known(arena, map, "text_params", nested ? job->files[0]->hf_text_params : m->params);
    return map;
}

/* A layout that cannot be (fewer samples than chips), or hardware that is refused, has no figures to show. */
static bool has_result(const ap_checkjob *job)
{
    return job->estimated && job->result.plan->est.layout.tp >= 1;
}

static ap_value *finding_value(ap_arena *arena, const ap_jobfinding *finding)
{
    ap_value *map = ap_value_map(arena);
    ap_put_text(arena, map, "id", finding->id);
    ap_put_text(arena, map, "fault", ap_fault_infos[finding->fault].slug);
    ap_put_text(arena, map, "severity", ap_severity_name(finding->severity));
    ap_put_text(arena, map, "message", finding->message);
    ap_put_text(arena, map, "file", finding->pos.file);
    ap_value_put(arena, map, "line", finding->pos.line ? ap_value_int(arena, finding->pos.line) : ap_value_null(arena));
    ap_value_put(arena, map, "column",
                 finding->pos.line ? ap_value_int(arena, finding->pos.col) : ap_value_null(arena));
    ap_put_text(arena, map, "hint", finding->hint);
    return map;
}

static const ap_column finding_columns[] = {
    {.title = "", .path = "severity", .priority = 1},
    {.title = "Where", .path = "where", .priority = 1},
    {.title = "Finding", .path = "message", .priority = 1, .flexible = true},
    {.title = "What to do", .path = "hint", .priority = 2, .flexible = true},
    {.title = "Id", .path = "id", .priority = 3},
};

/* file:line:col: severity: message [id], so that editors jump there; or a row of a table. */
static void say(ap_doc *doc, ap_value *rows, const ap_jobfinding *finding)
{
    if (rows) {
        ap_value *row = ap_value_map(doc->arena);
        ap_put_text(doc->arena, row, "severity", ap_severity_name(finding->severity));
        ap_put_text(
            doc->arena, row, "where",
            ap_arena_printf(doc->arena, "%s:%d", finding->pos.file ? finding->pos.file : "", finding->pos.line));
        ap_put_text(doc->arena, row, "message", finding->message);
        ap_put_text(doc->arena, row, "hint", finding->hint);
        ap_put_text(doc->arena, row, "id", finding->id);
        ap_value_push(doc->arena, rows, row);
        return;
    }
    ap_doc_paragraph(doc, "%s:%d:%d: %s: %s%s%s%s [%s]", finding->pos.file ? finding->pos.file : "", finding->pos.line,
                     finding->pos.col, ap_severity_name(finding->severity), finding->message, finding->hint ? " (" : "",
                     finding->hint ? finding->hint : "", finding->hint ? ")" : "", finding->id);
}

static ap_value *one_job(ap_doc *doc, ap_value *rows, const ap_checkjob *job, ap_check_count *count)
{
    ap_arena *arena = doc->arena;
    ap_value *map = ap_value_map(arena), *files = ap_value_list(arena), *findings = ap_value_list(arena);
    int worst = -1;
    for (size_t i = 0; i < job->file_count; i++)
        if (i == 0 || job->files[i]->path != job->files[i - 1]->path)
            ap_value_push(arena, files, ap_value_text(arena, job->files[i]->path));
    for (size_t i = 0; i < job->findings.count; i++) {
        const ap_jobfinding *finding = &job->findings.items[i];
        if (finding->suppressed) {
            count->suppressed++;
            continue;
        }
        ap_value_push(arena, findings, finding_value(arena, finding));
        say(doc, rows, finding);
        worst = (int)finding->severity > worst ? (int)finding->severity : worst;
        count->errors += finding->severity == AP_ERROR;
        count->warnings += finding->severity == AP_WARNING;
        count->notes += finding->severity == AP_NOTE;
    }
    ap_put_text(arena, map, "id", job->id);
    ap_value_put(arena, map, "files", files);
    ap_put_text(arena, map, "format", ap_jobformat_names[job->format]);
    ap_value_put(arena, map, "job", job_value(arena, job));
    ap_value_put(arena, map, "model_facts", model_facts(arena, job));
    ap_value_put(arena, map, "findings", findings);
    ap_value_put(arena, map, "estimate",
                 has_result(job) ? ap_view_result(arena, &job->resolved, &job->result) : ap_value_null(arena));
    ap_put_text(arena, map, "hardware", hardware_words(arena, job));
    ap_put_text(arena, map, "verdict", worst < 0 ? "ok" : ap_severity_name((ap_severity)worst));
    ap_put_num(arena, map, "worst_case_usd", job->worst_case_usd);
    if (job->has_cheaper && worst < (int)AP_ERROR) {
        ap_value *cheaper = ap_value_map(arena);
        ap_put_text(arena, cheaper, "target", job->cheaper.target);
        ap_put_text(arena, cheaper, "priced_from", job->cheaper.priced_from);
        ap_put_num(arena, cheaper, "time_h", job->cheaper.hours_p50);
        ap_put_num(arena, cheaper, "cost_usd", job->cheaper.cost_p50);
        ap_value_put(arena, map, "cheaper", cheaper);
        if (!rows)
            ap_doc_paragraph(doc, "%s: %s does it for about %.3g USD in %.3g h, instead of %.3g USD in %.3g h.",
                             job->id, job->cheaper.target, job->cheaper.cost_p50, job->cheaper.hours_p50,
                             job->result.cost_p50, job->result.hours_p50);
    }
    return map;
}

ap_doc *ap_view_check(ap_arena *arena, const ap_jobs *jobs, const ap_catalog *catalog, const ap_check_options *options,
                      ap_check_count *ret_count)
{
    ap_doc *doc = ap_view_begin(arena, "check", catalog);
    ap_value *list = ap_value_list(arena), *summary = ap_value_map(arena);
    *ret_count = (ap_check_count){.jobs = jobs->job_count};
    ap_block *table = ap_doc_table(doc, list, job_columns, sizeof job_columns / sizeof *job_columns);
    table->main = true;
    table->empty = "No job files found.";
    ap_value *rows = options && options->findings_as_table ? ap_value_list(arena) : NULL;
    if (rows)
        ap_doc_table(doc, rows, finding_columns, sizeof finding_columns / sizeof *finding_columns);
    for (size_t i = 0; i < jobs->job_count; i++)
        ap_value_push(arena, list, one_job(doc, rows, jobs->jobs[i], ret_count));
    ap_value_put(arena, summary, "jobs", ap_value_int(arena, (int64_t)ret_count->jobs));
    ap_value_put(arena, summary, "errors", ap_value_int(arena, (int64_t)ret_count->errors));
    ap_value_put(arena, summary, "warnings", ap_value_int(arena, (int64_t)ret_count->warnings));
    ap_value_put(arena, summary, "notes", ap_value_int(arena, (int64_t)ret_count->notes));
    ap_value_put(arena, summary, "suppressed", ap_value_int(arena, (int64_t)ret_count->suppressed));
    ap_value_put(arena, doc->root, "jobs", list);
    ap_value_put(arena, doc->root, "summary", summary);
    ap_doc_paragraph(doc, "%zu job%s: %zu error%s, %zu warning%s, %zu note%s.", ret_count->jobs,
                     ret_count->jobs == 1 ? "" : "s", ret_count->errors, ret_count->errors == 1 ? "" : "s",
                     ret_count->warnings, ret_count->warnings == 1 ? "" : "s", ret_count->notes,
                     ret_count->notes == 1 ? "" : "s");
    return doc;
}
