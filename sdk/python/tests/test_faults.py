"""What goes wrong in real life, with a real server that is stopped, killed, filled and replaced."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
from collections.abc import Callable

import pytest

import stepgap
from stepgap import Client, Step
from stepgap._connection import Dropped

from .conftest import BRANDT, QUESTION, SALT_ROAD, Server, eventually, pause_stage, resume_stage
from .test_rewards import short


def steps(run: str, count: int) -> list[Step]:
    return [
        Step(run=run, rollout=f"r{i}", index=1, question=QUESTION, query="composer", claim="It is by E. B.")
        for i in range(count)
    ]


async def roll(client: Client, name: str) -> str:
    """A rollout that is tried again as a worker would, until it is through."""
    r = client.rollout(QUESTION, rollout=name)
    for query, passage in (("composer", SALT_ROAD), ("birthplace", BRANDT)):
        await again(lambda q=query, p=passage: r.step(q, [p], "It is by Ellen Brandt.", wait=False))  # type: ignore[misc]
    await again(lambda: r.end("Ribe", "Ribe"))
    return name


async def again(call: Callable[[], object]) -> None:
    while True:
        try:
            await call()  # type: ignore[misc]
        except (stepgap.DeadlineExceeded, stepgap.ConnectionLost):
            continue
        return


async def test_a_server_killed_in_mid_run_loses_and_doubles_nothing(
    make_server: Callable[..., Server],
) -> None:
    server = make_server("--ack-wait", "2s")  # what was in hand at the kill is handed out again soon
    events: list[str] = []
    async with stepgap.connect(server.url, on_event=lambda event, _: events.append(event)) as client:
        seen: list[str] = []

        async def follow() -> None:
            async for reward in client.rewards():
                seen.append(reward.rollout)

        following = asyncio.ensure_future(follow())
        first = asyncio.ensure_future(asyncio.gather(*(roll(client, f"a{i}") for i in range(20))))
        await eventually(lambda: len(seen) >= 5)
        await asyncio.to_thread(server.kill)
        second = asyncio.ensure_future(asyncio.gather(*(roll(client, f"b{i}") for i in range(20))))
        await eventually(lambda: "disconnected" in events)
        await asyncio.to_thread(server.start)
        names = [*await first, *await second]
        await eventually(lambda: len(seen) >= 40, 60)
        for name in names:
            reward = await client.reward(name)
            assert reward is not None
            assert len(reward.steps) == 2
        following.cancel()
    assert sorted(seen) == sorted(names), "each once"
    assert events.count("reconnected") >= 1


async def test_rewards_go_on_when_their_stream_is_made_anew(make_server: Callable[..., Server]) -> None:
    server = make_server()
    async with stepgap.connect(server.url) as client:
        seen: list[str] = []

        async def follow() -> None:
            async for reward in client.rewards():
                seen.append(reward.rollout)

        following = asyncio.ensure_future(follow())
        before = [await short(client) for _ in range(3)]
        await eventually(lambda: len(seen) == 3)
        await asyncio.to_thread(server.kill)
        shutil.rmtree(server.store)
        await asyncio.to_thread(server.start)
        after = await short(client)
        await eventually(lambda: len(seen) == 4)
        assert sorted(seen) == sorted([*before, after])
        following.cancel()


async def test_a_full_pipeline_is_back_pressure_and_takes_no_index(
    make_server: Callable[..., Server],
) -> None:
    server = make_server("--work-bytes", "20000")
    await pause_stage(server.url, "STEPGAP_STEPS", "entity-check")
    async with stepgap.connect(server.url) as client:
        r = client.rollout(QUESTION)
        with pytest.raises(stepgap.BackPressure, match="slow down"):
            for i in range(100):
                await r.step(f"query {i}", [SALT_ROAD], "It is by Ellen Brandt.", wait=False)
        accepted = len(r.steps)
        assert 0 < accepted < 100
        with pytest.raises(stepgap.BackPressure):
            await client.publish_steps(steps(client.run, 50))
        assert await r.plan("a live check has its own queue", timeout=20) is not None
    async with stepgap.connect(server.url, run=client.run, backpressure_wait=30) as patient:
        waiting = asyncio.ensure_future(patient.publish_steps(steps(client.run, 5)))
        await resume_stage(server.url, "STEPGAP_STEPS", "entity-check")
        assert len(await waiting) == 5, "with patience it gets through as soon as there is room"


async def test_a_server_that_hangs_is_a_deadline_and_trying_again_is_safe(
    make_server: Callable[..., Server],
) -> None:
    server = make_server()
    async with stepgap.connect(server.url, publish_timeout=0.5) as client:
        r = client.rollout(QUESTION)
        server.signal(signal.SIGSTOP)
        with pytest.raises(stepgap.DeadlineExceeded, match="safe"):
            await r.step("composer", [SALT_ROAD], "It is by Ellen Brandt.", wait=False)
        assert await r.plan("composer", timeout=0.3) is None, "a policy goes on without an answer"
        assert await client.reward(r, timeout=0.3) is None
        server.signal(signal.SIGCONT)
        await again(lambda: r.step("composer", [SALT_ROAD], "It is by Ellen Brandt.", wait=False))
        assert [ref.index for ref in r.steps] == [1], "the same content is the same step"
        server.signal(signal.SIGSTOP)
        with pytest.raises(stepgap.DeadlineExceeded):
            await r.step("birthplace", [BRANDT], "She was born in Ribe.", wait=False)
        server.signal(signal.SIGCONT)
        await again(lambda: r.step("birth place of Ellen Brandt", [BRANDT], "Born in Ribe.", wait=False))
        assert [ref.index for ref in r.steps] == [1, 3], "other content never takes an id in doubt"
        await again(lambda: r.end("Ribe", "Ribe"))
        reward = await client.reward(r, timeout=60)
        assert reward is not None
        assert [(s.index, s.reason != "id_reused") for s in reward.steps] == [(1, True), (3, True)]


async def test_a_step_published_twice_is_one_step(client: Client) -> None:
    step = Step(client.run, "dup", 1, question=QUESTION, query="composer", claim="It is by Ellen Brandt.")
    one, two = await client.publish_step(step), await client.publish_step(step)
    assert one == two
    refs = await client.publish_steps([step] * 20)
    assert refs == [one] * 20


async def test_a_callback_that_raises_harms_nothing(server: Server) -> None:
    calls: list[str] = []

    async def on_event(event: str, error: Exception | None) -> None:
        calls.append(event)
        raise RuntimeError("a callback of the user's")

    def on_event_sync(event: str, error: Exception | None) -> None:
        calls.append(event)
        raise RuntimeError("a callback of the user's")

    for callback in (on_event, on_event_sync):
        async with stepgap.connect(server.url, on_event=callback) as client:
            rollout = await short(client)
            assert await client.reward(rollout) is not None
    assert calls == ["connected", "connected"]


async def test_a_handler_that_raises_does_not_end_the_reading(client: Client) -> None:
    def handler(msg: object) -> None:
        raise RuntimeError("a handler of ours")

    connection = client.connection
    inbox = connection.new_inbox()
    subscription = await connection.subscribe(inbox, handler)
    for _ in range(3):
        await connection.publish(inbox, b"x", None)
    assert await client.reward(await short(client)) is not None
    await subscription.close()


async def test_a_cancelled_call_leaves_the_connection_whole(client: Client) -> None:
    for _ in range(20):
        task = asyncio.ensure_future(client.reward("never", timeout=30))
        await asyncio.sleep(0)
        task.cancel()
        publishing = asyncio.ensure_future(client.publish_steps(steps(client.run, 50)))
        await asyncio.sleep(0)
        publishing.cancel()
        for cancelled in (task, publishing):
            with pytest.raises(asyncio.CancelledError):
                await cancelled
    assert await client.reward(await short(client)) is not None
    assert not client.connection._waiting
    assert client.publisher._window._out == 0, "every place in the window was given back"


async def test_a_connection_closed_for_good_by_nats_py_is_dialled_again(client: Client) -> None:
    """As after "maximum connections exceeded", on which nats-py gives up."""
    nc = client.connection._nc
    assert nc is not None
    generation = client.connection.generation
    async with client.rewards() as feed:
        first = await short(client)
        assert (await feed.__anext__()).rollout == first
        await nc._process_err("'Maximum Connections Exceeded'")
        await eventually(lambda: client.connection.generation > generation)
        second = await short(client)
        assert (await feed.__anext__()).rollout == second


async def test_publishing_while_disconnected_is_refused_at_once_inside(
    make_server: Callable[..., Server],
) -> None:
    """Nothing is buffered to be sent at some later time, or never."""
    server = make_server()
    async with stepgap.connect(server.url, publish_timeout=0.5) as client:
        await asyncio.to_thread(server.kill)
        await eventually(lambda: not client.connection.is_up)
        with pytest.raises(Dropped):
            await client.connection.publish("stepgap.steps.r.o.1", b"x", None)
        with pytest.raises(stepgap.ConnectionLost, match="no connection to NATS"):
            await client.publish_step(steps(client.run, 1)[0])


async def test_no_server_is_a_clear_error_in_time() -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    client = stepgap.connect(f"nats://user:secret@127.0.0.1:{port}", connect_timeout=0.5)
    with pytest.raises(stepgap.ConnectionLost, match="is the server there") as caught:
        await client.open()
    assert "secret" not in str(caught.value)
    with pytest.raises(stepgap.ConnectionLost, match="not connected"):
        await client.reward("r")


async def test_a_server_without_the_pipeline_says_so(make_server: Callable[..., Server]) -> None:
    async with stepgap.connect(make_server().url, publish_timeout=0.5) as client:
        with pytest.raises(stepgap.ConnectionLost, match="is the pipeline running"):
            await client.publisher._persist("nobody.listens", b"x", {})


def test_every_error_is_told_by_its_code_not_by_its_text() -> None:
    from stepgap._publish import Again, refusal

    for code, cls in {
        10077: stepgap.BackPressure,
        10023: stepgap.BackPressure,
        10071: stepgap.AlreadyThere,
        10164: Again,
        10008: Again,
        10060: stepgap.ServerRefused,
    }.items():
        error = refusal("s", {"code": 503, "err_code": code, "description": "any words", "new_key": 1})
        assert type(error) is cls
    assert isinstance(refusal("s", {}), stepgap.ServerRefused)
