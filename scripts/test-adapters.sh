#!/usr/bin/env bash
# Tests the SDK's adapters against the trainers' real packages, on CPU, with the real
# program (STEPGAP_BIN). The packages (0.9 GB, once) go into the cache. Arguments go to
# pytest.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

requirements=sdk/python/tests/adapters/requirements.txt
without_cuda=bench/nli/without_cuda.py

make_environment() {
	python3 -m venv "$1"
	# A few small packages have no wheels, so sources are allowed.
	"$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		--requirement "$ROOT/$requirements"
	"$1/bin/python" "$ROOT/$without_cuda" "$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
	"$1/bin/python" -c 'import torch' || die "torch can't be imported without CUDA's libraries"
}

"$ROOT/scripts/require.sh" python3 cc
for tool in nm:binutils readelf:binutils; do
	command -v "${tool%:*}" >/dev/null || die "${tool%:*} is missing: apt-get install ${tool#*:}"
done
python3 -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' ||
	die "the trainers' packages need Python 3.11 or 3.12, and python3 is $(python3 --version)"
# A virtual environment belongs to one interpreter, so that is part of the key.
interpreter=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable), sys.version)')
key=$(printf '%s\n' "$interpreter" "$(hash_files $requirements $without_cuda scripts/test-adapters.sh)" | hash_of)
folder=$(ensure_part adapters-env "$key" make_environment)

cd "$ROOT/sdk/python"
# Nothing is fetched, and nothing is written beside the sources. The trainers warn of
# things that are theirs.
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=src
"$folder/bin/python" -m pytest -p no:cacheprovider -W default tests/adapters "$@"
