/* Values of options: checked when they are taken, read through typed accessors. */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

/* How messages call an option depends on where its value came from. */
static const char *spell(ap_cli *cli, ap_opt_id id, ap_origin origin)
{
    const ap_option *option = &ap_options[id];
    if (origin == AP_FROM_ENVIRONMENT)
        return ap_option_env(cli->arena, option);
    return ap_arena_printf(cli->arena, origin == AP_FROM_OPTION ? "--%s" : "defaults: %s", option->name);
}

typedef struct taking {
    ap_cli *cli;
    ap_opt_id id;
    ap_origin origin;
    ap_pos pos;
} taking;

static ap_status refuse(const taking *t, int code, const char *hint, const char *why)
{
    ap_diag *diag = ap_diag_add(&t->cli->diags, AP_ERROR, code, t->pos, "%s: %s", spell(t->cli, t->id, t->origin), why);
    diag->hint = hint;
    return AP_USAGE;
}

static ap_status check_word(const taking *t, const char *value)
{
    const ap_option *option = &ap_options[t->id];
    ap_suggest suggest;
    ap_suggest_init(&suggest, value);
    ap_sbuf all;
    ap_sbuf_init(&all, t->cli->arena);
    for (size_t i = 0; option->words[i]; i++) {
        if (ap_streq(option->words[i], value))
            return AP_OK;
        ap_suggest_offer(&suggest, option->words[i]);
        ap_sbuf_printf(&all, "%s%s", i ? ", " : "", option->words[i]);
    }
    return refuse(t, 56, ap_suggest_text(&suggest, t->cli->arena),
                  ap_arena_printf(t->cli->arena, "'%s' is not one of %s", value, all.text));
}

static ap_status check_number(const taking *t, const char *value, double *ret_number)
{
    const ap_option *option = &ap_options[t->id];
    ap_arena *arena = t->cli->arena;
    const char *reason = NULL;
    double number = AP_UNKNOWN;
    bool ok = option->dim == AP_DIM_NONE ? ap_num_parse(value, &number)
                                         : ap_units_parse(value, option->dim, &number, arena, &reason);
    if (!ok)
        return refuse(t, 55, NULL, reason ? reason : ap_arena_printf(arena, "'%s' is not a number", value));
    if (number < option->min) {
        char least[32];
        ap_num_format(option->min, least);
        return refuse(t, 55, NULL, ap_arena_printf(arena, "'%s' is below the least possible value, %s", value, least));
    }
    *ret_number = number;
    return AP_OK;
}

static ap_status check_integer(const taking *t, const char *value, double *ret_number)
{
    double number;
    if (!ap_num_parse(value, &number) || floor(number) != number || fabs(number) >= 9007199254740992.0)
        return refuse(t, 55, NULL, ap_arena_printf(t->cli->arena, "'%s' is not a whole number", value));
    return check_number(t, value, ret_number);
}

