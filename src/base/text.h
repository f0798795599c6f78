/* Text as a terminal sees it, and did-you-mean. */
#ifndef AP_BASE_TEXT_H
#define AP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Columns that UTF-8 text takes (combining marks 0, East Asian wide 2, invalid bytes 1, control 0). */
size_t ap_text_width(const char *text);
/* Bytes of the character at `text` when it must not reach a terminal or a page: controls (also those of Latin-1) and the
 * marks that turn the direction of writing, by which text of others can steer or forge what is read. 0: harmless. */
size_t ap_text_unsafe(const char *text);
bool ap_utf8_valid(const char *text, size_t len, size_t *ret_bad_offset);

/* Weighted edit distance (case, separator and transposition differences are cheap); lower is nearer. */
unsigned ap_text_distance(const char *a, const char *b);

/* The up to `max` nearest candidates worth suggesting, nearest first, ties by order; returns how many. Feed it
 * candidates one at a time so that no caller has to build an array of names. */
typedef struct ap_suggest {
    const char *wanted;
    struct {
        const char *name;
        unsigned distance;
    } best[3];
    size_t count;
} ap_suggest;
void ap_suggest_init(ap_suggest *suggest, const char *wanted);
void ap_suggest_offer(ap_suggest *suggest, const char *candidate);
/* "did you mean 'a', 'b' or 'c'?" in the arena, or NULL when nothing is near. */
const char *ap_suggest_text(const ap_suggest *suggest, ap_arena *arena);

#endif
