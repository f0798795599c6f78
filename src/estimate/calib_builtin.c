/* The calibration that is compiled into the program. */
#include "catalog/image.h"
#include "estimate/calibration.h"

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
