/* estimate: the full breakdown for given targets. */
#include "catalog/target.h"
#include "cli/job.h"
#include "plan/reasons.h"

static ap_hardware hardware_of(const ap_catalog *catalog, const ap_target *target)
{
    if (target->rig)
        return ap_hardware_of_rig(catalog, target->rig, target->units);
    if (target->instance && !target->is_chip_target)
        return ap_hardware_of_instance(catalog, target->instance, target->units);
    ap_hardware hw = ap_hardware_of_chip(target->chip, target->chip_count);
    hw.hosts = hw.machines = target->nodes;
    hw.chips_per_host = target->chips_per_node;
    return hw;
}

static void evaluate(ap_search *search, const ap_target *target, ap_result *ret)
{
    ap_hardware hw = hardware_of(search->catalog, target);
    const ap_plan *plan = ap_search_plan(search, &hw);
    *ret = (ap_result){.hw = hw, .target = target->text, .priced_from = target->priced_from};
    ap_result_fill(search, plan, target->price, target->pricing, ret);
    if (target->is_chip_target)
        ap_result_set_price(ret, target->price, target->price_usd_per_h);
}

/* The targets of --on, each parsed with all faults reported. */
static ap_status parse_targets(ap_cli *cli, const ap_search *search, ap_target **ret_targets, size_t *ret_count)
{
    ap_strings texts = ap_cli_list(cli, AP_O_ON);
    const ap_constraints *limits = &search->options->constraints;
    ap_target_options options = {.pricing = limits->pricing.count == 1 ? ap_price_kind_parse(limits->pricing.items[0]) : AP_PRICE_ON_DEMAND,
                                 .region_globs = limits->regions.count ? &limits->regions : NULL,
                                 .cloud_globs = limits->clouds.count ? &limits->clouds : NULL};
    if (options.pricing < 0)
        options.pricing = AP_PRICE_ON_DEMAND;
    if (texts.count == 0)
        return ap_cli_usage(cli, 306, "name hardware, such as --on h100-sxm5-80gb:8 or --on aws/p5.48xlarge", "no target given");
    ap_target *targets = AP_NEW_ARRAY(cli->arena, ap_target, texts.count);
    ap_status worst = AP_OK;
    for (size_t i = 0; i < texts.count; i++) {
        ap_status status = ap_target_parse(search->catalog, texts.items[i], &options, cli->arena, &cli->diags, &targets[i]);
        worst = status > worst ? status : worst;
    }
    *ret_targets = targets;
    *ret_count = texts.count;
    return worst;
}

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
    size_t count = 0;
    ap_status status = ap_cli_job_load(cli, cli->operand_count ? cli->operands[0] : NULL, &job);
    if (status == AP_OK)
        status = ap_cli_job_rules(cli, &job, AP_SCOPE_ESTIMATE);
    if (status == AP_OK)
        status = parse_targets(cli, &job.search, &targets, &count);
    if (status != AP_OK)
        return status;
    ap_result *results = AP_NEW_ARRAY(cli->arena, ap_result, count);
    bool misfit = false, over = false;
    for (size_t i = 0; i < count; i++) {
        evaluate(&job.search, &targets[i], &results[i]);
        const ap_estimate *est = &results[i].plan->est;
        over = ap_reasons_explain(job.search.reasons, &results[i]) || over;
        misfit = misfit || est->error || est->verdict == AP_DOES_NOT_FIT;
        over = over_bound(cli, &job.search, &results[i]) || over;
    }
    status = ap_cli_write_doc(cli, ap_view_estimate(cli->arena, &job.search, results, count, &job.view));
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
    .groups = AP_G_JOB | AP_G_TARGET | AP_G_FILTER | AP_G_CHOICE | AP_G_BOUNDS | AP_G_RIG,
    .max_operands = 1,
    .operand = "WORKLOAD",
    .values = "files",
    .run = run,
};
