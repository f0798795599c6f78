/* Recipes: a chosen plan as a file that runs as it is.
 *
 *   settings   emit.* of the configuration
 *   plan       result of the planner + settings -> ap_emit_plan, the one document all recipes are made of
 *   kind       ap_emit_plan -> values of its own (gres, node selectors …), then its template
 *
 * A recipe carries the estimate it rests on, a bill guard (time limit from the p90, automatic stop), how often to save
 * and how to check it. Every value is text of one line and quoted for the language it lands in. Kinds decide, templates
 * (data/recipes-templates, compiled in) only say. Everything lives in the arena of the request. */
#ifndef AP_EMIT_EMIT_H
#define AP_EMIT_EMIT_H

#include "emit/settings.h"
#include "emit/template.h"
#include "plan/plan.h"

typedef struct ap_emit_request {
    const ap_search *search;
    const ap_result *result; /* what to run */
    const ap_result *others; /* next-best offers, for kinds that can choose; may be NULL */
    size_t other_count;
    const ap_emit_settings *settings;
    const char *data_dir;          /* --data: templates of DIR/recipes-templates, where there are any */
    double deadline_s, budget_usd; /* NaN = none */
    bool explain;                  /* say behind the recipe why each flag is there */
} ap_emit_request;

/* Values under the name that templates use. Texts: NULL = not there. Numbers: NaN = not there. */
#define AP_EMIT_TEXTS(X)                                                                                               \
    X(name)                                                                                                            \
    X(model) X(model_id) X(domain) X(method) X(stack) X(launcher) X(framework) X(precision) X(optimizer) X(sharding)   \
        X(recompute) X(dataset_name) X(target) X(cloud) X(instance) X(region) X(pricing) X(chip) X(chip_name)          \
            X(vendor) X(arch) X(fabric) X(topology) X(host_machine) X(machine_type) X(image) X(image_id) X(driver_min) \
                X(hours_text) X(limit_text) X(cost_text) X(price_text) X(program) X(checkpoints)
#define AP_EMIT_NUMBERS(X)                                                                                             \
    X(nodes)                                                                                                           \
    X(chips) X(chips_per_node) X(procs_per_node) X(world) X(machines) X(cpus_per_node) X(memory_gib) X(shm_gib)        \
        X(disk_gb) X(dp) X(tp) X(pp) X(vpp) X(cp) X(ep) X(micro_batch) X(grad_accum) X(global_batch) X(seq_len) X(steps)      \
            X(epochs) X(save_steps) X(lora_rank) X(usd_per_h) X(hours_p50) X(hours_p90) X(cost_p50) X(cost_p90)        \
                X(limit_s) X(limit_min) X(grace_s) X(idle_min) X(save_s) X(restarts) X(nics) X(worst_usd)
#define AP_EMIT_FLAGS(X)                                                                                               \
    X(spot)                                                                                                            \
    X(multi_node) X(single_node) X(whole_node) X(gpu) X(nvidia) X(amd) X(tpu) X(gaudi) X(neuron) X(cpu_only)           \
        X(own_machine) X(rdma) X(lora) X(qlora) X(gcp) X(aws) X(azure)

typedef struct ap_emit_plan {
    const ap_emit_request *request;
    const ap_emit_settings *settings;
    ap_arena *arena;
    ap_diags *diags;
    const ap_result *result;
    const ap_chip *chip_info;
    const ap_stack *stack_info; /* or NULL */
    const ap_image *image_info; /* or NULL */
#define AP_EMIT_TEXT(id)   const char *id;
#define AP_EMIT_NUMBER(id) double id;
#define AP_EMIT_FLAG(id)   bool id;
    AP_EMIT_TEXTS(AP_EMIT_TEXT)
    AP_EMIT_NUMBERS(AP_EMIT_NUMBER)
    AP_EMIT_FLAGS(AP_EMIT_FLAG)
#undef AP_EMIT_TEXT
#undef AP_EMIT_NUMBER
#undef AP_EMIT_FLAG
    ap_scope *scope; /* all of the above and the lists: header, why, setup, env, train_args, launch, mounts */
} ap_emit_plan;

typedef struct ap_emit_kind {
    const char *name, *summary;
    ap_language language;
    const char *verify; /* command that checks the recipe without running it; FILE stands for its name */
    bool needs_image, needs_limit, wants_others; /* others: the next-best offers */
    bool per_attempt;                            /* a restart gets the whole time limit anew */
    const char *cloud;                           /* only for machines of this cloud, or NULL */
    const char *checkpoints;                     /* where they go when the user names no folder */
    /* Adds the kind's own values; may refuse the plan with a diagnostic. */
    ap_status (*prepare)(ap_emit_plan *plan);
} ap_emit_kind;

