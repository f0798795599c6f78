/* All sources at once, then old and new together. Fetching is done by threads that share nothing; settling and merging
 * by the caller's. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "prices/fetch.h"

#define THREADS         6
#define SHRINK_FROM     10 /* rows: fewer change too much by themselves */
#define SHRINK_FRACTION 0.5
#define TEST_SCALE      0.01

typedef struct crew {
    const ap_price_update *update;
    ap_fetch *fetches;
    size_t count;
    atomic_size_t next, done;
    pthread_mutex_t report;
} crew;

static void *work(void *context)
{
    crew *c = context;
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->count;) {
        ap_fetch_run(&c->fetches[i]);
        size_t done = atomic_fetch_add(&c->done, 1) + 1;
        pthread_mutex_lock(&c->report);
        if (c->update->progress)
            c->update->progress(c->update->context, done, c->count, c->fetches[i].provider->id);
        pthread_mutex_unlock(&c->report);
    }
    return NULL;
}

static void fetch_all(const ap_price_update *update, ap_fetch *fetches, size_t count)
{
    crew c = {.update = update, .fetches = fetches, .count = count};
    pthread_t threads[THREADS];
    size_t started = 0;
    pthread_mutex_init(&c.report, NULL);
    while (started < THREADS && started + 1 < count && pthread_create(&threads[started], NULL, work, &c) == 0)
        started++;
    work(&c);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&c.report);
}

/* ---- which ------------------------------------------------------------------------------------------------------- */

static bool has_key(const ap_provider *p)
{
    for (size_t i = 0; i < p->auth.env.count; i++)
        if (getenv(p->auth.env.items[i]) && *getenv(p->auth.env.items[i]))
            return true;
    const char *secret = p->auth.secret_env ? getenv(p->auth.secret_env) : NULL;
    return secret && *secret;
}

static bool is_asked(const ap_price_update *update, const ap_provider *p)
{
    for (size_t i = 0; i < update->sources.count; i++)
        if (ap_streq(update->sources.items[i], p->id))
            return true;
    return update->sources.count == 0 && (p->tier == AP_TIER_PUBLIC || (p->tier == AP_TIER_KEYED && has_key(p)));
}

/* Another definition may read the same answer otherwise: then "not modified" means nothing. */
static const char *definition_of(const ap_provider *p, ap_arena *arena)
{
    ap_sbuf bytes;
    ap_sbuf_init(&bytes, arena);
    ap_image_write(&ap_provider_object, p, 1, &bytes);
    ap_sha256 sha;
    char hex[65];
    ap_sha256_init(&sha);
    ap_sha256_add(&sha, bytes.text, bytes.len);
    ap_sha256_end(&sha, hex);
    return ap_arena_strndup(arena, hex, 16);
}

