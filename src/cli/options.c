/* Reading argv by the option table. getopt_long does the scanning in its "return in order" mode, so that operands are
 * seen in place and nothing is permuted; abbreviations, which it cannot switch off, are refused by comparing what was
 * written with the name it matched. */
#include <assert.h>
#include <getopt.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

const ap_option ap_options[AP_O_COUNT] = {
#define AP_OPTION(id, ...) [AP_O_##id] = {__VA_ARGS__},
#include "cli/options.def"
#undef AP_OPTION
};

enum { LONG_BASE = 256, OPERAND = 1 };

bool ap_option_applies(const ap_option *option, const ap_command *command)
{
    return (option->groups & AP_G_GLOBAL) || (command && (option->groups & command->groups));
}

bool ap_option_offered(const ap_option *option)
{
    for (size_t i = 0; ap_commands[i]; i++)
        if (ap_option_applies(option, ap_commands[i]))
            return true;
    return false;
}

static struct option *build_long_options(ap_arena *arena)
{
    struct option *longs = AP_NEW_ARRAY(arena, struct option, AP_O_COUNT + 1);
    for (int i = 0; i < AP_O_COUNT; i++)
        longs[i] = (struct option){.name = ap_options[i].name,
                                   .has_arg = ap_options[i].kind == AP_ARG_FLAG ? no_argument : required_argument,
                                   .val = LONG_BASE + i};
    return longs;
}

static const char *build_short_options(ap_arena *arena)
{
    ap_sbuf shorts;
    ap_sbuf_init(&shorts, arena);
    ap_sbuf_add(&shorts, "-:"); /* operands in order; ':' tells a missing argument from an unknown option */
    for (int i = 0; i < AP_O_COUNT; i++)
        if (ap_options[i].letter) {
            ap_sbuf_add_char(&shorts, ap_options[i].letter);
            if (ap_options[i].kind != AP_ARG_FLAG)
                ap_sbuf_add_char(&shorts, ':');
        }
    return shorts.text;
}

static int find_option(int c)
{
    if (c >= LONG_BASE)
        return c - LONG_BASE;
    for (int i = 0; i < AP_O_COUNT; i++)
        if (ap_options[i].letter && ap_options[i].letter == c)
            return i;
    return -1;
}

static bool is_long(const char *word)
{
    return word[0] == '-' && word[1] == '-' && word[2];
}

/* The name in "--name" or "--name=value", or NULL when the word is no long option. */
static const char *long_name(ap_arena *arena, const char *word)
{
    return is_long(word) ? ap_arena_strndup(arena, word + 2, strcspn(word + 2, "=")) : NULL;
}

static const char *suggest_option(ap_arena *arena, const char *name)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, ap_arena_printf(arena, "--%s", name));
    for (int i = 0; i < AP_O_COUNT; i++)
        if (ap_option_offered(&ap_options[i]))
            ap_suggest_offer(&suggest, ap_arena_printf(arena, "--%s", ap_options[i].name));
    return ap_suggest_text(&suggest, arena);
}

/* Options that begin with what was written come first in the hint: abbreviations are a habit worth answering well. */
static const char *hint_for_long(ap_arena *arena, const char *name)
{
    const char *only = NULL;
    for (int i = 0; i < AP_O_COUNT; i++)
        if (name[0] && ap_starts_with(ap_options[i].name, name)) {
            if (only)
                return suggest_option(arena, name);
            only = ap_options[i].name;
        }
    return only ? ap_arena_printf(arena, "options are not abbreviated: write --%s", only) : suggest_option(arena, name);
}

static ap_status unknown_long(ap_cli *cli, const char *name)
{
    return ap_cli_usage(cli, 51, hint_for_long(cli->arena, name), "unknown option '--%s'", name);
}

static ap_status unknown_short(ap_cli *cli, const char *word, int letter)
{
    const char *hint = NULL;
    for (int i = 0; i < AP_O_COUNT; i++)
        if (ap_streq(ap_options[i].name, word + 1))
            hint = ap_arena_printf(cli->arena, "long options take two dashes: --%s", ap_options[i].name);
    char shown[2] = {(char)(letter >= 32 && letter < 127 ? letter : '?'), '\0'};
    return ap_cli_usage(cli, 51, hint, "unknown option '-%s' in '%s'", shown, word);
}

/* One answer of getopt_long that is an option or a complaint about one. */
static ap_status take_option(ap_cli *cli, const char *word, int c, int complained_about)
{
    const char *name = long_name(cli->arena, word);
    int id = c == '?' || c == ':' ? find_option(complained_about) : find_option(c);
    bool exact = id >= 0 && (!name || ap_streq(name, ap_options[id].name));
    if (!exact)
        return name ? unknown_long(cli, name) : unknown_short(cli, word, complained_about);
    const ap_option *option = &ap_options[id];
    if (c == ':')
        return ap_cli_usage(cli, 52, NULL, "option '--%s' needs a value%s%s", option->name, option->arg ? ": " : "",
                            option->arg ? option->arg : "");
    if (c == '?')
        return ap_cli_usage(cli, 53, NULL, "option '--%s' takes no value", option->name);
    return ap_cli_take(cli, (ap_opt_id)id, option->kind == AP_ARG_FLAG ? "true" : optarg, AP_FROM_OPTION, AP_NO_POS);
}

