/* doctor: which files are read, how old the data is, what this machine has. It must work when the rest does not, so a
 * broken configuration or catalog is reported and does not stop it. */
#include "cli/cli.h"
#include "cli/hardware.h"
#include "io/file.h"

static ap_value *path_line(ap_arena *arena, const char *what, const char *path)
{
    ap_value *item = ap_value_map(arena);
    const char *state = !path                  ? "no HOME"
                        : ap_file_is_dir(path) ? "folder"
                        : ap_file_exists(path) ? "read"
                                               : "not there";
    ap_value_put(arena, item, "key", ap_value_text(arena, what));
    ap_value_put(arena, item, "value", ap_value_text(arena, path));
    ap_value_put(arena, item, "note", ap_value_text(arena, state));
    return item;
}

static ap_value *list_paths(ap_cli *cli)
{
    ap_arena *arena = cli->arena;
    ap_value *paths = ap_value_list(arena);
    const char *dir = ap_cli_user_dir(arena);
    ap_value_push(arena, paths, path_line(arena, "project file", ".accelpick.yaml"));
    ap_value_push(arena, paths, path_line(arena, "user folder", dir));
    ap_value_push(arena, paths, path_line(arena, "user file", dir ? ap_arena_printf(arena, "%s/config.yaml", dir) : NULL));
    ap_value_push(arena, paths, path_line(arena, "price store", ap_cli_price_store(cli)));
    if (ap_cli_text(cli, AP_O_DATA))
        ap_value_push(arena, paths, path_line(arena, "data", ap_cli_text(cli, AP_O_DATA)));
    return paths;
}

static ap_value *describe_catalog(ap_arena *arena, const ap_catalog *catalog)
{
    ap_value *map = ap_value_map(arena);
    const struct { const char *key; size_t count; } counts[] = {
        {"chips", catalog->chips.count},       {"instances", catalog->instances.count},
        {"clouds", catalog->clouds.count},     {"regions", catalog->regions.count},
        {"models", catalog->models.count},     {"datasets", catalog->datasets.count},
        {"recipes", catalog->recipes.count},   {"rigs", catalog->rigs.count},
        {"images", catalog->images.count},     {"stacks", catalog->stacks.count},
        {"suites", catalog->suites.count}};
    ap_value_put(arena, map, "version", ap_value_text(arena, catalog->version));
    ap_value_put(arena, map, "prices_as_of", ap_value_text(arena, catalog->prices_as_of));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ap_value_put(arena, map, counts[i].key, ap_value_int(arena, (int64_t)counts[i].count));
    return map;
}

static void add_line(ap_arena *arena, ap_value *sheet, const char *key, const char *value, const char *note)
{
    ap_value *line = ap_value_map(arena);
    ap_value_put(arena, line, "key", ap_value_text(arena, key));
    ap_value_put(arena, line, "value", ap_value_text(arena, value));
    ap_value_put(arena, line, "note", ap_value_text(arena, note));
    ap_value_push(arena, sheet, line);
}

static const char *gib_text(ap_arena *arena, const ap_value *value)
{
    return value->kind == AP_V_NUM ? ap_arena_printf(arena, "%.1f GiB", value->as.number) : NULL;
}

static void describe_machine(ap_doc *doc, const ap_value *machine)
{
    static const char *const paths[] = {"cpu.model", "cpu.logical_cpus", "cpu.sockets", "cpu.features"};
    static const char *const keys[] = {"CPU", "logical CPUs", "sockets", "features"};
    ap_arena *arena = doc->arena;
    ap_value *sheet = ap_value_list(arena);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        add_line(arena, sheet, keys[i], ap_cell_words(arena, ap_value_at(machine, paths[i])), NULL);
    add_line(arena, sheet, "memory", gib_text(arena, ap_value_at(machine, "memory_gib")), NULL);
    const ap_value *found = ap_value_at(machine, "accelerators");
    for (size_t i = 0; i < found->as.list.count; i++) {
        const ap_value *item = found->as.list.items[i];
        const char *memory = gib_text(arena, ap_value_at(item, "memory_gib"));
        add_line(arena, sheet, "accelerator", ap_cell_words(arena, ap_value_at(item, "name")),
                 ap_arena_printf(arena, "%s%sseen by %s", memory ? memory : "", memory ? ", " : "",
                                 ap_cell_words(arena, ap_value_at(item, "from"))));
    }
    if (found->as.list.count == 0)
        add_line(arena, sheet, "accelerator", "none found", NULL);
    ap_doc_heading(doc, "This machine");
    ap_doc_sheet(doc, sheet);
}

static ap_status run(ap_cli *cli)
{
    ap_arena *arena = cli->arena;
    ap_status status = ap_cli_configure(cli);
    if (status == AP_USAGE)
        return status;
    const ap_catalog *catalog = NULL;
    ap_status loaded = ap_cli_catalog(cli, &catalog);
    status = loaded > status ? loaded : status;
    ap_doc *doc = ap_cli_new_doc(cli, "doctor");
    ap_value *paths = list_paths(cli), *machine = ap_hardware_detect(arena, "/proc", "/sys");
    ap_value_put(arena, doc->root, "paths", paths);
    ap_value_put(arena, doc->root, "data", catalog ? describe_catalog(arena, catalog) : ap_value_null(arena));
    ap_value_put(arena, doc->root, "machine", machine);
    ap_value *sources = ap_value_list(arena);
    ap_value_push(arena, sources, ap_value_text(arena, "/proc/cpuinfo"));
    ap_value_push(arena, sources, ap_value_text(arena, "/proc/meminfo"));
    ap_value_push(arena, sources, ap_value_text(arena, "/sys/bus/pci/devices"));
    ap_value_push(arena, sources, ap_value_text(arena, "nvidia-smi"));
    ap_value_put(arena, doc->root, "sources", sources);
    ap_doc_heading(doc, "Files");
    ap_doc_sheet(doc, paths);
    if (catalog) {
        ap_doc_heading(doc, "Catalog");
        ap_doc_sheet(doc, ap_value_at(doc->root, "data"));
    }
    describe_machine(doc, machine);
    ap_status written = ap_cli_write_doc(cli, doc);
    return written > status ? written : status;
}

static const ap_example examples[] = {{"doctor", "what accelpick reads and sees on this machine"}};

const ap_command ap_cmd_doctor = {
    .name = "doctor",
    .synopsis = "",
    .summary = "show files read, age of the data, hardware of this machine",
    .description = "Nothing is sent anywhere. Accelerators are found through nvidia-smi and the PCI bus.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_OUTPUT | AP_G_DATA,
    .plain = true,
    .run = run,
};
