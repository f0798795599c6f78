/* Everything the program prints: documents and text on stdout or in --output, findings on stderr. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "io/file.h"
#include "report/doc.h"

ap_status ap_cli_usage(ap_cli *cli, int code, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ap_sbuf message;
    ap_sbuf_init(&message, cli->arena);
    ap_sbuf_vprintf(&message, format, args);
    va_end(args);
    ap_diag_add(&cli->diags, AP_ERROR, code, AP_NO_POS, "%s", message.text)->hint = hint;
    return AP_USAGE;
}

void ap_cli_say(const ap_cli *cli, const char *format, ...)
{
    if (!ap_cli_flag(cli, AP_O_VERBOSE))
        return;
    va_list args;
    va_start(args, format);
    fputs("accelpick: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

int ap_cli_subcommand(ap_cli *cli, const char *const *words)
{
    ap_sbuf all;
    ap_sbuf_init(&all, cli->arena);
    ap_suggest suggest;
    ap_suggest_init(&suggest, cli->operand_count ? cli->operands[0] : "");
    for (int i = 0; words[i]; i++) {
        if (cli->operand_count && ap_streq(cli->operands[0], words[i]))
            return i;
        ap_suggest_offer(&suggest, words[i]);
        ap_sbuf_printf(&all, "%s%s", i ? ", " : "", words[i]);
    }
    if (!cli->operand_count)
        (void)ap_cli_usage(cli, 57, NULL, "'%s' needs one of %s", cli->command->name, all.text);
    else
        (void)ap_cli_usage(cli, 60, ap_suggest_text(&suggest, cli->arena), "'%s' knows %s, not '%s'",
                           cli->command->name, all.text, cli->operands[0]);
    return -1;
}

/* ---- findings --------------------------------------------------------------------------------------------------- */

static bool wants_color(const ap_cli *cli, int fd)
{
    const char *when = ap_cli_text_or(cli, AP_O_COLOR, "auto"), *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (!ap_streq(when, "auto"))
        return ap_streq(when, "always");
    return isatty(fd) && !(no_color && *no_color) && !ap_streq(term, "dumb");
}

/* Text of foreign files must not steer the reader's terminal. */
static void defuse(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        size_t unsafe = *from == '\n' || *from == '\t' ? 0 : ap_text_unsafe(from);
        *to++ = unsafe ? '?' : *from;
        from += unsafe ? unsafe : 1;
    }
    *to = '\0';
}

static void show_diag(const ap_cli *cli, const ap_diag *diag, bool color)
{
    static const char *const tint[] = {"\033[36m", "\033[33m", "\033[31m"};
    ap_sbuf out;
    ap_sbuf_init(&out, cli->arena);
    ap_diag_format(diag, &out);
    defuse(out.text);
    const char *word = ap_severity_name(diag->severity), *at = color ? strstr(out.text, word) : NULL;
    if (at)
        fprintf(stderr, "%.*s\033[1m%s%s\033[0m%s", (int)(at - out.text), out.text, tint[diag->severity], word,
                at + strlen(word));
    else
        fputs(out.text, stderr);
}

void ap_cli_show_diags(ap_cli *cli)
{
    bool color = wants_color(cli, STDERR_FILENO), quiet = ap_cli_flag(cli, AP_O_QUIET);
    for (size_t i = 0; i < cli->diags.count; i++)
        if (!quiet || cli->diags.items[i].severity == AP_ERROR)
            show_diag(cli, &cli->diags.items[i], color);
    if (cli->diags.suppressed)
        fprintf(stderr, "accelpick: %zu more findings are not shown\n", cli->diags.suppressed);
    ap_diags_init(&cli->diags, cli->arena);
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

size_t ap_cli_width(const ap_cli *cli)
{
    const char *columns = getenv("COLUMNS");
    double number;
    if (columns && ap_num_parse(columns, &number) && number >= 1 && number <= 10000)
        return (size_t)number;
    struct winsize size;
    bool to_file = ap_cli_text(cli, AP_O_OUTPUT) != NULL;
    if (!to_file && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && isatty(STDOUT_FILENO))
        return size.ws_col;
    return 0;
}

/* A reader that went away is no error of ours: end by the signal, as a program that never looked would. */
static void end_by_sigpipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

static ap_status write_all(ap_cli *cli, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t written = write(STDOUT_FILENO, text, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EPIPE)
            end_by_sigpipe();
        if (written <= 0) {
            ap_diag_add(&cli->diags, AP_ERROR, 63, AP_NO_POS, "cannot write to standard output: %s", strerror(errno));
            return AP_IO;
        }
        text += written;
        len -= (size_t)written;
    }
    return AP_OK;
}

