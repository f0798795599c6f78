/* explain ID: a rule (from the rules), or a diagnostic, verdict, assumption or formula (from the documentation). */
#include <string.h>

#include "base/text.h"
#include "catalog/image.h"
#include "cli/rules.h"
#include "view/pages.h"
#include "view/rules.h"
#include "view/view.h"

static const char *const sections[] = {"docs/diagnostics.md", "docs/model.md", "docs/model-other.md"};
#define SECTION_COUNT (sizeof sections / sizeof *sections)

static const char *page_text(size_t index, size_t *ret_len)
{
    size_t image_len = 0;
    const unsigned char *image = ap_image_builtin(&image_len);
    return (const char *)ap_image_find(image, image_len, sections[index], ret_len);
}

static ap_status write_entry(ap_cli *cli, const char *id, const char *page, const ap_page_entry *entry)
{
    ap_doc *doc = ap_view_begin(cli->arena, "explain", cli->catalog);
    ap_value *sources = ap_value_list(cli->arena);
    ap_value_push(cli->arena, sources, ap_value_text(cli->arena, page));
    ap_value_put(cli->arena, doc->root, "id", ap_value_text(cli->arena, id));
    ap_value_put(cli->arena, doc->root, "title", ap_value_text(cli->arena, entry->title));
    ap_value_put(cli->arena, doc->root, "text", ap_value_text(cli->arena, entry->text));
    ap_value_put(cli->arena, doc->root, "sources", sources);
    ap_doc_heading(doc, ap_arena_printf(cli->arena, "%s  %s", id, entry->title));
    for (const char *c = entry->text; *c;) { /* a paragraph a line: tables and formulas stay as they are written */
        size_t len = strcspn(c, "\n");
        if (len)
            ap_doc_paragraph(doc, "%.*s", (int)len, c);
        c += len + (c[len] ? 1 : 0);
    }
    return ap_cli_write_doc(cli, doc);
}

static ap_status unknown_id(ap_cli *cli, const ap_ruleset *set, const char *id)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, id);
    for (size_t i = 0; i < set->count; i++)
        ap_suggest_offer(&suggest, set->items[i].rule->id);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        size_t len = 0, cursor = 0;
        const char *page = page_text(i, &len), *found;
        while (page && (found = ap_page_next_id(page, len, &cursor, cli->arena)))
            ap_suggest_offer(&suggest, found);
    }
    const char *hint = ap_suggest_text(&suggest, cli->arena);
    return ap_cli_usage(cli, 303, hint ? hint : "an id as printed in brackets, such as AP1001, AP0203 or M-07",
                        "nothing is known under \"%s\"", id);
}

static ap_status run(ap_cli *cli)
{
    const char *id = cli->operands[0];
    ap_ruleset *set;
    const ap_catalog *catalog;
    ap_status status = ap_cli_catalog(cli, &catalog);
    if (status == AP_OK)
        status = ap_cli_rules(cli, true, &set);
    if (status != AP_OK)
        return status;
    const ap_rule_item *item = ap_ruleset_find(set, id);
    if (item) {
        ap_rule_view view = {.kind = "explain"};
        return ap_cli_write_doc(cli, ap_view_rule(cli->arena, cli->catalog, set, item, &view));
    }
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        size_t len = 0;
        const char *page = page_text(i, &len);
        ap_page_entry entry;
        if (page && ap_page_find(page, len, id, cli->arena, &entry))
            return write_entry(cli, id, sections[i], &entry);
    }
    return unknown_id(cli, set, id);
}

static const ap_example examples[] = {
    {"explain AP2030", "a rule: text, source, examples, what it looks at"},
    {"explain AP0203", "a diagnostic"},
    {"explain micro_batch", "how an assumption is made"},
};

const ap_command ap_cmd_explain = {
    .name = "explain",
    .synopsis = "ID",
    .summary = "explain a rule, a diagnostic, an assumption or a formula",
    .description = "ID is what results and messages print in brackets: a rule or diagnostic (AP1001), a formula of the model (M-07) or the name of an\n"
                   "assumption (sequence_length).",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .groups = AP_G_OUTPUT | AP_G_RULES | AP_G_DATA,
    .min_operands = 1,
    .max_operands = 1,
    .operand = "ID",
    .run = run,
};
