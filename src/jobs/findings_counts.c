/* Counts that must agree: processes and chips, nodes and launchers, layout and ranks, batch and ranks, topology and
 * pods. */
#include <string.h>
#include <strings.h>

#include "jobs/understand.h"

static bool is_launcher(const ap_judge *j, const char *name)
{
    return ap_streq(j->f->t.launcher.value, name);
}

static bool is_tpu(const ap_judge *j)
{
    return j->job->chip_count > 0 && j->job->chips[0]->kind == AP_CHIP_TPU;
}

static double devices_per_node(const ap_judge *j)
{
    double devices = j->job->chip_count > 0 ? ap_or(j->job->chips[0]->devices, 1) : 1;
    return j->job->chips_per_node.value * devices;
}

/* -- processes and chips
 * ----------------------------------------------------------------------------------------------------- */

static bool total_divides(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    double total = n->launch_total.value, machines = n->launch_nodes.value;
    if (!is_launcher(j, "accelerate") && !ap_job_has_format(j, AP_JF_ACCELERATE))
        return true;
    if (!ap_known(total) || !ap_known(machines) || !(machines >= 1) || fmod(total, machines) < 0.5)
        return true;
    ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, n->launch_total.pos, "%.0f processes do not divide over %.0f machines",
                 total, machines)
        ->hint = "num_processes is the total over all machines: machines x chips of each";
    return false;
}

static void compare_processes(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_checkjob *job = j->job;
    double chips = devices_per_node(j), processes = job->processes_per_node.value;
    double tasks = ap_known(n->tasks_per_node.value) ? n->tasks_per_node.value
                                                     : ap_or(n->tasks.value, 1) / ap_or(job->nodes.value, 1);
    bool nested = ap_is(&n->by_srun) && tasks > 1 && (is_launcher(j, "torchrun") || is_launcher(j, "accelerate")) &&
                  ap_known(processes);
    ap_pos pos = job->processes_per_node.pos;
    if (!total_divides(j) || !ap_known(chips) || !ap_known(processes) || is_tpu(j) || job->mig)
        return;
    if (ap_jtext_stated(&j->f->t.per_node_word) && !nested)
        return;
    if (nested && processes * tasks > chips + 0.5) {
        ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, n->tasks_per_node.pos.line ? n->tasks_per_node.pos : n->tasks.pos,
                     "%.0f tasks on each node start %.0f processes each: %.0f for %.0f chips", tasks, processes,
                     processes * tasks, chips)
            ->hint = "one task a node for a launcher that starts the others (--ntasks-per-node=1)";
        return;
    }
    if (processes > chips + 0.5)
        ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, pos, "%.0f processes on each node, but it has %.0f chips", processes,
                     chips)
            ->hint = "ranks beyond the chips ask for devices that do not exist: make both numbers equal";
    else if (processes < chips - 0.5 && processes >= 1 && !ap_jnum_stated(&n->visible_devices)) {
        ap_jobfinding *finding =
            ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, pos,
                         "%.0f processes on each node with %.0f chips: %.0f stay idle and are paid for", processes,
                         chips, chips - processes);
        finding->severity = AP_WARNING;
        finding->hint = "start one process for each chip, or ask for fewer chips";
    }
}

static void compare_visible(ap_judge *j)
{
    const ap_jnum *visible = &j->f->n.visible_devices;
    double chips = j->job->chips_per_node.value, processes = j->job->processes_per_node.value;
    if (!ap_known(visible->value) || !(visible->value > 0))
        return;
    if (ap_known(processes) && processes > visible->value + 0.5) {
        ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, visible->pos,
                     "%.0f processes on each node, but only %.0f devices are visible to them", processes,
                     visible->value)
            ->hint = "drop CUDA_VISIBLE_DEVICES: the scheduler sets it";
    } else if (visible->value < chips - 0.5) {
        ap_jobfinding *finding = ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, visible->pos,
                                              "%.0f of %.0f chips are visible: the others stay idle and are paid for",
                                              visible->value, chips);
        finding->severity = AP_WARNING;
        finding->hint = "drop CUDA_VISIBLE_DEVICES, or ask for fewer chips";
    }
}

