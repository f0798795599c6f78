/* The facts that rules and policies may name: the join between the planner, which fills them, and the rule engine, which
 * only sees names and values. One table row per fact (path, kind, unit, meaning) in facts.c drives type checking of the
 * rules, did-you-mean, binding, evidence and the reference in docs/rules.md.
 *
 * Conventions are those of described structs: numbers are doubles with NaN = unknown (counts too, though a rule sees them
 * as int), bools are signed char with -1 = unknown, text is NULL when unknown, lists are empty when unknown or unbounded.
 * Text is not copied: it must outlive the evaluation. Units are in the names.
 *
 * Facts have a phase: what is known before any target is looked at (0), once a target is chosen (1), once a parallel
 * layout of it is estimated (2). A rule's phase is the highest of the facts it names, so a planner evaluates rules of
 * phase 0 once a run, of phase 1 once a target (a rejected target needs no layouts at all), the rest once a plan. */
#ifndef AP_PLAN_FACTS_H
#define AP_PLAN_FACTS_H

#include "rules/rules.h"
#include "schema/schema.h"

enum { AP_PHASE_WORKLOAD = 0, AP_PHASE_TARGET = 1, AP_PHASE_PLAN = 2, AP_PHASE_COUNT = 3 };

typedef struct ap_workload_facts { /* phase 0 */
    const char *name, *model;
    const char *domain;        /* llm nlp vision detection segmentation diffusion speech recsys gnn rl trees classic bio … */
    const char *arch;          /* class: decoder encoder cnn vit … gbdt linear */
    const char *engine;        /* which estimator: llm dl tree env */
    const char *method;        /* pretrain train finetune lora qlora dpo */
    const char *framework, *stack, *precision, *base_precision, *optimizer;
    const char *recompute, *offload, *sharding; /* as asked for; NULL = auto. offload: none, or words joined by "," */
    signed char flash_attention, compile, packing;
    signed char custom_ops;    /* needs CUDA kernels of its own */
    signed char dynamic_shapes; /* tensor shapes change from step to step (graphs, ragged data, many resolutions) */
    double params, active_params, trainable_params; /* counts */
    double experts, lora_rank;
    double seq_len, global_batch, micro_batch; /* micro_batch NaN = auto */
    double tokens_total, samples_total, epochs;
    signed char to_target;     /* the amount is a published schedule's, which reached a target with its own batch */
    double critical_batch, largest_batch; /* samples: where a target takes twice the fewest; the largest known to reach it */
    double tp, pp, cp, ep;     /* asked for; NaN = auto */
    double flop_total, reference_h;         /* useful model FLOP of the whole run */
    double weights_gib;        /* in compute (or base) precision, unsharded */
    double state_gib;          /* weights + gradients + optimizer, unsharded */
    const char *dataset;
    double data_gb;            /* 1e9 bytes on disk */
    double data_samples, data_sample_kb;
    const char *data_format;   /* jpeg parquet csv webdataset tfrecord … */
    const char *data_storage;  /* local-ssd nfs object-store … */
    const char *data_region;
    double loader_workers;     /* per chip */
    double rows, features, trees, depth; /* tables */
    signed char from_scratch;  /* 1: pretrain/train, 0: starts from trained weights */
    signed char early_stopping;
    double checkpoint_every_h; /* NaN = not said */
    signed char has_checkpoint;
} ap_workload_facts;

typedef struct ap_constraint_facts { /* phase 0 */
    double deadline_h, budget_usd, max_chips, max_price_usd_per_h;
    ap_strings clouds, regions, pricing;
    signed char portable;
    signed char approved;      /* someone signed this run off (config or --set constraints.approved=true) */
    const char *objective, *residency; /* residency: EU, US …: where data must stay */
    double hours_per_week;     /* how often such hardware is used, for own machines against rent */
} ap_constraint_facts;

typedef struct ap_chip_facts { /* phase 1 */
    const char *id, *name, *vendor, *family, *generation, *kind; /* kind: cpu gpu tpu asic */
    double year;
    double count;              /* of all nodes together (CPU machine: sockets) */
    double count_per_node;
    double memory_gib, usable_gib;
    const char *memory_type;
    double memory_gb_per_s;
    signed char ecc;
    double tflops_fp32, tflops_tf32, tflops_fp16, tflops_bf16, tflops_fp8, tflops_fp4, tflops_int8;
    double peak_tflops;        /* dense peak in the workload's compute precision; NaN = has no such units */
    double tdp_w;
    const char *link;          /* nvlink3 xgmi ici pcie none … */
    double link_gb_per_s;      /* both directions, per chip */
    signed char p2p;           /* peer-to-peer between cards over PCIe works */
    const char *arch;          /* sm_90 gfx942 avx512 … */
    double compute_capability; /* NVIDIA: 9.0 */
    ap_strings frameworks;
    signed char framework_ok;  /* the workload's framework runs on it */
    signed char precision_ok;  /* has units for the workload's compute precision */
    signed char consumer;      /* GeForce / Radeon desktop card */
    double price_usd, cores;
} ap_chip_facts;

