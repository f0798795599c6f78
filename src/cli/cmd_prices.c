/* prices: live prices of machines. `prices update` is the only command that uses the network. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/job.h"
#include "io/file.h"
#include "prices/prices.h"
#include "view/prices.h"

#define LOCK_PATIENCE_S 30.0
#define TEST_SPEED      100.0

static ap_status load_view(ap_cli *cli, bool with_snapshot, ap_price_view *ret)
{
    const ap_catalog *catalog;
    ap_providers *providers = AP_NEW(cli->arena, ap_providers);
    ap_constraints *filter = AP_NEW(cli->arena, ap_constraints);
    ap_workload none;
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status != AP_OK)
        return status;
    const char *data = ap_cli_text(cli, AP_O_DATA);
    status = data ? ap_providers_load_dir(ap_arena_printf(cli->arena, "%s/providers", data), cli->arena, &cli->diags,
                                          providers)
                  : ap_providers_builtin(cli->arena, providers);
    ap_workload_init(&none);
    *filter = none.constraints;
    if (status == AP_OK)
        status = ap_cli_constraints(cli, catalog, filter);
    *ret = (ap_price_view){.catalog = catalog,
                           .providers = providers,
                           .store = ap_cli_price_store(cli),
                           .today = ap_cli_today(cli),
                           .filter = filter,
                           .sources = ap_cli_list(cli, AP_O_SOURCE),
                           .limit = ap_cli_limit(cli)};
    if (status == AP_OK && with_snapshot)
        status = ap_cli_prices(cli, &ret->snapshot);
    return status;
}

/* ---- update ------------------------------------------------------------------------------------------------------ */

/* Only loopback, and nothing that could lead elsewhere. */
static bool is_loopback(const char *url)
{
    static const char *const starts[] = {"http://127.0.0.1",  "https://127.0.0.1", "http://localhost",
                                         "https://localhost", "http://[::1]",      "https://[::1]"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t len = strlen(starts[i]);
        const char *rest = url + len;
        if (strncmp(url, starts[i], len) != 0)
            continue;
        rest += *rest == ':' ? 1 + strspn(rest + 1, "0123456789") : 0;
        if (*rest == '\0' || *rest == '/')
            return true;
    }
    return false;
}

static ap_status check_sources(ap_cli *cli, const ap_price_view *view)
{
    ap_status status = AP_OK;
    for (size_t i = 0; i < view->sources.count; i++) {
        if (ap_provider_find(view->providers, view->sources.items[i]))
            continue;
        ap_suggest suggest;
        ap_suggest_init(&suggest, view->sources.items[i]);
        for (size_t k = 0; k < view->providers->count; k++)
            ap_suggest_offer(&suggest, view->providers->items[k].id);
        status = ap_cli_usage(cli, 56, ap_suggest_text(&suggest, cli->arena), "--source: unknown price source \"%s\"",
                              view->sources.items[i]);
    }
    return status;
}

static ap_status test_server(ap_cli *cli, const char **ret_url)
{
    const char *url = getenv("ACCELPICK_TEST_BASE_URL");
    *ret_url = NULL;
    if (!url || !*url)
        return AP_OK;
    if (!is_loopback(url))
        return ap_cli_usage(cli, 55, "such as http://127.0.0.1:8080",
                            "ACCELPICK_TEST_BASE_URL must be a loopback address");
    size_t len = strlen(url);
    while (len > 0 && url[len - 1] == '/')
        len--;
    *ret_url = ap_arena_strndup(cli->arena, url, len);
    return AP_OK;
}