/* "-1 < 0", "-(x)", "--5": no option begins like this, an expression or a number may. */
static bool is_negative_operand(const char *word)
{
    if (word[0] != '-' || word[1] == '\0')
        return false;
    char first = word[1] == '-' ? word[2] : word[1];
    return first != '\0' && first != '?' && !((first | 0x20) >= 'a' && (first | 0x20) <= 'z');
}

static ap_status scan(ap_cli *cli, int argc, char **argv)
{
    struct option *longs = build_long_options(cli->arena);
    const char *shorts = build_short_options(cli->arena);
    ap_status status = AP_OK;
    int refused = -1; /* a refused cluster of short options is reported once */
    int before = -1;  /* where the last call stood: when it did not move on, a cluster is being read */
    opterr = 0;
    optind = 0; /* glibc: start afresh */
    for (;;) {
        int at = optind ? optind : 1, index = -1;
        if (optind > 0 && optind < argc && optind != before && is_negative_operand(argv[optind])) {
            cli->operands[cli->operand_count++] = argv[optind++];
            continue;
        }
        before = at;
        optopt = 0;
        int c = getopt_long(argc, argv, shorts, longs, &index);
        if (c == -1)
            break;
        if (c == OPERAND) {
            cli->operands[cli->operand_count++] = optarg;
        } else if (at != refused && take_option(cli, argv[at], c, optopt) != AP_OK) {
            status = AP_USAGE;
            refused = is_long(argv[at]) ? -1 : at;
        }
    }
    cli->after_dashes = cli->operand_count;
    for (int i = optind; i < argc; i++)
        cli->operands[cli->operand_count++] = argv[i];
    return status;
}

const ap_command *ap_command_find(const char *name)
{
    for (size_t i = 0; ap_commands[i]; i++)
        if (ap_streq(ap_commands[i]->name, name))
            return ap_commands[i];
    return NULL;
}

static ap_status choose_command(ap_cli *cli)
{
    if (cli->operand_count == 0) {
        if (ap_cli_flag(cli, AP_O_HELP) || ap_cli_flag(cli, AP_O_VERSION))
            return AP_OK;
        return ap_cli_usage(cli, 50, "accelpick help lists the commands", "no command given");
    }
    cli->command = ap_command_find(cli->operands[0]);
    if (!cli->command) {
        ap_suggest suggest;
        ap_suggest_init(&suggest, cli->operands[0]);
        for (size_t i = 0; ap_commands[i]; i++)
            ap_suggest_offer(&suggest, ap_commands[i]->name);
        const char *near = ap_suggest_text(&suggest, cli->arena);
        return ap_cli_usage(cli, 50, near ? near : "accelpick help lists the commands", "unknown command '%s'",
                            cli->operands[0]);
    }
    cli->operands++;
    cli->operand_count--;
    if (cli->after_dashes > 0)
        cli->after_dashes--;
    return AP_OK;
}

static ap_status check_applies(ap_cli *cli)
{
    ap_status status = AP_OK;
    for (int i = 0; i < AP_O_COUNT; i++) {
        if (cli->settings[i].origin != AP_FROM_OPTION || ap_option_applies(&ap_options[i], cli->command))
            continue;
        ap_sbuf hint;
        ap_sbuf_init(&hint, cli->arena);
        for (size_t k = 0; ap_commands[k]; k++)
            if (ap_option_applies(&ap_options[i], ap_commands[k]))
                ap_sbuf_printf(&hint, "%s %s", hint.len ? "," : "it belongs to:", ap_commands[k]->name);
        status = ap_cli_usage(cli, 54, hint.len ? hint.text : NULL, "option '--%s' does not apply to '%s'",
                              ap_options[i].name, cli->command->name);
    }
    return status;
}

static ap_status check_operands(ap_cli *cli)
{
    const ap_command *command = cli->command;
    const char *hint = ap_arena_printf(cli->arena, "accelpick help %s shows how it is used", command->name);
    if (cli->operand_count < command->min_operands)
        return ap_cli_usage(cli, 57, hint, "'%s' needs %s", command->name,
                            command->operand ? command->operand : "an operand");
    if (cli->operand_count > command->max_operands)
        return ap_cli_usage(cli, 58, hint, "'%s' takes no operand '%s'", command->name,
                            cli->operands[command->max_operands]);
    return AP_OK;
}

ap_status ap_cli_parse(ap_cli *cli, int argc, char **argv)
{
    for (int i = 0; i < AP_O_COUNT; i++) {
        cli->settings[i].number = AP_UNKNOWN;
        cli->settings[i].range = (ap_range){AP_UNKNOWN, AP_UNKNOWN};
    }
    cli->operands = AP_NEW_ARRAY(cli->arena, const char *, (size_t)(argc > 0 ? argc : 1) + 1);
    if (argc < 1)
        return ap_cli_usage(cli, 50, NULL, "no command given");
    ap_status status = scan(cli, argc, argv);
    if (choose_command(cli) != AP_OK)
        return AP_USAGE;
    if (ap_cli_flag(cli, AP_O_HELP) || ap_cli_flag(cli, AP_O_VERSION) || !cli->command)
        return status;
    if (check_applies(cli) != AP_OK)
        status = AP_USAGE;
    if (check_operands(cli) != AP_OK)
        status = AP_USAGE;
    return status;
}
