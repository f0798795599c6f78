/* Which chips on which machines, how many, started as how many processes. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "jobs/understand.h"

bool ap_job_has_format(const ap_judge *j, ap_jobformat format)
{
    for (size_t i = 0; i < j->job->file_count; i++)
        if (j->job->files[i]->format == format)
            return true;
    return false;
}

/* -- machines
 * --------------------------------------------------------------------------------------------------------------------
 */

static const ap_instance *find_instance(ap_judge *j, const char *cloud, const char *name)
{
    const ap_catalog *catalog = j->request->catalog;
    if (cloud)
        return ap_catalog_find_instance(catalog, cloud, name);
    for (size_t i = 0; i < catalog->clouds.count; i++) {
        const ap_instance *instance = ap_catalog_find_instance(catalog, catalog->clouds.items[i].id, name);
        if (instance)
            return instance;
    }
    return NULL;
}

/* Which cloud names its machines like this? */
static const char *cloud_of_name(const char *name)
{
    if (ap_starts_with(name, "standard_"))
        return "azure";
    const char *dot = strchr(name, '.');
    if (dot && (strstr(dot, "xlarge") || strstr(dot, "large") || strstr(dot, "metal")))
        return "aws";
    if (strstr(name, "-highgpu-") || strstr(name, "-ultragpu-") || strstr(name, "-megagpu-") ||
        strstr(name, "-standard-") || strstr(name, "-hightpu-") || strstr(name, "-highmem-") ||
        strstr(name, "-edgegpu-"))
        return "gcp";
    return NULL;
}

/* Two names that differ by one edit, or by two neighbouring characters that changed places. */
static bool one_edit_apart(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), prefix = 0, suffix = 0;
    while (prefix < la && prefix < lb && a[prefix] == b[prefix])
        prefix++;
    while (suffix < la - prefix && suffix < lb - prefix && a[la - 1 - suffix] == b[lb - 1 - suffix])
        suffix++;
    size_t ra = la - prefix - suffix, rb = lb - prefix - suffix;
    bool swap = ra == 2 && rb == 2 && a[prefix] == b[prefix + 1] && a[prefix + 1] == b[prefix];
    return (ra <= 1 && rb <= 1) || swap;
}

static void unknown_instance(ap_judge *j, const char *cloud, const char *name)
{
    const ap_catalog *catalog = j->request->catalog;
    const char *near = NULL;
    for (size_t i = 0; cloud && i < catalog->instances.count; i++) {
        const ap_instance *instance = &catalog->instances.items[i];
        const ap_chip *chip = ap_catalog_chip(catalog, instance->chip);
        if (!chip || chip->kind == AP_CHIP_CPU || ap_starts_with(name, "n1-")) /* CPU machines: not all are on record */
            continue;
        if (strcmp(instance->cloud, cloud) == 0 && one_edit_apart(ap_str_lower(j->arena, instance->name), name))
            near = instance->name;
    }
    if (near)
        ap_judge_add(j, AP_FAULT_UNKNOWN_NAME, j->f->t.instance.pos, "%s has no machine type \"%s\"", cloud,
                     j->f->t.instance.value)
            ->hint = ap_arena_printf(j->arena, "did you mean %s?", near);
}

static void understand_instance(ap_judge *j)
{
    const char *given = j->f->t.instance.value;
    ap_checkjob *job = j->job;
    if (!given)
        return;
    char *name = ap_str_lower(j->arena, given);
    while (*name == ' ')
        name++;
    for (size_t len = strlen(name); len > 0 && name[len - 1] == ' ';)
        name[--len] = 0;
    const char *bare = ap_starts_with(name, "ml.") ? name + 3 : name;
    const char *cloud = job->cloud ? job->cloud : cloud_of_name(bare);
    job->instance = find_instance(j, cloud, bare);
    job->instance_name = name;
    if (!job->instance && cloud)
        unknown_instance(j, cloud, bare);
    bool bad = ap_judge_has(j, AP_FAULT_UNKNOWN_NAME);
    if (bad && !job->instance)
        job->instance_name = NULL;
    if (!job->cloud && !bad)
        job->cloud = job->instance ? job->instance->cloud : cloud;
}

