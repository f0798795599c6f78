/* Views of rules: `list rules`, `show rules ID`, and the rule part of `explain ID`. */
#ifndef AP_VIEW_RULES_H
#define AP_VIEW_RULES_H

#include "catalog/catalog.h"
#include "report/doc.h"
#include "rules/ruleset.h"

typedef struct ap_rule_view {
    const char *kind;       /* of the document: "rules", "rule", "explain" */
    const char *name_glob;  /* list: only ids that match; NULL = all */
    size_t limit;           /* rows of the table, 0 = all */
} ap_rule_view;

ap_doc *ap_view_rule_list(ap_arena *arena, const ap_catalog *catalog, const ap_ruleset *set, const ap_rule_view *view);
/* One rule with text, source, examples and the facts it looks at. */
ap_doc *ap_view_rule(ap_arena *arena, const ap_catalog *catalog, const ap_ruleset *set, const ap_rule_item *item,
                     const ap_rule_view *view);
/* The most similar ids, as "did you mean …", or NULL. */
const char *ap_view_rule_suggest(ap_arena *arena, const ap_ruleset *set, const char *wanted);

#endif
