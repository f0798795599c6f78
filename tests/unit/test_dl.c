/* Networks other than language models: formulas with every efficiency 1 against values worked out by hand (the
 * handbook's worked examples), and the promises of the engine with the constants as shipped. */
#include "testing.h"

#include "base/num.h"
#include "base/str.h"
#include "estimate/dl_internal.h"

typedef struct fixture {
    ap_arena *arena;
    const ap_catalog *catalog;
    const ap_calibration *calibration;
} fixture;

static int setup(void **state)
{
    static fixture f;
    f.arena = ap_arena_new();
    f.catalog = ap_catalog_builtin(f.arena);
    f.calibration = ap_calibration_builtin(f.arena);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    ap_arena_free(((fixture *)*state)->arena);
    return 0;
}

/* A chip of round figures: 100 TFLOP/s in 16 bit, 1 TB/s, links of 300 GB/s one way. */
static ap_chip *round_chip(const fixture *f)
{
    ap_chip *chip = AP_NEW(f->arena, ap_chip);
    *chip = *ap_catalog_find_chip(f->catalog, "a100-sxm4-80gb").chip;
    chip->peak.fp16 = chip->peak.bf16 = 100e12;
    chip->memory.bandwidth = 1e12;
    chip->link.bandwidth = 600e9;
    return chip;
}

/* A model of which only the figures given are known. */
static ap_model *custom_model(const fixture *f, const char *domain, const char *arch)
{
    ap_model *model = AP_NEW(f->arena, ap_model);
    *model = *ap_catalog_find_model(f->catalog, "resnet50");
    model->id = model->family = "custom";
    model->domain = domain;
    model->arch = arch;
    model->fwd_mac = model->acts = model->params = model->weighted_layers = AP_UNKNOWN;
    return model;
}

static ap_case job_of(const fixture *f, const ap_model *model, double chips)
{
    ap_case job;
    ap_case_clear(&job);
    job.model = model;
    job.domain = model->domain;
    job.arch = model->arch;
    job.chip = round_chip(f);
    job.chips = chips;
    job.precision = AP_PREC_FP16;
    return job;
}

/* The case with every efficiency and factor 1, no launches, latencies, norms or stragglers. */
static void begin_plain(const fixture *f, const ap_case *job, ap_est_context *ret)
{
    ap_engine_keys keys;
    ap_est_begin(ret, f->calibration, job, &keys);
    for (int i = 0; i < DL_CONST_COUNT; i++)
        ret->consts[i] = 0.0;
    static const int ones[] = {
        DL_mac,          DL_acts,       DL_efficiency, DL_memory_bandwidth, DL_passes,        DL_roofline_norm,
        DL_overlap_norm, DL_link,       DL_nic,        DL_exposed,          DL_exchange_link, DL_exchange_nic,
        DL_time,         DL_fill,       DL_run_time,   DL_recipe,           DL_mem_states,    DL_mem_acts,
        DL_mem_full,     DL_mem_margin, DL_conv_reuse, DL_profile_units,    DL_unpadded,      DL_input_format};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        ret->consts[ones[i]] = 1.0;
}

static ap_estimate run_plain(ap_est_context *context, double micro_batch)
{
    ap_layout layout;
    ap_layout_clear(&layout);
    layout.micro_batch = micro_batch;
    ap_dl_prepare(context);
    ap_estimate estimate;
    ap_est_run(context, &layout, &estimate);
    return estimate;
}

static void a_convolution_net_costs_three_forward_passes(void **state)
{
    const fixture *f = *state;
    ap_model *model = custom_model(f, "vision", "cnn");
    model->fwd_mac = 4.11e9;
    model->acts = 11.11e6;
    model->params = 25.6e6;
    ap_case job = job_of(f, model, 1.0);
    ap_est_context context;
    begin_plain(f, &job, &context);
    context.consts[DL_passes] = 31.0;
    ap_estimate estimate = run_plain(&context, 256.0);
    /* a17: 2 x 3 x 4.11e9 = 2.466e10 FLOP an image. */
    assert_near(estimate.flop_per_step / estimate.samples_per_step, 2.466e10, 1e-12);
    /* c3, norm 1 = sum: 2.466e10 / 1e14 + 31 x 2 x 11.11e6 / 1e12 = 2.466e-4 + 6.8882e-4 s an image. */
    assert_near(estimate.step_s, 256.0 * (2.466e-4 + 6.8882e-4), 1e-12);
    /* b19: two copies of 2 B x 11.11e6 x 256 = 11.38e9 B. */
    context.consts[DL_mem_acts] = 2.0;
    estimate = run_plain(&context, 256.0);
    assert_near(estimate.memory[2].seconds, 4.0 * 11.11e6 * 256.0, 1e-12);
    /* b2: fp32 weights and gradients, SGD momentum, 16-bit copy = 14 B a parameter. */
    assert_near(estimate.memory[1].seconds, 14.0 * 25.6e6, 1e-12);
}

