/* Time and money: limits, interruptions, bills without end. */
#include <string.h>
#include <strings.h>

#include "jobs/understand.h"

/* Hours of the run on the fastest chip that it may land on; NaN unknown. */
static double best_hours(const ap_judge *j)
{
    const ap_checkjob *job = j->job;
    double best = AP_UNKNOWN;
    if (job->resolved.unknown_run)
        return AP_UNKNOWN;
    for (size_t i = 0; job->estimated && i < job->chip_count; i++) {
        const ap_plan *plan = job->per_chip[i].plan;
        if (!plan->est.error)
            best = fmin(ap_or(best, (double)INFINITY), ap_or(plan->run.hours_p50, (double)INFINITY));
    }
    return isinf(best) ? AP_UNKNOWN : best;
}

static double long_hours(const ap_judge *j)
{
    double best = best_hours(j);
    return ap_known(best) ? best : j->job->reference_h;
}

/* -- limits
 * -----------------------------------------------------------------------------------------------------------------------
 */

static bool can_have_limit(const ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const char *kind = j->f->t.runner.value;
    if (ap_job_has_format(j, AP_JF_SLURM))
        return true;
    if (job->format == AP_JF_K8S && kind)
        return strcmp(kind, "TrainJob") != 0 && strcmp(kind, "RayCluster") != 0 && strcmp(kind, "StatefulSet") != 0 &&
               strcmp(kind, "Deployment") != 0 && strcmp(kind, "LeaderWorkerSet") != 0 &&
               strcmp(kind, "DaemonSet") != 0 && strcmp(kind, "ReplicaSet") != 0;
    return job->format == AP_JF_DSTACK || job->format == AP_JF_AZUREML;
}

static void find_no_limit(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_checkjob *job = j->job;
    bool accelerated = job->chip_count > 0 || job->chips_per_node.value >= 1 || ap_jnum_stated(&n->chips_per_node);
    if (!can_have_limit(j) || ap_jnum_stated(&n->time_limit_s) || !accelerated)
        return;
    const ap_pos places[] = {n->forever.pos, job->format == AP_JF_K8S ? n->restarts.pos : AP_NO_POS,
                             ap_job_chip_pos(j)};
    const char *what = ap_job_has_format(j, AP_JF_SLURM) ? "no --time"
                       : job->format == AP_JF_K8S        ? "no activeDeadlineSeconds"
                       : job->format == AP_JF_DSTACK     ? "no max_duration"
                                                         : "no limits.timeout";
    ap_judge_add(j, AP_FAULT_NO_TIME_LIMIT, ap_judge_pos(j, places, 3), "%s: nothing bounds the run or its bill", what)
        ->hint = "set a limit a little above the expected time";
}

static void find_short_limit(ap_judge *j)
{
    double hours = best_hours(j), limit = j->job->time_limit_h;
    const ap_pos pos = j->f->n.time_limit_s.pos;
    if (!(limit > 0) || !(hours > limit))
        return;
    if (hours > j->k.limit_error * limit)
        ap_judge_add(j, AP_FAULT_TIME_LIMIT_TOO_SHORT, pos, "the run takes about %.3g h, the limit is %.3g h", hours,
                     limit)
            ->hint = "raise the limit, or save checkpoints and resume in further jobs";
    else if (hours > j->k.limit_note * limit)
        ap_judge_add(j, AP_FAULT_TIME_LIMIT_TOO_SHORT, pos, "the run may take %.3g h, the limit is %.3g h", hours,
                     limit)
            ->severity = AP_NOTE;
}

static void find_session(ap_judge *j)
{
    const ap_checkjob *job = j->job;
    double limit_h = AP_UNKNOWN, hours = best_hours(j);
    if (!ap_streq(job->cloud, "colab") && !ap_streq(job->cloud, "kaggle"))
        return;
    const ap_catalog *catalog = j->request->catalog;
    for (size_t i = 0; i < catalog->instances.count; i++)
        if (ap_streq(catalog->instances.items[i].cloud, job->cloud) &&
            ap_known(catalog->instances.items[i].session_limit_s))
            limit_h = fmax(ap_or(limit_h, 0), catalog->instances.items[i].session_limit_s / 3600);
    if (!ap_known(limit_h))
        limit_h = j->k.session_h;
    if (hours > limit_h * j->k.session_margin)
        ap_judge_add(j, AP_FAULT_SESSION_LIMIT, ap_job_chip_pos(j),
                     "the run takes about %.3g h, a session there ends after %.3g h", hours, limit_h)
            ->hint = "save to a mounted drive and resume, or rent a machine for the run";
}

/* -- checkpoints
 * -------------------------------------------------------------------------------------------------------------------
 */

