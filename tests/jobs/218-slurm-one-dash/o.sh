#!/bin/bash
#SBATCH -job-name=gpt
#SBATCH --gres=gpu:1
#SBATCH -c 8
#SBATCH --time=02:00:00
srun python train.py --model_name_or_path gpt2 --fp16 --max_steps 100 --save_steps 50
