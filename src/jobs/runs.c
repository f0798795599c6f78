/* The job as written, through the planner: does it fit, how long, what does it cost. */
#include <string.h>

#include "catalog/target.h"
#include "jobs/understand.h"
#include "plan/target.h"

static ap_node *scalar(ap_arena *arena, const char *text)
{
    ap_node *node = AP_NEW(arena, ap_node);
    *node = (ap_node){.kind = AP_NODE_SCALAR, .quoted = true, .text = text};
    return node;
}

typedef struct map_writer {
    ap_arena *arena;
    ap_node *map;
    size_t capacity;
} map_writer;

static void put_text(map_writer *w, const char *key, const char *text)
{
    *AP_PUSH(w->arena, w->map->as.map.pairs, w->map->as.map.count, w->capacity) =
        (ap_pair){.key = key, .value = scalar(w->arena, text)};
    w->map->as.map.pairs[w->map->as.map.count - 1].value->quoted = false;
}

static void put_num(map_writer *w, const char *key, double value)
{
    if (ap_known(value))
        put_text(w, key, ap_arena_printf(w->arena, "%.0f", value));
}

/* The model as the workload document would say it. The shape is completed from job->model after resolving. */
static const ap_node *model_node(ap_arena *arena, const ap_model *m)
{
    if (m->id)
        return scalar(arena, m->id);
    map_writer w = {.arena = arena, .map = AP_NEW(arena, ap_node)};
    *w.map = (ap_node){.kind = AP_NODE_MAP};
    put_text(&w, "class", m->arch ? m->arch : "decoder");
    put_num(&w, "params", m->params);
    put_num(&w, "layers", m->layers);
    put_num(&w, "hidden", m->hidden);
    put_num(&w, "heads", m->heads);
    put_num(&w, "vocab", m->vocab);
    return w.map;
}

static int framework_word(const char *name)
{
    for (int i = 0; name && ap_framework_names[i]; i++)
        if (strcmp(name, ap_framework_names[i]) == 0)
            return i;
    return -1;
}

static int optimizer_word(const char *text)
{
    static const struct {
        const char *part;
        int optimizer;
    } words[] = {{"8bit", AP_OPT_ADAMW_8BIT}, {"8-bit", AP_OPT_ADAMW_8BIT}, {"adafactor", AP_OPT_ADAFACTOR},
                 {"galore", AP_OPT_GALORE},   {"lamb", AP_OPT_LAMB},        {"lion", AP_OPT_LION},
                 {"muon", AP_OPT_MUON},       {"adagrad", AP_OPT_ADAGRAD},  {"adam", AP_OPT_ADAMW},
                 {"sgd", AP_OPT_SGD_MOMENTUM}};
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (ap_contains_nocase(text, words[i].part))
            return words[i].optimizer;
    return -1;
}

static const char *stack_of(const ap_judge *j)
{
    const char *name = NULL;
    int sharding = j->job->sharding;
    if (ap_job_has_format(j, AP_JF_DEEPSPEED) || ap_jnum_stated(&j->f->n.zero_stage))
        name = "deepspeed";
    else if (ap_job_has_format(j, AP_JF_MEGATRON) || ap_job_has_format(j, AP_JF_NEMO) ||
             (j->f->t.program.value && ap_contains_nocase(j->f->t.program.value, "pretrain_gpt")))
        name = "megatron";
    else if (ap_job_has_format(j, AP_JF_TORCHTITAN))
        name = "torchtitan";
    else if (ap_job_has_format(j, AP_JF_MAXTEXT) ||
             (j->f->t.program.value && ap_contains_nocase(j->f->t.program.value, "maxtext")))
        name = "maxtext";
    else if (sharding == AP_SHARD_ZERO2 || sharding == AP_SHARD_ZERO3 || sharding == AP_SHARD_HSDP)
        name = "fsdp";
    return name && ap_catalog_find_stack(j->request->catalog, name) ? name : NULL;
}

