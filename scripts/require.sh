#!/usr/bin/env bash
# Checks that the tools set-up needs are there, and names each that is missing
# with a way to get it. Run with the tools' names, or with none for all of them.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

missing=0

# lack TOOL WHY HOW reports one missing tool.
lack() {
	say "missing: $1 ($2)"
	say "    get it: $3"
	missing=1
}

# at_least VERSION WANTED tells whether VERSION is not older than WANTED.
at_least() { printf '%s\n%s\n' "$2" "$1" | LC_ALL=C sort -C -V; }

# have TOOL tells whether TOOL is on the path and runs.
have() { command -v "$1" >/dev/null 2>&1; }

check() {
	local version
	case $1 in
	git) have git || lack git "the version stamp" "apt-get install git" ;;
	make) have make || lack make "the entry points" "apt-get install make" ;;
	cc)
		have cc || lack cc "cgo and the C parts of the tokenizer" "apt-get install gcc libc6-dev"
		have c++ || lack c++ "the Go tokenizer package links libstdc++" "apt-get install g++"
		;;
	go)
		local how="https://go.dev/dl: tar -C /usr/local -xzf go1.26.*.linux-*.tar.gz, then add /usr/local/go/bin to PATH"
		if ! have go; then
			lack go "version 1.26 or newer" "$how"
			return
		fi
		# GOTOOLCHAIN=local: what is installed, not what it would download.
		version=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
		at_least "${version#go}" 1.26 || lack go "version 1.26 or newer, found ${version#go}" "$how"
		;;
	cargo)
		local how="https://rustup.rs: curl -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal"
		if ! have cargo || ! have rustc; then
			lack cargo "Rust 1.82 or newer, builds libtokenizers.a" "$how"
			return
		fi
		version=$(rustc --version | cut -d' ' -f2)
		at_least "$version" 1.82 || lack cargo "Rust 1.82 or newer, found $version" "$how"
		;;
	python3)
		if ! have python3; then
			lack python3 "version 3.9 or newer, builds the NLI model" "apt-get install python3 python3-venv"
			return
		fi
		version=$(python3 -c 'import platform; print(platform.python_version())')
		at_least "$version" 3.9 || lack python3 "version 3.9 or newer, found $version" "apt-get install python3 python3-venv"
		python3 -c 'import ensurepip, venv' 2>/dev/null ||
			lack "python3 venv" "fetches the wheels" "apt-get install python3-venv"
		;;
	*) die "require.sh: no such tool: $1" ;;
	esac
}

platform >/dev/null
[[ $# -gt 0 ]] || set -- git make cc go cargo python3
for tool in "$@"; do
	check "$tool"
done
[[ $missing == 0 ]] || die "install what is missing and run the command again"
