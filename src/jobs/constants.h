/* From where a finding is a finding: data/calibration/check.yaml. */
#ifndef AP_JOBS_CONSTANTS_H
#define AP_JOBS_CONSTANTS_H

#include "estimate/calibration.h"

#define AP_CHECK_CONSTS(X)                                                                                             \
    X(misfit_margin) X(misfit_margin_by_name) X(shard_share) X(most_misfit) X(shard_reserve) X(offload_bytes)          \
    X(offload_bytes_parameters) X(host_margin) X(weights_share) X(limit_note) X(limit_error) X(session_margin)         \
    X(session_h) X(long_run_h) X(starts_per_day) X(starts_unbounded) X(large_job_chips) X(most_restarts)               \
    X(most_trials) X(price_cap_share) X(socket_bytes_per_s) X(fast_bytes_per_s) X(busy_share)                          \
    X(network_over_compute) X(image_cores) X(image_cores_least) X(image_cores_share) X(cores) X(work_share)            \
    X(small_work_h) X(small_model_params) X(trial_steps) X(small_table_rows) X(table_chips) X(simulator_chips)         \
    X(fast_16_bit) X(cheaper_share) X(cheaper_slower) X(cheaper_least_usd)

#define AP_CHECK_CONST_FIELD(id) double id;
typedef struct ap_check_constants {
    AP_CHECK_CONSTS(AP_CHECK_CONST_FIELD)
} ap_check_constants;

/* `calibration` may be NULL: the constants compiled in. */
ap_check_constants ap_check_constants_of(const ap_calibration *calibration, ap_arena *arena);

#endif
