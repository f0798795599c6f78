/* Hugging Face config.json -> model profile. Families name the same quantity differently (JOBS.md section 12); each
 * quantity here lists its keys in order of trust. A key that is absent or null stays unknown and is derived afterwards. */
#include <string.h>

#include "base/num.h"
#include "catalog/tables.h"
#include "io/file.h"
#include "io/yaml.h"
#include "workload/workload.h"

#define HF_MAX_KEYS 8

typedef struct hf_quantity {
    size_t offset; /* a double of ap_model */
    const char *keys[HF_MAX_KEYS];
} hf_quantity;

#define Q(field, ...) {offsetof(ap_model, field), {__VA_ARGS__}}
static const hf_quantity quantities[] = {
    Q(hidden, "hidden_size", "n_embd", "d_model", "dim", "n_embed", "model_dim"),
    Q(layers, "num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    Q(enc_layers, "encoder_layers", "num_encoder_layers"),
    Q(dec_layers, "decoder_layers", "num_decoder_layers"),
    Q(heads, "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"),
    Q(kv_heads, "num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_n_heads"),
    Q(head_dim, "head_dim", "d_kv", "attention_head_dim"),
    Q(ffn, "intermediate_size", "n_inner", "ffn_dim", "d_ff", "encoder_ffn_dim", "hidden_dim", "ffn_hidden_size"),
    Q(vocab, "vocab_size", "padded_vocab_size"),
    Q(max_seq, "max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length", "max_target_positions"),
    Q(experts, "num_local_experts", "num_experts", "n_routed_experts", "num_routed_experts", "moe_num_experts"),
    Q(top_k, "num_experts_per_tok", "moe_top_k", "num_experts_per_token", "top_k_experts"),
    Q(shared_experts, "n_shared_experts", "num_shared_experts"),
    Q(expert_ffn, "moe_intermediate_size", "expert_ffn_dim"),
    Q(shared_ffn, "shared_expert_intermediate_size"),
    Q(dense_first_layers, "first_k_dense_replace"),
    Q(moe_every, "decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq"),
    Q(mla_kv_rank, "kv_lora_rank"),
    Q(mla_q_rank, "q_lora_rank"),
    Q(rope_head_dim, "qk_rope_head_dim"),
    Q(mtp_layers, "num_nextn_predict_layers"),
};
#undef Q

/* Families whose MLP has three matrices; the others have two. The activation's name decides when the type does not. */
static const char *const gated_types[] = {"llama",  "mistral",  "mixtral",  "qwen2",   "qwen3",    "gemma",   "phi3",     "deepseek",
                                          "olmo",   "cohere",   "starcoder3", "glm",    "granite", "internlm", "yi",      "baichuan",
                                          "minicpm", "exaone",  "smollm",   "gpt_oss", "dbrx",     "jamba",   "stablelm", NULL};
static const char *const encoder_types[] = {"bert", "roberta", "distilbert", "electra", "deberta", "albert", "xlm-roberta",
                                            "camembert", "modernbert", "mpnet", "nomic_bert", NULL};

typedef struct hf_reader {
    const ap_node *root;
    const ap_node *text; /* nested text_config where there is one */
    ap_arena *arena;
    ap_diags *diags;
} hf_reader;

static const ap_node *find(const hf_reader *reader, const char *key)
{
    const ap_node *node = ap_node_get(reader->text, key);
    return node ? node : ap_node_get(reader->root, key);
}

static double number_of(const hf_reader *reader, const char *key)
{
    const ap_node *node = find(reader, key);
    double value;
    if (ap_node_is_null(node) || node->kind != AP_NODE_SCALAR)
        return AP_UNKNOWN;
    if (!ap_num_parse(node->text, &value) || value < 0) {
        ap_diag_add(reader->diags, AP_WARNING, 311, node->pos, "`%s`: expected a number, found \"%s\"", key, node->text);
        return AP_UNKNOWN;
    }
    return value;
}

static bool is_true(const hf_reader *reader, const char *key)
{
    const char *text = ap_node_text(find(reader, key));
    return text && (strcmp(text, "true") == 0 || strcmp(text, "True") == 0);
}

static bool type_is_one_of(const char *type, const char *const *families)
{
    for (; type && *families; families++)
        if (ap_starts_with(type, *families))
            return true;
    return false;
}

static void read_quantities(const hf_reader *reader, ap_model *model)
{
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        double *value = (double *)(void *)((char *)model + quantities[i].offset);
        for (size_t k = 0; k < HF_MAX_KEYS && quantities[i].keys[k] && !ap_known(*value); k++)
            *value = number_of(reader, quantities[i].keys[k]);
    }
}

