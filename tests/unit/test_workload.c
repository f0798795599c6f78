/* Workloads: documents, defaults, model shapes. Parameter counts are those of ESTIMATION a2 and a3. */
#include "base/num.h"
#include "catalog/catalog.h"
#include "testing.h"
#include "workload/workload.h"

typedef struct resolved {
    ap_arena *arena;
    ap_diags diags;
    ap_workload workload;
    ap_job job;
    ap_status status;
} resolved;

static const ap_catalog *catalog(void)
{
    static ap_catalog *loaded; /* one for all tests; the process ends with them */
    if (!loaded)
        loaded = ap_catalog_builtin(ap_arena_new());
    return loaded;
}

static resolved resolve(const char *text)
{
    resolved r = {.arena = ap_arena_new()};
    ap_diags_init(&r.diags, r.arena);
    ap_workload_init(&r.workload);
    r.status = ap_workload_read(text, strlen(text), "w.yaml", r.arena, &r.diags, &r.workload);
    if (r.status == AP_OK)
        r.status = ap_job_resolve(&r.workload, catalog(), NULL, r.arena, &r.diags, &r.job);
    return r;
}

static bool assumed(const resolved *r, const char *field)
{
    for (size_t i = 0; i < r->job.assumption_count; i++)
        if (strcmp(r->job.assumptions[i].field, field) == 0)
            return true;
    return false;
}

static void test_shape_gives_published_parameter_counts(void **state)
{
    (void)state;
    resolved llama2 = resolve("model: {class: decoder, layers: 32, hidden: 4096, heads: 32, ffn: 11008, gated_mlp: true, vocab: 32000}");
    assert_int_equal(llama2.status, AP_OK);
    assert_near(llama2.job.model.params, 6.738416e9, 1e-6);
    resolved llama3 = resolve("model: {class: decoder, layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, gated_mlp: true, vocab: 128256}");
    assert_near(llama3.job.model.params, 8.03026e9, 1e-6);
    resolved mixtral = resolve("model: {class: moe, layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, gated_mlp: true,"
                               " vocab: 32000, experts: 8, top_k: 2}");
    assert_near(mixtral.job.model.params, 4.67028e10, 1e-5);
    assert_near(mixtral.job.model.active_params, 1.28799e10, 1e-5);
    ap_arena_free(llama2.arena);
    ap_arena_free(llama3.arena);
    ap_arena_free(mixtral.arena);
}

static void test_batch_in_tokens_becomes_sequences(void **state)
{
    (void)state;
    resolved r = resolve("model: llama-3.1-8b\nmethod: pretrain\nsequence_length: 4096\nglobal_batch: 4M tokens\ndata: {tokens: 1B}");
    assert_int_equal(r.status, AP_OK);
    assert_near(r.job.global_batch, 977, 0); /* 4e6 / 4096 = 976.6 */
    assert_near(r.job.samples, 1e9 / 4096, 1e-12);
    ap_arena_free(r.arena);
}

static void test_epochs_of_a_dataset(void **state)
{
    (void)state;
    resolved r = resolve("model: resnet50\ndata: {dataset: imagenet-1k, epochs: 90}");
    assert_int_equal(r.status, AP_OK);
    assert_near(r.job.samples, 90.0 * 1281167, 0);
    assert_true(assumed(&r, "optimizer"));
    assert_null(r.job.unknown_run);
    ap_arena_free(r.arena);
}

static void test_samples_times_length_are_tokens(void **state)
{
    (void)state;
    resolved r = resolve("model: llama-3.1-8b\nmethod: lora\nsequence_length: 512\ndata: {samples: 10k, epochs: 3}");
    assert_near(r.job.tokens, 10000.0 * 3 * 512, 0);
    ap_arena_free(r.arena);
}

static void test_without_data_the_run_is_unknown_with_a_reason(void **state)
{
    (void)state;
    resolved r = resolve("model: llama-3.1-8b\nmethod: lora");
    assert_int_equal(r.status, AP_OK);
    assert_true(isnan(r.job.tokens));
    assert_non_null(r.job.unknown_run);
    ap_arena_free(r.arena);
}

static void test_large_token_counts_mean_pretraining(void **state)
{
    (void)state;
    resolved r = resolve("model: gpt3-175b\ndata: {tokens: 300B}");
    assert_int_equal(r.job.method, AP_METHOD_PRETRAIN);
    assert_true(assumed(&r, "method"));
    ap_arena_free(r.arena);
}

