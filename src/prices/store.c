/* The price store: a folder of snapshots named by their time. A snapshot appears whole or not at all (written aside,
 * then renamed), so readers need no lock. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/file.h"
#include "prices/prices.h"

#define SNAPSHOTS_KEPT 10
#define SUFFIX         ".json"

const char *ap_store_default_dir(ap_arena *arena)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && *data == '/')
        return ap_arena_printf(arena, "%s/accelpick/prices", data);
    return home && *home == '/' ? ap_arena_printf(arena, "%s/.local/share/accelpick/prices", home) : NULL;
}

static bool is_snapshot_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strlen(name) > 10 && name[0] >= '0' && name[0] <= '9' && name[4] == '-' && name[7] == '-' &&
           ap_ends_with(name, SUFFIX);
}

ap_status ap_store_list(const char *dir, ap_arena *arena, ap_diags *diags, ap_strings *ret_paths)
{
    const char **paths = NULL;
    size_t count = 0, kept = 0;
    *ret_paths = (ap_strings){0};
    if (!ap_file_is_dir(dir))
        return AP_OK;
    ap_status status = ap_file_walk(dir, SUFFIX, false, arena, diags, &paths, &count);
    for (size_t i = 0; i < count; i++)
        if (is_snapshot_name(paths[i]))
            paths[kept++] = paths[i];
    ret_paths->items = paths;
    ret_paths->count = kept;
    return status;
}

/* A damaged snapshot is passed over with a warning: the one before it is whole. */
static bool open_one(const char *path, ap_arena *arena, ap_diags *diags, ap_snapshot *ret)
{
    ap_diags quiet;
    ap_diags_init(&quiet, arena);
    if (ap_snapshot_read(path, arena, &quiet, ret) == AP_OK)
        return true;
    ap_diag_add(diags, AP_WARNING, 765, (ap_pos){.file = path}, "unusable price snapshot, passed over: %s",
                quiet.count ? quiet.items[0].message : "unknown fault");
    return false;
}

ap_status ap_store_open(const char *dir, const char *day, ap_arena *arena, ap_diags *diags, const ap_snapshot **ret)
{
    ap_strings paths;
    *ret = NULL;
    ap_status status = ap_store_list(dir, arena, diags, &paths);
    for (size_t i = paths.count; status == AP_OK && i-- > 0;) {
        const char *slash = strrchr(paths.items[i], '/'), *name = slash ? slash + 1 : paths.items[i];
        if (day && strncmp(name, day, 10) > 0)
            continue;
        ap_snapshot *snapshot = AP_NEW(arena, ap_snapshot);
        if (!open_one(paths.items[i], arena, diags, snapshot))
            continue;
        *ret = snapshot;
        return AP_OK;
    }
    return status;
}

static ap_status fail(ap_diags *diags, const char *path, const char *what)
{
    ap_diag_add(diags, AP_ERROR, 766, (ap_pos){.file = path}, "%s: %s", what, strerror(errno));
    return AP_IO;
}

static ap_status make_folders(const char *dir, ap_diags *diags)
{
    char *path = ap_arena_strdup(diags->arena, dir);
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return fail(diags, dir, "cannot make the folder of the price store");
        if (!slash)
            break;
        *slash = '/';
    }
    return ap_file_is_dir(dir) ? AP_OK
                               : (errno = ENOTDIR, fail(diags, dir, "cannot make the folder of the price store"));
}

int ap_store_lock(const char *dir, double patience_s, ap_diags *diags)
{
    if (make_folders(dir, diags) != AP_OK)
        return -1;
    const char *path = ap_arena_printf(diags->arena, "%s/lock", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) {
        (void)fail(diags, path, "cannot open the lock of the price store");
        return -1;
    }
    const struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};
    for (double waited = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; waited += 0.02) {
        if (waited > patience_s) {
            ap_diag_add(diags, AP_ERROR, 767, (ap_pos){.file = path}, "another update of the prices is running");
            close(fd);
            return -1;
        }
        nanosleep(&nap, NULL);
    }
    return fd;
}

void ap_store_unlock(int lock)
{
    close(lock);
}

/* What a killed update left behind, and snapshots beyond those kept. The caller holds the lock. */
static void tidy(const char *dir, ap_arena *arena)
{
    ap_diags ignored;
    ap_diags_init(&ignored, arena);
    const char **paths = NULL;
    size_t count = 0;
    if (ap_file_walk(dir, "", false, arena, &ignored, &paths, &count) != AP_OK)
        return;
    size_t snapshots = 0;
    for (size_t i = count; i-- > 0;) {
        bool leftover = strstr(paths[i], SUFFIX ".tmp-") != NULL;
        if (leftover || (is_snapshot_name(paths[i]) && ++snapshots > SNAPSHOTS_KEPT))
            unlink(paths[i]);
    }
}

/* Names sort by time. One that would not come last (same second, clock set back) continues the newest. */
static const char *new_path(const char *dir, const ap_snapshot *snapshot, ap_arena *arena, ap_diags *diags)
{
    ap_strings paths;
    char *stamp = ap_arena_strdup(arena, snapshot->created_at);
    for (char *c = stamp; *c; c++)
        if (*c == ':')
            *c = '-';
    const char *path = ap_arena_printf(arena, "%s/%s" SUFFIX, dir, stamp);
    if (ap_store_list(dir, arena, diags, &paths) != AP_OK || paths.count == 0 ||
        strcmp(path, paths.items[paths.count - 1]) > 0)
        return path;
    const char *newest = paths.items[paths.count - 1];
    size_t base = strlen(newest) - strlen(SUFFIX);
    return ap_arena_printf(arena, "%.*s.next" SUFFIX, (int)base, newest);
}

ap_status ap_store_add(const char *dir, ap_snapshot *snapshot, ap_arena *arena, ap_diags *diags)
{
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    tidy(dir, arena);
    snapshot->path = new_path(dir, snapshot, arena, diags);
    ap_snapshot_write(snapshot, &text);
    /* A signal that ends the program waits until the file is in place, so that nothing is left lying about. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    ap_status status = ap_file_write_atomic(snapshot->path, text.text, text.len, diags);
    if (status == AP_OK)
        tidy(dir, arena);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
