"""TRL's real GRPOTrainer on CPU, against the real pipeline."""

from __future__ import annotations

import itertools
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepgap import GAPS, advantages
from tests.conftest import QUESTION, Server

from . import rollouts, tiny

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

import datasets  # noqa: E402
import transformers  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

from stepgap.adapters.trl import StepGRPOTrainer, StepReward, reward_func  # noqa: E402

GROUP = 4
STEPS = 2


def rollout_func(prompts: list[Any], trainer: Any) -> dict[str, Any]:
    """A search agent's rollouts, which are a policy of their own: the trainer learns from them."""
    tokens = tiny.tokenizer()
    texts = itertools.islice(itertools.cycle(rollouts.ALL), len(prompts))
    ids = [[*tokens(text)["input_ids"], tokens.eos_token_id] for text in texts]
    return {
        "prompt_ids": [tokens(p)["input_ids"] for p in prompts],
        "completion_ids": ids,
        "logprobs": None,
    }


def make_trainer(
    kind: type, reward: Any, folder: Path, *, steps: int = STEPS, scripted: bool = True, **options: Any
) -> Any:
    torch.set_num_threads(1)
    rows = [{"prompt": rollouts.PROMPT, "question": QUESTION, "answer": rollouts.GOLD}] * 8
    config = GRPOConfig(
        output_dir=str(folder),
        per_device_train_batch_size=GROUP,
        num_generations=GROUP,
        max_steps=steps,
        max_completion_length=512 if scripted else 12,
        learning_rate=1e-3,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        bf16=False,
        disable_tqdm=True,
        gradient_checkpointing=False,
        **options,
    )
    return kind(
        model=tiny.model(),
        reward_funcs=reward,
        args=config,
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tiny.tokenizer(),
        rollout_func=rollout_func if scripted else None,
    )


class AfterStep(transformers.TrainerCallback):  # type: ignore[misc]
    """Does something after a step."""

    def __init__(self, step: int, do: Callable[[], None]) -> None:
        self._step, self._do = step, do

    def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        if state.global_step == self._step:
            self._do()


def weights(trainer: Any) -> Any:
    return torch.cat([p.detach().flatten() for p in trainer.model.parameters()]).clone()


def test_rewards_arrive_and_the_pipeline_may_die_in_mid_run(
    judging_server_to_kill: Server, tmp_path: Path
) -> None:
    reward = reward_func(judging_server_to_kill.url, gold="answer", deadline=120)
    trainer = make_trainer(StepGRPOTrainer, reward, tmp_path, steps=4)
    seen: list[list[float | None]] = []
    before: list[Any] = []
    call = StepReward.__call__

    async def watched(self: StepReward, *args: Any, **columns: Any) -> list[float | None]:
        seen.append(await call(self, *args, **columns))
        return seen[-1]

    def die() -> None:
        judging_server_to_kill.kill()
        reward.deadline = 2.0
        before.append(weights(trainer))

    start = weights(trainer)
    trainer.add_callback(AfterStep(2, die))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StepReward, "__call__", watched)
        trainer.train()
    log = [line for line in trainer.state.log_history if "stepgap/rollouts" in line]
    assert [line["step"] for line in log] == [1, 2, 3, 4], "training went on to the end"

    honest, wrong, off, garbled = seen[0]
    assert honest is not None
    assert wrong is not None
    assert off is not None
    assert honest > wrong, "a contradicted claim costs"
    assert garbled is None, "a completion that has no steps has no reward, not 0"
    assert log[0]["stepgap/labels/contradicted_claim"] >= 1
    assert log[0]["stepgap/labels/none"] >= 3
    assert log[0]["stepgap/unscored"] == 1
    assert log[0]["reward"] == pytest.approx((honest + wrong + off) / 3), "None is left out of the mean"
    assert not torch.equal(start, before[0]), "and it learned"

    for step in (2, 3):
        assert seen[step] == [None] * GROUP
        late = [log[step].get(f"stepgap/unscored/{why}", 0) for why in ("deadline", "connection")]
        assert sum(late) == GROUP, "given up at the deadline, with why"
        assert log[step]["stepgap/unscored"] == GROUP
        assert sum(log[step][f"stepgap/labels/{gap}"] for gap in GAPS) == 0
        assert log[step]["reward"] is None, "TRL's mean of nothing"
        assert log[step]["loss"] == 0.0
    assert all(torch.isfinite(p).all() for p in trainer.model.parameters())
    threads = threading.active_count()
    reward.close()
    assert threading.active_count() == threads - 1, "its thread is gone"


