/* The result of the planner and the user's settings, put together to the one document that recipes are made of. */
#include <stdarg.h>
#include <string.h>

#include "base/num.h"
#include "emit/internal.h"

#define GIB 1073741824.0

void ap_emit_why(ap_emit_plan *plan, const char *what, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ap_sbuf text;
    ap_sbuf_init(&text, plan->arena);
    ap_sbuf_vprintf(&text, format, args);
    va_end(args);
    ap_scope *item = ap_scope_item(plan->scope, "reasons");
    ap_scope_text(item, "flag", what);
    ap_scope_text(item, "because", text.text);
}

void ap_emit_header(ap_emit_plan *plan, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ap_sbuf text;
    ap_sbuf_init(&text, plan->arena);
    ap_sbuf_vprintf(&text, format, args);
    va_end(args);
    ap_scope_text(ap_scope_item(plan->scope, "header"), "line", text.text);
}

void ap_emit_set_env(ap_emit_plan *plan, const char *name, const char *value)
{
    const ap_named *env = ap_scope_find(plan->scope, "env");
    for (size_t i = 0; env && i < env->count; i++)
        if (ap_streq(ap_scope_find(env->items[i], "key")->text, name))
            return; /* the user's own came first */
    ap_scope *item = ap_scope_item(plan->scope, "env");
    ap_scope_raw(item, "key", name);
    ap_scope_text(item, "value", value);
    ap_scope_text(item, "pair", ap_arena_printf(plan->arena, "%s=%s", name, value));
}

/* ---- what runs -------------------------------------------------------------------------------------------------- */

static const char *hub_name(const ap_model *model)
{
    for (size_t i = 0; i < model->aliases.count; i++)
        if (strchr(model->aliases.items[i], '/'))
            return model->aliases.items[i];
    return model->id;
}

/* A schedule stretched or cut short ends with a whole epoch; what the user gave stays. */
static double whole_epochs(const ap_job *job, double factor)
{
    double epochs = job->epochs * factor;
    return epochs > 1 && epochs != job->workload->data.epochs ? ceil(epochs - 1e-6) : epochs;
}

static void take_job(ap_emit_plan *p)
{
    const ap_job *job = p->request->search->job;
    const ap_plan *plan = p->result->plan;
    p->model_id = job->model.id ? job->model.id : job->model_label;
    p->model = p->settings->model ? p->settings->model : job->model.id ? hub_name(&job->model) : job->model_label;
    if (!p->model)
        p->model = "model";
    if (!p->model_id)
        p->model_id = p->model;
    p->domain = job->model.domain;
    p->method = job->method >= 0 ? ap_method_names[job->method] : "train";
    p->lora = job->method == AP_METHOD_LORA || job->method == AP_METHOD_QLORA;
    p->qlora = job->method == AP_METHOD_QLORA;
    p->lora_rank = p->lora ? ap_or(job->lora_rank, 16) : AP_UNKNOWN;
    p->optimizer = job->optimizer >= 0 ? ap_optimizer_names[job->optimizer] : NULL;
    p->precision = plan->precision >= 0 ? ap_precision_name((ap_precision)plan->precision) : NULL;
    p->dataset_name = p->settings->dataset ? p->settings->dataset : job->dataset ? job->dataset->id : NULL;
    p->seq_len = job->seq_len;
    p->global_batch = plan->global_batch;
    p->epochs = whole_epochs(job, plan->run.batch_factor);
    p->steps = ceil(plan->run.steps);
    p->stack = plan->stack;
    p->stack_info = plan->stack ? ap_catalog_find_stack(p->request->search->catalog, plan->stack) : NULL;
    p->framework = p->stack_info && p->stack_info->framework                   ? p->stack_info->framework
                   : job->framework >= 0 && job->framework != AP_FRAMEWORK_ANY ? ap_framework_names[job->framework]
                                                                               : "pytorch";
    const char *title = p->settings->name ? p->settings->name : job->workload->name;
    p->name = ap_emit_slug(p->arena, title ? title : ap_arena_printf(p->arena, "%s-%s", p->model_id, p->method), 40);
}

static void take_layout(ap_emit_plan *p)
{
    const ap_layout *layout = &p->result->plan->est.layout;
    p->dp = layout->dp;
    p->tp = layout->tp;
    p->pp = layout->pp;
    p->vpp = layout->vpp;
    p->cp = layout->cp;
    p->ep = layout->ep;
    p->micro_batch = layout->micro_batch;
    p->grad_accum = layout->accum;
    p->sharding = layout->sharding >= 0 ? ap_sharding_names[layout->sharding] : NULL;
    p->recompute = layout->recompute >= 0 ? ap_recompute_names[layout->recompute] : NULL;
}

