/* State of one YAML reading. Private to yaml.c (events to nodes) and yaml_alias.c (anchors, merge keys, duplicates). */
#ifndef AP_IO_YAML_READER_H
#define AP_IO_YAML_READER_H

#include <stdint.h>

#include "io/yaml.h"
#include "io/yaml_error.h"

#define AP_YAML_ALIAS_NODES ((size_t)100000) /* nodes that all aliases of a file may stand for */
#define AP_YAML_ALIAS_DEPTH 8
#define AP_YAML_ANCHORS     ((size_t)1000)
#define AP_YAML_NO_ANCHOR   SIZE_MAX

typedef struct ap_yaml_frame { /* a list or mapping that is still open */
    ap_node *node;
    size_t first_pending;
    size_t nodes_before; /* node_count when it began */
    size_t anchor_index;
    int alias_depth; /* deepest alias inside */
    bool has_key;
    const char *key;
    ap_pos key_pos;
} ap_yaml_frame;

typedef struct ap_yaml_anchor {
    const char *name;
    ap_node *node;
    size_t node_count; /* with everything its own aliases stand for; 0 = still open */
    int alias_depth;
} ap_yaml_anchor;

typedef struct ap_yaml_reader {
    ap_yaml_source source;
    ap_yaml_mode mode;
    ap_arena *arena;
    ap_arena *scratch; /* released after reading */
    ap_diags *diags;
    ap_yaml_frame frames[AP_YAML_MAX_DEPTH];
    int depth;
    ap_pair *pending; /* members of all open collections, innermost last */
    size_t pending_count, pending_capacity;
    size_t node_count; /* aliases counted as what they stand for */
    size_t alias_nodes;
    ap_yaml_anchor *anchors;
    size_t anchor_count, anchor_capacity;
    size_t documents;
    ap_docs docs;
    size_t docs_capacity;
} ap_yaml_reader;

extern const char ap_yaml_merge_key[]; /* "<<"; told apart from quoted text by its address */

/* Remembers node under its anchor (NULL = none); node_count 0 when its end is still to come. */
size_t ap_yaml_declare_anchor(ap_yaml_reader *r, const char *name, ap_node *node, size_t node_count);
void ap_yaml_close_anchor(ap_yaml_reader *r, const ap_yaml_frame *frame);
/* NULL = reported; reading cannot go on. */
ap_node *ap_yaml_resolve_alias(ap_yaml_reader *r, const char *name, ap_pos pos, ap_yaml_frame *frame);
/* Reports duplicates, keeps the last of each in the place of the first; returns the new count. */
size_t ap_yaml_settle_duplicates(ap_yaml_reader *r, ap_pair *pairs, size_t count);
/* Replaces merge keys by what they stand for; explicit keys win. */
void ap_yaml_merge(ap_yaml_reader *r, ap_node *map);

#endif
