#include "jobs/constants.h"

#include <string.h>

#define CONST_ID(id) #id,
static const char *const ids[] = {AP_CHECK_CONSTS(CONST_ID) NULL};

ap_check_constants ap_check_constants_of(const ap_calibration *calibration, ap_arena *arena)
{
    double values[sizeof(ap_check_constants) / sizeof(double)];
    ap_check_constants constants;
    ap_calib_keys keys = {.count = 0};
    const ap_calib_engine *engine = calibration ? ap_calibration_engine(calibration, "check") : NULL;
    if (!engine)
        engine = ap_calibration_engine(ap_calibration_builtin(arena), "check");
    ap_calib_resolve(engine, ids, &keys, values);
    memcpy(&constants, values, sizeof constants);
    return constants;
}
