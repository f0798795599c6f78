/* Time of one step (M-62 … M-71) and the engine's table. */
#include <math.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/dl_internal.h"

static const char *const ids[] = {DL_CONSTS(AP_CONST_ID) NULL};

static double state_bytes(const ap_case *job)
{
    switch (job->optimizer) {
    case AP_OPT_NONE:
    case AP_OPT_SGD:
        return 0.0;
    case AP_OPT_ADAMW_8BIT:
    case AP_OPT_GALORE:
        return 2.0;
    case AP_OPT_ADAMW:
    case AP_OPT_LAMB:
        return 8.0;
    default:
        return 4.0;
    }
}

void ap_dl_complete(ap_est_context *context)
{
    ap_case *job = &context->job;
    ap_dl_complete_machine(context);
    if (!job->input)
        job->input = job->model->input;
    if (job->optimizer < 0) {
        bool image = ap_streq(job->domain, "vision") || ap_streq(job->domain, "detection") ||
                     ap_streq(job->domain, "segmentation");
        job->optimizer = image ? AP_OPT_SGD_MOMENTUM : AP_OPT_ADAMW;
        ap_est_assume(context, "optimizer", (double)job->optimizer);
    }
    context->work[DL_W_OPT_BYTES] = state_bytes(job);
    context->work[DL_W_KNOWN] = (double)ap_dl_known(context);
    if (context->work[DL_W_KNOWN] < 1.0) {
        context->basis = AP_BASIS_RULE_OF_THUMB;
        ap_est_assume(context, "fwd_mac", AP_UNKNOWN);
    }
    if (!ap_known(job->global_batch))
        ap_est_assume(context, "global_batch", AP_UNKNOWN);
}

/* M-66, M-67: ring all-reduce of the gradients in a domain and over domains. */
static void prepare_network(ap_est_context *context, double grad_bytes)
{
    const double *k = context->consts;
    double *work = context->work;
    double in = work[DL_W_IN], out = work[DL_W_OUT], chips = work[DL_W_CHIPS];
    work[DL_W_REDUCE_IN_S] =
        2.0 * (in - 1.0) / in * grad_bytes / (work[DL_W_LINK] * k[DL_link]) + k[DL_link_latency] * log2(in);
    work[DL_W_REDUCE_OUT_S] =
        2.0 * (out - 1.0) / out * grad_bytes / (work[DL_W_NIC] * k[DL_nic] * in) + k[DL_nic_latency] * log2(out);
    work[DL_W_EXCHANGE_S] = 0.0;
    if (ap_streq(context->job.arch, "dlrm")) { /* M-68: rows of the tables, there and back */
        double bytes = k[DL_exchange];
        work[DL_W_EXCHANGE_S] = bytes * (in - 1.0) / chips / (work[DL_W_EXCHANGE_LINK] * k[DL_exchange_link]) +
                                bytes * (chips - in) / chips / (work[DL_W_NIC] * k[DL_exchange_nic]);
    }
    work[DL_W_STRAGGLER] = exp(k[DL_straggler_in] * log2(in) + k[DL_straggler_out] * log2(out));
    work[DL_W_EXPOSED] = k[DL_exposed];
}

/* M-78: decoding goes with the bytes of a picture; a usual photograph has 115 kB. Where nobody says how many a picture has,
 * what is fed in tells: 28 x 28 pixels were never a photograph. A hundredth of one's time goes into any sample. */
static double picture_share(const ap_case *job)
{
    static const double photo_bytes = 115e3, photo_pixels = 224.0 * 224.0, least = 0.01, most = 20.0;
    static const char *const domains[] = {"vision", "detection", "diffusion"};
    bool picture = false;
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        picture = picture || ap_streq(job->domain, domains[i]);
    if (!picture)
        return 1.0;
    double stored = ap_or(job->sample_bytes, job->dataset_info ? job->dataset_info->bytes_per_sample : AP_UNKNOWN);
    if (stored > 0.0)
        return fmin(fmax(stored / photo_bytes, least), most);
    double pixels = ap_dl_pixels(job->input ? job->input : job->model->input);
    pixels = ap_or(job->dataset_info ? ap_dl_pixels(job->dataset_info->mean_size) : AP_UNKNOWN, pixels);
    return ap_known(pixels) ? fmin(fmax(pixels / photo_pixels, least), 1.0) : 1.0;
}

