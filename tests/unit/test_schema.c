/* Field tables: loading, messages, setting by path, generated documents. */
#include "testing_yaml.h"

#include "base/num.h"
#include "io/json.h"
#include "schema/schema.h"

typedef struct stop {
    const char *name;
    double hours;
} stop;

typedef struct cost {
    double usd;
    const char *basis;
} cost;

typedef struct trip {
    const char *id, *title, *colour, *mode_text;
    double memory, count, factor, length;
    int kind;
    signed char direct;
    ap_range chips;
    ap_strings tags, modes;
    ap_numbers sizes;
    ap_text_map sources;
    cost price;
    AP_LIST(stop) stops;
    const ap_node *model;
    ap_pos pos;
} trip;

static const char *const kinds[] = {"train", "plane", "ship", NULL};
static const char *const modes[] = {"fast", "slow", NULL};

static const ap_field stop_fields[] = {
    {.key = "name", .type = AP_T_TEXT, .offset = offsetof(stop, name), .flags = AP_F_REQUIRED, .doc = "The place."},
    {.key = "hours", .type = AP_T_NUM, .dim = AP_DIM_SECONDS, .offset = offsetof(stop, hours)},
};
static const ap_object stop_object = {.name = "stop", .size = sizeof(stop), FIELDS(stop_fields)};

static const ap_field cost_fields[] = {
    {.key = "usd", .type = AP_T_NUM, .dim = AP_DIM_USD, .offset = offsetof(cost, usd), .min = 0, .max = 1e6},
    {.key = "basis", .type = AP_T_TEXT, .offset = offsetof(cost, basis)},
};
static const ap_object cost_object = {.name = "price", .size = sizeof(cost), FIELDS(cost_fields)};

static void check_trip(const void *object, ap_pos pos, ap_diags *diags)
{
    const trip *t = object;
    if (t->kind == 2 && t->direct == 1)
        ap_diag_add(diags, AP_ERROR, 900, pos, "ships stop everywhere");
}

static const ap_field trip_fields[] = {
    {.key = "id", .type = AP_T_ID, .offset = offsetof(trip, id), .flags = AP_F_REQUIRED, .doc = "Unique name."},
    {.key = "title", .type = AP_T_TEXT, .offset = offsetof(trip, title), .doc = "Shown | to people."},
    {.key = "memory",
     .type = AP_T_NUM,
     .dim = AP_DIM_MEMORY,
     .offset = offsetof(trip, memory),
     .min = 1e9,
     .max = HUGE_VAL},
    {.key = "count",
     .type = AP_T_INT,
     .dim = AP_DIM_COUNT,
     .offset = offsetof(trip, count),
     .min = 1,
     .max = 1000,
     .flags = AP_F_AUTO},
    {.key = "factor", .type = AP_T_NUM, .offset = offsetof(trip, factor)},
    {.key = "length", .type = AP_T_INT, .offset = offsetof(trip, length)},
    {.key = "kind", .type = AP_T_ENUM, .offset = offsetof(trip, kind), .names = kinds},
    {.key = "mode", .type = AP_T_TEXT, .offset = offsetof(trip, mode_text), .names = modes},
    {.key = "direct", .type = AP_T_BOOL, .offset = offsetof(trip, direct)},
    {.key = "chips", .type = AP_T_RANGE, .dim = AP_DIM_COUNT, .offset = offsetof(trip, chips), .min = 1, .max = 64},
    {.key = "tags", .type = AP_T_TEXTS, .offset = offsetof(trip, tags)},
    {.key = "modes", .type = AP_T_TEXTS, .offset = offsetof(trip, modes), .names = modes},
    {.key = "sizes", .type = AP_T_NUMS, .dim = AP_DIM_BYTES, .offset = offsetof(trip, sizes)},
    {.key = "sources", .type = AP_T_TEXT_MAP, .offset = offsetof(trip, sources)},
    {.key = "price", .type = AP_T_OBJECT, .offset = offsetof(trip, price), .object = &cost_object},
    {.key = "stops", .type = AP_T_OBJECTS, .offset = offsetof(trip, stops), .object = &stop_object},
    {.key = "model", .type = AP_T_NODE, .offset = offsetof(trip, model)},
    {.key = "colour", .type = AP_T_TEXT, .offset = offsetof(trip, colour), .flags = AP_F_HIDDEN},
    {.type = AP_T_POS, .offset = offsetof(trip, pos)},
};
static const ap_object trip_object = {
    .name = "trip", .doc = "A journey.", .size = sizeof(trip), FIELDS(trip_fields), .check = check_trip};

