/* Any bytes as a rule file: it is read or refused with located findings; what was read can be run, tested and printed. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "plan/facts.h"
#include "rules/ruleset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_diags_init(&diags, arena);
    ap_ruleset *set = ap_ruleset_new(arena, &ap_plan_fact_schema);
    ap_status status = ap_ruleset_load_text(set, "fuzz.yaml", (const char *)data, size, &diags, NULL);
    if (status != AP_OK && diags.errors == 0)
        abort();
    ap_cel_value *values = AP_NEW_ARRAY(arena, ap_cel_value, set->schema->count);
    ap_rule_hit *hits = AP_NEW_ARRAY(arena, ap_rule_hit, set->count + 1);
    ap_facts_unknown(set->schema, values);
    for (int phase = 0; phase < AP_PHASE_COUNT; phase++) {
        size_t count = ap_ruleset_run(set, (ap_rule_query){AP_SCOPE_ALL, phase}, values, arena, hits);
        for (size_t i = 0; i < count; i++) {
            const ap_rule_evidence *evidence;
            if (!ap_rule_message(set, hits[i].item->rule->because, values, arena))
                abort();
            ap_rule_evidence_of(set, hits[i].item, values, arena, &evidence);
        }
    }
    const ap_rule_test *tests;
    ap_ruleset_test(set, arena, &tests);
    return 0;
}
