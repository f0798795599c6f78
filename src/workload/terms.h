/* The words of a training job, shared by the workload document and the estimator. Names are the field's own; the arrays
 * are NULL-terminated and in enum order, so they serve the field tables too. */
#ifndef AP_WORKLOAD_TERMS_H
#define AP_WORKLOAD_TERMS_H

typedef enum ap_method {
    AP_METHOD_PRETRAIN,
    AP_METHOD_TRAIN,
    AP_METHOD_FINETUNE,
    AP_METHOD_LORA,
    AP_METHOD_QLORA,
    AP_METHOD_DPO
} ap_method;

typedef enum ap_sharding {
    AP_SHARD_NONE,
    AP_SHARD_DDP,
    AP_SHARD_ZERO1,
    AP_SHARD_ZERO2,
    AP_SHARD_ZERO3,
    AP_SHARD_HSDP
} ap_sharding;

typedef enum ap_recompute { AP_RECOMPUTE_NONE, AP_RECOMPUTE_SELECTIVE, AP_RECOMPUTE_FULL } ap_recompute;

typedef enum ap_optimizer {
    AP_OPT_ADAMW,
    AP_OPT_ADAMW_8BIT,
    AP_OPT_ADAMW_BF16,
    AP_OPT_ADAFACTOR,
    AP_OPT_LION,
    AP_OPT_SGD,
    AP_OPT_SGD_MOMENTUM,
    AP_OPT_MUON,
    AP_OPT_ADAGRAD,
    AP_OPT_LAMB,
    AP_OPT_GALORE,
    AP_OPT_NONE,
    AP_OPT_ADAM /* a spelling: the job has AP_OPT_ADAMW, whose states and work are the same */
} ap_optimizer;

/* Bits: what is kept in host memory. */
enum { AP_OFFLOAD_OPTIMIZER = 1, AP_OFFLOAD_PARAMETERS = 2, AP_OFFLOAD_ACTIVATIONS = 4 };

extern const char *const ap_method_names[];
extern const char *const ap_sharding_names[];
extern const char *const ap_recompute_names[];
extern const char *const ap_optimizer_names[];

#endif
