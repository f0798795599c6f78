#include "base/human.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

/* Text of a fixed-point number with commas between thousands, from `from` on. */
void ap_human_grouped(ap_sbuf *out, double value, int decimals, double from)
{
    char text[400];
    int len = snprintf(text, sizeof text, "%.*f", decimals, value);
    if (len < 0 || (size_t)len >= sizeof text)
        return;
    size_t digits = fabs(value) < from ? 0 : strcspn(text + (text[0] == '-'), ".");
    for (const char *c = text; *c; c++) {
        ap_sbuf_add_char(out, *c);
        if (*c == '-')
            continue;
        if (digits > 0 && --digits > 0 && digits % 3 == 0)
            ap_sbuf_add_char(out, ',');
    }
}

/* Decimals that leave so many significant digits of a number, after rounding. */
static int decimals_for(double value, int digits)
{
    double size = fabs(value), half = 5;
    int decimals = digits - 1;
    for (int i = 0; i < digits; i++)
        half /= 10; /* half a unit of the last digit, for numbers below 10 */
    for (double limit = 10; decimals > 0 && size >= limit - half * limit / 10; limit *= 10)
        decimals--;
    if (size > 0 && size < 1)
        for (double limit = 1; decimals < 12 && size < limit - half * limit / 10; limit /= 10)
            decimals++;
    return decimals;
}

/* So many significant digits with their zeros (1.50, 12.0), so that columns of like numbers read evenly. */
void ap_human_digits(ap_sbuf *out, double value, int digits)
{
    double size = fabs(value);
    if (size >= 1e15 || (size > 0 && size < 1e-4)) {
        char text[32];
        ap_num_format_digits(value, digits, text);
        ap_sbuf_add(out, text);
        return;
    }
    if (digits < 3 && size >= 100) { /* a bound of 15,926 claims more than is known: 16,000 */
        double unit = pow(10, floor(log10(size)) + 1 - digits);
        value = round(value / unit) * unit;
    }
    bool whole = value == floor(value) && size < 1000;
    ap_human_grouped(out, value, whole ? 0 : decimals_for(value, digits), 1000);
}

/* A unit and what it is worth in the unit that the number is in. */
typedef struct unit {
    double from, worth; /* chosen for sizes of at least `from` */
    const char *name;
} unit;

static const unit second_units[] = {{48 * 3600.0, 86400, "d"}, {7200, 3600, "h"},   {120, 60, "min"},
                                    {0.9995, 1, "s"},          {9.995e-4, 1e-3, "ms"}, {0, 1e-6, "\xC2\xB5s"}};
static const unit hour_units[] = {{48, 24, "d"}, {2, 1, "h"}, {2.0 / 60, 1.0 / 60, "min"}, {0, 1.0 / 3600, "s"}};
static const unit count_units[] = {
    {9.995e11, 1e12, "T"}, {9.995e8, 1e9, "B"}, {9.995e5, 1e6, "M"}, {9995, 1e3, "k"}, {0, 1, NULL}};

/* The number in the unit that suits `like`: the bounds of a range take the unit of its middle. */
static void add_in_unit(ap_sbuf *out, double value, double like, const unit *units, int digits)
{
    const unit *chosen = units;
    while (chosen->from > 0 && fabs(like) < chosen->from)
        chosen++;
    ap_human_digits(out, value / chosen->worth, digits);
    if (chosen->name)
        ap_sbuf_printf(out, " %s", chosen->name);
}

void ap_human_hours(ap_sbuf *out, double hours, double like)
{
    if (hours == 0 && like == 0)
        ap_sbuf_add(out, "0 h");
    else /* two digits are enough for a duration whose error is tens of percent: 3.2 h, 45 min, 12 d */
        add_in_unit(out, hours, like, hour_units, 2);
}

void ap_human_usd(ap_sbuf *out, double usd)
{
    double size = fabs(usd);
    if (size >= 9999.5)
        ap_human_grouped(out, usd, 0, 1000);
    else if (size >= 0.0995 || usd == 0)
        ap_human_grouped(out, usd, 2, 1000);
    else
        ap_human_digits(out, usd, 3);
}

void ap_human_seconds(ap_sbuf *out, double seconds, double like, int digits)
{
    add_in_unit(out, seconds, like, second_units, digits);
}

void ap_human_count(ap_sbuf *out, double count, double like, int digits)
{
    add_in_unit(out, count, like, count_units, digits);
}

const char *ap_human_hours_text(ap_arena *arena, double hours)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    ap_human_hours(&out, hours, hours);
    return out.text;
}

const char *ap_human_usd_text(ap_arena *arena, double usd)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    ap_human_usd(&out, usd);
    return out.text;
}
