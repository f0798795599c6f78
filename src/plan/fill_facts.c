/* What the planner knows, as the facts that rules may name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/num.h"
#include "plan/reasons.h"

#define GIB 1073741824.0
#define REFERENCE_FLOP_PER_S 312e12 /* 16-bit peak of an A100, and the share of it that usual training reaches */
#define REFERENCE_SHARE      0.4

static const char *const engine_names[] = {"llm", "dl", "tree", "env"};

static const char *engine_of(const ap_search *search, const ap_chip *chip)
{
    const ap_model *model = &search->job->model;
    return engine_names[ap_est_engine(&(ap_case){.domain = model->domain, .arch = model->arch, .chip = chip})];
}

/* Flat states of training: what must lie somewhere before any activation (M-20 family, torch mixed precision). */
static double state_bytes(const ap_job *job)
{
    double params = ap_or(job->model.params, 0);
    switch (job->method) {
    case AP_METHOD_LORA: return 2 * params;
    case AP_METHOD_QLORA: return 0.55 * params;
    default: break;
    }
    switch (job->optimizer) {
    case AP_OPT_SGD:
    case AP_OPT_ADAMW_8BIT:
    case AP_OPT_ADAMW_BF16:
    case AP_OPT_ADAFACTOR: return 8 * params;
    default: return 12 * params;
    }
}

static const char *offload_text(const ap_search *search)
{
    const ap_strings *words = &search->job->workload->offload;
    if (words->count == 0)
        return "none";
    ap_sbuf text;
    ap_sbuf_init(&text, search->arena);
    for (size_t i = 0; i < words->count; i++)
        ap_sbuf_printf(&text, "%s%s", i ? "," : "", words->items[i]);
    return text.text;
}

static void fill_workload(const ap_search *search, ap_workload_facts *f)
{
    const ap_job *job = search->job;
    const ap_workload *w = job->workload;
    const ap_model *m = &job->model;
    f->name = w->name;
    f->model = m->id;
    f->domain = m->domain;
    f->arch = m->arch;
    f->engine = engine_of(search, NULL);
    f->method = ap_method_names[job->method];
    f->framework = ap_framework_names[job->framework];
    f->stack = w->stack;
    f->precision = job->precision >= 0 ? ap_precision_name((ap_precision)job->precision) : NULL;
    f->base_precision = job->base_precision >= 0 ? ap_precision_name((ap_precision)job->base_precision) : NULL;
    f->optimizer = job->optimizer >= 0 ? ap_optimizer_names[job->optimizer] : NULL;
    f->recompute = w->recompute >= 0 ? ap_recompute_names[w->recompute] : NULL;
    f->offload = offload_text(search);
    f->sharding = w->parallel.sharding >= 0 ? ap_sharding_names[w->parallel.sharding] : NULL;
    f->flash_attention = w->flash_attention;
    f->compile = w->compile;
    f->packing = w->packing;
    f->custom_ops = w->custom_kernels;
    f->dynamic_shapes = w->dynamic_shapes < 0 && ap_streq(m->domain, "gnn") ? 1 : w->dynamic_shapes;
    f->early_stopping = w->early_stopping;
    f->checkpoint_every_h = w->checkpoint_every_s / 3600;
    f->has_checkpoint = w->checkpoints < 0 && ap_known(w->checkpoint_every_s) ? 1 : w->checkpoints;
    f->loader_workers = w->data.workers;
    f->params = m->params;
    f->active_params = ap_or(m->active_params, m->params);
    f->experts = ap_or(m->experts, 0);
    f->lora_rank = job->lora_rank;
    f->seq_len = job->seq_len;
    f->global_batch = job->global_batch;
    f->to_target = ap_known(job->target_batch);
    f->critical_batch = job->critical_batch;
    f->largest_batch = job->largest_batch;
    f->micro_batch = w->micro_batch;
    f->tokens_total = job->tokens;
    f->samples_total = job->samples;
    f->epochs = job->epochs;
    f->tp = w->parallel.tp;
    f->pp = w->parallel.pp;
    f->cp = w->parallel.cp;
    f->ep = w->parallel.ep;
    f->flop_total = 6 * ap_or(m->active_params, m->params) * job->tokens;
    f->reference_h = f->flop_total / (REFERENCE_FLOP_PER_S * REFERENCE_SHARE) / 3600;
    f->weights_gib = m->params * (job->base_precision == AP_PREC_NF4 ? 0.55 : 2) / GIB;
    f->state_gib = state_bytes(job) / GIB;
    f->dataset = job->dataset ? job->dataset->id : NULL;
    f->data_gb = job->dataset ? job->dataset->bytes / 1e9 : job->sample_bytes * job->samples_per_epoch / 1e9;
    f->data_samples = job->samples_per_epoch;
    f->data_sample_kb = job->sample_bytes / 1e3;
    f->data_format = job->format ? ap_str_lower(search->arena, job->format) : NULL;
    f->data_storage = w->data.storage;
    f->data_region = w->data.region;
    f->rows = job->rows;
    f->features = job->features;
    f->trees = m->trees;
    f->depth = m->depth;
    f->from_scratch = job->method == AP_METHOD_PRETRAIN || job->method == AP_METHOD_TRAIN;
}

