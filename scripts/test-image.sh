#!/usr/bin/env bash
# Runs the image under deploy/compose.yaml: the example rollouts are published to
# a process a role, with one nli-worker and with two, and must come back as one
# process labels them. Exits 1 on any difference. `make test-compose` calls it.
#
# It takes the machine as it is: it installs Docker and Compose by apt-get if they
# are missing, and pulls no image. With no Docker daemon running it starts one for
# itself, in a network namespace and folder of its own, and leaves nothing of it.
#
#   BASE=IMAGE        base of the image; empty makes a minimal Debian
#   NATS_IMAGE=IMAGE  NATS server; empty builds the one that go.mod names
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

stepgap=$BUILD/bin/stepgap
# Three times over: a burst that is smaller than the workers of one replica may
# well go to that one alone.
example=$ROOT/examples/rollouts.jsonl
rollouts=("$example" "$example" "$example")
roles=(entity-check abstain-check quote-extract nli-worker reward-agg transcript-split gateway)
patience=600 # seconds for all services to be healthy; a busy machine is slow

# install_missing installs the Debian packages whose commands are missing.
install_missing() {
	local packages=()
	command -v docker >/dev/null || command -v dockerd >/dev/null || packages+=(docker.io)
	docker info >/dev/null 2>&1 || command -v dockerd >/dev/null || packages+=(docker.io iptables)
	docker info >/dev/null 2>&1 || command -v ip >/dev/null || packages+=(iproute2)
	docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null || packages+=(docker-compose)
	[[ -n ${BASE:-} ]] || command -v debootstrap >/dev/null || packages+=(debootstrap)
	[[ ${#packages[@]} -gt 0 ]] || return 0
	mapfile -t packages < <(printf '%s\n' "${packages[@]}" | sort -u)
	if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
		die "missing: ${packages[*]}; install them, or run this as root on Debian or Ubuntu"
	fi
	say "installing: ${packages[*]}"
	DEBIAN_FRONTEND=noninteractive apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${packages[@]}" >/dev/null
}

# timed NAME COMMAND... runs a command and prints how long it took.
timed() {
	local name=$1 started=$EPOCHREALTIME
	shift
	"$@"
	figure "$name" "$(awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }')"
}

figure() { printf '  %-44s %s\n' "$1" "$2"; }

compose() {
	local program=(docker-compose)
	! docker compose version >/dev/null 2>&1 || program=(docker compose)
	"${program[@]}" --project-name "$project" --file deploy/compose.yaml "$@"
}

start_daemon() {
	ip link set lo up
	export DOCKER_HOST=unix://$work/docker.sock
	dockerd --data-root "$work/data" --exec-root "$work/run" --pidfile "$work/docker.pid" \
		--host "$DOCKER_HOST" >"$work/dockerd.log" 2>&1 &
	daemon=$!
	for ((i = 0; i < patience; i++)); do
		! docker info >/dev/null 2>&1 || return 0
		kill -0 "$daemon" 2>/dev/null || break
		sleep 1
	done
	tail -n 20 "$work/dockerd.log" >&2
	die "the Docker daemon did not start"
}

# clean_up undoes everything, whatever was reached.
clean_up() {
	local status=$?
	set +e
	if [[ $status != 0 ]] && compose ps -q 2>/dev/null | grep -q .; then
		compose ps >&2
		compose logs --no-color --tail=40 >&2
	fi
	compose down --volumes --remove-orphans --timeout 5 >/dev/null 2>&1
	docker image rm --force "${images[@]}" >/dev/null 2>&1
	if [[ -n $daemon ]]; then
		kill "$daemon"
		wait "$daemon" 2>/dev/null
	fi
	rm -rf --one-file-system "$work"
	[[ -z $daemon ]] || rmdir /run/docker/plugins /run/docker 2>/dev/null # it makes them wherever it is told to live
	exit "$status"
}

build_images() {
	if [[ -z ${BASE:-} ]]; then
		BASE=$project-base
		images+=("$BASE")
		timed "base: import" import_base
	fi
	images+=("$STEPGAP_IMAGE")
	timed "image: build" make_image
	if [[ -z ${NATS_IMAGE:-} ]]; then
		export NATS_IMAGE=$project-nats
		images+=("$NATS_IMAGE")
		CGO_ENABLED=0 go build -trimpath -o "$work/nats/nats-server" github.com/nats-io/nats-server/v2
		docker build --quiet --file - --tag "$NATS_IMAGE" "$work/nats" >/dev/null 2>"$work/nats.log" <<-END
			FROM $BASE
			RUN ln -s /bin/busybox /usr/local/bin/wget
			COPY nats-server /usr/local/bin/
		END
	fi
	figure "image: size" "$(megabytes "$STEPGAP_IMAGE"), of which the base $(megabytes "$BASE")"
}

import_base() { docker import "$(scripts/image-base.sh)" "$BASE" >/dev/null; }

make_image() {
	make --no-print-directory image IMAGE="$STEPGAP_IMAGE" BASE="$BASE" >"$work/image.log" 2>&1 ||
		{ cat "$work/image.log" >&2 && return 1; }
}

megabytes() { docker image inspect --format '{{.Size}}' "$1" | awk '{ printf "%.0f MB", $1 / 1e6 }'; }

# healthy waits until every container is.
healthy() {
	local ids states i
	for ((i = 0; i < patience; i++)); do
		mapfile -t ids < <(compose ps -q)
		states=$(docker inspect --format '{{.State.Health.Status}}' "${ids[@]}")
		! grep -qv '^healthy$' <<<"$states" || { sleep 1 && continue; }
		return 0
	done
	die "not every service became healthy in $patience s"
}

bring_up() {
	compose up --detach "$@" >"$work/up.log" 2>&1 || { cat "$work/up.log" >&2 && return 1; }
	healthy
}

check() {
	"$stepgap" check --judge local --json --quiet "${rollouts[@]}" >"$work/check.jsonl" 2>"$work/check.log" ||
		{ cat "$work/check.log" >&2 && return 1; }
}

# publish NAME publishes the examples as a run of that name, and holds what comes
# back against what one process said: every field but the run's id.
publish() {
	local out=$work/$1.jsonl port
	port=$(compose port nats 4222)
	"$stepgap" publish --nats "nats://$port" --run "$1" --wait --json --quiet "${rollouts[@]}" >"$out" 2>"$work/$1.log" ||
		{ cat "$work/$1.log" >&2 && return 1; }
	diff <(without_run "$work/check.jsonl") <(without_run "$out") >&2 ||
		die "$1: the labels or rewards differ from those of one process (left: one process)"
}

without_run() { sed -E 's/^\{"run":"[^"]*",/{/' "$1"; }

labels_of() { grep -o '"label":"[a-z_]*"' "$1" | cut -d'"' -f4 | sort | uniq -c | awk '{ printf "%s%s %d", sep, $2, $1; sep = ", " }'; }

# handled CONTAINER prints how many messages its stages have handled.
handled() {
	local address
	address=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$1")
	exec 3<>"/dev/tcp/$address/8080"
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
	awk '/^stepgap_stage_messages_total/ { n += $NF } END { print n + 0 }' <&3
	exec 3>&-
}

replicas_worked() {
	local id n
	while read -r id; do
		n=$(handled "$id")
		figure "nli-worker replica ${id:0:12}: messages" "$n"
		[[ $n -gt 0 ]] || die "a replica of nli-worker did nothing"
	done < <(compose ps -q nli-worker)
}

# stops_clean stops everything: each role must end by itself, within its drain.
stops_clean() {
	local ids
	mapfile -t ids < <(compose ps -q "${roles[@]}")
	timed "stopping ${#ids[@]} roles" compose stop "${roles[@]}" 2>"$work/stop.log"
	docker inspect --format '{{index .Config.Labels "com.docker.compose.service"}} {{.State.ExitCode}} {{.RestartCount}}' "${ids[@]}" >"$work/exits"
	! grep -v ' 0 0$' "$work/exits" || die "a role was restarted or did not stop by itself (service, exit status, restarts above)"
}

[[ -x $stepgap ]] || die "no $stepgap: run \`make build\`, or this by \`make test-compose\`"
# The settings of whoever calls are not what is tested.
for name in ${!STEPGAP_@}; do
	[[ $name == STEPGAP_CACHE ]] || unset "$name"
done

if [[ ${1:-} != inside ]]; then
	install_missing
	[[ -n ${BASE:-} ]] || scripts/image-base.sh >/dev/null # while there is a network
	if ! docker info >/dev/null 2>&1; then
		[[ $(id -u) == 0 ]] || die "no Docker daemon answers: start one, or run this as root"
		exec unshare --net "${BASH_SOURCE[0]}" inside
	fi
fi
work=$(mktemp -d) project=stepgap-test-$$ daemon='' images=()
mkdir "$work/nats"
export STEPGAP_IMAGE=$project STEPGAP_NATS_PORT=0 STEPGAP_GATEWAY_PORT=0
trap clean_up EXIT
[[ ${1:-} != inside ]] || start_daemon

say "test-compose: the examples by a process a role, in containers"
build_images
timed "check in one process" check
figure "labels" "$(labels_of "$work/check.jsonl")"
timed "up: 8 services, healthy" bring_up
timed "publish, one nli-worker: the same" publish one-worker
timed "up: nli-worker scaled to 2" bring_up --scale nli-worker=2
timed "publish, two nli-workers: the same" publish two-workers
replicas_worked
docker stats --no-stream --format '{{.Name}} {{.MemUsage}}' | while read -r name used _; do
	figure "memory: ${name#"$project"?}" "$used"
done
stops_clean
say "test-compose: no difference"
