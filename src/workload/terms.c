#include "workload/terms.h"

#include <stddef.h>

const char *const ap_method_names[] = {"pretrain", "train", "finetune", "lora", "qlora", "dpo", NULL};
const char *const ap_sharding_names[] = {"none", "ddp", "zero1", "zero2", "zero3", "hsdp", NULL};
const char *const ap_recompute_names[] = {"none", "selective", "full", NULL};
const char *const ap_optimizer_names[] = {"adamw", "adamw-8bit", "adamw-bf16", "adafactor", "lion",   "sgd", "sgd-momentum",
                                          "muon",  "adagrad",    "lamb",       "galore",    "none",   "adam", NULL};
