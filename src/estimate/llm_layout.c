/* Completes a layout by default rules (docs/model.md M-15 … M-19). A planner's layout is complete and only checked. */
#include <math.h>

#include "estimate/llm.h"

static bool given(double value)
{
    return isfinite(value) && value > 0;
}

typedef struct filling {
    const ap_llm_facts *f;
    const double *k;
    const ap_layout *in;
    ap_llm_plan *p;
    ap_estimate *out;
    bool free_parallel; /* tensor and pipeline degrees were ours to choose */
} filling;

/* M-15: sharding from size, family and memory. */
static void choose_sharding(filling *x)
{
    const ap_llm_facts *f = x->f;
    double params = x->f->s.params, memory = f->memory;
    double frozen = f->quantised == 1 ? 0.55 : f->quantised == 2 ? 1.05 : 2;
    int fam = (int)f->family, s = AP_SHARD_ZERO3;
    if (x->in->sharding >= 0) {
        x->p->sharding = x->in->sharding;
        return;
    }
    if (f->offload > 0)
        s = f->chips > 1 ? AP_SHARD_ZERO3 : AP_SHARD_NONE;
    else if (!(f->chips > 1))
        s = AP_SHARD_NONE;
    else if (params * 18 < 0.25 * memory)
        s = AP_SHARD_DDP;
    else if (params > 2e10 && f->pretrain > 0 && (fam == LLM_FAM_OTHER || fam == LLM_FAM_HABANA))
        s = AP_SHARD_ZERO1;
    else if (fam == LLM_FAM_FSDP || fam == LLM_FAM_XLA)
        s = AP_SHARD_ZERO3;
    else if (fam == LLM_FAM_MCORE)
        s = AP_SHARD_ZERO1;
    else if (params * (f->lora > 0 ? frozen : 18) < 0.6 * memory)
        s = AP_SHARD_DDP;
    else if (fam == LLM_FAM_MEG21)
        s = AP_SHARD_ZERO1;
    x->p->sharding = s;
    if (f->chips > 1)
        ap_run_assume(x->out, "sharding", s);
}

/* States of a chip under tensor degree t and pipeline degree p, bytes. */
static double state_bytes(const filling *x, double t, double p)
{
    const ap_llm_facts *f = x->f;
    const ap_llm_shape *s = &f->s;
    double d = fmax(1, f->chips / (t * p)), n = s->params / (t * p);
    if (s->experts > 0) {
        double experts = fmin(s->layer_weights, s->moe_share * s->experts * (2 + s->gated) * s->hidden * s->expert_ffn);
        n = (s->layers * (experts / fmin(fmin(s->experts, 64), d) + s->layer_weights - experts) / p + s->embedding) / t;
    }
    double frozen = f->quantised == 1 ? 0.55 : f->quantised == 2 ? 1.05 : 2;
    bool sharded = x->p->sharding == AP_SHARD_ZERO1 || x->p->sharding == AP_SHARD_ZERO2;
    return n * (f->lora > 0 ? frozen : sharded ? 6 + 12 / d : 18);
}

/* M-16: smallest tensor, then pipeline degree whose states fit 60 % of the memory; more while ranks exceed the batch.
 */
static void choose_degrees(filling *x)
{
    const ap_llm_facts *f = x->f;
    double t = 1, p = 1, cp = given(x->in->cp) ? x->in->cp : 1, limit = f->s.experts > 0 ? 1 : 8;
    while (state_bytes(x, t, p) > 0.6 * f->memory && t * p < f->chips) {
        if (t < fmin(limit, f->per_node))
            t *= 2;
        else if (2 * p <= f->s.layers)
            p *= 2;
        else
            break; /* nothing left to cut: it will be said not to fit */
    }
    while (f->global_batch > 0 && f->chips / (t * p * cp) > f->global_batch && t * p * cp < f->chips) {
        if (t < fmin(f->lora > 0 ? 4 : 8, f->per_node))
            t *= 2;
        else if (cp < 2 || f->lora > 0)
            cp *= 2;
        else if (2 * p <= f->s.layers)
            p *= 2;
        else
            break;
    }
    x->p->tp = t;
    x->p->pp = p;
    x->p->cp = cp;
    ap_run_assume(x->out, "tensor_parallel", t);
}

