#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>

void ap_diags_init(ap_diags *diags, ap_arena *arena)
{
    *diags = (ap_diags){.arena = arena};
}

/* Messages quote what the input holds; control characters of a hostile file must not reach a terminal. */
static void make_printable(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7F)
            *c = *c == '\n' || *c == '\t' ? ' ' : '?';
}

ap_diag *ap_diag_add(ap_diags *diags, ap_severity severity, int code, ap_pos pos, const char *format, ...)
{
    if (severity == AP_ERROR)
        diags->errors++;
    if (diags->count >= AP_DIAG_LIMIT) {
        diags->suppressed++;
        return AP_NEW(diags->arena, ap_diag);
    }
    ap_sbuf message;
    ap_sbuf_init(&message, diags->arena);
    va_list args;
    va_start(args, format);
    ap_sbuf_vprintf(&message, format, args);
    va_end(args);
    make_printable(message.text);
    ap_diag *diag = AP_PUSH(diags->arena, diags->items, diags->count, diags->capacity);
    *diag = (ap_diag){.severity = severity, .code = code, .pos = pos, .message = message.text};
    diag->pos.file = ap_arena_strdup(diags->arena, pos.file);
    return diag;
}

const char *ap_severity_name(ap_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

/* Columns count characters, so continuation bytes of UTF-8 need no blank; tabs are kept to stay aligned. */
static void format_caret(const char *line, int col, ap_sbuf *out)
{
    ap_sbuf_printf(out, "  %s\n  ", line);
    int seen = 1;
    for (const char *c = line; *c && seen < col; c++) {
        if (((unsigned char)*c & 0xC0) == 0x80)
            continue;
        ap_sbuf_add_char(out, *c == '\t' ? '\t' : ' ');
        seen++;
    }
    ap_sbuf_add(out, "^\n");
}

void ap_diag_format(const ap_diag *diag, ap_sbuf *out)
{
    if (diag->pos.file)
        ap_sbuf_printf(out, "%s:", diag->pos.file);
    if (diag->pos.line > 0)
        ap_sbuf_printf(out, "%d:%d:", diag->pos.line, diag->pos.col > 0 ? diag->pos.col : 1);
    ap_sbuf_printf(out, "%s%s: %s [AP%04d]\n", diag->pos.file ? " " : "accelpick: ", ap_severity_name(diag->severity),
                   diag->message, diag->code);
    if (diag->source_line && diag->pos.line > 0)
        format_caret(diag->source_line, diag->pos.col, out);
    if (diag->hint)
        ap_sbuf_printf(out, "  hint: %s\n", diag->hint);
}
