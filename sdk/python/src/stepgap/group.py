"""The rewards of a GRPO group, whole or at a deadline."""

from __future__ import annotations

from dataclasses import dataclass, field

from .messages import Reward

__all__ = ["Group"]


@dataclass(slots=True)
class Group:
    """The rewards of a group that had come by its deadline, and what is missing."""

    group: str
    size: int
    rewards: list[Reward] = field(default_factory=list)
    """In the order of the rollouts asked for, else in the order in which they came.

    A reward may be null: its `value` is then None and its `reason` says why.
    """
    missing: list[str] = field(default_factory=list)
    """Ids of rollouts without a reward, as far as they are known here."""
    unnamed: int = 0
    """How many more are missing whose ids are not known here."""

    @property
    def complete(self) -> bool:
        """Whether every rollout of the group has its reward (which may be null)."""
        return not self.missing and not self.unnamed

    def values(self) -> list[float | None]:
        """Process rewards, None for null and missing ones; as many as the group has rollouts."""
        given = [reward.value for reward in self.rewards]
        return given + [None] * (len(self.missing) + self.unnamed)