static void choose_parallel(filling *x)
{
    const ap_llm_facts *f = x->f;
    const ap_layout *in = x->in;
    ap_llm_plan *p = x->p;
    int fam = (int)f->family;
    bool megatron = fam == LLM_FAM_MCORE || fam == LLM_FAM_MEG21 || fam == LLM_FAM_OTHER || fam == LLM_FAM_HABANA ||
                    fam == LLM_FAM_IPU;
    x->free_parallel = !given(in->tp) && !given(in->pp);
    p->zero3 = p->sharding == AP_SHARD_ZERO3 || p->sharding == AP_SHARD_HSDP;
    p->hsdp = p->sharding == AP_SHARD_HSDP;
    p->tp = given(in->tp) ? in->tp : 1;
    p->pp = given(in->pp) ? in->pp : 1;
    p->cp = given(in->cp) ? in->cp : 1;
    bool whole = given(in->dp); /* a planner's layout */
    if (x->free_parallel && !whole && !p->zero3 && megatron && f->s.params > 1e9 && f->chips > 1)
        choose_degrees(x);
    if (!whole && p->tp * p->pp * p->cp > f->chips) {
        p->pp = p->tp * p->cp <= f->chips ? fmax(1, f->chips / (p->tp * p->cp)) : 1;
        p->tp = fmin(p->tp, f->chips);
    }
    p->dp = whole ? in->dp : fmax(1, f->chips / (p->tp * p->pp * p->cp));
    p->vpp = given(in->vpp) ? in->vpp : 1;
    if (!given(in->vpp) && fam == LLM_FAM_MCORE && x->free_parallel && p->pp > 1)
        p->vpp = fmax(1, fmin(6, floor(f->s.layers / p->pp / 2)));
    p->ep = 1;
    if (f->s.experts > 0)
        p->ep = given(in->ep)
                    ? in->ep
                    : fmin(f->s.experts, fmin(p->zero3 ? 1 : fmax(1, p->dp * p->cp), x->free_parallel ? 64 : 8));
    p->shard = p->zero3 ? p->dp * p->cp : 1;
    p->sp = fam == LLM_FAM_MCORE || fam == LLM_FAM_FSDP || fam == LLM_FAM_XLA ? p->tp : 1;
}

static bool fits(const filling *x, double micro, int recompute)
{
    ap_llm_plan p = *x->p;
    ap_llm_memory memory;
    p.micro = micro;
    p.micros = p.pp;
    p.recompute = recompute;
    ap_llm_step_memory(x->f, x->k, &p, &memory);
    return memory.total <= 0.95 * x->f->memory;
}

typedef struct modes {
    int items[3];
    int count;
} modes;

/* M-18: recompute modes to try, cheapest first, by family. */
static modes recompute_modes(const filling *x)
{
    int fam = (int)x->f->family;
    if (x->in->recompute >= 0)
        return (modes){{x->in->recompute}, 1};
    if (fam == LLM_FAM_DLE || fam == LLM_FAM_IPU || x->f->encoder > 0)
        return (modes){{AP_RECOMPUTE_NONE}, 1};
    if (fam == LLM_FAM_HF && (x->p->zero3 || (x->f->lora > 0 && x->k[LLM_checkpoint_default] > 0.5)))
        return (modes){{AP_RECOMPUTE_FULL}, 1};
    if (fam == LLM_FAM_HF || fam == LLM_FAM_HABANA)
        return (modes){{AP_RECOMPUTE_NONE, AP_RECOMPUTE_FULL}, 2};
    if (fam == LLM_FAM_MCORE)
        return (modes){{AP_RECOMPUTE_NONE, AP_RECOMPUTE_SELECTIVE}, 2};
    return (modes){{AP_RECOMPUTE_NONE, AP_RECOMPUTE_SELECTIVE, AP_RECOMPUTE_FULL}, 3};
}

static double largest_filling(const filling *x, double cap)
{
    ap_llm_plan p = *x->p;
    ap_llm_memory one, three;
    p.micros = p.pp;
    p.recompute = AP_RECOMPUTE_NONE;
    p.micro = 1;
    ap_llm_step_memory(x->f, x->k, &p, &one);
    p.micro = 3;
    ap_llm_step_memory(x->f, x->k, &p, &three);
    double each = (three.total - one.total) / 2;
    double count = each > 0 ? floor((0.95 * x->f->memory - one.total) / each + 1) : 1;
    return fmin(fmax(1, count), 4 * cap);
}

/* The whole batch of a chip at once, and the first way of recomputing under which it fits. */
static double no_accumulation(const filling *x, double micro, const modes *m)
{
    x->p->recompute = m->items[m->count - 1];
    for (int i = m->count - 1; i >= 0 && m->count > 1; i--)
        if (fits(x, micro, m->items[i]))
            x->p->recompute = m->items[i];
    return micro;
}

