/* Time formulas of docs/model.md on a machine of round numbers, so that each value can be checked by hand. */
#include "testing_llm.h"


/* 2 layers of width 1000 (4 heads of 250, MLP 4000 plain), vocabulary 10000, 1000 tokens; chip 1e12 FLOP/s, 1e9 B/s for
 * traffic, endless products at full rate; nothing hidden, no host. One layer: 12e6 weights, 2.4e10 FLOP forward. */
static llm_bench bench_new(void)
{
    llm_bench b = llm_bench_new(2, 1000, 4, 1000);
    b.f.s.vocab = 10000;
    b.f.s.attention_weights = 4e6;
    b.f.s.embedding = 1e7;
    b.f.s.embedding_count = 1;
    b.f.s.params = 34e6;
    b.f.keys = 500;
    b.f.peak = b.f.peak16 = b.f.gemm_rate = b.f.gemm_rate16 = b.f.flash_rate = b.f.score_rate = 1e12;
    b.f.bandwidth = 1e9;
    b.f.link = 1e9;
    b.f.nic = 1e8;
    b.f.progress = 1;
    b.k[LLM_slowdown] = 1;
    b.k[LLM_gather_share] = 1;
    return b;
}

static const ap_llm_time *run(llm_bench *b)
{
    ap_llm_step_time(&b->f, b->k, &b->p, &b->t);
    return &b->t;
}

static void m20_short_dimensions_cost(void **state)
{
    (void)state; /* half 10: 1 + 10/1000 + 10/n + 10/k on every product of the layer */
    llm_bench b = bench_new();
    b.f.half = 10;
    double m = 0.01, h = 0.01, q = 10 / 3000.0, w = 10 / 4000.0;
    double forward = (6e9 * (1 + m + q + h) + 2e9 * (1 + m + h + h) + 2 * 8e9 * (1 + m + w + h)) / 1e12;
    assert_near(run(&b)->gemm, 3 * 2 * forward, 1e-12);
}

static void m21_products_of_a_layer(void **state)
{
    (void)
        state; /* 2 x 12e6 weights x 1000 tokens = 2.4e10 FLOP, 2 layers, forward + 2 backward = 0.144 s; tp 2 halves */
    llm_bench b = bench_new();
    assert_near(run(&b)->gemm, 0.144, 1e-12);
    b.p.tp = b.p.sp = 2;
    assert_near(run(&b)->gemm, 0.072, 1e-12);
}

static void m21_experts(void **state)
{
    (void)state; /* 8 experts, 2 a token: twice the MLP; imbalance 1.5 on it: (4 + 1.5 x 16)e6 x 2000 x 6 = 0.336 s */
    llm_bench b = bench_new();
    b.f.s.experts = 8;
    b.f.s.top_k = 2;
    b.f.s.moe_share = 1;
    b.f.s.dense_share = 0;
    b.k[LLM_moe_imbalance] = 1.5;
    assert_near(run(&b)->gemm, 0.336, 1e-12);
}

static void m22_fused_attention(void **state)
{
    (void)state; /* 2 x 1000 x 500 keys x 4 x 500 = 2e9 FLOP x (1 + 64/1000) x 3.5 x 2 layers */
    llm_bench b = bench_new();
    b.f.flash = 1;
    assert_near(run(&b)->attention, 2e-3 * 1.064 * 7, 1e-12);
}

static void m23_materialised_scores(void **state)
{
    (void)
        state; /* full 1000 keys: 4e9 FLOP; 3 passes of 2 B x 4 heads x 1e6 scores = 24 MB at 1 GB/s; x 3 x 2 layers */
    llm_bench b = bench_new();
    b.k[LLM_score_passes] = 3;
    assert_near(run(&b)->attention, (4e-3 + 0.024) * 6, 1e-12);
}

static void m24_traffic(void **state)
{
    (void)state; /* 2 B x 1000 x (12 x 1000 + 4 x 4000) = 56 MB: 56 ms, x 3 x 2 layers; compiled saves a quarter */
    llm_bench b = bench_new();
    b.k[LLM_elementwise] = 1;
    assert_near(run(&b)->elementwise, 0.336, 1e-12);
    b.f.compile = 1;
    b.k[LLM_compile_saving] = 0.25;
    assert_near(run(&b)->elementwise, 0.252, 1e-12);
}

static void m25_quantised_base_and_adapters(void **state)
{
    (void)
        state; /* 4.5 B x 12e6 = 54 ms a pass, 2 passes, 2 layers; adapters 2 B x 1000 x (8e3 + 16e3) = 48 ms x 3 x 2 */
    llm_bench b = bench_new();
    b.f.lora = b.f.quantised = 1;
    b.k[LLM_dequant] = b.k[LLM_adapter_passes] = 1;
    assert_near(run(&b)->dequant, 0.216, 1e-12);
    assert_near(b.t.adapters, 0.288, 1e-12);
    assert_near(b.t.gemm, 0.096, 1e-12); /* frozen weights have no gradient product */
}

