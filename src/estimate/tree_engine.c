/* Gradient-boosted trees and classic machine learning on tables, on CPUs and GPUs (M-80 … M-84).
 *
 * A step is one boosting iteration (one tree, one pass of a classic method). An iteration builds histograms (rows x
 * features x levels), partitions rows, finds splits node by node, and synchronises threads. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/engine.h"
#include "estimate/trace.h"

#define NEWEST_YEAR 2024.0 /* of the measured releases */

#define TREE_CONSTS(X)                                                                                                 \
    X(rate)                                                                                                            \
    X(rate_size)                                                                                                       \
    X(rate_year)                                                                                                       \
    X(chip_year) X(saturation) X(gpu_speed) X(gpu_power) X(gpu_scaling) X(row_rate) X(overhead) X(overhead_year)       \
        X(overhead_chip) X(overhead_device) X(split_features) X(node_power) X(sync) X(sync_power) X(startup)           \
            X(usual_trees) X(classes) X(time) X(mem_base) X(mem_copies) X(work) X(row_power) X(feature_power)          \
                X(passes) X(data_startup) X(second_thread) X(wide_features) X(iteration) X(clock_power)                \
                    X(thread_power)
#define AP_TREE_ENUM(id) TREE_##id,
enum { TREE_CONSTS(AP_TREE_ENUM) TREE_CONST_COUNT };
static const char *const ids[] = {TREE_CONSTS(AP_CONST_ID) NULL};

enum {
    TREE_W_ROWS,
    TREE_W_FEATURES,
    TREE_W_LEVELS,
    TREE_W_NODES,
    TREE_W_TREES,
    TREE_W_THREADS,
    TREE_W_THREADS_FREE, /* those of a machine, not of a run: as many as help are used */
    TREE_W_CORES,
    TREE_W_CLOCK, /* base clock over 2.5 GHz */
    TREE_W_GPU,
    TREE_W_BW,
    TREE_W_CHIPS,
    TREE_W_YEAR,
    TREE_W_CHIP_YEAR,
    TREE_W_CLASSIC,
    TREE_W_CAPACITY,
    TREE_W_TREES_UNKNOWN,
    TREE_W_HIST_S,
    TREE_W_ROW_S,
    TREE_W_SPLIT_S,
    TREE_W_SYNC_S
};

/* What is no boosting over histograms: classic methods, and the forests and exact boosting that M-84 has an entry for. */
static bool is_classic(const ap_est_context *context)
{
    const ap_case *job = &context->job;
    if (!ap_streq(job->arch, "gbdt"))
        return true;
    const ap_calib_engine *engine = ap_calibration_engine(context->calibration, "tree");
    return engine && ap_calib_has_key(engine, "algorithm", job->model->id);
}

/* Assumed, and named, when the case does not say. */
static double or_assume(ap_est_context *context, const char *name, double value, double fallback)
{
    if (ap_known(value) && value > 0.0)
        return value;
    ap_est_assume(context, name, fallback);
    return fallback;
}

static void complete_data(ap_est_context *context)
{
    ap_case *job = &context->job;
    double *work = context->work;
    const ap_dataset *data = job->dataset_info;
    double rows = ap_or(job->rows, data ? ap_or(data->rows, data->samples) : AP_UNKNOWN);
    work[TREE_W_ROWS] = or_assume(context, "rows", rows, 1e6);
    work[TREE_W_FEATURES] =
        or_assume(context, "features", ap_or(job->features, data ? data->features : AP_UNKNOWN), 30.0);
    double leaves = ap_or(job->leaves, ap_known(job->depth) ? AP_UNKNOWN : job->model->leaves);
    double depth = ap_or(job->depth, ap_known(leaves) ? fmax(2.0, log2(leaves)) : job->model->depth);
    if (!ap_known(depth) && !is_classic(context))
        ap_est_assume(context, "depth", 8.0);
    work[TREE_W_LEVELS] = fmax(1.0, ap_or(depth, 8.0));
    work[TREE_W_NODES] = pow(2.0, fmin(work[TREE_W_LEVELS], 12.0));
}

