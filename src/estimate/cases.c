#include "estimate/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "catalog/tables.h"
#include "io/file.h"

#define CASES_MAX_BYTES ((size_t)64 << 20)

const char *const ap_metric_names[] = {"samples_per_s", "tokens_per_s", "step_time_s", "time_to_train_min", "wall_hours",
                                       "gpu_hours",     "usd",          "energy_kwh",  "peak_mem_gib",      NULL};

typedef enum column {
    C_id, C_run, C_domain, C_task, C_model, C_arch, C_params_m, C_active_params_m, C_layers, C_hidden, C_ffn, C_gated_mlp,
    C_heads, C_kv_heads, C_vocab, C_experts, C_top_k, C_seq_len, C_fwd_gmac_per_sample, C_mact_per_sample, C_input,
    C_dataset, C_samples_per_epoch, C_epochs, C_depth_or_leaves, C_rows, C_features, C_chip, C_sockets_or_threads, C_chips,
    C_chips_per_node, C_interconnect, C_precision, C_stack, C_framework, C_framework_note, C_sharding, C_tp, C_pp, C_vpp,
    C_cp, C_ep, C_dp, C_micro_batch, C_global_batch, C_recompute, C_flash_attention, C_compile, C_metric, C_unit, C_value,
    C_samples_total, C_tokens_total, C_year_month, C_source, C_quality, C_head_dim, C_optimizer, C_COUNT
} column;

static const char *const column_names[C_COUNT] = {
    "id", "run", "domain", "task", "model", "arch", "params_m", "active_params_m", "layers", "hidden", "ffn", "gated_mlp",
    "heads", "kv_heads", "vocab", "experts", "top_k", "seq_len", "fwd_gmac_per_sample", "mact_per_sample", "input",
    "dataset", "samples_per_epoch", "epochs", "depth_or_leaves", "rows", "features", "chip", "sockets_or_threads", "chips",
    "chips_per_node", "interconnect", "precision", "stack", "framework", "framework_note", "sharding", "tp", "pp", "vpp",
    "cp", "ep", "dp", "micro_batch", "global_batch", "recompute", "flash_attention", "compile", "metric", "unit", "value",
    "samples_total", "tokens_total", "year_month", "source", "quality", "head_dim", "optimizer"};

typedef struct reader {
    const ap_csv *csv;
    const ap_catalog *catalog;
    ap_arena *arena;
    ap_diags *diags;
    const char *name;
    int columns[C_COUNT];
    size_t row;
} reader;

/* -- cells ----------------------------------------------------------------------------------------------------------- */

static const char *text_at(const reader *r, column c)
{
    if (r->columns[c] < 0)
        return NULL;
    const char *text = r->csv->rows[r->row][r->columns[c]];
    return text && *text ? text : NULL;
}

static ap_pos pos_of(const reader *r, column c)
{
    return (ap_pos){r->name, r->csv->lines ? r->csv->lines[r->row] : 0, r->columns[c] + 1};
}

static double number_at(const reader *r, column c)
{
    const char *text = text_at(r, c);
    double value;
    if (!text)
        return AP_UNKNOWN;
    if (ap_num_parse(text, &value))
        return value;
    ap_diag_add(r->diags, AP_WARNING, 901, pos_of(r, c), "'%s' is no number in column %s; taken as unknown", text,
                column_names[c]);
    return AP_UNKNOWN;
}

/* A count or size: zero and below say nothing. */
static double positive_at(const reader *r, column c)
{
    double value = number_at(r, c);
    return value > 0 ? value : AP_UNKNOWN;
}

/* A number is written there that is not above zero. What is no number was warned of and counts as unknown. */
static bool bad_at(const reader *r, column c)
{
    const char *text = text_at(r, c);
    double value;
    return text && ap_num_parse(text, &value) && !(value > 0);
}

static int flag_at(const reader *r, column c)
{
    const char *text = text_at(r, c);
    if (!text)
        return -1;
    if (!strcmp(text, "1") || !strcmp(text, "true") || !strcmp(text, "True") || !strcmp(text, "yes"))
        return 1;
    if (!strcmp(text, "0") || !strcmp(text, "false") || !strcmp(text, "False") || !strcmp(text, "no"))
        return 0;
    return -1;
}

