#!/usr/bin/env bash
# build/lib/libtokenizers.a: the static library that the Go module
# github.com/daulet/tokenizers links, built by cargo from the module's own source
# with the manifest and lock file in native/tokenizers.
# With the argument `tools` it prints what it would need beyond Go and a C compiler.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

module=github.com/daulet/tokenizers

make_library() {
	local out=$1 work source
	"$ROOT/scripts/require.sh" cc go cargo
	source=$(cd "$ROOT" && go mod download -json "$module@$version" |
		sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
	[[ -f $source/src/lib.rs ]] || die "go mod download gave no source for $module@$version"
	work=$(mktemp -d)
	# shellcheck disable=SC2064 # the path as it is now
	trap "rm -rf '$work'" EXIT
	cp -R "$ROOT/native/tokenizers/." "$work"
	ln -s "$source" "$work/module"
	# Flags of the caller's that would make another library than the locked one.
	env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS -u CARGO_BUILD_TARGET -u CARGO_TARGET_DIR \
		cargo build --quiet --release --locked --manifest-path "$work/Cargo.toml" --target-dir "$work/target"
	cp "$work/target/release/libtokenizers.a" "$out/"
}

version=$(sed -n "s|^.*$module \(v[^ ]*\).*$|\1|p" "$ROOT/go.mod")
[[ -n $version ]] || die "go.mod does not require $module"
sum=$(grep "^$module $version h1:" "$ROOT/go.sum") || die "go.sum has no checksum for $module $version"
key=$(printf '%s\n' "$(platform)" "$sum" "$(hash_files native/tokenizers scripts/tokenizers.sh)" | hash_of)
if [[ ${1:-} == tools ]]; then
	tools_for tokenizers "$key" cargo
	exit
fi
folder=$(ensure_part tokenizers "$key" make_library)
install_part tokenizers "$folder" "$BUILD/lib"
