/* YAML to positioned nodes: values, positions, messages, foreign features. Limits: test_yaml_limits.c. */
#include "testing_yaml.h"

static const char *text_at(const parsed *p, const char *path)
{
    return p->docs.count ? ap_node_text(ap_node_at(p->docs.items[0], path)) : NULL;
}

static void test_tree_and_positions(void **state)
{
    parsed p;
    parse(*state, "model: llama\njobs:\n  - name: a\n    gpus: 8\n  - {name: b}\n", AP_YAML_STRICT, &p);
    assert_int_equal(p.status, AP_OK);
    assert_int_equal(p.docs.count, 1);
    assert_string_equal(text_at(&p, "model"), "llama");
    assert_string_equal(text_at(&p, "jobs.0.gpus"), "8");
    assert_string_equal(text_at(&p, "jobs.1.name"), "b");
    assert_null(ap_node_at(p.docs.items[0], "jobs.2.name"));
    assert_null(ap_node_at(p.docs.items[0], "jobs.x"));
    assert_null(ap_node_at(p.docs.items[0], "model.x"));
    const ap_node *gpus = ap_node_at(p.docs.items[0], "jobs.0.gpus");
    assert_int_equal(gpus->pos.line, 4);
    assert_int_equal(gpus->pos.col, 11);
    assert_string_equal(gpus->pos.file, "t.yaml");
    const ap_pair *pair = &ap_node_at(p.docs.items[0], "jobs.0")->as.map.pairs[1];
    assert_int_equal(pair->key_pos.line, 4);
    assert_int_equal(pair->key_pos.col, 5);
    assert_string_equal(ap_node_kind_name(ap_node_get(p.docs.items[0], "jobs")), "a list");
}

/* Y7: nothing is typed here. */
static void test_scalars_keep_their_spelling(void **state)
{
    parsed p;
    parse(*state,
          "a: no\nb: 0123\nc: 1_000\nd: 12:30:45\ne: 1e3\nf: ~\ng:\nh: 'null'\ni: \"\"\nj: NO\nk: b#c\nl: e #f\n",
          AP_YAML_STRICT, &p);
    assert_int_equal(p.status, AP_OK);
    assert_string_equal(text_at(&p, "a"), "no");
    assert_string_equal(text_at(&p, "b"), "0123");
    assert_string_equal(text_at(&p, "c"), "1_000");
    assert_string_equal(text_at(&p, "d"), "12:30:45");
    assert_string_equal(text_at(&p, "e"), "1e3");
    assert_true(ap_node_is_null(ap_node_at(p.docs.items[0], "f")));
    assert_true(ap_node_is_null(ap_node_at(p.docs.items[0], "g")));
    assert_false(ap_node_is_null(ap_node_at(p.docs.items[0], "h")));
    assert_false(ap_node_is_null(ap_node_at(p.docs.items[0], "i")));
    assert_string_equal(text_at(&p, "j"), "NO");
    assert_string_equal(text_at(&p, "k"), "b#c");
    assert_string_equal(text_at(&p, "l"), "e");
}

static void test_json_is_yaml(void **state)
{
    parsed p;
    parse(*state, "{\"a\": [1, 2.5, {\"b\": null}],\n\t\"c\": \"x\\ny\"}", AP_YAML_STRICT, &p);
    assert_int_equal(p.status, AP_OK);
    assert_string_equal(text_at(&p, "a.1"), "2.5");
    assert_true(ap_node_is_null(ap_node_at(p.docs.items[0], "a.2.b")));
    assert_string_equal(text_at(&p, "c"), "x\ny");
}

/* Y9 */
static void test_columns_count_characters(void **state)
{
    parsed p;
    parse(*state, "\xC3\xA9\xC3\xA9: b: c\n", AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_YAML_SYNTAX, 1, 6, "':' is not allowed here");
    assert_string_equal(p.diags.items[0].source_line, "\xC3\xA9\xC3\xA9: b: c");
}

