/* What starts the training: launcher, program, arguments in the dialect of the stack. */
#include <string.h>

#include "base/num.h"
#include "emit/internal.h"

void ap_emit_arg(ap_emit_plan *plan, const char *flag, const char *value)
{
    ap_scope *item = ap_scope_item(plan->scope, "train_args");
    ap_scope_text(item, "flag", flag);
    ap_scope_text(item, "value", value);
}

void ap_emit_arg_number(ap_emit_plan *plan, const char *flag, double value)
{
    char text[40];
    if (!ap_known(value))
        return;
    ap_num_format(value, text);
    ap_emit_arg(plan, flag, ap_arena_strdup(plan->arena, text));
}

static bool has(const ap_strings *list, const char *word)
{
    for (size_t i = 0; word && i < list->count; i++)
        if (ap_streq(list->items[i], word))
            return true;
    return false;
}

static bool in_image(const ap_image *image, const char *stack)
{
    return image && has(&image->frameworks, stack) && !has(&image->lacks, stack);
}

/* What `accelerate launch` must know before the script starts. */
static void take_accelerate(ap_emit_plan *p)
{
    const char *fsdp = ap_streq(p->sharding, "zero3")   ? "FULL_SHARD"
                       : ap_streq(p->sharding, "zero2") ? "SHARD_GRAD_OP"
                       : ap_streq(p->sharding, "hsdp")  ? "HYBRID_SHARD"
                                                        : NULL;
    bool several = p->world > 1, deepspeed = several && ap_streq(p->sharding, "zero1");
    const char *precision = ap_streq(p->precision, "fp16")  ? "fp16"
                            : ap_streq(p->precision, "fp8") ? "fp8"
                            : p->precision && strcmp(p->precision, "fp32") != 0 && strcmp(p->precision, "tf32") != 0
                                ? "bf16"
                                : "no";
    ap_scope_text(p->scope, "accelerate_precision", precision);
    ap_scope_text(p->scope, "fsdp", several ? fsdp : NULL);
    ap_scope_raw(p->scope, "zero_stage", deepspeed ? "1" : NULL);
    ap_scope_flag(p->scope, "multi_process", several && !fsdp && !deepspeed && p->gpu);
}

void ap_emit_take_launcher(ap_emit_plan *p)
{
    const char *launcher = p->stack_info ? p->stack_info->launcher : NULL;
    if (!launcher)
        launcher = ap_streq(p->framework, "pytorch") && !(p->cpu_only && p->single_node) ? "torchrun" : "python";
    p->launcher = launcher;
    p->program = p->settings->script              ? p->settings->script
                 : ap_streq(launcher, "megatron") ? "pretrain_gpt.py"
                 : ap_streq(launcher, "maxtext")  ? "MaxText.train"
                                                  : "train.py";
    take_accelerate(p);
    ap_emit_why(p, "launch", "%s is how %s starts", launcher, p->stack ? p->stack : p->framework);
}

/* ---- dialects -----------------------------------------------------------------------------------------------------
 */

static double per_device(const ap_emit_plan *p)
{
    double devices = p->tpu || p->cpu_only ? 1 : ap_or(p->chip_info->devices, 1);
    return fmax(1, ceil(ap_or(p->micro_batch, 1) / devices));
}

/* FSDP has no mode that shards optimizer states alone: sharding gradients too needs less memory and the same traffic.
 */
static const char *fsdp_mode(const ap_emit_plan *p)
{
    if (ap_streq(p->sharding, "zero3"))
        return "full_shard auto_wrap";
    if (ap_streq(p->sharding, "zero2") || ap_streq(p->sharding, "zero1"))
        return "shard_grad_op auto_wrap";
    return ap_streq(p->sharding, "hsdp") ? "hybrid_shard auto_wrap" : NULL;
}

static void hf_precision(ap_emit_plan *p)
{
    if (ap_streq(p->precision, "fp16"))
        ap_emit_arg(p, "--fp16", "True");
    else if (ap_streq(p->precision, "tf32"))
        ap_emit_arg(p, "--tf32", "True");
    else if (p->precision && !ap_streq(p->precision, "fp32"))
        ap_emit_arg(p, "--bf16", "True"); /* 8-bit formats are the launcher's or the model's business */
}

static void hf_method(ap_emit_plan *p)
{
    if (p->lora) {
        ap_emit_arg(p, "--use_peft", NULL);
        ap_emit_arg_number(p, "--lora_r", p->lora_rank);
    }
    if (p->qlora)
        ap_emit_arg(p, "--load_in_4bit", NULL);
}

