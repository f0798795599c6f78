#!/usr/bin/env python3
"""facts/instances.csv, offers_native.csv, offers_free.csv, network.csv, tpu_topologies.csv, cpu_families.csv,
gpu_bandwidth_measured.csv, aws_spot_advisor.csv, price-outliers.md -> data/offers/CLOUD.yaml

usage: convert_offers.py FACTS_DIR DATA_DIR"""
import csv
import fnmatch
import math
import re
import sys
from collections import Counter, defaultdict

from catalog_yaml import catalog_id, clean, confidence, number, quantity, write_file

facts, data = sys.argv[1], sys.argv[2]


def rows(name):
    with open(f"{facts}/{name}", encoding="utf-8") as file:
        return list(csv.DictReader(file))


CLOUD = {"alicloud": "alibaba", "ovh": "ovhcloud", "datacrunch": "verda"}
chips = {row["id"]: row for row in rows("chips.csv")}
chip_by_catalog_id = {catalog_id(name): row for name, row in chips.items()}

# Rates to USD for list prices in other currencies. The price sources refresh both price and rate.
RATE = {"CNY": (1 / 7.30, "USD = CNY / 7.30, rate of 2024-12-31 from memory"),
        "EUR": (1.08, "USD = EUR x 1.08, rate of 2024 (prometheusgroup.xyz)")}
# Names that hold a price or a remark in the facts: the catalog's name, session limit.
RENAME = {
    ("colab", "A100-40GB 11.77 CU/h"): "a100-40gb", ("colab", "CPU 0.07-0.08 CU/h"): "cpu", ("colab", "L4 4.82 CU/h"): "l4",
    ("colab", "T4 1.76 CU/h"): "t4", ("colab", "T4 high-RAM 2.05 CU/h"): "t4-high-ram", ("colab", "TPU v2-8 1.76 CU/h"): "tpu-v2-8",
    ("colab", "V100 4.91 CU/h"): "v100", ("colab", "Free T4 (about 12 h sessions; not guaranteed)"): "t4-free",
    ("kaggle", "GPU T4 x2 (free, about 30 h/week quota, 12 h session)"): "t4-x2-free",
    ("kaggle", "GPU P100 (free, about 30 h/week quota, 12 h session)"): "p100-free",
    ("kaggle", "TPU v3-8 (free, about 20 h/week quota, 9 h session; v5e-8 since 2025)"): "tpu-v3-8-free",
}
SESSION = {"t4-free": "12h", "t4-x2-free": "12h", "p100-free": "12h", "tpu-v3-8-free": "9h", "a100-40gb": "24h", "l4": "24h", "t4": "24h",
           "t4-high-ram": "24h", "tpu-v2-8": "24h", "v100": "24h", "cpu": "24h"}
PER_GPU = {  # Crusoe's per-GPU rates: the machine that is sold, chips (8-GPU boxes for SXM and OAM parts)
    "a100-pcie-40gb per GPU": ("a100-40gb.1x", 1), "a100-pcie-80gb per GPU": ("a100-80gb.1x", 1),
    "a100-sxm-80gb per GPU": ("a100-80gb-sxm-ib.8x", 8), "a40-pcie-48gb per GPU": ("a40-48gb.1x", 1),
    "b200-sxm-180gb per GPU": ("b200-180gb-sxm-ib.8x", 8), "h100-sxm-80gb per GPU": ("h100-80gb-sxm-ib.8x", 8),
    "h200-sxm-141gb per GPU": ("h200-141gb-sxm-ib.8x", 8), "l40s-48gb per GPU": ("l40s-48gb.1x", 1),
    "mi300x-192gb per GPU": ("mi300x-192gb-ib.8x", 8),
}
NO_MACHINE = {("crusoe", "c1a per vCPU"), ("crusoe", "s1a per vCPU")}  # rates of parts, and a compute unit: in clouds.yaml
MARKETPLACES = {"vast", "hyperbolic", "mithril"}
ASSUMED_CPU = {  # CPU behind a machine where no source says it: a guess, marked chip_assumed
    "gcp/n1-": "Xeon-E5-2698v3", "gcp/e2-": "Xeon-E5-2698v3", "oci/VM.Standard.E4": "EPYC-7763", "oci/VM.Standard.E5": "EPYC-9654",
    "nebius/cpu-d3": "EPYC-9654", "crusoe/c1a": "EPYC-9654", "colab/": "Xeon-E5-2699v4", "scaleway/POP2": "EPYC-7543",
    "scaleway/PRO2": "EPYC-7543", "azure/Standard_HB368rs_v5": "EPYC-9684X", "digitalocean/g-48vcpu-192gb-intel": "Xeon-8380",
}
FALLBACK_CPU = "EPYC-7543"
HOST = {  # vCPUs and GiB of one TPU host (v5e read in docs.cloud.google.com/tpu/docs/v5e; the rest memory)
    "TPU-v2": (96, 334, "n1 host"), "TPU-v3": (96, 334, "n1 host"), "TPU-v4": (240, 407, "ct4p-hightpu-4t"),
    "TPU-v5e": (112, 192, "ct5lp-hightpu-4t"), "TPU-v5p": (208, 448, "ct5p-hightpu-4t"), "TPU-v6e": (180, 720, "ct6e-standard-4t"),
}
TPU_PREFIX = {"v2": "TPU-v2", "v3": "TPU-v3", "v4": "TPU-v4", "v5litepod": "TPU-v5e", "v5p": "TPU-v5p", "v6e": "TPU-v6e"}
SQUARE = {4: "2x2", 8: "2x4", 16: "4x4", 32: "4x8", 64: "8x8", 128: "8x16", 256: "16x16", 512: "16x32", 1024: "32x32"}
PRICE_COLUMNS = [("on_demand", "on_demand_usd_h"), ("spot", "spot_usd_h"), ("reserved_1y", "committed_1y_usd_h"),
                 ("reserved_3y", "committed_3y_usd_h")]


