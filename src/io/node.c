#include "io/node.h"

#include <string.h>

bool ap_node_is_null(const ap_node *node)
{
    if (!node)
        return true;
    if (node->kind != AP_NODE_SCALAR || node->quoted)
        return false;
    const char *t = node->text;
    return *t == '\0' || strcmp(t, "~") == 0 || strcmp(t, "null") == 0 || strcmp(t, "Null") == 0 ||
           strcmp(t, "NULL") == 0;
}

static ap_node *get_len(const ap_node *map, const char *key, size_t len)
{
    if (!map || map->kind != AP_NODE_MAP)
        return NULL;
    for (size_t i = 0; i < map->as.map.count; i++) {
        const char *k = map->as.map.pairs[i].key;
        if (strncmp(k, key, len) == 0 && k[len] == '\0')
            return map->as.map.pairs[i].value;
    }
    return NULL;
}

ap_node *ap_node_get(const ap_node *map, const char *key)
{
    return get_len(map, key, strlen(key));
}

static ap_node *get_item(const ap_node *list, const char *digits, size_t len)
{
    size_t index = 0;
    if (len == 0 || len > 9)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(digits[i] - '0');
    }
    return index < list->as.list.count ? list->as.list.items[index] : NULL;
}

ap_node *ap_node_at(const ap_node *root, const char *path)
{
    const ap_node *node = root;
    ap_node *found = NULL;
    for (const char *c = path; node; c++) {
        size_t len = strcspn(c, ".");
        found = node->kind == AP_NODE_LIST ? get_item(node, c, len) : get_len(node, c, len);
        node = found;
        c += len;
        if (*c == '\0')
            return found;
    }
    return NULL;
}

const char *ap_node_text(const ap_node *node)
{
    return node && node->kind == AP_NODE_SCALAR ? node->text : NULL;
}

const char *ap_node_kind_name(const ap_node *node)
{
    if (ap_node_is_null(node))
        return "nothing";
    switch (node->kind) {
    case AP_NODE_LIST:
        return "a list";
    case AP_NODE_MAP:
        return "a mapping";
    case AP_NODE_SCALAR:
        break;
    }
    return "text";
}
