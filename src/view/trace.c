#include "view/trace.h"

#include <math.h>
#include <string.h>

#include "base/human.h"
#include "base/num.h"
#include "view/put.h"

#define GIB         1073741824.0
#define MOST_MOVERS 6 /* constants named beside a term; all are listed below */

/* -- values -----------------------------------------------------------------------------------------------------------
 */

static const char *with_unit(ap_arena *arena, double value, const char *unit)
{
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    if (!ap_known(value))
        return NULL;
    if (ap_streq(unit, "s"))
        ap_human_seconds(&text, value, value, 4);
    else if (ap_streq(unit, "h"))
        ap_human_hours(&text, value, value);
    else if (ap_streq(unit, "B") && fabs(value) >= 1e7)
        ap_sbuf_printf(&text, "%.4g GiB", value / GIB);
    else
        ap_sbuf_printf(&text, "%.5g%s%s", value, *unit ? " " : "", unit);
    return text.text;
}

static bool about(const char *formula, const char *wanted)
{
    return !wanted || ap_streq(formula, wanted);
}

static ap_value *lines_value(ap_arena *arena, const ap_est_trace *trace, const char *formula)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < trace->lines.count; i++) {
        const ap_trace_line *line = &trace->lines.items[i];
        if (!about(line->formula, formula))
            continue;
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "part", ap_trace_part_names[line->part]);
        ap_put_text(arena, item, "formula", line->formula);
        ap_put_text(arena, item, "name", line->name);
        ap_put_text(arena, item, "numbers", line->text);
        ap_put_num(arena, item, "value", line->value);
        ap_put_text(arena, item, "unit", line->unit);
        ap_put_text(arena, item, "shown", with_unit(arena, line->value, line->unit));
        ap_value_push(arena, list, item);
    }
    return list;
}

static ap_value *products_value(ap_arena *arena, const ap_est_trace *trace)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < trace->products.count; i++) {
        const ap_trace_product *p = &trace->products.items[i];
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "name", p->name);
        ap_put_text(arena, item, "per", p->of);
        ap_put_num(arena, item, "m", p->m);
        ap_put_num(arena, item, "n", p->n);
        ap_put_num(arena, item, "k", p->k);
        ap_put_num(arena, item, "count", p->count);
        ap_put_num(arena, item, "flop", p->flop);
        ap_put_num(arena, item, "seconds", p->seconds);
        ap_put_num(arena, item, "flop_per_s", p->flop / p->seconds);
        ap_value_push(arena, list, item);
    }
    return list;
}

static const char *basis_text(ap_arena *arena, const ap_trace_const *c)
{
    const ap_calib_const *from = c->from;
    if (from->sd == 0 && c->rows == 0)
        return "assumed, not fitted";
    if (c->rows > 0)
        return ap_arena_printf(arena, "fitted, %.0f %s of the nearest kind", c->rows, c->rows == 1 ? "row" : "rows");
    if (from->value == from->prior)
        return "assumed: no measurement speaks for it";
    return "fitted on all rows; none of this kind was measured";
}

static ap_value *constant_value(ap_arena *arena, const ap_trace_const *c)
{
    ap_value *item = ap_value_map(arena), *by = ap_value_list(arena);
    ap_put_text(arena, item, "id", c->from->id);
    ap_put_text(arena, item, "engine", c->engine);
    ap_put_text(arena, item, "formula", c->from->formula);
    ap_put_num(arena, item, "value", c->value);
    ap_put_num(arena, item, "general", c->from->value);
    ap_put_num(arena, item, "prior", c->from->prior);
    for (size_t i = 0; i < c->by.count; i++) {
        ap_value *one = ap_value_map(arena);
        ap_put_text(arena, one, "level", c->by.items[i].level);
        ap_put_text(arena, one, "key", c->by.items[i].key);
        ap_put_num(arena, one, "deviation", c->by.items[i].value);
        ap_put_num(arena, one, "rows", c->by.items[i].rows);
        ap_value_push(arena, by, one);
    }
    ap_value_put(arena, item, "by", by);
    ap_put_text(arena, item, "how", ap_trace_const_text(c, arena));
    ap_put_num(arena, item, "rows", c->rows);
    ap_put_text(arena, item, "basis", basis_text(arena, c));
    ap_put_text(arena, item, "doc", c->from->doc);
    ap_put_text(arena, item, "source", c->from->source);
    ap_put_num(arena, item, "moves_step", c->on_step);
    ap_put_num(arena, item, "moves_memory", c->on_memory);
    ap_put_num(arena, item, "moves_hours", c->on_hours);
    return item;
}

