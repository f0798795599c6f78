/* Rule documents: field tables, compilation, order, running. */
#include "rules/ruleset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "io/file.h"
#include "io/yaml.h"
#include "rules/cel.h"

#define MAX_FILE_BYTES ((size_t)4 << 20)
#define MAX_RULES      5000 /* in one file: ids are compared with one another */
#define MAX_FAULTS     500  /* nobody reads more */

const char *const ap_rule_action_names[] = {"reject", "warn", "note", "prefer", "assume", NULL};
const char *const ap_rule_scope_names[] = {"recommend", "estimate", "check", NULL};
const char *const ap_rule_mode_names[] = {"audit", "enforce", NULL};
static const char *const severity_names[] = {"note", "warning", "error", NULL};

/* --- field tables --- */

#define EXAMPLE(key, field) key, .offset = offsetof(ap_rule_example, field)
static const ap_field example_fields[] = {
    {EXAMPLE("facts", facts), .type = AP_T_TEXT_MAP, .flags = AP_F_REQUIRED, .doc = "facts and their values; others are unknown"},
    {EXAMPLE("fires", fires), .type = AP_T_BOOL, .flags = AP_F_REQUIRED, .doc = "does the rule fire on them"},
};
static const ap_object example_object = {"example", "facts on which a rule is tried", sizeof(ap_rule_example), AP_FIELDS_OF(example_fields), NULL};

#define RULE(key, field) key, .offset = offsetof(ap_rule, field)
static const ap_field rule_fields[] = {
    {RULE("id", id), .type = AP_T_TEXT, .flags = AP_F_REQUIRED, .doc = "AP and four digits, or an organisation's own name"},
    {RULE("title", title), .type = AP_T_TEXT, .flags = AP_F_REQUIRED, .doc = "one line"},
    {RULE("when", when), .type = AP_T_TEXT, .flags = AP_F_REQUIRED, .doc = "expression over facts that is true or false"},
    {RULE("then", then), .type = AP_T_TEXT, .flags = AP_F_REQUIRED, .doc = "reject, warn, note, prefer(WEIGHT) or assume(FIELD, VALUE)"},
    {RULE("because", because), .type = AP_T_TEXT, .flags = AP_F_REQUIRED, .doc = "sentence with facts in braces"},
    {RULE("fix", fix), .type = AP_T_TEXT, .doc = "what to do about it"},
    {RULE("source", source), .type = AP_T_TEXT, .doc = "where this is known from; the file's source when absent"},
    {RULE("scope", scope), .type = AP_T_TEXTS, .doc = "recommend, estimate, check; absent = all"},
    {RULE("severity", severity), .type = AP_T_ENUM, .names = severity_names, .doc = "note, warning or error; absent: as the action has it"},
    {RULE("priority", priority), .type = AP_T_INT, .min = -1000, .max = 1000, .doc = "higher ones come first; 0 when absent"},
    {RULE("examples", examples), .type = AP_T_OBJECTS, .object = &example_object, .doc = "at least one that fires and one that does not"},
    {RULE(NULL, pos), .type = AP_T_POS},
    {RULE(NULL, when_pos), .type = AP_T_POS},
};
const ap_object ap_rule_object = {"rule", "a rule over facts", sizeof(ap_rule), AP_FIELDS_OF(rule_fields), NULL};

#define FILE_FIELD(key, field) key, .offset = offsetof(ap_rule_file, field)
static const ap_field file_fields[] = {
    {FILE_FIELD("policy", policy), .type = AP_T_ID, .doc = "name of a policy; absent: general knowledge"},
    {FILE_FIELD("title", title), .type = AP_T_TEXT, .doc = "what the policy is for"},
    {FILE_FIELD("mode", mode), .type = AP_T_ENUM, .names = ap_rule_mode_names, .doc = "audit: report only; enforce: a broken rule fails the run"},
    {FILE_FIELD("source", source), .type = AP_T_TEXT, .doc = "source of rules that name none"},
    {FILE_FIELD("rules", rules), .type = AP_T_OBJECTS, .object = &ap_rule_object, .flags = AP_F_REQUIRED, .doc = "the rules"},
    {FILE_FIELD(NULL, pos), .type = AP_T_POS},
};
const ap_object ap_rule_file_object = {"rule file", "rules of knowledge or of a policy", sizeof(ap_rule_file), AP_FIELDS_OF(file_fields), NULL};

/* --- compiling --- */

typedef struct rule_compiler {
    ap_ruleset *set;
    const ap_rule *rule;
    const ap_node *node; /* the rule as written; NULL when it comes from the program's image */
    const ap_rule_source *source;
    ap_diags *diags;
    bool failed;
} rule_compiler;

