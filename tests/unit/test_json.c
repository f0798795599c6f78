/* Strict JSON reading and the streaming writer (PITFALLS C1-C10). */
#include "testing.h"

#include <float.h>
#include <stdlib.h>

#include "base/num.h"
#include "io/json.h"

typedef struct parsed {
    ap_status status;
    ap_diags diags;
    cJSON *root;
} parsed;

static void parse_len(ap_arena *arena, const char *text, size_t len, parsed *ret)
{
    char *exact = malloc(len ? len : 1); /* no NUL behind it: ASan sees any read past the end (C6) */
    memcpy(exact, text, len);
    ap_diags_init(&ret->diags, arena);
    ret->status = ap_json_parse(exact, len, "t.json", &ret->diags, &ret->root);
    free(exact);
}

static void accepts(ap_arena *arena, const char *text)
{
    parsed p;
    parse_len(arena, text, strlen(text), &p);
    if (p.status != AP_OK)
        fail_msg("'%s' was refused: %s", text, p.diags.items[0].message);
    cJSON_Delete(p.root);
}

static void refuses(ap_arena *arena, const char *text, int line, int col, const char *said)
{
    parsed p;
    parse_len(arena, text, strlen(text), &p);
    if (p.status == AP_OK)
        fail_msg("'%s' was accepted", text);
    assert_null(p.root);
    const ap_diag *diag = &p.diags.items[0];
    if (diag->pos.line != line || diag->pos.col != col || !strstr(diag->message, said))
        fail_msg("'%s': %d:%d '%s', expected %d:%d '%s'", text, diag->pos.line, diag->pos.col, diag->message, line, col,
                 said);
}

static void test_valid_texts(void **state)
{
    static const char *const good[] = {"{}",
                                       "[]",
                                       " [1, -0.5e+3, true, false, null] \n",
                                       "\"x\"",
                                       "0",
                                       "-0",
                                       "{\"a\": {\"b\": [\"\\u00e9\\n\\ud83d\\ude00\"]}}",
                                       "\xEF\xBB\xBF{}",
                                       "\"\xC3\xA9\""};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        accepts(*state, good[i]);
}

/* C5 */
static void test_what_cjson_would_let_pass(void **state)
{
    refuses(*state, "{} x", 1, 4, "after the end");
    refuses(*state, "[01]", 1, 2, "cannot start with 0");
    refuses(*state, "[1.]", 1, 2, "not a JSON number");
    refuses(*state, "[0x10]", 1, 2, "not a JSON number");
    refuses(*state, "[.5]", 1, 2, "expected a value");
    refuses(*state, "[+1]", 1, 2, "expected a value");
    refuses(*state, "[1e400]", 1, 2, "too large");
    refuses(*state, "[-]", 1, 2, "expected digits");
    refuses(*state, "[NaN]", 1, 2, "expected a value");
    refuses(*state, "[\"a\nb\"]", 1, 4, "control character");
    refuses(*state, "[\"a\\u0000b\"]", 1, 4, "NUL");
    refuses(*state, "[\"\\ud800\"]", 1, 3, "surrogate");
    refuses(*state, "[\"\\ud800\\u0041\"]", 1, 3, "surrogate");
    refuses(*state, "[\"\\x41\"]", 1, 3, "unknown escape");
    refuses(*state, "[\"\\u12g4\"]", 1, 3, "hexadecimal");
    refuses(*state, "[\"\xFF\"]", 1, 3, "invalid UTF-8");
    refuses(*state, "[\"abc]", 1, 2, "never closed");
    refuses(*state, "['a']", 1, 2, "expected a value");
}

/* C10 */
static void test_errors_have_line_and_column(void **state)
{
    refuses(*state, "{\n  \"a\" 1\n}", 2, 7, "expected ':'");
    refuses(*state, "{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, "expected ',' or '}'");
    refuses(*state, "{\"a\": 1,}", 1, 9, "comma");
    refuses(*state, "[1,]", 1, 4, "comma");
    refuses(*state, "{a: 1}", 1, 2, "key in double quotes");
    refuses(*state, "", 1, 1, "ends where a value");
    refuses(*state, "[1", 1, 3, "expected ',' or ']'");
    refuses(*state, "{\"\xC3\xA9\": tru}", 1, 7, "expected a value");
}

/* C8 */
static void test_duplicate_keys(void **state)
{
    refuses(*state, "{\"a\": {\"x\": 1},\n \"b\": {\"x\": 1},\n \"a\": 3}", 3, 2, "first at line 1, column 2");
    refuses(*state, "{\"a\": 1, \"\\u0061\": 2}", 1, 10, "key 'a' is given twice");
    accepts(*state, "[{\"a\": 1}, {\"a\": 1, \"A\": 2}]"); /* C7: case counts */
}

/* C9 */
static void test_depth(void **state)
{
    char text[200] = {0};
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    accepts(*state, text);
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    refuses(*state, text, 1, 65, "nested deeper than 64");
}

/* C6: every cut of a valid text ends in an error, not in a read past the end. */
static void test_every_truncation_is_refused(void **state)
{
    static const char text[] = "{\"a\": [1.5e3, \"\\ud83d\\ude00\", {\"b\": null}], \"c\": true}";
    for (size_t len = 0; len < sizeof text - 1; len++) {
        parsed p;
        parse_len(*state, text, len, &p);
        assert_int_equal(p.status, AP_BAD_INPUT);
    }
}

static void test_nul_byte_inside(void **state)
{
    parsed p;
    parse_len(*state, "[1]\0[2]", 7, &p);
    assert_int_equal(p.status, AP_BAD_INPUT);
    parse_len(*state, "[\"a\0b\"]", 7, &p);
    assert_int_equal(p.status, AP_BAD_INPUT);
}

static void test_values_are_read(void **state)
{
    parsed p;
    const char *text = "{\"n\": 0.30000000000000004, \"t\": \"\\u00e9\\t\", \"l\": [1, 2]}";
    parse_len(*state, text, strlen(text), &p);
    assert_int_equal(p.status, AP_OK);
    assert_same(cJSON_GetObjectItemCaseSensitive(p.root, "n")->valuedouble, 0.1 + 0.2);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(p.root, "t")->valuestring, "\xC3\xA9\t");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(p.root, "l")), 2);
    cJSON_Delete(p.root);
}

