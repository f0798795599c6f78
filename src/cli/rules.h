/* What the commands that show rules share. */
#ifndef AP_CLI_RULES_H
#define AP_CLI_RULES_H

#include "cli/cli.h"
#include "plan/knowledge.h"

/* The rules of --data, --rules and the configuration; with_packs adds the policy packs nobody asked for (to list them). */
AP_CHECKED ap_status ap_cli_rules(ap_cli *cli, bool with_packs, ap_ruleset **ret_set);
ap_status ap_cli_list_rules(ap_cli *cli);               /* list rules [GLOB] */
ap_status ap_cli_show_rule(ap_cli *cli, const char *id); /* show rules ID */

#endif
