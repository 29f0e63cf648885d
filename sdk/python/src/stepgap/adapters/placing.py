"""Step rewards on tokens: events, and the advantages that they give. Pure functions.

An event is a token and the reward that was earned up to it. Advantages are those of
process supervision (`stepgap.advantages.process`): events normalised over the group, each
token takes its own event's and what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..advantages import process
from ..messages import Reward
from ..spans import Offsets, last_token, spread, to_tokens

__all__ = ["Event", "Events", "events_of", "token_advantages"]

Event = tuple[int, float | None]
"""A token and its reward; None: that stretch was not graded, and is masked."""


@dataclass(slots=True)
class Events:
    """The events of a rollout, in the order of their tokens, one a token."""

    events: list[Event] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Parts of the reward that have no token, with why."""


def events_of(reward: Reward | None, offsets: Offsets, *, start: int = 0) -> Events:
    """The parts of a reward as events. A null or missing reward has none.

    Args:
        reward: of one rollout.
        offsets: code points that each token covers.
        start: where the offsets' text begins in the rollout's text.
    """
    out = Events()
    if reward is None:
        return out
    placed = to_tokens(reward, offsets, start=start)
    out.lost = placed.lost
    at: dict[int, float | None] = {}
    for part in placed.rewards:
        at[part.token] = (at.get(part.token) or 0.0) + part.value
    for step in reward.steps:
        if step.reward is None and step.base_at is not None:
            token = last_token(step.base_at, offsets, start=start)
            if token is not None:
                at.setdefault(token, None)
    out.events = sorted(at.items())
    return out


def token_advantages(group: Sequence[Sequence[Event]], lengths: Sequence[int]) -> list[list[float]]:
    """The advantage of each token of each rollout of one group.

    Tokens that nothing was graded for have 0: they move nothing. A group with fewer than
    two graded events has no baseline, so all its tokens have 0.

    Args:
        group: the events of each rollout; none for one without a reward.
        lengths: the number of tokens of each rollout.
    """
    advantages = process([[value for _, value in events] for events in group])
    out = []
    for events, values, length in zip(group, advantages, lengths, strict=True):
        placed = [(token, value) for (token, _), value in zip(events, values, strict=True)]
        out.append(spread(placed, length)[0])
    return out
