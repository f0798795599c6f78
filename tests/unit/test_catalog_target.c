/* TARGET strings against the small catalog. Prices are those of its YAML, times machines. */
#include "catalog_fixture.h"

#include "catalog/target.h"
#include "plan/target.h"

#define F(state) ((fixture *)*(state))

static ap_target good(fixture *f, const char *text)
{
    ap_target target;
    ap_status status = ap_target_parse(f->catalog, text, NULL, f->arena, &f->diags, &target);
    print_diags(&f->diags);
    assert_int_equal(status, AP_OK);
    assert_non_null(target.text);
    return target;
}

/* The text must fail with this code, and the message or hint must contain `says`. */
static void bad(fixture *f, const char *text, int code, const char *says)
{
    ap_target target;
    size_t before = f->diags.count;
    assert_int_equal(ap_target_parse(f->catalog, text, NULL, f->arena, &f->diags, &target), AP_USAGE);
    assert_true(f->diags.count > before);
    const ap_diag *diag = &f->diags.items[before];
    if (diag->code != code || (!strstr(diag->message, says) && !(diag->hint && strstr(diag->hint, says)))) {
        print_error("%s: AP%04d %s (%s)\n", text, diag->code, diag->message, diag->hint ? diag->hint : "");
        fail();
    }
}

static void machine_in_its_cheapest_region(void **state)
{
    ap_target t = good(F(state), "aws/p5.48xlarge");
    assert_string_equal(t.text, "aws/p5.48xlarge@us-west-2");
    assert_string_equal(t.chip->id, "h100-sxm5-80gb");
    assert_num(t.chip_count, 8);
    assert_num(t.nodes, 1);
    assert_num(t.price_usd_per_h, 54.0);
    assert_null(t.priced_from);
}

static void machines_region_and_pricing(void **state)
{
    ap_target t = good(F(state), "aws/p5.48xlarge:4@us-east-1+spot");
    assert_string_equal(t.text, "aws/p5.48xlarge:4@us-east-1+spot");
    assert_num(t.chip_count, 32);
    assert_num(t.nodes, 4);
    assert_num(t.chips_per_node, 8);
    assert_num(t.price_usd_per_h, 80.0);
    assert_int_equal(t.pricing, AP_PRICE_SPOT);
    assert_string_equal(good(F(state), "amazon/P5.48xlarge+reserved-1y").text, "aws/p5.48xlarge@eu-north-1+reserved-1y");
}

static void unknown_price_has_a_reason(void **state)
{
    ap_target t = good(F(state), "aws/p5.48xlarge@eu-north-1");
    assert_true(isnan(t.price_usd_per_h));
    assert_non_null(strstr(t.price_unknown, "eu-north-1"));
    t = good(F(state), "aws/p4de.24xlarge+reserved-3y");
    assert_true(isnan(t.price_usd_per_h));
    assert_null(t.region);
    assert_non_null(t.price_unknown);
}

static void tpu_slice_counts_chips_and_hosts(void **state)
{
    ap_target t = good(F(state), "gcp/v5litepod-16:2");
    assert_num(t.chip_count, 32);
    assert_num(t.nodes, 8);
    assert_num(t.chips_per_node, 4);
    assert_num(t.units, 2);
    assert_num(t.price_usd_per_h, 38.4);
}

static void cpu_machine_counts_sockets(void **state)
{
    ap_target t = good(F(state), "aws/m7i.metal-48xl");
    assert_string_equal(t.chip->id, "xeon-8480plus");
    assert_num(t.chip_count, 2);
}

static void names_with_separators_in_them(void **state)
{
    assert_num(good(F(state), "denvr/H100_80GB::8").chip_count, 8);
    assert_num(good(F(state), "denvr/H100_80GB::8:2").chip_count, 16);
    assert_num(good(F(state), "oci/GPU+").chip_count, 1);
    assert_num(good(F(state), "oci/GPU+:3@any").chip_count, 3);
    assert_num(good(F(state), "vast/1x-H100 (SXM)").price_usd_per_h, 2.1);
}

static void chips_in_one_box_take_the_cheapest_exact_offer(void **state)
{
    ap_target t = good(F(state), "h100-sxm5-80gb:8");
    assert_string_equal(t.text, "h100-sxm5-80gb:8");
    assert_num(t.nodes, 1);
    assert_num(t.price_usd_per_h, 54.0);
    assert_string_equal(t.priced_from, "aws/p5.48xlarge@us-west-2");
    t = good(F(state), "h100-sxm5-80gb");
    assert_num(t.chip_count, 1);
    assert_num(t.price_usd_per_h, 2.1);
    assert_string_equal(t.priced_from, "vast/1x-H100 (SXM)@any");
}

