/* The formats: how each is recognised by its content (and name where that helps), and who reads it. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "jobs/reader.h"

const char *const ap_jobformat_names[] = {
    "unknown",  "slurm",    "k8s",          "skypilot",  "dstack",     "deepspeed",  "accelerate",
    "hfconfig", "axolotl",  "llamafactory", "torchtune", "torchtitan", "llmfoundry", "nemo",
    "neox",     "megatron", "maxtext",      "trl",       "litgpt",     "determined", "olmo",
    "mlperf",   "vertex",   "sagemaker",    "azureml",   "ray",        "compose",    "gha",
    "xpk",      "colab",    "shell",        "workload",  NULL};

const ap_fault_info ap_fault_infos[AP_FAULT_COUNT] = {
#define AP_FAULT_INFO(id, code, slug, severity) {code, slug, severity},
    AP_JOB_FAULTS(AP_FAULT_INFO)};

int ap_jobformat_parse(const char *name)
{
    for (int i = 1; ap_jobformat_names[i]; i++)
        if (strcasecmp(name, ap_jobformat_names[i]) == 0)
            return i;
    return -1;
}

ap_jobfinding *ap_jobfinding_add(ap_arena *arena, ap_jobfindings *list, ap_fault fault, ap_pos pos, const char *format,
                                 ...)
{
    va_list args;
    va_start(args, format);
    ap_sbuf message;
    ap_sbuf_init(&message, arena);
    ap_sbuf_vprintf(&message, format, args);
    va_end(args);
    ap_jobfinding *finding = AP_PUSH(arena, list->items, list->count, list->capacity);
    *finding = (ap_jobfinding){.fault = fault,
                               .id = ap_fault_infos[fault].id,
                               .severity = ap_fault_infos[fault].severity,
                               .pos = pos,
                               .message = message.text};
    return finding;
}

static const ap_jobformat_row rows[] = {{AP_JF_SLURM, ap_read_slurm},
                                        {AP_JF_K8S, ap_read_k8s},
                                        {AP_JF_SKYPILOT, ap_read_skypilot},
                                        {AP_JF_DSTACK, ap_read_dstack},
                                        {AP_JF_DEEPSPEED, ap_read_deepspeed},
                                        {AP_JF_ACCELERATE, ap_read_accelerate},
                                        {AP_JF_HFCONFIG, ap_read_hfconfig},
                                        {AP_JF_AXOLOTL, ap_read_axolotl},
                                        {AP_JF_LLAMAFACTORY, ap_read_llamafactory},
                                        {AP_JF_TORCHTUNE, ap_read_torchtune},
                                        {AP_JF_TORCHTITAN, ap_read_torchtitan},
                                        {AP_JF_LLMFOUNDRY, ap_read_llmfoundry},
                                        {AP_JF_NEMO, ap_read_nemo},
                                        {AP_JF_NEOX, ap_read_neox},
                                        {AP_JF_MEGATRON, ap_read_shell},
                                        {AP_JF_MAXTEXT, ap_read_maxtext},
                                        {AP_JF_TRL, ap_read_trl},
                                        {AP_JF_LITGPT, ap_read_litgpt},
                                        {AP_JF_DETERMINED, ap_read_determined},
                                        {AP_JF_OLMO, ap_read_olmo},
                                        {AP_JF_MLPERF, ap_read_mlperf},
                                        {AP_JF_VERTEX, ap_read_vertex},
                                        {AP_JF_SAGEMAKER, ap_read_sagemaker},
                                        {AP_JF_AZUREML, ap_read_azureml},
                                        {AP_JF_RAY, ap_read_ray},
                                        {AP_JF_COMPOSE, ap_read_compose},
                                        {AP_JF_GHA, ap_read_gha},
                                        {AP_JF_XPK, ap_read_shell},
                                        {AP_JF_COLAB, ap_read_colab},
                                        {AP_JF_SHELL, ap_read_shell},
                                        {AP_JF_WORKLOAD, ap_read_workload}};

const ap_jobformat_row *ap_jobformat_find(ap_jobformat format)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].format == format)
            return &rows[i];
    return NULL;
}

/* -- documents
 * ------------------------------------------------------------------------------------------------------------------ */

static bool has(const ap_node *root, const char *path)
{
    return ap_node_at(root, path) != NULL;
}

static bool is_map(const ap_node *root, const char *path)
{
    const ap_node *node = ap_node_at(root, path);
    return node && node->kind == AP_NODE_MAP;
}

