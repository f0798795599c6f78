/* estimate: the full breakdown for given targets. */
#include "cli/job.h"
#include "plan/reasons.h"
#include "plan/target.h"

static bool over_bound(ap_cli *cli, const ap_search *search, const ap_result *result)
{
    double nearness, max_cost = ap_cli_number(cli, AP_O_MAX_COST), max_hours = ap_cli_number(cli, AP_O_MAX_HOURS);
    const ap_finding *limit = ap_result_over_limit(search, result, &nearness);
    if (limit)
        ap_diag_add(&cli->diags, AP_WARNING, 307, AP_NO_POS, "%s: %s", result->target, limit->message);
    bool cost = result->cost_p50 > max_cost, hours = result->hours_p50 > max_hours;
    if (cost)
        ap_diag_add(&cli->diags, AP_WARNING, 307, AP_NO_POS, "%s: costs %.4g USD, more than --max-cost %.4g", result->target, result->cost_p50, max_cost);
    if (hours)
        ap_diag_add(&cli->diags, AP_WARNING, 307, AP_NO_POS, "%s: takes %.4g h, more than --max-hours %.4g", result->target, result->hours_p50, max_hours);
    return limit || cost || hours;
}

static ap_status run(ap_cli *cli)
{
    ap_cli_job job;
    ap_target *targets = NULL;
    ap_strings texts = ap_cli_list(cli, AP_O_ON);
    ap_status status = ap_cli_job_load(cli, cli->operand_count ? cli->operands[0] : NULL, &job);
    if (status == AP_OK)
        status = ap_cli_job_rules(cli, &job, AP_SCOPE_ESTIMATE);
    if (texts.count == 0)
        return ap_cli_usage(cli, 306, "name hardware, such as --on h100-sxm5-80gb:8 or --on aws/p5.48xlarge", "no target given");
    if (status == AP_OK)
        status = ap_search_parse_targets(&job.search, texts.items, texts.count, &cli->diags, &targets);
    if (status != AP_OK)
        return status;
    ap_result *results = AP_NEW_ARRAY(cli->arena, ap_result, texts.count);
    bool misfit = false, over = false;
    for (size_t i = 0; i < texts.count; i++) {
        ap_search_target(&job.search, &targets[i], &results[i]);
        const ap_estimate *est = &results[i].plan->est;
        over = ap_reasons_explain(job.search.reasons, &results[i]) || over;
        misfit = misfit || est->error || est->verdict == AP_DOES_NOT_FIT;
        over = over_bound(cli, &job.search, &results[i]) || over;
    }
    status = ap_cli_write_doc(cli, ap_view_estimate(cli->arena, &job.search, results, texts.count, &job.view));
    if (status != AP_OK)
        return status;
    return misfit ? AP_INFEASIBLE : over ? AP_FINDINGS : AP_OK;
}

static const ap_example examples[] = {
    {"estimate --model llama-3.1-8b --method lora --tokens 200M --on h100-sxm5-80gb:1 --on l4:8", "two targets side by side"},
    {"estimate --model resnet50 --dataset imagenet-1k --on aws/g5.xlarge --explain", "every term of a step"},
};

const ap_command ap_cmd_estimate = {
    .name = "estimate",
    .synopsis = "[WORKLOAD] --on TARGET [--on TARGET...]",
    .summary = "time, cost, memory and energy of a job on given hardware",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_JOB | AP_G_TARGET | AP_G_FILTER | AP_G_CHOICE | AP_G_BOUNDS,
    .max_operands = 1,
    .operand = "WORKLOAD",
    .values = "files",
    .run = run,
};
