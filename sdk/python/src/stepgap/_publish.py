"""Publishing into JetStream: awaited, windowed, tried again where that is safe."""

from __future__ import annotations

import asyncio
import json
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._connection import Connection, Dropped, TimedOut, deadline_error
from ._message import Message
from .errors import AlreadyThere, BackPressure, ConnectionLost, ServerRefused, StepgapError, ValidationError
from .limits import MAX_MESSAGE
from .prepare import Prepared
from .subjects import HEADER_MSG_ID, HEADER_SCHEMA, SCHEMA_VERSION

# JetStream's error codes; their texts are nobody's promise.
_STORE_FAILED = 10077
_NO_RESOURCES = 10023
_WRONG_LAST_SEQUENCE = 10071
_IN_FLIGHT = 10164
_UNAVAILABLE = 10008

_ATTEMPT = 5.0
"""Seconds after which an acknowledgement counts as lost, and the message is sent again."""


@dataclass(slots=True)
class Ack:
    """The server's word that a message is stored."""

    stream: str
    sequence: int
    duplicate: bool


Settled = Callable[["Ack | Exception"], None]


class Again(Exception):
    """The server could not take it at this moment. Internal."""


def read_ack(subject: str, msg: Message) -> Ack:
    """The acknowledgement in an answer; raises what the server's error code means."""
    if not msg.data and msg.headers.get("Status") == "503":
        raise Again(f"no stream takes {subject}; is the pipeline running there?")
    try:
        answer = json.loads(msg.data)
    except ValueError as e:
        raise ServerRefused(f"publishing {subject}: the answer is no acknowledgement") from e
    if "error" in answer:
        raise refusal(subject, answer["error"])
    return Ack(answer.get("stream", ""), answer.get("seq", 0), answer.get("duplicate", False))


def refusal(subject: str, error: dict[str, Any]) -> Exception:
    """The exception for a JetStream error, by its code."""
    code = error.get("err_code", 0)
    said = f"{error.get('description', 'no description')} ({code})"
    if code in (_STORE_FAILED, _NO_RESOURCES):
        return BackPressure(
            f"publishing {subject}: the pipeline is full, nothing was accepted; "
            f"slow down and try again: {said}"
        )
    if code == _WRONG_LAST_SEQUENCE:
        return AlreadyThere(f"publishing {subject}: another message stands there: {said}")
    if code in (_IN_FLIGHT, _UNAVAILABLE):
        return Again(said)
    return ServerRefused(f"publishing {subject}: {said}", code)


_PLAIN = Ack("", 0, False)
"""Of a message that was accepted and whose place in the stream nobody asked for."""


class Window:
    """Bounds what is sent and not acknowledged, in messages and in bytes."""

    def __init__(self, messages: int, size: int) -> None:
        self._messages, self._bytes = messages, size
        self._out = 0
        self._out_bytes = 0
        self._queue: deque[tuple[asyncio.Future[None], int]] = deque()

    def _fits(self, size: int) -> bool:
        return self._out == 0 or (self._out < self._messages and self._out_bytes + size <= self._bytes)

    def take_now(self, size: int) -> bool:
        """Take a place if one is free and nobody waits."""
        if self._queue or not self._fits(size):
            return False
        self._out += 1
        self._out_bytes += size
        return True

    async def take(self, size: int) -> None:
        """Wait for a place."""
        if self.take_now(size):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((future, size))
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.give(size)  # it was handed over in the same moment
            raise

    def give(self, size: int) -> None:
        """Give a place back."""
        self._out -= 1
        self._out_bytes -= size
        while self._queue:
            future, wanted = self._queue[0]
            if future.done():
                self._queue.popleft()
                continue
            if not self._fits(wanted):
                return
            self._queue.popleft()
            self._out += 1
            self._out_bytes += wanted
            future.set_result(None)


