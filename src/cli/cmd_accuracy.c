/* accelpick accuracy: estimates against measured runs, row by row and by group. */
#include "cli/cli.h"
#include "estimate/accuracy.h"

#include <string.h>

static ap_value *text(ap_cli *cli, const char *value)
{
    return ap_value_text(cli->arena, value);
}

static ap_value *number(ap_cli *cli, double value)
{
    return ap_value_num(cli->arena, value);
}

static ap_value *case_value(ap_cli *cli, const ap_outcome *o)
{
    const ap_measure *m = o->measure;
    ap_value *map = ap_value_map(cli->arena);
    ap_arena *arena = cli->arena;
    ap_value_put(arena, map, "id", text(cli, m->id));
    ap_value_put(arena, map, "source", text(cli, m->source));
    ap_value_put(arena, map, "metric", text(cli, m->metric >= 0 ? ap_metric_names[m->metric] : NULL));
    ap_value_put(arena, map, "measured", number(cli, m->value));
    ap_value_put(arena, map, "predicted", number(cli, o->reason ? AP_UNKNOWN : o->p50));
    ap_value_put(arena, map, "p10", number(cli, o->reason ? AP_UNKNOWN : o->p10));
    ap_value_put(arena, map, "p90", number(cli, o->reason ? AP_UNKNOWN : o->p90));
    ap_value_put(arena, map, "status", text(cli, o->reason ? "skipped" : "ok"));
    ap_value_put(arena, map, "reason", text(cli, o->reason));
    ap_value_put(arena, map, "estimate_basis", text(cli, o->basis >= 0 ? ap_basis_names[o->basis] : NULL));
    ap_value_put(arena, map, "domain", text(cli, m->domain));
    ap_value_put(arena, map, "model", text(cli, m->model));
    ap_value_put(arena, map, "chip", text(cli, m->chip));
    return map;
}

static void put_errors(ap_cli *cli, ap_value *map, const ap_errors *e)
{
    ap_arena *arena = cli->arena;
    ap_value_put(arena, map, "n", ap_value_int(arena, (int64_t)e->n));
    ap_value_put(arena, map, "skipped", ap_value_int(arena, (int64_t)e->skipped));
    ap_value_put(arena, map, "median_ape", number(cli, e->median_ape));
    ap_value_put(arena, map, "mean_ape", number(cli, e->mean_ape));
    ap_value_put(arena, map, "p90_ape", number(cli, e->p90_ape));
    ap_value_put(arena, map, "bias", number(cli, e->bias));
    ap_value_put(arena, map, "coverage_80", number(cli, e->coverage_80));
}

static ap_value *errors_value(ap_cli *cli, const ap_errors *e)
{
    ap_value *map = ap_value_map(cli->arena);
    put_errors(cli, map, e);
    return map;
}

static ap_value *groups_value(ap_cli *cli, const ap_outcomes *outcomes)
{
    static const char *const by[] = {"domain", "metric", "quality", "basis", "scale", "stack", "chip", "source"};
    ap_value *list = ap_value_list(cli->arena);
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        ap_groups groups;
        ap_accuracy_groups(outcomes, by[i], cli->arena, &groups);
        for (size_t g = 0; g < groups.count; g++) {
            ap_value *map = ap_value_map(cli->arena);
            ap_value_put(cli->arena, map, "by", text(cli, groups.items[g].by));
            ap_value_put(cli->arena, map, "key", text(cli, groups.items[g].key));
            put_errors(cli, map, &groups.items[g].errors);
            ap_value_push(cli->arena, list, map);
        }
    }
    return list;
}

static ap_value *ranking_value(ap_cli *cli, const ap_outcomes *outcomes)
{
    ap_value *map = ap_value_map(cli->arena);
    for (int chips = 0; chips < 2; chips++) {
        ap_ranking ranking = ap_accuracy_ranking(outcomes, chips != 0, cli->arena);
        ap_value *one = ap_value_map(cli->arena);
        ap_value_put(cli->arena, one, "groups", ap_value_int(cli->arena, (int64_t)ranking.groups));
        ap_value_put(cli->arena, one, "within_5_percent", number(cli, ranking.within_5));
        ap_value_put(cli->arena, one, "mean_regret", number(cli, ranking.mean_regret));
        ap_value_put(cli->arena, map, chips ? "chips" : "layouts", one);
    }
    return map;
}

