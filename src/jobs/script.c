/* Shell text: environment, wrappers around the launch line, which of several commands is the training. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "jobs/reader.h"

enum { MAX_SCRIPT_DEPTH = 4 };

typedef struct script {
    ap_jobreader *reader;
    ap_shell *shell;
    ap_jobfacts best; /* of the command that looks most like a training */
    size_t best_score;
    bool by_srun; /* text runs inside srun */
    ap_pos srun_pos;
    ap_jobfacts srun; /* options of srun */
} script;

static void set_var(ap_jobreader *reader, ap_shell *shell, const char *name, double value)
{
    if (ap_known(value))
        ap_shell_set(shell, name, ap_arena_printf(reader->arena, "%.0f", value), SIZE_MAX, false);
}

void ap_script_scheduler_vars(ap_jobreader *reader, ap_shell *shell)
{
    const ap_jobnums *n = &reader->facts->n;
    double nodes = n->nodes.value, per_node = n->chips_per_node.value, tasks = n->tasks.value;
    switch (reader->file->format) {
    case AP_JF_SLURM:
        if (!ap_known(tasks))
            tasks = nodes * n->tasks_per_node.value;
        set_var(reader, shell, "SLURM_NNODES", nodes);
        set_var(reader, shell, "SLURM_JOB_NUM_NODES", nodes);
        set_var(reader, shell, "SLURM_GPUS_ON_NODE", per_node);
        set_var(reader, shell, "SLURM_GPUS_PER_NODE", per_node);
        set_var(reader, shell, "SLURM_NTASKS", tasks);
        set_var(reader, shell, "SLURM_NPROCS", tasks);
        set_var(reader, shell, "SLURM_NTASKS_PER_NODE", n->tasks_per_node.value);
        set_var(reader, shell, "SLURM_CPUS_PER_TASK", n->cpus_per_task.value);
        break;
    case AP_JF_SKYPILOT:
        set_var(reader, shell, "SKYPILOT_NUM_NODES", nodes);
        set_var(reader, shell, "SKYPILOT_NUM_GPUS_PER_NODE", per_node);
        break;
    case AP_JF_DSTACK:
        set_var(reader, shell, "DSTACK_NODES_NUM", nodes);
        set_var(reader, shell, "DSTACK_GPUS_PER_NODE", per_node);
        set_var(reader, shell, "DSTACK_GPUS_NUM", nodes * per_node);
        break;
    default:
        break;
    }
}

/* -- wrappers
 * ---------------------------------------------------------------------------------------------------------- */