void ap_dl_prepare(ap_est_context *context)
{
    const double *k = context->consts;
    double *work = context->work;
    ap_dl_prepare_model(context);
    double bytes = work[DL_W_BYTES], units = work[DL_W_UNITS];
    double flop_per_s = work[DL_W_PEAK] * k[DL_efficiency] *
                        exp(-k[DL_power_exponent] * work[DL_W_WATTS] - k[DL_peak_exponent] * work[DL_W_SPEED]);
    double bytes_per_s = work[DL_W_BW] * k[DL_memory_bandwidth] * pow(work[DL_W_BW] / 1e12, -k[DL_bandwidth_exponent]);
    work[DL_W_COMPUTE_S] = 6.0 * work[DL_W_MAC] * units / flop_per_s;
    work[DL_W_MEMORY_S] = k[DL_passes] * bytes * work[DL_W_ACTS] * units / bytes_per_s;
    work[DL_W_LAUNCH_S] = work[DL_W_LAUNCH] * k[DL_launch] *
                          exp(-k[DL_launch_year] * work[DL_W_CHIP_AGE] + k[DL_launch_crowd] * log2(work[DL_W_IN]));
    work[DL_W_OPTIMIZER_S] = k[DL_optimizer_bytes] * work[DL_W_PARAMS] / bytes_per_s;
    prepare_network(context, work[DL_W_PARAMS] * bytes);
    work[DL_W_FACTOR] = k[DL_time] * exp(-k[DL_ageing] * work[DL_W_AGE]);
    /* M-72: the batch that fills a card: what is left beside weights, states and context, over what an entry keeps. */
    double per_param = 8.0 + work[DL_W_OPT_BYTES] + (bytes < 3.0 ? 2.0 : 0.0);
    double left =
        fmax(work[DL_W_CAPACITY] - k[DL_fill_reserve] - per_param * work[DL_W_PARAMS], 0.05 * work[DL_W_CAPACITY]);
    work[DL_W_FILL] = k[DL_fill] * left / (work[DL_W_ACTS] / k[DL_acts] * units * 2.5 * bytes);
    work[DL_W_CORE_S] = k[DL_input_core] * k[DL_input_format] * picture_share(&context->job);
}

/* Micro-batch and accumulation: as told, else the global batch over the chips, else what fills the memory (at most what
 * the domain's recipes use). */
static double usual_batch(const ap_case *job)
{
    static const struct {
        const char *domain;
        double batch;
    } usual[] = {{"vision", 64.0}, {"recsys", 65536.0}, {"gnn", 1024.0}, {"classic", 512.0}};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (ap_streq(job->domain, usual[i].domain))
            return usual[i].batch;
    return 16.0;
}

static void complete_layout(const ap_est_context *context, const ap_layout *given, ap_estimate *ret)
{
    const ap_case *job = &context->job;
    ap_layout *layout = &ret->layout;
    double chips = context->work[DL_W_CHIPS];
    *layout = *given;
    layout->dp = ap_or(layout->dp, chips);
    layout->tp = layout->pp = layout->vpp = layout->cp = layout->ep = 1.0;
    if (layout->sharding < 0)
        layout->sharding = chips > 1.0 ? AP_SHARD_DDP : AP_SHARD_NONE;
    if (layout->recompute < 0)
        layout->recompute = AP_RECOMPUTE_NONE;
    /* Matrix factorisation is trained with batches of a hundred thousand and more; tables print them in thousands. */
    double printed =
        ap_streq(job->model->family, "ncf") && ap_or(layout->micro_batch, job->global_batch / layout->dp) < 5000.0
            ? 1000.0
            : 1.0;
    layout->micro_batch *= printed;
    double per_rank = job->global_batch * printed / layout->dp;
    if (!ap_known(layout->micro_batch)) {
        double accum = fmax(ap_or(layout->accum, 1.0), 1.0), fill = context->work[DL_W_FILL];
        layout->micro_batch = ap_known(per_rank)                     ? per_rank / accum
                              : ap_streq(ap_dl_suite(job), "lambda") ? fmin(fmax(fill, 1.0), 1e7)
                                                                     : fmin(fmax(fill, 1.0), usual_batch(job));
        if (!ap_known(per_rank))
            ap_run_assume(ret, "micro_batch", layout->micro_batch);
    }
    if (!ap_known(layout->accum))
        layout->accum = per_rank > 1.5 * layout->micro_batch ? per_rank / layout->micro_batch : 1.0;
}

static void name_terms(const ap_est_context *context, ap_estimate *ret, const double *seconds)
{
    static const struct {
        const char *formula, *name;
        int bound;
    } terms[] = {{"M-62", "convolutions and matrix products", AP_BOUND_COMPUTE},
                 {"M-63", "activation traffic", AP_BOUND_MEMORY},
                 {"M-64", "kernel launches and host", AP_BOUND_HOST},
                 {"M-65", "optimizer", AP_BOUND_MEMORY},
                 {"M-66", "gradient all-reduce, exposed", AP_BOUND_NETWORK},
                 {"M-68", "embedding exchange", AP_BOUND_NETWORK},
                 {"M-78", "input pipeline", AP_BOUND_INPUT}};
    double factor = context->work[DL_W_FACTOR], most = 0.0;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        if (!(seconds[i] > 0.0))
            continue;
        double scaled = i < 6 ? seconds[i] * factor : seconds[i];
        ap_est_term(ret, terms[i].formula, terms[i].name, scaled);
        if (scaled > most) {
            most = scaled;
            ret->bottleneck = terms[i].bound;
        }
    }
}

