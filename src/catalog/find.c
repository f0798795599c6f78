#include "catalog/internal.h"

#include <string.h>

#include "base/num.h"
#include "base/text.h"

/* How near a spelling is to an entry of a table; the lowest class that has any entry decides. */
enum { NEAR_EXACT_ID, NEAR_EXACT_ALIAS, NEAR_CASE, NEAR_NORMAL_ID, NEAR_NORMAL_ALIAS };

static int nearness(const ap_entry *entry, const char *key)
{
    if (strcmp(entry->key, key) == 0)
        return entry->rank == 0 ? NEAR_EXACT_ID : NEAR_EXACT_ALIAS;
    if (ap_same_nocase(entry->key, key))
        return NEAR_CASE;
    return entry->rank == 0 ? NEAR_NORMAL_ID : NEAR_NORMAL_ALIAS;
}

/* The one record of the nearest class, or NULL when there is none or two records are equally near: no guessing. */
static const void *find_one(const ap_catalog *catalog, int kind, const char *scope, const char *key, int farthest)
{
    if (!key)
        return NULL;
    int best = farthest + 1;
    size_t item = 0;
    bool several = false;
    for (ap_cursor c = ap_cursor_at(catalog, kind, scope, key); ap_cursor_next(&c);) {
        if (c.entry->rank > 1)
            continue;
        int near = nearness(c.entry, key);
        if (near < best) {
            best = near;
            item = c.entry->item;
            several = false;
        } else if (near == best && c.entry->item != item) {
            several = true;
        }
    }
    return best <= farthest && !several ? ap_access_item(catalog, kind, item) : NULL;
}

const ap_model *ap_catalog_find_model(const ap_catalog *catalog, const char *name)
{
    return find_one(catalog, AP_KIND_MODELS, NULL, name, NEAR_NORMAL_ALIAS);
}

const ap_dataset *ap_catalog_find_dataset(const ap_catalog *catalog, const char *name)
{
    return find_one(catalog, AP_KIND_DATASETS, NULL, name, NEAR_NORMAL_ALIAS);
}

const ap_cloud *ap_catalog_find_cloud(const ap_catalog *catalog, const char *id)
{
    return find_one(catalog, AP_KIND_CLOUDS, NULL, id, NEAR_CASE);
}

/* The id under which instances and regions are filed: aliases of a cloud resolve to it. */
static const char *cloud_id(const ap_catalog *catalog, const char *cloud)
{
    const ap_cloud *found = cloud ? ap_catalog_find_cloud(catalog, cloud) : NULL;
    return found ? found->id : cloud;
}

const ap_instance *ap_catalog_find_instance(const ap_catalog *catalog, const char *cloud, const char *name)
{
    return find_one(catalog, AP_KIND_INSTANCES, cloud_id(catalog, cloud), name, NEAR_CASE);
}

const ap_region *ap_catalog_find_region(const ap_catalog *catalog, const char *cloud, const char *id)
{
    return find_one(catalog, AP_KIND_REGIONS, cloud_id(catalog, cloud), id, NEAR_CASE);
}

const ap_rig *ap_catalog_find_rig(const ap_catalog *catalog, const char *id)
{
    return find_one(catalog, AP_KIND_RIGS, NULL, id, NEAR_CASE);
}

const ap_stack *ap_catalog_find_stack(const ap_catalog *catalog, const char *id)
{
    return find_one(catalog, AP_KIND_STACKS, NULL, id, NEAR_CASE);
}

const ap_image *ap_catalog_find_image(const ap_catalog *catalog, const char *id)
{
    return find_one(catalog, AP_KIND_IMAGES, NULL, id, NEAR_CASE);
}

const ap_chip *ap_catalog_chip(const ap_catalog *catalog, const char *id)
{
    return find_one(catalog, AP_KIND_CHIPS, NULL, id, NEAR_EXACT_ID);
}

