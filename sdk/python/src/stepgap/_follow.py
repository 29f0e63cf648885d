"""Following the rewards of a run: each once, in the order given, whatever happens to the connection.

nats-py's ordered consumer starts anew from the beginning after some resets and its
`fetch` may wait out its time-out beside messages that are there. So this is done by
hand: a consumer without acknowledgements, pulled in large batches; a gap in its
sequence, a missing heartbeat or a new connection makes a new one, from the last
reward that was given on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
from collections import deque
from types import TracebackType
from typing import Any

from ._connection import Connection, Dropped, Subscription, TimedOut
from ._message import Message
from ._standing import reward_in
from .codec import RewardReader
from .errors import ConnectionLost, DeadlineExceeded
from .messages import Reward
from .subjects import STREAM_REWARDS, reward_subject

log = logging.getLogger("stepgap")

_BATCH = 1000
_BATCH_BYTES = 16 << 20
_EXPIRES = 30.0
_HEARTBEAT = 5.0
_SECOND = 1_000_000_000


class _Broken(Exception):
    """The consumer must be made anew. Internal."""


class _Consumer:
    """One server-side consumer and what it has sent so far."""

    def __init__(self, connection: Connection, filter_subject: str) -> None:
        self._connection = connection
        self._filter = filter_subject
        self._name = "stepgap_" + secrets.token_hex(8)
        self._subscription: Subscription | None = None
        self._inbox = ""
        self._arrived: deque[Message] = deque()
        self._stopped = False
        self._wake = asyncio.Event()
        self._asked = 0  # messages asked for that did not come yet
        self._delivered = 0  # the consumer's own sequence
        self._generation = connection.generation
        connection.listeners.add(self._wake.set)

    async def open(self, start: int) -> None:
        connection = self._connection
        self._inbox = connection.new_inbox()
        self._subscription = await connection.subscribe(self._inbox, self._on_message)
        config: dict[str, Any] = {
            "name": self._name,
            "deliver_policy": "by_start_sequence" if start > 1 else "all",
            "ack_policy": "none",
            "replay_policy": "instant",
            "filter_subject": self._filter,
            "inactive_threshold": 300 * _SECOND,
            "mem_storage": True,
            "num_replicas": 1,
        }
        if start > 1:
            config["opt_start_seq"] = start
        await self._api(
            f"CONSUMER.CREATE.{STREAM_REWARDS}.{self._name}.{self._filter}",
            {"stream_name": STREAM_REWARDS, "config": config, "action": "create"},
        )
        await self._pull()

    async def _api(self, subject: str, body: dict[str, Any]) -> dict[str, Any]:
        msg = await self._connection.request(f"$JS.API.{subject}", json.dumps(body).encode())
        if msg.headers.get("Status") == "503":
            raise _Broken("JetStream does not answer")
        answer: dict[str, Any] = json.loads(msg.data)
        if "error" in answer:
            raise _Broken(f"{answer['error'].get('description')} ({answer['error'].get('err_code')})")
        return answer

    async def _pull(self) -> None:
        request = {
            "batch": _BATCH,
            "max_bytes": _BATCH_BYTES,
            "expires": int(_EXPIRES * _SECOND),
            "idle_heartbeat": int(_HEARTBEAT * _SECOND),
        }
        self._asked += _BATCH
        await self._connection.publish(
            f"$JS.API.CONSUMER.MSG.NEXT.{STREAM_REWARDS}.{self._name}",
            json.dumps(request).encode(),
            None,
            self._inbox,
        )

    def _on_message(self, msg: Message) -> None:
        if not self._arrived:
            self._wake.set()
        self._arrived.append(msg)

    async def wait(self, until: float | None) -> bool:
        """Wait until something arrived; False when until (by the loop's clock) has come."""
        loop = asyncio.get_running_loop()
        silent_at = loop.time() + 2.5 * _HEARTBEAT
        while not self._arrived:
            if self._connection.closed or self._stopped:
                return False
            if self._generation != self._connection.generation or not self._connection.is_up:
                raise _Broken("the connection dropped")
            now = loop.time()
            if until is not None and now >= until:
                return False
            if now >= silent_at:
                raise _Broken("no heartbeat")
            self._wake.clear()
            limit = silent_at if until is None else min(until, silent_at)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), max(limit - now, 0.001))
        return True

    async def take(self, limit: int) -> list[tuple[int, Message]]:
        """What has arrived, with its place in the stream. Raises `_Broken` on a gap."""
        taken: list[tuple[int, Message]] = []
        arrived = self._arrived
        while arrived and len(taken) < limit:
            msg = arrived.popleft()
            if not msg.raw_reply or (not msg.data and "Status" in msg.headers):
                self._status(msg)
                continue
            stream_sequence, sequence = _sequences(msg.raw_reply)
            if sequence != self._delivered + 1:
                arrived.appendleft(msg)
                if taken:
                    break  # give what is whole; the gap is met again
                raise _Broken(f"message {self._delivered + 1} was lost on the way")
            self._delivered = sequence
            self._asked -= 1
            taken.append((stream_sequence, msg))
        if self._asked < _BATCH // 2:
            await self._pull()
        return taken

    def _status(self, msg: Message) -> None:
        headers = msg.headers
        status = headers.get("Status", "")
        if status == "100":
            return
        left = headers.get("Nats-Pending-Messages")
        if status in ("404", "408", "409") and left is not None:
            self._asked -= int(left)  # this pull is over
            return
        raise _Broken(f"{status} {headers.get('Description', '')}")

    def stop(self) -> None:
        """Let `wait` end."""
        self._stopped = True
        self._wake.set()

    async def close(self) -> None:
        self._connection.listeners.discard(self._wake.set)
        if self._subscription is None:
            return
        await self._subscription.close()
        with contextlib.suppress(Dropped, ConnectionLost):  # else the server removes it after a while
            await self._connection.publish(
                f"$JS.API.CONSUMER.DELETE.{STREAM_REWARDS}.{self._name}", b"", None
            )


