/* The constants a command estimates with: built in or of --data, with the user's own (calibrate --write) laid over. */
#include "cli/cli.h"
#include "estimate/calibration.h"
#include "io/file.h"

const char *ap_cli_calibration_dir(ap_arena *arena)
{
    const char *dir = ap_cli_user_dir(arena);
    return dir ? ap_arena_printf(arena, "%s/calibration", dir) : NULL;
}

static ap_status load_dir(ap_cli *cli, const char *dir, ap_calibration **ret)
{
    const char **paths = NULL;
    size_t count = 0;
    ap_status status = ap_file_walk(dir, ".yaml", false, cli->arena, &cli->diags, &paths, &count);
    if (status != AP_OK)
        return status;
    return ap_calibration_load(paths, count, cli->arena, &cli->diags, ret);
}

ap_status ap_cli_calibration(ap_cli *cli, const ap_calibration **ret_calibration)
{
    *ret_calibration = NULL;
    ap_calibration *calibration = NULL;
    const char *data = ap_cli_text(cli, AP_O_DATA);
    const char *folder = data ? ap_arena_printf(cli->arena, "%s/calibration", data) : NULL;
    if (folder && ap_file_is_dir(folder)) {
        ap_status status = load_dir(cli, folder, &calibration);
        if (status != AP_OK)
            return status;
    } else {
        calibration = ap_calibration_copy(ap_calibration_builtin(cli->arena), cli->arena);
    }
    const char *own = ap_cli_calibration_dir(cli->arena);
    if (own && ap_file_is_dir(own)) {
        ap_calibration *users = NULL;
        ap_status status = load_dir(cli, own, &users);
        if (status != AP_OK)
            return status;
        for (size_t i = 0; i < users->engines.count; i++)
            ap_calibration_overlay(calibration, &users->engines.items[i]);
    }
    *ret_calibration = calibration;
    return AP_OK;
}
