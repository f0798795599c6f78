#include "cli/guard.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/num.h"
#include "base/status.h"

#ifdef CLOCK_BOOTTIME
#define GUARD_CLOCK CLOCK_BOOTTIME
#else
#define GUARD_CLOCK CLOCK_MONOTONIC
#endif

enum { STREAMS = 2, LOOK_MS = 200, READ_BYTES = 65536, ROUNDS = 100, ROUND_NS = 20000000, GIVE_UP_S = 10 };

/* Signals that are blocked and fetched by hand: no handler, so no global. */
static const int taken[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP,   SIGQUIT, SIGUSR1,
                            SIGUSR2, SIGALRM, SIGCONT, SIGWINCH, SIGTSTP};
enum { TAKEN_COUNT = sizeof taken / sizeof *taken };

typedef struct run {
    ap_guard *guard;
    ap_arena *arena;
    struct timespec start;
    pid_t child;
    int pipes[STREAMS]; /* read ends, -1 = closed */
    int log_fd;
    ino_t log_inode;
    int terminal;     /* descriptor of the terminal given away, -1 */
    double kill_at_s; /* NaN: nobody asked it to end */
    double next_say_s;
    bool at_limit, ended;
    int wait_status;
} run;

static double elapsed_s(const run *r)
{
    struct timespec now;
    clock_gettime(GUARD_CLOCK, &now);
    return (double)(now.tv_sec - r->start.tv_sec) + (double)(now.tv_nsec - r->start.tv_nsec) * 1e-9;
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "accelpick guard: %s\n", line);
}

/* ---- starting -----------------------------------------------------------------------------------------------------
 */

static void become_command(const run *r, int report, const int *ends)
{
    setpgid(0, 0);
    if (r->terminal >= 0)
        tcsetpgrp(r->terminal, getpid());
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* should the guard itself be killed */
#endif
    for (int i = 0; i < STREAMS; i++)
        if (ends[i] >= 0)
            dup2(ends[i], STDOUT_FILENO + i);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(r->guard->command[0], r->guard->command);
    int code = errno;
    if (write(report, &code, sizeof code) < 0)
        _exit(126);
    _exit(code == ENOENT ? 127 : 126);
}

static bool open_pipes(run *r, int *ends)
{
    for (int i = 0; i < STREAMS; i++) {
        int pair[2];
        r->pipes[i] = ends[i] = -1;
        if (!r->guard->progress || r->guard->log)
            continue;
        if (pipe(pair) != 0)
            return false;
        fcntl(pair[0], F_SETFD, FD_CLOEXEC);
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        fcntl(pair[1], F_SETFD, FD_CLOEXEC);
        r->pipes[i] = pair[0];
        ends[i] = pair[1];
    }
    return true;
}

/* 0, or the error number of the exec that failed. */
static int start_command(run *r)
{
    int report[2], ends[STREAMS], code = 0;
    if (pipe(report) != 0 || !open_pipes(r, ends))
        return errno;
    fcntl(report[0], F_SETFD, FD_CLOEXEC);
    fcntl(report[1], F_SETFD, FD_CLOEXEC);
    r->child = fork();
    if (r->child < 0)
        return errno;
    if (r->child == 0)
        become_command(r, report[1], ends);
    setpgid(r->child, r->child); /* here too: whoever is first */
    close(report[1]);
    for (int i = 0; i < STREAMS; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    ssize_t got;
    do
        got = read(report[0], &code, sizeof code);
    while (got < 0 && errno == EINTR);
    close(report[0]);
    if (got != (ssize_t)sizeof code)
        return 0;
    while (waitpid(r->child, NULL, 0) < 0 && errno == EINTR)
        ;
    return code;
}

/* ---- ending -------------------------------------------------------------------------------------------------------
 */

static void ask_to_end(run *r, int signal_number)
{
    kill(-r->child, signal_number);
    kill(-r->child, SIGCONT); /* a stopped group would not see it */
    if (!ap_known(r->kill_at_s))
        r->kill_at_s = elapsed_s(r) + r->guard->grace_s;
}

#ifdef __linux__
/* Children of this process, by /proc: those that left the group, adopted when their parent died. */
static void kill_adopted(void)
{
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        char path[64], text[512];
        if (!isdigit((unsigned char)entry->d_name[0]) || strlen(entry->d_name) > 20)
            continue;
        snprintf(path, sizeof path, "/proc/%.20s/stat", entry->d_name);
        FILE *file = fopen(path, "r");
        size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
        if (file)
            fclose(file);
        text[len] = '\0';
        const char *end = strrchr(text, ')'); /* the name in front may hold anything */
        long parent = end && strlen(end) > 4 ? strtol(end + 4, NULL, 10) : 0;
        if (parent == (long)getpid())
            kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
    }
    if (proc)
        closedir(proc);
}
#endif

