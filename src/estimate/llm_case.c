/* Default rules for what a transformer job does not say, its calibration keys, and the layout-independent facts
 * (docs/model.md M-10 … M-19). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "estimate/llm.h"

static const char *const family_names[] = {"other", "meg21", "mcore",  "fsdp",   "hf",
                                           "dle",   "xla",   "habana", "neuron", "ipu"};

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static bool starts(const char *text, const char *word)
{
    return text && strncmp(text, word, strlen(word)) == 0;
}

int ap_llm_family_of(const ap_case *job)
{
    const char *family = job->stack_info ? job->stack_info->family : NULL;
    for (int i = 0; family && i < (int)(sizeof family_names / sizeof *family_names); i++)
        if (strcmp(family, family_names[i]) == 0 && i != LLM_FAM_OTHER)
            return i;
    const char *generation = job->chip->generation;
    if (starts(generation, "tpu"))
        return LLM_FAM_XLA;
    if (starts(generation, "gaudi"))
        return LLM_FAM_HABANA;
    if (starts(generation, "neuron"))
        return LLM_FAM_NEURON;
    if (starts(generation, "ipu"))
        return LLM_FAM_IPU;
    /* Tuning without a named stack is nearly always the Hugging Face trainer or a relative. */
    bool tuning = job->method == AP_METHOD_FINETUNE || job->method == AP_METHOD_LORA ||
                  job->method == AP_METHOD_QLORA || job->method == AP_METHOD_DPO;
    return tuning && !job->stack ? LLM_FAM_HF : LLM_FAM_OTHER;
}

static bool is_encoder(const ap_case *job)
{
    return is(job->arch ? job->arch : job->model->arch, "encoder");
}

static bool adapts(const ap_case *job)
{
    return job->method == AP_METHOD_LORA || job->method == AP_METHOD_QLORA;
}

static void default_sequence(ap_est_context *c)
{
    ap_case *job = &c->job;
    if (job->seq_len > 0)
        return;
    bool tuning = job->method == AP_METHOD_FINETUNE || adapts(job);
    if (is_encoder(job)) /* two-phase pre-training spends nine steps of ten at 128 */
        job->seq_len = tuning || job->method == AP_METHOD_PRETRAIN ? 128 : 384;
    else
        job->seq_len = tuning || job->method == AP_METHOD_DPO ? 1024 : 2048; /* 1024: default of the TRL trainers */
    ap_est_assume(c, "sequence_length", job->seq_len);
}

static void default_precision(ap_est_context *c)
{
    ap_case *job = &c->job;
    bool storage = job->precision == AP_PREC_NF4 || job->precision == AP_PREC_INT4 ||
                   (job->precision == AP_PREC_INT8 && adapts(job));
    if (storage) { /* storage formats of a frozen base: compute stays 16 bit */
        if (job->base_precision < 0)
            job->base_precision = job->precision;
        job->precision = AP_PREC_BF16;
    }
    if (job->method == AP_METHOD_QLORA && job->base_precision < 0)
        job->base_precision = AP_PREC_NF4;
    if (job->precision >= 0)
        return;
    const char *g = job->chip->generation;
    bool new_chip = starts(g, "hopper") || starts(g, "blackwell-hbm");
    job->precision = ap_llm_family_of(job) == LLM_FAM_MCORE && new_chip ? AP_PREC_FP8 : AP_PREC_BF16;
    if (!(ap_chip_peak(job->chip, AP_PREC_BF16) > 0) && ap_chip_peak(job->chip, AP_PREC_FP16) > 0)
        job->precision = AP_PREC_FP16;
    ap_est_assume(c, "precision", job->precision);
}

static void default_flash(ap_case *job)
{
    if (job->flash >= 0)
        return;
    int family = ap_llm_family_of(job);
    bool fused = family == LLM_FAM_MCORE || family == LLM_FAM_FSDP || family == LLM_FAM_XLA;
    bool decoder = !is_encoder(job) && (family == LLM_FAM_HF || family == LLM_FAM_HABANA || family == LLM_FAM_OTHER ||
                                        family == LLM_FAM_NEURON);
    job->flash = fused || decoder || (family == LLM_FAM_MEG21 && !(job->date < 2023));
    if (job->date < 2022.67 && family != LLM_FAM_MCORE)
        job->flash = 0;
    if (family == LLM_FAM_DLE || family == LLM_FAM_IPU)
        job->flash = 0;
}

