/* Hardware that the job wastes or starves. */
#include <string.h>
#include <strings.h>

#include "jobs/understand.h"

static bool is_gpu_job(const ap_judge *j)
{
    return j->job->chip_count > 0 ? j->job->chips[0]->kind == AP_CHIP_GPU : j->job->chips_per_node.value >= 1;
}

static bool several(const ap_judge *j)
{
    return j->job->chip_total > 1;
}

static bool moves_little(const ap_judge *j)
{
    int method = j->job->method;
    return (method == AP_METHOD_LORA || method == AP_METHOD_QLORA) && j->job->sharding != AP_SHARD_ZERO3 &&
           j->job->sharding != AP_SHARD_HSDP;
}

/* -- switches
 * ------------------------------------------------------------------------------------------------------------------------
 */

static bool has_peer_path(const ap_judge *j)
{
    for (size_t i = 0; i < j->job->chip_count; i++) {
        const ap_chip *chip = j->job->chips[i];
        bool linked =
            chip->link.kind && (ap_starts_with(chip->link.kind, "nvlink") || ap_starts_with(chip->link.kind, "xgmi"));
        if (linked || chip->link.p2p == 1)
            return true;
    }
    return false;
}

static void find_switches(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    if (ap_is(&n->p2p_off) && several(j) && j->job->chips_per_node.value > 1 && has_peer_path(j))
        ap_judge_add(j, AP_FAULT_SLOW_SETTING, n->p2p_off.pos,
                     "the direct path between the cards is switched off: traffic goes through host memory")
            ->hint = "drop NCCL_P2P_DISABLE";
    if (ap_is(&n->launch_blocking))
        ap_judge_add(j, AP_FAULT_SLOW_SETTING, n->launch_blocking.pos,
                     "every kernel waits for the one before: a switch for debugging")
            ->hint = "drop CUDA_LAUNCH_BLOCKING";
    bool slow = ap_is(&n->ib_off) || ap_is(&n->socket_only);
    if (slow && j->job->nodes.value > 1 && !moves_little(j))
        ap_judge_add(j, AP_FAULT_SLOW_NETWORK, ap_is(&n->ib_off) ? n->ib_off.pos : n->socket_only.pos,
                     "the fast network is switched off in a job of %.0f nodes", j->job->nodes.value)
            ->hint = "drop the switch unless the fabric is broken";
}

/* -- network
 * ------------------------------------------------------------------------------------------------------------------------
 */

/* Full sharding moves the parameters three times a step and node; the step computes so long. */
static void find_network(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const ap_instance *instance = job->instance;
    bool sharded = job->sharding == AP_SHARD_ZERO3 || job->sharding == AP_SHARD_ZERO2;
    if (!instance || !(job->nodes.value > 1) || !sharded || !job->has_model || !job->chip ||
        ap_judge_has(j, AP_FAULT_SLOW_NETWORK) || !ap_known(instance->network))
        return;
    bool asks_for_fabric = ap_is(&j->f->n.fast_network) || job->format != AP_JF_K8S || !ap_streq(job->cloud, "aws");
    double nic = asks_for_fabric ? instance->network : fmin(instance->network, j->k.socket_bytes_per_s);
    double tokens = ap_or(job->global_batch, AP_UNKNOWN) * ap_or(job->seq_len, AP_UNKNOWN), params = job->model.params,
           active = ap_or(job->model.active_params, params);
    double peak = ap_chip_peak(job->chip, AP_PREC_BF16);
    double compute_s = 8 * active * tokens / (job->chip_total * peak * j->k.busy_share);
    double passes = ap_or(job->accumulation, 1);
    double moved_s = (job->sharding == AP_SHARD_ZERO3 ? 3 * passes : 2) * 2 * params / nic;
    if (moved_s > j->k.network_over_compute * compute_s && nic < j->k.fast_bytes_per_s)
        ap_judge_add(j, AP_FAULT_SLOW_NETWORK, job->nodes.pos,
                     "sharding moves %.0f GB per node and step: %.2g s over %.0f Gb/s against %.2g s of computing",
                     moved_s * nic / 1e9, moved_s, nic * 8e-9, compute_s)
            ->hint = "one larger machine, machines with a fast fabric (EFA, InfiniBand), or hybrid sharding";
}

