/* k8s: a Job on one machine, a JobSet on several; a PyTorchJob where the user asks for one. */
#include <string.h>

#include "base/num.h"
#include "emit/internal.h"

static const char *resource_name(const ap_emit_plan *p)
{
    if (p->nvidia)
        return "nvidia.com/gpu";
    if (p->amd)
        return "amd.com/gpu";
    if (p->tpu)
        return "google.com/tpu";
    if (p->gaudi)
        return "habana.ai/gaudi";
    if (p->neuron)
        return "aws.amazon.com/neuron";
    return p->gpu ? "gpu.intel.com/xe" : NULL;
}

static void select_node(ap_emit_plan *p, const char *key, const char *value, const char *why)
{
    ap_scope *item = ap_scope_item(p->scope, "selectors");
    ap_scope_text(item, "key", key);
    ap_scope_text(item, "value", value);
    ap_emit_why(p, key, "%s", why);
}

static const char *gke_label(const ap_emit_plan *p)
{
    /* Two machine families with the same card have labels of their own. */
    if (ap_streq(p->instance, "a3-megagpu-8g"))
        return "nvidia-h100-mega-80gb";
    if (ap_streq(p->instance, "a3-highgpu-8g"))
        return "nvidia-h100-80gb";
    return ap_emit_spelling(p->request->search->catalog, "gke", "gke-accelerator", p->chip_info);
}

/* Labels are the names that the driver gives, with blanks replaced. */
static const char *device_label(const ap_emit_plan *p, const char *provider, const char *where, char blank)
{
    const char *name = ap_emit_spelling(p->request->search->catalog, provider, where, p->chip_info);
    char *label = name ? ap_arena_strdup(p->arena, name) : NULL;
    for (char *c = label; c && *c; c++)
        *c = *c == ' ' ? blank : *c;
    return label;
}

static void select_nodes(ap_emit_plan *p)
{
    const ap_catalog *catalog = p->request->search->catalog;
    ap_scope_list(p->scope, "selectors");
    const char *gke = p->gcp && p->gpu ? gke_label(p) : NULL;
    const char *product =
        p->nvidia && !p->instance ? ap_emit_spelling(catalog, "kubernetes", "gpu.product", p->chip_info) : NULL;
    const char *amd = p->amd && !p->instance ? device_label(p, "torch (ROCm)", NULL, '_') : NULL;
    if (!product && p->nvidia && !p->instance)
        product = device_label(p, "nvidia-smi/torch", NULL, '-');
    if (gke)
        select_node(p, "cloud.google.com/gke-accelerator", gke, "GKE's label for the card");
    if (p->instance && !p->tpu)
        select_node(p, "node.kubernetes.io/instance-type", p->machine_type, "the machine that is estimated and priced");
    if (p->region)
        select_node(p, "topology.kubernetes.io/region", p->region, "the price is of this region");
    if (product)
        select_node(p, "nvidia.com/gpu.product", product,
                    "keeps the job off other cards (label of GPU feature discovery)");
    if (amd)
        select_node(p, "amd.com/gpu.product-name", amd, "keeps the job off other cards (label of AMD's node labeller)");
}

static void tolerate(ap_emit_plan *p, const char *key, const char *why)
{
    ap_scope_text(ap_scope_item(p->scope, "tolerations"), "key", key);
    ap_emit_why(p, key, "%s", why);
}

static void tolerate_taints(ap_emit_plan *p, const char *resource)
{
    ap_scope_list(p->scope, "tolerations");
    if (resource)
        tolerate(p, resource, "nodes with cards are tainted");
    if (p->spot && p->gcp) {
        select_node(p, "cloud.google.com/gke-spot", "true", "the price is of spot machines");
        tolerate(p, "cloud.google.com/gke-spot", "spot nodes are tainted");
    } else if (p->spot && p->aws) {
        select_node(p, "karpenter.sh/capacity-type", "spot", "the price is of spot machines");
        tolerate(p, "karpenter.sh/capacity-type", "spot nodes may be tainted");
    } else if (p->spot && p->azure) {
        select_node(p, "kubernetes.azure.com/scalesetpriority", "spot", "the price is of spot machines");
        tolerate(p, "kubernetes.azure.com/scalesetpriority", "spot nodes are tainted");
    }
}

