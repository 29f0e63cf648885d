#!/usr/bin/env bash
# Runs a command in a network namespace of its own, where only loopback is up, to
# show that it needs no network. Any request for a Go module is an error.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -gt 0 ]] || die "usage: offline.sh COMMAND [ARGUMENT...]"
for tool in unshare ip; do
	command -v "$tool" >/dev/null || die "offline.sh needs $tool (apt-get install util-linux iproute2)"
done
unshare --map-root-user --net true 2>/dev/null ||
	die "this machine does not let its users make network namespaces (kernel.unprivileged_userns_clone)"

export GOPROXY=off GOFLAGS=-mod=readonly GOTOOLCHAIN=local
# shellcheck disable=SC2016 # expanded by the inner shell
exec unshare --map-root-user --net bash -c '
	ip link set lo up
	if [[ $(ip -o link show up | grep -vc ": lo:") != 0 ]]; then
		echo "error: a network is up" >&2
		exit 1
	fi
	echo "network: loopback only" >&2
	exec "$@"' offline "$@"