static void complete(ap_est_context *context)
{
    ap_case *job = &context->job;
    double *work = context->work;
    const ap_chip *chip = job->chip;
    bool gpu = chip->kind != AP_CHIP_CPU;
    if (!ap_known(job->chips))
        job->chips = 1.0;
    if (!ap_known(job->chips_per_node))
        job->chips_per_node = fmax(1.0, fmin(job->chips, 8.0));
    complete_data(context);
    double cores = ap_or(chip->cpu.cores, 24.0), told = job->threads;
    work[TREE_W_THREADS] = gpu ? 1.0 : ap_known(told) ? told : cores * fmax(job->chips, 1.0);
    work[TREE_W_THREADS_FREE] = !gpu && (!ap_known(told) || ap_known(job->host_vcpus)) ? 1.0 : 0.0;
    work[TREE_W_CORES] = cores * fmax(job->chips, 1.0);
    work[TREE_W_CLOCK] = gpu ? 1.0 : ap_or(chip->cpu.base_clock_hz, 2.5e9) / 2.5e9;
    work[TREE_W_GPU] = gpu ? 1.0 : 0.0;
    work[TREE_W_BW] = fmax(ap_or(chip->memory.bandwidth, 100e9) / 1e9, 1.0);
    work[TREE_W_CHIPS] = job->chips > 0.0 ? job->chips : 1.0;
    /* Software of no date, or newer than all that was measured, counts as the newest measured. */
    work[TREE_W_YEAR] = fmin(floor(ap_or(job->date, NEWEST_YEAR)), NEWEST_YEAR) - 2020.0;
    work[TREE_W_CHIP_YEAR] = ap_or(chip->year, 2018.0) - 2018.0;
    work[TREE_W_CLASSIC] = is_classic(context) ? 1.0 : 0.0;
    work[TREE_W_CAPACITY] = gpu ? ap_or(chip->memory.usable, chip->memory.size) : ap_or(job->host_memory_bytes, 256e9);
    if (!ap_known(work[TREE_W_CAPACITY]))
        work[TREE_W_CAPACITY] = 16e9;
    double trees = ap_or(job->trees, ap_or(job->epochs, job->model->trees));
    work[TREE_W_TREES] = trees;
    work[TREE_W_TREES_UNKNOWN] = ap_known(trees) ? 0.0 : 1.0;
    if (is_classic(context))
        context->basis = AP_BASIS_RULE_OF_THUMB;
}

static const char *library_of(const ap_case *job)
{
    return job->model->library ? job->model->library : job->model->id;
}

/* "airline-10m" and "airline-1m" are one table at two sizes. */
static size_t base_length(const char *dataset)
{
    size_t len = strlen(dataset), end = len;
    if (end && (dataset[end - 1] == 'm' || dataset[end - 1] == 'k'))
        end--;
    size_t digits = end;
    while (digits && dataset[digits - 1] >= '0' && dataset[digits - 1] <= '9')
        digits--;
    if (digits == end || !digits)
        return len;
    return dataset[digits - 1] == '-' || dataset[digits - 1] == '_' ? digits - 1 : digits;
}

static void keys(const ap_est_context *context, ap_engine_keys *ret)
{
    const ap_case *job = &context->job;
    const char *library = library_of(job), *hardware = context->work[TREE_W_GPU] > 0.0 ? "gpu" : "cpu";
    const char *dataset = job->dataset ? job->dataset : "";
    int base = (int)base_length(dataset);
    ap_keys_add(ret, "hardware", hardware);
    ap_keys_add(ret, "library", library);
    ap_keys_addf(ret, "library_hardware", "%s|%s", library, hardware);
    /* Libraries rewrote their histogram code around 2020: what came before is another program. */
    ap_keys_addf(ret, "era", "%s|%s|%s", library, hardware, context->work[TREE_W_YEAR] < 0.0 ? "old" : "new");
    ap_keys_addf(ret, "release", "%s|%s|%.0f", library, hardware, 2020.0 + context->work[TREE_W_YEAR]);
    ap_keys_add(ret, "shape", ap_streq(library, "catboost") ? "symmetric" : "grown");
    ap_keys_add(ret, "chip", job->chip->id);
    ap_keys_addf(ret, "library_chip", "%s|%s", job->model->id, job->chip->id);
    ap_keys_add(ret, "generation", job->chip->generation);
    ap_keys_add(ret, "stack", job->stack);
    ap_keys_add(ret, "model", job->model->id);
    ap_keys_add(ret, "family", job->model->family);
    if (base > 0) {
        ap_keys_addf(ret, "dataset", "%.*s", base, dataset);
        ap_keys_addf(ret, "library_dataset", "%s|%s|%.*s", library, hardware, base, dataset);
    }
    if (*dataset) {
        /* A named table, at its size, is to trees what a model is to networks. */
        ap_keys_addf(ret, "table", "%s|%s|%s", job->model->id, hardware, dataset);
        ap_keys_addf(ret, "table_chip", "%s|%s|%s", job->model->id, job->chip->id, dataset);
    }
    if (context->work[TREE_W_CLASSIC] > 0.0)
        ap_keys_add(ret, "algorithm", job->model->id);
}

