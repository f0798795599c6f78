#!/bin/bash
for LR in 1e-5 2e-5; do
sbatch <<EOF
#!/bin/bash
#SBATCH --job-name=lr-$LR
#SBATCH --gres=gpu:a100_40gb:1
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --time=03:00:00
srun python run_glue.py --model_name_or_path bert-large-cased --task_name qnli --bf16 True --max_seq_length 128 --per_device_train_batch_size 32 --num_train_epochs 3 --learning_rate $LR
EOF
done
