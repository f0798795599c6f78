/* What one job file says, value by value, each with the place it was read from. Readers fill this, nothing is derived
 * here: a format's word for a thing becomes the fact, understand.c draws the conclusions.
 *
 * A fact has three states: absent (pos.line 0), stated and known, stated but not known from the file alone (a line, but
 * NaN or NULL: `$1`, `auto`, a template). The last must never be read as 0 or 1.
 * Ownership: text lives in the arena of the check run. */
#ifndef AP_JOBS_FACTS_H
#define AP_JOBS_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/num.h"

typedef struct ap_jnum {
    double value;
    ap_pos pos;
} ap_jnum;

typedef struct ap_jtext {
    const char *value;
    ap_pos pos;
} ap_jtext;

static inline bool ap_jnum_stated(const ap_jnum *fact)
{
    return fact->pos.line > 0;
}
static inline bool ap_jtext_stated(const ap_jtext *fact)
{
    return fact->pos.line > 0;
}

/* Numbers and switches (0, 1). Units in the names. */
#define AP_JOB_NUMS(X)                                                                                                 \
    /* machines */                                                                                                     \
    X(nodes)                                                                                                           \
    X(slices)                                                                                                          \
    X(chips_per_node) X(chips_total) X(chips_per_task) X(tasks) X(tasks_per_node) X(cpus_per_task) X(cpus_per_chip)    \
        X(cpus_per_node) X(memory_bytes) X(memory_per_cpu_bytes) X(memory_per_chip_bytes) X(ephemeral_bytes)           \
            X(disk_bytes) X(shm_bytes) X(chip_memory_low_bytes) X(chip_memory_high_bytes) X(time_limit_s) X(restarts)  \
                X(array_tasks) X(exclusive) X(spot) X(durable_storage) X(usd_per_h_limit) X(fast_network)              \
                    X(runs_on_request) X(forever) X(stays_up) X(trials) X(idle_stop) X(data_volume) /* environment */  \
        X(visible_devices) X(p2p_off) X(ib_off) X(launch_blocking) X(socket_only)                   /* launcher */     \
        X(launch_nodes) X(launch_per_node) X(launch_total) X(launch_slots) X(rendezvous) X(standalone) X(by_srun)      \
            X(srun_tasks) X(node_rank) X(multi_gpu) X(use_cpu) X(tasks_rank) /* batch and length */                    \
        X(micro_batch) X(batch_size) X(accumulation) X(train_batch) X(global_batch) X(per_chip_batch) X(seq_len) X(steps) X(epochs)   \
            X(samples) X(tokens) X(train_samples) X(max_samples) X(eval_only) /* shape */                              \
        X(layers) X(hidden) X(ffn) X(heads) X(kv_heads) X(head_dim) X(vocab) X(experts) X(top_k) X(expert_ffn)         \
            X(swiglu) X(untied) X(tied) X(max_positions) X(expansion_ratio) X(rows) X(features) X(trees) X(depth)      \
                X(image_size) /* precision, memory */                                                                  \
        X(bf16) X(fp16) X(fp32) X(fp8) X(amp) X(tf32) X(load_4bit) X(load_8bit) X(quant_bits) X(peft) X(lora_rank)     \
            X(checkpointing) X(flash) X(packing) X(distributed_optimizer) X(optimizer_in_backward) /* layout */        \
        X(tp) X(pp) X(cp) X(ep) X(vpp) X(dp_shard) X(dp_replicate) X(ici) X(dcn) X(zero_stage) X(use_fsdp)             \
            X(use_deepspeed) X(offload_optimizer) X(offload_params) /* saving, input */                                \
        X(save_steps) X(save_enabled) X(resume) X(workers) X(cpu_program)

#define AP_JOB_TEXTS(X)                                                                                                \
    X(chip)                                                                                                            \
    X(instance)                                                                                                        \
    X(cloud) X(region) X(zone) X(partition) X(topology) X(tpu_type) X(image) X(name) X(schedule) X(time_limit_text)    \
        X(restart_policy) X(runner) X(scheduler_pool) X(launcher) X(program) X(per_node_word) X(config_file)           \
            X(deepspeed_file) X(fsdp_config_file) X(model) X(model_config) X(arch) X(model_flavor) X(task) X(dataset)  \
                X(method) X(stage) X(adapter) X(framework) X(precision) X(mixed_precision) X(dtype) X(torch_dtype)     \
                    X(optimizer) X(recompute) X(fsdp) X(fsdp_strategy) X(distributed_type) X(offload_device)           \
                        X(save_strategy) X(save_dir) X(duration) X(pretrained) X(searcher) X(input_mode)

#define AP_JOB_FIELD(id)      id,
#define AP_JOB_NUM_FIELD(id)  ap_jnum id;
#define AP_JOB_TEXT_FIELD(id) ap_jtext id;

typedef struct ap_jobnums {
    AP_JOB_NUMS(AP_JOB_NUM_FIELD)
} ap_jobnums;
typedef struct ap_jobtexts {
    AP_JOB_TEXTS(AP_JOB_TEXT_FIELD)
} ap_jobtexts;
enum {
    AP_JOB_NUM_COUNT = sizeof(ap_jobnums) / sizeof(ap_jnum),
    AP_JOB_TEXT_COUNT = sizeof(ap_jobtexts) / sizeof(ap_jtext)
};

#define AP_JOB_CHIPS_MAX 8
#define AP_JOB_REFS_MAX  16

/* One way of saying which chip: alternatives of an `a100|a40` or of a list. */
typedef struct ap_jobchips {
    ap_jtext items[AP_JOB_CHIPS_MAX];
    size_t count;
    const char *provider; /* whose spelling: "gke" "skypilot" …, NULL = anybody's */
} ap_jobchips;

typedef struct ap_jobfacts {
    ap_jobnums n;
    ap_jobtexts t;
    ap_jobchips chips;
    ap_jobchips features;           /* Slurm's --constraint: some of these may be chips */
    ap_jtext refs[AP_JOB_REFS_MAX]; /* other files by relative path */
    size_t ref_count;
} ap_jobfacts;

void ap_jobfacts_clear(ap_jobfacts *facts);
/* What `into` leaves absent is taken from `from`. */
void ap_jobfacts_fill(ap_jobfacts *into, const ap_jobfacts *from);
size_t ap_jobfacts_count(const ap_jobfacts *facts); /* facts stated */
void ap_jobfacts_add_chip(ap_jobfacts *facts, const char *spelling, ap_pos pos);
void ap_jobfacts_add_feature(ap_jobfacts *facts, const char *name, ap_pos pos);
void ap_jobfacts_add_ref(ap_jobfacts *facts, const char *path, ap_pos pos);

#endif
