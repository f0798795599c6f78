/* The public header alone must be enough to ask and to get an answer. */
#include "accelpick/accelpick.h"

#include "testing.h"

static void test_recommend_answers_json(void **state)
{
    (void)state;
    accelpick *ap = accelpick_open(NULL, NULL);
    assert_non_null(ap);
    char *json = NULL, *errors = NULL;
    int code = accelpick_recommend(ap, "model: llama-3.1-8b\nmethod: lora\ndata: {tokens: 200M}\n", &json, &errors);
    assert_int_equal(code, 0);
    assert_non_null(json);
    assert_non_null(strstr(json, "\"kind\": \"recommendation\""));
    assert_non_null(strstr(json, "AP1920")); /* where the first stands: the program says it, so must the library */
    accelpick_free(json);
    accelpick_free(errors);
    accelpick_close(ap);
}

static void test_bad_workload_is_explained(void **state)
{
    (void)state;
    accelpick *ap = accelpick_open(NULL, NULL);
    char *json = NULL, *errors = NULL;
    int code = accelpick_recommend(ap, "modle: resnet50\n", &json, &errors);
    assert_int_equal(code, 4);
    assert_null(json);
    assert_non_null(strstr(errors, "<workload>:1:1: error:"));
    accelpick_free(errors);
    accelpick_close(ap);
}

static void test_estimate_says_when_it_does_not_fit(void **state)
{
    (void)state;
    accelpick *ap = accelpick_open(NULL, NULL);
    const char *targets[] = {"t4:1", NULL};
    char *json = NULL;
    int code = accelpick_estimate(ap, "model: llama-3.1-8b\nmethod: finetune\ndata: {tokens: 1M}\n", targets, &json, NULL);
    assert_int_equal(code, 3);
    assert_non_null(strstr(json, "does-not-fit"));
    accelpick_free(json);
    accelpick_close(ap);
}

static void test_unknown_data_folder_gives_no_handle(void **state)
{
    (void)state;
    char *errors = NULL;
    assert_null(accelpick_open("/nonexistent", &errors));
    assert_non_null(errors);
    accelpick_free(errors);
}

/* What a rule of the data folder assumes, the library fills in as the program does; what is said stays. */
static void test_rules_fill_in_what_they_assume(void **state)
{
    (void)state;
    accelpick *ap = accelpick_open("tests/fixtures/house-rule", NULL);
    assert_non_null(ap);
    static const char model[] = "model: {class: decoder, layers: 16, hidden: 2048, heads: 16, ffn: 8192, gated_mlp: true, vocab: 32000}\n"
                                "method: lora\ndata: {tokens: 1M}\n";
    const char *targets[] = {"h100-sxm5-80gb:8", NULL};
    char *json = NULL, *said = NULL, text[sizeof model + 32];
    assert_int_equal(accelpick_estimate(ap, model, targets, &json, NULL), 0);
    assert_non_null(strstr(json, "\"sequence_length\": 8192"));
    assert_non_null(strstr(json, "H1: house rule"));
    (void)snprintf(text, sizeof text, "%ssequence_length: 1024\n", model);
    assert_int_equal(accelpick_estimate(ap, text, targets, &said, NULL), 0);
    assert_non_null(strstr(said, "\"sequence_length\": 1024"));
    accelpick_free(json);
    accelpick_free(said);
    accelpick_close(ap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_fill_in_what_they_assume),
        cmocka_unit_test(test_recommend_answers_json),
        cmocka_unit_test(test_bad_workload_is_explained),
        cmocka_unit_test(test_estimate_says_when_it_does_not_fit),
        cmocka_unit_test(test_unknown_data_folder_gives_no_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
