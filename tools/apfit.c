/* Fits an engine's constants to measured rows, prints back-tests, writes data/calibration/ENGINE.yaml. For developers:
 * users have `accelpick accuracy` and `accelpick calibrate`.
 *
 * usage: apfit ENGINE [--data DIR] [--cases FILE] [--holdout rows,source,chip,model] [--write] [--no-fit] [--trace]
 *              [--by domain,metric,stack,...] [--worst N] [--dump FILE (appended)] [--domain D,...] [--iterations N] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/accuracy.h"
#include "estimate/calib_write.h"
#include "io/file.h"

typedef struct settings {
    const char *engine, *data, *cases, *holdouts, *by, *dump, *domains;
    bool write, widths_only, fit, trace;
    int worst, iterations;
} settings;

typedef struct session {
    settings set;
    ap_arena *arena;
    ap_diags diags;
    ap_catalog *catalog;
    ap_calibration *calibration;
    ap_measures measures;
    int engine;
} session;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_diags(session *s)
{
    ap_sbuf text;
    ap_sbuf_init(&text, s->arena);
    size_t shown = 0;
    for (size_t i = 0; i < s->diags.count; i++)
        if (s->diags.items[i].severity == AP_ERROR || shown < 10) {
            ap_diag_format(&s->diags.items[i], &text);
            shown++;
        }
    fputs(text.text, stderr);
}

static bool listed(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at += len)
        if ((at == list || at[-1] == ',') && (at[len] == '\0' || at[len] == ','))
            return true;
    return false;
}

/* -- tables ---------------------------------------------------------------------------------------------------------- */

static void print_errors(const char *name, const ap_errors *e)
{
    if (e->n)
        printf("  %-44.44s n %5zu  median %6.1f  mean %7.1f  p90 %7.1f  bias %+6.1f  cover %3.0f  skipped %zu\n", name, e->n,
               100 * e->median_ape, 100 * e->mean_ape, 100 * e->p90_ape, 100 * e->bias, 100 * e->coverage_80, e->skipped);
}

typedef struct domain_filter {
    const session *s;
    int quantity;
} domain_filter;

static bool of_engine(const ap_outcome *o, const void *argument)
{
    const domain_filter *f = argument;
    const ap_measure *m = o->measure;
    if (m->skip && !m->job.chip && strcmp(m->domain, "dataload") == 0)
        return false;
    if (f->s->engine >= 0 && (int)ap_est_engine(&m->job) != f->s->engine)
        return false;
    if (f->s->set.domains && !listed(f->s->set.domains, m->domain))
        return false;
    return f->quantity < 0 || (m->metric >= 0 && (int)ap_metric_quantity(m->metric) == f->quantity);
}

static ap_outcomes only(const session *s, const ap_outcomes *all, int quantity)
{
    domain_filter filter = {s, quantity};
    ap_outcomes some = {AP_NEW_ARRAY(s->arena, ap_outcome, all->count + 1), 0};
    for (size_t i = 0; i < all->count; i++)
        if (of_engine(&all->items[i], &filter))
            some.items[some.count++] = all->items[i];
    return some;
}

static void print_tables(const session *s, const char *title, const ap_outcomes *all)
{
    static const char *const quantities[] = {"throughput and steps", "memory", "whole runs"};
    printf("== %s: |predicted / measured - 1| in %%\n", title);
    for (int q = -1; q < AP_Q_COUNT; q++) {
        ap_outcomes some = only(s, all, q);
        ap_errors errors = ap_accuracy_errors(&some, NULL, NULL, s->arena);
        print_errors(q < 0 ? "all" : quantities[q], &errors);
    }
    ap_outcomes some = only(s, all, -1);
    char list[256];
    snprintf(list, sizeof list, "%s", s->set.by);
    char *state = NULL;
    for (char *by = strtok_r(list, ",", &state); by; by = strtok_r(NULL, ",", &state)) {
        ap_groups groups;
        ap_accuracy_groups(&some, by, s->arena, &groups);
        printf(" by %s\n", by);
        for (size_t i = 0; i < groups.count; i++)
            print_errors(groups.items[i].key, &groups.items[i].errors);
    }
    fflush(stdout);
}

static int by_residual(const void *a, const void *b)
{
    double x = fabs(((const ap_outcome *)a)->ln_residual), y = fabs(((const ap_outcome *)b)->ln_residual);
    x = isfinite(x) ? x : -1;
    y = isfinite(y) ? y : -1;
    return (x < y) - (x > y);
}

