#define _GNU_SOURCE /* memmem */
/* The order of judging, and what all findings use. */
#include <stdarg.h>
#include <string.h>

#include "jobs/understand.h"

ap_jobfinding *ap_judge_add(ap_judge *j, ap_fault fault, ap_pos pos, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ap_sbuf message;
    ap_sbuf_init(&message, j->arena);
    ap_sbuf_vprintf(&message, format, args);
    va_end(args);
    if (pos.line == 0)
        pos = ap_job_top(j);
    return ap_jobfinding_add(j->arena, &j->job->findings, fault, pos, "%s", message.text);
}

bool ap_judge_has(const ap_judge *j, ap_fault fault)
{
    for (size_t i = 0; i < j->job->findings.count; i++)
        if (j->job->findings.items[i].fault == fault)
            return true;
    return false;
}

ap_pos ap_job_top(const ap_judge *j)
{
    return (ap_pos){j->job->files[0]->path, 1, 1};
}

ap_pos ap_judge_pos(const ap_judge *j, const ap_pos *positions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (positions[i].line > 0)
            return positions[i];
    return ap_job_top(j);
}

ap_pos ap_job_chip_pos(const ap_judge *j)
{
    const ap_jobnums *n = &j->f->n;
    const ap_pos places[] = {n->chips_per_node.pos,
                             n->chips_total.pos,
                             n->chips_per_task.pos,
                             j->f->chips.count ? j->f->chips.items[0].pos : AP_NO_POS,
                             j->f->features.count ? j->f->features.items[0].pos : AP_NO_POS,
                             j->f->t.tpu_type.pos,
                             j->f->t.instance.pos,
                             n->chip_memory_low_bytes.pos,
                             n->launch_per_node.pos,
                             n->launch_total.pos};
    return ap_judge_pos(j, places, sizeof places / sizeof *places);
}

static void take_file_findings(ap_judge *j)
{
    for (size_t i = 0; i < j->job->file_count; i++)
        for (size_t k = 0; k < j->job->files[i]->findings.count; k++) {
            ap_jobfindings *list = &j->job->findings;
            *AP_PUSH(j->arena, list->items, list->count, list->capacity) = j->job->files[i]->findings.items[k];
        }
}

void ap_jobs_understand(const ap_jobs_request *request, ap_arena *arena, ap_checkjob *job)
{
    ap_judge j = {.request = request, .arena = arena, .job = job, .f = &job->facts,
                  .k = ap_check_constants_of(request->calibration, arena)};
    job->spot = -1;
    take_file_findings(&j);
    ap_understand_hardware(&j);
    ap_understand_training(&j);
    ap_understand_model(&j);
    ap_estimate_job(&j);
}

/* -- suppression: `accelpick: ignore AP7003 reason` on the line, or on the line before
 * ---------------------------------------- */

static bool names_id(const char *line, size_t len, const char *id, const char *slug)
{
    static const char mark[] = "accelpick: ignore";
    const char *at = memmem(line, len, mark, sizeof mark - 1);
    if (!at)
        return false;
    const char *rest = at + sizeof mark - 1;
    size_t left = len - (size_t)(rest - line);
    return memmem(rest, left, id, strlen(id)) || memmem(rest, left, slug, strlen(slug));
}

static const ap_jobfile *file_of(const ap_checkjob *job, const char *path)
{
    for (size_t i = 0; i < job->file_count; i++)
        if (ap_streq(job->files[i]->path, path))
            return job->files[i];
    return NULL;
}

static bool is_suppressed(const ap_checkjob *job, const ap_jobfinding *finding)
{
    const ap_jobfile *file = finding->pos.file ? file_of(job, finding->pos.file) : NULL;
    const char *slug = ap_fault_infos[finding->fault].slug;
    if (!file || !strstr(file->text, "accelpick: ignore"))
        return false;
    int number = 1;
    for (const char *line = file->text; line < file->text + file->len; number++) {
        size_t left = file->len - (size_t)(line - file->text);
        const char *newline = memchr(line, '\n', left);
        size_t len = newline ? (size_t)(newline - line) : left;
        bool near = number == finding->pos.line || number == finding->pos.line - 1;
        if (near && names_id(line, len, finding->id, slug))
            return true;
        if (number >= finding->pos.line)
            break;
        line += len + 1;
    }
    return false;
}

/* Same fault at the same place is said once. */
static void drop_repeats(ap_jobfindings *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool repeat = false;
        for (size_t k = 0; k < kept && !repeat; k++)
            repeat = ap_streq(list->items[k].id, list->items[i].id) &&
                     list->items[k].pos.line == list->items[i].pos.line &&
                     ap_streq(list->items[k].pos.file, list->items[i].pos.file);
        if (!repeat)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static int compare_findings(const ap_jobfinding *a, const ap_jobfinding *b)
{
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    int file = strcmp(a->pos.file ? a->pos.file : "", b->pos.file ? b->pos.file : "");
    if (file)
        return file;
    return a->pos.line != b->pos.line ? (a->pos.line < b->pos.line ? -1 : 1) : strcmp(a->id, b->id);
}

static void sort_findings(ap_jobfindings *list)
{
    for (size_t i = 1; i < list->count; i++)
        for (size_t k = i; k > 0 && compare_findings(&list->items[k], &list->items[k - 1]) < 0; k--) {
            ap_jobfinding swap = list->items[k];
            list->items[k] = list->items[k - 1];
            list->items[k - 1] = swap;
        }
}

void ap_jobs_find(const ap_jobs_request *request, ap_arena *arena, ap_checkjob *job)
{
    ap_judge j = {.request = request, .arena = arena, .job = job, .f = &job->facts,
                  .k = ap_check_constants_of(request->calibration, arena)};
    if (job->format == AP_JF_UNKNOWN)
        return;
    ap_find_counts(&j);
    ap_find_hardware(&j);
    ap_find_memory(&j);
    ap_find_time(&j);
    ap_find_speed(&j);
    ap_find_oddities(&j);
    ap_find_policies(&j);
    drop_repeats(&job->findings);
    sort_findings(&job->findings);
    for (size_t i = 0; i < job->findings.count; i++)
        job->findings.items[i].suppressed = is_suppressed(job, &job->findings.items[i]);
}
