/* Looking an id up in a page of the documentation: a section whose heading names it, a row of a table that starts with it,
 * or a formula that begins in bold with it. The pages are Markdown and are compiled into the program, so that the documentation is the explanation. */
#ifndef AP_VIEW_PAGES_H
#define AP_VIEW_PAGES_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct ap_page_entry {
    const char *title;   /* heading without marks and id; for a row: the heading above its table */
    const char *text;    /* body of the section as written, or "Column: cell" lines of the row */
} ap_page_entry;

bool ap_page_find(const char *page, size_t len, const char *id, ap_arena *arena, ap_page_entry *ret);
/* Ids of a page one after another, for did-you-mean: `*cursor` starts at 0; NULL at the end. */
const char *ap_page_next_id(const char *page, size_t len, size_t *cursor, ap_arena *arena);

#endif
