"""Advantages of a GRPO group, from its rewards. Pure functions, in floats.

A reward that was not given is None, never 0: it takes no part in the group's mean and
standard deviation, and its advantage is None as well, which a trainer masks (TRL sets
such an advantage to 0 in the loss, which has the same effect on the gradient). A group
in which fewer than two rewards were given has no baseline, so all its advantages are
None. A group of equal rewards has advantages of 0.

Go's `pkg/advantage` holds the same functions; golden vectors hold both to each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["EPSILON", "dr_grpo", "grpo", "mask", "process"]

EPSILON = 1e-4
"""Added to a standard deviation before it divides; TRL's GRPOTrainer has the same value."""


def grpo(rewards: Sequence[float | None]) -> list[float | None]:
    """The advantage of each rollout of one group by its outcome reward.

        A_i = (r_i - mean(r)) / (std(r) + EPSILON)

    DeepSeekMath (arXiv 2402.03300, section 4.1.2), with the sample standard deviation
    (divisor n-1) and the epsilon of TRL's GRPOTrainer.

    Raises:
        ValueError: a reward is NaN or infinite.
    """
    return _normalise(rewards, divide=True)


def dr_grpo(rewards: Sequence[float | None]) -> list[float | None]:
    """The same without the division, as Dr. GRPO (arXiv 2503.20783) has it.

        A_i = r_i - mean(r)

    The division favours questions that are nearly always or nearly never answered. The
    other half of Dr. GRPO, a loss that is not divided by a completion's length, is the
    trainer's.

    Raises:
        ValueError: a reward is NaN or infinite.
    """
    return _normalise(rewards, divide=False)


def process(rollouts: Sequence[Sequence[float | None]]) -> list[list[float | None]]:
    """The advantage of each step of each rollout of one group, by process supervision.

    DeepSeekMath, section 4.1.3: step rewards are normalised over all steps of the group,
    and a step's advantage is the sum of its own normalised reward and of those that
    follow in its rollout.

        n_ij = (r_ij - mean(R)) / (std(R) + EPSILON)      R: all rewards given in the group
        A_ij = sum of n_ik over k >= j

    The tokens after the anchor of step j-1, up to that of step j, take A_ij (see
    `stepgap.spans.spread`). A step without a reward has none of its own to learn from: its
    advantage is None, and it adds nothing to the sums of the steps before it, which is
    what a reward equal to the group's mean would add. A rollout without step rewards (its
    reward is null, or it is missing from a partial group) is an empty sequence and takes
    no part.

    Raises:
        ValueError: a reward is NaN or infinite.
    """
    normal = iter(_normalise([r for steps in rollouts for r in steps], divide=True))
    return [_sum_what_follows([next(normal) for _ in steps]) for steps in rollouts]


def mask(advantages: Iterable[float | None]) -> list[bool]:
    """Which advantages there are; a trainer leaves the others out of its loss."""
    return [a is not None for a in advantages]


def _sum_what_follows(normal: Sequence[float | None]) -> list[float | None]:
    out: list[float | None] = [None] * len(normal)
    total = 0.0
    for j in range(len(normal) - 1, -1, -1):
        value = normal[j]
        if value is not None:
            total += value
            out[j] = total
    return out


def _normalise(rewards: Sequence[float | None], *, divide: bool) -> list[float | None]:
    given = [float(r) for r in rewards if r is not None]
    for i, r in enumerate(rewards):
        if r is not None and not math.isfinite(r):
            raise ValueError(f"reward {i} of the group is {r}; a reward that was not given is None")
    if len(given) < 2:
        return [None] * len(rewards)
    if min(given) == max(given):
        # The mean of equal numbers need not be that number in floating point, and the
        # rest would be blown up by the division.
        return [None if r is None else 0.0 for r in rewards]
    total = 0.0
    for r in given:
        total += r
    mean = total / len(given)
    scale = 1.0
    if divide:
        squares = 0.0
        for r in given:
            squares += (r - mean) * (r - mean)
        scale = math.sqrt(squares / (len(given) - 1)) + EPSILON
    return [None if r is None else (r - mean) / scale for r in rewards]
