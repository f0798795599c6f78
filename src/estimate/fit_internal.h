/* What the fit knows about its rows: shared by fit_prepare.c (builds it) and fit.c (uses it). */
#ifndef AP_ESTIMATE_FIT_INTERNAL_H
#define AP_ESTIMATE_FIT_INTERNAL_H

#include "estimate/fit.h"

typedef struct ap_fit_unknown { /* one free number */
    double mean, sd, low, high; /* prior and bounds on the link scale */
    int scale;
} ap_fit_unknown;

typedef struct ap_fit_level { /* one level of one constant */
    const ap_calib_by *by;
    const char **keys; /* sorted */
    size_t count;
    unsigned first; /* unknown of keys[0] */
} ap_fit_level;

typedef struct ap_fit_const {
    const ap_calib_const *from; /* NULL: not in the data, stays NaN */
    int global;                 /* unknown, -1 when fixed */
    ap_fit_level *levels;
    size_t level_count;
} ap_fit_const;

typedef struct ap_fit_row {
    const ap_measure *measure;
    ap_est_context context;
    ap_engine_keys keys;
    ap_layout layout;
    double target; /* ln of the measured time or bytes */
    double weight, sigma;
    const unsigned *unknowns; /* of all constants, one after the other */
    const unsigned *starts;   /* per constant, count + 1 */
    unsigned char *active;    /* per constant: does it act on this row? */
    const double *fixed;      /* per constant: sum of its deviations by rule (levels of sd 0), link scale */
} ap_fit_row;

struct ap_fit {
    const ap_calibration *calibration;
    const ap_calib_engine *structure;
    const ap_engine_ops *ops;
    ap_arena *arena;
    bool refine;
    ap_fit_const *constants;
    size_t constant_count;
    ap_fit_unknown *unknowns;
    size_t unknown_count;
    ap_fit_row **rows;
    size_t row_count;
    ap_sparse_rows pattern;
};

/* ln of the predicted time or bytes of a row whose consts are set; NaN when there is no prediction. */
double ap_fit_predict_ln(const ap_fit *fit, ap_fit_row *row, const ap_layout *layout, ap_estimate *estimate);
/* Value that a constant has where the fit does not move it. */
double ap_fit_start_value(const ap_fit *fit, const ap_calib_const *from);

#endif
