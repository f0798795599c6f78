"""The fault matrix of `prices update`: good answers, broken transport, broken content, a store in trouble.

usage: check_net.py PROGRAM. Starts its own servers on 127.0.0.1; nothing else is reached. Each test has a home of its own."""
import concurrent.futures
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import answers  # noqa: E402
import server  # noqa: E402
from server import Server, body, status  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
DAY_1, DAY_3 = "1796083200", "1796256000"  # 2026-12-01 and 2026-12-03, UTC
TESTS = []
KEYED = {"ACCELPICK_LAMBDA_KEY": "test-1", "ACCELPICK_DIGITALOCEAN_KEY": "test-2", "ACCELPICK_HYPERSTACK_KEY": "test-3",
         "ACCELPICK_SHADEFORM_KEY": "test-4", "ACCELPICK_PRIMEINTELLECT_KEY": "test-5", "ACCELPICK_CUDO_KEY": "test-6",
         "ACCELPICK_SCALEWAY_KEY": "test-7", "ACCELPICK_GCP_KEY": "test-8", "ACCELPICK_VERDA_ID": "test-9",
         "ACCELPICK_VERDA_SECRET": "test-10"}


def test(function):
    TESTS.append(function)
    return function


class Home:
    """A folder of its own, and the program run in it."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="accelpick-net-")
        self.store = os.path.join(self.dir, ".local/share/accelpick/prices")

    def environment(self, base_url=None, **more):
        env = {"HOME": self.dir, "PATH": os.environ["PATH"], "LC_ALL": "C", "SOURCE_DATE_EPOCH": DAY_1, "NO_PROXY": "*"}
        if base_url:
            env["ACCELPICK_TEST_BASE_URL"] = base_url
        if "ASAN_OPTIONS" in os.environ:
            env["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
        env.update(more)
        return env

    def run(self, *args, url=None, limit=None, **more):
        def limits():
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return subprocess.run([PROGRAM, *args], env=self.environment(url, **more), capture_output=True, text=True, timeout=60,
                              preexec_fn=limits if limit is not None else None, stdin=subprocess.DEVNULL)

    def update(self, url, *args, **more):
        return self.run("prices", "update", "--json", *args, url=url, **more)

    def rows(self, *args, **more):
        result = self.run("prices", "show", "--json", *args, **more)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)["items"]

    def status(self, source, **more):
        result = self.run("prices", "status", "--json", **more)
        assert result.returncode == 0, result.stderr
        return next(s for s in json.loads(result.stdout)["sources"] if s["id"] == source)

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def sources_of(result):
    return {s["id"]: s for s in json.loads(result.stdout)["sources"]}


def price(rows, instance, kind="on-demand", region=None, source=None):
    found = [r for r in rows if r["instance"] == instance and r["pricing"] == kind and region in (None, r["region"])
             and source in (None, r["source"])]
    assert len(found) == 1, (instance, kind, region, found)
    return found[0]["price_usd_per_h"]


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


# ---- good answers -----------------------------------------------------------------------------------------------------

@test
def every_source_answers(home):
    s = Server()
    names = ("skypilot,gpuhunt,azure,oci,vultr,cloudrift,vast,runpod,aws,gcp,lambda,verda,digitalocean,hyperstack,shadeform,"
             "primeintellect,cudo,scaleway,ovh,ecb")
    result = home.update(s.url, "--source", names, **KEYED)
    assert result.returncode == 0, result.stderr
    for name, state in sources_of(result).items():
        assert state["status"] == "ok" and state["rows"] > 0, state
    rows = home.rows()
    assert near(price(rows, answers.H100), 91.5)
    assert near(price(rows, answers.H100, "spot"), 40.25)
    assert near(price(rows, answers.A100, "reserved-1y"), 2.0)          # 17520 for 8760 h
    assert near(price(rows, answers.A100, region="eastus"), 3.25)       # neither Windows nor Low Priority
    assert near(price(rows, "p5.48xlarge", "spot"), 20.5)               # the cheaper zone
    assert near(price(rows, "p5.48xlarge", source="aws"), 98.32)        # no capacity block, no dedicated host
    assert near(price(rows, "a2-highgpu-1g", source="skypilot"), 3.65)  # machine and chip
    assert not [r for r in rows if r["instance"] == "a2-highgpu-2g" and r["source"] == "skypilot"]  # its chips have no price
    assert near(price(rows, "p4d.24xlarge"), 31.5)
    assert near(price(rows, "BM.GPU.H100.8"), 76.0)                     # 8 x 9.5
    assert near(price(rows, "gpu_8x_h100_sxm5"), 23.92)                 # cents
    assert near(price(rows, "H100-1-80G", region="fr-par-1"), 2.52 * 1.25)  # EUR at the ECB's rate
    assert near(price(rows, "h100-380"), 2.8 * 1.25)
    assert near(price(rows, "1x-RTX 4090"), 0.35)                       # median of three offers
    assert near(price(rows, "epyc-genoa-l40s-1gpu"), 0.87 + 4 * 0.002 + 8 * 0.003)
    assert next(r for r in rows if r["source"] == "primeintellect")["chip"] == "h100-sxm5-80gb"  # H100_80GB, socket SXM5
    assert next(r for r in rows if r["source"] == "verda")["chip"] == "h100-sxm5-80gb"  # "1x H100 SXM5 80GB"
    assert near(price(rows, "a2-highgpu-1g", source="gcp"), 2.9 + 12 * 0.03 + 85 * 0.004)


@test
def default_set_needs_no_key(home):
    s = Server()
    result = home.update(s.url)
    assert result.returncode == 0, result.stderr
    asked = {r.source for r in s.requests}
    assert asked == {"skypilot", "gpuhunt", "azure", "oci", "vultr", "cloudrift", "vast", "runpod", "ecb"}, asked
    assert s.requests[[r.source for r in s.requests].index("azure")].target.startswith("/azure/api/retail/prices?")


@test
def unknown_names_are_kept_and_reported(home):
    home.update(Server().url, "--source", "skypilot")
    assert home.status("skypilot")["unknown_names"] == ["NewChip9000"]
    row = next(r for r in home.rows() if r["instance"] == "t9.odd")
    assert row["chip"] is None and row["flag"]


@test
def recommend_uses_the_snapshot_and_names_its_source(home):
    s = Server({"azure": [body(answers.azure([answers.azure_item(answers.A100, "eastus", 1.23)]))]})
    assert home.update(s.url, "--source", "azure").returncode == 0
    result = home.run("estimate", "--model", "resnet50", "--dataset", "imagenet-1k", "--on", "azure/" + answers.A100 + "@eastus", "--json")
    answer = json.loads(result.stdout)["results"][0]
    assert near(answer["price_usd_per_h"], 1.23) and answer["price_as_of"] == "2026-12-01" and "azure" in answer["price_source"]
    listed = json.loads(home.run("list", "instances", "--cloud", "azure", "--json").stdout)["items"]
    assert any(i["instance"] == answers.A100 and i["region"] == "eastus" and near(i["on_demand_usd_per_h"], 1.23) for i in listed)


@test
def nothing_but_update_uses_the_network(home):
    if not shutil.which("strace"):
        return
    home.update(Server().url)
    for args in (["recommend", "--model", "resnet50", "--dataset", "imagenet-1k"], ["prices", "status"], ["list", "instances"]):
        trace = os.path.join(home.dir, "trace")
        run = subprocess.run(["strace", "-f", "-o", trace, "-e", "trace=network", PROGRAM, *args], env=home.environment(),
                             capture_output=True, text=True)
        text = open(trace).read()
        if "ptrace" in run.stderr:
            return
        assert "socket(" not in text and "connect(" not in text, text[:500]


@test
def two_pages_and_a_fraction_of_a_chip(home):
    home.update(Server().url, "--source", "vultr")
    rows = home.rows()
    assert next(r for r in rows if r["instance"] == "vcg-half")["chip_count"] == 0.5
    assert len([r for r in rows if r["instance"] == "vcg-a100-12c-120g-80vram"]) == 2


@test
def same_answers_give_the_same_bytes(home):
    s = Server()
    home.update(s.url)
    first = home.run("prices", "export").stdout
    other = Home()
    try:
        other.update(s.url)
        assert other.run("prices", "export").stdout == first
    finally:
        other.close()


@test
def diff_shows_what_moved(home):
    cheap = answers.azure([answers.azure_item(answers.A100, "eastus", 3.0), answers.azure_item(answers.H100, "eastus", 90.0)])
    dear = answers.azure([answers.azure_item(answers.A100, "eastus", 3.6), answers.azure_item(answers.H100, "eastus", 91.0)])
    s = Server({"azure": [body(cheap), body(dear)]})
    home.update(s.url, "--source", "azure")
    home.update(s.url, "--source", "azure", SOURCE_DATE_EPOCH=DAY_3)
    items = json.loads(home.run("prices", "diff", "--json").stdout)["items"]
    assert [(i["instance"], round(i["change"], 3)) for i in items] == [(answers.A100, 0.2)], items


@test
def as_of_picks_a_snapshot_or_exits_6(home):
    cheap, dear = (answers.azure([answers.azure_item(answers.A100, "eastus", p)]) for p in (3.0, 3.6))
    s = Server({"azure": [body(cheap), body(dear)]})
    home.update(s.url, "--source", "azure")
    home.update(s.url, "--source", "azure", SOURCE_DATE_EPOCH=DAY_3)
    assert near(price(home.rows(), answers.A100), 3.6)
    assert near(price(home.rows("--prices-as-of", "2026-12-02"), answers.A100), 3.0)
    none = home.run("recommend", "--model", "resnet50", "--samples", "1M", "--prices-as-of", "2001-01-01")
    assert none.returncode == 6 and "2026-12-01" in none.stderr, none.stderr
    old = home.run("prices", "status", "--max-price-age", "1d", "--strict", "--as-of", "2027-01-30", "--source", "azure")
    assert old.returncode == 6, old.stderr


@test
def export_and_import_move_a_snapshot(home):
    s = Server({"azure": [body(answers.azure([answers.azure_item(answers.A100, "eastus", 2.5)]))]})
    home.update(s.url, "--source", "azure")
    path = os.path.join(home.dir, "snapshot.json")
    assert home.run("prices", "export", "-o", path).returncode == 0
    other = Home()
    try:
        assert near(price(other.rows("--prices", path), answers.A100), 2.5)
        assert other.run("prices", "import", path).returncode == 0
        assert near(price(other.rows(), answers.A100), 2.5)
        text = open(path).read().replace("2.5", "0.5")
        open(path, "w").write(text)
        broken = other.run("prices", "import", path)
        assert broken.returncode == 5 and "AP0764" in broken.stderr, broken.stderr
        assert other.run("recommend", "--model", "resnet50", "--samples", "1M", "--prices", path).returncode == 5
    finally:
        other.close()


# ---- faults: one source fails, the other is stored, old rows stay -------------------------------------------------------

def fails(home, behaviour, *words, requests=None, plan=None):
    """A good update, then azure misbehaves: exit 7, a clear line, azure's old rows with their old date, vultr's new ones."""
    plan = plan or {"azure": [None, behaviour]}
    s = Server(plan)
    assert home.update(s.url, "--source", "azure,vultr").returncode == 0
    before, seen = home.rows("--source", "azure"), s.count("azure")
    started = time.time()
    result = home.update(s.url, "--source", "azure,vultr", SOURCE_DATE_EPOCH=DAY_3)
    took = time.time() - started
    assert result.returncode == 7, (result.returncode, result.stderr)
    assert "azure failed: " in result.stderr and all(word in result.stderr for word in words), result.stderr
    state = sources_of(result)
    assert state["azure"]["status"] == "failed" and state["azure"]["as_of"] == "2026-12-01" and state["azure"]["error"]
    assert state["vultr"]["status"] == "ok" and state["vultr"]["as_of"] == "2026-12-03"
    after = home.rows("--source", "azure", SOURCE_DATE_EPOCH=DAY_1)
    assert after == before, (after, before)
    assert took < 20, took
    if requests is not None:  # one more where a busy machine made the server look dead
        assert requests <= s.count("azure") - seen <= requests + 1, s.count("azure") - seen
    return result


FAULTS = {
    "server never answers": (server.silent, ["time-out"], None),
    "server drips": (server.drip, ["time-out"], None),
    "connection closed at once": (server.hang_up, ["without an answer"], None),
    "connection reset": (server.reset, ["broke off"], None),
    "shorter than its length": (server.cut_length, ["cut off"], None),
    "chunked and cut": (server.cut_chunked, ["cut off"], None),
    "cut without length": (server.cut_http10, ["not whole JSON"], 1),
    "half a gzip stream": (server.half_gzip(json.dumps(answers.azure()).encode()), ["azure failed"], 1),
    "gzip with a wrong sum": (server.bad_gzip_crc, ["azure failed"], None),
    "called gzip and is not": (server.plain_as_gzip, ["azure failed"], None),
    "no HTTP": (server.raw(b"220 mail ready\r\n"), ["azure failed"], 1),
    "429 without end": (status(429), ["429"], None),
    "500 without end": (status(500), ["500"], 5),
    "403": (status(403), ["403"], 1),
    "404": (status(404), ["404"], 1),
    "redirect loop": (server.to_self, ["redirects"], None),
    "redirect to another host": (server.redirect("https://example.org/"), ["not allowed"], 1),
    "redirect to http": (server.redirect("http://prices.azure.com/"), ["not allowed"], 1),
    "redirect to a file": (server.redirect("file:///etc/passwd"), ["not allowed"], 1),
    "declared 5 GB": (server.huge_declared, ["too large"], 1),
    "chunked bomb": (server.chunked_bomb, ["azure failed"], None),  # too large, or on a busy machine too slow
    "gzip bomb": (server.gzip_bomb, ["azure failed"], None),
    "web page": (body(b"<html><body>Log in</body></html>", "text/html"), ["web page"], 1),
    "web page called JSON": (body(b"<!DOCTYPE html><html></html>"), ["web page"], 1),
    "204": (status(204, body=b""), ["204"], 1),
    "empty answer": (body(b""), ["empty"], 1),
    "304 nobody asked for": (status(304, body=b""), ["not modified"], 1),
    "one huge header": (status(200, "X-Big: " + "x" * 1000000), ["azure failed"], None),
    "truncated JSON": (body(b'{"Items":[{"retailPrice":1'), ["not whole JSON"], 1),
    "NaN in JSON": (body(json.dumps(answers.azure([answers.azure_item(answers.A100, "eastus", float("nan"))])).encode()),
                    ["not whole JSON"], 1),
    "two documents": (body(b'{"Items":[]}{"Items":[]}'), ["not whole JSON"], 1),
    "not UTF-8": (body(json.dumps(answers.azure(), ensure_ascii=False).replace("US", "\xe9").encode("latin-1")), ["not UTF-8"], 1),
    "too deep": (body(b"[" * 100000), ["not whole JSON"], 1),
    "rows renamed": (body({"Things": []}), ["shape"], 1),
    "no rows": (body(answers.azure([])), ["no prices"], 1),
    "every price renamed": (body({"Items": [{k.replace("retailPrice", "price"): v for k, v in item.items()}
                                            for item in answers.azure()["Items"]], "NextPageLink": None}), ["can be used"], 1),
    "every price zero": (body(answers.azure([answers.azure_item(answers.A100, "eastus", 0.0)])), ["not positive"], 1),
    "next page in a circle": (lambda c, r: server.respond(c, answers.azure(link="https://prices.azure.com" + r.target[6:])),
                              ["circle"], 1),
    "next page on another host": (body(answers.azure(link="https://example.org/api?$skip=1000")), ["allowed host"], 1),
    "next page over http": (body(answers.azure(link="http://prices.azure.com/api?$skip=1000")), ["allowed host"], 1),
}


def make_fault(name, fault):
    def run(home):
        fails(home, fault[0], *fault[1], requests=fault[2])
    run.__name__ = "fault: " + name
    TESTS.append(run)


for fault_name, fault in FAULTS.items():
    make_fault(fault_name, fault)


@test
def refused_connection(home):
    s = Server()
    assert home.update(s.url, "--source", "azure").returncode == 0
    before = home.rows()
    s.close()
    dead = "http://127.0.0.1:1"
    result = home.update(dead, "--source", "azure", SOURCE_DATE_EPOCH=DAY_3)
    assert result.returncode == 7 and "cannot connect" in result.stderr, result.stderr
    assert home.rows() == before


# ---- retries ------------------------------------------------------------------------------------------------------------

@test
def passing_errors_are_retried(home):
    s = Server({"azure": [status(500), status(503), None]})
    result = home.update(s.url, "--source", "azure")
    assert result.returncode == 0 and s.count("azure") == 3, (result.stderr, s.count("azure"))


@test
def retry_after_is_obeyed_and_clamped(home):
    for header, least, most in (("7", 0.06, 5), ("Fri, 31 Dec 2037 23:59:59 GMT", 1.1, 6), ("Thu, 01 Jan 1970 00:00:00 GMT", 0, 5),
                                ("-5", 0, 5), ("soon", 0, 5)):
        s = Server({"vultr": [status(429, "Retry-After: " + header), None]})
        started = time.time()
        result = home.update(s.url, "--source", "vultr")
        took = time.time() - started
        assert result.returncode == 0 and least <= took <= most, (header, took, result.stderr)


@test
def mirror_is_asked_when_the_first_host_fails(home):
    steps = [status(403)]

    def mirror_only(connection, request):
        if request.target.startswith("/skypilot/catalogs/"):
            server.respond(connection, answers.SKYPILOT["aws"].encode() if "/aws/" in request.target else b"x", content_type="text/csv",
                           status="200 OK" if "/aws/" in request.target else "404 X")
        else:
            steps[0](connection, request)
    s = Server({"skypilot": [mirror_only]})
    home.update(s.url, "--source", "skypilot")
    assert near(price(home.rows(), "p5.48xlarge"), 55.5)


# ---- conditional requests -----------------------------------------------------------------------------------------------

@test
def euros_are_shown_at_the_rate_that_was_fetched(home):
    home.update(Server().url, "--source", "ecb")
    shown = home.run("estimate", "--model", "resnet50", "--samples", "1M", "--on", "aws/g5.xlarge@us-east-1", "--currency", "EUR")
    assert shown.returncode == 0 and "0.8 EUR for one USD (ecb, 2026-11-27)" in shown.stdout, shown.stdout + shown.stderr


@test
def not_modified_keeps_the_rows(home):
    seen = []

    def with_tag(connection, request):
        seen.append(request.headers.get("if-none-match"))
        if request.headers.get("if-none-match") == '"v1"':
            server.respond(connection, b"", status="304 Not Modified")
        else:
            server.respond(connection, answers.RUNPOD, headers=('ETag: "v1"',))
    s = Server({"runpod": [with_tag]})
    assert home.update(s.url, "--source", "runpod").returncode == 0
    before = [r["price_usd_per_h"] for r in home.rows()]
    result = home.update(s.url, "--source", "runpod", SOURCE_DATE_EPOCH=DAY_3)
    state = sources_of(result)["runpod"]
    assert result.returncode == 0 and state["status"] == "not-modified", (result.stderr, state)
    assert state["fetched_at"].startswith("2026-12-01") and state["checked_at"].startswith("2026-12-03")
    assert seen == [None, '"v1"'] and [r["price_usd_per_h"] for r in home.rows()] == before


@test
def gzip_is_unpacked(home):
    result = home.update(Server({"azure": [server.good_gzip]}).url, "--source", "azure")
    assert result.returncode == 0 and near(price(home.rows(), answers.H100), 91.5), result.stderr


@test
def a_full_page_without_link_is_continued(home):
    full = [answers.azure_item(answers.A100, f"region{i}", 3.0) for i in range(1000)]

    def pages(connection, request):
        server.respond(connection, answers.azure(full) if "skip" not in request.target
                       else answers.azure([answers.azure_item(answers.A100, "lastregion", 3.0)]))
    s = Server({"azure": [pages]})
    assert home.update(s.url, "--source", "azure").returncode == 0
    assert s.count("azure") == 2 and "$skip=1000" in s.requests[1].target
    assert len(home.rows("-n", "0")) == 1001


@test
def asking_for_one_region_keeps_the_others(home):
    dear = answers.azure([answers.azure_item(answers.A100, "eastus", 3.5)])
    s = Server({"azure": [None, body(dear)]})
    home.update(s.url, "--source", "azure")
    result = home.update(s.url, "--source", "azure", "--region", "eastus", SOURCE_DATE_EPOCH=DAY_3)
    assert result.returncode == 0 and "armRegionName%20eq%20'eastus'" in s.requests[1].target, result.stderr
    assert near(price(home.rows(), answers.A100, region="eastus"), 3.5)
    assert near(price(home.rows(), answers.A100, region="westeurope"), 4.75)


# ---- content ------------------------------------------------------------------------------------------------------------

def one_row(home, text, reason):
    good = json.dumps(answers.azure([answers.azure_item(answers.H100, "eastus", 91.5)]))
    bad = json.dumps(answers.azure_item(answers.A100, "eastus", 3.0)).replace('"retailPrice": 3.0', '"retailPrice": ' + text)
    both = good.replace('"Items": [', '"Items": [' + bad + ", ")
    result = home.update(Server({"azure": [body(both.encode())]}).url, "--source", "azure")
    assert result.returncode == 0, (text, result.stderr)
    state = sources_of(result)["azure"]
    assert state["rejects"] == {reason: 1}, (text, state["rejects"])
    assert "warning" in result.stderr and reason in result.stderr, result.stderr
    assert [r["instance"] for r in home.rows()] == [answers.H100]


@test
def impossible_prices_are_refused_one_by_one(home):
    for text, reason in (("-1.5", "not positive"), ("0", "not positive"), ("1e999", "not finite"), ('"many"', "type"),
                         ("99999999", "stands for no price"), ("250000", "above 1000 USD an hour and chip"), ("[]", "type")):
        one_row(home, text, reason)


@test
def hardly_possible_prices_are_kept_aside(home):
    items = [answers.azure_item(answers.H100, "eastus", 91.5), answers.azure_item(answers.A100, "eastus", 367.0)]  # cents for dollars
    result = home.update(Server({"azure": [body(answers.azure(items))]}).url, "--source", "azure")
    row = next(r for r in home.rows() if r["instance"] == answers.A100)
    assert result.returncode == 0 and row["flag"].startswith("suspect") and "kept aside" in result.stderr
    estimate = json.loads(home.run("estimate", "--model", "resnet50", "--samples", "1M", "--on", "azure/" + answers.A100 + "@eastus",
                                   "--json").stdout)
    assert estimate["results"][0]["price_usd_per_h"] < 10


@test
def spot_dearer_than_on_demand_is_kept_aside(home):
    items = [answers.azure_item(answers.A100, "eastus", 3.0), answers.azure_item(answers.A100, "eastus", 3.5, skuName="X Spot")]
    home.update(Server({"azure": [body(answers.azure(items))]}).url, "--source", "azure")
    assert next(r for r in home.rows() if r["pricing"] == "spot")["flag"].startswith("suspect")


@test
def duplicates_are_one_row(home):
    items = [answers.azure_item(answers.A100, "eastus", 3.0)] * 2 + [answers.azure_item(answers.A100, "eastus", 3.2)]
    home.update(Server({"azure": [body(answers.azure(items))]}).url, "--source", "azure")
    assert near(price(home.rows(), answers.A100), 3.0)


@test
def a_name_cannot_steer_the_terminal(home):
    items = [answers.azure_item(answers.H100, "eastus", 91.5), answers.azure_item("Standard_N\x1b[31mred", "eastus", 3.0)]
    result = home.update(Server({"azure": [body(answers.azure(items))]}).url, "--source", "azure")
    shown = home.run("prices", "show").stdout + home.run("prices", "status").stdout
    assert "\x1b" not in result.stdout + result.stderr + shown


@test
def byte_order_mark_is_fine(home):
    result = home.update(Server({"azure": [body(b"\xef\xbb\xbf" + json.dumps(answers.azure()).encode())]}).url, "--source", "azure")
    assert result.returncode == 0, result.stderr


@test
def graphql_errors_are_a_failure(home):
    reply = dict(answers.RUNPOD, errors=[{"message": "rate limited"}])
    result = home.update(Server({"runpod": [body(reply)]}).url, "--source", "runpod")
    assert result.returncode == 7 and "reports an error" in result.stderr, result.stderr


@test
def shrinking_to_less_than_half_keeps_the_old(home):
    many = [answers.azure_item(answers.A100, f"r{i}", 3.0) for i in range(20)]
    s = Server({"azure": [body(answers.azure(many)), body(answers.azure(many[:8]))]})
    home.update(s.url, "--source", "azure")
    result = home.update(s.url, "--source", "azure", SOURCE_DATE_EPOCH=DAY_3)
    assert result.returncode == 7 and "shrank" in result.stderr and len(home.rows()) == 20, result.stderr
    assert home.update(s.url, "--source", "azure", "--accept-shrink", SOURCE_DATE_EPOCH=DAY_3).returncode == 0
    assert len(home.rows()) == 8


@test
def euros_without_a_rate_are_not_ranked(home):
    result = home.update(Server().url, "--source", "scaleway", **KEYED)
    row = home.rows()[0]
    assert result.returncode == 0 and row["price_usd_per_h"] is None and row["flag"] == "no exchange rate" and row["currency"] == "EUR"


@test
def tables_are_read_by_their_header(home):
    shuffled = "Region,Price,Extra,AcceleratorCount,AcceleratorName,InstanceType,SpotPrice\nus-east-1,55.5,\"a, \"\"b\"\"\nc\",8,H100,p5.48xlarge,\n"
    s = Server({"skypilot": [lambda c, r: server.respond(c, shuffled.encode(), content_type="text/csv") if "/aws/" in r.target
                             else server.respond(c, b"", status="404 X")]})
    assert home.update(s.url, "--source", "skypilot").returncode == 0
    assert near(price(home.rows(), "p5.48xlarge"), 55.5)
    missing = shuffled.replace("Price", "Cost")
    s = Server({"skypilot": [lambda c, r: server.respond(c, missing.encode(), content_type="text/csv") if "/aws/" in r.target
                             else server.respond(c, b"", status="404 X")]})
    result = home.update(s.url, "--source", "skypilot")
    assert result.returncode == 7 and "shape" in result.stderr, result.stderr


@test
def half_a_packed_table_is_noticed(home):
    table = (answers.SKYPILOT_HEAD + "".join(f"p5.48xlarge,H100,8,192,2048,,{50 + i / 1000},,r{i},z\n" for i in range(20000))).encode()
    s = Server({"skypilot": [server.half_gzip(table, "text/csv")]})
    result = home.update(s.url, "--source", "skypilot")
    assert result.returncode == 7 and not home.rows(), result.stderr


@test
def zip_archives_that_are_not_right(home):
    two = answers.zipped(answers.GPUHUNT, ("aws.csv", "more.csv"))
    path = answers.zipped(answers.GPUHUNT, ("../aws.csv",))
    bomb = answers.zipped("a" * (60 << 20))
    for content, word in ((two, "exactly one"), (path, "path"), (bomb, "too large"), (answers.zipped(answers.GPUHUNT)[:-30], "zip"),
                          (b"PK nonsense", "zip")):
        result = home.update(Server({"gpuhunt": [body(content, "application/zip")]}).url, "--source", "gpuhunt")
        assert result.returncode == 7 and word in result.stderr, (word, result.stderr)


@test
def a_very_large_table_takes_little_memory(home):
    head, rest = answers.AWS.split("\n", 6)[:6], answers.AWS.split("\n", 6)[6]
    line = '"Z","JRT","Reserved","filler filler filler filler filler filler","2026-01-01","Hrs","1","USD","m5.large","2","","Linux","Shared","Used","NA","","us-east-1"\n'

    def large(connection, request):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nConnection: close\r\n\r\n")
        connection.sendall(("\n".join(head) + "\n").encode())
        block = (line * 5000).encode()
        for _ in range(40):
            connection.sendall(block)
        connection.sendall(rest.encode())
    s = Server({"aws": [large]})
    result = subprocess.run(["/usr/bin/env", "python3", "-c", "import resource,subprocess,sys;"
                             "r=subprocess.run(sys.argv[1:],capture_output=True,text=True);"
                             "print(r.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, r.stderr)",
                             PROGRAM, "prices", "update", "--source", "aws"], env=home.environment(s.url), capture_output=True, text=True)
    code, kib = result.stdout.split()[:2]
    assert code == "0", result.stdout
    assert near(price(home.rows(), "p5.48xlarge"), 98.32)
    if "asan" not in PROGRAM:
        assert int(kib) < 64 * 1024, kib


# ---- secrets ------------------------------------------------------------------------------------------------------------

@test
def keys_go_to_their_source_only(home):
    secret = "test-SENTINEL123"
    s = Server()
    result = home.update(s.url, "-v", ACCELPICK_LAMBDA_KEY=secret)
    assert result.returncode == 0, result.stderr
    carrying = [r.source for r in s.requests if secret in str(r.headers) + r.target + str(r.body)]
    assert carrying == ["lambda"], carrying
    kept = "".join(open(os.path.join(d, f), errors="replace").read() for d, _, files in os.walk(home.dir) for f in files)
    assert secret not in result.stdout + result.stderr + kept


@test
def no_key_leaves_for_another_host(home):
    secret, other = "test-SENTINEL123", Server()
    s = Server({"lambda": [server.redirect(other.url + "/lambda/api")], "shadeform": [server.redirect(other.url + "/x")]})
    result = home.update(s.url, "--source", "lambda,shadeform", ACCELPICK_LAMBDA_KEY=secret, ACCELPICK_SHADEFORM_KEY=secret)
    assert result.returncode == 7 and other.requests == [] and secret not in result.stderr, result.stderr


@test
def real_keys_never_reach_a_test_server(home):
    s = Server()
    result = home.update(s.url, "--source", "lambda", ACCELPICK_LAMBDA_KEY="real-key")
    assert result.returncode == 7 and s.requests == [] and "ACCELPICK_LAMBDA_KEY" in result.stderr and "real-key" not in result.stderr


@test
def a_wrong_key_is_explained(home):
    s = Server({"lambda": [status(401)]})
    result = home.update(s.url, "--source", "lambda", ACCELPICK_LAMBDA_KEY="test-1")
    assert result.returncode == 7 and "ACCELPICK_LAMBDA_KEY" in result.stderr and s.count("lambda") == 1, result.stderr


@test
def test_server_must_be_loopback(home):
    for url in ("http://example.org", "http://127.0.0.1.example.org", "http://127.0.0.1@example.org", "ftp://127.0.0.1"):
        assert home.update(url, "--source", "azure").returncode == 2, url


# ---- TLS ----------------------------------------------------------------------------------------------------------------

def certificate(home, name):
    key, cert = (os.path.join(home.dir, name + end) for end in (".key", ".pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj",
                    "/CN=test", "-addext", "subjectAltName=" + ("IP:127.0.0.1" if name != "other" else "DNS:example.org")],
                   check=True, capture_output=True)
    return cert, key


@test
def certificates_are_checked(home):
    if not shutil.which("openssl"):
        return
    good, other = certificate(home, "good"), certificate(home, "other")
    s, wrong_host = Server(certificate=good), Server(certificate=other)
    untrusted = home.update(s.url, "--source", "azure")
    assert untrusted.returncode == 7 and "certificate" in untrusted.stderr, untrusted.stderr
    assert home.update(wrong_host.url, "--source", "azure", ACCELPICK_CA_FILE=other[0]).returncode == 7
    assert home.update(s.url, "--source", "azure", ACCELPICK_CA_FILE=good[0]).returncode == 0
    assert home.update(s.url, "--source", "azure", CURL_CA_BUNDLE=good[0]).returncode == 0
    assert home.update(s.url, "--source", "azure", SSL_CERT_FILE=good[0]).returncode == 0


# ---- the store ----------------------------------------------------------------------------------------------------------

@test
def offline_forbids_update(home):
    s = Server()
    result = home.update(s.url, "--offline")
    assert result.returncode == 7 and s.requests == [], result.stderr


@test
def unknown_source_is_a_usage_error(home):
    result = home.update(Server().url, "--source", "azur")
    assert result.returncode == 2 and "azure" in result.stderr, result.stderr


@test
def full_disk_keeps_the_old(home):
    s = Server()
    assert home.update(s.url).returncode == 0
    before = home.rows()
    result = home.update(s.url, limit=2000, SOURCE_DATE_EPOCH=DAY_3)
    assert result.returncode == 7 and "cannot write" in result.stderr, (result.returncode, result.stderr)
    assert home.rows() == before and not [f for f in os.listdir(home.store) if ".tmp" in f]


@test
def store_that_cannot_be_made(home):
    path = os.path.join(home.dir, "file")
    open(path, "w").close()
    result = home.update(Server().url, "--prices", os.path.join(path, "store"))
    assert result.returncode == 7 and "AP0766" in result.stderr, result.stderr
    assert home.update(Server().url, HOME="").returncode == 7


@test
def killed_update_leaves_old_or_new(home):
    s = Server()
    assert home.update(s.url).returncode == 0
    before = home.rows()
    for delay in (0.02, 0.05, 0.1, 0.15, 0.2):
        child = subprocess.Popen([PROGRAM, "prices", "update"], env=home.environment(s.url), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert home.rows() == before
    open(os.path.join(home.store, "2026-12-01T00-00-00Z.json.tmp-1"), "w").close()
    assert home.update(s.url).returncode == 0
    assert not [f for f in os.listdir(home.store) if ".tmp" in f]


@test
def interrupted_update_ends_by_the_signal(home):
    s = Server({"azure": [server.silent]})
    child = subprocess.Popen([PROGRAM, "prices", "update", "--source", "azure"], env=home.environment(s.url), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    assert child.wait() == -signal.SIGINT


@test
def only_one_update_at_a_time(home):
    s = Server({"azure": [server.silent]})
    first = subprocess.Popen([PROGRAM, "prices", "update", "--source", "azure"], env=home.environment(s.url), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    second = home.update(Server().url, "--source", "vultr")
    assert second.returncode == 7 and "another update" in second.stderr, second.stderr
    first.kill()
    first.wait()


@test
def damaged_snapshot_is_passed_over(home):
    s = Server()
    home.update(s.url, "--source", "azure")
    home.update(s.url, "--source", "azure", SOURCE_DATE_EPOCH=DAY_3)
    newest = os.path.join(home.store, sorted(f for f in os.listdir(home.store) if f.endswith(".json"))[-1])
    text = open(newest).read()
    open(newest, "w").write(text[:len(text) // 2])
    result = home.run("prices", "status", "--json")
    assert result.returncode == 0 and "AP0765" in result.stderr, result.stderr
    assert json.loads(result.stdout)["snapshot"].startswith("2026-12-01")


@test
def ten_snapshots_are_kept(home):
    s = Server()
    for day in range(12):
        home.update(s.url, "--source", "vultr", SOURCE_DATE_EPOCH=str(int(DAY_1) + 86400 * day))
    kept = sorted(f for f in os.listdir(home.store) if f.endswith(".json"))
    assert len(kept) == 10 and kept[0].startswith("2026-12-03"), kept


@test
def clock_set_back_does_not_hide_the_new(home):
    s = Server({"azure": [body(answers.azure([answers.azure_item(answers.A100, "eastus", p)])) for p in (3.0, 3.6)]})
    home.update(s.url, "--source", "azure", SOURCE_DATE_EPOCH=DAY_3)
    home.update(s.url, "--source", "azure", SOURCE_DATE_EPOCH=DAY_1)
    assert near(price(home.rows(), answers.A100), 3.6)


@test
def no_progress_line_without_a_terminal(home):
    result = home.run("prices", "update", url=Server().url)
    assert "\r" not in result.stdout + result.stderr and "\x1b" not in result.stderr


def run_one(function):
    home = Home()
    try:
        function(home)
        return function.__name__, None
    except Exception:  # noqa: BLE001 - a failed check or a crash of the harness: both are failures of the test
        return function.__name__, traceback.format_exc()
    finally:
        home.close()


def main():
    wanted = sys.argv[2:]
    chosen = [t for t in TESTS if not wanted or any(w in t.__name__ for w in wanted)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for number, (name, problem) in enumerate(pool.map(run_one, chosen), 1):
            print(("not ok" if problem else "ok"), number, "-", name, flush=True)
            if problem:
                failed += 1
                print("\n".join("# " + line for line in problem.strip().split("\n")[-6:]))
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
