"""GRPO under four kinds of rewards, all seeds and kinds side by side.

All trainings make one update at a time together, so that what they wrote is judged in one
batch, and equal rollouts once. Equal seeds draw the same questions and the same chances
under every kind: differences between kinds are paired.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from stepgap import Reward, advantages, spans
from stepgap.outcome import score_answer

from .grpo import Adam, Loss, Sample, loss_and_gradient
from .memo import SERVED, Rewards, Rollout
from .policy import Theta, initial, probabilities, sample
from .questions import Question
from .world import Episode, Library

EXACT = "exact_match"
KINDS = (EXACT, "untyped", "typed", SERVED)

Score = Callable[[Sequence[Rollout]], list[Rewards]]


@dataclass(frozen=True)
class Settings:
    """How long and how to train."""

    seeds: int = 5
    updates: int = 15
    questions: int = 6
    """In a batch."""
    group: int = 6
    """Rollouts of a question."""
    epochs: int = 2
    """Steps of Adam on a batch."""
    rate: float = 0.08
    process_weight: float = 0.5
    """Of the process advantage beside that of the exact match, which every kind has."""
    evaluate_every: int = 5
    draws: int = 4
    """Rollouts of a held-out question for a point of a curve; the final figures take one,
    which is judged."""
    loss: Loss = field(default_factory=Loss)

    def json(self) -> dict[str, Any]:
        """All of it, for a report."""
        return asdict(self)


@dataclass
class Training:
    """One policy being trained."""

    kind: str
    seed: int
    theta: Theta = field(default_factory=initial)
    adam: Adam = field(default_factory=Adam)
    train_em: list[float] = field(default_factory=list)
    """Mean of each batch."""
    curve: list[dict[str, float]] = field(default_factory=list)
    """On the held-out questions, by update."""


class Trainer:
    """Trains policies of every kind and seed."""

    def __init__(
        self, train: Sequence[Question], held_out: Sequence[Question], score: Score, settings: Settings
    ) -> None:
        if not train or not held_out:
            raise ValueError("there must be questions to train on, and others that are held out")
        self.settings = settings
        self.trainings = [
            Training(kind, seed, adam=Adam(settings.rate)) for seed in range(settings.seeds) for kind in KINDS
        ]
        self._train, self._held_out = list(train), list(held_out)
        self._score = score
        self._libraries = {q.id: Library(q) for q in [*train, *held_out]}
        self.initial = initial()
        """The policy before training."""

    def run(self, on_update: Callable[[int], None] = lambda _: None) -> None:
        """All updates."""
        for number in range(self.settings.updates):
            if number % self.settings.evaluate_every == 0:
                self._note_curves(number)
            self._update(number)
            on_update(number + 1)
        self._note_curves(self.settings.updates)

    def play(self, theta: Mapping[str, float], question: Question, chance: random.Random) -> Episode:
        """A rollout."""
        episode = Episode(self._libraries[question.id])
        while not episode.done:
            episode.take(sample(theta, episode.options(), chance))
        return episode

    def held_out(self, training: Training, draws: int) -> list[Episode]:
        """Rollouts of every held-out question, so many of each, drawn as in training.

        Equal seeds get equal chances under every kind.
        """
        chances = [random.Random(f"held out {training.seed} {i}") for i in range(draws)]
        return [self.play(training.theta, q, chance) for q in self._held_out for chance in chances]

    def _update(self, number: int) -> None:
        batches = [self._batch(t, number) for t in self.trainings]
        # An exact match needs no labels, so those rollouts are not judged.
        judged = [
            e for t, b in zip(self.trainings, batches, strict=True) if t.kind != EXACT for g in b for e in g
        ]
        rewards = iter(self._score([rollout_of(e) for e in judged]))
        for training, batch in zip(self.trainings, batches, strict=True):
            samples: list[Sample] = []
            exact = []
            for group in batch:
                outcomes = [exact_match(e) for e in group]
                exact += outcomes
                by_rollout = [
                    [a or 0.0] * len(e.decisions)
                    for a, e in zip(advantages.grpo(outcomes), group, strict=True)
                ]
                if training.kind != EXACT:
                    of_kind = [next(rewards)[training.kind] for _ in group]
                    for own, more in zip(by_rollout, by_process(group, of_kind), strict=True):
                        own[:] = [
                            a + self.settings.process_weight * b for a, b in zip(own, more, strict=True)
                        ]
                for episode, values in zip(group, by_rollout, strict=True):
                    samples += self._samples(training.theta, episode, values)
            training.train_em.append(sum(exact) / len(exact))
            for _ in range(self.settings.epochs):
                _, gradient = loss_and_gradient(training.theta, samples, self.settings.loss)
                training.adam.update(training.theta, gradient)

    def _batch(self, training: Training, number: int) -> list[list[Episode]]:
        chance = random.Random(f"{training.seed} {number}")
        questions = chance.sample(self._train, min(self.settings.questions, len(self._train)))
        return [
            [
                self.play(training.theta, q, random.Random(f"{training.seed} {number} {q.id} {i}"))
                for i in range(self.settings.group)
            ]
            for q in questions
        ]

    def _samples(self, theta: Theta, episode: Episode, values: Sequence[float]) -> list[Sample]:
        return [
            Sample(
                d.options,
                d.chosen,
                probabilities(theta, d.options)[d.chosen],
                tuple(probabilities(self.initial, d.options)),
                value,
            )
            for d, value in zip(episode.decisions, values, strict=True)
        ]

    def _note_curves(self, number: int) -> None:
        for training in self.trainings:
            episodes = self.held_out(training, self.settings.draws)
            n = len(episodes)
            scores = [score_answer(e.answer, e.question.golds) for e in episodes]
            training.curve.append(
                {
                    "update": number,
                    "em": sum(s.em or 0.0 for s in scores) / n,
                    "f1": sum(s.f1 or 0.0 for s in scores) / n,
                    "searches": sum(e.searches for e in episodes) / n,
                }
            )


def rollout_of(episode: Episode) -> Rollout:
    """What the pipeline is given."""
    return Rollout(episode.question.text, episode.text, episode.question.golds)


def exact_match(episode: Episode) -> float:
    """The exact match of its answer, by the normalisation of Search-R1."""
    em = score_answer(episode.answer, episode.question.golds).em
    if em is None:
        raise ValueError(f"question {episode.question.id} has no gold answer")
    return em


def by_process(group: Sequence[Episode], rewards: Sequence[Reward]) -> list[list[float]]:
    """The process advantage of each decision of a group's rollouts, by process supervision.

    Decisions are placed as tokens are: each has the stretch of text that it wrote.

    Raises:
        ValueError: a part of a reward belongs to no decision.
    """
    placed = [spans.to_tokens(r, e.offsets) for r, e in zip(rewards, group, strict=True)]
    for p in placed:
        if p.lost:
            raise ValueError(f"parts of a reward belong to no decision: {'; '.join(p.lost)}")
    values = advantages.process([[r.value for r in p.rewards] for p in placed])
    return [
        spans.spread(zip((r.token for r in p.rewards), v, strict=True), len(e.decisions))[0]
        for p, v, e in zip(placed, values, group, strict=True)
    ]