static bool any_of(const char *word, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

/* Options in front of the wrapped command. `valued`: those that take the next word; NULL = none do. */
static size_t skip_options(const ap_word *words, size_t count, size_t i, const char *const *valued)
{
    while (i < count && *words[i].text == '-' && words[i].text[1]) {
        bool value = valued && any_of(words[i].text, valued);
        i += value ? 2 : 1;
    }
    return i < count ? i : count;
}

static const char *const srun_valued[] = {"-n",
                                          "--ntasks",
                                          "-N",
                                          "--nodes",
                                          "-c",
                                          "--cpus-per-task",
                                          "-p",
                                          "--partition",
                                          "-t",
                                          "--time",
                                          "-A",
                                          "--account",
                                          "-w",
                                          "--nodelist",
                                          "-C",
                                          "--constraint",
                                          "-J",
                                          "--job-name",
                                          "-o",
                                          "--output",
                                          "-e",
                                          "--error",
                                          "-G",
                                          "--gpus",
                                          "--gres",
                                          "--ntasks-per-node",
                                          "--mem",
                                          "--mpi",
                                          "--container-image",
                                          "--container-mounts",
                                          "--gpus-per-task",
                                          "--gpus-per-node",
                                          "--cpu-bind",
                                          "--gpu-bind",
                                          "--export",
                                          "--chdir",
                                          "-D",
                                          "-x",
                                          "--exclude",
                                          "--jobid",
                                          "--container-workdir",
                                          "--container-name",
                                          "-K",
                                          "-q",
                                          "--qos",
                                          NULL};

/* srun's own counts are those of the step. */
static size_t read_srun(script *s, const ap_word *words, size_t count)
{
    size_t i = 1;
    ap_pos pos = ap_jobreader_pos(s->reader, words[0].at);
    s->by_srun = true;
    s->srun_pos = pos;
    ap_jobfacts_clear(&s->srun);
    while (i < count && *words[i].text == '-' && words[i].text[1]) {
        const char *word = words[i].text, *equals = strchr(word, '=');
        bool valued = !equals && any_of(word, srun_valued);
        const char *value = equals ? equals + 1 : valued && i + 1 < count ? words[i + 1].text : NULL;
        if (value && (strncmp(word, "--ntasks-per-node", 17) == 0))
            ap_take_num(&s->srun.n.tasks_per_node, value, ap_jobreader_pos(s->reader, words[i].at));
        else if (value && (strcmp(word, "-n") == 0 || strncmp(word, "--ntasks", 8) == 0))
            ap_take_num(&s->srun.n.srun_tasks, value, ap_jobreader_pos(s->reader, words[i].at));
        i += valued ? 2 : 1;
    }
    if (i < count && strchr(words[i].text, '=') && !words[i].quoted && isupper((unsigned char)*words[i].text)) {
        ap_jobreader_find(s->reader, AP_FAULT_SYNTAX_ERROR, ap_jobreader_pos(s->reader, words[i].at),
                          "srun takes %s for the program: variables go before srun", words[i].text)
            ->hint = "write NAME=VALUE srun …, or export it first";
        while (i < count && strchr(words[i].text, '='))
            i++;
    }
    return i < count ? i : count;
}

static void read_commands(script *s, const ap_shell *shell, size_t from);

static void read_nested(script *s, const ap_word *word)
{
    if (s->reader->depth >= MAX_SCRIPT_DEPTH)
        return;
    s->reader->depth++;
    size_t before = s->shell->command_count;
    ap_shell_read(s->shell, word->text, strlen(word->text), word->at, false);
    read_commands(s, s->shell, before);
    s->reader->depth--;
}

static void read_command(script *s, const ap_word *words, size_t count);

/* bash script | bash -c "text" */
static void read_bash(script *s, const ap_word *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (*words[i].text == '-' && strchr(words[i].text, 'c') && words[i].text[1] != '-' && i + 1 < count) {
            read_nested(s, &words[i + 1]);
            return;
        }
        if (*words[i].text != '-') {
            if (!words[i].unknown)
                ap_jobfacts_add_ref(s->reader->facts, words[i].text, ap_jobreader_pos(s->reader, words[i].at));
            return;
        }
    }
}

/* docker run [options] image command */
static size_t skip_container(script *s, const ap_word *words, size_t count)
{
    static const char *const valued[] = {
        "-v",        "--volume", "-e",        "--env",  "--name",  "--gpus",       "--shm-size", "-w",     "--workdir",
        "--network", "--ipc",    "-u",        "--user", "--mount", "--entrypoint", "-p",         "--cpus", "-m",
        "--memory",  "--ulimit", "--runtime", "--bind", "-B",      "--env-file",   "--pwd",      NULL};
    size_t i = 2;
    while (i < count && *words[i].text == '-') {
        if (strncmp(words[i].text, "--shm-size=", 11) == 0)
            ap_take_with(&s->reader->facts->n.shm_bytes, ap_foreign_bytes_gib, words[i].text + 11,
                         ap_jobreader_pos(s->reader, words[i].at));
        i += any_of(words[i].text, valued) ? 2 : 1;
    }
    if (i < count)
        ap_take_text(s->reader, &s->reader->facts->t.image, words[i].text, ap_jobreader_pos(s->reader, words[i].at));
    return i + 1 < count ? i + 1 : count;
}

