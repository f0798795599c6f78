/* Calibration as YAML text, in the form data/calibration/ uses. */
#ifndef AP_ESTIMATE_CALIB_WRITE_H
#define AP_ESTIMATE_CALIB_WRITE_H

#include "estimate/calibration.h"

/* Appends the engine. `head` (comment lines that open the file, with line ends) comes first; NULL = none. */
void ap_calib_write_yaml(const ap_calib_engine *engine, const char *head, ap_sbuf *out);
/* The comment lines at the start of a file's text, in the arena; "" when there are none. */
const char *ap_calib_head(const char *text, ap_arena *arena);

#endif
