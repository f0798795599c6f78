#define _GNU_SOURCE /* memmem */
#include "jobs/shell.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { MAX_COMMANDS = 4000, MAX_WORDS = 20000, EXPANSION_BUDGET = 1 << 20, SEARCH_WINDOW = 16384 };

/* State of one text being read. */
typedef struct reader {
    ap_shell *shell;
    const char *text;
    size_t len, pos;
    size_t at; /* direct: offset of text in the source; else where searching goes on */
    bool direct;
    size_t word_total;
    ap_shell_command current;
    /* the word being read */
    ap_sbuf buf;
    size_t word_start; /* in text */
    size_t var_at;     /* place of the definition when the word came from a variable, SIZE_MAX = none */
    bool in_word, unknown, quoted;
    /* here-documents whose text begins at the next line */
    struct {
        const char *end;
        bool strip;
        size_t command;
    } here[8];
    size_t here_count;
} reader;

void ap_shell_init(ap_shell *shell, ap_arena *arena, const char *source, size_t source_len)
{
    *shell = (ap_shell){.arena = arena, .source = source, .source_len = source_len, .budget = EXPANSION_BUDGET};
}

const ap_shell_var *ap_shell_get(const ap_shell *shell, const char *name)
{
    for (size_t i = shell->var_count; i-- > 0;)
        if (strcmp(shell->vars[i].name, name) == 0)
            return &shell->vars[i];
    return NULL;
}

static ap_shell_var *declare(ap_shell *shell, const char *name)
{
    ap_shell_var *var = NULL;
    for (size_t i = 0; i < shell->var_count && !var; i++)
        if (strcmp(shell->vars[i].name, name) == 0)
            var = &shell->vars[i];
    if (!var && shell->var_count < 2000)
        var = AP_PUSH(shell->arena, shell->vars, shell->var_count, shell->var_capacity);
    if (!var)
        return NULL;
    *var = (ap_shell_var){.name = name};
    return var;
}

void ap_shell_set(ap_shell *shell, const char *name, const char *value, size_t at, bool unknown)
{
    ap_shell_var *var = declare(shell, name);
    if (!var)
        return;
    *AP_PUSH(shell->arena, var->words.items, var->words.count, var->words.capacity) =
        (ap_word){.text = value, .at = at, .unknown = unknown};
    var->unknown = unknown;
}

/* Where a word of the text stands in the source. */
static size_t place(reader *r, size_t start, size_t end)
{
    if (r->direct)
        return r->at + start;
    size_t stem = start;
    while (stem < end && strchr("\"'\\", r->text[stem]))
        stem++;
    size_t stop = stem;
    while (stop < end && !strchr("\"'\\$ \n", r->text[stop]))
        stop++;
    const ap_shell *shell = r->shell;
    if (stop == stem || r->at >= shell->source_len)
        return r->at;
    const char *from = shell->source + r->at;
    size_t window = shell->source_len - r->at < SEARCH_WINDOW ? shell->source_len - r->at : SEARCH_WINDOW;
    const char *found = memmem(from, window, r->text + stem, stop - stem);
    if (found)
        r->at = (size_t)(found - shell->source);
    size_t here = r->at;
    if (found && here + (stop - stem) <= shell->source_len)
        r->at += stop - stem;
    return here;
}

static void push_word(reader *r, const char *text, size_t at, bool unknown, bool quoted)
{
    if (++r->word_total > MAX_WORDS)
        return;
    ap_words *words = &r->current.words;
    *AP_PUSH(r->shell->arena, words->items, words->count, words->capacity) = (ap_word){text, at, unknown, quoted};
}

static bool is_assignment(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return *text == '=' || (*text == '+' && text[1] == '=');
}

