/* Slurm batch scripts: directives as sbatch reads them (up to the first command, ` #` ends a line, the last one wins).
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "jobs/reader.h"

static const char *const long_names[] = {"account",
                                         "acctg-freq",
                                         "array",
                                         "batch",
                                         "bb",
                                         "bbf",
                                         "begin",
                                         "bell",
                                         "chdir",
                                         "cluster-constraint",
                                         "clusters",
                                         "comment",
                                         "constraint",
                                         "container",
                                         "contiguous",
                                         "core-spec",
                                         "cores-per-socket",
                                         "cpu-freq",
                                         "cpus-per-gpu",
                                         "cpus-per-task",
                                         "deadline",
                                         "delay-boot",
                                         "dependency",
                                         "distribution",
                                         "error",
                                         "exclude",
                                         "exclusive",
                                         "export",
                                         "export-file",
                                         "extra-node-info",
                                         "get-user-env",
                                         "gid",
                                         "gpu-bind",
                                         "gpu-freq",
                                         "gpus",
                                         "gpus-per-node",
                                         "gpus-per-socket",
                                         "gpus-per-task",
                                         "gres",
                                         "gres-flags",
                                         "hint",
                                         "hold",
                                         "ignore-pbs",
                                         "input",
                                         "job-name",
                                         "kill-on-invalid-dep",
                                         "licenses",
                                         "mail-type",
                                         "mail-user",
                                         "mcs-label",
                                         "mem",
                                         "mem-bind",
                                         "mem-per-cpu",
                                         "mem-per-gpu",
                                         "mincpus",
                                         "network",
                                         "nice",
                                         "no-kill",
                                         "no-requeue",
                                         "nodefile",
                                         "nodelist",
                                         "nodes",
                                         "ntasks",
                                         "ntasks-per-core",
                                         "ntasks-per-gpu",
                                         "ntasks-per-node",
                                         "ntasks-per-socket",
                                         "open-mode",
                                         "output",
                                         "overcommit",
                                         "oversubscribe",
                                         "parsable",
                                         "partition",
                                         "power",
                                         "prefer",
                                         "priority",
                                         "profile",
                                         "propagate",
                                         "qos",
                                         "quiet",
                                         "reboot",
                                         "requeue",
                                         "reservation",
                                         "signal",
                                         "sockets-per-node",
                                         "spread-job",
                                         "switches",
                                         "test-only",
                                         "thread-spec",
                                         "threads-per-core",
                                         "time",
                                         "time-min",
                                         "tmp",
                                         "tres-per-task",
                                         "uid",
                                         "use-min-nodes",
                                         "verbose",
                                         "wait",
                                         "wait-all-nodes",
                                         "wckey",
                                         "wrap",
                                         "extra",
                                         "stepmgr",
                                         "oom-kill-step",
                                         "resv-ports",
                                         "segment",
                                         "sbcast",
                                         "consolidate-segments",
                                         NULL};
static const struct {
    char letter;
    const char *name;
} short_names[] = {
    {'A', "account"},       {'a', "array"},      {'B', "extra-node-info"}, {'b', "begin"},        {'C', "constraint"},
    {'c', "cpus-per-task"}, {'D', "chdir"},      {'d', "dependency"},      {'e', "error"},        {'F', "nodefile"},
    {'G', "gpus"},          {'H', "hold"},       {'I', "immediate"},       {'i', "input"},        {'J', "job-name"},
    {'k', "no-kill"},       {'L', "licenses"},   {'M', "clusters"},        {'m', "distribution"}, {'N', "nodes"},
    {'n', "ntasks"},        {'O', "overcommit"}, {'o', "output"},          {'p', "partition"},    {'Q', "quiet"},
    {'q', "qos"},           {'S', "core-spec"},  {'s', "oversubscribe"},   {'t', "time"},         {'v', "verbose"},
    {'W', "wait"},          {'w', "nodelist"},   {'x', "exclude"}};
static const char *const bare_names[] = {
    "exclusive", "requeue",    "no-requeue", "hold",         "contiguous",          "overcommit", "oversubscribe",
    "verbose",   "quiet",      "parsable",   "wait",         "spread-job",          "reboot",     "use-min-nodes",
    "no-kill",   "ignore-pbs", "test-only",  "get-user-env", "kill-on-invalid-dep", "bell",       "nice",
    NULL};

static bool is_one_of(const char *name, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* "a100:4", "4", "a100", each behind `gpu:` or alone. Other resources (tmpdir:300) say nothing here. */
static void take_gpus(ap_jobreader *r, ap_jnum *count, const char *text, bool gres, ap_pos pos)
{
    char piece[128];
    while (text && *text) {
        size_t len = strcspn(text, ",");
        size_t keep = len < sizeof piece - 1 ? len : sizeof piece - 1;
        memcpy(piece, text, keep);
        piece[keep] = 0;
        text += len + (text[len] == ',');
        char *rest = piece;
        if (strncmp(rest, "gres/", 5) == 0)
            rest += 5;
        if (strncmp(rest, "nvidia.com/gpu:", 15) == 0)
            rest += 15;
        else if (gres) {
            if (strncasecmp(rest, "gpu", 3) != 0 || (rest[3] && rest[3] != ':' && rest[3] != '='))
                continue;
            rest += rest[3] ? 4 : 3;
        }
        char *paren = strchr(rest, '(');
        if (paren)
            *paren = 0;
        char *colon = strrchr(rest, ':');
        const char *number = colon ? colon + 1 : rest;
        double value;
        bool counted = ap_foreign_num(number, &value);
        if (counted && colon)
            *colon = 0;
        *count = (ap_jnum){counted ? value : ap_foreign_unknown(rest) ? AP_UNKNOWN : 1, pos};
        if (*rest && (!counted || colon) && !ap_foreign_unknown(rest)) {
            r->facts->chips.count = 0;
            r->facts->chips.provider = "slurm";
            ap_jobfacts_add_chip(r->facts, ap_arena_strdup(r->arena, rest), pos);
        }
    }
}

