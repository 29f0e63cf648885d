"""One connection to NATS, made safe where nats-py leaves a trap.

- nats-py's own requests wait out their whole time-out when the connection drops.
  Here every answer that is waited for fails at once (`Dropped`), and the caller
  asks again when the connection is up.
- After a reconnect nats-py counts as connected before its subscriptions stand
  again, so an answer may be lost. `up` here means that they stand.
- nats-py swallows a task's cancellation while it flushes, and a `flush` that is
  cancelled kills its reading loop without a word. Here nothing of nats-py's that
  waits is awaited by a caller: publishing with a pending size of 0 never waits,
  and time limits are timers on our own futures.
- A publish while disconnected would be buffered, and sent at some later time or
  never. A pending size of 0 makes it fail instead.
- nats-py closes for good on errors that pass ("maximum connections exceeded", an
  account that is being updated). Here a new connection is dialled.
- A callback that raises would end nats-py's reading loop. Here none does.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Any

import nats
import nats.errors
from nats.aio.client import Client as NatsClient

from ._message import Message
from .errors import ConnectionLost, DeadlineExceeded

log = logging.getLogger("stepgap")

Handler = Callable[[Message], None]
Answered = Callable[["Message | Exception"], None]
COARSE_TIMEOUT = 4.0
"""Seconds; see `Connection.ask`."""
OnEvent = Callable[[str, "Exception | None"], Any]


class Dropped(Exception):
    """The connection dropped before the answer came. Internal: callers ask again."""


class TimedOut(Exception):
    """The answer did not come in time. Internal: callers say what they waited for."""


class _Client(NatsClient):  # type: ignore[misc]
    """nats-py's client with a shorter way from the socket to a handler.

    nats-py parses the headers of each message, queues it, and wakes a task that calls
    a coroutine; that is most of what receiving costs. The messages of the subscriptions
    in `handlers` go straight to their handler instead. Where nats-py has no such method
    any more, its own way is used: `Subscription.attach` gives it a callback as well.
    """

    def __init__(self) -> None:
        super().__init__()
        self.handlers: dict[int, Handler] = {}

    async def _process_msg(self, sid: int, *rest: Any) -> None:
        handler = self.handlers.get(sid)
        if handler is None or len(rest) != 4:
            await super()._process_msg(sid, *rest)
            return
        subject, reply, data, headers = rest
        handler(Message(subject.decode(), reply, data, headers))


class Subscription:
    """A handler of the messages on a subject; it outlives connections."""

    def __init__(self, connection: Connection, subject: str, handler: Handler) -> None:
        self.subject = subject
        self._connection = connection
        self._handler = handler
        self._sub: Any = None

    async def attach(self, nc: NatsClient) -> None:
        """Subscribe on a new connection."""
        handler = self._handler

        def call(message: Message) -> None:
            try:
                handler(message)
            except Exception:
                log.exception("handling a message on %s", message.subject)

        async def call_back(msg: Any) -> None:
            message = Message(msg.subject, msg.reply.encode(), msg.data, None)
            message.headers = dict(msg.headers or {})
            call(message)

        self._sub = await nc.subscribe(self.subject, cb=call_back)
        sid = getattr(self._sub, "_id", None)
        if isinstance(nc, _Client) and sid is not None:
            nc.handlers[sid] = call

    async def close(self) -> None:
        """Unsubscribe; safe to call at any time."""
        self._connection.forget(self)
        sub, self._sub = self._sub, None
        if sub is not None:
            handlers = getattr(getattr(sub, "_conn", None), "handlers", {})
            handlers.pop(getattr(sub, "_id", None), None)
            with contextlib.suppress(nats.errors.Error):  # disconnected or closed: nothing to undo
                await sub.unsubscribe()


class Connection:
    """A connection that stays: see the module. Belongs to one event loop."""

    def __init__(self, url: str | list[str], options: dict[str, Any], on_event: OnEvent | None) -> None:
        self._url = url
        self._options = options
        self._on_event = on_event
        self._nc: NatsClient | None = None
        self._up = asyncio.Event()
        self._closing = False
        self._subscriptions: set[Subscription] = set()
        self._waiting: dict[str, tuple[Answered, asyncio.TimerHandle | None]] = {}
        self._coarse: dict[str, float] = {}
        self._sweeper: asyncio.TimerHandle | None = None
        self._tokens = itertools.count()
        self._inbox = ""
        self._last_error: Exception | None = None
        self._redialling: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self.generation = 0
        """Goes up with each time that the connection comes up."""
        self.listeners: set[Callable[[], None]] = set()
        """Called when the connection goes down, comes up or is closed; must not block or raise."""

    # Opening and closing.

    async def open(self, timeout: float) -> None:
        """Connect, trying again until timeout seconds are over."""
        try:
            self._nc = await self._dial(timeout)
        except (Exception, asyncio.CancelledError) as e:
            self._closing = True
            if isinstance(e, Exception):
                raise ConnectionLost(
                    f"connecting to NATS at {self._shown()}: no connection within {timeout:g} s "
                    f"({self._last_error or e or type(e).__name__}); "
                    "is the server there, and is this its URL?"
                ) from e
            raise
        self._inbox = self._nc.new_inbox() + "."
        await self.subscribe(self._inbox + "*", self._answered)
        self._came_up("connected")

    async def close(self) -> None:
        """Close the connection; whatever is waited for ends with `ConnectionLost`."""
        if self._closing:
            return
        self._closing = True
        self._went_down()
        self._up.set()  # wakes those that wait for it; they see that it is closed
        if self._redialling is not None:
            self._redialling.cancel()
        if self._nc is not None:
            try:
                await self._nc.close()
            except Exception as e:
                log.debug("closing the connection: %s", e)
        if self._sweeper is not None:
            self._sweeper.cancel()
        for task in list(self._tasks):
            task.cancel()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closing

    @property
    def is_up(self) -> bool:
        """Whether messages can be sent now."""
        return self._up.is_set() and not self._closing

    @property
    def max_payload(self) -> int:
        """The server's limit of a message, in bytes."""
        return int(self._nc.max_payload) if self._nc is not None else 0

    async def wait_up(self, deadline: float) -> None:
        """Wait until messages can be sent; deadline by the loop's clock."""
        while not self.is_up:
            self._check_open()
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                raise ConnectionLost(
                    f"no connection to NATS at {self._shown()}"
                    f" ({self._last_error or 'it was lost'}); it is tried again in the background"
                )
            try:
                await asyncio.wait_for(self._up.wait(), left)
            except asyncio.TimeoutError:
                continue

    def _check_open(self) -> None:
        if self._closing:
            raise ConnectionLost("the client is closed; make a new one")

    def _shown(self) -> str:
        urls = [self._url] if isinstance(self._url, str) else self._url
        return ", ".join(url.rsplit("@", 1)[-1] for url in urls)  # no passwords in messages

    # Sending.

    async def publish(
        self, subject: str, body: bytes, headers: dict[str, str] | None, reply: str = ""
    ) -> None:
        """Hand a message to the socket. Raises `Dropped` while disconnected; never waits."""
        self._check_open()
        nc = self._nc
        if nc is None or not self._up.is_set():
            raise Dropped
        try:
            await nc.publish(subject, body, reply, headers)
        except (nats.errors.OutboundBufferLimitError, nats.errors.ConnectionClosedError) as e:
            self._went_down()
            raise Dropped from e
        except nats.errors.ConnectionDrainingError as e:
            raise Dropped from e

    async def ask(
        self,
        subject: str,
        body: bytes,
        headers: dict[str, str] | None,
        timeout: float,
        answered: Answered,
        *,
        coarse: bool = False,
    ) -> str:
        """Send a request; answered is called once, with the answer, `Dropped` or `TimedOut`.

        With coarse, the time-out is one or two `COARSE_TIMEOUT`, whatever timeout says:
        then no timer is made for each of many requests. Returns a token for
        `forget_answer`. Raises `Dropped` if it could not be sent.
        """
        token = str(next(self._tokens))
        loop = asyncio.get_running_loop()
        timer = None
        if coarse:
            self._coarse[token] = loop.time() + COARSE_TIMEOUT
            if self._sweeper is None:
                self._sweeper = loop.call_later(COARSE_TIMEOUT, self._sweep)
        else:
            timer = loop.call_later(timeout, self._answer, token, TimedOut())
        self._waiting[token] = (answered, timer)
        try:
            await self.publish(subject, body, headers, self._inbox + token)
        except BaseException:
            self.forget_answer(token)
            raise
        return token

    def forget_answer(self, token: str) -> None:
        """Nobody waits for this answer any more."""
        waiting = self._waiting.pop(token, None)
        if waiting is not None and waiting[1] is not None:
            waiting[1].cancel()
        self._coarse.pop(token, None)

    def _sweep(self) -> None:
        """Time out what has waited for too long; in the order in which it was sent."""
        loop = asyncio.get_running_loop()
        self._sweeper = None
        now = loop.time()
        for token, expiry in list(self._coarse.items()):
            if expiry > now:
                break
            self._answer(token, TimedOut())
        if self._coarse:
            self._sweeper = loop.call_later(COARSE_TIMEOUT, self._sweep)

    async def request(
        self,
        subject: str,
        body: bytes = b"",
        timeout: float = 5.0,
        headers: dict[str, str] | None = None,
    ) -> Message:
        """Send a request and wait for its answer. Raises `Dropped` or `TimedOut`."""
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        def answered(answer: Message | Exception) -> None:
            if future.done():
                return
            if isinstance(answer, Message):
                future.set_result(answer)
            else:
                future.set_exception(answer)

        token = await self.ask(subject, body, headers, timeout, answered)
        try:
            return await future
        finally:
            self.forget_answer(token)

    async def subscribe(self, subject: str, handler: Handler) -> Subscription:
        """Call handler with every message on subject. The handler must not block."""
        self._check_open()
        subscription = Subscription(self, subject, handler)
        self._subscriptions.add(subscription)
        if self._nc is not None and not self._nc.is_closed:
            await subscription.attach(self._nc)
        return subscription

    def forget(self, subscription: Subscription) -> None:
        """Drop a subscription from those that are made again on a new connection."""
        self._subscriptions.discard(subscription)

    def new_inbox(self) -> str:
        """A fresh subject for answers."""
        self._check_open()
        assert self._nc is not None
        return str(self._nc.new_inbox())

    def spawn(self, work: Awaitable[Any]) -> None:
        """Run work in the background until it is done or the connection is closed."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _answered(self, message: Message) -> None:
        self._answer(message.subject[len(self._inbox) :], message)

    def _answer(self, token: str, answer: Message | Exception) -> None:
        waiting = self._waiting.pop(token, None)
        if waiting is not None:
            answered, timer = waiting
            if timer is not None:
                timer.cancel()
            else:
                self._coarse.pop(token, None)
            answered(answer)

    # The connection's ups and downs.

    async def _dial(self, timeout: float) -> NatsClient:
        loop = asyncio.get_running_loop()
        refused: asyncio.Future[None] = loop.create_future()
        nc = _Client()

        async def on_error(e: Exception) -> None:
            self._last_error = e
            if not refused.done() and "authorization" in str(e).lower():
                refused.set_exception(e)  # no server will change its mind about that
            self._tell("error", e)

        async def on_disconnect() -> None:
            if nc is self._nc and not self._closing:
                self._went_down()
                self._tell("disconnected", self._last_error)

        async def on_reconnect() -> None:
            if nc is self._nc:
                self._came_up("reconnected")

        async def on_close() -> None:
            if nc is self._nc and not self._closing:
                self._last_error = last_error(nc) or self._last_error
                self._went_down()
                self._redialling = asyncio.ensure_future(self._redial())

        options: dict[str, Any] = {
            "name": "stepgap-python",
            "connect_timeout": 5,
            "ping_interval": 10,
            "reconnect_time_wait": random.uniform(0.2, 0.5),  # noqa: S311 (not all clients at once)
            **self._options,
            "max_reconnect_attempts": -1,
            "pending_size": 0,
            "error_cb": on_error,
            "disconnected_cb": on_disconnect,
            "reconnected_cb": on_reconnect,
            "closed_cb": on_close,
        }
        connecting = asyncio.ensure_future(nc.connect(self._url, **options))
        try:
            await asyncio.wait({connecting, refused}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if refused.done() or not connecting.done():
                raise refused.exception() or TimeoutError() if refused.done() else TimeoutError()
            await connecting
        except BaseException:
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
            await _close_quietly(nc)
            raise
        finally:
            if not refused.done():
                refused.cancel()
        return nc

    async def _redial(self) -> None:
        pause = 0.2
        while not self._closing:
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
            pause = min(2 * pause, 5.0)
            try:
                nc = await self._dial(10.0)
            except Exception as e:
                log.warning("connecting again to NATS at %s: %s", self._shown(), self._last_error or e)
                continue
            self._nc = nc
            for subscription in list(self._subscriptions):
                await subscription.attach(nc)
            self._came_up("reconnected")
            return

    def _came_up(self, event: str) -> None:
        self.generation += 1
        self._up.set()
        self._notify()
        self._tell(event, None)

    def _notify(self) -> None:
        for listener in list(self.listeners):
            listener()

    def _went_down(self) -> None:
        if not self._closing:
            self._up.clear()
        for token in list(self._waiting):
            self._answer(token, ConnectionLost("the client was closed") if self._closing else Dropped())
        self._notify()

    def _tell(self, event: str, error: Exception | None) -> None:
        if error is None:
            log.debug("NATS at %s: %s", self._shown(), event)
        else:
            log.info("NATS at %s: %s: %s", self._shown(), event, error)
        if self._on_event is None:
            return
        try:
            result = self._on_event(event, error)
            if inspect.isawaitable(result):
                self.spawn(_guarded(result))
        except Exception:
            log.exception("the on_event callback raised")


def last_error(nc: NatsClient) -> Exception | None:
    """Why nats-py closed a connection."""
    error = nc.last_error
    return error if isinstance(error, Exception) else None


async def _guarded(work: Awaitable[Any]) -> None:
    try:
        await work
    except Exception:
        log.exception("the on_event callback raised")


async def _close_quietly(nc: NatsClient) -> None:
    try:
        await nc.close()
    except Exception as e:
        log.debug("closing a connection that was not made: %s", e)


def deadline_error(doing: str, seconds: float) -> DeadlineExceeded:
    """The error of a call whose time is over."""
    return DeadlineExceeded(
        f"{doing}: no word from the server within {seconds:g} s; calling again with the same content is safe"
    )
