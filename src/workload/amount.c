/* How much is trained: what the user says, the recipe, the model's profile. A run to a target besides: its schedule cut short by
 * early stopping, and what other batches make of it. */
#include "base/num.h"
#include "base/units.h"
#include "workload/spec.h"

bool ap_job_from_scratch(const ap_job *job)
{
    return job->method == AP_METHOD_PRETRAIN || job->method == AP_METHOD_TRAIN;
}

/* Samples of one epoch as the user, the data set or nobody says. */
static double epoch_samples(const ap_job *job)
{
    const ap_workload *w = job->workload;
    if (ap_known(w->data.samples))
        return w->data.samples;
    if (!job->dataset)
        return AP_UNKNOWN;
    if (ap_model_is_transformer(&job->model) && ap_known(job->dataset->tokens))
        return job->dataset->tokens / job->seq_len;
    return job->dataset->samples;
}

/* 200 M, for people; it reads back. */
static const char *count_text(const ap_job *job, double count)
{
    ap_sbuf text;
    ap_sbuf_init(&text, job->arena);
    ap_units_format(count, AP_DIM_COUNT, &text);
    return text.text;
}

/* Samples of the recipe's length in those of the job's: a batch counts for its tokens. */
static double length_scale(const ap_job *job, const ap_recipe *recipe)
{
    bool tokens = ap_model_is_transformer(&job->model) && recipe->seq_len > 0 && job->seq_len > 0;
    return tokens ? recipe->seq_len / job->seq_len : 1;
}

static void amount_from_recipe(ap_job *job)
{
    const ap_recipe *recipe = job->recipe;
    const ap_model *model = &job->model;
    const char *because = recipe ? "the model's recipe" : "the model's published training";
    job->amount = AP_AMOUNT_MODEL;
    /* A benchmark's recipe goes on from a checkpoint to a stop point; a language model's own training is what is meant
     * where nobody names a data set. */
    bool own_training = ap_job_from_scratch(job) && ap_known(model->tokens) && !job->dataset;
    if (own_training) {
        job->tokens = model->tokens;
        because = "the model's published training";
    } else if (recipe && ap_known(recipe->tokens)) {
        job->tokens = recipe->tokens;
        job->amount = AP_AMOUNT_RECIPE;
    } else if (recipe && ap_known(recipe->samples)) {
        job->samples = recipe->samples * length_scale(job, recipe);
        job->amount = AP_AMOUNT_RECIPE;
    } else if (ap_job_from_scratch(job) && ap_known(model->tokens)) {
        job->tokens = model->tokens;
    } else if (ap_job_from_scratch(job) && ap_known(model->samples)) {
        job->samples = model->samples * ap_or(model->epochs, 1);
    }
    if (ap_known(job->tokens))
        ap_job_assume(job, "tokens", because, "%s", count_text(job, job->tokens));
    else if (ap_known(job->samples))
        ap_job_assume(job, "samples", because, "%s", count_text(job, job->samples));
}

/* Tokens say how much there is in all. Samples that say something else contradict them; epochs are part of them. */
ap_status ap_job_check_amount(ap_job *job, ap_diags *diags)
{
    const ap_workload *w = job->workload;
    if (!ap_known(w->data.tokens) || !ap_known(job->seq_len))
        return AP_OK;
    double samples = w->data.samples * ap_or(w->data.epochs, 1) * job->seq_len;
    if (ap_known(samples) && fabs(samples - w->data.tokens) > 0.02 * w->data.tokens) {
        ap_diag_add(diags, AP_ERROR, 305, w->pos, "data: %s tokens contradict %s samples of %.0f tokens",
                    count_text(job, w->data.tokens), count_text(job, w->data.samples * ap_or(w->data.epochs, 1)), job->seq_len)->hint = "give one of the two";
        return w->pos.line > 0 ? AP_BAD_INPUT : AP_USAGE;
    }
    if (ap_known(w->data.epochs) && !ap_known(w->data.samples))
        ap_job_assume(job, "tokens", "tokens are of the whole run; epochs are not multiplied in", "%s",
                      count_text(job, w->data.tokens));
    return AP_OK;
}

void ap_job_settle_amount(ap_job *job)
{
    const ap_workload *w = job->workload;
    bool tokens = ap_model_is_transformer(&job->model);
    job->tokens = w->data.tokens;
    job->samples = job->epochs = AP_UNKNOWN;
    job->samples_per_epoch = epoch_samples(job);
    if (!ap_known(job->tokens) && ap_known(job->samples_per_epoch)) {
        job->epochs = w->data.epochs;
        if (!ap_known(job->epochs) && job->recipe && ap_known(job->recipe->epochs)) {
            job->epochs = job->recipe->epochs;
            job->amount = AP_AMOUNT_RECIPE;
            ap_job_assume(job, "epochs", "the model's recipe", "%g", job->epochs);
        } else if (!ap_known(job->epochs)) {
            job->amount = AP_AMOUNT_MODEL;
            job->epochs = ap_job_from_scratch(job) && ap_known(job->model.epochs) ? job->model.epochs : 1;
            ap_job_assume(job, "epochs", ap_known(job->model.epochs) ? "the model's profile" : "not given", "%g", job->epochs);
        }
        job->samples = job->samples_per_epoch * job->epochs;
    } else if (!ap_known(job->tokens)) {
        amount_from_recipe(job);
        bool asked = ap_known(w->data.epochs) && job->recipe && ap_known(job->recipe->epochs) && ap_known(job->samples);
        if (asked) {
            job->samples *= w->data.epochs / job->recipe->epochs;
            job->amount = AP_AMOUNT_GIVEN;
        }
    }
    if (tokens && ap_known(job->tokens) && !ap_known(job->samples))
        job->samples = job->tokens / job->seq_len;
    if (tokens && ap_known(job->samples) && !ap_known(job->tokens))
        job->tokens = job->samples * job->seq_len;
    if (!ap_known(job->samples) && !ap_known(job->tokens))
        job->unknown_run = !job->dataset ? "no amount of data given: name tokens, samples and epochs, or a dataset"
                                         : ap_arena_printf(job->arena, "the data set %s has no number of samples for such a model: name samples", job->dataset->id);
}

