"""One rollout: its steps in order, live checks on the way, its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import limits
from ._standing import Announcements, wait_label
from .codec import passage_digest
from .errors import (
    BackPressure,
    ConnectionLost,
    DeadlineExceeded,
    IdReused,
    RolloutClosed,
    StepgapError,
    ValidationError,
)
from .messages import (
    Kind,
    Label,
    LiveAnswer,
    LiveKind,
    Passage,
    Prior,
    Reward,
    RolloutEnd,
    Span,
    Step,
    StepRef,
)
from .prepare import Prepared, prepare_end, prepare_step
from .subjects import HEADER_DEADLINE, duration, label_subject

if TYPE_CHECKING:
    from .client import Client

__all__ = ["PassageLike", "Rollout", "SpanLike"]

log = logging.getLogger("stepgap")

PassageLike = str | tuple[str, str] | Mapping[str, Any] | Passage
"""A text, (title, text), a mapping with "title" and "text", or a `Passage`."""
SpanLike = tuple[str, int, int] | Span
"""(kind, start, end) or a `Span`; kind is plan, action, claim or answer."""


class Rollout:
    """A rollout being written. Made by `Client.rollout`; an `async with` block.

    Steps are numbered in the order of the calls, and each carries what stages need of
    the earlier ones (queries, claims, passages). A block that is left by an exception,
    or without `end`, sends an aborted end: the rollout's reward is then null, and
    nobody waits for it in vain.

    Not for concurrent use: a rollout's steps come one after the other.
    """

    def __init__(
        self, client: Client, question: str, rollout: str, run: str, group: str, group_size: int
    ) -> None:
        self.question = question
        self.rollout = rollout
        """Its id."""
        self.run = run
        self.group = group
        self.group_size = group_size
        self._client = client
        self._steps: list[StepRef] = []
        self._history: list[Prior] = []
        self._passages: dict[str, Passage] = {}
        self._doubtful: dict[int, str] = {}
        self._saw = 0
        self._ended = False
        self._announcements: Announcements | None = None

    @property
    def ended(self) -> bool:
        """Whether the end was published."""
        return self._ended

    @property
    def steps(self) -> list[StepRef]:
        """The accepted steps, with the digests of their bodies."""
        return list(self._steps)

    async def step(
        self,
        query: str = "",
        passages: Iterable[PassageLike] = (),
        claim: str = "",
        *,
        text: str = "",
        plan: str = "",
        spans: Iterable[SpanLike] = (),
        wait: bool = True,
        timeout: float | None = None,
        deadline: float | None = None,
        saw: int | None = None,
    ) -> Label | None:
        """Publish a search step, and wait for its label.

        Args:
            query: the search query; empty for facts claimed before the first search.
            passages: what the retriever returned for it, and nothing else.
            claim: the sentences that assert facts; empty: a stage reads them from `text`.
            text: what the policy wrote after the evidence, as written.
            plan: what it wrote before the query.
            spans: where plan, action and claim stand in the rollout's text, in code points.
            wait: False returns None as soon as the step is accepted.
            timeout: seconds to wait for the label; None: the client's `label_timeout`.
            deadline: seconds from its acceptance after which the step is given up as
                ungraded; 0 for none; None: the pipeline's default.
            saw: highest index whose label the policy had seen; None: that of the last
                label that was returned here.

        Returns:
            The label, or None if it has not come in time. An ungraded label says why.

        Raises:
            ValidationError: a field is wrong; nothing left the process.
            BackPressure: the pipeline is full; the step was not accepted.
            DeadlineExceeded, ConnectionLost: not known whether it was accepted. To call
                again with the same arguments is safe.
            IdReused: another step's label stands under this id.
            RolloutClosed: the rollout has ended.
        """
        step = self._new(
            "search", query=query, claim=claim, text=text, plan=plan, spans=spans, passages=passages, saw=saw
        )
        return await self._publish(step, wait, timeout, deadline)

    async def conclude(
        self,
        answer: str,
        claim: str = "",
        *,
        text: str = "",
        plan: str = "",
        spans: Iterable[SpanLike] = (),
        wait: bool = True,
        timeout: float | None = None,
        deadline: float | None = None,
        saw: int | None = None,
    ) -> Label | None:
        """Publish the conclusion: a step without passages, whose claim follows from earlier ones.

        Arguments, result and errors are those of `step`; `answer` is the final answer.
        """
        step = self._new(
            "conclusion", answer=answer, claim=claim, text=text, plan=plan, spans=spans, passages=(), saw=saw
        )
        return await self._publish(step, wait, timeout, deadline)

    async def plan(self, query: str, *, plan: str = "", timeout: float | None = None) -> LiveAnswer | None:
        """Ask whether a planned query aims at what the question needs; nothing is retrieved yet.

        Returns:
            The answer, never rewarded; None if none came within timeout seconds (None:
            the client's `live_timeout`), whatever the cause. A policy goes on without it.

        Raises:
            ValidationError, RolloutClosed: as for `step`.
        """
        return await self._ask(
            "plan", self._new("search", query=query, plan=plan, passages=(), carry=False), timeout
        )

    async def probe(
        self, query: str, passages: Iterable[PassageLike], *, plan: str = "", timeout: float | None = None
    ) -> LiveAnswer | None:
        """Ask whether passages that just came in are about what is needed; nothing is claimed yet.

        Result and errors are those of `plan`.
        """
        step = self._new("search", query=query, plan=plan, passages=passages, carry=False)
        return await self._ask("probe", step, timeout)

    async def end(
        self, answer: str = "", gold: str | Iterable[str] = (), *, deadline: float | None = None
    ) -> None:
        """Publish the end of the rollout; its reward follows.

        Args:
            answer: the final answer; empty: none was given, which is a wrong one.
            gold: the accepted answers; without one the reward has no outcome part.
            deadline: seconds for which missing labels are waited for; None: the
                pipeline's default.

        Raises:
            As `step`, without IdReused.
        """
        self._check_open()
        golds = [gold] if isinstance(gold, str) else list(gold)
        await self._publish_end(answer=answer, gold=golds, deadline=deadline)

    async def abort(self, reason: str) -> None:
        """End the rollout as given up; its reward is null with the reason `aborted`."""
        self._check_open()
        await self._publish_end(aborted=True, abort_reason=_cut(reason, limits.MAX_DETAIL))

    async def reward(self, timeout: float | None = None) -> Reward | None:
        """The reward of this rollout; None if it has not come in time (see `Client.reward`)."""
        return await self._client.reward(self.rollout, run=self.run, timeout=timeout)

    async def __aenter__(self) -> Rollout:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if not self._ended:
                await self._abort_after(error)
        finally:
            await self._stop_listening()

    async def _abort_after(self, error: BaseException | None) -> None:
        reason = "the rollout was left without an end"
        if error is not None:
            reason = f"{type(error).__name__}: {error}"
        # In a task of its own: a rollout that is cancelled still says that it is over.
        work = asyncio.ensure_future(self.abort(reason))
        try:
            await asyncio.shield(work)
        except (StepgapError, OSError) as e:
            log.warning(
                "rollout %s of run %s: its aborted end was not accepted: %s", self.rollout, self.run, e
            )
        except asyncio.CancelledError:
            self._client.connection.spawn(_logged(work, self.rollout))
            raise

    # How a step is made.

    def _check_open(self) -> None:
        if self._ended:
            raise RolloutClosed(f"rollout {self.rollout} of run {self.run} has ended; begin another one")

    def _new(
        self,
        kind: Kind,
        *,
        passages: Iterable[PassageLike],
        query: str = "",
        claim: str = "",
        text: str = "",
        plan: str = "",
        answer: str = "",
        spans: Iterable[SpanLike] = (),
        saw: int | None = None,
        carry: bool = True,
    ) -> Step:
        self._check_open()
        index = self._next_index()
        return Step(
            run=self.run,
            rollout=self.rollout,
            index=index,
            kind=kind,
            question=self.question,
            plan=plan,
            query=query,
            text=text,
            claim=claim,
            answer=answer,
            passages=self._with_earlier(index, passages, carry),
            history=list(self._history),
            spans=[_span(i, s) for i, s in enumerate(spans)],
            saw=min(self._saw, index - 1) if saw is None else saw,
        )

    def _next_index(self) -> int:
        return (self._steps[-1].index if self._steps else 0) + 1

    def _with_earlier(self, index: int, own: Iterable[PassageLike], carry: bool) -> list[Passage]:
        """Earlier and own passages, each once; one that came before is this step's own too.

        A step holds a bounded number of them; the oldest are left out.
        """
        earlier = dict(self._passages) if carry else {}
        fresh: dict[str, Passage] = {}
        if isinstance(own, (str, bytes)):
            raise ValidationError("passages", "is a single text; give a list of passages")
        for i, given in enumerate(own):
            passage = _passage(f"passages[{i}]", given, index)
            earlier.pop(passage.digest, None)
            fresh[passage.digest] = passage
        room = max(limits.MAX_PASSAGES - len(fresh), 0)
        return [*list(earlier.values())[max(len(earlier) - room, 0) :], *fresh.values()]

    async def _publish(
        self, step: Step, wait: bool, timeout: float | None, deadline: float | None
    ) -> Label | None:
        prepared = await self._fit(step)
        while self._doubtful.get(step.index, prepared.digest) != prepared.digest:
            # It is not known whether another step was accepted under this id.
            for passage in step.passages:
                if passage.by_step == step.index:
                    passage.by_step += 1
            step.index += 1
            prepared = await self._fit(step)
        headers = None if deadline is None else {HEADER_DEADLINE: duration(deadline)}
        try:
            await self._client.publisher.publish(prepared, headers)
        except (DeadlineExceeded, ConnectionLost, asyncio.CancelledError):
            self._doubtful[step.index] = prepared.digest
            raise
        self._accepted(step, prepared.digest)
        if not wait:
            return None
        label = await self.label(step.index, self._client.label_timeout if timeout is None else timeout)
        if label is not None:
            self._saw = max(self._saw, step.index)
        return label

    async def _fit(self, step: Step) -> Prepared:
        """Prepare a step; where it is too large for the server, its earlier passages go by reference."""
        limit = min(self._client.connection.max_payload or limits.MAX_MESSAGE, limits.MAX_MESSAGE)
        size = sum(len(p.text) for p in step.passages if isinstance(p.text, str))
        if size < limit // 5:  # no character takes more than four bytes
            return prepare_step(step, verified=True)
        try:
            prepared = prepare_step(step, verified=True)
            if len(prepared.body) <= limit:
                return prepared
        except ValidationError as e:
            if e.field != "message":
                raise
        for i, passage in enumerate(step.passages):
            if passage.by_step != step.index and passage.text:
                ref = await self._client.put_passage(passage.text, passage.title)
                ref.by_step = passage.by_step
                step.passages[i] = self._passages[ref.digest] = ref
        return prepare_step(step, verified=True)

    def _accepted(self, step: Step, digest: str) -> None:
        self._doubtful.pop(step.index, None)
        self._steps.append(StepRef(step.index, digest))
        self._history.append(Prior(step.index, step.query, step.claim))
        for passage in step.passages:
            # The step that fetched a passage first keeps it, for later ones.
            self._passages.setdefault(passage.digest, passage)

    async def label(self, index: int, timeout: float | None = None) -> Label | None:
        """The label of an accepted step; None if it has not come within timeout seconds.

        Raises:
            IdReused: the label that stands is another step's.
        """
        ref = next((ref for ref in self._steps if ref.index == index), None)
        if ref is None:
            raise ValidationError("index", f"{index} is no accepted step of rollout {self.rollout}")
        subject = label_subject(self.run, self.rollout, index)
        seconds = self._client.label_timeout if timeout is None else timeout
        connection = self._client.connection
        if self._ended:  # nobody would end what listens for the whole rollout
            announcements = await Announcements.on(connection, subject)
        elif self._announcements is None:
            every = label_subject(self.run, self.rollout, "*")
            announcements = self._announcements = await Announcements.on(connection, every)
        else:
            announcements = self._announcements
        try:
            label = await wait_label(
                connection, announcements, subject, self.run, self.rollout, index, seconds
            )
        finally:
            if announcements is not self._announcements:
                await announcements.close()
        if label is not None and label.digest and label.digest != ref.digest:
            raise IdReused(
                f"run {self.run}, rollout {self.rollout}, step {index}: the label that stands is that of "
                "another step with this id; take a fresh run id"
            )
        return label

    async def _ask(self, kind: LiveKind, step: Step, timeout: float | None) -> LiveAnswer | None:
        prepared = prepare_step(step, verified=True)
        seconds = self._client.live_timeout if timeout is None else timeout
        try:
            return await self._client.ask_live(kind, step, prepared.body, seconds)
        except (BackPressure, ConnectionLost, DeadlineExceeded) as e:
            if self._client.connection.closed:
                raise
            log.info("%s check of rollout %s, step %d: not answered: %s", kind, self.rollout, step.index, e)
            return None

    async def _publish_end(
        self,
        answer: str = "",
        gold: list[str] | None = None,
        aborted: bool = False,
        abort_reason: str = "",
        deadline: float | None = None,
    ) -> None:
        end = RolloutEnd(
            run=self.run,
            rollout=self.rollout,
            question=self.question if isinstance(self.question, str) else "",
            steps=list(self._steps),
            answer=answer,
            gold=gold or [],
            group=self.group,
            group_size=self.group_size,
            aborted=aborted,
            abort_reason=abort_reason,
            deadline_ms=0 if deadline is None else max(1, round(deadline * 1000)),
        )
        await self._client.publisher.publish(prepare_end(end))
        self._ended = True
        await self._stop_listening()

    async def _stop_listening(self) -> None:
        announcements, self._announcements = self._announcements, None
        if announcements is not None:
            await announcements.close()


async def _logged(work: asyncio.Future[None], rollout: str) -> None:
    try:
        await work
    except StepgapError as e:
        log.warning("rollout %s: its aborted end was not accepted: %s", rollout, e)


def _passage(field: str, given: PassageLike, index: int) -> Passage:
    if isinstance(given, Passage):
        passage = Passage(given.digest, given.title, index, given.text, given.ref)
    elif isinstance(given, str):
        passage = Passage(by_step=index, text=given)
    elif isinstance(given, Mapping):
        passage = Passage(by_step=index, title=given.get("title") or "", text=given.get("text") or "")
    elif isinstance(given, tuple) and len(given) == 2:
        passage = Passage(by_step=index, title=given[0], text=given[1])
    else:
        raise ValidationError(
            field,
            f"is a {type(given).__name__}; give a text, (title, text), a mapping with both, or a Passage",
        )
    try:
        digest = passage.ref or passage_digest(passage.title, passage.text)
    except UnicodeEncodeError:
        raise ValidationError(field, "holds a lone surrogate, which no UTF-8 text can") from None
    if passage.digest not in ("", digest):
        raise ValidationError(f"{field}.digest", "is not that of its title and text; leave it empty")
    passage.digest = digest
    return passage


def _span(i: int, given: SpanLike) -> Span:
    if isinstance(given, Span):
        return given
    if isinstance(given, tuple) and len(given) == 3:
        kind, start, end = given
        return Span(kind, start, end)  # type: ignore[arg-type] # validated with the step
    raise ValidationError(f"spans[{i}]", f"is a {type(given).__name__}; give (kind, start, end) or a Span")


def _cut(text: str, limit: int) -> str:
    """Text as valid UTF-8 of at most limit bytes."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
