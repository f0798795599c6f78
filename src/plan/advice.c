#include "plan/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/num.h"
#include "plan/reasons.h"

#define MOST_ADVICE 16
#define WORTH_FRACTION 0.03 /* less than 3 % of the bill or the time is noise beside the band */
#define WORTH_USD      0.10 /* and nobody changes a machine for cents or a minute */
#define WORTH_H        (2.0 / 60)
#define OWN_MACHINE_H 0.5 /* what a machine of one's own may take and still be the advice */
#define NEARLY_FREE_BATCH 0.1 /* of the critical batch: a tenth more samples (M-97) */

typedef struct advisor {
    ap_search *search;
    const ap_result *best;
    ap_advice *items;
    size_t count;
} advisor;

static void add(advisor *a, const char *id, double saves_usd, double saves_h, const char *message)
{
    bool money = saves_usd > fmax(WORTH_FRACTION * a->best->cost_p50, WORTH_USD);
    bool time = saves_h > fmax(WORTH_FRACTION * a->best->hours_p50, WORTH_H);
    if ((money || time) && a->count < MOST_ADVICE)
        a->items[a->count++] = (ap_advice){id, message, saves_usd, saves_h};
}

static const char *savings(const advisor *a, const char *what, double saves_usd, double saves_h)
{
    ap_sbuf text;
    ap_sbuf_init(&text, a->search->arena);
    ap_sbuf_add(&text, what);
    bool money = fabs(saves_usd) >= 0.005, time = fabs(saves_h) >= 1.0 / 120;
    if (money)
        ap_sbuf_printf(&text, ": %s %s USD%s", saves_usd >= 0 ? "saves" : "costs", ap_human_usd_text(text.arena, fabs(saves_usd)),
                       saves_usd >= 0 ? "" : " more");
    if (time)
        ap_sbuf_printf(&text, "%s %s %s%s", money ? "," : ":", saves_h >= 0 ? "saves" : "takes",
                       ap_human_hours_text(text.arena, fabs(saves_h)), saves_h >= 0 ? "" : " longer");
    return text.text;
}

