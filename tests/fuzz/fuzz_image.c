/* A good image with the input's changes applied (pairs of position and byte, or a cut): the reader may refuse it, but
 * what it accepts must be readable to the last text. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

typedef struct part {
    const char *name;
    double value;
    ap_strings tags;
} part;

typedef struct record {
    const char *id;
    int word;
    signed char flag;
    ap_numbers numbers;
    ap_text_map map;
    AP_LIST(part) parts;
    ap_pos pos;
} record;

static const char *const words[] = {"one", "two", NULL};
static const ap_field part_fields[] = {
    {.key = "name", .type = AP_T_TEXT, .offset = offsetof(part, name)},
    {.key = "value", .type = AP_T_NUM, .offset = offsetof(part, value)},
    {.key = "tags", .type = AP_T_TEXTS, .offset = offsetof(part, tags)},
};
static const ap_object part_object = {.name = "part", .size = sizeof(part), .fields = part_fields, .field_count = 3};
static const ap_field record_fields[] = {
    {.key = "id", .type = AP_T_ID, .offset = offsetof(record, id)},
    {.key = "word", .type = AP_T_ENUM, .offset = offsetof(record, word), .names = words},
    {.key = "flag", .type = AP_T_BOOL, .offset = offsetof(record, flag)},
    {.key = "numbers", .type = AP_T_NUMS, .offset = offsetof(record, numbers)},
    {.key = "map", .type = AP_T_TEXT_MAP, .offset = offsetof(record, map)},
    {.key = "parts", .type = AP_T_OBJECTS, .offset = offsetof(record, parts), .object = &part_object},
    {.type = AP_T_POS, .offset = offsetof(record, pos)},
};
static const ap_object record_object = {
    .name = "record", .size = sizeof(record), .fields = record_fields, .field_count = 7};

static void make_image(ap_arena *arena, ap_sbuf *image)
{
    static const char *tags[] = {"red", "green"};
    static double numbers[] = {1, 2, 3};
    static ap_text_pair pairs[] = {{"key", "value"}, {"other", NULL}};
    static part parts[] = {{"wheel", 1, {tags, 2}}, {"axle", 2, {NULL, 0}}, {NULL, 3, {tags, 1}}};
    static const record records[] = {
        {"first", 1, 1, {numbers, 3}, {pairs, 2}, {parts, 3}, {"a.yaml", 1, 1}},
        {"second", -1, -1, {NULL, 0}, {NULL, 0}, {NULL, 0}, {"a.yaml", 9, 1}},
        {"third", 0, 0, {numbers, 1}, {pairs, 1}, {parts, 2}, {NULL, 0, 0}},
    };
    ap_sbuf_init(image, arena);
    ap_image_write(&record_object, records, 3, image);
}

static size_t text_length(const char *text)
{
    return text ? strlen(text) : 0;
}

static size_t read_everything(const record *records, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const record *r = &records[i];
        sum += text_length(r->id) + text_length(r->pos.file) + (r->word >= 0 ? strlen(words[r->word]) : 0);
        for (size_t n = 0; n < r->numbers.count; n++)
            sum += r->numbers.items[n] > 0;
        for (size_t m = 0; m < r->map.count; m++)
            sum += text_length(r->map.items[m].key) + text_length(r->map.items[m].value);
        for (size_t p = 0; p < r->parts.count; p++) {
            sum += text_length(r->parts.items[p].name);
            for (size_t t = 0; t < r->parts.items[p].tags.count; t++)
                sum += text_length(r->parts.items[p].tags.items[t]);
        }
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_sbuf image;
    make_image(arena, &image);
    size_t len = image.len;
    for (size_t i = 0; i + 3 <= size; i += 3) {
        size_t at = ((size_t)data[i] << 8 | data[i + 1]) % image.len;
        if (data[i] == 0xFF)
            len = at;
        else
            image.text[at] = (char)data[i + 2];
    }
    unsigned char *exact = malloc(len ? len : 1);
    memcpy(exact, image.text, len);
    const unsigned char *cursor = exact;
    void *items = NULL;
    size_t count = 0;
    bool good = ap_image_read(&record_object, &cursor, exact + len, arena, &items, &count) == AP_OK;
    if (good && read_everything(items, count) > 1000000)
        abort();
    free(exact);
    return 0;
}
