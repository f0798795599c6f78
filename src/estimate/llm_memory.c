/* Peak memory of the most loaded chip (docs/model.md M-46 … M-58). */
#include <math.h>
#include <string.h>

#include "estimate/llm.h"

#define GIB 1073741824.0

typedef struct per_param {
    double weight, gradient, state;
} per_param;

/* M-47: bytes of optimizer state per parameter, without the master copy. */
static double optimizer_bytes(int optimizer)
{
    switch (optimizer) {
    case AP_OPT_ADAMW_8BIT:
        return 2.03;
    case AP_OPT_ADAMW_BF16:
    case AP_OPT_LION:
    case AP_OPT_SGD_MOMENTUM:
    case AP_OPT_MUON:
    case AP_OPT_ADAGRAD:
        return 4;
    case AP_OPT_ADAFACTOR:
        return 0.02;
    case AP_OPT_GALORE:
        return 2;
    case AP_OPT_SGD:
    case AP_OPT_NONE:
        return 0;
    default:
        return 8;
    }
}

/* M-46: weights, gradients and states of a trained parameter by software family and precision. */
static per_param bytes_per_param(const ap_llm_facts *f)
{
    double state = optimizer_bytes((int)f->optimizer);
    if (f->element == 4)
        return (per_param){4, 4, state};
    if (f->pure_16 > 0)
        return (per_param){2, 2, state == 8 ? 4 : state};
    switch ((int)f->family) {
    case LLM_FAM_MEG21:
    case LLM_FAM_MCORE:
    case LLM_FAM_OTHER:
        return (per_param){2, 4, 4 + state}; /* master copy with the states */
    default:
        return (per_param){4, 4, state}; /* autocast: 32-bit parameters */
    }
}

/* M-48: parameters of the first stage on one chip: layers and the embedding; without a pipeline also an untied head. */
static double stage_params(const ap_llm_facts *f, const ap_llm_plan *p)
{
    const ap_llm_shape *s = &f->s;
    double experts =
        s->experts > 0 ? fmin(s->layer_weights, s->moe_share * s->experts * (2 + s->gated) * s->hidden * s->expert_ffn)
                       : 0;
    double layer = (s->layer_weights - experts) / p->tp + experts / (p->ep * p->tp);
    return s->layers * layer / p->pp + s->embedding * (p->pp > 1 ? 1 : s->embedding_count) / p->tp;
}

/* M-50: LoRA and QLoRA: frozen base in 16, 8 or 4 bit; embedding and head stay 16 bit. */
static void adapter_states(const ap_llm_facts *f, const double *k, const ap_llm_plan *p, ap_llm_memory *r)
{
    const ap_llm_shape *s = &f->s;
    double bytes = f->quantised == 1 ? 0.53 : f->quantised == 2 ? 1 : f->element; /* 32-bit arithmetic: a 32-bit base */
    bool divided = p->zero3 && (f->quantised > 0 || !(k[LLM_load_whole] > 0.5));  /* peak while loading */
    double ranks = divided ? p->dp * p->cp : 1, split = p->tp * p->pp;
    r->weights =
        (s->layers * s->layer_weights * bytes / split + 2.6 * s->embedding * (s->vocab < 100000 ? 1 : 0.75)) / ranks;
    r->adapters = f->lora_params / split * 14;
    if (divided)
        r->gathered = k[LLM_mem_live] * s->layer_weights * bytes / p->tp;
}

static void full_states(const ap_llm_facts *f, const double *k, const ap_llm_plan *p, ap_llm_memory *r)
{
    const ap_llm_shape *s = &f->s;
    per_param b = bytes_per_param(f);
    double n = p->dp * p->cp, params = stage_params(f, p) * k[LLM_mem_state];
    r->weights = params * b.weight / (p->zero3 ? n : 1);
    r->gradients = params * b.gradient / (p->zero3 || p->sharding == AP_SHARD_ZERO2 ? n : 1);
    r->states = params * b.state / (p->sharding >= AP_SHARD_ZERO1 ? n : 1);
    if ((unsigned)f->offload & AP_OFFLOAD_OPTIMIZER) {
        r->host = f->s.params * (b.state + b.gradient) / fmax(1, f->chips / f->per_node) * 1.5;
        r->states = r->gradients = 0;
    }
    if (!p->zero3)
        return;
    /* M-49: gathered units: the layer at work and the next, embedding and head; a pipeline stage stays whole */
    r->gathered = p->pp > 1 ? params * 6 : (k[LLM_mem_live] * s->layer_weights + 2 * s->embedding) / p->tp * 2;
}

/* M-51 … M-54: activations of a layer for one micro-batch, and what of them lives at the peak. */
static void activations(const ap_llm_facts *f, const double *k, const ap_llm_plan *p, ap_llm_memory *r)
{
    const ap_llm_shape *s = &f->s;
    double m = p->micro * f->seq / p->cp, t = p->tp, h = s->hidden, e = f->element / 2;
    double width = s->dense_share * s->ffn + s->moe_share * (s->top_k * s->expert_ffn + s->shared_ffn);
    double body = s->gated > 0 ? (12 * h + 4 * h * s->kv_heads / s->heads) / p->sp + 6 * width / t
                               : 10 * h / p->sp + 8 * h / t + 4 * width / t;
    body *= m * e;
    double keys = f->seq * (1 + 1.5 * s->memory_len);
    double scores = f->flash > 0 ? 0 : 2.5 * f->element * p->micro * s->heads / t * f->seq * keys;
    double input = f->element * m * h / p->sp;
    double flight = p->pp > 1 ? fmin(p->micros, p->pp) : 1;
    double layers = s->layers / p->pp * (p->vpp > 1 ? 1 + (p->pp - 1) / (p->pp * p->vpp) : 1);
    bool by_operator = f->family == LLM_FAM_FSDP || f->family == LLM_FAM_XLA || f->family == LLM_FAM_HF;
    if (p->recompute == AP_RECOMPUTE_FULL) {
        r->activations = (layers * flight * input + body) * k[LLM_mem_full];
        r->scores = scores * k[LLM_mem_full];
    } else if (p->recompute == AP_RECOMPUTE_SELECTIVE) {
        r->activations = layers * flight * body * (by_operator ? k[LLM_mem_selective] * f->lean : 1);
    } else {
        r->activations = layers * flight * body;
        r->scores = layers * flight * scores;
    }
    r->activations *= k[LLM_mem_act];
    r->scores *= k[LLM_mem_act];
}

void ap_llm_step_memory(const ap_llm_facts *f, const double *k, const ap_llm_plan *p, ap_llm_memory *r)
{
    memset(r, 0, sizeof *r);
    if (f->lora > 0)
        adapter_states(f, k, p, r);
    else
        full_states(f, k, p, r);
    activations(f, k, p, r);
    double m = p->micro * f->seq / p->cp;
    if (f->head_share > 0) { /* M-55 */
        r->logits = k[LLM_mem_logit] * m * f->s.vocab / p->tp * f->head_share * (p->pp > 1 ? 0.5 : 1) * f->lean;
        if (f->s.memory_len > 0)
            r->logits = 7 * f->element * m * (f->s.hidden < 800 ? 200e3 : 110e3);
    }
    double sum =
        r->weights + r->gradients + r->states + r->gathered + r->activations + r->scores + r->logits + r->adapters;
    r->fragment = sum * (k[LLM_mem_fragment] - 1);
    r->fixed = k[LLM_mem_fixed] * GIB;
    r->total = sum + r->fragment + r->fixed;
}
