/* The planner: promises that must hold for any catalog and any job. */
#include <stdlib.h>

#include "base/num.h"
#include "estimate/calibration.h"
#include "plan/advice.h"
#include "plan/plan.h"
#include "testing.h"

typedef struct planned {
    ap_arena *arena;
    ap_diags diags;
    ap_workload workload;
    ap_job job;
    ap_plan_options options;
    ap_search search;
} planned;

static const ap_catalog *catalog(void)
{
    static ap_catalog *loaded;
    if (!loaded)
        loaded = ap_catalog_builtin(ap_arena_new());
    return loaded;
}

/* Heap, so that pointers between the parts stay good. */
static planned *plan(const char *text, ap_grouping grouping)
{
    planned *p = calloc(1, sizeof *p);
    p->arena = ap_arena_new();
    ap_diags_init(&p->diags, p->arena);
    ap_workload_init(&p->workload);
    assert_int_equal(ap_workload_read(text, strlen(text), "w", p->arena, &p->diags, &p->workload), AP_OK);
    assert_int_equal(ap_job_resolve(&p->workload, catalog(), NULL, p->arena, &p->diags, &p->job), AP_OK);
    p->options = (ap_plan_options){.constraints = p->workload.constraints, .group_by = grouping};
    ap_search_init(&p->search, (ap_search_inputs){&p->job, catalog(), ap_calibration_builtin(p->arena), &p->options, p->arena});
    ap_search_run(&p->search);
    return p;
}

static void done(planned *p)
{
    ap_arena_free(p->arena);
    free(p);
}

#define LORA "model: llama-3.1-8b\nmethod: lora\ndata: {tokens: 200M}\n"

static void test_results_fit_are_ordered_and_use_every_chip(void **state)
{
    (void)state;
    planned *p = plan(LORA, AP_GROUP_INSTANCE);
    assert_true(p->search.result_count > 20);
    double before = 0;
    for (size_t i = 0; i < p->search.result_count; i++) {
        const ap_result *r = &p->search.results[i];
        const ap_layout *l = &r->plan->est.layout;
        assert_true(r->plan->est.peak_bytes <= r->plan->est.capacity_bytes);
        assert_near(l->dp * l->tp * l->pp * l->cp, r->hw.chips, 1e-12);
        assert_true(l->dp * l->micro_batch * l->accum >= p->job.global_batch);
        assert_true(r->score >= before);
        assert_true(r->hours_p10 <= r->hours_p50 && r->hours_p50 <= r->hours_p90);
        assert_int_equal(r->rank, (int)i + 1);
        before = r->score;
    }
    done(p);
}

static void test_balanced_score_is_the_geometric_mean(void **state)
{
    (void)state;
    planned *p = plan(LORA "constraints: {clouds: [aws, gcp, lambda]}\n", AP_GROUP_INSTANCE);
    double cost = HUGE_VAL, hours = HUGE_VAL;
    for (size_t i = 0; i < p->search.result_count; i++) {
        cost = fmin(cost, p->search.results[i].cost_p50);
        hours = fmin(hours, p->search.results[i].hours_p50);
    }
    for (size_t i = 0; i < p->search.result_count; i++) {
        const ap_result *r = &p->search.results[i];
        assert_near(r->score, sqrt(r->cost_p50 / cost * (r->hours_p50 / hours)), 1e-9);
    }
    done(p);
}

static void test_pareto_front_has_no_dominated_member(void **state)
{
    (void)state;
    planned *p = plan(LORA "constraints: {clouds: [aws, azure]}\n", AP_GROUP_NONE);
    for (size_t i = 0; i < p->search.result_count; i++)
        for (size_t k = 0; k < p->search.result_count && p->search.results[i].pareto; k++) {
            const ap_result *a = &p->search.results[i], *b = &p->search.results[k];
            assert_false(b->cost_p50 < a->cost_p50 && b->hours_p50 < a->hours_p50);
        }
    done(p);
}

static void test_limits_reject_with_their_reason(void **state)
{
    (void)state;
    planned *p = plan(LORA "constraints: {budget: 20, deadline: 2h}\n", AP_GROUP_INSTANCE);
    size_t over_budget = 0, over_deadline = 0;
    for (size_t i = 0; i < p->search.result_count; i++) {
        assert_true(p->search.results[i].cost_p50 <= 20);
        assert_true(p->search.results[i].hours_p50 <= 2);
    }
    for (size_t i = 0; i < p->search.rejected_count; i++) {
        over_budget += strcmp(p->search.rejected[i].rule, "AP8011") == 0;
        over_deadline += strcmp(p->search.rejected[i].rule, "AP8010") == 0;
        assert_true(p->search.rejected[i].message[0] != '\0');
    }
    assert_true(over_budget > 0 && over_deadline > 0);
    done(p);
}

