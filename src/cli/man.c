/* The manual page (mdoc) and the reference (Markdown), from the tables. */
#include <string.h>

#include "cli/help.h"

/* Reproducible builds: the page carries the date of the release, not of the build. */
#define MAN_DATE "August 28, 2026"

#define MAN_WIDTH ((size_t)78)

/* Text of a macro line or paragraph: what roff would take as its own is escaped. */
static void add_roff(ap_sbuf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\\')
            ap_sbuf_add(out, "\\e");
        else if (*c == '-')
            ap_sbuf_add(out, "\\-");
        else if (*c == '\'' && (c == text || c[-1] == '\n'))
            ap_sbuf_add(out, "\\(aq");
        else if (*c == '.' && (c == text || c[-1] == '\n'))
            ap_sbuf_add(out, "\\&.");
        else if (strncmp(c, "\xE2\x80\xA6", 3) == 0) { /* … */
            ap_sbuf_add(out, "...");
            c += 2;
        } else
            ap_sbuf_add_char(out, *c);
    }
}

/* An argument of a macro: one word however many blanks it has. */
static void add_quoted(ap_sbuf *out, const char *text)
{
    ap_sbuf_add_char(out, '"');
    add_roff(out, text);
    ap_sbuf_add_char(out, '"');
}

/* Text lines of at most MAN_WIDTH; a new sentence starts a new line, as mdoc wants it. */
static void add_sentences(ap_sbuf *out, const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t len = strcspn(text, " ");
        ap_sbuf word;
        ap_sbuf_init(&word, out->arena);
        add_roff(&word, ap_arena_strndup(out->arena, text, len));
        if (column && column + 1 + word.len > MAN_WIDTH) {
            ap_sbuf_add_char(out, '\n');
            column = 0;
        } else if (column) {
            ap_sbuf_add_char(out, ' ');
            column++;
        }
        ap_sbuf_add(out, word.text);
        column += word.len;
        bool stop = len > 1 && text[len - 1] == '.' && text[len];
        text += len;
        while (*text == ' ')
            text++;
        if (stop) {
            ap_sbuf_add_char(out, '\n');
            column = 0;
        }
    }
    ap_sbuf_add_char(out, '\n');
}

static void add_man_option(ap_sbuf *out, const ap_option *option)
{
    ap_sbuf_add(out, ".It ");
    if (option->letter)
        ap_sbuf_printf(out, "Fl %c , ", option->letter);
    ap_sbuf_add(out, "Fl \\-");
    add_roff(out, option->name);
    const char *argument = ap_help_argument(out->arena, option);
    if (argument) {
        ap_sbuf_add(out, " Ar ");
        add_quoted(out, option->words && !option->arg ? "word" : argument);
    }
    ap_sbuf_add_char(out, '\n');
    ap_sbuf text;
    ap_sbuf_init(&text, out->arena);
    ap_sbuf_add(&text, option->help);
    if (option->words && !strchr(option->help, ':'))
        for (size_t i = 0; option->words[i]; i++)
            ap_sbuf_printf(&text, "%s%s", i ? ", " : ": ", option->words[i]);
    ap_sbuf_add_char(&text, '.');
    add_sentences(out, text.text);
    if (option->fallback) {
        ap_sbuf_add(out, "Default: ");
        add_roff(out, option->fallback);
        ap_sbuf_add(out, ".\n");
    }
}

static void add_man_commands(ap_sbuf *out)
{
    ap_sbuf_add(out, ".Sh COMMANDS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; ap_commands[i]; i++) {
        const ap_command *command = ap_commands[i];
        size_t line = 0;
        const char *form = ap_help_line(out->arena, command->synopsis, 0);
        do {
            ap_sbuf_add(out, ".It Cm ");
            add_roff(out, command->name);
            if (form) {
                ap_sbuf_add(out, " Ar ");
                add_quoted(out, form);
            }
            ap_sbuf_add_char(out, '\n');
            form = ap_help_line(out->arena, command->synopsis, ++line);
        } while (form);
        add_roff(out, command->summary);
        ap_sbuf_add(out, ".\n");
        for (const char *at = command->description ? command->description : ""; *at;) {
            const char *end = strstr(at, "\n\n");
            size_t len = end ? (size_t)(end - at) : strlen(at);
            ap_sbuf_add(out, ".Pp\n");
            add_sentences(out, ap_arena_strndup(out->arena, at, len));
            at += len;
            while (*at == '\n')
                at++;
        }
    }
    ap_sbuf_add(out, ".El\n");
}

