#!/bin/bash
xpk workload create --cluster=c1 --zone=us-central2-b --project=acme --workload=w --docker-image=gcr.io/acme/m:1 \
  --tpu-type=v5litepod-64 --num-slices=2 \
  --command="python3 -m MaxText.train MaxText/configs/base.yml model_name=gemma-7b per_device_batch_size=1 max_target_length=2048 ici_fsdp_parallelism=64 dcn_data_parallelism=2 steps=100"
