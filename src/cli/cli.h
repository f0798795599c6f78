/* The frame of the command line: what a command gets, and what it may ask for.
 *
 * One command is one file cmd_<name>.c that exports `const ap_command ap_cmd_<name>`, named in the table of commands.c.
 * A command reads its options through the typed accessors below (values are already checked: a bad one never reaches
 * run()), adds what it finds wrong to cli->diags, writes its document with ap_cli_write_doc() and returns the exit code.
 * Only this layer prints diagnostics; main() does it after run() returns.
 *
 * Ownership: everything a command gets or makes lives in cli->arena, released by main(). */
#ifndef AP_CLI_CLI_H
#define AP_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/status.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "report/doc.h"

/* ---- options ---------------------------------------------------------------------------------------------------- */

typedef enum ap_arg_kind {
    AP_ARG_FLAG,  /* no argument; in environment and config: true, false, 1, 0 */
    AP_ARG_TEXT,  /* free text, checked by the command; the last one given wins */
    AP_ARG_WORD,  /* one of `words` */
    AP_ARG_NUM,   /* a number in `dim`, at least `min` */
    AP_ARG_INT,   /* an integer, at least `min` */
    AP_ARG_RANGE, /* 1..8, 40GB.., >=4 in `dim` */
    AP_ARG_DATE,  /* YYYY-MM-DD */
    AP_ARG_FILE,  /* a path or - */
    AP_ARG_DIR,   /* a folder that exists */
    AP_ARG_LIST,  /* comma lists, repeatable; with `words` each item is one of them */
    AP_ARG_PAIRS, /* NAME=VALUE, comma lists, repeatable */
    AP_ARG_EACH   /* repeatable, commas are part of the value */
} ap_arg_kind;

/* Which commands know an option: those that share a group with it. */
enum {
    AP_G_GLOBAL = 1u << 0,   /* every command */
    AP_G_OUTPUT = 1u << 1,   /* --format --json --output --fields */
    AP_G_LIST = 1u << 2,     /* --limit --sort --group-by */
    AP_G_WORKLOAD = 1u << 3, /* --model … --set: what is trained */
    AP_G_LAYOUT = 1u << 4,   /* --tp --micro-batch …: how it is laid out */
    AP_G_LIMITS = 1u << 5,   /* --deadline --budget */
    AP_G_FILTER = 1u << 6,   /* --cloud --region --chip --exclude --chips --memory …: which hardware */
    AP_G_CHOICE = 1u << 7,   /* --objective --portable --why-not --explain */
    AP_G_MONEY = 1u << 8,    /* --pricing --discount --currency --rate … */
    AP_G_DATA = 1u << 9,     /* --data --prices … --offline: which catalog */
    AP_G_TARGET = 1u << 10,  /* --on */
    AP_G_RULES = 1u << 11,   /* --rules */
    AP_G_CHECK = 1u << 12,   /* check: --fail-on --baseline --job --workload … */
    AP_G_RIG = 1u << 13,     /* --rig */
    AP_G_EMIT = 1u << 14,    /* --rank */
    AP_G_KINDS = 1u << 15,   /* list: --kind --vendor */
    AP_G_UPDATE = 1u << 16,  /* prices update: --source */
    AP_G_FACTS = 1u << 17,   /* rules eval: --facts */
    AP_G_ACCURACY = 1u << 18, /* accuracy, calibrate: --holdout --write */
    AP_G_HELP = 1u << 19,    /* help: --man --markdown */
    AP_G_BOUNDS = 1u << 20,  /* --max-cost --max-hours: judge an answer */
    AP_G_INIT = 1u << 22,    /* init: --github-actions --gitlab --pre-commit */
    AP_G_AGE = 1u << 21,     /* --as-of --max-price-age --strict --currency --rate: without the rest of AP_G_MONEY */
    AP_G_GUARD = 1u << 24    /* guard: --grace --every --progress … */
};
/* What a command that works on a described workload usually offers. */
#define AP_G_JOB (AP_G_OUTPUT | AP_G_WORKLOAD | AP_G_LAYOUT | AP_G_LIMITS | AP_G_MONEY | AP_G_DATA | AP_G_RULES)

typedef struct ap_option {
    const char *name;          /* long name without dashes */
    const char *arg;           /* placeholder in help: "FILE"; NULL for flags and words */
    const char *help;          /* one line, no full stop */
    const char *key;           /* path in the workload document ("data.tokens"), or NULL */
    const char *values;        /* completion: catalog kind ("models"), or NULL */
    const char *fallback;      /* built-in value, as help shows it, or NULL */
    const char *const *words;  /* NULL-terminated */
    unsigned groups;
    ap_arg_kind kind;
    ap_dim dim;
    double min;
    char letter;               /* short option or 0 */
    bool only_option;          /* not from environment or config (--help, --output …) */
} ap_option;

