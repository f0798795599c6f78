#!/usr/bin/env python3
"""facts/chips.csv, chip_links.csv, conflicts.md, chips-changes.md -> data/chips/*.yaml

usage: convert_chips.py FACTS_DIR DATA_DIR"""
import csv
import re
import sys
from collections import defaultdict

from catalog_yaml import catalog_id, clean, confidence, newest_date, quantity, write_file

facts, data = sys.argv[1], sys.argv[2]


def rows(name):
    with open(f"{facts}/{name}", encoding="utf-8") as file:
        return list(csv.DictReader(file))


chips, links = rows("chips.csv"), {row["id"]: row for row in rows("chip_links.csv")}

# Measured matmul rates in TFLOPS (facts/conflicts.md, "Measured ceilings"): 16 bit, 8 bit.
MAMF = {
    "Gaudi2": (418.7, 826.5), "A100-SXM4-80GB": (271.2, None), "GH200-96GB": (828.6, 1535), "A100-PCIe-80GB": (252.9, None),
    "H100-SXM5-80GB": (794.5, 1402.6), "H200-SXM-141GB": (794.5, 1453.4), "B300": (1769, 3353.3), "B200": (1745, 3432.5),
    "Gaudi3": (1243, 1289.5), "GB200": (1822, 3615.6), "MI355X": (1565, None), "MI325X": (784.9, None), "MI300X": (668.4, None),
}
SAME_DIE = {  # no measurement of its own: the share of the same die at the same power
    "A100-SXM4-40GB": "A100-SXM4-80GB", "A800-SXM4-80GB": "A100-SXM4-80GB", "A100-PCIe-40GB": "A100-PCIe-80GB",
    "A800-PCIe-80GB": "A100-PCIe-80GB", "A800-PCIe-40GB": "A100-PCIe-80GB", "H800-SXM5-80GB": "H100-SXM5-80GB",
    "H100-SXM5-96GB": "H100-SXM5-80GB", "GH200-144GB": "GH200-96GB", "GB300": "GB200",
}
PEERS = {  # chips that one fabric joins, where chip_links.csv is silent
    "TPU-v2": (256, "16x16 pod (memory)"), "TPU-v3": (1024, "32x32 pod, jax-ml/scaling-book"),
    "TPU-v4": (4096, "16x16x16 pod, jax-ml/scaling-book"), "TPU-v5e": (256, "16x16 pod, jax-ml/scaling-book"),
    "TPU-v5p": (8960, "16x20x28 pod, jax-ml/scaling-book"), "TPU-v6e": (256, "16x16 pod, jax-ml/scaling-book"),
    "TPU-v7": (9216, "144 cubes of 64, AI-Hypercomputer/xpk"), "MI50-16GB": (4, "memory"), "MI60-32GB": (4, "memory"),
    "MI100": (4, "memory"), "MI210": (2, "bridge (memory)"), "MI250": (4, "memory"), "MI250X": (4, "memory"),
    "MI300A": (4, "memory"), "MI300X": (8, "7 links, 8 per node"), "MI308X": (8, "memory"), "MI325X": (8, "memory"),
    "MI350X": (8, "memory"), "MI355X": (8, "memory"), "Trainium1": (16, "trn1.32xlarge (memory)"),
    "Trainium2": (16, "trn2.48xlarge (memory)"), "Trainium2-Ultra": (64, "trn2u UltraServer"), "Gaudi1": (8, "21 of 24 ports (memory)"),
    "Gaudi2": (8, "21 of 24 ports in the node"), "Gaudi3": (8, "21 of 24 ports in the node"),
}
DEVICES = {"MI250": (2, "two dies"), "MI250X": (2, "two dies"), "TPU-v2": (2, "cores"), "TPU-v3": (2, "cores"),
           "TPU-v7": (2, "chiplets"), "Trainium1": (2, "NeuronCores"), "Trainium2": (8, "NeuronCores; 4 logical with LNC=2"),
           "Trainium2-Ultra": (8, "NeuronCores; 4 logical with LNC=2"), "Inferentia2": (2, "NeuronCores"), "Max-1550": (2, "stacks")}