/* GPT-3 was trained on 300 B tokens; MLPerf's recipe for it covers 1.2 B from a checkpoint. */
static void test_a_benchmark_recipe_is_not_the_training(void **state)
{
    (void)state;
    resolved r = resolve("model: gpt3-175b\n");
    assert_int_equal(r.status, AP_OK);
    assert_near(r.job.tokens, 300e9, 1e-9);
    ap_arena_free(r.arena);
}

static void test_unknown_names_are_located_and_suggested(void **state)
{
    (void)state;
    resolved r = resolve("model: llama-3.1-8\ndata: {dataset: imagenet-1kk}");
    assert_int_equal(r.status, AP_BAD_INPUT);
    assert_int_equal(r.diags.errors, 2);
    assert_int_equal(r.diags.items[0].pos.line, 1);
    assert_int_equal(r.diags.items[0].pos.col, 8);
    assert_non_null(r.diags.items[0].hint);
    ap_arena_free(r.arena);
}

static void test_impossible_shapes_are_refused(void **state)
{
    (void)state;
    const char *bad[] = {
        "model: {class: decoder, layers: 4, hidden: 100, heads: 7}",
        "model: {class: decoder, layers: 4, hidden: 128, heads: 8, kv_heads: 3}",
        "model: {class: moe, layers: 4, hidden: 128, heads: 8, experts: 4, top_k: 5}",
        "model: {class: cnn}",
        "model: {class: cnn, gmac: 4, macts: 11, weighted_layers: 200000}", /* no more than a model of the catalog may have */
        "model: {class: decoder, layers: 6000, hidden: 128, heads: 8}",
        "model: {class: transformer, params: 1B}",
        "model: {class: decoder, params: -1}",
        "model: resnet50\nglobal_batch: 4 bananas",
        "model: resnet50\nglobal_batch: 0",
        "model: resnet50\nglobal_batch: 4M tokens",
        "model: [resnet50]",
        "model: resnet50\noffload: [everything]",
        "model:\n",
        "{}",
        "method: lora",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        resolved r = resolve(bad[i]);
        if (r.status != AP_BAD_INPUT || r.diags.errors == 0)
            fail_msg("accepted: %s (status %d)", bad[i], (int)r.status);
        ap_arena_free(r.arena);
    }
}

static void test_trees_count_rounds_not_epochs(void **state)
{
    (void)state;
    resolved r = resolve("model: {class: gbdt, library: xgboost, trees: 200, depth: 6}\ndata: {rows: 11M, features: 28}");
    assert_int_equal(r.status, AP_OK);
    assert_near(r.job.model.trees, 200, 0);
    assert_near(r.job.rows, 11e6, 0);
    assert_int_equal(r.job.framework, 3); /* xgboost */
    ap_arena_free(r.arena);
}

static void test_defaults_do_not_beat_the_document(void **state)
{
    (void)state;
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_workload document, defaults;
    ap_diags_init(&diags, arena);
    ap_workload_init(&document);
    ap_workload_init(&defaults);
    const char *text = "model: resnet50\nprecision: fp16\n";
    assert_int_equal(ap_workload_read(text, strlen(text), "w", arena, &diags, &document), AP_OK);
    assert_int_equal(ap_schema_set(&ap_workload_object, &defaults, "precision", "bf16", AP_NO_POS, arena, &diags), AP_OK);
    assert_int_equal(ap_schema_set(&ap_workload_object, &defaults, "parallel.tp", "4", AP_NO_POS, arena, &diags), AP_OK);
    ap_schema_fill(&ap_workload_object, &document, &defaults);
    assert_int_equal(document.precision, AP_PREC_FP16);
    assert_near(document.parallel.tp, 4, 0);
}