static void add_fabric_resource(ap_emit_plan *p)
{
    const char *name = NULL;
    if (p->multi_node && ap_streq(p->fabric, "efa"))
        name = "vpc.amazonaws.com/efa";
    else if (p->multi_node && ap_streq(p->fabric, "infiniband"))
        name = "rdma/ib";
    ap_scope_text(p->scope, "fabric_resource", name);
    ap_scope_number(p->scope, "fabric_count", name ? fmax(1, ap_or(p->nics, 1)) : AP_UNKNOWN);
    if (name)
        ap_emit_why(p, name, "without it the machines talk over plain Ethernet");
}

static void explain(ap_emit_plan *p)
{
    ap_emit_why(p, "activeDeadlineSeconds", "the bill guard: restarts included, Kubernetes ends the job then");
    ap_emit_why(p, "backoffLimit", "a fault that comes back must not be paid for again and again");
    ap_emit_why(p, "ttlSecondsAfterFinished",
                "finished pods are cleared away, so an autoscaler can take the nodes back");
    ap_emit_why(p, "/dev/shm", "loaders hand batches over in shared memory; the default of 64 MiB crashes them");
    ap_emit_why(p, "terminationGracePeriodSeconds", "time to save when the pod is stopped");
}

/* ---- networks of Google's GPU machines ----------------------------------------------------------------------------
 */

static void annotate(ap_emit_plan *p, const char *key, const char *value)
{
    ap_scope *item = ap_scope_item(p->scope, "annotations");
    ap_scope_text(item, "key", key);
    ap_scope_text(item, "value", value);
}

/* Each card of the machine is an interface of the pod; the networks' names are those of Google's own guides. */
static void annotate_interfaces(ap_emit_plan *p, int cards, bool rdma)
{
    ap_sbuf list;
    ap_sbuf_init(&list, p->arena);
    ap_sbuf_add(&list, "[{\"interfaceName\":\"eth0\",\"network\":\"default\"}");
    for (int i = 1; i <= cards; i++) {
        ap_sbuf_printf(&list, ",{\"interfaceName\":\"eth%d\",\"network\":\"", i);
        if (!rdma)
            ap_sbuf_printf(&list, "vpc%d\"}", i);
        else if (i == 1)
            ap_sbuf_add(&list, "gvnic-1\"}");
        else
            ap_sbuf_printf(&list, "rdma-%d\"}", i - 2);
    }
    ap_sbuf_add_char(&list, ']');
    annotate(p, "networking.gke.io/default-interface", "eth0");
    annotate(p, "networking.gke.io/interfaces", list.text);
    ap_emit_why(p, "networking.gke.io/interfaces",
                "gives the pod the machine's fast cards; your cluster may call the networks otherwise");
}

static void annotate_devices(ap_emit_plan *p)
{
    ap_sbuf list;
    ap_sbuf_init(&list, p->arena);
    for (int i = 0; i < (int)p->chips_per_node; i++)
        ap_sbuf_printf(&list, "- path: /dev/nvidia%d\n", i);
    ap_sbuf_add(&list, "- path: /dev/nvidiactl\n- path: /dev/nvidia-uvm\n- path: /dev/dmabuf_import_helper\n");
    annotate(p, "devices.gke.io/container.tcpxo-daemon", list.text);
}

