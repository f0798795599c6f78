/* Strict JSON reading. cJSON accepts much that is not JSON and tells only a byte offset, so the text is first checked
 * here against RFC 8259; cJSON then builds the tree from a text that is known to be good. */
#include "io/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/keyset.h"
#include "base/num.h"
#include "base/text.h"
#include "io/source.h"
#include "io/yaml.h"

#define JSON_DEPTH_MAX   64
#define CJSON_NUMBER_MAX 63 /* cJSON copies no more characters than this */

typedef struct scanner {
    const char *text; /* NUL-terminated */
    size_t len, at;
    const char *name;
    ap_diags *diags;
    ap_arena *scratch;
    size_t *key_offsets; /* of every key in document order */
    size_t key_count, key_capacity;
    int depth;
} scanner;

static bool fail(scanner *s, size_t offset, int code, const char *message)
{
    ap_diag_add(s->diags, AP_ERROR, code, ap_source_pos(s->text, s->len, s->name, offset), "%s", message);
    return false;
}

static void skip_blanks(scanner *s)
{
    s->at += strspn(s->text + s->at, " \t\r\n");
}

static bool scan_hex(const char *text, unsigned *ret_value)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char c = text[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            return false;
        value = value * 16 + digit;
    }
    *ret_value = value;
    return true;
}

static bool scan_unicode_escape(scanner *s)
{
    const char *escape = s->text + s->at;
    unsigned first, second;
    if (!scan_hex(escape + 2, &first))
        return fail(s, s->at, AP_CODE_JSON_STRING, "expected four hexadecimal digits after \\u");
    if (first == 0)
        return fail(s, s->at, AP_CODE_JSON_STRING, "text must not contain a NUL character (\\u0000)");
    s->at += 6;
    if (first < 0xD800 || first > 0xDFFF)
        return true;
    if (first <= 0xDBFF && escape[6] == '\\' && escape[7] == 'u' && scan_hex(escape + 8, &second) && second >= 0xDC00 &&
        second <= 0xDFFF) {
        s->at += 6;
        return true;
    }
    return fail(s, s->at - 6, AP_CODE_JSON_STRING, "half of a surrogate pair");
}

static bool scan_string(scanner *s)
{
    size_t start = s->at++;
    for (;;) {
        unsigned char c = (unsigned char)s->text[s->at];
        if (c == '"') {
            s->at++;
            return true;
        }
        if (s->at >= s->len)
            return fail(s, start, AP_CODE_JSON_STRING, "the quote opened here is never closed");
        if (c < 0x20)
            return fail(s, s->at, AP_CODE_JSON_STRING, "control character in text; write it as an escape such as \\n");
        if (c != '\\') {
            s->at++;
        } else if (s->text[s->at + 1] == 'u') {
            if (!scan_unicode_escape(s))
                return false;
        } else if (s->text[s->at + 1] && strchr("\"\\/bfnrt", s->text[s->at + 1])) {
            s->at += 2;
        } else {
            return fail(s, s->at, AP_CODE_JSON_STRING, "unknown escape in text");
        }
    }
}

static bool scan_number(scanner *s)
{
    const char *start = s->text + s->at, *end;
    double value;
    const char *digits = *start == '-' ? start + 1 : start;
    if (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
        return fail(s, s->at, AP_CODE_JSON_NUMBER, "a number cannot start with 0");
    if (!ap_num_parse_prefix(start, &value, &end))
        return fail(s, s->at, AP_CODE_JSON_NUMBER,
                    *digits >= '0' && *digits <= '9' ? "the number is too large" : "expected digits");
    if (*end == '.' || *end == '+' || *end == '_' || (*end >= 'A' && *end <= 'Z') || (*end >= 'a' && *end <= 'z'))
        return fail(s, s->at, AP_CODE_JSON_NUMBER, "not a JSON number");
    if (end - start > CJSON_NUMBER_MAX)
        return fail(s, s->at, AP_CODE_JSON_NUMBER, "the number has too many digits");
    s->at = (size_t)(end - s->text);
    return true;
}

static bool scan_value(scanner *s);

static bool scan_key(scanner *s)
{
    skip_blanks(s);
    if (s->text[s->at] != '"')
        return fail(s, s->at, AP_CODE_JSON_SYNTAX,
                    s->text[s->at] == '}' ? "a comma before '}' is not allowed" : "expected a key in double quotes");
    *AP_PUSH(s->scratch, s->key_offsets, s->key_count, s->key_capacity) = s->at;
    if (!scan_string(s))
        return false;
    skip_blanks(s);
    if (s->text[s->at] != ':')
        return fail(s, s->at, AP_CODE_JSON_SYNTAX, "expected ':' after the key");
    s->at++;
    return true;
}

/* Members up to the closing bracket; the opening one was seen. */
static bool scan_group(scanner *s, char close)
{
    if (++s->depth > JSON_DEPTH_MAX)
        return fail(s, s->at, AP_CODE_TOO_DEEP, "arrays and objects are nested deeper than 64 levels");
    s->at++;
    skip_blanks(s);
    bool more = s->text[s->at] != close;
    while (more) {
        if ((close == '}' && !scan_key(s)) || !scan_value(s))
            return false;
        skip_blanks(s);
        more = s->text[s->at] == ',';
        if (more)
            s->at++;
        else if (s->text[s->at] != close)
            return fail(s, s->at, AP_CODE_JSON_SYNTAX,
                        close == '}' ? "expected ',' or '}' in the object" : "expected ',' or ']' in the array");
    }
    s->at++;
    s->depth--;
    return true;
}

static bool scan_word(scanner *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        if (ap_starts_with(s->text + s->at, words[i])) {
            s->at += strlen(words[i]);
            return true;
        }
    }
    if (s->at >= s->len)
        return fail(s, s->at, AP_CODE_JSON_SYNTAX, "the text ends where a value is expected");
    return fail(s, s->at, AP_CODE_JSON_SYNTAX,
                s->text[s->at] == ']' ? "a comma before ']' is not allowed" : "expected a value");
}

