#include "catalog/target.h"

#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "catalog/internal.h"

enum { BOX = 8, BIG_BOX = 16, MAX_UNITS = 100000 };

/* Pieces of a target's text; the name is not split further. */
typedef struct pieces {
    const char *name;
    const char *count;  /* after ':', or NULL */
    const char *region; /* after '@', or NULL */
    int pricing;        /* -1 = not given */
} pieces;

typedef struct parse {
    const ap_catalog *catalog;
    const ap_target_options *options;
    ap_arena *arena;
    ap_diags *diags;
    const char *text;
} parse;

static ap_status fail(const parse *p, int code, const char *message, const char *hint)
{
    ap_diag_add(p->diags, AP_ERROR, code, p->options->pos, "target '%s': %s", p->text, message)->hint = hint;
    return AP_USAGE;
}

/* -- spelling ------------------------------------------------------------------------------------------------------ */
void ap_target_spell(ap_target *target, ap_arena *arena)
{
    char units[32];
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    if (target->rig) {
        ap_sbuf_printf(&out, "rig/%s", target->rig->id);
    } else if (target->is_chip_target) {
        ap_num_format(target->chip_count, units);
        ap_sbuf_printf(&out, "%s:%s", target->chip->id, units);
    } else {
        ap_sbuf_printf(&out, "%s/%s", target->instance->cloud, target->instance->name);
        ap_num_format(target->units, units);
        if (target->units > 1)
            ap_sbuf_printf(&out, ":%s", units);
        if (target->region)
            ap_sbuf_printf(&out, "@%s", target->region);
    }
    if (!target->rig && target->pricing > AP_PRICE_ON_DEMAND)
        ap_sbuf_printf(&out, "+%s", ap_price_kind_name(target->pricing));
    target->text = out.text;
}

double ap_instance_threads_per_core(const ap_instance *instance, const ap_chip *chip)
{
    double of_chip = chip ? ap_or(chip->cpu.threads_per_core, 2) : 2;
    return instance ? ap_or(instance->threads_per_core, of_chip) : of_chip;
}

/* -- machines ------------------------------------------------------------------------------------------------------ */
void ap_target_of_instance(const ap_catalog *catalog, const ap_instance *instance, double units, const ap_price *price,
                           int pricing, ap_target *ret)
{
    double hosts = instance->hosts >= 1 ? instance->hosts : 1;
    double usd_per_h = price ? ap_price_usd(price, pricing) : AP_UNKNOWN;
    *ret = (ap_target){
        .chip = instance->chip ? ap_catalog_chip(catalog, instance->chip) : NULL,
        .chip_count = instance->chip_count * units,
        .nodes = hosts * units,
        .chips_per_node = instance->chip_count / hosts,
        .units = units,
        .instance = instance,
        .price = price,
        .region = price ? price->region : NULL,
        .pricing = pricing,
        .price_usd_per_h = usd_per_h * units,
    };
}

static ap_status find_priced_region(const parse *p, const pieces *given, const ap_instance *instance, int pricing,
                                    ap_target *ret)
{
    const ap_price *price = NULL;
    const char *region = NULL;
    if (given->region) {
        price = ap_catalog_find_price(instance, given->region);
        if (!price) {
            ap_suggest suggest;
            ap_suggest_init(&suggest, given->region);
            for (size_t i = 0; i < instance->prices.count; i++)
                ap_suggest_offer(&suggest, instance->prices.items[i].region);
            const char *near = ap_suggest_text(&suggest, p->diags->arena);
            if (!near && instance->prices.count)
                near = ap_arena_printf(p->diags->arena, "offered in %s%s", instance->prices.items[0].region,
                                       instance->prices.count > 1 ? " and others (see: accelpick show instances)" : "");
            return fail(p, 747,
                        ap_arena_printf(p->arena, "%s/%s is not offered in region '%s'", instance->cloud,
                                        instance->name, given->region),
                        near);
        }
        region = price->region;
    } else {
        price = ap_instance_cheapest(instance, pricing, p->options->region_globs);
        region = price ? price->region : NULL;
    }
    ap_target_of_instance(p->catalog, instance, ret->units, price, pricing, ret);
    ret->region = region;
    if (!ap_known(ret->price_usd_per_h))
        ret->price_unknown =
            ap_arena_printf(p->arena, "no %s price of %s/%s is known%s%s", ap_price_kind_name(pricing), instance->cloud,
                            instance->name, region ? " in " : "", region ? region : "");
    return AP_OK;
}

