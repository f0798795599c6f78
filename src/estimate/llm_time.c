/* Time of one optimizer step (docs/model.md M-20 … M-45). Straight-line arithmetic, no allocation. */
#include <math.h>
#include <string.h>

#include "estimate/llm.h"

/* A share that is hidden: deviations may carry it past the ends. */
static double share(double value)
{
    return fmin(0.98, fmax(0, value));
}

typedef struct gemm_rate {
    double rate, half; /* FLOP/s of an endless product; size at which a dimension costs 1 + half/size */
} gemm_rate;

/* M-20: arithmetic and the traffic of the three operands, added: for a short m this tends to the time of reading the
 * weights. Factors multiplied instead would make a chip of twice the peak slower at small products. */
static double gemm(double m, double n, double k, gemm_rate r)
{
    return 2 * m * n * k / r.rate * (1 + r.half / m + r.half / n + r.half / k);
}

/* M-26: max that rounds the corner: two things that overlap almost. */
static double either(double a, double b)
{
    double hi = fmax(a, b), lo = fmin(a, b);
    if (!(hi > 0))
        return 0;
    double r = lo / hi;
    r *= r;
    return hi * sqrt(sqrt(1 + r * r));
}

typedef struct layer {
    double gemm, attention, elementwise, dequant, adapters; /* forward, seconds */
    double tp, cp, ep;                                      /* forward communication */
} layer;

typedef struct scope { /* what every term reads */
    const ap_llm_facts *f;
    const double *k;
    const ap_llm_plan *p;
    double tokens; /* of a micro-batch on one chip */
    gemm_rate main, wide;
} scope;

/* M-21: projections and MLP of one layer, mean over the layers. */
static double layer_products(const scope *x)
{
    const ap_llm_facts *f = x->f;
    const ap_llm_shape *s = &f->s;
    double t = x->p->tp, m = x->tokens, h = s->hidden, mats = 1 + s->gated;
    double width = (s->heads + 2 * s->kv_heads) * s->qk_dim;
    double plain = h * width + s->heads * s->v_dim * h;
    double attention = (gemm(m, width / t, h, x->main) + gemm(m, h, s->heads * s->v_dim / t, x->main)) *
                       (s->attention_weights / plain) * (1 + 0.5 * s->memory_len) * s->attention_share;
    if (s->mixer_share > 0)
        attention += s->mixer_share * (gemm(m, 4 * h / t, h, x->main) + gemm(m, h, 2 * h / t, x->main));
    double mlp = 0;
    if (s->dense_share > 0)
        mlp = s->dense_share * (gemm(m, mats * s->ffn / t, h, x->main) + gemm(m, h, s->ffn / t, x->main));
    if (s->experts > 0) {
        double rows = fmax(m * x->p->ep * s->top_k / s->experts, 1e-3), local = s->experts / x->p->ep;
        double w = s->expert_ffn / t;
        double moe = local * (gemm(rows, mats * w, h, x->main) + gemm(rows, h, w, x->main)) * x->k[LLM_moe_imbalance];
        if (s->shared_ffn > 0)
            moe += gemm(m, mats * s->shared_ffn / t, h, x->main) + gemm(m, h, s->shared_ffn / t, x->main);
        mlp += s->moe_share * moe;
    }
    return (attention + mlp) * s->active_scale;
}

/* M-22 fused attention and M-23 materialised scores. */
static double layer_attention(const scope *x)
{
    const ap_llm_facts *f = x->f;
    const ap_llm_shape *s = &f->s;
    double t = x->p->tp, heads = s->heads / t;
    if (f->flash > 0)
        return s->attention_share * 2 * x->tokens * f->keys * heads * (s->qk_dim + s->v_dim) / f->flash_rate *
               (1 + 64 / fmax(f->seq, 64));
    double keys = f->seq * (1 + s->memory_len);
    double product = 2 * x->tokens * keys * heads * (s->qk_dim + s->v_dim) * (1 + 0.5 * s->memory_len) / f->score_rate *
                     (1 + f->half16 / f->seq + f->half16 / s->v_dim);
    return s->attention_share * (product + x->k[LLM_score_passes] * f->element * x->p->micro / x->p->cp * heads *
                                               f->seq * f->seq / f->bandwidth);
}

