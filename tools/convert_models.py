#!/usr/bin/env python3
"""measured/models.csv, models-longtail.csv, datasets.csv, recipes.csv -> data/models, data/datasets, data/recipes

usage: convert_models.py MEASURED_DIR DATA_DIR"""
import csv
import re
import sys
from collections import defaultdict

from catalog_yaml import catalog_id, confidence, count, integer, newest_date, quantity, write_file

measured, data = sys.argv[1], sys.argv[2]


def rows(name):
    with open(f"{measured}/{name}", encoding="utf-8") as file:
        return list(csv.DictReader(file))


models = rows("models.csv") + rows("models-longtail.csv")
datasets, recipes = rows("datasets.csv"), rows("recipes.csv")
domain_of = {row["id"]: row["domain"] for row in models}
dataset_ids = {row["id"] for row in datasets}
model_ids = {row["id"] for row in models}
AS_OF = "2026-08-22"
LIBRARY = {"xgboost": "xgboost", "lightgbm": "lightgbm", "catboost": "catboost", "sklearn": "scikit-learn", "h2o": "h2o", "cuml": "cuml"}


def words(text):
    return [word.strip() for word in (text or "").split(";") if word.strip()]


def million(text):
    return count(float(text) * 1e6) if text else None


def flag(text):
    return None if text == "" else text == "1"


def whole(text):
    return integer(text) if text and float(text) == int(float(text)) else None


def library(row):
    if row["arch"] == "gbdt" or row["domain"] in ("trees", "classic") and row["arch"] == "linear":
        for start, name in LIBRARY.items():
            if row["id"].startswith(start):
                return name
        return "scikit-learn"
    return None


def tree_size(row):
    if row["arch"] != "gbdt":
        return {}
    found = {"trees": r"(?<![-\d])(\d+) (?:rounds|trees|iterations)", "depth": r"depth (\d+)(?!-)\b(?!-)", "leaves": r"(?<![-\d])(\d+) leaves"}
    hits = {key: re.search(pattern, row["recipe"]) for key, pattern in found.items()}
    return {key: int(hit.group(1)) for key, hit in hits.items() if hit}


def embeddings(row, sources):
    tables = re.search(r"\+ (\d+) (?:sparse|multi-hot)", row["default_input"])
    if row["arch"] != "dlrm" or not tables or not row["id"].startswith("dlrm"):
        return {}
    width = 16 if row["id"] == "dlrm-criteo-kaggle" else 128
    sources["embedding_rows"] = "derived: parameters / width of a row"
    sources["embedding_dim"] = "memory"
    return {"embedding_rows": count(round(float(row["params_m"]) * 1e6 / width)), "embedding_dim": width, "tables": int(tables.group(1))}


def optimizer(name, domain, notes):
    """Image models' "sgd" has momentum; words that are no optimizer go to the notes."""
    if name == "sgd" and domain in ("vision", "detection", "segmentation", "speech"):
        return "sgd-momentum"
    if name == "hist":
        notes.append("tree method hist")
    return None if name in ("hist", "auto", "-", "") else name


def known_dataset(name, notes):
    if not name or name in ("user", "any"):
        return None
    if name in dataset_ids:
        return catalog_id(name)
    notes.append(f"data: {name} (no profile)")
    return None


def model(row):
    sources, notes = {}, [row["notes"]] if row["notes"] else []
    main = confidence(row["confidence"])
    for column, key in (("params_confidence", "params"), ("gmac_confidence", "macs")):
        cell = "params_m" if key == "params" else "fwd_gmac"
        if row[cell] and row[column] and confidence(row[column]) != main:
            sources[key] = {"computed": "computed from the shape", "memory": "memory", "read": "read in the source"}[row[column]]
    if row["shape_diff_pct"] and abs(float(row["shape_diff_pct"])) > 1:
        notes.append(f"the shape alone gives {row['params_from_shape_m']} M parameters ({row['shape_diff_pct']} %)")
    if row["head_dim"] and whole(row["head_dim"]) is None:
        notes.append(f"head width {row['head_dim']}")
    ident = catalog_id(row["id"])
    aliases = words(row["aliases"])
    if ident != row["id"]:
        aliases.insert(0, row["id"])
    dataset = known_dataset(row["dataset"], notes)
    return {
        "id": ident, "aliases": aliases, "family": row["family"], "domain": row["domain"], "arch": row["arch"],
        "params": million(row["params_m"]), "active_params": million(row["active_params_m"]),
        "layers": whole(row["layers"]), "enc_layers": whole(row["enc_layers"]), "dec_layers": whole(row["dec_layers"]),
        "hidden": whole(row["hidden"]), "head_dim": whole(row["head_dim"]), "heads": whole(row["heads"]),
        "kv_heads": whole(row["kv_heads"]), "ffn": whole(row["ffn"]), "gated_mlp": flag(row["gated_mlp"]),
        "tied_embeddings": flag(row["tied_embeddings"]), "vocab": whole(row["vocab"]), "max_seq": whole(row["max_seq"]),
        "attention": row["attention"], "mla_kv_rank": whole(row["mla_kv_rank"]), "mla_q_rank": whole(row["mla_q_rank"]),
        "rope_head_dim": whole(row["rope_head_dim"]), "experts": whole(row["experts"]), "top_k": whole(row["top_k"]),
        "shared_experts": whole(row["shared_experts"]), "expert_ffn": whole(row["expert_ffn"]),
        "shared_ffn": whole(row["shared_ffn"]), "moe_every": whole(row["moe_every"]),
        "dense_first_layers": whole(row["dense_first_layers"]), "mtp_layers": whole(row["mtp_layers"]),
        "layer_mix": row["layer_mix"],
        "macs": count(float(row["fwd_gmac"]) * 1e9) if row["fwd_gmac"] else None, "activations": million(row["mact"]),
        "input": row["default_input"], "frozen_parts": row["frozen_parts"], "library": library(row), **tree_size(row),
        **embeddings(row, sources), "dataset": dataset, "precision": row["default_precision"],
        "optimizer": optimizer(row["default_optimizer"], row["domain"], notes), "global_batch": whole(row["default_global_batch"]),
        "samples": count(row["train_samples"]), "tokens": count(row["train_tokens"]),
        "epochs": count(row["epochs"]), "recipe": row["recipe"], "licence": row["licence_gate"], "tier": whole(row["tier"]),
        "source": row["source"] or "memory", "as_of": newest_date(row["source"]), "confidence": main,
        "notes": "; ".join(notes), "sources": sources,
    }


