"""A search environment for SkyRL whose turns are rewarded one by one.

    # my_envs.py
    SearchEnv = stepgap.adapters.skyrl.environment("nats://127.0.0.1:4222", retrieve)

    skyrl_gym.register(id="stepgap", entry_point="my_envs:SearchEnv")

SkyRL puts a turn's reward on the turn's last token. The estimators of `register()` sum what
follows and leave out rollouts that could not be scored. See docs/trainers/skyrl.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from .clients import ClientThread, MakeClient
from .episode import Episode, Retrieve
from .estimating import ESTIMATORS
from .scoring import OutcomeScore, counts, golds_of

__all__ = ["SearchEnv", "environment", "register"]


class SearchEnv(BaseTextEnv):  # type: ignore[misc]
    """One episode: the policy searches until it answers, as in Search-R1.

    Made by the class that `environment` returns. `step` returns the turn's reward, a float
    that is settled when the episode ends; metadata of the last turn has the labels.
    """

    thread: ClientThread
    retrieve: Retrieve
    deadline: float
    outcome: OutcomeScore | None
    outcome_weight: float

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        extras = extras or {}
        try:
            gold = extras["reward_spec"]["ground_truth"]
            question = extras["question"]
        except KeyError as e:
            raise ValueError(
                f"the row's extras lack {e}: `question` and `reward_spec.ground_truth`"
            ) from None
        self.max_turns = int(extras.get("max_turns", 8))
        self.episode = Episode(question, golds_of(gold), type(self).retrieve, self.max_turns)

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Take a turn. The last one waits for the reward, for at most `deadline` seconds."""
        self.turns += 1
        feedback, done = self.episode.act(action)
        metadata: dict[str, Any] = {}
        if done:
            self.thread.run(
                lambda: self.episode.finish(
                    self.thread,
                    deadline=self.deadline,
                    outcome=self.outcome,
                    outcome_weight=self.outcome_weight,
                )
            )
            metadata = self._metadata()
        return BaseTextEnvStepOutput(
            observations=[{"role": "user", "content": feedback}] if feedback else [],
            reward=self.episode.rewards[-1],
            done=done,
            metadata=metadata,
        )

    def _metadata(self) -> dict[str, Any]:
        scored = self.episode.scored
        if scored is None:
            return {}
        labels = [s.label for s in scored.reward.steps] if scored.reward is not None else []
        return {"stepgap_reason": scored.reason, "stepgap_labels": labels}

    def get_metrics(self) -> dict[str, Any]:
        """Numbers of the episode: steps by label, and whether it was scored."""
        if self.episode.scored is None:
            return {}
        numbers = counts([self.episode.scored])
        return {f"stepgap/{k}": v for k, v in numbers.items() if "unscored/" not in k}


def environment(
    client: MakeClient,
    retrieve: Retrieve,
    *,
    deadline: float = 60.0,
    outcome: OutcomeScore | None = None,
    outcome_weight: float = 1.0,
) -> type[SearchEnv]:
    """The environment's class, for `skyrl_gym.register(id=..., entry_point=<a name for it>)`.

    Args:
        client: the pipeline's URL, or a function that makes a client.
        retrieve: gives the passages for a query.
        deadline: seconds that the last turn waits; then the episode is unscored.
        outcome, outcome_weight: a score of the answer, added to the last turn.
    """
    return type(
        "StepgapSearchEnv",
        (SearchEnv,),
        {
            "thread": ClientThread(client),
            "retrieve": staticmethod(retrieve),
            "deadline": deadline,
            "outcome": outcome,
            "outcome_weight": outcome_weight,
        },
    )


def register() -> None:
    """Register the estimators `stepgap_steps`, `stepgap_grpo` and `stepgap_dr_grpo` with SkyRL.

    Raises:
        ImportError: SkyRL's trainer is not installed (skyrl-gym alone has no estimators).
    """
    from skyrl.backends.skyrl_train.utils.ppo_utils import register_advantage_estimator

    for name, estimator in ESTIMATORS.items():
        register_advantage_estimator(name)(estimator)