static void m25_casts_and_kernel_ramp(void **state)
{
    (void)state; /* 8 bit: 2 B x 1000 x (3e3 + 8e3) = 22 ms x 3 x 2; ramp 1 ms forward and 2 ms backward a layer */
    llm_bench b = bench_new();
    double before = run(&b)->total;
    b.f.kernel = 1e-3;
    assert_near(run(&b)->total - before, 6e-3, 1e-9);
    b.f.path = LLM_PATH_8;
    b.k[LLM_cast_passes] = 1;
    assert_near(run(&b)->elementwise, 0.132, 1e-12);
}

static void m26_overlap_rounds_the_corner(void **state)
{
    (void)state; /* forward 24 ms against a host of 24 ms: 2^(1/4) x 24 ms; backward 48 against 24: (1 + 2^-4)^(1/4) x
                    48 */
    llm_bench b = bench_new();
    b.f.score_rate = 1e30;
    b.f.host = 0.024;
    b.k[LLM_host_backward] = 1;
    double head = run(&b)->head;
    assert_near(b.t.total - head, 2 * (pow(2, 0.25) * 0.024 + pow(1 + 1 / 16.0, 0.25) * 0.048), 1e-12);
}

static void m27_head_and_loss(void **state)
{
    (void)state; /* 3 x 2 x 1000 x 10000 x 1000 = 0.06 s; 5 passes of 4 B x 1e7 logits = 0.2 s */
    llm_bench b = bench_new();
    b.f.head_share = 1;
    b.k[LLM_loss_passes] = 5;
    assert_near(run(&b)->head, 0.26, 1e-12);
    b.f.head_share = 0.16; /* masked positions of an encoder */
    assert_near(run(&b)->head, 0.0416, 1e-12);
}

static void m28_recomputation(void **state)
{
    (void)state; /* one more forward of 24 ms a layer; by operator 0.6 of it; Megatron's selective: the scores again */
    llm_bench b = bench_new();
    b.p.recompute = AP_RECOMPUTE_FULL;
    assert_near(run(&b)->recompute, 0.056, 1e-12); /* products 24 ms + scores 4 ms */
    b.p.recompute = AP_RECOMPUTE_SELECTIVE;
    assert_near(run(&b)->recompute, 0.008, 1e-12);
    b.f.family = LLM_FAM_FSDP;
    b.k[LLM_operator_recompute] = 0.6;
    assert_near(run(&b)->recompute, 0.0336, 1e-12);
}

static void m29_host_floor(void **state)
{
    (void)state; /* a layer that launches for 1 s forward and 2 s backward hides 24 and 48 ms of products */
    llm_bench b = bench_new();
    b.f.host = 1;
    b.k[LLM_host_backward] = 2;
    b.k[LLM_host_micro] = 0.1;
    assert_near(run(&b)->total, 6.1, 1e-3);
    b.p.tp = b.p.sp = 2; /* collectives to launch: + 0.5 s a doubling */
    b.f.chips = b.f.per_node = b.f.domain = 2;
    b.k[LLM_host_tensor] = 0.5;
    assert_near(run(&b)->total, 9.1, 1e-2);
    b.p.tp = b.p.sp = 1;
    b.f.fuses_scores = 1; /* 4 heads x 1 sequence: fused; with 3 heads the unfused softmax */
    b.k[LLM_host_unfused] = 0.5;
    assert_near(run(&b)->total, 6.1, 1e-2);
    b.f.s.heads = 3;
    assert_near(run(&b)->total, 9.1, 1e-2);
}

static void m32_latency_and_m33_tensor_parallel(void **state)
{
    (void)state; /* 64 MiB in 8 ranks at 227.3 GB/s + 26.2 us x log2 8 = 595 us (NCCL on NVLink 3), 4 of them a layer */
    llm_bench b = bench_new();
    b.p.tp = 8;
    b.f.chips = b.f.per_node = b.f.domain = 8;
    b.f.link = 227.3e9;
    b.k[LLM_alpha] = 26.2e-6;
    b.f.seq = 64.0 * 1048576 / 2000;
    assert_near(run(&b)->tp_comm / 8, 595e-6, 1e-3);
    b.k[LLM_hide_tp] = 0.5;
    assert_near(run(&b)->tp_comm / 8, 297.5e-6, 1e-3);
}

