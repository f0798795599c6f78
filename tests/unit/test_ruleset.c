/* Rules and policies as files: faults, order, phases, messages, undecided facts, the built-in knowledge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan/knowledge.h"

typedef struct fixture {
    ap_arena *arena;
    ap_diags diags;
    ap_ruleset *set;
} fixture;

static int set_up(void **state)
{
    ap_arena *arena = ap_arena_new();
    fixture *f = AP_NEW(arena, fixture);
    f->arena = arena;
    ap_diags_init(&f->diags, arena);
    f->set = ap_ruleset_new(arena, &ap_plan_fact_schema);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    ap_arena_free(((fixture *)*state)->arena);
    return 0;
}

static ap_status load(fixture *f, const char *text)
{
    return ap_ruleset_load_text(f->set, "r.yaml", text, strlen(text), &f->diags, NULL);
}

static bool complained(const fixture *f, int code, int line, const char *part)
{
    for (size_t i = 0; i < f->diags.count; i++) {
        const ap_diag *d = &f->diags.items[i];
        if (d->code == code && d->pos.line == line && strstr(d->message, part))
            return true;
    }
    for (size_t i = 0; i < f->diags.count; i++)
        print_error("%d:%d AP%04d %s\n", f->diags.items[i].pos.line, f->diags.items[i].pos.col, f->diags.items[i].code, f->diags.items[i].message);
    return false;
}

static void test_ten_faults_give_ten_findings(void **state)
{
    fixture *f = *state;
    static const char text[] = "rules:\n"
                               "  - {id: A1, title: t, when: chip.memory_gb > 1.0, then: reject, because: b}\n"        /* 2 name */
                               "  - {id: A2, title: t, when: chip.count > , then: reject, because: b}\n"               /* 3 syntax */
                               "  - {id: A3, title: t, when: chip.count + 1, then: reject, because: b}\n"              /* 4 no bool */
                               "  - {id: A4, title: t, when: chip.count > 1, then: refuse, because: b}\n"              /* 5 action */
                               "  - {id: A5, title: t, when: chip.count > 1, then: prefer(7), because: b}\n"           /* 6 weight */
                               "  - {id: A6, title: t, when: chip.count > 1, then: note, because: \"{chip.nam}\"}\n"   /* 7 template */
                               "  - {id: A7, title: t, when: chip.count > 1, then: note, because: b, scope: [all]}\n"  /* 8 scope */
                               "  - {id: A8, title: t, when: chip.kind == 3, then: note, because: b}\n"                /* 9 type */
                               "  - {id: A9, title: t, when: chip.kind.startWith('g'), then: note, because: b}\n"       /* 10 function */
                               "  - {id: A9, title: t, when: chip.kind.matches('('), then: assume(x), because: b}\n";  /* 11 regex, action */
    assert_int_equal(load(f, text), AP_BAD_INPUT);
    assert_true(f->diags.count >= 11);
    assert_true(complained(f, 602, 2, "chip.memory_gb"));
    assert_true(complained(f, 601, 3, ""));
    assert_true(complained(f, 604, 4, "A3"));
    assert_true(complained(f, 611, 5, "refuse"));
    assert_true(complained(f, 611, 6, "A5"));
    assert_true(complained(f, 602, 7, "chip.nam"));
    assert_true(complained(f, 612, 8, "all"));
    assert_true(complained(f, 604, 9, "string == int"));
    assert_true(complained(f, 603, 10, "startWith"));
    assert_true(complained(f, 601, 11, "regular expression"));
    assert_int_equal(f->set->count, 0);
}

