"""The event loop in a thread: of the synchronous client and of the adapters."""

from __future__ import annotations

import asyncio
import gc
import inspect
import pickle
import threading
import weakref
from collections.abc import Iterator

import pytest

import stepgap
from stepgap import sync
from stepgap._thread import LoopThread
from stepgap.adapters.clients import ClientThread

from .conftest import Server
from .test_sync import script


async def nothing() -> None:
    pass


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    thread = LoopThread(nothing)
    yield thread
    thread.close()


def test_work_that_goes_on_at_the_end_is_a_lost_connection_and_nobody_hangs(thread: LoopThread) -> None:
    began = threading.Barrier(9)
    errors: list[BaseException] = []

    def call() -> None:
        began.wait()
        while True:
            try:
                thread.run(asyncio.sleep(0.001))
            except BaseException as e:
                errors.append(e)
                return

    callers = [threading.Thread(target=call) for _ in range(8)]
    for caller in callers:
        caller.start()
    began.wait()
    thread.close()
    for caller in callers:
        caller.join(30)
    assert [type(e) for e in errors] == [stepgap.ConnectionLost] * 8


def test_threads_that_close_at_once_all_succeed() -> None:
    ended: list[int] = []

    async def closing() -> None:
        ended.append(1)

    thread = LoopThread(closing)
    failed: list[BaseException] = []

    def close() -> None:
        try:
            thread.close()
        except BaseException as e:
            failed.append(e)

    closers = [threading.Thread(target=close) for _ in range(8)]
    for closer in closers:
        closer.start()
    for closer in closers:
        closer.join(30)
    assert (ended, failed) == ([1], [])


def test_what_is_closed_leaves_nothing_behind() -> None:
    thread = LoopThread(nothing)
    thread.close()
    left = weakref.ref(thread)
    del thread
    gc.collect()
    assert left() is None
    assert not any(t.name == "stepgap" and t.is_alive() for t in threading.enumerate())


async def test_a_cancelled_caller_cancels_the_work_and_a_closed_thread_is_no_cancellation(
    thread: LoopThread,
) -> None:
    began, ended = threading.Event(), threading.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    calling = asyncio.ensure_future(thread.arun(work()))
    assert await asyncio.to_thread(began.wait, 30)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert await asyncio.to_thread(ended.wait, 30)

    began.clear()
    calling = asyncio.ensure_future(thread.arun(work()))
    assert await asyncio.to_thread(began.wait, 30)
    await asyncio.to_thread(thread.close)
    with pytest.raises(stepgap.ConnectionLost, match="was closed"):
        await calling
    with pytest.raises(stepgap.ConnectionLost, match="make a new one"):
        await thread.arun(work())


def test_an_adapters_client_is_one_a_process_and_begins_anew_after_its_end(server: Server) -> None:
    shared = ClientThread(server.url)

    async def run() -> str:
        return (await shared.client()).run

    runs: list[str] = []
    callers = [threading.Thread(target=lambda: runs.append(shared.run(run))) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert len(runs) == 8
    assert len(set(runs)) == 1
    copy = pickle.loads(pickle.dumps(shared))  # noqa: S301 (pickled in the same line)
    shared.close()
    shared.close()
    assert shared.run(run) not in runs
    shared.close()
    assert not copy._processes, "a copy has a client of its own, made when it is needed"
    assert not any(t.name == "stepgap" and t.is_alive() for t in threading.enumerate())


def test_an_adapters_client_called_from_its_own_loop_refuses_instead_of_hanging() -> None:
    shared = ClientThread("nats://127.0.0.1:1")

    async def inside() -> None:
        shared.run(nothing)

    with pytest.raises(stepgap.StepgapError, match="own event loop"):
        shared.run(inside)
    shared.close()


def test_an_adapters_client_is_made_anew_in_a_forked_child(server: Server) -> None:
    done = script(
        """
        import os, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads: that is the point
        from stepgap.adapters.clients import ClientThread
        shared = ClientThread(sys.argv[1])
        async def run():
            return (await shared.client()).run
        parent = shared.run(run)
        child = os.fork()
        if child == 0:
            own = shared.run(run)
            shared.close()
            os._exit(7 if own != parent else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert shared.run(run) == parent
        """,
        server.url,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("ours", "theirs"), [(sync.Client, stepgap.Client), (sync.Rollout, stepgap.Rollout)])
def test_synchronous_calls_have_the_arguments_of_the_asynchronous_ones(ours: type, theirs: type) -> None:
    for name, call in inspect.getmembers(ours, inspect.isfunction):
        if name.startswith("_"):
            continue
        mine, other = inspect.signature(call).parameters, inspect.signature(getattr(theirs, name)).parameters
        assert list(mine) == list(other), name
        assert [p.default for p in mine.values()] == [p.default for p in other.values()], name
        assert not inspect.iscoroutinefunction(call), name
