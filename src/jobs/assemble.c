/* From paths to jobs: reading the files, following what they refer to, putting together what belongs together. */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "io/file.h"
#include "io/yaml.h"
#include "jobs/reader.h"

enum { MAX_BYTES = 1 << 20, MAX_FILES = 20000, MAX_FOLLOW = 3 };

/* -- one text
 * ---------------------------------------------------------------------------------------------------------------- */

static ap_jobfile *add_file(ap_jobs *jobs, const char *path, const char *text, size_t len)
{
    ap_jobfile *file = AP_NEW(jobs->arena, ap_jobfile);
    *file = (ap_jobfile){.path = path, .text = text, .len = len, .hf_text_params = AP_UNKNOWN};
    ap_jobfacts_clear(&file->facts);
    *AP_PUSH(jobs->arena, jobs->files, jobs->file_count, jobs->file_capacity) = file;
    return file;
}

static void read_file(ap_jobs *jobs, ap_jobfile *file, const ap_node *root)
{
    ap_jobreader reader;
    const ap_jobformat_row *row = ap_jobformat_find(file->format);
    ap_jobreader_init(&reader, jobs->arena, file);
    reader.root = root;
    if (row)
        row->read(&reader);
}

static bool is_script_name(const char *path)
{
    static const char *const suffixes[] = {".sh",    ".sbatch", ".slurm", ".job", ".bash", ".sub",
                                           ".batch", ".run",    ".zsh",   ".slm", ".qsub"};
    const char *name = ap_base_name(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ap_ends_with(name, suffixes[i]))
            return true;
    return strchr(name, '.') == NULL;
}

static bool is_document_name(const char *path)
{
    return ap_ends_with(path, ".yaml") || ap_ends_with(path, ".yml") || ap_ends_with(path, ".json") ||
           ap_ends_with(path, ".ipynb") || ap_ends_with(path, ".jsonc");
}

/* JSON may be indented by tabs, YAML may not; blanks keep every position. */
static const char *without_tabs(ap_arena *arena, const char *text, size_t len)
{
    size_t first = strspn(text, " \t\r\n");
    if (text[first] != '{' || !memchr(text, '\t', len))
        return text;
    char *copy = ap_arena_strndup(arena, text, len);
    for (size_t i = 0; i < len; i++)
        if (copy[i] == '\t')
            copy[i] = ' ';
    return copy;
}

static void find_placeholders(ap_jobs *jobs, ap_jobfile *file, const ap_node *node, int depth, size_t *told)
{
    if (!node || depth > 40 || *told >= 3)
        return;
    if (node->kind == AP_NODE_SCALAR && ap_foreign_placeholder(node->text) && strlen(node->text) < 100 &&
        !strpbrk(node->text, "\n")) {
        ++*told;
        ap_jobfinding_add(jobs->arena, &file->findings, AP_FAULT_PLACEHOLDER_LEFT, node->pos,
                          "\"%s\" is still to be filled in", node->text)
            ->hint = "put the real value in";
    }
    for (size_t i = 0; node->kind == AP_NODE_MAP && i < node->as.map.count; i++)
        find_placeholders(jobs, file, node->as.map.pairs[i].value, depth + 1, told);
    for (size_t i = 0; node->kind == AP_NODE_LIST && i < node->as.list.count; i++)
        find_placeholders(jobs, file, node->as.list.items[i], depth + 1, told);
}

/* Kinds of Kubernetes that run nothing. */
static bool is_no_job(const ap_node *document)
{
    static const char *const none[] = {
        "ConfigMap",        "Service",       "Secret",         "PersistentVolumeClaim",
        "PersistentVolume", "Namespace",     "ServiceAccount", "Role",
        "RoleBinding",      "Kustomization", "ClusterRole",    "ClusterRoleBinding",
        "Ingress",          "NetworkPolicy", "StorageClass",   "CustomResourceDefinition",
        "LocalQueue",       "ClusterQueue",  "ResourceFlavor", "PriorityClass",
        "ComputeClass",     "NodePool",      "EC2NodeClass"};
    const char *kind = ap_node_text(ap_node_get(document, "kind"));
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        if (ap_streq(kind, none[k]))
            return true;
    return false;
}

