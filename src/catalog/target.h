/* A TARGET of the command line, resolved against the catalog.
 *
 *   CHIP[:COUNT]                                                    h100-sxm5-80gb:8
 *   CLOUD/INSTANCE[:NODES][@REGION][+spot|+reserved-1y|+reserved-3y] gcp/a3-highgpu-8g:2@us-central1+spot
 *   rig/NAME, or the path of a RIG.yaml
 *
 * Nothing is substituted: an unknown or ambiguous name is an error that lists the nearest names or the choices.
 * Ownership: strings and records live in the catalog or in the arena given. Unknown = NaN, NULL. */
#ifndef AP_CATALOG_TARGET_H
#define AP_CATALOG_TARGET_H

#include "catalog/catalog.h"

typedef struct ap_target {
    const char *text;    /* canonical spelling: "gcp/a3-highgpu-8g:2@us-central1+spot" */
    const ap_chip *chip; /* CPU machine: its CPU. Never NULL */
    double chip_count;   /* of all nodes together (CPU machine: sockets) */
    double nodes;        /* hosts; a TPU slice has several */
    double chips_per_node;
    double units;                /* priced units: machines or slices */
    const ap_instance *instance; /* named by the target, or (CHIP targets) that the price is of; NULL */
    bool is_chip_target;         /* named as CHIP[:COUNT] */
    const ap_rig *rig;
    const ap_price *price;     /* region's row, or NULL */
    const char *region;        /* of the price, or as asked for */
    int pricing;               /* ap_price_kind */
    double price_usd_per_h;    /* of all units together, NaN = unknown; rigs NaN */
    const char *priced_from;   /* CHIP targets: "aws/p5.48xlarge@us-east-2", else NULL */
    const char *price_unknown; /* why price_usd_per_h is unknown, or NULL */
} ap_target;

typedef struct ap_target_options {
    int pricing;                    /* ap_price_kind where the target names none */
    const ap_strings *region_globs; /* regions to price in where the target names none, or NULL */
    const ap_strings *cloud_globs;  /* clouds that may price a CHIP target, or NULL */
    ap_pos pos;                     /* of the text, for diagnostics; AP_NO_POS for an option */
} ap_target_options;

/* AP_USAGE with diagnostics (codes 074x, 075x) when the text names nothing; a RIG.yaml's faults are AP_BAD_INPUT or AP_IO. */
AP_CHECKED ap_status ap_target_parse(const ap_catalog *catalog, const char *text, const ap_target_options *options,
                                     ap_arena *arena, ap_diags *diags, ap_target *ret);
/* The target that `units` machines of an instance make, as the planner enumerates them; price may be NULL. */
void ap_target_of_instance(const ap_catalog *catalog, const ap_instance *instance, double units, const ap_price *price,
                           int pricing, ap_target *ret);
/* Sets `text` to the canonical spelling. */
void ap_target_spell(ap_target *target, ap_arena *arena);
/* How CHIP:COUNT is laid out: one box of at most 8 (16 where the catalog has such boxes), else nodes of 8. Returns
 * false when the count does not divide into equal boxes. TPU slices follow the catalog's slices. */
bool ap_target_boxes(const ap_catalog *catalog, const ap_chip *chip, double count, double *ret_nodes,
                     double *ret_chips_per_node);

/* A rig from a file: `rigs:` with one entry, or the bare mapping of one rig; id and provenance default to the file. */
AP_CHECKED ap_status ap_rig_load_file(const ap_catalog *catalog, const char *path, ap_arena *arena, ap_diags *diags,
                                      const ap_rig **ret);
/* RIG of an option: NAME, rig/NAME, or a path. */
AP_CHECKED ap_status ap_rig_resolve(const ap_catalog *catalog, const char *text, ap_arena *arena, ap_diags *diags,
                                    const ap_rig **ret);

#endif