/* M-84: classic methods: work grows with a power of rows and of features, at the rate of one pass over memory. */
static void prepare_classic(ap_est_context *context)
{
    const double *k = context->consts;
    double *work = context->work;
    double operations =
        k[TREE_work] * pow(work[TREE_W_ROWS], k[TREE_row_power]) * pow(work[TREE_W_FEATURES], k[TREE_feature_power]);
    double threads = work[TREE_W_THREADS];
    double per_s =
        work[TREE_W_GPU] > 0.0 ? 1e8 * work[TREE_W_BW] : 5e8 * threads / (1.0 + threads / k[TREE_saturation]);
    work[TREE_W_HIST_S] = operations / per_s;
    work[TREE_W_ROW_S] = 0.0;
    work[TREE_W_SPLIT_S] = 1e-3;
    work[TREE_W_SYNC_S] = 0.0;
    if (work[TREE_W_TREES_UNKNOWN] > 0.0)
        work[TREE_W_TREES] = k[TREE_passes];
}

/* M-80 … M-83 with so many threads; returns the seconds of a step. */
static double set_terms(ap_est_context *context, double threads)
{
    const double *k = context->consts;
    double *work = context->work;
    bool gpu = work[TREE_W_GPU] > 0.0;
    double rows = work[TREE_W_ROWS], features = work[TREE_W_FEATURES], levels = work[TREE_W_LEVELS];
    double cells = rows * features;
    /* M-81: threads share memory bandwidth, so their speed-up saturates; a GPU goes with its bandwidth. */
    double busy = ap_est_busy_cores(threads, work[TREE_W_CORES], k[TREE_second_thread]);
    double speed_up = pow(busy, k[TREE_thread_power]) / (1.0 + busy / k[TREE_saturation]);
    double core = exp(k[TREE_chip_year] * work[TREE_W_CHIP_YEAR]) * pow(work[TREE_W_CLOCK], k[TREE_clock_power]);
    double device = gpu ? k[TREE_gpu_speed] * pow(work[TREE_W_BW] / 600.0, k[TREE_gpu_power]) : speed_up * core;
    if (gpu) /* a share of a GPU has that share of its speed */
        device *= work[TREE_W_CHIPS] < 1.0 ? work[TREE_W_CHIPS] : pow(work[TREE_W_CHIPS], k[TREE_gpu_scaling]);
    double rate =
        k[TREE_rate] * device * exp(k[TREE_rate_year] * work[TREE_W_YEAR]) * pow(cells / 8e7, k[TREE_rate_size]);
    double per_class = k[TREE_classes] * k[TREE_time];
    /* Histograms of many features at once leave the cache. */
    double wide = 1.0 + features / k[TREE_wide_features];
    work[TREE_W_HIST_S] = 0.5 * cells * levels / rate * wide * per_class;
    work[TREE_W_ROW_S] = rows * levels / (k[TREE_row_rate] * device) * per_class;
    double nodes = pow(work[TREE_W_NODES] / 256.0, fmin(fmax(k[TREE_node_power], 0.1), 1.5));
    double age = k[TREE_overhead_year] * work[TREE_W_YEAR] + k[TREE_overhead_chip] * work[TREE_W_CHIP_YEAR];
    double slow = exp(-age) * (gpu ? pow(work[TREE_W_BW] / 600.0, -k[TREE_overhead_device]) : 1.0);
    double splits = k[TREE_overhead] * nodes * (1.0 + features / k[TREE_split_features]) * per_class;
    work[TREE_W_SPLIT_S] = slow * (splits + k[TREE_iteration]);
    work[TREE_W_SYNC_S] = gpu ? 0.0 : k[TREE_sync] * pow(threads, k[TREE_sync_power]) * nodes * per_class;
    return work[TREE_W_HIST_S] + work[TREE_W_ROW_S] + work[TREE_W_SPLIT_S] + work[TREE_W_SYNC_S];
}

static void prepare(ap_est_context *context)
{
    const double *k = context->consts;
    double *work = context->work;
    if (work[TREE_W_TREES_UNKNOWN] > 0.0)
        work[TREE_W_TREES] = k[TREE_usual_trees];
    if (work[TREE_W_CLASSIC] > 0.0) {
        prepare_classic(context);
        return;
    }
    /* Small tables on many cores wait for the threads' meetings: halve while that helps. */
    double threads = work[TREE_W_THREADS];
    double step = set_terms(context, threads);
    while (work[TREE_W_THREADS_FREE] > 0.0 && threads > 1.0) {
        double half = set_terms(context, floor(threads / 2.0));
        if (half >= step)
            break;
        step = half;
        threads = floor(threads / 2.0);
    }
    set_terms(context, threads);
    work[TREE_W_THREADS] = threads;
}

