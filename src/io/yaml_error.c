#include "io/yaml_error.h"

#include <string.h>

#include "base/text.h"
#include "io/source.h"

static void add_at_offset(const ap_yaml_source *source, size_t offset, ap_diags *diags, const char *message,
                          const char *hint)
{
    ap_pos pos = ap_source_pos(source->text, source->len, source->name, offset);
    ap_diag_add(diags, AP_ERROR, AP_CODE_ENCODING, pos, "%s", message)->hint = hint;
}

static bool is_control(unsigned char c)
{
    return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
}

bool ap_yaml_check_encoding(const ap_yaml_source *source, ap_diags *diags)
{
    const char *text = source->text;
    if (source->len >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0)) {
        ap_diag_add(diags, AP_ERROR, AP_CODE_ENCODING, (ap_pos){source->name, 1, 1}, "the file is UTF-16 text")->hint =
            "save it as UTF-8";
        return false;
    }
    size_t bad = source->len;
    bool valid = ap_utf8_valid(text, source->len, &bad);
    for (size_t i = 0; i < bad; i++) {
        if (!is_control((unsigned char)text[i]))
            continue;
        ap_pos pos = ap_source_pos(text, source->len, source->name, i);
        ap_diag_add(diags, AP_ERROR, AP_CODE_ENCODING, pos, "control character 0x%02X is not allowed here",
                    (unsigned char)text[i])
            ->hint = "is this a text file? Remove the character or write it as an escape in double quotes";
        return false;
    }
    if (!valid)
        add_at_offset(source, bad, diags, "invalid UTF-8", "save the file as UTF-8");
    return valid;
}

typedef struct translation {
    const char *problem; /* libyaml's text or the beginning of it */
    const char *message;
    const char *hint;
    bool at_context; /* the beginning of the construct is the better place to point at */
} translation;

static const translation translations[] = {
    {"found a tab character", "tab used for indentation", "indent with spaces", false},
    {"mapping values are not allowed", "':' is not allowed here",
     "quote a value that contains ': ', or check the indentation", false},
    {"mapping keys are not allowed", "'?' is not allowed here", "quote a value that starts with '?'", false},
    {"block sequence entries are not allowed", "a list item ('- ') cannot start here",
     "put the list on its own lines below its key", false},
    {"did not find expected key", "expected a key here",
     "check that the indentation agrees with the lines above and that quotes are closed", false},
    {"could not find expected ':'", "expected a key with ': ' here", "write 'key: value' with a space after the colon",
     true},
    {"did not find expected '-' indicator", "expected a list item ('- ')",
     "all items of a list start in the same column", false},
    {"found unexpected end of stream", "the quote opened here is never closed", "add the closing quote", true},
    {"found unexpected document indicator", "the quote opened here is never closed", "add the closing quote", true},
    {"did not find expected ',' or ']'", "expected ',' or ']' in the list", "close every '[' with ']'", false},
    {"did not find expected ',' or '}'", "expected ',' or '}' in the mapping", "close every '{' with '}'", false},
    {"did not find expected node content", "expected a value here", NULL, false},
    {"did not find expected <document start>", "expected the end of the document",
     "check the indentation of this line; a second document starts with '---'", false},
    {"found unknown escape character", "unknown escape in double-quoted text",
     "use single quotes for text with backslashes", false},
    {"did not find expected hexdecimal number", "expected hexadecimal digits after the escape", NULL, false},
    {"found invalid Unicode character escape", "the escape names no valid character", NULL, false},
    {"did not find expected comment or line break", "expected the end of the line here", NULL, false},
    {"did not find expected alphabetic or numeric character", "expected a name after '*' or '&'",
     "quote values that start with * or &", false},
    {"found undefined tag handle", "unknown tag", "quote values that start with '!'", false},
    {"found incompatible YAML document", "this YAML version is not supported", NULL, false},
    {"found duplicate %YAML directive", "the %YAML directive is given twice", NULL, false},
    {"invalid leading UTF-8 octet", "invalid UTF-8", "save the file as UTF-8", false},
    {"control characters are not allowed", "control character is not allowed here", NULL, false},
};

