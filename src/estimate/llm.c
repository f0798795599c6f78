/* The transformer engine as the dispatcher sees it: one step explained, whole runs, interval cells. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "estimate/llm.h"

static const char *const ids[] = {LLM_CONSTS(AP_CONST_ID) NULL};

static void term(ap_estimate *e, const char *formula, const char *name, double seconds)
{
    if (seconds > 0)
        ap_est_term(e, formula, name, seconds);
}

static void explain_time(const ap_llm_time *t, ap_estimate *e)
{
    term(e, "M-21", "matrix products of the layers", t->gemm);
    term(e, "M-22", "attention core", t->attention);
    term(e, "M-24", "norms, activations, residuals", t->elementwise);
    term(e, "M-25", "de-quantisation of the base", t->dequant);
    term(e, "M-25", "adapters", t->adapters);
    term(e, "M-27", "vocabulary projection and loss", t->head);
    term(e, "M-28", "recomputation", t->recompute);
    term(e, "M-29", "host launch beyond the chip's work", t->host);
    term(e, "M-29", "host work per micro-batch", t->micro_host);
    term(e, "M-33", "tensor-parallel communication", t->tp_comm);
    term(e, "M-34", "context-parallel communication", t->cp_comm);
    term(e, "M-35", "expert communication", t->ep_comm);
    term(e, "M-36", "gathering sharded weights beyond the work", t->fsdp);
    term(e, "M-37", "pipeline bubble", t->bubble);
    term(e, "M-37", "pipeline transfers", t->p2p);
    term(e, "M-38", "gradient exchange not hidden", t->dp_exposed);
    term(e, "M-39", "optimizer", t->optimizer);
    term(e, "M-39", "offloaded states", t->offload);
    term(e, "M-40", "fixed cost of a step", t->fixed);
}

static void item(ap_estimate *e, const char *formula, const char *name, double bytes)
{
    if (bytes > 0)
        ap_est_memory(e, formula, name, bytes);
}

static void explain_memory(const ap_llm_memory *m, ap_estimate *e)
{
    item(e, "M-46", "weights", m->weights);
    item(e, "M-46", "gradients", m->gradients);
    item(e, "M-47", "optimizer states", m->states);
    item(e, "M-49", "gathered weights", m->gathered);
    item(e, "M-50", "adapters and their states", m->adapters);
    item(e, "M-51", "activations", m->activations);
    item(e, "M-52", "attention scores", m->scores);
    item(e, "M-55", "logits and loss", m->logits);
    item(e, "M-56", "fragmentation", m->fragment);
    item(e, "M-57", "context and communicators", m->fixed);
}

static int bottleneck(const ap_llm_time *t)
{
    const double by[] = {
        [AP_BOUND_COMPUTE] = t->gemm + t->attention + t->head + t->recompute,
        [AP_BOUND_MEMORY] = t->elementwise + t->dequant + t->adapters + t->optimizer,
        [AP_BOUND_NETWORK] = t->tp_comm + t->cp_comm + t->ep_comm + t->fsdp + t->dp_exposed + t->p2p + t->offload,
        [AP_BOUND_HOST] = t->host + t->micro_host + t->fixed,
        [AP_BOUND_INPUT] = 0,
        [AP_BOUND_PIPELINE] = t->bubble,
    };
    int best = AP_BOUND_COMPUTE;
    for (int i = 0; i <= AP_BOUND_PIPELINE; i++)
        if (by[i] > by[best])
            best = i;
    return best;
}

/* Values the formulas cannot stand: said, never computed with. */
static const char *check_facts(const ap_est_context *c)
{
    const ap_llm_facts *f = ap_llm_facts_of(c);
    if (!(f->s.layers > 0)) { /* prepare() found no shape */
        ap_llm_shape ignored;
        const char *why = ap_llm_shape_of(c->job.model, c->job.arch, &ignored);
        return why ? why : "the model has no layers";
    }
    if (!(f->gemm_rate > 0) || !isfinite(f->gemm_rate) || !(f->bandwidth > 0) || !isfinite(f->bandwidth))
        return "the chip's peak rate or memory bandwidth is not known";
    if (!(f->seq >= 1) || f->seq > 1e9)
        return "the sequence length is outside 1 .. 1,000,000,000";
    if (!(f->chips > 0) || f->chips > 1e7)
        return "the number of chips is outside 1 .. 10,000,000";
    if (!(f->link > 0) || !(f->nic > 0) || !(f->memory > 0))
        return "a bandwidth or the memory of the machine is not positive";
    return NULL;
}

static void set_layout(const ap_llm_plan *p, const ap_llm_facts *f, ap_layout *ret)
{
    ret->dp = p->dp;
    ret->tp = p->tp;
    ret->pp = p->pp;
    ret->vpp = p->vpp;
    ret->cp = p->cp;
    ret->ep = p->ep;
    ret->sharding = p->sharding;
    ret->recompute = p->recompute;
    ret->micro_batch = p->micro;
    ret->accum = p->micros;
    (void)f;
}

