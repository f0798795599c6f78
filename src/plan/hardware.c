#include "plan/hardware.h"

#include "base/num.h"

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Chips that reach each other over the fast link: the slice of a TPU, the rack of an NVL72, else the host. */
static double fast_domain(const ap_chip *chip, double chips, double per_host)
{
    if (chip->kind == AP_CHIP_TPU)
        return chips;
    double peers = ap_or(chip->link.max_peers, per_host);
    return peers > 16 ? fmin(peers, chips) : per_host;
}

ap_hardware ap_hardware_of_instance(const ap_catalog *catalog, const ap_instance *instance, double machines)
{
    const ap_chip *chip = ap_catalog_chip(catalog, instance->chip);
    double hosts = ap_or(instance->hosts, 1), count = instance->chip_count;
    if (!(hosts >= 1))
        hosts = 1;
    ap_hardware hw = {
        .chip = chip,
        .instance = instance,
        .machines = machines,
        .hosts = hosts * machines,
        .chips = count * machines,
        .chips_per_host = count / hosts,
        .nic_bytes_per_s = instance->network,
        .intra_bytes_per_s = instance->intra_bandwidth,
        .fabric = instance->fabric,
        .vcpus = instance->vcpus / hosts,
        .memory_bytes = instance->memory / hosts,
        .threads = AP_UNKNOWN,
        .threads_per_core = AP_UNKNOWN,
        .usd_per_h = AP_UNKNOWN,
    };
    if (!chip)
        return hw;
    if (chip->kind == AP_CHIP_CPU) {
        hw.threads = instance->vcpus * machines;
        hw.threads_per_core = ap_instance_threads_per_core(instance, chip);
    }
    hw.domain_chips = chip->kind == AP_CHIP_TPU ? count : fast_domain(chip, hw.chips, hw.chips_per_host);
    return hw;
}

ap_hardware ap_hardware_of_chip(const ap_chip *chip, double count)
{
    double box = ap_or(chip->link.max_peers, 8) == 16 ? 16 : 8;
    if (chip->kind == AP_CHIP_TPU)
        box = 4;
    double per_host = fmin(count, chip->kind == AP_CHIP_CPU ? 2 : box);
    return (ap_hardware){
        .chip = chip,
        .machines = ceil(count / per_host),
        .hosts = ceil(count / per_host),
        .chips = count,
        .chips_per_host = per_host,
        .domain_chips = fast_domain(chip, count, per_host),
        .nic_bytes_per_s = AP_UNKNOWN,
        .intra_bytes_per_s = AP_UNKNOWN,
        .vcpus = AP_UNKNOWN,
        .memory_bytes = AP_UNKNOWN,
        .threads = AP_UNKNOWN,
        .threads_per_core = AP_UNKNOWN,
        .usd_per_h = AP_UNKNOWN,
    };
}

ap_hardware ap_hardware_of_rig(const ap_catalog *catalog, const ap_rig *rig, double machines)
{
    ap_hardware hw = ap_hardware_of_chip(ap_catalog_chip(catalog, rig->chip), rig->chip_count * machines);
    hw.rig = rig;
    hw.machines = hw.hosts = machines;
    hw.chips_per_host = rig->chip_count;
    hw.domain_chips = rig->chip_count;
    hw.nic_bytes_per_s = rig->network;
    hw.intra_bytes_per_s = rig->intra_bandwidth;
    hw.vcpus = rig->vcpus;
    hw.memory_bytes = rig->memory;
    return hw;
}

bool ap_hardware_same_speed(const ap_hardware *a, const ap_hardware *b)
{
    return a->chip == b->chip && a->chips == b->chips && a->chips_per_host == b->chips_per_host &&
           a->domain_chips == b->domain_chips && same_number(a->nic_bytes_per_s, b->nic_bytes_per_s) &&
           same_number(a->intra_bytes_per_s, b->intra_bytes_per_s) && same_number(a->vcpus, b->vcpus) &&
           same_number(a->threads, b->threads) && same_number(a->threads_per_core, b->threads_per_core) &&
           same_number(a->memory_bytes, b->memory_bytes) && ap_streq(a->fabric, b->fabric);
}
