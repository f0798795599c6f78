#!/usr/bin/env python3
"""facts/names.csv, energy.csv (and the clouds and regions that offers name) -> data/names, data/clouds.yaml, data/regions

usage: convert_misc.py FACTS_DIR DATA_DIR"""
import csv
import glob
import re
import sys
from collections import defaultdict

import yaml

from catalog_yaml import Raw, catalog_id, clean, confidence, newest_date, quantity, write_file

facts, data = sys.argv[1], sys.argv[2]


def rows(name):
    with open(f"{facts}/{name}", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------------------------------------------------- names
PROVIDER = {"ovh": "ovhcloud", "google": "gcp"}
NAME_FILES = {  # provider -> file
    **{p: "hyperscalers" for p in ("aws", "azure", "gcp", "oci", "google")},
    **{p: "schedulers" for p in ("slurm", "kubernetes", "gke", "karpenter")},
    **{p: "devices" for p in ("nvidia-smi/torch", "torch (ROCm)", "jax", "pci")},
    **{p: "brokers" for p in ("skypilot", "gpuhunt", "shadeform", "primeintellect")},
}


def name_entry(row):
    notes = [row["notes"]] if row["notes"] else []
    count = row["count"]
    if not re.fullmatch(r"\d+(\.\d+)?", count or "1"):
        notes.append(f"count: {count}")
        count = ""
    if row["memory_gb_per_chip"]:
        notes.append(f"{row['memory_gb_per_chip']} GB per chip")
    any_of = [catalog_id(part) for part in re.split(r"[|;]", row["chip_any_of"]) if part.strip()]
    chip = catalog_id(row["chip_id"]) if row["chip_id"] else None
    if not chip and len(any_of) == 1:
        chip, any_of = any_of[0], []
        notes.append("the only chip of the catalog that it can mean")
    word = confidence(row["confidence"])
    if word == "read" and re.search("memory|inferred", row["confidence"]):
        word = "partial"
        notes.append(row["confidence"])
    return {"name": row["raw_name"], "provider": PROVIDER.get(row["provider"], row["provider"]), "where": row["where"], "chip": chip,
            "any_of": any_of, "count": float(count) if count and float(count) != 1 else None, "source": row["source"] or "memory",
            "as_of": newest_date(row["source"]), "confidence": word, "notes": "; ".join(notes)}


def write_names():
    files = defaultdict(list)
    for row in rows("names.csv"):
        files[NAME_FILES.get(row["provider"], "clouds")].append(row)
    for stem in sorted(files):
        write_file(f"{data}/names/{stem}.yaml", [
            f"Spellings of chips: {stem}.", "chip: what it means; any_of: what it may mean, so that the user must say; neither: a known spelling of",
            "a chip that the catalog lacks. count: chips that the spelling stands for, 1 if absent. Add yours as one more line."],
            {"as_of": "2026-08-22"}, "names", [name_entry(row) for row in files[stem]], flow=True)


# --------------------------------------------------------------------------------------------------------- clouds
H, S, M, N = "hyperscaler", "specialist", "marketplace", "notebook"
CLOUDS = [  # id, name, kind, spot, billing granularity, minimum (from memory), aliases
    ("aws", "Amazon Web Services", H, True, "1s", "1min", ["amazon", "ec2"]), ("gcp", "Google Cloud", H, True, "1s", "1min", ["google", "gke", "gce"]),
    ("azure", "Microsoft Azure", H, True, "1s", "1min", ["microsoft", "az"]), ("oci", "Oracle Cloud Infrastructure", H, True, "1s", "1min", ["oracle"]),
    ("alibaba", "Alibaba Cloud", H, True, "1s", "1min", ["alicloud", "aliyun"]), ("ibm", "IBM Cloud", H, False, "1h", None, []),
    ("colab", "Google Colab", N, False, None, None, ["google-colab"]), ("kaggle", "Kaggle Notebooks", N, False, None, None, []),
    ("paperspace", "Paperspace", S, False, None, None, []), ("coreweave", "CoreWeave", S, True, "1min", None, []),
    ("crusoe", "Crusoe Cloud", S, True, None, None, []), ("cudo", "Cudo Compute", S, False, None, None, ["cudo-compute"]),
    ("denvr", "Denvr Dataworks", S, False, None, None, []), ("digitalocean", "DigitalOcean", S, False, None, None, ["do"]),
    ("excesssupply", "Excess Supply", S, False, None, None, []), ("fluidstack", "FluidStack", S, False, None, None, []),
    ("hyperbolic", "Hyperbolic", M, False, None, None, []), ("hyperstack", "Hyperstack", S, True, "1min", None, ["nexgen-cloud"]),
    ("jarvislabs", "Jarvislabs", S, False, "1min", None, []), ("lambda", "Lambda Cloud", S, False, "1min", None, ["lambda-labs", "lambdalabs"]),
    ("latitude", "Latitude.sh", S, False, "1h", None, ["latitude.sh"]), ("linode", "Akamai Linode", S, False, "1h", None, ["akamai"]),
    ("massedcompute", "Massed Compute", S, False, None, None, ["massed-compute"]), ("mithril", "Mithril", M, True, None, None, ["foundry", "ml-foundry"]),
    ("nebius", "Nebius", S, True, "1s", None, []), ("oblivus", "Oblivus", S, False, None, None, []),
    ("ovhcloud", "OVHcloud", S, False, "1h", None, ["ovh"]), ("runpod", "RunPod", S, True, "1min", None, []),
    ("scaleway", "Scaleway", S, False, "1min", None, []), ("seeweb", "Seeweb", S, False, "1h", None, []),
    ("together", "Together AI", S, False, None, None, ["together-ai"]), ("vast", "Vast.ai", M, True, "1s", None, ["vast.ai", "vastai"]),
    ("verda", "Verda (formerly DataCrunch)", S, True, "10min", None, ["datacrunch"]), ("vultr", "Vultr", S, False, "1h", None, []),
    ("upcloud", "UpCloud", S, False, "1h", None, []), ("cloudrift", "CloudRift", S, False, None, None, []),
    ("shadeform", "Shadeform", M, False, None, None, []), ("primeintellect", "Prime Intellect", M, True, None, None, ["prime-intellect"]),
    ("world", "Countries and states, of no cloud", "none", None, None, None, []),
]
PUE = {"gcp": "google", "colab": "google", "kaggle": "google", "aws": "aws", "azure": "microsoft", "oci": "oracle"}
CLOUD_NOTES = {
    "colab": "sold in compute units: 100 for 9.99 USD, 500 for 49.99 (techcrunch.com 2022-09-29); prices here are units per hour x 0.1 USD",
    "crusoe": "CPU parts on 2026-08-19, USD per vCPU and hour, spot: c1a 0.04, s1a 0.09 (dstackai/gpuhunt)",
    "verda": "renamed from DataCrunch; old catalogs use that name", "vast": "offers of single hosts on one day, not list prices",
    "gcp": "TPU chip-hour rates are in the prices of the slices",
}


def newest(candidates):
    return max(candidates, key=lambda row: row["year"])


energy = rows("energy.csv")


def cloud_entry(item):
    ident, name, kind, spot, step, minimum, aliases = item
    owner = PUE.get(ident)
    found = [row for row in energy if row["kind"] == "pue" and row["provider"] == (owner or "colocation typical")]
    row = newest([r for r in found if r["confidence"] == "read"] or found)
    if ident == "world":
        row = next(r for r in energy if r["provider"] == "local rig at home")
    page = "datacenterdynamics.com/en/news/aws-global-data-centers-achieved-pue-of-115-in-2023"
    text = page if "as above" in row["source"] else row["source"]
    sources = {"pue": f"{text} ({row['year']}, {row['confidence']})"}
    return {"id": ident, "name": name, "aliases": aliases, "kind": kind, "pue": float(row["value"]), "billing_granularity": step,
            "billing_minimum": minimum, "spot": spot, "notes": CLOUD_NOTES.get(ident), "sources": sources}


def write_clouds():
    write_file(f"{data}/clouds.yaml", [
        "Who rents machines out. pue: of the cloud's own report, else a typical colocation's. Billing steps and minima are from memory;",
        "absent = unknown. Egress and storage prices are unknown: add egress: and storage: where you know yours."],
        {"source": "kind, billing and spot from memory", "as_of": "2026-08", "confidence": "memory"}, "clouds", [cloud_entry(item) for item in CLOUDS])


# -------------------------------------------------------------------------------------------------------- regions
COUNTRY = {}  # name -> ISO code
for row in energy:
    if row["provider"] == "country" and row["kind"] == "grid_carbon":
        COUNTRY[row["location"].lower()] = row["region_code"]
COUNTRY.update({"usa": "USA", "us": "USA", "uk": "GBR", "united kingdom": "GBR", "south korea": "KOR", "czechia": "CZE", "taiwan": "TWN", "hong kong": "HKG",
                "russia": "RUS", "uae": "ARE", "the netherlands": "NLD", "vietnam": "VNM", "turkey": "TUR"})
A = dict(AU="AUS", BG="BGR", CA="CAN", CN="CHN", CZ="CZE", DK="DNK", EE="EST", FR="FRA", GB="GBR", DE="DEU", HK="HKG", IT="ITA", IS="ISL", JP="JPN",
         NO="NOR", PL="POL", RO="ROU", SE="SWE", SI="SVN", KR="KOR", RU="RUS", CH="CHE", TW="TWN", NL="NLD", US="USA", VN="VNM", FI="FIN", IN="IND")
PLACES = {  # cloud -> {pattern: (city or state, ISO country)}; from the clouds' public region lists, memory
    "aws": {"af-south-1": ("Cape Town", "ZAF"), "ap-east-1": ("Hong Kong", "HKG"), "ap-northeast-1": ("Tokyo", "JPN"), "ap-northeast-2": ("Seoul", "KOR"),
            "ap-northeast-3": ("Osaka", "JPN"), "ap-south-1": ("Mumbai", "IND"), "ap-south-2": ("Hyderabad", "IND"), "ap-southeast-1": ("Singapore", "SGP"),
            "ap-southeast-2": ("Sydney", "AUS"), "ap-southeast-3": ("Jakarta", "IDN"), "ap-southeast-4": ("Melbourne", "AUS"),
            "ca-central-1": ("Montreal", "CAN"), "cn-north-1": ("Beijing", "CHN"), "cn-northwest-1": ("Ningxia", "CHN"), "eu-central-1": ("Frankfurt", "DEU"),
            "eu-central-2": ("Zurich", "CHE"), "eu-north-1": ("Stockholm", "SWE"), "eu-south-1": ("Milan", "ITA"), "eu-south-2": ("Aragon", "ESP"),
            "eu-west-1": ("Dublin", "IRL"), "eu-west-2": ("London", "GBR"), "eu-west-3": ("Paris", "FRA"), "il-central-1": ("Tel Aviv", "ISR"),
            "me-central-1": ("Dubai", "ARE"), "me-south-1": ("Bahrain", "BHR"), "sa-east-1": ("Sao Paulo", "BRA"), "us-east-1": ("Northern Virginia", "USA"),
            "us-east-2": ("Ohio", "USA"), "us-west-1": ("Northern California", "USA"), "us-west-2": ("Oregon", "USA"),
            "us-gov-east-1": ("Ohio", "USA"), "us-gov-west-1": ("Oregon", "USA")},
    "gcp": {"asia-southeast3": ("Bangkok", "THA"), "asia-east1": ("Changhua", "TWN"), "asia-east2": ("Hong Kong", "HKG"), "asia-northeast1": ("Tokyo", "JPN"),
            "asia-northeast2": ("Osaka", "JPN"), "asia-northeast3": ("Seoul", "KOR"), "asia-south1": ("Mumbai", "IND"), "asia-south2": ("Delhi", "IND"),
            "asia-southeast1": ("Singapore", "SGP"), "asia-southeast2": ("Jakarta", "IDN"), "australia-southeast1": ("Sydney", "AUS"),
            "australia-southeast2": ("Melbourne", "AUS"), "europe-central2": ("Warsaw", "POL"), "europe-north1": ("Hamina", "FIN"),
            "europe-north2": ("Stockholm", "SWE"), "europe-southwest1": ("Madrid", "ESP"), "europe-west1": ("St. Ghislain", "BEL"),
            "europe-west10": ("Berlin", "DEU"), "europe-west12": ("Turin", "ITA"), "europe-west2": ("London", "GBR"), "europe-west3": ("Frankfurt", "DEU"),
            "europe-west4": ("Eemshaven", "NLD"), "europe-west6": ("Zurich", "CHE"), "europe-west8": ("Milan", "ITA"), "europe-west9": ("Paris", "FRA"),
            "me-central1": ("Doha", "QAT"), "me-central2": ("Dammam", "SAU"), "me-west1": ("Tel Aviv", "ISR"), "northamerica-northeast1": ("Montreal", "CAN"),
            "northamerica-northeast2": ("Toronto", "CAN"), "northamerica-south1": ("Queretaro", "MEX"), "southamerica-east1": ("Sao Paulo", "BRA"),
            "southamerica-west1": ("Santiago", "CHL"), "africa-south1": ("Johannesburg", "ZAF"), "us-central1": ("Iowa", "USA"),
            "us-central2": ("Oklahoma", "USA"), "us-east1": ("South Carolina", "USA"), "us-east4": ("Northern Virginia", "USA"), "us-east5": ("Columbus, Ohio", "USA"),
            "us-south1": ("Dallas", "USA"), "us-west1": ("Oregon", "USA"), "us-west2": ("Los Angeles", "USA"), "us-west3": ("Salt Lake City", "USA"),
            "us-west4": ("Las Vegas", "USA")},
    "azure": {"australia": ("", "AUS"), "austriaeast": ("Vienna", "AUT"), "brazilsouth$": ("Sao Paulo", "BRA"), "brazilsoutheast": ("Rio", "BRA"),
              "canadacentral": ("Toronto", "CAN"), "canadaeast": ("Quebec", "CAN"), "centralindia": ("Pune", "IND"), "centralus": ("Iowa", "USA"),
              "chilecentral": ("Santiago", "CHL"), "eastasia": ("Hong Kong", "HKG"), "eastus": ("Virginia", "USA"), "francecentral": ("Paris", "FRA"),
              "francesouth": ("Marseille", "FRA"), "germany": ("", "DEU"), "indonesiacentral": ("Jakarta", "IDN"), "israelcentral": ("", "ISR"),
              "italynorth": ("Milan", "ITA"), "japaneast": ("Tokyo", "JPN"), "japanwest": ("Osaka", "JPN"), "jioindia": ("", "IND"),
              "koreacentral": ("Seoul", "KOR"), "koreasouth": ("Busan", "KOR"), "malaysiawest": ("Kuala Lumpur", "MYS"), "mexicocentral": ("Queretaro", "MEX"),
              "newzealandnorth": ("Auckland", "NZL"), "northcentralus": ("Illinois", "USA"), "northeurope": ("Dublin", "IRL"), "norway": ("", "NOR"),
              "polandcentral": ("Warsaw", "POL"), "qatarcentral": ("Doha", "QAT"), "southafrica": ("", "ZAF"), "southcentralus": ("Texas", "USA"),
              "southeastasia": ("Singapore", "SGP"), "southindia": ("Chennai", "IND"), "spaincentral": ("Madrid", "ESP"), "sweden": ("", "SWE"),
              "switzerland": ("", "CHE"), "uae": ("", "ARE"), "uksouth": ("London", "GBR"), "ukwest": ("Cardiff", "GBR"), "westcentralus": ("Wyoming", "USA"),
              "westeurope": ("Amsterdam", "NLD"), "westindia": ("Mumbai", "IND"), "westus2": ("Washington", "USA"), "westus3": ("Arizona", "USA"),
              "westus": ("California", "USA")},
    "alibaba": {"cn-hongkong": ("Hong Kong", "HKG"), "cn-": ("", "CHN"), "ap-northeast-1": ("Tokyo", "JPN"), "ap-northeast-2": ("Seoul", "KOR"),
                "ap-southeast-1": ("Singapore", "SGP"), "ap-southeast-3": ("Kuala Lumpur", "MYS"), "ap-southeast-5": ("Jakarta", "IDN"),
                "ap-southeast-7": ("Bangkok", "THA"), "eu-central-1": ("Frankfurt", "DEU"), "us-east-1": ("Virginia", "USA"), "us-west-1": ("California", "USA")},
    "lambda": {"asia-northeast": ("", "JPN"), "asia-south": ("", "IND"), "australia": ("", "AUS"), "europe-central": ("", "DEU"), "europe-south": ("", "ITA"),
               "me-west": ("", "ISR"), "us-": ("", "USA"), ".*-usa-": ("", "USA")},
    "scaleway": {"fr-par|paris": ("Paris", "FRA"), "nl-ams": ("Amsterdam", "NLD"), "pl-waw|warsaw": ("Warsaw", "POL"), "it-mil": ("Milan", "ITA")},
    "ovhcloud": {"BHS": ("Beauharnois", "CAN"), "GRA": ("Gravelines", "FRA")}, "verda": {"FIN-": ("Helsinki", "FIN")},
    "cudo": {"ca-": ("Montreal", "CAN"), "no-": ("Kristiansand", "NOR"), "se-": ("Stockholm", "SWE"), "us-": ("", "USA")},
    "crusoe": {"culpeper": ("Virginia", "USA"), "us-": ("", "USA")}, "coreweave": {"US|LGA|ORD|LAS": ("", "USA")},
    "denvr": {"calgary": ("Calgary", "CAN"), "houston": ("Texas", "USA")}, "digitalocean": {"nyc": ("New York", "USA"), "tor": ("Toronto", "CAN")},
    "excesssupply": {"casper|chicago": ("", "USA"), "tokyo": ("Tokyo", "JPN")}, "fluidstack": {"CANADA": ("", "CAN"), "FINLAND": ("", "FIN")},
    "hyperstack": {"CANADA": ("", "CAN"), "NORWAY": ("", "NOR"), "US": ("", "USA")}, "ibm": {"us-": ("", "USA")}, "jarvislabs": {"IN": ("", "IND")},
    "latitude": {"DAL": ("Dallas", "USA"), "LAX": ("Los Angeles", "USA"), "FRA": ("Frankfurt", "DEU")}, "massedcompute": {".*-usa-": ("", "USA")},
    "mithril": {"us-": ("", "USA")}, "nebius": {"eu-north1": ("Mantsala", "FIN"), "eu-west1": ("Paris", "FRA"), "us-central1": ("Kansas City", "USA")},
    "oblivus": {"MON": ("Montreal", "CAN")}, "paperspace": {"NY2|newyork": ("New York", "USA")}, "runpod": {"NL": ("", "NLD"), "SE": ("", "SWE"), "US": ("", "USA")},
    "seeweb": {"it-": ("Frosinone", "ITA")}, "together": {"US": ("", "USA")}, "vultr": {"bangalore": ("Bangalore", "IND")},
}
STATES = {row["location"]: row for row in energy if row["provider"] == "us-state"}
CARBON_COUNTRY = {row["region_code"]: row for row in energy if row["provider"] == "country" and row["kind"] == "grid_carbon"}
NAMES = {row["region_code"]: row["location"] for row in energy if row["provider"] == "country"}
POWER = {}
for row in energy:
    if row["kind"] == "electricity_business" and row["provider"] == "country":
        if row["region_code"] not in POWER or (row["confidence"] == "read", row["year"]) > (POWER[row["region_code"]]["confidence"] == "read", POWER[row["region_code"]]["year"]):
            POWER[row["region_code"]] = row
HOME_POWER = {row["region_code"]: row for row in energy if row["kind"] == "electricity_residential" and row["provider"] == "country"}
AZURE_NAME = {}  # "East US" of the coefficient file -> eastus
CONTINENT_WORDS = {"europe": "AUT BEL BGR CHE CYP CZE DEU DNK ESP EST FIN FRA GBR GRC HRV HUN IRL ISL ITA LTU LUX LVA NLD NOR POL PRT ROU RUS SRB SVK SVN SWE UKR TUR".split(),
                   "north-america": "USA CAN MEX".split(), "south-america": "ARG BRA CHL COL ECU PER URY".split(), "oceania": "AUS NZL".split(),
                   "africa": "ZAF EGY KEN MAR NGA".split(), "asia": "JPN KOR IND SGP HKG TWN CHN IDN MYS THA VNM ISR ARE BHR QAT SAU PHL BGD KAZ PAK".split()}
CONTINENT = {code: name for name, codes in CONTINENT_WORDS.items() for code in codes}


def place(cloud, region):
    for pattern, (city, code) in PLACES.get(cloud, {}).items():
        if re.match(pattern, region):
            return city, code
    if cloud == "vast":
        parts = [part.strip() for part in region.split(",")]
        code = next((part for part in parts if part in A), None)
        state = parts[0] if len(parts[0]) > 2 and len(parts) > 2 else ""
        return (state if state.lower() not in COUNTRY else ""), A.get(code)
    return "", None


def carbon(cloud, region, city, code):
    """(g per kWh, year, source, confidence, why): GCP of the newest year, else the 2021 coefficients, else US state, else country."""
    flat = lambda text: re.sub(r"[^a-z0-9]", "", text.lower())
    own = [row for row in energy if row["kind"] == "grid_carbon" and row["provider"] == cloud and flat(row["region_code"]) == flat(region)]
    gcp = [row for row in own if row["source"].startswith("GoogleCloud")]
    ccf = [row for row in own if row["source"].startswith("cloud-carbon")]
    twin = []
    if not gcp and city:
        towns = {"Dublin": None, "Northern Virginia": "us-east4", "Virginia": "us-east4", "Oregon": "us-west1", "Ohio": "us-east5", "Iowa": "us-central1",
                 "Frankfurt": "europe-west3", "London": "europe-west2", "Paris": "europe-west9", "Tokyo": "asia-northeast1", "Osaka": "asia-northeast2",
                 "Seoul": "asia-northeast3", "Mumbai": "asia-south1", "Singapore": "asia-southeast1", "Sydney": "australia-southeast1",
                 "Melbourne": "australia-southeast2", "Montreal": "northamerica-northeast1", "Toronto": "northamerica-northeast2", "Milan": "europe-west8",
                 "Warsaw": "europe-central2", "Madrid": "europe-southwest1", "Zurich": "europe-west6", "Sao Paulo": "southamerica-east1",
                 "Santiago": "southamerica-west1", "Jakarta": "asia-southeast2", "Hong Kong": "asia-east2", "Tel Aviv": "me-west1", "Doha": "me-central1",
                 "Amsterdam": "europe-west4", "Dallas": "us-south1", "Los Angeles": "us-west2", "Stockholm": "europe-north2", "Helsinki": "europe-north1",
                 "Queretaro": "northamerica-south1"}
        if towns.get(city):
            twin = [row for row in energy if row["provider"] == "gcp" and row["region_code"] == towns[city] and row["source"].startswith("GoogleCloud")]
    for found, why in ((gcp, None), (twin, "same city in Google's table"), (ccf, None)):
        if found:
            row = newest(found)
            return row, why or row["notes"]
    if code == "USA" and city.lower() in STATES:
        return STATES[city.lower()], "state value, old (eGRID 2016)"
    if code in CARBON_COUNTRY:
        return CARBON_COUNTRY[code], "value of the country"
    if own:
        return newest(own), newest(own)["notes"]
    return None, None


def region_entry(cloud, region):
    city, code = place(cloud, region)
    row, why = carbon(cloud, region, city, code)
    pue = {}
    if cloud == "gcp":
        old = next(r for r in energy if r["provider"] == "google region fleet")
        pue = dict(re.findall(r"([a-z]+-[a-z]+\d) (1\.\d+)", old["source"]))
    power, sources, notes = POWER.get(code), {}, []
    if row:
        sources["carbon"] = f"{row['source']} ({row['year']})"
        if why:
            notes.append(why)
    if power:
        sources["electricity"] = f"{power['source'].split(' (')[0]} ({power['year']}, {power['confidence']}), business, {NAMES.get(code, code)}"
    if region in pue:
        sources["pue"] = "mlco2/impact data/impact.csv (2019)"
    return clean({"id": region, "location": city, "country": code, "continent": CONTINENT.get(code),
                  "carbon": quantity(row["value"], "g/kWh") if row else None, "pue": float(pue[region]) if region in pue else None,
                  "electricity": float(power["value"]) if power else None,
                  "source": sources.get("carbon") or "names of the offers", "as_of": row["year"].split("-")[-1] if row else None,
                  "confidence": confidence(row["confidence"]) if row else "memory", "notes": "; ".join(notes),
                  "sources": {k: v for k, v in sources.items() if k != "carbon"}})


def world_entry(code):
    row, power, home, sources = CARBON_COUNTRY.get(code), POWER.get(code), HOME_POWER.get(code), {}
    if power or home:
        best = power or home
        sources["electricity"] = f"{best['source'].split(' (')[0]} ({best['year']}, {best['confidence']}), {'business' if power else 'residential'}"
    notes = f"residential electricity {home['value']} USD/kWh ({home['year']}, {home['confidence']})" if home and power else None
    return clean({"id": code.lower(), "location": NAMES.get(code), "country": code, "continent": CONTINENT.get(code),
                  "carbon": quantity(row["value"], "g/kWh") if row else None,
                  "electricity": float((power or home)["value"]) if power or home else None,
                  "source": f"{row['source']} ({row['year']})" if row else sources["electricity"], "as_of": row["year"] if row else (power or home)["year"],
                  "confidence": confidence((row or power or home)["confidence"]), "notes": notes, "sources": sources})


def state_entry(row):
    power = POWER.get("USA")
    return clean({"id": "us-" + row["region_code"].lower(), "location": row["location"].title(), "country": "USA", "continent": "north-america",
                  "carbon": quantity(row["value"], "g/kWh"), "electricity": float(power["value"]) if power else None, "source": row["source"],
                  "as_of": row["year"], "confidence": confidence(row["confidence"]), "notes": row["notes"],
                  "sources": {"electricity": f"{power['source'].split(' (')[0]} ({power['year']}), United States"} if power else {}})


COMMENT = ["Regions of {cloud}: carbon intensity of the grid and the price of business electricity.",
           "carbon: Google's table of the newest year where the city is in it, else the 2021 coefficients of cloud-carbon-footprint, else",
           "the country's. country: ISO 3166 code. Absent = unknown."]


def write_regions():
    seen = defaultdict(set)
    for path in sorted(glob.glob(f"{data}/offers/*.yaml")):
        with open(path, encoding="utf-8") as file:
            document = yaml.load(file, Loader=yaml.CBaseLoader)
        for instance in document["instances"]:
            seen[document["cloud"]].update(price["region"] for price in instance.get("prices", []))
    for row in energy:  # regions with a carbon figure but no offer
        if row["kind"] == "grid_carbon" and row["provider"] in ("aws", "gcp", "coreweave", "ovh") and row["region_code"]:
            cloud = "ovhcloud" if row["provider"] == "ovh" else row["provider"]
            code = row["region_code"].upper() if cloud == "ovhcloud" else row["region_code"]
            if re.fullmatch(r"[A-Za-z0-9-]+", code):
                seen[cloud].add(code)
    for cloud in sorted(seen):
        write_file(f"{data}/regions/{cloud}.yaml", [line.format(cloud=cloud) for line in COMMENT], {"cloud": cloud, "as_of": "2026-08"}, "regions",
                   [region_entry(cloud, region) for region in sorted(seen[cloud])])
    codes = sorted(set(CARBON_COUNTRY) | set(POWER) | set(HOME_POWER))
    states = sorted((row for row in energy if row["provider"] == "us-state"), key=lambda row: row["region_code"])
    write_file(f"{data}/regions/world.yaml", [
        "Countries (ISO code) and US states (us-xx), for machines of one's own and clouds without carbon figures.",
        "electricity: business price where known, else residential."], {"cloud": "world", "as_of": "2026-08"}, "regions",
        [world_entry(code) for code in codes] + [state_entry(row) for row in states])


write_names()
write_clouds()
write_regions()
