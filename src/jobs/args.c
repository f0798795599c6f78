/* The dictionary of training arguments: the words of Hugging Face, DeepSpeed, Megatron-LM, MaxText, torchvision and
 * their kin, on command lines and as keys of YAML and JSON files. Keys are compared without leading dashes, `-` as `_`.
 */
#include <ctype.h>
#include <string.h>

#include "jobs/reader.h"

typedef ap_key_row row;
#define N(key, field) AP_KN(key, field),
#define F(key, field) AP_KF(key, field),
#define T(key, field) AP_KT(key, field),

static const row rows[] = {
    /* model */
    T("model_name_or_path", model) T("pretrained_model_name_or_path", model) T("model_name", model)
        T("base_model", model) T("model_id", model) T("model_path", model) T("hf_model", model)
            T("pretrained_model", model) T("model", model) T("config_name", model_config) T("arch", arch)
                T("backbone", arch) T("model_args.model_name_or_path", model)
    /* shape */
    N("num_layers", layers) N("n_layers", layers) N("n_layer", layers) N("num_hidden_layers", layers)
        N("hidden_size", hidden) N("n_embd", hidden) N("d_model", hidden) N("ffn_hidden_size", ffn)
            N("intermediate_size", ffn) N("num_attention_heads", heads) N("n_heads", heads) N("n_head", heads)
                N("num_query_groups", kv_heads) N("num_key_value_heads", kv_heads) N("kv_channels", head_dim)
                    N("vocab_size", vocab) N("num_experts", experts) N("moe_router_topk", top_k)
                        N("moe_ffn_hidden_size", expert_ffn) F("swiglu", swiglu)
                            F("untie_embeddings_and_output_weights", untied) N("max_position_embeddings", max_positions)
                                N("base_emb_dim", hidden) N("base_num_decoder_layers", layers) N("base_mlp_dim", ffn)
                                    N("base_num_query_heads", heads) N("base_num_kv_heads", kv_heads)
                                        N("num_experts_per_tok", top_k)
    /* batch */
    N("per_device_train_batch_size", micro_batch) N("per_gpu_train_batch_size", micro_batch)
        N("micro_batch_size", micro_batch) N("train_micro_batch_size_per_gpu", micro_batch)
            N("micro_train_batch_size", micro_batch) N("local_batch_size", micro_batch)
                N("device_train_microbatch_size", micro_batch) N("per_device_batch_size", per_chip_batch)
                    N("batch_size", batch_size) N("batch", batch_size) N("b", batch_size) N("bs", batch_size)
                        N("batch_size_per_gpu", batch_size) N("batch_size_per_device", batch_size)
                            N("train_batch_size_per_device", batch_size) N("gradient_accumulation_steps", accumulation)
                                N("grad_accum_steps", accumulation) N("accumulate_grad_batches", accumulation)
                                    N("gradient_accumulation", accumulation) N("accum_iter", accumulation)
                                        N("global_batch_size", global_batch) N("train_batch_size", train_batch)
                                            N("global_train_batch_size", global_batch)
                                                N("total_batch_size", global_batch)
    /* sequence */
    N("max_seq_length", seq_len) N("max_seq_len", seq_len) N("max_length", seq_len) N("seq_length", seq_len)
        N("seq_len", seq_len) N("sequence_length", seq_len) N("sequence_len", seq_len) N("block_size", seq_len)
            N("cutoff_len", seq_len) N("model_max_length", seq_len) N("max_target_length", seq_len)
                N("context_length", seq_len) N("ctx_len", seq_len) N("max_source_length", seq_len) N("max_len", seq_len)
                    N("encoder_seq_length", seq_len)
    /* length of the run */
    N("max_steps", steps) N("max_train_steps", steps) N("num_train_steps", steps) N("train_steps", steps)
        N("train_iters", steps) N("total_steps", steps) N("steps", steps) N("num_steps", steps) N("max_iters", steps)
            N("num_iterations", steps) N("training_steps", steps) N("num_train_epochs", epochs) N("epochs", epochs)
                N("num_epochs", epochs) N("max_epochs", epochs) N("n_epochs", epochs) N("train_samples", train_samples)
                    N("max_samples", max_samples) N("max_train_samples", max_samples) N("num_train_samples", samples)
                        N("total_tokens", tokens) N("max_tokens", tokens) N("train_tokens", tokens) T("data", dataset)
                            T("data_path", dataset) T("data_dir", dataset) T("dataset_name", dataset)
                                T("dataset", dataset) T("task_name", task)
    /* precision */
    F("bf16", bf16) F("fp16", fp16) F("fp32", fp32) F("fp8", fp8) F("amp", amp) F("use_amp", amp)
        F("fp16_allreduce", fp16) F("tf32", tf32) F("pure_bf16", bf16) F("bfloat16", bf16) F("half", fp16)
            T("fp8_format", precision) T("precision", precision) T("mixed_precision", mixed_precision) T("dtype", dtype)
                T("torch_dtype", torch_dtype) T("data_type", dtype) F("load_in_4bit", load_4bit)
                    F("load_in_8bit", load_8bit) N("quantization_bit", quant_bits) F("use_4bit", load_4bit)
    /* method */
    F("use_peft", peft) F("use_lora", peft) F("lora", peft) N("lora_r", lora_rank) N("lora_rank", lora_rank)
        N("lora_dim", lora_rank) T("adapter", adapter) T("finetuning_type", adapter) T("peft_type", adapter)
            T("stage", stage) F("qlora", load_4bit) T("peft_method", adapter)
    /* memory */
    F("gradient_checkpointing", checkpointing) F("activation_checkpointing", checkpointing)
        F("checkpoint_activations", checkpointing) F("enable_activation_checkpointing", checkpointing)
            F("recompute_activations", checkpointing) T("recompute_granularity", recompute)
                T("activations_checkpoint_granularity", recompute) T("remat_policy", recompute) T("optim", optimizer)
                    T("optimizer", optimizer) F("use_flash_attn", flash) F("use_flash_attention_2", flash)
                        F("flash_attn", flash) F("flash_attention", flash) F("packing", packing)
                            F("sample_packing", packing) F("use_distributed_optimizer", distributed_optimizer)
                                T("attn_implementation", input_mode)
    /* layout */
    N("tensor_model_parallel_size", tp) N("tensor_parallel_size", tp) N("tensor_parallel_degree", tp)
        N("model_parallel_size", tp) N("pipeline_model_parallel_size", pp) N("pipe_parallel_size", pp)
            N("pipeline_parallel_size", pp) N("pipeline_parallel_degree", pp) N("context_parallel_size", cp)
                N("context_parallel_degree", cp) N("expert_model_parallel_size", ep) N("expert_parallel_degree", ep)
                    N("data_parallel_shard_degree", dp_shard) N("data_parallel_replicate_degree", dp_replicate)
                        T("fsdp", fsdp) T("fsdp_sharding_strategy", fsdp_strategy) T("sharding_strategy", fsdp_strategy)
                            F("use_fsdp", use_fsdp) F("use_deepspeed", use_deepspeed) N("zero_stage", zero_stage)
                                T("deepspeed", deepspeed_file) T("deepspeed_config", deepspeed_file)
                                    T("ds_config", deepspeed_file) T("fsdp_config", fsdp_config_file)
                                        T("offload_optimizer_device", offload_device)
                                            T("deepspeed_config_file", deepspeed_file)
    /* saving, input */
    T("save_strategy", save_strategy) N("save_steps", save_steps) N("save_interval", save_steps) N("save_every",
                                                                                                   save_steps)
        N("checkpoint_period", save_steps) N("checkpointing_steps", save_steps) F("enable_checkpointing", save_enabled)
            T("output_dir", save_dir) T("save", save_dir) T("save_dir", save_dir) T("checkpoint_dir", save_dir)
                T("save_folder", save_dir) T("base_output_directory", save_dir) T("resume_from_checkpoint", pretrained)
                    N("dataloader_num_workers", workers) N("workers", workers) N("num_workers", workers) N("j", workers)
    /* tables, images */
    N("devices", launch_per_node) N("num_gpus", launch_per_node) N("gpus", launch_per_node)
        N("gpus_per_node", launch_per_node) N("num_nodes", launch_nodes) N("nnodes", launch_nodes) N("rows", rows)
            N("n_rows", rows) N("num_rows", rows) N("features", features) N("num_features", features)
                N("n_features", features) N("num_boost_round", trees) N("n_estimators", trees) N("num_trees", trees)
                    N("num_iterations", trees) N("max_depth", depth) N("depth", depth) N("img", image_size)
                        N("imgsz", image_size) N("img_size", image_size) N("image_size", image_size)
                            N("resolution", image_size)};

