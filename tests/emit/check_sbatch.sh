#!/bin/sh
# Slurm scripts as Slurm reads them: sbatch --test-only against a slurmctld of the test's own, whose nodes have the cards
# that the scripts ask for. usage: check_sbatch.sh PROGRAM; last line "N passed, N failed".
program=$(realpath "$1")
passed=0
failed=0
if ! command -v slurmctld >/dev/null 2>&1 || ! command -v sbatch >/dev/null 2>&1; then
    echo "# skipped: needs slurmctld and sbatch (apt-get install slurm-wlm)"
    echo "0 passed, 0 failed"
    exit 0
fi
folder=$(mktemp -d)
controller=
cleanup() {
    [ -z "$controller" ] || kill "$controller" 2>/dev/null
    rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder" || exit 1
mkdir state spool

emit() { # name, arguments
    name=$1
    shift
    "$program" emit slurm "$@" -o "$name.job" 2>"$name.err" && return 0
    failed=$((failed + 1))
    echo "not ok - emit slurm $*: $(cat "$name.err")"
}
llm="--model llama-3.1-8b --method finetune --tokens 500M"
# shellcheck disable=SC2086 # words
{
    emit h100x2 $llm --on gcp/a3-highgpu-8g:2
    emit p5x4 $llm --on aws/p5.48xlarge:4 --stack megatron
    emit spot $llm --on aws/p4de.24xlarge:2+spot
    emit deepspeed $llm --on aws/p5.48xlarge:2 --stack deepspeed
    emit peft --model mistral-7b --method lora --tokens 50M --on h100-sxm5-80gb:4 --stack peft
    emit rtx --model llama-3.1-8b --method qlora --tokens 20M --on rtx-3090:1
    emit mi300x $llm --on mi300x:8
    emit gaudi $llm --on gaudi3:8
    emit cnn --model resnet50 --dataset imagenet-1k --epochs 90 --on l4:1
    emit cpu --model xgboost --dataset higgs --on aws/m7i.4xlarge
    emit long --model llama-3.1-8b --method pretrain --tokens 200B --on h100-sxm5-80gb:8
}
printf 'emit: {partition: gpu, account: team, qos: normal, constraint: "fast&ib", modules: [cuda/12.8], container: apptainer}\n' >.accelpick.yaml
# shellcheck disable=SC2086
emit settings $llm --on h100-sxm5-80gb:8
rm .accelpick.yaml

# One group of nodes for every kind of card; cloud nodes need no daemon, and their cards are believed.
types=$(sed -n 's/^#SBATCH --gres=gpu:\([^:]*\):.*/\1/p' ./*.job | sort -u)
port=$((17000 + $$ % 2000))
{
    cat <<CONF
ClusterName=try
SlurmctldHost=$(hostname)
SlurmctldPort=$port
SlurmUser=$(id -un)
AuthType=auth/none
CryptoType=crypto/none
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/ctld.pid
SlurmctldLogFile=$folder/ctld.log
SwitchType=switch/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
GresTypes=gpu
ReturnToService=2
ResumeProgram=/bin/true
SuspendProgram=/bin/true
SuspendTime=300
ResumeTimeout=60
SuspendTimeout=5
CONF
    number=0
    for type in cpu $types; do
        gres=
        [ "$type" = cpu ] || gres="Gres=gpu:$type:8"
        echo "NodeName=n$number-[1-8] CPUs=256 RealMemory=2000000 $gres Features=fast,ib State=CLOUD"
        [ "$type" = cpu ] || echo "NodeName=n$number-[1-8] Name=gpu Type=$type Count=8" >>gres.conf
        number=$((number + 1))
    done
    echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
    echo "PartitionName=gpu Nodes=ALL MaxTime=INFINITE State=UP"
} >slurm.conf
export SLURM_CONF="$folder/slurm.conf"
slurmctld -D -c >ctld.out 2>&1 &
controller=$!
tries=0
until scontrol ping 2>/dev/null | grep -q UP; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ] || ! kill -0 "$controller" 2>/dev/null; then
        echo "# skipped: slurmctld does not start here: $(tail -n 1 ctld.out)"
        echo "$passed passed, $failed failed"
        [ "$failed" -eq 0 ]
        exit
    fi
    sleep 0.1
done
for job in ./*.job; do
    if out=$(sbatch --test-only "$job" 2>&1) && printf '%s' "$out" | grep -q 'to start at'; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok - sbatch --test-only $job: $out"
        grep '^#SBATCH' "$job"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