static bool is_date(const char *text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (int i = 0; i < 10; i++)
        if (i == 4 || i == 7 ? text[i] != '-' : !isdigit((unsigned char)text[i]))
            return false;
    if (text[10])
        return false;
    int year = (text[0] - '0') * 1000 + (text[1] - '0') * 100 + (text[2] - '0') * 10 + (text[3] - '0');
    int month = (text[5] - '0') * 10 + (text[6] - '0'), day = (text[8] - '0') * 10 + (text[9] - '0');
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

static ap_status check_pair(const taking *t, const char *value)
{
    const char *equals = strchr(value, '=');
    double number;
    if (!equals || equals == value || !equals[1])
        return refuse(t, 55, NULL, ap_arena_printf(t->cli->arena, "'%s' is not %s", value, ap_options[t->id].arg));
    return check_number(t, equals + 1, &number);
}

static ap_status check_item(const taking *t, const char *item)
{
    if (!*item)
        return refuse(t, 55, NULL, "an item of the list is empty");
    if (ap_options[t->id].words)
        return check_word(t, item);
    if (ap_options[t->id].kind == AP_ARG_EACH && strchr(ap_options[t->id].arg, '=') && !strchr(item, '='))
        return refuse(t, 55, NULL, ap_arena_printf(t->cli->arena, "'%s' is not %s", item, ap_options[t->id].arg));
    return ap_options[t->id].kind == AP_ARG_PAIRS ? check_pair(t, item) : AP_OK;
}

static ap_status take_items(const taking *t, ap_setting *setting, const char *value)
{
    ap_arena *arena = t->cli->arena;
    ap_status status = AP_OK;
    bool split = ap_options[t->id].kind != AP_ARG_EACH;
    for (const char *at = value;; at++) {
        size_t len = split ? strcspn(at, ",") : strlen(at);
        const char *item = ap_arena_strndup(arena, at, len);
        if (check_item(t, item) != AP_OK)
            status = AP_USAGE;
        *AP_PUSH(arena, setting->items, setting->count, setting->capacity) = item;
        at += len;
        if (!*at)
            return status;
    }
}

static ap_status take_flag(const taking *t, ap_setting *setting, const char *value)
{
    setting->flag = ap_streq(value, "true") || ap_streq(value, "1");
    if (setting->flag || ap_streq(value, "false") || ap_streq(value, "0"))
        return AP_OK;
    return refuse(t, 55, NULL, ap_arena_printf(t->cli->arena, "'%s' is neither true nor false", value));
}

static ap_status take_range(const taking *t, ap_setting *setting, const char *value)
{
    const char *reason = NULL;
    const ap_option *option = &ap_options[t->id];
    if (ap_range_parse(value, option->dim, &setting->range, t->cli->arena, &reason)) {
        if (!(setting->range.low < option->min) && !(setting->range.high < option->min))
            return AP_OK;
        reason = ap_arena_printf(t->cli->arena, "'%s' is below the least possible value, %g", value, option->min);
    }
    return refuse(t, 55, NULL, reason ? reason : ap_arena_printf(t->cli->arena, "'%s' is not a range", value));
}

static ap_status take_value(const taking *t, ap_setting *setting, const char *value)
{
    switch (ap_options[t->id].kind) {
    case AP_ARG_FLAG:
        return take_flag(t, setting, value);
    case AP_ARG_WORD:
        return check_word(t, value);
    case AP_ARG_NUM:
        return check_number(t, value, &setting->number);
    case AP_ARG_INT:
        return check_integer(t, value, &setting->number);
    case AP_ARG_RANGE:
        return take_range(t, setting, value);
    case AP_ARG_DATE:
        if (is_date(value))
            return AP_OK;
        return refuse(t, 55, NULL, ap_arena_printf(t->cli->arena, "'%s' is not a date such as 2026-08-01", value));
    case AP_ARG_LIST:
    case AP_ARG_PAIRS:
    case AP_ARG_EACH:
        return take_items(t, setting, value);
    case AP_ARG_TEXT:
    case AP_ARG_FILE:
    case AP_ARG_DIR:
        return AP_OK;
    }
    return AP_BUG;
}

ap_status ap_cli_take(ap_cli *cli, ap_opt_id id, const char *value, ap_origin origin, ap_pos pos)
{
    ap_setting *setting = &cli->settings[id];
    if (setting->origin != AP_FROM_NOWHERE && setting->origin < origin)
        return AP_OK;
    taking t = {cli, id, origin, pos};
    if (!*value)
        return refuse(&t, 55, NULL, "the value is empty");
    if (setting->origin != origin)
        *setting = (ap_setting){.number = AP_UNKNOWN, .range = {AP_UNKNOWN, AP_UNKNOWN}};
    setting->origin = origin;
    setting->text = value;
    ap_status status = take_value(&t, setting, value);
    if (status != AP_OK) /* what was refused must not be read by a command that goes on */
        *setting = (ap_setting){.number = AP_UNKNOWN, .range = {AP_UNKNOWN, AP_UNKNOWN}};
    return status;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

bool ap_cli_flag(const ap_cli *cli, ap_opt_id id)
{
    assert(ap_options[id].kind == AP_ARG_FLAG);
    return cli->settings[id].flag;
}

const char *ap_cli_text(const ap_cli *cli, ap_opt_id id)
{
    return cli->settings[id].text;
}

const char *ap_cli_text_or(const ap_cli *cli, ap_opt_id id, const char *fallback)
{
    return cli->settings[id].text ? cli->settings[id].text : fallback;
}

double ap_cli_number(const ap_cli *cli, ap_opt_id id)
{
    assert(ap_options[id].kind == AP_ARG_NUM || ap_options[id].kind == AP_ARG_INT);
    return cli->settings[id].number;
}

ap_range ap_cli_range(const ap_cli *cli, ap_opt_id id)
{
    assert(ap_options[id].kind == AP_ARG_RANGE);
    return cli->settings[id].range;
}

ap_strings ap_cli_list(const ap_cli *cli, ap_opt_id id)
{
    const ap_setting *setting = &cli->settings[id];
    return (ap_strings){.items = setting->items, .count = setting->count};
}

int ap_cli_word(const ap_cli *cli, ap_opt_id id)
{
    const ap_option *option = &ap_options[id];
    assert(option->kind == AP_ARG_WORD);
    const char *word = ap_cli_text_or(cli, id, option->fallback);
    for (int i = 0; word && option->words[i]; i++)
        if (ap_streq(option->words[i], word))
            return i;
    return -1;
}

ap_origin ap_cli_origin(const ap_cli *cli, ap_opt_id id)
{
    return cli->settings[id].origin;
}

const char *ap_cli_pair(const ap_cli *cli, ap_opt_id id, const char *name)
{
    const ap_setting *setting = &cli->settings[id];
    size_t len = strlen(name);
    for (size_t i = setting->count; i-- > 0;)
        if (strncmp(setting->items[i], name, len) == 0 && setting->items[i][len] == '=')
            return setting->items[i] + len + 1;
    return NULL;
}

/* The whole value: a repeated list option is one list. */
static const char *whole_text(const ap_cli *cli, const ap_setting *setting)
{
    if (setting->count < 2)
        return setting->text;
    ap_sbuf text;
    ap_sbuf_init(&text, cli->arena);
    for (size_t i = 0; i < setting->count; i++)
        ap_sbuf_printf(&text, "%s%s", i ? "," : "", setting->items[i]);
    return text.text;
}

size_t ap_cli_assignments(const ap_cli *cli, const ap_assignment **ret_items)
{
    const ap_setting *set = &cli->settings[AP_O_SET];
    ap_assignment *items = AP_NEW_ARRAY(cli->arena, ap_assignment, AP_O_COUNT + set->count);
    size_t count = 0;
    for (int i = 0; i < AP_O_COUNT; i++)
        if (ap_options[i].key && cli->settings[i].origin != AP_FROM_NOWHERE)
            items[count++] = (ap_assignment){ap_options[i].key, whole_text(cli, &cli->settings[i]),
                                             ap_arena_printf(cli->arena, "--%s", ap_options[i].name),
                                             cli->settings[i].origin};
    for (size_t i = 0; i < set->count; i++) {
        const char *equals = strchr(set->items[i], '=');
        size_t len = equals ? (size_t)(equals - set->items[i]) : strlen(set->items[i]);
        items[count++] = (ap_assignment){ap_arena_strndup(cli->arena, set->items[i], len), equals ? equals + 1 : "",
                                         "--set", AP_FROM_OPTION};
    }
    *ret_items = items;
    return count;
}

ap_format ap_cli_format(const ap_cli *cli)
{
    const ap_setting *json = &cli->settings[AP_O_JSON], *format = &cli->settings[AP_O_FORMAT];
    bool json_wins = json->flag && (format->origin == AP_FROM_NOWHERE || json->origin <= format->origin);
    return json_wins ? AP_FORMAT_JSON : (ap_format)ap_cli_word(cli, AP_O_FORMAT);
}

size_t ap_cli_limit(const ap_cli *cli)
{
    double limit = ap_cli_number(cli, AP_O_LIMIT);
    ap_format format = ap_cli_format(cli);
    if (ap_known(limit))
        return (size_t)limit;
    return format == AP_FORMAT_TABLE || format == AP_FORMAT_WIDE ? 20 : 0;
}
