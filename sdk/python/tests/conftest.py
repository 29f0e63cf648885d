"""A real pipeline for the tests: the program itself, with its own NATS server and local judges."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import nats
import pytest

import stepgap

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "pkg" / "schema" / "testdata" / "golden"
ADVANTAGES = ROOT / "pkg" / "advantage" / "testdata"
NLI_MODEL = Path(os.environ.get("STEPGAP_NLI_MODEL", ROOT / "build" / "models" / "nli-minilm"))

QUESTION = "In which town was the composer of the opera The Salt Road born?"
SALT_ROAD = (
    "The Salt Road (opera)",
    "The Salt Road is an opera in three acts by the Danish composer Ellen Brandt. "
    "It was first performed in Aarhus on 4 March 1921.",
)
BRANDT = (
    "Ellen Brandt",
    "Ellen Brandt was a Danish composer of operas and songs. She was born in Ribe, "
    "where her father kept a music shop.",
)


def go_environment() -> dict[str, str]:
    env = dict(os.environ)
    env.setdefault("CGO_LDFLAGS", f"-L{ROOT / 'build' / 'lib'}")
    return env


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program: STEPGAP_BIN, or built here."""
    if given := os.environ.get("STEPGAP_BIN"):
        return Path(given)
    if shutil.which("go") is None:
        pytest.skip("no STEPGAP_BIN and no Go to build the program with")
    out = tmp_path_factory.mktemp("bin") / "stepgap"
    subprocess.run(
        ["go", "build", "-o", str(out), "./cmd/stepgap"], cwd=ROOT, env=go_environment(), check=True
    )
    return out


class Server:
    """A pipeline process that can be killed, stopped and started again."""

    def __init__(self, binary: Path, store: Path, *flags: str) -> None:
        self._binary, self.store, self._flags = binary, store, flags
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        listen = self.url.removeprefix("nats://") or "127.0.0.1:0"
        env = dict(os.environ)
        env.setdefault("STEPGAP_ORT_LIB", str(ROOT / "build" / "lib" / "libonnxruntime.so"))
        env["STEPGAP_NLI_MODEL"] = str(NLI_MODEL)
        self._process = subprocess.Popen(
            [str(self._binary), "serve", "--listen", listen, "--store", str(self.store), *self._flags],
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        assert self._process.stderr is not None
        seen = []
        for line in self._process.stderr:
            seen.append(line)
            if found := re.search(r'msg="NATS listens" url=(\S+)', line):
                self.url = found[1]
            if "msg=serving" in line:
                threading.Thread(target=_swallow, args=(self._process.stderr,), daemon=True).start()
                return
        pytest.fail("the pipeline did not start:\n" + "".join(seen))

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        if number == signal.SIGSTOP:
            # A stop is told once every thread has stopped; until then one may still answer.
            os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)

    def kill(self) -> None:
        """End it at once, as a machine that fails does."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGCONT)
        self._process.kill()
        self._process.wait()
        self._process = None

    def restart(self) -> None:
        self.kill()
        self.start()


def _swallow(stream: Any) -> None:
    with stream:
        for _ in stream:
            pass


@pytest.fixture(scope="session")
def server(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A pipeline that tests share, each with a run of its own. D and E say none at once."""
    server = Server(binary, tmp_path_factory.mktemp("store"), "--judge-nli", "free")
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def judging_server(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A pipeline whose D and E ask the NLI model."""
    server = Server(binary, tmp_path_factory.mktemp("judged"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def make_server(binary: Path, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Makes a pipeline of the test's own, to do harm to. The judge of D and E says none at once."""
    made: list[Server] = []

    def make(*flags: str) -> Server:
        server = Server(binary, tmp_path / f"store{len(made)}", "--judge-nli", "free", *flags)
        server.start()
        made.append(server)
        return server

    yield make
    for server in made:
        server.kill()


@pytest.fixture
async def client(server: Server) -> AsyncIterator[stepgap.Client]:
    async with stepgap.connect(server.url) as client:
        yield client


@pytest.fixture
async def judging_client(judging_server: Server) -> AsyncIterator[stepgap.Client]:
    async with stepgap.connect(judging_server.url) as client:
        yield client


async def jetstream_api(url: str, subject: str, body: dict[str, Any]) -> dict[str, Any]:
    """Ask JetStream's API by hand."""
    nc = await nats.connect(url)
    try:
        answer = await nc.request(f"$JS.API.{subject}", json.dumps(body).encode(), timeout=10)
        value: dict[str, Any] = json.loads(answer.data)
        assert "error" not in value, value
        return value
    finally:
        await nc.close()


async def pause_stage(url: str, stream: str, consumer: str, until: str = "2100-01-01T00:00:00Z") -> None:
    """Let a stage take nothing until a time; a time that is over lets it go on."""
    await jetstream_api(url, f"CONSUMER.PAUSE.{stream}.{consumer}", {"pause_until": until})


async def resume_stage(url: str, stream: str, consumer: str) -> None:
    await jetstream_api(url, f"CONSUMER.PAUSE.{stream}.{consumer}", {})


async def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for something that a background task brings about."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while not condition():
        assert loop.time() < until, "it did not come about"
        await asyncio.sleep(0.01)
