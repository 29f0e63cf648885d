#!/usr/bin/env bash
# Everything that building and testing need, in build/: the native libraries, the
# default NLI model, and the Go modules in Go's own cache. What is there already is
# not made again, and then no network is needed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

here=$ROOT/scripts

go_modules() {
	local note=$BUILD/.parts/go-modules sums
	sums=$(hash_files go.mod go.sum)
	if [[ -f $note && $(<"$note") == "$sums" ]]; then
		return
	fi
	(cd "$ROOT" && go mod download)
	mkdir -p "${note%/*}"
	echo "$sums" >"$note"
}

platform >/dev/null
# All that is missing is named at once, before any of the long work.
mapfile -t tools < <(
	"$here/tokenizers.sh" tools
	"$here/onnxruntime.sh" tools
	"$here/nli-model.sh" tools
	"$here/python-tokenizers.sh" tools
	"$here/python-metrics.sh" tools
)
mapfile -t tools < <(printf '%s\n' "${tools[@]}" | sort -u | grep .)
"$here/require.sh" git make cc go "${tools[@]}"

go_modules
# The tokenizer keeps the processor busy while the wheels come over the network.
"$here/tokenizers.sh" &
tokenizers=$!
status=0
"$here/onnxruntime.sh" && "$here/nli-model.sh" && "$here/python-tokenizers.sh" && "$here/python-metrics.sh" || status=$?
wait "$tokenizers" || status=$?
exit "$status"
