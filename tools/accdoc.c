/* Writes docs/accuracy.md (tables) and docs/accuracy.svg (predicted against measured) from the measured rows, the built
 * calibration and the held-out predictions that apfit stored.
 *
 * usage: accdoc [--data DIR] [--cases FILE] [--heldout FILE] [--doc FILE] [--svg FILE]
 * The text between <!-- begin generated --> and <!-- end generated --> of the document is replaced; the rest stays. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/accuracy.h"
#include "io/file.h"

enum { MODES = 4 };
static const char *const mode_names[MODES] = {"in", "rows", "source", "chip"};
static const char *const mode_titles[MODES] = {"in sample", "5-fold", "source left out", "chip left out"};

typedef struct session {
    const char *data, *cases, *heldout, *doc, *svg;
    ap_arena *arena;
    ap_diags diags;
    ap_measures measures;
    ap_calibration *calibration;
    ap_outcomes modes[MODES]; /* count 0: not known */
    const ap_measure **order; /* rows by id */
} session;

/* -- input ----------------------------------------------------------------------------------------------------------- */

static ap_status load(session *s)
{
    ap_catalog *catalog;
    const char **paths;
    size_t count;
    ap_status status = ap_catalog_load_dir(s->data, s->arena, &s->diags, &catalog);
    if (status == AP_OK)
        status = ap_file_walk(ap_arena_printf(s->arena, "%s/calibration", s->data), ".yaml", false, s->arena, &s->diags,
                              &paths, &count);
    if (status == AP_OK)
        status = ap_calibration_load(paths, count, s->arena, &s->diags, &s->calibration);
    if (status == AP_OK)
        status = ap_cases_load(s->cases, catalog, s->arena, &s->diags, &s->measures);
    return status;
}

static int by_id(const void *a, const void *b)
{
    return strcmp((*(const ap_measure *const *)a)->id, (*(const ap_measure *const *)b)->id);
}

