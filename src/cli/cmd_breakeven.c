/* breakeven: an own machine against rent, for one workload. */
#include "catalog/target.h"
#include "cli/job.h"
#include "view/breakeven.h"

/* Reserved terms are no row: they are paid whether they are used or not, so a run has no price of its own there. */
enum { RENT_CLOUD, RENT_SPOT, RENT_MARKET, RENT_NOTEBOOK, RENT_SAME_CHIP, RENT_COUNT };

static const char *const rent_labels[RENT_COUNT] = {"cloud, on demand", "cloud, spot", "marketplace", "notebook",
                                                    "same chip, on demand"};

static bool is_kind(const ap_result *r, const ap_rig *rig, int kind)
{
    const char *market = r->hw.instance ? r->hw.instance->market : NULL;
    bool cloud = !market || ap_streq(market, "cloud"), on_demand = r->pricing == AP_PRICE_ON_DEMAND;
    switch (kind) {
    case RENT_CLOUD:
        return cloud && on_demand;
    case RENT_SPOT:
        return cloud && r->pricing == AP_PRICE_SPOT;
    case RENT_MARKET:
        return ap_streq(market, "marketplace") && on_demand;
    case RENT_NOTEBOOK:
        return ap_streq(market, "notebook") || ap_streq(market, "free");
    default:
        return on_demand && ap_streq(r->hw.chip->id, rig->chip);
    }
}

static const ap_result *cheapest(const ap_search *search, const ap_rig *rig, int kind)
{
    const ap_result *best = NULL;
    for (size_t i = 0; i < search->result_count; i++) {
        const ap_result *r = &search->results[i];
        if (r->hw.instance && is_kind(r, rig, kind) && ap_known(r->cost_p50) && (!best || r->cost_p50 < best->cost_p50))
            best = r;
    }
    return best;
}

static ap_status load_rig(ap_cli *cli, const ap_catalog *catalog, const ap_rig **ret)
{
    ap_strings rigs = ap_cli_list(cli, AP_O_RIG);
    if (rigs.count != 1)
        return ap_cli_usage(cli, 306, "such as --rig desktop-rtx3090, or a file; accelpick list rigs names them",
                            "name one machine with --rig");
    return ap_rig_resolve(catalog, rigs.items[0], cli->arena, &cli->diags, ret);
}

/* Everything that can be rented, priced in every way unless the user said which. */
static void search_rent(ap_cli_job *job)
{
    static const char *both[] = {"on-demand", "spot"};
    if (job->options.constraints.pricing.count == 0)
        job->options.constraints.pricing = (ap_strings){both, 2};
    job->job.objective = AP_BY_COST;
    job->options.group_by = AP_GROUP_NONE;
    ap_search_run(&job->search);
}

static void fill_view(ap_cli *cli, const ap_cli_job *job, const ap_rig *rig, const ap_result *own,
                      ap_breakeven_view *view)
{
    const ap_plan_constants *k = &job->search.by_market[AP_MARKET_OWN];
    double hours = ap_or(job->options.constraints.hours_per_week, k->own_hours_per_week);
    ap_own_cost *cost = AP_NEW(cli->arena, ap_own_cost);
    ap_rent *rents = AP_NEW_ARRAY(cli->arena, ap_rent, RENT_COUNT);
    *cost = ap_own_cost_of(job->search.catalog, rig, k, hours);
    const ap_result *rent = NULL;
    for (int i = 0; i < RENT_COUNT; i++) {
        rents[i] = (ap_rent){rent_labels[i], cheapest(&job->search, rig, i)};
        rent = rent ? rent : rents[i].result;
    }
    *view = (ap_breakeven_view){
        .search = &job->search, .rig = rig, .own = own, .cost = cost, .rents = rents, .rent_count = RENT_COUNT};
    view->input = (ap_breakeven_input){.rig_run_h = own->hours_p50,
                                       .cloud_run_usd = rent ? rent->cost_p50 : AP_UNKNOWN,
                                       .price_usd = cost->price_usd,
                                       .years = cost->years,
                                       .resale = cost->resale,
                                       .electricity_usd_per_h = cost->electricity_usd_per_h,
                                       .hours_per_week = hours};
    view->care_usd_per_week = cost->care_usd_per_week;
    view->idle_usd_per_h = ap_or(rig->idle_w, 0) / 1000 * cost->electricity_usd_per_kwh;
}

static ap_status run(ap_cli *cli)
{
    ap_cli_job job;
    const ap_rig *rig = NULL;
    const ap_catalog *catalog;
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status == AP_OK)
        status = load_rig(cli, catalog, &rig);
    if (status == AP_OK)
        status = ap_cli_job_load(cli, cli->operand_count ? cli->operands[0] : NULL, &job);
    if (status != AP_OK)
        return status;
    ap_hardware hw = ap_hardware_of_rig(catalog, rig, 1);
    ap_result own = {.hw = hw, .target = ap_arena_printf(cli->arena, "rig/%s", rig->id)};
    search_rent(&job);
    const ap_plan *plan = ap_search_plan(&job.search, &hw);
    ap_result_fill(&job.search, plan, NULL, AP_PRICE_ON_DEMAND, &own);
    bool fits = !plan->est.error && plan->est.verdict != AP_DOES_NOT_FIT;
    if (!fits)
        own.hours_p50 = AP_UNKNOWN;
    ap_breakeven_view view;
    fill_view(cli, &job, rig, &own, &view);
    status = ap_cli_write_doc(cli, ap_view_breakeven(cli->arena, &view));
    return status == AP_OK && !fits ? AP_INFEASIBLE : status;
}

static const ap_example examples[] = {
    {"breakeven --rig desktop-rtx3090 --model llama-3.1-8b --method qlora --tokens 50M",
     "a used RTX 3090 against the cloud"},
    {"breakeven --rig desktop-rtx4090 --model resnet50 --dataset imagenet-1k --epochs 90 --json", "the same as JSON"},
};

const ap_command ap_cmd_breakeven = {
    .name = "breakeven",
    .synopsis = "[WORKLOAD] --rig RIG",
    .summary = "own machine against rent: from how many hours a week buying wins",
    .description = "Compares one run of the workload on a machine of your own (a name of list rigs, or a YAML file) "
                   "with the cheapest ways to "
                   "rent, and says from how many hours a week owning is cheaper, when the purchase has paid for "
                   "itself, and what would "
                   "change that. constraints.hours_per_week in the workload says how much the machine computes (40 if "
                   "absent); country "
                   "or electricity in the rig's file says what power costs.",
    .examples = examples,
    .example_count = 2,
    .groups = AP_G_JOB | AP_G_FILTER | AP_G_RIG,
    .max_operands = 1,
    .operand = "WORKLOAD",
    .values = "files",
    .run = run,
};
