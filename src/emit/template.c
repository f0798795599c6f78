#include "emit/template.h"

#include <string.h>

#include "base/num.h"
#include "base/text.h"

/* ---- values ----------------------------------------------------------------------------------------------------- */

ap_scope *ap_scope_new(ap_arena *arena, const ap_scope *outer)
{
    ap_scope *scope = AP_NEW(arena, ap_scope);
    scope->arena = arena;
    scope->outer = outer;
    return scope;
}

static ap_named *own(const ap_scope *scope, const char *name)
{
    for (size_t i = 0; i < scope->count; i++)
        if (strcmp(scope->items[i].name, name) == 0)
            return &scope->items[i];
    return NULL;
}

static ap_named *place(ap_scope *scope, const char *name, ap_named_kind kind)
{
    ap_named *named = own(scope, name);
    if (!named)
        named = AP_PUSH(scope->arena, scope->items, scope->count, scope->capacity);
    *named = (ap_named){.name = name, .kind = kind};
    return named;
}

void ap_scope_text(ap_scope *scope, const char *name, const char *text)
{
    place(scope, name, AP_NAMED_TEXT)->text = text;
}

void ap_scope_raw(ap_scope *scope, const char *name, const char *text)
{
    place(scope, name, AP_NAMED_RAW)->text = text;
}

void ap_scope_number(ap_scope *scope, const char *name, double value)
{
    char text[40] = "";
    if (ap_known(value))
        ap_num_format(value, text);
    ap_scope_raw(scope, name, ap_arena_strdup(scope->arena, text));
}

void ap_scope_flag(ap_scope *scope, const char *name, bool on)
{
    ap_scope_raw(scope, name, on ? "true" : NULL);
}

void ap_scope_list(ap_scope *scope, const char *name)
{
    place(scope, name, AP_NAMED_LIST);
}

ap_scope *ap_scope_item(ap_scope *scope, const char *name)
{
    ap_named *named = own(scope, name);
    if (!named || named->kind != AP_NAMED_LIST)
        named = place(scope, name, AP_NAMED_LIST);
    ap_scope **item = AP_PUSH(scope->arena, named->items, named->count, named->capacity);
    return *item = ap_scope_new(scope->arena, scope);
}

const ap_named *ap_scope_find(const ap_scope *scope, const char *name)
{
    for (; scope; scope = scope->outer) {
        const ap_named *named = own(scope, name);
        if (named)
            return named;
    }
    return NULL;
}

/* ---- tags ------------------------------------------------------------------------------------------------------- */

typedef enum tag_kind { TAG_NONE, TAG_VALUE, TAG_IF, TAG_EACH, TAG_END_IF, TAG_END_EACH, TAG_BAD } tag_kind;

typedef struct tag {
    tag_kind kind;
    const char *start, *end; /* of the tag, with braces */
    ap_language language;
    char name[64];
} tag;

typedef struct renderer {
    const ap_template *tmpl;
    ap_diags *diags;
    ap_sbuf *out;
    bool failed;
    int depth;
} renderer;

enum { MOST_DEPTH = 8 };

static void complain(renderer *r, const char *at, const char *hint, const char *message)
{
    ap_pos pos = {.file = r->tmpl->name, .line = 1, .col = 1};
    for (const char *c = r->tmpl->text; c < at; c++) {
        pos.line += *c == '\n';
        pos.col = *c == '\n' ? 1 : pos.col + 1;
    }
    ap_diag_add(r->diags, AP_ERROR, 810, pos, "%s", message)->hint = hint;
    r->failed = true;
}

static bool copy_name(const char *from, size_t len, tag *ret)
{
    if (len == 0 || len >= sizeof ret->name || strspn(from, "abcdefghijklmnopqrstuvwxyz0123456789_") < len)
        return false;
    memcpy(ret->name, from, len);
    ret->name[len] = '\0';
    return true;
}

/* The words between the braces: "#if name", "/each", "sh name", "name". */
static tag_kind read_inside(const ap_template *tmpl, const char *text, size_t len, tag *ret)
{
    static const struct {
        const char *word;
        tag_kind kind;
    } ends[] = {{"/if", TAG_END_IF}, {"/each", TAG_END_EACH}};
    static const struct {
        const char *word;
        tag_kind kind;
    } blocks[] = {{"#if ", TAG_IF}, {"#each ", TAG_EACH}};
    for (size_t i = 0; i < 2; i++)
        if (len == strlen(ends[i].word) && memcmp(text, ends[i].word, len) == 0)
            return ends[i].kind;
    for (size_t i = 0; i < 2; i++) {
        size_t word = strlen(blocks[i].word);
        if (len > word && memcmp(text, blocks[i].word, word) == 0)
            return copy_name(text + word, len - word, ret) ? blocks[i].kind : TAG_BAD;
    }
    const char *blank = memchr(text, ' ', len);
    ret->language = tmpl->language;
    if (blank) {
        ret->language = ap_language_parse(text, (size_t)(blank - text));
        len -= (size_t)(blank + 1 - text);
        text = blank + 1;
    }
    return ret->language < AP_LANG_COUNT && copy_name(text, len, ret) ? TAG_VALUE : TAG_BAD;
}

static tag next_tag(const ap_template *tmpl, const char *from)
{
    tag found = {.kind = TAG_NONE};
    const char *open = strstr(from, "{{"), *close = open ? strstr(open, "}}") : NULL;
    if (!open)
        return found;
    found.start = open;
    found.end = close ? close + 2 : open + 2;
    found.kind = close ? read_inside(tmpl, open + 2, (size_t)(close - open - 2), &found) : TAG_BAD;
    return found;
}

