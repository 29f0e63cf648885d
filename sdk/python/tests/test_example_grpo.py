"""The example that trains a small agent: its environment, its gradient, and a few updates of it."""

from __future__ import annotations

import importlib
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from stepgap import Reward, Span, StepReward
from stepgap.adapters.tags import read_tags

from .conftest import ROOT, Server

EXAMPLES = ROOT / "examples"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for folder in ("agent", "grpo-cpu"):
        monkeypatch.syspath_prepend(str(EXAMPLES / folder))
    return lambda name: importlib.import_module(f"searchrl.{name}")


def episodes(module: Any, seed: int) -> list[Any]:
    world, policy = module("world"), module("policy")
    theta = policy.initial()
    out = []
    for question in module("questions").load(None):
        chance = random.Random(f"{seed} {question.id}")
        episode = world.Episode(world.Library(question))
        while not episode.done:
            episode.take(policy.sample(theta, episode.options(), chance))
        out.append(episode)
    return out


def test_our_own_questions_are_sound_and_split(module: Any) -> None:
    questions = module("questions").load(None)
    train, held_out = module("questions").split(questions)
    assert len(train) + len(held_out) == len(questions) == 20
    assert train
    assert held_out
    for question in questions:
        assert question.golds[0] == question.plan[-1].answer
        for hop in question.plan:
            assert any(hop.answer in text for _, text in hop.support)


def test_equal_choices_write_equal_texts(module: Any) -> None:
    for seed in range(3):
        first, second = episodes(module, seed), episodes(module, seed)
        assert [e.text for e in first] == [e.text for e in second]
        assert [e.offsets for e in first] == [e.offsets for e in second]


def test_a_rollout_reads_back_as_it_was_made(module: Any) -> None:
    world = module("world")
    for seed in range(5):
        for e in episodes(module, seed):
            reading = read_tags(e.text)
            assert reading.answer == e.answer
            assert len(reading.steps) == e.searches <= world.MOST_SEARCHES
            assert all(0 < len(s.passages) <= world.PASSAGES or not s.passages for s in reading.steps)
            assert all(a < b <= c for (a, b), (c, _) in zip(e.offsets, e.offsets[1:], strict=False))
            readings = [d for d in e.decisions if d.action in ("claim", "copy", "retract", "abstain")]
            assert len(readings) == e.searches


def test_no_option_tells_the_answer(module: Any) -> None:
    """What the policy sees of a question is the same whatever its gold answer is called."""
    world, questions = module("world"), module("questions")
    for question in questions.load(None):
        other = questions.Question(
            question.id, question.text, question.plan, question.paragraphs, ("nobody knows",)
        )
        seen = []
        for q in (question, other):
            episode = world.Episode(world.Library(q))
            chance = random.Random(question.id)
            while not episode.done:
                seen.append([(o.action, dict(o.features)) for o in episode.options()])
                episode.take(chance.randrange(len(episode.options())))
        assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]


@pytest.mark.parametrize(
    ("asked", "answer", "said"),
    [
        ("The Salt Road >> composer", "Ellen Brandt", "The composer of The Salt Road is Ellen Brandt."),
        ("Ellen Brandt >> place of birth", "Ribe", "Ellen Brandt was born in Ribe."),
        ("Who designed Kestrel Bridge?", "Tobias Renn", "Tobias Renn designed Kestrel Bridge."),
        ("Where was Petrel built?", "Dunmore", "Petrel was built in Dunmore."),
        ("Where did she go?", "Lenz", 'The answer to "Where did she go?" is Lenz.'),
    ],
)
def test_statements(module: Any, asked: str, answer: str, said: str) -> None:
    assert module("statement").statement(asked, answer) == said


def test_spans_of_a_sentence(module: Any) -> None:
    found = module("text").spans("Kestrel Bridge was opened on 12 June 1903 by the Duke of Oxley for $4,200.")
    assert [(s.text, s.kind) for s in found] == [
        ("Kestrel Bridge", "name"),
        ("12 June 1903", "date"),
        ("Duke of Oxley", "name"),
        ("$4,200", "number"),
    ]


