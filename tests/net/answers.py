"""Answers in the shapes of the real price sources; every number is invented.

Shapes were read from the sources' documentation and from public fetchers, as the `source:` lines of data/providers say."""
import io
import json
import zipfile


def azure_item(sku, region, price, **more):
    item = {"currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": price, "unitPrice": price, "armRegionName": region,
            "location": region, "effectiveStartDate": "2026-01-01T00:00:00Z", "meterId": "00000000-0000-0000-0000-000000000000",
            "meterName": sku, "productId": "X", "skuId": "X/Y", "productName": "Virtual Machines Series", "skuName": sku,
            "serviceName": "Virtual Machines", "serviceId": "Z", "serviceFamily": "Compute", "unitOfMeasure": "1 Hour",
            "type": "Consumption", "isPrimaryMeterRegion": True, "armSkuName": sku}
    item.update(more)
    return item


H100 = "Standard_ND96isr_H100_v5"
A100 = "Standard_NC24ads_A100_v4"


def azure(items=None, link=None):
    if items is None:
        items = [azure_item(H100, "eastus", 91.5), azure_item(H100, "eastus", 40.25, skuName="ND96isr H100 v5 Spot"),
                 azure_item(A100, "westeurope", 4.75), azure_item(A100, "eastus", 3.25),
                 azure_item(A100, "eastus", 9.99, productName="Virtual Machines Series Windows"),
                 azure_item(A100, "eastus", 0.5, skuName="NC24ads A100 v4 Low Priority"),
                 azure_item(A100, "eastus", 17520.0, type="Reservation", reservationTerm="1 Year"),
                 azure_item("Standard_ND999_Future_v9", "eastus", 7.5),
                 azure_item("Standard_D4s_v9", "eastus", 0.2)]
    return {"BillingCurrency": "USD", "CustomerEntityId": "Default", "CustomerEntityType": "Retail", "Items": items,
            "NextPageLink": link, "Count": len(items)}


SKYPILOT_HEAD = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n"
SKYPILOT = {
    "aws": SKYPILOT_HEAD
    + "p5.48xlarge,H100,8.0,192.0,2048.0,\"{'Gpus': [{'Name': 'H100', 'Count': 8.0}]}\",55.5,22.5,us-east-1,us-east-1a\n"
    + "p5.48xlarge,H100,8.0,192.0,2048.0,\"{'Gpus': [{'Name': 'H100', 'Count': 8.0}]}\",55.5,20.5,us-east-1,us-east-1b\n"
    + "g6.xlarge,L4,1.0,4.0,16.0,,0.81,99999999,us-east-1,us-east-1a\n"
    + "t9.odd,NewChip9000,1.0,4.0,16.0,,1.5,,us-east-1,us-east-1a\n"
    + "m5.large,,,2.0,8.0,,0.1,0.03,us-east-1,us-east-1a\n",
    # The machine's price is without its chips; they are a row of their own.
    "gcp": SKYPILOT_HEAD
    + "a2-highgpu-1g,A100,1.0,12.0,85.0,,0.9,0.3,us-central1,us-central1-a\n"
    + ",A100,1.0,,,,2.75,1.1,us-central1,us-central1-a\n"
    + "a2-highgpu-2g,A100,2.0,24.0,170.0,,1.8,0.6,us-central1,us-central1-a\n",
    "lambda": "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region,AvailabilityZone,vCPUs,MemoryGiB,GpuInfo\n"
    + "gpu_1x_a10,A10,1.0,0.79,,us-east-1,,30.0,200.0,\n",
}

GPUHUNT = ("instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags,cpu_arch,provider_data\n"
           "p4d.24xlarge,us-east-1,31.5,96,1152,8,A100,40,False,,nvidia,,x86,\n"
           "p4d.24xlarge,us-east-1,12.5,96,1152,8,A100,40,True,,nvidia,,x86,\n")


def zipped(text, names=("aws.csv",)):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


OCI_PRODUCTS = {"items": [{"partNumber": "B98415", "displayName": "OCI - Compute - GPU - H100", "metricName": "GPU Per Hour",
                           "serviceCategory": "Compute - GPU",
                           "currencyCodeLocalizations": [{"currencyCode": "USD", "prices": [{"model": "PAY_AS_YOU_GO", "value": 9.5}]}]}]}
