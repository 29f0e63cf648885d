"""The client of rollout workers and trainers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

from . import limits
from ._connection import Connection, OnEvent
from ._follow import RewardFeed
from ._groups import GroupIndex
from ._publish import Ack, Publisher
from ._standing import wait_reward
from .codec import decode, passage_digest
from .errors import ConnectionLost, StepgapError, ValidationError
from .group import Group
from .messages import LiveAnswer, LiveKind, Passage, Reward, RolloutEnd, Step, StepRef
from .prepare import prepare_end, prepare_step
from .rollout import Rollout
from .subjects import (
    BUCKET_PASSAGES,
    HEADER_DEADLINE,
    HEADER_REPLY,
    HEADER_SCHEMA,
    SCHEMA_VERSION,
    check_id,
    duration,
    fresh_rollout,
    fresh_run,
    live_subject,
    reward_subject,
)
from .validate import check_text

__all__ = ["Client", "connect"]

_GROUPS = 10_000
"""How many groups a client knows its own rollouts of: workers begin groups without end."""


def connect(
    url: str | list[str] = "nats://127.0.0.1:4222",
    *,
    run: str | None = None,
    connect_timeout: float = 10.0,
    publish_timeout: float = 10.0,
    label_timeout: float = 30.0,
    live_timeout: float = 5.0,
    reward_timeout: float = 60.0,
    backpressure_wait: float = 0.0,
    window: int = 256,
    window_bytes: int = 32 << 20,
    on_event: OnEvent | None = None,
    **nats_options: Any,
) -> Client:
    """A client of the pipeline behind the NATS server at url; connects in `async with`.

    Args:
        url: the NATS server, or several of one cluster.
        run: id of the run; None makes a fresh one. Labels and rewards stand for good
            under their ids, so a run that is started again needs another id. A trainer
            and its rollout workers share one.
        connect_timeout: seconds to keep trying to connect.
        publish_timeout: seconds to wait for the server's word on a publish, over lost
            connections.
        label_timeout, live_timeout, reward_timeout: seconds to wait for a label, the
            answer to a live check, a reward, where a call gives none.
        backpressure_wait: seconds to keep trying while the pipeline is full, before
            `BackPressure`.
        window, window_bytes: how many messages, and bytes, may be sent and not yet
            acknowledged.
        on_event: called with ("connected" | "disconnected" | "reconnected" | "error",
            exception or None); may be a coroutine function. What it raises is logged.
        nats_options: go to nats-py's connect: user_credentials, nkeys_seed, tls, name, ...
    """
    return Client(
        url,
        run=run,
        connect_timeout=connect_timeout,
        publish_timeout=publish_timeout,
        label_timeout=label_timeout,
        live_timeout=live_timeout,
        reward_timeout=reward_timeout,
        backpressure_wait=backpressure_wait,
        window=window,
        window_bytes=window_bytes,
        on_event=on_event,
        nats_options=nats_options,
    )


class Client:
    """Publishes rollouts, waits for labels and rewards. Made by `connect`.

    Belongs to one event loop; within it, any number of tasks may use it at once.
    """

    def __init__(
        self,
        url: str | list[str],
        *,
        run: str | None,
        connect_timeout: float,
        publish_timeout: float,
        label_timeout: float,
        live_timeout: float,
        reward_timeout: float,
        backpressure_wait: float,
        window: int,
        window_bytes: int,
        on_event: OnEvent | None,
        nats_options: dict[str, Any],
    ) -> None:
        if run is not None:
            check_id("run", run)
        self.run = run if run is not None else fresh_run()
        """The run that calls refer to where they name none."""
        self.label_timeout = label_timeout
        self.live_timeout = live_timeout
        self.reward_timeout = reward_timeout
        self._url = url
        self._connect_timeout = connect_timeout
        self._publish_timeout = publish_timeout
        self._backpressure_wait = backpressure_wait
        self._window, self._window_bytes = window, window_bytes
        self._on_event = on_event
        self._nats_options = nats_options
        self._connection: Connection | None = None
        self._publisher: Publisher | None = None
        self._members: dict[tuple[str, str], list[str]] = {}
        self._indexes: dict[str, GroupIndex] = {}

    async def open(self) -> Client:
        """Connect; `async with` does it.

        Raises:
            ConnectionLost: no connection within `connect_timeout`.
        """
        if self._connection is not None:
            raise StepgapError("the client is open already, or was closed; make a new one")
        connection = Connection(self._url, self._nats_options, self._on_event)
        await connection.open(self._connect_timeout)
        self._connection = connection
        self._publisher = Publisher(
            connection, self._window, self._window_bytes, self._publish_timeout, self._backpressure_wait
        )
        return self

    async def close(self) -> None:
        """Close the connection. What waits for it ends with `ConnectionLost`."""
        if self._connection is not None:
            await self._connection.close()

    async def __aenter__(self) -> Client:
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def connection(self) -> Connection:
        """The connection below."""
        if self._connection is None:
            raise ConnectionLost("the client is not connected; use it in `async with`, or call `open`")
        return self._connection

    @property
    def publisher(self) -> Publisher:
        """Publishes prepared messages."""
        if self._publisher is None:
            raise ConnectionLost("the client is not connected; use it in `async with`, or call `open`")
        return self._publisher

    # Rollouts.

    def rollout(
        self,
        question: str,
        *,
        group: str = "",
        group_size: int = 0,
        rollout: str | None = None,
        run: str | None = None,
    ) -> Rollout:
        """Begin a rollout; use it as `async with client.rollout(...) as r`.

        Args:
            question: the question that it answers.
            group: its GRPO group, usually the question's id; at most 512 bytes.
            group_size: how many rollouts the group has.
            rollout: its id; None makes a fresh one.
            run: the run it belongs to; None: the client's.
        """
        run = self.run if run is None else run
        rollout = fresh_rollout(group) if rollout is None else rollout
        check_id("run", run)
        check_id("rollout", rollout)
        check_text("group", group, limits.MAX_GROUP)
        if group:
            self._members.setdefault((run, group), []).append(rollout)
            if len(self._members) > _GROUPS:
                del self._members[next(iter(self._members))]  # asked for, it is found by its rewards
        return Rollout(self, question, rollout, run, group, group_size)

    async def publish_step(self, step: Step, *, deadline: float | None = None) -> StepRef:
        """Publish a step that is whole already, as a converter of logs makes it.

        Raises: as `Rollout.step`.
        """
        prepared = prepare_step(step)
        headers = None if deadline is None else {HEADER_DEADLINE: duration(deadline)}
        await self.publisher.publish(prepared, headers)
        return StepRef(step.index, prepared.digest)

    async def publish_steps(self, steps: Iterable[Step], *, deadline: float | None = None) -> list[StepRef]:
        """Publish many steps without waiting for each one; the references in their order.

        Raises the first error once all that were sent are settled. To call again with
        the same steps is safe.
        """
        headers = None if deadline is None else {HEADER_DEADLINE: duration(deadline)}
        publisher = self.publisher
        refs: list[StepRef] = []
        failed: list[Exception] = []
        outstanding = 0
        idle = asyncio.Event()

        def settled(outcome: Ack | Exception) -> None:
            nonlocal outstanding
            outstanding -= 1
            if isinstance(outcome, Exception):
                failed.append(outcome)
            if outstanding == 0:
                idle.set()

        try:
            for step in steps:
                prepared = prepare_step(step)
                outstanding += 1
                idle.clear()
                try:
                    await publisher.start(prepared, headers, settled)
                except BaseException:
                    outstanding -= 1
                    raise
                refs.append(StepRef(step.index, prepared.digest))
                if failed:
                    break
        finally:
            if outstanding:
                await idle.wait()
        if failed:
            raise failed[0]
        return refs

    async def publish_end(self, end: RolloutEnd) -> None:
        """Publish the end of a rollout that is whole already.

        Raises: as `Rollout.end`.
        """
        await self.publisher.publish(prepare_end(end))

    async def put_passage(self, text: str, title: str = "") -> Passage:
        """Store a passage, and return one that refers to it, to be given to many steps.

        For long texts: a step then carries 64 bytes in the text's place. Stored as long as
        labels are. Storing the same text twice is no more than storing it once.

        Raises:
            ValidationError: it is too large. Else as `Rollout.step`.
        """
        if not text or len(text.encode("utf-8", "surrogatepass")) > limits.MAX_PASSAGE_TEXT:
            raise ValidationError(
                "text", f"a passage has 1 to {limits.MAX_PASSAGE_TEXT} bytes of text", "too_large"
            )
        try:
            digest = passage_digest(title, text)
        except UnicodeEncodeError:
            raise ValidationError("text", "holds a lone surrogate, which no UTF-8 text can") from None
        await self.publisher.publish_raw(
            f"$KV.{BUCKET_PASSAGES}.{digest}", text.encode(), {}, self._publish_timeout
        )
        return Passage(digest=digest, title=title, ref=digest)

    async def ask_live(self, kind: LiveKind, step: Step, body: bytes, timeout: float) -> LiveAnswer | None:
        """Ask a live check; `Rollout.plan` and `Rollout.probe` make it easy."""
        connection = self.connection
        loop = asyncio.get_running_loop()
        until = loop.time() + timeout
        answered: asyncio.Future[LiveAnswer] = loop.create_future()

        def on_answer(msg: Any) -> None:
            if not answered.done():
                answered.set_result(decode(msg.data, LiveAnswer))

        inbox = connection.new_inbox()
        subscription = await connection.subscribe(inbox, on_answer)
        try:
            headers = {
                HEADER_SCHEMA: SCHEMA_VERSION,
                HEADER_REPLY: inbox,
                HEADER_DEADLINE: duration(timeout),
            }
            subject = live_subject(kind, step.run, step.rollout, step.index)
            await self.publisher.publish_raw(subject, body, headers, timeout)
            await asyncio.wait({answered}, timeout=max(until - loop.time(), 0))
        finally:
            await subscription.close()
        if not answered.done():
            answered.cancel()
            return None
        answer = answered.result()
        answer.run, answer.rollout, answer.index = step.run, step.rollout, step.index
        return answer

    # Rewards.

    async def reward(
        self, rollout: str | Rollout, *, run: str | None = None, timeout: float | None = None
    ) -> Reward | None:
        """The reward of a rollout; None if it has not come within timeout seconds.

        A reward may be null: then its `value` is None, and its `reason` says why.

        Args:
            rollout: the rollout, or its id.
            run: its run; None: that of the rollout, else the client's.
            timeout: seconds; None: the client's `reward_timeout`.
        """
        rollout, run = self._name(rollout, run)
        subject = reward_subject(run, rollout)
        seconds = self.reward_timeout if timeout is None else timeout
        return await wait_reward(self.connection, subject, run, rollout, seconds)

    async def group(
        self,
        group: str,
        size: int,
        *,
        rollouts: Sequence[str | Rollout] | None = None,
        run: str | None = None,
        deadline: float | None = None,
    ) -> Group:
        """The rewards of a group: all of them, or those that came by the deadline.

        Args:
            group: the group's name.
            size: how many rollouts it has.
            rollouts: its rollouts, where they are known; None: those begun by this
                client with this group's name, if there are as many, else whichever
                rewards bear the group's name. Those may come from other processes; the
                first such call follows the rewards of the whole run from then on.
            run: the run; None: the client's.
            deadline: seconds from now; None: the client's `reward_timeout`.

        Returns:
            What came, with what is missing named as far as it is known here. Never
            later than the deadline.
        """
        run = self.run if run is None else run
        check_id("run", run)
        if size < 1:
            raise ValidationError("size", f"{size}; a group has at least one rollout")
        seconds = self.reward_timeout if deadline is None else deadline
        until = asyncio.get_running_loop().time() + seconds
        members = self._members.get((run, group), [])
        if rollouts is not None:
            members = [self._name(r, run)[0] for r in rollouts]
        if len(members) >= size or rollouts is not None:
            found = await self._rewards_of(members, run, until)
        else:
            # What came has still to be read.
            present = await self._index(run).wait(group, size, until - min(0.5, seconds / 10))
            found = await self._rewards_of(present, run, until)
            members = [*members, *(r for r in present if r not in members)]
        rewards = [reward for r in members if (reward := found.get(r)) is not None]
        missing = [r for r in members if r not in found]
        result = Group(group, size, rewards, missing, max(0, size - len(rewards) - len(missing)))
        if result.complete:
            self._members.pop((run, group), None)
        return result

    async def _rewards_of(self, rollouts: Sequence[str], run: str, until: float) -> dict[str, Reward]:
        left = max(until - asyncio.get_running_loop().time(), 0.0)
        rewards = await asyncio.gather(*(self.reward(r, run=run, timeout=left) for r in rollouts))
        return {r: reward for r, reward in zip(rollouts, rewards, strict=True) if reward is not None}

    def _index(self, run: str) -> GroupIndex:
        index = self._indexes.get(run)
        if index is None or index.over:
            index = self._indexes[run] = GroupIndex(self.rewards(run))
            self.connection.spawn(index.run())
        return index

    def rewards(
        self, run: str | None = None, *, after: int = 0, idle_timeout: float | None = None
    ) -> RewardFeed:
        """Every reward of a run, those that stand and those to come: `async for` it.

        Each rollout's reward comes once, over lost connections and restarted servers.

        Args:
            run: the run; None: the client's.
            after: go on after the reward with this `sequence`, for a trainer that
                starts again.
            idle_timeout: seconds without a reward after which DeadlineExceeded is
                raised (the loop may be begun again); None: wait for ever.
        """
        run = self.run if run is None else run
        check_id("run", run)
        return RewardFeed(self.connection, run, after, idle_timeout)

    def _name(self, rollout: str | Rollout, run: str | None) -> tuple[str, str]:
        if isinstance(rollout, Rollout):
            return rollout.rollout, run if run is not None else rollout.run
        run = self.run if run is None else run
        check_id("run", run)
        check_id("rollout", rollout)
        return rollout, run
