/* Jobs of clouds' training services and Ray clusters: Vertex AI, SageMaker, Azure ML, Ray. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "jobs/reader.h"

/* -- Vertex AI
 * -------------------------------------------------------------------------------------------------------------- */

/* A key in camelCase or snake_case. */
static const ap_node *either(const ap_node *map, const char *camel, const char *snake)
{
    const ap_node *node = ap_node_get(map, camel);
    return node ? node : ap_node_get(map, snake);
}

static void read_pool(ap_jobreader *r, const ap_node *pool, double *nodes, ap_pos *pos)
{
    const ap_node *machine = either(pool, "machineSpec", "machine_spec"),
                  *container = either(pool, "containerSpec", "container_spec");
    const ap_node *type = either(machine, "acceleratorType", "accelerator_type"),
                  *count = either(machine, "acceleratorCount", "accelerator_count");
    const ap_node *replicas = either(pool, "replicaCount", "replica_count");
    double value = 1;
    ap_node_take(r, &r->facts->t.instance, either(machine, "machineType", "machine_type"));
    ap_node_take(r, &r->facts->t.topology, either(machine, "tpuTopology", "tpu_topology"));
    if (ap_node_text(type) && !ap_foreign_unknown(type->text) &&
        !ap_streq(type->text, "ACCELERATOR_TYPE_UNSPECIFIED")) {
        r->facts->chips.provider = "gcp";
        ap_jobfacts_add_chip(r->facts, type->text, type->pos);
        ap_node_num(&r->facts->n.chips_per_node, count);
    }
    if (replicas && !ap_foreign_num(ap_node_text(replicas), &value))
        value = AP_UNKNOWN;
    *nodes += value;
    *pos = replicas ? replicas->pos : pool->pos;
    const ap_node *disk = either(pool, "diskSpec", "disk_spec");
    ap_node_with(&r->facts->n.disk_bytes, ap_foreign_bytes_gib, either(disk, "bootDiskSizeGb", "boot_disk_size_gb"));
    ap_node_take(r, &r->facts->t.image, either(container, "imageUri", "image_uri"));
    ap_env_from_node(r, ap_node_get(container, "env"));
    ap_script_exec(r, ap_node_get(container, "command"), ap_node_get(container, "args"));
    const ap_node *package = either(pool, "pythonPackageSpec", "python_package_spec");
    if (package) {
        ap_node_take(r, &r->facts->t.image, either(package, "executorImageUri", "executor_image_uri"));
        const ap_node *module = either(package, "pythonModule", "python_module"), *args = ap_node_get(package, "args");
        ap_node *words = AP_NEW(r->arena, ap_node);
        size_t n = args && args->kind == AP_NODE_LIST ? args->as.list.count : 0;
        static const ap_node python = {.kind = AP_NODE_SCALAR, .text = "python"},
                             dash_m = {.kind = AP_NODE_SCALAR, .text = "-m"};
        ap_node **items = AP_NEW_ARRAY(r->arena, ap_node *, 2);
        items[0] = AP_NEW(r->arena, ap_node);
        *items[0] = python;
        items[1] = AP_NEW(r->arena, ap_node);
        *items[1] = dash_m;
        *words = (ap_node){.kind = AP_NODE_LIST, .pos = package->pos};
        words->as.list.items = AP_NEW_ARRAY(r->arena, ap_node *, n + 3);
        words->as.list.items[words->as.list.count++] = items[0];
        words->as.list.items[words->as.list.count++] = items[1];
        if (module && module->kind == AP_NODE_SCALAR) {
            ap_node *name = AP_NEW(r->arena, ap_node);
            *name = *module;
            words->as.list.items[words->as.list.count++] = name;
        }
        for (size_t i = 0; i < n; i++)
            words->as.list.items[words->as.list.count++] = args->as.list.items[i];
        ap_script_exec(r, words, NULL);
    }
}

