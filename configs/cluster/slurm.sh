#!/usr/bin/env bash
# One process a node, all of its GPUs: sbatch configs/cluster/slurm.sh [key=value ...]
# Submit it from a folder on a shared file system: all processes write the checkpoints.
#SBATCH --job-name=gaia
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

cd "${SLURM_SUBMIT_DIR:-.}"
run=(--config "${CONFIG:-configs/h100.yaml}" "name=${NAME:=cluster}")
# A requeued job resumes its run; --signal=TERM@120 writes a checkpoint before.
for folder in "runs/$NAME" "runs/$NAME"-[0-9]*; do
  if compgen -G "$folder/checkpoints/[0-9]*" >/dev/null; then run=(--resume "$folder"); fi
done
# By default JAX gives each task one GPU.
JAX_LOCAL_DEVICE_IDS=$(seq -s, 0 $((${SLURM_GPUS_ON_NODE:-1} - 1)))
export JAX_LOCAL_DEVICE_IDS
srun --kill-on-bad-exit=1 "${GAIA:-gaia}" train "${run[@]}" "$@"
