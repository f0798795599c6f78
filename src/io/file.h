/* Files: bounded reading, atomic replacement, folder walking in a fixed order. */
#ifndef AP_IO_FILE_H
#define AP_IO_FILE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/status.h"

/* Reads a regular file, pipe or "-" (stdin) of at most max_bytes; NUL-terminated. Missing, unreadable or a folder:
 * AP_IO; too big: AP_BAD_INPUT; both with a diagnostic (codes 00xx). */
AP_CHECKED ap_status ap_file_read(const char *path, size_t max_bytes, ap_arena *arena, ap_diags *diags, char **ret_text,
                                  size_t *ret_len);

/* Writes to PATH.tmp-PID in the same folder, fsyncs, renames: the old file survives any failure. "-" writes stdout.
 * Existing non-regular targets (/dev/null, pipes) are written directly. */
AP_CHECKED ap_status ap_file_write_atomic(const char *path, const char *text, size_t len, ap_diags *diags);

/* Paths of regular files below dir whose name ends in suffix (".yaml"), sorted by bytes; dot files only if asked. */
AP_CHECKED ap_status ap_file_walk(const char *dir, const char *suffix, bool dot_files, ap_arena *arena, ap_diags *diags,
                                  const char ***ret_paths, size_t *ret_count);
/* Makes one folder; it may exist already. AP_IO with a diagnostic. */
AP_CHECKED ap_status ap_file_make_dir(const char *path, ap_diags *diags);
bool ap_file_exists(const char *path);
bool ap_file_is_dir(const char *path);

#endif