/* Keys that mean something else in one family. */
static void read_family_quirks(const hf_reader *reader, const char *type, ap_model *model)
{
    if (is_true(reader, "multi_query") && !is_true(reader, "new_decoder_architecture"))
        model->kv_heads = 1;
    const ap_node *ffn = find(reader, "ffn_config"), *attn = find(reader, "attn_config");
    hf_reader inner = *reader;
    if (ffn && ffn->kind == AP_NODE_MAP) { /* dbrx */
        inner.text = inner.root = ffn;
        model->experts = ap_or(model->experts, number_of(&inner, "moe_num_experts"));
        model->top_k = ap_or(model->top_k, number_of(&inner, "moe_top_k"));
        model->expert_ffn = ap_or(model->expert_ffn, number_of(&inner, "ffn_hidden_size"));
    }
    if (attn && attn->kind == AP_NODE_MAP) {
        inner.text = inner.root = attn;
        model->kv_heads = ap_or(model->kv_heads, number_of(&inner, "kv_n_heads"));
    }
    double expansion = number_of(reader, "expansion_ratio");
    if (!ap_known(model->ffn) && ap_known(expansion))
        model->ffn = expansion * model->hidden;
    double nope = number_of(reader, "qk_nope_head_dim");
    if (ap_known(model->mla_kv_rank) && ap_known(nope))
        model->head_dim = nope;
    if (ap_streq(type, "llama4_text") || ap_streq(type, "llama4")) {
        model->expert_ffn = ap_or(model->expert_ffn, model->ffn);
        model->ffn = ap_or(number_of(reader, "intermediate_size_mlp"), model->ffn);
        model->shared_experts = ap_or(model->shared_experts, 1);
    }
}

static void read_layer_pattern(const hf_reader *reader, ap_model *model)
{
    double window = number_of(reader, "sliding_window");
    bool used = !find(reader, "use_sliding_window") || is_true(reader, "use_sliding_window");
    const ap_node *types = find(reader, "layer_types");
    size_t local = 0, full = 0;
    if (types && types->kind == AP_NODE_LIST)
        for (size_t i = 0; i < types->as.list.count; i++) {
            const char *name = ap_node_text(types->as.list.items[i]);
            local += name && strstr(name, "sliding") != NULL;
            full += name && strstr(name, "full") != NULL;
        }
    double pattern = number_of(reader, "sliding_window_pattern");
    if (ap_known(model->mla_kv_rank))
        model->attention = "mla";
    else if (ap_known(window) && window > 0 && used && local > 0 && full > 0)
        model->attention = ap_arena_printf(reader->arena, "sliding:%.0f:%zu", window, (local + full / 2) / full);
    else if (ap_known(window) && window > 0 && used && ap_known(pattern) && pattern > 1)
        model->attention = ap_arena_printf(reader->arena, "sliding:%.0f:%.0f", window, pattern - 1);
    else if (ap_known(window) && window > 0 && used && full == 0)
        model->attention = ap_arena_printf(reader->arena, "sliding:%.0f", window);
}

static void read_kind(const hf_reader *reader, const char *type, ap_model *model)
{
    bool both = ap_known(model->dec_layers) && (ap_known(model->enc_layers) || ap_known(model->layers));
    bool encdec = is_true(reader, "is_encoder_decoder") || both;
    bool encoder = type_is_one_of(type, encoder_types);
    if (encdec && !ap_known(model->enc_layers))
        model->enc_layers = model->layers; /* t5: num_layers is the encoder's */
    if (encdec && !ap_known(model->dec_layers))
        model->dec_layers = model->enc_layers;
    if (encdec)
        model->layers = model->enc_layers + model->dec_layers;
    model->arch = encdec ? "encdec" : encoder ? "encoder" : ap_known(model->experts) && model->experts > 1 ? "moe" : "decoder";
    model->domain = encdec || encoder ? "nlp" : "llm";
    const char *act = ap_node_text(find(reader, "hidden_act"));
    if (!act)
        act = ap_node_text(find(reader, "feed_forward_proj"));
    bool gated_act = act && (strstr(act, "silu") || strstr(act, "swi") || strstr(act, "gated"));
    model->gated_mlp = type_is_one_of(type, gated_types) || gated_act;
    const char *tie = ap_node_text(find(reader, "tie_word_embeddings"));
    bool tied_by_default = type_is_one_of(type, (const char *const[]){"gpt2", "gpt_neo", "gpt_bigcode", "gemma", "t5", "mt5", "bert", "opt", "bloom", "cohere", "bart", "mbart",
                                                                                        "pegasus", "marian", "falcon", "mpt", "whisper", "mamba", "xglm", "starcoder2", "smollm3", NULL});
    tied_by_default = tied_by_default && !ap_streq(type, "gpt_neox");
    model->tied_embeddings = tie ? is_true(reader, "tie_word_embeddings") : tied_by_default || encoder;
}

