/* Field tables of the workload document. */
#include "workload/workload.h"

#define OFF(field) offsetof(ap_workload, field)
#define COUNT_MAX  1e15

const char *const ap_objective_names[] = {"cost", "time", "balanced", "energy", "co2", NULL};
const char *const ap_framework_names[] = {"pytorch",  "jax",          "tensorflow", "xgboost", "lightgbm",
                                          "catboost", "scikit-learn", "any",        NULL};
static const char *const precision_names[] = {"fp64", "fp32",  "tf32", "fp16", "bf16", "fp8",
                                              "mxfp8", "nvfp4", "int8", "nf4",  "int4", NULL};

static const ap_field constraint_fields[] = {
    {.key = "deadline", .type = AP_T_NUM, .offset = offsetof(ap_constraints, deadline_s), .dim = AP_DIM_SECONDS,
     .min = 1, .max = 1e10, .doc = "Longest acceptable run (p50), such as 24h or 60d."},
    {.key = "budget", .type = AP_T_NUM, .offset = offsetof(ap_constraints, budget_usd), .dim = AP_DIM_USD,
     .min = 0.01, .max = 1e12, .doc = "Most that the run may cost (p50), USD."},
    {.key = "max_price_hour", .type = AP_T_NUM, .offset = offsetof(ap_constraints, max_price_usd_per_h),
     .dim = AP_DIM_USD_PER_H, .min = 0.0001, .max = 1e9, .doc = "Highest price per hour of all machines together, USD."},
    {.key = "chips", .type = AP_T_RANGE, .offset = offsetof(ap_constraints, chips), .dim = AP_DIM_COUNT,
     .min = 1, .max = 1e6, .doc = "Number of chips: 8, 1..8, 16.. ."},
    {.key = "max_chips", .type = AP_T_INT, .offset = offsetof(ap_constraints, max_chips), .min = 1, .max = 1e6,
     .doc = "Most chips to consider."},
    {.key = "memory", .type = AP_T_RANGE, .offset = offsetof(ap_constraints, memory_bytes), .dim = AP_DIM_MEMORY,
     .doc = "Nominal memory of one card: 40GB.., 16GB..24GB."},
    {.key = "host_memory", .type = AP_T_RANGE, .offset = offsetof(ap_constraints, host_memory), .dim = AP_DIM_MEMORY,
     .doc = "Memory of one machine: 64GB.. ."},
    {.key = "clouds", .type = AP_T_TEXTS, .offset = offsetof(ap_constraints, clouds), .doc = "Clouds to consider (globs)."},
    {.key = "regions", .type = AP_T_TEXTS, .offset = offsetof(ap_constraints, regions), .doc = "Regions to consider (globs)."},
    {.key = "chip", .type = AP_T_TEXTS, .offset = offsetof(ap_constraints, chip_globs), .doc = "Chips to consider (ids, aliases or globs)."},
    {.key = "exclude", .type = AP_T_TEXTS, .offset = offsetof(ap_constraints, exclude),
     .doc = "Clouds, chips, instances or regions to leave out (globs)."},
    {.key = "pricing", .type = AP_T_TEXTS, .offset = offsetof(ap_constraints, pricing),
     .doc = "on-demand, spot, reserved or any."},
    {.key = "portable", .type = AP_T_BOOL, .offset = offsetof(ap_constraints, portable),
     .doc = "Leave out chips that only one cloud has."},
    {.key = "approved", .type = AP_T_BOOL, .offset = offsetof(ap_constraints, approved),
     .doc = "Someone signed this run off (for policies)."},
    {.key = "residency", .type = AP_T_TEXT, .offset = offsetof(ap_constraints, residency),
     .doc = "Continent (europe) or country (DEU) that the data must not leave."},
    {.key = "hours_per_week", .type = AP_T_NUM, .offset = offsetof(ap_constraints, hours_per_week), .min = 0, .max = 168,
     .doc = "Hours a week that such hardware is in use."},
};
static const ap_object constraints_object = {"constraints", "Limits that a recommendation must keep.",
                                             sizeof(ap_constraints), AP_FIELDS_OF(constraint_fields), NULL};

#define SUB(field) (offsetof(ap_workload, field) - offsetof(ap_workload, lora))
static const ap_field lora_fields[] = {
    {.key = "rank", .type = AP_T_INT, .offset = SUB(lora.rank), .min = 1, .max = 65536, .doc = "Rank of the adapters."},
    {.key = "targets", .type = AP_T_TEXTS, .offset = SUB(lora.targets),
     .doc = "Matrices with adapters: q, k, v, o, gate, up, down, or all."},
};
static const ap_object lora_object = {"lora", "Low-rank adapters.", sizeof(((ap_workload *)0)->lora),
                                      AP_FIELDS_OF(lora_fields), NULL};
