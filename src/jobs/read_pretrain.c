/* Configurations of pre-training frameworks: torchtitan, llm-foundry, NeMo, GPT-NeoX, MaxText, OLMo. */
#include <string.h>

#include "jobs/reader.h"

static void set_framework(ap_jobreader *r, const char *name)
{
    ap_set_text(&r->facts->t.framework, name, r->root->pos);
}

/* "63900ba", "2ep", "10B tok", "2e10T": Composer's and OLMo's way of saying how long. */
static void take_duration(ap_jobreader *r, const ap_node *node)
{
    const char *text = ap_node_words(r, node), *unit;
    double value;
    ap_jobnums *n = &r->facts->n;
    if (!text || !ap_num_parse_prefix(text, &value, &unit))
        return;
    while (*unit == ' ')
        unit++;
    if (strncmp(unit, "ba", 2) == 0)
        ap_set_num(&n->steps, value, node->pos);
    else if (strncmp(unit, "ep", 2) == 0)
        ap_set_num(&n->epochs, value, node->pos);
    else if (strcmp(unit, "T") == 0 || strncmp(unit, "tok", 3) == 0)
        ap_set_num(&n->tokens, value, node->pos);
    else if (strncmp(unit, "B", 1) == 0)
        ap_set_num(&n->tokens, value * 1e9, node->pos);
    else if (*unit == 0)
        ap_set_num(&n->steps, value, node->pos);
    else if (strncmp(unit, "sp", 2) == 0)
        ap_set_num(&n->train_samples, value, node->pos);
}

/* -- torchtitan
 * ---------------------------------------------------------------------------------------------------------------- */

static const ap_key_row titan_rows[] = {
    AP_KN("training.local_batch_size", micro_batch),
    AP_KN("training.batch_size", micro_batch),
    AP_KN("training.global_batch_size", global_batch),
    AP_KN("training.seq_len", seq_len),
    AP_KN("training.steps", steps),
    AP_KT("training.mixed_precision_param", precision),
    AP_KN("parallelism.data_parallel_replicate_degree", dp_replicate),
    AP_KN("parallelism.data_parallel_shard_degree", dp_shard),
    AP_KN("parallelism.tensor_parallel_degree", tp),
    AP_KN("parallelism.pipeline_parallel_degree", pp),
    AP_KN("parallelism.context_parallel_degree", cp),
    AP_KN("parallelism.expert_parallel_degree", ep),
    AP_KN("training.data_parallel_replicate_degree", dp_replicate),
    AP_KN("training.data_parallel_shard_degree", dp_shard),
    AP_KN("training.tensor_parallel_degree", tp),
    AP_KN("experimental.pipeline_parallel_degree", pp),
    AP_KN("experimental.context_parallel_degree", cp),
    AP_KT("activation_checkpoint.mode", recompute),
    AP_KF("checkpoint.enable", save_enabled),
    AP_KF("checkpoint.enable_checkpoint", save_enabled),
    AP_KN("checkpoint.interval", save_steps),
    AP_KT("optimizer.name", optimizer),
};

void ap_read_torchtitan(ap_jobreader *r)
{
    ap_keys_take(r, r->facts, r->root, AP_ROWS(titan_rows));
    const char *name = ap_node_text(ap_node_at(r->root, "model.name")),
               *flavor = ap_node_text(ap_node_at(r->root, "model.flavor"));
    if (name && flavor)
        ap_set_text(&r->facts->t.model, ap_arena_printf(r->arena, "%s-%s", name, flavor),
                    ap_node_at(r->root, "model.flavor")->pos);
    const ap_node *converters = ap_node_at(r->root, "model.converters");
    for (size_t i = 0; converters && converters->kind == AP_NODE_LIST && i < converters->as.list.count; i++)
        if (ap_streq(ap_node_text(converters->as.list.items[i]), "float8"))
            ap_set_num(&r->facts->n.fp8, 1, converters->pos);
    set_framework(r, "pytorch");
}

