#include "cli/rules.h"

#include "view/rules.h"

/* Packs that are compiled in, in front of those named by the user; one named twice counts once. */
static ap_strings with_all_packs(ap_cli *cli, ap_strings named)
{
    ap_rule_files packs = ap_knowledge_files(cli->arena, "policies");
    ap_strings all = {AP_NEW_ARRAY(cli->arena, const char *, packs.count + named.count + 1), 0};
    for (size_t i = 0; i < packs.count; i++)
        all.items[all.count++] = packs.items[i].policy;
    for (size_t i = 0; i < named.count; i++) {
        bool seen = false;
        for (size_t p = 0; p < packs.count; p++)
            seen = seen || ap_streq(packs.items[p].policy, named.items[i]);
        if (!seen)
            all.items[all.count++] = named.items[i];
    }
    return all;
}

ap_status ap_cli_rules(ap_cli *cli, bool with_packs, ap_ruleset **ret_set)
{
    ap_strings named = ap_cli_list(cli, AP_O_RULES);
    ap_knowledge_request request = {
        .data_dir = ap_cli_text(cli, AP_O_DATA),
        .policies = with_packs ? with_all_packs(cli, named) : named,
        .config = with_packs ? NULL : cli->config.policies,
    };
    return ap_knowledge_load(&request, cli->arena, &cli->diags, ret_set);
}

ap_status ap_cli_list_rules(ap_cli *cli)
{
    ap_ruleset *set;
    ap_status status = ap_cli_rules(cli, true, &set);
    if (status != AP_OK)
        return status;
    ap_rule_view view = {"rules", cli->operand_count > 1 ? cli->operands[1] : NULL, ap_cli_limit(cli)};
    return ap_cli_write_doc(cli, ap_view_rule_list(cli->arena, cli->catalog, set, &view));
}

ap_status ap_cli_show_rule(ap_cli *cli, const char *id)
{
    ap_ruleset *set;
    ap_status status = ap_cli_rules(cli, true, &set);
    if (status != AP_OK)
        return status;
    const ap_rule_item *item = ap_ruleset_find(set, id);
    if (!item)
        return ap_cli_usage(cli, 303, ap_view_rule_suggest(cli->arena, set, id), "unknown rule \"%s\"", id);
    ap_rule_view view = {.kind = "rule"};
    return ap_cli_write_doc(cli, ap_view_rule(cli->arena, cli->catalog, set, item, &view));
}
