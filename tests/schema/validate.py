"""Runs the program and validates every answer against docs/schema: validate.py PROGRAM ROOT."""
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

PROGRAM, ROOT = sys.argv[1], os.path.realpath(sys.argv[2])
FOLDER = os.path.join(ROOT, "docs", "schema")
LORA = ["--model", "llama-3.1-8b", "--method", "lora"]
ANSWERS = [
    ("recommendation", ["recommend", *LORA, "--tokens", "200M"]),
    ("recommendation", ["recommend", *LORA]),
    ("recommendation", ["recommend", *LORA, "--tokens", "200M", "--deadline", "1s"]),
    ("recommendation", ["recommend", "--model", "xgboost", "--dataset", "higgs", "--group-by", "none"]),
    ("recommendation", ["recommend", "--model", "resnet50", "--dataset", "imagenet-1k", "--objective", "co2"]),
    ("recommendation", ["recommend", "--model", "dlrm-dcnv2", "--pricing", "any"]),
    ("estimate", ["estimate", *LORA, "--tokens", "9M", "--on", "h100-sxm5-80gb:8", "--on", "gcp/v5litepod-16",
                  "--on", "rig/desktop-rtx4090"]),
    ("estimate", ["estimate", "--model", "gpt3-175b", "--on", "t4:1"]),
    ("estimate", ["estimate", "--model", "resnet50", "--dataset", "imagenet-1k", "--on", "h100-sxm5-80gb:72"]),
    ("estimate", ["estimate", "--model", "efficientnet_b3", "--dataset", "human-genome", "--on", "rtx-3060-8gb:2"]),
    ("check", ["check", "job.sh"]),
    ("check", ["check", os.path.join(ROOT, "tests", "jobs"), "--fail-on", "never"]),
    ("diff", ["diff", os.path.join(ROOT, "tests", "jobs", "021-slurm-7b-full-one-80gb"),
              os.path.join(ROOT, "tests", "jobs", "031-slurm-p2p-disabled"), "--fail-on", "never"]),
    ("accuracy", ["accuracy", os.path.join(ROOT, "tests", "measured", "sample.csv")]),
    ("prices", ["prices", "status"]),
    ("breakeven", ["breakeven", "--rig", "rtx-3090-workstation", *LORA, "--tokens", "50M"]),
    ("breakeven", ["breakeven", "--rig", "desktop-rtx3090", *LORA]),
    ("estimate", ["estimate", *LORA, "--tokens", "9M", "--on", "aws/p5.48xlarge+spot", "--on", "aws/p5.48xlarge+reserved-1y"]),
    ("explain", ["explain", "AP1001"]),
    ("explain", ["explain", "M-21", *LORA, "--tokens", "9M", "--on", "h100-sxm5-80gb:8"]),
    ("estimate", ["estimate", *LORA, "--tokens", "9M", "--on", "h100-sxm5-80gb:8", "--explain"]),
    ("estimate", ["estimate", "--model", "resnet50", "--on", "h100-sxm5-80gb:8", "--explain"]),
    ("explain", ["explain", "AP0203"]),
    ("doctor", ["doctor"]),
    ("version", ["version"]),
    ("facts", ["rules", "facts"]),
    ("record", ["show", "chips", "h100-sxm5-80gb"]),
    ("record", ["show", "models", "gpt3-175b"]),
    ("record", ["show", "instances", "aws/p5.48xlarge"]),
    ("record", ["show", "names", "gpuhunt/H100"]),
    ("rule", ["show", "rules", "AP1001"]),
    ("record", ["show", "suites", "dle.pytorch-classification-convnets-efficientnet.t4"]),
    ("estimate", ["estimate", "--model", "resnet50", "--dataset", "imagenet-1k", "--epochs", "90", "--global-batch", "64",
                  "--on", "h100-sxm5-80gb:512"]),
    ("estimate", ["estimate", "--model", "random-forest", "--dataset", "higgs", "--on", "h100-sxm5-80gb:1",
                  "--on", "gcp/c4-standard-16"]),
    ("estimate", ["estimate", "--model", "xgboost", "--dataset", "higgs", "--on", "h100-sxm5-80gb:1"]),
]
ANSWERS += [(kind, ["list", kind, "-n", "0"]) for kind in
            "chips instances clouds regions models datasets recipes rigs rules images stacks suites".split()]
JOB = "#!/bin/bash\n#SBATCH --gres=gpu:a100:4\n#SBATCH --time=1:00:00\ntorchrun --nproc_per_node=4 train.py\n"


def load_schemas():
    schemas = {}
    for name in sorted(os.listdir(FOLDER)):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            schemas[name] = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schemas[name])
        assert schemas[name]["$id"] == name, name
    return schemas


def refuse_constant(text):
    raise ValueError(text + " is no JSON")


def nulls_without_reason(answer):
    """What a schema cannot say: a null of a RESULT has its reason, but for priced_from, whose null is an answer."""
    for result in answer.get("results", []):
        for key, value in result.items():
            if value is None and key != "priced_from" and key not in result["unknown"]:
                yield "%s: %s is null without a reason" % (result["target"], key)
        for key, value in (result.get("plan") or {}).items():
            if value is None and "plan." + key not in result["unknown"]:
                yield "%s: plan.%s is null without a reason" % (result["target"], key)


def problems_of(schemas, kind, words, folder):
    done = subprocess.run([PROGRAM, *words, "--json"], cwd=folder, capture_output=True, timeout=60, check=False)
    if done.returncode not in (0, 1, 3):
        return ["exit code %d: %s" % (done.returncode, done.stderr.decode()[:200])]
    answer = json.loads(done.stdout, parse_constant=refuse_constant)
    schema = schemas[kind + ".schema.json"]
    resolver = jsonschema.RefResolver(schema["$id"], schema, store=schemas)
    validator = jsonschema.Draft202012Validator(schema, resolver=resolver)
    found = ["%s: %s" % ("/".join(map(str, error.absolute_path)), error.message[:160])
             for error in list(validator.iter_errors(answer))[:5]]
    return found + list(nulls_without_reason(answer))[:5]


def main():
    schemas = load_schemas()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "job.sh"), "w", encoding="utf-8") as file:
            file.write(JOB)
        os.environ.update(HOME=folder, XDG_CONFIG_HOME=folder, XDG_DATA_HOME=folder, XDG_CACHE_HOME=folder)
        for kind, words in ANSWERS:
            problems = problems_of(schemas, kind, words, folder)
            failed += bool(problems)
            print("%sok %s: accelpick %s" % ("not " if problems else "", kind, " ".join(words)))
            for problem in problems:
                print("# " + problem)
    print("%d passed, %d failed" % (len(ANSWERS) - failed, failed))
    return failed > 0


sys.exit(main())
