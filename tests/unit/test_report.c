/* Documents and their forms. Expected text is written by hand from doc.h, RFC 4180 and what a reader wants to see. */
#include "testing.h"

#include "base/num.h"
#include "base/text.h"
#include "report/doc.h"
#include "report/select.h"

static const ap_column columns[] = {
    {.title = "Target", .path = "target", .priority = 1, .flexible = true},
    {.title = "Time", .path = "time.p50", .low_path = "time.p10", .high_path = "time.p90", .format = AP_CELL_HOURS,
     .priority = 1, .right = true},
    {.title = "Cost USD", .path = "cost", .format = AP_CELL_USD, .priority = 2, .right = true},
    {.title = "Note", .path = "note", .priority = 5, .flexible = true},
    {.title = "Source", .path = "source", .priority = 9},
};

static ap_value *make_row(ap_arena *arena, const char *target, double hours, double cost, const char *note)
{
    ap_value *row = ap_value_map(arena), *time = ap_value_map(arena);
    ap_value_put(arena, time, "p10", ap_value_num(arena, hours * 0.5));
    ap_value_put(arena, time, "p50", ap_value_num(arena, hours));
    ap_value_put(arena, time, "p90", ap_value_num(arena, hours * 1.5));
    ap_value_put(arena, row, "target", ap_value_text(arena, target));
    ap_value_put(arena, row, "time", time);
    ap_value_put(arena, row, "cost", ap_value_num(arena, cost));
    ap_value_put(arena, row, "note", ap_value_text(arena, note));
    ap_value_put(arena, row, "source", ap_value_text(arena, "src"));
    return row;
}

static ap_doc *make_doc(ap_arena *arena)
{
    ap_doc *doc = ap_doc_new(arena, "test");
    ap_value *rows = ap_value_list(arena);
    ap_value_push(arena, rows, make_row(arena, "aws/p5.48xlarge", 4, 1234.5, "a, \"b\"\nc"));
    ap_value_push(arena, rows, make_row(arena, "gcp/a3-highgpu-8g@us-central1+spot", 0.5, 0.04512, NULL));
    ap_value_push(arena, rows, make_row(arena, "tiny", 96, AP_UNKNOWN, "x"));
    ap_value_put(arena, doc->root, "results", rows);
    ap_doc_heading(doc, "Title <1>");
    ap_block *table = ap_doc_table(doc, rows, columns, sizeof columns / sizeof *columns);
    table->main = true;
    return doc;
}

static const char *render(const ap_doc *doc, ap_format format, int width, const char *field)
{
    ap_sbuf out;
    ap_sbuf_init(&out, doc->arena);
    ap_render_options options = {.format = format, .width = width, .fields = &field, .field_count = field ? 1 : 0};
    assert_int_equal(ap_doc_render(doc, &options, &out), AP_OK);
    return out.text;
}

static void table_aligns_and_hides_the_last_priority(void **state)
{
    const char *text = render(make_doc(*state), AP_FORMAT_TABLE, 0, NULL);
    assert_string_equal(text, "Title <1>\n"
                              "Target                                        Time  Cost USD  Note\n"
                              "──────────────────────────────────  ──────────────  ────────  ────────\n"
                              "aws/p5.48xlarge                          4 h (2–6)  1,234.50  a, \"b\" c\n"
                              "gcp/a3-highgpu-8g@us-central1+spot  30 min (15–45)    0.0451  –\n"
                              "tiny                                     4 d (2–6)         –  x\n");
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;
    while (*text) {
        size_t len = strcspn(text, "\n");
        char line[2000];
        snprintf(line, sizeof line, "%.*s", (int)len, text);
        size_t width = ap_text_width(line);
        widest = width > widest ? width : widest;
        text += len + (text[len] == '\n');
    }
    return widest;
}

static void table_fits_any_width(void **state)
{
    ap_doc *doc = make_doc(*state);
    for (int width = 50; width < 160; width++)
        assert_true(widest_line(render(doc, AP_FORMAT_TABLE, width, NULL)) <= (size_t)width);
    const char *narrow = render(doc, AP_FORMAT_TABLE, 50, NULL);
    assert_non_null(strstr(narrow, "…"));
    assert_null(strstr(narrow, "Note"));
    assert_non_null(strstr(narrow, "hidden"));
    assert_non_null(strstr(narrow, "Target"));
}

