/* The planner: from a job to ranked hardware.
 *
 *   bind       job + hardware            -> the estimator's case
 *   layouts    case                      -> the fastest parallel layout that fits
 *   offers     hardware + constraints    -> prices (region, pricing kind)
 *   search     catalog                   -> results and rejections
 *   rank       results                   -> score, Pareto flag, order, groups
 *
 * Results and everything they point to live in the search's arena. Deterministic: the same input gives the same order. */
#ifndef AP_PLAN_PLAN_H
#define AP_PLAN_PLAN_H

#include "catalog/catalog.h"
#include "estimate/estimate.h"
#include "plan/bill.h"
#include "plan/constants.h"
#include "plan/hardware.h"
#include "workload/workload.h"

/* A verdict with its id: AP1xxx (docs/rules.md). Static or arena text. */
typedef struct ap_finding {
    const char *id;
    const char *message;
    const char *fix;           /* what to do about it, or NULL */
    ap_text_map facts;         /* what the rule looked at: fact -> value with unit; filled for results that are shown */
    const char *policy;        /* name of the policy whose rule this is, or NULL */
    int severity;              /* ap_severity of a policy: note when audited, at most warning when undecided */
    bool broken;               /* an enforced policy is broken: exit code 1 of estimate and check */
    bool preferred;            /* speaks for the hardware, where other reasons only say what to know about it */
} ap_finding;

typedef AP_LIST(ap_finding) ap_findings;

/* The best layout on one piece of hardware, priced or not. */
typedef struct ap_plan {
    struct ap_plan *next;       /* of the same chip */
    ap_hardware hw;
    const ap_finding *refused;  /* why the job cannot run here at all, or NULL */
    const char *stack;          /* or NULL */
    int precision;
    double global_batch;        /* samples of a step that run: the job's or a larger one, in whole micro-batches of every rank */
    bool batch_raised;          /* the plan took a larger batch than the job's, for the sake of many chips */
    ap_estimate est;
    ap_run_estimate run;        /* energy at PUE 1 */
} ap_plan;

typedef struct ap_result {
    const char *target;        /* spelling that --on takes: "gcp/a3-highgpu-8g:2@us-central1+spot" */
    ap_hardware hw;
    const ap_price *price;     /* NULL: no price known */
    int pricing;               /* ap_price_kind */
    double usd_per_h;          /* all machines, after discount; NaN unknown, 0 free */
    const char *priced_from;   /* CHIP targets: the offer the price is from */
    const ap_finding *share;   /* CHIP targets: AP8041 where that machine has more or less than was asked for; or NULL */
    double paid_chips;         /* … and how many chips are paid for, where more are than are used; 0 otherwise */
    const ap_region *region;   /* for carbon; or NULL */
    const struct ap_plan *plan; /* shared by every offer of the same hardware */
    double setup_h;            /* paid before training starts: boot, image */
    double hours_p10, hours_p50, hours_p90; /* set-up and run; NaN unknown */
    double cost_p10, cost_p50, cost_p90; /* USD, NaN unknown */
    ap_bill_terms terms;
    ap_bill bill;              /* items of cost_p50 */
    double on_demand_usd;      /* spot: the same run at the on-demand price of the same place; NaN unknown */
    double energy_kwh, co2_kg; /* NaN unknown */
    double score;              /* lower is better; NaN = cannot be ranked */
    bool pareto;
    int rank;
    size_t other_regions;      /* further regions of this machine, behind this row */
    ap_findings reasons, warnings;
} ap_result;

typedef struct ap_rejection {
    const char *target, *rule, *message;
    const char *policy;        /* whose rule it is, or NULL */
    double nearness;           /* how far from feasible, for the order: 1.1 = 10 % over the limit; larger is farther */
} ap_rejection;

typedef struct ap_advice {
    const char *id, *message;
    double saves_usd, saves_h; /* negative = costs more; NaN unknown */
} ap_advice;

typedef enum ap_grouping { AP_GROUP_NONE, AP_GROUP_INSTANCE, AP_GROUP_CHIP, AP_GROUP_CLOUD, AP_GROUP_REGION } ap_grouping;
extern const char *const ap_grouping_names[];

typedef struct ap_discount { /* --discount aws=0.2 */
    const char *cloud;
    double fraction;
} ap_discount;

