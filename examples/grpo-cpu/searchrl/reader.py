"""What passages offer as answers to a sub-question. A stand-in for a language model's reading.

What is trained here is how to search, not how to read, and no rule reads well enough to
learn anything from. So reading is simulated: where the passages hold the paragraph that
the data set names for a hop, the hop's answer is among the proposals, beside other spans
of the same passages. Each has a confidence: noise, and for the right one somewhat more.
Which one is right the policy is never told, and a confidence never changes by asking again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

from .questions import Hop
from .text import content, overlap, sentences, spans, wanted_kind, words

Passages = tuple[tuple[str, str], ...]
Features = Mapping[str, float]

SKILL = 1.5
"""By how many standard deviations the confidence in a right answer lies above that in others."""

_FITS = {
    "date": ("date",),
    "number": ("number", "date"),
    "kind": ("common",),
    "person": ("name",),
    "place": ("name",),
    "thing": ("name", "common"),
}
_PLAUSIBLE: Features = {"sentence": 1.0, "title": 1.5, "fits": 1.5, "asked_for": -3.0, "rank": -0.5}
"""By these weights other spans are cut to the few most tempting ones."""


@dataclass(frozen=True)
class Candidate:
    """A span of a passage that the policy may claim to be the answer."""

    text: str
    sentence: str
    features: Features

    @property
    def confidence(self) -> float:
        """How sure the reader is; about 0 for any span, more for a right one."""
        return self.features["confidence"]


def candidates(question: str, hop: Hop, asked: str, passages: Passages, most: int) -> tuple[Candidate, ...]:
    """The proposals for a sub-question, the surest first, each text once.

    Args:
        question: the id of the question, from which the noise is drawn.
        hop: what is asked for, with its hidden answer.
        asked: the sub-question, with what was found before filled in.
        passages: what the search returned.
        most: how many.
    """
    others: dict[str, tuple[float, Candidate]] = {}
    right: list[Candidate] = []
    for rank, passage in enumerate(passages):
        title, text = passage
        in_title = overlap(content(re.sub(r"\(.*?\)", "", title)), content(asked))
        for sentence in sentences(text):
            in_sentence = overlap(content(asked), content(f"{title} {sentence}"))
            base = {"sentence": in_sentence, "title": in_title, "rank": rank / 2}
            answer = _within(hop.answer, sentence) if passage in hop.support and not right else ""
            if answer:
                right.append(_candidate(question, hop, asked, answer, "", sentence, base))
            for span in spans(sentence):
                if words(span.text) and len(span.text) <= 80:
                    c = _candidate(question, hop, asked, span.text, span.kind, sentence, base)
                    score = sum(_PLAUSIBLE.get(name, 0.0) * value for name, value in c.features.items())
                    key = span.text.casefold()
                    if key not in others or others[key][0] < score:
                        others[key] = (score, c)
    for c in right:
        # What only says the right answer in part would be neither right nor wrong.
        others = {k: v for k, v in others.items() if not set(words(k)) & set(words(c.text))}
    tempting = sorted(others.values(), key=lambda o: (-o[0], o[1].text))[: most - len(right)]
    return tuple(sorted([*right, *(c for _, c in tempting)], key=lambda c: (-c.confidence, c.text)))


def _candidate(
    question: str, hop: Hop, asked: str, text: str, kind: str, sentence: str, base: Features
) -> Candidate:
    wanted = wanted_kind(asked)
    own = set(words(text))
    fits = own == set(words(hop.answer)) or kind in _FITS[wanted]
    features = {
        **base,
        "fits": float(fits),
        "asked_for": float(own <= set(words(asked))),
        "confidence": _noise(f"{question} {asked} {text}") + SKILL * (own == set(words(hop.answer))),
    }
    return Candidate(text, sentence, features)


def _within(answer: str, sentence: str) -> str:
    """An answer as a sentence writes it, or nothing."""
    found = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", sentence, re.IGNORECASE)
    return found[0] if found else ""


def _noise(of: str) -> float:
    """A draw from the standard normal distribution, the same for the same text."""
    number = int.from_bytes(hashlib.sha256(of.encode()).digest()[:6], "big")
    return NormalDist().inv_cdf((number + 0.5) / 2**48)