#undef SUB
#define SUB(field) (offsetof(ap_workload, field) - offsetof(ap_workload, data))
static const ap_field data_fields[] = {
    {.key = "tokens", .type = AP_T_NUM, .offset = SUB(data.tokens), .dim = AP_DIM_TOKENS, .min = 1, .max = COUNT_MAX,
     .doc = "Tokens trained on in the whole run, such as 200M."},
    {.key = "samples", .type = AP_T_NUM, .offset = SUB(data.samples), .dim = AP_DIM_COUNT, .min = 1, .max = COUNT_MAX,
     .doc = "Samples in one epoch; without epochs, of the whole run."},
    {.key = "epochs", .type = AP_T_NUM, .offset = SUB(data.epochs), .min = 1e-6, .max = 1e7, .doc = "Passes over the data."},
    {.key = "rows", .type = AP_T_NUM, .offset = SUB(data.rows), .dim = AP_DIM_COUNT, .min = 1, .max = COUNT_MAX,
     .doc = "Rows of a table."},
    {.key = "features", .type = AP_T_NUM, .offset = SUB(data.features), .dim = AP_DIM_COUNT, .min = 1, .max = 1e9,
     .doc = "Columns of a table."},
    {.key = "sample_bytes", .type = AP_T_NUM, .offset = SUB(data.sample_bytes), .dim = AP_DIM_BYTES, .min = 1, .max = 1e12,
     .doc = "Stored size of one sample."},
    {.key = "dataset", .type = AP_T_TEXT, .offset = SUB(data.dataset), .doc = "A data set of the catalog (list datasets)."},
    {.key = "format", .type = AP_T_TEXT, .offset = SUB(data.format), .doc = "Stored format: jpeg, tfrecord, webdataset, parquet, raw …"},
    {.key = "storage", .type = AP_T_TEXT, .offset = SUB(data.storage), .doc = "Where the data lies, or its speed (2GB/s)."},
    {.key = "region", .type = AP_T_TEXT, .offset = SUB(data.region), .doc = "Region the data lies in."},
    {.key = "workers", .type = AP_T_INT, .offset = SUB(data.workers), .min = 0, .max = 4096, .doc = "Loader processes per chip."},
};
static const ap_object data_object = {"data", "What is trained on, and how much.", sizeof(((ap_workload *)0)->data),
                                      AP_FIELDS_OF(data_fields), NULL};