static ap_status load(ap_arena *arena, const char *text, trip *t, parsed *p)
{
    parse(arena, text, AP_YAML_STRICT, p);
    return ap_schema_load(&trip_object, p->docs.items[0], t, arena, &p->diags);
}

static void expect_error(ap_arena *arena, const char *text, int code, int line, int col, const char *said)
{
    trip t;
    parsed p;
    assert_int_equal(load(arena, text, &t, &p), AP_BAD_INPUT);
    expect_finding(&p, code, line, col, said);
}

static void test_everything_given(void **state)
{
    trip t;
    parsed p;
    ap_status status = load(*state,
                            "id: north.1\ntitle: NO\nmemory: 80GB\ncount: 1K\nfactor: 2.5\nlength: 3\nkind: plane\n"
                            "mode: fast\ndirect: True\nchips: 1..8\ntags: [a, b]\nmodes: slow\nsizes: [1GB, 512MiB]\n"
                            "sources: {memory: page 3, count: 7}\nprice: {usd: $12.5, basis: list}\n"
                            "stops:\n  - name: x\n    hours: 2h30m\n  - {name: y}\nmodel: {free: form}\ncolour: red\n",
                            &t, &p);
    assert_int_equal(status, AP_OK);
    assert_string_equal(t.id, "north.1");
    assert_string_equal(t.title, "NO");
    assert_same(t.memory, 80e9);
    assert_same(t.count, 1000);
    assert_same(t.factor, 2.5);
    assert_same(t.length, 3);
    assert_int_equal(t.kind, 1);
    assert_string_equal(t.mode_text, "fast");
    assert_int_equal(t.direct, 1);
    assert_same(t.chips.low, 1);
    assert_same(t.chips.high, 8);
    assert_int_equal(t.tags.count, 2);
    assert_string_equal(t.tags.items[1], "b");
    assert_int_equal(t.modes.count, 1);
    assert_same(t.sizes.items[1], 536870912);
    assert_string_equal(t.sources.items[1].key, "count");
    assert_string_equal(t.sources.items[1].value, "7");
    assert_same(t.price.usd, 12.5);
    assert_int_equal(t.stops.count, 2);
    assert_same(t.stops.items[0].hours, 9000);
    assert_same(t.stops.items[1].hours, AP_UNKNOWN);
    assert_string_equal(ap_node_text(ap_node_get(t.model, "free")), "form");
    assert_string_equal(t.colour, "red");
    assert_int_equal(t.pos.line, 1);
}

static void test_absent_is_unknown_not_zero(void **state)
{
    trip t;
    parsed p;
    assert_int_equal(load(*state, "id: a\nmemory: ~\nkind:\ncount: auto\n", &t, &p), AP_OK);
    assert_null(t.title);
    assert_same(t.memory, AP_UNKNOWN);
    assert_same(t.count, AP_UNKNOWN);
    assert_int_equal(t.kind, -1);
    assert_int_equal(t.direct, -1);
    assert_same(t.chips.low, AP_UNKNOWN);
    assert_int_equal(t.tags.count, 0);
    assert_same(t.price.usd, AP_UNKNOWN);
    assert_null(t.model);
}

