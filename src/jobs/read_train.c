/* Configurations of training front ends and their launchers: DeepSpeed, accelerate, Hugging Face, axolotl,
 * LLaMA-Factory, torchtune, TRL, litgpt. Most speak the words of args.c; here are their own. */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "jobs/reader.h"
#include "workload/workload.h"

static void set_framework(ap_jobreader *r, const char *name)
{
    ap_set_text(&r->facts->t.framework, name, r->root ? r->root->pos : (ap_pos){r->file->path, 1, 1});
}

/* -- DeepSpeed
 * -------------------------------------------------------------------------------------------------------------- */

static const ap_key_row deepspeed_rows[] = {
    AP_KN("train_batch_size", global_batch),
    AP_KN("train_micro_batch_size_per_gpu", micro_batch),
    AP_KN("gradient_accumulation_steps", accumulation),
    AP_KN("zero_optimization.stage", zero_stage),
    AP_KF("bf16.enabled", bf16),
    AP_KF("bfloat16.enabled", bf16),
    AP_KF("fp16.enabled", fp16),
    AP_KT("optimizer.type", optimizer),
    AP_KN("tensor_parallel.autotp_size", tp),
};

static void take_offload(ap_jnum *fact, const ap_node *node)
{
    const char *device = ap_node_text(ap_node_get(node, "device"));
    if (device && (strcmp(device, "cpu") == 0 || strcmp(device, "nvme") == 0))
        ap_set_num(fact, strcmp(device, "cpu") == 0 ? 1 : 2, ap_node_get(node, "device")->pos);
}

void ap_read_deepspeed_map(ap_jobreader *r, const ap_node *map)
{
    ap_keys_take(r, r->facts, map, AP_ROWS(deepspeed_rows));
    const ap_node *zero = ap_node_get(map, "zero_optimization");
    take_offload(&r->facts->n.offload_optimizer, ap_node_get(zero, "offload_optimizer"));
    take_offload(&r->facts->n.offload_params, ap_node_get(zero, "offload_param"));
    const ap_node *old = ap_node_get(zero, "cpu_offload");
    if (old)
        ap_node_flag(&r->facts->n.offload_optimizer, old);
    if (ap_node_get(map, "activation_checkpointing"))
        ap_set_num(&r->facts->n.use_deepspeed, 1, map->pos);
}

void ap_read_deepspeed(ap_jobreader *r)
{
    ap_read_deepspeed_map(r, r->root);
    set_framework(r, "pytorch");
    ap_set_num(&r->facts->n.use_deepspeed, 1, r->root->pos);
}

/* -- accelerate
 * ------------------------------------------------------------------------------------------------------------- */

static const ap_key_row accelerate_rows[] = {
    AP_KN("num_machines", launch_nodes),
    AP_KN("num_processes", launch_total),
    AP_KT("mixed_precision", mixed_precision),
    AP_KT("distributed_type", distributed_type),
    AP_KF("use_cpu", use_cpu),
    AP_KT("fsdp_config.fsdp_sharding_strategy", fsdp_strategy),
    AP_KF("fsdp_config.fsdp_offload_params", offload_params),
    AP_KF("fsdp_config.fsdp_activation_checkpointing", checkpointing),
    AP_KN("deepspeed_config.zero_stage", zero_stage),
    AP_KN("deepspeed_config.gradient_accumulation_steps", accumulation),
    AP_KT("deepspeed_config.deepspeed_config_file", deepspeed_file),
    AP_KT("main_process_ip", scheduler_pool),
    AP_KT("deepspeed_config.offload_optimizer_device", offload_device),
    AP_KT("gpu_ids", partition),
    AP_KN("megatron_lm_config.megatron_lm_tp_degree", tp),
    AP_KN("megatron_lm_config.megatron_lm_pp_degree", pp),
};

