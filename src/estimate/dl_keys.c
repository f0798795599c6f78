/* By what the constants of the engine vary, and in which interval cell a case lies. No key is a row, a batch or a count
 * of chips. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/dl_internal.h"

static bool is_any(const char *text, const char *const *names)
{
    for (; text && *names; names++)
        if (ap_streq(text, *names))
            return true;
    return false;
}

bool ap_dl_is_mlperf(const ap_case *job)
{
    static const char *const always[] = {"ngc-mlperf", "mlperf-other", "mlperf-tpu", NULL};
    return ap_streq(job->suite, "mlperf") || is_any(job->stack, always);
}

const char *ap_dl_suite(const ap_case *job)
{
    if (ap_dl_is_mlperf(job))
        return "mlperf";
    if (ap_streq(job->suite, "lambda"))
        return "lambda";
    return job->stack && ap_starts_with(job->stack, "dle") ? "dle" : "other";
}

/* Depth-wise and grouped convolutions move many activations for little arithmetic. */
static const char *work_class(const ap_est_context *context)
{
    const ap_model *model = context->job.model;
    double ratio = model->acts / (model->fwd_mac / 1e3);
    if (!ap_known(ratio) || ap_streq(context->job.arch, "vit") || !ap_streq(context->job.domain, "vision"))
        return context->job.arch ? context->job.arch : "other";
    return ratio > 8.0 ? "cnn-sparse" : ratio > 4.0 ? "cnn-grouped" : "cnn-dense";
}

/* NVIDIA's examples train classifiers, and TensorFlow all convolution nets, channels-last under mixed precision and
 * only then (their configs); so do MLPerf's submissions. Compilers of other accelerators choose the layout themselves.
 */
static bool is_channels_last(const ap_est_context *context)
{
    const ap_case *job = &context->job;
    if (job->channels_last >= 0)
        return job->channels_last == 1;
    if (job->framework_note && strstr(job->framework_note, "nhwc"))
        return true;
    bool vision = ap_streq(job->domain, "vision"), mlperf = ap_dl_is_mlperf(job);
    if (!vision && !ap_streq(job->domain, "detection") && !ap_streq(job->domain, "segmentation"))
        return false;
    if (job->chip->kind != AP_CHIP_GPU)
        return job->chip->kind != AP_CHIP_CPU || mlperf;
    bool mixed = (int)context->work[DL_W_PATH] == AP_DL_TC16;
    bool example = ap_streq(ap_dl_suite(job), "dle") && (vision || ap_starts_with(job->stack, "dle-tf"));
    return mixed && (mlperf || example);
}

static const char *chip_generation(const ap_chip *chip)
{
    return chip->generation ? chip->generation : "unknown";
}

static void add_machine(const ap_est_context *context, ap_engine_keys *ret)
{
    const ap_case *job = &context->job;
    const char *path = ap_dl_path_names[(int)context->work[DL_W_PATH]];
    ap_keys_add(ret, "path", path);
    ap_keys_add(ret, "chip", job->chip->id);
    ap_keys_add(ret, "generation", chip_generation(job->chip));
    ap_keys_addf(ret, "chip_path", "%s|%s", job->chip->id, path);
    ap_keys_addf(ret, "generation_path", "%s|%s", chip_generation(job->chip), path);
    static const char *const kinds[] = {"cpu", "gpu", "tpu", "asic"};
    ap_keys_add(ret, "kind", kinds[job->chip->kind]);
    ap_keys_add(ret, "link", ap_dl_link_names[(int)context->work[DL_W_LINK_KIND]]);
}