/* The same machine bought otherwise. */
static void advise_pricing(advisor *a)
{
    const ap_result *best = a->best;
    if (!best->price || !best->hw.instance)
        return;
    const struct {
        int pricing;
        const char *id, *what;
    } kinds[] = {{AP_PRICE_SPOT, "AP1901", "spot instead of on-demand, if the job saves checkpoints"},
                 {AP_PRICE_RESERVED_1Y, "AP1902", "a commitment of a year, if the machine stays busy"},
                 {AP_PRICE_RESERVED_3Y, "AP1902", "a commitment of three years, if the machine stays busy"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const ap_price *price = ap_instance_cheapest(best->hw.instance, kinds[i].pricing, &a->search->options->constraints.regions);
        if (!price || best->pricing == kinds[i].pricing)
            continue;
        double saves = best->cost_p50 - ap_price_usd(price, kinds[i].pricing) * best->hw.machines * best->hours_p50;
        const char *what = ap_arena_printf(a->search->arena, "%s (%s)", kinds[i].what, price->region);
        add(a, kinds[i].id, saves, 0, savings(a, what, saves, 0));
    }
}

/* The cheapest and the fastest of the ranking, where they are others than the first. */
static void advise_extremes(advisor *a)
{
    const ap_result *cheapest = a->best, *fastest = a->best;
    for (size_t i = 0; i < a->search->result_count; i++) {
        const ap_result *r = &a->search->results[i];
        cheapest = r->cost_p50 < cheapest->cost_p50 ? r : cheapest;
        fastest = r->hours_p50 < fastest->hours_p50 ? r : fastest;
    }
    const struct {
        const ap_result *other;
        const char *id, *what;
    } ends[] = {{cheapest, "AP1903", "the cheapest that fits is"}, {fastest, "AP1904", "the fastest that fits is"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (ends[i].other == a->best)
            continue;
        double usd = a->best->cost_p50 - ends[i].other->cost_p50, hours = a->best->hours_p50 - ends[i].other->hours_p50;
        add(a, ends[i].id, usd, hours, savings(a, ap_arena_printf(a->search->arena, "%s %s", ends[i].what, ends[i].other->target), usd, hours));
    }
}

typedef struct variant {
    const char *id, *what;
    bool (*change)(ap_job *job, ap_workload *workload); /* false: does not apply */
} variant;

static bool use_bf16(ap_job *job, ap_workload *workload)
{
    (void)workload;
    bool applies = job->precision == AP_PREC_FP32 || job->precision == AP_PREC_TF32;
    job->precision = AP_PREC_BF16;
    return applies;
}

static bool use_fp8(ap_job *job, ap_workload *workload)
{
    (void)workload;
    bool applies = ap_streq(job->model.domain, "llm") && job->method == AP_METHOD_PRETRAIN && (job->precision < 0 || job->precision == AP_PREC_BF16);
    job->precision = AP_PREC_FP8;
    return applies;
}

static bool use_flash(ap_job *job, ap_workload *workload)
{
    (void)job;
    bool applies = workload->flash_attention == 0;
    workload->flash_attention = 1;
    return applies;
}

static bool use_compile(ap_job *job, ap_workload *workload)
{
    (void)job;
    bool applies = workload->compile == 0;
    workload->compile = 1;
    return applies;
}

static bool free_recompute(ap_job *job, ap_workload *workload)
{
    (void)job;
    bool applies = workload->recompute > AP_RECOMPUTE_NONE;
    workload->recompute = -1;
    return applies;
}

static bool free_micro_batch(ap_job *job, ap_workload *workload)
{
    (void)job;
    bool applies = ap_known(workload->micro_batch);
    workload->micro_batch = AP_UNKNOWN;
    return applies;
}

static bool use_lora(ap_job *job, ap_workload *workload)
{
    (void)workload;
    bool applies = job->method == AP_METHOD_FINETUNE && ap_streq(job->model.domain, "llm") && job->model.params > 1e9;
    job->method = AP_METHOD_LORA;
    job->lora_rank = 16;
    job->lora_target_count = 7;
    return applies;
}

/* Epochs that the user gave fix the run but not the batch: a larger one that hardly costs the target keeps more chips busy. */
static bool use_larger_batch(ap_job *job, ap_workload *workload)
{
    (void)workload;
    double batch = job->global_batch, most = fmin(job->critical_batch * NEARLY_FREE_BATCH, job->largest_batch);
    if (!job->batch_assumed || ap_known(job->target_batch) || !ap_known(most))
        return false;
    while (2 * job->global_batch <= most)
        job->global_batch *= 2;
    job->batch_assumed = false;
    return job->global_batch > batch;
}

static const variant variants[] = {
    {"AP1911", "bf16 instead of 32 bit", use_bf16},
    {"AP1912", "fp8 matrix products, if the loss stays stable", use_fp8},
    {"AP1913", "flash attention switched on", use_flash},
    {"AP1914", "a compiled model", use_compile},
    {"AP1915", "recompute only as far as memory needs it", free_recompute},
    {"AP1916", "the micro-batch that fits instead of a fixed one", free_micro_batch},
    {"AP1919", NULL, use_larger_batch},
    {"AP1917", "LoRA adapters instead of full fine-tuning, where quality allows", use_lora},
};

/* The job done otherwise on the same machines, estimated again. */
static void advise_variant(advisor *a, const variant *v)
{
    ap_search *search = a->search;
    ap_workload *workload = AP_NEW(search->arena, ap_workload);
    ap_job *job = AP_NEW(search->arena, ap_job);
    *workload = *search->job->workload;
    *job = *search->job;
    job->workload = workload;
    if (!v->change(job, workload))
        return;
    ap_search other;
    ap_result result = {.hw = a->best->hw};
    ap_search_init_like(&other, search, job);
    const ap_plan *plan = ap_search_plan(&other, &a->best->hw);
    if (plan->est.error || plan->est.verdict == AP_DOES_NOT_FIT)
        return;
    ap_result_fill(&other, plan, a->best->price, a->best->pricing, &result);
    double usd = a->best->cost_p50 - result.cost_p50, hours = a->best->hours_p50 - result.hours_p50;
    const char *what = v->what ? v->what
                               : ap_arena_printf(search->arena,
                                                 "a global batch of %.0f instead of %.0f, which costs the target less than a "
                                                 "tenth more samples, with the learning rate raised for it",
                                                 plan->global_batch, a->best->plan->global_batch);
    add(a, v->id, usd, hours, savings(a, what, usd, hours));
}

/* Published runs stop before the nominal epochs when the target is met. */
static void advise_early_stopping(advisor *a)
{
    const ap_recipe *recipe = a->search->job->recipe;
    if (!ap_job_runs_recipe(a->search->job) || !(recipe->early_stop_factor < 1) || a->search->job->workload->early_stopping == 1)
        return;
    double share = 1 - recipe->early_stop_factor;
    double usd = a->best->cost_p50 * share, hours = a->best->hours_p50 * share;
    const char *what = ap_arena_printf(a->search->arena, "early stopping: published runs needed %.0f %% of the epochs", 100 * recipe->early_stop_factor);
    add(a, "AP1918", usd, hours, savings(a, what, usd, hours));
}

/* A table that a usual laptop or desktop trains sooner than a cloud's machine starts, or nearly so. */
static void advise_own_machine(advisor *a)
{
    ap_search *search = a->search;
    static const struct {
        const char *chip, *words;
    } owned[] = {{"cpu-laptop", "your own laptop"}, {"cpu-workstation", "a desktop of yours"}};
    bool table = ap_streq(search->job->model.domain, "trees") || ap_streq(search->job->model.domain, "classic");
    if (!table || a->best->hw.rig)
        return;
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        const ap_chip *chip = ap_catalog_chip(search->catalog, owned[i].chip);
        if (!chip)
            continue;
        ap_hardware hw = ap_hardware_of_chip(chip, 1);
        const ap_plan *plan = ap_search_plan(search, &hw);
        if (plan->est.error || plan->est.verdict == AP_DOES_NOT_FIT || !(plan->run.hours_p50 <= OWN_MACHINE_H))
            continue;
        double hours = a->best->hours_p50 - plan->run.hours_p50;
        const char *what = ap_arena_printf(search->arena, "%s (%.0f cores, %s) does it in %s and costs nothing to rent", owned[i].words,
                                           chip->cpu.cores, chip->id, ap_human_hours_text(search->arena, plan->run.hours_p50));
        if (a->count < MOST_ADVICE)
            a->items[a->count++] = (ap_advice){"AP1921", savings(a, what, a->best->cost_p50, hours), a->best->cost_p50, hours};
        return;
    }
}

static int compare(const void *left, const void *right)
{
    const ap_advice *a = left, *b = right;
    double x = ap_or(a->saves_usd, 0), y = ap_or(b->saves_usd, 0);
    if (x != y)
        return x > y ? -1 : 1;
    return strcmp(a->message, b->message);
}

static const char *factor_text(ap_arena *arena, double value, double least, const char *best, const char *other)
{
    if (value <= least)
        return best;
    if (!(least > 0))
        return ap_arena_printf(arena, "not %s", best);
    double factor = value / least;
    return factor < 1.05 ? ap_arena_printf(arena, "within 5 %% of %s", best)
                         : ap_arena_printf(arena, factor < 9.95 ? "%.1f times %s" : "%.0f times %s", factor, other);
}

/* Puts in front of the first result's reasons where it stands among all: its cost and time beside the least. */
static void place_first(ap_search *search)
{
    if (search->result_count < 2 || !ap_known(search->results[0].hours_p50) || !ap_known(search->results[0].cost_p50))
        return;
    ap_result *first = &search->results[0];
    double least_cost = HUGE_VAL, least_time = HUGE_VAL;
    for (size_t i = 0; i < search->result_count; i++) {
        least_cost = fmin(least_cost, ap_or(search->results[i].cost_p50, HUGE_VAL));
        least_time = fmin(least_time, ap_or(search->results[i].hours_p50, HUGE_VAL));
    }
    static const char *const weighed[] = {[AP_BY_COST] = "cost", [AP_BY_TIME] = "time", [AP_BY_BALANCED] = "cost and time together",
                                          [AP_BY_ENERGY] = "energy", [AP_BY_CO2] = "CO2"};
    ap_arena *arena = search->arena;
    ap_finding *items = AP_NEW_ARRAY(arena, ap_finding, first->reasons.count + 1);
    items[0] = (ap_finding){.id = "AP1920", .preferred = true};
    items[0].message = ap_arena_printf(arena, "Best of %zu by %s: %s, %s", search->result_count,
                                       weighed[search->job->objective],
                                       factor_text(arena, first->cost_p50, least_cost, "the cheapest", "the cost of the cheapest"),
                                       factor_text(arena, first->hours_p50, least_time, "the fastest", "the time of the fastest"));
    if (first->reasons.count)
        memcpy(items + 1, first->reasons.items, first->reasons.count * sizeof *items);
    first->reasons.items = items;
    first->reasons.count++;
}

size_t ap_search_advise(ap_search *search, const ap_advice **ret_items)
{
    *ret_items = NULL;
    if (search->result_count == 0 || !ap_known(search->results[0].hours_p50))
        return 0;
    advisor a = {.search = search, .best = &search->results[0], .items = AP_NEW_ARRAY(search->arena, ap_advice, MOST_ADVICE)};
    advise_pricing(&a);
    advise_extremes(&a);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        advise_variant(&a, &variants[i]);
    advise_early_stopping(&a);
    advise_own_machine(&a);
    if (a.count)
        qsort(a.items, a.count, sizeof *a.items, compare);
    *ret_items = a.items;
    return a.count;
}

size_t ap_search_conclude(ap_search *search, size_t shown, const ap_advice **ret_items)
{
    size_t count = shown && shown < search->result_count ? shown : search->result_count;
    for (size_t i = 0; i < count && search->reasons; i++)
        (void)ap_reasons_explain(search->reasons, &search->results[i]);
    place_first(search);
    return ap_search_advise(search, ret_items);
}
