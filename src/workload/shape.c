/* Parameters of a transformer from its shape: M-01 to M-04 of docs/model.md. */
#include "base/num.h"
#include "workload/workload.h"

bool ap_model_is_transformer(const ap_model *model)
{
    static const char *const archs[] = {"decoder", "encoder", "encdec", "moe"};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        if (ap_streq(model->arch, archs[i]))
            return true;
    return false;
}

/* One layer's attention: q, k, v, o, or the low-rank factors of multi-head latent attention. */
static double attention_params(const ap_model *m)
{
    double h = m->hidden, heads = m->heads, d = ap_or(m->head_dim, h / heads);
    if (!ap_known(m->mla_kv_rank))
        return h * (heads + 2 * ap_or(m->kv_heads, heads)) * d + heads * d * h;
    double rope = ap_or(m->rope_head_dim, 64), rank = m->mla_kv_rank, q_width = heads * (d + rope);
    double q = ap_known(m->mla_q_rank) && m->mla_q_rank > 0 ? h * m->mla_q_rank + m->mla_q_rank * q_width : h * q_width;
    return q + h * (rank + rope) + rank * heads * 2 * d + heads * d * h;
}

/* The layers' MLPs together: dense, or routed and shared experts with their router. */
static double mlp_params(const ap_model *m, double layers, bool active_only)
{
    double h = m->hidden, matrices = m->gated_mlp == 1 ? 3 : 2;
    double dense = matrices * h * ap_or(m->ffn, 4 * h);
    double experts = ap_or(m->experts, 0);
    if (experts < 1)
        return layers * dense;
    double every = ap_or(m->moe_every, 1) >= 1 ? ap_or(m->moe_every, 1) : 1;
    double moe_layers = floor((layers - ap_or(m->dense_first_layers, 0)) / every);
    double width = ap_or(m->expert_ffn, ap_or(m->ffn, 4 * h));
    double shared = ap_known(m->shared_ffn) ? m->shared_ffn : ap_or(m->shared_experts, 0) * width;
    double routed = active_only ? ap_or(m->top_k, 1) : experts;
    double one = matrices * h * (routed * width + shared) + h * experts;
    return moe_layers * one + (layers - moe_layers) * dense;
}

double ap_model_shape_params(const ap_model *m, bool active_only)
{
    double layers = ap_known(m->layers) ? m->layers : ap_or(m->enc_layers, 0) + ap_or(m->dec_layers, 0);
    if (!ap_known(m->hidden) || !ap_known(m->heads) || !(layers > 0) || !(m->heads > 0))
        return AP_UNKNOWN;
    double h = m->hidden, vocab = ap_or(m->vocab, 0);
    double cross = ap_streq(m->arch, "encdec") ? ap_or(m->dec_layers, layers / 2) * attention_params(m) : 0;
    double embeddings = vocab * h * (m->tied_embeddings == 1 ? 1 : 2);
    return layers * (attention_params(m) + 2 * h) + cross + mlp_params(m, layers, active_only) + embeddings + h;
}
