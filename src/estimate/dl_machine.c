/* Which compute path of a chip a job takes, and what joins the chips (M-62, M-66). */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/dl_internal.h"

const char *const ap_dl_path_names[] = {"tc16", "tf32", "fp32", "simt16", "tpu", "asic", "ipu", "cpu", NULL};
const char *const ap_dl_link_names[] = {"nvlink", "bridge2", "bridge", "pcie",   "ici",
                                        "roce",   "ipulink", "upi",    "fabric", NULL};

static bool has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (; text && *text; text++) {
        size_t i = 0;
        while (i < len && text[i] && tolower((unsigned char)text[i]) == word[i])
            i++;
        if (i == len)
            return true;
    }
    return false;
}

static double best_16(const ap_chip *chip)
{
    double fp16 = ap_or(chip->peak.fp16, 0.0), bf16 = ap_or(chip->peak.bf16, 0.0);
    return fp16 > bf16 ? fp16 : bf16;
}

static double peak_fp32(const ap_chip *chip)
{
    double products = ap_chip_peak(chip, AP_PREC_FP32);
    if (ap_known(products))
        return products;
    double wide = best_16(chip);
    return wide > 0.0 ? wide / 8.0 : 1e12; /* no vector figure published: an eighth of the matrix units */
}

static bool has_tensor_cores(const ap_chip *chip)
{
    return best_16(chip) > 1.3 * peak_fp32(chip) && !ap_streq(chip->generation, "pascal");
}

static bool is_16bit(int precision)
{
    return precision == AP_PREC_FP16 || precision == AP_PREC_BF16 || precision == AP_PREC_FP8 ||
           precision == AP_PREC_MXFP8 || precision == AP_PREC_INT8 || precision == AP_PREC_FP4;
}

static void choose_precision(ap_est_context *context)
{
    ap_case *job = &context->job;
    const ap_chip *chip = job->chip;
    if (job->precision >= 0)
        return;
    bool half = chip->kind == AP_CHIP_GPU ? has_tensor_cores(chip) || ap_dl_is_mlperf(job) : chip->kind != AP_CHIP_CPU;
    if (chip->kind == AP_CHIP_CPU)
        half = ap_known(chip->peak.bf16) && ap_dl_is_mlperf(job);
    if (half)
        job->precision = ap_known(chip->peak.bf16) ? AP_PREC_BF16 : AP_PREC_FP16;
    else
        job->precision = ap_known(chip->peak.tf32) ? AP_PREC_TF32 : AP_PREC_FP32;
    ap_est_assume(context, "precision", (double)job->precision);
}

static ap_dl_path gpu_path(const ap_chip *chip, int precision, double *ret_peak)
{
    *ret_peak = peak_fp32(chip);
    if (is_16bit(precision)) {
        if (!has_tensor_cores(chip))
            return AP_DL_SIMT16;
        *ret_peak = best_16(chip);
        return AP_DL_TC16;
    }
    if (precision == AP_PREC_TF32 && ap_known(chip->peak.tf32)) {
        *ret_peak = chip->peak.tf32;
        return AP_DL_TF32;
    }
    return AP_DL_FP32;
}

static void complete_path(ap_est_context *context)
{
    const ap_case *job = &context->job;
    const ap_chip *chip = job->chip;
    static const double usual_flop_per_joule[] = {0.5e12, 0.3e12, 0.05e12, 0.05e12, 1.0, 1.0, 1.0, 1.0};
    double peak = peak_fp32(chip), bytes = 4.0;
    ap_dl_path path = AP_DL_CPU;
    if (chip->kind == AP_CHIP_TPU || chip->kind == AP_CHIP_ASIC) {
        path = chip->kind == AP_CHIP_TPU ? AP_DL_TPU : ap_streq(chip->generation, "ipu") ? AP_DL_IPU : AP_DL_ASIC;
        peak = best_16(chip) > 0.0 ? best_16(chip) : peak;
        bytes = 2.0;
    } else if (chip->kind == AP_CHIP_CPU) {
        if (is_16bit(job->precision) && ap_known(chip->peak.bf16))
            peak = chip->peak.bf16;
    } else {
        path = gpu_path(chip, job->precision, &peak);
        bytes = path == AP_DL_TC16 || path == AP_DL_SIMT16 ? 2.0 : 4.0;
    }
    context->work[DL_W_PATH] = (double)path;
    context->work[DL_W_PEAK] = peak;
    context->work[DL_W_BYTES] = bytes;
    static const double usual_peak[] = {125e12, 80e12, 15e12, 15e12, 120e12, 200e12, 250e12, 3e12};
    context->work[DL_W_SPEED] = log(peak / usual_peak[path]);
    context->work[DL_W_WATTS] = chip->kind == AP_CHIP_GPU && ap_known(chip->tdp_w) && chip->tdp_w > 0.0
                                    ? log(peak / chip->tdp_w / usual_flop_per_joule[path])
                                    : 0.0;
}

static double pcie_bytes_per_s(const ap_chip *chip)
{
    double gen = ap_or(chip->bus.pcie_gen, 3.0);
    return 10e9 * pow(2.0, fmin(fmax(gen, 3.0), 6.0) - 3.0);
}