OCI_SHAPES = {"items": [{"name": "BM.GPU.H100.8", "hidden": False, "status": "ACTIVE", "allowPreemptible": False, "gpuQty": 8,
                         "gpuMemoryQty": 640, "bundleMemoryQty": 2048, "processorType": {"value": "nvidia"}, "subType": {"value": "gpu"},
                         "products": [{"type": {"value": "ocpu"}, "partNumber": "B98415", "qty": 8}]},
                        {"name": "VM.GPU.A10.1", "hidden": False, "status": "ACTIVE", "allowPreemptible": True, "gpuQty": 1,
                         "gpuMemoryQty": 24, "bundleMemoryQty": 240, "processorType": {"value": "nvidia"}, "subType": {"value": "gpu"},
                         "products": [{"type": {"value": "ocpu"}, "partNumber": "B00000", "qty": 1}]}]}

VULTR_1 = {"plans": [{"id": "vcg-a100-12c-120g-80vram", "type": "vcg", "hourly_cost": 2.4, "monthly_cost": 1600, "vcpu_count": 12,
                      "ram": 122880, "gpu_vram_gb": 80, "gpu_type": "NVIDIA_A100", "gpu_count": 1, "locations": ["ewr", "ams"]},
                     {"id": "vc2-1c-1gb", "type": "vc2", "hourly_cost": 0.007, "monthly_cost": 5, "vcpu_count": 1, "ram": 1024,
                      "locations": ["ewr"]}],
           "meta": {"total": 3, "links": {"next": "bmV4dA==", "prev": ""}}}
VULTR_2 = {"plans": [{"id": "vcg-a16-6c-64g-16vram", "type": "vcg", "hourly_cost": 0.47, "monthly_cost": 300, "vcpu_count": 6,
                      "ram": 65536, "gpu_vram_gb": 16, "gpu_type": "NVIDIA_A16", "gpu_count": 1, "locations": ["ewr"]},
                     {"id": "vcg-half", "type": "vcg", "hourly_cost": 0.25, "monthly_cost": 180, "vcpu_count": 3, "ram": 32768,
                      "gpu_vram_gb": 8, "gpu_type": "NVIDIA_A16", "gpu_count": "1/2", "locations": ["ewr"]}],
           "meta": {"total": 3, "links": {"next": "", "prev": ""}}}
VULTR_METAL = {"plans_metal": [], "meta": {"total": 0, "links": {"next": "", "prev": ""}}}

CLOUDRIFT = {"version": "2025-03-21", "data": {"instance_types": [
    {"name": "rtx49-7c-kn", "brand_short": "RTX 4090", "manufacturer": "NVIDIA",
     "variants": [{"name": "rtx49-7c-kn.1", "cost_per_hour": 39.0, "cpu_count": 8, "dram": 53687091200, "gpu_count": 1,
                   "vram": 25769803776, "nodes_per_dc": {"us-east-nc-nr-1": 3}}]}]}}

VAST = {"offers": [{"id": n, "gpu_name": "RTX 4090", "num_gpus": 1, "gpu_ram": 24564, "cpu_cores_effective": 16.0, "cpu_ram": 64000,
                    "dph_total": price, "min_bid": price / 2, "storage_cost": 0.1, "geolocation": "Town, NL", "reliability": 0.99,
                    "verification": "verified"} for n, price in enumerate([0.31, 0.35, 0.52])]}

RUNPOD = {"data": {"gpuTypes": [{"id": "NVIDIA H100 80GB HBM3", "displayName": "H100 SXM", "memoryInGb": 80, "maxGpuCount": 8,
                                 "securePrice": 2.99, "communityPrice": None, "secureSpotPrice": 1.5, "communitySpotPrice": None},
                                {"id": "unknown", "displayName": "unknown", "memoryInGb": 0, "maxGpuCount": None, "securePrice": 0,
                                 "communityPrice": 0, "secureSpotPrice": 0, "communitySpotPrice": 0}]}}

