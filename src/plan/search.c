/* The search over the catalog: instances x machine counts, each estimated once per distinct hardware, priced per region
 * and pricing kind. */
#include <math.h>

#include "base/human.h"
#include "base/num.h"
#include "plan/constants.h"
#include "plan/plan.h"
#include "plan/reasons.h"


/* Estimates of one chip share what does not depend on the number of machines. */
struct ap_chip_plans {
    ap_plan *first;
    const ap_est_context *one_host, *many_hosts;
};

static struct ap_chip_plans *plans_of(ap_search *search, const ap_chip *chip)
{
    size_t count = search->catalog->chips.count;
    if (!search->by_chip)
        search->by_chip = AP_NEW_ARRAY(search->arena, struct ap_chip_plans, count + 1);
    size_t index = (size_t)(chip - search->catalog->chips.items);
    return &search->by_chip[index < count ? index : count];
}

static void prepare_context(ap_search *search, struct ap_chip_plans *shared, const ap_case *job, ap_est_context *ret)
{
    const ap_est_context **like = job->chips > job->chips_per_node ? &shared->many_hosts : &shared->one_host;
    bool same_knowledge = *like && ap_known((*like)->job.nic_bytes_per_s) == ap_known(job->nic_bytes_per_s);
    if (same_knowledge && (*like)->job.chip == job->chip) {
        ap_est_rebind(ret, *like, job);
        return;
    }
    ap_est_init(ret, search->calibration, job);
    ap_est_context *kept = AP_NEW(search->arena, ap_est_context);
    *kept = *ret;
    *like = kept;
}

/* The samples of a step that really run: every rank trains whole micro-batches. A slice of a chip is one rank of a share. */
static double batch_of_layout(const ap_case *job, const ap_layout *layout)
{
    double ranks = layout->dp * layout->micro_batch * layout->accum;
    return job->chips >= 1 && ranks > 0 && ap_known(job->global_batch) ? ranks : job->global_batch;
}

static void estimate_batch(ap_search *search, const ap_est_context *context, ap_plan *plan)
{
    plan->global_batch = context->job.global_batch;
    search->plans_evaluated += ap_plan_best_layout(context, search->job, &plan->est);
    plan->run = ap_run_unknown;
    if (plan->est.error)
        return;
    ap_est_context real = *context;
    plan->global_batch = real.job.global_batch = batch_of_layout(&context->job, &plan->est.layout);
    ap_est_whole_run(&real, &plan->est, 1, &plan->run);
}

/* Several chips want a larger batch than the recipe's. They may have one where nobody asked for that batch and its price in
 * samples is known. */
static bool may_raise_batch(const ap_search *search, const ap_plan *plan)
{
    const ap_job *job = search->job;
    return job->batch_assumed && ap_known(job->critical_batch) && ap_known(job->largest_batch) && ap_known(job->samples) &&
           plan->hw.chips > 1;
}

/* 0 fits, 1 fits tightly, 2 does not run or runs with a batch that is not known to reach the target. */
static int hardship(const ap_plan *plan, double most)
{
    if (plan->est.error || plan->est.verdict == AP_DOES_NOT_FIT || plan->global_batch > most)
        return 2;
    return plan->est.verdict == AP_TIGHT ? 1 : 0;
}

/* Hours to the target. An amount that the user gave stays as it is for any batch, but a larger one must be worth its price
 * to the target all the same. */
static double hours_to_target(const ap_search *search, const ap_plan *plan)
{
    const ap_job *job = search->job;
    double factor = ap_known(job->target_batch) ? 1 : ap_run_batch_factor(plan->global_batch, job->global_batch, job->critical_batch);
    return plan->run.hours_p50 * factor;
}

static void try_batch(ap_search *search, struct ap_chip_plans *shared, const ap_case *job, ap_plan *plan)
{
    ap_est_context context;
    ap_plan other = *plan;
    double most = search->job->largest_batch;
    prepare_context(search, shared, job, &context);
    estimate_batch(search, &context, &other);
    int now = hardship(plan, fmax(most, search->job->global_batch)), then = hardship(&other, most);
    bool faster = hours_to_target(search, &other) < hours_to_target(search, plan) * (1 - 1e-9);
    if (then < now || (then == now && then < 2 && faster)) {
        *plan = other;
        plan->batch_raised = true;
    }
}

