/* Scores, Pareto front, order and groups. Ties are broken by target name, so the order never depends on the catalog's. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "plan/plan.h"

/* Where something costs nothing, "over the least cost" has no meaning: then a cent counts as the least. */
#define LEAST_COST_USD 0.01

/* Without an amount of data the run is unknown; then a step is what can be compared. */
static double time_of(const ap_result *result)
{
    double hours = result->hours_p50;
    return ap_known(hours) ? hours : result->plan->est.step_s / 3600;
}

static double cost_of(const ap_result *result)
{
    return ap_known(result->cost_p50) ? result->cost_p50 : time_of(result) * result->usd_per_h;
}

static double objective_of(const ap_result *result, int objective, double least_cost, double least_time)
{
    switch (objective) {
    case AP_BY_COST: return cost_of(result);
    case AP_BY_TIME: return time_of(result);
    case AP_BY_ENERGY: return result->energy_kwh;
    case AP_BY_CO2: return result->co2_kg;
    default:
        if (least_cost > 0)
            return sqrt(cost_of(result) / least_cost * (time_of(result) / least_time));
        return sqrt(fmax(cost_of(result) / LEAST_COST_USD, 1) * (time_of(result) / least_time));
    }
}

static int compare_results(const void *left, const void *right)
{
    const ap_result *a = left, *b = right;
    if (isnan(a->score) != isnan(b->score))
        return isnan(a->score) ? 1 : -1;
    if (a->score != b->score && !isnan(a->score))
        return a->score < b->score ? -1 : 1;
    double cost_a = cost_of(a), cost_b = cost_of(b);
    if (cost_a != cost_b)
        return cost_a < cost_b ? -1 : 1;
    return strcmp(a->target, b->target);
}

static int compare_by_cost_then_time(const void *left, const void *right)
{
    const ap_result *a = *(const ap_result *const *)left, *b = *(const ap_result *const *)right;
    double cost_a = cost_of(a), cost_b = cost_of(b), time_a = time_of(a), time_b = time_of(b);
    if (cost_a != cost_b)
        return cost_a < cost_b ? -1 : 1;
    if (time_a != time_b)
        return time_a < time_b ? -1 : 1;
    return strcmp(a->target, b->target);
}

/* On the front: nobody is at least as cheap and as fast and better in one of the two. */
static void mark_pareto(ap_search *search)
{
    size_t count = search->result_count;
    ap_result **order = AP_NEW_ARRAY(search->arena, ap_result *, count);
    for (size_t i = 0; i < count; i++)
        order[i] = &search->results[i];
    qsort(order, count, sizeof *order, compare_by_cost_then_time);
    double fastest = HUGE_VAL, fastest_cost = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        double time = time_of(order[i]), cost = cost_of(order[i]);
        order[i]->pareto = time < fastest || (time == fastest && cost == fastest_cost);
        if (order[i]->pareto) {
            fastest = time;
            fastest_cost = cost;
        }
    }
}

static bool same_group(const ap_result *a, const ap_result *b, ap_grouping grouping)
{
    const ap_instance *x = a->hw.instance, *y = b->hw.instance;
    if (!x || !y) /* own machines: each by itself */
        return a == b || (grouping == AP_GROUP_CHIP && a->hw.chip == b->hw.chip);
    switch (grouping) {
    case AP_GROUP_INSTANCE: return x == y && a->hw.machines == b->hw.machines;
    case AP_GROUP_CHIP: return a->hw.chip == b->hw.chip;
    case AP_GROUP_CLOUD: return ap_streq(x->cloud, y->cloud);
    case AP_GROUP_REGION: return ap_streq(x->cloud, y->cloud) && ap_streq(a->price->region, b->price->region);
    default: return false;
    }
}

static size_t group_hash(const ap_result *result, ap_grouping grouping)
{
    const ap_instance *instance = result->hw.instance;
    size_t hash = 1469598103u;
    if (!instance && grouping != AP_GROUP_CHIP)
        return (size_t)result->hw.rig >> 4;
    const char *texts[2] = {instance ? instance->cloud : "", grouping == AP_GROUP_REGION && result->price ? result->price->region : ""};
    if (grouping == AP_GROUP_INSTANCE)
        return ((size_t)instance >> 4) * 31 + (size_t)result->hw.machines;
    if (grouping == AP_GROUP_CHIP)
        return (size_t)result->hw.chip >> 4;
    for (int t = 0; t < 2; t++)
        for (const char *c = texts[t]; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash;
}

/* Keeps the first (best) result of each group; the results are in order already. */
static void group_results(ap_search *search)
{
    ap_grouping grouping = search->options->group_by;
    if (grouping == AP_GROUP_NONE || search->result_count == 0)
        return;
    size_t slots = 64;
    while (slots < search->result_count * 2)
        slots *= 2;
    size_t *table = AP_NEW_ARRAY(search->arena, size_t, slots); /* index + 1 of a kept result */
    size_t kept = 0;
    for (size_t i = 0; i < search->result_count; i++) {
        ap_result *result = &search->results[i];
        size_t at = group_hash(result, grouping) & (slots - 1);
        while (table[at] && !same_group(&search->results[table[at] - 1], result, grouping))
            at = (at + 1) & (slots - 1);
        if (table[at])
            continue;
        search->results[kept] = *result;
        table[at] = ++kept;
    }
    search->result_count = kept;
}

static int compare_rejections(const void *left, const void *right)
{
    const ap_rejection *a = left, *b = right;
    if (a->nearness != b->nearness)
        return a->nearness < b->nearness ? -1 : 1;
    return strcmp(a->target, b->target);
}

void ap_rank_results(ap_search *search)
{
    double least_cost = HUGE_VAL, least_time = HUGE_VAL;
    for (size_t i = 0; i < search->result_count; i++) {
        least_cost = fmin(least_cost, cost_of(&search->results[i]));
        least_time = fmin(least_time, time_of(&search->results[i]));
    }
    for (size_t i = 0; i < search->result_count; i++)
        search->results[i].score = objective_of(&search->results[i], search->job->objective, least_cost, least_time);
    search->priced_results = search->result_count;
    if (search->result_count) {
        mark_pareto(search);
        qsort(search->results, search->result_count, sizeof *search->results, compare_results);
    }
    group_results(search);
    for (size_t i = 0; i < search->result_count; i++)
        search->results[i].rank = (int)i + 1;
    if (search->rejected_count)
        qsort(search->rejected, search->rejected_count, sizeof *search->rejected, compare_rejections);
}
