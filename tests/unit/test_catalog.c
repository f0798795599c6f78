/* Look-ups: names resolve exactly, by alias, normalised, or not at all. Figures are those of the fixture's YAML. */
#include "catalog_fixture.h"

#include "catalog/internal.h"

#define F(state) ((fixture *)*(state))

static void loads_every_kind_with_file_defaults(void **state)
{
    const ap_catalog *c = F(state)->catalog;
    assert_int_equal(c->chips.count, 6);
    assert_int_equal(c->instances.count, 11);
    assert_int_equal(c->models.count, 5);
    const ap_instance *p5 = ap_catalog_find_instance(c, "aws", "p5.48xlarge");
    assert_non_null(p5);
    assert_string_equal(p5->cloud, "aws");
    assert_string_equal(p5->market, "cloud");
    assert_num(p5->hosts, 1);
    assert_num(p5->network, 3200e9 / 8);
    assert_num(p5->memory, 2048.0 * 1024 * 1024 * 1024);
    assert_string_equal(p5->from.source, "test list");
    assert_string_equal(ap_catalog_find_instance(c, "gcp", "v5litepod-16")->cloud, "gcp");
}

static void price_takes_provenance_of_its_instance(void **state)
{
    const ap_instance *p5 = ap_catalog_find_instance(F(state)->catalog, "aws", "p5.48xlarge");
    const ap_price *east = ap_catalog_find_price(p5, "us-east-1"), *west = ap_catalog_find_price(p5, "us-west-2");
    assert_string_equal(east->as_of, "2026-02-01");
    assert_string_equal(east->source, "test list");
    assert_int_equal(east->confidence, AP_CONF_READ);
    assert_string_equal(west->as_of, "2026-03-15");
    assert_int_equal(west->confidence, AP_CONF_DERIVED);
    assert_string_equal(F(state)->catalog->prices_as_of, "2026-03-15");
}

static void cheapest_price_by_kind_and_region(void **state)
{
    const ap_instance *p5 = ap_catalog_find_instance(F(state)->catalog, "aws", "p5.48xlarge");
    assert_string_equal(ap_instance_cheapest(p5, AP_PRICE_ON_DEMAND, NULL)->region, "us-west-2");
    assert_string_equal(ap_instance_cheapest(p5, AP_PRICE_SPOT, NULL)->region, "us-east-1");
    assert_string_equal(ap_instance_cheapest(p5, AP_PRICE_RESERVED_1Y, NULL)->region, "eu-north-1");
    assert_null(ap_instance_cheapest(p5, AP_PRICE_RESERVED_3Y, NULL));
    const char *globs[] = {"eu-*", "us-e*"};
    ap_strings regions = {globs, 2};
    assert_string_equal(ap_instance_cheapest(p5, AP_PRICE_ON_DEMAND, &regions)->region, "us-east-1");
    regions.count = 1;
    assert_null(ap_instance_cheapest(p5, AP_PRICE_ON_DEMAND, &regions));
}

static void finds_by_id_alias_and_case(void **state)
{
    const ap_catalog *c = F(state)->catalog;
    assert_string_equal(ap_catalog_find_model(c, "gpt3-1.3b")->id, "gpt3-1.3b");
    assert_string_equal(ap_catalog_find_model(c, "openai/GPT-3 1.3B")->id, "gpt3-1.3b");
    assert_string_equal(ap_catalog_find_model(c, "GPT3 1.3B")->id, "gpt3-1.3b");
    assert_string_equal(ap_catalog_find_dataset(c, "imagenet")->id, "imagenet-1k");
    assert_string_equal(ap_catalog_find_cloud(c, "google")->id, "gcp");
    assert_string_equal(ap_catalog_find_instance(c, "Amazon", "P5.48XLARGE")->name, "p5.48xlarge");
    assert_string_equal(ap_catalog_find_region(c, "aws", "us-east-1")->id, "us-east-1");
    assert_string_equal(ap_catalog_find_rig(c, "box")->id, "box");
    assert_string_equal(ap_catalog_find_stack(c, "fsdp")->id, "fsdp");
}