static bool is_of_family(const ap_job *job, const ap_catalog *catalog, const ap_recipe *recipe)
{
    const ap_model *model = ap_catalog_find_model(catalog, recipe->model);
    return model && model->family && ap_streq(model->family, job->model.family);
}

/* Other models' runs on the same data: the geometric mean of their critical batches, the smallest of their largest
 * batches, which is what every one of them is known to bear. */
static bool take_law_of_data(ap_job *job, const ap_catalog *catalog, bool same_family)
{
    double log_sum = 0, largest = AP_UNKNOWN, only = AP_UNKNOWN;
    size_t count = 0;
    for (size_t i = 0; i < catalog->recipes.count; i++) {
        const ap_recipe *recipe = &catalog->recipes.items[i];
        if (!ap_known(recipe->critical_batch) || !ap_streq(recipe->dataset, job->dataset->id))
            continue;
        if (same_family && !is_of_family(job, catalog, recipe))
            continue;
        double scale = length_scale(job, recipe);
        only = recipe->critical_batch * scale;
        log_sum += log(only);
        if (ap_known(recipe->largest_batch))
            largest = fmin(ap_or(largest, HUGE_VAL), recipe->largest_batch * scale);
        count++;
    }
    if (count == 0)
        return false;
    job->critical_batch = count == 1 ? only : exp(log_sum / (double)count);
    job->largest_batch = largest;
    job->batch_law = job->dataset->id;
    if (job->global_batch < job->target_batch) /* what a smaller batch saves is not taken from another model */
        job->target_batch = job->global_batch;
    return true;
}

static void find_batch_law(ap_job *job, const ap_catalog *catalog)
{
    const char *dataset = job->dataset ? job->dataset->id : job->recipe ? job->recipe->dataset : NULL;
    bool own = job->recipe && ap_known(job->recipe->critical_batch) && ap_streq(job->recipe->dataset, dataset);
    for (size_t i = 0; dataset && i < catalog->recipes.count; i++) {
        const ap_recipe *recipe = own ? job->recipe : &catalog->recipes.items[i]; /* the one that is followed goes before others */
        if (!ap_known(recipe->critical_batch) || !ap_streq(recipe->model, job->model.id) || !ap_streq(recipe->dataset, dataset))
            continue;
        job->critical_batch = recipe->critical_batch * length_scale(job, recipe);
        job->largest_batch = recipe->largest_batch * length_scale(job, recipe);
        job->batch_law = recipe->id;
        return;
    }
    if (job->dataset && !take_law_of_data(job, catalog, true))
        (void)take_law_of_data(job, catalog, false);
}

/* Epochs that equal the recipe's are the recipe's schedule. */
bool ap_job_runs_recipe(const ap_job *job)
{
    const ap_recipe *recipe = job->recipe;
    return recipe && (job->amount == AP_AMOUNT_RECIPE || (ap_known(recipe->epochs) && job->epochs == recipe->epochs));
}

/* Early stopping is a stated factor: the part of the schedule that published runs of the recipe needed. */
static void stop_early(ap_job *job)
{
    const ap_recipe *recipe = job->recipe;
    bool asked = job->workload->early_stopping == 1, known = recipe && recipe->early_stop_factor < 1;
    if (!known || !ap_job_runs_recipe(job)) {
        if (asked)
            ap_job_assume(job, "early_stopping", !known ? "no effect: no published run says how much sooner the target is reached"
                                                        : "no effect: only the recipe's own schedule is known to end sooner", "false");
        return;
    }
    if (!asked) {
        if (job->amount == AP_AMOUNT_RECIPE)
            ap_job_assume(job, "early_stopping", "the whole schedule runs, though published runs reached their target sooner", "false");
        return;
    }
    job->samples *= recipe->early_stop_factor;
    job->tokens *= recipe->early_stop_factor;
    job->epochs *= recipe->early_stop_factor;
    ap_job_assume(job, "early_stop_factor", "part of the recipe's schedule that published runs needed", "%g",
                  recipe->early_stop_factor);
}

/* A batch that the recipe itself has is known to reach the target. */
static void admit_own_batch(ap_job *job)
{
    double own = job->recipe ? job->recipe->global_batch * length_scale(job, job->recipe) : AP_UNKNOWN;
    if (job->largest_batch < own)
        job->largest_batch = own;
}

void ap_job_settle_target(ap_job *job, const ap_catalog *catalog)
{
    const ap_recipe *recipe = job->recipe;
    stop_early(job);
    if (job->amount == AP_AMOUNT_RECIPE && recipe)
        job->target_batch = recipe->global_batch * length_scale(job, recipe);
    else if (job->amount == AP_AMOUNT_MODEL && job->dataset)
        job->target_batch = job->model.global_batch;
    find_batch_law(job, catalog);
    admit_own_batch(job);
    if (!ap_known(job->critical_batch))
        job->target_batch = AP_UNKNOWN;
}
