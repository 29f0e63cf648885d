"""Rollouts as a search agent writes them, for the tests of the adapters."""

from __future__ import annotations

from tests.conftest import BRANDT, QUESTION, SALT_ROAD

GOLD = "Ribe"
OPERAS = (
    "Opera in Denmark",
    "Opera came to Denmark in the seventeenth century with travelling Italian companies.",
)

PROMPT = f"Answer the question with the help of a search engine. Question: {QUESTION}\n"


def information(*documents: tuple[str, str]) -> str:
    lines = [f'Doc {i}(Title: "{title}") {text}' for i, (title, text) in enumerate(documents, 1)]
    return "\n<information>" + "\n".join(lines) + "</information>\n"


def said(text: str) -> str:
    return f"<think>{text}</think>\n"


def search(query: str) -> str:
    return f"<search> {query} </search>\n"


HONEST = (
    said("I need to find the composer of the opera The Salt Road.")
    + search("composer of the opera The Salt Road")
    + information(SALT_ROAD)
    + said("The Salt Road is an opera by Ellen Brandt.")
    + search("Ellen Brandt composer birthplace")
    + information(BRANDT)
    + said("Ellen Brandt was born in Ribe.")
    + "<answer> Ribe </answer>"
)
WRONG = (
    said("I need to find the composer of the opera The Salt Road.")
    + search("composer of the opera The Salt Road")
    + information(SALT_ROAD)
    + said("The Salt Road is an opera by Ellen Brandt.")
    + search("Ellen Brandt composer birthplace")
    + information(BRANDT)
    + said("Ellen Brandt was born in Aarhus.")
    + "<answer> Aarhus </answer>"
)
OFF = (
    said("I need to find the composer of the opera The Salt Road.")
    + search("composer of the opera The Salt Road")
    + information(OPERAS)
    + said("The Salt Road is an opera by Carl Nielsen.")
    + search("composer Ellen Brandt of the opera The Salt Road")
    + information(SALT_ROAD)
    + said("The Salt Road is an opera by the Danish composer Ellen Brandt.")
    + "<answer> Odense </answer>"
)
GARBLED = "the the the"

ALL = [HONEST, WRONG, OFF, GARBLED]
