/* Which chips a file means: catalog names, site names, sizes, alternatives. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "jobs/understand.h"

bool ap_chips_found(const ap_chip_match *match)
{
    return match->chip || match->choice_count > 0;
}

/* Every chip whose id goes on from the name: a100 -> a100-sxm4-40gb, a100-pcie-80gb … With `gigabytes`, only cards of
 * that size. */
static ap_chip_match find_series(const ap_judge *j, const char *name, double gigabytes)
{
    ap_chip_match match = {.count = 1};
    const ap_catalog *catalog = j->request->catalog;
    size_t len = strlen(name);
    for (size_t i = 0; len >= 2 && i < catalog->chips.count; i++) {
        const ap_chip *chip = &catalog->chips.items[i];
        bool size = !ap_known(gigabytes) || fabs(chip->memory.size / 1073741824.0 - gigabytes) < 0.08 * gigabytes;
        bool same = strcmp(chip->id, name) == 0 && ap_known(gigabytes),
             longer = strncmp(chip->id, name, len) == 0 && chip->id[len] == '-';
        if (size && (same || longer) && match.choice_count < sizeof match.choices / sizeof *match.choices)
            match.choices[match.choice_count++] = chip;
    }
    match.known = match.choice_count > 0;
    if (match.choice_count == 1) {
        match.chip = match.choices[0];
        match.choice_count = 0;
    }
    return match;
}

/* a100-40gb, v100-32g, a100-80: a series and the size of the card. */
static ap_chip_match find_sized(const ap_judge *j, const char *name)
{
    size_t len = strlen(name), end = len;
    if (len > 2 && name[len - 1] == 'b' && name[len - 2] == 'g')
        end -= 2;
    else if (len > 1 && name[len - 1] == 'g')
        end -= 1;
    size_t start = end;
    while (start > 0 && isdigit((unsigned char)name[start - 1]))
        start--;
    double size;
    const char *digits = ap_arena_strndup(j->arena, name + start, end - start);
    if (start < 2 || name[start - 1] != '-' || !ap_num_parse(digits, &size) || size < 8)
        return (ap_chip_match){.count = 1};
    return find_series(j, ap_arena_strndup(j->arena, name, start - 1), size);
}

/* Site names vary in case and separators: a100_80gb, A100-SXM4-80GB, rtxa5000, nvidia_h100. */
ap_chip_match ap_chips_spelled(ap_judge *j, const char *provider, const char *name)
{
    const ap_catalog *catalog = j->request->catalog;
    ap_chip_match match = ap_catalog_find_chip_at(catalog, provider, name);
    /* a site's bare "a100" is any of the series, whatever single card another source means by it */
    if (ap_streq(provider, "slurm")) {
        ap_chip_match all = find_series(j, ap_str_lower(j->arena, name), AP_UNKNOWN);
        if (all.choice_count > match.choice_count && all.choice_count > 1)
            return all;
    }
    if (ap_chips_found(&match))
        return match;
    char *dashed = ap_str_lower(j->arena, name);
    for (char *c = dashed; *c; c++)
        if (*c == '_' || *c == ' ' || *c == '.')
            *c = '-';
    match = ap_catalog_find_chip_at(catalog, provider, dashed);
    static const char *const prefixes[] = {"nvidia-tesla-", "nvidia-",  "tesla-", "gpu-",
                                           "amd-",          "geforce-", "gpu:",   "quadro-"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !ap_chips_found(&match); i++)
        if (ap_starts_with(dashed, prefixes[i]))
            match = ap_catalog_find_chip_at(catalog, provider, dashed + strlen(prefixes[i]));
    if (!ap_chips_found(&match) && ap_starts_with(dashed, "rtx") && dashed[3] && dashed[3] != '-')
        match = ap_catalog_find_chip(catalog, ap_arena_printf(j->arena, "rtx-%s", dashed + 3));
    if (!ap_chips_found(&match))
        match = find_sized(j, dashed);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !ap_chips_found(&match); i++)
        if (ap_starts_with(dashed, prefixes[i]))
            match = find_sized(j, dashed + strlen(prefixes[i]));
    if (!ap_chips_found(&match))
        match = find_series(j, dashed, AP_UNKNOWN);
    return match;
}

/* "MI300" is the beginning of mi300x and mi300a: a choice that the user must make. */
static ap_chip_match find_beginning(ap_judge *j, const char *name)
{
    ap_chip_match match = {.count = 1};
    const char *wanted = ap_str_lower(j->arena, name);
    size_t len = strlen(wanted);
    const ap_catalog *catalog = j->request->catalog;
    for (size_t i = 0; len >= 4 && i < catalog->chips.count; i++) {
        const ap_chip *chip = &catalog->chips.items[i];
        bool begins = ap_starts_with(chip->id, wanted) && isalpha((unsigned char)chip->id[len]) &&
                      isdigit((unsigned char)wanted[len - 1]);
        if (begins && match.choice_count < sizeof match.choices / sizeof *match.choices)
            match.choices[match.choice_count++] = chip;
    }
    match.known = match.choice_count > 1;
    if (match.choice_count < 2)
        match.choice_count = 0;
    return match;
}

