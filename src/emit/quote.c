#include "emit/quote.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

static bool is_control(unsigned char c)
{
    return c < 32 || c == 127;
}

bool ap_emit_text_ok(const char *text)
{
    size_t bad;
    for (const char *c = text; *c; c++)
        if (is_control((unsigned char)*c))
            return false;
    return ap_utf8_valid(text, strlen(text), &bad);
}

static void add_text(const char *text, ap_sbuf *out)
{
    for (; *text; text++)
        ap_sbuf_add_char(out, is_control((unsigned char)*text) ? '?' : *text);
}

static void add_shell(const char *text, ap_sbuf *out)
{
    if (*text && *text != '=' && strspn(text, LETTERS DIGITS "_@%+=:,./-") == strlen(text)) {
        ap_sbuf_add(out, text);
        return;
    }
    ap_sbuf_add_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            ap_sbuf_add(out, "'\\''");
        else
            ap_sbuf_add_char(out, is_control((unsigned char)*text) ? '?' : *text);
    }
    ap_sbuf_add_char(out, '\'');
}

static void add_json(const char *text, ap_sbuf *out)
{
    ap_sbuf_add_char(out, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            ap_sbuf_printf(out, "\\%c", c);
        else if (is_control(c))
            ap_sbuf_printf(out, "\\u%04x", c);
        else
            ap_sbuf_add_char(out, (char)c);
    }
    ap_sbuf_add_char(out, '"');
}

/* Words that some YAML reader takes for something else than text. */
static bool yaml_word_is_special(const char *text)
{
    static const char *const words[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", NULL};
    for (size_t i = 0; words[i]; i++)
        if (strcasecmp(words[i], text) == 0)
            return true;
    return false;
}

static void add_yaml(const char *text, ap_sbuf *out)
{
    bool plain = strspn(text, LETTERS DIGITS "_./-") == strlen(text) && isalpha((unsigned char)*text);
    if (plain && !yaml_word_is_special(text))
        ap_sbuf_add(out, text);
    else
        add_json(text, out); /* a JSON string is a YAML double-quoted scalar */
}

void ap_quote(ap_language language, const char *text, ap_sbuf *out)
{
    static void (*const add[AP_LANG_COUNT])(const char *, ap_sbuf *) = {add_text, add_shell, add_yaml, add_json};
    add[language](text, out);
}

ap_language ap_language_parse(const char *name, size_t len)
{
    static const char *const names[AP_LANG_COUNT] = {"text", "sh", "yaml", "json"};
    int i = 0;
    while (i < AP_LANG_COUNT && !(strlen(names[i]) == len && memcmp(names[i], name, len) == 0))
        i++;
    return (ap_language)i;
}

const char *ap_emit_slug(ap_arena *arena, const char *text, size_t most)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    for (; *text && out.len < most; text++) {
        bool keep = isalnum((unsigned char)*text) && (unsigned char)*text < 128;
        if (keep && (out.len > 0 || isalpha((unsigned char)*text)))
            ap_sbuf_add_char(&out, (char)tolower((unsigned char)*text));
        else if (!keep && out.len > 0 && out.text[out.len - 1] != '-')
            ap_sbuf_add_char(&out, '-');
    }
    while (out.len > 0 && out.text[out.len - 1] == '-')
        out.text[--out.len] = '\0';
    return out.len ? out.text : "train";
}