static void test_unknown_and_missing_keys(void **state)
{
    expect_error(*state, "id: a\nmemroy: 1GB\n", AP_CODE_UNKNOWN_KEY, 2, 1, "did you mean 'memory'?");
    expect_error(*state, "id: a\nprice: {eur: 3}\n", AP_CODE_UNKNOWN_KEY, 2, 9, "valid keys: usd, basis");
    expect_error(*state, "id: a\nprice: {usd:1}\n", AP_CODE_UNKNOWN_KEY, 2, 9, "missing space after ':'"); /* Y8 */
    expect_error(*state, "title: x\n", AP_CODE_MISSING_KEY, 1, 1, "missing key 'id'");
    expect_error(*state, "id: a\nstops: [{hours: 1h}]\n", AP_CODE_MISSING_KEY, 2, 9, "name: The place.");
    expect_error(*state, "id:\n", AP_CODE_NULL, 1, 4, "needs a value");
}

static void test_hidden_keys_are_not_suggested(void **state)
{
    trip t;
    parsed p;
    assert_int_equal(load(*state, "id: a\ncolor: x\n", &t, &p), AP_BAD_INPUT);
    const char *hint = testing_find(&p.diags, AP_CODE_UNKNOWN_KEY)->hint;
    assert_true(!hint || !strstr(hint, "colour"));
}

static void test_wrong_kinds(void **state)
{
    expect_error(*state, "id: [a]\n", AP_CODE_WRONG_KIND, 1, 5, "expected text, found a list");
    expect_error(*state, "id: a\nmemory: {x: 1}\n", AP_CODE_WRONG_KIND, 2, 9, "expected a size such as 80GB");
    expect_error(*state, "id: a\nprice: 5\n", AP_CODE_WRONG_KIND, 2, 8, "expected a mapping");
    expect_error(*state, "id: a\nstops: {name: x}\n", AP_CODE_WRONG_KIND, 2, 8, "expected a list of mappings");
    expect_error(*state, "id: a\nstops: [x]\n", AP_CODE_WRONG_KIND, 2, 9, "expected a mapping");
    expect_error(*state, "id: a\ntags: {x: 1}\n", AP_CODE_WRONG_KIND, 2, 7, "expected a list");
    expect_error(*state, "id: a\ntags: [x, ]\nsizes: [1GB, ~]\n", AP_CODE_NULL, 3, 14, "empty value");
    expect_error(*state, "id: a\nfactor: '2'\n", AP_CODE_WRONG_KIND, 2, 9, "remove the quotes");
    expect_error(*state, "id:a\n", AP_CODE_WRONG_KIND, 1, 1, "missing space after ':'");
    expect_error(*state, "- id\n", AP_CODE_WRONG_KIND, 1, 1, "expected a mapping, found a list");
}

/* Y7: spellings that YAML 1.1 would have turned into other numbers. */
static void test_numbers(void **state)
{
    expect_error(*state, "id: a\nfactor: 1_000\n", AP_CODE_BAD_NUMBER, 2, 9, "'1_000' is not a number");
    expect_error(*state, "id: a\nfactor: 12:30:45\n", AP_CODE_BAD_NUMBER, 2, 9, "is not a number");
    expect_error(*state, "id: a\nfactor: 0x10\n", AP_CODE_BAD_NUMBER, 2, 9, "is not a number");
    expect_error(*state, "id: a\nfactor: .inf\n", AP_CODE_BAD_NUMBER, 2, 9, "is not a number");
    expect_error(*state, "id: a\nfactor: nan\n", AP_CODE_BAD_NUMBER, 2, 9, "is not a number");
    expect_error(*state, "id: a\nmemory: 80\n", AP_CODE_BAD_NUMBER, 2, 9, "has no unit");
    expect_error(*state, "id: a\nlength: 1.5\n", AP_CODE_BAD_NUMBER, 2, 9, "whole number");
    expect_error(*state, "id: a\nlength: 9007199254740994\n", AP_CODE_BAD_NUMBER, 2, 9, "below 2^53"); /* C3 */
    expect_error(*state, "id: a\nmemory: 1MB\n", AP_CODE_OUT_OF_RANGE, 2, 9, "1MB is out of range");
    expect_error(*state, "id: a\ncount: 0\n", AP_CODE_OUT_OF_RANGE, 2, 8, "expected 1 to 1 K");
    expect_error(*state, "id: a\nchips: 1..100\n", AP_CODE_OUT_OF_RANGE, 2, 8, "out of range");
    expect_error(*state, "id: a\nchips: 8..1\n", AP_CODE_BAD_NUMBER, 2, 8, "above the upper bound");
    trip t;
    parsed p;
    assert_int_equal(load(*state, "id: a\nfactor: 0123\nmemory: \"80GB\"\n", &t, &p), AP_OK);
    assert_same(t.factor, 123);
    assert_same(t.memory, 80e9);
}