static bool parse_count(const char *text, double *ret_count)
{
    double count;
    if (!ap_num_parse(text, &count) || count < 1 || count > MAX_UNITS || count > (double)(long)count)
        return false;
    *ret_count = count;
    return true;
}

static ap_status resolve_instance(const parse *p, const pieces *given, const ap_instance *instance, ap_target *ret)
{
    double units = 1;
    if (given->count && !parse_count(given->count, &units))
        return fail(p, 744, ap_arena_printf(p->arena, "'%s' is no number of nodes", given->count),
                    "a whole number from 1, such as :2");
    if (!instance->chip || !ap_catalog_chip(p->catalog, instance->chip))
        return fail(p, 748, "the catalog does not know what chip that machine has", NULL);
    *ret = (ap_target){.units = units};
    int pricing = given->pricing >= 0 ? given->pricing : p->options->pricing;
    return find_priced_region(p, given, instance, pricing, ret);
}

/* All of a small cloud's machines, else where to look. */
static const char *instances_of(const parse *p, const char *cloud)
{
    enum { FEW = 6 };
    ap_sbuf names;
    ap_sbuf_init(&names, p->diags->arena);
    size_t count = 0;
    for (size_t i = 0; i < p->catalog->instances.count; i++) {
        const ap_instance *instance = &p->catalog->instances.items[i];
        if (ap_streq(instance->cloud, cloud) && count++ < FEW)
            ap_sbuf_printf(&names, "%s%s", count == 1 ? "one of: " : ", ", instance->name);
    }
    if (count >= 1 && count <= FEW)
        return names.text;
    return ap_arena_printf(p->diags->arena, "see: accelpick list instances --cloud %s", cloud);
}

static ap_status unknown_instance(const parse *p, const char *cloud, const char *name)
{
    const ap_cloud *known = ap_catalog_find_cloud(p->catalog, cloud);
    ap_suggest suggest;
    if (!known) {
        ap_diag *diag =
            ap_diag_add(p->diags, AP_ERROR, 745, p->options->pos, "unknown cloud '%s' in target '%s'", cloud, p->text);
        diag->hint = ap_catalog_suggest(p->catalog, "clouds", cloud, p->diags->arena);
        return AP_USAGE;
    }
    ap_suggest_init(&suggest, name);
    for (size_t i = 0; i < p->catalog->instances.count; i++)
        if (ap_streq(p->catalog->instances.items[i].cloud, known->id))
            ap_suggest_offer(&suggest, p->catalog->instances.items[i].name);
    ap_diag *diag =
        ap_diag_add(p->diags, AP_ERROR, 746, p->options->pos, "unknown instance '%s' of cloud '%s'", name, known->id);
    const char *near = ap_suggest_text(&suggest, p->diags->arena);
    diag->hint = near ? near : instances_of(p, known->id);
    return AP_USAGE;
}

/* Takes "+pricing", "@region", ":count" off the end. Instance names hold such characters themselves ("GPU+", "X::1"),
 * so each piece is taken only while the rest is no name yet. */
static bool split_step(const parse *p, pieces *left)
{
    char *name = ap_arena_strdup(p->arena, left->name);
    char *at = strrchr(name, '+');
    if (at && left->pricing < 0 && !left->region && !left->count && ap_price_kind_parse(at + 1) >= 0) {
        left->pricing = ap_price_kind_parse(at + 1);
    } else if ((at = strrchr(name, '@')) && !left->region && !left->count) {
        left->region = at + 1;
    } else if ((at = strrchr(name, ':')) && !left->count) {
        left->count = at + 1;
    } else {
        return false;
    }
    *at = '\0';
    left->name = name;
    return true;
}