def as_of(text):
    """The facts' snapshot period as one date: of a span its older end, of derived prices the date of the price level."""
    if "/" in text:
        return max(text.split("/"))
    found = re.match(r"(\d{4})(-\d{2})?(-\d{2})?(?: (H[12]))?", text)
    year, month, day, half = found.groups()
    return year + (month or {"H1": "-01", "H2": "-07"}.get(half, "")) + (day or "" if month else "")


def usd(text, factor=1.0):
    return float(f"{float(text) * factor:.6g}") if text not in ("", None) else None


def tidy_note(text):
    parts = [part.strip() for part in (text or "").split(";")]
    return "; ".join(part for part in parts if part and part != "CPU-only" and not re.match(r"(cpu maker|arch (amd|arm)64)", part))


spot_advisor = {(row["instance_type"], row["region"]): row["interruption_rate_per_month"] for row in rows("aws_spot_advisor.csv")}


class Machine:
    def __init__(self, cloud, name):
        self.cloud, self.name, self.rows, self.prices, self.notes, self.sources = cloud, name, [], [], [], {}
        self.extra = {}

    def fact(self, column):
        """The value of a column: of the newest row that has one."""
        filled = sorted((row for row in self.rows if row.get(column) not in ("", None)), key=lambda row: as_of(row["snapshot_date"]))
        return filled[-1][column] if filled else ""


machines = {}


def machine(cloud, name):
    return machines.setdefault((cloud, name), Machine(cloud, name))


def add_price(target, row, factor=1.0, why=None, conf=None):
    price = {"region": row["region"]}
    for key, column in PRICE_COLUMNS:
        price[key] = usd(row.get(column), factor)
    price["interruption"] = row.get("spot_interruption_band") or (
        spot_advisor.get((row["instance_type"], row["region"])) if target.cloud == "aws" else None)
    note = tidy_note(row["notes"])
    if target.cloud == "mithril" and "floor price" in note:  # price-outliers.md: a bid floor is no price
        price["on_demand"] = price["spot"] = None
        note = f"price unknown: the figure of the catalog ({row['spot_usd_h']} USD per hour) is a bid floor (skypilot#9156)"
    price["meta"] = (row["source"] or "memory", as_of(row["snapshot_date"]), conf or confidence(row["confidence"]))
    price["notes"] = "; ".join(part for part in (note, why) if part)
    same = [old for old in target.prices if old["region"] == price["region"]]
    if same:
        same[0]["notes"] = "; ".join(filter(None, [same[0]["notes"], f"{price['meta'][0]} ({price['meta'][1]}) has {price['on_demand']}"]))
        return
    target.prices.append(price)


