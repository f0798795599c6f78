/* docker: a shell script around `docker run`, on a machine that is already there. */
#include "emit/internal.h"

/* "0,1,2" */
static const char *device_list(ap_emit_plan *p)
{
    ap_sbuf list;
    ap_sbuf_init(&list, p->arena);
    ap_scope_list(p->scope, "neuron_devices");
    for (int i = 0; i < (int)p->chips_per_node; i++) {
        ap_sbuf_printf(&list, "%s%d", i ? "," : "", i);
        ap_scope_number(ap_scope_item(p->scope, "neuron_devices"), "number", i);
    }
    return list.text ? list.text : "0";
}

void ap_emit_docker_values(ap_emit_plan *p)
{
    ap_scope_raw(p->scope, "devices", device_list(p));
    ap_scope_flag(p->scope, "host_network", p->multi_node || p->gaudi || p->tpu);
    ap_scope_flag(p->scope, "no_workdir", !p->settings->workdir);
}

ap_status ap_emit_docker(ap_emit_plan *p)
{
    ap_strings lines;
    ap_emit_docker_values(p);
    ap_status status = ap_emit_render_lines(p, "node", AP_LANG_SHELL, &lines);
    ap_scope_list(p->scope, "node");
    for (size_t i = 0; i < lines.count; i++)
        ap_scope_raw(ap_scope_item(p->scope, "node"), "line", lines.items[i]);
    ap_emit_why(p, "timeout", "the bill guard: after the limit the container is asked to stop, then removed");
    ap_emit_why(p, "--init", "passes signals on, so that a stop reaches the training and saves");
    ap_emit_why(p, "--shm-size", "loaders hand batches over in shared memory; Docker's 64 MB crash them");
    ap_emit_why(p, "--ulimit", "memory that the network and the driver pin must not be limited");
    if (p->nvidia)
        ap_emit_why(p, "--gpus", "%.0f card%s, as estimated", p->chips_per_node, p->chips_per_node > 1 ? "s" : "");
    if (p->amd)
        ap_emit_why(p, "--device", "ROCm reaches the cards through /dev/kfd and /dev/dri");
    if (p->gaudi)
        ap_emit_why(p, "--runtime=habana", "hands the cards to the container");
    if (p->multi_node) {
        ap_emit_why(p, "--network=host", "processes on several machines must reach one another");
        ap_emit_why(p, "NODE_RANK", "run the script on each of the %.0f machines with its own number, 0 on the first",
                    p->nodes);
    }
    return status;
}
