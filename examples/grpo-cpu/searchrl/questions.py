"""Multi-hop questions with their paragraphs, split by a hash of the question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OWN = Path(__file__).resolve().parent.parent / "questions.json"
"""Questions of this example's own, about places and people that do not exist."""

TEST_SHARE = 0.4


@dataclass(frozen=True)
class Hop:
    """One sub-question of a planner."""

    question: str
    """`#1` stands for what was found for the first one."""
    answer: str
    """Hidden: what the simulated reader knows, and the policy never sees."""
    support: tuple[tuple[str, str], ...]
    """Hidden: the paragraphs that tell it."""


@dataclass(frozen=True)
class Question:
    """One question; the policy sees its text, its sub-questions and what searches bring."""

    id: str
    text: str
    plan: tuple[Hop, ...]
    """Where there is no decomposition, the question itself is the only sub-question."""
    paragraphs: tuple[tuple[str, str], ...]
    """(title, text), in the order of the data set."""
    golds: tuple[str, ...]

    @property
    def held_out(self) -> bool:
        """Whether it is for evaluation. By the question's text alone, so that a question
        never moves when the data grows."""
        number = int.from_bytes(hashlib.sha256(self.text.encode()).digest()[:4], "big")
        return number < TEST_SHARE * 2**32


def load(data: Path | None) -> list[Question]:
    """The questions of a data set, or those of our own.

    Args:
        data: folder with multihop/musique_100.json and multihop/hotpotqa_100.json. Of
            HotpotQA only the bridge questions are taken: a comparison's answer is one of
            two names in the question, or yes or no, and is guessed half the time.

    Raises:
        OSError, ValueError, KeyError: a file is missing, or holds something else.
    """
    if data is None:
        return [_musique(row) for row in json.loads(OWN.read_text())]
    folder = data / "multihop"
    musique = json.loads((folder / "musique_100.json").read_text())
    hotpot = json.loads((folder / "hotpotqa_100.json").read_text())
    return [_musique(r) for r in musique] + [_hotpot(r) for r in hotpot if r["type"] == "bridge"]


def split(questions: Sequence[Question]) -> tuple[list[Question], list[Question]]:
    """Those to train on, and those held out."""
    return [q for q in questions if not q.held_out], [q for q in questions if q.held_out]


def _musique(row: dict[str, Any]) -> Question:
    paragraphs = tuple((p["title"], p["paragraph_text"]) for p in row["paragraphs"])
    plan = tuple(
        Hop(hop["question"].strip(), hop["answer"], (paragraphs[hop["paragraph_support_idx"]],))
        for hop in row["question_decomposition"]
    )
    return Question(
        row["id"], row["question"], plan, paragraphs, (row["answer"], *row.get("answer_aliases", ()))
    )


def _hotpot(row: dict[str, Any]) -> Question:
    paragraphs = tuple((title, "".join(sentences)) for title, sentences in row["context"])
    titles = {title for title, _ in row["supporting_facts"]}
    support = tuple(p for p in paragraphs if p[0] in titles)
    plan = (Hop(row["question"], row["answer"], support),)
    return Question(row["_id"], row["question"], plan, paragraphs, (row["answer"],))
