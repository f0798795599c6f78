/* Compiled image: header, data block, text block.
 *
 * The data block starts with the array of structs as they lie in memory; every list that an element points to follows
 * in the order in which a walk over the elements meets it. Pointers are stored as offset + 1 (0 = NULL): texts into the
 * text block, lists into the data block. Reading is one copy of the data block and a walk that turns offsets into
 * pointers. Because the order is fixed, the reader knows where each list must lie and refuses anything else: a damaged
 * or foreign image can neither overlap lists nor point outside. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/keyset.h"
#include "base/num.h"
#include "schema/internal.h"

#define IMAGE_MAGIC     "APIMAGE1"
#define IMAGE_ALIGNMENT ((size_t)16)
#define IMAGE_DEPTH_MAX 32

typedef struct header {
    char magic[8];
    uint64_t layout; /* hash of the field tables, sizes and byte order */
    uint64_t count;
    uint64_t data_len;
    uint64_t text_len;
} header;

typedef enum slot_kind { SLOT_TEXT, SLOT_BOOL, SLOT_ENUM, SLOT_LIST } slot_kind;

typedef struct layout layout;

typedef struct slot { /* a place that must be translated or checked when read */
    slot_kind kind;
    int limit; /* SLOT_ENUM: number of words */
    size_t offset;
    const layout *element; /* SLOT_LIST */
} slot;

typedef struct copy { /* plain bytes; only the writer needs them, since it starts from zeroed memory */
    size_t offset, size;
    bool number; /* a double: every NaN is written as the same bytes */
} copy;

struct layout {
    const ap_object *object;
    size_t size;
    slot *slots;
    size_t slot_count, slot_capacity;
    copy *copies;
    size_t copy_count, copy_capacity;
    layout *next; /* all layouts made so far: each object once, also when tables refer to themselves */
};

typedef struct compiler {
    ap_arena *arena;
    layout *made;
    uint64_t hash;
} compiler;

static layout *compile_object(compiler *c, const ap_object *object);

static void hash_number(compiler *c, uint64_t value)
{
    c->hash = ap_hash_bytes(c->hash, &value, sizeof value);
}