static void understand_place(ap_judge *j)
{
    const ap_jobtexts *t = &j->f->t;
    if (t->cloud.value) {
        const ap_cloud *cloud = ap_catalog_find_cloud(j->request->catalog, t->cloud.value);
        j->job->cloud = cloud ? cloud->id : ap_str_lower(j->arena, t->cloud.value);
    }
    if (t->region.value)
        j->job->region = ap_str_lower(j->arena, t->region.value);
    else if (t->zone.value) {
        /* us-east5-a -> us-east5, us-east-1a -> us-east-1 */
        char *zone = ap_str_lower(j->arena, t->zone.value);
        size_t len = strlen(zone);
        if (len > 2 && zone[len - 2] == '-' && isalpha((unsigned char)zone[len - 1]))
            zone[len - 2] = 0;
        else if (len > 2 && isdigit((unsigned char)zone[len - 2]) && isalpha((unsigned char)zone[len - 1]))
            zone[len - 1] = 0;
        j->job->region = len ? zone : NULL;
    }
    if (j->job->format == AP_JF_XPK && !j->job->cloud)
        j->job->cloud = "gcp";
}

/* -- TPU slices
 * ---------------------------------------------------------------------------------------------------------------- */

static double product_of(const char *topology)
{
    double product = 1, value;
    const char *end = topology;
    for (;; topology = end + 1) {
        if (!isdigit((unsigned char)*topology) || !ap_num_parse_prefix(topology, &value, &end))
            return AP_UNKNOWN;
        product *= value;
        if (*end != 'x')
            return *end == 0 ? product : AP_UNKNOWN;
    }
}

typedef struct tpu_kind {
    const char *prefix, *chip;
    bool counts_cores;
    double largest_host; /* chips of the largest single host */
} tpu_kind;

static const tpu_kind tpu_kinds[] = {
    {"v5litepod-", "tpu-v5e", false, 8}, {"v5e-", "tpu-v5e", false, 8}, {"v6e-", "tpu-v6e", false, 8},
    {"tpu7x-", "tpu-v7", true, 4},       {"v7x-", "tpu-v7", true, 4},   {"v5p-", "tpu-v5p", true, 4},
    {"v4-", "tpu-v4", true, 4},          {"v3-", "tpu-v3", true, 4},    {"v2-", "tpu-v2", true, 4}};

static bool set_slice(ap_judge *j, const tpu_kind *kind, double chips, ap_pos pos)
{
    double slices = ap_or(j->f->n.slices.value, 1);
    const ap_chip *chip = ap_catalog_chip(j->request->catalog, kind->chip);
    double per_host = chips <= kind->largest_host ? chips : 4;
    if (!chip || !(chips >= 1))
        return false;
    if (fmod(chips, per_host) > 0)
        ap_judge_add(j, AP_FAULT_TOPOLOGY_MISMATCH, pos, "no slice of %s has %.6g chips: its hosts hold %.0f each",
                     kind->chip, chips, per_host)
            ->hint = kind->counts_cores ? "the number in the name counts cores, two a chip" : NULL;
    j->job->chip_count = 0;
    ap_chips_add(j, chip);
    if (!ap_jnum_stated(&j->job->chips_per_node))
        j->job->chips_per_node = (ap_jnum){per_host, pos};
    if (!ap_jnum_stated(&j->job->nodes))
        j->job->nodes = (ap_jnum){ceil(chips / per_host) * slices, pos};
    return true;
}

/* v5litepod-16, v5p-256 (cores), tpu7x-4x4x4 (topology). */
static bool understand_tpu_type(ap_judge *j, const char *text, ap_pos pos)
{
    const char *type = ap_starts_with(text, "tpu-") ? text + 4 : text;
    for (size_t i = 0; i < sizeof tpu_kinds / sizeof *tpu_kinds; i++) {
        double chips;
        if (!ap_starts_with(type, tpu_kinds[i].prefix))
            continue;
        const char *size = type + strlen(tpu_kinds[i].prefix);
        if (strchr(size, 'x'))
            return set_slice(j, &tpu_kinds[i], product_of(size), pos);
        return ap_num_parse(size, &chips) &&
               set_slice(j, &tpu_kinds[i], tpu_kinds[i].counts_cores ? chips / 2 : chips, pos);
    }
    return false;
}

