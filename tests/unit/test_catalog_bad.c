/* `catalog check` on broken files: every finding where a reader of the file would look for it. Expected positions were
 * counted in the files by hand. */
#include "catalog_fixture.h"

#define F(state) ((fixture *)*(state))
#define DIR_BAD "tests/fixtures/catalog-bad/"

typedef struct bad_case {
    const char *file;
    int line, col, code;
    size_t errors;
} bad_case;

static const bad_case cases[] = {
    {"unknown-list", 2, 1, 701, 1},
    {"two-problems", 2, 9, 207, 2},
    {"two-problems", 4, 13, 204, 2},
    {"no-list", 1, 1, 704, 1},
    {"not-a-mapping", 1, 1, 703, 1},
    {"list-is-mapping", 2, 3, 702, 1},
    {"entry-is-text", 2, 5, 203, 1},
    {"unknown-key", 4, 5, 201, 1},
    {"missing-id", 2, 5, 202, 1},
    {"missing-required", 2, 5, 202, 1},
    {"given-twice", 3, 5, 710, 1},
    {"number-without-unit", 2, 31, 204, 1},
    {"wrong-unit", 3, 20, 204, 1},
    {"nested-unknown-key", 3, 14, 201, 1},
    {"out-of-range", 3, 10, 205, 1},
    {"negative-count", 2, 49, 205, 1},
    {"fraction-for-integer", 3, 13, 204, 1},
    {"unknown-word", 3, 11, 206, 1},
    {"bad-bool", 3, 19, 206, 1},
    {"null-required", 3, 13, 208, 1},
    {"text-for-list", 4, 13, 203, 1},
    {"list-for-text", 3, 11, 203, 1},
    {"price-zero", 2, 5, 721, 1},
    {"price-negative", 5, 40, 205, 1},
    {"spot-above-list", 2, 5, 722, 1},
    {"region-missing", 5, 9, 202, 1},
    {"no-cloud", 2, 5, 707, 1},
    {"unknown-cloud", 2, 5, 720, 1},
    {"unknown-chip", 2, 5, 720, 1},
    {"chip-without-count", 2, 5, 724, 1},
    {"recipe-unknown-model", 2, 5, 720, 1},
    {"recipe-unknown-dataset", 2, 5, 720, 1},
    {"name-both", 2, 5, 725, 1},
    {"recipe-largest", 2, 5, 735, 1},
    {"name-unknown-chip", 2, 5, 720, 1},
    {"alias-taken", 2, 5, 728, 1},
    {"rig-unknown-cpu", 2, 5, 720, 1},
    {"usable-above-size", 2, 5, 726, 1},
    {"suite-unknown-precision", 2, 5, 731, 1},
    {"suite-unknown-ran-precision", 2, 5, 731, 1},
    {"suite-unknown-dataset", 2, 5, 720, 1},
    {"suite-unknown-task", 2, 5, 731, 1},
    {"suite-bad-date", 2, 5, 731, 1},
    {"suite-bad-month", 2, 5, 731, 1},
    {"suite-of-everything", 2, 5, 732, 1},
    {"suite-without-runs", 2, 5, 732, 1},
    {"suite-with-empty-run", 2, 5, 732, 1},
    {"suite-batch-below-micro", 2, 5, 732, 1},
    {"recipe-unknown-task", 2, 5, 731, 1},
    {"model-unknown-precision", 2, 5, 731, 1},
    {"bad-as-of", 2, 5, 731, 1},
    {"useless-default", 1, 1, 708, 1},
    {"bad-default", 1, 13, 206, 1},
    {"duplicate-key", 5, 5, 0, 1},
    {"tab", 2, 1, 0, 1},
    {"unclosed", 0, 0, 0, 1},
    {"anchor", 2, 5, 0, 1},
    {"two-documents", 2, 1, 0, 1},
    {"empty", 1, 1, 0, 1},
    {"only-comment", 1, 1, 0, 1},
    {"bad-utf8", 2, 30, 0, 1},
    {"utf16", 0, 0, 0, 1},
};

static void describe(const ap_diags *diags, const char *file)
{
    ap_sbuf text;
    ap_sbuf_init(&text, diags->arena);
    for (size_t i = 0; i < diags->count; i++)
        ap_diag_format(&diags->items[i], &text);
    print_error("%s:\n%s", file, text.text);
}

