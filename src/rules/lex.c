/* Tokens of an expression. Numbers and string escapes follow the CEL language definition. */
#include <stdarg.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "rules/cel.h"

ap_pos ap_cel_locate(const ap_cel_source *source, size_t at)
{
    ap_pos pos = source->pos;
    for (size_t i = 0; i < at && i < source->len; i++) {
        if (source->text[i] == '\n') {
            pos.line++;
            pos.col = 1;
        } else if (((unsigned char)source->text[i] & 0xC0) != 0x80) {
            pos.col++;
        }
    }
    return pos;
}

/* The line of the expression that holds `at`: a file's own source line is attached later, by whoever read the file. */
const char *ap_cel_line_of(const ap_cel_source *source, size_t at)
{
    size_t start = at < source->len ? at : source->len, end = start;
    while (start > 0 && source->text[start - 1] != '\n')
        start--;
    while (end < source->len && source->text[end] != '\n')
        end++;
    return end - start > 400 ? NULL : ap_arena_strndup(source->arena, source->text + start, end - start);
}

ap_diag *ap_cel_complain(ap_cel_source *source, int code, size_t at, const char *format, ...)
{
    if (source->failed)
        return AP_NEW(source->arena, ap_diag);
    source->failed = true;
    ap_sbuf message;
    ap_sbuf_init(&message, source->arena);
    va_list args;
    va_start(args, format);
    ap_sbuf_vprintf(&message, format, args);
    va_end(args);
    ap_diag *diag = ap_diag_add(source->diags, AP_ERROR, code, ap_cel_locate(source, at), "%s", message.text);
    if (source->pos.line == 1 && source->pos.col == 1)
        diag->source_line = ap_cel_line_of(source, at);
    return diag;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static char peek(const ap_cel_source *source, size_t ahead)
{
    return source->next + ahead < source->len ? source->text[source->next + ahead] : '\0';
}

static void skip_blanks(ap_cel_source *source)
{
    for (;;) {
        char c = peek(source, 0);
        if (source->next < source->len && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f')) {
            source->next++;
        } else if (c == '/' && peek(source, 1) == '/') {
            while (source->next < source->len && peek(source, 0) != '\n')
                source->next++;
        } else {
            return;
        }
    }
}

static bool lex_hex(ap_cel_source *source, ap_token *token)
{
    source->next += 2;
    size_t digits = 0;
    for (; hex_value(peek(source, 0)) >= 0; source->next++, digits++) {
        if (token->integer >> 60)
            return ap_cel_complain(source, AP_CEL_SYNTAX, token->at, "integer does not fit in 64 bits"), false;
        token->integer = token->integer << 4 | (uint64_t)hex_value(peek(source, 0));
    }
    if (digits == 0)
        return ap_cel_complain(source, AP_CEL_SYNTAX, token->at, "no digits after 0x"), false;
    token->kind = TOK_NUMBER_INT;
    return true;
}

/* `.5` and `1e3` are numbers, `1.` is not (it could begin a method call). */
static void scan_decimal(ap_cel_source *source, bool *ret_fraction)
{
    while (is_digit(peek(source, 0)))
        source->next++;
    if (peek(source, 0) == '.' && is_digit(peek(source, 1))) {
        *ret_fraction = true;
        source->next++;
        while (is_digit(peek(source, 0)))
            source->next++;
    }
    size_t sign = peek(source, 1) == '+' || peek(source, 1) == '-' ? 1 : 0;
    if ((peek(source, 0) == 'e' || peek(source, 0) == 'E') && is_digit(peek(source, 1 + sign))) {
        *ret_fraction = true;
        source->next += 1 + sign;
        while (is_digit(peek(source, 0)))
            source->next++;
    }
}

static bool lex_number(ap_cel_source *source, ap_token *token)
{
    bool fraction = false;
    if (peek(source, 0) == '0' && (peek(source, 1) == 'x' || peek(source, 1) == 'X')) {
        if (!lex_hex(source, token))
            return false;
    } else {
        scan_decimal(source, &fraction);
        const char *digits = source->text + token->at;
        size_t len = source->next - token->at;
        token->kind = fraction ? TOK_NUMBER : TOK_NUMBER_INT;
        if (fraction) {
            const char *text = ap_arena_printf(source->arena, "%s%.*s", *digits == '.' ? "0" : "", (int)len, digits);
            /* Too small for a double is 0, too large is a fault. */
            if (!ap_num_parse(text, &token->number) && !strpbrk(text, "-"))
                return ap_cel_complain(source, AP_CEL_SYNTAX, token->at, "number is out of range"), false;
        }
        for (size_t i = 0; !fraction && i < len; i++) {
            if (__builtin_mul_overflow(token->integer, 10u, &token->integer) ||
                __builtin_add_overflow(token->integer, (uint64_t)(digits[i] - '0'), &token->integer))
                return ap_cel_complain(source, AP_CEL_SYNTAX, token->at, "integer does not fit in 64 bits"), false;
        }
    }
    if (peek(source, 0) == 'u' || peek(source, 0) == 'U')
        return ap_cel_complain(source, AP_CEL_SYNTAX, source->next, "unsigned integers are not part of this language"),
               false;
    if (is_letter(peek(source, 0)))
        return ap_cel_complain(source, AP_CEL_SYNTAX, source->next, "a letter follows a number directly"), false;
    return true;
}

void ap_cel_add_utf8(ap_sbuf *out, uint32_t c)
{
    if (c < 0x80) {
        ap_sbuf_add_char(out, (char)c);
    } else if (c < 0x800) {
        ap_sbuf_add_char(out, (char)(0xC0 | c >> 6));
        ap_sbuf_add_char(out, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        ap_sbuf_add_char(out, (char)(0xE0 | c >> 12));
        ap_sbuf_add_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
        ap_sbuf_add_char(out, (char)(0x80 | (c & 0x3F)));
    } else {
        ap_sbuf_add_char(out, (char)(0xF0 | c >> 18));
        ap_sbuf_add_char(out, (char)(0x80 | (c >> 12 & 0x3F)));
        ap_sbuf_add_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
        ap_sbuf_add_char(out, (char)(0x80 | (c & 0x3F)));
    }
}

static bool code_escape(ap_cel_source *source, int digits, ap_sbuf *out)
{
    size_t at = source->next - 2;
    uint32_t code = 0;
    for (int i = 0; i < digits; i++, source->next++) {
        int value = hex_value(peek(source, 0));
        if (value < 0)
            return ap_cel_complain(source, AP_CEL_SYNTAX, at, "escape needs %d hexadecimal digits", digits), false;
        code = code << 4 | (uint32_t)value;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return ap_cel_complain(source, AP_CEL_SYNTAX, at, "escape is no Unicode character"), false;
    ap_cel_add_utf8(out, code);
    return true;
}

static bool octal_escape(ap_cel_source *source, char first, ap_sbuf *out)
{
    char second = peek(source, 0), third = peek(source, 1);
    if (first > '3' || second < '0' || second > '7' || third < '0' || third > '7')
        return ap_cel_complain(source, AP_CEL_SYNTAX, source->next - 2, "octal escape needs three digits up to \\377"),
               false;
    source->next += 2;
    ap_cel_add_utf8(out, (uint32_t)((first - '0') * 64 + (second - '0') * 8 + (third - '0')));
    return true;
}

/* source->next stands behind the backslash. */
static bool decode_escape(ap_cel_source *source, ap_sbuf *out)
{
    static const char from[] = "abfnrtv\\?\"'`", to[] = "\a\b\f\n\r\t\v\\?\"'`";
    char c = peek(source, 0);
    source->next++;
    const char *simple = c ? strchr(from, c) : NULL;
    if (simple) {
        ap_sbuf_add_char(out, to[simple - from]);
        return true;
    }
    switch (c) {
    case 'x':
    case 'X':
        return code_escape(source, 2, out);
    case 'u':
        return code_escape(source, 4, out);
    case 'U':
        return code_escape(source, 8, out);
    default:
        if (c >= '0' && c <= '7')
            return octal_escape(source, c, out);
        ap_cel_complain(source, AP_CEL_SYNTAX, source->next - 2, "unknown escape in a string")->hint =
            "write \\\\ for a backslash, or put r before the string";
        return false;
    }
}

/* source->next stands on the opening quote. */
bool ap_cel_decode_string(ap_cel_source *source, ap_token *token, bool raw)
{
    char quote = peek(source, 0);
    size_t quotes = peek(source, 1) == quote && peek(source, 2) == quote ? 3 : 1;
    source->next += quotes;
    ap_sbuf out;
    ap_sbuf_init(&out, source->arena);
    for (;;) {
        if (source->next >= source->len)
            return ap_cel_complain(source, AP_CEL_SYNTAX, token->at, "string is not closed"), false;
        char c = peek(source, 0);
        if (c == quote && (quotes == 1 || (peek(source, 1) == quote && peek(source, 2) == quote)))
            break;
        if ((c == '\n' || c == '\r') && quotes == 1)
            return ap_cel_complain(source, AP_CEL_SYNTAX, token->at, "string is not closed on its line"), false;
        source->next++;
        if (c != '\\' || raw) {
            ap_sbuf_add_char(&out, c);
        } else if (!decode_escape(source, &out)) {
            return false;
        }
    }
    source->next += quotes;
    token->kind = TOK_STRING;
    token->text = out.text;
    token->text_len = out.len;
    return true;
}

static bool lex_word(ap_cel_source *source, ap_token *token)
{
    const char *start = source->text + token->at;
    bool raw = (start[0] == 'r' || start[0] == 'R') && (peek(source, 1) == '"' || peek(source, 1) == '\'');
    if (raw) {
        source->next++;
        return ap_cel_decode_string(source, token, true);
    }
    while (is_letter(peek(source, 0)) || is_digit(peek(source, 0)))
        source->next++;
    size_t len = source->next - token->at;
    char after = peek(source, 0);
    if ((after == '"' || after == '\'') && len <= 2 && strspn(start, "bBrR") >= len)
        return ap_cel_complain(source, AP_CEL_SYNTAX, token->at, "bytes are not part of this language"), false;
    token->kind = TOK_IDENT;
    token->text = ap_arena_strndup(source->arena, start, len);
    token->text_len = len;
    return true;
}

static bool lex_quoted_ident(ap_cel_source *source, ap_token *token)
{
    source->next++;
    while (is_letter(peek(source, 0)) || is_digit(peek(source, 0)) || (peek(source, 0) && strchr(".-/ ", peek(source, 0))))
        source->next++;
    token->kind = TOK_QUOTED_IDENT;
    token->text_len = source->next - token->at - 1;
    token->text = ap_arena_strndup(source->arena, source->text + token->at + 1, token->text_len);
    if (peek(source, 0) != '`' || token->text_len == 0)
        return ap_cel_complain(source, AP_CEL_SYNTAX, token->at, "quoted field name is not closed"), false;
    source->next++;
    return true;
}

static bool lex_punct(ap_cel_source *source, ap_token *token)
{
    static const char *const pairs[] = {"&&", "||", "==", "!=", "<=", ">="};
    char c = peek(source, 0);
    token->kind = TOK_PUNCT;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (c == pairs[i][0] && peek(source, 1) == pairs[i][1]) {
            memcpy(token->punct, pairs[i], 3);
            source->next += 2;
            return true;
        }
    }
    if (c && strchr("()[]{},.:?+-*/%!<>", c)) {
        token->punct[0] = c;
        source->next++;
        return true;
    }
    ap_diag *diag = c > ' ' && c < 0x7F
                        ? ap_cel_complain(source, AP_CEL_SYNTAX, token->at, "unexpected character '%c'", c)
                        : ap_cel_complain(source, AP_CEL_SYNTAX, token->at, "unexpected character outside of a string");
    if (c == '=' || c == '&' || c == '|')
        diag->hint = c == '=' ? "equality is written ==" : c == '&' ? "and is written &&" : "or is written ||";
    return false;
}

bool ap_cel_next_token(ap_cel_source *source, ap_token *token)
{
    skip_blanks(source);
    *token = (ap_token){.at = source->next};
    if (source->next >= source->len)
        return true; /* TOK_END */
    char c = peek(source, 0);
    bool ok;
    if (is_digit(c) || (c == '.' && is_digit(peek(source, 1))))
        ok = lex_number(source, token);
    else if (is_letter(c))
        ok = lex_word(source, token);
    else if (c == '"' || c == '\'')
        ok = ap_cel_decode_string(source, token, false);
    else if (c == '`')
        ok = lex_quoted_ident(source, token);
    else
        ok = lex_punct(source, token);
    token->len = source->next - token->at;
    return ok;
}
