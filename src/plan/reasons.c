#include "plan/reasons.h"

#include <string.h>

struct ap_reasons {
    ap_search *search;
    const ap_ruleset *all;
    ap_ruleset refusing; /* the rules and policies that reject */
    unsigned scope;
    ap_rule_facts facts;
    ap_cel_value *values;
    ap_rule_hit *hits;
};

static void bind(ap_reasons *reasons, const ap_ruleset *set, int phase)
{
    ap_fact_filter filter = {.phase = phase, .used = set->used};
    ap_facts_bind(set->schema, &filter, &reasons->facts, reasons->search->arena, reasons->values);
}

ap_reasons *ap_reasons_new(ap_search *search, const ap_ruleset *set, unsigned scope)
{
    ap_reasons *reasons = AP_NEW(search->arena, ap_reasons);
    reasons->search = search;
    reasons->all = set;
    reasons->scope = scope;
    ap_ruleset_only(set, AP_RULE_REJECT, &reasons->refusing);
    reasons->values = AP_NEW_ARRAY(search->arena, ap_cel_value, set->schema->count + 1);
    reasons->hits = AP_NEW_ARRAY(search->arena, ap_rule_hit, set->count + 1);
    ap_rule_facts *unknown = AP_NEW(search->arena, ap_rule_facts);
    ap_rule_facts_clear(unknown);
    search->unknown_facts = unknown;
    ap_facts_of_job(search, &reasons->facts);
    ap_facts_unknown(set->schema, reasons->values);
    bind(reasons, set, AP_PHASE_WORKLOAD);
    return reasons;
}

static ap_severity severity_of(const ap_rule_hit *hit)
{
    ap_severity severity = hit->item->policy && !hit->item->enforce ? AP_NOTE : hit->item->severity;
    return hit->undecided && severity == AP_ERROR ? AP_WARNING : severity;
}

static const ap_finding *finding_of(ap_reasons *reasons, const ap_rule_hit *hit)
{
    ap_arena *arena = reasons->search->arena;
    ap_finding *finding = AP_NEW(arena, ap_finding);
    finding->id = hit->item->rule->id;
    finding->policy = hit->item->policy ? hit->item->file->policy : NULL;
    finding->severity = (int)severity_of(hit);
    finding->broken = hit->item->policy && hit->item->enforce && hit->item->severity == AP_ERROR;
    finding->message = hit->undecided ? ap_arena_printf(arena, "%s: cannot be decided, %s", hit->item->rule->title, ap_rule_why_undecided(hit, arena))
                                      : ap_rule_message(reasons->all, hit->item->rule->because, reasons->values, arena);
    return finding;
}

/* Sentences name more facts than conditions do. */
static void bind_all(ap_reasons *reasons, int last_phase)
{
    for (int phase = AP_PHASE_WORKLOAD; phase <= last_phase; phase++) {
        ap_fact_filter every = {.phase = phase};
        ap_facts_bind(reasons->all->schema, &every, &reasons->facts, reasons->search->arena, reasons->values);
    }
}

/* A policy that cannot be decided never counts as passed; a rule of ours that cannot be decided says nothing. Before the
 * price is chosen (`final` false) region and price are unknown to everybody: nothing undecided counts then. */
static const ap_finding *first_refusal(ap_reasons *reasons, int phase, bool final)
{
    ap_rule_query query = {.scopes = reasons->scope, .phase = phase};
    size_t count = ap_ruleset_run(&reasons->refusing, query, reasons->values, reasons->search->arena, reasons->hits);
    for (size_t i = 0; i < count; i++) {
        const ap_rule_item *item = reasons->hits[i].item;
        if (item->policy && !item->enforce)
            continue;
        if (reasons->hits[i].undecided && !(item->policy && final))
            continue;
        bind_all(reasons, phase);
        return finding_of(reasons, &reasons->hits[i]);
    }
    return NULL;
}

const ap_finding *ap_reasons_refuse_target(ap_reasons *reasons, const ap_hardware *hw)
{
    ap_facts_of_target(reasons->search, hw, NULL, AP_PRICE_ON_DEMAND, &reasons->facts);
    bind(reasons, &reasons->refusing, AP_PHASE_TARGET);
    const ap_finding *any_target = first_refusal(reasons, AP_PHASE_WORKLOAD, false);
    return any_target ? any_target : first_refusal(reasons, AP_PHASE_TARGET, false);
}

