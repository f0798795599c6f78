/* Rules and policies: documents in YAML, compiled against a fact schema, run over facts, with reasons kept.
 *
 * A rule says: when an expression over facts holds, then do something, because of a sentence with the numbers in it.
 * Rules come in files (ap_rule_file): knowledge of the project, or a policy of an organisation (`policy:` names it,
 * `mode: audit` reports only, `mode: enforce` is the default).
 *
 * Order: by phase of the facts a rule names, then priority (high first), then id. Rules do not stop one another; what
 * they ask for is settled by the caller as documented in docs/rules.md: any reject rejects, prefer gives reasons for or against, of
 * several assume for one field the first in this order wins.
 *
 * A rule whose expression meets a fact that is unknown is "undecided": it is reported as such and never counts as passed.
 * Ownership: everything lives in the set's arena; the fact schema and the files added must outlive the set. */
#ifndef AP_RULES_RULESET_H
#define AP_RULES_RULESET_H

#include "rules/rules.h"
#include "schema/schema.h"

enum { AP_SCOPE_RECOMMEND = 1, AP_SCOPE_ESTIMATE = 2, AP_SCOPE_CHECK = 4, AP_SCOPE_ALL = 7 };
typedef enum ap_rule_action { AP_RULE_REJECT, AP_RULE_WARN, AP_RULE_NOTE, AP_RULE_PREFER, AP_RULE_ASSUME } ap_rule_action;
typedef enum ap_rule_mode { AP_MODE_AUDIT, AP_MODE_ENFORCE } ap_rule_mode;

/* --- as written --- */

typedef struct ap_rule_example {
    ap_text_map facts;  /* path -> value as text; a list is words separated by commas. Facts not named are unknown */
    signed char fires;
} ap_rule_example;

typedef struct ap_rule {
    const char *id, *title, *when, *then, *because, *fix, *source;
    ap_strings scope;   /* recommend estimate check; empty = all */
    int severity;       /* ap_severity; -1: error for reject, warning for warn, else note */
    double priority;    /* NaN = 0 */
    AP_LIST(ap_rule_example) examples;
    ap_pos pos, when_pos;
} ap_rule;

typedef struct ap_rule_file {
    const char *policy; /* name of the policy, NULL: knowledge */
    const char *title;
    int mode;           /* ap_rule_mode, -1 = enforce */
    const char *source; /* of rules that name none */
    AP_LIST(ap_rule) rules;
    ap_pos pos;
} ap_rule_file;

extern const ap_object ap_rule_object, ap_rule_file_object;

/* --- compiled --- */

typedef struct ap_rule_item {
    const ap_rule *rule;
    const ap_rule_file *file;
    const ap_cel *when;
    ap_rule_action action;
    double weight;            /* prefer */
    const char *assume_field, *assume_value;
    ap_severity severity;
    unsigned scopes;          /* AP_SCOPE_… */
    int phase;
    double priority;
    bool policy, enforce;     /* enforce: a policy that is not in audit mode */
} ap_rule_item;

typedef struct ap_ruleset {
    ap_arena *arena;
    const ap_fact_schema *schema;
    ap_rule_item *items;      /* in the order above */
    size_t count, capacity;
    unsigned char *used;      /* facts that any rule or its text needs: for ap_facts_bind */
} ap_ruleset;

/* The text of a file and where a value of it begins. */
typedef struct ap_rule_source {
    const char *text;
    size_t len;
    ap_pos start;
} ap_rule_source;
/* Place in the file of what stands at line:column `inside` the expression that begins at source->start. */
ap_pos ap_rule_place(const ap_rule_source *source, const char *expr, ap_pos inside);

ap_ruleset *ap_ruleset_new(ap_arena *arena, const ap_fact_schema *schema);
/* Compiles the rules of a file into the set. Every faulty rule is reported (codes 06xx) and left out: AP_BAD_INPUT. */
AP_CHECKED ap_status ap_ruleset_add(ap_ruleset *set, const ap_rule_file *file, ap_diags *diags);
/* Reads a YAML file of rules or of a policy and adds it. ret_file may be NULL. */
AP_CHECKED ap_status ap_ruleset_load(ap_ruleset *set, const char *path, ap_diags *diags, const ap_rule_file **ret_file);
/* The same from text in memory (which must outlive nothing). */
AP_CHECKED ap_status ap_ruleset_load_text(ap_ruleset *set, const char *name, const char *text, size_t len, ap_diags *diags,
                                          const ap_rule_file **ret_file);
/* The same rules, but only those with this action; facts that only the others need are not among its `used`. */
void ap_ruleset_only(const ap_ruleset *set, ap_rule_action action, ap_ruleset *ret);
const ap_rule_item *ap_ruleset_find(const ap_ruleset *set, const char *id);

/* --- running --- */

typedef struct ap_rule_hit {
    const ap_rule_item *item;
    bool undecided;
    const char *unknown_fact;  /* undecided: path of the fact that is missing, or NULL: */
    const char *error;         /* an error of evaluation; in the scratch arena */
} ap_rule_hit;

typedef struct ap_rule_query {
    unsigned scopes;           /* run rules that have any of these scopes */
    int phase;                 /* and exactly this phase */
} ap_rule_query;

/* Appends the rules that fire or are undecided to hits (room for set->count); returns how many. `values` as bound by
 * ap_facts_bind. An undecided rule that is no policy is left out unless it would reject or warn. */
size_t ap_ruleset_run(const ap_ruleset *set, ap_rule_query query, const ap_cel_value *values, ap_arena *scratch,
                      ap_rule_hit *hits);

/* The rule's because: (or fix:) with facts put in: "{chip.memory_gib}" -> "24 GiB". */
const char *ap_rule_message(const ap_ruleset *set, const char *text, const ap_cel_value *values, ap_arena *arena);
/* "chip.memory_gib is unknown", or what went wrong in an undecided rule. */
const char *ap_rule_why_undecided(const ap_rule_hit *hit, ap_arena *arena);
/* What the rule looked at: the facts of its expression with their values. */
typedef struct ap_rule_evidence {
    const ap_fact *fact;
    const char *text;          /* with unit; "unknown" */
} ap_rule_evidence;
size_t ap_rule_evidence_of(const ap_ruleset *set, const ap_rule_item *item, const ap_cel_value *values, ap_arena *arena,
                           const ap_rule_evidence **ret_items);
const char *ap_fact_format(const ap_fact *fact, const ap_cel_value *value, ap_arena *arena);

/* --- the rules' own examples --- */

typedef struct ap_rule_test {
    const ap_rule_item *item;
    size_t example;            /* index; SIZE_MAX: about the rule as a whole */
    bool passed;
    const char *message;       /* what went wrong */
} ap_rule_test;
/* Runs every example; a rule that lacks one that fires or one that does not is a failed test of its own. */
size_t ap_ruleset_test(const ap_ruleset *set, ap_arena *arena, const ap_rule_test **ret_tests);

extern const char *const ap_rule_action_names[], *const ap_rule_scope_names[], *const ap_rule_mode_names[];

#endif