static void compare_slots(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    double slots = n->launch_slots.value, chips = j->job->chips_per_node.value, nodes = j->job->nodes.value,
           np = n->launch_total.value;
    bool mpi = is_launcher(j, "mpirun");
    double places = ap_or(slots, chips) * nodes;
    if (ap_known(slots) && ap_known(chips) && fabs(slots - chips) > 0.5 && !is_tpu(j) &&
        !(slots > chips && mpi && np > places)) {
        ap_jobfinding *finding = ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, n->launch_slots.pos,
                                              "%.0f slots on a worker with %.0f chips", slots, chips);
        finding->severity = slots > chips ? AP_ERROR : AP_WARNING;
        finding->hint = "slotsPerWorker is the number of chips of one worker";
    }
    if (!mpi || !ap_known(np) || !ap_known(places) || ap_judge_has(j, AP_FAULT_COUNT_MISMATCH) || is_tpu(j))
        return;
    if (np > places + 0.5)
        ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, n->launch_total.pos,
                     "mpirun starts %.0f processes, there are %.0f slots", np, places);
}

static void compare_tasks(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    double tasks = n->tasks_per_node.value, chips = j->job->chips_per_node.value;
    if (!is_launcher(j, "python") || !ap_is(&n->by_srun) || !ap_known(tasks) || !ap_known(chips) ||
        ap_judge_has(j, AP_FAULT_COUNT_MISMATCH))
        return;
    if (tasks > chips + 0.5 && ap_job_is_transformers(j))
        ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, n->tasks_per_node.pos,
                     "%.0f tasks on each node, but it has %.0f chips", tasks, chips);
}

/* Two files of one job that say different numbers. */
static void compare_files(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    for (size_t i = 0; job->file_count > 1 && i < job->file_count; i++) {
        const ap_jobnums *a = &job->files[i]->facts.n;
        if (ap_jnum_stated(&a->nodes) && ap_known(a->nodes.value) && ap_known(job->nodes.value) &&
            fabs(a->nodes.value - job->nodes.value) > 0.5)
            ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, a->nodes.pos, "%.0f nodes here, %.0f where the job is started",
                         a->nodes.value, job->nodes.value);
        if (ap_jnum_stated(&a->chips_per_node) && ap_known(a->chips_per_node.value) &&
            ap_known(job->chips_per_node.value) && fabs(a->chips_per_node.value - job->chips_per_node.value) > 0.5)
            ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, a->chips_per_node.pos,
                         "%.0f chips a node here, %.0f where the job is started", a->chips_per_node.value,
                         job->chips_per_node.value);
    }
}

static void compare_nodes(ap_judge *j)
{
    const ap_jnum *asked = &j->f->n.launch_nodes;
    double nodes = j->job->nodes.value;
    if (!ap_known(asked->value) || !ap_known(nodes) || !ap_jnum_stated(&j->job->nodes) ||
        asked->pos.line == j->job->nodes.pos.line)
        return;
    if (asked->value > nodes + 0.5)
        ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, asked->pos, "the launcher waits for %.0f nodes, the job has %.0f",
                     asked->value, nodes)
            ->hint = "the run never starts: make both numbers equal";
    else if (asked->value < nodes - 0.5 && asked->value > 1)
        ap_judge_add(j, AP_FAULT_COUNT_MISMATCH, asked->pos, "the launcher uses %.0f of %.0f nodes", asked->value,
                     nodes)
            ->severity = AP_WARNING;
}

/* -- one training, or several copies
 * ------------------------------------------------------------------------------------------ */

static bool starts_on_every_node(const ap_judge *j)
{
    switch (j->job->format) {
    case AP_JF_K8S:
    case AP_JF_SKYPILOT:
    case AP_JF_DSTACK:
    case AP_JF_VERTEX:
    case AP_JF_AZUREML:
    case AP_JF_SAGEMAKER:
        return true;
    default:
        return ap_is(&j->f->n.by_srun);
    }
}

