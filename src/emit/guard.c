/* How long a job may run, how often it saves, and the header that says so. Formulas E-01 … in docs/tutorial.md. */
#include <string.h>

#include "base/human.h"
#include "base/num.h"
#include "emit/internal.h"

#define GIB 1073741824.0

const ap_emit_consts *ap_emit_consts_of(const ap_emit_plan *plan)
{
#define ID(id) #id,
    static const char *const ids[] = {AP_EMIT_CONSTS(ID) NULL};
#undef ID
    ap_emit_consts *consts = AP_NEW(plan->arena, ap_emit_consts);
    for (size_t i = 0; i < AP_EMIT_C_COUNT; i++)
        consts->values[i] = AP_UNKNOWN;
    const ap_calib_engine *engine = ap_calibration_engine(plan->request->search->calibration, "emit");
    ap_calib_keys keys = {.count = 0};
    if (engine)
        ap_calib_resolve(engine, ids, &keys, consts->values);
    return consts;
}

double ap_emit_interval_s(double write_s, double mean_s, double shortest_s, double longest_s)
{
    return fmin(fmax(sqrt(2 * write_s * mean_s), shortest_s), longest_s);
}

double ap_emit_round_limit_s(double seconds)
{
    double unit = seconds > 86400 ? 3600 : 900;
    return fmax(1, ceil(seconds / unit - 1e-9)) * unit;
}

const char *ap_emit_slurm_time(ap_arena *arena, double seconds)
{
    long long s = (long long)ceil(seconds);
    long long d = s / 86400, h = s / 3600 % 24, m = s / 60 % 60;
    if (d > 0)
        return ap_arena_printf(arena, "%lld-%02lld:%02lld:%02lld", d, h, m, s % 60);
    return ap_arena_printf(arena, "%02lld:%02lld:%02lld", h, m, s % 60);
}

static const char *words(ap_arena *arena, double value, ap_dim dim)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    ap_units_format(value, dim, &out);
    return out.text;
}

static const char *money(ap_arena *arena, double usd)
{
    return ap_known(usd) ? ap_arena_printf(arena, "%s USD", ap_human_usd_text(arena, usd)) : "unknown";
}

static const char *hours(ap_arena *arena, double value)
{
    return ap_known(value) ? ap_human_hours_text(arena, value) : "unknown";
}

/* ---- checkpoints --------------------------------------------------------------------------------------------------
 */

/* "<5%" and "5-10%" of spot machines are taken back in a month: stops of one machine in an hour. */
static double spot_rate(const ap_emit_plan *p, double assumed)
{
    const char *band = p->result->price ? p->result->price->spot_interruption : NULL, *end;
    double first, second;
    if (!band)
        return assumed;
    if (*band == '<' || *band == '>')
        band++;
    if (!ap_num_parse_prefix(band, &first, &end))
        return assumed;
    if (*end == '-' && ap_num_parse_prefix(end + 1, &second, &end))
        first = second;
    return first > 0 && first < 100 ? -log(1 - first / 100) / 730 : assumed;
}

/* E-03: what is trained, not what is frozen. */
static double checkpoint_bytes(const ap_emit_plan *p, double per_parameter)
{
    const ap_job *job = p->request->search->job;
    double trained = job->model.params;
    if (p->lora) /* two matrices of rank x hidden for every adapted one */
        trained = ap_or(job->lora_target_count, 7) * p->lora_rank * 2 * ap_or(job->model.hidden, 4096) *
                  ap_or(job->model.layers, 32);
    return ap_or(trained, 1e8) * per_parameter;
}

static void take_checkpoints(ap_emit_plan *p, const char *folder)
{
    const double *c = ap_emit_consts_of(p)->values;
    double bytes = checkpoint_bytes(p, c[AP_EMIT_C_state_bytes_per_parameter]);
    double write_s = fmax(1, bytes / (c[AP_EMIT_C_checkpoint_bytes_per_s] * p->nodes));
    double rate = c[AP_EMIT_C_chip_failures_per_h] * p->chips;
    if (p->spot)
        rate += spot_rate(p, c[AP_EMIT_C_spot_stops_per_h]) * p->machines;
    double mean_s = 3600 / rate, young = sqrt(2 * write_s * mean_s);
    p->save_s = ap_emit_interval_s(write_s, mean_s, c[AP_EMIT_C_shortest_interval_s], c[AP_EMIT_C_longest_interval_s]);
    double step_s = p->result->plan->est.step_s;
    p->save_steps = fmax(1, floor(p->save_s / step_s));
    if (ap_known(p->steps))
        p->save_steps = fmin(p->save_steps, p->steps);
    p->disk_gb = ceil((2 * bytes + ap_or(p->request->search->job->model.params, 0) * 4 + 100e9) / 1e11) * 100;
    p->checkpoints = p->settings->checkpoint_dir ? p->settings->checkpoint_dir : folder;
    ap_emit_why(p, "checkpoints",
                "%s takes %s to write; %s between stops gives %s by Young and Daly; kept between %s and %s",
                words(p->arena, bytes, AP_DIM_BYTES), words(p->arena, write_s, AP_DIM_SECONDS),
                words(p->arena, mean_s, AP_DIM_SECONDS), words(p->arena, young, AP_DIM_SECONDS),
                words(p->arena, c[AP_EMIT_C_shortest_interval_s], AP_DIM_SECONDS),
                words(p->arena, c[AP_EMIT_C_longest_interval_s], AP_DIM_SECONDS));
}