static void test_filters_keep_only_what_was_asked(void **state)
{
    (void)state;
    planned *p = plan(LORA "constraints: {clouds: [aws], regions: [\"us-*\"], chips: 8..16, memory: 80GB.., exclude: [\"p5e*\"]}\n", AP_GROUP_REGION);
    assert_true(p->search.result_count > 0);
    for (size_t i = 0; i < p->search.result_count; i++) {
        const ap_result *r = &p->search.results[i];
        assert_string_equal(r->hw.instance->cloud, "aws");
        assert_int_equal(strncmp(r->price->region, "us-", 3), 0);
        assert_true(r->hw.chips >= 8 && r->hw.chips <= 16);
        assert_true(r->hw.chip->memory.size >= 80e9);
        assert_int_not_equal(strncmp(r->hw.instance->name, "p5e", 3), 0);
    }
    done(p);
}

static void test_portable_leaves_out_single_cloud_chips(void **state)
{
    (void)state;
    planned *p = plan(LORA "constraints: {portable: true}\n", AP_GROUP_INSTANCE);
    for (size_t i = 0; i < p->search.result_count; i++)
        assert_int_not_equal(p->search.results[i].hw.chip->kind, AP_CHIP_TPU);
    done(p);
}

static void test_groups_do_not_repeat(void **state)
{
    (void)state;
    planned *p = plan(LORA "constraints: {pricing: [any]}\n", AP_GROUP_CHIP);
    for (size_t i = 0; i < p->search.result_count; i++)
        for (size_t k = i + 1; k < p->search.result_count; k++)
            assert_ptr_not_equal(p->search.results[i].hw.chip, p->search.results[k].hw.chip);
    done(p);
}

static void test_the_same_question_has_the_same_answer(void **state)
{
    (void)state;
    planned *a = plan(LORA, AP_GROUP_INSTANCE), *b = plan(LORA, AP_GROUP_INSTANCE);
    assert_int_equal(a->search.result_count, b->search.result_count);
    for (size_t i = 0; i < a->search.result_count; i++)
        assert_string_equal(a->search.results[i].target, b->search.results[i].target);
    done(a);
    done(b);
}

static void test_fixed_layout_is_kept(void **state)
{
    (void)state;
    planned *p = plan("model: llama-3.1-8b\nmethod: finetune\ndata: {tokens: 200M}\nmicro_batch: 1\nrecompute: full\n"
                      "parallel: {tp: 2, pp: 1, sharding: zero3}\nconstraints: {chips: 8}\n", AP_GROUP_INSTANCE);
    assert_true(p->search.result_count > 0);
    for (size_t i = 0; i < p->search.result_count; i++) {
        const ap_layout *l = &p->search.results[i].plan->est.layout;
        assert_near(l->tp, 2, 0);
        assert_near(l->micro_batch, 1, 0);
        assert_int_equal(l->recompute, AP_RECOMPUTE_FULL);
        assert_int_equal(l->sharding, AP_SHARD_ZERO3);
    }
    done(p);
}

static void test_every_model_gets_an_answer(void **state)
{
    (void)state;
    size_t answered = 0, models = catalog()->models.count;
    for (size_t i = 0; i < models; i += 13) { /* every 13th: all take a minute under sanitizers */
        const ap_model *model = &catalog()->models.items[i];
        char text[400];
        bool table = ap_streq(model->domain, "trees") || ap_streq(model->domain, "classic");
        snprintf(text, sizeof text, "model: \"%s\"\ndata: {%s}\nconstraints: {clouds: [gcp, lambda]}\n", model->id,
                 table ? "rows: 1M, features: 30" : "samples: 100k, epochs: 1");
        planned *p = plan(text, AP_GROUP_CHIP);
        if (p->search.result_count == 0)
            print_message("no result for %s: %s\n", model->id, p->search.rejected_count ? p->search.rejected[0].message : "?");
        answered += p->search.result_count > 0;
        for (size_t k = 0; k < p->search.result_count; k++)
            assert_true(p->search.results[k].plan->est.step_s > 0 && isfinite(p->search.results[k].plan->est.step_s));
        done(p);
    }
    assert_true(answered * 100 >= (models / 13) * 95);
}

