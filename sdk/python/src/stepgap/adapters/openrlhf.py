"""Rewards for OpenRLHF: `reward_func` for a .py of its own, and an agent that has steps.

A file for `--reward.remote_url FILE.py`:

    from stepgap.adapters.openrlhf import make_reward_func

    reward_func = make_reward_func("nats://127.0.0.1:4222", question=...)

OpenRLHF adds the rewards of an agent's turns up and puts the sum on a rollout's last action
token, so steps keep their places in the logs alone. Needs nothing of OpenRLHF, and torch
only where OpenRLHF asks for tensors. See docs/trainers/openrlhf.md.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from .clients import ClientThread, MakeClient
from .episode import Episode, Retrieve
from .scoring import Item, OutcomeScore, Scored, counts, golds_of, score, value_of
from .tags import Reader, read_tags

__all__ = ["label_of", "make_agent", "make_reward_func", "question_of"]

log = logging.getLogger("stepgap")

_QUESTION = re.compile(r"Question:[ \t]*(.+?)[ \t]*(?:\n|<\||$)")


def question_of(prompt: str, label: Any) -> str:
    """The question: `question` of a label that is JSON, else what follows the last "Question:"."""
    found = label_of(label).get("question")
    if isinstance(found, str) and found:
        return found
    asked = _QUESTION.findall(prompt)
    if not asked:
        raise ValueError(
            "the prompt has no 'Question: ...' and the label no \"question\"; give a function as `question=`"
        )
    return str(asked[-1])


def label_of(label: Any) -> Mapping[str, Any]:
    """A label as a mapping with `gold` and perhaps `question`; a plain one is the gold answer."""
    if isinstance(label, Mapping):
        return label
    if isinstance(label, str) and label.lstrip().startswith("{"):
        try:
            read = json.loads(label)
        except ValueError:
            read = None
        if isinstance(read, dict):
            return read
    return {"gold": label}


def make_reward_func(
    client: MakeClient,
    *,
    question: Callable[[str, Any], str] = question_of,
    deadline: float = 60.0,
    outcome: OutcomeScore | None = None,
    outcome_weight: float = 1.0,
    read: Reader = read_tags,
    unscored: Literal["none", "nan"] = "none",
) -> Callable[..., dict[str, Any] | None]:
    """A `reward_func(queries, prompts, labels)` as OpenRLHF calls it, one rollout a call.

    Args:
        client: the pipeline's URL, or a function that makes a client.
        question: gives the question of (prompt, label).
        deadline: seconds after which a rollout is given up.
        outcome, outcome_weight: a score of the answer to be added to the reward.
        read: makes steps of a response.
        unscored: what a rollout gets that could not be scored. "none": no reward at all,
            with which OpenRLHF 0.11 ends the run rather than train on it. "nan": NaN, with
            which its dynamic filtering drops the prompt and takes another; without that
            filter NaN would be trained on.

    Returns:
        The function. Its result has `rewards`, `scores` and `extra_logs` (numbers), or is
        None.
    """
    thread = ClientThread(client)

    def reward_func(
        queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **unused: Any
    ) -> dict[str, Any] | None:
        scored = _score(thread, queries, prompts, labels, question, deadline, read)
        values = [value_of(s, outcome, outcome_weight) for s in scored]
        given = [v for v in values if v is not None]
        if len(given) < len(values) or not given:
            for s in scored:
                if not s.valid:
                    log.warning("a rollout has no reward: %s: %s", s.reason, s.detail)
            if unscored == "none":
                return None
        numbers = [math.nan if v is None else v for v in values]
        rewards: Any = numbers[0] if len(numbers) == 1 else numbers
        return {"rewards": rewards, "scores": rewards, "extra_logs": _logs(scored)}

    return reward_func


def _logs(scored: Sequence[Scored]) -> dict[str, float]:
    """Counts under the same names for every rollout, as OpenRLHF puts them side by side."""
    numbers = counts(scored).items()
    return {f"stepgap_{k.replace('/', '_')}": float(n) for k, n in numbers if "unscored/" not in k}


def _score(
    thread: ClientThread,
    queries: Sequence[str],
    prompts: Sequence[str],
    labels: Sequence[Any],
    question: Callable[[str, Any], str],
    deadline: float,
    read: Reader,
) -> list[Scored]:
    try:
        items = []
        for query, prompt, label in zip(queries, prompts, labels, strict=True):
            text = query[len(prompt) :] if query.startswith(prompt) else query
            items.append(Item(question(prompt, label), text, golds_of(label_of(label).get("gold"))))
        return thread.run(lambda: score(thread, items, deadline=deadline, read=read))
    except Exception as e:
        # OpenRLHF makes one log line of an exception and goes on without a reward; so here.
        log.exception("rollouts could not be scored")
        return [Scored(q, None, "error", f"{type(e).__name__}: {e}") for q in queries]


def make_agent(
    base: type,
    client: MakeClient,
    retrieve: Retrieve,
    *,
    question: Callable[[str, Any], str] = question_of,
    max_turns: int = 8,
    deadline: float = 60.0,
    outcome: OutcomeScore | None = None,
    outcome_weight: float = 1.0,
) -> type:
    """An agent that searches, for OpenRLHF's `MultiTurnAgentExecutor`.

    OpenRLHF adds up what the turns return, so all turns but the last return 0 and the last
    the episode's reward; the sum is exact and never held up. An episode that could not be
    scored has a NaN in its place, because OpenRLHF takes nothing but a number from an
    agent: filter such rollouts (`--algo.dynamic_filtering_enable`, by scores) or use
    `make_reward_func`, where None is possible.

    Args:
        base: `openrlhf.utils.agent.AgentInstanceBase`.
        client: the pipeline's URL, or a function that makes a client.
        retrieve: gives the passages for a query.
        question: gives the question of (prompt, label).
        max_turns: after which an episode ends without an answer.
        deadline: seconds that the last turn waits for the reward.
        outcome, outcome_weight: a score of the answer to be added.
    """
    thread = ClientThread(client)

    class Agent(base):  # type: ignore[misc]
        """Searches until it answers."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.episode: Episode | None = None

        async def reset(self, states: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
            """Begin an episode with the prompt."""
            prompt, label = states["observation"], states.get("label")
            golds = golds_of(label_of(label).get("gold"))
            self.episode = Episode(question(prompt, label), golds, retrieve, max_turns)
            return {"observation": prompt}

        async def step(self, states: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
            """Take the policy's turn."""
            import torch

            episode = self.episode
            assert episode is not None, "reset comes first"
            feedback, done = await asyncio.to_thread(episode.act, states["action_text"])
            value: float | None = 0.0
            logs: dict[str, float] = {}
            if done:
                value = await thread.arun(
                    lambda: episode.finish(
                        thread, deadline=deadline, outcome=outcome, outcome_weight=outcome_weight
                    )
                )
                if episode.scored is not None:
                    logs = _logs([episode.scored])
            reward = torch.tensor(math.nan if value is None else value)
            return {
                "rewards": reward,
                "scores": reward,
                "environment_feedback": feedback,
                "done": done,
                "sampling_params": states.get("sampling_params"),
                "extra_logs": logs,
            }

    return Agent
