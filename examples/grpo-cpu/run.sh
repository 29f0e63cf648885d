#!/usr/bin/env bash
# Trains the small search agent under four kinds of rewards and writes
# build/report/grpo-cpu.json (.svg beside it). Arguments go to `python -m searchrl`.
# STEPGAP_DATA names the data set; without it our own few questions are taken.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"
export STEPGAP_BIN=${STEPGAP_BIN:-$root/build/bin/stepgap}
[[ -x $STEPGAP_BIN ]] || { echo "error: no program at $STEPGAP_BIN: make build, or give it as STEPGAP_BIN" >&2; exit 1; }
python=$(scripts/python-env.sh sdk/python/requirements.txt)
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/examples/grpo-cpu:$root/examples/agent:$root/sdk/python/src
exec "$python" -m searchrl "$@"
