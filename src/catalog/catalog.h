/* The catalog: every fact about chips, machines, prices, regions, models, data sets, recipes, rigs, images and stacks.
 *
 * Built from data/ by the loader at build time into an image inside the program, or at run time from --data DIR; user
 * overlays are laid over either. Facts are immutable after loading. All numbers in inner units (bytes, B/s, FLOP/s, W,
 * s, USD), unknown = NaN. Field tables: catalog/tables.h. Every record carries `source` (free text that names page or
 * file), `as_of` (YYYY[-MM[-DD]]) and `confidence`; `sources` overrides the source of single fields ("memory.usable"). */
#ifndef AP_CATALOG_CATALOG_H
#define AP_CATALOG_CATALOG_H

#include <stdbool.h>

#include "schema/schema.h"

typedef enum ap_chip_kind { AP_CHIP_CPU, AP_CHIP_GPU, AP_CHIP_TPU, AP_CHIP_ASIC } ap_chip_kind;
typedef enum ap_confidence { AP_CONF_READ, AP_CONF_DERIVED, AP_CONF_PARTIAL, AP_CONF_MEMORY, AP_CONF_ASSUMED } ap_confidence;

typedef enum ap_precision {
    AP_PREC_FP64, AP_PREC_FP32, AP_PREC_TF32, AP_PREC_FP16, AP_PREC_BF16, AP_PREC_FP8, AP_PREC_MXFP8, AP_PREC_FP4, /* nvfp4 */
    AP_PREC_INT8, AP_PREC_NF4, AP_PREC_INT4, AP_PREC_COUNT
} ap_precision;

typedef struct ap_provenance {
    const char *source;
    const char *as_of;
    int confidence;       /* ap_confidence */
    const char *notes;
    ap_text_map sources;  /* field path -> source, where it differs from `source` */
} ap_provenance;

typedef struct ap_peaks { /* dense, FLOP/s (OP/s for int8); 16-bit with fp32 accumulation */
    double fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8, fp16_acc16, fp32_matrix;
} ap_peaks;

typedef struct ap_chip {
    const char *id, *name, *vendor, *family; /* family: "Hopper", "Sapphire Rapids (AMX)" */
    const char *generation; /* key of calibration: hopper ampere-hbm ampere ada turing volta pascal maxwell kepler
                               fermi blackwell-hbm blackwell rubin gcn cdna1..4 rdna1..4 xe xe-hpc tpu gaudi neuron ipu apple
                               ascend other-asic cpu-avx cpu-avx2 cpu-avx512 cpu-amx cpu-arm */
    int kind;               /* ap_chip_kind */
    double year;
    struct { double size, usable; const char *type; double bandwidth; signed char ecc; } memory; /* CPU: size NaN */
    ap_peaks peak;
    double matmul_ceiling_16, matmul_ceiling_8; /* measured share of peak in a matmul loop (MAMF), NaN if not measured */
    double tdp_w;
    struct { const char *kind; double bandwidth; /* both directions, B/s */ double max_peers; signed char p2p; } link;
    struct { double pcie_gen, lanes; } bus;
    const char *arch;       /* sm_90, gfx942, avx512 … */
    struct { double cores, base_clock_hz, threads_per_core; } cpu; /* CPU only; threads NaN = 2 */
    double devices;         /* devices a framework sees on one chip (dies, stacks, cores), NaN = 1 */
    struct { double usd; const char *basis; } price;
    ap_strings frameworks;
    ap_provenance from;
    ap_pos pos;
} ap_chip;

typedef struct ap_name { /* alias: a spelling somewhere outside -> chip */
    const char *name, *provider, *where;
    const char *chip;      /* id, or NULL */
    ap_strings any_of;     /* ids it may be; neither = known spelling, unknown chip */
    double count;          /* chips that the name stands for, 1 by default */
    ap_provenance from;
    ap_pos pos;
} ap_name;

