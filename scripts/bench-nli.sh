#!/usr/bin/env bash
# Measures the NLI worker beside its rivals and writes build/report/bench-nli.json and
# the tables in docs/bench-nli.md. The rivals' Python packages (0.9 GB, once) go into
# the cache.
#
#   scripts/bench-nli.sh --data FOLDER [--rounds 3 --pairs 700 ...]    flags of `stepgap bench-nli`
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

peers=bench/nli

make_environment() {
	python3 -m venv "$1"
	"$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
		--require-hashes --only-binary=:all: --requirement "$ROOT/$peers/requirements.txt"
	"$1/bin/python" "$ROOT/$peers/without_cuda.py" "$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
	"$1/bin/python" -c 'import torch' || die "torch can't be imported without CUDA's libraries"
}

"$ROOT/scripts/require.sh" python3 cc
for tool in nm:binutils readelf:binutils taskset:util-linux; do
	command -v "${tool%:*}" >/dev/null || die "${tool%:*} is missing: apt-get install ${tool#*:}"
done
python3 -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' ||
	die "the rivals need Python 3.11 or 3.12 (Infinity takes no numpy 2), and python3 is $(python3 --version)"
# A virtual environment belongs to one interpreter, so that is part of the key.
interpreter=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable), sys.version)')
key=$(printf '%s\n' "$interpreter" "$(hash_files $peers/requirements.txt $peers/without_cuda.py scripts/bench-nli.sh)" | hash_of)
environment=$(ensure_part bench-nli "$key" make_environment)
mkdir -p "$BUILD/report"
exec "$BUILD/bin/stepgap" bench-nli --python "$environment/bin/python" --peers "$ROOT/$peers" \
	--out "$BUILD/report/bench-nli.json" --docs "$ROOT/docs/bench-nli.md" "$@"
