"""An event loop in a thread of its own, for callers that have none, or one that may end first."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from .errors import ConnectionLost, ForkedError, StepgapError

__all__ = ["LoopThread"]

T = TypeVar("T")

_JOIN = 5.0
"""Seconds that `close` waits for the thread; work that will not be cancelled is left to it."""


class LoopThread:
    """An event loop in a thread of its own; ended by `close`, or with the interpreter.

    Args:
        closing: run in the loop before it ends.
    """

    def __init__(self, closing: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._pid = os.getpid()
        self._closing = closing
        self._closed = False
        self._lock = threading.Lock()  # what is submitted stands in the loop's queue before its end does
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, name="stepgap", daemon=True)
        self._thread.start()
        # While the thread runs this object lives, so that is at the interpreter's end.
        self._at_exit = weakref.finalize(self, self.close)

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def check(self) -> None:
        """Raise what hinders a caller from waiting for work here.

        Raises:
            ForkedError: this is a child of the process that made it.
            StepgapError: the caller is in the loop itself.
        """
        if os.getpid() != self._pid:
            raise ForkedError(
                "this client was made before a fork, in the parent process; make one in each process"
            )
        if threading.current_thread() is self._thread:
            raise StepgapError(
                "a synchronous client was called from within its own event loop (an on_event callback?); "
                "that would wait for itself for ever"
            )

    def _submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        try:
            self.check()
            with self._lock:
                if self._closed:
                    raise ConnectionLost("the client is closed; make a new one")
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        except StepgapError:
            work.close()
            raise

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do work in the loop and wait for it.

        Raises:
            ConnectionLost: it is closed, or was while the work went on.
            ForkedError, StepgapError: as `check`.
        """
        future = self._submit(work)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise ConnectionLost("the client was closed") from None
        except BaseException:
            future.cancel()  # a KeyboardInterrupt here ends the work there
            raise

    async def arun(self, work: Coroutine[Any, Any, T]) -> T:
        """The same for a caller in another event loop; cancelling it cancels the work."""
        future = self._submit(work)
        waiting = asyncio.wrap_future(future)
        try:
            await asyncio.wait({waiting})  # this is cancelled by the caller alone, not with the work
        finally:
            waiting.cancel()
        if waiting.cancelled():
            raise ConnectionLost("the client was closed")
        return waiting.result()

    def close(self) -> None:
        """Run `closing`, then end the loop; safe to call twice, from any thread, and in a forked child."""
        if os.getpid() != self._pid:
            return
        self.check()
        with self._lock:
            if self._closed:
                return
            self._closed = True
            closed = asyncio.run_coroutine_threadsafe(self._closing(), self._loop)
        self._at_exit.detach()
        try:
            closed.result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_JOIN)
