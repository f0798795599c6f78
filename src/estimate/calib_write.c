#include "estimate/calib_write.h"

#include <string.h>

#include "base/num.h"

#define DIGITS 6

static void number(ap_sbuf *out, double value)
{
    char buf[40];
    ap_num_format_digits(value, DIGITS, buf);
    ap_sbuf_add(out, buf);
}

/* Always quoted: a text such as "0.5" or "no" must stay text. */
static void quoted(ap_sbuf *out, const char *text)
{
    ap_sbuf_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            ap_sbuf_add_char(out, '\\');
        if (*text == '\n')
            ap_sbuf_add(out, "\\n");
        else
            ap_sbuf_add_char(out, *text);
    }
    ap_sbuf_add_char(out, '"');
}

static void number_line(ap_sbuf *out, const char *indent, const char *key, double value)
{
    if (!ap_known(value))
        return;
    ap_sbuf_printf(out, "%s%s: ", indent, key);
    number(out, value);
    ap_sbuf_add_char(out, '\n');
}

static void text_line(ap_sbuf *out, const char *indent, const char *key, const char *text)
{
    if (!text)
        return;
    ap_sbuf_printf(out, "%s%s: ", indent, key);
    quoted(out, text);
    ap_sbuf_add_char(out, '\n');
}

static void write_by(const ap_calib_by *by, ap_sbuf *out)
{
    ap_sbuf_printf(out, "      - level: %s\n", by->level);
    number_line(out, "        ", "sd", by->sd);
    if (by->values.count)
        ap_sbuf_add(out, "        values:\n");
    for (size_t i = 0; i < by->values.count; i++) {
        const ap_deviation *d = &by->values.items[i];
        ap_sbuf_add(out, "          - {key: ");
        quoted(out, d->key);
        ap_sbuf_add(out, ", value: ");
        number(out, d->value);
        if (ap_known(d->rows)) {
            ap_sbuf_add(out, ", rows: ");
            number(out, d->rows);
        }
        ap_sbuf_add(out, "}\n");
    }
}

static void write_const(const ap_calib_const *constant, ap_sbuf *out)
{
    ap_sbuf_printf(out, "  - id: %s\n", constant->id);
    number_line(out, "    ", "value", constant->value);
    number_line(out, "    ", "prior", constant->prior);
    number_line(out, "    ", "sd", constant->sd);
    number_line(out, "    ", "low", constant->low);
    number_line(out, "    ", "high", constant->high);
    ap_sbuf_printf(out, "    scale: %s\n", ap_scale_names[constant->scale]);
    text_line(out, "    ", "formula", constant->formula);
    text_line(out, "    ", "doc", constant->doc);
    text_line(out, "    ", "source", constant->source);
    if (constant->by.count)
        ap_sbuf_add(out, "    by:\n");
    for (size_t i = 0; i < constant->by.count; i++)
        write_by(&constant->by.items[i], out);
}

static void write_cell(const ap_calib_cell *cell, ap_sbuf *out)
{
    ap_sbuf_add(out, "  - {key: ");
    quoted(out, cell->key);
    ap_sbuf_add(out, ", low: ");
    number(out, cell->low);
    ap_sbuf_add(out, ", high: ");
    number(out, cell->high);
    ap_sbuf_add(out, ", rows: ");
    number(out, ap_or(cell->rows, 0));
    ap_sbuf_add(out, ", sources: ");
    number(out, ap_or(cell->sources, 0));
    ap_sbuf_add(out, "}\n");
}

/* Many short texts: as many on a line as fit. */
static void write_known(const ap_strings *known, ap_sbuf *out)
{
    size_t line = 0;
    ap_sbuf_add(out, "known:\n  [");
    for (size_t i = 0; i < known->count; i++) {
        bool wrap = i && line + strlen(known->items[i]) > 110;
        ap_sbuf_add(out, i == 0 ? "" : wrap ? ",\n   " : ", ");
        line = wrap ? 0 : line;
        quoted(out, known->items[i]);
        line += strlen(known->items[i]) + 4;
    }
    ap_sbuf_add(out, "]\n");
}

void ap_calib_write_yaml(const ap_calib_engine *engine, const char *head, ap_sbuf *out)
{
    if (head)
        ap_sbuf_add(out, head);
    ap_sbuf_printf(out, "engine: %s\n", engine->engine);
    number_line(out, "", "sigma", engine->sigma);
    number_line(out, "", "sigma_memory", engine->sigma_memory);
    number_line(out, "", "sigma_run", engine->sigma_run);
    number_line(out, "", "source_power", engine->source_power);
    number_line(out, "", "row_weight", engine->row_weight);
    number_line(out, "", "band_sources", engine->band_sources);
    if (ap_known(engine->fitted_on.rows) || engine->fitted_on.doc) {
        ap_sbuf_add(out, "fitted_on:\n");
        number_line(out, "  ", "rows", engine->fitted_on.rows);
        number_line(out, "  ", "sources", engine->fitted_on.sources);
        text_line(out, "  ", "as_of", engine->fitted_on.as_of);
        text_line(out, "  ", "doc", engine->fitted_on.doc);
    }
    if (engine->constants.count)
        ap_sbuf_add(out, "constants:\n");
    for (size_t i = 0; i < engine->constants.count; i++)
        write_const(&engine->constants.items[i], out);
    if (engine->intervals.count)
        ap_sbuf_add(out, "intervals:\n");
    for (size_t i = 0; i < engine->intervals.count; i++)
        write_cell(&engine->intervals.items[i], out);
    if (engine->known.count)
        write_known(&engine->known, out);
}

const char *ap_calib_head(const char *text, ap_arena *arena)
{
    const char *end = text;
    while (*end == '#' || *end == '\n') {
        const char *line_end = strchr(end, '\n');
        if (!line_end)
            break;
        end = line_end + 1;
    }
    return ap_arena_strndup(arena, text, (size_t)(end - text));
}