static void understand_device_type(ap_judge *j)
{
    const ap_jtext *type = &j->f->t.tpu_type;
    if (!type->value || understand_tpu_type(j, type->value, type->pos))
        return;
    const char *dash = strrchr(type->value, '-');
    double count;
    if (dash && ap_num_parse(dash + 1, &count) && count <= 16) {
        ap_chip_match match =
            ap_chips_spelled(j, "gcp", ap_arena_strndup(j->arena, type->value, (size_t)(dash - type->value)));
        ap_chips_add_match(j, &match, NULL, 0);
        if (ap_chips_found(&match))
            j->job->chips_per_node = (ap_jnum){count, type->pos};
        else
            ap_judge_add(j, AP_FAULT_UNKNOWN_NAME, type->pos, "no accelerator type is called \"%s\"", type->value);
    }
}

/* -- counts
 * ----------------------------------------------------------------------------------------------------------------------
 */

static void take_first(ap_jnum *fact, const ap_jnum *from)
{
    if (!ap_jnum_stated(fact) && (ap_jnum_stated(from) || ap_known(from->value)))
        *fact = *from;
}

static void count_nodes(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    ap_checkjob *job = j->job;
    take_first(&job->nodes, &n->nodes);
    bool said = ap_jnum_stated(&job->nodes) || ap_known(job->nodes.value);
    if (!said && ap_known(n->tasks.value) && ap_known(n->tasks_per_node.value) && n->tasks_per_node.value > 0)
        job->nodes = (ap_jnum){ceil(n->tasks.value / n->tasks_per_node.value), n->tasks.pos};
    else if (!said && ap_jnum_stated(&n->launch_nodes) && !ap_job_has_format(j, AP_JF_SLURM))
        job->nodes = n->launch_nodes;
    else if (!said && ap_job_has_format(j, AP_JF_SLURM))
        job->nodes = (ap_jnum){1, {0}};
    else if (!said && ap_jtext_stated(&j->f->t.launcher) && !ap_streq(j->f->t.launcher.value, "mpirun") &&
             (ap_job_has_format(j, AP_JF_SHELL) || ap_job_has_format(j, AP_JF_MEGATRON)))
        job->nodes = (ap_jnum){1, j->f->t.launcher.pos}; /* the launchers' own default */
    else if (!said && ap_known(n->standalone.value) && ap_is(&n->standalone))
        job->nodes = (ap_jnum){1, n->standalone.pos};
}

static void count_chips(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    ap_checkjob *job = j->job;
    double nodes = job->nodes.value;
    bool with_config = ap_job_has_format(j, AP_JF_SLURM);
    take_first(&job->chips_per_node, &n->chips_per_node);
    bool said = ap_jnum_stated(&job->chips_per_node);
    if (!said && ap_jnum_stated(&n->chips_total)) {
        double total = n->chips_total.value;
        if (ap_known(total) && !ap_known(nodes)) {
            nodes = ceil(total / 8);
            job->nodes = (ap_jnum){nodes, n->chips_total.pos};
        }
        job->chips_per_node = (ap_jnum){total / nodes, n->chips_total.pos};
    } else if (!said && ap_jnum_stated(&n->chips_per_task)) {
        double tasks = ap_known(n->tasks_per_node.value) ? n->tasks_per_node.value : ap_or(n->tasks.value, 1) / nodes;
        job->chips_per_node = (ap_jnum){n->chips_per_task.value * tasks, n->chips_per_task.pos};
    } else if (!said && job->instance && job->instance->chip_count > 0 && !with_config) {
        const ap_chip *chip = ap_catalog_chip(j->request->catalog, job->instance->chip);
        if (chip && chip->kind != AP_CHIP_CPU)
            job->chips_per_node =
                (ap_jnum){job->instance->chip_count / ap_or(job->instance->hosts, 1), j->f->t.instance.pos};
    }
    if (!ap_jnum_stated(&job->chips_per_node) && !with_config) {
        /* a launcher's own count stands for the chips where nothing else does */
        if (ap_known(n->launch_total.value) && ap_known(n->launch_nodes.value) &&
            fmod(n->launch_total.value, n->launch_nodes.value) == 0)
            job->chips_per_node = (ap_jnum){n->launch_total.value / n->launch_nodes.value, n->launch_total.pos};
        else if (ap_known(n->launch_per_node.value) && job->format != AP_JF_AZUREML && job->format != AP_JF_K8S)
            job->chips_per_node = n->launch_per_node;
    }
}

