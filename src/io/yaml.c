#include "io/yaml.h"

#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "io/yaml_error.h"
#include "io/yaml_reader.h"

static ap_pos mark_pos(const ap_yaml_reader *r, yaml_mark_t mark)
{
    return (ap_pos){.file = r->source.name, .line = (int)mark.line + 1, .col = (int)mark.column + 1};
}

static ap_yaml_frame *top(ap_yaml_reader *r)
{
    return r->depth > 0 ? &r->frames[r->depth - 1] : NULL;
}

static ap_pair *push_pending(ap_yaml_reader *r)
{
    return AP_PUSH(r->scratch, r->pending, r->pending_count, r->pending_capacity);
}

static void take_key(ap_yaml_reader *r, ap_yaml_frame *frame, const ap_node *node)
{
    frame->has_key = true;
    frame->key_pos = node->pos;
    frame->key = node->kind == AP_NODE_SCALAR ? node->text : "";
    if (node->kind != AP_NODE_SCALAR) {
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_COMPLEX_KEY, node->pos, "a key must be text, not %s",
                    ap_node_kind_name(node));
        return;
    }
    if (node->quoted || strcmp(node->text, "<<") != 0)
        return;
    if (r->mode == AP_YAML_FOREIGN)
        frame->key = ap_yaml_merge_key;
    else
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_MERGE_KEY, node->pos, "merge keys ('<<') are not allowed here")->hint =
            "write the keys out";
}

static void add_document(ap_yaml_reader *r, ap_node *node)
{
    if (r->mode == AP_YAML_FOREIGN && ap_node_is_null(node))
        return;
    *AP_PUSH(r->arena, r->docs.items, r->docs.count, r->docs_capacity) = node;
}

static void add_node(ap_yaml_reader *r, ap_node *node)
{
    ap_yaml_frame *frame = top(r);
    if (!frame) {
        add_document(r, node);
        return;
    }
    if (frame->node->kind == AP_NODE_LIST) {
        *push_pending(r) = (ap_pair){.value = node};
    } else if (!frame->has_key) {
        take_key(r, frame, node);
    } else {
        *push_pending(r) = (ap_pair){.key = frame->key, .key_pos = frame->key_pos, .value = node};
        frame->has_key = false;
    }
}

static ap_node *new_node(ap_yaml_reader *r, ap_node_kind kind, ap_pos pos)
{
    ap_node *node = AP_NEW(r->arena, ap_node);
    node->kind = kind;
    node->pos = pos;
    r->node_count++;
    return node;
}

static void check_tag(ap_yaml_reader *r, const yaml_char_t *tag, ap_pos pos)
{
    if (tag && r->mode == AP_YAML_STRICT)
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_TAG, pos, "tags are not allowed here")->hint =
            "quote values that start with '!'";
}

static void read_scalar(ap_yaml_reader *r, const yaml_event_t *event)
{
    ap_pos pos = mark_pos(r, event->start_mark);
    ap_node *node = new_node(r, AP_NODE_SCALAR, pos);
    const char *value = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    const char *tag = (const char *)event->data.scalar.tag;
    check_tag(r, event->data.scalar.tag, pos);
    if (memchr(value, '\0', len))
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_ENCODING, pos, "text contains a NUL character")->hint =
            "remove the escape \\0";
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || (tag && strcmp(tag, YAML_STR_TAG) == 0);
    node->text = len ? ap_arena_strndup(r->arena, value, len) : "";
    ap_yaml_declare_anchor(r, (const char *)event->data.scalar.anchor, node, 1);
    add_node(r, node);
}

static bool open_collection(ap_yaml_reader *r, ap_node_kind kind, const yaml_event_t *event)
{
    ap_pos pos = mark_pos(r, event->start_mark);
    bool list = kind == AP_NODE_LIST;
    const yaml_char_t *anchor = list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor;
    check_tag(r, list ? event->data.sequence_start.tag : event->data.mapping_start.tag, pos);
    if (r->depth >= AP_YAML_MAX_DEPTH) {
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_TOO_DEEP, pos, "lists and mappings are nested deeper than %d levels",
                    AP_YAML_MAX_DEPTH);
        return false;
    }
    ap_node *node = new_node(r, kind, pos);
    size_t anchor_index = ap_yaml_declare_anchor(r, (const char *)anchor, node, 0);
    r->frames[r->depth++] = (ap_yaml_frame){.node = node,
                                            .first_pending = r->pending_count,
                                            .nodes_before = r->node_count - 1,
                                            .anchor_index = anchor_index};
    return true;
}

