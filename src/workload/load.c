/* Reading a workload document. */
#include "io/file.h"
#include "io/yaml.h"
#include "workload/workload.h"

void ap_workload_init(ap_workload *workload)
{
    ap_schema_clear(&ap_workload_object, workload);
}

ap_status ap_workload_read(const char *text, size_t len, const char *name, ap_arena *arena, ap_diags *diags, ap_workload *ret)
{
    ap_docs docs = {0};
    ap_status parsed = ap_yaml_parse(text, len, name, AP_YAML_STRICT, AP_YAML_WORKLOAD_BYTES, arena, diags, &docs);
    ap_status loaded = docs.count > 0 ? ap_schema_load(&ap_workload_object, docs.items[0], ret, arena, diags) : parsed;
    ap_diags_attach_source(diags, name, text, len);
    return parsed != AP_OK ? parsed : loaded;
}

ap_status ap_workload_load(const char *path, ap_arena *arena, ap_diags *diags, ap_workload *ret)
{
    char *text;
    size_t len;
    ap_status status = ap_file_read(path, AP_YAML_WORKLOAD_BYTES, arena, diags, &text, &len);
    if (status != AP_OK)
        return status;
    return ap_workload_read(text, len, ap_streq(path, "-") ? "<stdin>" : path, arena, diags, ret);
}
