/* Quantities with units, ranges, and how they are printed. */
#include "testing.h"

#include "base/num.h"
#include "base/units.h"

static void accepts(ap_arena *arena, const char *text, ap_dim dim, double expected)
{
    double value = -1;
    const char *reason = "";
    if (!ap_units_parse(text, dim, &value, arena, &reason))
        fail_msg("'%s' was refused: %s", text, reason);
    assert_near(value, expected, 1e-15);
}

static void refuses(ap_arena *arena, const char *text, ap_dim dim, const char *said)
{
    double value = 7;
    const char *reason = NULL;
    if (ap_units_parse(text, dim, &value, arena, &reason))
        fail_msg("'%s' was taken as %g", text, value);
    assert_non_null(reason);
    if (!strstr(reason, said))
        fail_msg("'%s': the reason '%s' does not say '%s'", text, reason, said);
}

static void test_sizes(void **state)
{
    accepts(*state, "80GB", AP_DIM_BYTES, 80e9);
    accepts(*state, "80 GB", AP_DIM_BYTES, 80e9);
    accepts(*state, "80gb", AP_DIM_BYTES, 80e9);
    accepts(*state, "80GiB", AP_DIM_BYTES, 85899345920.0);
    accepts(*state, "1.5TiB", AP_DIM_BYTES, 1649267441664.0);
    accepts(*state, "512MiB", AP_DIM_MEMORY, 536870912);
    accepts(*state, "12B", AP_DIM_BYTES, 12);
    accepts(*state, "1kB", AP_DIM_BYTES, 1000);
    accepts(*state, "0", AP_DIM_BYTES, 0);
}

static void test_bits_are_no_bytes(void **state)
{
    refuses(*state, "80Gb", AP_DIM_BYTES, "unknown unit 'Gb'");
    refuses(*state, "100Gbps", AP_DIM_BYTES, "unknown unit 'Gbps'");
    accepts(*state, "100Gbps", AP_DIM_BYTES_PER_S, 12.5e9);
    accepts(*state, "100 Gbit/s", AP_DIM_BYTES_PER_S, 12.5e9);
    accepts(*state, "100 Gb/s", AP_DIM_BYTES_PER_S, 12.5e9);
    accepts(*state, "100 GB/s", AP_DIM_BYTES_PER_S, 100e9);
    accepts(*state, "3.35 TB/s", AP_DIM_BYTES_PER_S, 3.35e12);
    accepts(*state, "400gbps", AP_DIM_BYTES_PER_S, 50e9);
    refuses(*state, "100 gb/s", AP_DIM_BYTES_PER_S, "unknown unit"); /* could be bits or bytes */
}

static void test_durations(void **state)
{
    accepts(*state, "24h", AP_DIM_SECONDS, 86400);
    accepts(*state, "2h30m", AP_DIM_SECONDS, 9000);
    accepts(*state, "1d12h", AP_DIM_SECONDS, 129600);
    accepts(*state, "1d 12h 5min", AP_DIM_SECONDS, 129900);
    accepts(*state, "45 min", AP_DIM_SECONDS, 2700);
    accepts(*state, "340ms", AP_DIM_SECONDS, 0.34);
    accepts(*state, "1w", AP_DIM_SECONDS, 604800);
    accepts(*state, "1.5 hours", AP_DIM_SECONDS, 5400);
    accepts(*state, "30d", AP_DIM_SECONDS, 2592000);
    refuses(*state, "24", AP_DIM_SECONDS, "'24' has no unit; expected a duration such as 24h");
    refuses(*state, "2h30", AP_DIM_SECONDS, "not a duration");
    refuses(*state, "30m2h", AP_DIM_SECONDS, "2h"); /* sums go from large to small */
    refuses(*state, "1h1h", AP_DIM_SECONDS, "1h");
    refuses(*state, "2 fortnights", AP_DIM_SECONDS, "unknown unit 'fortnights'");
}

static void test_counts_and_tokens(void **state)
{
    accepts(*state, "64", AP_DIM_COUNT, 64);
    accepts(*state, "1.5B", AP_DIM_COUNT, 1.5e9);
    accepts(*state, "200M", AP_DIM_COUNT, 200e6);
    accepts(*state, "7b", AP_DIM_COUNT, 7e9);
    accepts(*state, "10k", AP_DIM_COUNT, 10000);
    accepts(*state, "4M tokens", AP_DIM_TOKENS, 4e6);
    accepts(*state, "15T", AP_DIM_TOKENS, 15e12);
    accepts(*state, "300 B tokens", AP_DIM_TOKENS, 300e9);
    accepts(*state, "1000 tokens", AP_DIM_TOKENS, 1000);
    refuses(*state, "4M apples", AP_DIM_TOKENS, "unknown unit 'M apples'");
}