static void close_collection(ap_yaml_reader *r)
{
    ap_yaml_frame *frame = &r->frames[r->depth - 1]; /* libyaml pairs starts and ends */
    ap_node *node = frame->node;
    assert(node);
    ap_pair *pairs = r->pending ? r->pending + frame->first_pending : NULL;
    size_t count = r->pending_count - frame->first_pending;
    assert(pairs || count == 0);
    if (node->kind == AP_NODE_LIST) {
        node->as.list.items = AP_NEW_ARRAY(r->arena, ap_node *, count);
        for (size_t i = 0; i < count; i++)
            node->as.list.items[i] = pairs[i].value;
        node->as.list.count = count;
    } else {
        count = ap_yaml_settle_duplicates(r, pairs, count);
        node->as.map.pairs = AP_NEW_ARRAY(r->arena, ap_pair, count);
        if (count)
            memcpy(node->as.map.pairs, pairs, count * sizeof *pairs);
        node->as.map.count = count;
        ap_yaml_merge(r, node);
    }
    r->pending_count = frame->first_pending;
    ap_yaml_close_anchor(r, frame);
    r->depth--;
    ap_yaml_frame *outer = top(r);
    if (outer && outer->alias_depth < frame->alias_depth)
        outer->alias_depth = frame->alias_depth;
    add_node(r, node);
}

static bool start_document(ap_yaml_reader *r, const yaml_event_t *event)
{
    r->anchor_count = 0;
    if (r->documents++ == 0 || r->mode == AP_YAML_FOREIGN)
        return true;
    ap_diag_add(r->diags, AP_ERROR, AP_CODE_DOCUMENTS, mark_pos(r, event->start_mark),
                "a second document starts here; this file must hold one")
        ->hint = "remove the line '---' or split the file";
    return false;
}

static bool read_event(ap_yaml_reader *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return start_document(r, event);
    case YAML_SCALAR_EVENT:
        read_scalar(r, event);
        return true;
    case YAML_ALIAS_EVENT: {
        ap_pos pos = mark_pos(r, event->start_mark);
        ap_node *node = ap_yaml_resolve_alias(r, (const char *)event->data.alias.anchor, pos, top(r));
        if (!node)
            return false;
        add_node(r, node);
        return true;
    }
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(r, AP_NODE_LIST, event);
    case YAML_MAPPING_START_EVENT:
        return open_collection(r, AP_NODE_MAP, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_collection(r);
        return true;
    default:
        return true;
    }
}

/* The parser is ours alone; each event is deleted right after it was used. */
static void read_events(ap_yaml_reader *r)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        ap_diag_add(r->diags, AP_ERROR, AP_CODE_YAML_SYNTAX, (ap_pos){.file = r->source.name}, "out of memory");
        return;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)r->source.text, r->source.len);
    yaml_parser_set_encoding(&parser, YAML_ANY_ENCODING);
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            ap_yaml_report_error(&r->source, &parser, r->diags);
            break;
        }
        more = event.type != YAML_STREAM_END_EVENT && read_event(r, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
}

static void check_not_empty(ap_yaml_reader *r)
{
    bool empty = r->docs.count == 0 || (r->mode == AP_YAML_STRICT && ap_node_is_null(r->docs.items[0]));
    if (!empty)
        return;
    ap_diag_add(r->diags, AP_ERROR, AP_CODE_EMPTY, (ap_pos){r->source.name, 1, 1}, "the file is empty")->hint =
        "expected a mapping of keys and values";
    r->docs.count = 0;
}

ap_status ap_yaml_parse(const char *text, size_t len, const char *name, ap_yaml_mode mode, size_t max_bytes,
                        ap_arena *arena, ap_diags *diags, ap_docs *ret_docs)
{
    *ret_docs = (ap_docs){0};
    size_t errors_before = diags->errors;
    name = ap_arena_strdup(arena, name);
    if (len > max_bytes) {
        ap_diag_add(diags, AP_ERROR, AP_CODE_TOO_BIG, (ap_pos){.file = name},
                    "the file has %zu bytes; the limit is %zu", len, max_bytes);
        return AP_BAD_INPUT;
    }
    AP_SCOPED_ARENA *scratch = ap_arena_new();
    ap_yaml_reader r = {.source = {text, len, name}, .mode = mode, .arena = arena, .scratch = scratch, .diags = diags};
    if (ap_yaml_check_encoding(&r.source, diags)) {
        read_events(&r);
        if (diags->errors == errors_before)
            check_not_empty(&r);
    }
    *ret_docs = r.docs;
    ap_diags_attach_source(diags, name, text, len);
    return diags->errors == errors_before ? AP_OK : AP_BAD_INPUT;
}
