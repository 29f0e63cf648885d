"""Rewards for verl: `compute_score`, token placing, and estimators that keep steps.

    reward.custom_reward_function.path=pkg://stepgap.adapters.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.url=nats://127.0.0.1:4222
    algorithm.adv_estimator=stepgap_steps        # or stepgap_grpo, stepgap_dr_grpo

verl takes a number for every rollout, and gives 0.0 to one whose scoring raised or timed
out. Here such a rollout's score is NaN, which only the estimators of this module know how
to leave out: do not combine it with verl's own. See docs/trainers/verl.md.

Importing this module needs no verl; `register()` and `StepOutput` do.
"""

from __future__ import annotations

import functools
import json
import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from .clients import ClientThread
from .estimating import ESTIMATORS, token_rewards
from .placing import Event, events_of
from .scoring import Item, OutcomeScore, Scored, counts, golds_of, score, value_of
from .tags import Reader, read_tags
from .tokens import Decode, offsets_of

__all__ = ["STEPS", "compute_score", "placed_rewards", "register", "step_output"]

log = logging.getLogger("stepgap")

STEPS = "stepgap_parts"
"""Key of reward_extra_info that holds a rollout's parts, as JSON because verl averages what
is no string and makes arrays of lists: [[part, value, end], ...], end in code points of the
response; null if it could not be scored."""


@functools.cache
def _thread(url: str) -> ClientThread:
    return ClientThread(url)


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    url: str = "nats://127.0.0.1:4222",
    deadline: float = 60.0,
    question: str = "question",
    outcome: OutcomeScore | None = None,
    outcome_weight: float = 1.0,
    read: Reader = read_tags,
    **unused: Any,
) -> dict[str, Any]:
    """Score one response. Never raises, and never gives 0 for a response it could not score.

    Args:
        data_source: as verl gives it; not used.
        solution_str: the response, without the prompt.
        ground_truth: the accepted answer or answers, or Search-R1's {"target": ...}.
        extra_info: the row's; holds the question.
        url: the pipeline's NATS server.
        deadline: seconds after which the score is NaN.
        question: key of extra_info with the question.
        outcome, outcome_weight: a score of the answer ("em", "f1", "cover_em") to be added.
        read: makes steps of a response.
        unused: what verl adds for reward models.

    Returns:
        `score`: the process reward (with the outcome), NaN if there is none; the rest goes
        to reward_extra_info, the same keys each time: `stepgap_scored` 1 or 0,
        `stepgap_reason`, `stepgap_<label>` for each label, and `stepgap_parts`.
    """
    scored = Scored(solution_str, None, "error", "")
    value: float | None = None
    try:
        info = extra_info or {}
        item = Item(str(info[question]), solution_str, golds_of(ground_truth))
        thread = _thread(url)
        scored = (await thread.arun(lambda: score(thread, [item], deadline=deadline, read=read)))[0]
        value = value_of(scored, outcome, outcome_weight)
    except Exception as e:
        # verl makes 0.0 of an exception, or dies of it.
        log.exception("a response could not be scored (extra_info needs the key %r)", question)
        scored.reason, scored.detail = "error", f"{type(e).__name__}: {e}"
    numbers = counts([scored])
    labels = {k.removeprefix("labels/"): n for k, n in numbers.items() if k.startswith("labels/")}
    return {
        "score": math.nan if value is None else value,
        "stepgap_scored": int(value is not None),
        "stepgap_reason": scored.reason,
        **{f"stepgap_{label}": n for label, n in labels.items()},
        STEPS: json.dumps(None if value is None else _parts(scored, outcome, outcome_weight)),
    }


def _parts(scored: Scored, outcome: OutcomeScore | None, weight: float) -> list[tuple[str, float, int]]:
    """(part, value, end in code points) of a reward, by rising end."""
    if scored.reward is None:
        return []
    # Each code point is a "token" here, so an event's token is the last code point of its span.
    whole = [(i, i + 1) for i in range(len(scored.text))]
    parts = [
        ("step", value, at + 1) for at, value in events_of(scored.reward, whole).events if value is not None
    ]
    if outcome is not None:
        answered: float = getattr(scored.outcome, outcome)
        parts.append(("outcome", weight * answered, len(scored.text)))
    return parts


def placed_rewards(parts: str, ids: Sequence[int], text: str, decode: Decode) -> list[float]:
    """The reward of each token of a response, as the estimators of this module read them.

    Args:
        parts: what `compute_score` gave as `stepgap_parts`.
        ids: the response's token ids, without padding.
        text: the response as `compute_score` was given it.
        decode: decodes ids as text was decoded.
    """
    read = json.loads(parts)
    if read is None:
        return token_rewards(None, len(ids))
    at: dict[int, float] = {}
    offsets = offsets_of(ids, text, decode)
    for _, value, end in read:
        covering = [i for i, (a, b) in enumerate(offsets) if a < end <= b]
        token = covering[-1] if covering else len(ids) - 1  # the outcome, past a trailing eos
        at[token] = at.get(token, 0.0) + value
    events: list[Event] = sorted(at.items())
    return token_rewards(events, len(ids))


def register() -> None:
    """Register the estimators `stepgap_steps`, `stepgap_grpo` and `stepgap_dr_grpo`.

    To be run in the trainer's driver process; `VERL_USE_EXTERNAL_MODULES=
    stepgap.adapters.verl_plugin` does it when verl is imported.
    """
    from verl.trainer.ppo.core_algos import register_adv_est

    for name, estimator in ESTIMATORS.items():
        register_adv_est(name)(estimator)


def step_output(base: type, decode: Decode) -> type:
    """An `AgentLoopOutput` whose rewards stand on tokens, for an agent loop to return.

    verl writes a rollout's score on its last token when it makes tensors of an output
    (`as_dict`); this one writes the parts that `compute_score` found on their tokens.

    Args:
        base: verl's `AgentLoopOutput` (verl.experimental.agent_loop.agent_loop).
        decode: decodes token ids as verl's reward manager does: the tokenizer's `decode`
            with skip_special_tokens=True.
    """

    class StepOutput(base):  # type: ignore[misc]
        """AgentLoopOutput with rewards on tokens."""

        def as_dict(self) -> dict[str, Any]:
            """As verl's, with `rm_scores` (tokens,) where the parts of the reward stand."""
            out: dict[str, Any] = super().as_dict()
            info = self.extra_fields.get("reward_extra_info") or {}
            if "rm_scores" in out and STEPS in info:
                ids = list(self.response_ids)
                rewards = placed_rewards(info[STEPS], ids, decode(ids), decode)
                out["rm_scores"] = out["rm_scores"].new_tensor(rewards)
            return out

    return StepOutput
