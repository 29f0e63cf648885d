"""What was judged already, in memory and, if wanted, in a file that a later run goes on from."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from stepgap import Reward
from stepgap.codec import decode, encode

SERVED = "typed_shaped"
"""The reward kind of the profile that the pipeline runs under."""

Rewards = dict[str, Reward]
"""A rollout's reward under each profile, by reward kind."""


@dataclass(frozen=True)
class Rollout:
    """What a rollout holds; equal ones get equal labels."""

    question: str
    text: str
    golds: tuple[str, ...]

    @cached_property
    def key(self) -> str:
        """Its digest."""
        return hashlib.sha256(json.dumps([self.question, self.text, self.golds]).encode()).hexdigest()


class Memo:
    """Rewards by rollout.

    Args:
        judges: names what the rewards come from: program, model, profiles. A file that
            was written under another name is refused.
        path: file to read and to append to; None keeps all in memory.

    Raises:
        ValueError: the file is of other judges.
    """

    def __init__(self, judges: str, path: Path | None = None) -> None:
        self.known: dict[str, Rewards] = {}
        self.steps = 0
        self.seconds = 0.0
        """Spent on judging, that of earlier runs included."""
        self._file: IO[str] | None = None
        if path is None:
            return
        whole = self._read(judges, path) if path.exists() else 0
        self._file = path.open("a")
        self._file.truncate(whole)  # a last line that was cut off
        if not whole:
            self._write({"judges": judges})

    def add(self, keys: Sequence[str], rewards: Iterable[Rewards], seconds: float) -> None:
        """Take in what one batch was judged to be, and how long that took."""
        for key, of in zip(keys, rewards, strict=True):
            self._take(key, of)
            self._write(
                {"key": key, "rewards": {k: base64.b64encode(encode(r)).decode() for k, r in of.items()}}
            )
        self.seconds += seconds
        self._write({"seconds": seconds})
        if self._file:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()

    def _take(self, key: str, rewards: Rewards) -> None:
        self.known[key] = rewards
        self.steps += len(rewards[SERVED].steps)

    def _write(self, line: dict[str, Any]) -> None:
        if self._file:
            self._file.write(json.dumps(line) + "\n")

    def _read(self, judges: str, path: Path) -> int:
        """Take in a file; how many bytes its whole lines have."""
        whole = 0
        with path.open("rb") as lines:
            for number, text in enumerate(lines):
                if not text.endswith(b"\n"):
                    break
                line = json.loads(text)
                if number == 0 and line.get("judges") != judges:
                    raise ValueError(f"{path} holds rewards of other judges; give another file or remove it")
                whole += len(text)
                self.seconds += line.get("seconds", 0.0)
                if "key" in line:
                    of = {k: decode(base64.b64decode(r), Reward) for k, r in line["rewards"].items()}
                    self._take(line["key"], of)
        return whole
