/* One value into a map: what views do all day. */
#ifndef AP_VIEW_PUT_H
#define AP_VIEW_PUT_H

#include "report/doc.h"

static inline void ap_put_text(ap_arena *arena, ap_value *map, const char *key, const char *text)
{
    ap_value_put(arena, map, key, ap_value_text(arena, text));
}

static inline void ap_put_num(ap_arena *arena, ap_value *map, const char *key, double value)
{
    ap_value_put(arena, map, key, ap_value_num(arena, value));
}

#endif