/* 4 of 192 threads have a 48th of the arithmetic and at most a 24th of the bandwidth: at least ten times slower. */
static void test_a_few_threads_are_not_the_whole_cpu(void **state)
{
    (void)state;
    planned *p = plan("model: resnet50\ndata: {dataset: imagenet-1k, epochs: 1}\nconstraints: {clouds: [aws]}\n", AP_GROUP_INSTANCE);
    double few = AP_UNKNOWN, many = AP_UNKNOWN;
    for (size_t i = 0; i < p->search.result_count; i++) {
        const ap_result *r = &p->search.results[i];
        if (r->hw.chip->kind != AP_CHIP_CPU)
            continue;
        if (strcmp(r->hw.instance->name, "c8i.xlarge") == 0)
            few = r->plan->est.step_s;
        if (strcmp(r->hw.instance->name, "c8i.48xlarge") == 0)
            many = r->plan->est.step_s;
    }
    assert_true(few > 10 * many);
    done(p);
}

static void test_own_costs_are_added_to_the_bill(void **state)
{
    (void)state;
    planned *plain = plan(LORA "constraints: {clouds: [aws]}\n", AP_GROUP_INSTANCE);
    planned *billed = plan(LORA "bill: {setup: 2h, controller: 0.5 USD/h}\nconstraints: {clouds: [aws]}\n", AP_GROUP_INSTANCE);
    for (size_t i = 0; i < billed->search.result_count; i++) {
        const ap_result *b = &billed->search.results[i];
        for (size_t k = 0; k < plain->search.result_count; k++) {
            const ap_result *p = &plain->search.results[k];
            if (strcmp(p->target, b->target) == 0)
                assert_near(b->cost_p50, p->cost_p50 + 2 * b->usd_per_h + 0.5 * b->hours_p50, 1e-9);
        }
    }
    done(plain);
    done(billed);
}

static void test_advice_saves_what_it_says(void **state)
{
    (void)state;
    planned *p = plan("model: llama-3.1-8b\nmethod: finetune\ndata: {tokens: 200M}\nconstraints: {clouds: [aws]}\n", AP_GROUP_INSTANCE);
    const ap_advice *advice;
    size_t count = ap_search_advise(&p->search, &advice);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(advice[i].message);
        assert_true(advice[i].saves_usd <= p->search.results[0].cost_p50);
    }
    done(p);
}

static const ap_result *result_of(const planned *p, const char *chip, double chips)
{
    for (size_t i = 0; i < p->search.result_count; i++)
        if (ap_streq(p->search.results[i].hw.chip->id, chip) && p->search.results[i].hw.chips == chips)
            return &p->search.results[i];
    return NULL;
}

/* M-97: (1 + 8192/41000) / (1 + 256/41000) = 1.1998/1.00624 = 1.19235. */
static void test_a_large_batch_pays_in_samples(void **state)
{
    (void)state;
    assert_near(ap_run_batch_factor(8192, 256, 41000), 1.19235, 1e-5);
    assert_near(ap_run_batch_factor(64, 8, 35), 2.30233, 1e-5); /* (99/35) / (43/35) */
    assert_near(ap_run_batch_factor(64, NAN, 35), 1, 0);
    planned *p = plan("model: resnet50\nglobal_batch: 8192\ndata: {dataset: imagenet-1k}\nconstraints: {chips: 8, clouds: [aws, lambda]}\n",
                      AP_GROUP_INSTANCE);
    assert_true(p->search.result_count > 0);
    double factor = (1 + 8192 / p->job.critical_batch) / (1 + 256 / p->job.critical_batch);
    const ap_plan *found = p->search.results[0].plan;
    assert_near(found->run.batch_factor, factor, 1e-9);
    assert_near(found->run.samples, 90.0 * 1281167 * factor, 1e-9);
    assert_near(found->global_batch, 8192, 0);
    done(p);
}

