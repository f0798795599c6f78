/* Work of a model per unit (M-60, M-61): from its own figures, a transformer's shape, a profile of the calibration, or
 * the default of its class. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/dl_internal.h"

#define PIXELS_224 50176.0

double ap_dl_pixels(const char *input)
{
    double product = AP_UNKNOWN;
    const char *at = input;
    while (at && *at) {
        const char *end = at;
        double value = 0.0;
        if (!isdigit((unsigned char)*at) || !ap_num_parse_prefix(at, &value, &end) || end == at) {
            if (ap_known(product))
                break;
            at++;
            continue;
        }
        bool more = *end == 'x' && isdigit((unsigned char)end[1]);
        if (!ap_known(product) && !more) { /* a lone number is no size */
            at = end;
            continue;
        }
        product = ap_or(product, 1.0) * value;
        if (!more)
            break;
        at = end + 1;
    }
    return product;
}

static double seq_of_text(const char *input)
{
    const char *at = input ? strstr(input, "seq") : NULL;
    while (at && *at && !isdigit((unsigned char)*at))
        at++;
    double value = 0.0;
    const char *end = at;
    return at && *at && ap_num_parse_prefix(at, &value, &end) ? value : AP_UNKNOWN;
}

double ap_dl_seq(const ap_case *job)
{
    return ap_or(job->seq_len, seq_of_text(job->input));
}

bool ap_dl_is_encoder(const ap_case *job)
{
    const ap_model *model = job->model;
    if (ap_streq(job->domain, "bio") && ap_streq(job->arch, "encoder") && ap_known(model->layers) &&
        ap_known(model->hidden))
        return true;
    if (!ap_streq(job->domain, "nlp"))
        return false;
    if (ap_streq(job->arch, "encoder"))
        return true;
    return ap_known(model->layers) && ap_known(model->hidden) && !ap_streq(job->arch, "rnn") &&
           !ap_starts_with(model->id, "transformer-") && !ap_streq(model->id, "gnmt");
}

static bool is_vision(const char *domain)
{
    return ap_streq(domain, "vision") || ap_streq(domain, "diffusion");
}

const char *ap_dl_profile(const ap_case *job)
{
    const char *id = job->model->id;
    if (ap_starts_with(id, "nnunet")) /* the 2-D net is trained with large batches, the 3-D one with a few */
        return ap_known(job->global_batch) && job->global_batch / fmax(ap_or(job->chips, 1.0), 1.0) >= 16.0
                   ? "nnunet-2d"
                   : "nnunet-3d";
    bool clips = ap_streq(job->unit, "samples") || ap_streq(job->unit, "utterances") || ap_streq(job->stack, "habana");
    if (ap_streq(id, "wav2vec2-base") && clips)
        return "wav2vec2-base-utterance";
    return id;
}

const char *ap_dl_class(const ap_case *job)
{
    const char *domain = job->domain;
    bool language = ap_streq(job->arch, "decoder") || ap_streq(job->arch, "encdec");
    if (ap_streq(domain, "nlp") || ap_streq(domain, "llm") || ap_streq(job->unit, "tokens"))
        return "token";
    if (ap_streq(domain, "detection") || ap_streq(domain, "segmentation"))
        return "detection";
    if (is_vision(domain))
        return language ? "vision-language" : "vision";
    if (ap_streq(domain, "recsys"))
        return "recsys";
    if (ap_streq(domain, "speech"))
        return "speech";
    return "other";
}

int ap_dl_known(const ap_est_context *context)
{
    const ap_model *model = context->job.model;
    if (ap_dl_is_encoder(&context->job))
        return 2;
    const ap_calib_engine *engine = ap_calibration_engine(context->calibration, "dl");
    if (engine && ap_calib_has_key(engine, "profile", ap_dl_profile(&context->job)))
        return 1;
    if (ap_known(model->fwd_mac) && model->fwd_mac > 0.0)
        return ap_known(model->acts) ? 2 : 1;
    return 0;
}

/* M-61: encoder of L layers on s tokens: 4h^2 + 2hf weights a token and layer, 2 L h s^2 of attention scores. */
static void work_of_encoder(ap_est_context *context)
{
    const ap_case *job = &context->job;
    const ap_model *model = job->model;
    const double *k = context->consts;
    double *work = context->work;
    double layers = ap_or(model->layers, 12.0), hidden = ap_or(model->hidden, 768.0);
    double ffn = ap_or(model->ffn, 4.0 * hidden), heads = ap_or(model->heads, hidden / 64.0);
    double seq = ap_or(ap_dl_seq(job), 128.0);
    double per_token = layers * (4.0 * hidden * hidden + 2.0 * hidden * ffn);
    if (job->method == AP_METHOD_PRETRAIN) /* the masked-word head sees a share of the positions */
        per_token += ap_or(model->vocab, 30522.0) * hidden * k[DL_mlm_share];
    if (ap_dl_is_mlperf(job) && strstr(model->id, "bert"))
        seq *= k[DL_unpadded];
    work[DL_W_MAC] = seq * per_token + 2.0 * layers * hidden * seq * seq;
    work[DL_W_ACTS] = layers * (k[DL_encoder_acts] * seq * hidden + k[DL_encoder_scores] * heads * seq * seq);
    work[DL_W_LAUNCH] = k[DL_encoder_launch] * layers;
    work[DL_W_PARAMS] = ap_or(model->params, layers * 12.0 * hidden * hidden + 24e6);
}

