/* Hardware that cannot be had, is not meant, or cannot run the program. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "jobs/understand.h"

/* -- machine and chip
 * --------------------------------------------------------------------------------------------------------- */

static bool may_be(const ap_checkjob *job, const char *chip)
{
    for (size_t i = 0; i < job->chip_count; i++)
        if (strcmp(job->chips[i]->id, chip) == 0)
            return true;
    return false;
}

static void find_machine_mismatch(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const ap_instance *instance = job->instance;
    const ap_jobnums *n = &j->f->n;
    const ap_chip *carried = instance ? ap_catalog_chip(j->request->catalog, instance->chip) : NULL;
    bool gpu_machine = carried && carried->kind != AP_CHIP_CPU;
    if (j->f->chips.count == 0 && !(gpu_machine && job->format == AP_JF_K8S))
        return;
    if (gpu_machine && j->f->chips.count > 0 && job->chip_count > 0 && !may_be(job, instance->chip)) {
        ap_judge_add(j, AP_FAULT_INSTANCE_CHIP_MISMATCH, j->f->t.instance.pos, "%s carries %s, not %s", instance->name,
                     carried->name, j->f->chips.items[0].value)
            ->hint = "drop one of the two, or make them agree";
        return;
    }
    double per_host = gpu_machine ? instance->chip_count / ap_or(instance->hosts, 1) : AP_UNKNOWN;
    if (gpu_machine && ap_jnum_stated(&n->chips_per_node) && n->chips_per_node.value > per_host + 0.5)
        ap_judge_add(j, job->format == AP_JF_K8S ? AP_FAULT_UNSCHEDULABLE : AP_FAULT_INSTANCE_CHIP_MISMATCH,
                     n->chips_per_node.pos, "%.0f chips asked of %s, which has %.0f", n->chips_per_node.value,
                     instance->name, per_host);
    else if (gpu_machine && job->format == AP_JF_VERTEX && n->chips_per_node.value < per_host - 0.5)
        ap_judge_add(j, AP_FAULT_INSTANCE_CHIP_MISMATCH, n->chips_per_node.pos,
                     "%s comes with %.0f chips, %.0f are asked for", instance->name, per_host, n->chips_per_node.value);
}

/* Google: cards can be attached to N1 only, and only the older ones; the newer come with machines of their own. */
static void find_attachment(ap_judge *j)
{
    static const char *const attachable[] = {"k80", "p100", "p4", "v100", "t4"};
    const ap_checkjob *job = j->job;
    const char *machine = job->instance_name;
    const ap_chip *carried = job->instance ? ap_catalog_chip(j->request->catalog, job->instance->chip) : NULL;
    if (!machine || !ap_streq(job->cloud, "gcp") || j->f->chips.count == 0 || job->chip_count == 0 ||
        (carried && carried->kind != AP_CHIP_CPU) || ap_starts_with(machine, "ct"))
        return;
    const char *chip = job->chips[0]->id;
    bool fits = false;
    for (size_t i = 0; i < sizeof attachable / sizeof *attachable; i++)
        fits = fits || (ap_starts_with(machine, "n1-") && strstr(chip, attachable[i]) && !ap_starts_with(chip, "l4"));
    static const char *const own[] = {"a2-", "a3-", "a4-", "g2-", "g4-"};
    bool own_family = false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        own_family = own_family || ap_starts_with(machine, own[i]);
    if (!fits && !own_family)
        ap_judge_add(j, AP_FAULT_INSTANCE_CHIP_MISMATCH, j->f->chips.items[0].pos, "%s cannot be attached to %s",
                     job->chips[0]->name, machine)
            ->hint = "A100, L4 and newer cards come with machine types of their own (a2, g2, a3)";
}

static void find_region(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const ap_catalog *catalog = j->request->catalog;
    if (!job->region || !job->cloud || !j->f->t.region.value ||
        ap_catalog_find_region(catalog, job->cloud, job->region))
        return;
    for (size_t i = 0; i < catalog->regions.count; i++) {
        const ap_region *region = &catalog->regions.items[i];
        size_t a = strlen(region->id), b = strlen(job->region), same = 0;
        if (!ap_streq(region->cloud, job->cloud) || a != b)
            continue;
        for (size_t k = 0; k < a; k++)
            same += region->id[k] == job->region[k];
        if (a - same == 2 && a > 6) { /* two characters changed places */
            ap_judge_add(j, AP_FAULT_UNKNOWN_NAME, j->f->t.region.pos, "%s has no region \"%s\"", job->cloud,
                         job->region)
                ->hint = ap_arena_printf(j->arena, "did you mean %s?", region->id);
            return;
        }
    }
}