void ap_read_vertex(ap_jobreader *r)
{
    const ap_node *root = r->root, *spec = either(root, "jobSpec", "job_spec");
    root = spec ? spec : root;
    const ap_node *pools = either(root, "workerPoolSpecs", "worker_pool_specs"),
                  *scheduling = ap_node_get(root, "scheduling");
    double nodes = 0;
    ap_pos pos = {0};
    if (pools && pools->kind == AP_NODE_MAP)
        read_pool(r, pools, &nodes, &pos);
    for (size_t i = 0; pools && pools->kind == AP_NODE_LIST && i < pools->as.list.count; i++)
        read_pool(r, pools->as.list.items[i], &nodes, &pos);
    if (nodes > 0)
        ap_set_num(&r->facts->n.nodes, nodes, pos);
    ap_node_with(&r->facts->n.time_limit_s, ap_foreign_seconds, ap_node_get(scheduling, "timeout"));
    const ap_node *strategy = ap_node_get(scheduling, "strategy");
    if (ap_node_text(strategy))
        ap_set_num(&r->facts->n.spot, ap_contains_nocase(strategy->text, "SPOT"), strategy->pos);
    ap_node_take(r, &r->facts->t.name, either(r->root, "displayName", "display_name"));
    const ap_node *base = either(root, "baseOutputDirectory", "base_output_directory");
    if (base)
        ap_set_num(&r->facts->n.durable_storage, 1, base->pos);
    ap_set_text(&r->facts->t.cloud, "gcp", r->root->pos);
}

/* -- SageMaker
 * -------------------------------------------------------------------------------------------------------------- */

/* us-east-1 inside an ARN or a registry's address. */
static const char *region_in(ap_jobreader *r, const char *text)
{
    static const char *const starts[] = {"us-", "eu-", "ap-", "ca-", "sa-", "me-", "af-", "il-"};
    for (const char *p = text; p && *p; p++) {
        if (p > text && isalnum((unsigned char)p[-1]))
            continue;
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
            if (strncmp(p, starts[i], 3) != 0)
                continue;
            size_t len = strspn(p, "abcdefghijklmnopqrstuvwxyz-");
            if (isdigit((unsigned char)p[len]) && len > 5)
                return ap_arena_strndup(r->arena, p, len + 1);
        }
    }
    return NULL;
}

void ap_read_sagemaker(ap_jobreader *r)
{
    ap_jobnums *n = &r->facts->n;
    ap_jobtexts *t = &r->facts->t;
    const ap_node *res = ap_node_get(r->root, "ResourceConfig"), *stop = ap_node_get(r->root, "StoppingCondition");
    const ap_node *groups = ap_node_get(res, "InstanceGroups");
    ap_node_take(r, &t->name, ap_node_get(r->root, "TrainingJobName"));
    ap_node_take(r, &t->instance, ap_node_get(res, "InstanceType"));
    ap_node_num(&n->nodes, ap_node_get(res, "InstanceCount"));
    if (groups && groups->kind == AP_NODE_LIST && groups->as.list.count > 0) {
        ap_node_take(r, &t->instance, ap_node_get(groups->as.list.items[0], "InstanceType"));
        ap_node_num(&n->nodes, ap_node_get(groups->as.list.items[0], "InstanceCount"));
    }
    const ap_node *volume = ap_node_get(res, "VolumeSizeInGB");
    ap_node_with(&n->disk_bytes, ap_foreign_bytes_gib, volume);
    ap_node_num(&n->time_limit_s, ap_node_get(stop, "MaxRuntimeInSeconds"));
    const ap_node *spot = ap_node_get(r->root, "EnableManagedSpotTraining");
    ap_node_flag(&n->spot, spot);
    if (!spot)
        ap_set_num(&n->spot, 0, r->root->pos);
    const ap_node *wait = ap_node_get(stop, "MaxWaitTimeInSeconds");
    double wait_s;
    if (wait && ap_foreign_num(ap_node_text(wait), &wait_s) && wait_s < n->time_limit_s.value)
        ap_jobreader_find(r, AP_FAULT_UNSCHEDULABLE, wait->pos,
                          "MaxWaitTimeInSeconds %.0f is less than MaxRuntimeInSeconds %.0f: the API refuses it", wait_s,
                          n->time_limit_s.value);
    const ap_node *image = ap_node_at(r->root, "AlgorithmSpecification.TrainingImage"),
                  *role = ap_node_get(r->root, "RoleArn");
    ap_node_take(r, &t->image, image);
    const char *region = region_in(r, ap_node_text(image));
    if (!region)
        region = region_in(r, ap_node_text(role));
    if (region)
        ap_set_text(&t->region, region, image ? image->pos : role->pos);
    const ap_node *checkpoint = ap_node_at(r->root, "CheckpointConfig.S3Uri");
    if (checkpoint)
        ap_set_num(&n->durable_storage, 1, checkpoint->pos);
    ap_args_from_map(r, r->facts, ap_node_get(r->root, "HyperParameters"));
    ap_env_from_node(r, ap_node_get(r->root, "Environment"));
    const ap_node *algorithm = ap_node_get(r->root, "AlgorithmSpecification");
    ap_script_exec(r, ap_node_get(algorithm, "ContainerEntrypoint"), ap_node_get(algorithm, "ContainerArguments"));
    ap_set_text(&t->cloud, "aws", r->root->pos);
}

