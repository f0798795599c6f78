/* The estimator: one training step of one workload on one layout, its memory, and the whole run. Pure functions: structs
 * in, structs out; no I/O, clock, globals or allocation. Formulas are numbered in docs/model.md and cited as M-nn.
 *
 * Unknown numbers are NaN, unknown enums and bools -1. The estimator completes what is unknown by stated default rules
 * (ap_est_complete) and counts and names every such assumption, because the band depends on it. */
#ifndef AP_ESTIMATE_ESTIMATE_H
#define AP_ESTIMATE_ESTIMATE_H

#include <stdbool.h>

#include "catalog/catalog.h"
#include "estimate/calibration.h"
#include "workload/terms.h"

/* The engine that estimates a model. */
typedef enum ap_engine { AP_ENGINE_LLM, AP_ENGINE_DL, AP_ENGINE_TREE, AP_ENGINE_ENV, AP_ENGINE_COUNT } ap_engine;

/* What is trained and with what software: fixed while layouts are enumerated. A row of a measurements file and a user's
 * workload both become this. */
typedef struct ap_case {
    const ap_model *model;      /* never NULL; row or workload values already merged into a private copy */
    const char *domain, *arch;  /* = model's unless the row says otherwise */
    const char *task;           /* "train" … as in measured.csv, or NULL */
    int method;                 /* ap_method */
    int precision;              /* ap_precision of compute, -1 */
    int base_precision;         /* frozen base storage, -1 */
    int optimizer;              /* -1 */
    int flash, compile, packing, optimizer_in_backward; /* -1 0 1 */
    unsigned offload;
    double lora_rank;           /* NaN */
    double lora_target_count;   /* matrices per layer with adapters: q,v = 2, all linears = 7; NaN */
    const char *stack, *framework, *framework_note; /* or NULL */
    const ap_stack *stack_info; /* catalog's, or NULL */
    const char *input;          /* "224x224" …, NULL = model's */
    double seq_len;
    double global_batch;        /* samples (sequences) per optimizer step, NaN */
    double samples_total, tokens_total, samples_per_epoch, epochs; /* the run, NaN */
    double target_batch, critical_batch; /* the totals reach a target with the first; M-97 says what another batch takes. NaN: fixed */
    double counted_batch; /* batch whose size tells what batches count, samples or tokens, where a plan tries others; NaN: global_batch */
    const char *dataset;
    const ap_dataset *dataset_info; /* catalog's, or NULL */
    const ap_recipe *recipe;        /* the model's published recipe on that data set, or NULL */
    double rows, features, trees, depth, leaves;                   /* trees and classic */
    double date;                /* decimal year of the software, NaN = current */
    const char *unit;           /* what the row counts as a sample ("images" "tokens" "output mels"), NULL = the model's */
    const char *suite;          /* publication with conventions of its own: "mlperf" "lambda", or NULL */
    bool fills_card;            /* a benchmark that chose its batch to fill the memory */
    const char *publication;    /* who measured the row (a page, a round, a repository); NULL = nobody yet: a plan */
    int channels_last;          /* memory layout of image tensors: 1 NHWC, 0 NCHW, -1 unknown (a row: from the name of its result file) */
    /* machine */
    const ap_chip *chip;        /* never NULL */
    double chips, chips_per_node; /* sockets for CPUs */
    double threads;             /* CPU threads used, NaN = all */
    const char *interconnect;   /* free text of a measurement row, or NULL */
    double nic_bytes_per_s;     /* per node, one direction, NaN = by rule */
    double intra_bytes_per_s;   /* per chip, one direction, measured, NaN = from chip.link */
    const char *fabric;         /* efa infiniband …, or NULL */
    double domain_chips;        /* chips in one fast domain (8, 72 for NVL72, slice for TPU), NaN = by rule */
    double host_vcpus, host_memory_bytes; /* per node, NaN */
    const char *data_format;    /* how samples are stored ("jpeg" "webdataset" "raw"), NULL = the data set's */
    double sample_bytes;        /* of a stored sample, NaN */
    double usd_per_chip_h;      /* NaN unless the case is to be priced */
    bool layouts_given;         /* every run comes with its micro-batch: no bands for chosen ones are looked up */
    const char *run_kind;       /* what an hours figure counts: "mlperf" (to the stop point), "card" (published, with
                                   restarts), "wall" (a log); NULL = a plan */
} ap_case;

typedef struct ap_layout {
    double dp, tp, pp, vpp, cp, ep;   /* NaN = choose */
    int sharding, recompute;          /* -1 = choose */
    double micro_batch, accum;        /* per data-parallel rank; NaN = choose */
} ap_layout;

typedef enum ap_basis { AP_BASIS_CALIBRATED, AP_BASIS_TRANSFERRED, AP_BASIS_UNCALIBRATED, AP_BASIS_RULE_OF_THUMB } ap_basis;
typedef enum ap_bottleneck { AP_BOUND_COMPUTE, AP_BOUND_MEMORY, AP_BOUND_NETWORK, AP_BOUND_HOST, AP_BOUND_INPUT, AP_BOUND_PIPELINE } ap_bottleneck;
typedef enum ap_verdict { AP_FITS, AP_TIGHT, AP_DOES_NOT_FIT } ap_verdict;
extern const char *const ap_basis_names[], *const ap_bottleneck_names[], *const ap_verdict_names[];

