/* The workload document: what the user wants to train, as written (ap_workload), and with every absent value settled and
 * each such decision recorded (ap_job).
 *
 * Ownership: everything lives in the arena it was loaded into. Unknown numbers NaN, enums and bools -1, text NULL. */
#ifndef AP_WORKLOAD_WORKLOAD_H
#define AP_WORKLOAD_WORKLOAD_H

#include <stdbool.h>

#include "catalog/catalog.h"
#include "schema/schema.h"
#include "workload/terms.h"

typedef enum ap_objective { AP_BY_COST, AP_BY_TIME, AP_BY_BALANCED, AP_BY_ENERGY, AP_BY_CO2 } ap_objective;
extern const char *const ap_objective_names[];

typedef struct ap_constraints {
    double deadline_s, budget_usd, max_price_usd_per_h;
    ap_range chips;          /* accelerators (CPU machines: sockets) */
    double max_chips;
    ap_range memory_bytes;   /* of one card, nominal */
    ap_range host_memory;    /* of one machine */
    ap_strings clouds, regions, chip_globs, exclude; /* globs; empty = any */
    ap_strings pricing;      /* on-demand spot reserved any; empty = on-demand */
    signed char portable;    /* 1: no chip that only one cloud has */
    signed char approved;    /* 1: someone signed the run off; for policies */
    const char *residency;   /* continent or country that the data must not leave */
    double hours_per_week;   /* such hardware is in use; for own machines against rent */
} ap_constraints;

typedef struct ap_workload {
    const char *name;
    const ap_node *model;    /* scalar name, {hf: path}, or a mapping */
    int method, framework, precision, base_precision, optimizer, recompute, objective;
    struct { double rank; ap_strings targets; } lora;
    const char *stack;       /* NULL = auto */
    double sequence_length, micro_batch;
    const char *input;
    const char *global_batch; /* "64" samples, or "4M tokens" */
    ap_strings offload;
    signed char flash_attention, compile, packing, optimizer_in_backward;
    /* what rules and policies ask about, and no estimate depends on */
    signed char checkpoints, custom_kernels, dynamic_shapes, early_stopping;
    double checkpoint_every_s;
    struct {
        double tokens, samples, epochs, rows, features, sample_bytes, workers;
        const char *dataset, *format, *storage, *region;
    } data;
    struct { double tp, pp, vpp, cp, ep; int sharding; } parallel;
    struct { double setup_s, controller_usd_per_h; } bill;
    ap_constraints constraints;
    ap_pos pos;
} ap_workload;

extern const ap_object ap_workload_object;
/* The mapping form of `model:`. */
extern const ap_object ap_model_spec_object;
extern const char *const ap_framework_names[]; /* pytorch jax tensorflow xgboost lightgbm catboost scikit-learn any */
enum { AP_FRAMEWORK_ANY = 7 };

/* Reads a workload document (YAML or JSON; "-" = stdin). AP_IO or AP_BAD_INPUT with all findings. */
AP_CHECKED ap_status ap_workload_load(const char *path, ap_arena *arena, ap_diags *diags, ap_workload *ret);
/* The same from text in memory; `name` stands for it in messages. */
AP_CHECKED ap_status ap_workload_read(const char *text, size_t len, const char *name, ap_arena *arena, ap_diags *diags,
                                      ap_workload *ret);
void ap_workload_init(ap_workload *workload);

/* A value nobody gave, and where it came from. */
typedef struct ap_assumption {
    const char *field, *value, *because;
} ap_assumption;

/* Who said how much is trained. Only a published schedule runs to a target, so only it pays for a larger batch. */
typedef enum ap_amount { AP_AMOUNT_GIVEN, AP_AMOUNT_RECIPE, AP_AMOUNT_MODEL } ap_amount;

/* The job: model, amounts and settings complete as far as they do not depend on the chip. */
typedef struct ap_job {
    const ap_workload *workload;
    ap_model model;           /* private copy, shape completed */
    const char *model_label;  /* as the user wrote it */
    const ap_dataset *dataset;
    const ap_recipe *recipe;
    int method, framework, precision, base_precision, optimizer, objective; /* precision -1: chosen by chip */
    double lora_rank, lora_target_count;
    unsigned offload;
    double seq_len;           /* tokens, transformers only */
    double global_batch;      /* samples (sequences) per step */
    double samples, tokens, epochs, samples_per_epoch; /* the whole run; NaN = unknown */
    int amount;               /* ap_amount: whose are samples and tokens */
    bool batch_assumed;       /* global_batch is the recipe's or usual: a plan may take a larger one */
    double target_batch;      /* batch that samples and tokens were published with; NaN: they hold for any batch */
    double critical_batch;    /* where reaching the target takes twice the fewest samples (M-97); NaN unknown */
    double largest_batch;     /* the largest that is known to reach it; NaN unknown */
    const char *batch_law;    /* id of the recipe, or data set, that the two are of; NULL unknown */
    double rows, features;
    double sample_bytes;
    const char *format;
    const char *unknown_run;  /* why samples/tokens are unknown, or NULL */
    ap_assumption *assumptions;
    size_t assumption_count, assumption_capacity;
    ap_arena *arena;
} ap_job;

/* Finds the model, data set and recipe, fills defaults in the contract's order (recipe, then stack, then what fits).
 * AP_USAGE when a name given by option is unknown, AP_BAD_INPUT when the document names it. `dir` is the folder that
 * relative paths in the document start from. */
AP_CHECKED ap_status ap_job_resolve(const ap_workload *workload, const ap_catalog *catalog, const char *dir,
                                    ap_arena *arena, ap_diags *diags, ap_job *ret);
void ap_job_assume(ap_job *job, const char *field, const char *because, const char *value_format, ...)
    __attribute__((format(printf, 4, 5)));

/* Does the job train as long as its recipe says, whoever said so? */
bool ap_job_runs_recipe(const ap_job *job);
/* Is this a model whose samples are token sequences (needs seq_len)? */
bool ap_model_is_transformer(const ap_model *model);
/* Parameters of a transformer from its shape (ESTIMATION a1-a3), NaN when the shape is incomplete. */
double ap_model_shape_params(const ap_model *model, bool active_only);

/* Hugging Face config.json (every key dialect of JOBS.md section 12) into a model profile. `ret` is cleared first.
 * Warnings for what is not understood; AP_BAD_INPUT when no shape can be read. */
AP_CHECKED ap_status ap_hf_config_load(const char *path, ap_arena *arena, ap_diags *diags, ap_model *ret);
AP_CHECKED ap_status ap_hf_config_read(const ap_node *root, ap_arena *arena, ap_diags *diags, ap_model *ret);

#endif
