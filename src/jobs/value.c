/* Numbers, switches and quantities as the formats write them, and the setting of facts. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "jobs/reader.h"

/* -- words
 * -------------------------------------------------------------------------------------------------------------- */

bool ap_contains_nocase(const char *text, const char *part)
{
    size_t len = strlen(part);
    for (; text && *text; text++)
        if (strncasecmp(text, part, len) == 0)
            return true;
    return false;
}

const char *ap_base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static bool is_word(const char *text, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

bool ap_foreign_null(const char *text)
{
    static const char *const words[] = {"null", "none", "~", NULL};
    return !text || !*text || is_word(text, words);
}

bool ap_foreign_placeholder(const char *text)
{
    static const char *const words[] = {
        "changeme", "change_me",        "change-me", "replace_me",  "replaceme",    "todo",         "fixme",
        "tbd",      "will_be_replaced", "xxx",       "placeholder", "your_project", "your-project", NULL};
    if (!text)
        return false;
    if (is_word(text, words) || ap_contains_nocase(text, "REPLACE_WITH") || ap_contains_nocase(text, "REPLACE_ME") ||
        ap_contains_nocase(text, "WILL_BE_REPLACED") || ap_contains_nocase(text, "CHANGE_ME"))
        return true;
    for (const char *p = text; *p; p++)
        if ((p == text || !isalnum((unsigned char)p[-1])) &&
            (strncasecmp(p, "your-", 5) == 0 || strncasecmp(p, "your_", 5) == 0))
            return true;
    for (const char *open = strchr(text, '<'); open; open = strchr(open + 1, '<')) {
        const char *close = strchr(open, '>');
        if (!close || close - open < 4 || close - open > 60)
            continue;
        bool plain = true;
        for (const char *p = open + 1; p < close && plain; p++)
            plain = isalnum((unsigned char)*p) || strchr(" _-./", *p);
        bool asks = open[1] == ' ' && ap_contains_nocase(open, "your") && close[-1] == ' ';
        if (plain && (isalpha((unsigned char)open[1]) || asks))
            return true;
    }
    return false;
}

bool ap_foreign_unknown(const char *text)
{
    static const char *const words[] = {"auto", "???", NULL};
    return text && (strchr(text, '$') || strstr(text, "{{") || is_word(text, words) || ap_foreign_placeholder(text));
}

/* -- numbers
 * -------------------------------------------------------------------------------------------------------------- */

/* Copies without blanks around, underscores between digits, and a trailing plus ("at least"). */
static bool tidy(const char *text, char *buf, size_t size)
{
    size_t len = 0;
    while (isspace((unsigned char)*text))
        text++;
    for (; *text && len + 1 < size; text++)
        if (*text != '_')
            buf[len++] = *text;
    while (len > 0 && isspace((unsigned char)buf[len - 1]))
        len--;
    if (len > 1 && buf[len - 1] == '+')
        len--;
    buf[len] = 0;
    return len > 0 && !*text;
}

bool ap_foreign_num(const char *text, double *ret)
{
    char buf[64];
    if (!text || !tidy(text, buf, sizeof buf))
        return false;
    char *start = *buf == '+' ? buf + 1 : buf, *end = start + strlen(start);
    if (end > start + 1 && end[-1] == '.')
        end[-1] = 0; /* "1." */
    if (*start == '.' && strlen(start) + 1 < sizeof buf - 1) {
        memmove(start + 1, start, strlen(start) + 1);
        *start = '0';
    }
    return ap_num_parse(start, ret);
}

int ap_foreign_bool(const char *text)
{
    static const char *const yes[] = {"true", "yes", "on", "1", "t", "y", "full", NULL};
    static const char *const no[] = {"false", "no", "off", "0", "f", "n", "none", "null", "", NULL};
    if (!text)
        return 0;
    return is_word(text, yes) ? 1 : is_word(text, no) ? 0 : -1;
}

/* A number and what follows it. */
static bool number_and_unit(const char *text, double *ret_value, char *unit, size_t size)
{
    char buf[64];
    const char *rest;
    if (!text || !tidy(text, buf, sizeof buf) || !ap_num_parse_prefix(buf, ret_value, &rest))
        return false;
    while (*rest == ' ')
        rest++;
    if (strlen(rest) + 1 > size)
        return false;
    memcpy(unit, rest, strlen(rest) + 1);
    return true;
}

static double power_of(char letter, double base)
{
    static const char letters[] = "kmgtp";
    const char *found = letter ? strchr(letters, tolower((unsigned char)letter)) : NULL;
    double value = 1;
    for (const char *p = letters; found && p <= found; p++)
        value *= base;
    return found ? value : AP_UNKNOWN;
}

bool ap_foreign_bytes(const char *text, double *ret)
{
    char unit[8];
    double value;
    if (!number_and_unit(text, &value, unit, sizeof unit))
        return false;
    bool binary = *unit && tolower((unsigned char)unit[1]) == 'i';
    double factor = *unit == 0 ? 1 : strcmp(unit, "m") == 0 ? 0.001 : power_of(*unit, binary ? 1024 : 1000);
    *ret = value * factor;
    return ap_known(factor);
}

bool ap_foreign_bytes_gib(const char *text, double *ret)
{
    char unit[8];
    double value;
    if (!number_and_unit(text, &value, unit, sizeof unit))
        return false;
    double factor = *unit == 0 ? power_of('g', 1024) : power_of(*unit, 1024);
    *ret = value * factor;
    return ap_known(factor);
}

bool ap_foreign_cpus(const char *text, double *ret)
{
    char unit[8];
    if (!number_and_unit(text, ret, unit, sizeof unit))
        return false;
    if (strcmp(unit, "m") == 0)
        *ret /= 1000;
    return *unit == 0 || strcmp(unit, "m") == 0;
}

bool ap_slurm_memory(const char *text, double *ret)
{
    char unit[8];
    double value;
    if (!number_and_unit(text, &value, unit, sizeof unit) || !(value > 0))
        return false;
    double factor = power_of(*unit ? *unit : 'm', 1024);
    *ret = value * factor;
    return ap_known(factor);
}

/* -- time
 * --------------------------------------------------------------------------------------------------------------- */

/* Numbers separated by ':'; returns how many, 0 when the text is something else. */
static size_t colon_numbers(const char *text, double *values, size_t most)
{
    size_t count = 0;
    while (count < most) {
        const char *end;
        if (!isdigit((unsigned char)*text) || !ap_num_parse_prefix(text, &values[count], &end))
            return 0;
        count++;
        if (*end == 0)
            return count;
        if (*end != ':')
            return 0;
        text = end + 1;
    }
    return 0;
}

bool ap_slurm_time(const char *text, double *ret)
{
    double v[4];
    const char *dash = text ? strchr(text, '-') : NULL;
    if (!text)
        return false;
    if (dash) {
        char days[16];
        size_t len = (size_t)(dash - text);
        if (len == 0 || len >= sizeof days)
            return false;
        memcpy(days, text, len);
        days[len] = 0;
        double day;
        size_t count = colon_numbers(dash + 1, v, 3);
        if (count == 0 || !ap_num_parse(days, &day))
            return false;
        *ret = day * 86400 + v[0] * 3600 + (count > 1 ? v[1] * 60 : 0) + (count > 2 ? v[2] : 0);
        return true;
    }
    size_t count = colon_numbers(text, v, 3);
    if (count == 1)
        *ret = v[0] * 60;
    else if (count == 2)
        *ret = v[0] * 60 + v[1];
    else if (count == 3)
        *ret = v[0] * 3600 + v[1] * 60 + v[2];
    return count > 0;
}

bool ap_dd_hh_mm_ss(const char *text, double *ret)
{
    double v[4];
    size_t count = text ? colon_numbers(text, v, 4) : 0;
    if (count == 4)
        *ret = v[0] * 86400 + v[1] * 3600 + v[2] * 60 + v[3];
    else if (count == 3)
        *ret = v[0] * 3600 + v[1] * 60 + v[2];
    return count >= 3;
}

bool ap_foreign_seconds(const char *text, double *ret)
{
    double total = 0, value;
    const char *rest = text, *end;
    if (!text || !*text)
        return false;
    if (ap_dd_hh_mm_ss(text, ret))
        return true;
    while (*rest) {
        if (!isdigit((unsigned char)*rest) || !ap_num_parse_prefix(rest, &value, &end))
            return false;
        char unit = (char)tolower((unsigned char)*end);
        double factor = unit == 0 || unit == 's' ? 1
                        : unit == 'm'            ? 60
                        : unit == 'h'            ? 3600
                        : unit == 'd'            ? 86400
                        : unit == 'w'            ? 604800
                                                 : 0;
        if (!(factor > 0))
            return false;
        total += value * factor;
        while (isalpha((unsigned char)*end) || *end == ' ')
            end++;
        rest = end;
    }
    *ret = total;
    return true;
}

/* -- facts
 * ---------------------------------------------------------------------------------------------------------------- */

void ap_set_num(ap_jnum *fact, double value, ap_pos pos)
{
    if (!ap_jnum_stated(fact))
        *fact = (ap_jnum){value, pos};
}

void ap_set_text(ap_jtext *fact, const char *value, ap_pos pos)
{
    if (!ap_jtext_stated(fact))
        *fact = (ap_jtext){value, pos};
}

void ap_take_with(ap_jnum *fact, ap_foreign_parser parse, const char *text, ap_pos pos)
{
    double value;
    if (ap_foreign_null(text))
        return;
    ap_set_num(fact, parse(text, &value) ? value : AP_UNKNOWN, pos);
}

void ap_take_num(ap_jnum *fact, const char *text, ap_pos pos)
{
    ap_take_with(fact, ap_foreign_num, text, pos);
}

void ap_take_flag(ap_jnum *fact, const char *text, ap_pos pos)
{
    int value = text ? ap_foreign_bool(text) : 1;
    ap_set_num(fact, value < 0 ? AP_UNKNOWN : value, pos);
}

void ap_take_text(ap_jobreader *reader, ap_jtext *fact, const char *text, ap_pos pos)
{
    if (ap_foreign_null(text))
        return;
    ap_set_text(fact, ap_foreign_unknown(text) ? NULL : ap_arena_strdup(reader->arena, text), pos);
}

void ap_node_with(ap_jnum *fact, ap_foreign_parser parse, const ap_node *node)
{
    if (node && node->kind == AP_NODE_SCALAR && !ap_node_is_null(node))
        ap_take_with(fact, parse, node->text, node->pos);
}

void ap_node_num(ap_jnum *fact, const ap_node *node)
{
    ap_node_with(fact, ap_foreign_num, node);
}

void ap_node_flag(ap_jnum *fact, const ap_node *node)
{
    if (node && node->kind == AP_NODE_SCALAR && !ap_node_is_null(node))
        ap_take_flag(fact, node->text, node->pos);
}

void ap_node_take(ap_jobreader *reader, ap_jtext *fact, const ap_node *node)
{
    if (node && node->kind == AP_NODE_SCALAR && !ap_node_is_null(node))
        ap_take_text(reader, fact, ap_node_words(reader, node), node->pos);
}

/* -- references within a document: ${a.b}, ${{inputs.x}}
 * ------------------------------------------------------------------ */

static const char *lookup(ap_jobreader *reader, const char *path, size_t len, int depth)
{
    while (len > 0 && isspace((unsigned char)*path))
        path++, len--;
    while (len > 0 && isspace((unsigned char)path[len - 1]))
        len--;
    const char *key = ap_arena_strndup(reader->arena, path, len);
    const ap_node *node = ap_node_at(reader->root, key);
    if (!node && reader->root)
        node = ap_node_at(ap_node_get(reader->root, "parameters"), key);
    if (node && node->kind == AP_NODE_MAP && ap_node_get(node, "default"))
        node = ap_node_get(node, "default");
    const char *text = ap_node_text(node);
    if (!text || depth > 4)
        return NULL;
    return strchr(text, '$') ? NULL : text;
}

const char *ap_node_words(ap_jobreader *reader, const ap_node *node)
{
    const char *text = ap_node_text(node);
    if (!text || !strstr(text, "${"))
        return text;
    ap_sbuf out;
    ap_sbuf_init(&out, reader->arena);
    while (*text) {
        const char *open = strstr(text, "${");
        if (!open) {
            ap_sbuf_add(&out, text);
            break;
        }
        bool twice = open[2] == '{';
        const char *start = open + 2 + twice, *close = strstr(start, twice ? "}}" : "}");
        if (!close) {
            ap_sbuf_add(&out, text);
            break;
        }
        const char *end = close + 1 + twice, *value = lookup(reader, start, (size_t)(close - start), 0);
        ap_sbuf_add_len(&out, text, (size_t)(open - text));
        if (value)
            ap_sbuf_add(&out, value);
        else
            ap_sbuf_add_len(&out, open, (size_t)(end - open));
        text = end;
    }
    return out.text ? out.text : "";
}

/* -- places
 * ---------------------------------------------------------------------------------------------------------------- */

void ap_jobreader_init(ap_jobreader *reader, ap_arena *arena, ap_jobfile *file)
{
    *reader = (ap_jobreader){.arena = arena, .file = file, .facts = &file->facts};
    size_t capacity = 0;
    *AP_PUSH(arena, reader->lines, reader->line_count, capacity) = 0;
    for (size_t i = 0; i < file->len; i++)
        if (file->text[i] == '\n')
            *AP_PUSH(arena, reader->lines, reader->line_count, capacity) = i + 1;
}

ap_pos ap_jobreader_pos(const ap_jobreader *reader, size_t offset)
{
    size_t low = 0, high = reader->line_count;
    if (offset > reader->file->len)
        offset = reader->file->len;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (reader->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    int col = 1;
    for (size_t i = reader->lines[low]; i < offset && col < 10000; i++)
        col += ((unsigned char)reader->file->text[i] & 0xc0) != 0x80;
    return (ap_pos){reader->file->path, (int)low + 1, col};
}

size_t ap_jobreader_offset(const ap_jobreader *reader, ap_pos pos)
{
    if (pos.line < 1 || (size_t)pos.line > reader->line_count)
        return reader->file->len;
    size_t offset = reader->lines[pos.line - 1];
    for (int col = 1; col < pos.col && offset < reader->file->len; offset++)
        col += offset + 1 >= reader->file->len || ((unsigned char)reader->file->text[offset + 1] & 0xc0) != 0x80;
    return offset;
}

ap_jobfinding *ap_jobreader_find(ap_jobreader *reader, ap_fault fault, ap_pos pos, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ap_sbuf message;
    ap_sbuf_init(&message, reader->arena);
    ap_sbuf_vprintf(&message, format, args);
    va_end(args);
    return ap_jobfinding_add(reader->arena, &reader->file->findings, fault, pos, "%s", message.text);
}
