"""verl's real reward managers, estimator registry and agent-loop output, against the pipeline."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
from typing import Any

import pytest

from stepgap.adapters import verl as adapter
from stepgap.adapters.estimating import ESTIMATORS, group_advantages
from stepgap.advantages import process
from tests.conftest import QUESTION, Server

from . import rollouts, tiny

torch = pytest.importorskip("torch")
pytest.importorskip("verl")

import numpy as np  # noqa: E402
import omegaconf  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.experimental.reward_loop.reward_manager.limited import RateLimitedRewardManager  # noqa: E402
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager  # noqa: E402
from verl.trainer.ppo import core_algos  # noqa: E402
from verl.trainer.ppo.reward import get_custom_reward_fn  # noqa: E402


def configured(**kwargs: Any) -> Any:
    """The reward function as verl loads it from its configuration."""
    return get_custom_reward_fn(
        omegaconf.OmegaConf.create(
            {
                "reward": {
                    "custom_reward_function": {
                        "path": "pkg://stepgap.adapters.verl",
                        "name": "compute_score",
                        "reward_kwargs": kwargs,
                    }
                }
            }
        )
    )


def row(text: str, **info: Any) -> tuple[DataProto, list[int]]:
    tokens = tiny.tokenizer()
    ids = [*tokens(text)["input_ids"], tokens.eos_token_id]
    prompt = tokens(rollouts.PROMPT)["input_ids"]
    data = DataProto.from_dict(
        tensors={
            "prompts": torch.tensor([prompt]),
            "responses": torch.tensor([ids]),
            "attention_mask": torch.ones(1, len(prompt) + len(ids), dtype=torch.int64),
        },
        non_tensors={
            "data_source": np.array(["search"], dtype=object),
            "reward_model": np.array([{"ground_truth": {"target": [rollouts.GOLD]}}], dtype=object),
            "extra_info": np.array([info], dtype=object),
        },
    )
    return data, ids


async def run(kind: Any, function: Any, data: DataProto) -> dict[str, Any]:
    manager = kind(omegaconf.OmegaConf.create({"reward": {}}), tiny.tokenizer(), function)
    result: dict[str, Any] = await manager.run_single(data)
    return result


@pytest.mark.parametrize("kind", [NaiveRewardManager, RateLimitedRewardManager])
async def test_a_reward_manager_gets_the_reward_and_its_parts(judging_server: Server, kind: Any) -> None:
    function = configured(url=judging_server.url, deadline=120.0)
    assert inspect.iscoroutinefunction(function.func), "verl awaits it"
    data, ids = row(rollouts.OFF, question=QUESTION)
    result = await run(kind, function, data)
    info = result["reward_extra_info"]
    parts = json.loads(info[adapter.STEPS])
    assert result["reward_score"] == pytest.approx(sum(v for _, v, _ in parts))
    assert info["stepgap_scored"] == 1
    assert len({end for *_, end in parts}) == len(parts) >= 2
    tokens = tiny.tokenizer()

    def decode(ids: list[int]) -> str:
        return str(tokens.decode(ids, skip_special_tokens=True))

    rewards = adapter.placed_rewards(info[adapter.STEPS], ids, decode(ids), decode)
    assert sum(rewards) == pytest.approx(result["reward_score"])
    for _, value, end in parts:
        token = next(t for t in range(len(ids)) if len(decode(ids[: t + 1])) >= end)
        assert rewards[token] == pytest.approx(value)


@pytest.mark.parametrize("kind", [NaiveRewardManager, RateLimitedRewardManager])
async def test_what_could_not_be_scored_is_nan_and_never_0(kind: Any) -> None:
    function = configured(url="nats://127.0.0.1:1", deadline=1.0)
    for info in ({"question": QUESTION}, {}):
        data, ids = row(rollouts.HONEST, **info)
        result = await run(kind, function, data)
        assert math.isnan(result["reward_score"])
        extra = result["reward_extra_info"]
        assert extra["stepgap_scored"] == 0
        assert extra["stepgap_reason"] in ("deadline", "connection", "error")
        assert extra[adapter.STEPS] == "null"
        assert math.isnan(adapter.placed_rewards("null", ids, "", lambda _: "")[-1])


async def test_one_hung_response_holds_up_no_other(judging_server: Server) -> None:
    function = configured(url=judging_server.url, deadline=120.0)
    lost = configured(url="nats://127.0.0.1:1", deadline=1.0)
    results = await asyncio.gather(
        *(run(NaiveRewardManager, f, row(rollouts.WRONG, question=QUESTION)[0]) for f in (function, lost))
    )
    assert math.isfinite(results[0]["reward_score"])
    assert math.isnan(results[1]["reward_score"])


def test_estimators_are_registered_and_agree_with_verls_own() -> None:
    adapter.register()
    adapter.register()  # importing twice is no error
    for name, function in ESTIMATORS.items():
        assert core_algos.get_adv_estimator_fn(name) is function
    rewards = torch.tensor([[0.0, 0.3, 0.0], [0.1, -0.2, 0.0], [0.0, 0.0, 0.5], [0.2, 0.0, 0.0]])
    mask = torch.tensor([[1, 1, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]])
    index = np.array(["a", "a", "b", "b"], dtype=object)
    for divide, name in ((True, "stepgap_grpo"), (False, "stepgap_dr_grpo")):
        theirs, _ = core_algos.compute_grpo_outcome_advantage(
            rewards.clone(), mask, index, epsilon=1e-4, norm_adv_by_std_in_grpo=divide
        )
        ours, returns = core_algos.get_adv_estimator_fn(name)(
            token_level_rewards=rewards, response_mask=mask, index=index, config=None
        )
        assert torch.allclose(ours, theirs.to(ours.dtype), atol=1e-5)
        assert torch.equal(ours, returns)
    poisoned = rewards.clone()
    poisoned[0, 1] = math.nan
    theirs, _ = core_algos.compute_grpo_outcome_advantage(poisoned.clone(), mask, index)
    assert theirs[1].isnan().any(), "verl's own would train on NaN"
    ours, _ = core_algos.get_adv_estimator_fn("stepgap_grpo")(
        token_level_rewards=poisoned, response_mask=mask, index=index
    )
    assert ours.isfinite().all()
    assert not ours[0].any()
    assert group_advantages(poisoned.tolist(), mask.tolist(), list(index))[2][0] == pytest.approx(
        ours[2, 0].item(), abs=1e-6
    )


def test_verls_trainer_calls_the_steps_estimator_with_what_it_needs() -> None:
    trainer = pytest.importorskip("verl.trainer.ppo.ray_trainer")
    adapter.register()
    rewards = torch.tensor([[0.1, 0.0, 0.3, 0.0], [0.0, -0.2, 0.0, 0.0], [0.0, 0.0, 0.0, math.nan]])
    data = DataProto.from_dict(
        tensors={"token_level_rewards": rewards, "response_mask": torch.ones(3, 4, dtype=torch.int64)},
        non_tensors={"uid": np.array(["a"] * 3, dtype=object)},
    )
    advantages = trainer.compute_advantage(data, "stepgap_steps").batch["advantages"]
    want = process([[0.1, 0.3], [-0.2], []])
    assert advantages[0, 0].item() == pytest.approx(want[0][0], abs=1e-5), "its own and what follows"
    assert advantages[0, 1:3].tolist() == pytest.approx([want[0][1]] * 2, abs=1e-5)
    assert advantages[0, 3].item() == 0.0
    assert advantages[1, :2].tolist() == pytest.approx([want[1][0]] * 2, abs=1e-5)
    assert not advantages[2].any(), "what was not scored moves nothing"


def test_an_agent_loops_output_has_its_rewards_on_tokens() -> None:
    loop = pytest.importorskip("verl.experimental.agent_loop.agent_loop")
    tokens = tiny.tokenizer()

    def decode(ids: list[int]) -> str:
        return str(tokens.decode(ids, skip_special_tokens=True))

    ids = [*tokens("one two three four")["input_ids"], tokens.eos_token_id]
    kind = adapter.step_output(loop.AgentLoopOutput, decode)
    output = kind(
        prompt_ids=[1, 2],
        response_ids=ids,
        response_mask=[1] * len(ids),
        metrics=loop.AgentLoopMetrics(),
        extra_fields={},
    )
    output.reward_score = 0.3
    output.extra_fields["reward_extra_info"] = {
        adapter.STEPS: json.dumps([["step", 0.1, 3], ["step", 0.2, 13]])
    }
    scores = output.as_dict()["rm_scores"]
    assert scores.sum().item() == pytest.approx(0.3)
    places = scores.nonzero().flatten().tolist()
    assert [decode(ids[: p + 1]) for p in places] == ["one", "one two three"]
    output.extra_fields["reward_extra_info"] = {adapter.STEPS: "null"}
    output.reward_score = math.nan
    assert output.as_dict()["rm_scores"][-1].isnan()
