/* The commands there are, in the order of help. A command is listed here when its file exists, not before. */
#include "cli/cli.h"

extern const ap_command ap_cmd_recommend, ap_cmd_estimate, ap_cmd_emit, ap_cmd_guard;
extern const ap_command ap_cmd_check, ap_cmd_diff, ap_cmd_init;
extern const ap_command ap_cmd_list, ap_cmd_show, ap_cmd_catalog, ap_cmd_rules, ap_cmd_explain;
extern const ap_command ap_cmd_doctor, ap_cmd_completion, ap_cmd_help, ap_cmd_version;
extern const ap_command ap_cmd_accuracy, ap_cmd_calibrate;
extern const ap_command ap_cmd_prices, ap_cmd_breakeven;

const ap_command *const ap_commands[] = {
    &ap_cmd_recommend,
    &ap_cmd_estimate,
    &ap_cmd_emit,
    &ap_cmd_guard,
    &ap_cmd_check,
    &ap_cmd_diff,
    &ap_cmd_list,
    &ap_cmd_show,
    &ap_cmd_breakeven,
    &ap_cmd_prices,
    &ap_cmd_catalog,
    &ap_cmd_explain,
    &ap_cmd_rules,
    &ap_cmd_accuracy,
    &ap_cmd_calibrate,
    &ap_cmd_init,
    &ap_cmd_doctor,
    &ap_cmd_completion,
    &ap_cmd_help,
    &ap_cmd_version,
    NULL,
};
