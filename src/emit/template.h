/* Templates of recipes: text with named values, and nothing that decides.
 *
 *   {{name}}                     the value, quoted for the template's language
 *   {{sh name}} {{yaml name}} {{json name}} {{text name}}   quoted for another one
 *   {{#if name}}…{{/if}}         kept where the value is there: text not empty, list not empty
 *   {{#each name}}…{{/each}}     once for every item; the item's names hide outer ones
 *
 * A tag of a block that stands alone on its line takes the line with it. A name that is unknown is an error, so a
 * typing error never becomes an empty flag. Values of kind RAW are put in as they are: numbers, and text that a
 * template made. Ownership: everything lives in the scope's arena. */
#ifndef AP_EMIT_TEMPLATE_H
#define AP_EMIT_TEMPLATE_H

#include "base/diag.h"
#include "base/status.h"
#include "emit/quote.h"

typedef struct ap_scope ap_scope;

typedef enum ap_named_kind { AP_NAMED_TEXT, AP_NAMED_RAW, AP_NAMED_LIST } ap_named_kind;

typedef struct ap_named {
    const char *name;
    ap_named_kind kind;
    const char *text; /* NULL or "": not there */
    ap_scope **items; /* LIST */
    size_t count, capacity;
} ap_named;

struct ap_scope {
    ap_arena *arena;
    const ap_scope *outer;
    ap_named *items;
    size_t count, capacity;
};

ap_scope *ap_scope_new(ap_arena *arena, const ap_scope *outer);
/* Set again, the last one counts. */
void ap_scope_text(ap_scope *scope, const char *name, const char *text);
void ap_scope_raw(ap_scope *scope, const char *name, const char *text);
void ap_scope_number(ap_scope *scope, const char *name, double value); /* NaN: not there */
void ap_scope_flag(ap_scope *scope, const char *name, bool on);
void ap_scope_list(ap_scope *scope, const char *name);      /* empty list */
ap_scope *ap_scope_item(ap_scope *scope, const char *name); /* one more item of the list */
const ap_named *ap_scope_find(const ap_scope *scope, const char *name);

typedef struct ap_template {
    const char *name; /* file, for messages */
    const char *text;
    ap_language language;
} ap_template;

/* AP_BAD_DATA with every fault located (codes 081x); what could be rendered is in `out`. */
AP_CHECKED ap_status ap_template_render(const ap_template *tmpl, const ap_scope *scope, ap_diags *diags, ap_sbuf *out);

#endif
