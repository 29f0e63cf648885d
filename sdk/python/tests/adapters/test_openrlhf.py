"""OpenRLHF's real agent executors, with a scripted engine, against the pipeline.

Its package is imported as far as it goes without a GPU (openrlhf.utils.agent).
"""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stepgap.adapters import openrlhf as adapter
from tests.conftest import QUESTION, Server

from . import rollouts, tiny
from .test_skyrl import TURNS, retrieve

torch = pytest.importorskip("torch")
agent = pytest.importorskip("openrlhf.utils.agent")

FILE = """
from stepgap.adapters.openrlhf import make_reward_func

reward_func = make_reward_func({url!r}, deadline={deadline}, unscored={unscored!r})
"""


class Engine:
    """Generates what it was given, turn by turn."""

    def __init__(self, turns: list[str]) -> None:
        self._turns = iter(turns)

    async def generate(self, prompt: list[int], params: Any, multi_modal_data: Any = None) -> Any:
        text = next(self._turns)
        ids = tiny.tokenizer()(text)["input_ids"]
        output = SimpleNamespace(token_ids=ids, text=text, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def sampling() -> Any:
    return SimpleNamespace(max_tokens=512, logprobs=None)


async def single(
    tmp_path: Path, url: str, text: str, deadline: float, unscored: str = "none"
) -> dict[str, Any]:
    file = tmp_path / "reward.py"
    file.write_text(FILE.format(url=url, deadline=deadline, unscored=unscored))
    executor = agent.SingleTurnAgentExecutor(str(file))
    result: dict[str, Any] = await executor.execute(
        rollouts.PROMPT, rollouts.GOLD, sampling(), 4096, tiny.tokenizer(), Engine([text])
    )
    return result


async def test_a_reward_function_of_its_own_file(judging_server: Server, tmp_path: Path) -> None:
    good = await single(tmp_path, judging_server.url, rollouts.HONEST, 120.0)
    bad = await single(tmp_path, judging_server.url, rollouts.WRONG, 120.0)
    assert good["reward"] > bad["reward"]
    assert good["scores"] == good["reward"]
    assert bad["extra_logs"]["stepgap_labels_contradicted_claim"] >= 1
    for value in good["extra_logs"].values():
        torch.tensor([value])  # as OpenRLHF makes tensors of them


async def test_without_the_pipeline_there_is_no_reward_and_not_0(tmp_path: Path) -> None:
    result = await single(tmp_path, "nats://127.0.0.1:1", rollouts.HONEST, 1.0)
    assert result["reward"] is None
    assert result["scores"] is None
    result = await single(tmp_path, "nats://127.0.0.1:1", rollouts.HONEST, 1.0, "nan")
    assert math.isnan(result["reward"])
    low, high = -1e9, 1e9
    average = (result["scores"] + 0.5) / 2
    assert not low < average < high, "so OpenRLHF's dynamic filtering drops the prompt"


async def test_an_agents_turns_add_up_to_the_reward(judging_server: Server) -> None:
    kind = adapter.make_agent(agent.AgentInstanceBase, judging_server.url, retrieve, deadline=120.0)
    seen: list[Any] = []

    class Watched(kind):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            seen.append(self)

    result = await agent.MultiTurnAgentExecutor(Watched).execute(
        rollouts.PROMPT, rollouts.GOLD, sampling(), 4096, tiny.tokenizer(), Engine(TURNS)
    )
    scored = seen[0].episode.scored
    assert scored.valid
    assert result["reward"] == pytest.approx(scored.reward.value, abs=1e-6)
    assert len(result["action_ranges"]) == len(TURNS)
    assert result["extra_logs"]["stepgap_rollouts"] == 1


async def test_an_agent_without_the_pipeline_is_nan_and_not_0() -> None:
    kind = adapter.make_agent(agent.AgentInstanceBase, "nats://127.0.0.1:1", retrieve, deadline=1.0)
    result = await agent.MultiTurnAgentExecutor(kind).execute(
        rollouts.PROMPT, rollouts.GOLD, sampling(), 4096, tiny.tokenizer(), Engine(TURNS)
    )
    assert math.isnan(result["reward"])


def test_questions_and_labels() -> None:
    assert adapter.question_of(rollouts.PROMPT, "Ribe") == QUESTION
    assert adapter.question_of("x", '{"question": "Who?", "gold": ["A"]}') == "Who?"
    assert adapter.label_of('{"gold": ["A"]}')["gold"] == ["A"]
    assert adapter.label_of("{not json")["gold"] == "{not json"
    with pytest.raises(ValueError, match="question="):
        adapter.question_of("no question here", "x")
