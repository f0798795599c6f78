/* --help, from the tables. */
#include "cli/help.h"

#include <string.h>

#include "base/text.h"

#define HELP_WIDTH 80
#define WIDEST     100

const ap_help_group ap_help_groups[] = {
    {AP_G_TARGET | AP_G_EMIT | AP_G_GUARD | AP_G_KINDS | AP_G_UPDATE | AP_G_FACTS | AP_G_ACCURACY | AP_G_CHECK | AP_G_HELP | AP_G_RIG,
     "Options"},
    {AP_G_WORKLOAD, "What is trained"},
    {AP_G_LAYOUT, "How it is laid out"},
    {AP_G_FILTER, "Which hardware"},
    {AP_G_LIMITS | AP_G_BOUNDS, "Limits"},
    {AP_G_CHOICE, "Ranking"},
    {AP_G_MONEY | AP_G_AGE, "Money"},
    {AP_G_DATA | AP_G_RULES, "Data"},
    {AP_G_LIST | AP_G_OUTPUT, "Output"},
    {AP_G_GLOBAL, "Every command"},
};
const size_t ap_help_group_count = sizeof ap_help_groups / sizeof *ap_help_groups;

const ap_exit_code ap_exit_codes[] = {
    {AP_OK, "answered; for check and diff: nothing at or above --fail-on"},
    {AP_FINDINGS, "findings, a budget, deadline or bound exceeded, a policy broken; the answer is still printed"},
    {AP_USAGE, "usage error, including an unknown name given as a value"},
    {AP_INFEASIBLE, "nothing feasible within the constraints, or a target that does not fit"},
    {AP_BAD_INPUT, "invalid content of an input file or expression"},
    {AP_BAD_DATA, "invalid or implausible configuration, overlay, catalog or price data"},
    {AP_STALE, "prices too old under --strict, or no snapshot for --prices-as-of"},
    {AP_IO, "network or file-system failure"},
    {AP_BUG, "a bug in accelpick"},
};
const size_t ap_exit_code_count = sizeof ap_exit_codes / sizeof *ap_exit_codes;

int ap_help_group_of(const ap_option *option, const ap_command *command)
{
    unsigned shared = option->groups & ((command ? command->groups : ~0u) | AP_G_GLOBAL);
    for (size_t i = 1; i < ap_help_group_count; i++) /* the first section takes what no other does */
        if (shared & ap_help_groups[i].groups)
            return (int)i;
    return shared & ap_help_groups[0].groups ? 0 : -1;
}

const char *ap_help_argument(ap_arena *arena, const ap_option *option)
{
    if (!option->words || option->arg)
        return option->arg;
    if (option->kind == AP_ARG_LIST)
        return "LIST";
    ap_sbuf words;
    ap_sbuf_init(&words, arena);
    for (size_t i = 0; option->words[i]; i++)
        ap_sbuf_printf(&words, "%s%s", i ? "|" : "", option->words[i]);
    return words.len <= 24 ? words.text : "WORD";
}

const char *ap_help_line(ap_arena *arena, const char *text, size_t n)
{
    for (; text && *text; n--) {
        size_t len = strcspn(text, "\n");
        if (n == 0)
            return ap_arena_strndup(arena, text, len);
        text += len + (text[len] == '\n');
    }
    return NULL;
}

/* Words of text, broken at `width`; continued lines start at column `indent`, where the first one begins already. */
static void wrap(ap_sbuf *out, const char *text, size_t indent, size_t width)
{
    size_t column = indent;
    while (*text) {
        size_t len = strcspn(text, " \n");
        char *word = ap_arena_strndup(out->arena, text, len);
        size_t columns = ap_text_width(word);
        if (column > indent && column + 1 + columns > width) {
            ap_sbuf_add_char(out, '\n');
            ap_sbuf_add_repeat(out, ' ', indent);
            column = indent;
        } else if (column > indent) {
            ap_sbuf_add_char(out, ' ');
            column++;
        }
        ap_sbuf_add(out, word);
        column += columns;
        text += len;
        while (*text == ' ' || *text == '\n')
            text++;
    }
    ap_sbuf_add_char(out, '\n');
}

static void add_term(ap_sbuf *out, const char *term, const char *text, size_t indent, size_t width)
{
    size_t used = 2 + ap_text_width(term);
    ap_sbuf_printf(out, "  %s", term);
    if (used + 2 > indent) {
        ap_sbuf_add_char(out, '\n');
        used = 0;
    }
    ap_sbuf_add_repeat(out, ' ', indent - used);
    wrap(out, text, indent, width);
}

