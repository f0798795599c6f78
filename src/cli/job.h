/* What recommend, estimate and their kin start from: the workload (file, options, configuration), resolved to a job, and
 * a search over the catalog with the user's limits. */
#ifndef AP_CLI_JOB_H
#define AP_CLI_JOB_H

#include "cli/cli.h"
#include "plan/plan.h"
#include "view/view.h"

typedef struct ap_cli_job {
    ap_workload workload;
    ap_job job;
    ap_plan_options options;
    ap_search search; /* ready to run */
    ap_view_options view;
    const char *dir; /* folder that relative paths in the workload start from */
} ap_cli_job;

/* `path` is the WORKLOAD operand or NULL. */
AP_CHECKED ap_status ap_cli_job_load(ap_cli *cli, const char *path, ap_cli_job *ret);
/* Limits, format and ages of the command line for commands without a workload (list). */
void ap_cli_view_options(ap_cli *cli, ap_view_options *ret);
/* Lays the filter options over constraints; chip spellings become ids. AP_USAGE for an unknown name. */
AP_CHECKED ap_status ap_cli_constraints(ap_cli *cli, const ap_catalog *catalog, ap_constraints *constraints);
/* --sort over the document's main list. */
AP_CHECKED ap_status ap_cli_sort_items(ap_cli *cli, ap_doc *doc, const char *list);
/* Loads rules and policies (--rules, config) and puts them to work in the search. */
AP_CHECKED ap_status ap_cli_job_rules(ap_cli *cli, ap_cli_job *job, unsigned scope);

#endif
