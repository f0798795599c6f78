#include "base/keyset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t ap_hash_bytes(uint64_t seed, const void *bytes, size_t len)
{
    const unsigned char *b = bytes;
    uint64_t hash = seed;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ b[i]) * UINT64_C(1099511628211);
    return hash;
}

void ap_keyset_init(ap_keyset *set)
{
    memset(set->inline_slots, 0, sizeof set->inline_slots);
    set->slots = set->inline_slots;
    set->slot_count = AP_KEYSET_INLINE;
    set->used = 0;
}

void ap_keyset_done(ap_keyset *set)
{
    if (set->slots != set->inline_slots)
        free(set->slots);
    set->slots = NULL;
}

static ap_keyset_slot *find_slot(const ap_keyset *set, const char *key)
{
    uint64_t hash = ap_hash_bytes(AP_HASH_SEED, key, strlen(key));
    size_t mask = set->slot_count - 1;
    size_t i = (size_t)(hash ^ hash >> 32) & mask;
    while (set->slots[i].key && strcmp(set->slots[i].key, key) != 0)
        i = (i + 1) & mask;
    return &set->slots[i];
}

static void grow(ap_keyset *set)
{
    ap_keyset bigger = {.slot_count = set->slot_count * 4};
    bigger.slots = calloc(bigger.slot_count, sizeof *bigger.slots);
    if (!bigger.slots) {
        fputs("accelpick: out of memory\n", stderr);
        _Exit(70);
    }
    for (size_t i = 0; i < set->slot_count; i++)
        if (set->slots[i].key)
            *find_slot(&bigger, set->slots[i].key) = set->slots[i];
    if (set->slots != set->inline_slots)
        free(set->slots);
    set->slots = bigger.slots;
    set->slot_count = bigger.slot_count;
}

size_t ap_keyset_add(ap_keyset *set, const char *key, size_t number)
{
    if (set->used * 2 >= set->slot_count)
        grow(set);
    ap_keyset_slot *slot = find_slot(set, key);
    if (slot->key)
        return slot->number;
    *slot = (ap_keyset_slot){key, number};
    set->used++;
    return AP_KEYSET_NEW;
}
