/* The catalog a command works with: built in or --data, with the user's and the project's records laid over it. */
#include <string.h>

#include "cli/cli.h"
#include "io/file.h"

static ap_status overlay_user_files(ap_cli *cli)
{
    const char *dir = ap_cli_user_dir(cli->arena);
    const char **paths = NULL;
    size_t count = 0;
    if (!dir || !ap_file_is_dir(dir))
        return AP_OK;
    ap_status status = ap_file_walk(dir, ".yaml", false, cli->arena, &cli->diags, &paths, &count);
    for (size_t i = 0; status == AP_OK && i < count; i++)
        status = ap_catalog_overlay(cli->catalog, paths[i], &cli->diags);
    return status;
}

ap_status ap_cli_catalog(ap_cli *cli, const ap_catalog **ret_catalog)
{
    ap_status status = AP_OK;
    if (!cli->catalog) {
        const char *dir = ap_cli_text(cli, AP_O_DATA);
        if (dir)
            status = ap_catalog_load_dir(dir, cli->arena, &cli->diags, &cli->catalog);
        else
            cli->catalog = ap_catalog_builtin(cli->arena);
        if (status == AP_OK)
            status = overlay_user_files(cli);
        if (status == AP_OK && cli->config.project_file)
            status = ap_catalog_overlay(cli->catalog, cli->config.project_file, &cli->diags);
        if (status != AP_OK)
            cli->catalog = NULL;
    }
    *ret_catalog = cli->catalog;
    return status;
}