/* ---- where it runs ---------------------------------------------------------------------------------------------- */

static void take_kind_of_chip(ap_emit_plan *p)
{
    const ap_chip *chip = p->chip_info;
    p->gpu = chip->kind == AP_CHIP_GPU;
    p->nvidia = p->gpu && ap_streq(chip->vendor, "NVIDIA");
    p->amd = p->gpu && ap_streq(chip->vendor, "AMD");
    p->tpu = chip->kind == AP_CHIP_TPU;
    p->cpu_only = chip->kind == AP_CHIP_CPU;
    p->gaudi = chip->kind == AP_CHIP_ASIC && ap_starts_with(chip->id, "gaudi");
    p->neuron =
        chip->kind == AP_CHIP_ASIC && (ap_starts_with(chip->id, "trainium") || ap_starts_with(chip->id, "inferentia"));
}

static void take_machine(ap_emit_plan *p)
{
    const ap_hardware *hw = &p->result->hw;
    const ap_instance *instance = hw->instance;
    p->cloud = instance ? instance->cloud : NULL;
    p->instance = instance ? instance->name : NULL;
    p->host_machine = instance && instance->machine ? instance->machine : p->instance;
    /* Google's n1 machines get their cards added, AWS' capacity blocks are another way to pay: n1-standard-8+1xT4,
     * trn1.32xlarge (capacity block). */
    p->machine_type = p->instance ? ap_arena_strndup(p->arena, p->instance, strcspn(p->instance, "+ ")) : NULL;
    p->topology = instance ? instance->topology : NULL;
    p->region = instance && p->result->price ? p->result->price->region : NULL;
    p->pricing = ap_price_kind_name(p->result->pricing);
    p->spot = p->result->pricing == AP_PRICE_SPOT;
    p->own_machine = hw->rig != NULL;
    p->gcp = ap_streq(p->cloud, "gcp");
    p->aws = ap_streq(p->cloud, "aws");
    p->azure = ap_streq(p->cloud, "azure");
    p->fabric = hw->fabric;
    p->rdma = instance && instance->rdma == 1;
    p->nics = instance ? instance->nics : AP_UNKNOWN;
    p->machines = hw->machines;
    p->nodes = hw->hosts;
    p->chips = hw->chips;
    p->chips_per_node = hw->chips_per_host;
    p->multi_node = hw->hosts > 1;
    p->single_node = !p->multi_node;
    p->whole_node = instance != NULL || p->own_machine;
}

static void take_hardware(ap_emit_plan *p)
{
    const ap_chip *chip = p->chip_info;
    const ap_hardware *hw = &p->result->hw;
    take_kind_of_chip(p);
    take_machine(p);
    p->target = p->result->target;
    p->chip = chip->id;
    p->chip_name = chip->name ? chip->name : chip->id;
    p->vendor = chip->vendor;
    p->arch = chip->arch;
    p->procs_per_node = p->tpu || p->cpu_only ? 1 : p->chips_per_node * ap_or(chip->devices, 1);
    p->world = p->procs_per_node * p->nodes;
    const double *consts = ap_emit_consts_of(p)->values;
    double cores = fmax(ap_or(p->result->plan->est.input_cores_needed, 0),
                        consts[AP_EMIT_C_loader_cores_per_chip] * p->chips_per_node);
    p->cpus_per_node = ap_known(hw->vcpus) ? hw->vcpus : ceil(cores);
    double weights = 2 * p->request->search->job->model.params;
    double wanted = ap_or(p->result->plan->est.host_bytes, 0) * 1.25 + ap_or(weights, 0) +
                    consts[AP_EMIT_C_host_bytes_per_chip] * p->chips_per_node;
    /* What the operating system and the agents of a node keep is not to be had. */
    p->memory_gib = ap_known(hw->memory_bytes) ? floor(hw->memory_bytes * 0.9 / GIB) : ceil(wanted / GIB / 8) * 8;
    p->shm_gib = fmax(1, fmin(floor(p->memory_gib / 4), 16 * p->chips_per_node));
}

/* ---- image ------------------------------------------------------------------------------------------------------ */

