#!/usr/bin/env bash
# Two processes on one machine, a first try: bash configs/cluster/two_terminals.sh [CONFIG] [key=value ...]
# On two machines each runs its own line, with HOST the name of the first.
set -euo pipefail

config=${1:-configs/quick.yaml}
shift || true
for id in 1 0; do
  "${GAIA:-gaia}" train --config "$config" \
    "hosts.coordinator=${HOST:-127.0.0.1}:${PORT:-29500}" hosts.processes=2 "hosts.process_id=$id" \
    run.cpu_devices=1 "$@" &
done
status=0
for job in $(jobs -p); do
  wait "$job" || status=$?
done
exit "$status"
