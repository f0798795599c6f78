/* The engine for networks explained: each formula with the case's numbers put in. */
#include <math.h>

#include "base/num.h"
#include "estimate/dl_internal.h"
#include "estimate/trace.h"

static void work_lines(const ap_est_context *c, const ap_estimate *est, ap_est_trace *trace)
{
    const double *k = c->consts, *w = c->work;
    trace->part = AP_TRACE_WORK;
    const char *known = w[DL_W_KNOWN] >= 2   ? "known of the model"
                        : w[DL_W_KNOWN] >= 1 ? "partly known, else by its profile"
                                             : "by class and parameters";
    AP_SAY(trace, w[DL_W_KNOWN] >= 1 ? "M-61" : "M-60", "multiply-accumulates of a unit, forward", w[DL_W_MAC], "",
           "%s; x mac %.4g", known, k[DL_mac]);
    AP_SAY(trace, w[DL_W_KNOWN] >= 1 ? "M-61" : "M-60", "activations of a unit, forward", w[DL_W_ACTS], "",
           "%s; x acts %.4g", known, k[DL_acts]);
    AP_SAY(trace, "M-61", "units of a sample", w[DL_W_UNITS], "", "input %s",
           c->job.input ? c->job.input : "as the model's");
    AP_SAY(trace, "M-61", "parameters", w[DL_W_PARAMS], "", "%s",
           ap_known(c->job.model->params) ? "known of the model" : "by class");
    AP_SAY(trace, "M-62", "useful FLOP of a step", est->flop_per_step, "FLOP", "6 x %.5g x %g units x %g samples",
           w[DL_W_MAC] / k[DL_mac], w[DL_W_UNITS], est->samples_per_step);
    AP_SAY(trace, "M-72", "samples of a step", est->samples_per_step, "",
           "micro-batch %g x accumulation %g x %g ranks; %.0f would fill a card", est->layout.micro_batch,
           est->layout.accum, est->layout.dp, w[DL_W_FILL]);
}

static void chip_lines(const ap_est_context *c, const ap_estimate *est, ap_est_trace *trace)
{
    const double *k = c->consts, *w = c->work;
    double batch = est->layout.micro_batch, again = est->layout.recompute == AP_RECOMPUTE_FULL ? 4.0 / 3 : 1;
    double compute = w[DL_W_COMPUTE_S] * batch * again, memory = w[DL_W_MEMORY_S] * batch * again;
    trace->part = AP_TRACE_TIME;
    AP_SAY(trace, "M-62", "rate of the arithmetic", 6 * w[DL_W_MAC] * w[DL_W_UNITS] / w[DL_W_COMPUTE_S], "FLOP/s",
           "peak %.5g x efficiency %.4g x exp(-%.3g x ln F/W %.3g - %.3g x ln S %.3g)", w[DL_W_PEAK], k[DL_efficiency],
           k[DL_power_exponent], w[DL_W_WATTS], k[DL_peak_exponent], w[DL_W_SPEED]);
    AP_SAY(trace, "M-62", "arithmetic of a micro-step", compute, "s", "6 x %.5g x %g units x %g samples / rate%s",
           w[DL_W_MAC], w[DL_W_UNITS], batch, again > 1 ? " x 4/3 (recomputation)" : "");
    AP_SAY(trace, "M-63", "traffic of a micro-step", memory, "s",
           "passes %.4g x %g B x %.5g activations x %g units x %g samples / (%.5g B/s x memory_bandwidth %.4g)",
           k[DL_passes], w[DL_W_BYTES], w[DL_W_ACTS], w[DL_W_UNITS], batch, w[DL_W_BW], k[DL_memory_bandwidth]);
    AP_SAY(trace, "M-64", "launches of a micro-step", w[DL_W_LAUNCH_S], "s",
           "%.4g s x launch %.4g x exp(-%.3g x %.3g years + %.3g x log2 %g chips)", w[DL_W_LAUNCH], k[DL_launch],
           k[DL_launch_year], w[DL_W_CHIP_AGE], k[DL_launch_crowd], w[DL_W_IN]);
    AP_SAY(trace, "M-64", "how they overlap", AP_UNKNOWN, "",
           "roofline_norm %.3g of arithmetic and traffic, overlap_norm %.3g of that and launches",
           fmax(k[DL_roofline_norm], 1), fmax(k[DL_overlap_norm], 0.3));
    AP_SAY(trace, "M-65", "optimizer", w[DL_W_OPTIMIZER_S], "s",
           "optimizer_bytes %.4g x %.5g parameters / effective bandwidth", k[DL_optimizer_bytes], w[DL_W_PARAMS]);
}

