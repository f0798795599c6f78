#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

#define FOLDER_DEPTH_MAX 32

static ap_pos file_pos(const char *path)
{
    return (ap_pos){.file = path};
}

static ap_status fail_io(ap_diags *diags, int code, const char *path, const char *what, int error)
{
    ap_diag_add(diags, AP_ERROR, code, file_pos(path), "%s: %s", what, strerror(error));
    return AP_IO;
}

static ap_status fail_too_big(ap_diags *diags, const char *path, size_t max_bytes)
{
    ap_diag_add(diags, AP_ERROR, AP_CODE_FILE_TOO_BIG, file_pos(path), "file is larger than the limit of %zu bytes",
                max_bytes);
    return AP_BAD_INPUT;
}

static ssize_t read_some(int fd, char *buf, size_t size)
{
    ssize_t got;
    do
        got = read(fd, buf, size);
    while (got < 0 && errno == EINTR);
    return got;
}

/* The size from fstat is only a first guess: pipes and files in /proc have none, and a file may grow meanwhile. */
static ap_status read_all(int fd, const char *name, size_t max_bytes, ap_sbuf *buf, ap_diags *diags)
{
    for (;;) {
        if (buf->len + 1 >= buf->capacity) {
            size_t capacity = buf->capacity * 2;
            char *bigger = ap_arena_alloc(buf->arena, capacity);
            memcpy(bigger, buf->text, buf->len);
            buf->text = bigger;
            buf->capacity = capacity;
        }
        ssize_t got = read_some(fd, buf->text + buf->len, buf->capacity - buf->len - 1);
        if (got < 0)
            return fail_io(diags, AP_CODE_FILE_READ, name, "cannot read", errno);
        if (got == 0)
            break;
        buf->len += (size_t)got;
        if (buf->len > max_bytes)
            return fail_too_big(diags, name, max_bytes);
    }
    buf->text[buf->len] = '\0';
    return AP_OK;
}

static ap_status read_fd(int fd, const char *name, size_t max_bytes, ap_sbuf *buf, ap_diags *diags)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_io(diags, AP_CODE_FILE_READ, name, "cannot read", errno);
    if (S_ISDIR(info.st_mode)) {
        ap_diag_add(diags, AP_ERROR, AP_CODE_FILE_FOLDER, file_pos(name), "this is a folder; a file is needed here");
        return AP_IO;
    }
    if (S_ISREG(info.st_mode) && info.st_size > 0 && (uintmax_t)info.st_size > max_bytes)
        return fail_too_big(diags, name, max_bytes);
    buf->capacity = S_ISREG(info.st_mode) && info.st_size > 0 ? (size_t)info.st_size + 2 : 64 * 1024;
    buf->text = ap_arena_alloc(buf->arena, buf->capacity);
    return read_all(fd, name, max_bytes, buf, diags);
}

ap_status ap_file_read(const char *path, size_t max_bytes, ap_arena *arena, ap_diags *diags, char **ret_text,
                       size_t *ret_len)
{
    ap_sbuf buf = {.arena = arena};
    ap_status status;
    if (strcmp(path, "-") == 0) {
        status = read_fd(STDIN_FILENO, "<stdin>", max_bytes, &buf, diags);
    } else {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return fail_io(diags, AP_CODE_FILE_READ, path, "cannot open", errno);
        status = read_fd(fd, path, max_bytes, &buf, diags);
        close(fd);
    }
    if (status != AP_OK)
        return status;
    *ret_text = buf.text;
    *ret_len = buf.len;
    return AP_OK;
}

static int write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, text, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        text += put;
        len -= (size_t)put;
    }
    return 0;
}

static ap_status write_direct(const char *path, const char *text, size_t len, ap_diags *diags)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail_io(diags, AP_CODE_FILE_WRITE, path, "cannot open for writing", errno);
    int error = write_all(fd, text, len);
    if (close(fd) != 0 && error == 0)
        error = errno;
    return error ? fail_io(diags, AP_CODE_FILE_WRITE, path, "cannot write", error) : AP_OK;
}

/* The new name is only durable once its folder is on disk too; file systems that cannot sync a folder say so. */
static void sync_folder(const char *path, ap_arena *arena)
{
    const char *slash = strrchr(path, '/');
    const char *folder = !slash ? "." : slash == path ? "/" : ap_arena_strndup(arena, path, (size_t)(slash - path));
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

static int fill_temporary(const char *temporary, const char *text, size_t len, const struct stat *old)
{
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    int error = old && fchmod(fd, old->st_mode & 07777) != 0 ? errno : 0;
    if (error == 0)
        error = write_all(fd, text, len);
    if (error == 0 && fsync(fd) != 0)
        error = errno;
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error)
        unlink(temporary);
    return error;
}

