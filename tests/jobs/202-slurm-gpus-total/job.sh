#!/bin/bash
#SBATCH --job-name=opt-sft
#SBATCH -N 2
#SBATCH --gpus=16
#SBATCH --gpus-per-node=a100:8
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=64
#SBATCH --mem=0
#SBATCH -t 0-12:30
#SBATCH -C infiniband
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
GPUS=8
srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=$GPUS \
    --rdzv_id=$SLURM_JOB_ID --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:29400 \
    sft.py --model_name_or_path facebook/opt-6.7b --fsdp "full_shard auto_wrap" --bf16 True \
    --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --gradient_checkpointing True \
    --max_seq_length 2048 --max_steps 1000 --save_steps 200