static const char *option_text(ap_arena *arena, const ap_option *option)
{
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    ap_sbuf_add(&text, option->help);
    if (option->words && ap_streq(ap_help_argument(arena, option), option->kind == AP_ARG_LIST ? "LIST" : "WORD") &&
        !strchr(option->help, ':')) {
        for (size_t i = 0; option->words[i]; i++)
            ap_sbuf_printf(&text, "%s %s", i ? "," : ":", option->words[i]);
    }
    if (option->fallback)
        ap_sbuf_printf(&text, " [%s]", option->fallback);
    return text.text;
}

static const char *option_term(ap_arena *arena, const ap_option *option)
{
    const char *argument = ap_help_argument(arena, option);
    char letter[5] = "    ";
    if (option->letter) {
        letter[0] = '-';
        letter[1] = option->letter;
        letter[2] = ',';
    }
    return ap_arena_printf(arena, "%s--%s%s%s", letter, option->name, argument ? " " : "", argument ? argument : "");
}

static void add_options(ap_sbuf *out, const ap_command *command, size_t width)
{
    for (size_t g = 0; g < ap_help_group_count; g++) {
        bool any = false;
        for (int i = 0; i < AP_O_COUNT; i++) {
            if (!ap_option_applies(&ap_options[i], command) || ap_help_group_of(&ap_options[i], command) != (int)g)
                continue;
            if (!any)
                ap_sbuf_printf(out, "\n%s:\n", ap_help_groups[g].title);
            any = true;
            add_term(out, option_term(out->arena, &ap_options[i]), option_text(out->arena, &ap_options[i]), 30, width);
        }
    }
}

static size_t sane_width(size_t width)
{
    if (width == 0)
        return HELP_WIDTH;
    return width < 50 ? 50 : width > WIDEST ? WIDEST : width;
}

void ap_help_write_global(ap_sbuf *out, size_t width)
{
    width = sane_width(width);
    ap_sbuf_add(out, "accelpick: ");
    wrap(out, AP_HELP_PURPOSE, 11, width);
    ap_sbuf_add(out, "\nUsage: accelpick [OPTIONS] COMMAND [OPTIONS] [ARGS]\n\nCommands:\n");
    for (size_t i = 0; ap_commands[i]; i++)
        add_term(out, ap_commands[i]->name, ap_commands[i]->summary, 14, width);
    add_options(out, NULL, width);
    ap_sbuf_add(out, "\nExit codes:\n");
    for (size_t i = 0; i < ap_exit_code_count; i++)
        add_term(out, ap_arena_printf(out->arena, "%2d", (int)ap_exit_codes[i].code), ap_exit_codes[i].meaning, 6, width);
    ap_sbuf_add(out, "\naccelpick help COMMAND explains a command and its options.\n");
}

static void add_paragraphs(ap_sbuf *out, const char *text, size_t width)
{
    if (!text)
        return;
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t len = end ? (size_t)(end - text) : strlen(text);
        ap_sbuf_add_char(out, '\n');
        wrap(out, ap_arena_strndup(out->arena, text, len), 0, width);
        text += len;
        while (*text == '\n')
            text++;
    }
}

void ap_help_write_command(const ap_command *command, ap_sbuf *out, size_t width)
{
    width = sane_width(width);
    ap_sbuf_printf(out, "accelpick %s: ", command->name);
    wrap(out, command->summary, 12 + strlen(command->name), width);
    ap_sbuf_add_char(out, '\n');
    size_t line = 0;
    do {
        const char *form = ap_help_line(out->arena, command->synopsis, line);
        ap_sbuf_printf(out, "%s accelpick %s%s%s%s\n", line ? "      " : "Usage:", command->name,
                       command->groups ? " [OPTIONS]" : "", form ? " " : "", form ? form : "");
    } while (ap_help_line(out->arena, command->synopsis, ++line));
    add_paragraphs(out, command->description, width);
    add_options(out, command, width);
    if (command->example_count)
        ap_sbuf_add(out, "\nExamples:\n");
    for (size_t i = 0; i < command->example_count; i++) {
        ap_sbuf_printf(out, "  accelpick %s\n      ", command->examples[i].command);
        wrap(out, command->examples[i].text, 6, width);
    }
}

void ap_help_write_examples(ap_sbuf *out)
{
    for (size_t i = 0; ap_commands[i]; i++)
        for (size_t k = 0; k < ap_commands[i]->example_count; k++)
            ap_sbuf_printf(out, "%s\n", ap_commands[i]->examples[k].command);
}
