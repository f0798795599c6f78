/* Expressions: one table per operator and function. Expected values follow the CEL language definition and arithmetic by
 * hand, "!" means an error of evaluation or parsing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rules/rules.h"

typedef struct row {
    const char *expr, *want;
} row;

static const ap_fact_schema open_schema = {.dynamic = true};

static const char *evaluate(ap_arena *arena, const char *expr, const char *facts)
{
    ap_diags diags;
    ap_diags_init(&diags, arena);
    const ap_cel *cel;
    ap_cel_value root = {.kind = AP_CEL_MAP};
    if (facts && ap_cel_read_json(facts, strlen(facts), "facts", arena, &diags, &root) != AP_OK)
        return "! facts";
    if (ap_cel_compile(expr, (ap_pos){"expr", 1, 1}, &open_schema, arena, &diags, &cel) != AP_OK)
        return "!";
    ap_cel_value value = ap_cel_eval(cel, NULL, &root, arena);
    if (value.kind == AP_CEL_ERROR)
        return "!";
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    return ap_cel_write_json(&value, &out) ? out.text : "! too large";
}

static void check_rows(const row *rows, size_t count, const char *facts)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        const char *got = evaluate(arena, rows[i].expr, facts);
        if (strcmp(got, rows[i].want) != 0) {
            print_error("%s\n  want %s\n  got  %s\n", rows[i].expr, rows[i].want, got);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}
#define CHECK(rows, facts) check_rows(rows, sizeof(rows) / sizeof *(rows), facts)

static void test_literals(void **state)
{
    (void)state;
    static const row rows[] = {
        {"0", "0"}, {"42", "42"}, {"-42", "-42"}, {"0x1F", "31"}, {"-0x1f", "-31"}, {"1.5", "1.5"}, {"1e3", "1000.0"},
        {".25", "0.25"}, {"2.5E-1", "0.25"}, {"-2.5e+1", "-25.0"}, {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"}, {"9223372036854775808", "!"}, {"-9223372036854775809", "!"},
        {"0x7FFFFFFFFFFFFFFF", "9223372036854775807"}, {"-0x8000000000000000", "-9223372036854775808"},
        {"0x8000000000000000", "!"}, {"true", "true"}, {"false", "false"}, {"null", "null"}, {"1u", "!"}, {"b'a'", "!"},
        {"[]", "[]"}, {"[1, 2.0, 'a', null,]", "[1,2.0,\"a\",null]"}, {"{}", "{}"}, {"{'a': 1, 'b': [2],}", "{\"a\":1,\"b\":[2]}"},
        {"{1: 'a', true: 'b'}", "{\"1\":\"a\",\"true\":\"b\"}"}, {"{1: 1, 1: 2}", "!"}, {"{1.5: 1}", "!"}, {"{null: 1}", "!"},
        {"1e400", "!"}, {"1e-400", "0.0"}, {"dyn", "!"}, {"int == type(1)", "true"}, {"12abc", "!"}, {"", "!"}, {"// only a comment", "!"}, {"1 // comment\n + 2", "3"},
    };
    CHECK(rows, NULL);
}

static void test_strings(void **state)
{
    (void)state;
    static const row rows[] = {
        {"\"a'b\"", "\"a'b\""}, {"'a\"b'", "\"a\\\"b\""}, {"'''a'b\nc'''", "\"a'b\\u000ac\""}, {"\"\"\"x\"y\"\"\"", "\"x\\\"y\""},
        {"r'\\n'", "\"\\\\n\""}, {"R\"\\x41\"", "\"\\\\x41\""}, {"r'''a\\'''", "\"a\\\\\""}, {"'\\a\\b\\f\\n\\r\\t\\v'",
        "\"\\u0007\\u0008\\u000c\\u000a\\u000d\\u0009\\u000b\""}, {"'\\\\\\?\\\"\\'\\`'", "\"\\\\?\\\"'`\""},
        {"'\\x41\\X42'", "\"AB\""}, {"'\\u0041\\U0001F600'", "\"A\xF0\x9F\x98\x80\""}, {"'\\101\\377'", "\"A\xC3\xBF\""},
        {"'\\ud800'", "!"}, {"'\\U00110000'", "!"}, {"'\\400'", "!"}, {"'\\q'", "!"}, {"'a\nb'", "!"}, {"'open", "!"},
        {"'\xC3\xA9' == '\\u00e9'", "true"}, {"'ab' 'c'", "!"}, {"''", "\"\""}, {"\"\"", "\"\""},
    };
    CHECK(rows, NULL);
}

static void test_int_arithmetic(void **state)
{
    (void)state;
    static const row rows[] = {
        {"40 + 2", "42"}, {"40 - 82", "-42"}, {"-6 * 7", "-42"}, {"-7 / 2", "-3"}, {"7 / -2", "-3"}, {"7 % 3", "1"},
        {"-7 % 3", "-1"}, {"7 % -3", "1"}, {"1 / 0", "!"}, {"1 % 0", "!"}, {"9223372036854775807 + 1", "!"},
        {"-9223372036854775808 - 1", "!"}, {"9223372036854775807 * 2", "!"}, {"-9223372036854775808 / -1", "!"},
        {"-9223372036854775808 % -1", "!"}, {"-(-9223372036854775808)", "!"}, {"-(5)", "-5"}, {"--5", "5"}, {"- - -5", "-5"},
        {"1 + 2 * 3 - 4 / 2", "5"}, {"(1 + 2) * 3", "9"}, {"10 - 4 - 3", "3"}, {"100 / 10 / 5", "2"}, {"1 + 1.0", "!"},
        {"1 + 'a'", "!"}, {"true + 1", "!"}, {"-true", "!"}, {"5 -3", "2"}, {"5-3", "2"},
        {"4611686018427387904 + 4611686018427387903", "9223372036854775807"}, {"3037000500 * 3037000500", "!"},
    };
    CHECK(rows, NULL);
}

static void test_double_arithmetic(void **state)
{
    (void)state;
    static const row rows[] = {
        {"1.5 + 2.25", "3.75"}, {"1.0 - 4.0", "-3.0"}, {"1.5 * 2.0", "3.0"}, {"1.0 / 4.0", "0.25"}, {"-(1.5)", "-1.5"},
        {"1.0 / 0.0", "\"Infinity\""}, {"-1.0 / 0.0", "\"-Infinity\""}, {"0.0 / 0.0", "\"NaN\""}, {"5.0 % 2.0", "!"},
        {"0.1 + 0.2", "0.30000000000000004"}, {"1e308 * 10.0", "\"Infinity\""}, {"-0.0", "-0.0"}, {"2.0 * 3", "!"},
    };
    CHECK(rows, NULL);
}

static void test_comparisons(void **state)
{
    (void)state;
    static const row rows[] = {
        {"1 == 1", "true"}, {"1 == 1.0", "true"}, {"1.5 == 1", "false"}, {"1 != 2", "true"}, {"'a' == 'a'", "true"},
        {"1 == 'a'", "false"}, {"null == null", "true"}, {"null == 0", "false"}, {"0.0 == -0.0", "true"},
        {"0.0 / 0.0 == 0.0 / 0.0", "false"}, {"0.0 / 0.0 != 0.0 / 0.0", "true"}, {"[1, 2] == [1.0, 2]", "true"},
        {"[1, 2] == [2, 1]", "false"}, {"[1] == [1, 2]", "false"}, {"{'a': 1, 'b': 2} == {'b': 2.0, 'a': 1}", "true"},
        {"{'a': 1} == {'b': 1}", "false"}, {"{'a': 1} != {'a': 2}", "true"}, {"{1: 2} == {1.0: 2}", "!"}, {"1 < 2", "true"},
        {"2 <= 2", "true"}, {"3 > 3", "false"}, {"3 >= 3", "true"}, {"1 < 1.5", "true"}, {"2.5 > 2", "true"},
        {"'a' < 'b'", "true"}, {"'B' < 'a'", "true"}, {"'abc' < 'abd'", "true"}, {"'ab' < 'abc'", "true"},
        {"'\\u00ff' < '\\u0100'", "true"}, {"'\\uffff' < '\\U00010000'", "true"}, {"false < true", "true"},
        {"1 < 'a'", "!"}, {"[1] < [2]", "!"}, {"null < 1", "!"}, {"1 < 0.0 / 0.0", "false"}, {"9007199254740993 > 9007199254740992.0", "false"}, /* the int is rounded */
        {"9223372036854775807 == 9223372036854775808.0", "true"}, {"9223372036854775807 < 9223372036854777857.0", "true"},
        {"-9223372036854775808 > -9223372036854777857.0", "true"}, {"1 < 2 == true", "true"}, {"-9223372036854775808 == -9223372036854775808.0", "true"},
        {"9223372036854775807 < 9.3e18", "true"}, {"-9223372036854775808 > -9.3e18", "true"}, {"2 > 1.0 / 0.0", "false"},
    };
    CHECK(rows, NULL);
}

