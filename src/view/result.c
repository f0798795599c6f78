/* One RESULT of the contract, and the request it answers. */
#include "base/num.h"
#include "view/put.h"
#include "view/view.h"

#define GIB 1073741824.0

ap_doc *ap_view_begin(ap_arena *arena, const char *kind, const ap_catalog *catalog)
{
    ap_doc *doc = ap_doc_new(arena, kind);
    ap_value *head = ap_value_map(arena);
    ap_value_put(arena, head, "version", ap_value_text(arena, catalog->version));
    ap_value_put(arena, head, "prices_as_of", ap_value_text(arena, catalog->prices_as_of));
    ap_value_put(arena, doc->root, "catalog", head);
    return doc;
}

static ap_value *quantiles(ap_arena *arena, double p10, double p50, double p90)
{
    if (!ap_known(p50))
        return ap_value_null(arena);
    ap_value *map = ap_value_map(arena);
    ap_put_num(arena, map, "p10", p10);
    ap_put_num(arena, map, "p50", p50);
    ap_put_num(arena, map, "p90", p90);
    return map;
}

static ap_value *plan_value(ap_arena *arena, const ap_plan *plan)
{
    const ap_layout *layout = &plan->est.layout;
    ap_value *map = ap_value_map(arena);
    ap_put_text(arena, map, "stack", plan->stack);
    ap_put_num(arena, map, "dp", layout->dp < 1 ? 1 : layout->dp); /* on a slice of a chip runs one rank */
    ap_put_num(arena, map, "tp", layout->tp);
    ap_put_num(arena, map, "pp", layout->pp);
    if (layout->vpp > 1)
        ap_put_num(arena, map, "vpp", layout->vpp);
    ap_put_num(arena, map, "cp", layout->cp);
    ap_put_num(arena, map, "ep", layout->ep);
    ap_put_text(arena, map, "sharding", layout->sharding >= 0 ? ap_sharding_names[layout->sharding] : NULL);
    ap_put_num(arena, map, "micro_batch", layout->micro_batch);
    ap_put_num(arena, map, "grad_accum", layout->accum);
    ap_put_num(arena, map, "global_batch", plan->global_batch);
    ap_put_text(arena, map, "recompute", layout->recompute >= 0 ? ap_recompute_names[layout->recompute] : NULL);
    ap_put_text(arena, map, "precision", plan->precision >= 0 ? ap_precision_name((ap_precision)plan->precision) : NULL);
    return map;
}

/* What the whole run trains, and its samples over those of the published schedule for the batch. */
static ap_value *run_value(ap_arena *arena, const ap_run_estimate *run)
{
    if (!ap_known(run->hours_p50))
        return ap_value_null(arena);
    ap_value *map = ap_value_map(arena);
    ap_put_num(arena, map, "steps", run->steps);
    ap_put_num(arena, map, "samples", run->samples);
    ap_put_num(arena, map, "tokens", run->tokens);
    ap_put_num(arena, map, "batch_factor", run->batch_factor);
    return map;
}

static ap_value *memory_value(ap_arena *arena, const ap_estimate *est)
{
    ap_value *map = ap_value_map(arena), *items = ap_value_list(arena);
    ap_put_num(arena, map, "peak_gib", est->peak_bytes / GIB);
    ap_put_num(arena, map, "peak_p10_gib", est->peak_bytes * exp(est->mem_ln_low) / GIB);
    ap_put_num(arena, map, "peak_p90_gib", est->peak_bytes * exp(est->mem_ln_high) / GIB);
    ap_put_num(arena, map, "capacity_gib", est->capacity_bytes / GIB);
    ap_put_text(arena, map, "verdict", ap_verdict_names[est->verdict]);
    for (size_t i = 0; i < est->memory_count; i++) {
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "item", est->memory[i].name);
        ap_put_num(arena, item, "gib", est->memory[i].seconds / GIB);
        ap_put_text(arena, item, "formula", est->memory[i].formula);
        ap_value_push(arena, items, item);
    }
    ap_value_put(arena, map, "items", items);
    return map;
}

static ap_value *terms_value(ap_arena *arena, const ap_estimate *est)
{
    ap_value *items = ap_value_list(arena);
    for (size_t i = 0; i < est->term_count; i++) {
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "term", est->terms[i].name);
        ap_put_num(arena, item, "seconds", est->terms[i].seconds);
        ap_put_text(arena, item, "formula", est->terms[i].formula);
        ap_value_push(arena, items, item);
    }
    return items;
}

