/* The pure parts of live prices: retries, pointers and conditions on rows, CSV as it arrives, zip, SHA-256, provider
 * files. */
#include "testing.h"

#include <stdlib.h>

#include "base/num.h"
#include "prices/fetch.h"
#include "prices/record.h"
#include "prices/retry.h"
#include "prices/sha256.h"
#include "prices/stream_csv.h"
#include "prices/unzip.h"

/* ---- retries ----------------------------------------------------------------------------------------------------- */

static double decide(long status, double retry_after, int attempts_before)
{
    ap_retry retry = {.attempts = attempts_before, .random = 1};
    ap_retry_outcome outcome = {.http_status = status, .retry_after_s = retry_after};
    return ap_retry_decide(&retry, &outcome);
}

static void test_what_is_retried(void **state)
{
    (void)state;
    static const long again[] = {408, 425, 429, 500, 502, 503, 504}, never[] = {200, 301, 400, 401, 403, 404, 410, 501};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++)
        assert_true(decide(again[i], 0, 0) >= 0);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_true(decide(never[i], 0, 0) < 0);
    assert_true(decide(503, 0, AP_RETRY_ATTEMPTS - 1) < 0);
}

static void test_retry_after_is_clamped(void **state)
{
    (void)state;
    assert_same(decide(429, 7, 0), 7);
    assert_same(decide(503, 343682983, 0), 120);  /* a date of 2037 */
    assert_true(decide(429, -350628113, 0) <= 2); /* a date in the past: our own back-off */
}

static void test_backoff_grows_and_is_bounded(void **state)
{
    (void)state;
    for (int attempt = 0; attempt < AP_RETRY_ATTEMPTS - 1; attempt++) {
        ap_retry retry = {.attempts = attempt, .random = (uint64_t)(attempt + 7)};
        ap_retry_outcome outcome = {.transport_failed = true, .transient = true};
        double wait = ap_retry_decide(&retry, &outcome);
        assert_true(wait >= 0 && wait <= fmin(30, pow(2, attempt + 1)));
    }
    ap_retry retry = {.random = 3};
    ap_retry_outcome fatal = {.transport_failed = true, .transient = false};
    assert_true(ap_retry_decide(&retry, &fatal) < 0);
}