AWS = ('"FormatVersion","v1.0"\n"Disclaimer","for the test"\n"Publication Date","2026-01-01T00:00:00Z"\n"Version","20260101000000"\n'
       '"OfferCode","AmazonEC2"\n'
       '"SKU","OfferTermCode","TermType","PriceDescription","EffectiveDate","Unit","PricePerUnit","Currency","Instance Type","vCPU","GPU",'
       '"Operating System","Tenancy","CapacityStatus","Pre Installed S/W","MarketOption","Region Code"\n'
       '"A1","JRT","OnDemand","$98.32 per On Demand, Linux","2026-01-01","Hrs","98.3200000000","USD","p5.48xlarge","192","8","Linux",'
       '"Shared","Used","NA","OnDemand","us-east-1"\n'
       '"A2","JRT","OnDemand","$0.336 capacity block","2026-01-01","Hrs","0.3360000000","USD","p5.48xlarge","192","8","Linux","Shared",'
       '"Used","NA","CapacityBlock","us-east-1"\n'
       '"A3","JRT","OnDemand","dedicated","2026-01-01","Hrs","110.0000000000","USD","p5.48xlarge","192","8","Linux","Dedicated","Used",'
       '"NA","OnDemand","us-east-1"\n'
       '"A4","JRT","OnDemand","zero","2026-01-01","Hrs","0.0000000000","USD","g6.xlarge","4","1","Linux","Shared","Used","NA",'
       '"OnDemand","us-east-1"\n')

LAMBDA = {"data": {"gpu_8x_h100_sxm5": {"instance_type": {"name": "gpu_8x_h100_sxm5", "description": "8x H100 (80 GB SXM5)",
                                                          "gpu_description": "H100 (80 GB SXM5)", "price_cents_per_hour": 2392,
                                                          "specs": {"vcpus": 208, "memory_gib": 1800, "storage_gib": 22000, "gpus": 8}},
                                        "regions_with_capacity_available": [{"name": "us-south-1", "description": "Texas"}]},
                   "gpu_1x_a10": {"instance_type": {"name": "gpu_1x_a10", "description": "1x A10 (24 GB PCIe)", "gpu_description": "A10",
                                                    "price_cents_per_hour": 75,
                                                    "specs": {"vcpus": 30, "memory_gib": 200, "storage_gib": 1400, "gpus": 1}},
                                  "regions_with_capacity_available": []}}}
VERDA_TOKEN = {"access_token": "test-token-1", "expires_in": 3600, "token_type": "Bearer"}
VERDA = [{"instance_type": "1H100.80S.30V", "model": "H100", "price_per_hour": "2.29", "spot_price": "0.80",
          "gpu": {"description": "1x H100 SXM5 80GB", "number_of_gpus": 1}, "gpu_memory": {"size_in_gigabytes": 80},
          "cpu": {"number_of_cores": 30}, "memory": {"size_in_gigabytes": 120}}]
DIGITALOCEAN = {"sizes": [{"slug": "gpu-h100x1-80gb", "memory": 245760, "vcpus": 20, "price_hourly": 3.39, "regions": ["nyc2"],
                           "available": True, "gpu_info": {"count": 1, "model": "nvidia_h100", "vram": {"amount": 80, "unit": "gib"}}},
                          {"slug": "s-1vcpu-1gb", "memory": 1024, "vcpus": 1, "price_hourly": 0.009, "regions": ["nyc2"],
                           "available": True}],
                "links": {"pages": {}}, "meta": {"total": 2}}
HYPERSTACK = [{"id": 1, "name": "A100-80G-PCIe", "value": "1.35", "original_value": "1.35", "discount_applied": False}]
SHADEFORM = {"instance_types": [{"cloud": "massedcompute", "shade_instance_type": "A6000x2", "hourly_price": 110,
                                 "configuration": {"num_gpus": 2, "gpu_type": "A6000", "vram_per_gpu_in_gb": 48, "interconnect": "pcie"},
                                 "availability": [{"region": "desmoines-usa-1", "available": True}]}]}
PRIMEINTELLECT = {"items": [{"cloudId": "a", "gpuType": "H100_80GB", "socket": "SXM5", "provider": "hyperstack",
                             "region": "united_states", "gpuCount": 8, "gpuMemory": 640, "stockStatus": "High",
                             "prices": {"onDemand": 19.2, "communityPrice": None, "currency": "USD"}, "isSpot": False}],
                  "totalCount": 1}
