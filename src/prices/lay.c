/* A snapshot's usable offers over the catalog's. Which of two prices holds is a rule: the newer one; on the same day
 * the vendor's own source before a collected list. */
#include <string.h>

#include "base/num.h"
#include "prices/prices.h"

typedef struct laying {
    ap_catalog *catalog;
    const ap_snapshot *snapshot;
    ap_instance *items; /* the catalog's machines, copied, and room for new ones */
    size_t count;
    size_t old_count;
    const ap_instance *growing; /* the machine whose list of prices was copied last, and room in the copy */
    size_t room;
    bool always;
} laying;

static int rank_of(const char *source)
{
    return ap_streq(source, "skypilot") ? 2 : ap_streq(source, "gpuhunt") ? 1 : 0;
}

static double *cell_of(ap_price *price, int kind)
{
    double *cells[] = {&price->on_demand, &price->spot, &price->reserved_1y, &price->reserved_3y};
    return cells[kind];
}

/* Months and years without a day count as their first day. */
static bool is_newer(const laying *l, const char *a, const char *b)
{
    return l->always || !b || strcmp(a, b) >= 0;
}

static const char *source_text(const laying *l, const ap_offer *o)
{
    const ap_source_state *state = ap_snapshot_source(l->snapshot, o->source);
    const char *host = state && state->url && strncmp(state->url, "https://", 8) == 0 ? state->url + 8 : "";
    return ap_arena_printf(l->catalog->arena, "%s%s%.*s, priced by %s", o->source, *host ? " " : "",
                           (int)strcspn(host, "/?"), host, o->scope ? o->scope : "node");
}

static void set_price(const laying *l, ap_price *price, const ap_offer *o)
{
    /* One row of the catalog has one date and source for all its kinds: what is older and from elsewhere is noted. */
    bool other = price->source && price->as_of && !ap_streq(price->as_of, o->as_of);
    if (other && o->kind != AP_PRICE_ON_DEMAND && ap_known(price->on_demand))
        price->notes = ap_arena_printf(l->catalog->arena, "other kinds of price as of %s", price->as_of);
    *cell_of(price, o->kind) = o->usd_per_h;
    price->as_of = o->as_of;
    price->source = source_text(l, o);
    price->confidence = o->derived == 1 ? AP_CONF_DERIVED : AP_CONF_READ;
    if (o->currency) {
        price->native = o->native;
        price->currency = o->currency;
    }
}

/* Offers come sorted by machine, so one copy of its prices with room to grow serves all of them. */
static void make_room(laying *l, ap_instance *m)
{
    if (l->growing == m && m->prices.count < l->room)
        return;
    l->room = m->prices.count * 2 + 8;
    l->growing = m;
    ap_price *more = AP_NEW_ARRAY(l->catalog->arena, ap_price, l->room);
    if (m->prices.count)
        memcpy(more, m->prices.items, m->prices.count * sizeof *more);
    m->prices.items = more;
}

static ap_price *price_of(laying *l, ap_instance *m, const char *region)
{
    for (size_t i = 0; i < m->prices.count; i++)
        if (strcmp(m->prices.items[i].region, region) == 0)
            return &m->prices.items[i];
    make_room(l, m);
    ap_price *made = &m->prices.items[m->prices.count++];
    *made = (ap_price){.region = region,
                       .on_demand = AP_UNKNOWN,
                       .spot = AP_UNKNOWN,
                       .reserved_1y = AP_UNKNOWN,
                       .reserved_3y = AP_UNKNOWN,
                       .native = AP_UNKNOWN,
                       .confidence = AP_CONF_READ};
    return made;
}

static bool same_key(const ap_offer *a, const ap_offer *b)
{
    return a->kind == b->kind && ap_streq(a->instance, b->instance) && ap_streq(a->cloud, b->cloud) &&
           ap_streq(a->region, b->region);
}

static bool is_better(const ap_offer *a, const ap_offer *b)
{
    int newer = strcmp(a->as_of, b->as_of);
    return newer > 0 || (newer == 0 && rank_of(a->source) < rank_of(b->source));
}