static void fill_constraints(const ap_search *search, ap_constraint_facts *f)
{
    const ap_constraints *c = &search->options->constraints;
    f->deadline_h = c->deadline_s / 3600;
    f->budget_usd = c->budget_usd;
    f->max_chips = ap_or(c->max_chips, c->chips.high);
    f->max_price_usd_per_h = c->max_price_usd_per_h;
    f->clouds = c->clouds;
    f->regions = c->regions;
    f->pricing = c->pricing;
    f->portable = c->portable == 1;
    f->approved = c->approved;
    f->residency = c->residency;
    f->hours_per_week = c->hours_per_week;
    f->objective = ap_objective_names[search->job->objective];
}

void ap_facts_of_job(const ap_search *search, ap_rule_facts *ret)
{
    ap_rule_facts_clear(ret);
    fill_workload(search, &ret->workload);
    fill_constraints(search, &ret->constraints);
    if (search->job_file)
        ret->job = *search->job_file;
    ret->catalog.version = search->catalog->version;
    ret->catalog.prices_as_of = search->catalog->prices_as_of;
    ret->catalog.prices_age_days = ap_days_between(search->catalog->prices_as_of, search->options->as_of);
}

static double compute_capability(const ap_chip *chip)
{
    long digits;
    if (!chip->arch || strncmp(chip->arch, "sm_", 3) != 0)
        return AP_UNKNOWN;
    digits = strtol(chip->arch + 3, NULL, 10);
    return digits > 0 ? (double)digits / 10 : AP_UNKNOWN;
}

static bool is_consumer(const ap_chip *chip)
{
    return ap_starts_with(chip->id, "rtx-") || ap_starts_with(chip->id, "gtx-") || ap_starts_with(chip->id, "rx-");
}

static void fill_chip(const ap_search *search, const ap_hardware *hw, ap_chip_facts *f)
{
    const ap_chip *chip = hw->chip;
    int precision = search->job->precision;
    f->id = chip->id;
    f->name = chip->name;
    f->vendor = chip->vendor;
    f->family = chip->family;
    f->generation = chip->generation;
    f->kind = ap_chip_kind_name(chip->kind);
    f->year = chip->year;
    f->count = hw->chips;
    f->count_per_node = hw->chips_per_host;
    f->memory_gib = chip->memory.size / GIB;
    f->usable_gib = ap_or(chip->memory.usable, chip->memory.size) / GIB;
    f->memory_type = chip->memory.type ? ap_str_lower(search->arena, chip->memory.type) : NULL;
    f->memory_gb_per_s = chip->memory.bandwidth / 1e9;
    f->ecc = chip->memory.ecc;
    f->tflops_fp32 = chip->peak.fp32 / 1e12;
    f->tflops_tf32 = chip->peak.tf32 / 1e12;
    f->tflops_fp16 = chip->peak.fp16 / 1e12;
    f->tflops_bf16 = chip->peak.bf16 / 1e12;
    f->tflops_fp8 = chip->peak.fp8 / 1e12;
    f->tflops_fp4 = chip->peak.fp4 / 1e12;
    f->tflops_int8 = chip->peak.int8 / 1e12;
    f->peak_tflops = precision >= 0 ? ap_chip_peak(chip, (ap_precision)precision) / 1e12 : chip->peak.bf16 / 1e12;
    f->tdp_w = chip->tdp_w;
    f->link = chip->link.kind;
    f->link_gb_per_s = chip->link.bandwidth / 1e9;
    f->p2p = chip->link.p2p;
    f->arch = chip->arch;
    f->compute_capability = compute_capability(chip);
    f->frameworks = chip->frameworks;
    f->consumer = is_consumer(chip);
    f->price_usd = chip->price.usd;
    f->cores = chip->cpu.cores;
    f->precision_ok = precision < 0 || ap_known(ap_chip_peak(chip, (ap_precision)precision));
}

