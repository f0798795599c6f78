/* emit: a recommended or given plan as a file that runs. */
#include "base/text.h"
#include "cli/job.h"
#include "emit/emit.h"
#include "plan/reasons.h"
#include "plan/target.h"

static const ap_emit_kind *find_kind(ap_cli *cli)
{
    const char *name = cli->operands[0];
    const ap_emit_kind *kind = ap_emit_kind_find(name);
    if (kind)
        return kind;
    ap_suggest suggest;
    ap_suggest_init(&suggest, name);
    ap_sbuf all;
    ap_sbuf_init(&all, cli->arena);
    for (size_t i = 0; i < ap_emit_kind_count; i++) {
        ap_suggest_offer(&suggest, ap_emit_kinds[i].name);
        ap_sbuf_printf(&all, "%s%s", i ? ", " : "", ap_emit_kinds[i].name);
    }
    (void)ap_cli_usage(cli, 303, ap_suggest_text(&suggest, cli->arena), "'emit' knows %s, not '%s'", all.text, name);
    return NULL;
}

static ap_status read_settings(ap_cli *cli, ap_emit_settings *ret)
{
    ap_schema_clear(&ap_emit_settings_object, ret);
    if (!cli->config.emit)
        return AP_OK;
    return ap_schema_load(&ap_emit_settings_object, cli->config.emit, ret, cli->arena, &cli->diags) == AP_OK
               ? AP_OK
               : AP_BAD_DATA;
}

static ap_status take_target(ap_cli *cli, ap_cli_job *job, ap_result *ret)
{
    ap_target *targets = NULL;
    ap_strings texts = ap_cli_list(cli, AP_O_ON);
    if (texts.count > 1)
        return ap_cli_usage(cli, 308, NULL, "a recipe is for one target; %zu are given", texts.count);
    if (ap_cli_origin(cli, AP_O_RANK) != AP_FROM_NOWHERE)
        return ap_cli_usage(cli, 308, NULL, "give either --on or --rank");
    ap_status status = ap_search_parse_targets(&job->search, texts.items, 1, &cli->diags, &targets);
    if (status == AP_OK)
        ap_search_target(&job->search, &targets[0], ret);
    return status;
}

static ap_status take_rank(ap_cli *cli, ap_cli_job *job, ap_result *ret)
{
    double rank = ap_or(ap_cli_number(cli, AP_O_RANK), 1);
    if (job->search.result_count == 0) {
        const ap_rejection *nearest = job->search.rejected_count ? &job->search.rejected[0] : NULL;
        ap_diag *diag =
            ap_diag_add(&cli->diags, AP_ERROR, 804, AP_NO_POS, "nothing of the catalog can run this within the limits");
        if (nearest)
            diag->hint = ap_arena_printf(cli->arena, "nearest: %s: %s", nearest->target, nearest->message);
        return AP_INFEASIBLE;
    }
    if (rank > (double)job->search.result_count)
        return ap_cli_usage(cli, 308, NULL, "--rank %.0f: there are %zu recommendations", rank,
                            job->search.result_count);
    *ret = job->search.results[(size_t)rank - 1];
    return AP_OK;
}

/* A layout that the stack's arguments cannot say is no recipe: planned again with data parallelism and sharding only,
 * unless that does not fit or the user asked for the other. */
static void replan(ap_cli *cli, ap_cli_job *job, ap_result *result)
{
    if (ap_emit_layout_can_be_said(job->search.catalog, &job->job, result->plan))
        return;
    ap_workload *workload = AP_NEW(cli->arena, ap_workload);
    ap_job *copy = AP_NEW(cli->arena, ap_job);
    ap_search *search = AP_NEW(cli->arena, ap_search);
    *workload = job->workload;
    workload->parallel.tp = ap_or(workload->parallel.tp, 1);
    workload->parallel.pp = ap_or(workload->parallel.pp, 1);
    workload->parallel.cp = ap_or(workload->parallel.cp, 1);
    workload->parallel.ep = ap_or(workload->parallel.ep, 1);
    *copy = job->job;
    copy->workload = workload;
    ap_search_init_like(search, &job->search, copy);
    ap_result again = *result;
    const ap_plan *plan = ap_search_plan(search, &result->hw);
    if (plan->est.error || plan->est.verdict == AP_DOES_NOT_FIT)
        return;
    ap_result_fill(search, plan, result->price, result->pricing, &again);
    if (result->priced_from || ap_known(result->usd_per_h))
        ap_result_set_price(&again, result->price, result->usd_per_h);
    again.target = result->target;
    *result = again;
}

