/* completion: scripts for bash, zsh and fish, from the tables. Names that only the catalog knows are asked for when the
 * user presses Tab: `accelpick completion names models` prints them, with overlays and all. */
#include <string.h>

#include "base/text.h"
#include "catalog/tables.h"
#include "cli/help.h"

static void add_words(ap_sbuf *out, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        ap_sbuf_printf(out, "%s%s", i ? " " : "", words[i]);
}

static void add_commands(ap_sbuf *out)
{
    for (size_t i = 0; ap_commands[i]; i++)
        ap_sbuf_printf(out, "%s%s", i ? " " : "", ap_commands[i]->name);
}

static bool takes_path(const ap_option *option)
{
    return option->kind == AP_ARG_FILE || option->kind == AP_ARG_DIR || ap_streq(option->values, "files");
}

/* ---- bash ------------------------------------------------------------------------------------------------------- */

static void add_bash_value(ap_sbuf *out, const ap_option *option)
{
    if (option->letter)
        ap_sbuf_printf(out, "    -%c|--%s) ", option->letter, option->name);
    else
        ap_sbuf_printf(out, "    --%s) ", option->name);
    if (option->words) {
        ap_sbuf_add(out, "_accelpick_words \"");
        add_words(out, option->words);
        ap_sbuf_add(out, "\"; return ;;\n");
    } else if (takes_path(option)) {
        ap_sbuf_add(out, "compopt -o default; return ;;\n");
    } else if (option->values) {
        ap_sbuf_printf(out, "_accelpick_names %s; return ;;\n", option->values);
    } else {
        ap_sbuf_add(out, "return ;;\n");
    }
}

static void add_bash_command(ap_sbuf *out, const ap_command *command)
{
    ap_sbuf_printf(out, "    %s) _accelpick_words \"", command->name);
    const char *separator = "";
    for (int i = 0; i < AP_O_COUNT; i++)
        if (ap_option_applies(&ap_options[i], command)) {
            ap_sbuf_printf(out, "%s--%s", separator, ap_options[i].name);
            separator = " ";
        }
    ap_sbuf_add(out, "\" ;;\n");
}

static void add_bash_operands(ap_sbuf *out, const ap_command *command)
{
    if (!command->values)
        return;
    ap_sbuf_printf(out, "    %s) ", command->name);
    if (ap_streq(command->values, "files"))
        ap_sbuf_add(out, "compopt -o default ;;\n");
    else if (ap_streq(command->values, "commands"))
        ap_sbuf_add(out, "_accelpick_words \"$commands\" ;;\n");
    else if (ap_streq(command->operand, "KIND NAME")) /* the kind before it says which names */
        ap_sbuf_printf(out, "case \" %s \" in *\" $prev \"*) _accelpick_names \"$prev\" ;; *) _accelpick_words \"%s\" ;; "
                            "esac ;;\n", command->values, command->values);
    else
        ap_sbuf_printf(out, "_accelpick_words \"%s\" ;;\n", command->values);
}