/* -- llm-foundry, OLMo
 * ------------------------------------------------------------------------------------------------------ */

static const ap_key_row foundry_rows[] = {
    AP_KT("model.pretrained_model_name_or_path", model),
    AP_KN("model.d_model", hidden),
    AP_KN("model.n_layers", layers),
    AP_KN("model.n_heads", heads),
    AP_KN("model.expansion_ratio", expansion_ratio),
    AP_KN("model.vocab_size", vocab),
    AP_KN("max_seq_len", seq_len),
    AP_KN("model.max_seq_len", seq_len),
    AP_KN("model.max_sequence_length", seq_len),
    AP_KN("global_train_batch_size", global_batch),
    AP_KN("device_train_microbatch_size", micro_batch),
    AP_KT("precision", precision),
    AP_KT("fsdp_config.sharding_strategy", fsdp_strategy),
    AP_KF("fsdp_config.activation_checkpointing", checkpointing),
    AP_KF("fsdp_config.activation_cpu_offload", use_cpu),
    AP_KT("optimizer.name", optimizer),
    AP_KT("save_folder", save_dir),
    AP_KN("train_loader.num_workers", workers),
    AP_KN("model.attn_config.kv_n_heads", kv_heads),
};

static void take_interval(ap_jobreader *r, const ap_node *node)
{
    double value;
    const char *rest;
    if (ap_node_text(node) && ap_num_parse_prefix(node->text, &value, &rest))
        ap_set_num(&r->facts->n.save_steps, value, node->pos);
}

void ap_read_llmfoundry(ap_jobreader *r)
{
    const ap_node *compute = ap_node_get(r->root, "compute"), *body = ap_node_get(r->root, "parameters");
    ap_jobnums *n = &r->facts->n;
    body = body ? body : r->root;
    ap_node_take(r, &r->facts->t.name, ap_node_get(r->root, "name"));
    ap_node_num(&n->chips_total, ap_node_get(compute, "gpus"));
    ap_node_num(&n->nodes, ap_node_get(compute, "nodes"));
    const ap_node *type = ap_node_get(compute, "gpu_type");
    if (ap_node_text(type) && !ap_foreign_unknown(type->text))
        ap_jobfacts_add_chip(r->facts, type->text, type->pos);
    ap_node_take(r, &r->facts->t.scheduler_pool, ap_node_get(compute, "cluster"));
    ap_node_take(r, &r->facts->t.image, ap_node_get(r->root, "image"));
    ap_keys_take(r, r->facts, body, AP_ROWS(foundry_rows));
    n->use_cpu = (ap_jnum){AP_UNKNOWN, {0}};
    const ap_node *variables = ap_node_get(body, "variables");
    ap_node_take(r, &r->facts->t.model, ap_node_get(variables, "model_name_or_path"));
    ap_node_num(&n->seq_len, ap_node_get(variables, "max_seq_len"));
    take_duration(r, ap_node_get(body, "max_duration"));
    take_interval(r, ap_node_get(body, "save_interval"));
    const ap_node *peft = ap_node_at(body, "model.peft_config");
    if (peft && peft->kind == AP_NODE_MAP) {
        ap_set_text(&r->facts->t.adapter, "lora", peft->pos);
        ap_node_num(&n->lora_rank, ap_node_get(peft, "r"));
    }
    const ap_node *pretrained = ap_node_at(body, "model.pretrained"), *name = ap_node_at(body, "model.name"),
                  *loader = ap_node_at(body, "train_loader.name");
    bool scratch = ap_streq(ap_node_text(name), "mpt_causal_lm") && !ap_streq(ap_node_text(loader), "finetuning");
    if (ap_streq(ap_node_text(pretrained), "false") || (scratch && !pretrained))
        ap_set_text(&r->facts->t.method, "pretrain", body->pos);
    else if (ap_jtext_stated(&r->facts->t.model))
        ap_set_text(&r->facts->t.method, "finetune", body->pos);
    set_framework(r, "pytorch");
    ap_script_node(r, ap_node_get(r->root, "command"));
}