static bool is_declaration(const char *word)
{
    static const char *const words[] = {"export", "declare", "local", "readonly", "typeset"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static bool is_keyword(const char *word)
{
    static const char *const words[] = {"if", "then", "else", "elif", "while", "until", "do", "{", "!", "time", "set"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* May the word that comes next be an assignment? */
static bool at_command_start(const reader *r)
{
    const ap_words *words = &r->current.words;
    if (words->count == 0)
        return true;
    return is_declaration(words->items[0].text) || (words->count == 1 && is_keyword(words->items[0].text));
}

static void assign(reader *r, const char *text, size_t at)
{
    ap_shell *shell = r->shell;
    const char *equals = strchr(text, '=');
    bool append = equals > text && equals[-1] == '+';
    const char *name = ap_arena_strndup(shell->arena, text, (size_t)(equals - text) - append);
    const char *value = equals + 1;
    size_t value_at = at + (size_t)(equals - text) + 1;
    const ap_shell_var *old = append ? ap_shell_get(shell, name) : NULL;
    bool unknown = r->unknown;
    if (old && old->words.count > 0 && strlen(old->words.items[0].text) < 65536) {
        unknown = unknown || old->unknown;
        value_at = old->words.items[0].at;
        value = ap_arena_printf(shell->arena, "%s%s", old->words.items[0].text, value);
    }
    ap_words *assigns = &r->current.assigns;
    *AP_PUSH(shell->arena, assigns->items, assigns->count, assigns->capacity) =
        (ap_word){.text = ap_arena_printf(shell->arena, "%s=%s", name, value), .at = at, .unknown = unknown};
    ap_shell_set(shell, name, value, value_at, unknown);
}

static void end_word(reader *r)
{
    if (!r->in_word)
        return;
    const char *text = ap_arena_strndup(r->shell->arena, r->buf.text ? r->buf.text : "", r->buf.len);
    size_t at = place(r, r->word_start, r->pos);
    if (at_command_start(r) && is_assignment(text))
        assign(r, text, at);
    else
        push_word(r, text, r->var_at != SIZE_MAX ? r->var_at : at, r->unknown, r->quoted);
    ap_sbuf_init(&r->buf, r->shell->arena);
    r->in_word = r->unknown = r->quoted = false;
    r->var_at = SIZE_MAX;
}

static void begin_word(reader *r)
{
    if (r->in_word)
        return;
    r->in_word = true;
    r->word_start = r->pos;
    r->var_at = SIZE_MAX;
}

static void end_command(reader *r)
{
    end_word(r);
    ap_shell *shell = r->shell;
    if (r->current.words.count == 0 && r->current.assigns.count == 0)
        return;
    if (shell->command_count < MAX_COMMANDS)
        *AP_PUSH(shell->arena, shell->commands, shell->command_count, shell->command_capacity) = r->current;
    else
        shell->commands_full = true;
    if (r->current.words.count > 1 && strcmp(r->current.words.items[0].text, "for") == 0)
        ap_shell_set(shell, r->current.words.items[1].text, "", SIZE_MAX, true);
    r->current = (ap_shell_command){0};
}

/* An expansion outside quotes: its first piece continues the word, its last one begins the next. */
static void expand_unquoted(reader *r)
{
    ap_shell_expansion expansion;
    begin_word(r);
    bool alone = r->buf.len == 0 && (!r->quoted || r->text[r->pos - 1] == '"');
    ap_shell_expand(r->shell, r->text, r->len, &r->pos, &expansion);
    for (size_t i = 0; i < expansion.words.count; i++) {
        const ap_word *word = &expansion.words.items[i];
        bool splits = i > 0;
        if (splits) {
            end_word(r);
            begin_word(r);
        }
        ap_sbuf_add(&r->buf, word->text);
        r->unknown = r->unknown || expansion.unknown;
        if ((alone || splits) && word->at != SIZE_MAX && !at_command_start(r))
            r->var_at = word->at;
        alone = false;
    }
    if (expansion.words.count == 0 && r->buf.len == 0 && !r->quoted && !expansion.unknown)
        r->in_word = false; /* an empty variable makes no word */
}

/* Is "${NAME[@]}" here, which stays as many words as it has within quotes too? */
static bool is_whole_array(const reader *r)
{
    size_t pos = r->pos + 2;
    if (r->pos + 1 >= r->len || r->text[r->pos + 1] != '{')
        return false;
    while (pos < r->len && (isalnum((unsigned char)r->text[pos]) || r->text[pos] == '_'))
        pos++;
    return pos > r->pos + 2 && r->len - pos >= 4 && memcmp(r->text + pos, "[@]}", 4) == 0;
}

static void expand_quoted(reader *r)
{
    ap_shell_expansion expansion;
    if (is_whole_array(r)) {
        expand_unquoted(r);
        r->quoted = r->in_word;
        return;
    }
    ap_shell_expand(r->shell, r->text, r->len, &r->pos, &expansion);
    for (size_t i = 0; i < expansion.words.count; i++) {
        if (i > 0)
            ap_sbuf_add_char(&r->buf, ' ');
        ap_sbuf_add(&r->buf, expansion.words.items[i].text);
    }
    r->unknown = r->unknown || expansion.unknown;
}

static void read_double_quotes(reader *r)
{
    r->pos++;
    while (r->pos < r->len && r->text[r->pos] != '"') {
        char c = r->text[r->pos];
        begin_word(r); /* ended by an empty array */
        if (c == '\\' && r->pos + 1 < r->len && strchr("$`\"\\\n", r->text[r->pos + 1])) {
            if (r->text[r->pos + 1] != '\n')
                ap_sbuf_add_char(&r->buf, r->text[r->pos + 1]);
            r->pos += 2;
        } else if (c == '$' || c == '`') {
            expand_quoted(r);
        } else {
            ap_sbuf_add_char(&r->buf, c);
            r->pos++;
        }
    }
    r->pos += r->pos < r->len;
}

static void read_single_quotes(reader *r)
{
    size_t start = ++r->pos;
    while (r->pos < r->len && r->text[r->pos] != '\'')
        r->pos++;
    ap_sbuf_add_len(&r->buf, r->text + start, r->pos - start);
    r->pos += r->pos < r->len;
}

static void read_words(reader *r);

/* NAME=( words ): remembered as a list, its words placed where they stand. */
static void read_array(reader *r)
{
    ap_shell *shell = r->shell;
    size_t close = ap_shell_skip(r->text, r->len, r->pos, '(', ')');
    size_t name_len = r->buf.len - 1;
    bool append = name_len > 0 && r->buf.text[name_len - 1] == '+';
    const char *name = ap_arena_strndup(shell->arena, r->buf.text, name_len - append);
    size_t inner = r->pos + 1, end = close > inner ? close - 1 : inner;
    ap_shell_command outer = r->current;
    r->current = (ap_shell_command){0};
    ap_sbuf_init(&r->buf, shell->arena);
    r->in_word = false;
    reader list = *r;
    *AP_PUSH(shell->arena, list.current.words.items, list.current.words.count, list.current.words.capacity) =
        (ap_word){.text = "(", .at = 0};
    list.len = end;
    list.pos = inner;
    read_words(&list);
    ap_shell_var *var = NULL;
    const ap_shell_var *old = ap_shell_get(shell, name);
    ap_words before = append && old ? old->words : (ap_words){0};
    bool unknown = append && old && old->unknown;
    var = declare(shell, name);
    for (size_t i = 0; var && i < before.count; i++)
        *AP_PUSH(shell->arena, var->words.items, var->words.count, var->words.capacity) = before.items[i];
    for (size_t i = 1; var && i < list.current.words.count; i++)
        *AP_PUSH(shell->arena, var->words.items, var->words.count, var->words.capacity) = list.current.words.items[i];
    if (var)
        var->unknown = unknown;
    r->word_total = list.word_total;
    r->at = r->direct ? r->at : list.at;
    r->current = outer;
    r->pos = close;
}

static void read_here_mark(reader *r)
{
    r->pos += 2;
    bool strip = r->pos < r->len && r->text[r->pos] == '-';
    r->pos += strip;
    while (r->pos < r->len && (r->text[r->pos] == ' ' || r->text[r->pos] == '\t'))
        r->pos++;
    size_t start = r->pos;
    while (r->pos < r->len && !strchr(" \t\n;|&<>()", r->text[r->pos]))
        r->pos++;
    ap_sbuf word;
    ap_sbuf_init(&word, r->shell->arena);
    for (size_t i = start; i < r->pos; i++)
        if (!strchr("'\"\\", r->text[i]))
            ap_sbuf_add_char(&word, r->text[i]);
    if (word.len > 0 && r->here_count < 8) {
        r->here[r->here_count].end = word.text;
        r->here[r->here_count].strip = strip;
        r->here[r->here_count++].command = r->shell->command_count;
    }
}

/* The lines of the here-documents that were announced on the line just ended. */
static void read_here_documents(reader *r)
{
    for (size_t k = 0; k < r->here_count; k++) {
        size_t start = r->pos, line = r->pos, end = r->len;
        while (line < r->len) {
            const char *newline = memchr(r->text + line, '\n', r->len - line);
            size_t stop = newline ? (size_t)(newline - r->text) : r->len, from = line;
            while (r->here[k].strip && from < stop && r->text[from] == '\t')
                from++;
            if (stop - from == strlen(r->here[k].end) && memcmp(r->text + from, r->here[k].end, stop - from) == 0) {
                end = line;
                line = newline ? stop + 1 : stop;
                break;
            }
            line = newline ? stop + 1 : stop;
        }
        if (r->here[k].command < r->shell->command_count) {
            ap_shell_command *command = &r->shell->commands[r->here[k].command];
            end = end < start ? start : end;
            command->here = ap_arena_strndup(r->shell->arena, r->text + start, end - start);
            command->here_at = r->direct ? r->at + start : r->at;
        }
        r->pos = line;
    }
    r->here_count = 0;
}

static void skip_redirection(reader *r)
{
    while (r->pos < r->len && strchr("<>&|", r->text[r->pos]))
        r->pos++;
    while (r->pos < r->len && (r->text[r->pos] == ' ' || r->text[r->pos] == '\t'))
        r->pos++;
    if (r->pos < r->len && r->text[r->pos] == '(') {
        r->pos = ap_shell_skip(r->text, r->len, r->pos, '(', ')');
        return;
    }
    while (r->pos < r->len && !strchr(" \t\n;|&<>()", r->text[r->pos]))
        r->pos++;
}

static void read_operator(reader *r)
{
    char c = r->text[r->pos];
    bool digits = r->in_word && r->buf.len == 1 && isdigit((unsigned char)*r->buf.text);
    if (c == '<' || c == '>') {
        if (digits) {
            ap_sbuf_init(&r->buf, r->shell->arena);
            r->in_word = false;
        }
        end_word(r);
        bool here = c == '<' && r->pos + 2 < r->len && r->text[r->pos + 1] == '<' && r->text[r->pos + 2] != '<';
        if (here)
            read_here_mark(r);
        else
            skip_redirection(r);
        return;
    }
    if (c == '&' && r->pos + 1 < r->len && r->text[r->pos + 1] == '>') {
        end_word(r);
        skip_redirection(r);
        return;
    }
    end_command(r);
    r->pos++;
    if (c == '\n' && r->here_count)
        read_here_documents(r);
}

static bool starts_array(const reader *r)
{
    if (!r->in_word || r->buf.len < 2 || r->buf.text[r->buf.len - 1] != '=' || !at_command_start(r))
        return false;
    return is_assignment(r->buf.text);
}

static void read_char(reader *r, bool list)
{
    char c = r->text[r->pos];
    if (c == '\\' && r->pos + 1 < r->len) {
        size_t skip = r->text[r->pos + 1] == '\r' && r->pos + 2 < r->len && r->text[r->pos + 2] == '\n' ? 3 : 2;
        bool line = skip == 3 || r->text[r->pos + 1] == '\n';
        if (!line) {
            begin_word(r);
            ap_sbuf_add_char(&r->buf, r->text[r->pos + 1]);
        } else {
            end_word(r);
        }
        r->pos += skip;
    } else if (c == ' ' || c == '\t' || c == '\r' || (list && c == '\n')) {
        end_word(r);
        r->pos++;
    } else if (c == '#' && !r->in_word) {
        while (r->pos < r->len && r->text[r->pos] != '\n')
            r->pos++;
    } else if (c == '"' || c == '\'') {
        begin_word(r);
        r->quoted = true;
        if (c == '"')
            read_double_quotes(r);
        else
            read_single_quotes(r);
    } else if (c == '$' || c == '`') {
        expand_unquoted(r);
    } else if (c == '(' && starts_array(r)) {
        read_array(r);
    } else if (strchr("\n;&|<>()", c) && !list) {
        read_operator(r);
    } else {
        begin_word(r);
        ap_sbuf_add_char(&r->buf, c);
        r->pos++;
    }
}

static void read_words(reader *r)
{
    ap_sbuf_init(&r->buf, r->shell->arena);
    while (r->pos < r->len && r->word_total <= MAX_WORDS)
        read_char(r, true);
    end_word(r);
}

void ap_shell_read(ap_shell *shell, const char *text, size_t len, size_t at, bool direct)
{
    reader r = {.shell = shell, .text = text, .len = len, .at = at, .direct = direct, .var_at = SIZE_MAX};
    ap_sbuf_init(&r.buf, shell->arena);
    while (r.pos < len && r.word_total <= MAX_WORDS && !shell->commands_full)
        read_char(&r, false);
    end_command(&r);
}