/* Who names a batch gets it; who names none gets the doubling of the recipe's with the shortest run, and its price. */
static void test_many_chips_take_a_larger_batch_and_pay_for_it(void **state)
{
    (void)state;
    planned *p = plan("model: resnet50\ndata: {dataset: imagenet-1k}\nconstraints: {chips: 1..64, clouds: [aws, lambda]}\n", AP_GROUP_INSTANCE);
    planned *fixed = plan("model: resnet50\nglobal_batch: 256\ndata: {dataset: imagenet-1k}\nconstraints: {chips: 1..64, clouds: [aws, lambda]}\n",
                          AP_GROUP_INSTANCE);
    size_t larger = 0;
    for (size_t i = 0; i < p->search.result_count; i++) {
        const ap_result *r = &p->search.results[i];
        double batch = r->plan->global_batch;
        const ap_layout *l = &r->plan->est.layout;
        assert_true(batch >= 256 && batch <= p->job.largest_batch);
        assert_near(batch, l->dp * l->micro_batch * l->accum, 0);
        assert_true(r->hw.chips > 1 || batch <= 256);
        assert_near(r->plan->run.batch_factor, (1 + batch / p->job.critical_batch) / (1 + 256 / p->job.critical_batch), 1e-9);
        larger += batch > 256 ? 1 : 0;
        const ap_result *same = result_of(fixed, r->hw.chip->id, r->hw.chips);
        if (same && ap_streq(same->target, r->target))
            assert_true(r->hours_p50 <= same->hours_p50 * (1 + 1e-9));
    }
    assert_true(larger > 0);
    for (size_t i = 0; i < fixed->search.result_count; i++) {
        const ap_plan *one = fixed->search.results[i].plan;
        assert_false(one->batch_raised);
        if (fmod(256, one->hw.chips) == 0)
            assert_near(one->global_batch, 256, 0);
    }
    done(p);
    done(fixed);
}

/* resnet50 on imagenet-1k: 256 a step, known to 67,456, critical 41,000 (data/recipes/vision.yaml). */
static const ap_plan *on_cards(planned *p, double chips)
{
    ap_hardware hw = ap_hardware_of_chip(ap_catalog_chip(catalog(), "h100-sxm5-80gb"), chips);
    hw.chips_per_host = fmin(chips, 8);
    hw.hosts = hw.machines = ceil(chips / 8);
    return ap_search_plan(&p->search, &hw);
}

#define ON_NOTHING "constraints: {clouds: [none]}\n"

/* More chips have a run that is no longer, whether or not they divide the batch, and no batch by name beats the one taken. */
static void test_the_batch_taken_is_the_fastest(void **state)
{
    (void)state;
    planned *p = plan("model: resnet50\ndata: {dataset: imagenet-1k}\n" ON_NOTHING, AP_GROUP_INSTANCE);
    static const double counts[] = {8, 16, 24, 64, 72, 256, 512, 1000};
    double before = HUGE_VAL;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const ap_plan *taken = on_cards(p, counts[i]);
        const ap_layout *l = &taken->est.layout;
        assert_null(taken->est.error);
        assert_true(taken->batch_raised);
        assert_near(taken->global_batch, l->dp * l->micro_batch * l->accum, 0);
        assert_true(taken->global_batch <= 67456);
        assert_near(taken->run.batch_factor, (41000 + taken->global_batch) / 41256, 1e-9);
        assert_near(taken->run.samples, 90.0 * 1281167 * taken->run.batch_factor, 1e-9);
        assert_true(taken->run.hours_p50 < before);
        before = taken->run.hours_p50;
    }
    for (double batch = 256; batch <= 65536; batch *= 2) {
        char text[160];
        (void)snprintf(text, sizeof text, "model: resnet50\nglobal_batch: %.0f\ndata: {dataset: imagenet-1k}\n" ON_NOTHING, batch);
        planned *named = plan(text, AP_GROUP_INSTANCE);
        const ap_plan *asked = on_cards(named, 72);
        if (!asked->est.error && asked->global_batch <= 67456)
            assert_true(on_cards(p, 72)->run.hours_p50 <= asked->run.hours_p50 * (1 + 1e-9));
        done(named);
    }
    done(p);
}

