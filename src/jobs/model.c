/* Which model: by name in the catalog, by its shape, or by the size that its name tells. Numbers beat names. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "jobs/understand.h"

/* "meta-llama/Llama-2-7b-hf" -> "llama-2-7b". */
static const char *plain_name(ap_arena *arena, const char *text)
{
    size_t len = strlen(text);
    while (len > 1 && text[len - 1] == '/')
        len--;
    char *name = ap_str_lower(arena, ap_arena_strndup(arena, text, len));
    char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    len = strlen(name);
    if (len > 3 && strcmp(name + len - 3, "-hf") == 0)
        name[len - 3] = 0;
    return name;
}

static const ap_model *find_trimmed(ap_judge *j, const char *name)
{
    static const char *const tails[] = {"-instruct", "-chat", "-base",        "-it",      "-hf",       "-v0.1",
                                        "-v0.2",     "-v0.3", "-v1",          "-v1.0",    "-bnb-4bit", "-unsloth",
                                        "-sft",      "-awq",  "-gptq",        "-uncased", "-cased",    "-deduped",
                                        "-fp16",     "-bf16", "-instruct-hf", "-pt"};
    static const char *const heads[] = {"meta-", "unsloth-", "hf-", "facebook-", "google-"};
    const ap_catalog *catalog = j->request->catalog;
    char *trimmed = ap_arena_strdup(j->arena, name);
    const ap_model *model = ap_catalog_find_model(catalog, trimmed);
    for (int round = 0; round < 4 && !model; round++) {
        size_t before = strlen(trimmed);
        for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
            if (ap_ends_with(trimmed, tails[i]) && strlen(trimmed) > strlen(tails[i]) + 2) {
                trimmed[strlen(trimmed) - strlen(tails[i])] = 0;
                break;
            }
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
            if (ap_starts_with(trimmed, heads[i]))
                trimmed += strlen(heads[i]);
        if (strlen(trimmed) == before)
            break;
        model = ap_catalog_find_model(catalog, trimmed);
    }
    return model;
}

/* "llama3.1-8b" -> "llama-3.1-8b", "llama2-7b" -> "llama-2-7b": a dash before the first digit of the family. */
static const ap_model *find_dashed(ap_judge *j, const char *name)
{
    size_t i = 0;
    while (isalpha((unsigned char)name[i]))
        i++;
    if (i == 0 || !isdigit((unsigned char)name[i]))
        return NULL;
    return find_trimmed(j, ap_arena_printf(j->arena, "%.*s-%s", (int)i, name, name + i));
}

static const ap_model *find_undashed(ap_judge *j, const char *name)
{
    size_t i = 0;
    while (isalpha((unsigned char)name[i]))
        i++;
    if (name[i] != '-' || !isdigit((unsigned char)name[i + 1]))
        return NULL;
    return find_trimmed(j, ap_arena_printf(j->arena, "%.*s%s", (int)i, name, name + i + 1));
}

static const ap_model *find_named(ap_judge *j, const char *text)
{
    const ap_model *model = ap_catalog_find_model(j->request->catalog, text);
    const char *name = plain_name(j->arena, text);
    if (!model)
        model = find_trimmed(j, name);
    if (!model)
        model = find_dashed(j, name);
    if (!model)
        model = find_undashed(j, name);
    return model;
}

/* "8b", "70B", "1.4b", "350m" standing alone in a name: parameters, else NaN. */
static double size_in_name(const char *name)
{
    for (const char *p = name; *p; p++) {
        double value;
        const char *end;
        if (!isdigit((unsigned char)*p) || (p > name && (isalnum((unsigned char)p[-1]) || p[-1] == '.')) ||
            !ap_num_parse_prefix(p, &value, &end))
            continue;
        bool alone = !isalnum((unsigned char)end[*end != 0]);
        if (alone && tolower((unsigned char)*end) == 'b' && value >= 0.05 && value <= 2000)
            return value * 1e9;
        if (alone && tolower((unsigned char)*end) == 'm' && value >= 10 && value <= 5000)
            return value * 1e6;
        while (isdigit((unsigned char)p[1]) || p[1] == '.')
            p++;
    }
    return AP_UNKNOWN;
}

