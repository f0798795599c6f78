/* accelpick calibrate: a user's own runs over the built-in constants. */
#include "cli/cli.h"
#include "estimate/accuracy.h"
#include "estimate/calib_write.h"
#include "io/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static ap_value *errors_value(ap_cli *cli, const ap_errors *e)
{
    ap_value *map = ap_value_map(cli->arena);
    ap_value_put(cli->arena, map, "n", ap_value_int(cli->arena, (int64_t)e->n));
    ap_value_put(cli->arena, map, "median_ape", ap_value_num(cli->arena, e->median_ape));
    ap_value_put(cli->arena, map, "mean_ape", ap_value_num(cli->arena, e->mean_ape));
    ap_value_put(cli->arena, map, "bias", ap_value_num(cli->arena, e->bias));
    ap_value_put(cli->arena, map, "coverage_80", ap_value_num(cli->arena, e->coverage_80));
    return map;
}

#define ONE_BY_ONE 20 /* rows that are left out one at a time; of longer tables a tenth at once */

/* Each row predicted by a calibration on the others: what a run that was not measured can expect. */
static void leave_out(ap_cli *cli, const ap_calibration *base, const ap_measures *measures, ap_outcomes *ret)
{
    size_t count = measures->count, folds = count <= ONE_BY_ONE ? count : 10;
    ret->items = AP_NEW_ARRAY(cli->arena, ap_outcome, count + 1);
    ret->count = count;
    for (size_t fold = 0; fold < folds; fold++) {
        ap_arena *arena = ap_arena_new(); /* a refit's own */
        ap_measures others = {AP_NEW_ARRAY(arena, ap_measure, count + 1), 0};
        for (size_t i = 0; i < count; i++)
            if (i % folds != fold)
                others.items[others.count++] = measures->items[i];
        const ap_calibration *overlay = ap_fit_user(base, &others, arena);
        ap_calibration *fitted = ap_calibration_copy(base, arena);
        for (size_t e = 0; e < overlay->engines.count; e++)
            ap_calibration_overlay(fitted, &overlay->engines.items[e]);
        for (size_t i = fold; i < count; i += folds) {
            ap_outcomes one;
            ap_accuracy_predict(fitted, &(ap_measures){&measures->items[i], 1}, arena, &one);
            ret->items[i] = one.items[0];
            ret->items[i].cells = NULL; /* they go with the arena */
            ret->items[i].cell_count = 0;
        }
        ap_arena_free(arena);
    }
}

/* Rows that are far off are named, for they move nothing but their own job. */
static size_t warn_of_far_rows(ap_cli *cli, const ap_calibration *base, const ap_measures *measures)
{
    size_t far = 0;
    for (size_t i = 0; i < measures->count; i++) {
        const ap_measure *m = &measures->items[i];
        ap_prediction prediction;
        if (!ap_fit_is_far(base, m))
            continue;
        far++;
        ap_predict(base, m, &prediction);
        double ratio = m->value / prediction.p50;
        ap_diag *diag = ap_diag_add(&cli->diags, AP_WARNING, 914, (ap_pos){cli->operands[0], m->line, 1},
                                    "%s: measured %.5g, estimated %.5g: %.1f times %s; it moves nothing but the factor of its own job", m->id, m->value,
                                    prediction.p50, ratio > 1 ? ratio : 1 / ratio, ratio > 1 ? "as much" : "less");
        diag->hint = "check the unit, the number of chips, the batch and what the run waited for";
    }
    return far;
}

static ap_value *cases_value(ap_cli *cli, const ap_outcomes *before, const ap_outcomes *after, const ap_outcomes *left_out)
{
    ap_arena *arena = cli->arena;
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < before->count; i++) {
        const ap_outcome *b = &before->items[i], *a = &after->items[i];
        ap_value *map = ap_value_map(arena);
        ap_value_put(arena, map, "id", ap_value_text(arena, b->measure->id));
        ap_value_put(arena, map, "metric",
                     ap_value_text(arena, b->measure->metric >= 0 ? ap_metric_names[b->measure->metric] : NULL));
        ap_value_put(arena, map, "measured", ap_value_num(arena, b->measure->value));
        ap_value_put(arena, map, "before", ap_value_num(arena, b->p50));
        ap_value_put(arena, map, "after", ap_value_num(arena, a->p50));
        ap_value_put(arena, map, "left_out", ap_value_num(arena, left_out->items[i].p50));
        ap_value_put(arena, map, "status", ap_value_text(arena, a->reason ? "skipped" : "ok"));
        ap_value_put(arena, map, "reason", ap_value_text(arena, a->reason));
        ap_value_push(arena, list, map);
    }
    return list;
}

