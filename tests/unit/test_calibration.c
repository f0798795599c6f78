/* Calibration: effective constants, bands and the YAML form. Expected values are worked out by hand. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/calib_write.h"
#include "io/yaml.h"

static const char file_text[] = "# head\n"
                                "engine: toy\n"
                                "sigma: 0.1\n"
                                "constants:\n"
                                "  - id: share\n"
                                "    value: 0.5\n"
                                "    prior: 0.6\n"
                                "    sd: 0.2\n"
                                "    scale: log\n"
                                "    by:\n"
                                "      - level: chip\n"
                                "        sd: 0.1\n"
                                "        values:\n"
                                "          - {key: b200, value: -0.2, rows: 4}\n"
                                "          - {key: a100, value: 0.1, rows: 9}\n"
                                "      - level: stack\n"
                                "        sd: 0.1\n"
                                "        values:\n"
                                "          - {key: fsdp, value: 0.3, rows: 0}\n"
                                "  - id: slope\n"
                                "    value: 2\n"
                                "    prior: 2\n"
                                "    sd: 1\n"
                                "    scale: linear\n"
                                "    by:\n"
                                "      - level: stack\n"
                                "        sd: 0.1\n"
                                "        values:\n"
                                "          - {key: fsdp, value: -0.5, rows: 3}\n"
                                "  - id: hidden\n"
                                "    value: 0.5\n"
                                "    prior: 0.5\n"
                                "    sd: 1\n"
                                "    scale: logit\n"
                                "    by:\n"
                                "      - level: stack\n"
                                "        sd: 1\n"
                                "        values:\n"
                                "          - {key: fsdp, value: 1.0986122886681098, rows: 3}\n"
                                "intervals:\n"
                                "  - {key: step|calibrated, low: -0.1, high: 0.2, rows: 40, sources: 3}\n"
                                "  - {key: step, low: -0.4, high: 0.5, rows: 90, sources: 9}\n";
static const char *const ids[] = {"hidden", "share", "slope", NULL}; /* another order than the file's */

typedef struct fixture {
    ap_arena *arena;
    ap_diags diags;
    ap_calib_engine *engine;
} fixture;

static ap_calib_engine *parse(fixture *f, const char *text)
{
    ap_docs docs;
    assert_int_equal(ap_yaml_parse(text, strlen(text), "toy.yaml", AP_YAML_STRICT, AP_YAML_CATALOG_BYTES, f->arena,
                                   &f->diags, &docs),
                     AP_OK);
    ap_calib_engine *engine = AP_NEW(f->arena, ap_calib_engine);
    assert_int_equal(ap_schema_load(&ap_calib_engine_object, docs.items[0], engine, f->arena, &f->diags), AP_OK);
    ap_calib_sort(engine);
    return engine;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    if (!f)
        return 1;
    f->arena = ap_arena_new();
    ap_diags_init(&f->diags, f->arena);
    f->engine = parse(f, file_text);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    ap_arena_free(f->arena);
    free(f);
    return 0;
}

static void deviations_act_on_the_constants_scale(void **state)
{
    const fixture *f = *state;
    ap_calib_keys keys = {{"chip", "stack"}, {"a100", "fsdp"}, 2};
    double consts[3];
    ap_calib_resolve(f->engine, ids, &keys, consts);
    assert_near(consts[0], 0.75, 1e-12);          /* logit(0.5) + ln 3 = logit(3/4) */
    assert_near(consts[1], 0.5 * exp(0.4), 1e-12); /* 0.1 + 0.3 on the log scale */
    assert_near(consts[2], 1.5, 1e-12);
}

static void an_unseen_key_has_no_deviation(void **state)
{
    const fixture *f = *state;
    ap_calib_keys keys = {{"chip", "stack"}, {"mi300x", NULL}, 2};
    double consts[3];
    ap_calib_resolve(f->engine, ids, &keys, consts);
    assert_near(consts[0], 0.5, 1e-12);
    assert_near(consts[1], 0.5, 1e-12);
    assert_near(consts[2], 2, 1e-12);
}

static void a_constant_missing_in_the_data_is_unknown(void **state)
{
    const fixture *f = *state;
    static const char *const other[] = {"nothing", NULL};
    ap_calib_keys keys = {.count = 0};
    double consts[1];
    ap_calib_resolve(f->engine, other, &keys, consts);
    assert_true(isnan(consts[0]));
}

static void a_key_counts_as_seen_only_with_rows(void **state)
{
    const fixture *f = *state;
    assert_true(ap_calib_has_key(f->engine, "chip", "a100"));
    assert_false(ap_calib_has_key(f->engine, "chip", "h100"));
    assert_false(ap_calib_has_key(f->engine, "chip", NULL));
    assert_true(ap_calib_has_key(f->engine, "stack", "fsdp")); /* 0 rows in one constant, 3 in another */
}

