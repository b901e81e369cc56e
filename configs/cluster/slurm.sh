#!/usr/bin/env bash
# One process a node, all of its GPUs. Edit the lines with #SBATCH, then: sbatch configs/cluster/slurm.sh
#
# The folder that this is submitted from must be on a shared file system: all processes write the
# checkpoints. SLURM says who takes part; nothing is set here.
#SBATCH --job-name=gaia_jax
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=32
#SBATCH --time=24:00:00
#SBATCH --signal=TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=slurm-%j.log
set -euo pipefail

name=${NAME:-cluster}
python=${PYTHON:-.venv/bin/python}
cd "${SLURM_SUBMIT_DIR:-.}"

# A requeued job goes on with its own run; --signal=TERM@120 lets it write a checkpoint before.
what=(--config configs/h100.yaml "name=$name")
# A start that was lost before its first checkpoint leaves a folder; the next is NAME-2.
for run in "runs/$name" "runs/$name"-[0-9]*; do
  if compgen -G "$run/checkpoints/[0-9]*" >/dev/null; then what=(--resume "$run"); fi
done
# On GPUs JAX takes one device a task by default: all of the node's are named here.
devices=$(seq -s, 0 $((${SLURM_GPUS_ON_NODE:-1} - 1)))
export JAX_LOCAL_DEVICE_IDS=$devices
srun --kill-on-bad-exit=1 "$python" -m training.train "${what[@]}" "$@"
