/* Policies of an organisation over a job file. A policy that cannot be decided is said, not passed over. */
#include "jobs/understand.h"
#include "plan/facts.h"
#include "plan/reasons.h"

static ap_job_facts facts_of_file(const ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const ap_jobnums *n = &j->f->n;
    ap_job_facts facts = {.format = ap_jobformat_names[job->format], .image = j->f->t.image.value};
    facts.nodes = job->nodes.value;
    facts.chips_per_node = job->chips_per_node.value;
    facts.processes_per_node = job->processes_per_node.value;
    facts.cpus_per_node = job->cpus_per_node;
    facts.host_memory_gib = job->host_memory_bytes / 1073741824.0;
    facts.time_limit_h = job->time_limit_h;
    facts.restarts = n->restarts.value;
    facts.spot = (signed char)job->spot;
    facts.has_time_limit = ap_known(job->time_limit_h) ? 1 : 0;
    facts.has_checkpoint = facts.fast_network = -1;
    return facts;
}

static void add(ap_judge *j, const ap_finding *finding)
{
    ap_jobfinding *added = ap_judge_add(j, AP_FAULT_POLICY, ap_job_chip_pos(j), "policy %s%s: %s", finding->policy,
                                        finding->severity == AP_ERROR ? " broken" : "", finding->message);
    added->id = finding->id;
    added->severity = (ap_severity)finding->severity;
    added->hint = finding->fix;
}

static void add_all(ap_judge *j, const ap_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].policy)
            add(j, &findings->items[i]);
}

void ap_find_policies(ap_judge *j)
{
    const ap_ruleset *set = j->request->policies;
    if (!set || set->count == 0)
        return;
    if (!j->job->estimated) {
        ap_jobfinding *added =
            ap_judge_add(j, AP_FAULT_POLICY, ap_job_top(j),
                         "%zu rules of policies cannot be decided: the job has no estimate", set->count);
        added->severity = AP_WARNING;
        return;
    }
    ap_job_facts file = facts_of_file(j);
    ap_result result = j->job->result;
    j->job->search.job_file = &file;
    (void)ap_reasons_explain(ap_reasons_new(&j->job->search, set, AP_SCOPE_CHECK), &result);
    j->job->search.job_file = NULL;
    add_all(j, &result.warnings);
    add_all(j, &result.reasons);
}
