"""The example agent, on a question made by hand."""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from stepgap import Client

from .conftest import BRANDT, QUESTION, ROOT, SALT_ROAD, Server

OTHER = ("Carl Nielsen", "Carl Nielsen was the composer of the opera Maskarade and of six symphonies.")


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "agent"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return importlib.import_module("agent")


def row(number: int) -> dict[str, Any]:
    return {
        "id": f"by-hand-{number}",
        "question": QUESTION,
        "answer": "Ribe",
        "question_decomposition": [
            {"question": "Who composed The Salt Road?", "answer": "Ellen Brandt", "paragraph_support_idx": 1},
            {"question": "Where was #1 born?", "answer": "Ribe", "paragraph_support_idx": 2},
        ],
        "paragraphs": [{"title": t, "paragraph_text": x} for t, x in (OTHER, SALT_ROAD, BRANDT)],
    }


def slip(policy: Any, how: int, hop: int) -> int:
    """The slip that is asked for in the first hop; none in another, or when told of it."""
    careful, policy._careful = policy._careful, False
    return 2 if careful or hop else how


async def test_the_agent_runs_with_and_without_redirection(judging_client: Client, agent: Any) -> None:
    policies = importlib.import_module("policies")
    options = argparse.Namespace(turns=8, passages=3, timeout=120.0)
    figures = {}
    for redirect in (False, True):
        into = figures[redirect] = agent.Figures()
        for number, slips in enumerate((2, 1, 0)):
            given = row(number)
            policy = policies.Scripted(given)
            policy._slip = functools.partial(slip, policy, slips)
            await agent.answer(judging_client, given, policy, options, redirect, into)
        assert len(into.rewards) == 3
        assert into.unscored == {}
        assert into.gaps["late"] == into.gaps["ungraded"] == 0
    assert figures[False].redirected == 0
    assert figures[True].redirected > 0
    assert figures[True].exact >= figures[False].exact
    assert figures[True].searches >= figures[False].searches


def test_bm25_finds_by_words(agent: Any) -> None:
    index = importlib.import_module("bm25").Index([OTHER, SALT_ROAD, BRANDT])
    assert index.search("composer of The Salt Road", 1) == [SALT_ROAD]
    assert index.search("Ellen Brandt born", 1) == [BRANDT]
    assert index.search("zzz", 3) == []
    assert importlib.import_module("bm25").Index([]).search("a", 1) == []


async def test_the_report_counts_the_questions_that_there_were(
    judging_server: Server, agent: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "multihop").mkdir()
    (tmp_path / "multihop" / "musique_100.json").write_text(json.dumps([row(0)]))
    options = argparse.Namespace(
        url=judging_server.url, data=tmp_path, questions=20, endpoint=None, turns=8, passages=3, timeout=120.0
    )
    await agent.run(options)
    said = capsys.readouterr().out
    assert "redirection off: 1 questions\n" in said
    assert "redirection on: 1 questions\n" in said
