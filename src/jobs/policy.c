/* Policies of the user over the job as written: facts of job, target and estimate, rules of scope `check`. */
#include "plan/facts.h"
#include "plan/reasons.h"
#include "rules/ruleset.h"

#include <string.h>

#include "jobs/understand.h"

static signed char flag_of(bool yes)
{
    return yes ? 1 : 0;
}

static void fill_job_facts(const ap_judge *j, ap_job_facts *ret)
{
    const ap_checkjob *job = j->job;
    ret->format = ap_jobformat_names[job->format];
    ret->image = j->f->t.image.value;
    ret->nodes = job->nodes.value;
    ret->chips_per_node = job->chips_per_node.value;
    ret->processes_per_node = job->processes_per_node.value;
    ret->cpus_per_node = job->cpus_per_node;
    ret->host_memory_gib = job->host_memory_bytes / 1073741824.0;
    ret->time_limit_h = job->time_limit_h;
    ret->restarts = j->f->n.restarts.value;
    ret->spot = (signed char)job->spot;
    ret->has_time_limit = flag_of(ap_jnum_stated(&j->f->n.time_limit_s));
    if (ap_jnum_stated(&j->f->n.fast_network))
        ret->fast_network = flag_of(ap_is(&j->f->n.fast_network));
    bool off = j->f->t.save_strategy.value && strcmp(j->f->t.save_strategy.value, "no") == 0;
    if (off || ap_jnum_stated(&j->f->n.save_steps))
        ret->has_checkpoint = flag_of(!off);
}

static void report(ap_judge *j, const ap_ruleset *set, const ap_rule_hit *hit, const ap_cel_value *values)
{
    const ap_rule_item *item = hit->item;
    bool bad = item->action == AP_RULE_REJECT || item->action == AP_RULE_WARN;
    if (!bad || !item->policy)
        return;
    const char *text = hit->undecided ? ap_arena_printf(j->arena, "%s: cannot be decided, %s", item->rule->title ? item->rule->title : item->rule->id, ap_rule_why_undecided(hit, j->arena))
                                      : ap_rule_message(set, item->rule->because ? item->rule->because : item->rule->title, values, j->arena);
    ap_jobfinding *finding = ap_judge_add(j, AP_FAULT_POLICY, ap_job_chip_pos(j), "%s", text);
    finding->id = item->rule->id;
    finding->severity = hit->undecided ? AP_NOTE : item->enforce ? item->severity : AP_WARNING;
    if (!hit->undecided && item->rule->fix)
        finding->hint = ap_rule_message(set, item->rule->fix, values, j->arena);
}

void ap_find_policies(ap_judge *j)
{
    const ap_ruleset *set = j->request->rules;
    ap_checkjob *job = j->job;
    if (!set || set->count == 0 || !job->estimated)
        return;
    ap_rule_facts *facts = AP_NEW(j->arena, ap_rule_facts), *unknown = AP_NEW(j->arena, ap_rule_facts);
    ap_rule_facts_clear(facts);
    ap_rule_facts_clear(unknown);
    job->search.unknown_facts = unknown;
    ap_facts_of_job(&job->search, facts);
    fill_job_facts(j, &facts->job);
    ap_facts_of_target(&job->search, &job->result.hw, job->result.price, job->result.pricing, facts);
    if (!job->result.plan->est.error)
        ap_facts_of_result(&job->search, &job->result, facts);
    ap_cel_value *values = AP_NEW_ARRAY(j->arena, ap_cel_value, set->schema->count + 1);
    ap_rule_hit *hits = AP_NEW_ARRAY(j->arena, ap_rule_hit, set->count + 1);
    ap_facts_unknown(set->schema, values);
    for (int phase = 0; phase < AP_PHASE_COUNT; phase++)
        ap_facts_bind(set->schema, &(ap_fact_filter){.phase = phase}, facts, j->arena, values);
    for (int phase = 0; phase < AP_PHASE_COUNT; phase++) {
        size_t count = ap_ruleset_run(set, (ap_rule_query){.scopes = AP_SCOPE_CHECK, .phase = phase}, values, j->arena, hits);
        for (size_t i = 0; i < count; i++)
            report(j, set, &hits[i], values);
    }
}