/* -- input
 * ---------------------------------------------------------------------------------------------------------------------------
 */

static bool is_image_model(const ap_judge *j)
{
    static const char *const domains[] = {"vision", "detection", "segmentation"};
    for (size_t i = 0; j->job->has_model && i < 3; i++)
        if (ap_streq(j->job->model.domain, domains[i]))
            return true;
    return false;
}

static ap_pos cpu_pos(const ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_pos places[] = {n->cpus_per_node.pos,  n->cpus_per_task.pos, n->cpus_per_chip.pos,
                             n->tasks_per_node.pos, n->tasks.pos,         ap_job_chip_pos(j)};
    return ap_judge_pos(j, places, sizeof places / sizeof *places);
}

static void find_input(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const ap_jobnums *n = &j->f->n;
    double cpus = job->cpus_per_node, chips = job->chips_per_node.value;
    bool by_default = ap_job_has_format(j, AP_JF_SLURM) && !ap_known(cpus) && !ap_is(&n->exclusive) &&
                      !ap_jnum_stated(&n->cpus_per_task) && !ap_jnum_stated(&n->cpus_per_chip);
    if (by_default) {
        double nodes = ap_or(job->nodes.value, 1);
        cpus = ap_known(n->tasks_per_node.value) ? n->tasks_per_node.value : ap_or(n->tasks.value, 1) / nodes;
    }
    if (!(chips >= 1) || !ap_known(cpus) || !is_gpu_job(j))
        return;
    double per_chip = cpus / chips, needed = job->estimated && !job->result.plan->est.error
                                                 ? job->result.plan->est.input_cores_needed
                                                 : AP_UNKNOWN;
    bool images = is_image_model(j);
    const ap_check_constants *k = &j->k;
    bool starved = images ? per_chip < k->image_cores && (per_chip < k->image_cores_least || cpus < k->image_cores_share * needed)
                          : chips >= 2 && per_chip < k->cores;
    if (starved && (!by_default || chips >= 2 || images)) {
        ap_jobfinding *finding = ap_judge_add(
            j, AP_FAULT_INPUT_STARVED, cpu_pos(j), "%.3g CPU core%s for %.0f chips%s: the chips wait for data", cpus,
            cpus > 1 ? "s" : "", chips, by_default ? " (Slurm's default is one a task)" : "");
        finding->hint = "at least 4 cores a chip, more for images";
        if (by_default && !images)
            finding->severity = AP_NOTE; /* a site may give more than Slurm's default */
    } else if (images && ap_jnum_stated(&n->workers) && n->workers.value < 0.5)
        ap_judge_add(j, AP_FAULT_INPUT_STARVED, n->workers.pos,
                     "no loader workers: images are decoded between the steps")
            ->hint = "4 or more workers a chip";
}

/* -- too much, or the wrong kind
 * ------------------------------------------------------------------------------------------------ */

/* Hours on one of the chips at a usual part of its peak: what the work is, without start-up. */
static double one_chip_hours(const ap_judge *j)
{
    const ap_checkjob *job = j->job;
    if (!job->estimated || job->result.plan->est.error)
        return AP_UNKNOWN;
    const ap_plan *plan = job->result.plan;
    double peak = ap_chip_peak(plan->hw.chip, (ap_precision)plan->precision);
    return plan->est.flop_per_step * plan->run.steps / (peak * j->k.work_share) / 3600;
}

static void find_oversized(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    double hours = one_chip_hours(j), chips = job->chip_total;
    const ap_pos places[] = {job->nodes.value > 1 ? job->nodes.pos : AP_NO_POS, ap_job_chip_pos(j)};
    bool tiny_model = job->has_model && job->model.params < j->k.small_model_params;
    if (chips >= j->k.large_job_chips && hours < j->k.small_work_h && tiny_model && !(job->steps <= j->k.trial_steps))
        ap_judge_add(j, AP_FAULT_OVERSIZED, ap_judge_pos(j, places, 2),
                     "the work is about %.2g minutes of one chip; %.0f of them mostly start up and wait", hours * 60,
                     chips)
            ->hint = "one small card does it";
}