static void m34_context_parallel(void **state)
{
    (void)
        state; /* cp 4: K and V of the others, 2 B x 250 tokens x 2 x 1000 x 3 = 3 MB at 1 GB/s, 2 passes x 2 layers */
    llm_bench b = bench_new();
    b.p.cp = 4;
    b.f.chips = b.f.per_node = b.f.domain = 4;
    assert_near(run(&b)->cp_comm, 0.012, 1e-12);
}

static void m35_expert_all_to_all(void **state)
{
    (void)state; /* m 4096, h 4096, k 2, ep 8: 5.87e7 B each way; 2 a pass, 2 passes, 2 layers at 1e9 B/s */
    llm_bench b = bench_new();
    b.f.s.hidden = 4096;
    b.f.s.experts = 8;
    b.f.s.top_k = 2;
    b.f.s.moe_share = 1;
    b.f.s.dense_share = 0;
    b.f.seq = 4096;
    b.p.ep = b.f.chips = b.f.per_node = b.f.domain = 8;
    assert_near(run(&b)->ep_comm / 8, 5.87e7 / 1e9, 1e-3);
}

static void m36_gathering_weights(void **state)
{
    (void)state; /* ZeRO-3 over 2: 12e6 x 2 B / 2 at 1e7 B/s = 1.2 s a pass; backward gathers and scatters (x 1) = 2.4 s
                  */
    llm_bench b = bench_new();
    b.p.zero3 = true;
    b.p.sharding = AP_SHARD_ZERO3;
    b.p.shard = b.p.dp = b.f.chips = b.f.per_node = b.f.domain = 2;
    b.f.link = 1e7;
    b.k[LLM_scatter_ratio] = 1;
    assert_near(run(&b)->total, 2 * 3.6, 1e-3);
    b.k[LLM_gather_share] = 0.5;
    assert_near(run(&b)->total, 2 * 7.2, 1e-3);
}

static void m37_pipeline(void **state)
{
    (void)state; /* p 8, 64 micro-batches of 0.2 s: T = (64 + 7/v) x 0.2: 14.2 s for v 1 (10.94 % bubble), 13.267 for v
                    3 */
    llm_bench b = bench_new();
    b.f.s.layers = 8;
    b.f.s.vocab = 1;
    b.p.pp = 8;
    b.p.micros = 64;
    b.f.gemm_rate = 2.4e10 * 3 / 0.2;
    b.f.score_rate = 1e30;
    b.f.chips = b.f.per_node = b.f.domain = 8;
    b.f.link = 1e30;
    assert_near(run(&b)->total, 14.2, 1e-6);
    assert_near(b.t.bubble / (64 * 0.2), 0.1094, 1e-3);
    b.p.vpp = 3;
    assert_near(run(&b)->total, 13.267, 1e-4);
}

static void m37_balanced_stages(void **state)
{
    (void)state; /* 14 layers on 4 stages, head as heavy as a layer: plain 3.5 + 1, balanced (14 + 2)/4 = 4 */
    llm_bench b = bench_new();
    b.f.s.layers = 14;
    b.f.score_rate = 1e30;
    b.p.pp = 4;
    b.p.micros = 100;
    b.f.chips = b.f.per_node = b.f.domain = 4;
    b.f.link = 1e30;
    b.f.head_share = 1;
    b.f.gemm_rate16 = 0.06 / 0.072 * 1e12; /* head 72 ms = a layer */
    assert_near(run(&b)->total, 100 * 4.5 * 0.072 + 3 * 3.5 * 0.072, 1e-6);
    b.k[LLM_balance] = 0.98; /* shares end at 0.98 */
    assert_near(run(&b)->total, (100 + 3) * (14 + 1.96) / 4 * 0.072, 2e-2);
}

static void m38_gradient_exchange(void **state)
{
    (void)state; /* 175 G on t 8 x p 8 x 16: 2.734e9 B a chip; 2 x 7/8 x 2.734e9 / 22.5e9 = 0.2127 s for dp 8 */
    llm_bench b = bench_new();
    b.f.s.layers = 1;
    b.f.s.layer_weights = 175e9 / 128;
    b.f.s.embedding = 0;
    b.p.dp = b.f.chips = b.f.per_node = b.f.domain = 8;
    b.f.link = 22.5e9;
    b.k[LLM_gradient_bytes] = 2;
    assert_near(run(&b)->dp_exposed, 0.2127, 1e-3);
    b.k[LLM_hide_dp] = 0.5; /* half behind a backward pass that is shorter: 48 + 8 ms x 0.5 of it hidden */
    assert_near(run(&b)->dp_exposed, 0.2127 - 0.5 * 0.056, 1e-3);
}

