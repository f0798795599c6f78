/* The option table holds together, and argv is read by it. The frame's sources are compiled in: the library has none. */
#include <stdlib.h>

#include "testing.h"

#include "../../src/cli/options.c"
#include "../../src/cli/settings.c"
#include "workload/workload.h"

static const ap_command all = {.name = "all", .groups = ~0u, .max_operands = AP_ANY_NUMBER};
static const ap_command few = {.name = "few", .groups = AP_G_OUTPUT, .max_operands = 1, .min_operands = 1};
const ap_command *const ap_commands[] = {&all, &few, NULL};

/* Stand-ins of what the frame has elsewhere. */
ap_status ap_cli_usage(ap_cli *cli, int code, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char message[1000];
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    ap_diag_add(&cli->diags, AP_ERROR, code, AP_NO_POS, "%s", message)->hint = hint;
    return AP_USAGE;
}

const char *ap_option_env(ap_arena *arena, const ap_option *option)
{
    return ap_arena_printf(arena, "ENV %s", option->name);
}

static ap_cli *parse(void **state, const char *line, ap_status expected)
{
    ap_arena *arena = *state;
    ap_cli *cli = AP_NEW(arena, ap_cli);
    cli->arena = arena;
    ap_diags_init(&cli->diags, arena);
    char *argv[64] = {ap_arena_strdup(arena, "accelpick")}, *rest = ap_arena_strdup(arena, line), *save = NULL;
    int argc = 1;
    for (char *word = strtok_r(rest, " ", &save); word; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    assert_int_equal(ap_cli_parse(cli, argc, argv), expected);
    return cli;
}

static void table_is_sorted_and_complete(void **state)
{
    (void)state;
    for (int i = 0; i < AP_O_COUNT; i++) {
        const ap_option *option = &ap_options[i];
        if (i > 0)
            assert_true(strcmp(ap_options[i - 1].name, option->name) < 0);
        assert_non_null(option->help);
        assert_true(option->help[0] && option->help[strlen(option->help) - 1] != '.');
        assert_true(option->groups != 0);
        assert_true(option->kind == AP_ARG_FLAG ? !option->arg && !option->words : option->arg || option->words);
        for (int k = 0; k < i && option->letter; k++)
            assert_int_not_equal(ap_options[k].letter, option->letter);
    }
}

/* An option that describes the workload says which key of the document it is. */
static void workload_keys_exist(void **state)
{
    (void)state;
    for (int i = 0; i < AP_O_COUNT; i++) {
        size_t offset;
        if (!ap_options[i].key)
            continue;
        if (!ap_schema_find(&ap_workload_object, ap_options[i].key, &offset))
            fail_msg("--%s: the workload has no key %s", ap_options[i].name, ap_options[i].key);
    }
}

static void words_agree_with_the_workload(void **state)
{
    (void)state;
    for (int i = 0; i < AP_O_COUNT; i++) {
        size_t offset;
        const ap_field *field =
            ap_options[i].key ? ap_schema_find(&ap_workload_object, ap_options[i].key, &offset) : NULL;
        if (!field || field->type != AP_T_ENUM || !ap_options[i].words)
            continue;
        for (size_t k = 0; field->names[k]; k++) {
            bool found = false;
            for (size_t w = 0; ap_options[i].words[w]; w++)
                found |= strcmp(ap_options[i].words[w], field->names[k]) == 0;
            if (!found && i != AP_O_PRECISION && i != AP_O_BASE_PRECISION) /* these list more than a user may choose */
                fail_msg("--%s lacks the word %s", ap_options[i].name, field->names[k]);
        }
    }
}

static void values_are_typed(void **state)
{
    ap_cli *cli = parse(state,
                        "all --deadline 2h30m --budget $200 --memory 40GB.. --chips=1..8 -n 5 --tokens 1.5B --seq-len 4096 "
                        "--cloud aws,gcp --cloud azure --discount aws=0.2,gcp=15% --as-of 2024-02-29 --why-not w.yaml",
                        AP_OK);
    assert_near(ap_cli_number(cli, AP_O_DEADLINE), 9000, 1e-12);
    assert_near(ap_cli_number(cli, AP_O_BUDGET), 200, 1e-12);
    assert_near(ap_cli_number(cli, AP_O_TOKENS), 1.5e9, 1e-12);
    assert_near(ap_cli_range(cli, AP_O_CHIPS).high, 8, 0);
    assert_true(isnan(ap_cli_range(cli, AP_O_MEMORY).high));
    assert_int_equal(ap_cli_limit(cli), 5);
    assert_int_equal(ap_cli_list(cli, AP_O_CLOUD).count, 3);
    assert_string_equal(ap_cli_list(cli, AP_O_CLOUD).items[2], "azure");
    assert_string_equal(ap_cli_pair(cli, AP_O_DISCOUNT, "gcp"), "15%");
    assert_null(ap_cli_pair(cli, AP_O_DISCOUNT, "az"));
    assert_true(ap_cli_flag(cli, AP_O_WHY_NOT));
    assert_false(ap_cli_flag(cli, AP_O_EXPLAIN));
    assert_true(isnan(ap_cli_number(cli, AP_O_RATE)));
    assert_int_equal(cli->operand_count, 1);
}

static void bad_values_are_all_named(void **state)
{
    ap_cli *cli = parse(state,
                        "all --deadline soon --budget -5 --chips 8..1x -n 1.5 --limit -1 --as-of 2023-02-29 --tp 0 --cloud a,,b "
                        "--objective cheap --set nothing --discount aws",
                        AP_USAGE);
    assert_int_equal(cli->diags.errors, 11);
    assert_true(isnan(ap_cli_number(cli, AP_O_LIMIT)));
}

static void limits_and_formats(void **state)
{
    assert_int_equal(ap_cli_limit(parse(state, "all", AP_OK)), 20);
    assert_int_equal(ap_cli_limit(parse(state, "all --json", AP_OK)), 0);
    assert_int_equal(ap_cli_limit(parse(state, "all -f wide", AP_OK)), 20);
    assert_int_equal(ap_cli_limit(parse(state, "all -f csv -n 3", AP_OK)), 3);
    assert_int_equal(ap_cli_format(parse(state, "all", AP_OK)), AP_FORMAT_TABLE);
    assert_int_equal(ap_cli_format(parse(state, "all --json", AP_OK)), AP_FORMAT_JSON);
    assert_int_equal(ap_cli_word(parse(state, "all", AP_OK), AP_O_OBJECTIVE), 2); /* balanced */
    assert_int_equal(ap_cli_word(parse(state, "all", AP_OK), AP_O_METHOD), -1);
}

static void dashes_and_order(void **state)
{
    ap_cli *cli = parse(state, "--json all a -n 3 - b -- -n --json", AP_OK);
    assert_int_equal(cli->operand_count, 5);
    assert_string_equal(cli->operands[1], "-");
    assert_string_equal(cli->operands[4], "--json");
    assert_int_equal(cli->after_dashes, 3);
    assert_int_equal(ap_cli_limit(cli), 3);
}

static void wrong_commands_and_operands(void **state)
{
    assert_non_null(testing_find(&parse(state, "-3re-", AP_USAGE)->diags, 51)); /* read past argv once */
    assert_non_null(testing_find(&parse(state, "al", AP_USAGE)->diags, 50));
    assert_non_null(testing_find(&parse(state, "", AP_USAGE)->diags, 50));
    assert_non_null(testing_find(&parse(state, "few", AP_USAGE)->diags, 57));
    assert_non_null(testing_find(&parse(state, "few a b", AP_USAGE)->diags, 58));
    assert_non_null(testing_find(&parse(state, "few a --tp 2", AP_USAGE)->diags, 54));
    assert_non_null(testing_find(&parse(state, "few a --out x", AP_USAGE)->diags, 51));
    assert_non_null(testing_find(&parse(state, "few a -o", AP_USAGE)->diags, 52));
    assert_non_null(testing_find(&parse(state, "few a --json=1", AP_USAGE)->diags, 53));
}

static void assignments_for_the_workload(void **state)
{
    ap_cli *cli = parse(state, "all --model x --offload optimizer --offload activations --set lora.targets=[q,v] --tp 2", AP_OK);
    const ap_assignment *items;
    size_t count = ap_cli_assignments(cli, &items);
    assert_int_equal(count, 4);
    assert_string_equal(items[0].path, "model");
    assert_string_equal(items[1].value, "optimizer,activations");
    assert_string_equal(items[2].path, "parallel.tp");
    assert_string_equal(items[3].path, "lora.targets");
    assert_string_equal(items[3].value, "[q,v]");
}

static void the_nearer_source_wins(void **state)
{
    ap_cli *cli = parse(state, "all --limit 3", AP_OK);
    assert_int_equal(ap_cli_take(cli, AP_O_LIMIT, "4", AP_FROM_ENVIRONMENT, AP_NO_POS), AP_OK);
    assert_int_equal(ap_cli_limit(cli), 3);
    assert_int_equal(ap_cli_take(cli, AP_O_CLOUD, "aws", AP_FROM_ENVIRONMENT, AP_NO_POS), AP_OK);
    assert_int_equal(ap_cli_take(cli, AP_O_CLOUD, "gcp", AP_FROM_PROJECT, AP_NO_POS), AP_OK);
    assert_int_equal(ap_cli_list(cli, AP_O_CLOUD).count, 1);
    assert_int_equal(ap_cli_origin(cli, AP_O_CLOUD), AP_FROM_ENVIRONMENT);
    /* a weaker --json does not undo a stronger --format */
    assert_int_equal(ap_cli_take(cli, AP_O_FORMAT, "csv", AP_FROM_ENVIRONMENT, AP_NO_POS), AP_OK);
    assert_int_equal(ap_cli_take(cli, AP_O_JSON, "true", AP_FROM_USER, AP_NO_POS), AP_OK);
    assert_int_equal(ap_cli_format(cli), AP_FORMAT_CSV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(table_is_sorted_and_complete),
        arena_test(workload_keys_exist),
        arena_test(words_agree_with_the_workload),
        arena_test(values_are_typed),
        arena_test(bad_values_are_all_named),
        arena_test(limits_and_formats),
        arena_test(dashes_and_order),
        arena_test(wrong_commands_and_operands),
        arena_test(assignments_for_the_workload),
        arena_test(the_nearer_source_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
