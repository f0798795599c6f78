/* Environment variables that say something about a job. */
#include <string.h>
#include <strings.h>

#include "jobs/reader.h"

static double count_devices(const char *value)
{
    double count = *value ? 1 : 0;
    if (ap_foreign_unknown(value) || strcasecmp(value, "all") == 0)
        return AP_UNKNOWN;
    for (const char *p = value; *p; p++)
        count += *p == ',';
    return count;
}

void ap_env_take(ap_jobreader *reader, ap_jobfacts *facts, const char *name, const char *value, ap_pos pos)
{
    ap_jobnums *n = &facts->n;
    if (strcmp(name, "NCCL_P2P_DISABLE") == 0)
        ap_take_flag(&n->p2p_off, value, pos);
    else if (strcmp(name, "NCCL_IB_DISABLE") == 0)
        ap_take_flag(&n->ib_off, value, pos);
    else if (strcmp(name, "CUDA_LAUNCH_BLOCKING") == 0 || strcmp(name, "HIP_LAUNCH_BLOCKING") == 0)
        ap_take_flag(&n->launch_blocking, value, pos);
    else if (strcmp(name, "NCCL_NET") == 0)
        ap_set_num(&n->socket_only, strcasecmp(value, "Socket") == 0, pos);
    else if (strcmp(name, "NCCL_SHM_DISABLE") == 0 && ap_foreign_bool(value) == 1)
        ap_set_num(&n->p2p_off, 1, pos);
    else if (strcmp(name, "CUDA_VISIBLE_DEVICES") == 0 || strcmp(name, "HIP_VISIBLE_DEVICES") == 0 ||
             strcmp(name, "ROCR_VISIBLE_DEVICES") == 0)
        ap_set_num(&n->visible_devices, count_devices(value), pos);
    else if (strcmp(name, "NCCL_IB_HCA") == 0 || strcmp(name, "FI_PROVIDER") == 0)
        ap_set_num(&n->fast_network, 1, pos);
    else if (strcmp(name, "ACCELERATE_MIXED_PRECISION") == 0)
        ap_take_text(reader, &facts->t.mixed_precision, value, pos);
    else if (strcmp(name, "MASTER_ADDR") == 0)
        ap_set_num(&n->rendezvous, 1, pos);
}

/* Commands of the file see the variable. */
static void remember(ap_jobreader *reader, const char *name, const char *value)
{
    if (!ap_foreign_unknown(value))
        *AP_PUSH(reader->arena, reader->env.items, reader->env.count, reader->env_capacity) =
            (ap_text_pair){name, value};
}

void ap_env_pair(ap_jobreader *reader, const char *text, ap_pos pos)
{
    const char *equals = text ? strchr(text, '=') : NULL;
    if (equals)
        ap_env_take(reader, reader->facts, ap_arena_strndup(reader->arena, text, (size_t)(equals - text)), equals + 1,
                    pos);
}

void ap_env_from_node(ap_jobreader *reader, const ap_node *node)
{
    if (!node || node->kind == AP_NODE_SCALAR)
        return;
    bool map = node->kind == AP_NODE_MAP;
    size_t count = map ? node->as.map.count : node->as.list.count;
    for (size_t i = 0; i < count; i++) {
        const ap_node *item = map ? NULL : node->as.list.items[i];
        const char *name = map ? node->as.map.pairs[i].key : ap_node_text(ap_node_get(item, "name"));
        const char *value = ap_node_words(reader, map ? node->as.map.pairs[i].value : ap_node_get(item, "value"));
        const char *pair = ap_node_text(item), *equals = pair ? strchr(pair, '=') : NULL;
        if (equals) {
            name = ap_arena_strndup(reader->arena, pair, (size_t)(equals - pair));
            value = equals + 1;
        }
        if (!name || !value)
            continue;
        ap_env_take(reader, reader->facts, name, value, map ? node->as.map.pairs[i].key_pos : item->pos);
        remember(reader, name, value);
    }
}
