/* init: starter files. A workload to describe, or an integration into a CI that works as written. */
#include <string.h>

#include "cli/cli.h"
#include "io/file.h"

static const char workload_text[] = "# What is trained. Every key is described by `accelpick catalog schema workload`; "
                                    "what is absent is assumed and named.\n"
                                    "name: my-finetune\n"
                                    "model: llama-3.1-8b        # accelpick list models\n"
                                    "method: lora               # pretrain | train | finetune | lora | qlora | dpo\n"
                                    "sequence_length: 2048\n"
                                    "global_batch: 64\n"
                                    "data: {tokens: 50M}\n"
                                    "constraints: {deadline: 24h, budget: 200}\n";

static const char github_text[] =
    "name: accelpick\n"
    "on:\n"
    "  pull_request:\n"
    "permissions:\n"
    "  contents: read\n"
    "  pull-requests: write\n"
    "  security-events: write\n"
    "jobs:\n"
    "  check:\n"
    "    runs-on: ubuntu-latest\n"
    "    timeout-minutes: 10\n"
    "    steps:\n"
    "      - uses: actions/checkout@v4\n"
    "        with:\n"
    "          fetch-depth: 0\n"
    "      # accelpick must be on the runner's PATH: a release archive, a package, or an image of yours\n"
    "      - name: Check job files\n"
    "        run: accelpick check . --format github --fail-on error\n"
    "      - name: Comment on what changes\n"
    "        if: always()\n"
    "        env:\n"
    "          GH_TOKEN: ${{ github.token }}\n"
    "          NUMBER: ${{ github.event.pull_request.number }}\n"
    "          BASE: ${{ github.event.pull_request.base.sha }}\n"
    "        run: |\n"
    "          git worktree add ../base \"$BASE\"\n"
    "          { echo '### Training jobs'; accelpick diff ../base . --format markdown --fail-on never; accelpick check "
    ". --format markdown --fail-on never; } > comment.md\n"
    "          gh pr comment \"$NUMBER\" --body-file comment.md --edit-last || gh pr comment \"$NUMBER\" --body-file "
    "comment.md\n"
    "      - name: Findings for code scanning\n"
    "        if: always()\n"
    "        run: accelpick check . --format sarif --fail-on never --output accelpick.sarif\n"
    "      - uses: github/codeql-action/upload-sarif@v3\n"
    "        if: always()\n"
    "        with:\n"
    "          sarif_file: accelpick.sarif\n";

static const char gitlab_text[] = "# Include this from .gitlab-ci.yml:  include: {local: .gitlab/accelpick.yml}\n"
                                  "# The image must have accelpick on its PATH.\n"
                                  "accelpick:\n"
                                  "  stage: test\n"
                                  "  timeout: 10 minutes\n"
                                  "  script:\n"
                                  "    - accelpick check . --format junit --fail-on never --output accelpick.xml\n"
                                  "    - accelpick check . --fail-on error\n"
                                  "  artifacts:\n"
                                  "    when: always\n"
                                  "    reports:\n"
                                  "      junit: accelpick.xml\n";

static const char precommit_text[] = "repos:\n"
                                     "  - repo: local\n"
                                     "    hooks:\n"
                                     "      - id: accelpick\n"
                                     "        name: accelpick check\n"
                                     "        entry: accelpick check --fail-on error\n"
                                     "        language: system\n"
                                     "        types_or: [yaml, json, toml, shell, jupyter]\n";

typedef struct starter {
    ap_opt_id option;
    const char *path, *text, *next;
} starter;

static const starter starters[] = {
    {AP_O_GITHUB_ACTIONS, ".github/workflows/accelpick.yml", github_text,
     "commit it; pull requests then get annotations and a comment"},
    {AP_O_GITLAB, ".gitlab/accelpick.yml", gitlab_text, "include it from .gitlab-ci.yml"},
    {AP_O_PRE_COMMIT, ".pre-commit-config.yaml", precommit_text, "run: pre-commit install"},
};

static ap_status write_starter(ap_cli *cli, const char *path, const char *text, const char *next)
{
    if (ap_file_exists(path)) {
        (void)ap_cli_usage(cli, 64, "remove it first, or add the lines yourself (--output - prints them)",
                           "%s exists already", path);
        return AP_USAGE;
    }
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        ap_status status = ap_file_make_dir(ap_arena_strndup(cli->arena, path, (size_t)(slash - path)), &cli->diags);
        if (status != AP_OK)
            return status;
    }
    ap_status status = ap_file_write_atomic(path, text, strlen(text), &cli->diags);
    if (status != AP_OK)
        return status;
    const char *told = ap_arena_printf(cli->arena, "wrote %s: %s\n", path, next);
    return ap_cli_write_text(cli, told, strlen(told));
}

static ap_status run(ap_cli *cli)
{
    bool any = false, print = ap_cli_text(cli, AP_O_OUTPUT) != NULL;
    ap_status worst = AP_OK;
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
        if (!ap_cli_flag(cli, starters[i].option))
            continue;
        any = true;
        ap_status status = print ? ap_cli_write_text(cli, starters[i].text, strlen(starters[i].text))
                                 : write_starter(cli, starters[i].path, starters[i].text, starters[i].next);
        worst = status > worst ? status : worst;
    }
    if (any)
        return worst;
    return print
               ? ap_cli_write_text(cli, workload_text, strlen(workload_text))
               : write_starter(cli, "workload.yaml", workload_text, "edit it, then: accelpick recommend workload.yaml");
}

static const ap_example examples[] = {
    {"init --output -", "a workload to start from, printed"},
    {"init --github-actions --output -", "a workflow that checks pull requests, printed"},
};

const ap_command ap_cmd_init = {
    .name = "init",
    .synopsis = "[--github-actions] [--gitlab] [--pre-commit]",
    .summary = "write starter files: a workload, or a check in your CI",
    .description = "Without options, workload.yaml is written to the current folder. A file that exists is never "
                   "touched. --output - prints instead.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_OUTPUT | AP_G_INIT,
    .max_operands = 0,
    .run = run,
};
