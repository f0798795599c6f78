/* The public library: the same layers as the program, without a command line. */
#include "accelpick/accelpick.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <xlocale.h> /* uselocale */
#endif

#include "plan/advice.h"
#include "plan/knowledge.h"
#include "plan/reasons.h"
#include "plan/target.h"
#include "view/view.h"

struct accelpick {
    ap_arena *arena;
    const ap_catalog *catalog;
    const ap_calibration *calibration; /* of the data folder: the constants belong to its facts */
    const char *data_dir;
    locale_t numbers; /* points in numbers, whatever the caller's locale has */
};

/* One question: everything it needs, gone when it is answered. */
typedef struct question {
    ap_arena *arena;
    ap_diags diags;
    ap_workload workload;
    ap_job job;
    ap_plan_options options;
    ap_search search;
    ap_view_options view;
} question;

const char *accelpick_version(void)
{
    return AP_VERSION;
}

void accelpick_free(char *text)
{
    free(text);
}

/* The program never calls setlocale; a caller may have. Numbers are read and written with points in this thread until the
 * locale that this returns is put back. */
static locale_t enter_plain_numbers(locale_t numbers)
{
    return numbers ? uselocale(numbers) : (locale_t)0;
}

static void leave_plain_numbers(locale_t callers)
{
    if (callers)
        (void)uselocale(callers);
}

static void hand_over(const char *text, char **ret)
{
    if (ret)
        *ret = text ? strdup(text) : NULL;
}

static void hand_over_diags(ap_arena *arena, const ap_diags *diags, char **ret_errors)
{
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    for (size_t i = 0; i < diags->count; i++)
        ap_diag_format(&diags->items[i], &text);
    hand_over(text.text, ret_errors);
}

static accelpick *open_catalog(const char *data_dir, locale_t numbers, char **ret_errors)
{
    ap_arena *arena = ap_arena_new();
    ap_diags diags;
    ap_catalog *loaded = NULL;
    ap_calibration *calibration = NULL;
    ap_diags_init(&diags, arena);
    ap_status status = data_dir ? ap_catalog_load_dir(data_dir, arena, &diags, &loaded) : AP_OK;
    if (status == AP_OK)
        status = ap_calibration_of_data(data_dir, arena, &diags, &calibration);
    hand_over_diags(arena, &diags, ret_errors);
    if (status != AP_OK) {
        ap_arena_free(arena);
        return NULL;
    }
    accelpick *ap = AP_NEW(arena, accelpick);
    ap->arena = arena;
    ap->catalog = loaded ? loaded : ap_catalog_builtin(arena);
    ap->calibration = calibration;
    ap->data_dir = ap_arena_strdup(arena, data_dir);
    ap->numbers = numbers;
    return ap;
}

accelpick *accelpick_open(const char *data_dir, char **ret_errors)
{
    locale_t numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0), callers = enter_plain_numbers(numbers);
    accelpick *ap = open_catalog(data_dir, numbers, ret_errors);
    leave_plain_numbers(callers);
    if (!ap && numbers)
        freelocale(numbers);
    return ap;
}

void accelpick_close(accelpick *ap)
{
    if (!ap)
        return;
    if (ap->numbers)
        freelocale(ap->numbers);
    ap_arena_free(ap->arena);
}

static ap_status ask(const accelpick *ap, const char *workload, unsigned scope, question *q)
{
    *q = (question){.arena = ap_arena_new()};
    ap_diags_init(&q->diags, q->arena);
    ap_status status = ap_workload_read(workload, strlen(workload), "<workload>", q->arena, &q->diags, &q->workload);
    if (status == AP_OK)
        status = ap_job_resolve(&q->workload, ap->catalog, NULL, q->arena, &q->diags, &q->job);
    if (status != AP_OK)
        return status;
    q->options = (ap_plan_options){.constraints = q->workload.constraints, .group_by = AP_GROUP_INSTANCE};
    ap_search_init(&q->search, (ap_search_inputs){&q->job, ap->catalog, ap->calibration, &q->options, q->arena});
    ap_knowledge_request request = {.data_dir = ap->data_dir};
    ap_ruleset *set;
    status = ap_knowledge_load(&request, q->arena, &q->diags, &set);
    if (status != AP_OK)
        return status;
    ap_rules_request rules = {.set = set, .scope = scope, .workload = &q->workload, .job = &q->job, .diags = &q->diags};
    return ap_search_apply_rules(&q->search, &rules);
}