static void llm_run(const ap_est_context *c, const ap_layout *layout, ap_estimate *ret)
{
    const ap_llm_facts *f = ap_llm_facts_of(c);
    ap_llm_plan plan;
    ret->error = check_facts(c);
    if (!ret->error)
        ret->error = ap_llm_plan_complete(c, layout, ret, &plan);
    if (ret->error)
        return;
    ap_llm_time time;
    ap_llm_memory memory;
    ap_llm_step_time(f, c->consts, &plan, &time);
    ap_llm_step_memory(f, c->consts, &plan, &memory);
    set_layout(&plan, f, &ret->layout);
    ret->step_s = time.total;
    ret->samples_per_step = plan.batch;
    ret->tokens_per_step = plan.batch * f->seq_full;
    ret->flop_per_step = time.flop;
    ret->mfu = time.flop / (time.total * f->chips * f->peak);
    explain_time(&time, ret);
    explain_memory(&memory, ret);
    ret->bottleneck = bottleneck(&time);
    ret->capacity_bytes = f->memory;
    ret->peak_bytes = memory.total;
    if ((plan.micro_guessed && f->benchmark > 0) || c->job.fills_card) /* M-17: the batch was chosen to fill the card */
        ret->peak_bytes = c->consts[LLM_mem_fill] * f->memory;
    ret->host_bytes = memory.host;
    ret->verdict = memory.total > 0.97 * f->memory   ? AP_DOES_NOT_FIT
                   : memory.total > 0.92 * f->memory ? AP_TIGHT
                                                     : AP_FITS;
    if (!isfinite(ret->step_s) || !isfinite(ret->peak_bytes) || !(ret->step_s > 0))
        ret->error = "the inputs lead to no finite estimate";
}

/* M-45: work over the steady rate, times the factor of its kind of publication, plus start-up. */
static void llm_whole_run(const ap_est_context *c, const ap_estimate *step, ap_run_estimate *ret)
{
    const ap_case *job = &c->job;
    double samples = ap_case_samples(job);
    double seconds = samples / step->samples_per_step * step->step_s;
    double total = seconds * c->consts[LLM_run_factor] + c->consts[LLM_run_start];
    ret->samples = samples;
    ret->tokens = samples * job->seq_len;
    ret->steps = samples / step->samples_per_step;
    ret->hours_p50 = total / 3600;
    ret->overhead_s = total - seconds;
    ret->goodput = seconds / total;
}

/* Kinds of software whose residuals differ in width. */
static const char *class_of(const ap_llm_facts *f)
{
    if (f->s.experts > 0)
        return "moe";
    switch ((int)f->family) {
    case LLM_FAM_MEG21:
    case LLM_FAM_MCORE:
    case LLM_FAM_FSDP:
    case LLM_FAM_XLA:
        return "pre";
    default:
        return f->encoder > 0 ? "enc" : "oth";
    }
}

/* How much of the case the fit has seen together: 0 its model in this software at this precision and the software on
 * this chip, 1 the model or the chip with the software, 2 the software, 3 not even that. */
static int novelty(const ap_est_context *c)
{
    bool model = ap_est_seen(c, "stack-model-path"), chip = ap_est_seen(c, "stack-chip");
    if (model && chip)
        return 0;
    if (model || (chip && ap_est_seen(c, "stack-model")))
        return 1;
    return chip || ap_est_seen(c, "stack") ? 2 : 3;
}

static void llm_cells(const ap_est_context *c, ap_quantity quantity, bool layout_known, ap_engine_cells *ret)
{
    const ap_llm_facts *f = ap_llm_facts_of(c);
    int new = novelty(c), missing = (c->assumed_count > 0 ? 1 : 0) + (layout_known ? 0 : 1);
    const char *suite = c->job.suite;
    char origin = ap_est_seen(c, "publication") ? '1' : suite && strcmp(suite, "mlperf") == 0 ? 'm' : '0';
    if (quantity != AP_Q_MEMORY) { /* known, a round of MLPerf, or nobody's yet: a plan */
        ap_cells_addf(ret, "p%c|n%d|%d|%s", origin, new, missing, class_of(f));
        ap_cells_addf(ret, "p%c|n%d|%s", origin, new, class_of(f));
        ap_cells_addf(ret, "p%c|n%d", origin, new);
        ap_cells_addf(ret, "p%c|%s", origin, class_of(f));
        ap_cells_addf(ret, "p%c", origin);
    }
    ap_cells_addf(ret, "n%d|%d|%s", new, missing, class_of(f));
    ap_cells_addf(ret, "n%d|%s", new, class_of(f));
    ap_cells_addf(ret, "n%d|%d", new, missing);
    ap_cells_addf(ret, "n%d", new);
}

/* LitGPT prints the time of a micro-iteration. */
static double llm_predict(const ap_est_context *c, const ap_estimate *e, ap_metric metric, const char *unit)
{
    (void)unit;
    if (metric == AP_METRIC_STEP_TIME_S && c->job.stack && strcmp(c->job.stack, "litgpt") == 0)
        return e->step_s / e->layout.accum;
    return AP_UNKNOWN;
}

const ap_engine_ops ap_llm_ops = {
    .name = "llm",
    .ids = ids,
    .free_layout = false,
    .complete = ap_llm_complete,
    .keys = ap_llm_keys,
    .prepare = ap_llm_prepare,
    .run = llm_run,
    .whole_run = llm_whole_run,
    .cells = llm_cells,
    .predict = llm_predict,
    .trace = ap_llm_trace,
};