/* One line of an explanation: a formula with this case's numbers. */
typedef struct ap_term {
    const char *formula; /* "M-07" */
    const char *name;    /* "attention and MLP matrix products" (static text) */
    double seconds;      /* of the step; memory items: bytes */
} ap_term;

#define AP_TERM_MAX 24
#define AP_ASSUMED_MAX 16

typedef struct ap_estimate {
    ap_layout layout;          /* completed */
    double step_s;             /* one optimizer step, median */
    double samples_per_step, tokens_per_step; /* tokens NaN where the model has none */
    double flop_per_step;      /* useful model FLOPs of one step, all chips (M-01 family) */
    double mfu;                /* of the dense peak of the compute precision */
    double ln_low, ln_high;    /* p10 = step_s*exp(ln_low), p90 = step_s*exp(ln_high) */
    int basis, bottleneck;
    ap_term terms[AP_TERM_MAX];
    size_t term_count;
    /* memory of one chip */
    double peak_bytes, capacity_bytes; /* capacity: usable, minus nothing */
    double mem_ln_low, mem_ln_high;
    int verdict;
    ap_term memory[AP_TERM_MAX];
    size_t memory_count;
    double host_bytes;         /* per node */
    double max_micro_batch;    /* largest that fits, NaN if not looked for */
    /* input pipeline: cores per node that keep the chips fed, NaN unknown */
    double input_cores_needed; /* virtual CPUs */
    const char *assumed[AP_ASSUMED_MAX]; /* names of what was filled in ("sequence_length") */
    double assumed_values[AP_ASSUMED_MAX];
    size_t assumed_count;
    const char *error;         /* NULL, or why there is no estimate (static text) */
} ap_estimate;

/* Everything that does not depend on the layout, resolved once: engine, constants, work per sample. By value. */
typedef struct ap_est_context ap_est_context;
struct ap_est_context {
    ap_engine engine;
    ap_case job;                       /* completed: no NaN where a default rule exists */
    const char *assumed[AP_ASSUMED_MAX];
    double assumed_values[AP_ASSUMED_MAX];
    size_t assumed_count;
    double consts[AP_CALIB_MAX_CONSTS]; /* effective constants of this case */
    double work[160];                  /* engine's own: work per sample, ceilings … (named by enums in the engine) */
    int basis;                         /* engine's complete() may set AP_BASIS_RULE_OF_THUMB; else -1 on entry */
    const ap_calibration *calibration;
    const char *levels[AP_CALIB_MAX_LEVELS]; /* levels of the case's keys, and which of them were in the fit */
    size_t level_count;
    unsigned long long seen;
    struct { double low, high; } interval[3][2]; /* [ap_quantity][layout known]: ln(measured / predicted) */
    int novelty[3];                    /* [ap_quantity], see ap_est_novelty */
    double user_scale;                 /* factor on the step of a job the user has measured, else 1 */
};

void ap_case_clear(ap_case *job); /* all unknown */
void ap_layout_clear(ap_layout *layout);
/* Name of a job for the user's own factor: model, chip, count, stack, precision, length, batch. Cut to the buffer. */
#define AP_JOB_KEY_BYTES 192
void ap_est_job_key(const ap_case *job, char *buf, size_t size);
ap_engine ap_est_engine(const ap_case *job);
void ap_est_init(ap_est_context *context, const ap_calibration *calibration, const ap_case *job);
/* The same for a case that differs from `like`'s only in how many chips there are and how they are connected: constants,
 * basis and bands carry over (no constant is keyed by a count), so only the work is prepared anew. `like` must come from a
 * case with the same chip, software and model, and, like this one, on one node or on several. */
void ap_est_rebind(ap_est_context *context, const ap_est_context *like, const ap_case *job);
/* Completes the layout, then time and memory. Never NaN in step_s or peak_bytes unless `error` is set. <= 2 us. */
void ap_est_run(const ap_est_context *context, const ap_layout *layout, ap_estimate *ret);

/* Whole run from a step: hours (p10, p50, p90) with start-up, evaluation, checkpoints, failures. NaN without data. */
typedef struct ap_run_estimate {
    double hours_p10, hours_p50, hours_p90;
    double steps, samples, tokens;
    double overhead_s, goodput; /* start-up etc.; share of time that trains */
    double energy_kwh;          /* of p50, at the wall, with host share and PUE */
    double batch_factor;        /* samples over those of the published schedule, for the batch (M-97); 1 where they are fixed */
} ap_run_estimate;
extern const ap_run_estimate ap_run_unknown;
/* M-97: samples to a target grow as 1 + batch / critical batch; here over those with `target_batch`. 1 where unknown. */
double ap_run_batch_factor(double batch, double target_batch, double critical_batch);
void ap_est_whole_run(const ap_est_context *context, const ap_estimate *step, double pue, ap_run_estimate *ret);

#endif
