/* CSV (RFC 4180): quoted fields with doubled quotes and line breaks; header gives the columns. */
#ifndef AP_IO_CSV_H
#define AP_IO_CSV_H

#include "base/diag.h"
#include "base/status.h"

typedef struct ap_csv {
    const char **columns;
    size_t column_count;
    const char ***rows; /* rows[i][column]; missing cells are "" */
    int *lines;         /* line each row starts on */
    size_t row_count;
} ap_csv;

AP_CHECKED ap_status ap_csv_parse(const char *text, size_t len, const char *name, ap_arena *arena, ap_diags *diags,
                                  ap_csv *ret_csv);
/* Index of a column or -1. */
int ap_csv_column(const ap_csv *csv, const char *name);

#endif