/* What was never laid out has no layout: nothing of it is 0, or "none". */
static void forget_layout(ap_plan *plan)
{
    ap_layout *layout = &plan->est.layout;
    if (!plan->est.error || layout->tp >= 1)
        return;
    *layout = (ap_layout){.dp = AP_UNKNOWN, .tp = AP_UNKNOWN, .pp = AP_UNKNOWN, .vpp = AP_UNKNOWN, .cp = AP_UNKNOWN,
                          .ep = AP_UNKNOWN, .micro_batch = AP_UNKNOWN, .accum = AP_UNKNOWN, .sharding = -1, .recompute = -1};
}

static bool is_doubling(double value, double of)
{
    int exponent;
    return frexp(value / of, &exponent) == 0.5;
}

/* The batch with the shortest run: the recipe's, its doublings, and those of the number of chips, which give every chip the
 * same share, up to the largest that is known to reach the target. All are tried: the next may be the shorter run again. */
static void raise_batch(ap_search *search, struct ap_chip_plans *shared, ap_case *job, ap_plan *plan)
{
    double first = job->global_batch, most = search->job->largest_batch, chips = plan->hw.chips;
    for (job->global_batch = 2 * first; job->global_batch <= most; job->global_batch *= 2)
        try_batch(search, shared, job, plan);
    for (job->global_batch = chips; job->global_batch <= most && !is_doubling(chips, first); job->global_batch *= 2)
        if (job->global_batch > first)
            try_batch(search, shared, job, plan);
}

static void estimate_plan(ap_search *search, struct ap_chip_plans *shared, ap_plan *plan)
{
    ap_case job;
    ap_est_context context;
    plan->refused = ap_plan_bind(search, &plan->hw, &job);
    plan->precision = job.precision;
    plan->stack = job.stack;
    if (plan->refused) {
        plan->est.error = plan->refused->message;
        return;
    }
    bool more_chips;
    const char *wrong = ap_plan_wrong_degrees(search, &job, &more_chips);
    if (wrong) { /* a search goes on with more chips where they would do */
        plan->est = (ap_estimate){.error = wrong, .verdict = more_chips ? AP_DOES_NOT_FIT : AP_FITS};
        return;
    }
    prepare_context(search, shared, &job, &context);
    estimate_batch(search, &context, plan);
    if (may_raise_batch(search, plan))
        raise_batch(search, shared, &job, plan);
}

const ap_plan *ap_search_plan(ap_search *search, const ap_hardware *hw)
{
    struct ap_chip_plans *shared = plans_of(search, hw->chip);
    for (ap_plan *plan = shared->first; plan; plan = plan->next)
        if (ap_hardware_same_speed(&plan->hw, hw))
            return plan;
    ap_plan *plan = AP_NEW(search->arena, ap_plan);
    plan->hw = *hw;
    plan->global_batch = AP_UNKNOWN;
    plan->run = ap_run_unknown;
    plan->next = shared->first;
    shared->first = plan;
    estimate_plan(search, shared, plan);
    forget_layout(plan);
    return plan;
}

static const char *target_text(ap_arena *arena, const ap_instance *instance, double machines, const char *region, int pricing)
{
    const char *count = machines > 1 ? ap_arena_printf(arena, ":%.0f", machines) : "";
    return ap_arena_printf(arena, "%s/%s%s@%s%s%s", instance->cloud, instance->name, count, region,
                           pricing == AP_PRICE_ON_DEMAND ? "" : "+", pricing == AP_PRICE_ON_DEMAND ? "" : ap_price_kind_name(pricing));
}

static const ap_finding *over(const ap_search *search, const char *id, const char *message)
{
    ap_finding *finding = AP_NEW(search->arena, ap_finding);
    *finding = (ap_finding){.id = id, .message = message};
    return finding;
}

static void reject(ap_search *search, const char *target, const ap_finding *why, double nearness)
{
    *AP_PUSH(search->arena, search->rejected, search->rejected_count, search->rejected_capacity) =
        (ap_rejection){target, why->id, why->message, why->policy, nearness};
}

/* One priced offer of a plan that fits. */
typedef struct offer {
    const ap_plan *plan;
    const ap_hardware *hw;
    const ap_price *price;
    int pricing;
    const char *target;
    const ap_finding *refused; /* by a rule or policy: another region may pass */
} offer;

