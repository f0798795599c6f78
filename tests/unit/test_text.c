/* Width on a terminal, UTF-8, did-you-mean. */
#include "testing.h"

#include "base/text.h"

static void test_width(void **state)
{
    (void)state;
    assert_int_equal(ap_text_width(""), 0);
    assert_int_equal(ap_text_width("abc"), 3);
    assert_int_equal(ap_text_width("\xC3\xA9t\xC3\xA9"), 3);        /* été */
    assert_int_equal(ap_text_width("e\xCC\x81"), 1);                /* e + combining acute */
    assert_int_equal(ap_text_width("\xE6\xBC\xA2\xE5\xAD\x97"), 4); /* two CJK characters */
    assert_int_equal(ap_text_width("\xF0\x9F\x98\x80"), 2);         /* an emoji */
    assert_int_equal(ap_text_width("\xE2\x82\xAC"), 1);             /* euro sign */
    assert_int_equal(ap_text_width("a\xFFz"), 3);                   /* an invalid byte takes one column */
    assert_int_equal(ap_text_width("a\tb\x07"), 2);
    assert_int_equal(ap_text_width("\xE2\x80\xA6"), 1); /* the ellipsis */
}

static void expect_bad(const char *text, size_t offset)
{
    size_t bad = 999;
    assert_false(ap_utf8_valid(text, strlen(text), &bad));
    assert_int_equal(bad, offset);
}

static void test_utf8(void **state)
{
    (void)state;
    assert_true(ap_utf8_valid("", 0, NULL));
    assert_true(ap_utf8_valid("plain text of more than eight bytes", 35, NULL));
    assert_true(ap_utf8_valid("\xF4\x8F\xBF\xBF", 4, NULL)); /* U+10FFFF */
    expect_bad("abc\xFF", 3);
    expect_bad("12345678\x80", 8);
    expect_bad("\xC0\xAF", 0);         /* overlong '/' */
    expect_bad("\xE0\x80\xAF", 0);     /* overlong */
    expect_bad("\xED\xA0\x80", 0);     /* surrogate */
    expect_bad("\xF4\x90\x80\x80", 0); /* above U+10FFFF */
    expect_bad("x\xE2\x82", 1);        /* cut off */
    expect_bad("\xC3(", 0);
}

static void test_small_differences_are_near(void **state)
{
    (void)state;
    assert_int_equal(ap_text_distance("same", "same"), 0);
    assert_true(ap_text_distance("H100", "h100") < ap_text_distance("H100", "H200"));
    assert_true(ap_text_distance("seq_len", "seq-len") < ap_text_distance("seq_len", "seqxlen"));
    assert_true(ap_text_distance("memroy", "memory") < ap_text_distance("memexy", "memory"));
    assert_true(ap_text_distance("epoch", "epochs") < ap_text_distance("epoch", "tokens"));
    assert_int_equal(ap_text_distance("", ""), 0);
}

static const char *suggest(ap_arena *arena, const char *wanted, const char *const *names)
{
    ap_suggest s;
    ap_suggest_init(&s, wanted);
    for (; *names; names++)
        ap_suggest_offer(&s, *names);
    return ap_suggest_text(&s, arena);
}

static void test_suggestions(void **state)
{
    static const char *const keys[] = {"model",           "method",    "tokens",    "samples", "epochs",
                                       "sequence_length", "precision", "optimizer", NULL};
    assert_string_equal(suggest(*state, "modle", keys), "did you mean 'model'?");
    assert_string_equal(suggest(*state, "epoch", keys), "did you mean 'epochs'?");
    assert_string_equal(suggest(*state, "Precision", keys), "did you mean 'precision'?");
    assert_string_equal(suggest(*state, "sequence-length", keys), "did you mean 'sequence_length'?");
    assert_string_equal(suggest(*state, "seq", keys), "did you mean 'sequence_length'?"); /* the start of a word */
    assert_null(suggest(*state, "flavour", keys));                                        /* nothing is near */
    assert_null(suggest(*state, "", keys));
}

static void test_several_suggestions_nearest_first(void **state)
{
    static const char *const chips[] = {"a100-40gb", "h200", "h100", "h800", "h20", NULL};
    assert_string_equal(suggest(*state, "H100", chips), "did you mean 'h100', 'h200' or 'h800'?");
}

static void test_very_long_names_are_safe(void **state)
{
    char *name = ap_arena_alloc(*state, 5000);
    memset(name, 'a', 4999);
    assert_int_equal(ap_text_distance(name, name), 0);
    assert_true(ap_text_distance(name, "b") > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_width),
        arena_test(test_utf8),
        arena_test(test_small_differences_are_near),
        arena_test(test_suggestions),
        arena_test(test_several_suggestions_nearest_first),
        arena_test(test_very_long_names_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