static ap_status parse_machine(const parse *p, ap_target *ret)
{
    const char *slash = strchr(p->text, '/');
    const char *cloud = ap_arena_strndup(p->arena, p->text, (size_t)(slash - p->text));
    pieces given = {.name = slash + 1, .pricing = -1};
    do {
        const ap_instance *instance = ap_catalog_find_instance(p->catalog, cloud, given.name);
        if (instance)
            return resolve_instance(p, &given, instance, ret);
    } while (split_step(p, &given));
    const char *plus = strrchr(slash, '+');
    if (plus && given.pricing < 0 && ap_price_kind_parse(plus + 1) < 0 && ap_catalog_find_cloud(p->catalog, cloud)) {
        ap_suggest suggest;
        ap_suggest_init(&suggest, plus + 1);
        for (int i = 0; i < AP_PRICE_KIND_COUNT; i++)
            ap_suggest_offer(&suggest, ap_price_kind_name(i));
        const char *near = ap_suggest_text(&suggest, p->diags->arena);
        if (near)
            return fail(p, 749, ap_arena_printf(p->arena, "unknown pricing '%s'", plus + 1), near);
    }
    return unknown_instance(p, cloud, given.name);
}

/* -- chips --------------------------------------------------------------------------------------------------------- */
static bool has_big_box(const ap_catalog *catalog, const ap_chip *chip, double count)
{
    for (size_t i = 0; i < catalog->instances.count; i++) {
        const ap_instance *instance = &catalog->instances.items[i];
        if (instance->chip_count >= count && instance->chip_count <= BIG_BOX && instance->hosts <= 1 &&
            ap_streq(instance->chip, chip->id))
            return true;
    }
    return false;
}

static const ap_instance *find_slice(const ap_catalog *catalog, const ap_chip *chip, double count)
{
    for (size_t i = 0; i < catalog->instances.count; i++) {
        const ap_instance *instance = &catalog->instances.items[i];
        if (instance->chip_count >= count && instance->chip_count <= count && ap_streq(instance->chip, chip->id))
            return instance;
    }
    return NULL;
}

bool ap_target_boxes(const ap_catalog *catalog, const ap_chip *chip, double count, double *ret_nodes,
                     double *ret_chips_per_node)
{
    const ap_instance *slice = chip->kind == AP_CHIP_TPU ? find_slice(catalog, chip, count) : NULL;
    double nodes = 1;
    if (slice && slice->hosts > 1)
        nodes = slice->hosts;
    else if (count > BOX && !(count <= BIG_BOX && has_big_box(catalog, chip, count)))
        nodes = count / BOX;
    if (nodes > (double)(long)nodes)
        return false;
    *ret_nodes = nodes;
    *ret_chips_per_node = count / nodes;
    return true;
}

/* How well a machine matches; lower is better. */
enum { FIT_EXACT, FIT_BIGGER, FIT_SMALLER, FIT_SHARE, FIT_NONE };

typedef struct offer {
    const ap_instance *instance;
    const ap_price *price;
    double units, usd_per_h;
    double share; /* CPU: cores of one machine over those of the sockets asked for */
    int fit;
} offer;

/* Clouds keep some cores of a socket for themselves: from here on a machine counts as whole sockets … */
static const double whole_socket = 0.75;
/* … and above this it has sockets to spare. */
static const double more_sockets = 1.1;

/* CPUs are let out in parts. A machine with whole sockets goes first, then one with more of them, then the largest part;
 * what is estimated afterwards is the machine that is paid for. */
static offer match_cpu(const ap_instance *instance, const ap_target *target)
{
    offer match = {.instance = instance, .fit = FIT_NONE, .units = target->nodes};
    double cores = instance->vcpus / ap_instance_threads_per_core(instance, target->chip);
    match.share = cores / (target->chip->cpu.cores * target->chips_per_node);
    if (instance->chip_count < target->chips_per_node)
        return match;
    if (!ap_known(match.share))
        match.fit = instance->chip_count > target->chips_per_node ? FIT_BIGGER : FIT_EXACT;
    else
        match.fit = match.share < whole_socket ? FIT_SHARE : match.share > more_sockets ? FIT_BIGGER : FIT_EXACT;
    return match;
}

/* How many machines of an instance make the target's chips: as many as it has nodes, each of exactly that size or with
 * chips to spare; where no machine is that big (racks of 4-chip hosts), more and smaller ones. A TPU slice is one unit.
 */
static offer match_instance(const ap_instance *instance, const ap_target *target, bool whole_slice)
{
    offer match = {.instance = instance, .fit = FIT_NONE, .units = 1};
    double size = instance->chip_count;
    if (target->chip->kind == AP_CHIP_CPU)
        return match_cpu(instance, target);
    if (whole_slice || instance->hosts > 1) {
        match.fit = size >= target->chip_count && size <= target->chip_count ? FIT_EXACT : FIT_NONE;
        return match;
    }
    match.units = target->nodes;
    if (size >= target->chips_per_node) {
        match.fit = size > target->chips_per_node ? FIT_BIGGER : FIT_EXACT;
        return match;
    }
    match.units = target->chip_count / size;
    if (target->nodes > 1 && size > 0 && match.units <= (double)(long)match.units)
        match.fit = FIT_SMALLER;
    return match;
}

