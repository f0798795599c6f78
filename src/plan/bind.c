/* Job + hardware -> the estimator's case. Chooses precision and stack where the job leaves them open. */
#include <string.h>

#include "base/num.h"
#include "plan/plan.h"

static const ap_finding *refuse(ap_arena *arena, const char *id, const char *message)
{
    ap_finding *finding = AP_NEW(arena, ap_finding);
    *finding = (ap_finding){.id = id, .message = message};
    return finding;
}

static bool is_table(const ap_model *model)
{
    return ap_streq(model->domain, "trees") || ap_streq(model->domain, "classic");
}

/* 16 bit where matrix units make it worth while, bf16 first; networks on CPUs use it with AMX only. */
static int usual_precision(const ap_job *job, const ap_chip *chip)
{
    if (is_table(&job->model))
        return AP_PREC_FP32;
    double fp32 = ap_or(chip->peak.fp32, 0);
    if (chip->kind == AP_CHIP_CPU)
        return ap_starts_with(chip->generation ? chip->generation : "", "cpu-amx") ? AP_PREC_BF16 : AP_PREC_FP32;
    if (chip->peak.bf16 > 1.3 * fp32)
        return AP_PREC_BF16;
    if (chip->peak.fp16 > 1.3 * fp32)
        return AP_PREC_FP16;
    return fp32 > 0 || !ap_known(chip->peak.bf16) ? AP_PREC_FP32 : AP_PREC_BF16;
}

static const ap_finding *bind_precision(const ap_job *job, const ap_chip *chip, ap_arena *arena, ap_case *ret)
{
    ret->precision = job->precision >= 0 ? job->precision : usual_precision(job, chip);
    ret->base_precision = job->base_precision;
    /* Scales of blocks of 32 came with the units for 4 bit. */
    if (ret->precision == AP_PREC_MXFP8 && ap_known(chip->peak.fp8) && !ap_known(chip->peak.fp4))
        return refuse(arena, "AP2001", ap_arena_printf(arena, "%s has no mxfp8 units; its 8 bit is fp8", chip->name));
    if (ap_known(ap_chip_peak(chip, (ap_precision)ret->precision)))
        return NULL;
    /* Frameworks emulate bf16 on older GPUs: it fits or not as fp16 does, and rule AP2002 says that it is slow. */
    if (ret->precision == AP_PREC_BF16 && chip->kind == AP_CHIP_GPU && ap_known(chip->peak.fp16)) {
        ret->precision = AP_PREC_FP16;
        return NULL;
    }
    return refuse(arena, "AP2001",
                  ap_arena_printf(arena, "%s has no %s units", chip->name, ap_precision_name((ap_precision)ret->precision)));
}

/* Adapters sit beside the projections of attention layers. */
static const ap_finding *bind_method(const ap_job *job, ap_arena *arena)
{
    static const char *const without[] = {"cnn", "gbdt", "linear", "rnn", "gnn", "dlrm"};
    bool adapters = job->method == AP_METHOD_LORA || job->method == AP_METHOD_QLORA;
    for (size_t i = 0; adapters && i < sizeof without / sizeof *without; i++)
        if (ap_streq(job->model.arch, without[i]))
            return refuse(arena, "AP1023",
                          ap_arena_printf(arena, "%s adapters are for attention layers, and %s has none: train or finetune it",
                                          ap_method_names[job->method], job->model.id ? job->model.id : "the model"));
    return NULL;
}

/* A framework is known under several words: pytorch-xla on TPUs, pytorch-neuronx on Trainium, "pytorch (SynapseAI)". */
static bool chip_runs(const ap_chip *chip, const char *framework)
{
    if (chip->frameworks.count == 0)
        return true;
    for (size_t i = 0; i < chip->frameworks.count; i++)
        if (ap_starts_with(chip->frameworks.items[i], framework))
            return true;
    return false;
}

/* A system on a chip (Apple's): libraries that do not use its GPU run on its cores, in the same memory. */
static bool has_own_cores(const ap_chip *chip)
{
    return chip->kind == AP_CHIP_GPU && ap_known(chip->cpu.cores);
}

static bool is_tree_library(int framework)
{
    return framework >= 3 && framework <= 6;
}

