/* Forms for machines that show findings: SARIF 2.1.0, JUnit XML, GitHub workflow commands. They read jobs[].findings[] of
 * a document of kind `check`: {id, severity, message, file, line, column, hint}. */
#include <string.h>

#include "io/json.h"
#include "report/render.h"

typedef struct finding {
    const char *id, *severity, *message, *file, *hint;
    int64_t line, column; /* 0 = unknown */
    const ap_value *job;
} finding;

static const char *text_at(const ap_value *map, const char *key)
{
    const ap_value *value = ap_value_at(map, key);
    return value && value->kind == AP_V_TEXT ? value->as.text : NULL;
}

static int64_t int_at(const ap_value *map, const char *key)
{
    const ap_value *value = ap_value_at(map, key);
    if (value && value->kind == AP_V_NUM)
        return (int64_t)value->as.number;
    return value && value->kind == AP_V_INT && value->as.integer > 0 ? value->as.integer : 0;
}

static size_t list_count(const ap_value *list)
{
    return list && list->kind == AP_V_LIST ? list->as.list.count : 0;
}

/* All findings in the order of the document. */
static size_t collect(const ap_doc *doc, finding **ret_findings)
{
    const ap_value *jobs = ap_value_at(doc->root, "jobs");
    finding *items = NULL;
    size_t count = 0, capacity = 0;
    for (size_t j = 0; j < list_count(jobs); j++) {
        const ap_value *job = jobs->as.list.items[j], *list = ap_value_at(job, "findings");
        for (size_t i = 0; i < list_count(list); i++) {
            const ap_value *item = list->as.list.items[i];
            const char *severity = text_at(item, "severity"), *message = text_at(item, "message");
            *AP_PUSH(doc->arena, items, count, capacity) =
                (finding){text_at(item, "id"),   severity ? severity : "note", message ? message : "",
                          text_at(item, "file"), text_at(item, "hint"),        int_at(item, "line"),
                          int_at(item, "column"), job};
        }
    }
    *ret_findings = items;
    return count;
}

static const char *whole_message(ap_arena *arena, const finding *f)
{
    return f->hint ? ap_arena_printf(arena, "%s (%s)", f->message, f->hint) : f->message;
}

/* ---- GitHub ------------------------------------------------------------------------------------------------------ */

static void add_command_text(ap_sbuf *out, const char *text, bool property)
{
    for (const char *c = text; *c; c++) {
        if (*c == '%' || *c == '\r' || *c == '\n' || (property && (*c == ':' || *c == ',')))
            ap_sbuf_printf(out, "%%%02X", (unsigned)(unsigned char)*c);
        else
            ap_sbuf_add_char(out, *c);
    }
}

static void add_property(ap_sbuf *out, const char **separator, const char *name, const char *value)
{
    if (!value)
        return;
    ap_sbuf_printf(out, "%s%s=", *separator, name);
    add_command_text(out, value, true);
    *separator = ",";
}

static const char *positive(ap_arena *arena, int64_t number)
{
    return number > 0 ? ap_arena_printf(arena, "%lld", (long long)number) : NULL;
}

ap_status ap_render_github(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    finding *findings;
    size_t count = collect(doc, &findings);
    (void)options;
    for (size_t i = 0; i < count; i++) {
        const finding *f = &findings[i];
        const char *separator = " ";
        ap_sbuf_printf(out, "::%s", strcmp(f->severity, "note") == 0 ? "notice" : f->severity);
        add_property(out, &separator, "file", f->file);
        add_property(out, &separator, "line", positive(doc->arena, f->line));
        add_property(out, &separator, "col", positive(doc->arena, f->column));
        add_property(out, &separator, "title", f->id);
        ap_sbuf_add(out, "::");
        add_command_text(out, whole_message(doc->arena, f), false);
        ap_sbuf_add_char(out, '\n');
    }
    return AP_OK;
}

/* ---- JUnit ------------------------------------------------------------------------------------------------------- */