/* A block's tag alone on its line: the line goes, with its end. */
static void widen(const ap_template *tmpl, tag *t)
{
    if (t->kind < TAG_IF || t->kind > TAG_END_EACH)
        return;
    const char *start = t->start, *end = t->end;
    while (start > tmpl->text && (start[-1] == ' ' || start[-1] == '\t'))
        start--;
    while (*end == ' ' || *end == '\t')
        end++;
    if ((start == tmpl->text || start[-1] == '\n') && *end == '\n') {
        t->start = start;
        t->end = end + 1;
    }
}

/* ---- rendering -------------------------------------------------------------------------------------------------- */

static const char *render_until(renderer *r, const char *from, const ap_scope *scope, tag_kind end);

static const ap_named *find(renderer *r, const tag *t, const ap_scope *scope)
{
    const ap_named *named = ap_scope_find(scope, t->name);
    if (named)
        return named;
    ap_suggest suggest;
    ap_suggest_init(&suggest, t->name);
    for (const ap_scope *s = scope; s; s = s->outer)
        for (size_t i = 0; i < s->count; i++)
            ap_suggest_offer(&suggest, s->items[i].name);
    complain(r, t->start, ap_suggest_text(&suggest, r->diags->arena),
             ap_arena_printf(r->diags->arena, "unknown name '%s'", t->name));
    return NULL;
}

static bool is_there(const ap_named *named)
{
    return named && (named->kind == AP_NAMED_LIST ? named->count > 0 : named->text && *named->text);
}

static void put_value(renderer *r, const tag *t, const ap_scope *scope)
{
    const ap_named *named = find(r, t, scope);
    if (!named)
        return;
    if (named->kind == AP_NAMED_LIST)
        complain(r, t->start, "write {{#each}}", ap_arena_printf(r->diags->arena, "'%s' is a list", t->name));
    else if (named->kind == AP_NAMED_RAW)
        ap_sbuf_add(r->out, named->text ? named->text : "");
    else
        ap_quote(t->language, named->text ? named->text : "", r->out);
}

/* Passes over a block without output; unknown names in it are still found. */
static const char *skip(renderer *r, const char *from, const ap_scope *scope, tag_kind end)
{
    ap_sbuf nowhere, *out = r->out;
    ap_sbuf_init(&nowhere, r->diags->arena);
    r->out = &nowhere;
    const char *after = render_until(r, from, scope, end);
    r->out = out;
    return after;
}

/* Names of items are unknown where a list has none: the block is only measured, its faults show when it has items. */
static const char *skip_each(renderer *r, const char *from)
{
    int depth = 1;
    for (tag t = next_tag(r->tmpl, from); t.kind != TAG_NONE; t = next_tag(r->tmpl, from)) {
        widen(r->tmpl, &t);
        depth += t.kind == TAG_EACH ? 1 : t.kind == TAG_END_EACH ? -1 : 0;
        from = t.end;
        if (depth == 0)
            break;
    }
    return from;
}

static const char *put_block(renderer *r, const tag *t, const ap_scope *scope)
{
    if (r->depth >= MOST_DEPTH) {
        complain(r, t->start, NULL, "blocks are nested too deeply");
        return t->end + strlen(t->end);
    }
    r->depth++;
    const ap_named *named = find(r, t, scope);
    const char *after = t->end;
    if (t->kind == TAG_IF)
        after = is_there(named) ? render_until(r, t->end, scope, TAG_END_IF) : skip(r, t->end, scope, TAG_END_IF);
    else if (named && named->kind == AP_NAMED_LIST && named->count > 0)
        for (size_t i = 0; i < named->count; i++)
            after = render_until(r, t->end, named->items[i], TAG_END_EACH);
    else
        after = skip_each(r, t->end);
    if (t->kind == TAG_EACH && named && named->kind != AP_NAMED_LIST)
        complain(r, t->start, "write {{#if}}", ap_arena_printf(r->diags->arena, "'%s' is no list", t->name));
    r->depth--;
    return after;
}

static const char *render_until(renderer *r, const char *from, const ap_scope *scope, tag_kind end)
{
    for (;;) {
        tag t = next_tag(r->tmpl, from);
        widen(r->tmpl, &t);
        if (t.kind == TAG_NONE) {
            ap_sbuf_add(r->out, from);
            if (end != TAG_NONE)
                complain(r, from + strlen(from), NULL,
                         end == TAG_END_IF ? "{{/if}} is missing" : "{{/each}} is missing");
            return from + strlen(from);
        }
        if (t.start > from)
            ap_sbuf_add_len(r->out, from, (size_t)(t.start - from));
        from = t.end;
        if (t.kind == end)
            return from;
        if (t.kind == TAG_VALUE)
            put_value(r, &t, scope);
        else if (t.kind == TAG_IF || t.kind == TAG_EACH)
            from = put_block(r, &t, scope);
        else
            complain(r, t.start, NULL, t.kind == TAG_BAD ? "this is no tag of a template" : "this ends no block");
    }
}

ap_status ap_template_render(const ap_template *tmpl, const ap_scope *scope, ap_diags *diags, ap_sbuf *out)
{
    renderer r = {.tmpl = tmpl, .diags = diags, .out = out};
    (void)render_until(&r, tmpl->text, scope, TAG_NONE);
    return r.failed ? AP_BAD_DATA : AP_OK;
}