static ap_status replace_file(const char *path, const char *text, size_t len, const struct stat *old, ap_diags *diags)
{
    char *temporary = ap_arena_printf(diags->arena, "%s.tmp-%ld", path, (long)getpid());
    int error = fill_temporary(temporary, text, len, old);
    if (error == EEXIST) { /* left behind by a process of the same number that was killed */
        unlink(temporary);
        error = fill_temporary(temporary, text, len, old);
    }
    if (error)
        return fail_io(diags, AP_CODE_FILE_WRITE, path, "cannot write", error);
    if (rename(temporary, path) != 0) {
        error = errno;
        unlink(temporary);
        return fail_io(diags, AP_CODE_FILE_WRITE, path, "cannot replace", error);
    }
    sync_folder(path, diags->arena);
    return AP_OK;
}

ap_status ap_file_write_atomic(const char *path, const char *text, size_t len, ap_diags *diags)
{
    if (strcmp(path, "-") == 0) {
        int error = write_all(STDOUT_FILENO, text, len);
        return error ? fail_io(diags, AP_CODE_FILE_WRITE, "<stdout>", "cannot write", error) : AP_OK;
    }
    struct stat old;
    if (stat(path, &old) != 0)
        return replace_file(path, text, len, NULL, diags);
    if (S_ISDIR(old.st_mode)) {
        ap_diag_add(diags, AP_ERROR, AP_CODE_FILE_FOLDER, file_pos(path), "cannot write: this is a folder");
        return AP_IO;
    }
    if (!S_ISREG(old.st_mode))
        return write_direct(path, text, len, diags);
    /* Through a symbolic link the file behind it is replaced, not the link. */
    char *target = realpath(path, NULL);
    ap_status status = replace_file(target ? target : path, text, len, &old, diags);
    free(target);
    return status;
}

typedef struct walk {
    const char *suffix;
    bool dot_files;
    ap_arena *arena;
    ap_diags *diags;
    const char **paths;
    size_t count, capacity;
} walk;

static bool skip_entry(const walk *w, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, ".git") == 0)
        return true;
    return name[0] == '.' && !w->dot_files;
}

static ap_status walk_folder(walk *w, const char *folder, int depth);

/* Linked folders are not entered: that is what keeps a walk finite. Linked files are files. */
static ap_status walk_entry(walk *w, const char *path, int depth)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return AP_OK; /* gone since it was listed */
    if (S_ISDIR(info.st_mode))
        return walk_folder(w, path, depth + 1);
    if (S_ISLNK(info.st_mode) && stat(path, &info) != 0)
        return AP_OK;
    if (S_ISREG(info.st_mode) && ap_ends_with(path, w->suffix))
        *AP_PUSH(w->arena, w->paths, w->count, w->capacity) = path;
    return AP_OK;
}

static ap_status walk_folder(walk *w, const char *folder, int depth)
{
    if (depth > FOLDER_DEPTH_MAX)
        return fail_io(w->diags, AP_CODE_FOLDER_READ, folder, "folders nested too deeply", ELOOP);
    DIR *dir = opendir(folder);
    if (!dir)
        return fail_io(w->diags, AP_CODE_FOLDER_READ, folder, "cannot list folder", errno);
    ap_status status = AP_OK;
    const char *separator = ap_ends_with(folder, "/") ? "" : "/";
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (skip_entry(w, entry->d_name))
            continue;
        ap_status one = walk_entry(w, ap_arena_printf(w->arena, "%s%s%s", folder, separator, entry->d_name), depth);
        if (one != AP_OK)
            status = one;
    }
    closedir(dir);
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

ap_status ap_file_walk(const char *dir, const char *suffix, bool dot_files, ap_arena *arena, ap_diags *diags,
                       const char ***ret_paths, size_t *ret_count)
{
    walk w = {.suffix = suffix, .dot_files = dot_files, .arena = arena, .diags = diags};
    ap_status status = walk_folder(&w, dir, 0);
    if (w.count)
        qsort(w.paths, w.count, sizeof *w.paths, compare_paths);
    *ret_paths = w.paths;
    *ret_count = w.count;
    return status;
}

ap_status ap_file_make_dir(const char *path, ap_diags *diags)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return AP_OK;
    ap_diag_add(diags, AP_ERROR, AP_CODE_FILE_WRITE, (ap_pos){.file = path}, "cannot make the folder: %s", strerror(errno));
    return AP_IO;
}

bool ap_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool ap_file_is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}
