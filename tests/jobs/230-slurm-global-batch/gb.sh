#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --gres=gpu:a100_80gb:8
#SBATCH --cpus-per-task=64
#SBATCH --time=48:00:00
srun torchrun --standalone --nproc_per_node=8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 \
  --tensor-model-parallel-size 2 --micro-batch-size 4 \
  --global-batch-size 100 --train-iters 1000 --bf16 --save /c --save-interval 100
