/* Shape of a transformer from its profile: weights per layer, attended keys, FLOP per token (docs/model.md M-01 …
 * M-09). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "estimate/llm.h"

static double known(double value, double otherwise)
{
    return isfinite(value) && value > 0 ? value : otherwise;
}

/* Layers of a kind in a mix such as "mamba2:23;attn:6;moe:23" or "gdn:36;attn:12 (moe 48)"; 0 when absent. */
static double mix_count(const char *mix, const char *kind)
{
    const char *at = mix ? strstr(mix, kind) : NULL;
    if (!at)
        return 0;
    const char *after = at + strlen(kind);
    while (*after && strchr("12: ", *after) && !(after[-1] == ':' || after[-1] == ' '))
        after++;
    if (*after >= '0' && *after <= '9')
        return strtod(after, NULL);
    const char *before = at; /* "16 moe" */
    while (before > mix && before[-1] == ' ')
        before--;
    while (before > mix && before[-1] >= '0' && before[-1] <= '9')
        before--;
    return before < at && *before >= '0' && *before <= '9' ? strtod(before, NULL) : 0;
}

/* M-09: layers and width from the parameter count alone: width / depth = 64 at 1 G parameters, 192 at 100 G. */
static void guess_shape(double params, ap_llm_shape *s)
{
    double grow = fmin(1, fmax(0, (log10(params) - 9) / 2));
    double aspect = 64 + 128 * grow;
    if (s->layers > 0 && !(s->hidden > 0)) {
        s->hidden = sqrt(fmax(1e6, params) / (12 * s->layers));
    } else if (s->hidden > 0) {
        s->layers = fmax(1, round((params - s->vocab * s->hidden) / (12 * s->hidden * s->hidden)));
    } else {
        double h = 1024;
        for (int i = 0; i < 30; i++)
            h = cbrt(fmax(params * 0.3, params - s->vocab * h) * aspect / 12);
        s->hidden = fmax(64, round(h / 64) * 64);
        s->layers = fmax(1, round((params - s->vocab * s->hidden) / (12 * s->hidden * s->hidden)));
    }
    s->guessed = 1;
}

/* M-02: weights of one attention layer; multi-head, grouped or latent (MLA). */
static double attention_weights(const ap_model *m, const ap_llm_shape *s)
{
    double a = s->heads, h = s->hidden;
    if (m->attention && strcmp(m->attention, "mla") == 0 && m->mla_kv_rank > 0) {
        double rope = known(m->rope_head_dim, 64), rank = m->mla_q_rank;
        double query = rank > 0 ? h * rank + rank * a * s->qk_dim : h * a * s->qk_dim;
        double content = s->qk_dim - rope;
        return query + h * (m->mla_kv_rank + rope) + m->mla_kv_rank * a * (content + s->v_dim) + a * s->v_dim * h;
    }
    return h * (a + 2 * s->kv_heads) * s->qk_dim + a * s->v_dim * h;
}

static void set_heads(const ap_model *m, ap_llm_shape *s)
{
    s->heads = known(m->heads, fmax(1, round(s->hidden / 128)));
    s->kv_heads = known(m->kv_heads, s->heads);
    s->v_dim = known(m->head_dim, s->hidden / s->heads);
    s->qk_dim = s->v_dim;
    if (m->attention && strcmp(m->attention, "mla") == 0) {
        s->qk_dim += known(m->rope_head_dim, 64);
        s->kv_heads = s->heads;
    }
}

static void set_window(const ap_model *m, ap_llm_shape *s)
{
    if (!m->attention || strncmp(m->attention, "sliding:", 8) != 0)
        return;
    char *end;
    s->window = strtod(m->attention + 8, &end);
    double ratio = *end == ':' ? strtod(end + 1, NULL) : 0;
    s->window_share = ratio > 0 ? ratio / (ratio + 1) : 1;
}

/* Which share of the layers has attention, a mixer, experts, a dense MLP. */
static void set_mix(const ap_model *m, ap_llm_shape *s)
{
    s->attention_share = 1;
    s->moe_share = 0;
    if (s->experts > 1) {
        double every = known(m->moe_every, 1), first = known(m->dense_first_layers, 0);
        s->moe_share = fmax(0, 1 - first / s->layers) / every;
    }
    s->dense_share = 1 - s->moe_share;
    if (!m->layer_mix)
        return;
    double mixer = mix_count(m->layer_mix, "mamba") + mix_count(m->layer_mix, "gdn");
    double attention = mix_count(m->layer_mix, "attn");
    if (mixer <= 0)
        return;
    s->mixer_share = fmin(1, mixer / s->layers);
    s->attention_share = fmin(1, attention / s->layers);
    double moe = mix_count(m->layer_mix, "moe");
    if (s->experts > 1 && moe > 0)
        s->moe_share = fmin(1, moe / s->layers);
    s->dense_share = fmin(1, mix_count(m->layer_mix, "mlp") / s->layers);
    s->mixer_weights = 6 * s->hidden * s->hidden; /* in 4 h^2, out 2 h^2 with an expansion of two */
}

