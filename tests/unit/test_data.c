/* The data itself: that it loads without a finding, that every fact says where it came from, and that spot checks agree
 * with the pages they were read from (values typed in from those pages, not taken from the program). */
#include "testing.h"

#include "base/num.h"
#include "catalog/catalog.h"

#define GIB 1073741824.0
#define MIB 1048576.0

static ap_catalog *catalog;
static ap_arena *arena;
static ap_diags diags;

static int load_data(void **state)
{
    (void)state;
    arena = ap_arena_new();
    ap_diags_init(&diags, arena);
    return ap_catalog_load_dir("data", arena, &diags, &catalog) == AP_OK ? 0 : -1;
}

static int free_data(void **state)
{
    (void)state;
    ap_arena_free(arena);
    return 0;
}

static void data_has_no_findings(void **state)
{
    (void)state;
    assert_int_equal(ap_catalog_check(catalog, &diags), AP_OK);
    for (size_t i = 0; i < diags.count; i++)
        print_error("%s:%d: %s\n", diags.items[i].pos.file, diags.items[i].pos.line, diags.items[i].message);
    assert_int_equal(diags.count, 0);
}

static void nothing_was_lost(void **state)
{
    (void)state;
    assert_true(catalog->chips.count >= 532);
    assert_true(catalog->names.count >= 872);
    assert_true(catalog->models.count >= 1597);
    assert_int_equal(catalog->datasets.count, 285);
    assert_int_equal(catalog->recipes.count, 219);
    size_t prices = 0;
    for (size_t i = 0; i < catalog->instances.count; i++)
        prices += catalog->instances.items[i].prices.count;
    assert_true(prices >= 7535 + 755);
}

