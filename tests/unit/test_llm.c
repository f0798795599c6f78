/* The transformer formulas of docs/model.md against values worked by hand or printed in their sources. */
#include "testing.h"

#include "estimate/llm.h"

#define GIB                                  1073741824.0

static ap_model model_of(double layers, double hidden, double heads, double kv, double ffn, double vocab)
{
    ap_model m;
    memset(&m, 0, sizeof m);
    double *all[] = {&m.params,      &m.active_params, &m.enc_layers,   &m.dec_layers,
                     &m.head_dim,    &m.experts,       &m.top_k,        &m.shared_experts,
                     &m.expert_ffn,  &m.shared_ffn,    &m.moe_every,    &m.dense_first_layers,
                     &m.mla_kv_rank, &m.mla_q_rank,    &m.rope_head_dim};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = (double)NAN;
    m.layers = layers;
    m.hidden = hidden;
    m.heads = heads;
    m.kv_heads = kv;
    m.ffn = ffn;
    m.vocab = vocab;
    m.gated_mlp = 1;
    m.id = "test";
    return m;
}

static ap_llm_shape shape_of(const ap_model *m, const char *arch)
{
    ap_llm_shape s;
    assert_null(ap_llm_shape_of(m, arch, &s));
    return s;
}

static void m01_dense_parameters(void **state)
{
    (void)state; /* 12Lh^2(1 + 13/12h + (V+s)/12Lh) = 1.74616e11; biases and positions are left out here (0.03 %) */
    ap_model m = model_of(96, 12288, 96, 96, 4 * 12288, 51200);
    m.gated_mlp = 0;
    m.tied_embeddings = 1;
    assert_near(shape_of(&m, "decoder").params, 1.74616e11, 1e-3);
}

static void m02_grouped_attention_and_gated_mlp(void **state)
{
    (void)state;
    ap_model llama2 = model_of(32, 4096, 32, 32, 11008, 32000), llama3 = model_of(32, 4096, 32, 8, 14336, 128256);
    assert_near(shape_of(&llama2, "decoder").params, 6.738416e9, 1e-6);
    assert_near(shape_of(&llama3, "decoder").params, 8.03026e9, 1e-6);
    assert_near(shape_of(&llama3, "decoder").attention_weights, 41943040, 1e-12);
}

static void m02_latent_attention(void **state)
{
    (void)state; /* DeepSeek-V3: q 7168*1536 + 1536*128*192, kv 7168*576 + 512*128*256, out 128*128*7168 */
    ap_model m = model_of(61, 7168, 128, 128, 18432, 129280);
    m.attention = "mla";
    m.head_dim = 128;
    m.mla_kv_rank = 512;
    m.mla_q_rank = 1536;
    m.rope_head_dim = 64;
    assert_near(shape_of(&m, "decoder").attention_weights, 11010048 + 37748736 + 4128768 + 16777216 + 117440512.0, 1e-12);
}

static void m03_experts(void **state)
{
    (void)state;
    ap_model m = model_of(32, 4096, 32, 8, 14336, 32000);
    m.experts = 8;
    m.top_k = 2;
    ap_llm_shape s = shape_of(&m, "moe");
    assert_near(s.params, 4.67028e10, 1e-4);
    assert_near(s.layers * (s.layer_active + 2 * s.hidden) + 2 * s.embedding, 1.28799e10, 1e-4);
}

static void m04_matmul_parameters(void **state)
{
    (void)state;
    ap_model llama2 = model_of(32, 4096, 32, 32, 11008, 32000), llama3 = model_of(32, 4096, 32, 8, 14336, 128256);
    ap_llm_shape a = shape_of(&llama2, "decoder"), b = shape_of(&llama3, "decoder");
    assert_near(ap_llm_matmul_params(&a), 6.60708e9, 1e-5);
    assert_near(ap_llm_matmul_params(&b), 7.50466e9, 1e-5);
}

static void m05_flop_per_token(void **state)
{
    (void)state;
    ap_model llama2 = model_of(32, 4096, 32, 32, 11008, 32000), llama3 = model_of(32, 4096, 32, 8, 14336, 128256);
    ap_llm_shape a = shape_of(&llama2, "decoder"), b = shape_of(&llama3, "decoder");
    assert_near(ap_llm_flop_per_token(&a, 4096, false), 4.28637e10, 1e-5);
    assert_near(ap_llm_flop_per_token(&a, 4096, true), 4.60849e10, 1e-5);
    assert_near(ap_llm_flop_per_token(&b, 8192, false), 5.14704e10, 1e-5);
    assert_near(ap_llm_flop_per_token(&b, 8192, true), 5.79129e10, 1e-5);
}

static void m05_step_of_gpt3_and_bert(void **state)
{
    (void)state; /* 72BsLh^2(1 + s/6h + V/12Lh), B 1536, full scores: 3.3862e18; BERT-large 512: 3.35007e11 x 3 + no
                    head */
    ap_model gpt3 = model_of(96, 12288, 96, 96, 4 * 12288, 51200), bert = model_of(24, 1024, 16, 16, 4096, 30522);
    gpt3.gated_mlp = bert.gated_mlp = 0;
    ap_llm_shape a = shape_of(&gpt3, "decoder"), b = shape_of(&bert, "encoder");
    assert_near(1536 * 2048 * ap_llm_flop_per_token(&a, 2048, true), 3.3862e18, 1e-4);
    assert_near(512 * (ap_llm_flop_per_token(&b, 512, false) - 6 * b.embedding), 1.00502e12, 1e-5);
}

