/* Hash tables over the catalog. One table per kind, keyed by the normal form of a spelling: strings that are equal, or
 * equal but for case, are equal in normal form too, so one probe sequence holds every candidate of any kind of look-up.
 */
#include "catalog/internal.h"

#include <string.h>

/* A spelling in normal form, one character at a time, so that nothing is allocated. */
typedef struct folded {
    const char *at;
    const char *pending;
} folded;

static bool is_separator(char c)
{
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '\0');
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static char fold_next(folded *f)
{
    if (f->pending && *f->pending)
        return *f->pending++;
    char c = *f->at;
    if (c == '\0')
        return c;
    f->at++;
    if (c == '+') {
        f->pending = "lus";
        return 'p';
    }
    if (!is_separator(c))
        return lower(c);
    while (is_separator(*f->at))
        f->at++;
    return '-';
}

bool ap_same_normal(const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    folded fa = {.at = a}, fb = {.at = b};
    for (;;) {
        char ca = fold_next(&fa);
        if (ca != fold_next(&fb))
            return false;
        if (ca == '\0')
            return true;
    }
}

bool ap_same_nocase(const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) == lower(*b);
}

void ap_normal_form(const char *text, char *buf, size_t size)
{
    folded f = {.at = text};
    size_t len = 0;
    for (char c; (c = fold_next(&f)) != '\0' && len + 1 < size;)
        buf[len++] = c;
    buf[len] = '\0';
}

/* FNV-1a, 32 bits: short keys, and no attacker gains from collisions in his own catalog. */
static uint32_t hash_char(uint32_t hash, char c)
{
    return (hash ^ (unsigned char)c) * 16777619U;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Characters that are their own normal form are hashed without going through fold_next(): every start of the program
 * hashes some thousand keys. */
static uint32_t hash_text(uint32_t hash, const char *text)
{
    folded f = {.at = text};
    for (;;) {
        if (!f.pending || !*f.pending)
            while (is_plain(*f.at))
                hash = hash_char(hash, *f.at++);
        char c = fold_next(&f);
        if (c == '\0')
            return hash;
        hash = hash_char(hash, c);
    }
}

static uint32_t hash_key(const char *scope, const char *key)
{
    uint32_t hash = 2166136261U;
    if (scope)
        hash = hash_char(hash_text(hash, scope), '\x1f');
    return hash_text(hash, key);
}

static void table_init(ap_table *table, size_t entries, ap_arena *arena)
{
    size_t slots = 16;
    while (slots < entries * 2)
        slots *= 2;
    table->entries = AP_NEW_ARRAY(arena, ap_entry, slots);
    table->mask = slots - 1;
}

static void table_add(ap_table *table, const char *scope, const char *key, size_t item, uint8_t rank)
{
    if (!key)
        return;
    uint32_t hash = hash_key(scope, key);
    size_t slot = hash & table->mask;
    while (table->entries[slot].key)
        slot = (slot + 1) & table->mask;
    table->entries[slot] = (ap_entry){scope, key, hash, (uint32_t)item, rank};
}

static const ap_strings *aliases_of(int kind, const void *record)
{
    size_t member = ap_accesses[kind].aliases;
    return member == AP_NO_MEMBER ? NULL : (const void *)((const char *)record + member);
}

static size_t count_entries(const ap_catalog *catalog, int kind)
{
    const ap_any_list *list = ap_access_list_const(catalog, kind);
    size_t count = list->count * (kind == AP_KIND_RECIPES ? 3 : 1);
    if (ap_accesses[kind].label != AP_NO_MEMBER)
        count += list->count;
    size_t size = ap_access_object(kind)->size;
    if (ap_accesses[kind].aliases != AP_NO_MEMBER)
        for (size_t i = 0; i < list->count; i++)
            count += aliases_of(kind, (const char *)list->items + i * size)->count;
    return count;
}

static void add_record(ap_table *table, int kind, const void *record, size_t item)
{
    const ap_access *access = &ap_accesses[kind];
    const char *scope = kind == AP_KIND_NAMES ? NULL : ap_access_text(record, access->scope);
    table_add(table, scope, ap_access_text(record, access->key), item, 0);
    table_add(table, NULL, ap_access_text(record, access->label), item, 1);
    const ap_strings *aliases = aliases_of(kind, record);
    for (size_t i = 0; aliases && i < aliases->count; i++)
        table_add(table, NULL, aliases->items[i], item, 1);
    if (kind == AP_KIND_RECIPES) {
        const ap_recipe *recipe = record;
        if (recipe->model) {
            table_add(table, recipe->model, recipe->dataset, item, 2);
            table_add(table, recipe->model, "", item, 3);
        }
    }
}

void ap_catalog_build_index(ap_catalog *catalog)
{
    catalog->index = AP_NEW(catalog->arena, struct ap_catalog_index);
    for (int kind = 0; kind < AP_KIND_COUNT; kind++) {
        ap_table *table = &catalog->index->tables[kind];
        const ap_any_list *list = ap_access_list_const(catalog, kind);
        size_t size = ap_access_object(kind)->size;
        table_init(table, count_entries(catalog, kind), catalog->arena);
        for (size_t i = 0; i < list->count; i++)
            add_record(table, kind, (const char *)list->items + i * size, i);
    }
}

ap_cursor ap_cursor_at(const ap_catalog *catalog, int kind, const char *scope, const char *key)
{
    const ap_table *table = &catalog->index->tables[kind];
    uint32_t hash = hash_key(scope, key);
    return (ap_cursor){.table = table, .scope = scope, .key = key, .hash = hash, .slot = hash & table->mask};
}

bool ap_cursor_next(ap_cursor *cursor)
{
    for (;;) {
        const ap_entry *entry = &cursor->table->entries[cursor->slot];
        if (!entry->key)
            return false;
        cursor->slot = (cursor->slot + 1) & cursor->table->mask;
        if (entry->hash == cursor->hash && ap_same_normal(entry->scope, cursor->scope) &&
            ap_same_normal(entry->key, cursor->key)) {
            cursor->entry = entry;
            return true;
        }
    }
}
