/* Where pods may run, and what they mount: node selectors, affinities, labels of clouds, volumes. */
#include <string.h>
#include <strings.h>

#include "jobs/reader.h"

static void take_label(ap_jobreader *r, const char *key, const ap_node *value)
{
    const char *text = ap_node_text(value);
    if (!text || ap_foreign_unknown(text))
        return;
    if (strcmp(key, "cloud.google.com/gke-accelerator") == 0 ||
        strcmp(key, "cloud.google.com/gke-tpu-accelerator") == 0) {
        r->facts->chips.provider = "gke";
        ap_jobfacts_add_chip(r->facts, text, value->pos);
        ap_set_text(&r->facts->t.cloud, "gcp", value->pos);
    } else if (strcmp(key, "cloud.google.com/gke-tpu-topology") == 0) {
        ap_take_text(r, &r->facts->t.topology, text, value->pos);
    } else if (strcmp(key, "node.kubernetes.io/instance-type") == 0 ||
               strcmp(key, "beta.kubernetes.io/instance-type") == 0 ||
               strcmp(key, "cloud.google.com/machine-type") == 0 || strcmp(key, "karpenter.sh/instance-type") == 0) {
        ap_take_text(r, &r->facts->t.instance, text, value->pos);
    } else if (strcmp(key, "nvidia.com/gpu.product") == 0 || strcmp(key, "karpenter.k8s.aws/instance-gpu-name") == 0 ||
               strcmp(key, "gpu.nvidia.com/class") == 0 || strcmp(key, "accelerator") == 0 ||
               strcmp(key, "amd.com/gpu.product-name") == 0) {
        r->facts->chips.provider = "kubernetes";
        ap_jobfacts_add_chip(r->facts, text, value->pos);
    } else if (strcmp(key, "cloud.google.com/gke-spot") == 0 || strcmp(key, "cloud.google.com/gke-preemptible") == 0) {
        ap_take_flag(&r->facts->n.spot, text, value->pos);
    } else if (strcmp(key, "karpenter.sh/capacity-type") == 0 || strcmp(key, "eks.amazonaws.com/capacityType") == 0 ||
               strcmp(key, "kubernetes.azure.com/scalesetpriority") == 0) {
        if (strcasecmp(text, "spot") == 0)
            ap_set_num(&r->facts->n.spot, 1, value->pos);
    } else if (strcmp(key, "topology.kubernetes.io/region") == 0) {
        ap_take_text(r, &r->facts->t.region, text, value->pos);
    } else if (strcmp(key, "topology.kubernetes.io/zone") == 0) {
        ap_take_text(r, &r->facts->t.zone, text, value->pos);
    }
}

static void take_affinity(ap_jobreader *r, const ap_node *spec)
{
    const ap_node *terms =
        ap_node_at(spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    for (size_t i = 0; terms && terms->kind == AP_NODE_LIST && i < terms->as.list.count; i++) {
        const ap_node *rules = ap_node_get(terms->as.list.items[i], "matchExpressions");
        for (size_t j = 0; rules && rules->kind == AP_NODE_LIST && j < rules->as.list.count; j++) {
            const ap_node *rule = rules->as.list.items[j], *values = ap_node_get(rule, "values");
            const char *key = ap_node_text(ap_node_get(rule, "key")),
                       *operator= ap_node_text(ap_node_get(rule, "operator"));
            if (!key || (operator&& strcmp(operator, "In") != 0))
                continue;
            for (size_t v = 0; values && values->kind == AP_NODE_LIST && v < values->as.list.count; v++)
                take_label(r, key, values->as.list.items[v]);
        }
    }
}

void ap_k8s_take_placement(ap_jobreader *r, const ap_node *spec)
{
    const ap_node *selector = ap_node_get(spec, "nodeSelector");
    for (size_t i = 0; selector && selector->kind == AP_NODE_MAP && i < selector->as.map.count; i++)
        take_label(r, selector->as.map.pairs[i].key, selector->as.map.pairs[i].value);
    take_affinity(r, spec);
    const ap_node *tolerations = ap_node_get(spec, "tolerations");
    for (size_t i = 0; tolerations && tolerations->kind == AP_NODE_LIST && i < tolerations->as.list.count; i++) {
        const ap_node *item = tolerations->as.list.items[i];
        const char *key = ap_node_text(ap_node_get(item, "key"));
        if (key && strcmp(key, "cloud.google.com/gke-spot") == 0 && ap_node_get(selector, "cloud.google.com/gke-spot"))
            ap_set_num(&r->facts->n.spot, 1, item->pos);
    }
}

void ap_k8s_take_volumes(ap_jobreader *r, const ap_node *spec)
{
    static const char *const lasting[] = {"persistentVolumeClaim", "hostPath",         "csi", "nfs", "ephemeral",
                                          "awsElasticBlockStore",  "gcePersistentDisk"};
    const ap_node *volumes = ap_node_get(spec, "volumes");
    ap_jobnums *n = &r->facts->n;
    for (size_t i = 0; volumes && volumes->kind == AP_NODE_LIST && i < volumes->as.list.count; i++) {
        const ap_node *volume = volumes->as.list.items[i], *empty = ap_node_get(volume, "emptyDir");
        if (empty && ap_streq(ap_node_text(ap_node_get(empty, "medium")), "Memory")) {
            ap_node_with(&n->shm_bytes, ap_foreign_bytes, ap_node_get(empty, "sizeLimit"));
            ap_set_num(&n->shm_bytes, HUGE_VAL, volume->pos);
        }
        for (size_t j = 0; j < sizeof lasting / sizeof *lasting; j++)
            if (ap_node_get(volume, lasting[j])) {
                ap_set_num(&n->data_volume, 1, volume->pos);
                if (j == 0 || j == 2 || j == 3)
                    ap_set_num(&n->durable_storage, 1, volume->pos);
            }
    }
}