static bool cloud_wanted(const char *cloud, const ap_strings *globs)
{
    if (!globs || globs->count == 0)
        return true;
    for (size_t i = 0; i < globs->count; i++)
        if (ap_glob_match(globs->items[i], cloud))
            return true;
    return false;
}

/* The better fit, then the larger part of a CPU, then the price, then the name, so that the answer is one. */
static bool is_better(const offer *a, const offer *b)
{
    if (!b->instance || a->fit != b->fit)
        return !b->instance || a->fit < b->fit;
    if (a->fit == FIT_SHARE && (a->share > b->share || a->share < b->share))
        return a->share > b->share;
    if (a->usd_per_h < b->usd_per_h || a->usd_per_h > b->usd_per_h)
        return a->usd_per_h < b->usd_per_h;
    int by_cloud = strcmp(a->instance->cloud, b->instance->cloud);
    return by_cloud ? by_cloud < 0 : strcmp(a->instance->name, b->instance->name) < 0;
}

/* The cheapest matching offer; notebooks and free tiers cannot be relied on for a size and are left out. */
static offer find_offer(const parse *p, const ap_target *target)
{
    offer best = {0};
    bool whole_slice = target->chip->kind == AP_CHIP_TPU && find_slice(p->catalog, target->chip, target->chip_count);
    for (size_t i = 0; i < p->catalog->instances.count; i++) {
        const ap_instance *instance = &p->catalog->instances.items[i];
        if (!ap_streq(instance->chip, target->chip->id) || ap_streq(instance->market, "notebook") ||
            ap_streq(instance->market, "free") || !cloud_wanted(instance->cloud, p->options->cloud_globs))
            continue;
        offer match = match_instance(instance, target, whole_slice);
        if (match.fit == FIT_NONE)
            continue;
        match.price = ap_instance_cheapest(instance, target->pricing, p->options->region_globs);
        if (!match.price)
            continue;
        match.usd_per_h = ap_price_usd(match.price, target->pricing) * match.units;
        if (is_better(&match, &best))
            best = match;
    }
    return best;
}

static void price_chip_target(const parse *p, ap_target *target)
{
    offer best = find_offer(p, target);
    if (!best.instance) {
        target->price_unknown =
            ap_arena_printf(p->arena, "no offer of %g %s in one machine has a known %s price", target->chips_per_node,
                            target->chip->id, ap_price_kind_name(target->pricing));
        return;
    }
    target->instance = best.instance;
    target->price = best.price;
    target->units = best.units;
    target->region = best.price->region;
    target->price_usd_per_h = best.usd_per_h;
    ap_target from;
    ap_target_of_instance(p->catalog, best.instance, best.units, best.price, target->pricing, &from);
    ap_target_spell(&from, p->arena);
    target->priced_from = from.text;
}

static ap_status ambiguous_chip(const parse *p, const char *name, const ap_chip_match *match)
{
    ap_sbuf choices;
    ap_sbuf_init(&choices, p->diags->arena);
    for (size_t i = 0; i < match->choice_count; i++)
        ap_sbuf_printf(&choices, "%s%s", i == 0 ? "one of: " : ", ", match->choices[i]->id);
    return fail(p, 740, ap_arena_printf(p->arena, "'%s' may be several chips", name), choices.text);
}

static ap_status unknown_chip(const parse *p, const char *name, bool known)
{
    ap_diag *diag =
        ap_diag_add(p->diags, AP_ERROR, 750, p->options->pos,
                    known ? "the chip that '%s' stands for is not in the catalog" : "unknown chip '%s'", name);
    const char *near = ap_catalog_suggest(p->catalog, "chips", name, p->diags->arena);
    diag->hint = near ? near : "see: accelpick list chips; a machine is CLOUD/INSTANCE, an own one rig/NAME";
    return AP_USAGE;
}

