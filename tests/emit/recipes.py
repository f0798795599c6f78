"""Writes many recipes and reads them back. usage: recipes.py PROGRAM"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

PROGRAM = sys.argv[1]
SHELL = {"slurm", "docker", "gcloud", "aws", "az"}
KINDS = ["slurm", "k8s", "gke-tpu", "skypilot", "dstack", "docker", "gcloud", "aws", "az", "accelerate", "deepspeed"]
CHECKED = {"slurm", "k8s", "gke-tpu", "skypilot", "dstack", "accelerate", "deepspeed"}
LIMITED = {"slurm", "k8s", "gke-tpu", "dstack"}
counted = {True: 0, False: 0}
environment = {k: v for k, v in os.environ.items() if not k.startswith("ACCELPICK_")}

# Model and amount x hardware: every stack's launcher, every vendor, one machine and several, clouds and own cards.
LLM = ["--model", "llama-3.1-8b", "--method", "finetune", "--tokens", "500M"]
LORA = ["--model", "mistral-7b", "--method", "lora", "--tokens", "50M"]
QLORA = ["--model", "llama-3.1-8b", "--method", "qlora", "--tokens", "20M"]
BIG = ["--model", "llama-3.1-70b", "--method", "finetune", "--tokens", "100M"]
PRE = ["--model", "llama-3.1-8b", "--method", "pretrain", "--tokens", "2B"]
CNN = ["--model", "resnet50", "--dataset", "imagenet-1k", "--epochs", "90"]
BERT = ["--model", "bert-base", "--method", "finetune", "--samples", "100k", "--epochs", "3"]
TREE = ["--model", "xgboost", "--dataset", "higgs"]
ONE = ["rtx-3090:1", "rtx-4090:1", "l4:1", "a10g:1", "h100-sxm5-80gb:1", "a100-sxm4-80gb:1"]
NODE = ["aws/p4de.24xlarge", "aws/p5.48xlarge", "gcp/a3-highgpu-8g", "azure/Standard_ND96isr_H100_v5", "gcp/a2-ultragpu-8g", "h100-sxm5-80gb:8"]
NODES = ["gcp/a3-highgpu-8g:2", "aws/p5.48xlarge:4", "gcp/a3-megagpu-8g:2", "gcp/a3-ultragpu-8g:2", "gcp/a4-highgpu-8g:2", "aws/p4d.24xlarge:2+spot", "gcp/a3-highgpu-8g:2+spot"]
TPU = ["gcp/v5litepod-16", "gcp/v6e-16", "gcp/v5p-128", "gcp/v5litepod-16:2"]
PLANS = (
    [(m, t, "") for m in (QLORA, CNN, BERT) for t in ONE]
    + [(m, t, "") for m in (LLM, LORA, CNN, PRE) for t in NODE]
    + [(m, t, "") for m in (LLM, BIG) for t in NODES]
    + [(LLM, t, "") for t in TPU]
    + [(LLM, "aws/p5.48xlarge:2", s) for s in ("deepspeed", "megatron", "hf-trainer", "fsdp", "maxtext", "torchtitan")]
    + [(LORA, "h100-sxm5-80gb:8", s) for s in ("peft", "hf-trainer", "deepspeed")]
    + [(TREE, "aws/m7i.4xlarge", ""), (LLM, "mi300x:8", ""), (LLM, "gaudi3:8", ""), (CNN, "aws/g5.xlarge", ""), (CNN, "gcp/n1-standard-8+1xT4", ""), (CNN, "aws/trn1.32xlarge", "")]
)


def result(good, label, why=""):
    counted[bool(good)] += 1
    if not good:
        print(f"not ok - {label}: {why}")
    return good


def run(*args, **more):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, env=environment, **more)


def reads(kind, path, text):
    """The reason why the file cannot be read, or nothing."""
    if kind in SHELL:
        tools = [["bash", "-n", path]]
        if shutil.which("shellcheck"):
            tools.append(["shellcheck", path])
        for tool in tools:
            done = subprocess.run(tool, capture_output=True, text=True)
            if done.returncode:
                return f"{tool[0]}: {done.stdout}{done.stderr}"[:400]
        return ""
    try:
        tree = json.loads(text) if kind == "deepspeed" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        return str(error)
    return "" if isinstance(tree, dict) else "no mapping"


def judged(kind, path, want):
    """What `check` has against a recipe that was just written, or nothing."""
    done = run("check", "--json", "--fail-on", "error", path)
    if done.returncode not in (0, 1):
        return f"exit {done.returncode}: {done.stderr[:300]}"
    answer = json.loads(done.stdout)
    jobs = answer["jobs"]
    if len(jobs) != 1:
        return f"{len(jobs)} jobs"
    errors = [f"{f['fault']} line {f['line']}: {f['message']}" for f in jobs[0]["findings"] if f["severity"] == "error"]
    if errors:
        return "; ".join(errors)[:400]
    job = jobs[0]["job"]
    if kind in ("accelerate", "deepspeed"):
        return ""
    if want["kind"] == "cpu" or (want["kind"] == "asic" and kind == "k8s" and job["chip"] is None):
        return ""  # the file need not say which processor; a resource of Kubernetes does not say which Gaudi
    if job["chip"] != want["chip"]:
        return f"chip {job['chip']}, not {want['chip']}"
    total = (job["chips_per_node"] or 0) * (job["nodes"] or 1)
    if total != want["chip_count"]:
        return f"{total} chips, not {want['chip_count']}"
    if kind in LIMITED and not job["time_limit_h"]:
        return "no time limit"
    if kind in LIMITED and abs(job["time_limit_h"] - want["limit_h"]) > 0.01:
        return f"limit {job['time_limit_h']} h, not {want['limit_h']} h"
    return ""


def suits(kind, target):
    tpu = "/v5" in target or "/v6e" in target
    if kind == "gke-tpu":
        return tpu
    if kind in ("gcloud", "aws", "az"):
        return target.startswith({"gcloud": "gcp/", "aws": "aws/", "az": "azure/"}[kind])
    if kind in ("accelerate", "deepspeed", "k8s", "slurm"):
        return not tpu
    return True


def round_trip(folder, can_check):
    written = 0
    for number, (job, target, stack) in enumerate(PLANS):
        args = [*job, "--on", target, *(["--stack", stack] if stack else [])]
        for kind in KINDS:
            # Each plan in every kind would take minutes: schedulers always, the others by turns.
            if not suits(kind, target) or (kind not in ("slurm", "k8s", "gke-tpu") and (number + len(kind)) % 3):
                continue
            label = " ".join([kind, *args])
            path = os.path.join(folder, f"{number}-{kind}" + (".sh" if kind in SHELL else ".json" if kind == "deepspeed" else ".yaml"))
            done = run("emit", kind, "--json", *args)
            if done.returncode == 3 or (done.returncode == 2 and "AP0807" in done.stderr):
                continue  # an answer too: it does not fit, or the tool has no name for it
            if not result(done.returncode == 0, label, f"exit {done.returncode}: {done.stderr[:300]}"):
                continue
            answer = json.loads(done.stdout)
            with open(path, "w", encoding="utf-8") as file:
                file.write(answer["text"])
            written += 1
            if not result(*(lambda why: (not why, label, why))(reads(kind, path, answer["text"]))):
                continue
            if can_check and kind in CHECKED:
                want = {"chip": answer["chip"], "kind": answer["chip_kind"], "chip_count": answer["chip_count"], "limit_h": answer["time_limit_h"]}
                why = judged(kind, path, want)
                result(not why, "check " + label, why)
    result(written >= 60, "at least 60 recipes", str(written))
    print(f"# {written} recipes of {len(PLANS)} plans")


def hostile(folder):
    """Names that try to become commands: an error, or text."""
    mark = os.path.join(folder, "mark")
    names = [f"$(touch {mark})", f"`touch {mark}`", f"a'; touch {mark}; '", f'x"; touch {mark} #', "a: b # c", "{{name}}", "- x", "*x", "%(x)s"]
    for name in names:
        workload = os.path.join(folder, "w.yaml")
        tree = {"name": name, "model": {"class": "decoder", "params": "1.1B", "layers": 22, "hidden": 2048, "heads": 32, "kv_heads": 4, "ffn": 5632, "vocab": 32000},
                "method": "finetune", "data": {"tokens": "10M"}}
        with open(workload, "w", encoding="utf-8") as file:
            yaml.safe_dump(tree, file)
        with open(os.path.join(folder, ".accelpick.yaml"), "w", encoding="utf-8") as file:
            yaml.safe_dump({"emit": {"model": name, "dataset": name, "script": name, "env": {"X": name}, "args": [name], "checkpoint_dir": name}}, file)
        for kind in ("slurm", "docker", "k8s", "skypilot", "dstack", "deepspeed", "accelerate"):
            done = run("emit", kind, workload, "--on", "a100-sxm4-80gb:1", cwd=folder)
            if not result(done.returncode == 0, f"{kind} {name!r}", done.stderr[:300]):
                continue
            if kind in SHELL:
                stub = 'docker() { cat; }; srun() { cat; }; scontrol() { :; }; timeout() { shift 3; "$@"; }; pip() { :; }; torchrun() { :; }; '
                subprocess.run(["bash", "-c", stub + done.stdout], capture_output=True, cwd=folder, env={**environment, "SLURM_JOB_ID": "1"}, timeout=20)
            else:
                tree = json.loads(done.stdout) if kind == "deepspeed" else yaml.safe_load(done.stdout)
                words = {"k8s": lambda t: t["spec"]["template"]["spec"]["containers"][0]["args"][0], "skypilot": lambda t: t["run"], "dstack": lambda t: t["commands"][0]}
                if kind in words:
                    script = words[kind](tree)
                    subprocess.run(["bash", "-c", 'mkdir() { :; }; sudo() { :; }; pip() { :; }; torchrun() { :; }; timeout() { :; }; ' + script], capture_output=True,
                                   cwd=folder, env=environment, timeout=20)
            result(not os.path.exists(mark), f"{kind} {name!r}", "the name was run as a command")
            if os.path.exists(mark):
                os.remove(mark)
    with open(os.path.join(folder, ".accelpick.yaml"), "w", encoding="utf-8") as file:
        file.write('emit: {model: "a\\nb"}\n')
    done = run("emit", "slurm", *LLM, "--on", "h100-sxm5-80gb:8", cwd=folder)
    result(done.returncode == 5 and "AP0801" in done.stderr and not done.stdout, "newline in a setting", f"{done.returncode} {done.stderr}")
    os.remove(os.path.join(folder, ".accelpick.yaml"))


def faults(folder):
    """Bad input: exit codes of the contract, nothing half written."""
    def expect(code, part, *args, **more):
        done = run("emit", *args, **more)
        result(done.returncode == code and part in done.stderr and not done.stdout, " ".join(args), f"exit {done.returncode}: {done.stderr[:200]}")

    target = ["--on", "h100-sxm5-80gb:8"]
    expect(2, "did you mean 'slurm'", "slrum", *LLM, *target)
    expect(3, "does not fit" if False else "AP0804", "slurm", "--model", "llama-3.1-70b", "--method", "finetune", "--tokens", "1M", "--on", "l4:1")
    expect(3, "sm_37", "docker", *CNN, "--on", "k80:1")
    expect(2, "AP0807", "gke-tpu", *LLM, *target)
    expect(2, "AP0807", "gcloud", *LLM, "--on", "aws/p5.48xlarge")
    expect(2, "--rank", "slurm", *LLM, *target, "--rank", "2")
    expect(2, "one target", "slurm", *LLM, *target, "--on", "l4:1")
    expect(7, "AP0004", "slurm", *LLM, *target, "-o", os.path.join(folder, "no", "such", "folder"))
    for text, code, part in (("emit: {partiton: x}\n", 5, "partition"), ("emit: {partition: 'a b'}\n", 5, "AP0808"), ("emit: {templates: no-such-folder}\n", 7, "no-such-folder"),
                             ("emit: {templates: t}\n", 5, "t/slurm.tmpl:1:12: error: unknown name 'nodse'"), ("emit: {limit: 5}\n", 5, "limit")):
        os.makedirs(os.path.join(folder, "t"), exist_ok=True)
        with open(os.path.join(folder, "t", "slurm.tmpl"), "w", encoding="utf-8") as file:
            file.write("#!/bin/bash{{nodse}}\n")
        with open(os.path.join(folder, ".accelpick.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        expect(code, part, "slurm", *LLM, *target, cwd=folder)
    kept = os.path.join(folder, "kept")
    with open(kept, "w", encoding="utf-8") as file:
        file.write("old")
    run("emit", "slurm", *LLM, *target, "-o", kept, cwd=folder)
    with open(kept, encoding="utf-8") as file:
        result(file.read() == "old", "a failed run leaves the old file", "it was replaced")
    with open(os.path.join(folder, ".accelpick.yaml"), "w", encoding="utf-8") as file:
        file.write("emit: {partition: gpu, account: team, gres: 'h100', image: my/image:1, limit: 5h, grace: 60s, tracker: wandb, env: {NCCL_DEBUG: INFO}}\n")
    text = run("emit", "slurm", *LLM, "--on", "aws/p5.48xlarge:2", cwd=folder).stdout
    for part in ("--partition=gpu", "--account=team", "gpu:h100:8", "my/image:1", "--time=05:00:00", "USR1@60", "WANDB_NAME", "NCCL_DEBUG=INFO"):
        result(part in text, f"setting {part}", "not in the recipe")
    result("NCCL_DEBUG=WARN" not in text, "the user's variable wins")
    os.remove(os.path.join(folder, ".accelpick.yaml"))


def content():
    """What every recipe must say."""
    text = run("emit", "slurm", *LLM, "--on", "gcp/a3-highgpu-8g:2", "--budget", "100", "--explain").stdout
    for pattern in (r"^# estimate +.*p90", r"^# price +.*USD/h.*as of \d{4}", r"^# bill guard stopped after", r"^# budget +100", r"^# save +every", r"^# check +sbatch",
                    r"^#SBATCH --nodes=2$", r"^#SBATCH --gres=gpu:nvidia_h100_80gb_hbm3:8$", r"^#SBATCH --time=\d", r"--nproc_per_node=8", r"^#   --time: the bill guard"):
        result(re.search(pattern, text, re.M), f"slurm says {pattern}", "missing")
    limit = re.search(r"--time=(\d+):(\d+):", text)
    price = re.search(r"([\d.]+) USD/h", text)
    worst = (int(limit[1]) + int(limit[2]) / 60) * float(price[1]) if limit and price else 1e9
    result(worst <= 100, "the limit keeps to the budget", f"{worst} USD")
    # A restart gets the time limit anew: all of them together must keep to the budget, as check counts it too.
    for kind in ("slurm", "k8s"):
        answer = json.loads(run("emit", kind, *LLM, "--on", "gcp/a3-highgpu-8g:2", "--budget", "700", "--json").stdout)
        result(answer["worst_case_usd"] <= 700, f"{kind}: restarts keep to the budget", str(answer["worst_case_usd"]))
    text = run("emit", "gke-tpu", *LLM, "--on", "gcp/v5litepod-16").stdout
    for part in ("tpu-v5-lite-podslice", '"4x4"', "parallelism: 4", "google.com/tpu: 4"):
        result(part in text, f"gke-tpu says {part}", "missing")
    text = run("emit", "k8s", *CNN, "--on", "aws/p4de.24xlarge").stdout
    for part in ("nvidia.com/gpu: 8", "p4de.24xlarge", "activeDeadlineSeconds", "medium: Memory"):
        result(part in text, f"k8s says {part}", "missing")
    text = run("emit", "docker", *QLORA, "--on", "rtx-3090:1").stdout
    for part in ("--gpus", "--shm-size", "timeout --signal=TERM", "nvcr.io/nvidia/pytorch"):
        result(part in text, f"docker says {part}", "missing")
    schedule = ["--model", "resnet50", "--dataset", "imagenet-1k", "--on", "h100-sxm5-80gb:72"]
    text = run("emit", "slurm", *schedule).stdout
    batch = re.search(r"batch +(\d+) samples a step, the recipe has 256: raise the learning rate", text)
    result(batch is not None, "a larger batch says what it asks for", "missing")
    # M-97: critical batch 41,000, 90 epochs with 256 a step; scripts run whole epochs
    wanted = math.ceil(90 * (41000 + int(batch.group(1))) / 41256) if batch else None
    result(f"--epochs {wanted} " in text, f"{wanted} whole epochs", "missing")
    text = run("emit", "deepspeed", *schedule).stdout
    result(batch is not None and f'"train_batch_size": {batch.group(1)},' in text, "deepspeed runs that batch", "another")
    first, second = (run("emit", "slurm", *LLM, "--on", "gcp/a3-highgpu-8g:2").stdout for _ in range(2))
    result(first == second, "same input, same bytes")


def main():
    can_check = run("check", "--help").returncode == 0
    if not can_check:
        print("# round trip through check skipped: this program has no check")
    if not shutil.which("shellcheck"):
        print("# shellcheck skipped: not installed")
    with tempfile.TemporaryDirectory() as folder:
        round_trip(folder, can_check)
        hostile(folder)
        faults(folder)
        content()
    print(f"{counted[True]} passed, {counted[False]} failed")
    return counted[False] > 0


sys.exit(main())