/* M-24: traffic of norms, activations, residuals; casts to 8 and 4 bit; M-25: adapters and de-quantisation. */
static void layer_traffic(const scope *x, layer *ret)
{
    const ap_llm_facts *f = x->f;
    const ap_llm_shape *s = &f->s;
    const double *k = x->k;
    double t = x->p->tp, m = x->tokens, h = s->hidden;
    double width = s->dense_share * s->ffn + s->moe_share * (s->top_k * s->expert_ffn + s->shared_ffn);
    double bytes = f->element * m * (12 * h / x->p->sp + (4 + 2 * s->gated) * width / t);
    ret->elementwise = k[LLM_elementwise] * bytes / f->bandwidth * (1 - f->compile * k[LLM_compile_saving]);
    if (f->path == LLM_PATH_8 || f->path == LLM_PATH_4)
        ret->elementwise += k[LLM_cast_passes] * m * (3 * h + 2 * width / t) * 2 / f->bandwidth;
    ret->dequant = f->quantised > 0 ? k[LLM_dequant] * s->layer_weights / t * 4.5 / f->bandwidth : 0;
    ret->adapters = f->lora > 0 ? k[LLM_adapter_passes] * f->element * m * (8 * h + 4 * width) / f->bandwidth : 0;
}

static double latency(const scope *x, double ranks)
{
    return x->k[LLM_alpha] * log2(ranks);
}

/* M-35: all-to-all of the tokens' copies. Copies to ranks of the own domain take the link; a token goes once to each
 * other domain that has one of its experts, over this chip's own network port; the two overlap. */
static double expert_exchange(const scope *x)
{
    const ap_llm_facts *f = x->f;
    double ep = x->p->ep, k = f->s.top_k, token = f->element * f->s.hidden * x->tokens;
    double inside = fmin(ep, fmax(1, f->domain / x->p->tp)), domains = ep / inside;
    double near = token * k * (inside - 1) / ep / f->link;
    if (!(domains > 1))
        return near;
    double reached = domains * (1 - pow(1 - 1 / domains, k));
    return either(near, token * reached * (domains - 1) / domains / f->nic);
}

/* M-33 tensor, M-34 context and M-35 expert communication of a layer's forward pass. */
static void layer_comm(const scope *x, layer *ret)
{
    const ap_llm_facts *f = x->f;
    const ap_llm_shape *s = &f->s;
    const ap_llm_plan *p = x->p;
    double t = p->tp, m = x->tokens, e = f->element;
    if (t > 1)
        ret->tp = 2 * (2 * e * m * s->hidden * (t - 1) / t / ap_llm_ring(f, t, 1) + latency(x, t)) *
                  (1 - share(x->k[LLM_hide_tp]));
    if (p->cp > 1)
        ret->cp = e * m * 2 * s->kv_heads * s->v_dim * (p->cp - 1) / t / ap_llm_ring(f, p->cp, t);
    if (s->experts > 0 && p->ep > 1)
        ret->ep = s->moe_share * 2 * (expert_exchange(x) + latency(x, p->ep)) * (1 - share(x->k[LLM_hide_ep]));
}

/* M-36: gathering a layer's sharded weights. */
static double layer_gather(const scope *x)
{
    const ap_llm_facts *f = x->f;
    const ap_llm_plan *p = x->p;
    double group = p->hsdp ? fmin(p->shard, f->domain) : p->shard;
    if (!p->zero3 || !(group > 1))
        return 0;
    double per = f->quantised == 1 ? 0.55 : f->element;
    return f->s.layer_weights / p->tp * per * (group - 1) / group /
               (ap_llm_ring(f, group, p->tp) * x->k[LLM_gather_share]) +
           latency(x, group);
}

/* M-27: final norm, vocabulary projection and loss of a micro-batch, forward and backward. */
static double head_time(const scope *x)
{
    const ap_llm_facts *f = x->f;
    if (!(f->head_share > 0))
        return 0;
    double m = fmax(x->tokens * f->head_share, 1), v = f->s.vocab / x->p->tp;
    double products = (f->lora > 0 ? 2 : 3) * gemm(m, v, f->s.hidden, x->wide);
    return products + x->k[LLM_loss_passes] * 4 * m * v / f->bandwidth;
}

static double local_params(const ap_llm_facts *f, const ap_llm_plan *p)
{
    const ap_llm_shape *s = &f->s;
    double experts = s->experts > 0 ? s->moe_share * s->experts * (2 + s->gated) * s->hidden * s->expert_ffn : 0;
    experts = fmin(experts, s->layer_weights);
    double mean = (s->layer_weights - experts) / p->tp + experts / (p->ep * p->tp);
    return s->layers * mean / p->pp + s->embedding / p->tp;
}