static const char *time_stamp(ap_cli *cli)
{
    time_t now = ap_cli_now();
    struct tm utc;
    char text[32];
    if (!gmtime_r(&now, &utc) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        return "1970-01-01T00:00:00Z";
    return ap_arena_strdup(cli->arena, text);
}

/* One line, rewritten, and only for a person at a terminal. */
static void show_progress(void *context, size_t done, size_t total, const char *source)
{
    (void)context;
    char line[96];
    int len = snprintf(line, sizeof line, "\r\033[K%zu of %zu sources, %s%s", done, total, source,
                       done == total ? "\r\033[K" : "");
    if (len > 0 && write(STDERR_FILENO, line, (size_t)len) < 0)
        return; /* nobody to tell */
}

/* Where the new snapshot goes; the caller holds the lock. */
static ap_status fetch_and_store(ap_cli *cli, ap_price_view *view, const char *test_url, size_t *ret_failed)
{
    ap_snapshot *fresh = AP_NEW(cli->arena, ap_snapshot);
    ap_price_update update = {.catalog = ap_catalog_builtin(cli->arena),
                              .providers = view->providers,
                              .sources = view->sources,
                              .regions = ap_cli_list(cli, AP_O_REGION),
                              .old = view->snapshot,
                              .now = time_stamp(cli),
                              .test_base_url = test_url,
                              .ca_file = getenv("ACCELPICK_CA_FILE"),
                              .accept_shrink = ap_cli_flag(cli, AP_O_ACCEPT_SHRINK),
                              .arena = cli->arena,
                              .diags = &cli->diags};
    if (isatty(STDERR_FILENO) && !ap_cli_flag(cli, AP_O_QUIET))
        update.progress = show_progress;
    if (update.ca_file && !*update.ca_file)
        update.ca_file = NULL;
    ap_status status = ap_prices_fetch(&update, fresh, ret_failed);
    if (status == AP_OK)
        status = ap_store_add(view->store, fresh, cli->arena, &cli->diags);
    if (status == AP_OK)
        view->snapshot = fresh;
    return status;
}

static void report_failures(ap_cli *cli, const ap_price_view *view, const char *stamp)
{
    for (size_t i = 0; view->snapshot && i < view->snapshot->sources.count; i++) {
        const ap_source_state *s = &view->snapshot->sources.items[i];
        if (!ap_streq(s->status, "failed") || !ap_streq(s->checked_at, stamp))
            continue;
        const char *kept = s->rows_kept > 0 && s->as_of
                               ? ap_arena_printf(cli->arena, "keeping %g prices of %s", s->rows_kept, s->as_of)
                               : "no earlier prices to keep";
        ap_diag_add(&cli->diags, AP_ERROR, 769, AP_NO_POS, "%s failed: %s; %s", s->id, s->error ? s->error : "unknown",
                    kept);
    }
}

static ap_status run_update(ap_cli *cli, ap_price_view *view)
{
    const char *test_url;
    ap_status status = check_sources(cli, view), test = test_server(cli, &test_url);
    size_t failed = 0;
    if (status != AP_OK || test != AP_OK)
        return status != AP_OK ? status : test;
    if (ap_cli_flag(cli, AP_O_OFFLINE)) {
        ap_diag_add(&cli->diags, AP_ERROR, 768, AP_NO_POS, "--offline forbids the network, which this command needs");
        return AP_IO;
    }
    if (!view->store) {
        ap_diag_add(&cli->diags, AP_ERROR, 766, AP_NO_POS, "no home folder to keep prices in")->hint =
            "name a folder with --prices";
        return AP_IO;
    }
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is to be an error of the write, not the end */
    int lock = ap_store_lock(view->store, LOCK_PATIENCE_S / (test_url ? TEST_SPEED : 1), &cli->diags);
    if (lock < 0)
        return AP_IO;
    /* What is current is read under the lock: another update may just have ended. */
    status = ap_store_open(view->store, NULL, cli->arena, &cli->diags, &view->snapshot);
    if (status == AP_OK)
        status = fetch_and_store(cli, view, test_url, &failed);
    ap_store_unlock(lock);
    if (status != AP_OK)
        return status;
    report_failures(cli, view, view->snapshot->created_at);
    status = ap_cli_write_doc(cli, ap_view_price_status(cli->arena, view, &view->sources));
    return status == AP_OK && failed ? AP_IO : status;
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

static ap_status run_status(ap_cli *cli, ap_price_view *view)
{
    ap_status status = check_sources(cli, view);
    if (status != AP_OK)
        return status;
    return ap_cli_write_doc(cli, ap_view_price_status(cli->arena, view, &view->sources));
}

static ap_status run_show(ap_cli *cli, ap_price_view *view)
{
    ap_doc *doc = ap_view_price_rows(cli->arena, view);
    ap_status status = ap_cli_sort_items(cli, doc, "items");
    return status == AP_OK ? ap_cli_write_doc(cli, doc) : status;
}

/* A snapshot by path, or the newest one of a day. */
static ap_status open_operand(ap_cli *cli, const ap_price_view *view, const char *operand, const ap_snapshot **ret)
{
    if (ap_file_exists(operand)) {
        ap_snapshot *snapshot = AP_NEW(cli->arena, ap_snapshot);
        *ret = snapshot;
        return ap_snapshot_read(operand, cli->arena, &cli->diags, snapshot);
    }
    ap_status status = view->store ? ap_store_open(view->store, operand, cli->arena, &cli->diags, ret) : AP_OK;
    if (status == AP_OK && !*ret) {
        ap_diag_add(&cli->diags, AP_ERROR, 64, AP_NO_POS, "there is no snapshot of prices as old as %s", operand);
        return AP_STALE;
    }
    return status;
}

static ap_status newest_two(ap_cli *cli, const ap_price_view *view, const ap_snapshot **old, const ap_snapshot **new)
{
    ap_strings paths = {0};
    ap_status status = view->store ? ap_store_list(view->store, cli->arena, &cli->diags, &paths) : AP_OK;
    if (status == AP_OK && paths.count < 2) {
        ap_diag_add(&cli->diags, AP_ERROR, 64, AP_NO_POS, "the price store holds %zu snapshots; two are needed",
                    paths.count);
        return AP_STALE;
    }
    if (status == AP_OK)
        status = open_operand(cli, view, paths.items[paths.count - 2], old);
    return status == AP_OK ? open_operand(cli, view, paths.items[paths.count - 1], new) : status;
}

static ap_status run_diff(ap_cli *cli, ap_price_view *view)
{
    const ap_snapshot *old = NULL, *new = view->snapshot;
    ap_status status = AP_OK;
    if (cli->operand_count == 1)
        status = newest_two(cli, view, &old, &new);
    else
        status = open_operand(cli, view, cli->operands[1], &old);
    if (status == AP_OK && cli->operand_count > 2)
        status = open_operand(cli, view, cli->operands[2], &new);
    if (status != AP_OK)
        return status;
    if (!new)
        return open_operand(cli, view, "9999-12-31", &new);
    return ap_cli_write_doc(cli, ap_view_price_diff(cli->arena, view, old, new));
}

static ap_status run_export(ap_cli *cli, ap_price_view *view)
{
    ap_sbuf text;
    ap_sbuf_init(&text, cli->arena);
    if (!view->snapshot) {
        ap_diag_add(&cli->diags, AP_ERROR, 64, AP_NO_POS, "there is no snapshot of prices to export")->hint =
            "accelpick prices update makes one";
        return AP_STALE;
    }
    ap_snapshot_write(view->snapshot, &text);
    return ap_cli_write_text(cli, text.text, text.len);
}

static ap_status run_import(ap_cli *cli, ap_price_view *view)
{
    ap_snapshot *snapshot = AP_NEW(cli->arena, ap_snapshot);
    if (cli->operand_count < 2)
        return ap_cli_usage(cli, 57, NULL, "'prices import' needs a FILE");
    ap_status status = ap_snapshot_read(cli->operands[1], cli->arena, &cli->diags, snapshot);
    if (status != AP_OK)
        return status;
    int lock = view->store ? ap_store_lock(view->store, LOCK_PATIENCE_S, &cli->diags) : -1;
    if (lock < 0)
        return AP_IO;
    status = ap_store_add(view->store, snapshot, cli->arena, &cli->diags);
    ap_store_unlock(lock);
    view->snapshot = snapshot;
    return status == AP_OK ? run_status(cli, view) : status;
}

static ap_status run_sources(ap_cli *cli, ap_price_view *view)
{
    return ap_cli_write_doc(cli, ap_view_price_sources(cli->arena, view));
}

typedef struct subcommand {
    ap_status (*run)(ap_cli *cli, ap_price_view *view);
    bool needs_snapshot;
    size_t most_operands;
} subcommand;

static ap_status run(ap_cli *cli)
{
    static const char *const words[] = {"status", "update", "diff", "show", "sources", "import", "export", NULL};
    static const subcommand subcommands[] = {{run_status, true, 1}, {run_update, false, 1},  {run_diff, true, 3},
                                             {run_show, true, 1},   {run_sources, false, 1}, {run_import, false, 2},
                                             {run_export, true, 1}};
    int which = ap_cli_subcommand(cli, words);
    ap_price_view view;
    if (which < 0)
        return AP_USAGE;
    if (cli->operand_count > subcommands[which].most_operands)
        return ap_cli_usage(cli, 58, NULL, "'prices %s': unexpected '%s'", words[which],
                            cli->operands[subcommands[which].most_operands]);
    ap_status status = load_view(cli, subcommands[which].needs_snapshot, &view);
    return status == AP_OK ? subcommands[which].run(cli, &view) : status;
}

static const ap_example examples[] = {
    {"prices status", "how old the prices are, by source"},
    {"prices sources", "where prices can come from, and which need a key"},
};

const ap_command ap_cmd_prices = {
    .name = "prices",
    .synopsis =
        "status\nupdate [--source ID,...] [--region R,...]\ndiff [OLD [NEW]]\nshow\nsources\nimport FILE\nexport",
    .summary = "live prices: fetch, compare, show their age and source",
    .description = "update asks the price sources (the only use of the network in this program), checks every row, and "
                   "stores a snapshot that "
                   "recommend, estimate and list use from then on. A source that fails keeps its old prices with their "
                   "old date. Keys come "
                   "from the environment only (prices sources names the variables).\n\n"
                   "diff compares two snapshots (dates or files; the last two by default). export and import move a "
                   "snapshot to another "
                   "machine, where --prices FILE can also use it directly.",
    .examples = examples,
    .example_count = 2,
    .groups = AP_G_OUTPUT | AP_G_LIST | AP_G_FILTER | AP_G_MONEY | AP_G_DATA | AP_G_UPDATE,
    .min_operands = 1,
    .max_operands = 3,
    .operand = "status|update|diff|show|sources|import|export",
    .values = "status update diff show sources import export",
    .run = run,
};
