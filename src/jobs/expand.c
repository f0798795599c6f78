#define _GNU_SOURCE /* memmem */
/* Parameters and arithmetic of shell text. */
#include "jobs/shell.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/num.h"

enum { MAX_DEPTH = 24 };

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

size_t ap_shell_skip(const char *text, size_t len, size_t pos, char open, char close)
{
    int depth = 0;
    char quote = 0;
    for (; pos < len; pos++) {
        char c = text[pos];
        if (c == '\\' && quote != '\'' && pos + 1 < len) {
            pos++;
        } else if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == open) {
            depth++;
        } else if (c == close && --depth == 0) {
            return pos + 1;
        }
    }
    return len;
}

/* -- arithmetic: + - * / % and parentheses over integers; anything else makes it unknown -----------------------------
 */

typedef struct sum_reader {
    const ap_shell *shell;
    const char *text;
    size_t len, pos;
    int depth;
    bool unknown;
} sum_reader;

static double read_sum(sum_reader *r);

static void skip_blanks(sum_reader *r)
{
    while (r->pos < r->len && isspace((unsigned char)r->text[r->pos]))
        r->pos++;
}

static double read_variable(sum_reader *r)
{
    char name[64];
    size_t len = 0;
    while (r->pos < r->len && is_name_char(r->text[r->pos])) {
        if (len + 1 < sizeof name)
            name[len++] = r->text[r->pos];
        r->pos++;
    }
    name[len] = 0;
    const ap_shell_var *var = ap_shell_get(r->shell, name);
    double value;
    if (var && !var->unknown && var->words.count == 1 && ap_num_parse(var->words.items[0].text, &value))
        return value;
    r->unknown = true;
    return 0;
}

static double read_atom(sum_reader *r)
{
    skip_blanks(r);
    if (r->pos >= r->len || ++r->depth > MAX_DEPTH) {
        r->unknown = true;
        return 0;
    }
    char c = r->text[r->pos];
    double value = 0;
    if (c == '(') {
        r->pos++;
        value = read_sum(r);
        skip_blanks(r);
        if (r->pos < r->len && r->text[r->pos] == ')')
            r->pos++;
        else
            r->unknown = true;
    } else if (c == '-') {
        r->pos++;
        value = -read_atom(r);
    } else if (c == '$') {
        r->pos++;
        bool braces = r->pos < r->len && r->text[r->pos] == '{';
        r->pos += braces;
        value = read_variable(r);
        if (braces && r->pos < r->len && r->text[r->pos] == '}')
            r->pos++;
        else if (braces)
            r->unknown = true;
    } else if (isdigit((unsigned char)c)) {
        while (r->pos < r->len && isdigit((unsigned char)r->text[r->pos]))
            value = value * 10 + (r->text[r->pos++] - '0');
    } else if (is_name_char(c)) {
        value = read_variable(r);
    } else {
        r->unknown = true;
        r->pos = r->len;
    }
    r->depth--;
    return value;
}

static double read_product(sum_reader *r)
{
    double value = read_atom(r);
    for (;;) {
        skip_blanks(r);
        char c = r->pos < r->len ? r->text[r->pos] : 0;
        if (c != '*' && c != '/' && c != '%')
            return value;
        r->pos++;
        double other = read_atom(r);
        if (c == '*')
            value *= other;
        else if (!(fabs(other) > 0))
            r->unknown = true;
        else
            value = c == '/' ? trunc(value / other) : fmod(value, other);
    }
}

static double read_sum(sum_reader *r)
{
    double value = read_product(r);
    for (;;) {
        skip_blanks(r);
        char c = r->pos < r->len ? r->text[r->pos] : 0;
        if (c != '+' && c != '-')
            return value;
        r->pos++;
        double other = read_product(r);
        value = c == '+' ? value + other : value - other;
    }
}

static bool evaluate(const ap_shell *shell, const char *text, size_t len, double *ret)
{
    sum_reader reader = {.shell = shell, .text = text, .len = len};
    *ret = read_sum(&reader);
    skip_blanks(&reader);
    return !reader.unknown && reader.pos == len && isfinite(*ret);
}

/* -- parameters ------------------------------------------------------------------------------------------------------
 */

static void give_text(ap_shell *shell, ap_shell_expansion *ret, const char *text, size_t at)
{
    *AP_PUSH(shell->arena, ret->words.items, ret->words.count, ret->words.capacity) = (ap_word){.text = text, .at = at};
}

/* Unknown things stay as they are written, so that a nested reading meets them again. */
static void give_unknown(ap_shell *shell, ap_shell_expansion *ret, const char *text, size_t len)
{
    ret->unknown = true;
    give_text(shell, ret, ap_arena_strndup(shell->arena, text, len), SIZE_MAX);
}