void ap_read_olmo(ap_jobreader *r)
{
    static const ap_key_row rows[] = {AP_KT("fsdp.sharding_strategy", fsdp_strategy),
                                      AP_KN("model.embedding_size", vocab), AP_KF("model.weight_tying", tied),
                                      AP_KN("model.n_kv_heads", kv_heads),
                                      AP_KT("activation_checkpointing", recompute)};
    ap_jobnums *n = &r->facts->n;
    ap_keys_take(r, r->facts, r->root, AP_ROWS(rows));
    ap_keys_take(r, r->facts, r->root, AP_ROWS(foundry_rows));
    n->use_cpu = (ap_jnum){AP_UNKNOWN, {0}};
    ap_node_take(r, &r->facts->t.name, ap_node_get(r->root, "run_name"));
    const ap_node *ffn = ap_node_at(r->root, "model.mlp_hidden_size"), *ratio = ap_node_at(r->root, "model.mlp_ratio"),
                  *act = ap_node_at(r->root, "model.activation_type");
    bool gated = !act || ap_streq(ap_node_text(act), "swiglu");
    double value;
    /* mlp_hidden_size counts gate and up projection together */
    if (ffn && ap_foreign_num(ap_node_text(ffn), &value))
        ap_set_num(&n->ffn, gated ? value / 2 : value, ffn->pos);
    else if (ratio && ap_foreign_num(ap_node_text(ratio), &value))
        ap_set_num(&n->ffn, value * n->hidden.value / (gated ? 2 : 1), ratio->pos);
    if (act || ffn)
        ap_set_num(&n->swiglu, gated, act ? act->pos : ffn->pos);
    if (!ap_jnum_stated(&n->tied))
        ap_set_num(&n->tied, 0, r->root->pos);
    const ap_node *fsdp = ap_node_get(r->root, "fsdp");
    if (fsdp && fsdp->kind == AP_NODE_MAP)
        ap_set_num(&n->use_fsdp, 1, fsdp->pos);
    take_duration(r, ap_node_get(r->root, "max_duration"));
    take_interval(r, ap_node_get(r->root, "save_interval"));
    ap_set_text(&r->facts->t.method, "pretrain", r->root->pos);
    set_framework(r, "pytorch");
}

/* -- NeMo
 * ---------------------------------------------------------------------------------------------------------------------
 */

static const ap_key_row nemo_rows[] = {
    AP_KN("trainer.devices", chips_per_node),
    AP_KN("trainer.num_nodes", nodes),
    AP_KT("trainer.precision", precision),
    AP_KN("trainer.max_steps", steps),
    AP_KN("trainer.max_epochs", epochs),
    AP_KN("model.num_layers", layers),
    AP_KN("model.hidden_size", hidden),
    AP_KN("model.ffn_hidden_size", ffn),
    AP_KN("model.num_attention_heads", heads),
    AP_KN("model.num_query_groups", kv_heads),
    AP_KN("model.num_moe_experts", experts),
    AP_KN("model.moe_router_topk", top_k),
    AP_KN("model.encoder_seq_length", seq_len),
    AP_KN("model.data.seq_length", seq_len),
    AP_KN("model.tensor_model_parallel_size", tp),
    AP_KN("model.pipeline_model_parallel_size", pp),
    AP_KN("model.context_parallel_size", cp),
    AP_KN("model.expert_model_parallel_size", ep),
    AP_KN("model.micro_batch_size", micro_batch),
    AP_KN("model.global_batch_size", global_batch),
    AP_KT("model.activations_checkpoint_granularity", recompute),
    AP_KT("model.optim.name", optimizer),
    AP_KT("model.restore_from_path", model),
    AP_KN("model.train_ds.batch_size", micro_batch),
    AP_KN("trainer.accumulate_grad_batches", accumulation),
    AP_KT("model.peft.peft_scheme", adapter),
    AP_KF("exp_manager.create_checkpoint_callback", save_enabled),
    AP_KN("model.vocab_size", vocab),
    AP_KN("model.train_ds.num_workers", workers),
    AP_KF("model.fp8", fp8),
    AP_KN("model.optim.accumulation", accumulation),
};

