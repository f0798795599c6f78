/* Documents of `prices`: what is known of each source, prices, changes between two snapshots. */
#include "view/prices.h"

#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/num.h"
#include "base/units.h"

#define DIFF_FROM 0.05

static void put_text(ap_arena *arena, ap_value *map, const char *key, const char *text)
{
    ap_value_put(arena, map, key, ap_value_text(arena, text));
}

static void put_num(ap_arena *arena, ap_value *map, const char *key, double value)
{
    ap_value_put(arena, map, key, ap_value_num(arena, value));
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static const ap_column status_columns[] = {
    {.title = "Source", .path = "id", .priority = 1},
    {.title = "As of", .path = "as_of", .priority = 1},
    {.title = "Age days", .path = "age_days", .format = AP_CELL_INTEGER, .priority = 1, .right = true},
    {.title = "Rows", .path = "rows", .format = AP_CELL_INTEGER, .priority = 1, .right = true},
    {.title = "Unused", .path = "unused", .format = AP_CELL_INTEGER, .priority = 4, .right = true},
    {.title = "Refused", .path = "rejected", .format = AP_CELL_INTEGER, .priority = 4, .right = true},
    {.title = "Unknown names", .path = "unknown_count", .format = AP_CELL_INTEGER, .priority = 5, .right = true},
    {.title = "Status", .path = "status", .priority = 1},
    {.title = "Error", .path = "error", .priority = 2, .flexible = true},
};

static ap_value *rejects_value(ap_arena *arena, const ap_source_state *state, double *ret_total)
{
    ap_value *map = ap_value_map(arena);
    for (size_t i = 0; state && i < state->rejects.count; i++) {
        put_num(arena, map, state->rejects.items[i].reason, state->rejects.items[i].count);
        *ret_total += state->rejects.items[i].count;
    }
    return map;
}

static ap_value *unknown_value(ap_arena *arena, const ap_source_state *state)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; state && i < state->unknown_names.count; i++)
        ap_value_push(arena, list, ap_value_text(arena, state->unknown_names.items[i]));
    return list;
}

/* Rows that are kept but not used for prices: unknown chips, suspects, currencies without a rate. */
static size_t count_unused(const ap_snapshot *snapshot, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; snapshot && i < snapshot->offers.count; i++)
        count += snapshot->offers.items[i].flag && ap_streq(snapshot->offers.items[i].source, id);
    return count;
}

static ap_value *source_value(ap_arena *arena, const ap_price_view *view, const char *id)
{
    const ap_source_state *state = ap_snapshot_source(view->snapshot, id);
    const ap_provider *provider = ap_provider_find(view->providers, id);
    ap_value *map = ap_value_map(arena);
    double rejected = 0;
    put_text(arena, map, "id", id);
    put_text(arena, map, "name", provider ? provider->name : NULL);
    put_text(arena, map, "as_of", state ? state->as_of : NULL);
    put_num(arena, map, "age_days",
            state && state->as_of ? fmax(0, ap_days_between(state->as_of, view->today)) : AP_UNKNOWN);
    put_num(arena, map, "rows", state ? ap_or(state->rows_kept, 0) : 0);
    put_text(arena, map, "status", state ? state->status : "never");
    put_text(arena, map, "error", state ? state->error : NULL);
    put_text(arena, map, "fetched_at", state ? state->fetched_at : NULL);
    put_text(arena, map, "checked_at", state ? state->checked_at : NULL);
    put_text(arena, map, "url", state ? state->url : NULL);
    put_text(arena, map, "sha256", state ? state->sha256 : NULL);
    put_num(arena, map, "rows_in", state ? state->rows_in : AP_UNKNOWN);
    put_num(arena, map, "unused", (double)count_unused(view->snapshot, id));
    put_num(arena, map, "suspects", state ? state->suspects : 0);
    ap_value *rejects = rejects_value(arena, state, &rejected);
    put_num(arena, map, "rejected", rejected);
    ap_value_put(arena, map, "rejects", rejects);
    ap_value_put(arena, map, "unknown_names", unknown_value(arena, state));
    put_num(arena, map, "unknown_count", state ? (double)state->unknown_names.count : 0);
    return map;
}

