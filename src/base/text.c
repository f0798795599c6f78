#include "base/text.h"

#include <stdint.h>
#include <string.h>

#include "base/str.h"

/* Decodes one character; returns its length in bytes, 0 when the bytes are not valid UTF-8 (overlong forms, surrogates
 * and values above U+10FFFF included). */
static size_t decode(const unsigned char *s, size_t len, uint32_t *ret_char)
{
    if (s[0] < 0x80) {
        *ret_char = s[0];
        return 1;
    }
    size_t size = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || size > len)
        return 0;
    uint32_t c = s[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3Fu);
    }
    if ((size == 3 && (c < 0x800 || (c >= 0xD800 && c <= 0xDFFF))) || (size == 4 && (c < 0x10000 || c > 0x10FFFF)))
        return 0;
    *ret_char = c;
    return size;
}

static bool is_ascii_block(const unsigned char *s)
{
    uint64_t eight;
    memcpy(&eight, s, sizeof eight);
    return (eight & UINT64_C(0x8080808080808080)) == 0;
}

size_t ap_text_unsafe(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 32 || c[0] == 127)
        return c[0] != 0;
    if (c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0)
        return 2; /* U+0080 to U+009F */
    if (c[0] == 0xD8 && c[1] == 0x9C)
        return 2; /* U+061C */
    if (c[0] != 0xE2)
        return 0;
    if (c[1] == 0x80 && (c[2] == 0x8E || c[2] == 0x8F || (c[2] >= 0xA8 && c[2] <= 0xAE)))
        return 3; /* U+200E U+200F, line separators U+2028 U+2029, U+202A to U+202E */
    return c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9 ? 3 : 0; /* U+2066 to U+2069 */
}

bool ap_utf8_valid(const char *text, size_t len, size_t *ret_bad_offset)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t i = 0;
    while (i < len) {
        if (len - i >= 8 && is_ascii_block(s + i)) {
            i += 8;
            continue;
        }
        uint32_t c;
        size_t size = decode(s + i, len - i, &c);
        if (size == 0) {
            if (ret_bad_offset)
                *ret_bad_offset = i;
            return false;
        }
        i += size;
    }
    return true;
}

typedef struct span {
    uint32_t first, last;
} span;

/* Characters that take no column: combining marks of the common scripts, joiners, variation selectors. */
static const span zero_width[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489},  {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670},
    {0x06D6, 0x06DC}, {0x0900, 0x0902},  {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},  {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E},
    {0x2060, 0x2064}, {0x20D0, 0x20FF},  {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};
/* East Asian wide and fullwidth, and emoji. */
static const span double_width[] = {
    {0x1100, 0x115F},  {0x231A, 0x231B}, {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x26A1, 0x26A1},  {0x2705, 0x2705}, {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},
    {0x2753, 0x2755},  {0x2757, 0x2757}, {0x2B50, 0x2B50},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},  {0xA000, 0xA4CF}, {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF},
    {0x20000, 0x3FFFD}};

static bool in_spans(const span *spans, size_t count, uint32_t c)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c > spans[middle].last)
            low = middle + 1;
        else if (c < spans[middle].first)
            high = middle;
        else
            return true;
    }
    return false;
}

static size_t char_width(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7F && c < 0xA0))
        return 0;
    if (c < 0x300)
        return 1;
    if (in_spans(zero_width, sizeof zero_width / sizeof *zero_width, c))
        return 0;
    return in_spans(double_width, sizeof double_width / sizeof *double_width, c) ? 2 : 1;
}

size_t ap_text_width(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t len = strlen(text), width = 0;
    for (size_t i = 0; i < len;) {
        uint32_t c;
        size_t size = decode(s + i, len - i, &c);
        width += size ? char_width(c) : 1;
        i += size ? size : 1;
    }
    return width;
}

/* Costs of an edit. A plain typing error costs FULL; differences that are none to a person cost little. */
enum { COST_CASE = 1, COST_SEPARATOR = 1, COST_SWAP = 3, COST_FULL = 4, MAX_COMPARED = 96 };