static ap_value *constants_value(ap_arena *arena, const ap_est_trace *trace, const char *formula)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < trace->consts.count; i++) {
        bool wanted = about(trace->consts.items[i].from->formula, formula);
        for (size_t k = 0; !wanted && k < trace->links.count; k++)
            wanted = trace->links.items[k].constant == i && ap_streq(trace->links.items[k].formula, formula);
        if (wanted)
            ap_value_push(arena, list, constant_value(arena, &trace->consts.items[i]));
    }
    return list;
}

/* Constants that move a term, strongest first. */
static ap_value *movers(ap_arena *arena, const ap_est_trace *trace, ap_trace_part part, const ap_term *term,
                        const char **ret_text)
{
    ap_value *list = ap_value_list(arena);
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    const ap_trace_link *last = NULL;
    for (;;) {
        const ap_trace_link *best = NULL;
        for (size_t i = 0; i < trace->links.count; i++) {
            const ap_trace_link *l = &trace->links.items[i];
            bool same = l->part == part && ap_streq(l->formula, term->formula) && ap_streq(l->name, term->name);
            bool after =
                !last || fabs(l->effect) < fabs(last->effect) || (fabs(l->effect) == fabs(last->effect) && l > last);
            if (same && after && (!best || fabs(l->effect) > fabs(best->effect)))
                best = l;
        }
        if (!best)
            break;
        last = best;
        const char *id = trace->consts.items[best->constant].from->id;
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "id", id);
        ap_put_num(arena, item, "moves", best->effect);
        if (list->as.list.count < MOST_MOVERS && fabs(best->effect) >= 0.02)
            ap_sbuf_printf(&text, "%s%s %+.2g", text.len ? ", " : "", id, best->effect);
        ap_value_push(arena, list, item);
    }
    *ret_text = text.text;
    return list;
}

static void push_terms(ap_arena *arena, const ap_est_trace *trace, ap_value *list, ap_trace_part part,
                       const ap_term *terms, size_t count, const char *formula)
{
    for (size_t i = 0; i < count; i++) {
        if (!about(terms[i].formula, formula))
            continue;
        const char *text;
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "part", ap_trace_part_names[part]);
        ap_put_text(arena, item, "formula", terms[i].formula);
        ap_put_text(arena, item, "name", terms[i].name);
        ap_put_num(arena, item, part == AP_TRACE_MEMORY ? "bytes" : "seconds", terms[i].seconds);
        ap_value_put(arena, item, "constants", movers(arena, trace, part, &terms[i], &text));
        ap_put_text(arena, item, "shown", with_unit(arena, terms[i].seconds, part == AP_TRACE_MEMORY ? "B" : "s"));
        ap_put_text(arena, item, "moved_by", text);
        ap_value_push(arena, list, item);
    }
}

static ap_value *bands_value(ap_arena *arena, const ap_est_trace *trace)
{
    ap_value *list = ap_value_list(arena);
    for (int q = 0; q < AP_Q_COUNT; q++) {
        const ap_trace_cell *cell = &trace->cells[q];
        if (!cell->quantity)
            continue;
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "quantity", cell->quantity);
        ap_put_text(arena, item, "cell", cell->cell);
        ap_put_num(arena, item, "low", exp(cell->low));
        ap_put_num(arena, item, "high", exp(cell->high));
        ap_put_num(arena, item, "rows", cell->cell ? cell->rows : AP_UNKNOWN);
        ap_put_num(arena, item, "sources", cell->cell ? cell->sources : AP_UNKNOWN);
        ap_value_push(arena, list, item);
    }
    return list;
}

static ap_value *chosen_value(ap_arena *arena, const ap_estimate *est)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < est->assumed_count; i++) {
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "field", est->assumed[i]);
        ap_put_num(arena, item, "value", est->assumed_values[i]);
        ap_put_text(arena, item, "because", ap_trace_why(est->assumed[i]));
        ap_value_push(arena, list, item);
    }
    return list;
}