static void print_worst(const session *s, const ap_outcomes *all)
{
    ap_outcomes some = only(s, all, -1);
    qsort(some.items, some.count, sizeof *some.items, by_residual);
    printf(" worst rows (predicted / measured)\n");
    for (size_t i = 0; i < some.count && i < (size_t)s->set.worst; i++) {
        const ap_measure *m = some.items[i].measure;
        printf("  x%-8.2f %-34.34s %-24.24s %-18.18s n%-5g %-16.16s mb %-6g gb %-7g %-14s %s\n", some.items[i].p50 / m->value,
               m->id, m->model ? m->model : "", m->chip ? m->chip : "", m->job.chips, m->stack ? m->stack : "",
               m->layout.micro_batch, m->job.global_batch, ap_metric_names[m->metric],
               some.items[i].cell_count ? some.items[i].cells[0] : "");
    }
}

static void print_skipped(const session *s, const ap_outcomes *all)
{
    ap_outcomes some = only(s, all, -1);
    for (size_t i = 0; i < some.count; i++) {
        if (!some.items[i].reason)
            continue;
        size_t same = 0;
        bool first = true;
        for (size_t k = 0; k < some.count; k++)
            if (ap_streq(some.items[k].reason, some.items[i].reason)) {
                first = first && !(k < i);
                same++;
            }
        if (first)
            printf("  skipped %zu: %s (first %s)\n", same, some.items[i].reason, some.items[i].measure->id);
    }
}

/* Appended lines of tests/measured/heldout.csv, which docs/accuracy.md is made from. */
static void dump(const session *s, const char *mode, const ap_outcomes *all, FILE *file)
{
    ap_outcomes some = only(s, all, -1);
    for (size_t i = 0; i < some.count; i++) {
        const ap_outcome *o = &some.items[i];
        if (!o->reason)
            fprintf(file, "%s,%s,%.6g,%.6g,%.6g,%s,%s\n", mode, o->measure->id, o->p50, o->p10, o->p90,
                    o->basis >= 0 ? ap_basis_names[o->basis] : "", o->cell_count ? o->cells[0] : "");
    }
}

/* -- work ------------------------------------------------------------------------------------------------------------ */

static ap_calib_engine *engine_of(session *s, const char *name)
{
    for (size_t i = 0; i < s->calibration->engines.count; i++)
        if (ap_streq(s->calibration->engines.items[i].engine, name))
            return &s->calibration->engines.items[i];
    return NULL;
}

static ap_status load(session *s)
{
    ap_status status = ap_catalog_load_dir(s->set.data, s->arena, &s->diags, &s->catalog);
    if (status != AP_OK)
        return status;
    const char **paths;
    size_t count;
    const char *folder = ap_arena_printf(s->arena, "%s/calibration", s->set.data);
    status = ap_file_walk(folder, ".yaml", false, s->arena, &s->diags, &paths, &count);
    if (status == AP_OK)
        status = ap_calibration_load(paths, count, s->arena, &s->diags, &s->calibration);
    if (status == AP_OK)
        status = ap_cases_load(s->set.cases, s->catalog, s->arena, &s->diags, &s->measures);
    return status;
}

#define WIDTHS_HEAD                                                                                                    \
    "# Bands of this engine's estimates and what they rest on. Written by the fit (tools/heldout.sh); do not edit.\n"    \
    "# key: quantity, novelty (k3 .. k0), then the engine's kinds of case; low, high: 10 % and 90 % quantile of\n"       \
    "# ln(measured / predicted) of predictions that never saw the row.\n"

/* Bands go to widths/ENGINE.yaml, so that constants can be edited and fitted without them. */
static ap_status write_widths(session *s, const ap_calib_engine *fitted)
{
    ap_calib_engine widths = {.engine = fitted->engine, .sigma = AP_UNKNOWN, .sigma_memory = AP_UNKNOWN,
                              .sigma_run = AP_UNKNOWN, .source_power = AP_UNKNOWN, .row_weight = AP_UNKNOWN,
                              .band_sources = AP_UNKNOWN,
                              .intervals = fitted->intervals, .known = fitted->known, .fitted_on = fitted->fitted_on};
    ap_sbuf out;
    ap_sbuf_init(&out, s->arena);
    ap_calib_write_yaml(&widths, WIDTHS_HEAD, &out);
    const char *path = ap_arena_printf(s->arena, "%s/calibration/widths/%s.yaml", s->set.data, fitted->engine);
    return ap_file_write_atomic(path, out.text, out.len, &s->diags);
}