void ap_read_accelerate(ap_jobreader *r)
{
    ap_keys_take(r, r->facts, r->root, AP_ROWS(accelerate_rows));
    set_framework(r, "pytorch");
    const ap_node *reshard = ap_node_at(r->root, "fsdp_config.fsdp_reshard_after_forward"),
                  *version = ap_node_at(r->root, "fsdp_config.fsdp_version");
    if (reshard && !ap_jtext_stated(&r->facts->t.fsdp_strategy) && ap_streq(ap_node_text(version), "2"))
        ap_set_text(&r->facts->t.fsdp_strategy,
                    ap_foreign_bool(ap_node_text(reshard)) == 0 ? "SHARD_GRAD_OP" : "FULL_SHARD", reshard->pos);
    const char *file = r->facts->t.deepspeed_file.value;
    if (file)
        ap_jobfacts_add_ref(r->facts, file, r->facts->t.deepspeed_file.pos);
    const ap_node *params = ap_node_at(r->root, "deepspeed_config.offload_param_device");
    if (ap_streq(ap_node_text(params), "cpu"))
        ap_set_num(&r->facts->n.offload_params, 1, params->pos);
    const ap_node *optimizer = ap_node_at(r->root, "deepspeed_config.offload_optimizer_device");
    if (ap_streq(ap_node_text(optimizer), "cpu"))
        ap_set_num(&r->facts->n.offload_optimizer, 1, optimizer->pos);
}

/* -- Hugging Face config.json
 * ------------------------------------------------------------------------------------------- */

/* Keys that say something about the shape, as upstream spells them. A key near one of these is a typing error, or a
 * name that some tools use and the library ignores. */
static const char *const shape_keys[] = {"hidden_size",
                                         "num_hidden_layers",
                                         "num_attention_heads",
                                         "num_key_value_heads",
                                         "intermediate_size",
                                         "vocab_size",
                                         "head_dim",
                                         "n_routed_experts",
                                         "n_shared_experts",
                                         "num_local_experts",
                                         "num_experts",
                                         "num_experts_per_tok",
                                         "moe_intermediate_size",
                                         "first_k_dense_replace",
                                         "moe_layer_freq",
                                         "kv_lora_rank",
                                         "q_lora_rank",
                                         "qk_nope_head_dim",
                                         "qk_rope_head_dim",
                                         "v_head_dim",
                                         "tie_word_embeddings",
                                         "shared_expert_intermediate_size",
                                         "decoder_sparse_step",
                                         "max_position_embeddings",
                                         "n_embd",
                                         "n_layer",
                                         "n_head",
                                         "d_model",
                                         "num_layers",
                                         "num_decoder_layers",
                                         "num_heads",
                                         "d_ff",
                                         "d_kv",
                                         "encoder_layers",
                                         "decoder_layers",
                                         "encoder_ffn_dim",
                                         "decoder_ffn_dim",
                                         "encoder_attention_heads",
                                         "decoder_attention_heads",
                                         "n_inner",
                                         "n_positions",
                                         "n_ctx",
                                         "ffn_dim",
                                         "multi_query",
                                         "num_kv_heads",
                                         "n_head_kv",
                                         "n_heads",
                                         "n_layers",
                                         "hidden_dim",
                                         "expansion_ratio",
                                         "n_group",
                                         "topk_group",
                                         "num_nextn_predict_layers",
                                         "word_embed_proj_dim",
                                         "mlp_only_layers",
                                         "mlp_hidden_size",
                                         "num_experts_per_token",
                                         "hidden_act",
                                         "interleave_moe_layer_step",
                                         "layer_types",
                                         "num_channels",
                                         "num_labels",
                                         "n_group",
                                         "mamba_d_state",
                                         "state_size",
                                         "num_mtp_layers",
                                         "rope_theta",
                                         "model_type",
                                         "num_local_kv_heads",
                                         "conv_kernel",
                                         "max_window_layers",
                                         "type_vocab_size",
                                         "expert_interval",
                                         "num_codebooks",
                                         "embed_dim",
                                         "num_shared_experts_per_tok",
                                         NULL};
static const struct {
    const char *used;
    const char *upstream;
} renamed[] = {{"num_routed_experts", "n_routed_experts"},
               {"num_shared_experts", "n_shared_experts"},
               {"n_experts", "num_experts"},
               {"num_kv_head", "num_key_value_heads"},
               {"num_layer", "num_hidden_layers"},
               {"n_experts_per_tok", "num_experts_per_tok"}};

static bool is_shape_key(const char *key)
{
    for (size_t i = 0; shape_keys[i]; i++)
        if (strcmp(key, shape_keys[i]) == 0)
            return true;
    return false;
}

