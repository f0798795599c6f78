#include "emit/settings.h"

#include <string.h>

#include "emit/quote.h"

static const char *const containers[] = {"enroot", "apptainer", "none", NULL};
static const char *const controllers[] = {"job", "jobset", "pytorchjob", NULL};
const char *const ap_tracker_names[] = {"none", "tensorboard", "wandb", "mlflow", NULL};

static void check_text(const char *key, const char *text, ap_pos pos, ap_diags *diags)
{
    if (text && !ap_emit_text_ok(text))
        ap_diag_add(diags, AP_ERROR, 801, pos, "emit.%s holds a control character or bytes that are not UTF-8", key)
            ->hint = "one line of text";
}

static void check_texts(const char *key, const ap_strings *texts, ap_pos pos, ap_diags *diags)
{
    for (size_t i = 0; i < texts->count; i++)
        check_text(key, texts->items[i], pos, diags);
}

static void check_env(const ap_emit_settings *settings, ap_pos pos, ap_diags *diags)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char rest[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    for (size_t i = 0; i < settings->env.count; i++) {
        const char *key = settings->env.items[i].key;
        if (!*key || !strchr(first, *key) || strspn(key, rest) != strlen(key))
            ap_diag_add(diags, AP_ERROR, 802, pos, "emit.env: '%s' is no name of a variable", key);
        check_text("env", settings->env.items[i].value, pos, diags);
    }
}

/* Only what stays on one line can be quoted in every language that recipes are written in. */
static void check_settings(const void *object, ap_pos pos, ap_diags *diags)
{
    const ap_emit_settings *s = object;
    check_text("templates", s->templates, pos, diags);
    check_text("name", s->name, pos, diags);
    check_text("model", s->model, pos, diags);
    check_text("image", s->image, pos, diags);
    check_text("registry", s->registry, pos, diags);
#define CHECK(id, doc) check_text(#id, s->id, pos, diags);
    AP_EMIT_SETTING_TEXTS(CHECK)
#undef CHECK
    check_texts("args", &s->args, pos, diags);
    check_texts("setup", &s->setup, pos, diags);
    check_texts("modules", &s->modules, pos, diags);
    check_texts("mounts", &s->mounts, pos, diags);
    check_texts("packages", &s->packages, pos, diags);
    check_env(s, pos, diags);
}

#define S                         ap_emit_settings
#define TEXT(key, doc)            {#key, AP_T_TEXT, offsetof(S, key), 0, AP_DIM_NONE, 0, 0, NULL, NULL, doc},
#define TEXTS(key, doc)           {#key, AP_T_TEXTS, offsetof(S, key), 0, AP_DIM_NONE, 0, 0, NULL, NULL, doc},
#define WORD(key, words, doc)     {#key, AP_T_ENUM, offsetof(S, key), 0, AP_DIM_NONE, 0, 0, words, NULL, doc},
#define TIME(key, at, least, doc) {key, AP_T_NUM, offsetof(S, at), 0, AP_DIM_SECONDS, least, 1e8, NULL, NULL, doc},
static const ap_field fields[] = {
    TEXT(templates, "Folder of templates that replace the built-in ones of the same name.")
        TEXT(name, "Name of the job.") TEXT(model, "What the script is given as its model, if not the catalog's name.")
            TEXT(image, "Container image, instead of one of the catalog.")
                TEXT(registry, "Mirror that stands in front of every image: registry.example.org/mirror.")
                    AP_EMIT_SETTING_TEXTS(TEXT) WORD(container, containers, "Slurm: enroot (Pyxis), apptainer or none.")
                        WORD(controller, controllers,
                             "Kubernetes: job, jobset or pytorchjob; a job on one machine, else a jobset.")
                            WORD(tracker, ap_tracker_names, "Where metrics go: none, tensorboard, wandb or mlflow.")
                                TEXTS(args, "More arguments for the training script.")
                                    TEXTS(setup, "Shell lines that run before the launch.")
                                        TEXTS(modules, "Slurm: environment modules to load.")
                                            TEXTS(mounts, "Folders to mount, SOURCE:TARGET.") TEXTS(
                                                packages,
                                                "pip packages to install before the launch, instead of the stack's."){
                                                "env", AP_T_TEXT_MAP, offsetof(S, env), 0, AP_DIM_NONE, 0, 0, NULL,
                                                NULL, "Environment variables of the job."},
    TIME("limit", limit_s, 60, "Time limit, instead of the estimate's p90 rounded up.")
        TIME("grace", grace_s, 1, "Time between asking the job to save and stopping it.")
            TIME("idle", idle_s, 60, "SkyPilot: idle time after which machines are stopped."){
                "max_restarts", AP_T_INT, offsetof(S, max_restarts), 0, AP_DIM_NONE, 0, 1000, NULL, NULL,
                "Most restarts after a failure."},
};
const ap_object ap_emit_settings_object = {"emit", "Your own values for recipes.", sizeof(S), AP_FIELDS_OF(fields),
                                           check_settings};
