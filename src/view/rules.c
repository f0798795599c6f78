#include "view/rules.h"

#include <string.h>

#include "base/text.h"
#include "view/view.h"

static void put(ap_arena *arena, ap_value *map, const char *key, const char *text)
{
    ap_value_put(arena, map, key, ap_value_text(arena, text));
}

static ap_value *scopes_of(ap_arena *arena, const ap_rule_item *item)
{
    ap_value *list = ap_value_list(arena);
    for (unsigned i = 0; ap_rule_scope_names[i]; i++)
        if (item->scopes & 1u << i)
            ap_value_push(arena, list, ap_value_text(arena, ap_rule_scope_names[i]));
    return list;
}

static const char *phase_name(int phase)
{
    static const char *const names[] = {"run", "target", "plan"};
    return phase >= 0 && phase < 3 ? names[phase] : "?";
}

static ap_value *rule_value(ap_arena *arena, const ap_rule_item *item)
{
    const ap_rule *rule = item->rule;
    ap_value *map = ap_value_map(arena);
    put(arena, map, "id", rule->id);
    put(arena, map, "title", rule->title);
    put(arena, map, "then", rule->then);
    put(arena, map, "severity", ap_severity_name(item->severity));
    put(arena, map, "when", rule->when);
    put(arena, map, "because", rule->because);
    put(arena, map, "fix", rule->fix);
    put(arena, map, "source", rule->source ? rule->source : item->file->source);
    put(arena, map, "policy", item->file->policy);
    put(arena, map, "mode", item->policy ? ap_rule_mode_names[item->enforce ? AP_MODE_ENFORCE : AP_MODE_AUDIT] : NULL);
    ap_value_put(arena, map, "scope", scopes_of(arena, item));
    put(arena, map, "known_per", phase_name(item->phase));
    ap_value_put(arena, map, "priority", ap_value_num(arena, item->priority));
    ap_value_put(arena, map, "examples_count", ap_value_int(arena, (int64_t)rule->examples.count));
    return map;
}

static const ap_column list_columns[] = {
    {.title = "Rule", .path = "id", .priority = 1},
    {.title = "Title", .path = "title", .priority = 1, .flexible = true},
    {.title = "Then", .path = "then", .priority = 1},
    {.title = "Policy", .path = "policy", .priority = 3},
    {.title = "Source", .path = "source", .priority = 4, .flexible = true},
};

ap_doc *ap_view_rule_list(ap_arena *arena, const ap_catalog *catalog, const ap_ruleset *set, const ap_rule_view *view)
{
    ap_doc *doc = ap_view_begin(arena, view->kind, catalog);
    ap_value *items = ap_value_list(arena);
    size_t next = 0;
    const ap_rule_item **sorted = AP_NEW_ARRAY(arena, const ap_rule_item *, set->count + 1);
    for (size_t i = 0; i < set->count; i++) { /* by id; insertion: the set is nearly in this order already */
        size_t at = next++;
        for (; at > 0 && strcmp(sorted[at - 1]->rule->id, set->items[i].rule->id) > 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = &set->items[i];
    }
    for (size_t i = 0; i < next; i++)
        if (!view->name_glob || ap_glob_match(view->name_glob, sorted[i]->rule->id))
            ap_value_push(arena, items, rule_value(arena, sorted[i]));
    ap_value_put(arena, doc->root, "items", items);
    ap_block *table = ap_doc_table(doc, items, list_columns, sizeof list_columns / sizeof *list_columns);
    table->main = true;
    table->limit = view->limit;
    return doc;
}

static ap_value *facts_of(ap_arena *arena, const ap_ruleset *set, const ap_rule_item *item)
{
    ap_cel_value *unknown = AP_NEW_ARRAY(arena, ap_cel_value, set->schema->count);
    const ap_rule_evidence *evidence;
    ap_facts_unknown(set->schema, unknown);
    size_t count = ap_rule_evidence_of(set, item, unknown, arena, &evidence);
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < count; i++) {
        ap_value *row = ap_value_map(arena);
        put(arena, row, "fact", evidence[i].fact->path);
        put(arena, row, "unit", evidence[i].fact->unit);
        put(arena, row, "meaning", evidence[i].fact->doc);
        ap_value_push(arena, list, row);
    }
    return list;
}