static ap_pos mark_pos(const ap_yaml_source *source, yaml_mark_t mark)
{
    return (ap_pos){.file = source->name, .line = (int)mark.line + 1, .col = (int)mark.column + 1};
}

/* One message of libyaml covers tabs and reserved characters alike; the character itself tells which it was. */
static void report_bad_start(const ap_yaml_source *source, ap_pos pos, ap_diags *diags)
{
    size_t offset = ap_source_offset(source->text, source->len, pos);
    char c = offset < source->len ? source->text[offset] : '\0';
    if (c == '\t') {
        ap_diag_add(diags, AP_ERROR, AP_CODE_TAB, pos, "tab used for indentation")->hint = "indent with spaces";
    } else if (c == '@' || c == '`' || c == '%') {
        ap_diag_add(diags, AP_ERROR, AP_CODE_YAML_SYNTAX, pos, "a value cannot start with '%c'", c)->hint =
            "quote values that start with @, ` or %";
    } else {
        ap_diag_add(diags, AP_ERROR, AP_CODE_YAML_SYNTAX, pos, "unexpected character");
    }
}

/* "batch:64" is one word to YAML, so the complaint comes late and elsewhere; the colon tells what was meant. */
static bool report_missing_space(const ap_yaml_source *source, ap_pos line_start, ap_diags *diags)
{
    size_t at = ap_source_offset(source->text, source->len, line_start);
    while (at < source->len && (source->text[at] == ' ' || source->text[at] == '-'))
        at++;
    while (at < source->len && !strchr(" \t\r\n:\"'#", source->text[at]))
        at++;
    if (at + 1 >= source->len || source->text[at] != ':' || strchr(" \t\r\n/", source->text[at + 1]))
        return false;
    ap_pos pos = ap_source_pos(source->text, source->len, source->name, at);
    ap_diag_add(diags, AP_ERROR, AP_CODE_YAML_SYNTAX, pos, "missing space after ':'")->hint = "write 'key: value'";
    return true;
}

/* The line that began the misread word: where the key was looked for, or the line above an unexpected ':'. */
static bool is_missing_space(const ap_yaml_source *source, const yaml_parser_t *parser, ap_diags *diags)
{
    if (strcmp(parser->problem, "could not find expected ':'") == 0)
        return report_missing_space(source, mark_pos(source, parser->context_mark), diags);
    if (strncmp(parser->problem, "mapping values are not allowed", 30) != 0 || parser->problem_mark.line == 0)
        return false;
    return report_missing_space(source, (ap_pos){source->name, (int)parser->problem_mark.line, 1}, diags);
}

void ap_yaml_report_error(const ap_yaml_source *source, const yaml_parser_t *parser, ap_diags *diags)
{
    const char *problem = parser->problem ? parser->problem : "unknown problem";
    ap_pos pos = mark_pos(source, parser->problem_mark);
    if (parser->error == YAML_READER_ERROR)
        pos = ap_source_pos(source->text, source->len, source->name, parser->problem_offset);
    if (strncmp(problem, "found character that cannot start any token", 43) == 0) {
        report_bad_start(source, pos, diags);
        return;
    }
    if (parser->problem && is_missing_space(source, parser, diags))
        return;
    for (size_t i = 0; i < sizeof translations / sizeof *translations; i++) {
        const translation *t = &translations[i];
        if (strncmp(problem, t->problem, strlen(t->problem)) != 0)
            continue;
        bool tab = strcmp(t->message, "tab used for indentation") == 0;
        if (t->at_context && parser->context)
            pos = mark_pos(source, parser->context_mark);
        ap_diag_add(diags, AP_ERROR, tab ? AP_CODE_TAB : AP_CODE_YAML_SYNTAX, pos, "%s", t->message)->hint = t->hint;
        return;
    }
    ap_diag_add(diags, AP_ERROR, AP_CODE_YAML_SYNTAX, pos, "not valid YAML: %s", problem);
}