/* M-78: loading a step's samples on the cores of the hosts; known only where the machine's cores are. */
static double input_seconds(const ap_est_context *context, ap_estimate *ret, double step_s)
{
    const ap_case *job = &context->job;
    double core_s = context->work[DL_W_CORE_S];
    double nodes = fmax(1.0, job->chips / fmax(job->chips_per_node, 1.0));
    if (!(core_s > 0.0) || ap_streq(job->dataset, "synthetic"))
        return 0.0;
    double core_seconds = ret->samples_per_step * core_s / nodes;
    ret->input_cores_needed = core_seconds / step_s;
    return ap_known(job->host_vcpus) && job->host_vcpus > 0.0 ? core_seconds / job->host_vcpus : 0.0;
}

void ap_dl_run(const ap_est_context *context, const ap_layout *layout, ap_estimate *ret)
{
    const double *k = context->consts, *work = context->work;
    complete_layout(context, layout, ret);
    double batch = ret->layout.micro_batch, accum = ret->layout.accum, dp = ret->layout.dp;
    double compute = work[DL_W_COMPUTE_S] * batch, memory = work[DL_W_MEMORY_S] * batch;
    if (ret->layout.recompute == AP_RECOMPUTE_FULL) {
        compute *= 4.0 / 3.0;
        memory *= 4.0 / 3.0;
    }
    double p = fmax(k[DL_roofline_norm], 1.0), q = fmax(k[DL_overlap_norm], 0.3);
    double device = compute > memory ? compute * pow(1.0 + pow(memory / compute, p), 1.0 / p)
                                     : memory * pow(1.0 + pow(compute / memory, p), 1.0 / p);
    double launch = work[DL_W_LAUNCH_S];
    double micro = pow(pow(device, q) + pow(launch, q), 1.0 / q);
    double reduce = work[DL_W_REDUCE_IN_S] + work[DL_W_REDUCE_OUT_S];
    if (ret->layout.sharding >= AP_SHARD_ZERO3)
        reduce *= 1.5; /* parameters are gathered twice, gradients scattered once */
    double exposed = reduce * (work[DL_W_EXPOSED] + (1.0 - work[DL_W_EXPOSED]) * reduce / (reduce + micro + 1e-12));
    double exchange = work[DL_W_EXCHANGE_S] * batch;
    double trained =
        (accum * micro * work[DL_W_STRAGGLER] + work[DL_W_OPTIMIZER_S] + exposed + exchange) * work[DL_W_FACTOR];
    ret->samples_per_step = batch * accum * dp;
    bool tokens = ap_streq(context->job.domain, "nlp");
    ret->tokens_per_step = !tokens ? AP_UNKNOWN
                           : ap_dl_is_encoder(&context->job)
                               ? ret->samples_per_step * ap_or(ap_dl_seq(&context->job), 128.0)
                               : ret->samples_per_step * work[DL_W_UNITS];
    double input = input_seconds(context, ret, trained);
    ret->step_s = fmax(trained, input);
    ret->flop_per_step = 6.0 * work[DL_W_MAC] / k[DL_mac] * work[DL_W_UNITS] * ret->samples_per_step;
    ret->mfu = ret->flop_per_step / (ret->step_s * work[DL_W_PEAK] * work[DL_W_CHIPS]);
    double launch_only = fmax(micro - device, 0.0);
    const double seconds[] = {compute >= memory ? accum * device * work[DL_W_STRAGGLER] : 0.0,
                              compute < memory ? accum * device * work[DL_W_STRAGGLER] : 0.0,
                              accum * launch_only * work[DL_W_STRAGGLER],
                              work[DL_W_OPTIMIZER_S],
                              exposed,
                              exchange,
                              fmax(input - trained, 0.0)};
    name_terms(context, ret, seconds);
    if (input > trained)
        ret->bottleneck = AP_BOUND_INPUT;
    ap_dl_run_memory(context, ret);
}

const ap_engine_ops ap_dl_ops = {
    .name = "dl",
    .ids = ids,
    .free_layout = true,
    .complete = ap_dl_complete,
    .keys = ap_dl_keys,
    .prepare = ap_dl_prepare,
    .run = ap_dl_run,
    .whole_run = ap_dl_whole_run,
    .cells = ap_dl_cells,
    .predict = ap_dl_predict,
    .trace = ap_dl_trace,
};
