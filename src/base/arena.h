/* Arena: all memory of one run or one loaded file, released together.
 *
 * Ownership: whoever calls ap_arena_new() frees it; everything allocated from it lives until then and is never freed
 * singly. Memory is zeroed. Out of memory ends the program with exit code 70 (there is nothing better to do). */
#ifndef AP_BASE_ARENA_H
#define AP_BASE_ARENA_H

#include <stddef.h>

typedef struct ap_arena ap_arena;

ap_arena *ap_arena_new(void);
void ap_arena_free(ap_arena *arena); /* NULL is fine */

/* Zeroed, aligned for any type. */
void *ap_arena_alloc(ap_arena *arena, size_t size);
/* count * size with overflow check (overflow ends the program like out of memory). */
void *ap_arena_alloc_array(ap_arena *arena, size_t count, size_t size);
char *ap_arena_strdup(ap_arena *arena, const char *text); /* NULL gives NULL */
char *ap_arena_strndup(ap_arena *arena, const char *text, size_t len);
char *ap_arena_printf(ap_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t ap_arena_used_bytes(const ap_arena *arena);

#define AP_NEW(arena, type)              ((type *)ap_arena_alloc((arena), sizeof(type)))
#define AP_NEW_ARRAY(arena, type, count) ((type *)ap_arena_alloc_array((arena), (count), sizeof(type)))

/* Doubles the capacity of a growing array that lives in an arena; the old block stays behind until the arena goes. */
void *ap_arena_grow(ap_arena *arena, void *items, size_t count, size_t *capacity, size_t size);
/* AP_PUSH(arena, items, count, capacity) makes room for and evaluates to a pointer to the new last element. */
#define AP_PUSH(arena, items, count, capacity)                                                                         \
    (((items) = ap_arena_grow((arena), (items), (count), &(capacity), sizeof *(items))), &(items)[(count)++])

static inline void ap_arena_cleanup(ap_arena **arena)
{
    ap_arena_free(*arena);
}
#define AP_SCOPED_ARENA __attribute__((cleanup(ap_arena_cleanup))) ap_arena

#endif
