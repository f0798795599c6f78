#include "cli/job.h"

#include <stdint.h>
#include <string.h>

#include "estimate/calibration.h"
#include "plan/reasons.h"
#include "catalog/target.h"
#include "report/select.h"

/* `--model NAME` names a model; the other forms of `model:` need a document. */
static void set_model(ap_cli *cli, ap_workload *workload, const char *name)
{
    ap_node *node = AP_NEW(cli->arena, ap_node);
    *node = (ap_node){.kind = AP_NODE_SCALAR, .quoted = true, .text = name};
    workload->model = node;
}

static ap_status assign(ap_cli *cli, ap_workload *workload, const ap_assignment *item)
{
    if (strcmp(item->path, "model") == 0) {
        set_model(cli, workload, item->value);
        return AP_OK;
    }
    ap_pos pos = {.file = item->option};
    return ap_schema_set(&ap_workload_object, workload, item->path, item->value, pos, cli->arena, &cli->diags);
}

/* Environment and configuration are defaults: they come before the document, options after it. */
static ap_status assign_all(ap_cli *cli, ap_workload *workload, bool defaults)
{
    const ap_assignment *items;
    size_t count = ap_cli_assignments(cli, &items);
    ap_status status = AP_OK;
    for (size_t i = 0; i < count; i++) {
        if ((items[i].origin > AP_FROM_OPTION) != defaults)
            continue;
        if (assign(cli, workload, &items[i]) != AP_OK)
            status = defaults ? AP_BAD_DATA : AP_USAGE;
    }
    return status;
}

static const char *folder_of(ap_arena *arena, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? ap_arena_strndup(arena, path, (size_t)(slash - path)) : NULL;
}

/* ret_document: the workload before options changed it. */
static ap_status load_workload(ap_cli *cli, const char *path, ap_workload *workload, ap_workload *ret_document)
{
    ap_workload defaults;
    ap_workload_init(&defaults);
    ap_workload_init(workload);
    ap_status status = assign_all(cli, &defaults, true);
    if (path && status == AP_OK)
        status = ap_workload_load(path, cli->arena, &cli->diags, workload);
    if (status != AP_OK)
        return status;
    ap_schema_fill(&ap_workload_object, workload, &defaults);
    *ret_document = *workload;
    return assign_all(cli, workload, false);
}

static void add_texts(ap_arena *arena, ap_strings *list, ap_strings more)
{
    if (more.count == 0)
        return;
    list->items = AP_NEW_ARRAY(arena, const char *, more.count);
    memcpy(list->items, more.items, more.count * sizeof *more.items);
    list->count = more.count;
}

/* A chip is named by id, by any alias, or by a glob over ids. An ambiguous spelling means all that it may be. */
static ap_status resolve_chips(ap_cli *cli, const ap_catalog *catalog, ap_strings *chips)
{
    ap_strings ids = {0};
    size_t capacity = 0;
    ap_status status = AP_OK;
    for (size_t i = 0; i < chips->count; i++) {
        const char *name = chips->items[i];
        ap_chip_match match = ap_catalog_find_chip(catalog, name);
        if (strpbrk(name, "*?"))
            *AP_PUSH(cli->arena, ids.items, ids.count, capacity) = name;
        else if (match.chip)
            *AP_PUSH(cli->arena, ids.items, ids.count, capacity) = match.chip->id;
        for (size_t k = 0; !match.chip && k < match.choice_count; k++)
            *AP_PUSH(cli->arena, ids.items, ids.count, capacity) = match.choices[k]->id;
        if (!strpbrk(name, "*?") && !match.chip && match.choice_count == 0)
            status = ap_cli_usage(cli, 303, ap_catalog_suggest(catalog, "chip", name, cli->arena), "unknown chip \"%s\"", name);
    }
    *chips = ids;
    return status;
}

/* Names of clouds must exist; a typing error must not turn into "nothing is feasible". */
static ap_status check_clouds(ap_cli *cli, const ap_catalog *catalog, const ap_strings *clouds)
{
    ap_status status = AP_OK;
    for (size_t i = 0; i < clouds->count; i++) {
        const char *name = clouds->items[i];
        if (strpbrk(name, "*?"))
            continue;
        const ap_cloud *cloud = ap_catalog_find_cloud(catalog, name);
        if (cloud)
            clouds->items[i] = cloud->id;
        else
            status = ap_cli_usage(cli, 303, ap_catalog_suggest(catalog, "cloud", name, cli->arena), "unknown cloud \"%s\"", name);
    }
    return status;
}