static ap_status write_engine(session *s, const ap_calib_engine *fitted)
{
    if (s->set.holdouts) {
        ap_status written = write_widths(s, fitted);
        if (written != AP_OK || s->set.widths_only)
            return written;
    }
    ap_calib_engine without = *fitted;
    const ap_calib_engine *engine = &without;
    without.intervals.count = without.known.count = 0;
    const char *path = ap_arena_printf(s->arena, "%s/calibration/%s.yaml", s->set.data, engine->engine);
    char *old = NULL;
    size_t len = 0;
    ap_status status = ap_file_read(path, (size_t)16 << 20, s->arena, &s->diags, &old, &len);
    if (status != AP_OK)
        return status;
    ap_sbuf out;
    ap_sbuf_init(&out, s->arena);
    ap_calib_write_yaml(engine, ap_calib_head(old, s->arena), &out);
    return ap_file_write_atomic(path, out.text, out.len, &s->diags);
}

static void describe_fit(session *s, ap_calib_engine *engine)
{
    const char *families[512];
    size_t count = 0;
    double newest = 0;
    for (size_t i = 0; i < s->measures.count; i++) {
        const ap_measure *m = &s->measures.items[i];
        if (m->skip || (int)ap_est_engine(&m->job) != s->engine)
            continue;
        newest = m->job.date > newest ? m->job.date : newest;
        size_t k = 0;
        while (k < count && strcmp(families[k], m->family) != 0)
            k++;
        if (k == count && count < 512)
            families[count++] = m->family;
    }
    engine->fitted_on.sources = (double)count;
    if (newest > 0)
        engine->fitted_on.as_of =
            ap_arena_printf(s->arena, "%d-%02d", (int)newest, 1 + (int)((newest - floor(newest)) * 12));
    if (!engine->fitted_on.doc)
        engine->fitted_on.doc = "published training measurements, tests/measured/measured.csv";
}

static void coverage_by_halves(session *s, const ap_pool *pools, size_t count, const ap_calib_engine *fitted, ap_outcomes *modes,
                               const char *const *names)
{
    for (int half = 0; half < 2; half++) {
        ap_calib_engine other = *fitted;
        ap_accuracy_intervals(pools, count, 1 - half, s->arena, &other);
        for (size_t i = 0; i < count; i++)
            ap_accuracy_apply(&other, &modes[i], half);
    }
    for (size_t i = 0; i < count; i++)
        print_tables(s, names[i], &modes[i]);
}

static void run_holdouts(session *s, ap_calib_engine *fitted, const ap_fit_options *options, FILE *dumped)
{
    static const double weights[AP_HOLD_COUNT] = {0, 0.4, 1, 0.7, 0.7};
    ap_outcomes modes[AP_HOLD_COUNT];
    ap_pool pools[AP_HOLD_COUNT];
    const char *names[AP_HOLD_COUNT];
    size_t count = 0;
    for (int mode = AP_HOLD_ROWS; mode < AP_HOLD_COUNT; mode++) {
        if (!s->set.holdouts || !listed(s->set.holdouts, ap_holdout_names[mode]))
            continue;
        double start = now_s();
        ap_accuracy_holdout(s->calibration, &s->measures, s->engine, (ap_holdout)mode, options, s->arena, &modes[count]);
        fprintf(stderr, "held out by %s: %.1f s\n", ap_holdout_names[mode], now_s() - start);
        pools[count] = (ap_pool){&modes[count], weights[mode]};
        names[count++] = ap_holdout_names[mode];
    }
    if (!count)
        return;
    coverage_by_halves(s, pools, count, fitted, modes, names);
    ap_accuracy_intervals(pools, count, -1, s->arena, fitted);
    for (size_t i = 0; i < count; i++) {
        if (s->set.worst) {
            printf(" held out by %s:", names[i]);
            print_worst(s, &modes[i]);
        }
        if (dumped)
            dump(s, names[i], &modes[i], dumped);
    }
}

