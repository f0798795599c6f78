/* Places where a training starts beside schedulers: docker compose, GitHub workflows, Colab notebooks; and our own
 * workload document. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "jobs/reader.h"

/* -- docker compose
 * --------------------------------------------------------------------------------------------------------- */

static bool is_gpu_device(const ap_node *device)
{
    const ap_node *caps = ap_node_get(device, "capabilities");
    for (size_t i = 0; caps && caps->kind == AP_NODE_LIST && i < caps->as.list.count; i++) {
        const ap_node *item = caps->as.list.items[i];
        if (ap_streq(ap_node_text(item), "gpu") || ap_streq(ap_node_text(item), "nvidia"))
            return true;
        if (item->kind == AP_NODE_LIST && item->as.list.count > 0 &&
            ap_streq(ap_node_text(item->as.list.items[0]), "gpu"))
            return true;
    }
    return ap_streq(ap_node_text(ap_node_get(device, "driver")), "nvidia");
}

static void read_device(ap_jobreader *r, const ap_node *device)
{
    const ap_node *count = ap_node_get(device, "count"), *ids = ap_node_get(device, "device_ids");
    if (count && ids)
        ap_jobreader_find(r, AP_FAULT_UNSCHEDULABLE, ids->pos,
                          "count and device_ids exclude one another: compose refuses the file");
    if (ids && ids->kind == AP_NODE_LIST)
        ap_set_num(&r->facts->n.chips_per_node, (double)ids->as.list.count, ids->pos);
    else if (count)
        ap_set_num(&r->facts->n.chips_per_node, AP_UNKNOWN, count->pos);
    double value;
    if (count && ap_foreign_num(ap_node_text(count), &value))
        r->facts->n.chips_per_node.value = value;
    if (!count && !ids)
        ap_set_num(&r->facts->n.chips_per_node, AP_UNKNOWN, device->pos); /* all */
}

static void read_service(ap_jobreader *r, const ap_node *service)
{
    const ap_node *devices = ap_node_at(service, "deploy.resources.reservations.devices"),
                  *gpus = ap_node_get(service, "gpus");
    for (size_t i = 0; devices && devices->kind == AP_NODE_LIST && i < devices->as.list.count; i++)
        if (is_gpu_device(devices->as.list.items[i]))
            read_device(r, devices->as.list.items[i]);
    if (gpus)
        ap_node_num(&r->facts->n.chips_per_node, gpus);
    const ap_node *runtime = ap_node_get(service, "runtime");
    if (ap_streq(ap_node_text(runtime), "nvidia"))
        ap_set_num(&r->facts->n.chips_per_node, AP_UNKNOWN, runtime->pos);
    ap_node_with(&r->facts->n.cpus_per_node, ap_foreign_cpus, ap_node_at(service, "deploy.resources.limits.cpus"));
    ap_node_with(&r->facts->n.cpus_per_node, ap_foreign_cpus, ap_node_get(service, "cpus"));
    ap_node_with(&r->facts->n.memory_bytes, ap_foreign_bytes_gib,
                 ap_node_at(service, "deploy.resources.limits.memory"));
    ap_node_with(&r->facts->n.memory_bytes, ap_foreign_bytes_gib, ap_node_get(service, "mem_limit"));
    ap_node_with(&r->facts->n.shm_bytes, ap_foreign_bytes_gib, ap_node_get(service, "shm_size"));
    const ap_node *ipc = ap_node_get(service, "ipc");
    if (ap_streq(ap_node_text(ipc), "host"))
        ap_set_num(&r->facts->n.shm_bytes, (double)INFINITY, ipc->pos);
    ap_node_take(r, &r->facts->t.image, ap_node_get(service, "image"));
    ap_env_from_node(r, ap_node_get(service, "environment"));
    const ap_node *entry = ap_node_get(service, "entrypoint"), *command = ap_node_get(service, "command");
    if (command && command->kind == AP_NODE_SCALAR && !entry)
        ap_script_node(r, command);
    else
        ap_script_exec(r, entry, command);
    ap_set_num(&r->facts->n.nodes, 1, service->pos);
}