static bool text_has(const ap_node *root, const char *path, const char *part)
{
    const char *text = ap_node_text(ap_node_at(root, path));
    return text && ap_contains_nocase(text, part);
}

static bool key_begins(const ap_node *root, const char *prefix)
{
    for (size_t i = 0; i < root->as.map.count; i++)
        if (ap_starts_with(root->as.map.pairs[i].key, prefix))
            return true;
    return false;
}

static bool is_compose(const ap_node *root, const char *name)
{
    const ap_node *services = ap_node_get(root, "services");
    if (!services || services->kind != AP_NODE_MAP || services->as.map.count == 0)
        return false;
    const ap_node *first = services->as.map.pairs[0].value;
    return ap_contains_nocase(name, "compose") || has(first, "image") || has(first, "build");
}

static bool is_workflow(const ap_node *root, const char *path)
{
    const ap_node *jobs = ap_node_get(root, "jobs");
    bool runs = false;
    for (size_t i = 0; jobs && jobs->kind == AP_NODE_MAP && i < jobs->as.map.count; i++)
        runs = runs || has(jobs->as.map.pairs[i].value, "runs-on") || has(jobs->as.map.pairs[i].value, "steps") ||
               has(jobs->as.map.pairs[i].value, "uses");
    return runs && (has(root, "on") || has(root, "true") || strstr(path, ".github"));
}

static ap_jobformat recognise_platform(const char *path, const ap_node *root)
{
    const char *name = ap_base_name(path);
    if (has(root, "apiVersion") && has(root, "kind"))
        return AP_JF_K8S;
    if (has(root, "nbformat") && has(root, "cells"))
        return AP_JF_COLAB;
    if (is_compose(root, name))
        return AP_JF_COMPOSE;
    if (is_workflow(root, path))
        return AP_JF_GHA;
    if (text_has(root, "$schema", "azureml") ||
        (ap_streq(ap_node_text(ap_node_get(root, "type")), "command") && has(root, "command")))
        return AP_JF_AZUREML;
    if (ap_contains_nocase(name, "dstack") ||
        (has(root, "type") && (text_has(root, "type", "task") || text_has(root, "type", "dev-environment")) &&
         (has(root, "commands") || has(root, "resources.gpu"))))
        return AP_JF_DSTACK;
    if (has(root, "workerPoolSpecs") || has(root, "worker_pool_specs") || has(root, "jobSpec.workerPoolSpecs") ||
        has(root, "job_spec.worker_pool_specs"))
        return AP_JF_VERTEX;
    if (has(root, "TrainingJobName") ||
        (has(root, "ResourceConfig") && (has(root, "AlgorithmSpecification") || has(root, "StoppingCondition"))))
        return AP_JF_SAGEMAKER;
    if (has(root, "available_node_types") || (has(root, "cluster_name") && is_map(root, "provider")))
        return AP_JF_RAY;
    if (has(root, "searcher") && (has(root, "hyperparameters") || has(root, "resources") || has(root, "entrypoint")))
        return AP_JF_DETERMINED;
    if (has(root, "resources.slots_per_trial"))
        return AP_JF_DETERMINED;
    if (has(root, "resources.accelerators") || has(root, "resources.any_of") || has(root, "resources.ordered") ||
        (is_map(root, "resources") && has(root, "run")) || (has(root, "run") && has(root, "setup")) ||
        (has(root, "num_nodes") && has(root, "run")))
        return AP_JF_SKYPILOT;
    return AP_JF_UNKNOWN;
}