static void test_logic(void **state)
{
    (void)state;
    static const row rows[] = {
        {"true && true", "true"}, {"true && false", "false"}, {"false || true", "true"}, {"false || false", "false"},
        {"!true", "false"}, {"!!true", "true"}, {"!1", "!"}, {"false && 1 / 0 == 0", "false"}, {"1 / 0 == 0 && false", "false"},
        {"true && 1 / 0 == 0", "!"}, {"true || 1 / 0 == 0", "true"}, {"1 / 0 == 0 || true", "true"}, {"1 / 0 == 0 || false", "!"},
        {"'a' && false", "false"}, {"'a' && true", "!"}, {"'a' || true", "true"}, {"nothing || true", "true"},
        {"nothing(1) || true", "true"}, {"nothing", "!"}, {"true ? 1 : 1 / 0", "1"}, {"false ? 1 / 0 : 2", "2"},
        {"1 ? 2 : 3", "!"}, {"1 / 0 == 0 ? 1 : 1", "!"}, {"true ? 1 : true ? 2 : 3", "1"}, {"false ? 1 : false ? 2 : 3", "3"},
        {"true || false && false", "true"}, {"(true || false) && false", "false"}, {"1 == 1 && 2 == 2", "true"},
        {"true ? 'a' : 2", "\"a\""}, {"a & b", "!"}, {"a = b", "!"}, {"1 +", "!"}, {"(1", "!"}, {"1)", "!"}, {"[1, , 2]", "!"},
    };
    CHECK(rows, NULL);
}

