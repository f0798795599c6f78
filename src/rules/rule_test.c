/* A rule's own examples: facts as text -> does it fire. */
#include <stdint.h>
#include <string.h>

#include "base/num.h"
#include "rules/cel.h"
#include "rules/ruleset.h"

typedef struct tester {
    const ap_ruleset *set;
    ap_arena *arena;
    ap_rule_test *tests;
    size_t count, capacity;
} tester;

static void add_test(tester *t, const ap_rule_item *item, size_t example, const char *failure)
{
    *AP_PUSH(t->arena, t->tests, t->count, t->capacity) = (ap_rule_test){item, example, failure == NULL, failure};
}

static ap_cel_value list_of_words(const char *text, ap_arena *arena)
{
    ap_cel_value *items = NULL;
    size_t count = 0, capacity = 0;
    for (const char *c = text; *c;) {
        c += strspn(c, ", ");
        size_t len = strcspn(c, ",");
        while (len && c[len - 1] == ' ')
            len--;
        if (len)
            *AP_PUSH(arena, items, count, capacity) = ap_cel_text(ap_arena_strndup(arena, c, len));
        c += strcspn(c, ",");
    }
    return (ap_cel_value){.kind = AP_CEL_LIST, .as.list = {items, count}};
}

static bool parse_value(const ap_fact *fact, const char *text, ap_arena *arena, ap_cel_value *ret)
{
    double number;
    switch (fact->kind) {
    case AP_CEL_BOOL:
        *ret = ap_cel_bool(strcmp(text, "true") == 0);
        return ret->as.boolean || strcmp(text, "false") == 0;
    case AP_CEL_INT:
        if (!ap_num_parse(text, &number) || number != (double)(int64_t)number)
            return false;
        *ret = ap_cel_int((int64_t)number);
        return true;
    case AP_CEL_DOUBLE:
        *ret = ap_cel_double(0);
        return ap_num_parse(text, &ret->as.number);
    case AP_CEL_LIST:
        *ret = list_of_words(text, arena);
        return true;
    default:
        *ret = ap_cel_text(text);
        return true;
    }
}

/* NULL, or what is wrong with the example's facts. */
static const char *set_facts(const tester *t, const ap_rule_example *example, ap_cel_value *values)
{
    const ap_fact_schema *schema = t->set->schema;
    ap_facts_unknown(schema, values);
    for (size_t i = 0; i < schema->count; i++)
        if (schema->facts[i].kind == AP_CEL_LIST)
            values[i] = (ap_cel_value){.kind = AP_CEL_LIST};
    for (size_t i = 0; i < example->facts.count; i++) {
        const ap_text_pair *pair = &example->facts.items[i];
        size_t slot = 0;
        while (slot < schema->count && strcmp(schema->facts[slot].path, pair->key) != 0)
            slot++;
        if (slot == schema->count)
            return ap_arena_printf(t->arena, "there is no fact '%s'", pair->key);
        if (!pair->value || !parse_value(&schema->facts[slot], pair->value, t->arena, &values[slot]))
            return ap_arena_printf(t->arena, "%s: '%s' is no %s", pair->key, pair->value ? pair->value : "",
                                   ap_cel_kind_text(schema->facts[slot].kind));
    }
    return NULL;
}

static void run_example(tester *t, const ap_rule_item *item, size_t index)
{
    const ap_rule_example *example = &item->rule->examples.items[index];
    ap_cel_value *values = AP_NEW_ARRAY(t->arena, ap_cel_value, t->set->schema->count);
    const char *failure = set_facts(t, example, values);
    if (!failure) {
        ap_cel_value value = ap_cel_eval(item->when, values, NULL, t->arena);
        if (value.kind == AP_CEL_UNKNOWN_FACT)
            failure = ap_arena_printf(t->arena, "undecided: %s is unknown", value.as.error);
        else if (value.kind != AP_CEL_BOOL)
            failure = value.kind == AP_CEL_ERROR ? value.as.error : "no bool";
        else if (value.as.boolean != (example->fires == 1))
            failure = value.as.boolean ? "fires, but should not" : "does not fire, but should";
    }
    add_test(t, item, index, failure);
}

size_t ap_ruleset_test(const ap_ruleset *set, ap_arena *arena, const ap_rule_test **ret_tests)
{
    tester t = {.set = set, .arena = arena};
    for (size_t i = 0; i < set->count; i++) {
        const ap_rule_item *item = &set->items[i];
        bool seen[2] = {false, false};
        for (size_t e = 0; e < item->rule->examples.count; e++) {
            run_example(&t, item, e);
            seen[item->rule->examples.items[e].fires == 1] = true;
        }
        if (!item->rule->source && !item->file->source)
            add_test(&t, item, SIZE_MAX, "has no source");
        if (!seen[0] || !seen[1])
            add_test(&t, item, SIZE_MAX, seen[1] ? "has no example that does not fire" : "has no example that fires");
    }
    *ret_tests = t.tests;
    return t.count;
}
