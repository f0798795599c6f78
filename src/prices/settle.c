/* Raw offers -> what is kept. Nothing is guessed: a chip that no table knows stays unknown, a price that cannot be is
 * refused, one that is hardly possible is kept aside. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "base/text.h"
#include "prices/prices.h"

#define MOST_USD_PER_CHIP_H 1000.0
#define BAND_LOW            0.2 /* of the median of other prices of that chip: */
#define BAND_HIGH           5.0 /* catches per-chip prices taken for machines, cents for dollars */
#define MEMORY_TOLERANCE    0.07
#define WARNINGS_PER_SOURCE 5
#define UNKNOWN_NAMES_KEPT  200

typedef struct settling {
    const ap_settle *in;
    ap_source_state *state;
    size_t warned, reject_capacity, unknown_capacity;
} settling;

static const char *label_of(const settling *s, const ap_offer *o)
{
    return ap_arena_printf(s->in->arena, "%s/%s@%s (%s)", o->cloud ? o->cloud : "?", o->instance ? o->instance : "?",
                           o->region ? o->region : "?", ap_price_kind_name(o->kind));
}

static void warn(settling *s, const ap_offer *o, const char *what)
{
    if (s->warned++ >= WARNINGS_PER_SOURCE)
        return;
    char price[32];
    ap_num_format_digits(o->native, 6, price);
    ap_diag_add(s->in->diags, AP_WARNING, 770, AP_NO_POS, "%s: %s: price %s %s", s->in->provider->id, label_of(s, o),
                ap_known(o->native) ? price : "unknown", what);
}

static void reject(settling *s, const ap_offer *o, const char *reason)
{
    ap_source_state *state = s->state;
    size_t i = 0;
    while (i < state->rejects.count && !ap_streq(state->rejects.items[i].reason, reason))
        i++;
    if (i == state->rejects.count)
        *AP_PUSH(s->in->arena, state->rejects.items, state->rejects.count, s->reject_capacity) = (ap_reject){reason, 0};
    state->rejects.items[i].count++;
    warn(s, o, ap_arena_printf(s->in->arena, "refused: %s", reason));
}

static void note_unknown(settling *s, const char *name)
{
    ap_strings *names = &s->state->unknown_names;
    for (size_t i = 0; i < names->count; i++)
        if (ap_streq(names->items[i], name))
            return;
    if (names->count < UNKNOWN_NAMES_KEPT)
        *AP_PUSH(s->in->arena, names->items, names->count, s->unknown_capacity) =
            ap_arena_strdup(s->in->arena, name); /* outlives the fetch */
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static bool clean_text(const char *text)
{
    if (!text)
        return true;
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            return false;
    return len > 0 && len < 200 && ap_utf8_valid(text, len, NULL);
}

/* ---- chips ------------------------------------------------------------------------------------------------------- */

static bool fits_memory(const ap_chip *chip, double bytes)
{
    return !ap_known(bytes) || (chip->memory.size > 0 && fabs(bytes / chip->memory.size - 1) <= MEMORY_TOLERANCE);
}

/* "SXM5" and "PCIe" stand in the ids of chips that come in both forms. */
static bool fits_form(const ap_chip *chip, const char *form)
{
    static const char *const forms[] = {"sxm", "pcie", "nvl", "oam"};
    for (size_t i = 0; form && i < sizeof forms / sizeof *forms; i++)
        if (strncasecmp(form, forms[i], strlen(forms[i])) == 0)
            return strstr(chip->id, forms[i]) != NULL;
    return true;
}

/* Of several chips that a spelling may mean, the one whose memory and form the row tells; NULL when that leaves a
 * choice. */
static const ap_chip *by_row(const ap_chip_match *match, const ap_offer *o)
{
    const ap_chip *only = NULL;
    for (size_t i = 0; i < match->choice_count && (ap_known(o->chip_bytes) || o->form); i++) {
        if (!fits_memory(match->choices[i], o->chip_bytes) || !fits_form(match->choices[i], o->form))
            continue;
        if (only)
            return NULL;
        only = match->choices[i];
    }
    return only;
}

static const char *names_of(const ap_provider *p)
{
    return p->names ? p->names : p->id;
}

/* What the names table says about the machine's own name: chips and how many. */
static ap_chip_match by_instance(const settling *s, const ap_offer *o)
{
    ap_chip_match match = ap_catalog_find_chip_at(s->in->catalog, names_of(s->in->provider), o->instance);
    return match.known ? match : (ap_chip_match){.count = AP_UNKNOWN};
}

/* "8x NVIDIA H100 SXM5 80GB" -> "H100 SXM5 80GB": a count and the maker's name say nothing of which chip it is. */
static const char *without_ornament(const char *name)
{
    static const char *const makers[] = {"nvidia", "amd", "intel"};
    size_t digits = strspn(name, "0123456789");
    if (digits && name[digits] == 'x' && name[digits + 1] == ' ')
        name += digits + 2;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        size_t len = strlen(makers[i]);
        if (strncasecmp(name, makers[i], len) == 0 && name[len] && strchr(" _-", name[len]))
            return name + len + 1;
    }
    return name;
}

