/* skypilot and dstack: task files of orchestrators that find a machine themselves. */
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "emit/internal.h"

#define GIB 1073741824.0

/* What the two call a cloud of the catalog; NULL where they do not rent. */
static const char *skypilot_cloud(const ap_emit_plan *p, const char *id)
{
    const ap_cloud *cloud = id ? ap_catalog_find_cloud(p->request->search->catalog, id) : NULL;
    return cloud ? cloud->skypilot : NULL;
}

static const char *dstack_cloud(const ap_emit_plan *p, const char *id)
{
    const ap_cloud *cloud = id ? ap_catalog_find_cloud(p->request->search->catalog, id) : NULL;
    return cloud ? cloud->dstack : NULL;
}

static ap_status unknown_cloud(ap_emit_plan *p, const char *tool)
{
    ap_diag_add(p->diags, AP_ERROR, 807, AP_NO_POS, "%s does not rent machines of %s", tool, p->cloud)->hint =
        "name another target, or write emit docker";
    return AP_USAGE;
}

static ap_status refuse_slices(ap_emit_plan *p, const char *why)
{
    ap_diag_add(p->diags, AP_ERROR, 807, AP_NO_POS, "%s: %s", p->target, why)->hint = "write emit gke-tpu";
    return AP_USAGE;
}

/* ---- SkyPilot -----------------------------------------------------------------------------------------------------
 */

/* A market place has neither regions nor machine types that can be asked for. */
static bool is_market(const ap_result *r)
{
    return r->hw.instance && r->hw.instance->market && !ap_streq(r->hw.instance->market, "cloud");
}

static const char *infra_of(ap_arena *arena, const char *cloud, const ap_result *r)
{
    bool region = r->price && r->price->region && !is_market(r);
    return region ? ap_arena_printf(arena, "%s/%s", cloud, r->price->region) : cloud;
}

static bool is_listed(const ap_emit_plan *p, const char *infra)
{
    const ap_named *others = ap_scope_find(p->scope, "others");
    for (size_t i = 0; i < others->count; i++)
        if (ap_streq(ap_scope_find(others->items[i], "infra")->text, infra))
            return true;
    return false;
}

/* Machines with cards added, and slices of TPUs, have no type that tells all. */
static const char *instance_type(const ap_result *r)
{
    const ap_instance *instance = r->hw.instance;
    return instance && !is_market(r) && r->hw.chip->kind != AP_CHIP_TPU && !strpbrk(instance->name, "+/ (")
               ? instance->name
               : NULL;
}

/* Offers of the same card and count elsewhere: the task takes the first that has capacity. */
static void add_others(ap_emit_plan *p, const char *first)
{
    enum { MOST = 3 };
    ap_scope *own = ap_scope_item(p->scope, "others");
    ap_scope_text(own, "infra", first);
    ap_scope_flag(own, "use_spot", p->spot);
    ap_scope_text(own, "instance_type", instance_type(p->result));
    ap_scope_text(own, "price", p->price_text);
    size_t added = 0;
    for (size_t i = 0; i < p->request->other_count && added < MOST; i++) {
        const ap_result *r = &p->request->others[i];
        const char *cloud = r->hw.instance ? skypilot_cloud(p, r->hw.instance->cloud) : NULL;
        bool same = r->hw.chip == p->chip_info && r->hw.hosts == p->nodes && r->hw.chips_per_host == p->chips_per_node;
        const char *infra = cloud ? infra_of(p->arena, cloud, r) : NULL;
        bool block = r->hw.instance && strchr(r->hw.instance->name, ' '); /* booked weeks ahead */
        if (!same || !cloud || block || is_listed(p, infra) || !(r->usd_per_h > 0) ||
            r->usd_per_h > 2 * ap_or(p->usd_per_h, HUGE_VAL))
            continue;
        ap_scope *item = ap_scope_item(p->scope, "others");
        ap_scope_text(item, "infra", infra);
        ap_scope_flag(item, "use_spot", r->pricing == AP_PRICE_SPOT);
        ap_scope_text(item, "instance_type", instance_type(r));
        ap_scope_text(item, "price", ap_arena_printf(p->arena, "%.4g USD", r->usd_per_h));
        added++;
    }
    ap_scope_flag(p->scope, "choice", added > 0);
    ap_scope_flag(p->scope, "no_choice", added == 0);
    if (added)
        ap_emit_why(p, "any_of",
                    "%zu other offer%s of the same cards at up to twice the price, where the first has no capacity",
                    added, added > 1 ? "s" : "");
}

/* The large clouds are listed under a family's name, others under the card's. */
static const char *skypilot_name(const ap_emit_plan *p, const ap_catalog *catalog)
{
    if (p->tpu)
        return p->instance ? ap_arena_printf(p->arena, "tpu-%s", p->instance) : NULL;
    if (ap_streq(p->instance, "a3-megagpu-8g"))
        return "H100-MEGA";
    bool large = p->gcp || p->aws || p->azure || ap_streq(p->cloud, "oci");
    const char *family = large ? ap_emit_family_spelling(catalog, "skypilot", p->chip_info) : NULL;
    return family ? family : ap_emit_spelling(catalog, "skypilot", NULL, p->chip_info);
}