static bool is_date(const char *text)
{
    static const char pattern[] = "dddd-dd-dd";
    size_t len = text ? strlen(text) : 0;
    if (len != 4 && len != 7 && len != 10)
        return false;
    for (size_t i = 0; i < len; i++)
        if (pattern[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
            return false;
    return true;
}

static void check_provenance(const ap_provenance *from, const char *what)
{
    if (from->source && *from->source && is_date(from->as_of) && from->confidence >= 0)
        return;
    print_error("%s: source '%s', as_of '%s'\n", what, from->source ? from->source : "",
                from->as_of ? from->as_of : "");
    fail();
}

static void every_fact_says_where_it_came_from(void **state)
{
    (void)state;
#define EVERY(list, label)                                                                                             \
    for (size_t i = 0; i < catalog->list.count; i++)                                                                   \
    check_provenance(&catalog->list.items[i].from, catalog->list.items[i].label)
    EVERY(chips, id);
    EVERY(names, name);
    EVERY(instances, name);
    EVERY(clouds, id);
    EVERY(regions, id);
    EVERY(models, id);
    EVERY(datasets, id);
    EVERY(recipes, id);
    EVERY(rigs, id);
    EVERY(images, id);
    EVERY(stacks, id);
    EVERY(suites, id);
}

static void every_price_has_source_and_date(void **state)
{
    (void)state;
    for (size_t i = 0; i < catalog->instances.count; i++) {
        const ap_instance *instance = &catalog->instances.items[i];
        for (size_t j = 0; j < instance->prices.count; j++) {
            const ap_price *price = &instance->prices.items[j];
            check_provenance(
                &(ap_provenance){.source = price->source, .as_of = price->as_of, .confidence = price->confidence},
                instance->name);
        }
    }
}

static const ap_chip *chip(const char *id)
{
    const ap_chip *found = ap_catalog_find_chip(catalog, id).chip;
    assert_non_null(found);
    return found;
}

static const ap_price *price_in(const ap_instance *instance, const char *region)
{
    assert_non_null(instance);
    for (size_t i = 0; i < instance->prices.count; i++)
        if (strcmp(instance->prices.items[i].region, region) == 0)
            return &instance->prices.items[i];
    print_error("%s has no price in %s\n", instance->name, region);
    fail();
    return NULL;
}

/* Data sheets: dense rates; GeForce with fp32 accumulation (RTX 4090: 165.2, with fp16 accumulation 330.3). */
static void peaks_are_dense_and_of_fp32_accumulation(void **state)
{
    (void)state;
    assert_near(chip("h100-sxm5-80gb")->peak.bf16, 989.4e12, 1e-9);
    assert_near(chip("h100-sxm5-80gb")->peak.fp8, 1979e12, 1e-9);
    assert_near(chip("h100-sxm5-80gb")->memory.size, 80 * GIB, 1e-9);
    assert_near(chip("h100-sxm5-80gb")->memory.usable, 81559 * MIB, 1e-9);
    assert_near(chip("a100-sxm4-40gb")->peak.bf16, 312e12, 1e-9);
    assert_near(chip("a100-sxm4-40gb")->memory.bandwidth, 1555e9, 1e-9);
    assert_near(chip("rtx-4090")->peak.fp16, 165.2e12, 1e-3);
    assert_true(chip("rtx-4090")->peak.fp16_acc16 > 1.9 * chip("rtx-4090")->peak.fp16);
    assert_near(chip("tpu-v5e")->peak.bf16, 197e12, 1e-9);
    assert_near(chip("xeon-8480plus")->cpu.cores, 56, 0);
}

/* Measured matmul rates over the peak: A100 271.2 of 312, H100 794.5 of 989.4, MI300X 668.4 of 1307.4 TFLOPS. */
static void matmul_ceilings_are_shares_of_the_peak(void **state)
{
    (void)state;
    assert_near(chip("a100-sxm4-80gb")->matmul_ceiling_16, 271.2 / 312, 1e-3);
    assert_near(chip("h100-sxm5-80gb")->matmul_ceiling_16, 794.5 / 989.4, 1e-3);
    assert_near(chip("mi300x")->matmul_ceiling_16, 668.4 / 1307.4, 1e-3);
    assert_near(chip("h100-sxm5-80gb")->matmul_ceiling_8, 1402.6 / 1979, 1e-3);
}

static void generations_part_hbm_from_gddr(void **state)
{
    (void)state;
    assert_string_equal(chip("a100-pcie-40gb")->generation, "ampere-hbm");
    assert_string_equal(chip("rtx-3090")->generation, "ampere");
    assert_string_equal(chip("b200")->generation, "blackwell-hbm");
    assert_string_equal(chip("rtx-5090")->generation, "blackwell");
    assert_string_equal(chip("xeon-8480plus")->generation, "cpu-amx");
    assert_string_equal(chip("epyc-7763")->generation, "cpu-avx2");
    assert_string_equal(chip("mi300x")->generation, "cdna3");
}

/* v5litepod-N counts chips, v5p-N and v2-N count cores, two a chip; four chips a host. */
static void tpu_slices_count_chips(void **state)
{
    (void)state;
    const ap_instance *v5e = ap_catalog_find_instance(catalog, "gcp", "v5litepod-16");
    const ap_instance *v5p = ap_catalog_find_instance(catalog, "gcp", "v5p-128");
    const ap_instance *v2 = ap_catalog_find_instance(catalog, "gcp", "v2-8");
    assert_non_null(v5e);
    assert_near(v5e->chip_count, 16, 0);
    assert_near(v5e->hosts, 4, 0);
    assert_string_equal(v5e->topology, "4x4");
    assert_near(v5p->chip_count, 64, 0);
    assert_near(v5p->hosts, 16, 0);
    assert_near(price_in(v5e, "us-central1")->on_demand, 16 * 1.2, 1e-9);
    assert_near(price_in(v5p, "us-central1")->on_demand, 64 * 4.2, 1e-9);
    assert_near(price_in(v2, "us-central1")->on_demand, 4 * 1.125, 1e-9);
    assert_int_equal(price_in(v2, "us-central1")->confidence, AP_CONF_DERIVED);
    assert_null(ap_catalog_find_instance(catalog, "gcp", "TPU v5e (per chip-hour)"));
}

static void free_notebooks_have_session_limits(void **state)
{
    (void)state;
    const ap_instance *free = ap_catalog_find_instance(catalog, "kaggle", "t4-x2-free");
    assert_non_null(free);
    assert_string_equal(free->market, "free");
    assert_near(free->session_limit_s, 12 * 3600.0, 0);
    assert_near(free->chip_count, 2, 0);
    assert_same(free->prices.items[0].on_demand, 0);
}

/* 252.666667 CNY an hour at 7.30 CNY for a dollar. */
static void native_prices_keep_amount_and_currency(void **state)
{
    (void)state;
    const ap_price *price = price_in(ap_catalog_find_instance(catalog, "alibaba", "ecs.ebmgn7.26xlarge"), "cn-beijing");
    assert_near(price->native, 252.666667, 1e-9);
    assert_string_equal(price->currency, "CNY");
    assert_near(price->on_demand, 252.666667 / 7.30, 1e-5);
    assert_int_equal(price->confidence, AP_CONF_DERIVED);
}

static void regions_take_the_newest_carbon_figure(void **state)
{
    (void)state;
    const ap_region *frankfurt = ap_catalog_find_region(catalog, "gcp", "europe-west3");
    assert_non_null(frankfurt);
    assert_near(frankfurt->carbon_g_per_kwh, 275.82, 1e-9); /* 2024; 2023 was another */
    assert_string_equal(frankfurt->from.as_of, "2024");
    for (size_t i = 0; i < catalog->instances.count; i++) /* every region of an offer has an entry */
        for (size_t j = 0; j < catalog->instances.items[i].prices.count; j++)
            assert_non_null(ap_catalog_find_region(catalog, catalog->instances.items[i].cloud,
                                                   catalog->instances.items[i].prices.items[j].region));
}

static void stacks_of_the_manual_exist(void **state)
{
    (void)state;
    static const char *const ids[] = {"fsdp",     "ddp",   "deepspeed", "megatron",   "torchtitan",
                                      "maxtext",  "eager", "compile",   "hf-trainer", "xgboost",
                                      "lightgbm", "timm",  "unsloth"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (!ap_catalog_find_stack(catalog, ids[i])) {
            print_error("no stack '%s'\n", ids[i]);
            fail();
        }
}

/* Weights of a Llama block: attention h*(2*h + 2*kv*d) and three h*f matrices; two embedding tables. */
static void shapes_add_up_to_the_parameters(void **state)
{
    (void)state;
    static const char *const ids[] = {"llama-2-7b", "llama-3-8b", "llama-3.1-70b", "mistral-7b"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const ap_model *m = ap_catalog_find_model(catalog, ids[i]);
        assert_non_null(m);
        double attention = m->hidden * m->head_dim * (2 * m->heads + 2 * m->kv_heads);
        double sum = m->layers * (attention + 3 * m->hidden * m->ffn) + 2 * m->vocab * m->hidden;
        assert_near(m->params, sum, 0.01);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_has_no_findings),
        cmocka_unit_test(nothing_was_lost),
        cmocka_unit_test(every_fact_says_where_it_came_from),
        cmocka_unit_test(every_price_has_source_and_date),
        cmocka_unit_test(peaks_are_dense_and_of_fp32_accumulation),
        cmocka_unit_test(matmul_ceilings_are_shares_of_the_peak),
        cmocka_unit_test(generations_part_hbm_from_gddr),
        cmocka_unit_test(tpu_slices_count_chips),
        cmocka_unit_test(free_notebooks_have_session_limits),
        cmocka_unit_test(native_prices_keep_amount_and_currency),
        cmocka_unit_test(regions_take_the_newest_carbon_figure),
        cmocka_unit_test(stacks_of_the_manual_exist),
        cmocka_unit_test(shapes_add_up_to_the_parameters),
    };
    return cmocka_run_group_tests(tests, load_data, free_data);
}
