/* Any bytes as an answer of a price source: as a table in pieces and as a zip. Cutting at other places must not
 * change the table's cells. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyset.h"
#include "prices/stream_csv.h"
#include "prices/unzip.h"

typedef struct seen {
    uint64_t hash;
    size_t records;
} seen;

static bool note(void *context, const char *const *cells, size_t count)
{
    seen *s = context;
    for (size_t i = 0; i < count; i++)
        s->hash = ap_hash_bytes(s->hash, cells[i], strlen(cells[i]) + 1);
    s->records++;
    return true;
}

static bool split(const uint8_t *data, size_t size, size_t piece, ap_csv_stream *stream, seen *ret)
{
    *ret = (seen){.hash = AP_HASH_SEED};
    ap_csv_stream_init(stream, note, ret);
    for (size_t i = 0; i < size; i += piece)
        if (!ap_csv_stream_feed(stream, (const char *)data + i, size - i < piece ? size - i : piece))
            return false;
    return ap_csv_stream_end(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ap_csv_stream *stream = malloc(sizeof *stream);
    if (!stream)
        return 0;
    seen whole, pieces;
    bool good = split(data, size, size + 1, stream, &whole);
    if (split(data, size, 1 + size % 7, stream, &pieces) != good || whole.hash != pieces.hash || whole.records != pieces.records)
        abort();
    free(stream);
    char *text;
    size_t len;
    const char *error = NULL;
    if (ap_unzip_one(data, size, 1 << 20, &text, &len, &error)) {
        if (text[len] != '\0')
            abort();
        free(text);
    } else if (!error) {
        abort();
    }
    return 0;
}