/* Rows of all files as one list. */
static ap_status load_cases(ap_cli *cli, const ap_catalog *catalog, ap_measures *ret)
{
    *ret = (ap_measures){0};
    ap_status worst = AP_OK;
    for (size_t i = 0; i < cli->operand_count; i++) {
        ap_measures part;
        ap_status status = ap_cases_load(cli->operands[i], catalog, cli->arena, &cli->diags, &part);
        if (status > worst)
            worst = status;
        if (status != AP_OK || !part.count)
            continue;
        ap_measure *all = AP_NEW_ARRAY(cli->arena, ap_measure, ret->count + part.count);
        if (ret->count)
            memcpy(all, ret->items, ret->count * sizeof *all);
        memcpy(all + ret->count, part.items, part.count * sizeof *all);
        ret->items = all;
        ret->count += part.count;
    }
    return worst;
}

static const ap_column group_columns[] = {
    {.title = "By", .path = "by", .priority = 1},
    {.title = "Group", .path = "key", .priority = 1, .flexible = true},
    {.title = "Rows", .path = "n", .format = AP_CELL_INTEGER, .priority = 1, .right = true},
    {.title = "Median error", .path = "median_ape", .format = AP_CELL_PERCENT, .priority = 1, .right = true},
    {.title = "Mean error", .path = "mean_ape", .format = AP_CELL_PERCENT, .priority = 2, .right = true},
    {.title = "90 % below", .path = "p90_ape", .format = AP_CELL_PERCENT, .priority = 3, .right = true},
    {.title = "Bias", .path = "bias", .format = AP_CELL_PERCENT, .priority = 3, .right = true},
    {.title = "In the 80 % band", .path = "coverage_80", .format = AP_CELL_PERCENT, .priority = 2, .right = true},
    {.title = "Skipped", .path = "skipped", .format = AP_CELL_INTEGER, .priority = 4, .right = true},
};

static const ap_column case_columns[] = {
    {.title = "Case", .path = "id", .priority = 1, .flexible = true},
    {.title = "Model", .path = "model", .priority = 3, .flexible = true},
    {.title = "Chip", .path = "chip", .priority = 3, .flexible = true},
    {.title = "Metric", .path = "metric", .priority = 1},
    {.title = "Measured", .path = "measured", .priority = 1, .right = true},
    {.title = "Predicted", .path = "predicted", .priority = 1, .right = true, .low_path = "p10", .high_path = "p90"},
    {.title = "Basis", .path = "estimate_basis", .priority = 4},
    {.title = "Why not", .path = "reason", .priority = 2, .flexible = true},
};

static void describe(ap_doc *doc, const char *what, const ap_errors *e)
{
    if (!e->n) {
        ap_doc_paragraph(doc, "%s: no row could be judged (%zu skipped).", what, e->skipped);
        return;
    }
    ap_doc_paragraph(doc,
                     "%s: %zu rows, median error %.1f %%, mean %.1f %%, nine of ten below %.1f %%, bias %+.1f %%; "
                     "%.0f %% inside the 80 %% band; %zu skipped.",
                     what, e->n, 100 * e->median_ape, 100 * e->mean_ape, 100 * e->p90_ape, 100 * e->bias,
                     100 * e->coverage_80, e->skipped);
}

/* Rows of models that the program does not know and whose sizes nobody states. */
static void say_unsized(ap_doc *doc, const ap_outcomes *outcomes)
{
    size_t count = 0;
    for (size_t i = 0; i < outcomes->count; i++) {
        const ap_model *model = outcomes->items[i].measure->job.model;
        bool unsized = model && !(model->params > 0) && !(model->fwd_mac > 0) && !(model->hidden > 0);
        count += !outcomes->items[i].reason && outcomes->items[i].basis == AP_BASIS_RULE_OF_THUMB && unsized &&
                 ap_est_engine(&outcomes->items[i].measure->job) == AP_ENGINE_DL;
    }
    if (count)
        ap_doc_paragraph(doc, "%zu %s a model that is not in the catalog and none of its sizes: a rule of thumb for its domain, with the wide band of networks whose "
                              "name and sizes were left out. Columns such as params_m or fwd_gmac_per_sample make it an estimate.",
                         count, count == 1 ? "row names" : "rows name");
}

