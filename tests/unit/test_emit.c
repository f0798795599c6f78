/* Recipes: quoting, templates, limits, checkpoints. */
#include "base/num.h"
#include "emit/emit.h"
#include "testing.h"

static const char *quoted(ap_arena *arena, ap_language language, const char *text)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    ap_quote(language, text, &out);
    return out.text;
}

static void words_of_a_shell_stay_words(void **state)
{
    ap_arena *arena = *state;
    assert_string_equal(quoted(arena, AP_LANG_SHELL, "meta-llama/Llama-3.1-8B"), "meta-llama/Llama-3.1-8B");
    assert_string_equal(quoted(arena, AP_LANG_SHELL, "$(reboot)"), "'$(reboot)'");
    assert_string_equal(quoted(arena, AP_LANG_SHELL, "a b"), "'a b'");
    assert_string_equal(quoted(arena, AP_LANG_SHELL, "it's"), "'it'\\''s'");
    assert_string_equal(quoted(arena, AP_LANG_SHELL, ""), "''");
    assert_string_equal(quoted(arena, AP_LANG_SHELL, "~root"), "'~root'");
    assert_string_equal(quoted(arena, AP_LANG_SHELL, "=ls"), "'=ls'");
    assert_string_equal(quoted(arena, AP_LANG_SHELL, "a\nb"), "'a?b'");
}

static void words_of_yaml_stay_text(void **state)
{
    ap_arena *arena = *state;
    assert_string_equal(quoted(arena, AP_LANG_YAML, "nvidia-l4"), "nvidia-l4");
    assert_string_equal(quoted(arena, AP_LANG_YAML, "yes"), "\"yes\"");
    assert_string_equal(quoted(arena, AP_LANG_YAML, "No"), "\"No\"");
    assert_string_equal(quoted(arena, AP_LANG_YAML, "8"), "\"8\"");
    assert_string_equal(quoted(arena, AP_LANG_YAML, "4x4"), "\"4x4\"");
    assert_string_equal(quoted(arena, AP_LANG_YAML, "a: b #c"), "\"a: b #c\"");
    assert_string_equal(quoted(arena, AP_LANG_YAML, "say \"x\\y\""), "\"say \\\"x\\\\y\\\"\"");
    assert_string_equal(quoted(arena, AP_LANG_JSON, "a\nb"), "\"a\\u000ab\"");
    assert_string_equal(quoted(arena, AP_LANG_TEXT, "a\nrm -rf /"), "a?rm -rf /");
}

static void names_fit_every_scheduler(void **state)
{
    ap_arena *arena = *state;
    assert_string_equal(ap_emit_slug(arena, "Llama-3.1 8B (test)", 40), "llama-3-1-8b-test");
    assert_string_equal(ap_emit_slug(arena, "70b", 40), "b");
    assert_string_equal(ap_emit_slug(arena, "$(id)", 40), "id");
    assert_string_equal(ap_emit_slug(arena, "---", 40), "train");
    assert_string_equal(ap_emit_slug(arena, "abcdef-ghi", 7), "abcdef");
    assert_true(ap_emit_text_ok("größe"));
    assert_false(ap_emit_text_ok("a\tb"));
    assert_false(ap_emit_text_ok("a\xff"));
}

/* ---- templates ---- */

static ap_status render(ap_arena *arena, const char *text, ap_diags *diags, const char **ret)
{
    ap_scope *scope = ap_scope_new(arena, NULL);
    ap_scope_text(scope, "name", "my job");
    ap_scope_text(scope, "empty", "");
    ap_scope_number(scope, "nodes", 2);
    ap_scope_number(scope, "unknown", AP_UNKNOWN);
    ap_scope_flag(scope, "spot", true);
    ap_scope_flag(scope, "cheap", false);
    ap_scope_list(scope, "none");
    for (int i = 0; i < 2; i++) {
        ap_scope *item = ap_scope_item(scope, "args");
        ap_scope_text(item, "flag", i ? "--b" : "--a");
        ap_scope_text(item, "value", i ? "x y" : NULL);
    }
    ap_template tmpl = {"t.tmpl", text, AP_LANG_SHELL};
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    ap_diags_init(diags, arena);
    ap_status status = ap_template_render(&tmpl, scope, diags, &out);
    *ret = out.text;
    return status;
}

