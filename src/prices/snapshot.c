/* A snapshot as one JSON file: what is known of each source, exchange rates, and the offers as rows of cells in the
 * order of `columns`. Written once, never changed; `sha256` is over the text of the rows. */
#include <string.h>

#include "base/num.h"
#include "io/file.h"
#include "io/json.h"
#include "prices/prices.h"
#include "prices/sha256.h"

#define SNAPSHOT_BYTES ((size_t)256 << 20)
#define SNAPSHOT_KIND  "price-snapshot"

const char *const ap_price_source_ids[] = {
    "skypilot", "gpuhunt", "azure", "oci",          "vultr",      "cloudrift", "vast",           "runpod", "aws",
    "gcp",      "lambda",  "verda", "digitalocean", "hyperstack", "shadeform", "primeintellect", "cudo",   "scaleway",
    "ovh",      "ecb",     NULL};

/* One row per text cell and per number cell of an offer; the order is the file's. */
typedef struct column {
    const char *name;
    size_t offset;
    bool number;
} column;
#define TEXT(member)                                                                                                   \
    {                                                                                                                  \
#member, offsetof(ap_offer, member), false                                                                     \
    }
#define NUMBER(member)                                                                                                 \
    {                                                                                                                  \
#member, offsetof(ap_offer, member), true                                                                      \
    }
static const column columns[] = {
    TEXT(source),   TEXT(cloud),   TEXT(instance),     TEXT(region),       TEXT(chip),        TEXT(raw_chip),
    NUMBER(count),  NUMBER(vcpus), NUMBER(host_bytes), NUMBER(chip_bytes), NUMBER(usd_per_h), NUMBER(native),
    TEXT(currency), TEXT(market),  TEXT(scope),        TEXT(as_of),        TEXT(flag),        TEXT(part)};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

const ap_source_state *ap_snapshot_source(const ap_snapshot *snapshot, const char *id)
{
    for (size_t i = 0; snapshot && i < snapshot->sources.count; i++)
        if (ap_streq(snapshot->sources.items[i].id, id))
            return &snapshot->sources.items[i];
    return NULL;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void put_text(ap_json_writer *w, const char *key, const char *text)
{
    ap_json_key(w, key);
    ap_json_string(w, text);
}

static void put_number(ap_json_writer *w, const char *key, double value)
{
    ap_json_key(w, key);
    ap_json_number(w, value);
}

static void write_source(ap_json_writer *w, const ap_source_state *s)
{
    ap_json_object_open(w);
    put_text(w, "id", s->id);
    put_text(w, "status", s->status);
    put_text(w, "error", s->error);
    put_text(w, "as_of", s->as_of);
    put_text(w, "fetched_at", s->fetched_at);
    put_text(w, "checked_at", s->checked_at);
    put_text(w, "url", s->url);
    put_text(w, "sha256", s->sha256);
    put_text(w, "definition", s->definition);
    put_number(w, "http_status", s->http_status);
    put_number(w, "bytes", s->bytes);
    put_number(w, "rows_in", s->rows_in);
    put_number(w, "rows_kept", s->rows_kept);
    put_number(w, "suspects", s->suspects);
    ap_json_key(w, "rejects");
    ap_json_object_open(w);
    for (size_t i = 0; i < s->rejects.count; i++)
        put_number(w, s->rejects.items[i].reason, s->rejects.items[i].count);
    ap_json_object_close(w);
    ap_json_key(w, "unknown_names");
    ap_json_array_open(w);
    for (size_t i = 0; i < s->unknown_names.count; i++)
        ap_json_string(w, s->unknown_names.items[i]);
    ap_json_array_close(w);
    ap_json_key(w, "validators");
    ap_json_array_open(w);
    for (size_t i = 0; i < s->validators.count; i++) {
        ap_json_object_open(w);
        put_text(w, "url", s->validators.items[i].url);
        put_text(w, "etag", s->validators.items[i].etag);
        put_text(w, "last_modified", s->validators.items[i].last_modified);
        put_text(w, "part", s->validators.items[i].part);
        ap_json_object_close(w);
    }
    ap_json_array_close(w);
    ap_json_object_close(w);
}

static void write_offer(ap_json_writer *w, const ap_offer *o)
{
    ap_json_array_open(w);
    ap_json_string(w, ap_price_kind_name(o->kind));
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const void *cell = (const char *)o + columns[i].offset;
        if (columns[i].number)
            ap_json_number(w, *(const double *)cell);
        else
            ap_json_string(w, *(const char *const *)cell);
    }
    ap_json_bool(w, o->derived == 1);
    ap_json_array_close(w);
}

static void write_rows(const ap_snapshot *snapshot, ap_sbuf *rows)
{
    for (size_t i = 0; i < snapshot->offers.count; i++) {
        ap_json_writer w;
        ap_sbuf_add(rows, i ? ",\n" : "\n");
        ap_json_begin(&w, rows, 0);
        write_offer(&w, &snapshot->offers.items[i]);
    }
}