/* M-38: what of the gradient exchange is not hidden behind the last backward pass. */
static double exposed_sync(const scope *x, double backward)
{
    const ap_llm_facts *f = x->f;
    const ap_llm_plan *p = x->p;
    double ranks = p->dp * p->cp, hide = share(x->k[LLM_hide_dp]), seconds;
    if (!(ranks > 1))
        return 0;
    double params = local_params(f, p);
    if (p->zero3) {
        double inner = fmin(p->shard, f->domain), outer = p->shard / inner;
        if (!p->hsdp || !(outer > 1))
            return 0;
        seconds = 2 * params * 2 / inner * (outer - 1) / outer / f->nic + latency(x, outer);
    } else {
        double bytes = (f->element == 4 ? 4 : x->k[LLM_gradient_bytes]) * params * f->trained;
        seconds = 2 * bytes * (ranks - 1) / ranks / ap_llm_ring(f, ranks, p->tp) + latency(x, ranks);
    }
    return seconds * (1 - hide) + fmax(0, hide * seconds - hide * backward);
}

/* M-39: optimizer: about 28 bytes a local parameter; offloaded states over the host bus. */
static double optimizer_time(const scope *x, double *ret_offload)
{
    const ap_llm_facts *f = x->f;
    const ap_llm_plan *p = x->p;
    double ranks = p->sharding >= AP_SHARD_ZERO1 ? p->dp * p->cp : 1;
    double local = f->lora > 0 ? f->lora_params / (p->zero3 ? ranks : 1) : local_params(f, p) / ranks;
    *ret_offload = ((unsigned)f->offload & AP_OFFLOAD_OPTIMIZER) ? f->s.params / f->chips * 16 / 6e9 : 0;
    return x->k[LLM_optimizer_passes] * local * 28 / f->bandwidth;
}

typedef struct passes { /* one layer of a micro-batch */
    double forward, backward, recompute, gather, scatter, gpu_forward, comm;
} passes;

static passes layer_passes(const scope *x, const layer *l)
{
    const ap_llm_facts *f = x->f;
    const double *k = x->k;
    double s = k[LLM_slowdown] * f->progress, lora = f->lora;
    passes y = {0};
    y.gpu_forward = (l->gemm + l->attention + l->elementwise + l->dequant + l->adapters) * s + f->kernel;
    y.comm = l->tp + l->cp + l->ep;
    double host = f->host + (x->p->tp > 1 ? k[LLM_host_tensor] * log2(x->p->tp) : 0);
    double maps = x->p->micro * f->s.heads / x->p->tp;
    if (f->fuses_scores > 0 && fmod(maps, 4) != 0)
        host += k[LLM_host_unfused];
    host += (x->p->zero3 && f->chips > 1 ? k[LLM_host_fsdp] * (1 + 2 * lora) : 0);
    y.forward = either(y.gpu_forward + y.comm, host);
    double back = ((lora > 0 ? 1 : 2) * l->gemm + (f->flash > 0 ? 2.5 : 2) * l->attention + 2 * l->elementwise +
                   l->dequant + 2 * l->adapters) *
                      s +
                  (lora > 0 ? 1.5 : 2) * f->kernel;
    y.backward = either(back + y.comm, k[LLM_host_backward] * host);
    bool by_operator = f->family == LLM_FAM_FSDP || f->family == LLM_FAM_XLA || f->family == LLM_FAM_HF;
    if (x->p->recompute == AP_RECOMPUTE_FULL)
        y.recompute = y.forward;
    else if (x->p->recompute == AP_RECOMPUTE_SELECTIVE)
        y.recompute =
            by_operator ? k[LLM_operator_recompute] * y.forward : (f->flash > 0 ? 0.15 : 1) * l->attention * s;
    y.gather = layer_gather(x);
    y.scatter = lora > 0 ? 0 : y.gather * k[LLM_scatter_ratio];
    return y;
}

static void fill_parts(const scope *x, const layer *l, const passes *y, double layers, ap_llm_time *r)
{
    const ap_llm_facts *f = x->f;
    double n = layers * x->p->micros, s = x->k[LLM_slowdown] * f->progress, back = f->lora > 0 ? 1 : 2;
    r->gemm = (1 + back) * l->gemm * s * n;
    r->attention = (f->flash > 0 ? 3.5 : 3) * l->attention * s * n;
    r->elementwise = 3 * l->elementwise * s * n;
    r->dequant = 2 * l->dequant * s * n;
    r->adapters = 3 * l->adapters * s * n;
    r->tp_comm = 2 * l->tp * n;
    r->cp_comm = 2 * l->cp * n;
    r->ep_comm = 2 * l->ep * n;
    r->recompute = y->recompute * n;
    double busy =
        r->gemm + r->attention + r->elementwise + r->dequant + r->adapters + r->tp_comm + r->cp_comm + r->ep_comm;
    r->host = fmax(0, (y->forward + y->backward) * n - busy);
    double covered = y->forward + y->backward + y->recompute;
    double with_gather = either(y->forward, y->gather) + either(y->backward + y->recompute, y->gather + y->scatter);
    r->fsdp = fmax(0, with_gather - covered) * n;
}

