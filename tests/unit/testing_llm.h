/* A transformer and a machine of round numbers, shared by the tests of the transformer's formulas. */
#ifndef AP_TESTS_TESTING_LLM_H
#define AP_TESTS_TESTING_LLM_H

#include "estimate/llm.h"
#include "testing.h"

typedef struct llm_bench {
    ap_llm_facts f;
    double k[LLM_CONST_COUNT];
    ap_llm_plan p;
    ap_llm_memory m;
    ap_llm_time t;
} llm_bench;

/* Plain layers (12 h^2 weights, MLP 4h) on one chip of Megatron, 16 bit, AdamW; one rank of everything; all constants 0. */
static inline llm_bench llm_bench_new(double layers, double hidden, double heads, double seq)
{
    llm_bench b;
    memset(&b, 0, sizeof b);
    double weights = 12 * hidden * hidden;
    b.f.s = (ap_llm_shape){.layers = layers,
                           .hidden = hidden,
                           .heads = heads,
                           .kv_heads = heads,
                           .qk_dim = hidden / heads,
                           .v_dim = hidden / heads,
                           .ffn = 4 * hidden,
                           .top_k = 1,
                           .expert_ffn = 4 * hidden,
                           .attention_share = 1,
                           .dense_share = 1,
                           .layer_weights = weights,
                           .layer_active = weights,
                           .active_scale = 1,
                           .params = layers * weights,
                           .causal = 1,
                           .cross = 1};
    b.f.trained = 1;
    b.f.seq = b.f.seq_full = seq;
    b.f.element = 2;
    b.f.family = LLM_FAM_MEG21;
    b.f.chips = b.f.per_node = b.f.domain = 1;
    b.p = (ap_llm_plan){.tp = 1,
                        .pp = 1,
                        .vpp = 1,
                        .cp = 1,
                        .ep = 1,
                        .dp = 1,
                        .sp = 1,
                        .shard = 1,
                        .micro = 1,
                        .micros = 1,
                        .batch = 1};
    return b;
}

#endif
