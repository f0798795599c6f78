#!/bin/bash
export PROJECT_ID="<your-project>"
export CLUSTER_NAME="<your-cluster>"
export ZONE=""
xpk workload create --project=$PROJECT_ID --cluster=$CLUSTER_NAME --zone=$ZONE \
  --device-type=tpu7x-4x4x4 --num-slices=1 --workload=demo --docker-image=gcr.io/acme/maxtext:1 \
  --command="python3 -m MaxText.train base.yml model_name=llama3.1-8b per_device_batch_size=2 max_target_length=8192 steps=50"
