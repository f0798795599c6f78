/* explain ID: a rule (from the rules), or a diagnostic, verdict, assumption or formula (from the documentation). */
#include <string.h>

#include "base/text.h"
#include "catalog/image.h"
#include "cli/job.h"
#include "cli/rules.h"
#include "plan/explain.h"
#include "plan/target.h"
#include "view/pages.h"
#include "view/rules.h"
#include "view/trace.h"
#include "view/view.h"

static const char *const sections[] = {"docs/diagnostics.md", "docs/model.md", "docs/model-other.md"};
#define SECTION_COUNT (sizeof sections / sizeof *sections)

static const char *page_text(size_t index, size_t *ret_len)
{
    size_t image_len = 0;
    const unsigned char *image = ap_image_builtin(&image_len);
    return (const char *)ap_image_find(image, image_len, sections[index], ret_len);
}

/* Is a job named, by file or by option? Defaults of the configuration do not count. */
static bool names_job(ap_cli *cli)
{
    return cli->operand_count > 1 || ap_cli_origin(cli, AP_O_ON) == AP_FROM_OPTION || ap_cli_origin(cli, AP_O_MODEL) == AP_FROM_OPTION;
}

/* "kernel launches and host = 11.2 ms" of what the formula gives in this workload. */
static void write_numbers(ap_doc *doc, const ap_result *result, const ap_value *value)
{
    const ap_value *terms = ap_value_at(value, "terms"), *lines = ap_value_at(value, "formulas"), *constants = ap_value_at(value, "constants");
    const ap_value *bands = ap_value_at(value, "bands");
    size_t count = terms->as.list.count + lines->as.list.count + constants->as.list.count + (bands ? bands->as.list.count : 0);
    if (!count) {
        ap_doc_paragraph(doc, "%s: the formula has no part in the estimate of this workload there.", result->target);
        return;
    }
    for (size_t i = 0; i < terms->as.list.count; i++) {
        const ap_value *term = terms->as.list.items[i];
        ap_doc_paragraph(doc, "%s: %s = %s.", result->target, ap_cell_words(doc->arena, ap_value_at(term, "name")),
                         ap_cell_words(doc->arena, ap_value_at(term, "shown")));
    }
    ap_view_trace_shapes(doc, value);
    ap_view_trace_part(doc, value, ap_arena_printf(doc->arena, "With the numbers of %s", result->target), NULL);
    ap_view_trace_constants(doc, value);
    ap_view_trace_bands(doc, value);
}

/* The formula in the estimates of a workload, target by target. */
static ap_status add_workload(ap_cli *cli, const char *id, ap_doc *doc)
{
    ap_strings texts = ap_cli_list(cli, AP_O_ON);
    ap_target *targets = NULL;
    ap_cli_job job;
    if (texts.count == 0)
        return ap_cli_usage(cli, 306, "name hardware, such as --on h100-sxm5-80gb:8", "a workload without a target has no numbers");
    ap_status status = ap_cli_job_load(cli, cli->operand_count > 1 ? cli->operands[1] : NULL, &job);
    if (status == AP_OK)
        status = ap_search_parse_targets(&job.search, texts.items, texts.count, &cli->diags, &targets);
    if (status != AP_OK)
        return status;
    ap_value *list = ap_value_list(cli->arena);
    for (size_t i = 0; i < texts.count; i++) {
        ap_result *result = AP_NEW(cli->arena, ap_result);
        ap_search_target(&job.search, &targets[i], result);
        const ap_est_trace *trace = ap_plan_trace(&job.search, result->plan);
        if (!trace) {
            ap_doc_paragraph(doc, "%s: no estimate, %s.", result->target, result->plan->est.error);
            continue;
        }
        ap_value *value = ap_view_trace(cli->arena, trace, &result->plan->est, id);
        ap_value_put(cli->arena, value, "target", ap_value_text(cli->arena, result->target));
        ap_value_push(cli->arena, list, value);
        write_numbers(doc, result, value);
    }
    ap_value_put(cli->arena, doc->root, "workload", ap_view_workload(cli->arena, &job.job));
    ap_value_put(cli->arena, doc->root, "assumptions", ap_view_assumptions(cli->arena, &job.job));
    ap_value_put(cli->arena, doc->root, "results", list);
    ap_view_assumed(doc, &job.job);
    return AP_OK;
}

