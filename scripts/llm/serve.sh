#!/usr/bin/env bash
# Serves the small real instruct model on the loopback address, fetching model and
# runtime into the cache first: a real OpenAI-compatible endpoint to try the judges
# on, far below a production model.
#
#   scripts/llm/serve.sh --port 8080 [--threads 1] [--slots 1] [--context 8192] [--verbose]
#   stepgap check --judge llm --llm-url http://127.0.0.1:8080/v1 --llm-model qwen2.5-coder-1.5b FILE
#
# `serve.sh --fetch` only fetches. With STEPGAP_LLM_KEY set, clients must send it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

here=$ROOT/scripts/llm

make_model() { python3 "$here/fetch.py" "$1"; }

make_runtime() {
	python3 -m venv "$1"
	"$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
		--require-hashes --only-binary=:all: --requirement "$here/requirements.txt"
}

"$ROOT/scripts/require.sh" python3
interpreter=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable), sys.version)')
runtime=$(ensure_part llm/runtime "$(printf '%s\n' "$interpreter" "$(hash_files scripts/llm/requirements.txt)" | hash_of)" make_runtime)
model=$(ensure_part llm/model "$(hash_files scripts/llm/fetch.py)" make_model)
if [[ ${1-} == --fetch ]]; then
	echo "$model/model.gguf"
	exit
fi
exec "$runtime/bin/python" "$here/serve.py" --model "$model/model.gguf" --name qwen2.5-coder-1.5b "$@"