static const ap_measure *find_row(const session *s, const char *id)
{
    size_t low = 0, high = s->measures.count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = strcmp(s->order[mid]->id, id);
        if (order == 0)
            return s->order[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static double cell_number(const ap_csv *csv, size_t row, const char *name)
{
    int column = ap_csv_column(csv, name);
    double value;
    return column >= 0 && ap_num_parse(csv->rows[row][column], &value) ? value : AP_UNKNOWN;
}

static void read_heldout(session *s)
{
    char *text;
    size_t len;
    ap_csv csv;
    if (!ap_file_exists(s->heldout) ||
        ap_file_read(s->heldout, (size_t)64 << 20, s->arena, &s->diags, &text, &len) != AP_OK ||
        ap_csv_parse(text, len, s->heldout, s->arena, &s->diags, &csv) != AP_OK)
        return;
    int mode_column = ap_csv_column(&csv, "mode"), id_column = ap_csv_column(&csv, "id");
    for (int m = 1; m < MODES && mode_column >= 0 && id_column >= 0; m++) {
        ap_outcomes *o = &s->modes[m];
        o->items = AP_NEW_ARRAY(s->arena, ap_outcome, csv.row_count + 1);
        for (size_t r = 0; r < csv.row_count; r++) {
            const ap_measure *measure = find_row(s, csv.rows[r][id_column]);
            if (!measure || strcmp(csv.rows[r][mode_column], mode_names[m]) != 0)
                continue;
            double p50 = cell_number(&csv, r, "p50");
            if (!(p50 > 0))
                continue;
            o->items[o->count++] = (ap_outcome){.measure = measure, .p10 = cell_number(&csv, r, "p10"), .p50 = p50,
                                                .p90 = cell_number(&csv, r, "p90"), .basis = -1,
                                                .ln_residual = ap_fit_residual(measure, p50)};
        }
    }
}

/* -- tables ---------------------------------------------------------------------------------------------------------- */

typedef struct group_of {
    const char *title;
    const char *by, *key;     /* NULL: all */
    int quantity;             /* -1 all */
    const char *quality;      /* NULL: any */
    bool multi_node;
} group_of;

static bool selected(const ap_outcome *o, const void *argument)
{
    const group_of *g = argument;
    const ap_measure *m = o->measure;
    if (g->by && strcmp(ap_accuracy_group(o, g->by), g->key) != 0)
        return false;
    if (g->quantity >= 0 && (m->metric < 0 || (int)ap_metric_quantity(m->metric) != g->quantity))
        return false;
    if (g->quality && !ap_streq(m->quality, g->quality))
        return false;
    return !g->multi_node || m->job.chips > ap_or(m->job.chips_per_node, 8);
}

static void table_head(ap_sbuf *out, const char *first)
{
    ap_sbuf_printf(out, "| %s | rows |", first);
    for (int m = 0; m < MODES; m++)
        ap_sbuf_printf(out, " %s |", mode_titles[m]);
    ap_sbuf_add(out, "\n|---|---:|");
    for (int m = 0; m < MODES; m++)
        ap_sbuf_add(out, "---:|");
    ap_sbuf_add_char(out, '\n');
}

static void table_row(const session *s, const group_of *g, ap_sbuf *out)
{
    ap_errors in = ap_accuracy_errors(&s->modes[0], selected, g, s->arena);
    if (!in.n)
        return;
    ap_sbuf_printf(out, "| %s | %zu |", g->title, in.n);
    for (int m = 0; m < MODES; m++) {
        ap_errors e = m ? ap_accuracy_errors(&s->modes[m], selected, g, s->arena) : in;
        if (e.n)
            ap_sbuf_printf(out, " %.1f / %.1f / %.0f |", 100 * e.median_ape, 100 * e.mean_ape, 100 * e.coverage_80);
        else
            ap_sbuf_add(out, " – |");
    }
    ap_sbuf_add_char(out, '\n');
}

static void headline(const session *s, ap_sbuf *out)
{
    static const group_of rows[] = {
        {"everything", NULL, NULL, -1, NULL, false},
        {"throughput and step time, quality A", NULL, NULL, AP_Q_STEP, "A", false},
        {"throughput and step time, all", NULL, NULL, AP_Q_STEP, NULL, false},
        {"whole runs (hours, time to train, energy, money)", NULL, NULL, AP_Q_RUN, NULL, false},
        {"peak memory", NULL, NULL, AP_Q_MEMORY, NULL, false},
        {"multi-node A100 (vTrain's public set)", "source", "VIA-Research/vTrain", AP_Q_STEP, NULL, true},
    };
    ap_sbuf_add(out, "## Headline\n\n");
    table_head(out, "group");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        table_row(s, &rows[i], out);
    ap_sbuf_add_char(out, '\n');
}

static void grouped(const session *s, const char *by, size_t least, ap_sbuf *out)
{
    ap_groups groups;
    ap_accuracy_groups(&s->modes[0], by, s->arena, &groups);
    ap_sbuf_printf(out, "## By %s\n\n", by);
    table_head(out, by);
    for (size_t i = 0; i < groups.count; i++)
        if (groups.items[i].errors.n >= least) {
            group_of g = {groups.items[i].key, by, groups.items[i].key, -1, NULL, false};
            table_row(s, &g, out);
        }
    ap_sbuf_add_char(out, '\n');
}

static void ranking(const session *s, ap_sbuf *out)
{
    ap_sbuf_add(out, "## The choice that matters: ranking\n\n"
                     "Groups of runs of one publication that differ in layout only (same model, chips and batch), or in the "
                     "chip only: how often the one predicted best is within 5 % of the one measured best, and what the "
                     "choice loses on average.\n\n| choice | prediction | groups | within 5 % | mean loss |\n"
                     "|---|---|---:|---:|---:|\n");
    for (int chips = 0; chips < 2; chips++)
        for (int m = 0; m < MODES; m++) {
            ap_ranking r = ap_accuracy_ranking(&s->modes[m], chips != 0, s->arena);
            if (r.groups)
                ap_sbuf_printf(out, "| %s | %s | %zu | %.0f %% | %.1f %% |\n", chips ? "chip" : "layout", mode_titles[m],
                               r.groups, 100 * r.within_5, 100 * r.mean_regret);
        }
    ap_sbuf_add_char(out, '\n');
}

static int by_residual(const void *a, const void *b)
{
    double x = fabs(((const ap_outcome *)a)->ln_residual), y = fabs(((const ap_outcome *)b)->ln_residual);
    x = isfinite(x) ? x : -1;
    y = isfinite(y) ? y : -1;
    return (x < y) - (x > y);
}

static void worst(const session *s, size_t count, ap_sbuf *out)
{
    ap_outcomes sorted = {AP_NEW_ARRAY(s->arena, ap_outcome, s->modes[0].count + 1), s->modes[0].count};
    memcpy(sorted.items, s->modes[0].items, sorted.count * sizeof *sorted.items);
    qsort(sorted.items, sorted.count, sizeof *sorted.items, by_residual);
    ap_sbuf_printf(out, "## The %zu rows farthest off, in sample\n\n| row | model | chip | chips | software | metric | predicted / measured "
                        "|\n|---|---|---|---:|---|---|---:|\n",
                   count);
    for (size_t i = 0; i < sorted.count && i < count; i++) {
        const ap_measure *m = sorted.items[i].measure;
        ap_sbuf_printf(out, "| %s | %s | %s | %g | %s | %s | %.3g |\n", m->id, m->model ? m->model : "", m->chip ? m->chip : "",
                       m->job.chips, m->stack ? m->stack : "", m->metric >= 0 ? ap_metric_names[m->metric] : "",
                       sorted.items[i].p50 / m->value);
    }
    ap_sbuf_add_char(out, '\n');
}

static void skipped(const session *s, ap_sbuf *out)
{
    ap_sbuf_add(out, "## Rows without a prediction\n\n| reason | rows |\n|---|---:|\n");
    const ap_outcomes *all = &s->modes[0];
    for (size_t i = 0; i < all->count; i++) {
        const char *reason = all->items[i].reason;
        size_t same = 0, earlier = 0;
        for (size_t k = 0; reason && k < all->count; k++)
            if (ap_streq(all->items[k].reason, reason)) {
                same++;
                earlier += k < i;
            }
        if (reason && !earlier)
            ap_sbuf_printf(out, "| %s | %zu |\n", reason, same);
    }
    ap_sbuf_add_char(out, '\n');
}

/* -- picture --------------------------------------------------------------------------------------------------------- */

enum { PANEL = 420, MARGIN = 50 };

static double on_axis(double value, double low, double high)
{
    return (log10(value) - low) / (high - low) * PANEL;
}

static void panel(const session *s, int mode, int quantity, const char *title, double left, ap_sbuf *out)
{
    static const char *const colors[] = {"#2364aa", "#b3541e", "#3b7d3b"};
    double low = 1e9, high = -1e9;
    const ap_outcomes *o = &s->modes[mode];
    for (size_t i = 0; i < o->count; i++)
        if (!o->items[i].reason && o->items[i].measure->value > 0 &&
            (int)ap_metric_quantity(o->items[i].measure->metric) == quantity) {
            low = fmin(low, floor(log10(o->items[i].measure->value)));
            high = fmax(high, ceil(log10(o->items[i].measure->value)));
        }
    if (!(high > low))
        return;
    ap_sbuf_printf(out, "<g transform=\"translate(%g,40)\">\n<rect width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n",
                   left, PANEL, PANEL);
    ap_sbuf_printf(out, "<text x=\"%d\" y=\"-12\" text-anchor=\"middle\" font-size=\"15\">%s</text>\n", PANEL / 2, title);
    for (double d = low; d <= high; d++) {
        double at = (d - low) / (high - low) * PANEL;
        ap_sbuf_printf(out, "<path d=\"M%.1f 0V%d M0 %.1fH%d\" stroke=\"#e4e4e4\"/>\n", at, PANEL, PANEL - at, PANEL);
        if (high - low <= 8 || fmod(d - low, 2) < 0.5) {
            ap_sbuf_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">1e%g</text>\n", at, PANEL + 16, d);
            ap_sbuf_printf(out, "<text x=\"-6\" y=\"%.1f\" text-anchor=\"end\">1e%g</text>\n", PANEL - at + 4, d);
        }
    }
    ap_sbuf_printf(out, "<g fill=\"%s\" fill-opacity=\".35\">\n", colors[quantity]);
    for (size_t i = 0; i < o->count; i++) {
        const ap_outcome *p = &o->items[i];
        if (p->reason || !(p->measure->value > 0) || (int)ap_metric_quantity(p->measure->metric) != quantity)
            continue;
        double x = on_axis(p->measure->value, low, high), y = PANEL - on_axis(p->p50, low, high);
        if (y >= 0 && y <= PANEL)
            ap_sbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.6\"/>\n", x, y);
    }
    ap_sbuf_printf(out, "</g>\n<path d=\"M0 %dL%d 0\" stroke=\"#222\"/>\n</g>\n", PANEL, PANEL);
}

