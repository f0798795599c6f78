/* Memory formulas of docs/model.md against values printed in their sources or worked by hand. */
#include "testing_llm.h"

#define GIB                                  1073741824.0

/* With flash attention; neutral constants. */
static llm_bench bench_new(double layers, double hidden, double heads, double seq)
{
    llm_bench b = llm_bench_new(layers, hidden, heads, seq);
    b.f.lean = b.f.flash = 1;
    b.f.optimizer = AP_OPT_ADAMW;
    b.k[LLM_mem_act] = b.k[LLM_mem_fragment] = b.k[LLM_mem_full] = b.k[LLM_mem_state] = 1;
    b.k[LLM_mem_selective] = 1;
    return b;
}

static const ap_llm_memory *run(llm_bench *b)
{
    ap_llm_step_memory(&b->f, b->k, &b->p, &b->m);
    return &b->m;
}

static llm_bench seven_b(int family, int sharding, double ranks)
{
    llm_bench b = bench_new(32, 4096, 32, 4096);
    b.f.s.layer_weights = 6.738416e9 / 32;
    b.f.s.params = 6.738416e9;
    b.f.family = family;
    b.p.sharding = sharding;
    b.p.zero3 = sharding == AP_SHARD_ZERO3;
    b.p.dp = b.f.chips = b.f.per_node = ranks;
    b.p.shard = b.p.zero3 ? ranks : 1;
    return b;
}

static double states(llm_bench *b)
{
    run(b);
    return (b->m.weights + b->m.gradients + b->m.states) / GIB;
}

static void m46_bytes_per_parameter(void **state)
{
    (void)
        state; /* Megatron 18 B: 7B = 112.96 GiB; distributed optimizer over 8: 7.5 B = 47.07; autocast 16 B = 100.41 */
    llm_bench b = seven_b(LLM_FAM_MEG21, AP_SHARD_NONE, 1);
    assert_near(states(&b), 112.96, 1e-4);
    b = seven_b(LLM_FAM_MEG21, AP_SHARD_ZERO1, 8);
    assert_near(states(&b), 47.07, 1e-3);
    b = seven_b(LLM_FAM_FSDP, AP_SHARD_NONE, 1);
    assert_near(states(&b), 100.41, 1e-4);
    b = seven_b(LLM_FAM_FSDP, AP_SHARD_ZERO3, 8);
    assert_near(states(&b), 12.55, 1e-3);
    b = seven_b(LLM_FAM_HF, AP_SHARD_NONE, 1);
    b.f.pure_16 = 1; /* weights, gradients and both moments in 16 bit: 8 B */
    assert_near(states(&b), 50.2, 1e-3);
}