/* Faults of the form do not hide those of the expressions. */
static void test_faults_of_form_and_content_come_together(void **state)
{
    fixture *f = *state;
    static const char text[] = "policy: p\nmode: enforced\nrules:\n"                                       /* 2 */
                               "  - {id: B1, title: t, when: chip.coun > 1, then: note, because: b}\n"        /* 4 */
                               "  - {id: B2, title: t, then: rejct, because: \"{chip.knd}\", bogus: 1}\n"     /* 5: when, action, template, key */
                               "  - {id: B1, title: t, when: chip.count > 1, then: note, because: b}\n"       /* 6: id, of a faulty rule */
                               "  - {title: t, when: chip.count > 1.0 + 'a', then: note, because: b}\n";      /* 7: id, types */
    assert_int_equal(load(f, text), AP_BAD_INPUT);
    assert_int_equal(f->diags.count, 9);
    assert_true(complained(f, 206, 2, "enforced"));
    assert_true(complained(f, 602, 4, "chip.coun"));
    assert_true(complained(f, 202, 5, "when"));
    assert_true(complained(f, 611, 5, "rejct"));
    assert_true(complained(f, 602, 5, "chip.knd"));
    assert_true(complained(f, 201, 5, "bogus"));
    assert_true(complained(f, 613, 6, "B1"));
    assert_true(complained(f, 202, 7, "id"));
    assert_true(complained(f, 604, 7, "double + string"));
    assert_int_equal(f->set->count, 0);
}

static void test_expressions_over_several_lines_are_located(void **state)
{
    fixture *f = *state;
    static const struct { const char *when; int line, col; } rows[] = {
        {"|\n      chip.count > 1\n        && chip.knd == 'x'", 6, 12}, {">-\n      chip.count > 1\n      && chip.knd == 'x'", 6, 10},
        {"chip.count > 1\n      && chip.knd == 'x'", 5, 10},            {"\"chip.count > 1 && chip.knd == 'x'\"", 4, 30},
        {"|\n      chip.kind == '\xC3\xA9' || chip.knd == 'x'", 5, 27},  {"|\n      chip.count >", 5, 19},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t before = f->diags.count;
        const char *text = ap_arena_printf(f->arena, "rules:\n  - id: A1\n    title: t\n    when: %s\n    then: note\n    because: b\n", rows[i].when);
        assert_int_equal(load(f, text), AP_BAD_INPUT);
        assert_int_equal(f->diags.count, before + 1);
        assert_int_equal(f->diags.items[before].pos.line, rows[i].line);
        assert_int_equal(f->diags.items[before].pos.col, rows[i].col);
    }
}

static void test_an_expression_is_located_in_its_file(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "rules:\n  - id: A1\n    title: t\n    when: chip.count > 1 && chip.knd == 'gpu'\n    then: note\n    because: b\n"), AP_BAD_INPUT);
    assert_int_equal(f->diags.items[0].pos.line, 4);
    assert_int_equal(f->diags.items[0].pos.col, 29); /* "    when: " is 10 columns, chip.knd the 19th of the expression */
    assert_non_null(strstr(f->diags.items[0].hint, "chip.kind"));
    assert_non_null(f->diags.items[0].source_line);
}

static void test_rules_are_ordered_by_phase_priority_and_id(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "rules:\n"
                             "  - {id: C, title: t, when: estimate.time_h > 1.0, then: note, because: b, priority: 9}\n"
                             "  - {id: B, title: t, when: chip.count > 1, then: note, because: b}\n"
                             "  - {id: A, title: t, when: chip.count > 1, then: note, because: b}\n"
                             "  - {id: Z, title: t, when: chip.count > 1, then: note, because: b, priority: 1}\n"
                             "  - {id: W, title: t, when: workload.params > 1.0, then: note, because: b}\n"), AP_OK);
    static const char *const want[] = {"W", "Z", "A", "B", "C"};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(f->set->items[i].rule->id, want[i]);
}

static ap_rule_facts *some_facts(fixture *f)
{
    ap_rule_facts *facts = AP_NEW(f->arena, ap_rule_facts);
    ap_rule_facts_clear(facts);
    facts->workload.params = 8.03e9;
    facts->chip.name = "L4";
    facts->chip.kind = "gpu";
    facts->chip.memory_gib = 24;
    facts->chip.count = 2;
    facts->estimate.mfu_frac = 0.412;
    facts->estimate.time_h = 10;
    return facts;
}

typedef struct outcome {
    ap_rule_hit hits[16];
    size_t count;
    ap_cel_value values[400];
} outcome;