/* ---- time limit ---------------------------------------------------------------------------------------------------
 */

static void cap_limit(ap_emit_plan *p, double seconds, const char *why)
{
    double whole = floor(seconds / 60) * 60;
    if (!(whole < p->limit_s))
        return;
    p->limit_s = fmax(60, whole);
    if (p->limit_s < p->hours_p50 * 3600)
        ap_diag_add(p->diags, AP_WARNING, 805, AP_NO_POS,
                    "%s: the limit of %s comes from the %s, but the run takes %s (p50)", p->target,
                    words(p->arena, p->limit_s, AP_DIM_SECONDS), why,
                    words(p->arena, p->hours_p50 * 3600, AP_DIM_SECONDS));
    ap_emit_why(p, "time limit", "lowered to %s by the %s", words(p->arena, p->limit_s, AP_DIM_SECONDS), why);
}

static void take_limit(ap_emit_plan *p)
{
    const double *c = ap_emit_consts_of(p)->values;
    bool guessed = false;
    if (ap_known(p->settings->limit_s)) {
        p->limit_s = p->settings->limit_s;
        ap_emit_why(p, "time limit", "emit.limit of the configuration");
    } else if (ap_known(p->hours_p90)) {
        p->limit_s = ap_emit_round_limit_s(p->hours_p90 * 3600);
        ap_emit_why(p, "time limit", "p90 of the estimate, %s, rounded up",
                    words(p->arena, p->hours_p90 * 3600, AP_DIM_SECONDS));
    } else {
        p->limit_s = c[AP_EMIT_C_default_limit_s];
        guessed = true;
        ap_emit_why(p, "time limit", "length of the run unknown; emit.limit, --deadline or --tokens set it");
    }
    if (ap_known(p->request->deadline_s))
        cap_limit(p, p->request->deadline_s, "deadline");
    else if (guessed)
        ap_diag_add(p->diags, AP_WARNING, 806, AP_NO_POS, "%s: length of the run unknown, so the time limit is %s",
                    p->target, words(p->arena, p->limit_s, AP_DIM_SECONDS))
            ->hint = "say how much is trained: --tokens, --samples or --epochs";
    if (ap_known(p->request->budget_usd) && p->usd_per_h > 0)
        cap_limit(p, 3600 * p->request->budget_usd / p->usd_per_h, "budget");
    p->limit_min = ceil(p->limit_s / 60);
    p->limit_text = words(p->arena, p->limit_s, AP_DIM_SECONDS);
}

/* Kubernetes counts restarts into the deadline of a Job and of a PyTorchJob, not into that of a JobSet's jobs. */
static bool is_per_attempt(const ap_emit_plan *p, const ap_emit_kind *kind)
{
    int controller = p->settings->controller;
    bool set = controller == AP_CONTROLLER_JOBSET || (controller < 0 && p->multi_node) || p->tpu;
    return kind->per_attempt && (!ap_streq(kind->name, "k8s") || set);
}

/* Each restart may cost as much again: not more of them than the budget pays. */
static void take_restarts(ap_emit_plan *p, bool per_attempt)
{
    double once = p->usd_per_h * p->limit_s / 3600, affordable = floor(p->request->budget_usd / once + 1e-9) - 1;
    p->restarts = ap_known(p->settings->max_restarts) ? p->settings->max_restarts : p->spot ? 6 : 1;
    if (per_attempt && !ap_known(p->settings->max_restarts) && affordable < p->restarts) {
        p->restarts = fmax(0, affordable);
        ap_emit_why(p, "restarts", "%.0f: each gets the time limit anew, and the budget pays no more", p->restarts);
    }
    p->worst_usd = once * (per_attempt ? p->restarts + 1 : 1);
}

/* ---- header -------------------------------------------------------------------------------------------------------
 */

