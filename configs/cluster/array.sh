#!/usr/bin/env bash
# Games in parts, a part for each task of a job array; what is there is gone on with:
#
#   sbatch --array=0-15 configs/cluster/array.sh arena runs/arena 100000 --agents random,greedy,A,B
#   sbatch --array=0-15 configs/cluster/array.sh evaluate runs/parts 100000 runs/quick --opponent greedy
#   sbatch --array=0-15 configs/cluster/array.sh labels runs/labels 16384 --chunks 60
#
# Then one command, for example: python -m training.merge runs/arena.csv runs/arena/*.csv --json arena.json
# A part alone: TASKS=16 sbatch --array=5 configs/cluster/array.sh ...
# Without SLURM: SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=4 bash configs/cluster/array.sh ...
#SBATCH --job-name=gaia_jax_games
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=slurm-%A-%a.log
set -euo pipefail

what=$1 folder=$2 games=$3
shift 3
python=${PYTHON:-.venv/bin/python}
task=${SLURM_ARRAY_TASK_ID:-0}
tasks=${TASKS:-${SLURM_ARRAY_TASK_COUNT:-1}}
if ((task >= tasks)); then
  echo "task $task of $tasks: set TASKS to the size of the whole array" >&2
  exit 2
fi
cd "${SLURM_SUBMIT_DIR:-.}"
mkdir -p "$folder"

# A set-up is a game for each seat (OF=2 or OF=3 for two or three players, OF=1 with --rotations 1);
# a label's stream is of single games.
of=${OF:-4}
if [[ $what == labels ]]; then of=1; fi
setups=$(((games + of - 1) / of))
each=$(((setups + tasks - 1) / tasks))
first=$((task * each))
count=$((setups - first < each ? setups - first : each))
if ((count <= 0)); then
  echo "no games are left for task $task"
  exit 0
fi
part=$(printf '%s/part-%05d' "$folder" "$task")
case $what in
  arena) out=(--csv "$part.csv") file=$part.csv ;;
  evaluate) out=(--save "$part.parquet") file=$part.parquet ;;
  labels) out=(--out "$part") file= ;; # goes on by itself
  *)
    echo "wants arena, evaluate or labels, got $what" >&2
    exit 2
    ;;
esac
if [[ -n $file && -e $file ]]; then
  out+=(--resume)
fi
exec "$python" -m "training.$what" "$@" --first "$first" --games $((of * count)) "${out[@]}"
