/* What lies under the options: ACCELPICK_* variables, ./.accelpick.yaml, the user's config.yaml. A configuration file may
 * also hold catalog records (chips:, instances: …); those are overlays and read by ap_cli_catalog(). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "io/file.h"
#include "io/yaml.h"
#include "schema/schema.h"

#define PROJECT_FILE ".accelpick.yaml"

const char *ap_option_env(ap_arena *arena, const ap_option *option)
{
    char *name = ap_arena_printf(arena, "ACCELPICK_%s", option->name);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    return name;
}

const char *ap_cli_user_dir(ap_arena *arena)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (base && base[0] == '/')
        return ap_arena_printf(arena, "%s/accelpick", base);
    return home && home[0] ? ap_arena_printf(arena, "%s/.config/accelpick", home) : NULL;
}

static ap_status read_environment(ap_cli *cli)
{
    ap_status status = AP_OK;
    for (int i = 0; i < AP_O_COUNT; i++) {
        if (ap_options[i].only_option || !ap_option_applies(&ap_options[i], cli->command))
            continue;
        const char *value = getenv(ap_option_env(cli->arena, &ap_options[i]));
        if (value && *value && ap_cli_take(cli, (ap_opt_id)i, value, AP_FROM_ENVIRONMENT, AP_NO_POS) != AP_OK)
            status = AP_USAGE;
    }
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

typedef struct section {
    const char *key;
    size_t offset; /* of the ap_node pointer in ap_config; NO_PLACE: read elsewhere */
} section;
#define NO_PLACE ((size_t)-1)

static const section sections[] = {
    {"defaults", NO_PLACE},
    {"discounts", NO_PLACE},
    {"policies", offsetof(ap_config, policies)},
    {"emit", offsetof(ap_config, emit)},
    {"quota", offsetof(ap_config, quota)},
    {"egress", offsetof(ap_config, egress)},
    {"rates", offsetof(ap_config, rates)},
    /* catalog records and their file-level defaults */
    {"chips", NO_PLACE}, {"names", NO_PLACE}, {"instances", NO_PLACE}, {"clouds", NO_PLACE}, {"regions", NO_PLACE},
    {"models", NO_PLACE}, {"datasets", NO_PLACE}, {"recipes", NO_PLACE}, {"rigs", NO_PLACE}, {"images", NO_PLACE},
    {"stacks", NO_PLACE}, {"suites", NO_PLACE}, {"rules", NO_PLACE}, {"source", NO_PLACE}, {"as_of", NO_PLACE}, {"confidence", NO_PLACE},
    {"cloud", NO_PLACE}, {"market", NO_PLACE}, {"calibration", NO_PLACE},
};
enum { SECTION_COUNT = sizeof sections / sizeof *sections };

static int find_default(const char *name)
{
    for (int i = 0; i < AP_O_COUNT; i++)
        if (!ap_options[i].only_option && ap_streq(ap_options[i].name, name))
            return i;
    return -1;
}

static void unknown_default(ap_cli *cli, const ap_pair *pair)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, pair->key);
    for (int i = 0; i < AP_O_COUNT; i++)
        if (!ap_options[i].only_option)
            ap_suggest_offer(&suggest, ap_options[i].name);
    ap_diag *diag = ap_diag_add(&cli->diags, AP_ERROR, 59, pair->key_pos, "defaults has no key '%s'", pair->key);
    diag->hint = ap_suggest_text(&suggest, cli->arena);
}

static ap_status take_default(ap_cli *cli, const ap_pair *pair, ap_origin origin)
{
    int id = find_default(pair->key);
    if (id < 0) {
        unknown_default(cli, pair);
        return AP_BAD_DATA;
    }
    if (!ap_option_applies(&ap_options[id], cli->command) || ap_node_is_null(pair->value))
        return AP_OK;
    const ap_node *value = pair->value;
    size_t count = value->kind == AP_NODE_LIST ? value->as.list.count : 1;
    ap_status status = AP_OK;
    for (size_t i = 0; i < count; i++) {
        const ap_node *item = value->kind == AP_NODE_LIST ? value->as.list.items[i] : value;
        const char *text = ap_node_text(item);
        if (!text) {
            ap_diag_add(&cli->diags, AP_ERROR, 59, item->pos, "defaults: %s: expected a value, found %s", pair->key,
                        ap_node_kind_name(item));
            status = AP_BAD_DATA;
        } else if (ap_cli_take(cli, (ap_opt_id)id, text, origin, item->pos) != AP_OK) {
            status = AP_BAD_DATA;
        }
    }
    return status;
}

