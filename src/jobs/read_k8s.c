/* Kubernetes: Pod, Job, CronJob, StatefulSet, Deployment, JobSet, Kubeflow's and MPI's jobs, Volcano, KubeRay,
 * LeaderWorkerSet. Every kind comes down to groups of equal pods. */
#include <string.h>
#include <strings.h>

#include "jobs/reader.h"

typedef struct pods {
    const ap_node *spec; /* of a pod */
    double count;        /* pods with this spec, NaN unknown */
    ap_pos pos;          /* where the count is said, line 0 = default */
} pods;

typedef struct k8s_reader {
    ap_jobreader *r;
    const char *kind;
    const ap_node *spec;
    pods groups[16];
    size_t group_count;
    double pod_total;
} k8s_reader;

static double count_of(const ap_node *node, double fallback, ap_pos *ret_pos)
{
    double value;
    if (!node || ap_node_is_null(node))
        return fallback;
    *ret_pos = node->pos;
    return ap_foreign_num(ap_node_text(node), &value) ? value : AP_UNKNOWN;
}

static void add_pods(k8s_reader *k, const ap_node *template, double count, ap_pos pos)
{
    const ap_node *spec = ap_node_get(template, "spec");
    if (spec && k->group_count < sizeof k->groups / sizeof *k->groups)
        k->groups[k->group_count++] = (pods){spec, count, pos};
    k->pod_total += count;
}

