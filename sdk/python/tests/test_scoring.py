"""Scoring of completions for trainers, without any trainer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stepgap.adapters.clients import ClientThread
from stepgap.adapters.episode import Episode
from stepgap.adapters.scoring import Item, Scored, golds_of, score
from stepgap.adapters.verl import _parts
from stepgap.messages import Reward, Span, StepReward

from .conftest import QUESTION, Server, eventually, pause_stage, resume_stage


@pytest.mark.parametrize(
    ("value", "golds"),
    [
        (None, ()),
        ("Ribe", ("Ribe",)),
        (1921, ("1921",)),
        (["Ribe", 1921], ("Ribe", "1921")),
        ({"target": ["Ribe"]}, ("Ribe",)),
        ({"target": "Ribe"}, ("Ribe",)),
        ({}, ()),
    ],
)
def test_accepted_answers_as_datasets_hold_them(value: Any, golds: tuple[str, ...]) -> None:
    assert golds_of(value) == golds


async def test_a_trainer_that_gives_up_leaves_no_work_behind(server: Server) -> None:
    thread = ClientThread(server.url)
    text = "<search>composer</search><information>The Salt Road</information>It is by Ellen Brandt."
    await pause_stage(server.url, "STEPGAP_ENDS", "reward-agg")
    try:
        client = await thread.arun(thread.client)
        calling = asyncio.ensure_future(
            thread.arun(lambda: score(thread, [Item(QUESTION, text)] * 3, deadline=600))
        )
        await eventually(lambda: len(client.connection.listeners) == 3)  # each waits for its reward
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await eventually(lambda: not client.connection.listeners)
    finally:
        await resume_stage(server.url, "STEPGAP_ENDS", "reward-agg")
        await asyncio.to_thread(thread.close)


def test_parts_for_verl_are_numbers_alone() -> None:
    steps = [
        StepReward(1, "none", base=0.1, base_at=Span("claim", 0, 2), reward=0.1),
        StepReward(2, "ungraded", base_at=Span("claim", 3, 5)),
    ]
    reward = Reward(process=0.1, steps=steps)
    reward.outcome.em = 1.0
    assert _parts(Scored("abcdef", reward), "em", 0.5) == [("step", 0.1, 2), ("outcome", 0.5, 6)]


def test_what_a_retriever_returns_is_shown_or_refused_and_never_dropped() -> None:
    def shown(passages: Any) -> str:
        return Episode(QUESTION, (), lambda query: passages, 4).act("<search>composer</search>")[0]

    wanted = '\n<information>Doc 1(Title: "A") one</information>\n'
    assert shown([("A", "one")]) == wanted
    assert shown([["A", "one"]]) == wanted, "as JSON has pairs"
    with pytest.raises(ValueError, match="unpack"):
        shown(["a text alone"])