typedef enum ap_opt_id {
#define AP_OPTION(id, ...) AP_O_##id,
#include "cli/options.def"
#undef AP_OPTION
    AP_O_COUNT
} ap_opt_id;

extern const ap_option ap_options[AP_O_COUNT];

/* Where a value came from; a lower one wins. */
typedef enum ap_origin { AP_FROM_NOWHERE, AP_FROM_OPTION, AP_FROM_ENVIRONMENT, AP_FROM_PROJECT, AP_FROM_USER } ap_origin;

typedef struct ap_setting {
    ap_origin origin;
    const char *text;   /* as given, the last one */
    const char **items; /* LIST, PAIRS, EACH: split; otherwise the one text */
    size_t count, capacity;
    double number;      /* NUM, INT; NaN when not given */
    ap_range range;     /* RANGE; NaN..NaN when not given */
    bool flag;
} ap_setting;

/* ---- commands --------------------------------------------------------------------------------------------------- */

typedef struct ap_cli ap_cli;

typedef struct ap_example {
    const char *command; /* without "accelpick ": run by the tests, must exit 0 */
    const char *text;    /* what it shows */
} ap_example;

typedef struct ap_command {
    const char *name;
    const char *synopsis;    /* operands only, one form a line: "[WORKLOAD]"; "" when none */
    const char *summary;     /* one line, lower case, no full stop */
    const char *description; /* paragraphs separated by an empty line, or NULL */
    const ap_example *examples;
    size_t example_count;
    unsigned groups;         /* AP_G_…, besides AP_G_GLOBAL */
    size_t min_operands;
    size_t max_operands;     /* AP_ANY_NUMBER */
    const char *operand;     /* what a missing operand is called: "KIND" */
    const char *values;      /* completion of operands: catalog kind, "files" or words separated by blanks */
    bool plain;              /* runs without config and environment (help must work when the config is broken) */
    ap_status (*run)(ap_cli *cli);
} ap_command;
#define AP_ANY_NUMBER ((size_t)-1)

extern const ap_command *const ap_commands[]; /* in the order of help; NULL-terminated */
const ap_command *ap_command_find(const char *name);
bool ap_option_applies(const ap_option *option, const ap_command *command);
bool ap_option_offered(const ap_option *option); /* by any command */

/* ---- one run ---------------------------------------------------------------------------------------------------- */

/* Sections of the configuration files that commands read themselves; NULL when absent. The nearer file wins whole. */
typedef struct ap_config {
    const ap_node *policies;
    const ap_node *emit;
    const ap_node *quota;
    const ap_node *egress;
    const ap_node *rates;     /* currency -> {rate, as_of, source} */
    const char *project_file, *user_file; /* those read, or NULL */
} ap_config;

struct ap_cli {
    ap_arena *arena;
    ap_diags diags;
    const ap_command *command; /* NULL for --help, --version without one */
    const char **operands;
    size_t operand_count;
    size_t after_dashes;       /* operands from this index on stood behind -- */
    ap_setting settings[AP_O_COUNT];
    ap_config config;
    ap_catalog *catalog;       /* NULL until ap_cli_catalog() */
    const struct ap_snapshot *prices; /* laid over the catalog, or NULL */
};

/* Typed access. Not given anywhere: NULL, NaN, false, count 0. */
bool ap_cli_flag(const ap_cli *cli, ap_opt_id id);
const char *ap_cli_text(const ap_cli *cli, ap_opt_id id);
const char *ap_cli_text_or(const ap_cli *cli, ap_opt_id id, const char *fallback);
double ap_cli_number(const ap_cli *cli, ap_opt_id id); /* in the dimension's inner unit: seconds, bytes, USD … */
ap_range ap_cli_range(const ap_cli *cli, ap_opt_id id);
ap_strings ap_cli_list(const ap_cli *cli, ap_opt_id id);
int ap_cli_word(const ap_cli *cli, ap_opt_id id); /* index into the option's words; the fallback's or -1 when not given */
ap_origin ap_cli_origin(const ap_cli *cli, ap_opt_id id);
/* Value of NAME in a NAME=VALUE option ("aws" of --discount aws=0.2), or NULL. */
const char *ap_cli_pair(const ap_cli *cli, ap_opt_id id, const char *name);

/* What options, environment and config say about the workload, as paths into its document (--seq-len 4096 is
 * "sequence_length" = "4096"; --set k=v is as written). Those with origin > AP_FROM_OPTION are defaults: a workload file
 * beats them, options beat the file. --set comes last. */
typedef struct ap_assignment {
    const char *path;
    const char *value;
    const char *option; /* "--seq-len", for messages */
    ap_origin origin;
} ap_assignment;
size_t ap_cli_assignments(const ap_cli *cli, const ap_assignment **ret_items);

