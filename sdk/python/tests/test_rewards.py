"""Following rewards, and groups at a deadline."""

from __future__ import annotations

import asyncio

import pytest

import stepgap
from stepgap import Client
from stepgap._follow import RewardFeed

from .conftest import QUESTION, SALT_ROAD, Server, eventually, pause_stage, resume_stage


async def short(client: Client, group: str = "", size: int = 0, rollout: str | None = None) -> str:
    """A rollout of one step."""
    async with client.rollout(QUESTION, group=group, group_size=size, rollout=rollout) as r:
        await r.step("composer", [SALT_ROAD], "The Salt Road is an opera by Ellen Brandt.", wait=False)
        await r.end("Ribe", "Ribe")
    return r.rollout


async def test_rewards_come_once_each_those_that_stand_and_those_to_come(client: Client) -> None:
    before = [await short(client) for _ in range(3)]
    for rollout in before:
        assert await client.reward(rollout) is not None
    seen: list[str] = []
    last = 0
    async with client.rewards() as feed:
        async for reward in feed:
            seen.append(reward.rollout)
            last = reward.sequence
            if len(seen) == 3:
                before += await asyncio.gather(*(short(client) for _ in range(3)))
            if len(seen) == 6:
                break
    assert sorted(seen) == sorted(before)
    more = await short(client)
    resumed = [r.rollout async for r in _until(client, last, 1)]
    assert resumed == [more], "a trainer that starts again goes on after what it had"


async def _until(client: Client, after: int, count: int):  # type: ignore[no-untyped-def]
    async with client.rewards(after=after) as feed:
        async for reward in feed:
            yield reward
            count -= 1
            if not count:
                return


async def test_a_feed_that_idles_says_so(client: Client) -> None:
    with pytest.raises(stepgap.DeadlineExceeded, match=client.run):
        async for _ in client.rewards(idle_timeout=0.2):
            pass


async def test_a_feed_ends_with_its_client(server: Server) -> None:
    async with stepgap.connect(server.url) as client:
        follow = asyncio.ensure_future(_all(client))
        rollout = await short(client)
        assert await client.reward(rollout) is not None
        await asyncio.sleep(0)
    assert await asyncio.wait_for(follow, 10) in ([rollout], [])


async def _all(client: Client) -> list[str]:
    return [r.rollout async for r in client.rewards()]


async def test_many_rewards_arrive_whole(client: Client) -> None:
    """More than one pull's worth would take long here; several windows of the feed do."""
    rollouts = await asyncio.gather(*(short(client) for _ in range(60)))
    seen = []
    async for reward in client.rewards(idle_timeout=60):
        seen.append(reward.rollout)
        if len(seen) == 60:
            break
    assert sorted(seen) == sorted(rollouts)


async def test_a_reward_that_does_not_come_is_none_in_time(client: Client) -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()
    assert await client.reward("never-rolled", timeout=0.2) is None
    assert await client.reward("never-rolled", timeout=0) is None
    assert loop.time() - start < 10


async def test_a_whole_group(client: Client) -> None:
    rollouts = await asyncio.gather(*(short(client, "q1", 4) for _ in range(4)))
    group = await client.group("q1", 4)
    assert group.complete
    assert [r.rollout for r in group.rewards] == rollouts, "in the order in which they were begun"
    assert len(group.values()) == 4
    assert None not in group.values()


async def test_a_partial_group_returns_at_its_deadline_and_names_what_is_missing(client: Client) -> None:
    done = [await short(client, "q2", 3) for _ in range(2)]
    for rollout in done:
        assert await client.reward(rollout) is not None
    async with client.rollout(QUESTION, group="q2", group_size=3) as slow:
        group = await client.group("q2", 3, deadline=0.5)
        assert not group.complete
        assert [r.rollout for r in group.rewards] == done
        assert group.missing == [slow.rollout]
        assert group.unnamed == 0
        values = group.values()
        assert values[2] is None
        assert len(values) == 3
        await slow.step("composer", [SALT_ROAD], "It is by Ellen Brandt.", wait=False)
        await slow.end("Ribe")
    assert (await client.group("q2", 3)).complete, "asked again, it is whole"


async def test_a_group_whose_rollouts_another_process_rolls(server: Server) -> None:
    async with stepgap.connect(server.url) as worker, stepgap.connect(server.url, run=worker.run) as trainer:
        rollouts = [await short(worker, "q3", 3) for _ in range(2)]
        partial = await trainer.group("q3", 3, deadline=5.0)
        assert sorted(r.rollout for r in partial.rewards) == sorted(rollouts)
        assert (partial.missing, partial.unnamed) == ([], 1)
        waiting = asyncio.ensure_future(trainer.group("q3", 3, deadline=60))
        rollouts.append(await short(worker, "q3", 3))
        whole = await waiting
        assert whole.complete
        assert sorted(r.rollout for r in whole.rewards) == sorted(rollouts)
        named = await trainer.group("q3", 3, rollouts=[*rollouts[:2], "lost"], deadline=1.0)
        assert named.missing == ["lost"]


async def test_a_stopped_pipeline_gives_none_in_time_and_the_reward_later(server: Server) -> None:
    async with stepgap.connect(server.url) as client:
        await pause_stage(server.url, "STEPGAP_ENDS", "reward-agg")
        try:
            rollout = await short(client, "q4", 1)
            assert await client.reward(rollout, timeout=0.5) is None
            group = await client.group("q4", 1, deadline=0.5)
            assert group.missing == [rollout]
        finally:
            await resume_stage(server.url, "STEPGAP_ENDS", "reward-agg")
        assert await client.reward(rollout) is not None


async def test_a_group_that_is_waited_for_ends_when_the_client_is_closed(server: Server) -> None:
    client = await stepgap.connect(server.url).open()
    waiting = asyncio.ensure_future(client.group("of another process", 2, deadline=600))
    await eventually(lambda: bool(client._indexes) and bool(client._indexes[client.run]._grew))
    await client.close()
    with pytest.raises(stepgap.ConnectionLost, match="followed no more"):
        await waiting


async def test_following_a_runs_groups_begins_anew_after_an_error(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(feed: object, limit: int = 256) -> list[stepgap.Reward]:
        raise ValueError("a fault of the feed's")

    with monkeypatch.context() as patch:
        patch.setattr(RewardFeed, "batch", broken)
        with pytest.raises(stepgap.ConnectionLost, match="followed no more"):
            await client.group("q5", 1, deadline=600)
    async with stepgap.connect(client._url, run=client.run) as worker:
        rollout = await short(worker, "q5", 1)
    assert [r.rollout for r in (await client.group("q5", 1)).rewards] == [rollout]


async def test_groups_that_are_begun_without_end_are_forgotten_in_their_order(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepgap.client._GROUPS", 3)
    for i in range(10):
        client.rollout(QUESTION, group=f"g{i // 2}", group_size=2)
    assert [(group, len(rollouts)) for (_, group), rollouts in client._members.items()] == [
        ("g2", 2),
        ("g3", 2),
        ("g4", 2),
    ]


async def test_what_waits_ends_when_the_client_is_closed(server: Server) -> None:
    client = await stepgap.connect(server.url).open()
    waiting = asyncio.ensure_future(client.reward("never", timeout=60))
    await eventually(lambda: bool(client.connection.listeners))
    await client.close()
    with pytest.raises(stepgap.ConnectionLost, match="closed"):
        await waiting
    with pytest.raises(stepgap.ConnectionLost, match="make a new one"):
        await client.reward("never")