static void test_other_dimensions(void **state)
{
    accepts(*state, "989 TFLOPS", AP_DIM_FLOP_PER_S, 989e12);
    accepts(*state, "1.2 PFLOP/s", AP_DIM_FLOP_PER_S, 1.2e15);
    accepts(*state, "1979 TOPS", AP_DIM_FLOP_PER_S, 1979e12);
    accepts(*state, "700W", AP_DIM_WATTS, 700);
    accepts(*state, "1.2kW", AP_DIM_WATTS, 1200);
    accepts(*state, "5MW", AP_DIM_WATTS, 5e6);
    accepts(*state, "5mW", AP_DIM_WATTS, 0.005);
    refuses(*state, "5mw", AP_DIM_WATTS, "unknown unit 'mw'");
    accepts(*state, "$12.50", AP_DIM_USD, 12.5);
    accepts(*state, "12.5 USD", AP_DIM_USD, 12.5);
    accepts(*state, "200", AP_DIM_USD, 200);
    accepts(*state, "$2.50/h", AP_DIM_USD_PER_H, 2.5);
    accepts(*state, "2.5", AP_DIM_USD_PER_H, 2.5);
    accepts(*state, "0.12 USD/kWh", AP_DIM_USD_PER_KWH, 0.12);
    accepts(*state, "380 gCO2eq/kWh", AP_DIM_G_PER_KWH, 380);
    accepts(*state, "1.98 GHz", AP_DIM_HZ, 1.98e9);
    accepts(*state, "1410MHz", AP_DIM_HZ, 1.41e9);
    accepts(*state, "25%", AP_DIM_FRACTION, 0.25);
    accepts(*state, "0.25", AP_DIM_FRACTION, 0.25);
    accepts(*state, "-3", AP_DIM_NONE, -3);
}

static void test_bad_quantities_say_what_is_expected(void **state)
{
    refuses(*state, "", AP_DIM_BYTES, "empty value; expected a size");
    refuses(*state, "lots", AP_DIM_BYTES, "'lots' is not a size");
    refuses(*state, "80", AP_DIM_BYTES, "has no unit");
    refuses(*state, "80GBB", AP_DIM_BYTES, "unknown unit 'GBB'");
    refuses(*state, "1.5.2GB", AP_DIM_BYTES, "unknown unit");
    refuses(*state, "1e999GB", AP_DIM_BYTES, "is not");
    refuses(*state, "0x10", AP_DIM_NONE, "is not a number");
    refuses(*state, "nan", AP_DIM_NONE, "is not a number");
    refuses(*state, "1_000", AP_DIM_COUNT, "unknown unit '_000'");
    refuses(*state, "1,5", AP_DIM_NONE, "is not a number");
}

static void in_range(ap_arena *arena, const char *text, ap_dim dim, double low, double high)
{
    ap_range range;
    const char *reason = "";
    if (!ap_range_parse(text, dim, &range, arena, &reason))
        fail_msg("'%s' was refused: %s", text, reason);
    assert_near(range.low, low, 1e-15);
    assert_near(range.high, high, 1e-15);
}

static void test_ranges(void **state)
{
    in_range(*state, "1..8", AP_DIM_COUNT, 1, 8);
    in_range(*state, "8", AP_DIM_COUNT, 8, 8);
    in_range(*state, ">=4", AP_DIM_COUNT, 4, AP_UNKNOWN);
    in_range(*state, "<= 4", AP_DIM_COUNT, AP_UNKNOWN, 4);
    in_range(*state, "4..", AP_DIM_COUNT, 4, AP_UNKNOWN);
    in_range(*state, "1.5 .. 2.5", AP_DIM_NONE, 1.5, 2.5);
    in_range(*state, "10GB..20GB", AP_DIM_BYTES, 10e9, 20e9);
    in_range(*state, "10..20GB", AP_DIM_BYTES, 10e9, 20e9);
    in_range(*state, "1h..1d", AP_DIM_SECONDS, 3600, 86400);
}