typedef struct document_source {
    const char *path, *text;
    size_t len;
    ap_jobformat format; /* told by the user, or unknown */
    size_t parts;        /* documents so far */
} document_source;

static bool read_document(ap_jobs *jobs, document_source *source, const ap_node *document)
{
    ap_jobformat format = source->format != AP_JF_UNKNOWN ? source->format : ap_recognise_node(source->path, document);
    size_t part = source->parts++, told = 0;
    if (format == AP_JF_UNKNOWN || document->kind != AP_NODE_MAP || (format == AP_JF_K8S && is_no_job(document)))
        return false;
    ap_jobfile *file = add_file(jobs, source->path, source->text, source->len);
    file->format = format;
    file->part = part;
    read_file(jobs, file, document);
    find_placeholders(jobs, file, document, 0, &told);
    return true;
}

static bool read_documents(ap_jobs *jobs, const char *path, const char *text, size_t len, ap_jobformat format,
                           ap_diags *diags)
{
    ap_docs docs = {0};
    bool any = false;
    document_source source = {.path = path, .text = text, .len = len, .format = format};
    const char *clean = without_tabs(jobs->arena, text, len);
    if (ap_yaml_parse(clean, len, path, AP_YAML_FOREIGN, MAX_BYTES, jobs->arena, diags, &docs) != AP_OK &&
        docs.count == 0)
        return false;
    for (size_t i = 0; i < docs.count; i++) {
        const ap_node *items = ap_node_get(docs.items[i], "items");
        if (ap_streq(ap_node_text(ap_node_get(docs.items[i], "kind")), "List") && items && /* kubectl get -o yaml */
            items->kind == AP_NODE_LIST) {
            for (size_t k = 0; k < items->as.list.count; k++)
                any = read_document(jobs, &source, items->as.list.items[k]) || any;
        } else {
            any = read_document(jobs, &source, docs.items[i]) || any;
        }
    }
    return any;
}

bool ap_jobs_read_text(ap_jobs *jobs, const char *path, const char *text, size_t len, ap_jobformat format,
                       ap_diags *diags)
{
    bool script = format == AP_JF_SLURM || format == AP_JF_SHELL || format == AP_JF_MEGATRON || format == AP_JF_XPK ||
                  format == AP_JF_MLPERF;
    if (memchr(text, 0, len))
        return false;
    if (format == AP_JF_TORCHTITAN || ap_ends_with(path, ".toml")) {
        const ap_node *root = ap_toml_parse(text, len, path, jobs->arena, diags);
        ap_jobformat found = format != AP_JF_UNKNOWN ? format : ap_recognise_node(path, root);
        if (!root || found == AP_JF_UNKNOWN)
            return false;
        ap_jobfile *file = add_file(jobs, path, text, len);
        file->format = found;
        read_file(jobs, file, root);
        return true;
    }
    bool shebang = ap_starts_with(text, "#!");
    if (!script && format == AP_JF_UNKNOWN && !is_document_name(path) &&
        (is_script_name(path) || shebang || strstr(text, "#SBATCH"))) {
        if (shebang && strstr(text, "python") && memchr(text, '\n', len) &&
            strstr(text, "python") < (const char *)memchr(text, '\n', len))
            return false;
        format = ap_recognise_text(path, text, len);
        script = format != AP_JF_UNKNOWN;
        if (!script)
            return false;
    }
    if (!script)
        return (format != AP_JF_UNKNOWN || is_document_name(path) || strcmp(path, "<stdin>") == 0) &&
               read_documents(jobs, path, text, len, format, diags);
    ap_jobfile *file = add_file(jobs, path, text, len);
    file->format = format;
    read_file(jobs, file, NULL);
    return true;
}

