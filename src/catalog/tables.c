/* Field tables of the catalog: one row per field of catalog.h, with the key used in data/, its unit and sane range.
 *
 * Shape of a catalog file (data/ and users' overlays): one mapping with exactly one list key (ap_catalog_kinds below)
 * and these file-level keys, all optional, which fill what an entry leaves absent: source       every kind    text:
 * page or file the entries were read from as_of        every kind    YYYY[-MM[-DD]]: the date of that source confidence
 * every kind    read | derived | partial | memory | assumed cloud        instances, regions market       instances
 * cloud | marketplace | notebook | free A price takes source, as_of and confidence from itself, else from its instance,
 * else from the file. An instance must end up with a cloud, and every entry with a source and a confidence; the loader
 * checks that after filling in.
 *
 * Keys are what a person would write; units belong to the values (`tdp: 700W`), never to the keys. Money and plain
 * counts need no unit. Nested mappings mirror nested structs; offsets of their rows count from the nested struct. */
#include "catalog/table_rows.h"

const char *const ap_confidence_words[] = {"read", "derived", "partial", "memory", "assumed", NULL};
static const char *const chip_kind_words[] = {"cpu", "gpu", "tpu", "asic", NULL};

/* -- chips ------------------------------------------------------------------------------------------------------- */
#define S ap_chip
static const ap_field memory_fields[] = {
    SUB(memory, "size", AP_T_NUM, memory.size, AP_DIM_MEMORY, 1e6, 4e13, "Nominal memory of the card, e.g. 80GiB; of a laptop or desktop CPU what such a machine usually has."),
    SUB(memory, "usable", AP_T_NUM, memory.usable, AP_DIM_MEMORY, 1e6, 4e13, "What the driver reports, e.g. 81559MiB; of unified memory what the GPU may take."),
    SUB(memory, "type", AP_T_TEXT, memory.type, AP_DIM_NONE, 0, 0, "HBM3, GDDR6X, DDR5 …"),
    SUB(memory, "bandwidth", AP_T_NUM, memory.bandwidth, AP_DIM_BYTES_PER_S, 1e9, 1e17,
        "Peak bandwidth, e.g. 3350GB/s."),
    SUB(memory, "ecc", AP_T_BOOL, memory.ecc, AP_DIM_NONE, 0, 0, "Whether error correction is on as a rule."),
};
static const ap_object memory_object = {"memory", "Device memory.", sizeof(((S *)0)->memory),
                                        AP_FIELDS_OF(memory_fields), NULL};
#define PEAK(key, member, doc) SUB(peak, key, AP_T_NUM, peak.member, AP_DIM_FLOP_PER_S, 1e8, 1e18, doc)
static const ap_field peak_fields[] = {
    PEAK("fp64", fp64, "Vector double precision, e.g. 34TFLOPS."),
    PEAK("fp32", fp32, "Vector single precision."),
    PEAK("tf32", tf32, "Matrix units, tf32, dense."),
    PEAK("fp16", fp16, "Matrix units, fp16 with fp32 accumulation, dense."),
    PEAK("bf16", bf16, "Matrix units, bf16 with fp32 accumulation, dense."),
    PEAK("fp8", fp8, "Matrix units, fp8, dense."),
    PEAK("fp4", fp4, "Matrix units, fp4 (nvfp4, mxfp4), dense."),
    PEAK("int8", int8, "Matrix units, int8, dense, e.g. 1979TOPS."),
    PEAK("fp32_matrix", fp32_matrix, "Matrix units, single precision, where they have it (CDNA)."),
    PEAK("fp16_acc16", fp16_acc16, "fp16 with fp16 accumulation where that is faster (GeForce)."),
};
static const ap_object peak_object = {"peak", "Dense peak rates; absent = no such units or unknown.",
                                      sizeof(((S *)0)->peak), AP_FIELDS_OF(peak_fields), NULL};
#define CEILING matmul_ceiling_16
static const ap_field ceiling_fields[] = {
    SUB(CEILING, "bf16", AP_T_NUM, matmul_ceiling_16, AP_DIM_FRACTION, 0.05, 1.2, "Share of the 16-bit peak."),
    SUB(CEILING, "fp8", AP_T_NUM, matmul_ceiling_8, AP_DIM_FRACTION, 0.05, 1.2, "Share of the 8-bit peak."),
};
static const ap_object ceiling_object = {"matmul_ceiling", "What a bare matmul loop reaches, as a share of the peak.",
                                         2 * sizeof(double), AP_FIELDS_OF(ceiling_fields), NULL};