/* Slurm's way of writing, or dd:hh:mm:ss. */
static bool run_time(const char *text, double *ret_s)
{
    return ap_dd_hh_mm_ss(text, ret_s) || ap_slurm_time(text, ret_s);
}

void ap_read_nemo(ap_jobreader *r)
{
    ap_jobnums *n = &r->facts->n;
    const ap_node *act = ap_node_at(r->root, "model.activation");
    ap_keys_take(r, r->facts, r->root, AP_ROWS(nemo_rows));
    ap_node_with(&n->time_limit_s, ap_dd_hh_mm_ss, ap_node_at(r->root, "trainer.max_time"));
    ap_node_with(&n->time_limit_s, run_time, ap_node_at(r->root, "run.time_limit"));
    if (n->chips_per_node.value < 0)
        n->chips_per_node.value = AP_UNKNOWN; /* -1 = all there are */
    if (n->steps.value < 0)
        n->steps = (ap_jnum){AP_UNKNOWN, {0}};
    if (act)
        ap_set_num(&n->swiglu, ap_contains_nocase(ap_node_text(act) ? ap_node_text(act) : "", "glu"), act->pos);
    ap_node_take(r, &r->facts->t.name, ap_node_at(r->root, "run.name"));
    ap_node_take(r, &r->facts->t.name, ap_node_get(r->root, "name"));
    set_framework(r, "pytorch");
}

/* -- GPT-NeoX
 * ----------------------------------------------------------------------------------------------------------------- */

static const ap_key_row neox_rows[] = {
    AP_KN("num_nodes", nodes),
    AP_KN("num_gpus", chips_per_node),
    AP_KN("pipe_parallel_size", pp),
    AP_KN("model_parallel_size", tp),
    AP_KN("num_layers", layers),
    AP_KN("hidden_size", hidden),
    AP_KN("num_attention_heads", heads),
    AP_KN("seq_length", seq_len),
    AP_KN("intermediate_size", ffn),
    AP_KN("train_iters", steps),
    AP_KN("checkpoint_factor", save_steps),
    AP_KT("precision", precision),
    AP_KF("checkpoint_activations", checkpointing),
    AP_KT("save", save_dir),
    AP_KN("num_kv_heads", kv_heads),
    AP_KN("num_workers", workers),
};

void ap_read_neox(ap_jobreader *r)
{
    /* both spellings of a key, pipe-parallel-size too */
    ap_node *copy = AP_NEW(r->arena, ap_node);
    *copy = *r->root;
    copy->as.map.pairs = AP_NEW_ARRAY(r->arena, ap_pair, copy->as.map.count ? copy->as.map.count : 1);
    for (size_t i = 0; i < copy->as.map.count; i++) {
        copy->as.map.pairs[i] = r->root->as.map.pairs[i];
        char *key = ap_arena_strdup(r->arena, copy->as.map.pairs[i].key);
        for (char *c = key; *c; c++)
            *c = *c == '-' ? '_' : *c;
        copy->as.map.pairs[i].key = key;
    }
    ap_keys_take(r, r->facts, copy, AP_ROWS(neox_rows));
    ap_read_deepspeed_map(r, copy);
    if (ap_jnum_stated(&r->facts->n.chips_per_node) && !ap_jnum_stated(&r->facts->n.nodes))
        ap_set_num(&r->facts->n.nodes, 1, r->facts->n.chips_per_node.pos);
    ap_set_text(&r->facts->t.method, "pretrain", r->root->pos);
    set_framework(r, "pytorch");
}

/* -- MaxText
 * ------------------------------------------------------------------------------------------------------------------ */

void ap_read_maxtext(ap_jobreader *r)
{
    ap_args_from_map(r, r->facts, r->root);
    set_framework(r, "jax");
}
