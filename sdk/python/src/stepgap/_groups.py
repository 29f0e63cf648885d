"""Which rollouts a run's groups have, by the rewards that have come."""

from __future__ import annotations

import asyncio
import logging

from ._follow import RewardFeed
from .errors import ConnectionLost

log = logging.getLogger("stepgap")


class GroupIndex:
    """Follows a run's rewards and keeps, for each group, the rollouts that have one.

    Only ids are kept, about 150 bytes a rollout; rewards are read again when asked for.
    """

    def __init__(self, feed: RewardFeed) -> None:
        self._feed = feed
        self._rollouts: dict[str, list[str]] = {}
        self._grew: dict[str, asyncio.Event] = {}
        self.over = False
        """Whether it follows no more."""

    async def run(self) -> None:
        """Follow until the client is closed; then whoever waits hears of it."""
        try:
            async for reward in self._feed:
                if not reward.group:
                    continue
                self._rollouts.setdefault(reward.group, []).append(reward.rollout)
                event = self._grew.get(reward.group)
                if event is not None:
                    event.set()
        except Exception:
            log.exception("the rewards of a run are followed no more; the next call for a group begins anew")
        finally:
            self.over = True
            for event in self._grew.values():
                event.set()

    async def wait(self, group: str, size: int, deadline: float) -> list[str]:
        """The rollouts of group with a reward: size of them, or those that came by the deadline.

        Raises:
            ConnectionLost: the rewards are followed no more.
        """
        loop = asyncio.get_running_loop()
        event = self._grew.setdefault(group, asyncio.Event())
        while len(rollouts := self._rollouts.get(group, [])) < size:
            if self.over:
                raise ConnectionLost(f"waiting for group {group}: the run's rewards are followed no more")
            left = deadline - loop.time()
            if left <= 0:
                break
            event.clear()
            try:
                await asyncio.wait_for(event.wait(), left)
            except asyncio.TimeoutError:
                continue
        return list(rollouts)