static bool known_elsewhere(const char *key)
{
    /* families with words of their own that only look like typing errors */
    static const char *const others[] = {"num_shared_experts", "n_shared_experts", "n_embed",       "model_dim",
                                         "hidden_dim",         "ffn_hidden_size",  "num_kv_heads",  "kv_n_heads",
                                         "moe_num_experts",    "moe_top_k",        "seq_length",    "padded_vocab_size",
                                         "max_seq_len",        "num_layer",        "n_local_heads", NULL};
    for (size_t i = 0; others[i]; i++)
        if (strcmp(key, others[i]) == 0)
            return true;
    return false;
}

/* Did somebody misspell a key? One edit away from a key of the shape that the file lacks, and holding a number. */
static const char *misspelt(const ap_node *map, const char *key)
{
    size_t len = strlen(key);
    for (size_t i = 0; shape_keys[i]; i++) {
        size_t other = strlen(shape_keys[i]);
        if (len < 6 || other + 2 < len || len + 2 < other || ap_node_get(map, shape_keys[i]))
            continue;
        size_t prefix = 0, suffix = 0;
        while (key[prefix] && key[prefix] == shape_keys[i][prefix])
            prefix++;
        while (suffix < len - prefix && suffix < other - (prefix < other ? prefix : other) &&
               key[len - 1 - suffix] == shape_keys[i][other - 1 - suffix])
            suffix++;
        size_t left = len - prefix - suffix, right = other - prefix - suffix;
        bool swap = left == 2 && right == 2 && key[prefix] == shape_keys[i][prefix + 1] &&
                    key[prefix + 1] == shape_keys[i][prefix];
        if ((left <= 1 && right <= 1) || swap)
            return shape_keys[i];
    }
    return NULL;
}

static void check_keys(ap_jobreader *r, const ap_node *map)
{
    bool deepseek = ap_contains_nocase(
        ap_node_text(ap_node_get(map, "model_type")) ? ap_node_text(ap_node_get(map, "model_type")) : "", "deepseek");
    for (size_t i = 0; i < map->as.map.count; i++) {
        const ap_pair *pair = &map->as.map.pairs[i];
        double value;
        if (pair->value->kind != AP_NODE_SCALAR || is_shape_key(pair->key) ||
            !ap_foreign_num(ap_node_text(pair->value), &value))
            continue;
        const char *meant = NULL;
        for (size_t k = 0; k < sizeof renamed / sizeof *renamed; k++)
            if (strcmp(pair->key, renamed[k].used) == 0 && !ap_node_get(map, renamed[k].upstream) &&
                (k > 1 || deepseek))
                meant = renamed[k].upstream;
        if (!meant && !known_elsewhere(pair->key))
            meant = misspelt(map, pair->key);
        if (meant)
            ap_jobreader_find(r, AP_FAULT_UNKNOWN_KEY, pair->key_pos,
                              "%s is no key of this model type: it is ignored and the model is another one", pair->key)
                ->hint = ap_arena_printf(r->arena, "did you mean %s?", meant);
    }
}

void ap_read_hfconfig(ap_jobreader *r)
{
    ap_diags diags;
    ap_diags_init(&diags, r->arena);
    r->file->has_hf_model = ap_hf_config_read(r->root, r->arena, &diags, &r->file->hf_model) == AP_OK;
    check_keys(r, r->root);
    const ap_node *text = ap_node_get(r->root, "text_config");
    if (text && text->kind == AP_NODE_MAP)
        check_keys(r, text);
    ap_node_take(r, &r->facts->t.name, ap_node_get(r->root, "_name_or_path"));
    ap_node_take(r, &r->facts->t.torch_dtype, ap_node_get(r->root, "torch_dtype"));
    ap_node_take(r, &r->facts->t.arch, ap_node_get(r->root, "model_type"));
}

/* -- axolotl
 * ---------------------------------------------------------------------------------------------------------------- */

static const ap_key_row axolotl_rows[] = {
    AP_KT("base_model", model),
    AP_KN("sequence_len", seq_len),
    AP_KT("adapter", adapter),
    AP_KF("bf16", bf16),
    AP_KF("bfloat16", bf16),
    AP_KN("dp_shard_size", dp_shard),
    AP_KN("tensor_parallel_size", tp),
    AP_KN("context_parallel_size", cp),
    AP_KT("fsdp_config.fsdp_sharding_strategy", fsdp_strategy),
    AP_KT("deepspeed", deepspeed_file),
    AP_KT("fsdp_config.sharding_strategy", fsdp_strategy),
    AP_KN("saves_per_epoch", save_enabled),
    AP_KN("val_set_size", use_cpu),
    AP_KF("fsdp_config.fsdp_offload_params", offload_params),
    AP_KF("fsdp_config.offload_params", offload_params),
    AP_KT("rl", stage),
};