static void test_in_and_index(void **state)
{
    (void)state;
    static const row rows[] = {
        {"2 in [1, 2]", "true"}, {"3 in [1, 2]", "false"}, {"2.0 in [1, 2]", "true"}, {"'a' in {'a': 1}", "true"},
        {"'b' in {'a': 1}", "false"}, {"1 in {1.0 == 1.0: 2}", "false"}, {"1.0 in {1: 2}", "true"}, {"'a' in 'abc'", "!"},
        {"'x' in [1, 'x', null]", "true"}, {"1 in []", "false"}, {"[7, 8, 9][1]", "8"}, {"[7, 8, 9][1.0]", "8"}, {"[7][0.5]", "!"},
        {"[7][1]", "!"}, {"[7][-1]", "!"}, {"[7]['0']", "!"}, {"{'a': 5}['a']", "5"}, {"{'a': 5}.a", "5"}, {"{'a': 5}.b", "!"},
        {"{1: 5}[1.0]", "5"}, {"{1: 5}[2]", "!"}, {"{true: 5}[true]", "5"}, {"[[1, 2], [3]][0][1]", "2"}, {"'abc'[0]", "!"},
        {"{'a': {'b': [10]}}.a.b[0]", "10"}, {"[1] + [2, 'x']", "[1,2,\"x\"]"}, {"'ab' + 'c'", "\"abc\""}, {"[1] + 2", "!"},
        {"{'a-b': 1}.`a-b`", "1"}, {"!(1 in [1])", "false"}, {"[] + []", "[]"}, {"has({'a': 1}.a)", "true"}, {"has({'a': 1}.b)", "false"},
        {"has({'a': null}.a)", "true"}, {"has([1].a)", "!"}, {"has(1)", "!"}, {"has(a)", "!"},
    };
    CHECK(rows, NULL);
}