/* Switches of argparse kind: present means true, no value follows unless it is a boolean. */
bool ap_arg_is_switch(const char *key)
{
    while (*key == '-')
        key++;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == AP_KEY_FLAG && strcmp(rows[i].path, key) == 0)
            return true;
    return false;
}

static void take(ap_jobreader *reader, ap_jobfacts *facts, const row *r, const char *value, ap_pos pos)
{
    char *at = (char *)facts + r->offset;
    if (r->kind == AP_KEY_NUM && value)
        ap_take_num((ap_jnum *)(void *)at, value, pos);
    else if (r->kind == AP_KEY_FLAG)
        ap_take_flag((ap_jnum *)(void *)at, value, pos);
    else if (r->kind == AP_KEY_TEXT)
        ap_take_text(reader, (ap_jtext *)(void *)at, value, pos);
}

static const row *find(const char *key)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].path, key) == 0)
            return &rows[i];
    return NULL;
}

/* MaxText's mesh axes multiply; -1 fills what is left. */
static bool take_mesh(ap_jobfacts *facts, const char *key, const char *value, ap_pos pos)
{
    bool ici = strncmp(key, "ici_", 4) == 0, dcn = strncmp(key, "dcn_", 4) == 0;
    size_t len = strlen(key);
    if ((!ici && !dcn) || len < 16 || strcmp(key + len - 11, "parallelism") != 0)
        return false;
    ap_jnum *fact = ici ? &facts->n.ici : &facts->n.dcn;
    double degree, before = ap_jnum_stated(fact) ? fact->value : 1;
    if (!ap_foreign_num(value, &degree))
        degree = AP_UNKNOWN;
    bool larger = !ap_jnum_stated(fact) || fabs(degree) > 1;
    *fact = (ap_jnum){degree < 0 || before < 0 ? -1 : before * degree, larger ? pos : fact->pos};
    return true;
}