static ap_value *rates_value(ap_arena *arena, const ap_snapshot *snapshot)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; snapshot && i < snapshot->rates.count; i++) {
        ap_value *map = ap_value_map(arena);
        put_text(arena, map, "currency", snapshot->rates.items[i].currency);
        put_num(arena, map, "usd", snapshot->rates.items[i].usd);
        put_text(arena, map, "as_of", snapshot->rates.items[i].as_of);
        put_text(arena, map, "source", snapshot->rates.items[i].source);
        ap_value_push(arena, list, map);
    }
    return list;
}

static void add_unknown_names(ap_doc *doc, const ap_snapshot *snapshot)
{
    ap_sbuf names;
    ap_sbuf_init(&names, doc->arena);
    size_t count = 0;
    for (size_t i = 0; snapshot && i < snapshot->sources.count; i++)
        for (size_t k = 0; k < snapshot->sources.items[i].unknown_names.count; k++)
            if (count++ < 12)
                ap_sbuf_printf(&names, "%s%s (%s)", count > 1 ? ", " : "",
                               snapshot->sources.items[i].unknown_names.items[k], snapshot->sources.items[i].id);
    if (count)
        ap_doc_paragraph(doc, "%zu names of chips are unknown or ambiguous; their prices are kept and not used: %s%s.",
                         count, names.text, count > 12 ? " …" : "");
}

ap_doc *ap_view_price_status(ap_arena *arena, const ap_price_view *view, const ap_strings *only)
{
    ap_doc *doc = ap_view_begin(arena, "prices", view->catalog);
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; ap_price_source_ids[i]; i++) {
        bool wanted = only->count == 0;
        for (size_t k = 0; k < only->count; k++)
            wanted = wanted || ap_streq(only->items[k], ap_price_source_ids[i]);
        if (wanted)
            ap_value_push(arena, list, source_value(arena, view, ap_price_source_ids[i]));
    }
    ap_value_put(arena, doc->root, "sources", list);
    ap_value_put(arena, doc->root, "rates", rates_value(arena, view->snapshot));
    put_text(arena, doc->root, "store", view->store);
    put_text(arena, doc->root, "snapshot", view->snapshot ? view->snapshot->created_at : NULL);
    ap_doc_table(doc, list, status_columns, sizeof status_columns / sizeof *status_columns)->main = true;
    add_unknown_names(doc, view->snapshot);
    if (view->snapshot)
        ap_doc_paragraph(doc, "Snapshot of %s. Prices built into the program: %s and older.",
                         view->snapshot->created_at,
                         view->catalog->prices_as_of ? ap_catalog_builtin_prices_as_of() : "none");
    else
        ap_doc_paragraph(
            doc, "No snapshot yet (accelpick prices update makes one): the prices built in, of %s and older, are used.",
            ap_catalog_builtin_prices_as_of());
    return doc;
}

static const ap_column source_columns[] = {
    {.title = "Source", .path = "id", .priority = 1},
    {.title = "Name", .path = "name", .priority = 2, .flexible = true},
    {.title = "Asked", .path = "asked", .priority = 1},
    {.title = "Key from", .path = "key_env", .priority = 1, .flexible = true},
    {.title = "Key set", .path = "key_set", .format = AP_CELL_YES, .priority = 1},
    {.title = "Address", .path = "url", .priority = 3, .flexible = true},
    {.title = "Terms", .path = "terms", .priority = 9, .flexible = true},
};

static ap_value *definition_value(ap_arena *arena, const ap_provider *p)
{
    static const char *const asked[] = {"always", "when its key is set", "when named with --source"};
    ap_value *map = ap_value_map(arena);
    const char *variable = p->auth.env.count ? p->auth.env.items[0] : p->auth.secret_env, *set = NULL;
    for (size_t i = 0; i < p->auth.env.count && !set; i++)
        set = getenv(p->auth.env.items[i]);
    if (!set && p->auth.secret_env)
        set = getenv(p->auth.secret_env);
    put_text(arena, map, "id", p->id);
    put_text(arena, map, "name", p->name);
    put_text(arena, map, "asked", asked[p->tier]);
    put_text(arena, map, "key_env", variable);
    ap_value_put(arena, map, "key_set", ap_value_bool(arena, set && *set));
    put_text(arena, map, "url", p->requests.items[0].url);
    put_text(arena, map, "terms", p->terms);
    put_text(arena, map, "source", p->source);
    put_text(arena, map, "as_of", p->as_of);
    return map;
}