static size_t select_sources(const ap_price_update *update, ap_fetch *fetches)
{
    size_t count = 0;
    for (size_t i = 0; i < update->providers->count; i++) {
        const ap_provider *p = &update->providers->items[i];
        if (!is_asked(update, p))
            continue;
        ap_arena *arena = ap_arena_new(); /* its own: threads share nothing */
        fetches[count++] = (ap_fetch){.provider = p,
                                      .update = update,
                                      .old = ap_snapshot_source(update->old, p->id),
                                      .arena = arena,
                                      .definition = definition_of(p, arena),
                                      .scale = update->test_base_url ? TEST_SCALE : 1};
    }
    return count;
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

typedef struct merge {
    const ap_price_update *update;
    ap_snapshot *out;
    size_t source_capacity, rate_capacity, offer_capacity;
} merge;

static const char *keep(const merge *m, const char *text)
{
    return ap_arena_strdup(m->update->arena, text);
}

static void add_offer(merge *m, const ap_offer *o, bool is_new)
{
    ap_offer *made = AP_PUSH(m->update->arena, m->out->offers.items, m->out->offers.count, m->offer_capacity);
    *made = *o;
    if (!is_new) /* lives in the old snapshot */
        return;
    const char **texts[] = {&made->source, &made->cloud,    &made->instance, &made->region,
                            &made->chip,   &made->raw_chip, &made->currency, &made->market,
                            &made->scope,  &made->as_of,    &made->flag,     &made->part};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = keep(m, *texts[i]);
}

/* Old rows of a source, of one part of it (NULL = all). `as_of`: seen unchanged then, or NULL. */
static double carry_over(merge *m, const char *id, const ap_part *part, const char *as_of)
{
    double count = 0;
    const ap_snapshot *old = m->update->old;
    for (size_t i = 0; old && i < old->offers.count; i++) {
        const ap_offer *o = &old->offers.items[i];
        if (!ap_streq(o->source, id) || (part && part->name && !ap_streq(o->part, part->name)))
            continue;
        ap_offer same = *o;
        same.as_of = as_of ? as_of : o->as_of;
        add_offer(m, &same, false);
        count++;
    }
    return count;
}

/* A source asked for some regions only keeps what it had of the others. */
static double carry_other_regions(merge *m, const ap_fetch *f)
{
    double count = 0;
    const ap_snapshot *old = m->update->old;
    bool some = ap_streq(f->provider->each.name, "region") && f->part_count && f->parts[0].name;
    for (size_t i = 0; some && old && i < old->offers.count; i++) {
        const ap_offer *o = &old->offers.items[i];
        bool asked = !ap_streq(o->source, f->provider->id);
        for (size_t p = 0; p < f->part_count && !asked; p++)
            asked = ap_streq(f->parts[p].name, o->part ? o->part : o->region);
        if (asked)
            continue;
        add_offer(m, o, false);
        count++;
    }
    return count;
}

static void carry_rates(merge *m, const char *source)
{
    const ap_snapshot *old = m->update->old;
    for (size_t i = 0; old && i < old->rates.count; i++)
        if (ap_streq(old->rates.items[i].source, source))
            *AP_PUSH(m->update->arena, m->out->rates.items, m->out->rates.count, m->rate_capacity) =
                old->rates.items[i];
}

static double old_rows(const merge *m, const char *id)
{
    const ap_source_state *old = ap_snapshot_source(m->update->old, id);
    return old ? ap_or(old->rows_kept, 0) : 0;
}

static ap_source_state *new_state(merge *m, const ap_fetch *f)
{
    ap_source_state *s = AP_PUSH(m->update->arena, m->out->sources.items, m->out->sources.count, m->source_capacity);
    char hex[65];
    ap_sha256 sha = f->sha;
    ap_sha256_end(&sha, hex);
    *s = (ap_source_state){.id = keep(m, f->provider->id),
                           .url = keep(m, f->first_url),
                           .sha256 = keep(m, hex),
                           .definition = keep(m, f->definition),
                           .checked_at = m->update->now,
                           .http_status = (double)f->http_status,
                           .bytes = f->bytes,
                           .rows_in = f->rows.rows_in};
    if (f->old) {
        s->as_of = f->old->as_of;
        s->fetched_at = f->old->fetched_at;
        s->rows_kept = f->old->rows_kept;
    }
    return s;
}

static void keep_validators(const merge *m, const ap_fetch *f, ap_source_state *s)
{
    size_t capacity = 0;
    for (size_t i = 0; i < f->validator_count; i++) {
        const ap_validator *v = &f->validators[i];
        *AP_PUSH(m->update->arena, s->validators.items, s->validators.count, capacity) =
            (ap_validator){keep(m, v->url), keep(m, v->etag), keep(m, v->last_modified), keep(m, v->part)};
    }
    for (size_t i = 0; f->old && i < f->old->validators.count; i++) /* of the parts that were not modified */
        for (size_t p = 0; p < f->part_count; p++)
            if (f->parts[p].status == AP_PART_NOT_MODIFIED &&
                ap_streq(f->parts[p].name, f->old->validators.items[i].part))
                *AP_PUSH(m->update->arena, s->validators.items, s->validators.count, capacity) =
                    f->old->validators.items[i];
}

static const char *reasons_of(const merge *m, const ap_source_state *s)
{
    ap_sbuf text;
    ap_sbuf_init(&text, m->update->arena);
    for (size_t i = 0; i < s->rejects.count; i++)
        ap_sbuf_printf(&text, "%s%.0f %s", i ? ", " : "", s->rejects.items[i].count, s->rejects.items[i].reason);
    return text.text;
}

/* The whole source is refused: what it had stays, with its old date. */
static void refuse(merge *m, const ap_fetch *f, ap_source_state *s, const char *error, size_t offers_before)
{
    m->out->offers.count = offers_before;
    s->status = "failed";
    s->error = keep(m, error);
    s->validators.count = 0;
    if (f->old) {
        s->validators = f->old->validators;
        s->sha256 = f->old->sha256;
        s->definition = f->old->definition;
    }
    s->rows_kept = carry_over(m, s->id, NULL, NULL);
    if (f->provider->adapter == AP_ADAPT_RATES) {
        carry_rates(m, s->id);
        s->rows_kept = old_rows(m, s->id);
    }
}

static size_t count_parts(const ap_fetch *f, ap_part_status status)
{
    size_t count = 0;
    for (size_t i = 0; i < f->part_count; i++)
        count += f->parts[i].status == status;
    return count;
}

static void settle_rows(merge *m, const ap_fetch *f, ap_source_state *s, const char *day)
{
    ap_offers kept;
    ap_settle settle = {.catalog = m->update->catalog,
                        .provider = f->provider,
                        .as_of = day,
                        .rates = m->out->rates.items,
                        .rate_count = m->out->rates.count,
                        .arena = m->update->arena,
                        .diags = m->update->diags};
    ap_offers_settle(&settle, &f->rows.offers, s, &kept);
    for (size_t i = 0; i < kept.count; i++)
        add_offer(m, &kept.items[i], true);
    s->rows_kept += carry_other_regions(m, f);
    for (size_t i = 0; i < f->part_count; i++)
        if (f->parts[i].status == AP_PART_NOT_MODIFIED || f->parts[i].status == AP_PART_FAILED)
            s->rows_kept += carry_over(m, s->id, &f->parts[i], f->parts[i].status == AP_PART_NOT_MODIFIED ? day : NULL);
}

static void merge_rates(merge *m, const ap_fetch *f, ap_source_state *s)
{
    for (size_t i = 0; i < f->rate_count; i++) {
        ap_rate rate = f->rates[i];
        rate.currency = keep(m, rate.currency);
        rate.as_of = keep(m, rate.as_of);
        rate.source = keep(m, rate.source);
        *AP_PUSH(m->update->arena, m->out->rates.items, m->out->rates.count, m->rate_capacity) = rate;
    }
    s->rows_kept = (double)f->rate_count;
}

/* Returns whether the source failed. */
static bool merge_source(merge *m, const ap_fetch *f)
{
    ap_arena *arena = m->update->arena;
    ap_source_state *s = new_state(m, f);
    const char *day = ap_arena_strndup(arena, m->update->now, 10);
    size_t before = m->out->offers.count, failed = count_parts(f, AP_PART_FAILED), good = count_parts(f, AP_PART_OK);
    size_t same = count_parts(f, AP_PART_NOT_MODIFIED);
    if (good + same == 0) {
        refuse(m, f, s, f->error ? f->error : "nothing there (HTTP status 404)", before);
        return true;
    }
    if (f->provider->adapter == AP_ADAPT_RATES)
        merge_rates(m, f, s);
    else
        settle_rows(m, f, s, day);
    if (!(s->rows_kept > 0)) {
        const char *why = f->rows.rows_in > 0 ? ap_arena_printf(arena, "none of %g rows can be used: %s",
                                                                f->rows.rows_in, reasons_of(m, s))
                                              : "the answer holds no prices";
        refuse(m, f, s, why, before);
        return true;
    }
    double had = old_rows(m, s->id);
    if (had >= SHRINK_FROM && s->rows_kept < SHRINK_FRACTION * had && !m->update->accept_shrink) {
        refuse(m, f, s,
               ap_arena_printf(arena, "shrank from %g rows to %g (--accept-shrink takes that)", had, s->rows_kept),
               before);
        return true;
    }
    keep_validators(m, f, s);
    s->status = failed ? "failed" : good == 0 ? "not-modified" : "ok";
    s->error = failed ? ap_arena_printf(arena, "%zu of %zu parts: %s", failed, f->part_count, f->error) : NULL;
    if (!failed || !s->as_of)
        s->as_of = f->rate_count ? m->out->rates.items[m->out->rates.count - 1].as_of : day;
    if (good)
        s->fetched_at = m->update->now;
    return failed > 0;
}

static bool was_fetched(const ap_fetch *fetches, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (ap_streq(fetches[i].provider->id, id))
            return true;
    return false;
}

static void carry_sources(merge *m, const ap_fetch *fetches, size_t count)
{
    const ap_snapshot *old = m->update->old;
    for (size_t i = 0; old && i < old->sources.count; i++) {
        if (was_fetched(fetches, count, old->sources.items[i].id))
            continue;
        *AP_PUSH(m->update->arena, m->out->sources.items, m->out->sources.count, m->source_capacity) =
            old->sources.items[i];
        (void)carry_over(m, old->sources.items[i].id, NULL, NULL);
        carry_rates(m, old->sources.items[i].id);
    }
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const ap_source_state *)a)->id, ((const ap_source_state *)b)->id);
}

