/* The whole bill, spot with interruptions, and own machine against rent. Expected values are worked out by hand. */
#include "testing.h"

#include "base/num.h"
#include "plan/breakeven.h"
#include "plan/plan.h"

static void test_rate_of_a_month(void **state)
{
    (void)state;
    /* 5 % in a month of 730 h: -ln(0.95) / 730 */
    assert_near(ap_bill_rate_of_month(0.05), 0.05129329438755 / 730, 1e-9);
}

static void test_interruptions_with_checkpoints(void **state)
{
    (void)state;
    /* one in 100 hours costs half an hour: 1 - 0.005 of each hour stays */
    assert_near(ap_bill_interrupted_h(100, 0.01, 0.5, 0.25), 100.502512562814, 1e-9);
    assert_same(ap_bill_interrupted_h(100, 0, 0.5, 0.25), 100);
    assert_true(isinf(ap_bill_interrupted_h(100, 2, 0.5, 0.25))); /* loses what it gains */
}

static void test_interruptions_without_checkpoints(void **state)
{
    (void)state;
    /* (e^1 - 1) x (10 + 0.25) */
    assert_near(ap_bill_interrupted_h(10, 0.1, AP_UNKNOWN, 0.25), 1.718281828459045 * 10.25, 1e-12);
    assert_true(isinf(ap_bill_interrupted_h(1000, 0.1, AP_UNKNOWN, 0.25)));
}

static ap_run_estimate run_of(double hours)
{
    return (ap_run_estimate){.hours_p10 = hours / 2, .hours_p50 = hours, .hours_p90 = hours * 2};
}

static double sum_of(const ap_bill *bill)
{
    double sum = 0;
    for (int i = 0; i < AP_BILL_COUNT; i++)
        sum += bill->usd[i];
    return sum;
}

static void test_bill_by_the_hour(void **state)
{
    (void)state;
    ap_bill_terms terms = {
        .billing_step_s = 3600, .billing_least_s = AP_UNKNOWN, .storage_usd_per_h = 0.5, .egress_usd = 7};
    ap_run_estimate run = run_of(4.25);
    ap_bill bill;
    ap_bill_compute(&terms, &run, 0.25, 2, &bill);
    /* 4.25 + 0.25 = 4.5 h, billed as 5; storage for 4.5 h */
    assert_near(bill.usd[AP_BILL_COMPUTE], 8.5, 1e-12);
    assert_near(bill.usd[AP_BILL_BOOT], 0.5, 1e-12);
    assert_near(bill.usd[AP_BILL_ROUNDING], 1, 1e-12);
    assert_near(bill.usd[AP_BILL_STORAGE], 2.25, 1e-12);
    assert_near(bill.cost[1], 10 + 2.25 + 7, 1e-12);
    assert_near(sum_of(&bill), bill.cost[1], 1e-12);
}

static void test_bill_has_a_minimum(void **state)
{
    (void)state;
    ap_bill_terms terms = {.billing_step_s = 1, .billing_least_s = 60};
    ap_run_estimate run = run_of(0.005); /* 18 s */
    ap_bill bill;
    ap_bill_compute(&terms, &run, 0, 36, &bill);
    assert_near(bill.cost[1], 0.6, 1e-9); /* 60 s at 0.01 USD */
}

static void test_spot_bill_adds_up(void **state)
{
    (void)state;
    ap_bill_terms terms = {
        .billing_step_s = AP_UNKNOWN, .billing_least_s = AP_UNKNOWN, .interruptions_per_h = 0.01, .lost_h = 0.5};
    ap_run_estimate run = run_of(100);
    ap_bill bill;
    ap_bill_compute(&terms, &run, 0, 1, &bill);
    assert_near(bill.extra_h, 0.502512562814, 1e-9);
    assert_near(bill.interruptions, 1.00502512562814, 1e-9);
    assert_near(sum_of(&bill), bill.cost[1], 1e-12);
    assert_true(bill.cost[0] < bill.cost[1] && bill.cost[1] < bill.cost[2]);
}

static void test_unknown_price_gives_no_bill(void **state)
{
    (void)state;
    ap_bill_terms terms = {.billing_step_s = AP_UNKNOWN, .billing_least_s = AP_UNKNOWN};
    ap_run_estimate run = run_of(10);
    ap_bill bill;
    ap_bill_compute(&terms, &run, 0, AP_UNKNOWN, &bill);
    assert_true(isnan(bill.cost[1]));
    ap_bill_compute(&terms, &run, 0, 0, &bill); /* free is not unknown */
    assert_same(bill.cost[1], 0);
}

static const ap_breakeven_input usual = {.rig_run_h = 12,
                                         .cloud_run_usd = 6,
                                         .price_usd = 1200,
                                         .years = 3,
                                         .resale = 0.3,
                                         .electricity_usd_per_h = 0.0884,
                                         .hours_per_week = 40};

static void test_breakeven(void **state)
{
    (void)state;
    ap_breakeven b = ap_breakeven_of(&usual);
    /* wear 1200 x 0.7 / (3 x 52.18) = 5.36604 a week; rent 0.5 an hour, 0.4116 saved an hour */
    assert_near(b.hours_per_week, 5.366040628 / 0.4116, 1e-6);
    /* 0.4116 x 40 h x 52.18 / 12 = 71.5909 a month */
    assert_near(b.payback_months, 1200 / 71.59096, 1e-5);
    /* a run: 12 h x (0.0884 + 5.36604 / 40) */
    assert_near(b.rig_run_usd, 12 * (0.0884 + 5.366040628 / 40), 1e-6);
    assert_null(b.never);
}

static void test_breakeven_never(void **state)
{
    (void)state;
    ap_breakeven_input input = usual;
    input.cloud_run_usd = 1; /* 0.083 an hour, less than the electricity */
    assert_true(isnan(ap_breakeven_of(&input).hours_per_week));
    assert_non_null(ap_breakeven_of(&input).never);
    input.cloud_run_usd = 1.2; /* 0.1 an hour: 5.37 / 0.0116 = 463 hours a week */
    assert_true(isnan(ap_breakeven_of(&input).hours_per_week));
    assert_non_null(ap_breakeven_of(&input).never);
    input.cloud_run_usd = AP_UNKNOWN;
    assert_non_null(ap_breakeven_of(&input).never);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_of_a_month),
        cmocka_unit_test(test_interruptions_with_checkpoints),
        cmocka_unit_test(test_interruptions_without_checkpoints),
        cmocka_unit_test(test_bill_by_the_hour),
        cmocka_unit_test(test_bill_has_a_minimum),
        cmocka_unit_test(test_spot_bill_adds_up),
        cmocka_unit_test(test_unknown_price_gives_no_bill),
        cmocka_unit_test(test_breakeven),
        cmocka_unit_test(test_breakeven_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