/* data/recipes: 90 epochs of 1,281,167 images with 256 a step. Epochs that were given run to no target. */
static void test_only_a_published_schedule_runs_to_a_target(void **state)
{
    (void)state;
    resolved r = resolve("model: resnet50\nglobal_batch: 8192\ndata: {dataset: imagenet-1k}");
    assert_int_equal(r.job.amount, AP_AMOUNT_RECIPE);
    assert_false(r.job.batch_assumed);
    assert_near(r.job.samples, 90.0 * 1281167, 1e-12);
    assert_near(r.job.target_batch, 256, 0);
    assert_true(r.job.critical_batch > 32774 && r.job.critical_batch < 48933); /* the fit's range */
    assert_true(assumed(&r, "early_stopping"));
    resolved given = resolve("model: resnet50\nglobal_batch: 8192\ndata: {dataset: imagenet-1k, epochs: 90}");
    assert_int_equal(given.job.amount, AP_AMOUNT_GIVEN);
    assert_true(isnan(given.job.target_batch));
    assert_true(given.job.critical_batch > 0); /* to warn of it */
    /* Another network on the same images takes their law, and is credited nothing for a smaller batch. */
    resolved other = resolve("model: resnet101\nglobal_batch: 64\ndata: {dataset: imagenet-1k}");
    assert_string_equal(other.job.batch_law, "imagenet-1k");
    assert_true(isnan(other.job.target_batch) || other.job.target_batch <= 64);
    resolved unknown = resolve("model: resnet50\ndata: {samples: 100000, epochs: 3}");
    assert_true(isnan(unknown.job.target_batch));
    ap_arena_free(r.arena);
    ap_arena_free(given.arena);
    ap_arena_free(other.arena);
    ap_arena_free(unknown.arena);
}

/* Wikipedia is what BERT is pre-trained on, as its recipe says; a question-answering set is for tuning. */
static void test_method_follows_the_recipe_of_the_data(void **state)
{
    (void)state;
    resolved pretrain = resolve("model: bert-large\ndata: {dataset: wikipedia-mlperf}");
    assert_int_equal(pretrain.job.method, AP_METHOD_PRETRAIN);
    resolved lora = resolve("model: llama-2-70b\ndata: {dataset: scrolls-govreport}");
    assert_int_equal(lora.job.method, AP_METHOD_LORA);
    resolved said = resolve("model: llama-2-70b\nmethod: qlora\ndata: {dataset: scrolls-govreport}");
    assert_int_equal(said.job.method, AP_METHOD_QLORA);
    ap_arena_free(pretrain.arena);
    ap_arena_free(lora.arena);
    ap_arena_free(said.arena);
}

static void test_early_stopping_is_a_stated_factor(void **state)
{
    (void)state;
    resolved r = resolve("model: resnet50\nearly_stopping: true\ndata: {dataset: imagenet-1k}");
    assert_near(r.job.epochs, 35.1, 1e-12); /* 0.39 of 90 */
    assert_near(r.job.samples, 35.1 * 1281167, 1e-12);
    assert_true(assumed(&r, "early_stop_factor"));
    /* Who says as many epochs as the recipe means its schedule; of any other nothing is known, and that is said. */
    resolved same = resolve("model: resnet50\nearly_stopping: true\ndata: {dataset: imagenet-1k, epochs: 90}");
    assert_near(same.job.epochs, 35.1, 1e-12);
    resolved given = resolve("model: resnet50\nearly_stopping: true\ndata: {dataset: imagenet-1k, epochs: 50}");
    assert_near(given.job.epochs, 50, 0);
    assert_true(assumed(&given, "early_stopping"));
    resolved none = resolve("model: {class: cnn, params: 1M, macs: 1G}\nearly_stopping: true\ndata: {samples: 1000, epochs: 5}");
    assert_true(none.status != AP_OK || assumed(&none, "early_stopping"));
    ap_arena_free(r.arena);
    ap_arena_free(same.arena);
    ap_arena_free(given.arena);
    ap_arena_free(none.arena);
}

/* A batch counts for its tokens, and so does a schedule: 2.73 M sequences of 512 are 10.92 M of 128; the critical batch of
 * 15,600 is 62,400 and the largest, 14,336, is 57,344. */
static void test_a_schedule_at_another_length_keeps_its_tokens(void **state)
{
    (void)state;
    resolved own = resolve("model: bert-large\nsequence_length: 512\ndata: {dataset: wikipedia-mlperf}");
    resolved shorter = resolve("model: bert-large\nsequence_length: 128\ndata: {dataset: wikipedia-mlperf}");
    assert_near(own.job.samples, 2.73e6, 1e-12);
    assert_near(shorter.job.samples, 10.92e6, 1e-12);
    assert_near(shorter.job.tokens, own.job.tokens, 1e-12);
    assert_near(shorter.job.critical_batch, 62400, 1e-12);
    assert_near(shorter.job.largest_batch, 57344, 1e-12);
    ap_arena_free(own.arena);
    ap_arena_free(shorter.arena);
}

