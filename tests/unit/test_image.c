/* The compiled image: what is written is read back, and nothing else is accepted. */
#include "testing.h"

#include <stdlib.h>

#include "base/num.h"
#include "schema/schema.h"

typedef struct price {
    const char *region;
    double usd;
} price;

typedef struct machine {
    const char *id;
    double memory;
    int kind;
    signed char spot;
    ap_range chips;
    struct {
        const char *name;
        double speed;
    } link;
    ap_strings tags;
    ap_numbers sizes;
    ap_text_map notes;
    AP_LIST(price) prices;
    const ap_node *raw;
    ap_pos pos;
} machine;

typedef struct link_part {
    const char *name;
    double speed;
} link_part;

static const char *const kinds[] = {"cpu", "gpu", NULL};

static const ap_field price_fields[] = {
    {.key = "region", .type = AP_T_TEXT, .offset = offsetof(price, region)},
    {.key = "usd", .type = AP_T_NUM, .offset = offsetof(price, usd)},
};
static const ap_object price_object = {.name = "price", .size = sizeof(price), FIELDS(price_fields)};
static const ap_field link_fields[] = {
    {.key = "name", .type = AP_T_TEXT, .offset = offsetof(link_part, name)},
    {.key = "speed", .type = AP_T_NUM, .offset = offsetof(link_part, speed)},
};
static const ap_object link_object = {.name = "link", .size = sizeof(link_part), FIELDS(link_fields)};
static const ap_field machine_fields[] = {
    {.key = "id", .type = AP_T_ID, .offset = offsetof(machine, id)},
    {.key = "memory", .type = AP_T_NUM, .offset = offsetof(machine, memory)},
    {.key = "kind", .type = AP_T_ENUM, .offset = offsetof(machine, kind), .names = kinds},
    {.key = "spot", .type = AP_T_BOOL, .offset = offsetof(machine, spot)},
    {.key = "chips", .type = AP_T_RANGE, .offset = offsetof(machine, chips)},
    {.key = "link", .type = AP_T_OBJECT, .offset = offsetof(machine, link), .object = &link_object},
    {.key = "tags", .type = AP_T_TEXTS, .offset = offsetof(machine, tags)},
    {.key = "sizes", .type = AP_T_NUMS, .offset = offsetof(machine, sizes)},
    {.key = "notes", .type = AP_T_TEXT_MAP, .offset = offsetof(machine, notes)},
    {.key = "prices", .type = AP_T_OBJECTS, .offset = offsetof(machine, prices), .object = &price_object},
    {.key = "raw", .type = AP_T_NODE, .offset = offsetof(machine, raw)},
    {.type = AP_T_POS, .offset = offsetof(machine, pos)},
};
static const ap_object machine_object = {.name = "machine", .size = sizeof(machine), FIELDS(machine_fields)};

static void fill(machine *m, ap_arena *arena, size_t number)
{
    ap_schema_clear(&machine_object, m);
    m->id = ap_arena_printf(arena, "machine-%zu", number);
    m->memory = 80e9 + (double)number;
    m->kind = number % 3 == 0 ? -1 : 1;
    m->spot = (signed char)(number % 2);
    m->chips = (ap_range){1, AP_UNKNOWN};
    m->link.name = "NVLink";
    m->link.speed = 9e11;
    m->tags.count = number % 4;
    m->tags.items = AP_NEW_ARRAY(arena, const char *, 4);
    for (size_t i = 0; i < m->tags.count; i++)
        m->tags.items[i] = "shared tag";
    m->sizes.count = 2;
    m->sizes.items = AP_NEW_ARRAY(arena, double, 2);
    m->sizes.items[0] = 0.1;
    m->sizes.items[1] = AP_UNKNOWN;
    m->notes.count = 1;
    m->notes.items = AP_NEW(arena, ap_text_pair);
    m->notes.items[0] = (ap_text_pair){"memory.size", "data sheet"};
    m->prices.count = 3;
    m->prices.items = AP_NEW_ARRAY(arena, price, 3);
    for (size_t i = 0; i < 3; i++) {
        m->prices.items[i].region = i == 1 ? NULL : "us-east-1";
        m->prices.items[i].usd = (double)i + 0.5;
    }
    m->pos = (ap_pos){"data/x.yaml", (int)number + 1, 5};
}

static void check(const machine *m, size_t number)
{
    char id[32];
    snprintf(id, sizeof id, "machine-%zu", number);
    assert_string_equal(m->id, id);
    assert_same(m->memory, 80e9 + (double)number);
    assert_int_equal(m->kind, number % 3 == 0 ? -1 : 1);
    assert_int_equal(m->spot, number % 2);
    assert_same(m->chips.low, 1);
    assert_same(m->chips.high, AP_UNKNOWN);
    assert_string_equal(m->link.name, "NVLink");
    assert_int_equal(m->tags.count, number % 4);
    for (size_t i = 0; i < m->tags.count; i++)
        assert_string_equal(m->tags.items[i], "shared tag");
    assert_same(m->sizes.items[0], 0.1);
    assert_same(m->sizes.items[1], AP_UNKNOWN);
    assert_string_equal(m->notes.items[0].key, "memory.size");
    assert_string_equal(m->notes.items[0].value, "data sheet");
    assert_int_equal(m->prices.count, 3);
    assert_string_equal(m->prices.items[2].region, "us-east-1");
    assert_null(m->prices.items[1].region);
    assert_same(m->prices.items[2].usd, 2.5);
    assert_null(m->raw);
    assert_string_equal(m->pos.file, "data/x.yaml");
    assert_int_equal(m->pos.line, (int)number + 1);
    assert_int_equal(m->pos.col, 5);
}

