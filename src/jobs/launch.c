/* Launch lines: which launcher, how many processes, what program with which arguments. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "jobs/reader.h"

typedef enum launcher {
    BY_NONE,
    BY_TORCHRUN,
    BY_ACCELERATE,
    BY_DEEPSPEED,
    BY_MPI,
    BY_COMPOSER,
    BY_TUNE,
    BY_PYTHON,
    BY_LLAMAFACTORY,
    BY_AXOLOTL,
    BY_LITGPT,
    BY_XPK,
    BY_COUNT
} launcher;
static const char *const launcher_names[BY_COUNT] = {NULL,           "torchrun", "accelerate", "deepspeed",
                                                     "mpirun",       "composer", "torchrun",   "python",
                                                     "llamafactory", "axolotl",  "litgpt",     "xpk"};

typedef struct option {
    launcher by;
    const char *name;
    char kind; /* n number, s switch, t text, i ignored with value, x ignored with two values, c command */
    size_t offset;
} option;

#define ON(by, name, field) {by, name, 'n', offsetof(ap_jobfacts, n.field)},
#define OS(by, name, field) {by, name, 's', offsetof(ap_jobfacts, n.field)},
#define OT(by, name, field) {by, name, 't', offsetof(ap_jobfacts, t.field)},
#define OI(by, name)        {by, name, 'i', 0},
#define SW(by, name)        {by, name, '-', 0},

static const option options[] = {
    ON(BY_TORCHRUN, "nnodes", launch_nodes) ON(BY_TORCHRUN, "nproc_per_node", launch_per_node) OS(
        BY_TORCHRUN, "standalone", standalone) ON(BY_TORCHRUN, "node_rank", node_rank) SW(BY_TORCHRUN, "no_python")
        SW(BY_TORCHRUN, "run_path") SW(BY_TORCHRUN, "use_env") ON(BY_ACCELERATE, "num_processes", launch_total)
            ON(BY_ACCELERATE, "num_machines", launch_nodes) OT(BY_ACCELERATE, "mixed_precision", mixed_precision) OT(
                BY_ACCELERATE, "config_file", config_file) OS(BY_ACCELERATE, "multi_gpu", multi_gpu)
                OS(BY_ACCELERATE, "use_fsdp", use_fsdp) OS(BY_ACCELERATE, "use_deepspeed", use_deepspeed) ON(
                    BY_ACCELERATE, "zero_stage", zero_stage) OT(BY_ACCELERATE, "fsdp_sharding_strategy", fsdp_strategy)
                    ON(BY_ACCELERATE, "gradient_accumulation_steps",
                       accumulation) OT(BY_ACCELERATE, "deepspeed_config_file", deepspeed_file)
                        OT(BY_ACCELERATE, "offload_optimizer_device", offload_device)
                            ON(BY_ACCELERATE, "machine_rank", node_rank) OS(BY_ACCELERATE, "cpu", use_cpu)
                                SW(BY_ACCELERATE, "tpu") SW(BY_ACCELERATE, "debug") SW(BY_ACCELERATE, "quiet") SW(
                                    BY_ACCELERATE, "no_python") SW(BY_ACCELERATE, "use_megatron_lm")
                                    SW(BY_ACCELERATE, "same_network") ON(BY_DEEPSPEED, "num_gpus", launch_per_node) ON(
                                        BY_DEEPSPEED, "num_nodes",
                                        launch_nodes) ON(BY_DEEPSPEED, "nproc_per_node", launch_per_node)
                                        ON(BY_DEEPSPEED, "node_rank", node_rank) OT(BY_DEEPSPEED, "hostfile", partition)
                                            SW(BY_DEEPSPEED, "no_local_rank") SW(BY_DEEPSPEED, "no_python")
                                                SW(BY_DEEPSPEED, "force_multi") SW(BY_DEEPSPEED, "save_pid")
                                                    SW(BY_DEEPSPEED, "no_ssh") SW(BY_DEEPSPEED, "bind_cores_to_rank")
                                                        ON(BY_MPI, "np", launch_total) ON(BY_MPI, "n", launch_total) ON(
                                                            BY_MPI, "c", launch_total) ON(BY_MPI, "N", launch_per_node)
                                                            ON(BY_MPI, "npernode", launch_per_node) ON(
                                                                BY_MPI, "ppn", launch_per_node){BY_MPI, "mca", 'x', 0},
    {BY_MPI, "x", 'e', 0},
    OI(BY_MPI, "map_by") OI(BY_MPI, "H") OI(BY_MPI, "host") OI(BY_MPI, "hostfile") OI(BY_MPI, "bind_to")
        OI(BY_MPI, "rank_by") OI(BY_MPI, "wdir") OI(BY_MPI, "machinefile") OI(BY_MPI, "f") OI(BY_MPI, "genv")
            ON(BY_COMPOSER, "n", launch_per_node) ON(BY_COMPOSER, "nproc", launch_per_node)
                ON(BY_COMPOSER, "world_size", launch_total) ON(BY_COMPOSER, "node_rank", node_rank)
                    ON(BY_TUNE, "nproc_per_node", launch_per_node) ON(BY_TUNE, "nnodes", launch_nodes)
                        OT(BY_XPK, "tpu_type", tpu_type) OT(BY_XPK, "device_type", tpu_type)
                            ON(BY_XPK, "num_slices", slices) ON(BY_XPK, "num_nodes", nodes) OT(BY_XPK, "zone", zone)
                                OT(BY_XPK, "cluster", scheduler_pool) OT(BY_XPK, "project", runner)
                                    ON(BY_XPK, "max_restarts", restarts) OT(BY_XPK, "workload", name)
                                        OT(BY_XPK, "docker_image", image) OT(BY_XPK, "base_docker_image", image)
                                            OS(BY_XPK, "spot", spot){BY_XPK, "command", 'c', 0},
};