static ap_chip_match by_name(const settling *s, const char *name)
{
    ap_chip_match match = ap_catalog_find_chip_at(s->in->catalog, names_of(s->in->provider), name);
    const char *bare = without_ornament(name);
    if (match.chip || match.choice_count || match.known || bare == name || !*bare)
        return match;
    return ap_catalog_find_chip_at(s->in->catalog, names_of(s->in->provider), bare);
}

static void take_known_machine(ap_offer *o, const ap_instance *known)
{
    o->chip = known->chip;
    if (!ap_known(o->count))
        o->count = known->chip_count;
    else if (fabs(o->count - known->chip_count) > 1e-6)
        o->flag = "suspect: number of chips is not the catalog's";
}

static void name_chip(settling *s, ap_offer *o)
{
    const ap_instance *known = ap_catalog_find_instance(s->in->catalog, o->cloud, o->instance);
    if (known) {
        o->instance = known->name;
        take_known_machine(o, known);
        return;
    }
    ap_chip_match match = {.count = AP_UNKNOWN};
    if (o->raw_chip)
        match = by_name(s, o->raw_chip);
    if (!match.chip && match.choice_count == 0) {
        match = by_instance(s, o);
        if (!ap_known(o->count))
            o->count = match.count;
    }
    const ap_chip *chip = match.chip ? match.chip : by_row(&match, o);
    if (chip) {
        o->chip = chip->id;
        return;
    }
    o->flag = match.choice_count ? "chip is ambiguous" : "chip is unknown";
    note_unknown(s, o->raw_chip ? o->raw_chip : o->instance);
}

/* ---- money ------------------------------------------------------------------------------------------------------- */

static void convert(settling *s, ap_offer *o)
{
    o->usd_per_h = o->currency ? AP_UNKNOWN : o->native;
    for (size_t i = 0; o->currency && i < s->in->rate_count; i++)
        if (ap_streq(s->in->rates[i].currency, o->currency))
            o->usd_per_h = o->native * s->in->rates[i].usd;
    if (!ap_known(o->usd_per_h) && !o->flag)
        o->flag = "no exchange rate";
}

static bool is_currency(const char *code)
{
    return !code || (strlen(code) == 3 && strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3);
}

/* Numbers that mean "no price" at one source or another. */
static bool is_sentinel(double price)
{
    static const double sentinels[] = {700, 9999, 99999, 999999, 9999999, 99999999, 999999999};
    for (size_t i = 0; i < sizeof sentinels / sizeof *sentinels; i++)
        if (fabs(price - sentinels[i]) < 1e-9)
            return true;
    return false;
}

