/* Runs a command under a limit of money and time. */
#ifndef AP_CLI_GUARD_H
#define AP_CLI_GUARD_H

#include "emit/watch.h"

typedef struct ap_guard {
    char *const *command; /* NULL-terminated */
    ap_watch watch;
    ap_progress *progress; /* or NULL */
    const char *log;       /* file to read steps from; NULL with progress: the command's own output */
    double grace_s, every_s;
    bool quiet; /* only warnings and the end */
} ap_guard;

/* The command runs in a process group of its own and gets the terminal, so that Ctrl-C reaches it alone. Signals to
 * this process are passed on; after a SIGTERM or SIGHUP the command has the grace period. At the limit the group gets
 * SIGTERM, after the grace period SIGKILL; what it left running, also in other groups, is killed when it has ended.
 *
 * Time is that of a clock which nobody sets and which goes on while the machine sleeps, as the bill does. Returns the
 * command's exit code, 128 + n when signal n ended it, 126 or 127 when it could not be started, 1 when the limit ended
 * it. */
int ap_guard_run(ap_guard *guard, ap_arena *arena);

#endif
