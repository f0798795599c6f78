/* Any bytes as YAML, read both ways and loaded with a field table that has every type. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "io/yaml.h"
#include "schema/schema.h"

typedef struct inner {
    double value;
    const char *name;
} inner;

typedef struct outer {
    const char *id, *text;
    double number, integer;
    signed char flag;
    int word;
    ap_range range;
    ap_strings texts;
    ap_numbers numbers;
    ap_text_map map;
    inner object;
    AP_LIST(inner) objects;
    const ap_node *node;
    ap_pos pos;
} outer;

static const char *const words[] = {"one", "two", NULL};
static const ap_field inner_fields[] = {
    {.key = "v", .type = AP_T_NUM, .offset = offsetof(inner, value), .dim = AP_DIM_SECONDS},
    {.key = "n", .type = AP_T_TEXT, .offset = offsetof(inner, name), .flags = AP_F_REQUIRED},
};
static const ap_object inner_object = {
    .name = "inner", .size = sizeof(inner), .fields = inner_fields, .field_count = 2};
static const ap_field outer_fields[] = {
    {.key = "id", .type = AP_T_ID, .offset = offsetof(outer, id)},
    {.key = "t", .type = AP_T_TEXT, .offset = offsetof(outer, text)},
    {.key = "x", .type = AP_T_NUM, .offset = offsetof(outer, number), .dim = AP_DIM_MEMORY, .min = 1, .max = 1e15},
    {.key = "i", .type = AP_T_INT, .offset = offsetof(outer, integer), .dim = AP_DIM_TOKENS},
    {.key = "b", .type = AP_T_BOOL, .offset = offsetof(outer, flag)},
    {.key = "w", .type = AP_T_ENUM, .offset = offsetof(outer, word), .names = words},
    {.key = "r", .type = AP_T_RANGE, .offset = offsetof(outer, range), .dim = AP_DIM_MEMORY},
    {.key = "l", .type = AP_T_TEXTS, .offset = offsetof(outer, texts)},
    {.key = "s", .type = AP_T_NUMS, .offset = offsetof(outer, numbers), .dim = AP_DIM_BYTES_PER_S},
    {.key = "m", .type = AP_T_TEXT_MAP, .offset = offsetof(outer, map)},
    {.key = "o", .type = AP_T_OBJECT, .offset = offsetof(outer, object), .object = &inner_object},
    {.key = "a", .type = AP_T_OBJECTS, .offset = offsetof(outer, objects), .object = &inner_object},
    {.key = "n", .type = AP_T_NODE, .offset = offsetof(outer, node)},
    {.type = AP_T_POS, .offset = offsetof(outer, pos)},
};
static const ap_object outer_object = {.name = "outer",
                                       .size = sizeof(outer),
                                       .fields = outer_fields,
                                       .field_count = sizeof outer_fields / sizeof *outer_fields};

static void format_findings(ap_diags *diags)
{
    ap_sbuf out;
    ap_sbuf_init(&out, diags->arena);
    for (size_t i = 0; i < diags->count; i++)
        ap_diag_format(&diags->items[i], &out);
}

/* What was loaded must survive the image. */
static void check_image(const outer *loaded, ap_arena *arena)
{
    ap_sbuf image;
    ap_sbuf_init(&image, arena);
    ap_image_write(&outer_object, loaded, 1, &image);
    const unsigned char *cursor = (const unsigned char *)image.text, *end = cursor + image.len;
    void *items;
    size_t count;
    if (ap_image_read(&outer_object, &cursor, end, arena, &items, &count) != AP_OK || count != 1 || cursor != end)
        abort();
}

static void read_as(const uint8_t *data, size_t size, ap_yaml_mode mode)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_docs docs;
    ap_diags_init(&diags, arena);
    ap_status status =
        ap_yaml_parse((const char *)data, size, "fuzz", mode, AP_YAML_WORKLOAD_BYTES, arena, &diags, &docs);
    if ((status == AP_OK) != (diags.errors == 0))
        abort();
    for (size_t i = 0; i < docs.count; i++) {
        outer loaded;
        if (ap_schema_load(&outer_object, docs.items[i], &loaded, arena, &diags) == AP_OK)
            check_image(&loaded, arena);
    }
    ap_diags_attach_source(&diags, "fuzz", (const char *)data, size);
    format_findings(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as(data, size, AP_YAML_STRICT);
    read_as(data, size, AP_YAML_FOREIGN);
    return 0;
}