/* What is nothing is left out; the rest adds up to cost_usd.p50. */
static ap_value *cost_items(ap_arena *arena, const ap_result *result)
{
    ap_value *items = ap_value_list(arena);
    if (!ap_known(result->cost_p50))
        return items;
    for (int i = 0; i < AP_BILL_COUNT; i++) {
        double usd = result->bill.usd[i];
        if (!(fabs(usd) > 0) && (i != AP_BILL_COMPUTE || result->terms.own))
            continue;
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "item", ap_bill_item_names[i]);
        ap_put_num(arena, item, "usd", usd);
        ap_value_push(arena, items, item);
    }
    return items;
}

static ap_value *spot_value(ap_arena *arena, const ap_result *result)
{
    ap_value *map = ap_value_map(arena);
    ap_put_num(arena, map, "expected_interruptions", result->bill.interruptions);
    ap_put_text(arena, map, "taken_back_per_month", result->price ? result->price->spot_interruption : NULL);
    ap_put_num(arena, map, "extra_h", result->bill.extra_h);
    ap_put_num(arena, map, "on_demand_cost_usd", result->on_demand_usd);
    ap_put_num(arena, map, "saves_usd", result->on_demand_usd - result->cost_p50);
    return map;
}

/* A reserved machine is paid for its whole term; a run's own cost is only its share of that. */
static ap_value *commitment_value(ap_arena *arena, const ap_result *result)
{
    double term_h = result->pricing == AP_PRICE_RESERVED_1Y ? 8766 : 3 * 8766;
    ap_value *map = ap_value_map(arena);
    ap_put_num(arena, map, "term_h", term_h);
    ap_put_num(arena, map, "usd", term_h * result->usd_per_h);
    ap_put_num(arena, map, "used_fraction", result->hours_p50 / term_h);
    return map;
}

/* Parts of the plan that there are not: no layout was found, or this kind of training has no such part. */
static void put_unknown_plan(ap_arena *arena, ap_value *map, const ap_plan *plan)
{
    const ap_layout *layout = &plan->est.layout;
    const char *failed = plan->est.error;
    const struct { const char *field; bool known; const char *why; } parts[] = {
        {"stack", plan->stack, "no software of the catalog was named or is usual for it"},
        {"dp", ap_known(layout->dp), NULL},
        {"tp", ap_known(layout->tp), NULL},
        {"pp", ap_known(layout->pp), NULL},
        {"cp", ap_known(layout->cp), NULL},
        {"ep", ap_known(layout->ep), NULL},
        {"sharding", layout->sharding >= 0, NULL},
        {"micro_batch", ap_known(layout->micro_batch), NULL},
        {"grad_accum", ap_known(layout->accum), NULL},
        {"global_batch", ap_known(plan->global_batch), "it does not train in batches"},
        {"recompute", layout->recompute >= 0, NULL},
        {"precision", plan->precision >= 0, "the precision was not settled"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!parts[i].known)
            ap_put_text(arena, map, ap_arena_printf(arena, "plan.%s", parts[i].field),
                        failed ? failed : parts[i].why ? parts[i].why : "not a matter of this kind of training");
}

/* Items that this run has to pay and nobody knows the price of. */
static void put_unknown_items(ap_arena *arena, ap_value *map, const ap_result *result)
{
    static const char *const why[AP_BILL_COUNT] = {
        [AP_BILL_STORAGE] = "disk for data and checkpoints: the cloud's price is unknown (storage: in its clouds entry)",
        [AP_BILL_CARE] = "hours of care for an own machine: what they are worth is yours to say (breakeven shows their weight)",
        [AP_BILL_EGRESS] = "moving the data from where it lies: price or amount unknown (egress: in the clouds entry of its cloud)"};
    for (int i = 0; i < AP_BILL_COUNT; i++)
        if (result->terms.unknown >> i & 1U)
            ap_put_text(arena, map, ap_arena_printf(arena, "cost_items.%s", ap_bill_item_names[i]), why[i]);
}

static ap_value *text_map(ap_arena *arena, const ap_text_map *pairs)
{
    ap_value *map = ap_value_map(arena);
    for (size_t i = 0; i < pairs->count; i++)
        ap_put_text(arena, map, pairs->items[i].key, pairs->items[i].value);
    return map;
}

static ap_value *findings_value(ap_arena *arena, const ap_findings *findings)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < findings->count; i++) {
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "id", findings->items[i].id);
        ap_put_text(arena, item, "message", findings->items[i].message);
        if (findings->items[i].policy) {
            ap_put_text(arena, item, "policy", findings->items[i].policy);
            ap_value_put(arena, item, "broken", ap_value_bool(arena, findings->items[i].broken));
        }
        if (findings->items[i].fix)
            ap_put_text(arena, item, "fix", findings->items[i].fix);
        if (findings->items[i].facts.count)
            ap_value_put(arena, item, "facts", text_map(arena, &findings->items[i].facts));
        ap_value_push(arena, list, item);
    }
    return list;
}

