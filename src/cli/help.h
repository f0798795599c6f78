/* What help, the manual page, the reference and the completion scripts share: the texts that are not in the tables. */
#ifndef AP_CLI_HELP_H
#define AP_CLI_HELP_H

#include "cli/cli.h"

#define AP_HELP_PURPOSE "which accelerator to train a model on: time, cost, memory and energy, with an honest error band"

/* Sections of the option list, in order; an option stands in the first one that its groups and the command share. */
typedef struct ap_help_group {
    unsigned groups;
    const char *title;
} ap_help_group;
extern const ap_help_group ap_help_groups[];
extern const size_t ap_help_group_count;
/* Index of the section of an option for a command (NULL: for the page of all options); -1 when it does not apply. */
int ap_help_group_of(const ap_option *option, const ap_command *command);

typedef struct ap_exit_code {
    ap_status code;
    const char *meaning;
} ap_exit_code;
extern const ap_exit_code ap_exit_codes[];
extern const size_t ap_exit_code_count;

/* "FILE", or the words joined by |, or NULL for a flag. */
const char *ap_help_argument(ap_arena *arena, const ap_option *option);

/* The n-th line of a text with \n between lines, or NULL; in the arena. */
const char *ap_help_line(ap_arena *arena, const char *text, size_t n);

#endif
