/* The transformer engine explained: matrix products after sharding, and each formula with the case's numbers put in.
 * What a line gives is taken from the engine itself; the text is how a person gets there with a calculator. */
#include <math.h>

#include "estimate/llm.h"
#include "estimate/trace.h"

typedef struct view { /* what every line reads */
    const ap_est_context *c;
    const ap_llm_facts *f;
    const ap_llm_shape *s;
    const double *k;
    const ap_llm_plan *p;
    const ap_llm_layer_time *l;
    const ap_llm_time *t;
    const ap_llm_memory *m;
    const ap_estimate *est;
    double scale; /* all chip time of a layer: slowdown and progress */
    double runs;  /* layers of a stage x micro-batches */
} view;

/* M-20, as the engine has it. */
static double seconds(const view *v, double m, double n, double k, bool head)
{
    double rate = head ? v->f->gemm_rate16 : v->f->gemm_rate, half = head ? v->f->half16 : v->f->half;
    return 2 * m * n * k / rate * (1 + half / m + half / n + half / k);
}

static void product(const view *v, ap_est_trace *trace, ap_trace_product p)
{
    bool head = p.of[0] == 'm';
    p.seconds = seconds(v, p.m, p.n, p.k, head) * p.count;
    ap_trace_product_add(trace, p);
}

/* Counts that are no whole numbers are means over layers of several kinds, or the share of a published parameter count.
 */
static void products(const view *v, ap_est_trace *trace)
{
    const ap_llm_shape *s = v->s;
    double t = v->p->tp, m = v->l->tokens, h = s->hidden, mats = 1 + s->gated, scale = s->active_scale;
    double width = (s->heads + 2 * s->kv_heads) * s->qk_dim;
    double attention = s->attention_weights / (h * width + s->heads * s->v_dim * h) * (1 + 0.5 * s->memory_len) *
                       s->attention_share * scale;
    product(v, trace, (ap_trace_product){"query, key, value", "layer", m, width / t, h, attention, 0, 0});
    product(v, trace,
            (ap_trace_product){"attention projection", "layer", m, h, s->heads * s->v_dim / t, attention, 0, 0});
    product(v, trace, (ap_trace_product){"state-space in", "layer", m, 4 * h / t, h, s->mixer_share * scale, 0, 0});
    product(v, trace, (ap_trace_product){"state-space out", "layer", m, h, 2 * h / t, s->mixer_share * scale, 0, 0});
    product(v, trace, (ap_trace_product){"MLP up", "layer", m, mats * s->ffn / t, h, s->dense_share * scale, 0, 0});
    product(v, trace, (ap_trace_product){"MLP down", "layer", m, h, s->ffn / t, s->dense_share * scale, 0, 0});
    if (s->experts > 0) {
        double rows = fmax(m * v->p->ep * s->top_k / s->experts, 1e-3), w = s->expert_ffn / t;
        double count = s->experts / v->p->ep * v->k[LLM_moe_imbalance] * s->moe_share * scale;
        product(v, trace,
                (ap_trace_product){"experts up (count x moe_imbalance)", "layer", rows, mats * w, h, count, 0, 0});
        product(v, trace, (ap_trace_product){"experts down (count x moe_imbalance)", "layer", rows, h, w, count, 0, 0});
        double shared = s->shared_ffn > 0 ? s->moe_share * scale : 0;
        product(v, trace,
                (ap_trace_product){"shared expert up", "layer", m, mats * s->shared_ffn / t, h, shared, 0, 0});
        product(v, trace, (ap_trace_product){"shared expert down", "layer", m, h, s->shared_ffn / t, shared, 0, 0});
    }
    if (v->f->head_share > 0)
        product(v, trace,
                (ap_trace_product){"vocabulary projection", "micro-batch", fmax(m * v->f->head_share, 1), s->vocab / t,
                                   h, 1, 0, 0});
}

