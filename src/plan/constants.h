/* The planner's own constants: data/calibration/plan.yaml. */
#ifndef AP_PLAN_CONSTANTS_H
#define AP_PLAN_CONSTANTS_H

#include "estimate/calibration.h"

#define AP_PLAN_CONSTS(X)                                                                                              \
    X(provision_s)                                                                                                     \
    X(usual_most_chips)                                                                                                \
    X(most_chips)                                                                                                      \
    X(small_host_machines)                                                                                             \
    X(long_run_h)                                                                                                      \
    X(scale_out_h)                                                                                                     \
    X(oversized_h)                                                                                                     \
    X(large_model_params)                                                                                              \
    X(usual_pue)                                                                                                       \
    X(spot_band_0)                                                                                                     \
    X(spot_band_1)                                                                                                     \
    X(spot_band_2)                                                                                                     \
    X(spot_band_3)                                                                                                     \
    X(spot_band_4)                                                                                                     \
    X(spot_per_month)                                                                                                  \
    X(spot_restart_s)                                                                                                  \
    X(checkpoint_every_s)                                                                                              \
    X(checkpoint_bytes_per_param)                                                                                      \
    X(transfer_usd_per_gb)                                                                                             \
    X(own_hours_per_week)                                                                                              \
    X(own_electricity_usd_per_kwh)                                                                                     \
    X(own_admin_usd_per_h)                                                                                             \
    X(own_years)

#define AP_PLAN_CONST_FIELD(id) double id;
typedef struct ap_plan_constants {
    AP_PLAN_CONSTS(AP_PLAN_CONST_FIELD)
} ap_plan_constants;

/* market: cloud marketplace notebook free, or "own" for the user's own machines; NULL = cloud. */
ap_plan_constants ap_plan_constants_of(const ap_calibration *calibration, const char *market);

#endif