static void separators_are_never_stripped(void **state)
{
    const ap_catalog *c = F(state)->catalog;
    assert_null(ap_catalog_find_model(c, "gpt313b"));
    assert_null(ap_catalog_find_model(c, "gpt3-1-3-b"));
    assert_string_equal(ap_catalog_find_model(c, "gpt3 13b")->id, "gpt3-13b");
    assert_string_equal(ap_catalog_find_model(c, "gpt3_1_3b")->id, "gpt3-1.3b");
    assert_null(ap_catalog_find_model(c, ""));
    assert_null(ap_catalog_find_model(c, "resnet"));
}

static void plus_is_a_letter(void **state)
{
    const ap_catalog *c = F(state)->catalog;
    assert_string_equal(ap_catalog_find_model(c, "DeepLabV3+")->id, "deeplabv3plus");
    assert_string_equal(ap_catalog_find_model(c, "DeepLabV3")->id, "deeplabv3");
    assert_string_equal(ap_catalog_find_chip(c, "XEON-8480+").chip->id, "xeon-8480plus");
    assert_null(ap_catalog_find_chip(c, "xeon-8480").chip);
}

static void recipe_of_model_and_data_set(void **state)
{
    const ap_catalog *c = F(state)->catalog;
    assert_string_equal(ap_catalog_find_recipe(c, "resnet50", "imagenet-1k")->id, "resnet50-90");
    assert_string_equal(ap_catalog_find_recipe(c, "resnet50", NULL)->id, "resnet50-90");
    assert_null(ap_catalog_find_recipe(c, "resnet50", "other"));
    assert_null(ap_catalog_find_recipe(c, "deeplabv3", NULL));
}

static void chip_by_any_spelling(void **state)
{
    const ap_catalog *c = F(state)->catalog;
    assert_string_equal(ap_catalog_find_chip(c, "h100-sxm5-80gb").chip->id, "h100-sxm5-80gb");
    assert_string_equal(ap_catalog_find_chip(c, "H100_SXM5_80GB").chip->id, "h100-sxm5-80gb");
    assert_string_equal(ap_catalog_find_chip(c, "NVIDIA H100 80GB HBM3").chip->id, "h100-sxm5-80gb");
    assert_string_equal(ap_catalog_find_chip(c, "nvidia-h100-80gb-hbm3").chip->id, "h100-sxm5-80gb");
    ap_chip_match sku = ap_catalog_find_chip(c, "8xH100");
    assert_string_equal(sku.chip->id, "h100-sxm5-80gb");
    assert_num(sku.count, 8);
}

static void ambiguous_chip_gives_the_choice(void **state)
{
    const ap_catalog *c = F(state)->catalog;
    ap_chip_match any = ap_catalog_find_chip(c, "A100");
    assert_null(any.chip);
    assert_int_equal(any.choice_count, 2);
    ap_chip_match series = ap_catalog_find_chip(c, "a100-sxm4");
    assert_null(series.chip);
    assert_int_equal(series.choice_count, 2);
    assert_string_equal(ap_catalog_find_chip_at(c, "somecloud", "A100").chip->id, "a100-sxm4-80gb");
    assert_int_equal(ap_catalog_find_chip_at(c, "slurm", "A100").choice_count, 2);
}

static void series_with_one_chip_is_still_a_choice(void **state)
{
    ap_chip_match match = ap_catalog_find_chip(F(state)->catalog, "h100");
    assert_null(match.chip);
    assert_int_equal(match.choice_count, 1);
}

static void known_spelling_of_an_unknown_chip(void **state)
{
    ap_chip_match match = ap_catalog_find_chip(F(state)->catalog, "ADA_48_PRO");
    assert_null(match.chip);
    assert_int_equal(match.choice_count, 0);
    assert_true(match.known);
    assert_false(ap_catalog_find_chip(F(state)->catalog, "zzz").known);
}