static void hash_text(compiler *c, const char *text)
{
    c->hash = ap_hash_bytes(c->hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void add_slot(compiler *c, layout *l, slot_kind kind, size_t offset, const layout *element)
{
    *AP_PUSH(c->arena, l->slots, l->slot_count, l->slot_capacity) =
        (slot){.kind = kind, .offset = offset, .element = element};
}

static void add_copy(compiler *c, layout *l, size_t offset, size_t size, bool number)
{
    *AP_PUSH(c->arena, l->copies, l->copy_count, l->copy_capacity) = (copy){offset, size, number};
}

/* Elements of lists of texts, text pairs and numbers. */
static const layout *simple_layout(compiler *c, size_t size, size_t texts)
{
    layout *l = AP_NEW(c->arena, layout);
    l->size = size;
    for (size_t i = 0; i < texts; i++)
        add_slot(c, l, SLOT_TEXT, i * sizeof(const char *), NULL);
    if (texts == 0)
        add_copy(c, l, 0, size, true);
    return l;
}

static void compile_enum(compiler *c, layout *l, const ap_field *field, size_t at)
{
    int words = 0;
    for (; field->names[words]; words++)
        hash_text(c, field->names[words]);
    add_copy(c, l, at, sizeof(int), false);
    add_slot(c, l, SLOT_ENUM, at, NULL);
    l->slots[l->slot_count - 1].limit = words;
}

static void compile_fields(compiler *c, layout *l, const ap_object *object, size_t base);

static void compile_field(compiler *c, layout *l, const ap_field *field, size_t at)
{
    switch (field->type) {
    case AP_T_TEXT:
    case AP_T_ID:
        add_slot(c, l, SLOT_TEXT, at, NULL);
        break;
    case AP_T_NUM:
    case AP_T_INT:
        add_copy(c, l, at, sizeof(double), true);
        break;
    case AP_T_BOOL:
        add_copy(c, l, at, sizeof(signed char), false);
        add_slot(c, l, SLOT_BOOL, at, NULL);
        break;
    case AP_T_ENUM:
        compile_enum(c, l, field, at);
        break;
    case AP_T_RANGE:
        add_copy(c, l, at + offsetof(ap_range, low), sizeof(double), true);
        add_copy(c, l, at + offsetof(ap_range, high), sizeof(double), true);
        break;
    case AP_T_TEXTS:
        add_slot(c, l, SLOT_LIST, at, simple_layout(c, sizeof(const char *), 1));
        break;
    case AP_T_NUMS:
        add_slot(c, l, SLOT_LIST, at, simple_layout(c, sizeof(double), 0));
        break;
    case AP_T_TEXT_MAP:
        add_slot(c, l, SLOT_LIST, at, simple_layout(c, sizeof(ap_text_pair), 2));
        break;
    case AP_T_OBJECT:
        compile_fields(c, l, field->object, at);
        break;
    case AP_T_OBJECTS:
        add_slot(c, l, SLOT_LIST, at, compile_object(c, field->object));
        break;
    case AP_T_NODE: /* stays NULL: a tree has no place here */
        break;
    case AP_T_POS:
        add_slot(c, l, SLOT_TEXT, at + offsetof(ap_pos, file), NULL);
        add_copy(c, l, at + offsetof(ap_pos, line), 2 * sizeof(int), false);
        break;
    }
}

static void compile_fields(compiler *c, layout *l, const ap_object *object, size_t base)
{
    for (size_t i = 0; i < object->field_count; i++) {
        const ap_field *field = &object->fields[i];
        hash_text(c, field->key);
        hash_number(c, (uint64_t)field->type);
        hash_number(c, base + field->offset);
        compile_field(c, l, field, base + field->offset);
    }
}

static layout *compile_object(compiler *c, const ap_object *object)
{
    for (layout *l = c->made; l; l = l->next)
        if (l->object == object)
            return l;
    layout *l = AP_NEW(c->arena, layout);
    l->object = object;
    l->size = object->size;
    l->next = c->made;
    c->made = l;
    hash_text(c, object->name);
    hash_number(c, object->size);
    compile_fields(c, l, object, 0);
    return l;
}

static const layout *compile(ap_arena *arena, const ap_object *object, uint64_t *ret_hash)
{
    compiler c = {.arena = arena, .hash = AP_HASH_SEED};
    hash_number(&c, sizeof(void *) << 8 | sizeof(double)); /* its bytes also tell the byte order */
    const layout *l = compile_object(&c, object);
    *ret_hash = c.hash;
    return l;
}

/* ---- writing ---- */

typedef struct writer {
    ap_sbuf data;
    ap_sbuf texts;
    ap_keyset known; /* each text is stored once */
} writer;

static uint64_t write_text(writer *w, const char *text)
{
    if (!text)
        return 0;
    size_t known = ap_keyset_add(&w->known, text, w->texts.len);
    if (known != AP_KEYSET_NEW)
        return known + 1;
    ap_sbuf_add_len(&w->texts, text, strlen(text) + 1);
    return w->texts.len - strlen(text);
}

static void put(writer *w, size_t at, const void *bytes, size_t size)
{
    memcpy(w->data.text + at, bytes, size);
}

static void write_copy(writer *w, const copy *c, const char *item, size_t at)
{
    double number;
    if (!c->number) {
        put(w, at + c->offset, item + c->offset, c->size);
        return;
    }
    memcpy(&number, item + c->offset, sizeof number);
    if (isnan(number))
        number = AP_UNKNOWN;
    put(w, at + c->offset, &number, sizeof number);
}

static uint64_t write_array(writer *w, const layout *l, const char *items, size_t count);

static void write_slot(writer *w, const slot *s, const char *item, size_t at)
{
    if (s->kind == SLOT_TEXT) {
        const char *text;
        memcpy(&text, item + s->offset, sizeof text);
        uint64_t stored = write_text(w, text);
        put(w, at + s->offset, &stored, sizeof stored);
    } else if (s->kind == SLOT_LIST) {
        ap_any_list list;
        memcpy(&list, item + s->offset, sizeof list);
        uint64_t stored = list.count ? write_array(w, s->element, list.items, list.count) : 0;
        uint64_t stored_count = list.count;
        put(w, at + s->offset + offsetof(ap_any_list, items), &stored, sizeof stored);
        put(w, at + s->offset + offsetof(ap_any_list, count), &stored_count, sizeof stored_count);
    }
}

static uint64_t write_array(writer *w, const layout *l, const char *items, size_t count)
{
    size_t padding = (IMAGE_ALIGNMENT - w->data.len % IMAGE_ALIGNMENT) % IMAGE_ALIGNMENT;
    size_t start = w->data.len + padding;
    ap_sbuf_add_repeat(&w->data, '\0', padding + count * l->size);
    for (size_t i = 0; i < count; i++) {
        const char *item = items + i * l->size;
        size_t at = start + i * l->size;
        for (size_t c = 0; c < l->copy_count; c++)
            write_copy(w, &l->copies[c], item, at);
        for (size_t s = 0; s < l->slot_count; s++)
            write_slot(w, &l->slots[s], item, at);
    }
    return start + 1;
}

void ap_image_write(const ap_object *object, const void *items, size_t count, ap_sbuf *out)
{
    _Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8, "the image stores pointers and counts as 64 bits");
    AP_SCOPED_ARENA *scratch = ap_arena_new();
    header head = {.magic = IMAGE_MAGIC, .count = count};
    memcpy(head.magic, IMAGE_MAGIC, sizeof head.magic);
    const layout *l = compile(scratch, object, &head.layout);
    writer w;
    ap_sbuf_init(&w.data, scratch);
    ap_sbuf_init(&w.texts, scratch);
    ap_keyset_init(&w.known);
    if (count)
        (void)write_array(&w, l, items, count);
    ap_keyset_done(&w.known);
    head.data_len = w.data.len;
    head.text_len = w.texts.len;
    ap_sbuf_add_len(out, (const char *)&head, sizeof head);
    ap_sbuf_add_len(out, w.data.text, w.data.len);
    ap_sbuf_add_len(out, w.texts.text, w.texts.len);
}

/* ---- reading ---- */

typedef struct reader {
    char *data;
    size_t data_len;
    const char *texts;
    size_t text_len;
    size_t next; /* where the next list must begin, before alignment */
} reader;

static bool read_array(reader *r, const layout *l, size_t start, size_t count, int depth);

static bool read_text(const reader *r, char *place)
{
    uint64_t stored;
    memcpy(&stored, place, sizeof stored);
    if (stored > r->text_len)
        return false;
    const char *text = stored ? r->texts + (stored - 1) : NULL;
    memcpy(place, &text, sizeof text);
    return true;
}

static bool read_list(reader *r, const slot *s, char *place, int depth)
{
    uint64_t stored, count;
    memcpy(&stored, place + offsetof(ap_any_list, items), sizeof stored);
    memcpy(&count, place + offsetof(ap_any_list, count), sizeof count);
    if (count == 0)
        return stored == 0;
    size_t start = (r->next + IMAGE_ALIGNMENT - 1) & ~(IMAGE_ALIGNMENT - 1);
    if (stored != start + 1 || !read_array(r, s->element, start, count, depth + 1))
        return false;
    const char *items = r->data + start;
    memcpy(place + offsetof(ap_any_list, items), &items, sizeof items);
    return true;
}

static bool read_slot(reader *r, const slot *s, char *item, int depth)
{
    char *place = item + s->offset;
    int word;
    switch (s->kind) {
    case SLOT_TEXT:
        return read_text(r, place);
    case SLOT_BOOL:
        return *place >= -1 && *place <= 1;
    case SLOT_ENUM:
        memcpy(&word, place, sizeof word);
        return word >= -1 && word < s->limit;
    case SLOT_LIST:
        break;
    }
    return read_list(r, s, place, depth);
}

static bool read_array(reader *r, const layout *l, size_t start, size_t count, int depth)
{
    if (depth > IMAGE_DEPTH_MAX || start > r->data_len || count > (r->data_len - start) / l->size)
        return false;
    r->next = start + count * l->size;
    char *item = r->data + start;
    for (size_t i = 0; i < count; i++, item += l->size)
        for (size_t s = 0; s < l->slot_count; s++)
            if (!read_slot(r, &l->slots[s], item, depth))
                return false;
    return true;
}

static bool header_fits(const header *head, uint64_t layout_hash, size_t available)
{
    return memcmp(head->magic, IMAGE_MAGIC, sizeof head->magic) == 0 && head->layout == layout_hash &&
           head->data_len <= available && head->text_len <= available - head->data_len;
}

ap_status ap_image_read(const ap_object *object, const unsigned char **cursor, const unsigned char *end,
                        ap_arena *arena, void **ret_items, size_t *ret_count)
{
    header head;
    uint64_t layout_hash;
    size_t available = (size_t)(end - *cursor);
    if (available < sizeof head)
        return AP_BUG;
    memcpy(&head, *cursor, sizeof head);
    const layout *l = compile(arena, object, &layout_hash);
    if (!header_fits(&head, layout_hash, available - sizeof head))
        return AP_BUG;
    const char *data = (const char *)*cursor + sizeof head;
    reader r = {.data_len = head.data_len, .texts = data + head.data_len, .text_len = head.text_len};
    if (r.text_len && r.texts[r.text_len - 1] != '\0')
        return AP_BUG;
    if (head.count) {
        r.data = ap_arena_alloc(arena, r.data_len);
        memcpy(r.data, data, r.data_len);
    }
    if ((head.count && !read_array(&r, l, 0, head.count, 0)) || r.next != r.data_len)
        return AP_BUG;
    *ret_items = r.data;
    *ret_count = head.count;
    *cursor += sizeof head + head.data_len + head.text_len;
    return AP_OK;
}
