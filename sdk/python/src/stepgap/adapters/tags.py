"""From a completion with tags to steps, with spans over its text.

For rollouts that are one text, as Search-R1 and its kin write them; for other formats
give any function of the type `Reader`. No claims are picked here: what the policy wrote
after a step's evidence goes to the pipeline as `text`, which finds the claims in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ..messages import Span
from ..rollout import PassageLike

__all__ = ["ReadStep", "Reader", "Reading", "read_tags"]


@dataclass(slots=True)
class ReadStep:
    """A search, what it brought, and what the policy wrote of that."""

    query: str
    passages: list[PassageLike] = field(default_factory=list)
    plan: str = ""
    text: str = ""
    claim: str = ""
    """The sentences of `text` that assert facts, if known."""
    spans: list[Span] = field(default_factory=list)


@dataclass(slots=True)
class Reading:
    """A completion, read."""

    steps: list[ReadStep] = field(default_factory=list)
    answer: str = ""
    answer_spans: list[Span] = field(default_factory=list)
    """Where the answer stands; empty: none was given."""


Reader = Callable[[str], Reading]
"""Reads a completion; spans count code points from its beginning."""

_TAG = re.compile(r"<(/?)(think|search|information|result|documents|answer)>", re.IGNORECASE)
_EVIDENCE = frozenset(("information", "result", "documents"))
_DOCUMENT = re.compile(r"^[ \t]*Doc(?:ument)?[ \t]*\d+[ \t]*[:.]?[ \t]*", re.MULTILINE)
_TITLE = re.compile(r"\(Title:[ \t]*(\"[^\"\n]*\"|[^)\n]*)\)[ \t]*\n?")


@dataclass(slots=True)
class _Part:
    kind: str  # "say", or the tag's name
    start: int  # of its element, tags included
    end: int
    inner: tuple[int, int]


def read_tags(text: str) -> Reading:
    """Read `<think>`, `<search>`, `<information>` (`<result>`, `<documents>`) and `<answer>`.

    The last answer counts. A cut-off element ends where the next one begins, or with the
    text; a search without evidence is a step without passages.
    """
    reading = Reading()
    before: list[tuple[int, int]] = []  # what was said since the last action
    for part in _parts(text):
        if part.kind in ("say", "think"):
            before.append(part.inner)
            continue
        if part.kind in _EVIDENCE:
            if reading.steps and not before:
                step = reading.steps[-1]
                step.passages.extend(_documents(text[part.inner[0] : part.inner[1]]))
            continue  # Else the policy wrote it itself: no search stands before it.
        _settle(text, reading, before)
        if part.kind == "search":
            spans = [Span("plan", *at) for at in before] if not reading.steps else []
            plan = _join(text, before) if not reading.steps else ""
            spans.append(Span("action", part.start, part.end))
            reading.steps.append(ReadStep(text[slice(*part.inner)].strip(), plan=plan, spans=spans))
        else:
            reading.answer = text[slice(*part.inner)].strip()
            reading.answer_spans = [Span("answer", part.start, part.end)]
        before = []
    _settle(text, reading, before)
    return reading


def _settle(text: str, reading: Reading, said: list[tuple[int, int]]) -> None:
    """What was said belongs to the step before it."""
    if not reading.steps or not said or reading.answer_spans:
        return
    step = reading.steps[-1]
    step.text = "\n".join(filter(None, (step.text, _join(text, said))))
    step.spans.extend(Span("claim", *at) for at in said)


def _join(text: str, ranges: list[tuple[int, int]]) -> str:
    return "\n".join(text[start:end] for start, end in ranges)


def _parts(text: str) -> list[_Part]:
    parts: list[_Part] = []
    at, opened = 0, None
    for tag in _TAG.finditer(text):
        name, closing = tag[2].lower(), bool(tag[1])
        if opened is None:
            _say(parts, text, at, tag.start())
        elif opened[2] == name and closing:
            parts.append(_Part(name, opened[0], tag.end(), _strip(text, opened[1], tag.start())))
            opened, at = None, tag.end()
            continue
        elif opened[2] in _EVIDENCE and name in _EVIDENCE:
            continue  # A document that holds such a tag.
        else:
            parts.append(_Part(opened[2], opened[0], tag.start(), _strip(text, opened[1], tag.start())))
        opened, at = (None if closing else (tag.start(), tag.end(), name)), tag.end()
    if opened is None:
        _say(parts, text, at, len(text))
    else:
        parts.append(_Part(opened[2], opened[0], len(text), _strip(text, opened[1], len(text))))
    return [p for p in parts if p.kind != "think" or p.inner[0] < p.inner[1]]


def _say(parts: list[_Part], text: str, start: int, end: int) -> None:
    start, end = _strip(text, start, end)
    if start < end:
        parts.append(_Part("say", start, end, (start, end)))


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return start + min(left, len(piece)), start + max(len(piece.rstrip()), min(left, len(piece)))


def _documents(block: str) -> list[PassageLike]:
    heads = list(_DOCUMENT.finditer(block))
    pieces = [block]
    if heads:
        ends = [h.start() for h in heads[1:]] + [len(block)]
        pieces = [block[h.end() : end] for h, end in zip(heads, ends, strict=True)]
    out: list[PassageLike] = []
    for piece in pieces:
        title = ""
        if found := _TITLE.match(piece):
            title, piece = found[1].strip().strip('"'), piece[found.end() :]
        if piece.strip():
            out.append((title, piece.strip()))
    return out
