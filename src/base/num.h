/* Numbers: one strict parser and one printer for everything (YAML, JSON, CSV, options).
 *
 * Grammar: -?digits[.digits][e[+-]digits], the whole text, finite. No hex, no octal, no inf/nan, no blanks, no locale.
 * Unknown is NaN inside the program and never 0. */
#ifndef AP_BASE_NUM_H
#define AP_BASE_NUM_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define AP_UNKNOWN ((double)NAN)
static inline bool ap_known(double value)
{
    return !isnan(value);
}
static inline double ap_or(double value, double fallback)
{
    return isnan(value) ? fallback : value;
}

bool ap_num_parse(const char *text, double *ret_value);
/* Parses the longest number at the start of text and reports where it ended; false when there is none. */
bool ap_num_parse_prefix(const char *text, double *ret_value, const char **ret_end);
/* The shortest of %.15g, %.16g, %.17g that reads back equal; integers below 2^53 without exponent. buf >= 32 bytes. */
void ap_num_format(double value, char *buf);
/* Rounded to `digits` significant digits, then printed as above: for people. */
void ap_num_format_digits(double value, int digits, char *buf);

#endif
