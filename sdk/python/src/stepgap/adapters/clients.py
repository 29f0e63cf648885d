"""A client in a thread of its own, connected when it is first needed."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from .._thread import LoopThread
from ..client import Client, connect

__all__ = ["ClientThread", "MakeClient"]

T = TypeVar("T")

MakeClient = str | Callable[[], Client]
"""The URL of the pipeline's NATS server, or a function that makes a client."""


class ClientThread:
    """Runs work with a connected client in a thread that outlives the caller's event loop.

    Trainers call reward functions from loops and threads of their own, which end when they
    like, and from processes that were forked or unpickled. So the client is made where it
    is used first, once a process. A connection that can't be made is tried again by the
    next call.
    """

    def __init__(self, client: MakeClient) -> None:
        self._make = client
        self._processes: dict[int, _Process] = {}

    def __reduce__(self) -> tuple[type[ClientThread], tuple[MakeClient]]:
        return type(self), (self._make,)

    def _here(self) -> _Process:
        # What a fork brought along belongs to the parent, its locks too, and is left alone.
        return self._processes.setdefault(os.getpid(), _Process(self._make))

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run work in the thread and wait for it; for callers without an event loop.

        Raises:
            ConnectionLost: this was closed meanwhile.
        """
        return self._here().thread().run(work())

    async def arun(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The same for callers in a running loop."""
        return await self._here().thread().arun(work())

    async def client(self) -> Client:
        """The connected client; to be called by work alone.

        Raises:
            ConnectionLost: no connection within the client's `connect_timeout`.
        """
        return await self._here().client()

    def close(self) -> None:
        """Close the client and end the thread. The next call begins anew."""
        process = self._processes.pop(os.getpid(), None)
        if process is not None:
            process.close()


class _Process:
    """The thread and the client of one process."""

    def __init__(self, make: MakeClient) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._thread: LoopThread | None = None
        self._opening: asyncio.Lock | None = None
        self._client: Client | None = None

    def thread(self) -> LoopThread:
        with self._lock:
            if self._thread is None:
                self._thread = LoopThread(self._close_client)
            return self._thread

    async def client(self) -> Client:
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._client is None:
                made = connect(self._make) if isinstance(self._make, str) else self._make()
                self._client = await made.open()
        return self._client

    async def _close_client(self) -> None:
        if self._client is not None:
            await self._client.close()

    def close(self) -> None:
        with self._lock:
            if self._thread is not None:
                self._thread.close()