def _sequences(reply: bytes) -> tuple[int, int]:
    """Sequence in the stream and of the consumer, from a message's reply subject."""
    if reply.count(b".") == 8:
        _, stream_sequence, sequence, _, _ = reply.rsplit(b".", 4)
        return int(stream_sequence), int(sequence)
    tokens = reply.split(b".")
    if len(tokens) >= 11:  # with domain and account
        return int(tokens[7]), int(tokens[8])
    raise _Broken(f"{reply!r} is no reply subject of JetStream")


class RewardFeed:
    """The rewards of a run, as an asynchronous iterator: those that stand, then those to come.

    Each rollout's reward comes once. It ends when the client is closed; a loop that
    is left early may call `aclose` (or use `async with`), else the server drops the
    consumer after five minutes.
    """

    def __init__(self, connection: Connection, run: str, after: int, idle_timeout: float | None) -> None:
        self._connection = connection
        self._run = run
        self._prefix = len(reward_subject(run, ""))
        self._last = after
        self._idle_timeout = idle_timeout
        self._consumer: _Consumer | None = None
        self._created = ""
        self._seen: set[str] = set()
        self._ready: deque[Reward] = deque()
        self._closed = False
        self._reader = RewardReader()

    def __aiter__(self) -> RewardFeed:
        return self

    async def __anext__(self) -> Reward:
        if not self._ready:
            self._ready.extend(await self.batch(256))
            if not self._ready:
                raise StopAsyncIteration
        return self._ready.popleft()

    async def __aenter__(self) -> RewardFeed:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop following."""
        self._closed = True
        if self._consumer is not None:
            self._consumer.stop()
        await self._drop()

    async def batch(self, limit: int = 256) -> list[Reward]:
        """At least one reward and at most limit; none when the client or the feed is closed.

        Raises:
            DeadlineExceeded: no reward came within `idle_timeout`.
        """
        loop = asyncio.get_running_loop()
        until = None if self._idle_timeout is None else loop.time() + self._idle_timeout
        pause = 0.05
        while not self._closed and not self._connection.closed:
            try:
                if self._consumer is None:
                    await self._open(until)
                    continue
                if await self._consumer.wait(until):
                    rewards = self._new(await self._consumer.take(limit))
                    if rewards:
                        return rewards
                    pause = 0.05
                    continue
            except (_Broken, Dropped, TimedOut) as e:
                log.info("following the rewards of run %s anew: %s", self._run, e or type(e).__name__)
                await self._drop()
                await asyncio.sleep(pause)
                pause = min(2 * pause, 2.0)
            except ConnectionLost:
                pass  # for now, or the client is closed
            if until is not None and loop.time() >= until:
                raise DeadlineExceeded(
                    f"following the rewards of run {self._run}: none came within {self._idle_timeout:g} s"
                )
        return []

    async def _open(self, until: float | None) -> None:
        loop = asyncio.get_running_loop()
        limit = loop.time() + 10.0
        await self._connection.wait_up(limit if until is None else min(limit, until))
        consumer = _Consumer(self._connection, reward_subject(self._run, "*"))
        try:
            await self._check_stream()
            await consumer.open(self._last + 1)
        except BaseException:
            await consumer.close()
            raise
        self._consumer = consumer

    async def _check_stream(self) -> None:
        """Begin anew if the stream is not the one that was followed before.

        Its places then mean nothing; what was given already is known by its rollout.
        """
        try:
            msg = await self._connection.request(f"$JS.API.STREAM.INFO.{STREAM_REWARDS}")
            info = json.loads(msg.data) if "Status" not in msg.headers else {}
        except ValueError:
            return
        created = info.get("created", "")
        if not created:
            return  # not there yet, or not ours to look at
        lost = (
            self._created not in ("", created)
            or info.get("state", {}).get("last_seq", self._last) < self._last
        )
        if lost:
            log.warning("the stream of rewards was made anew; following run %s from its start", self._run)
            self._last = 0
        self._created = created

    def _new(self, taken: list[tuple[int, Message]]) -> list[Reward]:
        rewards: list[Reward] = []
        for sequence, msg in taken:
            self._last = max(self._last, sequence)
            rollout = msg.subject[self._prefix :]
            if rollout in self._seen:
                continue
            self._seen.add(rollout)
            rewards.append(reward_in(msg, self._run, rollout, sequence, self._reader))
        return rewards

    async def _drop(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await consumer.close()