static const ap_field link_fields[] = {
    SUB(link, "kind", AP_T_TEXT, link.kind, AP_DIM_NONE, 0, 0, "NVLink4, xGMI, ICI, PCIe … or none."),
    SUB(link, "bandwidth", AP_T_NUM, link.bandwidth, AP_DIM_BYTES_PER_S, 1e9, 1e15,
        "Both directions together, per chip."),
    SUB(link, "max_peers", AP_T_INT, link.max_peers, AP_DIM_NONE, 1, 1e6, "Chips that one such fabric joins."),
    SUB(link, "p2p", AP_T_BOOL, link.p2p, AP_DIM_NONE, 0, 0, "Whether chips can read each other's memory at all."),
};
static const ap_object link_object = {"link", "Direct connection between chips.", sizeof(((S *)0)->link),
                                      AP_FIELDS_OF(link_fields), NULL};
static const ap_field bus_fields[] = {
    SUB(bus, "pcie", AP_T_NUM, bus.pcie_gen, AP_DIM_NONE, 1, 8, "PCI Express generation."),
    SUB(bus, "lanes", AP_T_INT, bus.lanes, AP_DIM_NONE, 1, 32, "PCI Express lanes."),
};
static const ap_object bus_object = {"bus", "Connection to the host.", sizeof(((S *)0)->bus), AP_FIELDS_OF(bus_fields),
                                     NULL};
static const ap_field cpu_fields[] = {
    SUB(cpu, "cores", AP_T_INT, cpu.cores, AP_DIM_NONE, 1, 4096, "Physical cores of one socket."),
    SUB(cpu, "base_clock", AP_T_NUM, cpu.base_clock_hz, AP_DIM_HZ, 1e8, 1e10, "Base clock, e.g. 2.0GHz."),
    SUB(cpu, "threads_per_core", AP_T_INT, cpu.threads_per_core, AP_DIM_NONE, 1, 8, "Hardware threads of a core; 2 if absent."),
};
static const ap_object cpu_object = {"cpu", "Kind cpu, and chips whose own cores run what does not use the GPU (Apple).", sizeof(((S *)0)->cpu), AP_FIELDS_OF(cpu_fields),
                                     NULL};
static const ap_field chip_price_fields[] = {
    SUB(price, "usd", AP_T_NUM, price.usd, AP_DIM_USD, 1, 1e7, "Purchase price of one chip or card."),
    SUB(price, "basis", AP_T_TEXT, price.basis, AP_DIM_NONE, 0, 0, "What that price is: launch MSRP, used 2026 …"),
};
static const ap_object chip_price_object = {"price", "Purchase price.", sizeof(((S *)0)->price),
                                            AP_FIELDS_OF(chip_price_fields), NULL};
static const ap_field chip_fields[] = {
    ID("id", id, "Unique id, [a-z0-9._-]."),
    NEED("name", name, "Name as people write it."),
    NEED("vendor", vendor, "Who designs it."),
    TEXT("family", family, "Architecture: Hopper, Sapphire Rapids (AMX) …"),
    ROW("generation", AP_T_ID, generation, AP_F_REQUIRED, AP_DIM_NONE, 0, 0, "Key of the calibration: hopper, ada …"),
    WORD("kind", kind, AP_F_REQUIRED, chip_kind_words, "What it is."),
    INT("year", year, 2000, 2035, "Year of release."),
    PART("memory", memory, memory_object, "Device memory."),
    PART("peak", peak, peak_object, "Dense peak rates."),
    PART("matmul_ceiling", CEILING, ceiling_object, "Measured share of the peak in a matmul loop."),
    NUM("tdp", tdp_w, AP_DIM_WATTS, 1, 50000, "Board or socket power limit, e.g. 700W."),
    PART("link", link, link_object, "Direct connection between chips."),
    PART("bus", bus, bus_object, "Connection to the host."),
    TEXT("arch", arch, "Compile target: sm_90, gfx942, avx512 …"),
    PART("cpu", cpu, cpu_object, "Cores and clock of a CPU, or of the CPU part of a system on a chip."),
    INT("devices", devices, 1, 1024, "Devices a framework sees on one chip (dies, stacks, cores); 1 if absent."),
    PART("price", price, chip_price_object, "Purchase price."),
    TEXTS("frameworks", frameworks, "Frameworks that train on it."),
    PROVENANCE,
};
#undef S
const ap_object ap_chip_object = {"chip", "An accelerator or CPU.", sizeof(ap_chip), AP_FIELDS_OF(chip_fields), NULL};