def read_offers():
    rates = []
    for row in rows("instances.csv") + rows("offers_free.csv"):
        key = (row["cloud"], row["instance_type"])
        if key in NO_MACHINE or key[1].startswith("compute unit"):
            continue
        if "(per chip-hour)" in key[1]:
            rates.append(row)
            continue
        name = RENAME.get(key, key[1])
        if row["cloud"] == "vast" and "A100_SXM4-32" in name and row["accelerator"] == "A100-SXM4-40GB":
            name = name.replace("A100_SXM4", "A100_SXM4_40GB")
        if name in PER_GPU:
            name, count = PER_GPU[name]
            target = machine(row["cloud"], name)
            target.rows.append({**row, "acc_count": str(count)})
            add_price(target, row, count, f"list rate per GPU x {count}; machine name by Crusoe's pattern", "derived" if count > 1 else None)
            continue
        target = machine(row["cloud"], name)
        target.rows.append(row)
        if name != key[1]:
            target.extra["spelling"] = key[1]
        add_price(target, row)
    return rates


def vgpu_share(row):
    """Alibaba's virtual workstations are slices of one card: mN in the name is N GB of its memory."""
    found = re.search(r"[sv]gn\d\w*-(?:vws-)?m(\d+)", row["instance_type"]) if row["cloud"] == "alibaba" else None
    return int(found.group(1)) / float(chips[row["accelerator"]]["memory_gib"]) if found else None


def read_native():
    for row in rows("offers_native.csv"):
        share = vgpu_share(row)
        if share and share < 1:
            row = {**row, "acc_count": str(share), "notes": row["notes"] + "; vGPU slice, share of the card from its name"}
        rate, why = RATE[row["currency"]]
        target = machine(row["cloud"], row["instance_type"])
        target.rows.append({**row, "local_ssd_gib": "", "network_gbps": "", "network_kind": ""})
        amount = float(row["price_per_hour"])
        same = [old for old in target.prices if old["region"] == row["region"]]
        price = {"region": row["region"], "on_demand": usd(amount, rate), "native": amount, "currency": row["currency"],
                 "meta": (f"{row['source']}; {why}", row["snapshot_date"], "derived"), "notes": tidy_note(row["notes"])}
        if same:
            price["notes"] = "; ".join(filter(None, [price["notes"], f"{same[0]['meta'][0]} has {same[0].get('on_demand')}"]))
            target.prices.remove(same[0])
        target.prices.append(price)


def tpu_slices(rates):
    """Slices priced by their chip-hour rate where no slice price was read."""
    topologies = defaultdict(list)
    for row in rows("tpu_topologies.csv"):
        topologies[row["device_type"]].append(row)
    best = {}
    for row in rates:
        label = row["instance_type"]
        rank = (as_of(row["snapshot_date"]), label)
        pod = "pod" in label
        for kind in (("pod",) if pod else ("device",) if "device" in label or "-8 " in label else ("device", "pod")):
            key = (row["accelerator"], kind, row["region"])
            if key not in best or best[key][0] < rank:
                best[key] = (rank, row)
    wanted = {name for (cloud, name) in machines if cloud == "gcp" and re.match(r"v\d\w*-\d+$", name) and name.split("-")[0] in TPU_PREFIX}
    wanted |= {"v2-8", "v3-8", "v5litepod-1", "v6e-1", "v4-8"}
    for name, options in topologies.items():
        prefix, chips_here = name.split("-")[0], int(options[0]["chips"])
        if prefix in TPU_PREFIX and (chips_here <= 256 or chips_here & (chips_here - 1) == 0):
            wanted.add(name)
    for name in wanted:
        slice_machine(name, topologies, best)