static const char *refusal(const ap_offer *o)
{
    if (o->flag)
        return o->flag;
    if (!o->instance)
        return "missing";
    if (!clean_text(o->instance) || !clean_text(o->region) || (o->raw_chip && !clean_text(o->raw_chip)))
        return "text";
    if (!isfinite(o->native))
        return "not finite";
    if (!(o->native > 0))
        return "not positive";
    if (is_sentinel(o->native))
        return "stands for no price";
    if (!is_currency(o->currency))
        return "currency";
    if (ap_known(o->count) && !(o->count > 0 && o->count <= 16384))
        return "number of chips";
    return NULL;
}

/* ---- plausibility ------------------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    if (count == 0)
        return AP_UNKNOWN;
    qsort(values, count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Median over the catalog of what a chip costs in an hour; one value per machine type, so that clouds with many regions
 * do not outvote the others. */
static double chip_median(const ap_catalog *catalog, const char *chip, int kind, ap_arena *scratch)
{
    double *values = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < catalog->instances.count; i++) {
        const ap_instance *m = &catalog->instances.items[i];
        if (!ap_streq(m->chip, chip) || !(m->chip_count > 0))
            continue;
        const ap_price *price = ap_instance_cheapest(m, kind, NULL);
        if (price)
            *AP_PUSH(scratch, values, count, capacity) = ap_price_usd(price, kind) / m->chip_count;
    }
    return median(values, count);
}

/* A CPU machine is priced by its vCPUs; chips of it are sockets, which say little. */
static bool has_band(const ap_catalog *catalog, const ap_offer *o)
{
    const ap_chip *chip = o->chip ? ap_catalog_chip(catalog, o->chip) : NULL;
    return chip && chip->kind != AP_CHIP_CPU && ap_known(o->count) && ap_known(o->usd_per_h);
}

typedef struct bands { /* medians asked for before */
    const char *chip[64];
    int kind[64];
    double value[64];
    size_t count;
    ap_arena *arena;
} bands;

static double band_of(bands *b, const ap_catalog *catalog, const ap_offer *o)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->kind[i] == o->kind && ap_streq(b->chip[i], o->chip))
            return b->value[i];
    double value = chip_median(catalog, o->chip, o->kind, b->arena);
    if (b->count < 64) {
        b->chip[b->count] = o->chip;
        b->kind[b->count] = o->kind;
        b->value[b->count++] = value;
    }
    return value;
}

static void judge(settling *s, ap_offer *o, bands *b)
{
    if (o->flag || !has_band(s->in->catalog, o))
        return;
    double usual = band_of(b, s->in->catalog, o), ours = o->usd_per_h / o->count;
    if (!ap_known(usual) || (ours >= BAND_LOW * usual && ours <= BAND_HIGH * usual))
        return;
    char text[32];
    ap_num_format_digits(usual, 3, text);
    o->flag = ap_arena_printf(s->in->arena, "suspect: %s is usually near %s USD/h a chip", o->chip, text);
    warn(s, o, ap_arena_printf(s->in->arena, "kept aside, %s", o->flag));
}

/* ---- duplicates, spot -------------------------------------------------------------------------------------------- */

int ap_offer_compare(const void *a, const void *b)
{
    const ap_offer *x = a, *y = b;
    const char *left[] = {x->cloud, x->instance, x->region}, *right[] = {y->cloud, y->instance, y->region};
    for (size_t i = 0; i < 3; i++) {
        int order = strcmp(left[i] ? left[i] : "", right[i] ? right[i] : "");
        if (order)
            return order;
    }
    if (x->kind != y->kind)
        return x->kind - y->kind;
    int order = strcmp(x->source, y->source);
    if (order)
        return order;
    bool flagged_x = x->flag != NULL, flagged_y = y->flag != NULL; /* usable ones first */
    if (flagged_x != flagged_y)
        return flagged_x - flagged_y;
    return (x->native > y->native) - (x->native < y->native);
}

static bool same_key(const ap_offer *a, const ap_offer *b)
{
    return ap_streq(a->cloud, b->cloud) && ap_streq(a->instance, b->instance) && ap_streq(a->region, b->region) &&
           a->kind == b->kind && ap_streq(a->source, b->source);
}