static void the_most_specific_band_present_is_taken(void **state)
{
    const fixture *f = *state;
    double low, high;
    const char *cells[] = {"step|calibrated|new", "step|calibrated", "step"};
    ap_calib_interval(f->engine, cells, 3, &low, &high);
    assert_near(low, -0.1, 0);
    assert_near(high, 0.2, 0);
    const char *nothing[] = {"memory"};
    ap_calib_interval(f->engine, nothing, 1, &low, &high);
    assert_near(low, -AP_CALIB_WIDEST, 0);
    assert_near(high, AP_CALIB_WIDEST, 0);
}

static void what_is_written_reads_back_the_same(void **state)
{
    fixture *f = *state;
    ap_sbuf out, again;
    ap_sbuf_init(&out, f->arena);
    ap_sbuf_init(&again, f->arena);
    ap_calib_write_yaml(f->engine, ap_calib_head(file_text, f->arena), &out);
    assert_true(ap_starts_with(out.text, "# head\nengine: toy\n"));
    ap_calib_write_yaml(parse(f, out.text), ap_calib_head(out.text, f->arena), &again);
    assert_string_equal(out.text, again.text);
}

static void an_overlay_replaces_keys_and_adds_levels(void **state)
{
    fixture *f = *state;
    ap_calibration *calibration = AP_NEW(f->arena, ap_calibration);
    calibration->arena = f->arena;
    ap_calibration_overlay(calibration, f->engine);
    ap_calibration *copy = ap_calibration_copy(calibration, f->arena);
    ap_calib_engine *own = parse(f, "engine: toy\n"
                                    "constants:\n"
                                    "  - id: share\n    value: 9\n    prior: 9\n    sd: 0\n    scale: log\n    by:\n"
                                    "      - level: chip\n        sd: 1\n        values: [{key: a100, value: 0.5, rows: 1}]\n"
                                    "      - level: site\n        sd: 1\n        values: [{key: lab, value: 0.25, rows: 1}]\n");
    ap_calibration_overlay(copy, own);
    ap_calib_keys keys = {{"chip", "site"}, {"a100", "lab"}, 2};
    double consts[3];
    ap_calib_resolve(ap_calibration_engine(copy, "toy"), ids, &keys, consts);
    assert_near(consts[1], 0.5 * exp(0.75), 1e-12); /* the value stays, the deviations are the user's */
    ap_calib_resolve(ap_calibration_engine(calibration, "toy"), ids, &keys, consts);
    assert_near(consts[1], 0.5 * exp(0.1), 1e-12); /* and the original is untouched */
}

/* A wrong constant estimates without a word: it is refused where it is read. */
static void implausible_constants_are_refused(void **state)
{
    fixture *f = *state;
    static const struct { const char *scale, *value, *more; bool fine; } given[] = {
        {"linear", "1.08", "low: 1", true},   {"linear", "-5", "low: 1", false},   {"linear", "2", "high: 1", false},
        {"linear", "-1e300", "sd: 0", false}, {"log", "0", "sd: 0", false},        {"logit", "1", "sd: 0", false},
        {"logit", "0.5", "sd: 0", true},      {"linear", "-2", "sd: 0", true},     {"log", "1e-9", "sd: 0", true},
        {"log", "2", "by: [{level: chip, sd: 1, values: [{key: a, value: 500}]}]", false},
        {"linear", "2", "by: [{level: chip, sd: 1, values: [{key: a, value: 500}]}]", true},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        bool has_sd = strncmp(given[i].more, "sd", 2) == 0;
        const char *text = ap_arena_printf(f->arena, "engine: toy\nconstants:\n  - {id: k, value: %s, prior: %s, scale: %s, %s%s}\n",
                                           given[i].value, given[i].value, given[i].scale, has_sd ? "" : "sd: 0, ", given[i].more);
        ap_diags diags;
        ap_diags_init(&diags, f->arena);
        ap_status status = ap_calib_check(parse(f, text), "toy.yaml", f->arena, &diags);
        if ((status == AP_OK) != given[i].fine || (diags.errors == 0) != given[i].fine)
            fail_msg("%s", text);
    }
    ap_calibration *data = NULL;
    assert_int_equal(ap_calibration_of_data("data", f->arena, &f->diags, &data), AP_OK);
    assert_non_null(ap_calibration_engine(data, "check"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(deviations_act_on_the_constants_scale, setup, teardown),
        cmocka_unit_test_setup_teardown(an_unseen_key_has_no_deviation, setup, teardown),
        cmocka_unit_test_setup_teardown(a_constant_missing_in_the_data_is_unknown, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_counts_as_seen_only_with_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(the_most_specific_band_present_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_written_reads_back_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(implausible_constants_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(an_overlay_replaces_keys_and_adds_levels, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
