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
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from stepgap import Client, Reward, connect
from stepgap.adapters.clients import ClientThread
from stepgap.adapters.scoring import Item, score

from .memo import SERVED, Memo, Rewards, Rollout

PROFILES = Path(__file__).resolve().parent.parent / "profiles"
RESCORED = {"typed": PROFILES / "typed.yaml", "untyped": PROFILES / "untyped.yaml"}
"""Reward kinds by the profile that gives them; the default profile's comes with the labels."""

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


class Scorer:
    """Rewards of rollouts, each judged once.

    Labels depend on what a rollout holds and on nothing else (the pipeline's promise of
    equal labels for equal inputs), so an equal rollout of another update, seed or reward
    kind is not judged again.
    """

    def __init__(self, url: str, binary: Path, memo: Memo) -> None:
        self.asked = 0
        self.memo = memo
        self._url, self._binary = url, binary

    def score(self, rollouts: Sequence[Rollout]) -> list[Rewards]:
        """The rewards of each, in their order.

        Raises:
            PipelineError: a reward is missing or null.
        """
        self.asked += len(rollouts)
        known = self.memo.known
        fresh = list(dict.fromkeys(r for r in rollouts if r.key not in known))
        for at in range(0, len(fresh), _AT_ONCE):
            batch = fresh[at : at + _AT_ONCE]
            began = time.monotonic()
            rewards = self._judge(batch)
            self.memo.add([r.key for r in batch], rewards, time.monotonic() - began)
        return [known[r.key] for r in rollouts]

    def _judge(self, rollouts: Sequence[Rollout]) -> list[Rewards]:
        """In a run of its own, since rescoring takes a whole run."""
        client = connect(self._url)
        thread = ClientThread(lambda: client)
        try:
            items = [Item(r.question, r.text, r.golds) for r in rollouts]
            served: list[Reward] = []
            for scored in thread.run(lambda: score(thread, items, deadline=_DEADLINE)):
                if scored.reward is None or not scored.valid:
                    what = f"a rollout has no reward: {scored.reason}: {scored.detail}"
                    raise PipelineError(f"{what}\n{scored.text}")
                served.append(scored.reward)
            out = [{SERVED: reward} for reward in served]
            for kind, profile in RESCORED.items():
                run = self._rescore(client.run, kind, profile)
                again = thread.run(partial(_standing, client, run, served))
                for rewards, reward in zip(out, again, strict=True):
                    rewards[kind] = reward
            return out
        finally:
            thread.close()

    def _rescore(self, run: str, kind: str, profile: Path) -> str:
        name = f"{run}-{kind}"
        command = [str(self._binary), "rescore", "--run", run, "--profile", str(profile), "--as", name]
        done = subprocess.run([*command, "--nats", self._url], capture_output=True, text=True)
        if done.returncode:
            raise PipelineError(f"stepgap rescore: {done.stderr.strip()}")
        return name


async def _standing(client: Client, run: str, rewards: Sequence[Reward]) -> list[Reward]:
    """The rewards of the same rollouts in another run."""
    found = await asyncio.gather(*(client.reward(r.rollout, run=run) for r in rewards))
    out = [r for r in found if r is not None and r.value is not None]
    if len(out) < len(found):
        raise PipelineError(
            f"{len(found) - len(out)} of {len(found)} rewards of run {run} are missing or null"
        )
    return out


def program() -> Path:
    """The program: STEPGAP_BIN, or build/bin/stepgap of this checkout."""
    given = os.environ.get("STEPGAP_BIN")
    return Path(given) if given else Path(__file__).resolve().parents[3] / "build" / "bin" / "stepgap"
