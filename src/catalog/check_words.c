/* Checks of words that the field tables take as free text: dates, precisions, tasks; and what a suite must say. */
#include "base/date.h"
#include "base/num.h"
#include "base/str.h"
#include "catalog/internal.h"

static const char *const tasks[] = {"train", "pretrain", "finetune", "lora", "qlora"};

static void complain(int kind, const void *record, ap_said said, const char *hint, ap_diags *diags)
{
    ap_diag_add(diags, AP_ERROR, 731, ap_access_pos(kind, record), "%s '%s': '%s' is no %s",
                ap_accesses[kind].singular, ap_access_label(kind, record, diags->arena), said.word, said.field)
        ->hint = hint;
}

void ap_check_date(int kind, const void *record, ap_said said, ap_diags *diags)
{
    if (said.word && !ap_date_is_plain(said.word))
        complain(kind, record, said, "a date is written YYYY, YYYY-MM or YYYY-MM-DD", diags);
}

void ap_check_precision(int kind, const void *record, ap_said said, ap_diags *diags)
{
    if (said.word && ap_precision_parse(said.word) < 0)
        complain(kind, record, said, "fp64, fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4, int8, nf4 or int4", diags);
}

void ap_check_task(int kind, const void *record, ap_said said, ap_diags *diags)
{
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (!said.word || ap_streq(said.word, tasks[i]))
            return;
    complain(kind, record, said, "train, pretrain, finetune, lora or qlora", diags);
}

static bool sets_something(const ap_suite_run *run)
{
    return ap_known(run->micro_batch) || ap_known(run->global_batch) || ap_known(run->seq_len) || run->date ||
           run->compile >= 0 || run->ran_precision || ap_known(run->ran_chips);
}

static void check_run(const ap_suite *suite, const ap_suite_run *run, ap_diags *diags)
{
    ap_check_date(AP_KIND_SUITES, suite, (ap_said){"date", run->date}, diags);
    ap_check_precision(AP_KIND_SUITES, suite, (ap_said){"precision", run->precision}, diags);
    ap_check_precision(AP_KIND_SUITES, suite, (ap_said){"ran_precision", run->ran_precision}, diags);
    ap_check_task(AP_KIND_SUITES, suite, (ap_said){"task", run->task}, diags);
    if (!sets_something(run))
        ap_diag_add(diags, AP_ERROR, 732, suite->pos, "suite '%s' has a run that settles nothing", suite->id)->hint =
            "a run gives a batch, a length, a date, a precision or chips; leave out what is not known";
    if (ap_known(run->ran_chips) && ap_known(suite->chips) && run->ran_chips > suite->chips)
        ap_diag_add(diags, AP_ERROR, 732, suite->pos, "suite '%s': a run used %g chips of a machine with %g", suite->id,
                    run->ran_chips, suite->chips);
    if (run->micro_batch > run->global_batch)
        ap_diag_add(diags, AP_ERROR, 732, suite->pos, "suite '%s': a run takes %g at once of a batch of %g", suite->id,
                    run->micro_batch, run->global_batch);
}

void ap_check_suite_words(const ap_suite *suite, ap_diags *diags)
{
    ap_check_date(AP_KIND_SUITES, suite, (ap_said){"date", suite->date}, diags);
    if (!*suite->rows_from)
        ap_diag_add(diags, AP_ERROR, 732, suite->pos, "suite '%s': rows_from is empty, which every row begins with",
                    suite->id);
    if (!suite->runs.count)
        ap_diag_add(diags, AP_ERROR, 732, suite->pos, "suite '%s' has no runs", suite->id);
    for (size_t i = 0; i < suite->runs.count; i++)
        check_run(suite, &suite->runs.items[i], diags);
}