static void test_number_longer_than_cjson_holds(void **state)
{
    char text[100] = "[0.";
    memset(text + 3, '1', 80);
    text[83] = ']';
    refuses(*state, text, 1, 2, "too many digits");
}

static void write_sample(ap_json_writer *w)
{
    ap_json_object_open(w);
    ap_json_key(w, "a");
    ap_json_number(w, 0.1);
    ap_json_key(w, "l");
    ap_json_array_open(w);
    ap_json_int(w, INT64_MIN);
    ap_json_string(w, "x\"\\\n\x01");
    ap_json_null(w);
    ap_json_bool(w, true);
    ap_json_array_close(w);
    ap_json_key(w, "e");
    ap_json_object_open(w);
    ap_json_object_close(w);
    ap_json_key(w, "z");
    ap_json_number(w, AP_UNKNOWN);
    ap_json_object_close(w);
}

static void test_writer(void **state)
{
    ap_sbuf out;
    ap_json_writer w;
    ap_sbuf_init(&out, *state);
    ap_json_begin(&w, &out, 0);
    write_sample(&w);
    assert_string_equal(
        out.text, "{\"a\":0.1,\"l\":[-9223372036854775808,\"x\\\"\\\\\\n\\u0001\",null,true],\"e\":{},\"z\":null}");
    ap_sbuf_init(&out, *state);
    ap_json_begin(&w, &out, 2);
    write_sample(&w);
    assert_string_equal(out.text,
                        "{\n  \"a\": 0.1,\n  \"l\": [\n    -9223372036854775808,\n    \"x\\\"\\\\\\n\\u0001\",\n"
                        "    null,\n    true\n  ],\n  \"e\": {},\n  \"z\": null\n}");
}

static void test_invalid_utf8_is_replaced(void **state)
{
    ap_sbuf out;
    ap_json_writer w;
    ap_sbuf_init(&out, *state);
    ap_json_begin(&w, &out, 0);
    ap_json_string(&w, "a\xFF\xC3\xA9\xE2\x82z");
    assert_string_equal(out.text, "\"a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBDz\"");
    accepts(*state, out.text);
}

/* C4: integers below 2^53 have no exponent. */
static void test_integers_are_printed_whole(void **state)
{
    ap_sbuf out;
    ap_json_writer w;
    ap_sbuf_init(&out, *state);
    ap_json_begin(&w, &out, 0);
    ap_json_number(&w, 1234567890123460.0);
    assert_string_equal(out.text, "1234567890123460");
}

/* C1: what is written reads back equal. xorshift64*, fixed seed. */
static void test_million_doubles_survive(void **state)
{
    uint64_t s = 838;
    for (int chunk = 0; chunk < 100; chunk++) {
        static double values[10000];
        ap_arena *arena = ap_arena_new();
        ap_sbuf out;
        ap_json_writer w;
        ap_sbuf_init(&out, arena);
        ap_json_begin(&w, &out, 0);
        ap_json_array_open(&w);
        for (int i = 0; i < 10000; i++) {
            s ^= s >> 12;
            s ^= s << 25;
            s ^= s >> 27;
            values[i] = (double)((s * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53 * 1000;
            ap_json_number(&w, values[i]);
        }
        ap_json_array_close(&w);
        parsed p;
        parse_len(*state, out.text, out.len, &p);
        assert_int_equal(p.status, AP_OK);
        int i = 0;
        for (const cJSON *item = p.root->child; item; item = item->next)
            assert_same(item->valuedouble, values[i++]);
        assert_int_equal(i, 10000);
        cJSON_Delete(p.root);
        ap_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_valid_texts),
        arena_test(test_what_cjson_would_let_pass),
        arena_test(test_errors_have_line_and_column),
        arena_test(test_duplicate_keys),
        arena_test(test_depth),
        arena_test(test_every_truncation_is_refused),
        arena_test(test_nul_byte_inside),
        arena_test(test_values_are_read),
        arena_test(test_number_longer_than_cjson_holds),
        arena_test(test_writer),
        arena_test(test_invalid_utf8_is_replaced),
        arena_test(test_integers_are_printed_whole),
        arena_test(test_million_doubles_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