ap_doc *ap_view_price_sources(ap_arena *arena, const ap_price_view *view)
{
    ap_doc *doc = ap_view_begin(arena, "price-sources", view->catalog);
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; ap_price_source_ids[i]; i++) {
        const ap_provider *provider = ap_provider_find(view->providers, ap_price_source_ids[i]);
        if (provider)
            ap_value_push(arena, list, definition_value(arena, provider));
    }
    ap_value_put(arena, doc->root, "sources", list);
    ap_doc_table(doc, list, source_columns, sizeof source_columns / sizeof *source_columns)->main = true;
    return doc;
}

/* ---- prices ------------------------------------------------------------------------------------------------------ */

static const ap_column offer_columns[] = {
    {.title = "Cloud", .path = "cloud", .priority = 1},
    {.title = "Instance", .path = "instance", .priority = 1, .flexible = true},
    {.title = "Region", .path = "region", .priority = 2, .flexible = true},
    {.title = "Chip", .path = "chip", .priority = 1},
    {.title = "Chips", .path = "chip_count", .priority = 1, .right = true},
    {.title = "Kind", .path = "pricing", .priority = 1},
    {.title = "USD/h", .path = "price_usd_per_h", .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "As of", .path = "price_as_of", .priority = 2},
    {.title = "Age days", .path = "age_days", .format = AP_CELL_INTEGER, .priority = 3, .right = true},
    {.title = "Source", .path = "source", .priority = 2},
    {.title = "Basis", .path = "scope", .priority = 4},
    {.title = "Not used because", .path = "flag", .priority = 3, .flexible = true},
};

static ap_value *offer_value(ap_arena *arena, const ap_price_view *view, const ap_offer *o)
{
    ap_value *map = ap_value_map(arena);
    put_text(arena, map, "cloud", o->cloud);
    put_text(arena, map, "instance", o->instance);
    put_text(arena, map, "region", o->region);
    put_text(arena, map, "chip", o->chip);
    put_text(arena, map, "chip_name", o->raw_chip);
    put_num(arena, map, "chip_count", o->count);
    put_text(arena, map, "pricing", ap_price_kind_name(o->kind));
    put_num(arena, map, "price_usd_per_h", o->usd_per_h);
    put_num(arena, map, "native_price_per_h", o->native);
    put_text(arena, map, "currency", o->currency ? o->currency : "USD");
    put_text(arena, map, "price_as_of", o->as_of);
    put_num(arena, map, "age_days", fmax(0, ap_days_between(o->as_of, view->today)));
    put_text(arena, map, "source", o->source);
    put_text(arena, map, "scope", o->scope);
    ap_value_put(arena, map, "derived", ap_value_bool(arena, o->derived == 1));
    put_text(arena, map, "flag", o->flag);
    return map;
}

static bool matches(const ap_strings *globs, const char *text)
{
    for (size_t i = 0; i < globs->count; i++)
        if (text && ap_glob_match(globs->items[i], text))
            return true;
    return globs->count == 0;
}

static bool wanted(const ap_price_view *view, const ap_offer *o)
{
    const ap_constraints *c = view->filter;
    bool kind = c->pricing.count == 0;
    for (size_t i = 0; i < c->pricing.count; i++)
        kind = kind || ap_streq(c->pricing.items[i], "any") ||
               ap_starts_with(ap_price_kind_name(o->kind), c->pricing.items[i]);
    bool source = matches(&view->sources, o->source);
    return kind && source && matches(&c->clouds, o->cloud) && matches(&c->regions, o->region) &&
           matches(&c->chip_globs, o->chip);
}