void ap_read_compose(ap_jobreader *r)
{
    const ap_node *services = ap_node_get(r->root, "services");
    for (size_t i = 0; services && services->kind == AP_NODE_MAP && i < services->as.map.count; i++)
        if (services->as.map.pairs[i].value->kind == AP_NODE_MAP)
            read_service(r, services->as.map.pairs[i].value);
}

/* -- GitHub workflows
 * ------------------------------------------------------------------------------------------------------- */

/* "gpu-l4", "h100-8", "gpu-a100-x4": a chip's name and a count somewhere in a label; decided by the catalog later. */
static void read_label(ap_jobreader *r, const ap_node *label)
{
    const char *text = ap_node_text(label);
    static const char *const plain[] = {"self-hosted", "linux",  "x64",   "gpu",    "ubuntu-latest", "cuda",
                                        "arm64",       "nvidia", "large", "docker", "windows",       "macos"};
    if (!text || ap_foreign_unknown(text))
        return;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcasecmp(text, plain[i]) == 0)
            return;
    ap_jobfacts_add_chip(r->facts, text, label->pos);
    char piece[64];
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, "-_ ");
        if (len > 0 && len < sizeof piece) {
            memcpy(piece, p, len);
            piece[len] = 0;
            const char *digits = piece + (*piece == 'x' && piece[1] != 0);
            size_t n = strlen(digits);
            if (n > 1 && digits[n - 1] == 'x')
                piece[strlen(piece) - 1] = 0;
            double count;
            if (ap_num_parse(digits, &count) && count >= 1 && count <= 16)
                ap_set_num(&r->facts->n.chips_per_node, count, label->pos);
            else if (isalpha((unsigned char)*piece) && len > 1 && strcasecmp(piece, "gpu") != 0)
                ap_jobfacts_add_chip(r->facts, ap_arena_strdup(r->arena, piece), label->pos);
        }
        p += len + (p[len] != 0);
    }
}

static void read_workflow_job(ap_jobreader *r, const ap_node *job)
{
    const ap_node *runs_on = ap_node_get(job, "runs-on"), *steps = ap_node_get(job, "steps"),
                  *with = ap_node_get(job, "with");
    if (runs_on && runs_on->kind == AP_NODE_MAP)
        runs_on = ap_node_get(runs_on, "labels");
    if (ap_node_text(runs_on))
        read_label(r, runs_on);
    for (size_t i = 0; runs_on && runs_on->kind == AP_NODE_LIST && i < runs_on->as.list.count; i++)
        read_label(r, runs_on->as.list.items[i]);
    const ap_node *limit = ap_node_get(job, "timeout-minutes");
    if (!limit)
        limit = ap_node_get(with, "timeout");
    double minutes;
    if (limit && ap_foreign_num(ap_node_text(limit), &minutes))
        ap_set_num(&r->facts->n.time_limit_s, minutes * 60, limit->pos);
    else if (!limit && r->facts->chips.count > 0)
        ap_set_num(&r->facts->n.time_limit_s, 6 * 3600.0, job->pos); /* GitHub ends a job after 360 minutes */
    ap_env_from_node(r, ap_node_get(job, "env"));
    for (size_t i = 0; steps && steps->kind == AP_NODE_LIST && i < steps->as.list.count; i++) {
        ap_env_from_node(r, ap_node_get(steps->as.list.items[i], "env"));
        ap_script_node(r, ap_node_get(steps->as.list.items[i], "run"));
    }
}

void ap_read_gha(ap_jobreader *r)
{
    const ap_node *jobs = ap_node_get(r->root, "jobs"), *on = ap_node_get(r->root, "on"),
                  *schedule = ap_node_get(on ? on : ap_node_get(r->root, "true"), "schedule");
    ap_node_take(r, &r->facts->t.name, ap_node_get(r->root, "name"));
    if (schedule && schedule->kind == AP_NODE_LIST && schedule->as.list.count > 0)
        ap_node_take(r, &r->facts->t.schedule, ap_node_get(schedule->as.list.items[0], "cron"));
    for (size_t i = 0; jobs && jobs->kind == AP_NODE_MAP && i < jobs->as.map.count; i++)
        read_workflow_job(r, jobs->as.map.pairs[i].value);
    if (r->facts->chips.count > 0) {
        if (!ap_jnum_stated(&r->facts->n.chips_per_node))
            ap_set_num(&r->facts->n.chips_per_node, 1, r->facts->chips.items[0].pos);
        ap_set_num(&r->facts->n.nodes, 1, r->facts->chips.items[0].pos);
    }
}