# Cores and base clock that the notes do not give: from memory, each reproduces the peak in chips.csv.
CPU = {
    "Graviton2": (64, 2.5), "Graviton3": (64, 2.6), "Graviton4": (96, 2.8), "Google-Axion": (72, 3.0), "Azure-Cobalt-100": (128, 3.4),
    "Ampere-Altra-Q80-30": (80, 3.0), "Grace-72c": (72, 3.1), "Core-i7-8700K": (6, 3.7), "Core-i9-9900K": (8, 3.6),
    "Core-i9-10900K": (10, 3.7), "Core-i7-12700K": (12, 3.6), "Core-i9-12900K": (16, 3.2), "Core-i5-12400F": (6, 2.5),
    "Core-i5-13600K": (14, 3.5), "Core-i9-13900K": (24, 3.0), "Core-i9-14900K": (24, 3.2), "Core-Ultra-9-285K": (24, 3.7),
    "Core-i9-7980XE": (18, 2.6), "Xeon-W9-3595X": (60, 2.0), "Graviton5": (192, None), "Azure-Cobalt-200": (132, None),
}
CONFLICT_CHIPS = {  # first column of conflicts.md -> ids
    "H100 SXM": ["H100-SXM5-80GB"], "H100 PCIe": ["H100-PCIe-80GB"], "H100 PCIe, A100": ["H100-PCIe-80GB", "A100-SXM4-80GB"],
    "H200 NVL": ["H200-NVL-141GB"], "H800": ["H800-SXM5-80GB"], "A100 PCIe 40 GB": ["A100-PCIe-40GB"], "V100 PCIe": ["V100-PCIe-16GB"],
    "RTX 4070": ["RTX-4070"], "RX 7900 XTX": ["RX-7900-XTX"], "MI300X, MI325X": ["MI300X", "MI325X"], "Max 1550": ["Max-1550"],
    "TPU v2": ["TPU-v2"], "TPU v3": ["TPU-v3"], "TPU v4": ["TPU-v4"], "TPU v5p": ["TPU-v5p"], "TPU v6e": ["TPU-v6e"],
}


def conflict_notes():
    notes = defaultdict(list)
    ids = {chip["id"] for chip in chips}
    inside = False
    for line in open(f"{facts}/conflicts.md", encoding="utf-8"):
        inside = (inside or line.startswith("| chip | field")) and not line.startswith("## Measured")
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not inside or len(cells) != 4 or cells[0] == "chip":
            continue
        for chip in CONFLICT_CHIPS.get(cells[0], [cells[0]]):
            assert chip in ids, chip
            notes[chip].append(f"{cells[1]}: {cells[2]}; chosen {cells[3]}")
    return notes


def change_notes():
    notes, inside = defaultdict(list), False
    for line in open(f"{facts}/chips-changes.md", encoding="utf-8"):
        if line.startswith("## "):
            inside = line.startswith("## Corrected")
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if inside and len(cells) == 5 and cells[0] not in ("chip", "---"):
            notes[cells[0], cells[4]].append(f"{cells[1]} {cells[2]} -> {cells[3]}")
    result = defaultdict(list)
    for (chip, why), cells in notes.items():
        result[chip].append(f"corrected {', '.join(cells)}: {why}")
    return result


