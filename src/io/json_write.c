#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "io/json.h"

void ap_json_begin(ap_json_writer *w, ap_sbuf *out, int indent)
{
    *w = (ap_json_writer){.out = out, .indent = indent};
}

static void break_line(ap_json_writer *w)
{
    if (w->indent == 0)
        return;
    ap_sbuf_add_char(w->out, '\n');
    ap_sbuf_add_repeat(w->out, ' ', (size_t)w->indent * (size_t)w->depth);
}

/* What stands between the previous token and this value or key. */
static void separate(ap_json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->need_comma)
        ap_sbuf_add_char(w->out, ',');
    if (w->depth > 0)
        break_line(w);
}

static void open_group(ap_json_writer *w, char bracket)
{
    separate(w);
    ap_sbuf_add_char(w->out, bracket);
    w->depth++;
    w->need_comma = false;
}

static void close_group(ap_json_writer *w, char bracket)
{
    assert(w->depth > 0 && !w->after_key);
    w->depth--;
    if (w->need_comma) /* an empty group stays on one line */
        break_line(w);
    ap_sbuf_add_char(w->out, bracket);
    w->need_comma = true;
}

void ap_json_object_open(ap_json_writer *w)
{
    open_group(w, '{');
}

void ap_json_object_close(ap_json_writer *w)
{
    close_group(w, '}');
}

void ap_json_array_open(ap_json_writer *w)
{
    open_group(w, '[');
}

void ap_json_array_close(ap_json_writer *w)
{
    close_group(w, ']');
}

static void write_escape(ap_sbuf *out, unsigned char c)
{
    switch (c) {
    case '"':
        ap_sbuf_add(out, "\\\"");
        break;
    case '\\':
        ap_sbuf_add(out, "\\\\");
        break;
    case '\n':
        ap_sbuf_add(out, "\\n");
        break;
    case '\r':
        ap_sbuf_add(out, "\\r");
        break;
    case '\t':
        ap_sbuf_add(out, "\\t");
        break;
    default:
        ap_sbuf_printf(out, "\\u%04x", c);
        break;
    }
}

/* Copies runs of plain characters at once; what follows a bad byte is looked at afresh. */
static void write_quoted(ap_sbuf *out, const char *text)
{
    size_t len = strlen(text), bad = len, start = 0;
    bool valid = ap_utf8_valid(text, len, &bad);
    ap_sbuf_add_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_bad = !valid && i == bad;
        if (!is_bad && c >= 0x20 && c != '"' && c != '\\' && c != 0x7F)
            continue;
        ap_sbuf_add_len(out, text + start, i - start);
        start = i + 1;
        if (is_bad) {
            ap_sbuf_add(out, "\xEF\xBF\xBD"); /* U+FFFD */
            valid = ap_utf8_valid(text + start, len - start, &bad);
            bad += start;
        } else {
            write_escape(out, c);
        }
    }
    ap_sbuf_add_len(out, text + start, len - start);
    ap_sbuf_add_char(out, '"');
}

void ap_json_key(ap_json_writer *w, const char *key)
{
    separate(w);
    write_quoted(w->out, key);
    ap_sbuf_add(w->out, w->indent ? ": " : ":");
    w->after_key = true;
}

static void write_raw(ap_json_writer *w, const char *text)
{
    separate(w);
    ap_sbuf_add(w->out, text);
    w->need_comma = true;
}

void ap_json_string(ap_json_writer *w, const char *text)
{
    if (!text) {
        ap_json_null(w);
        return;
    }
    separate(w);
    write_quoted(w->out, text);
    w->need_comma = true;
}

void ap_json_number(ap_json_writer *w, double value)
{
    /* NaN is "unknown"; an infinite figure in a report would be a bug of ours. */
    assert(!isinf(value));
    if (!isfinite(value)) {
        ap_json_null(w);
        return;
    }
    char text[32];
    ap_num_format(value, text);
    write_raw(w, text);
}

void ap_json_int(ap_json_writer *w, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    write_raw(w, text);
}

void ap_json_bool(ap_json_writer *w, bool value)
{
    write_raw(w, value ? "true" : "false");
}

void ap_json_null(ap_json_writer *w)
{
    write_raw(w, "null");
}