typedef struct line_reader {
    ap_jobreader *reader;
    ap_shell *shell;
    const ap_word *words;
    size_t count, i;
    ap_jobfacts *facts;
    launcher by;
} line_reader;

static ap_pos at_word(const line_reader *l, size_t i)
{
    return ap_jobreader_pos(l->reader, l->words[i].at);
}

static bool is_file(const char *text, const char *suffix)
{
    size_t len = strlen(text), tail = strlen(suffix);
    return len > tail && strcasecmp(text + len - tail, suffix) == 0 && !strchr(text, '$') && !strchr(text, ' ');
}

static void note_ref(line_reader *l, const char *text, size_t i)
{
    static const char *const suffixes[] = {".yaml", ".yml", ".json", ".toml", ".sh", ".sbatch", ".slurm"};
    for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; k++)
        if (is_file(text, suffixes[k]))
            ap_jobfacts_add_ref(l->facts, ap_arena_strdup(l->reader->arena, text), at_word(l, i));
}

/* `key` without dashes, `-` as `_`; false when too long. */
static bool normal_key(const char *word, size_t len, char *buf, size_t size)
{
    size_t n = 0;
    if (len >= size)
        return false;
    for (size_t i = 0; i < len; i++)
        buf[n++] = word[i] == '-' ? '_' : word[i];
    buf[n] = 0;
    return true;
}

static const option *find_option(launcher by, const char *key)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].by == by && strcmp(options[i].name, key) == 0)
            return &options[i];
    return NULL;
}

/* "1:4" counts as its upper end; "gpu" and "auto" are words. */
static void take_count(line_reader *l, const option *o, const char *value, ap_pos pos)
{
    ap_jnum *fact = (ap_jnum *)(void *)((char *)l->facts + o->offset);
    if (fact == &l->facts->n.launch_per_node && (strcmp(value, "gpu") == 0 || strcmp(value, "auto") == 0)) {
        ap_take_text(l->reader, &l->facts->t.per_node_word, "gpu", pos);
        return;
    }
    const char *colon = strchr(value, ':');
    ap_take_num(fact, colon && isdigit((unsigned char)colon[1]) ? colon + 1 : value, pos);
}

static void take_option(line_reader *l, const option *o, const char *value, size_t i)
{
    ap_pos pos = at_word(l, i);
    char *at = (char *)l->facts + o->offset;
    if (o->kind == 'n' && value)
        take_count(l, o, value, pos);
    else if (o->kind == 's')
        ap_take_flag((ap_jnum *)(void *)at, value, pos);
    else if (o->kind == 't' && value) {
        ap_take_text(l->reader, (ap_jtext *)(void *)at, value, pos);
        note_ref(l, value, i);
    } else if (o->kind == 'e' && value) {
        const char *equals = strchr(value, '=');
        if (equals)
            ap_env_take(l->reader, l->facts, ap_arena_strndup(l->reader->arena, value, (size_t)(equals - value)),
                        equals + 1, pos);
    }
}

