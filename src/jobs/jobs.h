/* Job files of others: Slurm scripts, Kubernetes manifests, SkyPilot tasks, framework configurations … read into facts,
 * put together to jobs, understood against the catalog, judged.
 *
 *   recognise   file           -> format          formats.c
 *   read        file           -> ap_jobfile      read_<format>.c, one each
 *   assemble    files          -> ap_checkjob     files that refer to one another are one job
 *   understand  facts          -> conclusions     chips, counts, batch, method, precision …
 *   find        conclusions    -> findings        findings_*.c, each a fault of the table in faults.c
 *
 * Nothing here executes, downloads or trusts a file; a reader that does not understand says so in a note.
 * Ownership: everything lives in the arena of the ap_jobs run. */
#ifndef AP_JOBS_JOBS_H
#define AP_JOBS_JOBS_H

#include "catalog/catalog.h"
#include "jobs/facts.h"
#include "plan/plan.h"
#include "workload/workload.h"

/* Faults: data/rules/check.yaml has a page for each id. */
#define AP_JOB_FAULTS(X)                                                                                               \
    X(DOES_NOT_FIT, "AP7001", "does-not-fit", AP_ERROR)                                                                \
    X(HOST_MEMORY_SHORT, "AP7002", "host-memory-short", AP_ERROR)                                                      \
    X(STORAGE_SHORT, "AP7003", "storage-short", AP_ERROR)                                                              \
    X(COUNT_MISMATCH, "AP7004", "count-mismatch", AP_ERROR)                                                            \
    X(LAYOUT_MISMATCH, "AP7005", "layout-mismatch", AP_ERROR)                                                          \
    X(BATCH_NOT_DIVISIBLE, "AP7006", "batch-not-divisible", AP_ERROR)                                                  \
    X(TOPOLOGY_MISMATCH, "AP7007", "topology-mismatch", AP_ERROR)                                                      \
    X(PRECISION_UNSUPPORTED, "AP7008", "precision-unsupported", AP_ERROR)                                              \
    X(UNSUPPORTED_CHIP, "AP7009", "unsupported-chip", AP_ERROR)                                                        \
    X(INSTANCE_CHIP_MISMATCH, "AP7010", "instance-chip-mismatch", AP_ERROR)                                            \
    X(UNKNOWN_NAME, "AP7011", "unknown-name", AP_ERROR)                                                                \
    X(AMBIGUOUS_NAME, "AP7012", "ambiguous-name", AP_WARNING)                                                          \
    X(UNSCHEDULABLE, "AP7013", "unschedulable", AP_ERROR)                                                              \
    X(NO_GPU_REQUESTED, "AP7014", "no-gpu-requested", AP_ERROR)                                                        \
    X(MIG_POOLED, "AP7015", "mig-pooled", AP_ERROR)                                                                    \
    X(NOT_DISTRIBUTED, "AP7016", "not-distributed", AP_ERROR)                                                          \
    X(NO_TIME_LIMIT, "AP7017", "no-time-limit", AP_WARNING)                                                            \
    X(TIME_LIMIT_TOO_SHORT, "AP7018", "time-limit-too-short", AP_ERROR)                                                \
    X(SESSION_LIMIT, "AP7019", "session-limit", AP_ERROR)                                                              \
    X(SPOT_NO_CHECKPOINT, "AP7020", "spot-no-checkpoint", AP_ERROR)                                                    \
    X(NO_CHECKPOINT, "AP7021", "no-checkpoint", AP_WARNING)                                                            \
    X(RUNAWAY_BILL, "AP7022", "runaway-bill", AP_WARNING)                                                              \
    X(OVER_BUDGET, "AP7023", "over-budget", AP_ERROR)                                                                  \
    X(OVERSIZED, "AP7024", "oversized", AP_WARNING)                                                                    \
    X(WRONG_HARDWARE_CLASS, "AP7025", "wrong-hardware-class", AP_WARNING)                                              \
    X(SLOW_NETWORK, "AP7026", "slow-network", AP_WARNING)                                                              \
    X(SLOW_SETTING, "AP7027", "slow-setting", AP_WARNING)                                                              \
    X(INPUT_STARVED, "AP7028", "input-starved", AP_WARNING)                                                            \
    X(NAME_SHAPE_MISMATCH, "AP7029", "name-shape-mismatch", AP_WARNING)                                                \
    X(UNKNOWN_KEY, "AP7030", "unknown-key", AP_WARNING)                                                                \
    X(PRECISION_WASTE, "AP7031", "precision-waste", AP_NOTE)                                                           \
    X(UNRESOLVED_VALUE, "AP7032", "unresolved-value", AP_NOTE)                                                         \
    X(PLACEHOLDER_LEFT, "AP7033", "placeholder-left", AP_ERROR)                                                        \
    X(SYNTAX_ERROR, "AP7034", "syntax-error", AP_ERROR)                                                                \
    X(UNREADABLE, "AP7035", "unreadable", AP_NOTE)                                                                     \
    X(POLICY, "AP7036", "policy", AP_ERROR)