static void run(const ap_est_context *context, const ap_layout *layout, ap_estimate *ret)
{
    const double *k = context->consts, *work = context->work;
    static const struct {
        const char *formula, *name;
        int at, bound;
    } terms[] = {{"M-80", "histograms", TREE_W_HIST_S, AP_BOUND_COMPUTE},
                 {"M-82", "row partition", TREE_W_ROW_S, AP_BOUND_MEMORY},
                 {"M-83", "split search and launches", TREE_W_SPLIT_S, AP_BOUND_HOST},
                 {"M-83", "thread synchronisation", TREE_W_SYNC_S, AP_BOUND_HOST}};
    ret->layout = *layout;
    ret->layout.dp = ap_or(layout->dp, fmax(work[TREE_W_CHIPS], 1.0));
    ret->layout.tp = ret->layout.pp = ret->layout.vpp = ret->layout.cp = ret->layout.ep = 1.0;
    ret->layout.micro_batch = work[TREE_W_ROWS];
    ret->layout.accum = 1.0;
    if (ret->layout.sharding < 0)
        ret->layout.sharding = AP_SHARD_NONE;
    if (ret->layout.recompute < 0)
        ret->layout.recompute = AP_RECOMPUTE_NONE;
    double step = 0.0, most = 0.0;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        double seconds = work[terms[i].at];
        step += seconds;
        if (seconds > 0.0)
            ap_est_term(ret, terms[i].formula, terms[i].name, seconds);
        if (seconds > most) {
            most = seconds;
            ret->bottleneck = terms[i].bound;
        }
    }
    ret->step_s = step;
    ret->samples_per_step = work[TREE_W_ROWS];
    ret->flop_per_step = work[TREE_W_ROWS] * work[TREE_W_FEATURES] * work[TREE_W_LEVELS];
    ret->mfu = AP_UNKNOWN;
    if (work[TREE_W_THREADS_FREE] > 0.0)
        ap_run_assume(ret, "threads", work[TREE_W_THREADS]);
    double raw = work[TREE_W_ROWS] * work[TREE_W_FEATURES] * 4.0;
    double need = k[TREE_mem_base] + k[TREE_mem_copies] * raw;
    bool gpu = work[TREE_W_GPU] > 0.0;
    ret->host_bytes = need;
    /* On a GPU the binned table (a byte a cell), gradients and node ids lie on the chip. */
    ret->peak_bytes = gpu ? 0.6e9 + (raw / 4.0 * 1.3 + work[TREE_W_ROWS] * 24.0) / fmax(work[TREE_W_CHIPS], 1.0) : need;
    ret->capacity_bytes = work[TREE_W_CAPACITY];
    ap_est_memory(ret, "M-85", "program and bins", gpu ? 0.6e9 : k[TREE_mem_base]);
    ap_est_memory(ret, "M-85", "table", ret->peak_bytes - (gpu ? 0.6e9 : k[TREE_mem_base]));
    ret->verdict = ret->peak_bytes > ret->capacity_bytes          ? AP_DOES_NOT_FIT
                   : ret->peak_bytes > 0.92 * ret->capacity_bytes ? AP_TIGHT
                                                                  : AP_FITS;
}

static void whole_run(const ap_est_context *context, const ap_estimate *step, ap_run_estimate *ret)
{
    const double *k = context->consts, *work = context->work;
    ret->steps = work[TREE_W_TREES];
    ret->samples = ret->steps * step->samples_per_step;
    ret->overhead_s = k[TREE_startup] + k[TREE_data_startup] * work[TREE_W_ROWS] * work[TREE_W_FEATURES];
    ret->hours_p50 = (ret->steps * step->step_s + ret->overhead_s) / 3600.0;
}

static double predict(const ap_est_context *context, const ap_estimate *estimate, ap_metric metric, const char *unit)
{
    (void)context;
    (void)unit;
    return metric == AP_METRIC_PEAK_MEM_GIB ? estimate->host_bytes / 1073741824.0 : AP_UNKNOWN;
}

