/* The guard's arithmetic and its reading of logs. */
#include "base/num.h"
#include "emit/watch.h"
#include "testing.h"

/* 200 USD at 50 USD/h last four hours. */
static void limit_is_the_nearer_one(void **state)
{
    (void)state;
    ap_watch watch;
    ap_watch_init(&watch, 50, 200, AP_UNKNOWN, AP_UNKNOWN);
    assert_same(ap_watch_limit_s(&watch), 14400);
    assert_same(ap_watch_cost_usd(&watch, 7200), 100);
    watch.deadline_s = 3600;
    assert_same(ap_watch_limit_s(&watch), 3600);
    ap_watch_init(&watch, AP_UNKNOWN, AP_UNKNOWN, 60, AP_UNKNOWN);
    assert_same(ap_watch_limit_s(&watch), 60);
    ap_watch_init(&watch, 0, 10, AP_UNKNOWN, AP_UNKNOWN);
    assert_same(ap_watch_limit_s(&watch), AP_UNKNOWN);
}

/* Step 100 at 10 s, 300 at 30 s: 10 steps a second; 700 more take 70 s. A restart at step 0 counts anew. */
static void end_follows_from_the_speed(void **state)
{
    (void)state;
    ap_watch watch;
    ap_watch_init(&watch, 36, 1000, AP_UNKNOWN, 1000);
    assert_same(ap_watch_end_s(&watch, 5), AP_UNKNOWN);
    ap_watch_step(&watch, 10, 100, AP_UNKNOWN);
    assert_same(ap_watch_end_s(&watch, 10), AP_UNKNOWN);
    ap_watch_step(&watch, 30, 300, AP_UNKNOWN);
    assert_same(ap_watch_end_s(&watch, 30), 100);
    ap_watch_step(&watch, 40, 0, 500);
    assert_same(ap_watch_end_s(&watch, 40), AP_UNKNOWN);
    ap_watch_step(&watch, 50, 100, 500);
    assert_same(ap_watch_end_s(&watch, 50), 90);
}

static void it_warns_once(void **state)
{
    ap_watch watch;
    ap_sbuf out;
    ap_sbuf_init(&out, *state);
    ap_watch_init(&watch, 10, AP_UNKNOWN, 100, 1000);
    assert_false(ap_watch_warn(&watch, 79, &out));
    assert_true(ap_watch_warn(&watch, 80, &out));
    assert_non_null(strstr(out.text, "80 %"));
    assert_false(ap_watch_warn(&watch, 81, &out));
    ap_watch_init(&watch, 10, AP_UNKNOWN, 100, 1000);
    ap_watch_step(&watch, 1, 0, AP_UNKNOWN);
    ap_watch_step(&watch, 11, 10, AP_UNKNOWN);
    assert_true(ap_watch_warn(&watch, 11, &out));
    assert_non_null(strstr(out.text, "at this speed"));
    assert_false(ap_watch_warn(&watch, 12, &out));
}

static void steps_are_found_in_pieces(void **state)
{
    ap_arena *arena = *state;
    ap_diags diags;
    ap_diags_init(&diags, arena);
    ap_progress *progress;
    double done = 0, total = 0;
    assert_int_equal(ap_progress_new("step (\\d[\\d,]*)/(\\d+)", arena, &diags, &progress), AP_OK);
    assert_false(ap_progress_feed(progress, 0, "loss 1\nste", 10, &done, &total));
    assert_false(ap_progress_feed(progress, 1, "noise\n", 6, &done, &total));
    assert_false(ap_progress_feed(progress, 0, "p 1,200/500", 11, &done, &total));
    assert_true(ap_progress_feed(progress, 0, "0\r", 2, &done, &total));
    assert_same(done, 1200);
    assert_same(total, 5000);
    ap_progress_free(progress);
}

static void bad_expressions_are_refused(void **state)
{
    ap_arena *arena = *state;
    ap_diags diags;
    ap_progress *progress;
    ap_diags_init(&diags, arena);
    assert_int_equal(ap_progress_new("step (", arena, &diags, &progress), AP_USAGE);
    assert_int_equal(ap_progress_new("step \\d+", arena, &diags, &progress), AP_USAGE);
    assert_int_equal(diags.count, 2);
    assert_int_equal(diags.items[0].code, 852);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(limit_is_the_nearer_one),   arena_test(end_follows_from_the_speed),  arena_test(it_warns_once),
        arena_test(steps_are_found_in_pieces), arena_test(bad_expressions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
