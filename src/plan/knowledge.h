/* The rules that apply to a run: the project's knowledge (data/rules, compiled into the program) and the policies that
 * the user names. Rules are kept as text in the image and compiled here, on the first use, in a millisecond or two. */
#ifndef AP_PLAN_KNOWLEDGE_H
#define AP_PLAN_KNOWLEDGE_H

#include "plan/facts.h"
#include "rules/ruleset.h"

typedef struct ap_knowledge_request {
    const char *data_dir;   /* --data: rules from DIR/rules and packs from DIR/policies; NULL = those compiled in */
    ap_strings policies;    /* files, or names of packs of data/policies ("eu-only") */
    const ap_node *config;  /* `policies:` of the configuration: such a name or file, or a list of them; may be NULL */
    bool without_knowledge; /* policies only */
} ap_knowledge_request;

/* AP_BAD_INPUT: faulty rules, all reported. AP_IO: no such file. AP_USAGE: neither a file nor a known pack. */
AP_CHECKED ap_status ap_knowledge_load(const ap_knowledge_request *request, ap_arena *arena, ap_diags *diags,
                                       ap_ruleset **ret_set);

/* The files compiled in: section "rules" or "policies". */
typedef AP_LIST(ap_rule_file) ap_rule_files;
ap_rule_files ap_knowledge_files(ap_arena *arena, const char *section);

#endif