static void m47_optimizer_states(void **state)
{
    (void)
        state; /* beyond 4 + 4 B of weights and gradients: AdamW 8, 8 bit 2.03, Lion 4, SGD 0, Adafactor next to none */
    static const struct {
        int optimizer;
        double bytes;
    } known[] = {
        {AP_OPT_ADAMW, 8}, {AP_OPT_ADAMW_8BIT, 2.03}, {AP_OPT_LION, 4}, {AP_OPT_SGD_MOMENTUM, 4}, {AP_OPT_SGD, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        llm_bench b = seven_b(LLM_FAM_FSDP, AP_SHARD_NONE, 1);
        b.f.optimizer = known[i].optimizer;
        assert_near(run(&b)->states, 6.738416e9 * known[i].bytes, 1e-9);
    }
}

static void m48_first_stage_of_gpt3(void **state)
{
    (void)state; /* t 8, p 8: (12Lh^2)/64 + Vh/8 parameters of 18 B; with the source's 13Lh of biases 46.88 GiB */
    llm_bench b = bench_new(96, 12288, 96, 2048);
    b.f.s.embedding = 51200.0 * 12288;
    b.p.tp = b.p.pp = 8;
    assert_near(states(&b), 46.88, 1e-3);
    assert_near(states(&b) * GIB, 18 * (96 * 12.0 * 12288 * 12288 / 64 + 51200.0 * 12288 / 8), 1e-12);
}

static void m49_gathered_units(void **state)
{
    (void)state; /* two 16-bit layers of a 7B: 0.75 GiB (202.4 M weights), nothing else without an embedding */
    llm_bench b = seven_b(LLM_FAM_FSDP, AP_SHARD_ZERO3, 8);
    b.f.s.layer_weights = 2.024e8;
    b.k[LLM_mem_live] = 2;
    assert_near(run(&b)->gathered / GIB, 0.754, 1e-3);
}

static void m50_quantised_base(void **state)
{
    (void)state; /* 16-bit base 2 B, NF4 0.53 B; adapters of rank 16 on q and v of a 7B: 8,388,608 x 14 B */
    llm_bench b = seven_b(LLM_FAM_HF, AP_SHARD_NONE, 1);
    b.f.lora = 1;
    b.f.lora_params = 8388608;
    assert_near(run(&b)->weights, 2 * 6.738416e9, 1e-9);
    assert_near(b.m.adapters, 8388608 * 14.0, 1e-12);
    b.f.quantised = 1;
    assert_near(run(&b)->weights / GIB, 3.237, 0.03);
}

static void m51_activations_of_22b(void **state)
{
    (void)
        state; /* b 4, t 8, L 48, h 6144: sequence parallel 34sbh/t x 48 = 9.5625 GiB; without: (10 + 24/8) sbh x 48 */
    llm_bench b = bench_new(48, 6144, 64, 2048);
    b.p.micro = 4;
    b.p.tp = b.p.sp = 8;
    assert_near(run(&b)->activations / GIB, 9.5625, 1e-9);
    b.p.sp = 1;
    assert_near(run(&b)->activations, 13.0 * 2048 * 4 * 6144 * 48, 1e-12);
}

static void m51_gated_layer_of_llama3(void **state)
{
    (void)state; /* s 8192: 8192 x (49152 + 4096 + 86016) = 1.1409e9 B a layer, 34.0 GiB for 32 */
    llm_bench b = bench_new(32, 4096, 32, 8192);
    b.f.s.gated = 1;
    b.f.s.kv_heads = 8;
    b.f.s.ffn = b.f.s.expert_ffn = 14336;
    assert_near(run(&b)->activations / 32, 8192 * 139264.0, 1e-12);
    assert_near(b.m.activations / GIB, 34.0, 1e-3);
}

static void m52_scores(void **state)
{
    (void)state; /* 22B without flash: 5as/h more: (10 + 24/8 + 5as/(ht)) sbh = 1.3254e9 B a layer, 59.25 GiB */
    llm_bench b = bench_new(48, 6144, 64, 2048);
    b.p.micro = 4;
    b.p.tp = 8;
    b.f.flash = 0;
    run(&b);
    assert_near((b.m.activations + b.m.scores) / 48, 1.3254e9, 1e-4);
    assert_near((b.m.activations + b.m.scores) / GIB, 59.25, 1e-4);
}

static void m53_in_flight(void **state)
{
    (void)state; /* 175B p 8 v 3, sequence parallel and selective: 12.3516 GiB; 1T p 64 v 1: 26.5625; 530B p 35 v
                    3: 23.0762 */
    static const struct {
        double layers, hidden, heads, p, v, gib;
    } known[] = {{96, 12288, 96, 8, 3, 12.3516}, {128, 25600, 160, 64, 1, 26.5625}, {105, 20480, 128, 35, 3, 23.0762}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        llm_bench b = bench_new(known[i].layers, known[i].hidden, known[i].heads, 2048);
        b.p.tp = b.p.sp = 8;
        b.p.pp = known[i].p;
        b.p.vpp = known[i].v;
        b.p.micros = 1000;
        b.p.recompute = AP_RECOMPUTE_SELECTIVE;
        assert_near(run(&b)->activations / GIB, known[i].gib, 1e-4);
    }
}

static void m54_full_recomputation(void **state)
{
    (void)state; /* 22B: 2sbh x 48 = 4.50 GiB of layer inputs + one layer of 13 sbh */
    llm_bench b = bench_new(48, 6144, 64, 2048);
    b.p.micro = 4;
    b.p.tp = 8;
    b.p.recompute = AP_RECOMPUTE_FULL;
    double unit = 2048.0 * 4 * 6144;
    assert_near(run(&b)->activations, 4.5 * GIB + 13 * unit, 1e-9);
    b.f.family = LLM_FAM_FSDP; /* by operator: a share of the whole */
    b.p.recompute = AP_RECOMPUTE_SELECTIVE;
    b.k[LLM_mem_selective] = 0.5;
    assert_near(run(&b)->activations, 0.5 * 13 * unit * 48, 1e-9);
}

static void m55_logits(void **state)
{
    (void)state; /* Llama-3-8B, 2 x 8192 tokens, 10 B a logit: 19.57 GiB */
    llm_bench b = bench_new(32, 4096, 32, 8192);
    b.p.micro = 2;
    b.f.s.vocab = 128256;
    b.f.head_share = 1;
    b.k[LLM_mem_logit] = 10;
    assert_near(run(&b)->logits / GIB, 19.57, 1e-3);
    b.p.tp = 8;
    assert_near(run(&b)->logits / GIB, 19.57 / 8, 1e-3);
}

static void m56_m57_fragmentation_and_context(void **state)
{
    (void)state; /* 8 % of everything allocated, and 1.5 GiB of context */
    llm_bench b = seven_b(LLM_FAM_MEG21, AP_SHARD_NONE, 1);
    b.k[LLM_mem_fragment] = 1.08;
    b.k[LLM_mem_fixed] = 1.5;
    run(&b);
    double sum = b.m.weights + b.m.gradients + b.m.states + b.m.activations;
    assert_near(b.m.total, sum * 1.08 + 1.5 * GIB, 1e-12);
}

static void m59_offloaded_states(void **state)
{
    (void)state; /* AdamW states and gradients leave the chip: 16 B x 1.5 of a 7B on one node's memory */
    llm_bench b = seven_b(LLM_FAM_MEG21, AP_SHARD_NONE, 1);
    b.f.offload = AP_OFFLOAD_OPTIMIZER;
    run(&b);
    assert_near(b.m.states + b.m.gradients, 0, 0);
    assert_near(b.m.host, 16 * 1.5 * 6.738416e9, 1e-9);
}

static void more_ranks_never_need_more(void **state)
{
    (void)state;
    for (int sharding = AP_SHARD_DDP; sharding <= AP_SHARD_ZERO3; sharding++)
        for (double n = 2; n <= 512; n *= 2) {
            llm_bench few = seven_b(LLM_FAM_FSDP, sharding, n), many = seven_b(LLM_FAM_FSDP, sharding, 2 * n);
            assert_true(run(&many)->total <= run(&few)->total);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m46_bytes_per_parameter),
        cmocka_unit_test(m47_optimizer_states),
        cmocka_unit_test(m48_first_stage_of_gpt3),
        cmocka_unit_test(m49_gathered_units),
        cmocka_unit_test(m50_quantised_base),
        cmocka_unit_test(m51_activations_of_22b),
        cmocka_unit_test(m51_gated_layer_of_llama3),
        cmocka_unit_test(m52_scores),
        cmocka_unit_test(m53_in_flight),
        cmocka_unit_test(m54_full_recomputation),
        cmocka_unit_test(m55_logits),
        cmocka_unit_test(m56_m57_fragmentation_and_context),
        cmocka_unit_test(m59_offloaded_states),
        cmocka_unit_test(more_ranks_never_need_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