/* Pieces of a scalar, each with its place. */
static void give_split(ap_shell *shell, ap_shell_expansion *ret, const ap_word *word)
{
    const char *text = word->text;
    size_t len = strlen(text), at = word->at, i = 0;
    if (len > shell->budget) {
        ret->unknown = true;
        return;
    }
    shell->budget -= len;
    while (i < len) {
        while (i < len && isspace((unsigned char)text[i]))
            i++;
        size_t start = i;
        while (i < len && !isspace((unsigned char)text[i]))
            i++;
        if (i == start)
            break;
        const char *piece = ap_arena_strndup(shell->arena, text + start, i - start);
        size_t window = at < shell->source_len ? shell->source_len - at : 0;
        const char *found = memmem(shell->source + (window ? at : 0), window < 4096 ? window : 4096, piece, i - start);
        if (found)
            at = (size_t)(found - shell->source);
        give_text(shell, ret, piece, at);
    }
}

static void give_variable(ap_shell *shell, ap_shell_expansion *ret, const ap_shell_var *var, bool all)
{
    size_t count = all ? var->words.count : var->words.count > 0;
    for (size_t i = 0; i < count && shell->budget > 0; i++) {
        if (all && var->words.count > 1) {
            shell->budget--;
            give_text(shell, ret, var->words.items[i].text, var->words.items[i].at);
        } else {
            give_split(shell, ret, &var->words.items[i]);
        }
    }
    ret->unknown = ret->unknown || var->unknown;
}

/* ${NAME}, ${NAME:-default}, ${NAME[@]}, ${NAME%%x} … */
static void expand_braces(ap_shell *shell, const char *text, size_t start, size_t end, ap_shell_expansion *ret)
{
    size_t pos = start + 2, close = end > start + 2 ? end - 1 : end;
    size_t name_start = pos;
    while (pos < close && is_name_char(text[pos]))
        pos++;
    const char *name = ap_arena_strndup(shell->arena, text + name_start, pos - name_start);
    const ap_shell_var *var = pos > name_start ? ap_shell_get(shell, name) : NULL;
    bool all = close - pos == 3 && (memcmp(text + pos, "[@]", 3) == 0 || memcmp(text + pos, "[*]", 3) == 0);
    if (pos == close || all) {
        if (var)
            give_variable(shell, ret, var, all);
        else
            give_unknown(shell, ret, text + start, end - start);
        return;
    }
    bool fallback = pos + 1 < close && text[pos] == ':' && (text[pos + 1] == '-' || text[pos + 1] == '=');
    bool bare_fallback = text[pos] == '-' || text[pos] == '=';
    if (!fallback && !bare_fallback) {
        give_unknown(shell, ret, text + start, end - start);
        return;
    }
    if (var && !var->unknown && var->words.count > 0 && *var->words.items[0].text) {
        give_variable(shell, ret, var, false);
        return;
    }
    size_t from = pos + (fallback ? 2 : 1), to = close;
    if (to - from >= 2 && text[from] == text[to - 1] && (text[from] == '"' || text[from] == '\''))
        from++, to--;
    if (memchr(text + from, '$', to - from))
        give_unknown(shell, ret, text + start, end - start);
    else
        give_split(shell, ret,
                   &(ap_word){.text = ap_arena_strndup(shell->arena, text + from, to - from), .at = SIZE_MAX});
}

static void expand_sum(ap_shell *shell, const char *text, size_t start, size_t end, ap_shell_expansion *ret)
{
    double value;
    if (end >= start + 5 && text[end - 1] == ')' && text[end - 2] == ')' &&
        evaluate(shell, text + start + 3, end - start - 5, &value))
        give_text(shell, ret, ap_arena_printf(shell->arena, "%.0f", value), SIZE_MAX);
    else
        give_unknown(shell, ret, text + start, end - start);
}

void ap_shell_expand(ap_shell *shell, const char *text, size_t len, size_t *pos, ap_shell_expansion *ret)
{
    size_t start = *pos, end = start + 1;
    *ret = (ap_shell_expansion){0};
    char next = end < len ? text[end] : 0;
    if (text[start] == '`') {
        const char *close = memchr(text + end, '`', len - end);
        end = close ? (size_t)(close - text) + 1 : len;
        give_unknown(shell, ret, text + start, end - start);
    } else if (next == '(') {
        end = ap_shell_skip(text, len, end, '(', ')');
        if (start + 2 < len && text[start + 2] == '(')
            expand_sum(shell, text, start, end, ret);
        else
            give_unknown(shell, ret, text + start, end - start);
    } else if (next == '{') {
        end = ap_shell_skip(text, len, end, '{', '}');
        expand_braces(shell, text, start, end, ret);
    } else if (isalpha((unsigned char)next) || next == '_') {
        while (end < len && is_name_char(text[end]))
            end++;
        const char *name = ap_arena_strndup(shell->arena, text + start + 1, end - start - 1);
        const ap_shell_var *var = ap_shell_get(shell, name);
        if (var)
            give_variable(shell, ret, var, false);
        else
            give_unknown(shell, ret, text + start, end - start);
    } else if (next && strchr("0123456789@*#?!-$", next)) {
        end++;
        give_unknown(shell, ret, text + start, end - start);
    } else {
        give_text(shell, ret, "$", SIZE_MAX);
    }
    *pos = end;
}
