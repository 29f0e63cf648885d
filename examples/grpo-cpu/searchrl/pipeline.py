"""Rollouts -> their rewards, all of them from a real pipeline.

`Pipeline` starts `stepgap serve` with local judges and the default NLI model. `Scorer`
publishes rollouts as the SDK's trainer adapters do, and has their labels rewarded under
further profiles by `stepgap rescore`. Nothing is labelled here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from stepgap import Reward, connect
from stepgap.adapters.clients import ClientThread
from stepgap.adapters.scoring import Item, score

PROFILES = Path(__file__).resolve().parent.parent / "profiles"
SERVED = "typed_shaped"
RESCORED = {"typed": PROFILES / "typed.yaml", "untyped": PROFILES / "untyped.yaml"}
"""Reward kinds by the profile that gives them; `SERVED` is the default profile's."""

_AT_ONCE = 256
_DEADLINE = 600.0


class PipelineError(RuntimeError):
    """The pipeline did not start, or gave no reward where there must be one."""


@contextlib.contextmanager
def pipeline(binary: Path) -> Iterator[str]:
    """The URL of a pipeline that runs as long as the block does.

    Raises:
        PipelineError: it ended before it served.
    """
    with tempfile.TemporaryDirectory(prefix="stepgap-grpo-") as store:
        process = subprocess.Popen(
            [str(binary), "serve", "--listen", "127.0.0.1:0", "--store", store],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            url = _wait(process.stderr)
            threading.Thread(target=_swallow, args=(process.stderr,), daemon=True).start()
            yield url
        finally:
            process.terminate()
            process.wait()


def _wait(said: IO[str]) -> str:
    url, seen = "", []
    for line in said:
        seen.append(line)
        if found := re.search(r'msg="NATS listens" url=(\S+)', line):
            url = found[1]
        if "msg=serving" in line:
            return url
    raise PipelineError("stepgap serve ended before it served:\n" + "".join(seen))


def _swallow(said: IO[str]) -> None:
    with said:
        for line in said:
            if "level=ERROR" in line:
                print(line, end="", file=sys.stderr)


@dataclass(frozen=True)
class Rollout:
    """What identifies a rollout to the pipeline. Equal ones get equal labels."""

    question: str
    text: str
    golds: tuple[str, ...]


Rewards = dict[str, Reward]
"""A rollout's reward under each profile, by reward kind."""


class Scorer:
    """Rewards of rollouts, each judged once.

    Labels depend on what a rollout holds and on nothing else (the pipeline's promise of
    equal labels for equal inputs), so an equal rollout of another update, seed or reward
    kind is not judged again.
    """

    def __init__(self, url: str, binary: Path) -> None:
        self.judged = 0
        self.asked = 0
        self.steps = 0
        self._url, self._binary = url, binary
        self._known: dict[Rollout, Rewards] = {}

    def score(self, rollouts: Sequence[Rollout]) -> list[Rewards]:
        """The rewards of each, in their order.

        Raises:
            PipelineError: a reward is missing or null.
        """
        self.asked += len(rollouts)
        fresh = list(dict.fromkeys(r for r in rollouts if r not in self._known))
        if fresh:
            for rollout, rewards in zip(fresh, self._judge(fresh), strict=True):
                self._known[rollout] = rewards
                self.steps += len(rewards[SERVED].steps)
            self.judged += len(fresh)
        return [self._known[r] for r in rollouts]

    def _judge(self, rollouts: Sequence[Rollout]) -> list[Rewards]:
        client = connect(self._url)
        thread = ClientThread(lambda: client)
        try:
            served: list[Reward] = []
            for at in range(0, len(rollouts), _AT_ONCE):
                items = [Item(r.question, r.text, r.golds) for r in rollouts[at : at + _AT_ONCE]]
                scored = thread.run(lambda items=items: score(thread, items, deadline=_DEADLINE))
                for s in scored:
                    if s.reward is None or not s.valid:
                        raise PipelineError(f"a rollout has no reward: {s.reason}: {s.detail}\n{s.text}")
                    served.append(s.reward)
            out = [{SERVED: reward} for reward in served]
            for kind, profile in RESCORED.items():
                again = self._rescore(client.run, kind, profile)
                for rewards, reward in zip(out, served, strict=True):
                    rewards[kind] = again[reward.rollout]
            return out
        finally:
            thread.close()

    def _rescore(self, run: str, kind: str, profile: Path) -> dict[str, Reward]:
        name = f"{run}-{kind}"
        command = [str(self._binary), "rescore", "--run", run, "--profile", str(profile), "--as", name]
        done = subprocess.run([*command, "--nats", self._url], capture_output=True, text=True)
        if done.returncode:
            raise PipelineError(f"stepgap rescore: {done.stderr.strip()}")
        return asyncio.run(_rewards_of(self._url, name))


async def _rewards_of(url: str, run: str) -> dict[str, Reward]:
    raise NotImplementedError


def program() -> Path:
    """The program: STEPGAP_BIN, or build/bin/stepgap of this checkout."""
    given = os.environ.get("STEPGAP_BIN")
    return Path(given) if given else Path(__file__).resolve().parents[3] / "build" / "bin" / "stepgap"