/* M-06: where a published count and the shape disagree on an odd amount, the count decides about the layers. */
static void match_count(const ap_model *m, ap_llm_shape *s)
{
    double all = known(m->params, AP_UNKNOWN), active = known(m->active_params, AP_UNKNOWN);
    double emb = s->embedding * s->embedding_count;
    s->active_scale = 1;
    if (s->experts > 1) {
        if (active > 1.5 * emb) {
            double want = (active - emb) / s->layers, ratio = want / s->layer_active;
            if (ratio > 1.25 || ratio < 0.8)
                s->active_scale = fmin(2, fmax(0.5, ratio));
        }
        if (all > 0 && !(s->mixer_share > 0))
            s->layer_weights = fmax((all - emb) / s->layers, s->layer_active);
    } else if (all > 0 && s->guessed == 0 && s->causal == 1 && s->embedding < 0.5 * all) { /* NOLINT */
        double ratio = (all - emb) / s->layers / s->layer_active;
        if ((ratio > 1.12 || ratio < 0.88) && ratio > 0.65 && ratio < 1.5)
            s->active_scale = ratio;
        s->layer_weights *= s->active_scale;
    }
    s->layer_active *= s->active_scale;
}

static void set_layers(const ap_model *m, const char *arch, ap_llm_shape *s)
{
    bool pair = strcmp(arch, "encdec") == 0;
    s->layers = known(m->layers, AP_UNKNOWN);
    if (pair && m->enc_layers > 0 && m->dec_layers > 0)
        s->layers = m->enc_layers + m->dec_layers;
    else if (pair)
        s->layers *= 2; /* profiles give one side */
    s->hidden = known(m->hidden, AP_UNKNOWN);
    s->causal = strcmp(arch, "encoder") == 0 ? 0 : pair ? 0.5 : 1;
    s->cross = pair ? 1.5 : 1; /* half of the layers have a second attention */
}

const char *ap_llm_shape_of(const ap_model *m, const char *arch, ap_llm_shape *s)
{
    memset(s, 0, sizeof *s);
    arch = arch ? arch : m->arch ? m->arch : "decoder";
    set_layers(m, arch, s);
    s->vocab = known(m->vocab, strcmp(arch, "encoder") == 0 ? 30522 : 50304);
    s->experts = known(m->experts, 0) > 1 ? m->experts : 0;
    s->top_k = s->experts > 1 ? fmin(known(m->top_k, 2), s->experts) : 1;
    double params = known(m->params, AP_UNKNOWN);
    if (!(s->layers > 0) || !(s->hidden > 0)) {
        double size = known(m->active_params, params);
        if (!(size >= 1e5))
            return "neither the layers and width nor the parameter count of the model are known";
        guess_shape(size, s);
    }
    if (s->layers > 1e4 || s->hidden > 1e6 || s->vocab > 1e8 || s->hidden < 1 || s->experts > 1e5)
        return "the model's shape is outside what a transformer can have";
    set_heads(m, s);
    set_window(m, s);
    s->gated = m->gated_mlp == 1;
    s->ffn = known(m->ffn, known(m->expert_ffn, 4 * s->hidden));
    s->expert_ffn = known(m->expert_ffn, s->ffn);
    s->shared_ffn = known(m->shared_experts, 0) * known(m->shared_ffn, s->expert_ffn);
    set_mix(m, s);
    double mats = 2 + s->gated;
    s->attention_weights = attention_weights(m, s) * s->cross;
    double dense = mats * s->hidden * s->ffn, expert = mats * s->hidden * s->expert_ffn,
           shared = mats * s->hidden * s->shared_ffn;
    double base =
        s->attention_share * s->attention_weights + s->mixer_share * s->mixer_weights + s->dense_share * dense;
    s->layer_weights = base + s->moe_share * (s->experts * (expert + s->hidden) + shared);
    s->layer_active = base + s->moe_share * (s->top_k * expert + s->experts * s->hidden + shared);
    s->embedding = s->vocab * s->hidden;
    bool tied =
        m->tied_embeddings == 1 || (m->tied_embeddings < 0 && s->gated == 0); /* GPT-2 and BERT tie, Llama does not */
    s->embedding_count = tied ? 1 : 2;
    match_count(m, s);
    double sum = s->layers * (s->layer_weights + 2 * s->hidden) + s->embedding * s->embedding_count + s->hidden;
    s->params = known(m->params, sum);
    if (m->id && strncmp(m->id, "transformer-xl", 14) == 0) { /* M-08: keys of one segment before, adaptive softmax */
        s->memory_len = 1;
        s->embedding = 267735 * s->hidden * (s->hidden < 800 ? 1 : 0.25);
        s->vocab = 28000;
    }
    return NULL;
}

double ap_llm_matmul_params(const ap_llm_shape *s)
{
    return s->layers * s->layer_active + s->embedding;
}

double ap_llm_mean_keys(const ap_llm_shape *s, double seq)
{
    double full = (1 - s->causal / 2) * seq * (1 + s->memory_len);
    if (!(s->window > 0) || s->window >= seq)
        return full;
    double w = s->window, local = s->causal > 0 ? w - w * w / (2 * seq) : fmin(seq, w);
    return s->window_share * local + (1 - s->window_share) * full;
}

double ap_llm_flop_per_token(const ap_llm_shape *s, double seq, bool full)
{
    double keys = full ? seq : ap_llm_mean_keys(s, seq);
    double attention = 2 * keys * s->heads * (s->qk_dim + s->v_dim);
    return 6 * ap_llm_matmul_params(s) + 3 * s->layers * s->attention_share * attention;
}
