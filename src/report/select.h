/* Sorting a list of maps by paths into them: what --sort means, for every command. */
#ifndef AP_REPORT_SELECT_H
#define AP_REPORT_SELECT_H

#include "report/doc.h"

/* Sorts in place by each key in turn ("cost_usd.p50", "year:desc"); unknown values come last in either direction, ties
 * keep the order they had. AP_USAGE with diagnostics (0061) for a key that no item has, or a bad direction. */
AP_CHECKED ap_status ap_value_sort(ap_arena *arena, ap_value *list, const char *const *keys, size_t key_count,
                                   ap_diags *diags);

/* Numbers before texts; numbers by size, texts by bytes; negative, 0, positive. NULL and null are equal and last. */
int ap_value_compare(const ap_value *a, const ap_value *b);

#endif
