/* accelpick: which accelerator to train a model on. The program: parse, configure, run one command, say what was wrong. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/cli.h"

extern const ap_command ap_cmd_version;

/* A closed standard descriptor must not be reused by the next open(): findings would land in a data file. Standard output
 * is opened for reading only, so that writing to it still fails and is reported. */
static void guard_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", fd == STDERR_FILENO ? O_RDWR : O_RDONLY) < 0)
            return;
}

static ap_status show_help(ap_cli *cli)
{
    ap_sbuf out;
    ap_sbuf_init(&out, cli->arena);
    if (cli->command)
        ap_help_write_command(cli->command, &out, ap_cli_width(cli));
    else
        ap_help_write_global(&out, ap_cli_width(cli));
    return ap_cli_write_text(cli, out.text, out.len);
}

static ap_status run(ap_cli *cli, int argc, char **argv)
{
    ap_status status = ap_cli_parse(cli, argc, argv);
    if (ap_cli_flag(cli, AP_O_HELP) && (cli->command || cli->operand_count == 0)) {
        ap_diags_init(&cli->diags, cli->arena);
        return show_help(cli);
    }
    if (status != AP_OK)
        return status;
    if (ap_cli_flag(cli, AP_O_VERSION))
        return ap_cmd_version.run(cli);
    assert(cli->command); /* parsing without one is a usage error */
    status = cli->command->plain ? AP_OK : ap_cli_configure(cli);
    return status == AP_OK ? cli->command->run(cli) : status;
}

int main(int argc, char **argv)
{
    guard_descriptors();
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_cli *cli = AP_NEW(arena, ap_cli);
    cli->arena = arena;
    ap_diags_init(&cli->diags, arena);
    ap_status status = run(cli, argc, argv);
    ap_cli_show_diags(cli);
    return (int)status;
}
