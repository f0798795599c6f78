/* A reader of shell text: words of commands with the places they stand at, simple variables, arrays, here-documents. It
 * executes nothing: a command substitution, a positional argument or a variable that nobody set stays `$NAME` and the
 * word is marked unknown. Both arms of an if are read, loops once.
 *
 * Places are offsets into the source file. Text that is not the file itself (a YAML scalar, the string behind `bash
 * -c`) is searched for in the source from a starting offset on, word by word. */
#ifndef AP_JOBS_SHELL_H
#define AP_JOBS_SHELL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct ap_word {
    const char *text;
    size_t at;    /* offset into the source file */
    bool unknown; /* holds something that cannot be known */
    bool quoted;
} ap_word;

typedef struct ap_words {
    ap_word *items;
    size_t count, capacity;
} ap_words;

typedef struct ap_shell_command {
    ap_words assigns; /* NAME=VALUE before the command, or of export */
    ap_words words;
    const char *here; /* here-document fed to it, or NULL */
    size_t here_at;
} ap_shell_command;

typedef struct ap_shell_var {
    const char *name;
    ap_words words; /* one for a scalar */
    bool unknown;
} ap_shell_var;

typedef struct ap_shell {
    ap_arena *arena;
    const char *source; /* the whole file */
    size_t source_len;
    ap_shell_var *vars;
    size_t var_count, var_capacity;
    ap_shell_command *commands;
    size_t command_count, command_capacity;
    bool commands_full; /* budget spent: the rest is not read */
    size_t budget;      /* bytes that expansions may still make */
} ap_shell;

void ap_shell_init(ap_shell *shell, ap_arena *arena, const char *source, size_t source_len);
void ap_shell_set(ap_shell *shell, const char *name, const char *value, size_t at, bool unknown);
const ap_shell_var *ap_shell_get(const ap_shell *shell, const char *name);
/* Appends the commands of `text`. `direct`: text is source + at; otherwise words are searched for from `at` on. */
void ap_shell_read(ap_shell *shell, const char *text, size_t len, size_t at, bool direct);

/* -- between shell.c and expand.c -- */

typedef struct ap_shell_expansion {
    ap_words words; /* what an unquoted use makes */
    bool unknown;
} ap_shell_expansion;

/* Expands what starts at text[*pos] == '$' (or a backquote); moves *pos behind it. */
void ap_shell_expand(ap_shell *shell, const char *text, size_t len, size_t *pos, ap_shell_expansion *ret);
/* End of a bracketed piece that starts at text[pos], quotes respected; len when it does not end. */
size_t ap_shell_skip(const char *text, size_t len, size_t pos, char open, char close);

#endif
