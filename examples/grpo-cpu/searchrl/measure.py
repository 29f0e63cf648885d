"""What held-out rollouts come to, and what of it chance could explain."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from stepgap import GAPS
from stepgap.outcome import score_answer

from .memo import SERVED, Rewards
from .world import Episode


def figures(episodes: Sequence[Episode], rewards: Sequence[Rewards]) -> dict[str, float]:
    """The figures of one policy on the held-out questions.

    Keys: em, f1 (means); searches (a question); supported, unsupported (share of questions
    that were answered right with a conclusion that the evidence entails, or does not);
    share_<label> (of all steps); abstained, copied, retracted (share of readings).
    """
    n = len(episodes)
    scores = [score_answer(e.answer, e.question.golds) for e in episodes]
    steps = [r[SERVED].steps for r in rewards]
    labels = Counter(s.label for of in steps for s in of)
    right = [s.em == 1.0 for s in scores]
    entailed = [bool(of) and of[-1].label == "none" for of in steps]
    actions = Counter(d.action for e in episodes for d in e.decisions)
    readings = max(sum(actions[a] for a in ("claim", "retract", "copy", "abstain")), 1)
    out = {
        "em": sum(right) / n,
        "f1": sum(s.f1 or 0.0 for s in scores) / n,
        "searches": sum(e.searches for e in episodes) / n,
        "supported": sum(r and e for r, e in zip(right, entailed, strict=True)) / n,
        "unsupported": sum(r and not e for r, e in zip(right, entailed, strict=True)) / n,
        "process_reward": sum(r[SERVED].process or 0.0 for r in rewards) / n,
    }
    out |= {f"share_{gap}": labels[gap] / max(labels.total(), 1) for gap in GAPS}
    out |= {
        name: actions[action] / readings
        for name, action in (("abstained", "abstain"), ("copied", "copy"), ("retracted", "retract"))
    }
    return out


@dataclass(frozen=True)
class Interval:
    """A mean over seeds with its bootstrap interval."""

    mean: float
    low: float
    high: float


def bootstrap(values: Sequence[float], level: float = 0.95) -> Interval:
    """The mean of a few values and its percentile bootstrap interval.

    With up to six values every resample is taken, so that nothing is left to chance.

    Raises:
        ValueError: there are no values, or more than six.
    """
    n = len(values)
    if not 1 <= n <= 6:
        raise ValueError(f"{n} values; this bootstrap takes 1 to 6, one for each seed")
    means = sorted(sum(drawn) / n for drawn in itertools.product(values, repeat=n))
    tail = (1 - level) / 2
    last = len(means) - 1
    return Interval(sum(values) / n, means[round(tail * last)], means[round((1 - tail) * last)])