static size_t unwrap(script *s, const ap_word *words, size_t count)
{
    static const char *const plain[] = {"nohup", "exec", "time", "sudo",  "eval",   "then",     "do",   "else",
                                        "if",    "!",    "{",    "while", "stdbuf", "xvfb-run", "nice", NULL};
    static const char *const env_valued[] = {"-u", NULL};
    static const char *const timeout_valued[] = {"-k", "-s", NULL};
    static const char *const numactl_valued[] = {"-m", "-N", NULL};
    static const char *const conda_valued[] = {"-n", "-p", "--name", "--prefix", NULL};
    static const char *const nsys_valued[] = {"-o", "-t", "-w", "-f", "-c", NULL};
    const char *name = ap_base_name(words[0].text), *second = count > 1 ? words[1].text : "";
    if (any_of(name, plain))
        return skip_options(words, count, 1, NULL);
    if (strcmp(name, "srun") == 0)
        return read_srun(s, words, count);
    if (strcmp(name, "timeout") == 0)
        return skip_options(words, count, 1, timeout_valued) + 1;
    if (strcmp(name, "numactl") == 0 || strcmp(name, "taskset") == 0)
        return skip_options(words, count, 1, numactl_valued);
    if (strcmp(name, "nsys") == 0)
        return skip_options(words, count, 2, nsys_valued);
    if ((strcmp(name, "conda") == 0 || strcmp(name, "micromamba") == 0 || strcmp(name, "mamba") == 0) &&
        strcmp(second, "run") == 0)
        return skip_options(words, count, 2, conda_valued);
    if ((strcmp(name, "uv") == 0 || strcmp(name, "poetry") == 0 || strcmp(name, "pipenv") == 0 ||
         strcmp(name, "pixi") == 0) &&
        strcmp(second, "run") == 0)
        return skip_options(words, count, 2, NULL);
    if ((strcmp(name, "docker") == 0 || strcmp(name, "podman") == 0) && strcmp(second, "run") == 0)
        return skip_container(s, words, count);
    if ((strcmp(name, "singularity") == 0 || strcmp(name, "apptainer") == 0) && strcmp(second, "exec") == 0)
        return skip_container(s, words, count);
    if (strcmp(name, "ray") == 0 && strcmp(second, "job") == 0)
        for (size_t i = 2; i < count; i++)
            if (strcmp(words[i].text, "--") == 0)
                return i + 1;
    if (strcmp(name, "env") == 0) {
        size_t i = skip_options(words, count, 1, env_valued);
        for (; i < count && strchr(words[i].text, '='); i++)
            ap_env_pair(s->reader, words[i].text, ap_jobreader_pos(s->reader, words[i].at));
        return i;
    }
    return 0;
}

static void read_sbatch(script *s, const ap_word *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const char *word = words[i].text, *equals = strchr(word, '=');
        if (*word != '-') {
            if (!words[i].unknown)
                ap_jobfacts_add_ref(s->reader->facts, word, ap_jobreader_pos(s->reader, words[i].at));
            return;
        }
        if (strncmp(word, "--", 2) == 0 && equals)
            ap_slurm_option(s->reader, ap_arena_strndup(s->reader->arena, word + 2, (size_t)(equals - word - 2)),
                            equals + 1, ap_jobreader_pos(s->reader, words[i].at));
        else if (any_of(word, srun_valued) && i + 1 < count)
            i++;
    }
}

/* How much a command looks like the training of this file. */
static size_t score_of(const ap_jobfacts *facts)
{
    size_t score = ap_jobfacts_count(facts) + 2 * facts->ref_count;
    const char *by = facts->t.launcher.value;
    if (by && strcmp(by, "python") != 0)
        score += 6;
    if (facts->t.program.value && ap_contains_nocase(facts->t.program.value, "train"))
        score += 2;
    return score;
}

static void read_command(script *s, const ap_word *words, size_t count)
{
    for (int depth = 0; count > 0 && depth < 6; depth++) {
        size_t skip = unwrap(s, words, count);
        if (skip == 0)
            break;
        skip = skip < count ? skip : count;
        words += skip;
        count -= skip;
    }
    if (count == 0)
        return;
    const char *name = ap_base_name(words[0].text);
    if (strcmp(name, "bash") == 0 || strcmp(name, "sh") == 0 || strcmp(name, "source") == 0) {
        read_bash(s, words, count);
        return;
    }
    if (strcmp(name, "sbatch") == 0) {
        read_sbatch(s, words, count);
        return;
    }
    ap_jobfacts facts;
    ap_jobfacts_clear(&facts);
    ap_launch_read(s->reader, s->shell, words, count, &facts);
    if (!ap_jtext_stated(&facts.t.launcher)) {
        if (ap_ends_with(name, ".sh") && !words[0].unknown)
            ap_jobfacts_add_ref(s->reader->facts, words[0].text, ap_jobreader_pos(s->reader, words[0].at));
        return;
    }
    if (s->by_srun) {
        ap_set_num(&facts.n.by_srun, 1, s->srun_pos);
        ap_jobfacts_fill(&facts, &s->srun);
    }
    size_t score = score_of(&facts);
    if (score > s->best_score) {
        s->best_score = score;
        s->best = facts;
    }
}

static void read_assigns(script *s, const ap_words *assigns)
{
    for (size_t i = 0; i < assigns->count; i++) {
        const ap_word *word = &assigns->items[i];
        ap_pos pos = ap_jobreader_pos(s->reader, word->at);
        ap_env_pair(s->reader, word->text, pos);
        const char *equals = strchr(word->text, '=');
        if (!word->unknown && ap_foreign_placeholder(equals + 1))
            ap_jobreader_find(s->reader, AP_FAULT_PLACEHOLDER_LEFT, pos, "%s is still to be filled in", word->text)
                ->hint = "put the real value in; as it is the command cannot run";
    }
}