static ap_jobformat recognise_config(const char *path, const ap_node *root)
{
    const char *name = ap_base_name(path);
    bool shape =
        has(root, "num_layers") || has(root, "num-layers") || has(root, "hidden_size") || has(root, "hidden-size");
    if (has(root, "pipe_parallel_size") || has(root, "pipe-parallel-size") ||
        (shape && has(root, "train_micro_batch_size_per_gpu")))
        return AP_JF_NEOX;
    if (has(root, "distributed_type") || has(root, "compute_environment") ||
        (has(root, "num_machines") && has(root, "num_processes")))
        return AP_JF_ACCELERATE;
    if (is_map(root, "zero_optimization") || has(root, "train_micro_batch_size_per_gpu") ||
        (has(root, "train_batch_size") && (has(root, "fp16") || has(root, "bf16") || has(root, "optimizer"))))
        return AP_JF_DEEPSPEED;
    if (has(root, "model._component_") || has(root, "tokenizer._component_"))
        return AP_JF_TORCHTUNE;
    if (is_map(root, "trainer") && is_map(root, "model") &&
        (has(root, "trainer.num_nodes") || has(root, "trainer.devices") || has(root, "exp_manager")))
        return AP_JF_NEMO;
    if (has(root, "architectures") || (has(root, "model_type") && !has(root, "base_model")) ||
        (has(root, "hidden_size") && has(root, "num_hidden_layers")) ||
        (has(root, "n_embd") && has(root, "n_layer") && strstr(name, "config")))
        return AP_JF_HFCONFIG;
    if ((is_map(root, "compute") && is_map(root, "parameters")) || text_has(root, "model.name", "causal_lm") ||
        has(root, "device_train_microbatch_size")) {
        bool olmo = has(root, "model.d_model") && !has(root, "model.name");
        return olmo ? AP_JF_OLMO : AP_JF_LLMFOUNDRY;
    }
    if (has(root, "model.d_model") && has(root, "model.n_layers"))
        return AP_JF_OLMO;
    if (has(root, "base_config") ||
        (has(root, "max_target_length") && (has(root, "per_device_batch_size") || has(root, "steps"))) ||
        key_begins(root, "ici_") || key_begins(root, "dcn_") || has(root, "base_emb_dim"))
        return AP_JF_MAXTEXT;
    if (is_map(root, "train") && (has(root, "train.micro_batch_size") || has(root, "train.global_batch_size")))
        return AP_JF_LITGPT;
    if (has(root, "base_model") &&
        (has(root, "micro_batch_size") || has(root, "datasets") || has(root, "sequence_len") || has(root, "adapter")))
        return AP_JF_AXOLOTL;
    if (has(root, "finetuning_type") || (has(root, "stage") && (has(root, "template") || has(root, "cutoff_len"))))
        return AP_JF_LLAMAFACTORY;
    if (is_map(root, "training") && (has(root, "model.flavor") || is_map(root, "parallelism") || is_map(root, "job")))
        return AP_JF_TORCHTITAN;
    if (has(root, "per_device_train_batch_size") ||
        (has(root, "model_name_or_path") &&
         (has(root, "max_steps") || has(root, "num_train_epochs") || has(root, "learning_rate"))))
        return AP_JF_TRL;
    bool own =
        has(root, "model") && (is_map(root, "data") || has(root, "constraints") || has(root, "sequence_length") ||
                               is_map(root, "parallel") || has(root, "objective"));
    return own ? AP_JF_WORKLOAD : AP_JF_UNKNOWN;
}

ap_jobformat ap_recognise_node(const char *path, const ap_node *root)
{
    if (!root || root->kind != AP_NODE_MAP)
        return AP_JF_UNKNOWN;
    ap_jobformat format = recognise_platform(path, root);
    return format != AP_JF_UNKNOWN ? format : recognise_config(path, root);
}

/* -- scripts
 * ----------------------------------------------------------------------------------------------------------------------
 */

static bool has_directive(const char *text)
{
    for (const char *p = strstr(text, "#SBATCH"); p; p = strstr(p + 1, "#SBATCH"))
        if (p == text || p[-1] == '\n')
            return true;
    return false;
}

ap_jobformat ap_recognise_text(const char *path, const char *text, size_t len)
{
    (void)len;
    if (has_directive(text))
        return AP_JF_SLURM;
    if (strstr(text, "xpk workload create") || strstr(text, "xpk.py workload create"))
        return AP_JF_XPK;
    if (strstr(text, "DGXNNODES") || strstr(text, "DGXNGPU") ||
        (ap_starts_with(ap_base_name(path), "config_DGX") && strstr(text, "export")))
        return AP_JF_MLPERF;
    if (strstr(text, "--tensor-model-parallel-size") || strstr(text, "pretrain_gpt.py") || strstr(text, "--num-layers"))
        return AP_JF_MEGATRON;
    static const char *const launchers[] = {"torchrun", "accelerate launch", "deepspeed ",       "torch.distributed",
                                            "mpirun",   "MaxText",           "llamafactory-cli", "axolotl train",
                                            "tune run", "composer ",         "litgpt ",          "--model_name_or_path",
                                            "python "};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strstr(text, launchers[i]))
            return AP_JF_SHELL;
    return AP_JF_UNKNOWN;
}