static bool saving_is_off(const ap_judge *j)
{
    const ap_jobtexts *t = &j->f->t;
    const ap_jobnums *n = &j->f->n;
    return (t->save_strategy.value && strcasecmp(t->save_strategy.value, "no") == 0) ||
           (ap_jnum_stated(&n->save_enabled) && n->save_enabled.value < 0.5);
}

static bool is_remote(const char *path)
{
    return path && (strstr(path, "://") || ap_starts_with(path, "/gcs/") || ap_starts_with(path, "/mnt/"));
}

static bool checkpoints_survive(const ap_judge *j)
{
    return ap_is(&j->f->n.durable_storage) || is_remote(j->f->t.save_dir.value) ||
           (ap_jtext_stated(&j->f->t.save_dir) && !j->f->t.save_dir.value);
}

static void find_checkpoints(ap_judge *j)
{
    double hours = long_hours(j);
    const ap_jobtexts *t = &j->f->t;
    const ap_pos save[] = {t->save_strategy.pos, j->f->n.save_enabled.pos};
    bool off = saving_is_off(j);
    if (j->job->spot == 1 && hours >= j->k.long_run_h && (off || !checkpoints_survive(j))) {
        const ap_pos places[] = {j->f->n.spot.pos, save[0], save[1]};
        ap_judge_add(j, AP_FAULT_SPOT_NO_CHECKPOINT, ap_judge_pos(j, places, 3),
                     off ? "about %.0f h on spot machines and nothing is saved: an interruption starts from zero"
                         : "about %.0f h on spot machines, and checkpoints go to a disk that vanishes with them",
                     hours)
            ->hint = "write checkpoints to a bucket or a volume and resume from them";
    } else if (off && hours >= j->k.long_run_h) {
        ap_judge_add(j, AP_FAULT_NO_CHECKPOINT, ap_judge_pos(j, save, 2),
                     "saving is switched off in a run of about %.0f h: a failure loses all of it", hours)
            ->hint = "save_strategy: steps";
    }
}

/* -- bills without end
 * -------------------------------------------------------------------------------------------------------------- */

static double field_starts(const char *field, size_t len, double span)
{
    double step, count = 1;
    const char *end;
    if (len == 1 && *field == '*')
        return span;
    if (len > 2 && field[0] == '*' && field[1] == '/' && ap_num_parse_prefix(field + 2, &step, &end) && step >= 1)
        return ceil(span / step);
    for (size_t i = 0; i < len; i++)
        count += field[i] == ',';
    return count;
}

/* Starts a day of a cron expression; NaN when it is none. */
static double starts_per_day(const char *cron)
{
    double spans[5] = {60, 24, 31, 12, 7}, starts[5];
    if (strcmp(cron, "@hourly") == 0)
        return 24;
    if (*cron == '@')
        return strcmp(cron, "@daily") == 0 ? 1 : 1.0 / 7;
    for (int i = 0; i < 5; i++) {
        cron += strspn(cron, " ");
        size_t len = strcspn(cron, " ");
        if (len == 0)
            return AP_UNKNOWN;
        starts[i] = field_starts(cron, len, spans[i]);
        cron += len;
    }
    double days = starts[2] < 31 ? starts[2] / 30 : starts[4] / 7;
    return starts[0] * starts[1] * days;
}

static void find_runaway(ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_jobtexts *t = &j->f->t;
    const ap_checkjob *job = j->job;
    const char *kind = t->runner.value ? t->runner.value : "";
    double chips = job->chip_total, per_day = t->schedule.value ? starts_per_day(t->schedule.value) : AP_UNKNOWN,
           hours = ap_or(best_hours(j), job->time_limit_h);
    if (job->format == AP_JF_K8S && ap_is(&n->forever) && chips >= 1)
        ap_judge_add(
            j, AP_FAULT_RUNAWAY_BILL, n->forever.pos,
            strcmp(kind, "RayJob") == 0
                ? "shutdownAfterJobFinishes is not true: the cluster stays and is paid for when the job is done"
                : "a %s never ends: its chips are paid for until somebody deletes it",
            kind)
            ->hint = "a Job with activeDeadlineSeconds ends by itself";
    else if (job->format == AP_JF_K8S && strcmp(kind, "RayCluster") == 0 && ap_is(&n->stays_up) && chips >= 1)
        ap_judge_add(j, AP_FAULT_RUNAWAY_BILL, n->stays_up.pos,
                     "a RayCluster has no end: %.0f workers with chips are paid for until somebody deletes it",
                     n->stays_up.value)
            ->hint = "a RayJob with shutdownAfterJobFinishes, or minReplicas: 0 with autoscaling";
    else if (job->format == AP_JF_RAY && ap_is(&n->stays_up))
        ap_judge_add(j, AP_FAULT_RUNAWAY_BILL, n->stays_up.pos,
                     "min_workers keeps %.0f machines with chips up and paid for, work or no work", n->stays_up.value)
            ->hint = "min_workers: 0";
    if (per_day >= j->k.starts_per_day || per_day * hours > 24 ||
        (per_day >= j->k.starts_unbounded && chips >= j->k.large_job_chips && !ap_jnum_stated(&n->time_limit_s)))
        ap_judge_add(j, AP_FAULT_RUNAWAY_BILL, t->schedule.pos, "\"%s\" starts the job %.3g times a day%s",
                     t->schedule.value, per_day, per_day * hours > 24 ? ", sooner than it ends" : "")
            ->hint = "start it less often, forbid overlap (concurrencyPolicy: Forbid) and set a deadline";
    if (n->restarts.value > j->k.most_restarts && chips >= 1)
        ap_judge_add(j, AP_FAULT_RUNAWAY_BILL, n->restarts.pos,
                     "up to %.0f restarts: a job that fails again and again is paid for each time", n->restarts.value)
            ->hint = "a handful of restarts is enough";
    if (n->trials.value * ap_or(chips, 1) >= j->k.most_trials)
        ap_judge_add(j, AP_FAULT_RUNAWAY_BILL, n->trials.pos, "%.0f trials of %.0f chips each", n->trials.value,
                     ap_or(chips, 1))
            ->hint = "fewer trials, or a search that stops bad ones early";
}

