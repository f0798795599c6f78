/* Set of texts that remembers the number each was added with: duplicate keys of a map, strings of an image.
 *
 * Small sets need no heap. The set keeps pointers to the keys, which must outlive it; ap_keyset_done releases it. */
#ifndef AP_BASE_KEYSET_H
#define AP_BASE_KEYSET_H

#include <stddef.h>
#include <stdint.h>

#define AP_KEYSET_INLINE 64

typedef struct ap_keyset_slot {
    const char *key; /* NULL = free */
    size_t number;
} ap_keyset_slot;

typedef struct ap_keyset {
    ap_keyset_slot inline_slots[AP_KEYSET_INLINE];
    ap_keyset_slot *slots;
    size_t slot_count; /* power of two */
    size_t used;
} ap_keyset;

#define AP_KEYSET_NEW SIZE_MAX

void ap_keyset_init(ap_keyset *set);
void ap_keyset_done(ap_keyset *set);
/* Adds key with its number and returns AP_KEYSET_NEW, or returns the number the key was first added with. */
size_t ap_keyset_add(ap_keyset *set, const char *key, size_t number);

uint64_t ap_hash_bytes(uint64_t seed, const void *bytes, size_t len); /* FNV-1a; start with AP_HASH_SEED */
#define AP_HASH_SEED UINT64_C(14695981039346656037)

#endif