static bool framework_runs(const ap_chip *chip, const char *framework)
{
    for (size_t i = 0; i < chip->frameworks.count; i++)
        if (ap_starts_with(chip->frameworks.items[i], framework))
            return true;
    return chip->frameworks.count == 0;
}

static void find_wrong_class(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const char *framework = job->framework;
    const ap_pos pos = ap_job_chip_pos(j);
    bool on_chips = job->chip_count > 0 ? job->chips[0]->kind != AP_CHIP_CPU : job->chips_per_node.value >= 1;
    bool trees = framework && (strcmp(framework, "xgboost") == 0 || strcmp(framework, "lightgbm") == 0 ||
                               strcmp(framework, "catboost") == 0 || strcmp(framework, "scikit-learn") == 0);
    if (!on_chips || !(job->chips_per_node.value >= 1))
        return;
    if (framework && strcmp(framework, "scikit-learn") == 0)
        ap_judge_add(j, AP_FAULT_WRONG_HARDWARE_CLASS, pos, "scikit-learn runs on CPUs: the accelerators stay idle")
            ->hint = "a CPU machine";
    else if (trees && (j->f->n.rows.value < j->k.small_table_rows || job->chip_total >= j->k.table_chips))
        ap_judge_add(j, AP_FAULT_WRONG_HARDWARE_CLASS, pos,
                     "boosted trees on a table of this size do not gain from %.0f accelerator%s", job->chip_total,
                     job->chip_total > 1 ? "s" : "")
            ->hint = "a CPU machine, or one small card";
    else if (job->chip && framework && !framework_runs(job->chip, framework))
        ap_judge_add(j, AP_FAULT_WRONG_HARDWARE_CLASS, pos, "%s does not run on %s", framework, job->chip->name);
    else if (job->chip && job->chip->kind != AP_CHIP_GPU && (ap_is(&j->f->n.load_4bit) || ap_is(&j->f->n.load_8bit)))
        ap_judge_add(j, AP_FAULT_WRONG_HARDWARE_CLASS, pos, "bitsandbytes quantisation needs a GPU, not %s",
                     job->chip->name);
    else if (job->has_model && ap_streq(job->model.domain, "rl") && job->chip_total >= j->k.simulator_chips)
        ap_judge_add(j, AP_FAULT_WRONG_HARDWARE_CLASS, pos,
                     "%s spends its time in the simulator: %.0f accelerators do not help", job->model_name,
                     job->chip_total)
            ->hint = "CPU cores and at most one small card";
}

/* -- precision
 * ------------------------------------------------------------------------------------------------------------------------
 */

static void find_precision_waste(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const ap_jobtexts *t = &j->f->t;
    if (job->precision != AP_PREC_FP32 || job->chip_count == 0 || ap_jtext_stated(&t->mixed_precision))
        return;
    for (size_t i = 0; i < job->chip_count; i++) {
        const ap_chip *chip = job->chips[i];
        double fast = fmax(ap_or(chip->peak.bf16, 0), ap_or(chip->peak.fp16, 0));
        if (!(fast > j->k.fast_16_bit * chip->peak.fp32))
            return;
    }
    const ap_pos places[] = {t->precision.pos, j->f->n.fp32.pos, t->launcher.pos};
    ap_judge_add(j, AP_FAULT_PRECISION_WASTE, ap_judge_pos(j, places, 3),
                 "computes in fp32; %s is several times faster in 16 bit", job->chips[0]->name)
        ->hint = lround(ap_or(job->chips[0]->peak.bf16, 0)) > 0 ? "bf16 (or allow TF32)" : "fp16 mixed precision";
}

void ap_find_speed(ap_judge *j)
{
    find_switches(j);
    find_network(j);
    find_input(j);
    find_wrong_class(j);
    if (!ap_judge_has(j, AP_FAULT_WRONG_HARDWARE_CLASS))
        find_oversized(j);
    find_precision_waste(j);
}