static bool operator_sets_rendezvous(const ap_judge *j)
{
    const char *kind = j->job->format == AP_JF_K8S ? j->f->t.runner.value : NULL;
    return kind && (strcmp(kind, "PyTorchJob") == 0 || strcmp(kind, "TrainJob") == 0 || strcmp(kind, "MPIJob") == 0 ||
                    strcmp(kind, "TFJob") == 0 || strcmp(kind, "RayJob") == 0 || strcmp(kind, "RayCluster") == 0 ||
                    strcmp(kind, "LeaderWorkerSet") == 0);
}

static bool spreads_by_ssh(const ap_judge *j)
{
    for (size_t i = 0; i < j->job->file_count; i++) {
        const char *text = j->job->files[i]->text;
        if (strstr(text, "ssh ") || strstr(text, "pdsh") || strstr(text, "clush") || strstr(text, "parallel-ssh"))
            return true;
    }
    return false;
}

static void find_slurm_without_srun(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    double nodes = j->job->nodes.value;
    bool torch = is_launcher(j, "torchrun") || is_launcher(j, "accelerate"),
         plain = is_launcher(j, "python") && ap_job_is_transformers(j);
    if ((!torch && !plain) || ap_is(&n->by_srun) || spreads_by_ssh(j))
        return;
    bool waits =
        torch && (n->launch_nodes.value > 1 || (ap_jnum_stated(&n->launch_nodes) && !ap_known(n->launch_nodes.value)));
    ap_jobfinding *finding = ap_judge_add(
        j, AP_FAULT_NOT_DISTRIBUTED, j->f->t.launcher.pos,
        waits ? "without srun this runs on the first of %.0f nodes only and waits for the others until it times out"
              : "without srun this runs on the first of %.0f nodes only; the others stay idle and are paid for",
        nodes);
    finding->severity = waits ? AP_ERROR : AP_WARNING;
    finding->hint = "put srun in front of the launcher (one task a node)";
}

static void find_copies(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    double nodes = j->job->nodes.value;
    bool torch = is_launcher(j, "torchrun"),
         plain = is_launcher(j, "python") && ap_job_is_transformers(j) && !ap_is(&n->by_srun);
    bool accelerate =
        is_launcher(j, "accelerate") && !ap_job_has_config_unread(j) && !ap_job_has_format(j, AP_JF_ACCELERATE);
    bool alone = ap_is(&n->standalone) || (!ap_jnum_stated(&n->launch_nodes) && !ap_is(&n->rendezvous)) ||
                 n->launch_nodes.value <= 1;
    if (!(torch || plain || accelerate) || !starts_on_every_node(j) || operator_sets_rendezvous(j) || is_tpu(j) ||
        ap_streq(j->job->framework, "jax"))
        return;
    if (j->job->format == AP_JF_AZUREML || (j->job->format == AP_JF_SAGEMAKER && !torch))
        return;
    if (!alone)
        return;
    ap_jobfinding *finding =
        ap_judge_add(j, AP_FAULT_NOT_DISTRIBUTED, j->f->t.launcher.pos,
                     "started on %.0f nodes without a meeting point: each trains its own copy of the same work", nodes);
    finding->severity = AP_WARNING;
    finding->hint = "give --nnodes, --node_rank and --rdzv_endpoint (or --master_addr), or ask for one node";
}

