/* The public header alone must be enough to ask and to get an answer. */
#include "accelpick/accelpick.h"

#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Constants belong to the facts of their folder: the library reads them there, as the program with --data does. */
static void test_constants_come_from_the_data_folder(void **state)
{
    (void)state;
    char dir[] = "/tmp/accelpick-data-XXXXXX", command[512];
    assert_non_null(mkdtemp(dir));
    static const char copy[] = "cp -r tests/fixtures/house-rule/. %s && cp -r data/calibration %s/calibration && "
                               "sed -i.old 's/value: 120$/value: 72000/' %s/calibration/run.yaml";
    (void)snprintf(command, sizeof command, copy, dir, dir, dir);
    assert_int_equal(system(command), 0); /* a start of 20 hours instead of two minutes */
    static const char run[] = "model: {class: decoder, layers: 16, hidden: 2048, heads: 16, ffn: 8192, gated_mlp: true, vocab: 32000}\n"
                              "method: lora\ndata: {tokens: 1M}\n";
    const char *targets[] = {"h100-sxm5-80gb:8", NULL};
    char *json = NULL, *errors = NULL;
    accelpick *ap = accelpick_open(dir, NULL);
    assert_non_null(ap);
    assert_int_equal(accelpick_estimate(ap, run, targets, &json, NULL), 0);
    const char *hours = strstr(json, "\"time_h\": {");
    assert_non_null(hours);
    hours = strstr(hours, "\"p50\": ");
    assert_non_null(hours);
    double time_h = strtod(hours + strlen("\"p50\": "), NULL);
    if (time_h < 20 || time_h > 21)
        fail_msg("%s", json);
    accelpick_free(json);
    accelpick_close(ap);
    (void)snprintf(command, sizeof command, "echo 'engine: [' > %s/calibration/run.yaml", dir);
    assert_int_equal(system(command), 0);
    assert_null(accelpick_open(dir, &errors));
    assert_non_null(strstr(errors, "run.yaml"));
    accelpick_free(errors);
    (void)snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

static void test_no_question_is_refused(void **state)
{
    (void)state;
    accelpick *ap = accelpick_open(NULL, NULL);
    const char *targets[] = {"t4:1", NULL};
    char *json = NULL, *errors = NULL;
    assert_int_equal(accelpick_recommend(ap, NULL, &json, &errors), 4);
    assert_null(json);
    assert_non_null(strstr(errors, "no workload"));
    accelpick_free(errors);
    assert_int_equal(accelpick_estimate(ap, NULL, targets, NULL, NULL), 4);
    assert_int_equal(accelpick_estimate(NULL, "model: resnet50\n", targets, &json, &errors), 4);
    accelpick_free(errors);
    accelpick_close(ap);
}

#define RUN "model: llama-3.1-8b\nmethod: lora\ndata: {tokens: 1.5M}\nconstraints: {chips: 8, clouds: [aws, lambda]}\n"

/* A locale with decimal commas: one of the system's, or compiled here. NULL where neither is there. */
static const char *comma_locale(char *dir)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]))
            return names[i];
    char command[128];
    if (!mkdtemp(dir))
        return NULL;
    (void)snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", dir);
    if (system(command) != 0 || setenv("LOCPATH", dir, 1) != 0)
        return NULL;
    return setlocale(LC_ALL, "de_DE.UTF-8");
}

/* A caller whose locale has decimal commas gets the same bytes, and keeps its locale. */
static void test_a_callers_locale_changes_nothing(void **state)
{
    (void)state;
    accelpick *plain = accelpick_open(NULL, NULL);
    char *expected = NULL, *json = NULL, dir[] = "/tmp/accelpick-locale-XXXXXX", number[16], command[64];
    assert_int_equal(accelpick_recommend(plain, RUN, &expected, NULL), 0);
    const char *name = comma_locale(dir);
    if (name) {
        accelpick *ap = accelpick_open("tests/fixtures/house-rule", NULL);
        assert_non_null(ap); /* its data have points */
        accelpick_close(ap);
        assert_int_equal(accelpick_recommend(plain, RUN, &json, NULL), 0);
        assert_string_equal(json, expected);
        (void)snprintf(number, sizeof number, "%.1f", 0.5);
        assert_string_equal(number, "0,5");
        (void)setlocale(LC_ALL, "C");
    }
    (void)snprintf(command, sizeof command, "rm -rf %s", dir);
    if (!strchr(dir, 'X'))
        assert_int_equal(system(command), 0);
    accelpick_free(expected);
    accelpick_free(json);
    accelpick_close(plain);
    if (!name)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_callers_locale_changes_nothing),
        cmocka_unit_test(test_rules_fill_in_what_they_assume),
        cmocka_unit_test(test_constants_come_from_the_data_folder),
        cmocka_unit_test(test_no_question_is_refused),
        cmocka_unit_test(test_recommend_answers_json),
        cmocka_unit_test(test_bad_workload_is_explained),
        cmocka_unit_test(test_estimate_says_when_it_does_not_fit),
        cmocka_unit_test(test_unknown_data_folder_gives_no_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
