/* Speed of the parts that must be fast, on one core, printed as name, figure, unit. Ratios against other programs are
 * tools/bench.sh's business: no test depends on a time. */
#include <stdio.h>
#include <time.h>

#include "base/num.h"
#include "estimate/calibration.h"
#include "plan/knowledge.h"
#include "plan/plan.h"
#include "plan/reasons.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct bench {
    ap_arena *arena;
    ap_diags diags;
    ap_workload workload;
    ap_job job;
    ap_plan_options options;
    ap_search search;
} bench;

static bool prepare(bench *b, const ap_catalog *catalog, const char *model)
{
    b->arena = ap_arena_new();
    ap_diags_init(&b->diags, b->arena);
    ap_workload_init(&b->workload);
    ap_node *name = AP_NEW(b->arena, ap_node);
    *name = (ap_node){.kind = AP_NODE_SCALAR, .quoted = true, .text = model};
    b->workload.model = name;
    b->workload.data.tokens = 1e9;
    b->options = (ap_plan_options){.constraints = b->workload.constraints, .group_by = AP_GROUP_INSTANCE, .as_of = "2026-11-30"};
    if (ap_job_resolve(&b->workload, catalog, NULL, b->arena, &b->diags, &b->job) != AP_OK)
        return false;
    ap_search_init(&b->search, (ap_search_inputs){&b->job, catalog, ap_calibration_builtin(b->arena), &b->options, b->arena});
    return true;
}

/* One estimate of one layout, constants resolved: the planner's inner loop. */
static void bench_estimates(const ap_catalog *catalog, const char *model)
{
    bench b = {0};
    ap_case job;
    ap_est_context context;
    ap_estimate estimate;
    if (!prepare(&b, catalog, model))
        return;
    ap_hardware hw = ap_hardware_of_chip(ap_catalog_find_chip(catalog, "a100-sxm4-80gb").chip, 64);
    if (ap_plan_bind(&b.search, &hw, &job))
        return;
    ap_est_init(&context, b.search.calibration, &job);
    ap_layout layout = {.dp = 8, .tp = 8, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .sharding = AP_SHARD_ZERO1, .recompute = 0, .micro_batch = 1, .accum = 8};
    size_t count = 0;
    double start = now_s(), sum = 0;
    while (now_s() - start < 0.5)
        for (int i = 0; i < 1000; i++, count++) {
            layout.micro_batch = 1 + i % 4;
            ap_est_run(&context, &layout, &estimate);
            sum += estimate.step_s;
        }
    printf("estimates %-16s %12.0f per second (%.2f us each)%s\n", model, (double)count / (now_s() - start),
           1e6 * (now_s() - start) / (double)count, sum > 0 ? "" : " !");
    ap_arena_free(b.arena);
}

static double search_seconds(const ap_catalog *catalog, size_t *ret_plans, size_t *ret_results)
{
    bench b = {0};
    if (!prepare(&b, catalog, "llama-3.1-8b"))
        return AP_UNKNOWN;
    double start = now_s();
    ap_search_run(&b.search);
    double seconds = now_s() - start;
    *ret_plans = b.search.plans_evaluated;
    *ret_results = b.search.priced_results;
    ap_arena_free(b.arena);
    return seconds;
}

/* The same machines again under other names: cost must grow with the offers, not with their square. */
static void bench_offers(const ap_catalog *catalog, ap_arena *arena)
{
    for (size_t factor = 1; factor <= 16; factor *= 4) {
        ap_catalog bigger = *catalog;
        bigger.instances.count = catalog->instances.count * factor;
        bigger.instances.items = AP_NEW_ARRAY(arena, ap_instance, bigger.instances.count);
        size_t offers = 0;
        for (size_t i = 0; i < bigger.instances.count; i++) {
            bigger.instances.items[i] = catalog->instances.items[i % catalog->instances.count];
            if (i >= catalog->instances.count)
                bigger.instances.items[i].name = ap_arena_printf(arena, "%s-%zu", bigger.instances.items[i].name, i);
            offers += bigger.instances.items[i].prices.count;
        }
        size_t plans = 0, results = 0;
        double seconds = search_seconds(&bigger, &plans, &results);
        printf("search %7zu offers %14.1f ms (%.2f us an offer, %zu layouts, %zu results)\n", offers, 1e3 * seconds,
               1e6 * seconds / (double)offers, plans, results);
    }
}

static void bench_rules(const ap_catalog *catalog)
{
    bench b = {0};
    ap_ruleset *set;
    if (!prepare(&b, catalog, "llama-3.1-8b"))
        return;
    ap_knowledge_request request = {0};
    double loading = now_s();
    if (ap_knowledge_load(&request, b.arena, &b.diags, &set) != AP_OK)
        return;
    printf("rules: load and compile %zu %8.2f ms\n", set->count, 1e3 * (now_s() - loading));
    b.search.reasons = ap_reasons_new(&b.search, set, AP_SCOPE_RECOMMEND);
    ap_search_run(&b.search);
    double start = now_s();
    size_t count = b.search.result_count < 1000 ? b.search.result_count : 1000;
    for (size_t i = 0; i < count; i++)
        (void)ap_reasons_explain(b.search.reasons, &b.search.results[i]);
    double each = (now_s() - start) / (double)count;
    printf("rules: %zu rules for one candidate, with facts filled and sentences written %6.1f us\n", set->count, 1e6 * each);
    ap_arena_free(b.arena);
}

int main(void)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    double start = now_s();
    const ap_catalog *catalog = ap_catalog_builtin(arena);
    printf("catalog: decode %23.2f ms\n", 1e3 * (now_s() - start));
    bench_estimates(catalog, "llama-3.1-8b");
    bench_estimates(catalog, "gpt3-175b");
    bench_estimates(catalog, "resnet50");
    bench_estimates(catalog, "xgboost");
    bench_offers(catalog, arena);
    bench_rules(catalog);
    return 0;
}
