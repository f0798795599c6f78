/* Task files of orchestrators: SkyPilot, dstack, Determined. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "jobs/reader.h"

/* -- SkyPilot ---------------------------------------------------------------------------------------------------------
 */

static void take_accelerator(ap_jobreader *r, const char *text, const ap_node *count, ap_pos pos)
{
    if (ap_foreign_unknown(text)) {
        ap_set_num(&r->facts->n.chips_per_node, AP_UNKNOWN, pos);
        return;
    }
    const char *colon = strchr(text, ':');
    double value = 1;
    const char *name = ap_arena_strndup(r->arena, text, colon ? (size_t)(colon - text) : strlen(text)),
               *dash = strrchr(name, '-');
    if (ap_starts_with(name, "tpu-v") && dash > name + 4 && isdigit((unsigned char)dash[1])) {
        /* A slice by its accelerator type; its count is that of slices. */
        ap_take_text(r, &r->facts->t.tpu_type, name, pos);
        return;
    }
    const char *number = count && !ap_node_is_null(count) ? ap_node_text(count) : colon ? colon + 1 : NULL;
    if (number && !ap_foreign_num(number, &value))
        value = AP_UNKNOWN;
    ap_jobfacts_add_chip(r->facts, ap_arena_strndup(r->arena, text, colon ? (size_t)(colon - text) : strlen(text)),
                         pos);
    ap_set_num(&r->facts->n.chips_per_node, value, pos);
}

static void take_accelerators(ap_jobreader *r, const ap_node *node)
{
    if (!node || ap_node_is_null(node))
        return;
    r->facts->chips.provider = "skypilot";
    if (node->kind == AP_NODE_SCALAR)
        take_accelerator(r, ap_node_words(r, node), NULL, node->pos);
    for (size_t i = 0; node->kind == AP_NODE_LIST && i < node->as.list.count; i++)
        if (ap_node_text(node->as.list.items[i]))
            take_accelerator(r, node->as.list.items[i]->text, NULL, node->as.list.items[i]->pos);
    for (size_t i = 0; node->kind == AP_NODE_MAP && i < node->as.map.count; i++)
        take_accelerator(r, node->as.map.pairs[i].key, node->as.map.pairs[i].value, node->as.map.pairs[i].key_pos);
}

static void take_infra(ap_jobreader *r, const ap_node *node)
{
    const char *text = ap_node_text(node);
    if (!text || ap_foreign_unknown(text) || ap_starts_with(text, "k8s") || ap_starts_with(text, "kubernetes") ||
        ap_starts_with(text, "ssh"))
        return;
    size_t cloud = strcspn(text, "/");
    ap_take_text(r, &r->facts->t.cloud, ap_arena_strndup(r->arena, text, cloud), node->pos);
    if (!text[cloud])
        return;
    const char *region = text + cloud + 1;
    size_t len = strcspn(region, "/");
    if (len > 0 && *region != '*')
        ap_take_text(r, &r->facts->t.region, ap_arena_strndup(r->arena, region, len), node->pos);
}

