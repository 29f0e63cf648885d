"""Words, sentences and the spans that could answer something. No model, no gold answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"\w+")
_END = re.compile(r"(?<=[.!?])(?<![A-Z]\.)(?<!\bSt\.)(?<!\bDr\.)(?<!\bMr\.)\s+(?=[A-Z\"'(])")

_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(rf"\b(?:\d{{1,2}} )?(?:{_MONTH})(?: \d{{1,2}})?,? \d{{4}}\b|\b1[0-9]{{3}}\b|\b20\d\d\b")
_NUMBER = re.compile(r"\$?\b\d[\d,]*(?:\.\d+)?(?: ?(?:million|billion|trillion|percent|%|inches|miles|km))?")
_CAPITAL = r"(?:[A-ZÀ-Þ][\w-]*\w|[A-Z]\.|[A-Z])"
_NAME = re.compile(rf"{_CAPITAL}(?:(?: (?:of the|of|de|van|von|la|du|der|al) |[ -]| & ){_CAPITAL})*")
_COMMON = re.compile(r"\b(?:is|was|are|were) (?:an? |the )([a-z]+(?:[ -][a-z]+){0,2})")

STOP = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been by did do does for from had has have he her his in into is it its
        of on or she that the their them they this to was were what when where which who whom whose why
        how will with after before during also name named""",
    )
)
_OPENERS = frozenset(
    re.findall(
        r"\w+",
        """The A An In On At It He She They This That These Those His Her Its Their As For After Before
        During While When Where Although However From With By Since Both One Some Many Most But And Or
        There Of To""",
    )
)


def words(text: str) -> list[str]:
    """All words, without case."""
    return [w.casefold() for w in _WORD.findall(text)]


def content(text: str) -> list[str]:
    """The words that mean something, cut to six letters so that inflected forms meet."""
    return [w[:6] for w in words(text) if w not in STOP]


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph."""
    return [s.strip() for s in _END.split(text) if s.strip()]


@dataclass(frozen=True)
class Span:
    """A stretch of a sentence that could be an answer."""

    text: str
    kind: str  # date, number, name, common
    start: int


def spans(sentence: str) -> list[Span]:
    """What could answer a question: dates, numbers, names, and kinds ("was a harbour town")."""
    found: list[Span] = []
    taken: list[tuple[int, int]] = []

    def add(start: int, end: int, kind: str) -> None:
        if start < end and all(end <= a or start >= b for a, b in taken):
            taken.append((start, end))
            found.append(Span(sentence[start:end], kind, start))

    for m in _DATE.finditer(sentence):
        add(*m.span(), "date")
    for m in _NAME.finditer(sentence):
        start, end = m.span()
        first = m[0].split(" ")[0]
        if first in _OPENERS:
            start = min(start + len(first) + 1, end)
            while start < end and not sentence[start].isupper():  # "The" before "of"
                start = min(sentence.find(" ", start, end) % (end + 1) + 1, end)
        add(start, end, "name")
    for m in _NUMBER.finditer(sentence):
        add(*m.span(), "number")
    for m in _COMMON.finditer(sentence):
        add(*m.span(1), "common")
    return sorted(found, key=lambda s: s.start)


def wanted_kind(question: str) -> str:
    """What a sub-question asks for: date, number, person, place, kind or thing."""
    q = f" {question.casefold()} "
    if re.search(r"\bwhen\b|what year|what date|which year", q):
        return "date"
    if re.search(r"how (?:many|much|far|old|long|large|big|tall)|population|percentage|amount|number of", q):
        return "number"
    if re.search(r"instance of|what kind|what type|sport$", q.strip()):
        return "kind"
    if re.search(
        r"\bwho\b|\bwhom\b|performer|author|composer|spouse|father|mother|director|producer|sibling|child\b",
        q,
    ):
        return "person"
    if re.search(
        r"\bwhere\b|country|city|state|place|located|continent|county|capital|town|province|river|location", q
    ):
        return "place"
    return "thing"


def names_in(text: str) -> list[str]:
    """Names, as they stand in a question."""
    return [s.text for s in spans(text) if s.kind == "name"]


def overlap(needed: Iterable[str], held: Iterable[str]) -> float:
    """The share of needed that is among held; 0 where nothing is needed."""
    wanted = set(needed)
    return len(wanted & set(held)) / len(wanted) if wanted else 0.0
