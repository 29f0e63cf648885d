"""Scores of a final answer: exact match, token F1, cover exact match.

The normalisation is Search-R1's (as SQuAD's before it); the scores are those of the
pipeline's own outcome reward, to which golden cases hold them.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable

from .messages import Outcome

__all__ = ["normalize", "score_answer"]

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalize(text: str) -> str:
    """Lower case, no ASCII punctuation, no articles, white space collapsed; in that order."""
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def score_answer(answer: str, gold: str | Iterable[str]) -> Outcome:
    """Score an answer against the accepted ones, each score the best over them, in [0, 1].

    Without an accepted answer the scores are None. No answer at all is a wrong one.
    """
    golds = [gold] if isinstance(gold, str) else list(gold)
    golds = [g for g in golds if g.strip()]
    if not golds:
        return Outcome()
    if not answer.strip():
        return Outcome(0.0, 0.0, 0.0)
    given = normalize(answer)
    em = f1 = cover = 0.0
    for accepted in map(normalize, golds):
        if given == accepted:
            em = cover = 1.0
        # An answer of articles alone ("The The") normalises to nothing, which any answer would cover.
        elif accepted and accepted in given:
            cover = 1.0
        f1 = max(f1, _token_f1(given.split(), accepted.split()))
    return Outcome(em, f1, cover)


def _token_f1(answer: list[str], gold: list[str]) -> float:
    if not answer or not gold:
        return 1.0 if answer == gold else 0.0
    same = sum((Counter(answer) & Counter(gold)).values())
    return 2 * same / (len(answer) + len(gold))
