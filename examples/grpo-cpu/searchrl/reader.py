"""What passages offer as answers to a sub-question: candidates with features."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .text import content, overlap, sentences, spans, wanted_kind, words

Passages = tuple[tuple[str, str], ...]
Features = Mapping[str, float]

PRIOR: Features = {
    "sentence": 1.0,
    "window": 1.0,
    "title": 1.5,
    "fits": 1.5,
    "asked_for": -3.0,
    "in_question": -1.0,
    "rank": -0.5,
    "late": -0.3,
    "place:after_in": 0.7,
    "date:after_in": 0.5,
    "person:after_by": 0.7,
    "person:long": 0.4,
    "person:after_^": 0.3,
}
"""By these weights candidates are cut to the best few, and a policy starts with a part of
them: a reader that has some sense, and is often wrong."""

_FITS = {
    "date": ("date",),
    "number": ("number", "date"),
    "kind": ("common",),
    "person": ("name",),
    "place": ("name",),
    "thing": ("name", "common"),
}


@dataclass(frozen=True)
class Candidate:
    """A span of a passage that the policy may claim to be the answer."""

    text: str
    sentence: str
    title: str
    features: Features

    @property
    def prior(self) -> float:
        """How plausible it is before anything was learned."""
        return sum(PRIOR.get(name, 0.0) * value for name, value in self.features.items())


def candidates(question: str, asked: str, passages: Passages, most: int) -> tuple[Candidate, ...]:
    """The most plausible answers to a sub-question, best first, each text once.

    Args:
        question: the whole question, as the user asked it.
        asked: the sub-question, with what was found before filled in.
        passages: what the search returned.
        most: how many.
    """
    found: dict[str, Candidate] = {}
    for rank, (title, text) in enumerate(passages):
        for place, sentence in enumerate(sentences(text)):
            for c in _of_sentence(question, asked, title, rank, place, sentence):
                key = c.text.casefold()
                if key not in found or found[key].prior < c.prior:
                    found[key] = c
    return tuple(sorted(found.values(), key=lambda c: (-c.prior, c.text))[:most])


def _of_sentence(
    question: str, asked: str, title: str, rank: int, place: int, sentence: str
) -> Sequence[Candidate]:
    kind = wanted_kind(asked)
    need = content(asked)
    in_title = overlap(content(re.sub(r"\(.*?\)", "", title)), need)
    in_sentence = overlap(need, content(f"{title} {sentence}"))
    asked_words, question_words = set(words(asked)), set(words(question))
    out = []
    for span in spans(sentence):
        own = set(words(span.text))
        if not own or len(span.text) > 80:
            continue
        around = sentence[max(span.start - 45, 0) : span.start + len(span.text) + 30]
        before = sentence[: span.start].split()[-1:] or ["^"]
        fits = span.kind in _FITS[kind]
        features = {
            "sentence": in_sentence,
            "window": overlap(set(need) - set(content(title)), content(around)),
            "title": in_title,
            "fits": float(fits),
            "asked_for": float(own <= asked_words),
            "in_question": float(own <= question_words and not own <= asked_words),
            "rank": rank / 2,
            "late": min(place, 4) / 4,
            f"{kind}:{span.kind}": 1.0,
            f"{kind}:{_before(before[0])}": 1.0,
        }
        if len(own) > 1:
            features[f"{kind}:long"] = 1.0
        out.append(Candidate(span.text, sentence, title, features))
    return out


def _before(word: str) -> str:
    word = word.casefold()
    if word in ("in", "by", "of", "at", "from", "is", "was", "the", "a", "an", "and", "to", "^"):
        return f"after_{word}"
    return "after_comma" if word.endswith(",") else "after_other"
