"""Who writes the rollout: a script that slips by a fixed rule, or a chat model."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Passages = Sequence[tuple[str, str]]


@dataclass
class Turn:
    """What the policy writes at once: of the evidence before it, and its next action."""

    text: str = ""
    query: str = ""
    answer: str = ""


class Policy(Protocol):
    """Takes turns until it answers."""

    async def turn(self, passages: Passages, hint: str) -> Turn:
        """The next turn.

        Args:
            passages: what the last search brought; empty at first and when told a hint.
            hint: what the policy is told in place of passages; its last turn's action is
                then void, and it writes another one.
        """


class Scripted:
    """Follows MuSiQue's own sub-questions and reads its supporting paragraphs.

    It slips by a fixed rule, once in three hops each: a query of the question's names
    alone, or a claim with another paragraph's title in the answer's place. Told of a gap
    it does the hop again without the slip.
    """

    def __init__(self, row: dict[str, Any]) -> None:
        self._hops = row["question_decomposition"]
        self._question = row["question"]
        self._paragraphs = row["paragraphs"]
        self._id = row["id"]
        self._found: list[str] = []
        self._asked: set[str] = set()
        self._redone: set[int] = set()
        self._careful = False
        self._passages: Passages = ()

    async def turn(self, passages: Passages, hint: str) -> Turn:
        """As Policy has it."""
        if hint:
            return self._again(hint)
        text = ""
        if self._asked:
            self._passages = passages
            text = self._read()
        return self._next(text)

    def _again(self, hint: str) -> Turn:
        """Another turn in place of one that opened a gap; once a hop, as a hint may be wrong."""
        planned = "query" in hint.split(".")[0]
        hop = len(self._found) - (0 if planned else 1)
        if hop in self._redone:
            return self._next("")
        self._redone.add(hop)
        if "contradict" in hint and self._found:
            self._found.pop()
            self._careful = True
            text = f"That was wrong, I take it back. {self._read()}"
            return self._next(text)
        if self._found and not planned:
            self._found.pop()
        self._careful = True
        return self._next("")

    def _next(self, text: str) -> Turn:
        hop = len(self._found)
        if hop == len(self._hops):
            return Turn(text, answer=self._found[-1])
        query = self._query(hop)
        self._asked.add(query)
        return Turn(text, query=query)

    def _slip(self, hop: int) -> int:
        if self._careful:
            self._careful = False
            return 2
        return hashlib.sha256(f"{self._id} {hop}".encode()).digest()[0] % 3

    def _query(self, hop: int) -> str:
        asked = str(self._hops[hop]["question"]).replace(" >> ", " ")
        asked = re.sub(r"#(\d)", lambda m: self._found[int(m[1]) - 1], asked)
        names = " ".join(re.findall(r"\b[A-Z]\w+", self._question)[1:])
        if self._slip(hop) == 0 and names and names not in self._asked:
            return names
        return asked if asked not in self._asked else f"{asked} {self._hops[hop]['answer']}"

    def _read(self) -> str:
        """What it claims of the passages; notes what it takes for the hop's answer."""
        hop = self._hops[len(self._found)]
        support = self._paragraphs[hop["paragraph_support_idx"]]
        if not any(text == support["paragraph_text"] for _, text in self._passages):
            title, text = self._passages[0] if self._passages else ("nothing", "Nothing was found.")
            self._found.append(title)
            return _sentence(text, "")
        answer = str(hop["answer"])
        said = _sentence(support["paragraph_text"], answer)
        others = [t for t, _ in self._passages if t != support["title"] and answer not in t]
        if self._slip(len(self._found)) == 1 and others and answer in said:
            said, answer = said.replace(answer, others[0]), others[0]
        self._found.append(answer)
        return said


def _sentence(text: str, word: str) -> str:
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)
    return next((s for s in sentences if word in s), sentences[0])


INSTRUCTIONS = (
    "Answer the question with the help of a search engine. First say in one or two sentences what you "
    "learned from the last results. Then write either <search> query </search> or <answer> answer </answer>."
)


class Chat:
    """Any OpenAI-compatible chat model."""

    def __init__(self, question: str, endpoint: str, model: str, key: str = "") -> None:
        self._messages = [{"role": "user", "content": f"{INSTRUCTIONS}\nQuestion: {question}"}]
        self._endpoint, self._model, self._key = endpoint.rstrip("/"), model, key

    async def turn(self, passages: Passages, hint: str) -> Turn:
        """As Policy has it."""
        if hint:
            self._messages.append({"role": "user", "content": hint})
        elif passages or len(self._messages) > 1:
            shown = "\n".join(f"Doc {i} (Title: {t}) {x}" for i, (t, x) in enumerate(passages, 1))
            self._messages.append({"role": "user", "content": shown or "Nothing was found."})
        said = await asyncio.to_thread(self._complete)
        self._messages.append({"role": "assistant", "content": said})
        action = re.search(r"<(search|answer)>(.*?)(?:</\1>|$)", said, re.DOTALL)
        if action is None:
            return Turn(said.strip())
        inner = action[2].strip()
        text = said[: action.start()].strip()
        return Turn(text, query=inner) if action[1] == "search" else Turn(text, answer=inner)

    def _complete(self) -> str:
        body = {"model": self._model, "messages": self._messages, "temperature": 0, "max_tokens": 300}
        request = urllib.request.Request(
            f"{self._endpoint}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return str(json.load(answer)["choices"][0]["message"]["content"])