const ap_finding *ap_reasons_refuse_result(ap_reasons *reasons, const ap_result *result)
{
    ap_facts_of_result(reasons->search, result, &reasons->facts);
    bind(reasons, &reasons->refusing, AP_PHASE_TARGET);
    bind(reasons, &reasons->refusing, AP_PHASE_PLAN);
    const ap_finding *refusal = NULL;
    for (int phase = AP_PHASE_WORKLOAD; phase < AP_PHASE_COUNT && !refusal; phase++)
        refusal = first_refusal(reasons, phase, true);
    return refusal;
}

static ap_text_map facts_of(const ap_reasons *reasons, const ap_rule_hit *hit)
{
    ap_arena *arena = reasons->search->arena;
    const ap_rule_evidence *evidence;
    size_t count = ap_rule_evidence_of(reasons->all, hit->item, reasons->values, arena, &evidence);
    ap_text_map map = {AP_NEW_ARRAY(arena, ap_text_pair, count + 1), count};
    for (size_t i = 0; i < count; i++)
        map.items[i] = (ap_text_pair){evidence[i].fact->path, evidence[i].text};
    return map;
}

/* What speaks for the hardware comes before what is only worth knowing, and a broken policy before everything. Returns
 * whether it is one. */
static bool add(ap_reasons *reasons, ap_findings *list, const ap_rule_hit *hit)
{
    ap_finding *items = AP_NEW_ARRAY(reasons->search->arena, ap_finding, list->count + 1); /* a handful at most */
    ap_finding finding = *finding_of(reasons, hit);
    finding.fix = ap_rule_message(reasons->all, hit->item->rule->fix, reasons->values, reasons->search->arena);
    finding.facts = facts_of(reasons, hit);
    finding.preferred = hit->item->action == AP_RULE_PREFER && hit->item->weight > 0;
    size_t at = list->count;
    if (finding.preferred || finding.broken)
        for (at = 0; at < list->count && (finding.broken ? list->items[at].broken : list->items[at].preferred);)
            at++;
    if (at)
        memcpy(items, list->items, at * sizeof *items);
    items[at] = finding;
    if (list->count > at)
        memcpy(items + at + 1, list->items + at, (list->count - at) * sizeof *items);
    list->items = items;
    list->count++;
    return finding.broken;
}

bool ap_reasons_explain(ap_reasons *reasons, ap_result *result)
{
    bool broken = false;
    ap_facts_of_result(reasons->search, result, &reasons->facts);
    bind_all(reasons, AP_PHASE_PLAN);
    for (int phase = AP_PHASE_WORKLOAD; phase < AP_PHASE_COUNT; phase++) {
        ap_rule_query query = {.scopes = reasons->scope, .phase = phase};
        size_t count = ap_ruleset_run(reasons->all, query, reasons->values, reasons->search->arena, reasons->hits);
        for (size_t i = 0; i < count; i++) {
            const ap_rule_item *item = reasons->hits[i].item;
            bool bad = item->action == AP_RULE_REJECT || item->action == AP_RULE_WARN || item->weight < 0;
            if (reasons->hits[i].undecided && !item->policy)
                continue;
            broken = add(reasons, bad ? &result->warnings : &result->reasons, &reasons->hits[i]) || broken;
        }
    }
    ap_result_warn_of_price(result, reasons->search->arena);
    return broken;
}

size_t ap_reasons_assumptions(ap_reasons *reasons, const ap_rule_assumption **ret_items)
{
    ap_rule_query query = {.scopes = reasons->scope, .phase = AP_PHASE_WORKLOAD};
    size_t fired = ap_ruleset_run(reasons->all, query, reasons->values, reasons->search->arena, reasons->hits), count = 0;
    ap_rule_assumption *items = AP_NEW_ARRAY(reasons->search->arena, ap_rule_assumption, fired + 1);
    for (size_t i = 0; i < fired; i++) {
        const ap_rule_item *item = reasons->hits[i].item;
        bool taken = reasons->hits[i].undecided || item->action != AP_RULE_ASSUME;
        for (size_t k = 0; k < count && !taken; k++)
            taken = ap_streq(items[k].field, item->assume_field);
        if (taken)
            continue;
        bind_all(reasons, AP_PHASE_WORKLOAD);
        items[count++] = (ap_rule_assumption){item->rule->id, item->assume_field, item->assume_value, finding_of(reasons, &reasons->hits[i])->message};
    }
    *ret_items = items;
    return count;
}