static void add_xml(ap_sbuf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        switch (*c) {
        case '<':
            ap_sbuf_add(out, "&lt;");
            break;
        case '>':
            ap_sbuf_add(out, "&gt;");
            break;
        case '&':
            ap_sbuf_add(out, "&amp;");
            break;
        case '"':
            ap_sbuf_add(out, "&quot;");
            break;
        default: /* XML 1.0 has no other control characters */
            ap_sbuf_add_char(out, (unsigned char)*c >= 32 || *c == '\n' || *c == '\t' ? *c : '?');
        }
    }
}

static void add_attribute(ap_sbuf *out, const char *name, const char *value)
{
    ap_sbuf_printf(out, " %s=\"", name);
    add_xml(out, value);
    ap_sbuf_add_char(out, '"');
}

static bool is_failure(const finding *f)
{
    return strcmp(f->severity, "error") == 0;
}

/* A finding is a test case: an error fails it, a warning or note is told in its output. */
static void add_testcase(ap_arena *arena, const finding *f, ap_sbuf *out)
{
    const char *place = f->file ? f->file : "";
    ap_sbuf_add(out, "    <testcase");
    add_attribute(out, "classname", place);
    add_attribute(out, "name", ap_arena_printf(arena, "%s %s:%lld", f->id ? f->id : "finding", place, (long long)f->line));
    ap_sbuf_add(out, ">\n");
    const char *tag = is_failure(f) ? "failure" : "system-out";
    ap_sbuf_printf(out, "      <%s", tag);
    if (is_failure(f)) {
        add_attribute(out, "type", f->id ? f->id : "finding");
        add_attribute(out, "message", f->message);
    }
    ap_sbuf_add_char(out, '>');
    add_xml(out, ap_arena_printf(arena, "%s:%lld:%lld: %s: %s", place, (long long)f->line, (long long)f->column,
                                 f->severity, whole_message(arena, f)));
    ap_sbuf_printf(out, "</%s>\n    </testcase>\n", tag);
}

ap_status ap_render_junit(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    finding *findings;
    size_t count = collect(doc, &findings);
    const ap_value *jobs = ap_value_at(doc->root, "jobs");
    (void)options;
    ap_sbuf_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"accelpick\">\n");
    for (size_t j = 0; j < list_count(jobs); j++) {
        const ap_value *job = jobs->as.list.items[j];
        const char *id = text_at(job, "id");
        size_t own = 0, failures = 0;
        for (size_t i = 0; i < count; i++) {
            own += findings[i].job == job;
            failures += findings[i].job == job && is_failure(&findings[i]);
        }
        ap_sbuf_add(out, "  <testsuite");
        add_attribute(out, "name", id ? id : "job");
        ap_sbuf_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n", own ? own : 1, failures);
        for (size_t i = 0; i < count; i++)
            if (findings[i].job == job)
                add_testcase(doc->arena, &findings[i], out);
        if (own == 0) {
            ap_sbuf_add(out, "    <testcase name=\"no findings\"");
            add_attribute(out, "classname", id ? id : "job");
            ap_sbuf_add(out, "/>\n");
        }
        ap_sbuf_add(out, "  </testsuite>\n");
    }
    ap_sbuf_add(out, "</testsuites>\n");
    return AP_OK;
}

/* ---- SARIF ------------------------------------------------------------------------------------------------------- */

/* A path as a relative URI reference. */
static const char *uri_of(ap_arena *arena, const char *path)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    for (const unsigned char *c = (const unsigned char *)path; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                     strchr("/._-~", (char)*c);
        ap_sbuf_printf(&out, plain ? "%c" : "%%%02X", (unsigned)*c);
    }
    return out.text;
}

static size_t rule_index(const char **rules, size_t count, const char *id)
{
    size_t i = 0;
    while (i < count && strcmp(rules[i], id) != 0)
        i++;
    return i;
}

