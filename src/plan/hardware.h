/* Hardware: one way to run a job — a number of machines of one kind — with everything the estimator wants to know. */
#ifndef AP_PLAN_HARDWARE_H
#define AP_PLAN_HARDWARE_H

#include "catalog/catalog.h"

typedef struct ap_hardware {
    const ap_chip *chip;
    const ap_instance *instance; /* or NULL */
    const ap_rig *rig;           /* or NULL */
    double machines;             /* what is bought: instances, slices, rigs */
    double hosts;                /* nodes: machines x hosts of each */
    double chips;                /* of all */
    double chips_per_host;
    double domain_chips;         /* chips that share the fast link: host, NVL72 rack, TPU slice */
    double nic_bytes_per_s;      /* of a host, one direction, NaN unknown */
    double intra_bytes_per_s;    /* measured between chips of a host, NaN */
    const char *fabric;
    double vcpus, memory_bytes;  /* of one host, NaN unknown */
    double threads;              /* CPU machines: hardware threads of all; NaN otherwise */
    double threads_per_core;     /* CPU machines: threads that a core is let out as; NaN otherwise */
    double usd_per_h;            /* rig: running cost; else NaN until a price is chosen */
} ap_hardware;

ap_hardware ap_hardware_of_instance(const ap_catalog *catalog, const ap_instance *instance, double machines);
/* `count` chips in boxes of 8 (16 where such boxes exist); nothing known of the host. */
ap_hardware ap_hardware_of_chip(const ap_chip *chip, double count);
ap_hardware ap_hardware_of_rig(const ap_catalog *catalog, const ap_rig *rig, double machines);

/* Would the estimator see any difference between the two (prices and names aside)? */
bool ap_hardware_same_speed(const ap_hardware *a, const ap_hardware *b);

#endif