static ap_value *constants_value(ap_cli *cli, const ap_calibration *base, const ap_calibration *overlay)
{
    ap_arena *arena = cli->arena;
    ap_value *list = ap_value_list(arena);
    for (size_t e = 0; e < overlay->engines.count; e++) {
        const ap_calib_engine *engine = &overlay->engines.items[e];
        const ap_calib_engine *old = ap_calibration_engine(base, engine->engine);
        for (size_t c = 0; c < engine->constants.count; c++)
            for (size_t b = 0; b < engine->constants.items[c].by.count; b++)
                for (size_t k = 0; k < engine->constants.items[c].by.items[b].values.count; k++) {
                    const ap_calib_const *constant = &engine->constants.items[c];
                    const ap_deviation *d = &constant->by.items[b].values.items[k];
                    ap_value *map = ap_value_map(arena);
                    ap_value_put(arena, map, "engine", ap_value_text(arena, engine->engine));
                    ap_value_put(arena, map, "constant", ap_value_text(arena, constant->id));
                    ap_value_put(arena, map, "level", ap_value_text(arena, constant->by.items[b].level));
                    ap_value_put(arena, map, "key", ap_value_text(arena, d->key));
                    ap_value_put(arena, map, "before",
                                 ap_value_num(arena, old ? ap_calib_deviation(old, constant->id,
                                                                              constant->by.items[b].level, d->key)
                                                         : 0));
                    ap_value_put(arena, map, "after", ap_value_num(arena, d->value));
                    ap_value_put(arena, map, "rows", ap_value_num(arena, d->rows));
                    ap_value_push(arena, list, map);
                }
    }
    return list;
}

static ap_status make_dir(ap_cli *cli, const char *path)
{
    char *copy = ap_arena_strdup(cli->arena, path);
    for (char *slash = copy + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            break;
        *slash = '/';
    }
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return AP_OK;
    ap_diag_add(&cli->diags, AP_ERROR, 911, AP_NO_POS, "cannot make the folder %s: %s", path, strerror(errno));
    return AP_IO;
}

static ap_status store(ap_cli *cli, const ap_calibration *overlay, ap_doc *doc)
{
    const char *dir = ap_cli_calibration_dir(cli->arena);
    if (!dir)
        return ap_cli_usage(cli, 912, "set HOME or XDG_CONFIG_HOME", "there is no folder to store your calibration in");
    ap_status status = make_dir(cli, dir);
    ap_value *files = ap_value_list(cli->arena);
    for (size_t e = 0; status == AP_OK && e < overlay->engines.count; e++) {
        const ap_calib_engine *engine = &overlay->engines.items[e];
        const char *path = ap_arena_printf(cli->arena, "%s/%s.yaml", dir, engine->engine);
        ap_sbuf out;
        ap_sbuf_init(&out, cli->arena);
        ap_calib_write_yaml(engine, "# Your own measurements, laid over the built-in constants. Delete to forget them.\n",
                            &out);
        status = ap_file_write_atomic(path, out.text, out.len, &cli->diags);
        ap_value_push(cli->arena, files, ap_value_text(cli->arena, path));
        ap_doc_paragraph(doc, "Stored in %s.", path);
    }
    ap_value_put(cli->arena, doc->root, "written", files);
    return status;
}

static const ap_column case_columns[] = {
    {.title = "Case", .path = "id", .priority = 1, .flexible = true},
    {.title = "Metric", .path = "metric", .priority = 1},
    {.title = "Measured", .path = "measured", .priority = 1, .right = true},
    {.title = "Before", .path = "before", .priority = 1, .right = true},
    {.title = "After", .path = "after", .priority = 1, .right = true},
    {.title = "Left out", .path = "left_out", .priority = 1, .right = true},
    {.title = "Why not", .path = "reason", .priority = 2, .flexible = true},
};
static const ap_column constant_columns[] = {
    {.title = "Engine", .path = "engine", .priority = 2},
    {.title = "Constant", .path = "constant", .priority = 1},
    {.title = "Level", .path = "level", .priority = 1},
    {.title = "Key", .path = "key", .priority = 1, .flexible = true},
    {.title = "Before", .path = "before", .priority = 1, .right = true},
    {.title = "After", .path = "after", .priority = 1, .right = true},
    {.title = "Rows", .path = "rows", .format = AP_CELL_INTEGER, .priority = 2, .right = true},
};

