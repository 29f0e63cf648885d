#!/usr/bin/env bash
# Tries the llm judges of A, B and C on the small real model: serves it on a free
# loopback port, sends hand-written steps through `stepgap serve`, twice, and once
# more with 50 KB of unrelated text beside each passage, and writes
# build/report/test-llm.json and the tables in docs/judges.md.
#
#   scripts/llm/test.sh [--price-in X --price-out Y ...]    flags of `stepgap trial`
#
# With STEPGAP_LLM_URL set (and STEPGAP_LLM_MODEL, STEPGAP_LLM_KEY) that endpoint is
# asked instead, and the docs stay as they are.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

here=$ROOT/scripts/llm
report=$BUILD/report
mkdir -p "$report"
own=()

if [[ -z ${STEPGAP_LLM_URL-} ]]; then
	own=(--docs "$ROOT/docs/judges.md")
	export STEPGAP_LLM_KEY=local STEPGAP_LLM_MODEL=qwen2.5-coder-1.5b
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	"$here/serve.sh" --fetch >/dev/null
	log=$report/llm-server.log
	"$here/serve.sh" --port "$port" >"$log" 2>&1 &
	server=$!
	trap 'kill "$server" 2>/dev/null || true' EXIT
	until STEPGAP_LLM_URL=$(awk '$1 == "ready" { print $2 }' "$log") && [[ -n $STEPGAP_LLM_URL ]]; do
		kill -0 "$server" 2>/dev/null || die "the model server ended: see $log, or try $here/serve.sh --port $port --verbose"
		sleep 0.5
	done
fi

# A fixed secret, so that a model at temperature 0 sees the same prompts in every
# trial; a busy core needs minutes for the first call of a stage.
export STEPGAP_SECRET=trial
"$BUILD/bin/stepgap" trial --twice --pad 50000 --out "$report/test-llm.json" "${own[@]}" "$@" -- \
	--llm-url "$STEPGAP_LLM_URL" --llm-model "${STEPGAP_LLM_MODEL:?names the model to ask for}" \
	--llm-logprobs 5 --llm-call-timeout 170s --budget 3m --cache-ttl 0
