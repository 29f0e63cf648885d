"""Steps published and rewards received a second by one Python process, beside raw nats-py.

Both sides move the same bytes through the same server: the raw side is given finished
bodies and never looks at what it receives; this package validates, encodes and hashes
what it publishes, and decodes and checks what it receives. The rounds of both sides
alternate, and a ratio is the median of the rounds' ratios; the figures by the process's
own CPU time stand beside those by the clock, since they move less with the machine's load. The
stage that would take the steps is paused, so that the server's work is the same for both.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import nats
from nats.js.api import AckPolicy, ConsumerConfig

import stepgap
from stepgap import Passage, Reward, Span, Step, StepReward
from stepgap.codec import encode
from stepgap.messages import Outcome, Prior
from stepgap.prepare import Prepared, prepare_step
from stepgap.subjects import HEADER_MSG_ID, HEADER_SCHEMA, SCHEMA_VERSION

QUESTION = "In which town was the composer of the opera The Salt Road born?"
SENTENCE = "The Salt Road is an opera in three acts by the Danish composer Ellen Brandt. "
WINDOW = 256


class Took(NamedTuple):
    """Seconds by the clock, and of the process's own work."""

    wall: float
    cpu: float


class Timer:
    """Times one side. What was there before is no matter of the garbage collector's."""

    def __init__(self) -> None:
        gc.collect()
        gc.freeze()
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def stop(self) -> Took:
        took = Took(time.perf_counter() - self._wall, time.process_time() - self._cpu)
        gc.unfreeze()
        return took