static const ap_finding *bind_framework(const ap_job *job, const ap_chip *chip, ap_arena *arena, ap_case *ret)
{
    const char *name = ap_framework_names[job->framework];
    bool trees = is_tree_library(job->framework) || is_table(&job->model);
    bool by_cpu = chip->kind == AP_CHIP_CPU || has_own_cores(chip);
    if (trees && !by_cpu && !(chip->kind == AP_CHIP_GPU && ap_streq(chip->vendor, "NVIDIA")))
        return refuse(arena, "AP1023", ap_arena_printf(arena, "tree and classic libraries do not run on %s", chip->name));
    if (job->framework == 6 && !by_cpu)
        return refuse(arena, "AP1023", ap_arena_printf(arena, "scikit-learn runs on CPUs, not on %s", chip->name));
    if (job->framework == AP_FRAMEWORK_ANY) {
        ret->framework = is_table(&job->model) ? job->model.library : NULL;
        return NULL;
    }
    if (!trees && !chip_runs(chip, name))
        return refuse(arena, "AP1023", ap_arena_printf(arena, "%s does not run on %s", name, chip->name));
    ret->framework = name;
    return NULL;
}

static bool stack_runs_on(const ap_stack *stack, const ap_chip *chip)
{
    const char *kind = ap_chip_kind_name(chip->kind);
    for (size_t i = 0; i < stack->kinds.count; i++)
        if (ap_streq(stack->kinds.items[i], kind))
            return true;
    return stack->kinds.count == 0;
}

/* default_for holds globs over DOMAIN:METHOD:KIND:VENDOR:SIZE; the longest that matches wins, so order does not matter. */
static const ap_stack *usual_stack(const ap_search *search, const ap_chip *chip)
{
    const ap_job *job = search->job;
    const ap_catalog *catalog = search->catalog;
    ap_arena *arena = search->arena;
    char *key = ap_str_lower(arena, ap_arena_printf(arena, "%s:%s:%s:%s:%s", job->model.domain ? job->model.domain : "other",
                                                    ap_method_names[job->method], ap_chip_kind_name(chip->kind),
                                                    chip->vendor ? chip->vendor : "",
                                                    job->model.params > search->constants.large_model_params ? "large" : "small"));
    const ap_stack *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; i < catalog->stacks.count; i++) {
        const ap_stack *stack = &catalog->stacks.items[i];
        bool other = job->framework != AP_FRAMEWORK_ANY && stack->framework &&
                     !ap_streq(stack->framework, ap_framework_names[job->framework]);
        if (other)
            continue;
        for (size_t k = 0; k < stack->default_for.count; k++) {
            size_t length = strlen(stack->default_for.items[k]);
            if (length > best_length && ap_glob_match(stack->default_for.items[k], key)) {
                best = stack;
                best_length = length;
            }
        }
    }
    return best;
}

static const ap_finding *bind_stack(const ap_search *search, const ap_chip *chip, ap_case *ret)
{
    ap_arena *arena = search->arena;
    const char *asked = search->job->workload->stack;
    const ap_stack *stack = asked ? ap_catalog_find_stack(search->catalog, asked) : usual_stack(search, chip);
    if (asked && stack && !stack_runs_on(stack, chip))
        return refuse(arena, "AP1023", ap_arena_printf(arena, "%s does not run on %s", stack->name ? stack->name : stack->id, chip->name));
    ret->stack_info = stack;
    ret->stack = stack ? stack->id : asked;
    if (!ret->framework && stack)
        ret->framework = stack->framework;
    return NULL;
}

static void bind_job(const ap_job *job, ap_case *ret)
{
    const ap_workload *w = job->workload;
    ret->model = &job->model;
    ret->domain = job->model.domain;
    ret->arch = job->model.arch;
    ret->method = job->method;
    ret->optimizer = job->optimizer;
    ret->flash = w->flash_attention;
    ret->compile = w->compile;
    ret->packing = w->packing;
    ret->optimizer_in_backward = w->optimizer_in_backward;
    ret->offload = job->offload;
    ret->lora_rank = job->lora_rank;
    ret->lora_target_count = job->lora_target_count;
    ret->input = w->input;
    ret->seq_len = job->seq_len;
    ret->global_batch = job->global_batch;
    ret->counted_batch = job->recipe ? ap_or(job->recipe->global_batch, job->global_batch) : job->global_batch;
    ret->samples_total = job->samples;
    ret->tokens_total = job->tokens;
    ret->samples_per_epoch = job->samples_per_epoch;
    ret->epochs = job->epochs;
    ret->target_batch = job->target_batch;
    ret->critical_batch = job->critical_batch;
    ret->dataset = job->dataset ? job->dataset->id : NULL;
    ret->dataset_info = job->dataset;
    ret->recipe = job->recipe;
    ret->rows = job->rows;
    ret->features = job->features;
    ret->trees = job->model.trees;
    ret->depth = job->model.depth;
    ret->leaves = job->model.leaves;
}

