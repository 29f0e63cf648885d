"""skyrl-gym's real registry and environment base, against the pipeline."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.conftest import BRANDT, QUESTION, SALT_ROAD, Server

from . import rollouts

skyrl_gym = pytest.importorskip("skyrl_gym")

from stepgap.adapters import skyrl  # noqa: E402


def retrieve(query: str) -> list[tuple[str, str]]:
    if "Nielsen" in query:
        return [rollouts.OPERAS]
    return [BRANDT] if "Brandt" in query else [SALT_ROAD]


TURNS = [
    rollouts.said("I need to find the composer of the opera The Salt Road.")
    + rollouts.search("composer Nielsen of the opera The Salt Road"),
    rollouts.said("The Salt Road is an opera by Carl Nielsen.")
    + rollouts.search("composer of the opera The Salt Road"),
    rollouts.said("The Salt Road is an opera by Ellen Brandt.")
    + rollouts.search("Ellen Brandt composer birthplace"),
    rollouts.said("Ellen Brandt was born in Ribe.") + "<answer> Ribe </answer>",
]


def play(url: str, turns: list[str], **options: Any) -> tuple[Any, list[dict[str, Any]]]:
    kind = skyrl.environment(url, retrieve, **options)
    skyrl_gym.register(id=f"stepgap-{id(kind)}", entry_point=kind)
    extras = {"question": QUESTION, "reward_spec": {"ground_truth": rollouts.GOLD}, "max_turns": 6}
    env = skyrl_gym.make(f"stepgap-{id(kind)}", env_config={}, extras=extras)
    prompt, _ = env.init([{"role": "user", "content": rollouts.PROMPT}])
    assert prompt[0]["content"] == rollouts.PROMPT
    outputs = []
    for turn in turns:
        outputs.append(env.step(turn))
        if outputs[-1]["done"]:
            break
    env.close()
    return env, outputs


def as_generator_does(outputs: list[dict[str, Any]]) -> list[float]:
    """What SkyRL's generator does with turn rewards: adds each to a list of floats, afterwards."""
    tokens = [0.0] * (10 * len(outputs))
    for i, output in enumerate(outputs):
        assert output["reward"] is not None
        tokens[10 * i + 9] += output["reward"]
    assert [float(o["reward"]) for o in outputs] == tokens[9::10] or any(map(math.isnan, tokens))
    return tokens


@pytest.mark.parametrize("outcome", [None, "em"])
def test_each_turn_has_its_own_reward(judging_server: Server, outcome: Any) -> None:
    env, outputs = play(judging_server.url, TURNS, deadline=120.0, outcome=outcome)
    assert [o["done"] for o in outputs] == [False, False, False, True]
    assert outputs[0]["observations"][0]["content"].startswith("\n<information>Doc 1(Title:")
    scored = env.episode.scored
    assert scored.valid
    rewards = as_generator_does(outputs)[9::10]
    assert sum(rewards) == pytest.approx(scored.reward.value + (1.0 if outcome else 0.0))
    assert len(set(rewards)) > 1, "not one number for all"
    # Nothing is earned by the first turn: it claims nothing.
    assert rewards[0] == 0.0
    for step in scored.reward.steps:
        if step.base is not None and step.base_at is not None:
            turn = next(i for i, (a, b) in enumerate(env.episode.turns) if a <= step.base_at.start < b)
            assert turn == (step.index if step.index < len(outputs) else len(outputs) - 1)
    assert outputs[-1]["metadata"]["stepgap_labels"] == [s.label for s in scored.reward.steps]
    metrics = env.get_metrics()
    assert metrics["stepgap/rollouts"] == 1
    assert type(env).aggregate_metrics([metrics, metrics])["stepgap/rollouts"] == 1


def test_an_episode_without_the_pipeline_is_nan_within_its_deadline() -> None:
    env, outputs = play("nats://127.0.0.1:1", TURNS, deadline=1.0)
    assert outputs[-1]["done"]
    assert all(math.isnan(float(o["reward"])) for o in outputs), "never 0"
    assert env.get_metrics()["stepgap/unscored"] == 1


def test_what_the_row_lacks_is_named() -> None:
    kind = skyrl.environment("nats://127.0.0.1:1", retrieve)
    with pytest.raises(ValueError, match="question"):
        kind({}, {"reward_spec": {"ground_truth": "x"}})
