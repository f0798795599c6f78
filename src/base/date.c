#include "base/date.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

/* Howard Hinnant's civil-day count. */
static double days_from_civil(int year, int month, int day)
{
    year -= month <= 2;
    int era = (year >= 0 ? year : year - 399) / 400;
    int year_of_era = year - era * 400, day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097.0 + day_of_era - 719468;
}

double ap_date_day(const char *date)
{
    int part[3] = {0, 1, 1};
    for (int i = 0; i < 3 && date && *date; i++) {
        char *end;
        part[i] = (int)strtol(date, &end, 10);
        if (end == date)
            return AP_UNKNOWN;
        date = *end == '-' ? end + 1 : end;
    }
    return part[0] > 0 && part[1] >= 1 && part[1] <= 12 && part[2] >= 1 && part[2] <= 31
               ? days_from_civil(part[0], part[1], part[2])
               : AP_UNKNOWN;
}

double ap_days_between(const char *from, const char *to)
{
    return ap_date_day(to) - ap_date_day(from);
}

bool ap_date_is_plain(const char *date)
{
    static const char form[] = "9999-99-99";
    size_t len = strlen(date);
    if (len != 4 && len != 7 && len != 10)
        return false;
    for (size_t i = 0; i < len; i++)
        if (form[i] == '9' ? date[i] < '0' || date[i] > '9' : date[i] != form[i])
            return false;
    return date[0] >= '1' && date[0] <= '2' && ap_known(ap_date_day(date));
}
