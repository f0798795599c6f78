#include "plan/knowledge.h"

#include <string.h>

#include "base/text.h"
#include "catalog/image.h"
#include "io/file.h"

typedef struct loader {
    const ap_knowledge_request *request;
    ap_arena *arena;
    ap_diags *diags;
    ap_ruleset *set;
    ap_rule_files packs;
    ap_status status; /* worst so far */
} loader;

ap_rule_files ap_knowledge_files(ap_arena *arena, const char *section)
{
    size_t len = 0;
    const unsigned char *image = ap_image_builtin(&len);
    ap_any_list files = {0};
    /* A damaged image is a bug of the build; a test counts the rules. */
    if (ap_image_get_records(image, len, section, &ap_rule_file_object, arena, &files) != AP_OK)
        return (ap_rule_files){0};
    return (ap_rule_files){files.items, files.count};
}

static void note_status(loader *l, ap_status status)
{
    if (status > l->status)
        l->status = status;
}

static void add_knowledge(loader *l)
{
    if (!l->request->data_dir) {
        ap_rule_files files = ap_knowledge_files(l->arena, "rules");
        for (size_t i = 0; i < files.count; i++)
            note_status(l, ap_ruleset_add(l->set, &files.items[i], l->diags));
        return;
    }
    const char *folder = ap_arena_printf(l->arena, "%s/rules", l->request->data_dir), **paths;
    size_t count = 0;
    if (!ap_file_is_dir(folder))
        return;
    note_status(l, ap_file_walk(folder, ".yaml", false, l->arena, l->diags, &paths, &count));
    for (size_t i = 0; i < count; i++)
        note_status(l, ap_ruleset_load(l->set, paths[i], l->diags, NULL));
}

static void unknown_pack(loader *l, const char *name, ap_pos pos)
{
    ap_suggest suggest;
    ap_suggest_init(&suggest, name);
    for (size_t i = 0; i < l->packs.count; i++)
        ap_suggest_offer(&suggest, l->packs.items[i].policy);
    ap_diag *diag = ap_diag_add(l->diags, AP_ERROR, 614, pos, "'%s' is neither a file nor a policy pack", name);
    diag->hint = ap_suggest_text(&suggest, l->arena);
    note_status(l, AP_USAGE);
}

/* A rule file of the user that names no policy is one all the same: it is the user's own. */
static void add_file(loader *l, const char *path)
{
    size_t before = l->set->count;
    const ap_rule_file *file;
    note_status(l, ap_ruleset_load(l->set, path, l->diags, &file));
    for (size_t i = 0; file && before < l->set->count && i < l->set->count; i++) {
        if (l->set->items[i].file != file)
            continue;
        l->set->items[i].policy = true;
        l->set->items[i].enforce = file->mode != AP_MODE_AUDIT;
    }
}

static void add_policy(loader *l, const char *name, ap_pos pos)
{
    if (l->request->data_dir) {
        const char *path = ap_arena_printf(l->arena, "%s/policies/%s.yaml", l->request->data_dir, name);
        if (!strchr(name, '/') && ap_file_exists(path)) {
            add_file(l, path);
            return;
        }
    }
    for (size_t i = 0; i < l->packs.count; i++) {
        if (strcmp(l->packs.items[i].policy, name) == 0) {
            note_status(l, ap_ruleset_add(l->set, &l->packs.items[i], l->diags));
            return;
        }
    }
    if (ap_file_exists(name) || strchr(name, '/') || ap_ends_with(name, ".yaml") || ap_ends_with(name, ".yml"))
        add_file(l, name);
    else
        unknown_pack(l, name, pos);
}

static void add_config(loader *l, const ap_node *node)
{
    if (!node || ap_node_is_null(node))
        return;
    if (node->kind == AP_NODE_SCALAR)
        add_policy(l, node->text, node->pos);
    else if (node->kind == AP_NODE_LIST)
        for (size_t i = 0; i < node->as.list.count; i++)
            add_config(l, node->as.list.items[i]);
    else {
        ap_diag_add(l->diags, AP_ERROR, 615, node->pos, "policies: expected the name of a file or pack, or a list of them");
        note_status(l, AP_BAD_INPUT);
    }
}

ap_status ap_knowledge_load(const ap_knowledge_request *request, ap_arena *arena, ap_diags *diags, ap_ruleset **ret_set)
{
    loader l = {.request = request, .arena = arena, .diags = diags};
    l.set = *ret_set = ap_ruleset_new(arena, &ap_plan_fact_schema);
    if (request->policies.count || request->config)
        l.packs = ap_knowledge_files(arena, "policies");
    if (!request->without_knowledge)
        add_knowledge(&l);
    for (size_t i = 0; i < request->policies.count; i++)
        add_policy(&l, request->policies.items[i], AP_NO_POS);
    add_config(&l, request->config);
    return l.status;
}
