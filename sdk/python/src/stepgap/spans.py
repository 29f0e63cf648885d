"""From spans of text to tokens: where a reward's parts belong in a completion.

A base reward belongs to the last token of its claim, a shape reward to the last token of
the *repairing* step's action. Spans count code points of the rollout's text as it was
given to StepGap; a tokenizer's offset mapping counts code points of the text that it was
given, as Hugging Face's fast tokenizers do with Python strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .messages import Reward, Span

__all__ = ["Placed", "TokenReward", "last_token", "spread", "to_tokens", "tokens_of"]

Offsets = Sequence[tuple[int, int]]
"""For each token, the half-open range of code points that it covers; (0, 0) for none."""


@dataclass(frozen=True, slots=True)
class TokenReward:
    """One part of a reward and the token it belongs to."""

    token: int
    """Index into the offset mapping."""
    value: float
    part: Literal["base", "shape"]
    step: int
    """The step that it is the reward of."""
    span: Span
    """The span at whose end it stands; for a shape, the repairing step's action."""


@dataclass(slots=True)
class Placed:
    """A reward's parts on tokens, in the order of the tokens, and what found no token."""

    rewards: list[TokenReward] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Parts that are no part of the sum below, each with why (a cut completion, no span)."""

    def values(self, length: int) -> list[float]:
        """The reward of each of length tokens: the sum of the parts on it, else 0."""
        out = [0.0] * length
        for r in self.rewards:
            out[r.token] += r.value
        return out


def to_tokens(reward: Reward, offsets: Offsets, *, start: int = 0) -> Placed:
    """Place the parts of a reward on the tokens of a text.

    Args:
        reward: a rollout's reward. A null one places nothing.
        offsets: the tokenizer's offset mapping of the text.
        start: where that text begins in the rollout's text, in code points: the length
            of the prompt, if the offsets are those of the completion alone.
    """
    placed = Placed()
    if reward.process is None:
        return placed
    for step in reward.steps:
        parts: tuple[tuple[Literal["base", "shape"], float | None, Span | None], ...] = (
            ("base", step.base, step.base_at),
            ("shape", step.shape, step.shape_at),
        )
        for part, value, span in parts:
            if value is None:
                continue
            if span is None:
                placed.lost.append(f"{part} of step {step.index} ({value:+g}): the step has no span for it")
                continue
            token = last_token(span, offsets, start=start)
            if token is None:
                placed.lost.append(
                    f"{part} of step {step.index} ({value:+g}): no token at [{span.start}, {span.end})"
                )
                continue
            placed.rewards.append(TokenReward(token, value, part, step.index, span))
    placed.rewards.sort(key=lambda r: r.token)
    return placed


def last_token(span: Span, offsets: Offsets, *, start: int = 0) -> int | None:
    """The last token that covers the last character of a span; None if none does.

    Where several tokens share a character (bytes of one code point) it is the last of
    them. White space at the end of a span may belong to no token (WordPiece); then it is
    the last token within the span.
    """
    tokens = tokens_of(span, offsets, start=start)
    return tokens[-1] if tokens else None


def tokens_of(span: Span, offsets: Offsets, *, start: int = 0) -> list[int]:
    """The tokens that cover any character of a span, in order."""
    first, end = span.start - start, span.end - start
    return [i for i, (a, b) in enumerate(offsets) if a < b and a < end and b > first]


def spread(
    events: Iterable[tuple[int, float | None]], length: int, *, begin: int = 0
) -> tuple[list[float], list[bool]]:
    """Give each token the value of the event that ends its stretch.

    For advantages of process supervision: the tokens after one event's token, up to the
    next event's token, take the next event's value.

    Args:
        events: (token, value) in rising order of tokens; of several on one token, the
            first counts, whose sum of what follows holds the others'. A value of None
            masks its stretch.
        length: number of tokens.
        begin: the first token that the policy wrote; those before it take part in nothing.

    Returns:
        A value for each token, and whether it counts. Tokens after the last event do not:
        nothing follows them.
    """
    values, counts = [0.0] * length, [False] * length
    at = begin
    for token, value in events:
        if not 0 <= token < length:
            raise ValueError(f"an event at token {token} of {length}")
        for i in range(at, token + 1):
            if value is not None:
                values[i], counts[i] = value, True
        at = max(at, token + 1)
    return values, counts
