/* The one number parser and printer (PITFALLS N1-N3). */
#include "testing.h"

#include <float.h>
#include <stdlib.h>

#include "base/num.h"

static void accepts(const char *text, double expected)
{
    double value = -1;
    if (!ap_num_parse(text, &value))
        fail_msg("'%s' was refused", text);
    assert_same(value, expected);
}

static void test_plain_numbers(void **state)
{
    (void)state;
    accepts("0", 0);
    accepts("42", 42);
    accepts("-1", -1);
    accepts("1.5", 1.5);
    accepts("1e3", 1000);
    accepts("2.5E-3", 0.0025);
    accepts("1e+2", 100);
    accepts("0123", 123); /* never octal */
    accepts("9007199254740992", 9007199254740992.0);
}

static void test_values_are_rounded_correctly(void **state)
{
    (void)state; /* hexadecimal literals: the nearest doubles by definition */
    accepts("0.1", 0x1.999999999999ap-4);
    accepts("0.3", 0x1.3333333333333p-2);
    accepts("1.7976931348623157e308", DBL_MAX);
    accepts("2.2250738585072014e-308", DBL_MIN);
    accepts("5e-324", 0x1p-1074);
    accepts("123456789012345678901234567890", 0x1.8ee90ff6c373ep+96);
    accepts("3.35", 0x1.acccccccccccdp+1);
    accepts("1e23", 0x1.52d02c7e14af6p+76);
}

static void test_everything_else_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     " 1",    "1 ",       "0x10",  "nan",  "inf",    "NaN",
                                      "-inf", "1e400", "-1e400",   "1_000", "80GB", "+1",     ".5",
                                      "1.",   "1e",    "1e+",      "--1",   "1,5",  "1.5.2",  "1d3",
                                      "0b1",  "1 000", "infinity", "-",     "e5",   "1e-400", "\xD9\xA1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 7;
        if (ap_num_parse(bad[i], &value))
            fail_msg("'%s' was taken as %g", bad[i], value);
        assert_same(value, 7); /* untouched */
    }
    double value;
    assert_false(ap_num_parse(NULL, &value));
}

static void test_prefix_ends_where_the_number_ends(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
        const char *rest;
    } cases[] = {{"80GB", 80, "GB"},   {"1..8", 1, "..8"}, {"2h30m", 2, "h30m"}, {"1.5e3x", 1500, "x"},
                 {"2eggs", 2, "eggs"}, {"0x10", 0, "x10"}, {"5e-", 5, "e-"},     {"7.", 7, "."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value;
        const char *end;
        assert_true(ap_num_parse_prefix(cases[i].text, &value, &end));
        assert_same(value, cases[i].value);
        assert_string_equal(end, cases[i].rest);
    }
}

static void prints(double value, const char *expected)
{
    char text[32];
    ap_num_format(value, text);
    assert_string_equal(text, expected);
}

static void test_printing(void **state)
{
    (void)state;
    prints(0, "0");
    prints(-0.0, "0");
    prints(80e9, "80000000000");
    prints(0.1, "0.1");
    prints(0.1 + 0.2, "0.30000000000000004");
    prints(1.0 / 3, "0.3333333333333333");
    prints(1234567890123460, "1234567890123460"); /* C4: ends in 0, 16 digits */
    prints(9007199254740991.0, "9007199254740991");
    prints(-2.5, "-2.5");
    prints(DBL_MAX, "1.7976931348623157e+308");
}

static void test_printing_for_people(void **state)
{
    (void)state;
    static const struct {
        double value;
        int digits;
        const char *expected;
    } cases[] = {{1234.5, 3, "1230"}, {0.045123, 3, "0.0451"}, {2.5, 3, "2.5"}, {999.9, 3, "1000"}, {1e-7, 2, "1e-07"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        ap_num_format_digits(cases[i].value, cases[i].digits, text);
        assert_string_equal(text, cases[i].expected);
    }
}

/* xorshift64*: the same numbers on every machine. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static void test_random_doubles_survive_print_and_parse(void **state)
{
    (void)state;
    uint64_t seed = 20240607;
    for (int i = 0; i < 300000; i++) {
        uint64_t bits = next_random(&seed);
        double value, back = -1;
        if (i % 2)
            memcpy(&value, &bits, sizeof value);
        else
            value = (double)(bits >> 11) * 0x1p-53 * 1000;
        if (!isfinite(value))
            continue;
        char text[32];
        ap_num_format(value, text);
        if (!ap_num_parse(text, &back))
            fail_msg("'%s' cannot be read back", text);
        assert_same(back, value);
    }
}

/* The short way for exact mantissas must agree with the C library. */
static void test_parser_agrees_with_strtod(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        uint64_t r = next_random(&seed);
        snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(r % 100000), (unsigned long long)(r >> 40),
                 (int)(next_random(&seed) % 50) - 25);
        double value = -1;
        assert_true(ap_num_parse(text, &value));
        assert_same(value, strtod(text, NULL));
    }
}

static void test_nan_is_nan(void **state)
{
    (void)state; /* M4: breaks under -ffast-math */
    assert_true(isnan(AP_UNKNOWN));
    assert_false(ap_known(AP_UNKNOWN));
    assert_same(ap_or(AP_UNKNOWN, 3), 3);
    assert_same(ap_or(2, 3), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_numbers),
        cmocka_unit_test(test_values_are_rounded_correctly),
        cmocka_unit_test(test_everything_else_is_refused),
        cmocka_unit_test(test_prefix_ends_where_the_number_ends),
        cmocka_unit_test(test_printing),
        cmocka_unit_test(test_printing_for_people),
        cmocka_unit_test(test_random_doubles_survive_print_and_parse),
        cmocka_unit_test(test_parser_agrees_with_strtod),
        cmocka_unit_test(test_nan_is_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