static ap_recipe *recipe_of(ap_catalog *own, const char *id)
{
    for (size_t i = 0; i < own->recipes.count; i++)
        if (strcmp(own->recipes.items[i].id, id) == 0)
            return &own->recipes.items[i];
    fail_msg("no recipe %s", id);
    return NULL;
}

/* On coco-2017 ssd-resnet34 (family ssd) is known to 4,096 with a critical batch of 4,300, mask-rcnn-r50-fpn (family rcnn) to
 * 256 with 660. One of the family is like its family; another bears what all are known to bear, and sqrt(4300 x 660) =
 * 1684.64 is the geometric mean. */
static void test_a_law_is_taken_from_relatives_first(void **state)
{
    (void)state;
    resolved relative = resolve("model: mask-rcnn-r101-fpn\ndata: {dataset: coco-2017}");
    assert_near(relative.job.critical_batch, 660, 1e-12);
    assert_near(relative.job.largest_batch, 256, 0);
    resolved other = resolve("model: retinanet-r101\ndata: {dataset: coco-2017}");
    assert_near(other.job.critical_batch, 1684.636, 1e-6);
    assert_near(other.job.largest_batch, 256, 0);
    assert_string_equal(other.job.batch_law, "coco-2017");
    /* A law without a largest batch says nothing of it: the other's counts, and of none it is unknown, not 0. */
    ap_catalog *own = ap_catalog_builtin(relative.arena);
    recipe_of(own, "maskrcnn-mlperf")->largest_batch = AP_UNKNOWN;
    ap_job job;
    assert_int_equal(ap_job_resolve(&other.workload, own, NULL, relative.arena, &relative.diags, &job), AP_OK);
    assert_near(job.largest_batch, 4096, 0);
    recipe_of(own, "ssd-mlperf")->largest_batch = AP_UNKNOWN;
    assert_int_equal(ap_job_resolve(&other.workload, own, NULL, relative.arena, &relative.diags, &job), AP_OK);
    assert_true(isnan(job.largest_batch));
    /* A recipe's own batch is known to reach its target, whatever others bear. */
    recipe_of(own, "ssd-mlperf")->largest_batch = 8;
    resolved with_recipe = resolve("model: ssd300-resnet50\ndata: {dataset: coco-2017}");
    assert_int_equal(ap_job_resolve(&with_recipe.workload, own, NULL, relative.arena, &relative.diags, &job), AP_OK);
    assert_near(job.recipe->global_batch, 32, 0);
    assert_near(job.largest_batch, 32, 0);
    ap_arena_free(with_recipe.arena);
    ap_arena_free(relative.arena);
    ap_arena_free(other.arena);
}

/* human-genome counts tokens, and an image network has no length to divide them by: no number, and a reason. */
static void test_a_data_set_without_samples_gives_no_run(void **state)
{
    (void)state;
    resolved r = resolve("model: efficientnet_b3\ndata: {dataset: human-genome}");
    assert_true(isnan(r.job.samples));
    assert_non_null(strstr(r.job.unknown_run, "human-genome"));
    ap_arena_free(r.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape_gives_published_parameter_counts),
        cmocka_unit_test(test_batch_in_tokens_becomes_sequences),
        cmocka_unit_test(test_epochs_of_a_dataset),
        cmocka_unit_test(test_samples_times_length_are_tokens),
        cmocka_unit_test(test_without_data_the_run_is_unknown_with_a_reason),
        cmocka_unit_test(test_large_token_counts_mean_pretraining),
        cmocka_unit_test(test_a_benchmark_recipe_is_not_the_training),
        cmocka_unit_test(test_unknown_names_are_located_and_suggested),
        cmocka_unit_test(test_impossible_shapes_are_refused),
        cmocka_unit_test(test_trees_count_rounds_not_epochs),
        cmocka_unit_test(test_only_a_published_schedule_runs_to_a_target),
        cmocka_unit_test(test_method_follows_the_recipe_of_the_data),
        cmocka_unit_test(test_early_stopping_is_a_stated_factor),
        cmocka_unit_test(test_a_schedule_at_another_length_keeps_its_tokens),
        cmocka_unit_test(test_a_law_is_taken_from_relatives_first),
        cmocka_unit_test(test_a_data_set_without_samples_gives_no_run),
        cmocka_unit_test(test_defaults_do_not_beat_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
