/* What this machine has, as the kernel and the driver tell; nothing is guessed. For doctor. */
#ifndef AP_CLI_HARDWARE_H
#define AP_CLI_HARDWARE_H

#include "base/arena.h"
#include "report/doc.h"

/* A map: cpu {model, logical_cpus, sockets, features}, memory_gib, accelerators[] {name, memory_gib, driver, from}. What
 * cannot be read is null. Takes at most three seconds (nvidia-smi is ended after that). `proc` and `sys` are /proc and
 * /sys; tests give folders with recorded machines. */
ap_value *ap_hardware_detect(ap_arena *arena, const char *proc, const char *sys);

#endif