static void take_resources(ap_jobreader *r, const ap_node *res)
{
    ap_jobnums *n = &r->facts->n;
    ap_jobtexts *t = &r->facts->t;
    take_accelerators(r, ap_node_get(res, "accelerators"));
    take_infra(r, ap_node_get(res, "infra"));
    ap_node_take(r, &t->cloud, ap_node_get(res, "cloud"));
    ap_node_take(r, &t->region, ap_node_get(res, "region"));
    ap_node_take(r, &t->zone, ap_node_get(res, "zone"));
    ap_node_take(r, &t->instance, ap_node_get(res, "instance_type"));
    ap_node_with(&n->cpus_per_node, ap_foreign_cpus, ap_node_get(res, "cpus"));
    ap_node_with(&n->memory_bytes, ap_foreign_bytes_gib, ap_node_get(res, "memory"));
    ap_node_with(&n->disk_bytes, ap_foreign_bytes_gib, ap_node_get(res, "disk_size"));
    ap_node_flag(&n->spot, ap_node_get(res, "use_spot"));
    ap_node_take(r, &t->image, ap_node_get(res, "image_id"));
    const ap_node *network = ap_node_get(res, "network_tier");
    if (ap_streq(ap_node_text(network), "best"))
        ap_set_num(&n->fast_network, 1, network->pos);
    const ap_node *stop = ap_node_get(res, "autostop");
    if (stop)
        ap_set_num(&n->idle_stop, 1, stop->pos);
    const char *const lists[] = {"any_of", "ordered"};
    for (size_t k = 0; k < 2; k++) {
        const ap_node *list = ap_node_get(res, lists[k]);
        for (size_t i = 0; list && list->kind == AP_NODE_LIST && i < list->as.list.count; i++) {
            const ap_node *item = list->as.list.items[i];
            take_accelerators(r, ap_node_get(item, "accelerators"));
            if (list->as.list.count == 1)
                take_resources(r, item);
        }
    }
}

/* A mounted bucket outlives the machine; checkpoints written below it do too. */
static void take_mounts(ap_jobreader *r, const ap_node *mounts)
{
    for (size_t i = 0; mounts && mounts->kind == AP_NODE_MAP && i < mounts->as.map.count; i++) {
        const ap_node *value = mounts->as.map.pairs[i].value;
        const char *mode = ap_node_text(ap_node_get(value, "mode"));
        if (value->kind == AP_NODE_MAP && (!mode || strncasecmp(mode, "MOUNT", 5) == 0))
            ap_set_num(&r->facts->n.durable_storage, 1, mounts->as.map.pairs[i].key_pos);
    }
}

void ap_read_skypilot(ap_jobreader *r)
{
    ap_jobnums *n = &r->facts->n;
    ap_node_take(r, &r->facts->t.name, ap_node_get(r->root, "name"));
    ap_node_num(&n->nodes, ap_node_get(r->root, "num_nodes"));
    take_resources(r, ap_node_get(r->root, "resources"));
    if (!ap_node_get(r->root, "num_nodes") && !r->facts->t.tpu_type.value)
        ap_set_num(&n->nodes, 1, r->root->pos);
    take_mounts(r, ap_node_get(r->root, "file_mounts"));
    const ap_node *volumes = ap_node_get(r->root, "volumes");
    if (volumes && volumes->kind == AP_NODE_MAP && volumes->as.map.count > 0)
        ap_set_num(&n->durable_storage, 1, volumes->pos);
    ap_env_from_node(r, ap_node_get(r->root, "envs"));
    ap_script_node(r, ap_node_get(r->root, "run"));
}

/* -- dstack
 * --------------------------------------------------------------------------------------------------------------- */

static bool memory_range(const char *text, double *low, double *high)
{
    const char *dots = strstr(text, "..");
    char first[32];
    *low = *high = AP_UNKNOWN;
    if (!ap_contains_nocase(text, "GB"))
        return false;
    if (!dots) {
        bool ok = ap_foreign_bytes_gib(text, low);
        *high = *low;
        return ok;
    }
    size_t len = (size_t)(dots - text) < sizeof first - 1 ? (size_t)(dots - text) : sizeof first - 1;
    memcpy(first, text, len);
    first[len] = 0;
    bool any = ap_foreign_bytes_gib(first, low);
    return ap_foreign_bytes_gib(dots + 2, high) || any;
}

static bool count_range(const char *text, double *ret)
{
    const char *end;
    double most;
    if (!isdigit((unsigned char)*text) || !ap_num_parse_prefix(text, ret, &end))
        return false;
    if (ap_starts_with(end, "..")) {
        if (ap_foreign_num(end + 2, &most) && most > *ret)
            *ret = AP_UNKNOWN; /* any number between */
        return true;
    }
    return *end == 0;
}