/* At the value of `key`, where that is known. */
static ap_diag *complain(rule_compiler *c, const char *key, int code, const char *what, const char *detail)
{
    const ap_node *value = c->node ? ap_node_get(c->node, key) : NULL;
    c->failed = true;
    return ap_diag_add(c->diags, AP_ERROR, code, value ? value->pos : c->rule->pos, "rule %s: %s%s%s", c->rule->id ? c->rule->id : "?", what,
                       detail ? " " : "", detail ? detail : "");
}

/* "prefer(0.2)" -> word "prefer", inside "0.2" (NULL without parentheses). */
static bool split_call(ap_arena *arena, const char *text, const char **ret_word, const char **ret_inside)
{
    const char *open = strchr(text, '(');
    *ret_inside = NULL;
    *ret_word = text;
    if (!open)
        return true;
    size_t len = strlen(text);
    if (text[len - 1] != ')')
        return false;
    *ret_word = ap_arena_strndup(arena, text, (size_t)(open - text));
    *ret_inside = ap_arena_strndup(arena, open + 1, len - (size_t)(open - text) - 2);
    return true;
}

static void compile_assume(rule_compiler *c, ap_rule_item *item, const char *inside)
{
    const char *comma = strchr(inside, ',');
    if (!comma || comma == inside) {
        complain(c, "then", 611, "assume needs a field and a value, as in assume(precision, bf16)", NULL);
        return;
    }
    item->assume_field = ap_arena_strndup(c->set->arena, inside, (size_t)(comma - inside));
    item->assume_value = ap_arena_strdup(c->set->arena, comma + 1 + strspn(comma + 1, " "));
}

static void compile_action(rule_compiler *c, ap_rule_item *item)
{
    const char *word, *inside;
    bool known = false;
    if (split_call(c->set->arena, c->rule->then, &word, &inside)) {
        for (int i = 0; ap_rule_action_names[i] && !known; i++) {
            known = strcmp(ap_rule_action_names[i], word) == 0;
            item->action = (ap_rule_action)i;
        }
    }
    bool needs_inside = item->action == AP_RULE_PREFER || item->action == AP_RULE_ASSUME;
    if (!known || needs_inside != (inside != NULL)) {
        complain(c, "then", 611, "unknown action", c->rule->then)->hint = "reject, warn, note, prefer(WEIGHT) or assume(FIELD, VALUE)";
        return;
    }
    if (item->action == AP_RULE_ASSUME)
        compile_assume(c, item, inside);
    if (item->action == AP_RULE_PREFER && (!ap_num_parse(inside, &item->weight) || fabs(item->weight) > 0.5))
        complain(c, "then", 611, "the weight of prefer must be a number from -0.5 to 0.5, not", inside);
}

static void compile_scopes(rule_compiler *c, ap_rule_item *item)
{
    for (size_t i = 0; i < c->rule->scope.count; i++) {
        unsigned found = 0;
        for (unsigned s = 0; ap_rule_scope_names[s]; s++)
            if (strcmp(ap_rule_scope_names[s], c->rule->scope.items[i]) == 0)
                found = 1u << s;
        if (!found)
            complain(c, "scope", 612, "unknown scope", c->rule->scope.items[i])->hint = "recommend, estimate or check";
        item->scopes |= found;
    }
    if (c->rule->scope.count == 0)
        item->scopes = AP_SCOPE_ALL;
}

static const ap_fact *find_fact(const ap_fact_schema *schema, const char *path, size_t len)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strncmp(schema->facts[i].path, path, len) == 0 && schema->facts[i].path[len] == '\0')
            return &schema->facts[i];
    return NULL;
}

static void check_template(rule_compiler *c, const char *key, const char *text)
{
    for (const char *open = text ? strchr(text, '{') : NULL; open; open = strchr(open + 1, '{')) {
        const char *close = strchr(open, '}');
        size_t len = close ? (size_t)(close - open - 1) : 0;
        const ap_fact *fact = close ? find_fact(c->set->schema, open + 1, len) : NULL;
        if (fact) {
            c->set->used[fact - c->set->schema->facts] = 1;
            continue;
        }
        const char *path = ap_arena_strndup(c->set->arena, open + 1, close ? len : strlen(open + 1));
        ap_suggest suggest;
        ap_suggest_init(&suggest, path);
        for (size_t i = 0; i < c->set->schema->count; i++)
            ap_suggest_offer(&suggest, c->set->schema->facts[i].path);
        complain(c, key, 602, "its text names an unknown fact", path)->hint = ap_suggest_text(&suggest, c->set->arena);
    }
}