#undef SUB
#define SUB(field) (offsetof(ap_workload, field) - offsetof(ap_workload, parallel))
#define DEGREE(name, text)                                                                                             \
    {.key = #name, .type = AP_T_INT, .offset = SUB(parallel.name), .flags = AP_F_AUTO, .min = 1, .max = 65536, .doc = text}
static const ap_field parallel_fields[] = {
    DEGREE(tp, "Tensor-parallel degree."), DEGREE(pp, "Pipeline-parallel degree."),
    DEGREE(vpp, "Virtual pipeline stages per rank (interleaving)."), DEGREE(cp, "Context-parallel degree."),
    DEGREE(ep, "Expert-parallel degree."),
    {.key = "sharding", .type = AP_T_ENUM, .offset = SUB(parallel.sharding), .flags = AP_F_AUTO,
     .names = ap_sharding_names, .doc = "How optimizer, gradients and weights are sharded over data-parallel ranks."},
};
static const ap_object parallel_object = {"parallel", "Parallel layout; what is absent is chosen.",
                                          sizeof(((ap_workload *)0)->parallel), AP_FIELDS_OF(parallel_fields), NULL};
#undef SUB
#undef DEGREE

#define SUB(field) (offsetof(ap_workload, field) - offsetof(ap_workload, bill))
static const ap_field bill_fields[] = {
    {.key = "setup", .type = AP_T_NUM, .offset = SUB(bill.setup_s), .dim = AP_DIM_SECONDS, .min = 0, .max = 1e8,
     .doc = "Hours paid for besides the run: downloads, debugging, idle evenings (2h)."},
    {.key = "controller", .type = AP_T_NUM, .offset = SUB(bill.controller_usd_per_h), .dim = AP_DIM_USD_PER_H, .min = 0,
     .max = 1e6, .doc = "What runs beside the machines: controller, cluster fee, orchestration (0.10 USD/h)."},
};
static const ap_object bill_object = {"bill", "What the run costs besides its machines.", sizeof(((ap_workload *)0)->bill),
                                      AP_FIELDS_OF(bill_fields), NULL};
#undef SUB

#define FLAG(name, text) {.key = #name, .type = AP_T_BOOL, .offset = OFF(name), .flags = AP_F_AUTO, .doc = text}
static const ap_field workload_fields[] = {
    {.key = "name", .type = AP_T_TEXT, .offset = OFF(name), .doc = "Name of the job."},
    {.key = "model", .type = AP_T_NODE, .offset = OFF(model), .flags = AP_F_REQUIRED,
     .doc = "A model of the catalog, {hf: path/to/config.json}, or a mapping with class and sizes."},
    {.key = "method", .type = AP_T_ENUM, .offset = OFF(method), .names = ap_method_names, .doc = "What kind of training."},
    {.key = "lora", .type = AP_T_OBJECT, .offset = OFF(lora), .object = &lora_object, .doc = "Adapters of lora and qlora."},
    {.key = "framework", .type = AP_T_ENUM, .offset = OFF(framework), .names = ap_framework_names, .doc = "Training framework."},
    {.key = "stack", .type = AP_T_TEXT, .offset = OFF(stack), .flags = AP_F_AUTO, .doc = "Training software (list stacks)."},
    {.key = "precision", .type = AP_T_ENUM, .offset = OFF(precision), .flags = AP_F_AUTO, .names = precision_names,
     .doc = "Precision of the matrix products."},
    {.key = "base_precision", .type = AP_T_ENUM, .offset = OFF(base_precision), .flags = AP_F_AUTO, .names = precision_names,
     .doc = "Storage of a frozen base: bf16, int8, nf4, int4."},
    {.key = "optimizer", .type = AP_T_ENUM, .offset = OFF(optimizer), .flags = AP_F_AUTO, .names = ap_optimizer_names,
     .doc = "Optimizer."},
    {.key = "sequence_length", .type = AP_T_INT, .offset = OFF(sequence_length), .flags = AP_F_AUTO, .min = 1, .max = 1e8,
     .doc = "Tokens of one sequence."},
    {.key = "input", .type = AP_T_TEXT, .offset = OFF(input), .flags = AP_F_AUTO, .doc = "Image, clip or audio size, such as 224x224."},
    {.key = "global_batch", .type = AP_T_TEXT, .offset = OFF(global_batch), .flags = AP_F_AUTO,
     .doc = "Samples (sequences) per optimizer step, or tokens with a unit: 4M tokens."},
    {.key = "micro_batch", .type = AP_T_INT, .offset = OFF(micro_batch), .flags = AP_F_AUTO, .min = 1, .max = 1e9,
     .doc = "Samples that one chip works on at a time."},
    {.key = "recompute", .type = AP_T_ENUM, .offset = OFF(recompute), .flags = AP_F_AUTO, .names = ap_recompute_names,
     .doc = "Activation recomputation (gradient checkpointing)."},
    {.key = "offload", .type = AP_T_TEXTS, .offset = OFF(offload), .doc = "none, or of: optimizer, parameters, activations."},
    FLAG(flash_attention, "Fused attention kernel."), FLAG(compile, "torch.compile or similar."),
    FLAG(packing, "Several samples packed into one sequence."),
    FLAG(optimizer_in_backward, "Optimizer step fused into the backward pass."),
    FLAG(checkpoints, "Saves checkpoints that it can resume from (for rules and policies)."),
    {.key = "checkpoint_every", .type = AP_T_NUM, .offset = OFF(checkpoint_every_s), .flags = AP_F_AUTO, .dim = AP_DIM_SECONDS,
     .min = 1, .max = 1e8, .doc = "Time between checkpoints, such as 30min."},
    FLAG(custom_kernels, "Needs CUDA kernels of its own."), FLAG(dynamic_shapes, "Tensor shapes change from step to step."),
    FLAG(early_stopping, "Stops when the validation loss does."),
    {.key = "data", .type = AP_T_OBJECT, .offset = OFF(data), .object = &data_object, .doc = "Data of the run."},
    {.key = "parallel", .type = AP_T_OBJECT, .offset = OFF(parallel), .object = &parallel_object, .doc = "Parallel layout."},
    {.key = "bill", .type = AP_T_OBJECT, .offset = OFF(bill), .object = &bill_object, .doc = "Costs besides the machines."},
    {.key = "constraints", .type = AP_T_OBJECT, .offset = OFF(constraints), .object = &constraints_object, .doc = "Limits."},
    {.key = "objective", .type = AP_T_ENUM, .offset = OFF(objective), .names = ap_objective_names, .doc = "What to rank by."},
    {.type = AP_T_POS, .offset = OFF(pos)},
};
const ap_object ap_workload_object = {"workload", "A training job to find hardware for.", sizeof(ap_workload),
                                      AP_FIELDS_OF(workload_fields), NULL};