static void hash_text(const char *text, size_t len, char hex[65])
{
    ap_sha256 sha;
    ap_sha256_init(&sha);
    ap_sha256_add(&sha, text, len);
    ap_sha256_end(&sha, hex);
}

static void write_head(const ap_snapshot *snapshot, const char *hash, ap_json_writer *w)
{
    ap_json_object_open(w);
    put_number(w, "schema_version", 1);
    put_text(w, "kind", SNAPSHOT_KIND);
    put_text(w, "created_at", snapshot->created_at);
    put_text(w, "sha256", hash);
    ap_json_key(w, "sources");
    ap_json_array_open(w);
    for (size_t i = 0; i < snapshot->sources.count; i++)
        write_source(w, &snapshot->sources.items[i]);
    ap_json_array_close(w);
    ap_json_key(w, "rates");
    ap_json_array_open(w);
    for (size_t i = 0; i < snapshot->rates.count; i++) {
        const ap_rate *rate = &snapshot->rates.items[i];
        ap_json_object_open(w);
        put_text(w, "currency", rate->currency);
        put_number(w, "usd", rate->usd);
        put_text(w, "as_of", rate->as_of);
        put_text(w, "source", rate->source);
        ap_json_object_close(w);
    }
    ap_json_array_close(w);
    ap_json_key(w, "columns");
    ap_json_array_open(w);
    ap_json_string(w, "kind");
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        ap_json_string(w, columns[i].name);
    ap_json_string(w, "derived");
    ap_json_array_close(w);
    ap_json_object_close(w);
}

void ap_snapshot_write(const ap_snapshot *snapshot, ap_sbuf *out)
{
    ap_sbuf rows, head;
    ap_sbuf_init(&rows, out->arena);
    ap_sbuf_init(&head, out->arena);
    char hash[65];
    ap_json_writer w;
    write_rows(snapshot, &rows);
    hash_text(rows.text, rows.len, hash);
    ap_json_begin(&w, &head, 0);
    write_head(snapshot, hash, &w);
    ap_sbuf_add_len(out, head.text, head.len - 1); /* without the brace */
    ap_sbuf_add(out, ",\"rows\":[");
    ap_sbuf_add_len(out, rows.text, rows.len);
    ap_sbuf_add(out, "\n]}\n");
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct reading {
    ap_arena *arena;
    ap_snapshot *out;
} reading;

static const char *get_text(const reading *r, const cJSON *map, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(map, key);
    return cJSON_IsString(item) ? ap_arena_strdup(r->arena, item->valuestring) : NULL;
}

static double get_number(const cJSON *map, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(map, key);
    return cJSON_IsNumber(item) ? item->valuedouble : AP_UNKNOWN;
}

static void read_lists(const reading *r, const cJSON *map, ap_source_state *s)
{
    const cJSON *item;
    size_t rejects = 0, names = 0, validators = 0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(map, "rejects")) *
        AP_PUSH(r->arena, s->rejects.items, s->rejects.count, rejects) =
        (ap_reject){ap_arena_strdup(r->arena, item->string), item->valuedouble};
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(map, "unknown_names")) if (cJSON_IsString(item)) *
        AP_PUSH(r->arena, s->unknown_names.items, s->unknown_names.count, names) =
        ap_arena_strdup(r->arena, item->valuestring);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(map, "validators")) *
        AP_PUSH(r->arena, s->validators.items, s->validators.count, validators) =
        (ap_validator){get_text(r, item, "url"), get_text(r, item, "etag"), get_text(r, item, "last_modified"),
                       get_text(r, item, "part")};
}

static bool read_source(const reading *r, const cJSON *map, ap_source_state *s)
{
    *s = (ap_source_state){.id = get_text(r, map, "id"),
                           .status = get_text(r, map, "status"),
                           .error = get_text(r, map, "error"),
                           .as_of = get_text(r, map, "as_of"),
                           .fetched_at = get_text(r, map, "fetched_at"),
                           .checked_at = get_text(r, map, "checked_at"),
                           .url = get_text(r, map, "url"),
                           .sha256 = get_text(r, map, "sha256"),
                           .definition = get_text(r, map, "definition"),
                           .http_status = get_number(map, "http_status"),
                           .bytes = get_number(map, "bytes"),
                           .rows_in = get_number(map, "rows_in"),
                           .rows_kept = get_number(map, "rows_kept"),
                           .suspects = get_number(map, "suspects")};
    read_lists(r, map, s);
    return s->id && s->status;
}