static void describe(ap_doc *doc, const ap_errors *before, const ap_errors *after, const ap_errors *left_out, size_t far)
{
    ap_doc_paragraph(doc, "%zu rows; median error %.1f %% before, %.1f %% after; %zu skipped.", before->n, 100 * before->median_ape,
                     100 * after->median_ape, before->skipped);
    ap_doc_paragraph(doc, "After is what these very jobs get: their measured times are stored. Of a run that is not in the table expect the error of each row "
                          "predicted from the others (left out): median %.1f %%, mean %.1f %%.", 100 * left_out->median_ape, 100 * left_out->mean_ape);
    if (left_out->median_ape > before->median_ape)
        ap_doc_paragraph(doc, "That is no better than before (median %.1f %%): these rows do not speak for one another.", 100 * before->median_ape);
    if (far)
        ap_doc_paragraph(doc, "%zu of them %s off by more than %.0f times and %s nothing but the factor of %s own job.", far, far == 1 ? "is" : "are",
                         AP_FIT_USER_FACTOR, far == 1 ? "moves" : "move", far == 1 ? "its" : "their");
}

static ap_status run(ap_cli *cli)
{
    const ap_catalog *catalog;
    const ap_calibration *calibration, *base;
    ap_measures measures;
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status == AP_OK)
        status = ap_cli_calibration(cli, &calibration);
    if (status == AP_OK)
        status = ap_cli_base_calibration(cli, &base);
    if (status == AP_OK)
        status = ap_cases_load(cli->operands[0], catalog, cli->arena, &cli->diags, &measures);
    if (status != AP_OK)
        return status;
    /* What is stored replaces an earlier calibration of the user: it starts from the built-in constants again. */
    const ap_calibration *overlay = ap_fit_user(base, &measures, cli->arena);
    ap_calibration *fitted = ap_calibration_copy(base, cli->arena);
    for (size_t e = 0; e < overlay->engines.count; e++)
        ap_calibration_overlay(fitted, &overlay->engines.items[e]);
    ap_outcomes before, after, left_out;
    ap_accuracy_predict(calibration, &measures, cli->arena, &before);
    ap_accuracy_predict(fitted, &measures, cli->arena, &after);
    leave_out(cli, base, &measures, &left_out);
    size_t far = warn_of_far_rows(cli, base, &measures);
    ap_errors errors_before = ap_accuracy_errors(&before, NULL, NULL, cli->arena);
    ap_errors errors_after = ap_accuracy_errors(&after, NULL, NULL, cli->arena);
    ap_errors errors_left_out = ap_accuracy_errors(&left_out, NULL, NULL, cli->arena);
    ap_doc *doc = ap_cli_new_doc(cli, "calibration");
    ap_value *cases = cases_value(cli, &before, &after, &left_out), *constants = constants_value(cli, base, overlay);
    ap_value_put(cli->arena, doc->root, "before", errors_value(cli, &errors_before));
    ap_value_put(cli->arena, doc->root, "after", errors_value(cli, &errors_after));
    ap_value_put(cli->arena, doc->root, "left_out", errors_value(cli, &errors_left_out));
    ap_value_put(cli->arena, doc->root, "far_off", ap_value_int(cli->arena, (int64_t)far));
    ap_value_put(cli->arena, doc->root, "cases", cases);
    ap_value_put(cli->arena, doc->root, "constants", constants);
    if (errors_before.n)
        describe(doc, &errors_before, &errors_after, &errors_left_out, far);
    else
        ap_doc_paragraph(doc, "No row could be used; the reasons are below.");
    ap_block *table = ap_doc_table(doc, cases, case_columns, sizeof case_columns / sizeof *case_columns);
    table->main = true;
    table->limit = ap_cli_limit(cli);
    ap_block *moved = ap_doc_table(doc, constants, constant_columns, sizeof constant_columns / sizeof *constant_columns);
    moved->limit = ap_cli_limit(cli);
    if (ap_cli_flag(cli, AP_O_WRITE) && overlay->engines.count)
        status = store(cli, overlay, doc);
    ap_status written = ap_cli_write_doc(cli, doc);
    return status != AP_OK ? status : written;
}

static const ap_example examples[] = {
    {"calibrate tests/measured/own-runs.csv", "what your own runs say, without storing anything"},
};

const ap_command ap_cmd_calibrate = {
    .name = "calibrate",
    .synopsis = "CASES.csv",
    .summary = "fit the constants of the estimator to your own runs",
    .description =
        "Reads your measured runs (columns as in tests/measured/measured.csv, any subset) and moves the deviations of your "
        "chips, software and models as far as the rows justify. Rows move the estimates of every job that shares a chip, its "
        "generation, the link, the software, the model or its class with them, by up to tens of per cent where the built-in "
        "constants rest on few measurements; the second table shows what moves. A row off by more than three times is named and moves "
        "nothing but the factor of its own job. A job that was measured itself is estimated as measured; what others can expect is the "
        "error of each row predicted from the others (left out). Nothing is stored without --write.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_OUTPUT | AP_G_LIST | AP_G_DATA | AP_G_ACCURACY,
    .min_operands = 1,
    .max_operands = 1,
    .operand = "CASES.csv",
    .values = "files",
    .run = run,
};
