/* The kinds of recipe, and how one is written. */
#include <string.h>

#include "emit/internal.h"

#define CHECK "accelpick check FILE"
const ap_emit_kind ap_emit_kinds[] = {
    {.name = "slurm",
     .summary = "sbatch script",
     .language = AP_LANG_SHELL,
     .verify = "sbatch --test-only FILE; " CHECK,
     .needs_image = true,
     .needs_limit = true,
     .per_attempt = true,
     .checkpoints = "checkpoints",
     .prepare = ap_emit_slurm},
    {.name = "k8s",
     .summary = "Kubernetes Job, JobSet or PyTorchJob",
     .language = AP_LANG_YAML,
     .verify = "kubectl apply --dry-run=server -f FILE; " CHECK,
     .needs_image = true,
     .needs_limit = true,
     .per_attempt = true,
     .checkpoints = "/checkpoints",
     .prepare = ap_emit_k8s},
    {.name = "gke-tpu",
     .summary = "JobSet for TPU slices on GKE",
     .language = AP_LANG_YAML,
     .verify = "kubectl apply --dry-run=server -f FILE; " CHECK,
     .needs_image = true,
     .needs_limit = true,
     .per_attempt = true,
     .cloud = "gcp",
     .checkpoints = "/checkpoints",
     .prepare = ap_emit_gke_tpu},
    {.name = "skypilot",
     .summary = "SkyPilot task",
     .language = AP_LANG_YAML,
     .verify = "sky launch --dryrun FILE; " CHECK,
     .needs_image = true,
     .needs_limit = true,
     .wants_others = true,
     .per_attempt = true,
     .checkpoints = "/checkpoints",
     .prepare = ap_emit_skypilot},
    {.name = "dstack",
     .summary = "dstack task",
     .language = AP_LANG_YAML,
     .verify = "dstack apply -f FILE shows the plan; " CHECK,
     .needs_image = true,
     .needs_limit = true,
     .checkpoints = "/checkpoints",
     .prepare = ap_emit_dstack},
    {.name = "docker",
     .summary = "shell script around docker run",
     .language = AP_LANG_SHELL,
     .verify = "bash -n FILE; " CHECK,
     .needs_image = true,
     .needs_limit = true,
     .checkpoints = "checkpoints",
     .prepare = ap_emit_docker},
    {.name = "gcloud",
     .summary = "shell script: create, run, delete on Google Cloud",
     .language = AP_LANG_SHELL,
     .verify = "bash -n FILE; bash FILE plan; " CHECK,
     .needs_image = true,
     .needs_limit = true,
     .cloud = "gcp",
     .checkpoints = "checkpoints",
     .prepare = ap_emit_gcloud},
    {.name = "aws",
     .summary = "shell script: create, run, delete on AWS",
     .language = AP_LANG_SHELL,
     .verify = "bash -n FILE; bash FILE plan; " CHECK,
     .needs_image = true,
     .needs_limit = true,
     .cloud = "aws",
     .checkpoints = "checkpoints",
     .prepare = ap_emit_aws},
    {.name = "az",
     .summary = "shell script: create, run, delete on Azure",
     .language = AP_LANG_SHELL,
     .verify = "bash -n FILE; bash FILE plan; " CHECK,
     .needs_image = true,
     .needs_limit = true,
     .cloud = "azure",
     .checkpoints = "checkpoints",
     .prepare = ap_emit_az},
    {.name = "accelerate",
     .summary = "configuration of accelerate launch",
     .language = AP_LANG_YAML,
     .verify = "accelerate launch --config_file FILE …; " CHECK,
     .checkpoints = "checkpoints",
     .prepare = ap_emit_accelerate},
    {.name = "deepspeed",
     .summary = "configuration of DeepSpeed",
     .language = AP_LANG_JSON,
     .verify = CHECK,
     .checkpoints = "checkpoints",
     .prepare = ap_emit_deepspeed},
};
const size_t ap_emit_kind_count = sizeof ap_emit_kinds / sizeof *ap_emit_kinds;

const ap_emit_kind *ap_emit_kind_find(const char *name)
{
    for (size_t i = 0; i < ap_emit_kind_count; i++)
        if (strcmp(ap_emit_kinds[i].name, name) == 0)
            return &ap_emit_kinds[i];
    return NULL;
}

/* A list is empty for templates unless --explain asks for it. */
static void show_reasons(ap_emit_plan *plan)
{
    const ap_named *reasons = ap_scope_find(plan->scope, "reasons");
    for (size_t i = 0; plan->request->explain && i < reasons->count; i++) {
        ap_scope *item = ap_scope_item(plan->scope, "why");
        ap_scope_text(item, "flag", ap_scope_find(reasons->items[i], "flag")->text);
        ap_scope_text(item, "because", ap_scope_find(reasons->items[i], "because")->text);
    }
}

ap_status ap_emit_write(const ap_emit_request *request, const ap_emit_kind *kind, ap_arena *arena, ap_diags *diags,
                        ap_sbuf *ret_text, ap_emit_plan **ret_plan)
{
    ap_emit_plan *plan = AP_NEW(arena, ap_emit_plan);
    if (ret_plan)
        *ret_plan = plan;
    const ap_instance *instance = request->result->hw.instance;
    if (kind->cloud && !(instance && ap_streq(instance->cloud, kind->cloud))) {
        ap_diag_add(diags, AP_ERROR, 807, AP_NO_POS, "'%s' is for machines of %s, not for %s", kind->name, kind->cloud,
                    request->result->target)
            ->hint = ap_arena_printf(arena, "name one: --on %s/INSTANCE", kind->cloud);
        return AP_USAGE;
    }
    bool notebook = instance && (ap_streq(instance->market, "notebook") || ap_streq(instance->market, "free"));
    if (notebook && kind->needs_image) {
        ap_diag_add(diags, AP_ERROR, 807, AP_NO_POS, "%s is a notebook service: it runs no %s", instance->cloud,
                    kind->summary)
            ->hint = "name another target; the configurations accelerate and deepspeed serve notebooks too";
        return AP_USAGE;
    }
    ap_status status = ap_emit_plan_make(request, kind, arena, diags, plan);
    if (status == AP_OK && kind->needs_image)
        status = ap_emit_fabric(plan);
    if (status == AP_OK)
        status = ap_emit_launch(plan);
    if (status == AP_OK)
        status = kind->prepare(plan);
    if (status != AP_OK)
        return status;
    show_reasons(plan);
    ap_template tmpl;
    status = ap_emit_template(plan, kind->name, kind->language, &tmpl);
    if (status == AP_OK && !tmpl.text) {
        ap_diag_add(diags, AP_ERROR, 811, AP_NO_POS, "there is no template %s", kind->name);
        return AP_BAD_DATA;
    }
    return status == AP_OK ? ap_template_render(&tmpl, plan->scope, diags, ret_text) : status;
}
