/* Any argv is answered: values are taken or refused, nothing crashes. Words of the input are separated by NUL or newline. */
#include <stdint.h>

#include "../../src/cli/options.c"
#include "../../src/cli/settings.c"

static const ap_command all = {.name = "all", .groups = ~0u, .max_operands = AP_ANY_NUMBER};
static const ap_command few = {.name = "few", .groups = AP_G_OUTPUT, .max_operands = 1, .min_operands = 1};
const ap_command *const ap_commands[] = {&all, &few, NULL};

ap_status ap_cli_usage(ap_cli *cli, int code, const char *hint, const char *format, ...)
{
    ap_diag_add(&cli->diags, AP_ERROR, code, AP_NO_POS, "%s", format)->hint = hint;
    return AP_USAGE;
}

const char *ap_option_env(ap_arena *arena, const ap_option *option)
{
    return ap_arena_strdup(arena, option->name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 64 };
    AP_SCOPED_ARENA *arena = ap_arena_new();
    char *text = ap_arena_strndup(arena, (const char *)data, size), *argv[MOST + 1] = {NULL};
    int argc = 0;
    argv[argc++] = ap_arena_strdup(arena, "accelpick");
    for (size_t at = 0; at < size && argc < MOST;) {
        argv[argc++] = text + at;
        while (at < size && text[at] != '\0' && text[at] != '\n')
            at++;
        text[at++] = '\0';
    }
    ap_cli *cli = AP_NEW(arena, ap_cli);
    cli->arena = arena;
    ap_diags_init(&cli->diags, arena);
    if (ap_cli_parse(cli, argc, argv) == AP_OK) {
        const ap_assignment *items;
        (void)ap_cli_assignments(cli, &items);
        (void)ap_cli_limit(cli);
    }
    return 0;
}
