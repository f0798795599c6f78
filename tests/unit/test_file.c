/* Files: bounded reading, atomic replacement, walking. */
#include "testing.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"

typedef struct fixture {
    ap_arena *arena;
    ap_diags diags;
    char folder[64];
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->arena = ap_arena_new();
    ap_diags_init(&f->diags, f->arena);
    strcpy(f->folder, "/tmp/accelpick-test-XXXXXX");
    *state = f;
    return mkdtemp(f->folder) ? 0 : -1;
}

static int teardown(void **state)
{
    fixture *f = *state;
    char *command = ap_arena_printf(f->arena, "rm -rf '%s'", f->folder);
    int rc = system(command);
    ap_arena_free(f->arena);
    free(f);
    return rc;
}

#define file_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static const char *path_in(fixture *f, const char *name)
{
    return ap_arena_printf(f->arena, "%s/%s", f->folder, name);
}

static void put(fixture *f, const char *name, const char *text)
{
    assert_int_equal(ap_file_write_atomic(path_in(f, name), text, strlen(text), &f->diags), AP_OK);
}

static void test_write_then_read(void **state)
{
    fixture *f = *state;
    char *text;
    size_t len;
    put(f, "a", "one\n");
    put(f, "a", "two");
    assert_int_equal(ap_file_read(path_in(f, "a"), 3, f->arena, &f->diags, &text, &len), AP_OK);
    assert_int_equal(len, 3);
    assert_string_equal(text, "two");
    put(f, "a", "");
    assert_int_equal(ap_file_read(path_in(f, "a"), 3, f->arena, &f->diags, &text, &len), AP_OK);
    assert_int_equal(len, 0);
    assert_string_equal(text, "");
}

static void test_limit_is_exact(void **state)
{
    fixture *f = *state;
    char *text;
    size_t len;
    put(f, "a", "1234");
    assert_int_equal(ap_file_read(path_in(f, "a"), 3, f->arena, &f->diags, &text, &len), AP_BAD_INPUT);
    assert_non_null(testing_find(&f->diags, AP_CODE_FILE_TOO_BIG));
}

static void test_endless_file_is_bounded(void **state)
{
    fixture *f = *state;
    char *text;
    size_t len;
    assert_int_equal(ap_file_read("/dev/zero", 100000, f->arena, &f->diags, &text, &len), AP_BAD_INPUT);
}

static void test_missing_and_folder(void **state)
{
    fixture *f = *state;
    char *text;
    size_t len;
    assert_int_equal(ap_file_read(path_in(f, "none"), 10, f->arena, &f->diags, &text, &len), AP_IO);
    assert_non_null(testing_find(&f->diags, AP_CODE_FILE_READ));
    assert_int_equal(ap_file_read(f->folder, 10, f->arena, &f->diags, &text, &len), AP_IO);
    assert_non_null(testing_find(&f->diags, AP_CODE_FILE_FOLDER));
    assert_int_equal(ap_file_write_atomic(f->folder, "x", 1, &f->diags), AP_IO);
    assert_int_equal(ap_file_write_atomic(path_in(f, "no/such/place"), "x", 1, &f->diags), AP_IO);
    assert_non_null(testing_find(&f->diags, AP_CODE_FILE_WRITE));
}

static void test_write_leaves_nothing_behind(void **state)
{
    fixture *f = *state;
    const char **paths;
    size_t count;
    put(f, "a", "x");
    put(f, "a", "y");
    assert_int_equal(ap_file_walk(f->folder, "", true, f->arena, &f->diags, &paths, &count), AP_OK);
    assert_int_equal(count, 1);
}

static void test_mode_and_link_survive(void **state)
{
    fixture *f = *state;
    struct stat info;
    put(f, "real", "x");
    assert_int_equal(chmod(path_in(f, "real"), 0640), 0);
    assert_int_equal(symlink("real", path_in(f, "link")), 0);
    put(f, "link", "through");
    assert_int_equal(lstat(path_in(f, "link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path_in(f, "real"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(info.st_size, 7);
}

static void test_device_is_written_directly(void **state)
{
    fixture *f = *state;
    struct stat info;
    assert_int_equal(ap_file_write_atomic("/dev/null", "x", 1, &f->diags), AP_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

/* /dev/full takes no byte. */
static void test_full_disk_is_reported(void **state)
{
    fixture *f = *state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(ap_file_write_atomic("/dev/full", "x", 1, &f->diags), AP_IO);
    assert_non_null(testing_find(&f->diags, AP_CODE_FILE_WRITE));
}

static void test_walk_is_sorted(void **state)
{
    fixture *f = *state;
    assert_int_equal(mkdir(path_in(f, "b"), 0777), 0);
    assert_int_equal(mkdir(path_in(f, ".hidden"), 0777), 0);
    assert_int_equal(symlink(".", path_in(f, "loop")), 0);
    put(f, "z.yaml", "");
    put(f, "b/a.yaml", "");
    put(f, "a.yaml", "");
    put(f, "a.txt", "");
    put(f, ".dot.yaml", "");
    put(f, ".hidden/x.yaml", "");
    const char **paths;
    size_t count;
    assert_int_equal(ap_file_walk(f->folder, ".yaml", false, f->arena, &f->diags, &paths, &count), AP_OK);
    assert_int_equal(count, 3);
    assert_string_equal(paths[0], path_in(f, "a.yaml"));
    assert_string_equal(paths[1], path_in(f, "b/a.yaml"));
    assert_string_equal(paths[2], path_in(f, "z.yaml"));
    assert_int_equal(ap_file_walk(f->folder, ".yaml", true, f->arena, &f->diags, &paths, &count), AP_OK);
    assert_int_equal(count, 5);
    assert_int_equal(ap_file_walk(path_in(f, "none"), "", true, f->arena, &f->diags, &paths, &count), AP_IO);
}

static void test_exists(void **state)
{
    fixture *f = *state;
    put(f, "a", "");
    assert_true(ap_file_exists(path_in(f, "a")));
    assert_false(ap_file_exists(path_in(f, "b")));
    assert_true(ap_file_is_dir(f->folder));
    assert_false(ap_file_is_dir(path_in(f, "a")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(test_write_then_read),
        file_test(test_limit_is_exact),
        file_test(test_endless_file_is_bounded),
        file_test(test_missing_and_folder),
        file_test(test_write_leaves_nothing_behind),
        file_test(test_mode_and_link_survive),
        file_test(test_device_is_written_directly),
        file_test(test_full_disk_is_reported),
        file_test(test_walk_is_sorted),
        file_test(test_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