static void take_gpu_token(ap_jobreader *r, const char *token, ap_pos pos)
{
    double low, high;
    if (!*token)
        return;
    if (memory_range(token, &low, &high)) {
        ap_set_num(&r->facts->n.chip_memory_low_bytes, low, pos);
        ap_set_num(&r->facts->n.chip_memory_high_bytes, high, pos);
    } else if (count_range(token, &low)) {
        ap_set_num(&r->facts->n.chips_per_node, low, pos);
    } else if (strcasecmp(token, "nvidia") != 0 && strcasecmp(token, "amd") != 0 && strcasecmp(token, "google") != 0 &&
               strcasecmp(token, "tpu") != 0) {
        const char *start = token;
        for (size_t len; *start; start += len + (start[len] == ',')) {
            len = strcspn(start, ",");
            if (len > 0)
                ap_jobfacts_add_chip(r->facts, ap_arena_strndup(r->arena, start, len), pos);
        }
    }
}

static void take_gpu(ap_jobreader *r, const ap_node *gpu)
{
    r->facts->chips.provider = "gpuhunt";
    if (gpu->kind == AP_NODE_MAP) {
        const ap_node *name = ap_node_get(gpu, "name"), *memory = ap_node_get(gpu, "memory"),
                      *count = ap_node_get(gpu, "count");
        for (size_t i = 0; name && name->kind == AP_NODE_LIST && i < name->as.list.count; i++)
            if (ap_node_text(name->as.list.items[i]))
                ap_jobfacts_add_chip(r->facts, name->as.list.items[i]->text, name->as.list.items[i]->pos);
        if (ap_node_text(name))
            take_gpu_token(r, name->text, name->pos);
        if (ap_node_text(memory))
            take_gpu_token(r, memory->text, memory->pos);
        if (ap_node_text(count))
            take_gpu_token(r, count->text, count->pos);
    } else if (ap_node_text(gpu)) {
        const char *text = gpu->text;
        for (size_t len; *text; text += len + (text[len] == ':')) {
            len = strcspn(text, ":");
            take_gpu_token(r, ap_arena_strndup(r->arena, text, len), gpu->pos);
        }
    }
    if (!ap_jnum_stated(&r->facts->n.chips_per_node))
        ap_set_num(&r->facts->n.chips_per_node, 1, gpu->pos);
}

static const ap_node *only_item(const ap_node *list)
{
    if (list && list->kind == AP_NODE_SCALAR)
        return list;
    return list && list->kind == AP_NODE_LIST && list->as.list.count == 1 ? list->as.list.items[0] : NULL;
}

static void first_number(ap_jnum *fact, ap_foreign_parser parse, const ap_node *node)
{
    const char *text = ap_node_text(node);
    char buf[32];
    if (!text)
        return;
    const char *dots = strstr(text, "..");
    size_t len = dots ? (size_t)(dots - text) : strlen(text);
    if (len == 0 || len >= sizeof buf)
        return;
    memcpy(buf, text, len);
    buf[len] = 0;
    ap_take_with(fact, parse, buf, node->pos);
}

