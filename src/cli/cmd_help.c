/* help: of everything or of one command; also prints the manual page and the reference that docs/ keeps. */
#include "base/text.h"
#include "cli/cli.h"

static ap_status unknown_command(ap_cli *cli)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, cli->operands[0]);
    for (size_t i = 0; ap_commands[i]; i++)
        ap_suggest_offer(&suggest, ap_commands[i]->name);
    return ap_cli_usage(cli, 50, ap_suggest_text(&suggest, cli->arena), "unknown command '%s'", cli->operands[0]);
}

static ap_status run(ap_cli *cli)
{
    ap_sbuf out;
    ap_sbuf_init(&out, cli->arena);
    const ap_command *command = cli->operand_count ? ap_command_find(cli->operands[0]) : NULL;
    if (cli->operand_count && !command)
        return unknown_command(cli);
    if (ap_cli_flag(cli, AP_O_MAN))
        ap_help_write_man(&out);
    else if (ap_cli_flag(cli, AP_O_MARKDOWN))
        ap_help_write_markdown(&out);
    else if (ap_cli_flag(cli, AP_O_EXAMPLES))
        ap_help_write_examples(&out);
    else if (command)
        ap_help_write_command(command, &out, ap_cli_width(cli));
    else
        ap_help_write_global(&out, ap_cli_width(cli));
    return ap_cli_write_text(cli, out.text, out.len);
}

static const ap_example examples[] = {{"help", "all commands"}, {"help completion", "one command"}};

const ap_command ap_cmd_help = {
    .name = "help",
    .synopsis = "[COMMAND]",
    .summary = "explain accelpick or one of its commands",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_HELP,
    .max_operands = 1,
    .values = "commands",
    .plain = true,
    .run = run,
};
