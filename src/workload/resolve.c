/* From the document to the job: names looked up, absent values settled, every such decision written down. The order is
 * the contract's: what the user said, the recipe of the model and data set, the model's profile, the habit of the domain. */
#include <stdarg.h>
#include <string.h>

#include "base/num.h"
#include "catalog/tables.h"
#include "workload/spec.h"

typedef struct resolver {
    const ap_workload *workload;
    const ap_catalog *catalog;
    const char *dir;
    ap_arena *arena;
    ap_diags *diags;
    ap_job *job;
} resolver;

void ap_job_assume(ap_job *job, const char *field, const char *because, const char *value_format, ...)
{
    ap_sbuf value;
    ap_sbuf_init(&value, job->arena);
    va_list args;
    va_start(args, value_format);
    ap_sbuf_vprintf(&value, value_format, args);
    va_end(args);
    *AP_PUSH(job->arena, job->assumptions, job->assumption_count, job->assumption_capacity) =
        (ap_assumption){field, value.text, because};
}

/* A name that an option gave has no line; a wrong one is a usage error, one in a document is bad input. */
static ap_status unknown_name(resolver *r, const char *kind, const char *name, ap_pos pos)
{
    ap_diag *diag = ap_diag_add(r->diags, AP_ERROR, 303, pos, "unknown %s \"%s\"", kind, name);
    diag->hint = ap_catalog_suggest(r->catalog, kind, name, r->arena);
    return pos.line > 0 ? AP_BAD_INPUT : AP_USAGE;
}

static ap_status resolve_model(resolver *r)
{
    const ap_node *node = r->workload->model;
    ap_model *model = &r->job->model;
    if (ap_node_is_null(node)) {
        ap_pos pos = r->workload->pos;
        ap_diag_add(r->diags, AP_ERROR, 304, pos, "no model given")->hint =
            "name one with --model or `model:` (accelpick list models)";
        return pos.line > 0 ? AP_BAD_INPUT : AP_USAGE;
    }
    if (node->kind == AP_NODE_SCALAR) {
        r->job->model_label = node->text;
        const ap_model *found = ap_catalog_find_model(r->catalog, node->text);
        if (!found)
            return unknown_name(r, "model", node->text, node->pos);
        *model = *found;
        return AP_OK;
    }
    const ap_node *hf = ap_node_get(node, "hf");
    if (!hf) {
        r->job->model_label = "custom model";
        return ap_model_spec_load(node, r->arena, r->diags, model);
    }
    const char *path = ap_node_text(hf);
    if (!path) {
        ap_diag_add(r->diags, AP_ERROR, 203, hf->pos, "`hf`: expected the path of a config.json, found %s", ap_node_kind_name(hf));
        return AP_BAD_INPUT;
    }
    if (r->dir && path[0] != '/')
        path = ap_arena_printf(r->arena, "%s/%s", r->dir, path);
    r->job->model_label = path;
    return ap_hf_config_load(path, r->arena, r->diags, model);
}

static void complete_shape(ap_model *model)
{
    if (!ap_model_is_transformer(model))
        return;
    if (!ap_known(model->layers) && (ap_known(model->enc_layers) || ap_known(model->dec_layers)))
        model->layers = ap_or(model->enc_layers, 0) + ap_or(model->dec_layers, 0);
    model->kv_heads = ap_or(model->kv_heads, model->heads);
    if (!ap_known(model->head_dim) && ap_known(model->hidden) && model->heads > 0)
        model->head_dim = model->hidden / model->heads;
    model->params = ap_or(model->params, ap_model_shape_params(model, false));
    if (ap_known(model->experts) && model->experts > 0)
        model->active_params = ap_or(model->active_params, ap_model_shape_params(model, true));
}

static ap_status resolve_dataset(resolver *r)
{
    const char *name = r->workload->data.dataset;
    if (!name)
        return AP_OK;
    r->job->dataset = ap_catalog_find_dataset(r->catalog, name);
    return r->job->dataset ? AP_OK : unknown_name(r, "dataset", name, r->workload->pos);
}