def generation(chip):
    vendor, family, arch, name = chip["vendor"], chip["family"].lower(), chip["arch_target"], chip["id"]
    hbm = "hbm" in chip["memory_type"].lower()
    if chip["kind"] == "cpu":
        if "amx" in family and "no amx" not in family or "AMX" in chip["notes"] and "no AMX" not in chip["notes"]:
            return "cpu-amx"
        return "cpu-arm" if arch.startswith("neon") else "cpu-" + arch
    if vendor == "NVIDIA":
        by_name = {"VR200-Rubin": "rubin", "VR300-Rubin-Ultra": "rubin", "Rubin-CPX": "rubin", "GTX-580": "fermi", "Quadro-P600": "pascal",
                   "T10": "turing", "Jetson-AGX-Xavier": "volta", "Jetson-Xavier-NX": "volta", "Jetson-TX2": "pascal",
                   "Jetson-Nano": "maxwell"}
        if name in by_name:
            return by_name[name]
        if not family:
            return "kepler"  # K20X, GTX 780, GTX TITAN (Black), Quadro K6000
        for key in ("blackwell", "hopper", "ada", "ampere", "turing", "volta", "pascal", "maxwell", "kepler"):
            if key in family:
                return key + ("-hbm" if key in ("ampere", "blackwell") and hbm else "")
    if vendor == "AMD":
        found = re.match(r"(cdna|rdna) ?(\d?)", family)
        return found.group(1) + (found.group(2) or "1") if found else "gcn"
    if vendor == "Intel" and chip["kind"] == "gpu":
        return "xe-hpc" if arch == "xe-hpc" else "xe"
    by_vendor = {"Google": "tpu", "Intel Habana": "gaudi", "Intel": "gaudi", "AWS": "neuron", "Graphcore": "ipu", "Apple": "apple",
                 "Huawei": "ascend"}
    return by_vendor.get(vendor, "other-asic")


def bus(chip, link):
    gen, lanes = link.get("pcie_gen"), link.get("pcie_lanes")
    found = re.match(r"PCIe(\d)(?: x(\d+))?$", chip["host_bus"])
    if not gen and found:
        gen, lanes = found.group(1), found.group(2)
    return {"pcie": int(gen) if gen else None, "lanes": int(lanes) if lanes else None}


def p2p(text):
    if text.startswith("yes"):
        return True
    return False if text.startswith("no") else None


def cpu_of(chip, sources):
    found = re.search(r"(\d+) cores,? base ([\d.]+) GHz", chip["notes"])
    if found:
        return {"cores": int(found.group(1)), "base_clock": f"{float(found.group(2)):g}GHz"}
    if chip["id"] == "Xeon-6766E":
        sources["cpu"] = "memory"
        return {"cores": 144, "base_clock": "1.9GHz"}
    cores, clock = CPU[chip["id"]]
    sources["cpu.cores"] = "memory" + ("; cores x clock x flop/cycle gives the peak" if chip["tflops_fp32"] else "")
    return {"cores": cores, "base_clock": f"{clock:g}GHz" if clock else None}


def ceiling(chip, sources):
    name = chip["id"]
    sixteen, eight = MAMF.get(SAME_DIE.get(name, name), (None, None))
    if sixteen is None:
        return None
    twin = next(row for row in chips if row["id"] == SAME_DIE.get(name, name))
    sources["matmul_ceiling"] = ("derived: share measured on " + twin["id"] + ", same die" if name in SAME_DIE else
                                 "stas00/ml-engineering maximum achievable matmul TFLOPS over the catalog's peak")
    return {"bf16": round(sixteen / float(twin["tflops_bf16"]), 3),
            "fp8": round(eight / float(twin["tflops_fp8"]), 3) if eight else None}


conflicts, changes = conflict_notes(), change_notes()

FRAMEWORKS = [  # spelling in the facts (prefix) -> framework; None = nothing that trains
    ("pytorch-neuronx (inf", None), ("pytorch-neuron (inf", None), ("onnx/pytorch (inf", None), ("none practical", None),
    ("vendor fork", "vendor-fork"), ("poptorch", "pytorch"), ("torch-neuronx", "pytorch"), ("torch_musa", "pytorch"), ("pytorch", "pytorch"),
    ("tensorflow", "tensorflow"), ("jax", "jax"),
]
TREES = ["xgboost", "lightgbm", "catboost"]


