/* Any bytes as CSV: every cell of every row can be read. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_csv csv;
    ap_diags_init(&diags, arena);
    ap_status status = ap_csv_parse((const char *)data, size, "fuzz", arena, &diags, &csv);
    if ((status == AP_OK) != (diags.errors == 0))
        abort();
    size_t bytes = 0;
    for (size_t row = 0; row < csv.row_count; row++)
        for (size_t column = 0; column < csv.column_count; column++)
            bytes += strlen(csv.rows[row][column]);
    if (bytes > size)
        abort();
    return 0;
}