static void take_number(const ap_cli *cli, ap_opt_id id, double *value)
{
    if (ap_known(ap_cli_number(cli, id)))
        *value = ap_cli_number(cli, id);
}

static void take_range(const ap_cli *cli, ap_opt_id id, ap_range *range)
{
    ap_range given = ap_cli_range(cli, id);
    if (ap_known(given.low) || ap_known(given.high))
        *range = given;
}

ap_status ap_cli_constraints(ap_cli *cli, const ap_catalog *catalog, ap_constraints *c)
{
    take_number(cli, AP_O_DEADLINE, &c->deadline_s);
    take_number(cli, AP_O_BUDGET, &c->budget_usd);
    take_number(cli, AP_O_MAX_PRICE_HOUR, &c->max_price_usd_per_h);
    take_range(cli, AP_O_CHIPS, &c->chips);
    take_range(cli, AP_O_MEMORY, &c->memory_bytes);
    take_range(cli, AP_O_HOST_MEMORY, &c->host_memory);
    add_texts(cli->arena, &c->clouds, ap_cli_list(cli, AP_O_CLOUD));
    add_texts(cli->arena, &c->regions, ap_cli_list(cli, AP_O_REGION));
    add_texts(cli->arena, &c->chip_globs, ap_cli_list(cli, AP_O_CHIP));
    add_texts(cli->arena, &c->exclude, ap_cli_list(cli, AP_O_EXCLUDE));
    add_texts(cli->arena, &c->pricing, ap_cli_list(cli, AP_O_PRICING));
    if (ap_cli_flag(cli, AP_O_PORTABLE))
        c->portable = 1;
    ap_status chips = resolve_chips(cli, catalog, &c->chip_globs);
    ap_status clouds = check_clouds(cli, catalog, &c->clouds);
    return chips != AP_OK ? chips : clouds;
}

static ap_status take_discounts(ap_cli *cli, const ap_catalog *catalog, ap_plan_options *options)
{
    ap_strings pairs = ap_cli_list(cli, AP_O_DISCOUNT);
    size_t capacity = 0;
    ap_status status = AP_OK;
    for (size_t i = 0; i < pairs.count; i++) {
        const char *equals = strchr(pairs.items[i], '='), *reason;
        const char *name = ap_arena_strndup(cli->arena, pairs.items[i], equals ? (size_t)(equals - pairs.items[i]) : 0);
        const ap_cloud *cloud = ap_catalog_find_cloud(catalog, name);
        double fraction;
        if (!cloud)
            status = ap_cli_usage(cli, 303, ap_catalog_suggest(catalog, "cloud", name, cli->arena), "--discount: unknown cloud \"%s\"", name);
        else if (!equals || !ap_units_parse(equals + 1, AP_DIM_FRACTION, &fraction, cli->arena, &reason) || fraction < 0 || fraction >= 1)
            status = ap_cli_usage(cli, 305, "such as aws=0.2 or gcp=15%", "--discount: expected a share below 1 for %s", name);
        else
            *AP_PUSH(cli->arena, options->discounts.items, options->discounts.count, capacity) = (ap_discount){cloud->id, fraction};
    }
    return status;
}

void ap_cli_view_options(ap_cli *cli, ap_view_options *ret)
{
    *ret = (ap_view_options){
        .limit = ap_cli_limit(cli),
        .build_all = ap_cli_origin(cli, AP_O_SORT) != AP_FROM_NOWHERE,
        .explain = ap_cli_flag(cli, AP_O_EXPLAIN),
        .why_not = ap_cli_flag(cli, AP_O_WHY_NOT),
        .wide = ap_cli_format(cli) == AP_FORMAT_WIDE,
        .currency = ap_cli_text(cli, AP_O_CURRENCY),
        .rate = ap_or(ap_cli_number(cli, AP_O_RATE), 1),
        .as_of = ap_cli_text(cli, AP_O_AS_OF),
    };
}