static void templates_put_values_in(void **state)
{
    ap_diags diags;
    const char *text;
    assert_int_equal(render(*state, "n={{nodes}} {{name}} {{json name}} {{text name}}\n", &diags, &text), AP_OK);
    assert_string_equal(text, "n=2 'my job' \"my job\" my job\n");
    assert_int_equal(
        render(
            *state,
            "a\n{{#if spot}}\nb\n{{/if}}\n{{#if cheap}}\nc\n{{/if}}\nd{{#if empty}}e{{/if}}{{#if unknown}}u{{/if}}\n",
            &diags, &text),
        AP_OK);
    assert_string_equal(text, "a\nb\nd\n");
    assert_int_equal(render(*state,
                            "x{{#each args}} \\\n  {{flag}}{{#if value}} {{value}}{{/if}}{{/each}}\n{{#each "
                            "none}}\n{{nothing}}\n{{/each}}\nend\n",
                            &diags, &text),
                     AP_OK);
    assert_string_equal(text, "x \\\n  --a \\\n  --b 'x y'\nend\n");
}

static void faults_of_templates_are_located(void **state)
{
    static const struct {
        const char *text;
        int line, col;
        const char *part;
    } cases[] = {
        {"a\n  {{nodse}}\n", 2, 3, "unknown name 'nodse'"},
        {"{{#if spot}}\nx\n", 3, 1, "{{/if}} is missing"},
        {"{{/each}}\n", 1, 1, "ends no block"},
        {"{{#each args}}{{/if}}{{/each}}", 1, 15, "ends no block"},
        {"{{perl name}}", 1, 1, "no tag"},
        {"{{name", 1, 1, "no tag"},
        {"{{Name}}", 1, 1, "no tag"},
        {"{{args}}", 1, 1, "is a list"},
        {"{{#each name}}{{/each}}", 1, 1, "is no list"},
        {"{{#if cheap}}{{nodse}}{{/if}}", 1, 14, "unknown name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ap_diags diags;
        const char *text;
        assert_int_equal(render(*state, cases[i].text, &diags, &text), AP_BAD_DATA);
        assert_int_equal(diags.items[0].pos.line, cases[i].line);
        assert_int_equal(diags.items[0].pos.col, cases[i].col);
        assert_non_null(strstr(diags.items[0].message, cases[i].part));
    }
}

static void deep_nesting_ends(void **state)
{
    ap_diags diags;
    const char *text;
    ap_sbuf deep;
    ap_sbuf_init(&deep, *state);
    for (int i = 0; i < 5000; i++)
        ap_sbuf_add(&deep, "{{#if spot}}");
    assert_int_equal(render(*state, deep.text, &diags, &text), AP_BAD_DATA);
}

/* ---- numbers ---- */

/* Handbook c19: writing takes 15 s, 11,135 s between failures: every 578 s. */
static void interval_is_that_of_young_and_daly(void **state)
{
    (void)state;
    assert_near(ap_emit_interval_s(15, 11135, 1, 1e9), 578, 1e-3);
    assert_same(ap_emit_interval_s(15, 11135, 600, 3600), 600);
    assert_same(ap_emit_interval_s(60, 1e9, 300, 3600), 3600);
}

static void limits_are_rounded_up(void **state)
{
    ap_arena *arena = *state;
    assert_same(ap_emit_round_limit_s(9864), 9900);
    assert_same(ap_emit_round_limit_s(9900), 9900);
    assert_same(ap_emit_round_limit_s(1), 900);
    assert_same(ap_emit_round_limit_s(86400), 86400);
    assert_same(ap_emit_round_limit_s(86401), 90000);
    assert_string_equal(ap_emit_slurm_time(arena, 9900), "02:45:00");
    assert_string_equal(ap_emit_slurm_time(arena, 95400), "1-02:30:00");
}

static void settings_refuse_what_cannot_be_quoted(void **state)
{
    ap_arena *arena = *state;
    ap_emit_settings settings;
    ap_diags diags;
    ap_diags_init(&diags, arena);
    ap_node value = {.kind = AP_NODE_SCALAR, .quoted = true, .text = "a\nb"};
    ap_pair pair = {.key = "partition", .value = &value};
    ap_node map = {.kind = AP_NODE_MAP, .as.map = {&pair, 1}};
    assert_int_not_equal(ap_schema_load(&ap_emit_settings_object, &map, &settings, arena, &diags), AP_OK);
    assert_non_null(testing_find(&diags, 801));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(words_of_a_shell_stay_words),
        arena_test(words_of_yaml_stay_text),
        arena_test(names_fit_every_scheduler),
        arena_test(templates_put_values_in),
        arena_test(faults_of_templates_are_located),
        arena_test(deep_nesting_ends),
        arena_test(interval_is_that_of_young_and_daly),
        arena_test(limits_are_rounded_up),
        arena_test(settings_refuse_what_cannot_be_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
