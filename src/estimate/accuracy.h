/* Back-tests: predictions of measured rows against what was measured, with nothing, or with the row's fold, source, chip
 * or model left out of the fit; error figures by group; interval cells from held-out predictions. */
#ifndef AP_ESTIMATE_ACCURACY_H
#define AP_ESTIMATE_ACCURACY_H

#include "estimate/fit.h"

typedef enum ap_holdout { AP_HOLD_NONE, AP_HOLD_ROWS, AP_HOLD_SOURCE, AP_HOLD_CHIP, AP_HOLD_MODEL, AP_HOLD_COUNT } ap_holdout;
extern const char *const ap_holdout_names[]; /* "none" "rows" "source" "chip" "model" */

typedef struct ap_outcome {
    const ap_measure *measure;
    double p10, p50, p90;
    int basis;
    const char *reason;         /* NULL, or why there is no prediction */
    double ln_residual;         /* ln(measured / predicted) of a time or bytes; NaN */
    const char *const *cells;   /* interval cells, most specific first */
    size_t cell_count;
} ap_outcome;

typedef struct ap_outcomes {
    ap_outcome *items;
    size_t count;
} ap_outcomes;

/* Every measure with the calibration as it is (AP_HOLD_NONE), or refitted without the measure's group. */
void ap_accuracy_predict(const ap_calibration *calibration, const ap_measures *measures, ap_arena *arena, ap_outcomes *ret);
/* Only rows of `engine` are predicted when engine >= 0. Groups below 30 rows are left out several at a time. */
void ap_accuracy_holdout(const ap_calibration *calibration, const ap_measures *measures, int engine, ap_holdout mode,
                         const ap_fit_options *options, ap_arena *arena, ap_outcomes *ret);

typedef struct ap_errors { /* fractions; NaN when n is 0 */
    size_t n, skipped;
    double median_ape, mean_ape, p90_ape, bias, coverage_80;
} ap_errors;

/* Over the outcomes with select(outcome, argument) true (NULL = all). Rows without a measured value count as skipped. */
typedef bool ap_outcome_filter(const ap_outcome *outcome, const void *argument);
ap_errors ap_accuracy_errors(const ap_outcomes *outcomes, ap_outcome_filter *select, const void *argument, ap_arena *scratch);

/* Group key of an outcome: by "domain" "metric" "stack" "chip" "source" "model" "quality" "basis" "scale". */
const char *ap_accuracy_group(const ap_outcome *outcome, const char *by);
typedef struct ap_group {
    const char *by, *key;
    ap_errors errors;
} ap_group;
typedef struct ap_groups {
    ap_group *items;
    size_t count;
} ap_groups;
/* Groups by one name, largest first, ties by key. */
void ap_accuracy_groups(const ap_outcomes *outcomes, const char *by, ap_arena *arena, ap_groups *ret);

/* How often the predicted-best of comparable runs is within 5 % of the measured best. Comparable: same model, metric,
 * source, precision and sequence; layouts: same chip and count; chips: same count. */
typedef struct ap_ranking {
    size_t groups;
    double within_5; /* share of groups; NaN */
    double mean_regret; /* mean of measured best / measured of predicted best - 1 */
} ap_ranking;
ap_ranking ap_accuracy_ranking(const ap_outcomes *outcomes, bool chips, ap_arena *scratch);

/* Interval cells from held-out outcomes of several modes: weighted 10 % and 90 % quantiles, widened for few rows, cells
 * with too few rows or sources dropped. `half` 0 or 1 uses only half of the runs (to judge coverage on the other half),
 * -1 all. */
typedef struct ap_pool {
    const ap_outcomes *outcomes;
    double weight;
} ap_pool;
void ap_accuracy_intervals(const ap_pool *pools, size_t count, int half, ap_arena *arena, ap_calib_engine *engine);
/* Which half a measure is in. */
int ap_accuracy_half(const ap_measure *measure);
/* Puts the bands of `engine` on outcomes (p10, p90 from p50). */
void ap_accuracy_apply(const ap_calib_engine *engine, ap_outcomes *outcomes, int half);

#endif