static bool given_amount(const ap_workload *w)
{
    return ap_known(w->data.tokens) || ap_known(w->data.samples) || ap_known(w->data.epochs) || ap_known(w->data.rows);
}

/* Method that the model's recipe for this data set is of, or -1. */
static int method_of_recipe(const resolver *r)
{
    const ap_job *job = r->job;
    const ap_recipe *recipe = job->dataset ? ap_catalog_find_recipe(r->catalog, job->model.id, job->dataset->id) : NULL;
    for (int i = 0; recipe && ap_method_names[i]; i++)
        if (ap_streq(recipe->task, ap_method_names[i]))
            return i;
    return -1;
}

static void resolve_method(resolver *r)
{
    ap_job *job = r->job;
    job->method = r->workload->method;
    if (job->method >= 0)
        return;
    job->method = method_of_recipe(r);
    if (job->method >= 0) {
        ap_job_assume(job, "method", "the model's recipe", "%s", ap_method_names[job->method]);
        return;
    }
    bool text = ap_streq(job->model.domain, "llm") || ap_streq(job->model.domain, "nlp");
    bool much = ap_known(r->workload->data.tokens) && r->workload->data.tokens >= 10e9;
    if (!text)
        job->method = AP_METHOD_TRAIN;
    else
        job->method = much || (!given_amount(r->workload) && !job->dataset) ? AP_METHOD_PRETRAIN : AP_METHOD_FINETUNE;
    ap_job_assume(job, "method", text ? "from the amount of data" : "usual for this kind of model", "%s",
                  ap_method_names[job->method]);
}

/* A published recipe says how long and with what batch; it counts only for training from scratch or its own data set. */
static void resolve_recipe(resolver *r)
{
    ap_job *job = r->job;
    if (!job->model.id || (!ap_job_from_scratch(job) && !job->dataset))
        return;
    job->recipe = ap_catalog_find_recipe(r->catalog, job->model.id, job->dataset ? job->dataset->id : NULL);
}

static double length_in_input(const char *input)
{
    double value;
    const char *end;
    if (input && ap_starts_with(input, "seq ") && ap_num_parse_prefix(input + 4, &value, &end) && value >= 1)
        return value;
    return AP_UNKNOWN;
}

static void resolve_sequence(resolver *r)
{
    ap_job *job = r->job;
    job->seq_len = r->workload->sequence_length;
    if (ap_known(job->seq_len) || !ap_model_is_transformer(&job->model))
        return;
    double own = length_in_input(job->model.input), longest = ap_or(job->model.max_seq, HUGE_VAL);
    bool encoder = ap_streq(job->model.domain, "nlp");
    const char *because = "usual for this method";
    if (job->recipe && ap_known(job->recipe->seq_len)) {
        job->seq_len = job->recipe->seq_len;
        because = "the model's recipe";
    } else if (ap_job_from_scratch(job) && ap_known(own)) {
        job->seq_len = own;
        because = "the model's pre-training length";
    } else {
        job->seq_len = fmin(encoder ? 384 : 2048, longest);
    }
    ap_job_assume(job, "sequence_length", because, "%.0f", job->seq_len);
}

static double usual_batch(const ap_job *job)
{
    static const struct {
        const char *domain;
        double batch;
    } usual[] = {{"vision", 256}, {"detection", 16}, {"segmentation", 16}, {"diffusion", 256}, {"speech", 64},
                 {"recsys", 65536}, {"gnn", 1024}, {"rl", 4096}, {"nlp", 64}};
    if (ap_streq(job->model.domain, "llm"))
        return ap_job_from_scratch(job) ? 512 : 64;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (ap_streq(job->model.domain, usual[i].domain))
            return usual[i].batch;
    return 256;
}

#define MOST_BATCH 1e12