/* M-05 and M-13 … M-16 of docs/model.md: the useful work of a step, for MFU. */
static double step_flop(const scope *x)
{
    const ap_llm_facts *f = x->f;
    double tokens = x->p->batch * f->seq;
    double weights = f->s.layers * f->s.layer_active + f->s.embedding * f->head_share;
    double attention = 2 * f->keys * f->s.heads * (f->s.qk_dim + f->s.v_dim) * f->s.layers * f->s.attention_share;
    double per = (f->lora > 0 ? 4 : 6) * weights + 3 * attention + (f->lora > 0 ? 6 * f->lora_params : 0);
    return tokens * (per + f->reference * (2 * weights + attention));
}

/* M-37: seconds of a middle stage, returned of the slowest one. `balance` is how far the software counts embedding and
 * head as a layer each when it cuts the stages (1: the last stage is a layer shorter). */
static double stage_times(const scope *x, double per_layer, double head, double *ret_middle)
{
    double layers = x->f->s.layers, p = x->p->pp, even = layers / p;
    double count = p > 1 ? share(x->k[LLM_balance]) : 0;
    double middle = (layers + 2 * count) / p, last = fmax(middle - count, 0.5 * even);
    *ret_middle = middle * per_layer;
    return fmax(middle * per_layer, last * per_layer + head);
}

static scope scope_of(const ap_llm_facts *f, const double *k, const ap_llm_plan *p)
{
    return (scope){.f = f,
                   .k = k,
                   .p = p,
                   .tokens = p->micro * f->seq / p->cp,
                   .main = {f->gemm_rate, f->half},
                   .wide = {f->gemm_rate16, f->half16}};
}

static layer layer_of(const scope *x)
{
    layer l = {0};
    l.gemm = layer_products(x);
    l.attention = layer_attention(x);
    layer_traffic(x, &l);
    layer_comm(x, &l);
    return l;
}

void ap_llm_step_time(const ap_llm_facts *f, const double *k, const ap_llm_plan *p, ap_llm_time *r)
{
    memset(r, 0, sizeof *r);
    scope x = scope_of(f, k, p);
    layer l = layer_of(&x);
    passes y = layer_passes(&x, &l);
    double layers = f->s.layers / p->pp;
    double per = either(y.forward, y.gather) + either(y.backward + y.recompute, y.gather + y.scatter);
    per += f->reference * either(y.forward, y.gather); /* DPO: the frozen reference model */
    if ((unsigned)f->offload & AP_OFFLOAD_PARAMETERS)
        per += f->s.layer_weights / p->tp * 2 / fmax(1, p->shard) / 12e9;
    double head = head_time(&x) * k[LLM_slowdown];
    double first, last = stage_times(&x, per, head, &first);
    double p2p = 0;
    if (p->pp > 1) {
        double wire = f->chips > f->domain ? f->nic : f->link;
        double split = f->family == LLM_FAM_MCORE ? p->tp : 1;
        p2p = 2 * (f->element * x.tokens * f->s.hidden / split / wire + 2 * k[LLM_alpha]) * p->vpp *
              (1 - share(k[LLM_hide_p2p]));
    }
    r->bubble = p->pp > 1 ? (p->pp - 1) / p->vpp * (first + p2p) : 0; /* M-37 */
    r->micro_host = p->micros * k[LLM_host_micro] * (1 + 0.6 * f->lora);
    r->p2p = p->micros * p2p;
    r->head = p->micros * head;
    r->dp_exposed = exposed_sync(&x, layers * y.backward);
    r->optimizer = optimizer_time(&x, &r->offload);
    r->fixed = k[LLM_host_step];
    double total =
        p->micros * last + r->micro_host + r->p2p + r->bubble + r->dp_exposed + r->optimizer + r->offload + r->fixed;
    r->total = total * (1 + k[LLM_jitter] * log2(fmax(f->chips / 8, 1)));
    fill_parts(&x, &l, &y, layers, r);
    r->flop = step_flop(&x);
}

/* What of a step a person can check layer by layer. */
void ap_llm_layer(const ap_llm_facts *f, const double *k, const ap_llm_plan *p, ap_llm_layer_time *r)
{
    scope x = scope_of(f, k, p);
    layer l = layer_of(&x);
    passes y = layer_passes(&x, &l);
    *r = (ap_llm_layer_time){l.gemm,     l.attention, l.elementwise, l.dequant, l.adapters,  l.tp,         l.cp,     l.ep,
                             y.forward,  y.backward,  y.recompute,   y.gather,  y.scatter,   head_time(&x), x.tokens,
                             local_params(f, p)};
}