void ap_read_dstack(ap_jobreader *r)
{
    ap_jobnums *n = &r->facts->n;
    ap_jobtexts *t = &r->facts->t;
    const ap_node *res = ap_node_get(r->root, "resources"), *gpu = ap_node_get(res, "gpu"),
                  *policy = ap_node_get(r->root, "spot_policy");
    ap_node_take(r, &t->name, ap_node_get(r->root, "name"));
    ap_node_num(&n->nodes, ap_node_get(r->root, "nodes"));
    if (!ap_node_get(r->root, "nodes"))
        ap_set_num(&n->nodes, 1, r->root->pos);
    if (gpu && !ap_node_is_null(gpu))
        take_gpu(r, gpu);
    first_number(&n->cpus_per_node, ap_foreign_cpus, ap_node_get(res, "cpu"));
    first_number(&n->memory_bytes, ap_foreign_bytes_gib, ap_node_get(res, "memory"));
    ap_node_with(&n->shm_bytes, ap_foreign_bytes_gib, ap_node_get(res, "shm_size"));
    first_number(&n->disk_bytes, ap_foreign_bytes_gib, ap_node_get(res, "disk"));
    ap_node_take(r, &t->image, ap_node_get(r->root, "image"));
    ap_node_take(r, &t->cloud, only_item(ap_node_get(r->root, "backends")));
    ap_node_take(r, &t->region, only_item(ap_node_get(r->root, "regions")));
    ap_node_take(r, &t->instance, only_item(ap_node_get(r->root, "instance_types")));
    ap_node_num(&n->usd_per_h_limit, ap_node_get(r->root, "max_price"));
    const ap_node *limit = ap_node_get(r->root, "max_duration");
    if (ap_streq(ap_node_text(limit), "off"))
        ap_set_num(&n->forever, 1, limit->pos);
    else
        ap_node_with(&n->time_limit_s, ap_foreign_seconds, limit);
    if (policy && !ap_streq(ap_node_text(policy), "auto"))
        ap_set_num(&n->spot, ap_streq(ap_node_text(policy), "spot"), policy->pos);
    const ap_node *volumes = ap_node_get(r->root, "volumes");
    if (volumes && volumes->kind == AP_NODE_LIST && volumes->as.list.count > 0)
        ap_set_num(&n->durable_storage, 1, volumes->pos);
    ap_env_from_node(r, ap_node_get(r->root, "env"));
    const ap_node *commands = ap_node_get(r->root, "commands");
    for (size_t i = 0; commands && commands->kind == AP_NODE_LIST && i < commands->as.list.count; i++)
        ap_script_node(r, commands->as.list.items[i]);
}

/* -- Determined -------------------------------------------------------------------------------------------------------
 */

static const ap_node *constant_of(const ap_node *node)
{
    if (node && node->kind == AP_NODE_MAP && ap_node_get(node, "val"))
        return ap_node_get(node, "val");
    return node && node->kind == AP_NODE_SCALAR ? node : NULL;
}

void ap_read_determined(ap_jobreader *r)
{
    ap_jobnums *n = &r->facts->n;
    const ap_node *slots = ap_node_at(r->root, "resources.slots_per_trial"),
                  *searcher = ap_node_get(r->root, "searcher");
    double value;
    ap_node_take(r, &r->facts->t.name, ap_node_get(r->root, "name"));
    ap_node_take(r, &r->facts->t.scheduler_pool, ap_node_at(r->root, "resources.resource_pool"));
    if (slots && ap_foreign_num(ap_node_text(slots), &value)) {
        double nodes = ceil(value / 8);
        ap_set_num(&n->nodes, nodes, slots->pos);
        ap_set_num(&n->chips_per_node, value / nodes, slots->pos);
    }
    ap_node_with(&n->shm_bytes, ap_foreign_bytes_gib, ap_node_at(r->root, "resources.shm_size"));
    ap_node_num(&n->restarts, ap_node_get(r->root, "max_restarts"));
    const ap_node *params = ap_node_get(r->root, "hyperparameters");
    for (size_t i = 0; params && params->kind == AP_NODE_MAP && i < params->as.map.count; i++) {
        const ap_node *constant = constant_of(params->as.map.pairs[i].value);
        if (constant)
            ap_arg_take(r, r->facts, params->as.map.pairs[i].key, ap_node_text(constant), constant->pos);
    }
    ap_node_num(&n->steps, ap_node_at(searcher, "max_length.batches"));
    ap_node_num(&n->epochs, ap_node_at(searcher, "max_length.epochs"));
    ap_node_num(&n->train_samples, ap_node_at(searcher, "max_length.records"));
    ap_node_num(&n->steps, ap_node_at(searcher, "max_time"));
    ap_node_take(r, &r->facts->t.searcher, ap_node_get(searcher, "name"));
    ap_node_num(&n->trials, ap_node_get(searcher, "max_trials"));
    ap_env_from_node(r, ap_node_at(r->root, "environment.environment_variables"));
    ap_script_node(r, ap_node_get(r->root, "entrypoint"));
}
