/* Linear algebra of the fit: normal equations of a sparse Jacobian. */
#include <math.h>
#include <string.h>

#include "estimate/fit.h"

#define DENSE_LIMIT   700
#define CG_ITERATIONS 200
#define CG_TOLERANCE  1e-4 /* of the preconditioned residual: Gauss-Newton needs no more */

static void solve_dense(const ap_sparse_rows *j, const double *weights, const double *diagonal, double *x, ap_arena *scratch)
{
    size_t n = j->column_count;
    double *a = AP_NEW_ARRAY(scratch, double, n *n);
    for (size_t i = 0; i < n; i++)
        a[i * n + i] = diagonal[i];
    for (size_t r = 0; r < j->row_count; r++) {
        if (weights[r] == 0)
            continue;
        for (size_t p = j->starts[r]; p < j->starts[r + 1]; p++) {
            double *line = a + (size_t)j->columns[p] * n;
            double scaled = weights[r] * j->values[p];
            for (size_t q = j->starts[r]; q < j->starts[r + 1]; q++)
                if (j->columns[q] <= j->columns[p])
                    line[j->columns[q]] += scaled * j->values[q];
        }
    }
    /* Cholesky, lower triangle. The diagonal holds prior precisions, so the matrix is positive definite. */
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k <= i; k++) {
            double sum = a[i * n + k];
            for (size_t m = 0; m < k; m++)
                sum -= a[i * n + m] * a[k * n + m];
            a[i * n + k] = i == k ? sqrt(fmax(sum, 1e-300)) : sum / a[k * n + k];
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t m = 0; m < i; m++)
            x[i] -= a[i * n + m] * x[m];
        x[i] /= a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t m = i + 1; m < n; m++)
            x[i] -= a[m * n + i] * x[m];
        x[i] /= a[i * n + i];
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void multiply(const ap_sparse_rows *j, const double *weights, const double *diagonal, const double *x, double *ret)
{
    for (size_t i = 0; i < j->column_count; i++)
        ret[i] = diagonal[i] * x[i];
    for (size_t r = 0; r < j->row_count; r++) {
        if (weights[r] == 0)
            continue;
        double sum = 0;
        for (size_t p = j->starts[r]; p < j->starts[r + 1]; p++)
            sum += j->values[p] * x[j->columns[p]];
        sum *= weights[r];
        for (size_t p = j->starts[r]; p < j->starts[r + 1]; p++)
            ret[j->columns[p]] += j->values[p] * sum;
    }
}

/* Conjugate gradients, preconditioned by the diagonal. */
static void solve_cg(const ap_sparse_rows *j, const double *weights, const double *diagonal, double *x, ap_arena *scratch)
{
    size_t n = j->column_count;
    double *r = AP_NEW_ARRAY(scratch, double, n);
    double *z = AP_NEW_ARRAY(scratch, double, n);
    double *p = AP_NEW_ARRAY(scratch, double, n);
    double *ap = AP_NEW_ARRAY(scratch, double, n);
    double *inverse = AP_NEW_ARRAY(scratch, double, n);
    memcpy(r, x, n * sizeof *r);
    memcpy(inverse, diagonal, n * sizeof *inverse);
    for (size_t k = 0; k < j->row_count; k++)
        for (size_t q = j->starts[k]; weights[k] != 0 && q < j->starts[k + 1]; q++)
            inverse[j->columns[q]] += weights[k] * j->values[q] * j->values[q];
    for (size_t i = 0; i < n; i++) {
        inverse[i] = 1 / inverse[i];
        x[i] = 0;
        p[i] = z[i] = r[i] * inverse[i];
    }
    double rz = dot(r, z, n), first = rz;
    for (int it = 0; it < CG_ITERATIONS && rz > first * CG_TOLERANCE * CG_TOLERANCE && rz > 0; it++) {
        multiply(j, weights, diagonal, p, ap);
        double step = rz / dot(p, ap, n);
        for (size_t i = 0; i < n; i++) {
            x[i] += step * p[i];
            r[i] -= step * ap[i];
            z[i] = r[i] * inverse[i];
        }
        double next = dot(r, z, n);
        for (size_t i = 0; i < n; i++)
            p[i] = z[i] + next / rz * p[i];
        rz = next;
    }
}

void ap_fit_solve(const ap_sparse_rows *jacobian, const double *weights, const double *diagonal, const double *gradient,
                  double *ret_x, ap_arena *scratch)
{
    memcpy(ret_x, gradient, jacobian->column_count * sizeof *ret_x);
    if (jacobian->column_count <= DENSE_LIMIT)
        solve_dense(jacobian, weights, diagonal, ret_x, scratch);
    else
        solve_cg(jacobian, weights, diagonal, ret_x, scratch);
}