#define S ap_name
static const ap_field name_fields[] = {
    NEED("name", name, "The spelling."),
    TEXT("provider", provider, "Who spells it so."),
    TEXT("where", where, "Where the spelling occurs: node label, instance type …"),
    REF("chip", chip, "The chip it means."),
    TEXTS("any_of", any_of,
          "Chips it may mean; neither chip nor any_of: a known spelling of a chip not in the catalog."),
    NUM("count", count, AP_DIM_NONE, 0.01, 100000, "Chips that the spelling stands for; 1 if absent."),
    PROVENANCE,
};
#undef S
const ap_object ap_name_object = {"name", "A spelling of a chip somewhere outside.", sizeof(ap_name),
                                  AP_FIELDS_OF(name_fields), NULL};

/* -- machines and prices ------------------------------------------------------------------------------------------ */
#define S ap_price
static const ap_field price_fields[] = {
    NEED("region", region, "Region of the cloud."),
    NUM("on_demand", on_demand, AP_DIM_USD_PER_H, 0, 1e6, "USD per hour of the whole machine."),
    NUM("spot", spot, AP_DIM_USD_PER_H, 0, 1e6, "Spot, preemptible or interruptible price, USD per hour."),
    NUM("reserved_1y", reserved_1y, AP_DIM_USD_PER_H, 0, 1e6, "With a one-year commitment, USD per hour."),
    NUM("reserved_3y", reserved_3y, AP_DIM_USD_PER_H, 0, 1e6, "With a three-year commitment, USD per hour."),
    TEXT("interruption", spot_interruption, "Share of spot machines taken back per month: \"<5%\" …"),
    NUM("native", native, AP_DIM_NONE, 0, 1e7, "List price per hour in `currency` where that is not USD."),
    TEXT("currency", currency, "ISO 4217 code of `native`."),
    WORD("confidence", confidence, 0, ap_confidence_words, "Where it differs from the instance's."),
    TEXT("as_of", as_of, "Where it differs from the instance's."),
    TEXT("source", source, "Where it differs from the instance's."),
    TEXT("notes", notes, "What a reader should know about this price."),
};
#undef S
const ap_object ap_price_object = {"price", "Prices of an instance in one region.", sizeof(ap_price),
                                   AP_FIELDS_OF(price_fields), NULL};

#define S ap_instance
static const ap_field instance_fields[] = {
    REF("cloud", cloud, "Cloud id; the file's default if absent."),
    NEED("name", name, "Machine type as the cloud spells it."),
    REF("chip", chip, "Chip id; on a CPU machine the CPU's."),
    NUM("chip_count", chip_count, AP_DIM_NONE, 0.01, 100000, "Accelerators (TPU: chips); on a CPU machine sockets."),
    INT("hosts", hosts, 1, 10000, "Machines of a TPU slice; 1 if absent."),
    TEXT("topology", topology, "TPU slice: 4x4."),
    REF("cpu", cpu, "Chip id of the host's CPU."),
    NUM("vcpus", vcpus, AP_DIM_NONE, 0.1, 1e6, "Virtual CPUs of all hosts together."),
    INT("threads_per_core", threads_per_core, 1, 8, "1 where a virtual CPU is a whole core; as the chip's if absent."),
    NUM("memory", memory, AP_DIM_MEMORY, 1e8, 1e16, "Host memory of all hosts together, e.g. 2048GiB."),
    NUM("local_ssd", local_ssd, AP_DIM_BYTES, 0, 1e16, "Local disks that come with it."),
    NUM("network", network, AP_DIM_BYTES_PER_S, 1e5, 1e13, "Per host, one direction, e.g. 400Gbps."),
    TEXT("fabric", fabric, "efa, infiniband, roce, gpudirect-tcpx, gpudirect-tcpxo, ici, ethernet."),
    TEXT("intra_link", intra_link, "What joins the chips inside the machine, if not the chip's own link."),
    NUM("intra_bandwidth", intra_bandwidth, AP_DIM_BYTES_PER_S, 1e8, 1e14, "Measured chip to chip, one direction."),
    NUM("host_link", host_link, AP_DIM_BYTES_PER_S, 1e8, 1e14, "Measured host to chip, one direction."),
    INT("nics", nics, 0, 1024, "Network interfaces of one host."),
    BOOL("rdma", rdma, "Whether the network reaches chip memory directly (GPUDirect RDMA)."),
    TEXT("machine", machine, "TPU slice: machine type of its hosts."),
    TEXT("market", market, "cloud, marketplace, notebook or free; the file's default if absent."),
    NUM("session_limit", session_limit_s, AP_DIM_SECONDS, 60, 1e8, "Longest session, e.g. 12h."),
    BOOL("chip_assumed", chip_assumed, "True where the CPU model behind the machine is a guess."),
    {"prices", AP_T_OBJECTS, offsetof(S, prices), 0, AP_DIM_NONE, 0, 0, NULL, &ap_price_object,
     "Prices by region; a machine without a known price still lists its regions."},
    PROVENANCE,
};
#undef S
const ap_object ap_instance_object = {"instance", "A machine type that can be rented.", sizeof(ap_instance),
                                      AP_FIELDS_OF(instance_fields), NULL};