/* Nothing that the command started may go on at the bill's cost. */
static void kill_rest(run *r)
{
    kill(-r->child, SIGKILL);
#ifdef __linux__
    const struct timespec moment = {.tv_nsec = ROUND_NS};
    for (int round = 0; round < ROUNDS; round++) {
        pid_t reaped;
        while ((reaped = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (reaped < 0)
            return; /* no child is left */
        kill_adopted();
        nanosleep(&moment, NULL);
    }
#endif
}

static void reap(run *r)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid != r->child)
            continue;
        if (WIFSTOPPED(status)) {
            say("the command cannot be suspended: the bill goes on");
            kill(-r->child, SIGCONT);
        } else {
            r->ended = true;
            r->wait_status = status;
        }
    }
}

/* ---- watching -----------------------------------------------------------------------------------------------------
 */

static void take_signals(run *r)
{
    for (;;) {
        sigset_t pending, ours;
        int number = 0;
        sigpending(&pending);
        for (size_t i = 0; i < TAKEN_COUNT && !number; i++)
            if (sigismember(&pending, taken[i]) == 1)
                number = taken[i];
        if (!number)
            return;
        sigemptyset(&ours);
        sigaddset(&ours, number);
        if (sigwait(&ours, &number) != 0)
            return;
        if (number == SIGCHLD)
            reap(r);
        else if (number == SIGTERM || number == SIGHUP)
            ask_to_end(r, number);
        else
            kill(-r->child, number);
    }
}

static void take_bytes(run *r, int stream, const char *bytes, size_t len)
{
    double done, total;
    if (ap_progress_feed(r->guard->progress, stream, bytes, len, &done, &total))
        ap_watch_step(&r->guard->watch, elapsed_s(r), done, total);
}

static void pass_on(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t written = write(fd, bytes, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* a reader that went away does not end the training */
        bytes += written;
        len -= (size_t)written;
    }
}

static void read_pipe(run *r, int stream)
{
    char bytes[READ_BYTES];
    ssize_t got;
    while ((got = read(r->pipes[stream], bytes, sizeof bytes)) > 0) {
        pass_on(STDOUT_FILENO + stream, bytes, (size_t)got);
        take_bytes(r, stream, bytes, (size_t)got);
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(r->pipes[stream]);
        r->pipes[stream] = -1;
    }
}

/* Follows a file that may appear late, be cut or be replaced (rotation). */
static void read_log(run *r)
{
    struct stat there, here;
    char bytes[READ_BYTES];
    ssize_t got;
    bool exists = stat(r->guard->log, &there) == 0 && S_ISREG(there.st_mode);
    if (r->log_fd < 0 && exists)
        r->log_fd = open(r->guard->log, O_RDONLY | O_CLOEXEC);
    if (r->log_fd < 0)
        return;
    while ((got = read(r->log_fd, bytes, sizeof bytes)) > 0)
        take_bytes(r, 0, bytes, (size_t)got);
    if (fstat(r->log_fd, &here) != 0 || !exists)
        return;
    if (here.st_ino != there.st_ino || here.st_dev != there.st_dev) {
        close(r->log_fd);
        r->log_fd = -1;
    } else if (lseek(r->log_fd, 0, SEEK_CUR) > here.st_size) {
        (void)lseek(r->log_fd, 0, SEEK_SET);
    }
}