/* Vendors' "40 GB" cards hold 40 GiB = 42,949,672,960 bytes. */
static void test_card_of_forty_gib_passes_forty_gb(void **state)
{
    const double card = 42949672960.0;
    ap_range range;
    const char *reason;
    assert_true(ap_range_parse("..40GB", AP_DIM_MEMORY, &range, *state, &reason));
    assert_true(ap_range_contains(range, card));
    assert_true(ap_range_parse("40GB", AP_DIM_MEMORY, &range, *state, &reason));
    assert_true(ap_range_contains(range, card));
    assert_true(ap_range_parse("40GB..", AP_DIM_MEMORY, &range, *state, &reason));
    assert_true(ap_range_contains(range, card));
    assert_true(ap_range_parse("..24GB", AP_DIM_MEMORY, &range, *state, &reason));
    assert_false(ap_range_contains(range, card));
    assert_true(ap_range_parse("..40GB", AP_DIM_BYTES, &range, *state, &reason)); /* plain bytes stay exact */
    assert_false(ap_range_contains(range, card));
}

static void test_bad_ranges(void **state)
{
    static const struct {
        const char *text, *said;
    } cases[] = {{"8..1", "above the upper bound"},
                 {"..", "empty range"},
                 {"", "empty range"},
                 {"a..b", "is not"},
                 {">4", "inclusive"},
                 {"1...8", "is not"},
                 {"1-8", "unknown unit"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ap_range range;
        const char *reason = NULL;
        assert_false(ap_range_parse(cases[i].text, AP_DIM_COUNT, &range, *state, &reason));
        if (!strstr(reason, cases[i].said))
            fail_msg("'%s': '%s' does not say '%s'", cases[i].text, reason, cases[i].said);
    }
}

static void test_unknown_passes_only_the_open_range(void **state)
{
    (void)state;
    assert_true(ap_range_contains((ap_range){AP_UNKNOWN, AP_UNKNOWN}, AP_UNKNOWN));
    assert_false(ap_range_contains((ap_range){1, AP_UNKNOWN}, AP_UNKNOWN));
    assert_true(ap_range_contains((ap_range){AP_UNKNOWN, AP_UNKNOWN}, 5));
    assert_true(ap_range_contains((ap_range){1, 8}, 1));
    assert_true(ap_range_contains((ap_range){1, 8}, 8));
    assert_false(ap_range_contains((ap_range){1, 8}, 8.5));
}

static void test_printing_for_people(void **state)
{
    static const struct {
        double value;
        ap_dim dim;
        const char *expected;
    } cases[] = {
        {85899345920.0, AP_DIM_BYTES, "80 GiB"},
        {3.35e12, AP_DIM_BYTES_PER_S, "3.35 TB/s"},
        {9000, AP_DIM_SECONDS, "2.5 h"},
        {1.5e9, AP_DIM_COUNT, "1.5 B"},
        {0.34, AP_DIM_SECONDS, "340 ms"},
        {129600, AP_DIM_SECONDS, "36 h"},
        {604800, AP_DIM_SECONDS, "7 d"},
        {989e12, AP_DIM_FLOP_PER_S, "989 TFLOP/s"},
        {700, AP_DIM_WATTS, "700 W"},
        {12.5, AP_DIM_USD, "$12.5"},
        {0.25, AP_DIM_FRACTION, "25%"},
        {8, AP_DIM_COUNT, "8"},
        {AP_UNKNOWN, AP_DIM_BYTES, "unknown"},
        {0, AP_DIM_BYTES, "0 B"},
        {15e12, AP_DIM_TOKENS, "15 T tokens"},
        {1.41e9, AP_DIM_HZ, "1.41 GHz"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ap_sbuf out;
        ap_sbuf_init(&out, *state);
        ap_units_format(cases[i].value, cases[i].dim, &out);
        assert_string_equal(out.text, cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_sizes),
        arena_test(test_bits_are_no_bytes),
        arena_test(test_durations),
        arena_test(test_counts_and_tokens),
        arena_test(test_other_dimensions),
        arena_test(test_bad_quantities_say_what_is_expected),
        arena_test(test_ranges),
        arena_test(test_card_of_forty_gib_passes_forty_gb),
        arena_test(test_bad_ranges),
        arena_test(test_unknown_passes_only_the_open_range),
        arena_test(test_printing_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
