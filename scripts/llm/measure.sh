#!/usr/bin/env bash
# Measures the llm judges of A, B and C on the small real model: serves it on a free
# loopback port, asks every hand-written item of the three stages, writes one JSON
# report a stage and renews the table in docs/judges.md.
#
#   scripts/llm/measure.sh [REPORTS]        (default: build/report/llm)
#
# With STEPGAP_LLM_URL set (and STEPGAP_LLM_MODEL, STEPGAP_LLM_KEY) that endpoint is
# asked instead, and the docs stay as they are.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

here=$ROOT/scripts/llm
reports=$(realpath -m "${1:-$BUILD/report/llm}")
mkdir -p "$reports"
own=

if [[ -z ${STEPGAP_LLM_URL-} ]]; then
	own=yes
	export STEPGAP_LLM_KEY=local STEPGAP_LLM_MODEL=qwen2.5-coder-1.5b
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	"$here/serve.sh" --fetch >/dev/null
	log=$reports/server.log
	"$here/serve.sh" --port "$port" >"$log" 2>&1 &
	server=$!
	trap 'kill "$server" 2>/dev/null || true' EXIT
	until STEPGAP_LLM_URL=$(awk '$1 == "ready" { print $2 }' "$log") && [[ -n $STEPGAP_LLM_URL ]]; do
		kill -0 "$server" 2>/dev/null || die "the model server ended: see $log, or try $here/serve.sh --port $port --verbose"
		sleep 0.5
	done
	export STEPGAP_LLM_URL
fi

cd "$ROOT"
status=0
STEPGAP_LLM_REPORT=$reports go test -count=1 -p 1 -v -timeout 60m -run '^TestLLM_Real$' \
	./services/entity-check ./services/abstain-check ./services/quote-extract || status=$?
docs=()
[[ -z $own ]] || docs=(--docs "$ROOT/docs/judges.md")
python3 "$here/table.py" "$reports" "${docs[@]}"
exit "$status"
