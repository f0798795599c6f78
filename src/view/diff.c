/* What changed between two versions of jobs: time, cost, memory, energy, each with its sign. */
#include <string.h>

#include "view/check.h"
#include "view/put.h"
#include "view/view.h"

static const ap_column columns[] = {
    {.title = "Job", .path = "id", .priority = 1, .flexible = true},
    {.title = "Time before", .path = "old.time_h.p50", .format = AP_CELL_HOURS, .priority = 3, .right = true},
    {.title = "after", .path = "new.time_h.p50", .format = AP_CELL_HOURS, .priority = 1, .right = true},
    {.title = "Change h", .path = "text.time_h", .priority = 1, .right = true},
    {.title = "Cost before USD", .path = "old.cost_usd.p50", .format = AP_CELL_USD, .priority = 3, .right = true},
    {.title = "after", .path = "new.cost_usd.p50", .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "Change USD", .path = "text.cost_usd", .priority = 1, .right = true},
    {.title = "Memory GiB", .path = "text.peak_gib", .priority = 2, .right = true},
    {.title = "Energy kWh", .path = "text.energy_kwh", .priority = 4, .right = true},
};
static const struct {
    const char *key, *path;
} measures[] = {{"time_h", "time_h.p50"},
                {"cost_usd", "cost_usd.p50"},
                {"peak_gib", "memory.peak_gib"},
                {"energy_kwh", "energy_kwh"}};

static double number_at(const ap_value *result, const char *path)
{
    const ap_value *value = result ? ap_value_at(result, path) : NULL;
    if (value && value->kind == AP_V_INT)
        return (double)value->as.integer;
    return value && value->kind == AP_V_NUM ? value->as.number : AP_UNKNOWN;
}

static const char *signed_text(ap_arena *arena, double change)
{
    char digits[40];
    if (!ap_known(change))
        return NULL;
    ap_num_format_digits(fabs(change), 3, digits);
    return ap_arena_printf(arena, "%s%s", change > 0 ? "+" : change < 0 ? "-" : "", digits);
}

/* Maps are shared, never changed: a result is put into the document as it is. */
static ap_value *shared(ap_arena *arena, const ap_value *value)
{
    union {
        const ap_value *in;
        ap_value *out;
    } same = {.in = value};
    return value ? same.out : ap_value_null(arena);
}

static ap_value *pair_value(ap_arena *arena, const ap_diff_pair *pair, double *totals)
{
    ap_value *map = ap_value_map(arena), *delta = ap_value_map(arena), *text = ap_value_map(arena);
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        double new = number_at(pair->new, measures[i].path), old = number_at(pair->old, measures[i].path);
        double change = new - old;
        ap_put_num(arena, delta, measures[i].key, change);
        ap_put_text(arena, text, measures[i].key, signed_text(arena, change));
        if (ap_known(change))
            totals[i] += change;
        else if (!pair->old || !pair->new) /* added or removed: it counts as a whole */
            totals[i] += ap_or(new, 0) - ap_or(old, 0);
    }
    ap_put_text(arena, map, "id", pair->id);
    ap_value_put(arena, map, "old", shared(arena, pair->old));
    ap_value_put(arena, map, "new", shared(arena, pair->new));
    ap_value_put(arena, map, "delta", delta);
    ap_value_put(arena, map, "text", text);
    return map;
}

ap_doc *ap_view_diff(ap_arena *arena, const ap_catalog *catalog, const ap_diff_pair *pairs, size_t count)
{
    ap_doc *doc = ap_view_begin(arena, "diff", catalog);
    ap_value *list = ap_value_list(arena);
    double totals[sizeof measures / sizeof *measures] = {0};
    for (size_t i = 0; i < count; i++)
        ap_value_push(arena, list, pair_value(arena, &pairs[i], totals));
    ap_value_put(arena, doc->root, "jobs", list);
    ap_block *table = ap_doc_table(doc, list, columns, sizeof columns / sizeof *columns);
    table->main = true;
    table->empty = "No jobs on either side.";
    if (count > 0)
        ap_doc_paragraph(doc, "In all: %s USD, %s h, %s kWh.", signed_text(arena, totals[1]),
                         signed_text(arena, totals[0]), signed_text(arena, totals[3]));
    return doc;
}