static bool is_rendezvous(const char *key)
{
    return strncmp(key, "rdzv", 4) == 0 || strcmp(key, "master_addr") == 0 || strcmp(key, "main_process_ip") == 0 ||
           strcmp(key, "master_port") == 0;
}

/* Unknown options of a launcher: which of them take no value? */
static bool takes_value(launcher by, const char *key)
{
    if (by == BY_MPI)
        return false; /* those that do are in the table */
    if (by == BY_ACCELERATE)
        return strstr(key, "process_") || strstr(key, "num_") || strstr(key, "rdzv") || strstr(key, "fsdp_") ||
               strstr(key, "gpu_ids") || strstr(key, "backend") || strstr(key, "dynamo_") ||
               strstr(key, "deepspeed_") || strstr(key, "zero") || strstr(key, "env") || strstr(key, "machine") ||
               strstr(key, "offload") || strstr(key, "gradient") || strstr(key, "log_dir");
    return true;
}

/* Options up to the program. */
static void read_launcher_options(line_reader *l)
{
    char key[64];
    while (l->i < l->count) {
        const char *word = l->words[l->i].text;
        if (*word != '-' || !word[1])
            return;
        if (strcmp(word, "-m") == 0 || strcmp(word, "--module") == 0) {
            if (l->by != BY_MPI)
                return;
        }
        const char *name = word + 1 + (word[1] == '-'), *equals = strchr(name, '=');
        size_t here = l->i++;
        if (!*name)
            return; /* "--" */
        if (!normal_key(name, equals ? (size_t)(equals - name) : strlen(name), key, sizeof key))
            continue;
        const option *o = find_option(l->by, key);
        if (is_rendezvous(key))
            ap_set_num(&l->facts->n.rendezvous, 1, at_word(l, here));
        const char *value = equals ? equals + 1 : NULL;
        bool wants = o ? strchr("ntiec", o->kind) != NULL : takes_value(l->by, key);
        if (o && o->kind == 'x')
            l->i += 2;
        else if (!value && wants && l->i < l->count &&
                 (*l->words[l->i].text != '-' || isdigit((unsigned char)l->words[l->i].text[1])))
            value = l->words[l->i++].text;
        if (o && o->kind == 'c' && value) {
            ap_jobfacts *outer = l->reader->facts;
            l->reader->facts = l->facts;
            ap_script_read(l->reader, value, strlen(value), l->words[here].at, false);
            l->reader->facts = outer;
        } else if (o) {
            take_option(l, o, value, value && !equals ? l->i - 1 : here);
        }
    }
    if (l->i > l->count)
        l->i = l->count;
}

