"""The environment: searches, claims, corrections and an answer, written as an agent writes them.

An episode alternates two kinds of decisions. At `act` the policy writes a query or the answer;
at `read` it says what the passages tell. Each option is a concrete text, and each decision
remembers where in the rollout's text it stands, as tokens do for a language model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bm25 import Index

from .questions import Hop, Question
from .reader import Candidate, Passages, candidates
from .statement import in_words, statement
from .text import content, names_in, overlap

MOST_SEARCHES = 4
PASSAGES = 2
CANDIDATES = 4
NEAR = 0.85
"""Share of a query's words in an earlier one from which a feature calls it asked before."""


@dataclass(frozen=True)
class Option:
    """Something that the policy may do now."""

    action: str
    features: Mapping[str, float]
    do: Callable[[], None] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Decision:
    """What the policy could do, what it did, and where that stands in the text."""

    options: tuple[Option, ...]
    chosen: int
    at: tuple[int, int]

    @property
    def action(self) -> str:
        """The name of what it did."""
        return self.options[self.chosen].action


class Library:
    """One question's paragraphs: searching and reading, each done once."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._index = Index(question.paragraphs)
        self._found: dict[str, Passages] = {}
        self._read: dict[tuple[Hop, str, Passages], tuple[Candidate, ...]] = {}

    def search(self, query: str) -> Passages:
        """The best passages for a query, by BM25."""
        if query not in self._found:
            self._found[query] = tuple(self._index.search(query, PASSAGES))
        return self._found[query]

    def read(self, hop: Hop, asked: str, passages: Passages) -> tuple[Candidate, ...]:
        """What the passages offer as answers to a sub-question."""
        key = (hop, asked, passages)
        if key not in self._read:
            self._read[key] = candidates(self.question.id, hop, asked, passages, CANDIDATES)
        return self._read[key]


class Episode:
    """One rollout being written; the same choices write the same text."""

    def __init__(self, library: Library) -> None:
        self.question = library.question
        self.decisions: list[Decision] = []
        self.answer = ""
        self.done = False
        self.searches = 0
        self._library = library
        self._text = ""
        self._found: list[Candidate] = []  # one a hop
        self._queries: list[str] = []
        self._passages: Passages = ()
        self._reading = False
        self._previous: Candidate | None = None  # the claim of a hop that is searched again
        self._abstained = False
        self._thinking = False
        self._at = (0, 0)
        self._options: tuple[Option, ...] | None = None

    @property
    def text(self) -> str:
        """What stands so far, evidence included, in Search-R1's tags."""
        return self._text

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Where each decision stands in the text; for `stepgap.spans`, they are the tokens."""
        return [d.at for d in self.decisions]

    def options(self) -> tuple[Option, ...]:
        """What can be done now; never empty before the end."""
        if self._options is None:
            self._options = tuple(self._read_options() if self._reading else self._act_options())
        return self._options

    def take(self, chosen: int) -> None:
        """Do one of the options."""
        options = self.options()
        self._options = None
        options[chosen].do()
        self.decisions.append(Decision(options, chosen, self._at))

    # Acting.

    def _act_options(self) -> list[Option]:
        hop, plan = len(self._found), self.question.plan
        options: list[Option] = []
        if self.searches < MOST_SEARCHES:
            if hop < len(plan):
                options += self._queries_for(hop, again=False)
            if self._found:
                options += self._queries_for(hop - 1, again=True)
        if self._found:
            sure = self._found[-1].confidence
            features = {"answer": 1.0, "answer:sure": sure, "answer:left": float(len(plan) - hop)}
            options.append(Option("answer", features, lambda: self._conclude(self._found[-1].text)))
        else:
            guess = (names_in(self.question.text) or ["unknown"])[0]
            features = {"guess": 1.0, "guess:searches": self.searches / MOST_SEARCHES}
            options.append(Option("guess", features, lambda: self._conclude(guess)))
        return options

    def _queries_for(self, hop: int, *, again: bool) -> list[Option]:
        asked = self._asked(hop)
        texts = {"ask": in_words(asked), "names": " ".join(names_in(asked)), "vague": self.question.text}
        texts["bridge"] = self._bridge(asked)
        if self._queries:
            texts["repeat"] = self._queries[-1]
        out, seen = [], set()
        for form, query in texts.items():
            if not query or query in seen:
                continue
            seen.add(query)
            name = f"redo_{form}" if again else form
            features = {
                name: 1.0,
                "search": 1.0,
                "search:later": float(self.searches > 0),
                "search:asked_before": float(self._asked_before(query)),
                f"{name}:hop": float(hop > 0),
            }
            if again:
                features["redo"] = 1.0
                features["redo:sure"] = self._found[-1].confidence
                features["redo:searches"] = self.searches / MOST_SEARCHES
            elif self._abstained:
                features[f"{name}:abstained"] = 1.0
            out.append(Option(name, features, self._searcher(query, asked, again)))
        return out

    def _searcher(self, query: str, asked: str, again: bool) -> Callable[[], None]:
        def do() -> None:
            self._previous = self._found.pop() if again else None
            self._think(f"I need to find out: {in_words(asked).rstrip('?')}?")
            self._passages = self._library.search(query)
            self._at = self._write(f"<search> {query} </search>\n")
            shown = "\n".join(f'Doc {i}(Title: "{t}") {x}' for i, (t, x) in enumerate(self._passages, 1))
            self._write(f"<information>{shown}</information>\n")
            self._queries.append(query)
            self.searches += 1
            self._reading = True

        return do

    def _asked(self, hop: int) -> str:
        """A hop's sub-question, with what was found before it filled in."""
        known = [c.text for c in self._found[:hop]]

        def fill(m: re.Match[str]) -> str:
            number = int(m[1]) - 1
            return known[number] if number < len(known) else m[0]

        return re.sub(r"#(\d)", fill, self.question.plan[hop].question)

    def _bridge(self, asked: str) -> str:
        """A query that names an entity of the evidence which no query has named, or nothing."""
        named = set(content(" ".join([*self._queries, asked])))
        entities = [t for t, _ in self._passages]
        if self._found:
            entities = [self._found[-1].text, *names_in(self._found[-1].sentence), *entities]
        for entity in entities:
            bare = re.sub(r"\(.*?\)", "", entity).strip()
            if bare and not set(content(bare)) <= named:
                names = set(content(" ".join(names_in(asked))))
                rest = [w for w in re.findall(r"[\w-]+", in_words(asked)) if not set(content(w)) <= names]
                return " ".join([bare, *(w for w in rest if content(w))])
        return ""

    def _asked_before(self, query: str) -> bool:
        return any(overlap(content(query), content(q)) >= NEAR for q in self._queries)

    def _conclude(self, answer: str) -> None:
        self._think("")
        self._at = self._write(f"<answer> {answer} </answer>")
        self.answer = answer
        self.done = True

    # Reading.

    def _read_options(self) -> list[Option]:
        hop, before = len(self._found), self._previous
        asked = self._asked(hop)
        found = self._library.read(self.question.plan[hop], asked, self._passages)
        options: list[Option] = []
        for c in found:
            said = statement(asked, c.text)
            same = before is not None and c.text == before.text
            extra = {"claim:same": 1.0} if same else {}
            options.append(self._claim("claim", c, said, extra))
            if before is not None and not same:
                said = f"I was mistaken about that. {said}"
                options.append(self._claim("retract", c, said, {"retract:sure": before.confidence}))
        for c in found[:2]:
            options.append(self._claim("copy", c, c.sentence, {}))
        best = found[0].confidence if found else -2.0
        features = {"abstain": 1.0, "abstain:best": best, "abstain:before": float(before is not None)}
        options.append(
            Option("abstain", features, self._reader(before, "The results do not mention this.", True))
        )
        return options

    def _claim(self, action: str, c: Candidate, said: str, extra: Mapping[str, float]) -> Option:
        features = {action: 1.0, **c.features, **extra}
        return Option(action, features, self._reader(c, said, False))

    def _reader(self, c: Candidate | None, said: str, abstained: bool) -> Callable[[], None]:
        def do() -> None:
            self._at = self._write(f"<think>{said}")
            self._thinking = True
            if c is not None:
                self._found.append(c)
            self._previous, self._abstained, self._reading = None, abstained, False

        return do

    # Writing.

    def _think(self, plan: str) -> None:
        """End the thought that reading began with a plan, or think the plan alone.

        A claim's reward is anchored at its thought's end, so all of it is the reading's.
        """
        if self._thinking:
            self._text += f" {plan}".rstrip() + "</think>\n"
            last = self.decisions[-1]
            self.decisions[-1] = Decision(last.options, last.chosen, (last.at[0], len(self._text)))
            self._thinking = False
        elif plan:
            self._text += f"<think>{plan}</think>\n"

    def _write(self, text: str) -> tuple[int, int]:
        start = len(self._text)
        self._text += text
        return start, len(self._text)