static void fill(ap_cli *cli, ap_doc *doc, const ap_outcomes *outcomes)
{
    ap_value *cases = ap_value_list(cli->arena);
    for (size_t i = 0; i < outcomes->count; i++)
        ap_value_push(cli->arena, cases, case_value(cli, &outcomes->items[i]));
    ap_value *groups = groups_value(cli, outcomes);
    ap_errors errors = ap_accuracy_errors(outcomes, NULL, NULL, cli->arena);
    ap_value_put(cli->arena, doc->root, "cases", cases);
    ap_value_put(cli->arena, doc->root, "summary", errors_value(cli, &errors));
    ap_value_put(cli->arena, doc->root, "groups", groups);
    ap_value_put(cli->arena, doc->root, "ranking", ranking_value(cli, outcomes));
    ap_doc_table(doc, groups, group_columns, sizeof group_columns / sizeof *group_columns);
    say_unsized(doc, outcomes);
    ap_block *table = ap_doc_table(doc, cases, case_columns, sizeof case_columns / sizeof *case_columns);
    table->main = true;
    table->limit = ap_cli_limit(cli);
}

static ap_status run(ap_cli *cli)
{
    static const ap_holdout modes[] = {AP_HOLD_SOURCE, AP_HOLD_MODEL, AP_HOLD_CHIP, AP_HOLD_ROWS};
    const ap_catalog *catalog;
    const ap_calibration *calibration;
    ap_measures measures;
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status == AP_OK)
        status = ap_cli_calibration(cli, &calibration);
    if (status == AP_OK)
        status = load_cases(cli, catalog, &measures);
    if (status != AP_OK)
        return status;
    ap_doc *doc = ap_cli_new_doc(cli, "accuracy");
    ap_outcomes outcomes;
    ap_accuracy_predict(calibration, &measures, cli->arena, &outcomes);
    ap_errors errors = ap_accuracy_errors(&outcomes, NULL, NULL, cli->arena);
    int word = ap_cli_word(cli, AP_O_HOLDOUT);
    ap_value_put(cli->arena, doc->root, "holdout", text(cli, word >= 0 ? ap_holdout_names[modes[word]] : NULL));
    describe(doc, word >= 0 ? "Constants in use" : "All", &errors);
    if (word >= 0) {
        ap_value_put(cli->arena, doc->root, "summary_in_use", errors_value(cli, &errors));
        ap_fit_options options = {0};
        ap_accuracy_holdout(calibration, &measures, -1, modes[word], &options, cli->arena, &outcomes);
        errors = ap_accuracy_errors(&outcomes, NULL, NULL, cli->arena);
        describe(doc, "Refitted without the rows judged", &errors);
    }
    fill(cli, doc, &outcomes);
    return ap_cli_write_doc(cli, doc);
}

static const ap_example examples[] = {
    {"accuracy tests/measured/sample.csv", "how far estimates are from measured runs, by group"},
    {"accuracy tests/measured/sample.csv --json", "row by row, for scripts"},
};

const ap_command ap_cmd_accuracy = {
    .name = "accuracy",
    .synopsis = "CASES.csv…",
    .summary = "compare estimates with measured runs",
    .description =
        "Reads measured training runs (columns as in tests/measured/measured.csv, any order, any subset), estimates each "
        "in its own metric and unit, and reports the error by group.\n\n"
        "No measured value and no note of the rows is used for an estimate. With --holdout the constants are fitted again "
        "on these rows without the group that is judged: the honest figure for something never seen.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_OUTPUT | AP_G_LIST | AP_G_DATA | AP_G_ACCURACY,
    .min_operands = 1,
    .max_operands = AP_ANY_NUMBER,
    .operand = "CASES.csv",
    .values = "files",
    .run = run,
};
