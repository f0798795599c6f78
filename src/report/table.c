/* Text for a terminal: headings, paragraphs, sheets and tables. A table that is too wide first loses columns by priority,
 * then its flexible columns are shortened; what went is said below it. */
#include <string.h>

#include "base/text.h"
#include "report/render.h"

#define GAP          ((size_t)2)
#define SHORTEST     ((size_t)12) /* a flexible column is not cut below this, */
#define SHORTEST_KEY ((size_t)24) /* one that is always shown not below that, */
#define WHOLE_KEY    ((size_t)40) /* and whole up to this as long as other columns can give way: people copy it */
#define WIDEST_TEXT  ((size_t)110)
#define EMPTY_HIDDEN 3 /* columns of this priority and above vanish when no row has a value */
#define RULE         "\xE2\x94\x80"
#define ELLIPSIS     "\xE2\x80\xA6"
#define BULLET       "\xE2\x80\xA2"

typedef struct painter {
    ap_sbuf *out;
    const ap_render_options *options;
    size_t width; /* 0 = unlimited */
} painter;

typedef struct grid {
    const ap_column *columns;
    const char **cells; /* rows * columns */
    size_t *widths;
    bool *hidden;
    size_t rows, count, least_key;
} grid;

static void paint(const painter *p, const char *code, const char *text)
{
    if (p->options->color && *text)
        ap_sbuf_printf(p->out, "\033[%sm%s\033[0m", code, text);
    else
        ap_sbuf_add(p->out, text);
}

static void add_wrapped(const painter *p, const char *text, size_t indent)
{
    size_t width = p->width ? (p->width < WIDEST_TEXT ? p->width : WIDEST_TEXT) : 0, column = indent;
    while (*text) {
        size_t len = strcspn(text, " \n");
        const char *word = ap_arena_strndup(p->out->arena, text, len);
        size_t columns = ap_text_width(word);
        if (column > indent && width && column + 1 + columns > width) {
            ap_sbuf_add_char(p->out, '\n');
            ap_sbuf_add_repeat(p->out, ' ', indent);
            column = indent;
        } else if (column > indent) {
            ap_sbuf_add_char(p->out, ' ');
            column++;
        }
        ap_sbuf_add(p->out, word);
        column += columns;
        text += len;
        while (*text == ' ' || *text == '\n')
            text++;
    }
    ap_sbuf_add_char(p->out, '\n');
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static bool column_is_empty(const ap_block *block, const ap_column *column, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        const ap_value *value = ap_value_at(ap_block_row(block, i), column->path);
        if (value && value->kind != AP_V_NULL && !(value->kind == AP_V_BOOL && !value->as.boolean) &&
            !(value->kind == AP_V_TEXT && !*value->as.text))
            return false;
    }
    return true;
}

static void fill_column(const painter *p, const ap_block *block, grid *g, size_t c, const ap_column *column)
{
    g->widths[c] = ap_text_width(column->title);
    for (size_t r = 0; r < g->rows && !g->hidden[c]; r++) {
        const char *cell = ap_cell_text(p->out->arena, ap_block_row(block, r), column);
        size_t width = ap_text_width(cell);
        g->cells[r * g->count + c] = cell;
        if (width > g->widths[c])
            g->widths[c] = width;
    }
}

static void fill_grid(const painter *p, const ap_block *block, grid *g)
{
    ap_arena *arena = p->out->arena;
    bool wide = p->options->format == AP_FORMAT_WIDE;
    g->cells = AP_NEW_ARRAY(arena, const char *, g->rows * g->count);
    g->widths = AP_NEW_ARRAY(arena, size_t, g->count);
    g->hidden = AP_NEW_ARRAY(arena, bool, g->count);
    for (size_t c = 0; c < g->count; c++) {
        const ap_column *column = &g->columns[c];
        g->hidden[c] = !wide && (column->priority >= 9 ||
                                 (column->priority >= EMPTY_HIDDEN && column_is_empty(block, column, g->rows)));
        fill_column(p, block, g, c, column);
    }
}

static size_t least_width(const grid *g, size_t c)
{
    size_t title = ap_text_width(g->columns[c].title), least = g->columns[c].priority == 1 ? g->least_key : SHORTEST;
    least = title > least ? title : least;
    return g->columns[c].flexible && g->widths[c] > least ? least : g->widths[c];
}

static size_t total_width(const grid *g, bool least)
{
    size_t total = 0;
    for (size_t c = 0; c < g->count; c++)
        if (!g->hidden[c])
            total += (total ? GAP : 0) + (least ? least_width(g, c) : g->widths[c]);
    return total;
}

/* Hides the least important column of at least this priority; false when there is none. */
static bool hide_one(grid *g, int priority)
{
    size_t worst = g->count;
    for (size_t c = 0; c < g->count; c++)
        if (!g->hidden[c] && g->columns[c].priority >= priority &&
            (worst == g->count || g->columns[c].priority >= g->columns[worst].priority))
            worst = c;
    if (worst == g->count)
        return false;
    g->hidden[worst] = true;
    return true;
}

