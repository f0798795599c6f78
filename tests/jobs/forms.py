#!/usr/bin/env python3
"""SARIF, JUnit and speed of `accelpick check` over the folder of cases. Usage: forms.py PROGRAM FOLDER

The rules for SARIF are those of the specification 2.1.0 (sections named) that apply to what is written."""
import json, subprocess, sys, time, xml.etree.ElementTree as xml

program, folder = sys.argv[1:3]


def check(form):
    run = subprocess.run([program, "check", folder, "--format", form, "--fail-on", "never"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def need(condition, what):
    if not condition:
        print(f"# {what}")
        sys.exit(1)


doc = json.loads(check("json"))
errors = sum(f["severity"] == "error" for j in doc["jobs"] for f in j["findings"])
findings = sum(len(j["findings"]) for j in doc["jobs"])
need(doc["summary"]["errors"] == errors and doc["summary"]["jobs"] == len(doc["jobs"]), "summary does not add up")

sarif = json.loads(check("sarif"))
need(sarif["version"] == "2.1.0", "3.13.2 version")
need(len(sarif["runs"]) == 1, "3.13.4 runs")
run = sarif["runs"][0]
driver = run["tool"]["driver"]
need(driver["name"] == "accelpick", "3.19.8 name")
rules = [r["id"] for r in driver["rules"]]
need(len(set(rules)) == len(rules), "3.19.23 rules are unique")
need(len(run["results"]) == findings, "one result a finding")
for result in run["results"]:
    need(result["message"]["text"], "3.27.11 message")
    need(result["level"] in ("none", "note", "warning", "error"), "3.27.10 level")
    need(rules[result["ruleIndex"]] == result["ruleId"], "3.27.6 ruleIndex")
    for location in result["locations"]:
        place = location["physicalLocation"]
        need(":" not in place["artifactLocation"]["uri"].split("/")[0], "3.4.3 relative uri")
        region = place["region"]
        need(region["startLine"] >= 1 and region.get("startColumn", 1) >= 1, "3.30.5 startLine")

suites = xml.fromstring(check("junit"))
need(suites.tag == "testsuites", "JUnit root")
need(len(suites) == len(doc["jobs"]), "one suite a job")
need(len(suites.findall(".//failure")) == errors, "one failure an error")
for suite in suites:
    need(int(suite.get("tests")) == len(suite.findall("testcase")), "count of tests")

start = time.time()
check("json")
seconds = time.time() - start
need(seconds < 5, f"{len(doc['jobs'])} jobs took {seconds:.2f} s")
