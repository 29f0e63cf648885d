#!/usr/bin/env bash
# Prints the path of a tar file with a minimal Debian system, made by debootstrap:
# the base of test images on a machine that can pull none. Needs root.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

suite=bookworm

make_base() {
	local out=$1 system
	[[ $(id -u) == 0 ]] || die "debootstrap needs root"
	system=$(mktemp -d)
	# shellcheck disable=SC2064 # the path as it is now
	trap "rm -rf --one-file-system '$system'" EXIT
	# busybox stands for the wget of Alpine's images, which asks NATS for its health.
	debootstrap --variant=minbase --include=busybox "$suite" "$system" >"$out/debootstrap.log" ||
		{ tail -n 20 "$out/debootstrap.log" >&2 && return 1; }
	tar -C "$system" --numeric-owner --one-file-system -cf "$out/base.tar" \
		--exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' --exclude='./var/log/*' \
		--exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/info/*' \
		--exclude='./usr/share/locale/*' --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' .
}

key=$(printf '%s\n' "$(platform)" "$suite" "$(hash_files scripts/image-base.sh)" | hash_of)
echo "$(ensure_part image-base "$key" make_base)/base.tar"