static void add_model(const ap_est_context *context, ap_engine_keys *ret)
{
    const ap_case *job = &context->job;
    const char *profile = ap_dl_profile(job);
    bool half = context->work[DL_W_BYTES] < 3.0;
    ap_keys_add(ret, "profile", profile);
    ap_keys_add(ret, "default", ap_dl_class(job));
    /* Two levels with one key: the data may move a model more whose work is not known. */
    ap_keys_add(ret, "model", job->model->id);
    ap_keys_add(ret, context->work[DL_W_KNOWN] > 1.5 ? "work" : "work_rough", profile);
    ap_keys_addf(ret, "work_bits", "%s|%s", profile, half ? "16" : "32");
    ap_keys_add(ret, "family", job->model->family);
    const char *class = work_class(context);
    ap_keys_addf(ret, "class", "%s|%s", job->domain, class);
    if (is_channels_last(context)) {
        if (ap_starts_with(class, "cnn") || ap_streq(class, "unet"))
            ap_keys_add(ret, "channels_last", "cnn");
        ap_keys_addf(ret, "layout", "nhwc|%s", class);
        ap_keys_addf(ret, "layout_family", "nhwc|%s", job->model->family ? job->model->family : "other");
    }
    if (!ap_streq(job->domain, "nlp")) {
        /* Kernels of a model are tuned for some chips more than for others, and some models keep more in 32 bits. Texts
         * have levels by length instead. */
        ap_keys_addf(ret, "model_generation", "%s|%s", profile, chip_generation(job->chip));
        ap_keys_addf(ret, "model_chip", "%s|%s|%s", profile, job->chip->id, half ? "16" : "32");
        ap_keys_addf(ret, "model_width", "%s|%s", profile, half ? "16" : "32");
    }
    if (ap_streq(job->domain, "nlp") && ap_known(ap_dl_seq(job)))
        ap_keys_addf(ret, "flavour", "%s|%.0f%s", job->model->id, ap_dl_seq(job),
                     job->method == AP_METHOD_PRETRAIN ? "p" : "f");
}

static const char *stack_of(const ap_case *job)
{
    if (!job->stack)
        return NULL;
    if (ap_streq(job->stack, "torch7") && (!job->framework_note || !strstr(job->framework_note, "cuDNN")))
        return "torch7-nn";
    return job->stack;
}

/* Release of the container ("NGC 22.09", "NVIDIA Release 24.04") as a year, NaN when the software says none. */
double ap_dl_container_year(const ap_case *job)
{
    static const char *const before[] = {"NGC ", "Release ", "PyTorch ", "MXNet ", "NeMo "};
    for (size_t i = 0; job->framework_note && i < sizeof before / sizeof *before; i++) {
        const char *at = strstr(job->framework_note, before[i]);
        double release = 0.0;
        const char *end = NULL;
        if (at && ap_num_parse_prefix(at + strlen(before[i]), &release, &end) && release >= 16.0 && release < 40.0)
            return 2000.0 + floor(release) + 100.0 * (release - floor(release)) / 12.0;
    }
    return AP_UNKNOWN;
}

static void add_software(const ap_est_context *context, ap_engine_keys *ret)
{
    const ap_case *job = &context->job;
    const char *suite = ap_dl_suite(job), *stack = stack_of(job), *profile = ap_dl_profile(job);
    bool mlperf = ap_dl_is_mlperf(job);
    ap_keys_add(ret, "suite", suite);
    if (!ap_streq(suite, "other"))
        ap_keys_add(ret, "house", suite);
    if (!mlperf) /* rounds follow one set of rules */
        ap_keys_add(ret, "publication", job->publication);
    ap_keys_add(ret, "stack", stack);
    if (stack)
        ap_keys_addf(ret, "stack_class", "%s|%s", stack, work_class(context));
    if (stack)
        ap_keys_addf(ret, "implementation", "%s|%s%s", profile, mlperf ? "mlperf" : stack,
                     !ap_streq(job->domain, "nlp")       ? ""
                     : job->method == AP_METHOD_PRETRAIN ? "|pretrain"
                                                         : "|finetune");
    if (ap_streq(suite, "lambda")) {
        ap_keys_addf(ret, "suite_model", "%s|lambda", profile);
        const char *bits = context->work[DL_W_BYTES] < 3.0 ? "16" : "32";
        ap_keys_addf(ret, "fill", "%s|%s", profile, bits);
        ap_keys_addf(ret, "fill_fit", "%s|%s", profile, bits);
    }
    if (stack && ap_streq(job->domain, "nlp") &&
        ap_known(ap_dl_seq(job))) /* phases of pre-training pack and pad as they like */
        ap_keys_addf(ret, "length", "%s|%s|%.0f%s", profile, stack, ap_dl_seq(job),
                     job->method == AP_METHOD_PRETRAIN ? "p" : "f");
    double container = ap_dl_container_year(job);
    if (ap_known(container) && !mlperf) {
        ap_keys_addf(ret, "container", "%s|%.0f", profile, floor(container));
        ap_keys_addf(ret, "container_bits", "%s|%.0f|%s", profile, floor(container),
                     context->work[DL_W_BYTES] < 3.0 ? "16" : "32");
    }
    const char *kind = mlperf ? "mlperf" : stack ? stack : "none";
    ap_keys_addf(ret, "run", "%s|%s", job->model->id, kind);
    ap_work work;
    (void)ap_case_work(job, &work);
    bool self_play = ap_streq(job->domain, "rl"); /* games are played by what the machine has most of */
    if (work != AP_WORK_GIVEN)
        ap_keys_addf(ret, "recipe", "%s|%s|%s|%s|%.0f%s", profile, kind, job->dataset ? job->dataset : "",
                     job->method == AP_METHOD_PRETRAIN ? "p" : "f", ap_or(ap_dl_seq(job), 0.0),
                     self_play && job->chip->kind == AP_CHIP_CPU ? "|cpu" : "");
    ap_keys_add(ret, "domain", job->domain);
    const char *format = job->data_format ? job->data_format : job->dataset_info ? job->dataset_info->format : NULL;
    char word[24];
    size_t len = 0;
    while (format && isalnum((unsigned char)format[len]) && len + 1 < sizeof word) {
        word[len] = (char)tolower((unsigned char)format[len]);
        len++;
    }
    word[len] = '\0';
    if (len)
        ap_keys_addf(ret, "format", "%s", word);
}

