/* Bands from held-out residuals. A cell's band is the weighted 10 % and 90 % quantile of ln(measured / predicted) over
 * predictions that never saw the row; sources weigh n^-1/2 so that one large source does not speak for all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/accuracy.h"

#define MIN_ROWS    20
#define MIN_SOURCES 2
#define LEVEL       0.09  /* a little outside 10 %: quantiles of a sample are narrower than those of what follows */
#define NARROWEST   0.02

typedef struct residual {
    const char *cell, *family;
    double value, weight;
} residual;

typedef struct residuals {
    residual *items;
    size_t count, capacity;
    ap_arena *arena;
} residuals;

static int by_cell(const void *a, const void *b)
{
    const residual *x = a, *y = b;
    int order = strcmp(x->cell, y->cell);
    if (order)
        return order;
    return (x->value > y->value) - (x->value < y->value);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t distinct_sources(const residual *items, size_t count)
{
    const char **names = malloc((count + 1) * sizeof *names);
    if (!names)
        return 0;
    for (size_t i = 0; i < count; i++)
        names[i] = items[i].family;
    qsort(names, count, sizeof *names, by_text);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || strcmp(names[i], names[i - 1]) != 0;
    free(names);
    return distinct;
}

static double weighted_quantile(const residual *items, size_t count, double q)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        total += items[i].weight;
    for (size_t i = 0; i < count; i++) {
        sum += items[i].weight;
        if (sum >= q * total)
            return items[i].value;
    }
    return count ? items[count - 1].value : AP_UNKNOWN;
}

/* Few rows: the quantiles move outwards by half a standard error of the level. Few sources: by `per_source` over their number,
 * since the next one is off by an amount of its own (not for memory, which follows from the job whoever measures it). */
static ap_calib_cell cell_of(const residual *items, size_t count, size_t sources, double per_source)
{
    double level = fmax(0, LEVEL - 0.5 * LEVEL / sqrt((double)count) - per_source / (double)sources);
    double low = weighted_quantile(items, count, level), high = weighted_quantile(items, count, 1 - level);
    return (ap_calib_cell){items[0].cell, fmin(low, -NARROWEST), fmax(high, NARROWEST), (double)count, (double)sources};
}

static size_t family_size(const ap_outcomes *outcomes, const char *family)
{
    size_t n = 0;
    for (size_t i = 0; i < outcomes->count; i++)
        n += outcomes->items[i].cell_count && ap_streq(outcomes->items[i].measure->family, family);
    return n;
}

static void collect(const ap_pool *pool, int half, residuals *into)
{
    const char *last = NULL;
    double last_weight = 1;
    for (size_t i = 0; i < pool->outcomes->count; i++) {
        const ap_outcome *o = &pool->outcomes->items[i];
        if (!o->cell_count || !isfinite(o->ln_residual) || (half >= 0 && ap_accuracy_half(o->measure) != half))
            continue;
        if (last != o->measure->family && (!last || strcmp(last, o->measure->family) != 0)) {
            last = o->measure->family;
            last_weight = pow((double)family_size(pool->outcomes, last), -0.5);
        }
        for (size_t c = 0; c < o->cell_count; c++)
            *AP_PUSH(into->arena, into->items, into->count, into->capacity) =
                (residual){o->cells[c], o->measure->family, o->ln_residual, pool->weight * last_weight};
    }
}

void ap_accuracy_intervals(const ap_pool *pools, size_t count, int half, ap_arena *arena, ap_calib_engine *engine)
{
    residuals all = {.arena = arena};
    for (size_t i = 0; i < count; i++)
        collect(&pools[i], half, &all);
    if (all.count)
        qsort(all.items, all.count, sizeof *all.items, by_cell);
    ap_calib_cell *cells = AP_NEW_ARRAY(arena, ap_calib_cell, all.count + 1);
    size_t kept = 0;
    for (size_t i = 0; i < all.count;) {
        size_t end = i;
        while (end < all.count && strcmp(all.items[end].cell, all.items[i].cell) == 0)
            end++;
        size_t sources = distinct_sources(all.items + i, end - i);
        bool last_resort = !strchr(all.items[i].cell, '|'); /* the quantity alone */
        if (last_resort || (end - i >= MIN_ROWS && sources >= MIN_SOURCES))
            cells[kept++] = cell_of(all.items + i, end - i, sources,
                                    ap_starts_with(all.items[i].cell, "memory") ? 0 : ap_or(engine->band_sources, 0));
        i = end;
    }
    engine->intervals.items = cells;
    engine->intervals.count = kept;
    ap_calib_sort(engine);
}

void ap_accuracy_apply(const ap_calib_engine *engine, ap_outcomes *outcomes, int half)
{
    for (size_t i = 0; i < outcomes->count; i++) {
        ap_outcome *o = &outcomes->items[i];
        if (!o->cell_count || (half >= 0 && ap_accuracy_half(o->measure) != half))
            continue;
        double low, high;
        ap_calib_interval(engine, o->cells, o->cell_count, &low, &high);
        bool rate = ap_metric_is_rate(o->measure->metric);
        o->p10 = o->p50 * exp(rate ? -high : low);
        o->p90 = o->p50 * exp(rate ? -low : high);
    }
}