static void add_man_options(ap_sbuf *out)
{
    ap_sbuf_add(out, ".Sh OPTIONS\n"
                     "Options and operands may come in any order.\n"
                     "Long options are not abbreviated.\n"
                     "A command refuses an option that does not apply to it;\n"
                     ".Cm help Ar command\n"
                     "lists those that do.\n");
    for (size_t g = 0; g < ap_help_group_count; g++) {
        ap_sbuf_printf(out, ".Ss %s\n.Bl -tag -width Ds\n",
                       g == 0 ? "Options of single commands" : ap_help_groups[g].title);
        for (int i = 0; i < AP_O_COUNT; i++)
            if (ap_option_offered(&ap_options[i]) && ap_help_group_of(&ap_options[i], NULL) == (int)g)
                add_man_option(out, &ap_options[i]);
        ap_sbuf_add(out, ".El\n");
    }
}

static void add_man_rest(ap_sbuf *out)
{
    ap_sbuf_add(out,
                ".Sh ENVIRONMENT\n"
                ".Bl -tag -width Ds\n"
                ".It Ev ACCELPICK_ Ns Ar OPTION\n"
                "Value of an option that is not given, such as\n"
                ".Ev ACCELPICK_PRICING\n"
                "for\n"
                ".Fl \\-pricing .\n"
                ".It Ev COLUMNS\n"
                "Width of tables; by default that of the terminal, without limit elsewhere.\n"
                ".It Ev NO_COLOR\n"
                "When set and not empty, no colour unless\n"
                ".Fl \\-color Cm always\n"
                "asks for it.\n"
                ".It Ev PAGER\n"
                "Shows answers that are longer than the terminal.\n"
                ".It Ev SOURCE_DATE_EPOCH\n"
                "When set, answers carry this time as\n"
                ".Li generated_at .\n"
                ".It Ev XDG_CONFIG_HOME\n"
                "Where the folder\n"
                ".Pa accelpick\n"
                "with the user's configuration lies.\n"
                ".El\n"
                ".Sh FILES\n"
                ".Bl -tag -width Ds\n"
                ".It Pa ./.accelpick.yaml\n"
                "Configuration and catalog records of a project.\n"
                ".It Pa $XDG_CONFIG_HOME/accelpick/config.yaml\n"
                "Configuration of the user; values of options below\n"
                ".Li defaults .\n"
                ".It Pa $XDG_CONFIG_HOME/accelpick/*.yaml\n"
                "Catalog records of the user.\n"
                ".El\n"
                "Options win over the environment, the environment over the file of the\n"
                "project, that over the file of the user.\n"
                ".Sh EXIT STATUS\n"
                ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < ap_exit_code_count; i++) {
        ap_sbuf_printf(out, ".It %d\n", (int)ap_exit_codes[i].code);
        add_sentences(out, ap_arena_printf(out->arena, "%s.", ap_exit_codes[i].meaning));
    }
    ap_sbuf_add(out, ".El\n.Sh EXAMPLES\n");
    for (size_t i = 0; ap_commands[i]; i++)
        for (size_t k = 0; k < ap_commands[i]->example_count; k++) {
            add_roff(out, ap_commands[i]->examples[k].text);
            ap_sbuf_add(out, ":\n.Pp\n.Dl accelpick ");
            add_roff(out, ap_commands[i]->examples[k].command);
            ap_sbuf_add(out, "\n.Pp\n");
        }
    out->len -= 4; /* the last .Pp would stand before nothing */
    out->text[out->len] = '\0';
}

void ap_help_write_man(ap_sbuf *out)
{
    ap_sbuf_add(out, ".\\\" Generated by accelpick help --man; do not edit.\n"
                     ".Dd " MAN_DATE "\n"
                     ".Dt ACCELPICK 1\n"
                     ".Os\n"
                     ".Sh NAME\n"
                     ".Nm accelpick\n"
                     ".Nd ");
    add_roff(out, AP_HELP_PURPOSE);
    ap_sbuf_add(out, "\n.Sh SYNOPSIS\n"
                     ".Nm\n"
                     ".Op Ar options\n"
                     ".Ar command\n"
                     ".Op Ar options\n"
                     ".Op Ar operands\n"
                     ".Sh DESCRIPTION\n"
                     ".Nm\n"
                     "takes the description of a training job and tells which accelerators to\n"
                     "train it on.\n"
                     "It knows chips, machines and their prices, and estimates time, cost, memory\n"
                     "and energy of the job on each of them, every figure with the range it may\n"
                     "fall in.\n"
                     "Answers go to standard output, everything else to standard error;\n"
                     "the same input gives the same bytes.\n");
    add_man_commands(out);
    add_man_options(out);
    add_man_rest(out);
}