static void write_bash(ap_sbuf *out)
{
    ap_sbuf_add(out, "# bash completion for accelpick; load with: source <(accelpick completion bash)\n"
                     "_accelpick_words() {\n"
                     "  local head='' tail=\"$cur\"\n"
                     "  case \"$cur\" in *,*) head=\"${cur%,*},\"; tail=\"${cur##*,}\" ;; esac\n"
                     "  mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$1\" -- \"$tail\")\n"
                     "}\n"
                     "_accelpick_names() {\n"
                     "  _accelpick_words \"$(accelpick completion names \"$1\" 2>/dev/null)\"\n"
                     "}\n"
                     "_accelpick() {\n"
                     "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev='' command='' word commands\n"
                     "  commands=\"");
    add_commands(out);
    ap_sbuf_add(out, "\"\n"
                     "  ((COMP_CWORD > 0)) && prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
                     "  if [[ $cur == = ]]; then cur=''; fi\n"
                     "  if [[ $prev == = ]] && ((COMP_CWORD > 1)); then prev=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi\n"
                     "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                     "    case \" $commands \" in *\" $word \"*) command=\"$word\"; break ;; esac\n"
                     "  done\n"
                     "  case \"$prev\" in\n");
    for (int i = 0; i < AP_O_COUNT; i++)
        if (ap_options[i].kind != AP_ARG_FLAG)
            add_bash_value(out, &ap_options[i]);
    ap_sbuf_add(out, "  esac\n"
                     "  if [[ -z $command && $cur != -* ]]; then _accelpick_words \"$commands\"; return; fi\n"
                     "  if [[ $cur == -* ]]; then case \"$command\" in\n");
    for (size_t i = 0; ap_commands[i]; i++)
        add_bash_command(out, ap_commands[i]);
    ap_sbuf_add(out, "    *) _accelpick_words \"--help --version --color --quiet --verbose\" ;;\n"
                     "  esac; return; fi\n"
                     "  case \"$command\" in\n");
    for (size_t i = 0; ap_commands[i]; i++)
        add_bash_operands(out, ap_commands[i]);
    ap_sbuf_add(out, "    *) compopt -o default ;;\n  esac\n}\ncomplete -F _accelpick accelpick\n");
}

/* ---- zsh -------------------------------------------------------------------------------------------------------- */

/* Text inside a zsh option spec in single quotes: brackets and colons would end the description. */
static void add_zsh_text(ap_sbuf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            ap_sbuf_add(out, "'\\''");
        else if (strchr("[]:\\", *c))
            ap_sbuf_printf(out, "\\%c", *c);
        else
            ap_sbuf_add_char(out, *c);
    }
}

static void add_zsh_option(ap_sbuf *out, const ap_option *option)
{
    bool many = option->kind == AP_ARG_LIST || option->kind == AP_ARG_PAIRS || option->kind == AP_ARG_EACH;
    ap_sbuf_printf(out, "      '%s--%s%s[", many ? "*" : "", option->name, option->kind == AP_ARG_FLAG ? "" : "=");
    add_zsh_text(out, option->help);
    ap_sbuf_add(out, "]");
    if (option->kind != AP_ARG_FLAG) {
        ap_sbuf_add(out, ":");
        add_zsh_text(out, option->arg ? option->arg : option->name);
        ap_sbuf_add(out, ":");
        if (option->words) {
            ap_sbuf_add(out, option->kind == AP_ARG_LIST ? "_sequence compadd - " : "(");
            add_words(out, option->words);
            ap_sbuf_add(out, option->kind == AP_ARG_LIST ? "" : ")");
        } else if (takes_path(option)) {
            ap_sbuf_add(out, option->kind == AP_ARG_DIR ? "_files -/" : "_files");
        } else if (option->values) {
            ap_sbuf_printf(out, "_accelpick_names %s", option->values);
        }
    }
    ap_sbuf_add(out, "' \\\n");
}

static void write_zsh(ap_sbuf *out)
{
    ap_sbuf_add(out, "#compdef accelpick\n"
                     "# zsh completion for accelpick; save as _accelpick in a folder of $fpath\n"
                     "_accelpick_names() {\n"
                     "  local -a names\n"
                     "  names=(${(f)\"$(accelpick completion names $1 2>/dev/null)\"})\n"
                     "  _sequence compadd -a names\n"
                     "}\n"
                     "_accelpick() {\n"
                     "  local -a commands\n"
                     "  commands=(\n");
    for (size_t i = 0; ap_commands[i]; i++) {
        ap_sbuf_printf(out, "    '%s:", ap_commands[i]->name);
        add_zsh_text(out, ap_commands[i]->summary);
        ap_sbuf_add(out, "'\n");
    }
    ap_sbuf_add(out, "  )\n"
                     "  if ((CURRENT == 2)); then _describe command commands; return; fi\n"
                     "  case $words[2] in\n");
    for (size_t i = 0; ap_commands[i]; i++) {
        const ap_command *command = ap_commands[i];
        ap_sbuf_printf(out, "    %s) shift words; ((CURRENT--)); _arguments \\\n", command->name);
        for (int k = 0; k < AP_O_COUNT; k++)
            if (ap_option_applies(&ap_options[k], command))
                add_zsh_option(out, &ap_options[k]);
        if (!command->values || ap_streq(command->values, "files"))
            ap_sbuf_add(out, "      '*:operand:_files' ;;\n");
        else if (ap_streq(command->values, "commands"))
            ap_sbuf_add(out, "      '*:command:_describe command commands' ;;\n");
        else
            ap_sbuf_printf(out, "      '*:operand:(%s)' ;;\n", command->values);
    }
    ap_sbuf_add(out, "  esac\n}\nif [ \"$funcstack[1]\" = _accelpick ]; then _accelpick \"$@\"; else compdef _accelpick "
                     "accelpick; fi\n");
}