static void test_functions(void **state)
{
    (void)state;
    static const row rows[] = {
        {"size('h\\u00e9\\U0001F600')", "3"}, {"'abc'.size()", "3"}, {"size([1, 2])", "2"}, {"{'a': 1}.size()", "1"}, {"size(1)", "!"},
        {"'abcd'.contains('bc')", "true"}, {"'abcd'.contains('')", "true"}, {"'ab'.contains('abc')", "false"}, {"'aab'.contains('ab')", "true"},
        {"'abcd'.startsWith('ab')", "true"}, {"'abcd'.startsWith('b')", "false"}, {"'abcd'.endsWith('cd')", "true"},
        {"'d'.endsWith('cd')", "false"}, {"'abc'.contains(1)", "!"}, {"contains('abc', 'a')", "!"}, {"'h100-sxm'.matches('^h[0-9]+')", "true"},
        {"matches('h100', '[0-9]{3}$')", "true"}, {"'ab'.matches('^b')", "false"}, {"'\\u00e9'.matches('^.$')", "true"},
        {"'x'.matches('(')", "!"}, {"'x'.matches('[' + ']')", "!"}, {"'abc'.matches('a' + '.c')", "true"}, {"'a\\n'.matches('a$')", "false"},
        {"'ABC'.matches('(?i)abc')", "true"}, {"'k\\u00f6ln'.matches('k\\u00f6+ln')", "true"}, {"type(1) == int", "true"},
        {"type('a') == string && type(1.0) == double && type([]) == list && type({}) == map && type(null) == null_type", "true"},
        {"type(type(1)) == type", "true"}, {"dyn(1) == 1.0", "true"}, {"size()", "!"}, {"'a'.size(1)", "!"}, {"sizes('a')", "!"},
        {"('a' + '' + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa').matches('(a+)+$')", "true"},
        {"('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' + 'b').matches('^(a+)+$')", "!"},
    };
    CHECK(rows, NULL);
}

static void test_conversions(void **state)
{
    (void)state;
    static const row rows[] = {
        {"int(5)", "5"}, {"int(1.9)", "1"}, {"int(-1.9)", "-1"}, {"int('42')", "42"}, {"int('-9223372036854775808')", "-9223372036854775808"},
        {"int('9223372036854775808')", "!"}, {"int('1.5')", "!"}, {"int('')", "!"}, {"int('0x10')", "!"}, {"int(1e19)", "!"},
        {"int(-1e19)", "!"}, {"int(0.0 / 0.0)", "!"}, {"int(true)", "!"}, {"int(9223372036854775807.0)", "!"}, {"double(3)", "3.0"}, {"double('1.5e2')", "150.0"},
        {"double('-.5')", "-0.5"}, {"double('abc')", "!"}, {"double('')", "!"}, {"double('0x10')", "!"}, {"double('Infinity') > 1.0", "true"},
        {"string(5)", "\"5\""}, {"string(-2.5)", "\"-2.5\""}, {"string(1.0)", "\"1\""}, {"string(123.456)", "\"123.456\""}, {"string(1e-7)", "\"1e-07\""},
        {"string(-4.5e-3)", "\"-0.0045\""}, {"string(true)", "\"true\""}, {"string('a')", "\"a\""}, {"string([1])", "!"}, {"string(null)", "!"},
        {"string(0.1)", "\"0.1\""}, {"string(6.02214e23)", "\"6.02214e+23\""}, {"bool('true')", "true"}, {"bool('F')", "false"}, {"bool('1')", "true"}, {"bool('yes')", "!"}, {"bool(1)", "!"}, {"bool(false)", "false"},
    };
    CHECK(rows, NULL);
}