static void find_ambiguity(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    bool exact = job->format == AP_JF_SKYPILOT || job->format == AP_JF_XPK || job->format == AP_JF_VERTEX ||
                 job->format == AP_JF_RAY || job->format == AP_JF_DSTACK;
    double low = (double)INFINITY, high = 0;
    ap_sbuf names;
    if (!exact || job->chips_are_choice || job->chip_count < 2 || job->instance || j->f->chips.count != 1)
        return;
    if (job->format == AP_JF_DSTACK && ap_jnum_stated(&j->f->n.chip_memory_low_bytes))
        return;
    ap_sbuf_init(&names, j->arena);
    for (size_t i = 0; i < job->chip_count; i++) {
        low = fmin(low, job->chips[i]->memory.size);
        high = fmax(high, job->chips[i]->memory.size);
        ap_sbuf_printf(&names, "%s%s", i ? ", " : "", job->chips[i]->id);
    }
    if (!(high > low * 1.1))
        return;
    ap_jobfinding *finding =
        ap_judge_add(j, AP_FAULT_AMBIGUOUS_NAME, j->f->chips.items[0].pos, "\"%s\" may be %s: memory and price differ",
                     j->f->chips.items[0].value, names.text);
    finding->hint = "name the one that is meant";
    if (job->format == AP_JF_DSTACK)
        finding->severity = AP_NOTE;
}

/* -- no accelerator
 * -------------------------------------------------------------------------------------------------------------- */

static bool is_gpu_program(const ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_jobtexts *t = &j->f->t;
    const char *by = t->launcher.value;
    if (ap_is(&n->use_cpu) ||
        (t->framework.value && !ap_streq(t->framework.value, "pytorch") && !ap_streq(t->framework.value, "jax")))
        return false;
    bool launcher = by && (strcmp(by, "deepspeed") == 0 || ap_jnum_stated(&n->multi_gpu) ||
                           (strcmp(by, "torchrun") == 0 && n->launch_per_node.value >= 1));
    return launcher || ap_is(&n->bf16) || ap_is(&n->fp16) || ap_is(&n->load_4bit) || ap_is(&n->fp8) || ap_is(&n->amp) ||
           ap_jtext_stated(&t->fsdp);
}

static bool hints_at_gpu(const char *name)
{
    static const char *const words[] = {"gpu", "a100",   "h100",   "v100",  "h200",  "a40", "l40",  "rtx",
                                        "dgx", "hopper", "ampere", "mi250", "mi300", "t4",  "p100", "accel"};
    for (size_t i = 0; name && i < sizeof words / sizeof *words; i++)
        if (ap_contains_nocase(name, words[i]))
            return true;
    return false;
}

/* General-purpose machine types: no accelerator, and none can be attached. */
static bool is_cpu_family(const char *name)
{
    static const char *const families[] = {"standard_d", "standard_e", "standard_f", "standard_b", "n2-",
                                           "n2d-",       "e2-",        "c2-",        "c3-",        "c4-"};
    const char *bare = ap_starts_with(name, "ml.") ? name + 3 : name;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (ap_starts_with(bare, families[i]))
            return true;
    return strchr("mcrt", *bare) && *bare && isdigit((unsigned char)bare[1]) && strchr(bare, '.');
}

