/* Hostile YAML: depth, size, aliases (PITFALLS Y1-Y4). Each must end at once with a finding. */
#include "testing_yaml.h"

#include <time.h>

static char *repeat(ap_arena *arena, const char *text, size_t count)
{
    size_t len = strlen(text);
    char *out = ap_arena_alloc(arena, len * count + 1);
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * len, text, len);
    return out;
}

static double seconds_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void test_depth_64_is_the_last(void **state)
{
    parsed p;
    char *good = ap_arena_printf(*state, "%s%s", repeat(*state, "[", 64), repeat(*state, "]", 64));
    parse(*state, good, AP_YAML_STRICT, &p);
    assert_int_equal(p.status, AP_OK);
    char *bad = ap_arena_printf(*state, "%s%s", repeat(*state, "[", 65), repeat(*state, "]", 65));
    parse(*state, bad, AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_TOO_DEEP, 1, 65, "deeper than 64");
}

static void test_megabyte_of_brackets_ends_at_once(void **state)
{
    parsed p;
    clock_t start = clock();
    parse(*state, repeat(*state, "[", 1 << 20), AP_YAML_STRICT, &p);
    assert_non_null(testing_find(&p.diags, AP_CODE_TOO_DEEP));
    parse(*state, repeat(*state, "{", 1 << 20), AP_YAML_FOREIGN, &p);
    assert_non_null(testing_find(&p.diags, AP_CODE_TOO_DEEP));
    assert_true(seconds_since(start) < 2);
}

static void test_size_is_checked_before_parsing(void **state)
{
    parsed p;
    parse(*state, repeat(*state, "[", (1 << 20) + 1), AP_YAML_STRICT, &p);
    assert_non_null(testing_find(&p.diags, AP_CODE_TOO_BIG));
    assert_int_equal(p.diags.count, 1);
}

static void test_wide_mapping_is_linear(void **state)
{
    ap_sbuf text;
    ap_sbuf_init(&text, *state);
    for (int i = 0; i < 60000; i++)
        ap_sbuf_printf(&text, "key%d: 1\n", i);
    parsed p;
    clock_t start = clock();
    parse(*state, text.text, AP_YAML_STRICT, &p);
    assert_int_equal(p.status, AP_OK);
    assert_int_equal(p.docs.items[0]->as.map.count, 60000);
    assert_true(seconds_since(start) < 2);
}

static void test_alias_to_nothing(void **state)
{
    parsed p;
    parse(*state, "a: *nowhere\n", AP_YAML_FOREIGN, &p);
    expect_finding(&p, AP_CODE_UNKNOWN_ANCHOR, 1, 4, "unknown anchor 'nowhere'");
}

static void test_alias_inside_its_own_value(void **state)
{
    parsed p;
    parse(*state, "a: &a [*a]\n", AP_YAML_FOREIGN, &p);
    expect_finding(&p, AP_CODE_UNKNOWN_ANCHOR, 1, 8, "inside the value it names");
    parse(*state, "a: &a {b: {c: *a}}\n", AP_YAML_FOREIGN, &p);
    expect_finding(&p, AP_CODE_UNKNOWN_ANCHOR, 1, 15, "inside the value it names");
}

static void test_anchors_do_not_reach_the_next_document(void **state)
{
    parsed p;
    parse(*state, "a: &x 1\n---\nb: *x\n", AP_YAML_FOREIGN, &p);
    expect_finding(&p, AP_CODE_UNKNOWN_ANCHOR, 3, 4, "unknown anchor");
}

static void test_anchor_may_be_defined_again(void **state)
{
    parsed p;
    parse(*state, "a: &x 1\nb: *x\nc: &x 2\nd: *x\n", AP_YAML_FOREIGN, &p);
    assert_int_equal(p.status, AP_OK);
    assert_string_equal(ap_node_text(ap_node_at(p.docs.items[0], "b")), "1");
    assert_string_equal(ap_node_text(ap_node_at(p.docs.items[0], "d")), "2");
}

/* Each line stands for nine times the one before: 9^9 values in a few hundred bytes. */
static void test_alias_bomb_is_refused(void **state)
{
    ap_sbuf text;
    ap_sbuf_init(&text, *state);
    ap_sbuf_add(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i <= 9; i++) {
        ap_sbuf_printf(&text, "a%d: &a%d [", i, i);
        for (int j = 0; j < 9; j++)
            ap_sbuf_printf(&text, "%s*a%d", j ? "," : "", i - 1);
        ap_sbuf_add(&text, "]\n");
    }
    parsed p;
    clock_t start = clock();
    parse(*state, text.text, AP_YAML_FOREIGN, &p);
    assert_non_null(testing_find(&p.diags, AP_CODE_ALIAS_BUDGET));
    assert_true(seconds_since(start) < 1);
}

static void test_alias_depth(void **state)
{
    ap_sbuf text;
    ap_sbuf_init(&text, *state);
    ap_sbuf_add(&text, "a0: &a0 x\n");
    for (int i = 1; i <= 8; i++)
        ap_sbuf_printf(&text, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    parsed p;
    parse(*state, text.text, AP_YAML_FOREIGN, &p);
    assert_int_equal(p.status, AP_OK);
    ap_sbuf_add(&text, "a9: [*a8]\n");
    parse(*state, text.text, AP_YAML_FOREIGN, &p);
    expect_finding(&p, AP_CODE_ALIAS_BUDGET, 10, 6, "deeper than 8");
}

static void test_merge_is_charged_to_the_budget(void **state)
{
    ap_sbuf text;
    ap_sbuf_init(&text, *state);
    ap_sbuf_add(&text, "base: &b\n");
    for (int i = 0; i < 1000; i++)
        ap_sbuf_printf(&text, "  k%d: 1\n", i);
    for (int i = 0; i < 200; i++)
        ap_sbuf_printf(&text, "m%d:\n  <<: *b\n", i);
    parsed p;
    parse(*state, text.text, AP_YAML_FOREIGN, &p);
    assert_non_null(testing_find(&p.diags, AP_CODE_ALIAS_BUDGET));
}

static void test_many_anchors_are_refused(void **state)
{
    ap_sbuf text;
    ap_sbuf_init(&text, *state);
    for (int i = 0; i < 1001; i++)
        ap_sbuf_printf(&text, "k%d: &a%d 1\n", i, i);
    parsed p;
    parse(*state, text.text, AP_YAML_FOREIGN, &p);
    expect_finding(&p, AP_CODE_ALIAS_BUDGET, 1001, 8, "more than 1000 anchors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_depth_64_is_the_last),
        arena_test(test_megabyte_of_brackets_ends_at_once),
        arena_test(test_size_is_checked_before_parsing),
        arena_test(test_wide_mapping_is_linear),
        arena_test(test_alias_to_nothing),
        arena_test(test_alias_inside_its_own_value),
        arena_test(test_anchors_do_not_reach_the_next_document),
        arena_test(test_anchor_may_be_defined_again),
        arena_test(test_alias_bomb_is_refused),
        arena_test(test_alias_depth),
        arena_test(test_merge_is_charged_to_the_budget),
        arena_test(test_many_anchors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
