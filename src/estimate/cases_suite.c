/* What published benchmarks set in their scripts and leave out of their tables. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "catalog/tables.h"
#include "estimate/cases.h"

typedef struct pick {
    const ap_suite *suite;
    const ap_suite_run *run;
    double score;
} pick;

static bool same_precision(const char *wanted, const ap_case *job)
{
    if (!wanted)
        return true;
    int precision = ap_precision_parse(wanted);
    return precision == job->precision || (precision == AP_PREC_FP32 && job->precision == AP_PREC_TF32);
}

/* Settles only what the named facts and the chips leave equal: a longer beginning of the source is a more particular page. */
#define PER_LETTER 1e-6

/* How well a run of a suite stands for the row: named facts first, then the nearer number of chips; below 0: not at all. */
static double fit_of(const ap_suite *suite, const ap_suite_run *run, const ap_case *job)
{
    if ((run->model && !ap_streq(run->model, job->model->id)) || (run->task && !ap_streq(run->task, job->task)) ||
        (run->dataset && !ap_streq(run->dataset, job->dataset)) || !same_precision(run->precision, job) ||
        (ap_known(run->of_seq_len) && !(job->seq_len >= run->of_seq_len && job->seq_len <= run->of_seq_len)))
        return -1;
    int named = (run->model != NULL) + (run->task != NULL) + (run->dataset != NULL) + (run->precision != NULL) +
                ap_known(run->of_seq_len);
    double score = 10.0 * named + PER_LETTER * (double)strlen(suite->rows_from);
    if (suite->chip)
        score += 10.0;
    if (ap_known(suite->chips))
        score += 5.0 / (1.0 + fabs(log(suite->chips / job->chips)));
    return score;
}

static pick pick_run(const ap_catalog *catalog, const ap_measure *m)
{
    pick best = {.score = -1};
    for (size_t i = 0; i < catalog->suites.count; i++) {
        const ap_suite *suite = &catalog->suites.items[i];
        if (!ap_starts_with(m->source, suite->rows_from) || (suite->chip && !ap_streq(suite->chip, m->job.chip->id)))
            continue;
        for (size_t k = 0; k < suite->runs.count; k++) {
            double score = fit_of(suite, &suite->runs.items[k], &m->job);
            if (score > best.score)
                best = (pick){suite, &suite->runs.items[k], score};
        }
    }
    return best;
}

/* Batches of the whole machine scale with the number of chips where another machine of the benchmark stands in. */
static void fill_batch(const pick *from, ap_measure *m)
{
    const ap_suite_run *run = from->run;
    if (ap_known(m->layout.micro_batch) || ap_known(m->job.global_batch))
        return;
    m->layout.micro_batch = run->micro_batch;
    if (ap_known(run->global_batch))
        m->job.global_batch = run->global_batch * m->job.chips / ap_or(from->suite->chips, m->job.chips);
    m->job.fills_card = from->suite->fills_card == 1;
}

void ap_cases_fill_from_suites(const ap_catalog *catalog, ap_measure *measure)
{
    ap_case *job = &measure->job;
    if (!measure->source || !job->chip)
        return;
    pick best = pick_run(catalog, measure);
    if (!best.run)
        return;
    const ap_suite_run *run = best.run;
    fill_batch(&best, measure);
    if (ap_known(run->seq_len))
        job->seq_len = run->seq_len;
    if (!ap_known(job->date))
        job->date = ap_cases_date(run->date ? run->date : best.suite->date);
    if (job->compile < 0)
        job->compile = run->compile;
    if (run->ran_precision)
        job->precision = ap_precision_parse(run->ran_precision);
    if (ap_known(run->ran_chips))
        job->chips = run->ran_chips;
}