static bool read_offer(const reading *r, const cJSON *row, ap_offer *o)
{
    const cJSON *cell = cJSON_IsArray(row) ? row->child : NULL;
    o->kind = cJSON_IsString(cell) ? ap_price_kind_parse(cell->valuestring) : -1;
    cell = cell ? cell->next : NULL;
    for (size_t i = 0; i < COLUMN_COUNT && cell; i++, cell = cell->next) {
        void *to = (char *)o + columns[i].offset;
        if (columns[i].number)
            *(double *)to = cJSON_IsNumber(cell) ? cell->valuedouble : AP_UNKNOWN;
        else
            *(const char **)to = cJSON_IsString(cell) ? ap_arena_strdup(r->arena, cell->valuestring) : NULL;
    }
    o->derived = cJSON_IsTrue(cell) ? 1 : 0;
    bool priced = !ap_known(o->usd_per_h) || (isfinite(o->usd_per_h) && o->usd_per_h > 0);
    return cell && o->kind >= 0 && o->source && o->cloud && o->instance && o->region && o->as_of && priced;
}

static bool same_columns(const cJSON *list)
{
    const cJSON *cell = cJSON_IsArray(list) && list->child ? list->child->next : NULL;
    for (size_t i = 0; i < COLUMN_COUNT; i++, cell = cell->next)
        if (!cJSON_IsString(cell) || strcmp(cell->valuestring, columns[i].name) != 0)
            return false;
    return cell != NULL;
}

static bool read_lists_of(const reading *r, const cJSON *root)
{
    const cJSON *sources = cJSON_GetObjectItemCaseSensitive(root, "sources"),
                *rows = cJSON_GetObjectItemCaseSensitive(root, "rows");
    const cJSON *rates = cJSON_GetObjectItemCaseSensitive(root, "rates"), *item;
    if (!cJSON_IsArray(sources) || !cJSON_IsArray(rows) ||
        !same_columns(cJSON_GetObjectItemCaseSensitive(root, "columns")))
        return false;
    ap_snapshot *s = r->out;
    s->sources.items = AP_NEW_ARRAY(r->arena, ap_source_state, (size_t)cJSON_GetArraySize(sources) + 1);
    s->rates.items = AP_NEW_ARRAY(r->arena, ap_rate, (size_t)cJSON_GetArraySize(rates) + 1);
    s->offers.items = AP_NEW_ARRAY(r->arena, ap_offer, (size_t)cJSON_GetArraySize(rows) + 1);
    cJSON_ArrayForEach(item, sources) if (!read_source(r, item, &s->sources.items[s->sources.count++])) return false;
    cJSON_ArrayForEach(item, rates) s->rates.items[s->rates.count++] =
        (ap_rate){get_text(r, item, "currency"), get_text(r, item, "as_of"), get_text(r, item, "source"),
                  get_number(item, "usd")};
    cJSON_ArrayForEach(item, rows) if (!read_offer(r, item, &s->offers.items[s->offers.count++])) return false;
    return true;
}

/* The hash covers the text between `"rows":[` and the closing bracket, as it was written. */
static bool hash_fits(const char *text, size_t len, const char *wanted)
{
    static const char mark[] = ",\"rows\":[";
    const char *rows = strstr(text, mark);
    char hex[65];
    if (!rows || !wanted || !ap_ends_with(text, "\n]}\n"))
        return false;
    rows += sizeof mark - 1;
    hash_text(rows, len - (size_t)(rows - text) - 4, hex);
    return strcmp(hex, wanted) == 0;
}

static ap_status damaged(const char *path, ap_diags *diags, const char *why)
{
    ap_diag_add(diags, AP_ERROR, 764, (ap_pos){.file = path}, "price snapshot: %s", why);
    return AP_BAD_DATA;
}

ap_status ap_snapshot_read(const char *path, ap_arena *arena, ap_diags *diags, ap_snapshot *ret)
{
    char *text;
    size_t len;
    AP_SCOPED_JSON *root = NULL;
    *ret = (ap_snapshot){.path = ap_arena_strdup(arena, path)};
    reading r = {.arena = arena, .out = ret};
    ap_status status = ap_file_read(path, SNAPSHOT_BYTES, arena, diags, &text, &len);
    if (status != AP_OK)
        return status == AP_IO ? AP_IO : AP_BAD_DATA;
    if (ap_json_parse(text, len, path, diags, &root) != AP_OK)
        return AP_BAD_DATA;
    if (!ap_streq(get_text(&r, root, "kind"), SNAPSHOT_KIND) || !(get_number(root, "schema_version") <= 1))
        return damaged(path, diags, "not a snapshot of this program");
    if (!hash_fits(text, len, get_text(&r, root, "sha256")))
        return damaged(path, diags, "damaged, its hash does not fit its rows");
    ret->created_at = get_text(&r, root, "created_at");
    if (!ret->created_at || !read_lists_of(&r, root))
        return damaged(path, diags, "damaged");
    const char *slash = strrchr(ret->path, '/');
    ret->name = slash ? slash + 1 : ret->path;
    return AP_OK;
}

bool ap_snapshot_is_file(const char *path)
{
    char head[64] = "";
    FILE *file = fopen(path, "r");
    size_t got = file ? fread(head, 1, sizeof head - 1, file) : 0;
    if (file)
        fclose(file);
    head[got] = '\0';
    return strstr(head, "\"" SNAPSHOT_KIND "\"") != NULL;
}