static bool has(const ap_diags *diags, const bad_case *c)
{
    for (size_t i = 0; i < diags->count; i++) {
        const ap_diag *d = &diags->items[i];
        if (d->severity == AP_ERROR && (c->line == 0 || (d->pos.line == c->line && d->pos.col == c->col)) &&
            (c->code == 0 || d->code == c->code))
            return true;
    }
    return false;
}

static void every_broken_file_is_located(void **state)
{
    const fixture *f = F(state);
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AP_SCOPED_ARENA *arena = ap_arena_new();
        ap_diags diags;
        ap_diags_init(&diags, arena);
        const char *path = ap_arena_printf(arena, DIR_BAD "%s.yaml", cases[i].file);
        ap_status status = ap_catalog_check_file(f->catalog, path, arena, &diags);
        if (status == AP_BAD_INPUT && has(&diags, &cases[i]) && diags.errors == cases[i].errors)
            continue;
        print_error("expected %d:%d AP%04d, %zu error(s); status %d\n", cases[i].line, cases[i].col, cases[i].code,
                    cases[i].errors, (int)status);
        describe(&diags, cases[i].file);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void checking_changes_nothing(void **state)
{
    fixture *f = F(state);
    size_t models = f->catalog->models.count;
    const char *path = "tests/fixtures/catalog-overlay/good.yaml";
    assert_int_equal(ap_catalog_check_file(f->catalog, path, f->arena, &f->diags), AP_OK);
    assert_int_equal(f->catalog->models.count, models);
    assert_null(ap_catalog_find_model(f->catalog, "my-net"));
}

static void broken_overlay_changes_nothing(void **state)
{
    fixture *f = F(state);
    const ap_catalog before = *f->catalog;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = ap_arena_printf(f->arena, DIR_BAD "%s.yaml", cases[i].file);
        ap_diags diags;
        ap_diags_init(&diags, f->arena);
        ap_status status = ap_catalog_overlay(f->catalog, path, &diags);
        if (!ap_streq(cases[i].file, "empty") && !ap_streq(cases[i].file, "only-comment"))
            assert_int_equal(status, AP_BAD_DATA);
        assert_memory_equal(&before, f->catalog, sizeof before);
    }
}

static void missing_file_is_an_io_error(void **state)
{
    fixture *f = F(state);
    assert_int_equal(ap_catalog_check_file(f->catalog, DIR_BAD "none.yaml", f->arena, &f->diags), AP_IO);
    assert_int_equal(ap_catalog_overlay(f->catalog, DIR_BAD "none.yaml", &f->diags), AP_IO);
    ap_catalog *none;
    assert_int_equal(ap_catalog_load_dir("tests/fixtures/none", f->arena, &f->diags, &none), AP_IO);
}

/* A file cut to nothing loses what it held: no data folder has one. */
static void an_empty_file_of_the_data_is_an_error(void **state)
{
    fixture *f = F(state);
    ap_catalog *loaded;
    assert_int_equal(ap_catalog_load_dir("tests/fixtures/catalog-empty-file", f->arena, &f->diags, &loaded), AP_BAD_DATA);
    assert_true(f->diags.count > 0 && f->diags.items[0].code == 110);
}

/* Matrix units are used where they are faster; a sheet that says they are slower is doubted. */
static void slow_matrix_units_are_doubted(void **state)
{
    fixture *f = F(state);
    const char *path = DIR_BAD "../catalog-overlay/slow-matrix.yaml";
    assert_int_equal(ap_catalog_overlay(f->catalog, path, &f->diags), AP_OK);
    assert_true(f->diags.count == 1 && f->diags.items[0].code == 727);
    const ap_chip *chip = ap_catalog_chip(f->catalog, "mychip");
    assert_non_null(chip);
    assert_num(ap_chip_peak(chip, AP_PREC_FP32), 60e12);
}

/* The defect lies in the directory's own data: exit code 5, and the other files' records are still there. */
static void broken_data_directory(void **state)
{
    fixture *f = F(state);
    ap_catalog *catalog;
    assert_int_equal(ap_catalog_load_dir("tests/fixtures/catalog-bad", f->arena, &f->diags, &catalog), AP_BAD_DATA);
    assert_true(f->diags.errors > 20);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_up, fixture_down)
    const struct CMUnitTest tests[] = {
        T(every_broken_file_is_located), T(checking_changes_nothing), T(broken_overlay_changes_nothing),
        T(missing_file_is_an_io_error), T(broken_data_directory), T(an_empty_file_of_the_data_is_an_error), T(slow_matrix_units_are_doubted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