static void find_no_chip(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const ap_jobnums *n = &j->f->n;
    bool asked = ap_jnum_stated(&n->chips_per_node) || ap_jnum_stated(&n->chips_total) ||
                 ap_jnum_stated(&n->chips_per_task) || job->chip_count > 0 || j->f->chips.count > 0;
    const ap_chip *carried = job->instance ? ap_catalog_chip(j->request->catalog, job->instance->chip) : NULL;
    ap_pos pos = ap_job_top(j);
    if (ap_judge_has(j, AP_FAULT_NO_GPU_REQUESTED) || (carried && carried->kind != AP_CHIP_CPU))
        return;
    if (job->format == AP_JF_K8S && !ap_jnum_stated(&n->chips_per_node) && j->f->chips.count > 0 &&
        !ap_judge_has(j, AP_FAULT_UNSCHEDULABLE))
        ap_judge_add(j, AP_FAULT_NO_GPU_REQUESTED, j->f->chips.items[0].pos,
                     "the pod must run beside \"%s\" but no container has a limit for it: it gets none",
                     j->f->chips.items[0].value)
            ->hint = "add resources.limits with the accelerator";
    if (!asked && is_gpu_program(j) && job->instance_name && is_cpu_family(job->instance_name)) {
        ap_judge_add(j, AP_FAULT_NO_GPU_REQUESTED, j->f->t.instance.pos,
                     "the program needs an accelerator, %s has none", job->instance_name);
        return;
    }
    if (asked || !is_gpu_program(j) || (job->instance_name && !carried))
        return;
    const ap_pos launch = j->f->t.launcher.pos;
    bool scheduler = ap_job_has_format(j, AP_JF_SLURM);
    if (scheduler && !ap_is(&n->exclusive) && !hints_at_gpu(j->f->t.partition.value))
        ap_judge_add(j, AP_FAULT_NO_GPU_REQUESTED, pos.line && job->facts.n.nodes.pos.line ? n->nodes.pos : launch,
                     "the program needs GPUs, the job asks for none")
            ->hint = "add #SBATCH --gres=gpu:N";
    else if (job->format == AP_JF_K8S || job->format == AP_JF_SKYPILOT || job->format == AP_JF_DSTACK ||
             job->format == AP_JF_COMPOSE || job->format == AP_JF_VERTEX)
        ap_judge_add(j, AP_FAULT_NO_GPU_REQUESTED, launch, "the program needs an accelerator, the job asks for none");
}

/* -- precision, builds
 * ------------------------------------------------------------------------------------------------------------ */

static bool lacks(const ap_chip *chip, int precision)
{
    if (precision == AP_PREC_BF16 && chip->kind == AP_CHIP_GPU && ap_streq(chip->vendor, "nvidia") && chip->arch &&
        ap_starts_with(chip->arch, "sm_")) {
        double generation;
        return ap_num_parse(chip->arch + 3, &generation) ? generation < 80 : !ap_known(chip->peak.bf16);
    }
    return !ap_known(ap_chip_peak(chip, (ap_precision)precision));
}

static ap_pos precision_pos(const ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_jobtexts *t = &j->f->t;
    const ap_pos places[] = {j->job->precision == AP_PREC_FP8 ? n->fp8.pos : n->bf16.pos,
                             t->precision.pos,
                             t->mixed_precision.pos,
                             t->dtype.pos,
                             t->torch_dtype.pos,
                             t->launcher.pos};
    return ap_judge_pos(j, places, sizeof places / sizeof *places);
}

static void find_precision(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    size_t without = 0;
    const ap_chip *worst = NULL;
    if (job->precision != AP_PREC_BF16 && job->precision != AP_PREC_FP8) /* fp16 is stored everywhere */
        return;
    if (ap_jnum_stated(&j->f->n.bf16) && !ap_known(j->f->n.bf16.value))
        return;
    const ap_jobtexts *t = &j->f->t;
    bool loaded_only = !ap_is(&j->f->n.bf16) && !ap_jtext_stated(&t->precision) &&
                       !ap_jtext_stated(&t->mixed_precision) && !ap_jtext_stated(&t->dtype);
    if (loaded_only && ap_jtext_stated(&t->torch_dtype))
        return; /* how weights are loaded is not how they are computed with */
    for (size_t i = 0; i < job->chip_count; i++)
        if (lacks(job->chips[i], job->precision) && job->chips[i]->kind != AP_CHIP_CPU) {
            without++;
            worst = job->chips[i];
        }
    if (!worst || (without < job->chip_count && !job->chips_are_choice))
        return;
    const char *name = ap_precision_name((ap_precision)job->precision);
    ap_judge_add(j, AP_FAULT_PRECISION_UNSUPPORTED, precision_pos(j), "%s has no %s%s", worst->name, name,
                 job->chips_are_choice && without < job->chip_count ? " and is one of the chips allowed" : "")
        ->hint = job->precision == AP_PREC_FP8 ? "bf16, or a chip with fp8 units (Hopper, Ada, Blackwell, MI300)"
                                               : "fp16 with loss scaling, or a chip from Ampere on";
}