static void hf_optimizer(ap_emit_plan *p)
{
    static const char *const pairs[][2] = {
        {"adamw", "adamw_torch"}, {"adamw-8bit", "adamw_bnb_8bit"}, {"adafactor", "adafactor"}, {"lion", "lion_32bit"},
        {"sgd", "sgd"},           {"galore", "galore_adamw"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (ap_streq(p->optimizer, pairs[i][0]))
            ap_emit_arg(p, "--optim", pairs[i][1]);
}

/* Hugging Face TrainingArguments: what TRL's and Transformers' own scripts take. */
static void huggingface(ap_emit_plan *p)
{
    bool fsdp = ap_streq(p->launcher, "torchrun") && fsdp_mode(p) && p->world > 1;
    ap_emit_arg(p, "--model_name_or_path", p->model);
    if (p->dataset_name)
        ap_emit_arg(p, "--dataset_name", p->dataset_name);
    hf_method(p);
    ap_emit_arg_number(p, "--per_device_train_batch_size", per_device(p));
    ap_emit_arg_number(p, "--gradient_accumulation_steps", ap_or(p->grad_accum, 1));
    ap_emit_arg_number(p, "--max_length", p->seq_len);
    if (ap_known(p->steps))
        ap_emit_arg_number(p, "--max_steps", p->steps);
    else
        ap_emit_arg_number(p, "--num_train_epochs", ap_or(p->epochs, 1));
    hf_precision(p);
    hf_optimizer(p);
    if (p->recompute && !ap_streq(p->recompute, "none"))
        ap_emit_arg(p, "--gradient_checkpointing", "True");
    if (fsdp)
        ap_emit_arg(p, "--fsdp", fsdp_mode(p));
    if (ap_streq(p->launcher, "deepspeed"))
        ap_emit_arg(p, "--deepspeed", "ds_config.json");
    ap_emit_arg(p, "--dataloader_num_workers",
                ap_arena_printf(p->arena, "%.0f", fmax(1, fmin(8, floor(p->cpus_per_node / p->procs_per_node)))));
    ap_emit_arg(p, "--save_strategy", "steps");
    ap_emit_arg_number(p, "--save_steps", p->save_steps);
    ap_emit_arg(p, "--save_total_limit", "2");
    ap_emit_arg(p, "--output_dir", p->checkpoints);
}

/* A script of the user's own: plain names, one meaning each. */
static void plain(ap_emit_plan *p)
{
    ap_emit_arg(p, "--model", p->model_id);
    if (p->dataset_name)
        ap_emit_arg(p, "--dataset", p->dataset_name);
    bool steps_make_sense =
        !ap_streq(p->domain, "trees") && !ap_streq(p->domain, "classic") && !ap_streq(p->domain, "rl");
    if (steps_make_sense) {
        ap_emit_arg_number(p, "--batch-size", per_device(p) * ap_or(p->grad_accum, 1));
        bool whole = ap_known(p->epochs) && p->epochs == floor(p->epochs); /* few scripts know half an epoch */
        if (whole || !ap_known(p->steps))
            ap_emit_arg_number(p, "--epochs", p->epochs);
        else
            ap_emit_arg_number(p, "--max-steps", p->steps);
        ap_emit_arg(p, "--precision", p->precision ? p->precision : "fp32");
        ap_emit_arg(p, "--workers",
                    ap_arena_printf(p->arena, "%.0f", fmax(1, floor(p->cpus_per_node / p->procs_per_node))));
        ap_emit_arg_number(p, "--save-steps", p->save_steps);
    }
    ap_emit_arg(p, "--output-dir", p->checkpoints);
}

static void megatron_shape(ap_emit_plan *p)
{
    const ap_model *m = &p->request->search->job->model;
    ap_emit_arg_number(p, "--num-layers", m->layers);
    ap_emit_arg_number(p, "--hidden-size", m->hidden);
    ap_emit_arg_number(p, "--ffn-hidden-size", m->ffn);
    ap_emit_arg_number(p, "--num-attention-heads", m->heads);
    if (ap_known(m->kv_heads) && m->kv_heads < m->heads) {
        ap_emit_arg(p, "--group-query-attention", NULL);
        ap_emit_arg_number(p, "--num-query-groups", m->kv_heads);
    }
    if (m->gated_mlp == 1)
        ap_emit_arg(p, "--swiglu", NULL);
    if (m->tied_embeddings == 0)
        ap_emit_arg(p, "--untie-embeddings-and-output-weights", NULL);
    if (m->experts > 1) {
        ap_emit_arg_number(p, "--num-experts", m->experts);
        ap_emit_arg_number(p, "--moe-router-topk", m->top_k);
        ap_emit_arg_number(p, "--moe-ffn-hidden-size", m->expert_ffn);
    }
    ap_emit_arg_number(p, "--seq-length", p->seq_len);
    ap_emit_arg_number(p, "--max-position-embeddings", p->seq_len);
    ap_emit_arg_number(p, "--vocab-size", m->vocab);
}

/* Stages that count embedding and head as a layer each where the layers alone do not divide. */
static void interleaving(ap_emit_plan *p)
{
    if (!(p->pp > 1) || !(p->vpp > 1))
        return;
    double layers = p->request->search->job->model.layers, parts = p->pp * p->vpp;
    ap_emit_arg_number(p, "--num-virtual-stages-per-pipeline-rank", p->vpp);
    if (fmod(layers, parts) > 0)
        ap_emit_arg(p, "--account-for-embedding-in-pipeline-split", NULL);
    if (fmod(layers, parts) > 0 && fmod(layers + 1, parts) > 0)
        ap_emit_arg(p, "--account-for-loss-in-pipeline-split", NULL);
}

static void megatron(ap_emit_plan *p)
{
    megatron_shape(p);
    ap_emit_arg_number(p, "--tensor-model-parallel-size", ap_or(p->tp, 1));
    ap_emit_arg_number(p, "--pipeline-model-parallel-size", ap_or(p->pp, 1));
    interleaving(p);
    if (p->cp > 1)
        ap_emit_arg_number(p, "--context-parallel-size", p->cp);
    if (p->ep > 1)
        ap_emit_arg_number(p, "--expert-model-parallel-size", p->ep);
    if (p->tp > 1)
        ap_emit_arg(p, "--sequence-parallel", NULL);
    ap_emit_arg_number(p, "--micro-batch-size", ap_or(p->micro_batch, 1));
    ap_emit_arg_number(p, "--global-batch-size", p->global_batch);
    ap_emit_arg_number(p, "--train-iters", p->steps);
    ap_emit_arg(p, ap_streq(p->precision, "fp16") ? "--fp16" : "--bf16", NULL);
    if (ap_streq(p->precision, "fp8"))
        ap_emit_arg(p, "--fp8-format", "hybrid");
    if (p->sharding && !ap_streq(p->sharding, "none") && !ap_streq(p->sharding, "ddp"))
        ap_emit_arg(p, "--use-distributed-optimizer", NULL);
    if (p->recompute && !ap_streq(p->recompute, "none"))
        ap_emit_arg(p, "--recompute-granularity", p->recompute);
    if (p->dataset_name)
        ap_emit_arg(p, "--data-path", p->dataset_name);
    ap_emit_arg_number(p, "--save-interval", p->save_steps);
    ap_emit_arg(p, "--save", p->checkpoints);
    ap_emit_arg(p, "--load", p->checkpoints);
    ap_emit_arg_number(p, "--exit-duration-in-mins", p->limit_min - ceil(p->grace_s / 60));
}

static void pair(ap_emit_plan *p, const char *key, const char *value)
{
    ap_emit_arg(p, ap_arena_printf(p->arena, "%s=%s", key, value), NULL);
}

static void pair_number(ap_emit_plan *p, const char *key, double value)
{
    char text[40];
    if (!ap_known(value))
        return;
    ap_num_format(value, text);
    pair(p, key, text);
}

/* key=value; ici_* within a slice, dcn_* across slices. */
static void maxtext(ap_emit_plan *p)
{
    const ap_hardware *hw = &p->result->hw;
    double slices = fmax(1, hw->machines), shards = p->chips / slices / ap_or(p->tp, 1);
    pair(p, "run_name", p->name);
    pair(p, "model_name",
         ap_starts_with(p->model_id, "llama-") ? ap_arena_printf(p->arena, "llama%s", p->model_id + 6) : p->model_id);
    pair(p, "base_output_directory", p->settings->bucket ? p->settings->bucket : p->checkpoints);
    pair_number(p, "per_device_batch_size", ap_or(p->micro_batch, 1) / fmax(1, ap_or(p->tp, 1)));
    if (p->grad_accum > 1)
        pair_number(p, "gradient_accumulation_steps", p->grad_accum);
    pair_number(p, "max_target_length", p->seq_len);
    pair_number(p, "steps", p->steps);
    pair_number(p, "ici_fsdp_parallelism", shards);
    if (p->tp > 1)
        pair_number(p, "ici_tensor_parallelism", p->tp);
    if (slices > 1)
        pair_number(p, "dcn_data_parallelism", slices);
    pair(p, "dtype", ap_streq(p->precision, "fp32") ? "float32" : "bfloat16");
    if (p->precision && strstr(p->precision, "8"))
        pair(p, "quantization", ap_streq(p->precision, "int8") ? "int8" : "fp8");
    pair(p, "remat_policy", ap_streq(p->recompute, "none") ? "minimal" : "full");
    pair(p, "hardware", p->tpu ? "tpu" : p->cpu_only ? "cpu" : "gpu");
    pair_number(p, "checkpoint_period", p->save_steps);
    if (p->dataset_name)
        pair(p, "dataset_path", p->dataset_name);
}

void ap_emit_training_args(ap_emit_plan *p)
{
    bool language = ap_streq(p->domain, "llm") || ap_streq(p->domain, "nlp");
    bool torch = ap_streq(p->framework, "pytorch") && !p->tpu;
    if (ap_streq(p->launcher, "megatron"))
        megatron(p);
    else if (ap_streq(p->launcher, "maxtext"))
        maxtext(p);
    else if (torch && language && !ap_streq(p->launcher, "python"))
        huggingface(p);
    else
        plain(p);
    for (size_t i = 0; i < p->settings->args.count; i++)
        ap_emit_arg(p, p->settings->args.items[i], NULL);
}

bool ap_emit_layout_can_be_said(const ap_catalog *catalog, const ap_job *job, const ap_plan *plan)
{
    const ap_stack *stack = plan->stack ? ap_catalog_find_stack(catalog, plan->stack) : NULL;
    const ap_layout *layout = &plan->est.layout;
    bool split = layout->tp > 1 || layout->pp > 1 || layout->cp > 1 || layout->ep > 1;
    bool own = stack && (ap_streq(stack->launcher, "megatron") || ap_streq(stack->launcher, "maxtext"));
    bool language = ap_streq(job->model.domain, "llm") || ap_streq(job->model.domain, "nlp");
    return plan->est.error || !split || own || !language;
}

/* ---- lines --------------------------------------------------------------------------------------------------------
 */

static void add_setup(ap_emit_plan *p)
{
    const ap_strings *own = &p->settings->packages;
    const ap_strings *wanted = own->count                                            ? own
                               : p->stack_info && !in_image(p->image_info, p->stack) ? &p->stack_info->packages
                                                                                     : NULL;
    ap_sbuf line;
    ap_sbuf_init(&line, p->arena);
    for (size_t i = 0; wanted && i < wanted->count; i++) {
        ap_sbuf_add_char(&line, ' ');
        ap_quote(AP_LANG_SHELL, wanted->items[i], &line);
    }
    if (line.len)
        ap_scope_raw(ap_scope_item(p->scope, "setup"), "line",
                     ap_arena_printf(p->arena, "pip install --quiet%s", line.text));
    for (size_t i = 0; i < p->settings->setup.count; i++)
        ap_scope_raw(ap_scope_item(p->scope, "setup"), "line", p->settings->setup.items[i]);
}

ap_status ap_emit_launch(ap_emit_plan *p)
{
    ap_strings lines;
    add_setup(p);
    ap_status status =
        ap_emit_render_lines(p, ap_arena_printf(p->arena, "launch-%s", p->launcher), AP_LANG_SHELL, &lines);
    for (size_t i = 0; i < lines.count; i++)
        ap_scope_raw(ap_scope_item(p->scope, "launch"), "line", lines.items[i]);
    if (status == AP_OK && lines.count == 0) {
        ap_diag_add(p->diags, AP_ERROR, 811, AP_NO_POS, "there is no template launch-%s for stack %s", p->launcher,
                    p->stack);
        return AP_BAD_DATA;
    }
    return status;
}

/* Lines NAME=VALUE of template net-FABRIC: what the network between machines needs to be used at all. */
ap_status ap_emit_fabric(ap_emit_plan *p)
{
    ap_strings lines;
    if (!p->multi_node || !p->fabric || !(p->gpu || p->gaudi || p->neuron))
        return AP_OK;
    /* Google's RoCE has a plug-in of its own. */
    const char *fabric = p->gcp && ap_streq(p->fabric, "roce") ? "gpudirect-rdma" : p->fabric;
    const char *name = ap_arena_printf(p->arena, "net-%s", ap_emit_slug(p->arena, fabric, 40));
    ap_status status = ap_emit_render_lines(p, name, AP_LANG_TEXT, &lines);
    for (size_t i = 0; i < lines.count; i++) {
        const char *equals = strchr(lines.items[i], '=');
        if (!equals || lines.items[i][0] == '#')
            continue;
        const char *key = ap_arena_strndup(p->arena, lines.items[i], (size_t)(equals - lines.items[i]));
        ap_emit_set_env(p, key, equals + 1);
    }
    if (lines.count)
        ap_emit_why(p, "NCCL and FI variables", "%s between the machines is used only with them (template %s)",
                    p->fabric, name);
    return status;
}