COMMENT = [
    "{title}",
    "params, active_params: weights; of LLMs the language part, embeddings included. macs: multiply-accumulates of one forward pass",
    "of one sample at `input`; activations: elements that pass writes. LLMs need neither: both follow from the shape. attention",
    "sliding:WINDOW:RATIO = RATIO local layers for each full one. global_batch: samples or sequences. tier: 1 core, 3 long tail.",
    "dataset, precision, optimizer, global_batch, epochs, recipe, licence are from memory unless a recipe in data/recipes says read.",
    "Add a model by copying its nearest relative; check with: accelpick catalog check FILE.",
]


def model_file(row):
    domain, tier = row["domain"], row["tier"]
    if domain in ("llm", "vision", "detection") and tier != "1":
        return domain + ("-longtail" if tier == "3" and domain == "vision" else "-more")
    return domain


def write_models():
    files = defaultdict(list)
    for row in models:
        files[model_file(row)].append(row)
    for stem in sorted(files):
        title = f"Model profiles: {stem.replace('-', ', ')}."
        write_file(f"{data}/models/{stem}.yaml", [line.format(title=title) for line in COMMENT], {"as_of": AS_OF}, "models",
                   [model(row) for row in files[stem]])


def dataset(row):
    features = re.search(r"([\d,]+) features", row["mean_size"])
    table = row["domain"] in ("trees", "classic")
    ident = catalog_id(row["id"])
    return {
        "id": ident, "aliases": ([row["id"]] if ident != row["id"] else []) + words(row["aliases"]), "domain": row["domain"],
        "samples": count(row["samples"]), "tokens": count(row["tokens"]), "tokenizer": row["tokenizer"],
        "size": size(row["bytes_on_disk"]), "sample_size": size(row["bytes_per_sample"]), "format": row["format"],
        "mean_size": row["mean_size"], "rows": count(row["samples"]) if table else None,
        "features": int(features.group(1).replace(",", "")) if features and table else None, "licence": row["licence"],
        "source": row["source"] or "memory", "as_of": newest_date(row["source"]), "confidence": confidence(row["confidence"]),
    }


def size(text):
    if not text:
        return None
    value = float(text)
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return quantity(value / factor, unit)
    return quantity(value, "B")


def write_datasets():
    files = defaultdict(list)
    for row in datasets:
        files[row["domain"]].append(row)
    for stem in sorted(files):
        write_file(f"{data}/datasets/{stem}.yaml", [
            f"Data sets: {stem}.", "samples: of the training part; size: on disk; tokens go with their tokenizer. Figures whose",
            "confidence is memory are round. Check with: accelpick catalog check FILE."], {"as_of": AS_OF}, "datasets",
            [dataset(row) for row in files[stem]])


def recipe(row):
    notes = [row["notes"]] if row["notes"] else []
    name = row["model"]
    if name not in model_ids and name != "any":
        hits = [m["id"] for m in models if name in words(m["aliases"]) or m["id"].startswith(name)]
        assert hits, name
        notes.append(f"named {name} in the source")
        name = hits[0]
    length = row["seq_len"]
    if length and not length.isdigit():
        notes.append(f"sequence length {length}")
        length = re.findall(r"\d+", length)[-1]
    square = re.fullmatch(r"\d+(\.0)?", row["image_size"] or "")
    data_name = known_dataset(row["dataset"], notes)
    return {
        "id": catalog_id(row["id"]), "model": None if name == "any" else catalog_id(name), "dataset": data_name, "task": row["task"],
        "epochs": count(row["epochs"]), "tokens": count(row["tokens"]), "samples": count(row["samples"]),
        "global_batch": whole(row["global_batch"]), "steps": count(row["steps"]),
        "image_size": whole(row["image_size"]) if square else None, "input": row["image_size"] if not square else None,
        "seq_len": whole(length), "precision": row["precision"], "optimizer": optimizer(row["optimizer"], domain_of.get(row["model"], ""), notes),
        "early_stop_factor": count(row["early_stop_factor"]), "source": row["source"] or "memory", "as_of": newest_date(row["source"]),
        "confidence": confidence(row["confidence"]), "notes": "; ".join(notes),
    }


def write_recipes():
    domain = {row["id"]: row["domain"] for row in models}
    files = defaultdict(list)
    for row in recipes:
        files[domain.get(row["model"], "llm" if row["model"] == "any" else "vision")].append(row)
    for stem in sorted(files):
        write_file(f"{data}/recipes/{stem}.yaml", [
            f"Training recipes: {stem}.", "How long a model is trained on a data set. Without `dataset`: on the user's own data.",
            "Without `model`: a rule for every model. early_stop_factor: part of the nominal epochs that is usually run.",
            "RL: samples are environment steps. Check with: accelpick catalog check FILE."], {"as_of": AS_OF}, "recipes",
            [recipe(row) for row in files[stem]])


write_models()
write_datasets()
write_recipes()
print(len(models), "models", len(datasets), "data sets", len(recipes), "recipes")
