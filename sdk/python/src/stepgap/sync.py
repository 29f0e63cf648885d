"""The client for code without an event loop, such as a trainer's reward function.

A `Client` has a thread of its own with an event loop, in which an asynchronous client
lives. It may be called from any thread, also from several at once::

    with stepgap.sync.Client("nats://127.0.0.1:4222", run=run) as client:
        with client.rollout(question, group="q12") as r:
            label = r.step(query=query, passages=passages, claim=claim)
            r.end(answer, gold)
        reward = client.reward(r)

A client does not live through a fork: in the child each call raises `ForkedError`. Make
one in each process, for example in a data loader's worker_init_fn.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from . import rollout as _async
from ._thread import LoopThread
from .client import Client as AsyncClient
from .client import connect
from .errors import ConnectionLost, ForkedError
from .group import Group
from .messages import Reward, StepRef

__all__ = ["Client", "Rollout"]

log = logging.getLogger("stepgap")

T = TypeVar("T")
P = ParamSpec("P")


def _of_client(
    call: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Client, P], T]:
    """A method of `Client` from that of the asynchronous one: its arguments, result and words."""

    @functools.wraps(call)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.run(call(self._client, *args, **kwargs))

    return method


def _of_rollout(
    call: Callable[Concatenate[_async.Rollout, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Rollout, P], T]:
    """The same for a `Rollout`."""

    @functools.wraps(call)
    def method(self: Rollout, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.run(call(self._rollout, *args, **kwargs))

    return method


class Client:
    """A connected client. Takes the arguments of `stepgap.connect`; call `close`, or use `with`.

    A client that is not closed is closed when the interpreter ends. Its calls have the
    arguments, results and errors of those of `stepgap.Client`.

    Raises:
        ConnectionLost: no connection within `connect_timeout`.
    """

    def __init__(self, url: str | list[str] = "nats://127.0.0.1:4222", **options: Any) -> None:
        self._client = connect(url, **options)
        self._loop = LoopThread(self._client.close)
        try:
            self._loop.run(self._client.open())
        except BaseException:
            self._loop.close()
            raise

    @property
    def run(self) -> str:
        """The run that calls refer to where they name none."""
        return self._client.run

    def close(self) -> None:
        """Close the connection and end the thread; safe to call twice, and in a forked child."""
        self._loop.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def rollout(
        self,
        question: str,
        *,
        group: str = "",
        group_size: int = 0,
        rollout: str | None = None,
        run: str | None = None,
    ) -> Rollout:
        """Begin a rollout; use it in `with`."""
        self._loop.check()
        begun = self._client.rollout(question, group=group, group_size=group_size, rollout=rollout, run=run)
        return Rollout(self._loop, begun)

    publish_step = _of_client(AsyncClient.publish_step)
    publish_steps = _of_client(AsyncClient.publish_steps)
    publish_end = _of_client(AsyncClient.publish_end)
    put_passage = _of_client(AsyncClient.put_passage)

    def reward(
        self, rollout: str | Rollout, *, run: str | None = None, timeout: float | None = None
    ) -> Reward | None:
        """The reward of a rollout; None if it has not come in time."""
        return self._loop.run(self._client.reward(_inner(rollout), run=run, timeout=timeout))

    def group(
        self,
        group: str,
        size: int,
        *,
        rollouts: Sequence[str | Rollout] | None = None,
        run: str | None = None,
        deadline: float | None = None,
    ) -> Group:
        """The rewards of a group: all of them, or those that came by the deadline."""
        members = None if rollouts is None else [_inner(r) for r in rollouts]
        return self._loop.run(self._client.group(group, size, rollouts=members, run=run, deadline=deadline))

    def rewards(
        self, run: str | None = None, *, after: int = 0, idle_timeout: float | None = None
    ) -> Iterator[Reward]:
        """Every reward of a run, those that stand and those to come, each once."""
        feed = self._client.rewards(run, after=after, idle_timeout=idle_timeout)
        try:
            while rewards := self._loop.run(feed.batch()):
                yield from rewards
        finally:
            with contextlib.suppress(ConnectionLost, ForkedError):  # it ended with the client
                self._loop.run(feed.aclose())


class Rollout:
    """A rollout being written; see `stepgap.Rollout` for each call."""

    def __init__(self, loop: LoopThread, rollout: _async.Rollout) -> None:
        self._loop = loop
        self._rollout = rollout

    @property
    def rollout(self) -> str:
        """Its id."""
        return self._rollout.rollout

    @property
    def run(self) -> str:
        """Its run's id."""
        return self._rollout.run

    @property
    def steps(self) -> list[StepRef]:
        """The accepted steps."""
        return self._rollout.steps

    @property
    def ended(self) -> bool:
        """Whether the end was published."""
        return self._rollout.ended

    step = _of_rollout(_async.Rollout.step)
    conclude = _of_rollout(_async.Rollout.conclude)
    plan = _of_rollout(_async.Rollout.plan)
    probe = _of_rollout(_async.Rollout.probe)
    label = _of_rollout(_async.Rollout.label)
    end = _of_rollout(_async.Rollout.end)
    abort = _of_rollout(_async.Rollout.abort)
    reward = _of_rollout(_async.Rollout.reward)

    def __enter__(self) -> Rollout:
        self._loop.check()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._loop.run(self._rollout.__aexit__(kind, error, trace))
        except ConnectionLost as e:  # as the asynchronous one: what the block raised counts
            if not self.ended:
                log.warning("rollout %s of run %s: it was left without an end: %s", self.rollout, self.run, e)


def _inner(rollout: str | Rollout) -> str | _async.Rollout:
    return rollout._rollout if isinstance(rollout, Rollout) else rollout