static ap_dl_link gpu_link(const ap_case *job, double in_domain, double *ret_bytes_per_s)
{
    const ap_chip *chip = job->chip;
    double one_way = ap_or(chip->link.bandwidth, 0.0) / 2.0;
    const char *kind = chip->link.kind;
    if (ap_known(job->intra_bytes_per_s)) {
        *ret_bytes_per_s = job->intra_bytes_per_s;
        return one_way > 0.0 && !has_word(kind, "bridge") ? AP_DL_NVLINK : AP_DL_PCIE;
    }
    if (has_word(kind, "bridge")) {
        *ret_bytes_per_s = in_domain > 2.0 ? pcie_bytes_per_s(chip) : one_way;
        return in_domain > 2.0 ? AP_DL_BRIDGE : AP_DL_BRIDGE2;
    }
    if (one_way > 0.0 && (has_word(kind, "nvlink") || has_word(kind, "infinity") || has_word(kind, "xgmi"))) {
        *ret_bytes_per_s = one_way;
        return has_word(kind, "nvlink") ? AP_DL_NVLINK : AP_DL_FABRIC;
    }
    *ret_bytes_per_s = pcie_bytes_per_s(chip);
    return AP_DL_PCIE;
}

/* NIC of one chip's share, by the chip's year, when the case does not say. */
static double nic_bytes_per_s(const ap_case *job, double in_domain)
{
    const ap_chip *chip = job->chip;
    if (ap_known(job->nic_bytes_per_s) && job->nic_bytes_per_s > 0.0)
        return job->nic_bytes_per_s / fmax(in_domain, 1.0);
    if (chip->kind == AP_CHIP_TPU)
        return fmax(ap_or(chip->link.bandwidth, 0.0), 50e9) / 2.0;
    if (chip->kind == AP_CHIP_CPU)
        return 6e9;
    if (chip->kind == AP_CHIP_ASIC)
        return ap_streq(chip->generation, "ipu") ? 12.5e9 : 25e9;
    double year = ap_or(chip->year, 2020.0);
    return year < 2020.0 ? 12.5e9 : year < 2022.0 ? 25e9 : 50e9;
}

static void complete_links(ap_est_context *context)
{
    const ap_case *job = &context->job;
    const ap_chip *chip = job->chip;
    double in_domain = fmax(1.0, fmin(job->chips, job->chips_per_node));
    if (ap_known(job->domain_chips) && job->domain_chips > 0.0)
        in_domain = fmax(1.0, fmin(job->chips, job->domain_chips));
    else if (has_word(chip->link.kind, "nvl72"))
        in_domain = fmax(1.0, fmin(job->chips, 72.0));
    double bandwidth = 20e9;
    ap_dl_link link = AP_DL_UPI;
    double one_way = fmax(ap_or(chip->link.bandwidth, 0.0), 50e9) / 2.0;
    if (chip->kind == AP_CHIP_TPU) {
        link = AP_DL_ICI;
        bandwidth = one_way;
    } else if (chip->kind == AP_CHIP_ASIC) {
        link = ap_streq(chip->generation, "ipu") ? AP_DL_IPULINK : AP_DL_ROCE;
        bandwidth = link == AP_DL_IPULINK ? 160e9 : one_way;
    } else if (chip->kind == AP_CHIP_GPU) {
        link = gpu_link(job, in_domain, &bandwidth);
    }
    double *work = context->work;
    work[DL_W_CHIPS] = fmax(job->chips, 1.0);
    work[DL_W_IN] = in_domain;
    work[DL_W_OUT] = fmax(1.0, job->chips / in_domain);
    work[DL_W_LINK] = bandwidth;
    work[DL_W_LINK_KIND] = (double)link;
    work[DL_W_EXCHANGE_LINK] = bandwidth;
    work[DL_W_NIC] = nic_bytes_per_s(job, in_domain);
}

void ap_dl_complete_machine(ap_est_context *context)
{
    ap_case *job = &context->job;
    const ap_chip *chip = job->chip;
    if (!ap_known(job->chips)) {
        job->chips = 1.0;
        ap_est_assume(context, "chips", 1.0);
    }
    if (!ap_known(job->chips_per_node)) {
        bool small = chip->kind == AP_CHIP_TPU || ap_streq(chip->generation, "ipu");
        job->chips_per_node = fmax(1.0, fmin(job->chips, small ? 4.0 : 8.0));
        ap_est_assume(context, "chips_per_node", job->chips_per_node);
    }
    choose_precision(context);
    complete_path(context);
    complete_links(context);
    double *work = context->work;
    work[DL_W_BW] = fmax(ap_or(chip->memory.bandwidth, 100e9), 1e9);
    work[DL_W_CAPACITY] = ap_or(chip->memory.usable, ap_or(chip->memory.size, ap_or(job->host_memory_bytes, 256e9)));
    if (job->chips < 1.0) { /* part of a package, e.g. one die of an MI250 */
        work[DL_W_PEAK] *= job->chips;
        work[DL_W_BW] *= job->chips;
        work[DL_W_CAPACITY] *= job->chips;
    }
    work[DL_W_CHIP_AGE] = ap_or(chip->year, 2020.0) - 2020.0;
    double released = ap_or(ap_dl_container_year(job), job->date);
    work[DL_W_AGE] = ap_known(released) ? released - 2021.0 : 0.0;
}