static void chips_without_an_exact_offer_pay_the_whole_machine(void **state)
{
    ap_target t = good(F(state), "h100-sxm5-80gb:4");
    assert_num(t.chip_count, 4);
    assert_num(t.price_usd_per_h, 54.0);
    assert_string_equal(t.priced_from, "aws/p5.48xlarge@us-west-2");
}

static void many_chips_are_nodes_of_eight(void **state)
{
    ap_target t = good(F(state), "h100-sxm5-80gb:32");
    assert_num(t.nodes, 4);
    assert_num(t.chips_per_node, 8);
    assert_num(t.price_usd_per_h, 216.0);
    assert_string_equal(t.priced_from, "aws/p5.48xlarge:4@us-west-2");
    bad(F(state), "h100-sxm5-80gb:12", 751, "multiple of 8");
}

static void sixteen_in_one_box_where_such_boxes_exist(void **state)
{
    ap_target t = good(F(state), "a100-sxm4-40gb:16");
    assert_num(t.nodes, 1);
    assert_num(t.chips_per_node, 16);
    assert_num(t.price_usd_per_h, 55.7);
    assert_num(good(F(state), "a100-sxm4-80gb:16").nodes, 2);
}

static void chips_without_any_offer_have_no_price(void **state)
{
    ap_target t = good(F(state), "xeon-8480plus:4");
    assert_true(isnan(t.price_usd_per_h));
    assert_null(t.priced_from);
    assert_non_null(t.price_unknown);
}

/* 56 cores are 112 threads. 8 vCPU cost 0.40 USD, but are no socket; 96 of 112 are (86 %): 4.84 USD. */
static void cpus_pay_for_a_socket_and_not_for_a_slice(void **state)
{
    ap_target t = good(F(state), "xeon-8480plus:1");
    assert_num(t.price_usd_per_h, 4.84);
    assert_string_equal(t.priced_from, "aws/m7i.24xlarge@us-east-1");
    ap_hardware hw = ap_hardware_of_chip(t.chip, 1);
    ap_hardware_let_out(&hw, &t);
    assert_num(hw.threads, 96);
    assert_num(hw.memory_bytes, 384 * 1073741824.0);
    t = good(F(state), "xeon-8480plus:2");
    assert_num(t.price_usd_per_h, 9.68);
    hw = ap_hardware_of_chip(t.chip, 2);
    ap_hardware_let_out(&hw, &t);
    assert_num(hw.threads, 192);
}

/* One of the eight chips of a machine costs what the machine costs, and the result says so. */
static void one_chip_of_a_whole_machine_is_said(void **state)
{
    fixture *f = F(state);
    ap_target t = good(f, "h100-sxm5-80gb:4");
    ap_result result = {.hw = ap_hardware_of_chip(t.chip, 4)};
    ap_result_warn_of_share(&result, &t, f->arena);
    assert_non_null(result.share);
    assert_string_equal(result.share->id, "AP8041");
    assert_string_equal(result.share->message,
                        "aws/p5.48xlarge@us-west-2 is a machine of 8 chips, 4 used: the whole machine is paid for");
    assert_num(result.paid_chips, 8);
    t = good(f, "h100-sxm5-80gb:8");
    result = (ap_result){.hw = ap_hardware_of_chip(t.chip, 8)};
    ap_result_warn_of_share(&result, &t, f->arena);
    assert_null(result.share);
    t = good(f, "xeon-8480plus:1"); /* the estimate is of the part that is let out */
    result = (ap_result){.hw = ap_hardware_of_chip(t.chip, 1)};
    ap_hardware_let_out(&result.hw, &t);
    ap_result_warn_of_share(&result, &t, f->arena);
    assert_non_null(strstr(result.share->message, "96 of the 112 threads"));
}

static void nodes_of_smaller_machines_where_no_box_is_big_enough(void **state)
{
    ap_target t = good(F(state), "gtx-1080:16");
    assert_string_equal(t.priced_from, "oci/GPU+:16@any");
    assert_num(t.price_usd_per_h, 4.8);
    t = good(F(state), "gtx-1080:8"); /* one box was asked for, and nobody rents it */
    assert_true(isnan(t.price_usd_per_h));
}