static ap_status take_rigs(ap_cli *cli, const ap_catalog *catalog, ap_plan_options *options)
{
    ap_strings names = ap_cli_list(cli, AP_O_RIG);
    ap_status worst = AP_OK;
    options->rigs.items = AP_NEW_ARRAY(cli->arena, const ap_rig *, names.count + 1);
    for (size_t i = 0; i < names.count; i++) {
        ap_status status = ap_rig_resolve(catalog, names.items[i], cli->arena, &cli->diags, &options->rigs.items[options->rigs.count++]);
        worst = status > worst ? status : worst;
    }
    return worst;
}

/* Resolves the job. A fault that the document alone does not have came with an option: then it is a usage error and has
 * no place in the document. */
static ap_status resolve(ap_cli *cli, const ap_catalog *catalog, const ap_workload *document, ap_cli_job *job)
{
    size_t before = cli->diags.count;
    ap_status status = ap_job_resolve(&job->workload, catalog, job->dir, cli->arena, &cli->diags, &job->job);
    if (status != AP_BAD_INPUT)
        return status;
    ap_diags aside;
    ap_diags_init(&aside, cli->arena);
    ap_job *alone = AP_NEW(cli->arena, ap_job);
    if (ap_job_resolve(document, catalog, job->dir, cli->arena, &aside, alone) != AP_OK)
        return status;
    for (size_t i = before; i < cli->diags.count; i++) {
        cli->diags.items[i].pos = AP_NO_POS;
        cli->diags.items[i].source_line = NULL;
    }
    return AP_USAGE;
}

ap_status ap_cli_job_load(ap_cli *cli, const char *path, ap_cli_job *ret)
{
    const ap_catalog *catalog;
    *ret = (ap_cli_job){0};
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status != AP_OK)
        return status;
    ap_workload document;
    status = load_workload(cli, path, &ret->workload, &document);
    if (status != AP_OK)
        return status;
    if (ap_cli_origin(cli, AP_O_OBJECTIVE) != AP_FROM_NOWHERE || ret->workload.objective < 0)
        ret->workload.objective = ap_cli_word(cli, AP_O_OBJECTIVE);
    ret->options.constraints = ret->workload.constraints;
    ret->options.as_of = ap_cli_today(cli);
    int group = ap_cli_word(cli, AP_O_GROUP_BY);
    ret->options.group_by = group >= 0 ? (ap_grouping)group : AP_GROUP_INSTANCE;
    ap_status limits = ap_cli_constraints(cli, catalog, &ret->options.constraints);
    ap_status discounts = take_discounts(cli, catalog, &ret->options);
    ap_status rigs = take_rigs(cli, catalog, &ret->options);
    ret->dir = folder_of(cli->arena, path);
    status = resolve(cli, catalog, &document, ret);
    if (status == AP_OK)
        status = limits != AP_OK ? limits : discounts != AP_OK ? discounts : rigs;
    ap_cli_view_options(cli, &ret->view);
    const ap_calibration *calibration;
    ap_status constants = ap_cli_calibration(cli, &calibration);
    if (constants != AP_OK)
        return constants;
    ap_search_init(&ret->search, (ap_search_inputs){&ret->job, catalog, calibration, &ret->options, cli->arena});
    return status;
}

ap_status ap_cli_sort_items(ap_cli *cli, ap_doc *doc, const char *list)
{
    ap_strings keys = ap_cli_list(cli, AP_O_SORT);
    ap_value *items = (ap_value *)(uintptr_t)ap_value_at(doc->root, list);
    if (keys.count == 0 || !items)
        return AP_OK;
    return ap_value_sort(cli->arena, items, keys.items, keys.count, &cli->diags);
}

ap_status ap_cli_job_rules(ap_cli *cli, ap_cli_job *job, unsigned scope)
{
    ap_knowledge_request request = {.data_dir = ap_cli_text(cli, AP_O_DATA),
                                    .policies = ap_cli_list(cli, AP_O_RULES),
                                    .config = cli->config.policies};
    ap_ruleset *set;
    ap_status status = ap_knowledge_load(&request, cli->arena, &cli->diags, &set);
    if (status != AP_OK)
        return status;
    ap_rules_request rules = {.set = set, .scope = scope, .workload = &job->workload, .job = &job->job, .dir = job->dir,
                              .diags = &cli->diags};
    return ap_search_apply_rules(&job->search, &rules);
}
