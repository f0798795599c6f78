/* CSV as it arrives: fed in pieces of any size, hands out one record at a time, keeps no more than that record. */
#ifndef AP_PRICES_STREAM_CSV_H
#define AP_PRICES_STREAM_CSV_H

#include <stdbool.h>
#include <stddef.h>

#define AP_CSV_RECORD_BYTES ((size_t)64 * 1024)
#define AP_CSV_CELLS        ((size_t)512)

typedef struct ap_csv_stream {
    /* Cells live until the call returns. False stops the stream. */
    bool (*record)(void *context, const char *const *cells, size_t count);
    void *context;
    char text[AP_CSV_RECORD_BYTES]; /* cells of the present record, each NUL-terminated */
    size_t starts[AP_CSV_CELLS];
    size_t len, cells;
    bool in_quotes, after_quote, cell_quoted, any, ended_by_newline, started;
    int bom;
    const char *error; /* static text */
    size_t records;
} ap_csv_stream;

void ap_csv_stream_init(ap_csv_stream *s, bool (*record)(void *context, const char *const *cells, size_t count),
                        void *context);
/* False: error or stopped. */
bool ap_csv_stream_feed(ap_csv_stream *s, const char *bytes, size_t len);
/* Hands out a last record without newline. False when the text ended inside quotes. */
bool ap_csv_stream_end(ap_csv_stream *s);

#endif
