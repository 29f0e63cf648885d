"""Rollouts that a trainer has as texts -> their rewards, by a deadline, without raising."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..client import Client
from ..errors import (
    BackPressure,
    ConnectionLost,
    DeadlineExceeded,
    StepgapError,
    ValidationError,
)
from ..messages import GAPS, Outcome, Reward
from .clients import ClientThread
from .tags import Reader, Reading, read_tags

__all__ = ["Item", "OutcomeScore", "Scored", "counts", "golds_of", "group_name", "score", "value_of"]

log = logging.getLogger("stepgap")

OutcomeScore = Literal["em", "f1", "cover_em"]


@dataclass(slots=True)
class Item:
    """One rollout to be scored."""

    question: str
    text: str
    """The completion, as the spans of its reward will count it."""
    gold: Sequence[str] = ()
    group: str = ""
    group_size: int = 0


@dataclass(slots=True)
class Scored:
    """What became of a rollout. Without a value there is a reason."""

    text: str = ""
    reward: Reward | None = None
    """As it came; it may be null."""
    reason: str = ""
    """Why there is no value: `deadline`, `connection`, `back_pressure`, `invalid`,
    `error`, or the reason of a null reward (`aborted`, `too_few_graded`, ...)."""
    detail: str = ""

    @property
    def valid(self) -> bool:
        """Whether there is a value."""
        return self.reward is not None and self.reward.value is not None

    @property
    def outcome(self) -> Outcome:
        """The scores of the answer; each None where there is none."""
        return Outcome() if self.reward is None else self.reward.outcome


async def score(
    thread: ClientThread, items: Iterable[Item], *, deadline: float, read: Reader = read_tags
) -> list[Scored]:
    """Publish rollouts and wait for their rewards.

    Args:
        thread: whose client is used; this runs in it.
        items: the rollouts.
        deadline: seconds for all of them together. What has not come by then has the
            reason `deadline`; nothing is waited for any longer.
        read: makes steps of a completion.

    Returns:
        One for each item, in their order. Never raises for what happened to a rollout.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + deadline
    todo = list(items)
    tasks = [asyncio.ensure_future(_guarded(thread, item, until, read)) for item in todo]
    try:
        if tasks:
            await asyncio.wait(tasks, timeout=max(until - loop.time(), 0))
        late = f"no reward within {deadline:g} s"
        return [
            task.result()
            if task.done() and not task.cancelled()
            else Scored(item.text, None, "deadline", late)
            for item, task in zip(todo, tasks, strict=True)
        ]
    finally:
        for task in tasks:
            task.cancel()  # late ones, or all where the trainer gave up before the deadline


async def _guarded(thread: ClientThread, item: Item, until: float, read: Reader) -> Scored:
    try:
        return await _one(await thread.client(), item, until, read)
    except DeadlineExceeded as e:
        return Scored(item.text, None, "deadline", str(e))
    except ConnectionLost as e:
        return Scored(item.text, None, "connection", str(e))
    except BackPressure as e:
        return Scored(item.text, None, "back_pressure", str(e))
    except ValidationError as e:
        return Scored(item.text, None, "invalid", str(e))
    except StepgapError as e:
        return Scored(item.text, None, "error", str(e))
    except Exception as e:
        # A trainer takes an exception for a reward of 0, or dies of it.
        log.exception("a rollout could not be scored")
        return Scored(item.text, None, "error", f"{type(e).__name__}: {e}")


async def _one(client: Client, item: Item, until: float, read: Reader) -> Scored:
    loop = asyncio.get_running_loop()
    reading = read(item.text)
    async with client.rollout(item.question, group=item.group, group_size=item.group_size) as rollout:
        for step in reading.steps:
            await rollout.step(
                step.query,
                step.passages,
                step.claim,
                text=step.text,
                plan=step.plan,
                spans=step.spans,
                wait=False,
            )
        if concludes(reading):
            await rollout.conclude(reading.answer, spans=reading.answer_spans, wait=False)
        # Labels that hang are given up while there is still time for what the others earn.
        left = max(until - loop.time(), 0.001)
        await rollout.end(reading.answer, item.gold, deadline=0.8 * left)
    reward = await client.reward(rollout, timeout=max(until - loop.time(), 0))
    if reward is None:
        return Scored(item.text, None, "deadline", "the reward has not come in time")
    if reward.value is None:
        return Scored(item.text, reward, reward.reason, reward.detail)
    return Scored(item.text, reward)


def concludes(reading: Reading) -> bool:
    """Whether there is an answer to be judged as a step of its own."""
    return bool(reading.answer.strip())


def golds_of(value: Any) -> tuple[str, ...]:
    """The accepted answers that a row of a dataset holds: none, one, many, or {"target": ...} of these."""
    if isinstance(value, Mapping):
        value = value.get("target")
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (str(value),)
    return tuple(str(v) for v in value)


def value_of(scored: Scored, outcome: OutcomeScore | None = None, weight: float = 1.0) -> float | None:
    """The value of a whole rollout: its process reward, and a weighted outcome score.

    None if it has no process reward, or an outcome is asked for and there is none.
    """
    value = None if scored.reward is None else scored.reward.value
    if value is None or outcome is None:
        return value
    answered: float | None = getattr(scored.outcome, outcome)
    return None if answered is None else value + weight * answered


def counts(scored: Sequence[Scored]) -> dict[str, int]:
    """How many steps have each label, and how many rollouts each reason for having no value.

    Keys: `labels/<label>` for every label, `rollouts`, `unscored`, and `unscored/<reason>`.
    """
    labels = Counter(step.label for s in scored if s.reward is not None for step in s.reward.steps)
    reasons = Counter(s.reason for s in scored if not s.valid)
    out = {f"labels/{gap}": labels[gap] for gap in GAPS}
    out |= {"rollouts": len(scored), "unscored": sum(reasons.values())}
    out |= {f"unscored/{reason}": n for reason, n in sorted(reasons.items())}
    return out


def group_name(question: str, salt: object = "") -> str:
    """A name for the rollouts of one question in one step of training."""
    return hashlib.sha256(f"{salt}\0{question}".encode("utf-8", "replace")).hexdigest()[:16]