typedef enum ap_fault {
#define AP_FAULT_ENUM(id, code, slug, severity) AP_FAULT_##id,
    AP_JOB_FAULTS(AP_FAULT_ENUM) AP_FAULT_COUNT
} ap_fault;

typedef struct ap_fault_info {
    const char *id, *slug;
    ap_severity severity;
} ap_fault_info;
extern const ap_fault_info ap_fault_infos[AP_FAULT_COUNT];

typedef struct ap_jobfinding {
    ap_fault fault;
    const char *id; /* the fault's, or a policy rule's */
    ap_severity severity;
    ap_pos pos;
    const char *message, *hint; /* hint or NULL */
    bool suppressed;            /* by a comment in the file or by the baseline */
} ap_jobfinding;

typedef struct ap_jobfindings {
    ap_jobfinding *items;
    size_t count, capacity;
} ap_jobfindings;

typedef enum ap_jobformat {
    AP_JF_UNKNOWN,
    AP_JF_SLURM,
    AP_JF_K8S,
    AP_JF_SKYPILOT,
    AP_JF_DSTACK,
    AP_JF_DEEPSPEED,
    AP_JF_ACCELERATE,
    AP_JF_HFCONFIG,
    AP_JF_AXOLOTL,
    AP_JF_LLAMAFACTORY,
    AP_JF_TORCHTUNE,
    AP_JF_TORCHTITAN,
    AP_JF_LLMFOUNDRY,
    AP_JF_NEMO,
    AP_JF_NEOX,
    AP_JF_MEGATRON,
    AP_JF_MAXTEXT,
    AP_JF_TRL,
    AP_JF_LITGPT,
    AP_JF_DETERMINED,
    AP_JF_OLMO,
    AP_JF_MLPERF,
    AP_JF_VERTEX,
    AP_JF_SAGEMAKER,
    AP_JF_AZUREML,
    AP_JF_RAY,
    AP_JF_COMPOSE,
    AP_JF_GHA,
    AP_JF_XPK,
    AP_JF_COLAB,
    AP_JF_SHELL,
    AP_JF_WORKLOAD,
    AP_JF_COUNT
} ap_jobformat;
extern const char *const ap_jobformat_names[]; /* NULL-terminated, in enum order */

/* One file, read. A file of several documents (Kubernetes) makes several of these, `part` counting from 0. */
typedef struct ap_jobfile {
    const char *path;
    const char *text;
    size_t len;
    ap_jobformat format;
    size_t part;
    ap_jobfacts facts;
    ap_model hf_model; /* hfconfig */
    bool has_hf_model;
    double hf_text_params; /* of the language part of a multimodal model, NaN */
    ap_workload workload;  /* our own document */
    bool has_workload;
    ap_jobfindings findings;
} ap_jobfile;

