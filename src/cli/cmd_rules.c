/* rules eval EXPR: one expression over facts in JSON, printed as JSON. rules test: the examples of every rule. */
#include <stdint.h>
#include <string.h>

#include "cli/rules.h"
#include "io/file.h"

#define MAX_FACTS_BYTES ((size_t)16 << 20)

static const ap_fact_schema open_schema = {.dynamic = true};

static ap_status read_facts(ap_cli *cli, ap_cel_value *ret_root)
{
    *ret_root = (ap_cel_value){.kind = AP_CEL_MAP};
    const char *path = ap_cli_text(cli, AP_O_FACTS);
    if (!path)
        return AP_OK;
    char *text;
    size_t len;
    ap_status status = ap_file_read(path, MAX_FACTS_BYTES, cli->arena, &cli->diags, &text, &len);
    if (status != AP_OK)
        return status;
    status = ap_cel_read_json(text, len, path, cli->arena, &cli->diags, ret_root);
    if (status == AP_OK && ret_root->kind != AP_CEL_MAP) {
        ap_diag_add(&cli->diags, AP_ERROR, 607, (ap_pos){path, 1, 1}, "facts must be a JSON object");
        status = AP_BAD_INPUT;
    }
    return status;
}

/* The operand itself, or standard input for "-": a shell limits the length of an argument. */
static ap_status read_expression(ap_cli *cli, ap_pos *pos, const char **ret_text)
{
    char *text;
    size_t len;
    *ret_text = cli->operands[1];
    if (strcmp(*ret_text, "-") != 0)
        return AP_OK;
    pos->file = "<stdin>";
    ap_status status = ap_file_read("-", MAX_FACTS_BYTES, cli->arena, &cli->diags, &text, &len);
    if (status != AP_OK)
        return status;
    *ret_text = text;
    if (strlen(text) == len)
        return AP_OK;
    ap_diag_add(&cli->diags, AP_ERROR, 601, *pos, "expression holds a byte 0");
    return AP_BAD_INPUT;
}

static ap_status run_eval(ap_cli *cli)
{
    if (cli->operand_count != 2)
        return ap_cli_usage(cli, 608, "quote the expression: accelpick rules eval '1 + 1'", "rules eval takes one expression");
    ap_cel_value root;
    const ap_cel *expr;
    ap_pos pos = {"expression", 1, 1};
    const char *text;
    ap_status status = read_facts(cli, &root);
    if (status == AP_OK)
        status = read_expression(cli, &pos, &text);
    if (status == AP_OK)
        status = ap_cel_compile(text, pos, &open_schema, cli->arena, &cli->diags, &expr);
    if (status != AP_OK)
        return status;
    ap_cel_value value = ap_cel_eval(expr, NULL, &root, cli->arena);
    if (value.kind == AP_CEL_ERROR || value.kind == AP_CEL_UNKNOWN_FACT) {
        ap_cel_report(expr, &value, cli->arena, &cli->diags);
        return AP_BAD_INPUT;
    }
    ap_sbuf out;
    ap_sbuf_init(&out, cli->arena);
    if (!ap_cel_write_json(&value, &out)) {
        ap_diag_add(&cli->diags, AP_ERROR, 609, pos, "the result is larger than 8 MiB or nested more than 1000 levels deep");
        return AP_BAD_INPUT;
    }
    ap_sbuf_add_char(&out, '\n');
    return ap_cli_write_text(cli, out.text, out.len);
}

static const ap_column test_columns[] = {
    {.title = "Rule", .path = "id", .priority = 1},
    {.title = "Example", .path = "example", .priority = 1, .right = true},
    {.title = "Problem", .path = "message", .priority = 1, .flexible = true},
};

/* The result names every failure and counts the rest. */
static ap_status report_tests(ap_cli *cli, const ap_ruleset *set, const ap_rule_test *tests, size_t count)
{
    ap_doc *doc = ap_cli_new_doc(cli, "rules-test");
    ap_value *failures = ap_value_list(cli->arena);
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        if (tests[i].passed)
            continue;
        failed++;
        ap_value *row = ap_value_map(cli->arena);
        ap_value_put(cli->arena, row, "id", ap_value_text(cli->arena, tests[i].item->rule->id));
        ap_value_put(cli->arena, row, "example", tests[i].example == SIZE_MAX ? ap_value_null(cli->arena)
                                                                             : ap_value_int(cli->arena, (int64_t)tests[i].example + 1));
        ap_value_put(cli->arena, row, "message", ap_value_text(cli->arena, tests[i].message));
        ap_value_push(cli->arena, failures, row);
    }
    ap_value_put(cli->arena, doc->root, "rules", ap_value_int(cli->arena, (int64_t)set->count));
    ap_value_put(cli->arena, doc->root, "examples", ap_value_int(cli->arena, (int64_t)count));
    ap_value_put(cli->arena, doc->root, "passed", ap_value_int(cli->arena, (int64_t)(count - failed)));
    ap_value_put(cli->arena, doc->root, "failed", ap_value_int(cli->arena, (int64_t)failed));
    ap_value_put(cli->arena, doc->root, "failures", failures);
    if (failed)
        ap_doc_table(doc, failures, test_columns, sizeof test_columns / sizeof *test_columns)->main = true;
    ap_doc_paragraph(doc, "%zu rules, %zu examples: %zu passed, %zu failed", set->count, count, count - failed, failed);
    ap_status status = ap_cli_write_doc(cli, doc);
    return status != AP_OK ? status : failed ? AP_FINDINGS : AP_OK;
}