typedef struct ap_price { /* one region's prices of an instance, whole machine, USD/h; unknown = NaN */
    const char *region;
    double on_demand, spot, reserved_1y, reserved_3y;
    const char *spot_interruption; /* "<5%" "5-10%" … per month, or NULL */
    double native;                 /* amount in `currency` where the list price is not USD */
    const char *currency;
    int confidence;
    const char *as_of, *source, *notes; /* NULL = the instance's, else the file's (the loader fills them in) */
} ap_price;

/* What an hour is paid as; the order is that of ap_price's columns. */
typedef enum ap_price_kind {
    AP_PRICE_ON_DEMAND, AP_PRICE_SPOT, AP_PRICE_RESERVED_1Y, AP_PRICE_RESERVED_3Y, AP_PRICE_KIND_COUNT
} ap_price_kind;

typedef struct ap_instance {
    const char *cloud, *name;
    const char *chip;        /* chip id; CPU machine: the CPU's id */
    double chip_count;       /* accelerators (TPU: chips); CPU machine: sockets */
    double hosts;            /* TPU slices: machines; else 1 */
    const char *topology;    /* TPU slice: "4x4" */
    const char *cpu;         /* host CPU chip id, or NULL */
    double vcpus, memory, local_ssd; /* bytes; of all hosts together */
    double threads_per_core; /* 1: a virtual CPU is a whole core; NaN = as the chip has them */
    double network;          /* B/s per host, one direction */
    const char *fabric;      /* efa, infiniband, roce, gpudirect-tcpx, gpudirect-tcpxo, ici, ethernet; NULL unknown */
    const char *intra_link;  /* what connects the chips inside the machine, NULL = the chip's own link or PCIe */
    double intra_bandwidth;  /* measured GPU to GPU B/s, one direction, NaN */
    double host_link;        /* measured host to chip B/s, one direction, NaN */
    double nics;             /* network interfaces of one host */
    signed char rdma;        /* the fabric reads chip memory directly (GPUDirect RDMA) */
    const char *machine;     /* TPU slice: machine type of its hosts (ct5lp-hightpu-4t) */
    const char *market;      /* cloud | marketplace | notebook | free */
    double session_limit_s;  /* Colab, Kaggle */
    signed char chip_assumed; /* 1: CPU model behind this machine is a guess */
    AP_LIST(ap_price) prices;
    ap_provenance from;
    ap_pos pos;
} ap_instance;

typedef struct ap_cloud {
    const char *id, *name, *kind; /* hyperscaler | specialist | marketplace | notebook */
    ap_strings aliases;           /* other spellings of the id: google, lambda-labs */
    double pue;                   /* NaN = default of energy data */
    double egress_usd_per_gb, storage_usd_per_gb_month;
    double billing_granularity_s, billing_minimum_s;
    signed char spot;
    const char *skypilot, *dstack; /* what these orchestrators call it; NULL = they do not rent there */
    ap_provenance from;
    ap_pos pos;
} ap_cloud;

typedef struct ap_region {
    const char *cloud, *id, *location, *country, *continent;
    double carbon_g_per_kwh, pue, electricity_usd_per_kwh;
    ap_provenance from;
    ap_pos pos;
} ap_region;

/* Model profile. The columns of measured/models.csv; see PROFILES.md for their reading. */
typedef struct ap_model {
    const char *id;
    ap_strings aliases;
    const char *family, *domain, *arch; /* domain: llm nlp vision detection segmentation diffusion speech recsys gnn rl trees classic bio … */
    double params, active_params;       /* counts */
    double layers, enc_layers, dec_layers, hidden, head_dim, heads, kv_heads, ffn;
    signed char gated_mlp, tied_embeddings;
    double vocab, max_seq;
    const char *attention;              /* mha gqa mqa mla sliding:WINDOW:RATIO */
    double mla_kv_rank, mla_q_rank, rope_head_dim;
    double experts, top_k, shared_experts, expert_ffn, shared_ffn, moe_every, dense_first_layers, mtp_layers;
    const char *layer_mix;
    double fwd_mac;                     /* multiply-accumulates, one forward pass of one sample at `input` */
    double acts;                        /* activations (elements) of one forward pass of one sample */
    double weighted_layers;             /* convolutions and dense layers */
    const char *input;                  /* "224x224", "seq 2048" */
    const char *frozen_parts;
    /* trees and classic ML */
    const char *library;
    double trees, depth, leaves;
    /* recommenders and GNN */
    double embedding_rows, embedding_dim, tables, pooling;
    /* defaults */
    const char *dataset, *precision, *optimizer;
    double global_batch, samples, tokens, epochs;
    const char *recipe;                 /* usual training recipe in words */
    const char *licence;
    double tier;
    ap_provenance from;
    ap_pos pos;
} ap_model;