static ap_status parse_batch(resolver *r, const char *text)
{
    const char *reason = NULL;
    bool in_tokens = strstr(text, "token") != NULL;
    double value;
    bool number = ap_units_parse(text, in_tokens ? AP_DIM_TOKENS : AP_DIM_COUNT, &value, r->arena, &reason);
    if (!number || value < 1 || value > MOST_BATCH || value != floor(value)) {
        ap_diag_add(r->diags, AP_ERROR, 305, r->workload->pos, "global_batch \"%s\": %s", text,
                    reason ? reason : "expected a whole number of samples from 1 to 1e12")
            ->hint = "samples per step, such as 64, or tokens with the unit: \"4M tokens\"";
        return r->workload->pos.line > 0 ? AP_BAD_INPUT : AP_USAGE;
    }
    if (in_tokens && !ap_known(r->job->seq_len)) {
        ap_diag_add(r->diags, AP_ERROR, 305, r->workload->pos, "global_batch in tokens, but the model has no sequence length");
        return r->workload->pos.line > 0 ? AP_BAD_INPUT : AP_USAGE;
    }
    r->job->global_batch = in_tokens ? fmax(1, round(value / r->job->seq_len)) : value;
    return AP_OK;
}

static ap_status resolve_batch(resolver *r)
{
    ap_job *job = r->job;
    if (ap_streq(job->model.domain, "trees") || ap_streq(job->model.domain, "classic")) {
        job->global_batch = AP_UNKNOWN;
        return AP_OK;
    }
    if (r->workload->global_batch)
        return parse_batch(r, r->workload->global_batch);
    const char *because = "usual for this kind of training";
    if (job->recipe && ap_known(job->recipe->global_batch)) {
        job->global_batch = job->recipe->global_batch;
        because = "the model's recipe";
    } else if (ap_job_from_scratch(job) && ap_known(job->model.global_batch)) {
        double own = length_in_input(job->model.input), scale = ap_known(own) && ap_known(job->seq_len) ? own / job->seq_len : 1;
        job->global_batch = fmax(1, round(job->model.global_batch * scale));
        because = "the model's published batch";
    } else {
        job->global_batch = usual_batch(job);
    }
    job->batch_assumed = true;
    ap_job_assume(job, "global_batch", because, "%.0f", job->global_batch);
    return AP_OK;
}

/* Adapters and preference pairs need a network; trees and linear models have none. */
static ap_status check_method(resolver *r)
{
    bool table = ap_streq(r->job->model.domain, "trees") || ap_streq(r->job->model.domain, "classic");
    if (!table || r->job->method < AP_METHOD_LORA)
        return AP_OK;
    ap_diag_add(r->diags, AP_ERROR, 305, r->workload->pos, "method %s does not apply to %s", ap_method_names[r->job->method],
                r->job->model_label ? r->job->model_label : "this model")->hint = "use train";
    return r->workload->pos.line > 0 ? AP_BAD_INPUT : AP_USAGE;
}

/* A batch of one graph is the whole graph; its samples are nodes. */
static void resolve_full_graph(resolver *r)
{
    ap_job *job = r->job;
    if (!ap_streq(job->model.domain, "gnn") || r->workload->global_batch || !(job->global_batch <= 1) ||
        !ap_known(job->samples_per_epoch))
        return;
    job->global_batch = job->samples_per_epoch;
    job->batch_assumed = false;
    ap_job_assume(job, "global_batch", "a step sees the full graph", "%.0f", job->global_batch);
}

enum { USUAL_ROUNDS = 500, USUAL_FOREST_TREES = 500 };

/* Trees that do not follow one another; they grow to full depth, so no depth is assumed. */
static bool is_forest(const ap_model *model)
{
    return ap_streq(model->family, "forest");
}