/* A figure that may be null, and the reason when it is. */
typedef struct null_reason {
    const char *field;
    bool known;
    const char *why;
} null_reason;

/* Why each null is null. */
static ap_value *unknown_value(ap_arena *arena, const ap_job *job, const ap_result *result)
{
    const ap_plan *plan = result->plan;
    const ap_estimate *est = &plan->est;
    const char *failed = est->error;
    const char *run = failed ? failed : job->unknown_run ? job->unknown_run : "the length of the run is unknown";
    bool runs = ap_known(result->hours_p50);
    if (!runs && ap_known(plan->run.hours_p50))
        run = "interrupted more often than it makes progress: this run would not end on spot machines";
    const char *unpriced = result->hw.rig ? "an own machine" : "no offer with a price";
    const char *power = runs ? "no power figure for the chip" : run;
    const null_reason reasons[] = {
        {"rank", result->rank > 0, "only a recommendation ranks"},
        {"cloud", result->hw.instance, "no machine of a cloud"},
        {"instance", result->hw.instance || result->hw.rig, "no offer has this hardware"},
        {"region", result->price, unpriced},
        {"pricing", result->price, unpriced},
        {"price_usd_per_h", ap_known(result->usd_per_h), unpriced},
        {"list_price_usd_per_h", result->price && result->hw.instance, unpriced},
        {"price_as_of", result->price ? result->price->as_of != NULL : result->hw.rig && result->hw.rig->from.as_of,
         result->price || result->hw.rig ? "the source has no date" : unpriced},
        {"price_source", result->hw.rig || (result->price && result->price->source), result->price ? "the source was not named" : unpriced},
        {"price_confidence", result->price || result->hw.rig, unpriced},
        {"step_time_s", !failed, failed},
        {"tokens_per_s", !failed && ap_known(est->tokens_per_step), failed ? failed : "the model has no tokens"},
        {"samples_per_s", !failed && ap_known(est->samples_per_step), failed ? failed : "a step has no number of samples"},
        {"mfu", !failed && ap_known(est->mfu), failed ? failed : "not a matter of matrix units"},
        {"flop_per_step", !failed && ap_known(est->flop_per_step), failed ? failed : "the work is not counted in operations"},
        {"time_h", runs, run},
        {"run", ap_known(plan->run.hours_p50), run},
        {"cost_usd", ap_known(result->cost_p50), !runs ? run : "no price known"},
        {"energy_kwh", ap_known(result->energy_kwh), power},
        {"co2_kg", ap_known(result->co2_kg), ap_known(result->energy_kwh) ? "carbon intensity of the place is unknown" : power},
        {"memory", !failed, failed},
        {"bottleneck", !failed, failed},
        {"estimate_basis", !failed, failed},
        {"score", ap_known(result->score), result->rank > 0 ? "the figure ranked by is unknown" : "only a recommendation ranks"},
    };
    ap_value *map = ap_value_map(arena);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!reasons[i].known)
            ap_put_text(arena, map, reasons[i].field, reasons[i].why);
    put_unknown_plan(arena, map, plan);
    put_unknown_items(arena, map, result);
    return map;
}