def test_the_gradient_is_that_of_the_loss(module: Any) -> None:
    grpo, policy = module("grpo"), module("policy")
    chance = random.Random(4)
    first = policy.initial()
    old = {name: value + chance.gauss(0, 0.3) for name, value in first.items()}
    samples = []
    for episode in episodes(module, 1)[:8]:
        for d in episode.decisions:
            now = policy.probabilities(old, d.options)
            start = tuple(policy.probabilities(first, d.options))
            samples.append(grpo.Sample(d.options, d.chosen, now[d.chosen], start, chance.gauss(0, 1)))
    # Far enough from the old policy that some ratios are clipped.
    theta = {name: value + chance.gauss(0, 0.3) for name, value in old.items()}
    how = grpo.Loss(clip=0.2, kl=0.1)
    _, gradient = grpo.loss_and_gradient(theta, samples, how)
    assert len(gradient) > 10
    small = 1e-6
    for name, value in gradient.items():
        up = grpo.loss_and_gradient({**theta, name: theta.get(name, 0.0) + small}, samples, how)[0]
        down = grpo.loss_and_gradient({**theta, name: theta.get(name, 0.0) - small}, samples, how)[0]
        assert (up - down) / (2 * small) == pytest.approx(value, rel=1e-4, abs=1e-7)


def test_adam_goes_downhill(module: Any) -> None:
    theta = {"x": 3.0, "y": -2.0}
    adam = module("grpo").Adam(0.1)
    for _ in range(300):
        adam.update(theta, {"x": 2 * theta["x"], "y": 8 * theta["y"]})
    assert theta == pytest.approx({"x": 0.0, "y": 0.0}, abs=0.05)


def test_process_advantages_stand_on_the_decisions_before_their_anchors(module: Any) -> None:
    train = module("train")
    group = [e for e in episodes(module, 2) if e.searches == 2][:2]
    rewards = []
    for episode, value in zip(group, (0.2, -0.1), strict=True):
        read = next(i for i, d in enumerate(episode.decisions) if d.action in ("claim", "copy"))
        start, end = episode.offsets[read]
        step = StepReward(1, "none", base=value, base_at=Span("claim", start + 7, end - 10))
        rewards.append(Reward(process=value, steps=[step]))
    good, bad = train.by_process(group, rewards)
    assert good[0] == good[1] > 0 > bad[0] == bad[1]
    assert set(good[2:]) == set(bad[2:]) == {0.0}


def test_the_bootstrap_takes_every_resample(module: Any) -> None:
    measure = module("measure")
    got = measure.bootstrap([1.0, 2.0, 3.0, 4.0, 5.0])
    assert got.mean == 3.0
    assert 1.5 < got.low < 2.5
    assert got.low + got.high == pytest.approx(6.0)
    assert measure.bootstrap([2.0]) == measure.Interval(2.0, 2.0, 2.0)
    with pytest.raises(ValueError, match="0 values"):
        measure.bootstrap([])


async def test_a_few_updates_with_rewards_of_the_pipeline(
    judging_server: Server, binary: Path, module: Any, tmp_path: Path
) -> None:
    import asyncio

    train, memo, pipeline, report = (module(m) for m in ("train", "memo", "pipeline", "report"))
    questions = module("questions")
    learn, held_out = questions.split(questions.load(None))
    settings = train.Settings(seeds=2, updates=2, questions=2, group=3, evaluate_every=1, draws=1)

    def once(path: Path | None) -> tuple[dict[str, Any], int]:
        kept = memo.Memo("the test's", path)
        known = len(kept.known)
        scorer = pipeline.Scorer(judging_server.url, binary, kept)
        trainer = train.Trainer(learn, held_out[:3], scorer.score, settings)
        trainer.run()
        figures = module("measure").figures
        finals, start = [], []
        for training in trainer.trainings:
            played = trainer.held_out(training, 1)
            finals.append(figures(played, scorer.score([train.rollout_of(e) for e in played])))
        for seed in range(settings.seeds):
            played = trainer.held_out(train.Training("", seed), 1)
            start.append(figures(played, scorer.score([train.rollout_of(e) for e in played])))
        kept.close()
        for t in trainer.trainings:
            assert t.theta != trainer.initial
        return report.make({}, start, trainer.trainings, finals), len(kept.known) - known

    made, judged = await asyncio.to_thread(once, tmp_path / "memo.jsonl")
    with (tmp_path / "memo.jsonl").open("a") as file:
        file.write('{"key": "cut off')
    again, none = await asyncio.to_thread(once, tmp_path / "memo.jsonl")
    assert judged > 10
    assert none == 0
    assert made == again
    assert set(made["kinds"]) == set(train.KINDS)
    for kind in made["kinds"].values():
        assert sum(kind["figures"][f"share_{gap}"]["mean"] for gap in ("none", "ungraded")) <= 1
        assert len(kind["curves"]["held_out"]["em"]) == 3
    assert report.table(json.loads(json.dumps({**made}))).count("\n") > 20
    assert report.curves(made).startswith("<svg")
    with pytest.raises(ValueError, match="other judges"):
        memo.Memo("another's", tmp_path / "memo.jsonl")
