/* Parallel degrees that the user named and that cannot be: said with their numbers, before any layout is tried. */
#include "base/num.h"
#include "plan/plan.h"

typedef struct degree {
    const char *name;
    double value;
} degree;

/* "tensor 8 x pipeline 4" */
static const char *product_text(const degree *degrees, size_t count, ap_arena *arena)
{
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    for (size_t i = 0; i < count; i++)
        if (degrees[i].value > 1)
            ap_sbuf_printf(&text, "%s%s %g", text.len ? " x " : "", degrees[i].name, degrees[i].value);
    return text.text;
}

/* What only transformers are split by. */
static const char *without_layers(const ap_job *job, const degree *degrees, size_t count, ap_arena *arena)
{
    for (size_t i = 0; i < count; i++)
        if (degrees[i].value > 1)
            return ap_arena_printf(arena, "%s parallelism is for transformers: %s trains data-parallel or on one machine",
                                   degrees[i].name, job->model.id ? job->model.id : "this model");
    return NULL;
}

static const char *wrong_experts(const ap_case *job, double ep, ap_arena *arena)
{
    double experts = ap_or(job->model->experts, 1);
    if (!(ep > 1))
        return NULL;
    if (experts <= 1)
        return ap_arena_printf(arena, "an expert degree of %g has no meaning: the model has no experts", ep);
    if (fmod(experts, ep) != 0)
        return ap_arena_printf(arena, "an expert degree of %g does not divide the model's %g experts", ep, experts);
    return NULL;
}

const char *ap_plan_wrong_degrees(const ap_search *search, const ap_case *job, bool *ret_more_chips)
{
    const ap_workload *w = search->job->workload;
    ap_arena *arena = search->arena;
    const degree degrees[] = {{"tensor", ap_or(w->parallel.tp, 1)}, {"pipeline", ap_or(w->parallel.pp, 1)},
                              {"context", ap_or(w->parallel.cp, 1)}, {"expert", ap_or(w->parallel.ep, 1)}};
    double tp = degrees[0].value, pp = degrees[1].value, cp = degrees[2].value, ep = degrees[3].value;
    double product = tp * pp * cp, layers = job->model->layers, heads = job->model->heads;
    *ret_more_chips = false;
    if (ap_est_engine(job) != AP_ENGINE_LLM)
        return without_layers(search->job, degrees, sizeof degrees / sizeof *degrees, arena);
    const char *experts = wrong_experts(job, ep, arena);
    if (experts)
        return experts;
    if (heads > 0 && fmod(heads, tp) != 0)
        return ap_arena_printf(arena, "a tensor degree of %g does not divide the model's %g attention heads", tp, heads);
    if (layers > 0 && pp > layers)
        return ap_arena_printf(arena, "%g pipeline stages are more than the model's %g layers", pp, layers);
    if (product > job->chips || ep > job->chips) {
        *ret_more_chips = true;
        return ep > job->chips ? ap_arena_printf(arena, "an expert degree of %g needs as many chips, and there are %g", ep, job->chips)
                               : ap_arena_printf(arena, "%s needs %g chips, and there are %g", product_text(degrees, 3, arena), product, job->chips);
    }
    if (fmod(job->chips, product) != 0)
        return ap_arena_printf(arena, "%s does not divide the %g chips", product_text(degrees, 3, arena), job->chips);
    double ranks = job->chips / tp / pp;
    if (ap_known(w->parallel.tp) && ap_known(w->parallel.pp) && fmod(ranks, ep) != 0)
        return ap_arena_printf(arena, "an expert degree of %g does not divide the %g ranks that %g chips leave beside tensor %g x pipeline %g",
                               ep, ranks, job->chips, tp, pp);
    return NULL;
}