static ap_status take_image(ap_emit_plan *p, const ap_emit_kind *kind)
{
    const char *reason = NULL;
    if (p->settings->image) {
        p->image = p->settings->image;
        return AP_OK;
    }
    p->image_info = ap_emit_choose_image(p->request->search->catalog, p, &reason);
    if (!p->image_info && kind->needs_image) {
        ap_diag_add(p->diags, AP_ERROR, 803, AP_NO_POS, "%s: %s", p->target, reason)->hint =
            "name an image of your own: emit.image in .accelpick.yaml";
        return AP_INFEASIBLE;
    }
    if (!p->image_info)
        return AP_OK;
    p->image_id = p->image_info->id;
    p->driver_min = p->image_info->driver_min;
    p->image = ap_emit_image_reference(p, p->image_info->reference);
    return AP_OK;
}

/* ---- all ----------------------------------------------------------------------------------------------------------
 */

static ap_status refuse(ap_emit_plan *p)
{
    const ap_plan *plan = p->result->plan;
    if (plan->est.error) {
        ap_diag_add(p->diags, AP_ERROR, 804, AP_NO_POS, "%s: %s", p->result->target, plan->est.error);
        return AP_INFEASIBLE;
    }
    if (plan->est.verdict == AP_DOES_NOT_FIT) {
        ap_diag_add(p->diags, AP_ERROR, 804, AP_NO_POS, "%s: needs %.3g GiB on a chip of %.3g GiB: nothing to run",
                    p->result->target, plan->est.peak_bytes / GIB, plan->est.capacity_bytes / GIB)
            ->hint = "see accelpick recommend for hardware that fits";
        return AP_INFEASIBLE;
    }
    return AP_OK;
}

static ap_status check_texts(const ap_emit_plan *p)
{
    const struct {
        const char *what, *text;
    } texts[] = {{"the model's name", p->model},
                 {"the model's id", p->model_id},
                 {"the stack's name", p->stack},
                 {"the target", p->target},
                 {"the data set's name", p->dataset_name},
                 {"the image", p->image},
                 {"the chip's name", p->chip_name},
                 {"the instance", p->instance},
                 {"the region", p->region}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i].text || ap_emit_text_ok(texts[i].text))
            continue;
        ap_diag_add(p->diags, AP_ERROR, 801, AP_NO_POS, "%s holds a control character and cannot stand in a recipe",
                    texts[i].what);
        return AP_BAD_INPUT;
    }
    return AP_OK;
}

/* Asked for by the user, it is the script's business; else it would be a recipe for another layout. */
static ap_status check_layout(ap_emit_plan *p)
{
    const ap_job *job = p->request->search->job;
    if (ap_emit_layout_can_be_said(p->request->search->catalog, job, p->result->plan))
        return AP_OK;
    bool asked = job->workload->parallel.tp > 1 || job->workload->parallel.pp > 1 || job->workload->parallel.cp > 1 ||
                 job->workload->parallel.ep > 1;
    ap_diag_add(p->diags, asked ? AP_WARNING : AP_ERROR, 813, AP_NO_POS,
                "%s: it fits as tp%.0f pp%.0f cp%.0f ep%.0f, which the arguments of %s cannot say%s", p->target,
                ap_or(p->tp, 1), ap_or(p->pp, 1), ap_or(p->cp, 1), ap_or(p->ep, 1), p->stack ? p->stack : p->framework,
                asked ? ": the script must set it up itself" : "")
        ->hint = "take a stack that can: --stack megatron";
    return asked ? AP_OK : AP_INFEASIBLE;
}

ap_status ap_emit_plan_make(const ap_emit_request *request, const ap_emit_kind *kind, ap_arena *arena, ap_diags *diags,
                            ap_emit_plan *ret)
{
    *ret = (ap_emit_plan){
        .request = request, .settings = request->settings, .arena = arena, .diags = diags, .result = request->result};
    ret->chip_info = request->result->hw.chip;
#define UNKNOWN(id) ret->id = AP_UNKNOWN;
    AP_EMIT_NUMBERS(UNKNOWN)
#undef UNKNOWN
    ret->scope = ap_scope_new(arena, NULL);
    static const char *const lists[] = {"header",  "reasons",    "why",    "env",    "setup", "packages",
                                        "modules", "train_args", "launch", "mounts", "others"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        ap_scope_list(ret->scope, lists[i]);
    ap_status status = refuse(ret);
    if (status != AP_OK)
        return status;
    take_job(ret);
    take_layout(ret);
    take_hardware(ret);
    ap_emit_take_launcher(ret);
    status = take_image(ret, kind);
    if (status == AP_OK)
        status = check_texts(ret);
    if (status != AP_OK)
        return status;
    status = check_layout(ret);
    if (status != AP_OK)
        return status;
    ap_emit_take_guard(ret, kind);
    ap_emit_training_args(ret);
    ap_emit_bind_scope(ret);
    return AP_OK;
}