/* -- paths
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct loader {
    ap_jobs *jobs;
    ap_diags *diags;
    ap_status status;
    const char **seen;
    size_t seen_count, seen_capacity;
} loader;

static bool seen(loader *l, const char *path)
{
    for (size_t i = 0; i < l->seen_count; i++)
        if (strcmp(l->seen[i], path) == 0)
            return true;
    *AP_PUSH(l->jobs->arena, l->seen, l->seen_count, l->seen_capacity) = path;
    return false;
}

/* "./a//b/../c" -> "a/c", so that one file has one name. */
static const char *tidy_path(ap_arena *arena, const char *path)
{
    char *out = ap_arena_strdup(arena, path);
    size_t starts[64], depth = 0, len = *path == '/';
    const char *p = path + len;
    while (*p) {
        size_t part = strcspn(p, "/");
        bool up = part == 2 && p[0] == '.' && p[1] == '.';
        if (up && depth > 0) {
            len = starts[--depth];
        } else if (part > 0 && !(part == 1 && *p == '.') && depth < 64) {
            if (!up)
                starts[depth++] = len;
            if (len > 0 && out[len - 1] != '/')
                out[len++] = '/';
            memcpy(out + len, p, part);
            len += part;
        }
        p += part + (p[part] == '/');
    }
    out[len] = 0;
    return len ? out : ".";
}

static bool skip_in_folder(const char *path)
{
    return strstr(path, "/.git/") || ap_starts_with(path, ".git/") || strstr(path, "/node_modules/") ||
           strstr(path, "/__pycache__/") || strstr(path, "/.venv/");
}

/* Workflows, services and pods that train nothing are no jobs of ours, unless somebody names them. */
static void drop_other_work(ap_jobs *jobs, size_t from)
{
    size_t kept = from;
    for (size_t i = from; i < jobs->file_count; i++) {
        const ap_jobfile *file = jobs->files[i];
        const ap_jobfacts *f = &file->facts;
        bool general = file->format == AP_JF_GHA || file->format == AP_JF_COMPOSE || file->format == AP_JF_K8S ||
                       file->format == AP_JF_COLAB || file->format == AP_JF_SHELL;
        bool trains = f->chips.count > 0 || ap_jnum_stated(&f->n.chips_per_node) || ap_jtext_stated(&f->t.model) ||
                      ap_jnum_stated(&f->n.launch_per_node) || ap_jtext_stated(&f->t.arch);
        if (!general || trains || file->findings.count > 0 || f->ref_count > 0)
            jobs->files[kept++] = jobs->files[i];
    }
    jobs->file_count = kept;
}

/* named: by the user; a file that nobody named and nobody can read is passed over. */
static void load_path(loader *l, const char *given, bool named)
{
    ap_arena *arena = l->jobs->arena;
    const char *path = strcmp(given, "-") == 0 ? given : tidy_path(arena, given);
    char *text;
    size_t len, before = l->jobs->file_count;
    if (seen(l, path))
        return;
    ap_diags local;
    ap_diags_init(&local, arena);
    ap_status status = ap_file_read(path, MAX_BYTES, arena, named ? l->diags : &local, &text, &len);
    if (status != AP_OK) {
        l->status = named && status > l->status ? status : l->status;
        return;
    }
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    bool stdin_script =
        strcmp(path, "-") == 0 && l->jobs->request->format == AP_JF_UNKNOWN && ap_starts_with(text, "#");
    ap_jobformat format = stdin_script ? ap_recognise_text(name, text, len) : l->jobs->request->format;
    bool read = ap_jobs_read_text(l->jobs, name, text, len, format, &local);
    if (!named)
        drop_other_work(l->jobs, before);
    if (read || l->jobs->file_count > before)
        return;
    if (!named)
        return;
    if (local.errors > 0) {
        ap_diags_attach_source(&local, name, text, len);
        for (size_t i = 0; i < local.count; i++) {
            ap_diag *copy = ap_diag_add(l->diags, local.items[i].severity, local.items[i].code, local.items[i].pos,
                                        "%s", local.items[i].message);
            copy->hint = local.items[i].hint;
            copy->source_line = local.items[i].source_line;
        }
        l->status = l->status < AP_BAD_INPUT ? AP_BAD_INPUT : l->status;
        return;
    }
    ap_jobfile *file = add_file(l->jobs, name, text, len);
    ap_jobfinding_add(arena, &file->findings, AP_FAULT_UNREADABLE, (ap_pos){name, 1, 1},
                      "this is no job file of a kind that is known here")
        ->hint = "name the kind with --input-format when it is one";
}