static void fill_price(const ap_search *search, const ap_hardware *hw, const ap_price *price, int pricing, ap_offer_facts *f)
{
    const ap_price *cheapest = ap_instance_cheapest(hw->instance, pricing, NULL);
    f->region = price->region;
    f->pricing = ap_price_kind_name(pricing);
    f->price_usd_per_h = ap_price_usd(price, pricing) * hw->machines;
    f->on_demand_usd_per_h = price->on_demand * hw->machines;
    f->spot_usd_per_h = price->spot * hw->machines;
    f->reserved_1y_usd_per_h = price->reserved_1y * hw->machines;
    f->spot_discount_frac = 1 - price->spot / price->on_demand;
    f->interruption = price->spot_interruption;
    f->price_confidence = price->confidence >= 0 ? ap_confidence_name(price->confidence) : NULL;
    f->price_age_days = ap_days_between(price->as_of ? price->as_of : hw->instance->from.as_of, search->options->as_of);
    f->cheapest_region_usd_per_h = cheapest ? ap_price_usd(cheapest, pricing) * hw->machines : AP_UNKNOWN;
    const ap_region *region = ap_catalog_find_region(search->catalog, hw->instance->cloud, price->region);
    if (!region)
        return;
    f->country = region->country;
    f->continent = region->continent;
    f->carbon_g_per_kwh = region->carbon_g_per_kwh;
    f->pue = region->pue;
    f->electricity_usd_per_kwh = region->electricity_usd_per_kwh;
}

static void fill_offer(const ap_search *search, const ap_hardware *hw, const ap_price *price, int pricing, ap_offer_facts *f)
{
    const ap_instance *instance = hw->instance;
    f->rig = hw->rig != NULL;
    f->market = hw->rig ? "own" : instance ? instance->market : NULL;
    f->nodes = hw->hosts;
    f->vcpus = hw->vcpus * hw->hosts;
    f->vcpus_per_chip = hw->vcpus / hw->chips_per_host;
    f->host_memory_gib = hw->memory_bytes / GIB;
    f->host_memory_per_chip_gib = hw->memory_bytes / hw->chips_per_host / GIB;
    f->network_gbps = hw->nic_bytes_per_s * 8 / 1e9;
    f->fabric = hw->fabric;
    f->shared = hw->chips_per_host < 1;
    if (!instance)
        return;
    const ap_cloud *cloud = ap_catalog_find_cloud(search->catalog, instance->cloud);
    f->cloud = instance->cloud;
    f->cloud_kind = cloud ? cloud->kind : NULL;
    f->instance = instance->name;
    f->session_limit_h = instance->session_limit_s / 3600;
    f->local_ssd_gib = instance->local_ssd / GIB;
    f->rdma = instance->rdma;
    f->single_cloud = hw->chip->kind == AP_CHIP_TPU || ap_streq(hw->chip->vendor, "AWS");
    f->egress_usd_per_gb = cloud ? cloud->egress_usd_per_gb : AP_UNKNOWN;
    if (price)
        fill_price(search, hw, price, pricing, f);
}