/* A result, a rejection by the limits, or a refusal that is not yet recorded. */
static bool offer_result(ap_search *search, offer *o)
{
    ap_result result = {.hw = *o->hw};
    double nearness;
    o->refused = NULL;
    ap_result_fill(search, o->plan, o->price, o->pricing, &result);
    if (!(result.usd_per_h >= 0))
        return false;
    result.target = o->target = target_text(search->arena, o->hw->instance, o->hw->machines, o->price->region, o->pricing);
    const ap_finding *limit = ap_result_over_limit(search, &result, &nearness);
    if (limit) {
        reject(search, result.target, limit, nearness);
        return false;
    }
    if (search->reasons)
        o->refused = ap_reasons_refuse_result(search->reasons, &result);
    if (o->refused)
        return false;
    *AP_PUSH(search->arena, search->results, search->result_count, search->result_capacity) = result;
    return true;
}

static bool every_region_wanted(const ap_search *search)
{
    return search->options->group_by == AP_GROUP_NONE || search->options->group_by == AP_GROUP_REGION ||
           search->job->objective == AP_BY_CO2;
}

static bool is_offered(const ap_search *search, const ap_instance *instance, const ap_price *price, int pricing)
{
    return ap_price_usd(price, pricing) >= 0 && ap_filter_region(search, instance, price->region);
}

/* Cheapest region of a pricing kind that is not cheaper than `after` (NULL: of all), or NULL; of equal prices the first. */
static const ap_price *cheapest(const ap_search *search, const ap_instance *instance, int pricing, const ap_price *after)
{
    const ap_price *best = NULL;
    for (size_t i = 0; i < instance->prices.count; i++) {
        const ap_price *price = &instance->prices.items[i];
        double usd = ap_price_usd(price, pricing), least = after ? ap_price_usd(after, pricing) : 0;
        if (!is_offered(search, instance, price, pricing) || usd < least || (after && usd == least && price <= after))
            continue;
        if (!best || usd < ap_price_usd(best, pricing))
            best = price;
    }
    return best;
}

/* The cheapest region that no rule or policy refuses. When all are refused the refusal of the cheapest is told. */
static bool offer_cheapest(ap_search *search, offer *o)
{
    const ap_instance *instance = o->hw->instance;
    size_t count = 0, refused = 0, before = search->result_count;
    offer first = {0};
    for (size_t i = 0; i < instance->prices.count; i++)
        count += is_offered(search, instance, &instance->prices.items[i], o->pricing) ? 1 : 0;
    for (o->price = NULL; (o->price = cheapest(search, instance, o->pricing, o->price));) {
        bool accepted = offer_result(search, o);
        if (accepted)
            search->results[before].other_regions = count - 1 - refused;
        if (accepted || !o->refused)
            return accepted;
        if (refused++ == 0)
            first = *o;
    }
    if (refused)
        reject(search, first.target, first.refused, HUGE_VAL);
    return false;
}

/* Every offer of one hardware. Returns whether any result came of it. */
static bool price_plan(ap_search *search, const ap_plan *plan, const ap_hardware *hw)
{
    bool any = false;
    for (int pricing = AP_PRICE_ON_DEMAND; pricing <= AP_PRICE_RESERVED_3Y; pricing++) {
        offer o = {.plan = plan, .hw = hw, .pricing = pricing};
        if (!ap_filter_pricing(search, pricing))
            continue;
        if (!every_region_wanted(search)) {
            any = offer_cheapest(search, &o) || any;
            continue;
        }
        for (size_t i = 0; i < hw->instance->prices.count; i++) {
            o.price = &hw->instance->prices.items[i];
            if (!ap_filter_region(search, hw->instance, o.price->region))
                continue;
            any = offer_result(search, &o) || any;
            if (o.refused)
                reject(search, o.target, o.refused, HUGE_VAL);
        }
    }
    return any;
}

static bool may_scale_out(const ap_instance *instance, const ap_chip *chip)
{
    if (ap_streq(instance->market, "marketplace") || ap_streq(instance->market, "notebook") || ap_streq(instance->market, "free"))
        return false;
    return chip->kind == AP_CHIP_GPU || chip->kind == AP_CHIP_ASIC;
}