def frameworks(chip, notes):
    """Plain framework names; a port's own name stays in the notes. A word that is no framework marks what cannot train."""
    text = re.sub(r";(?=[^()]*\))", ",", chip["frameworks"])
    result = []
    for word in (part.strip() for part in text.split(";") if part.strip()):
        plain = next((name for start, name in FRAMEWORKS if word.startswith(start)), word)
        result.append(plain or ("inference-only" if "inf" in word else "none"))
        if word != plain:
            notes.append("software: " + word)
    if chip["kind"] == "cpu" or chip["vendor"] == "NVIDIA" and not chip["id"].startswith("Jetson") and result:
        result += [name for name in TREES + (["scikit-learn"] if chip["kind"] == "cpu" else []) if name not in result]
    return list(dict.fromkeys(result))


def entry(chip):
    name, link, sources, notes = chip["id"], links.get(chip["id"], {}), {}, []
    tf = lambda column, unit="TFLOPS": quantity(chip[column], unit)
    usable = link.get("usable_mib") or chip["usable_mib"]
    if usable:
        sources["memory.usable"] = link.get("usable_source") or chip["usable_mib_source"]
    ecc = link.get("ecc", "")
    peer_text = link.get("p2p", "")
    peers, fabric = link.get("nvlink_max_peers"), link.get("nvlink_or_fabric") or chip["interconnect"]
    if not peers and name in PEERS:
        peers, sources["link.max_peers"] = PEERS[name]
    if peer_text or link.get("pcie_gen"):
        sources["link.p2p"] = link["confidence"].replace("rule (memory)", "rule of the product line (memory)")
    bandwidth = link.get("nvlink_gb_s_bidir") or chip["interconnect_gb_s_bidir"]
    if chip["notes"]:
        notes.append(chip["notes"])
    notes += [f"conflict over {text}" for text in conflicts.get(name, [])] + changes.get(name, [])
    if peer_text and peer_text not in ("yes", "yes (chip fabric)", "no"):
        notes.append("peer-to-peer: " + peer_text)
    if ecc.startswith("soft"):
        notes.append("ECC: " + ecc)
    if link.get("notes"):
        notes.append(link["notes"])
    if name in DEVICES:
        notes.append(f"devices: {DEVICES[name][1]}")
    software = frameworks(chip, notes)
    result = {
        "id": catalog_id(name), "name": chip["name"], "vendor": chip["vendor"], "family": chip["family"],
        "generation": generation(chip), "kind": chip["kind"], "year": chip["year"] and int(chip["year"]),
        "memory": {"size": quantity(chip["memory_gib"], "GiB"), "usable": quantity(usable, "MiB"),
                   "type": chip["memory_type"], "bandwidth": quantity(chip["mem_bw_gb_s"], "GB/s"),
                   "ecc": True if ecc == "yes" else False if ecc == "no" or ecc.startswith("soft") else None},
        "peak": {"fp64": tf("tflops_fp64"), "fp32": tf("tflops_fp32"), "tf32": tf("tflops_tf32"), "fp16": tf("tflops_fp16"),
                 "bf16": tf("tflops_bf16"), "fp8": tf("tflops_fp8"), "fp4": tf("tflops_fp4"), "int8": tf("tops_int8", "TOPS"),
                 "fp16_acc16": tf("tflops_fp16_acc16")},
        "matmul_ceiling": ceiling(chip, sources),
        "tdp": quantity(chip["tdp_w"], "W"),
        "link": {"kind": fabric, "bandwidth": quantity(bandwidth, "GB/s") if bandwidth not in ("", "0") else None,
                 "max_peers": int(peers) if peers else None, "p2p": p2p(peer_text) if chip["kind"] != "cpu" else None},
        "bus": bus(chip, link), "arch": chip["arch_target"],
        "cpu": cpu_of(chip, sources) if chip["kind"] == "cpu" else None,
        "devices": DEVICES[name][0] if name in DEVICES else None,
        "price": {"usd": float(chip["price_usd"]) if chip["price_usd"] else None, "basis": chip["price_basis"]},
        "frameworks": software,
        "source": chip["source"] or "memory", "as_of": newest_date(chip["source"]), "confidence": confidence(chip["confidence"]),
        "notes": "; ".join(notes), "sources": sources,
    }
    if result["price"]["usd"] is None:
        result["price"] = None
    if chip["kind"] == "cpu" and chip["interconnect"] == "none":
        result["link"] = None
    return clean(result)


