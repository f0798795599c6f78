/* Result of a function that can fail. The values are the program's exit codes (docs/exit-codes.md), so that a status
 * needs no translation on its way to main(). Details of a failure go to an ap_diags, never to a global. */
#ifndef AP_BASE_STATUS_H
#define AP_BASE_STATUS_H

typedef enum ap_status {
    AP_OK = 0,
    AP_FINDINGS = 1,   /* check/diff findings, budget or deadline exceeded, policy broken */
    AP_USAGE = 2,      /* bad option, unknown name in an option or operand */
    AP_INFEASIBLE = 3, /* nothing fits the question */
    AP_BAD_INPUT = 4,  /* content of an input file or expression */
    AP_BAD_DATA = 5,   /* overlay, catalog or price data at run time */
    AP_STALE = 6,      /* prices too old under --strict */
    AP_IO = 7,         /* file system or network */
    AP_BUG = 70
} ap_status;

#define AP_CHECKED __attribute__((warn_unused_result))

#endif