/* Short texts for people, so that a table needs no logic. */
static ap_value *label_value(ap_arena *arena, const ap_result *result)
{
    const ap_hardware *hw = &result->hw;
    const ap_layout *layout = &result->plan->est.layout;
    ap_value *map = ap_value_map(arena);
    bool cpu = hw->chip->kind == AP_CHIP_CPU;
    if (cpu && ap_known(hw->threads))
        ap_put_text(arena, map, "hardware", ap_arena_printf(arena, "%s, %.0f vCPU", hw->chip->id, hw->threads));
    else if (result->paid_chips > hw->chips)
        ap_put_text(arena, map, "hardware", ap_arena_printf(arena, "%g of %g x %s", hw->chips, result->paid_chips, hw->chip->id));
    else
        ap_put_text(arena, map, "hardware", ap_arena_printf(arena, "%g x %s", hw->chips, hw->chip->id));
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    const struct { const char *name; double degree; } degrees[] = {{"dp", layout->dp}, {"tp", layout->tp}, {"pp", layout->pp},
                                                                   {"vpp", layout->vpp}, {"cp", layout->cp}, {"ep", layout->ep}};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (degrees[i].degree > 1)
            ap_sbuf_printf(&text, "%s%s%g", text.len ? " " : "", degrees[i].name, degrees[i].degree);
    if (layout->sharding > AP_SHARD_DDP)
        ap_sbuf_printf(&text, "%s%s", text.len ? " " : "", ap_sharding_names[layout->sharding]);
    if (ap_known(layout->micro_batch))
        ap_sbuf_printf(&text, "%smb%g", text.len ? " " : "", layout->micro_batch);
    if (layout->recompute > AP_RECOMPUTE_NONE)
        ap_sbuf_printf(&text, " recompute-%s", ap_recompute_names[layout->recompute]);
    ap_put_text(arena, map, "layout", text.text);
    return map;
}

/* An own machine's hour is computed from its purchase price and electricity. */
static void put_price_origin(ap_arena *arena, ap_value *map, const ap_result *result)
{
    const ap_price *price = result->price;
    const ap_provenance *own = result->hw.rig ? &result->hw.rig->from : NULL;
    double list = price && result->hw.instance ? ap_price_usd(price, result->pricing) * result->hw.machines : AP_UNKNOWN;
    ap_put_num(arena, map, "list_price_usd_per_h", list);
    ap_put_text(arena, map, "price_as_of", price ? price->as_of : own ? own->as_of : NULL);
    ap_put_text(arena, map, "price_source", price ? price->source : own ? ap_arena_printf(arena, "electricity and depreciation of the machine; its price: %s",
                                                                                         own->source ? own->source : "its file") : NULL);
    ap_put_text(arena, map, "price_confidence", price ? ap_confidence_name(price->confidence) : own ? ap_confidence_name(own->confidence) : NULL);
}

static void put_offer(ap_arena *arena, ap_value *map, const ap_result *result)
{
    const ap_hardware *hw = &result->hw;
    const ap_instance *instance = hw->instance;
    ap_put_text(arena, map, "target", result->target);
    ap_put_text(arena, map, "cloud", instance ? instance->cloud : NULL);
    ap_put_text(arena, map, "instance", instance ? instance->name : hw->rig ? hw->rig->id : NULL);
    ap_put_text(arena, map, "region", result->price ? result->price->region : NULL);
    ap_put_text(arena, map, "pricing", result->price ? ap_price_kind_name(result->pricing) : NULL);
    ap_put_text(arena, map, "priced_from", result->priced_from);
    ap_put_num(arena, map, "price_usd_per_h", result->usd_per_h);
    put_price_origin(arena, map, result);
    ap_put_text(arena, map, "chip", hw->chip->id);
    ap_put_num(arena, map, "chip_count", hw->chips);
    ap_put_num(arena, map, "nodes", hw->hosts);
}

