/* Quantities with units. Inside the program each dimension has one unit, the first listed; data files and options may
 * use the others. `80GB` is 80e9 bytes, `80GiB` is 80*2^30.
 *
 * AP_DIM_MEMORY is for card and host memory: as bytes, but "40GB" there means what vendors print on the card: 40 GiB is
 * accepted by a filter ..40GB (see ap_range). */
#ifndef AP_BASE_UNITS_H
#define AP_BASE_UNITS_H

#include <stdbool.h>

#include "base/str.h"

typedef enum ap_dim {
    AP_DIM_NONE = 0,    /* plain number */
    AP_DIM_COUNT,       /* 1: with K M B T suffix (powers of 1000): 1.5B, 200M */
    AP_DIM_BYTES,       /* B: kB KB MB GB TB PB KiB MiB GiB TiB PiB (and plain B) */
    AP_DIM_BYTES_PER_S, /* B/s: the same + "/s"; also Gbps/Gbit/s Mbps Tbps (bits) */
    AP_DIM_FLOP_PER_S,  /* FLOP/s: TFLOPS GFLOPS PFLOPS, TFLOP/s …, TOPS for int8 */
    AP_DIM_SECONDS,     /* s: ms us ns min h d w, and sums like 2h30m, 1d12h */
    AP_DIM_WATTS,       /* W: mW kW MW */
    AP_DIM_USD,         /* USD: $, USD, plain */
    AP_DIM_USD_PER_H,   /* USD/h */
    AP_DIM_USD_PER_KWH, /* USD/kWh */
    AP_DIM_G_PER_KWH,   /* gCO2eq/kWh */
    AP_DIM_HZ,          /* Hz: MHz GHz */
    AP_DIM_FRACTION,    /* 0.25 or 25% */
    AP_DIM_TOKENS,      /* count, optionally followed by " tokens" */
    AP_DIM_MEMORY
} ap_dim;

/* Parses "80GB", "3.35 TB/s", "2h30m", "1.5B" into the dimension's inner unit. A number without unit is taken in the
 * inner unit when the dimension is NONE, COUNT, USD*, FRACTION or TOKENS, otherwise it is an error.
 * On failure writes a one-line reason with what was expected (arena text). */
bool ap_units_parse(const char *text, ap_dim dim, double *ret_value, ap_arena *arena, const char **ret_reason);

/* For people: "80 GiB", "3.35 TB/s", "2.5 h", "1.5 B": at most three significant digits; NaN is "unknown". */
void ap_units_format(double value, ap_dim dim, ap_sbuf *out);
const char *ap_dim_expected(ap_dim dim); /* "a size such as 80GB or 512MiB" */

/* "1..8", "40GB..", "..24GB", ">=4", "8": inclusive bounds, unknown (NaN) where open. For memory an upper bound in GB
 * also admits the GiB of the same number. */
typedef struct ap_range {
    double low;
    double high;
} ap_range;
bool ap_range_parse(const char *text, ap_dim dim, ap_range *ret_range, ap_arena *arena, const char **ret_reason);
bool ap_range_contains(ap_range range, double value);

#endif
