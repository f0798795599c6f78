/* Steps of understanding, and what findings share. Private to src/jobs. */
#ifndef AP_JOBS_UNDERSTAND_H
#define AP_JOBS_UNDERSTAND_H

#include "jobs/constants.h"
#include "jobs/jobs.h"
#include "jobs/reader.h"

typedef struct ap_judge {
    const ap_jobs_request *request;
    ap_arena *arena;
    ap_checkjob *job;
    const ap_jobfacts *f;
    ap_check_constants k;
} ap_judge;

void ap_understand_hardware(ap_judge *j); /* hardware.c: chips, machines, counts */
void ap_understand_training(ap_judge *j); /* training.c: method, precision, layout, batch */
void ap_understand_model(ap_judge *j);    /* model.c */
void ap_estimate_job(ap_judge *j);        /* runs.c */

void ap_find_counts(ap_judge *j);
void ap_find_hardware(ap_judge *j);
void ap_find_memory(ap_judge *j);
void ap_find_time(ap_judge *j);
void ap_find_speed(ap_judge *j);
void ap_find_oddities(ap_judge *j);
void ap_find_policies(ap_judge *j);

/* spelling.c */
bool ap_chips_found(const ap_chip_match *match);
ap_chip_match ap_chips_spelled(ap_judge *j, const char *provider, const char *name);
void ap_chips_add(ap_judge *j, const ap_chip *chip); /* to the chips that the job may land on */
/* Those of a match that any of `features` admits (count 0: all). */
void ap_chips_add_match(ap_judge *j, const ap_chip_match *match, const ap_chip_match *features, size_t feature_count);
bool ap_chips_match_has(const ap_chip_match *match, const ap_chip *chip);
void ap_chips_understand(ap_judge *j);
void ap_chips_from_memory(ap_judge *j);

ap_jobfinding *ap_judge_add(ap_judge *j, ap_fault fault, ap_pos pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool ap_judge_has(const ap_judge *j, ap_fault fault);
/* The first stated position of several, else the job's first line. */
ap_pos ap_judge_pos(const ap_judge *j, const ap_pos *positions, size_t count);
ap_pos ap_job_chip_pos(const ap_judge *j); /* where the chips are asked for */
ap_pos ap_job_top(const ap_judge *j);

bool ap_job_has_format(const ap_judge *j, ap_jobformat format);
bool ap_job_is_transformers(const ap_judge *j); /* trains with the arguments of Hugging Face's trainers */
bool ap_job_is_distributed_launch(const ap_judge *j);
bool ap_job_unresolved_launch(const ap_judge *j);
bool ap_job_has_config_unread(const ap_judge *j); /* refers to a launcher configuration that was not read */

static inline bool ap_is(const ap_jnum *fact)
{
    return fact->value >= 1 || fact->value > 0.5;
}

#endif
