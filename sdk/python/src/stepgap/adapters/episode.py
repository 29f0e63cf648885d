"""A search episode, turn by turn, for trainers that step an environment."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..spans import to_tokens
from .clients import ClientThread
from .scoring import Item, OutcomeScore, Scored, score, value_of
from .tags import read_tags

__all__ = ["Episode", "Retrieve", "TurnReward", "wrap_evidence"]

Retrieve = Callable[[str], Sequence[tuple[str, str]]]
"""Gives the passages for a query, as (title, text)."""

_SEARCH = re.compile(r"<search>(.*?)</search>", re.DOTALL | re.IGNORECASE)
_ANSWER = re.compile(r"<answer>.*?</answer>", re.DOTALL | re.IGNORECASE)


class TurnReward(float):
    """The reward of a turn, which is known when the episode has ended.

    A step's reward depends on what follows: a gap is repaired later, and there is no reward
    before the last label. Trainers that ask for a float at once keep it and add it up after
    the episode; until it is settled it is NaN, so that nobody takes it for a 0.
    """

    __slots__ = ("_value",)
    _value: float

    def __new__(cls) -> TurnReward:
        """Make one that is not settled yet."""
        made = super().__new__(cls, math.nan)
        made._value = math.nan
        return made

    def settle(self, value: float) -> None:
        """Set the reward, once the episode is scored."""
        self._value = value

    def __float__(self) -> float:
        return self._value

    def __add__(self, other: float) -> float:
        return self._value + float(other)

    __radd__ = __add__

    def __repr__(self) -> str:
        return repr(self._value)


@dataclass(slots=True)
class Episode:
    """What was written and retrieved so far, and the rewards of its turns."""

    question: str
    gold: Sequence[str]
    retrieve: Retrieve
    max_turns: int
    text: str = ""
    """Everything after the prompt, as one text with tags."""
    turns: list[tuple[int, int]] = field(default_factory=list)
    """Where each turn of the policy stands in the text."""
    rewards: list[TurnReward] = field(default_factory=list)
    scored: Scored | None = None

    def act(self, action: str) -> tuple[str, bool]:
        """Take the policy's turn: what the environment answers, and whether it was the last."""
        start = len(self.text)
        self.text += action
        self.turns.append((start, len(self.text)))
        self.rewards.append(TurnReward())
        query = _SEARCH.search(action)
        if _ANSWER.search(action) or query is None or len(self.turns) >= self.max_turns:
            return "", True
        feedback = wrap_evidence(self.retrieve(query[1].strip()))
        self.text += feedback
        return feedback, False

    async def finish(
        self,
        thread: ClientThread,
        *,
        deadline: float,
        outcome: OutcomeScore | None = None,
        outcome_weight: float = 1.0,
    ) -> float | None:
        """Score the episode and settle its turns' rewards; for work of the thread.

        Each part of the reward goes to the turn in which its span ends, the outcome to the
        last turn. Unscored, all turns stay NaN.

        Returns:
            The value of the episode, which is the sum of its turns; None if unscored.
        """
        item = Item(self.question, self.text, self.gold)
        self.scored = (await score(thread, [item], deadline=deadline, read=read_tags))[0]
        value = value_of(self.scored, outcome, outcome_weight)
        if value is None or self.scored.reward is None:
            return None
        sums = [0.0] * len(self.turns)
        placed = to_tokens(self.scored.reward, self.turns)
        for part in placed.rewards:
            sums[part.token] += part.value
        # What is left is the outcome, and parts without a span.
        sums[-1] += value - math.fsum(sums)
        for reward, number in zip(self.rewards, sums, strict=True):
            reward.settle(number)
        return value


def wrap_evidence(passages: Sequence[tuple[str, str]]) -> str:
    """Passages, as (title, text), as Search-R1 shows them to the policy."""
    lines = [f'Doc {i}(Title: "{title}") {text}' for i, (title, text) in enumerate(passages, 1)]
    return "\n<information>" + "\n".join(lines) + "</information>\n"