const ap_recipe *ap_catalog_find_recipe(const ap_catalog *catalog, const char *model, const char *dataset)
{
    if (!model)
        return NULL;
    uint8_t rank = dataset ? 2 : 3;
    const ap_recipe *first = NULL;
    for (ap_cursor c = ap_cursor_at(catalog, AP_KIND_RECIPES, model, dataset ? dataset : ""); ap_cursor_next(&c);) {
        if (c.entry->rank != rank || !ap_same_nocase(c.entry->scope, model) ||
            (dataset && !ap_same_nocase(c.entry->key, dataset)))
            continue;
        const ap_recipe *recipe = ap_access_item(catalog, AP_KIND_RECIPES, c.entry->item);
        /* Where no data were named, a user's recipe for data of their own is no reason to plan with those. */
        if (c.entry->item + catalog->own_recipes >= catalog->recipes.count && (dataset || !recipe->dataset))
            return recipe;
        if (!first)
            first = recipe;
    }
    return first;
}

const void *ap_catalog_find_any(const ap_catalog *catalog, const char *kind, const char *name)
{
    int which = ap_access_find(kind);
    if (which < 0 || !name)
        return NULL;
    if (which == AP_KIND_CHIPS)
        return ap_catalog_find_chip(catalog, name).chip;
    int farthest = which == AP_KIND_MODELS || which == AP_KIND_DATASETS ? NEAR_NORMAL_ALIAS : NEAR_CASE;
    const void *whole = find_one(catalog, which, NULL, name, farthest);
    const char *slash = strchr(name, '/');
    if (whole || !slash || ap_accesses[which].scope == AP_NO_MEMBER || which == AP_KIND_NAMES)
        return whole;
    AP_SCOPED_ARENA *scratch = ap_arena_new();
    const char *scope = ap_arena_strndup(scratch, name, (size_t)(slash - name));
    return find_one(catalog, which, cloud_id(catalog, scope), slash + 1, farthest);
}

/* -- chips ------------------------------------------------------------------------------------------------------- */
enum { CHOICE_MAX = sizeof((ap_chip_match *)0)->choices / sizeof *((ap_chip_match *)0)->choices };

static void add_choice(ap_chip_match *match, const ap_chip *chip)
{
    if (!chip || match->choice_count == CHOICE_MAX)
        return;
    for (size_t i = 0; i < match->choice_count; i++)
        if (match->choices[i] == chip)
            return;
    match->choices[match->choice_count++] = chip;
}

typedef struct name_search {
    const ap_catalog *catalog;
    const char *provider; /* NULL: anyone's spelling */
    const char *text;
    ap_chip_match match;
    bool exact_only, any, vague;
} name_search;

static void take_name(name_search *search, const ap_name *name)
{
    double count = ap_or(name->count, 1);
    if (!search->any)
        search->match.count = count;
    else if (search->match.count < count || search->match.count > count)
        search->match.count = AP_UNKNOWN;
    search->any = true;
    add_choice(&search->match, name->chip ? ap_catalog_chip(search->catalog, name->chip) : NULL);
    for (size_t i = 0; i < name->any_of.count; i++)
        add_choice(&search->match, ap_catalog_chip(search->catalog, name->any_of.items[i]));
    /* A choice of one is still a choice: the spelling also stands for chips that the catalog lacks. */
    search->vague = search->vague || !name->chip;
}

/* Collects what the outside spellings that match mean. */
static bool search_names(name_search *search)
{
    for (ap_cursor c = ap_cursor_at(search->catalog, AP_KIND_NAMES, NULL, search->text); ap_cursor_next(&c);) {
        const ap_name *name = ap_access_item(search->catalog, AP_KIND_NAMES, c.entry->item);
        if (search->provider && !ap_streq(name->provider, search->provider))
            continue;
        if (search->exact_only && strcmp(name->name, search->text) != 0)
            continue;
        take_name(search, name);
    }
    if (!search->any)
        return false;
    search->match.known = true;
    if (search->match.choice_count == 1 && !search->vague) {
        search->match.chip = search->match.choices[0];
        search->match.choice_count = 0;
    }
    return true;
}

static ap_chip_match one_chip(const ap_chip *chip)
{
    return (ap_chip_match){.chip = chip, .count = 1, .known = true};
}