/* a100|a40, [a100|a40], gpu_mem:80gb, a100&infiniband: names that may be chips, told apart later by the catalog. */
static void take_constraint(ap_jobreader *r, const char *text, ap_pos pos)
{
    const char *p = text;
    while (*p) {
        size_t len = strcspn(p, "|&[]()*, ");
        if (len > 0) {
            const char *name = ap_arena_strndup(r->arena, p, len);
            if (strcasecmp(name, "infiniband") == 0 || strcasecmp(name, "ib") == 0 || ap_contains_nocase(name, "edr") ||
                ap_contains_nocase(name, "hdr") || ap_contains_nocase(name, "ndr") ||
                ap_contains_nocase(name, "infiniband"))
                ap_set_num(&r->facts->n.fast_network, 1, pos);
            ap_jobfacts_add_feature(r->facts, name, pos);
        }
        p += len;
        p += *p != 0;
    }
}

static double array_tasks(const char *text)
{
    double total = 0;
    while (*text) {
        double first, last, step = 1;
        const char *end;
        if (!ap_num_parse_prefix(text, &first, &end))
            return AP_UNKNOWN;
        last = first;
        if (*end == '-' && !ap_num_parse_prefix(end + 1, &last, &end))
            return AP_UNKNOWN;
        if (*end == ':' && !ap_num_parse_prefix(end + 1, &step, &end))
            return AP_UNKNOWN;
        total += floor((last - first) / fmax(step, 1)) + 1;
        if (*end == '%')
            return total;
        text = *end == ',' ? end + 1 : end;
        if (*text && !isdigit((unsigned char)*text))
            return AP_UNKNOWN;
    }
    return total;
}

static void set_last(ap_jnum *fact, ap_foreign_parser parse, const char *value, ap_pos pos)
{
    *fact = (ap_jnum){AP_UNKNOWN, {0}};
    ap_take_with(fact, parse, value, pos);
}

static bool node_count(const char *text, double *ret)
{
    const char *dash = strchr(text, '-');
    if (dash && dash > text)
        return ap_foreign_num(dash + 1, ret);
    return ap_foreign_num(text, ret);
}

