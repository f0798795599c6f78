#include "io/csv.h"

#include <string.h>

#include "base/keyset.h"
#include "base/text.h"
#include "io/source.h"
#include "io/yaml.h"

typedef struct reader {
    const char *text;
    size_t len, at;
    int line;
    const char *name;
    ap_arena *arena;
    ap_diags *diags;
    const char **cells; /* of the row being read */
    size_t cell_count, cell_capacity;
} reader;

static void fail(reader *r, size_t offset, int code, const char *message)
{
    ap_diag_add(r->diags, AP_ERROR, code, ap_source_pos(r->text, r->len, r->name, offset), "%s", message);
}

static bool at_line_end(const reader *r)
{
    return r->at >= r->len || r->text[r->at] == '\n' || r->text[r->at] == '\r';
}

static void skip_line_end(reader *r)
{
    if (r->at < r->len && r->text[r->at] == '\r')
        r->at++;
    if (r->at < r->len && r->text[r->at] == '\n')
        r->at++;
    r->line++;
}

static const char *read_plain(reader *r)
{
    size_t start = r->at;
    while (!at_line_end(r) && r->text[r->at] != ',')
        r->at++;
    return ap_arena_strndup(r->arena, r->text + start, r->at - start);
}

static void count_line_end(reader *r)
{
    char c = r->text[r->at];
    bool cr_of_crlf = c == '\r' && r->at + 1 < r->len && r->text[r->at + 1] == '\n';
    if ((c == '\n' || c == '\r') && !cr_of_crlf)
        r->line++;
}

static const char *read_quoted(reader *r)
{
    size_t opening = r->at++, start = r->at, kept = 0, end = start;
    while (end < r->len && (r->text[end] != '"' || (end + 1 < r->len && r->text[end + 1] == '"')))
        end += r->text[end] == '"' ? 2 : 1;
    char *cell = ap_arena_alloc(r->arena, end - start + 1);
    for (; r->at < end; r->at++) {
        count_line_end(r);
        cell[kept++] = r->text[r->at];
        if (r->text[r->at] == '"')
            r->at++;
    }
    if (end >= r->len) {
        fail(r, opening, AP_CODE_CSV_QUOTE, "the quote opened here is never closed");
        r->at = r->len;
        return cell;
    }
    r->at = end + 1;
    if (!at_line_end(r) && r->text[r->at] != ',') {
        fail(r, r->at, AP_CODE_CSV_QUOTE, "expected ',' or the end of the line after the closing quote");
        (void)read_plain(r);
    }
    return cell;
}

static void read_row(reader *r)
{
    r->cell_count = 0;
    for (;;) {
        bool quoted = r->at < r->len && r->text[r->at] == '"';
        const char *cell = quoted ? read_quoted(r) : read_plain(r);
        *AP_PUSH(r->arena, r->cells, r->cell_count, r->cell_capacity) = cell;
        if (at_line_end(r))
            break;
        r->at++; /* the comma */
    }
    skip_line_end(r);
}

static const char **copy_cells(const reader *r, size_t count)
{
    const char **cells = AP_NEW_ARRAY(r->arena, const char *, count);
    for (size_t i = 0; i < count; i++)
        cells[i] = i < r->cell_count ? r->cells[i] : "";
    return cells;
}

static void check_header(const reader *r)
{
    ap_keyset seen;
    ap_keyset_init(&seen);
    for (size_t i = 0; i < r->cell_count; i++)
        if (r->cells[i][0] && ap_keyset_add(&seen, r->cells[i], i) != AP_KEYSET_NEW)
            ap_diag_add(r->diags, AP_ERROR, AP_CODE_CSV_COLUMN, (ap_pos){r->name, 1, 1}, "column '%s' is given twice",
                        r->cells[i]);
    ap_keyset_done(&seen);
}

static void read_rows(reader *r, ap_csv *csv)
{
    size_t row_capacity = 0, line_capacity = 0, line_count = 0;
    while (r->at < r->len) {
        int line = r->line;
        if (at_line_end(r)) {
            skip_line_end(r);
            continue;
        }
        read_row(r);
        if (r->cell_count > csv->column_count)
            ap_diag_add(r->diags, AP_ERROR, AP_CODE_CSV_CELLS, (ap_pos){r->name, line, 1},
                        "the row has %zu cells, but the header names %zu columns", r->cell_count, csv->column_count)
                ->hint = "put a cell that contains a comma in double quotes";
        *AP_PUSH(r->arena, csv->rows, csv->row_count, row_capacity) = copy_cells(r, csv->column_count);
        *AP_PUSH(r->arena, csv->lines, line_count, line_capacity) = line;
    }
}

static bool check_text(reader *r)
{
    size_t bad;
    if (!ap_utf8_valid(r->text, r->len, &bad)) {
        fail(r, bad, AP_CODE_ENCODING, "invalid UTF-8");
        return false;
    }
    const char *nul = memchr(r->text, '\0', r->len);
    if (nul)
        fail(r, (size_t)(nul - r->text), AP_CODE_ENCODING, "the file contains a NUL character");
    return !nul;
}

ap_status ap_csv_parse(const char *text, size_t len, const char *name, ap_arena *arena, ap_diags *diags,
                       ap_csv *ret_csv)
{
    *ret_csv = (ap_csv){0};
    size_t errors_before = diags->errors;
    reader r = {.text = text, .len = len, .line = 1, .name = name, .arena = arena, .diags = diags};
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        r.at = 3;
    if (!check_text(&r)) {
        ap_diags_attach_source(diags, name, text, len);
        return AP_BAD_INPUT;
    }
    while (r.at < len && at_line_end(&r))
        skip_line_end(&r);
    if (r.at >= len) {
        fail(&r, 0, AP_CODE_EMPTY, "the file is empty; expected a header line with the names of the columns");
        return AP_BAD_INPUT;
    }
    read_row(&r);
    check_header(&r);
    ret_csv->columns = copy_cells(&r, r.cell_count);
    ret_csv->column_count = r.cell_count;
    read_rows(&r, ret_csv);
    ap_diags_attach_source(diags, name, text, len);
    return diags->errors == errors_before ? AP_OK : AP_BAD_INPUT;
}

int ap_csv_column(const ap_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->column_count; i++)
        if (strcmp(csv->columns[i], name) == 0)
            return (int)i;
    return -1;
}