typedef struct ap_offer_facts { /* phase 1 */
    const char *target, *cloud, *cloud_kind, *market, *instance, *region, *country, *continent;
    const char *pricing;       /* on-demand spot reserved-1y reserved-3y own */
    double price_usd_per_h;    /* all nodes */
    double on_demand_usd_per_h, spot_usd_per_h, reserved_1y_usd_per_h;
    double spot_discount_frac; /* 1 - spot/on-demand */
    const char *interruption;  /* "<5%" … per month */
    double price_age_days;
    const char *price_confidence;
    double carbon_g_per_kwh, pue, electricity_usd_per_kwh, egress_usd_per_gb;
    double session_limit_h;
    double nodes, vcpus, vcpus_per_chip, host_memory_gib, host_memory_per_chip_gib, local_ssd_gib;
    double network_gbps;       /* per node, one direction */
    const char *fabric;        /* efa infiniband roce gpudirect-tcpx ici ethernet … */
    signed char rdma;          /* the fabric moves data without the host's CPU */
    signed char single_cloud;  /* chip is rented by one cloud only */
    signed char shared;        /* a slice of a card (fractional count, MIG) */
    signed char rig;           /* own machine */
    double cheapest_region_usd_per_h; /* same instance and pricing where it is cheapest */
    double reservation_min_h;  /* hours that must be paid for anyway (commitment) */
} ap_offer_facts;

typedef struct ap_plan_facts { /* phase 2 */
    const char *stack, *sharding, *recompute, *precision, *offload;
    double dp, tp, pp, vpp, cp, ep, micro_batch, grad_accum, global_batch;
    double samples_factor;     /* samples to the target over those of the published schedule, for the batch */
    double target_factor;      /* samples to the target over those with the job's own batch */
    signed char batch_raised;  /* a larger batch than the recipe's was taken, because nobody named one */
    signed char tp_crosses_node;
    signed char flash_attention, compile;
} ap_plan_facts;

typedef struct ap_estimate_facts { /* phase 2 */
    double step_s, tokens_per_s, samples_per_s, mfu_frac;
    double time_h, time_p10_h, time_p90_h;
    double cost_usd, cost_p90_usd;
    double energy_kwh, co2_kg;
    double peak_gib, capacity_gib, memory_share_frac; /* peak / usable */
    const char *verdict;       /* fits tight does-not-fit */
    const char *bottleneck;    /* compute memory network host input pipeline */
    const char *basis;         /* calibrated transferred uncalibrated rule-of-thumb */
    double communication_frac; /* share of a step spent on exposed communication */
    double input_cores_needed; /* per node */
    double startup_frac;       /* share of the run that is start-up, evaluation, checkpoints */
    double host_needed_gib;    /* per node */
    double max_micro_batch;
    double cost_over_best, time_over_best; /* factors over the best feasible candidate seen; NaN while searching */
} ap_estimate_facts;

typedef struct ap_job_facts { /* phase 0: what a job file under `check` says */
    const char *format, *image, *shell;
    double nodes, chips_per_node, processes_per_node, cpus_per_node, host_memory_gib, time_limit_h, restarts;
    signed char spot, has_checkpoint, has_time_limit, fast_network;
} ap_job_facts;

typedef struct ap_catalog_facts { /* phase 0 */
    const char *version, *prices_as_of;
    double prices_age_days;
    signed char overlay;       /* user files were laid over the built-in catalog */
} ap_catalog_facts;

typedef struct ap_rule_facts {
    ap_workload_facts workload;
    ap_constraint_facts constraints;
    ap_job_facts job;
    ap_catalog_facts catalog;
    ap_chip_facts chip;
    ap_offer_facts offer;
    ap_plan_facts plan;
    ap_estimate_facts estimate;
} ap_rule_facts;

extern const ap_fact_schema ap_plan_fact_schema;

void ap_rule_facts_clear(ap_rule_facts *facts); /* everything unknown */

#endif
