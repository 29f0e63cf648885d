#!/usr/bin/env bash
# build/python-tokenizers: a Python environment with the tokenizers package, which
# the tests hold the encoding of pairs against.
# With the argument `tools` it prints what it would need beyond Go and a C compiler.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

link=$BUILD/python-tokenizers
if [[ ${1:-} == tools ]]; then
	[[ -x $link/bin/python ]] || echo python3
	exit
fi
python=$("$ROOT/scripts/python-env.sh" internal/nli/onnx/testdata/python/requirements.txt)
mkdir -p "$BUILD"
ln -sfn "${python%/bin/python}" "$link"