def slice_shape(name, topologies):
    prefix, size = name.split("-")
    chip, count = TPU_PREFIX[prefix], int(size) // (1 if prefix in ("v5litepod", "v6e") else 2)
    options = topologies.get(name, [])
    if not options:
        return chip, count, SQUARE.get(count, "1x1" if count == 1 else None), max(1, count // 4), None
    def spread(row):
        sides = [int(side) for side in row["topology"].split("x")]
        return max(sides) / min(sides), row["topology"]
    row = min(options, key=spread)
    return chip, int(row["chips"]), row["topology"], int(row["hosts"]), row["machine_type"]


def slice_machine(name, topologies, best):
    chip, count, topology, hosts, host_type = slice_shape(name, topologies)
    target = machine("gcp", name)
    vcpus, memory, usual = HOST[chip]
    if not target.rows:
        target.rows.append({"accelerator": chip, "acc_count": str(count), "snapshot_date": "2026-08"})
    one = count == 1
    host_type = {"TPU-v5e": "ct5lp-hightpu-1t", "TPU-v6e": "ct6e-standard-1t"}[chip] if one else host_type
    size = {"TPU-v5e": (24, 48), "TPU-v6e": (44, 176)}[chip] if one else (vcpus, memory)
    target.extra.update(hosts=hosts, topology=topology, machine=host_type or (usual if usual.startswith("ct") else None),
                        vcpus=size[0] * hosts, memory=quantity(size[1] * hosts, "GB"))
    target.sources["vcpus"] = "docs.cloud.google.com/tpu/docs/v5e" if chip == "TPU-v5e" else "memory"
    target.sources["topology"] = "AI-Hypercomputer/xpk" if topologies.get(name) else "chips arranged as a square (memory)"
    kind = "device" if hosts == 1 else "pod"
    for (rate_chip, rate_kind, region), (_, row) in best.items():
        if rate_chip != chip or rate_kind != kind:
            continue
        known = [price for price in target.prices if price["region"] == region]
        if known:
            for key, column in PRICE_COLUMNS:
                if known[0].get(key) is None and row.get(column):
                    known[0][key] = usd(row[column], count)
                    known[0]["notes"] += f"; {key.replace('_', ' ')}: chip-hour rate x {count}"
                    if key.startswith("reserved"):
                        known[0]["notes"] += " (rate from memory)"
        else:
            add_price(target, row, count, f"rate per chip-hour x {count} chips", "derived")


network_rows = {}
for row in rows("network.csv"):
    network_rows[(CLOUD.get(row["cloud"], row["cloud"]), row["instance_type"])] = row
bandwidth_rows = {(CLOUD.get(row["cloud"], row["cloud"]), row["instance_type"]): row for row in rows("gpu_bandwidth_measured.csv")}


def unpriced():
    """Machine types whose shape is known but for which no price was found."""
    for (cloud, name), row in network_rows.items():
        if (cloud, name) in machines or (cloud, name) in RENAME or "(per chip-hour)" in name or name in PER_GPU:
            continue
        target = machine(cloud, name)
        target.rows.append({"accelerator": row["accelerator"], "acc_count": row["acc_count"], "snapshot_date": "2026-08"})
        target.extra["meta"] = (row["source"] or "facts on networks, no page named", "2026-08", confidence(row["confidence"]))
        target.notes.append(row["notes"] or "no price found")


def fabric(text):
    text = text.lower()
    for word, name in (("tcpxo", "gpudirect-tcpxo"), ("tcpx", "gpudirect-tcpx"), ("efa", "efa"), ("no infiniband", "ethernet"),
                       ("infiniband", "infiniband"), ("roce", "roce"), ("ici", "ici"), ("ena", "ethernet"), ("gvnic", "ethernet"),
                       ("ethernet", "ethernet")):
        if word in text:
            return name
    return None


def network(target):
    net, result = network_rows.get((target.cloud, target.name), {}), {}
    speed = target.fact("network_gbps") or net.get("inter_node_gbps")
    result["network"] = quantity(speed, "Gbps") if speed else None
    if net.get("inter_node_gbps") and not target.fact("network_gbps"):
        target.sources["network"] = f"{net['source']} ({net['confidence']})"
    kind = net.get("fabric") or target.fact("network_kind")
    result["fabric"] = fabric(kind) if kind else "ici" if target.extra.get("topology") else None
    found = re.search(r"EFA x(\d+)", target.fact("network_kind"))
    result["nics"] = int(net["nics"]) if net.get("nics") else int(found.group(1)) if found else None
    rdma = net.get("gpudirect_rdma", "")
    result["rdma"] = True if rdma == "yes" else False if rdma else None
    if rdma:
        target.sources["rdma"] = "memory"
    if kind and re.search(r"\dx\d|cluster|inside|FDR|EDR|HDR|NDR", kind):
        target.notes.append("network: " + kind)
    result["intra_link"] = net.get("intra_node_link")
    measured = bandwidth_rows.get((target.cloud, target.name), {})
    p2p = measured.get("d2d_read_ce_gb_s_median") or net.get("intra_node_p2p_gb_s_measured", "")
    host = measured.get("h2d_ce_gb_s_median") or net.get("host_link_gb_s_measured", "")
    if re.match(r"[\d.]+$", p2p):
        result["intra_bandwidth"] = quantity(p2p, "GB/s")
    elif p2p or measured.get("peer_access", "").startswith("no device"):
        target.notes.append("nvbandwidth reports no GPU-to-GPU copy: peer-to-peer is off")
    if host:
        result["host_link"] = quantity(host, "GB/s")
    if measured and (p2p or host):
        target.sources["host_link"] = f"nvbandwidth {measured['measured']}, {measured['source'].split(' data/')[0]}"
        if "intra_bandwidth" in result:
            target.sources["intra_bandwidth"] = target.sources["host_link"]
    return result


def cpu_family(cloud, name):
    """(chip id, vCPUs per core, sku or None) from cpu_families.csv; the most specific glob wins."""
    if cloud == "azure":
        shape = re.match(r"Standard_([A-Z]+?)(\d+)(?:-\d+)?([a-z]*?)_v(\d)$", name)
        if shape and shape.group(1) in "DEL":
            letter = next((letter for letter in "ap" if letter in shape.group(3)), "")
            name = f"Standard_D0{letter}s_v{shape.group(4)}"
            if shape.group(1) == "L":
                name = "Standard_D0s_v5"
    hits = [row for row in rows("cpu_families.csv") if row["cloud"] == cloud and row["chip_id"] and fnmatch.fnmatch(name, row["family_glob"])]
    hits.sort(key=lambda row: len(row["family_glob"]))
    return hits[-1] if hits else None


def cpu_machine(target):
    vcpus = float(target.fact("vcpus") or 0)
    row = cpu_family(target.cloud, target.name)
    if row and re.match(r"c4-\w+-(144|288)", target.name) and target.cloud == "gcp":
        row = {**row, "sku": "xeon-6985p-c", "chip_id": "xeon-6972p", "note": "Granite Rapids in the largest sizes"}
    if row:
        chip, per_core = chip_by_catalog_id[catalog_id(row["chip_id"])], float(row["vcpus_per_core"])
        target.sources["chip"] = f"memory: {row['note'] or 'CPU of the family'}"
        if catalog_id(row["sku"]) != catalog_id(chip["id"]):
            target.notes.append(f"CPU {row['sku']}, figures of {catalog_id(chip['id'])}")
    else:
        path = f"{target.cloud}/{target.name}"
        name = next((name for start, name in ASSUMED_CPU.items() if path.startswith(start)), FALLBACK_CPU)
        chip, per_core = chips[name], 2.0
        target.extra["chip_assumed"] = True
        target.notes.append("CPU model not published: a guess" if not path.startswith(("gcp/n1", "gcp/e2")) else "mixed CPU models: the slowest")
    cores = int(re.search(r"(\d+) cores", chip["notes"]).group(1)) if "cores" in chip["notes"] and re.search(r"(\d+) cores", chip["notes"]) else {
        "graviton2": 64, "graviton3": 64, "graviton4": 96, "google-axion": 72, "azure-cobalt-100": 128}.get(catalog_id(chip["id"]), 48)
    sockets = max(1, math.ceil(vcpus / (cores * per_core) - 1e-9)) if vcpus else 1
    return {"chip": catalog_id(chip["id"]), "chip_count": sockets}


def outliers():
    notes = {}
    for line in open(f"{facts}/price-outliers.md", encoding="utf-8"):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if len(cells) == 7 and cells[0] in chips:
            cloud = CLOUD.get(cells[1], cells[1])
            notes[cloud, RENAME.get((cloud, cells[2]), cells[2])] = f"outlier: {cells[5]} x the chip's median; {cells[6]}"
    return notes


outlier_notes = outliers()


def market(target):
    if target.cloud in ("colab", "kaggle"):
        return "free" if target.name.endswith("-free") else "notebook"
    if target.cloud in MARKETPLACES or target.cloud == "runpod" and "community" in target.name.lower():
        return "marketplace"
    return "cloud"


def price_entry(price, meta):
    source, date, conf = price["meta"]
    entry = {key: price.get(key) for key in ("region", "on_demand", "spot", "reserved_1y", "reserved_3y", "interruption", "native", "currency")}
    entry["source"] = source if source != meta[0] else None
    entry["as_of"] = date if date != meta[1] else None
    entry["confidence"] = conf if conf != meta[2] else None
    entry["notes"] = price.get("notes")
    return clean(entry)


def entry(target, defaults):
    metas = Counter(price["meta"] for price in target.prices)
    meta = max(metas, key=lambda m: (metas[m], m)) if metas else target.extra.get("meta", ("AI-Hypercomputer/xpk", "2026-08", "derived"))
    notes = {price["notes"] for price in target.prices if price.get("notes")}
    if len(notes) == 1:
        target.notes += sorted(notes)
        for price in target.prices:
            price["notes"] = None
    if target.extra.get("spelling"):
        target.notes.append(f"in the source: {target.extra['spelling']}")
    if (target.cloud, target.name) in outlier_notes:
        target.notes.append(outlier_notes[target.cloud, target.name])
    if target.name in SESSION and target.cloud in ("colab", "kaggle"):
        target.sources["session_limit"] = "memory"
    accelerator = target.fact("accelerator")
    if accelerator:
        count = target.extra.get("chip_count") or float(target.fact("acc_count"))
        body = {"chip": catalog_id(accelerator), "chip_count": float(f"{count:.6g}")}
    else:
        body = cpu_machine(target)
    body.update(network(target))
    result = {"name": target.name, "chip": body.pop("chip"), "chip_count": body.pop("chip_count"), "hosts": target.extra.get("hosts"),
              "topology": target.extra.get("topology"), "machine": target.extra.get("machine"),
              "vcpus": target.extra.get("vcpus") or (float(target.fact("vcpus")) if target.fact("vcpus") else None),
              "memory": target.extra.get("memory") or quantity(target.fact("mem_gib"), "GiB"),
              "local_ssd": quantity(target.fact("local_ssd_gib"), "GiB"), **body, "market": market(target),
              "session_limit": SESSION.get(target.name) if target.cloud in ("colab", "kaggle") else None,
              "chip_assumed": target.extra.get("chip_assumed"), "source": meta[0], "as_of": meta[1], "confidence": meta[2],
              "notes": "; ".join(dict.fromkeys(note for note in target.notes if note)), "sources": target.sources,
              "prices": [price_entry(price, meta) for price in sorted(target.prices, key=lambda price: price["region"])]}
    for key in ("source", "as_of", "confidence", "market"):
        if result[key] == defaults.get(key):
            result[key] = None
    return clean(result)


WHY_OUTSIDE = {"vast": "marketplace host of one day", "hyperbolic": "marketplace", "colab": "compute units, shared pool, no guarantee of the chip"}


def mark_outliers():
    """Prices outside a fifth to five times their chip's median that price-outliers.md does not explain."""
    by_chip = defaultdict(list)
    for target in machines.values():
        accelerator = target.fact("accelerator")
        count = target.extra.get("chip_count") or float(target.fact("acc_count") or 0)
        for price in target.prices:
            if accelerator and count and price.get("on_demand"):
                by_chip[accelerator].append((price["on_demand"] / count, target))
    for offers in by_chip.values():
        prices = sorted(price for price, _ in offers)
        median = prices[len(prices) // 2]
        for price, target in offers:
            key = (target.cloud, target.name)
            if not median / 5 <= price <= median * 5 and key not in outlier_notes:
                outlier_notes[key] = f"outlier: {price / median:.2f} x the chip's median; {WHY_OUTSIDE.get(target.cloud, 'as the source has it')}"


def natural(text):
    return [(int(part), "") if part.isdigit() else (-1, part.lower()) for part in re.split(r"(\d+)", text) if part]


COMMENT = [
    "Machines and prices of {cloud}.",
    "prices: USD per hour of the whole machine, by region; on_demand, spot, reserved_1y, reserved_3y, interruption (spot machines taken",
    "back per month), native + currency where the list is not in USD. A price's own source, as_of, confidence, notes stand with it",
    "where they differ from the machine's; a machine's where they differ from the file's. Absent = unknown.",
    "chip_count: accelerators (TPU: chips, not cores); on CPU machines sockets: as many as the vCPUs need of that CPU.",
    "Change a price: edit the line, and its as_of and source. Check with: accelpick catalog check FILE.",
]


def main():
    rates = read_offers()
    read_native()
    tpu_slices(rates)
    unpriced()
    mark_outliers()
    clouds = defaultdict(list)
    for target in machines.values():
        clouds[target.cloud].append(target)
    total = 0
    for cloud in sorted(clouds):
        here = sorted(clouds[cloud], key=lambda target: natural(target.name))
        metas = Counter(price["meta"] for target in here for price in target.prices)
        source, date, conf = max(metas, key=lambda m: (metas[m], m)) if metas else ("unknown", "2026-08", "memory")
        usual = Counter(market(target) for target in here).most_common(1)[0][0]
        head = {"cloud": cloud, "market": usual, "source": source, "as_of": date, "confidence": conf}
        write_file(f"{data}/offers/{cloud}.yaml", [line.format(cloud=cloud) for line in COMMENT], head, "instances",
                   [entry(target, head) for target in here], block_lists=("prices",))
        total += sum(len(target.prices) for target in here)
    print(len(machines), "machines", total, "prices")


main()