ap_value *ap_view_result(ap_arena *arena, const ap_job *job, const ap_result *result)
{
    const ap_plan *plan = result->plan;
    const ap_estimate *est = &plan->est;
    bool ok = !est->error;
    ap_value *map = ap_value_map(arena);
    ap_value_put(arena, map, "rank", result->rank > 0 ? ap_value_int(arena, result->rank) : ap_value_null(arena));
    put_offer(arena, map, result);
    ap_value_put(arena, map, "label", label_value(arena, result));
    ap_value_put(arena, map, "plan", plan_value(arena, plan));
    ap_value_put(arena, map, "step_time_s", ok ? quantiles(arena, est->step_s * exp(est->ln_low), est->step_s, est->step_s * exp(est->ln_high)) : ap_value_null(arena));
    ap_put_num(arena, map, "tokens_per_s", ok ? est->tokens_per_step / est->step_s : AP_UNKNOWN);
    ap_put_num(arena, map, "samples_per_s", ok ? est->samples_per_step / est->step_s : AP_UNKNOWN);
    ap_put_num(arena, map, "mfu", ok ? est->mfu : AP_UNKNOWN);
    ap_put_num(arena, map, "flop_per_step", ok ? est->flop_per_step : AP_UNKNOWN);
    ap_value_put(arena, map, "time_h", quantiles(arena, result->hours_p10, result->hours_p50, result->hours_p90));
    ap_value_put(arena, map, "run", run_value(arena, &plan->run));
    ap_value_put(arena, map, "cost_usd", quantiles(arena, result->cost_p10, result->cost_p50, result->cost_p90));
    ap_value_put(arena, map, "cost_items", cost_items(arena, result));
    if (result->terms.interruptions_per_h > 0)
        ap_value_put(arena, map, "spot", spot_value(arena, result));
    if (result->price && (result->pricing == AP_PRICE_RESERVED_1Y || result->pricing == AP_PRICE_RESERVED_3Y))
        ap_value_put(arena, map, "commitment", commitment_value(arena, result));
    ap_put_num(arena, map, "energy_kwh", result->energy_kwh);
    ap_put_num(arena, map, "co2_kg", result->co2_kg);
    ap_value_put(arena, map, "memory", ok ? memory_value(arena, est) : ap_value_null(arena));
    ap_put_text(arena, map, "bottleneck", ok ? ap_bottleneck_names[est->bottleneck] : NULL);
    ap_put_text(arena, map, "estimate_basis", ok ? ap_basis_names[est->basis] : NULL);
    ap_put_num(arena, map, "score", result->score);
    ap_value_put(arena, map, "pareto", ap_value_bool(arena, result->pareto));
    ap_value_put(arena, map, "terms", terms_value(arena, est));
    ap_value_put(arena, map, "reasons", findings_value(arena, &result->reasons));
    ap_value_put(arena, map, "warnings", findings_value(arena, &result->warnings));
    ap_value_put(arena, map, "unknown", unknown_value(arena, job, result));
    return map;
}

ap_value *ap_view_workload(ap_arena *arena, const ap_job *job)
{
    ap_value *map = ap_value_map(arena);
    const ap_model *m = &job->model;
    ap_put_text(arena, map, "name", job->workload->name);
    ap_put_text(arena, map, "model", job->model_label);
    ap_put_text(arena, map, "model_id", m->id);
    ap_put_text(arena, map, "domain", m->domain);
    ap_put_text(arena, map, "arch", m->arch);
    ap_put_num(arena, map, "params", m->params);
    ap_put_num(arena, map, "active_params", m->active_params);
    ap_put_text(arena, map, "method", ap_method_names[job->method]);
    ap_put_text(arena, map, "framework", ap_framework_names[job->framework]);
    ap_put_num(arena, map, "sequence_length", job->seq_len);
    ap_put_num(arena, map, "global_batch", job->global_batch);
    ap_put_num(arena, map, "critical_batch", job->critical_batch);
    ap_put_num(arena, map, "largest_batch", job->largest_batch);
    ap_put_text(arena, map, "optimizer", job->optimizer >= 0 ? ap_optimizer_names[job->optimizer] : NULL);
    ap_put_text(arena, map, "dataset", job->dataset ? job->dataset->id : NULL);
    ap_put_num(arena, map, "samples", job->samples);
    ap_put_num(arena, map, "tokens", job->tokens);
    ap_put_num(arena, map, "epochs", job->epochs);
    ap_put_num(arena, map, "rows", job->rows);
    ap_put_num(arena, map, "features", job->features);
    ap_put_text(arena, map, "objective", ap_objective_names[job->objective]);
    return map;
}

ap_value *ap_view_assumptions(ap_arena *arena, const ap_job *job)
{
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; i < job->assumption_count; i++) {
        ap_value *item = ap_value_map(arena);
        ap_put_text(arena, item, "field", job->assumptions[i].field);
        ap_put_text(arena, item, "value", job->assumptions[i].value);
        ap_put_text(arena, item, "because", job->assumptions[i].because);
        ap_value_push(arena, list, item);
    }
    return list;
}
