"""A softmax over the options of a decision, linear in their features. No library needed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from .reader import PRIOR
from .world import Option

Theta = dict[str, float]

_START: Mapping[str, float] = {
    "ask": 1.0,
    "redo": -0.7,
    "abstain": -0.5,
    "copy": -0.5,
    "answer": 0.5,
    "answer:left": -1.0,
    "guess": -1.5,
}
_TRUST = 0.5
"""How much of the reader's prior the initial policy follows."""


def initial() -> Theta:
    """The policy before training: it tends to do the right thing, and often does another."""
    theta = {name: _TRUST * value for name, value in PRIOR.items()}
    for name, value in _START.items():
        theta[name] = theta.get(name, 0.0) + value
    return theta


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


def best(theta: Mapping[str, float], options: Sequence[Option]) -> int:
    """The likeliest option; the first of equals."""
    chances = probabilities(theta, options)
    return chances.index(max(chances))