/* 2,048 samples on 24 ranks are 85.3 each. Whole micro-batches make more of them, and those are paid for. */
static void test_the_batch_that_counts_is_the_one_that_runs(void **state)
{
    (void)state;
    planned *p = plan("model: resnet50\nglobal_batch: 2048\ndata: {dataset: imagenet-1k}\n" ON_NOTHING, AP_GROUP_INSTANCE);
    const ap_plan *taken = on_cards(p, 24);
    const ap_layout *l = &taken->est.layout;
    assert_false(taken->batch_raised);
    assert_near(fmod(taken->global_batch, 24), 0, 0);
    assert_true(taken->global_batch > 2048);
    assert_near(taken->global_batch, 24 * l->micro_batch * l->accum, 0);
    assert_near(taken->est.samples_per_step, taken->global_batch, 1e-12);
    assert_near(taken->run.batch_factor, (41000 + taken->global_batch) / 41256, 1e-9);
    assert_near(on_cards(p, 16)->global_batch, 2048, 0);
    done(p);
}

/* gnmt is known to 16,384. Of 16,384 samples 96 chips get 170.7 each, which runs as 192 or 256: more than is known in all. */
static void test_no_batch_above_the_largest_known_is_taken(void **state)
{
    (void)state;
    planned *p = plan("model: gnmt\n" ON_NOTHING, AP_GROUP_INSTANCE);
    assert_near(p->job.largest_batch, 16384, 0);
    static const double counts[] = {8, 24, 48, 96, 200};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const ap_plan *taken = on_cards(p, counts[i]);
        assert_null(taken->est.error);
        assert_true(taken->global_batch <= 16384);
        assert_near(taken->global_batch, counts[i] * taken->est.layout.micro_batch * taken->est.layout.accum, 0);
    }
    done(p);
}

/* A batch is counted as its recipe counts (sentences), however large: with 16,384 the work of a sentence is that with 1,024,
 * so a step of 16 times the samples takes at most 16 times as long, and not a fraction of it. */
static void test_a_larger_batch_is_counted_like_the_recipes(void **state)
{
    (void)state;
    planned *small = plan("model: gnmt\nglobal_batch: 1024\n" ON_NOTHING, AP_GROUP_INSTANCE);
    planned *large = plan("model: gnmt\nglobal_batch: 16384\n" ON_NOTHING, AP_GROUP_INSTANCE);
    const ap_estimate *a = &on_cards(small, 2)->est, *b = &on_cards(large, 2)->est;
    assert_near(b->flop_per_step, 16 * a->flop_per_step, 1e-9);
    assert_true(b->step_s > 8 * a->step_s && b->step_s <= 16 * a->step_s);
    done(small);
    done(large);
}

static bool advised(planned *p, const char *id)
{
    const ap_advice *advice;
    size_t count = ap_search_advise(&p->search, &advice);
    for (size_t i = 0; i < count; i++)
        if (ap_streq(advice[i].id, id))
            return true;
    return false;
}

/* Epochs that are given fix the amount: a batch that nobody named may grow with the chips and is told what the target would
 * take. A batch that is given stays. */
static void test_given_epochs_do_not_fix_the_batch(void **state)
{
    (void)state;
    planned *p = plan("model: resnet50\ndata: {dataset: imagenet-1k, epochs: 90}\nconstraints: {chips: 1..64, clouds: [aws, lambda]}\n", AP_GROUP_INSTANCE);
    size_t larger = 0;
    for (size_t i = 0; i < p->search.result_count; i++) {
        const ap_plan *found = p->search.results[i].plan;
        assert_near(found->run.samples, 90.0 * 1281167, 1e-9);
        assert_true(found->global_batch >= 256 && found->global_batch <= p->job.largest_batch);
        assert_near(found->run.batch_factor, 1, 0);
        if (found->hw.chips >= 64) /* four images a chip are no use to anyone */
            assert_true(found->global_batch >= 2048);
        larger += found->global_batch > 256 ? 1 : 0;
    }
    assert_true(larger > 0);
    done(p);
    p = plan("model: resnet50\nglobal_batch: 256\ndata: {dataset: imagenet-1k, epochs: 90}\nconstraints: {chips: 8, clouds: [aws]}\n",
             AP_GROUP_INSTANCE);
    for (size_t i = 0; i < p->search.result_count; i++)
        assert_near(p->search.results[i].plan->global_batch, 256, 0);
    done(p);
}