/* 10 ms of launches, growing by 0.1 a doubling: 10 ms x exp(0.3) beside seven other processes. */
static void processes_of_a_host_launch_slower_together(void **state)
{
    const fixture *f = *state;
    ap_model *model = custom_model(f, "vision", "cnn");
    model->fwd_mac = 1e9;
    model->acts = 1e6;
    model->params = 1e6;
    model->weighted_layers = AP_UNKNOWN;
    ap_case job = job_of(f, model, 8.0);
    ap_est_context context;
    begin_plain(f, &job, &context);
    context.consts[DL_conv_launch] = 0.01;
    context.consts[DL_launch] = 1.0;
    context.consts[DL_launch_crowd] = 0.1;
    (void)run_plain(&context, 1.0);
    assert_near(context.work[DL_W_LAUNCH_S], 0.01 * exp(0.3), 1e-12);
}

static void the_slower_of_arithmetic_and_traffic_counts_at_a_large_norm(void **state)
{
    const fixture *f = *state;
    ap_model *model = custom_model(f, "vision", "cnn");
    model->fwd_mac = 10e9;
    model->acts = 1e6;
    model->params = 1e6;
    ap_case job = job_of(f, model, 1.0);
    ap_est_context context;
    begin_plain(f, &job, &context);
    context.consts[DL_roofline_norm] = 40.0;
    ap_estimate estimate = run_plain(&context, 10.0);
    assert_near(estimate.step_s, 6.0 * 10e9 * 10.0 / 1e14, 1e-6);
    assert_int_equal(estimate.bottleneck, AP_BOUND_COMPUTE);
}

static void a_small_batch_waits_for_the_launches_of_every_layer(void **state)
{
    const fixture *f = *state;
    ap_model *model = custom_model(f, "vision", "cnn");
    model->fwd_mac = 1e9;
    model->acts = 1e6;
    model->params = 1e6;
    ap_case job = job_of(f, model, 1.0);
    ap_est_context context;
    begin_plain(f, &job, &context);
    context.consts[DL_roofline_norm] = 40.0;
    context.consts[DL_launch] = 2.0;
    context.consts[DL_conv_launch] = 1e-3;
    context.consts[DL_conv_launch_acts] = 3e-3;
    context.consts[DL_conv_launch_layer] = 1e-4;
    double arithmetic = 6.0 * 1e9 * 8.0 / 1e14;
    /* Layers not counted: 2 x (1 ms + 3 ms x sqrt(1)); 46 layers and 4 for input and loss: 2 x 50 x 0.1 ms. */
    assert_near(run_plain(&context, 8.0).step_s, arithmetic + 8e-3, 1e-6);
    model->weighted_layers = 46.0;
    assert_near(run_plain(&context, 8.0).step_s, arithmetic + 10e-3, 1e-6);
}

static void an_encoder_follows_from_its_shape(void **state)
{
    const fixture *f = *state;
    ap_model *model = custom_model(f, "nlp", "encoder");
    model->layers = 24.0;
    model->hidden = 1024.0;
    model->ffn = 4096.0;
    model->heads = 16.0;
    ap_case job = job_of(f, model, 1.0);
    job.seq_len = 512.0;
    job.method = AP_METHOD_FINETUNE;
    job.domain = "speech"; /* encoders of text have the transformers' engine; this one's is for what is left */
    ap_est_context context;
    begin_plain(f, &job, &context);
    context.job.domain = "nlp";
    ap_estimate estimate = run_plain(&context, 1.0);
    /* a10: BERT-large at 512 trains with 1.00502e12 FLOP a sequence. */
    assert_near(estimate.flop_per_step, 1.00502e12, 1e-5);
    assert_near(estimate.tokens_per_step, 512.0, 0.0);
}

static void gradients_cross_a_ring(void **state)
{
    const fixture *f = *state;
    ap_model *model = custom_model(f, "vision", "cnn");
    model->fwd_mac = 1.0; /* nothing but communication */
    model->acts = 1.0;
    model->params = 33554432.0; /* 64 MiB in 16 bit */
    ap_case job = job_of(f, model, 8.0);
    job.chips_per_node = 8.0;
    ap_est_context context;
    begin_plain(f, &job, &context);
    context.consts[DL_link] = 227.3 / 300.0;
    context.consts[DL_link_latency] = 78.6e-6 / 3.0;
    ap_estimate estimate = run_plain(&context, 1.0);
    /* c6: 2 x 7/8 x 64 MiB / 227.3 GB/s + 78.6 us = 595 us. */
    assert_near(estimate.step_s, 595.3e-6, 1e-3);
    assert_int_equal(estimate.bottleneck, AP_BOUND_NETWORK);
}

