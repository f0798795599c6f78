#!/bin/bash
#SBATCH -J ner
#SBATCH --gres=gpu:1
#SBATCH -C "[v100|a100]"
#SBATCH -c 8
#SBATCH --mem=64G
#SBATCH -t 4:00:00
srun python run_ner.py --model_name_or_path roberta-base --bf16 True --per_device_train_batch_size 32 --max_seq_length 256 --max_steps 3000 --save_steps 500