static void m39_optimizer(void **state)
{
    (void)state; /* 28 B x (2 x 12e6 + 1e7) = 0.952 GB; ZeRO-1 over 2 halves; offloaded states 16 B x 34e6 at 6 GB/s */
    llm_bench b = bench_new();
    b.k[LLM_optimizer_passes] = 1;
    assert_near(run(&b)->optimizer, 0.952, 1e-12);
    b.p.sharding = AP_SHARD_ZERO1;
    b.p.dp = b.f.chips = 2;
    assert_near(run(&b)->optimizer, 0.476, 1e-12);
    b.f.offload = AP_OFFLOAD_OPTIMIZER;
    assert_near(run(&b)->offload, 34e6 / 2 * 16 / 6e9, 1e-12);
}

static void m40_step_is_the_sum(void **state)
{
    (void)state; /* two micro-batches of (72 + 12 scores) ms x 2 layers + fixed 10 ms, jitter 1 % a doubling beyond 8 */
    llm_bench b = bench_new();
    b.p.micros = 2;
    b.k[LLM_host_step] = 0.01;
    assert_near(run(&b)->total, 2 * 2 * 0.084 + 0.01, 1e-9);
    b.k[LLM_jitter] = 0.01;
    b.f.chips = 32;
    assert_near(run(&b)->total, (2 * 2 * 0.084 + 0.01) * 1.02, 1e-9);
}

static void m41_useful_flop(void **state)
{
    (void)state; /* 6 x 24e6 + 3 x 2 layers x 2 x 500 x 4 x 500 = 1.56e8 FLOP a token x 1000 */
    llm_bench b = bench_new();
    assert_near(run(&b)->flop, 1.56e11, 1e-12);
    b.f.head_share = 1;
    assert_near(run(&b)->flop, 1.56e11 + 6e10, 1e-12);
}

static void m42_lora_and_m43_dpo(void **state)
{
    (void)
        state; /* LoRA: 4 instead of 6 a weight and token; DPO: one more forward: 2 a weight and a third of attention */
    llm_bench b = bench_new();
    b.f.lora = 1;
    assert_near(run(&b)->flop, (4 * 24e6 + 1.2e7) * 1000, 1e-12);
    b = bench_new();
    double plain = run(&b)->total;
    b.f.reference = 1;
    assert_near(run(&b)->flop, 1.56e11 * 4 / 3, 1e-12);
    assert_near(b.t.total - plain, 2 * 0.028, 1e-9);
}

static void more_bandwidth_is_never_slower(void **state)
{
    (void)state;
    llm_bench b = bench_new();
    b.p = (ap_llm_plan){.tp = 2,
                        .pp = 2,
                        .vpp = 1,
                        .cp = 1,
                        .ep = 1,
                        .dp = 4,
                        .sp = 2,
                        .shard = 1,
                        .micro = 1,
                        .micros = 8,
                        .batch = 32};
    b.f.chips = 16;
    b.f.per_node = b.f.domain = 8;
    for (int i = 0; i < LLM_CONST_COUNT; i++)
        b.k[i] = i == LLM_hide_dp || i == LLM_hide_tp ? 0.5 : 1;
    double *const rates[] = {&b.f.bandwidth, &b.f.link, &b.f.nic, &b.f.gemm_rate, &b.f.gemm_rate16, &b.f.score_rate};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        double keep = *rates[r], last = HUGE_VAL;
        for (double factor = 0.01; factor < 1e4; factor *= 3) {
            *rates[r] = keep * factor;
            double now = run(&b)->total;
            assert_true(now <= last * (1 + 1e-12));
            last = now;
        }
        *rates[r] = keep;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m20_short_dimensions_cost),
        cmocka_unit_test(m21_products_of_a_layer),
        cmocka_unit_test(m21_experts),
        cmocka_unit_test(m22_fused_attention),
        cmocka_unit_test(m23_materialised_scores),
        cmocka_unit_test(m24_traffic),
        cmocka_unit_test(m25_quantised_base_and_adapters),
        cmocka_unit_test(m25_casts_and_kernel_ramp),
        cmocka_unit_test(m26_overlap_rounds_the_corner),
        cmocka_unit_test(m27_head_and_loss),
        cmocka_unit_test(m28_recomputation),
        cmocka_unit_test(m29_host_floor),
        cmocka_unit_test(m32_latency_and_m33_tensor_parallel),
        cmocka_unit_test(m34_context_parallel),
        cmocka_unit_test(m35_expert_all_to_all),
        cmocka_unit_test(m36_gathering_weights),
        cmocka_unit_test(m37_pipeline),
        cmocka_unit_test(m37_balanced_stages),
        cmocka_unit_test(m38_gradient_exchange),
        cmocka_unit_test(m39_optimizer),
        cmocka_unit_test(m40_step_is_the_sum),
        cmocka_unit_test(m41_useful_flop),
        cmocka_unit_test(m42_lora_and_m43_dpo),
        cmocka_unit_test(more_bandwidth_is_never_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