ap_value *ap_view_trace(ap_arena *arena, const ap_est_trace *trace, const ap_estimate *estimate, const char *formula)
{
    ap_value *map = ap_value_map(arena), *terms = ap_value_list(arena);
    ap_put_text(arena, map, "engine", trace->engine);
    if (!formula)
        ap_value_put(arena, map, "chosen", chosen_value(arena, estimate));
    if (!formula || ap_streq(formula, "M-20") || ap_streq(formula, "M-21") || ap_streq(formula, "M-27"))
        ap_value_put(arena, map, "products", products_value(arena, trace));
    if (trace->fitted) {
        ap_put_num(arena, map, "fitted_rows", trace->fitted->rows);
        ap_put_num(arena, map, "fitted_sources", trace->fitted->sources);
        ap_put_text(arena, map, "fitted_on", trace->fitted->doc);
    }
    if (trace->user_scale != 1)
        ap_put_num(arena, map, "own_factor", trace->user_scale);
    ap_value_put(arena, map, "formulas", lines_value(arena, trace, formula));
    push_terms(arena, trace, terms, AP_TRACE_TIME, estimate->terms, estimate->term_count, formula);
    push_terms(arena, trace, terms, AP_TRACE_MEMORY, estimate->memory, estimate->memory_count, formula);
    ap_value_put(arena, map, "terms", terms);
    ap_value_put(arena, map, "constants", constants_value(arena, trace, formula));
    if (about("M-95", formula))
        ap_value_put(arena, map, "bands", bands_value(arena, trace));
    return map;
}

/* -- blocks -----------------------------------------------------------------------------------------------------------
 */

static const ap_column product_columns[] = {
    {.title = "Matrix product", .path = "name", .priority = 1, .flexible = true},
    {.title = "per", .path = "per", .priority = 2},
    {.title = "m", .path = "m", .priority = 1, .right = true, .format = AP_CELL_PLAIN},
    {.title = "n", .path = "n", .priority = 1, .right = true, .format = AP_CELL_PLAIN},
    {.title = "k", .path = "k", .priority = 1, .right = true, .format = AP_CELL_PLAIN},
    {.title = "Times", .path = "count", .priority = 2, .right = true},
    {.title = "FLOP", .path = "flop", .priority = 3, .right = true, .format = AP_CELL_COUNT},
    {.title = "Forward (M-20)", .path = "seconds", .priority = 1, .right = true, .format = AP_CELL_SECONDS},
    {.title = "FLOP/s", .path = "flop_per_s", .priority = 4, .right = true, .format = AP_CELL_COUNT},
};
static const ap_column chosen_columns[] = {
    {.title = "Chosen, because nothing was said", .path = "field", .priority = 1},
    {.title = "Value", .path = "value", .priority = 1, .right = true},
    {.title = "By", .path = "because", .priority = 1, .flexible = true},
};
static const ap_column band_columns[] = {
    {.title = "Band (M-95) of", .path = "quantity", .priority = 1},
    {.title = "Measured / predicted, p10", .path = "low", .priority = 1, .right = true},
    {.title = "p90", .path = "high", .priority = 1, .right = true},
    {.title = "Cell", .path = "cell", .priority = 1, .flexible = true},
    {.title = "Rows", .path = "rows", .priority = 1, .right = true, .format = AP_CELL_INTEGER},
    {.title = "Sources", .path = "sources", .priority = 1, .right = true, .format = AP_CELL_INTEGER},
};

#define COLUMNS(table) (table), sizeof(table) / sizeof *(table)

static const char *text_at(const ap_value *map, const char *path)
{
    const ap_value *found = ap_value_at(map, path);
    return found && found->kind == AP_V_TEXT ? found->as.text : NULL;
}

static double number_at(const ap_value *map, const char *path)
{
    const ap_value *found = ap_value_at(map, path);
    return found && found->kind == AP_V_NUM ? found->as.number : AP_UNKNOWN;
}

void ap_view_trace_shapes(ap_doc *doc, const ap_value *value)
{
    const ap_value *chosen = ap_value_at(value, "chosen"), *products = ap_value_at(value, "products");
    if (chosen && chosen->as.list.count)
        ap_doc_table(doc, chosen, COLUMNS(chosen_columns));
    if (products && products->as.list.count)
        ap_doc_table(doc, products, COLUMNS(product_columns));
}