static void read_commands(script *s, const ap_shell *shell, size_t from)
{
    for (size_t i = from; i < shell->command_count; i++) {
        const ap_shell_command command = shell->commands[i];
        bool srun_before = s->by_srun;
        read_assigns(s, &command.assigns);
        if (command.words.count > 0)
            read_command(s, command.words.items, command.words.count);
        const char *name = command.words.count ? ap_base_name(command.words.items[0].text) : "";
        if (command.here && strcmp(name, "sbatch") == 0)
            ap_slurm_directives(s->reader, command.here, strlen(command.here), command.here_at);
        if (command.here && (strcmp(name, "sbatch") == 0 || strcmp(name, "bash") == 0 || strcmp(name, "sh") == 0 ||
                             strcmp(name, "srun") == 0))
            read_nested(s, &(ap_word){.text = command.here, .at = command.here_at});
        s->by_srun = srun_before;
    }
}

void ap_script_read(ap_jobreader *reader, const char *text, size_t len, size_t at, bool direct)
{
    if (reader->depth >= MAX_SCRIPT_DEPTH)
        return;
    reader->depth++;
    ap_shell shell;
    ap_shell_init(&shell, reader->arena, reader->file->text, reader->file->len);
    ap_script_scheduler_vars(reader, &shell);
    for (size_t i = 0; i < reader->env.count; i++)
        ap_shell_set(&shell, reader->env.items[i].key, reader->env.items[i].value, SIZE_MAX, false);
    script s = {.reader = reader, .shell = &shell};
    ap_jobfacts_clear(&s.best);
    ap_shell_read(&shell, text, len, at, direct);
    read_commands(&s, &shell, 0);
    ap_jobfacts_fill(reader->facts, &s.best);
    reader->depth--;
}

void ap_script_node(ap_jobreader *reader, const ap_node *node)
{
    if (!node || node->kind == AP_NODE_MAP)
        return;
    if (node->kind == AP_NODE_LIST) {
        ap_script_exec(reader, node, NULL);
        return;
    }
    const char *text = ap_node_words(reader, node);
    ap_script_read(reader, text, strlen(text), ap_jobreader_offset(reader, node->pos), false);
}

/* Kubernetes puts variables of the container into commands: $(NAME). */
static const char *with_env(ap_jobreader *reader, const char *text)
{
    const char *open = text ? strstr(text, "$(") : NULL, *close = open ? strchr(open, ')') : NULL;
    if (!close)
        return text;
    for (size_t i = 0; i < reader->env.count; i++) {
        const ap_text_pair *var = &reader->env.items[i];
        if (strlen(var->key) == (size_t)(close - open - 2) && strncmp(open + 2, var->key, strlen(var->key)) == 0)
            return ap_arena_printf(reader->arena, "%.*s%s%s", (int)(open - text), text, var->value, close + 1);
    }
    return text;
}

static void add_words(ap_jobreader *reader, ap_words *words, const ap_node *list)
{
    if (!list)
        return;
    size_t count = list->kind == AP_NODE_LIST ? list->as.list.count : 1;
    for (size_t i = 0; i < count; i++) {
        const ap_node *item = list->kind == AP_NODE_LIST ? list->as.list.items[i] : list;
        const char *text = with_env(reader, ap_node_words(reader, item));
        if (text)
            *AP_PUSH(reader->arena, words->items, words->count, words->capacity) =
                (ap_word){.text = text,
                          .at = ap_jobreader_offset(reader, item->pos),
                          .unknown = strchr(text, '$') != NULL,
                          .quoted = true};
    }
}

void ap_script_exec(ap_jobreader *reader, const ap_node *command, const ap_node *args)
{
    ap_words words = {0};
    add_words(reader, &words, command);
    add_words(reader, &words, args);
    if (words.count == 0)
        return;
    if (words.count == 1 || (!command && strchr(words.items[0].text, ' '))) {
        ap_script_read(reader, words.items[0].text, strlen(words.items[0].text), words.items[0].at, false);
        return;
    }
    ap_shell shell;
    ap_shell_init(&shell, reader->arena, reader->file->text, reader->file->len);
    ap_script_scheduler_vars(reader, &shell);
    script s = {.reader = reader, .shell = &shell};
    ap_jobfacts_clear(&s.best);
    read_command(&s, words.items, words.count);
    ap_jobfacts_fill(reader->facts, &s.best);
}
