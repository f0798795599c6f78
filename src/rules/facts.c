#include <math.h>
#include <string.h>

#include "rules/rules.h"

/* What AP_LIST(const char *) looks like (schema/schema.h), spelled out because rules only needs this one shape. */
typedef struct text_list {
    const char **items;
    size_t count;
} text_list;

void ap_facts_clear(const ap_fact_schema *schema, void *object, size_t size)
{
    memset(object, 0, size);
    for (size_t i = 0; i < schema->count; i++) {
        unsigned char *at = (unsigned char *)object + schema->facts[i].offset;
        ap_cel_kind kind = schema->facts[i].kind;
        double unknown = (double)NAN;
        if (kind == AP_CEL_INT || kind == AP_CEL_DOUBLE)
            memcpy(at, &unknown, sizeof unknown);
        else if (kind == AP_CEL_BOOL)
            *at = (unsigned char)-1;
    }
}

static ap_cel_value unknown_value(const ap_fact *fact)
{
    return (ap_cel_value){.kind = AP_CEL_UNKNOWN_FACT, .as.error = fact->path};
}

static ap_cel_value number_value(const ap_fact *fact, const unsigned char *at)
{
    double number;
    memcpy(&number, at, sizeof number);
    if (isnan(number))
        return unknown_value(fact);
    if (fact->kind == AP_CEL_DOUBLE)
        return (ap_cel_value){.kind = AP_CEL_DOUBLE, .as.number = number};
    if (!(fabs(number) < 9.2e18))
        return unknown_value(fact);
    return (ap_cel_value){.kind = AP_CEL_INT, .as.integer = (int64_t)llround(number)};
}

static ap_cel_value list_value(const unsigned char *at, ap_arena *arena)
{
    text_list list;
    memcpy(&list, at, sizeof list);
    ap_cel_value *items = list.count ? AP_NEW_ARRAY(arena, ap_cel_value, list.count) : NULL;
    for (size_t i = 0; i < list.count; i++)
        items[i] = ap_cel_text(list.items[i]);
    return (ap_cel_value){.kind = AP_CEL_LIST, .as.list = {items, list.count}};
}

ap_cel_value ap_cel_text(const char *text)
{
    return (ap_cel_value){.kind = AP_CEL_STRING, .as.string = {text, strlen(text)}};
}

ap_cel_value ap_fact_read(const ap_fact *fact, const void *object, ap_arena *arena)
{
    const unsigned char *at = (const unsigned char *)object + fact->offset;
    switch (fact->kind) {
    case AP_CEL_INT:
    case AP_CEL_DOUBLE:
        return number_value(fact, at);
    case AP_CEL_BOOL: {
        signed char flag;
        memcpy(&flag, at, sizeof flag);
        return flag < 0 ? unknown_value(fact) : (ap_cel_value){.kind = AP_CEL_BOOL, .as.boolean = flag != 0};
    }
    case AP_CEL_STRING: {
        const char *text;
        memcpy(&text, at, sizeof text);
        return text ? ap_cel_text(text) : unknown_value(fact);
    }
    case AP_CEL_LIST:
        return list_value(at, arena);
    default:
        return unknown_value(fact);
    }
}

void ap_facts_bind(const ap_fact_schema *schema, const ap_fact_filter *filter, const void *object, ap_arena *arena,
                   ap_cel_value *values)
{
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->facts[i].phase != filter->phase || (filter->used && !filter->used[i]))
            continue;
        values[i] = ap_fact_read(&schema->facts[i], object, arena);
    }
}

void ap_facts_unknown(const ap_fact_schema *schema, ap_cel_value *values)
{
    for (size_t i = 0; i < schema->count; i++)
        values[i] = unknown_value(&schema->facts[i]);
}