static void chips_of_instance(ap_judge *j)
{
    ap_checkjob *job = j->job;
    const ap_chip *chip = job->instance ? ap_catalog_chip(j->request->catalog, job->instance->chip) : NULL;
    if (!chip || chip->kind == AP_CHIP_CPU)
        return;
    if (job->chip_count == 0 ||
        ap_chips_match_has(&(ap_chip_match){.choice_count = job->chip_count,
                                            .choices = {job->chips[0], job->chips[1], job->chips[2], job->chips[3],
                                                        job->chips[4], job->chips[5], job->chips[6], job->chips[7]}},
                           chip)) {
        job->chip_count = 0;
        job->chips_are_choice = false;
        ap_chips_add(j, chip);
    }
}

/* Eight cards of one size in a box are the socketed form: PCIe boxes of eight are rare and say so. */
static void prefer_socketed(ap_judge *j)
{
    ap_checkjob *job = j->job;
    const ap_chip *socketed = NULL;
    if (job->chips_are_choice || job->chip_count < 2 || !(job->chips_per_node.value >= 8))
        return;
    for (size_t i = 0; i < job->chip_count; i++) {
        const ap_chip *chip = job->chips[i];
        if (fabs(chip->memory.size - job->chips[0]->memory.size) > 0.2 * job->chips[0]->memory.size)
            return;
        if (strstr(chip->id, "-sxm"))
            socketed = socketed ? socketed : chip;
    }
    if (socketed) {
        job->chips[0] = socketed;
        job->chip_count = 1;
    }
}

static void count_processes(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_jobtexts *t = &j->f->t;
    ap_checkjob *job = j->job;
    double nodes = job->nodes.value;
    ap_jnum per_node = n->launch_per_node;
    if (per_node.value <= 0)
        per_node.value = AP_UNKNOWN; /* -1: all there are */
    bool by_total = ap_known(n->launch_total.value);
    if (ap_jtext_stated(&t->per_node_word))
        per_node = (ap_jnum){job->chips_per_node.value, t->per_node_word.pos};
    else if (!ap_jnum_stated(&per_node) && by_total)
        per_node =
            (ap_jnum){n->launch_total.value / ap_or(n->launch_nodes.value, ap_or(nodes, 1)), n->launch_total.pos};
    else if (!ap_jnum_stated(&per_node) && !ap_jnum_stated(&n->launch_total) && t->launcher.value) {
        bool whole_node = strcmp(t->launcher.value, "deepspeed") == 0 || strcmp(t->launcher.value, "composer") == 0 ||
                          strcmp(t->launcher.value, "llamafactory") == 0 || strcmp(t->launcher.value, "axolotl") == 0 ||
                          strcmp(t->launcher.value, "accelerate") == 0;
        double tasks = ap_known(n->srun_tasks.value)       ? n->srun_tasks.value / ap_or(nodes, 1)
                       : ap_known(n->tasks_per_node.value) ? n->tasks_per_node.value
                                                           : n->tasks.value / ap_or(nodes, 1);
        if (whole_node)
            per_node = (ap_jnum){job->chips_per_node.value, t->launcher.pos};
        else if (strcmp(t->launcher.value, "mpirun") == 0 && tasks >= 1)
            per_node = (ap_jnum){tasks, t->launcher.pos};
        else if (strcmp(t->launcher.value, "python") == 0 && ap_is(&n->by_srun) && tasks > 1)
            per_node = (ap_jnum){tasks, t->launcher.pos};
    }
    job->processes_per_node = per_node;
    double visible = ap_known(n->visible_devices.value) ? n->visible_devices.value : (double)INFINITY;
    double seen = fmin(ap_or(job->chips_per_node.value, HUGE_VAL), visible);
    double devices = job->chip_count > 0 && ap_known(job->chips[0]->devices) ? job->chips[0]->devices : 1;
    bool tpu = job->chip_count > 0 && job->chips[0]->kind == AP_CHIP_TPU;
    if (tpu || ap_streq(j->f->t.framework.value, "jax"))
        job->world = nodes * job->chips_per_node.value;
    else if (ap_known(per_node.value))
        job->world = per_node.value * ap_or(nodes, AP_UNKNOWN);
    else
        job->world = isinf(seen) ? AP_UNKNOWN : nodes * seen;
    if (devices > 1 && !tpu && !ap_known(per_node.value))
        job->world *= devices;
    job->chip_total = nodes * job->chips_per_node.value;
}

