#!/bin/bash
#SBATCH --gres=gpu:a100_80gb:4
#SBATCH --cpus-per-task=32
#SBATCH --mem=400G
#SBATCH --time=08:00:00
deepspeed --num_gpus=8 train.py --deepspeed ds.json --model_name_or_path bigscience/bloom-3b --per_device_train_batch_size 2 --max_steps 500 --save_steps 100
