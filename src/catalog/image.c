#include "catalog/image.h"

#include <stdint.h>
#include <string.h>

/* A section: 16-byte aligned header, then its bytes, padded to 16 so that the next header and all payloads are aligned
 * for whatever they hold. Lengths are little-endian so that the container itself does not depend on the machine. */
#define ALIGNMENT    ((size_t)16)
#define HEADER_BYTES ((size_t)AP_SECTION_NAME_BYTES + 8)

static size_t padding_of(size_t len)
{
    return (ALIGNMENT - len % ALIGNMENT) % ALIGNMENT;
}

static void put_length(unsigned char *to, uint64_t len)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(len >> (8 * i));
}

static uint64_t get_length(const unsigned char *from)
{
    uint64_t len = 0;
    for (int i = 0; i < 8; i++)
        len |= (uint64_t)from[i] << (8 * i);
    return len;
}

void ap_image_add_bytes(ap_sbuf *file, const char *section, const void *bytes, size_t len)
{
    unsigned char header[HEADER_BYTES] = {0};
    size_t name_len = strlen(section);
    memcpy(header, section, name_len < AP_SECTION_NAME_BYTES ? name_len : AP_SECTION_NAME_BYTES - 1);
    put_length(header + AP_SECTION_NAME_BYTES, len);
    ap_sbuf_add_repeat(file, '\0', padding_of(file->len));
    ap_sbuf_add_len(file, (const char *)header, sizeof header);
    if (len)
        ap_sbuf_add_len(file, bytes, len);
    ap_sbuf_add_repeat(file, '\0', padding_of(file->len));
}

void ap_image_add_records(ap_sbuf *file, const char *section, const ap_object *object, const void *items, size_t count)
{
    ap_sbuf records;
    ap_sbuf_init(&records, file->arena);
    ap_image_write(object, items, count, &records);
    ap_image_add_bytes(file, section, records.text, records.len);
}

const unsigned char *ap_image_find(const unsigned char *file, size_t len, const char *section, size_t *ret_len)
{
    *ret_len = 0;
    size_t at = 0;
    while (file && len - at >= HEADER_BYTES) {
        const unsigned char *header = file + at;
        uint64_t size = get_length(header + AP_SECTION_NAME_BYTES);
        at += HEADER_BYTES;
        if (size > len - at)
            return NULL;
        if (strncmp((const char *)header, section, AP_SECTION_NAME_BYTES) == 0) {
            *ret_len = (size_t)size;
            return file + at;
        }
        size_t skip = (size_t)size + padding_of((size_t)size);
        if (skip > len - at)
            return NULL;
        at += skip;
    }
    return NULL;
}

ap_status ap_image_get_records(const unsigned char *file, size_t len, const char *section, const ap_object *object,
                               ap_arena *arena, ap_any_list *ret)
{
    *ret = (ap_any_list){0};
    size_t size;
    const unsigned char *cursor = ap_image_find(file, len, section, &size);
    if (!cursor)
        return AP_OK;
    return ap_image_read(object, &cursor, cursor + size, arena, &ret->items, &ret->count);
}
