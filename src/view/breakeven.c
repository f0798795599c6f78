/* Own machine against rent: one run, one week, and what would change the answer. */
#include "view/breakeven.h"

#include "base/num.h"
#include "view/put.h"

#define BAR_CELLS 40

static const ap_column rent_columns[] = {
    {.title = "", .path = "label", .priority = 1},
    {.title = "Target", .path = "target", .priority = 1, .flexible = true},
    {.title = "Hours a run", .path = "time_h", .format = AP_CELL_HOURS, .priority = 1, .right = true},
    {.title = "USD a run", .path = "cost_usd", .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "USD/h", .path = "price_usd_per_h", .format = AP_CELL_USD, .priority = 2, .right = true},
    {.title = "Owning wins from h/week",
     .path = "break_even_h_per_week",
     .format = AP_CELL_AUTO,
     .priority = 1,
     .right = true},
    {.title = "Pay-back months", .path = "payback_months", .format = AP_CELL_AUTO, .priority = 2, .right = true},
    {.title = "Price as of", .path = "price_as_of", .priority = 3},
};
static const ap_column chart_columns[] = {
    {.title = "h/week", .path = "hours_per_week", .format = AP_CELL_INTEGER, .priority = 1, .right = true},
    {.title = "Own USD/week", .path = "rig_usd", .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "Rent USD/week", .path = "cloud_usd", .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "o own  x rent", .path = "chart", .priority = 1},
};
static const ap_column sensitivity_columns[] = {
    {.title = "If", .path = "parameter", .priority = 1, .flexible = true},
    {.title = "Owning wins from h/week",
     .path = "break_even_h_per_week",
     .format = AP_CELL_AUTO,
     .priority = 1,
     .right = true},
    {.title = "Pay-back months", .path = "payback_months", .format = AP_CELL_AUTO, .priority = 1, .right = true},
};
#define COLUMNS(table) (table), sizeof(table) / sizeof *(table)

static void put_answer(ap_arena *arena, ap_value *map, const ap_breakeven_input *input)
{
    ap_breakeven b = ap_breakeven_of(input);
    ap_put_num(arena, map, "break_even_h_per_week", b.hours_per_week);
    ap_put_num(arena, map, "payback_months", b.payback_months);
}

/* ---- ways to rent ------------------------------------------------------------------------------------------------ */

static ap_value *rents_value(ap_arena *arena, const ap_breakeven_view *v)
{
    ap_value *list = ap_value_list(arena), *own = ap_value_map(arena);
    ap_breakeven b = ap_breakeven_of(&v->input);
    ap_put_text(arena, own, "label", "own machine");
    ap_put_text(arena, own, "target", v->own->target);
    ap_put_num(arena, own, "time_h", v->own->hours_p50);
    ap_put_num(arena, own, "cost_usd", b.rig_run_usd);
    ap_put_num(arena, own, "price_usd_per_h", v->own->usd_per_h);
    ap_put_text(arena, own, "price_as_of", v->rig->from.as_of);
    ap_value_push(arena, list, own);
    for (size_t i = 0; i < v->rent_count; i++) {
        const ap_result *r = v->rents[i].result;
        if (!r)
            continue;
        ap_value *map = ap_value_map(arena);
        ap_breakeven_input input = v->input;
        input.cloud_run_usd = r->cost_p50;
        ap_put_text(arena, map, "label", v->rents[i].label);
        ap_put_text(arena, map, "target", r->target);
        ap_put_num(arena, map, "time_h", r->hours_p50);
        ap_put_num(arena, map, "cost_usd", r->cost_p50);
        ap_put_num(arena, map, "price_usd_per_h", r->usd_per_h);
        ap_put_text(arena, map, "price_as_of", r->price ? r->price->as_of : NULL);
        ap_put_text(arena, map, "price_source", r->price ? r->price->source : NULL);
        put_answer(arena, map, &input);
        ap_value_push(arena, list, map);
    }
    return list;
}

/* ---- chart ------------------------------------------------------------------------------------------------------- */

/* Place of a figure in the bar, -1 when it is unknown or too large to draw. */
static int bar_cell(double value, double most)
{
    double cell = value / most * BAR_CELLS;
    return cell >= 0 && cell <= BAR_CELLS ? (int)cell : -1;
}

