/* 100 rules (the built-in ones, cut to 100) over 10,000 candidates on one core. Promise: under 100 ms. */
#include <stdio.h>
#include <time.h>

#include "plan/knowledge.h"

#define CANDIDATES 10000
#define RULES      100

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other work on the machine does not count */
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void fill_run(ap_rule_facts *f)
{
    ap_rule_facts_clear(f);
    f->workload.engine = "llm";
    f->workload.framework = "pytorch";
    f->workload.method = "finetune";
    f->workload.precision = "bf16";
    f->workload.optimizer = "adamw";
    f->workload.params = f->workload.active_params = 8e9;
    f->workload.state_gib = 120;
    f->workload.seq_len = 4096;
    f->workload.global_batch = 256;
    f->workload.flop_total = 1e21;
    f->workload.experts = 0;
    f->workload.has_checkpoint = 1;
    f->workload.from_scratch = 0;
    f->constraints.objective = "balanced";
    f->constraints.portable = 0;
}

static void fill_candidate(ap_rule_facts *f, int i)
{
    f->chip = (ap_chip_facts){.name = "H100", .vendor = "NVIDIA", .kind = "gpu", .link = "NVLink4", .arch = "sm_90", .generation = "hopper",
                              .count = 8, .count_per_node = 8, .memory_gib = 80, .usable_gib = 79, .year = 2022, .compute_capability = 9,
                              .peak_tflops = 989, .tflops_bf16 = 989, .tflops_fp32 = 67, .memory_gb_per_s = 3350, .tdp_w = 700,
                              .ecc = 1, .p2p = 1, .framework_ok = 1, .precision_ok = 1, .consumer = 0};
    f->offer = (ap_offer_facts){.target = "x", .cloud = "aws", .cloud_kind = "hyperscaler", .market = "cloud", .instance = "p5", .region = "us-east-1",
                                .country = "USA", .continent = "north america", .pricing = i % 2 ? "spot" : "on-demand", .price_usd_per_h = 55,
                                .nodes = 1, .vcpus = 192, .vcpus_per_chip = 24, .host_memory_gib = 2048, .network_gbps = 3200, .fabric = "efa",
                                .rdma = 1, .single_cloud = 0, .shared = 0, .rig = 0, .price_age_days = 10, .spot_discount_frac = 0.5};
    f->plan = (ap_plan_facts){.stack = "fsdp", .sharding = "zero3", .recompute = "selective", .precision = "bf16", .offload = "none", .dp = 8, .tp = 1,
                              .pp = 1, .cp = 1, .ep = 1, .micro_batch = 2, .grad_accum = 16, .global_batch = 256, .flash_attention = 1, .compile = 0};
    f->estimate = (ap_estimate_facts){.step_s = 1, .mfu_frac = 0.4, .time_h = 10 + i % 7, .time_p90_h = 14, .cost_usd = 550, .cost_p90_usd = 700,
                                      .peak_gib = 60, .capacity_gib = 79, .memory_share_frac = 0.76, .verdict = "fits", .bottleneck = "compute",
                                      .communication_frac = 0.1, .startup_frac = 0.01, .input_cores_needed = 4, .host_needed_gib = 100, .max_micro_batch = 2};
}

int main(void)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_diags_init(&diags, arena);
    ap_knowledge_request request = {0};
    ap_ruleset *set;
    double start = now_ms();
    if (ap_knowledge_load(&request, arena, &diags, &set) != AP_OK)
        return 1;
    printf("load and compile %zu rules: %.2f ms\n", set->count, now_ms() - start);
    ap_ruleset some = *set;
    some.items = AP_NEW_ARRAY(arena, ap_rule_item, RULES);
    some.count = 0;
    for (size_t i = 0; i < set->count && some.count < RULES; i++) /* the costly phases first */
        if (set->items[set->count - 1 - i].phase > 0)
            some.items[some.count++] = set->items[set->count - 1 - i];
    ap_cel_value *values = AP_NEW_ARRAY(arena, ap_cel_value, set->schema->count);
    ap_rule_hit *hits = AP_NEW_ARRAY(arena, ap_rule_hit, some.count);
    ap_rule_facts facts;
    fill_run(&facts);
    ap_facts_unknown(set->schema, values);
    start = now_ms();
    ap_fact_filter filter = {AP_PHASE_WORKLOAD, some.used};
    ap_facts_bind(set->schema, &filter, &facts, arena, values);
    size_t sum = 0;
    for (int i = 0; i < CANDIDATES; i++) {
        fill_candidate(&facts, i);
        for (int phase = AP_PHASE_TARGET; phase < AP_PHASE_COUNT; phase++) {
            filter.phase = phase;
            ap_facts_bind(set->schema, &filter, &facts, arena, values);
            ap_rule_query query = {AP_SCOPE_RECOMMEND, phase};
            sum += ap_ruleset_run(&some, query, values, arena, hits);
        }
    }
    double ms = now_ms() - start;
    printf("%zu rules x %d candidates: %.1f ms (%zu hits, memory %zu KiB)\n", some.count, CANDIDATES, ms, sum, ap_arena_used_bytes(arena) / 1024);
    return ms < 100 ? 0 : 1;
}