/* Families whose positions are a table of their own, not rotations or biases. */
static bool has_learned_positions(const char *type)
{
    static const char *const families[] = {"gpt2", "gpt_neo", "gpt_bigcode", "opt", "bert", "roberta", "xlm-roberta", "distilbert", "electra", "albert",
                                           "camembert", "bart", "mbart", "whisper", NULL};
    return type_is_one_of(type, families) && !ap_streq(type, "gpt_neox");
}

static void derive_missing(const char *type, ap_model *model)
{
    model->kv_heads = ap_or(model->kv_heads, model->heads);
    if (!ap_known(model->head_dim) && model->heads > 0)
        model->head_dim = model->hidden / model->heads;
    if (!ap_known(model->ffn))
        model->ffn = 4 * model->hidden;
    if (ap_known(model->experts) && model->experts > 0)
        model->expert_ffn = ap_or(model->expert_ffn, model->ffn);
    if (!model->attention)
        model->attention = model->kv_heads == 1 ? "mqa" : model->kv_heads < model->heads ? "gqa" : "mha";
    double positions = has_learned_positions(type) ? ap_or(model->max_seq, 0) * model->hidden : 0;
    model->params = ap_model_shape_params(model, false) + positions;
    model->active_params = ap_model_shape_params(model, true) + positions;
}

ap_status ap_hf_config_read(const ap_node *root, ap_arena *arena, ap_diags *diags, ap_model *ret)
{
    static const char *const nested[] = {"text_config", "llm_config", "language_config", "thinker_config"};
    hf_reader reader = {.root = root, .text = root, .arena = arena, .diags = diags};
    for (size_t i = 0; i < sizeof nested / sizeof *nested && reader.text == root; i++) {
        const ap_node *inner = ap_node_get(root, nested[i]);
        if (inner && inner->kind == AP_NODE_MAP)
            reader.text = inner;
    }
    ap_schema_clear(&ap_model_object, ret);
    const char *type = ap_node_text(find(&reader, "model_type"));
    read_quantities(&reader, ret);
    read_family_quirks(&reader, type, ret);
    if (!ap_known(ret->layers) && ap_known(ret->enc_layers))
        ret->layers = ret->enc_layers;
    if (!ap_known(ret->layers) || !ap_known(ret->hidden) || ret->layers < 1 || ret->hidden < 1) {
        ap_diag_add(diags, AP_ERROR, 310, root->pos, "no model shape here: expected hidden_size and num_hidden_layers (or their synonyms)")
            ->hint = "this should be the config.json beside the weights";
        return AP_BAD_INPUT;
    }
    read_kind(&reader, type, ret);
    read_layer_pattern(&reader, ret);
    derive_missing(type, ret);
    ret->id = type ? type : "custom";
    ret->family = type;
    ret->pos = root->pos;
    ret->from.source = "the model's config.json";
    return AP_OK;
}

ap_status ap_hf_config_load(const char *path, ap_arena *arena, ap_diags *diags, ap_model *ret)
{
    char *text;
    size_t len;
    ap_docs docs;
    ap_status status = ap_file_read(path, AP_YAML_WORKLOAD_BYTES, arena, diags, &text, &len);
    if (status == AP_OK)
        status = ap_yaml_parse(text, len, path, AP_YAML_FOREIGN, AP_YAML_WORKLOAD_BYTES, arena, diags, &docs);
    if (status != AP_OK)
        return status;
    if (docs.count != 1 || docs.items[0]->kind != AP_NODE_MAP) {
        ap_diag_add(diags, AP_ERROR, 310, (ap_pos){path, 1, 1}, "expected one JSON object");
        return AP_BAD_INPUT;
    }
    status = ap_hf_config_read(docs.items[0], arena, diags, ret);
    ap_diags_attach_source(diags, path, text, len);
    return status;
}