/* A picture or volume of another size than the model's figures are for costs by its area. */
static double area_ratio(const ap_case *job)
{
    if (!job->input || !job->model->input || ap_streq(job->input, job->model->input))
        return 1.0;
    return ap_or(ap_dl_pixels(job->input) / ap_dl_pixels(job->model->input), 1.0);
}

static void work_of_figures(ap_est_context *context)
{
    const ap_model *model = context->job.model;
    const double *k = context->consts;
    double *work = context->work, area = area_ratio(&context->job);
    work[DL_W_MAC] = model->fwd_mac * area;
    double guess = fmin(k[DL_conv_acts] * 1e6 * sqrt(model->fwd_mac / 1e9), model->fwd_mac / k[DL_conv_reuse]);
    work[DL_W_ACTS] = ap_or(model->acts, guess) * area;
    double macts = fmin(work[DL_W_ACTS] / 1e6, 60.0);
    work[DL_W_LAUNCH] = ap_known(model->weighted_layers) ? k[DL_conv_launch_layer] * (model->weighted_layers + 4.0)
                                                         : k[DL_conv_launch] + k[DL_conv_launch_acts] * sqrt(macts);
    work[DL_W_PARAMS] = ap_or(model->params, 25e6);
}

/* Work and activations of one sample of the model itself: of another variant under its name they say nothing, and a
 * profile with units counts something smaller than a sample. */
static bool has_own_figures(const ap_est_context *context)
{
    const ap_model *model = context->job.model;
    return ap_known(model->fwd_mac) && model->fwd_mac > 0.0 && ap_known(model->acts) &&
           context->consts[DL_profile_units] < 1.5 && ap_streq(ap_dl_profile(&context->job), model->id);
}

/* Translation and speech recipes count a batch in sentences or clips, or in tokens or audio samples: then one chip's is
 * in the thousands. */
static double units_of_profile(const ap_est_context *context)
{
    const ap_case *job = &context->job;
    double global = ap_or(job->counted_batch, job->global_batch);
    double batch = global / fmax(job->chips, 1.0), units = context->consts[DL_profile_units];
    if (ap_starts_with(job->model->id, "transformer-xl"))
        return ap_or(job->seq_len, units);
    bool counts_units = ap_streq(job->domain, "nlp") ? batch > 4500.0 || global > 35000.0 : batch > 3000.0;
    return units > 1.5 && counts_units ? 1.0 : units;
}

static void work_of_profile(ap_est_context *context)
{
    const ap_model *model = context->job.model;
    const double *k = context->consts;
    double *work = context->work;
    double area = area_ratio(&context->job);
    bool own = has_own_figures(context);
    work[DL_W_MAC] = (own ? model->fwd_mac : k[DL_profile_mac] * 1e9) * area;
    work[DL_W_ACTS] = (own ? model->acts : k[DL_profile_acts] * 1e6) * area;
    work[DL_W_UNITS] = units_of_profile(context);
    work[DL_W_LAUNCH] = k[DL_profile_launch];
    work[DL_W_PARAMS] = ap_or(model->params, k[DL_profile_params] * 1e6);
}

/* M-60: nothing but parameters is known. Work and activations of a class grow with a power of the parameters (millions)
 * and with the area of the input over 224 x 224. */
static void work_of_class(ap_est_context *context)
{
    const ap_case *job = &context->job;
    const double *k = context->consts;
    double *work = context->work;
    double params = ap_or(job->model->params, k[DL_class_params] * 1e6) / 1e6;
    const char *class = ap_dl_class(job);
    double area = ap_dl_pixels(job->input) / PIXELS_224;
    if (!ap_known(area))
        area = ap_streq(class, "detection") ? 4.0 : 1.0;
    bool image = ap_streq(class, "detection") || ap_streq(class, "vision");
    work[DL_W_MAC] = k[DL_class_mac] * 1e9 * pow(params, k[DL_class_mac_power]) * (image ? area : 1.0);
    work[DL_W_ACTS] = k[DL_class_acts] * 1e6 * pow(params, k[DL_class_acts_power]) * (image ? area : 1.0);
    work[DL_W_LAUNCH] = k[DL_class_launch];
    work[DL_W_PARAMS] = params * 1e6;
    if (ap_streq(class, "token"))
        work[DL_W_UNITS] = ap_or(job->seq_len, 64.0);
}

void ap_dl_prepare_model(ap_est_context *context)
{
    const ap_case *job = &context->job;
    double *work = context->work;
    bool figures = ap_known(job->model->fwd_mac) && job->model->fwd_mac > 0.0;
    bool profile = context->consts[DL_profile_mac] > 0.0;
    work[DL_W_UNITS] = 1.0;
    if (ap_dl_is_encoder(job))
        work_of_encoder(context);
    else if (profile)
        work_of_profile(context);
    else if (figures)
        work_of_figures(context);
    else
        work_of_class(context);
    if (ap_streq(job->arch, "dlrm")) { /* tables are sharded: only the dense part is all-reduced and stepped */
        double tables = ap_or(job->model->embedding_rows, 0.0) * ap_or(job->model->embedding_dim, 0.0);
        work[DL_W_ROW_BYTES] = 4.0 * tables;
        work[DL_W_PARAMS] = profile ? context->consts[DL_profile_params] * 1e6 : fmin(work[DL_W_PARAMS], 15e6);
    }
    work[DL_W_ACTS] = fmax(work[DL_W_ACTS], 1.0);
    work[DL_W_MAC] *= context->consts[DL_mac];
    work[DL_W_ACTS] *= context->consts[DL_acts];
}
