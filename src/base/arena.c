#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_POPULATE */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_BYTES       ((size_t)64 * 1024)
#define LARGE_CHUNK_BYTES ((size_t)1024 * 1024) /* of an arena that has outgrown SMALL_ARENA_BYTES */
#define SMALL_ARENA_BYTES ((size_t)512 * 1024)
#define MAPPED_FROM_BYTES ((size_t)128 * 1024)
#define ALIGNMENT   ((size_t)16)

typedef struct chunk {
    struct chunk *next;
    size_t used;
    size_t size;
    size_t mapped; /* bytes to unmap; 0: from the heap */
    _Alignas(16) unsigned char data[];
} chunk;

struct ap_arena {
    chunk *head;
    size_t used_bytes;
};

static _Noreturn void die_out_of_memory(void)
{
    fputs("accelpick: out of memory\n", stderr);
    _Exit(70);
}

static void *checked_calloc(size_t size)
{
    void *memory = calloc(1, size);
    if (!memory)
        die_out_of_memory();
    return memory;
}

/* Large chunks come with their pages: taking a page fault for every 4 KiB cost a third of a recommendation's time. */
static chunk *new_chunk(size_t payload)
{
    size_t size = sizeof(chunk) + payload;
#ifdef MAP_POPULATE
    if (size >= MAPPED_FROM_BYTES) {
        chunk *c = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (c == MAP_FAILED)
            die_out_of_memory();
        c->mapped = size;
        return c;
    }
#endif
    return checked_calloc(size);
}

ap_arena *ap_arena_new(void)
{
    return checked_calloc(sizeof(ap_arena));
}

void ap_arena_free(ap_arena *arena)
{
    if (!arena)
        return;
    for (chunk *c = arena->head, *next; c; c = next) {
        next = c->next;
        if (c->mapped)
            munmap(c, c->mapped);
        else
            free(c);
    }
    free(arena);
}

/* A large block gets a chunk of its own, put behind the head so that the head's free space stays in use. */
static chunk *add_chunk(ap_arena *arena, size_t size)
{
    size_t usual = arena->used_bytes < SMALL_ARENA_BYTES ? CHUNK_BYTES : LARGE_CHUNK_BYTES;
    size_t payload = size > usual / 4 ? size : usual;
    chunk *c = new_chunk(payload);
    c->size = payload;
    if (payload == size && arena->head) {
        c->next = arena->head->next;
        arena->head->next = c;
    } else {
        c->next = arena->head;
        arena->head = c;
    }
    return c;
}

void *ap_arena_alloc(ap_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        die_out_of_memory();
    size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    if (size == 0)
        size = ALIGNMENT;
    chunk *c = arena->head;
    if (!c || c->size - c->used < size)
        c = add_chunk(arena, size);
    void *memory = c->data + c->used;
    c->used += size;
    arena->used_bytes += size;
    return memory;
}

void *ap_arena_alloc_array(ap_arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        die_out_of_memory();
    return ap_arena_alloc(arena, total);
}

char *ap_arena_strndup(ap_arena *arena, const char *text, size_t len)
{
    char *copy = ap_arena_alloc(arena, len + 1);
    memcpy(copy, text, len);
    return copy;
}

char *ap_arena_strdup(ap_arena *arena, const char *text)
{
    return text ? ap_arena_strndup(arena, text, strlen(text)) : NULL;
}

char *ap_arena_printf(ap_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        return ap_arena_strdup(arena, "");
    char *text = ap_arena_alloc(arena, (size_t)len + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

void *ap_arena_grow(ap_arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t wanted = *capacity ? *capacity * 2 : 8;
    void *bigger = ap_arena_alloc_array(arena, wanted, size);
    if (count)
        memcpy(bigger, items, count * size);
    *capacity = wanted;
    return bigger;
}

size_t ap_arena_used_bytes(const ap_arena *arena)
{
    return arena->used_bytes;
}