static void test_one_long_wait_on_429(void **state)
{
    (void)state;
    ap_retry retry = {.wait_429_s = 65, .random = 1};
    ap_retry_outcome outcome = {.http_status = 429};
    assert_same(ap_retry_decide(&retry, &outcome), 65);
    assert_true(ap_retry_decide(&retry, &outcome) <= 4);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const cJSON *at(const cJSON *root, const char *pointer)
{
    return ap_json_pointer(root, pointer);
}

static void test_json_pointer(void **state)
{
    (void)state;
    cJSON *root = cJSON_Parse("{\"a\":{\"b/c\":[1,2,{\"m~n\":3}],\"\":4}}");
    assert_ptr_equal(at(root, ""), root);
    assert_int_equal(at(root, "/a/b~1c/1")->valueint, 2);
    assert_int_equal(at(root, "/a/b~1c/2/m~0n")->valueint, 3);
    assert_int_equal(at(root, "/a/")->valueint, 4);
    assert_null(at(root, "/a/b~1c/3"));
    assert_null(at(root, "/a/b~1c/01"));
    assert_null(at(root, "/a/b~1c/-1"));
    assert_null(at(root, "/x/y"));
    assert_null(at(root, "a"));
    cJSON_Delete(root);
}

typedef struct walked {
    size_t count;
    char text[256];
} walked;

static void note_row(void *context, const ap_record *record)
{
    walked *w = context;
    w->count++;
    strcat(w->text, ap_record_text(record, "{../../name}:{/n}:{$key} "));
}

static void test_rows_know_what_holds_them(void **state)
{
    cJSON *root = cJSON_Parse("{\"d\":[{\"name\":\"x\",\"f\":{\"k1\":{\"n\":1},\"k2\":{\"n\":2}}},{\"name\":\"y\","
                              "\"f\":{\"k3\":{\"n\":3}}},{\"name\":\"z\"}]}");
    ap_record record = {.arena = *state};
    walked w = {0};
    assert_true(ap_record_walk(root, "/d/*/f/*", &record, note_row, &w));
    assert_string_equal(w.text, "x:1:k1 x:2:k2 y:3:k3 ");
    assert_false(ap_record_walk(root, "/nothing/*", &record, note_row, &w));
    assert_false(ap_record_walk(root, "/d/0/name/*", &record, note_row, &w));
    cJSON_Delete(root);
}

static void test_numbers_of_rows(void **state)
{
    cJSON *root = cJSON_Parse(
        "{\"n\":1.5,\"s\":\"2.25\",\"half\":\"1/2\",\"bad\":\"1,23\",\"zero\":\"1/0\",\"null\":null,\"t\":true}");
    ap_record record = {.arena = *state, .level = {root}, .depth = 1};
    assert_same(ap_record_number(&record, "/n"), 1.5);
    assert_same(ap_record_number(&record, "/s"), 2.25);
    assert_same(ap_record_number(&record, "/half"), 0.5);
    assert_same(ap_record_number(&record, "=0.001"), 0.001);
    static const char *const none[] = {"/bad", "/zero", "/null", "/t", "/missing"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_true(isnan(ap_record_number(&record, none[i])));
    assert_string_equal(ap_record_text(&record, "/t"), "true");
    assert_null(ap_record_text(&record, "{/n}x{/missing}"));
    assert_string_equal(ap_record_text(&record, "{/n}x{/s}"), "1.5x2.25");
    cJSON_Delete(root);
}

static void test_conditions(void **state)
{
    cJSON *root = cJSON_Parse("{\"name\":\"NC24 Spot\",\"n\":3,\"none\":null}");
    ap_record record = {.arena = *state, .level = {root}, .depth = 1};
    const char *spot[] = {" Spot"}, *windows[] = {"Windows"}, *empty[] = {""};
    const ap_price_test base = {.above = AP_UNKNOWN, .present = -1};
    ap_price_test test = base;
    test.value = "/name";
    test.contains = (ap_strings){spot, 1};
    test.lacks = (ap_strings){windows, 1};
    assert_true(ap_record_passes(&record, &test, 1));
    test.lacks = (ap_strings){spot, 1};
    assert_false(ap_record_passes(&record, &test, 1));
    test = base;
    test.value = "/n";
    test.above = 2;
    assert_true(ap_record_passes(&record, &test, 1));
    test.above = 3;
    assert_false(ap_record_passes(&record, &test, 1));
    test = base;
    test.value = "/none";
    test.present = 1;
    assert_false(ap_record_passes(&record, &test, 1));
    test.present = 0;
    assert_true(ap_record_passes(&record, &test, 1));
    test.present = -1;
    test.equals = (ap_strings){empty, 1}; /* null and missing are the empty text */
    assert_true(ap_record_passes(&record, &test, 1));
    cJSON_Delete(root);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static bool join_cells(void *context, const char *const *cells, size_t count)
{
    char *text = context;
    for (size_t i = 0; i < count; i++) {
        strcat(text, "[");
        strcat(text, cells[i]);
        strcat(text, "]");
    }
    strcat(text, ";");
    return true;
}

static const char *split(const char *csv, size_t piece, char *out, bool *ret_good)
{
    ap_csv_stream *stream = calloc(1, sizeof *stream);
    *out = '\0';
    ap_csv_stream_init(stream, join_cells, out);
    bool good = true;
    for (size_t i = 0, len = strlen(csv); i < len && good; i += piece)
        good = ap_csv_stream_feed(stream, csv + i, len - i < piece ? len - i : piece);
    *ret_good = good && ap_csv_stream_end(stream);
    free(stream);
    return out;
}

static void test_csv_in_pieces(void **state)
{
    (void)state;
    static const char csv[] = "\xEF\xBB\xBF"
                              "a,b,\"c \"\"d\"\"\"\r\n1,,\"x,\ny\"\n\n,\n\"\",z";
    static const char expected[] = "[a][b][c \"d\"];[1][][x,\ny];[][];[][z];";
    char out[256];
    bool good;
    for (size_t piece = 1; piece <= sizeof csv; piece++) {
        assert_string_equal(split(csv, piece, out, &good), expected);
        assert_true(good);
    }
}

static void test_csv_that_is_cut_or_too_long(void **state)
{
    (void)state;
    char out[256], *line = calloc(1, AP_CSV_RECORD_BYTES + 10);
    bool good;
    split("a,\"b", 2, out, &good);
    assert_false(good);
    memset(line, 'x', AP_CSV_RECORD_BYTES + 5);
    split(line, 4096, out, &good);
    assert_false(good);
    free(line);
}

/* ---- zip --------------------------------------------------------------------------------------------------------- */

/* A zip with one stored file, byte by byte as APPNOTE.TXT describes it. */
static size_t make_zip(unsigned char *out, const char *name, const char *text, unsigned long crc, unsigned entries)
{
    unsigned char local[30] = {'P', 'K', 3, 4, 20}, central[46] = {'P', 'K', 1, 2, 20, 0, 20},
                  end[22] = {'P', 'K', 5, 6};
    size_t name_len = strlen(name), len = strlen(text), at_central = 30 + name_len + len;
    for (int i = 0; i < 4; i++)
        local[14 + i] = central[16 + i] = (unsigned char)(crc >> (8 * i));
    local[18] = local[22] = central[20] = central[24] = (unsigned char)len;
    local[26] = central[28] = (unsigned char)name_len;
    end[8] = end[10] = (unsigned char)entries;
    end[12] = (unsigned char)(46 + name_len);
    end[16] = (unsigned char)at_central;
    unsigned char *to = out;
    memcpy(to, local, 30), to += 30;
    memcpy(to, name, name_len), to += name_len;
    memcpy(to, text, len), to += len;
    memcpy(to, central, 46), to += 46;
    memcpy(to, name, name_len), to += name_len;
    memcpy(to, end, 22);
    return (size_t)(to - out) + 22;
}

/* CRC-32 of "123456789" is 0xCBF43926 (the check value of the algorithm). */
#define CHECK_TEXT "123456789"
#define CHECK_CRC  0xCBF43926UL

static bool unzip(const unsigned char *zip, size_t len, size_t most, char **ret)
{
    size_t out_len;
    const char *error = NULL;
    *ret = NULL;
    return ap_unzip_one(zip, len, most, ret, &out_len, &error);
}

static void test_zip(void **state)
{
    (void)state;
    unsigned char zip[256];
    char *text;
    size_t len = make_zip(zip, "a.csv", CHECK_TEXT, CHECK_CRC, 1);
    assert_true(unzip(zip, len, 100, &text));
    assert_string_equal(text, CHECK_TEXT);
    free(text);
    assert_false(unzip(zip, len, 5, &text)); /* larger than allowed */
    for (size_t cut = 0; cut < len; cut++)
        assert_false(unzip(zip, cut, 100, &text)); /* cut off anywhere */
    len = make_zip(zip, "a.csv", CHECK_TEXT, CHECK_CRC ^ 1, 1);
    assert_false(unzip(zip, len, 100, &text)); /* wrong sum */
    len = make_zip(zip, "../a.csv", CHECK_TEXT, CHECK_CRC, 1);
    assert_false(unzip(zip, len, 100, &text));
    len = make_zip(zip, "a.csv", CHECK_TEXT, CHECK_CRC, 2);
    assert_false(unzip(zip, len, 100, &text));
}

/* ---- SHA-256 ----------------------------------------------------------------------------------------------------- */

static void test_sha256(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } known[] = {/* FIPS 180-4 examples */
                 {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                 {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                 {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ap_sha256 sha;
        char hex[65];
        ap_sha256_init(&sha);
        for (const char *c = known[i].text; *c; c++)
            ap_sha256_add(&sha, c, 1);
        ap_sha256_end(&sha, hex);
        assert_string_equal(hex, known[i].hex);
    }
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static void test_every_source_of_the_contract_is_built_in(void **state)
{
    ap_providers providers;
    assert_int_equal(ap_providers_builtin(*state, &providers), AP_OK);
    size_t count = 0;
    for (; ap_price_source_ids[count]; count++) {
        const ap_provider *p = ap_provider_find(&providers, ap_price_source_ids[count]);
        assert_non_null(p);
        assert_true(p->tier != AP_TIER_KEYED || p->auth.env.count || p->auth.secret_env);
        assert_non_null(p->source);
    }
    assert_int_equal(providers.count, count);
}

static void test_addresses_that_are_allowed(void **state)
{
    const char *hosts[] = {"prices.azure.com"};
    ap_price_request request = {.url = "https://api.azure.com/x"};
    ap_provider provider = {.id = "azure", .hosts = {hosts, 1}, .requests = {&request, 1}};
    ap_price_update update = {.test_base_url = "http://127.0.0.1:8080"};
    ap_fetch fetch = {.provider = &provider, .update = &update, .arena = *state};
    static const char *const good[] = {"https://prices.azure.com/x", "https://prices.azure.com:443/x",
                                       "https://PRICES.azure.com/x", "https://api.azure.com/",
                                       "http://127.0.0.1:8080/azure/x"};
    static const char *const bad[] = {"http://prices.azure.com/x",
                                      "https://prices.azure.com:444/x",
                                      "https://prices.azure.com@evil.example/x",
                                      "https://prices.azure.com.evil.example/",
                                      "https://evil.example/",
                                      "file:///etc/passwd",
                                      "/x",
                                      "",
                                      "http://127.0.0.1:80801/x",
                                      "http://127.0.0.1:8080.evil.example/x",
                                      "https://user@prices.azure.com/x"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(ap_fetch_allows(&fetch, good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(ap_fetch_allows(&fetch, bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_retried),
        cmocka_unit_test(test_retry_after_is_clamped),
        cmocka_unit_test(test_backoff_grows_and_is_bounded),
        cmocka_unit_test(test_one_long_wait_on_429),
        cmocka_unit_test(test_json_pointer),
        arena_test(test_rows_know_what_holds_them),
        arena_test(test_numbers_of_rows),
        arena_test(test_conditions),
        cmocka_unit_test(test_csv_in_pieces),
        cmocka_unit_test(test_csv_that_is_cut_or_too_long),
        cmocka_unit_test(test_zip),
        cmocka_unit_test(test_sha256),
        arena_test(test_every_source_of_the_contract_is_built_in),
        arena_test(test_addresses_that_are_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