static void limit_counts_and_cuts_every_format(void **state)
{
    ap_doc *doc = make_doc(*state);
    doc->blocks[1].limit = 1;
    assert_non_null(strstr(render(doc, AP_FORMAT_TABLE, 0, NULL), "shown 1 of 3"));
    assert_null(strstr(render(doc, AP_FORMAT_JSON, 0, NULL), "tiny"));
    assert_string_equal(render(doc, AP_FORMAT_VALUE, 0, "target"), "aws/p5.48xlarge\n");
}

static void wide_shows_all_columns(void **state)
{
    assert_non_null(strstr(render(make_doc(*state), AP_FORMAT_WIDE, 40, NULL), "Source"));
}

static void csv_is_rfc_4180(void **state)
{
    const char *text = render(make_doc(*state), AP_FORMAT_CSV, 0, NULL);
    assert_string_equal(text, "target,time.p10,time.p50,time.p90,cost,note,source\r\n"
                              "aws/p5.48xlarge,2,4,6,1234.5,\"a, \"\"b\"\"\nc\",src\r\n"
                              "gcp/a3-highgpu-8g@us-central1+spot,0.25,0.5,0.75,0.04512,,src\r\n"
                              "tiny,48,96,144,,x,src\r\n");
}

static void fields_choose_and_keep_places(void **state)
{
    ap_doc *doc = make_doc(*state);
    assert_string_equal(render(doc, AP_FORMAT_CSV, 0, "time.p50"), "time.p50\r\n4\r\n0.5\r\n96\r\n");
    assert_string_equal(render(doc, AP_FORMAT_NDJSON, 0, "time.p50"),
                        "{\"time\":{\"p50\":4}}\n{\"time\":{\"p50\":0.5}}\n{\"time\":{\"p50\":96}}\n");
    ap_diags diags;
    ap_diags_init(&diags, *state);
    const char *wrong[] = {"tiem.p50", "target"};
    ap_render_options options = {.fields = wrong, .field_count = 2};
    assert_int_equal(ap_doc_check_fields(doc, &options, &diags), AP_USAGE);
    assert_int_equal(diags.errors, 1);
    assert_non_null(strstr(diags.items[0].hint, "time.p50"));
}

static void json_is_whole_and_null_is_null(void **state)
{
    ap_arena *arena = *state;
    ap_doc *doc = ap_doc_new(arena, "t");
    ap_value_put(arena, doc->root, "x", ap_value_num(arena, 0.1));
    ap_value_put(arena, doc->root, "u", ap_value_num(arena, AP_UNKNOWN));
    ap_value_put(arena, doc->root, "i", ap_value_num(arena, HUGE_VAL));
    ap_value_put(arena, doc->root, "x", ap_value_num(arena, 0.2)); /* replaced in place */
    assert_string_equal(render(doc, AP_FORMAT_JSON, 0, NULL),
                        "{\n  \"schema_version\": 1,\n  \"kind\": \"t\",\n  \"accelpick\": \"" AP_VERSION
                        "\",\n  \"x\": 0.2,\n  \"u\": null,\n  \"i\": null\n}\n");
}

static void markup_is_escaped(void **state)
{
    ap_doc *doc = make_doc(*state);
    ap_value *rows = ap_value_list(*state);
    ap_value_push(*state, rows, make_row(*state, "a|b<script>", 1, 1, "*x*"));
    doc->blocks[1].rows = rows;
    assert_non_null(strstr(render(doc, AP_FORMAT_MARKDOWN, 0, NULL), "| a\\|b\\<script\\> |"));
    assert_non_null(strstr(render(doc, AP_FORMAT_HTML, 0, NULL), "<td>a|b&lt;script&gt;</td>"));
    assert_non_null(strstr(render(doc, AP_FORMAT_HTML, 0, NULL), "<title>Title &lt;1&gt;</title>"));
}