static void put_estimate(ap_emit_plan *p)
{
    const ap_result *r = p->result;
    const ap_estimate *est = &r->plan->est;
    if (ap_known(r->hours_p50))
        ap_emit_header(p, "estimate   %s (p10 %s, p90 %s), %s (p50), %s (p90); basis: %s",
                       hours(p->arena, r->hours_p50), hours(p->arena, r->hours_p10), hours(p->arena, r->hours_p90),
                       money(p->arena, r->cost_p50), money(p->arena, r->cost_p90), ap_basis_names[est->basis]);
    else
        ap_emit_header(p, "estimate   one step takes %s; length of the run unknown: no amount of data was given",
                       words(p->arena, est->step_s, AP_DIM_SECONDS));
    if (p->own_machine && ap_known(r->usd_per_h))
        ap_emit_header(p, "price      %.4g USD/h: what your own machines cost to run and own", r->usd_per_h);
    else if (ap_known(r->usd_per_h))
        ap_emit_header(p, "price      %.6g USD/h for all machines, %s%s%s, as of %s", r->usd_per_h, p->pricing,
                       r->priced_from ? ", from " : "", r->priced_from ? r->priced_from : "",
                       r->price && r->price->as_of ? r->price->as_of : "an unknown day");
    else
        ap_emit_header(p, "price      unknown");
    ap_emit_header(
        p, "layout     %s, dp%.0f tp%.0f pp%.0f cp%.0f, %s, micro-batch %.6g, accumulation %.6g, %s; %.3g of %.3g GiB",
        p->stack ? p->stack : p->framework, ap_or(p->dp, 1), ap_or(p->tp, 1), ap_or(p->pp, 1), ap_or(p->cp, 1),
        p->sharding ? p->sharding : "none", ap_or(p->micro_batch, 1), ap_or(p->grad_accum, 1),
        p->precision ? p->precision : "fp32", est->peak_bytes / GIB, est->capacity_bytes / GIB);
}

/* A recipe written down must say what the advice beside the estimate says: the script sets its own learning rate. */
static void put_batch(ap_emit_plan *p)
{
    const ap_plan *plan = p->result->plan;
    double factor = plan->run.batch_factor;
    if (plan->batch_raised)
        ap_emit_header(p, "batch      %.0f samples a step, the recipe has %.0f: raise the learning rate with it, with a longer warm-up [%s]",
                       plan->global_batch, p->request->search->job->global_batch, factor > 1 ? "AP3018" : "AP3030");
    if (fabs(factor - 1) > 0.005)
        ap_emit_header(p, "amount     %.3g times the published schedule: what the target takes with %.0f samples a step (M-97)", factor,
                       plan->global_batch);
}

static void put_guard(ap_emit_plan *p, bool per_attempt)
{
    const char *again = per_attempt && p->restarts > 0
                            ? ap_arena_printf(p->arena, ", and so is each of at most %.0f restart%s", p->restarts,
                                              p->restarts > 1 ? "s" : "")
                            : "";
    if (ap_known(p->worst_usd))
        ap_emit_header(p, "bill guard stopped after %s at the latest%s: %s", p->limit_text, again,
                       money(p->arena, p->worst_usd));
    else
        ap_emit_header(p, "bill guard stopped after %s at the latest%s", p->limit_text, again);
    if (ap_known(p->request->budget_usd))
        ap_emit_header(p, "budget     %s%s", money(p->arena, p->request->budget_usd),
                       p->cost_p90 > p->request->budget_usd ? ": the p90 of the cost is above it" : "");
    ap_emit_header(
        p, "save       every %s, %.0f steps; a restart goes on from the newest checkpoint if the script looks for one",
        words(p->arena, p->save_s, AP_DIM_SECONDS), p->save_steps);
    ap_emit_header(
        p, "watch      stop early when the evaluation loss no longer falls: it is the cheapest saving there is");
    if (p->driver_min)
        ap_emit_header(p, "needs      driver %s or later for image %s", p->driver_min, p->image_id);
}

void ap_emit_take_guard(ap_emit_plan *p, const ap_emit_kind *kind)
{
    const ap_result *r = p->result;
    p->usd_per_h = r->usd_per_h;
    p->hours_p50 = r->hours_p50;
    p->hours_p90 = r->hours_p90;
    p->cost_p50 = r->cost_p50;
    p->cost_p90 = r->cost_p90;
    p->hours_text = hours(p->arena, r->hours_p50);
    p->cost_text = money(p->arena, r->cost_p50);
    p->price_text = money(p->arena, r->usd_per_h);
    p->grace_s =
        ap_known(p->settings->grace_s) ? p->settings->grace_s : ap_emit_consts_of(p)->values[AP_EMIT_C_grace_s];
    p->idle_min = ceil(ap_or(p->settings->idle_s, 600) / 60);
    take_checkpoints(p, kind->checkpoints);
    ap_emit_header(p, "accelpick %s: %s %s on %s (%.0f x %s, %.0f machine%s)", AP_VERSION, p->method, p->model_id,
                   p->target, p->chips, p->chip_name, p->nodes, p->nodes > 1 ? "s" : "");
    put_estimate(p);
    put_batch(p);
    if (kind->needs_limit) {
        bool per_attempt = is_per_attempt(p, kind);
        take_limit(p);
        take_restarts(p, per_attempt);
        put_guard(p, per_attempt);
    }
    for (size_t i = 0; i < r->warnings.count; i++)
        ap_emit_header(p, "beware     %s [%s]", r->warnings.items[i].message, r->warnings.items[i].id);
    ap_emit_header(p, "check      %s", kind->verify);
}