static int word_index(const char *const *names, const char *text)
{
    for (int i = 0; text && names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    return -1;
}

double ap_cases_date(const char *text)
{
    if (!text)
        return AP_UNKNOWN;
    char *end = NULL;
    long year = strtol(text, &end, 10);
    if (end != text + 4 || year < 1990 || year > 2100)
        return AP_UNKNOWN;
    if (*end != '-')
        return (double)year + 0.5;
    long month = strtol(end + 1, &end, 10);
    return month >= 1 && month <= 12 ? (double)year + ((double)month - 0.5) / 12 : (double)year + 0.5;
}

/* -- model ----------------------------------------------------------------------------------------------------------- */

static void take(double *into, double value, double scale)
{
    if (ap_known(value))
        *into = value * scale;
}

/* The row's shape over the catalog's profile. Where the row's depth or width is another one, it is another model under
 * the same name: derived counts of the profile no longer hold. */
static void merge_shape(const reader *r, ap_model *model)
{
    double layers = positive_at(r, C_layers), hidden = positive_at(r, C_hidden);
    bool other = (ap_known(layers) && ap_known(model->layers) && layers != model->layers) ||
                 (ap_known(hidden) && ap_known(model->hidden) && hidden != model->hidden);
    if (other) {
        model->params = model->active_params = AP_UNKNOWN;
        model->head_dim = model->heads = model->kv_heads = model->ffn = model->expert_ffn = AP_UNKNOWN;
        model->enc_layers = model->dec_layers = AP_UNKNOWN;
    }
    take(&model->layers, layers, 1);
    take(&model->hidden, hidden, 1);
    double heads = positive_at(r, C_heads);
    if (ap_known(heads) && ap_known(model->heads) && heads != model->heads)
        model->head_dim = AP_UNKNOWN;
    take(&model->heads, heads, 1);
    take(&model->head_dim, positive_at(r, C_head_dim), 1);
    take(&model->kv_heads, positive_at(r, C_kv_heads), 1);
    take(&model->ffn, positive_at(r, C_ffn), 1);
    take(&model->vocab, positive_at(r, C_vocab), 1);
    take(&model->params, positive_at(r, C_params_m), 1e6);
    take(&model->active_params, positive_at(r, C_active_params_m), 1e6);
    take(&model->experts, number_at(r, C_experts), 1);
    take(&model->top_k, number_at(r, C_top_k), 1);
    int gated = flag_at(r, C_gated_mlp);
    if (gated >= 0)
        model->gated_mlp = (signed char)gated;
    take(&model->fwd_mac, positive_at(r, C_fwd_gmac_per_sample), 1e9);
    take(&model->acts, positive_at(r, C_mact_per_sample), 1e6);
}

static const ap_model *row_model(const reader *r, const char *name)
{
    ap_model *model = AP_NEW(r->arena, ap_model);
    const ap_model *known = name ? ap_catalog_find_model(r->catalog, name) : NULL;
    if (known)
        *model = *known;
    else
        ap_schema_clear(&ap_model_object, model);
    const char *text;
    if (!model->id)
        model->id = name ? name : "";
    if ((text = text_at(r, C_domain)))
        model->domain = text;
    if ((text = text_at(r, C_arch)))
        model->arch = text;
    /* Work per sample of the profile is for the profile's input, work that the row states for the row's. */
    const char *input = text_at(r, C_input);
    if (input && ap_known(positive_at(r, C_fwd_gmac_per_sample))) {
        if (model->input && ap_known(ap_cases_pixels(input) / ap_cases_pixels(model->input)))
            model->acts *= ap_cases_pixels(input) / ap_cases_pixels(model->input);
        model->input = input;
    }
    merge_shape(r, model);
    if (!model->domain)
        model->domain = "other";
    if (!model->arch)
        model->arch = "other";
    return model;
}

/* -- machine --------------------------------------------------------------------------------------------------------- */

static void read_threads(const char *text, ap_case *job)
{
    double value;
    const char *end;
    if (!text || !ap_num_parse_prefix(text, &value, &end) || !(value > 0))
        return;
    if (*end == 's')
        job->chips = value;
    else
        job->threads = value; /* c (cores) and t (threads): what the program was told to use */
}

static const char *read_machine(const reader *r, ap_measure *m)
{
    ap_case *job = &m->job;
    job->chips = positive_at(r, C_chips);
    job->chips_per_node = positive_at(r, C_chips_per_node);
    read_threads(text_at(r, C_sockets_or_threads), job);
    job->interconnect = text_at(r, C_interconnect);
    if (!m->chip)
        return "the row names no chip";
    if (ap_starts_with(m->chip, "cpu:")) {
        job->chip = ap_cases_find_cpu(r->catalog, m->chip);
    } else {
        ap_chip_match match = ap_catalog_find_chip(r->catalog, m->chip);
        job->chip = match.chip ? match.chip : match.choice_count ? match.choices[0] : NULL;
    }
    if (!job->chip)
        return "the chip is not in the catalog";
    if (!ap_known(job->chips))
        job->chips = 1;
    ap_cases_read_interconnect(job->interconnect, job);
    return NULL;
}

/* -- software -------------------------------------------------------------------------------------------------------- */

static void read_precision(const reader *r, ap_case *job)
{
    const char *text = text_at(r, C_precision);
    if (!text)
        return;
    int precision = ap_precision_parse(text);
    if (precision < 0) {
        ap_diag_add(r->diags, AP_WARNING, 902, pos_of(r, C_precision), "unknown precision '%s'; taken as unknown", text);
        return;
    }
    bool adapters = job->method == AP_METHOD_LORA || job->method == AP_METHOD_QLORA;
    if (precision == AP_PREC_NF4 || precision == AP_PREC_INT4 || (precision == AP_PREC_INT8 && adapters)) {
        job->base_precision = precision; /* storage of the frozen base; the arithmetic is 16-bit */
        job->precision = AP_PREC_BF16;
    } else {
        job->precision = precision;
    }
}

static void read_sharding(const reader *r, ap_measure *m)
{
    const char *text = text_at(r, C_sharding);
    if (text && strcmp(text, "offload") == 0) {
        m->layout.sharding = AP_SHARD_ZERO3;
        m->job.offload = AP_OFFLOAD_OPTIMIZER | AP_OFFLOAD_PARAMETERS;
        return;
    }
    m->layout.sharding = word_index(ap_sharding_names, text);
}

static void read_software(const reader *r, ap_measure *m)
{
    ap_case *job = &m->job;
    job->task = text_at(r, C_task);
    job->method = word_index(ap_method_names, job->task);
    job->stack = m->stack;
    job->stack_info = m->stack ? ap_catalog_find_stack(r->catalog, m->stack) : NULL;
    job->framework = text_at(r, C_framework);
    job->framework_note = text_at(r, C_framework_note);
    job->optimizer = word_index(ap_optimizer_names, text_at(r, C_optimizer));
    job->flash = flag_at(r, C_flash_attention);
    job->compile = flag_at(r, C_compile);
    job->date = ap_cases_date(text_at(r, C_year_month));
    read_precision(r, job);
    read_sharding(r, m);
    /* The memory format is a fact of the run that result files carry in their names. */
    if (m->source && strstr(m->source, "nhwc") && !(job->framework_note && strstr(job->framework_note, "nhwc")))
        job->framework_note =
            ap_arena_printf(r->arena, "%s nhwc", job->framework_note ? job->framework_note : "");
}

static const char *suite_of(const ap_measure *m)
{
    if ((m->source && strstr(m->source, "mlcommons/training_results")) ||
        (m->stack && (!strcmp(m->stack, "ngc-mlperf") || ap_starts_with(m->stack, "mlperf-"))))
        return "mlperf";
    if (m->source && ap_starts_with(m->source, "lambdal"))
        return "lambda";
    return NULL;
}

/* The model's published recipe that fits best: same data set before same task; one that contradicts either is none. */
static const ap_recipe *find_recipe(const reader *r, const ap_measure *m)
{
    const ap_recipe *best = NULL;
    int best_score = -1;
    const ap_case *job = &m->job;
    bool tuning = job->task && (ap_streq(job->task, "finetune") || strstr(job->task, "lora"));
    for (size_t i = 0; i < r->catalog->recipes.count; i++) {
        const ap_recipe *recipe = &r->catalog->recipes.items[i];
        if (!ap_streq(recipe->model, job->model->id))
            continue;
        bool same_data = job->dataset_info && ap_streq(recipe->dataset, job->dataset_info->id);
        bool recipe_tuning = recipe->task && (ap_streq(recipe->task, "finetune") || strstr(recipe->task, "lora"));
        if ((job->dataset_info && !same_data) || (job->task && recipe->task && tuning != recipe_tuning))
            continue;
        bool mlperf = recipe->id && strstr(recipe->id, "mlperf");
        int score = 4 * same_data + 2 * ap_streq(recipe->task, job->task) + (mlperf == ap_streq(job->suite, "mlperf"));
        if (score > best_score) {
            best = recipe;
            best_score = score;
        }
    }
    return best;
}

static void read_run(const reader *r, ap_measure *m)
{
    ap_case *job = &m->job;
    job->seq_len = positive_at(r, C_seq_len);
    job->global_batch = positive_at(r, C_global_batch);
    job->samples_total = positive_at(r, C_samples_total);
    job->tokens_total = positive_at(r, C_tokens_total);
    job->samples_per_epoch = positive_at(r, C_samples_per_epoch);
    job->epochs = positive_at(r, C_epochs);
    job->dataset = text_at(r, C_dataset);
    job->dataset_info = job->dataset ? ap_catalog_find_dataset(r->catalog, job->dataset) : NULL;
    job->rows = positive_at(r, C_rows);
    job->features = positive_at(r, C_features);
    const char *depth = text_at(r, C_depth_or_leaves);
    if (depth && (depth[0] == 'd' || depth[0] == 'l')) {
        double value;
        if (ap_num_parse(depth + 1, &value) && value > 0)
            *(depth[0] == 'd' ? &job->depth : &job->leaves) = value;
    }
    if (ap_streq(job->arch, "gbdt"))
        job->trees = job->epochs;
    job->unit = m->unit;
    job->suite = suite_of(m);
    job->publication = m->source ? m->family : NULL;
    job->recipe = find_recipe(r, m);
    job->run_kind = ap_streq(job->suite, "mlperf") ? "mlperf" : m->metric == AP_METRIC_GPU_HOURS ? "card" : "wall";
}

static void read_layout(const reader *r, ap_layout *layout)
{
    layout->tp = positive_at(r, C_tp);
    layout->pp = positive_at(r, C_pp);
    layout->vpp = positive_at(r, C_vpp);
    layout->cp = positive_at(r, C_cp);
    layout->ep = positive_at(r, C_ep);
    layout->dp = positive_at(r, C_dp);
    layout->micro_batch = positive_at(r, C_micro_batch);
    layout->recompute = word_index(ap_recompute_names, text_at(r, C_recompute));
}

/* -- rows ------------------------------------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Price of the chip by the hour: median of the catalog's on-demand offers. Only money rows need it. */
static double chip_price(const reader *r, const ap_chip *chip)
{
    double prices[256];
    size_t count = 0;
    for (size_t i = 0; i < r->catalog->instances.count && count < 256; i++) {
        const ap_instance *instance = &r->catalog->instances.items[i];
        if (!ap_streq(instance->chip, chip->id) || !instance->prices.count || !(instance->chip_count > 0))
            continue;
        double price = instance->prices.items[0].on_demand / instance->chip_count;
        if (price > 0)
            prices[count++] = price;
    }
    if (!count)
        return AP_UNKNOWN;
    qsort(prices, count, sizeof *prices, by_number);
    return prices[count / 2];
}

static bool sized(const ap_model *model)
{
    return model->params > 0 || model->fwd_mac > 0 || (model->hidden > 0 && (model->layers > 0 || model->enc_layers > 0));
}

/* Why a row cannot be judged, or NULL. What is not said is assumed or left out; what is said wrongly is not guessed at. */
static const char *fault_of(const reader *r, const ap_measure *m)
{
    if (m->metric < 0)
        return "the metric is unknown";
    if (ap_streq(m->domain, "dataload"))
        return "an input pipeline alone is no training run";
    if (bad_at(r, C_value))
        return "the measured value is not positive";
    if (bad_at(r, C_chips))
        return "the number of chips is not positive";
    if (!m->model && !sized(m->job.model))
        return "the row names no model and none of its sizes";
    return NULL;
}

static void read_row(const reader *r, ap_measure *m)
{
    m->line = r->csv->lines ? r->csv->lines[r->row] : 0;
    const char *id = text_at(r, C_id), *run = text_at(r, C_run);
    m->id = id ? id : ap_arena_printf(r->arena, "row-%zu", r->row + 1);
    m->run = run ? run : m->id;
    m->source = text_at(r, C_source);
    m->quality = text_at(r, C_quality);
    m->model = text_at(r, C_model);
    m->chip = text_at(r, C_chip);
    m->stack = text_at(r, C_stack);
    m->unit = text_at(r, C_unit);
    m->family = ap_cases_family(m->source, r->arena);
    m->metric = word_index(ap_metric_names, text_at(r, C_metric));
    m->value = positive_at(r, C_value);
    ap_case_clear(&m->job);
    ap_layout_clear(&m->layout);
    m->job.model = row_model(r, m->model);
    m->domain = m->job.domain = m->job.model->domain;
    m->job.arch = m->job.model->arch;
    m->job.input = text_at(r, C_input);
    m->skip = read_machine(r, m);
    read_software(r, m);
    read_run(r, m);
    read_layout(r, &m->layout);
    ap_cases_fill_from_suites(r->catalog, m);
    const char *fault = fault_of(r, m);
    if (fault)
        m->skip = fault;
    if (m->metric == AP_METRIC_USD && m->job.chip)
        m->job.usd_per_chip_h = chip_price(r, m->job.chip);
}

ap_status ap_cases_parse(const char *text, size_t len, const char *name, const ap_catalog *catalog, ap_arena *arena,
                         ap_diags *diags, ap_measures *ret)
{
    *ret = (ap_measures){0};
    ap_csv csv;
    ap_status status = ap_csv_parse(text, len, name, arena, diags, &csv);
    if (status != AP_OK)
        return status;
    reader r = {.csv = &csv, .catalog = catalog, .arena = arena, .diags = diags, .name = name};
    for (int c = 0; c < C_COUNT; c++)
        r.columns[c] = ap_csv_column(&csv, column_names[c]);
    if (r.columns[C_metric] < 0 || (r.columns[C_chip] < 0 && r.columns[C_model] < 0)) {
        ap_diag *diag = ap_diag_add(diags, AP_ERROR, 900, (ap_pos){name, 1, 1},
                                    "no measurement table: the columns metric, chip and model are missing");
        diag->hint = "the first line names the columns, as in tests/measured/measured.csv";
        return AP_BAD_INPUT;
    }
    ret->items = AP_NEW_ARRAY(arena, ap_measure, csv.row_count + 1);
    for (r.row = 0; r.row < csv.row_count; r.row++)
        read_row(&r, &ret->items[ret->count++]);
    return AP_OK;
}

ap_status ap_cases_load(const char *path, const ap_catalog *catalog, ap_arena *arena, ap_diags *diags, ap_measures *ret)
{
    char *text = NULL;
    size_t len = 0;
    *ret = (ap_measures){0};
    ap_status status = ap_file_read(path, CASES_MAX_BYTES, arena, diags, &text, &len);
    if (status != AP_OK)
        return status;
    return ap_cases_parse(text, len, path, catalog, arena, diags, ret);
}
