/* What an engine (llm, dl, tree, env) provides to the dispatcher in estimate.c, and through it to predict, fit and
 * accuracy. Private to src/estimate.
 *
 * Order of one estimate:
 *   complete  default rules for what the case does not say; independent of constants; names each in `assumed`
 *   keys      this case's key at every level its constants vary by (may read the completed job)
 *             -> the dispatcher resolves context->consts (in the order of `ids`), basis, seen levels and intervals
 *   prepare   context->work from job and consts (everything that does not depend on the layout)
 *   run       completes a layout and computes time and memory; <= 2 us, no allocation
 * The fitter repeats only prepare and run with other consts. It passes the layout that the first run completed, so that
 * a discrete choice never flips while a derivative is taken (unless `free_layout`). */
#ifndef AP_ESTIMATE_ENGINE_H
#define AP_ESTIMATE_ENGINE_H

#include "estimate/estimate.h"

/* Constants of an engine come from one X-macro list, so that enum and ids cannot disagree:
 *     #define LLM_CONSTS(X) X(gemm_16) X(hbm_share)
 *     enum { LLM_CONSTS(AP_CONST_ENUM) LLM_CONST_COUNT };        with  #define AP_CONST_ENUM(id) LLM_##id,
 *     const char *const ids[] = { LLM_CONSTS(AP_CONST_ID) NULL }; */
#define AP_CONST_ID(id) #id,

