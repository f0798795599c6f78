/* The transformer engine: work graph, time, communication and memory of one training step. Private to src/estimate.
 *
 * Formulas are numbered M-01 … M-59 in docs/model.md and cited at the code. Every number in them is a constant of
 * data/calibration/llm.yaml (list below) or a fact of the chip, the model or the job. Seconds, bytes, FLOP; all per
 * chip.
 *
 * Flow: complete (job) -> keys -> consts -> prepare (ap_llm_facts in context->work) -> run: layout -> memory, time. */
#ifndef AP_ESTIMATE_LLM_H
#define AP_ESTIMATE_LLM_H

#include "estimate/engine.h"

/* Constants in the order of context->consts. Meaning, source and value: data/calibration/llm.yaml. */
#define LLM_CONSTS(X)                                                                                                  \
    X(gemm_16)                                                                                                         \
    X(gemm_8) X(gemm_4) X(gemm_tf32) X(gemm_32) X(ceiling_16) X(ceiling_8) X(gemm_half) X(power_exponent)              \
        X(power_reference) X(geforce) X(immature) X(hbm_share) X(flash) X(flash_rule) X(old_flash) X(score_gemm)       \
            X(score_passes) X(elementwise) X(compile_saving) X(cast_passes) X(dequant) X(adapter_passes)               \
                X(loss_passes) X(slowdown) X(kernel_fixed) X(host_tensor) X(host_unfused) X(host_layer) X(host_rule)   \
                    X(host_backward) X(host_micro) X(host_step) X(host_fsdp) X(host_moe) X(moe_decay) X(moe_progress)  \
                        X(moe_imbalance) X(hide_ep) X(link_share) X(ici_share) X(pcie_share) X(nic_share)              \
                            X(nic_default) X(slow_fabric) X(alpha) X(hide_dp) X(hide_tp) X(hide_p2p) X(scatter_ratio)  \
                                X(gather_share) X(gradient_bytes) X(optimizer_passes) X(operator_recompute) X(jitter)  \
                                    X(unpadded) X(balance) X(mem_act) X(mem_logit) X(mem_fixed) X(mem_fragment)        \
                                        X(mem_live) X(mem_full) X(mem_selective) X(mem_fill) X(mem_state)              \
                                            X(mem_progress) X(checkpoint_default) X(pure_16) X(load_whole)             \
                                                X(run_factor) X(run_start)
#define AP_LLM_ENUM(id) LLM_##id,
enum { LLM_CONSTS(AP_LLM_ENUM) LLM_CONST_COUNT };

/* Software families with behaviour of their own (ap_stack.family). */
typedef enum ap_llm_family {
    LLM_FAM_OTHER,
    LLM_FAM_MEG21,
    LLM_FAM_MCORE,
    LLM_FAM_FSDP,
    LLM_FAM_HF,
    LLM_FAM_DLE,
    LLM_FAM_XLA,
    LLM_FAM_HABANA,
    LLM_FAM_NEURON,
    LLM_FAM_IPU
} ap_llm_family;

/* Compute paths. */
typedef enum ap_llm_path { LLM_PATH_16, LLM_PATH_8, LLM_PATH_4, LLM_PATH_TF32, LLM_PATH_32 } ap_llm_path;

/* Shape of a model, averaged over its layers (M-01 … M-06). Only doubles: also lives in context->work. */
typedef struct ap_llm_shape {
    double layers, hidden, heads, kv_heads, qk_dim, v_dim, ffn, gated, vocab;
    double experts, top_k, expert_ffn, shared_ffn;
    double attention_share, moe_share, dense_share, mixer_share; /* layers of each kind / layers */
    double attention_weights;                                    /* of one attention layer */
    double mixer_weights;                                        /* of one state-space layer */
    double layer_weights, layer_active; /* mean over the layers; all experts, and those a token meets */
    double active_scale;                /* layer_active by the published count / by the shape */
    double embedding, embedding_count;  /* V*h, and 1 (tied) or 2 */
    double params;
    double window, window_share; /* sliding window and share of the attention layers that have it */
    double causal;               /* 1 decoder, 0.5 encoder-decoder, 0 encoder */
    double cross;                /* attention weights of a layer pair / 2 self attentions */
    double memory_len;           /* Transformer-XL: keys from the segment before, in segments */
    double guessed;              /* shape derived from the parameter count alone */
} ap_llm_shape;