static ap_sbuf make_image(ap_arena *arena, size_t count)
{
    machine *machines = AP_NEW_ARRAY(arena, machine, count);
    for (size_t i = 0; i < count; i++)
        fill(&machines[i], arena, i);
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    ap_image_write(&machine_object, machines, count, &out);
    return out;
}

static ap_status read_image(const ap_object *object, const void *bytes, size_t len, ap_arena *arena, machine **ret,
                            size_t *ret_count)
{
    const unsigned char *cursor = bytes;
    void *items = NULL;
    ap_status status = ap_image_read(object, &cursor, (const unsigned char *)bytes + len, arena, &items, ret_count);
    *ret = items;
    return status;
}

static void test_round_trip(void **state)
{
    ap_arena *arena = *state;
    ap_sbuf image = make_image(arena, 50);
    machine *read;
    size_t count;
    assert_int_equal(read_image(&machine_object, image.text, image.len, arena, &read, &count), AP_OK);
    assert_int_equal(count, 50);
    for (size_t i = 0; i < count; i++)
        check(&read[i], i);
}

static void test_empty_array(void **state)
{
    ap_arena *arena = *state;
    ap_sbuf image = make_image(arena, 0);
    machine *read;
    size_t count = 99;
    assert_int_equal(read_image(&machine_object, image.text, image.len, arena, &read, &count), AP_OK);
    assert_int_equal(count, 0);
}

static void test_two_images_follow_each_other(void **state)
{
    ap_arena *arena = *state;
    ap_sbuf image = make_image(arena, 3);
    price one = {"eu-west-1", 7};
    ap_image_write(&price_object, &one, 1, &image);
    const unsigned char *cursor = (const unsigned char *)image.text, *end = cursor + image.len;
    void *items;
    size_t count;
    assert_int_equal(ap_image_read(&machine_object, &cursor, end, arena, &items, &count), AP_OK);
    assert_int_equal(ap_image_read(&price_object, &cursor, end, arena, &items, &count), AP_OK);
    assert_int_equal(count, 1);
    assert_string_equal(((price *)items)->region, "eu-west-1");
    assert_ptr_equal(cursor, end);
}

static void test_same_input_same_bytes(void **state)
{
    ap_sbuf first = make_image(*state, 20), second = make_image(*state, 20);
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.text, second.text, first.len);
}

static void test_texts_are_stored_once(void **state)
{
    ap_sbuf image = make_image(*state, 40);
    size_t found = 0;
    for (size_t i = 0; i + 10 < image.len; i++)
        found += memcmp(image.text + i, "shared tag", 10) == 0;
    assert_int_equal(found, 1);
}

static void test_every_truncation_is_refused(void **state)
{
    ap_arena *arena = *state;
    ap_sbuf image = make_image(arena, 4);
    for (size_t len = 0; len < image.len; len++) {
        char *exact = malloc(len ? len : 1); /* so that ASan sees any read past the end */
        memcpy(exact, image.text, len);
        machine *read;
        size_t count;
        assert_int_equal(read_image(&machine_object, exact, len, arena, &read, &count), AP_BUG);
        free(exact);
    }
}

static void test_image_of_another_table_is_refused(void **state)
{
    ap_sbuf image = make_image(*state, 4);
    machine *read;
    size_t count;
    assert_int_equal(read_image(&price_object, image.text, image.len, *state, &read, &count), AP_BUG);
}

/* Damage may go unseen in a number, but must neither crash the reader nor leave a pointer outside. */
static void test_damaged_bytes_never_crash(void **state)
{
    ap_arena *arena = *state;
    ap_sbuf image = make_image(arena, 4);
    for (size_t i = 0; i < image.len; i++) {
        for (unsigned flip = 1; flip < 256; flip *= 4) {
            char *damaged = malloc(image.len);
            memcpy(damaged, image.text, image.len);
            damaged[i] = (char)((unsigned char)damaged[i] ^ flip);
            machine *read;
            size_t count, letters = 0;
            if (read_image(&machine_object, damaged, image.len, arena, &read, &count) == AP_OK)
                for (size_t m = 0; m < count; m++)
                    letters += read[m].id ? strlen(read[m].id) : 0;
            assert_true(letters < 100000);
            free(damaged);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_round_trip),
        arena_test(test_empty_array),
        arena_test(test_two_images_follow_each_other),
        arena_test(test_same_input_same_bytes),
        arena_test(test_texts_are_stored_once),
        arena_test(test_every_truncation_is_refused),
        arena_test(test_image_of_another_table_is_refused),
        arena_test(test_damaged_bytes_never_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