static void add_google_network(ap_emit_plan *p)
{
    bool here = p->gcp && p->gpu && p->multi_node;
    bool tcpx = here && ap_streq(p->fabric, "gpudirect-tcpx"), tcpxo = here && ap_streq(p->fabric, "gpudirect-tcpxo");
    bool gib = here && ap_streq(p->fabric, "roce");
    ap_scope_flag(p->scope, "gke_tcpx", tcpx);
    ap_scope_flag(p->scope, "gke_tcpxo", tcpxo);
    ap_scope_flag(p->scope, "gke_gib", gib);
    ap_scope_flag(p->scope, "gke_daemon", tcpx || tcpxo);
    ap_scope_flag(p->scope, "gke_network", tcpx || tcpxo || gib);
    if (tcpx || tcpxo || gib)
        annotate_interfaces(p, tcpx ? 4 : tcpxo ? 8 : 9, gib);
    if (tcpxo)
        annotate_devices(p);
    if (tcpx || tcpxo)
        ap_emit_why(p, "initContainers",
                    "the daemon that moves the cards' memory over the network; it ends with the pod");
}

/* The pod is the same in every controller: rendered once, put in at its place. */
ap_status ap_emit_pod(ap_emit_plan *p)
{
    ap_strings lines;
    const char *bucket = p->settings->bucket;
    const char *gcs =
        p->gcp && !p->settings->pvc && bucket && ap_starts_with(bucket, "gs://") ? bucket + strlen("gs://") : NULL;
    ap_scope_list(p->scope, "annotations");
    add_google_network(p);
    if (gcs) {
        annotate(p, "gke-gcsfuse/volumes", "true");
        size_t name = strcspn(gcs, "/");
        ap_scope_text(p->scope, "gcs_bucket", ap_arena_strndup(p->arena, gcs, name));
        ap_scope_text(p->scope, "gcs_folder",
                      gcs[name] && gcs[name + 1] ? ap_arena_printf(p->arena, "only-dir=%s", gcs + name + 1) : NULL);
        ap_emit_why(p, "gcsfuse",
                    "the bucket keeps the checkpoints; the service account must be allowed to write to it");
    } else {
        ap_scope_text(p->scope, "gcs_bucket", NULL);
        ap_scope_text(p->scope, "gcs_folder", NULL);
    }
    ap_scope_flag(p->scope, "no_pvc", !p->settings->pvc && !gcs);
    if ((p->spot || p->multi_node) && !p->settings->pvc && !gcs)
        ap_diag_add(p->diags, AP_WARNING, 812, AP_NO_POS,
                    p->spot ? "%s: checkpoints die with a spot machine"
                            : "%s: each pod keeps its checkpoints to itself",
                    p->target)
            ->hint = "name emit.pvc, a claim that all pods mount; on Google Cloud emit.bucket does too";
    ap_status status = ap_emit_render_lines(p, "k8s-pod", AP_LANG_YAML, &lines);
    ap_scope_list(p->scope, "pod");
    for (size_t i = 0; i < lines.count; i++)
        ap_scope_raw(ap_scope_item(p->scope, "pod"), "line", lines.items[i]);
    return status;
}

void ap_emit_use_controller(ap_emit_plan *p, int controller)
{
    ap_scope_flag(p->scope, "as_job", controller == AP_CONTROLLER_JOB);
    ap_scope_flag(p->scope, "as_jobset", controller == AP_CONTROLLER_JOBSET);
    ap_scope_flag(p->scope, "as_pytorchjob", controller == AP_CONTROLLER_PYTORCHJOB);
    /* A JobSet restarts all of its pods together; a pod alone must not restart by itself. */
    ap_scope_raw(p->scope, "restart_policy", controller == AP_CONTROLLER_PYTORCHJOB ? "OnFailure" : "Never");
    ap_scope_raw(p->scope, "container_name", controller == AP_CONTROLLER_PYTORCHJOB ? "pytorch" : "train");
    ap_scope_text(p->scope, "master_host", ap_arena_printf(p->arena, "%s-workers-0-0.%s", p->name, p->name));
    ap_scope_number(p->scope, "workers", p->nodes - 1);
    ap_scope_number(p->scope, "cpu_request", fmax(1, floor(p->cpus_per_node * 0.9)));
    ap_scope_number(p->scope, "memory_request", fmax(1, floor(p->memory_gib * 0.9)));
    ap_scope_flag(p->scope, "rendezvous", p->multi_node && !p->tpu);
}