static ap_status take_defaults(ap_cli *cli, const ap_node *defaults, ap_origin origin)
{
    if (ap_node_is_null(defaults))
        return AP_OK;
    if (defaults->kind != AP_NODE_MAP) {
        ap_diag_add(&cli->diags, AP_ERROR, 59, defaults->pos, "defaults: expected a mapping, found %s",
                    ap_node_kind_name(defaults));
        return AP_BAD_DATA;
    }
    ap_status status = AP_OK;
    for (size_t i = 0; i < defaults->as.map.count; i++)
        if (take_default(cli, &defaults->as.map.pairs[i], origin) != AP_OK)
            status = AP_BAD_DATA;
    return status;
}

/* discounts: {aws: 0.2} is --discount aws=0.2 written as a mapping. */
static ap_status take_discounts(ap_cli *cli, const ap_node *discounts, ap_origin origin)
{
    if (ap_node_is_null(discounts) || !ap_option_applies(&ap_options[AP_O_DISCOUNT], cli->command))
        return AP_OK;
    if (discounts->kind != AP_NODE_MAP) {
        ap_diag_add(&cli->diags, AP_ERROR, 59, discounts->pos, "discounts: expected a mapping of cloud and share, found %s",
                    ap_node_kind_name(discounts));
        return AP_BAD_DATA;
    }
    ap_status status = AP_OK;
    for (size_t i = 0; i < discounts->as.map.count; i++) {
        const ap_pair *pair = &discounts->as.map.pairs[i];
        const char *share = ap_node_text(pair->value);
        const char *text = ap_arena_printf(cli->arena, "%s=%s", pair->key, share ? share : "");
        if (ap_cli_take(cli, AP_O_DISCOUNT, text, origin, pair->value->pos) != AP_OK)
            status = AP_BAD_DATA;
    }
    return status;
}

static ap_status unknown_section(ap_cli *cli, const ap_pair *pair)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, pair->key);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        ap_suggest_offer(&suggest, sections[i].key);
    const char *hint = ap_suggest_text(&suggest, cli->arena);
    if (!hint && find_default(pair->key) >= 0)
        hint = "values of options belong below 'defaults:'";
    ap_diag_add(&cli->diags, AP_ERROR, 59, pair->key_pos, "unknown key '%s'", pair->key)->hint = hint;
    return AP_BAD_DATA;
}

static ap_status take_section(ap_cli *cli, const ap_pair *pair, ap_origin origin)
{
    if (ap_streq(pair->key, "defaults"))
        return take_defaults(cli, pair->value, origin);
    if (ap_streq(pair->key, "discounts"))
        return take_discounts(cli, pair->value, origin);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        if (!ap_streq(sections[i].key, pair->key))
            continue;
        if (sections[i].offset != NO_PLACE) {
            const ap_node **place = (const ap_node **)(void *)((char *)&cli->config + sections[i].offset);
            if (!*place && !ap_node_is_null(pair->value))
                *place = pair->value;
        }
        return AP_OK;
    }
    return unknown_section(cli, pair);
}

static ap_status take_file(ap_cli *cli, const char *path, ap_origin origin)
{
    char *text;
    size_t len;
    ap_docs docs = {0};
    ap_status status = ap_file_read(path, AP_YAML_CATALOG_BYTES, cli->arena, &cli->diags, &text, &len);
    if (status != AP_OK)
        return status == AP_IO ? AP_IO : AP_BAD_DATA;
    status = ap_yaml_parse(text, len, path, AP_YAML_STRICT, AP_YAML_CATALOG_BYTES, cli->arena, &cli->diags, &docs);
    if (status == AP_OK && docs.count == 1 && docs.items[0]->kind == AP_NODE_MAP) {
        const ap_node *root = docs.items[0];
        for (size_t i = 0; i < root->as.map.count; i++)
            if (take_section(cli, &root->as.map.pairs[i], origin) != AP_OK)
                status = AP_BAD_DATA;
    } else if (status == AP_OK && docs.count == 1 && !ap_node_is_null(docs.items[0])) {
        ap_diag_add(&cli->diags, AP_ERROR, 59, docs.items[0]->pos, "expected a mapping, found %s",
                    ap_node_kind_name(docs.items[0]));
        status = AP_BAD_DATA;
    }
    if (status != AP_OK)
        ap_diags_attach_source(&cli->diags, path, text, len);
    return status == AP_OK ? AP_OK : AP_BAD_DATA;
}

ap_status ap_cli_configure(ap_cli *cli)
{
    ap_status status = read_environment(cli);
    if (ap_file_exists(PROJECT_FILE)) {
        cli->config.project_file = PROJECT_FILE;
        ap_status read = take_file(cli, PROJECT_FILE, AP_FROM_PROJECT);
        status = read > status ? read : status;
    }
    const char *dir = ap_cli_user_dir(cli->arena);
    const char *user_file = dir ? ap_arena_printf(cli->arena, "%s/config.yaml", dir) : NULL;
    if (user_file && ap_file_exists(user_file)) {
        cli->config.user_file = user_file;
        ap_status read = take_file(cli, user_file, AP_FROM_USER);
        status = read > status ? read : status;
    }
    return status;
}
