/* slurm: a batch script. One task a node starts the launcher; cards are asked for per node. */
#include <string.h>

#include "emit/internal.h"

/* sbatch has a quoting of its own: what would need it is refused. */
static ap_status check_words(ap_emit_plan *p, const char *gres)
{
    const ap_emit_settings *s = p->settings;
    const struct {
        const char *key, *text;
    } words[] = {{"partition", s->partition},     {"account", s->account},       {"qos", s->qos},
                 {"reservation", s->reservation}, {"constraint", s->constraint}, {"gres", gres}};
    ap_status status = AP_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *text = words[i].text;
        if (!text || (*text && text[0] != '-' && !strpbrk(text, " \t\"'#\\`$;<>")))
            continue;
        ap_diag_add(p->diags, AP_ERROR, 808, AP_NO_POS, "emit.%s: '%s' cannot stand behind #SBATCH", words[i].key,
                    text);
        status = AP_BAD_DATA;
    }
    return status;
}

/* The site's own type, else the name that Slurm's detection gives the card (the driver's, in lower case with
 * underscores), else what sites often call it, else the catalog's. */
static const char *gres_type(const ap_emit_plan *p)
{
    const ap_catalog *catalog = p->request->search->catalog;
    if (p->settings->gres)
        return p->settings->gres;
    const char *name = ap_emit_spelling(catalog, "slurm", "gres type", p->chip_info);
    const char *detected = name && ap_starts_with(name, "gpu:nvidia") ? name : NULL;
    const char *device = ap_emit_spelling(catalog, p->amd ? "torch (ROCm)" : "nvidia-smi/torch", NULL, p->chip_info);
    if (!detected && device) {
        char *type = ap_str_lower(p->arena, device);
        for (char *c = type; *c; c++)
            *c = *c == ' ' ? '_' : *c;
        return type;
    }
    return name && ap_starts_with(name, "gpu:") ? name + strlen("gpu:") : p->chip_info->id;
}

static void explain(ap_emit_plan *p, const char *gres)
{
    ap_emit_why(p, "--nodes", "%.0f machine%s of %.0f", p->nodes, p->nodes > 1 ? "s" : "", p->chips_per_node);
    if (gres)
        ap_emit_why(
            p, "--gres",
            "cards on every node; the type keeps the job off other cards. Your site may spell it otherwise: emit.gres");
    ap_emit_why(p, "--ntasks-per-node",
                "the launcher starts one process a device itself; more tasks would train several copies");
    ap_emit_why(p, "--cpus-per-task", "the default of 1 starves the data loaders");
    if (p->whole_node)
        ap_emit_why(p, "--exclusive", "the whole machine is estimated and priced");
    ap_emit_why(p, "--mem", "%s",
                p->whole_node ? "0 is all memory of the node" : "weights while loading, loaders, offloaded states");
    ap_emit_why(p, "--time", "the bill guard: Slurm ends the job then, whatever happens");
    ap_emit_why(p, "--signal", "%.0f s before the end the job is asked to save", p->grace_s);
    ap_emit_why(p, "--requeue", "after a failed or preempted node the job starts again from its checkpoint");
    ap_emit_why(p, "--kill-on-bad-exit", "one dead process must not leave the others waiting at the bill's cost");
}

ap_status ap_emit_slurm(ap_emit_plan *p)
{
    int container = p->settings->container >= 0 ? p->settings->container : AP_CONTAINER_ENROOT;
    const char *slash = p->image ? strchr(p->image, '/') : NULL;
    /* Enroot separates a registry by #: nvcr.io#nvidia/pytorch. A name without a dot before the slash is of Docker Hub.
     */
    bool registry = slash && memchr(p->image, '.', (size_t)(slash - p->image));
    const char *enroot =
        registry ? ap_arena_printf(p->arena, "%.*s#%s", (int)(slash - p->image), p->image, slash + 1) : p->image;
    const char *gres = p->cpu_only ? NULL : gres_type(p);
    ap_scope_text(p->scope, "enroot_image", container == AP_CONTAINER_ENROOT ? enroot : NULL);
    ap_scope_text(p->scope, "apptainer_image",
                  container == AP_CONTAINER_APPTAINER && p->image ? ap_arena_printf(p->arena, "docker://%s", p->image)
                                                                  : NULL);
    ap_scope_flag(p->scope, "no_container", container == AP_CONTAINER_NONE);
    ap_scope_raw(p->scope, "time", ap_emit_slurm_time(p->arena, p->limit_s));
    ap_scope_raw(p->scope, "gres_type", gres);
    ap_scope_flag(p->scope, "requeue", p->restarts > 0);
    ap_scope_flag(p->scope, "no_requeue", !(p->restarts > 0));
    ap_scope_flag(p->scope, "part_node", !p->whole_node);
#define RAW(id) ap_scope_raw(p->scope, #id, p->settings->id);
    RAW(partition)
    RAW(account) RAW(qos) RAW(reservation) RAW(constraint)
#undef RAW
        explain(p, gres);
    return check_words(p, gres);
}
