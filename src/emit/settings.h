/* The user's own values for recipes: `emit:` of the configuration. Absent: NULL, NaN, -1, empty. */
#ifndef AP_EMIT_SETTINGS_H
#define AP_EMIT_SETTINGS_H

#include "schema/schema.h"

typedef enum ap_container { AP_CONTAINER_ENROOT, AP_CONTAINER_APPTAINER, AP_CONTAINER_NONE } ap_container;
typedef enum ap_controller { AP_CONTROLLER_JOB, AP_CONTROLLER_JOBSET, AP_CONTROLLER_PYTORCHJOB } ap_controller;

/* Texts that go into templates under their own name: X(name, what it is). */
#define AP_EMIT_SETTING_TEXTS(X)                                                                                       \
    X(script, "Training script; train.py if absent, or the stack's own.")                                              \
    X(workdir, "Folder of the code, on the machine that runs the recipe.")                                             \
    X(dataset, "What the script is given as its data set, if not the catalog's name.")                                 \
    X(checkpoint_dir, "Folder for checkpoints; ./checkpoints if absent.")                                              \
    X(bucket, "Bucket for checkpoints, such as gs://team/run or s3://team/run.")                                       \
    X(partition, "Slurm: partition.")                                                                                  \
    X(account, "Slurm: account.")                                                                                      \
    X(qos, "Slurm: quality of service.")                                                                               \
    X(reservation, "Slurm: reservation.")                                                                              \
    X(constraint, "Slurm: features of the nodes.")                                                                     \
    X(gres, "Slurm: type of the card as the site spells it in --gres=gpu:TYPE:N.")                                     \
    X(namespace, "Kubernetes: namespace.")                                                                             \
    X(queue, "Kubernetes: Kueue's local queue.")                                                                       \
    X(pvc, "Kubernetes: claim that holds checkpoints.")                                                                \
    X(service_account, "Kubernetes, Google Cloud: service account.")                                                   \
    X(project, "Google Cloud: project.")                                                                               \
    X(zone, "Google Cloud: zone.")                                                                                     \
    X(resource_group, "Azure: resource group.")                                                                        \
    X(subnet, "AWS, Azure: subnet.")                                                                                   \
    X(security_group, "AWS: security group.")                                                                          \
    X(key_name, "AWS: key pair.")                                                                                      \
    X(instance_profile, "AWS: instance profile that may read the image and the bucket.")                               \
    X(machine_image, "AWS, Azure, Google Cloud: machine image with driver and container runtime.")

typedef struct ap_emit_settings {
    const char *templates; /* folder that replaces templates by name */
    const char *name, *model, *image, *registry;
#define AP_EMIT_TEXT_FIELD(id, doc) const char *id;
    AP_EMIT_SETTING_TEXTS(AP_EMIT_TEXT_FIELD)
#undef AP_EMIT_TEXT_FIELD
    int container, controller, tracker;
    ap_strings args, setup, modules, mounts, packages;
    ap_text_map env;
    double limit_s, grace_s, idle_s, max_restarts;
} ap_emit_settings;

extern const ap_object ap_emit_settings_object;
extern const char *const ap_tracker_names[]; /* none tensorboard wandb mlflow */

#endif