static void cells(const ap_est_context *context, ap_quantity quantity, bool layout_known, ap_engine_cells *ret)
{
    (void)layout_known;
    if (quantity == AP_Q_MEMORY)
        return;
    int library = ap_est_seen(context, "library_hardware"), chip = ap_est_seen(context, "chip");
    int data = ap_est_seen(context, "dataset");
    ap_cells_addf(ret, "l%d|c%d|d%d", library, chip, data);
    ap_cells_addf(ret, "l%d|c%d", library, chip);
    ap_cells_addf(ret, "l%d", library);
}

static void trace(const ap_est_context *context, const ap_estimate *est, ap_est_trace *ret)
{
    const double *k = context->consts, *w = context->work;
    bool gpu = w[TREE_W_GPU] > 0.0, classic = w[TREE_W_CLASSIC] > 0.0;
    double rows = w[TREE_W_ROWS], features = w[TREE_W_FEATURES], levels = w[TREE_W_LEVELS];
    ret->part = AP_TRACE_WORK;
    AP_SAY(ret, classic ? "M-84" : "M-80", "cells of a pass", rows * features, "", "%g rows x %g features", rows, features);
    AP_SAY(ret, classic ? "M-84" : "M-80", "iterations of a run", w[TREE_W_TREES], "", "%s", w[TREE_W_TREES_UNKNOWN] > 0.0 ? "usual number" : "as said, or the model's");
    ret->part = AP_TRACE_TIME;
    if (gpu)
        AP_SAY(ret, "M-81", "device", AP_UNKNOWN, "", "%g GB/s, gpu_speed %.4g x (GB/s / 600)^%.3g, %g chips", w[TREE_W_BW], k[TREE_gpu_speed], k[TREE_gpu_power], w[TREE_W_CHIPS]);
    else
        AP_SAY(ret, "M-81", "threads at work", w[TREE_W_THREADS], "", "%g cores, second_thread %.3g, saturation %.4g, clock %.3g of 2.5 GHz", w[TREE_W_CORES],
            k[TREE_second_thread], k[TREE_saturation], w[TREE_W_CLOCK]);
    if (classic)
        AP_SAY(ret, "M-84", "operations", k[TREE_work] * pow(rows, k[TREE_row_power]) * pow(features, k[TREE_feature_power]), "", "work %.4g x rows^%.3g x features^%.3g",
            k[TREE_work], k[TREE_row_power], k[TREE_feature_power]);
    AP_SAY(ret, classic ? "M-84" : "M-80", "histograms", w[TREE_W_HIST_S], "s", "0.5 x %.5g cells x %g levels x (1 + features / %.4g) / (rate %.4g x device)", rows * features,
        levels, k[TREE_wide_features], k[TREE_rate]);
    AP_SAY(ret, "M-82", "row partition", w[TREE_W_ROW_S], "s", "%g rows x %g levels / (row_rate %.4g x device)", rows, levels, k[TREE_row_rate]);
    AP_SAY(ret, "M-83", "split search and launches", w[TREE_W_SPLIT_S], "s", "overhead %.4g s x (%g nodes / 256)^%.3g x (1 + features / %.4g) + iteration %.4g s", k[TREE_overhead],
        w[TREE_W_NODES], k[TREE_node_power], k[TREE_split_features], k[TREE_iteration]);
    if (!gpu)
        AP_SAY(ret, "M-83", "thread synchronisation", w[TREE_W_SYNC_S], "s", "sync %.4g s x %g threads^%.3g x nodes", k[TREE_sync], w[TREE_W_THREADS], k[TREE_sync_power]);
    AP_SAY(ret, "M-80", "the step (an iteration)", est->step_s, "s", "sum of the terms");
    ret->part = AP_TRACE_MEMORY;
    AP_SAY(ret, "M-85", "peak", est->peak_bytes, "B", "program %.4g B and the table of %.5g cells; %.4g of %.5g B there", gpu ? 0.6e9 : k[TREE_mem_base], rows * features,
        est->peak_bytes / est->capacity_bytes, est->capacity_bytes);
    ret->part = AP_TRACE_RUN;
    AP_SAY(ret, "M-90", "reading the table and start", k[TREE_startup] + k[TREE_data_startup] * rows * features, "s", "startup %.4g s + data_startup %.4g s x %.5g cells",
        k[TREE_startup], k[TREE_data_startup], rows * features);
}

const ap_engine_ops ap_tree_ops = {
    .name = "tree",
    .ids = ids,
    .complete = complete,
    .keys = keys,
    .prepare = prepare,
    .run = run,
    .whole_run = whole_run,
    .cells = cells,
    .predict = predict,
    .trace = trace,
};