typedef struct ap_dataset {
    const char *id;
    ap_strings aliases;
    const char *domain;
    double samples, tokens;
    const char *tokenizer;
    double bytes, bytes_per_sample;
    const char *format, *mean_size;
    double rows, features;
    const char *licence;
    ap_provenance from;
    ap_pos pos;
} ap_dataset;

typedef struct ap_recipe {
    const char *id, *model, *dataset, *task;
    double epochs, tokens, samples, global_batch, steps, image_size, seq_len;
    const char *input;                  /* where it is not square: "800x1333" */
    const char *precision, *optimizer;
    double early_stop_factor;
    double critical_batch;              /* samples: where a run to the target needs twice the fewest (M-97) */
    double largest_batch;               /* samples: the largest that is known to reach the target */
    ap_provenance from;
    ap_pos pos;
} ap_recipe;

typedef struct ap_rig { /* own machine */
    const char *id, *name, *chip, *cpu;
    double chip_count, vcpus, memory, price_usd, rest_usd, power_w, idle_w;
    double intra_bandwidth, network;
    double depreciation_years, resale_fraction, admin_h_per_month;
    const char *country;                /* of data/regions/world.yaml, for electricity and carbon */
    double electricity_usd_per_kwh, pue;
    ap_provenance from;
    ap_pos pos;
} ap_rig;

typedef struct ap_image { /* container image */
    const char *id, *stack, *reference, *frameworks_text;
    ap_strings kinds, archs, frameworks; /* chip kinds, arch targets, frameworks */
    ap_strings clouds;       /* where it can be pulled and is tested; empty = anywhere */
    ap_strings hosts;        /* x86_64, aarch64; empty = x86_64 */
    ap_strings lacks;        /* frameworks named above that must be installed with pip first */
    const char *cuda, *driver_min, *os;
    ap_provenance from;
    ap_pos pos;
} ap_image;

typedef struct ap_stack { /* training software whose speed differs enough to have constants of its own */
    ap_strings aliases;
    const char *id, *name, *framework, *family; /* family: calibration's stack family (fsdp mcore xla hf dle habana …) */
    ap_strings kinds;                           /* chip kinds it runs on */
    ap_strings domains;
    ap_strings default_for;                     /* globs over DOMAIN:METHOD:KIND:VENDOR:SIZE, lower case, SIZE small or large (over 30 B parameters): the stack when none is named */
    signed char tp, pp, cp, ep;                 /* supports that parallelism */
    ap_strings sharding;
    const char *launcher;                       /* how recipes start it: torchrun accelerate deepspeed megatron maxtext python; NULL = by framework */
    ap_strings packages;                        /* pip packages that a plain image of the framework lacks */
    ap_provenance from;
    ap_pos pos;
} ap_stack;

/* Settings of a published benchmark that its result tables leave out: they stand in its scripts. */
typedef struct ap_suite_run {
    const char *model, *dataset, *task, *precision; /* which rows; NULL = any. fp32 serves tf32 rows too */
    double of_seq_len;                              /* rows of this length; NaN = any */
    double micro_batch, global_batch, seq_len;      /* per data-parallel rank; of all chips */
    const char *date;                               /* of the software */
    signed char compile;
    const char *ran_precision; /* what a slip in the script made of the named precision … */
    double ran_chips;          /* … and of the number of chips */
} ap_suite_run;

