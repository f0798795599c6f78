#include "cli/cli.h"

static ap_status run(ap_cli *cli)
{
    ap_doc *doc = ap_cli_new_doc(cli, "version");
    ap_doc_paragraph(doc, "accelpick %s", AP_VERSION);
    return ap_cli_write_doc(cli, doc);
}

static const ap_example examples[] = {{"version", "the version"}, {"version --json", "the version, for scripts"}};

const ap_command ap_cmd_version = {
    .name = "version",
    .synopsis = "",
    .summary = "show the version",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_OUTPUT,
    .plain = true,
    .run = run,
};
