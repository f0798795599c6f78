source $(dirname ${BASH_SOURCE[0]})/config_common.sh
export DGXSYSTEM=DGXH100
export DGXNNODES=8
export DGXNGPU=8
export BATCHSIZE=64
export GRADIENT_STEPS=1
export WALLTIME=$(( 30 + 15 ))
