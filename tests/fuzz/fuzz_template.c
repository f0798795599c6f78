/* Templates of recipes from a user's folder. */
#include <stdint.h>
#include <string.h>

#include "emit/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_diags_init(&diags, arena);
    ap_scope *scope = ap_scope_new(arena, NULL);
    ap_scope_text(scope, "name", "it's $(a) \"name\"");
    ap_scope_flag(scope, "spot", true);
    ap_scope_list(scope, "none");
    for (int i = 0; i < 3; i++)
        ap_scope_text(ap_scope_item(scope, "args"), "flag", "--a b");
    ap_template tmpl = {"fuzz.tmpl", ap_arena_strndup(arena, (const char *)data, size),
                        size > 0 ? (ap_language)(data[0] % AP_LANG_COUNT) : AP_LANG_TEXT};
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    if (ap_template_render(&tmpl, scope, &diags, &out) == AP_OK && diags.errors)
        __builtin_trap();
    return 0;
}