static void work(const view *v, ap_est_trace *trace)
{
    const ap_llm_facts *f = v->f;
    const ap_llm_shape *s = v->s;
    trace->part = AP_TRACE_WORK;
    AP_SAY(trace, "M-01", "parameters", s->params, "",
           "L(w + 2h) + cVh + h, L %g, w %.5g, h %g, V %g, c %g (or as published)", s->layers, s->layer_weights,
           s->hidden, s->vocab, s->embedding_count);
    AP_SAY(trace, "M-07", "mean keys a query sees", f->keys, "keys",
           s->window > 0   ? "s %g, window %g in %.3g of the layers"
           : s->causal < 1 ? "every position sees all: s %g"
                           : "causal: s/2, s %g",
           f->seq, s->window, s->window_share);
    double tokens = v->p->batch * f->seq, weights = s->layers * s->layer_active + s->embedding * f->head_share;
    double each = f->lora > 0 ? 4 : 6;
    AP_SAY(trace, f->lora > 0 ? "M-42" : "M-05", "FLOP of a token, forward and backward", v->t->flop / tokens, "FLOP",
           "%g x %.5g weights + 3 x 2 x %g keys x %g heads x (%g + %g) x %g layers%s", each, weights, f->keys, s->heads,
           s->qk_dim, s->v_dim, s->layers * s->attention_share, f->lora > 0 ? " + 6 x adapters" : "");
    AP_SAY(trace, "M-41", "useful FLOP of a step", v->t->flop, "FLOP", "%g sequences x %g tokens x %.5g", v->p->batch,
           f->seq, v->t->flop / tokens);
    AP_SAY(trace, "M-19", "micro-batches", v->p->micros, "", "%g sequences a step / (dp %g x micro-batch %g)",
           v->p->batch, v->p->dp, v->p->micro);
}

static void rates(const view *v, ap_est_trace *trace)
{
    const ap_llm_facts *f = v->f;
    const ap_chip *chip = v->c->job.chip;
    static const char *const ids[] = {"gemm_16", "gemm_8", "gemm_4", "gemm_tf32", "gemm_32"};
    static const int at[] = {LLM_gemm_16, LLM_gemm_8, LLM_gemm_4, LLM_gemm_tf32, LLM_gemm_32};
    int path = (int)f->path;
    bool eight = path == LLM_PATH_8 || path == LLM_PATH_4;
    double measured = eight ? chip->matmul_ceiling_8 : chip->matmul_ceiling_16;
    double ceiling = path > LLM_PATH_4    ? 1
                     : isfinite(measured) ? measured
                                          : v->k[eight ? LLM_ceiling_8 : LLM_ceiling_16];
    double share = ceiling * v->k[at[path]];
    trace->part = AP_TRACE_TIME;
    AP_SAY(trace, "M-11", "rate of an endless product", f->peak * share, "FLOP/s",
           "peak %.5g x ceiling %.4g (%s) x %s %.4g", f->peak, ceiling,
           path > LLM_PATH_4    ? "none at this precision"
           : isfinite(measured) ? "measured on this chip"
                                : "mean of its generation",
           ids[path], v->k[at[path]]);
    AP_SAY(trace, "M-12", "after power and age of the software", f->gemm_rate, "FLOP/s", "%.5g x %.4g", f->peak * share,
           f->gemm_rate / (f->peak * share));
    AP_SAY(trace, "M-13", "memory bandwidth", f->bandwidth, "B/s", "%.5g x hbm_share %.4g", chip->memory.bandwidth,
           v->k[LLM_hbm_share]);
    AP_SAY(trace, "M-14", "factor of the software on a layer", v->scale, "", "slowdown %.4g x progress %.4g",
           v->k[LLM_slowdown], f->progress);
    AP_SAY(trace, "M-20", "size at which a side costs its double", f->half, "",
           "gemm_half %.4g / 3 x %.5g FLOP/s x %g B / %.5g B/s", v->k[LLM_gemm_half], f->peak, f->element / 2,
           chip->memory.bandwidth);
    AP_SAY(trace, "M-30", "link of a chip", f->link, "B/s", "one direction of the fabric x its share");
    AP_SAY(trace, "M-30", "network of a chip", f->nic, "B/s", "ports of a node / %g chips x nic_share %.4g",
           f->per_node, v->k[LLM_nic_share]);
}

static void say_term(const view *v, ap_est_trace *trace, ap_trace_line line, double layer, const char *passes)
{
    if (line.value > 0)
        ap_trace_line_add(trace, &line, "%.4g ms a layer x %s x M-14 %.4g x %g layers x %g micro-batches", 1e3 * layer,
                          passes, v->scale, v->s->layers / v->p->pp, v->p->micros);
}