/* What --json gives: the recipe and what it was made of. */
static ap_doc *as_document(ap_cli *cli, const ap_emit_kind *kind, const ap_emit_plan *plan, const char *text)
{
    ap_arena *arena = cli->arena;
    ap_doc *doc = ap_cli_new_doc(cli, "recipe");
    ap_value *results = ap_value_list(arena);
    ap_value_push(arena, results, ap_view_result(arena, plan->request->search->job, plan->result));
    ap_value_put(arena, doc->root, "results", results);
    ap_value_put(arena, doc->root, "recipe", ap_value_text(arena, kind->name));
    ap_value_put(arena, doc->root, "target", ap_value_text(arena, plan->target));
    ap_value_put(arena, doc->root, "chip", ap_value_text(arena, plan->chip));
    ap_value_put(arena, doc->root, "chip_kind", ap_value_text(arena, ap_chip_kind_name(plan->chip_info->kind)));
    ap_value_put(arena, doc->root, "chip_count", ap_value_num(arena, plan->chips));
    ap_value_put(arena, doc->root, "nodes", ap_value_num(arena, plan->nodes));
    ap_value_put(arena, doc->root, "image", ap_value_text(arena, plan->image));
    ap_value_put(arena, doc->root, "time_limit_h", ap_value_num(arena, plan->limit_s / 3600));
    ap_value_put(arena, doc->root, "worst_case_usd", ap_value_num(arena, plan->worst_usd));
    ap_value_put(arena, doc->root, "checkpoint_every_s", ap_value_num(arena, plan->save_s));
    ap_value_put(arena, doc->root, "verify", ap_value_text(arena, kind->verify));
    ap_value *why = ap_value_list(arena);
    const ap_named *reasons = ap_scope_find(plan->scope, "reasons");
    for (size_t i = 0; i < reasons->count; i++) {
        ap_value *item = ap_value_map(arena);
        ap_value_put(arena, item, "flag", ap_value_text(arena, ap_scope_find(reasons->items[i], "flag")->text));
        ap_value_put(arena, item, "because", ap_value_text(arena, ap_scope_find(reasons->items[i], "because")->text));
        ap_value_push(arena, why, item);
    }
    ap_value_put(arena, doc->root, "explain", why);
    ap_value_put(arena, doc->root, "text", ap_value_text(arena, text));
    return doc;
}

static ap_emit_request request_of(const ap_cli *cli, const ap_cli_job *job, const ap_result *result,
                                  const ap_emit_settings *settings)
{
    return (ap_emit_request){
        .search = &job->search,
        .result = result,
        .others = job->search.results,
        .other_count = job->search.result_count,
        .settings = settings,
        .data_dir = ap_cli_text(cli, AP_O_DATA),
        .deadline_s = job->options.constraints.deadline_s,
        .budget_usd = job->options.constraints.budget_usd,
        .explain = ap_cli_flag(cli, AP_O_EXPLAIN),
    };
}

/* The best recommendation that this kind of recipe can be written for: not every tool rents from every cloud, and not
 * every chip has an image. The first one where there is none, for its error to be told. */
static void take_best(ap_cli *cli, ap_cli_job *job, const ap_emit_kind *kind, const ap_emit_settings *settings,
                      ap_result *ret)
{
    for (size_t i = 0; i < job->search.result_count; i++) {
        ap_result candidate = job->search.results[i];
        ap_diags unseen;
        ap_sbuf text;
        ap_diags_init(&unseen, cli->arena);
        ap_sbuf_init(&text, cli->arena);
        replan(cli, job, &candidate);
        ap_emit_request request = request_of(cli, job, &candidate, settings);
        ap_status status = ap_emit_write(&request, kind, cli->arena, &unseen, &text, NULL);
        if (status == AP_USAGE || status == AP_INFEASIBLE)
            continue;
        if (i > 0)
            ap_diag_add(&cli->diags, AP_NOTE, 815, AP_NO_POS, "%s is recommendation %zu: no %s recipe for %s",
                        candidate.target, i + 1, kind->name, ret->target)
                ->hint = "accelpick recommend shows them all; --rank 1 says why not";
        *ret = job->search.results[i];
        return;
    }
}