/* Tables of rows: trees and classic models. A boosting round is their step. */
static void resolve_table(resolver *r)
{
    ap_job *job = r->job;
    const ap_workload *w = r->workload;
    job->rows = w->data.rows;
    job->features = w->data.features;
    if (job->dataset) {
        job->rows = ap_or(job->rows, ap_or(job->dataset->rows, job->dataset->samples));
        job->features = ap_or(job->features, job->dataset->features);
    }
    bool tree = ap_streq(job->model.domain, "trees");
    if (tree && !ap_known(job->model.trees)) {
        bool single = ap_streq(job->model.id, "decision-tree");
        double usual = single ? 1 : is_forest(&job->model) ? USUAL_FOREST_TREES : USUAL_ROUNDS;
        job->model.trees = ap_or(w->data.epochs, usual);
        ap_job_assume(job, "trees", single ? "one, not a forest" : is_forest(&job->model) ? "a usual number of trees of a forest" : "a usual number of boosting rounds",
                      "%.0f", job->model.trees);
    }
    if (tree && !is_forest(&job->model) && !ap_known(job->model.depth) && !ap_known(job->model.leaves)) {
        job->model.depth = 8;
        ap_job_assume(job, "depth", "a usual depth", "8");
    }
    if (!ap_known(job->features) && ap_known(job->rows)) {
        job->features = 50;
        ap_job_assume(job, "features", "not given", "50");
    }
    job->samples_per_epoch = job->rows;
    job->epochs = tree ? job->model.trees : ap_or(w->data.epochs, ap_or(job->model.epochs, 1));
    job->samples = job->rows * job->epochs;
    if (!ap_known(job->rows))
        job->unknown_run = "no amount of data given: name rows and features, or a dataset";
}

static const char *const library_framework[] = {"xgboost", "lightgbm", "catboost", "scikit-learn"};

static void resolve_settings(resolver *r)
{
    ap_job *job = r->job;
    const ap_workload *w = r->workload;
    job->framework = w->framework;
    if (job->framework < 0) {
        job->framework = AP_FRAMEWORK_ANY;
        for (int i = 0; i < 4; i++)
            if (ap_streq(job->model.library, library_framework[i]) || ap_streq(job->model.id, library_framework[i]))
                job->framework = 3 + i;
    }
    job->precision = w->precision;
    job->base_precision = w->base_precision;
    bool table = ap_streq(job->model.domain, "trees") || ap_streq(job->model.domain, "classic");
    if (job->precision < 0 && !table)
        ap_job_assume(job, "precision", "the fastest 16 bit that the chip has", "auto");
    if (job->base_precision < 0 && job->method == AP_METHOD_QLORA) {
        job->base_precision = AP_PREC_NF4;
        ap_job_assume(job, "base_precision", "usual for qlora", "nf4");
    }
    job->optimizer = w->optimizer == AP_OPT_ADAM ? AP_OPT_ADAMW : w->optimizer;
    job->objective = w->objective >= 0 ? w->objective : AP_BY_BALANCED;
    job->lora_rank = w->lora.rank;
    job->lora_target_count = (double)w->lora.targets.count;
    if (job->method == AP_METHOD_LORA || job->method == AP_METHOD_QLORA) {
        if (!ap_known(job->lora_rank)) {
            job->lora_rank = 16;
            ap_job_assume(job, "lora.rank", "usual for adapters", "16");
        }
        bool all = w->lora.targets.count == 1 && ap_streq(w->lora.targets.items[0], "all");
        if (w->lora.targets.count == 0 || all)
            job->lora_target_count = job->model.gated_mlp == 1 ? 7 : 6;
        if (w->lora.targets.count == 0)
            ap_job_assume(job, "lora.targets", "every linear layer", "all");
    }
}