/* -- resources
 * ------------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *key;
    const char *chip;
    const char *cloud;
} resources[] = {{"nvidia.com/gpu", NULL, NULL},
                 {"amd.com/gpu", NULL, NULL},
                 {"google.com/tpu", NULL, "gcp"},
                 {"aws.amazon.com/neuron", NULL, "aws"},
                 {"aws.amazon.com/neurondevice", NULL, "aws"},
                 {"aws.amazon.com/neuroncore", NULL, "aws"},
                 {"habana.ai/gaudi", NULL, NULL},
                 {"gpu.intel.com/i915", NULL, NULL},
                 {"gpu.intel.com/xe", NULL, NULL},
                 {"huawei.com/Ascend910", "ascend-910", NULL},
                 {"nvidia.com/gpu.shared", NULL, NULL}};

static bool is_mig(const char *key)
{
    return strncmp(key, "nvidia.com/mig-", 15) == 0;
}

static int resource_of(const char *key)
{
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
        if (strcmp(key, resources[i].key) == 0)
            return (int)i;
    return is_mig(key) ? 100 : -1;
}

static const ap_pair *chip_entry(const ap_node *map)
{
    for (size_t i = 0; map && map->kind == AP_NODE_MAP && i < map->as.map.count; i++)
        if (resource_of(map->as.map.pairs[i].key) >= 0)
            return &map->as.map.pairs[i];
    return NULL;
}

static void check_nesting(k8s_reader *k, const ap_node *container)
{
    const ap_node *resource = ap_node_get(container, "resources"), *requests = ap_node_get(resource, "requests");
    const ap_node *lost = ap_node_get(requests, "limits");
    const char *where = "under requests";
    if (!lost) {
        lost = ap_node_get(container, "limits");
        where = "beside resources";
    }
    const ap_pair *entry = lost ? chip_entry(lost) : NULL;
    if (!entry && resource) {
        entry = chip_entry(resource);
        where = "directly under resources";
    }
    if (entry) {
        ap_pos pos = entry->key_pos;
        ap_jobreader_find(k->r, AP_FAULT_NO_GPU_REQUESTED, pos,
                          "%s stands %s, where nobody reads it: the pod asks for no accelerator", entry->key, where)
            ->hint = "it belongs under resources.limits";
        ap_set_num(&k->r->facts->n.chips_per_node, AP_UNKNOWN, pos);
        return;
    }
    const ap_pair *asked = chip_entry(requests);
    if (asked && !chip_entry(ap_node_get(resource, "limits"))) {
        ap_jobreader_find(k->r, AP_FAULT_NO_GPU_REQUESTED, asked->key_pos,
                          "%s is requested but has no limit: the API server refuses the pod", asked->key)
            ->hint = "accelerators are asked for in resources.limits";
        ap_set_num(&k->r->facts->n.chips_per_node, AP_UNKNOWN, asked->key_pos);
    }
}

static double take_chips(k8s_reader *k, const ap_pair *entry)
{
    double value;
    ap_jobreader *r = k->r;
    const char *text = ap_node_text(entry->value);
    if (!ap_foreign_num(text, &value)) {
        ap_set_num(&r->facts->n.chips_per_node, AP_UNKNOWN, entry->value->pos);
        return AP_UNKNOWN;
    }
    if (fabs(value - round(value)) > 1e-9) {
        ap_jobreader_find(r, AP_FAULT_UNSCHEDULABLE, entry->value->pos,
                          "%s: %s is no whole number; the API server refuses it", entry->key, text)
            ->hint = "whole chips only; share a card by MIG or time slicing";
        ap_set_num(&r->facts->n.chips_per_node, AP_UNKNOWN, entry->value->pos);
        return value;
    }
    int which = resource_of(entry->key);
    if (is_mig(entry->key)) {
        ap_set_text(&r->facts->t.input_mode, entry->key, entry->value->pos);
        ap_set_num(&r->facts->n.chips_per_node, value, entry->value->pos);
        return value;
    }
    if (strcmp(entry->key, "aws.amazon.com/neuroncore") == 0)
        value = ceil(value / 2);
    if (resources[which].chip)
        ap_jobfacts_add_chip(r->facts, resources[which].chip, entry->key_pos);
    if (resources[which].cloud)
        ap_set_text(&r->facts->t.cloud, resources[which].cloud, entry->key_pos);
    if (value > 0)
        ap_set_num(&r->facts->n.chips_per_node, value, entry->value->pos);
    return value;
}

static void take_host(k8s_reader *k, const ap_node *resource)
{
    ap_jobnums *n = &k->r->facts->n;
    const ap_node *limits = ap_node_get(resource, "limits"), *requests = ap_node_get(resource, "requests");
    ap_node_with(&n->cpus_per_node, ap_foreign_cpus, ap_node_get(limits, "cpu"));
    ap_node_with(&n->cpus_per_node, ap_foreign_cpus, ap_node_get(requests, "cpu"));
    ap_node_with(&n->memory_bytes, ap_foreign_bytes, ap_node_get(limits, "memory"));
    ap_node_with(&n->memory_bytes, ap_foreign_bytes, ap_node_get(requests, "memory"));
    ap_node_with(&n->ephemeral_bytes, ap_foreign_bytes, ap_node_get(limits, "ephemeral-storage"));
    ap_node_with(&n->ephemeral_bytes, ap_foreign_bytes, ap_node_get(requests, "ephemeral-storage"));
    const char *const fabrics[] = {"vpc.amazonaws.com/efa",
                                   "rdma/hca",
                                   "rdma/ib",
                                   "rdma/rdma_shared_device_a",
                                   "rdma/hca_shared_devices_a",
                                   "networking.gke.io.networks/rdma-0"};
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++)
        ap_node_num(&n->fast_network, ap_node_get(limits, fabrics[i]));
    for (size_t i = 0; limits && limits->kind == AP_NODE_MAP && i < limits->as.map.count; i++)
        if (strncmp(limits->as.map.pairs[i].key, "rdma/", 5) == 0)
            ap_node_num(&n->fast_network, limits->as.map.pairs[i].value);
}

/* Chips of one pod: containers add up. */
static double chips_of(k8s_reader *k, const ap_node *spec)
{
    const ap_node *containers = ap_node_get(spec, "containers");
    double total = 0;
    for (size_t i = 0; containers && containers->kind == AP_NODE_LIST && i < containers->as.list.count; i++) {
        const ap_node *container = containers->as.list.items[i];
        const ap_node *limits = ap_node_at(container, "resources.limits"),
                      *requests = ap_node_at(container, "resources.requests");
        const ap_pair *entry = chip_entry(limits), *asked = chip_entry(requests);
        check_nesting(k, container);
        if (!entry)
            continue;
        double value = take_chips(k, entry);
        if (asked && strcmp(asked->key, entry->key) == 0 &&
            !ap_streq(ap_node_text(asked->value), ap_node_text(entry->value)) &&
            !ap_foreign_unknown(ap_node_text(asked->value)))
            ap_jobreader_find(k->r, AP_FAULT_UNSCHEDULABLE, asked->value->pos,
                              "%s: request and limit differ; for accelerators they must be equal", asked->key);
        total += value;
        take_host(k, ap_node_get(container, "resources"));
    }
    return total;
}

static void read_containers(k8s_reader *k, const ap_node *spec)
{
    const ap_node *containers = ap_node_get(spec, "containers");
    for (size_t i = 0; containers && containers->kind == AP_NODE_LIST && i < containers->as.list.count; i++) {
        const ap_node *container = containers->as.list.items[i];
        ap_node_take(k->r, &k->r->facts->t.image, ap_node_get(container, "image"));
        ap_env_from_node(k->r, ap_node_get(container, "env"));
        ap_script_exec(k->r, ap_node_get(container, "command"), ap_node_get(container, "args"));
    }
}

