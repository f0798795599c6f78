/* What readers of job files share. Private to src/jobs. */
#ifndef AP_JOBS_READER_H
#define AP_JOBS_READER_H

#include "io/node.h"
#include "jobs/jobs.h"
#include "jobs/shell.h"

typedef struct ap_jobreader {
    ap_arena *arena;
    ap_jobfile *file;
    ap_jobfacts *facts;  /* of the file */
    const ap_node *root; /* YAML, JSON and TOML files: the document */
    size_t *lines;       /* offset at which each line starts */
    size_t line_count;
    int depth;       /* scripts within scripts */
    ap_text_map env; /* variables that the file sets for its commands */
    size_t env_capacity;
} ap_jobreader;

void ap_jobreader_init(ap_jobreader *reader, ap_arena *arena, ap_jobfile *file);
ap_pos ap_jobreader_pos(const ap_jobreader *reader, size_t offset);
size_t ap_jobreader_offset(const ap_jobreader *reader, ap_pos pos);
ap_jobfinding *ap_jobreader_find(ap_jobreader *reader, ap_fault fault, ap_pos pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* -- values as foreign formats write them (value.c)
 * -------------------------------------------------------------------- */

/* `auto`, `$X`, `${{ … }}`, `<…>`, `{{ … }}`: stated, but not known from the file. */
bool ap_foreign_unknown(const char *text);
bool ap_foreign_null(const char *text);                   /* NULL, "", null, None, ~ */
bool ap_foreign_placeholder(const char *text);            /* left for somebody to fill in */
bool ap_foreign_num(const char *text, double *ret);       /* 1_000, 2e-5, "8", 8+ */
int ap_foreign_bool(const char *text);                    /* 0, 1, -1 */
bool ap_foreign_bytes(const char *text, double *ret);     /* Kubernetes: 8G = 8e9, 8Gi; plain = bytes */
bool ap_foreign_bytes_gib(const char *text, double *ret); /* G and GB are GiB; plain = GiB (SkyPilot, Docker) */
bool ap_foreign_cpus(const char *text, double *ret);      /* 500m, 8, 8+ */
bool ap_slurm_time(const char *text, double *ret_s);
bool ap_slurm_memory(const char *text, double *ret_bytes); /* default unit M; 0 = all (unknown) */
bool ap_foreign_seconds(const char *text, double *ret_s);  /* 3600, 3600s, 12h, 1h30m, 2d */
bool ap_dd_hh_mm_ss(const char *text, double *ret_s);

/* Setting a fact: the first statement wins; a null is no statement. */
void ap_take_num(ap_jnum *fact, const char *text, ap_pos pos);
void ap_take_flag(ap_jnum *fact, const char *text, ap_pos pos); /* NULL text = bare switch */
void ap_take_text(ap_jobreader *reader, ap_jtext *fact, const char *text, ap_pos pos);
void ap_set_num(ap_jnum *fact, double value, ap_pos pos);
void ap_set_text(ap_jtext *fact, const char *value, ap_pos pos);
typedef bool (*ap_foreign_parser)(const char *text, double *ret);
void ap_take_with(ap_jnum *fact, ap_foreign_parser parse, const char *text, ap_pos pos);

/* The same from a node of a document; NULL nodes are absent. Positions are the value's. */
void ap_node_num(ap_jnum *fact, const ap_node *node);
void ap_node_flag(ap_jnum *fact, const ap_node *node);
void ap_node_take(ap_jobreader *reader, ap_jtext *fact, const ap_node *node);
void ap_node_with(ap_jnum *fact, ap_foreign_parser parse, const ap_node *node);
/* Scalar text with ${a.b} and ${{inputs.x}} of the same document put in; NULL for no scalar. */
const char *ap_node_words(ap_jobreader *reader, const ap_node *node);

/* -- arguments of training programs (args.c)
 * --------------------------------------------------------------------------- */

/* `key` with or without dashes; value NULL for a bare switch. False when the key says nothing to us. */
bool ap_arg_take(ap_jobreader *reader, ap_jobfacts *facts, const char *key, const char *value, ap_pos pos);
bool ap_arg_is_switch(const char *key); /* takes no value when bare */
/* Every scalar of a map that is a training argument. */
void ap_args_from_map(ap_jobreader *reader, ap_jobfacts *facts, const ap_node *map);

/* A map's keys read through a table of paths. */
typedef enum ap_key_kind { AP_KEY_NUM, AP_KEY_FLAG, AP_KEY_TEXT } ap_key_kind;
typedef struct ap_key_row {
    const char *path;
    ap_key_kind kind;
    size_t offset; /* of the fact in ap_jobfacts */
} ap_key_row;
#define AP_KN(path, field)                                                                                             \
    {                                                                                                                  \
        path, AP_KEY_NUM, offsetof(ap_jobfacts, n.field)                                                               \
    }
#define AP_KF(path, field)                                                                                             \
    {                                                                                                                  \
        path, AP_KEY_FLAG, offsetof(ap_jobfacts, n.field)                                                              \
    }
#define AP_KT(path, field)                                                                                             \
    {                                                                                                                  \
        path, AP_KEY_TEXT, offsetof(ap_jobfacts, t.field)                                                              \
    }
void ap_keys_take(ap_jobreader *reader, ap_jobfacts *facts, const ap_node *root, const ap_key_row *rows, size_t count);
#define AP_ROWS(table) (table), sizeof(table) / sizeof *(table)

/* -- scripts (script.c, launch.c)
 * ----------------------------------------------------------------------------------------- */

/* Variables that a scheduler sets, from what the file says so far. */
void ap_script_scheduler_vars(ap_jobreader *reader, ap_shell *shell);
/* Reads shell text that stands at offset `at` of the file (direct: is the file from there). */
void ap_script_read(ap_jobreader *reader, const char *text, size_t len, size_t at, bool direct);
/* The same from a YAML node: text, or a list of words that make one command (exec form). */
void ap_script_node(ap_jobreader *reader, const ap_node *node);
void ap_script_exec(ap_jobreader *reader, const ap_node *command, const ap_node *args);
/* One command, as words: launcher, program, arguments. */
void ap_launch_read(ap_jobreader *reader, ap_shell *shell, const ap_word *words, size_t count, ap_jobfacts *facts);
/* An environment variable. */
void ap_env_take(ap_jobreader *reader, ap_jobfacts *facts, const char *name, const char *value, ap_pos pos);
void ap_env_pair(ap_jobreader *reader, const char *text, ap_pos pos); /* NAME=VALUE */
void ap_env_from_node(ap_jobreader *reader, const ap_node *node); /* map, list of NAME=VALUE, list of {name, value} */

/* -- readers
 * ---------------------------------------------------------------------------------------------------------------- */

typedef void (*ap_jobread)(ap_jobreader *reader);
void ap_read_slurm(ap_jobreader *r);
void ap_read_shell(ap_jobreader *r); /* also Megatron scripts, xpk, MLPerf configs */
void ap_read_mlperf(ap_jobreader *r);
void ap_read_k8s(ap_jobreader *r);
void ap_read_skypilot(ap_jobreader *r);
void ap_read_dstack(ap_jobreader *r);
void ap_read_deepspeed(ap_jobreader *r);
void ap_read_accelerate(ap_jobreader *r);
void ap_read_hfconfig(ap_jobreader *r);
void ap_read_axolotl(ap_jobreader *r);
void ap_read_llamafactory(ap_jobreader *r);
void ap_read_torchtune(ap_jobreader *r);
void ap_read_torchtitan(ap_jobreader *r);
void ap_read_llmfoundry(ap_jobreader *r);
void ap_read_nemo(ap_jobreader *r);
void ap_read_neox(ap_jobreader *r);
void ap_read_maxtext(ap_jobreader *r);
void ap_read_trl(ap_jobreader *r);
void ap_read_litgpt(ap_jobreader *r);
void ap_read_determined(ap_jobreader *r);
void ap_read_olmo(ap_jobreader *r);
void ap_read_vertex(ap_jobreader *r);
void ap_read_sagemaker(ap_jobreader *r);
void ap_read_azureml(ap_jobreader *r);
void ap_read_ray(ap_jobreader *r);
void ap_read_compose(ap_jobreader *r);
void ap_read_gha(ap_jobreader *r);
void ap_read_colab(ap_jobreader *r);
void ap_read_workload(ap_jobreader *r);

void ap_slurm_directives(ap_jobreader *r, const char *text, size_t len, size_t at);
void ap_slurm_option(ap_jobreader *r, const char *name, const char *value, ap_pos pos);

/* "llama3_1_8b" -> "llama-3.1-8b". */
const char *ap_torchtune_model(ap_arena *arena, const char *name);

/* k8s_place.c: what a pod's spec says about machines and volumes. */
void ap_k8s_take_placement(ap_jobreader *r, const ap_node *spec);
void ap_k8s_take_volumes(ap_jobreader *r, const ap_node *spec);

/* Key dictionaries of single formats, for other readers of the same words. */
void ap_read_deepspeed_map(ap_jobreader *r, const ap_node *map);

/* TOML subset -> the same nodes as YAML. */
const ap_node *ap_toml_parse(const char *text, size_t len, const char *name, ap_arena *arena, ap_diags *diags);

typedef struct ap_jobformat_row {
    ap_jobformat format;
    ap_jobread read;
} ap_jobformat_row;
const ap_jobformat_row *ap_jobformat_find(ap_jobformat format);
/* From name and text (scripts) or name and document. */
ap_jobformat ap_recognise_text(const char *path, const char *text, size_t len);
ap_jobformat ap_recognise_node(const char *path, const ap_node *root);

const char *ap_base_name(const char *path);
bool ap_contains_nocase(const char *text, const char *part);

#endif