static void slice_is_one_unit(void **state)
{
    ap_target t = good(F(state), "tpu-v5e:16");
    assert_num(t.nodes, 4);
    assert_string_equal(t.priced_from, "gcp/v5litepod-16@us-west4");
}

static void sku_spelling_stands_for_its_chips(void **state)
{
    assert_num(good(F(state), "8xH100").chip_count, 8);
    assert_string_equal(good(F(state), "NVIDIA H100 80GB HBM3:2").text, "h100-sxm5-80gb:2");
}

static void own_machines(void **state)
{
    ap_target t = good(F(state), "rig/box");
    assert_string_equal(t.chip->id, "gtx-1080");
    assert_num(t.chip_count, 2);
    assert_non_null(t.price_unknown);
    t = good(F(state), "tests/fixtures/catalog-overlay/rig.yaml");
    assert_string_equal(t.text, "rig/rig");
    assert_num(t.chip_count, 4);
    assert_string_equal(t.rig->from.source, "tests/fixtures/catalog-overlay/rig.yaml");
}

static void unknown_names_are_not_substituted(void **state)
{
    fixture *f = F(state);
    bad(f, "", 750, "CHIP[:COUNT]");
    bad(f, "h100-sxm5-80g:8", 750, "h100-sxm5-80gb");
    bad(f, "1080", 750, "gtx-1080");
    bad(f, "a100:8", 740, "a100-sxm4-40gb");
    bad(f, "h100:8", 740, "h100-sxm5-80gb");
    bad(f, "ADA_48_PRO", 750, "not in the catalog");
    bad(f, "awss/p5.48xlarge", 745, "aws");
    bad(f, "aws/p5.48xlrge", 746, "p5.48xlarge");
    bad(f, "aws/p5.48xlarge@us-east-2", 747, "us-east-1");
    bad(f, "aws/p5.48xlarge:0", 744, "nodes");
    bad(f, "aws/p5.48xlarge:1.5", 744, "nodes");
    bad(f, "aws/p5.48xlarge:x", 744, "nodes");
    bad(f, "aws/p5.48xlarge+spt", 749, "spot");
    bad(f, "h100-sxm5-80gb:-1", 744, "chips");
    bad(f, "h100-sxm5-80gb:8@us-east-1", 747, "CLOUD/INSTANCE@REGION");
    bad(f, "rig/boxx", 743, "box");
    bad(f, "aws/", 746, "");
    bad(f, "/", 745, "");
    bad(f, ":@+", 750, "");
}

static void options_price_where_the_target_says_nothing(void **state)
{
    fixture *f = F(state);
    const char *globs[] = {"us-east-*"};
    const ap_strings regions = {globs, 1};
    const ap_target_options options = {.pricing = AP_PRICE_SPOT, .region_globs = &regions};
    ap_target t;
    assert_int_equal(ap_target_parse(f->catalog, "aws/p5.48xlarge", &options, f->arena, &f->diags, &t), AP_OK);
    assert_string_equal(t.text, "aws/p5.48xlarge@us-east-1+spot");
    assert_num(t.price_usd_per_h, 20);
    assert_int_equal(ap_target_parse(f->catalog, "h100-sxm5-80gb:8", &options, f->arena, &f->diags, &t), AP_OK);
    assert_string_equal(t.priced_from, "aws/p5.48xlarge@us-east-1+spot");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_up, fixture_down)
    const struct CMUnitTest tests[] = {
        T(machine_in_its_cheapest_region), T(machines_region_and_pricing), T(unknown_price_has_a_reason),
        T(tpu_slice_counts_chips_and_hosts), T(cpu_machine_counts_sockets), T(names_with_separators_in_them),
        T(chips_in_one_box_take_the_cheapest_exact_offer), T(chips_without_an_exact_offer_pay_the_whole_machine),
        T(many_chips_are_nodes_of_eight), T(sixteen_in_one_box_where_such_boxes_exist),
        T(chips_without_any_offer_have_no_price), T(cpus_pay_for_a_socket_and_not_for_a_slice), T(one_chip_of_a_whole_machine_is_said),
        T(nodes_of_smaller_machines_where_no_box_is_big_enough),
        T(slice_is_one_unit), T(sku_spelling_stands_for_its_chips), T(own_machines),
        T(unknown_names_are_not_substituted), T(options_price_where_the_target_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