static void layer_terms(const view *v, ap_est_trace *trace)
{
    const ap_llm_facts *f = v->f;
    const ap_llm_time *t = v->t;
    const ap_llm_layer_time *l = v->l;
    bool lora = f->lora > 0;
    say_term(v, trace,
             (ap_trace_line){.formula = "M-21", .name = "matrix products of the layers", .value = t->gemm, .unit = "s"},
             l->gemm, lora ? "2 passes" : "3 passes");
    if (f->flash > 0)
        AP_SAY(trace, "M-22", "attention of a layer, forward", l->attention, "s",
               "2 x m %g x keys %g x heads %g x (%g + %g) / %.5g FLOP/s x (1 + 64/s)", l->tokens, f->keys,
               v->s->heads / v->p->tp, v->s->qk_dim, v->s->v_dim, f->flash_rate);
    else
        AP_SAY(trace, "M-23", "attention of a layer, forward", l->attention, "s",
               "product at %.5g FLOP/s + score_passes %.4g over %g x %g scores a head", f->score_rate,
               v->k[LLM_score_passes], f->seq, f->seq);
    say_term(v, trace, (ap_trace_line){.formula = "M-22", .name = "attention core", .value = t->attention, .unit = "s"},
             l->attention, f->flash > 0 ? "3.5 passes" : "3 passes");
    say_term(v, trace,
             (ap_trace_line){
                 .formula = "M-24", .name = "norms, activations, residuals", .value = t->elementwise, .unit = "s"},
             l->elementwise, "3 passes");
    say_term(
        v, trace,
        (ap_trace_line){.formula = "M-25", .name = "de-quantisation of the base", .value = t->dequant, .unit = "s"},
        l->dequant, "2 passes");
    say_term(v, trace, (ap_trace_line){.formula = "M-25", .name = "adapters", .value = t->adapters, .unit = "s"},
             l->adapters, "3 passes");
    if (t->head > 0)
        AP_SAY(trace, "M-27", "vocabulary projection and loss", t->head, "s",
               "%.4g ms a micro-batch (%s products + loss_passes %.4g x 4mV/t / BW) x slowdown x %g", 1e3 * l->head,
               lora ? "2" : "3", v->k[LLM_loss_passes], v->p->micros);
    if (t->recompute > 0)
        AP_SAY(trace, "M-28", "recomputation", t->recompute, "s", "%.4g ms a layer x %g", 1e3 * l->recompute, v->runs);
    AP_SAY(trace, "M-29", "a layer, forward and backward", l->forward + l->backward, "s",
           "%.4g + %.4g ms, with the host's floor of %.4g ms (M-26)", 1e3 * l->forward, 1e3 * l->backward,
           1e3 * f->host);
    if (t->host > 0)
        AP_SAY(trace, "M-29", "host launch beyond the chip's work", t->host, "s",
               "(%.4g ms - the chip's work and its communication) x %g", 1e3 * (l->forward + l->backward), v->runs);
    if (t->micro_host > 0)
        AP_SAY(trace, "M-29", "host work per micro-batch", t->micro_host, "s", "host_micro %.4g s x %g",
               v->k[LLM_host_micro], v->p->micros);
}

