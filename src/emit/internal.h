/* What the parts of a recipe share. */
#ifndef AP_EMIT_INTERNAL_H
#define AP_EMIT_INTERNAL_H

#include <math.h>

#include "emit/emit.h"

/* Constants of data/calibration/emit.yaml. */
#define AP_EMIT_CONSTS(X)                                                                                              \
    X(chip_failures_per_h)                                                                                             \
    X(spot_stops_per_h) X(state_bytes_per_parameter) X(checkpoint_bytes_per_s) X(longest_interval_s)                   \
        X(shortest_interval_s) X(loader_cores_per_chip) X(host_bytes_per_chip) X(default_limit_s) X(grace_s)
#define AP_EMIT_CONST_ENUM(id) AP_EMIT_C_##id,
enum { AP_EMIT_CONSTS(AP_EMIT_CONST_ENUM) AP_EMIT_C_COUNT };
typedef struct ap_emit_consts {
    double values[AP_EMIT_C_COUNT];
} ap_emit_consts;
const ap_emit_consts *ap_emit_consts_of(const ap_emit_plan *plan); /* in the plan's arena */

void ap_emit_take_guard(ap_emit_plan *plan, const ap_emit_kind *kind); /* time limit, checkpoints, header */
void ap_emit_take_launcher(ap_emit_plan *plan);                        /* launcher, program, packages, setup */
/* REGION filled in, the user's mirror in front. */
const char *ap_emit_image_reference(const ap_emit_plan *plan, const char *reference);

const char *ap_emit_tpu_runtime(const ap_chip *chip); /* of TPU VMs */
void ap_emit_docker_values(ap_emit_plan *plan);       /* what template node needs */

/* Kubernetes' kinds share the pod. */
void ap_emit_use_controller(ap_emit_plan *plan, int controller);
AP_CHECKED ap_status ap_emit_pod(ap_emit_plan *plan);

#endif