/* Compiles as if the expression stood alone, then moves the complaint to where it stands in the file. */
static void compile_when(rule_compiler *c, ap_rule_item *item)
{
    const ap_node *value = c->node ? ap_node_get(c->node, "when") : NULL;
    ap_pos pos = c->rule->when_pos.line ? c->rule->when_pos : c->rule->pos;
    size_t before = c->diags->count;
    if (ap_cel_compile(c->rule->when, value ? (ap_pos){value->pos.file, 1, 1} : pos, c->set->schema, c->set->arena, c->diags,
                       &item->when) != AP_OK) {
        c->failed = true;
        if (value && c->diags->count > before) {
            ap_diag *diag = &c->diags->items[c->diags->count - 1];
            ap_rule_source source = {c->source->text, c->source->len, value->pos};
            diag->pos = ap_rule_place(&source, c->rule->when, diag->pos);
            diag->source_line = NULL; /* the file's line is attached later */
        }
        return;
    }
    if (item->when->kind != AP_CEL_BOOL && item->when->kind != -1)
        complain(c, "when", AP_CEL_TYPE_MISMATCH, "when: must be true or false, but is of type",
                 ap_cel_kind_text((ap_cel_kind)item->when->kind));
    item->phase = item->when->phase;
}

/* A rule whose document has faults is looked through for the others, but left out; its required texts may be missing. */
static bool is_complete(const ap_rule *rule)
{
    return rule->id && rule->title && rule->when && rule->then && rule->because;
}

static const ap_rule *find_same_id(const ap_ruleset *set, const ap_rule_file *file, const ap_rule *rule)
{
    const ap_rule_item *item = ap_ruleset_find(set, rule->id);
    if (item)
        return item->rule;
    for (const ap_rule *other = file->rules.items; rule->id && other < rule; other++)
        if (other->id && strcmp(other->id, rule->id) == 0)
            return other; /* faulty, so it is not in the set */
    return NULL;
}

static void compile_parts(rule_compiler *c, ap_rule_item *item)
{
    static const ap_severity severities[] = {AP_ERROR, AP_WARNING, AP_NOTE, AP_NOTE, AP_NOTE};
    const ap_rule *rule = c->rule, *other = find_same_id(c->set, item->file, rule);
    if (other)
        complain(c, "id", 613, "there is another rule with this id:", other->title);
    if (rule->then)
        compile_action(c, item);
    compile_scopes(c, item);
    item->severity = rule->severity >= 0 ? (ap_severity)rule->severity : severities[item->action];
    check_template(c, "because", rule->because);
    check_template(c, "fix", rule->fix);
    if (rule->when)
        compile_when(c, item);
}

static bool compile_rule(rule_compiler *c, const ap_rule_file *file)
{
    const ap_rule *rule = c->rule;
    ap_ruleset *set = c->set;
    ap_rule_item item = {.rule = rule, .file = file, .priority = ap_or(rule->priority, 0)};
    item.policy = file->policy != NULL;
    item.enforce = item.policy && file->mode != AP_MODE_AUDIT;
    compile_parts(c, &item);
    if (c->failed || !is_complete(rule))
        return false;
    for (size_t i = 0; i < set->schema->count; i++)
        set->used[i] |= item.when->used[i];
    *AP_PUSH(set->arena, set->items, set->count, set->capacity) = item;
    return true;
}

static int compare_items(const void *a, const void *b)
{
    const ap_rule_item *x = a, *y = b;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return strcmp(x->rule->id, y->rule->id);
}

ap_ruleset *ap_ruleset_new(ap_arena *arena, const ap_fact_schema *schema)
{
    ap_ruleset *set = AP_NEW(arena, ap_ruleset);
    set->arena = arena;
    set->schema = schema;
    set->used = AP_NEW_ARRAY(arena, unsigned char, schema->count);
    return set;
}

typedef struct written_rules {
    const ap_node *list; /* NULL when the rules come from the program's image */
    ap_rule_source source;
} written_rules;

static ap_status add_rules(ap_ruleset *set, const ap_rule_file *file, const written_rules *written, ap_diags *diags)
{
    bool ok = true;
    if (file->rules.count > MAX_RULES) {
        ap_diag_add(diags, AP_ERROR, AP_CEL_LIMIT, file->pos, "more than %d rules in one file", MAX_RULES);
        return AP_BAD_INPUT;
    }
    for (size_t i = 0; i < file->rules.count && diags->count < MAX_FAULTS; i++) {
        rule_compiler c = {.set = set, .rule = &file->rules.items[i], .source = &written->source, .diags = diags};
        c.node = written->list ? written->list->as.list.items[i] : NULL;
        ok = compile_rule(&c, file) && ok;
    }
    if (set->count)
        qsort(set->items, set->count, sizeof *set->items, compare_items);
    return ok && diags->count < MAX_FAULTS ? AP_OK : AP_BAD_INPUT;
}

