/* Ages of prices. The clock is read only to compare, never for the answer. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/date.h"
#include "cli/cli.h"

#define DAY_S 86400.0

time_t ap_cli_now(void)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    double seconds;
    return epoch && ap_num_parse(epoch, &seconds) && seconds >= 0 && seconds < 1e11 ? (time_t)seconds : time(NULL);
}

const char *ap_cli_today(const ap_cli *cli)
{
    const char *given = ap_cli_text(cli, AP_O_AS_OF);
    time_t now = ap_cli_now();
    struct tm utc;
    char text[16];
    if (given)
        return given;
    if (!gmtime_r(&now, &utc) || strftime(text, sizeof text, "%Y-%m-%d", &utc) == 0)
        return NULL;
    return ap_arena_strdup(cli->arena, text);
}

ap_status ap_cli_check_price_age(ap_cli *cli, const ap_doc *doc)
{
    double most = ap_cli_number(cli, AP_O_MAX_PRICE_AGE) / DAY_S, now = ap_date_day(ap_cli_today(cli));
    const ap_value *rows = ap_value_at(doc->root, "results");
    rows = rows ? rows : ap_value_at(doc->root, "items");
    rows = rows ? rows : ap_value_at(doc->root, "sources");
    if (!ap_known(most) || !rows || rows->kind != AP_V_LIST)
        return AP_OK;
    size_t old = 0, priced = 0;
    const char *oldest = NULL;
    for (size_t i = 0; i < rows->as.list.count; i++) {
        const ap_value *date = ap_value_at(rows->as.list.items[i], "price_as_of");
        date = date ? date : ap_value_at(rows->as.list.items[i], "as_of");
        if (!date || date->kind != AP_V_TEXT)
            continue;
        priced++;
        if (!(now - ap_date_day(date->as.text) > most))
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