void ap_dl_keys(const ap_est_context *context, ap_engine_keys *ret)
{
    add_machine(context, ret);
    add_model(context, ret);
    add_software(context, ret);
}

/* How the chip of a case was met: 2 on this path, 1 on another one, 0 only a GPU of its generation, g a GPU of a
 * generation that nobody measured, x unseen and no GPU. */
static char chip_grade(const ap_est_context *context)
{
    if (ap_est_seen(context, "chip_path"))
        return '2';
    if (ap_est_seen(context, "chip"))
        return '1';
    if (context->job.chip->kind != AP_CHIP_GPU)
        return 'x';
    return ap_est_seen(context, "generation") ? '0' : 'g';
}

/* Most special first. What divides cases most comes first in a name: whether the chip is strange (x, g), another
 * accelerator (a) or a GPU, and whether the publication is new (0), known (1) or a round of MLPerf (m). */
static void add_cells(char kind, const ap_est_context *context, ap_engine_cells *ret)
{
    const ap_case *job = &context->job;
    int model = ap_est_seen(context, "work") || ap_est_seen(context, "work_rough");
    int implementation = ap_est_seen(context, "implementation"), known = (int)context->work[DL_W_KNOWN];
    char chip = chip_grade(context), strange = chip == 'x' || chip == 'g'       ? chip
                                               : job->chip->kind == AP_CHIP_GPU ? '-'
                                                                                : 'a';
    char origin = ap_est_seen(context, "publication") ? '1' : ap_dl_is_mlperf(job) ? 'm' : '0';
    ap_cells_addf(ret, "%c|%c|p%c|m%d|i%d|c%c|k%d|%s", kind, strange, origin, model, implementation, chip, known,
                  job->domain);
    ap_cells_addf(ret, "%c|%c|p%c|m%d|i%d|c%c|k%d", kind, strange, origin, model, implementation, chip, known);
    ap_cells_addf(ret, "%c|%c|p%c|m%d|i%d|c%c", kind, strange, origin, model, implementation, chip);
    ap_cells_addf(ret, "%c|%c|p%c|m%d|i%d", kind, strange, origin, model, implementation);
    ap_cells_addf(ret, "%c|%c|p%c|m%d", kind, strange, origin, model);
    ap_cells_addf(ret, "%c|%c|p%c", kind, strange, origin);
    ap_cells_addf(ret, "%c|%c", kind, strange);
}

/* Cells: kind of answer, then what of chip, publication, model, implementation and work was in the fit, then the
 * domain. */
void ap_dl_cells(const ap_est_context *context, ap_quantity quantity, bool layout_known, ap_engine_cells *ret)
{
    const ap_case *job = &context->job;
    if (quantity == AP_Q_MEMORY) {
        int model = ap_est_seen(context, "work") || ap_est_seen(context, "work_rough"),
            stack = ap_est_seen(context, "stack");
        ap_cells_addf(ret, "m%d|s%d|b%d|%s", model, stack, layout_known, job->domain);
        ap_cells_addf(ret, "m%d|s%d|b%d", model, stack, layout_known);
        ap_cells_addf(ret, "m%d|s%d", model, stack);
        return;
    }
    char kind = 'r';
    ap_work work;
    (void)ap_case_work(job, &work);
    if (quantity == AP_Q_RUN)
        kind = work == AP_WORK_GIVEN ? 'T' : ap_est_seen(context, "recipe") ? 'R' : 'U';
    add_cells(kind, context, ret);
}
