/* Arena, text buffer, key set, diagnostics: what everything else is built from. */
#include "testing.h"

#include "base/keyset.h"
#include "base/str.h"

static void test_memory_is_zeroed_and_aligned(void **state)
{
    ap_arena *arena = *state;
    for (size_t size = 0; size < 200; size++) {
        unsigned char *memory = ap_arena_alloc(arena, size);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xAA, size);
    }
}

static void test_large_blocks_do_not_disturb_small_ones(void **state)
{
    ap_arena *arena = *state;
    char *small = ap_arena_strdup(arena, "small");
    char *large = ap_arena_alloc(arena, 1000000);
    memset(large, 'x', 1000000);
    char *after = ap_arena_strdup(arena, "after");
    assert_string_equal(small, "small");
    assert_string_equal(after, "after");
    assert_int_equal(large[999999], 'x');
}

static void test_growing_array_keeps_its_items(void **state)
{
    int *items = NULL;
    size_t count = 0, capacity = 0;
    for (int i = 0; i < 1000; i++)
        *AP_PUSH(*state, items, count, capacity) = i;
    assert_int_equal(count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
}

static void test_buffer_stays_terminated(void **state)
{
    ap_sbuf buf;
    ap_sbuf_init(&buf, *state);
    for (int i = 0; i < 500; i++)
        ap_sbuf_printf(&buf, "%d,", i % 10);
    ap_sbuf_add_repeat(&buf, '-', 300);
    assert_int_equal(buf.len, 1300);
    assert_int_equal(strlen(buf.text), 1300);
    assert_memory_equal(buf.text, "0,1,2,", 6);
    assert_int_equal(buf.text[1299], '-');
}

static void test_glob(void **state)
{
    (void)state;
    assert_true(ap_glob_match("us-*", "us-east-1"));
    assert_true(ap_glob_match("*", ""));
    assert_true(ap_glob_match("a*b*c", "axxbyyc"));
    assert_true(ap_glob_match("h?00", "h100"));
    assert_false(ap_glob_match("us-*", "eu-west-1"));
    assert_false(ap_glob_match("a*b", "axc"));
    assert_false(ap_glob_match("", "a"));
    /* A pattern that makes naive matchers exponential. */
    assert_false(ap_glob_match("*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void test_starts_and_ends(void **state)
{
    (void)state;
    assert_true(ap_starts_with("p5.48xlarge", "p5."));
    assert_false(ap_starts_with("p", "p5"));
    assert_true(ap_ends_with("a.yaml", ".yaml"));
    assert_false(ap_ends_with("yaml", ".yaml"));
    assert_true(ap_streq(NULL, NULL));
    assert_false(ap_streq(NULL, ""));
}

static void test_keyset_finds_duplicates_beyond_its_inline_size(void **state)
{
    ap_arena *arena = *state;
    ap_keyset set;
    ap_keyset_init(&set);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(ap_keyset_add(&set, ap_arena_printf(arena, "key-%zu", i), i), AP_KEYSET_NEW);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(ap_keyset_add(&set, ap_arena_printf(arena, "key-%zu", i), 9999), i);
    ap_keyset_done(&set);
}

static void test_fnv1a_known_values(void **state)
{
    (void)state; /* from the FNV reference: offset basis, and the hash of "a" and "foobar" */
    assert_true(ap_hash_bytes(AP_HASH_SEED, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(ap_hash_bytes(AP_HASH_SEED, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(ap_hash_bytes(AP_HASH_SEED, "foobar", 6) == UINT64_C(0x85944171f73967e8));
}

static void test_finding_is_formatted_with_caret(void **state)
{
    ap_diags diags;
    ap_diags_init(&diags, *state);
    ap_diag *diag = ap_diag_add(&diags, AP_ERROR, 102, (ap_pos){"a.yaml", 3, 4}, "bad '%s'", "x");
    diag->source_line = "\xC3\xA9: x";
    diag->hint = "write y";
    ap_sbuf out;
    ap_sbuf_init(&out, *state);
    ap_diag_format(diag, &out);
    assert_string_equal(out.text, "a.yaml:3:4: error: bad 'x' [AP0102]\n  \xC3\xA9: x\n     ^\n  hint: write y\n");
}

/* A file must not be able to send escape sequences to the terminal. */
static void test_control_characters_in_messages_are_replaced(void **state)
{
    ap_diags diags;
    ap_diags_init(&diags, *state);
    ap_diag *diag = ap_diag_add(&diags, AP_WARNING, 1, AP_NO_POS, "key '%s'", "\x1b[31m\nz");
    assert_string_equal(diag->message, "key '?[31m z'");
}

static void test_findings_beyond_the_limit_are_counted(void **state)
{
    ap_diags diags;
    ap_diags_init(&diags, *state);
    for (int i = 0; i < AP_DIAG_LIMIT + 7; i++)
        ap_diag_add(&diags, AP_ERROR, 1, AP_NO_POS, "x")->hint = "h";
    assert_int_equal(diags.count, AP_DIAG_LIMIT);
    assert_int_equal(diags.suppressed, 7);
    assert_int_equal(diags.errors, AP_DIAG_LIMIT + 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_memory_is_zeroed_and_aligned),
        arena_test(test_large_blocks_do_not_disturb_small_ones),
        arena_test(test_growing_array_keeps_its_items),
        arena_test(test_buffer_stays_terminated),
        arena_test(test_glob),
        arena_test(test_starts_and_ends),
        arena_test(test_keyset_finds_duplicates_beyond_its_inline_size),
        arena_test(test_fnv1a_known_values),
        arena_test(test_finding_is_formatted_with_caret),
        arena_test(test_control_characters_in_messages_are_replaced),
        arena_test(test_findings_beyond_the_limit_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