/* -- budgets
 * ------------------------------------------------------------------------------------------------------------------------
 */

static bool is_candidate(const ap_checkjob *job, const char *chip)
{
    for (size_t i = 0; i < job->chip_count; i++)
        if (strcmp(job->chips[i]->id, chip) == 0)
            return true;
    return false;
}

/* Cheapest hour of one machine with these chips. */
static double cheapest_machine(const ap_judge *j)
{
    const ap_checkjob *job = j->job;
    const ap_catalog *catalog = j->request->catalog;
    double best = AP_UNKNOWN;
    bool on_demand_only = job->spot == 0;
    for (size_t i = 0; i < catalog->instances.count; i++) {
        const ap_instance *instance = &catalog->instances.items[i];
        if (!is_candidate(job, instance->chip) || instance->chip_count < job->chips_per_node.value - 0.5 ||
            (job->cloud && !ap_streq(job->cloud, instance->cloud)))
            continue;
        for (int kind = AP_PRICE_ON_DEMAND; kind <= (on_demand_only ? AP_PRICE_ON_DEMAND : AP_PRICE_SPOT); kind++) {
            const ap_price *price = ap_instance_cheapest(instance, kind, NULL);
            double usd = price ? ap_price_usd(price, kind) : AP_UNKNOWN;
            if (usd > 0)
                best = fmin(ap_or(best, (double)INFINITY), usd);
        }
    }
    return best;
}

static void find_budget(ap_judge *j)
{
    const ap_jnum *cap = &j->f->n.usd_per_h_limit;
    const ap_checkjob *job = j->job;
    double cheapest = ap_known(cap->value) && job->chip_count > 0 ? cheapest_machine(j) : AP_UNKNOWN;
    if (ap_known(cheapest) && cap->value < j->k.price_cap_share * cheapest)
        ap_judge_add(
            j, AP_FAULT_OVER_BUDGET, cap->pos,
            "the price cap of %.4g USD/h is below every known offer: the cheapest such machine costs %.4g USD/h",
            cap->value, cheapest)
            ->hint = "raise the cap, or ask for less";
    if (job->estimated && job->result.cost_p50 > j->request->max_cost_usd)
        ap_judge_add(j, AP_FAULT_OVER_BUDGET, ap_job_chip_pos(j),
                     "the run costs about %.4g USD, more than --max-cost %.4g", job->result.cost_p50,
                     j->request->max_cost_usd);
    if (best_hours(j) > j->request->max_hours)
        ap_judge_add(j, AP_FAULT_OVER_BUDGET, ap_job_chip_pos(j),
                     "the run takes about %.4g h, more than --max-hours %.4g", best_hours(j), j->request->max_hours);
    else if (!ap_known(best_hours(j)) && job->time_limit_h > j->request->max_hours)
        ap_judge_add(j, AP_FAULT_OVER_BUDGET, j->f->n.time_limit_s.pos,
                     "the time limit of %.4g h is more than --max-hours %.4g", job->time_limit_h,
                     j->request->max_hours);
}

void ap_find_time(ap_judge *j)
{
    find_no_limit(j);
    if (!ap_judge_has(j, AP_FAULT_DOES_NOT_FIT)) {
        find_short_limit(j);
        find_session(j);
    }
    find_checkpoints(j);
    find_runaway(j);
    find_budget(j);
}
