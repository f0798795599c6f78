/* CSV answers, read as they arrive; zipped ones; and machines whose price comes in parts. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "prices/fetch.h"
#include "prices/stream_csv.h"
#include "prices/unzip.h"

#define ROWS_PER_SCRATCH 512

typedef struct component { /* price of the chips of a machine, told apart from the machine */
    const char *region, *zone, *chip;
    double count, on_demand, spot;
} component;

typedef struct csv_reader {
    ap_fetch *fetch;
    const char *part;
    ap_csv_stream *stream;
    const char **columns;
    size_t column_count;
    ap_arena *scratch; /* renewed now and then: memory does not grow with the answer */
    size_t in_scratch, mark, odd_rows, rows;
    double rows_in_before;
    component *components;
    size_t component_count, component_capacity;
    bool in_parts;
} csv_reader;

static bool take_header(csv_reader *r, const char *const *cells, size_t count)
{
    const char *starts = r->fetch->provider->header_starts;
    if (starts && !ap_starts_with(cells[0], starts))
        return true;
    r->columns = AP_NEW_ARRAY(r->fetch->arena, const char *, count);
    for (size_t i = 0; i < count; i++)
        r->columns[i] = ap_arena_strdup(r->fetch->arena, cells[i]);
    r->column_count = count;
    return true;
}

static bool utf8_cells(const char *const *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!ap_utf8_valid(cells[i], strlen(cells[i]), NULL))
            return false;
    return true;
}

static void take_component(csv_reader *r, const ap_record *record)
{
    const ap_price_fields *f = &r->fetch->provider->fields;
    ap_arena *arena = r->fetch->arena;
    component *c = AP_PUSH(arena, r->components, r->component_count, r->component_capacity);
    c->region = ap_arena_strdup(arena, ap_record_text(record, f->region));
    c->chip = ap_arena_strdup(arena, ap_record_text(record, f->chip));
    c->count = ap_record_number(record, f->count);
    c->on_demand = ap_record_number(record, r->fetch->provider->prices.items[0].value);
    c->spot = r->fetch->provider->prices.count > 1 ? ap_record_number(record, r->fetch->provider->prices.items[1].value)
                                                   : AP_UNKNOWN;
}

static bool on_record(void *context, const char *const *cells, size_t count)
{
    csv_reader *r = context;
    if (!r->columns)
        return take_header(r, cells, count);
    r->rows++;
    if (count != r->column_count || !utf8_cells(cells, count)) {
        r->odd_rows++;
        return true;
    }
    if (r->in_scratch++ % ROWS_PER_SCRATCH == 0) {
        ap_arena_free(r->scratch);
        r->scratch = ap_arena_new();
    }
    ap_record record = {
        .columns = r->columns, .cells = cells, .cell_count = count, .part = r->part, .arena = r->scratch};
    if (r->in_parts && !ap_record_text(&record, r->fetch->provider->part_when_empty))
        take_component(r, &record);
    else
        ap_row_take(&r->fetch->rows, &record);
    return true;
}

static void restart_csv(void *context)
{
    csv_reader *r = context;
    r->fetch->rows.offers.count = r->mark;
    r->fetch->rows.rows_in = r->rows_in_before;
    r->columns = NULL;
    r->component_count = r->odd_rows = r->rows = 0;
    ap_csv_stream_init(r->stream, on_record, r);
}

static bool on_bytes(void *context, const char *bytes, size_t len)
{
    return ap_csv_stream_feed(((csv_reader *)context)->stream, bytes, len);
}

/* ---- machines in parts ------------------------------------------------------------------------------------------- */

static const component *find_component(const csv_reader *r, const ap_offer *o)
{
    for (size_t i = 0; i < r->component_count; i++) {
        const component *c = &r->components[i];
        if (ap_streq(c->region, o->region) && ap_streq(c->chip, o->raw_chip) && fabs(c->count - o->count) < 1e-6)
            return c;
    }
    return NULL;
}

/* A machine without the price of its chips would look cheap: it is refused, not sold short. */
static void add_components(csv_reader *r)
{
    ap_offers *offers = &r->fetch->rows.offers;
    for (size_t i = r->mark; i < offers->count && r->in_parts; i++) {
        ap_offer *o = &offers->items[i];
        if (!o->raw_chip)
            continue;
        const component *c = find_component(r, o);
        double part = !c ? AP_UNKNOWN : o->kind == AP_PRICE_SPOT ? c->spot : c->on_demand;
        o->scope = "parts";
        o->native += part;
        if (!ap_known(part))
            o->flag = "a part has no price";
    }
}