static size_t count_lines(const char *text, size_t len)
{
    size_t lines = 0;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Long answers on a terminal go through the user's pager, when one is set. */
static bool page(const char *text, size_t len)
{
    const char *pager = getenv("PAGER");
    struct winsize size;
    if (!pager || !*pager || ap_streq(pager, "cat") || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) ||
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || count_lines(text, len) < size.ws_row)
        return false;
    setenv("LESS", "FRX", 0);
    FILE *pipe = popen(pager, "w");
    if (!pipe)
        return false;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    fwrite(text, 1, len, pipe);
    int status = pclose(pipe);
    signal(SIGPIPE, before);
    return status != 127 << 8; /* the shell did not find it */
}

ap_status ap_cli_write_text(ap_cli *cli, const char *text, size_t len)
{
    const char *path = ap_cli_text(cli, AP_O_OUTPUT);
    if (path && !ap_streq(path, "-"))
        return ap_file_write_atomic(path, text, len, &cli->diags);
    if (page(text, len))
        return AP_OK;
    return write_all(cli, text, len);
}

static const char *generated_at(ap_arena *arena)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    double seconds;
    struct tm utc;
    if (!epoch || !ap_num_parse(epoch, &seconds) || seconds < 0 || seconds > 253402300799.0)
        return NULL;
    time_t when = (time_t)seconds;
    char text[32];
    if (!gmtime_r(&when, &utc) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        return NULL;
    return ap_arena_strdup(arena, text);
}

ap_doc *ap_cli_new_doc(ap_cli *cli, const char *kind)
{
    ap_doc *doc = ap_doc_new(cli->arena, kind);
    if (cli->catalog) {
        ap_value *catalog = ap_value_map(cli->arena);
        ap_value_put(cli->arena, catalog, "version", ap_value_text(cli->arena, cli->catalog->version));
        ap_value_put(cli->arena, catalog, "prices_as_of", ap_value_text(cli->arena, cli->catalog->prices_as_of));
        ap_value_put(cli->arena, doc->root, "catalog", catalog);
    }
    return doc;
}

/* --currency with --rate, with a rate of the configuration (`rates: {EUR: {rate: 0.92, as_of: …, source: …}}`), or with
 * the one that `prices update` found. */
static ap_status choose_currency(ap_cli *cli, ap_render_options *options)
{
    const char *code = ap_cli_text(cli, AP_O_CURRENCY);
    double rate = ap_cli_number(cli, AP_O_RATE);
    if (!code || ap_streq(code, "USD"))
        return ap_known(rate) ? ap_cli_usage(cli, 66, NULL, "--rate needs --currency") : AP_OK;
    if (strlen(code) != 3 || strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
        return ap_cli_usage(cli, 66, "write a code of three capitals, such as EUR", "--currency: '%s' is no currency", code);
    const char *origin = "given by --rate";
    if (!ap_known(rate)) {
        const ap_node *entry = ap_node_get(cli->config.rates, code);
        const char *text = ap_node_text(ap_node_at(entry, "rate")), *as_of = ap_node_text(ap_node_at(entry, "as_of"));
        const char *source = ap_node_text(ap_node_at(entry, "source"));
        if (text && ap_num_parse(text, &rate))
            origin = ap_arena_printf(cli->arena, "%s, %s", source ? source : "configuration", as_of ? as_of : "undated");
        else if (!ap_cli_snapshot_rate(cli, code, &rate, &origin))
            return ap_cli_usage(cli, 66, "give --rate, or rates: in the configuration", "--currency %s needs a rate", code);
    }
    if (!(rate > 0))
        return ap_cli_usage(cli, 66, NULL, "--rate must be above 0");
    options->currency = code;
    options->rate = rate;
    options->rate_origin = origin;
    return AP_OK;
}

ap_status ap_cli_write_doc(ap_cli *cli, const ap_doc *doc)
{
    const char *when = generated_at(cli->arena);
    if (when)
        ap_value_put(cli->arena, doc->root, "generated_at", ap_value_text(cli->arena, when));
    ap_strings fields = ap_cli_list(cli, AP_O_FIELDS);
    ap_render_options options = {.format = ap_cli_format(cli),
                                 .width = (int)ap_cli_width(cli),
                                 .color = wants_color(cli, STDOUT_FILENO) && !ap_cli_text(cli, AP_O_OUTPUT),
                                 .fields = fields.items,
                                 .field_count = fields.count};
    ap_status currency = choose_currency(cli, &options), age = ap_cli_check_price_age(cli, doc);
    ap_status status = ap_doc_check_fields(doc, &options, &cli->diags);
    if (status != AP_OK || currency != AP_OK)
        return AP_USAGE;
    if (age != AP_OK)
        return age;
    ap_sbuf out;
    ap_sbuf_init(&out, cli->arena);
    status = ap_doc_render(doc, &options, &out);
    if (status == AP_USAGE)
        return ap_cli_usage(cli, 62, "use table, json, csv, markdown or html", "'%s' has no %s form",
                            cli->command ? cli->command->name : "version", ap_format_names[options.format]);
    return status == AP_OK ? ap_cli_write_text(cli, out.text, out.len) : status;
}
