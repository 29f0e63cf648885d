"""Advantages and outcome scores: equal to Go's, on its groups and on ours."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgap.advantages import EPSILON, dr_grpo, grpo, mask, process
from stepgap.outcome import normalize, score_answer

from .conftest import ADVANTAGES, ROOT, go_environment

Rewards = list[float | None]
rewards = st.lists(st.none() | st.floats(-10, 10) | st.sampled_from([0.0, 1.0]), max_size=12)


def same(got: Rewards, want: Rewards) -> None:
    assert mask(got) == mask(want), (got, want)
    assert [g for g in got if g is not None] == pytest.approx(
        [w for w in want if w is not None], rel=1e-9, abs=1e-9
    )


def check(group: dict[str, Any]) -> None:
    same(grpo(group["outcome"] or []), group["grpo"] or [])
    same(dr_grpo(group["outcome"] or []), group["dr_grpo"] or [])
    got = process([steps or [] for steps in group["steps"] or []])
    want = group["process"] or []
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        same(g, w or [])


def test_equal_to_go_on_its_groups() -> None:
    groups = json.loads((ADVANTAGES / "advantages.json").read_text())
    assert len(groups) == 200
    for group in groups:
        check(group)


def test_go_is_equal_to_us_on_our_groups(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("no Go")
    rng = random.Random(seed := random.randrange(1 << 32))
    print("seed", seed)

    def draw(n: int) -> Rewards:
        palette = [0.0, 1.0, rng.gauss(0, 1), rng.gauss(0, 1), 1e-9, rng.uniform(-1e6, 1e6)]
        palette = palette[: rng.randint(1, 6)]
        return [None if rng.random() < 0.2 else rng.choice(palette) for _ in range(n)]

    groups = []
    for _ in range(500):
        size = rng.randint(0, 12)
        groups.append({"outcome": draw(size), "steps": [draw(rng.randint(0, 6)) for _ in range(size)]})
    cases, results = tmp_path / "cases.json", tmp_path / "results.json"
    cases.write_text(json.dumps(groups))
    env = go_environment() | {
        "STEPGAP_ADVANTAGE_CASES": str(cases),
        "STEPGAP_ADVANTAGE_RESULTS": str(results),
    }
    command = ["go", "test", "-run", "TestAdvantagesOfGroupsFromOutside", "-count=1", "./pkg/advantage"]
    subprocess.run(command, cwd=ROOT, env=env, check=True)
    computed = json.loads(results.read_text())
    assert len(computed) == len(groups)
    for group in computed:
        check(group)


def test_grpo_by_hand() -> None:
    std = math.sqrt(0.5)  # of 0 and 1, divisor n-1
    assert grpo([0.0, None, 1.0]) == pytest.approx([-0.5 / (std + EPSILON), None, 0.5 / (std + EPSILON)])
    assert dr_grpo([0.0, None, 1.0]) == [-0.5, None, 0.5]
    assert grpo([0.1, 0.1, 0.1, None]) == [0.0, 0.0, 0.0, None], "no spread: nothing to learn, and no blow-up"
    assert grpo([1.0, None]) == [None, None], "one alone has no baseline"
    assert grpo([]) == []
    assert grpo([0, 1]) == grpo([0.0, 1.0])


def test_process_sums_what_follows() -> None:
    # R is 0, 1, 1, 0: mean 0.5, sample standard deviation sqrt(1/3).
    unit = 0.5 / (math.sqrt(1 / 3) + EPSILON)
    got = process([[0.0, 1.0], [1.0, None, 0.0], []])
    assert got[0] == pytest.approx([0.0, unit])
    assert got[1][0] == pytest.approx(0.0)
    assert got[1][1:] == [None, pytest.approx(-unit)]
    assert got[2] == []


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_number_that_is_none_is_refused(number: float) -> None:
    for call in (grpo, dr_grpo):
        with pytest.raises(ValueError, match="reward 1"):
            call([1.0, number])
    with pytest.raises(ValueError, match="not given is None"):
        process([[1.0], [number]])


@given(rewards)
def test_none_in_none_out_and_advantages_sum_to_zero(group: Rewards) -> None:
    for call in (grpo, dr_grpo):
        got = call(group)
        enough = sum(mask(group)) > 1
        assert mask(got) == [r is not None and enough for r in group]
        assert sum(a for a in got if a is not None) == pytest.approx(0, abs=1e-6)


@given(st.lists(rewards, max_size=6))
def test_a_missing_step_changes_no_other_ones_sum(group: list[Rewards]) -> None:
    with_holes = process([[r for step in rollout for r in (step, None)] for rollout in group])
    assert [rollout[::2] for rollout in with_holes] == process(group)


def test_grpo_is_trls() -> None:
    """The formula of TRL's GRPOTrainer (scale_rewards="group"), with numbers computed by it."""
    torch = pytest.importorskip("torch")
    for seed in range(50):
        rng = random.Random(seed)
        group = [rng.choice([0.0, 1.0, rng.random()]) for _ in range(8)]
        tensor = torch.tensor(group, dtype=torch.float64)
        want = (tensor - tensor.mean()) / (tensor.std() + 1e-4)
        assert grpo(group) == pytest.approx(want.tolist(), abs=1e-9)


def test_outcomes_are_the_aggregators() -> None:
    cases = json.loads((ADVANTAGES / "outcomes.json").read_text())
    assert len(cases) > 100
    for case in cases:
        assert normalize(case["answer"]) == case["normalized"], case
        got = score_answer(case["answer"], case["gold"] or [])
        assert (got.em, got.cover_em) == (case["em"], case["cover_em"]), case
        assert got.f1 == pytest.approx(case["f1"]), case


def test_outcome_of_a_single_gold_answer() -> None:
    assert score_answer("The Paris.", "paris").em == 1.0
    assert score_answer("Paris", []).em is None
    assert os.linesep not in normalize("a\nb")
