/* Does it fit: chips, host memory, disks. */
#include <string.h>

#include "jobs/understand.h"

#define GIB 1073741824.0

static const ap_term *largest_item(const ap_estimate *est)
{
    const ap_term *largest = NULL;
    for (size_t i = 0; i < est->memory_count; i++)
        if (!largest || est->memory[i].seconds > largest->seconds)
            largest = &est->memory[i];
    return largest;
}

/* How sure must the estimate be before it is called an error: a size guessed from a name needs more. */
static double margin_of(const ap_judge *j)
{
    return j->job->model_from_name ? j->k.misfit_margin_by_name : j->k.misfit_margin;
}

static bool misfits(const ap_judge *j, const ap_result *result, double margin)
{
    const ap_estimate *est = &result->plan->est;
    return !result->plan->refused && est->peak_bytes > est->capacity_bytes * margin &&
           est->verdict == AP_DOES_NOT_FIT && j->job->has_model;
}

static const char *what_would_fit(ap_judge *j, const ap_estimate *est)
{
    const ap_checkjob *job = j->job;
    double factor = est->peak_bytes / est->capacity_bytes;
    bool full = job->method != AP_METHOD_LORA && job->method != AP_METHOD_QLORA;
    bool sharded = job->sharding == AP_SHARD_ZERO3 || job->sharding == AP_SHARD_HSDP;
    if (!sharded && job->chip_total > 1 && factor < job->chip_total * j->k.shard_share)
        return "shard the states over the chips (FSDP full shard, ZeRO-3)";
    if (full && factor < j->k.most_misfit)
        return ap_arena_printf(j->arena, "about %.0f such chips with full sharding, or LoRA",
                               ceil(factor * j->k.shard_reserve) * fmax(1, job->chip_total));
    if (job->method == AP_METHOD_LORA)
        return "a 4-bit base (QLoRA), sharding, or a chip with more memory";
    return "a smaller micro-batch or sequence, sharding, or a chip with more memory";
}

static void find_chip_memory(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const ap_result *worst = NULL, *tight = NULL;
    size_t misfit_count = 0;
    if (!job->estimated || ap_judge_has(j, AP_FAULT_LAYOUT_MISMATCH) ||
        ap_judge_has(j, AP_FAULT_INSTANCE_CHIP_MISMATCH))
        return;
    for (size_t i = 0; i < job->chip_count; i++) {
        const ap_result *result = &job->per_chip[i];
        if (misfits(j, result, margin_of(j))) {
            misfit_count++;
            if (!worst || result->plan->est.capacity_bytes < worst->plan->est.capacity_bytes)
                worst = result;
        } else if (misfits(j, result, 1)) {
            tight = result;
        }
    }
    bool all = misfit_count == job->chip_count;
    const ap_result *shown = worst ? worst : tight;
    if (!shown)
        return;
    const ap_estimate *est = &shown->plan->est;
    const ap_term *item = largest_item(est);
    bool fails = worst && (all || job->chips_are_choice);
    ap_pos pos = job->chips_are_choice && j->f->features.count ? j->f->features.items[0].pos : ap_job_chip_pos(j);
    ap_jobfinding *finding = ap_judge_add(j, AP_FAULT_DOES_NOT_FIT, pos, "%.0f GiB needed on each %s of %.0f GiB%s%s%s",
                                          est->peak_bytes / GIB, shown->plan->hw.chip->name, est->capacity_bytes / GIB,
                                          item ? ", most for " : "", item ? item->name : "",
                                          fails && !all ? "; it is one of the chips allowed" : "");
    finding->hint = what_would_fit(j, est);
    if (!fails)
        finding->severity = AP_NOTE;
}

/* -- host
 * --------------------------------------------------------------------------------------------------------------------------
 */

static double weight_bytes(const ap_judge *j)
{
    return j->job->has_model && j->job->model.params > 0 ? 2 * j->job->model.params : AP_UNKNOWN;
}

static ap_pos memory_pos(const ap_judge *j)
{
    const ap_pos places[] = {j->f->n.memory_bytes.pos, j->f->n.memory_per_cpu_bytes.pos,
                             j->f->n.memory_per_chip_bytes.pos, j->f->n.offload_params.pos,
                             j->f->n.offload_optimizer.pos};
    return ap_judge_pos(j, places, sizeof places / sizeof *places);
}

static double offload_bytes(const ap_judge *j)
{
    const ap_checkjob *job = j->job;
    double params = job->has_model ? job->model.params : AP_UNKNOWN, nodes = fmax(1, ap_or(job->nodes.value, 1));
    bool adapters = job->method == AP_METHOD_LORA || job->method == AP_METHOD_QLORA;
    if (adapters || job->offload == 0 || j->f->n.offload_optimizer.value > 1)
        return job->offload & AP_OFFLOAD_PARAMETERS && adapters ? 2 * params / nodes : AP_UNKNOWN;
    return (job->offload & AP_OFFLOAD_PARAMETERS ? j->k.offload_bytes_parameters : j->k.offload_bytes) * params / nodes;
}

static void find_host_memory(ap_judge *j)
{
    double have = j->job->host_memory_bytes, need = offload_bytes(j), weights = weight_bytes(j);
    if (!ap_known(have) || !(have > 0))
        return;
    if (need > have * j->k.host_margin)
        ap_judge_add(j, AP_FAULT_HOST_MEMORY_SHORT, memory_pos(j),
                     "offloading keeps about %.0f GiB in host memory, %.0f GiB are asked for", need / GIB, have / GIB)
            ->hint = "more memory, or no offload: the job is killed at start-up";
    else if (weights * j->k.weights_share > have)
        ap_judge_add(j, AP_FAULT_HOST_MEMORY_SHORT, memory_pos(j),
                     "the weights alone are %.0f GiB to load, %.0f GiB of host memory are asked for", weights / GIB,
                     have / GIB)
            ->hint = "ask for more memory than the checkpoint has";
}

static void find_storage(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    double weights = weight_bytes(j);
    bool local_model = j->f->t.model.value && (*j->f->t.model.value == '/' || *j->f->t.model.value == '.');
    bool downloads = j->job->method != AP_METHOD_PRETRAIN && ap_jtext_stated(&j->f->t.model) && !local_model;
    if (!ap_known(weights) || !downloads || ap_jnum_stated(&n->data_volume))
        return;
    if (n->ephemeral_bytes.value < weights)
        ap_judge_add(j, AP_FAULT_STORAGE_SHORT, n->ephemeral_bytes.pos,
                     "downloading the model takes %.0f GB, the ephemeral limit is %.0f GB: the pod is evicted",
                     weights / 1e9, n->ephemeral_bytes.value / 1e9)
            ->hint = "mount a volume for the model cache, or raise the limit";
    else if (n->disk_bytes.value < weights)
        ap_judge_add(j, AP_FAULT_STORAGE_SHORT, n->disk_bytes.pos,
                     "the model alone takes %.0f GB, the disk has %.0f GB", weights / 1e9, n->disk_bytes.value / 1e9);
}

void ap_find_memory(ap_judge *j)
{
    find_chip_memory(j);
    find_host_memory(j);
    find_storage(j);
}
