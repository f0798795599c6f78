/* Calendar days (Gregorian, UTC) of texts such as 2026-08-01, 2026-08 or 2026. */
#ifndef AP_BASE_DATE_H
#define AP_BASE_DATE_H

#include <stdbool.h>

/* Days since 1970-01-01; a vague date counts as the first day it may mean. NaN when it is none. */
double ap_date_day(const char *date);
/* Days from one date to a later one; NaN when either is none. */
double ap_days_between(const char *from, const char *to);

/* Is it written YYYY, YYYY-MM or YYYY-MM-DD, and one that a calendar of our time has? */
bool ap_date_is_plain(const char *date);

#endif
