/* CSV as RFC 4180 describes it. */
#include "testing.h"

#include <stdlib.h>

#include "io/csv.h"

typedef struct parsed {
    ap_status status;
    ap_diags diags;
    ap_csv csv;
} parsed;

static void parse_len(ap_arena *arena, const char *text, size_t len, parsed *ret)
{
    char *exact = malloc(len ? len : 1);
    memcpy(exact, text, len);
    ap_diags_init(&ret->diags, arena);
    ret->status = ap_csv_parse(exact, len, "t.csv", arena, &ret->diags, &ret->csv);
    free(exact);
}

static void parse(ap_arena *arena, const char *text, parsed *ret)
{
    parse_len(arena, text, strlen(text), ret);
}

static void test_rows_and_columns(void **state)
{
    parsed p;
    parse(*state, "id,value,notes\na,1,\nb,2,x\n", &p);
    assert_int_equal(p.status, AP_OK);
    assert_int_equal(p.csv.column_count, 3);
    assert_int_equal(p.csv.row_count, 2);
    assert_int_equal(ap_csv_column(&p.csv, "notes"), 2);
    assert_int_equal(ap_csv_column(&p.csv, "Notes"), -1);
    assert_string_equal(p.csv.rows[0][2], "");
    assert_string_equal(p.csv.rows[1][1], "2");
    assert_int_equal(p.csv.lines[1], 3);
}

static void test_quotes(void **state)
{
    parsed p;
    parse(*state, "a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",z\nlast,1\n", &p);
    assert_int_equal(p.status, AP_OK);
    assert_string_equal(p.csv.rows[0][0], "x, y");
    assert_string_equal(p.csv.rows[0][1], "say \"hi\"");
    assert_string_equal(p.csv.rows[1][0], "two\nlines");
    assert_int_equal(p.csv.lines[1], 3);
    assert_int_equal(p.csv.lines[2], 5);
}

static void test_line_ends_bom_and_blank_lines(void **state)
{
    parsed p;
    parse(*state,
          "\xEF\xBB\xBF"
          "a,b\r\n1,2\r\n\r\n3,4",
          &p);
    assert_int_equal(p.status, AP_OK);
    assert_string_equal(p.csv.columns[0], "a");
    assert_int_equal(p.csv.row_count, 2);
    assert_string_equal(p.csv.rows[1][1], "4");
    assert_int_equal(p.csv.lines[1], 4);
}

static void test_short_rows_are_filled(void **state)
{
    parsed p;
    parse(*state, "a,b,c\n1\n", &p);
    assert_int_equal(p.status, AP_OK);
    assert_string_equal(p.csv.rows[0][2], "");
}

static void expect(ap_arena *arena, const char *text, int code, int line, int col)
{
    parsed p;
    parse(arena, text, &p);
    assert_int_equal(p.status, AP_BAD_INPUT);
    const ap_diag *diag = testing_find(&p.diags, code);
    assert_non_null(diag);
    assert_int_equal(diag->pos.line, line);
    assert_int_equal(diag->pos.col, col);
}

static void test_faults(void **state)
{
    expect(*state, "a,b\n1,2,3\n", AP_CODE_CSV_CELLS, 2, 1);
    expect(*state, "a,b\n1,\"open\n", AP_CODE_CSV_QUOTE, 2, 3);
    expect(*state, "a,b\n\"x\"y,2\n", AP_CODE_CSV_QUOTE, 2, 4);
    expect(*state, "a,b,a\n", AP_CODE_CSV_COLUMN, 1, 1);
    expect(*state, "a\n\xFF\n", AP_CODE_ENCODING, 2, 1);
    expect(*state, "", AP_CODE_EMPTY, 1, 1);
    expect(*state, "\n\n", AP_CODE_EMPTY, 1, 1);
}

static void test_all_faults_are_reported(void **state)
{
    parsed p;
    parse(*state, "a\n1,2\n1,2\n1,2\n", &p);
    assert_int_equal(p.diags.errors, 3);
}

static void test_nul_byte(void **state)
{
    parsed p;
    parse_len(*state, "a\nx\0y\n", 6, &p);
    assert_int_equal(p.status, AP_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_rows_and_columns),
        arena_test(test_quotes),
        arena_test(test_line_ends_bom_and_blank_lines),
        arena_test(test_short_rows_are_filled),
        arena_test(test_faults),
        arena_test(test_all_faults_are_reported),
        arena_test(test_nul_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