typedef struct ap_suite { /* the runs of a benchmark on one machine */
    const char *id, *rows_from, *chip; /* rows_from: how the source of its rows begins; chip NULL = any */
    double chips;                      /* NaN = any number */
    const char *date;
    signed char fills_card;            /* 1: batches are as large as the card holds */
    AP_LIST(ap_suite_run) runs;
    ap_provenance from;
    ap_pos pos;
} ap_suite;

typedef struct ap_catalog {
    ap_arena *arena;
    const char *version;      /* content hash or release */
    const char *prices_as_of; /* newest price date */
    AP_LIST(ap_chip) chips;
    AP_LIST(ap_name) names;
    AP_LIST(ap_instance) instances;
    AP_LIST(ap_cloud) clouds;
    AP_LIST(ap_region) regions;
    AP_LIST(ap_model) models;
    AP_LIST(ap_dataset) datasets;
    AP_LIST(ap_recipe) recipes;
    size_t own_recipes; /* the last so many are a user's: they go before the others of their model and data */
    AP_LIST(ap_rig) rigs;
    AP_LIST(ap_image) images;
    AP_LIST(ap_stack) stacks;
    AP_LIST(ap_suite) suites;
    struct ap_catalog_index *index; /* private: hashes by id and alias */
} ap_catalog;

/* The catalog compiled into the program (never fails; pages are touched on use). */
ap_catalog *ap_catalog_builtin(ap_arena *arena);
/* Version and newest price date of the compiled-in catalog without decoding it: for `version` and --help. */
const char *ap_catalog_builtin_version(void);
const char *ap_catalog_builtin_prices_as_of(void);

/* From YAML files below dir (all kinds, told apart by their top-level key; the folders of other layers, such as
 * calibration/ and rules/, are passed over). AP_BAD_DATA with diagnostics, AP_IO when dir cannot be read. */
AP_CHECKED ap_status ap_catalog_load_dir(const char *dir, ap_arena *arena, ap_diags *diags, ap_catalog **ret_catalog);
/* Lays a user's file over a catalog: a record with a known id replaces the fields it gives (nested mappings field by
 * field, an instance's prices by region), a new id is added. All or nothing: on AP_BAD_DATA the catalog is unchanged.
 * Records found before are stale afterwards: overlay first, then look up. Keys of a settings file (config.yaml,
 * .accelpick.yaml) that are no catalog's, files without catalog lists that hold rules or calibration, and empty files
 * are passed over. */
AP_CHECKED ap_status ap_catalog_overlay(ap_catalog *catalog, const char *path, ap_diags *diags);
/* The same from a parsed mapping, whose other keys (settings in .accelpick.yaml) are passed over. */
AP_CHECKED ap_status ap_catalog_overlay_map(ap_catalog *catalog, const ap_node *map, ap_diags *diags);
/* Validates one user's file against a catalog without changing it: AP_BAD_INPUT with every finding, AP_IO. */
AP_CHECKED ap_status ap_catalog_check_file(const ap_catalog *catalog, const char *path, ap_arena *arena,
                                           ap_diags *diags);
/* The same where the file may also be a document of another layer, told apart by a key: {"engine",
 * &ap_calib_engine_object} for data/calibration. */
typedef struct ap_file_kind {
    const char *key;
    const ap_object *object;
} ap_file_kind;
AP_CHECKED ap_status ap_catalog_check_file_or(const ap_catalog *catalog, const char *path, const ap_file_kind *others,
                                              size_t other_count, ap_diags *diags);
/* Cross references (chip of an instance exists, ids unique …), ranges, plausibility of prices. AP_BAD_DATA on errors;
 * warnings alone are AP_OK. A price outside its chip's band is no finding when its or its instance's notes say
 * "outlier". */
AP_CHECKED ap_status ap_catalog_check(const ap_catalog *catalog, ap_diags *diags);
/* After a layer above changed the lists (prices laid over offers): look-ups and prices_as_of follow. */
void ap_catalog_refresh(ap_catalog *catalog);
/* Every record with all it holds, as sections of a compiled image (catalog/image.h). */
void ap_catalog_write_image(const ap_catalog *catalog, ap_sbuf *out);
AP_CHECKED ap_status ap_catalog_read_image(const unsigned char *bytes, size_t len, ap_arena *arena, ap_catalog **ret);