#define S ap_cloud
static const ap_field cloud_fields[] = {
    ID("id", id, "Unique id."),
    NEED("name", name, "Name."),
    TEXTS("aliases", aliases, "Other spellings of the id."),
    TEXT("kind", kind, "hyperscaler, specialist, marketplace or notebook."),
    NUM("pue", pue, AP_DIM_NONE, 1, 3, "Power usage effectiveness of its data centres."),
    NUM("egress", egress_usd_per_gb, AP_DIM_USD, 0, 1, "USD per GB that leaves the cloud."),
    NUM("storage", storage_usd_per_gb_month, AP_DIM_USD, 0, 5, "USD per GB and month of a block disk."),
    NUM("billing_granularity", billing_granularity_s, AP_DIM_SECONDS, 0.001, 1e6, "Step of the bill, e.g. 1s."),
    NUM("billing_minimum", billing_minimum_s, AP_DIM_SECONDS, 0, 1e7, "Shortest time billed, e.g. 1min."),
    BOOL("spot", spot, "Whether it sells interruptible machines."),
    TEXT("skypilot", skypilot, "What SkyPilot calls it; absent: it does not rent there."),
    TEXT("dstack", dstack, "What dstack calls it; absent: it does not rent there."),
    PROVENANCE,
};
#undef S
const ap_object ap_cloud_object = {"cloud", "Who rents machines out.", sizeof(ap_cloud), AP_FIELDS_OF(cloud_fields),
                                   NULL};

#define S ap_region
static const ap_field region_fields[] = {
    REF("cloud", cloud, "Cloud id, the file's default if absent; `world`: a country or state, of no cloud."),
    NEED("id", id, "Region code as the cloud spells it; of `world` the country or us-state code."),
    TEXT("location", location, "City or state."),
    TEXT("country", country, "Country."),
    TEXT("continent", continent, "Continent."),
    NUM("carbon", carbon_g_per_kwh, AP_DIM_G_PER_KWH, 0, 2000, "Grid carbon intensity, e.g. 646g/kWh."),
    NUM("pue", pue, AP_DIM_NONE, 1, 3, "Power usage effectiveness, where the region's own is known."),
    NUM("electricity", electricity_usd_per_kwh, AP_DIM_USD_PER_KWH, 0, 2, "Business electricity, USD per kWh."),
    PROVENANCE,
};
#undef S
const ap_object ap_region_object = {"region", "Where machines stand.", sizeof(ap_region), AP_FIELDS_OF(region_fields),
                                    NULL};

/* -- kinds of files ----------------------------------------------------------------------------------------------- */
#define KIND(list, object)                                                                                             \
    {                                                                                                                  \
#list, &(object), offsetof(ap_catalog, list)                                                                   \
    }
const ap_catalog_kind ap_catalog_kinds[] = {
    KIND(chips, ap_chip_object),       KIND(names, ap_name_object),     KIND(instances, ap_instance_object),
    KIND(clouds, ap_cloud_object),     KIND(regions, ap_region_object), KIND(models, ap_model_object),
    KIND(datasets, ap_dataset_object), KIND(recipes, ap_recipe_object), KIND(rigs, ap_rig_object),
    KIND(images, ap_image_object),     KIND(stacks, ap_stack_object),   KIND(suites, ap_suite_object),
};
const size_t ap_catalog_kind_count = sizeof ap_catalog_kinds / sizeof *ap_catalog_kinds;