/* The only cell of a table that shows `row` by `column`. */
static const char *only_cell(ap_arena *arena, ap_value *row, ap_column column)
{
    ap_doc *doc = ap_doc_new(arena, "t");
    ap_value *rows = ap_value_list(arena);
    ap_value_push(arena, rows, row);
    ap_column *kept = AP_NEW(arena, ap_column);
    *kept = column;
    ap_doc_table(doc, rows, kept, 1);
    const char *text = render(doc, AP_FORMAT_TABLE, 0, NULL);
    const char *line = strchr(strchr(text, '\n') + 1, '\n') + 1;
    return ap_arena_strndup(arena, line, strcspn(line, "\n"));
}

static const char *cell(ap_arena *arena, double value, ap_cell_format format)
{
    ap_value *row = ap_value_map(arena);
    ap_value_put(arena, row, "v", ap_value_num(arena, value));
    return only_cell(arena, row, (ap_column){.title = "v", .path = "v", .priority = 1, .format = format});
}

static void cells_read_well(void **state)
{
    static const struct { double value; ap_cell_format format; const char *text; } cases[] = {
        {0, AP_CELL_USD, "0.00"},           {0.04512, AP_CELL_USD, "0.0451"},  {0.1, AP_CELL_USD, "0.10"},
        {12.3, AP_CELL_USD, "12.30"},       {1234.5, AP_CELL_USD, "1,234.50"}, {1234567, AP_CELL_USD, "1,234,567"},
        {0.001, AP_CELL_HOURS, "3.6 s"},    {0.75, AP_CELL_HOURS, "45 min"},   {3.2, AP_CELL_HOURS, "3.2 h"},
        {288, AP_CELL_HOURS, "12 d"},       {0, AP_CELL_HOURS, "0 h"},         {9600, AP_CELL_HOURS, "400 d"},
        {0.34, AP_CELL_SECONDS, "340 ms"},  {1.25, AP_CELL_SECONDS, "1.25 s"}, {0.41, AP_CELL_PERCENT, "41 %"},
        {0.004, AP_CELL_PERCENT, "0.4 %"},  {1.5e6, AP_CELL_COUNT, "1.50 M"},  {2e11, AP_CELL_COUNT, "200 B"},
        {1.5e12, AP_CELL_COUNT, "1.50 T"},  {512, AP_CELL_COUNT, "512"},       {12345, AP_CELL_INTEGER, "12,345"},
        {-12345, AP_CELL_INTEGER, "-12,345"}, {2019, AP_CELL_INTEGER, "2019"}, {999, AP_CELL_INTEGER, "999"},     {79.1, AP_CELL_GIB, "79.1"},
        {80, AP_CELL_GIB, "80"},            {0.0123, AP_CELL_AUTO, "0.0123"},  {3.14159, AP_CELL_AUTO, "3.14"},
        {99.96, AP_CELL_AUTO, "100"},       {0.9996, AP_CELL_AUTO, "1.00"},    {1e20, AP_CELL_AUTO, "1e+20"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(cell(*state, cases[i].value, cases[i].format), cases[i].text);
}

static const char *range(ap_arena *arena, double low, double middle, double high, ap_cell_format format)
{
    ap_value *row = ap_value_map(arena);
    ap_value_put(arena, row, "l", ap_value_num(arena, low));
    ap_value_put(arena, row, "m", ap_value_num(arena, middle));
    ap_value_put(arena, row, "h", ap_value_num(arena, high));
    return only_cell(arena, row, (ap_column){.title = "m", .path = "m", .priority = 1, .format = format, .low_path = "l", .high_path = "h"});
}

/* The bounds take the unit of the middle and two digits: the band is not known better. */
static void ranges_share_one_unit(void **state)
{
    assert_string_equal(range(*state, 0.78, 1.55, 3.1, AP_CELL_HOURS), "93 min (47–190)");
    assert_string_equal(range(*state, 3.333, 6.667, 13.33, AP_CELL_HOURS), "6.7 h (3.3–13)");
    assert_string_equal(range(*state, 24, 72, 150, AP_CELL_HOURS), "3 d (1–6.2)");
    assert_string_equal(range(*state, 7.61, 15.22, 30.43, AP_CELL_USD), "15.22 (7.6–30)");
    assert_string_equal(range(*state, 612, 1224, 2448, AP_CELL_USD), "1,224.00 (610–2,400)");
    assert_string_equal(range(*state, 0.671, 1.34, 2.68, AP_CELL_SECONDS), "1.34 s (0.67–2.7)");
    assert_string_equal(range(*state, 0, 0, 0, AP_CELL_USD), "0.00");
    assert_string_equal(range(*state, AP_UNKNOWN, 2, 3, AP_CELL_USD), "2.00");
    assert_string_equal(range(*state, 1, AP_UNKNOWN, 3, AP_CELL_USD), "–");
}

/* 2,050 to two digits is 2,100, above a middle of 2,098: a bound takes the digits that keep it on its side. */
static void bounds_stay_on_their_side_of_the_middle(void **state)
{
    assert_string_equal(range(*state, 2052, 2098, 3600, AP_CELL_USD), "2,098.00 (2,052–3,600)");
    assert_string_equal(range(*state, 1500, 2149, 2149.4, AP_CELL_USD), "2,149.00 (1,500–2,149)");
    assert_string_equal(range(*state, 1.46, 1.498, 1.6, AP_CELL_SECONDS), "1.50 s (1.5–1.6)");
}

/* 41,000 by way of its logarithm is 41000.00000000003: the sixteenth digit is no figure. */
static void noise_of_the_last_digit_is_not_printed(void **state)
{
    ap_value *row = ap_value_map(*state);
    ap_value_put(*state, row, "a", ap_value_num(*state, 41000.00000000003));
    ap_value_put(*state, row, "b", ap_value_num(*state, 0.1 + 0.2));
    ap_value_put(*state, row, "c", ap_value_num(*state, 9007199254740991.0));
    assert_same(ap_value_at(row, "a")->as.number, 41000);
    assert_same(ap_value_at(row, "b")->as.number, 0.3);
    assert_same(ap_value_at(row, "c")->as.number, 9007199254740991.0);
}

static void sorting_is_stable_and_unknown_is_last(void **state)
{
    ap_arena *arena = *state;
    ap_diags diags;
    ap_diags_init(&diags, arena);
    ap_value *rows = ap_value_list(arena);
    const struct { const char *name; double cost; } given[] = {{"c", 2}, {"a", AP_UNKNOWN}, {"b", 1}, {"d", 2}, {"e", 3}};
    for (size_t i = 0; i < 5; i++)
        ap_value_push(arena, rows, make_row(arena, given[i].name, 1, given[i].cost, NULL));
    const char *keys[] = {"cost:desc"};
    assert_int_equal(ap_value_sort(arena, rows, keys, 1, &diags), AP_OK);
    const char *down = "ecdba";
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ap_value_at(rows->as.list.items[i], "target")->as.text[0], down[i]);
    keys[0] = "cost";
    const char *up = "bcdea";
    assert_int_equal(ap_value_sort(arena, rows, keys, 1, &diags), AP_OK);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ap_value_at(rows->as.list.items[i], "target")->as.text[0], up[i]);
    keys[0] = "cots";
    assert_int_equal(ap_value_sort(arena, rows, keys, 1, &diags), AP_USAGE);
    keys[0] = "cost:down";
    assert_int_equal(ap_value_sort(arena, rows, keys, 1, &diags), AP_USAGE);
    assert_int_equal(diags.errors, 2);
}