/* ---- fish ------------------------------------------------------------------------------------------------------- */

static void add_fish_text(ap_sbuf *out, const char *text)
{
    ap_sbuf_add_char(out, '\'');
    for (const char *c = text; *c; c++) {
        if (*c == '\'' || *c == '\\')
            ap_sbuf_add_char(out, '\\');
        ap_sbuf_add_char(out, *c);
    }
    ap_sbuf_add_char(out, '\'');
}

static void add_fish_option(ap_sbuf *out, const ap_option *option)
{
    ap_sbuf_add(out, "complete -c accelpick");
    if (!(option->groups & AP_G_GLOBAL)) {
        ap_sbuf_add(out, " -n '__fish_seen_subcommand_from");
        for (size_t i = 0; ap_commands[i]; i++)
            if (ap_option_applies(option, ap_commands[i]))
                ap_sbuf_printf(out, " %s", ap_commands[i]->name);
        ap_sbuf_add(out, "'");
    }
    ap_sbuf_printf(out, " -l %s", option->name);
    if (option->letter)
        ap_sbuf_printf(out, " -s %c", option->letter);
    if (option->kind != AP_ARG_FLAG) {
        ap_sbuf_add(out, takes_path(option) ? " -r" : " -x");
        if (option->words) {
            ap_sbuf_add(out, " -a '");
            add_words(out, option->words);
            ap_sbuf_add(out, "'");
        } else if (!takes_path(option) && option->values) {
            ap_sbuf_printf(out, " -a '(accelpick completion names %s 2>/dev/null)'", option->values);
        }
    }
    ap_sbuf_add(out, " -d ");
    add_fish_text(out, option->help);
    ap_sbuf_add_char(out, '\n');
}

static void write_fish(ap_sbuf *out)
{
    ap_sbuf_add(out, "# fish completion for accelpick; save as ~/.config/fish/completions/accelpick.fish\n");
    for (size_t i = 0; ap_commands[i]; i++) {
        const ap_command *command = ap_commands[i];
        ap_sbuf_printf(out, "complete -c accelpick -n __fish_use_subcommand -f -a %s -d ", command->name);
        add_fish_text(out, command->summary);
        ap_sbuf_add_char(out, '\n');
        if (!command->values || ap_streq(command->values, "files"))
            continue;
        ap_sbuf_printf(out, "complete -c accelpick -n '__fish_seen_subcommand_from %s' -f -a '", command->name);
        if (ap_streq(command->values, "commands"))
            add_commands(out);
        else
            ap_sbuf_add(out, command->values);
        ap_sbuf_add(out, "'\n");
    }
    for (int i = 0; i < AP_O_COUNT; i++)
        if (ap_option_offered(&ap_options[i]))
            add_fish_option(out, &ap_options[i]);
}

bool ap_completion_write(const char *shell, ap_sbuf *out)
{
    if (ap_streq(shell, "bash"))
        write_bash(out);
    else if (ap_streq(shell, "zsh"))
        write_zsh(out);
    else if (ap_streq(shell, "fish"))
        write_fish(out);
    else
        return false;
    return true;
}