/* ---- Markdown --------------------------------------------------------------------------------------------------- */

static void add_cell(ap_sbuf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '|' || *c == '<' || *c == '[')
            ap_sbuf_add_char(out, '\\');
        ap_sbuf_add_char(out, *c);
    }
}

static void add_markdown_option(ap_sbuf *out, const ap_option *option)
{
    const char *argument = ap_help_argument(out->arena, option);
    ap_sbuf_add(out, "| ");
    if (option->letter)
        ap_sbuf_printf(out, "`-%c`, ", option->letter);
    ap_sbuf_printf(out, "`--%s`", option->name);
    if (argument) {
        ap_sbuf_add_char(out, ' ');
        add_cell(out, option->words && !option->arg ? "WORD" : argument);
    }
    ap_sbuf_add(out, " | ");
    add_cell(out, option->help);
    if (option->words && !strchr(option->help, ':'))
        for (size_t i = 0; option->words[i]; i++)
            ap_sbuf_printf(out, "%s`%s`", i ? ", " : ": ", option->words[i]);
    if (option->fallback)
        ap_sbuf_printf(out, ". Default: %s", option->fallback);
    ap_sbuf_add(out, " | ");
    if (!option->only_option)
        ap_sbuf_printf(out, "`%s`", ap_option_env(out->arena, option));
    ap_sbuf_add(out, " | ");
    const char *separator = "";
    for (size_t i = 0; !(option->groups & AP_G_GLOBAL) && ap_commands[i]; i++)
        if (ap_option_applies(option, ap_commands[i])) {
            ap_sbuf_printf(out, "%s%s", separator, ap_commands[i]->name);
            separator = ", ";
        }
    ap_sbuf_add(out, option->groups & AP_G_GLOBAL ? "all |\n" : " |\n");
}

static void add_markdown_command(ap_sbuf *out, const ap_command *command)
{
    ap_sbuf_printf(out, "\n## accelpick %s\n\n%s.\n\n```text\n", command->name, command->summary);
    size_t line = 0;
    const char *form = ap_help_line(out->arena, command->synopsis, 0);
    do {
        ap_sbuf_printf(out, "accelpick %s%s%s%s\n", command->name, command->groups ? " [OPTIONS]" : "", form ? " " : "",
                       form ? form : "");
        form = ap_help_line(out->arena, command->synopsis, ++line);
    } while (form);
    ap_sbuf_add(out, "```\n");
    if (command->description)
        ap_sbuf_printf(out, "\n%s\n", command->description);
    for (size_t i = 0; i < command->example_count; i++)
        ap_sbuf_printf(out, "\n%s:\n\n```sh\naccelpick %s\n```\n", command->examples[i].text,
                       command->examples[i].command);
}

void ap_help_write_markdown(ap_sbuf *out)
{
    ap_sbuf_add(out, "# Commands and options\n\n<!-- Generated by `accelpick help --markdown`; do not edit. -->\n");
    for (size_t i = 0; ap_commands[i]; i++)
        add_markdown_command(out, ap_commands[i]);
    ap_sbuf_add(out, "\n## Options\n\nAn option wins over its environment variable, that over `defaults:` in\n"
                     "`./.accelpick.yaml`, that over `$XDG_CONFIG_HOME/accelpick/config.yaml`.\n");
    for (size_t g = 0; g < ap_help_group_count; g++) {
        ap_sbuf_printf(out, "\n### %s\n\n| option | meaning | environment | commands |\n|---|---|---|---|\n",
                       g == 0 ? "Options of single commands" : ap_help_groups[g].title);
        for (int i = 0; i < AP_O_COUNT; i++)
            if (ap_option_offered(&ap_options[i]) && ap_help_group_of(&ap_options[i], NULL) == (int)g)
                add_markdown_option(out, &ap_options[i]);
    }
    ap_sbuf_add(out, "\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for (size_t i = 0; i < ap_exit_code_count; i++)
        ap_sbuf_printf(out, "| %d | %s |\n", (int)ap_exit_codes[i].code, ap_exit_codes[i].meaning);
}