static void network_terms(const view *v, ap_est_trace *trace)
{
    const ap_llm_facts *f = v->f;
    const ap_llm_plan *p = v->p;
    const ap_llm_time *t = v->t;
    const ap_llm_layer_time *l = v->l;
    if (p->tp > 1) {
        AP_SAY(trace, "M-31", "ring of the tensor-parallel ranks", ap_llm_ring(f, p->tp, 1), "B/s",
               "%g neighbours in domains of %g", p->tp, f->domain);
        AP_SAY(trace, "M-33", "tensor-parallel communication", t->tp_comm, "s",
               "2 x (2 x %g B x m %g x h %g x %g/%g / ring + alpha %.3g s x log2 %g) x (1 - hide_tp %.3g), forward and "
               "backward, x %g",
               f->element, l->tokens, v->s->hidden, p->tp - 1, p->tp, v->k[LLM_alpha], p->tp, v->k[LLM_hide_tp],
               v->runs);
    }
    if (t->cp_comm > 0)
        AP_SAY(trace, "M-34", "context-parallel communication", t->cp_comm, "s",
               "%.4g ms a layer, forward and backward, x %g", 1e3 * l->cp_comm, v->runs);
    if (t->ep_comm > 0)
        AP_SAY(trace, "M-35", "expert communication", t->ep_comm, "s", "%.4g ms a layer, forward and backward, x %g",
               1e3 * l->ep_comm, v->runs);
    if (l->gather > 0)
        AP_SAY(trace, "M-36", "gathering sharded weights beyond the work", t->fsdp, "s",
               "%.4g ms a gather, %.4g ms a scatter, over passes of %.4g and %.4g ms (M-26), x %g", 1e3 * l->gather,
               1e3 * l->scatter, 1e3 * l->forward, 1e3 * (l->backward + l->recompute), v->runs);
    if (p->pp > 1) {
        AP_SAY(trace, "M-37", "pipeline bubble", t->bubble, "s",
               "(p %g - 1) / v %g x a middle stage and its transfers of %.4g s", p->pp, p->vpp,
               t->bubble * p->vpp / (p->pp - 1));
        AP_SAY(trace, "M-37", "pipeline transfers", t->p2p, "s", "%g micro-batches x %.4g ms", p->micros,
               1e3 * t->p2p / p->micros);
    }
    double ranks = p->dp * p->cp;
    if (ranks > 1 && !p->zero3)
        AP_SAY(trace, "M-38", "gradient exchange not hidden", t->dp_exposed, "s",
               "2 x %.5g local parameters x %.4g B x %g/%g over a ring of %.5g B/s, hidden behind the last backward by "
               "hide_dp %.3g",
               l->local_params, (f->element == 4 ? 4 : v->k[LLM_gradient_bytes]) * f->trained, ranks - 1, ranks,
               ap_llm_ring(f, ranks, p->tp), v->k[LLM_hide_dp]);
}

static void sum_terms(const view *v, ap_est_trace *trace)
{
    const ap_llm_facts *f = v->f;
    const ap_llm_time *t = v->t;
    AP_SAY(trace, "M-39", "optimizer", t->optimizer, "s",
           "optimizer_passes %.4g x 28 B x %.5g local parameters / %.5g B/s", v->k[LLM_optimizer_passes],
           t->optimizer * f->bandwidth / 28 / v->k[LLM_optimizer_passes], f->bandwidth);
    double stage = t->total / (1 + v->k[LLM_jitter] * log2(fmax(f->chips / 8, 1))) - t->micro_host - t->p2p -
                   t->bubble - t->dp_exposed - t->optimizer - t->offload - t->fixed;
    AP_SAY(trace, "M-37", "micro-batches through the slowest stage", stage, "s", "%g x %.4g s", v->p->micros,
           stage / v->p->micros);
    AP_SAY(trace, "M-40", "the step", t->total, "s",
           "(slowest stage %.4g + host %.4g + transfers %.4g + bubble %.4g + gradients %.4g + optimizer %.4g + offload "
           "%.4g + fixed %.4g) x (1 + jitter %.3g x "
           "log2 %g)",
           stage, t->micro_host, t->p2p, t->bubble, t->dp_exposed, t->optimizer, t->offload, t->fixed, v->k[LLM_jitter],
           fmax(f->chips / 8, 1));
    AP_SAY(trace, "M-41", "MFU", v->est->mfu, "", "%.5g FLOP / (%.4g s x %g chips x %.5g FLOP/s)", t->flop, t->total,
           f->chips, f->peak);
}

