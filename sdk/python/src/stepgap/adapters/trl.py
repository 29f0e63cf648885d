"""Rewards and token advantages for TRL's `GRPOTrainer`.

    reward = reward_func("nats://127.0.0.1:4222", question="question", gold="answer")
    trainer = StepGRPOTrainer(model, reward_funcs=reward, train_dataset=..., args=...)

With TRL's own `GRPOTrainer` the same reward function gives one value a completion.
See docs/trainers/trl.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from accelerate.utils import gather_object
from trl import GRPOTrainer

from .clients import ClientThread, MakeClient
from .placing import Event, Events, events_of, token_advantages
from .scoring import Item, OutcomeScore, Scored, counts, golds_of, group_name, score, value_of
from .tags import Reader, read_tags
from .tokens import Decode, offsets_of

__all__ = ["StepGRPOTrainer", "StepReward", "reward_func"]


def reward_func(
    client: MakeClient,
    *,
    question: str = "question",
    gold: str | None = None,
    deadline: float = 60.0,
    outcome: OutcomeScore | None = None,
    outcome_weight: float = 1.0,
    read: Reader = read_tags,
) -> StepReward:
    """An asynchronous reward function for `GRPOTrainer(reward_funcs=...)`.

    Args:
        client: the URL of the pipeline's NATS server, or a function that makes a client
            (`lambda: stepgap.connect(url, run=..., user_credentials=...)`).
        question: the dataset's column with the question.
        gold: the column with the accepted answer or answers; None: there is none.
        deadline: seconds for a whole batch. Completions whose reward has not come by then
            get None.
        outcome: a score of the final answer to be added: "em", "f1" or "cover_em".
        outcome_weight: what it is multiplied by.
        read: makes steps of a completion.
    """
    return StepReward(client, question, gold, deadline, outcome, outcome_weight, read)


class StepReward:
    """Scores a batch of completions; made by `reward_func`.

    Its value for a completion is the process reward (and a weighted outcome), or None
    where it could not be scored: TRL leaves such a completion out of its group's baseline
    and gives it the advantage 0. Metrics `stepgap/...` count steps by label and unscored
    completions by reason, a batch each; the columns `stepgap_labels` and `stepgap_reason`
    go to the table of completions.
    """

    __name__ = "stepgap"

    def __init__(
        self,
        client: MakeClient,
        question: str,
        gold: str | None,
        deadline: float,
        outcome: OutcomeScore | None,
        outcome_weight: float,
        read: Reader,
    ) -> None:
        self.outcome = outcome
        self.outcome_weight = outcome_weight
        self.decode: Decode | None = None
        """If set, completions are decoded by this and not taken as TRL gives them, so
        that spans fit the tokens whatever TRL makes of a chat."""
        self.last: list[Scored] = []
        """What became of the last batch, in its order."""
        self._thread = ClientThread(client)
        self._question, self._gold = question, gold
        self.deadline = deadline
        """Seconds for a whole batch; may be changed between batches."""
        self._read = read

    async def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]],
        log_metric: Callable[[str, float], None] | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        trainer_state: Any = None,
        **columns: Any,
    ) -> list[float | None]:
        """Score a batch, as TRL calls it.

        Raises:
            ValueError: the dataset lacks a column that was named.
        """
        items = self._items(completions, completion_ids, trainer_state, columns)
        self.last = await self._thread.arun(
            lambda: score(self._thread, items, deadline=self.deadline, read=self._read)
        )
        if log_metric is not None:
            for name, number in counts(self.last).items():
                log_metric(f"stepgap/{name}", float(number))
        if log_extra is not None:
            log_extra("stepgap_labels", [_labels(s) for s in self.last])
            log_extra("stepgap_reason", [s.reason for s in self.last])
        return [value_of(s, self.outcome, self.outcome_weight) for s in self.last]

    def close(self) -> None:
        """Close the connection. It is made again if the function is called again."""
        self._thread.close()

    def _items(
        self,
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]],
        state: Any,
        columns: Mapping[str, Any],
    ) -> list[Item]:
        for column in filter(None, (self._question, self._gold)):
            if column not in columns:
                raise ValueError(
                    f"the dataset has no column {column!r}; name it in reward_func(question=..., gold=...)"
                )
        questions = [str(q) for q in columns[self._question]]
        golds = [golds_of(g) for g in columns[self._gold]] if self._gold else [()] * len(questions)
        if self.decode is not None:
            texts = [self.decode(list(ids)) for ids in completion_ids]
        else:
            texts = [_text(c) for c in completions]
        step = getattr(state, "global_step", "")
        groups = [group_name(q, step) for q in questions]
        return [
            Item(q, text, gold, group, groups.count(group))
            for q, text, gold, group in zip(questions, texts, golds, groups, strict=True)
        ]


def _text(completion: Any) -> str:
    if isinstance(completion, str):
        return completion
    return "\n".join(str(message.get("content") or "") for message in completion)


def _labels(scored: Scored) -> str:
    return " ".join(step.label for step in scored.reward.steps) if scored.reward is not None else ""


class StepGRPOTrainer(GRPOTrainer):  # type: ignore[misc]
    """`GRPOTrainer` whose advantages are those of steps, placed on tokens.

    Step rewards are normalised over all step rewards of the group, and a token takes the
    sum of its own and of what follows (DeepSeekMath, section 4.1.3): a claim's tokens the
    base reward of their step, the tokens of a repairing query its shape reward too. An
    outcome score is one more event, at the completion's last token. Tokens that nothing
    was graded for, and those of unscored completions, have the advantage 0.

    Takes what GRPOTrainer takes, with one reward function, made by `reward_func`.
    Everything else (losses, clipping, KL, masks of tool results) is TRL's.

    Raises:
        ValueError: other reward functions were given as well; TRL's way of mixing them
            works on whole completions.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if len(self.reward_funcs) != 1 or not isinstance(self.reward_funcs[0], StepReward):
            raise ValueError(
                "StepGRPOTrainer takes one reward function, made by stepgap.adapters.trl.reward_func; "
                "an outcome score is added by its argument `outcome`"
            )
        self.step_reward: StepReward = self.reward_funcs[0]
        self.step_reward.decode = self._decode_completion

    def _decode_completion(self, ids: list[int]) -> str:
        return str(self.processing_class.decode(ids, skip_special_tokens=True))

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        mode = "train" if self.model.training else "eval"
        group_size = self.num_generations if mode == "train" else self.num_generations_eval
        scored = self.step_reward.last
        ids, mask = output["completion_ids"], output["completion_mask"]
        lengths = [int(n) for n in mask.sum(dim=1)]
        local = [self._events(s, ids[row, : lengths[row]].tolist()) for row, s in enumerate(scored)]
        self._metrics[mode]["stepgap/lost_parts"].append(float(sum(len(e.lost) for e in local)))
        # A group may be spread over processes.
        everyone = gather_object([(e.events, n) for e, n in zip(local, lengths, strict=True)])
        advantages: list[list[float]] = []
        for at in range(0, len(everyone), group_size):
            group = everyone[at : at + group_size]
            advantages.extend(token_advantages([events for events, _ in group], [n for _, n in group]))
        first = self.accelerator.process_index * len(scored)
        output["advantages"] = _padded(advantages[first : first + len(scored)], mask)
        return output

    def _events(self, scored: Scored, ids: list[int]) -> Events:
        if not scored.valid or value_of(scored, self.step_reward.outcome) is None:
            return Events()
        out = events_of(scored.reward, offsets_of(ids, scored.text, self._decode_completion))
        if self.step_reward.outcome is not None and ids:
            answered: float = getattr(scored.outcome, self.step_reward.outcome)
            out.events = _with_outcome(out.events, len(ids) - 1, self.step_reward.outcome_weight * answered)
        return out


def _with_outcome(events: list[Event], token: int, value: float) -> list[Event]:
    if events and events[-1][0] == token:
        return [*events[:-1], (token, (events[-1][1] or 0.0) + value)]
    return [*events, (token, value)]


def _padded(rows: Sequence[Sequence[float]], like: torch.Tensor) -> torch.Tensor:
    """Rows of numbers as one tensor of the mask's shape (batch, tokens), 0 after each row's end."""
    out = torch.zeros(like.shape, dtype=torch.float32, device=like.device)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row, dtype=torch.float32, device=like.device)
    return out