static double most_chips(const ap_search *search)
{
    const ap_constraints *c = &search->options->constraints;
    return fmin(ap_or(c->max_chips, search->constants.most_chips), ap_or(c->chips.high, search->constants.most_chips));
}

static double most_machines(const ap_search *search, const ap_instance *instance, const ap_chip *chip)
{
    ap_engine engine = ap_est_engine(&(ap_case){.domain = search->job->model.domain, .arch = search->job->model.arch, .chip = chip});
    if (!may_scale_out(instance, chip) || engine == AP_ENGINE_TREE || engine == AP_ENGINE_ENV)
        return 1;
    double chips = most_chips(search);
    double machines = floor(chips / instance->chip_count);
    return instance->chip_count < 4 ? fmin(machines, search->constants.small_host_machines) : machines;
}

/* Has the user said how much hardware to look at? Then the usual limits do not apply. */
static bool size_is_asked(const ap_search *search)
{
    const ap_constraints *c = &search->options->constraints;
    return ap_known(c->max_chips) || ap_known(c->chips.low) || ap_known(c->chips.high) || search->job->objective == AP_BY_TIME;
}

static bool is_oversized(const ap_search *search, const ap_plan *plan)
{
    return !size_is_asked(search) && plan->hw.chips > 8 && plan->run.hours_p50 < search->constants.oversized_h;
}

/* Twice the machines again? Only up to the usual number, or while the job does not fit or would run for months. */
static bool worth_doubling(const ap_search *search, const ap_plan *plan)
{
    const ap_constraints *c = &search->options->constraints;
    if (plan->refused || (plan->est.error && plan->est.verdict != AP_DOES_NOT_FIT))
        return false;
    if (!size_is_asked(search) && plan->run.hours_p50 <= search->constants.scale_out_h)
        return false;
    if (plan->hw.chips < search->constants.usual_most_chips || ap_known(c->max_chips) || ap_known(c->chips.high))
        return true;
    if (plan->est.verdict == AP_DOES_NOT_FIT)
        return plan->est.peak_bytes < 64 * plan->est.capacity_bytes;
    double wanted_h = ap_known(c->deadline_s) ? c->deadline_s / 3600 : search->constants.long_run_h;
    return plan->run.hours_p50 > wanted_h;
}

static const ap_finding *does_not_fit(const ap_search *search, const ap_plan *plan)
{
    const ap_estimate *est = &plan->est;
    size_t largest = 0;
    for (size_t i = 1; i < est->memory_count; i++)
        if (est->memory[i].seconds > est->memory[largest].seconds)
            largest = i;
    return over(search, "AP8020",
                ap_arena_printf(search->arena, "needs %.1f GiB of %.1f GiB%s%s", est->peak_bytes / 1073741824.0,
                                est->capacity_bytes / 1073741824.0, est->memory_count ? ", most for " : "",
                                est->memory_count ? est->memory[largest].name : ""));
}

static const ap_finding *oversized(const ap_search *search, const ap_plan *plan)
{
    return over(search, "AP8030",
                ap_arena_printf(search->arena, "%g chips for a run of %s is more than the job can use (--chips to see it)",
                                plan->hw.chips, ap_human_hours_text(search->arena, plan->run.hours_p50)));
}

static void search_instance(ap_search *search, const ap_instance *instance, const ap_chip *chip)
{
    const ap_constraints *c = &search->options->constraints;
    const char *name = ap_arena_printf(search->arena, "%s/%s", instance->cloud, instance->name);
    if (instance->chip_count > most_chips(search)) {
        reject(search, name, over(search, "AP8007", "more chips than asked for"), HUGE_VAL);
        return;
    }
    double most = most_machines(search, instance, chip);
    const ap_plan *missed = NULL;
    bool fitted = false;
    for (double machines = 1; machines <= most; machines *= 2) {
        ap_hardware hw = ap_hardware_of_instance(search->catalog, instance, machines);
        if (hw.chips < ap_or(c->chips.low, 0))
            continue;
        search->targets++;
        const ap_finding *refused = machines == 1 && search->reasons ? ap_reasons_refuse_target(search->reasons, &hw) : NULL;
        if (refused) {
            reject(search, name, refused, HUGE_VAL);
            return;
        }
        const ap_plan *plan = ap_search_plan(search, &hw);
        if (is_oversized(search, plan)) {
            reject(search, name, oversized(search, plan), plan->hw.chips);
            return;
        }
        if (!plan->est.error && plan->est.verdict != AP_DOES_NOT_FIT) {
            fitted = true;
            price_plan(search, plan, &hw);
        } else {
            missed = missed ? missed : plan;
        }
        if (!worth_doubling(search, plan))
            break;
    }
    if (fitted || !missed)
        return;
    const ap_finding *why = missed->refused                 ? missed->refused
                            : missed->est.error             ? over(search, "AP8021", missed->est.error)
                                                            : does_not_fit(search, missed);
    double nearness = missed->refused || missed->est.error ? (double)HUGE_VAL : missed->est.peak_bytes / missed->est.capacity_bytes;
    reject(search, name, why, nearness);
}

