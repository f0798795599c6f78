/* The mapping form of `model:` in a workload. */
#ifndef AP_WORKLOAD_SPEC_H
#define AP_WORKLOAD_SPEC_H

#include "workload/workload.h"

/* Reads a mapping (class, params, layers … or class, params, gmac, macts …) into a model profile. */
AP_CHECKED ap_status ap_model_spec_load(const ap_node *node, ap_arena *arena, ap_diags *diags, ap_model *ret);

/* Trains from random weights, as published schedules do. */
bool ap_job_from_scratch(const ap_job *job);
/* Do tokens, samples and epochs contradict each other? */
AP_CHECKED ap_status ap_job_check_amount(ap_job *job, ap_diags *diags);
/* Samples, tokens and epochs of the run, or why they are unknown. */
void ap_job_settle_amount(ap_job *job);
/* Cuts a recipe's schedule where early stopping is on, and finds what a run to its target pays for other batches. */
void ap_job_settle_target(ap_job *job, const ap_catalog *catalog);

#endif
