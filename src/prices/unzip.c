#include "prices/unzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define END_BYTES     22
#define CENTRAL_BYTES 46
#define LOCAL_BYTES   30
#define RATIO_MAX     100

typedef struct entry {
    unsigned flags, method;
    uint32_t crc;
    size_t packed, size, name_len, local;
    const unsigned char *name;
} entry;

static unsigned get16(const unsigned char *at)
{
    return (unsigned)at[0] | (unsigned)at[1] << 8;
}

static uint32_t get32(const unsigned char *at)
{
    return (uint32_t)get16(at) | (uint32_t)get16(at + 2) << 16;
}

static bool fail(const char **ret_error, const char *error)
{
    *ret_error = error;
    return false;
}

/* The end record stands at the very end, before a comment of at most 64 KiB. */
static const unsigned char *find_end(const unsigned char *zip, size_t len)
{
    for (size_t back = END_BYTES; back <= len && back <= END_BYTES + 65535; back++)
        if (memcmp(zip + len - back, "PK\5\6", 4) == 0)
            return zip + len - back;
    return NULL;
}

static bool read_entry(const unsigned char *zip, size_t len, entry *e, const char **ret_error)
{
    const unsigned char *end = find_end(zip, len);
    if (!end)
        return fail(ret_error, "not a zip archive, or cut off");
    if (get16(end + 8) != 1 || get16(end + 10) != 1)
        return fail(ret_error, "the zip archive does not hold exactly one file");
    size_t central = get32(end + 16);
    if (central > len || len - central < CENTRAL_BYTES || memcmp(zip + central, "PK\1\2", 4) != 0)
        return fail(ret_error, "the zip archive is damaged");
    const unsigned char *c = zip + central;
    *e = (entry){.flags = get16(c + 8),
                 .method = get16(c + 10),
                 .crc = get32(c + 16),
                 .packed = get32(c + 20),
                 .size = get32(c + 24),
                 .name_len = get16(c + 28),
                 .local = get32(c + 42),
                 .name = c + CENTRAL_BYTES};
    if (e->name_len > len - central - CENTRAL_BYTES)
        return fail(ret_error, "the zip archive is damaged");
    return true;
}

static bool acceptable(const entry *e, size_t max_bytes, const char **ret_error)
{
    if (memchr(e->name, '/', e->name_len) || memchr(e->name, '\\', e->name_len) ||
        (e->name_len >= 2 && memcmp(e->name, "..", 2) == 0))
        return fail(ret_error, "the file in the zip archive has a path for a name");
    if (e->flags & 1)
        return fail(ret_error, "the zip archive is encrypted");
    if (e->size > max_bytes || e->size / RATIO_MAX > e->packed)
        return fail(ret_error, "the file in the zip archive is too large");
    if (e->method != 0 && e->method != 8)
        return fail(ret_error, "the zip archive is packed in an unknown way");
    return true;
}

static bool inflate_entry(const unsigned char *packed, const entry *e, char *out)
{
    z_stream z = {0};
    if (inflateInit2(&z, -15) != Z_OK)
        return false;
    unsigned char *in = malloc(e->packed + 1); /* zlib's interface is not const */
    if (!in) {
        inflateEnd(&z);
        return false;
    }
    memcpy(in, packed, e->packed);
    z.next_in = in;
    z.avail_in = (uInt)e->packed;
    z.next_out = (unsigned char *)out;
    z.avail_out = (uInt)e->size;
    int code = inflate(&z, Z_FINISH);
    bool whole = code == Z_STREAM_END && z.total_out == e->size;
    inflateEnd(&z);
    free(in);
    return whole;
}

bool ap_unzip_one(const unsigned char *zip, size_t len, size_t max_bytes, char **ret_bytes, size_t *ret_len,
                  const char **ret_error)
{
    entry e;
    *ret_bytes = NULL;
    if (!read_entry(zip, len, &e, ret_error) || !acceptable(&e, max_bytes, ret_error))
        return false;
    if (e.local > len || len - e.local < LOCAL_BYTES || memcmp(zip + e.local, "PK\3\4", 4) != 0)
        return fail(ret_error, "the zip archive is damaged");
    size_t data = e.local + LOCAL_BYTES + get16(zip + e.local + 26) + get16(zip + e.local + 28);
    if (data > len || len - data < e.packed || (e.method == 0 && e.packed != e.size))
        return fail(ret_error, "the zip archive is cut off");
    char *out = malloc(e.size + 1);
    if (!out)
        return fail(ret_error, "no memory for the zip archive");
    if (e.method == 0)
        memcpy(out, zip + data, e.size);
    bool good = e.method == 0 || inflate_entry(zip + data, &e, out);
    if (!good || crc32(crc32(0, NULL, 0), (const unsigned char *)out, (uInt)e.size) != e.crc) {
        free(out);
        return fail(ret_error, "the zip archive is damaged");
    }
    out[e.size] = '\0';
    *ret_bytes = out;
    *ret_len = e.size;
    return true;
}
