/* A user's records over the catalog, and the compiled image. */
#include "catalog_fixture.h"

#include "catalog/image.h"
#include "catalog/internal.h"
#include "io/file.h"

#define F(state) ((fixture *)*(state))
#define GOOD "tests/fixtures/catalog-overlay/good.yaml"

static void overlay(fixture *f)
{
    ap_status status = ap_catalog_overlay(f->catalog, GOOD, &f->diags);
    print_diags(&f->diags);
    assert_int_equal(status, AP_OK);
}

static void known_record_keeps_what_is_not_given(void **state)
{
    fixture *f = F(state);
    overlay(f);
    const ap_chip *h100 = ap_catalog_chip(f->catalog, "h100-sxm5-80gb");
    assert_num(h100->tdp_w, 650);
    assert_num(h100->memory.usable, 79.0 * 1024 * 1024 * 1024);
    assert_num(h100->memory.size, 80.0 * 1024 * 1024 * 1024);
    assert_string_equal(h100->memory.type, "HBM3");
    assert_num(h100->peak.bf16, 989.4e12);
    assert_string_equal(h100->name, "H100 SXM5 80GB");
    const ap_model *resnet = ap_catalog_find_model(f->catalog, "resnet50");
    assert_num(resnet->params, 25.557e6);
    assert_string_equal(resnet->dataset, "imagenet-1k");
}

static void replaced_field_names_the_user_as_its_source(void **state)
{
    fixture *f = F(state);
    overlay(f);
    const ap_chip *h100 = ap_catalog_chip(f->catalog, "h100-sxm5-80gb");
    assert_string_equal(h100->from.source, "test sheet");
    assert_int_equal(h100->from.sources.count, 2);
    assert_string_equal(h100->from.sources.items[0].key, "memory.usable");
    assert_string_equal(h100->from.sources.items[0].value, GOOD);
    assert_string_equal(h100->from.sources.items[1].key, "tdp");
}

static void prices_are_laid_by_region(void **state)
{
    fixture *f = F(state);
    overlay(f);
    const ap_instance *p5 = ap_catalog_find_instance(f->catalog, "aws", "p5.48xlarge");
    assert_int_equal(p5->prices.count, 4);
    const ap_price *east = ap_catalog_find_price(p5, "us-east-1");
    assert_num(east->on_demand, 30.5);
    assert_num(east->spot, 20);
    assert_string_equal(east->source, GOOD);
    assert_num(ap_catalog_find_price(p5, "us-west-2")->on_demand, 54);
    assert_string_equal(ap_catalog_find_price(p5, "us-west-2")->source, "test list");
    assert_num(ap_catalog_find_price(p5, "eu-west-1")->on_demand, 41);
    assert_num(p5->vcpus, 192);
}

static void new_records_are_found(void **state)
{
    fixture *f = F(state);
    overlay(f);
    assert_string_equal(ap_catalog_find_model(f->catalog, "team/my-net")->id, "my-net");
    const ap_instance *box = ap_catalog_find_instance(f->catalog, "aws", "my-box");
    assert_string_equal(box->from.source, "contract of 2026");
    assert_string_equal(box->chip, "my-chip");
    assert_string_equal(ap_catalog_chip(f->catalog, "my-chip")->from.source, GOOD);
    assert_int_equal(ap_catalog_check(f->catalog, &f->diags), AP_OK);
}

static void overlay_twice_is_overlay_once(void **state)
{
    fixture *f = F(state);
    overlay(f);
    size_t chips = f->catalog->chips.count;
    overlay(f);
    assert_int_equal(f->catalog->chips.count, chips);
    assert_int_equal(ap_catalog_find_instance(f->catalog, "aws", "p5.48xlarge")->prices.count, 4);
}

static void settings_files_are_passed_over(void **state)
{
    fixture *f = F(state);
    assert_int_equal(ap_catalog_overlay(f->catalog, "tests/fixtures/catalog-overlay/config.yaml", &f->diags), AP_OK);
    assert_int_equal(ap_catalog_overlay(f->catalog, "tests/fixtures/catalog-overlay/.accelpick.yaml", &f->diags), AP_OK);
    assert_int_equal(f->diags.count, 0);
    assert_num(ap_catalog_chip(f->catalog, "gtx-1080")->tdp_w, 180);
}

/* -- image --------------------------------------------------------------------------------------------------------- */
static ap_sbuf image_of(const ap_catalog *catalog, ap_arena *arena)
{
    ap_sbuf image;
    ap_sbuf_init(&image, arena);
    ap_catalog_write_image(catalog, &image);
    return image;
}