/* ---- an answer --------------------------------------------------------------------------------------------------- */

static bool has_column(const csv_reader *r, const char *where)
{
    const char *name = where && *where == '/' ? where + 1 : NULL;
    for (size_t i = 0; name && i < r->column_count; i++)
        if (strcmp(r->columns[i], name) == 0)
            return true;
    return !name;
}

static bool check_csv(csv_reader *r, bool framed)
{
    const ap_provider *p = r->fetch->provider;
    if (!ap_csv_stream_end(r->stream))
        return ap_fetch_fail(r->fetch, "the table is cut off or damaged: %s",
                             r->stream->error ? r->stream->error : "it ends early");
    if (!r->columns)
        return ap_fetch_fail(r->fetch, "the answer is no table");
    if (!framed && !r->stream->ended_by_newline)
        return ap_fetch_fail(r->fetch, "the table is cut off");
    if (!has_column(r, p->fields.instance) || !has_column(r, p->prices.items[0].value))
        return ap_fetch_fail(r->fetch, "the table has changed its shape: columns %s and %s are needed",
                             p->fields.instance + 1, p->prices.items[0].value + 1);
    if (r->odd_rows * 2 > r->rows)
        return ap_fetch_fail(r->fetch, "most lines do not fit the table's header");
    return true;
}

static void open_reader(csv_reader *r, ap_fetch *fetch, const char *part)
{
    *r = (csv_reader){
        .fetch = fetch, .part = part, .stream = AP_NEW(fetch->arena, ap_csv_stream), .mark = fetch->rows.offers.count};
    r->rows_in_before = fetch->rows.rows_in;
    const ap_provider *p = fetch->provider;
    for (size_t i = 0; p->part_when_empty && i < p->part_clouds.count; i++)
        r->in_parts = r->in_parts || ap_streq(p->part_clouds.items[i], part);
    restart_csv(r);
}

static bool close_reader(csv_reader *r, bool good)
{
    if (good)
        add_components(r);
    ap_arena_free(r->scratch);
    return good;
}

bool ap_adapt_csv(ap_fetch *fetch, const ap_price_request *request, const char *part)
{
    csv_reader r;
    ap_http_answer answer = {0};
    open_reader(&r, fetch, part);
    const char *url = ap_fetch_fill(fetch, request->url, part);
    const ap_validator *validator = ap_fetch_validator(fetch, url, part);
    bool conditional = validator->etag || validator->last_modified;
    ap_ask ask = {.request = request,
                  .url = url,
                  .validator = conditional ? validator : NULL,
                  .sink = on_bytes,
                  .restart = restart_csv,
                  .context = &r};
    bool good = ap_fetch_ask(fetch, &ask, &answer);
    if (!good && r.stream->error)
        fetch->error = ap_arena_printf(fetch->arena, "the table is damaged: %s", r.stream->error);
    good = good && check_csv(&r, answer.framed);
    if (good)
        ap_fetch_note_validator(fetch, &answer, url, part);
    return close_reader(&r, good);
}

bool ap_adapt_zip(ap_fetch *fetch, const ap_price_request *request, const char *part)
{
    char *zip, *text;
    size_t zip_len, len;
    const char *why = NULL, *url = ap_fetch_fill(fetch, request->url, part);
    const ap_validator *validator = ap_fetch_validator(fetch, url, part);
    if (!ap_fetch_bytes(fetch, request, url, validator, &zip, &zip_len))
        return false;
    bool good = ap_unzip_one((const unsigned char *)zip, zip_len,
                             (size_t)ap_or(fetch->provider->limits.max_bytes, 64e6) * 4, &text, &len, &why);
    free(zip);
    if (!good)
        return ap_fetch_fail(fetch, "%s", why);
    csv_reader r;
    open_reader(&r, fetch, part);
    good = ap_csv_stream_feed(r.stream, text, len);
    free(text);
    if (!good)
        ap_fetch_fail(fetch, "the table is damaged: %s", r.stream->error);
    return close_reader(&r, good && check_csv(&r, true));
}