static ap_status write_recipe(ap_cli *cli, ap_cli_job *job, const ap_emit_kind *kind, const ap_result *result,
                              const ap_emit_settings *settings)
{
    ap_emit_request request = request_of(cli, job, result, settings);
    ap_emit_plan *plan;
    ap_sbuf text;
    ap_sbuf_init(&text, cli->arena);
    ap_status status = ap_emit_write(&request, kind, cli->arena, &cli->diags, &text, &plan);
    if (status != AP_OK)
        return status;
    ap_doc *doc = as_document(cli, kind, plan, text.text);
    if (ap_cli_format(cli) != AP_FORMAT_TABLE)
        return ap_cli_write_doc(cli, doc);
    status = ap_cli_check_price_age(cli, doc);
    return status == AP_OK ? ap_cli_write_text(cli, text.text, text.len) : status;
}

static ap_status run(ap_cli *cli)
{
    ap_cli_job job;
    ap_emit_settings settings;
    ap_result result = {0};
    const ap_emit_kind *kind = find_kind(cli);
    if (!kind)
        return AP_USAGE;
    ap_status status = read_settings(cli, &settings);
    ap_status loaded = ap_cli_job_load(cli, cli->operand_count > 1 ? cli->operands[1] : NULL, &job);
    if (loaded == AP_OK)
        loaded = ap_cli_job_rules(cli, &job, AP_SCOPE_RECOMMEND);
    status = loaded > status ? loaded : status;
    if (status != AP_OK)
        return status;
    bool given = ap_cli_list(cli, AP_O_ON).count > 0;
    if (!given || kind->wants_others)
        ap_search_run(&job.search);
    status = given ? take_target(cli, &job, &result) : take_rank(cli, &job, &result);
    if (status != AP_OK)
        return status;
    if (!given && ap_cli_origin(cli, AP_O_RANK) == AP_FROM_NOWHERE)
        take_best(cli, &job, kind, &settings, &result);
    replan(cli, &job, &result);
    bool broken = ap_reasons_explain(job.search.reasons, &result);
    status = write_recipe(cli, &job, kind, &result, &settings);
    if (status == AP_OK && broken)
        ap_diag_add(&cli->diags, AP_WARNING, 814, AP_NO_POS, "%s breaks a policy: see the lines 'beware' of the recipe",
                    result.target);
    return status == AP_OK && broken ? AP_FINDINGS : status;
}

static const ap_example examples[] = {
    {"emit slurm --model llama-3.1-8b --method finetune --tokens 500M --on gcp/a3-highgpu-8g:2",
     "a batch script for two machines"},
    {"emit docker --model llama-3.1-8b --method qlora --tokens 20M --on rtx-3090:1 --explain",
     "on your own card, with reasons"},
    {"emit k8s --model resnet50 --dataset imagenet-1k --epochs 90 --on aws/p4de.24xlarge", "a Kubernetes Job"},
};

const ap_command ap_cmd_emit = {
    .name = "emit",
    .synopsis = "KIND [WORKLOAD] [--on TARGET | --rank N]",
    .summary = "write a ready-to-run recipe with a bill guard",
    .description = "Turns a plan into a file for the way you run jobs: slurm, k8s, gke-tpu, skypilot, dstack, shell "
                   "scripts docker, gcloud, aws and az, "
                   "and configurations accelerate and deepspeed. Without --on it takes the best recommendation, or the "
                   "Nth with --rank.\n\n"
                   "Every recipe has a time limit from the p90 of the estimate, stops by itself, and says what it may "
                   "cost. --explain adds why each "
                   "flag is there. Your own values (partition, account, image, bucket, script) come from emit: in the "
                   "configuration.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_JOB | AP_G_TARGET | AP_G_FILTER | AP_G_CHOICE | AP_G_RIG | AP_G_EMIT,
    .min_operands = 1,
    .max_operands = 2,
    .operand = "KIND",
    .values = "slurm k8s gke-tpu skypilot dstack docker gcloud aws az accelerate deepspeed",
    .run = run,
};