static ap_status run_test(ap_cli *cli)
{
    ap_ruleset *set;
    ap_status status;
    if (cli->operand_count > 1) {
        ap_knowledge_request request = {.policies = {cli->operands + 1, cli->operand_count - 1}, .without_knowledge = true};
        status = ap_knowledge_load(&request, cli->arena, &cli->diags, &set);
    } else {
        status = ap_cli_rules(cli, true, &set); /* packs too, though none applies unless it is asked for */
    }
    if (status != AP_OK)
        return status;
    const ap_rule_test *tests;
    size_t count = ap_ruleset_test(set, cli->arena, &tests);
    return report_tests(cli, set, tests, count);
}

static const ap_column fact_columns[] = {
    {.title = "Fact", .path = "fact", .priority = 1},       {.title = "Kind", .path = "kind", .priority = 1},
    {.title = "Unit", .path = "unit", .priority = 2},       {.title = "Known per", .path = "known_per", .priority = 3},
    {.title = "Meaning", .path = "meaning", .priority = 1, .flexible = true},
};

static ap_status run_facts(ap_cli *cli)
{
    static const char *const phases[] = {"run", "target", "plan"};
    static const char *const kinds[] = {[AP_CEL_BOOL] = "bool", [AP_CEL_INT] = "int", [AP_CEL_DOUBLE] = "double",
                                        [AP_CEL_STRING] = "string", [AP_CEL_LIST] = "list of string"};
    ap_doc *doc = ap_cli_new_doc(cli, "facts");
    ap_value *items = ap_value_list(cli->arena);
    for (size_t i = 0; i < ap_plan_fact_schema.count; i++) {
        const ap_fact *fact = &ap_plan_fact_schema.facts[i];
        ap_value *row = ap_value_map(cli->arena);
        if (cli->operand_count > 1 && !ap_glob_match(cli->operands[1], fact->path))
            continue;
        ap_value_put(cli->arena, row, "fact", ap_value_text(cli->arena, fact->path));
        ap_value_put(cli->arena, row, "kind", ap_value_text(cli->arena, kinds[fact->kind]));
        ap_value_put(cli->arena, row, "unit", ap_value_text(cli->arena, fact->unit));
        ap_value_put(cli->arena, row, "known_per", ap_value_text(cli->arena, phases[fact->phase]));
        ap_value_put(cli->arena, row, "meaning", ap_value_text(cli->arena, fact->doc));
        ap_value_push(cli->arena, items, row);
    }
    ap_value_put(cli->arena, doc->root, "items", items);
    ap_doc_table(doc, items, fact_columns, sizeof fact_columns / sizeof *fact_columns)->main = true;
    return ap_cli_write_doc(cli, doc);
}

static ap_status run(ap_cli *cli)
{
    static const char *const words[] = {"eval", "test", "facts", NULL};
    switch (ap_cli_subcommand(cli, words)) {
    case 0:
        return run_eval(cli);
    case 1:
        return run_test(cli);
    case 2:
        return run_facts(cli);
    default:
        return AP_USAGE;
    }
}

static const ap_example examples[] = {
    {"rules eval '2 in [1, 2] && \"a\".startsWith(\"a\")'", "the value of an expression"},
    {"rules test", "the examples of all built-in rules and policy packs"},
    {"rules facts 'chip.*'", "what a rule may ask about a chip"},
};

const ap_command ap_cmd_rules = {
    .name = "rules",
    .synopsis = "eval EXPR\ntest [FILE...]\nfacts [GLOB]",
    .summary = "evaluate a rule expression; run the rules' own examples; list the facts they may name",
    .description = "eval prints the value of EXPR as JSON; - reads EXPR from standard input. Names in EXPR are looked up in the JSON\n"
                   "object of --facts. An expression that cannot be read or evaluated ends with exit code 4.\n\n"
                   "test runs the examples that every rule carries: those of the program, or those of the given files.\n\n"
                   "facts lists the names that a rule may use, with kind and unit.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_OUTPUT | AP_G_FACTS | AP_G_RULES | AP_G_DATA,
    .min_operands = 1,
    .max_operands = AP_ANY_NUMBER,
    .operand = "eval, test or facts",
    .values = "eval test facts",
    .run = run,
};