static bool memory_admits(const ap_judge *j, const ap_chip *chip)
{
    const ap_jobnums *n = &j->f->n;
    double low = n->chip_memory_low_bytes.value, high = n->chip_memory_high_bytes.value;
    return !(chip->memory.size < low * 0.95) && !(chip->memory.size > high * 1.03);
}

void ap_chips_add(ap_judge *j, const ap_chip *chip)
{
    ap_checkjob *job = j->job;
    if (!memory_admits(j, chip))
        return;
    for (size_t i = 0; i < job->chip_count; i++)
        if (job->chips[i] == chip)
            return;
    if (job->chip_count < sizeof job->chips / sizeof *job->chips)
        job->chips[job->chip_count++] = chip;
}

bool ap_chips_match_has(const ap_chip_match *match, const ap_chip *chip)
{
    if (match->chip == chip)
        return true;
    for (size_t i = 0; i < match->choice_count; i++)
        if (match->choices[i] == chip)
            return true;
    return false;
}

static bool admitted_by(const ap_chip_match *features, size_t count, const ap_chip *chip)
{
    for (size_t i = 0; i < count; i++)
        if (ap_chips_match_has(&features[i], chip))
            return true;
    return count == 0;
}

void ap_chips_add_match(ap_judge *j, const ap_chip_match *match, const ap_chip_match *features, size_t feature_count)
{
    if (match->chip && admitted_by(features, feature_count, match->chip))
        ap_chips_add(j, match->chip);
    for (size_t i = 0; !match->chip && i < match->choice_count; i++)
        if (admitted_by(features, feature_count, match->choices[i]))
            ap_chips_add(j, match->choices[i]);
}

static bool names_must_be_chips(const ap_judge *j)
{
    switch (j->job->format) {
    case AP_JF_GHA:
    case AP_JF_DETERMINED:
    case AP_JF_SLURM:
    case AP_JF_MLPERF:
        return false;
    default:
        return true;
    }
}

/* A label is taken apart into words; those that the catalog does not know say nothing. */
static void unknown_chip(ap_judge *j, const ap_jtext *spelling)
{
    const char *hint = ap_catalog_suggest(j->request->catalog, "chip", spelling->value, j->arena);
    if (!names_must_be_chips(j))
        return;
    ap_judge_add(j, AP_FAULT_UNKNOWN_NAME, spelling->pos, "no accelerator is called \"%s\"", spelling->value)->hint =
        hint;
}

static bool is_label_word(const char *text)
{
    return strlen(text) < 2 || (strlen(text) == 2 && !isdigit((unsigned char)text[1]));
}

void ap_chips_understand(ap_judge *j)
{
    const ap_jobchips *chips = &j->f->chips, *features = &j->f->features;
    ap_chip_match wanted[AP_JOB_CHIPS_MAX];
    size_t wanted_count = 0, spelled = 0;
    for (size_t i = 0; i < features->count; i++) {
        ap_chip_match match = ap_chips_spelled(j, "slurm", features->items[i].value);
        if (ap_chips_found(&match))
            wanted[wanted_count++] = match;
    }
    for (size_t i = 0; i < chips->count; i++) {
        ap_chip_match match = ap_chips_spelled(j, chips->provider, chips->items[i].value);
        if (!ap_chips_found(&match) && !match.known)
            match = find_beginning(j, chips->items[i].value);
        if (!names_must_be_chips(j) && is_label_word(chips->items[i].value))
            continue;
        if (ap_chips_found(&match) && (j->job->format != AP_JF_GHA || spelled == 0)) {
            size_t before = j->job->chip_count;
            ap_chips_add_match(j, &match, wanted, wanted_count);
            if (j->job->chip_count == before)
                ap_chips_add_match(j, &match, NULL, 0);
            if (j->job->chip_count == before) { /* of another size than this provider's usual one */
                match = find_series(j, ap_str_lower(j->arena, chips->items[i].value), AP_UNKNOWN);
                ap_chips_add_match(j, &match, NULL, 0);
            }
            spelled++;
        } else if (!match.known) {
            unknown_chip(j, &chips->items[i]);
        }
    }
    for (size_t i = 0; spelled == 0 && i < wanted_count; i++)
        ap_chips_add_match(j, &wanted[i], NULL, 0);
    j->job->chips_are_choice = spelled > 1 || (spelled == 0 && wanted_count > 1);
}

void ap_chips_from_memory(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    if (j->job->chip_count > 0 || !ap_jnum_stated(&n->chip_memory_low_bytes) || j->f->chips.count > 0)
        return;
    /* any card of that size: the largest admitted decides what can fit at all */
    const ap_catalog *catalog = j->request->catalog;
    for (size_t i = 0; i < catalog->chips.count; i++) {
        const ap_chip *chip = &catalog->chips.items[i];
        if (chip->kind == AP_CHIP_GPU && memory_admits(j, chip) &&
            chip->memory.size > 0.95 * n->chip_memory_high_bytes.value && chip->year >= 2018)
            ap_chips_add(j, chip);
    }
}
