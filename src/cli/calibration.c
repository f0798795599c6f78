/* The constants a command estimates with: built in or of --data, with the user's own (calibrate --write) laid over. */
#include "cli/cli.h"
#include "estimate/calibration.h"
#include "io/file.h"

const char *ap_cli_calibration_dir(ap_arena *arena)
{
    const char *dir = ap_cli_user_dir(arena);
    return dir ? ap_arena_printf(arena, "%s/calibration", dir) : NULL;
}

static ap_status load_base(ap_cli *cli, ap_calibration **ret)
{
    return ap_calibration_of_data(ap_cli_text(cli, AP_O_DATA), cli->arena, &cli->diags, ret);
}

ap_status ap_cli_base_calibration(ap_cli *cli, const ap_calibration **ret_calibration)
{
    ap_calibration *calibration = NULL;
    ap_status status = load_base(cli, &calibration);
    *ret_calibration = status == AP_OK ? calibration : NULL;
    return status;
}

ap_status ap_cli_calibration(ap_cli *cli, const ap_calibration **ret_calibration)
{
    *ret_calibration = NULL;
    ap_calibration *calibration = NULL;
    ap_status base = load_base(cli, &calibration);
    if (base != AP_OK)
        return base;
    const char *own = ap_cli_calibration_dir(cli->arena);
    if (own && ap_file_is_dir(own)) {
        ap_calibration *users = NULL;
        ap_status status = ap_calibration_load_folder(own, cli->arena, &cli->diags, &users);
        if (status != AP_OK)
            return status;
        for (size_t i = 0; i < users->engines.count; i++)
            ap_calibration_overlay(calibration, &users->engines.items[i]);
    }
    *ret_calibration = calibration;
    return AP_OK;
}