void ap_slurm_option(ap_jobreader *r, const char *name, const char *value, ap_pos pos)
{
    ap_jobnums *n = &r->facts->n;
    const struct {
        const char *name;
        ap_jnum *fact;
        ap_foreign_parser parse;
    } numbers[] = {{"nodes", &n->nodes, node_count},
                   {"ntasks", &n->tasks, ap_foreign_num},
                   {"ntasks-per-node", &n->tasks_per_node, ap_foreign_num},
                   {"cpus-per-task", &n->cpus_per_task, ap_foreign_num},
                   {"cpus-per-gpu", &n->cpus_per_chip, ap_foreign_num},
                   {"mem", &n->memory_bytes, ap_slurm_memory},
                   {"mem-per-cpu", &n->memory_per_cpu_bytes, ap_slurm_memory},
                   {"mem-per-gpu", &n->memory_per_chip_bytes, ap_slurm_memory}};
    if (value && ap_foreign_placeholder(value)) {
        ap_jobreader_find(r, AP_FAULT_PLACEHOLDER_LEFT, pos, "--%s=%s is still to be filled in", name, value);
        return;
    }
    if (value && strchr(value, '$'))
        ap_jobreader_find(r, AP_FAULT_UNRESOLVED_VALUE, pos,
                          "--%s=%s: sbatch does not expand variables in #SBATCH lines", name, value)
            ->hint = "give the value on the sbatch command line instead";
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (value && strcmp(name, numbers[i].name) == 0)
            set_last(numbers[i].fact, numbers[i].parse, value, pos);
    if (strcmp(name, "gres") == 0)
        take_gpus(r, &n->chips_per_node, value, true, pos);
    else if (strcmp(name, "gpus") == 0)
        take_gpus(r, &n->chips_total, value, false, pos);
    else if (strcmp(name, "gpus-per-node") == 0)
        take_gpus(r, &n->chips_per_node, value, false, pos);
    else if (strcmp(name, "gpus-per-task") == 0)
        take_gpus(r, &n->chips_per_task, value, false, pos);
    else if (strcmp(name, "constraint") == 0 && value)
        take_constraint(r, value, pos);
    else if (strcmp(name, "partition") == 0)
        ap_take_text(r, &r->facts->t.partition, value, pos);
    else if (strcmp(name, "job-name") == 0)
        ap_take_text(r, &r->facts->t.name, value, pos);
    else if (strcmp(name, "exclusive") == 0)
        ap_set_num(&n->exclusive, 1, pos);
    else if (strcmp(name, "array") == 0 && value)
        ap_set_num(&n->array_tasks, array_tasks(value), pos);
    else if (strcmp(name, "time") == 0 && value) {
        double seconds;
        bool endless =
            strcasecmp(value, "UNLIMITED") == 0 || strcasecmp(value, "INFINITE") == 0 || strcmp(value, "0") == 0;
        if (endless)
            ap_set_num(&n->forever, 1, pos);
        else if (!strchr(value, '$') && !ap_slurm_time(value, &seconds))
            ap_jobreader_find(r, AP_FAULT_SYNTAX_ERROR, pos, "--time=%s is no time that sbatch reads", value)->hint =
                "minutes, minutes:seconds, hours:minutes:seconds, or days-hours[:minutes[:seconds]]";
        else
            set_last(&n->time_limit_s, ap_slurm_time, value, pos);
    }
}

static const char *short_name(char letter)
{
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
        if (short_names[i].letter == letter)
            return short_names[i].name;
    return NULL;
}

/* -job-name, -nodes=2: one dash too few. */
static bool is_long_with_one_dash(const char *word)
{
    for (size_t i = 0; long_names[i]; i++) {
        size_t len = strlen(long_names[i]);
        if (len > 2 && strncmp(word + 1, long_names[i], len) == 0 &&
            (!word[1 + len] || word[1 + len] == '=' || word[1 + len] == ' '))
            return true;
    }
    return false;
}

static void unknown_option(ap_jobreader *r, const char *word, ap_pos pos)
{
    ap_suggest suggest;
    const char *name = word;
    while (*name == '-')
        name++;
    name = ap_arena_strndup(r->arena, name, strcspn(name, "="));
    ap_suggest_init(&suggest, name);
    for (size_t i = 0; long_names[i]; i++)
        ap_suggest_offer(&suggest, long_names[i]);
    const char *hint = ap_suggest_text(&suggest, r->arena);
    ap_jobreader_find(r, AP_FAULT_SYNTAX_ERROR, pos, "sbatch does not know the option %s", word)->hint =
        hint ? hint : "long options begin with two dashes";
}

/* Options of one #SBATCH line. */
static void read_options(ap_jobreader *r, const ap_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i].text;
        ap_pos pos = ap_jobreader_pos(r, words->items[i].at);
        if (strncmp(word, "--", 2) == 0 && word[2]) {
            const char *equals = strchr(word, '=');
            const char *name =
                ap_arena_strndup(r->arena, word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2));
            if (!is_one_of(name, long_names)) {
                unknown_option(r, word, pos);
                continue;
            }
            const char *value = equals ? equals + 1 : NULL;
            if (!value && !is_one_of(name, bare_names) && i + 1 < words->count)
                value = words->items[++i].text;
            ap_slurm_option(r, name, value, pos);
        } else if (*word == '-' && word[1]) {
            const char *name = short_name(word[1]);
            if (!name || is_long_with_one_dash(word)) {
                unknown_option(r, word, pos);
                return;
            }
            const char *value = word[2] ? word + 2 + (word[2] == '=') : NULL;
            if (!value && !is_one_of(name, bare_names) && i + 1 < words->count)
                value = words->items[++i].text;
            ap_slurm_option(r, name, value, pos);
        } else {
            ap_jobreader_find(r, AP_FAULT_SYNTAX_ERROR, pos, "\"%s\" on an #SBATCH line is no option", word)->severity =
                AP_WARNING;
        }
    }
}

