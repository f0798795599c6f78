/* Any bytes as JSON: what is accepted must come out of our writer as JSON that reads back the same. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "io/json.h"

static void write_value(ap_json_writer *w, const cJSON *value)
{
    if (cJSON_IsObject(value) || cJSON_IsArray(value)) {
        bool object = cJSON_IsObject(value);
        object ? ap_json_object_open(w) : ap_json_array_open(w);
        for (const cJSON *child = value->child; child; child = child->next) {
            if (object)
                ap_json_key(w, child->string);
            write_value(w, child);
        }
        object ? ap_json_object_close(w) : ap_json_array_close(w);
    } else if (cJSON_IsString(value)) {
        ap_json_string(w, value->valuestring);
    } else if (cJSON_IsNumber(value)) {
        ap_json_number(w, value->valuedouble);
    } else if (cJSON_IsBool(value)) {
        ap_json_bool(w, cJSON_IsTrue(value));
    } else {
        ap_json_null(w);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_diags_init(&diags, arena);
    AP_SCOPED_JSON *root = NULL;
    if (ap_json_parse((const char *)data, size, "fuzz", &diags, &root) != AP_OK) {
        if (root || diags.errors == 0)
            abort();
        return 0;
    }
    ap_sbuf out;
    ap_json_writer w;
    ap_sbuf_init(&out, arena);
    ap_json_begin(&w, &out, size % 2 ? 2 : 0);
    write_value(&w, root);
    AP_SCOPED_JSON *again = NULL;
    if (ap_json_parse(out.text, out.len, "again", &diags, &again) != AP_OK || !cJSON_Compare(root, again, 1))
        abort();
    return 0;
}
