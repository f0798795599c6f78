/* Text -> compiled expression: bounds, encoding, parsing, checking. */
#include <string.h>

#include "base/text.h"
#include "rules/cel.h"

ap_status ap_cel_compile(const char *text, ap_pos pos, const ap_fact_schema *schema, ap_arena *arena, ap_diags *diags,
                         const ap_cel **ret)
{
    ap_cel_source source = {.text = text, .len = strlen(text), .pos = pos, .arena = arena, .diags = diags};
    size_t bad;
    *ret = NULL;
    if (source.len > AP_CEL_MAX_BYTES) {
        source.len = 0;
        ap_cel_complain(&source, AP_CEL_LIMIT, 0, "expression is longer than %zu bytes", AP_CEL_MAX_BYTES);
        return AP_BAD_INPUT;
    }
    if (!ap_utf8_valid(text, source.len, &bad)) {
        ap_cel_complain(&source, AP_CEL_SYNTAX, bad, "expression is not valid UTF-8");
        return AP_BAD_INPUT;
    }
    ap_cel *cel = AP_NEW(arena, ap_cel);
    cel->schema = schema;
    cel->text = text;
    cel->pos = pos;
    cel->used = AP_NEW_ARRAY(arena, unsigned char, schema->count + 1);
    ap_cel_node *root = ap_cel_parse(&source);
    if (!root || !ap_cel_check(&source, cel, root))
        return AP_BAD_INPUT;
    cel->root = root;
    *ret = cel;
    return AP_OK;
}

ap_diag *ap_cel_report(const ap_cel *expr, const ap_cel_value *error, ap_arena *arena, ap_diags *diags)
{
    const char *message = error->as.error;
    size_t at = error->kind == AP_CEL_ERROR && error->as.fault.at != AP_CEL_NOWHERE ? error->as.fault.at : 0;
    ap_cel_source source = {.text = expr->text, .len = strlen(expr->text), .pos = expr->pos, .arena = arena, .diags = diags};
    return ap_cel_complain(&source, AP_CEL_FAILED, at, error->kind == AP_CEL_ERROR ? "%s" : "%s is unknown", message);
}