ap_status ap_ruleset_add(ap_ruleset *set, const ap_rule_file *file, ap_diags *diags)
{
    return add_rules(set, file, &(written_rules){.list = NULL}, diags);
}

/* --- files --- */

/* The rules as written, when each became one of the file's rules. */
static const ap_node *list_of_rules(const ap_node *root, const ap_rule_file *file)
{
    const ap_node *rules = root->kind == AP_NODE_MAP ? ap_node_get(root, "rules") : NULL;
    return rules && rules->kind == AP_NODE_LIST && rules->as.list.count == file->rules.count ? rules : NULL;
}

/* Expressions are located where they stand, not where their rule begins. */
static void place_expressions(const ap_node *rules, ap_rule_file *file)
{
    for (size_t i = 0; i < file->rules.count; i++) {
        const ap_node *when = ap_node_get(rules->as.list.items[i], "when");
        if (!when)
            continue;
        file->rules.items[i].when_pos = when->pos;
        file->rules.items[i].when_pos.col += when->quoted ? 1 : 0;
    }
}

ap_status ap_ruleset_load_text(ap_ruleset *set, const char *name, const char *text, size_t len, ap_diags *diags,
                               const ap_rule_file **ret_file)
{
    ap_docs docs;
    if (ret_file)
        *ret_file = NULL;
    ap_status status = ap_yaml_parse(text, len, name, AP_YAML_STRICT, MAX_FILE_BYTES, set->arena, diags, &docs);
    if (status != AP_OK || docs.count == 0)
        return status;
    ap_rule_file *file = AP_NEW(set->arena, ap_rule_file);
    status = ap_schema_load(&ap_rule_file_object, docs.items[0], file, set->arena, diags);
    /* Faults of the document and of its expressions are reported together. */
    written_rules written = {list_of_rules(docs.items[0], file), {text, len, {0}}};
    if (written.list)
        place_expressions(written.list, file);
    if (written.list || status == AP_OK) {
        ap_status rules_status = add_rules(set, file, &written, diags);
        status = status == AP_OK ? rules_status : status;
    }
    ap_diags_attach_source(diags, name, text, len);
    if (ret_file)
        *ret_file = file;
    return status;
}

ap_status ap_ruleset_load(ap_ruleset *set, const char *path, ap_diags *diags, const ap_rule_file **ret_file)
{
    char *text;
    size_t len;
    ap_status status = ap_file_read(path, MAX_FILE_BYTES, set->arena, diags, &text, &len);
    return status == AP_OK ? ap_ruleset_load_text(set, path, text, len, diags, ret_file) : status;
}

void ap_ruleset_only(const ap_ruleset *set, ap_rule_action action, ap_ruleset *ret)
{
    *ret = *set;
    ret->items = AP_NEW_ARRAY(set->arena, ap_rule_item, set->count + 1);
    ret->count = ret->capacity = 0;
    ret->used = AP_NEW_ARRAY(set->arena, unsigned char, set->schema->count + 1);
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].action != action)
            continue;
        ret->items[ret->count++] = set->items[i];
        for (size_t k = 0; k < set->schema->count; k++)
            ret->used[k] |= set->items[i].when->used[k];
    }
}

const ap_rule_item *ap_ruleset_find(const ap_ruleset *set, const char *id)
{
    for (size_t i = 0; id && i < set->count; i++)
        if (strcmp(set->items[i].rule->id, id) == 0)
            return &set->items[i];
    return NULL;
}

/* --- running --- */

size_t ap_ruleset_run(const ap_ruleset *set, ap_rule_query query, const ap_cel_value *values, ap_arena *scratch,
                      ap_rule_hit *hits)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        const ap_rule_item *item = &set->items[i];
        if (item->phase != query.phase || !(item->scopes & query.scopes))
            continue;
        ap_cel_value value = ap_cel_eval(item->when, values, NULL, scratch);
        if (value.kind == AP_CEL_BOOL) {
            if (value.as.boolean)
                hits[count++] = (ap_rule_hit){.item = item};
        } else if (item->policy || item->action == AP_RULE_REJECT || item->action == AP_RULE_WARN) {
            bool unknown = value.kind == AP_CEL_UNKNOWN_FACT;
            hits[count++] = (ap_rule_hit){.item = item,
                                          .undecided = true,
                                          .unknown_fact = unknown ? value.as.error : NULL,
                                          .error = value.kind == AP_CEL_ERROR ? value.as.error : NULL};
        }
    }
    return count;
}