static void tables_of_a_recommender_are_sharded_and_exchanged(void **state)
{
    const fixture *f = *state;
    ap_model *model = custom_model(f, "recsys", "dlrm");
    model->embedding_rows = 1e8;
    model->embedding_dim = 128.0;
    model->params = 1.0; /* no gradients to speak of */
    model->fwd_mac = model->acts = 1.0;
    ap_case job = job_of(f, model, 8.0);
    job.chips_per_node = 8.0;
    ap_est_context context;
    begin_plain(f, &job, &context);
    context.consts[DL_exchange] = 2.0 * 26.0 * 128.0 * 2.0;
    ap_estimate estimate = run_plain(&context, 8192.0);
    /* b20: 1e8 x 128 x 4 B = 51.2 GB over eight chips. */
    assert_near(estimate.memory[3].seconds, 6.4e9, 1e-12);
    /* 13,312 B x 8,192 samples, 7/8 of them elsewhere, over 300 GB/s = 318 us. */
    assert_near(estimate.step_s, 13312.0 * 8192.0 * 7.0 / 8.0 / 300e9, 0.01);
}

static double core_seconds(const fixture *f, const ap_case *job)
{
    ap_est_context context;
    begin_plain(f, job, &context);
    context.consts[DL_input_core] = 1.0 / 150.0;
    run_plain(&context, 256.0);
    return context.work[DL_W_CORE_S];
}

static void an_input_pipeline_needs_cores(void **state)
{
    const fixture *f = *state;
    ap_model *model = custom_model(f, "vision", "cnn");
    model->fwd_mac = 1e14 / 6.0 / 20000.0; /* 20,000 images a second */
    model->acts = 1.0;
    model->params = 1.0;
    ap_case job = job_of(f, model, 1.0);
    job.dataset = "photos";
    ap_est_context context;
    begin_plain(f, &job, &context);
    context.consts[DL_input_core] = 1.0 / 150.0;
    ap_estimate estimate = run_plain(&context, 256.0);
    assert_near(estimate.input_cores_needed, 20000.0 / 150.0, 1e-4); /* c17: 133 cores */
    job.host_vcpus = 16.0;
    begin_plain(f, &job, &context);
    context.consts[DL_input_core] = 1.0 / 150.0;
    estimate = run_plain(&context, 256.0);
    assert_int_equal(estimate.bottleneck, AP_BOUND_INPUT);
    assert_near(256.0 / estimate.step_s, 16.0 * 150.0, 1e-6);
    job.host_vcpus = AP_UNKNOWN;
    job.input = "224x224";
    double photo = core_seconds(f, &job);
    job.input = "28x28"; /* 784 / 50,176 = 1/64 of a photograph: 133.3 / 64 = 2.083 CPUs feed the same chip */
    assert_near(core_seconds(f, &job) / photo, 1.0 / 64.0, 1e-9);
    job.sample_bytes = 784.0; /* a hundredth of a photograph's time is the least */
    assert_near(core_seconds(f, &job) / photo, 0.01, 1e-9);
    job.sample_bytes = 230e3;
    assert_near(core_seconds(f, &job) / photo, 2.0, 1e-9);
}

static void failures_cost_checkpoints_and_restarts(void **state)
{
    (void)state;
    /* c19. */
    assert_near(ap_run_goodput(11135.0, 15.0, 300.0), 0.921, 1e-3);
    assert_near(ap_run_goodput(11135.0, 60.0, 600.0), 0.842, 1e-3);
    assert_near(ap_run_goodput(50677.0 * 3600.0 / 1024.0, 60.0, 600.0), 0.971, 1e-3);
}

/* Four times the pixels, four times the products and activations: ResNet-50 at 448 against 224. */
static void work_grows_with_the_area_of_a_picture(void **state)
{
    const fixture *f = *state;
    double seconds[2];
    static const char *const inputs[] = {"224x224", "448x448 (centre)"};
    for (int i = 0; i < 2; i++) {
        ap_case job = job_of(f, ap_catalog_find_model(f->catalog, "resnet50"), 1.0);
        job.input = inputs[i];
        ap_est_context context;
        ap_est_init(&context, f->calibration, &job);
        seconds[i] = context.work[DL_W_COMPUTE_S];
    }
    assert_near(seconds[1], 4.0 * seconds[0], 1e-9);
}

static void sizes_are_read_from_texts(void **state)
{
    (void)state;
    assert_near(ap_dl_pixels("224x224"), 50176.0, 0.0);
    assert_near(ap_dl_pixels("128x128x128 crop"), 2097152.0, 0.0);
    assert_near(ap_dl_pixels("800x1333 (multi-scale)"), 1066400.0, 0.0);
    assert_true(isnan(ap_dl_pixels("seq 2048")));
    assert_true(isnan(ap_dl_pixels(NULL)));
}

