/* catalog check: validates users' (and our own) catalog files. catalog schema: JSON Schema of a record or document. */
#include <string.h>

#include "base/text.h"
#include "catalog/tables.h"
#include "cli/cli.h"
#include "estimate/calibration.h"
#include "rules/ruleset.h"
#include "io/file.h"
#include "workload/workload.h"

/* ---- schema ------------------------------------------------------------------------------------------------------ */

/* "chips" and "chip" are the same kind. */
static const ap_object *find_object(const char *kind)
{
    if (ap_streq(kind, "workload"))
        return &ap_workload_object;
    for (size_t i = 0; i < ap_catalog_kind_count; i++)
        if (ap_streq(kind, ap_catalog_kinds[i].key) || ap_streq(kind, ap_catalog_kinds[i].object->name))
            return ap_catalog_kinds[i].object;
    return NULL;
}

static ap_status write_schema(ap_cli *cli)
{
    if (cli->operand_count != 2)
        return ap_cli_usage(cli, cli->operand_count < 2 ? 57 : 58, NULL, "'catalog schema' needs one kind, such as chips");
    const char *kind = cli->operands[1];
    const ap_object *object = find_object(kind);
    ap_sbuf out;
    ap_sbuf_init(&out, cli->arena);
    if (!object) {
        ap_suggest suggest;
        ap_suggest_init(&suggest, kind);
        ap_suggest_offer(&suggest, "workload");
        for (size_t i = 0; i < ap_catalog_kind_count; i++) {
            ap_suggest_offer(&suggest, ap_catalog_kinds[i].key);
            ap_sbuf_printf(&out, "%s, ", ap_catalog_kinds[i].key);
        }
        const char *near = ap_suggest_text(&suggest, cli->arena);
        return ap_cli_usage(cli, 60, near ? near : ap_arena_printf(cli->arena, "kinds: %sworkload", out.text),
                            "there is no schema of '%s'", kind);
    }
    ap_schema_write_json(object, &out);
    if (out.len && out.text[out.len - 1] != '\n')
        ap_sbuf_add_char(&out, '\n');
    return ap_cli_write_text(cli, out.text, out.len);
}

/* ---- check ------------------------------------------------------------------------------------------------------- */

typedef struct checking {
    ap_cli *cli;
    const ap_catalog *catalog;
    ap_value *files;
    size_t errors, warnings;
} checking;

static ap_status check_file(checking *c, const char *path)
{
    ap_cli *cli = c->cli;
    size_t first = cli->diags.count, errors = cli->diags.errors;
    static const ap_file_kind others[] = {{"engine", &ap_calib_engine_object}, {"rules", &ap_rule_file_object}};
    ap_status status = ap_catalog_check_file_or(c->catalog, path, others, sizeof others / sizeof *others, &cli->diags);
    ap_value *findings = ap_value_list(cli->arena), *file = ap_value_map(cli->arena);
    for (size_t i = first; i < cli->diags.count; i++) {
        const ap_diag *diag = &cli->diags.items[i];
        ap_value *finding = ap_value_map(cli->arena);
        ap_value_put(cli->arena, finding, "id", ap_value_text(cli->arena, ap_arena_printf(cli->arena, "AP%04d", diag->code)));
        ap_value_put(cli->arena, finding, "severity", ap_value_text(cli->arena, ap_severity_name(diag->severity)));
        ap_value_put(cli->arena, finding, "message", ap_value_text(cli->arena, diag->message));
        ap_value_put(cli->arena, finding, "line", ap_value_int(cli->arena, diag->pos.line));
        ap_value_put(cli->arena, finding, "column", ap_value_int(cli->arena, diag->pos.col));
        ap_value_put(cli->arena, finding, "hint", ap_value_text(cli->arena, diag->hint));
        ap_value_push(cli->arena, findings, finding);
        c->warnings += diag->severity == AP_WARNING;
    }
    c->errors += cli->diags.errors - errors;
    ap_value_put(cli->arena, file, "file", ap_value_text(cli->arena, path));
    ap_value_put(cli->arena, file, "ok", ap_value_bool(cli->arena, status == AP_OK));
    ap_value_put(cli->arena, file, "errors", ap_value_int(cli->arena, (int64_t)(cli->diags.errors - errors)));
    ap_value_put(cli->arena, file, "findings", findings);
    ap_value_push(cli->arena, c->files, file);
    return status;
}