/* Samples of the whole run as far as the files say: steps x batch, or epochs over a known data set. */
static void fill_data(const ap_judge *j, ap_workload *w, double batch)
{
    const ap_jobnums *n = &j->f->n;
    const ap_checkjob *job = j->job;
    bool table = ap_known(n->rows.value);
    if (table) {
        w->data.rows = n->rows.value;
        w->data.features = n->features.value;
        w->data.epochs = n->trees.value;
        return;
    }
    double samples = ap_known(n->train_samples.value) ? n->train_samples.value
                     : job->steps > 0                 ? job->steps * batch
                                                      : AP_UNKNOWN;
    if (ap_known(n->tokens.value))
        w->data.tokens = n->tokens.value;
    else if (ap_known(samples) && ap_model_is_transformer(&job->model) && ap_known(job->seq_len))
        w->data.tokens = samples * job->seq_len;
    else if (ap_known(samples))
        w->data.samples = samples;
    else if (ap_known(n->max_samples.value) || ap_known(n->samples.value)) {
        w->data.samples = ap_or(n->max_samples.value, n->samples.value);
        w->data.epochs = ap_or(n->epochs.value, 1);
    } else {
        const char *const names[] = {j->f->t.task.value, j->f->t.dataset.value};
        for (size_t i = 0; i < 2 && !w->data.dataset; i++) {
            const ap_dataset *found = names[i] ? ap_catalog_find_dataset(j->request->catalog, names[i]) : NULL;
            if (!found && names[i])
                found = ap_catalog_find_dataset(j->request->catalog, ap_arena_printf(j->arena, "glue-%s", names[i]));
            if (!found && names[i] && ap_contains_nocase(names[i], "imagenet"))
                found = ap_catalog_find_dataset(j->request->catalog, "imagenet-1k");
            if (found)
                w->data.dataset = found->id;
        }
        if (w->data.dataset)
            w->data.epochs = ap_or(n->epochs.value, AP_UNKNOWN);
    }
}

/* What the job files leave open comes from a workload document among them, then from --workload. */
static void fill_from_document(const ap_judge *j, ap_workload *w)
{
    for (size_t i = 0; i < j->job->file_count; i++)
        if (j->job->files[i]->has_workload)
            ap_schema_fill(&ap_workload_object, w, &j->job->files[i]->workload);
    if (j->request->workload)
        ap_schema_fill(&ap_workload_object, w, j->request->workload);
}

static bool has_document(const ap_judge *j)
{
    for (size_t i = 0; i < j->job->file_count; i++)
        if (j->job->files[i]->has_workload)
            return true;
    return j->request->workload != NULL;
}

static void fill_workload(ap_judge *j, double batch)
{
    ap_checkjob *job = j->job;
    ap_workload *w = &job->workload;
    const ap_jobnums *n = &j->f->n;
    ap_workload_init(w);
    w->model = job->has_model ? model_node(j->arena, &job->model) : NULL;
    w->method = job->method;
    w->framework = framework_word(job->framework);
    w->precision = job->precision;
    w->base_precision = job->base_precision;
    w->optimizer = optimizer_word(j->f->t.optimizer.value);
    w->recompute = job->recompute;
    w->stack = stack_of(j);
    w->sequence_length = job->seq_len;
    w->micro_batch = ap_known(job->micro_batch) && job->micro_batch >= 1 ? job->micro_batch : AP_UNKNOWN;
    if (ap_known(n->per_chip_batch.value) && n->per_chip_batch.value >= 1)
        w->micro_batch = n->per_chip_batch.value;
    if (ap_known(batch) && batch >= 1)
        w->global_batch = ap_arena_printf(j->arena, "%.0f", batch);
    if (ap_known(n->lora_rank.value) && n->lora_rank.value >= 1)
        w->lora.rank = n->lora_rank.value;
    static const char *const offload[] = {"optimizer", "parameters"};
    if (job->offload) {
        w->offload.items = AP_NEW_ARRAY(j->arena, const char *, 2);
        for (int i = 0; i < 2; i++)
            if (job->offload & (i ? (unsigned)AP_OFFLOAD_PARAMETERS : (unsigned)AP_OFFLOAD_OPTIMIZER))
                w->offload.items[w->offload.count++] = offload[i];
    }
    bool said = ap_known(n->tp.value) || ap_known(n->pp.value) || ap_known(n->cp.value);
    bool plain = job->framework && strcmp(job->framework, "pytorch") == 0 && ap_job_is_transformers(j) &&
                 !ap_job_has_config_unread(j);
    if (said || plain) {
        w->parallel.tp = job->tp;
        w->parallel.pp = job->pp;
        w->parallel.cp = job->cp;
    }
    w->parallel.sharding = job->sharding;
    fill_data(j, w, batch);
    fill_from_document(j, w);
}

/* The planner would go by the model's published recipe; a job file that does not say how much it trains is not judged
 * by that. */