def test_what_an_untrained_model_writes_is_none_and_trls_own_trainer_goes_on(
    judging_server: Server, tmp_path: Path
) -> None:
    reward = reward_func(judging_server.url, gold="answer", deadline=60)
    trainer = make_trainer(GRPOTrainer, reward, tmp_path, scripted=False)
    start = weights(trainer)
    trainer.train()
    log = [line for line in trainer.state.log_history if "stepgap/rollouts" in line]
    assert [line["stepgap/unscored"] for line in log] == [GROUP] * STEPS
    assert {s.reason for s in reward.last} == {"no_steps"}
    assert torch.equal(start, weights(trainer)), "nothing to learn from"


@pytest.fixture
def judging_server_to_kill(binary: Path, tmp_path: Path) -> Any:
    server = Server(binary, tmp_path / "store")
    server.start()
    yield server
    server.kill()


def test_step_rewards_reach_their_tokens(judging_server: Server, tmp_path: Path) -> None:
    reward = reward_func(judging_server.url, gold="answer", deadline=120)
    trainer = make_trainer(StepGRPOTrainer, reward, tmp_path, gradient_accumulation_steps=2)
    inputs = [dict(row) for row in trainer.train_dataset.select(range(GROUP))]
    output = trainer._generate_and_score_completions(inputs)
    advantage, ids, mask = output["advantages"], output["completion_ids"], output["completion_mask"]
    assert advantage.shape == mask.shape == ids.shape
    scored = reward.last
    parts = [_parts(s.reward) for s in scored]
    normal = iter(advantages._normalise([v for row in parts for _, v in row], divide=True))
    tokens = tiny.tokenizer()
    for row, events in enumerate(parts):
        text = scored[row].text
        values = [v for v in (next(normal) for _ in events) if v is not None]
        at = 0
        for n, (end, _) in enumerate(events):
            # All tokens up to the part's last one bear it and what follows.
            while len(tokens.decode(ids[row, :at], skip_special_tokens=True)) < end:
                assert advantage[row, at].item() == pytest.approx(sum(values[n:]), abs=1e-5)
                at += 1
            assert tokens.decode(ids[row, :at], skip_special_tokens=True).startswith(text[:end])
        assert not advantage[row, at:].any(), "nothing follows the last part"
    off = scored[2].reward
    assert off is not None
    assert not advantage[3].any(), "the garbled one moves nothing"
    # The repairing query bears its shape reward, the claim before it its base as well.
    gap = next(s for s in off.steps if s.shape is not None and s.shape_at is not None and s.shape > 0)
    assert gap.base_at is not None
    assert gap.shape_at is not None
    assert scored[2].text[gap.shape_at.start : gap.shape_at.end].startswith("<search>")
    assert gap.base_at.end < gap.shape_at.end
    trainer.train()
    assert all(torch.isfinite(p).all() for p in trainer.model.parameters())


def _parts(reward: Any) -> list[tuple[int, float]]:
    """(end of its span, value) of each part of a reward, in the order of the text."""
    at: dict[int, float] = {}
    for step in reward.steps if reward is not None and reward.value is not None else []:
        for value, span in ((step.base, step.base_at), (step.shape, step.shape_at)):
            if value is not None:
                at[span.end] = at.get(span.end, 0.0) + value
    return sorted(at.items())


def test_advantages_are_trls_own_in_the_plain_case(tmp_path: Path) -> None:
    rewards = [0.3, -0.2, None, 0.55]

    def given(prompts: Any, **columns: Any) -> list[float | None]:
        return rewards

    trainer = make_trainer(GRPOTrainer, given, tmp_path)
    inputs = [dict(row) for row in trainer.train_dataset.select(range(GROUP))]
    theirs = trainer._generate_and_score_completions(inputs)["advantages"].tolist()
    ours = advantages.grpo(rewards)
    assert ours[2] is None
    assert theirs == pytest.approx([0.0 if a is None else a for a in ours], abs=1e-5)
    trainer.scale_rewards = "none"
    theirs = trainer._generate_and_score_completions(inputs)["advantages"].tolist()
    assert theirs == pytest.approx([0.0 if a is None else a for a in advantages.dr_grpo(rewards)], abs=1e-6)


def test_other_reward_functions_are_refused(tmp_path: Path) -> None:
    reward = reward_func("nats://127.0.0.1:1")
    with pytest.raises(ValueError, match="one reward function"):
        make_trainer(StepGRPOTrainer, [reward, lambda prompts, **_: [0.0] * len(prompts)], tmp_path)


def test_a_reward_function_survives_pickling() -> None:
    reward = pickle.loads(pickle.dumps(reward_func("nats://127.0.0.1:1", deadline=3.0)))
    assert reward.deadline == 3.0


async def test_a_missing_column_is_named() -> None:
    reward = reward_func("nats://127.0.0.1:1", question="query")
    with pytest.raises(ValueError, match="no column 'query'"):
        await reward(["p"], ["c"], [[1]], question=["q"])
