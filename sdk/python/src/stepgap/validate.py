"""Checks of messages before they leave: the same limits and rules as Go's `pkg/schema`.

Each raises a `ValidationError` that names the first field that is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, get_args

from . import limits
from .codec import passage_digest
from .errors import ValidationError
from .messages import GAPS, REPAIRS, Kind, Label, Passage, Reward, RolloutEnd, Span, SpanKind, Step
from .subjects import check_id, check_index

__all__ = ["validate_end", "validate_label", "validate_reward", "validate_step"]

_KINDS = frozenset(get_args(Kind))
_SPAN_KINDS = frozenset(get_args(SpanKind))


def validate_step(step: Step, *, digests: bool = True) -> None:
    """Check every field of a step, with its ids; digests=False: those of passages are known to be right."""
    check_id("run", step.run)
    check_id("rollout", step.rollout)
    check_index(step.index)
    index = step.index
    if step.kind not in _KINDS:
        raise ValidationError("kind", f'{step.kind!r:.40} is no kind of step; use "search" or "conclusion"')
    if not step.question:
        raise ValidationError(
            "question", "is missing; every step names the question that its rollout answers"
        )
    check_text("question", step.question, limits.MAX_QUESTION)
    check_text("plan", step.plan, limits.MAX_TEXT)
    check_text("query", step.query, limits.MAX_QUERY)
    check_text("text", step.text, limits.MAX_TEXT)
    check_text("claim", step.claim, limits.MAX_TEXT)
    check_text("answer", step.answer, limits.MAX_ANSWER)
    _count("passages", step.passages, limits.MAX_PASSAGES)
    _count("history", step.history, limits.MAX_STEPS)
    _count("spans", step.spans, limits.MAX_SPANS)
    for i, passage in enumerate(step.passages):
        _passage(i, passage, index, digests)
    last = 0
    for i, prior in enumerate(step.history):
        if not _whole(prior.index) or not last < prior.index < index:
            raise ValidationError(
                f"history[{i}].index",
                f"{prior.index}; earlier steps are listed in rising order, below {index}",
            )
        last = prior.index
        check_text(f"history[{i}].query", prior.query, limits.MAX_QUERY)
        check_text(f"history[{i}].claim", prior.claim, limits.MAX_TEXT)
    if not _whole(step.saw) or not 0 <= step.saw < index:
        raise ValidationError(
            "saw", f"{step.saw}; a step can only have seen labels of earlier steps, 0 to {index - 1}"
        )
    _spans("spans", step.spans)


def validate_end(end: RolloutEnd) -> None:
    """Check every field of a rollout's end, with its ids."""
    check_id("run", end.run)
    check_id("rollout", end.rollout)
    check_text("question", end.question, limits.MAX_QUESTION)
    check_text("answer", end.answer, limits.MAX_ANSWER)
    check_text("group", end.group, limits.MAX_GROUP)
    check_text("abort_reason", end.abort_reason, limits.MAX_DETAIL)
    _count("steps", end.steps, limits.MAX_STEPS)
    _count("gold", end.gold, limits.MAX_GOLD)
    last = 0
    for i, ref in enumerate(end.steps):
        if not _whole(ref.index) or not last < ref.index <= limits.MAX_INDEX:
            raise ValidationError(
                f"steps[{i}].index",
                f"{ref.index}; steps are listed in rising order, 1 to {limits.MAX_INDEX}, each once",
            )
        last = ref.index
        if not isinstance(ref.digest, str) or len(ref.digest) != 64:
            raise ValidationError(f"steps[{i}].digest", "is not a hex SHA-256 of the step's body")
    for i, gold in enumerate(end.gold):
        check_text(f"gold[{i}]", gold, limits.MAX_ANSWER)
    if not _whole(end.group_size) or not 0 <= end.group_size <= 1 << 20:
        raise ValidationError("group_size", f"{end.group_size} is out of range")
    if not _whole(end.deadline_ms) or not 0 <= end.deadline_ms < 1 << 63:
        raise ValidationError("deadline_ms", f"{end.deadline_ms} is no number of milliseconds")


def validate_label(label: Label) -> None:
    """Check that a label is one that the tree can give, and holds no number that is none."""
    check_id("run", label.run)
    check_id("rollout", label.rollout)
    check_index(label.index)
    if label.label not in GAPS:
        raise ValidationError("label", f"{label.label!r:.40} is no label")
    if label.repair != REPAIRS[label.label]:
        raise ValidationError("repair", f"{label.repair!r:.40} does not belong to {label.label!r}")
    if label.label == "ungraded" and not label.reason:
        raise ValidationError("reason", "is missing; an ungraded label says why")
    _count("quotes", label.quotes, limits.MAX_QUOTES)
    _count("trail", label.trail, limits.MAX_TRAIL)
    for i, entry in enumerate(label.trail):
        _count(f"trail[{i}].windows", entry.windows, limits.MAX_WINDOWS)
        if entry.scores is not None:
            for score in (entry.scores.entailment, entry.scores.neutral, entry.scores.contradiction):
                _number(f"trail[{i}].scores", score)
        _number(f"trail[{i}].confidence", entry.confidence)


