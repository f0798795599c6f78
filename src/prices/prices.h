/* Live prices: what sources say, checked and stored as snapshots, and laid over the built-in offers.
 *
 *   fetch     source -> raw offers (transport, paging, adapters)      the only part that uses the network
 *   settle    raw offers -> normalised, validated, flagged offers     names table, plausibility bands
 *   snapshot  offers + what is known of each source <-> one JSON file, immutable once written
 *   lay       snapshot -> catalog
 *
 * Money in USD an hour of the whole machine; unknown = NaN. Dates are YYYY-MM-DD (UTC), times YYYY-MM-DDTHH:MM:SSZ. */
#ifndef AP_PRICES_PRICES_H
#define AP_PRICES_PRICES_H

#include <stdbool.h>

#include "catalog/catalog.h"
#include "prices/provider.h"

typedef struct ap_offer { /* one price of one machine in one region */
    const char *source;   /* source id */
    const char *cloud, *instance, *region;
    const char *chip;     /* catalog id; NULL: not (yet) known */
    const char *raw_chip; /* as the source spells it */
    const char *form;     /* SXM5, PCIe: told apart from the name; not stored */
    double count, vcpus, host_bytes, chip_bytes;
    int kind;             /* ap_price_kind */
    double usd_per_h;     /* NaN: no exchange rate */
    double native;        /* in `currency` */
    const char *currency; /* NULL = USD */
    const char *market;   /* cloud, marketplace */
    const char *scope;    /* what the source prices: node, chip, parts */
    const char *as_of;
    const char *flag;    /* NULL: used; else why it is kept but not used */
    const char *part;    /* of a source that is asked in parts (a cloud, a region), or NULL */
    signed char derived; /* 1: computed from another price */
} ap_offer;
typedef AP_LIST(ap_offer) ap_offers;

typedef struct ap_reject { /* rows refused, by reason */
    const char *reason;
    double count;
} ap_reject;

typedef struct ap_validator { /* for conditional requests */
    const char *url, *etag, *last_modified, *part;
} ap_validator;

typedef struct ap_source_state {
    const char *id, *status; /* ok, not-modified, failed, skipped, never */
    const char *error;       /* of the last attempt, or NULL */
    const char *as_of, *fetched_at, *checked_at;
    const char *url, *sha256, *definition; /* first address (no query), hash of the answers, of the provider's file */
    double http_status, bytes, rows_in, rows_kept, suspects;
    AP_LIST(ap_reject) rejects;
    ap_strings unknown_names;
    AP_LIST(ap_validator) validators;
} ap_source_state;

typedef struct ap_rate { /* one unit of a currency in USD */
    const char *currency, *as_of, *source;
    double usd;
} ap_rate;

typedef struct ap_snapshot {
    const char *name, *path, *created_at;
    AP_LIST(ap_source_state) sources; /* sorted by id */
    AP_LIST(ap_rate) rates;
    ap_offers offers; /* sorted */
} ap_snapshot;

/* The ids of the contract, in its order; NULL-terminated. */
extern const char *const ap_price_source_ids[];
const ap_source_state *ap_snapshot_source(const ap_snapshot *snapshot, const char *id);

/* ---- settle ------------------------------------------------------------------------------------------------------ */

typedef struct ap_settle {
    const ap_catalog *catalog;
    const ap_provider *provider;
    const char *as_of;
    const ap_rate *rates;
    size_t rate_count;
    ap_arena *arena;
    ap_diags *diags; /* one warning a refused or suspect row (the first few), code 77x */
} ap_settle;

/* Turns raw offers into what is kept: chips by the names table, currency, plausibility. Fills the counts of `state`. */
void ap_offers_settle(const ap_settle *settle, const ap_offers *raw, ap_source_state *state, ap_offers *ret_kept);
/* Order of snapshots: cloud, instance, region, kind, source, price. */
int ap_offer_compare(const void *a, const void *b);

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

void ap_snapshot_write(const ap_snapshot *snapshot, ap_sbuf *out);
/* AP_IO, AP_BAD_DATA (damaged, or its hash does not fit). */
AP_CHECKED ap_status ap_snapshot_read(const char *path, ap_arena *arena, ap_diags *diags, ap_snapshot *ret);
bool ap_snapshot_is_file(const char *path); /* looks like one */

/* $XDG_DATA_HOME/accelpick/prices or ~/.local/share/accelpick/prices; NULL without a home. */
const char *ap_store_default_dir(ap_arena *arena);
/* Paths of the store's snapshots, oldest first; none when the folder does not exist. */
AP_CHECKED ap_status ap_store_list(const char *dir, ap_arena *arena, ap_diags *diags, ap_strings *ret_paths);
/* The newest snapshot that is not newer than `day` (NULL: the newest), skipping damaged ones with a warning.
 * *ret is NULL when there is none. */
AP_CHECKED ap_status ap_store_open(const char *dir, const char *day, ap_arena *arena, ap_diags *diags,
                                   const ap_snapshot **ret);
/* Writes a new snapshot under the store's lock and removes the oldest beyond ten. */
AP_CHECKED ap_status ap_store_add(const char *dir, ap_snapshot *snapshot, ap_arena *arena, ap_diags *diags);
/* Only one update at a time. Returns a descriptor to give back, or -1 with a diagnostic (AP_IO). */
int ap_store_lock(const char *dir, double patience_s, ap_diags *diags);
void ap_store_unlock(int lock);

/* ---- use --------------------------------------------------------------------------------------------------------- */

/* Lays the snapshot's usable offers over the catalog where they are newer (`always`: whatever their age); new machines
 * whose chip is known are added. */
void ap_prices_lay(ap_catalog *catalog, const ap_snapshot *snapshot, bool always);

/* ---- update ------------------------------------------------------------------------------------------------------ */

typedef struct ap_price_update {
    const ap_catalog *catalog;
    const ap_providers *providers;
    ap_strings sources; /* asked for; empty: the default set */
    ap_strings regions;
    const ap_snapshot *old;              /* or NULL */
    const char *now;                     /* YYYY-MM-DDTHH:MM:SSZ */
    const char *test_base_url, *ca_file; /* or NULL */
    bool accept_shrink;
    ap_arena *arena;
    ap_diags *diags;
    void (*progress)(void *context, size_t done, size_t total, const char *source); /* or NULL; called by any thread */
    void *context;
} ap_price_update;

/* Asks the sources. *ret_snapshot holds old and new together; *ret_failed how many sources failed. */
AP_CHECKED ap_status ap_prices_fetch(const ap_price_update *update, ap_snapshot *ret_snapshot, size_t *ret_failed);

#endif
