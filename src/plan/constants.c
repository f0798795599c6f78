#include "plan/constants.h"

#include <string.h>

#define CONST_ID(id) #id,
static const char *const ids[] = {AP_PLAN_CONSTS(CONST_ID) NULL};

ap_plan_constants ap_plan_constants_of(const ap_calibration *calibration, const char *market)
{
    double values[sizeof(ap_plan_constants) / sizeof(double)];
    ap_plan_constants constants;
    ap_calib_keys keys = {.levels = {"market"}, .keys = {market}, .count = 1};
    ap_calib_resolve(ap_calibration_engine(calibration, "plan"), ids, &keys, values);
    memcpy(&constants, values, sizeof constants);
    return constants;
}
