"""GRPO's loss for a linear softmax policy, its gradient in closed form, and Adam."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .policy import Theta, probabilities
from .world import Option


@dataclass(frozen=True)
class Sample:
    """One decision that was taken, and what it is worth."""

    options: tuple[Option, ...]
    chosen: int
    chance: float
    """Of the option that was chosen, under the policy that chose it."""
    initial: tuple[float, ...]
    """Of every option, under the initial policy."""
    advantage: float


@dataclass(frozen=True)
class Loss:
    """How the loss is made."""

    clip: float = 0.2
    kl: float = 0.02
    """Weight of the divergence from the initial policy, which is summed exactly over the
    options: a decision has a dozen of them, not a vocabulary."""


def loss_and_gradient(
    theta: Mapping[str, float], samples: Sequence[Sample], how: Loss
) -> tuple[float, Theta]:
    """The mean loss of the decisions and its gradient.

    L = mean of -min(r A, clip(r) A) + kl * KL(policy || initial),  r = chance now / chance then
    """
    gradient: Theta = {}
    total = 0.0
    for s in samples:
        now = probabilities(theta, s.options)
        ratio = now[s.chosen] / s.chance
        plain = ratio * s.advantage
        clipped = min(max(ratio, 1 - how.clip), 1 + how.clip) * s.advantage
        logs = [math.log(p / q) if p > 0 else 0.0 for p, q in zip(now, s.initial, strict=True)]
        kl = sum(p * x for p, x in zip(now, logs, strict=True))
        total += -min(plain, clipped) + how.kl * kl
        # Of log-chances by scores: one at the option itself, less every option's chance.
        pull = plain if plain <= clipped else 0.0
        for i, option in enumerate(s.options):
            by_score = pull * (now[i] - (i == s.chosen)) + how.kl * now[i] * (logs[i] - kl)
            if by_score:
                for name, value in option.features.items():
                    gradient[name] = gradient.get(name, 0.0) + by_score * value
    n = max(len(samples), 1)
    return total / n, {name: g / n for name, g in gradient.items()}


@dataclass
class Adam:
    """Adam (arXiv 1412.6980) on weights that are named."""

    rate: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    _step: int = 0
    _first: Theta = field(default_factory=dict)
    _second: Theta = field(default_factory=dict)

    def update(self, theta: Theta, gradient: Mapping[str, float]) -> None:
        """One step downhill, in place."""
        self._step += 1
        for name in set(self._first) | set(gradient):
            g = gradient.get(name, 0.0)
            m = self._first[name] = self.beta1 * self._first.get(name, 0.0) + (1 - self.beta1) * g
            v = self._second[name] = self.beta2 * self._second.get(name, 0.0) + (1 - self.beta2) * g * g
            m /= 1 - self.beta1**self._step
            v /= 1 - self.beta2**self._step
            theta[name] = theta.get(name, 0.0) - self.rate * m / (math.sqrt(v) + self.epsilon)