static bool shape_of_args(const ap_judge *j, ap_model *ret)
{
    const ap_jobnums *n = &j->f->n;
    if (!ap_known(n->layers.value) || !ap_known(n->hidden.value) || !(n->hidden.value > 0))
        return false;
    *ret = (ap_model){.arch = ap_or(n->experts.value, 0) > 1 ? "moe" : "decoder",
                      .domain = "llm",
                      .gated_mlp = ap_is(&n->swiglu) ? 1 : 0};
    double *const numbers[] = {&ret->params,
                               &ret->active_params,
                               &ret->layers,
                               &ret->enc_layers,
                               &ret->dec_layers,
                               &ret->hidden,
                               &ret->head_dim,
                               &ret->heads,
                               &ret->kv_heads,
                               &ret->ffn,
                               &ret->vocab,
                               &ret->max_seq,
                               &ret->mla_kv_rank,
                               &ret->mla_q_rank,
                               &ret->rope_head_dim,
                               &ret->experts,
                               &ret->top_k,
                               &ret->shared_experts,
                               &ret->expert_ffn,
                               &ret->shared_ffn,
                               &ret->moe_every,
                               &ret->dense_first_layers,
                               &ret->mtp_layers,
                               &ret->fwd_mac,
                               &ret->acts,
                               &ret->trees,
                               &ret->depth,
                               &ret->leaves,
                               &ret->embedding_rows,
                               &ret->embedding_dim,
                               &ret->tables,
                               &ret->pooling,
                               &ret->global_batch,
                               &ret->samples,
                               &ret->tokens,
                               &ret->epochs,
                               &ret->tier};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = AP_UNKNOWN;
    ret->layers = n->layers.value;
    ret->hidden = n->hidden.value;
    ret->heads = ap_or(n->heads.value, fmax(1, round(n->hidden.value / 128)));
    ret->kv_heads = ap_or(n->kv_heads.value, ret->heads);
    ret->head_dim = ap_or(n->head_dim.value, ret->hidden / ret->heads);
    ret->ffn = ap_or(n->ffn.value, ap_or(n->expansion_ratio.value, 4) * ret->hidden);
    ret->vocab = ap_or(n->vocab.value, 50304);
    ret->tied_embeddings = ap_known(n->tied.value) ? ap_is(&n->tied) : !ap_is(&n->untied);
    if (ap_or(n->experts.value, 0) > 1) {
        ret->experts = n->experts.value;
        ret->top_k = ap_or(n->top_k.value, 2);
        ret->expert_ffn = n->expert_ffn.value;
        ret->active_params = ap_model_shape_params(ret, true);
    }
    if (ap_job_has_format(j, AP_JF_MAXTEXT) || ap_streq(j->f->t.framework.value, "jax"))
        ret->gated_mlp = 1;
    ret->params = ap_model_shape_params(ret, false);
    return ap_known(ret->params);
}

/* The nearest decoder of the catalog with its numbers scaled: enough for memory and time of an unknown 7B. */
static bool model_of_size(ap_judge *j, double params, ap_model *ret)
{
    const ap_catalog *catalog = j->request->catalog;
    const ap_model *best = NULL;
    for (size_t i = 0; i < catalog->models.count; i++) {
        const ap_model *m = &catalog->models.items[i];
        if (!ap_streq(m->arch, "decoder") || !ap_streq(m->domain, "llm") || !ap_known(m->params) ||
            !ap_known(m->hidden) || !ap_known(m->layers))
            continue;
        if (!best || fabs(log(m->params / params)) < fabs(log(best->params / params)))
            best = m;
    }
    if (!best || fabs(log(best->params / params)) > 0.5)
        return false;
    *ret = *best;
    ret->id = NULL;
    ret->params = params;
    return true;
}

static const ap_jobfile *hf_file(const ap_judge *j)
{
    for (size_t i = 0; i < j->job->file_count; i++)
        if (j->job->files[i]->has_hf_model)
            return j->job->files[i];
    return NULL;
}

static const ap_jtext *stated_model(const ap_judge *j)
{
    const ap_jobtexts *t = &j->f->t;
    const ap_jtext *const places[] = {&t->model, &t->arch, &t->model_config};
    for (size_t i = 0; i < 3; i++)
        if (places[i]->value && !(i == 1 && ap_job_has_format(j, AP_JF_HFCONFIG)))
            return places[i];
    return NULL;
}

void ap_understand_model(ap_judge *j)
{
    ap_checkjob *job = j->job;
    const ap_jtext *stated = stated_model(j);
    const ap_jobfile *config = hf_file(j);
    const ap_model *named = NULL;
    if (stated && !ap_ends_with(stated->value, ".json") && !ap_ends_with(stated->value, ".pt"))
        job->model_name = plain_name(j->arena, stated->value);
    if (job->model_name)
        named = find_named(j, stated->value);
    if (config) {
        job->model = config->hf_model;
        job->model.id = NULL; /* it is the type's name, no model of the catalog */
        job->has_model = job->model_from_shape = ap_known(job->model.params);
    } else if (shape_of_args(j, &job->model)) {
        job->has_model = job->model_from_shape = true;
    } else if (named) {
        job->model = *named;
        job->has_model = true;
    } else if (job->model_name && ap_known(size_in_name(job->model_name))) {
        job->has_model = job->model_from_name = model_of_size(j, size_in_name(job->model_name), &job->model);
    }
    /* a name whose numbers disagree with the shape */
    const char *told = job->model_name ? job->model_name : j->f->t.name.value ? j->f->t.name.value : NULL;
    double size = told ? size_in_name(ap_str_lower(j->arena, told)) : AP_UNKNOWN;
    double apart = config ? 1.5 : 2.0; /* arguments leave parts of the shape to assumptions */
    if (job->model_from_shape && ap_known(size) && fabs(log(size / job->model.params)) > log(apart)) {
        const ap_pos pos = j->f->n.layers.pos.line ? j->f->n.layers.pos : ap_job_top(j);
        ap_judge_add(j, AP_FAULT_NAME_SHAPE_MISMATCH, pos,
                     "\"%s\" says %.3g billion parameters, the numbers give %.3g billion; the numbers count", told,
                     size / 1e9, job->model.params / 1e9)
            ->hint = "correct the shape or the name";
    }
}
