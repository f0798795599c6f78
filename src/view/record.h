/* A described record (field table + struct) as a tree of values, and as lines of a sheet. */
#ifndef AP_VIEW_RECORD_H
#define AP_VIEW_RECORD_H

#include "report/doc.h"
#include "schema/schema.h"

/* Nested map of every known value, in inner units (bytes, FLOP/s …); absent ones are left out. */
ap_value *ap_view_record(ap_arena *arena, const ap_object *object, const void *record);

/* One line per known value: {field, value (text with unit), source}. `sources` overrides `source` by path. */
ap_value *ap_view_record_lines(ap_arena *arena, const ap_object *object, const void *record, const char *source,
                               const ap_text_map *sources);

#endif
