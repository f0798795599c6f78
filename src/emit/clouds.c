/* gcloud, aws, az: shell scripts that create machines, run the job on them and delete them, whatever happens. */
#include <string.h>

#include "base/num.h"
#include "emit/internal.h"

/* The script that runs on a machine is docker's: put in whole, without its header. */
static ap_status add_node_script(ap_emit_plan *p)
{
    ap_strings lines;
    ap_emit_docker_values(p);
    ap_status status = ap_emit_render_lines(p, "node", AP_LANG_SHELL, &lines);
    ap_scope_list(p->scope, "node");
    for (size_t i = 0; i < lines.count; i++)
        ap_scope_raw(ap_scope_item(p->scope, "node"), "line", lines.items[i]);
    return status;
}

static void explain(ap_emit_plan *p)
{
    ap_emit_why(p, "trap … EXIT", "the machines are deleted when the script ends: done, failed or interrupted");
    ap_emit_why(p, "time limit",
                "a second guard on the machines themselves, for the day your own machine goes to sleep");
    if (p->spot)
        ap_emit_why(p, "spot", "the price is of spot machines; they may be taken back at any time");
}

static void common(ap_emit_plan *p)
{
    ap_scope_number(p->scope, "guard_s", p->limit_s + 900);
    ap_scope_number(p->scope, "guard_min", ceil((p->limit_s + 900) / 60));
    ap_scope_flag(p->scope, "no_zone", !p->settings->zone);
    ap_scope_flag(p->scope, "no_machine_image", !p->settings->machine_image);
    ap_scope_flag(p->scope, "no_key", !p->settings->key_name);
    ap_scope_flag(p->scope, "no_resource_group", !p->settings->resource_group);
    explain(p);
}

/* Runtime versions of TPU VMs by generation. */
const char *ap_emit_tpu_runtime(const ap_chip *chip)
{
    static const char *const versions[][2] = {
        {"tpu-v5e", "v2-alpha-tpuv5-lite"}, {"tpu-v5p", "v2-alpha-tpuv5"}, {"tpu-v6e", "v2-alpha-tpuv6e"}};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (ap_streq(chip->id, versions[i][0]))
            return versions[i][1];
    return "tpu-ubuntu2204-base";
}

ap_status ap_emit_gcloud(ap_emit_plan *p)
{
    const char *card = strchr(p->instance, '+')
                           ? ap_emit_spelling(p->request->search->catalog, "gke", "gke-accelerator", p->chip_info)
                           : NULL;
    if (strchr(p->instance, '+') && !card) {
        ap_diag_add(p->diags, AP_ERROR, 807, AP_NO_POS, "'gcloud' has no name for the cards of %s", p->instance)->hint =
            "take a machine type that has its cards built in";
        return AP_USAGE;
    }
    ap_scope_text(p->scope, "added_card",
                  card ? ap_arena_printf(p->arena, "type=%s,count=%.0f", card, p->chips_per_node) : NULL);
    common(p);
    ap_scope_flag(p->scope, "vm", !p->tpu);
    ap_scope_text(p->scope, "runtime_version", p->tpu ? ap_emit_tpu_runtime(p->chip_info) : NULL);
    ap_scope_number(p->scope, "last_machine", p->machines - 1);
    if (!p->tpu)
        ap_emit_why(p, "--max-run-duration",
                    "Compute Engine deletes the machines then, with --instance-termination-action=DELETE");
    ap_emit_why(p, "--maintenance-policy", "machines with cards cannot move to another host");
    return add_node_script(p);
}

/* The first card of a machine carries its address; the others are for the fabric. */
static void add_efa_cards(ap_emit_plan *p)
{
    ap_scope_list(p->scope, "efa_cards");
    int cards = p->multi_node && ap_streq(p->fabric, "efa") ? (int)fmax(1, ap_or(p->nics, 1)) : 0;
    for (int i = 0; i < cards; i++) {
        ap_scope *item = ap_scope_item(p->scope, "efa_cards");
        ap_scope_number(item, "card", i);
        ap_scope_number(item, "device", i > 0);
    }
    ap_scope_flag(p->scope, "no_efa", cards == 0);
    if (cards)
        ap_emit_why(p, "--network-interfaces", "%d EFA card%s: without them the machines talk over plain Ethernet",
                    cards, cards > 1 ? "s" : "");
}

ap_status ap_emit_aws(ap_emit_plan *p)
{
    common(p);
    add_efa_cards(p);
    ap_scope_text(p->scope, "image_parameter",
                  p->neuron ? "/aws/service/neuron/dlami/multi-framework/ubuntu-22.04/latest/image_id"
                  : p->gpu
                      ? "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
                      : "/aws/service/canonical/ubuntu/server/22.04/stable/current/amd64/hvm/ebs-gp2/ami-id");
    ap_emit_why(p, "--instance-initiated-shutdown-behavior",
                "together with the shutdown in user data: the machine ends itself, and with it the bill");
    return add_node_script(p);
}

ap_status ap_emit_az(ap_emit_plan *p)
{
    common(p);
    ap_scope_flag(p->scope, "short_run", p->limit_s + 900 < 86400);
    ap_emit_why(p, "auto-shutdown",
                "a machine that is only shut down from inside is still billed on Azure: this one deallocates it");
    return add_node_script(p);
}