static ap_status write_entry(ap_cli *cli, const char *id, const char *page, const ap_page_entry *entry)
{
    ap_doc *doc = ap_view_begin(cli->arena, "explain", cli->catalog);
    ap_value *sources = ap_value_list(cli->arena);
    ap_value_push(cli->arena, sources, ap_value_text(cli->arena, page));
    ap_value_put(cli->arena, doc->root, "id", ap_value_text(cli->arena, id));
    ap_value_put(cli->arena, doc->root, "title", ap_value_text(cli->arena, entry->title));
    ap_value_put(cli->arena, doc->root, "text", ap_value_text(cli->arena, entry->text));
    ap_value_put(cli->arena, doc->root, "sources", sources);
    ap_doc_heading(doc, ap_arena_printf(cli->arena, "%s  %s", id, entry->title));
    for (const char *c = entry->text; *c;) { /* a paragraph a line: tables and formulas stay as they are written */
        size_t len = strcspn(c, "\n");
        if (len)
            ap_doc_paragraph(doc, "%.*s", (int)len, c);
        c += len + (c[len] ? 1 : 0);
    }
    ap_status status = names_job(cli) ? add_workload(cli, id, doc) : AP_OK;
    return status == AP_OK ? ap_cli_write_doc(cli, doc) : status;
}

static ap_status unknown_id(ap_cli *cli, const ap_ruleset *set, const char *id)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, id);
    for (size_t i = 0; i < set->count; i++)
        ap_suggest_offer(&suggest, set->items[i].rule->id);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        size_t len = 0, cursor = 0;
        const char *page = page_text(i, &len), *found;
        while (page && (found = ap_page_next_id(page, len, &cursor, cli->arena)))
            ap_suggest_offer(&suggest, found);
    }
    const char *hint = ap_suggest_text(&suggest, cli->arena);
    return ap_cli_usage(cli, 303, hint ? hint : "an id as printed in brackets, such as AP1001, AP0203 or M-07",
                        "nothing is known under \"%s\"", id);
}

static ap_status run(ap_cli *cli)
{
    const char *id = cli->operands[0];
    ap_ruleset *set;
    const ap_catalog *catalog;
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status == AP_OK)
        status = ap_cli_rules(cli, true, &set);
    if (status != AP_OK)
        return status;
    const ap_rule_item *item = ap_ruleset_find(set, id);
    if (names_job(cli) && strncmp(id, "M-", 2) != 0)
        return ap_cli_usage(cli, 312, "a formula such as M-21, or leave the workload out", "only formulas have the numbers of a workload, %s has none", id);
    if (item) {
        ap_rule_view view = {.kind = "explain"};
        return ap_cli_write_doc(cli, ap_view_rule(cli->arena, cli->catalog, set, item, &view));
    }
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        size_t len = 0;
        const char *page = page_text(i, &len);
        ap_page_entry entry;
        if (page && ap_page_find(page, len, id, cli->arena, &entry))
            return write_entry(cli, id, sections[i], &entry);
    }
    return unknown_id(cli, set, id);
}

static const ap_example examples[] = {
    {"explain AP2030", "a rule: text, source, examples, what it looks at"},
    {"explain AP0203", "a diagnostic"},
    {"explain micro_batch", "how an assumption is made"},
    {"explain M-21 --model llama-3.1-8b --method lora --tokens 200M --on h100-sxm5-80gb:1", "a formula with the numbers of a workload"},
};

const ap_command ap_cmd_explain = {
    .name = "explain",
    .synopsis = "ID [WORKLOAD --on TARGET]",
    .summary = "explain a rule, a diagnostic, an assumption or a formula",
    .description = "ID is what results and messages print in brackets: a rule or diagnostic (AP1001), a formula of the model (M-07) or the name of an\n"
                   "assumption (sequence_length).\n\n"
                   "With a workload (a file, or --model and the other options of estimate) and --on, a formula comes with the numbers of that\n"
                   "workload: what is put in, what it gives, and the constants it uses with their values, what they were fitted on and sources.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_JOB | AP_G_TARGET,
    .min_operands = 1,
    .max_operands = 2,
    .operand = "ID",
    .run = run,
};
