/* accelerate and deepspeed: configuration files for the layout. */
#include <string.h>

#include "base/num.h"
#include "emit/internal.h"

static const char *stage(const ap_emit_plan *p)
{
    static const char *const stages[][2] = {{"zero1", "1"}, {"zero2", "2"}, {"zero3", "3"}, {"hsdp", "3"}};
    for (size_t i = 0; p->sharding && i < sizeof stages / sizeof *stages; i++)
        if (strcmp(p->sharding, stages[i][0]) == 0)
            return stages[i][1];
    return "0";
}

static ap_status need_torch(ap_emit_plan *p)
{
    if (ap_streq(p->framework, "pytorch") && !p->tpu)
        return AP_OK;
    ap_diag_add(p->diags, AP_ERROR, 807, AP_NO_POS, "this is for PyTorch on GPUs and CPUs, not for %s on %s",
                p->framework, p->chip_name);
    return AP_USAGE;
}

ap_status ap_emit_accelerate(ap_emit_plan *p)
{
    ap_status status = need_torch(p);
    bool fsdp = ap_scope_find(p->scope, "fsdp")->text != NULL,
         deepspeed = ap_scope_find(p->scope, "zero_stage")->text != NULL;
    const char *type = p->world <= 1 ? "NO"
                       : fsdp        ? "FSDP"
                       : deepspeed   ? "DEEPSPEED"
                       : p->gaudi    ? "MULTI_HPU"
                       : p->cpu_only ? "MULTI_CPU"
                                     : "MULTI_GPU";
    ap_scope_text(p->scope, "distributed_type", type);
    ap_scope_flag(p->scope, "recomputes", p->recompute && strcmp(p->recompute, "none") != 0);
    const ap_job *job = p->request->search->job;
    ap_scope_flag(p->scope, "offload_parameters", (job->offload & AP_OFFLOAD_PARAMETERS) != 0);
    ap_emit_why(p, "num_processes", "of all machines together, not of one");
    ap_emit_why(p, "distributed_type", "%s: how the estimate lays states out (%s)", type,
                p->sharding ? p->sharding : "none");
    if (fsdp)
        ap_emit_why(p, "fsdp_state_dict_type", "sharded checkpoints need no host memory for the whole model");
    return status;
}

ap_status ap_emit_deepspeed(ap_emit_plan *p)
{
    ap_status status = need_torch(p);
    const ap_job *job = p->request->search->job;
    double micro = fmax(1, ap_or(p->micro_batch, 1)), accum = fmax(1, ap_or(p->grad_accum, 1));
    bool half = ap_streq(p->precision, "fp16"),
         single = !p->precision || ap_streq(p->precision, "fp32") || ap_streq(p->precision, "tf32");
    ap_scope_raw(p->scope, "stage", stage(p));
    ap_scope_number(p->scope, "train_batch", micro * accum * fmax(1, ap_or(p->dp, 1)));
    ap_scope_number(p->scope, "train_micro", micro);
    ap_scope_number(p->scope, "train_accum", accum);
    ap_scope_raw(p->scope, "bf16", half || single ? "false" : "true");
    ap_scope_raw(p->scope, "fp16", half ? "true" : "false");
    ap_scope_flag(p->scope, "stage3", ap_streq(stage(p), "3"));
    ap_scope_flag(p->scope, "offload_optimizer", (job->offload & AP_OFFLOAD_OPTIMIZER) != 0);
    ap_scope_flag(p->scope, "offload_parameters", (job->offload & AP_OFFLOAD_PARAMETERS) != 0);
    ap_scope_flag(p->scope, "tensor_parallel", p->tp > 1);
    ap_emit_why(p, "train_batch_size",
                "micro-batch x accumulation x data-parallel ranks; DeepSpeed refuses another product");
    ap_emit_why(p, "zero_optimization.stage", "as estimated: %s", p->sharding ? p->sharding : "none");
    return status;
}
