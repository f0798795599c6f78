/* A model that is not in the catalog, described by its sizes. */
#include "workload/spec.h"

#include "base/num.h"
#include "catalog/tables.h"

typedef struct model_spec {
    int class_index;
    double params, active_params, layers, enc_layers, dec_layers, hidden, head_dim, ffn, heads, kv_heads, vocab, experts,
        top_k, shared_experts, expert_ffn, gmac, macts, weighted_layers, trees, depth, leaves, tables, embedding_rows, embedding_dim, pooling;
    signed char gated_mlp, tied_embeddings;
    const char *input, *library, *attention;
} model_spec;

/* What a class means: the domain and architecture keys that the estimator knows. */
static const char *const class_names[] = {"decoder", "encoder", "encdec",       "moe",       "cnn",  "vit",    "mixed",
                                          "detection", "segmentation", "unet",   "dit",       "diffusion", "dlrm", "rnn",
                                          "speech",  "gnn",     "rl",           "gbdt",      "linear", "custom", NULL};
static const struct {
    const char *domain, *arch;
} class_means[] = {{"llm", "decoder"},      {"nlp", "encoder"},       {"nlp", "encdec"},     {"llm", "moe"},      {"vision", "cnn"},
                   {"vision", "vit"},       {"vision", "mixed"},      {"detection", "cnn"},  {"segmentation", "cnn"},
                   {"segmentation", "unet"}, {"diffusion", "vit"},    {"diffusion", "unet"}, {"recsys", "dlrm"}, {"nlp", "rnn"},
                   {"speech", "rnn"},       {"gnn", "gnn"},           {"rl", "other"},       {"trees", "gbdt"},  {"classic", "linear"},
                   {"vision", "other"}};

#define OFF(field) offsetof(model_spec, field)
#define SIZE(name, text)                                                                                               \
    {.key = #name, .type = AP_T_NUM, .offset = OFF(name), .dim = AP_DIM_COUNT, .min = 1, .max = 1e16, .doc = text}
/* Limits are those of the catalog's models. */
#define WHOLE(name, most, text) {.key = #name, .type = AP_T_INT, .offset = OFF(name), .min = 1, .max = (most), .doc = text}
#define NONE_OR(name, most, text) {.key = #name, .type = AP_T_INT, .offset = OFF(name), .min = 0, .max = (most), .doc = text}
static const ap_field spec_fields[] = {
    {.key = "class", .type = AP_T_ENUM, .offset = OFF(class_index), .names = class_names, .doc = "Architecture class."},
    {.key = "family", .type = AP_T_ENUM, .offset = OFF(class_index), .flags = AP_F_HIDDEN, .names = class_names,
     .doc = "The same as class."},
    SIZE(params, "Parameters, such as 8.03B."), SIZE(active_params, "Parameters used per token (mixture of experts)."),
    WHOLE(layers, 5000, "Transformer layers."), WHOLE(enc_layers, 5000, "Encoder layers."), WHOLE(dec_layers, 5000, "Decoder layers."),
    WHOLE(hidden, 1e6, "Model width."), WHOLE(head_dim, 1e5, "Width of one attention head."), WHOLE(ffn, 1e7, "Width of the MLP."),
    WHOLE(heads, 1e5, "Query heads."), WHOLE(kv_heads, 1e5, "Key/value heads."), NONE_OR(vocab, 1e9, "Vocabulary size."),
    NONE_OR(experts, 1e5, "Experts per layer; 0 = dense."), NONE_OR(top_k, 1e5, "Experts used per token."),
    NONE_OR(shared_experts, 1e4, "Experts used by every token."), NONE_OR(expert_ffn, 1e7, "Width of one expert."),
    {.key = "gated_mlp", .type = AP_T_BOOL, .offset = OFF(gated_mlp), .doc = "Gated MLP (three matrices)."},
    {.key = "tied_embeddings", .type = AP_T_BOOL, .offset = OFF(tied_embeddings), .doc = "Output head shares the embedding."},
    {.key = "gmac", .type = AP_T_NUM, .offset = OFF(gmac), .min = 1e-9, .max = 1e9,
     .doc = "Billion multiply-accumulates of one forward pass of one sample."},
    {.key = "macts", .type = AP_T_NUM, .offset = OFF(macts), .min = 1e-9, .max = 1e9,
     .doc = "Million activations of one forward pass of one sample."},
    WHOLE(weighted_layers, 1e5, "Convolutions and dense layers of a net: what kernels are launched for."),
    {.key = "input", .type = AP_T_TEXT, .offset = OFF(input), .doc = "Input size, such as 224x224."},
    {.key = "attention", .type = AP_T_TEXT, .offset = OFF(attention), .doc = "mha, gqa, mqa, mla or sliding:WINDOW:RATIO."},
    {.key = "library", .type = AP_T_TEXT, .offset = OFF(library), .doc = "xgboost, lightgbm, catboost, scikit-learn."},
    WHOLE(trees, 1e8, "Boosting rounds."), NONE_OR(depth, 1000, "Depth of a tree."), NONE_OR(leaves, 1e7, "Leaves of a tree."),
    NONE_OR(tables, 1e6, "Embedding tables."), SIZE(embedding_rows, "Rows of all embedding tables."),
    WHOLE(embedding_dim, 1e6, "Width of an embedding."), SIZE(pooling, "Embeddings looked up per table and sample."),
};
const ap_object ap_model_spec_object = {"model", "A model described by its sizes.", sizeof(model_spec),
                                        AP_FIELDS_OF(spec_fields), NULL};

static void copy_spec(const model_spec *spec, ap_model *model)
{
    model->id = "custom";
    model->domain = class_means[spec->class_index].domain;
    model->arch = class_means[spec->class_index].arch;
    model->params = spec->params;
    model->active_params = spec->active_params;
    model->layers = spec->layers;
    model->enc_layers = spec->enc_layers;
    model->dec_layers = spec->dec_layers;
    model->hidden = spec->hidden;
    model->head_dim = spec->head_dim;
    model->ffn = spec->ffn;
    model->heads = spec->heads;
    model->kv_heads = spec->kv_heads;
    model->vocab = spec->vocab;
    model->experts = spec->experts;
    model->top_k = spec->top_k;
    model->shared_experts = spec->shared_experts;
    model->expert_ffn = spec->expert_ffn;
    model->gated_mlp = spec->gated_mlp;
    model->tied_embeddings = spec->tied_embeddings;
    model->fwd_mac = spec->gmac * 1e9;
    model->acts = spec->macts * 1e6;
    model->weighted_layers = spec->weighted_layers;
    model->input = spec->input;
    model->attention = spec->attention;
    model->library = spec->library;
    model->trees = spec->trees;
    model->depth = spec->depth;
    model->leaves = spec->leaves;
    model->tables = spec->tables;
    model->embedding_rows = spec->embedding_rows;
    model->embedding_dim = spec->embedding_dim;
    model->pooling = spec->pooling;
}

/* A class needs enough to say how much work a sample is; says all that is missing at once. */
static bool check_enough(const ap_model *model, ap_pos pos, ap_diags *diags)
{
    bool tree = ap_streq(model->arch, "gbdt") || ap_streq(model->arch, "linear");
    bool shaped = ap_known(model->hidden) && (ap_known(model->layers) || ap_known(model->enc_layers));
    if (tree || ap_known(model->params) || shaped)
        return true;
    ap_diag_add(diags, AP_ERROR, 301, pos, "the model needs `params`, or a shape (`layers`, `hidden`, …)")->hint =
        "for a network that is no transformer also give `gmac` and `macts` of one sample";
    return false;
}

/* Words that a catalog entry may hold as well, so its table takes any text; here they come from somebody's keyboard. */
static bool check_words(const ap_model *model, ap_pos pos, ap_diags *diags)
{
    static const char *const libraries[] = {"xgboost", "lightgbm", "catboost", "scikit-learn", "h2o"};
    static const char *const attentions[] = {"mha", "gqa", "mqa", "mla"};
    const struct {
        const char *key, *given, *const *words;
        size_t count;
    } checks[] = {{"library", model->library, libraries, sizeof libraries / sizeof *libraries},
                  {"attention", model->attention, attentions, sizeof attentions / sizeof *attentions}};
    size_t before = diags->errors;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        bool known = !checks[i].given || ap_starts_with(checks[i].given, "sliding:");
        for (size_t k = 0; k < checks[i].count && !known; k++)
            known = ap_streq(checks[i].given, checks[i].words[k]);
        if (!known)
            ap_diag_add(diags, AP_ERROR, 206, pos, "`%s`: unknown word \"%s\"", checks[i].key, checks[i].given)->hint =
                i == 0 ? "expected xgboost, lightgbm, catboost, scikit-learn or h2o"
                       : "expected mha, gqa, mqa, mla or sliding:WINDOW:RATIO";
    }
    return diags->errors == before;
}