COMMENT = [
    "{title}",
    "One entry per chip. Add one by copying its nearest relative; every key is optional but id, name, vendor, generation, kind.",
    "peak: dense rates; matrix units for 16 bit and less (fp32 accumulation), vector units for fp32 and fp64. Absent = unsupported",
    "or unknown. link.bandwidth: both directions together. generation: key of the calibration. Units belong to the values.",
    "frameworks: vendor-fork, inference-only and none mark what ordinary training code does not run on.",
    "Check with: accelpick catalog check FILE. What the keys mean: accelpick catalog schema chips.",
]
FILES = [
    ("nvidia-datacenter", "NVIDIA data-centre GPUs.", lambda c: c["vendor"] == "NVIDIA" and c["kind"] == "gpu" and datacenter(c["id"])),
    ("nvidia-workstation", "NVIDIA workstation and embedded GPUs.", lambda c: c["vendor"] == "NVIDIA" and c["kind"] == "gpu"
     and re.match(r"RTX-(PRO|A|\d000-|\d{4}-(SFF-)?Ada|5880)|Quadro|Jetson|GB10", c["id"])),
    ("nvidia-geforce", "NVIDIA GeForce and TITAN GPUs.", lambda c: c["vendor"] == "NVIDIA" and c["kind"] == "gpu"),
    ("amd-gpu", "AMD GPUs.", lambda c: c["vendor"] == "AMD" and c["kind"] == "gpu"),
    ("intel-gpu", "Intel GPUs.", lambda c: c["vendor"] == "Intel" and c["kind"] == "gpu"),
    ("apple-gpu", "GPUs of Apple silicon.", lambda c: c["vendor"] == "Apple"),
    ("google-tpu", "Google TPUs, per chip.", lambda c: c["kind"] == "tpu"),
    ("aws-neuron", "AWS Trainium and Inferentia, per chip.", lambda c: c["kind"] == "asic" and c["vendor"] == "AWS"),
    ("intel-gaudi", "Intel Gaudi accelerators.", lambda c: c["kind"] == "asic" and c["vendor"].startswith("Intel")),
    ("other-asic", "Other accelerators. Many have no public software to train with; listed so that a look-up gets an answer.",
     lambda c: c["kind"] == "asic"),
    ("amd-cpu", "AMD CPUs, per socket.", lambda c: c["kind"] == "cpu" and c["vendor"] == "AMD"),
    ("intel-cpu", "Intel CPUs, per socket.", lambda c: c["kind"] == "cpu" and c["vendor"] == "Intel"),
    ("arm-cpu", "Arm CPUs, per socket.", lambda c: c["kind"] == "cpu"),
]


def datacenter(name):
    return re.match(r"(B|GB|H|GH|A|V|P|K|M|T|L|VR)\d", name) and name != "GB10" or name.startswith("Rubin") or name == "T10"


left, total = list(chips), 0
for stem, title, belongs in FILES:
    here = [chip for chip in left if belongs(chip)]
    left = [chip for chip in left if chip not in here]
    write_file(f"{data}/chips/{stem}.yaml", [line.format(title=title) for line in COMMENT],
               {"as_of": "2026-08-22"}, "chips", [entry(chip) for chip in here])
    total += len(here)
assert not left and total == len(chips), (len(left), total)
print(total, "chips")
