/* Fit of an engine's constants to measured rows: robust maximum a posteriori.
 *
 * Unknowns are the constants' global values and the deviations by level, all on the constant's own scale; each has a
 * Gaussian prior (prior, sd; level: 0, sd) and the rows a Student-t likelihood of their ln residual. Damped Gauss-Newton
 * from the priors: never from an earlier fit, so that rows left out leave no trace. The Jacobian is numeric in the
 * effective constants of each row and exact from there. */
#ifndef AP_ESTIMATE_FIT_H
#define AP_ESTIMATE_FIT_H

#include "estimate/predict.h"

typedef struct ap_fit ap_fit; /* rows prepared for one engine; lives in the arena given */

typedef struct ap_fit_options {
    int max_iterations;   /* 0 = 45 */
    double tolerance;     /* relative change of the objective, twice in a row, that ends it; 0 = 1e-4 */
    bool trace;           /* one line an iteration on stderr (tool only) */
} ap_fit_options;

/* How the calibration given enters. */
typedef enum ap_fit_start {
    AP_FIT_COLD,  /* constants, priors and levels only; its values and deviations are not read */
    AP_FIT_REFINE /* its values stay fixed and its deviations are the priors of new ones, with half the spread: a user's
                     few rows move what they can speak for, and rows count fully */
} ap_fit_start;

/* Prepares the rows of `engine` among the measures; others and unpredictable ones are left out. */
ap_fit *ap_fit_new(const ap_calibration *calibration, ap_engine engine, ap_fit_start start, const ap_measures *measures,
                   ap_arena *arena);
size_t ap_fit_row_count(const ap_fit *fit);
const ap_measure *ap_fit_row_measure(const ap_fit *fit, size_t row);
size_t ap_fit_param_count(const ap_fit *fit);

/* Fits on rows with use[i] != 0 (NULL = all) and returns the calibrated engine in `arena`: values, deviations with the
 * rows they were fitted on, no intervals. */
const ap_calib_engine *ap_fit_run(const ap_fit *fit, const unsigned char *use, const ap_fit_options *options,
                                  ap_arena *arena);

/* A row further off than this factor is more likely a slip (a unit, a count) or a fault of the run than a fact about the
 * hardware: it moves nothing but the factor of its own job. */
#define AP_FIT_USER_FACTOR 3.0
bool ap_fit_is_far(const ap_calibration *calibration, const ap_measure *measure);

/* A user's overlay from rows of their own, for each engine that has any: refined deviations, and for jobs that were
 * measured themselves a factor of exactly that job (level "job" of the constant "user_scale"). Engines without rows are
 * not in the result. */
const ap_calibration *ap_fit_user(const ap_calibration *calibration, const ap_measures *measures, ap_arena *arena);

/* ln(measured / predicted) as a time or bytes: rates count the other way round. NaN without value. */
double ap_fit_residual(const ap_measure *measure, double predicted);

/* Solves (J'WJ + diag) x = g for sparse rows; dense Cholesky below `dense_limit` unknowns, else conjugate gradients. */
typedef struct ap_sparse_rows {
    size_t row_count, column_count;
    const size_t *starts;      /* row_count + 1 */
    const unsigned *columns;
    const double *values;
} ap_sparse_rows;
void ap_fit_solve(const ap_sparse_rows *jacobian, const double *weights, const double *diagonal, const double *gradient,
                  double *ret_x, ap_arena *scratch);

#endif
