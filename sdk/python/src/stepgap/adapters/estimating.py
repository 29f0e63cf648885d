"""Advantages from token rewards alone, for trainers whose estimators are given no more.

Such a trainer (verl, SkyRL) hands its advantage estimator one tensor of rewards, a mask and
the group of each rollout. What else has to be known is written into the rewards:

- a rollout whose reward is NaN anywhere could not be scored: it takes no part in its
  group's baseline, and its advantages are 0;
- a step's reward of exactly 0 is written as `NOTHING`, the smallest float32, so that it can
  be told from a token without a reward.

Pure functions on lists; the adapters turn tensors into lists and back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from ..advantages import dr_grpo, grpo
from .placing import Event, token_advantages

__all__ = ["ESTIMATORS", "NOTHING", "group_advantages", "step_advantages", "token_rewards"]

NOTHING = 2.0**-126
"""Stands for a reward of 0 that was given."""


def token_rewards(events: Sequence[Event] | None, length: int) -> list[float]:
    """The rewards of a rollout's tokens as the estimators here read them.

    Args:
        events: the rollout's; None: it could not be scored.
        length: its number of tokens, at least 1.
    """
    out = [0.0] * length
    if events is None:
        out[-1] = math.nan
        return out
    for token, value in events:
        if value is not None:
            out[token] = value if value != 0.0 else NOTHING
    return out


def step_advantages(
    rewards: Sequence[Sequence[float]], mask: Sequence[Sequence[int]], index: Sequence[Hashable]
) -> list[list[float]]:
    """Process supervision: the advantage of each token is its own event's and what follows.

    Args:
        rewards: (rollouts, tokens), as `token_rewards` writes them.
        mask: 1 for tokens that the policy wrote.
        index: the group of each rollout.
    """
    out: list[list[float]] = [[] for _ in rewards]
    for rows in _groups(index):
        events = [_events(rewards[r]) for r in rows]
        for r, values in zip(rows, token_advantages(events, [len(rewards[r]) for r in rows]), strict=True):
            out[r] = [v * m for v, m in zip(values, mask[r], strict=True)]
    return out


def group_advantages(
    rewards: Sequence[Sequence[float]],
    mask: Sequence[Sequence[int]],
    index: Sequence[Hashable],
    *,
    divide: bool = True,
) -> list[list[float]]:
    """GRPO on the sum of a rollout's rewards, unscored rollouts left out.

    Args:
        rewards, mask, index: as for `step_advantages`.
        divide: by the standard deviation; False is Dr. GRPO.
    """
    out: list[list[float]] = [[] for _ in rewards]
    for rows in _groups(index):
        sums = [None if _unscored(rewards[r]) else sum(rewards[r]) for r in rows]
        for r, advantage in zip(rows, (grpo if divide else dr_grpo)(sums), strict=True):
            out[r] = [(advantage or 0.0) * m for m in mask[r]]
    return out


def _groups(index: Sequence[Hashable]) -> list[list[int]]:
    groups: dict[Hashable, list[int]] = {}
    for row, name in enumerate(index):
        groups.setdefault(name, []).append(row)
    return list(groups.values())


def _unscored(rewards: Sequence[float]) -> bool:
    return any(math.isnan(r) for r in rewards)


def _events(rewards: Sequence[float]) -> list[Event]:
    if _unscored(rewards):
        return []
    return [(t, 0.0 if r == NOTHING else r) for t, r in enumerate(rewards) if r != 0.0]


def steps_estimator(token_level_rewards: Any, response_mask: Any, index: Any, **unused: Any) -> Any:
    """Process supervision on tokens: (advantages, returns), both (batch, tokens).

    Takes tensors of that shape and the group of each row.
    """
    rows = step_advantages(token_level_rewards.tolist(), response_mask.tolist(), _names(index))
    return _twice(token_level_rewards, rows)


def grpo_estimator(token_level_rewards: Any, response_mask: Any, index: Any, **unused: Any) -> Any:
    """GRPO with unscored rollouts left out; otherwise as the trainers' own."""
    rows = group_advantages(token_level_rewards.tolist(), response_mask.tolist(), _names(index))
    return _twice(token_level_rewards, rows)


def dr_grpo_estimator(token_level_rewards: Any, response_mask: Any, index: Any, **unused: Any) -> Any:
    """Dr. GRPO (no division) with unscored rollouts left out."""
    rows = group_advantages(token_level_rewards.tolist(), response_mask.tolist(), _names(index), divide=False)
    return _twice(token_level_rewards, rows)


def _names(index: Any) -> list[Any]:
    return list(index.tolist() if hasattr(index, "tolist") else index)


def _twice(like: Any, rows: Sequence[Sequence[float]]) -> Any:
    made = like.new_tensor(rows)
    return made, made


ESTIMATORS: Mapping[str, Callable[..., Any]] = {
    "stepgap_steps": steps_estimator,
    "stepgap_grpo": grpo_estimator,
    "stepgap_dr_grpo": dr_grpo_estimator,
}
"""Under the names by which a trainer's configuration calls them."""
