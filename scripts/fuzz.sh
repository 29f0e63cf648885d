#!/usr/bin/env bash
# Runs every fuzz target of the packages given, one after the other; with TARGETS
# set, only those whose whole name it matches (an extended regular expression).
# usage: [TARGETS=REGEXP] fuzz.sh TIME PACKAGE...   (TIME as `go test -fuzztime` takes it)
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

duration=$1
shift
count=0
while read -r directory; do
	package=./${directory#"$ROOT"/}
	while read -r target; do
		[[ "$target" =~ ^(${TARGETS:-.*})$ ]] || continue
		say "fuzz: $package $target for $duration"
		# Minimising each new input may take a minute by default: all of the time.
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" -fuzzminimizetime 1s "$package" </dev/null
		count=$((count + 1))
	done < <(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$directory"/*_test.go)
done < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' "$@" | grep . || true)
if [[ $count == 0 ]]; then
	echo "error: no fuzz target matches ${TARGETS:-.*}" >&2
	exit 1
fi
say "fuzz: targets run: $count, no failure"