/* A bare series name, "a100": every chip whose id goes on from there. */
static void add_series(const ap_catalog *catalog, const char *name, ap_chip_match *match)
{
    char wanted[96], id[96];
    ap_normal_form(name, wanted, sizeof wanted);
    size_t len = strlen(wanted);
    for (size_t i = 0; len >= 2 && i < catalog->chips.count; i++) {
        ap_normal_form(catalog->chips.items[i].id, id, sizeof id);
        if (strncmp(id, wanted, len) == 0 && id[len] == '-')
            add_choice(match, &catalog->chips.items[i]);
    }
    match->known = match->known || match->choice_count > 0;
    if (!ap_known(match->count) || match->count <= 0)
        match->count = 1;
}

ap_chip_match ap_catalog_find_chip_at(const ap_catalog *catalog, const char *provider, const char *name)
{
    if (!name)
        return (ap_chip_match){.count = 1};
    const ap_chip *chip = ap_catalog_chip(catalog, name);
    if (chip)
        return one_chip(chip);
    name_search search = {.catalog = catalog, .text = name, .exact_only = true, .provider = provider};
    if (provider && search_names(&search))
        return search.match;
    search = (name_search){.catalog = catalog, .text = name, .provider = provider};
    if (provider && search_names(&search))
        return search.match;
    chip = find_one(catalog, AP_KIND_CHIPS, NULL, name, NEAR_NORMAL_ALIAS);
    if (chip)
        return one_chip(chip);
    search = (name_search){.catalog = catalog, .text = name};
    if (search_names(&search) && search.match.chip)
        return search.match;
    add_series(catalog, name, &search.match);
    return search.match;
}

ap_chip_match ap_catalog_find_chip(const ap_catalog *catalog, const char *name)
{
    return ap_catalog_find_chip_at(catalog, NULL, name);
}

/* -- suggestions --------------------------------------------------------------------------------------------------- */
static void offer_record(ap_suggest *suggest, int kind, const void *record, ap_arena *arena)
{
    ap_suggest_offer(suggest, ap_access_label(kind, record, arena));
    size_t member = ap_accesses[kind].aliases;
    const ap_strings *aliases = member == AP_NO_MEMBER ? NULL : (const void *)((const char *)record + member);
    for (size_t i = 0; aliases && i < aliases->count; i++)
        ap_suggest_offer(suggest, aliases->items[i]);
}

/* Part of a name ("4090") is far from it by edits, but is what people type: the shortest names that hold it. */
static const char *suggest_containing(const ap_catalog *catalog, int kind, const char *wanted, ap_arena *arena)
{
    char part[96], whole[160];
    ap_normal_form(wanted, part, sizeof part);
    const char *best[3] = {NULL};
    size_t count = 0;
    for (size_t i = 0; strlen(part) >= 2 && i < ap_access_list_const(catalog, kind)->count; i++) {
        const void *record = ap_access_item(catalog, kind, i);
        ap_normal_form(ap_access_text(record, ap_accesses[kind].key), whole, sizeof whole);
        if (!strstr(whole, part))
            continue;
        const char *label = ap_access_label(kind, record, arena);
        for (size_t at = 0; at < 3 && label; at++)
            if (!best[at] || strlen(label) < strlen(best[at])) {
                const char *moved = best[at];
                best[at] = label;
                label = moved;
            }
        count++;
    }
    if (count == 0)
        return NULL;
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    ap_sbuf_add(&text, "did you mean ");
    for (size_t i = 0; i < 3 && best[i]; i++)
        ap_sbuf_printf(&text, "%s'%s'", i == 0 ? "" : i == 2 || !best[i + 1] ? " or " : ", ", best[i]);
    ap_sbuf_add(&text, "?");
    return text.text;
}

const char *ap_catalog_suggest(const ap_catalog *catalog, const char *kind, const char *wanted, ap_arena *arena)
{
    int which = ap_access_find(kind);
    if (which < 0 || !wanted)
        return NULL;
    AP_SCOPED_ARENA *scratch = ap_arena_new();
    ap_suggest suggest;
    ap_suggest_init(&suggest, wanted);
    const ap_any_list *list = ap_access_list_const(catalog, which);
    for (size_t i = 0; i < list->count; i++)
        offer_record(&suggest, which, ap_access_item(catalog, which, i), scratch);
    const char *near = ap_suggest_text(&suggest, arena);
    return near ? near : suggest_containing(catalog, which, wanted, arena);
}