static void picture(const session *s, ap_sbuf *out)
{
    static const char *const titles[] = {"throughput, step time", "peak memory, GiB", "whole runs"};
    int mode = s->modes[2].count ? 2 : 0;
    int width = 3 * (PANEL + MARGIN) + MARGIN;
    ap_sbuf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
                        "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                   width, PANEL + 100);
    for (int q = 0; q < 3; q++)
        panel(s, mode, q, titles[q], MARGIN + q * (PANEL + MARGIN), out);
    ap_sbuf_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"13\">measured (across) and predicted (up), "
                        "each row in its own unit; %s</text>\n</svg>\n",
                   width / 2, PANEL + 85, mode ? "predictions never saw the row's source" : "in sample");
}

/* -- output ---------------------------------------------------------------------------------------------------------- */

#define BEGIN_MARK "<!-- begin generated -->\n"
#define END_MARK   "<!-- end generated -->\n"

static void generated(const session *s, ap_sbuf *out)
{
    ap_sbuf_add(out, "Figures are median error / mean error / share inside the 80 % band, all in percent; error = "
                     "|predicted / measured - 1|. \"In sample\" uses the shipped constants; the other columns refit from the "
                     "priors without the row's fold (runs kept together), source or chip, and take bands learnt on other "
                     "rows.\n\n![predicted against measured](accuracy.svg)\n\n");
    headline(s, out);
    grouped(s, "domain", 1, out);
    ranking(s, out);
    grouped(s, "metric", 1, out);
    grouped(s, "quality", 1, out);
    grouped(s, "scale", 1, out);
    grouped(s, "stack", 10, out);
    grouped(s, "chip", 10, out);
    grouped(s, "source", 10, out);
    skipped(s, out);
    worst(s, 40, out);
}

