/* Prediction of a measurement row in the row's own metric and unit. Pure. */
#ifndef AP_ESTIMATE_PREDICT_H
#define AP_ESTIMATE_PREDICT_H

#include "estimate/cases.h"

typedef struct ap_prediction {
    double p10, p50, p90; /* of the row's metric; NaN when there is no prediction */
    int basis;            /* ap_basis */
    const char *reason;   /* NULL, or why there is none */
    ap_estimate estimate; /* the step behind it */
} ap_prediction;

void ap_predict(const ap_calibration *calibration, const ap_measure *measure, ap_prediction *ret);

/* The metric from a step that was estimated, NaN with *ret_reason set when the step does not answer it. */
double ap_predict_metric(const ap_est_context *context, const ap_estimate *estimate, const ap_measure *measure,
                         const char **ret_reason);
ap_quantity ap_metric_quantity(int metric);
bool ap_metric_is_rate(int metric); /* more is faster */

#endif
