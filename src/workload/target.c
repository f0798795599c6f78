/* What a run to a target takes: the published schedule, cut short by early stopping, and what other batches make of it. */
#include "base/num.h"
#include "workload/spec.h"

/* Samples of the recipe's length in those of the job's: a batch counts for its tokens. */
static double length_scale(const ap_job *job, const ap_recipe *recipe)
{
    bool tokens = ap_model_is_transformer(&job->model) && recipe->seq_len > 0 && job->seq_len > 0;
    return tokens ? recipe->seq_len / job->seq_len : 1;
}

/* Another model's runs on the same data: the geometric mean of their critical batches, the largest of their batches. */
static void take_law_of_data(ap_job *job, const ap_catalog *catalog)
{
    double log_sum = 0, largest = AP_UNKNOWN;
    size_t count = 0;
    for (size_t i = 0; i < catalog->recipes.count; i++) {
        const ap_recipe *recipe = &catalog->recipes.items[i];
        if (!ap_known(recipe->critical_batch) || !ap_streq(recipe->dataset, job->dataset->id))
            continue;
        log_sum += log(recipe->critical_batch * length_scale(job, recipe));
        largest = fmax(ap_or(largest, 0), recipe->largest_batch * length_scale(job, recipe));
        count++;
    }
    if (count == 0)
        return;
    job->critical_batch = exp(log_sum / (double)count);
    job->largest_batch = largest;
    job->batch_law = job->dataset->id;
    if (job->global_batch < job->target_batch) /* what a smaller batch saves is not taken from another model */
        job->target_batch = job->global_batch;
}

static void find_batch_law(ap_job *job, const ap_catalog *catalog)
{
    const char *dataset = job->dataset ? job->dataset->id : job->recipe ? job->recipe->dataset : NULL;
    for (size_t i = 0; dataset && i < catalog->recipes.count; i++) {
        const ap_recipe *recipe = &catalog->recipes.items[i];
        if (!ap_known(recipe->critical_batch) || !ap_streq(recipe->model, job->model.id) || !ap_streq(recipe->dataset, dataset))
            continue;
        job->critical_batch = recipe->critical_batch * length_scale(job, recipe);
        job->largest_batch = recipe->largest_batch * length_scale(job, recipe);
        job->batch_law = recipe->id;
        return;
    }
    if (job->dataset)
        take_law_of_data(job, catalog);
}

/* Early stopping is a stated factor: the part of the schedule that published runs of the recipe needed. */
static void stop_early(ap_job *job)
{
    const ap_recipe *recipe = job->recipe;
    if (job->amount != AP_AMOUNT_RECIPE || !recipe || !(recipe->early_stop_factor < 1))
        return;
    if (job->workload->early_stopping != 1) {
        ap_job_assume(job, "early_stopping", "the whole schedule runs, though published runs reached their target sooner", "false");
        return;
    }
    job->samples *= recipe->early_stop_factor;
    job->tokens *= recipe->early_stop_factor;
    job->epochs *= recipe->early_stop_factor;
    ap_job_assume(job, "early_stop_factor", "part of the recipe's schedule that published runs needed", "%g",
                  recipe->early_stop_factor);
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
    if (!ap_known(job->critical_batch))
        job->target_batch = AP_UNKNOWN;
}