/* What a job comes to. Unknown numbers NaN, text NULL. */
typedef struct ap_checkjob {
    const char *id;
    const ap_jobfile **files;
    size_t file_count;
    ap_jobformat format;
    ap_jobfacts facts; /* of all files */
    /* machines */
    const ap_chip *chips[8]; /* what the job may land on; explicit alternatives or one ambiguous spelling */
    size_t chip_count;
    bool chips_are_choice; /* the file lists alternatives: the smallest decides */
    const ap_chip *chip;   /* the one chip, or NULL */
    const ap_instance *instance;
    const char *instance_name, *cloud, *region;
    ap_jnum chips_per_node, nodes, processes_per_node;
    double world; /* data-parallel and model-parallel ranks in all */
    double chip_total;
    double cpus_per_node, host_memory_bytes, time_limit_h, runs_per_month;
    int spot; /* -1 */
    bool mig;
    /* training */
    const char *model_name; /* as in the file, without organisation; lower case */
    ap_model model;         /* from the catalog, a config.json or the arguments */
    bool has_model, model_from_shape, model_from_name;
    int method, precision, sharding, base_precision, recompute; /* -1 */
    const char *framework;
    double global_batch, micro_batch, accumulation, seq_len, steps;
    double tp, pp, cp, ep;
    unsigned offload;
    /* the job as written, estimated */
    ap_workload workload;
    ap_job resolved;
    ap_plan_options options;
    ap_search search;
    bool estimated;
    ap_result result;      /* on `chip`, or on the first that the job may land on */
    ap_result per_chip[8]; /* on each of `chips` */
    ap_result cheaper;     /* another GPU, the same number, where that saves a quarter or more */
    bool has_cheaper;
    double reference_h;    /* hours on the chips named, or on one A100 where none is; NaN */
    double worst_case_usd; /* limit x (restarts + 1) x array tasks x price; NaN */
    ap_jobfindings findings;
} ap_checkjob;

typedef struct ap_jobs_request {
    const ap_catalog *catalog;
    const ap_calibration *calibration;
    const ap_workload *workload; /* --workload: what the files leave open; or NULL */
    ap_jobformat format;         /* --input-format, AP_JF_UNKNOWN = recognise */
    const char *const *paths;    /* files and folders */
    size_t path_count;
    const char *const *groups; /* --job: "a,b" */
    size_t group_count;
    bool estimate;
    double max_cost_usd, max_hours;    /* NaN */
    const struct ap_ruleset *policies; /* rules of the policies that apply, or NULL */
    const char *as_of;                 /* day that ages of prices count from, YYYY-MM-DD, or NULL */
} ap_jobs_request;

typedef struct ap_jobs {
    ap_arena *arena;
    const ap_jobs_request *request;
    ap_jobfile **files;
    size_t file_count, file_capacity;
    ap_checkjob **jobs;
    size_t job_count, job_capacity;
} ap_jobs;

/* Reads all paths, puts jobs together, judges them. AP_IO for a path that cannot be read, AP_BAD_INPUT for a file named
 * on the command line that cannot be parsed at all; findings are no failure. */
AP_CHECKED ap_status ap_jobs_check(const ap_jobs_request *request, ap_arena *arena, ap_diags *diags, ap_jobs *ret);

/* -- parts, for tests and fuzzing -- */

/* Reads one text. Returns false when it is no job file of a known format (or one part of several has been added). */
bool ap_jobs_read_text(ap_jobs *jobs, const char *path, const char *text, size_t len, ap_jobformat format,
                       ap_diags *diags);
void ap_jobs_understand(const ap_jobs_request *request, ap_arena *arena, ap_checkjob *job);
void ap_jobs_find(const ap_jobs_request *request, ap_arena *arena, ap_checkjob *job);
int ap_jobformat_parse(const char *name); /* -1 */

ap_jobfinding *ap_jobfinding_add(ap_arena *arena, ap_jobfindings *list, ap_fault fault, ap_pos pos, const char *format,
                                 ...) __attribute__((format(printf, 5, 6)));

#endif