typedef struct ap_plan_options {
    ap_constraints constraints; /* the workload's, with the command line's laid over */
    ap_grouping group_by;
    AP_LIST(ap_discount) discounts;
    const char *as_of;         /* day that ages count from, YYYY-MM-DD */
    AP_LIST(const ap_rig *) rigs; /* own machines to compare with */
} ap_plan_options;

enum { AP_MARKET_OWN = 4, AP_MARKET_COUNT = 5 };

typedef struct ap_search {
    const ap_job *job;
    const ap_catalog *catalog;
    const ap_calibration *calibration;
    const ap_plan_options *options;
    ap_arena *arena;
    ap_plan_constants constants, by_market[AP_MARKET_COUNT]; /* of the machines of each market */
    ap_result *results;        /* ranked, grouped */
    size_t result_count, result_capacity;
    ap_rejection *rejected;    /* nearest first */
    size_t rejected_count, rejected_capacity;
    struct ap_reasons *reasons; /* rules at work, or NULL */
    const struct ap_job_facts *job_file;       /* what a job file says, under check; or NULL */
    const struct ap_rule_facts *unknown_facts; /* what facts are before they are filled */
    struct ap_chip_plans *by_chip; /* plans of each catalog chip, by its index; other chips at the end */
    size_t targets;            /* instances x node counts looked at */
    size_t plans_evaluated;    /* layouts estimated */
    size_t priced_results;     /* before grouping */
} ap_search;

/* What a search is made of; all of it must outlive the search. */
typedef struct ap_search_inputs {
    const ap_job *job;
    const ap_catalog *catalog;
    const ap_calibration *calibration;
    const ap_plan_options *options;
    ap_arena *arena;
} ap_search_inputs;

void ap_search_init(ap_search *ret, ap_search_inputs inputs);
/* The same question about another job: catalog, constants, options and arena of `like`, no rules at work. */
void ap_search_init_like(ap_search *ret, const ap_search *like, const ap_job *job);
/* Everything in one: enumerate, estimate, price, rank, group. */
void ap_search_run(ap_search *search);
/* The plan for one piece of hardware, estimated once and kept. plan->est.error says why there is no estimate. */
const ap_plan *ap_search_plan(ap_search *search, const ap_hardware *hw);
/* Price, cost, energy and carbon of a plan. `price` NULL = unknown (rigs and bare chips without an offer). */
void ap_result_fill(const ap_search *search, const ap_plan *plan, const ap_price *price, int pricing, ap_result *ret);
/* A price that is not simply machines x list price (bare chips priced from an offer). */
void ap_result_set_price(ap_result *result, const ap_price *price, double usd_per_h);
/* Adds a warning where more or less is paid for than was asked for, and where spot, with its interruptions, saves nothing
 * over on-demand. */
void ap_result_warn_of_price(ap_result *result, ap_arena *arena);
/* Whole run over the limits the user set? Returns the finding and how far over (1.1 = 10 %), or NULL. */
const ap_finding *ap_result_over_limit(const ap_search *search, const ap_result *result, double *ret_nearness);

/* -- parts, for tests and other commands ----------------------------------------------------------------------------- */

/* The estimator's view of the job on this hardware. Precision and stack are chosen here where the job leaves them open;
 * returns NULL, or the finding that says why the job cannot run there (unsupported precision, framework …). */
const ap_finding *ap_plan_bind(const ap_search *search, const ap_hardware *hw, ap_case *ret);
/* Why the parallel degrees that the user named cannot be on this hardware, or NULL; whether more chips would mend it. */
const char *ap_plan_wrong_degrees(const ap_search *search, const ap_case *job, bool *ret_more_chips);
/* Tries layouts; the fastest that fits goes to ret_best, else the smallest with verdict does-not-fit. Returns how many
 * were estimated. */
size_t ap_plan_best_layout(const ap_est_context *context, const ap_job *job, ap_estimate *ret_best);

/* NULL when the instance passes the constraints that need no estimate, else why not. */
const ap_finding *ap_filter_instance(const ap_search *search, const ap_instance *instance, const ap_chip *chip);
bool ap_filter_region(const ap_search *search, const ap_instance *instance, const char *region);
bool ap_filter_pricing(const ap_search *search, int pricing);

void ap_rank_results(ap_search *search);

#endif
