/* The transformer engine as a whole: a published step, promises about answers, absurd input. */
#include "testing_data.h"

#include "estimate/llm.h"

static ap_case job_of(const fixture *f, const char *model, const char *chip, double chips)
{
    ap_case job;
    ap_case_clear(&job);
    job.model = ap_catalog_find_model(f->catalog, model);
    job.chip = ap_catalog_find_chip(f->catalog, chip).chip;
    assert_non_null(job.model);
    assert_non_null(job.chip);
    job.domain = "llm";
    job.arch = job.model->arch;
    job.method = AP_METHOD_PRETRAIN;
    job.precision = AP_PREC_BF16;
    job.chips = chips;
    job.chips_per_node = chips < 8 ? chips : 8;
    job.seq_len = 2048;
    return job;
}

static ap_estimate estimate_of(const fixture *f, const ap_case *job, const ap_layout *layout)
{
    ap_est_context context;
    ap_estimate estimate;
    ap_est_init(&context, f->calibration, job);
    ap_est_run(&context, layout, &estimate);
    return estimate;
}

static ap_layout layout_of(double tp, double pp, double micro)
{
    ap_layout layout;
    ap_layout_clear(&layout);
    layout.tp = tp;
    layout.pp = pp;
    layout.micro_batch = micro;
    layout.sharding = AP_SHARD_DDP;
    layout.recompute = AP_RECOMPUTE_FULL;
    return layout;
}

static void step_of_gpt3_on_1024_a100(void **state)
{
    const fixture *f = *state; /* Megatron-LM README and SC'21: batch 1536, t 8, p 16: about 32 s an iteration */
    ap_case job = job_of(f, "gpt3-175b", "a100-sxm4-80gb", 1024);
    job.global_batch = 1536;
    job.flash = 0;
    job.stack = "megatron-2021";
    job.stack_info = ap_catalog_find_stack(f->catalog, job.stack);
    ap_layout layout = layout_of(8, 16, 1);
    ap_estimate e = estimate_of(f, &job, &layout);
    assert_null(e.error);
    assert_near(e.step_s, 32, 0.1);
    assert_near(e.samples_per_step, 1536, 0);
}

static void time_scales_with_tokens(void **state)
{
    const fixture *f = *state;
    ap_layout layout = layout_of(2, 2, 1);
    ap_case job = job_of(f, "llama-2-7b", "h100-sxm5-80gb", 8);
    double last = 0, rate = HUGE_VAL;
    for (double batch = 32; batch <= 4096; batch *= 2) {
        job.global_batch = batch;
        ap_estimate e = estimate_of(f, &job, &layout);
        assert_true(e.step_s > last);
        assert_true(e.step_s / batch <= rate * (1 + 1e-9)); /* fixed costs spread over more */
        last = e.step_s;
        rate = e.step_s / batch;
    }
    last = 0;
    job.global_batch = 32;
    for (job.seq_len = 256; job.seq_len <= 65536; job.seq_len *= 2) {
        ap_estimate e = estimate_of(f, &job, &layout);
        assert_true(e.step_s > last && e.peak_bytes > 0);
        last = e.step_s;
    }
}

static void more_memory_never_fits_less(void **state)
{
    const fixture *f = *state;
    ap_case job = job_of(f, "llama-2-7b", "a100-sxm4-80gb", 8);
    job.global_batch = 64;
    ap_layout layout = layout_of(1, 1, 1);
    layout.sharding = AP_SHARD_ZERO1;
    int verdict = AP_DOES_NOT_FIT;
    for (double gib = 8; gib < 512; gib *= 1.5) {
        ap_chip chip = *job.chip;
        ap_case larger = job;
        chip.memory.size = chip.memory.usable = gib * 1073741824;
        larger.chip = &chip;
        ap_estimate e = estimate_of(f, &larger, &layout);
        assert_true(e.verdict <= verdict);
        verdict = e.verdict;
    }
    assert_int_equal(verdict, AP_FITS);
}

static void absurd_input_is_said_not_computed(void **state)
{
    const fixture *f = *state;
    static const double absurd[] = {-1, 0, 1e-300, 0.3, 1e9, 1e18, 1e300};
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++)
        for (int field = 0; field < 8; field++) {
            ap_case job = job_of(f, "llama-2-7b", "h100-sxm5-80gb", 8);
            ap_layout layout = layout_of(2, 2, 1);
            double *const fields[] = {&layout.tp, &layout.pp,   &layout.dp, &layout.micro_batch,
                                      &layout.cp, &job.seq_len, &job.chips, &job.global_batch};
            *fields[field] = absurd[i];
            ap_estimate e = estimate_of(f, &job, &layout);
            assert_true(e.error || (isfinite(e.step_s) && e.step_s > 0 && isfinite(e.peak_bytes) && e.peak_bytes > 0));
        }
}

static void unknown_layout_is_completed(void **state)
{
    const fixture *f = *state;
    static const char *const models[] = {"llama-2-7b", "llama-3-70b", "mixtral-8x7b",
                                         "gpt3-175b",  "deepseek-v3", "bert-large"};
    static const char *const chips[] = {"a100-sxm4-80gb", "h100-sxm5-80gb", "b300", "mi300x",
                                        "tpu-v5p",        "rtx-4090",       "l4"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (size_t c = 0; c < sizeof chips / sizeof *chips; c++)
            for (double n = 1; n <= 4096; n *= 8) {
                ap_case job = job_of(f, models[m], chips[c], n);
                ap_layout layout;
                ap_layout_clear(&layout);
                ap_estimate e = estimate_of(f, &job, &layout);
                if (e.error)
                    print_error("%s on %g %s: %s\n", models[m], n, chips[c], e.error);
                assert_null(e.error);
                assert_true(e.step_s > 0 && isfinite(e.step_s) && e.mfu > 0 && e.mfu < 1);
                assert_true(e.ln_low <= 0 && e.ln_high >= 0);
                assert_near(e.layout.dp * e.layout.tp * e.layout.pp * e.layout.cp, n, 0.5);
            }
}

#define fixture_test(function) cmocka_unit_test_setup_teardown(function, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(step_of_gpt3_on_1024_a100),   fixture_test(time_scales_with_tokens),
        fixture_test(more_memory_never_fits_less), fixture_test(absurd_input_is_said_not_computed),
        fixture_test(unknown_layout_is_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