CUDO = {"machineTypes": [{"dataCenterId": "no-luster-1", "machineType": "epyc-genoa-l40s", "gpuModel": "L40S", "minVcpu": 4,
                          "minMemoryGib": 8, "gpuPriceHr": {"value": "0.87"}, "vcpuPriceHr": {"value": "0.002"},
                          "memoryGibPriceHr": {"value": "0.003"}}]}
SCALEWAY = {"servers": {"H100-1-80G": {"hourly_price": 2.52, "gpu": 1, "ncpus": 24, "ram": 257698037760, "arch": "x86_64",
                                       "end_of_service": False}}}
OVH = {"locale": {"currencyCode": "EUR"}, "addons": [{"planCode": "h100-380.consumption", "pricings": [{"price": 280000000}]},
                                                     {"planCode": "storage.consumption", "pricings": [{"price": 1000}]}]}
ECB = ("KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE,OBS_STATUS\r\n"
       "EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-11-27,1.25,A\r\n")

GCP = {"skus": [
    {"skuId": "1", "description": "Nvidia Tesla A100 GPU running in Iowa", "category": {"resourceFamily": "Compute", "resourceGroup": "GPU",
                                                                                      "usageType": "OnDemand"},
     "serviceRegions": ["us-central1"], "pricingInfo": [{"pricingExpression": {"usageUnit": "h", "tieredRates": [
         {"startUsageAmount": 0, "unitPrice": {"currencyCode": "USD", "units": "2", "nanos": 900000000}}]}}]},
    {"skuId": "2", "description": "A2 Instance Core running in Iowa", "category": {"resourceFamily": "Compute", "resourceGroup": "CPU",
                                                                                 "usageType": "OnDemand"},
     "serviceRegions": ["us-central1"], "pricingInfo": [{"pricingExpression": {"usageUnit": "h", "tieredRates": [
         {"startUsageAmount": 0, "unitPrice": {"currencyCode": "USD", "units": "0", "nanos": 30000000}}]}}]},
    {"skuId": "3", "description": "A2 Instance Ram running in Iowa", "category": {"resourceFamily": "Compute", "resourceGroup": "RAM",
                                                                                "usageType": "OnDemand"},
     "serviceRegions": ["us-central1"], "pricingInfo": [{"pricingExpression": {"usageUnit": "GiBy.h", "tieredRates": [
         {"startUsageAmount": 0, "unitPrice": {"currencyCode": "USD", "units": "0", "nanos": 4000000}}]}}]}],
    "nextPageToken": ""}


def good(path, body=b""):
    """The answer of a healthy source to a path (without /SOURCE): (content type, bytes)."""
    source, rest = path.lstrip("/").split("/", 1)
    rest_path = rest.split("?")[0]
    as_json = {
        "azure": lambda: azure(), "oci": lambda: OCI_SHAPES if "shapes" in rest else OCI_PRODUCTS,
        "vultr": lambda: VULTR_METAL if "metal" in rest else VULTR_2 if "cursor=" in rest else VULTR_1,
        "cloudrift": lambda: CLOUDRIFT, "vast": lambda: VAST, "runpod": lambda: RUNPOD, "gcp": lambda: GCP,
        "lambda": lambda: LAMBDA, "verda": lambda: VERDA_TOKEN if "token" in rest else VERDA, "digitalocean": lambda: DIGITALOCEAN,
        "hyperstack": lambda: HYPERSTACK, "shadeform": lambda: SHADEFORM, "primeintellect": lambda: PRIMEINTELLECT, "cudo": lambda: CUDO,
        "scaleway": lambda: SCALEWAY, "ovh": lambda: OVH}
    if source in as_json:
        return "application/json", json.dumps(as_json[source]()).encode()
    if source == "ecb":
        return "text/csv", ECB.encode()
    if source == "aws":
        return "text/csv", AWS.encode()
    if source == "skypilot":
        cloud = rest_path.split("/")[-2]
        return ("text/plain", SKYPILOT[cloud].encode()) if cloud in SKYPILOT else None
    if source == "gpuhunt":
        return ("application/zip", zipped(GPUHUNT)) if "/aws/" in rest else None
    return None
