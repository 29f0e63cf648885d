#!/usr/bin/env bash
# All static checks. Every one runs, whatever the others found; the status is 1 if
# any found something. A check that cannot run here says so.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

failed=()

# check NAME COMMAND... runs one check and notes its failure.
check() {
	local name=$1
	shift
	say "lint: $name"
	"$@" || failed+=("$name")
}

# tool NAME ARGUMENT... runs a tool that tools/go.mod pins.
tool() { go tool -modfile=tools/go.mod "$@"; }

go_format() {
	local files unformatted
	mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.go')
	unformatted=$(gofmt -l "${files[@]}")
	[[ -z $unformatted ]] || {
		say "not gofmt'ed:"$'\n'"$unformatted"
		return 1
	}
}

shell_scripts() {
	if ! command -v shellcheck >/dev/null; then
		say "lint: shellcheck SKIPPED: not installed (apt-get install shellcheck)"
		return
	fi
	git ls-files -z -- "*.sh" .ci/run | xargs -0 shellcheck -x
}

# Status 3 is "vulnerabilities found"; other failures count unless the database of
# vulnerabilities could not be reached, which is nothing the code can mend.
known_vulnerabilities() {
	local output status=0
	output=$(tool govulncheck ./... 2>&1) || status=$?
	if [[ $status != 0 && $output == *"fetching vulnerabilities:"* ]]; then
		say "lint: govulncheck SKIPPED: its vulnerability database cannot be reached from here"
		say "    ${output##*$'\n'}"
		return
	fi
	say "$output"
	return "$status"
}

check "gofmt" go_format
check "go vet" go vet ./...
check "staticcheck" tool staticcheck ./...
check "shellcheck" shell_scripts
check "govulncheck" known_vulnerabilities

[[ ${#failed[@]} == 0 ]] || die "lint: found by: ${failed[*]}"
say "lint: clean"