static void memory_terms(const view *v, ap_est_trace *trace)
{
    const ap_llm_facts *f = v->f;
    const ap_llm_memory *m = v->m;
    const ap_llm_plan *p = v->p;
    double ranks = p->dp * p->cp, params = v->l->local_params;
    trace->part = AP_TRACE_MEMORY;
    if (!(f->lora > 0)) {
        AP_SAY(trace, "M-46", "weights", m->weights, "B", "%.4g B a parameter of the %.5g on this chip (M-48)%s",
               m->weights / params, params, p->zero3 ? ", over the ranks that share them" : "");
        AP_SAY(trace, "M-46", "gradients", m->gradients, "B", "%.4g B a parameter of %.5g", m->gradients / params,
               params);
        AP_SAY(trace, "M-47", "optimizer states", m->states, "B", "%.4g B a parameter of %.5g%s", m->states / params,
               params, p->sharding >= AP_SHARD_ZERO1 && ranks > 1 ? ", over the data-parallel ranks" : "");
    } else {
        AP_SAY(trace, "M-50", "frozen base", m->weights, "B", "%.4g B a parameter of %.5g", m->weights / v->s->params,
               v->s->params);
        AP_SAY(trace, "M-50", "adapters and their states", m->adapters, "B", "14 B x %.5g parameters / (t %g x p %g)",
               f->lora_params, p->tp, p->pp);
    }
    if (m->gathered > 0)
        AP_SAY(trace, "M-49", "gathered weights", m->gathered, "B",
               "mem_live %.4g layers of %.5g weights, 16 bit, embedding and head", v->k[LLM_mem_live],
               v->s->layer_weights / p->tp);
    double flight = p->pp > 1 ? fmin(p->micros, p->pp) : 1;
    AP_SAY(trace, "M-53", "layers in flight", v->s->layers / p->pp * flight, "",
           "%g layers of a stage x %g micro-batches", v->s->layers / p->pp, flight);
    AP_SAY(trace, p->recompute == AP_RECOMPUTE_NONE ? "M-51" : "M-54", "activations", m->activations, "B",
           "m %g tokens, h %g, f %g, t %g, recomputation %s, x mem_act %.4g", v->l->tokens, v->s->hidden, v->s->ffn,
           p->tp, ap_recompute_names[p->recompute], v->k[LLM_mem_act]);
    if (m->scores > 0)
        AP_SAY(trace, "M-52", "attention scores", m->scores, "B",
               "2.5 x %g B x %g sequences x %g heads x s %g squared, per layer alive", f->element, p->micro,
               v->s->heads / p->tp, f->seq);
    if (m->logits > 0)
        AP_SAY(trace, "M-55", "logits and loss", m->logits, "B", "mem_logit %.4g B x %g tokens x %g words%s",
               v->k[LLM_mem_logit], v->l->tokens, v->s->vocab / p->tp, p->pp > 1 ? " x 1/2" : "");
    AP_SAY(trace, "M-56", "fragmentation", m->fragment, "B", "(mem_fragment %.4g - 1) x all of the above",
           v->k[LLM_mem_fragment]);
    AP_SAY(trace, "M-57", "context and communicators", m->fixed, "B", "mem_fixed %.4g GiB", v->k[LLM_mem_fixed]);
    AP_SAY(trace, "M-58", "peak", v->est->peak_bytes, "B",
           "sum; %.4g of the usable %.5g B: above 0.92 tight, above 0.97 does not fit", m->total / f->memory,
           f->memory);
}

void ap_llm_trace(const ap_est_context *context, const ap_estimate *estimate, ap_est_trace *ret)
{
    const ap_llm_facts *f = ap_llm_facts_of(context);
    ap_estimate again = *estimate;
    ap_llm_plan plan;
    ap_llm_time time;
    ap_llm_memory memory;
    ap_llm_layer_time layer;
    if (ap_llm_plan_complete(context, &estimate->layout, &again, &plan))
        return;
    ap_llm_step_time(f, context->consts, &plan, &time);
    ap_llm_step_memory(f, context->consts, &plan, &memory);
    ap_llm_layer(f, context->consts, &plan, &layer);
    view v = {.c = context,
              .f = f,
              .s = &f->s,
              .k = context->consts,
              .p = &plan,
              .l = &layer,
              .t = &time,
              .m = &memory,
              .est = estimate};
    v.scale = context->consts[LLM_slowdown] * f->progress;
    v.runs = f->s.layers / plan.pp * plan.micros;
    products(&v, ret);
    work(&v, ret);
    rates(&v, ret);
    layer_terms(&v, ret);
    network_terms(&v, ret);
    sum_terms(&v, ret);
    memory_terms(&v, ret);
    ret->part = AP_TRACE_RUN;
    AP_SAY(ret, "M-45", "factor on the steps, and start", context->consts[LLM_run_factor], "",
           "run_factor by what the hours count and the software; run_start %.4g s", context->consts[LLM_run_start]);
}
