#!/usr/bin/env bash
# build/lib/libonnxruntime.so: ONNX Runtime's shared library, out of the wheel that
# native/onnxruntime/requirements.txt names by version and checksum.
# With the argument `tools` it prints what it would need beyond Go and a C compiler.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

make_library() {
	local out=$1 wheels python library
	python=$("$ROOT/scripts/python-env.sh")
	wheels=$(mktemp -d)
	# shellcheck disable=SC2064 # the path as it is now
	trap "rm -rf '$wheels'" EXIT
	# The Python version is the wheel's, not this machine's: only the library is used.
	"$python" -m pip download --quiet --no-deps --require-hashes --only-binary=:all: \
		--implementation cp --python-version 3.11 --abi cp311 --platform "manylinux_2_28_$(platform)" \
		--dest "$wheels" --requirement "$ROOT/native/onnxruntime/requirements.txt"
	"$python" -m zipfile -e "$wheels"/onnxruntime-*.whl "$wheels/unpacked"
	cp "$wheels"/unpacked/onnxruntime/capi/libonnxruntime.so.* "$out/"
	for library in "$out"/libonnxruntime.so.*; do
		ln -s "${library##*/}" "$out/libonnxruntime.so"
	done
	cp "$wheels"/unpacked/onnxruntime/LICENSE "$out/LICENSE.onnxruntime"
	cp "$wheels"/unpacked/onnxruntime/ThirdPartyNotices.txt "$out/NOTICES.onnxruntime"
}

key=$(printf '%s\n' "$(platform)" "$(hash_files native/onnxruntime scripts/onnxruntime.sh)" | hash_of)
if [[ ${1:-} == tools ]]; then
	tools_for onnxruntime "$key" python3
	exit
fi
folder=$(ensure_part onnxruntime "$key" make_library)
install_part onnxruntime "$folder" "$BUILD/lib"
