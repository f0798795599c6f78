/* YAML reading over libyaml's events (PITFALLS Y1-Y12): depth 64, byte limit checked before parsing, alias replay under
 * a node budget of 100,000 and depth 8, duplicate keys, tabs and encoding errors with exact positions and plain words.
 */
#ifndef AP_IO_YAML_H
#define AP_IO_YAML_H

#include "base/diag.h"
#include "base/status.h"
#include "io/node.h"

#define AP_YAML_MAX_DEPTH      64
#define AP_YAML_WORKLOAD_BYTES ((size_t)1 << 20)
#define AP_YAML_CATALOG_BYTES  ((size_t)16 << 20)

typedef enum ap_yaml_mode {
    AP_YAML_STRICT, /* our own files: one document; anchors, aliases, merge keys and duplicate keys are errors */
    AP_YAML_FOREIGN /* others' files: several documents; aliases and << resolved; a duplicate key is a warning, last
                       wins */
} ap_yaml_mode;

typedef struct ap_docs {
    ap_node **items;
    size_t count;
} ap_docs;

/* Parses `len` bytes. Every problem goes to `diags` (codes 01xx). Returns AP_BAD_INPUT when any was an error; what
 * could be read is still in ret_docs. `name` is the file name for positions ("<stdin>" for -). */
AP_CHECKED ap_status ap_yaml_parse(const char *text, size_t len, const char *name, ap_yaml_mode mode, size_t max_bytes,
                                   ap_arena *arena, ap_diags *diags, ap_docs *ret_docs);

/* Fills diag->source_line of every diagnostic that points into this text. Called by the reader for its own findings and
 * by later stages that add findings about the same file. */
void ap_diags_attach_source(ap_diags *diags, const char *name, const char *text, size_t len);

#endif