static void test_words(void **state)
{
    expect_error(*state, "id: a\ndirect: yes\n", AP_CODE_UNKNOWN_WORD, 2, 9, "write true");
    expect_error(*state, "id: a\ndirect: Off\n", AP_CODE_UNKNOWN_WORD, 2, 9, "write false");
    expect_error(*state, "id: a\ndirect: flase\n", AP_CODE_UNKNOWN_WORD, 2, 9, "expected true or false");
    expect_error(*state, "id: a\ndirect: 'true'\n", AP_CODE_UNKNOWN_WORD, 2, 9, "remove the quotes");
    expect_error(*state, "id: a\nkind: plain\n", AP_CODE_UNKNOWN_WORD, 2, 7, "expected train, plane or ship");
    expect_error(*state, "id: a\nkind: plnae\n", AP_CODE_UNKNOWN_WORD, 2, 7, "did you mean 'plane'?");
    expect_error(*state, "id: a\nmode: fats\n", AP_CODE_UNKNOWN_WORD, 2, 7, "did you mean 'fast'?");
    expect_error(*state, "id: a\nmodes: [fast, sluw]\n", AP_CODE_UNKNOWN_WORD, 2, 15, "did you mean 'slow'?");
    expect_error(*state, "id: North\n", AP_CODE_BAD_ID, 1, 5, "lower-case");
    expect_error(*state, "id: ''\n", AP_CODE_BAD_ID, 1, 5, "is not an id");
}

static void test_all_findings_at_once(void **state)
{
    trip t;
    parsed p;
    assert_int_equal(
        load(*state, "id: A\nmemory: 80\nkind: x\ndirect: no\nstops: [{}, {name: a, x: 1}]\nzzz: 1\n", &t, &p),
        AP_BAD_INPUT);
    assert_int_equal(p.diags.errors, 7);
}

static void test_check_runs_after_a_clean_load_only(void **state)
{
    expect_error(*state, "id: a\nkind: ship\ndirect: true\n", 900, 1, 1, "ships stop everywhere");
    trip t;
    parsed p;
    assert_int_equal(load(*state, "id: A\nkind: ship\ndirect: true\n", &t, &p), AP_BAD_INPUT);
    assert_null(testing_find(&p.diags, 900));
}

static void test_find(void **state)
{
    (void)state;
    size_t offset = 0;
    assert_string_equal(ap_schema_find(&trip_object, "price.usd", &offset)->key, "usd");
    assert_int_equal(offset, offsetof(trip, price) + offsetof(cost, usd));
    assert_non_null(ap_schema_find(&trip_object, "tags", NULL));
    assert_null(ap_schema_find(&trip_object, "price.eur", NULL));
    assert_null(ap_schema_find(&trip_object, "id.x", NULL));
    assert_null(ap_schema_find(&trip_object, "", NULL));
}

