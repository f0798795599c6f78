/* The catalog a command works with: built in or --data, with the user's and the project's records laid over it. */
#include <string.h>

#include "cli/cli.h"
#include "io/file.h"
#include "prices/prices.h"

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

/* ---- prices ------------------------------------------------------------------------------------------------------ */

const char *ap_cli_price_store(ap_cli *cli)
{
    const char *path = ap_cli_text(cli, AP_O_PRICES);
    return path ? path : ap_store_default_dir(cli->arena);
}

static bool is_snapshot_path(ap_cli *cli, const char *path)
{
    ap_strings paths;
    if (!ap_file_is_dir(path))
        return ap_snapshot_is_file(path);
    return ap_store_list(path, cli->arena, &cli->diags, &paths) == AP_OK && paths.count > 0;
}

static const char *dates_of(ap_cli *cli, const char *dir)
{
    ap_strings paths = {0};
    ap_sbuf text;
    ap_sbuf_init(&text, cli->arena);
    if (dir && ap_store_list(dir, cli->arena, &cli->diags, &paths) != AP_OK)
        return "none";
    for (size_t i = 0; i < paths.count; i++) {
        const char *slash = strrchr(paths.items[i], '/');
        ap_sbuf_printf(&text, "%s%.10s", i ? ", " : "", slash ? slash + 1 : paths.items[i]);
    }
    return paths.count ? text.text : "none";
}

static ap_status no_prices_as_of(ap_cli *cli, const char *wanted, const char *dir)
{
    ap_diag_add(&cli->diags, AP_ERROR, 64, AP_NO_POS, "there is no snapshot of prices as old as %s; there are: %s; built in: %s", wanted,
                dates_of(cli, dir), ap_catalog_builtin_prices_as_of())->hint = "give an older snapshot with --prices";
    return AP_STALE;
}

ap_status ap_cli_prices(ap_cli *cli, const ap_snapshot **ret_snapshot)
{
    const char *given = ap_cli_text(cli, AP_O_PRICES), *wanted = ap_cli_text(cli, AP_O_PRICES_AS_OF), *dir = ap_cli_price_store(cli);
    *ret_snapshot = NULL;
    if (given && !ap_file_is_dir(given)) {
        ap_snapshot *one = AP_NEW(cli->arena, ap_snapshot);
        *ret_snapshot = one;
        return ap_snapshot_read(given, cli->arena, &cli->diags, one);
    }
    ap_status status = dir ? ap_store_open(dir, wanted, cli->arena, &cli->diags, ret_snapshot) : AP_OK;
    const char *builtin = ap_catalog_builtin_prices_as_of();
    if (status == AP_OK && wanted && !*ret_snapshot && (!builtin || strcmp(builtin, wanted) > 0))
        return no_prices_as_of(cli, wanted, dir);
    return status;
}

/* List prices: over what is built in, under what the user says. A snapshot that was asked for holds whatever its age. */
static ap_status lay_snapshot(ap_cli *cli)
{
    const char *given = ap_cli_text(cli, AP_O_PRICES);
    if (given && !is_snapshot_path(cli, given))
        return AP_OK;
    const ap_snapshot *snapshot;
    ap_status status = ap_cli_prices(cli, &snapshot);
    if (status != AP_OK || !snapshot)
        return status;
    ap_cli_say(cli, "lays the prices of %s over the catalog", snapshot->path);
    ap_prices_lay(cli->catalog, snapshot, given || ap_cli_text(cli, AP_O_PRICES_AS_OF));
    cli->prices = snapshot;
    return AP_OK;
}

bool ap_cli_snapshot_rate(const ap_cli *cli, const char *currency, double *ret_rate, const char **ret_origin)
{
    for (size_t i = 0; cli->prices && i < cli->prices->rates.count; i++) {
        const ap_rate *rate = &cli->prices->rates.items[i];
        if (!ap_streq(rate->currency, currency) || !(rate->usd > 0))
            continue;
        *ret_rate = 1 / rate->usd;
        *ret_origin = ap_arena_printf(cli->arena, "%s, %s", rate->source, rate->as_of);
        return true;
    }
    return false;
}

/* --prices may also name catalog files with offers. */
static ap_status lay_prices(ap_cli *cli)
{
    const char *path = ap_cli_text(cli, AP_O_PRICES);
    if (!path || is_snapshot_path(cli, path))
        return AP_OK;
    ap_status status = ap_file_is_dir(path) ? lay_folder(cli, path) : lay(cli, path);
    if (status != AP_OK)
        return status == AP_BAD_INPUT ? AP_BAD_DATA : status;
    const char *wanted = ap_cli_text(cli, AP_O_PRICES_AS_OF), *have = cli->catalog->prices_as_of;
    return wanted && have && strcmp(have, wanted) > 0 ? no_prices_as_of(cli, wanted, NULL) : AP_OK;
}

static ap_status load(ap_cli *cli)
{
    const char *dir = ap_cli_text(cli, AP_O_DATA), *user = ap_cli_user_dir(cli->arena);
    ap_status status = AP_OK;
    if (dir) {
        ap_cli_say(cli, "reads the catalog from %s", dir);
        status = ap_catalog_load_dir(dir, cli->arena, &cli->diags, &cli->catalog);
        if (status == AP_OK && cli->catalog->chips.count == 0) {
            ap_diag_add(&cli->diags, AP_ERROR, 709, AP_NO_POS, "--data: there are no chips in '%s'", dir)->hint =
                "a folder like the project's data/, with chips/, offers/, models/ …";
            status = AP_BAD_DATA;
        }
    } else {
        cli->catalog = ap_catalog_builtin(cli->arena);
    }
    bool prices = cli->command && ap_streq(cli->command->name, "prices"); /* looks at them, does not compute with them */
    if (status == AP_OK && !prices)
        status = lay_snapshot(cli);
    if (status == AP_OK && user && ap_file_is_dir(user))
        status = lay_folder(cli, user);
    if (status == AP_OK && cli->config.project_file)
        status = lay(cli, cli->config.project_file);
    if (status == AP_OK && !prices)
        status = lay_prices(cli);
    return status;
}

ap_status ap_cli_catalog(ap_cli *cli, const ap_catalog **ret_catalog)
{
    ap_status status = cli->catalog ? AP_OK : load(cli);
    if (status != AP_OK)
        cli->catalog = NULL;
    *ret_catalog = cli->catalog;
    return status;
}