static void default_machine(ap_est_context *c)
{
    ap_case *job = &c->job;
    const char *id = job->chip->id;
    bool tpu = starts(job->chip->generation, "tpu");
    if (!(job->chips > 0)) {
        double size = isfinite(job->model->params) ? job->model->params : 1e9;
        bool tuning = job->method != AP_METHOD_PRETRAIN && job->method != AP_METHOD_TRAIN;
        job->chips = tuning ? 1 : fmin(2048, fmax(1, exp2(round(log2(fmax(1, size / 50e6))))));
        ap_est_assume(c, "chips", job->chips);
    }
    bool rack = id && (strstr(id, "gb200") || strstr(id, "gb300"));
    if (!(job->chips_per_node > 0))
        job->chips_per_node = fmin(job->chips, rack || tpu ? 4 : 8);
    if (!(job->domain_chips > 0)) {
        job->domain_chips = job->chips_per_node;
        if (rack)
            job->domain_chips = 72;
        else if (tpu)
            job->domain_chips = job->chip->link.max_peers > 1 ? job->chip->link.max_peers : 4096;
    }
}

void ap_llm_complete(ap_est_context *c)
{
    ap_case *job = &c->job;
    ap_llm_shape shape;
    if (ap_llm_shape_of(job->model, job->arch, &shape) == NULL && shape.guessed > 0)
        c->basis = AP_BASIS_RULE_OF_THUMB;
    default_sequence(c);
    default_precision(c);
    default_flash(job);
    default_machine(c);
}

/* Which compute path a precision takes on this chip. */
static int path_of(const ap_case *job)
{
    const ap_peaks *peak = &job->chip->peak;
    double half = fmax(isfinite(peak->bf16) ? peak->bf16 : 0, isfinite(peak->fp16) ? peak->fp16 : 0);
    switch (job->precision) {
    case AP_PREC_FP64:
    case AP_PREC_FP32:
        return LLM_PATH_32;
    case AP_PREC_TF32:
        return peak->tf32 > 0 ? LLM_PATH_TF32 : LLM_PATH_32;
    case AP_PREC_FP8:
    case AP_PREC_MXFP8:
        return peak->fp8 > half * 1.2 ? LLM_PATH_8 : LLM_PATH_16;
    case AP_PREC_INT8:
        return peak->int8 > half * 1.2 ? LLM_PATH_8 : LLM_PATH_16;
    case AP_PREC_FP4:
        return peak->fp4 > half * 1.2 ? LLM_PATH_4 : peak->fp8 > half * 1.2 ? LLM_PATH_8 : LLM_PATH_16;
    default:
        return LLM_PATH_16;
    }
}

static const char *line_of(const char *generation)
{
    if (!generation)
        return NULL;
    if (starts(generation, "cdna"))
        return "cdna";
    if (starts(generation, "hopper") || strstr(generation, "-hbm") || starts(generation, "volta"))
        return "nvidia-hbm";
    if (starts(generation, "cpu"))
        return "cpu";
    static const char *const boards[] = {"blackwell", "ada", "ampere", "turing", "pascal", "maxwell", "kepler"};
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++)
        if (starts(generation, boards[i]))
            return "nvidia-gddr";
    return generation;
}