static void write_location(ap_json_writer *w, ap_arena *arena, const finding *f)
{
    ap_json_key(w, "locations");
    ap_json_array_open(w);
    if (f->file) {
        ap_json_object_open(w);
        ap_json_key(w, "physicalLocation");
        ap_json_object_open(w);
        ap_json_key(w, "artifactLocation");
        ap_json_object_open(w);
        ap_json_key(w, "uri");
        ap_json_string(w, uri_of(arena, f->file));
        ap_json_object_close(w);
        if (f->line > 0) {
            ap_json_key(w, "region");
            ap_json_object_open(w);
            ap_json_key(w, "startLine");
            ap_json_int(w, f->line);
            if (f->column > 0) {
                ap_json_key(w, "startColumn");
                ap_json_int(w, f->column);
            }
            ap_json_object_close(w);
        }
        ap_json_object_close(w);
        ap_json_object_close(w);
    }
    ap_json_array_close(w);
}

static void write_message(ap_json_writer *w, const char *key, const char *text)
{
    ap_json_key(w, key);
    ap_json_object_open(w);
    ap_json_key(w, "text");
    ap_json_string(w, text);
    ap_json_object_close(w);
}

static void write_tool(ap_json_writer *w, const char *const *rules, size_t count)
{
    ap_json_key(w, "tool");
    ap_json_object_open(w);
    ap_json_key(w, "driver");
    ap_json_object_open(w);
    ap_json_key(w, "name");
    ap_json_string(w, "accelpick");
    ap_json_key(w, "version");
    ap_json_string(w, AP_VERSION);
    ap_json_key(w, "rules");
    ap_json_array_open(w);
    for (size_t i = 0; i < count; i++) {
        ap_json_object_open(w);
        ap_json_key(w, "id");
        ap_json_string(w, rules[i]);
        ap_json_object_close(w);
    }
    ap_json_array_close(w);
    ap_json_object_close(w);
    ap_json_object_close(w);
    ap_json_key(w, "columnKind");
    ap_json_string(w, "unicodeCodePoints");
}

static void write_result(ap_json_writer *w, ap_arena *arena, const finding *f, size_t rule)
{
    ap_json_object_open(w);
    ap_json_key(w, "ruleId");
    ap_json_string(w, f->id ? f->id : "AP0000");
    ap_json_key(w, "ruleIndex");
    ap_json_int(w, (int64_t)rule);
    ap_json_key(w, "level");
    ap_json_string(w, f->severity);
    write_message(w, "message", whole_message(arena, f));
    write_location(w, arena, f);
    ap_json_object_close(w);
}

ap_status ap_render_sarif(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    finding *findings;
    size_t count = collect(doc, &findings), rule_count = 0;
    const char **rules = AP_NEW_ARRAY(doc->arena, const char *, count);
    (void)options;
    for (size_t i = 0; i < count; i++) {
        const char *id = findings[i].id ? findings[i].id : "AP0000";
        if (rule_index(rules, rule_count, id) == rule_count)
            rules[rule_count++] = id;
    }
    ap_json_writer w;
    ap_json_begin(&w, out, 2);
    ap_json_object_open(&w);
    ap_json_key(&w, "$schema");
    ap_json_string(&w, "https://json.schemastore.org/sarif-2.1.0.json");
    ap_json_key(&w, "version");
    ap_json_string(&w, "2.1.0");
    ap_json_key(&w, "runs");
    ap_json_array_open(&w);
    ap_json_object_open(&w);
    write_tool(&w, rules, rule_count);
    ap_json_key(&w, "results");
    ap_json_array_open(&w);
    for (size_t i = 0; i < count; i++)
        write_result(&w, doc->arena, &findings[i],
                     rule_index(rules, rule_count, findings[i].id ? findings[i].id : "AP0000"));
    ap_json_array_close(&w);
    ap_json_object_close(&w);
    ap_json_array_close(&w);
    ap_json_object_close(&w);
    ap_sbuf_add_char(out, '\n');
    return AP_OK;
}