static bool scan_value(scanner *s)
{
    skip_blanks(s);
    char c = s->text[s->at];
    if (c == '{')
        return scan_group(s, '}');
    if (c == '[')
        return scan_group(s, ']');
    if (c == '"')
        return scan_string(s);
    if (c == '-' || (c >= '0' && c <= '9'))
        return scan_number(s);
    return scan_word(s);
}

static bool scan_document(scanner *s)
{
    size_t bad;
    if (!ap_utf8_valid(s->text, s->len, &bad))
        return fail(s, bad, AP_CODE_ENCODING, "invalid UTF-8");
    if (!scan_value(s))
        return false;
    skip_blanks(s);
    return s->at == s->len || fail(s, s->at, AP_CODE_JSON_SYNTAX, "unexpected text after the end of the JSON value");
}

/* cJSON keeps members in document order, so the n-th key met here is the n-th the scanner saw. */
static void check_duplicates(scanner *s, const cJSON *node, size_t *key)
{
    ap_keyset seen;
    if (cJSON_IsObject(node))
        ap_keyset_init(&seen);
    for (const cJSON *child = node->child; child; child = child->next) {
        if (cJSON_IsObject(node)) {
            assert(s->key_offsets); /* a key of cJSON's was a key of the scanner's */
            size_t offset = s->key_offsets[(*key)++];
            size_t first = ap_keyset_add(&seen, child->string, offset);
            if (first != AP_KEYSET_NEW) {
                ap_pos old = ap_source_pos(s->text, s->len, s->name, first);
                ap_diag_add(s->diags, AP_ERROR, AP_CODE_DUPLICATE_KEY, ap_source_pos(s->text, s->len, s->name, offset),
                            "key '%s' is given twice; first at line %d, column %d", child->string, old.line, old.col);
            }
        }
        if (child->child)
            check_duplicates(s, child, key);
    }
    if (cJSON_IsObject(node))
        ap_keyset_done(&seen);
}

static ap_status build_tree(scanner *s, cJSON **ret_root)
{
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(s->text, s->len + 1, &end, 1);
    if (!root) {
        size_t offset = end >= s->text && end <= s->text + s->len ? (size_t)(end - s->text) : 0;
        (void)fail(s, offset, AP_CODE_JSON_SYNTAX, "not valid JSON");
        return AP_BAD_INPUT;
    }
    size_t errors_before = s->diags->errors, key = 0;
    check_duplicates(s, root, &key);
    if (s->diags->errors != errors_before) {
        cJSON_Delete(root);
        return AP_BAD_INPUT;
    }
    *ret_root = root;
    return AP_OK;
}

ap_status ap_json_parse(const char *text, size_t len, const char *name, ap_diags *diags, cJSON **ret_root)
{
    *ret_root = NULL;
    AP_SCOPED_ARENA *scratch = ap_arena_new();
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        len -= 3;
    }
    /* An own copy, because neither cJSON nor the scanner may rely on a NUL behind the caller's text. */
    scanner s = {
        .text = ap_arena_strndup(scratch, text, len), .len = len, .name = name, .diags = diags, .scratch = scratch};
    ap_status status = scan_document(&s) ? build_tree(&s, ret_root) : AP_BAD_INPUT;
    if (status != AP_OK)
        ap_diags_attach_source(diags, name, s.text, s.len);
    return status;
}