static void forget_recipe(ap_checkjob *job)
{
    const ap_workload *w = &job->workload;
    if (ap_known(w->data.tokens) || ap_known(w->data.samples) || ap_known(w->data.rows) || w->data.dataset)
        return;
    job->resolved.tokens = job->resolved.samples = job->resolved.epochs = job->resolved.samples_per_epoch = AP_UNKNOWN;
    job->resolved.dataset = NULL;
    job->resolved.recipe = NULL;
    job->resolved.unknown_run = "the job files do not say how much is trained";
}

static bool resolve(ap_judge *j)
{
    ap_checkjob *job = j->job;
    ap_diags quiet;
    ap_diags_init(&quiet, j->arena);
    if (ap_job_resolve(&job->workload, j->request->catalog, NULL, j->arena, &quiet, &job->resolved) != AP_OK)
        return false;
    if (!job->has_model) {
        job->model = job->resolved.model;
        job->has_model = true;
    } else if (!job->model.id) {
        const char *domain = job->resolved.model.domain, *arch = job->resolved.model.arch;
        job->resolved.model = job->model;
        job->resolved.model.domain = job->model.domain ? job->model.domain : domain;
        job->resolved.model.arch = job->model.arch ? job->model.arch : arch;
        job->resolved.model_label = job->model_name;
    }
    forget_recipe(job);
    job->options = (ap_plan_options){.constraints = job->workload.constraints, .as_of = j->request->as_of};
    ap_search_init(&job->search, (ap_search_inputs){&job->resolved, j->request->catalog, j->request->calibration,
                                                    &job->options, j->arena});
    return true;
}

static const char *target_text(const ap_judge *j, const ap_chip *chip, double chips)
{
    const ap_checkjob *job = j->job;
    if (job->instance && chip && strcmp(job->instance->chip, chip->id) == 0) {
        double units = job->nodes.value / ap_or(job->instance->hosts, 1);
        bool region = job->region && ap_catalog_find_price(job->instance, job->region);
        return ap_arena_printf(j->arena, "%s/%s:%.0f%s%s%s", job->instance->cloud, job->instance->name, fmax(1, units),
                               region ? "@" : "", region ? job->region : "", job->spot == 1 ? "+spot" : "");
    }
    return ap_arena_printf(j->arena, "%s:%.0f", chip ? chip->id : "unknown", chips);
}

static void evaluate(ap_judge *j, const ap_chip *chip, double chips, double nodes, ap_result *ret)
{
    ap_checkjob *job = j->job;
    ap_diags quiet;
    ap_target target;
    ap_diags_init(&quiet, j->arena);
    const char *text = target_text(j, chip, chips);
    ap_target_options options = {.pricing = job->spot == 1 ? AP_PRICE_SPOT : AP_PRICE_ON_DEMAND};
    bool priced = ap_target_parse(j->request->catalog, text, &options, j->arena, &quiet, &target) == AP_OK;
    ap_hardware hw = ap_hardware_of_chip(chip, chips);
    if (priced && target.instance && !target.is_chip_target)
        hw = ap_hardware_of_instance(j->request->catalog, target.instance, target.units);
    else if (nodes >= 1) {
        hw.hosts = hw.machines = nodes;
        hw.chips_per_host = chips / nodes;
        hw.domain_chips =
            chip->kind == AP_CHIP_TPU
                ? chips / ap_or(j->f->n.slices.value, 1)
                : fmin(hw.domain_chips, fmax(chips / nodes, ap_or(chip->link.max_peers, 0) > 16 ? chips : 0));
    }
    if (priced)
        ap_hardware_let_out(&hw, &target);
    if (ap_known(job->cpus_per_node) && (!job->instance || job->format == AP_JF_K8S))
        hw.vcpus = job->cpus_per_node;
    const ap_plan *plan = ap_search_plan(&job->search, &hw);
    *ret = (ap_result){.hw = hw, .target = text, .priced_from = priced ? target.priced_from : NULL};
    ap_result_fill(&job->search, plan, priced ? target.price : NULL, priced ? target.pricing : options.pricing, ret);
    if (priced && target.is_chip_target)
        ap_result_set_price(ret, target.price, target.price_usd_per_h);
    if (priced)
        ap_result_warn_of_share(ret, &target, j->arena);
}

/* Hours on one A100 80 GB where the files name no chips: enough to tell a long run from a short one. */
static void estimate_on_reference(ap_judge *j)
{
    ap_checkjob *job = j->job;
    const ap_chip *chip = ap_catalog_chip(j->request->catalog, "a100-sxm4-80gb");
    double batch = ap_known(job->global_batch) ? job->global_batch : job->micro_batch * job->accumulation;
    ap_result result;
    if (!chip || !ap_known(batch))
        return;
    fill_workload(j, batch);
    job->workload.parallel.tp = job->workload.parallel.pp = job->workload.parallel.cp = AP_UNKNOWN;
    job->workload.parallel.sharding = -1;
    job->workload.micro_batch = AP_UNKNOWN;
    if (!resolve(j))
        return;
    evaluate(j, chip, ap_known(job->chip_total) ? job->chip_total : 1, AP_UNKNOWN, &result);
    if (!result.plan->est.error)
        job->reference_h = result.plan->run.hours_p50;
}