static void find_single_process(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    double chips = job->chips_per_node.value,
           tasks = ap_or(j->f->n.tasks_per_node.value, ap_or(j->f->n.tasks.value, 1));
    bool single = is_launcher(j, "python") && ap_job_is_transformers(j) && !ap_jnum_stated(&j->f->n.visible_devices) &&
                  tasks <= 1 && !is_tpu(j) && !ap_jnum_stated(&j->f->n.launch_per_node);
    if (!single || !(chips > 1) || job->format == AP_JF_AZUREML || operator_sets_rendezvous(j) ||
        job->format == AP_JF_RAY || job->format == AP_JF_DETERMINED || job->mig || job->format == AP_JF_SAGEMAKER ||
        ap_streq(job->framework, "jax") || job->nodes.value > 1)
        return;
    ap_jobfinding *finding =
        ap_judge_add(j, AP_FAULT_NOT_DISTRIBUTED, j->f->t.launcher.pos,
                     "one process for %.0f chips: without a launcher they are not used as such", chips);
    finding->severity = AP_WARNING;
    finding->hint =
        ap_arena_printf(j->arena, "start it with torchrun --nproc_per_node=%.0f, or ask for one chip", chips);
}

static void find_not_distributed(ap_judge *j)
{
    const ap_jobtexts *t = &j->f->t;
    double total = j->f->n.launch_total.value;
    if (t->distributed_type.value && strcasecmp(t->distributed_type.value, "NO") == 0 && total > 1) {
        ap_jobfinding *finding = ap_judge_add(
            j, AP_FAULT_NOT_DISTRIBUTED, t->distributed_type.pos,
            "distributed_type NO contradicts num_processes %.0f: one process may start and the other chips stay idle",
            total);
        finding->severity = AP_WARNING;
        finding->hint = "distributed_type: MULTI_GPU (or FSDP, DEEPSPEED)";
        return;
    }
    if (j->job->nodes.value > 1) {
        if (ap_job_has_format(j, AP_JF_SLURM))
            find_slurm_without_srun(j);
        if (!ap_judge_has(j, AP_FAULT_NOT_DISTRIBUTED))
            find_copies(j);
    }
    if (!ap_judge_has(j, AP_FAULT_NOT_DISTRIBUTED))
        find_single_process(j);
}

/* -- layout
 * --------------------------------------------------------------------------------------------------------------------
 */

static ap_pos layout_pos(const ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_jnum *degrees[] = {&n->tp, &n->pp, &n->cp, &n->dp_shard, &n->dp_replicate};
    const ap_jnum *largest = NULL;
    for (size_t i = 0; i < 5; i++)
        if (ap_jnum_stated(degrees[i]) && (!largest || degrees[i]->value > largest->value))
            largest = degrees[i];
    if (n->pp.value > 1)
        largest = n->tp.value > n->pp.value ? &n->tp : &n->pp;
    return largest ? largest->pos : AP_NO_POS;
}

static void find_layout(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_checkjob *job = j->job;
    double model_ranks = job->tp * job->pp * job->cp, world = job->world;
    bool mesh = ap_known(n->dp_shard.value) || ap_known(n->dp_replicate.value);
    double shard = ap_or(n->dp_shard.value, ap_job_has_format(j, AP_JF_TORCHTITAN) ? -1 : 1),
           copies = ap_or(n->dp_replicate.value, 1);
    double whole = model_ranks * fmax(1, copies) * (shard > 0 ? shard : 1);
    if (!ap_known(world) || !ap_known(model_ranks))
        return;
    if (mesh && shard > 0 && fabs(whole - world) > 0.5)
        ap_judge_add(
            j, AP_FAULT_LAYOUT_MISMATCH, layout_pos(j),
            "the mesh has %.0f ranks (TP %.0f x PP %.0f x CP %.0f x replicate %.0f x shard %.0f), the job has %.0f",
            whole, job->tp, job->pp, job->cp, fmax(1, copies), shard, world)
            ->hint = "the product must equal the number of ranks";
    else if (fmod(world, whole) > 0.5 || whole > world + 0.5)
        ap_judge_add(j, AP_FAULT_LAYOUT_MISMATCH, layout_pos(j),
                     "TP %.0f x PP %.0f x CP %.0f = %.0f does not divide the %.0f ranks of the job", job->tp, job->pp,
                     job->cp, whole, world)
            ->hint = "the product must divide nodes x processes a node";
}