def make_step(run: str, number: int) -> Step:
    """The second step of a rollout: three passages of its own, three of the first step."""
    return Step(
        run=run,
        rollout=f"r{number}",
        index=2,
        question=QUESTION,
        plan="Now I need to find where Ellen Brandt was born.",
        query=f"Ellen Brandt composer birthplace {number}",
        text="From the search results, I can see that Ellen Brandt was born in Ribe.",
        claim="Ellen Brandt was born in Ribe.",
        passages=[
            Passage(title=f"Passage {i}", by_step=1 + i // 3, text=SENTENCE * 8 + f"{number} {i}")
            for i in range(6)
        ],
        history=[Prior(1, "composer of the opera The Salt Road", "It is an opera by Ellen Brandt.")],
        spans=[Span("plan", 300, 348), Span("action", 348, 400), Span("claim", 900, 931)],
    )


def make_reward(number: int) -> Reward:
    """A reward of four steps, one of them repaired, as the aggregator writes it."""
    steps = [
        StepReward(
            i + 1,
            "none",
            "none",
            stage="nli-local",
            base=0.05,
            base_at=Span("claim", 200 * i + 90, 200 * i + 131),
            reward=0.05,
        )
        for i in range(4)
    ]
    steps[1] = StepReward(
        2,
        "missing_bridge",
        "bridge_search",
        stage="nli-local",
        base=-0.0125,
        base_at=Span("claim", 290, 331),
        shape=0.025,
        shape_at=Span("action", 340, 391),
        shape_step=3,
        shape_reason="bridged",
        reward=0.0125,
    )
    return Reward(
        group=f"q{number // 8}",
        group_size=8,
        process=0.1625,
        steps=steps,
        outcome=Outcome(1.0, 1.0, 1.0),
        answer="Ribe",
        graded=4,
        complete=True,
        profile="stepgap",
        profile_hash="9d" * 32,
        end_digest="e0" * 32,
    )


async def raw_publish(url: str, messages: list[Prepared]) -> Took:
    """nats-py's own way for many messages: publish_async, with a window of the same size."""
    nc = await nats.connect(url)
    js = nc.jetstream(publish_async_max_pending=WINDOW, timeout=60)
    start = Timer()
    futures = []
    for m in messages:
        headers = {HEADER_SCHEMA: SCHEMA_VERSION, HEADER_MSG_ID: m.message_id}
        futures.append(await js.publish_async(m.subject, m.body, headers=headers))
    await asyncio.gather(*futures)
    took = start.stop()
    await nc.close()
    return took


async def sdk_publish(url: str, steps: list[Step]) -> Took:
    async with stepgap.connect(url, window=WINDOW, publish_timeout=60) as client:
        start = Timer()
        await client.publish_steps(steps)
        return start.stop()


async def raw_receive_push(url: str, run: str, count: int) -> Took:
    """An ordered consumer with a callback: nats-py's way without acknowledgements."""
    nc = await nats.connect(url)
    js = nc.jetstream(timeout=60)
    got, done = 0, asyncio.Event()

    async def on_message(msg: Any) -> None:
        nonlocal got
        got += 1
        if got == count:
            done.set()

    start = Timer()
    subject = f"stepgap.rewards.{run}.*"
    await js.subscribe(subject, stream="STEPGAP_REWARDS", ordered_consumer=True, cb=on_message)
    await done.wait()
    took = start.stop()
    await nc.close()
    return took


async def raw_receive_pull(url: str, run: str, count: int) -> Took:
    """Batches of a pull consumer without acknowledgements."""
    nc = await nats.connect(url)
    js = nc.jetstream(timeout=60)
    start = Timer()
    config = ConsumerConfig(ack_policy=AckPolicy.NONE)
    subscription = await js.pull_subscribe(
        f"stepgap.rewards.{run}.*", stream="STEPGAP_REWARDS", config=config
    )
    got = 0
    while got < count:
        got += len(await subscription.fetch(min(1000, count - got), timeout=60))
    took = start.stop()
    await nc.close()
    return took


async def sdk_receive(url: str, run: str, count: int) -> Took:
    async with stepgap.connect(url) as client:
        start = Timer()
        got = 0
        async for reward in client.rewards(run, idle_timeout=60):
            got += 1
            if reward.value is None:
                raise RuntimeError(f"the reward of {reward.rollout} is null")
            if got == count:
                break
        return start.stop()


async def api(url: str, subject: str, body: dict[str, Any]) -> None:
    nc = await nats.connect(url)
    answer = json.loads((await nc.request(f"$JS.API.{subject}", json.dumps(body).encode(), timeout=60)).data)
    await nc.close()
    if "error" in answer:
        raise RuntimeError(f"{subject}: {answer['error']}")


async def fill_rewards(url: str, run: str, count: int) -> int:
    """Put rewards into the stream; the bytes of all of them."""
    nc = await nats.connect(url)
    js = nc.jetstream(timeout=60)
    size, futures = 0, []
    for i in range(count):
        body = encode(make_reward(i))
        size += len(body)
        subject = f"stepgap.rewards.{run}.r{i}"
        futures.append(await js.publish_async(subject, body, headers={HEADER_SCHEMA: SCHEMA_VERSION}))
    await asyncio.gather(*futures)
    await nc.close()
    return size


async def measure(url: str, steps: int, rewards: int, rounds: int) -> dict[str, Any]:
    publish: dict[str, list[Took]] = {"raw": [], "sdk": []}
    receive: dict[str, list[Took]] = {"raw_push": [], "raw_pull": [], "sdk": []}
    far = {"pause_until": "2100-01-01T00:00:00Z"}
    await api(url, "CONSUMER.PAUSE.STEPGAP_STEPS.entity-check", far)
    body_bytes = len(prepare_step(make_step("r", 0)).body)
    reward_bytes = await fill_rewards(url, "bench", rewards) // rewards
    for n in range(rounds + 1):  # the first one warms up and does not count
        batch = [make_step(f"sdk{n}", i) for i in range(steps)]
        finished = [prepare_step(make_step(f"raw{n}", i)) for i in range(steps)]
        took = {"raw": await raw_publish(url, finished), "sdk": await sdk_publish(url, batch)}
        await api(url, "STREAM.PURGE.STEPGAP_STEPS", {})
        got = {
            "raw_push": await raw_receive_push(url, "bench", rewards),
            "sdk": await sdk_receive(url, "bench", rewards),
            "raw_pull": await raw_receive_pull(url, "bench", rewards),
        }
        if n:
            for side, seconds in took.items():
                publish[side].append(seconds)
            for side, seconds in got.items():
                receive[side].append(seconds)
        print(
            f"round {n} of {rounds}: published/s "
            + ", ".join(f"{k} {steps / s.wall:,.0f}" for k, s in took.items())
            + "; received/s "
            + ", ".join(f"{k} {rewards / s.wall:,.0f}" for k, s in got.items()),
            file=sys.stderr,
        )
    figures: dict[str, Any] = {}
    for clock in ("wall", "cpu"):
        published = {k: [steps / getattr(t, clock) for t in v] for k, v in publish.items()}
        received = {k: [rewards / getattr(t, clock) for t in v] for k, v in receive.items()}
        # Against the better of nats-py's two ways to receive.
        best = [max(pair) for pair in zip(received["raw_push"], received["raw_pull"], strict=True)]
        suffix = "" if clock == "wall" else "_cpu"
        unit = "second" if clock == "wall" else "cpu_second"
        figures |= {
            f"ratio_raw_publish{suffix}": ratio(published["sdk"], published["raw"]),
            f"ratio_raw_receive{suffix}": ratio(received["sdk"], best),
            f"published_per_{unit}": {k: round(statistics.median(v)) for k, v in published.items()},
            f"received_per_{unit}": {k: round(statistics.median(v)) for k, v in received.items()},
        }
    return figures | {
        "step_bytes": body_bytes,
        "reward_bytes": reward_bytes,
        "steps": steps,
        "rewards": rewards,
        "rounds": rounds,
    }


def ratio(ours: list[float], raw: list[float]) -> float:
    """The median of the rounds' ratios."""
    return round(statistics.median(o / r for o, r in zip(ours, raw, strict=True)), 3)


def start_pipeline(binary: str, store: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [binary, "serve", "--judge-nli", "free", "--listen", "127.0.0.1:0", "--store", store],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    url, seen = "", []
    for line in process.stderr:
        seen.append(line)
        if found := re.search(r'msg="NATS listens" url=(\S+)', line):
            url = found[1]
        if "msg=serving" in line:
            # What it goes on to say must not fill the pipe, on which it would stop.
            threading.Thread(target=deque, args=(process.stderr, 0), daemon=True).start()
            return process, url
    raise SystemExit("the pipeline did not start:\n" + "".join(seen))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the stepgap program")
    parser.add_argument("--out", type=Path, help="file for the figures")
    parser.add_argument("--steps", type=int, default=4000, help="steps a round")
    parser.add_argument("--rewards", type=int, default=10000, help="rewards a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--uvloop", action="store_true", help="both sides on uvloop")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as store:
        process, url = start_pipeline(o.bin, store)
        try:
            work = measure(url, o.steps, o.rewards, o.rounds)
            if o.uvloop:
                import uvloop

                figures: dict[str, Any] = uvloop.run(work)
            else:
                figures = asyncio.run(work)
        finally:
            process.terminate()
            process.wait()
    figures |= {
        "python": platform.python_version(),
        "nats_py": version("nats-py"),
        "uvloop": o.uvloop,
        "cpus": os.cpu_count(),
    }
    text = json.dumps(figures, indent=2)
    print(text)
    if o.out:
        o.out.parent.mkdir(parents=True, exist_ok=True)
        o.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