static void push_text(ap_doc *doc, ap_value *bullets, const char *text)
{
    ap_value_push(doc->arena, bullets, ap_value_text(doc->arena, text));
}

void ap_view_trace_part(ap_doc *doc, const ap_value *value, const char *title, const char *part)
{
    const ap_value *lines = ap_value_at(value, "formulas"), *terms = ap_value_at(value, "terms");
    ap_value *bullets = ap_value_list(doc->arena);
    for (size_t i = 0; lines && i < lines->as.list.count; i++) {
        const ap_value *line = lines->as.list.items[i];
        const char *shown = text_at(line, "shown");
        if (part && !ap_streq(text_at(line, "part"), part))
            continue;
        push_text(doc, bullets,
                  ap_arena_printf(doc->arena, "%s %s%s%s: %s", text_at(line, "formula"), text_at(line, "name"),
                                  shown ? " = " : "", shown ? shown : "", text_at(line, "numbers")));
    }
    if (bullets->as.list.count) {
        ap_doc_heading(doc, title);
        ap_doc_bullets(doc, bullets);
    }
    ap_value *moves = ap_value_list(doc->arena);
    for (size_t i = 0; terms && i < terms->as.list.count; i++) {
        const ap_value *term = terms->as.list.items[i];
        const char *by = text_at(term, "moved_by");
        if (by && *by && (!part || ap_streq(text_at(term, "part"), part)))
            push_text(doc, moves,
                      ap_arena_printf(doc->arena, "%s %s = %s: %s", text_at(term, "formula"), text_at(term, "name"),
                                      text_at(term, "shown"), by));
    }
    if (moves->as.list.count) {
        ap_doc_paragraph(doc, "What one per cent more of a constant does to each, in per cent:");
        ap_doc_bullets(doc, moves);
    }
}

static void add_move(ap_sbuf *text, const char *what, double moves)
{
    if (ap_known(moves) && fabs(moves) >= 0.0005)
        ap_sbuf_printf(text, "%s%s %+.2g %%", strstr(text->text, "1 % more: ") ? ", " : "; 1 % more: ", what, moves);
}

void ap_view_trace_constants(ap_doc *doc, const ap_value *value)
{
    const ap_value *list = ap_value_at(value, "constants");
    ap_value *bullets = ap_value_list(doc->arena);
    for (size_t i = 0; list && i < list->as.list.count; i++) {
        const ap_value *c = list->as.list.items[i];
        const char *source = text_at(c, "source"), *about_it = text_at(c, "doc");
        ap_sbuf text;
        ap_sbuf_init(&text, doc->arena);
        const char *formula = text_at(c, "formula");
        ap_sbuf_printf(&text, "%s (%s): %s. ", text_at(c, "id"), formula ? formula : "no formula of its own",
                       text_at(c, "how"));
        if (about_it)
            ap_sbuf_printf(&text, "%s%s ", about_it, *about_it && about_it[strlen(about_it) - 1] == '.' ? "" : ".");
        ap_sbuf_add(&text, text_at(c, "basis"));
        add_move(&text, "step", number_at(c, "moves_step"));
        add_move(&text, "memory", number_at(c, "moves_memory"));
        add_move(&text, "hours", number_at(c, "moves_hours"));
        ap_sbuf_printf(&text, ". Source: %s", source ? source : "that of its formula");
        push_text(doc, bullets, text.text);
    }
    if (!bullets->as.list.count)
        return;
    ap_doc_heading(doc, "Constants used");
    double rows = number_at(value, "fitted_rows"), own = number_at(value, "own_factor");
    if (rows > 0)
        ap_doc_paragraph(doc,
                         "Those of this kind of model were fitted together on %.0f rows of %.0f sources (%s); a "
                         "deviation that is named comes on top.",
                         rows, number_at(value, "fitted_sources"),
                         text_at(value, "fitted_on") ? text_at(value, "fitted_on") : "measurements");
    if (ap_known(own))
        ap_doc_paragraph(doc, "Your own calibration has measured exactly this job: every term is times %.4g.", own);
    ap_doc_bullets(doc, bullets);
}

void ap_view_trace_bands(ap_doc *doc, const ap_value *value)
{
    const ap_value *bands = ap_value_at(value, "bands");
    if (bands && bands->as.list.count)
        ap_doc_table(doc, bands, COLUMNS(band_columns));
}