static ap_status run(session *s)
{
    ap_status status = load(s);
    print_diags(s);
    if (status != AP_OK)
        return status;
    ap_calib_engine *engine = engine_of(s, s->set.engine);
    if (!engine) {
        fprintf(stderr, "apfit: no %s/calibration/%s.yaml\n", s->set.data, s->set.engine);
        return AP_BAD_DATA;
    }
    FILE *dumped = s->set.dump ? fopen(s->set.dump, "a") : NULL;
    if (dumped && fseek(dumped, 0, SEEK_END) == 0 && ftell(dumped) == 0)
        fputs("mode,id,p50,p10,p90,basis,cell\n", dumped);
    ap_fit_options options = {.max_iterations = s->set.iterations, .trace = s->set.trace};
    if (s->set.fit) {
        double start = now_s();
        ap_fit *fit = ap_fit_new(s->calibration, (ap_engine)s->engine, AP_FIT_COLD, &s->measures, s->arena);
        const ap_calib_engine *fitted = ap_fit_run(fit, NULL, &options, s->arena);
        fprintf(stderr, "%s: %zu rows, %zu unknowns, %.1f s\n", s->set.engine, ap_fit_row_count(fit), ap_fit_param_count(fit),
                now_s() - start);
        ap_calib_engine kept = *engine;
        *engine = *fitted;
        engine->intervals.items = kept.intervals.items;
        engine->intervals.count = kept.intervals.count;
        describe_fit(s, engine);
        options.tolerance = 5e-4; /* many fits: the last half per mille changes no held-out figure */
        options.max_iterations = s->set.iterations ? s->set.iterations : 22;
        run_holdouts(s, engine, &options, dumped);
    }
    ap_outcomes outcomes;
    ap_accuracy_predict(s->calibration, &s->measures, s->arena, &outcomes);
    print_tables(s, "in-sample", &outcomes);
    print_skipped(s, &outcomes);
    if (s->set.worst)
        print_worst(s, &outcomes);
    if (dumped) {
        dump(s, "in", &outcomes, dumped);
        fclose(dumped);
    }
    return s->set.write && s->set.fit ? write_engine(s, engine) : AP_OK;
}

static const char *value_of(int argc, char **argv, int *at)
{
    if (*at + 1 >= argc) {
        fprintf(stderr, "apfit: %s needs a value\n", argv[*at]);
        exit(AP_USAGE);
    }
    return argv[++*at];
}

static void read_options(int argc, char **argv, settings *set)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--data"))
            set->data = value_of(argc, argv, &i);
        else if (!strcmp(argv[i], "--cases"))
            set->cases = value_of(argc, argv, &i);
        else if (!strcmp(argv[i], "--holdout"))
            set->holdouts = value_of(argc, argv, &i);
        else if (!strcmp(argv[i], "--by"))
            set->by = value_of(argc, argv, &i);
        else if (!strcmp(argv[i], "--dump"))
            set->dump = value_of(argc, argv, &i);
        else if (!strcmp(argv[i], "--domain"))
            set->domains = value_of(argc, argv, &i);
        else if (!strcmp(argv[i], "--worst"))
            set->worst = (int)strtol(value_of(argc, argv, &i), NULL, 10);
        else if (!strcmp(argv[i], "--iterations"))
            set->iterations = (int)strtol(value_of(argc, argv, &i), NULL, 10);
        else if (!strcmp(argv[i], "--write"))
            set->write = true;
        else if (!strcmp(argv[i], "--write-widths")) /* bands only: constants stay as they are */
            set->write = set->widths_only = true;
        else if (!strcmp(argv[i], "--no-fit"))
            set->fit = false;
        else if (!strcmp(argv[i], "--trace"))
            set->trace = true;
        else if (argv[i][0] != '-' && !set->engine)
            set->engine = argv[i];
        else {
            fprintf(stderr, "apfit: unknown option %s\n", argv[i]);
            exit(AP_USAGE);
        }
    }
}

int main(int argc, char **argv)
{
    session s = {.set = {.data = "data", .cases = "tests/measured/measured.csv", .by = "domain,metric", .fit = true}};
    read_options(argc, argv, &s.set);
    s.engine = -1;
    for (int e = 0; s.set.engine && e < AP_ENGINE_COUNT; e++)
        if (ap_streq(ap_engine_ops_of((ap_engine)e)->name, s.set.engine))
            s.engine = e;
    if (s.engine < 0) {
        fputs("usage: apfit llm|dl|tree|env [--data DIR] [--cases FILE] [--holdout rows,source,chip,model] [--write]\n"
              "             [--no-fit] [--trace] [--by domain,metric,stack,chip,source,model,quality,basis,scale]\n"
              "             [--worst N] [--dump FILE] [--domain D,...] [--iterations N]\n",
              stderr);
        return AP_USAGE;
    }
    s.arena = ap_arena_new();
    ap_diags_init(&s.diags, s.arena);
    ap_status status = run(&s);
    ap_arena_free(s.arena);
    return (int)status;
}
