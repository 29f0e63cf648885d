# shellcheck shell=bash
# Shared by the scripts beside it: messages, the platform, the cache of parts.
#
# A part is something a script makes or fetches once for a machine (a library, a
# model). It lives in <cache>/<part>/<hash of its inputs>/, is made in a temporary
# folder and renamed into place, so a part that is there is whole; a lock per part
# keeps two checkouts from making it twice.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$ROOT/build
CACHE=${STEPGAP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stepgap}

say() { printf '%s\n' "$*" >&2; }

die() {
	say "error: $*"
	exit 1
}

# platform prints x86_64 or aarch64, the two machines StepGap is built for.
platform() {
	local system machine
	system=$(uname -s) machine=$(uname -m)
	case $system/$machine in
	Linux/x86_64 | Linux/amd64) echo x86_64 ;;
	Linux/aarch64 | Linux/arm64) echo aarch64 ;;
	*) die "StepGap builds on x86-64 and arm64 Linux, not on $system/$machine; elsewhere use the container image" ;;
	esac
}

# hash_of prints a short hash of its standard input.
hash_of() { sha256sum | cut -c1-16; }

# hash_files prints a short hash of the contents and names of the files and folders
# given, relative to the project's root. Documentation changes no part.
hash_files() {
	(cd "$ROOT" && find "$@" -type f ! -name '*.pyc' ! -name '*.md' -print0 |
		LC_ALL=C sort -z | xargs -0 sha256sum) | hash_of
}

# in_cache PART KEY tells whether the part is made already.
in_cache() { [[ -d $CACHE/$1/$2 ]]; }

# ensure_part PART KEY MAKER prints the folder of the part, which MAKER (a function
# given an empty folder to fill) makes if it is not there yet.
ensure_part() {
	local part=$1 key=$2 maker=$3 home=$CACHE/$1 started=$SECONDS
	if ! in_cache "$part" "$key"; then
		mkdir -p "$home"
		exec 9>"$home/.lock"
		flock 9
		if ! in_cache "$part" "$key"; then
			say "$part: not in the cache, making it in $home/$key"
			rm -rf "$home"/.making.*
			local making status=0
			making=$(mktemp -d "$home/.making.XXXXXX")
			# Not `( ... ) || die`: that would switch errexit off inside the maker.
			set +e
			(
				set -euo pipefail
				exec 9>&-
				"$maker" "$making"
			) >&2
			status=$?
			set -e
			if [[ $status != 0 ]]; then
				rm -rf "$making"
				die "$part: could not be made (the reason is above); the first time, this needs the network"
			fi
			chmod -R a+rX "$making"
			mv "$making" "$home/$key"
			say "$part: made in $((SECONDS - started)) s"
		fi
		exec 9>&-
	fi
	echo "$home/$key"
}

# tools_for PART KEY TOOL... prints the tools if the part has still to be made.
tools_for() {
	local part=$1 key=$2
	shift 2
	in_cache "$part" "$key" || printf '%s\n' "$@"
}

# install_part PART FOLDER TARGET puts the files of FOLDER under TARGET, by hard
# link where it can, and notes which part is there.
install_part() {
	local part=$1 folder=$2 target=$3 note=$BUILD/.parts/$1
	if [[ -f $note && $(<"$note") == "$folder" ]] && holds_all "$folder" "$target"; then
		return
	fi
	mkdir -p "$target" "${note%/*}"
	cp -a --remove-destination --link "$folder/." "$target/" 2>/dev/null ||
		cp -a --remove-destination "$folder/." "$target/"
	echo "$folder" >"$note"
	say "$part: in ${target#"$ROOT"/}"
}

# holds_all FOLDER TARGET tells whether TARGET has a file for each one in FOLDER.
holds_all() {
	local file
	for file in "$1"/*; do
		[[ -e $2/${file##*/} ]] || return 1
	done
}