/* Does any region and pricing kind that the user admits have a price? */
static bool has_price(const ap_search *search, const ap_instance *instance)
{
    for (int pricing = AP_PRICE_ON_DEMAND; pricing <= AP_PRICE_RESERVED_3Y; pricing++)
        if (ap_filter_pricing(search, pricing) && cheapest(search, instance, pricing, NULL))
            return true;
    return false;
}

/* An own machine among the offers. */
static void search_rig(ap_search *search, const ap_rig *rig)
{
    const char *name = ap_arena_printf(search->arena, "rig/%s", rig->id);
    ap_hardware hw = ap_hardware_of_rig(search->catalog, rig, 1);
    search->targets++;
    const ap_plan *plan = ap_search_plan(search, &hw);
    if (plan->est.error || plan->est.verdict == AP_DOES_NOT_FIT) {
        const ap_finding *why = plan->refused ? plan->refused : plan->est.error ? over(search, "AP8021", plan->est.error) : does_not_fit(search, plan);
        reject(search, name, why, HUGE_VAL);
        return;
    }
    ap_result result = {.hw = hw, .target = name};
    double nearness;
    ap_result_fill(search, plan, NULL, AP_PRICE_ON_DEMAND, &result);
    const ap_finding *limit = ap_result_over_limit(search, &result, &nearness);
    if (!limit && search->reasons) {
        limit = ap_reasons_refuse_result(search->reasons, &result);
        nearness = HUGE_VAL;
    }
    if (limit)
        reject(search, name, limit, nearness);
    else
        *AP_PUSH(search->arena, search->results, search->result_count, search->result_capacity) = result;
}

void ap_search_init(ap_search *ret, ap_search_inputs inputs)
{
    static const char *const markets[AP_MARKET_COUNT] = {NULL, "marketplace", "notebook", "free", "own"};
    *ret = (ap_search){.job = inputs.job,
                       .catalog = inputs.catalog,
                       .calibration = inputs.calibration,
                       .options = inputs.options,
                       .arena = inputs.arena};
    ret->constants = ap_plan_constants_of(inputs.calibration, NULL);
    for (int i = 0; i < AP_MARKET_COUNT; i++)
        ret->by_market[i] = ap_plan_constants_of(inputs.calibration, markets[i]);
}

void ap_search_init_like(ap_search *ret, const ap_search *like, const ap_job *job)
{
    ap_search_init(ret, (ap_search_inputs){job, like->catalog, like->calibration, like->options, like->arena});
}

void ap_search_run(ap_search *search)
{
    for (size_t i = 0; i < search->catalog->instances.count; i++) {
        const ap_instance *instance = &search->catalog->instances.items[i];
        const ap_chip *chip = ap_catalog_chip(search->catalog, instance->chip);
        if (!chip || !(instance->chip_count > 0))
            continue;
        const ap_finding *filtered = ap_filter_instance(search, instance, chip);
        const char *name = filtered || !has_price(search, instance)
                               ? ap_arena_printf(search->arena, "%s/%s", instance->cloud, instance->name)
                               : NULL;
        if (filtered)
            reject(search, name, filtered, HUGE_VAL);
        else if (name)
            reject(search, name, over(search, "AP8014", "no price known for what was asked (region, pricing)"), HUGE_VAL);
        else
            search_instance(search, instance, chip);
    }
    for (size_t i = 0; i < search->options->rigs.count; i++)
        search_rig(search, search->options->rigs.items[i]);
    ap_rank_results(search);
}