static void test_bad_utf8_has_a_position(void **state)
{
    parsed p;
    parse(*state, "a: 1\n\xC3\xA9z: \xFFx\n", AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_ENCODING, 2, 5, "invalid UTF-8");
    assert_int_equal(p.diags.count, 1);
}

static void test_bom_and_crlf(void **state)
{
    parsed p;
    parse(*state,
          "\xEF\xBB\xBF"
          "a: 1\r\nb: 2\r\n",
          AP_YAML_STRICT, &p);
    assert_int_equal(p.status, AP_OK);
    assert_string_equal(text_at(&p, "b"), "2");
    assert_int_equal(ap_node_at(p.docs.items[0], "b")->pos.line, 2);
    assert_int_equal(p.docs.items[0]->as.map.pairs[0].key_pos.col, 1);
    parse(*state,
          "\xEF\xBB\xBF"
          "a: 1\r\nb: @x\r\n",
          AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_YAML_SYNTAX, 2, 4, "cannot start with '@'");
    assert_string_equal(p.diags.items[0].source_line, "b: @x");
}

static void test_utf16_and_binary_are_named(void **state)
{
    parsed p;
    parse_len(*state,
              "\xFF\xFE"
              "a\0:\0",
              6, AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_ENCODING, 1, 1, "UTF-16");
    parse_len(*state, "a: b\0c", 6, AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_ENCODING, 1, 5, "control character 0x00");
    parse(*state, "a: \"x\\0y\"\n", AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_ENCODING, 1, 4, "NUL");
}

