/* Calibration: the constants of the formulas, as data (data/calibration/ENGINE.yaml), never in C.
 *
 * A constant has a global value and deviations by level: an effective constant is
 *     log scale:    value * exp(sum of deviations)
 *     linear scale: value + sum of deviations
 *     logit scale:  logistic(logit(value) + sum)
 * over the levels the constant varies by. An unseen key has deviation 0: the data sheet. Every level has a prior sd, so a
 * fit shrinks. No key is ever a row, a batch or a chip count. */
#ifndef AP_ESTIMATE_CALIBRATION_H
#define AP_ESTIMATE_CALIBRATION_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/status.h"
#include "schema/schema.h"

#define AP_CALIB_MAX_CONSTS 96
#define AP_CALIB_MAX_LEVELS 40

typedef enum ap_scale { AP_SCALE_LOG, AP_SCALE_LINEAR, AP_SCALE_LOGIT } ap_scale;

typedef struct ap_deviation {
    const char *key;
    double value;
    double rows; /* rows it was fitted on */
} ap_deviation;

typedef struct ap_calib_by {
    const char *level; /* "generation" "chip" "family" "stack" "model" "arch" … names are the engine's */
    double sd;
    AP_LIST(ap_deviation) values; /* sorted by key */
} ap_calib_by;

typedef struct ap_calib_const {
    const char *id;
    double value, prior, sd, low, high;
    int scale;
    const char *formula, *doc, *source;
    AP_LIST(ap_calib_by) by;
    ap_pos pos; /* where it was read */
} ap_calib_const;

typedef struct ap_calib_cell { /* quantiles of ln(measured/predicted) of a time or of bytes, held-out predictions */
    const char *key;           /* "thr|transferred|1|pre" */
    double low, high;          /* 10 % and 90 % */
    double rows, sources;
} ap_calib_cell;

typedef struct ap_calib_fitted {
    double rows, sources;
    const char *as_of;
    const char *doc;
} ap_calib_fitted;

typedef struct ap_calib_engine {
    const char *engine;        /* "llm" "dl" "tree" "env" */
    /* How rows count in the fit; NaN = the fitter's default. Scales of a row's residual in ln units (rates and steps,
     * memory, whole runs); exponent that damps large sources (weight n^-p); mean weight of a row against the priors. */
    double sigma, sigma_memory, sigma_run, source_power, row_weight, band_sources;
    AP_LIST(ap_calib_const) constants;
    AP_LIST(ap_calib_cell) intervals; /* sorted by key */
    ap_calib_fitted fitted_on;
    ap_strings known; /* sorted: what occurred together in the fit, "s|MODEL|STACK|CHIP" and pairs with * (see novelty) */
} ap_calib_engine;

typedef struct ap_calibration {
    AP_LIST(ap_calib_engine) engines; /* find with ap_calibration_engine */
    ap_arena *arena;
} ap_calibration;

extern const char *const ap_scale_names[];
#define AP_CALIB_WIDEST 0.693147 /* half-width (ln 2) of the band where nothing was ever measured */

extern const ap_object ap_calib_engine_object;

/* The compiled-in calibration, or from YAML; overlay adds a user's deviations (calibrate --write). */
const ap_calibration *ap_calibration_builtin(ap_arena *arena);
AP_CHECKED ap_status ap_calibration_load(const char *const *paths, size_t count, ap_arena *arena, ap_diags *diags,
                                         ap_calibration **ret);
/* Every file of a folder, or of DATA/calibration; a data folder without one (or NULL) has a copy of the built-in. */
AP_CHECKED ap_status ap_calibration_load_folder(const char *folder, ap_arena *arena, ap_diags *diags,
                                                ap_calibration **ret);
AP_CHECKED ap_status ap_calibration_of_data(const char *data_dir, ap_arena *arena, ap_diags *diags, ap_calibration **ret);

/* Can formulas take its constants? An error for each that is outside its low and high or that its scale does not have. */
AP_CHECKED ap_status ap_calib_check(const ap_calib_engine *engine, const char *file, ap_arena *arena, ap_diags *diags);

/* Engine by name or NULL. */
const ap_calib_engine *ap_calibration_engine(const ap_calibration *calibration, const char *name);
/* A copy whose constants may be changed (shallow below them), in `arena`. */
ap_calibration *ap_calibration_copy(const ap_calibration *calibration, ap_arena *arena);
/* Lays one engine's deviations, and bands if it has any, over the calibration (adds the engine when it is new). */
void ap_calibration_overlay(ap_calibration *calibration, const ap_calib_engine *extra);
/* Sorts deviations and cells by key: needed before use when an engine was built by hand. */
void ap_calib_sort(ap_calib_engine *engine);
/* Between a constant's value and the scale its deviations add on. */
double ap_scale_link(int scale, double value);
double ap_scale_inverse(int scale, double linked);

/* Effective constants, in the engine's own order (`ids`, NULL-terminated: the order its C enum has). `levels[i]` names
 * a level and keys[i] is this case's key there (NULL = none). A constant missing in the data is a bug of the build:
 * checked by a test. */
typedef struct ap_calib_keys {
    const char *levels[AP_CALIB_MAX_LEVELS];
    const char *keys[AP_CALIB_MAX_LEVELS];
    size_t count;
} ap_calib_keys;
void ap_calib_resolve(const ap_calib_engine *engine, const char *const *ids, const ap_calib_keys *keys, double *ret_consts);
/* This case's key of a level, or NULL (an empty key is none). */
const char *ap_calib_key(const ap_calib_keys *keys, const char *level);
/* A constant by its name, a deviation by its key (not NULL): NULL when there is none. */
const ap_calib_const *ap_calib_const_of(const ap_calib_engine *engine, const char *id);
const ap_deviation *ap_calib_deviation_of(const ap_calib_by *by, const char *key);
/* Deviation of one key, 0 when there is none. */
double ap_calib_deviation(const ap_calib_engine *engine, const char *id, const char *level, const char *key);
/* Was this key of this level in the fit (has rows)? Basis of `calibrated`. */
bool ap_calib_has_key(const ap_calib_engine *engine, const char *level, const char *key);
/* Did this combination occur in the fit? Keys as in `known`. */
bool ap_calib_knows(const ap_calib_engine *engine, const char *combination);
/* The most specific cell present: tries each of `cells` in order, then "". NULL when nothing was ever measured. */
const ap_calib_cell *ap_calib_cell_of(const ap_calib_engine *engine, const char *const *cells, size_t count);
/* Its interval; AP_CALIB_WIDEST either way without a cell. */
void ap_calib_interval(const ap_calib_engine *engine, const char *const *cells, size_t count, double *ret_low, double *ret_high);

#endif
