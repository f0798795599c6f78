/* Plain scripts with launch lines, xpk and Megatron-LM scripts, and the variable files of MLPerf submissions. */
#include <ctype.h>
#include <string.h>

#include "jobs/reader.h"

void ap_read_shell(ap_jobreader *r)
{
    ap_script_read(r, r->file->text, r->file->len, 0, true);
}

static void take_var(ap_jobreader *r, const ap_shell *shell, const char *name, ap_jnum *fact, double factor)
{
    const ap_shell_var *var = ap_shell_get(shell, name);
    double value;
    if (!var || var->words.count == 0)
        return;
    bool known = !var->unknown && ap_foreign_num(var->words.items[0].text, &value);
    ap_set_num(fact, known ? value * factor : AP_UNKNOWN, ap_jobreader_pos(r, var->words.items[0].at));
}

/* config_DGXH100_8x8x72x1.sh: nodes x GPUs x batch x accumulation. */
static size_t numbers_in_name(const char *name, double *values, size_t most)
{
    for (const char *p = name; *p; p++) {
        if (!isdigit((unsigned char)*p) || (p > name && isalnum((unsigned char)p[-1])))
            continue;
        size_t count = 0;
        const char *at = p, *end;
        while (count < most && ap_num_parse_prefix(at, &values[count], &end)) {
            count++;
            if (*end != 'x' || !isdigit((unsigned char)end[1]))
                break;
            at = end + 1;
        }
        if (count >= 3)
            return count;
    }
    return 0;
}

static void compare_with_name(ap_jobreader *r)
{
    double in_name[4];
    ap_jobnums *n = &r->facts->n;
    size_t count = numbers_in_name(ap_base_name(r->file->path), in_name, 4);
    const struct {
        const ap_jnum *fact;
        const char *what;
    } parts[] = {{&n->nodes, "nodes"},
                 {&n->chips_per_node, "chips a node"},
                 {&n->micro_batch, "samples a chip"},
                 {&n->accumulation, "accumulation steps"}};
    for (size_t i = 0; i < count && i < 4; i++)
        if (ap_known(parts[i].fact->value) && fabs(parts[i].fact->value - in_name[i]) > 0.5)
            ap_jobreader_find(r, AP_FAULT_COUNT_MISMATCH, parts[i].fact->pos,
                              "the file's name says %.0f %s, the file says %.0f", in_name[i], parts[i].what,
                              parts[i].fact->value)
                ->severity = AP_WARNING;
}

void ap_read_mlperf(ap_jobreader *r)
{
    ap_shell shell;
    ap_shell_init(&shell, r->arena, r->file->text, r->file->len);
    ap_shell_read(&shell, r->file->text, r->file->len, 0, true);
    ap_jobnums *n = &r->facts->n;
    take_var(r, &shell, "DGXNNODES", &n->nodes, 1);
    take_var(r, &shell, "DGXNGPU", &n->chips_per_node, 1);
    take_var(r, &shell, "BATCHSIZE", &n->micro_batch, 1);
    take_var(r, &shell, "MICRO_BATCH_SIZE", &n->micro_batch, 1);
    take_var(r, &shell, "GLOBAL_BATCH_SIZE", &n->global_batch, 1);
    take_var(r, &shell, "GRADIENT_STEPS", &n->accumulation, 1);
    take_var(r, &shell, "GRADIENT_ACCUMULATION_STEPS", &n->accumulation, 1);
    take_var(r, &shell, "MAX_STEPS", &n->steps, 1);
    take_var(r, &shell, "WALLTIME", &n->time_limit_s, 60);
    take_var(r, &shell, "TENSOR_MODEL_PARALLEL", &n->tp, 1);
    take_var(r, &shell, "PIPELINE_MODEL_PARALLEL", &n->pp, 1);
    const ap_shell_var *system = ap_shell_get(&shell, "DGXSYSTEM");
    if (system && system->words.count && !system->unknown) {
        const char *name = system->words.items[0].text;
        if (ap_starts_with(name, "DGX"))
            name += 3 + (name[3] == '_' || name[3] == '-');
        ap_jobfacts_add_chip(r->facts, ap_arena_strndup(r->arena, name, strcspn(name, "_")),
                             ap_jobreader_pos(r, system->words.items[0].at));
    }
    if (!ap_jnum_stated(&n->accumulation) && ap_jnum_stated(&n->micro_batch) && !ap_jnum_stated(&n->global_batch))
        ap_set_num(&n->accumulation, 1, n->micro_batch.pos);
    compare_with_name(r);
}
