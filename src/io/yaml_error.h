/* libyaml's complaints in plain words. Private to the YAML reader. */
#ifndef AP_IO_YAML_ERROR_H
#define AP_IO_YAML_ERROR_H

#include <stdbool.h>
#include <yaml.h>

#include "base/diag.h"

typedef struct ap_yaml_source {
    const char *text;
    size_t len;
    const char *name;
} ap_yaml_source;

/* Finds what libyaml would refuse without a position: UTF-16, bad UTF-8, control characters. True when clean. */
bool ap_yaml_check_encoding(const ap_yaml_source *source, ap_diags *diags);
/* Reports the error that stopped the parser. */
void ap_yaml_report_error(const ap_yaml_source *source, const yaml_parser_t *parser, ap_diags *diags);

#endif
