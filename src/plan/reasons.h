/* The rules at work in a search: facts are filled from what the planner knows, rules decide, and what fired is kept as
 * reasons and warnings. Rejections are decided for every candidate; the rest only for the results that are shown, because
 * nobody reads reasons of row 900. */
#ifndef AP_PLAN_REASONS_H
#define AP_PLAN_REASONS_H

#include "plan/knowledge.h"
#include "plan/plan.h"

typedef struct ap_reasons ap_reasons;

/* `scope`: AP_SCOPE_RECOMMEND or AP_SCOPE_ESTIMATE. The set must outlive the search. */
ap_reasons *ap_reasons_new(ap_search *search, const ap_ruleset *set, unsigned scope);

/* Why a rule or policy refuses this hardware before any estimate (phase 0 and 1), or NULL. */
const ap_finding *ap_reasons_refuse_target(ap_reasons *reasons, const ap_hardware *hw);
/* The same once it is estimated and priced (phase 2). */
const ap_finding *ap_reasons_refuse_result(ap_reasons *reasons, const ap_result *result);
/* Fills reasons and warnings of a result. Returns whether an enforced policy is broken. */
bool ap_reasons_explain(ap_reasons *reasons, ap_result *result);

/* Values that rules propose for what the workload does not say: assume(precision, bf16). In the rules' order; of several
 * for one field only the first. */
typedef struct ap_rule_assumption {
    const char *id, *field, *value, *message;
} ap_rule_assumption;
size_t ap_reasons_assumptions(ap_reasons *reasons, const ap_rule_assumption **ret_items);

/* Rules at work in a search, what they assume included. */
typedef struct ap_rules_request {
    const ap_ruleset *set;  /* must outlive the search */
    unsigned scope;         /* AP_SCOPE_RECOMMEND … */
    ap_workload *workload;  /* of the search's job; what rules assume is written into it … */
    ap_job *job;            /* … and the job resolved again */
    const char *dir;        /* folder that relative paths in the workload start from, or NULL */
    ap_diags *diags;
} ap_rules_request;
/* Fills in what rules assume and the workload does not say; nothing is resolved again without such rules. Faults of a
 * rule's field or value are diagnostics (AP_BAD_INPUT). */
AP_CHECKED ap_status ap_search_apply_rules(ap_search *search, const ap_rules_request *request);

/* Facts, exposed for tests: phase 0 from the job, 1 from hardware and price, 2 from the estimate. */
void ap_facts_of_job(const ap_search *search, ap_rule_facts *ret);
void ap_facts_of_target(const ap_search *search, const ap_hardware *hw, const ap_price *price, int pricing, ap_rule_facts *ret);
void ap_facts_of_result(const ap_search *search, const ap_result *result, ap_rule_facts *ret);

#endif