class Publisher:
    """Publishes prepared messages over a connection."""

    def __init__(
        self, connection: Connection, window: int, window_bytes: int, timeout: float, backpressure_wait: float
    ) -> None:
        self._connection = connection
        self._window = Window(window, window_bytes)
        self._timeout = timeout
        self._backpressure_wait = backpressure_wait

    async def publish(self, message: Prepared, headers: dict[str, str] | None = None) -> Ack:
        """Publish with the message's id, so that trying again can't double it.

        Raises:
            BackPressure: the stream is full, and stayed full for `backpressure_wait` seconds.
            DeadlineExceeded: no acknowledgement came in time.
            ConnectionLost: there was no connection for all that time.
            ServerRefused: the server refused for another reason.
        """
        await self._window.take(len(message.body))
        try:
            return await self._persist(message.subject, message.body, self._headers(message, headers))
        finally:
            self._window.give(len(message.body))

    async def publish_raw(self, subject: str, body: bytes, headers: dict[str, str], timeout: float) -> Ack:
        """Publish without a message id, once: whoever sends it again sends a second one."""
        self.check_size(body)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        await self._connection.wait_up(deadline)
        try:
            left = max(deadline - loop.time(), 0.001)
            return read_ack(subject, await self._connection.request(subject, body, left, headers))
        except TimedOut:
            raise deadline_error(f"publishing {subject}", timeout) from None
        except (Dropped, Again) as e:
            raise ConnectionLost(f"publishing {subject}: {e or 'the connection dropped'}") from None

    async def start(self, message: Prepared, headers: dict[str, str] | None, settled: Settled) -> None:
        """Send a message as soon as the window has a place; settled is called once, with the outcome.

        The way for many messages: no task and no future is made for one that is accepted
        at once.
        """
        size = len(message.body)
        all_headers = self._headers(message, headers)
        if not self._window.take_now(size):
            await self._window.take(size)

        def answered(answer: Message | Exception) -> None:
            try:
                if isinstance(answer, Exception):
                    raise answer
                outcome: Ack | Exception = _PLAIN
                if not answer.data.startswith(b'{"stream":"') or b'"error"' in answer.data:
                    outcome = read_ack(message.subject, answer)
            except (Dropped, TimedOut, Again, BackPressure):
                self._connection.spawn(self._later(message, all_headers, settled))
                return
            except StepgapError as e:
                outcome = e
            self._window.give(size)
            settled(outcome)

        try:
            await self._connection.ask(
                message.subject, message.body, all_headers, _ATTEMPT, answered, coarse=True
            )
        except Dropped as e:
            answered(e)
        except BaseException:
            self._window.give(size)
            raise

    async def _later(self, message: Prepared, headers: dict[str, str], settled: Settled) -> None:
        """Send a message again, one that keeps its place in the window."""
        outcome: Ack | Exception = ConnectionLost("the client was closed")
        try:
            outcome = await self._persist(message.subject, message.body, headers)
        except StepgapError as e:
            outcome = e
        finally:
            self._window.give(len(message.body))
            settled(outcome)

    def _headers(self, message: Prepared, more: dict[str, str] | None) -> dict[str, str]:
        self.check_size(message.body)
        headers = {HEADER_SCHEMA: SCHEMA_VERSION, HEADER_MSG_ID: message.message_id}
        if more:
            headers.update(more)
        return headers

    def check_size(self, body: bytes) -> None:
        """Raise a ValidationError where the server would not take so large a message."""
        limit = self._connection.max_payload
        if 0 < limit < len(body):
            raise ValidationError(
                "message",
                f"{len(body)} bytes, the NATS server's max_payload is {limit}; raise it to {MAX_MESSAGE}, "
                "or publish passages by ref (put_passage)",
                "too_large",
            )

    async def _persist(self, subject: str, body: bytes, headers: dict[str, str]) -> Ack:
        """Send until it is acknowledged, refused for good, or the time is over."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        deadline, full_until = start + self._timeout, start + self._backpressure_wait
        pause = 0.02
        why = ""
        while True:
            await self._connection.wait_up(deadline)
            left = deadline - loop.time()
            if left <= 0:
                if why:
                    raise ConnectionLost(f"publishing {subject}: {why}")
                raise deadline_error(f"publishing {subject}", self._timeout)
            try:
                answer = await self._connection.request(subject, body, min(left, _ATTEMPT), headers)
                return read_ack(subject, answer)
            except (Dropped, TimedOut):
                continue
            except Again as e:
                why = str(e)
                await asyncio.sleep(min(pause * random.uniform(0.5, 1.5), left))  # noqa: S311
            except BackPressure:
                now = loop.time()
                if now >= full_until:
                    raise
                deadline = max(deadline, full_until)
                await asyncio.sleep(min(pause * random.uniform(0.5, 1.5), full_until - now))  # noqa: S311
            pause = min(2 * pause, 1.0)