static void a_form_that_a_kind_lacks_is_a_usage_error(void **state)
{
    ap_doc *doc = make_doc(*state);
    ap_sbuf out;
    ap_sbuf_init(&out, doc->arena);
    ap_render_options options = {.format = AP_FORMAT_SARIF};
    assert_int_equal(ap_doc_render(doc, &options, &out), AP_USAGE);
}

/* 1 USD = 0.92 EUR: 1,234.50 USD are 1,135.74 EUR. Machine formats stay in USD. */
static void currencies_are_for_people(void **state)
{
    ap_doc *doc = make_doc(*state);
    ap_sbuf out;
    ap_sbuf_init(&out, doc->arena);
    ap_render_options options = {.format = AP_FORMAT_TABLE, .currency = "EUR", .rate = 0.92, .rate_origin = "test"};
    assert_int_equal(ap_doc_render(doc, &options, &out), AP_OK);
    assert_non_null(strstr(out.text, "Cost EUR"));
    assert_non_null(strstr(out.text, "1,135.74"));
    assert_non_null(strstr(out.text, "0.92 EUR for one USD (test)"));
    options.format = AP_FORMAT_CSV;
    ap_sbuf_init(&out, doc->arena);
    assert_int_equal(ap_doc_render(doc, &options, &out), AP_OK);
    assert_non_null(strstr(out.text, "1234.5"));
}