/* Everything of a case that does not depend on the layout. Only doubles. */
typedef struct ap_llm_facts {
    ap_llm_shape s;
    /* job */
    double family, path, quantised;                /* quantised base: 0 no, 1 4 bit, 2 8 bit */
    double lora, lora_params, lora_count, trained; /* trained: share of weights with gradients */
    double reference;                              /* DPO: 1 more forward */
    double splits_batch;                           /* a local batch is cut into micro-batches of one under a pipeline */
    double encoder, pretrain, finetune, flash, compile, seq, seq_full, keys, global_batch, head_share;
    double offload, optimizer, pure_16, benchmark;
    /* chip */
    double memory, peak, peak16, element, bandwidth, half, half16, gemm_rate, gemm_rate16, flash_rate;
    double chips, per_node, domain, link, nic, is_tpu;
    /* derived from constants */
    double host, score_rate, kernel, progress, lean;
    double fuses_scores; /* Megatron's fused softmax kernel, which takes multiples of four heads x sequences only */
} ap_llm_facts;

/* A completed layout. */
typedef struct ap_llm_plan {
    double tp, pp, vpp, cp, ep, dp, sp;
    int sharding, recompute;
    bool zero3, hsdp;
    double shard;                /* ranks that share states under ZeRO-3 */
    double micro, micros, batch; /* sequences of a micro-batch, micro-batches a step, sequences a step */
    bool micro_guessed;
} ap_llm_plan;

/* Seconds of one step by cause, as explained; their sum is the step up to overlap (M-40). */
typedef struct ap_llm_time {
    double gemm, attention, elementwise, dequant, adapters, host, tp_comm, cp_comm, ep_comm, fsdp, recompute, head, p2p,
        bubble, dp_exposed, optimizer, offload, fixed, micro_host, total;
    double flop; /* useful model FLOP of the step, all chips */
} ap_llm_time;

/* Seconds of one layer of one micro-batch, as M-21 … M-36 give them, before the software's slowdown. */
typedef struct ap_llm_layer_time {
    double gemm, attention, elementwise, dequant, adapters, tp_comm, cp_comm, ep_comm; /* forward */
    double forward, backward, recompute, gather, scatter;                              /* passes, host floor included */
    double head, tokens;                                                               /* of a micro-batch */
    double local_params;                                                               /* of one chip */
} ap_llm_layer_time;

typedef struct ap_llm_memory {
    double weights, gradients, states, gathered, activations, scores, logits, adapters, fixed, fragment, buckets, total,
        host;
} ap_llm_memory;

/* shape */
const char *ap_llm_shape_of(const ap_model *model, const char *arch,
                            ap_llm_shape *ret);                                        /* NULL or the reason it fails */
double ap_llm_matmul_params(const ap_llm_shape *shape);                                /* M-04 */
double ap_llm_mean_keys(const ap_llm_shape *shape, double seq);                        /* M-07 */
double ap_llm_flop_per_token(const ap_llm_shape *shape, double seq, bool causal_full); /* M-05 */
/* job */
void ap_llm_complete(ap_est_context *context);
void ap_llm_keys(const ap_est_context *context, ap_engine_keys *ret);
void ap_llm_prepare(ap_est_context *context);
int ap_llm_family_of(const ap_case *job);
static inline const ap_llm_facts *ap_llm_facts_of(const ap_est_context *context)
{
    return (const ap_llm_facts *)(const void *)context->work;
}
/* layout */
const char *ap_llm_plan_complete(const ap_est_context *context, const ap_layout *layout, ap_estimate *ret,
                                 ap_llm_plan *plan);
/* communication (M-30 …): bandwidth of a ring of `group` ranks that are `stride` chips apart, bytes/s */
double ap_llm_ring(const ap_llm_facts *f, double group, double stride);
double ap_nic_from_text(const char *interconnect, double chips_per_node); /* bytes/s per chip, NaN = says nothing */
/* time and memory */
void ap_llm_step_time(const ap_llm_facts *f, const double *k, const ap_llm_plan *p, ap_llm_time *ret);
void ap_llm_layer(const ap_llm_facts *f, const double *k, const ap_llm_plan *p, ap_llm_layer_time *ret);
void ap_llm_step_memory(const ap_llm_facts *f, const double *k, const ap_llm_plan *p, ap_llm_memory *ret);

/* explanation */
void ap_llm_trace(const ap_est_context *context, const ap_estimate *estimate, struct ap_est_trace *ret);

#endif
