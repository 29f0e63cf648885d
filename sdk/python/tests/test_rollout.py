"""Rollouts through the real pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

import stepgap
from stepgap import Client

from .conftest import BRANDT, QUESTION, SALT_ROAD, Server


async def play(
    client: Client, group: str = "", size: int = 0, wait: bool = True, rollout: str | None = None
) -> stepgap.Rollout:
    """An honest rollout of two searches and a conclusion."""
    async with client.rollout(QUESTION, group=group, group_size=size, rollout=rollout) as r:
        await r.step(
            "composer of the opera The Salt Road",
            [SALT_ROAD],
            "The Salt Road is an opera by Ellen Brandt.",
            spans=[("action", 0, 10), ("claim", 20, 62)],
            wait=wait,
        )
        await r.step("Ellen Brandt birthplace", [BRANDT], "Ellen Brandt was born in Ribe.", wait=wait)
        await r.conclude("Ribe", "The composer of The Salt Road was born in Ribe.", wait=wait)
        await r.end("Ribe", "Ribe")
    return r


async def test_a_rollout_gets_its_labels_and_its_reward(judging_client: Client) -> None:
    client = judging_client
    async with client.rollout(QUESTION, group="q1", group_size=1) as r:
        first = await r.step(
            query="composer of the opera The Salt Road",
            passages=[{"title": SALT_ROAD[0], "text": SALT_ROAD[1]}],
            claim="The Salt Road is an opera by Ellen Brandt.",
            spans=[("action", 0, 10), ("claim", 20, 62)],
        )
        assert first is not None
        assert (first.run, first.rollout, first.index) == (client.run, r.rollout, 1)
        assert first.label == "none"
        assert first.graded
        assert first.digest == r.steps[0].digest
        assert first.trail[0].stage == "entity-check"
        wrong = await r.step("Ellen Brandt birthplace", [BRANDT], "Ellen Brandt was born in Leipzig.")
        assert wrong is not None
        assert wrong.label == "contradicted_claim"
        assert wrong.repair == "retract"
        assert wrong.facts is not None
        assert wrong.facts.saw == 1, "the policy had seen the first label"
        await r.end("Ribe", ["Ribe", "Ribe, Denmark"])
    reward = await client.reward(r)
    assert reward is not None
    assert reward.value is not None
    assert reward.value == reward.process
    assert [s.label for s in reward.steps] == ["none", "contradicted_claim"]
    assert reward.steps[0].base is not None
    assert reward.steps[0].base_at == stepgap.Span("claim", 20, 62)
    assert reward.outcome == stepgap.Outcome(1.0, 1.0, 1.0)
    assert reward.group == "q1"
    assert reward.complete
    assert reward.sequence > 0


async def test_a_conclusion_follows_from_earlier_passages(judging_client: Client) -> None:
    r = await play(judging_client)
    label = await r.label(3)
    assert label is not None
    assert label.label == "none"
    assert label.stage == "nli-cross"


async def test_a_step_that_is_not_waited_for_returns_at_once(client: Client) -> None:
    async with client.rollout(QUESTION) as r:
        assert await r.step("composer", [SALT_ROAD], "It is by Ellen Brandt.", wait=False) is None
        assert len(r.steps) == 1
        label = await r.label(1)
        assert label is not None
        await r.end("Ribe")


async def test_an_exception_sends_an_aborted_end(client: Client) -> None:
    r = client.rollout(QUESTION, group="q")
    with pytest.raises(RuntimeError, match="the tool is gone"):
        async with r:
            await r.step("composer", [SALT_ROAD], "It is by Ellen Brandt.")
            raise RuntimeError("the tool is gone \ud800")
    reward = await client.reward(r)
    assert reward is not None
    assert reward.value is None, "null, never 0"
    assert reward.reason == "aborted"
    assert "RuntimeError: the tool is gone" in reward.detail
    assert r.ended


async def test_a_cancelled_rollout_sends_an_aborted_end(client: Client) -> None:
    r = client.rollout(QUESTION)
    inside = asyncio.Event()

    async def roll() -> None:
        async with r:
            await r.step("composer", [SALT_ROAD], wait=False)
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(roll())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    reward = await client.reward(r)
    assert reward is not None
    assert (reward.value, reward.reason) == (None, "aborted")


async def test_a_rollout_left_without_an_end_is_aborted(client: Client) -> None:
    async with client.rollout(QUESTION) as r:
        await r.step("composer", [SALT_ROAD], wait=False)
    reward = await r.reward()
    assert reward is not None
    assert reward.reason == "aborted"
    assert "without an end" in reward.detail


async def test_nothing_is_added_after_the_end(client: Client) -> None:
    r = await play(client, wait=False)
    for call in (r.step("q"), r.end(), r.plan("q"), r.abort("x"), r.conclude("a")):
        with pytest.raises(stepgap.RolloutClosed, match=r.rollout):
            await call


async def test_a_rollout_without_steps_is_null_with_a_reason(client: Client) -> None:
    async with client.rollout(QUESTION) as r:
        await r.end("Ribe", "Ribe")
    reward = await client.reward(r)
    assert reward is not None
    assert reward.value is None
    assert reward.reason == "no_steps"


async def test_an_invalid_step_never_leaves_and_takes_no_index(client: Client) -> None:
    async with client.rollout(QUESTION) as r:
        cases: dict[str, dict[str, object]] = {
            "query": {"query": "x" * (16 << 10) + "y"},
            "claim": {"claim": "\udfff"},
            "plan": {"plan": 3},
            "passages[1]": {"passages": ["fine", 7]},
            "passages[0]": {"passages": [("title", "")]},
            "passages": {"passages": "one text"},
            "spans[0]": {"spans": [("claim", 4, 3)]},
            "spans[0].kind": {"spans": [("verdict", 0, 3)]},
            "saw": {"saw": 1},
        }
        for field, arguments in cases.items():
            with pytest.raises(stepgap.ValidationError) as caught:
                await r.step(**arguments)  # type: ignore[arg-type]
            assert caught.value.field == field
        assert r.steps == []
        assert await r.step("composer", [SALT_ROAD], "It is by Ellen Brandt.", wait=False) is None
        assert r.steps[0].index == 1
        await r.end()


async def test_live_checks_answer_before_the_step(client: Client) -> None:
    async with client.rollout(QUESTION) as r:
        plan = await r.plan("composer of the opera The Salt Road")
        assert plan is not None
        assert (plan.kind, plan.label, plan.index, plan.rollout) == ("plan", "none", 1, r.rollout)
        off = await r.probe("composer of the opera The Salt Road", [("Cheese", "Brie is a soft cheese.")])
        assert off is not None
        assert off.kind == "probe"
        assert off.label == "irrelevant_evidence"
        assert off.detail
        assert r.steps == [], "a live check is no step"
        await r.end()


async def test_labels_that_are_asked_for_after_the_end_leave_nothing_that_listens(client: Client) -> None:
    r = await play(client, wait=False)
    labels = await asyncio.gather(*(r.label(ref.index) for ref in r.steps))
    assert all(label is not None for label in labels)
    async with client.rollout(QUESTION) as other:
        await other.step("composer", [SALT_ROAD], "It is by Ellen Brandt.", wait=False)
        await asyncio.gather(other.label(1), other.label(1))
        assert len(client.connection.listeners) == 1
        await other.end()
    assert not client.connection.listeners
    assert len(client.connection._subscriptions) == 1, "that of the answers to requests alone"


async def test_earlier_passages_travel_with_later_steps(client: Client) -> None:
    shared = ("Shared", "A text that both searches found.")
    async with client.rollout(QUESTION) as r:
        await r.step("one", [SALT_ROAD, shared], wait=False)
        step = r._new("search", query="two", passages=[BRANDT, shared])
        assert [(p.title, p.by_step) for p in step.passages] == [
            ("The Salt Road (opera)", 1),
            ("Ellen Brandt", 2),
            ("Shared", 2),
        ]
        assert [h.query for h in step.history] == ["one"]
        await r.end()


async def test_passages_too_long_for_one_message_go_by_reference(make_server: Callable[..., Server]) -> None:
    long = "Salt was carried on the road. " * 50_000
    url = make_server("--judge", "flag-none").url
    async with stepgap.connect(url) as client, client.rollout(QUESTION) as r:
        for i in range(4):
            label = await r.step(f"composer {i}", [(f"Long {i}", long + str(i))], "It is by Ellen Brandt.")
            assert label is not None
            assert label.graded, (label.reason, label.detail)
        await r.end("Ribe", "Ribe")


async def test_two_rollouts_of_one_id_are_told_apart_by_content(client: Client) -> None:
    async with client.rollout(QUESTION, rollout="twice") as first:
        await first.step("composer", [SALT_ROAD], "It is by Ellen Brandt.")
        await first.end()
    async with client.rollout(QUESTION, rollout="twice") as same:
        label = await same.step("composer", [SALT_ROAD], "It is by Ellen Brandt.")
        assert label is not None, "the same content again is the same step"
        with pytest.raises(stepgap.IdReused, match="fresh run id"):
            await first_step_of_other_content(client)
        await same.end()


async def first_step_of_other_content(client: Client) -> None:
    async with client.rollout(QUESTION, rollout="twice") as other:
        await other.step("another query", [BRANDT], "It is by Ellen Brandt.")


async def test_runs_are_fresh_by_default(server: object) -> None:
    assert stepgap.connect().run != stepgap.connect().run
    assert stepgap.connect(run="mine").run == "mine"
    with pytest.raises(stepgap.ValidationError, match="is not an id"):
        stepgap.connect(run="a.b")
