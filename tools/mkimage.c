/* Build step: reads data/ with the program's own loader, checks it, and writes the image that builtin.c embeds.
 * usage: mkimage DATA-DIR IMAGE */
#include <stdio.h>
#include <string.h>

#include "catalog/catalog.h"
#include "catalog/image.h"
#include "estimate/calibration.h"
#include "io/file.h"
#include "plan/knowledge.h"
#include "prices/provider.h"

/* This program has no image yet; library code that looks for one finds it empty. */
const unsigned char *ap_image_builtin(size_t *ret_len)
{
    *ret_len = 0;
    return NULL;
}

static int finish(ap_status status, const ap_diags *diags, ap_arena *arena)
{
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    for (size_t i = 0; i < diags->count; i++)
        ap_diag_format(&diags->items[i], &text);
    if (diags->suppressed)
        ap_sbuf_printf(&text, "mkimage: %zu more findings\n", diags->suppressed);
    fputs(text.text, stderr);
    return (int)status;
}

static ap_status add_calibration(const char *dir, ap_arena *arena, ap_diags *diags, ap_sbuf *image)
{
    const char *folder = ap_arena_printf(arena, "%s/calibration", dir);
    if (!ap_file_is_dir(folder))
        return AP_OK;
    const char **paths;
    size_t count;
    ap_status status = ap_file_walk(folder, ".yaml", false, arena, diags, &paths, &count);
    if (status != AP_OK)
        return status;
    ap_calibration *calibration;
    status = ap_calibration_load(paths, count, arena, diags, &calibration);
    if (status == AP_OK)
        ap_image_add_records(image, "calibration", &ap_calib_engine_object, calibration->engines.items,
                             calibration->engines.count);
    return status;
}

/* Rules are checked here, so that a program with a faulty rule is never built, and stored as they were written. */
static ap_status add_rules(const char *dir, const char *section, ap_arena *arena, ap_diags *diags, ap_sbuf *image)
{
    const char *folder = ap_arena_printf(arena, "%s/%s", dir, section), **paths;
    if (!ap_file_is_dir(folder))
        return AP_OK;
    size_t count = 0, file_count = 0, capacity = 0;
    ap_rule_file *files = NULL;
    ap_ruleset *set = ap_ruleset_new(arena, &ap_plan_fact_schema);
    ap_status status = ap_file_walk(folder, ".yaml", false, arena, diags, &paths, &count);
    for (size_t i = 0; i < count && status == AP_OK; i++) {
        const ap_rule_file *file;
        status = ap_ruleset_load(set, paths[i], diags, &file);
        if (status == AP_OK)
            *AP_PUSH(arena, files, file_count, capacity) = *file;
    }
    if (status == AP_OK)
        ap_image_add_records(image, section, &ap_rule_file_object, files, file_count);
    return status;
}

/* Pages that `accelpick explain` looks things up in. A page that is not written yet is left out. */
static ap_status add_pages(const char *dir, ap_arena *arena, ap_diags *diags, ap_sbuf *image)
{
    static const char *const pages[] = {"model.md", "model-other.md", "diagnostics.md"};
    ap_status status = AP_OK;
    for (size_t i = 0; i < sizeof pages / sizeof *pages && status == AP_OK; i++) {
        const char *path = ap_arena_printf(arena, "%s/../docs/%s", dir, pages[i]);
        char *text;
        size_t len;
        if (!ap_file_exists(path))
            continue;
        status = ap_file_read(path, (size_t)4 << 20, arena, diags, &text, &len);
        if (status == AP_OK)
            ap_image_add_bytes(image, ap_arena_printf(arena, "docs/%s", pages[i]), text, len);
    }
    return status;
}

/* Templates of recipes as bytes: "t/slurm". */
static ap_status add_templates(const char *dir, ap_arena *arena, ap_diags *diags, ap_sbuf *image)
{
    const char *folder = ap_arena_printf(arena, "%s/recipes-templates", dir), **paths;
    size_t count = 0;
    if (!ap_file_is_dir(folder))
        return AP_OK;
    ap_status status = ap_file_walk(folder, ".tmpl", false, arena, diags, &paths, &count);
    for (size_t i = 0; i < count && status == AP_OK; i++) {
        char *text;
        size_t len;
        const char *name = strrchr(paths[i], '/') + 1;
        status = ap_file_read(paths[i], (size_t)1 << 20, arena, diags, &text, &len);
        if (status == AP_OK)
            ap_image_add_bytes(image, ap_arena_printf(arena, "t/%.*s", (int)(strlen(name) - strlen(".tmpl")), name), text, len);
    }
    return status;
}

static ap_status add_providers(const char *dir, ap_arena *arena, ap_diags *diags, ap_sbuf *image)
{
    const char *folder = ap_arena_printf(arena, "%s/providers", dir);
    ap_providers providers = {0};
    if (!ap_file_is_dir(folder))
        return AP_OK;
    ap_status status = ap_providers_load_dir(folder, arena, diags, &providers);
    if (status == AP_OK)
        ap_image_add_records(image, "providers", &ap_provider_object, providers.items, providers.count);
    return status;
}

/* A folder without any file is a catalog without records: the program then links and says so. */
static ap_status add_catalog(const char *dir, ap_arena *arena, ap_diags *diags, ap_sbuf *image)
{
    ap_catalog *catalog;
    if (!ap_file_is_dir(dir)) {
        ap_catalog empty = {.arena = arena, .version = "empty"};
        ap_catalog_write_image(&empty, image);
        return AP_OK;
    }
    ap_status status = ap_catalog_load_dir(dir, arena, diags, &catalog);
    if (status != AP_OK)
        return status;
    status = ap_catalog_check(catalog, diags);
    if (status == AP_OK)
        ap_catalog_write_image(catalog, image);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: mkimage DATA-DIR IMAGE\n", stderr);
        return AP_USAGE;
    }
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_diags_init(&diags, arena);
    ap_sbuf image;
    ap_sbuf_init(&image, arena);
    ap_status status = add_catalog(argv[1], arena, &diags, &image);
    if (status == AP_OK)
        status = add_calibration(argv[1], arena, &diags, &image);
    if (status == AP_OK)
        status = add_rules(argv[1], "rules", arena, &diags, &image);
    if (status == AP_OK)
        status = add_rules(argv[1], "policies", arena, &diags, &image);
    if (status == AP_OK)
        status = add_pages(argv[1], arena, &diags, &image);
    if (status == AP_OK)
        status = add_templates(argv[1], arena, &diags, &image);
    if (status == AP_OK)
        status = add_providers(argv[1], arena, &diags, &image);
    if (status == AP_OK)
        status = ap_file_write_atomic(argv[2], image.text, image.len, &diags);
    return finish(status, &diags, arena);
}