static ap_status write_doc(session *s)
{
    char *old = NULL;
    size_t len = 0;
    if (ap_file_exists(s->doc) && ap_file_read(s->doc, (size_t)4 << 20, s->arena, &s->diags, &old, &len) != AP_OK)
        return AP_IO;
    ap_sbuf out;
    ap_sbuf_init(&out, s->arena);
    const char *begin = old ? strstr(old, BEGIN_MARK) : NULL, *end = old ? strstr(old, END_MARK) : NULL;
    if (begin)
        ap_sbuf_add_len(&out, old, (size_t)(begin - old));
    else
        ap_sbuf_add(&out, "# Accuracy\n\n");
    ap_sbuf_add(&out, BEGIN_MARK "\n");
    generated(s, &out);
    ap_sbuf_add(&out, END_MARK);
    if (end)
        ap_sbuf_add(&out, end + strlen(END_MARK));
    return ap_file_write_atomic(s->doc, out.text, out.len, &s->diags);
}

static ap_status run(session *s)
{
    ap_status status = load(s);
    if (status != AP_OK)
        return status;
    s->order = AP_NEW_ARRAY(s->arena, const ap_measure *, s->measures.count + 1);
    for (size_t i = 0; i < s->measures.count; i++)
        s->order[i] = &s->measures.items[i];
    qsort(s->order, s->measures.count, sizeof *s->order, by_id);
    ap_accuracy_predict(s->calibration, &s->measures, s->arena, &s->modes[0]);
    read_heldout(s);
    status = write_doc(s);
    ap_sbuf svg, text;
    ap_sbuf_init(&svg, s->arena);
    ap_sbuf_init(&text, s->arena);
    picture(s, &svg);
    if (status == AP_OK)
        status = ap_file_write_atomic(s->svg, svg.text, svg.len, &s->diags);
    headline(s, &text);
    grouped(s, "domain", 1, &text);
    ranking(s, &text);
    fputs(text.text, stdout);
    return status;
}

int main(int argc, char **argv)
{
    session s = {.data = "data", .cases = "tests/measured/measured.csv", .heldout = "tests/measured/heldout.csv",
                 .doc = "docs/accuracy.md", .svg = "docs/accuracy.svg", .arena = ap_arena_new()};
    struct { const char *name; const char **value; } options[] = {{"--data", &s.data}, {"--cases", &s.cases},
                                                                {"--heldout", &s.heldout}, {"--doc", &s.doc},
                                                                {"--svg", &s.svg}};
    for (int i = 1; i + 1 < argc; i += 2)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++)
            if (strcmp(argv[i], options[k].name) == 0)
                *options[k].value = argv[i + 1];
    ap_diags_init(&s.diags, s.arena);
    ap_status status = run(&s);
    ap_sbuf text;
    ap_sbuf_init(&text, s.arena);
    for (size_t i = 0; i < s.diags.count; i++)
        if (s.diags.items[i].severity == AP_ERROR)
            ap_diag_format(&s.diags.items[i], &text);
    fputs(text.text, stderr);
    ap_arena_free(s.arena);
    return (int)status;
}
