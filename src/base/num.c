#include "base/num.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Up to here every integer is a double. */
#define EXACT_LIMIT 9007199254740992.0 /* 2^53 */

typedef struct literal {
    bool negative;
    bool exact; /* the mantissa fits in 2^53, so value = mantissa * 10^exponent rounds once */
    uint64_t mantissa;
    int exponent;
    const char *end;
} literal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void add_digit(literal *lit, char c)
{
    if (lit->mantissa > (UINT64_C(1) << 53) / 10 - 1)
        lit->exact = false;
    else
        lit->mantissa = lit->mantissa * 10 + (uint64_t)(c - '0');
}

/* The optional exponent belongs to the number only when a digit follows: "5e" and "2eggs" end before the e. */
static const char *scan_exponent(const char *c, literal *lit)
{
    const char *p = c + 1;
    bool negative = *p == '-';
    if (*p == '+' || *p == '-')
        p++;
    if (!is_digit(*p))
        return c;
    int value = 0;
    for (; is_digit(*p); p++)
        if (value < 100000)
            value = value * 10 + (*p - '0');
    lit->exponent += negative ? -value : value;
    return p;
}

static bool scan_literal(const char *text, literal *lit)
{
    *lit = (literal){.exact = true};
    const char *c = text;
    if (*c == '-') {
        lit->negative = true;
        c++;
    }
    if (!is_digit(*c))
        return false;
    for (; is_digit(*c); c++)
        add_digit(lit, *c);
    if (*c == '.' && is_digit(c[1])) {
        for (c++; is_digit(*c); c++) {
            add_digit(lit, *c);
            if (lit->exponent > -100000)
                lit->exponent--;
        }
    }
    if (*c == 'e' || *c == 'E')
        c = scan_exponent(c, lit);
    lit->end = c;
    return true;
}

/* An exact mantissa and an exact power of ten (10^0..10^22) need a single rounding, hence give the nearest double. */
static bool convert_exact(const literal *lit, double *ret_value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!lit->exact || lit->exponent < -22 || lit->exponent > 22)
        return false;
    double value = (double)lit->mantissa;
    value = lit->exponent < 0 ? value / powers[-lit->exponent] : value * powers[lit->exponent];
    *ret_value = lit->negative ? -value : value;
    return true;
}

bool ap_num_parse_prefix(const char *text, double *ret_value, const char **ret_end)
{
    literal lit;
    if (!scan_literal(text, &lit))
        return false;
    *ret_end = lit.end;
    if (convert_exact(&lit, ret_value))
        return true;
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    /* A comma locale would make strtod stop early: then the text is refused, not misread. */
    if (end < lit.end || !isfinite(value) || (errno == ERANGE && value == 0))
        return false;
    *ret_value = value;
    return true;
}

bool ap_num_parse(const char *text, double *ret_value)
{
    double value;
    const char *end;
    if (!text || !ap_num_parse_prefix(text, &value, &end) || *end != '\0')
        return false;
    *ret_value = value;
    return true;
}

void ap_num_format(double value, char *buf)
{
    const size_t size = 32;
    if (!isfinite(value)) {
        snprintf(buf, size, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    if (fabs(value) < EXACT_LIMIT && value == trunc(value)) {
        snprintf(buf, size, "%lld", (long long)value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, size, "%.*g", digits, value);
        if (strtod(buf, NULL) == value)
            return;
    }
}

void ap_num_format_digits(double value, int digits, char *buf)
{
    if (!isfinite(value)) {
        ap_num_format(value, buf);
        return;
    }
    char rounded[40];
    int places = digits < 1 ? 0 : digits > 17 ? 16 : digits - 1;
    snprintf(rounded, sizeof rounded, "%.*e", places, value);
    ap_num_format(strtod(rounded, NULL), buf);
}
