/* Memory of one chip (M-73 … M-75). */
#include <math.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/dl_internal.h"

/* M-74: weights and gradients fp32, optimizer states, a 16-bit copy of the weights under mixed precision. */
static double state_bytes_per_param(const ap_est_context *context, const ap_layout *layout)
{
    const double *work = context->work;
    double shards = fmax(layout->dp, 1.0), states = work[DL_W_OPT_BYTES];
    double weights = 4.0, gradients = 4.0, copy = work[DL_W_BYTES] < 3.0 ? 2.0 : 0.0;
    int method = context->job.method;
    if (method == AP_METHOD_LORA || method == AP_METHOD_QLORA)
        return method == AP_METHOD_LORA ? work[DL_W_BYTES] : 0.55;
    if (layout->sharding >= AP_SHARD_ZERO1)
        states /= shards;
    if (layout->sharding >= AP_SHARD_ZERO2)
        gradients /= shards;
    if (layout->sharding >= AP_SHARD_ZERO3)
        weights /= shards;
    if (context->job.offload & AP_OFFLOAD_OPTIMIZER)
        states = 0.0;
    return weights + gradients + copy + states;
}

void ap_dl_run_memory(const ap_est_context *context, ap_estimate *ret)
{
    const double *k = context->consts, *work = context->work;
    const ap_layout *layout = &ret->layout;
    double kept = layout->recompute == AP_RECOMPUTE_FULL        ? 0.3
                  : layout->recompute == AP_RECOMPUTE_SELECTIVE ? 0.7
                                                                : 1.0;
    double acts = work[DL_W_ACTS] / k[DL_acts] * work[DL_W_UNITS] * layout->micro_batch * work[DL_W_BYTES] *
                  k[DL_mem_acts] * kept;
    double states = work[DL_W_PARAMS] * state_bytes_per_param(context, layout) * k[DL_mem_states];
    double tables = work[DL_W_ROW_BYTES] / work[DL_W_CHIPS];
    ret->capacity_bytes = work[DL_W_CAPACITY];
    ret->peak_bytes = k[DL_mem_base] + states + acts + tables;
    ap_est_memory(ret, "M-73", "context, libraries and workspace", k[DL_mem_base]);
    ap_est_memory(ret, "M-74", "weights, gradients, optimizer", states);
    ap_est_memory(ret, "M-75", "activations", acts);
    if (tables > 0.0)
        ap_est_memory(ret, "M-75", "embedding tables", tables);
    ret->host_bytes = 4e9 + fmin(context->job.chips, context->job.chips_per_node) * 4e9;
    ret->max_micro_batch = floor(
        fmax(0.0, (0.95 * ret->capacity_bytes - (ret->peak_bytes - acts)) * layout->micro_batch / fmax(acts, 1.0)));
    ret->verdict = ret->peak_bytes > ret->capacity_bytes          ? AP_DOES_NOT_FIT
                   : ret->peak_bytes > 0.92 * ret->capacity_bytes ? AP_TIGHT
                                                                  : AP_FITS;
}