/* Shows the last column that has a range without it; false when none has one. The first range stays: the reader must
 * see that figures have one. */
static bool drop_range(const painter *p, const ap_block *block, grid *g, bool *dropped)
{
    size_t ranges = 0, last = 0;
    for (size_t c = 0; c < g->count; c++)
        if (!g->hidden[c] && g->columns[c].low_path && !dropped[c]) {
            ranges++;
            last = c;
        }
    if (ranges < 2)
        return false;
    ap_column plain = g->columns[last];
    plain.low_path = plain.high_path = NULL;
    fill_column(p, block, g, last, &plain);
    return dropped[last] = true;
}

/* Cuts flexible columns, the widest first, but none below its least width. */
static void cut_columns(grid *g, size_t width)
{
    while (total_width(g, false) > width) {
        size_t widest = g->count;
        for (size_t c = 0; c < g->count; c++)
            if (!g->hidden[c] && g->columns[c].flexible && g->widths[c] > least_width(g, c) &&
                (widest == g->count || g->widths[c] > g->widths[widest]))
                widest = c;
        if (widest == g->count)
            return;
        g->widths[widest]--;
    }
}

/* Makes room in this order: columns that matter less, ranges, the rest of the columns, and only then the keys. Returns the
 * number of columns lost. */
static size_t fit_grid(const painter *p, const ap_block *block, grid *g)
{
    size_t lost = 0;
    bool *dropped = AP_NEW_ARRAY(p->out->arena, bool, g->count);
    g->least_key = WHOLE_KEY;
    while (total_width(g, true) > p->width && hide_one(g, 3))
        lost++;
    while (total_width(g, true) > p->width && drop_range(p, block, g, dropped))
        continue;
    if (total_width(g, true) > p->width)
        g->least_key = SHORTEST_KEY;
    while (total_width(g, true) > p->width && hide_one(g, 2))
        lost++;
    size_t least = g->least_key;
    g->least_key = WHOLE_KEY;
    cut_columns(g, p->width);
    g->least_key = least;
    cut_columns(g, p->width);
    return lost;
}

/* The first `width` columns of the text, the last of them an ellipsis when it is longer. */
static const char *shorten(ap_arena *arena, const char *text, size_t width)
{
    if (ap_text_width(text) <= width)
        return text;
    size_t len = strlen(text);
    while (len > 0) {
        do
            len--;
        while (len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80);
        const char *head = ap_arena_strndup(arena, text, len);
        if (ap_text_width(head) + 1 <= width)
            return ap_arena_printf(arena, "%s" ELLIPSIS, head);
    }
    return ELLIPSIS;
}

static void add_padded(const painter *p, const grid *g, size_t c, const char *text, const char *code)
{
    const char *cell = shorten(p->out->arena, text ? text : "", g->widths[c]);
    size_t pad = g->widths[c] - ap_text_width(cell);
    if (g->columns[c].right)
        ap_sbuf_add_repeat(p->out, ' ', pad);
    if (code)
        paint(p, code, cell);
    else
        ap_sbuf_add(p->out, cell);
    if (!g->columns[c].right)
        ap_sbuf_add_repeat(p->out, ' ', pad);
}

static void trim_blanks(ap_sbuf *out)
{
    while (out->len && out->text[out->len - 1] == ' ')
        out->text[--out->len] = '\0';
}

static void add_grid(const painter *p, const grid *g)
{
    for (size_t line = 0; line < g->rows + 2; line++) {
        bool first = true;
        for (size_t c = 0; c < g->count; c++) {
            if (g->hidden[c])
                continue;
            if (!first)
                ap_sbuf_add_repeat(p->out, ' ', GAP);
            first = false;
            if (line == 0) {
                add_padded(p, g, c, g->columns[c].title, "1");
            } else if (line == 1) {
                ap_sbuf rule;
                ap_sbuf_init(&rule, p->out->arena);
                for (size_t i = 0; i < g->widths[c]; i++)
                    ap_sbuf_add(&rule, RULE);
                paint(p, "2", rule.text);
            } else {
                add_padded(p, g, c, g->cells[(line - 2) * g->count + c], NULL);
            }
        }
        trim_blanks(p->out);
        ap_sbuf_add_char(p->out, '\n');
    }
}

static void add_note(const painter *p, const char *note)
{
    ap_sbuf wrapped;
    ap_sbuf_init(&wrapped, p->out->arena);
    painter inner = {&wrapped, p->options, p->width};
    add_wrapped(&inner, note, 0);
    paint(p, "2", wrapped.text);
}