/* -- kinds
 * ---------------------------------------------------------------------------------------------------------------- */

static void read_job_spec(k8s_reader *k, const ap_node *spec, double times)
{
    ap_pos pos = {0};
    ap_jobnums *n = &k->r->facts->n;
    double parallel = count_of(ap_node_get(spec, "parallelism"), 1, &pos);
    double completions = count_of(ap_node_get(spec, "completions"), parallel, &pos);
    ap_node_num(&n->time_limit_s, ap_node_get(spec, "activeDeadlineSeconds"));
    ap_node_num(&n->restarts, ap_node_get(spec, "backoffLimit"));
    add_pods(k, ap_node_get(spec, "template"), fmin(parallel, completions) * times, pos);
}

static void read_replica_specs(k8s_reader *k, const ap_node *specs)
{
    for (size_t i = 0; specs && specs->kind == AP_NODE_MAP && i < specs->as.map.count; i++) {
        const ap_node *item = specs->as.map.pairs[i].value;
        ap_pos pos = {0};
        double count = count_of(ap_node_get(item, "replicas"), 1, &pos);
        ap_node_take(k->r, &k->r->facts->t.restart_policy, ap_node_get(item, "restartPolicy"));
        add_pods(k, ap_node_get(item, "template"), count, pos);
    }
}