/* Words of a directive: quotes join, ` #` ends. */
static void read_directive(ap_jobreader *r, const char *text, size_t len, size_t at)
{
    ap_words words = {0};
    size_t i = 0;
    while (i < len) {
        while (i < len && isspace((unsigned char)text[i]))
            i++;
        if (i >= len || text[i] == '#')
            break;
        ap_sbuf word;
        ap_sbuf_init(&word, r->arena);
        size_t start = i;
        char quote = 0;
        for (; i < len && (quote || !isspace((unsigned char)text[i])); i++) {
            if (quote ? text[i] == quote : text[i] == '"' || text[i] == '\'')
                quote = quote ? 0 : text[i];
            else
                ap_sbuf_add_char(&word, text[i]);
        }
        *AP_PUSH(r->arena, words.items, words.count, words.capacity) =
            (ap_word){.text = word.text ? word.text : "", .at = at + start};
    }
    read_options(r, &words);
}

void ap_slurm_directives(ap_jobreader *r, const char *text, size_t len, size_t at)
{
    bool body = false, any = false,
         told = strstr(r->file->text, "<<") != NULL; /* here-documents are scripts of their own */
    for (size_t line = 0; line < len;) {
        const char *newline = memchr(text + line, '\n', len - line);
        size_t end = newline ? (size_t)(newline - text) : len, next = newline ? end + 1 : len;
        const char *start = text + line;
        size_t length = end - line;
        bool directive = length > 7 && memcmp(start, "#SBATCH", 7) == 0 && (start[7] == ' ' || start[7] == '\t');
        bool glued = length > 8 && memcmp(start, "#SBATCH-", 8) == 0;
        size_t blank = 0;
        while (blank < length && isspace((unsigned char)start[blank]))
            blank++;
        if (glued)
            ap_jobreader_find(r, AP_FAULT_SYNTAX_ERROR, ap_jobreader_pos(r, at + line),
                              "no blank after #SBATCH: the line is a comment")
                ->severity = AP_WARNING;
        if (!body && length > 11 && memcmp(start, "# SBATCH --", 11) == 0)
            ap_jobreader_find(r, AP_FAULT_SYNTAX_ERROR, ap_jobreader_pos(r, at + line),
                              "\"# SBATCH\" with a blank is a comment: sbatch does not read it")
                ->severity = AP_NOTE;
        if (directive && body && any && !told) {
            told = true;
            ap_jobreader_find(r, AP_FAULT_SYNTAX_ERROR, ap_jobreader_pos(r, at + line),
                              "#SBATCH behind the first command is not read by sbatch")
                ->severity = AP_WARNING;
        } else if (directive && !body) {
            any = true;
            read_directive(r, start + 8, length - 8, at + line + 8);
        } else if (blank < length && start[blank] != '#') {
            body = true;
        }
        line = next;
    }
}

void ap_read_slurm(ap_jobreader *r)
{
    const char *text = r->file->text;
    bool sbatch_feeds = false;
    if (strncmp(text, "#!", 2) != 0 && strncmp(text, "\xef\xbb\xbf", 3) != 0) {
        size_t first = strspn(text, " \t\r\n");
        bool directive_first = strncmp(text + first, "#SBATCH", 7) == 0 || strstr(text, "\n#SBATCH") != NULL;
        sbatch_feeds = strstr(text, "sbatch <<") != NULL || strstr(text, "sbatch<<") != NULL;
        if (directive_first && !sbatch_feeds)
            ap_jobreader_find(r, AP_FAULT_SYNTAX_ERROR, ap_jobreader_pos(r, 0),
                              "the first line is not #!: sbatch refuses the script")
                ->hint = "begin the file with #!/bin/bash";
    }
    ap_slurm_directives(r, text, r->file->len, 0);
    const char *use = strstr(text, "SLURM_NNODES");
    if (!use)
        use = strstr(text, "SLURM_JOB_NUM_NODES");
    if (!ap_jnum_stated(&r->facts->n.nodes) && !ap_jnum_stated(&r->facts->n.tasks) && use) {
        ap_pos pos = ap_jobreader_pos(r, (size_t)(use - text));
        r->facts->n.nodes = (ap_jnum){AP_UNKNOWN, pos};
        ap_jobreader_find(r, AP_FAULT_UNRESOLVED_VALUE, pos,
                          "the number of nodes is given when the job is submitted; it is not known here")
            ->hint = "add #SBATCH --nodes=N, or check with the value";
    }
    ap_script_read(r, text, r->file->len, 0, true);
}