ap_status ap_emit_k8s(ap_emit_plan *p)
{
    int controller = p->settings->controller >= 0 ? p->settings->controller
                     : p->multi_node              ? AP_CONTROLLER_JOBSET
                                                  : AP_CONTROLLER_JOB;
    const char *resource = resource_name(p);
    if (p->tpu) {
        ap_diag_add(p->diags, AP_ERROR, 807, AP_NO_POS, "'k8s' is not for TPU slices")->hint = "write emit gke-tpu";
        return AP_USAGE;
    }
    if (controller == AP_CONTROLLER_JOB && p->multi_node) {
        ap_diag_add(p->diags, AP_ERROR, 809, AP_NO_POS,
                    "emit.controller: a job has no network name for its pods, and %.0f machines need one", p->nodes)
            ->hint = "jobset or pytorchjob";
        return AP_BAD_DATA;
    }
    ap_emit_use_controller(p, controller);
    ap_scope_number(p->scope, "job_replicas", 1);
    ap_scope_number(p->scope, "job_pods", p->nodes);
    ap_scope_text(p->scope, "resource", resource);
    ap_scope_flag(p->scope, "several_slices", false);
    ap_scope_flag(p->scope, "tpu_ports", false);
    select_nodes(p);
    tolerate_taints(p, resource);
    add_fabric_resource(p);
    explain(p);
    return ap_emit_pod(p);
}

/* ---- TPU slices on GKE ------------------------------------------------------------------------------------------- */

/* Names ending in -slice or -podslice are of slices; tpu-v5-lite-device is of single hosts only. */
static const char *tpu_label(const ap_catalog *catalog, const ap_chip *chip)
{
    const char *found = NULL;
    for (size_t i = 0; i < catalog->names.count; i++) {
        const ap_name *name = &catalog->names.items[i];
        if (!ap_streq(name->provider, "gke") || !ap_streq(name->chip, chip->id))
            continue;
        if (!found || ap_ends_with(name->name, "slice"))
            found = name->name;
    }
    return found;
}

ap_status ap_emit_gke_tpu(ap_emit_plan *p)
{
    const char *label = p->tpu ? tpu_label(p->request->search->catalog, p->chip_info) : NULL;
    if (!p->tpu || !label || !p->topology) {
        ap_diag_add(p->diags, AP_ERROR, 807, AP_NO_POS, "'gke-tpu' is for slices of TPUs that GKE offers, not for %s",
                    p->target)
            ->hint = p->tpu ? "name a slice: --on gcp/v5litepod-16" : "write emit k8s";
        return AP_USAGE;
    }
    ap_emit_use_controller(p, AP_CONTROLLER_JOBSET);
    ap_scope_number(p->scope, "job_replicas", p->machines);
    ap_scope_number(p->scope, "job_pods", p->nodes / p->machines);
    ap_scope_flag(p->scope, "several_slices", p->machines > 1);
    ap_scope_text(p->scope, "resource", "google.com/tpu");
    ap_scope_text(p->scope, "fabric_resource", NULL);
    ap_scope_number(p->scope, "fabric_count", AP_UNKNOWN);
    ap_scope_list(p->scope, "selectors");
    ap_scope_flag(p->scope, "tpu_ports", true);
    select_node(p, "cloud.google.com/gke-tpu-accelerator", label, "GKE's label for the TPU generation");
    select_node(p, "cloud.google.com/gke-tpu-topology", p->topology, "the slice; its product is pods x chips a pod");
    tolerate_taints(p, "google.com/tpu");
    explain(p);
    ap_emit_why(p, "parallelism", "one pod on each host of the slice");
    if (p->machines > 1)
        ap_emit_why(p, "exclusive-topology", "each slice gets a node pool of its own");
    return ap_emit_pod(p);
}