static void find_heads(ap_judge *j)
{
    double heads = j->job->has_model ? j->job->model.heads : j->f->n.heads.value, tp = j->job->tp;
    if (ap_known(heads) && ap_known(tp) && tp > 1 && ap_known(j->f->n.tp.value) && fmod(heads, tp) > 0.5)
        ap_judge_add(j, AP_FAULT_LAYOUT_MISMATCH, j->f->n.tp.pos,
                     "%.0f attention heads do not divide over tensor parallelism %.0f", heads, tp);
    bool even =
        ap_job_has_format(j, AP_JF_MEGATRON) || ap_job_has_format(j, AP_JF_NEMO) || ap_job_has_format(j, AP_JF_NEOX);
    if (even && ap_known(j->f->n.layers.value) && ap_known(j->f->n.pp.value) && j->f->n.pp.value > 1 &&
        fmod(j->f->n.layers.value, j->f->n.pp.value) > 0.5)
        ap_judge_add(j, AP_FAULT_LAYOUT_MISMATCH, j->f->n.pp.pos, "%.0f layers do not divide over %.0f pipeline stages",
                     j->f->n.layers.value, j->f->n.pp.value);
}

/* MaxText: ici_* within a slice (GPU: a node), dcn_* across. */
static void find_mesh(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    double ici = n->ici.value, dcn = ap_or(n->dcn.value, 1), chips = j->job->chip_total,
           slices = ap_or(n->slices.value, 1);
    if (!ap_known(chips) || !ap_known(ici))
        return;
    if (is_tpu(j) && ici > 0 && fabs(ici - chips / slices) > 0.5)
        ap_judge_add(j, AP_FAULT_LAYOUT_MISMATCH, n->ici.pos,
                     "the ici_* degrees multiply to %.0f, a slice has %.0f chips", ici, chips / slices)
            ->hint = "the product of all ici_*_parallelism must equal the chips of a slice (-1 fills what is left)";
    else if (is_tpu(j) && dcn > 0 && ap_jnum_stated(&n->dcn) && fabs(dcn - slices) > 0.5)
        ap_judge_add(j, AP_FAULT_LAYOUT_MISMATCH, n->dcn.pos,
                     "the dcn_* degrees multiply to %.0f, there are %.0f slices", dcn, slices);
    else if (!is_tpu(j) && ici > 0 && dcn > 0 && fabs(ici * dcn - chips) > 0.5)
        ap_judge_add(j, AP_FAULT_LAYOUT_MISMATCH, n->ici.pos,
                     "the ici_* and dcn_* degrees multiply to %.0f, the job has %.0f chips", ici * dcn, chips);
}

/* -- batch
 * ---------------------------------------------------------------------------------------------------------------------
 */

static bool is_multiple(double whole, double part)
{
    return part > 0 && fabs(whole / part - round(whole / part)) < 1e-6 && whole / part > 0.5;
}

