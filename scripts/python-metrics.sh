#!/usr/bin/env bash
# build/python-metrics: a Python environment with scikit-learn and scipy, which the
# tests hold the metrics and intervals of evaluations against.
# With the argument `tools` it prints what it would need beyond Go and a C compiler.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

link=$BUILD/python-metrics
if [[ ${1:-} == tools ]]; then
	[[ -x $link/bin/python ]] || echo python3
	exit
fi
python=$("$ROOT/scripts/python-env.sh" internal/eval/metrics/testdata/requirements.txt)
mkdir -p "$BUILD"
ln -sfn "${python%/bin/python}" "$link"