static void load_folder(loader *l, const char *path)
{
    const char **paths;
    size_t count;
    ap_status status = ap_file_walk(path, "", true, l->jobs->arena, l->diags, &paths, &count);
    if (status != AP_OK) {
        l->status = status > l->status ? status : l->status;
        return;
    }
    for (size_t i = 0; i < count && l->jobs->file_count < MAX_FILES; i++)
        if (!skip_in_folder(paths[i]))
            load_path(l, paths[i], false);
}

static const char *sibling(ap_arena *arena, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    if (*name == '/' || !slash)
        return tidy_path(arena, name);
    return tidy_path(arena, ap_arena_printf(arena, "%.*s/%s", (int)(slash - path), path, name));
}

static void follow_refs(loader *l)
{
    size_t from = 0;
    for (int round = 0; round < MAX_FOLLOW; round++) {
        size_t count = l->jobs->file_count;
        for (size_t i = from; i < count; i++) {
            const ap_jobfile *file = l->jobs->files[i];
            for (size_t k = 0; k < file->facts.ref_count; k++) {
                const char *path = sibling(l->jobs->arena, file->path, file->facts.refs[k].value);
                if (*path != '/' || *file->path == '/')
                    if (ap_file_exists(path) && !ap_file_is_dir(path))
                        load_path(l, path, false);
            }
        }
        from = count;
    }
}

/* -- jobs
 * ----------------------------------------------------------------------------------------------------------------------
 */