/* Megatron-LM ends by itself after so many minutes. */
static bool take_exit(ap_jobfacts *facts, const char *key, const char *value, ap_pos pos)
{
    double minutes;
    if (strcmp(key, "exit_duration_in_mins") != 0)
        return false;
    ap_set_num(&facts->n.time_limit_s, ap_foreign_num(value, &minutes) ? minutes * 60 : AP_UNKNOWN, pos);
    return true;
}

bool ap_arg_take(ap_jobreader *reader, ap_jobfacts *facts, const char *key, const char *value, ap_pos pos)
{
    char name[96];
    size_t len = 0;
    while (*key == '-' || *key == '+')
        key++;
    for (; *key && len + 1 < sizeof name; key++)
        name[len++] = *key == '-' ? '_' : (char)tolower((unsigned char)*key);
    name[len] = 0;
    if (*key || len == 0)
        return false;
    const row *found = find(name);
    const char *dot = strrchr(name, '.');
    if (!found && dot)
        found = find(dot + 1);
    if (!found && strncmp(name, "no_", 3) == 0) {
        found = find(name + 3);
        if (!found || found->kind != AP_KEY_FLAG || value)
            return false;
        value = "false";
    }
    if (found)
        take(reader, facts, found, value, pos);
    return found || (value && (take_mesh(facts, name, value, pos) || take_exit(facts, name, value, pos)));
}

void ap_args_from_map(ap_jobreader *reader, ap_jobfacts *facts, const ap_node *map)
{
    if (!map || map->kind != AP_NODE_MAP)
        return;
    for (size_t i = 0; i < map->as.map.count; i++) {
        const ap_pair *pair = &map->as.map.pairs[i];
        if (pair->value->kind == AP_NODE_SCALAR && !(ap_node_is_null(pair->value) && !pair->value->quoted))
            ap_arg_take(reader, facts, pair->key, ap_node_words(reader, pair->value), pair->key_pos);
    }
}

void ap_keys_take(ap_jobreader *reader, ap_jobfacts *facts, const ap_node *root, const ap_key_row *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const ap_node *node = ap_node_at(root, table[i].path);
        if (node && node->kind == AP_NODE_SCALAR && !ap_node_is_null(node))
            take(reader, facts, &table[i], ap_node_words(reader, node), node->pos);
    }
}