/* -- Azure ML
 * ----------------------------------------------------------------------------------------------------------------- */

void ap_read_azureml(ap_jobreader *r)
{
    ap_jobnums *n = &r->facts->n;
    ap_jobtexts *t = &r->facts->t;
    const ap_node *res = ap_node_get(r->root, "resources"), *dist = ap_node_get(r->root, "distribution");
    ap_node_take(r, &t->name, ap_node_get(r->root, "experiment_name"));
    ap_node_take(r, &t->instance, ap_node_get(res, "instance_type"));
    ap_node_num(&n->nodes, ap_node_get(res, "instance_count"));
    if (!ap_jnum_stated(&n->nodes))
        ap_set_num(&n->nodes, 1, r->root->pos);
    ap_node_with(&n->shm_bytes, ap_foreign_bytes_gib, ap_node_get(res, "shm_size"));
    ap_node_num(&n->launch_per_node, ap_node_get(dist, "process_count_per_instance"));
    const ap_node *type = ap_node_get(dist, "type");
    if (ap_node_text(type)) {
        ap_set_num(&n->rendezvous, 1, type->pos);
        ap_set_text(&t->launcher, "azureml", type->pos);
        if (strcasecmp(type->text, "pytorch") == 0)
            ap_set_text(&t->framework, "pytorch", type->pos);
        if (strcasecmp(type->text, "tensorflow") == 0)
            ap_set_text(&t->framework, "tensorflow", type->pos);
    }
    ap_node_num(&n->time_limit_s, ap_node_at(r->root, "limits.timeout"));
    const ap_node *tier = ap_node_at(r->root, "queue_settings.job_tier");
    if (ap_node_text(tier))
        ap_set_num(&n->spot, strcasecmp(tier->text, "spot") == 0, tier->pos);
    const ap_node *outputs = ap_node_get(r->root, "outputs");
    if (outputs && outputs->kind == AP_NODE_MAP && outputs->as.map.count > 0)
        ap_set_num(&n->durable_storage, 1, outputs->pos);
    ap_node_take(r, &t->image, ap_node_get(r->root, "environment"));
    ap_node_take(r, &t->scheduler_pool, ap_node_get(r->root, "compute"));
    const ap_node *compute = ap_node_get(r->root, "compute");
    if (ap_foreign_placeholder(ap_node_text(compute)))
        ap_jobreader_find(r, AP_FAULT_PLACEHOLDER_LEFT, compute->pos, "compute is still to be filled in: %s",
                          compute->text);
    ap_env_from_node(r, ap_node_get(r->root, "environment_variables"));
    ap_script_node(r, ap_node_get(r->root, "command"));
    ap_set_text(&t->cloud, "azure", r->root->pos);
}

/* -- Ray cluster files
 * ------------------------------------------------------------------------------------------------------ */

static bool ray_has_gpu(const ap_node *type, double *count)
{
    const ap_node *gpu = ap_node_at(type, "resources.GPU");
    return gpu && ap_foreign_num(ap_node_text(gpu), count) && *count > 0;
}