/* Level keys with room for composed ones ("resnet50|dle-pytorch"). Levels are static text; a NULL or "" key is none. */
typedef struct ap_engine_keys {
    ap_calib_keys keys;
    char text[4096];
    size_t used;
} ap_engine_keys;
void ap_keys_add(ap_engine_keys *keys, const char *level, const char *key); /* key must outlive the context */
void ap_keys_addf(ap_engine_keys *keys, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef enum ap_quantity { AP_Q_STEP, AP_Q_MEMORY, AP_Q_RUN, AP_Q_COUNT } ap_quantity;

/* Interval cells of a case, most specific first. The dispatcher puts the quantity's name in front ("step|", "memory|",
 * "run|") and adds the general ones: "<quantity>|<basis>", "<quantity>". */
#define AP_CELL_MAX 24
typedef struct ap_engine_cells {
    const char *names[AP_CELL_MAX];
    size_t count;
    const char *quantity;
    char text[2048];
    size_t used;
} ap_engine_cells;
void ap_cells_addf(ap_engine_cells *cells, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How new a case is for the fit: 3 = this model with this software on this chip was measured; 2, 1, 0 = at least two, one,
 * none of the three pairs were. The band of a case comes from cases as new as it, when there are enough. */
int ap_est_novelty(const ap_calib_engine *engine, const ap_case *job, ap_quantity quantity);
/* The combinations that the grade asks for, triple first; AP_NOVELTY_KEYS texts of `size` bytes each. */
enum { AP_NOVELTY_KEYS = 4, AP_NOVELTY_BYTES = 192 };
void ap_est_novelty_keys(const ap_case *job, ap_quantity quantity, char ret_keys[AP_NOVELTY_KEYS][AP_NOVELTY_BYTES]);
/* The full list for a finished context. A cell holds ln(measured / predicted) of a time (step, run) or of bytes. */
void ap_est_cells(const ap_est_context *context, ap_quantity quantity, bool layout_known, ap_engine_cells *ret);

/* A figure that somebody measured, without the figure. */
typedef enum ap_metric {
    AP_METRIC_SAMPLES_PER_S, AP_METRIC_TOKENS_PER_S, AP_METRIC_STEP_TIME_S, AP_METRIC_TIME_TO_TRAIN_MIN,
    AP_METRIC_WALL_HOURS, AP_METRIC_GPU_HOURS, AP_METRIC_USD, AP_METRIC_ENERGY_KWH, AP_METRIC_PEAK_MEM_GIB, AP_METRIC_COUNT
} ap_metric;
extern const char *const ap_metric_names[]; /* NULL-terminated, as in measured.csv */

struct ap_est_trace;
typedef struct ap_engine_ops {
    const char *name;         /* "llm": data/calibration/llm.yaml */
    const char *const *ids;   /* NULL-terminated; context->consts[i] is ids[i]'s effective value */
    bool free_layout;         /* the fitter re-completes the layout for each set of constants */
    void (*complete)(ap_est_context *context);
    void (*keys)(const ap_est_context *context, ap_engine_keys *ret);
    void (*prepare)(ap_est_context *context);
    /* Fills all of ret but intervals and basis (dispatcher). ret comes zeroed, numbers that may be unknown NaN. */
    void (*run)(const ap_est_context *context, const ap_layout *layout, ap_estimate *ret);
    /* Whole run: hours_p50 and the rest but p10/p90 (dispatcher: ln hours_p50 + interval) and energy when it is NaN
     * (dispatcher: hours, chips, TDP, PUE). hours NaN without data. NULL = the generic rule: work / rate. */
    void (*whole_run)(const ap_est_context *context, const ap_estimate *step, ap_run_estimate *ret);
    /* NULL or: interval cells for a quantity; layout_known: the case came with its micro-batch. */
    void (*cells)(const ap_est_context *context, ap_quantity quantity, bool layout_known, ap_engine_cells *ret);
    /* NULL or: a metric whose meaning is the engine's own (seconds a boosting iteration, micro-iterations, GiB in
     * total). NaN = use the generic reading. `unit` as in the row. */
    double (*predict)(const ap_est_context *context, const ap_estimate *estimate, ap_metric metric, const char *unit);
    /* NULL or: shapes, and formulas with this case's numbers, for a person who checks them (estimate/trace.h). */
    void (*trace)(const ap_est_context *context, const ap_estimate *estimate, struct ap_est_trace *ret);
} ap_engine_ops;

extern const ap_engine_ops ap_llm_ops, ap_dl_ops, ap_tree_ops, ap_env_ops;
const ap_engine_ops *ap_engine_ops_of(ap_engine engine);

/* Helpers for engines. */
/* Samples of the whole run and how they are known; NaN when nothing says. Intervals of whole runs go by it: cells are
 * named "run|", "run-recipe|" and "run-guess|". */
typedef enum ap_work { AP_WORK_GIVEN, AP_WORK_RECIPE, AP_WORK_GUESSED, AP_WORK_UNKNOWN } ap_work;
double ap_case_work(const ap_case *job, ap_work *ret_known);
double ap_run_goodput(double failure_every_s, double checkpoint_s, double restart_s); /* share of time that trains */
double ap_case_samples(const ap_case *job); /* the same, NaN instead of a guess */
void ap_est_assume(ap_est_context *context, const char *name, double value);     /* in complete(); ignores overflow */
void ap_run_assume(ap_estimate *estimate, const char *name, double value);       /* in run() */
void ap_est_term(ap_estimate *estimate, const char *formula, const char *name, double seconds);
void ap_est_memory(ap_estimate *estimate, const char *formula, const char *name, double bytes);
/* Cores' worth of work that threads do on processors of `cores` cores: the second thread of a core adds `second` of one.
 * More than two threads a core mean more sockets. */
double ap_est_busy_cores(double threads, double cores, double second);
/* A network of which not even the parameters are known: its band is its own, from measured rows with name and sizes left out. */
bool ap_est_unsized(const ap_est_context *context);
bool ap_run_unsized_band(const ap_calibration *calibration, double *ret_low, double *ret_high); /* ln; false: not in the data */
/* Was this case's key of the level among the fitted rows (of the calibration in use)? */
bool ap_est_seen(const ap_est_context *context, const char *level);

/* The two halves of ap_est_init, for the fitter: begin = complete + keys; finish = basis, intervals, prepare. Between
 * them context->consts is set by ap_calib_resolve or by the fitter. */
void ap_est_begin(ap_est_context *context, const ap_calibration *calibration, const ap_case *job, ap_engine_keys *ret_keys);
void ap_est_finish(ap_est_context *context, const ap_engine_keys *keys);

#endif