/* The advice names the batch: 4096 is the largest doubling of 256 below a tenth of the critical batch of about 41,000. */
static void test_a_larger_batch_is_advised_only_where_nobody_named_one(void **state)
{
    (void)state;
    planned *free_batch = plan("model: resnet50\ndata: {dataset: imagenet-1k, epochs: 90}\nconstraints: {chips: 1, clouds: [gcp], exclude: [\"*cpu*\"]}\n", AP_GROUP_INSTANCE);
    planned *named = plan("model: resnet50\nglobal_batch: 256\ndata: {dataset: imagenet-1k, epochs: 90}\nconstraints: {chips: 1, clouds: [gcp]}\n",
                          AP_GROUP_INSTANCE);
    assert_true(free_batch->job.critical_batch > 40960 && free_batch->job.critical_batch < 81920);
    const ap_advice *advice;
    size_t count = ap_search_advise(&free_batch->search, &advice);
    for (size_t i = 0; i < count; i++)
        if (ap_streq(advice[i].id, "AP1919"))
            assert_non_null(strstr(advice[i].message, "a global batch of 4096 instead of 256"));
    assert_false(advised(named, "AP1919"));
    done(free_batch);
    done(named);
}

/* The layout found on a number of bare chips; the job lives in *ret_p. */
static const ap_plan *plan_on(const char *text, const char *chip, double chips, planned **ret_p)
{
    planned *p = plan(text, AP_GROUP_CHIP);
    ap_hardware hw = ap_hardware_of_chip(ap_catalog_find_chip(catalog(), chip).chip, chips);
    *ret_p = p;
    return ap_search_plan(&p->search, &hw);
}