static const char *bar(ap_arena *arena, double own, double rent, double most)
{
    char line[BAR_CELLS + 2];
    int o = bar_cell(own, most), x = bar_cell(rent, most), last = o > x ? o : x;
    for (int i = 0; i <= last && i <= BAR_CELLS; i++)
        line[i] = i == o && i == x ? '*' : i == o ? 'o' : i == x ? 'x' : '.';
    line[last + 1 <= BAR_CELLS + 1 ? last + 1 : BAR_CELLS + 1] = '\0';
    return ap_arena_strdup(arena, line);
}

static ap_value *chart_value(ap_arena *arena, const ap_breakeven_input *in)
{
    static const double hours[] = {2, 5, 10, 20, 40, 80, 120, 168};
    ap_value *list = ap_value_list(arena);
    double most = fmax(ap_breakeven_rig_week(in, 168), ap_breakeven_cloud_week(in, 168));
    for (size_t i = 0; i < sizeof hours / sizeof *hours && most > 0; i++) {
        ap_value *map = ap_value_map(arena);
        double own = ap_breakeven_rig_week(in, hours[i]), rent = ap_breakeven_cloud_week(in, hours[i]);
        ap_put_num(arena, map, "hours_per_week", hours[i]);
        ap_put_num(arena, map, "rig_usd", own);
        ap_put_num(arena, map, "cloud_usd", rent);
        ap_put_text(arena, map, "chart", bar(arena, own, rent, most));
        ap_value_push(arena, list, map);
    }
    return list;
}

/* ---- sensitivity ------------------------------------------------------------------------------------------------- */

static void push_case(ap_arena *arena, ap_value *list, const char *parameter, const ap_breakeven_input *input)
{
    ap_value *map = ap_value_map(arena);
    ap_put_text(arena, map, "parameter", parameter);
    put_answer(arena, map, input);
    ap_put_text(arena, map, "never", ap_breakeven_of(input).never);
    ap_value_push(arena, list, map);
}

typedef struct variation {
    const char *parameter;
    size_t member;
    double factor;
} variation;
#define AT(member) offsetof(ap_breakeven_input, member)

static ap_value *sensitivity_value(ap_arena *arena, const ap_breakeven_view *v)
{
    static const variation variations[] = {{"electricity costs half", AT(electricity_usd_per_h), 0.5},
                                           {"electricity costs twice as much", AT(electricity_usd_per_h), 2},
                                           {"the machine costs 30 % less", AT(price_usd), 0.7},
                                           {"the machine costs 30 % more", AT(price_usd), 1.3},
                                           {"it brings nothing when sold", AT(resale), 0},
                                           {"it lasts half as long", AT(years), 0.5},
                                           {"rent falls by 30 %", AT(cloud_run_usd), 0.7},
                                           {"rent rises by 30 %", AT(cloud_run_usd), 1.3},
                                           {"the run takes 30 % longer on it", AT(rig_run_h), 1.3},
                                           {"it is used half as much", AT(hours_per_week), 0.5}};
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++) {
        ap_breakeven_input input = v->input;
        *(double *)(void *)((char *)&input + variations[i].member) *= variations[i].factor;
        push_case(arena, list, variations[i].parameter, &input);
    }
    ap_breakeven_input care = v->input, idle = v->input;
    care.care_usd_per_week = v->care_usd_per_week;
    idle.idle_usd_per_h = v->idle_usd_per_h;
    if (v->care_usd_per_week > 0)
        push_case(arena, list,
                  ap_arena_printf(arena, "its care (%g h a month) is paid at %g USD/h", v->rig->admin_h_per_month,
                                  v->search->constants.own_admin_usd_per_h),
                  &care);
    if (v->idle_usd_per_h > 0)
        push_case(arena, list, "it is left on when idle", &idle);
    return list;
}

/* ---- document ---------------------------------------------------------------------------------------------------- */

static ap_value *rig_value(ap_arena *arena, const ap_breakeven_view *v)
{
    ap_value *map = ap_value_map(arena);
    ap_put_text(arena, map, "id", v->rig->id);
    ap_put_text(arena, map, "name", v->rig->name);
    ap_put_text(arena, map, "chip", v->rig->chip);
    ap_put_num(arena, map, "chip_count", v->rig->chip_count);
    ap_put_num(arena, map, "price_usd", v->cost->price_usd);
    ap_put_text(arena, map, "price_as_of", v->rig->from.as_of);
    ap_put_text(arena, map, "price_source", v->rig->from.source);
    ap_put_num(arena, map, "power_w", v->rig->power_w);
    ap_put_num(arena, map, "electricity_usd_per_kwh", v->cost->electricity_usd_per_kwh);
    ap_put_text(arena, map, "electricity_from", v->cost->electricity_from);
    ap_put_num(arena, map, "depreciation_years", v->cost->years);
    ap_put_num(arena, map, "resale_fraction", v->cost->resale);
    ap_put_num(arena, map, "hours_per_week", v->input.hours_per_week);
    return map;
}

