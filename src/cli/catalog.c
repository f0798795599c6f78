/* The catalog a command works with: built in or --data, with the user's and the project's records laid over it. */
#include <string.h>

#include "cli/cli.h"
#include "io/file.h"

static ap_status lay(ap_cli *cli, const char *path)
{
    ap_cli_say(cli, "lays %s over the catalog", path);
    return ap_catalog_overlay(cli->catalog, path, &cli->diags);
}

static ap_status lay_folder(ap_cli *cli, const char *dir)
{
    const char **paths = NULL;
    size_t count = 0;
    ap_status status = ap_file_walk(dir, ".yaml", false, cli->arena, &cli->diags, &paths, &count);
    for (size_t i = 0; status == AP_OK && i < count; i++)
        status = lay(cli, paths[i]);
    return status;
}

static ap_status lay_prices(ap_cli *cli)
{
    const char *path = ap_cli_text(cli, AP_O_PRICES);
    if (!path)
        return AP_OK;
    ap_status status = ap_file_is_dir(path) ? lay_folder(cli, path) : lay(cli, path);
    return status == AP_BAD_INPUT ? AP_BAD_DATA : status;
}

/* The catalog holds one snapshot of prices; a day before it has none. */
static ap_status check_prices_as_of(ap_cli *cli)
{
    const char *wanted = ap_cli_text(cli, AP_O_PRICES_AS_OF), *have = cli->catalog->prices_as_of;
    if (!wanted || !have || strcmp(have, wanted) <= 0)
        return AP_OK;
    ap_diag_add(&cli->diags, AP_ERROR, 64, AP_NO_POS, "there is no snapshot of prices as old as %s; the newest prices are of %s",
                wanted, have)->hint = "give an older snapshot with --prices";
    return AP_STALE;
}

static ap_status load(ap_cli *cli)
{
    const char *dir = ap_cli_text(cli, AP_O_DATA), *user = ap_cli_user_dir(cli->arena);
    ap_status status = AP_OK;
    if (dir) {
        ap_cli_say(cli, "reads the catalog from %s", dir);
        status = ap_catalog_load_dir(dir, cli->arena, &cli->diags, &cli->catalog);
    } else {
        cli->catalog = ap_catalog_builtin(cli->arena);
    }
    if (status == AP_OK && user && ap_file_is_dir(user))
        status = lay_folder(cli, user);
    if (status == AP_OK && cli->config.project_file)
        status = lay(cli, cli->config.project_file);
    if (status == AP_OK)
        status = lay_prices(cli);
    return status == AP_OK ? check_prices_as_of(cli) : status;
}

ap_status ap_cli_catalog(ap_cli *cli, const ap_catalog **ret_catalog)
{
    ap_status status = cli->catalog ? AP_OK : load(cli);
    if (status != AP_OK)
        cli->catalog = NULL;
    *ret_catalog = cli->catalog;
    return status;
}