static ap_status resolve_chip(const parse *p, const pieces *given, const ap_chip_match *match, ap_target *ret)
{
    double units = 1;
    if (given->count && !parse_count(given->count, &units))
        return fail(p, 744, ap_arena_printf(p->arena, "'%s' is no number of chips", given->count),
                    "a whole number from 1, such as :8");
    int pricing = given->pricing >= 0 ? given->pricing : p->options->pricing;
    double count = units * ap_or(match->count, 1);
    *ret = (ap_target){.chip = match->chip,
                       .chip_count = count,
                       .units = 1,
                       .is_chip_target = true,
                       .pricing = pricing,
                       .price_usd_per_h = AP_UNKNOWN};
    if (count > (double)(long)count || count < 1)
        return fail(p, 744, ap_arena_printf(p->arena, "%g chips cannot be asked for", count),
                    "a whole number of chips");
    if (!ap_target_boxes(p->catalog, ret->chip, count, &ret->nodes, &ret->chips_per_node))
        return fail(p, 751, ap_arena_printf(p->arena, "%g chips do not divide into machines of %d", count, BOX),
                    "above one machine, ask for a multiple of 8 chips");
    price_chip_target(p, ret);
    ap_target_spell(ret, p->arena);
    return AP_OK;
}

static ap_status parse_chip(const parse *p, ap_target *ret)
{
    pieces given = {.name = p->text, .pricing = -1};
    ap_chip_match vague = {0};
    const char *vague_name = NULL;
    /* A spelling on record may end in a count itself ("8xH100:8"); the plain reading CHIP:COUNT goes first. */
    const char *colon = strrchr(p->text, ':');
    double count;
    if (colon && parse_count(colon + 1, &count)) {
        const char *chip = ap_arena_strndup(p->arena, p->text, (size_t)(colon - p->text));
        if (ap_catalog_find_chip(p->catalog, chip).known)
            given = (pieces){.name = chip, .count = colon + 1, .pricing = -1};
    }
    do {
        ap_chip_match match = ap_catalog_find_chip(p->catalog, given.name);
        if (match.chip && given.region)
            return fail(p, 747, "a chip has no region", "name a machine: CLOUD/INSTANCE@REGION");
        if (match.chip)
            return resolve_chip(p, &given, &match, ret);
        if (match.known && !vague_name) {
            vague = match;
            vague_name = given.name;
        }
    } while (split_step(p, &given));
    if (vague_name && vague.choice_count)
        return ambiguous_chip(p, vague_name, &vague);
    return unknown_chip(p, vague_name ? vague_name : given.name, vague_name != NULL);
}

/* -- rigs ---------------------------------------------------------------------------------------------------------- */
static ap_status parse_rig(const parse *p, ap_target *ret)
{
    const ap_rig *rig;
    ap_status status = ap_rig_resolve(p->catalog, p->text, p->arena, p->diags, &rig);
    if (status != AP_OK)
        return status;
    const ap_chip *chip = ap_catalog_chip(p->catalog, rig->chip ? rig->chip : rig->cpu);
    if (!chip)
        return fail(p, 742, "the rig's chip is not in the catalog", NULL);
    double count = ap_or(rig->chip_count, 1);
    *ret = (ap_target){.chip = chip,
                       .chip_count = count,
                       .nodes = 1,
                       .chips_per_node = count,
                       .units = 1,
                       .rig = rig,
                       .price_usd_per_h = AP_UNKNOWN,
                       .price_unknown = "an own machine has no rent; see breakeven"};
    ap_target_spell(ret, p->arena);
    return AP_OK;
}

ap_status ap_target_parse(const ap_catalog *catalog, const char *text, const ap_target_options *options,
                          ap_arena *arena, ap_diags *diags, ap_target *ret)
{
    static const ap_target_options none;
    const parse p = {catalog, options ? options : &none, arena, diags, text};
    *ret = (ap_target){.price_usd_per_h = AP_UNKNOWN};
    if (*text == '\0')
        return fail(&p, 750, "nothing is named", "CHIP[:COUNT], CLOUD/INSTANCE[:NODES][@REGION][+spot] or rig/NAME");
    if (ap_starts_with(text, "rig/") || ap_ends_with(text, ".yaml") || ap_ends_with(text, ".yml"))
        return parse_rig(&p, ret);
    const char *slash = strchr(text, '/');
    if (!slash)
        return parse_chip(&p, ret);
    ap_status status = parse_machine(&p, ret);
    if (status == AP_OK)
        ap_target_spell(ret, arena);
    return status;
}
