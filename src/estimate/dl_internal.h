/* The engine for every network but decoder language models: convolutions and vision transformers, detectors, U-Nets,
 * diffusion, speech, sequence-to-sequence, recommenders, graphs, reinforcement learning on accelerators.
 *
 * A model is its work per unit (multiply-accumulates and activations of one forward pass), its parameters and the time
 * its kernels take to launch. A "unit" is what the model's figures count (an image, a token, a mel frame); a batch
 * entry
 * ("sample") holds `units` of them. Formulas M-60 … M-89 in docs/model-other.md. Private to src/estimate. */
#ifndef AP_ESTIMATE_DL_INTERNAL_H
#define AP_ESTIMATE_DL_INTERNAL_H

#include "estimate/engine.h"

/* Constants: data/calibration/dl.yaml says what each is, by which levels it varies and where it comes from. */
#define DL_CONSTS(X)                                                                                                   \
    X(mac)                                                                                                             \
    X(acts)                                                                                                            \
    X(efficiency) X(power_exponent) X(memory_bandwidth) X(passes) X(roofline_norm) X(launch) X(launch_year)            \
        X(launch_crowd) X(overlap_norm) X(optimizer_bytes) X(link) X(link_latency) X(nic) X(nic_latency) X(exposed)    \
            X(straggler_in) X(straggler_out) X(exchange) X(exchange_link) X(exchange_nic) X(time) X(ageing) X(fill)    \
                X(fill_reserve) X(run_time) X(run_start) X(recipe) X(recipe_batch) X(mem_base) X(mem_states)           \
                    X(mem_acts) X(mem_full) X(mem_margin) X(profile_mac) X(profile_acts) X(profile_units)              \
                        X(profile_launch) X(profile_params) X(class_mac) X(class_mac_power) X(class_acts)              \
                            X(class_acts_power) X(class_launch) X(class_params) X(encoder_acts) X(encoder_scores)      \
                                X(encoder_launch) X(mlm_share) X(unpadded) X(conv_launch) X(conv_launch_acts)          \
                                    X(conv_launch_layer) X(conv_acts) X(conv_reuse) X(input_core) X(input_format) X(peak_exponent)   \
                                        X(bandwidth_exponent)

#define AP_DL_ENUM(id) DL_##id,
enum { DL_CONSTS(AP_DL_ENUM) DL_CONST_COUNT };

/* context->work: complete() fills what the case says, prepare() what needs constants. */
enum {
    DL_W_PEAK,  /* FLOP/s of the compute path, one chip */
    DL_W_BW,    /* memory B/s of the data sheet, one chip */
    DL_W_BYTES, /* bytes of an activation */
    DL_W_PATH,  /* ap_dl_path */
    DL_W_WATTS, /* ln(FLOP/s per watt over the path's usual) */
    DL_W_SPEED, /* ln(peak over the path's usual) */
    DL_W_CHIPS,
    DL_W_IN,
    DL_W_OUT, /* chips, chips in a fast domain, domains */
    DL_W_LINK,
    DL_W_LINK_KIND,
    DL_W_EXCHANGE_LINK,
    DL_W_NIC,      /* B/s one direction, ap_dl_link, B/s, B/s per chip */
    DL_W_CAPACITY, /* memory bytes of a chip */
    DL_W_CHIP_AGE,
    DL_W_AGE,   /* years: chip since 2020, software since 2021 */
    DL_W_KNOWN, /* 2 work and activations known, 1 one of them or a profile, 0 class default */
    DL_W_MAC,
    DL_W_ACTS,
    DL_W_UNITS,
    DL_W_LAUNCH,
    DL_W_PARAMS,    /* per unit; units per entry; s; count */
    DL_W_OPT_BYTES, /* optimizer state bytes per parameter */
    DL_W_COMPUTE_S,
    DL_W_MEMORY_S,
    DL_W_LAUNCH_S,
    DL_W_OPTIMIZER_S,
    DL_W_REDUCE_IN_S,
    DL_W_REDUCE_OUT_S,
    DL_W_EXCHANGE_S, /* per entry, per entry, per micro-batch, per step, per step, per step, per entry */
    DL_W_STRAGGLER,
    DL_W_EXPOSED,
    DL_W_FACTOR,
    DL_W_FILL,
    DL_W_ROW_BYTES,
    DL_W_ROW_SHARED, /* embedding tables of one chip */
    DL_W_CORE_S,     /* CPU seconds that a sample's loading takes, NaN unknown */
    DL_W_COUNT
};

typedef enum ap_dl_path {
    AP_DL_TC16,
    AP_DL_TF32,
    AP_DL_FP32,
    AP_DL_SIMT16,
    AP_DL_TPU,
    AP_DL_ASIC,
    AP_DL_IPU,
    AP_DL_CPU
} ap_dl_path;
extern const char *const ap_dl_path_names[];
typedef enum ap_dl_link {
    AP_DL_NVLINK,
    AP_DL_BRIDGE2,
    AP_DL_BRIDGE,
    AP_DL_PCIE,
    AP_DL_ICI,
    AP_DL_ROCE,
    AP_DL_IPULINK,
    AP_DL_UPI,
    AP_DL_FABRIC
} ap_dl_link;
extern const char *const ap_dl_link_names[];

/* What kind of job it is, told apart once from the texts of the case. */
const char *ap_dl_suite(const ap_case *job); /* "mlperf" "lambda" "dle" "other" */
bool ap_dl_is_mlperf(const ap_case *job);
const char *ap_dl_profile(const ap_case *job);   /* key of the work profile; splits models that do two jobs */
const char *ap_dl_class(const ap_case *job);     /* key of the class default */
double ap_dl_pixels(const char *input);          /* product of the dimensions of "WxH" or "WxHxD", NaN */
double ap_dl_seq(const ap_case *job);            /* tokens per sequence */
double ap_dl_container_year(const ap_case *job); /* release of the software container, NaN */
bool ap_dl_is_encoder(const ap_case *job);       /* work follows from the transformer's shape */
int ap_dl_known(const ap_est_context *context);  /* as DL_W_KNOWN; before constants are resolved */

void ap_dl_complete(ap_est_context *context);
void ap_dl_keys(const ap_est_context *context, ap_engine_keys *ret);
void ap_dl_cells(const ap_est_context *context, ap_quantity quantity, bool layout_known, ap_engine_cells *ret);
void ap_dl_complete_machine(ap_est_context *context); /* chip, link, precision part of complete */
void ap_dl_prepare_model(ap_est_context *context);    /* work per unit */
void ap_dl_prepare(ap_est_context *context);
void ap_dl_run(const ap_est_context *context, const ap_layout *layout, ap_estimate *ret);
void ap_dl_run_memory(const ap_est_context *context, ap_estimate *ret);
void ap_dl_whole_run(const ap_est_context *context, const ap_estimate *step, ap_run_estimate *ret);
double ap_dl_predict(const ap_est_context *context, const ap_estimate *estimate, ap_metric metric, const char *unit);
void ap_dl_trace(const ap_est_context *context, const ap_estimate *estimate, struct ap_est_trace *ret);

#endif