static bool check_divides(const ap_model *model, ap_pos pos, ap_diags *diags)
{
    size_t before = diags->errors;
    if (ap_known(model->heads) && ap_known(model->hidden) && !ap_known(model->head_dim) && model->heads > 0 &&
        fmod(model->hidden, model->heads) != 0)
        ap_diag_add(diags, AP_ERROR, 302, pos, "`hidden` %g is not a multiple of `heads` %g", model->hidden, model->heads)
            ->hint = "give `head_dim` when heads are not hidden/heads wide";
    if (ap_known(model->heads) && ap_known(model->kv_heads) && model->kv_heads > 0 &&
        fmod(model->heads, model->kv_heads) != 0)
        ap_diag_add(diags, AP_ERROR, 302, pos, "`heads` %g is not a multiple of `kv_heads` %g", model->heads,
                    model->kv_heads);
    if (ap_known(model->top_k) && ap_known(model->experts) && model->top_k > model->experts)
        ap_diag_add(diags, AP_ERROR, 302, pos, "`top_k` %g is more than `experts` %g", model->top_k, model->experts);
    return diags->errors == before;
}

ap_status ap_model_spec_load(const ap_node *node, ap_arena *arena, ap_diags *diags, ap_model *ret)
{
    model_spec spec;
    ap_status status = ap_schema_load(&ap_model_spec_object, node, &spec, arena, diags);
    if (status != AP_OK)
        return status;
    if (spec.class_index < 0) {
        ap_diag_add(diags, AP_ERROR, 202, node->pos, "model: missing key 'class'")->hint =
            "decoder, encoder, moe, cnn, vit, unet, gbdt … (accelpick catalog schema model)";
        return AP_BAD_INPUT;
    }
    ap_schema_clear(&ap_model_object, ret);
    copy_spec(&spec, ret);
    ret->pos = node->pos;
    ret->from.source = "the workload document";
    bool enough = check_enough(ret, node->pos, diags);
    bool divides = check_divides(ret, node->pos, diags);
    bool words = check_words(ret, node->pos, diags);
    return enough && divides && words ? AP_OK : AP_BAD_INPUT;
}