static void m06_published_count_decides(void **state)
{
    (void)state; /* 32 layers of 4096 and a count 20 % above the shape: layers hold (P - 2 Vh) / L weights */
    ap_model m = model_of(32, 4096, 32, 32, 11008, 32000);
    m.params = 8.1e9;
    ap_llm_shape s = shape_of(&m, "decoder");
    assert_near(s.layer_weights, (8.1e9 - 2.0 * 32000 * 4096) / 32, 1e-12);
    m.params = 6.9e9; /* 2 %: the shape stands */
    assert_near(shape_of(&m, "decoder").active_scale, 1, 0);
}

static void m07_sliding_window(void **state)
{
    (void)state; /* keys x 4ad x s = 4.12317e11 local and 5.49756e11 global at s 8192, w 4096, ad 4096 */
    ap_model m = model_of(32, 4096, 32, 32, 11008, 32000);
    ap_llm_shape global = shape_of(&m, "decoder");
    m.attention = "sliding:4096";
    ap_llm_shape local = shape_of(&m, "decoder");
    assert_near(4 * 8192 * 4096 * ap_llm_mean_keys(&global, 8192), 5.49756e11, 1e-5);
    assert_near(4 * 8192 * 4096 * ap_llm_mean_keys(&local, 8192), 4.12317e11, 1e-5);
    m.attention = "sliding:4096:1";
    ap_llm_shape mixed = shape_of(&m, "decoder");
    assert_near(ap_llm_mean_keys(&mixed, 8192), (3072 + 4096) / 2.0, 1e-12);
}

static void m08_segment_memory(void **state)
{
    (void)state; /* Transformer-XL: as many keys again from the segment before */
    ap_model m = model_of(16, 512, 8, 8, 2048, 267735);
    m.gated_mlp = 0;
    m.id = "transformer-xl-base";
    ap_llm_shape s = shape_of(&m, "decoder");
    assert_near(ap_llm_mean_keys(&s, 192), 192, 1e-12);
    assert_near(s.vocab, 28000, 0);
}

static void m09_shape_from_count(void **state)
{
    (void)state; /* 1 G parameters: 12Lh^2 + Vh = 1e9 with h = 64L: h about 1600, within 64 */
    ap_model m = model_of((double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, 50304);
    m.params = 1e9;
    ap_llm_shape s = shape_of(&m, "decoder");
    assert_near(s.guessed, 1, 0);
    assert_near(12 * s.layers * s.hidden * s.hidden + s.vocab * s.hidden, 1e9, 0.05);
    assert_near(s.hidden / s.layers, 64, 0.1);
    m.params = (double)NAN;
    assert_non_null(ap_llm_shape_of(&m, "decoder", &s));
}

static void m31_rings_share_ports(void **state)
{
    (void)state; /* KAIST cluster, 100 GB/s a node = 12.5 GB/s a chip: TP8 x DP 12.5; DP with 8 ranks in a node 100 */
    ap_llm_facts f = {.chips = 512, .per_node = 8, .domain = 8, .link = 227.3e9, .nic = 12.5e9};
    assert_near(ap_llm_ring(&f, 8, 1), 227.3e9, 1e-12);
    assert_near(ap_llm_ring(&f, 64, 8), 12.5e9, 1e-12);
    assert_near(ap_llm_ring(&f, 512, 1), 100e9, 1e-12);
    assert_near(ap_llm_ring(&f, 128, 4), 25e9, 1e-12);
}

static void m30_network_from_text(void **state)
{
    (void)state;
    assert_near(ap_nic_from_text("NVLink3; 800 Gbit/s per node", 8), 12.5e9, 1e-12);
    assert_near(ap_nic_from_text("8x HDR InfiniBand", 8), 25e9, 1e-12);
    assert_near(ap_nic_from_text("400Gb/s RDMA per GPU", 8), 50e9, 1e-12);
    assert_near(ap_nic_from_text("NVLink + 4x Omni-Path 100Gb/s", 8), 6.25e9, 1e-12);
    assert_near(ap_nic_from_text("NVSwitch", 8), (double)NAN, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m01_dense_parameters),      cmocka_unit_test(m02_grouped_attention_and_gated_mlp),
        cmocka_unit_test(m02_latent_attention),      cmocka_unit_test(m03_experts),
        cmocka_unit_test(m04_matmul_parameters),     cmocka_unit_test(m05_flop_per_token),
        cmocka_unit_test(m05_step_of_gpt3_and_bert), cmocka_unit_test(m06_published_count_decides),
        cmocka_unit_test(m07_sliding_window),        cmocka_unit_test(m08_segment_memory),
        cmocka_unit_test(m09_shape_from_count),      cmocka_unit_test(m30_network_from_text),
        cmocka_unit_test(m31_rings_share_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