static void report(run *r)
{
    double now = elapsed_s(r), limit = ap_watch_limit_s(&r->guard->watch);
    ap_sbuf line;
    ap_sbuf_init(&line, r->arena);
    if (ap_watch_warn(&r->guard->watch, now, &line))
        say("warning: %s", line.text);
    if (!r->guard->quiet && now >= r->next_say_s) {
        ap_sbuf_init(&line, r->arena);
        ap_watch_say(&r->guard->watch, now, &line);
        say("%s", line.text);
        r->next_say_s = now + r->guard->every_s;
    }
    if (now >= limit && !r->at_limit) {
        r->at_limit = true;
        ap_sbuf_init(&line, r->arena);
        ap_watch_say(&r->guard->watch, now, &line);
        say("the limit is reached (%s): the command is asked to end, and killed %.3g s later", line.text,
            r->guard->grace_s);
        r->kill_at_s = AP_UNKNOWN;
        ask_to_end(r, SIGTERM);
    }
    if (now >= r->kill_at_s)
        kill(-r->child, SIGKILL);
    if (now >= r->kill_at_s + GIVE_UP_S) {
        say("process %ld cannot be killed: it hangs in the kernel", (long)r->child);
        r->ended = true;
        r->wait_status = SIGKILL;
    }
}

static int wait_ms(const run *r)
{
    double now = elapsed_s(r), limit = r->at_limit ? AP_UNKNOWN : ap_watch_limit_s(&r->guard->watch);
    double next = fmin(limit, r->kill_at_s);
    double left = ap_known(next) ? fmax(0, next - now) * 1000 : LOOK_MS;
    /* A short command must not wait for a long look. */
    return (int)fmin(fmin(left + 1, LOOK_MS), 5 + now * 100);
}

static void watch(run *r)
{
    while (!r->ended) {
        struct pollfd ready[STREAMS];
        for (int i = 0; i < STREAMS; i++)
            ready[i] = (struct pollfd){.fd = r->pipes[i], .events = POLLIN};
        (void)poll(ready, STREAMS, wait_ms(r));
        for (int i = 0; i < STREAMS; i++)
            if (r->pipes[i] >= 0 && ready[i].revents)
                read_pipe(r, i);
        if (r->guard->log && r->guard->progress)
            read_log(r);
        take_signals(r);
        reap(r);
        report(r);
    }
}

/* ---- all ----------------------------------------------------------------------------------------------------------
 */

static void block_signals(void)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < TAKEN_COUNT; i++)
        sigaddset(&blocked, taken[i]);
    sigaddset(&blocked, SIGTTOU); /* taking the terminal back from the background */
    sigaddset(&blocked, SIGPIPE);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
}

static int exit_code(const run *r)
{
    if (r->at_limit)
        return AP_FINDINGS;
    return WIFEXITED(r->wait_status) ? WEXITSTATUS(r->wait_status) : 128 + WTERMSIG(r->wait_status);
}

int ap_guard_run(ap_guard *guard, ap_arena *arena)
{
    run r = {.guard = guard,
             .arena = arena,
             .log_fd = -1,
             .terminal = -1,
             .kill_at_s = AP_UNKNOWN,
             .next_say_s = guard->every_s};
    if (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp())
        r.terminal = STDIN_FILENO;
    block_signals();
    clock_gettime(GUARD_CLOCK, &r.start);
    int failed = start_command(&r);
    if (failed) {
        say("cannot run '%s': %s", guard->command[0], strerror(failed));
        return failed == ENOENT ? 127 : 126;
    }
    watch(&r);
    for (int i = 0; i < STREAMS; i++)
        if (r.pipes[i] >= 0)
            read_pipe(&r, i);
    kill_rest(&r);
    if (r.terminal >= 0)
        tcsetpgrp(r.terminal, getpgrp());
    ap_sbuf line;
    ap_sbuf_init(&line, arena);
    ap_watch_say(&guard->watch, elapsed_s(&r), &line);
    if (!guard->quiet)
        say("ended: %s", line.text);
    return exit_code(&r);
}