static void resolve_optimizer(resolver *r)
{
    ap_job *job = r->job;
    if (job->optimizer >= 0 || ap_streq(job->model.domain, "trees"))
        return;
    const char *name = job->recipe && job->recipe->optimizer ? job->recipe->optimizer : ap_job_from_scratch(job) ? job->model.optimizer : NULL;
    if (ap_streq(name, "adam"))
        name = "adamw"; /* the same states and work */
    for (int i = 0; name && ap_optimizer_names[i]; i++)
        if (strcmp(name, ap_optimizer_names[i]) == 0)
            job->optimizer = i;
    bool sgd = ap_streq(job->model.arch, "cnn") || ap_streq(job->model.domain, "detection");
    const char *because = job->optimizer >= 0 ? "the model's recipe" : "usual for this kind of model";
    if (job->optimizer < 0)
        job->optimizer = sgd ? AP_OPT_SGD_MOMENTUM : AP_OPT_ADAMW;
    ap_job_assume(job, "optimizer", because, "%s", ap_optimizer_names[job->optimizer]);
}

static ap_status resolve_offload(resolver *r)
{
    static const struct {
        const char *word;
        unsigned bits;
    } words[] = {{"none", 0}, {"optimizer", AP_OFFLOAD_OPTIMIZER}, {"parameters", AP_OFFLOAD_PARAMETERS | AP_OFFLOAD_OPTIMIZER},
                 {"activations", AP_OFFLOAD_ACTIVATIONS}};
    ap_status status = AP_OK;
    for (size_t i = 0; i < r->workload->offload.count; i++) {
        const char *given = r->workload->offload.items[i];
        bool known = false;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (ap_streq(given, words[k].word)) {
                r->job->offload |= words[k].bits;
                known = true;
            }
        if (!known) {
            ap_diag_add(r->diags, AP_ERROR, 206, r->workload->pos, "`offload`: unknown word \"%s\"", given)->hint =
                "expected none, optimizer, parameters or activations";
            status = r->workload->pos.line > 0 ? AP_BAD_INPUT : AP_USAGE;
        }
    }
    return status;
}

static void clear_numbers(ap_job *job)
{
    job->lora_rank = job->lora_target_count = job->seq_len = job->global_batch = AP_UNKNOWN;
    job->samples = job->tokens = job->epochs = job->samples_per_epoch = AP_UNKNOWN;
    job->target_batch = job->critical_batch = job->largest_batch = AP_UNKNOWN;
    job->rows = job->features = job->sample_bytes = AP_UNKNOWN;
}

ap_status ap_job_resolve(const ap_workload *workload, const ap_catalog *catalog, const char *dir, ap_arena *arena,
                         ap_diags *diags, ap_job *ret)
{
    *ret = (ap_job){.workload = workload, .arena = arena, .optimizer = -1};
    clear_numbers(ret);
    resolver r = {workload, catalog, dir, arena, diags, ret};
    ap_status model = resolve_model(&r), dataset = resolve_dataset(&r), offload = resolve_offload(&r);
    ap_status first = model != AP_OK ? model : dataset != AP_OK ? dataset : offload;
    if (first != AP_OK)
        return first;
    complete_shape(&ret->model);
    resolve_method(&r);
    resolve_recipe(&r);
    resolve_sequence(&r);
    ap_status batch = resolve_batch(&r), amount = ap_job_check_amount(ret, diags), method = check_method(&r);
    if (batch != AP_OK || amount != AP_OK || method != AP_OK)
        return batch != AP_OK ? batch : amount != AP_OK ? amount : method;
    bool table = ap_streq(ret->model.domain, "trees") || ap_streq(ret->model.domain, "classic");
    if (table && (ap_known(workload->data.rows) || ret->dataset))
        resolve_table(&r);
    else
        ap_job_settle_amount(ret);
    resolve_full_graph(&r);
    ap_job_settle_target(ret, catalog);
    resolve_settings(&r);
    resolve_optimizer(&r);
    ret->sample_bytes = ap_or(workload->data.sample_bytes, ret->dataset ? ret->dataset->bytes_per_sample : AP_UNKNOWN);
    ret->format = workload->data.format ? workload->data.format : ret->dataset ? ret->dataset->format : NULL;
    return AP_OK;
}