/* Exact id, then exact alias, then lower case with [^a-z0-9]+ -> "-"; else NULL. Separators are never stripped. */
const ap_model *ap_catalog_find_model(const ap_catalog *catalog, const char *name);
const ap_dataset *ap_catalog_find_dataset(const ap_catalog *catalog, const char *name);
const ap_recipe *ap_catalog_find_recipe(const ap_catalog *catalog, const char *model, const char *dataset);
const ap_instance *ap_catalog_find_instance(const ap_catalog *catalog, const char *cloud, const char *name);
const ap_region *ap_catalog_find_region(const ap_catalog *catalog, const char *cloud, const char *id);
const ap_cloud *ap_catalog_find_cloud(const ap_catalog *catalog, const char *id);
const ap_rig *ap_catalog_find_rig(const ap_catalog *catalog, const char *id);
const ap_stack *ap_catalog_find_stack(const ap_catalog *catalog, const char *id);

const ap_chip *ap_catalog_chip(const ap_catalog *catalog, const char *id); /* exact id only */
const ap_image *ap_catalog_find_image(const ap_catalog *catalog, const char *id);
/* Any kind ("chips" or "chip") by name; instances and regions as CLOUD/NAME. NULL when unknown. */
const void *ap_catalog_find_any(const ap_catalog *catalog, const char *kind, const char *name);

/* Virtual CPUs that one core of a CPU machine is let out as; 2 where nobody says. instance may be NULL. */
double ap_instance_threads_per_core(const ap_instance *instance, const ap_chip *chip);

/* Prices. A kind is an ap_price_kind; the unknown is NaN. */
double ap_price_usd(const ap_price *price, int kind);
const char *ap_price_kind_name(int kind);   /* "on-demand" "spot" "reserved-1y" "reserved-3y" */
int ap_price_kind_parse(const char *name);  /* -1 */
const ap_price *ap_catalog_find_price(const ap_instance *instance, const char *region);
/* The cheapest known price of that kind among the regions that match one of the globs (NULL or empty: all); ties go to
 * the region that sorts first. NULL when there is none. */
const ap_price *ap_instance_cheapest(const ap_instance *instance, int kind, const ap_strings *region_globs);

/* A chip by any spelling: one chip; or a choice (several ids: the caller must ask); or nothing (suggestions). */
typedef struct ap_chip_match {
    const ap_chip *chip;          /* exact, or NULL */
    const ap_chip *choices[24];   /* when the spelling leaves a choice */
    size_t choice_count;
    double count;                 /* chips that the spelling stands for (an 8-GPU SKU: 8); NaN when sources differ */
    bool known;                   /* the spelling is on record, even if its chip is not in the catalog */
} ap_chip_match;
/* Exact id, else id or name normalised as above, else aliases. Aliases of several sources that mean different chips, and
 * a bare series name ("a100"), give a choice. */
ap_chip_match ap_catalog_find_chip(const ap_catalog *catalog, const char *name);
/* The same as spelled by one provider ("gke" …) where it has spellings of its own; else as above. */
ap_chip_match ap_catalog_find_chip_at(const ap_catalog *catalog, const char *provider, const char *name);
/* "did you mean …?" over ids and aliases of a kind, or NULL. Instances: wanted is CLOUD/NAME. */
const char *ap_catalog_suggest(const ap_catalog *catalog, const char *kind /* "chip" "model" … */, const char *wanted,
                               ap_arena *arena);

double ap_chip_peak(const ap_chip *chip, ap_precision precision); /* FLOP/s, NaN when it has no such units */
const char *ap_precision_name(ap_precision precision);
int ap_precision_parse(const char *name); /* -1 */
const char *ap_chip_kind_name(int kind);
const char *ap_confidence_name(int confidence);

#endif