/* With the constants as shipped: every model of every kind has a finite time and memory on every chip. */
static void every_model_is_estimated_on_every_chip(void **state)
{
    const fixture *f = *state;
    size_t done = 0;
    for (size_t m = 0; m < f->catalog->models.count; m++)
        for (size_t c = m % 7; c < f->catalog->chips.count; c += 7) {
            const ap_model *model = &f->catalog->models.items[m];
            ap_case job;
            ap_case_clear(&job);
            job.model = model;
            job.domain = model->domain;
            job.arch = model->arch;
            job.chip = &f->catalog->chips.items[c];
            job.chips = m % 2 ? 1.0 : 16.0;
            if (ap_est_engine(&job) == AP_ENGINE_LLM)
                continue;
            ap_est_context context;
            ap_layout layout;
            ap_estimate estimate;
            ap_layout_clear(&layout);
            ap_est_init(&context, f->calibration, &job);
            ap_est_run(&context, &layout, &estimate);
            if (estimate.error || !(estimate.step_s > 0.0) || !isfinite(estimate.step_s) ||
                !(estimate.peak_bytes > 0.0) || !isfinite(estimate.peak_bytes))
                fail_msg("%s on %s: step %g s, %g bytes, %s", model->id, job.chip->id, estimate.step_s,
                         estimate.peak_bytes, estimate.error ? estimate.error : "no error");
            done++;
        }
    assert_true(done > 10000);
}

/* c3: 31 passes channels-last, 40 otherwise. The examples train classifiers so under mixed precision, not in tf32. */
static void examples_train_channels_last_under_mixed_precision(void **state)
{
    const fixture *f = *state;
    static const int precisions[] = {AP_PREC_FP16, AP_PREC_TF32};
    for (int i = 0; i < 2; i++) {
        ap_case job = job_of(f, ap_catalog_find_model(f->catalog, "resnet50"), 1.0);
        job.chip = ap_catalog_find_chip(f->catalog, "a100-sxm4-80gb").chip;
        job.stack = "dle-pytorch";
        job.precision = precisions[i];
        ap_est_context context;
        ap_engine_keys keys;
        ap_est_begin(&context, f->calibration, &job, &keys);
        const char *found = NULL;
        for (size_t k = 0; k < keys.keys.count; k++)
            if (ap_streq(keys.keys.levels[k], "channels_last"))
                found = keys.keys.keys[k];
        assert_true(i == 0 ? ap_streq(found, "cnn") : !found);
    }
    const ap_calib_engine *engine = ap_calibration_engine(f->calibration, "dl");
    assert_near(ap_calib_deviation(engine, "acts", "channels_last", "cnn"), log(31.0 / 40.0), 0.001);
}

/* What a publication measures is off by an amount of its own: a case of a publication that was among the rows gets a
 * narrower band than the same case from somebody new, or from nobody. */
static void a_known_publication_narrows_the_band(void **state)
{
    const fixture *f = *state;
    ap_case job = job_of(f, ap_catalog_find_model(f->catalog, "resnet50"), 1.0);
    job.chip = ap_catalog_find_chip(f->catalog, "a100-sxm4-80gb").chip;
    job.stack = "dle-pytorch";
    job.precision = AP_PREC_FP16;
    static const char *const publications[] = {
        "NVIDIA/DeepLearningExamples: PyTorch/Classification/ConvNets/resnet50v1.5/", "somebody new", NULL};
    double width[3];
    for (int i = 0; i < 3; i++) {
        ap_est_context context;
        job.publication = publications[i];
        ap_est_init(&context, f->calibration, &job);
        width[i] = context.interval[AP_Q_STEP][1].high - context.interval[AP_Q_STEP][1].low;
    }
    assert_true(width[0] < 0.9 * width[1]);
    assert_same(width[1], width[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_convolution_net_costs_three_forward_passes),
        cmocka_unit_test(processes_of_a_host_launch_slower_together),
        cmocka_unit_test(the_slower_of_arithmetic_and_traffic_counts_at_a_large_norm),
        cmocka_unit_test(a_small_batch_waits_for_the_launches_of_every_layer),
        cmocka_unit_test(an_encoder_follows_from_its_shape),
        cmocka_unit_test(gradients_cross_a_ring),
        cmocka_unit_test(tables_of_a_recommender_are_sharded_and_exchanged),
        cmocka_unit_test(an_input_pipeline_needs_cores),
        cmocka_unit_test(failures_cost_checkpoints_and_restarts),
        cmocka_unit_test(work_grows_with_the_area_of_a_picture),
        cmocka_unit_test(sizes_are_read_from_texts),
        cmocka_unit_test(every_model_is_estimated_on_every_chip),
        cmocka_unit_test(examples_train_channels_last_under_mixed_precision),
        cmocka_unit_test(a_known_publication_narrows_the_band),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
