#include "jobs/facts.h"

#include <string.h>

#include "base/str.h"

static ap_jnum *nums_of(ap_jobfacts *facts)
{
    return (ap_jnum *)(void *)&facts->n;
}

static ap_jtext *texts_of(ap_jobfacts *facts)
{
    return (ap_jtext *)(void *)&facts->t;
}

void ap_jobfacts_clear(ap_jobfacts *facts)
{
    memset(facts, 0, sizeof *facts);
    ap_jnum *nums = nums_of(facts);
    for (size_t i = 0; i < AP_JOB_NUM_COUNT; i++)
        nums[i].value = AP_UNKNOWN;
}

void ap_jobfacts_fill(ap_jobfacts *into, const ap_jobfacts *from)
{
    const ap_jnum *nums = (const ap_jnum *)(const void *)&from->n;
    const ap_jtext *texts = (const ap_jtext *)(const void *)&from->t;
    for (size_t i = 0; i < AP_JOB_NUM_COUNT; i++)
        if (ap_jnum_stated(&nums[i]) &&
            (!ap_jnum_stated(&nums_of(into)[i]) || (isnan(nums_of(into)[i].value) && !isnan(nums[i].value))))
            nums_of(into)[i] = nums[i];
    for (size_t i = 0; i < AP_JOB_TEXT_COUNT; i++)
        if (ap_jtext_stated(&texts[i]) &&
            (!ap_jtext_stated(&texts_of(into)[i]) || (!texts_of(into)[i].value && texts[i].value)))
            texts_of(into)[i] = texts[i];
    if (into->chips.count == 0)
        into->chips = from->chips;
    if (into->features.count == 0)
        into->features = from->features;
    for (size_t i = 0; i < from->ref_count; i++)
        ap_jobfacts_add_ref(into, from->refs[i].value, from->refs[i].pos);
}

size_t ap_jobfacts_count(const ap_jobfacts *facts)
{
    const ap_jnum *nums = (const ap_jnum *)(const void *)&facts->n;
    const ap_jtext *texts = (const ap_jtext *)(const void *)&facts->t;
    size_t count = 0;
    for (size_t i = 0; i < AP_JOB_NUM_COUNT; i++)
        count += ap_jnum_stated(&nums[i]);
    for (size_t i = 0; i < AP_JOB_TEXT_COUNT; i++)
        count += ap_jtext_stated(&texts[i]);
    return count;
}

static void add_spelling(ap_jobchips *list, const char *spelling, ap_pos pos)
{
    for (size_t i = 0; i < list->count; i++)
        if (ap_streq(list->items[i].value, spelling))
            return;
    if (list->count < AP_JOB_CHIPS_MAX)
        list->items[list->count++] = (ap_jtext){spelling, pos};
}

void ap_jobfacts_add_chip(ap_jobfacts *facts, const char *spelling, ap_pos pos)
{
    add_spelling(&facts->chips, spelling, pos);
}

void ap_jobfacts_add_feature(ap_jobfacts *facts, const char *name, ap_pos pos)
{
    add_spelling(&facts->features, name, pos);
}

void ap_jobfacts_add_ref(ap_jobfacts *facts, const char *path, ap_pos pos)
{
    for (size_t i = 0; i < facts->ref_count; i++)
        if (ap_streq(facts->refs[i].value, path))
            return;
    if (facts->ref_count < AP_JOB_REFS_MAX)
        facts->refs[facts->ref_count++] = (ap_jtext){path, pos};
}