void ap_llm_keys(const ap_est_context *c, ap_engine_keys *keys)
{
    static const char *const paths[] = {"16", "8", "4", "tf32", "32"};
    const ap_case *job = &c->job;
    const char *family = family_names[ap_llm_family_of(job)];
    const char *arch = job->arch ? job->arch : job->model->arch;
    ap_keys_add(keys, "line", line_of(job->chip->generation));
    ap_keys_add(keys, "generation", job->chip->generation);
    ap_keys_add(keys, "chip", job->chip->id);
    ap_keys_add(keys, "family", family);
    ap_keys_add(keys, "stack", job->stack);
    if (!is(job->suite, "mlperf")) /* rounds follow one set of rules */
        ap_keys_add(keys, "publication", job->publication);
    if (job->stack && job->chip->generation)
        ap_keys_addf(keys, "stack-generation", "%s|%s", job->stack, job->chip->generation);
    if (job->stack && job->chip->id)
        ap_keys_addf(keys, "stack-chip", "%s|%s", job->stack, job->chip->id);
    if (arch)
        ap_keys_addf(keys, "family-arch", "%s|%s", family, arch);
    ap_keys_addf(keys, "family-path", "%s|%s", family, paths[path_of(job)]);
    /* Whose fused attention: the chip maker's, written for the generation, or one that only compiles for it. */
    int maker = ap_llm_family_of(job);
    bool tuned = maker == LLM_FAM_MCORE || maker == LLM_FAM_XLA;
    if (job->chip->generation)
        ap_keys_addf(keys, "kernels", "%s|%s", tuned ? "vendor" : "portable", job->chip->generation);
    ap_keys_addf(keys, "family-method", "%s|%s", family,
                 job->method == AP_METHOD_QLORA  ? "qlora"
                 : job->method == AP_METHOD_LORA ? "lora"
                                                 : "full");
    ap_keys_add(keys, "suite", job->suite);
    const char *model = job->model->id, *stack = job->stack ? job->stack : "", *path = paths[path_of(job)];
    const char *task = job->task ? job->task : ap_method_names[job->method >= 0 ? job->method : 0];
    if (model && *model) {
        ap_keys_addf(keys, "stack-model", "%s|%s", stack, model);
        ap_keys_addf(keys, "stack-model-path", "%s|%s|%s|%s", stack, model, task, path);
        if (job->suite)
            ap_keys_addf(keys, "suite-model", "%s|%s|%s|%s", job->suite, job->date < 2022.5 ? "2020" : "2023", model,
                         path);
    }
    if (job->suite)
        ap_keys_addf(keys, "suite-generation", "%s|%s|%s", job->suite, job->date < 2022.5 ? "2020" : "2023",
                     job->chip->generation ? job->chip->generation : "");
    ap_keys_add(keys, "run-kind", job->run_kind);
}

static double first_known(double a, double b, double c)
{
    return a > 0 ? a : b > 0 ? b : c > 0 ? c : 0;
}

/* M-10 … M-13: peaks, ceilings and rates of this chip under these constants. */
static void prepare_rates(const ap_est_context *c, ap_llm_facts *f)
{
    const ap_case *job = &c->job;
    const ap_chip *chip = job->chip;
    const double *k = c->consts;
    double peak32 = first_known(ap_chip_peak(chip, AP_PREC_FP32), fmax(first_known(chip->peak.bf16, chip->peak.fp16, 0) / 4, 0), 0);
    double half = fmax(fmax(first_known(chip->peak.bf16, 0, 0), first_known(chip->peak.fp16, 0, 0)), peak32);
    double ceiling = first_known(chip->matmul_ceiling_16, k[LLM_ceiling_16], 0);
    double ceiling8 = first_known(chip->matmul_ceiling_8, k[LLM_ceiling_8], 0);
    double e = k[LLM_gemm_16] * ceiling, e16 = e;
    f->peak16 = f->peak = half;
    f->element = 2;
    switch ((int)f->path) {
    case LLM_PATH_8:
        f->peak = job->precision == AP_PREC_INT8 ? chip->peak.int8 / 2 : chip->peak.fp8;
        e = k[LLM_gemm_8] * ceiling8;
        break;
    case LLM_PATH_4:
        f->peak = chip->peak.fp4;
        e = k[LLM_gemm_4] * ceiling8;
        break;
    case LLM_PATH_TF32:
        f->peak = f->peak16 = chip->peak.tf32;
        e = e16 = k[LLM_gemm_tf32];
        f->element = 4;
        break;
    case LLM_PATH_32:
        f->peak = f->peak16 = peak32;
        e = e16 = k[LLM_gemm_32];
        f->element = 4;
        break;
    default:
        break;
    }
    double per_watt = half / 1e12 / chip->tdp_w;
    double over = per_watt > k[LLM_power_reference] ? log(per_watt / k[LLM_power_reference]) : 0;
    bool geforce = f->path == LLM_PATH_16 && chip->peak.fp16_acc16 > 1.2 * half; /* half rate with 32-bit sums */
    bool timeless = f->family == LLM_FAM_MCORE || f->family == LLM_FAM_HABANA || f->family == LLM_FAM_XLA;
    double young = !timeless && job->date > 0 ? fmin(1, fmax(0, 1 - (job->date - chip->year - 0.5) / 2)) : 0;
    if (!isfinite(young))
        young = 0;
    bool old_flash = job->date < 2023.95 && (f->family == LLM_FAM_FSDP || f->family == LLM_FAM_HF);
    double shared = exp(-k[LLM_power_exponent] * over + k[LLM_geforce] * geforce - k[LLM_immature] * young);
    f->bandwidth = chip->memory.bandwidth * k[LLM_hbm_share];
    f->gemm_rate = f->peak * e * shared;
    f->gemm_rate16 = f->peak16 * e16 * shared;
    f->flash_rate = f->peak16 * k[LLM_flash_rule] * k[LLM_flash] * shared * exp(-k[LLM_old_flash] * old_flash);
    double per_byte = f->element / 2 / chip->memory.bandwidth;
    f->half = k[LLM_gemm_half] * f->peak * per_byte / 3;
    f->half16 = k[LLM_gemm_half] * f->peak16 * per_byte / 3;
    f->score_rate = f->gemm_rate16 * k[LLM_score_gemm];
}