static size_t root_of(size_t *parent, size_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void join(size_t *parent, size_t a, size_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static void join_refs(const ap_jobs *jobs, size_t *parent)
{
    for (size_t i = 0; i < jobs->file_count; i++)
        for (size_t k = 0; k < jobs->files[i]->facts.ref_count; k++) {
            const char *path = sibling(jobs->arena, jobs->files[i]->path, jobs->files[i]->facts.refs[k].value);
            for (size_t j = 0; j < jobs->file_count; j++)
                if (j != i && strcmp(jobs->files[j]->path, path) == 0)
                    join(parent, i, j);
        }
}

static void join_groups(const ap_jobs *jobs, size_t *parent)
{
    for (size_t g = 0; g < jobs->request->group_count; g++) {
        const char *text = jobs->request->groups[g];
        size_t first = SIZE_MAX;
        for (size_t len; *text; text += len + (text[len] == ',')) {
            len = strcspn(text, ",");
            const char *path = tidy_path(jobs->arena, ap_arena_strndup(jobs->arena, text, len));
            for (size_t j = 0; j < jobs->file_count; j++)
                if (strcmp(jobs->files[j]->path, path) == 0) {
                    if (first == SIZE_MAX)
                        first = j;
                    join(parent, first, j);
                }
        }
    }
}

/* Front ends say what is trained, launcher configurations how, scripts where: the most telling one names the job. */
static int telling(ap_jobformat format)
{
    switch (format) {
    case AP_JF_AXOLOTL:
    case AP_JF_LLAMAFACTORY:
    case AP_JF_TORCHTUNE:
    case AP_JF_TORCHTITAN:
    case AP_JF_LLMFOUNDRY:
    case AP_JF_NEMO:
    case AP_JF_NEOX:
    case AP_JF_MAXTEXT:
    case AP_JF_TRL:
    case AP_JF_LITGPT:
    case AP_JF_OLMO:
        return 0;
    case AP_JF_DEEPSPEED:
    case AP_JF_ACCELERATE:
        return 1;
    case AP_JF_HFCONFIG:
        return 3;
    default:
        return 2;
    }
}

/* Whose word counts when two files say the same thing: the command line's. */
static int precedence(ap_jobformat format)
{
    int rank = telling(format);
    return rank == 2 ? 0 : rank == 0 ? 1 : rank == 1 ? 2 : 3;
}

static void fill_facts(ap_checkjob *job)
{
    ap_jobfacts_clear(&job->facts);
    for (int rank = 0; rank < 4; rank++)
        for (size_t i = 0; i < job->file_count; i++)
            if (precedence(job->files[i]->format) == rank)
                ap_jobfacts_fill(&job->facts, &job->files[i]->facts);
}

static void make_job(ap_jobs *jobs, const size_t *parent, size_t root, bool *several)
{
    ap_checkjob *job = AP_NEW(jobs->arena, ap_checkjob);
    size_t main_file = root, capacity = 0;
    for (size_t i = root; i < jobs->file_count; i++)
        if (parent[i] == root && telling(jobs->files[i]->format) < telling(jobs->files[main_file]->format))
            main_file = i;
    *AP_PUSH(jobs->arena, job->files, job->file_count, capacity) = jobs->files[main_file];
    for (size_t i = root; i < jobs->file_count; i++)
        if (parent[i] == root && i != main_file)
            *AP_PUSH(jobs->arena, job->files, job->file_count, capacity) = jobs->files[i];
    job->format = jobs->files[main_file]->format;
    job->id = jobs->files[main_file]->path;
    const char *name = jobs->files[main_file]->facts.t.name.value;
    if (several[main_file])
        job->id = ap_arena_printf(jobs->arena, "%s#%s", job->id,
                                  name ? name : ap_arena_printf(jobs->arena, "%zu", jobs->files[main_file]->part));
    fill_facts(job);
    *AP_PUSH(jobs->arena, jobs->jobs, jobs->job_count, jobs->job_capacity) = job;
}

static void make_jobs(ap_jobs *jobs)
{
    size_t n = jobs->file_count;
    size_t *parent = AP_NEW_ARRAY(jobs->arena, size_t, n ? n : 1);
    bool *several = AP_NEW_ARRAY(jobs->arena, bool, n ? n : 1);
    for (size_t i = 0; i < n; i++) {
        parent[i] = i;
        several[i] = (i > 0 && jobs->files[i - 1]->path == jobs->files[i]->path) ||
                     (i + 1 < n && jobs->files[i + 1]->path == jobs->files[i]->path);
    }
    join_refs(jobs, parent);
    join_groups(jobs, parent);
    for (size_t i = 0; i < n; i++)
        parent[i] = root_of(parent, i);
    for (size_t i = 0; i < n; i++)
        if (parent[i] == i)
            make_job(jobs, parent, i, several);
}

ap_status ap_jobs_check(const ap_jobs_request *request, ap_arena *arena, ap_diags *diags, ap_jobs *ret)
{
    *ret = (ap_jobs){.arena = arena, .request = request};
    loader l = {.jobs = ret, .diags = diags, .status = AP_OK};
    for (size_t g = 0; g < request->group_count; g++) {
        const char *text = request->groups[g];
        for (size_t len; *text; text += len + (text[len] == ',')) {
            len = strcspn(text, ",");
            load_path(&l, ap_arena_strndup(arena, text, len), true);
        }
    }
    for (size_t i = 0; i < request->path_count; i++) {
        if (strcmp(request->paths[i], "-") != 0 && ap_file_is_dir(request->paths[i]))
            load_folder(&l, request->paths[i]);
        else
            load_path(&l, request->paths[i], true);
    }
    follow_refs(&l);
    make_jobs(ret);
    for (size_t i = 0; i < ret->job_count; i++) {
        ap_jobs_understand(request, arena, ret->jobs[i]);
        ap_jobs_find(request, arena, ret->jobs[i]);
    }
    return l.status;
}
