"""What stands under a subject of a stream, and waiting for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from ._connection import Connection, Dropped, Subscription, TimedOut
from ._message import Message
from .codec import RewardReader, decode
from .errors import ConnectionLost, StepgapError, WireError
from .messages import Label, Reward
from .subjects import HEADER_SCHEMA, SCHEMA_VERSION, STREAM_LABELS, STREAM_REWARDS

_USUAL_HEADERS = f"NATS/1.0\r\n{HEADER_SCHEMA}: {SCHEMA_VERSION}\r\n\r\n".encode()

_READ_TIMEOUT = 5.0
_FIRST_PAUSE = 0.002
_LAST_PAUSE = 5.0

T = TypeVar("T")


async def last_message(connection: Connection, stream: str, subject: str, timeout: float) -> Message | None:
    """The message that stands under subject; None if there is none.

    Raises `Dropped`, `TimedOut`, or a StepgapError.
    """
    msg = await connection.request(f"$JS.API.DIRECT.GET.{stream}.{subject}", b"", timeout)
    status = msg.headers.get("Status")
    if status is None:
        return msg
    if status == "404":
        return None
    if status == "503":  # no stream, or none that can answer now
        raise TimedOut
    raise StepgapError(f"reading {subject} of {stream}: {status} {msg.headers.get('Description', '')}")


def label_in(msg: Message, run: str, rollout: str, index: int) -> Label:
    """The label in a message; one that can't be read is ungraded, and says why."""
    try:
        label = decode(_body(msg), Label)
    except WireError as e:
        label = Label(reason="malformed", detail=str(e))
    label.run, label.rollout, label.index = run, rollout, index
    return label


def reward_in(
    msg: Message, run: str, rollout: str, sequence: int, reader: RewardReader | None = None
) -> Reward:
    """The reward in a message; one that can't be read is null, and says why."""
    try:
        reward = decode(_body(msg), Reward) if reader is None else reader.read(_body(msg))
    except WireError as e:
        reward = Reward(reason="malformed", detail=str(e))
    reward.run, reward.rollout, reward.sequence = run, rollout, sequence
    return reward


def _body(msg: Message) -> bytes:
    if msg.raw_headers != _USUAL_HEADERS:
        version = msg.headers.get(HEADER_SCHEMA, SCHEMA_VERSION)
        if version != SCHEMA_VERSION:
            raise WireError(f"schema version {version}; this package reads {SCHEMA_VERSION}")
    return msg.data


class Announcements:
    """Hears of messages offered under a subject, which may hold a `*` at its end.

    A plain message says that something was offered: not that it was accepted, nor
    that it is stored yet. So it only wakes whoever reads.
    """

    def __init__(self) -> None:
        self._events: dict[str, asyncio.Event] = {}
        self._connection: Connection | None = None
        self._subscription: Subscription | None = None

    @classmethod
    async def on(cls, connection: Connection, subject: str) -> Announcements:
        """Listen on subject."""
        self = cls()
        self._connection = connection
        connection.listeners.add(self._look_again)
        self._subscription = await connection.subscribe(subject, self._heard)
        return self

    def _look_again(self) -> None:
        # What was offered while the connection was down was heard by nobody.
        for event in self._events.values():
            event.set()

    def _heard(self, msg: Message) -> None:
        event = self._events.get(msg.subject)
        if event is not None:
            event.set()

    def event(self, subject: str) -> asyncio.Event:
        """Set when something is offered under subject."""
        return self._events.setdefault(subject, asyncio.Event())

    def drop(self, subject: str) -> None:
        """Nobody waits for subject any more."""
        self._events.pop(subject, None)

    async def close(self) -> None:
        """Stop listening."""
        if self._connection is not None:
            self._connection.listeners.discard(self._look_again)
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            await subscription.close()


async def wait_standing(
    connection: Connection,
    announcements: Announcements,
    stream: str,
    subject: str,
    timeout: float,
    read: Callable[[Message], T],
) -> T | None:
    """What stands under subject, as soon as it stands; None when timeout seconds are over.

    What stands is read first, then after each announcement (soon at first, since it
    may not be stored yet), and now and then without one, since a plain message can
    be lost. Lost connections are sat out until the deadline.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    event = announcements.event(subject)
    pause = _LAST_PAUSE
    at_least = 0.2  # even where no time was given, what stands already is found
    try:
        while True:
            event.clear()
            try:
                await connection.wait_up(deadline)
                left = max(deadline - loop.time(), at_least)
                at_least = 0.001
                msg = await last_message(connection, stream, subject, min(left, _READ_TIMEOUT))
            except (Dropped, TimedOut):
                msg, pause = None, min(pause, 0.2)
            except ConnectionLost:
                if connection.closed:
                    raise
                return None
            if msg is not None:
                return read(msg)
            left = deadline - loop.time()
            if left <= 0:
                return None
            if await _set_within(event, min(pause, left)):
                pause = _FIRST_PAUSE
            else:
                pause = min(2 * pause, _LAST_PAUSE)
    finally:
        announcements.drop(subject)


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except asyncio.TimeoutError:
        return False
    return True


async def wait_label(
    connection: Connection,
    announcements: Announcements,
    subject: str,
    run: str,
    rollout: str,
    index: int,
    timeout: float,
) -> Label | None:
    """The label of a step, or None in time."""
    return await wait_standing(
        connection,
        announcements,
        STREAM_LABELS,
        subject,
        timeout,
        lambda msg: label_in(msg, run, rollout, index),
    )


async def wait_reward(
    connection: Connection, subject: str, run: str, rollout: str, timeout: float
) -> Reward | None:
    """The reward of a rollout, or None in time."""
    announcements = await Announcements.on(connection, subject)
    try:
        return await wait_standing(
            connection,
            announcements,
            STREAM_REWARDS,
            subject,
            timeout,
            lambda msg: reward_in(msg, run, rollout, sequence_of(msg)),
        )
    finally:
        await announcements.close()


def sequence_of(msg: Message) -> int:
    """The place in its stream of a message that was read directly; 0 if it does not say."""
    return int(msg.headers.get("Nats-Sequence", "0"))