/* M-30: one direction per chip inside the fast domain, and to the network. */
static void prepare_links(const ap_est_context *c, ap_llm_facts *f)
{
    const ap_case *job = &c->job;
    const ap_chip *chip = job->chip;
    const double *k = c->consts;
    const char *kind = chip->link.kind ? chip->link.kind : "";
    double pcie = (chip->bus.pcie_gen >= 5   ? 64e9
                   : chip->bus.pcie_gen >= 4 ? 32e9
                                             : 16e9) *
                  (chip->bus.lanes > 0 ? chip->bus.lanes / 16 : 1);
    bool fast =
        chip->link.bandwidth > 0 && !strstr(kind, "ridge") && kind[0] && !starts(kind, "PCIe") && !starts(kind, "pcie");
    const char *text = job->interconnect ? job->interconnect : "";
    bool board = (strstr(text, "PCIe") || strstr(text, "pcie")) && !strstr(text, "NVL") && !strstr(text, "nvl");
    if (board)
        fast = false;
    f->link = fast ? chip->link.bandwidth / 2 : pcie;
    if (isfinite(job->intra_bytes_per_s) && job->intra_bytes_per_s > 0)
        f->link = job->intra_bytes_per_s;
    f->link *= !fast ? k[LLM_pcie_share] : f->is_tpu > 0 ? k[LLM_ici_share] : k[LLM_link_share];
    double nic = job->nic_bytes_per_s > 0 ? job->nic_bytes_per_s / f->per_node : ap_nic_from_text(text, f->per_node);
    if (!(nic > 0))
        nic = fast ? k[LLM_nic_default] : fmin(k[LLM_nic_default], 12.5e9);
    f->nic = nic * k[LLM_nic_share];
    if (strstr(text, "TCPX") || strstr(text, "tcpx") || is(job->fabric, "gpudirect-tcpx"))
        f->nic *= k[LLM_slow_fabric];
}

/* M-14: adapters. Trained parameters of rank r on `count` matrices of a layer. */
static void prepare_adapters(const ap_case *job, ap_llm_facts *f)
{
    f->lora = adapts(job);
    f->trained = 1;
    if (!(f->lora > 0))
        return;
    double rank = job->lora_rank > 0 ? job->lora_rank : 16;
    f->lora_count = job->lora_target_count > 0 ? job->lora_target_count : 7;
    double h = f->s.hidden, kv = f->s.kv_heads * f->s.v_dim, q = f->s.heads * f->s.v_dim,
           w = f->s.experts > 0 ? f->s.expert_ffn : f->s.ffn;
    double all = (h + q) + 2 * (h + kv) + (q + h) + 3 * (h + w), qv = (h + q) + (h + kv);
    f->lora_params =
        rank * f->s.layers * (f->lora_count <= 2 ? qv * f->lora_count / 2 : qv + (all - qv) * (f->lora_count - 2) / 5);
    f->trained = f->lora_params / f->s.params;
}

