/* Where a calibration comes from: compiled into the program, or a folder. */
#include "catalog/image.h"
#include "estimate/calibration.h"
#include "io/file.h"

const ap_calibration *ap_calibration_builtin(ap_arena *arena)
{
    ap_calibration *calibration = AP_NEW(arena, ap_calibration);
    calibration->arena = arena;
    size_t len = 0;
    const unsigned char *image = ap_image_builtin(&len);
    ap_any_list engines = {0};
    /* A damaged image is a bug of the build; the program then says "no calibration" instead of guessing. */
    if (ap_image_get_records(image, len, "calibration", &ap_calib_engine_object, arena, &engines) == AP_OK) {
        calibration->engines.items = engines.items;
        calibration->engines.count = engines.count;
    }
    return calibration;
}

ap_status ap_calibration_load_folder(const char *folder, ap_arena *arena, ap_diags *diags, ap_calibration **ret)
{
    const char **paths = NULL;
    size_t count = 0;
    ap_status status = ap_file_walk(folder, ".yaml", false, arena, diags, &paths, &count);
    if (status != AP_OK)
        return status;
    return ap_calibration_load(paths, count, arena, diags, ret);
}

ap_status ap_calibration_of_data(const char *data_dir, ap_arena *arena, ap_diags *diags, ap_calibration **ret)
{
    const char *folder = data_dir ? ap_arena_printf(arena, "%s/calibration", data_dir) : NULL;
    if (folder && ap_file_is_dir(folder))
        return ap_calibration_load_folder(folder, arena, diags, ret);
    *ret = ap_calibration_copy(ap_calibration_builtin(arena), arena);
    return AP_OK;
}