static int answer(question *q, ap_status status, const ap_doc *doc, char **ret_json, char **ret_errors)
{
    ap_render_options options = {.format = AP_FORMAT_JSON};
    ap_sbuf text;
    ap_sbuf_init(&text, q->arena);
    ap_status rendered = doc ? ap_doc_render(doc, &options, &text) : AP_OK;
    hand_over(doc && rendered == AP_OK ? text.text : NULL, ret_json);
    hand_over_diags(q->arena, &q->diags, ret_errors);
    ap_arena_free(q->arena);
    return rendered != AP_OK ? (int)rendered : (int)status;
}

static const char no_question[] = "error: no handle or no workload was given\n";

/* What cannot be asked: a caller's mistake, answered like a bad workload. */
static int refuse(const char *why, char **ret_json, char **ret_errors)
{
    hand_over(NULL, ret_json);
    hand_over(why, ret_errors);
    return AP_BAD_INPUT;
}

static int recommend(accelpick *ap, const char *workload, char **ret_json, char **ret_errors)
{
    question q;
    ap_status status = ask(ap, workload, AP_SCOPE_RECOMMEND, &q);
    if (status != AP_OK)
        return answer(&q, status, NULL, ret_json, ret_errors);
    ap_search_run(&q.search);
    const ap_advice *advice;
    size_t advice_count = ap_search_conclude(&q.search, 0, &advice);
    const ap_doc *doc = ap_view_recommendation(q.arena, &q.search, advice, advice_count, &q.view);
    return answer(&q, q.search.result_count ? AP_OK : AP_INFEASIBLE, doc, ret_json, ret_errors);
}

static int estimate(accelpick *ap, const char *workload, const char *const *targets, char **ret_json, char **ret_errors)
{
    question q;
    ap_target *parsed = NULL;
    size_t count = 0;
    while (targets && targets[count])
        count++;
    ap_status status = ask(ap, workload, AP_SCOPE_ESTIMATE, &q);
    if (status == AP_OK)
        status = ap_search_parse_targets(&q.search, targets, count, &q.diags, &parsed);
    if (status != AP_OK)
        return answer(&q, status, NULL, ret_json, ret_errors);
    ap_result *results = AP_NEW_ARRAY(q.arena, ap_result, count + 1);
    for (size_t i = 0; i < count; i++) {
        ap_search_target(&q.search, &parsed[i], &results[i]);
        (void)ap_reasons_explain(q.search.reasons, &results[i]);
        if (results[i].plan->est.error || results[i].plan->est.verdict == AP_DOES_NOT_FIT)
            status = AP_INFEASIBLE;
    }
    const ap_doc *doc = ap_view_estimate(q.arena, &q.search, results, count, &q.view);
    return answer(&q, status, doc, ret_json, ret_errors);
}

int accelpick_recommend(accelpick *ap, const char *workload, char **ret_json, char **ret_errors)
{
    if (!ap || !workload)
        return refuse(no_question, ret_json, ret_errors);
    locale_t callers = enter_plain_numbers(ap->numbers);
    int code = recommend(ap, workload, ret_json, ret_errors);
    leave_plain_numbers(callers);
    return code;
}

int accelpick_estimate(accelpick *ap, const char *workload, const char *const *targets, char **ret_json, char **ret_errors)
{
    if (!ap || !workload)
        return refuse(no_question, ret_json, ret_errors);
    locale_t callers = enter_plain_numbers(ap->numbers);
    int code = estimate(ap, workload, targets, ret_json, ret_errors);
    leave_plain_numbers(callers);
    return code;
}
