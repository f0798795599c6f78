/* guard: runs a command and stops it where the money or the time ends. */
#include <string.h>

#include "catalog/target.h"
#include "cli/cli.h"
#include "cli/guard.h"

static ap_status price_of_target(ap_cli *cli, const char *text, double *ret_usd_per_h)
{
    const ap_catalog *catalog;
    ap_target target;
    ap_target_options options = {.pricing = AP_PRICE_ON_DEMAND};
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status == AP_OK)
        status = ap_target_parse(catalog, text, &options, cli->arena, &cli->diags, &target);
    if (status != AP_OK)
        return status;
    *ret_usd_per_h = target.price_usd_per_h;
    if (!ap_known(*ret_usd_per_h))
        return ap_cli_usage(cli, 851, "say it yourself: --price-hour 2.5", "%s: price unknown%s%s", target.text,
                            target.price_unknown ? ": " : "", target.price_unknown ? target.price_unknown : "");
    if (!ap_cli_flag(cli, AP_O_QUIET))
        ap_diag_add(&cli->diags, AP_NOTE, 853, AP_NO_POS, "%s costs %.6g USD an hour, as of %s", target.text,
                    *ret_usd_per_h, target.price && target.price->as_of ? target.price->as_of : "an unknown day");
    return AP_OK;
}

static ap_status find_price(ap_cli *cli, double *ret_usd_per_h)
{
    ap_strings targets = ap_cli_list(cli, AP_O_ON);
    *ret_usd_per_h = ap_cli_number(cli, AP_O_PRICE_HOUR);
    if (targets.count > 1 || (targets.count == 1 && ap_known(*ret_usd_per_h)))
        return ap_cli_usage(cli, 851, NULL, "give one price: --on TARGET or --price-hour USD");
    if (targets.count == 1)
        return price_of_target(cli, targets.items[0], ret_usd_per_h);
    if (ap_known(ap_cli_number(cli, AP_O_BUDGET)) && !ap_known(*ret_usd_per_h))
        return ap_cli_usage(cli, 851, "--on TARGET or --price-hour USD", "a budget needs a price");
    return AP_OK;
}

static char **command_of(ap_cli *cli)
{
    char **words = AP_NEW_ARRAY(cli->arena, char *, cli->operand_count + 1);
    for (size_t i = 0; i < cli->operand_count; i++)
        words[i] = ap_arena_strdup(cli->arena, cli->operands[i]);
    return words;
}

static ap_status run(ap_cli *cli)
{
    double usd_per_h, budget = ap_cli_number(cli, AP_O_BUDGET), deadline = ap_cli_number(cli, AP_O_DEADLINE);
    if (cli->after_dashes > 0)
        return ap_cli_usage(cli, 851, "accelpick guard --budget 200 --on TARGET -- CMD...",
                            "the command stands behind --");
    if (!ap_known(budget) && !ap_known(deadline))
        return ap_cli_usage(cli, 851, "--budget USD, --deadline DURATION or both", "there is no limit to guard");
    ap_status status = find_price(cli, &usd_per_h);
    const char *pattern = ap_cli_text(cli, AP_O_PROGRESS);
    ap_guard guard = {.command = command_of(cli),
                      .log = ap_cli_text(cli, AP_O_LOG),
                      .grace_s = ap_or(ap_cli_number(cli, AP_O_GRACE), 30),
                      .every_s = ap_or(ap_cli_number(cli, AP_O_EVERY), 60),
                      .quiet = ap_cli_flag(cli, AP_O_QUIET)};
    ap_watch_init(&guard.watch, usd_per_h, budget, deadline, ap_cli_number(cli, AP_O_STEPS));
    if (guard.log && !pattern)
        status = ap_cli_usage(cli, 851, "--progress 'step (\\d+)/(\\d+)'", "--log needs --progress");
    if (status == AP_OK && pattern)
        status = ap_progress_new(pattern, cli->arena, &cli->diags, &guard.progress);
    if (status != AP_OK)
        return status;
    ap_cli_show_diags(cli); /* now, not after the run */
    int code = ap_guard_run(&guard, cli->arena);
    ap_progress_free(guard.progress);
    return (ap_status)code;
}

static const ap_example examples[] = {
    {"guard --budget 0.01 --on h100-sxm5-80gb:8 -- true", "a command that ends in time keeps its exit code"},
    {"guard --deadline 1h --price-hour 2.5 --progress 'step (\\d+)/(\\d+)' -- echo 'step 10/100'",
     "reads the step out of the command's output"},
};

const ap_command ap_cmd_guard = {
    .name = "guard",
    .synopsis = "--budget USD [--deadline D] [--on TARGET] -- CMD...",
    .summary = "run a command and stop it at a limit of money or time",
    .description =
        "Runs CMD in a process group of its own and says every minute what it has cost and, with --progress, when it "
        "will be done. At 80 % of "
        "the limit it warns; at the limit it sends SIGTERM, after --grace SIGKILL, and exits with 1. Otherwise the "
        "exit code is the "
        "command's: 127 when there is no such command, 126 when it cannot be run, 128 + n when signal n ended it.\n\n"
        "Signals are passed on. What the command leaves running is killed when it ends. Works without a network.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_LIMITS | AP_G_TARGET | AP_G_DATA | AP_G_GUARD,
    .min_operands = 1,
    .max_operands = AP_ANY_NUMBER,
    .operand = "CMD",
    .run = run,
};
