/* recommend: ranked hardware for a workload. */
#include "cli/job.h"
#include "plan/advice.h"
#include "rules/ruleset.h"

static ap_status run(ap_cli *cli)
{
    ap_cli_job job;
    ap_status status = ap_cli_job_load(cli, cli->operand_count ? cli->operands[0] : NULL, &job);
    if (status == AP_OK)
        status = ap_cli_job_rules(cli, &job, AP_SCOPE_RECOMMEND);
    if (status != AP_OK)
        return status;
    ap_search_run(&job.search);
    const ap_advice *advice;
    size_t advice_count = ap_search_conclude(&job.search, job.view.build_all ? 0 : ap_cli_limit(cli), &advice);
    ap_doc *doc = ap_view_recommendation(cli->arena, &job.search, advice, advice_count, &job.view);
    status = ap_cli_sort_items(cli, doc, "results");
    if (status == AP_OK)
        status = ap_cli_write_doc(cli, doc);
    if (status != AP_OK)
        return status;
    return job.search.result_count ? AP_OK : AP_INFEASIBLE;
}

static const ap_example examples[] = {
    {"recommend --model llama-3.1-8b --method lora --tokens 200M", "hardware to fine-tune an 8B model"},
    {"recommend --model resnet50 --dataset imagenet-1k --epochs 90 --objective time", "the fastest for ResNet-50"},
    {"recommend --model xgboost --dataset higgs", "is a GPU worth it for trees?"},
};

const ap_command ap_cmd_recommend = {
    .name = "recommend",
    .synopsis = "[WORKLOAD]",
    .summary = "rank hardware for a training job by time, cost and fit",
    .description = "Ranks every machine of the catalog that can run the job, with time, cost, memory and energy, and says why others cannot. "
                   "WORKLOAD is a YAML or JSON document, - for standard input; options describe or override it.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_JOB | AP_G_LIST | AP_G_FILTER | AP_G_CHOICE | AP_G_RIG,
    .max_operands = 1,
    .operand = "WORKLOAD",
    .values = "files",
    .run = run,
};
