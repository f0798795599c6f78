/* Hugging Face config.json in the dialects of its families. Totals: published parameter counts. */
#include "base/num.h"
#include "io/yaml.h"
#include "testing.h"
#include "workload/workload.h"

static ap_status read_config(ap_arena *arena, const char *json, ap_model *model)
{
    ap_diags diags;
    ap_docs docs = {0};
    ap_diags_init(&diags, arena);
    if (ap_yaml_parse(json, strlen(json), "config.json", AP_YAML_FOREIGN, AP_YAML_WORKLOAD_BYTES, arena, &diags, &docs) != AP_OK)
        return AP_BAD_INPUT;
    return ap_hf_config_read(docs.items[0], arena, &diags, model);
}

#define CONFIG(name, json)                                                                                             \
    AP_SCOPED_ARENA *arena = ap_arena_new();                                                                           \
    ap_model name;                                                                                                     \
    assert_int_equal(read_config(arena, json, &name), AP_OK)

static void test_llama_with_grouped_heads(void **state)
{
    (void)state;
    CONFIG(m, "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, \"num_attention_heads\": 32,"
              "\"num_key_value_heads\": 8, \"intermediate_size\": 14336, \"vocab_size\": 128256, \"hidden_act\": \"silu\","
              "\"tie_word_embeddings\": false, \"max_position_embeddings\": 8192}");
    assert_near(m.params, 8.03026e9, 1e-5);
    assert_string_equal(m.attention, "gqa");
    assert_string_equal(m.domain, "llm");
    assert_near(m.max_seq, 8192, 0);
}

static void test_gpt2_names_and_default_ffn(void **state)
{
    (void)state;
    CONFIG(m, "{\"model_type\": \"gpt2\", \"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12, \"n_inner\": null, \"vocab_size\": 50257}");
    assert_near(m.ffn, 3072, 0);
    assert_int_equal(m.tied_embeddings, 1);
    assert_int_equal(m.gated_mlp, 0);
    assert_near(m.params, 124e6, 0.02); /* 124.4 M published; positions and biases are left out */
}

static void test_mixture_of_experts(void **state)
{
    (void)state;
    CONFIG(m, "{\"model_type\": \"mixtral\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, \"num_attention_heads\": 32,"
              "\"num_key_value_heads\": 8, \"intermediate_size\": 14336, \"vocab_size\": 32000, \"num_local_experts\": 8,"
              "\"num_experts_per_tok\": 2, \"hidden_act\": \"silu\", \"sliding_window\": null}");
    assert_string_equal(m.arch, "moe");
    assert_near(m.params, 4.67028e10, 1e-4);
    assert_near(m.active_params, 1.28799e10, 1e-4);
}

static void test_head_dim_that_is_not_hidden_over_heads(void **state)
{
    (void)state;
    CONFIG(m, "{\"model_type\": \"qwen3_moe\", \"hidden_size\": 4096, \"num_hidden_layers\": 94, \"num_attention_heads\": 64,"
              "\"num_key_value_heads\": 4, \"head_dim\": 128, \"moe_intermediate_size\": 1536, \"intermediate_size\": 12288,"
              "\"num_experts\": 128, \"num_experts_per_tok\": 8, \"vocab_size\": 151936, \"hidden_act\": \"silu\"}");
    assert_near(m.head_dim, 128, 0);
    assert_near(m.params, 235e9, 0.01);
    assert_near(m.active_params, 22e9, 0.02);
}

static void test_latent_attention_of_deepseek_v3(void **state)
{
    (void)state;
    CONFIG(m, "{\"model_type\": \"deepseek_v3\", \"hidden_size\": 7168, \"num_hidden_layers\": 61, \"num_attention_heads\": 128,"
              "\"num_key_value_heads\": 128, \"q_lora_rank\": 1536, \"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128,"
              "\"qk_rope_head_dim\": 64, \"v_head_dim\": 128, \"intermediate_size\": 18432, \"moe_intermediate_size\": 2048,"
              "\"n_routed_experts\": 256, \"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"first_k_dense_replace\": 3,"
              "\"vocab_size\": 129280, \"num_nextn_predict_layers\": 1, \"hidden_act\": \"silu\"}");
    assert_string_equal(m.attention, "mla");
    assert_near(m.params, 671e9, 0.01);       /* published: 671 B */
    assert_near(m.active_params, 37e9, 0.03); /* published: 37 B */
}

static void test_encoder_decoder(void **state)
{
    (void)state;
    CONFIG(m, "{\"model_type\": \"t5\", \"d_model\": 768, \"num_layers\": 12, \"num_decoder_layers\": 12, \"num_heads\": 12, \"d_kv\": 64,"
              "\"d_ff\": 3072, \"vocab_size\": 32128, \"is_encoder_decoder\": true}");
    assert_string_equal(m.arch, "encdec");
    assert_near(m.params, 223e6, 0.01); /* t5-base: 222.9 M */
}

static void test_multimodal_model_takes_the_text_part(void **state)
{
    (void)state;
    CONFIG(m, "{\"model_type\": \"gemma3\", \"vision_config\": {\"hidden_size\": 1152, \"num_hidden_layers\": 27},"
              "\"text_config\": {\"hidden_size\": 2560, \"num_hidden_layers\": 34, \"num_attention_heads\": 8,"
              "\"num_key_value_heads\": 4, \"head_dim\": 256, \"intermediate_size\": 10240, \"vocab_size\": 262208,"
              "\"sliding_window\": 1024, \"sliding_window_pattern\": 6, \"hidden_activation\": \"gelu_pytorch_tanh\"}}");
    assert_near(m.hidden, 2560, 0);
    assert_string_equal(m.attention, "sliding:1024:5");
}

static void test_a_file_that_is_no_model(void **state)
{
    (void)state;
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_model m;
    assert_int_equal(read_config(arena, "{\"train_batch_size\": 4}", &m), AP_BAD_INPUT);
    assert_int_equal(read_config(arena, "{\"hidden_size\": \"wide\", \"num_hidden_layers\": 2}", &m), AP_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llama_with_grouped_heads),
        cmocka_unit_test(test_gpt2_names_and_default_ffn),
        cmocka_unit_test(test_mixture_of_experts),
        cmocka_unit_test(test_head_dim_that_is_not_hidden_over_heads),
        cmocka_unit_test(test_latent_attention_of_deepseek_v3),
        cmocka_unit_test(test_encoder_decoder),
        cmocka_unit_test(test_multimodal_model_takes_the_text_part),
        cmocka_unit_test(test_a_file_that_is_no_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
