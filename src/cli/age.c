/* Ages of prices. The clock is read only to compare, never for the answer. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"

#define DAY_S 86400.0

/* Days since 1970-01-01 of a Gregorian date (Howard Hinnant's civil-day count). */
static double days_from_civil(int year, int month, int day)
{
    year -= month <= 2;
    int era = (year >= 0 ? year : year - 399) / 400;
    int year_of_era = year - era * 400, day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097.0 + year_of_era * 365.0 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

/* Day of "2026-08-01", "2026-08" or "2026": the first it may mean, so that a vague date counts as the older one. */
static double day_of(const char *date)
{
    int part[3] = {0, 1, 1};
    for (int i = 0; i < 3 && date && *date; i++) {
        char *end;
        part[i] = (int)strtol(date, &end, 10);
        if (end == date)
            return AP_UNKNOWN;
        date = *end == '-' ? end + 1 : end;
    }
    return part[0] > 0 && part[1] >= 1 && part[1] <= 12 ? days_from_civil(part[0], part[1], part[2]) : AP_UNKNOWN;
}

static double today(const ap_cli *cli)
{
    const char *as_of = ap_cli_text(cli, AP_O_AS_OF), *epoch = getenv("SOURCE_DATE_EPOCH");
    double seconds;
    if (as_of)
        return day_of(as_of);
    return epoch && ap_num_parse(epoch, &seconds) ? floor(seconds / DAY_S) : floor((double)time(NULL) / DAY_S);
}

ap_status ap_cli_check_price_age(ap_cli *cli, const ap_doc *doc)
{
    double most = ap_cli_number(cli, AP_O_MAX_PRICE_AGE) / DAY_S, now = today(cli);
    const ap_value *rows = ap_value_at(doc->root, "results");
    rows = rows ? rows : ap_value_at(doc->root, "items");
    if (!ap_known(most) || !rows || rows->kind != AP_V_LIST)
        return AP_OK;
    size_t old = 0, priced = 0;
    const char *oldest = NULL;
    for (size_t i = 0; i < rows->as.list.count; i++) {
        const ap_value *date = ap_value_at(rows->as.list.items[i], "price_as_of");
        if (!date || date->kind != AP_V_TEXT)
            continue;
        priced++;
        if (!(now - day_of(date->as.text) > most))
            continue;
        old++;
        if (!oldest || strcmp(date->as.text, oldest) < 0)
            oldest = date->as.text;
    }
    if (old == 0)
        return AP_OK;
    bool strict = ap_cli_flag(cli, AP_O_STRICT);
    ap_diag_add(&cli->diags, strict ? AP_ERROR : AP_WARNING, 65, AP_NO_POS,
                "%zu of %zu prices are older than --max-price-age, the oldest of %s", old, priced, oldest);
    return strict ? AP_STALE : AP_OK;
}