void ap_facts_of_target(const ap_search *search, const ap_hardware *hw, const ap_price *price, int pricing, ap_rule_facts *ret)
{
    ret->chip = search->unknown_facts->chip;
    ret->offer = search->unknown_facts->offer;
    fill_chip(search, hw, &ret->chip);
    fill_offer(search, hw, price, pricing, &ret->offer);
}

static double network_share(const ap_estimate *est)
{
    double network = 0, all = 0;
    for (size_t i = 0; i < est->term_count; i++) {
        all += est->terms[i].seconds;
        if (strstr(est->terms[i].name, "all-reduce") || strstr(est->terms[i].name, "communication") ||
            strstr(est->terms[i].name, "exchange") || strstr(est->terms[i].name, "gather"))
            network += est->terms[i].seconds;
    }
    return all > 0 ? network / all : AP_UNKNOWN;
}

static void fill_plan(const ap_search *search, const ap_plan *plan, ap_plan_facts *f)
{
    const ap_layout *layout = &plan->est.layout;
    f->stack = plan->stack;
    f->sharding = layout->sharding >= 0 ? ap_sharding_names[layout->sharding] : NULL;
    f->recompute = layout->recompute >= 0 ? ap_recompute_names[layout->recompute] : NULL;
    f->precision = plan->precision >= 0 ? ap_precision_name((ap_precision)plan->precision) : NULL;
    f->offload = offload_text(search);
    f->dp = layout->dp;
    f->tp = layout->tp;
    f->pp = layout->pp;
    f->vpp = layout->vpp;
    f->cp = layout->cp;
    f->ep = layout->ep;
    f->micro_batch = layout->micro_batch;
    f->grad_accum = layout->accum;
    f->global_batch = plan->global_batch;
    f->batch_raised = plan->batch_raised;
    f->samples_factor = plan->run.batch_factor;
    f->target_factor = ap_run_batch_factor(plan->global_batch, search->job->global_batch, search->job->critical_batch);
    f->tp_crosses_node = layout->tp > plan->hw.domain_chips;
    f->flash_attention = search->job->workload->flash_attention;
    f->compile = search->job->workload->compile;
}

static void fill_estimate(const ap_result *result, ap_estimate_facts *f)
{
    const ap_estimate *est = &result->plan->est;
    const ap_run_estimate *run = &result->plan->run;
    f->step_s = est->step_s;
    f->tokens_per_s = est->tokens_per_step / est->step_s;
    f->samples_per_s = est->samples_per_step / est->step_s;
    f->mfu_frac = est->mfu;
    f->time_h = result->hours_p50;
    f->time_p10_h = result->hours_p10;
    f->time_p90_h = result->hours_p90;
    f->cost_usd = result->cost_p50;
    f->cost_p90_usd = result->cost_p90;
    f->energy_kwh = result->energy_kwh;
    f->co2_kg = result->co2_kg;
    f->peak_gib = est->peak_bytes / GIB;
    f->capacity_gib = est->capacity_bytes / GIB;
    f->memory_share_frac = est->peak_bytes / est->capacity_bytes;
    f->verdict = ap_verdict_names[est->verdict];
    f->bottleneck = ap_bottleneck_names[est->bottleneck];
    f->basis = ap_basis_names[est->basis];
    f->communication_frac = network_share(est);
    f->input_cores_needed = est->input_cores_needed > 0 ? est->input_cores_needed : AP_UNKNOWN;
    f->startup_frac = (result->setup_h + ap_or(run->overhead_s, 0) / 3600) / result->hours_p50;
    f->host_needed_gib = est->host_bytes > 0 ? est->host_bytes / GIB : AP_UNKNOWN;
    f->max_micro_batch = est->max_micro_batch > 0 ? est->max_micro_batch : AP_UNKNOWN;
}

void ap_facts_of_result(const ap_search *search, const ap_result *result, ap_rule_facts *ret)
{
    ap_facts_of_target(search, &result->hw, result->price, result->pricing, ret);
    ret->offer.target = result->target;
    ret->plan = search->unknown_facts->plan;
    ret->estimate = search->unknown_facts->estimate;
    if (result->plan->est.error)
        return;
    fill_plan(search, result->plan, &ret->plan);
    fill_estimate(result, &ret->estimate);
}