/* All phases over one set of facts. */
static outcome *run_all(fixture *f, unsigned scopes)
{
    outcome *o = AP_NEW(f->arena, outcome);
    assert_true(f->set->count <= 16 && f->set->schema->count <= 400);
    ap_facts_unknown(f->set->schema, o->values);
    for (int phase = 0; phase < AP_PHASE_COUNT; phase++) {
        ap_fact_filter filter = {phase, f->set->used};
        ap_facts_bind(f->set->schema, &filter, some_facts(f), f->arena, o->values);
        ap_rule_query query = {scopes, phase};
        o->count += ap_ruleset_run(f->set, query, o->values, f->arena, o->hits + o->count);
    }
    return o;
}

static void test_a_message_has_the_numbers_in_it(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "rules:\n  - {id: A, title: t, when: chip.memory_gib < 30.0, then: warn, because: \"{chip.count} x {chip.name}: {chip.memory_gib}, "
                             "{workload.params} parameters, {estimate.mfu_frac}, {estimate.cost_usd}\"}\n"), AP_OK);
    outcome *o = run_all(f, AP_SCOPE_RECOMMEND);
    assert_int_equal(o->count, 1);
    assert_string_equal(ap_rule_message(f->set, o->hits[0].item->rule->because, o->values, f->arena),
                        "2 x L4: 24 GiB, 8.03 B parameters, 41 %, unknown");
}

static void test_evidence_names_what_was_looked_at(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "rules:\n  - {id: A, title: t, when: chip.memory_gib < 30.0 && chip.count > 1, then: warn, because: b}\n"), AP_OK);
    outcome *o = run_all(f, AP_SCOPE_RECOMMEND);
    const ap_rule_evidence *evidence;
    assert_int_equal(ap_rule_evidence_of(f->set, o->hits[0].item, o->values, f->arena, &evidence), 2);
    assert_string_equal(evidence[0].fact->path, "chip.count");
    assert_string_equal(evidence[0].text, "2");
    assert_string_equal(evidence[1].text, "24 GiB");
}

static void test_undecided_rules_say_so(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "policy: house\nrules:\n"
                             "  - {id: P1, title: cheap runs, when: estimate.cost_usd > 5.0, then: note, because: b}\n"
                             "  - {id: P2, title: short runs, when: estimate.time_h > 50.0, then: reject, because: b}\n"), AP_OK);
    assert_int_equal(load(f, "rules:\n  - {id: A1, title: t, when: estimate.peak_gib > 1.0, then: note, because: b}\n"
                             "  - {id: A2, title: t, when: estimate.peak_gib > 1.0, then: reject, because: b}\n"), AP_OK);
    outcome *o = run_all(f, AP_SCOPE_ESTIMATE);
    assert_int_equal(o->count, 2); /* P2 holds, A1 is a note: both silent */
    assert_string_equal(o->hits[0].item->rule->id, "A2");
    assert_string_equal(o->hits[1].item->rule->id, "P1");
    assert_true(o->hits[1].undecided && o->hits[1].item->enforce);
    assert_string_equal(ap_rule_why_undecided(&o->hits[1], f->arena), "estimate.cost_usd is unknown");
}

static void test_scopes_and_audit_mode(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "policy: house\nmode: audit\nrules:\n  - {id: P1, title: t, when: estimate.time_h > 5.0, then: reject, because: b, scope: check}\n"), AP_OK);
    assert_int_equal(run_all(f, AP_SCOPE_RECOMMEND | AP_SCOPE_ESTIMATE)->count, 0);
    outcome *o = run_all(f, AP_SCOPE_CHECK);
    assert_int_equal(o->count, 1);
    assert_true(o->hits[0].item->policy);
    assert_false(o->hits[0].item->enforce);
}

static void test_actions_are_read(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "rules:\n"
                             "  - {id: A1, title: t, when: workload.params > 1e9, then: \"assume(precision, bf16)\", because: b}\n"
                             "  - {id: A2, title: t, when: workload.params > 1e9, then: prefer(-0.25), because: b, severity: warning}\n"), AP_OK);
    const ap_rule_item *assume = ap_ruleset_find(f->set, "A1"), *prefer = ap_ruleset_find(f->set, "A2");
    assert_string_equal(assume->assume_field, "precision");
    assert_string_equal(assume->assume_value, "bf16");
    assert_int_equal(assume->severity, AP_NOTE);
    assert_true(prefer->weight > -0.2501 && prefer->weight < -0.2499);
    assert_int_equal(prefer->severity, AP_WARNING);
}