static void add_table(const painter *p, const ap_doc *doc, const ap_block *block)
{
    if (!block->rows || block->rows->kind != AP_V_LIST || block->rows->as.list.count == 0) {
        const char *empty = block->empty ? block->empty : block->main ? "Nothing matches." : "";
        if (*empty)
            add_wrapped(p, empty, 0);
        return;
    }
    grid g = {.rows = ap_block_shown(block)};
    g.count = ap_block_columns(doc, block, p->options, &g.columns);
    fill_grid(p, block, &g);
    size_t dropped = p->width && p->options->format != AP_FORMAT_WIDE ? fit_grid(p, block, &g) : 0;
    add_grid(p, &g);
    size_t all = ap_block_total(block);
    if (g.rows < all)
        add_note(p, ap_arena_printf(p->out->arena, "shown %zu of %zu (-n 0 for all)", g.rows, all));
    if (dropped)
        add_note(p, ap_arena_printf(p->out->arena, "%zu column%s hidden at this width (-f wide for all)", dropped,
                                    dropped == 1 ? "" : "s"));
}

/* ---- the other blocks -------------------------------------------------------------------------------------------- */

static void add_sheet(const painter *p, const ap_value *rows)
{
    ap_sheet_line *lines;
    size_t count = ap_sheet_lines(p->out->arena, rows, &lines), key_width = 0, value_width = 0;
    for (size_t i = 0; i < count; i++) {
        size_t key = ap_text_width(lines[i].key), value = ap_text_width(lines[i].value);
        key_width = key > key_width ? key : key_width;
        if (*lines[i].note && value > value_width && value <= 48)
            value_width = value;
    }
    for (size_t i = 0; i < count; i++) {
        ap_sbuf_add(p->out, "  ");
        paint(p, "2", lines[i].key);
        ap_sbuf_add_repeat(p->out, ' ', key_width - ap_text_width(lines[i].key) + GAP);
        if (!*lines[i].note) {
            add_wrapped(p, lines[i].value, key_width + GAP + 2);
            continue;
        }
        size_t value = ap_text_width(lines[i].value);
        ap_sbuf_add(p->out, lines[i].value);
        ap_sbuf_add_repeat(p->out, ' ', (value < value_width ? value_width - value : 0) + GAP);
        add_wrapped(p, lines[i].note,
                    2 + key_width + GAP + (value > value_width ? value : value_width) + GAP);
    }
}

static void add_bullets(const painter *p, const ap_value *list)
{
    for (size_t i = 0; i < list->as.list.count; i++) {
        ap_sbuf_add(p->out, "  " BULLET " ");
        add_wrapped(p, ap_cell_value_text(p->out->arena, list->as.list.items[i], AP_CELL_AUTO), 4);
    }
}

static void add_block(const painter *p, const ap_doc *doc, const ap_block *block)
{
    switch (block->kind) {
    case AP_BLOCK_HEADING:
        paint(p, "1", block->text);
        ap_sbuf_add_char(p->out, '\n');
        return;
    case AP_BLOCK_PARAGRAPH:
        add_wrapped(p, block->text, 0);
        return;
    case AP_BLOCK_TABLE:
        add_table(p, doc, block);
        return;
    case AP_BLOCK_SHEET:
        add_sheet(p, block->rows);
        return;
    case AP_BLOCK_BULLETS:
        add_bullets(p, block->rows);
        return;
    }
}

/* --fields asks for the main table alone, or for values of the root as a sheet. */
static bool add_fields_only(const painter *p, const ap_doc *doc)
{
    if (!p->options->field_count)
        return false;
    const ap_block *block = ap_doc_main(doc);
    if (block) {
        add_table(p, doc, block);
        return true;
    }
    ap_value *sheet = ap_value_list(doc->arena);
    for (size_t i = 0; i < p->options->field_count; i++) {
        const char *field = p->options->fields[i];
        ap_value *line = ap_value_map(doc->arena);
        ap_value_put(doc->arena, line, "key", ap_value_text(doc->arena, field));
        ap_value_put(doc->arena, line, "value",
                     ap_value_text(doc->arena, ap_cell_raw(doc->arena, ap_value_at(doc->root, field))));
        ap_value_push(doc->arena, sheet, line);
    }
    add_sheet(p, sheet);
    return true;
}

ap_status ap_render_table(const ap_doc *doc, const ap_render_options *options, ap_sbuf *out)
{
    painter p = {out, options, options->width > 0 ? (size_t)options->width : 0};
    if (add_fields_only(&p, doc))
        return AP_OK;
    bool tight = true; /* no blank line at the start and below a heading */
    for (size_t i = 0; i < doc->block_count; i++) {
        const ap_block *block = &doc->blocks[i];
        if (!ap_block_is_shown(block, options))
            continue;
        size_t before = out->len;
        if (!tight)
            ap_sbuf_add_char(out, '\n');
        size_t start = out->len;
        add_block(&p, doc, block);
        if (out->len == start) { /* an empty table leaves no gap */
            out->len = before;
            out->text[before] = '\0';
        } else {
            tight = block->kind == AP_BLOCK_HEADING;
        }
    }
    const char *note = ap_currency_note(doc->arena, options);
    if (note)
        add_note(&p, note);
    return AP_OK;
}
