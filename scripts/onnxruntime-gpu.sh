#!/usr/bin/env bash
# build/lib-gpu: ONNX Runtime's shared library with its CUDA provider, out of the
# wheel that native/onnxruntime-gpu/requirements.txt names by version and checksum (253 MB). It
# is for the CUDA image alone: `make setup` does not fetch it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

make_library() {
	local out=$1 wheels python name
	python=$("$ROOT/scripts/python-env.sh")
	wheels=$(mktemp -d)
	# shellcheck disable=SC2064 # the path as it is now
	trap "rm -rf '$wheels'" EXIT
	# The Python version is the wheel's, not this machine's: only the libraries are used.
	"$python" -m pip download --quiet --no-deps --require-hashes --only-binary=:all: \
		--implementation cp --python-version 3.11 --abi cp311 --platform manylinux_2_28_x86_64 \
		--dest "$wheels" --requirement "$ROOT/native/onnxruntime-gpu/requirements.txt"
	"$python" -m zipfile -e "$wheels"/onnxruntime_gpu-*.whl "$wheels/unpacked"
	# The providers are looked for beside the library. That of TensorRT is left out.
	cp "$wheels"/unpacked/onnxruntime/capi/libonnxruntime.so.* "$out/libonnxruntime.so"
	for name in shared cuda; do
		cp "$wheels/unpacked/onnxruntime/capi/libonnxruntime_providers_$name.so" "$out/"
	done
	cp "$wheels"/unpacked/onnxruntime/LICENSE "$out/LICENSE.onnxruntime"
	cp "$wheels"/unpacked/onnxruntime/ThirdPartyNotices.txt "$out/NOTICES.onnxruntime"
}

[[ $(platform) == x86_64 ]] || die "ONNX Runtime's wheel with CUDA is there for x86-64 alone"
key=$(printf '%s\n' "$(hash_files native/onnxruntime-gpu scripts/onnxruntime-gpu.sh)" | hash_of)
folder=$(ensure_part onnxruntime-gpu "$key" make_library)
install_part onnxruntime-gpu "$folder" "$BUILD/lib-gpu"