static void understand_host(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    ap_checkjob *job = j->job;
    double nodes = ap_or(job->nodes.value, 1), per_node = job->chips_per_node.value;
    double tasks = ap_known(n->tasks_per_node.value) ? n->tasks_per_node.value : ceil(ap_or(n->tasks.value, 1) / nodes);
    job->cpus_per_node = n->cpus_per_node.value;
    if (!ap_known(job->cpus_per_node) && ap_known(n->cpus_per_task.value))
        job->cpus_per_node = n->cpus_per_task.value * tasks;
    if (!ap_known(job->cpus_per_node) && ap_known(n->cpus_per_chip.value))
        job->cpus_per_node = n->cpus_per_chip.value * per_node;
    if (!ap_known(job->cpus_per_node) && job->instance && !ap_job_has_format(j, AP_JF_SLURM))
        job->cpus_per_node = job->instance->vcpus / ap_or(job->instance->hosts, 1);
    job->host_memory_bytes = n->memory_bytes.value;
    if (!ap_known(job->host_memory_bytes) && ap_known(n->memory_per_cpu_bytes.value))
        job->host_memory_bytes = n->memory_per_cpu_bytes.value * job->cpus_per_node;
    if (!ap_known(job->host_memory_bytes) && ap_known(n->memory_per_chip_bytes.value))
        job->host_memory_bytes = n->memory_per_chip_bytes.value * per_node;
    job->time_limit_h = n->time_limit_s.value / 3600;
    job->spot =
        ap_jnum_stated(&n->spot) || ap_known(n->spot.value) ? (ap_known(n->spot.value) ? n->spot.value > 0.5 : -1) : -1;
}

void ap_understand_hardware(ap_judge *j)
{
    ap_checkjob *job = j->job;
    job->world = AP_UNKNOWN;
    job->chips_per_node.value = job->nodes.value = job->processes_per_node.value = AP_UNKNOWN;
    job->mig = ap_jtext_stated(&j->f->t.input_mode) && j->f->t.input_mode.value &&
               ap_contains_nocase(j->f->t.input_mode.value, "mig-");
    understand_place(j);
    understand_instance(j);
    ap_chips_understand(j);
    ap_chips_from_memory(j);
    if (!job->instance_name || job->instance)
        understand_device_type(j);
    for (size_t i = 0; i < j->f->chips.count; i++)
        if (job->format == AP_JF_SKYPILOT || job->format == AP_JF_DSTACK)
            (void)understand_tpu_type(j, j->f->chips.items[i].value, j->f->chips.items[i].pos);
    count_nodes(j);
    count_chips(j);
    chips_of_instance(j);
    prefer_socketed(j);
    job->chip = job->chip_count == 1 && !job->mig ? job->chips[0] : NULL;
    if (job->instance && !ap_known(job->nodes.value) && !ap_jnum_stated(&job->nodes) && job->format != AP_JF_UNKNOWN)
        job->nodes.value = 1;
    count_processes(j);
    understand_host(j);
}
