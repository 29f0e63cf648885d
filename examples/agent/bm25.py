"""BM25 over the paragraphs of one question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"\w+")


class Index:
    """Paragraphs, as (title, text), that can be searched."""

    def __init__(self, paragraphs: Sequence[tuple[str, str]], *, k: float = 1.2, b: float = 0.75) -> None:
        self._paragraphs = list(paragraphs)
        self._words = [Counter(_words(f"{title} {text}")) for title, text in paragraphs]
        self._k, self._b = k, b
        self._mean = sum(w.total() for w in self._words) / max(len(self._words), 1)
        held = Counter(word for words in self._words for word in words)
        n = len(self._words)
        self._idf = {word: math.log(1 + (n - df + 0.5) / (df + 0.5)) for word, df in held.items()}

    def search(self, query: str, most: int) -> list[tuple[str, str]]:
        """The best paragraphs for a query, best first; none that shares no word with it."""
        wanted = set(_words(query))
        scored = [(self._score(wanted, words), -i) for i, words in enumerate(self._words)]
        best = sorted(scored, reverse=True)[:most]
        return [self._paragraphs[-i] for score, i in best if score > 0]

    def _score(self, wanted: set[str], words: Counter[str]) -> float:
        norm = self._k * (1 - self._b + self._b * words.total() / self._mean)
        return sum(self._idf[w] * words[w] * (self._k + 1) / (words[w] + norm) for w in wanted if w in words)


def _words(text: str) -> list[str]:
    return [w.casefold() for w in _WORD.findall(text)]