/* "pytorch:2.8.0-cuda12.8", "torch:2.6-cu126", "pytorch-2.2-cuda12.1": versions in an image's name; NaN when absent. */
static double version_after(const char *text, const char *word)
{
    for (const char *p = text; *p; p++) {
        if (strncasecmp(p, word, strlen(word)) != 0)
            continue;
        const char *at = p + strlen(word), *end;
        while (*at == ':' || *at == '-' || *at == '_')
            at++;
        double value;
        if (isdigit((unsigned char)*at) && ap_num_parse_prefix(at, &value, &end))
            return value;
    }
    return AP_UNKNOWN;
}

static double cuda_of(const char *image)
{
    double cuda = version_after(image, "cuda");
    if (!ap_known(cuda)) {
        cuda = version_after(image, "-cu");
        if (cuda >= 100)
            cuda /= 10;
    }
    return cuda;
}

static double generation_of(const ap_chip *chip)
{
    double value;
    return chip->arch && ap_starts_with(chip->arch, "sm_") && ap_num_parse(chip->arch + 3, &value) ? value : AP_UNKNOWN;
}

/* The kernels a PyTorch build carries: CUDA 12.8 builds of 2.8 and later start at Volta (release notes of 2.8), CUDA 13
 * at Turing; Kepler left with CUDA 12; Blackwell came with CUDA 12.8, Hopper and Ada with 11.8. */
static const char *why_no_kernels(double torch, double cuda, double sm)
{
    if (sm < 50 && (cuda >= 12 || torch >= 2))
        return "builds for CUDA 12 carry no Kepler kernels";
    if (sm < 75 && cuda >= 13)
        return "builds for CUDA 13 begin with Turing";
    if (sm < 70 && cuda >= 12.8 && torch >= 2.8)
        return "PyTorch 2.8 and later for CUDA 12.8 carry no Pascal kernels";
    if (sm >= 100 && cuda < 12.8)
        return "Blackwell needs a build for CUDA 12.8 or later";
    if (sm >= 89 && sm < 100 && cuda < 11.8)
        return "Hopper and Ada need a build for CUDA 11.8 or later";
    return NULL;
}

static void find_build(ap_judge *j)
{
    const char *image = j->f->t.image.value;
    const ap_chip *chip = j->job->chip;
    double sm = chip ? generation_of(chip) : AP_UNKNOWN;
    if (ap_known(sm) && image) {
        double torch = version_after(image, "pytorch"), cuda = cuda_of(image), tag;
        const char *colon = strrchr(image, ':'), *rest;
        if (!ap_known(torch) && ap_contains_nocase(image, "pytorch") && colon &&
            ap_num_parse_prefix(colon + 1, &tag, &rest) && tag < 10)
            torch = tag; /* pytorch-training:2.3.0-gpu-py311-cu121 */
        const char *why = why_no_kernels(ap_known(torch) ? torch : version_after(image, "torch"), cuda, sm);
        const ap_pos places[] = {j->f->chips.count ? j->f->chips.items[0].pos : AP_NO_POS, j->f->t.instance.pos,
                                 j->f->t.image.pos};
        if (why)
            ap_judge_add(j, AP_FAULT_UNSUPPORTED_CHIP, ap_judge_pos(j, places, 3), "%s cannot run %s: %s", chip->name,
                         image, why)
                ->hint = "another build of the image, or another chip";
    }
    bool flash2 = ap_jtext_stated(&j->f->t.input_mode) && ap_streq(j->f->t.input_mode.value, "flash_attention_2");
    if (flash2 && sm < 80)
        ap_judge_add(j, AP_FAULT_UNSUPPORTED_CHIP, j->f->t.input_mode.pos, "flash attention 2 has no kernels for %s",
                     chip->name)
            ->hint = "attn_implementation sdpa";
}

void ap_find_hardware(ap_judge *j)
{
    find_machine_mismatch(j);
    if (!ap_judge_has(j, AP_FAULT_INSTANCE_CHIP_MISMATCH))
        find_attachment(j);
    find_region(j);
    find_ambiguity(j);
    find_no_chip(j);
    find_precision(j);
    find_build(j);
}