def validate_reward(reward: Reward) -> None:
    """Check that a reward holds no number that is none, and says why where it is null."""
    check_id("run", reward.run)
    check_id("rollout", reward.rollout)
    if reward.process is None and not reward.reason:
        raise ValidationError("reason", "is missing; a null reward says why")
    _number("process", reward.process)
    _number("outcome.em", reward.outcome.em)
    _number("outcome.f1", reward.outcome.f1)
    _number("outcome.cover_em", reward.outcome.cover_em)
    for i, step in enumerate(reward.steps):
        _number(f"steps[{i}].base", step.base)
        _number(f"steps[{i}].shape", step.shape)
        _number(f"steps[{i}].reward", step.reward)


def _whole(value: object) -> bool:
    return type(value) is int


def check_text(field: str, text: Any, limit: int) -> None:
    """Check that text is a str of at most limit bytes of UTF-8."""
    if type(text) is str and len(text) <= limit and text.isascii():
        return
    if not isinstance(text, str):
        raise ValidationError(field, f"is a {type(text).__name__}; give a str")
    if text.isascii():
        size = len(text)
    else:
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise ValidationError(
                field, "holds a lone surrogate, which no UTF-8 text can; decode it with errors='replace'"
            ) from None
    if size > limit:
        raise ValidationError(field, f"{size} bytes, the limit is {limit}", "too_large")


def _count(field: str, entries: Sequence[Any], limit: int) -> None:
    if not isinstance(entries, list):
        raise ValidationError(field, f"is a {type(entries).__name__}; give a list")
    if len(entries) > limit:
        raise ValidationError(field, f"{len(entries)} entries, the limit is {limit}", "too_large")


def _spans(field: str, spans: Sequence[Span]) -> None:
    for i, span in enumerate(spans):
        if span.kind not in _SPAN_KINDS:
            raise ValidationError(
                f"{field}[{i}].kind",
                f"{span.kind!r:.40} is no kind of span; use plan, action, claim or answer",
            )
        whole = _whole(span.start) and _whole(span.end)
        if not whole or not 0 <= span.start <= span.end < 1 << 63:
            raise ValidationError(f"{field}[{i}]", f"[{span.start}, {span.end}) is no range")


def _passage(i: int, passage: Passage, index: int, digests: bool) -> None:
    title, text, digest, ref = passage.title, passage.text, passage.digest, passage.ref
    if (
        not digests
        and ref == ""
        and text
        and type(text) is type(title) is type(digest) is str
        and len(text) <= limits.MAX_PASSAGE_TEXT
        and len(title) <= limits.MAX_TITLE
        and len(digest) == 64
        and text.isascii()
        and title.isascii()
        and type(passage.by_step) is int
        and 1 <= passage.by_step <= index
    ):
        return  # as nearly all are; below, what is wrong is named
    field = f"passages[{i}]"
    if not (type(title) is str and len(title) <= limits.MAX_TITLE and title.isascii()):
        check_text(f"{field}.title", title, limits.MAX_TITLE)
    if not (type(text) is str and len(text) <= limits.MAX_PASSAGE_TEXT and text.isascii()):
        check_text(f"{field}.text", text, limits.MAX_PASSAGE_TEXT)
    if not (type(digest) is str and len(digest) == 64 and digest.isascii()):
        check_text(f"{field}.digest", digest, limits.MAX_DIGEST)
    if ref != "":
        check_text(f"{field}.ref", ref, limits.MAX_DIGEST)
    if type(passage.by_step) is not int or not 1 <= passage.by_step <= index:
        raise ValidationError(
            f"{field}.by_step",
            f"{passage.by_step}; a passage is fetched by this step or an earlier one, 1 to {index}",
        )
    if text:
        if ref:
            raise ValidationError(field, "has both text and ref; give one")
        if digests and digest != passage_digest(title, text):
            raise ValidationError(
                f"{field}.digest", "is not the SHA-256 of title, NUL and text; leave it empty to have it made"
            )
    elif not ref:
        raise ValidationError(field, "has neither text nor ref")
    elif digest != ref:
        raise ValidationError(f"{field}.ref", "differs from the digest")


def _number(field: str, value: float | None) -> None:
    if value is not None and not math.isfinite(value):
        raise ValidationError(field, f"{value} is not a number")