/* The format asked for (--json, --format), AP_FORMAT_TABLE by default. */
ap_format ap_cli_format(const ap_cli *cli);
/* Rows to show: --limit, else 20 in table and wide, else 0 (all). Put it into the main table's block->limit. */
size_t ap_cli_limit(const ap_cli *cli);

/* Catalog per --data, overlays (user folder, ./.accelpick.yaml); loaded once. AP_BAD_DATA or AP_IO with diagnostics. */
AP_CHECKED ap_status ap_cli_catalog(ap_cli *cli, const ap_catalog **ret_catalog);

/* The snapshot of prices that --prices and --prices-as-of name, else the store's newest; NULL: none. AP_STALE when there
 * is none as old as asked for. */
AP_CHECKED ap_status ap_cli_prices(ap_cli *cli, const struct ap_snapshot **ret_snapshot);
/* The store: --prices when it is no file, else the user's. NULL without a home. */
const char *ap_cli_price_store(ap_cli *cli);

/* Units of a currency for one USD as the prices laid over the catalog have it, and where from; false when they do not. */
bool ap_cli_snapshot_rate(const ap_cli *cli, const char *currency, double *ret_rate, const char **ret_origin);

/* Constants of the estimator: built in or --data's, with the user's own (<user folder>/calibration) laid over. */
struct ap_calibration;
AP_CHECKED ap_status ap_cli_calibration(ap_cli *cli, const struct ap_calibration **ret_calibration);
/* The same without the user's own. */
AP_CHECKED ap_status ap_cli_base_calibration(ap_cli *cli, const struct ap_calibration **ret_calibration);
const char *ap_cli_calibration_dir(ap_arena *arena); /* where calibrate --write stores; NULL without a home */

/* A document that starts with schema_version, kind, accelpick, catalog (when loaded). */
ap_doc *ap_cli_new_doc(ap_cli *cli, const char *kind);
/* Adds generated_at under SOURCE_DATE_EPOCH, renders as asked and writes to stdout or --output. */
AP_CHECKED ap_status ap_cli_write_doc(ap_cli *cli, const ap_doc *doc);
/* The same for text that is no document (completion scripts, schemas, recipes). */
AP_CHECKED ap_status ap_cli_write_text(ap_cli *cli, const char *text, size_t len);

/* Compares the prices of the document's results or items with --max-price-age, counted from --as-of: AP_STALE with an
 * error under --strict, else AP_OK with a warning. Without the option nothing is looked at. */
AP_CHECKED ap_status ap_cli_check_price_age(ap_cli *cli, const ap_doc *doc);
/* The day ages count from: --as-of, else SOURCE_DATE_EPOCH, else today (UTC). */
const char *ap_cli_today(const ap_cli *cli);
time_t ap_cli_now(void); /* SOURCE_DATE_EPOCH, else the clock */
/* A line on stderr when --verbose asks for it. */
void ap_cli_say(const ap_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a usage error (exit 2) and returns AP_USAGE; hint may be NULL. */
ap_status ap_cli_usage(ap_cli *cli, int code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The subcommand in operand 0: its index in the NULL-terminated words; -1 with a usage error. */
int ap_cli_subcommand(ap_cli *cli, const char *const *words);
/* Prints and forgets the findings so far (main does it at the end; a long-running command may do it earlier). */
void ap_cli_show_diags(ap_cli *cli);

/* ---- pieces of the frame ---------------------------------------------------------------------------------------- */

/* Fills settings and operands from argv; AP_USAGE with all problems in cli->diags. Does not touch the environment. */
AP_CHECKED ap_status ap_cli_parse(ap_cli *cli, int argc, char **argv);
/* Lays environment and configuration files under the options. AP_USAGE (environment), AP_BAD_DATA, AP_IO. */
AP_CHECKED ap_status ap_cli_configure(ap_cli *cli);
/* Takes one more value for an option (origin as given); problems go to cli->diags, named `where` ("--limit"). */
AP_CHECKED ap_status ap_cli_take(ap_cli *cli, ap_opt_id id, const char *value, ap_origin origin, ap_pos pos);
const char *ap_cli_user_dir(ap_arena *arena);        /* $XDG_CONFIG_HOME/accelpick or ~/.config/accelpick; NULL */
const char *ap_option_env(ap_arena *arena, const ap_option *option); /* ACCELPICK_SEQ_LEN */

void ap_help_write_global(ap_sbuf *out, size_t width);
void ap_help_write_command(const ap_command *command, ap_sbuf *out, size_t width);
void ap_help_write_man(ap_sbuf *out);
void ap_help_write_markdown(ap_sbuf *out);
void ap_help_write_examples(ap_sbuf *out);
bool ap_completion_write(const char *shell, ap_sbuf *out);
size_t ap_cli_width(const ap_cli *cli); /* COLUMNS, else the terminal's, else 0 */

#endif