static void test_macros(void **state)
{
    (void)state;
    static const row rows[] = {
        {"[1, 2, 3].all(x, x > 0)", "true"}, {"[1, 2, 3].all(x, x > 1)", "false"}, {"[].all(x, x > 1)", "true"}, {"[].exists(x, true)", "false"},
        {"[1, 2, 3].exists(x, x == 2)", "true"}, {"[1, 'a', 3].exists(x, x > 2)", "true"}, {"[1, 'a', 3].all(x, x > 2)", "false"},
        {"[1, 'a', 3].exists(x, x > 5)", "!"}, {"[0, 1].all(x, 1 / x >= 1)", "!"}, {"[0, 2].all(x, 1 / x >= 1)", "false"},
        {"[1, 2, 2].exists_one(x, x == 1)", "true"}, {"[1, 2, 2].exists_one(x, x == 2)", "false"}, {"['a', 2].exists_one(x, x > 1)", "!"},
        {"[1, 2, 3].filter(x, x % 2 == 1)", "[1,3]"}, {"[1, 2, 3].map(x, x * 2)", "[2,4,6]"}, {"[1, 2, 3].map(x, x > 1, x * 2)", "[4,6]"},
        {"{'a': 1, 'b': 2}.all(k, k != 'c')", "true"}, {"{'a': 1, 'b': 2}.filter(k, k == 'b')", "[\"b\"]"}, {"{'a': 1}.map(k, k + '!')", "[\"a!\"]"},
        {"[1, 2].map(x, [10, 20].map(y, x * y))", "[[10,20],[20,40]]"}, {"[1, 2].map(x, [3].map(x, x))", "[[3],[3]]"},
        {"[1, 2].exists(x, [x].all(x, x == 2))", "true"}, {"1.all(x, true)", "!"}, {"[1].all(1, true)", "!"}, {"[1].all(x.y, true)", "!"},
        {"[1].map(x, y)", "!"}, {"[1].all(x, 1)", "!"}, {"[1, 2, 3].filter(x, x > 1).map(x, x + 1)", "[3,4]"}, {"[{'a': 1}].exists(v, has(v.a) && v.a == 1)", "true"},
        {"[[1, 2], [3]].map(l, size(l))", "[2,1]"}, {"[1].map(x, x / 0)", "!"},
    };
    CHECK(rows, NULL);
}