static ap_value *examples_of(ap_arena *arena, const ap_rule *rule)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < rule->examples.count; i++) {
        const ap_rule_example *example = &rule->examples.items[i];
        ap_value *row = ap_value_map(arena), *facts = ap_value_map(arena);
        ap_sbuf text;
        ap_sbuf_init(&text, arena);
        for (size_t f = 0; f < example->facts.count; f++) {
            put(arena, facts, example->facts.items[f].key, example->facts.items[f].value);
            ap_sbuf_printf(&text, "%s%s = %s", f ? ", " : "", example->facts.items[f].key, example->facts.items[f].value);
        }
        ap_value_put(arena, row, "fires", ap_value_bool(arena, example->fires == 1));
        ap_value_put(arena, row, "facts", facts);
        put(arena, row, "text", text.text);
        ap_value_push(arena, list, row);
    }
    return list;
}

static const ap_column fact_columns[] = {
    {.title = "Fact", .path = "fact", .priority = 1},
    {.title = "Unit", .path = "unit", .priority = 2},
    {.title = "Meaning", .path = "meaning", .priority = 1, .flexible = true},
};
static const ap_column example_columns[] = {
    {.title = "Fires", .path = "fires", .priority = 1},
    {.title = "On", .path = "text", .priority = 1, .flexible = true},
};

ap_doc *ap_view_rule(ap_arena *arena, const ap_catalog *catalog, const ap_ruleset *set, const ap_rule_item *item,
                     const ap_rule_view *view)
{
    const ap_rule *rule = item->rule;
    ap_doc *doc = ap_view_begin(arena, view->kind, catalog);
    ap_value *map = rule_value(arena, item), *sources = ap_value_list(arena);
    for (size_t i = 0; i < map->as.map.count; i++)
        ap_value_put(arena, doc->root, map->as.map.keys[i], map->as.map.values[i]);
    ap_value_push(arena, sources, ap_value_text(arena, rule->source ? rule->source : item->file->source));
    ap_value *facts = facts_of(arena, set, item), *examples = examples_of(arena, rule);
    ap_value_put(arena, doc->root, "sources", sources);
    ap_value_put(arena, doc->root, "facts", facts);
    ap_value_put(arena, doc->root, "examples", examples);
    ap_doc_heading(doc, ap_arena_printf(arena, "%s  %s", rule->id, rule->title));
    ap_doc_paragraph(doc, "%s", rule->because);
    ap_value *sheet = ap_value_map(arena);
    put(arena, sheet, "when", rule->when);
    put(arena, sheet, "then", rule->then);
    put(arena, sheet, "severity", ap_severity_name(item->severity));
    if (rule->fix)
        put(arena, sheet, "fix", rule->fix);
    if (item->file->policy)
        put(arena, sheet, "policy", item->file->policy);
    put(arena, sheet, "source", rule->source ? rule->source : item->file->source);
    ap_doc_sheet(doc, sheet);
    ap_doc_heading(doc, "Looks at");
    ap_doc_table(doc, facts, fact_columns, sizeof fact_columns / sizeof *fact_columns)->main = true;
    ap_doc_heading(doc, "Examples");
    ap_doc_table(doc, examples, example_columns, sizeof example_columns / sizeof *example_columns);
    return doc;
}

const char *ap_view_rule_suggest(ap_arena *arena, const ap_ruleset *set, const char *wanted)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, wanted);
    for (size_t i = 0; i < set->count; i++)
        ap_suggest_offer(&suggest, set->items[i].rule->id);
    return ap_suggest_text(&suggest, arena);
}