/* The cores of a system on a chip as a CPU. */
static const ap_chip *cores_of(const ap_chip *chip, ap_arena *arena)
{
    ap_chip *cores = AP_NEW(arena, ap_chip);
    *cores = *chip;
    cores->kind = AP_CHIP_CPU;
    cores->generation = "cpu-arm";
    cores->memory.usable = AP_UNKNOWN;
    return cores;
}

/* What the machine has goes before what such machines usually have. */
static double cpu_memory(const ap_hardware *hw, const ap_chip *chip)
{
    return chip->kind == AP_CHIP_CPU ? ap_or(hw->memory_bytes, chip->memory.size) : hw->memory_bytes;
}

/* A machine that has some threads of a CPU has that share of its arithmetic and power, and at most twice that share of its
 * memory bandwidth, which few cores can use more than their part of. Trees and simulators count threads themselves. */
static const ap_chip *share_of_cpu(const ap_hardware *hw, ap_engine engine, ap_arena *arena)
{
    double share = hw->threads / (ap_or(hw->threads_per_core, 2) * hw->chip->cpu.cores * hw->chips);
    bool counts_threads = engine == AP_ENGINE_TREE || engine == AP_ENGINE_ENV;
    bool other_memory = ap_known(hw->chip->memory.size) && ap_known(hw->memory_bytes);
    if (hw->chip->kind != AP_CHIP_CPU || counts_threads || (!(share < 1) && !other_memory))
        return hw->chip;
    ap_chip *slice = AP_NEW(arena, ap_chip);
    *slice = *hw->chip;
    if (other_memory)
        slice->memory.size = hw->memory_bytes;
    if (!(share < 1))
        return slice;
    double *const peaks[] = {&slice->peak.fp64, &slice->peak.fp32, &slice->peak.tf32, &slice->peak.fp16,
                             &slice->peak.bf16, &slice->peak.fp8,  &slice->peak.fp4,  &slice->peak.int8,
                             &slice->peak.fp32_matrix};
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
        *peaks[i] *= share;
    slice->tdp_w *= share;
    slice->cpu.cores *= share;
    slice->memory.bandwidth *= fmin(1, 2 * share);
    return slice;
}

const ap_finding *ap_plan_bind(const ap_search *search, const ap_hardware *hw, ap_case *ret)
{
    const ap_job *job = search->job;
    ap_arena *arena = search->arena;
    ap_case_clear(ret);
    bind_job(job, ret);
    ret->chip = hw->chip;
    ret->chip = share_of_cpu(hw, ap_est_engine(ret), arena);
    if (is_table(&job->model) && has_own_cores(hw->chip))
        ret->chip = cores_of(hw->chip, arena);
    ret->layouts_given = ap_est_engine(ret) == AP_ENGINE_LLM || ap_est_engine(ret) == AP_ENGINE_DL;
    ret->chips = hw->chips;
    ret->chips_per_node = hw->chips_per_host;
    ret->threads = hw->threads;
    ret->nic_bytes_per_s = hw->nic_bytes_per_s;
    ret->intra_bytes_per_s = hw->intra_bytes_per_s;
    ret->fabric = hw->fabric;
    ret->domain_chips = hw->domain_chips;
    ret->host_vcpus = hw->vcpus;
    ret->data_format = job->format;
    ret->sample_bytes = job->sample_bytes;
    ret->host_memory_bytes = cpu_memory(hw, ret->chip);
    const ap_finding *problem = bind_method(job, arena);
    if (!problem)
        problem = bind_framework(job, hw->chip, arena, ret);
    if (!problem)
        problem = bind_precision(job, hw->chip, arena, ret);
    if (!problem)
        problem = bind_stack(search, hw->chip, ret);
    return problem;
}