/* The search may not miss what it would itself rate faster: no layout with some degrees named beats the free choice. */
static void test_no_named_layout_beats_the_free_choice(void **state)
{
    (void)state;
    static const struct { const char *job, *chip; double chips; const char *named[4]; } cases[] = {
        {"model: llama-3.1-405b\nmethod: pretrain\ndata: {tokens: 1T}\nconstraints: {chips: 8}\n", "h100-sxm5-80gb", 16384,
         {"parallel: {tp: 8, pp: 16, vpp: 8}\n", "parallel: {tp: 8, pp: 16}\nrecompute: none\n", "parallel: {tp: 8, pp: 8, cp: 2}\n", "recompute: full\n"}},
        {"model: deepseek-v3\nmethod: pretrain\ndata: {tokens: 1T}\nprecision: fp8\nconstraints: {chips: 8}\n", "h800-sxm5-80gb", 2048,
         {"parallel: {tp: 1, pp: 16, ep: 64}\n", "parallel: {tp: 8, ep: 8}\n", "parallel: {pp: 8}\n", "parallel: {ep: 32}\n"}},
        {"model: gpt3-175b\nmethod: pretrain\ndata: {tokens: 300B}\nconstraints: {chips: 8}\n", "a100-sxm4-80gb", 1024,
         {"parallel: {tp: 8, pp: 16}\n", "parallel: {tp: 8, pp: 8, vpp: 4}\n", "parallel: {tp: 4}\n", "recompute: selective\n"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        planned *p, *q;
        const ap_estimate *best = &plan_on(cases[i].job, cases[i].chip, cases[i].chips, &p)->est;
        assert_null(best->error);
        assert_true(best->verdict != AP_DOES_NOT_FIT && best->peak_bytes <= best->capacity_bytes);
        for (size_t k = 0; k < 4; k++) {
            char text[400];
            snprintf(text, sizeof text, "%s%s", cases[i].job, cases[i].named[k]);
            const ap_estimate *other = &plan_on(text, cases[i].chip, cases[i].chips, &q)->est;
            if (!other->error && other->verdict <= best->verdict && other->step_s < best->step_s * 0.99)
                fail_msg("%s: %s %g s, free choice %g s", cases[i].job, cases[i].named[k], other->step_s, best->step_s);
            done(q);
        }
        done(p);
    }
}

/* A card like another with more memory can do whatever that can: no job takes longer on it (but for 5 %, which plain data
 * parallelism is preferred by over sharded states), and none is tight that was not. */
static void test_more_memory_is_never_worse(void **state)
{
    (void)state;
    static const struct { const char *job; double chips; } cases[] = {
        {"model: bert-large\ndata: {dataset: wikipedia-mlperf}\n" ON_NOTHING, 64},
        {"model: resnet50\ndata: {dataset: imagenet-1k}\n" ON_NOTHING, 8},
        {"model: gpt3-175b\nmethod: pretrain\ndata: {tokens: 300B}\n" ON_NOTHING, 64},
        {"model: llama-3.1-8b\nmethod: finetune\ndata: {tokens: 200M}\n" ON_NOTHING, 8}};
    static const double sizes_gib[] = {8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 128, 160, 224, 288, 400};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        planned *p = plan(cases[i].job, AP_GROUP_CHIP);
        double before = HUGE_VAL;
        int verdict = AP_DOES_NOT_FIT;
        for (size_t k = 0; k < sizeof sizes_gib / sizeof *sizes_gib; k++) {
            ap_chip chip = *ap_catalog_chip(catalog(), "h100-sxm5-80gb");
            chip.memory.size = chip.memory.usable = sizes_gib[k] * 1073741824.0;
            ap_hardware hw = ap_hardware_of_chip(&chip, cases[i].chips);
            hw.chips_per_host = 8;
            hw.hosts = hw.machines = cases[i].chips / 8;
            ap_search search;
            ap_search_init(&search, (ap_search_inputs){&p->job, catalog(), p->search.calibration, &p->options, p->arena});
            const ap_plan *found = ap_search_plan(&search, &hw);
            if (found->est.error || found->est.verdict == AP_DOES_NOT_FIT) {
                assert_int_equal(verdict, AP_DOES_NOT_FIT);
                continue;
            }
            if (found->est.verdict > verdict || (found->est.verdict == verdict && found->run.hours_p50 > before * 1.055))
                fail_msg("%s: %g GiB, %g h, verdict %d; less memory %g h, verdict %d", cases[i].job, sizes_gib[k], found->run.hours_p50,
                         found->est.verdict, before, verdict);
            verdict = found->est.verdict;
            before = found->run.hours_p50;
        }
        assert_int_equal(verdict, AP_FITS);
        done(p);
    }
}

/* Llama 3.1 405B on 16,384 H100: its report gives 38-43 % of the peak, with 16 stages interleaved. 126 layers and embedding
 * and head make 128, so stages and their parts are powers of two, and a step takes whole rounds of stages. */
static void test_interleaving_is_searched(void **state)
{
    (void)state;
    planned *p;
    const ap_estimate *best = &plan_on("model: llama-3.1-405b\nmethod: pretrain\ndata: {tokens: 1T}\nconstraints: {chips: 8}\n", "h100-sxm5-80gb", 16384, &p)->est;
    const ap_layout *l = &best->layout;
    assert_true(l->pp > 1 && l->vpp > 1);
    assert_near(fmod(128, l->pp * l->vpp), 0, 0);
    assert_near(fmod(l->accum, l->pp), 0, 0);
    assert_near(l->dp * l->tp * l->pp * l->cp, 16384, 0);
    assert_true(best->mfu > 0.35 && best->mfu < 0.43);
    done(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_fit_are_ordered_and_use_every_chip),
        cmocka_unit_test(test_balanced_score_is_the_geometric_mean),
        cmocka_unit_test(test_pareto_front_has_no_dominated_member),
        cmocka_unit_test(test_limits_reject_with_their_reason),
        cmocka_unit_test(test_filters_keep_only_what_was_asked),
        cmocka_unit_test(test_portable_leaves_out_single_cloud_chips),
        cmocka_unit_test(test_groups_do_not_repeat),
        cmocka_unit_test(test_the_same_question_has_the_same_answer),
        cmocka_unit_test(test_fixed_layout_is_kept),
        cmocka_unit_test(test_every_model_gets_an_answer),
        cmocka_unit_test(test_a_few_threads_are_not_the_whole_cpu),
        cmocka_unit_test(test_own_costs_are_added_to_the_bill),
        cmocka_unit_test(test_a_large_batch_pays_in_samples),
        cmocka_unit_test(test_many_chips_take_a_larger_batch_and_pay_for_it),
        cmocka_unit_test(test_the_batch_taken_is_the_fastest),
        cmocka_unit_test(test_more_memory_is_never_worse),
        cmocka_unit_test(test_a_larger_batch_is_counted_like_the_recipes),
        cmocka_unit_test(test_the_batch_that_counts_is_the_one_that_runs),
        cmocka_unit_test(test_no_batch_above_the_largest_known_is_taken),
        cmocka_unit_test(test_given_epochs_do_not_fix_the_batch),
        cmocka_unit_test(test_a_larger_batch_is_advised_only_where_nobody_named_one),
        cmocka_unit_test(test_advice_saves_what_it_says),
        cmocka_unit_test(test_no_named_layout_beats_the_free_choice),
        cmocka_unit_test(test_interleaving_is_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