/* Ray asks the cloud what a type has where the file doesn't say: families with accelerators, by their names. */
static bool ray_instance_has_gpu(const ap_node *type)
{
    static const char *const families[] = {"p2.", "p3", "p4",  "p5",          "p6",          "g4",
                                           "g5",  "g6", "g7",  "trn",         "inf2",        "a2-",
                                           "a3-", "a4", "g2-", "Standard_NC", "Standard_ND", "Standard_NV"};
    static const char *const places[] = {"node_config.InstanceType", "node_config.machineType",
                                         "node_config.azure_arm_parameters.vmSize"};
    if (ap_node_at(type, "resources.GPU") || ap_node_at(type, "resources.CPU"))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *name = ap_node_text(ap_node_at(type, places[i]));
        for (size_t k = 0; name && k < sizeof families / sizeof *families; k++)
            if (ap_starts_with(name, families[k]))
                return true;
    }
    return false;
}

static void read_node_config(ap_jobreader *r, const ap_node *type)
{
    const ap_node *config = ap_node_get(type, "node_config"), *guests = ap_node_get(config, "guestAccelerators");
    ap_node_take(r, &r->facts->t.instance, ap_node_get(config, "InstanceType"));
    ap_node_take(r, &r->facts->t.instance, ap_node_get(config, "machineType"));
    ap_node_take(r, &r->facts->t.instance, ap_node_at(config, "azure_arm_parameters.vmSize"));
    ap_node_take(r, &r->facts->t.tpu_type, ap_node_get(config, "acceleratorType"));
    if (ap_node_get(config, "InstanceMarketOptions"))
        ap_set_num(&r->facts->n.spot, 1, ap_node_get(config, "InstanceMarketOptions")->pos);
    for (size_t i = 0; guests && guests->kind == AP_NODE_LIST && i < guests->as.list.count; i++) {
        const ap_node *guest = guests->as.list.items[i], *name = ap_node_get(guest, "acceleratorType");
        if (ap_node_text(name)) {
            r->facts->chips.provider = "gcp";
            ap_jobfacts_add_chip(r->facts, ap_base_name(name->text), name->pos);
        }
        ap_node_num(&r->facts->n.chips_per_node, ap_node_get(guest, "acceleratorCount"));
    }
}

void ap_read_ray(ap_jobreader *r)
{
    ap_jobnums *n = &r->facts->n;
    const ap_node *types = ap_node_get(r->root, "available_node_types");
    double nodes = 0, standing = 0, count;
    ap_pos pos = {0};
    ap_node_take(r, &r->facts->t.name, ap_node_get(r->root, "cluster_name"));
    const char *cloud = ap_node_text(ap_node_at(r->root, "provider.type"));
    if (cloud && strcmp(cloud, "local") != 0)
        ap_set_text(&r->facts->t.cloud, cloud, ap_node_at(r->root, "provider.type")->pos);
    ap_node_take(r, &r->facts->t.region, ap_node_at(r->root, "provider.region"));
    const char *head = ap_node_text(ap_node_get(r->root, "head_node_type"));
    for (size_t i = 0; types && types->kind == AP_NODE_MAP && i < types->as.map.count; i++) {
        const ap_node *type = types->as.map.pairs[i].value, *least = ap_node_get(type, "min_workers"),
                      *most = ap_node_get(type, "max_workers");
        bool tpu = ap_node_at(type, "node_config.acceleratorType") != NULL,
             is_head = ap_streq(types->as.map.pairs[i].key, head);
        double low = 0, high = 0;
        bool gpu = ray_has_gpu(type, &count);
        if (!gpu && !tpu && !ap_node_at(type, "node_config.guestAccelerators") && !ray_instance_has_gpu(type))
            continue;
        if (gpu)
            ap_node_num(&n->chips_per_node, ap_node_at(type, "resources.GPU"));
        read_node_config(r, type);
        if (!ap_foreign_num(ap_node_text(least), &low))
            low = 0;
        if (!most || !ap_foreign_num(ap_node_text(most), &high)) {
            most = ap_node_get(r->root, "max_workers");
            if (!ap_foreign_num(ap_node_text(most), &high))
                high = low;
        }
        nodes += is_head ? 1 : high;
        standing += low;
        if (low > 0 && pos.line == 0)
            pos = least->pos;
    }
    if (nodes > 0)
        ap_set_num(&n->nodes, nodes, r->root->pos);
    if (standing > 0)
        ap_set_num(&n->stays_up, standing, pos);
    ap_node_num(&n->idle_stop, ap_node_get(r->root, "idle_timeout_minutes"));
}