ap_doc *ap_view_price_rows(ap_arena *arena, const ap_price_view *view)
{
    ap_doc *doc = ap_view_begin(arena, "price-rows", view->catalog);
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; view->snapshot && i < view->snapshot->offers.count; i++)
        if (wanted(view, &view->snapshot->offers.items[i]))
            ap_value_push(arena, list, offer_value(arena, view, &view->snapshot->offers.items[i]));
    ap_value_put(arena, doc->root, "items", list);
    ap_block *table = ap_doc_table(doc, list, offer_columns, sizeof offer_columns / sizeof *offer_columns);
    table->main = true;
    table->limit = view->limit;
    table->empty = view->snapshot ? "No price matches." : "No snapshot yet: accelpick prices update makes one.";
    return doc;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static const ap_column diff_columns[] = {
    {.title = "Cloud", .path = "cloud", .priority = 1},
    {.title = "Instance", .path = "instance", .priority = 1, .flexible = true},
    {.title = "Region", .path = "region", .priority = 2},
    {.title = "Kind", .path = "pricing", .priority = 1},
    {.title = "Old USD/h", .path = "old_usd_per_h", .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "New USD/h", .path = "new_usd_per_h", .format = AP_CELL_USD, .priority = 1, .right = true},
    {.title = "Change", .path = "change", .format = AP_CELL_PERCENT, .priority = 1, .right = true},
    {.title = "Source", .path = "source", .priority = 2},
};

static void push_change(ap_arena *arena, ap_value *list, const ap_offer *old, const ap_offer *new)
{
    const ap_offer *any = new ? new : old;
    ap_value *map = ap_value_map(arena);
    put_text(arena, map, "change_kind", !old ? "added" : !new ? "removed" : "changed");
    put_text(arena, map, "cloud", any->cloud);
    put_text(arena, map, "instance", any->instance);
    put_text(arena, map, "region", any->region);
    put_text(arena, map, "pricing", ap_price_kind_name(any->kind));
    put_text(arena, map, "source", any->source);
    put_num(arena, map, "old_usd_per_h", old ? old->usd_per_h : AP_UNKNOWN);
    put_num(arena, map, "new_usd_per_h", new ? new->usd_per_h : AP_UNKNOWN);
    put_num(arena, map, "change", old && new ? new->usd_per_h / old->usd_per_h - 1 : AP_UNKNOWN);
    ap_value_push(arena, list, map);
}

static bool moved(const ap_offer *old, const ap_offer *new)
{
    return fabs(new->usd_per_h / old->usd_per_h - 1) > DIFF_FROM;
}

/* Both lists are sorted by ap_offer_compare, whose last key is the price: two rows of one key are one change. */
static int compare_keys(const ap_offer *a, const ap_offer *b)
{
    ap_offer x = *a, y = *b;
    x.native = y.native = 0;
    x.flag = y.flag = NULL;
    return ap_offer_compare(&x, &y);
}

ap_doc *ap_view_price_diff(ap_arena *arena, const ap_price_view *view, const ap_snapshot *old, const ap_snapshot *new)
{
    ap_doc *doc = ap_view_begin(arena, "price-diff", view->catalog);
    ap_value *list = ap_value_list(arena);
    size_t i = 0, k = 0, added = 0, removed = 0, same = 0;
    while (i < old->offers.count || k < new->offers.count) {
        const ap_offer *a = i < old->offers.count ? &old->offers.items[i] : NULL,
                       *b = k < new->offers.count ? &new->offers.items[k] : NULL;
        int order = !a ? 1 : !b ? -1 : compare_keys(a, b);
        if (order < 0 && ++removed)
            push_change(arena, list, a, NULL);
        else if (order > 0 && ++added)
            push_change(arena, list, NULL, b);
        else if (order == 0 && moved(a, b))
            push_change(arena, list, a, b);
        else
            same++;
        i += order <= 0;
        k += order >= 0;
    }
    put_text(arena, doc->root, "old", old->created_at);
    put_text(arena, doc->root, "new", new->created_at);
    ap_value_put(arena, doc->root, "items", list);
    put_num(arena, doc->root, "added", (double)added);
    put_num(arena, doc->root, "removed", (double)removed);
    put_num(arena, doc->root, "within_5_percent", (double)same);
    ap_block *table = ap_doc_table(doc, list, diff_columns, sizeof diff_columns / sizeof *diff_columns);
    table->main = true;
    table->limit = view->limit;
    table->empty = "No price moved by more than 5 %.";
    ap_doc_paragraph(doc, "%s to %s: %zu added, %zu removed, %zu moved by at most 5 %%.", old->created_at,
                     new->created_at, added, removed, same);
    return doc;
}