static void add_own_ref(ap_jobreader *r, const ap_jtext *file)
{
    if (file->value &&
        (ap_ends_with(file->value, ".json") || ap_ends_with(file->value, ".yaml") || ap_ends_with(file->value, ".yml")))
        ap_jobfacts_add_ref(r->facts, file->value, file->pos);
}

void ap_read_axolotl(ap_jobreader *r)
{
    ap_keys_take(r, r->facts, r->root, AP_ROWS(axolotl_rows));
    r->facts->n.use_cpu = (ap_jnum){AP_UNKNOWN, {0}};
    ap_args_from_map(r, r->facts, r->root);
    const ap_node *fsdp = ap_node_get(r->root, "fsdp"), *config = ap_node_get(r->root, "fsdp_config");
    if (fsdp && fsdp->kind == AP_NODE_LIST && fsdp->as.list.count > 0)
        ap_set_text(&r->facts->t.fsdp, ap_node_text(fsdp->as.list.items[0]), fsdp->pos);
    if (config && config->kind == AP_NODE_MAP && !fsdp)
        ap_set_num(&r->facts->n.use_fsdp, 1, config->pos);
    if (!ap_jtext_stated(&r->facts->t.adapter) && !ap_jtext_stated(&r->facts->t.stage))
        ap_set_text(&r->facts->t.method, "finetune", r->root->pos);
    add_own_ref(r, &r->facts->t.deepspeed_file);
    set_framework(r, "pytorch");
}

/* -- LLaMA-Factory, TRL
 * ---------------------------------------------------------------------------------------------------- */

void ap_read_llamafactory(ap_jobreader *r)
{
    ap_args_from_map(r, r->facts, r->root);
    add_own_ref(r, &r->facts->t.deepspeed_file);
    add_own_ref(r, &r->facts->t.fsdp_config_file);
    set_framework(r, "pytorch");
}

void ap_read_trl(ap_jobreader *r)
{
    ap_args_from_map(r, r->facts, r->root);
    const ap_node *config = ap_node_get(r->root, "fsdp_config"), *deepspeed = ap_node_get(r->root, "deepspeed");
    if (config && config->kind == AP_NODE_MAP)
        ap_set_num(&r->facts->n.use_fsdp, 1, config->pos);
    if (deepspeed && deepspeed->kind == AP_NODE_MAP)
        ap_read_deepspeed_map(r, deepspeed);
    add_own_ref(r, &r->facts->t.deepspeed_file);
    set_framework(r, "pytorch");
    const char *stage = ap_node_text(ap_node_get(r->root, "beta")) ? "dpo" : NULL;
    if (stage && !ap_node_get(r->root, "num_generations"))
        ap_set_text(&r->facts->t.stage, stage, ap_node_get(r->root, "beta")->pos);
    ap_set_text(&r->facts->t.method, "finetune", r->root->pos);
}

/* -- torchtune
 * -------------------------------------------------------------------------------------------------------------- */

/* "llama3_1" -> "llama-3.1", "8b" stays. */
static const char *family_words(ap_arena *arena, const char *text, size_t len)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    for (size_t i = 0; i < len; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9', after_letter = i > 0 && text[i - 1] >= 'a' && text[i - 1] <= 'z';
        bool between_digits = text[i] == '_' && i > 0 && i + 1 < len && text[i - 1] >= '0' && text[i - 1] <= '9' &&
                              text[i + 1] >= '0' && text[i + 1] <= '9' && (i + 2 == len || text[i + 2] == '_');
        if (digit && after_letter && out.len > 2 && strncmp(out.text + out.len - 2, "-v", 2) != 0 &&
            !ap_starts_with(text, "qwen") && !ap_starts_with(text, "phi"))
            ap_sbuf_add_char(&out, '-');
        ap_sbuf_add_char(&out, between_digits ? '.' : text[i] == '_' ? '-' : text[i]);
    }
    return out.text ? out.text : "";
}

const char *ap_torchtune_model(ap_arena *arena, const char *name)
{
    const char *size = strrchr(name, '_');
    const char *family = family_words(arena, name, size ? (size_t)(size - name) : strlen(name));
    return size ? ap_arena_printf(arena, "%s-%s", family, size + 1) : family;
}