/* Sorted, so that duplicates stand together and the lowest usable price comes first. A marketplace's many offers of one
 * type become their median. */
static void drop_duplicates(settling *s, ap_offers *offers)
{
    size_t kept = 0;
    for (size_t i = 0; i < offers->count;) {
        size_t next = i + 1;
        while (next < offers->count && same_key(&offers->items[i], &offers->items[next]))
            next++;
        ap_offer merged = offers->items[i];
        if (s->in->provider->median == 1 && next - i > 2)
            merged = offers->items[i + (next - i - 1) / 2];
        else if (next - i > 1 && offers->items[next - 1].native > merged.native * 1.000001)
            s->state->suspects++; /* ambiguous: two prices for one key; the lower one stays */
        offers->items[kept++] = merged;
        i = next;
    }
    offers->count = kept;
}

static void judge_spot(const settling *s, ap_offers *offers)
{
    for (size_t i = 1; i < offers->count; i++) {
        ap_offer *spot = &offers->items[i];
        const ap_offer *list = &offers->items[i - 1];
        bool pair = spot->kind == AP_PRICE_SPOT && list->kind == AP_PRICE_ON_DEMAND &&
                    ap_streq(spot->cloud, list->cloud) && ap_streq(spot->instance, list->instance) &&
                    ap_streq(spot->region, list->region);
        if (!pair || spot->flag || list->flag || ap_streq(s->in->provider->market, "marketplace"))
            continue;
        if (spot->native > list->native * 1.05)
            spot->flag = "suspect: spot costs more than on-demand";
        else if (fabs(spot->native - list->native) <= 1e-9 * list->native)
            spot->flag = "spot price is the on-demand price: unknown";
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool of_interest(const settling *s, const ap_offer *o)
{
    const ap_provider *p = s->in->provider;
    if (p->interesting_only != 1 || !o->instance)
        return true;
    if (ap_catalog_find_instance(s->in->catalog, o->cloud, o->instance) || by_instance(s, o).known)
        return true;
    return p->unknown_starts && ap_starts_with(o->instance, p->unknown_starts);
}

void ap_offers_settle(const ap_settle *in, const ap_offers *raw, ap_source_state *state, ap_offers *ret_kept)
{
    settling s = {.in = in, .state = state};
    bands b = {.arena = in->arena};
    ap_offers kept = {.items = AP_NEW_ARRAY(in->arena, ap_offer, raw->count + 1)};
    for (size_t i = 0; i < raw->count; i++) {
        ap_offer o = raw->items[i];
        const char *why = refusal(&o);
        if (why) {
            reject(&s, &o, why);
            continue;
        }
        if (!of_interest(&s, &o))
            continue;
        o.as_of = in->as_of;
        name_chip(&s, &o);
        convert(&s, &o);
        if (ap_known(o.usd_per_h) && o.usd_per_h / fmax(ap_or(o.count, 1), 1) >= MOST_USD_PER_CHIP_H) {
            reject(&s, &o, "above 1000 USD an hour and chip");
            continue;
        }
        judge(&s, &o, &b);
        kept.items[kept.count++] = o;
    }
    if (kept.count > 1)
        qsort(kept.items, kept.count, sizeof *kept.items, ap_offer_compare);
    drop_duplicates(&s, &kept);
    judge_spot(&s, &kept);
    for (size_t i = 0; i < kept.count; i++)
        state->suspects += kept.items[i].flag != NULL && ap_starts_with(kept.items[i].flag, "suspect");
    state->rows_kept = (double)kept.count;
    if (s.warned > WARNINGS_PER_SOURCE)
        ap_diag_add(in->diags, AP_WARNING, 771, AP_NO_POS, "%s: %zu more rows refused or kept aside", in->provider->id,
                    s.warned - WARNINGS_PER_SOURCE);
    *ret_kept = kept;
}
