/* Measurement rows (columns of tests/measured/measured.csv, any order and number) as cases of the estimator.
 *
 * A prediction reads neither `value` nor `notes`: `value` is kept apart in ap_measure for comparing and fitting, `notes`
 * is never looked at. Everything lives in the arena given; strings point into the parsed CSV or the catalog. */
#ifndef AP_ESTIMATE_CASES_H
#define AP_ESTIMATE_CASES_H

#include "estimate/engine.h"
#include "io/csv.h"

typedef struct ap_measure {
    const char *id, *run, *source, *quality; /* run: the part that one training run's rows share */
    const char *domain, *model, *chip, *stack, *unit;
    const char *family;   /* source family: what "leave one source out" leaves out together */
    int metric;           /* ap_metric, -1 unknown */
    double value;         /* what was measured, NaN; never used for predicting */
    const char *skip;     /* why there can be no prediction, or NULL */
    ap_case job;
    ap_layout layout;
    int line;
} ap_measure;

typedef struct ap_measures {
    ap_measure *items;
    size_t count;
} ap_measures;

/* Bad numbers, unknown words and missing columns are diagnostics (codes 09xx, warnings): the cell counts as unknown. A file
 * that is not CSV or has none of the columns model, chip and metric is AP_BAD_INPUT. */
AP_CHECKED ap_status ap_cases_parse(const char *text, size_t len, const char *name, const ap_catalog *catalog,
                                    ap_arena *arena, ap_diags *diags, ap_measures *ret);
AP_CHECKED ap_status ap_cases_load(const char *path, const ap_catalog *catalog, ap_arena *arena, ap_diags *diags,
                                   ap_measures *ret);

/* A processor by the text of a measurement ("cpu:Intel Xeon Platinum 8275CL"); the most alike of the catalog, or NULL. */
const ap_chip *ap_cases_find_cpu(const ap_catalog *catalog, const char *text);
/* Network per node and fast domain from free text ("8x ConnectX-7 IB NDR 400Gb/s"). Unknown parts stay untouched. */
void ap_cases_read_interconnect(const char *text, ap_case *job);
/* "2023-11" -> 2023.87 (middle of the month), "2023" -> 2023.5, else NaN. */
double ap_cases_date(const char *text);
/* Product of the sides of "224x224" or "128x128x128 crop"; NaN. */
double ap_cases_pixels(const char *input);
/* Repository, paper or MLPerf round of a source text. */
const char *ap_cases_family(const char *source, ap_arena *arena);

/* Fills what a row leaves open from the catalog's suites: settings that the benchmark's scripts hold and its tables do not
 * print (batches, the sequence length, the age of the software). A machine of the benchmark with another number of the
 * same chips serves where the row's own is not there. Needs the row's source, model, machine and precision. */
void ap_cases_fill_from_suites(const ap_catalog *catalog, ap_measure *measure);

#endif