static void test_facts(void **state)
{
    (void)state;
    static const char facts[] = "{\"chip\": {\"memory\": 80, \"tflops\": 989.0, \"name\": \"H100\\u00e9\", \"tags\": [\"a\", null]},"
                                " \"big\": 9007199254740993, \"neg\": -5, \"e\": 1e2, \"x.y\": true, \"x\": {\"y\": false}, \"t\": \"\\ud83d\\ude00\","
                                " \"true\": 1, \"int\": 7}";
    static const row rows[] = {
        {"chip.memory", "80"}, {"chip.memory / 3", "26"}, {"chip.tflops", "989.0"}, {"big", "9007199254740993"}, {"neg", "-5"},
        {"e", "100.0"}, {"x.y", "true"}, {"chip['name']", "\"H100\xC3\xA9\""}, {"chip.tags[1] == null", "true"}, {"has(chip.memory)", "true"},
        {"has(chip.nothing)", "false"}, {"has(none.nothing)", "!"}, {"chip.nothing", "!"}, {"chip.memory.deeper", "!"}, {"t.size()", "1"}, {".neg", "-5"},
        {"[1].exists(neg, neg == 1)", "true"}, {"[1].exists(neg, .neg == -5)", "true"}, {"true", "true"}, {"int", "7"}, {"chip.tags.size()", "2"},
    };
    CHECK(rows, facts);
    static const row bad[] = {{"1", "! facts"}};
    static const char *const broken[] = {"", "{", "[1,]", "{\"a\":01}", "{\"a\":1}x", "{\"a\":1,\"a\":2}", "{\"a\":9223372036854775808}", "{\"a\":\"\\ud800\"}",
                                         "{\"a\":1.}", "{\"a\":+1}", "{\"a\":\"\t\"}", "nul", "{\"a\" 1}", "'a'", "{\"a\":1e999}"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        CHECK(bad, broken[i]);
}

/* --- bounds --- */

static void test_hostile_expressions_are_bounded(void **state)
{
    (void)state;
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_sbuf deep, sum, big;
    ap_sbuf_init(&deep, arena);
    ap_sbuf_add_repeat(&deep, '(', 100000);
    assert_string_equal(evaluate(arena, deep.text, NULL), "!");
    ap_sbuf_init(&sum, arena);
    for (int i = 0; i < 50000; i++)
        ap_sbuf_add(&sum, "1+");
    ap_sbuf_add(&sum, "1");
    assert_string_equal(evaluate(arena, sum.text, NULL), "!");
    ap_sbuf_init(&big, arena);
    ap_sbuf_add_char(&big, '\'');
    ap_sbuf_add_repeat(&big, 'a', 1000000);
    ap_sbuf_add(&big, "'.size()");
    assert_string_equal(evaluate(arena, big.text, NULL), "1000000");
    ap_sbuf_add_repeat(&big, ' ', 100000);
    assert_string_equal(evaluate(arena, big.text, NULL), "!");
    assert_string_equal(evaluate(arena, "[1,2,3,4,5,6,7,8,9,10].all(a,[1,2,3,4,5,6,7,8,9,10].all(b,[1,2,3,4,5,6,7,8,9,10].all(c,"
        "[1,2,3,4,5,6,7,8,9,10].all(d,[1,2,3,4,5,6,7,8,9,10].all(e,[1,2,3,4,5,6,7,8,9,10].all(f,[1,2,3,4,5,6,7,8,9,10].all(g,true)))))))", NULL), "!");
    assert_string_equal(evaluate(arena, "[1,2].map(a,[1,2].map(b,[1,2].map(c,a+b+c)))", NULL), "[[[3,4],[4,5]],[[4,5],[5,6]]]");
    ap_sbuf nested;
    ap_sbuf_init(&nested, arena);
    for (int i = 0; i < 32; i++)
        ap_sbuf_add(&nested, "(");
    ap_sbuf_add(&nested, "7");
    for (int i = 0; i < 32; i++)
        ap_sbuf_add(&nested, ")");
    assert_string_equal(evaluate(arena, nested.text, NULL), "7");
    ap_sbuf ors;
    ap_sbuf_init(&ors, arena);
    for (int i = 0; i < 5000; i++)
        ap_sbuf_add(&ors, "false||");
    ap_sbuf_add(&ors, "true");
    assert_string_equal(evaluate(arena, ors.text, NULL), "true");
}

/* start, then `step` 60 times, then end: what a loop doubles 60 times */
static const char *repeated(ap_arena *arena, const char *start, const char *step, const char *end)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    ap_sbuf_add(&out, start);
    for (int i = 0; i < 60; i++)
        ap_sbuf_add(&out, step);
    ap_sbuf_add(&out, end);
    return out.text;
}

static void test_results_that_explode_are_bounded(void **state)
{
    (void)state;
    AP_SCOPED_ARENA *arena = ap_arena_new();
    assert_string_equal(evaluate(arena, repeated(arena, "[0]", ".map(x, [x, x])", ""), NULL), "! too large");
    assert_string_equal(evaluate(arena, repeated(arena, "[0]", ".map(x, [x, x])", ".size()"), NULL), "1");
    assert_string_equal(evaluate(arena, repeated(arena, "['ab']", ".map(x, x + x)", ""), NULL), "!");
    assert_string_equal(evaluate(arena, repeated(arena, "[[0]]", ".map(x, x + x)", ""), NULL), "!");
    const char *deep = repeated(arena, "[0]", ".map(x, [[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]])", "");
    assert_string_equal(evaluate(arena, deep, NULL), "! too large");
    assert_string_equal(evaluate(arena, ap_arena_printf(arena, "[%s].all(a, [a].all(b, a == b))", deep), NULL), "!");
}