static void read_kubeflow(k8s_reader *k)
{
    const ap_node *spec = k->spec;
    ap_jobnums *n = &k->r->facts->n;
    static const char *const keys[] = {"pytorchReplicaSpecs", "tfReplicaSpecs",  "mpiReplicaSpecs",
                                       "xgbReplicaSpecs",     "jaxReplicaSpecs", "paddleReplicaSpecs"};
    ap_node_num(&n->time_limit_s, ap_node_at(spec, "runPolicy.activeDeadlineSeconds"));
    ap_node_num(&n->time_limit_s, ap_node_get(spec, "activeDeadlineSeconds"));
    ap_node_num(&n->restarts, ap_node_at(spec, "runPolicy.backoffLimit"));
    ap_node_num(&n->restarts, ap_node_at(spec, "elasticPolicy.maxRestarts"));
    ap_node_num(&n->launch_slots, ap_node_get(spec, "slotsPerWorker"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        read_replica_specs(k, ap_node_get(spec, keys[i]));
    if (strcmp(k->kind, "PyTorchJob") == 0)
        ap_set_text(&k->r->facts->t.framework, "pytorch", spec->pos);
    const ap_node *least = ap_node_at(spec, "runPolicy.schedulingPolicy.minAvailable");
    double value;
    if (least && ap_foreign_num(ap_node_text(least), &value) && value > k->pod_total)
        ap_jobreader_find(k->r, AP_FAULT_UNSCHEDULABLE, least->pos,
                          "minAvailable %.0f, but there are only %.0f pods: the gang never becomes complete", value,
                          k->pod_total);
    if (strcmp(k->kind, "PyTorchJob") == 0)
        ap_node_num(&n->rendezvous, ap_node_at(spec, "elasticPolicy.maxReplicas"));
}

static void read_volcano(k8s_reader *k)
{
    const ap_node *tasks = ap_node_get(k->spec, "tasks"), *least = ap_node_get(k->spec, "minAvailable");
    ap_jobnums *n = &k->r->facts->n;
    ap_node_num(&n->restarts, ap_node_get(k->spec, "maxRetry"));
    for (size_t i = 0; tasks && tasks->kind == AP_NODE_LIST && i < tasks->as.list.count; i++) {
        const ap_node *task = tasks->as.list.items[i];
        ap_pos pos = {0};
        double count = count_of(ap_node_get(task, "replicas"), 1, &pos), own;
        const ap_node *own_least = ap_node_get(task, "minAvailable");
        add_pods(k, ap_node_get(task, "template"), count, pos);
        if (own_least && ap_foreign_num(ap_node_text(own_least), &own) && own > count)
            ap_jobreader_find(k->r, AP_FAULT_UNSCHEDULABLE, own_least->pos,
                              "minAvailable %.0f of a task with %.0f replicas: refused on admission", own, count);
    }
    double value;
    if (least && ap_foreign_num(ap_node_text(least), &value) && value > k->pod_total)
        ap_jobreader_find(k->r, AP_FAULT_UNSCHEDULABLE, least->pos,
                          "minAvailable %.0f, but the tasks have %.0f replicas in all: refused on admission", value,
                          k->pod_total)
            ->hint = "minAvailable may be at most the sum of the replicas";
}

static void read_jobset(k8s_reader *k)
{
    const ap_node *jobs = ap_node_get(k->spec, "replicatedJobs");
    ap_jobnums *n = &k->r->facts->n;
    for (size_t i = 0; jobs && jobs->kind == AP_NODE_LIST && i < jobs->as.list.count; i++) {
        const ap_node *job = jobs->as.list.items[i];
        ap_pos pos = {0};
        double times = count_of(ap_node_get(job, "replicas"), 1, &pos);
        ap_set_num(&n->slices, times, pos.line ? pos : job->pos);
        read_job_spec(k, ap_node_at(job, "template.spec"), times);
    }
    const ap_node *most = ap_node_at(k->spec, "failurePolicy.maxRestarts");
    if (most)
        n->restarts = (ap_jnum){AP_UNKNOWN, {0}};
    ap_node_num(&n->restarts, most);
    ap_node_num(&n->time_limit_s, ap_node_get(k->spec, "activeDeadlineSeconds"));
}

static void read_ray_cluster(k8s_reader *k, const ap_node *cluster)
{
    const ap_node *workers = ap_node_get(cluster, "workerGroupSpecs");
    for (size_t i = 0; workers && workers->kind == AP_NODE_LIST && i < workers->as.list.count; i++) {
        const ap_node *group = workers->as.list.items[i];
        ap_pos pos = {0}, host_pos = {0};
        double least = count_of(ap_node_get(group, "minReplicas"), 0, &pos);
        double most = count_of(ap_node_get(group, "maxReplicas"), least, &pos);
        double count = count_of(ap_node_get(group, "replicas"), fmax(least, 1), &pos);
        double hosts = count_of(ap_node_get(group, "numOfHosts"), 1, &host_pos);
        if (least > most)
            ap_jobreader_find(k->r, AP_FAULT_UNSCHEDULABLE, pos, "minReplicas %.0f is more than maxReplicas %.0f",
                              least, most);
        if (count > 0 || least > 0)
            ap_set_num(&k->r->facts->n.stays_up, fmax(count, least), pos.line ? pos : group->pos);
        add_pods(k, ap_node_get(group, "template"), count * hosts, pos);
    }
    add_pods(k, ap_node_at(cluster, "headGroupSpec.template"), 1, AP_NO_POS);
}

static void read_rayjob(k8s_reader *k)
{
    ap_jobnums *n = &k->r->facts->n;
    const ap_node *stop = ap_node_get(k->spec, "shutdownAfterJobFinishes");
    ap_node_num(&n->time_limit_s, ap_node_get(k->spec, "activeDeadlineSeconds"));
    ap_node_num(&n->restarts, ap_node_get(k->spec, "backoffLimit"));
    read_ray_cluster(k, ap_node_get(k->spec, "rayClusterSpec"));
    bool stops = stop && ap_foreign_bool(ap_node_text(stop)) == 1;
    if (!stops && ap_node_get(k->spec, "rayClusterSpec"))
        ap_set_num(&n->forever, 1, stop ? stop->pos : k->spec->pos);
    else
        n->stays_up = (ap_jnum){AP_UNKNOWN, {0}};
    ap_script_node(k->r, ap_node_get(k->spec, "entrypoint"));
}

static void read_trainjob(k8s_reader *k)
{
    const ap_node *trainer = ap_node_get(k->spec, "trainer");
    ap_jobnums *n = &k->r->facts->n;
    ap_node_num(&n->nodes, ap_node_get(trainer, "numNodes"));
    const ap_node *procs = ap_node_get(trainer, "numProcPerNode");
    double value;
    if (procs && ap_foreign_num(ap_node_text(procs), &value))
        ap_set_num(&n->launch_per_node, value, procs->pos);
    const ap_node *resource = ap_node_get(trainer, "resourcesPerNode");
    const ap_pair *entry = chip_entry(ap_node_get(resource, "limits"));
    if (!entry)
        entry = chip_entry(ap_node_get(resource, "requests"));
    if (entry)
        take_chips(k, entry);
    take_host(k, resource);
    ap_node_take(k->r, &k->r->facts->t.image, ap_node_get(trainer, "image"));
    ap_env_from_node(k->r, ap_node_get(trainer, "env"));
    ap_script_exec(k->r, ap_node_get(trainer, "command"), ap_node_get(trainer, "args"));
    const ap_node *overrides = ap_node_get(k->spec, "podSpecOverrides");
    for (size_t i = 0; overrides && overrides->kind == AP_NODE_LIST && i < overrides->as.list.count; i++)
        ap_k8s_take_placement(k->r, overrides->as.list.items[i]);
    ap_set_num(&n->rendezvous, 1, k->spec->pos);
}

static void read_kind(k8s_reader *k, const char *api)
{
    ap_pos pos = {0};
    const char *kind = k->kind;
    ap_jobnums *n = &k->r->facts->n;
    if (strcmp(kind, "Job") == 0 && ap_starts_with(api, "batch.volcano.sh")) {
        read_volcano(k);
    } else if (strcmp(kind, "Job") == 0) {
        read_job_spec(k, k->spec, 1);
    } else if (strcmp(kind, "CronJob") == 0) {
        ap_node_take(k->r, &k->r->facts->t.schedule, ap_node_get(k->spec, "schedule"));
        read_job_spec(k, ap_node_at(k->spec, "jobTemplate.spec"), 1);
    } else if (strcmp(kind, "Pod") == 0) {
        ap_node_num(&n->time_limit_s, ap_node_get(k->spec, "activeDeadlineSeconds"));
        add_pods(k, k->r->root, 1, AP_NO_POS);
    } else if (strcmp(kind, "StatefulSet") == 0 || strcmp(kind, "Deployment") == 0 || strcmp(kind, "ReplicaSet") == 0 ||
               strcmp(kind, "DaemonSet") == 0) {
        const ap_node *replicas = ap_node_get(k->spec, "replicas");
        double count = count_of(replicas, 1, &pos);
        ap_set_num(&n->forever, 1, replicas ? replicas->pos : k->spec->pos);
        add_pods(k, ap_node_get(k->spec, "template"), count, pos);
    } else if (strcmp(kind, "JobSet") == 0) {
        read_jobset(k);
    } else if (strcmp(kind, "RayCluster") == 0) {
        read_ray_cluster(k, k->spec);
    } else if (strcmp(kind, "RayJob") == 0) {
        read_rayjob(k);
    } else if (strcmp(kind, "TrainJob") == 0) {
        read_trainjob(k);
    } else if (strcmp(kind, "LeaderWorkerSet") == 0) {
        double groups = count_of(ap_node_get(k->spec, "replicas"), 1, &pos);
        double size = count_of(ap_node_at(k->spec, "leaderWorkerTemplate.size"), 1, &pos);
        ap_set_num(&n->forever, 1, k->spec->pos);
        add_pods(k, ap_node_at(k->spec, "leaderWorkerTemplate.workerTemplate"), groups * size, pos);
    } else {
        read_kubeflow(k);
    }
}

/* One group with chips carries the counts; those without (launchers, heads) only their commands. */
static void read_groups(k8s_reader *k)
{
    double nodes = 0;
    ap_pos pos = {0};
    ap_jobfacts *facts = k->r->facts;
    for (size_t i = 0; i < k->group_count; i++) {
        const pods *group = &k->groups[i];
        double chips = chips_of(k, group->spec);
        bool carries = chips > 0 || isnan(chips);
        if (carries) {
            nodes += group->count;
            pos = pos.line == 0 || group->count > 1 ? group->pos : pos;
            ap_k8s_take_placement(k->r, group->spec);
        }
        ap_k8s_take_volumes(k->r, group->spec);
        ap_node_num(&facts->n.time_limit_s, ap_node_get(group->spec, "activeDeadlineSeconds"));
        ap_node_take(k->r, &facts->t.restart_policy, ap_node_get(group->spec, "restartPolicy"));
        read_containers(k, group->spec);
    }
    bool claimed = ap_jnum_stated(&facts->n.chips_per_node);
    for (size_t i = 0; i < k->group_count && !(nodes > 0); i++) {
        ap_k8s_take_placement(k->r, k->groups[i].spec);
        if (claimed && i == 0)
            nodes = k->groups[i].count;
    }
    if (nodes > 0 || isnan(nodes))
        ap_set_num(&facts->n.nodes, nodes, pos.line ? pos : k->spec->pos);
}

void ap_read_k8s(ap_jobreader *r)
{
    const char *kind = ap_node_text(ap_node_get(r->root, "kind")),
               *api = ap_node_text(ap_node_get(r->root, "apiVersion"));
    const ap_node *spec = ap_node_get(r->root, "spec");
    if (!kind || !spec || spec->kind != AP_NODE_MAP)
        return;
    k8s_reader k = {.r = r, .kind = kind, .spec = spec};
    ap_node_take(r, &r->facts->t.name, ap_node_at(r->root, "metadata.name"));
    ap_set_text(&r->facts->t.runner, kind, spec->pos);
    read_kind(&k, api ? api : "");
    read_groups(&k);
}