/* A workload document names no hardware: the planner's first choice stands for it. */
static void estimate_best(ap_judge *j)
{
    ap_checkjob *job = j->job;
    fill_workload(j, job->global_batch);
    if (!resolve(j))
        return;
    ap_search_run(&job->search);
    if (job->search.result_count == 0)
        return;
    job->result = job->search.results[0];
    job->estimated = true;
}

/* Is the chip rented in boxes of this many? */
static bool is_offered(const ap_judge *j, const ap_chip *chip, double per_node)
{
    const ap_catalog *catalog = j->request->catalog;
    for (size_t i = 0; i < catalog->instances.count; i++) {
        const ap_instance *instance = &catalog->instances.items[i];
        if (strcmp(instance->chip, chip->id) == 0 && fabs(instance->chip_count - per_node) < 0.5 &&
            !ap_streq(instance->market, "free") && !ap_streq(instance->market, "notebook") &&
            !ap_streq(instance->market, "marketplace"))
            return true;
    }
    return false;
}

/* The same number of another GPU that does the job for clearly less money, within the limit and not much more slowly. */
static void find_cheaper(ap_judge *j)
{
    ap_checkjob *job = j->job;
    const ap_catalog *catalog = j->request->catalog;
    double cost = job->result.cost_p50, hours = job->result.hours_p50, best = j->k.cheaper_share * cost;
    double limit = fmin(j->k.cheaper_slower * hours, ap_or(job->time_limit_h, (double)INFINITY));
    if (!(cost > j->k.cheaper_least_usd) || job->resolved.unknown_run || job->result.plan->hw.chip->kind != AP_CHIP_GPU)
        return;
    for (size_t i = 0; i < catalog->chips.count; i++) {
        const ap_chip *chip = &catalog->chips.items[i];
        ap_result other;
        if (chip->kind != AP_CHIP_GPU || chip == job->result.plan->hw.chip ||
            !is_offered(j, chip, job->chips_per_node.value))
            continue;
        evaluate(j, chip, job->chip_total, job->nodes.value, &other);
        bool fits = !other.plan->est.error && other.plan->est.verdict == AP_FITS && !other.plan->refused;
        if (fits && other.cost_p50 < best && other.hours_p50 <= limit) {
            best = other.cost_p50;
            job->cheaper = other;
            job->has_cheaper = true;
        }
    }
}

void ap_estimate_job(ap_judge *j)
{
    ap_checkjob *job = j->job;
    job->reference_h = job->worst_case_usd = AP_UNKNOWN;
    if (!j->request->estimate || !(job->has_model || has_document(j)) || job->mig)
        return;
    bool known = job->chip_count > 0 && ap_known(job->chip_total) && job->chip_total >= 1 && job->chip_total < 1e6;
    if (!known && job->format == AP_JF_WORKLOAD) {
        estimate_best(j);
        return;
    }
    if (!known) {
        estimate_on_reference(j);
        return;
    }
    fill_workload(j, job->global_batch);
    if (!resolve(j))
        return;
    double active = job->chip_total;
    if (ap_known(j->f->n.visible_devices.value) && j->f->n.visible_devices.value < job->chips_per_node.value)
        active = j->f->n.visible_devices.value * job->nodes.value;
    /* one process drives one card unless the program spreads itself */
    for (size_t i = 0; i < job->chip_count; i++)
        evaluate(j, job->chips[i], active, job->nodes.value, &job->per_chip[i]);
    job->result = job->per_chip[0];
    job->estimated = true;
    const ap_plan *plan = job->result.plan;
    if (!plan->est.error)
        job->reference_h = plan->run.hours_p50;
    if (!plan->est.error && plan->est.verdict != AP_DOES_NOT_FIT && active >= job->chip_total)
        find_cheaper(j);
    double times =
        (ap_or(j->f->n.restarts.value, 0) + 1) * ap_or(j->f->n.array_tasks.value, 1) * ap_or(j->f->n.trials.value, 1);
    job->worst_case_usd = job->time_limit_h * job->result.usd_per_h * times;
}