/* -- Colab
 * ------------------------------------------------------------------------------------------------------------------ */

/* `name=value` of a call in Python, and the name that from_pretrained() is given: arguments as on a command line. A
 * value that is no literal is stated, but unknown. Reads one line. */
static void read_python_line(ap_jobreader *r, const char *line, size_t len, ap_pos pos)
{
    const char *text = ap_arena_strndup(r->arena, line, len), *model = strstr(text, "ModelFor");
    const char *call = model ? strstr(model, ".from_pretrained(") : NULL;
    if (call) {
        const char *name = call + strlen(".from_pretrained(");
        size_t n = *name == '\'' || *name == '"' ? strcspn(name + 1, "'\"") : 0;
        if (n > 0)
            (void)ap_arg_take(r, r->facts, "model_name_or_path", ap_arena_strndup(r->arena, name + 1, n), pos);
    }
    if (strstr(text, "LoraConfig(") || strstr(text, "get_peft_model("))
        ap_set_num(&r->facts->n.peft, 1, pos);
    for (const char *p = text; *p && *p != '#';) {
        size_t key = 0;
        if (*p == '\'' || *p == '"') {
            size_t n = strcspn(p + 1, "'\"");
            p += 1 + n + (p[1 + n] != 0);
            continue;
        }
        while (isalnum((unsigned char)p[key]) || p[key] == '_')
            key++;
        const char *value = p + key + strspn(p + key, " ");
        if (key == 0 || *value != '=' || value[1] == '=') {
            p += key ? key : 1;
            continue;
        }
        value++;
        value += strspn(value, " ");
        bool quoted = *value == '\'' || *value == '"';
        size_t n = quoted ? strcspn(value + 1, "'\"") : strcspn(value, ",()[]{} #");
        const char *word = ap_arena_strndup(r->arena, value + quoted, n);
        bool literal = quoted || isdigit((unsigned char)*word) || *word == '-' || ap_foreign_bool(word) >= 0;
        if (n > 0 && value[n] != '(' && !ap_foreign_null(word))
            (void)ap_arg_take(r, r->facts, ap_arena_strndup(r->arena, p, key), literal ? word : "$", pos);
        p = value + n + (quoted ? 1U : 0U) + (quoted && value[n + 1] ? 1U : 0U);
    }
}

/* Does a cell train? Others load models to look at them, to quantise or to ask them. */
static bool cell_trains(const ap_node *source)
{
    static const char *const signs[] = {"Trainer(", "TrainingArguments(", "SFTConfig(", "DPOConfig(", ".backward("};
    size_t lines = source->kind == AP_NODE_LIST ? source->as.list.count : 1;
    for (size_t i = 0; i < lines; i++) {
        const char *text = ap_node_text(source->kind == AP_NODE_LIST ? source->as.list.items[i] : source);
        for (size_t k = 0; text && k < sizeof signs / sizeof *signs; k++)
            if (strstr(text, signs[k]))
                return true;
    }
    return false;
}

/* The source of a cell with code, or NULL. */
static const ap_node *code_of(const ap_node *cell)
{
    const ap_node *source = ap_node_get(cell, "source");
    bool code = ap_streq(ap_node_text(ap_node_get(cell, "cell_type")), "code");
    return code && source && source->kind != AP_NODE_MAP ? source : NULL;
}