/* torchtune.models.llama3_1.lora_llama3_1_8b: method, family, size. */
static void take_component(ap_jobreader *r, const ap_node *node)
{
    const char *text = ap_node_text(node);
    if (!text || ap_foreign_unknown(text))
        return;
    const char *dot = strrchr(text, '.'), *name = dot ? dot + 1 : text;
    const char *method = "finetune";
    if (ap_starts_with(name, "qlora_")) {
        method = "qlora";
        name += 6;
    } else if (ap_starts_with(name, "lora_")) {
        method = "lora";
        name += 5;
    }
    ap_set_text(&r->facts->t.method, method, node->pos);
    ap_set_text(&r->facts->t.model, ap_torchtune_model(r->arena, name), node->pos);
}

void ap_read_torchtune(ap_jobreader *r)
{
    ap_jobnums *n = &r->facts->n;
    take_component(r, ap_node_at(r->root, "model._component_"));
    ap_node_num(&n->seq_len, ap_node_at(r->root, "tokenizer.max_seq_len"));
    ap_node_num(&n->seq_len, ap_node_at(r->root, "dataset.max_seq_len"));
    ap_node_num(&n->micro_batch, ap_node_get(r->root, "batch_size"));
    ap_node_num(&n->steps, ap_node_get(r->root, "max_steps_per_epoch"));
    ap_node_flag(&n->packing, ap_node_at(r->root, "dataset.packed"));
    ap_node_num(&n->lora_rank, ap_node_at(r->root, "model.lora_rank"));
    ap_node_take(r, &r->facts->t.optimizer, ap_node_at(r->root, "optimizer._component_"));
    ap_node_flag(&n->offload_params, ap_node_get(r->root, "fsdp_cpu_offload"));
    ap_node_flag(&n->optimizer_in_backward, ap_node_get(r->root, "optimizer_in_bwd"));
    ap_node_num(&n->tp, ap_node_get(r->root, "tensor_parallel_dim"));
    ap_args_from_map(r, r->facts, r->root);
    set_framework(r, "pytorch");
}

/* -- litgpt
 * ----------------------------------------------------------------------------------------------------------------- */

void ap_read_litgpt(ap_jobreader *r)
{
    ap_jobnums *n = &r->facts->n;
    ap_jobtexts *t = &r->facts->t;
    ap_node_take(r, &t->model, ap_node_get(r->root, "checkpoint_dir"));
    ap_node_take(r, &t->model, ap_node_get(r->root, "model_name"));
    ap_node_num(&n->chips_per_node, ap_node_get(r->root, "devices"));
    ap_node_num(&n->nodes, ap_node_get(r->root, "num_nodes"));
    if (ap_jnum_stated(&n->chips_per_node) && !ap_jnum_stated(&n->nodes))
        ap_set_num(&n->nodes, 1, n->chips_per_node.pos);
    ap_node_take(r, &t->precision, ap_node_get(r->root, "precision"));
    const ap_node *quantize = ap_node_get(r->root, "quantize");
    if (quantize && !ap_node_is_null(quantize))
        ap_set_num(&n->load_4bit,
                   ap_contains_nocase(ap_node_text(quantize), "nf4") ||
                       ap_contains_nocase(ap_node_text(quantize), "fp4"),
                   quantize->pos);
    const ap_node *train = ap_node_get(r->root, "train");
    ap_node_num(&n->tokens, ap_node_get(train, "max_tokens"));
    ap_args_from_map(r, r->facts, train);
    n->tokens = ap_jnum_stated(&n->tokens) ? n->tokens : (ap_jnum){AP_UNKNOWN, {0}};
    bool lora = ap_node_get(r->root, "lora_r") != NULL;
    if (lora)
        ap_node_num(&n->lora_rank, ap_node_get(r->root, "lora_r"));
    ap_pos pos = lora ? ap_node_get(r->root, "lora_r")->pos : r->root->pos;
    bool pretrain =
        ap_contains_nocase(ap_base_name(r->file->path), "pretrain") || (ap_node_get(r->root, "tokenizer_dir") && !lora);
    ap_set_text(&t->method, lora ? "lora" : pretrain ? "pretrain" : "finetune", pos);
    set_framework(r, "pytorch");
}