static void step_lines(const ap_est_context *c, const ap_estimate *est, ap_est_trace *trace)
{
    const double *k = c->consts, *w = c->work;
    double in = w[DL_W_IN], out = w[DL_W_OUT];
    if (in > 1)
        AP_SAY(trace, "M-66", "all-reduce in a domain", w[DL_W_REDUCE_IN_S], "s",
               "2 x %g/%g x %.5g B / (%.5g B/s x link %.4g) + %.3g s x log2 %g", in - 1, in,
               w[DL_W_PARAMS] * w[DL_W_BYTES], w[DL_W_LINK], k[DL_link], k[DL_link_latency], in);
    if (out > 1)
        AP_SAY(trace, "M-67", "all-reduce over domains", w[DL_W_REDUCE_OUT_S], "s",
               "2 x %g/%g x %.5g B / (%.5g B/s x nic %.4g x %g) + %.3g s x log2 %g", out - 1, out,
               w[DL_W_PARAMS] * w[DL_W_BYTES], w[DL_W_NIC], k[DL_nic], in, k[DL_nic_latency], out);
    if (w[DL_W_EXCHANGE_S] > 0)
        AP_SAY(trace, "M-68", "embedding exchange of a sample", w[DL_W_EXCHANGE_S], "s",
               "exchange %.4g B over link and network", k[DL_exchange]);
    if (w[DL_W_CHIPS] > 1)
        AP_SAY(trace, "M-69", "stragglers", w[DL_W_STRAGGLER], "", "exp(%.3g x log2 %g + %.3g x log2 %g)",
               k[DL_straggler_in], in, k[DL_straggler_out], out);
    AP_SAY(trace, "M-70", "factor of implementation and age", w[DL_W_FACTOR], "",
           "time %.4g x exp(-ageing %.3g x %.3g years)", k[DL_time], k[DL_ageing], w[DL_W_AGE]);
    if (w[DL_W_CORE_S] > 0)
        AP_SAY(trace, "M-78", "cores that keep a node fed", est->input_cores_needed, "cores",
               "%.4g samples/s over the nodes x %.4g s of a core a sample", est->samples_per_step / est->step_s,
               w[DL_W_CORE_S]);
    AP_SAY(trace, "M-70", "the step", est->step_s, "s", "sum of the terms (%g micro-steps)", est->layout.accum);
}

static void memory_lines(const ap_est_context *c, const ap_estimate *est, ap_est_trace *trace)
{
    const double *w = c->work;
    trace->part = AP_TRACE_MEMORY;
    const double *k = c->consts;
    for (size_t i = 0; i < est->memory_count; i++) {
        const ap_term *t = &est->memory[i];
        if (i == 0)
            AP_SAY(trace, t->formula, t->name, t->seconds, "B", "mem_base %.4g B", k[DL_mem_base]);
        else if (i == 1)
            AP_SAY(trace, t->formula, t->name, t->seconds, "B",
                   "%.5g parameters x %.4g B (weights, gradients, states, copy) x mem_states %.4g", w[DL_W_PARAMS],
                   t->seconds / w[DL_W_PARAMS] / k[DL_mem_states], k[DL_mem_states]);
        else if (i == 2)
            AP_SAY(trace, t->formula, t->name, t->seconds, "B",
                   "%.5g activations x %g units x micro-batch %g x %g B x mem_acts %.4g", w[DL_W_ACTS] / k[DL_acts],
                   w[DL_W_UNITS], est->layout.micro_batch, w[DL_W_BYTES], k[DL_mem_acts]);
        else
            AP_SAY(trace, t->formula, t->name, t->seconds, "B", "%.5g B of tables over %g chips", w[DL_W_ROW_BYTES],
                   w[DL_W_CHIPS]);
    }
    AP_SAY(trace, "M-75", "peak", est->peak_bytes, "B", "sum; %.4g of the usable %.5g B",
           est->peak_bytes / est->capacity_bytes, est->capacity_bytes);
}

void ap_dl_trace(const ap_est_context *context, const ap_estimate *estimate, ap_est_trace *ret)
{
    work_lines(context, estimate, ret);
    chip_lines(context, estimate, ret);
    step_lines(context, estimate, ret);
    memory_lines(context, estimate, ret);
    ret->part = AP_TRACE_RUN;
    AP_SAY(ret, "M-76", "factor on the steps, and start", context->consts[DL_run_time], "",
           "run_time by domain and publication; run_start %.4g s", context->consts[DL_run_start]);
}
