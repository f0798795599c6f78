/* What a running job has cost, when it will be done, and when it must stop. Pure: time comes in, words go out. */
#ifndef AP_EMIT_WATCH_H
#define AP_EMIT_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/status.h"
#include "base/str.h"

typedef struct ap_watch {
    double usd_per_h;              /* NaN: only the deadline counts */
    double budget_usd, deadline_s; /* NaN = none */
    double done, total;            /* steps seen and wanted, NaN unknown */
    double first_done, first_s;    /* where counting began: a restart does not begin at 0 */
    bool warned, warned_end;
} ap_watch;

void ap_watch_init(ap_watch *watch, double usd_per_h, double budget_usd, double deadline_s, double total);
/* Seconds after which the job must stop: the nearer of budget and deadline; NaN when there is no limit. */
double ap_watch_limit_s(const ap_watch *watch);
double ap_watch_cost_usd(const ap_watch *watch, double elapsed_s);
/* Seconds at which the last step is done, at the speed so far; NaN unknown. */
double ap_watch_end_s(const ap_watch *watch, double elapsed_s);
void ap_watch_step(ap_watch *watch, double elapsed_s, double done, double total);
/* One line: time, cost, share of the limit, step, projected end. */
void ap_watch_say(const ap_watch *watch, double elapsed_s, ap_sbuf *out);
/* A warning that is due now and was not given before: 80 % of the limit is used, or the projected end lies behind it.
 * False: nothing to say. */
bool ap_watch_warn(ap_watch *watch, double elapsed_s, ap_sbuf *out);

/* Reads step counters out of a log by a regular expression: group 1 is the step, group 2, if there is one, the number
 * of steps. Lines end in \n or \r; longer ones than 4 KiB are cut. */
typedef struct ap_progress ap_progress;
/* NULL with AP_USAGE and a diagnostic (0852) when the expression cannot be compiled or has no group. */
AP_CHECKED ap_status ap_progress_new(const char *pattern, ap_arena *arena, ap_diags *diags, ap_progress **ret);
void ap_progress_free(ap_progress *progress);
/* True when a step was found in the bytes; the last one counts. `stream` 0 or 1: two texts that are read by turns. */
bool ap_progress_feed(ap_progress *progress, int stream, const char *bytes, size_t len, double *ret_done,
                      double *ret_total);

#endif
