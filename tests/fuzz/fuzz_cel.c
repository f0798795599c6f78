/* Any bytes as an expression: it compiles or complains once with a position; it ends in bounded work; a value that is
 * printed as JSON and read as facts prints the same. The first byte chooses open or closed names. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/facts.h"

static const ap_fact_schema open_schema = {.dynamic = true};
static const char facts_text[] = "{\"x\": 1, \"y\": 2.5, \"s\": \"text\", \"l\": [1, \"a\", null], \"m\": {\"k\": true}, \"a.b\": 3}";

static void check_round_trip(const ap_cel_value *value, ap_arena *arena, ap_diags *diags)
{
    ap_sbuf once, twice;
    ap_cel_value again;
    ap_sbuf_init(&once, arena);
    ap_sbuf_init(&twice, arena);
    ap_cel_write_json(value, &once);
    if (ap_cel_read_json(once.text, once.len, "value", arena, diags, &again) != AP_OK)
        return; /* nested deeper than JSON may be, or keys that become equal as text: {1: 0, "1": 0} */
    ap_cel_write_json(&again, &twice);
    if (once.len != twice.len || memcmp(once.text, twice.text, once.len) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_diags_init(&diags, arena);
    bool closed = data[0] == '#';
    const char *text = ap_arena_strndup(arena, (const char *)data + (closed ? 1 : 0), size - (closed ? 1 : 0));
    const ap_cel *cel;
    if (ap_cel_compile(text, (ap_pos){"fuzz", 1, 1}, closed ? &ap_plan_fact_schema : &open_schema, arena, &diags, &cel) != AP_OK) {
        if (diags.count != 1 || diags.items[0].pos.line < 1 || diags.items[0].pos.col < 1)
            abort();
        return 0;
    }
    ap_cel_value root = {.kind = AP_CEL_MAP}, *values = AP_NEW_ARRAY(arena, ap_cel_value, ap_plan_fact_schema.count);
    if (ap_cel_read_json(facts_text, strlen(facts_text), "facts", arena, &diags, &root) != AP_OK)
        abort();
    ap_facts_unknown(&ap_plan_fact_schema, values);
    ap_cel_value value = ap_cel_eval(cel, values, &root, arena);
    if (value.kind == AP_CEL_ERROR || value.kind == AP_CEL_UNKNOWN_FACT) {
        if (!value.as.error || !value.as.error[0])
            abort();
        return 0;
    }
    check_round_trip(&value, arena, &diags);
    return 0;
}