static void test_set(void **state)
{
    trip t;
    ap_diags diags;
    ap_pos pos = {"--set", 0, 0};
    ap_diags_init(&diags, *state);
    ap_schema_clear(&trip_object, &t);
    assert_int_equal(ap_schema_set(&trip_object, &t, "price.usd", "12", pos, *state, &diags), AP_OK);
    assert_same(t.price.usd, 12);
    assert_int_equal(ap_schema_set(&trip_object, &t, "tags", "a, b,c", pos, *state, &diags), AP_OK);
    assert_int_equal(t.tags.count, 3);
    assert_string_equal(t.tags.items[1], "b");
    assert_int_equal(ap_schema_set(&trip_object, &t, "tags", "[x]", pos, *state, &diags), AP_OK);
    assert_int_equal(t.tags.count, 1);
    assert_int_equal(ap_schema_set(&trip_object, &t, "sources", "a=x,b=y", pos, *state, &diags), AP_OK);
    assert_string_equal(t.sources.items[1].value, "y");
    assert_int_equal(ap_schema_set(&trip_object, &t, "direct", "false", pos, *state, &diags), AP_OK);
    assert_int_equal(t.direct, 0);
    assert_int_equal(ap_schema_set(&trip_object, &t, "model", "llama", pos, *state, &diags), AP_OK);
    assert_string_equal(ap_node_text(t.model), "llama");
    assert_int_equal(ap_schema_set(&trip_object, &t, "count", "5", pos, *state, &diags), AP_OK);
    assert_int_equal(ap_schema_set(&trip_object, &t, "count", "auto", pos, *state, &diags), AP_OK);
    assert_same(t.count, AP_UNKNOWN);
    assert_int_equal(diags.errors, 0);
    assert_int_equal(ap_schema_set(&trip_object, &t, "price.us", "1", pos, *state, &diags), AP_BAD_INPUT);
    assert_string_equal(diags.items[0].message, "unknown key 'us' in price");
    assert_int_equal(ap_schema_set(&trip_object, &t, "price", "1", pos, *state, &diags), AP_BAD_INPUT);
    assert_int_equal(ap_schema_set(&trip_object, &t, "count", "many", pos, *state, &diags), AP_BAD_INPUT);
    assert_int_equal(diags.errors, 3);
}

static void test_json_schema(void **state)
{
    ap_sbuf out;
    ap_diags diags;
    ap_diags_init(&diags, *state);
    ap_sbuf_init(&out, *state);
    ap_schema_write_json(&trip_object, &out);
    cJSON *root;
    assert_int_equal(ap_json_parse(out.text, out.len, "schema", &diags, &root), AP_OK);
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(root, "properties");
    assert_int_equal(cJSON_GetArraySize(properties), 17); /* neither the hidden key nor the position */
    assert_null(cJSON_GetObjectItemCaseSensitive(properties, "colour"));
    const cJSON *required = cJSON_GetObjectItemCaseSensitive(root, "required");
    assert_int_equal(cJSON_GetArraySize(required), 1);
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(properties, "kind"), "enum");
    assert_int_equal(cJSON_GetArraySize(kind), 4); /* three words and null */
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(root, "additionalProperties")));
    cJSON_Delete(root);
}

static void test_markdown(void **state)
{
    ap_sbuf out;
    ap_sbuf_init(&out, *state);
    ap_schema_write_markdown(&trip_object, &out);
    assert_non_null(strstr(out.text, "| `id` | id | yes | Unique name. |\n"));
    assert_non_null(strstr(out.text, "| `title` | text | | Shown \\| to people. |\n"));
    assert_non_null(strstr(out.text, "| `kind` | `train`, `plane`, `ship` | |"));
    assert_non_null(strstr(out.text, "| `price.usd` | "));
    assert_non_null(strstr(out.text, "| `stops[].name` | text | yes | The place. |\n"));
    assert_null(strstr(out.text, "colour"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_everything_given),
        arena_test(test_absent_is_unknown_not_zero),
        arena_test(test_unknown_and_missing_keys),
        arena_test(test_hidden_keys_are_not_suggested),
        arena_test(test_wrong_kinds),
        arena_test(test_numbers),
        arena_test(test_words),
        arena_test(test_all_findings_at_once),
        arena_test(test_check_runs_after_a_clean_load_only),
        arena_test(test_find),
        arena_test(test_set),
        arena_test(test_json_schema),
        arena_test(test_markdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