ap_status ap_prices_fetch(const ap_price_update *update, ap_snapshot *ret_snapshot, size_t *ret_failed)
{
    ap_fetch *fetches = AP_NEW_ARRAY(update->arena, ap_fetch, update->providers->count + 1);
    size_t count = select_sources(update, fetches), failed = 0;
    *ret_snapshot = (ap_snapshot){.created_at = update->now};
    if (count && ap_transport_start() != AP_OK) {
        ap_diag_add(update->diags, AP_ERROR, 768, AP_NO_POS,
                    "this program was built without libcurl and cannot fetch prices");
        return AP_IO;
    }
    fetch_all(update, fetches, count);
    merge m = {.update = update, .out = ret_snapshot};
    carry_sources(&m, fetches, count);
    for (int rates_first = 1; rates_first >= 0; rates_first--) /* currencies need the rates */
        for (size_t i = 0; i < count; i++)
            if ((fetches[i].provider->adapter == AP_ADAPT_RATES) == (rates_first == 1))
                failed += merge_source(&m, &fetches[i]);
    for (size_t i = 0; i < count; i++)
        ap_arena_free(fetches[i].arena);
    if (ret_snapshot->sources.count > 1)
        qsort(ret_snapshot->sources.items, ret_snapshot->sources.count, sizeof *ret_snapshot->sources.items, by_id);
    if (ret_snapshot->offers.count > 1)
        qsort(ret_snapshot->offers.items, ret_snapshot->offers.count, sizeof *ret_snapshot->offers.items,
              ap_offer_compare);
    *ret_failed = failed;
    return AP_OK;
}
