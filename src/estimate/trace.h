/* How an estimate came about, for a person who checks it by hand: shapes, formulas with the case's numbers put in, the
 * constants that moved it and what they rest on, and the cells its bands are from.
 *
 * Made after the fact from a context and its estimate; estimating itself knows nothing of it. Which constants a term
 * uses is found by moving each a little and estimating again, so that it holds for every engine and cannot be out of
 * date. */
#ifndef AP_ESTIMATE_TRACE_H
#define AP_ESTIMATE_TRACE_H

#include "estimate/engine.h"

typedef enum ap_trace_part { AP_TRACE_WORK, AP_TRACE_TIME, AP_TRACE_MEMORY, AP_TRACE_RUN } ap_trace_part;
extern const char *const ap_trace_part_names[];

typedef struct ap_trace_line { /* a formula with this case's numbers */
    ap_trace_part part;
    const char *formula, *name; /* "M-13" "memory bandwidth" */
    const char *text;           /* "3.35e+12 x hbm_share 0.78" */
    double value;               /* what it gives, NaN: a choice rather than a number */
    const char *unit;           /* "s" "B" "FLOP/s" …, "" */
} ap_trace_line;

typedef struct ap_trace_product { /* m x n x k, forward, of one layer or once a micro-batch, on one chip */
    const char *name, *of;        /* "qkv"; "layer" or "micro-batch" */
    double m, n, k, count;
    double flop, seconds; /* of all `count` */
} ap_trace_product;

typedef struct ap_trace_deviation {
    const char *level, *key;
    double value, rows;
} ap_trace_deviation;

typedef struct ap_trace_const {
    const char *engine;
    const ap_calib_const *from;
    double value; /* in this case */
    struct {
        ap_trace_deviation *items;
        size_t count, capacity;
    } by;        /* those that are not 0 */
    double rows; /* rows that the most specific of them was fitted on; 0: none of them was measured, the value is
                    everybody's */
    double on_step, on_memory, on_hours; /* per cent that one per cent of the constant moves them by */
} ap_trace_const;

typedef struct ap_trace_link { /* a term or item of memory and a constant that moves it */
    const char *formula, *name;
    ap_trace_part part;
    size_t constant; /* among consts */
    double effect;   /* per cent that one per cent moves it by */
} ap_trace_link;

typedef struct ap_trace_cell {
    const char *quantity; /* "step" "memory" "run" */
    const char *cell;     /* most specific one that exists, or NULL: nothing was measured, a factor of two either way */
    double low, high, rows, sources;
} ap_trace_cell;

typedef struct ap_est_trace {
    ap_arena *arena;
    const char *engine;
    ap_trace_part part; /* of the lines that are added next */
    struct {
        ap_trace_line *items;
        size_t count, capacity;
    } lines;
    struct {
        ap_trace_product *items;
        size_t count, capacity;
    } products;
    struct {
        ap_trace_const *items;
        size_t count, capacity;
    } consts;
    struct {
        ap_trace_link *items;
        size_t count, capacity;
    } links;
    ap_trace_cell cells[AP_Q_COUNT];
    const ap_calib_fitted *fitted; /* what the engine's constants were fitted on, or NULL */
    double user_scale; /* factor on the step from the user's own calibration of exactly this job; 1 = none */
} ap_est_trace;

/* Everything in `arena`; strings of the calibration are shared. `run` may be NULL. */
ap_est_trace *ap_est_trace_new(const ap_est_context *context, const ap_estimate *estimate, const ap_run_estimate *run,
                               ap_arena *arena);
/* How the estimator chooses what `name` says was assumed: formula id and reason; NULL when it is not known. */
const char *ap_trace_why(const char *name);
/* "0.82 = 0.8 x exp(generation hopper +0.03)": an effective constant from its value and deviations. */
const char *ap_trace_const_text(const ap_trace_const *constant, ap_arena *arena);

/* For engines. */
void ap_trace_line_add(ap_est_trace *trace, const ap_trace_line *line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define AP_SAY(to, id, what, gives, in, ...)                                                                           \
    ap_trace_line_add(to, &(ap_trace_line){.formula = (id), .name = (what), .value = (gives), .unit = (in)},           \
                      __VA_ARGS__)
void ap_trace_product_add(ap_est_trace *trace, ap_trace_product product);
/* Constants of whole runs that every engine shares (run.yaml), and their formulas with this run's numbers. */
void ap_run_trace(const ap_est_context *context, const ap_estimate *step, const ap_run_estimate *run,
                  ap_est_trace *trace);
/* A constant as resolved for these keys; returns its index among consts. */
size_t ap_trace_const_add(ap_est_trace *trace, const char *engine, const ap_calib_const *from,
                          const ap_calib_keys *keys, double value);

#endif