/* ---- names of the catalog ---------------------------------------------------------------------------------------- */

/* Every record of a kind begins somewhere with its id; the field table knows where. */
static void add_ids(const ap_catalog *catalog, const ap_catalog_kind *kind, ap_sbuf *out)
{
    const ap_any_list *list = (const ap_any_list *)(const void *)((const char *)catalog + kind->list_offset);
    size_t offset;
    if (!ap_schema_find(kind->object, "id", &offset) && !ap_schema_find(kind->object, "name", &offset))
        return;
    for (size_t i = 0; i < list->count; i++) {
        const char *record = (const char *)list->items + i * kind->object->size;
        const char *id;
        memcpy(&id, record + offset, sizeof id);
        if (id)
            ap_sbuf_printf(out, "%s\n", id);
    }
}

static void add_targets(const ap_catalog *catalog, ap_sbuf *out)
{
    for (size_t i = 0; i < catalog->chips.count; i++)
        ap_sbuf_printf(out, "%s\n", catalog->chips.items[i].id);
    for (size_t i = 0; i < catalog->instances.count; i++)
        ap_sbuf_printf(out, "%s/%s\n", catalog->instances.items[i].cloud, catalog->instances.items[i].name);
    for (size_t i = 0; i < catalog->rigs.count; i++)
        ap_sbuf_printf(out, "rig/%s\n", catalog->rigs.items[i].id);
}

static ap_status write_names(ap_cli *cli)
{
    const char *kind = cli->operand_count > 1 ? cli->operands[1] : NULL;
    const ap_catalog *catalog;
    if (!kind)
        return ap_cli_usage(cli, 57, NULL, "'completion names' needs a kind, such as models");
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status != AP_OK)
        return status;
    ap_sbuf out;
    ap_sbuf_init(&out, cli->arena);
    ap_suggest suggest;
    ap_suggest_init(&suggest, kind);
    if (ap_streq(kind, "targets")) {
        add_targets(catalog, &out);
        return ap_cli_write_text(cli, out.text, out.len);
    }
    for (size_t i = 0; i < ap_catalog_kind_count; i++) {
        if (ap_streq(ap_catalog_kinds[i].key, kind)) {
            add_ids(catalog, &ap_catalog_kinds[i], &out);
            return ap_cli_write_text(cli, out.text, out.len);
        }
        ap_suggest_offer(&suggest, ap_catalog_kinds[i].key);
    }
    return ap_cli_usage(cli, 60, ap_suggest_text(&suggest, cli->arena), "unknown kind '%s'", kind);
}

static ap_status run(ap_cli *cli)
{
    static const char *const shells[] = {"bash", "zsh", "fish", "names", NULL};
    int shell = ap_cli_subcommand(cli, shells);
    if (shell < 0)
        return AP_USAGE;
    if (shell == 3)
        return write_names(cli);
    if (cli->operand_count > 1)
        return ap_cli_usage(cli, 58, NULL, "'completion %s' takes no operand '%s'", shells[shell], cli->operands[1]);
    ap_sbuf out;
    ap_sbuf_init(&out, cli->arena);
    (void)ap_completion_write(shells[shell], &out);
    return ap_cli_write_text(cli, out.text, out.len);
}

static const ap_example examples[] = {
    {"completion bash", "the script for bash: source <(accelpick completion bash)"},
    {"completion names rigs", "names that the scripts offer"},
};

const ap_command ap_cmd_completion = {
    .name = "completion",
    .synopsis = "bash|zsh|fish\nnames KIND",
    .summary = "print the completion script of a shell",
    .description = "Each script knows commands, options and their words, and asks accelpick for names of the catalog.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_DATA,
    .min_operands = 1,
    .max_operands = 2,
    .operand = "a shell: bash, zsh or fish",
    .values = "bash zsh fish",
    .run = run,
};
