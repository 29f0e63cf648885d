"""A sub-question and its answer as a sentence that claims something."""

from __future__ import annotations

import re

_RELATIONS = {
    "country": "{x} is in the country of {a}.",
    "place of birth": "{x} was born in {a}.",
    "place of death": "{x} died in {a}.",
    "located in the administrative territorial entity": "{x} is located in {a}.",
    "location": "{x} is located in {a}.",
    "location of formation": "{x} was formed in {a}.",
    "located in or next to body of water": "{x} lies on {a}.",
    "part of": "{x} is part of {a}.",
    "country of citizenship": "{x} is a citizen of {a}.",
    "instance of": "{x} is a {a}.",
    "shares border with": "{x} shares a border with {a}.",
    "educated at": "{x} was educated at {a}.",
    "continent": "{x} is on the continent of {a}.",
    "member of sports team": "{x} played for {a}.",
    "member of political party": "{x} is a member of {a}.",
    "licensed to broadcast to": "{x} is licensed to broadcast to {a}.",
    "follows": "{x} follows {a}.",
    "capital of": "{x} is the capital of {a}.",
    "mouth of the watercourse": "{x} flows into {a}.",
}
_BE = r"(?P<v>is|was|are|were)"
_RULES = (
    (r"^what (?:is|was) the name of (?P<r>.+)$", "The name of {r} is {a}."),
    (
        rf"^(?:what|which) [a-z ]+? {_BE} (?P<r>.+?) (?P<p>in|part of|located|from|located in)$",
        "{R} {v} {p} {a}.",
    ),
    (rf"^who {_BE} (?P<r>.+)$", "{a} {v} {r}."),
    (r"^who (?!did|does|do\b)(?P<r>.+)$", "{a} {r}."),
    (
        rf"^where {_BE} (?P<r>.+?) (?P<p>born|held|located|founded|built|formed|from|used)(?: in)?$",
        "{R} {v} {p} in {a}.",
    ),
    (rf"^where {_BE} (?P<r>.+)$", "{R} {v} in {a}."),
    (
        rf"^when {_BE} (?P<r>.+?) (?P<p>born|founded|built|formed|established|opened|released|taken.*)$",
        "{R} {v} {p} in {a}.",
    ),
    (rf"^(?:what|which) {_BE} (?P<r>.+)$", "{R} {v} {a}."),
    (r"^(?P<r>.+?) (?P<v>is|was) (?:who|whom|what)$", "{R} {v} {a}."),
)


def statement(question: str, answer: str) -> str:
    """The claim that an answer makes; relations as `X >> relation`, or a question in words.

    Where no rule fits, the answer is named as that of the quoted question.
    """
    answer = answer.strip().rstrip(".")
    if ">>" in question:
        subject, _, relation = (part.strip() for part in question.partition(">>"))
        form = _RELATIONS.get(relation, "The {r} of {x} is {a}.")
        return _upper(form.format(x=subject, r=relation, a=answer))
    asked = question.strip().rstrip("?").strip()
    for pattern, form in _RULES:
        if m := re.match(pattern, asked, re.IGNORECASE):
            parts = {k: v.strip() for k, v in m.groupdict().items()}
            parts["R"] = parts["r"]
            return _upper(form.format(a=answer, **parts))
    return f'The answer to "{question.strip()}" is {answer}.'


def in_words(question: str) -> str:
    """A sub-question as a query."""
    return " ".join(question.replace(">>", " ").split())


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