extern const ap_emit_kind ap_emit_kinds[];
extern const size_t ap_emit_kind_count;
const ap_emit_kind *ap_emit_kind_find(const char *name);

/* AP_INFEASIBLE: the plan cannot run, or no image runs on the chip. AP_USAGE: the kind is not for this target.
 * AP_BAD_DATA, AP_IO: a template. All with diagnostics (08xx). `ret_text` gets the recipe, `ret_plan` (may be NULL)
 * what it was made of. */
AP_CHECKED ap_status ap_emit_write(const ap_emit_request *request, const ap_emit_kind *kind, ap_arena *arena,
                                   ap_diags *diags, ap_sbuf *ret_text, ap_emit_plan **ret_plan);

/* -- parts -------------------------------------------------------------------------------------------------------- */

/* Why a flag or line is there: shown by --explain. */
void ap_emit_why(ap_emit_plan *plan, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));
void ap_emit_header(ap_emit_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ap_emit_set_env(ap_emit_plan *plan, const char *name, const char *value);
/* One argument of the training script; value NULL: the flag alone. */
void ap_emit_arg(ap_emit_plan *plan, const char *flag, const char *value);
void ap_emit_arg_number(ap_emit_plan *plan, const char *flag, double value); /* NaN: left out */

AP_CHECKED ap_status ap_emit_plan_make(const ap_emit_request *request, const ap_emit_kind *kind, ap_arena *arena,
                                       ap_diags *diags, ap_emit_plan *ret);
void ap_emit_bind_scope(ap_emit_plan *plan);             /* fields -> scope */
void ap_emit_training_args(ap_emit_plan *plan);          /* stack's dialect -> train_args */
AP_CHECKED ap_status ap_emit_launch(ap_emit_plan *plan); /* template launch-LAUNCHER -> list launch */
AP_CHECKED ap_status ap_emit_fabric(ap_emit_plan *plan); /* template net-FABRIC -> list env */

/* Text of a template: emit.templates, then --data, then the one compiled in; NULL text when there is none. */
AP_CHECKED ap_status ap_emit_template(const ap_emit_plan *plan, const char *name, ap_language language,
                                      ap_template *ret);
/* Renders a template into lines, without empty ones at the end. */
AP_CHECKED ap_status ap_emit_render_lines(ap_emit_plan *plan, const char *name, ap_language language, ap_strings *ret);

/* The image for a chip, framework and stack, or NULL with the reason. */
const ap_image *ap_emit_choose_image(const ap_catalog *catalog, const ap_emit_plan *plan, const char **ret_reason);
/* How `provider` spells a chip ("gke", "skypilot"), one chip a name; NULL when it has no spelling. `where` is a part of
 * the name's place, or NULL. */
const char *ap_emit_spelling(const ap_catalog *catalog, const char *provider, const char *where, const ap_chip *chip);

/* A name that stands for several cards, this one among them ("H100"). */
const char *ap_emit_family_spelling(const ap_catalog *catalog, const char *provider, const ap_chip *chip);

/* Can the stack's arguments say this layout? Otherwise the plan must be made again without tensor, pipeline, context
 * and expert parallelism. */
bool ap_emit_layout_can_be_said(const ap_catalog *catalog, const ap_job *job, const ap_plan *plan);

/* Young and Daly: seconds between checkpoints of `write_s` when stops come every `mean_s`. E-04. */
double ap_emit_interval_s(double write_s, double mean_s, double shortest_s, double longest_s);
/* Up to the next quarter of an hour below a day, above to the next hour. E-06. */
double ap_emit_round_limit_s(double seconds);
/* "1-02:30:00" */
const char *ap_emit_slurm_time(ap_arena *arena, double seconds);

ap_status ap_emit_slurm(ap_emit_plan *plan);
ap_status ap_emit_k8s(ap_emit_plan *plan);
ap_status ap_emit_gke_tpu(ap_emit_plan *plan);
ap_status ap_emit_skypilot(ap_emit_plan *plan);
ap_status ap_emit_dstack(ap_emit_plan *plan);
ap_status ap_emit_docker(ap_emit_plan *plan);
ap_status ap_emit_gcloud(ap_emit_plan *plan);
ap_status ap_emit_aws(ap_emit_plan *plan);
ap_status ap_emit_az(ap_emit_plan *plan);
ap_status ap_emit_accelerate(ap_emit_plan *plan);
ap_status ap_emit_deepspeed(ap_emit_plan *plan);

#endif