static void find_batch(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_checkjob *job = j->job;
    double global = n->global_batch.value, micro = n->micro_batch.value, steps = n->accumulation.value;
    double ranks = job->world / (job->tp * job->pp * job->cp);
    bool deepspeed = ap_job_has_format(j, AP_JF_DEEPSPEED) || ap_job_has_format(j, AP_JF_NEOX);
    bool asserts = ap_job_has_format(j, AP_JF_MEGATRON) || ap_job_has_format(j, AP_JF_NEMO) ||
                   ap_job_has_format(j, AP_JF_LITGPT) || ap_job_has_format(j, AP_JF_TORCHTITAN) ||
                   (j->f->t.program.value && ap_contains_nocase(j->f->t.program.value, "pretrain_gpt"));
    bool even = ap_job_has_format(j, AP_JF_LLMFOUNDRY) || ap_job_has_format(j, AP_JF_OLMO);
    if (!ap_known(global) || ap_judge_has(j, AP_FAULT_LAYOUT_MISMATCH))
        return;
    if (deepspeed && ap_known(micro)) {
        double part = micro * ap_or(steps, 1);
        if (ap_known(ranks) && ap_known(steps) && fabs(part * ranks - global) > 0.5)
            ap_judge_add(j, AP_FAULT_BATCH_NOT_DIVISIBLE, n->global_batch.pos,
                         "train_batch_size %.0f is not %.0f x %.0f x %.0f ranks = %.0f", global, micro, steps, ranks,
                         part * ranks);
        else if (!is_multiple(global, part) || (ap_known(ranks) && !is_multiple(global, part * ranks)))
            ap_judge_add(j, AP_FAULT_BATCH_NOT_DIVISIBLE, n->global_batch.pos,
                         "train_batch_size %.0f is no multiple of micro-batch %.0f x accumulation %.0f%s", global,
                         micro, ap_or(steps, 1), ap_known(ranks) ? " x ranks" : "")
                ->hint = "train_batch_size = micro-batch x accumulation x ranks: DeepSpeed refuses anything else";
    } else if (asserts && ap_known(micro) && ap_known(ranks) && !is_multiple(global, micro * ranks)) {
        ap_judge_add(j, AP_FAULT_BATCH_NOT_DIVISIBLE, n->global_batch.pos,
                     "global batch %.0f is no multiple of micro-batch %.0f x %.0f data-parallel ranks", global, micro,
                     ranks);
    } else if (even && ap_known(job->world) && !is_multiple(global, job->world)) {
        ap_judge_add(j, AP_FAULT_BATCH_NOT_DIVISIBLE, n->global_batch.pos,
                     "global batch %.0f does not divide over %.0f ranks", global, job->world);
    }
}

/* -- topology, slices
 * ---------------------------------------------------------------------------------------------------------- */

static double product_of(const char *text)
{
    double product = 1, value;
    const char *end;
    while (ap_num_parse_prefix(text, &value, &end)) {
        product *= value;
        if (*end != 'x')
            return *end == 0 ? product : AP_UNKNOWN;
        text = end + 1;
    }
    return AP_UNKNOWN;
}

static void find_topology(ap_judge *j)
{
    const ap_jtext *topology = &j->f->t.topology;
    const ap_checkjob *job = j->job;
    double product = topology->value ? product_of(topology->value) : AP_UNKNOWN,
           slices = j->job->format == AP_JF_K8S && ap_streq(j->f->t.runner.value, "JobSet")
                        ? ap_or(j->f->n.slices.value, 1)
                        : 1;
    double chips = job->nodes.value * job->chips_per_node.value;
    if (!ap_known(product) || !ap_known(chips))
        return;
    bool whole_slices = job->format == AP_JF_K8S && ap_streq(j->f->t.runner.value, "RayJob")
                            ? is_multiple(chips, product)
                            : fabs(product * slices - chips) < 0.5;
    if (!whole_slices)
        ap_judge_add(j, AP_FAULT_TOPOLOGY_MISMATCH, topology->pos,
                     "topology %s has %.0f chips%s, the pods hold %.0f x %.0f = %.0f", topology->value,
                     product * slices, slices > 1 ? " in all slices" : "", job->nodes.value, job->chips_per_node.value,
                     chips)
            ->hint = ap_arena_printf(j->arena, "it needs %.0f pods of %.0f chips",
                                     product * slices / job->chips_per_node.value, job->chips_per_node.value);
}

static void find_mig(ap_judge *j)
{
    if (j->job->mig && j->job->chips_per_node.value > 1)
        ap_judge_add(j, AP_FAULT_MIG_POOLED, j->f->t.input_mode.pos,
                     "%.0f MIG slices are not %.0f GPUs: a process sees one, and NCCL has no path between them",
                     j->job->chips_per_node.value, j->job->chips_per_node.value)
            ->hint = "one larger slice, or a whole card";
}

void ap_find_counts(ap_judge *j)
{
    find_mig(j);
    compare_processes(j);
    compare_visible(j);
    compare_slots(j);
    compare_tasks(j);
    compare_nodes(j);
    compare_files(j);
    find_not_distributed(j);
    find_layout(j);
    find_heads(j);
    find_mesh(j);
    find_batch(j);
    find_topology(j);
}