/* Long text times many places to begin: PCRE2's own limits count neither. */
static void test_regular_expressions_are_bounded(void **state)
{
    (void)state;
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    ap_sbuf_add_repeat(&text, 'a', 500000);
    static const struct { const char *pattern, *want; } rows[] = {
        {"a*[bc]", "!"}, {"(a|aa)+[bc]", "!"}, {"a*b|a*c|a*d|a*[ef]", "!"}, {"b", "false"}, {"^a", "true"}, {"a$", "true"}, {"^aaa*$", "true"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *expr = ap_arena_printf(arena, "'%s'.matches('%s')", text.text, rows[i].pattern);
        assert_string_equal(evaluate(arena, expr, NULL), rows[i].want);
    }
    assert_string_equal(evaluate(arena, "'x'.matches('(((x{1,250}){1,250}){1,250})')", NULL), "!");
}

static void test_failures_of_evaluation_are_located(void **state)
{
    (void)state;
    static const struct { const char *expr; int line, col; } rows[] = {
        {"1 / 0", 1, 3}, {"1 +\n [1, 2 / 0].size()", 2, 8}, {"true && nope > 3", 1, 9}, {"[1, 2].map(x, x / (x - 2))", 1, 17},
        {"true ? 'a' + 1 : 2", 1, 12}, {"false || 1", 1, 10}, {"{'a': 1}['b']", 1, 9}, {"size(3)", 1, 1}, {"[9223372036854775807].all(x, x + 1 > 0)", 1, 32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AP_SCOPED_ARENA *arena = ap_arena_new();
        ap_diags diags;
        ap_diags_init(&diags, arena);
        const ap_cel *cel;
        assert_int_equal(ap_cel_compile(rows[i].expr, (ap_pos){"expr", 1, 1}, &open_schema, arena, &diags, &cel), AP_OK);
        ap_cel_value root = {.kind = AP_CEL_MAP}, value = ap_cel_eval(cel, NULL, &root, arena);
        assert_int_equal(value.kind, AP_CEL_ERROR);
        ap_cel_report(cel, &value, arena, &diags);
        if (diags.items[0].pos.line != rows[i].line || diags.items[0].pos.col != rows[i].col)
            fail_msg("%s: want %d:%d, got %d:%d", rows[i].expr, rows[i].line, rows[i].col, diags.items[0].pos.line, diags.items[0].pos.col);
    }
}

static void test_faults_are_located(void **state)
{
    (void)state;
    static const struct { const char *expr; int line, col, code; } rows[] = {
        {"1 +", 1, 4, 601}, {"1 + )", 1, 5, 601}, {"'\xC3\xA9' + @", 1, 7, 601}, {"1 +\n  'open", 2, 3, 601}, {"a = b", 1, 3, 601}, {"[1, 2", 1, 6, 601},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AP_SCOPED_ARENA *arena = ap_arena_new();
        ap_diags diags;
        ap_diags_init(&diags, arena);
        const ap_cel *cel;
        assert_int_equal(ap_cel_compile(rows[i].expr, (ap_pos){"expr", 1, 1}, &open_schema, arena, &diags, &cel), AP_BAD_INPUT);
        assert_int_equal(diags.count, 1);
        assert_int_equal(diags.items[0].pos.line, rows[i].line);
        assert_int_equal(diags.items[0].pos.col, rows[i].col);
        assert_int_equal(diags.items[0].code, rows[i].code);
    }
}

/* --- closed schema --- */

static const ap_fact facts_table[] = {
    {.path = "chip.memory_gib", .kind = AP_CEL_DOUBLE, .unit = "GiB"}, {.path = "chip.count", .kind = AP_CEL_INT, .phase = 1},
    {.path = "chip.kind", .kind = AP_CEL_STRING}, {.path = "chip.ecc", .kind = AP_CEL_BOOL}, {.path = "chip.frameworks", .kind = AP_CEL_LIST},
};
static const ap_fact_schema closed = {.facts = facts_table, .count = 5};

static int compile_code(ap_arena *arena, const char *expr, const char **ret_hint)
{
    ap_diags diags;
    ap_diags_init(&diags, arena);
    const ap_cel *cel;
    if (ap_cel_compile(expr, (ap_pos){"r.yaml", 3, 9}, &closed, arena, &diags, &cel) == AP_OK)
        return 0;
    *ret_hint = diags.items[0].hint;
    return diags.items[0].code;
}

static void test_types_are_checked_against_the_schema(void **state)
{
    (void)state;
    static const struct { const char *expr; int code; } rows[] = {
        {"chip.memory_gib < 24.0", 0}, {"chip.memory_gib < 24", 0}, {"chip.memory_gib * 2.0 > 1.0", 0}, {"chip.memory_gib * 2 > 1.0", 604},
        {"chip.memory_gb < 24.0", 602}, {"chips.count > 1", 602}, {"chip.kind == 'gpu'", 0}, {"chip.kind == 3", 604}, {"chip.kind.startWith('g')", 603},
        {"chip.count % 2 == 0", 0}, {"chip.memory_gib % 2.0 == 0.0", 604}, {"chip.ecc && chip.count > 1", 0}, {"chip.count && chip.ecc", 604},
        {"!chip.kind", 604}, {"'pytorch' in chip.frameworks", 0}, {"3 in chip.frameworks", 604}, {"chip.frameworks.exists(f, f == 'jax')", 0},
        {"chip.frameworks.exists(f, f == 1)", 604}, {"chip.kind.matches('(')", 601}, {"has(chip.memory_gib)", 0}, {"has(chip.memory)", 602},
        {"chip.kind < 3", 604}, {"chip.kind + chip.count == 'x'", 604}, {"chip.kind in ['gpu', 'tpu']", 0}, {"chip.count.foo", 602},
        {"double(chip.count) * chip.memory_gib > 80.0", 0}, {"size(chip.count) > 1", 604}, {"chip.ecc ? chip.count > 1 : false", 0}, {"chip.count ? true : false", 604},
    };
    AP_SCOPED_ARENA *arena = ap_arena_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *hint = NULL;
        int code = compile_code(arena, rows[i].expr, &hint);
        if (code != rows[i].code)
            print_error("%s: code %d, expected %d\n", rows[i].expr, code, rows[i].code);
        assert_int_equal(code, rows[i].code);
        if (code == 602 && strstr(rows[i].expr, "memory_gb "))
            assert_non_null(strstr(hint, "chip.memory_gib"));
    }
}

static void test_unknown_facts_are_undecided(void **state)
{
    (void)state;
    static const struct { const char *expr; ap_cel_kind kind; bool value; } rows[] = {
        {"chip.memory_gib < 24.0", AP_CEL_UNKNOWN_FACT, false}, {"chip.memory_gib < 24.0 || chip.count == 8", AP_CEL_BOOL, true},
        {"chip.memory_gib < 24.0 && chip.count == 9", AP_CEL_BOOL, false}, {"chip.memory_gib < 24.0 && chip.count == 8", AP_CEL_UNKNOWN_FACT, false},
        {"has(chip.memory_gib)", AP_CEL_BOOL, false}, {"has(chip.count)", AP_CEL_BOOL, true}, {"has(chip.memory_gib) && chip.memory_gib < 24.0", AP_CEL_BOOL, false},
        {"1 / 0 == 1 || chip.ecc", AP_CEL_UNKNOWN_FACT, false},
    };
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_cel_value values[5];
    ap_facts_unknown(&closed, values);
    values[1] = (ap_cel_value){.kind = AP_CEL_INT, .as.integer = 8};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ap_diags diags;
        ap_diags_init(&diags, arena);
        const ap_cel *cel;
        assert_int_equal(ap_cel_compile(rows[i].expr, (ap_pos){"r", 1, 1}, &closed, arena, &diags, &cel), AP_OK);
        ap_cel_value value = ap_cel_eval(cel, values, NULL, arena);
        assert_int_equal(value.kind, rows[i].kind);
        if (value.kind == AP_CEL_BOOL)
            assert_int_equal(value.as.boolean, rows[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals), cmocka_unit_test(test_strings), cmocka_unit_test(test_int_arithmetic),
        cmocka_unit_test(test_double_arithmetic), cmocka_unit_test(test_comparisons), cmocka_unit_test(test_logic),
        cmocka_unit_test(test_in_and_index), cmocka_unit_test(test_functions), cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_macros), cmocka_unit_test(test_facts), cmocka_unit_test(test_hostile_expressions_are_bounded),
        cmocka_unit_test(test_faults_are_located), cmocka_unit_test(test_types_are_checked_against_the_schema),
        cmocka_unit_test(test_unknown_facts_are_undecided), cmocka_unit_test(test_results_that_explode_are_bounded),
        cmocka_unit_test(test_regular_expressions_are_bounded), cmocka_unit_test(test_failures_of_evaluation_are_located),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
