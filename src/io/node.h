/* Positioned tree of a YAML (or JSON) document. Nothing is typed here: a scalar is text plus whether it was quoted; the
 * field table decides what it means (see schema/schema.h). Nodes live in the arena they were read into. */
#ifndef AP_IO_NODE_H
#define AP_IO_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

typedef enum ap_node_kind { AP_NODE_SCALAR, AP_NODE_LIST, AP_NODE_MAP } ap_node_kind;

typedef struct ap_node ap_node;

typedef struct ap_pair {
    const char *key;
    ap_pos key_pos;
    ap_node *value;
} ap_pair;

struct ap_node {
    ap_node_kind kind;
    bool quoted; /* scalar was quoted or a block scalar: it is text, never null, number or bool */
    ap_pos pos;
    const char *text; /* scalar; NUL-terminated, contains no NUL */
    union {
        struct {
            ap_node **items;
            size_t count;
        } list;
        struct {
            ap_pair *pairs;
            size_t count;
        } map;
    } as;
};

bool ap_node_is_null(const ap_node *node); /* NULL pointer, or a plain scalar ~, null, Null, NULL, or empty */
/* Value of a map's key, or NULL (also when node is NULL or no map). */
ap_node *ap_node_get(const ap_node *map, const char *key);
/* Path "a.b.c" through maps; list indices are numbers: "jobs.0.name". */
ap_node *ap_node_at(const ap_node *root, const char *path);
const char *ap_node_text(const ap_node *node);      /* scalar text or NULL */
const char *ap_node_kind_name(const ap_node *node); /* "a list", "a mapping", "text", "nothing" */

#endif
