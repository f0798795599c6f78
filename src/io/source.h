/* Places in a text: from byte offset to line and column and back. Lines end as YAML ends them (LF, CR, CRLF, NEL, LS,
 * PS), so that they agree with libyaml's marks; columns count characters; both from 1. */
#ifndef AP_IO_SOURCE_H
#define AP_IO_SOURCE_H

#include <stddef.h>

#include "base/diag.h"

ap_pos ap_source_pos(const char *text, size_t len, const char *name, size_t offset);
/* Byte offset of a position; len when it lies beyond the text. */
size_t ap_source_offset(const char *text, size_t len, ap_pos pos);

#endif