static ap_status check_path(checking *c, const char *path)
{
    if (!ap_file_is_dir(path))
        return check_file(c, path);
    const char **paths;
    size_t count;
    ap_status worst = ap_file_walk(path, ".yaml", false, c->cli->arena, &c->cli->diags, &paths, &count);
    for (size_t i = 0; worst != AP_IO && i < count; i++) {
        ap_status status = check_file(c, paths[i]);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static ap_status check_files(ap_cli *cli)
{
    static const ap_column columns[] = {
        {.title = "File", .path = "file", .priority = 1, .flexible = true},
        {.title = "Errors", .path = "errors", .format = AP_CELL_INTEGER, .priority = 1, .right = true},
    };
    checking c = {.cli = cli, .files = ap_value_list(cli->arena)};
    if (cli->operand_count < 2)
        return ap_cli_usage(cli, 57, NULL, "'catalog check' needs a file");
    ap_status worst = ap_cli_catalog(cli, &c.catalog);
    if (worst != AP_OK)
        return worst;
    for (size_t i = 1; i < cli->operand_count; i++) {
        ap_status status = check_path(&c, cli->operands[i]);
        worst = status > worst ? status : worst;
    }
    ap_doc *doc = ap_cli_new_doc(cli, "catalog-check");
    ap_value *summary = ap_value_map(cli->arena);
    size_t files = c.files->as.list.count;
    ap_value_put(cli->arena, summary, "files", ap_value_int(cli->arena, (int64_t)files));
    ap_value_put(cli->arena, summary, "errors", ap_value_int(cli->arena, (int64_t)c.errors));
    ap_value_put(cli->arena, summary, "warnings", ap_value_int(cli->arena, (int64_t)c.warnings));
    ap_value_put(cli->arena, doc->root, "files", c.files);
    ap_value_put(cli->arena, doc->root, "summary", summary);
    ap_block *table = ap_doc_table(doc, c.files, columns, sizeof columns / sizeof *columns);
    table->main = true;
    ap_doc_paragraph(doc, "%zu file%s, %zu error%s, %zu warning%s", files, files == 1 ? "" : "s", c.errors,
                     c.errors == 1 ? "" : "s", c.warnings, c.warnings == 1 ? "" : "s");
    ap_status written = ap_cli_write_doc(cli, doc);
    return written > worst ? written : worst;
}

static ap_status run(ap_cli *cli)
{
    static const char *const words[] = {"check", "schema", NULL};
    switch (ap_cli_subcommand(cli, words)) {
    case 0:
        return check_files(cli);
    case 1:
        return write_schema(cli);
    default:
        return AP_USAGE;
    }
}

static const ap_example examples[] = {
    {"catalog check my-chips.yaml", "find mistakes in a catalog file before using it"},
    {"catalog schema workload", "JSON Schema of a workload file, for editors"},
};

const ap_command ap_cmd_catalog = {
    .name = "catalog",
    .synopsis = "check FILE...\nschema KIND",
    .summary = "check catalog files, print their JSON Schema",
    .description = "A catalog file is YAML with lists such as chips:, instances: or models:. It is checked as it would be "
                   "used: laid over the catalog. All findings are reported, each with file, line and column; exit code 4 "
                   "when there is an error.\n\n"
                   "Kinds of schema: chips, names, instances, clouds, regions, models, datasets, recipes, rigs, images, "
                   "stacks, suites, workload.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_OUTPUT | AP_G_DATA,
    .max_operands = AP_ANY_NUMBER,
    .operand = "check or schema",
    .values = "check schema",
    .run = run,
};