static void test_examples_that_lie_are_found(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "source: s\nrules:\n  - {id: A1, title: t, when: chip.count > 1, then: note, because: b, examples: [{facts: {chip.count: 1}, fires: true}, "
                             "{facts: {chip.cuont: 2}, fires: true}, {facts: {chip.kind: gpu}, fires: false}]}\n"), AP_OK);
    const ap_rule_test *tests;
    size_t count = ap_ruleset_test(f->set, f->arena, &tests);
    assert_int_equal(count, 3);
    assert_false(tests[0].passed); /* does not fire */
    assert_false(tests[1].passed); /* no such fact */
    assert_false(tests[2].passed); /* undecided */
    assert_non_null(strstr(tests[2].message, "chip.count is unknown"));
}

/* --- the built-in rules --- */

static ap_ruleset *everything(fixture *f)
{
    static const char *packs[] = {"careful-data", "efficient-use", "eu-only", "green", "spend-approval", "spot-with-checkpoints"};
    ap_knowledge_request request = {.policies = {packs, 6}};
    ap_ruleset *set;
    assert_int_equal(ap_knowledge_load(&request, f->arena, &f->diags, &set), AP_OK);
    return set;
}

static void test_built_in_rules_pass_their_examples(void **state)
{
    fixture *f = *state;
    ap_ruleset *set = everything(f);
    const ap_rule_test *tests;
    size_t count = ap_ruleset_test(set, f->arena, &tests);
    assert_true(set->count >= 80);
    assert_true(count >= 2 * set->count);
    for (size_t i = 0; i < count; i++) {
        if (!tests[i].passed)
            print_error("%s: %s\n", tests[i].item->rule->id, tests[i].message);
        assert_true(tests[i].passed);
    }
}

/* A rejected target is explained before any plan exists, so its text must not need one. */
static void test_texts_need_no_later_facts(void **state)
{
    fixture *f = *state;
    ap_ruleset *set = everything(f);
    for (size_t i = 0; i < set->count; i++) {
        const ap_rule_item *item = &set->items[i];
        for (size_t k = 0; k < set->schema->count; k++) {
            const ap_fact *fact = &set->schema->facts[k];
            const char *placeholder = ap_arena_printf(f->arena, "{%s}", fact->path);
            if (item->action == AP_RULE_REJECT && fact->phase > item->phase && strstr(item->rule->because, placeholder)) {
                print_error("%s: %s\n", item->rule->id, fact->path);
                assert_true(false);
            }
        }
    }
}

static void test_an_unknown_pack_suggests(void **state)
{
    fixture *f = *state;
    static const char *packs[] = {"eu-onl"};
    ap_knowledge_request request = {.policies = {packs, 1}};
    ap_ruleset *set;
    assert_int_equal(ap_knowledge_load(&request, f->arena, &f->diags, &set), AP_USAGE);
    assert_non_null(strstr(f->diags.items[0].hint, "eu-only"));
}

static void test_paths_of_facts_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < ap_plan_fact_schema.count; i++) {
        const ap_fact *fact = &ap_plan_fact_schema.facts[i];
        assert_true(fact->offset < sizeof(ap_rule_facts));
        assert_true(fact->doc && fact->doc[0]);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(fact->path, ap_plan_fact_schema.facts[k].path);
            assert_int_not_equal(fact->offset, ap_plan_fact_schema.facts[k].offset);
        }
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ten_faults_give_ten_findings), TEST(test_faults_of_form_and_content_come_together), TEST(test_expressions_over_several_lines_are_located),
        TEST(test_an_expression_is_located_in_its_file), TEST(test_rules_are_ordered_by_phase_priority_and_id),
        TEST(test_a_message_has_the_numbers_in_it), TEST(test_evidence_names_what_was_looked_at), TEST(test_undecided_rules_say_so),
        TEST(test_scopes_and_audit_mode), TEST(test_actions_are_read), TEST(test_examples_that_lie_are_found), TEST(test_built_in_rules_pass_their_examples),
        TEST(test_texts_need_no_later_facts), TEST(test_an_unknown_pack_suggests), TEST(test_paths_of_facts_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
