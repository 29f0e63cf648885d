"""A softmax over the options of a decision, linear in their features. No library needed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from .world import Option

Theta = dict[str, float]

_START: Mapping[str, float] = {
    "ask": 0.5,
    "redo": -1.8,
    "abstain": -0.5,
    "copy": -0.5,
    "answer": 0.5,
    "answer:left": -1.0,
    "guess": -1.5,
    "confidence": 0.3,
    "fits": 0.5,
    "asked_for": -1.5,
}


def initial() -> Theta:
    """The policy before training: it tends to do the right thing, and often does another."""
    return dict(_START)


def probabilities(theta: Mapping[str, float], options: Sequence[Option]) -> list[float]:
    """The chance of each option; they sum to 1."""
    get = theta.get
    scores = [sum(get(name, 0.0) * value for name, value in o.features.items()) for o in options]
    top = max(scores)
    weights = [math.exp(s - top) for s in scores]
    total = sum(weights)
    return [w / total for w in weights]


def sample(theta: Mapping[str, float], options: Sequence[Option], chance: random.Random) -> int:
    """An option by its chance."""
    at = chance.random()
    chances = probabilities(theta, options)
    for i, p in enumerate(chances):
        at -= p
        if at < 0:
            return i
    return len(chances) - 1
