/* What is trained and how: method, precision, sharding, layout, batch. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "jobs/understand.h"

bool ap_job_is_transformers(const ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    return ap_jnum_stated(&n->micro_batch) || ap_jtext_stated(&j->f->t.save_strategy) ||
           ap_jtext_stated(&j->f->t.fsdp) ||
           (ap_jtext_stated(&j->f->t.model) &&
            (ap_jnum_stated(&n->seq_len) || ap_jnum_stated(&n->bf16) || ap_jnum_stated(&n->fp16)));
}

bool ap_job_is_distributed_launch(const ap_judge *j)
{
    const char *by = j->f->t.launcher.value;
    return by && strcmp(by, "python") != 0;
}

static bool was_read(const ap_judge *j, ap_jobformat format)
{
    return ap_job_has_format(j, format);
}

bool ap_job_has_config_unread(const ap_judge *j)
{
    const ap_jobtexts *t = &j->f->t;
    bool accelerate = ap_jtext_stated(&t->config_file) && !was_read(j, AP_JF_ACCELERATE);
    bool deepspeed = ap_jtext_stated(&t->deepspeed_file) && !was_read(j, AP_JF_DEEPSPEED);
    bool fsdp = ap_jtext_stated(&t->fsdp_config_file) && !ap_jtext_stated(&t->fsdp);
    return accelerate || deepspeed || fsdp ||
           (ap_is(&j->f->n.use_deepspeed) && !ap_jnum_stated(&j->f->n.zero_stage) && !was_read(j, AP_JF_DEEPSPEED));
}

bool ap_job_unresolved_launch(const ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    return (ap_jnum_stated(&n->launch_per_node) && !ap_known(n->launch_per_node.value)) ||
           (ap_jnum_stated(&n->launch_total) && !ap_known(n->launch_total.value)) ||
           (ap_jnum_stated(&n->nodes) && !ap_known(n->nodes.value));
}

/* -- precision
 * ----------------------------------------------------------------------------------------------------------------- */

static int precision_word(const char *text)
{
    if (!text)
        return -1;
    if (ap_contains_nocase(text, "fp8") || ap_contains_nocase(text, "float8") || strcasecmp(text, "hybrid") == 0 ||
        strcasecmp(text, "e4m3") == 0)
        return AP_PREC_FP8;
    if (ap_contains_nocase(text, "bf16") || ap_contains_nocase(text, "bfloat16"))
        return AP_PREC_BF16;
    if (ap_contains_nocase(text, "fp16") || ap_contains_nocase(text, "float16") || strcmp(text, "16") == 0 ||
        strcmp(text, "16-mixed") == 0 || strcmp(text, "16-true") == 0 || strcasecmp(text, "half") == 0)
        return AP_PREC_FP16;
    if (ap_contains_nocase(text, "fp32") || ap_contains_nocase(text, "float32") || strcmp(text, "32") == 0 ||
        strcmp(text, "32-true") == 0 || strcasecmp(text, "float") == 0)
        return AP_PREC_FP32;
    return -1;
}

static bool chips_have_bf16(const ap_judge *j)
{
    for (size_t i = 0; i < j->job->chip_count; i++)
        if (!ap_known(j->job->chips[i]->peak.bf16))
            return false;
    return true;
}

static int find_precision(const ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_jobtexts *t = &j->f->t;
    if (ap_is(&n->fp8))
        return AP_PREC_FP8;
    int word = precision_word(t->precision.value);
    if (word >= 0 && !(word == AP_PREC_FP32 && ap_is(&n->bf16)))
        return word;
    if (ap_is(&n->bf16))
        return AP_PREC_BF16;
    if (ap_is(&n->fp16))
        return AP_PREC_FP16;
    word = precision_word(t->mixed_precision.value);
    if (word >= 0)
        return word;
    bool automatic = ap_jnum_stated(&n->bf16) && !ap_known(n->bf16.value);
    if (automatic && ap_job_has_format(j, AP_JF_AXOLOTL))
        return chips_have_bf16(j) ? AP_PREC_BF16 : AP_PREC_FP16;
    word = precision_word(t->dtype.value);
    if (word >= 0)
        return word;
    if (ap_is(&n->amp))
        return AP_PREC_FP16;
    if (ap_job_has_format(j, AP_JF_MAXTEXT) || (t->program.value && ap_contains_nocase(t->program.value, "maxtext")))
        return AP_PREC_BF16; /* base.yml */
    if (ap_job_has_format(j, AP_JF_TORCHTITAN))
        return AP_PREC_BF16; /* mixed_precision_param of the default configuration */
    if (automatic || ap_job_has_config_unread(j) || ap_jtext_stated(&t->mixed_precision) ||
        ap_job_has_format(j, AP_JF_WORKLOAD))
        return -1;
    word = precision_word(t->torch_dtype.value);
    if (word >= 0)
        return word;
    bool megatron = t->program.value && ap_contains_nocase(t->program.value, "pretrain_gpt");
    bool trainer = ap_jnum_stated(&n->micro_batch) &&
                   (ap_jtext_stated(&t->model) || ap_jtext_stated(&t->model_config)) && t->program.value &&
                   !ap_jtext_stated(&t->torch_dtype) && !ap_is(&n->load_4bit);
    if (ap_is(&n->fp32) || megatron || trainer)
        return AP_PREC_FP32;
    return -1;
}