/* A cell's commands: lines that begin with `!`, or a %%bash cell; Python where the notebook trains. */
static void read_cell(ap_jobreader *r, const ap_node *source, bool trains)
{
    ap_sbuf text;
    ap_sbuf_init(&text, r->arena);
    size_t lines = source->kind == AP_NODE_LIST ? source->as.list.count : 1;
    bool bash = false, more = false;
    size_t at = ap_jobreader_offset(r, source->pos);
    for (size_t i = 0; i < lines; i++) {
        const ap_node *line = source->kind == AP_NODE_LIST ? source->as.list.items[i] : source;
        const char *p = ap_node_text(line);
        while (p && *p) {
            size_t len = strcspn(p, "\n"), blank = strspn(p, " \t");
            if (i == 0 && ap_starts_with(p, "%%bash"))
                bash = true;
            else if (bash || more || (blank < len && p[blank] == '!')) {
                size_t skip = p[blank] == '!' ? blank + 1 : 0;
                ap_sbuf_add_len(&text, p + skip, len - skip);
                more = len > 0 && p[len - 1] == '\\';
                ap_sbuf_add_char(&text, '\n');
            } else if (trains && p[blank] != '%' && p[blank] != '#') {
                read_python_line(r, p, len, line->pos);
            }
            p += len + (p[len] == '\n');
        }
    }
    if (text.len > 0)
        ap_script_read(r, text.text, text.len, at, false);
}

void ap_read_colab(ap_jobreader *r)
{
    const ap_node *type = ap_node_at(r->root, "metadata.colab.gpuType"),
                  *kind = ap_node_at(r->root, "metadata.accelerator");
    ap_jobnums *n = &r->facts->n;
    bool tpu = ap_streq(ap_node_text(kind), "TPU");
    if (tpu && ap_node_text(type) && ap_contains_nocase(type->text, "V5E")) {
        ap_jobfacts_add_chip(r->facts, "tpu-v5e", type->pos);
        ap_set_num(&n->chips_per_node, 1, type->pos);
    } else if (tpu) {
        ap_set_num(&n->chips_per_node, AP_UNKNOWN, kind->pos);
    } else if (ap_node_text(type)) {
        ap_jobfacts_add_chip(r->facts, type->text, type->pos);
        ap_set_num(&n->chips_per_node, 1, type->pos);
    } else if (ap_streq(ap_node_text(kind), "GPU")) {
        ap_jobfacts_add_chip(r->facts, "T4", kind->pos);
        ap_set_num(&n->chips_per_node, 1, kind->pos);
    }
    if (type || kind || ap_node_at(r->root, "metadata.colab")) {
        ap_set_text(&r->facts->t.cloud, "colab", r->root->pos);
        ap_set_num(&n->nodes, 1, kind ? kind->pos : r->root->pos);
    }
    const ap_node *cells = ap_node_get(r->root, "cells");
    size_t count = cells && cells->kind == AP_NODE_LIST ? cells->as.list.count : 0;
    bool trains = false;
    for (size_t i = 0; i < count && !trains; i++)
        trains = code_of(cells->as.list.items[i]) && cell_trains(code_of(cells->as.list.items[i]));
    for (size_t i = 0; i < count; i++)
        if (code_of(cells->as.list.items[i]))
            read_cell(r, code_of(cells->as.list.items[i]), trains);
}

/* -- our own workload
 * ------------------------------------------------------------------------------------------------------- */

void ap_read_workload(ap_jobreader *r)
{
    ap_diags diags;
    ap_diags_init(&diags, r->arena);
    ap_workload_init(&r->file->workload);
    r->file->has_workload = ap_schema_load(&ap_workload_object, r->root, &r->file->workload, r->arena, &diags) == AP_OK;
    for (size_t i = 0; i < diags.count; i++)
        if (diags.items[i].severity == AP_ERROR)
            ap_jobreader_find(r, AP_FAULT_SYNTAX_ERROR, diags.items[i].pos, "%s", diags.items[i].message)->hint =
                diags.items[i].hint;
    ap_node_take(r, &r->facts->t.model, ap_node_get(r->root, "model"));
    ap_node_num(&r->facts->n.seq_len, ap_node_get(r->root, "sequence_length"));
    ap_node_num(&r->facts->n.global_batch, ap_node_get(r->root, "global_batch"));
    ap_node_take(r, &r->facts->t.precision, ap_node_get(r->root, "precision"));
    ap_node_take(r, &r->facts->t.method, ap_node_get(r->root, "method"));
    ap_node_take(r, &r->facts->t.framework, ap_node_get(r->root, "framework"));
}
