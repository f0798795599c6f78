/* list KIND and show KIND NAME: the catalog. */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "catalog/tables.h"
#include "cli/job.h"
#include "cli/rules.h"

static ap_status unknown_kind(ap_cli *cli, const char *kind)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, kind);
    for (size_t i = 0; i < ap_catalog_kind_count; i++)
        ap_suggest_offer(&suggest, ap_catalog_kinds[i].key);
    ap_suggest_offer(&suggest, "rules");
    const char *hint = ap_suggest_text(&suggest, cli->arena);
    return ap_cli_usage(cli, 308, hint ? hint : "chips, instances, clouds, regions, models, datasets, recipes, rigs, rules, images, stacks, suites",
                        "unknown kind \"%s\"", kind);
}

/* "chip" is "chips": nobody is sent back for an s. */
static const char *plural(const char *kind)
{
    for (size_t i = 0; i < ap_catalog_kind_count; i++)
        if (ap_streq(kind, ap_catalog_kinds[i].object->name))
            return ap_catalog_kinds[i].key;
    return ap_streq(kind, "rule") ? "rules" : kind;
}

static bool wanted_word(ap_strings words, const char *word)
{
    for (size_t i = 0; i < words.count; i++)
        if (strcasecmp(words.items[i], word) == 0)
            return true;
    return words.count == 0;
}

/* --kind and --vendor select chips only. */
static void keep_wanted(ap_cli *cli, ap_doc *doc)
{
    ap_strings kinds = ap_cli_list(cli, AP_O_KIND), vendors = ap_cli_list(cli, AP_O_VENDOR);
    ap_value *items = (ap_value *)(uintptr_t)ap_value_at(doc->root, "items");
    size_t kept = 0;
    for (size_t i = 0; i < items->as.list.count; i++) {
        const ap_value *kind = ap_value_at(items->as.list.items[i], "kind");
        const ap_value *vendor = ap_value_at(items->as.list.items[i], "vendor");
        bool keep = (!kind || wanted_word(kinds, kind->as.text)) && (!vendor || wanted_word(vendors, vendor->as.text));
        if (keep)
            items->as.list.items[kept++] = items->as.list.items[i];
    }
    items->as.list.count = kept;
}

static ap_status run_list(ap_cli *cli)
{
    const ap_catalog *catalog;
    const char *kind = plural(cli->operands[0]);
    ap_constraints filter;
    ap_view_options view;
    ap_workload none;
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status != AP_OK)
        return status;
    if (ap_streq(kind, "rules"))
        return ap_cli_list_rules(cli);
    ap_workload_init(&none);
    filter = none.constraints;
    status = ap_cli_constraints(cli, catalog, &filter);
    if (status != AP_OK)
        return status;
    ap_cli_view_options(cli, &view);
    view.filter = &filter;
    view.name_glob = cli->operand_count > 1 ? cli->operands[1] : NULL;
    ap_doc *doc = ap_view_list(cli->arena, catalog, kind, &view);
    if (!doc)
        return unknown_kind(cli, kind);
    if (ap_streq(kind, "chips"))
        keep_wanted(cli, doc);
    status = ap_cli_sort_items(cli, doc, "items");
    return status == AP_OK ? ap_cli_write_doc(cli, doc) : status;
}

static ap_status run_show(ap_cli *cli)
{
    const ap_catalog *catalog;
    const char *kind = plural(cli->operands[0]), *name = cli->operands[1];
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status != AP_OK)
        return status;
    if (ap_streq(kind, "rules"))
        return ap_cli_show_rule(cli, name);
    bool known = false;
    for (size_t i = 0; i < ap_catalog_kind_count; i++)
        known = known || ap_streq(kind, ap_catalog_kinds[i].key);
    if (!known)
        return unknown_kind(cli, kind);
    ap_doc *doc = ap_view_show(cli->arena, catalog, kind, name);
    if (doc)
        return ap_cli_write_doc(cli, doc);
    size_t len = strlen(kind);
    const char *singular = ap_arena_strndup(cli->arena, kind, len - 1);
    ap_chip_match match = ap_catalog_find_chip(catalog, name);
    if (ap_streq(kind, "chips") && match.choice_count) {
        ap_sbuf choices;
        ap_sbuf_init(&choices, cli->arena);
        for (size_t i = 0; i < match.choice_count; i++)
            ap_sbuf_printf(&choices, "%s%s", i ? ", " : "one of ", match.choices[i]->id);
        return ap_cli_usage(cli, 309, choices.text, "\"%s\" may be several chips", name);
    }
    return ap_cli_usage(cli, 303, ap_catalog_suggest(catalog, singular, name, cli->arena), "unknown %s \"%s\"", singular, name);
}

#define KINDS "chips instances clouds regions models datasets recipes rigs rules images stacks suites names"
static const ap_example list_examples[] = {
    {"list chips --kind gpu --memory 40GB..", "GPUs with at least 40 GB"},
    {"list instances --cloud aws --chip h100-sxm5-80gb --sort on_demand_usd_per_h", "where an H100 costs least at AWS"},
};
const ap_command ap_cmd_list = {
    .name = "list",
    .synopsis = "KIND [NAME-GLOB]",
    .summary = "list chips, instances, models, data sets and more",
    .description = "KIND is one of: " KINDS ".",
    .examples = list_examples,
    .example_count = 2,
    .groups = AP_G_OUTPUT | AP_G_LIST | AP_G_FILTER | AP_G_DATA | AP_G_KINDS | AP_G_AGE | AP_G_RULES,
    .min_operands = 1,
    .max_operands = 2,
    .operand = "KIND",
    .values = KINDS,
    .run = run_list,
};
static const ap_example show_examples[] = {{"show chips h100-sxm5-80gb", "every figure of a chip with its source"},
                                           {"show models llama-3.1-8b --json", "a model profile"}};
const ap_command ap_cmd_show = {
    .name = "show",
    .synopsis = "KIND NAME",
    .summary = "show one entry of the catalog with the source of every value",
    .examples = show_examples,
    .example_count = 2,
    .groups = AP_G_OUTPUT | AP_G_DATA | AP_G_RULES,
    .min_operands = 2,
    .max_operands = 2,
    .operand = "KIND NAME",
    .values = KINDS,
    .run = run_show,
};