static ap_value *pair(ap_arena *arena, double rig, double cloud)
{
    ap_value *map = ap_value_map(arena);
    ap_put_num(arena, map, "rig", rig);
    ap_put_num(arena, map, "cloud", cloud);
    return map;
}

static void add_verdict(ap_doc *doc, const ap_breakeven_view *v, const ap_breakeven *b, const ap_result *rent)
{
    char hours[32];
    ap_num_format_digits(b->hours_per_week, 3, hours);
    if (v->own->plan->est.error || v->own->plan->est.verdict == AP_DOES_NOT_FIT)
        ap_doc_paragraph(doc, "The run does not work on this machine: %s.",
                         v->own->plan->est.error ? v->own->plan->est.error
                                                 : "it needs more memory than the machine has");
    else if (!rent)
        ap_doc_paragraph(doc, "Nothing to rent can run this within the limits given.");
    else if (b->never)
        ap_doc_paragraph(doc, "Against %s: %s.", rent->target, b->never);
    else
        ap_doc_paragraph(doc, "Owning wins from %s hours a week on, against %s.", hours, rent->target);
}

ap_doc *ap_view_breakeven(ap_arena *arena, const ap_breakeven_view *v)
{
    ap_doc *doc = ap_view_begin(arena, "breakeven", v->search->catalog);
    ap_breakeven b = ap_breakeven_of(&v->input);
    const ap_result *rent = NULL;
    for (size_t i = 0; i < v->rent_count && !rent; i++)
        rent = v->rents[i].result;
    ap_value *rents = rents_value(arena, v), *chart = chart_value(arena, &v->input), *unknown = ap_value_map(arena);
    ap_value *sensitivity = sensitivity_value(arena, v);
    ap_value_put(arena, doc->root, "workload", ap_view_workload(arena, v->search->job));
    ap_value_put(arena, doc->root, "assumptions", ap_view_assumptions(arena, v->search->job));
    ap_value_put(arena, doc->root, "rig", rig_value(arena, v));
    ap_value_put(arena, doc->root, "cost_per_run_usd", pair(arena, b.rig_run_usd, rent ? rent->cost_p50 : AP_UNKNOWN));
    ap_value_put(arena, doc->root, "time_h", pair(arena, v->own->hours_p50, rent ? rent->hours_p50 : AP_UNKNOWN));
    ap_put_num(arena, doc->root, "break_even_h_per_week", b.hours_per_week);
    ap_put_num(arena, doc->root, "payback_months", b.payback_months);
    ap_value_put(arena, doc->root, "sensitivity", sensitivity);
    ap_value_put(arena, doc->root, "alternatives", rents);
    ap_value_put(arena, doc->root, "weeks", chart);
    if (b.never)
        ap_put_text(arena, unknown, "break_even_h_per_week", b.never);
    if (b.no_payback)
        ap_put_text(arena, unknown, "payback_months", b.no_payback);
    ap_value_put(arena, doc->root, "unknown", unknown);
    ap_doc_heading(doc, ap_arena_printf(arena, "%s against rent", v->rig->name ? v->rig->name : v->rig->id));
    add_verdict(doc, v, &b, rent);
    ap_doc_table(doc, rents, COLUMNS(rent_columns))->main = true;
    ap_doc_paragraph(
        doc, "The machine: %.0f USD (%s), %.0f %% back after %g years, electricity %.3g USD/kWh (%s), %g hours a week.",
        v->cost->price_usd, v->rig->from.as_of ? v->rig->from.as_of : "no date", 100 * v->cost->resale, v->cost->years,
        v->cost->electricity_usd_per_kwh, v->cost->electricity_from, v->input.hours_per_week);
    ap_doc_table(doc, chart, COLUMNS(chart_columns));
    ap_doc_table(doc, sensitivity, COLUMNS(sensitivity_columns));
    return doc;
}