/* Several sources may price the same thing; they stand next to each other. Returns the usable one that holds, or NULL.
 */
static const ap_offer *best_of(const ap_offers *offers, size_t *i)
{
    const ap_offer *best = NULL, *first = &offers->items[*i];
    for (; *i < offers->count && same_key(&offers->items[*i], first); ++*i) {
        const ap_offer *o = &offers->items[*i];
        if (!o->flag && ap_known(o->usd_per_h) && (!best || is_better(o, best)))
            best = o;
    }
    return best;
}

static void lay_offer(laying *l, ap_instance *m, const ap_offer *o)
{
    bool everywhere =
        strcmp(o->region, "global") == 0 && m->prices.count > 0 && strcmp(m->prices.items[0].region, "global") != 0;
    if (!everywhere) {
        ap_price *price = price_of(l, m, o->region);
        if (!ap_known(*cell_of(price, o->kind)) || is_newer(l, o->as_of, price->as_of))
            set_price(l, price, o);
        return;
    }
    for (size_t i = 0; i < m->prices.count; i++)
        if (is_newer(l, o->as_of, m->prices.items[i].as_of))
            set_price(l, &m->prices.items[i], o);
}

static ap_instance *add_machine(laying *l, const ap_offer *o)
{
    ap_instance *m = &l->items[l->count++];
    *m = (ap_instance){.cloud = o->cloud,
                       .name = o->instance,
                       .chip = o->chip,
                       .chip_count = o->count,
                       .hosts = 1,
                       .vcpus = o->vcpus,
                       .memory = o->host_bytes,
                       .local_ssd = AP_UNKNOWN,
                       .network = AP_UNKNOWN,
                       .intra_bandwidth = AP_UNKNOWN,
                       .host_link = AP_UNKNOWN,
                       .nics = AP_UNKNOWN,
                       .rdma = -1,
                       .market = o->market ? o->market : "cloud",
                       .session_limit_s = AP_UNKNOWN,
                       .chip_assumed = -1};
    m->from = (ap_provenance){.source = source_text(l, o),
                              .as_of = o->as_of,
                              .confidence = AP_CONF_READ,
                              .notes = "known from a price list only: network and local disk are unknown"};
    return m;
}

/* Offers come sorted by cloud and machine, so a new machine is the last one made or none. */
static ap_instance *machine_of(laying *l, const ap_offer *o)
{
    const ap_instance *known = ap_catalog_find_instance(l->catalog, o->cloud, o->instance);
    if (known)
        return &l->items[known - l->catalog->instances.items];
    ap_instance *last = l->count > l->old_count ? &l->items[l->count - 1] : NULL;
    if (last && ap_streq(last->cloud, o->cloud) && ap_streq(last->name, o->instance))
        return last;
    bool usable =
        o->chip && o->count > 0 && ap_catalog_chip(l->catalog, o->chip) && ap_catalog_find_cloud(l->catalog, o->cloud);
    return usable ? add_machine(l, o) : NULL;
}

void ap_prices_lay(ap_catalog *catalog, const ap_snapshot *snapshot, bool always)
{
    laying l = {.catalog = catalog,
                .snapshot = snapshot,
                .count = catalog->instances.count,
                .old_count = catalog->instances.count,
                .always = always};
    l.items = AP_NEW_ARRAY(catalog->arena, ap_instance, l.count + snapshot->offers.count + 1);
    if (l.count)
        memcpy(l.items, catalog->instances.items, l.count * sizeof *l.items);
    for (size_t i = 0; i < snapshot->offers.count;) {
        const ap_offer *o = best_of(&snapshot->offers, &i);
        ap_instance *m = o ? machine_of(&l, o) : NULL;
        if (m)
            lay_offer(&l, m, o);
    }
    catalog->instances.items = l.items;
    catalog->instances.count = l.count;
    ap_catalog_refresh(catalog);
}