static bool is_bool_word(const char *text)
{
    static const char *const words[] = {"true", "false", "yes", "no", "1", "0"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool next_is_value(const line_reader *l)
{
    if (l->i >= l->count)
        return false;
    const char *next = l->words[l->i].text;
    return *next != '-' || isdigit((unsigned char)next[1]) || !next[1] ||
           (next[1] == '.' && isdigit((unsigned char)next[2]));
}

static void read_program_option(line_reader *l)
{
    const char *word = l->words[l->i].text, *equals = strchr(word, '=');
    size_t here = l->i++, at = here;
    const char *key = equals ? ap_arena_strndup(l->reader->arena, word, (size_t)(equals - word)) : word;
    const char *value = equals ? equals + 1 : NULL;
    if (!value && next_is_value(l) && (!ap_arg_is_switch(key) || is_bool_word(l->words[l->i].text))) {
        at = l->i;
        value = l->words[l->i++].text;
    }
    ap_arg_take(l->reader, l->facts, key, value, at_word(l, here));
    if (value)
        note_ref(l, value, at);
}

/* Method and framework that a program's name gives away. */
static void read_program_name(line_reader *l, const char *name, ap_pos pos)
{
    ap_jobtexts *t = &l->facts->t;
    ap_take_text(l->reader, &t->program, name, pos);
    if (ap_contains_nocase(name, "maxtext"))
        ap_set_text(&t->framework, "jax", pos);
    if (ap_contains_nocase(name, "pretrain_gpt") || ap_contains_nocase(name, "pretrain_llama") ||
        ap_contains_nocase(name, "pretrain_bert") || ap_contains_nocase(name, "pretrain_t5") ||
        ap_contains_nocase(name, "pretrain_mamba")) {
        ap_set_text(&t->framework, "pytorch", pos);
        ap_set_text(&t->method, "pretrain", pos);
    }
    if (ap_contains_nocase(name, "xgb"))
        ap_set_text(&t->framework, "xgboost", pos);
    if (ap_contains_nocase(name, "lightgbm") || ap_contains_nocase(name, "lgbm"))
        ap_set_text(&t->framework, "lightgbm", pos);
    if (ap_contains_nocase(name, "catboost"))
        ap_set_text(&t->framework, "catboost", pos);
    if (ap_contains_nocase(name, "sklearn") || ap_contains_nocase(name, "scikit"))
        ap_set_text(&t->framework, "scikit-learn", pos);
}

static void read_program(line_reader *l)
{
    bool module =
        l->i < l->count && (strcmp(l->words[l->i].text, "-m") == 0 || strcmp(l->words[l->i].text, "--module") == 0);
    l->i += module;
    if (l->i < l->count) {
        read_program_name(l, l->words[l->i].text, at_word(l, l->i));
        note_ref(l, l->words[l->i].text, l->i);
        l->i++;
    }
    while (l->i < l->count) {
        const char *word = l->words[l->i].text, *equals = strchr(word, '=');
        if (*word == '-' && word[1] && !isdigit((unsigned char)word[1])) {
            read_program_option(l);
            continue;
        }
        if (equals && equals > word)
            ap_arg_take(l->reader, l->facts, ap_arena_strndup(l->reader->arena, word, (size_t)(equals - word)),
                        equals + 1, at_word(l, l->i));
        note_ref(l, word, l->i);
        l->i++;
    }
}

static bool is_program(const char *word, const char *name)
{
    return strcmp(ap_base_name(word), name) == 0;
}

static bool is_python(const char *word)
{
    const char *name = ap_base_name(word);
    if (strncmp(name, "python", 6) != 0)
        return false;
    for (name += 6; *name; name++)
        if (!isdigit((unsigned char)*name) && *name != '.')
            return false;
    return true;
}

/* python [-u] script | python -m module: a launcher when the module is one. */
static void read_python(line_reader *l)
{
    l->by = BY_PYTHON;
    l->i++;
    while (l->i < l->count && *l->words[l->i].text == '-' && strcmp(l->words[l->i].text, "-m") != 0 &&
           l->words[l->i].text[1])
        l->i += strcmp(l->words[l->i].text, "-W") == 0 || strcmp(l->words[l->i].text, "-X") == 0 ? 2 : 1;
    if (l->i + 1 >= l->count || strcmp(l->words[l->i].text, "-m") != 0)
        return;
    const char *module = l->words[l->i + 1].text;
    if (ap_starts_with(module, "torch.distributed."))
        l->by = BY_TORCHRUN;
    else if (ap_starts_with(module, "accelerate.commands.launch"))
        l->by = BY_ACCELERATE;
    else if (ap_starts_with(module, "deepspeed.launcher"))
        l->by = BY_DEEPSPEED;
    else if (ap_starts_with(module, "determined.launch.torch_distributed"))
        l->by = BY_TORCHRUN;
    else
        return;
    l->i += 2;
}

static void method_of_recipe(line_reader *l, const char *recipe, ap_pos pos)
{
    if (ap_contains_nocase(recipe, "qlora"))
        ap_set_text(&l->facts->t.adapter, "qlora", pos);
    else if (ap_contains_nocase(recipe, "lora"))
        ap_set_text(&l->facts->t.adapter, "lora", pos);
    else if (ap_contains_nocase(recipe, "pretrain"))
        ap_set_text(&l->facts->t.method, "pretrain", pos);
    else if (ap_contains_nocase(recipe, "full") || ap_contains_nocase(recipe, "finetune"))
        ap_set_text(&l->facts->t.method, "finetune", pos);
}

/* Recognises the launcher and moves behind its name. False when the command starts no training that we know. */
static bool read_launcher(line_reader *l)
{
    const char *word = l->words[0].text, *second = l->count > 1 ? l->words[1].text : "";
    static const struct {
        const char *name;
        const char *second;
        launcher by;
    } names[] = {{"torchrun", NULL, BY_TORCHRUN},
                 {"torchrun.sh", NULL, BY_TORCHRUN},
                 {"accelerate", "launch", BY_ACCELERATE},
                 {"accelerate-launch", NULL, BY_ACCELERATE},
                 {"deepspeed", NULL, BY_DEEPSPEED},
                 {"ds", NULL, BY_DEEPSPEED},
                 {"mpirun", NULL, BY_MPI},
                 {"mpiexec", NULL, BY_MPI},
                 {"horovodrun", NULL, BY_MPI},
                 {"composer", NULL, BY_COMPOSER},
                 {"tune", "run", BY_TUNE},
                 {"llamafactory-cli", "train", BY_LLAMAFACTORY},
                 {"axolotl", "train", BY_AXOLOTL},
                 {"litgpt", NULL, BY_LITGPT},
                 {"xpk", "workload", BY_XPK}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_program(word, names[i].name) && (!names[i].second || strcmp(second, names[i].second) == 0)) {
            l->by = names[i].by;
            l->i = names[i].second ? 2 : 1;
            if (l->by == BY_XPK)
                l->i = 3;
            return true;
        }
    if (is_python(word) && is_program(second, "xpk.py")) {
        l->by = BY_XPK;
        l->i = 4;
        return true;
    }
    if (is_python(word)) {
        read_python(l);
        return true;
    }
    bool script = is_file(word, ".py");
    l->by = script ? BY_PYTHON : BY_NONE;
    return script;
}

/* torchtune's built-in configurations: llama3_1/8B_lora_single_device. */
static void read_tune_config(line_reader *l)
{
    for (size_t i = 0; i + 1 < l->count; i++) {
        const char *name = l->words[i + 1].text, *slash = strchr(name, '/'), *size = slash ? strchr(slash, '_') : NULL;
        if (strcmp(l->words[i].text, "--config") != 0 || !size || strchr(name, '$') || is_file(name, ".yaml"))
            continue;
        const char *family = ap_arena_strndup(l->reader->arena, name, (size_t)(slash - name));
        ap_set_text(&l->facts->t.model,
                    ap_torchtune_model(l->reader->arena, ap_arena_printf(l->reader->arena, "%s_%.*s", family,
                                                                         (int)(size - slash - 1), slash + 1)),
                    at_word(l, i + 1));
        method_of_recipe(l, size, at_word(l, i + 1));
    }
}

void ap_launch_read(ap_jobreader *reader, ap_shell *shell, const ap_word *words, size_t count, ap_jobfacts *facts)
{
    line_reader l = {.reader = reader, .shell = shell, .words = words, .count = count, .facts = facts};
    if (count == 0 || !read_launcher(&l))
        return;
    ap_set_text(&facts->t.launcher, launcher_names[l.by], at_word(&l, 0));
    if (l.i > count)
        l.i = count;
    if (l.by == BY_LLAMAFACTORY || l.by == BY_AXOLOTL) {
        ap_set_text(&facts->t.framework, "pytorch", at_word(&l, 0));
        l.i--; /* the sub-command stands for the program */
        read_program(&l);
        return;
    }
    if (l.by == BY_LITGPT) {
        if (count > 1)
            method_of_recipe(&l, words[1].text, at_word(&l, 1));
        if (count > 2 && *words[2].text != '-')
            ap_take_text(reader, &facts->t.model, words[2].text, at_word(&l, 2));
        ap_set_text(&facts->t.framework, "pytorch", at_word(&l, 0));
        read_program(&l);
        return;
    }
    if (l.by != BY_PYTHON)
        read_launcher_options(&l);
    if (l.by == BY_TUNE && l.i < count) {
        read_tune_config(&l);
        if (strstr(words[l.i].text, "distributed"))
            ap_set_num(&facts->n.use_fsdp, 1, at_word(&l, l.i)); /* torchtune's distributed recipes shard by FSDP */
        method_of_recipe(&l, words[l.i].text, at_word(&l, l.i));
    }
    if (l.by == BY_MPI && l.i < count && (is_python(words[l.i].text))) {
        line_reader inner = l;
        read_python(&inner);
        l.i = inner.i;
    }
    if (l.by == BY_TORCHRUN || l.by == BY_ACCELERATE || l.by == BY_DEEPSPEED || l.by == BY_COMPOSER || l.by == BY_TUNE)
        ap_set_text(&facts->t.framework, "pytorch", at_word(&l, 0));
    if (l.by == BY_TORCHRUN && l.i < count && is_python(words[l.i].text)) {
        line_reader inner = l; /* determined's launcher: python -m … python train.py */
        read_python(&inner);
        l.i = inner.i;
    }
    if (l.by != BY_XPK)
        read_program(&l);
}
