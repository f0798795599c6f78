/* check: reads job files and judges them; the gate of a CI. */
#include <string.h>

#include "cli/job.h"
#include "estimate/calibration.h"
#include "jobs/baseline.h"
#include "plan/knowledge.h"
#include "view/check.h"

static bool reaches(const ap_cli *cli, const ap_check_count *count)
{
    const char *level = ap_cli_text_or(cli, AP_O_FAIL_ON, "error");
    if (strcmp(level, "never") == 0)
        return false;
    return count->errors > 0 || (strcmp(level, "warning") == 0 && count->warnings > 0);
}

/* --workload and the policies named by --rules and in the configuration. Knowledge about hardware to choose is not what
 * a job needs that is already written. */
static ap_status load_documents(ap_cli *cli, ap_jobs_request *request, ap_workload *workload)
{
    const char *document = ap_cli_text(cli, AP_O_WORKLOAD);
    ap_knowledge_request wanted = {.data_dir = ap_cli_text(cli, AP_O_DATA),
                                   .policies = ap_cli_list(cli, AP_O_RULES),
                                   .config = cli->config.policies,
                                   .without_knowledge = true};
    ap_ruleset *policies = NULL;
    ap_status status = AP_OK;
    if (document) {
        status = ap_workload_load(document, cli->arena, &cli->diags, workload);
        request->workload = workload;
    }
    if (status == AP_OK && (wanted.policies.count || wanted.config))
        status = ap_knowledge_load(&wanted, cli->arena, &cli->diags, &policies);
    request->policies = policies;
    request->as_of = ap_cli_today(cli);
    return status;
}

static ap_status run(ap_cli *cli)
{
    const ap_catalog *catalog;
    const ap_calibration *calibration;
    const char *format = ap_cli_text(cli, AP_O_INPUT_FORMAT);
    int known = format ? ap_jobformat_parse(format) : AP_JF_UNKNOWN;
    if (known < 0)
        return ap_cli_usage(cli, 303,
                            "slurm, k8s, skypilot, dstack, accelerate, deepspeed … (docs/check.md lists them)",
                            "unknown job format \"%s\"", format);
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status == AP_OK)
        status = ap_cli_calibration(cli, &calibration);
    if (status != AP_OK)
        return status;
    ap_strings groups = ap_cli_list(cli, AP_O_JOB);
    if (cli->operand_count == 0 && groups.count == 0)
        return ap_cli_usage(cli, 57, "name files or folders, or - for standard input",
                            "'check' needs at least one PATH");
    ap_jobs_request request = {.catalog = catalog,
                               .calibration = calibration,
                               .format = (ap_jobformat)known,
                               .paths = cli->operands,
                               .path_count = cli->operand_count,
                               .groups = groups.items,
                               .group_count = groups.count,
                               .estimate = true,
                               .max_cost_usd = ap_cli_number(cli, AP_O_MAX_COST),
                               .max_hours = ap_cli_number(cli, AP_O_MAX_HOURS)};
    ap_workload workload;
    const char *baseline = ap_cli_text(cli, AP_O_BASELINE);
    status = load_documents(cli, &request, &workload);
    if (status != AP_OK)
        return status;
    ap_jobs jobs;
    ap_status read = ap_jobs_check(&request, cli->arena, &cli->diags, &jobs);
    if (baseline)
        status = ap_jobs_apply_baseline(&jobs, baseline, &cli->diags);
    if (status != AP_OK)
        return status;
    ap_check_count count;
    ap_format form = ap_cli_format(cli);
    ap_check_options options = {.findings_as_table = form == AP_FORMAT_MARKDOWN || form == AP_FORMAT_HTML};
    status = ap_cli_write_doc(cli, ap_view_check(cli->arena, &jobs, catalog, &options, &count));
    if (status != AP_OK)
        return status;
    return read != AP_OK ? read : reaches(cli, &count) ? AP_FINDINGS : AP_OK;
}

static const ap_example examples[] = {
    {"check tests/jobs --fail-on never", "every job file below a folder"},
};

const ap_command ap_cmd_check = {
    .name = "check",
    .synopsis = "PATH... [--job FILE,FILE] [--input-format NAME]",
    .summary = "read job files and report what is wrong with them",
    .description = "PATH is a file or a folder (dot files included), - is standard input. Read are batch scripts, "
                   "manifests and configurations of\n"
                   "schedulers, clouds and training frameworks; which they are is recognised by content. Files that "
                   "refer to one another make one\n"
                   "job, as do those named together by --job.\n\n"
                   "Findings are errors (it fails, is killed or cannot be scheduled), warnings (it wastes most of the "
                   "money, or is not what was\n"
                   "meant) and notes. Exit code 1 says that there are findings at or above --fail-on. A comment "
                   "\"accelpick: ignore AP7017 reason\"\n"
                   "on the line or the one before silences a finding.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_OUTPUT | AP_G_CHECK | AP_G_BOUNDS | AP_G_DATA | AP_G_MONEY | AP_G_RULES,
    .max_operands = AP_ANY_NUMBER,
    .operand = "PATH",
    .values = "files",
    .run = run,
};