static ap_doc *make_check(ap_arena *arena)
{
    ap_doc *doc = ap_doc_new(arena, "check");
    ap_value *jobs = ap_value_list(arena), *job = ap_value_map(arena), *clean = ap_value_map(arena);
    ap_value *findings = ap_value_list(arena), *finding = ap_value_map(arena);
    ap_value_put(arena, finding, "id", ap_value_text(arena, "AP1001"));
    ap_value_put(arena, finding, "severity", ap_value_text(arena, "error"));
    ap_value_put(arena, finding, "message", ap_value_text(arena, "50% <too> much,\nreally"));
    ap_value_put(arena, finding, "file", ap_value_text(arena, "a b:c.sbatch"));
    ap_value_put(arena, finding, "line", ap_value_int(arena, 3));
    ap_value_put(arena, finding, "column", ap_value_int(arena, 11));
    ap_value_push(arena, findings, finding);
    ap_value_put(arena, job, "id", ap_value_text(arena, "job \"1\""));
    ap_value_put(arena, job, "findings", findings);
    ap_value_put(arena, clean, "id", ap_value_text(arena, "clean"));
    ap_value_put(arena, clean, "findings", ap_value_list(arena));
    ap_value_push(arena, jobs, job);
    ap_value_push(arena, jobs, clean);
    ap_value_put(arena, doc->root, "jobs", jobs);
    return doc;
}

static void findings_for_github_are_escaped(void **state)
{
    assert_string_equal(render(make_check(*state), AP_FORMAT_GITHUB, 0, NULL),
                        "::error file=a b%3Ac.sbatch,line=3,col=11,title=AP1001::50%25 <too> much,%0Areally\n");
}

static void findings_for_junit_count_jobs(void **state)
{
    const char *text = render(make_check(*state), AP_FORMAT_JUNIT, 0, NULL);
    assert_non_null(strstr(text, "<testsuite name=\"job &quot;1&quot;\" tests=\"1\" failures=\"1\" errors=\"0\">"));
    assert_non_null(strstr(text, "message=\"50% &lt;too&gt; much,\nreally\""));
    assert_non_null(strstr(text, "<testsuite name=\"clean\" tests=\"1\" failures=\"0\" errors=\"0\">"));
}

static void findings_for_sarif_are_located(void **state)
{
    const char *text = render(make_check(*state), AP_FORMAT_SARIF, 0, NULL);
    assert_non_null(strstr(text, "\"version\": \"2.1.0\""));
    assert_non_null(strstr(text, "\"uri\": \"a%20b%3Ac.sbatch\""));
    assert_non_null(strstr(text, "\"startLine\": 3"));
    assert_non_null(strstr(text, "\"startColumn\": 11"));
    assert_non_null(strstr(text, "\"ruleId\": \"AP1001\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(table_aligns_and_hides_the_last_priority),
        arena_test(table_fits_any_width),
        arena_test(limit_counts_and_cuts_every_format),
        arena_test(wide_shows_all_columns),
        arena_test(csv_is_rfc_4180),
        arena_test(fields_choose_and_keep_places),
        arena_test(json_is_whole_and_null_is_null),
        arena_test(markup_is_escaped),
        arena_test(cells_read_well),
        arena_test(ranges_share_one_unit), arena_test(bounds_stay_on_their_side_of_the_middle), arena_test(noise_of_the_last_digit_is_not_printed),
        arena_test(sorting_is_stable_and_unknown_is_last),
        arena_test(currencies_are_for_people),
        arena_test(findings_for_github_are_escaped),
        arena_test(findings_for_junit_count_jobs),
        arena_test(findings_for_sarif_are_located),
        arena_test(a_form_that_a_kind_lacks_is_a_usage_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
