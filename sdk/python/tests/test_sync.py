"""The client without an event loop."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import threading

import pytest

import stepgap
from stepgap.sync import Client

from .conftest import QUESTION, SALT_ROAD, Server


def short(client: Client, group: str = "") -> str:
    with client.rollout(QUESTION, group=group) as r:
        r.step("composer", [SALT_ROAD], "The Salt Road is an opera by Ellen Brandt.", wait=False)
        r.end("Ribe", "Ribe")
    return r.rollout


def test_a_rollout_and_its_reward(server: Server) -> None:
    with Client(server.url) as client:
        with client.rollout(QUESTION, group="q", group_size=1) as r:
            plan = r.plan("composer of the opera The Salt Road")
            assert plan is not None
            assert plan.label == "none"
            assert r.probe("composer of the opera The Salt Road", [SALT_ROAD]) is not None
            label = r.step("composer", [SALT_ROAD], "The Salt Road is an opera by Ellen Brandt.")
            assert label is not None
            assert r.label(1) == label
            assert r.conclude("Ribe", "The composer was born in Ribe.") is not None
            r.end("Ribe", "Ribe")
        assert r.ended
        assert r.run == client.run
        reward = client.reward(r)
        assert reward is not None
        assert reward == r.reward()
        assert len(r.steps) == len(reward.steps) == 2
        assert client.group("q", 1).complete
        assert client.group("q", 1, rollouts=[r]).rewards == [reward]
        for got in client.rewards():
            assert got == reward
            break
        assert client.reward("never", timeout=0.1) is None


def test_an_exception_sends_an_aborted_end_and_goes_on(server: Server) -> None:
    with Client(server.url) as client:
        r = client.rollout(QUESTION)
        with pytest.raises(KeyError), r:
            raise KeyError("gone")
        reward = client.reward(r)
        assert reward is not None
        assert (reward.value, reward.reason) == (None, "aborted")


def test_a_block_whose_client_was_closed_raises_what_it_raised(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client(server.url)
    with pytest.raises(KeyError), client.rollout(QUESTION):
        client.close()
        raise KeyError("gone")
    assert "without an end" in caplog.text
    client = Client(server.url)
    with client.rollout(QUESTION) as r:
        r.end()
        client.close()


def test_many_threads_share_a_client(server: Server) -> None:
    with Client(server.url) as client:
        names: list[str] = []
        threads = [threading.Thread(target=lambda: names.append(short(client))) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        seen = []
        for reward in client.rewards(idle_timeout=60):
            seen.append(reward.rollout)
            if len(seen) == 8:
                break
        assert sorted(seen) == sorted(names)


def test_a_closed_client_says_so(server: Server) -> None:
    client = Client(server.url)
    client.close()
    client.close()
    with pytest.raises(stepgap.ConnectionLost, match="closed"):
        client.reward("r")
    assert not any(t.name == "stepgap" and t.is_alive() for t in threading.enumerate())


def test_no_server_leaves_no_thread() -> None:
    with pytest.raises(stepgap.ConnectionLost):
        Client("nats://127.0.0.1:1", connect_timeout=0.2)
    assert not any(t.name == "stepgap" and t.is_alive() for t in threading.enumerate())


async def test_inside_a_running_loop_of_another_thread_it_works(server: Server) -> None:
    def work() -> str:
        with Client(server.url) as client:
            return short(client)

    assert await asyncio.to_thread(work)
    with Client(server.url) as client:  # blocks this loop, and still works: it has its own
        assert client.reward("never", timeout=0.1) is None


def test_called_from_its_own_loop_it_refuses_instead_of_hanging(server: Server) -> None:
    errors: list[Exception] = []
    made: list[Client] = []

    def on_event(event: str, error: Exception | None) -> None:
        if made:
            try:
                made[0].reward("r")
            except stepgap.StepgapError as e:
                errors.append(e)

    with Client(server.url, on_event=on_event) as client:
        made.append(client)
        client._loop._loop.call_soon_threadsafe(client._client.connection._tell, "error", None)
        assert client.reward("never", timeout=0.1) is None
    assert "own event loop" in str(errors[0])


def script(body: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(body), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )


def test_a_forked_child_is_refused_and_makes_its_own(server: Server) -> None:
    done = script(
        """
        import os, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads: that is the point
        import stepgap.sync
        url = sys.argv[1]
        client = stepgap.sync.Client(url)
        rollout = client.rollout("Why?")
        child = os.fork()
        if child == 0:
            for call in (lambda: client.reward("r"), lambda: client.rollout("Why?"), lambda: rollout.end()):
                try:
                    call()
                    os._exit(1)
                except stepgap.ForkedError as e:
                    assert "each process" in str(e)
            client.close()
            with stepgap.sync.Client(url) as own:
                assert own.reward("never", timeout=0.1) is None
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        rollout.end()
        assert client.reward(rollout.rollout) is not None, "the parent's is as before"
        """,
        server.url,
    )
    assert done.returncode == 0, done.stderr


def test_a_client_that_is_not_closed_lets_the_interpreter_end(server: Server) -> None:
    done = script(
        """
        import sys
        import stepgap.sync
        client = stepgap.sync.Client(sys.argv[1])
        assert client.reward("never", timeout=0.1) is None
        """,
        server.url,
    )
    assert (done.returncode, done.stderr) == (0, "")
