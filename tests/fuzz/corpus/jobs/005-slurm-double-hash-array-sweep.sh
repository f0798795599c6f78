#!/bin/bash
#SBATCH -J embed-sweep
#SBATCH -p gpu_p            # general queue
#SBATCH --gres=gpu:1        # any card will do
##SBATCH --constraint=h100
##SBATCH --gres=gpu:8
#\SBATCH --time=00:05:00
#SBATCH -t 03:00:00
#SBATCH -c 8
#SBATCH --mem=40G
#SBATCH --array=0-11%4

RATES=(1e-5 2e-5 3e-5 5e-5)
RATE=${RATES[$((SLURM_ARRAY_TASK_ID % 4))]}
srun python run_glue.py --model_name_or_path distilbert-base-uncased \
    --task_name sst2 --max_seq_length 128 \
    --per_device_train_batch_size 32 --num_train_epochs 2 \
    --learning_rate "$RATE" --fp16 --dataloader_num_workers 6 --save_steps 1000