ap_status ap_emit_skypilot(ap_emit_plan *p)
{
    const ap_catalog *catalog = p->request->search->catalog;
    const char *cloud = skypilot_cloud(p, p->cloud);
    if (p->cloud && !cloud)
        return unknown_cloud(p, "SkyPilot");
    if (p->tpu && p->machines > 1)
        return refuse_slices(p, "SkyPilot does not start one job on several slices");
    const char *name = skypilot_name(p, catalog);
    if (!name && !p->cpu_only && !p->instance) {
        ap_diag_add(p->diags, AP_ERROR, 807, AP_NO_POS, "SkyPilot has no name for %s", p->chip_name)->hint =
            "name an instance: --on CLOUD/INSTANCE";
        return AP_USAGE;
    }
    const char *infra = cloud ? infra_of(p->arena, cloud, p->result) : NULL;
    ap_scope_text(p->scope, "accelerator",
                  name && !p->cpu_only ? ap_arena_printf(p->arena, "%s:%.0f", name, p->tpu ? 1 : p->chips_per_node)
                                       : NULL);
    /* A slice is one accelerator of one node, whatever its hosts. */
    ap_scope_number(p->scope, "task_nodes", p->tpu ? AP_UNKNOWN : p->nodes);
    ap_scope_text(p->scope, "infra", infra);
    ap_scope_list(p->scope, "others");
    add_others(p, infra ? infra : "any");
    bool alone = ap_scope_find(p->scope, "no_choice")->text != NULL;
    ap_scope_flag(p->scope, "one_infra", infra && alone);
    ap_scope_text(p->scope, "one_instance", alone ? instance_type(p->result) : NULL);
    ap_scope_text(p->scope, "runtime_version", p->tpu ? ap_emit_tpu_runtime(p->chip_info) : NULL);
    ap_scope_text(p->scope, "docker_image", p->image ? ap_arena_printf(p->arena, "docker:%s", p->image) : NULL);
    ap_scope_flag(p->scope, "no_workdir", !p->settings->workdir);
    ap_scope_flag(p->scope, "rendezvous", p->multi_node && !p->tpu);
    ap_emit_why(p, "autostop", "after %.0f idle minutes the machines are torn down, also when the job failed",
                p->idle_min);
    ap_emit_why(p, "timeout", "the bill guard: ends the training after %s, then autostop ends the bill", p->limit_text);
    if (p->spot)
        ap_emit_why(p, "job_recovery",
                    "a spot machine that is taken back is replaced and the job starts again: sky jobs launch FILE");
    if (p->spot && !p->settings->bucket)
        ap_diag_add(p->diags, AP_WARNING, 812, AP_NO_POS, "%s: checkpoints die with a spot machine", p->target)->hint =
            "name emit.bucket";
    return AP_OK;
}

/* ---- dstack -------------------------------------------------------------------------------------------------------
 */

/* gpuhunt's names are families; memory tells the cards of a family apart. */
static const char *gpuhunt_name(const ap_emit_plan *p)
{
    const ap_catalog *catalog = p->request->search->catalog;
    const char *exact = ap_emit_spelling(catalog, "gpuhunt", NULL, p->chip_info);
    const char *family = exact ? exact : ap_emit_family_spelling(catalog, "gpuhunt", p->chip_info);
    size_t stem = strcspn(p->chip_info->id, "-");
    for (size_t i = 0; !family && i < catalog->names.count; i++) {
        const ap_name *name = &catalog->names.items[i];
        if (ap_streq(name->provider, "gpuhunt") && strlen(name->name) == stem &&
            strncasecmp(name->name, p->chip_info->id, stem) == 0)
            return name->name;
    }
    return family;
}

ap_status ap_emit_dstack(ap_emit_plan *p)
{
    const char *backend = dstack_cloud(p, p->cloud);
    if (p->cloud && !backend)
        return unknown_cloud(p, "dstack");
    if (p->tpu && p->nodes > 1)
        return refuse_slices(p, "dstack runs only slices of one host");
    const char *name = p->tpu ? p->instance : gpuhunt_name(p);
    if (!name && !p->cpu_only) {
        ap_diag_add(p->diags, AP_ERROR, 807, AP_NO_POS, "dstack has no name for %s", p->chip_name)->hint =
            "write emit docker or emit k8s";
        return AP_USAGE;
    }
    const char *gpu = NULL;
    if (p->tpu)
        gpu = name;
    else if (name)
        gpu =
            ap_arena_printf(p->arena, "%s:%.0fGB:%.0f", name, rint(p->chip_info->memory.size / GIB), p->chips_per_node);
    ap_scope_text(p->scope, "gpu_spec", gpu);
    ap_scope_text(p->scope, "backend", backend);
    ap_scope_text(p->scope, "instance_type", is_market(p->result) || p->tpu ? NULL : p->machine_type);
    ap_scope_text(p->scope, "task_region", is_market(p->result) ? NULL : p->region);
    ap_scope_raw(p->scope, "spot_policy", p->spot ? "spot" : "on-demand");
    ap_scope_number(p->scope, "max_price",
                    ap_known(p->usd_per_h) && p->usd_per_h > 0 ? ceil(p->usd_per_h / p->machines * 1.1 * 100) / 100
                                                               : AP_UNKNOWN);
    ap_scope_number(p->scope, "min_memory", floor(p->memory_gib * 0.9));
    ap_scope_number(p->scope, "min_cpus", fmax(1, floor(p->cpus_per_node * 0.9)));
    ap_emit_why(p, "max_duration", "the bill guard: dstack stops the run after %s", p->limit_text);
    ap_emit_why(p, "max_price", "a tenth above the price of the estimate, for one machine and hour");
    ap_emit_why(p, "stop_duration", "time to save when the run is stopped");
    ap_emit_why(p, "utilization_policy", "a run whose cards idle for an hour is stopped");
    if (p->spot)
        ap_emit_why(p, "retry", "a spot machine that is taken back is replaced");
    return AP_OK;
}