void ap_llm_prepare(ap_est_context *c)
{
    ap_llm_facts *f = (ap_llm_facts *)(void *)c->work;
    const ap_case *job = &c->job;
    memset(f, 0, sizeof *f);
    _Static_assert(sizeof(ap_llm_facts) <= sizeof c->work, "facts must fit the context");
    if (ap_llm_shape_of(job->model, job->arch, &f->s) != NULL)
        f->s.layers = AP_UNKNOWN;
    f->family = ap_llm_family_of(job);
    f->path = path_of(job);
    f->quantised =
        job->base_precision == AP_PREC_NF4 || job->base_precision == AP_PREC_INT4 || job->base_precision == AP_PREC_FP4
            ? 1
        : job->base_precision == AP_PREC_INT8 ? 2
                                              : 0;
    prepare_adapters(job, f);
    f->reference = job->method == AP_METHOD_DPO;
    f->splits_batch = is(job->stack, "torchtitan");
    f->encoder = is_encoder(job);
    f->pretrain = job->method == AP_METHOD_PRETRAIN;
    f->finetune = f->pretrain == 0 && job->method != AP_METHOD_TRAIN;
    f->flash = job->flash > 0;
    f->compile = job->compile > 0;
    f->offload = job->offload;
    f->optimizer = job->optimizer >= 0 ? job->optimizer : AP_OPT_ADAMW;
    f->benchmark = f->family == LLM_FAM_DLE;
    f->seq_full = job->seq_len;
    bool unpadded = f->encoder > 0 && f->pretrain > 0 && job->seq_len == 512 && job->packing != 0;
    f->seq = job->seq_len * (unpadded && starts(job->model->id, "bert") ? c->consts[LLM_unpadded] : 1);
    f->keys = ap_llm_mean_keys(&f->s, f->seq);
    f->global_batch = job->global_batch > 0 ? job->global_batch : (double)NAN;
    f->head_share =
        f->encoder > 0 ? (f->pretrain > 0 || job->method == AP_METHOD_TRAIN ? 0.16 : 0) : 1; /* masked positions */
    f->chips = job->chips;
    f->per_node = job->chips_per_node;
    f->domain = job->domain_chips;
    f->is_tpu = starts(job->chip->generation, "tpu");
    f->memory = first_known(job->chip->memory.usable, job->chip->memory.size,
                            isfinite(job->host_memory_bytes) ? job->host_memory_bytes : 256e9);
    prepare_rates(c, f);
    prepare_links(c, f);
    f->pure_16 = c->consts[LLM_pure_16] > 0.5 && !(f->lora > 0) &&
                 (job->precision == AP_PREC_BF16 || job->precision == AP_PREC_INT8);
    /* M-54: FSDP stacks of 2025 learned to keep less; unknown date = today. */
    double since = isfinite(job->date) ? fmin(0.75, fmax(0, job->date - 2025)) : 0.75;
    f->lean = f->family == LLM_FAM_FSDP ? exp(-c->consts[LLM_mem_progress] * since) : 1;
    f->kernel = c->consts[LLM_kernel_fixed];
    f->fuses_scores = f->family == LLM_FAM_MEG21 && !(f->flash > 0);
    bool expert_code = f->s.experts > 0 && f->family == LLM_FAM_MCORE;
    double age = expert_code && job->date > 0 ? fmax(-0.5, job->date - 2026) : 0;
    f->progress = exp(-c->consts[LLM_moe_progress] * age);
    double moe = f->s.experts > 0 ? c->consts[LLM_host_moe] * exp(-c->consts[LLM_moe_decay] * age) : 0;
    f->host = c->consts[LLM_host_layer] * c->consts[LLM_host_rule] * (1 + 0.6 * f->lora) + moe;
}
