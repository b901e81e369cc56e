#!/usr/bin/env bash
# Two processes on one machine, for a first try: each would stand in a terminal of its own.
#
#   bash configs/cluster/two_terminals.sh [CONFIG] [key=value ...]
#
# On two machines: HOST is the first one's name, and each runs its own line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

python=${PYTHON:-.venv/bin/python}
host=${HOST:-127.0.0.1}
port=${PORT:-29500}
config=${1:-configs/quick.yaml}
shift || true

for id in 1 0; do
  "$python" -m training.train --config "$config" \
    "hosts.coordinator=$host:$port" hosts.processes=2 "hosts.process_id=$id" \
    run.cpu_devices=1 "$@" &
done
status=0
for job in $(jobs -p); do
  wait "$job" || status=$?
done
exit "$status"