static void image_gives_back_the_same_catalog(void **state)
{
    fixture *f = F(state);
    ap_sbuf image = image_of(f->catalog, f->arena);
    ap_catalog *again;
    ap_status status = ap_catalog_read_image((const unsigned char *)image.text, image.len, f->arena, &again);
    assert_int_equal(status, AP_OK);
    assert_string_equal(again->version, f->catalog->version);
    assert_string_equal(again->prices_as_of, "2026-03-15");
    assert_int_equal(again->instances.count, f->catalog->instances.count);
    assert_num(ap_catalog_chip(again, "h100-sxm5-80gb")->peak.fp8, 1978.9e12);
    assert_true(isnan(ap_catalog_chip(again, "h100-sxm5-80gb")->peak.fp4));
    ap_sbuf second = image_of(again, f->arena);
    assert_int_equal(second.len, image.len);
    assert_memory_equal(second.text, image.text, image.len);
}

static void damaged_image_is_refused(void **state)
{
    fixture *f = F(state);
    ap_sbuf image = image_of(f->catalog, f->arena);
    for (size_t len = 0; len < image.len; len += 97) {
        ap_catalog *again;
        unsigned char *cut = ap_arena_alloc(f->arena, len);
        memcpy(cut, image.text, len);
        (void)!ap_catalog_read_image(cut, len, f->arena, &again);
        assert_null(ap_catalog_find_model(again, "nothing"));
    }
}

static void sections_by_name(void **state)
{
    fixture *f = F(state);
    ap_sbuf file;
    ap_sbuf_init(&file, f->arena);
    ap_image_add_bytes(&file, "one", "abc", 3);
    ap_image_add_bytes(&file, "empty", NULL, 0);
    ap_image_add_bytes(&file, "two", "defg", 4);
    const unsigned char *bytes = (const unsigned char *)file.text;
    size_t len;
    assert_memory_equal(ap_image_find(bytes, file.len, "two", &len), "defg", 4);
    assert_int_equal(len, 4);
    assert_non_null(ap_image_find(bytes, file.len, "empty", &len));
    assert_int_equal(len, 0);
    assert_null(ap_image_find(bytes, file.len, "three", &len));
    assert_null(ap_image_find(bytes, 34, "one", &len)); /* cut within its bytes */
    assert_null(ap_image_find(NULL, 0, "one", &len));
}

/* What the program carries must be what --data DIR reads: byte by byte. */
static void builtin_is_the_data_directory(void **state)
{
    fixture *f = F(state);
    ap_catalog *builtin = ap_catalog_builtin(f->arena), *read;
    if (!ap_file_is_dir("data/chips"))
        skip();
    ap_status status = ap_catalog_load_dir("data", f->arena, &f->diags, &read);
    print_diags(&f->diags);
    assert_int_equal(status, AP_OK);
    assert_string_equal(builtin->version, read->version);
    assert_string_equal(builtin->version, ap_catalog_builtin_version());
    assert_true(builtin->chips.count > 500);
    ap_sbuf a = image_of(builtin, f->arena), b = image_of(read, f->arena);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.text, b.text, a.len);
}

/* A user's recipe has an id of its own and still goes before the shipped one of its model and data. */
static void a_users_recipe_goes_first(void **state)
{
    fixture *f = F(state);
    ap_catalog *catalog = ap_catalog_builtin(f->arena);
    const ap_recipe *shipped = ap_catalog_find_recipe(catalog, "resnet50", "imagenet-1k");
    assert_non_null(shipped);
    const char *shipped_id = shipped->id, *usual_id = ap_catalog_find_recipe(catalog, "resnet50", NULL)->id;
    assert_int_equal(ap_catalog_overlay(catalog, "tests/fixtures/catalog-overlay/own-recipe.yaml", &f->diags), AP_OK);
    assert_string_not_equal(shipped_id, "my-resnet");
    assert_string_equal(ap_catalog_find_recipe(catalog, "resnet50", "imagenet-1k")->id, "my-resnet");
    assert_string_equal(ap_catalog_find_recipe(catalog, "resnet50", NULL)->id, usual_id); /* no data were named */
    assert_int_equal(ap_catalog_overlay(catalog, "tests/fixtures/catalog-overlay/good.yaml", &f->diags), AP_OK);
    assert_string_equal(ap_catalog_find_recipe(catalog, "resnet50", "imagenet-1k")->id, "my-resnet");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_up, fixture_down)
    const struct CMUnitTest tests[] = {
        T(known_record_keeps_what_is_not_given), T(replaced_field_names_the_user_as_its_source),
        T(prices_are_laid_by_region), T(new_records_are_found), T(a_users_recipe_goes_first), T(overlay_twice_is_overlay_once),
        T(settings_files_are_passed_over), T(image_gives_back_the_same_catalog), T(damaged_image_is_refused),
        T(sections_by_name), T(builtin_is_the_data_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
