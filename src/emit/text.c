/* Templates: where they come from, and the values they see. */
#include <string.h>

#include "base/text.h"
#include "catalog/image.h"
#include "emit/internal.h"
#include "io/file.h"

enum { MOST_BYTES = 1 << 20 };

static ap_status read_file(const ap_emit_plan *plan, const char *dir, const char *name, ap_template *ret)
{
    char *text;
    size_t len;
    const char *path = ap_arena_printf(plan->arena, "%s/%s.tmpl", dir, name);
    if (!ap_file_exists(path))
        return AP_OK;
    ap_status status = ap_file_read(path, MOST_BYTES, plan->arena, plan->diags, &text, &len);
    if (status == AP_OK && !ap_utf8_valid(text, len, &len)) {
        ap_diag_add(plan->diags, AP_ERROR, AP_CODE_ENCODING, (ap_pos){.file = path, .line = 1, .col = 1},
                    "the template is not UTF-8");
        return AP_BAD_DATA;
    }
    if (status == AP_OK)
        *ret = (ap_template){path, text, ret->language};
    return status == AP_BAD_INPUT ? AP_BAD_DATA : status;
}

ap_status ap_emit_template(const ap_emit_plan *plan, const char *name, ap_language language, ap_template *ret)
{
    *ret = (ap_template){.language = language};
    ap_status status = AP_OK;
    if (plan->settings->templates) {
        if (!ap_file_is_dir(plan->settings->templates)) {
            ap_diag_add(plan->diags, AP_ERROR, AP_CODE_FOLDER_READ, AP_NO_POS, "emit.templates: no folder %s",
                        plan->settings->templates);
            return AP_IO;
        }
        status = read_file(plan, plan->settings->templates, name, ret);
    }
    if (status == AP_OK && !ret->text && plan->request->data_dir)
        status =
            read_file(plan, ap_arena_printf(plan->arena, "%s/recipes-templates", plan->request->data_dir), name, ret);
    if (status != AP_OK || ret->text)
        return status;
    size_t image_len, len;
    const unsigned char *image = ap_image_builtin(&image_len);
    const unsigned char *bytes = ap_image_find(image, image_len, ap_arena_printf(plan->arena, "t/%s", name), &len);
    if (bytes) {
        ret->name = ap_arena_printf(plan->arena, "recipes-templates/%s.tmpl", name);
        ret->text = ap_arena_strndup(plan->arena, (const char *)bytes, len);
    }
    return AP_OK;
}

ap_status ap_emit_render_lines(ap_emit_plan *plan, const char *name, ap_language language, ap_strings *ret)
{
    ap_template tmpl;
    *ret = (ap_strings){0};
    ap_status status = ap_emit_template(plan, name, language, &tmpl);
    if (status != AP_OK || !tmpl.text)
        return status;
    ap_sbuf out;
    ap_sbuf_init(&out, plan->arena);
    status = ap_template_render(&tmpl, plan->scope, plan->diags, &out);
    size_t capacity = 0;
    for (char *line = out.text, *end; line && *line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        *AP_PUSH(plan->arena, ret->items, ret->count, capacity) = line;
    }
    while (ret->count && !*ret->items[ret->count - 1])
        ret->count--;
    return status;
}

static void bind_texts(ap_scope *scope, const char *list, const char *key, const ap_strings *texts)
{
    ap_scope_list(scope, list);
    for (size_t i = 0; i < texts->count; i++)
        ap_scope_text(ap_scope_item(scope, list), key, texts->items[i]);
}

static void bind_mounts(ap_emit_plan *plan)
{
    for (size_t i = 0; i < plan->settings->mounts.count; i++) {
        const char *mount = plan->settings->mounts.items[i], *colon = strchr(mount, ':');
        ap_scope *item = ap_scope_item(plan->scope, "mounts");
        ap_scope_text(item, "mount", colon ? mount : ap_arena_printf(plan->arena, "%s:%s", mount, mount));
    }
}

static void bind_tracker(ap_emit_plan *plan)
{
    int tracker = plan->settings->tracker >= 0 ? plan->settings->tracker : 1;
    for (int i = 0; ap_tracker_names[i]; i++)
        ap_scope_flag(plan->scope, ap_tracker_names[i], i == tracker);
    ap_scope_text(plan->scope, "tracker", tracker > 0 ? ap_tracker_names[tracker] : NULL);
}

void ap_emit_bind_scope(ap_emit_plan *plan)
{
    ap_scope *scope = plan->scope;
#define BIND_SETTING(id, doc) ap_scope_text(scope, #id, plan->settings->id);
#define BIND_TEXT(id)         ap_scope_text(scope, #id, plan->id);
#define BIND_NUMBER(id)       ap_scope_number(scope, #id, plan->id);
#define BIND_FLAG(id)         ap_scope_flag(scope, #id, plan->id);
    AP_EMIT_SETTING_TEXTS(BIND_SETTING)
    AP_EMIT_TEXTS(BIND_TEXT)
    AP_EMIT_NUMBERS(BIND_NUMBER)
    AP_EMIT_FLAGS(BIND_FLAG)
    bind_texts(scope, "modules", "module", &plan->settings->modules);
    bind_mounts(plan);
    bind_tracker(plan);
    for (size_t i = 0; i < plan->settings->env.count; i++)
        ap_emit_set_env(plan, plan->settings->env.items[i].key, plan->settings->env.items[i].value);
}