/* Y10 */
static void test_messages_are_plain_words(void **state)
{
    static const struct {
        const char *text;
        int code, line, col;
        const char *said;
    } cases[] = {
        {"a:\n\tb: 1\n", AP_CODE_TAB, 2, 1, "tab used for indentation"},
        {"a: @x\n", AP_CODE_YAML_SYNTAX, 1, 4, "quote values that start with @"},
        {"a: `x`\n", AP_CODE_YAML_SYNTAX, 1, 4, "quote values"},
        {"a: %x\n", AP_CODE_YAML_SYNTAX, 1, 4, "quote values"},
        {"a: \"open\nb: 1\n", AP_CODE_YAML_SYNTAX, 1, 4, "never closed"},
        {"a: [1, 2\nb: 3\n", AP_CODE_YAML_SYNTAX, 2, 2, "expected ',' or ']'"},
        {"a: 1\n  b: 2\n", AP_CODE_YAML_SYNTAX, 2, 4, "':' is not allowed here"},
        {"a: \"\\q\"\n", AP_CODE_YAML_SYNTAX, 1, 5, "unknown escape"},
        {"a: 1\nbatch:64\nb: 2\n", AP_CODE_YAML_SYNTAX, 2, 6, "missing space after ':'"},
        {"batch:64\nb: 2\n", AP_CODE_YAML_SYNTAX, 1, 6, "missing space after ':'"},
        {"a: 1\nword\nb: 2\n", AP_CODE_YAML_SYNTAX, 2, 1, "expected a key with ': ' here"},
        {"a: - b\n", AP_CODE_YAML_SYNTAX, 1, 4, "list item"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsed p;
        parse(*state, cases[i].text, AP_YAML_STRICT, &p);
        assert_int_equal(p.status, AP_BAD_INPUT);
        expect_finding(&p, cases[i].code, cases[i].line, cases[i].col, cases[i].said);
    }
}

/* Y6 */
static void test_duplicate_keys(void **state)
{
    parsed p;
    parse(*state, "a: 1\nb: 2\na: 3\n", AP_YAML_STRICT, &p);
    assert_int_equal(p.status, AP_BAD_INPUT);
    expect_finding(&p, AP_CODE_DUPLICATE_KEY, 3, 1, "first at line 1, column 1");
    parse(*state, "a: 1\nb: 2\na: 3\n", AP_YAML_FOREIGN, &p);
    assert_int_equal(p.status, AP_OK);
    expect_finding(&p, AP_CODE_DUPLICATE_KEY, 3, 1, "this value is used");
    assert_int_equal(p.diags.items[0].severity, AP_WARNING);
    assert_string_equal(text_at(&p, "a"), "3");
    assert_int_equal(p.docs.items[0]->as.map.count, 2);
}

/* Y5 */
static void test_merge_keys(void **state)
{
    static const char text[] = "base: &b {x: 1, y: 2}\nmore: &m {y: 5, z: 6}\njob:\n  <<: [*b, *m]\n  x: 9\nquoted:\n"
                               "  '<<': 3\n";
    parsed p;
    parse(*state, text, AP_YAML_FOREIGN, &p);
    assert_int_equal(p.status, AP_OK);
    assert_string_equal(text_at(&p, "job.x"), "9"); /* explicit wins */
    assert_string_equal(text_at(&p, "job.y"), "2"); /* the earlier of the list wins */
    assert_string_equal(text_at(&p, "job.z"), "6");
    assert_int_equal(ap_node_at(p.docs.items[0], "job")->as.map.count, 3);
    assert_string_equal(text_at(&p, "quoted.<<"), "3");
    parse(*state, "a: {x: 1}\nb:\n  <<: 5\n", AP_YAML_FOREIGN, &p);
    expect_finding(&p, AP_CODE_MERGE_KEY, 3, 3, "needs a mapping");
    parse(*state, text, AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_MERGE_KEY, 4, 3, "write the keys out");
    expect_finding(&p, AP_CODE_ANCHOR, 1, 7, "anchors");
}

static void test_strict_files_have_no_tags(void **state)
{
    parsed p;
    parse(*state, "a: !!str 5\n", AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_TAG, 1, 4, "tags are not allowed");
    parse(*state, "a: !Ref x\nb: !!str ~\n", AP_YAML_FOREIGN, &p);
    assert_int_equal(p.status, AP_OK);
    assert_string_equal(text_at(&p, "a"), "x");
    assert_false(ap_node_is_null(ap_node_at(p.docs.items[0], "b")));
}

/* Y11 */
static void test_documents(void **state)
{
    parsed p;
    parse(*state, "a: 1\n---\nb: 2\n", AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_DOCUMENTS, 2, 1, "second document");
    parse(*state, "---\na: 1\n---\nb: 2\n---\n", AP_YAML_FOREIGN, &p);
    assert_int_equal(p.status, AP_OK);
    assert_int_equal(p.docs.count, 2);
    parse(*state, "%YAML 1.2\n---\na: 1\n", AP_YAML_STRICT, &p);
    assert_int_equal(p.status, AP_OK);
    parse(*state, "? [1, 2]\n: x\n", AP_YAML_STRICT, &p);
    expect_finding(&p, AP_CODE_COMPLEX_KEY, 1, 3, "key must be text");
    static const char *const empty[] = {"", "# only a comment\n", "---\n", "~\n"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        parse(*state, empty[i], AP_YAML_STRICT, &p);
        expect_finding(&p, AP_CODE_EMPTY, 1, 1, "expected a mapping");
        assert_int_equal(p.docs.count, 0);
    }
}

/* A document that is well-formed but has findings is still handed on, so that later stages can add theirs. */
static void test_document_with_findings_is_kept(void **state)
{
    parsed p;
    parse(*state, "a: 1\na: 2\nc: 3\n", AP_YAML_STRICT, &p);
    assert_int_equal(p.docs.count, 1);
    assert_string_equal(text_at(&p, "c"), "3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_tree_and_positions),
        arena_test(test_scalars_keep_their_spelling),
        arena_test(test_json_is_yaml),
        arena_test(test_columns_count_characters),
        arena_test(test_bad_utf8_has_a_position),
        arena_test(test_bom_and_crlf),
        arena_test(test_utf16_and_binary_are_named),
        arena_test(test_messages_are_plain_words),
        arena_test(test_duplicate_keys),
        arena_test(test_merge_keys),
        arena_test(test_strict_files_have_no_tags),
        arena_test(test_documents),
        arena_test(test_document_with_findings_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
