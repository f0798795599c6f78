#include "prices/stream_csv.h"

#include <string.h>

void ap_csv_stream_init(ap_csv_stream *s, bool (*record)(void *context, const char *const *cells, size_t count),
                        void *context)
{
    memset(s, 0, offsetof(ap_csv_stream, text));
    s->len = s->cells = s->records = 0;
    s->in_quotes = s->after_quote = s->cell_quoted = s->any = s->ended_by_newline = s->started = false;
    s->bom = 0;
    s->error = NULL;
    s->record = record;
    s->context = context;
}

static bool fail(ap_csv_stream *s, const char *error)
{
    s->error = error;
    return false;
}

static bool put(ap_csv_stream *s, char c)
{
    if (s->len + 1 >= AP_CSV_RECORD_BYTES)
        return fail(s, "a line is longer than 64 KiB");
    s->text[s->len++] = c;
    return true;
}

static bool open_cell(ap_csv_stream *s)
{
    if (s->cells >= AP_CSV_CELLS)
        return fail(s, "a line has more than 512 cells");
    s->starts[s->cells++] = s->len;
    s->cell_quoted = s->after_quote = false;
    s->any = true;
    return true;
}

static bool end_record(ap_csv_stream *s)
{
    const char *cells[AP_CSV_CELLS];
    if (!s->any)
        return true;
    if (!put(s, '\0'))
        return false;
    for (size_t i = 0; i < s->cells; i++)
        cells[i] = s->text + s->starts[i];
    size_t count = s->cells;
    s->len = s->cells = 0;
    s->any = false;
    s->records++;
    return s->record(s->context, cells, count);
}

static bool take_quoted(ap_csv_stream *s, char c)
{
    if (c != '"')
        return put(s, c);
    s->in_quotes = false;
    s->after_quote = true;
    return true;
}

static bool take(ap_csv_stream *s, char c)
{
    if (c == '\0')
        return fail(s, "a NUL byte");
    if (s->in_quotes)
        return take_quoted(s, c);
    if (c == '\n' || c == '\r') {
        s->ended_by_newline = true;
        return end_record(s);
    }
    s->ended_by_newline = false;
    if (!s->any && !open_cell(s))
        return false;
    if (c == ',')
        return put(s, '\0') && open_cell(s);
    if (c == '"' && s->after_quote) { /* a doubled quote */
        s->in_quotes = true;
        s->after_quote = false;
        return put(s, '"');
    }
    if (c == '"' && s->starts[s->cells - 1] == s->len && !s->cell_quoted) {
        s->in_quotes = s->cell_quoted = true;
        return true;
    }
    return put(s, c);
}

bool ap_csv_stream_feed(ap_csv_stream *s, const char *bytes, size_t len)
{
    static const char bom[] = "\xEF\xBB\xBF";
    for (size_t i = 0; i < len; i++) {
        if (!s->started && s->bom < 3 && bytes[i] == bom[s->bom]) {
            s->bom++;
            continue;
        }
        s->started = true;
        if (!take(s, bytes[i]))
            return false;
    }
    return true;
}

bool ap_csv_stream_end(ap_csv_stream *s)
{
    if (s->in_quotes)
        return fail(s, "the text ends inside quotes");
    return end_record(s);
}