/* -- method
 * --------------------------------------------------------------------------------------------------------------------
 */

static int method_word(const char *text)
{
    for (int i = 0; text && ap_method_names[i]; i++)
        if (strcasecmp(text, ap_method_names[i]) == 0)
            return i;
    return -1;
}

static bool prefers(const char *text)
{
    static const char *const words[] = {"dpo", "kto", "orpo", "ppo", "grpo", "simpo", "ipo", "rloo"};
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool program_is(const ap_judge *j, const char *part)
{
    return j->f->t.program.value && ap_contains_nocase(ap_base_name(j->f->t.program.value), part);
}

/* train_lora.py, run-qlora.py; not exploration.py */
static bool program_says_lora(const ap_judge *j)
{
    const char *program = j->f->t.program.value;
    const char *name = program ? ap_str_lower(j->arena, ap_base_name(program)) : "";
    const char *word = strstr(name, "lora");
    if (word && word > name && word[-1] == 'q')
        word--;
    return word && (word == name || !isalpha((unsigned char)word[-1]));
}

static int find_method(const ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_jobtexts *t = &j->f->t;
    bool four_bit = ap_is(&n->load_4bit) || n->quant_bits.value <= 4;
    int word = method_word(t->method.value);
    if (word == AP_METHOD_LORA || word == AP_METHOD_QLORA)
        return word;
    word = method_word(t->adapter.value);
    if (word == AP_METHOD_LORA && four_bit)
        word = AP_METHOD_QLORA;
    bool lora =
        ap_is(&n->peft) || (n->lora_rank.value > 0 && !ap_jnum_stated(&n->peft) && !ap_jtext_stated(&t->adapter));
    lora = lora || (!ap_jnum_stated(&n->peft) && !ap_jtext_stated(&t->adapter) && program_says_lora(j));
    if (word < 0 && lora)
        word = four_bit ? AP_METHOD_QLORA : AP_METHOD_LORA;
    if (word >= 0)
        return word;
    word = method_word(t->method.value);
    bool scratch = t->method.value && word == AP_METHOD_PRETRAIN;
    if (word >= 0 && (word != AP_METHOD_FINETUNE || !(prefers(t->stage.value) || program_is(j, "dpo"))))
        return word;
    if (prefers(t->stage.value) || program_is(j, "dpo"))
        return AP_METHOD_DPO;
    if (t->stage.value && strcasecmp(t->stage.value, "pt") == 0)
        return AP_METHOD_PRETRAIN;
    if (t->stage.value && (strcasecmp(t->stage.value, "sft") == 0 || strcasecmp(t->stage.value, "rm") == 0))
        return AP_METHOD_FINETUNE;
    if (scratch || (ap_jtext_stated(&t->model_config) && !ap_jtext_stated(&t->model)))
        return AP_METHOD_PRETRAIN;
    if (ap_is(&n->load_4bit) && ap_jtext_stated(&t->model))
        return AP_METHOD_QLORA;
    if (ap_jtext_stated(&t->model) && ap_job_is_transformers(j) && !ap_job_has_format(j, AP_JF_NEMO) &&
        !ap_streq(t->framework.value, "jax") && !ap_job_has_format(j, AP_JF_TORCHTITAN))
        return AP_METHOD_FINETUNE;
    if (ap_streq(t->framework.value, "jax") && (program_is(j, "maxtext") || ap_job_has_format(j, AP_JF_MAXTEXT)))
        return AP_METHOD_PRETRAIN;
    if (ap_jtext_stated(&t->arch) && !ap_job_has_format(j, AP_JF_HFCONFIG))
        return AP_METHOD_TRAIN;
    return -1;
}

/* -- sharding
 * ------------------------------------------------------------------------------------------------------------------ */

static int strategy_word(const char *text)
{
    static const struct {
        const char *word;
        int sharding;
    } words[] = {{"hybrid_shard_zero2", AP_SHARD_HSDP}, {"hybrid_shard", AP_SHARD_HSDP},   {"hybrid", AP_SHARD_HSDP},
                 {"full_shard", AP_SHARD_ZERO3},        {"shard_grad_op", AP_SHARD_ZERO2}, {"no_shard", AP_SHARD_DDP}};
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (ap_contains_nocase(text, words[i].word))
            return words[i].sharding;
    static const int by_number[] = {-1, AP_SHARD_ZERO3, AP_SHARD_ZERO2, AP_SHARD_DDP, AP_SHARD_HSDP};
    if (text && text[0] >= '1' && text[0] <= '4' && !text[1])
        return by_number[text[0] - '0'];
    return -1;
}

static int find_sharding(const ap_judge *j)
{
    static const int stages[] = {AP_SHARD_DDP, AP_SHARD_ZERO1, AP_SHARD_ZERO2, AP_SHARD_ZERO3};
    const ap_jobnums *n = &j->f->n;
    const ap_jobtexts *t = &j->f->t;
    double stage = n->zero_stage.value;
    if (stage >= 0 && stage <= 3)
        return stages[(int)stage];
    int word = strategy_word(t->fsdp_strategy.value);
    if (word < 0)
        word = strategy_word(t->fsdp.value);
    if (word >= 0)
        return word;
    if (ap_is(&n->use_fsdp) || (t->fsdp.value && ap_foreign_bool(t->fsdp.value) != 0))
        return AP_SHARD_ZERO3;
    const char *type = t->distributed_type.value;
    if (type && strcasecmp(type, "FSDP") == 0)
        return AP_SHARD_ZERO3;
    if (type && (strcasecmp(type, "MULTI_GPU") == 0 || strcasecmp(type, "MULTI_NPU") == 0))
        return AP_SHARD_DDP;
    if (type && strcasecmp(type, "NO") == 0)
        return AP_SHARD_NONE;
    if (ap_is(&n->distributed_optimizer))
        return AP_SHARD_ZERO1;
    if (ap_job_has_format(j, AP_JF_TORCHTITAN)) {
        double shard = n->dp_shard.value, copies = n->dp_replicate.value;
        if (shard > 1 || shard < 0 || !ap_jnum_stated(&n->dp_shard))
            return copies > 1 ? AP_SHARD_HSDP : AP_SHARD_ZERO3;
        return copies > 1 ? AP_SHARD_DDP : -1;
    }
    if (type || ap_job_has_config_unread(j) || !ap_job_is_transformers(j))
        return -1;
    bool adapters = j->job->method == AP_METHOD_LORA || j->job->method == AP_METHOD_QLORA ||
                    j->job->method == AP_METHOD_FINETUNE || j->job->method == AP_METHOD_DPO;
    bool many = t->launcher.value &&
                (strcmp(t->launcher.value, "torchrun") == 0 || strcmp(t->launcher.value, "accelerate") == 0);
    if (many && j->job->world > 1 && adapters && !ap_known(n->tp.value) && !ap_known(n->pp.value))
        return AP_SHARD_DDP;
    if (j->job->world <= 1 && ap_known(j->job->world))
        return AP_SHARD_NONE;
    return -1;
}

/* -- layout and batch
 * -------------------------------------------------------------------------------------------------------- */

static double degree(const ap_jnum *fact)
{
    return ap_jnum_stated(fact) && !ap_known(fact->value) ? AP_UNKNOWN : fact->value >= 1 ? fact->value : 1;
}

/* --train_batch_size is DeepSpeed's word for the global batch; in scripts of their own, such as Diffusers', it is a
 * device's share. Accumulation without a micro-batch beside it tells. */
static void settle_train_batch(ap_judge *j)
{
    ap_jobnums *n = &j->job->facts.n;
    bool share = ap_jnum_stated(&n->accumulation) && !ap_jnum_stated(&n->micro_batch);
    ap_jnum *meant = share ? &n->micro_batch : &n->global_batch;
    if (ap_jnum_stated(&n->train_batch) && !ap_jnum_stated(meant))
        *meant = n->train_batch;
}

static void find_batch(ap_judge *j)
{
    settle_train_batch(j);
    const ap_jobnums *n = &j->f->n;
    ap_checkjob *job = j->job;
    double ranks = job->world / (job->tp * job->pp * job->cp);
    bool unknown_accumulation = ap_jnum_stated(&n->accumulation) && !ap_known(n->accumulation.value);
    job->accumulation = unknown_accumulation ? AP_UNKNOWN : ap_or(n->accumulation.value, 1);
    job->micro_batch = n->micro_batch.value;
    job->global_batch = n->global_batch.value;
    if (ap_known(job->global_batch))
        return;
    if (!ap_known(job->micro_batch) && ap_known(n->batch_size.value))
        job->micro_batch = n->batch_size.value;
    if (ap_known(job->micro_batch) && (ap_job_has_format(j, AP_JF_MLPERF)))
        ranks = job->chip_total;
    if (ap_known(n->per_chip_batch.value)) {
        job->global_batch = n->per_chip_batch.value * job->chip_total * job->accumulation;
        if (!ap_known(job->chip_total) && n->ici.value > 0 && !(n->dcn.value < 0))
            job->global_batch = n->ici.value * ap_or(n->dcn.value, 1) * n->per_chip_batch.value * job->accumulation;
        return;
    }
    if (ap_known(job->micro_batch) && ap_known(ranks))
        job->global_batch = job->micro_batch * job->accumulation * fmax(1, floor(ranks));
}

static int find_recompute(const ap_judge *j)
{
    const char *text = j->f->t.recompute.value;
    if (text && (ap_contains_nocase(text, "full") || ap_contains_nocase(text, "by_layer") ||
                 ap_contains_nocase(text, "whole_layer") || ap_contains_nocase(text, "uniform")))
        return AP_RECOMPUTE_FULL;
    if (text && ap_contains_nocase(text, "selective"))
        return AP_RECOMPUTE_SELECTIVE;
    if (ap_is(&j->f->n.checkpointing))
        return AP_RECOMPUTE_FULL;
    return -1;
}

static const char *find_framework(const ap_judge *j)
{
    const ap_jobtexts *t = &j->f->t;
    if (t->framework.value)
        return t->framework.value;
    if (ap_job_is_transformers(j) || ap_is(&j->f->n.peft))
        return "pytorch";
    if (t->image.value &&
        (ap_contains_nocase(t->image.value, "pytorch") || ap_contains_nocase(t->image.value, "/torch")))
        return "pytorch";
    if (t->image.value && ap_contains_nocase(t->image.value, "tensorflow"))
        return "tensorflow";
    if (t->image.value && (ap_contains_nocase(t->image.value, "maxtext") || ap_contains_nocase(t->image.value, "/jax")))
        return "jax";
    if (ap_jnum_stated(&j->f->n.trees) && ap_jnum_stated(&j->f->n.depth) && ap_jnum_stated(&j->f->n.rows))
        return "xgboost";
    return NULL;
}

void ap_understand_training(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    ap_checkjob *job = j->job;
    job->framework = find_framework(j);
    job->method = find_method(j);
    job->precision = find_precision(j);
    job->tp = degree(&n->tp);
    job->pp = degree(&n->pp);
    job->cp = degree(&n->cp);
    job->ep = degree(&n->ep);
    job->sharding = find_sharding(j);
    job->recompute = find_recompute(j);
    job->seq_len = n->seq_len.value;
    job->steps = n->steps.value;
    job->base_precision = job->method == AP_METHOD_QLORA                                                  ? AP_PREC_NF4
                          : ap_is(&n->load_8bit) || (n->quant_bits.value > 4 && n->quant_bits.value <= 8) ? AP_PREC_INT8
                                                                                                          : -1;
    bool host_optimizer = n->offload_optimizer.value > 0 || ap_streq(j->f->t.offload_device.value, "cpu");
    job->offload = (host_optimizer ? AP_OFFLOAD_OPTIMIZER : 0u) |
                   (n->offload_params.value > 0 ? AP_OFFLOAD_PARAMETERS | AP_OFFLOAD_OPTIMIZER : 0u);
    if (ap_job_has_format(j, AP_JF_MLPERF) || ap_job_has_format(j, AP_JF_MEGATRON) || ap_job_has_format(j, AP_JF_NEMO))
        job->world = ap_or(job->chip_total, job->world);
    find_batch(j);
}
