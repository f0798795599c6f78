/* What cannot run the job, for people: by reason. Hundreds of machines with one reason are counted, not listed; JSON has
 * each of them, and so has --why-not with -n 0. */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

#define NEAREST     5
#define MOST_LISTED 8 /* of one reason, when each has its own figures */
#define MOST_NAMED  4 /* when all say the same */

typedef struct reason_group {
    const ap_rejection *first; /* the nearest */
    size_t count, order;
    bool same_message;
} reason_group;

static const char *by_policy(ap_arena *arena, const ap_rejection *r)
{
    return r->policy ? ap_arena_printf(arena, "policy %s: ", r->policy) : "";
}

static int compare_groups(const void *left, const void *right)
{
    const reason_group *a = left, *b = right;
    bool a_policy = a->first->policy != NULL, b_policy = b->first->policy != NULL;
    if (a_policy != b_policy)
        return a_policy ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Policies first, then as the nearest of each reason is near. */
static size_t group_by_reason(const ap_search *search, ap_arena *arena, reason_group **ret_groups)
{
    reason_group *groups = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < search->rejected_count; i++) {
        const ap_rejection *r = &search->rejected[i];
        size_t g = 0;
        while (g < count && strcmp(groups[g].first->rule, r->rule) != 0)
            g++;
        if (g == count) {
            reason_group *added = AP_PUSH(arena, groups, count, capacity);
            *added = (reason_group){r, 0, g, true};
        }
        groups[g].count++;
        groups[g].same_message = groups[g].same_message && strcmp(groups[g].first->message, r->message) == 0;
    }
    if (count)
        qsort(groups, count, sizeof *groups, compare_groups);
    *ret_groups = groups;
    return count;
}

static void add_bullet(ap_doc *doc, ap_value *bullets, const char *text)
{
    ap_value_push(doc->arena, bullets, ap_value_text(doc->arena, text));
}

static void add_nearest(ap_doc *doc, const ap_search *search)
{
    ap_value *bullets = ap_value_list(doc->arena);
    for (size_t i = 0; i < search->rejected_count && i < NEAREST; i++) {
        const ap_rejection *r = &search->rejected[i];
        add_bullet(doc, bullets, ap_arena_printf(doc->arena, "%s: %s%s [%s]", r->target, by_policy(doc->arena, r), r->message, r->rule));
    }
    ap_doc_heading(doc, "Nothing is feasible. Nearest misses");
    ap_doc_bullets(doc, bullets);
}

/* A policy may be all that is in the way, and is never among the nearest. */
static void add_policies(ap_doc *doc, const ap_search *search)
{
    reason_group *groups;
    size_t count = group_by_reason(search, doc->arena, &groups);
    ap_value *bullets = ap_value_list(doc->arena);
    for (size_t i = 0; i < count && groups[i].first->policy; i++)
        add_bullet(doc, bullets,
                   ap_arena_printf(doc->arena, "policy %s refuses %zu: %s, for one: %s [%s]", groups[i].first->policy, groups[i].count,
                                   groups[i].first->target, groups[i].first->message, groups[i].first->rule));
    if (bullets->as.list.count == 0)
        return;
    ap_doc_heading(doc, "In the way");
    ap_doc_bullets(doc, bullets);
}

static void add_named(ap_doc *doc, const ap_search *search, const reason_group *group, size_t most)
{
    ap_value *bullets = ap_value_list(doc->arena);
    size_t shown = 0;
    for (size_t i = 0; i < search->rejected_count && shown < most; i++) {
        const ap_rejection *r = &search->rejected[i];
        if (strcmp(r->rule, group->first->rule) != 0)
            continue;
        shown++;
        add_bullet(doc, bullets, group->same_message ? r->target : ap_arena_printf(doc->arena, "%s: %s", r->target, r->message));
    }
    if (shown < group->count)
        add_bullet(doc, bullets, ap_arena_printf(doc->arena, "and %zu more", group->count - shown));
    ap_doc_bullets(doc, bullets);
}

/* "Not feasible, 33: policy eu-only [AP6010]" */
static const char *group_title(ap_arena *arena, const reason_group *group)
{
    const char *policy = group->first->policy, *message = group->same_message ? group->first->message : NULL;
    return ap_arena_printf(arena, "Not feasible, %zu: %s%s%s%s%s[%s]", group->count, policy ? "policy " : "", policy ? policy : "",
                           policy && message ? ": " : policy ? " " : "", message ? message : "", message ? " " : "", group->first->rule);
}

static void add_groups(ap_doc *doc, const ap_search *search, bool all)
{
    reason_group *groups;
    size_t count = group_by_reason(search, doc->arena, &groups);
    for (size_t g = 0; g < count; g++) {
        const reason_group *group = &groups[g];
        size_t most = all ? group->count : group->same_message ? MOST_NAMED : MOST_LISTED;
        ap_doc_heading(doc, group_title(doc->arena, group));
        add_named(doc, search, group, most);
    }
    if (!all)
        ap_doc_paragraph(doc, "accelpick explain ID says more about a reason; every machine: --why-not -n 0, or --json.");
}

void ap_view_rejections(ap_doc *doc, const ap_search *search, const ap_view_options *options)
{
    if (search->rejected_count == 0)
        return;
    if (search->result_count == 0)
        add_nearest(doc, search);
    if (options->why_not)
        add_groups(doc, search, options->limit == 0);
    else if (search->result_count == 0)
        add_policies(doc, search);
    else
        ap_doc_paragraph(doc, "%zu machines were not feasible (see --why-not).", search->rejected_count);
}