/* M-17: micro-batch: the largest power of two that fits, within the habit of the family. */
static void choose_micro(filling *x)
{
    const ap_llm_facts *f = x->f;
    ap_llm_plan *p = x->p;
    modes m = recompute_modes(x);
    p->micro_guessed = !given(x->in->micro_batch);
    if (!p->micro_guessed) {
        p->micro = x->in->micro_batch;
        p->recompute = m.items[m.count - 1];
        for (int i = m.count - 1; i >= 0 && m.count > 1; i--)
            if (fits(x, p->micro, m.items[i]))
                p->recompute = m.items[i];
    } else {
        double top = f->global_batch > 0 ? f->global_batch / p->dp : 256, params = f->s.params;
        double tokens = params > 1e9 ? 8192 : 65536;
        if (f->family == LLM_FAM_MCORE && params > 3e9)
            tokens = 4096;
        if (f->family == LLM_FAM_HABANA && f->finetune > 0)
            tokens = 4096;
        if (f->lora > 0 || f->family == LLM_FAM_HF)
            tokens = 2048;
        if (f->splits_batch > 0 && !(f->global_batch > 0))
            tokens = f->seq_full; /* a local batch of one is what torchtitan's recipes start from */
        double cap = fmax(1, tokens / f->seq_full);
        p->micro = 0;
        if (f->benchmark > 0 && !(f->global_batch > 0)) { /* benchmark suites fill the card */
            p->micro = largest_filling(x, cap);
            p->recompute = AP_RECOMPUTE_NONE;
        }
        if (f->family == LLM_FAM_XLA && f->global_batch > 0 && fmod(top, 1) == 0) /* accumulates only when told to */
            p->micro = no_accumulation(x, top, &m);
        for (double b = exp2(floor(log2(fmax(1, fmin(top, cap))))); b >= 1 && !(p->micro > 0); b /= 2)
            for (int i = 0; i < m.count && !(p->micro > 0); i++)
                if (fits(x, b, m.items[i])) {
                    p->micro = b;
                    p->recompute = m.items[i];
                }
        if (!(p->micro > 0)) {
            p->micro = 1;
            p->recompute = m.items[m.count - 1];
        }
        while (p->pp > 1 && f->global_batch > 0 && p->micro > 1 && f->global_batch / (p->dp * p->micro) < 2 * p->pp)
            p->micro /= 2; /* keep the pipeline busy */
        ap_run_assume(x->out, "micro_batch", p->micro);
    }
    if (m.count > 1 && f->s.params > 1e9)
        ap_run_assume(x->out, "recompute", p->recompute);
}

/* M-19: micro-batches of a step. */
static void choose_batch(filling *x)
{
    const ap_llm_facts *f = x->f;
    ap_llm_plan *p = x->p;
    double each = p->dp * p->micro, batch = given(x->in->accum) ? each * x->in->accum : f->global_batch;
    if (!(batch > 0)) {
        batch = each;
        if (p->pp > 1 && !(f->splits_batch > 0 && !p->micro_guessed))
            batch = each * p->pp * 4;
        if (p->micro_guessed && f->pretrain > 0 && f->chips >= 64 && f->s.params > 1e9)
            batch = fmax(batch, each * fmax(1, round(4e6 / f->seq_full / each)));
        if (f->pretrain > 0)
            ap_run_assume(x->out, "global_batch", batch);
    }
    if (f->splits_batch > 0 && p->pp > 1 && p->micro > 1) {
        each /= p->micro;
        p->micro = 1;
    }
    double ratio = batch / each;
    p->micros = fmax(1, round(ratio));
    if (ratio < 0.5)
        p->micro = fmax(batch / p->dp, 1e-3);
    p->batch = p->micros * p->micro * p->dp;
}

static const char *check(const ap_llm_facts *f, const ap_llm_plan *p)
{
    const double degrees[] = {p->tp, p->pp, p->cp, p->ep, p->dp, p->vpp};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (!(degrees[i] >= 0.25) || degrees[i] > 1e7)
            return "a parallel degree is outside 1 .. 10,000,000";
    if (!(p->micro > 0) || p->micro > 1e7 || !(p->batch > 0) || p->batch > 1e10)
        return "the batch is outside what can be trained";
    if (p->tp * p->pp * p->cp * p->dp > f->chips * 1.01 + 0.5)
        return "the parallel degrees need more chips than there are";
    if (p->pp > f->s.layers)
        return "there are more pipeline stages than layers";
    if (p->tp > f->s.heads * fmax(1, f->s.v_dim))
        return "the tensor degree exceeds what can be split";
    return NULL;
}

const char *ap_llm_plan_complete(const ap_est_context *context, const ap_layout *layout, ap_estimate *ret,
                                 ap_llm_plan *plan)
{
    *plan = (ap_llm_plan){0};
    filling x = {.f = ap_llm_facts_of(context), .k = context->consts, .in = layout, .p = plan, .out = ret};
    choose_sharding(&x);
    choose_parallel(&x);
    choose_micro(&x);
    choose_batch(&x);
    return check(x.f, plan);
}