static bool is_separator(char c)
{
    return c == '-' || c == '_' || c == '.' || c == ' ' || c == '/';
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned replace_cost(char a, char b)
{
    if (a == b)
        return 0;
    if (fold(a) == fold(b))
        return COST_CASE;
    return is_separator(a) && is_separator(b) ? COST_SEPARATOR : COST_FULL;
}

static unsigned drop_cost(char c)
{
    return is_separator(c) ? COST_SEPARATOR : COST_FULL;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Optimal string alignment over three rolling rows; texts are compared up to MAX_COMPARED bytes. */
unsigned ap_text_distance(const char *a, const char *b)
{
    unsigned rows[3][MAX_COMPARED + 1];
    size_t a_len = strnlen(a, MAX_COMPARED), b_len = strnlen(b, MAX_COMPARED);
    unsigned *before = rows[0], *previous = rows[1], *current = rows[2];
    previous[0] = 0;
    for (size_t j = 1; j <= b_len; j++)
        previous[j] = previous[j - 1] + drop_cost(b[j - 1]);
    for (size_t i = 1; i <= a_len; i++) {
        current[0] = previous[0] + drop_cost(a[i - 1]);
        for (size_t j = 1; j <= b_len; j++) {
            unsigned best = previous[j - 1] + replace_cost(a[i - 1], b[j - 1]);
            best = smaller(best, previous[j] + drop_cost(a[i - 1]));
            best = smaller(best, current[j - 1] + drop_cost(b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller(best, before[j - 2] + COST_SWAP);
            current[j] = best;
        }
        unsigned *oldest = before;
        before = previous;
        previous = current;
        current = oldest;
    }
    return previous[b_len];
}

void ap_suggest_init(ap_suggest *suggest, const char *wanted)
{
    *suggest = (ap_suggest){.wanted = wanted};
}

static bool extends(const char *longer, const char *start)
{
    size_t i = 0;
    for (; start[i]; i++)
        if (fold(longer[i]) != fold(start[i]))
            return false;
    return i >= 3;
}

/* About one error in three characters is a typo; more is another word. A start of the word is near as well. */
void ap_suggest_offer(ap_suggest *suggest, const char *candidate)
{
    size_t len = strlen(suggest->wanted);
    unsigned limit = (unsigned)(len < 3 ? COST_SWAP : COST_FULL * ((len + 2) / 3));
    if (limit > 5 * COST_FULL)
        limit = 5 * COST_FULL;
    unsigned distance = ap_text_distance(suggest->wanted, candidate);
    if (extends(candidate, suggest->wanted))
        distance = smaller(distance, COST_FULL);
    if (distance > limit)
        return;
    const size_t max = sizeof suggest->best / sizeof *suggest->best;
    size_t at = suggest->count;
    while (at > 0 && suggest->best[at - 1].distance > distance)
        at--;
    if (at >= max)
        return;
    for (size_t i = 0; i < suggest->count; i++)
        if (strcmp(suggest->best[i].name, candidate) == 0)
            return;
    if (suggest->count < max)
        suggest->count++;
    for (size_t i = suggest->count - 1; i > at; i--)
        suggest->best[i] = suggest->best[i - 1];
    suggest->best[at].name = candidate;
    suggest->best[at].distance = distance;
}

/* A candidate much farther away than the nearest one only distracts. */
const char *ap_suggest_text(const ap_suggest *suggest, ap_arena *arena)
{
    size_t count = suggest->count;
    while (count > 1 && suggest->best[count - 1].distance > suggest->best[0].distance * 2 + COST_FULL)
        count--;
    if (count == 0)
        return NULL;
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    ap_sbuf_add(&text, "did you mean ");
    for (size_t i = 0; i < count; i++) {
        const char *before = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        ap_sbuf_printf(&text, "%s'%s'", before, suggest->best[i].name);
    }
    ap_sbuf_add_char(&text, '?');
    return text.text;
}
