#!/usr/bin/env python3
"""Compares `accelpick check FOLDER --json` with expected.jsonl: facts, verdicts, lines, false alarms.

usage: score.py PROGRAM [FOLDER] [-v]      exits 1 below the goals of the project
"""
import json, os, re, subprocess, sys

GOALS = {"facts": 0.95, "verdicts": 0.85, "false alarms": 0.05, "lines": 0.85}
LEVEL = {"ok": 0, "note": 1, "warning": 2, "error": 3}


def same(key, have, want):
    if have is None or want is None:
        return have is want
    if isinstance(want, bool) or isinstance(have, bool):
        return have == want
    if isinstance(want, (int, float)):
        return isinstance(have, (int, float)) and abs(have - want) <= 0.01 * max(1e-9, abs(want))
    a, b = str(have).lower(), str(want).lower()
    if key == "instance":
        a, b = a.removeprefix("ml."), b.removeprefix("ml.")
    if key == "model":
        loose = lambda t: re.sub(r"[^a-z0-9]", "", t.split("/")[-1].removesuffix("-hf"))
        return loose(a) == loose(b) or loose(a) in loose(b) or loose(b) in loose(a)
    return a == b


def near(found, spot):
    return found is not None and abs(found - spot) <= 1


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    loud = "-v" in sys.argv
    program = args[0]
    folder = args[1] if len(args) > 1 else os.path.dirname(os.path.abspath(__file__))
    # the program as users run it; --job is not needed: files that belong together name one another
    run = subprocess.run([program, "check", folder, "--json", "--fail-on", "never"], capture_output=True, text=True)
    if run.returncode != 0:
        print(run.stderr, file=sys.stderr)
        return 2
    jobs = json.loads(run.stdout)["jobs"]
    by_file = {}
    for job in jobs:
        for name in job["files"]:
            by_file.setdefault(os.path.relpath(name, folder) if os.path.isabs(name) or name.startswith(folder) else name, job)
    facts = [0, 0]
    verdicts = [0, 0]
    lines = [0, 0]
    alarms = [0, 0]
    rows = [json.loads(text) for name in sorted(os.listdir(folder)) if name.endswith(".jsonl") for text in open(os.path.join(folder, name))]
    for row in rows:
        name, first = row["dir"], row["files"][0]
        job = by_file.get(f"{name}/{first}")
        if job is None:
            print(f"{name}: not read")
            facts[1] += len(row["job"])
            verdicts[1] += 1
            continue
        if job["format"] != row["format"]:
            print(f"{name}: format {job['format']}, expected {row['format']}")
        for key, want in row["job"].items():
            facts[1] += 1
            good = same(key, job["job"].get(key), want)
            facts[0] += good
            if not good:
                print(f"{name}: {key} = {job['job'].get(key)}, expected {want}")
        for key, wants in row.get("job_any", {}).items():
            have = job["job"].get(key)
            if have is not None and not any(same(key, have, w) for w in wants):
                print(f"{name}: {key} = {have}, expected one of {wants}")
                facts[1] += 1
        for key, want in row.get("model_facts", {}).items():
            facts[1] += 1
            good = same(key, job["model_facts"].get(key), want)
            facts[0] += good
            if not good:
                print(f"{name}: model {key} = {job['model_facts'].get(key)}, expected {want}")
        found = job["findings"]
        fault, also = row["fault"], row.get("also_allowed", [])
        if row["verdict"] == "ok":
            hits = [f for f in found if f["severity"] in ("error", "warning")]
            good = not hits
            alarms[1] += 1
            alarms[0] += bool(hits)
            if hits:
                print(f"{name}: false alarm {[(f['fault'], f['severity'], f['line'], f['message']) for f in hits]}")
        else:
            hits = [f for f in found if f["fault"] == fault and abs(LEVEL[f["severity"]] - LEVEL[row["verdict"]]) <= 1]
            good = bool(hits)
            extra = [f for f in found if f["severity"] == "error" and f["fault"] != fault and f["fault"] not in also]
            alarms[1] += 1
            alarms[0] += bool(extra)
            if extra:
                print(f"{name}: further error {[(f['fault'], f['line'], f['message']) for f in extra]}")
            if not good:
                print(f"{name}: {fault} ({row['verdict']}) not found; found {[(f['fault'], f['severity'], f['line']) for f in found]}")
            else:
                lines[1] += 1
                main_file = row.get("line_file", first)
                spots = [(main_file, row["line"])]
                for alt in row.get("line_alt", []):
                    spots.append(tuple(alt.split(":")) if isinstance(alt, str) else (first, alt))
                ok = any(os.path.basename(f["file"] or "") == os.path.basename(s[0]) and near(f["line"], int(s[1])) for f in hits for s in spots if s[1])
                lines[0] += ok
                if not ok:
                    print(f"{name}: line {[(f['file'], f['line']) for f in hits]}, expected {spots}")
        verdicts[1] += 1
        verdicts[0] += good
    share = lambda pair: pair[0] / pair[1] if pair[1] else 1.0
    result = {"facts": share(facts), "verdicts": share(verdicts), "false alarms": share(alarms), "lines": share(lines)}
    failed = False
    for key, value in result.items():
        bad = value > GOALS[key] if key == "false alarms" else value < GOALS[key]
        failed |= bad
        print(f"{key}: {100 * value:.1f} % (goal {'at most' if key == 'false alarms' else 'at least'} {100 * GOALS[key]:.0f} %){' MISSED' if bad else ''}")
    return 1 if failed else 0


sys.exit(main())