static void any_kind_by_name(void **state)
{
    const ap_catalog *c = F(state)->catalog;
    const ap_instance *p5 = ap_catalog_find_any(c, "instances", "aws/p5.48xlarge");
    assert_string_equal(p5->name, "p5.48xlarge");
    assert_ptr_equal(ap_catalog_find_any(c, "instance", "amazon/p5.48xlarge"), p5);
    assert_non_null(ap_catalog_find_any(c, "regions", "gcp/us-west4"));
    assert_non_null(ap_catalog_find_any(c, "models", "openai/GPT-3 1.3B"));
    assert_null(ap_catalog_find_any(c, "models", "nothing"));
    assert_null(ap_catalog_find_any(c, "nothing", "aws"));
}

static void suggests_the_nearest(void **state)
{
    fixture *f = F(state);
    const char *hint = ap_catalog_suggest(f->catalog, "model", "resnet5", f->arena);
    assert_non_null(hint);
    assert_non_null(strstr(hint, "resnet50"));
    assert_null(ap_catalog_suggest(f->catalog, "model", "qqqqqqqqqqqq", f->arena));
}

static void peaks_follow_what_software_gets(void **state)
{
    const ap_catalog *c = F(state)->catalog;
    const ap_chip *h100 = ap_catalog_chip(c, "h100-sxm5-80gb"), *pascal = ap_catalog_chip(c, "gtx-1080");
    const ap_chip *tpu = ap_catalog_chip(c, "tpu-v5e");
    assert_num(ap_chip_peak(h100, AP_PREC_MXFP8), 1978.9e12);
    assert_num(ap_chip_peak(h100, AP_PREC_NF4), 989.4e12);
    assert_num(ap_chip_peak(h100, AP_PREC_TF32), 494.7e12);
    assert_true(isnan(ap_chip_peak(h100, AP_PREC_FP4)));
    assert_num(ap_chip_peak(pascal, AP_PREC_FP16), 8.87e12);
    assert_num(ap_chip_peak(pascal, AP_PREC_NF4), 8.87e12);
    assert_true(isnan(ap_chip_peak(pascal, AP_PREC_BF16)));
    assert_num(ap_chip_peak(tpu, AP_PREC_FP32), 197e12);
    assert_true(isnan(ap_chip_peak(tpu, AP_PREC_FP16)));
}

static void precision_words(void **state)
{
    (void)state;
    for (int i = 0; i < AP_PREC_COUNT; i++)
        assert_int_equal(ap_precision_parse(ap_precision_name((ap_precision)i)), i);
    assert_int_equal(ap_precision_parse("fp4"), AP_PREC_FP4);
    assert_int_equal(ap_precision_parse("FP16"), -1);
    assert_int_equal(ap_precision_parse(NULL), -1);
    assert_null(ap_precision_name(AP_PREC_COUNT));
    assert_int_equal(ap_price_kind_parse("reserved-3y"), AP_PRICE_RESERVED_3Y);
    assert_int_equal(ap_price_kind_parse("monthly"), -1);
}

static void normal_form(void **state)
{
    (void)state;
    char buf[32];
    ap_normal_form("Xeon  8480+ (AMX)", buf, sizeof buf);
    assert_string_equal(buf, "xeon-8480plus-amx-");
    ap_normal_form("abcdef", buf, 4);
    assert_string_equal(buf, "abc");
    assert_true(ap_same_normal("A  b", "a_B"));
    assert_false(ap_same_normal("ab", "a-b"));
}

static void mini_catalog_passes_its_checks(void **state)
{
    fixture *f = F(state);
    ap_status status = ap_catalog_check(f->catalog, &f->diags);
    print_diags(&f->diags);
    assert_int_equal(status, AP_OK);
    assert_int_equal(f->diags.count, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_up, fixture_down)
    const struct CMUnitTest tests[] = {
        T(loads_every_kind_with_file_defaults), T(price_takes_provenance_of_its_instance),
        T(cheapest_price_by_kind_and_region), T(finds_by_id_alias_and_case), T(separators_are_never_stripped),
        T(plus_is_a_letter), T(recipe_of_model_and_data_set), T(chip_by_any_spelling), T(ambiguous_chip_gives_the_choice),
        T(series_with_one_chip_is_still_a_choice), T(known_spelling_of_an_unknown_chip), T(any_kind_by_name),
        T(suggests_the_nearest), T(peaks_follow_what_software_gets), T(precision_words), T(normal_form),
        T(mini_catalog_passes_its_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
